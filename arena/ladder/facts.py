"""The facts a ladder keeps: bots, events, matches, and what came of them.

Values only. Where they are kept is the store's business, how they come about that of whoever runs
the ladder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Final, TypeAlias

from hokm.outcome import Ending

Boards: TypeAlias = tuple[tuple[int, ...], ...]
"""What each entrant has of each board of a match, or pair of races: ``boards[board][place]``."""

WITHDRAWN: Final = "withdrawn"
"""Why a bot is inactive whose owner took it out."""

AWAY: Final = "away"
"""Why a bot is inactive that stays at home, where nobody is."""

_DISABLED: Final = "disabled by the operator: "


def disabled(because: str) -> str:
    """Why a bot is inactive that the operator of the ladder took out."""
    return f"{_DISABLED}{because}"


@dataclass(frozen=True, slots=True)
class Bot:
    """An entrant; `number` counts them in the order they were entered.

    `program` is the digest of what it runs, whatever it is called and whose it is. `reference` says
    that it came with the arena. `failed_starts` counts those since it last played.
    `inactive_because` is None while it is active. A `remote` one runs wherever its owner has it.
    """

    number: int
    name: str
    owner: str
    version: str
    digest: str
    program: str = ""
    reference: bool = False
    rated: bool = True
    failed_starts: int = 0
    inactive_because: str | None = None
    remote: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it is paired and plays."""
        return self.inactive_because is None

    @property
    def is_disabled(self) -> bool:
        """Whether the operator took it out; then nobody else can bring it back."""
        return (self.inactive_because or "").startswith(_DISABLED)

    @property
    def is_retired(self) -> bool:
        """Whether its owner took it out; it may be entered again."""
        return self.inactive_because == WITHDRAWN


_INACTIVE: Final = " is inactive: "


def absence(bot: Bot) -> str:
    """Why a match is void that an inactive bot was to play."""
    return f"{bot.name}{_INACTIVE}{bot.inactive_because}"


def absent_in(because: str | None) -> str | None:
    """The name of the bot whose absence made a match void, if that did."""
    name, inactive, _ = (because or "").partition(_INACTIVE)
    return name if inactive else None


@dataclass(frozen=True, slots=True)
class Event:
    """One set of matches with deals of their own.

    `schedule` says who meets whom, as `arena.ladder.schedules` writes it; `settled` the same with
    all fixed that is fixed as the event begins. `beacon` names where its entropy comes from, None
    for the nonces of its entrants. Its entropy is None until it is fixed, before the first card,
    and its secret until the event is over. `beacon_value` is what the beacon published, `entered`
    how many bots there were as it began, None of events that were played before this was kept.
    Once it `is_ending` its secret is being revealed, and nothing more is played of it.
    """

    number: int
    schedule: str
    commitment: bytes
    beacon: str | None = None
    entropy: bytes | None = None
    secret: bytes | None = None
    settled: str | None = None
    beacon_value: str | None = None
    entered: int | None = None
    is_ending: bool = False

    @property
    def name(self) -> str:
        """As the ids of its matches begin: `ev1`."""
        return f"ev{self.number}"

    @property
    def is_over(self) -> bool:
        """Whether every match of it is played or void, and its secret revealed."""
        return self.secret is not None

    @property
    def has_begun(self) -> bool:
        """Whether its deals are fixed."""
        return self.entropy is not None


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
class Fixture:
    """A match that was scheduled, and what has become of it."""

    match: Match
    state: State
    because: str | None
    """Why it is void."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Matches that were scheduled together: a cycle, or a part of one. `field` are the bots that
    could be paired, by number.
    """

    number: int
    field: tuple[int, ...]
    fixtures: tuple[Fixture, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one attempt to play a match: it counts (None), or an ending voided it.

    `record` is the record's file below `records/`, `record_digest` the digest of its substance.
    `struck` is why the operator struck it out, which is no word about how it ended: None if he did
    not.
    """

    match: str
    number: int
    voided_by: Ending | None
    cause: str
    record: str
    record_digest: str
    struck: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the result of its match comes from it."""
        return self.voided_by is None and self.struck is None


@dataclass(frozen=True, slots=True)
class Result:
    """A match that was played. `boards` are what each entrant has of each board (points, over all
    rooms) or pair of races (races won): `boards[board][place]`. `forfeits` counts the games that
    ended by the fault of each entrant, None for a match of an older arena, which did not count.
    """

    match: str
    round: int
    entrants: tuple[int, ...]
    boards: Boards
    forfeits: tuple[int, ...] | None = None

    @property
    def totals(self) -> tuple[int, ...]:
        """What each entrant has of all boards."""
        return totals(self.boards)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each entrant by its total, from 1; those with equal totals share one."""
        return tuple(1 + sum(other > own for other in self.totals) for own in self.totals)

    def pairs(self) -> tuple["Pair", ...]:
        """What came of the match between every two of its entrants."""
        places = sorted(range(len(self.entrants)), key=lambda place: self.entrants[place])
        return tuple(
            Pair.of(
                (self.entrants[first], self.entrants[second]),
                [board[first] - board[second] for board in self.boards],
            )
            for first, second in combinations(places, 2)
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """What came of a match between two of its entrants, the first being the one that was entered
    first: boards by the sign of their difference, as it sees them, and that of all together.
    """

    first: int
    second: int
    won: int
    drawn: int
    lost: int
    difference: int

    @classmethod
    def of(cls, bots: tuple[int, int], differences: Sequence[int]) -> "Pair":
        """From the difference of each board."""
        won, lost = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
        drawn = len(differences) - won - lost
        return cls(*bots, won, drawn, lost, sum(differences))


@dataclass(frozen=True, slots=True)
class Deed:
    """What an operator did: who, when (ISO 8601, UTC), which verb, to what, and why. `number`
    counts them; 0 is one that is not kept yet.
    """

    at: str
    actor: str
    verb: str
    subject: str
    reason: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Controls:
    """What an operator told a ladder that stands: why it is paused, and why it is to end once all
    that is under way is done; None where it is not.
    """

    paused: str | None = None
    draining: str | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing may be begun."""
        return self.paused is not None or self.draining is not None


def totals(boards: Boards) -> tuple[int, ...]:
    """What each entrant has of all boards."""
    return tuple(map(sum, zip(*boards, strict=True)))


# -- of a ladder that others send bots to


class Scope(Enum):
    """What a token is good for."""

    SUBMIT = "submit"
    """Sending bots in, and taking them out."""
    READ = "read"
    """Its owner's submissions, reports and logs; and what a private ladder shows to nobody else."""
    PLAY = "play"
    """Offering bots that run elsewhere."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody who may send bots in. `family` is the name as owners are compared, so that no two
    look alike. `registered` is when, ISO 8601 in UTC. `barred_because` is None while welcome.
    """

    number: int
    name: str
    family: str
    registered: str
    barred_because: str | None = None

    @property
    def is_barred(self) -> bool:
        """Whether nothing of this owner's is taken or shown any more."""
        return self.barred_because is not None


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token, which is not the token itself: its SHA-256, whose it is, what for.
    `label` tells an owner's tokens apart. `revoked` is None while it is good.
    """

    digest: str
    owner: int
    label: str
    scopes: frozenset[Scope]
    issued: str
    revoked: str | None = None


class SubmissionState(Enum):
    """What has become of a submission."""

    WAITING = "waiting"
    VALIDATING = "validating"
    ACCEPTED = "accepted"
    """It was entered as a bot, or stands for one that was."""
    REFUSED = "refused"
    FAILED = "failed"
    """The arena itself failed at it, as often as it tries: nobody knows whether it is any good."""
    WITHDRAWN = "withdrawn"
    """Its owner took it back before it was validated. What became a bot that is withdrawn is shown
    so as well, and kept as accepted."""

    @property
    def is_decided(self) -> bool:
        """Whether nothing more will become of it."""
        return self not in (SubmissionState.WAITING, SubmissionState.VALIDATING)


@dataclass(frozen=True, slots=True)
class Submission:
    """A bot that was sent in: `owner` by number, `name` and `version` as in its manifest, `digest`
    of its files, `size_bytes` of its archive. `report` is what validation came to, as JSON; `bot`
    the number of the bot that it became. Times are ISO 8601 in UTC.
    """

    number: int
    owner: int
    name: str
    version: str
    digest: str
    size_bytes: int
    received: str
    state: SubmissionState = SubmissionState.WAITING
    decided: str | None = None
    report: str | None = None
    bot: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What an owner has used: submissions since some time, and bytes of archives that are kept."""

    submissions: int
    kept_bytes: int
