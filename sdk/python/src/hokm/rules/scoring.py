"""When a hand is over, who won it, and what it counts.

A finish looks at who took the tricks, in order, and nothing else; that makes it easy to enumerate.
Two of them cover the game: two sides race to seven, or three seats each play alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hokm.cards import Side, Trump
from hokm.outcome import HandKind, HandResult

SWEEP = 7
"""Tricks that win a hand for a side; taken without loss from the start, they are a kot."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A hand is over: the side that won, and whether by seven tricks to none."""

    winner: Side
    kot: bool


class Finish(Protocol):
    """When a hand ends."""

    def verdict(self, taken: Sequence[Side]) -> Verdict | None:
        """The verdict after the tricks taken so far, a side a trick in order; None while the hand
        goes on.
        """


@dataclass(frozen=True, slots=True)
class SidesToSeven:
    """Two sides: the first with seven tricks wins. ``play_out`` plays all thirteen all the same
    (rulebook 2.5).
    """

    play_out: bool

    def verdict(self, taken: Sequence[Side]) -> Verdict | None:
        """See :class:`Finish`."""
        if len(taken) < (13 if self.play_out else SWEEP):
            return None
        side = Side(0) if taken.count(Side(0)) >= SWEEP else Side(1)
        if taken.count(side) < SWEEP:
            return None
        return Verdict(side, kot=taken[:SWEEP].count(side) == SWEEP)


@dataclass(frozen=True, slots=True)
class EachAlone:
    """Three seats, seventeen tricks: sweep, unbeatable lead, odd one out (rulebook 3.4 to 3.6)."""

    def verdict(self, taken: Sequence[Side]) -> Verdict | None:
        """See :class:`Finish`."""
        if len(taken) < SWEEP:
            return None
        won = [taken.count(Side(side)) for side in range(3)]
        ranked = sorted(range(3), key=won.__getitem__, reverse=True)
        first, second, third = (Side(side) for side in ranked)
        if len(taken) == SWEEP and won[first] == SWEEP:
            return Verdict(first, kot=True)
        left = 17 - len(taken)
        if won[first] > won[second] + left:
            return Verdict(first, kot=False)
        if left == 0:  # the two in front are level: the third wins
            return Verdict(third, kot=False)
        return None


@dataclass(frozen=True, slots=True)
class Scoring:
    """Points for a hand, by kind (rulebook 1.6). Seven to none in a mode without a trump suit is a
    plain win, unless ``kot_in_modes`` is on (rulebook 5).
    """

    win: int
    kot: int
    hakem_kot: int
    kot_in_modes: bool

    def result(
        self, verdict: Verdict, taken: Sequence[Side], *, hakem: Side, sides: int, trump: Trump
    ) -> HandResult:
        """The result of a finished hand; points and tricks by side, the losers' points 0."""
        is_kot = verdict.kot and (trump.suit is not None or self.kot_in_modes)
        if not is_kot:
            kind, points = HandKind.WIN, self.win
        elif verdict.winner == hakem:
            kind, points = HandKind.KOT, self.kot
        else:
            kind, points = HandKind.HAKEM_KOT, self.hakem_kot
        return HandResult(
            winner=verdict.winner,
            kind=kind,
            points=tuple(points if side == verdict.winner else 0 for side in range(sides)),
            tricks=tuple(taken.count(Side(side)) for side in range(sides)),
        )

    def fault(self, *, at_fault: Side, hakem: Side, sides: int) -> tuple[int, ...]:
        """Points by side of a board hand that a side's fault ended: the worst possible result for
        that side.

        With two sides the other one scores the hakem-kot or the kot; with three seats nobody scores
        it, the seat at fault pays it.
        """
        if sides == 2:
            points = self.hakem_kot if at_fault == hakem else self.kot
            return tuple(0 if side == at_fault else points for side in range(sides))
        return tuple(-self.hakem_kot if side == at_fault else 0 for side in range(sides))
