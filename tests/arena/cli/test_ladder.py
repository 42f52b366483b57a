"""`arena ladder` as its operator sees it."""

import json

import pytest

from hokm.outcome import Ending


@pytest.fixture
def ladder(run, make_bot, tmp_path):
    folder = tmp_path / "club"
    assert run("ladder", "init", folder, "--boards", 2).status == 0
    assert run("ladder", "add", folder, make_bot("sara"), make_bot("علی")).status == 0
    return folder


def test_a_ladder_is_named_after_its_folder_and_keeps_what_was_asked(run, tmp_path):
    folder = tmp_path / "club"
    words = ("--players", 2, "--boards", 5, "--move-time", 0.5, "--anchor", "sara")
    ran = run("ladder", "init", folder, *words)
    assert ran.status == 0
    assert ran.out.startswith("club (2p-boards-5): a ladder in ")
    assert ran.out.endswith("\nanchor sara is not entered yet\n")
    answer = json.loads(run("ladder", "standings", folder, "--json").out)
    assert (answer["ladder"], answer["players"], answer["boards"]) == ("club", 2, 5)
    settings = (folder / "ladder.toml").read_text()
    assert 'anchor = "sara"' in settings
    assert "move_seconds = 0.5" in settings


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--players", "3", "--format", "classic"), "with three players play boards"),
        (("--players", "5"), "by 2, 3 or 4"),
        (("--boards", "0"), "1 to 1000"),
        (("--games", "2"), "--format classic"),
        (("--name", "two words"), "name 'two words' has ' '"),
        (("--option", "points_win=3"), "points"),
        (("--move-time", "inf"), "--move-time"),
        (("--tick", "-1"), "--tick"),
    ],
)
def test_settings_that_no_ladder_can_have_are_a_misuse(run, tmp_path, words, told):
    ran = run("ladder", "init", tmp_path / "club", *words)
    assert ran.status == 2
    assert ran.err.startswith("error: ")
    assert told in ran.err
    assert not (tmp_path / "club").exists()


def test_adding_says_what_came_of_each(run, ladder, make_bot):
    reza = make_bot("reza")
    assert run("ladder", "add", ladder, reza, "--unrated").out == (
        "reza 1.0 (reza): new, unrated\n"
    )
    assert "already in" in run("ladder", "add", ladder, reza).out


def test_adding_a_second_bot_of_an_owner_says_that_the_two_are_not_rated_against_each_other(
    run, ladder, make_bot
):
    ran = run("ladder", "add", ladder, make_bot("reza", owner="sara"))
    assert ran.out == "reza 1.0 (sara): new; of one owner with sara: never rated against it\n"


def test_adding_a_copy_says_who_stands_for_it(run, ladder, make_bot):
    original = make_bot("reza")
    run("ladder", "add", ladder, original)
    copy = make_bot("omid")
    (copy / "bot.py").write_bytes((original / "bot.py").read_bytes())
    ran = run("ladder", "add", ladder, copy)
    assert ran.out == "omid: the same program as reza 1.0 (reza), which stands for both\n"
    assert "omid" not in run("ladder", "standings", ladder).out


def test_a_bot_is_withdrawn_by_name_and_comes_back_when_it_is_added(run, ladder, make_bot):
    reza = make_bot("reza")
    run("ladder", "add", ladder, reza)
    assert run("ladder", "withdraw", ladder, "reza").out == "reza: withdrawn\n"
    assert "R retired (withdrawn)\n" in run("ladder", "standings", ladder).out
    assert "back" in run("ladder", "add", ladder, reza).out
    ran = run("ladder", "withdraw", ladder, "rezza")
    assert ran.status != 0
    assert "rezza: is not entered here; did you mean reza?" in ran.err


def test_a_ladder_by_victory_points_says_so_in_its_name_and_its_legend(
    run, runner, make_bot, tmp_path
):
    folder = tmp_path / "points"
    assert run("ladder", "init", folder, "--boards", 2, "--score", "vp").out.startswith(
        "points (4p-boards-2-vp): "
    )
    run("ladder", "add", folder, make_bot("sara"), make_bot("omid"))
    assert "Ratings by victory points" in run("ladder", "run", folder).out
    ran = run("ladder", "init", tmp_path / "x", "--players", 3, "--score", "vp")
    assert ran.status == 2
    assert "boards between two sides" in ran.err


def test_an_event_that_somebody_wins_says_who(run, runner, ladder, make_bot):
    run("ladder", "add", ladder, make_bot("reza"), make_bot("omid"))
    ran = run("ladder", "run", ladder, "--schedule", "knock-out", "--third")
    assert ran.status == 0
    told = ran.out.splitlines()
    head = [line.split() for line in told].index(["#", "bot", "reached"])
    assert told[head - 2] == "ev1"
    rows = [line.split() for line in told[head + 2 : head + 6]]
    assert sorted(name.strip("\u200e") for _, name, _ in rows) == ["omid", "reza", "sara", "علی"]
    assert [row[0::2] for row in rows] == [
        ["1", "winner"],
        ["2", "final"],
        ["3", "third"],
        ["4", "semi-final"],
    ]
    told = run("ladder", "run", ladder, "--schedule", "swiss").out.splitlines()
    head = [line.split() for line in told].index(["#", "bot", "points", "Buchholz"])
    assert sum(float(line.split()[2]) for line in told[head + 2 : head + 6]) == 6
    answer = json.loads(run("ladder", "run", ladder, "--schedule", "swiss", "--json").out)
    points = [one["points"] for one in answer["ranking"]]
    assert points == sorted(points, reverse=True)
    assert {*answer["ranking"][0]} == {"bot", "points", "buchholz"}
    assert json.loads(run("ladder", "run", ladder, "--json").out)["ranking"] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--schedule", "swiss", "--cycles", 2), "--cycles is for --schedule round-robin or"),
        (("--schedule", "gauntlet"), "needs --seeds NAME"),
        (
            ("--schedule", "gauntlet", "--seeds", "nobody"),
            "nobody runs the gauntlet and is not an active bot: there are sara, علی; take one",
        ),
        (("--schedule", "adaptive"), "needs --matches N"),
        (("--schedule", "lottery"), "lottery"),
        (("--least", 3), "--least is for --schedule adaptive"),
        (
            ("--schedule", "adaptive", "--matches", 9, "--least", 5, "--most", 4),
            "most is 1 or more",
        ),
    ],
)
def test_a_schedule_that_cannot_be_is_told_and_nothing_begins(run, runner, ladder, words, told):
    ran = run("ladder", "run", ladder, *words)
    assert ran.status != 0
    assert told in ran.err
    assert "no event" in run("ladder", "nonce", ladder, "sara", "00" * 32).err


def test_a_schedule_that_three_at_a_table_cannot_play_names_those_that_they_can(
    run, runner, make_bot, tmp_path
):
    folder = tmp_path / "threes"
    run("ladder", "init", folder, "--players", 3, "--boards", 2)
    run("ladder", "add", folder, *map(make_bot, ("sara", "علی", "reza")))
    ran = run("ladder", "run", folder, "--schedule", "swiss")
    assert ran.err == (
        f"error: {folder}: a Swiss event is for matches of two, not of 3; take --schedule "
        "round-robin, adaptive, or gauntlet without --near\n"
    )


def test_if_one_of_them_is_no_bot_none_is_added(run, ladder, make_bot):
    reza, bad = make_bot("reza"), make_bot("bad")
    assert run("ladder", "add", ladder, reza, "nobody").status == 2
    (bad / "bot.toml").write_text("schema = 1\n")
    ran = run("ladder", "add", ladder, reza, bad)
    assert (ran.status, ran.out) == (1, "")
    assert "reza" not in run("ladder", "standings", ladder).out


def test_running_binds_the_deals_first_and_prints_the_standings_last(run, runner, ladder):
    ran = run("ladder", "run", ladder, "--cycles", 2)
    assert ran.status == 0
    first, *rounds, last = ran.err.splitlines()
    assert rounds == [
        "round 1 is closed: 1 of 1 match done",
        "round 2 is closed: 2 of 2 matches done",
    ]
    assert first.startswith("ev1 begins: 2 cycles, its deals bound by the commitment ")
    assert last.startswith("ev1 is over, its secret was ")
    assert "2 matches played, 0 void, 2 rounds closed; the field's mean stands at 1500" in ran.out
    assert "علی" in ran.out
    assert "P fewer than 30 rated matches" in ran.out
    assert f"Records of the matches: {ladder / 'records' / 'ev1'}; " in ran.out


def test_with_three_at_a_table_the_standings_say_that_they_count_pairs(
    run, runner, make_bot, tmp_path
):
    folder = tmp_path / "threes"
    run("ladder", "init", folder, "--players", 3, "--boards", 2)
    assert run("ladder", "add", folder, *map(make_bot, ("sara", "علی", "reza"))).status == 0
    ran = run("ladder", "run", folder, "--cycles", 2)
    assert ran.status == 0
    assert "threes (3p-boards-2): 3 players, boards, 2 boards a match" in ran.out
    assert "2 matches played, 0 void, 2 rounds closed" in ran.out
    assert "pairwise: against each of the others" in ran.out
    assert "clustered by match from 30 matches on" in ran.out
    answer = json.loads(run("ladder", "standings", folder, "--json").out)
    assert (answer["players"], answer["counted"]) == (3, "pairwise")
    assert sum(row["matches"]["won"] for row in answer["rows"]) == sum(
        row["matches"]["lost"] for row in answer["rows"]
    )
    assert [sum(row["matches"].values()) for row in answer["rows"]] == [4, 4, 4]
    assert {row["matches_played"] for row in answer["rows"]} == {2}
    assert run("ladder", "check", folder).status == 0
    assert run("verify", *sorted((folder / "records").rglob("*.json.gz"))).status == 0


def test_a_ladder_of_two_says_nothing_of_pairs(run, runner, ladder):
    ran = run("ladder", "run", ladder)
    assert "pairwise" not in ran.out


@pytest.mark.parametrize(("words", "tick_seconds"), [((), 0.005), (("--tick", 0), 0.0)])
def test_the_matches_of_a_ladder_have_its_masking_tick(
    run, runner, make_bot, tmp_path, words, tick_seconds
):
    folder = tmp_path / "club"
    run("ladder", "init", folder, "--boards", 1, *words)
    run("ladder", "add", folder, make_bot("sara"), make_bot("reza"))
    assert run("ladder", "run", folder).status == 0
    assert [plan.tick_seconds for plan in runner.played] == [tick_seconds]


def test_points_of_a_ladder_of_races_are_races_of_a_pair(run, runner, make_bot, tmp_path):
    folder = tmp_path / "races"
    run("ladder", "init", folder, "--format", "classic", "--games", 1)
    run("ladder", "add", folder, make_bot("sara"), make_bot("omid"))
    assert "points: races of a pair" in run("ladder", "run", folder).out


def test_a_ladder_of_races_counts_them_in_games_everywhere(run, tmp_path):
    folder = tmp_path / "races"
    assert run("ladder", "init", folder, "--format", "classic", "--games", 3).status == 0
    assert "games = 3 " in (folder / "ladder.toml").read_text()
    assert json.loads(run("ladder", "standings", folder, "--json").out)["games"] == 3
    assert "3 pairs a match" in run("ladder", "standings", folder).out


def test_running_answers_in_json_too(run, runner, ladder):
    answer = json.loads(run("ladder", "run", ladder, "--json").out)
    assert (answer["event"], answer["complete"]) == ("ev1", True)
    assert len(answer["secret"]) == len(answer["commitment"]) == 64
    assert {row["bot"] for row in answer["standings"]["rows"]} == {"sara", "علی"}


def test_an_event_that_was_stopped_fails_and_the_same_command_goes_on(run, runner, ladder):
    runner.fault = (Ending.STOPPED, None)
    ran = run("ladder", "run", ladder)
    assert ran.status == 1
    assert "ev1 is not over: the same command goes on with it" in ran.err
    assert ran.out.endswith(f"Records of the matches: {ladder / 'records' / 'ev1'} so far\n")
    runner.fault = None
    runner.faults.clear()
    ran = run("ladder", "run", ladder)
    assert ran.status == 0
    assert ran.err.startswith("ev1 is finished first: ")


def test_a_match_that_counts_for_nothing_is_told_of(run, runner, ladder):
    runner.fault = (Ending.NEVER_STARTED, 1)
    runner.troubled = [1]
    ran = run("ladder", "run", ladder)
    assert ran.status == 0
    assert "fault: علی CRASH (ev1/r1/" in ran.err
    assert "void (NEVER_STARTED" in ran.err


def test_a_sound_ladder_is_ok_and_a_damaged_one_is_not(run, runner, ladder):
    run("ladder", "run", ladder)
    assert run("ladder", "check", ladder).status == 0
    for record in (ladder / "records").rglob("*.json.gz"):
        record.unlink()
    ran = run("ladder", "check", ladder)
    assert ran.status == 1
    assert "is missing; restore it from a backup" in ran.out
    answer = json.loads(run("ladder", "check", ladder, "--json").out)
    assert (answer["ok"], len(answer["problems"])) == (False, 1)


def test_what_is_no_ladder_fails_in_one_line(run, tmp_path):
    ran = run("ladder", "run", tmp_path)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        f"error: {tmp_path}: has no ladder.toml; give the folder of a ladder, or make one with "
        "arena ladder init\n"
    )
