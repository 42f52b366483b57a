"""A JSON document as a record: everything that can be said without playing it again is checked.

So whoever has a record that was read here need not ask whether what it points to is there: every
entrant has a seat in every room and a place in the score, every process a room, every list by side
a value for each side. What the play makes of it is for :mod:`hokm.records.checks` to say.
"""

import re
from collections.abc import Callable

from hokm.actions import CUTS, Draw
from hokm.cards import Card, Seat, Side, Trump
from hokm.errors import NotationError, Reason, RulesError, quoted
from hokm.notes import Note, wrong_with
from hokm.outcome import Ending, HandKind, HandResult, Outcome
from hokm.records.document import At, Json, RecordError, parsed, sha256_of
from hokm.records.encode import DRAW_LETTERS, SCHEMA, substance_digest
from hokm.records.values import (
    Circumstances,
    EntrantRecord,
    Flag,
    Format,
    GameRecord,
    HandRecord,
    MatchRecord,
    Noted,
    Policy,
    ProcessRecord,
    Refusal,
    RoomRecord,
    Seed,
    TimeLoss,
    Verdict,
)
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.session import ClockRules

_DRAWS_BY_LETTER = {letter: draw for draw, letter in DRAW_LETTERS.items()}


LAST_CUT = CUTS[-1].position

LARGEST_GAMES = 100_000
"""Boards, or pairs of races, in a room: more than the largest file has room for."""


def from_json(data: bytes) -> MatchRecord:
    """Read a document; its layout does not matter, its content does.

    Raises :class:`RecordError` saying what is wrong and where: not JSON, another version, a
    checksum that does not fit, a key that is missing, unknown or has no meaning. Whether the play
    in it is true to the rules is for :func:`~hokm.records.checks.verify` to say.
    """
    try:
        return _read_document(parsed(data))
    except RecursionError:  # it could be parsed, but not be hashed, or shown in a message
        raise RecordError("not JSON as a record has it: nested too deeply") from None


def _read_document(document: Json) -> MatchRecord:
    if not isinstance(document, dict) or not isinstance(schema := document.get("schema"), str):
        raise RecordError('no record: expected a JSON object with "schema"')
    if schema != SCHEMA:
        raise RecordError(
            f"schema: {quoted(schema)} is not read here; this version reads {SCHEMA!r}"
        )
    refuse_wrong_checksum(document)
    parts = At(document).entries(
        "schema", "substance", "reveal", "circumstances", "substance_digest", "checksum"
    )
    record = _read_match(parts["substance"], parts["reveal"], parts["circumstances"])
    if parts["substance_digest"].text() != substance_digest(record):
        raise parts["substance_digest"].wrong("it is not the digest of this substance")
    return record


def refuse_wrong_checksum(document: dict[str, Json]) -> None:
    """Raise RecordError where a document's ``checksum`` is not that of all the rest of it."""
    checked = {key: value for key, value in document.items() if key != "checksum"}
    if (stated := document.get("checksum")) != (actual := sha256_of(checked)):
        raise RecordError(
            f"checksum: it is {quoted(stated)}, but this content has {actual!r}: the file is "
            "damaged or was edited"
        )


def _read_match(substance: At, reveal: At, circumstances: At) -> MatchRecord:
    entry = substance.entries(
        *("match", "attempt", "event", "format", "players", "rules", "games", "entrants"),
        *("clock", "policy", "commitment", "rooms", "seeds", "score"),
    )
    its_format = entry["format"].kind(Format)
    rules = read_rules(entry["players"], entry["rules"], play=its_format.play)
    clock = entry["clock"].entries("move_milliseconds", "bank_milliseconds")
    secrets = reveal.entries("secret", "entropy")
    entrants = entry["entrants"].each(read_entrant)
    if not 2 <= len(entrants) <= rules.players:
        raise entry["entrants"].wrong(f"a match of {rules.players} has 2 to {rules.players}")
    rooms = entry["rooms"].items()
    if not 1 <= len(rooms) <= variant_of(rules).sides:
        raise entry["rooms"].wrong(f"this match has 1 to {variant_of(rules).sides} rooms")
    what, circumstances_of_rooms = _read_circumstances(circumstances, players=rules.players)
    if len(circumstances_of_rooms) != len(rooms):
        raise circumstances.wrong(f"expected as many rooms as the substance has, {len(rooms)}")
    score = entry["score"].each(lambda at: at.number(low=-(10**9)))
    if len(score) != len(entrants):
        raise entry["score"].wrong(f"expected a number for each of {len(entrants)} entrants")
    record = MatchRecord(
        match=entry["match"].name(),
        attempt=entry["attempt"].number(low=1),
        event=entry["event"].maybe(At.name),
        format=its_format,
        rules=rules,
        games=entry["games"].number(low=1, high=LARGEST_GAMES),
        entrants=entrants,
        clock=ClockRules(
            move_seconds=clock["move_milliseconds"].number() / 1000,
            bank_seconds=clock["bank_milliseconds"].number() / 1000,
        ),
        policy=entry["policy"].kind(Policy),
        commitment=entry["commitment"].hash(),
        rooms=tuple(
            _read_room(room, its_circumstances, rules=rules, entrants=len(entrants))
            for room, its_circumstances in zip(rooms, circumstances_of_rooms, strict=True)
        ),
        seeds=entry["seeds"].each(_read_seed),
        score=score,
        secret=secrets["secret"].maybe(At.hash),
        entropy=secrets["entropy"].maybe(At.hex),
        circumstances=what,
    )
    its_rooms = {room.number for room in record.rooms}
    for process in what.processes:
        if process.room not in its_rooms:
            raise circumstances.wrong(f"a process was in room {process.room}, which is not there")
    return record


def read_rules(players: At, options: At, *, play: Play) -> Rules:
    """The rules of a table, of which every option must be stated."""
    count = players.number(low=2, high=4)
    if not isinstance(options.value, dict):
        raise options.wrong("expected an object of options and their values")
    given = {key: At(value, inside=options, step=key) for key, value in options.value.items()}
    texts = {key: at.text() for key, at in given.items()}
    try:
        rules = Rules.of(count, play=play, options=texts)
    except RulesError as error:
        raise options.wrong(str(error)) from None
    if missing := sorted(rules.options().keys() - texts.keys()):
        raise options.wrong(f"{missing[0]!r} is missing: a record states every option of its table")
    return rules


def read_entrant(at: At) -> EntrantRecord:
    """Who entered, as records and events have it."""
    entry = at.entries("name", "owner", "version", "digest")
    return EntrantRecord(
        name=entry["name"].name(),
        owner=entry["owner"].name(),
        version=entry["version"].text(),
        digest=entry["digest"].hash().hex(),
    )


def _read_seed(at: At) -> Seed:
    entry = at.entries("game", "hand", "seed")
    return Seed(
        game=entry["game"].number(low=1), hand=entry["hand"].number(), value=entry["seed"].hash()
    )


def _read_room(at: At, circumstances: At, *, rules: Rules, entrants: int) -> RoomRecord:
    entry = at.entries("number", "seating", "games", optional=("even_seating",))
    games, circumstances_of_games = entry["games"].items(), circumstances.items()
    if len(circumstances_of_games) != len(games):
        raise circumstances.wrong(f"expected as many games as the substance has, {len(games)}")

    def seating(at: At) -> tuple[int, ...]:
        seats = at.each(lambda seat: seat.number(high=entrants - 1))
        if len(seats) != rules.players:
            raise at.wrong(f"expected an entrant for each of {rules.players} seats")
        if len(set(seats)) != entrants:
            raise at.wrong(f"expected a seat for each of {entrants} entrants")
        return seats

    return RoomRecord(
        number=entry["number"].number(low=1),
        seating=seating(entry["seating"]),
        even_seating=entry["even_seating"].maybe(seating),
        games=tuple(
            _read_game(game, its_circumstances, rules=rules, seating=seating)
            for game, its_circumstances in zip(games, circumstances_of_games, strict=True)
        ),
    )


def _read_game(
    at: At, circumstances: At, *, rules: Rules, seating: Callable[[At], tuple[int, ...]]
) -> GameRecord:
    entry = at.entries(
        *("number", "hands"), optional=("seating", "turned", "outcome", "refusals", "flags")
    )
    told = circumstances.entries(
        optional=("microseconds", "cause", "time_loss", "notes", "notes_dropped")
    )
    cause = told["cause"].maybe(At.text) or ""
    seats = rules.players

    def turned(at: At) -> tuple[Seat, Card]:
        pair = at.items()
        if len(pair) != 2 or len(cards := pair[1].cards()) != 1:
            raise at.wrong("expected a seat and a card")
        return _read_seat(pair[0], seats=seats), cards[0]

    def refusal(at: At) -> Refusal:
        entry = at.entries("hand", "seat", "attempt", "reason", "action")
        if (reason := entry["reason"].text()) not in Reason.__members__:
            raise entry["reason"].wrong(
                f"{quoted(reason)} is none of {', '.join(Reason.__members__)}"
            )
        return Refusal(
            hand=entry["hand"].number(),
            seat=_read_seat(entry["seat"], seats=seats),
            attempt=entry["attempt"].number(),
            reason=Reason[reason],
            action=entry["action"].text(),
        )

    return GameRecord(
        number=entry["number"].number(low=1),
        seating=entry["seating"].maybe(seating),
        turned=entry["turned"].each_if_any(turned),
        hands=entry["hands"].each(lambda hand: _read_hand(hand, rules=rules)),
        outcome=entry["outcome"].maybe(lambda out: _read_outcome(out, rules=rules, cause=cause)),
        refusals=entry["refusals"].each_if_any(refusal),
        seconds=told["microseconds"].each_if_any(
            lambda hand: hand.each(lambda decision: decision.number() / 1_000_000)
        ),
        time_loss=told["time_loss"].maybe(lambda loss: _read_time_loss(loss, seats=seats)),
        notes=told["notes"].each_if_any(lambda noted: _read_noted(noted, seats=seats)),
        notes_dropped=told["notes_dropped"].maybe(lambda at: _read_dropped(at, seats=seats)) or (),
        flags=entry["flags"].each_if_any(lambda flag: flag.kind(Flag)),
    )


def _read_noted(at: At, *, seats: int) -> Noted:
    entry = at.entries("hand", "decision", "seat", optional=("text", "numbers"))

    def number(at: At) -> tuple[str, float]:
        pair = at.items()
        if len(pair) != 2:
            raise at.wrong("expected a name and a number")
        text = pair[1].text()
        if not re.fullmatch(r"-?[0-9]{1,20}(\.[0-9]{1,20})?(e[+-][0-9]{1,3})?", text):
            raise pair[1].wrong(f"{quoted(text)} is no decimal number")
        if repr(value := float(text)) != text:
            raise pair[1].wrong(f"{quoted(text)} is not the shortest text of that number")
        return pair[0].text(), value

    for key in ("text", "numbers"):
        if entry[key].value in ("", []):
            raise entry[key].wrong("what is empty is left out")
    note = Note(entry["text"].maybe(At.text) or "", entry["numbers"].each_if_any(number))
    if wrong := wrong_with(note):
        raise at.wrong(f"this is no note: {wrong}")
    return Noted(
        hand=entry["hand"].number(low=1),
        decision=entry["decision"].number(low=1),
        seat=_read_seat(entry["seat"], seats=seats),
        note=note,
    )


def _read_dropped(at: At, *, seats: int) -> tuple[int, ...]:
    dropped = at.each(At.number)
    if len(dropped) != seats:
        raise at.wrong(f"expected a number for each of {seats} seats")
    return dropped


def _read_time_loss(at: At, *, seats: int) -> TimeLoss:
    entry = at.entries(
        *("seat", "decision", "verdict", "limit", "elapsed", "referee", "writing", "stalled"),
        optional=("cpu", "waited", "steal", "bot", "wire"),
    )

    def seconds(at: At) -> float:
        return at.number(high=2**53) / 1_000_000

    return TimeLoss(
        seat=_read_seat(entry["seat"], seats=seats),
        decision=entry["decision"].number(low=1),
        verdict=entry["verdict"].kind(Verdict),
        limit_seconds=seconds(entry["limit"]),
        elapsed_seconds=seconds(entry["elapsed"]),
        referee_seconds=seconds(entry["referee"]),
        writing_seconds=seconds(entry["writing"]),
        stalled_seconds=seconds(entry["stalled"]),
        cpu_seconds=entry["cpu"].maybe(seconds),
        waited_seconds=entry["waited"].maybe(seconds),
        steal_seconds=entry["steal"].maybe(seconds),
        bot_seconds=entry["bot"].maybe(seconds),
        wire_seconds=entry["wire"].maybe(seconds),
    )


def _read_hand(at: At, *, rules: Rules) -> HandRecord:
    entry = at.entries(
        *("number", "deck", "hakem"),
        optional=("cut", "trump", "discards", "draws", "plays", "result"),
    )

    def trump(at: At) -> Trump:
        try:
            return Trump.parse(at.text())
        except NotationError as error:
            raise at.wrong(str(error)) from None

    def draws(at: At) -> tuple[Draw, ...]:
        if not (text := at.text()) or text.strip("KR"):
            raise at.wrong("expected K for each card kept and R for each refused")
        return tuple(_DRAWS_BY_LETTER[letter] for letter in text)

    return HandRecord(
        number=entry["number"].number(low=1),
        deck=entry["deck"].cards(),
        hakem=_read_seat(entry["hakem"], seats=rules.players),
        cut=entry["cut"].maybe(lambda cut: cut.number(low=1, high=LAST_CUT)),
        trump=entry["trump"].maybe(trump),
        discards=entry["discards"].each_if_any(At.cards),
        draws=entry["draws"].maybe(draws) or (),
        plays=entry["plays"].maybe(At.cards) or (),
        result=entry["result"].maybe(lambda result: _read_result(result, rules=rules)),
    )


def _read_result(at: At, *, rules: Rules) -> HandResult:
    entry = at.entries("winner", "kind", "points", "tricks")
    return HandResult(
        winner=_read_side(entry["winner"], rules=rules),
        kind=entry["kind"].kind(HandKind),
        points=_read_by_side(entry["points"], rules=rules),
        tricks=_read_by_side(entry["tricks"], rules=rules),
    )


def _read_outcome(at: At, *, rules: Rules, cause: str) -> Outcome:
    entry = at.entries("ending", "points", optional=("winner", "at_fault"))
    return Outcome(
        ending=entry["ending"].kind(Ending),
        points=_read_by_side(entry["points"], rules=rules),
        winner=entry["winner"].maybe(lambda side: _read_side(side, rules=rules)),
        at_fault=entry["at_fault"].maybe(lambda seat: _read_seat(seat, seats=rules.players)),
        cause=cause,
    )


def _read_seat(at: At, *, seats: int) -> Seat:
    return Seat(at.number(high=seats - 1))


def _read_side(at: At, *, rules: Rules) -> Side:
    return Side(at.number(high=variant_of(rules).sides - 1))


def _read_by_side(at: At, *, rules: Rules) -> tuple[int, ...]:
    values = at.each(lambda value: value.number(low=-100, high=10_000))
    if len(values) != variant_of(rules).sides:
        raise at.wrong(f"expected a number for each of {variant_of(rules).sides} sides")
    return values


def _read_circumstances(at: At, *, players: int) -> tuple[Circumstances, list[At]]:
    entry = at.entries(
        *("started", "ended", "arena", "sdk", "python", "platform", "processes", "rooms")
    )

    def process(at: At) -> ProcessRecord:
        entry = at.entries("room", "seat", optional=("cpu_milliseconds", "exit_code", "confined"))
        return ProcessRecord(
            room=entry["room"].number(low=1),
            seat=_read_seat(entry["seat"], seats=players),
            cpu_seconds=entry["cpu_milliseconds"].maybe(lambda cpu: cpu.number() / 1000),
            exit_code=entry["exit_code"].maybe(lambda code: code.number(low=-(2**31), high=2**32)),
            is_confined=entry["confined"].maybe(At.truth),
        )

    what = Circumstances(
        started=entry["started"].text(),
        ended=entry["ended"].text(),
        arena=entry["arena"].text(),
        sdk=entry["sdk"].text(),
        python=entry["python"].text(),
        platform=entry["platform"].text(),
        processes=entry["processes"].each(process),
    )
    return what, entry["rooms"].items()
