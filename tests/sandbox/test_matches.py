"""Whole matches in the sandbox are the same, and a limit that a bot ended at is told."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
import trio

from arena.conformance.checks import CHECKS
from arena.conformance.kit import check_bot
from arena.conformance.report import Verdict
from arena.conformance.script import Ask, Process
from arena.ladder.bots.entrants import Entrant, Limits, find_bot, load_bot
from arena.ladder.bots.environments import Environments
from arena.ladder.matches.runner import Runner, open_runner
from arena.ladder.processes.sandbox import Sandbox
from hokm.outcome import Ending
from hokm.records import MatchRecord
from hokm.records.encode import substance_digest
from hokm.session import ClockRules
from tests.arena.ladder.bots.test_environments import wheel
from tests.system import test_environments as environments
from tests.system import test_raw_bots as raw
from tests.system.processes import GOOD, Notes, plan, write_bot

pytestmark = pytest.mark.timeout(600)

CHOOSES_LAST = "def choose(cards):\n    return cards[-1]\n"

typescript = raw.typescript
"""The bot in TypeScript, built; skipped with the reason where that cannot be."""


@asynccontextmanager
async def runner(
    folder: Path, sandbox: Sandbox | None, *, hello_seconds: float = 30.0
) -> AsyncIterator[Runner]:
    async with open_runner(
        concurrency=2,
        python=sys.executable,
        running=folder / "running",
        logs=folder / "logs",
        hello_seconds=hello_seconds,
        sandbox=sandbox,
    ) as running:
        yield running


async def played(folder: Path, sandbox: Sandbox | None, *entrants: Entrant) -> MatchRecord:
    notes = Notes()
    async with runner(folder, sandbox) as running:
        record = await running.play(plan(*entrants, players=4, length=2), watcher=notes)
    assert not notes.troubles
    return record


def assert_is_completed(record: MatchRecord) -> None:
    games = [game for room in record.rooms for game in room.games]
    assert {game.outcome.ending for game in games if game.outcome} == {Ending.COMPLETED}
    assert {process.exit_code for process in record.circumstances.processes} == {0}


@pytest.fixture(params=["as it is", "as an ordinary user's"])
def unused_sandbox(made_sandbox: Sandbox, request: pytest.FixtureRequest) -> Sandbox:
    """One whose socket is the referee's to make."""
    if request.param == "as it is":
        return made_sandbox
    if not made_sandbox.is_root:
        pytest.skip("an ordinary user's is the first")
    return replace(made_sandbox, is_root=False)


async def test_a_match_in_the_sandbox_is_the_same_match(
    unused_sandbox: Sandbox, tmp_path: Path
) -> None:
    bots = [load_bot(find_bot(name)) for name in ("greedy", "house")]
    free = await played(tmp_path / "free", None, *bots)
    confined = await played(tmp_path / "confined", unused_sandbox, *bots)
    assert_is_completed(confined)
    assert substance_digest(confined) == substance_digest(free)
    for record, is_confined in ((free, False), (confined, True)):
        told = {process.is_confined for process in record.circumstances.processes}
        assert told == {is_confined}
    # The kernel counts what the bot itself used, not bubblewrap: SDK and games are 0.1 s at least.
    assert all((process.cpu_seconds or 0) > 0.05 for process in confined.circumstances.processes)


async def test_a_bot_in_typescript_plays_the_same_in_the_sandbox(
    unused_sandbox: Sandbox, tmp_path: Path, typescript: Entrant
) -> None:
    bots = (typescript, load_bot(find_bot("house")))
    free = await played(tmp_path / "free", None, *bots)
    confined = await played(tmp_path / "confined", unused_sandbox, *bots)
    assert_is_completed(confined)
    assert substance_digest(confined) == substance_digest(free)


async def test_a_bot_with_packages_of_its_own_finds_them_in_the_sandbox(
    unused_sandbox: Sandbox, tmp_path: Path
) -> None:
    wheels = wheel(tmp_path / "wheels", "tiny_luck", CHOOSES_LAST).parent
    made = Environments(cache=tmp_path / "cache", wheels=wheels)
    lucky = made.prepared(load_bot(environments.lucky(tmp_path / "lucky")))
    assert_is_completed(
        await played(tmp_path / "confined", unused_sandbox, lucky, load_bot(find_bot("greedy")))
    )


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("held = bytearray(500 << 20)", "a process of it may have 256 MiB"),
        ("open('/tmp/filled', 'wb').write(bytes(80 << 20))", "/tmp and /dev/shm have 64 MiB"),
    ],
    ids=["memory", "a disk"],
)
async def test_a_fault_names_the_limit_that_the_bot_ended_at(
    made_sandbox: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    harm: str,
    said: str,
) -> None:
    # It ends by itself, however busy this machine is: neither its clock nor the arena comes first.
    monkeypatch.setattr("arena.ladder.matches.room.DEATH_SECONDS", 120.0)
    patient = ClockRules(move_seconds=120.0, bank_seconds=0.0)
    hungry = write_bot(tmp_path / "hungry", GOOD.replace("return view", f"{harm}; return view"))
    hungry = replace(hungry, limits=Limits(memory_mib=256))
    good = write_bot(tmp_path / "good", GOOD)
    notes = Notes()
    async with runner(tmp_path, made_sandbox, hello_seconds=120.0) as running:
        await running.play(plan(hungry, good, clock=patient), watcher=notes)
    assert {trouble.entrant.name for trouble in notes.troubles} == {"hungry"}
    assert said in notes.troubles[0].detail


async def test_a_bot_that_cannot_start_there_says_so(made_sandbox: Sandbox, tmp_path: Path) -> None:
    lost = write_bot(tmp_path / "lost", f"open({str(tmp_path / 'model')!r})")
    (tmp_path / "model").write_text("weights beside the bot, and not in its folder")
    notes = Notes()
    async with runner(tmp_path, made_sandbox) as running:
        await running.play(plan(lost, write_bot(tmp_path / "good", GOOD)), watcher=notes)
    assert notes.troubles[0].ending is Ending.NEVER_STARTED
    assert "exit code 1" in notes.troubles[0].detail
    assert "No such file" in notes.troubles[0].tail
    assert "bwrap" not in notes.troubles[0].by_hand


async def test_a_process_that_outlives_its_room_is_ended(
    made_sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The room ends first, as a rule; this is for when it does not."""
    bots = [write_bot(tmp_path / name, "import time; time.sleep(60)") for name in ("one", "two")]
    match = plan(*bots)
    # All that a process may live, but for two hellos of 30 s.
    monkeypatch.setattr("arena.ladder.matches.room.SPARE_SECONDS", 1.0 - match.room_seconds - 60.0)
    notes = Notes()
    with trio.fail_after(60):
        async with runner(tmp_path, made_sandbox) as running:
            await running.play(match, watcher=notes)
    assert "ended by the arena after" in notes.troubles[0].detail


async def test_the_kit_checks_a_bot_in_the_sandbox(made_sandbox: Sandbox, tmp_path: Path) -> None:
    report = await check_bot(
        load_bot(find_bot("greedy")),
        CHECKS[:6],
        ask=Ask(seed="a seed", fuzz_seconds=0.0),
        limit_seconds=100.0,
        python=sys.executable,
        running=tmp_path / "running",
        logs=tmp_path / "logs",
        done=lambda _: None,
        sandbox=made_sandbox,
    )
    assert {result.verdict for result in report.results} <= {Verdict.PASSED, Verdict.NOT_CLAIMED}


async def test_no_check_of_the_kit_starts_a_bot_outside_of_the_sandbox(
    unused_sandbox: Sandbox, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    mark = f"""
        import contextlib, os, pathlib
        with contextlib.suppress(OSError):
            pathlib.Path({str(seen)!r}, str(os.getpid())).touch()
    """
    report = await check_bot(
        write_bot(tmp_path / "curious", dedent(mark) + dedent(GOOD)),
        [check for check in CHECKS if check.process is not Process.SHARED],
        ask=Ask(seed="a seed", fuzz_seconds=0.0),
        limit_seconds=200.0,
        python=sys.executable,
        running=tmp_path / "running",
        logs=tmp_path / "logs",
        done=lambda _: None,
        sandbox=unused_sandbox,
    )
    assert not list(seen.iterdir())
    assert {result.verdict for result in report.results} <= {Verdict.PASSED, Verdict.NOT_CLAIMED}
