"""`arena operate`: verbs, their reasons, and the log. What they do is tested where it is done."""

import json
import re
from pathlib import Path

import pytest

from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from tests.arena.ladder.conftest import bot_folder

__all__ = ["bot_folder"]  # a fixture


@pytest.fixture
async def folder(tmp_path: Path, bot_folder) -> Path:
    """A ladder that has played."""
    with Ladder.init(tmp_path / "club", Settings.of("club", length=1)) as made:
        for name in ("ada", "bob", "cyd"):
            made.add(bot_folder(name))
        await play_event(made, InProcessRunner(), schedule=RoundRobin())
    return tmp_path / "club"


async def test_every_verb_does_its_deed_and_the_log_has_all(run, folder: Path) -> None:
    said = {
        ("pause", "--because", "a new disk"): "paused",
        ("resume",): "resumed",
        ("drain",): "draining",
        ("disable", "ada", "--because", "it cheated"): "ada: disabled by the operator: it cheated",
        ("enable", "ada"): "ada: active",
        ("void", "ev1/r1/bob~cyd", "--because", "a wrong card"): "void, and ratings",
        ("recompute",): "nothing moved",
    }
    for words, line in said.items():
        ran = run("operate", folder, *words)
        assert (ran.status, ran.err) == (0, "")
        assert line in ran.out
    lines = run("operate", folder, "log").out.splitlines()
    assert [line.split()[3] for line in lines] == [words[0] for words in said]
    assert re.fullmatch(r"4 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S+ disable ada: it cheated", lines[3])
    last = json.loads(run("operate", folder, "log", "--last", 2, "--json").out)["deeds"]
    assert [deed["verb"] for deed in last] == ["void", "recompute"]
    assert last[0]["reason"] == "a wrong card"
    assert run("ladder", "check", folder).status == 0


@pytest.mark.parametrize(
    "words", [("disable", "ada"), ("void", "ev1/r1/bob~cyd"), ("requeue", "ev1/r1/bob~cyd")]
)
async def test_nothing_is_taken_from_anybody_without_a_reason(run, folder: Path, words) -> None:
    ran = run("operate", folder, *words)
    assert ran.status == 2
    assert "--because" in ran.err
    assert run("operate", folder, "log").out == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("resume",), "it is not paused; there is nothing to do"),
        (("enable", "ada"), "is active"),
        (("disable", "adda", "--because", "x"), "did you mean ada?"),
        (("disable", "ada", "--because", "a\nb"), "--because: is one line"),
        (("requeue", "ev1/r1/bob~cyd", "--because", "x"), "everybody knows its deals"),
        (("void", "ev2/r1/bob~cyd", "--because", "x"), "is no match of this ladder"),
    ],
)
async def test_what_cannot_be_done_is_one_line(run, folder: Path, words, why: str) -> None:
    ran = run("operate", folder, *words)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: ")
    assert why in ran.err
    assert ran.err.count("\n") == 1


async def test_what_was_put_right_is_told(run, folder: Path) -> None:
    with Ladder.open(folder) as ladder, ladder.store._database.writing() as connection:
        connection.exec_driver_sql("UPDATE ratings SET elo = elo + 10 WHERE bot = 2")
    out = run("operate", folder, "recompute").out
    assert re.fullmatch(r"bob: Elo was \d+\.\d, is \d+\.\d\n", out)
    told = json.loads(run("operate", folder, "recompute", "--json").out)
    assert told == {"moved": False, "elo": [], "comparisons": False}
