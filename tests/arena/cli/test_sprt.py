"""`arena sprt` and `arena duel` as their users see them: what may be asked, what is answered."""

import io
import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from rich.console import Console

from arena.cli import show
from arena.cli.series import SeriesReport, SeriesWatch
from arena.ladder.bots.entrants import load_bot
from arena.ladder.matches.experiment import Batch, Design, opened, play
from arena.ladder.ratings.sprt import Model, Sprt, llr
from arena.ladder.ratings.statistics import head_to_head, pentanomial, score_statistics
from hokm.deck import commitment, secret_from_text
from hokm.outcome import Ending
from hokm.records import load, save
from hokm.rules.options import Rules
from tests.arena.cli.conftest import FakeRunner

QUICK = ("--batch", 4, "--seed", "s", "--concurrency", 1)
LEVEL_IS_WORSE = ("--bounds", 100, 200)
LEVEL_IS_BETTER = ("--bounds", -200, -100)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def bots(make_bot) -> tuple[Path, Path]:
    return make_bot("new"), make_bot("old")


def test_a_test_that_ends_says_why_and_by_what(run, runner, bots):
    ran = run("sprt", *bots, *LEVEL_IS_WORSE, *QUICK)
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert lines[0] == "new against old: 4 players, at most 6,000 boards, 4 a batch"
    boards = 4 * len(runner.played)
    assert re.fullmatch(
        rf"H0 accepted after {boards} boards: new is nearer to 100 than to 200 nElo", lines[1]
    )
    assert re.fullmatch(
        r"LLR -\d+\.\d\d \[-2\.94, \+2\.94\], nElo \[100, 200\], alpha 0\.05, beta 0\.05", lines[2]
    )
    assert "± at 95 %; Elo on the scale board-sign, nElo, LOS and LLR on board-pentanomial" in lines
    (penta,) = re.findall(r"^pentanomial, worst first  \[(.*)\]$", ran.out, re.MULTILINE)
    assert sum(map(int, penta.split(", "))) == boards
    assert any("are biased: do not rate with them" in line for line in lines)
    assert f"seed        {secret_from_text('s').hex()}" in lines
    assert f"games       {2 * boards} COMPLETED" in lines


def test_either_verdict_and_the_cap_are_done(run, runner, bots):
    assert run("sprt", *bots, *LEVEL_IS_BETTER, *QUICK).status == 0
    ran = run("sprt", *bots, "--cap", 6, *QUICK, "--out", "capped")
    assert ran.status == 0
    assert ran.out.splitlines()[1] == "cap reached without an answer, after 6 boards"
    assert [plan.length for plan in runner.played[-2:]] == [4, 2]


def test_the_answer_in_json_is_one_object_with_all_there_is_to_know(run, runner, bots):
    ran = run("sprt", *bots, *LEVEL_IS_BETTER, *QUICK, "--json")
    answer = json.loads(ran.out)
    secret = secret_from_text("s")
    differences = [
        int(difference) for difference, count in answer["differences"].items() for _ in range(count)
    ]
    series, outcomes = head_to_head(differences), pentanomial(differences)
    assert answer["experiment"] == f"local/{commitment(secret).hex()[:16]}"
    assert (answer["kind"], answer["complete"], answer["end"]) == ("sprt", True, "H1")
    assert answer["counted"] == len(differences) == 4 * answer["batches_counted"]
    assert answer["score"] == {"wins": series.won, "draws": series.drawn, "losses": series.lost}
    assert answer["outcomes"] == list(outcomes.counts)
    assert answer["points_per_board"] == series.points_per_board
    assert answer["elo"]["value"] == series.by_sign.elo
    assert answer["elo"]["scale"] == "board-sign"
    tested = score_statistics(outcomes)
    assert answer["nelo"] == {
        "value": tested.nelo,
        "error": tested.nelo_error,
        "scale": "board-pentanomial",
    }
    assert answer["los"] == tested.los
    test = answer["test"]
    assert test["llr"] == llr(outcomes, -200, -100, model=Model.NORMALIZED) > test["upper"]
    assert (test["conclusion"], test["to_go"]) == ("H1", 0)
    assert (test["elo0"], test["elo1"], test["alpha"], test["model"]) == (
        -200,
        -100,
        0.05,
        "normalized",
    )
    assert answer["is_elo_biased"] is True
    assert answer["seed"] == secret.hex()
    assert [bot["name"] for bot in answer["entrants"]] == ["new", "old"]
    assert answer["endings"] == {"COMPLETED": 2 * answer["counted"]}


def test_off_a_terminal_each_batch_has_a_line_with_all_figures(run, runner, bots):
    err = run("sprt", *bots, "--cap", 12, *QUICK).err
    greeting, *lines = err.splitlines()
    assert greeting.startswith("experiment in sprt-new-old-nelo0to20-")
    # Wald's mean lengths, to ten boards.
    assert (
        "at least some 800 boards are to be expected if the gap is either bound, 1,310 between"
        in greeting
    )
    assert commitment(secret_from_text("s")).hex() in greeting
    assert secret_from_text("s").hex() not in err
    assert [line.split(",")[0] for line in lines] == [
        "batch 1: 4 boards",
        "batch 2: 8 boards",
        "batch 3: 12 boards",
    ]
    figures = (
        r"batch 2: 8 boards, LLR [+-]\d\.\d\d \[-2\.94, \+2\.94\], about \d+ boards? to go, "
        r"W-D-L \d-\d-\d, D( [+-]\d:\d)+, points/board \S+ ± \S+, Elo \S+ ± \S+, nElo \S+ ± \S+, "
        r"LOS \S+ %"
    )
    assert re.fullmatch(figures, lines[1])
    assert "cap reached" in lines[2]


def test_presets_set_bounds_and_cap_and_each_can_be_set_otherwise(run, runner, bots):
    def planned(*words: object) -> tuple[float, float, int]:
        ran = run(
            "sprt", *bots, *words, "--seed", "s", "--json", "--out", "-".join(map(str, words))
        )
        answer = json.loads(ran.out)
        return answer["test"]["elo0"], answer["test"]["elo1"], answer["boards"]

    runner.fault = (Ending.STOPPED, None)  # what it would play is not the question
    assert planned("--policy", "rated") == (0, 20, 6000)
    assert planned("--preset", "smoke") == (0, 50, 1000)
    assert planned("--preset", "smoke", "--cap", 8) == (0, 50, 8)
    assert planned("--nelo1", 30) == (0, 30, 6000)
    assert planned("--nelo0", -10) == (-10, 20, 6000)
    assert planned("--bounds", -5, 5) == (-5, 5, 6000)


def test_error_rates_classes_and_the_model_are_as_asked(run, runner, bots):
    words = ("--bounds", 0, 100, "--model", "logistic", "--alpha", 0.2, "--beta", 0.1)
    ran = run("sprt", *bots, *words, "--classes", "sign", "--cap", 8, *QUICK)
    assert "LLR on board-sign" in ran.out
    assert "LLR" in ran.out.splitlines()[2]
    assert "[-2.08, +1.50], Elo [0, 100], alpha 0.20, beta 0.10" in ran.out


def test_what_is_played_is_as_asked(run, runner, bots):
    words = ("--move-time", 0.5, "--bank", 3, "--tick", 0.01, "-o", "play_out=on", "--players", 2)
    run("duel", *bots, *words, "--boards", 2, "--concurrency", 3, "--hello-time", 20)
    (plan,) = runner.played
    assert (plan.clock.move_seconds, plan.clock.bank_seconds, plan.tick_seconds) == (0.5, 3, 0.01)
    assert (plan.rules.players, plan.rules.play_out, plan.policy.value) == (2, True, "rated")
    assert (runner.settings["concurrency"], runner.settings["hello_seconds"]) == (3, 20)


def test_the_same_command_goes_on_where_it_was_stopped(run, runner, bots):
    words = ("duel", *bots, "--boards", 12, *QUICK)
    whole = json.loads(run(*words, "--json", "--out", "whole").out)
    del runner.played[:]
    match = f"{whole['experiment']}/b2/new~old"
    runner.faults[match, 1] = (Ending.STOPPED, None)
    ran = run(*words)
    assert ran.status == 1
    assert ran.out.splitlines()[1] == "INTERRUPTED after 4 boards: the same command goes on"
    assert "seed  " not in ran.out
    assert secret_from_text("s").hex() not in ran.out + run(*words, "--json").out
    del runner.faults[match, 1]
    ran = run(*words, "--json")
    answer = json.loads(ran.out)
    assert ran.status == 0
    assert "goes on after 4 boards" in ran.err
    assert answer["differences"] == whole["differences"]
    assert "\ntook " not in run(*words).out, "nothing more was played"
    again = run(*words, "--json")
    assert "is over after 12 boards" in again.err
    assert json.loads(again.out)["differences"] == whole["differences"]


def test_a_changed_bot_begins_another_experiment_and_is_refused_in_the_old_one(run, runner, bots):
    words = ("duel", *bots, "--boards", 4, "--json")
    first = json.loads(run(*words).out)["folder"]
    (bots[0] / "bot.py").write_text("# changed\n")
    assert json.loads(run(*words).out)["folder"] != first
    ran = run(*words, "--out", first)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"error: {first}: is an experiment with other files of bot 1: new ")
    assert ran.err.count("\n") == 1


def test_other_settings_in_the_same_folder_are_refused(run, runner, bots):
    run("duel", *bots, "--boards", 4)
    ran = run("duel", *bots, "--boards", 8)
    assert (ran.status, ran.out) == (1, "")
    assert "is another experiment: boards is 4 there, and now 8" in ran.err


def test_other_bounds_make_another_experiment_and_in_the_same_folder_are_said_as_bounds(
    run, runner, bots
):
    words = ("sprt", *bots, "--cap", 4, *QUICK)
    run(*words, "--out", "it")
    ran = run(*words, "--preset", "smoke", "--out", "it")
    assert (ran.status, ran.out) == (1, "")
    assert "its question is nElo [0, 20] there, and now nElo [0, 50]; " in ran.err
    assert run(*words).status == run(*words, "--bounds", -10, 10).status == 0
    names = [name.rpartition("-")[0] for name in map(str, Path().glob("sprt-*"))]
    assert sorted(names) == ["sprt-new-old-nelo-10to10", "sprt-new-old-nelo0to20"]


def test_programs_that_were_tested_before_are_said_with_what_came_of_it(
    run, runner, bots, make_bot
):
    words = ("--boards", 4, "--batch", 4)
    first = json.loads(run("duel", *bots, *words, "--json").out)["folder"]
    renamed = make_bot("renamed")
    (renamed / "bot.py").write_bytes((bots[0] / "bot.py").read_bytes())
    said = f"these programs were tested before: {first}, all boards played after 4 boards\n"
    assert run("duel", renamed, bots[1], *words).err.startswith(said)
    assert "tested before" not in run("duel", renamed, bots[1], *words).err  # it goes on
    assert said in run("sprt", bots[1], bots[0], "--cap", 4, *QUICK).err
    assert "tested before" not in run("duel", *bots, *words, "--out", "elsewhere").err
    (bots[0] / "bot.py").write_text("# changed\n")
    assert "tested before" not in run("duel", *bots, *words).err


def test_an_experiment_that_is_not_over_or_damaged_is_no_verdict(run, runner, bots, make_bot):
    runner.fault = (Ending.STOPPED, None)
    first = json.loads(run("duel", *bots, "--boards", 4, "--json").out)["folder"]
    Path("torn").mkdir()
    Path("torn/experiment.json").write_text("{")
    ran = run("sprt", *bots, "--cap", 4, *QUICK)
    assert ran.err.startswith(f"these programs were tested before: {first}, not finished\n")
    assert "torn" not in ran.err


def test_two_bots_of_one_program_are_told_so_first(run, runner, bots, make_bot):
    same = make_bot("same")
    (same / "bot.py").write_bytes((bots[0] / "bot.py").read_bytes())
    ran = run("duel", same, bots[0], "--boards", 4)
    assert ran.err.startswith("both are the same program: ")
    assert "same program" not in run("duel", *bots, "--boards", 4).err


def test_what_a_fault_of_the_host_voids_is_told_and_played_again(run, runner, bots):
    name = f"local/{commitment(secret_from_text('s')).hex()[:16]}"
    runner.faults = {(f"{name}/b1/new~old", 1): (Ending.HOST_FAULT, None)}
    ran = run("duel", *bots, "--boards", 8, *QUICK)
    assert ran.status == 0
    assert ran.err.count("batch 1: void (HOST_FAULT: HOST_FAULT on order), it is played again") == 1
    assert "games       16 COMPLETED" in ran.out


def test_a_bot_that_never_starts_makes_the_command_fail(run, runner, bots):
    runner.fault = (Ending.NEVER_STARTED, 1)
    ran = run("duel", *bots, "--boards", 8, *QUICK)
    assert ran.status == 1
    assert ran.out.splitlines()[1] == (
        "NOT COMPLETE after 0 boards: batch 1: NEVER_STARTED: NEVER_STARTED on order; the same "
        "command tries it again"
    )
    answer = json.loads(run("duel", *bots, "--boards", 8, *QUICK, "--json").out)
    assert (answer["complete"], answer["end"], answer["counted"]) == (False, "VOID", 0)
    assert answer["because"].startswith("batch 1: NEVER_STARTED")


def test_faults_of_bots_are_told_and_counted(run, runner, bots):
    runner.troubled = [1]
    ran = run("duel", *bots, "--boards", 4, *QUICK)
    assert "fault: old CRASH (local/" in ran.err


def test_a_duel_plays_256_boards_and_has_every_figure_but_the_ratio(run, runner, bots):
    ran = run("duel", *bots, "--json")
    answer = json.loads(ran.out)
    assert (answer["boards"], answer["batch"], answer["counted"]) == (256, 16, 256)
    assert (answer["end"], answer["test"], answer["is_elo_biased"]) == ("COMPLETE", None, False)
    assert "LLR" not in ran.err
    text = run("duel", *bots).out
    assert text.splitlines()[1] == "all boards played, after 256 boards"
    assert re.search(
        r"new +old +\d+-\d+-\d+ +[+-]\S+ ± \S+ +[+-]\S+ ± \S+ +[+-]\S+ ± \S+ +\S+ %", text
    )
    assert "LLR" not in text
    assert "biased" not in text


def test_races_are_counted_in_pairs(run, runner, bots):
    words = ("--format", "classic", "-o", "target_points=1", "--players", 2)
    ran = run("duel", *bots, *words, "--games", 6)
    assert [plan.length for plan in runner.played] == [4, 2]
    assert ran.out.startswith("new against old: 2 players, 6 pairs of races, 4 a batch\n")
    assert "Elo on the scale race-pair, nElo and LOS on race-pair" in ran.out
    assert "points/board" not in ran.out


def test_two_bots_of_a_name_are_told_apart(run, runner, make_bot):
    old, new = make_bot("mine", under="old"), make_bot("mine", version="1.1", under="new")
    ran = run("duel", new, old, "--boards", 1)
    assert ran.out.startswith("mine 1.1 against mine 1.0: 4 players, 1 board, 1 a batch\n")
    assert run("duel", old, old, "--boards", 1).out.startswith("mine #1 against mine #2")


def test_records_verify_and_are_found_where_it_is_said(run, runner, bots):
    answer = json.loads(run("duel", *bots, "--boards", 8, *QUICK, "--json").out)
    files = sorted(Path(answer["folder"]).glob("records/*"))
    assert [file.name for file in files] == ["b1.json.gz", "b2.json.gz"]
    assert run("verify", *files).status == 0
    told = run("verify", answer["folder"])
    assert (told.status, told.err) == (0, "")
    assert [f"{file}: ok" in told.out.splitlines() for file in files] == [True, True]
    exported = run("export", answer["folder"], "--out", "tables", "--table", "matches")
    assert (exported.status, exported.err) == (0, "")
    assert exported.out == "tables/matches.csv: 2 rows\n"
    luck = json.loads(run("luck", answer["folder"], "--json").out)
    assert luck["records"] == list(map(str, files))
    assert load(files[0]).secret is not None


def test_a_secret_that_a_kill_left_unrevealed_is_revealed_by_the_same_command(run, runner, bots):
    words = ("duel", *bots, "--boards", 8, *QUICK, "--json")
    folder = Path(json.loads(run(*words).out)["folder"])
    file = folder / "records/b2.json.gz"
    save(file, replace(load(file), secret=None, entropy=None))
    assert run(*words).status == 0
    assert load(file).secret == secret_from_text("s")


def test_whose_faults_there_were_is_said(bots, capsys):
    design = Design(rules=Rules.of(4), boards=2, batch=2, test=None)
    first, second = map(load_bot, bots)
    with opened(Path("it"), design, bots=(first, second)) as experiment:
        endings = {Ending.CRASH: 2, Ending.COMPLETED: 2}
        experiment.counted.append(Batch(1, (5, 0), endings, faults=(0, 2)))
        report = SeriesReport(experiment, seconds=1.0)
        report.print(show.results())
        answer: Any = report.json()
        assert [bot["faults"] for bot in answer["entrants"]] == [0, 2]
    out = capsys.readouterr().out
    assert "games       2 COMPLETED, 2 CRASH\n" in out
    assert "faults      old 2\n" in out


MISUSES = {
    "sprt --players 3": "between two bots, with --players 4 or 2; for three arena match A B C",
    "sprt --players 9": "2, 3 or 4",
    "sprt --bounds 20 0": "the bounds 20 and 0 are no interval; the lower one is first",
    "sprt --bounds 0 1e-300": "the bounds 0 and 1e-300 are too close: take 0.1 Elo apart, or more",
    "sprt --bounds 0 300": "the upper bound is 300; take one from -200 to 200 Elo",
    "sprt --bounds 0 5 --nelo1 3": "--bounds gives both; leave --nelo0 and --nelo1 out",
    "sprt --model logistic": "with --model logistic give --bounds",
    "sprt --alpha 0": "alpha is a chance of error above 0 and below 0.5, not 0.0",
    "sprt --beta nan": "beta is a chance of error",
    "sprt --cap 0": "--cap",
    "sprt --preset none": "--preset",
    "sprt --batch 1001": "--batch",
    "sprt --format classic --classes points": "lost, level or won: take the classes of sign",
    "sprt -o points_kot=3": "other than 1, 2 and 3 points: take the classes of sign",
    "sprt --option nothing=x": "there is no option 'nothing'",
    "sprt --tick nan": "--tick",
    "sprt --seed ": "--seed is empty",
    "duel --games 3": "give --boards, or --format classic",
    "duel --format classic --boards 3": "give --games, or --format boards",
    "duel --boards 0": "--boards",
}


@pytest.mark.parametrize("words", MISUSES)
def test_a_misuse_is_one_line_that_says_what_would_do(run, runner, bots, words):
    command, *rest = words.split(" ")
    ran = run(command, *bots, *rest)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert MISUSES[words] in ran.err
    assert not runner.played
    assert not list(Path.cwd().iterdir())


def test_a_remote_bot_is_no_fixed_bot(run, runner, bots):
    ran = run("sprt", bots[0], "remote:sara")
    assert (ran.status, ran.out) == (2, "")
    assert "remote:sara: a remote bot may be another one tomorrow" in ran.err


def test_a_folder_of_something_else_is_refused(run, runner, bots):
    Path("thesis").mkdir()
    Path("thesis/thesis.tex").touch()
    ran = run("duel", *bots, "--out", "thesis")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        "error: thesis: is no experiment, and has thesis.tex in it; give a new folder, or an empty "
        "one\n"
    )


def test_long_names_still_make_a_folder(run, runner, make_bot):
    bots = [make_bot("\U00020000" * 30), make_bot("\U00020001" * 30)]
    ran = run("duel", *bots, "--boards", 1)
    assert ran.status == 0
    (folder,) = Path.cwd().iterdir()
    assert folder.name.startswith("duel-")


def test_on_a_terminal_figures_stand_beside_a_bar_and_no_batch_has_a_line(bots):
    design = Design(rules=Rules.of(4), boards=8, batch=4, test=Sprt(elo0=0, elo1=20, cap=8))
    seen = io.StringIO()
    console = Console(file=seen, force_terminal=True, width=60, highlight=False)
    first, second = map(load_bot, bots)
    runner = FakeRunner()
    with (
        opened(Path("it"), design, bots=(first, second), secret=bytes(32)) as experiment,
        SeriesWatch(experiment, console) as watch,
    ):
        trio.run(partial(play, experiment, runner, watcher=watch, tell=watch.tell))
        watch.progress.refresh()
    text = seen.getvalue()
    for shown in ("8/8", "LLR ", "[-2.94, +2.94], cap reached", "W-D-L ", "points/board ", "LOS "):
        assert shown in text
    assert "batch 2:" not in text
