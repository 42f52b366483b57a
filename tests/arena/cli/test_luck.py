"""`arena luck` as its users see it."""

import json
from dataclasses import replace

import pytest

from arena.ladder.ratings.luck import CONSTANTS, REFERENCE_DIGEST
from hokm.records import load, save


@pytest.fixture
def record(run, runner, make_bot, tmp_path):
    file = tmp_path / "match.json"
    run("match", make_bot("a"), make_bot("b"), "--boards", 4, "--seed", "s", "--record", file)
    return file


@pytest.fixture
def stopped(record, tmp_path):
    """The same match, of which the second room never played."""
    file = tmp_path / "stopped.json"
    whole = load(record)
    save(file, replace(whole, rooms=whole.rooms[:1], seeds=()))
    return file


def test_raw_luck_and_adjusted_stand_side_by_side(run, stopped):
    ran = run("luck", stopped)
    assert (ran.status, ran.err) == (0, "")
    assert "1 record, 4 players, boards" in ran.out
    assert "luck-v1: adjusted = points - luck" in ran.out
    answer = json.loads(run("luck", stopped, "--json").out)
    first = answer["entrants"][0]
    row = next(line for line in ran.out.splitlines() if line.startswith("a "))
    assert row.split()[1] == "4"
    assert f"{first['raw']['value']:+.2f} ± {first['raw']['error']:.2f}" in row
    assert f"{first['adjusted']['value']:+.2f} ± {first['adjusted']['error']:.2f}" in row
    assert f"{first['luck']:+.2f}" in row
    assert "4 hands whose seed is not revealed" in ran.out
    assert "played in every room" not in ran.out


def test_json_has_the_version_the_constants_and_the_reference(run, stopped):
    answer = json.loads(run("luck", stopped, "--json").out)
    assert (answer["version"], answer["reference"]) == ("luck-v1", REFERENCE_DIGEST)
    assert answer["beta"] == CONSTANTS[4].beta
    assert answer["expected"] == list(CONSTANTS[4].expected)
    assert (answer["games"], answer["doubled"], answer["unproved"]) == (4, 0, 4)
    assert "by_game" not in answer
    assert [bot["name"] for one in answer["entrants"] for bot in one["bots"]] == ["a", "b"]
    assert {"hands", "units", "correlation", "variance_ratio"} < {*answer["entrants"][0]}


def test_of_doubled_boards_it_says_which_comparison_is_better_and_why(run, record):
    ran = run("luck", record)
    assert "4 of 4 boards were played in every room: there all sides had the same cards" in ran.out
    assert "the comparison by board (arena match, arena ladder) is the better one" in ran.out
    assert "1.00 : 1" in ran.out


def test_games_are_shown_when_asked_for(run, record, stopped):
    assert "room" not in run("luck", stopped).out
    lines = run("luck", record, "--games").out.splitlines()
    heading = next(i for i, line in enumerate(lines) if line.startswith("bot"))
    assert lines[heading].split()[1:] == ["game", "room", "hands", "points", "luck", "adjusted"]
    shown = [line.split() for line in lines[heading + 2 : heading + 10]]
    # Of two sides the first, game by game, in both rooms.
    assert [one[:4] for one in shown] == [
        ["a", str(game), str(room), "1"] for game in range(1, 5) for room in (1, 2)
    ]
    for one in shown:
        points, its, adjusted = map(float, one[4:])
        assert adjusted == pytest.approx(points - its, abs=0.11)
    answer = json.loads(run("luck", record, "--games", "--json").out)
    assert len(answer["by_game"]) == 16
    assert sum(one["raw"] for one in answer["by_game"]) == 0


def test_of_races_it_says_that_races_won_are_not_adjusted(run, runner, make_bot, tmp_path):
    file = tmp_path / "races.json"
    words = ["--format", "classic", "--games", 2, "--seed", "s", "--record", file]
    run("match", make_bot("a"), make_bot("b"), *words)
    ran = run("luck", file)
    assert "points a hand, given who was hakem; races won are not adjusted" in ran.out
    assert "2 of 2 pairs were played in every room" in ran.out
    assert "n/a: there is no error bar of fewer than 3 pairs" in ran.out


def test_several_records_are_told_apart_by_game_and_added_up(run, stopped, runner, make_bot):
    other = stopped.parent / "other.json"
    bots = [stopped.parent / "bots" / name for name in "ab"]
    run("match", *bots, "--boards", 3, "--seed", "t", "--record", other)
    answer = json.loads(run("luck", stopped, other, "--json").out)
    assert [one["hands"] for one in answer["entrants"]] == [10, 10]
    told = run("luck", stopped, other, "--games").out.splitlines()
    assert {f"record 1: {stopped}", f"record 2: {other}"} <= {*told}
    heading = next(line for line in told if line.startswith("bot"))
    assert heading.split()[1:4] == ["record", "game", "room"]
    assert [line.split()[1] for line in told if line.startswith("a ")][:7] == [*"1111222"]


def test_what_cannot_be_adjusted_is_one_line_that_says_why(run, runner, make_bot, tmp_path):
    file = tmp_path / "kot.json"
    bots = make_bot("a"), make_bot("b")
    run("match", *bots, "--boards", 1, "-o", "points_kot=3", "--record", file)
    ran = run("luck", file)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"error: {file}: luck-v1 has no constants for points_kot=3")
    assert len(ran.err.splitlines()) == 1


def test_a_file_that_is_no_record_and_the_same_one_twice(run, record, tmp_path):
    torn = tmp_path / "torn.json"
    torn.write_bytes(record.read_bytes()[:100])
    assert run("luck", torn).err.startswith(f"error: {torn}: ")
    ran = run("luck", record, record)
    assert (ran.status, ran.out) == (1, "")
    assert "is there twice" in ran.err


def test_a_match_without_a_finished_hand_has_no_score(run, record, tmp_path):
    file = tmp_path / "empty.json"
    whole = load(record)
    games = tuple(replace(game, hands=(), outcome=None) for game in whole.rooms[0].games)
    save(file, replace(whole, rooms=(replace(whole.rooms[0], games=games),)))
    ran = run("luck", file)
    assert (ran.status, ran.err) == (0, "")
    assert "no hand was played to its end" in ran.out


def test_who_meets_itself_is_told_apart(run, runner, make_bot, tmp_path):
    file = tmp_path / "itself.json"
    bot = make_bot("a")
    run("match", bot, bot, "--boards", 3, "--record", file)
    answer = json.loads(run("luck", file, "--json").out)
    assert [one["entrant"] for one in answer["entrants"]] == ["a #1", "a #2"]


def test_a_bar_of_a_run_is_a_number_in_json_or_null(run, stopped):
    whole = load(stopped)
    room = whole.rooms[0]
    save(stopped, replace(whole, rooms=(replace(room, games=room.games[:2]),)))
    answer = json.loads(run("luck", stopped, "--json").out)
    assert answer["entrants"][0]["raw"]["error"] is None
    assert "± n/a" in run("luck", stopped).out
