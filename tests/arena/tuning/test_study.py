"""A tuning in its folder: what is played, what is kept, how it goes on, and what is refused."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from arena.ladder.bots.entrants import Entrant, load_bot
from arena.ladder.errors import LadderError
from arena.ladder.matches.boards import PlanError
from arena.ladder.matches.experiment import Design
from arena.ladder.testing import InProcessRunner
from arena.tuning.study import Question, Stopped, Study, Trial, opened, play
from hokm.deck import commitment, secret_from_text
from hokm.outcome import Ending
from hokm.rules.options import Rules
from tests.arena.tuning.conftest import Worthy, values_of

SECRET = secret_from_text("s")
NAME = f"local/{commitment(SECRET).hex()[:16]}"


class Unwatched:
    def game_over(self, *_: object) -> None: ...

    def trouble(self, *_: object) -> None: ...


def steady(values: dict[str, float]) -> float:
    """Less chance is better, and the depth makes no difference."""
    return -4 * values["chance"]


def asked(mine: Entrant, **changes: Any) -> Question:
    design = Design(rules=Rules.of(4), boards=1, batch=1, test=None)
    question = Question(
        bot=mine, opponent=None, parameters=mine.parameters[:1], design=design, trials=6
    )
    return replace(question, **changes)


def going_on(
    folder: Path, question: Question, runner: Any, *, after: float = math.inf
) -> tuple[Study, list[Trial], Stopped | None]:
    """The tuning after this run of it, what was told, and why it stopped if it did."""
    told: list[Trial] = []
    stopped: list[Stopped | None] = []

    def tell(trial: Trial) -> None:
        told.append(trial)
        if len(told) >= after:
            raise KeyboardInterrupt

    async def run() -> None:
        stopped.append(await play(study, runner, watcher=Unwatched(), tell=tell))

    with opened(folder, question, secret=SECRET, is_new_seed=True) as study:
        try:
            trio.run(run)
        except KeyboardInterrupt:
            stopped.append(None)
    return study, told, stopped[0]


def test_a_trial_sets_two_settings_of_the_bot_against_each_other(mine, tmp_path):
    runner = Worthy(steady)
    study, told, stopped = going_on(tmp_path / "it", asked(mine, trials=4), runner)
    assert stopped is None
    assert study.is_done
    assert [plan.match for plan in runner.played] == [
        f"{NAME}/t{n}.1/mine~mine" for n in range(1, 5)
    ]
    for plan, trial in zip(runner.played, told, strict=True):
        first, second = map(values_of, plan.entrants)
        assert ((first["chance"],), (second["chance"],)) == (trial.pair.up, trial.pair.down)
        assert first["depth"] == second["depth"] == 3
        assert trial.differences == (round(steady(first) - steady(second)),)
    assert study.best["chance"] < 0.2


def test_each_trial_has_deals_of_its_own(mine, tmp_path):
    runner = Worthy(steady)
    going_on(tmp_path / "it", asked(mine, trials=3), runner)
    assert len({plan.seed(1) for plan in runner.played}) == 3


def test_with_an_opponent_both_settings_play_it_on_the_same_deals(mine, tmp_path, bot_folder):
    other = load_bot(Path(bot_folder("other")))
    runner = Worthy(lambda values: -4 * values.get("chance", 0))
    study, told, _ = going_on(tmp_path / "it", asked(mine, opponent=other, trials=2), runner)
    plans = runner.played
    assert [plan.entrants[1].name for plan in plans] == ["other"] * 4
    assert [plan.seed(1) for plan in plans[::2]] == [plan.seed(1) for plan in plans[1::2]]
    up, down = (values_of(plan.entrants[0])["chance"] for plan in plans[:2])
    assert told[0].differences == (round(-4 * up) - round(-4 * down),)
    assert study.question.opponent is not None
    assert study.question.opponent.folder.parent == tmp_path / "it" / "bots"


def test_long_trials_are_played_in_parts(mine, tmp_path):
    design = Design(rules=Rules.of(4), boards=34, batch=16, test=None)
    with opened(tmp_path / "it", asked(mine, design=design), secret=SECRET, is_new_seed=True) as it:
        pair = it.climb.next()
        assert pair is not None
        parts = it.plans(pair, (it.with_values(pair.up), it.with_values(pair.down)))
    assert [part.length for part in parts] == [16, 16, 2]
    assert len({part.match for part in parts}) == 3


def test_it_goes_on_after_a_kill_just_as_it_would_have(mine, tmp_path):
    whole, torn = Worthy(steady), Worthy(steady)
    straight, _, _ = going_on(tmp_path / "straight", asked(mine), whole)
    going_on(tmp_path / "torn", asked(mine), torn, after=3)
    kept, _, _ = going_on(tmp_path / "torn", asked(mine), torn)
    assert kept.is_resumed
    assert kept.climb.way == straight.climb.way
    assert [plan.match for plan in torn.played] == [plan.match for plan in whole.played]
    again = InProcessRunner()
    done, told, _ = going_on(tmp_path / "torn", asked(mine), again)
    assert (again.played, told, done.best) == ([], [], straight.best)


def test_the_bot_plays_as_it_was_when_the_tuning_began(mine, tmp_path):
    runner = Worthy(steady)
    study, _, _ = going_on(tmp_path / "it", asked(mine, trials=2), runner)
    assert {bot.folder for plan in runner.played for bot in plan.entrants} == {
        tmp_path / "it" / "bots" / mine.digest
    }
    assert study.question.bot.digest == mine.digest


def test_a_trial_that_is_void_is_played_again_and_the_third_time_it_stops(mine, tmp_path):
    runner = Worthy(steady)
    runner.faults = {(f"{NAME}/t1.1/mine~mine", 1): (Ending.HOST_FAULT, None)}
    study, _, stopped = going_on(tmp_path / "it", asked(mine, trials=2), runner)
    assert stopped is None
    assert [plan.attempt for plan in runner.played] == [1, 2, 1]
    for attempt in (1, 2, 3):
        runner.faults[f"{NAME}/t2.1/mine~mine", attempt] = (Ending.HOST_FAULT, None)
    study, told, stopped = going_on(tmp_path / "that", asked(mine, trials=2), runner)
    assert stopped is not None
    assert "t2.1" in stopped.because
    assert (len(told), study.is_done) == (1, False)


def test_a_trial_that_somebody_stopped_counts_for_nothing(mine, tmp_path):
    runner = Worthy(steady)
    runner.faults = {(f"{NAME}/t2.1/mine~mine", 1): (Ending.STOPPED, None)}
    study, told, stopped = going_on(tmp_path / "it", asked(mine), runner)
    assert stopped == Stopped("")
    assert len(study.trials) == len(told) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"trials": 7}, "is another tuning: trials is 6 there, and now 7"),
        (
            {"design": Design(rules=Rules.of(2), boards=1, batch=1, test=None)},
            "players is 4 there, and now 2",
        ),
    ],
)
def test_other_settings_are_refused_with_the_first_that_differs(mine, tmp_path, change, says):
    going_on(tmp_path / "it", asked(mine), Worthy(steady), after=1)
    with pytest.raises(LadderError, match=says):
        going_on(tmp_path / "it", asked(mine, **change), Worthy(steady))


def test_other_parameters_another_bot_and_another_seed_are_refused(mine, tmp_path):
    going_on(tmp_path / "it", asked(mine), Worthy(steady), after=1)
    with pytest.raises(LadderError, match="other parameters, or others of their bounds"):
        going_on(tmp_path / "it", asked(mine, parameters=mine.parameters), Worthy(steady))
    (mine.folder / "bot.py").write_text("# changed\n")
    with pytest.raises(LadderError, match="the bot was another one, or had other files"):
        going_on(tmp_path / "it", asked(load_bot(mine.folder)), Worthy(steady))
    other = secret_from_text("other")
    with (
        pytest.raises(LadderError, match="another seed; leave --seed out"),
        opened(tmp_path / "it", asked(mine), secret=other, is_new_seed=False),
    ):
        pass


@pytest.mark.parametrize(
    ("field", "value"),
    [("up", [0.9]), ("differences", []), ("differences", [True]), ("differences", [1000])],
)
def test_a_damaged_trial_is_refused_by_its_number(mine, tmp_path, field, value):
    going_on(tmp_path / "it", asked(mine), Worthy(steady), after=2)
    file = tmp_path / "it" / "tuning.json"
    document = json.loads(file.read_text())
    document["played"][1][field] = value
    file.write_text(json.dumps(document))
    with pytest.raises(LadderError, match="is damaged from trial 2 on"):
        going_on(tmp_path / "it", asked(mine), Worthy(steady))


def test_another_secret_and_what_is_no_tuning_are_refused(mine, tmp_path):
    going_on(tmp_path / "it", asked(mine), Worthy(steady), after=1)
    (tmp_path / "it" / "secret").write_text(bytes(32).hex())
    with pytest.raises(LadderError, match="is not the secret"):
        going_on(tmp_path / "it", asked(mine), Worthy(steady))
    (tmp_path / "it" / "tuning.json").write_text("[1]")
    with pytest.raises(LadderError, match="holds no tuning"):
        going_on(tmp_path / "it", asked(mine), Worthy(steady))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(LadderError, match=r"is no tuning, and has thesis\.tex in it"):
        going_on(tmp_path / "full", asked(mine), Worthy(steady))


def test_two_do_not_play_one_tuning(mine, tmp_path):
    with (
        opened(tmp_path / "it", asked(mine), secret=SECRET, is_new_seed=True),
        pytest.raises(LadderError, match="is being played already"),
        opened(tmp_path / "it", asked(mine), secret=SECRET, is_new_seed=True),
    ):
        pass


def test_a_bot_that_cannot_play_it_is_refused_before_anything_is_written(mine, tmp_path):
    only_two = replace(mine, variants=(2,))
    with pytest.raises(PlanError, match="does not play with 4"):
        going_on(tmp_path / "it", asked(only_two), Worthy(steady))
    assert not (tmp_path / "it").exists()


def test_the_secret_is_its_owners_alone(mine, tmp_path):
    going_on(tmp_path / "it", asked(mine), Worthy(steady), after=1)
    assert (tmp_path / "it" / "secret").stat().st_mode & 0o777 == 0o600
    assert SECRET.hex() not in (tmp_path / "it" / "tuning.json").read_text()
