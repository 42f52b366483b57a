"""`arena analyse` as its users see it."""

import json

import pytest

from arena.cli import analysing
from hokm.notation import parse_hand
from hokm.solver import is_available

needs_dds = pytest.mark.skipif(not is_available(), reason="the extra `solver` is not installed")


@pytest.fixture
def record(run, runner, make_bot, tmp_path):
    file = tmp_path / "match.json"
    run("match", make_bot("a"), make_bot("b"), "--boards", 1, "--seed", "s", "--record", file)
    return file


@needs_dds
def test_what_decisions_cost_is_printed_by_bot_and_kind_with_the_costliest(run, record, tmp_path):
    picture = tmp_path / "match.svg"
    ran = run("analyse", record, "--samples", 2, "--top", 1, "--out", picture)
    assert (ran.status, ran.err) == (0, "2 hands to analyse\n")
    assert "4 players, 2 hands" in ran.out
    for bot in ("a", "b"):
        rows = [line for line in ran.out.splitlines() if line.startswith(f"{bot} ")]
        assert len(rows) == 1
        assert "declaration" in rows[0]
    assert "over 2 deals that fit it" in ran.out
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    # The last paragraph is a hand that can be pasted, with what it cost as comments.
    text = ran.out[ran.out.index("# room") :]
    assert " cost " in text
    rules, hand = parse_hand(text)
    assert rules.players == 4
    assert hand.result is None
    assert run("analyse", record, "--samples", 2, "--top", 1).out == ran.out


@needs_dds
def test_off_a_terminal_a_line_says_now_and_then_how_far_it_is(run, record, monkeypatch):
    monkeypatch.setattr(analysing, "_SILENCE_SECONDS", 0)
    ran = run("analyse", record, "--samples", 0)
    assert ran.err.splitlines()[1:] == ["1 of 2 analysed", "2 of 2 analysed"]


@needs_dds
def test_json_has_every_moment_and_a_bot_can_be_chosen(run, record):
    whole = json.loads(run("analyse", record, "--json", "--samples", 0).out)
    assert (whole["players"], whole["hands"], whole["samples"]) == (4, 2, 0)
    assert [one["bot"] for one in whole["entrants"]] == ["a", "b"]
    for one in whole["entrants"]:
        own = [moment for moment in whole["moments"] if moment["bot"] == one["bot"]]
        assert one["total"]["choices"] == len(own)
        assert one["total"]["points_lost"] == sum(moment["points_lost"] for moment in own)
        assert one["total"]["fair_points_lost"] is None
    moment = whole["moments"][0]
    assert (
        moment["tricks"][moment["choice"]]
        == max(moment["tricks"].values()) - (moment["tricks_lost"])
    )
    chosen = json.loads(run("analyse", record, "--json", "--samples", 0, "--bot", "b").out)
    assert {moment["bot"] for moment in chosen["moments"]} == {"b"}
    one_room = json.loads(run("analyse", record, "--json", "--samples", 0, "--room", 2).out)
    assert {moment["room"] for moment in one_room["moments"]} == {2}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--bot", "nobody"), "this match was played by a, b"),
        (("--samples", "3"), "an even number"),
        (("--out", "match.txt"), "end its name in .svg or .png"),
        (("--room", "9"), "has no such hand"),
    ],
)
def test_what_cannot_be_meant_is_told(run, record, words, what):
    ran = run("analyse", record, *words)
    assert (ran.status, ran.out) == (2, "")
    assert what in ran.err


def test_without_the_solver_it_is_said_what_to_install(run, record, monkeypatch):
    monkeypatch.setattr("arena.cli.analysing.is_available", lambda: False)
    ran = run("analyse", record)
    assert ran.status == 2
    assert "pip install 'hokm-arena[solver]'" in ran.err
