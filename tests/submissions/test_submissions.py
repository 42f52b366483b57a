"""None of the zoo of broken submissions is accepted, and each report names the cause, how to repeat
it, and what came of it; ``arena bot check`` says the same. Bots are real processes.
"""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import trio

from arena.cli import main
from arena.conformance.checks import CHECKS
from arena.conformance.script import Check
from arena.ladder.bots.environments import Environments
from arena.ladder.processes.sandbox import Sandbox, SandboxError
from arena.validation.document import LARGEST_BYTES, document_of, text_of
from arena.validation.validate import Ask, Means, validate
from arena.validation.values import Stage, State, Validation, Verdict
from tests.submissions.broken import ZOO, Broken, folder

pytestmark = pytest.mark.timeout(120)

HELLO_SECONDS = 3.0
ANSWER_SECONDS = 1.0
FUZZ_SECONDS = 0.5


def chosen(names: Sequence[str]) -> list[Check]:
    return [one for one in CHECKS if any(fnmatchcase(one.name, name) for name in names)]


async def validated(
    place: Path,
    tmp_path: Path,
    sandbox: Sandbox | None,
    *,
    ask: Ask,
) -> Validation:
    for name in ("work", "wheels"):
        (tmp_path / name).mkdir()
    means = Means(
        work=tmp_path / "work",
        running=tmp_path / "running",
        logs=tmp_path / "logs",
        environments=Environments(
            cache=tmp_path / "cache",
            wheels=tmp_path / "wheels",
            confine=None if sandbox is None else lambda: nullcontext(sandbox),
        ),
        sandbox=sandbox,
        concurrency=2,
    )
    return await validate(place, ask=ask, means=means)


def test_the_zoo_is_seen_in_the_sandbox(tried_sandbox: Sandbox | SandboxError) -> None:
    if isinstance(tried_sandbox, SandboxError):
        pytest.skip(f"the other tests here ran without: {tried_sandbox}")
    assert len(ZOO) >= 20


@pytest.mark.parametrize("what", ZOO)
async def test_a_broken_submission_is_refused_and_told_why(
    what: str, tmp_path: Path, sandbox: Sandbox | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if what == "never says hello":
        monkeypatch.setattr("arena.conformance.talk.HELLO_SECONDS", HELLO_SECONDS)
    if what == "hangs":
        monkeypatch.setattr("arena.conformance.talk.ANSWER_SECONDS", ANSWER_SECONDS)
    broken = ZOO[what]
    ask = Ask(
        seed="tests",
        checks=chosen(broken.checks),
        fuzz_seconds=FUZZ_SECONDS,
        limit_seconds=60.0,
        clock=broken.clock,
    )
    validation = await validated(broken.write(tmp_path), tmp_path, sandbox, ask=ask)
    assert validation.verdict is Verdict.REFUSED, validation.problem
    assert_tells(validation, broken)


def assert_tells(validation: Validation, broken: Broken) -> None:
    """Its stage, its cause and all that goes with that are told."""
    assert validation.stage is broken.stage
    assert broken.cause in validation.cause
    order = list(Stage)
    reached = order.index(broken.stage)
    states = [one.state for one in validation.stages]
    assert states[:reached] == [State.PASSED] * reached
    assert set(states[reached + 1 :]) <= {State.NOT_REACHED}
    failure = validation.failures[0]
    assert failure.command.startswith(("arena bot check ", "arena match "))
    assert failure.elapsed_seconds is not None
    if broken.exit_code is not None:
        assert failure.exit_code == broken.exit_code
    if broken.stage in (Stage.CONFORMANCE, Stage.MATCHES):
        assert failure.limit_seconds is not None
        assert "bot.py" in failure.by_hand
    text = text_of(document_of(validation))
    assert len(text.encode()) <= LARGEST_BYTES
    assert text.replace("\n", "").isprintable()
    document = json.loads(text)
    assert (document["verdict"], document["stage"]) == ("refused", broken.stage.value)
    told = document["failures"][0]
    assert broken.told in "\n".join([*told["log"], *told["exchange"]])


async def test_a_good_submission_is_accepted(tmp_path: Path, sandbox: Sandbox | None) -> None:
    ask = Ask(seed="tests", checks=chosen(["hello", "four-seats", "fuzz"]), fuzz_seconds=0.5)
    validation = await validated(folder()(tmp_path), tmp_path, sandbox, ask=ask)
    assert validation.verdict is Verdict.ACCEPTED, validation.cause
    assert {one.state for one in validation.stages} == {State.PASSED}
    names = [match.name for match in validation.matches]
    assert names == ["2-boards", "2-race", "3-boards", "4-boards", "4-race"]
    assert not validation.is_complete  # for want of the other checks


def said_by_the_command(
    place: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    status = main(["bot", "check", str(place), "--json", *words])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return status, document


AT_HOME = (
    "has an unknown key",
    "leads out of its folder",
    "requires what there is not",
    "has a syntax error",
    "reads the network",
)


@pytest.mark.parametrize("what", AT_HOME)
def test_the_command_says_the_same_at_home(
    what: str,
    tmp_path: Path,
    sandbox: Sandbox | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "there").mkdir()
    place = ZOO[what].write(tmp_path)
    ask = Ask(seed="tests", checks=chosen(ZOO[what].checks))
    there = document_of(trio.run(_validated, place, tmp_path / "there", sandbox, ask))
    wheels = str(tmp_path / "there" / "wheels")
    confine = [] if sandbox is None else ["--sandbox"]
    status, home = said_by_the_command(
        place, capsys, "--seed", "tests", "--wheels", wheels, *confine
    )
    assert status == 1
    for key in ("verdict", "stage", "cause", "bot"):
        assert home[key] == there[key]
    assert (home["complete"], there["complete"]) == (True, False)


async def _validated(place: Path, folder: Path, sandbox: Sandbox | None, ask: Ask) -> Validation:
    return await validated(place, folder, sandbox, ask=ask)
