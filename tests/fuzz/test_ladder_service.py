"""Whatever arrives at the ladder's service is a request or a WireError, whatever it asks is
answered or refused, and nothing is left of it; and what a ladder answers is a value or a WireError.
"""

import json
import shutil
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from hypothesis import example, given
from hypothesis import strategies as st

from arena.cli.validated import report_lines
from arena.ladder.ladder import Ladder
from arena.ladder.settings import Settings
from arena.referee.calls import Status
from arena.service import messages, values
from arena.service.answering import answer
from arena.service.quotas import Rate
from hokm.wire import WireError
from tests.arena.service.test_messages import PARTS, REPLIES, REQUESTS
from tests.arena.service.worlds import MemoryCall, World, upload
from tests.fuzz.mutations import FIELDS, MESSAGES, check_bounded, deep, examples, mangled

FORMS = st.lists(FIELDS | MESSAGES, max_size=6).map(b"".join)
ASKED = REQUESTS.map(lambda request: messages.encode_request(request)[1])
METHODS = st.sampled_from(sorted(messages.METHODS))
BYTES = st.one_of(st.binary(max_size=200), mangled(ASKED), FORMS)
SUBMITTED = PARTS["submit"][0].map(messages.encode_submit_part)
ANY_LINE = st.text(max_size=40)


@examples(200)
@given(METHODS.filter(lambda method: method != messages.SUBMIT), BYTES)
@example("GetLog", deep(1, 5000))
@example("ListResults", b"\x0b" * 5000)
@example("GetSubmission", b"\x08" + b"\xff" * 9 + b"\x01")
def test_a_callers_bytes_are_a_request_or_a_wire_error(method: str, data: bytes) -> None:
    try:
        request = messages.decode_request(method, data)
    except WireError as error:
        check_bounded(error)
    else:
        assert messages.decode_request(*messages.encode_request(request)) == request


@examples(100)
@given(st.one_of(st.binary(max_size=200), mangled(SUBMITTED), FORMS))
def test_a_part_of_an_upload_is_one_or_a_wire_error(data: bytes) -> None:
    try:
        part = messages.decode_submit_part(data)
    except WireError as error:
        check_bounded(error)
    else:
        assert messages.decode_submit_part(messages.encode_submit_part(part)) == part


@pytest.mark.parametrize("name", REPLIES)
@examples(50)
@given(data=st.data())
def test_a_ladders_bytes_are_a_reply_or_a_wire_error(name: str, data: st.DataObject) -> None:
    replies, decode = REPLIES[name]
    said = data.draw(
        st.one_of(st.binary(max_size=200), mangled(replies.map(messages.encode_reply)), FORMS)
    )
    try:
        decode(said)
    except WireError as error:
        check_bounded(error)


@pytest.mark.parametrize("name", ["log", "record"])
@examples(50)
@given(data=st.data())
def test_parts_of_a_file_are_such_or_a_wire_error(name: str, data: st.DataObject) -> None:
    parts, encode, decode = PARTS[name]
    said = data.draw(st.one_of(st.binary(max_size=200), mangled(parts.map(encode)), FORMS))
    try:
        decode(said)
    except WireError as error:
        check_bounded(error)


@pytest.mark.parametrize("method", ["ListResults", "GetStandings", "GetLog"])
@pytest.mark.parametrize("piece", [b"\x0a\x00", b"\xc0\x3e\x01", b"\x0b\x0c", b"\x0a\x01a"])
def test_a_request_takes_memory_as_it_is_long(method: str, piece: bytes) -> None:
    data = piece * (2**20 // len(piece))

    def read() -> None:
        try:
            messages.decode_request(method, data)
        except WireError as error:
            check_bounded(error)

    read()
    tracemalloc.start()
    try:
        read()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * len(data)


# -- the service behind it


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = tmp_path_factory.mktemp("service")

    def folder(name: str, *, owner: str, code: str | None = None) -> str:
        made = home / "authors" / name
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        text = f'schema = 1\nname = "{name}"\nowner = "{owner}"\nversion = "1"\n'
        text += 'command = ["python", "bot.py"]\nprotocol = 1\nvariants = [4]\n'
        (made / "bot.toml").write_text(text, encoding="utf-8")
        (made / "bot.py").write_text(code or "", encoding="utf-8")
        return str(made)

    with Ladder.init(home / "club", Settings.of("club", length=1)) as ladder:
        made = World(ladder, folder, home / "archives")
        made.open(
            of_an_owner=Rate(burst=10**9, every_seconds=1.0),
            of_an_address=Rate(burst=10**9, every_seconds=1.0),
            submissions_a_day=10**9,
            active_bots=10**9,
        )
        made.packed("fuzzed")
        yield made


@examples(100)
@given(METHODS, st.lists(BYTES, max_size=3), st.sampled_from(["ada", "bob", "nobody"]))
def test_whatever_is_called_is_answered_or_refused(
    world: World, method: str, requests: list[bytes], name: str
) -> None:
    call = MemoryCall(method, *requests, token=world.tokens.get(name, ""))
    trio.run(answer, call, world.service, trio.CapacityLimiter(1))
    assert call.status not in (None, Status.INTERNAL, Status.UNAVAILABLE), call.details
    assert _left(world) == []


@examples(50)
@given(st.data())
def test_whatever_is_uploaded_is_taken_in_or_refused_and_leaves_nothing(
    world: World, data: st.DataObject
) -> None:
    packed = world.packed("fuzzed")
    archive = data.draw(mangled(st.just(packed.file.read_bytes())))
    header = values.SubmitHeader(packed.entrant.digest, len(archive))
    requests = [messages.encode_submit_part(header)]
    requests += [messages.encode_submit_part(values.Piece(archive))] if archive else []
    call = MemoryCall("Submit", *requests, token=world.tokens["ada"])
    trio.run(answer, call, world.service, trio.CapacityLimiter(1))
    assert call.status in (Status.OK, Status.INVALID_ARGUMENT), call.details
    assert _left(world) == []
    for file in world.service.intake.folder.glob("*.zip"):
        assert file.stem == packed.entrant.digest


@examples(50)
@given(st.data())
def test_an_upload_in_disorder_is_refused_or_whole(world: World, data: st.DataObject) -> None:
    packed = world.packed("fuzzed")
    requests = data.draw(st.permutations(list(upload(packed, piece=64))))
    keep = data.draw(st.integers(0, len(requests)))
    call = MemoryCall("Submit", *requests[:keep], token=world.tokens["ada"])
    trio.run(answer, call, world.service, trio.CapacityLimiter(1))
    assert call.status in (Status.OK, Status.INVALID_ARGUMENT), call.details
    assert _left(world) == []


def _left(world: World) -> list[Path]:
    return list(world.service.intake.folder.glob(".*"))


# -- a report from elsewhere

KEYS = st.sampled_from(
    [
        *("failures", "stage", "name", "cause", "log", "exit_code", "counts", "verdict", "seed"),
        *("elapsed_seconds", "limit_seconds", "exchange", "also", "more_failures", "command"),
    ]
)
REPORTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_LINE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | ANY_LINE, inner, max_size=5),
    max_leaves=20,
)


@examples(100)
@given(st.one_of(ANY_LINE, REPORTS.map(json.dumps)))
@example('{"failures": [{"exit_code": 1e999, "elapsed_seconds": NaN, "limit_seconds": "x"}]}')
@example("[" * 100_000)
@example('{"cause": "\\u001b[2J\\u202e"}')
def test_a_report_from_elsewhere_is_told_in_lines_that_do_nothing_to_a_terminal(
    report: str,
) -> None:
    for line in report_lines(report):
        assert line.isprintable(), line
        assert len(line) < 5000
