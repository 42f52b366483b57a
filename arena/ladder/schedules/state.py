"""What a schedule is asked with, and what it answers: the seam between an event and its schedule.

An event asks its schedule for rounds, plays them to the last match, and asks again, until there are
none: then it is over. The answer is a function of the `State` alone. So an event that was
interrupted goes on as it would have, and whoever has the results and the revealed secret can work
out every pairing again.

Players are indices into the names of all bots of a ladder, in the order they were entered, so that
nobody's index ever changes. This module knows no store, and does not make ratings.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from arena.ladder.schedules.chance import Draw, drawn_from
from arena.ladder.schedules.meetings import Meeting, Round

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A match of an earlier answer, and what came of it.

    `points` are what each of the meeting has of the one match: 1, ½ or 0 for won, drawn and lost,
    or any share. None where it is void. `absent` are those of the meeting for whose absence it is.
    """

    meeting: Meeting
    points: tuple[float, ...] | None
    absent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """One answer of a schedule: who could be paired then, and all its matches in their order.

    Who is in the `field` and in no match had a bye.
    """

    field: tuple[int, ...]
    matches: tuple[Scheduled, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What all rated matches of the ladder say so far, whatever their event.

    Arrays go by player. `ratings` are in Elo, `covariance` in Elo² (the model's, prior included, so
    that a bot that has not played is uncertain and no more). `met[i, j]` counts the rated matches
    of i and j. `groups` are labels: two players have the same if results bind them together
    (`Fit.groups`). `cpu_seconds` are what one match is expected to cost on the side of each.
    """

    ratings: NDArray[np.float64]
    covariance: NDArray[np.float64]
    met: NDArray[np.int64]
    groups: tuple[int, ...]
    cpu_seconds: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What is known when the next rounds of an event are fixed.

    `names` are of all bots, `field` those who may be paired now, ascending. `stages` are the
    earlier answers in this event. `mixed` is the event's mixed secret (`hokm.deck.mix`), which all
    chance comes from. `sides` is how many meet in a match.

    `stage` and `first_round` are the numbers that the answer and its first round will have, counted
    from 1 through all events of the ladder.

    `apart` are pairs, lower index first, whose matches would not be rated: of bots of one owner, or
    with a bot that is unrated. Only an adaptive schedule heeds them.
    `knowledge` may be None for a schedule that does not use it.
    """

    names: tuple[str, ...]
    field: tuple[int, ...]
    mixed: bytes = dataclasses.field(repr=False)
    sides: int = 2
    stages: tuple[Stage, ...] = ()
    stage: int = 1
    first_round: int = 1
    apart: frozenset[tuple[int, int]] = frozenset()
    knowledge: Knowledge | None = None

    def draws(self) -> Draw:
        """The chance of this answer, from its beginning."""
        return drawn_from(self.mixed, first_round=self.first_round)

    @property
    def matches(self) -> tuple[Scheduled, ...]:
        """Every match of the event so far."""
        return tuple(match for stage in self.stages for match in stage.matches)

    def rounds(self, *rounds: tuple[Meeting, ...]) -> tuple[Round, ...]:
        """These meetings as rounds, numbered from the first; empty ones are left out."""
        filled = (meetings for meetings in rounds if meetings)
        return tuple(
            Round(number, meetings) for number, meetings in enumerate(filled, self.first_round)
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a player came in an event, by what it was placed.

    `points` and `buchholz`, the points of all opponents, are of a Swiss event and None elsewhere;
    `reached` is how far it came in a knock-out, in words, and empty elsewhere.
    """

    player: int
    points: float | None = None
    buchholz: float | None = None
    reached: str = ""


class Schedule(Protocol):
    """Who meets whom in an event, as a value: its kind and its options.

    `uses_knowledge` says whether `State.knowledge` must be there.
    """

    @property
    def uses_knowledge(self) -> bool:
        """Whether it looks at ratings."""

    def settled(self, state: State) -> Self:
        """The same schedule with all fixed that is fixed as its event begins, such as who is seeded
        how: this is what is kept, published, and asked from then on. Ratings are looked at if they
        are there.

        Raises ValueError for what this schedule cannot do: so many sides, so few players, a name
        that nobody has.
        """

    def next_rounds(self, state: State) -> tuple[Round, ...]:
        """The rounds that are played next; none if the event is over. Nobody plays twice in one."""

    def ranking(self, state: State) -> tuple[Place, ...]:
        """Who won the event, best first, as far as it has come; empty for a kind that is played for
        the ratings alone."""


def by_rating(state: State) -> tuple[int, ...]:
    """The field with the best rating first; equals, and all where there are no ratings, in the
    order they were entered."""
    if state.knowledge is None:
        return state.field
    ratings = state.knowledge.ratings.tolist()
    return tuple(sorted(state.field, key=lambda player: (-ratings[player], player)))


class UnfitError(ValueError):
    """What a schedule cannot do here, and what to do about it."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


def checked_sides(kind: str, state: State) -> None:
    """Raise UnfitError unless matches are of two."""
    if state.sides != 2:
        raise UnfitError(
            f"{kind} is for matches of two, not of {state.sides}",
            remedy="take --schedule round-robin, adaptive, or gauntlet without --near",
        )


def checked_field(kind: str, state: State) -> None:
    """Raise ValueError unless there are players for one match."""
    if len(state.field) < state.sides:
        raise ValueError(
            f"{kind} needs {state.sides} active bots to play and has {len(state.field)}"
        )
