"""When `arena replay` is a program, and what it is given to show."""

import io
import sys

import pytest

from arena.cli import stepping
from arena.ladder.matches.scores import score
from arena.tui.reel import At, Kind
from hokm.records import Format, save
from tests.arena.cli.test_replay import HAND
from tests.hokm.records.conftest import make_match_record


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def sit_down(monkeypatch):
    """From here on there is a terminal; pytest has its own streams between a fixture and a test."""

    def sit_down() -> Terminal:
        streams = {name: Terminal() for name in ("stdin", "stdout", "stderr")}
        for name, stream in streams.items():
            monkeypatch.setattr(sys, name, stream)
        monkeypatch.setenv("TERM", "xterm")
        return streams["stderr"]

    return sit_down


@pytest.fixture
def shown(monkeypatch):
    """What the program was given, in place of a program."""
    given = []
    monkeypatch.setattr(stepping, "is_possible", lambda: True)
    monkeypatch.setattr(stepping, "step_through", lambda reel, **how: given.append((reel, how)))
    return given


@pytest.mark.parametrize("piped", ["stdin", "stdout", "stderr"])
def test_it_is_possible_with_a_terminal_on_all_sides(sit_down, monkeypatch, piped):
    sit_down()
    assert stepping.is_possible()
    monkeypatch.setattr(sys, piped, io.StringIO())
    assert not stepping.is_possible()


def test_it_is_not_on_a_terminal_that_can_do_nothing(sit_down, monkeypatch):
    sit_down()
    monkeypatch.setenv("TERM", "dumb")
    assert not stepping.is_possible()


def test_where_a_package_is_missing_it_is_said_which_and_all_is_printed(sit_down, monkeypatch):
    stderr = sit_down()
    monkeypatch.setitem(sys.modules, "textual", None)
    assert not stepping.is_possible()
    assert stderr.getvalue() == "to step through it: pip install 'hokm-arena[tui]'\n"


def test_the_games_that_were_chosen_are_shown_from_the_hand_on_that_was(run, shown, tmp_path):
    file = tmp_path / "match.json"
    options = {"target_points": "2"}
    save(file, make_match_record(kind=Format.CLASSIC, options=options))
    ran = run("replay", file, "--room", 2, "--hand", 2, "--seat", 1)
    assert (ran.status, ran.out) == (0, "")
    [(reel, how)] = shown
    assert {tape.room for tape in reel.tapes} == {2}
    assert (how["hand"], how["seat"]) == (2, 1)
    moment = reel.moment(reel.of_hand(0, how["hand"]))
    assert (moment.kind, moment.hand) == (Kind.DEAL, 2)


def test_the_title_says_whose_lost_boards_these_are(run, shown, tmp_path):
    file = tmp_path / "match.json"
    record = make_match_record(games=4)
    save(file, record)
    loser = next(entrant for entrant in (0, 1) if score(record).lost(entrant))
    name = record.entrants[loser].name
    assert run("replay", file, "--lost", name).status == 0
    [(reel, _)] = shown
    assert reel.title == f"{record.match}, lost by {name}"
    assert {tape.number for tape in reel.tapes} == set(score(record).lost(loser))


def test_pasted_hands_are_shown_too(run, shown, tmp_path):
    file = tmp_path / "hand.txt"
    file.write_text(HAND + HAND, encoding="utf-8")
    assert run("replay", file).status == 0
    [(reel, _)] = shown
    assert len(reel.tapes) == 2
    assert reel.title == str(file)
    assert reel.moment(reel.jump(At(0, 0), "2.3")).trick == 3


@pytest.mark.parametrize("word", ["--plain", "--text"])
def test_what_is_to_be_printed_is_printed_there_too(run, shown, tmp_path, word):
    file = tmp_path / "hand.txt"
    file.write_text(HAND, encoding="utf-8")
    ran = run("replay", file, word)
    assert (ran.status, shown) == (0, [])
    assert ran.out
