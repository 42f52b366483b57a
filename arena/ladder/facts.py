"""The facts a ladder keeps: bots, events, matches, and what came of them.

Values only. Where they are kept is the store's business, how they come about that of whoever runs
the ladder.
"""

from dataclasses import dataclass
from enum import Enum

from hokm.outcome import Ending


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
    """A match as scheduled, `place` in its round; `home` and `away` are numbers of bots.

    `attempt` is the next one: 2 once a fault of the host voided the first.
    """

    id: str
    round: int
    place: int
    home: int
    away: int
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
    """A match that was played. `boards` are home's points less away's in room 1 and room 2, of each
    board or pair of races.
    """

    match: str
    round: int
    home: int
    away: int
    boards: tuple[tuple[int, int], ...]

    @property
    def differences(self) -> tuple[int, ...]:
        """D = x1 + x2 of each board: above 0 home won it."""
        return tuple(x1 + x2 for x1, x2 in self.boards)

    @property
    def score(self) -> float:
        """Home's: 1 for a win, ½ for a draw, 0 for a loss, by the sign of the sum of all boards."""
        total = sum(self.differences)
        return 0.5 + 0.5 * ((total > 0) - (total < 0))
