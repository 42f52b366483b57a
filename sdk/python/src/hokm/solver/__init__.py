"""What open cards are worth: exact values of hands whose cards all lie open.

A bot deals the cards it cannot see as they may lie (:mod:`hokm.sampling`) and asks what each of its
own is worth then. :func:`card_tricks`, :func:`best_tricks`, :func:`can_take` and
:func:`cards_taking` speak of *tricks* from here on, the trick that is on among them. With four
seats DDS answers, which is of the extra ``solver``: ask :func:`is_available`, or meet
:class:`SolverMissing`. With two and three seats :mod:`hokm.solver.endings` does, in Python: quick
near the end of a hand, and :class:`SearchTooLong` where it would take too long; of three seats it
says what a seat can be sure of. :class:`PointsSolver` says what a position is worth in *points*.

>>> from hokm import Seat, Trump, cards_text, parse_cards
>>> from hokm.cards import card_set
>>> hands = tuple(card_set(parse_cards(text)) for text in ("2S AH", "KS 3H"))
>>> hand = OpenHand(hands, Trump.SPADES, Seat(0))
>>> card_tricks(hand)
{<Card AH>: 1, <Card 2S>: 1}
>>> can_take(hand, 2)
False
"""

from hokm.cards import Card
from hokm.solver import dds, endings
from hokm.solver.dds import SolverFault, SolverMissing, is_available, trump_tricks
from hokm.solver.endings import MOST_POSITIONS, SearchTooLong
from hokm.solver.openhand import OpenHand
from hokm.solver.points import PointsSolver

__all__ = [
    "MOST_POSITIONS",
    "OpenHand",
    "PointsSolver",
    "SearchTooLong",
    "SolverFault",
    "SolverMissing",
    "best_tricks",
    "can_take",
    "card_tricks",
    "cards_taking",
    "is_available",
    "trump_tricks",
]


def card_tricks(hand: OpenHand) -> dict[Card, int]:
    """For each card that may be played now, the tricks its side takes from here on, the trick that
    is on among them, if everybody plays as well as can be; cards ascending.

    Raises ValueError for a hand that cannot be; of four seats :class:`SolverMissing` and
    :class:`SolverFault`, of two and three :class:`SearchTooLong`.
    """
    return dds.card_tricks(hand) if len(hand.hands) == 4 else endings.card_tricks(hand)


def best_tricks(hand: OpenHand) -> int:
    """The most tricks that the side to play can take from here on; raises as :func:`card_tricks`.

    Of four seats some three times as quick as the value of every card.
    """
    return dds.best_tricks(hand) if len(hand.hands) == 4 else endings.best_tricks(hand)


def can_take(hand: OpenHand, tricks: int) -> bool:
    """Whether the side to play can take that many tricks from here on; raises as
    :func:`card_tricks`.

    Of a full deal of four seats this is known some ten times as soon as how many it can take.
    """
    if len(hand.hands) == 4:
        return dds.can_take(hand, tricks)
    return endings.can_take(hand, tricks)


def cards_taking(hand: OpenHand, tricks: int) -> tuple[Card, ...]:
    """The cards after which the side to play can still take that many tricks from here on,
    ascending; none if it cannot. Raises as :func:`card_tricks`.
    """
    if len(hand.hands) == 4:
        return dds.cards_taking(hand, tricks)
    return endings.cards_taking(hand, tricks)
