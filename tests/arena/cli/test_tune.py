"""`arena tune` as its users see it: what may be asked, what is told, what lies there at the end."""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import Entrant, load_bot
from hokm.outcome import Ending
from tests.arena.cli.conftest import Unneeded
from tests.arena.tuning.conftest import Worthy, mine

__all__ = ["mine"]  # a fixture

QUICK = ("--trials", 8, "--boards", 1, "--confirm", 2, "--seed", "s", "--concurrency", 1)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setitem(sys.modules, "arena.tuning.picture", None)  # has tests of its own


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Worthy:
    """In the place of the runner that starts processes; less chance is better."""
    runner = Worthy(lambda values: -4 * values["chance"])
    monkeypatch.setattr("arena.cli.confining.prepare", lambda folder, *, python: Unneeded())

    @asynccontextmanager
    async def open_runner(**_: object) -> AsyncIterator[Worthy]:
        yield runner

    monkeypatch.setattr("arena.cli.climbing.open_runner", open_runner)
    monkeypatch.setattr("arena.cli.trial.open_runner", open_runner)
    return runner


def test_what_was_found_plays_the_bot_as_it_was_and_is_ready_to_be_used(run, runner, mine: Entrant):
    ran = run("tune", mine.folder, "--only", "chance", *QUICK, "--out", "it")
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert lines[0] == "mine: all 8 trials played"
    assert "parameter  default  found  second half of the way   range" in lines
    (found,) = re.findall(r"^chance +0\.5 +(\S+) +\S+ to \S+ +0 to 1$", ran.out, re.MULTILINE)
    assert float(found) < 0.2
    assert "mine 1.0-tuned against mine 1.0: 4 players, 2 boards, 2 a batch" in lines
    assert f"chance = {{ default = {found}, low = 0.0, high = 1.0 }}" in lines
    assert "the bot with them  it/best" in lines
    assert "tuning.svg" not in ran.out  # nobody drew it
    assert "depth = { default = 3, low = 1, high = 8, integer = true }" in lines
    assert "fresh deals say that these values are better; for the bot.toml of mine:" in lines
    best = load_bot(Path("it/best"))
    assert best.variables == {"HOKM_PARAMETERS": f'{{"chance": {found}, "depth": 3}}'}
    assert tomllib.loads(Path("it/best/bot.toml").read_text())["version"] == "1.0-tuned"
    confirming = runner.played[8:]
    assert [plan.length for plan in confirming] == [2]
    assert [bot.digest for bot in confirming[0].entrants] == [best.digest, mine.digest]
    assert len({plan.secret.commitment for plan in runner.played}) == 2


def test_each_trial_has_a_line_and_where_it_stands(run, runner, mine: Entrant):
    err = run("tune", mine.folder, *QUICK, "--out", "it").err
    greeting, first, *_ = err.splitlines()
    assert greeting.startswith(
        "tuning in it: 2 parameters of mine, 8 trials of 1 board against each other; deals bound by"
    )
    number = r"\d(\.\d+)?"
    assert re.fullmatch(
        rf"trial 1: chance {number}, depth \d against chance {number}, depth \d: "
        rf"[+-]{number} ± n/a; now at chance {number}, depth {number}",
        first,
    )
    assert "no picture: it needs" in err
    assert "pip install 'hokm-arena[graph]'" in err


def test_the_same_command_goes_on_where_it_was_stopped(run, runner, mine: Entrant):
    words = ("tune", mine.folder, "--only", "chance", *QUICK)
    ran = run(*words, "--out", "straight")
    folder = Path(re.findall(r"tuning in (\S+):", run(*words).err)[0])
    assert folder.name.startswith("tune-mine-")
    shutil.rmtree(folder)
    stopping = next(plan.match for plan in runner.played if "/t4." in plan.match)
    runner.faults[stopping, 1] = (Ending.STOPPED, None)
    stopped = run(*words)
    assert stopped.status == 1
    assert stopped.out.startswith(
        "mine: INTERRUPTED after 3 of 8 trials: the same command goes on\n"
    )
    assert not (folder / "best").exists()
    runner.faults.clear()
    resumed = run(*words)
    assert "goes on after 3 trials" in resumed.err
    assert resumed.status == 0
    table = re.compile(r"^chance .*$", re.MULTILINE)
    assert table.findall(resumed.out) == table.findall(ran.out)


def test_the_answer_in_json_is_one_object(run, runner, mine: Entrant):
    answer = json.loads(run("tune", mine.folder, *QUICK, "--out", "it", "--json").out)
    assert (answer["kind"], answer["complete"], answer["trials"]) == ("tune", True, 8)
    chance, depth = answer["parameters"]
    assert (chance["name"], chance["default"], depth["integer"]) == ("chance", 0.5, True)
    assert chance["way_low"] <= chance["found"] <= chance["way_high"]
    assert [trial["trial"] for trial in answer["played"]] == list(range(1, 9))
    assert answer["confirmed"]["counted"] == 2
    assert answer["confirmed"]["entrants"][0]["version"] == "1.0-tuned"
    assert answer["picture"] is None


def test_without_fresh_deals_nothing_is_confirmed(run, runner, mine: Entrant):
    ran = run("tune", mine.folder, *QUICK[:4], "--confirm", 0, "--out", "it", "--seed", "s")
    assert ran.status == 0
    assert len(runner.played) == 8
    assert "against" not in ran.out


def test_where_nothing_makes_a_difference_the_bot_stays_as_it_is(run, runner, mine: Entrant):
    runner.worth = lambda values: 0.0
    ran = run("tune", mine.folder, *QUICK, "--out", "it")
    assert ran.status == 0
    assert "there is nothing to confirm" in ran.err
    assert "all boards of all trials were level" in ran.out
    assert "[parameters]" not in ran.out


def test_an_opponent_is_played_by_both_settings(run, runner, mine: Entrant, make_bot):
    runner.worth = lambda values: -4 * values.get("chance", 0)
    ran = run("tune", mine.folder, make_bot("other"), *QUICK, "--out", "it")
    assert ran.status == 0
    assert "8 trials of 1 board against other" in ran.err
    assert [plan.entrants[1].name for plan in runner.played[:16]] == ["other"] * 16


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--only", "chanse"), "--only chanse: mine has no such parameter; it has chance"),
        (("--only", "zzz"), "it has chance, depth"),
        (("--players", 3), "this is between two bots"),
    ],
)
def test_what_cannot_be_meant_is_a_misuse(run, runner, mine: Entrant, words, says):
    ran = run("tune", mine.folder, *words)
    assert ran.status == 2
    assert says in ran.err


def test_a_bot_without_parameters_is_told_what_to_write(run, runner, make_bot):
    ran = run("tune", make_bot("plain"))
    assert ran.status == 2
    assert "plain has nothing to tune: write [parameters] into its bot.toml" in ran.err


@pytest.mark.parametrize(
    ("on_fresh_deals", "says"),
    [
        (4.0, "fresh deals say that these values are worse: keep what mine has. They are:"),
        (0.0, "fresh deals do not tell these values from those that mine has: more trials might"),
    ],
)
def test_values_that_fresh_deals_do_not_confirm_are_not_recommended(
    run, runner, mine: Entrant, on_fresh_deals: float, says: str
):
    def worth(values: dict[str, float]) -> float:
        in_trial = len(runner.played) <= 8
        return values["chance"] * (-4 if in_trial else on_fresh_deals)

    runner.worth = worth
    ran = run("tune", mine.folder, "--only", "chance", *QUICK, "--out", "it")
    assert ran.status == 0
    assert says in ran.out


def test_a_confirmation_that_was_stopped_recommends_nothing_and_goes_on(run, runner, mine: Entrant):
    words = ("tune", mine.folder, "--only", "chance", *QUICK, "--out", "it")
    run(*words)
    confirming = runner.played[-1]
    shutil.rmtree("it")
    runner.faults[confirming.match, 1] = (Ending.STOPPED, None)
    stopped = run(*words)
    assert stopped.status == 1
    assert "INTERRUPTED" in stopped.out
    assert "bot.toml of mine" not in stopped.out
    runner.faults.clear()
    played = len(runner.played)
    assert run(*words).status == 0
    assert len(runner.played) == played + 1
