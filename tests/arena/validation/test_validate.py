"""The stages of a validation, and who is at fault. Nothing is started: the kit and the runner are
doubles, and time is virtual.
"""

import errno
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio

from arena.conformance.checks import CHECKS
from arena.conformance.report import Finding, Report, Result
from arena.conformance.report import Verdict as CheckVerdict
from arena.conformance.script import Check
from arena.ladder import ladder
from arena.ladder.bots import archive
from arena.ladder.bots.entrants import Entrant
from arena.ladder.bots.environments import Environments, NotPreparedError
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Watcher
from arena.ladder.processes.launcher import LaunchError
from arena.ladder.testing import InProcessRunner
from arena.validation import validate as validating
from arena.validation.validate import Ask, Means, validate
from arena.validation.values import State, Validation, Verdict
from hokm.outcome import Ending
from hokm.records import MatchRecord
from tests.submissions.broken import folder

PASSED, FAILED, NOT_REACHED = State.PASSED, State.FAILED, State.NOT_REACHED


@dataclass
class Doubles:
    """What the kit and the runner do."""

    results: list[Result] = field(default_factory=list)
    kit_fails_with: Exception | None = None
    kit_seconds: float = 0.0
    fault: Callable[[MatchPlan], tuple[Ending, int | None] | None] = lambda plan: None
    match_seconds: float = 0.0
    later: list[Result] | None = None
    """What the kit finds from the second time on."""
    asked: list[list[str]] = field(default_factory=list)
    played: list[MatchPlan] = field(default_factory=list)


class Runner(InProcessRunner):
    def __init__(self, doubles: Doubles) -> None:
        super().__init__()
        self.doubles = doubles

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        self.doubles.played.append(plan)
        await trio.sleep(self.doubles.match_seconds)
        if (fault := self.doubles.fault(plan)) is not None:
            self.faults[plan.match, plan.attempt] = fault
        return await super().play(plan, watcher=watcher)


@pytest.fixture
def doubles(monkeypatch: pytest.MonkeyPatch) -> Doubles:
    doubles = Doubles()

    async def check_bot(entrant: Entrant, checks: list[Check], **_: object) -> Report:
        await trio.sleep(doubles.kit_seconds)
        if doubles.kit_fails_with is not None:
            raise doubles.kit_fails_with
        doubles.asked.append([check.name for check in checks])
        is_first = len(doubles.asked) == 1 or doubles.later is None
        results = doubles.results if is_first else doubles.later
        assert results is not None
        return Report(bot=entrant.name, version="1", seed="s", seconds=1.0, results=results)

    @asynccontextmanager
    async def open_runner(**_: object) -> AsyncIterator[Runner]:
        yield Runner(doubles)

    monkeypatch.setattr(validating, "check_bot", check_bot)
    monkeypatch.setattr(validating, "open_runner", open_runner)
    return doubles


async def validated(
    place: Path, tmp_path: Path, *, limit_seconds: float = 100.0, tells_each: bool = False
) -> Validation:
    (tmp_path / "work").mkdir()
    (tmp_path / "wheels").mkdir()
    means = Means(
        work=tmp_path / "work",
        running=tmp_path / "running",
        logs=tmp_path / "logs",
        environments=Environments(cache=tmp_path / "cache", wheels=tmp_path / "wheels"),
    )
    ask = Ask(seed="s", limit_seconds=limit_seconds, tells_each=tells_each)
    return await validate(place, ask=ask, means=means)


def states(validation: Validation) -> list[State]:
    return [one.state for one in validation.stages]


def result(
    name: str, verdict: CheckVerdict, *, alike: str = "", elapsed_seconds: float = 0.5
) -> Result:
    check = next(one for one in CHECKS if one.name == name)
    finding = Finding(
        what="it played AC",
        expected="another card",
        reference="rulebook 1.4",
        exchange=("one", "two"),
        log="oh\n",
        by_hand="python bot.py",
        alike=alike,
        decision=3,
        exit_code=None,
        elapsed_seconds=elapsed_seconds,
        limit_seconds=6.0,
    )
    is_found = verdict is CheckVerdict.FAILED
    return Result(check, verdict, 1.0, "it played AC", finding if is_found else None)


async def test_a_bot_that_passes_every_stage_is_accepted(tmp_path: Path, doubles: Doubles) -> None:
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.verdict is Verdict.ACCEPTED
    assert states(validation) == [PASSED] * 4
    assert validation.is_complete
    assert len(validation.matches) == len(doubles.played) == 5


async def test_nothing_is_run_of_a_bot_whose_files_are_refused(
    tmp_path: Path, doubles: Doubles
) -> None:
    doubles.kit_fails_with = AssertionError("it was run")
    validation = await validated(folder(without="bot.py")(tmp_path), tmp_path)
    assert validation.verdict is Verdict.REFUSED
    assert states(validation) == [FAILED, NOT_REACHED, NOT_REACHED, NOT_REACHED]
    (failure,) = validation.failures
    assert failure.command == f"arena bot check {tmp_path}/mine"


async def test_no_match_is_played_by_a_bot_that_fails_a_check(
    tmp_path: Path, doubles: Doubles
) -> None:
    doubles.results = [
        result("four-void", CheckVerdict.FAILED, alike="x"),
        result("fuzz", CheckVerdict.FAILED, alike="x"),
        result("hello", CheckVerdict.PASSED),
    ]
    validation = await validated(folder()(tmp_path), tmp_path)
    assert states(validation) == [PASSED, PASSED, FAILED, NOT_REACHED]
    assert doubles.played == []
    (failure,) = validation.failures
    assert validation.cause == "four-void: it played AC"
    assert (failure.name, failure.also) == ("four-void", ["fuzz"])
    assert (failure.elapsed_seconds, failure.limit_seconds) == (0.5, 6.0)
    assert failure.command == f"arena bot check {tmp_path}/mine --only four-void --seed s"


async def test_each_failed_check_is_told_where_that_is_asked(
    tmp_path: Path, doubles: Doubles
) -> None:
    doubles.results = [
        result(name, CheckVerdict.FAILED, alike="x") for name in ("four-void", "fuzz")
    ]
    validation = await validated(folder()(tmp_path), tmp_path, tells_each=True)
    assert [(one.name, list(one.also)) for one in validation.failures] == [
        ("four-void", []),
        ("fuzz", []),
    ]


async def test_checks_that_there_was_no_time_for_refuse_and_say_what_to_do(
    tmp_path: Path, doubles: Doubles
) -> None:
    doubles.results = [result("fuzz", CheckVerdict.NOT_RUN)]
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.verdict is Verdict.REFUSED
    assert validation.cause == "time ran out after 100 s: 1 check not run"
    assert validation.failures[0].command.endswith("mine --seed s --limit 400")


LATE = result("names", CheckVerdict.FAILED, elapsed_seconds=7.0)
WRONG = result("four-void", CheckVerdict.FAILED)
ON_TIME = result("names", CheckVerdict.PASSED)


async def test_a_check_that_failed_for_want_of_time_alone_is_run_once_more(
    tmp_path: Path, doubles: Doubles
) -> None:
    doubles.results, doubles.later = [LATE, result("hello", CheckVerdict.PASSED)], [ON_TIME]
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.verdict is Verdict.ACCEPTED
    assert doubles.asked[1:] == [["names"]]
    assert validation.conformance is not None
    assert [one.check.name for one in validation.conformance.results] == ["names", "hello"]


async def test_a_check_that_fails_so_twice_refuses(tmp_path: Path, doubles: Doubles) -> None:
    doubles.results, doubles.later = [LATE], [LATE]
    assert (await validated(folder()(tmp_path), tmp_path)).verdict is Verdict.REFUSED
    assert len(doubles.asked) == 2


@pytest.mark.parametrize("results", [[WRONG], [LATE, WRONG], [LATE] * 4])
async def test_what_failed_otherwise_or_often_is_not_run_again(
    tmp_path: Path, doubles: Doubles, results: list[Result]
) -> None:
    doubles.results, doubles.later = results, [ON_TIME]
    assert (await validated(folder()(tmp_path), tmp_path)).verdict is Verdict.REFUSED
    assert len(doubles.asked) == 1


async def test_what_was_late_after_others_is_run_again_with_them(
    tmp_path: Path, doubles: Doubles
) -> None:
    doubles.results = [
        result("names", CheckVerdict.PASSED),
        result("hello", CheckVerdict.PASSED),
        result("long-session", CheckVerdict.FAILED, elapsed_seconds=7.0),
    ]
    doubles.later = [result("long-session", CheckVerdict.PASSED)]
    assert (await validated(folder()(tmp_path), tmp_path)).verdict is Verdict.ACCEPTED
    assert doubles.asked[1:] == [["names", "long-session"]]


async def test_matches_have_the_time_that_checks_have_left(
    tmp_path: Path, doubles: Doubles, autojump_clock: trio.testing.MockClock
) -> None:
    doubles.kit_seconds, doubles.match_seconds = 60.0, 50.0
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.seconds == pytest.approx(100.0)
    assert validation.verdict is Verdict.REFUSED
    assert validation.cause == "2-boards: time ran out: checks and matches may take 100 s together"
    assert len(validation.failures) == 5


# -- whose fault it is


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), "temporarily unavailable"),
        (LaunchError("process 7 outlives SIGKILL by 5 s"), "outlives SIGKILL"),
        (OSError(errno.ENOSPC, "No space left on device", "/logs/1"), "/logs/1: No space left"),
    ],
)
async def test_a_machine_that_fails_decides_nothing(
    tmp_path: Path, doubles: Doubles, error: Exception, told: str
) -> None:
    doubles.kit_fails_with = ExceptionGroup("", [ExceptionGroup("", [error]), error])
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.verdict is Verdict.UNDECIDED
    assert told in validation.problem
    assert states(validation) == [PASSED, PASSED, FAILED, NOT_REACHED]


async def test_a_disk_that_is_full_refuses_no_archive(
    tmp_path: Path, doubles: Doubles, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = archive.pack(folder()(tmp_path), into=tmp_path / "kept").file

    def unpack(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "work" / "bot.py"))

    monkeypatch.setattr(archive, "unpack", unpack)
    validation = await validated(file, tmp_path)
    assert validation.verdict is Verdict.UNDECIDED
    assert validation.problem == "No space left on device"  # where is no business of an author


async def test_what_nobody_foresaw_is_raised(tmp_path: Path, doubles: Doubles) -> None:
    doubles.kit_fails_with = ExceptionGroup("", [OSError("odd"), RuntimeError("a bug of ours")])
    with pytest.raises(ExceptionGroup):
        await validated(folder()(tmp_path), tmp_path)


@pytest.mark.parametrize("is_ours", [True, False])
async def test_packages_that_no_network_brings_are_no_fault_of_the_bot(
    tmp_path: Path, doubles: Doubles, monkeypatch: pytest.MonkeyPatch, is_ours: bool
) -> None:
    def prepared(self: Environments, entrant: Entrant) -> Entrant:
        raise NotPreparedError("x", "failed", remedy="mend", output="said\n", is_ours=is_ours)

    monkeypatch.setattr(Environments, "prepared", prepared)
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.verdict is (Verdict.UNDECIDED if is_ours else Verdict.REFUSED)
    assert states(validation) == [PASSED, FAILED, NOT_REACHED, NOT_REACHED]
    if not is_ours:
        assert validation.failures[0].log == "said\n"
        assert validation.failures[0].limit_seconds == 600.0


async def test_a_match_that_the_host_spoils_is_played_again(
    tmp_path: Path, doubles: Doubles
) -> None:
    doubles.fault = lambda plan: (Ending.HOST_FAULT, None) if plan.attempt == 1 else None
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.verdict is Verdict.ACCEPTED
    assert len(doubles.played) == 10


async def test_a_host_that_spoils_it_each_time_decides_nothing(
    tmp_path: Path, doubles: Doubles
) -> None:
    doubles.fault = lambda plan: (
        (Ending.HOST_FAULT, None) if plan.rules.players == 3 else (Ending.CRASH, 0)
    )
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.verdict is Verdict.UNDECIDED
    assert "the arena failed in the match 3-boards" in validation.problem


async def test_a_game_that_is_not_completed_refuses(tmp_path: Path, doubles: Doubles) -> None:
    doubles.fault = lambda plan: (Ending.CRASH, 0) if plan.rules.players == 2 else None
    validation = await validated(folder()(tmp_path), tmp_path)
    assert validation.verdict is Verdict.REFUSED
    assert [failure.name for failure in validation.failures] == ["2-boards", "2-race"]
    assert validation.cause == "2-boards: CRASH: CRASH on order"


# -- how its author knows it


async def test_a_ladders_copy_is_told_of_as_its_author_knows_it(
    tmp_path: Path, doubles: Doubles
) -> None:
    file = archive.pack(folder()(tmp_path), into=tmp_path / "submissions").file
    doubles.results = [result("four-void", CheckVerdict.FAILED)]
    validation = await validated(file, tmp_path)
    (failure,) = validation.failures
    assert failure.command == "arena bot check ./mine --only four-void --seed s"


async def test_no_place_of_the_machine_is_told_of_an_archive(
    tmp_path: Path, doubles: Doubles
) -> None:
    claims = {"version": "2", "protocol": 9}
    place = folder(claims=claims)(tmp_path)
    file = archive.pack(place, into=tmp_path / "submissions").file
    validation = await validated(file, tmp_path)
    assert validation.cause.startswith("./mine/bot.toml: protocol: 9 is not spoken here")
    assert str(tmp_path) not in str(validation.failures)


async def test_a_name_that_no_ladder_can_pair_is_refused(tmp_path: Path, doubles: Doubles) -> None:
    assert validating.LONGEST_NAMES_BYTES == ladder.LONGEST_NAMES_BYTES
    claims = {"name": "گ" * 40}
    validation = await validated(folder(claims=claims)(tmp_path), tmp_path)
    assert validation.verdict is Verdict.REFUSED
    assert "name: 3 of them have 242 bytes" in validation.cause
