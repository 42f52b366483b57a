"""Four seats with open cards, solved by DDS, the double-dummy solver of bridge.

The trick play of Hokm is that of bridge. Seats in order of play are its North, East, South and
West; a mode without trump is its no-trump, and where a mode turns the order of the ranks the cards
are renamed by their strength. The library is the one that the package ``endplay`` brings; of that
package nothing is imported, for it takes seconds.

DDS plays every card there is: it knows nothing of a hand that is over at seven tricks.
"""

import ctypes
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Final

from hokm.cards import Card, CardSet, Seat, Trump
from hokm.errors import HokmError
from hokm.rules.tricks import SUIT_OF
from hokm.solver.openhand import OpenHand, by_strength, cards_of_strength

SUITS: Final = (Trump.CLUBS, Trump.DIAMONDS, Trump.HEARTS, Trump.SPADES)

MEMORY_MEGABYTES: Final = 40
"""For its table of positions. What a full deal needs; less makes it slower."""

_LIBRARIES: Final = ("libdds.so", "libdds.dylib", "dds.dll")

_NO_TRUMP: Final = 4
_SUIT: Final = 0x1FFF
_LOWEST_RANK_BIT: Final = 2
"""Where DDS has the lowest rank of a suit: bit 2, and the highest at 14."""

_EXACT, _ONE, _REACHING, _EVERY = -1, 1, 2, 3
_ALWAYS_SEARCH: Final = 1
"""Also where there is but one card to play. Tables are never kept from one call to the next."""


class SolverMissing(HokmError):
    """There is no DDS here. The message says what to install."""


class SolverFault(HokmError):
    """DDS refused, with its own words."""


def is_available() -> bool:
    """Whether DDS is installed. Loads nothing."""
    return _library_path() is not None


def card_tricks(hand: OpenHand) -> dict[Card, int]:
    """For each card that may be played now, the tricks its side takes from here on, the trick that
    is on among them, if everybody plays as well as can be; cards ascending.

    Raises :class:`SolverMissing`, :class:`SolverFault`, and ValueError for a hand that cannot be.
    """
    return _scores(_solve(hand, target=_EXACT, solutions=_EVERY), hand.trump)


def best_tricks(hand: OpenHand) -> int:
    """The most tricks that the side to play can take from here on; raises as :func:`card_tricks`.

    Some three times as quick as the value of every card.
    """
    return int(_solve(hand, target=_EXACT, solutions=_ONE).score[0])


def can_take(hand: OpenHand, tricks: int) -> bool:
    """Whether the side to play can take that many tricks from here on; raises as
    :func:`card_tricks`.

    Of a full deal this is known some ten times as soon as how many it can take.
    """
    if not 0 < tricks <= hand.tricks_left:  # DDS is not asked
        _refuse_other(hand)
        return tricks <= 0
    return int(_solve(hand, target=tricks, solutions=_ONE).score[0]) >= tricks


def cards_taking(hand: OpenHand, tricks: int) -> tuple[Card, ...]:
    """The cards after which the side to play can still take that many tricks from here on,
    ascending; none if it cannot. Raises as :func:`card_tricks`.
    """
    if tricks > hand.tricks_left:
        _refuse_other(hand)
        return ()
    if tricks <= 0 or hand.tricks_left == 1:
        scores = card_tricks(hand)
    else:
        scores = _scores(_solve(hand, target=tricks, solutions=_REACHING), hand.trump)
    return tuple(card for card, taken in scores.items() if taken >= tricks)


def trump_tricks(
    hands: Sequence[CardSet], hakem: Seat, *, trumps: Iterable[Trump] = SUITS
) -> dict[Trump, int]:
    """For each trump the hakem might name, the tricks that its side then takes of a hand it leads,
    the hands of all four seats being ``hands``. Raises as :func:`card_tricks`.
    """
    return {trump: best_tricks(OpenHand(tuple(hands), trump, hakem)) for trump in trumps}


# -- the library


class _Deal(ctypes.Structure):
    _fields_ = [
        ("trump", ctypes.c_int),
        ("first", ctypes.c_int),
        ("trick_suit", ctypes.c_int * 3),
        ("trick_rank", ctypes.c_int * 3),
        ("held", ctypes.c_uint * 4 * 4),
    ]


class _Answer(ctypes.Structure):
    _fields_ = [
        ("nodes", ctypes.c_int),
        ("cards", ctypes.c_int),
        ("suit", ctypes.c_int * 13),
        ("rank", ctypes.c_int * 13),
        ("equals", ctypes.c_int * 13),
        ("score", ctypes.c_int * 13),
    ]


_SUIT_OF_OURS: Final = (3, 2, 1, 0)
"""DDS counts spades, hearts, diamonds, clubs."""

_SUIT_BACK: Final = _SUIT_OF_OURS

# There is one thread index, and two threads that use it at once crash the process.
_LOCK: Final = Lock()


def _solve(hand: OpenHand, *, target: int, solutions: int) -> _Answer:
    _refuse_other(hand)
    answer = _Answer()
    with _LOCK:
        dds = _load()
        status = dds.SolveBoard(
            _as_deal(hand), target, solutions, _ALWAYS_SEARCH, ctypes.byref(answer), 0
        )
    if status != 1:
        message = ctypes.create_string_buffer(80)
        dds.ErrorMessage(status, message)
        raise SolverFault(f"DDS: {message.value.decode(errors='replace')}")
    return answer


def _refuse_other(hand: OpenHand) -> None:
    """Raise ValueError unless it is a hand of four seats that can be."""
    if len(hand.hands) != 4:
        raise ValueError(f"DDS solves hands of four seats, not of {len(hand.hands)}")
    hand.refuse_impossible()


def _scores(answer: _Answer, trump: Trump) -> dict[Card, int]:
    """The score of each card DDS speaks of, and of those that it holds to be as good."""
    back = cards_of_strength(trump)
    scores: dict[Card, int] = {}
    for place in range(answer.cards):
        suit = 13 * _SUIT_BACK[answer.suit[place]]
        ranks = (1 << answer.rank[place] | answer.equals[place]) >> _LOWEST_RANK_BIT
        while ranks:
            lowest = ranks & -ranks
            scores[back[suit + lowest.bit_length() - 1]] = answer.score[place]
            ranks ^= lowest
    return dict(sorted(scores.items()))


def _as_deal(hand: OpenHand) -> _Deal:
    trump = hand.trump
    deal = _Deal()
    deal.trump = _NO_TRUMP if trump.suit is None else _SUIT_OF_OURS[trump]
    deal.first = hand.leader
    for place, card in enumerate(hand.trick):
        strong = by_strength(card.bit, trump).bit_length() - 1
        deal.trick_suit[place] = _SUIT_OF_OURS[SUIT_OF[card]]
        deal.trick_rank[place] = strong % 13 + _LOWEST_RANK_BIT
    held = deal.held
    for seat, cards in enumerate(hand.hands):
        strong = by_strength(cards, trump)
        row = held[seat]
        row[3] = (strong & _SUIT) << _LOWEST_RANK_BIT
        row[2] = (strong >> 13 & _SUIT) << _LOWEST_RANK_BIT
        row[1] = (strong >> 26 & _SUIT) << _LOWEST_RANK_BIT
        row[0] = (strong >> 39) << _LOWEST_RANK_BIT
    return deal


@cache
def _load() -> ctypes.CDLL:
    path = _library_path()
    if path is None:
        raise SolverMissing(
            "the solver of four-seat hands is not installed: pip install 'hokm-sdk[solver]'"
        )
    try:
        dds = ctypes.CDLL(str(path))
    except OSError as error:
        raise SolverMissing(f"the solver of four-seat hands does not load: {error}") from None
    how = [ctypes.c_int] * 3
    dds.SolveBoard.argtypes = [_Deal, *how, ctypes.POINTER(_Answer), ctypes.c_int]
    dds.SetResources.restype = None
    dds.ErrorMessage.restype = None
    dds.SetResources(MEMORY_MEGABYTES, 1)
    return dds


def _library_path() -> Path | None:
    # Of a package at the top finding it imports nothing.
    spec = find_spec("endplay")
    for folder in (spec and spec.submodule_search_locations) or ():
        for name in _LIBRARIES:
            if (path := Path(folder, "_dds", name)).exists():
                return path
    return None
