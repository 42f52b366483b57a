"""The record of a match as values: what was dealt, decided and refused, and how it ended.

A record says enough to play every game again through the rules and to deal every deck again from
its seed. It has no field for a ticket or a token. What bots noted of their actions is for the owner
of each alone; :func:`with_notes_of` leaves out the rest. These classes
know nothing of files (:mod:`hokm.records.files`) and judge nothing (:mod:`hokm.records.checks`).
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from hokm.actions import Draw
from hokm.cards import Card, Seat, Side, Trump
from hokm.errors import Reason
from hokm.notes import Note
from hokm.outcome import HandResult, Outcome
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.session import ClockRules


class Format(Enum):
    """What a match consists of: boards played in every room, or races in mirrored pairs."""

    BOARDS = "boards"
    CLASSIC = "classic"

    @property
    def play(self) -> Play:
        """The kind of game a room plays."""
        return Play.BOARDS if self is Format.BOARDS else Play.RACE


class Policy(Enum):
    """What a refused action costs at this table (rulebook 7)."""

    RATED = "rated"
    CASUAL = "casual"

    @property
    def refusals_that_end(self) -> int:
        """The refusal of a seat in a hand that ends the game: the first, or the third."""
        return 1 if self is Policy.RATED else 3


class Flag(Enum):
    """What a reader of a game must know besides its outcome."""

    UNPLAYED = "unplayed"
    """Never dealt: the side at fault had no incident left in this match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandRecord:
    """One hand: the deck from its top as its seed gives it, and every decision in order.

    ``cut`` is how many cards were cut from that deck, None where nobody did. ``discards`` and
    ``draws`` are those of a two-seat hand. ``result`` is None for a hand that did not end by the
    rules.
    """

    number: int
    deck: tuple[Card, ...]
    hakem: Seat
    cut: int | None = None
    trump: Trump | None = None
    discards: tuple[tuple[Card, ...], ...] = ()
    draws: tuple[Draw, ...] = ()
    plays: tuple[Card, ...] = ()
    result: HandResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An action that was refused in hand number ``hand`` and changed nothing.

    ``action`` is what was sent, as text, or what was wrong with what is no action.
    """

    hand: int
    seat: Seat
    attempt: int
    reason: Reason
    action: str


class Verdict(Enum):
    """Whose time ran out, as far as the referee can tell."""

    BOT = "bot"
    HOST = "host"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLoss:
    """Where the time of a decision went that was not answered in time; all in seconds.

    ``elapsed_seconds`` ran against ``limit_seconds``. Before that it lay in the referee
    (``referee_seconds``) and was written (``writing_seconds``). Meanwhile the referee itself stood
    still for ``stalled_seconds``; the bot's process used ``cpu_seconds`` and was ready to run
    without a CPU for ``waited_seconds``; each CPU lost ``steal_seconds`` to other guests of the
    hardware. ``bot_seconds`` is how long the bot had it by its own word, ``wire_seconds`` what is
    left of the time until its answer was read. None is what is not known.
    """

    seat: Seat
    decision: int
    verdict: Verdict
    limit_seconds: float
    elapsed_seconds: float
    referee_seconds: float
    writing_seconds: float
    stalled_seconds: float
    cpu_seconds: float | None = None
    waited_seconds: float | None = None
    steal_seconds: float | None = None
    bot_seconds: float | None = None
    wire_seconds: float | None = None

    def __str__(self) -> str:
        """One line for a person."""
        parts = [
            f"{self.elapsed_seconds:.3f} s against {self.limit_seconds:.3f} s",
            f"before that {self.referee_seconds:.3f} s in the referee",
            f"{self.writing_seconds:.3f} s of writing",
            f"the referee stood still for {self.stalled_seconds:.3f} s",
        ]
        if self.cpu_seconds is not None:
            parts.append(f"the bot used {self.cpu_seconds:.2f} s of CPU")
        if self.waited_seconds is not None:
            parts.append(f"and waited {self.waited_seconds:.3f} s for one")
        if self.steal_seconds is not None:
            parts.append(f"{self.steal_seconds:.2f} s stolen from the machine")
        if self.bot_seconds is not None:
            parts.append(f"the bot says it took {self.bot_seconds:.3f} s")
        if self.wire_seconds is not None:
            parts.append(f"{self.wire_seconds:.3f} s on the wire")
        so = ", so it has lost" if self.verdict is Verdict.UNCLEAR else ""
        return f"verdict: {self.verdict.value}{so}; where the time went: {'; '.join(parts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """The note of a seat to its decision: number ``decision``, from 1, of all in hand number
    ``hand``.
    """

    hand: int
    decision: int
    seat: Seat
    note: Note


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """One board in one room, or one race.

    ``number`` is that of the board, or of the pair of races. ``seating`` is the entrant at each
    seat where a draw of partners moved them to other seats than their room's, None elsewhere;
    ``turned`` is the ace draw of a race, to seats as they were. ``hands`` is empty for a game that
    never began, ``outcome`` None while it goes on. ``seconds`` is what each decision was charged,
    hand by hand, in order. ``time_loss`` says more of a clock that ran out. ``notes`` are in the
    order of their decisions; ``notes_dropped`` is how many of each seat were out of bounds, empty
    where none was.
    """

    number: int
    seating: tuple[int, ...] | None = None
    turned: tuple[tuple[Seat, Card], ...] = ()
    hands: tuple[HandRecord, ...] = ()
    outcome: Outcome | None = None
    refusals: tuple[Refusal, ...] = ()
    seconds: tuple[tuple[float, ...], ...] = ()
    time_loss: TimeLoss | None = None
    notes: tuple[Noted, ...] = ()
    notes_dropped: tuple[int, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomRecord:
    """One seating of the entrants, and its games by number.

    ``seating`` gives the entrant at each seat, as an index into the match's entrants.
    ``even_seating`` is that of games with even numbers where it is another one: with three seats
    they go round the other way. A game that says its own seating has that.
    """

    number: int
    seating: tuple[int, ...]
    games: tuple[GameRecord, ...]
    even_seating: tuple[int, ...] | None = None

    def seating_of(self, game: GameRecord) -> tuple[int, ...]:
        """The entrant at each seat in a game of this room."""
        if game.seating is not None:
            return game.seating
        return self.seating if game.number % 2 or self.even_seating is None else self.even_seating


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantRecord:
    """Who entered. ``digest`` is the SHA-256 of the bot's files in 64 hex digits, or one of
    :func:`remote_digest`.
    """

    name: str
    owner: str
    version: str
    digest: str

    @property
    def is_remote(self) -> bool:
        """Whether it ran elsewhere than at the arena, which nobody could look at or isolate. The
        digest says so, which no bot with files can have. A ladder may call a later version of a bot
        ``NAME-VERSION``.
        """
        first = self.name.removesuffix(f"-{self.version}")
        return self.digest in (
            remote_digest(self.name),
            remote_digest(self.name, self.owner, self.version),
            remote_digest(first, self.owner, self.version),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """The revealed 32-byte seed of one hand of a game. Boards have one hand, number 1; hand 0 of a
    race is the draw for its first hakem.
    """

    game: int
    hand: int
    value: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """One process of a bot: where it sat, the CPU time it used, how it ended, and whether it was
    confined to a sandbox (None: not known).
    """

    room: int
    seat: Seat
    cpu_seconds: float | None = None
    exit_code: int | None = None
    is_confined: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What may differ between two runs of the same play. Times are ISO 8601 with their zone."""

    started: str = ""
    ended: str = ""
    arena: str = ""
    sdk: str = ""
    python: str = ""
    platform: str = ""
    processes: tuple[ProcessRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRecord:
    """Everything about one match.

    ``games`` is the number of boards, or of pairs of races; every room has that many. ``score`` is
    by entrant, see :func:`score_of`. ``secret`` and ``entropy`` are None until their event is over.
    """

    match: str
    attempt: int = 1
    event: str | None = None
    format: Format
    rules: Rules
    games: int
    entrants: tuple[EntrantRecord, ...]
    clock: ClockRules
    policy: Policy
    commitment: bytes
    rooms: tuple[RoomRecord, ...]
    seeds: tuple[Seed, ...]
    score: tuple[int, ...]
    secret: bytes | None = None
    entropy: bytes | None = None
    circumstances: Circumstances = field(default_factory=Circumstances)


def remote_digest(name: str, owner: str | None = None, version: str = "") -> str:
    """The digest of a bot that has no files at the arena, 64 hex digits: the SHA-256 of
    ``remote:NAME``, or of ``remote:OWNER/NAME/VERSION`` where it is entered in a ladder.
    """
    known_as = name if owner is None else f"{owner}/{name}/{version}"
    return hashlib.sha256(f"remote:{known_as}".encode()).hexdigest()


def deal_id(match: str, *, attempt: int = 1, pair: int | None = None) -> str:
    """The id that decks are dealt under: a second attempt has other decks, and so has each pair of
    races.

    >>> deal_id("ev1/r1/alpha~beta", attempt=2, pair=3)
    'ev1/r1/alpha~beta!2/g3'
    """
    attempted = match if attempt == 1 else f"{match}!{attempt}"
    return attempted if pair is None else f"{attempted}/g{pair}"


def with_notes_of(record: MatchRecord, entrants: Collection[int]) -> MatchRecord:
    """The record with the notes of these entrants, by index, alone, as their owner may see it. Its
    substance is the same.
    """

    def of(room: RoomRecord, game: GameRecord) -> GameRecord:
        if not game.notes and not game.notes_dropped:
            return game
        own = [index in entrants for index in room.seating_of(game)]
        dropped = tuple(count if own[seat] else 0 for seat, count in enumerate(game.notes_dropped))
        notes = tuple(noted for noted in game.notes if own[noted.seat])
        return replace(game, notes=notes, notes_dropped=dropped if any(dropped) else ())

    rooms = tuple(
        replace(room, games=tuple(of(room, game) for game in room.games)) for room in record.rooms
    )
    return record if rooms == record.rooms else replace(record, rooms=rooms)


def without_notes(record: MatchRecord) -> MatchRecord:
    """The record with all notes left out, and counted with those that were."""

    def of(game: GameRecord) -> GameRecord:
        if not game.notes:
            return game
        seats = range(record.rules.players)
        before = game.notes_dropped or tuple(0 for _ in seats)
        counted = Counter(noted.seat for noted in game.notes)
        dropped = tuple(before[seat] + counted[Seat(seat)] for seat in seats)
        return replace(game, notes=(), notes_dropped=dropped)

    return replace(
        record,
        rooms=tuple(replace(room, games=tuple(map(of, room.games))) for room in record.rooms),
    )


def score_of(rules: Rules, rooms: Sequence[RoomRecord], *, entrants: int) -> tuple[int, ...]:
    """What each entrant has: the points of its side on all boards, or the races its side won."""
    score = [0] * entrants
    for room in rooms:
        for game in room.games:
            # An entrant may hold two seats of a side and is counted once.
            seating = zip(room.seating_of(game), variant_of(rules).side_of, strict=True)
            for entrant, side in set(seating):
                score[entrant] += _gained(game.outcome, side, play=rules.play)
    return tuple(score)


def _gained(outcome: Outcome | None, side: Side, *, play: Play) -> int:
    if outcome is None:
        return 0
    return outcome.points[side] if play is Play.BOARDS else int(outcome.winner == side)
