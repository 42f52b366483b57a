"""Records on disk: the same back, never torn, and an error that says what is wrong where."""

import gzip
import json
import os
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files as resources
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hokm.outcome import Ending, Outcome
from hokm.records import (
    Format,
    GameRecord,
    MatchRecord,
    Policy,
    RecordError,
    from_json,
    load,
    save,
    substance_digest,
    to_json,
    verify,
    with_notes_of,
)
from hokm.records import document as record_document
from hokm.records import files as record_files
from hokm.records.document import sha256_of

MakeMatch = Callable[..., MatchRecord]

TABLES = [(players, kind) for players in (2, 3, 4) for kind in Format]


@pytest.mark.parametrize(("players", "kind"), TABLES)
def test_a_record_comes_back_from_its_document_as_it_was(
    make_match: MakeMatch, players: int, kind: Format
) -> None:
    @settings(max_examples=20)
    @given(st.integers(0, 2**32), st.sampled_from([None, *Ending]))
    def check(seed: int, ending: Ending | None) -> None:
        faults = {} if ending in (None, Ending.COMPLETED) else {(1, 1): ending}
        record = make_match(players, kind, seed=seed, games=1, faults=faults)
        assert from_json(to_json(record)) == record
        assert verify(record) == ()

    check()


@pytest.mark.parametrize(("players", "kind"), TABLES)
def test_every_document_is_what_the_schema_says(
    make_match: MakeMatch, players: int, kind: Format
) -> None:
    validator = schema()
    for ending in Ending:
        faults = {} if ending is Ending.COMPLETED else {(1, 1): ending}
        record = make_match(players, kind, games=2, faults=faults)
        validator.validate(json.loads(to_json(record)))


def test_cuts_modes_and_drawn_partners_are_in_the_document(make_drawn_match: MakeMatch) -> None:
    record = make_drawn_match(games=3)
    document = json.loads(to_json(record))
    schema().validate(document)
    assert from_json(to_json(record)) == record
    games = document["substance"]["rooms"][0]["games"]
    assert [game.get("seating") for game in games] == [
        None if game.seating is None else list(game.seating) for game in record.rooms[0].games
    ]
    assert games[0]["hands"][0]["cut"] == record.rooms[0].games[0].hands[0].cut
    assert {"SAR", "NAR", "TAK_NAR"} & {hand["trump"] for game in games for hand in game["hands"]}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["substance", "ticket"], "secret"),
        (["substance", "policy"], "lenient"),
        (["substance", "rooms", 0, "games", 0, "hands", 0, "deck"], "AS 1C"),
        (["substance", "rooms", 0, "games", 0, "hands", 0, "cut"], 52),
        (["substance", "rooms", 0, "games", 0, "seating"], [0]),
        (["substance", "commitment"], "AB" * 32),
        (["circumstances", "rooms", 0, 0, "microseconds", 0, 0], 1.5),
        (["circumstances", "processes", 0, "confined"], 1),
    ],
)
def test_the_schema_refuses_what_no_record_has(
    match: MatchRecord, path: list[str | int], value: object
) -> None:
    document = json.loads(to_json(match))
    put(document, path, value)
    with pytest.raises(jsonschema.ValidationError):
        schema().validate(document)


def schema() -> jsonschema.Draft202012Validator:
    text = (resources("hokm.records") / "record.schema.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


def put(document: object, path: list[str | int], value: object) -> None:
    for key in path[:-1]:
        document = document[key]  # type: ignore[index]
    document[path[-1]] = value  # type: ignore[index]


# -- digests


def test_equal_play_at_other_times_has_an_equal_digest(make_match: MakeMatch) -> None:
    record = make_match(faults={(1, 1): Ending.CRASH})
    later = replace(
        record,
        circumstances=replace(record.circumstances, started="2027-01-01T00:00:00+00:00"),
        rooms=tuple(
            replace(
                room,
                games=tuple(
                    replace(
                        game,
                        seconds=tuple(tuple(2 * each for each in hand) for hand in game.seconds),
                        outcome=with_cause(game, "after 7.77 s"),
                    )
                    for game in room.games
                ),
            )
            for room in record.rooms
        ),
    )
    assert to_json(later) != to_json(record)
    assert substance_digest(later) == substance_digest(record)


def test_notes_leave_the_digest_of_the_substance_alone(match: MatchRecord) -> None:
    assert any(game.notes for game in match.rooms[0].games)
    silent = with_notes_of(match, ())
    assert silent != match
    assert not any(game.notes or game.notes_dropped for room in silent.rooms for game in room.games)
    assert substance_digest(silent) == substance_digest(match)
    assert b"notes" not in to_json(silent)


def test_an_owner_sees_the_notes_of_the_own_bots_alone(match: MatchRecord) -> None:
    own = with_notes_of(match, [1])
    assert from_json(to_json(own)) == own
    for room, whole in zip(own.rooms, match.rooms, strict=True):
        for game, all_of_it in zip(room.games, whole.games, strict=True):
            seats = [seat for seat, index in enumerate(room.seating_of(game)) if index == 1]
            assert list(game.notes) == [one for one in all_of_it.notes if one.seat in seats]
            assert len(game.notes) < len(all_of_it.notes)
            if all_of_it.notes_dropped:
                expected = [
                    count if seat in seats else 0
                    for seat, count in enumerate(all_of_it.notes_dropped)
                ]
                assert list(game.notes_dropped) == (expected if any(expected) else [])
    assert with_notes_of(match, [0, 1]) is match


def test_a_secret_that_is_revealed_later_leaves_the_digest_alone(match: MatchRecord) -> None:
    unrevealed = replace(match, secret=None, entropy=None)
    assert substance_digest(unrevealed) == substance_digest(match)
    assert verify(unrevealed) == ()


def test_other_play_has_another_digest(make_match: MakeMatch) -> None:
    assert substance_digest(make_match(seed=1)) != substance_digest(make_match(seed=2))


def test_a_document_has_no_fraction_and_sorted_keys(match: MatchRecord) -> None:
    data = to_json(match)
    again = json.dumps(json.loads(data), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert data == again.encode()
    assert b"\xc3\x96mer" in to_json(replace(match, event="\xd6mer"))  # composed, as UTF-8
    json.loads(data, parse_float=pytest.fail)


def test_a_name_in_decomposed_form_is_refused(match: MatchRecord) -> None:
    with pytest.raises(ValueError, match="NFC"):
        to_json(replace(match, event="O\u0308mer"))


# -- files


@pytest.mark.parametrize("name", ["match.json", "match.json.gz"])
def test_a_saved_record_is_loaded_as_it_was(match: MatchRecord, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"an older file")
    save(path, match)
    assert load(path) == match
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_equal_records_are_equal_files(match: MatchRecord, tmp_path: Path) -> None:
    one, other = tmp_path / "one.json.gz", tmp_path / "other.json.gz"
    save(one, match)
    save(other, match)
    assert one.read_bytes() == other.read_bytes()
    assert gzip.decompress(one.read_bytes()) == to_json(match)


def test_a_record_is_never_written_in_part(
    match: MatchRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "match.json"
    path.write_bytes(b"an older file")

    def full_disk(descriptor: int) -> None:
        raise OSError("no space left on the device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        save(path, match)
    assert path.read_bytes() == b"an older file"
    assert [each.name for each in tmp_path.iterdir()] == ["match.json"]


@pytest.mark.parametrize("name", ["match.json", "match.json.gz"])
def test_every_cut_file_is_refused(match: MatchRecord, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save(path, match)
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(RecordError, match=name):
            load(path)


@pytest.mark.parametrize("name", ["match.json", "match.json.gz"])
def test_every_flipped_bit_is_refused(match: MatchRecord, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save(path, match)
    whole = bytearray(path.read_bytes())
    # Bytes 4 to 9 of a gzip file, a time and a system, say nothing about the content; none is hit.
    for at in range(0, len(whole), 53):
        whole[at] ^= 1 << at % 8
        path.write_bytes(whole)
        with pytest.raises(RecordError, match=name):
            load(path)
        whole[at] ^= 1 << at % 8


def test_a_small_file_that_unpacks_to_more_than_any_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(record_files.LARGEST_BYTES // 2**20 + 1):
            file.write(b" " * 2**20)
    with pytest.raises(RecordError, match="no record is that long"):
        load(path)


@pytest.mark.parametrize("name", ["long.json", "long.json.gz"])
def test_a_file_longer_than_any_record_is_not_even_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # Empty pieces, one after another, unpack to nothing for as long as there are any.
    monkeypatch.setattr(record_files, "LARGEST_BYTES", 1000)
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"") * 60)
    with pytest.raises(RecordError, match="over 1000 bytes: no record is that long"):
        load(path)


def test_more_values_than_any_record_has_are_not_let_into_memory(
    match: MatchRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_document, "LARGEST_VALUES", 100)
    with pytest.raises(RecordError, match="over 100 values"):
        save(tmp_path / "match.json", match)
    assert list(tmp_path.iterdir()) == []
    data = b"[" + b"[]," * 100_000 + b"[]]"
    tracemalloc.start()
    try:
        with pytest.raises(RecordError, match="over 100 values"):
            from_json(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_record_has_a_value_for_eight_bytes_at_most(make_match: MakeMatch) -> None:
    """So a file that may be written may be read: the bound of values is met by that of bytes."""
    assert record_document.LARGEST_VALUES >= record_files.LARGEST_BYTES // 8
    for players, kind in TABLES:
        for ending in (Ending.COMPLETED, Ending.NEVER_STARTED):
            faults = {} if ending is Ending.COMPLETED else {(1, 1): ending}
            data = to_json(make_match(players, kind, faults=faults))
            assert sum(map(data.count, (b",", b"[", b"{"))) < len(data) // 8


def test_a_record_too_long_with_its_notes_is_written_without_them(
    match: MatchRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = len(to_json(with_notes_of(match, ()))) + 200  # what was left out is counted
    assert len(to_json(match)) > most
    monkeypatch.setattr(record_files, "LARGEST_BYTES", most)
    save(tmp_path / "match.json", match)
    saved = load(tmp_path / "match.json")
    assert with_notes_of(saved, ()) == with_notes_of(match, ())
    game, before = saved.rooms[0].games[0], match.rooms[0].games[0]
    assert game.notes == ()
    assert sum(game.notes_dropped) == len(before.notes) + sum(before.notes_dropped)


def test_a_record_too_long_to_be_read_is_not_written(
    match: MatchRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_files, "LARGEST_BYTES", 1000)
    with pytest.raises(ValueError, match="none may have over 1000"):
        save(tmp_path / "match.json", match)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["schema"], "hokm-record-v2", "schema: 'hokm-record-v2' is not read here"),
        (["substance", "score"], None, "score: expected a list"),
        (["substance", "rooms", 1, "games", 0, "hands", 0, "hakem"], 4, "not from 0 to 3"),
        (
            ["substance", "rooms", 1, "games", 0, "hands", 0, "plays"],
            "AS ZZ",
            r"substance\.rooms\[1\]\.games\[0\]\.hands\[0\]\.plays: 'ZZ' is no card",
        ),
        (["substance", "rooms", 0, "seating"], [0, 1, 0], "an entrant for each of 4 seats"),
        (["substance", "rooms", 0, "seating", 3], 2, "2 is not from 0 to 1"),
        (["substance", "rules", "points_win"], "4", "substance.rules: points must keep"),
        (["substance", "rules", "kot"], "4", "no option 'kot'"),
        (["substance", "seeds", 0, "seed"], "00", "expected 64 hex digits"),
        (["substance", "ticket"], "x", "substance: 'ticket' is no key of this version"),
        (["substance", "attempt"], True, "attempt: expected a whole number"),
        (
            ["substance", "match"],
            "a\0b",
            "match: 'a.x00b' has a character in it that is in no name",
        ),
        (["substance", "match"], "O\u0308", r"match: .*NFC"),
        (["substance", "match"], 7, "^substance.match: expected a text"),
        (["circumstances", "arena"], "\ud800", "circumstances.arena: .* half a surrogate pair"),
        (["substance", "clock"], 7, "clock: expected an object"),
        (["substance", "policy"], "lenient", "policy: 'lenient' is none of rated, casual"),
        (["substance", "commitment"], "AB" * 32, "commitment: expected pairs of hex digits"),
        (["substance", "entrants"], [], "entrants: a match of 4 has 2 to 4"),
        (["circumstances", "rooms"], [], "as many rooms as the substance has, 2"),
        # What the record points to is there: who adds up its games need not ask.
        (["substance", "rooms", 0, "seating"], [0, 0, 0, 0], "a seat for each of 2 entrants"),
        (["substance", "rooms"], [], "substance.rooms: this match has 1 to 2 rooms"),
        (["substance", "score"], [1], "substance.score: expected a number for each of 2 entrants"),
        (["circumstances", "processes", 0, "room"], 9, "in room 9, which is not there"),
        (["circumstances", "processes", 0, "confined"], 1, "confined: expected true or false"),
        (["substance_digest"], "0" * 64, "substance_digest: it is not the digest"),
        *(
            (["circumstances", "rooms", 0, 0, "notes", 0, *path], value, message)
            for path, value, message in [
                (["seat"], 4, "4 is not from 0 to 3"),
                (["decision"], 0, "0 is not from 1"),
                (["text"], "", "text: what is empty is left out"),
                (["numbers"], [], "numbers: what is empty is left out"),
                (["text"], "x" * 201, "201 characters"),
                (["text"], "a\nb", "cannot be printed"),
                (["thought"], "x", "'thought' is no key of this version"),
                (["numbers"], [["win", 1]], r"numbers\[0\]\[1\]: expected a text"),
                (["numbers"], [["win"]], "expected a name and a number"),
                (["numbers"], [["win", "nan"]], "'nan' is no decimal number"),
                (["numbers"], [["win", "9e999"]], "no decimal number|not the shortest"),
                (["numbers"], [["win", "1e+999"]], "'1e.999' is not the shortest text"),
                (["numbers"], [["win", "0.610"]], "'0.610' is not the shortest text"),
                (["numbers"], [["two words", "1.0"]], "letters A to z"),
                (["numbers"], [["a", "1.0"], ["a", "2.0"]], "have one name"),
            ]
        ),
        (["circumstances", "rooms", 0, 0, "notes_dropped"], [1], "a number for each of 4 seats"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    match: MatchRecord, path: list[str | int], value: object, message: str
) -> None:
    document = json.loads(to_json(match))
    put(document, path, value)
    with pytest.raises(RecordError, match=message):
        from_json(resealed(document))


def resealed(document: dict[str, object]) -> bytes:
    """The document with a checksum that fits: an edit, not an accident."""
    del document["checksum"]
    return json.dumps({**document, "checksum": sha256_of(document)}).encode()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("place", "key"),
    [
        ([], "substance"),
        (["substance"], "rooms"),
        (["substance", "rules"], "points_kot"),
        (["substance", "rooms", 0, "games", 1], "hands"),
        (["substance", "rooms", 0, "games", 1, "hands", 0], "deck"),
        (["circumstances"], "started"),
    ],
)
def test_a_missing_key_is_named_with_its_place(
    match: MatchRecord, place: list[str | int], key: str
) -> None:
    document = json.loads(to_json(match))
    inner = document
    for step in place:
        inner = inner[step]
    del inner[key]
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    with pytest.raises(RecordError) as caught:
        from_json(resealed(document))
    assert str(caught.value).startswith(f"{where[1:] or 'document'}: {key!r} is missing")


def test_a_document_that_was_edited_does_not_fit_its_checksum(match: MatchRecord) -> None:
    data = to_json(match).replace(b'"attempt":1', b'"attempt":2')
    with pytest.raises(RecordError, match=r"checksum: .* damaged or was edited"):
        from_json(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON, or cut off"),
        (b"[]", "no record"),
        (b"{}", "no record"),
        (b"\xff", "not UTF-8 text, at byte 0"),
        (b'{"a":1,"a":2}', "a key stands twice"),
        (b'{"a":1.5}', "'1.5' is no integer"),
        (b'{"a":NaN}', "'NaN' is no integer"),
        (b"[" * 100_000, "not JSON as a record has it"),
        (b"1" * 10_000, "not JSON as a record has it"),
    ],
)
def test_what_is_no_document_is_refused_with_a_reason(data: bytes, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        from_json(data)


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":%b.5}' % (b"1" * 100_000),
        b'{"%b":1,"%b":1}' % (LONG.encode(), LONG.encode()),
        b'{"schema":"%b"}' % LONG.encode(),
        b'{"schema":"hokm-record-v1","checksum":"%b"}' % LONG.encode(),
        b'{"schema":"hokm-record-v1","checksum":[%b1]}' % (b"1," * 100_000),
    ],
)
def test_no_complaint_repeats_a_document(data: bytes) -> None:
    with pytest.raises(RecordError) as refused:
        from_json(data)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    "path",
    [
        ["substance", LONG],
        ["substance", "match"],
        ["substance", "rules", "points_win"],
        ["substance", "rules", LONG],
        ["substance", "policy"],
        ["substance", "rooms", 0, "games", 0, "hands", 0, "trump"],
        ["substance", "rooms", 0, "games", 0, "hands", 0, "deck"],
        ["substance", "rooms", 0, "games", 0, "outcome", "ending"],
    ],
)
def test_no_complaint_repeats_a_value(match: MatchRecord, path: list[str | int]) -> None:
    document = json.loads(to_json(match))
    put(document, path, LONG + "\0")
    with pytest.raises(RecordError) as refused:
        from_json(resealed(document))
    assert len(str(refused.value)) < 1000


def test_the_layout_of_a_document_does_not_matter(match: MatchRecord) -> None:
    assert from_json(json.dumps(json.loads(to_json(match)), indent=2).encode()) == match


def test_half_a_surrogate_pair_in_a_cause_does_not_lose_the_record(
    match: MatchRecord, edited_game: Callable[..., MatchRecord]
) -> None:
    outcome = with_cause(match.rooms[0].games[0], "\ud800")
    read = from_json(to_json(edited_game(match, outcome=outcome)))
    assert read.rooms[0].games[0].outcome == replace(outcome, cause="?")


def with_cause(game: GameRecord, cause: str) -> Outcome:
    assert game.outcome is not None
    return replace(game.outcome, cause=cause)


def test_a_rated_record_keeps_its_policy(make_match: MakeMatch) -> None:
    record = make_match(policy=Policy.RATED, faults={(2, 1): Ending.ILLEGAL})
    assert from_json(to_json(record)).policy is Policy.RATED


@pytest.mark.parametrize("key", [b"substance", b"checksum"])
def test_a_document_nested_too_deeply_to_be_hashed_is_no_record(key: bytes) -> None:
    # Somewhere below the interpreter's limit is a depth that can be parsed and not be written.
    for depth in range(500, 1001):
        nested = b'{"a":[' * (depth // 2) + b"]}" * (depth // 2)
        with pytest.raises(RecordError):
            from_json(b'{"schema": "hokm-record-v1", "%b": %b}' % (key, nested))


@pytest.mark.parametrize("name", ["match.json", "match.json.gz"])
def test_a_pipe_and_a_device_are_refused_unread(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(RecordError, match=f"{name}: not a regular file"):
        load(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(RecordError, match=f"{name}: not a regular file"):
        load(path)
