"""`arena play` as its users see it: who sits where, what is kept, what is told at the end.

Nobody is asked anything here: the runner is a double, and plays for the person as well.
"""

import errno

import pytest

from arena.cli import sitting
from hokm.notation import parse_hand
from hokm.outcome import Ending
from hokm.records import Format, Policy, load, verify


@pytest.fixture
def played(run, runner, tmp_path):
    """Plays, and gives what was printed and the record."""

    def played(*words: object):
        file = tmp_path / "game.json"
        ran = run("play", "--seed", "s", "--record", file, "-o", "target_points=1", *words)
        assert ran.status == 0, ran.err
        return ran, load(file)

    return played


def names(record):
    return [record.entrants[index].name for index in record.rooms[0].seating]


def test_a_person_plays_a_race_with_the_house_in_one_room(played):
    ran, record = played()
    assert names(record) == ["person", "house", "house", "house"]
    assert ran.err == "house takes every seat that is left\n"
    assert (record.format, record.policy, record.games) == (Format.CLASSIC, Policy.CASUAL, 1)
    assert len(record.rooms) == 1
    assert [entrant.is_remote for entrant in record.entrants] == [True, False, False, False]
    assert list(verify(record)) == []


def test_bots_take_the_other_seats_in_order_and_the_last_one_all_that_are_left(played, make_bot):
    bots = [word for name in ("ada", "bob") for word in ("--with", make_bot(name))]
    ran, record = played(*bots, "--seat", 1, "--name", "سارا")
    assert names(record) == ["ada", "سارا", "bob", "bob"]
    assert "bob takes every seat that is left" in ran.err
    ran, record = played(*bots, "--players", 3, "--seat", 2)
    assert (names(record), ran.err) == (["ada", "bob", "person"], "")
    assert names(played("--players", 2, *bots[:2], "--seat", 1)[1]) == ["ada", "person"]


def test_at_the_end_it_is_said_how_to_see_it_again_and_how_to_paste_it(played, tmp_path):
    ran, record = played()
    file = tmp_path / "game.json"
    assert f"record: {file}\nsee it again: arena replay {file}\n" in ran.out
    rules, hand = parse_hand(ran.out[ran.out.index("\n  hokm 4 race ") :])
    assert rules == record.rules
    assert hand.plays == record.rooms[0].games[0].hands[-1].plays


def test_boards_are_played_once_each_and_counted(run, runner, tmp_path):
    file = tmp_path / "boards.json.gz"
    ran = run("play", "--format", "boards", "--boards", 3, "--players", 2, "--record", file)
    record = load(file)
    assert (ran.status, record.games, len(record.rooms)) == (0, 3, 1)
    first, second = record.score
    assert f"points: person (from elsewhere) {first}, house {second}\n" in ran.out
    assert list(verify(record)) == []


def test_a_record_that_nobody_named_a_file_for_goes_where_such_are_kept(run, runner, tmp_path):
    assert run("play", "-o", "target_points=1").status == 0
    [file] = (tmp_path / "data/hokm-arena/games").iterdir()
    assert file.name.endswith(f"-{load(file).commitment.hex()[:8]}.json.gz")


def test_the_last_hand_is_offered_although_the_record_cannot_be_kept(run, runner, monkeypatch):
    def full(file, record):
        raise OSError(errno.ENOSPC, "No space left on device", str(file))

    monkeypatch.setattr(sitting, "save", full)
    ran = run("play", "-o", "target_points=1")
    assert ran.status == 1
    assert ran.err.splitlines()[-1].startswith("error: ")
    assert "record: " not in ran.out
    assert "\n  hokm 4 race " in ran.out


def test_nothing_is_kept_of_a_game_without_a_card(run, runner, tmp_path):
    runner.fault = (Ending.STOPPED, None)
    ran = run("play")
    assert (ran.status, ran.out) == (1, "no card was dealt, and nothing is kept\n")
    assert not (tmp_path / "data").exists()


def test_faults_of_bots_are_told_with_where_their_logs_are(played, runner):
    runner.troubled = (1,)
    ran, _ = played()
    assert "fault: house CRASH (room 1, seat 1, game 3)" in ran.err
    assert "\nlogs of the bots: " in ran.err


def test_nothing_is_told_of_logs_where_the_fault_is_the_persons(played, runner):
    runner.troubled = (0,)
    ran, _ = played()
    assert "fault: person CRASH" in ran.err
    assert "logs of the bots" not in ran.err


MISUSES = {
    "--players 2 --seat 2": "--seat 2: this table has seats 0 to 1",
    "--players 2 --with house --with greedy": "--with: 2 bots for 1 seats",
    "--name a/b": "--name a/b: the name",
    "--boards 2": "--boards does not count races",
    "--format boards --games 2": "--games counts races",
    "--with nobody": "nobody",
    "--record here.txt": "a record's name ends in .json or .json.gz",
    "--players 5": "--players",
}


@pytest.mark.parametrize("words", MISUSES)
def test_a_misuse_is_one_line_that_says_what_would_do(run, runner, words):
    ran = run("play", *words.split())
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert MISUSES[words] in ran.err
    assert not runner.played
