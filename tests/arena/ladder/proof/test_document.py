"""The document of an event: its form, its schema, and what is not read."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files as resources
from typing import Any

import jsonschema
import pytest

from arena.ladder.facts import State
from arena.ladder.proof.document import (
    EVENT_FILE,
    EventDocument,
    from_json,
    record_name,
    schedule_text,
    to_json,
)
from arena.ladder.proof.folder import load_event
from hokm.records import Format, RecordError
from hokm.records.document import canonical, sha256_of


@pytest.fixture
def event(make_event) -> EventDocument:
    return load_event(make_event(nonces={"ada": bytes(32)}) / "event.json")


def stages_of(event: EventDocument) -> list[EventDocument]:
    """The document as it was published one time after another."""
    announced = replace(event, nonces=(), beginning=None, stages=(), secret=None)
    scheduled = replace(
        event.stages[0],
        matches=tuple(
            replace(match, state=State.SCHEDULED, attempts=()) for match in event.matches
        ),
    )
    return [
        announced,
        replace(announced, nonces=event.nonces),
        replace(announced, nonces=event.nonces, beginning=event.beginning),
        replace(event, stages=(scheduled,), secret=None),
        event,
    ]


def test_it_is_read_as_it_was_written_at_every_time_it_is_published(event: EventDocument) -> None:
    for published in stages_of(event):
        assert from_json(to_json(published)) == published


@pytest.mark.parametrize("its_format", Format)
def test_every_document_is_of_its_schema(make_event, its_format: Format) -> None:
    event = load_event(make_event(its_format=its_format, beacon=("drand", "12")) / "event.json")
    for published in stages_of(event):
        schema().validate(json.loads(to_json(published)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["announcement", "commitment"], "AB" * 32),
        (["announcement", "players"], 5),
        (["announcement", "schedule"], {"cycles": 1}),
        (["beginning", "entropy"], "ab"),
        (["beginning", "source"], "dice"),
        (["beginning", "schedule"], "round-robin"),
        (["nonces", 0, "nonce"], "00"),
        (["stages", 0, "matches", 0, "state"], "lost"),
        (["stages", 0, "matches", 0, "attempts", 0, "number"], 0),
        (["stages", 0, "matches", 0, "extra"], 0),
        (["secret"], ""),
    ],
)
def test_the_schema_and_the_reader_refuse_what_no_event_has(
    event: EventDocument, path: list[str | int], value: object
) -> None:
    document = json.loads(to_json(event))
    put(document, path, value)
    with pytest.raises(jsonschema.ValidationError):
        schema().validate(document)
    with pytest.raises(RecordError, match=str(path[0])):
        from_json(sealed(document))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.update(schema="hokm-event-v2"), "hokm-event-v2"),
        (lambda d: d["announcement"].update(games=3), "announcement_digest"),
        (lambda d: d["nonces"][0].update(entrant="eve"), "'eve' is none of the entrants"),
        (lambda d: d["nonces"].append(d["nonces"][0]), "an entrant has two of them"),
        (lambda d: d["entrants"].append(d["entrants"][0]), "a name stands there twice"),
        (lambda d: d["beginning"].update(entrants=4), "is not from 0 to 3"),
        (lambda d: d.update(beginning=None), "that has not begun has no matches"),
        (lambda d: d.pop("secret"), "'secret' is missing"),
    ],
)
def test_what_points_to_nothing_or_says_too_little_is_not_read(
    event: EventDocument, change: Callable[[dict[str, Any]], object], told: str
) -> None:
    document = json.loads(to_json(event))
    change(document)
    with pytest.raises(RecordError, match=told):
        from_json(sealed(document))


def test_an_edited_document_is_refused_by_its_checksum(event: EventDocument) -> None:
    with pytest.raises(RecordError, match="checksum"):
        from_json(to_json(event).replace(b"club", b"clib"))


def test_a_strike_is_of_the_schema_and_read_as_it_was_written(make_event) -> None:
    event = load_event(make_event() / EVENT_FILE)
    (stage,) = event.stages
    first, *others = stage.matches
    (attempt,) = first.attempts
    attempts = (replace(attempt, struck="a wrong card"),)
    first = replace(first, state=State.VOID, because="a wrong card", attempts=attempts)
    event = replace(event, stages=(replace(stage, matches=(first, *others)),))
    schema().validate(json.loads(to_json(event)))
    assert from_json(to_json(event)) == event


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"schema":1}', b"[" * 100_000, b"\xff"])
def test_nonsense_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError):
        from_json(data)


def test_the_announcement_digest_stays_while_the_event_goes_on(event: EventDocument) -> None:
    digests = {json.loads(to_json(one))["announcement_digest"] for one in stages_of(event)}
    assert digests == {event.announcement.digest}
    other = replace(event.announcement, beacon="another")
    assert other.digest != event.announcement.digest


def test_a_schedule_has_one_text_however_it_was_laid_out() -> None:
    assert schedule_text(json.loads('{"kind": "x",  "a": [1]}')) == '{"a":[1],"kind":"x"}'


def test_the_files_of_records_follow_from_their_ids() -> None:
    assert record_name("ev12/r3/a~b~c", 1) == "r3/a~b~c.json.gz"
    assert record_name("ev12/r3/a~b", 3) == "r3/a~b!3.json.gz"


def schema() -> jsonschema.Draft202012Validator:
    text = (resources("arena.ladder.proof") / "event.schema.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


def put(document: object, path: list[str | int], value: object) -> None:
    for key in path[:-1]:
        document = document[key]  # type: ignore[index]
    document[path[-1]] = value  # type: ignore[index]


def sealed(document: dict[str, object]) -> bytes:
    """A document with the checksum that it has now."""
    rest = {key: value for key, value in document.items() if key != "checksum"}
    return canonical(rest | {"checksum": sha256_of(rest)})  # type: ignore[arg-type]
