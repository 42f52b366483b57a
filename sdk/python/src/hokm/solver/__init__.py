"""What open cards are worth: exact values of hands whose cards all lie open.

A bot deals the cards it cannot see as they may lie (:mod:`hokm.sampling`) and asks what each of its
own is worth then. Four seats are solved by DDS, which is of the extra ``solver``; ask
:func:`is_available`, or meet :class:`SolverMissing`. What is solved is how many *tricks* a side
takes; what they count is for :class:`~hokm.rules.position.Position` to say.

>>> from hokm import Seat, Trump, cards_text, parse_cards
>>> from hokm.cards import card_set
>>> hands = tuple(card_set(parse_cards(text)) for text in ("2S AH", "KS 3H", "AS 2H", "QS 4H"))
>>> hand = OpenHand(hands, Trump.SPADES, Seat(0))
>>> if is_available():
...     card_tricks(hand)
{<Card AH>: 2, <Card 2S>: 2}
"""

from hokm.solver.dds import (
    SolverFault,
    SolverMissing,
    best_tricks,
    can_take,
    card_tricks,
    cards_taking,
    is_available,
    trump_tricks,
)
from hokm.solver.openhand import OpenHand

__all__ = [
    "OpenHand",
    "SolverFault",
    "SolverMissing",
    "best_tricks",
    "can_take",
    "card_tricks",
    "cards_taking",
    "is_available",
    "trump_tricks",
]
