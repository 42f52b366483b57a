"""The actions of the environments, numbered: one discrete space for all variants.

Both forms of the environment, :mod:`hokm.env.aec` and :mod:`hokm.env.vector`, speak of actions by
these numbers. Nothing but this module knows what they stand for:

======== ===========================================================================
0 to 51  that card (:class:`~hokm.cards.Card`'s number): play it to the trick or, while
         a two-seat hand discards, lay it away. Discards are laid away one card at a
         time: the hakem three times in a row, then the other twice.
52 to 55 name trump, in :class:`~hokm.cards.Suit`'s order: clubs, diamonds, hearts,
         spades
56       keep the card that was looked at in a two-seat draw
57       refuse it, and take the unseen one below it
======== ===========================================================================

58 in all. What a table may allow besides, cutting the deck and modes without a trump suit, has no
number: the environments are for tables without them.
"""

from typing import Final

from hokm.actions import DECLARATIONS, DRAWS, PLAYS, Action, ChooseDraw, DeclareTrump, PlayCard
from hokm.cards import Trump

CARD_ACTIONS: Final = 52
"""Actions below this number are cards."""

DECLARE: Final = 52
"""``DECLARE + suit`` names that suit trump."""

KEEP: Final = 56
"""Keep the card on offer."""

REFUSE: Final = 57
"""Refuse the card on offer, and take the one below it."""

ACTIONS: Final = 58
"""How many actions there are: the size of every mask."""

_BY_NUMBER: Final[tuple[Action, ...]] = (*PLAYS, *DECLARATIONS[: Trump.SAR], *DRAWS)


def action_of(number: int) -> Action:
    """The action that a number stands for: of a card, that it is played to the trick.

    Raises ValueError for what is no number of an action.
    """
    if not 0 <= number < ACTIONS:
        raise ValueError(f"an action is a number from 0 to {ACTIONS - 1}, not {number}")
    return _BY_NUMBER[number]


def number_of(action: Action) -> int:
    """The number of an action; raises ValueError for one that has none by itself."""
    match action:
        case PlayCard(card):
            return int(card)
        case DeclareTrump(trump) if trump.suit is not None:
            return DECLARE + trump
        case ChooseDraw():
            return KEEP + DRAWS.index(action)
        case _:
            raise ValueError(f"{action} has no number of its own")
