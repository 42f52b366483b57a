"""`arena bot history` and `arena ladder graph` as they are read."""

import json
import sys

import pytest

from arena.ladder.ladder import Ladder
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from hokm.outcome import Ending
from tests.arena.ladder.ratings.leagues import play_on, played_ladder


@pytest.fixture
def club(tmp_path):
    names = ["ada", "bob", "علی", "zoe"]
    return played_ladder(tmp_path / "club", names, length=2, cycles=2, unrated=["zoe"])


def test_it_has_every_match_in_order_with_the_elo_after_it(run, club):
    ran = run("bot", "history", "ada", "--ladder", club)
    assert (ran.status, ran.err) == (0, "")
    first, second, *_ = ran.out.splitlines()
    assert first == "ada 1.0 (o-ada)"
    answer = json.loads(run("ladder", "standings", club, "--json").out)
    [row] = [row for row in answer["rows"] if row["bot"] == "ada"]
    assert second.startswith(f"rank {row['rank']} (")
    assert f"Elo {row['elo']:.1f}" in second
    told = [line for line in ran.out.splitlines() if line.startswith("ev1/")]
    assert len(told) == 6
    assert f" {row['elo']:.1f}" in [line for line in told if "zoe" not in line][-1]
    assert all("(" in line for line in told if "~zoe" in line)
    assert "(in brackets: moves no rating)" in ran.out
    assert f"\nrecords: {club / 'records'}\n" in ran.out
    assert "n/a" not in ran.out


def test_json_has_ratings_by_round_and_matches_with_their_records(run, club):
    answer = json.loads(run("bot", "history", "علی", "--ladder", club, "--json").out)
    assert (answer["bot"], answer["owner"]) == ("علی", "o-علی")
    assert len(answer["ratings"]) == 4
    assert answer["ratings"][-1]["elo"] == pytest.approx(answer["standing"]["elo"])
    assert [one["rated"] for one in answer["matches"]].count(False) == 2
    for one in answer["matches"]:
        assert one["record"].startswith(str(club / "records"))
        [other] = one["against"]
        expected = (other["difference"] > 0) - (other["difference"] < 0)
        assert other["score"] == {1: "won", 0: "drawn", -1: "lost"}[expected]
        assert sum(other["boards"].values()) == 2
    assert answer["void"] == []


def test_what_was_void_is_said_below(run, club):
    faults = {(f"ev2/r{r}/ada~bob", 1): (Ending.HOST_FAULT, None) for r in range(7, 10)}
    with Ladder.open(club) as ladder:
        play_on(ladder, cycles=1, runner=InProcessRunner(faults=faults))
    ran = run("bot", "history", "bob", "--ladder", club)
    assert "~bob attempt 1: void (HOST_FAULT: HOST_FAULT on order)" in ran.out


def test_a_bot_without_a_match_has_no_table(run, club, tmp_path, make_bot):
    run("ladder", "add", club, make_bot("eve"))
    ran = run("bot", "history", "eve", "--ladder", club)
    assert (ran.status, len(ran.out.splitlines())) == (0, 2)
    assert ran.out.splitlines()[1].startswith("no rank yet, Elo n/a")


def test_a_graph_is_drawn_beside_what_is_printed(run, club, tmp_path):
    file = tmp_path / "ada.svg"
    ran = run("bot", "history", "ada", "--ladder", club, "--graph", file)
    assert ran.status == 0
    assert "ada in club (4p-boards-2)" in file.read_text(encoding="utf-8")


def test_a_graph_of_a_ladder_has_its_best_bots(run, club, tmp_path):
    assert run("ladder", "graph", club, tmp_path / "all.svg").status == 0
    text = (tmp_path / "all.svg").read_text(encoding="utf-8")
    assert all(name in text for name in ("ada", "bob", "علی"))
    assert "zoe" not in text
    assert "the best" not in text
    assert run("ladder", "graph", club, tmp_path / "best.svg", "--top", 2).status == 0
    text = (tmp_path / "best.svg").read_text(encoding="utf-8")
    assert "club (4p-boards-2): the best 2 of 3" in text
    assert run("ladder", "graph", club, tmp_path / "all.png").status == 0


def test_what_cannot_be_drawn_is_said(run, club, tmp_path):
    ran = run("ladder", "graph", club, tmp_path / "club.pdf")
    assert ran.status == 2
    assert "end its name in .svg or .png" in ran.err
    ran = run("bot", "history", "ada", "--ladder", club, "--graph", tmp_path / "club")
    assert (ran.status, ran.out) == (2, "")
    Ladder.init(tmp_path / "new", Settings.of("new")).close()
    ran = run("ladder", "graph", tmp_path / "new", tmp_path / "new.svg")
    assert ran.status == 2
    assert "has no ratings to draw yet" in ran.err


def test_without_matplotlib_it_is_said_how_to_get_it(run, club, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "arena.graph", raising=False)
    monkeypatch.delattr("arena.graph", raising=False)
    ran = run("ladder", "graph", club, tmp_path / "club.svg")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "error: arena ladder graph needs matplotlib; install what goes with it: "
        "pip install 'hokm-arena[graph]'\n"
    )
    assert run("bot", "history", "ada", "--ladder", club).status == 0
