"""A record as a JSON document, and the digests taken of it; ``record.schema.json`` describes it.

A document has these parts. ``substance`` is what was decided: equal for equal play.
``circumstances`` is what may differ between two runs of the same play: times, versions, causes.
``reveal`` is what becomes known after the event. ``substance_digest`` is the SHA-256 of the
canonical form of the substance, ``checksum`` that of everything but itself. In canonical form keys
are sorted, there is no white space, names are in composed form (NFC), and every number is an
integer, so that any language writes the same bytes. This module knows no file;
:mod:`hokm.records.decode` is the way back.
"""

from collections.abc import Mapping

from hokm.actions import Draw
from hokm.cards import cards_text
from hokm.outcome import HandResult, Outcome
from hokm.records.document import Json, canonical, name_text, sha256_of
from hokm.records.values import (
    EntrantRecord,
    GameRecord,
    HandRecord,
    MatchRecord,
    Noted,
    RoomRecord,
    TimeLoss,
)

SCHEMA = "hokm-record-v1"
"""What a document of this version calls itself."""

DRAW_LETTERS: Mapping[Draw, str] = {Draw.KEEP: "K", Draw.REFUSE: "R"}
"""How draws are written, one letter each."""


def to_json(record: MatchRecord) -> bytes:
    """The record as a document in canonical form, UTF-8."""
    substance = _substance(record)
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "substance": substance,
        "reveal": {"secret": _hex(record.secret), "entropy": _hex(record.entropy)},
        "circumstances": _circumstances(record),
        "substance_digest": sha256_of(substance),
    }
    document["checksum"] = sha256_of(document)
    return canonical(document)


def substance_digest(record: MatchRecord) -> str:
    """The SHA-256, in hex digits, of what was decided: equal for equal play, whatever the times."""
    return sha256_of(_substance(record))


def _substance(record: MatchRecord) -> Json:
    return {
        "match": name_text(record.match),
        "attempt": record.attempt,
        "event": None if record.event is None else name_text(record.event),
        "format": record.format.value,
        "players": record.rules.players,
        "rules": dict(record.rules.options()),
        "games": record.games,
        "entrants": [entrant_json(entrant) for entrant in record.entrants],
        "clock": {
            "move_milliseconds": round(record.clock.move_seconds * 1000),
            "bank_milliseconds": round(record.clock.bank_seconds * 1000),
        },
        "policy": record.policy.value,
        "commitment": record.commitment.hex(),
        "rooms": [_room(room) for room in record.rooms],
        "seeds": [
            {"game": seed.game, "hand": seed.hand, "seed": seed.value.hex()}
            for seed in record.seeds
        ],
        "score": list(record.score),
    }


def entrant_json(entrant: EntrantRecord) -> Json:
    """Who entered, as records and events have it."""
    return {
        "name": name_text(entrant.name),
        "owner": name_text(entrant.owner),
        "version": entrant.version,
        "digest": entrant.digest,
    }


def _room(room: RoomRecord) -> Json:
    return _present(
        {
            "number": room.number,
            "seating": list(room.seating),
            "even_seating": None if room.even_seating is None else list(room.even_seating),
            "games": [_game(game) for game in room.games],
        }
    )


def _game(game: GameRecord) -> Json:
    return _present(
        {
            "number": game.number,
            "seating": None if game.seating is None else list(game.seating),
            "turned": [[seat, str(card)] for seat, card in game.turned] or None,
            "hands": [_hand(hand) for hand in game.hands],
            "outcome": None if game.outcome is None else _outcome(game.outcome),
            "refusals": [
                {
                    "hand": refusal.hand,
                    "seat": refusal.seat,
                    "attempt": refusal.attempt,
                    "reason": refusal.reason.name,
                    "action": refusal.action,
                }
                for refusal in game.refusals
            ]
            or None,
            "flags": [flag.value for flag in game.flags] or None,
        }
    )


def _hand(hand: HandRecord) -> Json:
    return _present(
        {
            "number": hand.number,
            "deck": cards_text(hand.deck),
            "hakem": hand.hakem,
            "cut": hand.cut,
            "trump": None if hand.trump is None else hand.trump.letter,
            "discards": [cards_text(cards) for cards in hand.discards] or None,
            "draws": "".join(map(DRAW_LETTERS.__getitem__, hand.draws)) or None,
            "plays": cards_text(hand.plays) or None,
            "result": None if hand.result is None else _result(hand.result),
        }
    )


def _result(result: HandResult) -> Json:
    return {
        "winner": result.winner,
        "kind": result.kind.value,
        "points": list(result.points),
        "tricks": list(result.tricks),
    }


def _outcome(outcome: Outcome) -> Json:
    """Without its cause, which may name a time."""
    return _present(
        {
            "ending": outcome.ending.value,
            "points": list(outcome.points),
            "winner": outcome.winner,
            "at_fault": outcome.at_fault,
        }
    )


def _circumstances(record: MatchRecord) -> Json:
    what = record.circumstances
    return {
        "started": what.started,
        "ended": what.ended,
        "arena": what.arena,
        "sdk": what.sdk,
        "python": what.python,
        "platform": what.platform,
        "processes": [
            _present(
                {
                    "room": process.room,
                    "seat": process.seat,
                    "cpu_milliseconds": None
                    if process.cpu_seconds is None
                    else round(process.cpu_seconds * 1000),
                    "exit_code": process.exit_code,
                    "confined": process.is_confined,
                }
            )
            for process in what.processes
        ],
        "rooms": [[_game_circumstances(game) for game in room.games] for room in record.rooms],
    }


def _game_circumstances(game: GameRecord) -> Json:
    return _present(
        {
            "microseconds": [
                [round(seconds * 1_000_000) for seconds in hand] for hand in game.seconds
            ]
            or None,
            "cause": (game.outcome and game.outcome.cause) or None,
            "time_loss": None if game.time_loss is None else _time_loss(game.time_loss),
            "notes": [_noted(noted) for noted in game.notes] or None,
            "notes_dropped": list(game.notes_dropped) or None,
        }
    )


def _noted(noted: Noted) -> Json:
    note = noted.note
    return _present(
        {
            "hand": noted.hand,
            "decision": noted.decision,
            "seat": noted.seat,
            "text": note.text or None,
            # The shortest decimal text that reads back as the same number.
            "numbers": [[name, repr(value)] for name, value in note.numbers] or None,
        }
    )


def _time_loss(loss: TimeLoss) -> Json:
    return _present(
        {
            "seat": loss.seat,
            "decision": loss.decision,
            "verdict": loss.verdict.value,
            "limit": _microseconds(loss.limit_seconds),
            "elapsed": _microseconds(loss.elapsed_seconds),
            "referee": _microseconds(loss.referee_seconds),
            "writing": _microseconds(loss.writing_seconds),
            "stalled": _microseconds(loss.stalled_seconds),
            "cpu": _microseconds(loss.cpu_seconds),
            "waited": _microseconds(loss.waited_seconds),
            "steal": _microseconds(loss.steal_seconds),
            "bot": _microseconds(loss.bot_seconds),
            "wire": _microseconds(loss.wire_seconds),
        }
    )


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000_000)


def _present(entries: dict[str, Json]) -> dict[str, Json]:
    """The entries that say something."""
    return {key: value for key, value in entries.items() if value is not None}


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
