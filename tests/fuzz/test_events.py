"""The document of an event, of whatever content, is refused by a RecordError; one that is read can
be judged and told, however little it holds together, and leads to no file outside its folder.
"""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.cli.checking import EventCheck, checks
from arena.ladder.facts import State
from arena.ladder.proof.checks import contradictions
from arena.ladder.proof.document import (
    EVENT_FILE,
    Announcement,
    AttemptEntry,
    Beginning,
    EventDocument,
    MatchEntry,
    Nonce,
    Stage,
    from_json,
    schedule_text,
    to_json,
)
from arena.ladder.proof.entropy import Source, entropy_of_beacon, entropy_of_nonces
from arena.ladder.settings import MatchScoring
from hokm.deck import commitment
from hokm.outcome import Ending
from hokm.records import EntrantRecord, Format, RecordError
from hokm.records.document import Json, sha256_of
from hokm.rules.options import Rules
from hokm.session import ClockRules
from tests.fuzz.mutations import check_bounded, examples, mangled, mutated_documents

NAMES = ("ada", "bob", "cyd")
SCHEDULES: tuple[dict[str, Json], ...] = (
    {"kind": "round-robin", "cycles": 1},
    {"kind": "gauntlet", "seeds": ["ada"]},
    {"kind": "swiss", "order": list(NAMES)},
    {"kind": "knock-out", "order": list(NAMES)},
    {"kind": "adaptive", "matches": 3},
)


def event(schedule: dict[str, Json], *, beacon: str | None, players: int = 4) -> EventDocument:
    nonces = () if beacon else (Nonce(entrant="ada", value=bytes(32)),)
    attempts = (
        AttemptEntry(number=1, voided_by=Ending.HOST_FAULT, digest="1" * 64),
        AttemptEntry(number=2, voided_by=None, digest="2" * 64),
    )
    entropy = entropy_of_beacon("x") if beacon else entropy_of_nonces([bytes(32)])
    pairs = (("bob", "cyd"), ("ada", "bob"), ("cyd", "ada"))
    return EventDocument(
        announcement=Announcement(
            event="ev1",
            ladder="club",
            format=Format.BOARDS,
            rules=Rules.of(players),
            games=2,
            clock=ClockRules(),
            tick_seconds=0.005,
            score=MatchScoring.WIN_DRAW_LOSS,
            schedule=schedule_text(schedule),
            commitment=commitment(bytes(32)),
            beacon=beacon,
        ),
        entrants=tuple(
            EntrantRecord(name=name, owner="o", version="1", digest=digit * 64)
            for name, digit in zip(NAMES, "abc", strict=True)
        ),
        nonces=nonces,
        beginning=Beginning(
            entropy=entropy,
            source=Source.BEACON if beacon else Source.NONCES,
            beacon_value="x" if beacon else None,
            entrants=3,
            schedule=schedule_text(schedule),
        ),
        stages=(
            Stage(
                number=1,
                field=NAMES,
                matches=tuple(
                    MatchEntry(
                        match=f"ev1/r{number}/{'~'.join(sorted(pair))}",
                        round=number,
                        entrants=pair,
                        state=State.PLAYED,
                        attempts=attempts,
                    )
                    for number, pair in enumerate(pairs, start=1)
                ),
            ),
        ),
        secret=bytes(32),
    )


@cache
def documents() -> tuple[Any, ...]:
    """Of every schedule and source of entropy there is, and from every moment of an event."""
    events = [event(one, beacon=beacon) for one in SCHEDULES for beacon in (None, "drand")]
    events.append(event(SCHEDULES[0], beacon=None, players=3))
    events.append(replace(events[0], secret=None))
    events.append(replace(events[0], stages=(), secret=None))
    events.append(replace(events[0], beginning=None, stages=(), secret=None))
    return tuple(json.loads(to_json(one)) for one in events)


def sealed(document: Any) -> bytes:
    """A document with digests that fit, as far as it is one."""
    if isinstance(document, dict):
        document.pop("checksum", None)
        document["announcement_digest"] = sha256_of(document.get("announcement"))
        document["checksum"] = sha256_of(document)
    return json.dumps(document).encode()


def read(data: bytes) -> EventDocument | None:
    try:
        return from_json(data)
    except RecordError as error:
        check_bounded(error)
        return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ev1")


@examples(300)
@given(mutated_documents(documents()).map(sealed))
def test_a_changed_document_is_refused_or_judged_and_told(folder: Path, data: bytes) -> None:
    (folder / EVENT_FILE).write_bytes(data)
    (found,) = checks(folder)
    assert isinstance(found, EventCheck)
    assert found.problem is None or len(found.problem) < 2000
    json.dumps(found.json()).encode()
    assert "".join(found.lines()).isprintable()
    document = read(data)
    assert (document is None) == (found.problem is not None)
    if document is not None:
        assert from_json(to_json(document)) == document
        for other in documents()[:3]:
            list(contradictions(from_json(json.dumps(other).encode()), document))


@examples(150)
@given(st.one_of(st.binary(max_size=200), mangled(st.sampled_from(documents()).map(sealed))))
@example(b"[" * 200_000)
@example(b'{"schema":"hokm-event-v1","checksum":' + b"[" * 900 + b"]" * 900 + b"}")
def test_bytes_of_any_kind_are_refused_or_an_event(data: bytes) -> None:
    read(data)


@pytest.mark.parametrize("name", ["../bob", "a/b", "a~b", "", ".x", "-x", "a\0b"])
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    document = json.loads(json.dumps(documents()[0]))
    text = json.dumps(document).replace('"bob"', json.dumps(name))
    with pytest.raises(RecordError):
        from_json(sealed(json.loads(text)))


def test_no_id_leads_out_of_the_folder(tmp_path: Path) -> None:
    document = json.loads(json.dumps(documents()[0]))
    document["stages"][0]["matches"][0]["match"] = "ev1/../../secret"
    folder = tmp_path / "records/ev1"
    folder.mkdir(parents=True)
    (tmp_path / "secret.json.gz").write_bytes(b"not for you")
    (folder / EVENT_FILE).write_bytes(sealed(document))
    (found,) = checks(folder)
    lines = "\n".join(found.lines())
    assert "by its round and entrants its id is 'ev1/r1/bob~cyd'" in lines
    assert "secret.json.gz" not in lines
    assert "damaged" not in lines
