"""The document of an event, `hokm-event-v1`: all that a sceptic needs besides the records.

It is published, whole, when the event is announced, and again when its entropy is fixed, whenever
matches are scheduled, and at the end. A later one says all that an earlier one said, and adds to
it. So whoever keeps a copy can show what was decided by then. `event.schema.json` describes it;
its form is that of records (docs/record.md): canonical JSON, with a checksum.

These values know nothing of files and databases, and judge nothing: that is for
:mod:`arena.ladder.proof.checks`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from arena.ladder.bots.entrants import checked_name
from arena.ladder.facts import State
from arena.ladder.proof.entropy import Source, beacon_text
from arena.ladder.settings import MatchScoring
from hokm.errors import quoted
from hokm.outcome import Ending
from hokm.records import EntrantRecord, Format, RecordError, deal_id
from hokm.records.decode import LARGEST_GAMES, read_entrant, read_rules, refuse_wrong_checksum
from hokm.records.document import At, Json, canonical, name_text, parsed, sha256_of
from hokm.records.encode import entrant_json
from hokm.rules.options import Rules
from hokm.session import ClockRules

SCHEMA: Final = "hokm-event-v1"
"""What a document of this version calls itself."""

EVENT_FILE: Final = "event.json"
"""What its file is called, in the folder that has the event's records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What is fixed before anything else, and never changes: the first thing to publish.

    ``games`` counts boards, or mirrored pairs of races, of a match. ``schedule`` says who meets
    whom, as :mod:`arena.ladder.schedules` writes it, and ``score`` what a match is worth, since who
    meets whom may depend on it. ``commitment`` binds the secret. ``beacon`` names whose value will
    be the entropy, and which of its values; None where entrants bring nonces instead, or nobody
    brings anything.
    """

    event: str
    ladder: str
    format: Format
    rules: Rules
    games: int
    clock: ClockRules
    tick_seconds: float
    score: MatchScoring
    schedule: str
    commitment: bytes
    beacon: str | None

    @property
    def digest(self) -> str:
        """64 hex digits that stand for all of it: what to publish where there is room for little.

        Raises ValueError for a name that is not in composed form.
        """
        return sha256_of(_announcement(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonce:
    """What an entrant brought: 32 bytes."""

    entrant: str
    value: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The entropy, fixed before the first card. ``beacon_value`` is what the beacon published.

    ``entrants`` is how many bots were entered by then, which are the first ones of the document's.
    ``schedule`` is the schedule that was announced, with all fixed that is fixed as an event
    begins, such as who is seeded how.
    """

    entropy: bytes
    source: Source
    beacon_value: str | None
    entrants: int
    schedule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEntry:
    """One attempt at a match, with the digest of its record's substance. ``voided_by`` says how it
    ended if it counts for nothing by its record. ``struck`` is why the operator struck it out,
    whatever its record says; None if he did not.
    """

    number: int
    voided_by: Ending | None
    digest: str
    struck: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchEntry:
    """A match that was scheduled, its entrants in the order named, and what became of it."""

    match: str
    round: int
    entrants: tuple[str, ...]
    state: State = State.SCHEDULED
    because: str | None = None
    attempts: tuple[AttemptEntry, ...] = ()

    @property
    def is_struck(self) -> bool:
        """Whether the operator struck out its last attempt."""
        return bool(self.attempts) and self.attempts[-1].struck is not None

    @property
    def as_played(self) -> "MatchEntry":
        """The same before its result was struck out, if that is all that made it void: what the
        schedule went by, and goes by.
        """
        if self.state is not State.VOID or not self.is_struck:
            return self
        *others, last = self.attempts
        if last.voided_by is not None:
            return self
        attempts = (*others, replace(last, struck=None))
        return replace(self, state=State.PLAYED, because=None, attempts=attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Matches that were scheduled together, between the bots of ``field`` in the order they were
    entered. Stages are numbered on through all events of a ladder, from 1.
    """

    number: int
    field: tuple[str, ...]
    matches: tuple[MatchEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDocument:
    """All of it. ``entrants`` are all bots of the ladder in the order they were entered, those that
    are not paired included. ``secret`` is None until the event is over; one that is over and has no
    ``beginning`` was called off.
    """

    announcement: Announcement
    entrants: tuple[EntrantRecord, ...]
    nonces: tuple[Nonce, ...] = ()
    beginning: Beginning | None = None
    stages: tuple[Stage, ...] = ()
    secret: bytes | None = None

    @property
    def is_over(self) -> bool:
        """Whether every match is played or void, and the secret revealed."""
        return self.secret is not None

    @property
    def matches(self) -> tuple[MatchEntry, ...]:
        """Every match that was scheduled, in order."""
        return tuple(match for stage in self.stages for match in stage.matches)

    @property
    def late(self) -> tuple[str, ...]:
        """The entrants that were entered when the entropy was fixed already."""
        if self.beginning is None:
            return ()
        return tuple(entrant.name for entrant in self.entrants[self.beginning.entrants :])


def record_name(match: str, attempt: int) -> str:
    """The file of an attempt's record, below the folder of its event.

    >>> record_name("ev1/r2/alpha~beta", 1), record_name("ev1/r2/alpha~beta", 2)
    ('r2/alpha~beta.json.gz', 'r2/alpha~beta!2.json.gz')
    """
    return f"{deal_id(match, attempt=attempt).partition('/')[2]}.json.gz"


# -- as JSON


def to_json(event: EventDocument) -> bytes:
    """The document in canonical form, UTF-8.

    Raises ValueError for a name that is not in composed form.
    """
    announcement = _announcement(event.announcement)
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "announcement": announcement,
        "announcement_digest": sha256_of(announcement),
        "entrants": [entrant_json(entrant) for entrant in event.entrants],
        "nonces": [
            {"entrant": name_text(nonce.entrant), "nonce": nonce.value.hex()}
            for nonce in event.nonces
        ],
        "beginning": None if event.beginning is None else _beginning(event.beginning),
        "stages": [_stage(stage) for stage in event.stages],
        "secret": None if event.secret is None else event.secret.hex(),
    }
    document["checksum"] = sha256_of(document)
    return canonical(document)


def schedule_text(schedule: Mapping[str, Json]) -> str:
    """A schedule as one text, the same however its JSON was laid out."""
    return canonical(dict(schedule)).decode()


def _announcement(what: Announcement) -> Json:
    return {
        "event": name_text(what.event),
        "ladder": name_text(what.ladder),
        "format": what.format.value,
        "players": what.rules.players,
        "rules": dict(what.rules.options()),
        "games": what.games,
        "clock": {
            "move_milliseconds": round(what.clock.move_seconds * 1000),
            "bank_milliseconds": round(what.clock.bank_seconds * 1000),
            "tick_microseconds": round(what.tick_seconds * 1_000_000),
        },
        "score": what.score.value,
        "schedule": parsed(what.schedule.encode()),
        "commitment": what.commitment.hex(),
        "beacon": what.beacon,
    }


def _beginning(beginning: Beginning) -> Json:
    return {
        "entropy": beginning.entropy.hex(),
        "source": beginning.source.value,
        "beacon_value": beginning.beacon_value,
        "entrants": beginning.entrants,
        "schedule": parsed(beginning.schedule.encode()),
    }


def _stage(stage: Stage) -> Json:
    return {
        "number": stage.number,
        "field": [name_text(name) for name in stage.field],
        "matches": [_match(match) for match in stage.matches],
    }


def _match(match: MatchEntry) -> Json:
    entry: dict[str, Json] = {
        "match": name_text(match.match),
        "round": match.round,
        "entrants": [name_text(name) for name in match.entrants],
        "state": match.state.value,
        "attempts": [_attempt(attempt) for attempt in match.attempts],
    }
    return entry if match.because is None else entry | {"because": match.because}


def _attempt(attempt: AttemptEntry) -> Json:
    entry: dict[str, Json] = {
        "number": attempt.number,
        "voided_by": None if attempt.voided_by is None else attempt.voided_by.value,
        "substance_digest": attempt.digest,
    }
    return entry if attempt.struck is None else entry | {"struck": attempt.struck}


# -- and back


def from_json(data: bytes) -> EventDocument:
    """Read a document; its layout does not matter, its content does.

    Raises RecordError saying what is wrong and where: not JSON, another version, a checksum that
    does not fit, a key that is missing or unknown, a name that nothing bears.
    """
    try:
        return _read(parsed(data))
    except RecursionError:
        raise RecordError("not JSON as an event has it: nested too deeply") from None


def _read(document: Json) -> EventDocument:
    if not isinstance(document, dict) or not isinstance(schema := document.get("schema"), str):
        raise RecordError('no event: expected a JSON object with "schema"')
    if schema != SCHEMA:
        raise RecordError(
            f"schema: {quoted(schema)} is not read here; this version reads {SCHEMA!r}"
        )
    refuse_wrong_checksum(document)
    entry = At(document).entries(
        *("schema", "announcement", "announcement_digest", "entrants", "nonces", "beginning"),
        *("stages", "secret", "checksum"),
    )
    announcement = _read_announcement(entry["announcement"])
    if entry["announcement_digest"].text() != announcement.digest:
        raise entry["announcement_digest"].wrong("it is not the digest of this announcement")
    entrants = entry["entrants"].each(read_entrant)
    known = {entrant.name for entrant in entrants}
    for entrant in entrants:
        _refuse_unfit(entry["entrants"], entrant.name)
    if len(known) < len(entrants):
        raise entry["entrants"].wrong("a name stands there twice")
    event = EventDocument(
        announcement=announcement,
        entrants=entrants,
        nonces=entry["nonces"].each(lambda at: _read_nonce(at, known=known)),
        beginning=entry["beginning"].maybe(lambda at: _read_beginning(at, entrants=len(entrants))),
        stages=entry["stages"].each(lambda at: _read_stage(at, known=known)),
        secret=entry["secret"].maybe(At.hash),
    )
    if len({nonce.entrant for nonce in event.nonces}) < len(event.nonces):
        raise entry["nonces"].wrong("an entrant has two of them")
    if event.beginning is None and event.stages:
        raise entry["beginning"].wrong("an event that has not begun has no matches")
    return event


def _read_announcement(at: At) -> Announcement:
    entry = at.entries(
        *("event", "ladder", "format", "players", "rules", "games", "clock", "score"),
        *("schedule", "commitment", "beacon"),
    )
    _refuse_unfit(entry["event"], event := entry["event"].name())
    its_format = entry["format"].kind(Format)
    clock = entry["clock"].entries("move_milliseconds", "bank_milliseconds", "tick_microseconds")
    return Announcement(
        event=event,
        ladder=entry["ladder"].name(),
        format=its_format,
        rules=read_rules(entry["players"], entry["rules"], play=its_format.play),
        games=entry["games"].number(low=1, high=LARGEST_GAMES),
        clock=ClockRules(
            move_seconds=clock["move_milliseconds"].number() / 1000,
            bank_seconds=clock["bank_milliseconds"].number() / 1000,
        ),
        tick_seconds=clock["tick_microseconds"].number() / 1_000_000,
        score=entry["score"].kind(MatchScoring),
        schedule=_read_schedule(entry["schedule"]),
        commitment=entry["commitment"].hash(),
        beacon=entry["beacon"].maybe(_read_beacon),
    )


def _read_schedule(at: At) -> str:
    if not isinstance(at.value, dict) or not isinstance(at.value.get("kind"), str):
        raise at.wrong('expected an object with "kind"')
    return schedule_text(at.value)


def _read_beacon(at: At) -> str:
    try:
        return beacon_text(at.text())
    except ValueError as error:
        raise at.wrong(str(error)) from None


def _read_nonce(at: At, *, known: set[str]) -> Nonce:
    entry = at.entries("entrant", "nonce")
    return Nonce(entrant=_read_known(entry["entrant"], known=known), value=entry["nonce"].hash())


def _read_beginning(at: At, *, entrants: int) -> Beginning:
    entry = at.entries("entropy", "source", "beacon_value", "entrants", "schedule")
    return Beginning(
        entropy=entry["entropy"].hash() if entry["entropy"].text() else b"",
        source=entry["source"].kind(Source),
        beacon_value=entry["beacon_value"].maybe(_read_beacon),
        entrants=entry["entrants"].number(high=entrants),
        schedule=_read_schedule(entry["schedule"]),
    )


def _read_stage(at: At, *, known: set[str]) -> Stage:
    entry = at.entries("number", "field", "matches")
    return Stage(
        number=entry["number"].number(low=1),
        field=entry["field"].each(lambda name: _read_known(name, known=known)),
        matches=entry["matches"].each(lambda match: _read_match(match, known=known)),
    )


def _read_match(at: At, *, known: set[str]) -> MatchEntry:
    entry = at.entries("match", "round", "entrants", "state", "attempts", optional=("because",))
    return MatchEntry(
        match=entry["match"].name(),
        round=entry["round"].number(low=1),
        entrants=entry["entrants"].each(lambda name: _read_known(name, known=known)),
        state=entry["state"].kind(State),
        because=entry["because"].maybe(At.text),
        attempts=entry["attempts"].each(_read_attempt),
    )


def _read_attempt(at: At) -> AttemptEntry:
    entry = at.entries("number", "voided_by", "substance_digest", optional=("struck",))
    return AttemptEntry(
        number=entry["number"].number(low=1),
        voided_by=entry["voided_by"].maybe(lambda ending: ending.kind(Ending)),
        digest=entry["substance_digest"].hash().hex(),
        struck=entry["struck"].maybe(At.text),
    )


def _refuse_unfit(at: At, name: str) -> None:
    """Ids and names of files are made of these, and what else is in a name could lead elsewhere."""
    try:
        checked_name(name)
    except ValueError as error:
        raise at.wrong(f"{quoted(name)} {error}") from None


def _read_known(at: At, *, known: set[str]) -> str:
    if (name := at.name()) not in known:
        raise at.wrong(f"{quoted(name)} is none of the entrants")
    return name
