"""What is asked of the ladder's service and what it answers, as values. They know no wire."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from arena.ladder.facts import Bot, Submission
from arena.ladder.ratings.standings import Standings

# -- what is asked


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: from which address, with which token (empty if none), which is a secret."""

    host: str
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class RegisterOwner:
    """Become an owner."""

    name: str


@dataclass(frozen=True, slots=True)
class SubmitHeader:
    """An archive is about to be sent: of the bot of that digest, so long."""

    digest: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a file."""

    data: bytes


@dataclass(frozen=True, slots=True)
class GetSubmission:
    """A submission by its number; None: the last one."""

    number: int | None = None


@dataclass(frozen=True, slots=True)
class ListSubmissions:
    """A page of submissions; 0: as many as there may be in one."""

    page_size: int = 0
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class ListBots:
    """All bots of one's own."""


@dataclass(frozen=True, slots=True)
class WithdrawBot:
    """Take a bot out."""

    name: str


@dataclass(frozen=True, slots=True)
class GetLog:
    """Logs of one's own bots in a match."""

    match: str


@dataclass(frozen=True, slots=True)
class GetStatus:
    """Whether the ladder plays."""


@dataclass(frozen=True, slots=True)
class GetStandings:
    """Who stands where."""


@dataclass(frozen=True, slots=True)
class ListResults:
    """A page of decided matches, of one bot or of all; see :class:`ListSubmissions`."""

    bot: str = ""
    page_size: int = 0
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class GetRecord:
    """The record of a match; None: of its last attempt."""

    match: str
    attempt: int | None = None


Request: TypeAlias = (
    RegisterOwner
    | GetSubmission
    | ListSubmissions
    | ListBots
    | WithdrawBot
    | GetLog
    | GetStatus
    | GetStandings
    | ListResults
    | GetRecord
)
"""What is asked in one message; an upload is several."""

# -- what is answered


@dataclass(frozen=True, slots=True)
class Registered:
    """An owner was made; the token is a secret, and told this once."""

    name: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """A submission, as its owner sees it: with the name of the bot that it became, empty if none,
    and what validation came to, as JSON, empty where that is not known or was not asked for.
    """

    submission: Submission
    bot: str = ""
    report: str = ""


@dataclass(frozen=True, slots=True)
class Submitted:
    """What was sent is taken in, or was here already."""

    shown: Shown
    was_here: bool


@dataclass(frozen=True, slots=True)
class SubmissionPage:
    """Submissions, the last first; the token of the next page is empty where there is none."""

    submissions: tuple[Shown, ...]
    next_page_token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What an owner has used, and what may be."""

    active_bots: int
    most_active_bots: int
    submissions: int
    most_submissions: int
    kept_bytes: int
    most_kept_bytes: int


@dataclass(frozen=True, slots=True)
class OwnBot:
    """A bot, as its owner sees it; ``inactive_because`` is empty while it plays, and it
    ``has_played`` once a match of it is decided.
    """

    name: str
    version: str
    digest: str
    inactive_because: str
    is_rated: bool
    has_played: bool = False

    @classmethod
    def of(cls, bot: Bot, *, has_played: bool = False) -> "OwnBot":
        """From what the ladder knows of it."""
        because = bot.inactive_because or ""
        return cls(bot.name, bot.version, bot.digest, because, bot.rated, has_played)


@dataclass(frozen=True, slots=True)
class OwnBots:
    """All bots of an owner, in the order they were entered."""

    bots: tuple[OwnBot, ...]
    allowance: Allowance


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A bot is out."""

    bot: OwnBot


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHeader:
    """The log of one process: of which attempt, where it sat, the how manieth it was there."""

    attempt: int
    room: int
    seat: int
    bot: str
    start: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class RecordHeader:
    """A record: of which attempt, its file below ``records/``, the digest of its substance."""

    attempt: int
    file: str
    substance_digest: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FileSent:
    """A file that is sent: what is said of it first, and where it lies; or what is sent in place of
    what lies there.
    """

    header: LogHeader | RecordHeader
    path: Path
    data: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStatus:
    """What a ladder is doing: whether its operator paused it and why, which event is under way
    (empty: none), how many submissions wait and are validated, when a rated match was decided last
    (empty: none since the start), and why nothing rated is decided, if that has been so for too
    long.
    """

    ladder: str
    is_paused: bool = False
    event: str = ""
    waiting: int = 0
    validating: int = 0
    rated: str = ""
    alarm: str = ""
    paused_because: str = ""


@dataclass(frozen=True, slots=True)
class MatchResult:
    """A decided match: names of bots as in its id, what each has of all boards, none where it is
    void, and why it is, None where it is not.
    """

    match: str
    event: str
    round: int
    bots: tuple[str, ...]
    totals: tuple[int, ...]
    void_because: str | None = None


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Results, the last first; see :class:`SubmissionPage`."""

    results: tuple[MatchResult, ...]
    next_page_token: str = ""


Reply: TypeAlias = (
    Registered
    | Submitted
    | Shown
    | SubmissionPage
    | OwnBots
    | Withdrawn
    | ServiceStatus
    | Standings
    | ResultPage
)
"""What is answered in one message; files are several."""
