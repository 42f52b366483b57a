"""A Swiss event: everybody plays every round, against somebody with as many points.

For one day with a large field: a few rounds find the winner. What it says about the others is
little, so do not rate by it alone.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Final, Self

import rustworkx

from arena.ladder.schedules.chance import Draw
from arena.ladder.schedules.meetings import Meeting, Round
from arena.ladder.schedules.state import (
    Place,
    Stage,
    State,
    by_rating,
    checked_field,
    checked_sides,
)
from arena.wording import counted

EXTRA_ROUNDS: Final = 2
"""Beyond the ⌈log2 n⌉ after which one player is left who has won everything (statistics, 4.4)."""

MOST_LEAN: Final = 2
"""How many more matches at home than away somebody may have, or away than at home."""

_LOTS: Final = 2**32
"""Of so many lots the sums of two different pairings are never equal, for all practical purposes;
so the best pairing is the only one, whoever works it out."""


@dataclass(frozen=True, slots=True)
class Swiss:
    """`rounds` rounds; None is for ⌈log2 n⌉ + 2, or all n − 1 of a small field.

    Each round is paired from the results so far, such that, each as far as the one before allows:

    1. nobody has a second bye before everybody has had one (with an odd number there is one bye a
       round, which counts as a win);
    2. nobody meets the same opponent again;
    3. nobody has been at home three times more often than away, or away than at home;
    4. opponents have equally many points, the bye going to one who has the fewest;
    5. within a group of equals the upper half by seeding meets the lower half;
    6. who was at home meets who was away;
    7. the lot decides.

    It is the best pairing of all, found as a matching of least weight. Who joins later begins with
    no points; who is withdrawn is not paired. A void match is a win for the one who is still there,
    else half a point for each.

    `order` are the names of those who play, the best seed first, settled as the event begins, by
    rating where there are any.
    """

    rounds: int | None = None
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.rounds is not None and self.rounds < 1:
            raise ValueError(f"a Swiss event has 1 round or more, not {self.rounds}")
        if len(set(self.order)) < len(self.order):
            raise ValueError("each is seeded once")

    def __str__(self) -> str:
        rounds = "" if self.rounds is None else f", {counted(self.rounds, 'round')}"
        return f"a Swiss event{rounds}"

    @property
    def uses_knowledge(self) -> bool:
        """For the seeding, unless that is given."""
        return not self.order

    def settled(self, state: State) -> Self:
        """With its rounds and its seeding. Raises ValueError for matches of three."""
        checked_sides("a Swiss event", state)
        checked_field("a Swiss event", state)
        order = self.order or tuple(state.names[player] for player in by_rating(state))
        return replace(self, rounds=self.rounds or usual_rounds(len(state.field)), order=order)

    def next_rounds(self, state: State) -> tuple[Round, ...]:
        """The next round."""
        rounds = self.rounds or usual_rounds(len(state.field))
        if len(state.stages) >= rounds or len(state.field) < 2:
            return ()
        return state.rounds(_Standing(self, state).paired(state.field, state.draws()))

    def ranking(self, state: State) -> tuple[Place, ...]:
        """All who have played, by points, then by what their opponents have (Buchholz; a bye counts
        as an opponent with as many points as oneself), then by seeding."""
        standing = _Standing(self, state)
        everybody = {player for stage in state.stages for player in stage.field}
        order = sorted(
            everybody,
            key=lambda p: (-standing.points[p], -standing.buchholz(p), standing.seed(p)),
        )
        return tuple(
            Place(player, points=standing.points[player], buchholz=standing.buchholz(player))
            for player in order
        )


def usual_rounds(players: int) -> int:
    """⌈log2 n⌉ + 2, but never so many that somebody must meet an opponent again."""
    everybody = players - 1 + players % 2
    return min(ceil(log2(max(players, 2))) + EXTRA_ROUNDS, everybody)


class _Standing:
    """What the rounds so far have given each player."""

    def __init__(self, swiss: Swiss, state: State) -> None:
        index = {name: player for player, name in enumerate(state.names)}
        self._seeds = {index[name]: seed for seed, name in enumerate(swiss.order) if name in index}
        self.points: defaultdict[int, float] = defaultdict(float)
        self.byes: Counter[int] = Counter()
        self.opponents: dict[int, list[int]] = {}
        self.lean: Counter[int] = Counter()
        """Matches at home less those away."""
        fields = [*(stage.field for stage in state.stages), state.field][1:]
        for stage, field_after in zip(state.stages, fields, strict=True):
            self._add(stage, set(field_after))

    def _add(self, stage: Stage, field_after: set[int]) -> None:
        resting = set(stage.field)
        for match in stage.matches:
            home, away = match.meeting
            resting -= {home, away}
            points = match.points
            if points is None:
                there = [player in field_after for player in match.meeting]
                points = (0.5, 0.5) if there[0] == there[1] else (float(there[0]), float(there[1]))
            for player, other, score in ((home, away, points[0]), (away, home, points[1])):
                self.points[player] += score
                self.opponents.setdefault(player, []).append(other)
            self.lean[home] += 1
            self.lean[away] -= 1
        for player in resting:
            self.byes[player] += 1
            self.points[player] += 1

    def seed(self, player: int) -> tuple[int, int]:
        """By the order of the event; who joined later comes after, as entered."""
        return self._seeds.get(player, len(self._seeds)), player

    def buchholz(self, player: int) -> float:
        others = sum(self.points[other] for other in self.opponents.get(player, ()))
        return others + self.byes[player] * self.points[player]

    def paired(self, field: Sequence[int], draw: Draw) -> tuple[Meeting, ...]:
        """The best pairing of the field, the leaders first."""
        ranked = sorted(field, key=lambda p: (-self.points[p], self.seed(p)))
        place = {player: number for number, player in enumerate(ranked)}
        pairs = _best_matching(self._costs(ranked, draw))
        meetings = [self._at_home(ranked[i], ranked[j], draw) for i, j in pairs if j < len(ranked)]
        return tuple(sorted(meetings, key=lambda meeting: min(place[p] for p in meeting)))

    def _costs(self, ranked: Sequence[int], draw: Draw) -> dict[tuple[int, int], list[int]]:
        """What speaks against each pair of places in the ranking, the worst first. With an odd
        number the last place is that of the bye.
        """
        players = len(ranked)
        groups = Counter(self.points[player] for player in ranked)
        least = min(groups)
        costs = {}
        for i, first in enumerate(ranked):
            points = self.points[first]
            for j in range(i + 1, players):
                second = ranked[j]
                gap = points - self.points[second]
                leans = sorted((self.lean[first], self.lean[second]))
                costs[i, j] = [
                    0,
                    self.opponents.get(first, []).count(second),
                    int(leans[0] >= MOST_LEAN or leans[1] <= -MOST_LEAN),
                    _tenths(gap) ** 2,
                    abs(j - i - groups[points] // 2) if gap == 0 else 0,
                    abs(sum(leans)),
                    draw(_LOTS),
                ]
            if players % 2:
                gap = points - least
                costs[i, players] = [
                    self.byes[first],
                    0,
                    0,
                    _tenths(gap) ** 2,
                    players - 1 - i,
                    0,
                    draw(_LOTS),
                ]
        return costs

    def _at_home(self, first: int, second: int, draw: Draw) -> Meeting:
        """Who has been at home less is; of equals the lot decides."""
        difference = self.lean[first] - self.lean[second]
        is_first = difference < 0 or (difference == 0 and draw(2) == 0)
        return (first, second) if is_first else (second, first)


def _tenths(points: float) -> int:
    return round(10 * points)


def _best_matching(costs: Mapping[tuple[int, int], Sequence[int]]) -> list[tuple[int, int]]:
    """The pairs of places that cost least: of all pairings those whose first costs add up to least,
    of these those whose second costs do, and so on."""
    places = 1 + max(place for pair in costs for place in pair)
    weights = dict.fromkeys(costs, 0)
    for column in zip(*costs.values(), strict=True):
        # One of this column must count for more than all of the next ones together.
        base = 1 + max(column) * (places // 2)
        for pair, cost in zip(costs, column, strict=True):
            weights[pair] = weights[pair] * base + cost
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from([None] * places)
    graph.add_edges_from([(i, j, -weight) for (i, j), weight in weights.items()])
    found = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((min(pair), max(pair)) for pair in found)
