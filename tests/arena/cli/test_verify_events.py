"""`arena verify` of a whole event, and of a ladder's folder, from documents and records alone."""

import json
import shutil
from dataclasses import replace

import pytest

from arena.ladder.proof.document import EVENT_FILE
from arena.ladder.proof.folder import load_event
from hokm.records import load, save
from tests.arena.ladder.conftest import bot_folder
from tests.arena.ladder.proof.conftest import make_event
from tests.arena.ladder.proof.events import publish

__all__ = ["bot_folder", "make_event"]  # the fixtures of events that were played


@pytest.fixture
def event(make_event):
    return make_event(nonces={"ada": bytes(32), "bob": b"\1" * 32})


def test_a_true_event_is_ok_and_it_says_what_was_looked_at(run, event):
    ran = run("verify", event)
    assert (ran.status, ran.err) == (0, "")
    digest = load_event(event / EVENT_FILE).announcement.digest
    assert ran.out.splitlines()[:3] == [
        f"{event}: ok",
        "  event ev1 of club, over",
        f"  announcement {digest}",
    ]
    assert "its entropy follows from 2 nonces" in ran.out
    assert "3 matches, 3 records: 12 hands dealt from their seeds" in ran.out
    assert "  not checked: whether whoever brought the last nonce knew the secret" in ran.out


def test_what_is_not_so_is_found_with_its_match(run, event):
    (event / "r1/bob~cyd.json.gz").unlink()
    ran = run("verify", event)
    assert ran.status == 1
    first = ran.out.splitlines()[0]
    assert first == f"{event}: ev1/r1/bob~cyd: its record bob~cyd.json.gz is missing"
    answer = json.loads(run("verify", event, "--json").out)
    assert answer["records"] == []
    (found,) = answer["events"]
    assert (found["event"], found["ok"], found["records"]) == ("ev1", False, 2)
    assert found["findings"] == [
        {
            "what": "its record bob~cyd.json.gz is missing",
            "match": "ev1/r1/bob~cyd",
            "attempt": 1,
            "room": None,
            "game": None,
            "hand": None,
            "step": None,
        }
    ]


def test_all_events_of_a_ladder_are_checked_and_none_may_be_missing(run, event):
    ladder = event.parent.parent
    assert run("verify", ladder).out.startswith(f"{event}: ok\n")
    shutil.copytree(event, event.parent / "ev3")
    ran = run("verify", ladder)
    assert ran.status == 1
    assert ran.err == f"error: {ladder}: has no ev2, and has later events\n"


def test_stages_of_a_ladder_are_numbered_on_from_event_to_event(run, event):
    shutil.copytree(event, event.parent / "ev2")
    ran = run("verify", event.parent)
    assert ran.status == 1
    assert "it begins with round 1; the event before ends with 3" in ran.out


def test_of_an_event_without_a_document_the_records_are_checked(run, event):
    (event / EVENT_FILE).unlink()
    ran = run("verify", event.parent)
    assert ran.status == 0
    assert ran.out.count(": ok\n") == 3


def test_an_earlier_document_is_compared_with_the_one_that_is_there(run, event, tmp_path):
    kept = tmp_path / "kept.json"
    shutil.copy(event / EVENT_FILE, kept)
    assert run("verify", event, "--earlier", kept).status == 0
    published = load_event(event / EVENT_FILE)
    other = replace(published.announcement, beacon="drand")
    publish(event, replace(published, announcement=other))
    for path in (event, event.parent.parent):
        ran = run("verify", path, "--earlier", kept)
        assert ran.status == 1
        assert "what was announced is not what was announced earlier" in ran.out
    publish(event, published)
    event.rename(event.parent / "ev2")
    ran = run("verify", event.parent, "--earlier", kept)
    assert "has no ev1, which the earlier document is of" in ran.err


def test_an_event_under_way_says_that_its_secret_is_not_revealed(run, event):
    for file in event.glob("r*/*"):
        save(file, replace(load(file), secret=None, entropy=None))
    publish(event, replace(load_event(event / EVENT_FILE), secret=None))
    ran = run("verify", event)
    assert ran.status == 0
    assert "event ev1 of club, under way" in ran.out
    assert "not checked: the secret is not revealed yet" in ran.out


@pytest.mark.parametrize("damage", [b"", b"{}", b"{"])
def test_a_damaged_document_and_an_empty_folder_are_errors(run, event, tmp_path, damage):
    (event / EVENT_FILE).write_bytes(damage)
    ran = run("verify", event)
    assert ran.status == 1
    assert ran.err.startswith(f"error: {event / EVENT_FILE}: ")
    (tmp_path / "empty").mkdir()
    ran = run("verify", tmp_path / "empty")
    assert ran.err == f"error: {tmp_path / 'empty'}: has no event.json, and no records\n"


def test_lines_hold_nothing_that_steers_a_terminal(run, event):
    published = load_event(event / EVENT_FILE)
    (stage,) = published.stages
    from arena.ladder.facts import State

    match = replace(stage.matches[0], state=State.VOID, because="\x1b[31mred", attempts=())
    publish(event, replace(published, stages=(replace(stage, matches=(match,)),)))
    ran = run("verify", event)
    assert "\x1b" not in ran.out
    assert "\\x1b[31mred" in ran.out
