"""A record of whatever content is refused by a RecordError; one that is read can be judged, scored,
told and written down, however little it holds together.
"""

import contextlib
import gzip
import io
import json
import tracemalloc
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.cli.checking import check
from arena.cli.errors import Misuse
from arena.cli.playback import Ask, replay_file
from arena.ladder.matches.conduct import conduct
from arena.ladder.matches.scores import score
from arena.ladder.matches.verdict import verdict
from arena.ladder.ratings.luck import LuckError, luck
from arena.repro.retelling import DEATH, Retelling, seat_of, told_games
from hokm.errors import NotationError
from hokm.notation import hand_events, hand_text, parse_hand
from hokm.outcome import Ending
from hokm.records import (
    Format,
    MatchRecord,
    RecordError,
    ReplayError,
    from_json,
    load,
    replay,
    to_json,
    verify,
    with_notes_of,
)
from hokm.records.document import LARGEST_VALUES
from hokm.records.files import LARGEST_BYTES
from hokm.session import Answer
from tests.fuzz.mutations import check_bounded, examples, mangled, mutated_documents, sealed
from tests.hokm.records.conftest import EVERY_OPTION, make_match_record


@cache
def documents() -> tuple[Any, ...]:
    """Of every number of players, format and ending there is."""
    short = {"target_points": "1"}
    records = [
        make_match_record(players, kind, games=1, options=short if kind is Format.CLASSIC else None)
        for players in (2, 3, 4)
        for kind in Format
    ]
    records += [
        make_match_record(4, games=2, faults={(1, 1): ending, (2, 2): Ending.STOPPED})
        for ending in Ending
        if ending is not Ending.COMPLETED
    ]
    records.append(make_match_record(4, Format.CLASSIC, entrants=4, games=1, options=EVERY_OPTION))
    return tuple(json.loads(to_json(record)) for record in records)


def read(data: bytes) -> MatchRecord | None:
    try:
        return from_json(data)
    except RecordError as error:
        check_bounded(error)
        return None


def use(record: MatchRecord) -> None:
    """All that is done with a record but for what needs its file."""
    for finding in verify(record):
        assert len(str(finding)) < 1000
    assert len(conduct(record)) == len(record.entrants)
    score(record)
    verdict(record)
    try:
        luck([record])
    except LuckError as error:
        check_bounded(error)
    assert from_json(to_json(record)) == record
    for room in record.rooms:
        for game in room.games:
            with contextlib.suppress(ReplayError):
                list(replay(record, room=room.number, game=game.number))
            for hand in game.hands:
                with contextlib.suppress(NotationError):
                    parse_hand(hand_text(record.rules, hand))
                with contextlib.suppress(ReplayError):
                    list(hand_events(record.rules, hand))
    retell(record)
    assert with_notes_of(record, ()) == with_notes_of(with_notes_of(record, [0]), ())


def retell(record: MatchRecord) -> None:
    """Tell a bot that does as on record, and then nothing, its first game again."""
    room = record.rooms[0]
    game = next(iter(told_games(room)), None)
    if game is None:
        return
    seat = seat_of(room, game, slot=0)
    with contextlib.suppress(ReplayError):
        retelling = Retelling(record, room, game, seat=seat)
        retelling.start()
        while not retelling.is_over:
            decision = retelling.open
            if retelling.ends_meanwhile:
                retelling.finish()
            elif decision is None:
                retelling.lost("it left", endings=DEATH)
            else:
                answer = Answer(game.number, decision.decision, 1, decision.legal[0])
                retelling.take(answer)
        for difference in retelling.differences:
            assert parse_hand(difference.text)


def show(file: Path, seat: int | None, *, as_text: bool) -> str:
    """What is printed of a record file."""
    printed = io.StringIO()
    ask = Ask(
        file=file, room=None, game=None, hand=None, seat=seat, in_steps=False, as_text=as_text
    )
    with (
        contextlib.redirect_stdout(printed),
        contextlib.suppress(RecordError, ReplayError, Misuse),
    ):
        replay_file(ask)
    return printed.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("records")


@examples(200)
@given(mutated_documents(documents()).map(sealed))
def test_a_changed_document_is_refused_or_can_be_used(data: bytes) -> None:
    record = read(data)
    if record is not None:
        use(record)


@examples(100)
@given(mutated_documents(documents()).map(sealed), st.sampled_from([None, 0, 3]), st.booleans())
def test_a_changed_file_is_checked_and_told(
    folder: Path, data: bytes, seat: int | None, as_text: bool
) -> None:
    file = folder / "match.json"
    file.write_bytes(data)
    found = check(file)
    assert found.problem is None or len(found.problem) < 2000
    json.dumps(found.json()).encode()
    told = [*found.lines(), *show(file, seat, as_text=as_text).splitlines()]
    assert "".join(told).isprintable()


@examples(150)
@given(st.one_of(st.binary(max_size=200), mangled(st.sampled_from(documents()).map(sealed))))
@example(b"[" * 200_000)
@example(b'{"a":' * 200_000)
@example(b'{"schema":"hokm-record-v1","checksum":' + b"[" * 900 + b"]" * 900 + b"}")
@example(b'{"schema":"hokm-record-v1","a":-0}')
@example(b'{"schema":"hokm-record-v1","a":1e999}')
@example(b'{"schema":"hokm-record-v1","a":-Infinity}')
@example(b'{"schema":"hokm-record-v1","a":"\\ud800"}')
@example(b'\xef\xbb\xbf{"schema":"hokm-record-v1"}')
@example(b'{"schema":"hokm-record-v1","a":' + b"9" * 4301 + b"}")
def test_any_bytes_are_a_record_or_a_record_error(data: bytes) -> None:
    read(data)


@examples(100)
@given(
    st.one_of(
        st.binary(max_size=100).map(lambda junk: b"\x1f\x8b\x08\x00" + junk),
        mangled(st.sampled_from(documents()).map(sealed).map(lambda data: gzip.compress(data, 1))),
    )
)
def test_any_packed_bytes_are_a_record_or_a_record_error(folder: Path, data: bytes) -> None:
    file = folder / "match.json.gz"
    file.write_bytes(data)
    try:
        load(file)
    except RecordError as error:
        check_bounded(error)


@pytest.mark.parametrize("piece", [b"[],", b"{},", b"0,", b'"",', b'{"":0},'])
def test_a_document_takes_memory_as_it_has_values(piece: bytes) -> None:
    rooms = b"[" + piece * (200_000 // len(piece)) + b"0]"
    data = b'{"schema":"hokm-record-v1","substance":{"rooms":%b}}' % rooms
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    tracemalloc.start()
    try:
        with pytest.raises(RecordError, match="checksum"):
            from_json(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # All there may be of both at once stays below what a small machine has.
    assert peak < 4 * len(data) + 160 * values
    assert 4 * LARGEST_BYTES + 160 * LARGEST_VALUES < 2 * 2**30
