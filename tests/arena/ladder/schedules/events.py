"""Events played in a moment: a schedule is asked, its matches get results, until it is over."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

import numpy as np

from arena.ladder.schedules import Knowledge, Meeting, Schedule, Scheduled, Stage, State

MIXED = bytes(range(32))

Points = tuple[float, ...] | None


def first_wins(meeting: Meeting, points: Sequence[float] = (1.0, 0.0, 0.0)) -> Points:
    return tuple(points[: len(meeting)])


def better_wins(meeting: Meeting) -> Points:
    """The one with the lower index."""
    best = min(meeting)
    return tuple(float(player == best) for player in meeting)


def drawn(meeting: Meeting) -> Points:
    return (0.5,) * len(meeting)


def void(meeting: Meeting) -> Points:
    return None


def known(players: int, *, ratings: Sequence[float] | None = None, sd: float = 200.0) -> Knowledge:
    """All equally uncertain, and bound to nobody."""
    return Knowledge(
        ratings=np.array(ratings if ratings is not None else [1500.0] * players),
        covariance=np.eye(players) * sd**2,
        met=np.zeros((players, players), dtype=np.int64),
        groups=tuple(range(players)),
        cpu_seconds=np.ones(players),
    )


@dataclass
class Event:
    """An event as it goes: `fields` says who is there for each answer, the last for good."""

    schedule: Schedule
    fields: Sequence[Sequence[int]]
    results: Callable[[Meeting], Points] = better_wins
    sides: int = 2
    ratings: Sequence[float] | None = None
    mixed: bytes = MIXED
    apart: frozenset[tuple[int, int]] = frozenset()
    stages: list[Stage] = field(default_factory=list)
    rounds: list[tuple[Meeting, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.players = 1 + max(chain.from_iterable(self.fields))
        self.schedule = self.schedule.settled(self.state())

    def state(self) -> State:
        number = min(len(self.stages), len(self.fields) - 1)
        return State(
            names=tuple(f"bot{player}" for player in range(self.players)),
            field=tuple(self.fields[number]),
            mixed=self.mixed,
            sides=self.sides,
            stages=tuple(self.stages),
            stage=len(self.stages) + 1,
            first_round=len(self.rounds) + 1,
            apart=self.apart,
            knowledge=self.knowledge(),
        )

    def knowledge(self) -> Knowledge:
        fresh = known(self.players, ratings=self.ratings)
        for match in chain.from_iterable(stage.matches for stage in self.stages):
            for first, second in combinations(match.meeting, 2):
                fresh.met[first, second] += 1
                fresh.met[second, first] += 1
        return fresh

    def __iter__(self) -> Iterator[tuple[Meeting, ...]]:
        """Each answer as it is played: its meetings in the order of the schedule."""
        while True:
            state = self.state()
            answer = self.schedule.next_rounds(state)
            assert answer == self.schedule.next_rounds(self.state()), "not a function of the state"
            if not answer:
                return
            numbers = [one.number for one in answer]
            begin = len(self.rounds) + 1
            assert numbers == list(range(begin, begin + len(answer)))
            for one in answer:
                nobody_twice(one.meetings)
                assert set(chain.from_iterable(one.meetings)) <= set(state.field)
                assert all(len(meeting) == self.sides for meeting in one.meetings)
                self.rounds.append(one.meetings)
            meetings = tuple(chain.from_iterable(one.meetings for one in answer))
            played = tuple(Scheduled(meeting, self.results(meeting)) for meeting in meetings)
            self.stages.append(Stage(state.field, played))
            yield meetings
            assert len(self.stages) < 1000, "it does not end"

    def order(self) -> tuple[int, ...]:
        """The players as they are ranked now."""
        return tuple(place.player for place in self.schedule.ranking(self.state()))

    def played(self) -> list[Meeting]:
        """All meetings, to the end."""
        return list(chain.from_iterable(self))


def nobody_twice(meetings: Sequence[Meeting]) -> None:
    playing = list(chain.from_iterable(meetings))
    assert playing
    assert len(set(playing)) == len(playing)


def met(meetings: Sequence[Meeting]) -> Counter[tuple[int, int]]:
    return Counter(
        (first, second)
        for meeting in meetings
        for first, second in combinations(sorted(meeting), 2)
    )


def counts(meetings: Sequence[Meeting], players: Sequence[int]) -> list[int]:
    played = Counter(chain.from_iterable(meetings))
    return [played[player] for player in players]


def homes(meetings: Sequence[Meeting], players: Sequence[int]) -> list[int]:
    home = Counter(meeting[0] for meeting in meetings)
    return [home[player] for player in players]
