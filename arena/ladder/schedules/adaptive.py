"""Adaptive pairing: the matches that tell most about the ratings for what they cost.

With the covariance P of the ratings and W = κ²p(1 − p), what a match of i and j says (its mean over
what the ratings may be, when the batch begins), the sum of all variances drops by

    gain_ij = W ‖P(e_i − e_j)‖² / (1 + W (e_i − e_j)ᵀ P (e_i − e_j))

and then P ← P − W P u uᵀ P / (1 + W uᵀ P u), u = e_i − e_j, before the next pair is chosen: what
statisticians call A-optimal design. A new bot, of which P knows nothing, is so served first, and
nobody wastes time on a result that is foregone.

Nobody can steer it. One match in ten is between any two, drawn evenly, which also keeps the field
together and shows what the model does not expect. All others are drawn among the pairs that are
nearly as good as the best; so, too, the last digit of a matrix product, which is not the same on
every machine, changes nothing.

This module does not fit ratings; it takes them as they were when the batch began.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.ladder.ratings.elo import SCALE
from arena.ladder.schedules.chance import Draw, in_drawn_order
from arena.ladder.schedules.meetings import Meeting, Round, in_rounds
from arena.ladder.schedules.state import Knowledge, Place, State, checked_field
from arena.wording import counted

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

SMALLEST_BATCH: Final = 20
"""Matches that are chosen before ratings are fitted again, or half as many as there are players."""

ONE_IN: Final = 10
"""One match in so many is drawn from all pairs."""

NEARLY: Final = 0.95
"""A pair is as good as the best from this share of its gain on."""

MOST_OF_MEAN: Final = 2
"""No pair meets more than so many times as often as pairs do in the mean."""

STARVED: Final = 0.5
"""Who has fewer than this share of the mean number of matches goes first."""


class Why(Enum):
    """What a match was chosen for."""

    CHANCE = "chance"
    """The one in ten."""

    BRIDGE = "bridge"
    """It joins players whom no results bind together."""

    FLOOR = "floor"
    """One of them had too few matches."""

    GAIN = "gain"
    """It says most."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A chosen match."""

    meeting: Meeting
    why: Why


@dataclass(frozen=True, slots=True)
class Adaptive:
    """`matches` matches, chosen in batches of max(20, n/2) by what they say for their CPU time.

    In each batch every group of players that no results bind to the rest gets a match outside it.
    A bot with fewer than `least` matches in this event goes before others; without `least`, one
    with fewer than half of the mean. No bot has more than `most`. Bots that are kept apart
    (`State.apart`) never meet. No pair meets more than twice as often as pairs do in the mean of
    the whole ladder, while there are others.

    Matches of three are the best pair with the third that adds most.
    """

    matches: int
    least: int | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        if self.matches < 1:
            raise ValueError(f"an adaptive event has 1 match or more, not {self.matches}")
        if self.least is not None and self.least < 0:
            raise ValueError(f"least is 0 or more, not {self.least}")
        if self.most is not None and self.most < max(self.least or 0, 1):
            raise ValueError(f"most is 1 or more, and no less than least, not {self.most}")

    def __str__(self) -> str:
        return f"{counted(self.matches, 'match')} where they say most"

    @property
    def uses_knowledge(self) -> bool:
        """All of it."""
        return True

    def settled(self, state: State) -> Self:
        """The same: nothing is left open. Raises ValueError if nobody may meet."""
        checked_field("an adaptive event", state)
        if not _Choice(self, state).may_meet.any():
            raise ValueError("no two of these bots may meet in rated matches")
        return self

    def ranking(self, state: State) -> tuple[Place, ...]:
        """None but the ladder's."""
        return ()

    def next_rounds(self, state: State) -> tuple[Round, ...]:
        """The next batch."""
        return state.rounds(*in_rounds(pick.meeting for pick in self.picks(state)))

    def picks(self, state: State) -> tuple[Pick, ...]:
        """The matches of the next batch in the order in which they were chosen."""
        left = self.matches - len(state.matches)
        if left <= 0:
            return ()
        size = min(left, max(SMALLEST_BATCH, len(state.field) // 2))
        return tuple(_Choice(self, state).picks(size))


def information(ratings: Array) -> Array:
    """W: what one match of each two says, in Elo⁻²."""
    kappa = math.log(10.0) / SCALE
    half = np.tanh(0.5 * kappa * (ratings[:, None] - ratings[None, :]))
    return np.asarray(kappa**2 * 0.25 * (1.0 - half * half), dtype=np.float64)


def expected_information(ratings: Array, covariance: Array) -> Array:
    """W in the mean over what the ratings may be: their differences have the mean and the variance
    V that these say. By MacKay's approximation, with c = 1/√(1 + πκ²V/8), it is c times the W of
    differences c times as large.

    To take the ratings of bots that have hardly played for true would be wrong twice over: those
    who began with some luck would never meet those who did not, and the field would drift apart.
    """
    kappa = math.log(10.0) / SCALE
    variance = np.maximum(_of_differences(covariance), 0.0)
    narrowing = 1.0 / np.sqrt(1.0 + math.pi / 8.0 * kappa**2 * variance)
    half = np.tanh(0.5 * kappa * narrowing * np.subtract.outer(ratings, ratings))
    return np.asarray(kappa**2 * 0.25 * (1.0 - half * half) * narrowing, dtype=np.float64)


def gains(weights: Array, covariance: Array, squared: Array) -> Array:
    """By how much a match of each two lowers the sum of all variances, in Elo². `weights` are W and
    `squared` is the covariance times itself.
    """
    value = _of_differences(covariance)
    value *= weights
    value += 1.0
    np.divide(weights, value, out=value)
    value *= _of_differences(squared)
    return value


def _of_differences(form: Array) -> Array:
    """(e_i − e_j)ᵀ F (e_i − e_j) for each two."""
    diagonal = np.diag(form)
    differences: Array = np.add.outer(diagonal, diagonal)
    differences -= form
    differences -= form
    return differences


class _Choice:
    """The choice of one batch. Players are places in the field here, until they are named."""

    def __init__(self, adaptive: Adaptive, state: State) -> None:
        known = _known(state)
        partners = _partners(state)
        # Whom nobody may meet would only be a part of the means.
        self._field = tuple(player for player in state.field if partners[player])
        self._sides = state.sides
        self._draw: Draw = state.draws()
        self._least, self._most = adaptive.least, adaptive.most

        players = np.array(self._field, dtype=np.intp)
        square = np.ix_(players, players)
        self._seconds = known.cpu_seconds[players]
        self._cost = np.add.outer(self._seconds, self._seconds)
        self._covariance = known.covariance[square].astype(np.float64)
        self._weights = expected_information(known.ratings[players], self._covariance)
        self._squared = self._covariance @ self._covariance
        self._met = known.met[square].astype(np.int64)
        self._groups = np.array(known.groups, dtype=np.int64)[players]

        place = {player: at for at, player in enumerate(self._field)}
        self.may_meet: Mask = np.zeros((len(players), len(players)), dtype=np.bool_)
        for player, at in place.items():
            self.may_meet[at, [place[other] for other in partners[player]]] = True
        self._pairs = int(self.may_meet.sum()) // 2
        self._played = np.zeros(len(players), dtype=np.int64)
        self._first = np.zeros(len(players), dtype=np.int64)
        for match in state.matches:
            self._count(tuple(place[player] for player in match.meeting if player in place))
            if match.meeting[0] in place:
                self._first[place[match.meeting[0]]] += 1

    def picks(self, size: int) -> Iterator[Pick]:
        """So many matches, or fewer if nobody may meet any more."""
        if not self._pairs:
            return
        lonely = self._lonely_groups()
        for _ in range(size):
            meeting, why = self._next(lonely)
            if not meeting:
                return
            lonely -= {int(self._groups[at]) for at in meeting}
            self._take(meeting)
            yield Pick(tuple(self._field[at] for at in self._in_order(meeting)), why)

    def _next(self, lonely: set[int]) -> tuple[tuple[int, ...], Why]:
        """The next match; an empty one if there is none."""
        free = np.ones(len(self._field), dtype=np.bool_)
        if self._most is not None:
            free = self._played < self._most
        pairs = np.triu(self.may_meet & free[:, None] & free[None, :])
        pairs = _preferring(pairs, self._met + 1 <= self._most_of_a_pair())
        is_random = self._draw(ONE_IN) == 0
        why = Why.CHANCE if is_random else Why.GAIN
        if not is_random:
            starved = self._played < self._floor()
            for reason, wanted in (
                (Why.BRIDGE, self._leads_out_of(lonely)),
                (Why.FLOOR, starved[:, None] & starved[None, :]),
                (Why.FLOOR, starved[:, None] | starved[None, :]),
            ):
                if (pairs & wanted).any():
                    pairs, why = pairs & wanted, reason
                    break
        value = gains(self._weights, self._covariance, self._squared)
        pair = self._drawn(value / self._cost, pairs, is_random=is_random)
        if pair is None or self._sides == 2:
            return pair or (), why
        return self._with_third(pair, value, free=free, is_random=is_random), why

    def _drawn(self, value: Array, pairs: Mask, *, is_random: bool) -> tuple[int, int] | None:
        """One of these pairs: any, or one that is nearly the best."""
        best = np.max(value, where=pairs, initial=0.0)
        good = np.flatnonzero(pairs if is_random else pairs & (value >= NEARLY * best))
        if not len(good):
            return None
        first, second = divmod(int(good[self._draw(len(good))]), len(self._field))
        return first, second

    def _with_third(
        self, pair: tuple[int, int], value: Array, *, free: Mask, is_random: bool
    ) -> tuple[int, ...]:
        """The pair with the third whose two pairs add most, the cost of all three considered."""
        first, second = pair
        thirds = free & self.may_meet[first] & self.may_meet[second]
        together = value[first, second] + value[first] + value[second]
        cost = self._cost[first, second] + self._seconds
        worth = np.asarray(together / cost, dtype=np.float64)
        best = np.max(worth, where=thirds, initial=0.0)
        good = np.flatnonzero(thirds if is_random else thirds & (worth >= NEARLY * best))
        return (*pair, int(good[self._draw(len(good))])) if len(good) else ()

    def _take(self, meeting: tuple[int, ...]) -> None:
        """Go on as if the match were played."""
        self._count(meeting)
        for place, first in enumerate(meeting):
            for second in meeting[place + 1 :]:
                self._met[first, second] += 1
                self._met[second, first] += 1
                self._learn(first, second)

    def _learn(self, first: int, second: int) -> None:
        """P and P² once these two have met; a change of rank one and two."""
        p, weight = self._covariance, self._weights[first, second]
        v = p[:, first] - p[:, second]
        shrink = weight / (1.0 + weight * (v[first] - v[second]))
        half = np.outer(shrink * (p @ v) - 0.5 * shrink**2 * (v @ v) * v, v)
        self._squared -= half
        self._squared -= half.T
        self._covariance -= np.outer(shrink * v, v)

    def _count(self, meeting: tuple[int, ...]) -> None:
        for at in meeting:
            self._played[at] += 1

    def _in_order(self, meeting: tuple[int, ...]) -> list[int]:
        """Who has been named first in the least part of its matches is; of equals the lot decides.
        The match itself is among those they have played."""
        order = sorted(
            in_drawn_order(meeting, self._draw),
            key=lambda at: int(self._sides * self._first[at] - self._played[at]),
        )
        self._first[order[0]] += 1
        return order

    def _floor(self) -> int:
        if self._least is not None:
            return self._least
        return math.floor(STARVED * float(self._played.mean()))

    def _most_of_a_pair(self) -> float:
        """Once there is a match more."""
        met = int(np.sum(self._met, where=self.may_meet)) // 2 + 1
        return max(1.0, MOST_OF_MEAN * met / max(self._pairs, 1))

    def _lonely_groups(self) -> set[int]:
        """All groups but the largest: those that no results bind to it."""
        labels, sizes = np.unique(self._groups, return_counts=True)
        largest = int(labels[np.argmax(sizes)])
        return {int(label) for label in labels} - {largest}

    def _leads_out_of(self, lonely: set[int]) -> Mask:
        is_lonely = np.isin(self._groups, list(lonely))
        apart = self._groups[:, None] != self._groups[None, :]
        return np.asarray(apart & (is_lonely[:, None] | is_lonely[None, :]), dtype=np.bool_)


def _known(state: State) -> Knowledge:
    if state.knowledge is None:
        raise ValueError("what matches say cannot be worked out without ratings")
    return state.knowledge


def _partners(state: State) -> dict[int, set[int]]:
    """Whom each of the field may meet."""
    partners = {player: set(state.field) - {player} for player in state.field}
    for first, second in state.apart:
        if first in partners and second in partners:
            partners[first].discard(second)
            partners[second].discard(first)
    return partners


def _preferring(pairs: Mask, wanted: Mask) -> Mask:
    """Those that are wanted, if there are any."""
    both = pairs & wanted
    return both if both.any() else pairs
