"""What the decisions of a match cost, added up: by entrant and by kind, and the costliest.

Nothing is played and nothing asked of a solver here.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena.analysis.values import HandAnalysis, Kind, Moment
from arena.ladder.ratings.statistics import Z95
from hokm.actions import Draw
from hokm.records import HandRecord

LEAST_GAMES = 3
"""Below that a bar would be a guess."""

PLAYED = (Kind.DECLARATION, Kind.LEAD, Kind.FOLLOW, Kind.DISCARD)
"""The kinds that may be analysed, in the order of a hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What some decisions of an entrant cost.

    ``choices`` is how many there were, ``left_out`` how many more were not analysed. The losses are
    sums; ``fair_points`` is None where none was asked.
    """

    choices: int
    left_out: int
    tricks: int
    points: float
    fair_points: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantLosses:
    """What the decisions of an entrant cost.

    ``hands`` is how many it held a side of (where it met itself, both). ``error`` is half the width
    of the 95 % interval of points lost a hand, by games (a board, a pair of races), for the hands
    of a game hang together; None of fewer than :data:`LEAST_GAMES`.
    """

    entrant: int
    hands: int
    by_kind: dict[Kind, Loss]
    error: float | None
    by_game: tuple[tuple[int, float], ...]
    """The number of a game, and the points lost a hand in all its rooms."""

    @property
    def total(self) -> Loss:
        """All kinds together."""
        losses = self.by_kind.values()
        fair = [loss.fair_points for loss in losses if loss.fair_points is not None]
        return Loss(
            choices=sum(loss.choices for loss in losses),
            left_out=sum(loss.left_out for loss in losses),
            tricks=sum(loss.tricks for loss in losses),
            points=sum(loss.points for loss in losses),
            fair_points=sum(fair) if fair else None,
        )


def losses_of(hands: Sequence[HandAnalysis], *, entrants: int) -> tuple[EntrantLosses, ...]:
    """What the decisions of each of so many entrants cost, in their order."""
    return tuple(_losses(entrant, hands) for entrant in range(entrants))


def costliest(hands: Iterable[HandAnalysis], *, top: int) -> list[tuple[HandAnalysis, Moment]]:
    """The moments that cost most, in points and then in tricks, then in the order of the record.

    Where it is known what they cost against what was known that is added: what was a mistake shows
    in both.
    """
    every = [
        (hand, moment)
        for hand in hands
        for moment in hand.moments
        if moment.points_lost > 0 or moment.tricks_lost > 0
    ]
    every.sort(key=lambda one: (-_both(one[1]), -one[1].tricks_lost))
    return every[:top]


def _both(moment: Moment) -> float:
    return moment.points_lost + (moment.fair_points_lost or 0.0)


def up_to(hand: HandRecord, step: str) -> HandRecord:
    """The hand as it was when that decision was to be taken (``trump``, ``play 13``)."""
    name, _, number = step.partition(" ")
    if name == "play":
        return replace(hand, plays=hand.plays[: int(number) - 1], result=None)
    none: tuple[Draw, ...] = ()
    return replace(hand, trump=None, discards=(), draws=none, plays=(), result=None)


def _losses(entrant: int, hands: Sequence[HandAnalysis]) -> EntrantLosses:
    moments: defaultdict[Kind, list[Moment]] = defaultdict(list)
    left_out: defaultdict[Kind, int] = defaultdict(int)
    sides = 0
    by_game: defaultdict[int, list[float]] = defaultdict(list)
    for hand in hands:
        its_sides = sum(entrant in holders for holders in hand.entrants)
        if not its_sides:
            continue
        sides += its_sides
        own = [moment for moment in hand.moments if moment.entrant == entrant]
        for moment in own:
            moments[moment.kind].append(moment)
        for kind, its in hand.left_out:
            left_out[kind] += its == entrant
        by_game[hand.game].append(sum(moment.points_lost for moment in own) / its_sides)
    games = tuple((game, sum(lost) / len(lost)) for game, lost in sorted(by_game.items()))
    return EntrantLosses(
        entrant=entrant,
        hands=sides,
        by_kind={
            kind: _loss(moments[kind], left_out[kind])
            for kind in Kind
            if moments[kind] or left_out[kind]
        },
        error=_error([lost for _, lost in games]),
        by_game=games,
    )


def _loss(moments: Sequence[Moment], left_out: int) -> Loss:
    fair = [one.fair_points_lost for one in moments if one.fair_points_lost is not None]
    return Loss(
        choices=len(moments),
        left_out=left_out,
        tricks=sum(one.tricks_lost for one in moments),
        points=sum(one.points_lost for one in moments),
        fair_points=sum(fair) if fair else None,
    )


def _error(values: Sequence[float]) -> float | None:
    if len(values) < LEAST_GAMES:
        return None
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return Z95 * math.sqrt(variance / len(values))
