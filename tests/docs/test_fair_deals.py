"""The second implementation, in Node: it has the same vectors, and finds what the first one finds.

Where there is no Node these tests are skipped, and say so.
"""

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.ladder.facts import State
from arena.ladder.proof.document import EVENT_FILE, EventDocument, MatchEntry, Nonce
from arena.ladder.proof.entropy import entropy_of_nonces
from arena.ladder.proof.folder import check_event, load_event
from hokm.deck import Stream, board_seed, commitment, mix, shuffled
from hokm.outcome import Ending
from hokm.records import (
    Format,
    MatchRecord,
    Policy,
    RecordError,
    deal_id,
    load,
    save,
    substance_digest,
)
from hokm.records.document import canonical, sha256_of
from hokm.session import ClockRules
from tests.arena.ladder.conftest import bot_folder
from tests.arena.ladder.proof.conftest import make_event
from tests.arena.ladder.proof.events import publish

__all__ = ["bot_folder", "make_event"]  # the fixtures of events that were played

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/fair-deals"
VECTORS = json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))
NODE = shutil.which("node")

ENTERED_LATE = (
    "  not checked: entered when the entropy was fixed, so by somebody who may have known the "
    "deals: cyd"
)
LEFT_TO_THE_FIRST = (
    "  not checked: the play, and whether the matches are those that the schedule makes: "
    "arena verify does"
)

needs_node = pytest.mark.skipif(NODE is None, reason="there is no node here: one of two is unseen")


def node(*words: object) -> tuple[int, list[str]]:
    assert NODE is not None
    done = subprocess.run(
        [NODE, str(FOLDER / "verify.mjs"), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()


# -- the vectors


@pytest.mark.parametrize("vector", VECTORS["shuffle"], ids=lambda one: one["seed"][:8])
def test_python_deals_the_published_decks(vector) -> None:
    seed, label = bytes.fromhex(vector["seed"]), vector["label"]
    pack = range(vector["lowest"], 52)
    assert list(shuffled(pack, seed, label=label)) == vector["order"]
    stream = Stream(seed, label)
    for n in range(len(pack), 1, -1):
        stream.below(n)
    assert stream.bytes_used == vector["bytes_used"]


@pytest.mark.parametrize("vector", VECTORS["event"], ids=lambda one: one["secret"][:8])
def test_python_mixes_and_seeds_as_published(vector) -> None:
    secret = bytes.fromhex(vector["secret"])
    assert commitment(secret).hex() == vector["commitment"]
    mixed = mix(secret, bytes.fromhex(vector["entropy"]))
    assert mixed.hex() == vector["mixed"]
    for board in vector["boards"]:
        name = deal_id(board["match"], attempt=board.get("attempt", 1), pair=board.get("pair"))
        assert name == board.get("deal_id", board["match"])
        seed = board_seed(mixed, name, board["board"] if "board" in board else board["hand"])
        assert seed.hex() == board["seed"]
        if "deck" in board:
            assert list(shuffled(range(52), seed)) == board["deck"]


@needs_node
def test_node_has_the_same_vectors() -> None:
    status, lines = node("--vectors")
    assert status == 0
    assert lines[-1] == "57 vectors: ok"


@needs_node
def test_node_says_which_vector_differs(tmp_path: Path) -> None:
    changed = json.loads(json.dumps(VECTORS))
    changed["shuffle"][0]["order"][0] = 7
    file = tmp_path / "vectors.json"
    file.write_text(json.dumps(changed))
    status, lines = node("--vectors", file)
    assert status == 1
    assert lines[0].startswith("deck of 00000000")


# -- events


@needs_node
@pytest.mark.parametrize(
    "made",
    [
        {"nonces": {"ada": b"\1" * 32, "cyd": b"\0" * 32}},
        {"beacon": ("drand quicknet, round 1000000", "AB" * 32)},
        {"beacon": ("the lottery of Saturday", "۴ ۸ ۱۵ ۱۶ ۲۳ ۴۲")},
        {"players": 3},
        {"players": 2},
        {"its_format": Format.CLASSIC},
        {"names": ("بی.بی", "شاه", "z")},
        {
            "faults": {
                ("ev1/r1/bob~cyd", 1): (Ending.HOST_FAULT, None),
                ("ev1/r2/ada~bob", 1): (Ending.NEVER_STARTED, 0),
            }
        },
    ],
    ids=lambda one: next(iter(one)),
)
def test_both_find_nothing_amiss_in_a_true_event(make_event, made) -> None:
    folder = make_event(**made)
    assert not check_event(folder).findings
    status, lines = node(folder)
    assert (status, lines[0]) == (0, f"{folder}: ok"), lines


@needs_node
def test_both_tell_what_was_struck_out_and_find_nothing_amiss_in_it(make_event) -> None:
    folder = make_event()
    kept = load_event(folder / EVENT_FILE)
    (attempt,) = kept.matches[0].attempts
    attempts = (replace(attempt, struck="a wrong card"),)
    publish(folder, first_match(kept, state=State.VOID, because="a wrong card", attempts=attempts))
    told = "whether ev1/r1/bob~cyd had to be struck out by the operator: a wrong card"
    report = check_event(folder)
    assert (report.findings, told in report.unchecked) == ((), True)
    status, lines = node(folder)
    assert (status, lines[0]) == (0, f"{folder}: ok"), lines
    assert any(line.endswith(told) for line in lines)


Change = Callable[..., Any]


def matches(event: EventDocument, *entries: MatchEntry) -> EventDocument:
    (stage,) = event.stages
    return replace(event, stages=(replace(stage, matches=entries),))


def first_match(event: EventDocument, **changes: object) -> EventDocument:
    first, *others = event.matches
    return matches(event, replace(first, **changes), *others)  # type: ignore[arg-type]


def two_attempts(event: EventDocument, ending: Ending | None) -> EventDocument:
    (attempt,) = event.matches[0].attempts
    first = replace(attempt, voided_by=ending)
    return first_match(event, attempts=(first, replace(attempt, number=2)))


def with_nonce(event: EventDocument, entrant: str) -> EventDocument:
    """One more nonce, and an entropy that it fits, as a forger would."""
    nonces = (*event.nonces, Nonce(entrant=entrant, value=b"\7" * 32))
    entropy = entropy_of_nonces(nonce.value for nonce in nonces)
    return began(replace(event, nonces=nonces), entropy=entropy)


def began(event: EventDocument, **changes: object) -> EventDocument:
    assert event.beginning is not None
    return replace(event, beginning=replace(event.beginning, **changes))  # type: ignore[arg-type]


def in_field(event: EventDocument, *names: str) -> EventDocument:
    (stage,) = event.stages
    return replace(event, stages=(replace(stage, field=names),))


def first_attempt(event: EventDocument, **changes: object) -> EventDocument:
    (attempt,) = event.matches[0].attempts
    voided = replace(attempt, **changes)  # type: ignore[arg-type]
    return first_match(event, state=State.VOID, because="I say so", attempts=(voided,))


def arena_objects(folder: Path) -> bool:
    """Whether the first implementation finds something, or does not read it at all."""
    try:
        return bool(check_event(folder).findings)
    except RecordError:
        return True


def other_entrant(event: EventDocument) -> EventDocument:
    *others, last = event.entrants
    return replace(event, entrants=(*others, replace(last, digest="0" * 64)))


@needs_node
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda e: replace(e, secret=bytes(32)), "the secret is not the one that was committed to"),
        (lambda e: replace(e, nonces=e.nonces[1:]), "the entropy is "),
        (lambda e: replace(e, nonces=()), "the entropy comes from nonces, and should from nothing"),
        (
            lambda e: replace(e, announcement=replace(e.announcement, beacon="drand")),
            "there are nonces beside a beacon",
        ),
        (
            lambda e: matches(e, *e.matches[1:]),
            "there is a file r1/bob~cyd.json.gz that the event does not name",
        ),
        (lambda e: matches(e, *e.matches, e.matches[0]), "ev1/r1/bob~cyd: it is scheduled twice"),
        (
            lambda e: first_match(e, match="ev1/r1/bob~eve"),
            "ev1/r1/bob~eve: by its round and entrants its id is ev1/r1/bob~cyd",
        ),
        (
            lambda e: first_match(e, state=State.VOID, because="I say so"),
            "ev1/r1/bob~cyd: it is void, and 1 attempts count",
        ),
        (
            lambda e: first_match(e, attempts=()),
            "ev1/r1/bob~cyd: it is played, and 0 attempts count",
        ),
        (
            lambda e: first_match(e, state=State.SCHEDULED, attempts=()),
            "ev1/r1/bob~cyd: the event is over without it",
        ),
        (
            lambda e: two_attempts(e, Ending.TIME),
            "ev1/r1/bob~cyd: attempt 1 is followed by another, without a fault of the host",
        ),
        (
            lambda e: two_attempts(e, Ending.HOST_FAULT),
            "ev1/r1/bob~cyd!2: its record: ENOENT",
        ),
        (
            lambda e: first_match(
                e, attempts=(replace(e.matches[0].attempts[0], digest="0" * 64),)
            ),
            "ev1/r1/bob~cyd: its substance digest is not the one the event states",
        ),
        (other_entrant, "ev1/r1/bob~cyd: its entrants is not as the event states"),
        (lambda e: with_nonce(e, "eve"), "eve has a nonce, and is none of the entrants"),
        (lambda e: with_nonce(e, "ada"), "ada has two nonces"),
        (lambda e: began(e, entrants=2), "cyd was entered later, and has a nonce"),
        (lambda e: began(e, entrants=4), "it began with 4 entrants, and there are 3"),
        (
            lambda e: began(e, beacon_value="one"),
            "a beacon's value belongs to an entropy from a beacon, and to no other",
        ),
        (
            lambda e: in_field(e, "ada", "bob", "cyd", "eve"),
            "eve is in the field of stage 1, and is none of the entrants",
        ),
        (
            lambda e: in_field(e, "bob", "ada", "cyd"),
            "the field of stage 1 does not stand in the order in which bots were entered",
        ),
        (
            lambda e: in_field(e, "ada", "bob"),
            "ev1/r1/bob~cyd: cyd is not in the field of stage 1",
        ),
        (
            lambda e: first_attempt(e, voided_by=Ending.HOST_FAULT),
            "ev1/r1/bob~cyd: by its record it counts, and it is said to be void by HOST_FAULT",
        ),
        (
            lambda e: first_match(e, state=State.VOID, attempts=()),
            "ev1/r1/bob~cyd: it is void, and it is not said why",
        ),
        (
            lambda e: replace(e, entrants=(*e.entrants, e.entrants[0])),
            "ada is entered twice",
        ),
        (
            lambda e: replace(e, entrants=(replace(e.entrants[0], name="../a"), *e.entrants[1:])),
            '"../a" is no name',
        ),
        (
            lambda e: replace(e, stages=(*e.stages, *e.stages)),
            "stage 1 follows stage 1",
        ),
    ],
)
def test_both_find_what_was_changed_in_the_document(make_event, change: Change, told: str) -> None:
    folder = make_event(nonces={"ada": b"\1" * 32, "cyd": b"\0" * 32})
    publish(folder, change(load_event(folder / EVENT_FILE)))
    assert arena_objects(folder)
    status, lines = node(folder)
    assert status == 1
    assert any(line.startswith(f"{folder}: {told}") for line in lines), lines


def swapped(record: MatchRecord) -> dict[str, object]:
    """The first two cards of the first deck change places."""
    room = record.rooms[0]
    hand = room.games[0].hands[0]
    hand = replace(hand, deck=(hand.deck[1], hand.deck[0], *hand.deck[2:]))
    game = replace(room.games[0], hands=(hand,))
    room = replace(room, games=(game, *room.games[1:]))
    return {"rooms": (room, *record.rooms[1:])}


def games_of(record: MatchRecord, *numbers: int) -> dict[str, object]:
    room = record.rooms[0]
    games = tuple(room.games[number - 1] for number in numbers)
    return {"rooms": (replace(room, games=games), *record.rooms[1:])}


def seated(record: MatchRecord, *seatings: tuple[int, ...]) -> dict[str, object]:
    rooms = zip(record.rooms, seatings, strict=True)
    return {"rooms": tuple(replace(room, seating=seating) for room, seating in rooms)}


@needs_node
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (swapped, "room 1, game 1, hand 1: the deck is not its seed's"),
        (
            lambda r: {"seeds": (replace(r.seeds[0], value=bytes(32)), *r.seeds[1:])},
            "game 1: the seed of hand 1 is not the secret's",
        ),
        (lambda r: {"seeds": r.seeds[1:]}, "board 1: its seed is not revealed"),
        (lambda r: {"seeds": (*r.seeds, r.seeds[0])}, "game 1: the seed of hand 1 is there twice"),
        (lambda r: games_of(r, 1), "room 1: games are missing, repeated or in disorder"),
        (lambda r: games_of(r, 1, 1), "room 1: games are missing, repeated or in disorder"),
        (lambda r: {"secret": None}, "it does not reveal the event's secret and entropy"),
        (lambda r: {"entropy": b""}, "it does not reveal the event's secret and entropy"),
        (lambda r: {"event": "ev9"}, "its event is not as the event states"),
        (lambda r: {"games": 1}, "its games is not as the event states"),
        (lambda r: {"attempt": 2}, "its attempt is not as the event states"),
        (lambda r: {"policy": Policy.CASUAL}, "its policy is not as the event states"),
        (
            lambda r: {"clock": ClockRules(move_seconds=9, bank_seconds=9)},
            "its clock is not as the event states",
        ),
        (lambda r: {"rooms": r.rooms[::-1]}, "the room that stands as number 1 is number 2"),
        (lambda r: {"rooms": r.rooms[:1]}, "it has 1 rooms, and should have 2"),
        (
            lambda r: seated(r, (1, 0, 1, 0), (0, 1, 0, 1)),
            "room 1: the seating 1,0,1,0 is none of this match",
        ),
        (
            lambda r: seated(r, (0, 1, 0, 1), (0, 1, 0, 1)),
            "room 2: every side sits where it sat in another room",
        ),
        (
            lambda r: seated(r, (0, 1, 0, 1), (1, 1, 0, 0)),
            "room 2: the seating 1,1,0,0 is none of this match",
        ),
        (
            lambda r: {"seeds": (*r.seeds, replace(r.seeds[0], game=9))},
            "there is a seed of game 9, which is not there",
        ),
    ],
)
def test_both_find_what_was_changed_in_a_record(make_event, changes: Change, told: str) -> None:
    """With the digest that the document states, as a forger would."""
    folder = make_event(nonces={"ada": b"\1" * 32})
    event = load_event(folder / EVENT_FILE)
    file = folder / "r1/bob~cyd.json.gz"
    record = replace(load(file), **changes(load(file)))
    save(file, record)
    (attempt,) = event.matches[0].attempts
    attempt = replace(attempt, digest=substance_digest(record))
    publish(folder, first_match(event, attempts=(attempt,)))
    assert check_event(folder).findings
    status, lines = node(folder)
    assert status == 1
    assert f"{folder}: ev1/r1/bob~cyd: {told}" in lines


@needs_node
def test_both_check_an_event_under_way_as_far_as_it_goes(make_event) -> None:
    folder = make_event(nonces={"ada": b"\1" * 32})
    event = replace(load_event(folder / EVENT_FILE), secret=None)
    (folder / "r1/bob~cyd.json.gz").unlink()
    publish(folder, first_match(event, state=State.SCHEDULED, attempts=()))
    assert not check_event(folder).findings
    status, lines = node(folder)
    assert (status, lines[0]) == (0, f"{folder}: ok")
    assert "  not checked: the secret is not revealed yet: seeds were not compared with it" in lines
    file = folder / "r2/ada~bob.json.gz"
    save(file, replace(load(file), secret=bytes(32)))
    assert check_event(folder).findings
    status, lines = node(folder)
    assert status == 1
    told = "ev1/r2/ada~bob: it reveals another secret than was committed to"
    assert lines[0] == f"{folder}: {told}"


@needs_node
@pytest.mark.parametrize("seating", [None, (0, 1, 2)])
def test_both_find_even_boards_of_three_that_go_round_the_same_way(make_event, seating) -> None:
    folder = make_event(players=3)
    event = load_event(folder / EVENT_FILE)
    [file] = folder.glob("r1/*")
    room, *others = load(file).rooms
    record = replace(load(file), rooms=(replace(room, even_seating=seating), *others))
    save(file, record)
    (attempt,) = event.matches[0].attempts
    attempt = replace(attempt, digest=substance_digest(record))
    publish(folder, first_match(event, attempts=(attempt,)))
    assert arena_objects(folder)
    status, lines = node(folder)
    assert status == 1
    assert "is none of its even games" in lines[0]


@needs_node
def test_a_file_that_was_edited_is_known_by_its_digests(make_event) -> None:
    folder = make_event()
    document = folder / EVENT_FILE
    true = document.read_bytes()
    document.write_bytes(true.replace(b'"club"', b'"clib"'))
    assert node(folder) == (
        1,
        [f"error: {folder}: the checksum does not fit: damaged, or edited"],
    )
    edited = json.loads(true)
    edited["announcement_digest"] = "0" * 64
    del edited["checksum"]
    document.write_bytes(canonical(edited | {"checksum": sha256_of(edited)}))
    assert f"{folder}: the announcement's digest is another" in node(folder)[1]


@needs_node
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: b"\xef\xbb\xbf" + data, "is not valid JSON"),
        (lambda data: data.replace(b"{", b'{"schema":"x",', 1), "a key stands twice in one object"),
        (lambda data: data.replace(b'"games":2', b'"games":2.0', 1), "2.0 is no integer"),
        (lambda data: data.replace(b'"games":2', b'"games":2e0', 1), "2e0 is no integer"),
    ],
)
@pytest.mark.parametrize("name", [EVENT_FILE, "r1/bob~cyd.json.gz"])
def test_what_could_be_read_in_two_ways_is_not_read(make_event, change, told, name: str) -> None:
    """Every digest in it is that of the values, so none of them tells."""
    folder = make_event()
    file = folder / name
    data = change(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    assert arena_objects(folder)
    status, lines = node(folder)
    assert status == 1
    assert told in lines[0]
    assert len(lines[0]) < 300


@needs_node
@pytest.mark.parametrize("name", [EVENT_FILE, "r1/bob~cyd.json.gz"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(make_event, name: str) -> None:
    folder = make_event()
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert arena_objects(folder)
    status, lines = node(folder)
    assert status == 1
    assert lines[0].endswith("not a regular file")


@needs_node
def test_a_file_in_a_hidden_folder_is_a_file_that_is_not_named(make_event) -> None:
    folder = make_event()
    (folder / ".r9").mkdir()
    (folder / "r1/bob~cyd.json.gz").rename(folder / ".r9/bob~cyd.json.gz")
    (folder / "r1/.bob~cyd.json.gz.part").write_bytes(b"")
    assert arena_objects(folder)
    status, lines = node(folder)
    assert status == 1
    assert f"{folder}: there is a file .r9/bob~cyd.json.gz that the event does not name" in lines
    assert not any(".part" in line for line in lines)


@needs_node
def test_both_name_the_matches_that_are_void(make_event) -> None:
    """One can be struck out as void with its record deleted: only an earlier document shows it."""
    folder = make_event(nonces={"ada": b"\1" * 32})
    true = load_event(folder / EVENT_FILE)
    struck = first_match(true, state=State.VOID, because="bob is ill", attempts=())
    publish(folder, struck)
    (folder / "r1/bob~cyd.json.gz").unlink()
    line = "whether ev1/r1/bob~cyd had to be void: bob is ill"
    report = check_event(folder)
    assert not report.findings
    assert line in report.unchecked
    assert check_event(folder, earlier=replace(true, secret=None)).findings
    status, lines = node(folder)
    assert (status, lines[0]) == (0, f"{folder}: ok")
    assert "  3 matches, 1 of them void; 2 records, 4 seeds, 8 decks" in lines
    assert f"  not checked: {line}" in lines


@needs_node
def test_what_the_second_one_leaves_to_the_first_is_said(make_event) -> None:
    folder = make_event()
    event = load_event(folder / EVENT_FILE)
    publish(folder, began(event, entrants=2))
    assert [line for line in node(folder)[1] if "not checked" in line] == [
        "  not checked: that nobody chose the secret for its deals: there is no entropy",
        ENTERED_LATE,
        LEFT_TO_THE_FIRST,
    ]


@needs_node
def test_a_folder_without_an_event_is_an_error(tmp_path: Path) -> None:
    status, lines = node(tmp_path)
    assert status == 1
    assert lines == [f"error: {tmp_path}: there is no event.json in it"]
    assert node()[0] == 2


# -- the page


def test_the_worked_example_of_the_page_comes_out_as_it_says(tmp_path: Path) -> None:
    page = (FOLDER.parent / "fair-deals.md").read_text(encoding="utf-8")
    example = page.partition("\n## A worked example\n")[2].partition("\n## ")[0]
    lines = [
        line
        for block in re.findall(r"^```console\n(.*?)^```$", example, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) == 6
    said = {}
    for line in lines:
        words = shlex.split(line)
        if words[0] == "node":
            if NODE is None:
                continue
            words = [NODE, str(FOLDER / "verify.mjs"), *words[2:]]
        else:
            words = [sys.executable, "-m", *words]
        done = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
        said[line] = done.stdout
    event = load_event(tmp_path / "club/records/ev1" / EVENT_FILE)
    value = re.search(r"--entropy ([0-9a-f]{64})", example)
    assert value is not None
    assert event.beginning is not None
    assert event.beginning.entropy.hex() == value[1]
    assert event.announcement.beacon == "drand quicknet, round 14500000"
    checked = [text for line, text in said.items() if "verify" in line]
    assert all(text.startswith("club/records/ev1: ok\n") for text in checked)


def test_the_parts_of_a_document_are_all_told() -> None:
    page = (FOLDER.parent / "fair-deals.md").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "arena/ladder/proof/event.schema.json").read_text("utf-8"))
    table = page.partition("\n## The document\n")[2].partition("\n## ")[0]
    parts = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert parts == schema["required"]
    for name in ("announcement", "beginning", "stage", "match"):
        for key in schema["$defs"][name]["properties"]:
            assert f"`{key}`" in table, key
