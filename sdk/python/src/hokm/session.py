"""What a bot and the referee say to each other, as values.

The order of a session: hello, welcome, match start, then for each game its start, decisions and
answers, and its end; match end, goodbye. A bot process has one stream and every message on it
travels in batches. These classes know nothing of protobuf or gRPC: :mod:`hokm.wire` turns them into
bytes and back.
"""

from dataclasses import dataclass, field

from hokm.actions import Action
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.events import Event
from hokm.notes import Note
from hokm.outcome import Outcome
from hokm.rules.options import Rules
from hokm.view import ClockView

PROTOCOL = 1
"""The major version of the protocol this library speaks. Another major is refused by a typed
message.
"""


# -- what a bot says


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message of a bot: what it speaks, who it is, how many games it takes at once.

    ``games`` are those it has not seen the end of, where it comes back after its stream broke.
    """

    protocol: int
    sdk: str
    name: str
    version: str
    concurrent: int = 1
    games: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Malformed:
    """What arrived in place of an action, or of a note: not one of the right kind. ``detail`` says
    why, for its sender.
    """

    detail: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A bot's answer to an open decision; ``attempt`` counts from 1 and grows by one after a
    refusal. ``took_seconds`` is how long the bot had the decision, by its own word; ``note`` is for
    its owner alone.
    """

    game: int
    decision: int
    attempt: int
    action: Action | Malformed
    took_seconds: float | None = None
    note: Note | Malformed | None = None


@dataclass(frozen=True, slots=True)
class Goodbye:
    """Either side is about to end its stream on purpose. A stream that just ends has broken."""

    reason: str = ""


FromBot = Hello | Answer | Goodbye


# -- what the referee says


@dataclass(frozen=True, slots=True)
class Welcome:
    """The answer to a hello. ``resume_token`` names this session if its stream breaks: a secret.
    The bot may be away for ``resume_seconds`` then; 0 where a broken stream is a crash.
    """

    protocol: int
    arena: str
    resume_token: str = field(repr=False)
    resume_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ProtocolRefused:
    """The hello's protocol is not spoken here; these are, lowest to highest."""

    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class ClockRules:
    """A table's clock: ``move_seconds`` a decision, then a bank of ``bank_seconds`` a hand."""

    move_seconds: float = 1.0
    bank_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class MatchStart:
    """A match begins for this bot: its rules, how many games it has in this room, the clock."""

    match: str
    rules: Rules
    games: int
    clock: ClockRules


@dataclass(frozen=True, slots=True)
class GameStart:
    """Game number ``game`` begins; this bot sits at ``seat``, and ``players`` are the names by
    seat. Every later message of the game carries the number.

    One that is ``resumed`` was told before the bot's stream broke: the next message of the game has
    all events from its beginning.
    """

    match: str
    game: int
    seat: Seat
    players: tuple[str, ...]
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """This seat is to act.

    ``events`` are those since the last decision of the game, as this seat sees them; ``legal`` is
    every action open to it; ``clock`` is its own. ``decision`` counts from 1 within the game and
    seat. ``attempt`` is above 1 only where earlier ones were refused before the bot came back.
    """

    game: int
    decision: int
    events: tuple[Event, ...]
    legal: tuple[Action, ...]
    clock: ClockView | None
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer was refused and changed nothing; where the decision is still open, ``attempt + 1``
    may follow.
    """

    game: int
    decision: int
    attempt: int
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class GameEnd:
    """The game is over: the events since the last decision, and its outcome."""

    game: int
    events: tuple[Event, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class MatchEnd:
    """Every game of this match in this room is over."""

    match: str


FromReferee = (
    Welcome
    | ProtocolRefused
    | MatchStart
    | GameStart
    | Decision
    | Refused
    | GameEnd
    | MatchEnd
    | Goodbye
)
