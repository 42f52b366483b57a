"""The facts a ladder keeps: bots, events, matches, and what came of them.

Values only. Where they are kept is the store's business, how they come about that of whoever runs
the ladder.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from hokm.outcome import Ending

Boards: TypeAlias = tuple[tuple[int, ...], ...]
"""What each entrant has of each board of a match, or pair of races: ``boards[board][place]``."""


@dataclass(frozen=True, slots=True)
class Bot:
    """An entrant; `number` counts them in the order they were entered.

    `failed_starts` counts those since it last played. `inactive_because` is None while it is
    active.
    """

    number: int
    name: str
    owner: str
    version: str
    digest: str
    rated: bool = True
    failed_starts: int = 0
    inactive_because: str | None = None

    @property
    def is_active(self) -> bool:
        """Whether it is paired and plays."""
        return self.inactive_because is None


@dataclass(frozen=True, slots=True)
class Event:
    """One call's set of cycles. Its secret is None until it is over."""

    number: int
    cycles: int
    commitment: bytes
    secret: bytes | None = None

    @property
    def name(self) -> str:
        """As the ids of its matches begin: `ev1`."""
        return f"ev{self.number}"

    @property
    def is_over(self) -> bool:
        """Whether every match of it is played or void, and its secret revealed."""
        return self.secret is not None


class State(Enum):
    """What has become of a match."""

    SCHEDULED = "scheduled"
    PLAYED = "played"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Match:
    """A match as scheduled, `place` in its round; `entrants` are numbers of bots, as named.

    `attempt` is the next one: 2 once a fault of the host voided the first.
    """

    id: str
    round: int
    place: int
    entrants: tuple[int, ...]
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one attempt to play a match: it counts (None), or an ending voided it.

    `record` is the record's file below `records/`, `record_digest` the digest of its substance.
    """

    match: str
    number: int
    voided_by: Ending | None
    cause: str
    record: str
    record_digest: str


@dataclass(frozen=True, slots=True)
class Result:
    """A match that was played. `boards` are what each entrant has of each board (points, over all
    rooms) or pair of races (races won): `boards[board][place]`.
    """

    match: str
    round: int
    entrants: tuple[int, ...]
    boards: Boards

    @property
    def totals(self) -> tuple[int, ...]:
        """What each entrant has of all boards."""
        return totals(self.boards)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each entrant by its total, from 1; those with equal totals share one."""
        return tuple(1 + sum(other > own for other in self.totals) for own in self.totals)

    def against(self, bot: int) -> tuple[tuple[int, ...], ...]:
        """What `bot`, one of the entrants, has more than each of the others, a board each."""
        own = self.entrants.index(bot)
        return tuple(
            tuple(board[own] - board[other] for board in self.boards)
            for other in range(len(self.entrants))
            if other != own
        )


def totals(boards: Boards) -> tuple[int, ...]:
    """What each entrant has of all boards."""
    return tuple(map(sum, zip(*boards, strict=True)))
