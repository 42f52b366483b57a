"""A gauntlet: new bots against the whole field, for when the others know each other already.

There is no chance in a gauntlet of everybody; in one that finds opponents of a bot's own strength
the stream says which of them come when.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Self

from arena.ladder.schedules.chance import Draw, in_drawn_order
from arena.ladder.schedules.meetings import Meeting, Round, in_rounds
from arena.ladder.schedules.round_robin import round_robin
from arena.ladder.schedules.state import (
    Place,
    State,
    UnfitError,
    by_rating,
    checked_field,
    checked_sides,
)

QUANTILES: Final = 10
"""Opponents that a new bot is first shown to, from the weakest to the strongest (statistics, 4.4):
they say where it stands, within 120 Elo or so."""

NEAR_ELO: Final = 200.0
"""Opponents within so many points are near: p(1 − p) is 0.18 there or more, against 0.25 among
equals."""

_MOST_NAMED: Final = 20
"""So many of those who could run it are named where somebody is not among them."""


@dataclass(frozen=True, slots=True)
class Gauntlet:
    """Each of the `seeds` meets everybody else, `cycles` times, home and away in turn.

    Seeds meet each other only where `among` says so. With `near`, which is for matches of two, a
    seed meets ten of the field instead, from the weakest to the strongest, and then plays `near`
    matches against those within 200 points of where it was found to stand.

    In matches of three a seed meets two of the field at a time, and everybody of it once a cycle;
    of an odd field one sits out for each seed and cycle, in turn.

    A bot that joins is met from the next cycle on. A seed that is withdrawn plays no more.
    """

    seeds: tuple[str, ...]
    cycles: int = 1
    among: bool = False
    near: int = 0

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"a gauntlet is run by one bot or more, each named once: {self.seeds}")
        if self.cycles < 1:
            raise ValueError(f"a gauntlet has 1 cycle or more, not {self.cycles}")
        if self.near < 0 or (self.near and self.cycles > 1):
            raise ValueError("near is a number of matches, in place of cycles")

    def __str__(self) -> str:
        return f"a gauntlet of {', '.join(self.seeds)}"

    @property
    def uses_knowledge(self) -> bool:
        """Only to find near opponents."""
        return self.near > 0

    def settled(self, state: State) -> Self:
        """The same: nothing is left open. Raises ValueError for seeds that are not in the field."""
        checked_field("a gauntlet", state)
        if self.near:
            checked_sides("a gauntlet with near opponents", state)
        playing = {state.names[player] for player in state.field}
        for name in self.seeds:
            if name not in playing:
                names = [state.names[player] for player in state.field]
                near = difflib.get_close_matches(name, names, n=1)
                if len(names) > _MOST_NAMED:
                    names[_MOST_NAMED:] = ["…"]
                raise UnfitError(
                    f"{name} runs the gauntlet and is not an active bot: there are "
                    f"{', '.join(names)}",
                    remedy=f"did you mean {near[0]}?" if near else "take one of these for --seeds",
                )
        if len(state.field) - len(self.seeds) < state.sides - 1 and not self.among:
            raise ValueError("there is nobody to run the gauntlet against")
        return self

    def ranking(self, state: State) -> tuple[Place, ...]:
        """None but the ladder's."""
        return ()

    def next_rounds(self, state: State) -> tuple[Round, ...]:
        """The next cycle; with `near` the ten, then the near ones."""
        cycle = len(state.stages)
        seeds = [p for name in self.seeds for p in state.field if state.names[p] == name]
        field = [player for player in state.field if player not in seeds]
        if cycle >= (2 if self.near else self.cycles) or not seeds:
            return ()
        if self.near:
            rounds = self._placing(state, seeds) if cycle == 0 else self._near(state, seeds)
        elif state.sides == 3:
            rounds = in_rounds(with_pairs(seeds, field, cycle=cycle))
        else:
            rounds = against_field(seeds, field, cycle=cycle)
        if self.among and len(seeds) >= 2 and state.sides == 2 and cycle < self.cycles:
            order = -1 if cycle % 2 else 1
            rounds += tuple(
                tuple((seeds[a], seeds[b])[::order] for a, b in meetings)
                for meetings in round_robin(len(seeds))
            )
        return state.rounds(*rounds)

    def _placing(self, state: State, seeds: Sequence[int]) -> tuple[tuple[Meeting, ...], ...]:
        field = [player for player in by_rating(state) if player not in seeds]
        shown = quantiles(field, QUANTILES)
        return against_field(seeds, shown, cycle=0)

    def _near(self, state: State, seeds: Sequence[int]) -> tuple[tuple[Meeting, ...], ...]:
        if state.knowledge is None:
            raise ValueError("who is near is not known without ratings")
        ratings = state.knowledge.ratings
        draw = state.draws()
        queues = []
        for seed in seeds:
            field = [player for player in state.field if player not in seeds]
            field.sort(key=lambda player: (abs(ratings[player] - ratings[seed]), player))
            near = [p for p in field if abs(ratings[p] - ratings[seed]) <= NEAR_ELO]
            queues.append(_gone_round(near or field[:QUANTILES], self.near, draw))
        meetings = [
            (seed, opponent) if turn % 2 else (opponent, seed)
            for turn, opponents in enumerate(zip(*queues, strict=True))
            for seed, opponent in zip(seeds, opponents, strict=True)
        ]
        return in_rounds(meetings)


def against_field(
    seeds: Sequence[int], field: Sequence[int], *, cycle: int
) -> tuple[tuple[Meeting, ...], ...]:
    """Each seed against each of the field once, in as few rounds as can be: as many as there are of
    the more numerous. At home are all equally often, or but for one match; in every second cycle
    (from 0) it is the other one.
    """
    longer, shorter = (field, seeds) if len(field) >= len(seeds) else (seeds, field)
    rounds = []
    for number in range(len(longer)):
        meetings = []
        for k, first in enumerate(shorter):
            place = (number + k) % len(longer)
            second = longer[place]
            meetings.append((first, second) if (place + k + cycle) % 2 == 0 else (second, first))
        rounds.append(tuple(meetings))
    return tuple(rounds) if shorter else ()


def with_pairs(seeds: Sequence[int], field: Sequence[int], *, cycle: int) -> list[Meeting]:
    """Each seed with two of the field at a time, so that it meets each of them once: the pairs are
    a round of the field's round robin, another one for each seed and cycle (from 0). Who is named
    first goes round.
    """
    if len(field) < 2:
        return []
    rounds = round_robin(len(field))
    tables = [
        [
            _turned((seed, field[a], field[b]), place + cycle)
            for place, (a, b) in enumerate(rounds[(cycle * len(seeds) + k) % len(rounds)])
        ]
        for k, seed in enumerate(seeds)
    ]
    return list(chain.from_iterable(zip(*tables, strict=True)))


def quantiles(ordered: Sequence[int], count: int) -> list[int]:
    """So many of them, evenly spread from the first to the last; all if there are no more."""
    if len(ordered) <= count:
        return list(ordered)
    last = len(ordered) - 1
    return [ordered[round(k * last / (count - 1))] for k in range(count)]


def _turned(meeting: Meeting, by: int) -> Meeting:
    by %= len(meeting)
    return meeting[by:] + meeting[:by]


def _gone_round(players: Sequence[int], count: int, draw: Draw) -> list[int]:
    """`count` of them: all, in a drawn order, then all again in another."""
    gone: list[int] = []
    while players and len(gone) < count:
        gone += in_drawn_order(players, draw)
    return gone[:count]
