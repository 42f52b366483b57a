"""`arena match` as its users see it: what may be asked, and what is answered."""

import errno
import json
import os
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from hokm.cards import CARDS, cards_text
from hokm.deck import commitment, secret_from_text
from hokm.notation import parse_hand
from hokm.outcome import Ending
from hokm.records import load, substance_digest, verify
from tests.arena.cli import conftest


def test_the_answer_in_json_is_one_object_with_all_there_is_to_know(run, runner, make_bot):
    ran = run("match", make_bot("sara"), make_bot("علی"), "--boards", 3, "--seed", "a", "--json")
    assert (ran.status, ran.err) == (0, "")
    answer = json.loads(ran.out)
    secret = secret_from_text("a")
    assert answer["seed"] == secret.hex()
    assert answer["commitment"] == commitment(secret).hex()
    assert answer["match"] == f"local/{commitment(secret).hex()[:16]}/sara~علی"
    assert [bot["name"] for bot in answer["entrants"]] == ["sara", "علی"]
    assert sum(answer["score"].values()) == answer["boards"] == answer["counted"] == 3
    assert (answer["players"], answer["format"], answer["scale"]) == (4, "boards", "board-sign")
    assert answer["endings"] == {"COMPLETED": 6}
    assert answer["complete"] is True
    assert answer["decisions"] == sum(bot["decisions"] for bot in answer["entrants"]) > 0
    assert answer["options"]["pause_after"] == "hakem"
    assert answer["record"] is None


def test_figures_that_are_undefined_or_infinite_are_null(run, runner, make_bot):
    answer = json.loads(
        run("match", make_bot("a"), make_bot("b"), "--boards", 1, "--seed", "x", "--json").out
    )
    # One board has no spread, so no error; and none of this is NaN, which is no JSON.
    assert answer["elo"]["error"] is answer["nelo"]["value"] is answer["points_error"] is None


def test_the_same_seed_deals_the_same_match(run, runner, make_bot):
    words = ("match", make_bot("a"), make_bot("b"), "--boards", 2, "--json", "--seed")
    first, again, other = (json.loads(run(*words, seed).out) for seed in ("1", "1", "2"))
    assert first["substance_digest"] == again["substance_digest"] != other["substance_digest"]
    assert json.loads(run(*words, first["seed"]).out)["match"] == first["match"]


def test_without_a_seed_no_two_matches_are_the_same(run, runner, make_bot):
    words = ("match", make_bot("a"), make_bot("b"), "--boards", 1, "--json")
    assert json.loads(run(*words).out)["seed"] != json.loads(run(*words).out)["seed"]


@pytest.mark.parametrize(
    ("bots", "players", "seats"), [(2, None, 4), (2, 2, 2), (3, None, 3), (4, None, 4)]
)
def test_the_number_of_bots_says_how_many_play(run, runner, make_bot, bots, players, seats):
    chosen = [] if players is None else ["--players", players]
    folders = [make_bot(f"bot{index}") for index in range(bots)]
    ran = run("match", *folders, *chosen, "--boards", 1)
    assert ran.status == 0
    assert [plan.rules.players for plan in runner.played] == [seats]


def test_three_bots_are_compared_pair_by_pair(run, runner, make_bot):
    folders = [make_bot(name) for name in "abc"]
    answer = json.loads(run("match", *folders, "--boards", 4, "--json").out)
    assert [(pair["a"], pair["b"]) for pair in answer["pairs"]] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert all(sum(pair["score"].values()) == 4 for pair in answer["pairs"])
    assert "score" not in answer


def test_of_four_bots_the_first_and_third_are_one_side(run, runner, make_bot):
    folders = [make_bot(name) for name in "abcd"]
    ran = run("match", *folders, "--boards", 2)
    assert ran.out.startswith("a + c against b + d: 4 players, 2 boards\n")


def test_races_are_counted_in_pairs(run, runner, make_bot):
    words = ("match", make_bot("a"), make_bot("b"), "--format", "classic", "--games", 2)
    answer = json.loads(run(*words, "--option", "target_points=2", "--json").out)
    assert (answer["games"], answer["scale"]) == (2, "race-pair")
    assert answer["points_per_board"] is answer["points_error"] is None
    assert answer["options"]["target_points"] == "2"
    assert "points/board" not in run(*words, "-o", "target_points=2").out


FOUR = ("--format", "classic", "--option", "teams=second_ace", "-o", "target_points=2")


def test_with_drawn_partners_each_bot_is_told_what_it_won(run, runner, make_bot, tmp_path):
    file = tmp_path / "drawn.json"
    words = ("match", *map(make_bot, "abcd"), *FOUR, "--games", 3, "--seed", 7)
    answer = json.loads(run(*words, "--json", "--record", file).out)
    assert sum(answer["gained"]) == 2 * 6
    assert (answer["scale"], answer["counted"]) == (None, 3)
    assert not {"score", "elo", "pairs", "los"} & answer.keys()
    assert [bot["side"] for bot in answer["entrants"]] == [0, 1, 2, 3]
    assert load(file).score == tuple(answer["gained"])
    assert run("verify", file).status == 0
    table = run(*words).out
    assert table.startswith("a, b, c, d: partners drawn anew, 3 pairs of races\n")
    rows = [line.split() for line in table.splitlines() if line[:2] in ("a ", "b ", "c ", "d ")]
    assert rows[:4] == [
        [name, str(won), "6"] for name, won in zip("abcd", answer["gained"], strict=True)
    ]
    assert "Elo" not in table


def test_a_cut_and_modes_are_recorded_and_verify(run, runner, make_bot, tmp_path):
    file = tmp_path / "cut.json.gz"
    options = ("-o", "cut=on", "-o", "modes=suit,sar,nar,tak_nar", "-o", "target_points=2")
    words = ("match", make_bot("a"), make_bot("b"), "--format", "classic", "--games", 1)
    assert run(*words, *options, "--record", file).status == 0
    assert run("verify", file).status == 0
    hands = [hand for room in load(file).rooms for game in room.games for hand in game.hands]
    assert {hand.cut for hand in hands} == {26}


def test_partners_are_drawn_by_four_bots_in_unrated_races(run, runner, make_bot):
    four, two = [make_bot(name) for name in "abcd"], [make_bot("e"), make_bot("f")]
    for words, says in (
        ((*two, *FOUR), "teams=second_ace seats four single entrants, not 2"),
        ((*four, *FOUR, "--policy", "rated"), "teams=second_ace moves no rating"),
        ((*four, *FOUR, "-o", "first_hakem=random"), "it needs first_hakem=ace_draw, not random"),
        ((*four, "-o", "teams=second_ace"), "teams has no meaning with boards"),
    ):
        ran = run("match", *words)
        assert (ran.status, ran.out, runner.played) == (2, "", [])
        assert says in ran.err


def test_the_table_names_the_scale_and_shows_bars(run, runner, make_bot):
    out = run("match", make_bot("a"), make_bot("b"), "--boards", 8, "--seed", "s").out
    assert "a against b: 4 players, 8 boards" in out
    assert "± at 95 %; Elo on the scale board-sign" in out
    assert "games       16 COMPLETED" in out
    assert secret_from_text("s").hex() in out
    assert "nan" not in out.lower().split()


def test_clock_and_policy_are_as_asked(run, runner, make_bot):
    run(
        "match",
        make_bot("a"),
        make_bot("b"),
        "--boards",
        1,
        "--move-time",
        0.5,
        "--bank",
        0,
        "--policy",
        "rated",
    )
    (plan,) = runner.played
    assert (plan.clock.move_seconds, plan.clock.bank_seconds) == (0.5, 0)
    assert plan.policy.value == "rated"


def test_a_match_has_a_masking_tick_where_it_is_asked_for(run, runner, make_bot):
    bots = make_bot("a"), make_bot("b")
    run("match", *bots, "--boards", 1)
    run("match", *bots, "--boards", 1, "--tick", 0.02)
    assert [plan.tick_seconds for plan in runner.played] == [0.0, 0.02]


def test_as_many_games_at_once_are_planned_as_asked(run, runner, make_bot):
    a, b = make_bot("a"), make_bot("b")
    for bot, concurrent in ((a, 16), (b, 64)):
        with (bot / "bot.toml").open("a") as manifest:
            manifest.write(f"concurrent = {concurrent}\n")
    assert run("match", a, b, "--boards", 1).err == ""
    assert run("match", a, b, "--boards", 1, "--at-once", 16).err == ""
    assert [plan.at_once for plan in runner.played] == [1, 16]
    # More than a bot says it takes is not an error, but nobody should wonder.
    assert run("match", a, b, "--boards", 1, "--at-once", 17).err == (
        "games at once in a room: 16, not 17, since a takes no more (concurrent in its bot.toml)\n"
    )


def test_a_bot_may_play_itself_and_two_of_a_name_are_told_apart(run, runner, make_bot):
    old, new = make_bot("mine", under="old"), make_bot("mine", version="1.1", under="new")
    assert run("match", old, new, "--boards", 1).out.startswith("mine 1.0 against mine 1.1")
    assert run("match", old, old, "--boards", 1).out.startswith("mine #1 against mine #2")


@pytest.mark.parametrize("name", ["match.json", "match.json.gz"])
def test_a_record_is_written_where_asked_and_verifies(run, runner, make_bot, tmp_path, name):
    file = tmp_path / name
    words = ("match", make_bot("a"), make_bot("b"), "--boards", 2, "--record", file, "--json")
    answer = json.loads(run(*words).out)
    assert answer["record"] == str(file)
    assert answer["substance_digest"] == substance_digest(load(file))
    assert run("verify", file).status == 0


def test_a_match_that_was_stopped_is_marked_and_fails(run, runner, make_bot):
    runner.fault = (Ending.STOPPED, None)
    words = ("match", make_bot("a"), make_bot("b"), "--boards", 2)
    ran = run(*words)
    assert ran.status == 1
    assert "NOT COMPLETE (STOPPED): 0 of 2 boards finished" in ran.out
    answer = json.loads(run(*words, "--json").out)
    assert (answer["complete"], answer["spoilt"], answer["los"]) == (False, "STOPPED", None)


def test_a_bot_that_failed_is_reported_with_the_evidence(run, runner, make_bot, tmp_path):
    runner.troubled = [1]
    ran = run("match", make_bot("a"), make_bot("b"), "--boards", 1)
    assert ran.status == 0  # the match was played; what the fault costs is in its result
    lines = ran.err.splitlines()
    assert lines[:7] == [
        "fault: b CRASH (room 1, seat 1, game 3)",
        "  its stream broke off (exit code 1)",
        "  | Traceback",
        "  | ValueError: [bold]no[/bold] such card",
        "  its log: logs/room1-seat0.log",
        "  run it by hand: cd here && python bot.py",
        lines[6],
    ]
    kept = Path(lines[6].removeprefix("logs of the bots: "))
    assert kept.is_dir()
    assert kept.is_relative_to(tmp_path)


@pytest.mark.parametrize(("faults", "status"), [(1, 0), (2, 0), (3, 1)])
def test_a_match_that_a_fault_of_the_host_voids_is_played_again_at_most_twice(
    run, runner, make_bot, tmp_path, faults, status
):
    match = f"local/{commitment(secret_from_text('x')).hex()[:16]}/a~b"
    runner.faults = {
        (match, attempt): (Ending.HOST_FAULT, None) for attempt in range(1, faults + 1)
    }
    file = tmp_path / "match.json"
    ran = run("match", make_bot("a"), make_bot("b"), "--boards", 1, "--seed", "x", "--record", file)
    assert ran.status == status
    attempts = [plan.attempt for plan in runner.played]
    assert attempts == list(range(1, min(faults + 1, 3) + 1))
    again = "void (HOST_FAULT: HOST_FAULT on order), it is played again with other boards"
    assert ran.err.splitlines().count(again) == len(attempts) - 1
    record = load(file)
    assert (record.match, record.attempt) == (match, attempts[-1])
    assert verify(record) == ()
    assert ("NOT COMPLETE (HOST_FAULT)" in ran.out) is (status == 1)


def test_one_fault_again_and_again_is_told_twice_and_counted(run, runner, make_bot):
    runner.troubled = [0] * 10 + [1]
    ran = run("match", make_bot("a"), make_bot("b"), "--boards", 1)
    assert ran.err.count("fault: a CRASH (") == 2
    assert "fault: a CRASH: 8 more faults like these" in ran.err
    assert ran.err.count("fault: b CRASH (") == 1


def test_the_fault_that_loses_the_rest_is_told_however_many_came_before(run, runner, make_bot):
    runner.troubled = [0] * 5
    words = ("match", make_bot("a"), make_bot("b"), "--boards", 1)
    says = "incident 3 of its side in this match: it is not started again"
    assert says not in run(*words).err
    runner.loser = 0
    ran = run(*words)
    assert ran.err.count("fault: a CRASH (") == 3
    assert ran.err.count(says) == 1
    assert "fault: a CRASH: 3 more faults like these" in ran.err


def test_the_faults_that_are_told_can_be_seen_in_the_record(run, runner, make_bot, tmp_path):
    runner.troubled = [0, 0, 1]
    file = tmp_path / "the match.json"
    words = ("match", make_bot("a"), make_bot("b"), "--boards", 3)
    lines = run(*words, "--record", file).err.splitlines()
    offered = [line for line in lines if "arena replay" in line]
    assert offered == [f"see it happen: arena replay '{file}' --room 1 --game 3"]
    shown = run(*shlex.split(offered[0])[4:])
    assert shown.status == 0
    assert "room 1, game 3\n" in shown.out
    again = [line for line in lines if "arena repro" in line]
    a, b = (tmp_path / "bots" / name for name in "ab")
    assert again == [
        f"have it happen again: arena repro '{file}' --room 1 --seat {seat} --game 3 --bot {bot}"
        for seat, bot in enumerate((a, b))
    ]
    assert "arena replay" not in run(*words).err


def test_a_fault_is_told_with_the_hand_to_paste(run, runner, make_bot, monkeypatch):
    runner.troubled = [0]
    _, hand = parse_hand("hokm 4 hakem 2\ndeck " + cards_text(CARDS) + "\ntrump S\n")
    honest = conftest.trouble_of
    monkeypatch.setattr(
        conftest, "trouble_of", lambda plan, index=0: replace(honest(plan, index), hand=hand)
    )
    lines = run("match", make_bot("a"), make_bot("b"), "--boards", 1).err.splitlines()
    start = lines.index("  the hand so far, to paste into `arena replay -`:")
    assert lines[start + 1] == "    hokm 4 hakem 2"
    assert "    trump S" in lines[start:]


def test_logs_of_a_match_without_faults_are_gone(run, runner, make_bot, tmp_path):
    assert run("match", make_bot("a"), make_bot("b"), "--boards", 1).err == ""
    assert not list(tmp_path.glob("hokm-arena-*"))


def test_a_folder_for_logs_is_made_and_kept(run, runner, make_bot, tmp_path):
    folder = tmp_path / "deep" / "logs"
    run("match", make_bot("a"), make_bot("b"), "--boards", 1, "--logs", folder)
    assert folder.is_dir()


MISUSES = {
    "--players 3": "a match with 3 players has 3 entrants",
    "--players 9": "2, 3 or 4",
    "--games 3": "give --boards, or --format classic",
    "--format classic --boards 3": "give --games, or --format boards",
    "--format quick": "--format",
    "--boards 0": "--boards",
    "--boards 10001": "--boards",
    "--bords 3": "--boards",
    "--option pause_after": "NAME=VALUE",
    "--option pause_after=x": "hakem, first_round or right_opponent",
    "--option nothing=x": "there is no option 'nothing'",
    "--option target_points=3": "no meaning with boards",
    "--option play_out=on -o play_out=off": "there twice",
    "--move-time nan": "--move-time",
    "--move-time 0": "--move-time",
    "--bank -1": "--bank",
    "--tick 1.1": "--tick is from 0 (none) to 1 second",
    "--tick nan": "--tick",
    "--hello-time 1e9": "--hello-time",
    "--concurrency 0": "--concurrency",
    "--at-once 0": "--at-once",
    "--at-once 1025": "--at-once",
    "--record there.txt": ".json or .json.gz",
    "--record no/such/folder.json": "no/such/folder.json: No such file or directory; name a file",
    "--policy none": "--policy",
}


@pytest.mark.parametrize("words", MISUSES)
def test_a_misuse_is_one_line_that_says_what_would_do(run, runner, make_bot, words):
    ran = run("match", make_bot("a"), make_bot("b"), *words.split())
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert MISUSES[words] in ran.err
    assert not runner.played


def test_an_empty_seed_is_no_seed(run, runner, make_bot):
    ran = run("match", make_bot("a"), make_bot("b"), "--seed", "")
    assert (ran.status, runner.played) == (2, [])


@pytest.mark.parametrize("count", [1, 5])
def test_a_match_has_two_to_four_bots(run, runner, make_bot, count):
    ran = run("match", *[make_bot(f"bot{index}") for index in range(count)])
    assert ran.status == 2
    assert ran.err == f"error: a match has two, three or four bots, not {count}\n"


def test_a_word_that_names_nothing_is_a_misuse_and_a_bad_bot_a_failure(run, runner, make_bot):
    good = make_bot("good")
    assert run("match", good, "nobody").status == 2
    (good / "bot.toml").write_text("schema = 1\n")
    ran = run("match", good, good)
    assert ran.status == 1
    assert ran.err.startswith(f"error: {good}/bot.toml: name: is missing; ")


def test_a_bot_that_does_not_play_this_is_refused_before_anything_starts(run, runner, make_bot):
    bot = make_bot("four")
    manifest = bot / "bot.toml"
    manifest.write_text(manifest.read_text().replace("[2, 3, 4]", "[4]"))
    ran = run("match", bot, bot, "--players", 2)
    assert ran.status == 2
    assert "four does not play with 2" in ran.err


def test_a_record_that_cannot_be_written_in_the_end_does_not_take_the_result_with_it(
    run, runner, make_bot, tmp_path, monkeypatch
):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("hokm.records.files.os.fsync", full)
    file = tmp_path / "match.json"
    words = ("match", make_bot("a"), make_bot("b"), "--boards", 1, "--record", file)
    ran = run(*words)
    problem = "No space left on device; make room there, then run the command again"
    assert (ran.status, ran.err) == (1, f"error: {file}: {problem}\n")
    assert ran.out.startswith("a against b: 4 players, 1 board\n")
    assert "\nrecord " not in ran.out
    assert json.loads(run(*words, "--json").out)["record"] is None


def test_a_record_too_long_for_a_file_does_not_take_the_result_with_it(
    run, runner, make_bot, tmp_path, monkeypatch
):
    monkeypatch.setattr("hokm.records.files.LARGEST_BYTES", 1000)
    file = tmp_path / "match.json"
    ran = run("match", make_bot("a"), make_bot("b"), "--boards", 1, "--record", file)
    assert ran.status == 1
    assert ran.err.startswith(f"error: {file}: this record has ")
    assert ran.out.startswith("a against b")


def test_a_record_whose_file_cannot_be_made_is_told_before_anything_is_played(
    run, runner, make_bot, tmp_path
):
    file = tmp_path / ("r" * 250 + ".json")
    ran = run("match", make_bot("a"), make_bot("b"), "--record", file)
    assert (ran.status, ran.out, runner.played) == (2, "", [])
    assert ran.err.startswith(f"error: --record {file}: File name too long; ")
    assert run("match", tmp_path / "bots/a", tmp_path / "no", "--record", tmp_path / "r.json")
    assert not [each for each in tmp_path.iterdir() if each.name.endswith((".part", ".json"))]


def test_names_too_long_for_the_folder_of_their_logs_are_told_before_anything_is_played(
    run, runner, make_bot
):
    longest = ["\U00020000" * 40, "\U00020001" * 40]
    ran = run("match", *map(make_bot, longest))
    assert (ran.status, ran.out, runner.played) == (2, "", [])
    assert ran.err.startswith("error: these bots' names together are too long")
    assert run("match", make_bot("a"), make_bot("\U00020002" * 40), "--boards", 1).status == 0


@pytest.mark.parametrize(("word", "shown"), [("no\nbot", r"no\nbot"), ("\x1b[2J", r"\x1b[2J")])
def test_what_was_typed_is_shown_on_one_line_and_steers_no_terminal(run, make_bot, word, shown):
    ran = run("match", make_bot("a"), word)
    assert ran.status == 2
    assert ran.err.startswith(f"error: {shown}: is neither")
    assert run(word).err.startswith(f"error: No such command '{shown}'")


def test_a_seed_that_is_no_text_and_a_bot_without_a_name_are_misuses(run, runner, make_bot):
    ran = run("match", make_bot("a"), make_bot("b"), "--seed", "\udcff")
    assert (ran.status, ran.err) == (
        2,
        "error: --seed is not UTF-8; give 64 hex digits, or a text\n",
    )
    ran = run("match", make_bot("c"), "")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: a BOT is empty; ")
