"""Whose fault a time loss is, with a machine that really stands still or is really busy."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hokm.outcome import Ending
from hokm.records import Verdict, load
from hokm.session import ClockRules
from tests.system.processes import GOOD, Notes, plan, runner, write_bot

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="what a process lacked cannot be seen on this system"
)

A_SECOND = ClockRules(move_seconds=1.0, bank_seconds=0.0)

# It takes 0.4 s of CPU for each move, and says when the first one begins.
WORKING = """
    import pathlib, time
    from hokm import Bot, run

    class Working(Bot):
        def play(self, view):
            pathlib.Path("thinking").touch()
            began = time.process_time()
            while time.process_time() < began + 0.4:
                pass
            return view.playable[0]

    run(Working)
"""

# It takes a little of the time it has, asleep.
SLEEPY = """
    import pathlib, time
    from hokm import Bot, run

    class Sleepy(Bot):
        def play(self, view):
            time.sleep(0.2)
            pathlib.Path("thinking").touch()
            return view.playable[0]

    run(Sleepy)
"""

ASLEEP = SLEEPY.replace("sleep(0.2)", "sleep(60)")


@contextmanager
def a_busy_cpu(cpu: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """One CPU has much to do; the others are left to whatever else is tested."""
    busy = ["taskset", "-c", cpu, sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(busy, start_new_session=True) for _ in range(16)]
    try:
        yield burners
    finally:
        for burner in burners:
            burner.kill()
        for burner in burners:
            burner.wait()


def a_match(folder: Path, *, bot: str, move_seconds: float) -> tuple[list[str], Path]:
    """The command for a rated match of a bot with this source, and its record."""
    write_bot(folder / "timed", bot)
    write_bot(folder / "good", GOOD)
    record = folder / "match.json"
    command = [
        *("env", f"TMPDIR={folder}"),
        *(sys.executable, "-m", "arena", "match", str(folder / "timed"), str(folder / "good")),
        *("--players", "2", "--boards", "1", "--move-time", str(move_seconds), "--bank", "0"),
        *("--policy", "rated", "--seed", "x", "--json", "--record", str(record)),
    ]
    return command, record


def wait_for_thought(folder: Path, process: subprocess.Popen[str]) -> None:
    """The bot writes a file when it has begun to think."""
    while not (folder / "timed" / "thinking").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_a_bot_that_a_busy_machine_keeps_from_its_time_is_not_found_to_be_slow(
    tmp_path: Path,
) -> None:
    command, _ = a_match(tmp_path, bot=WORKING, move_seconds=1.0)
    cpu = str(min(os.sched_getaffinity(0)))
    pinned = ["taskset", "-c", cpu, *command]
    pipe = subprocess.PIPE
    with subprocess.Popen(pinned, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        wait_for_thought(tmp_path, process)
        with a_busy_cpu(cpu):
            verdicts = (line for line in process.stderr if "verdict: " in line)
            verdict = next(verdicts, "no time was lost")
        for _ in range(2):  # what becomes of the match depends on what else this machine does
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    # Nearly always it is the host's fault; the machine may have been quick to begin with.
    assert "verdict: host" in verdict or "verdict: unclear" in verdict


async def test_a_bot_that_sleeps_has_lost_and_the_record_says_where_its_time_went(
    tmp_path: Path,
) -> None:
    asleep = write_bot(tmp_path / "asleep", ASLEEP)
    good = write_bot(tmp_path / "good", GOOD)
    watcher = Notes()
    async with runner(tmp_path) as running:
        record = await running.play(plan(asleep, good, clock=A_SECOND), watcher=watcher)
    for room in record.rooms:
        loss = room.games[0].time_loss
        assert loss is not None
        # A machine with much other work may leave a doubt, which is no help to it.
        assert loss.verdict in (Verdict.BOT, Verdict.UNCLEAR)
        assert loss.limit_seconds == 1.0
        assert loss.cpu_seconds is not None
        assert loss.cpu_seconds < 0.5
    assert {trouble.ending for trouble in watcher.troubles} == {Ending.TIME}
    assert str(watcher.troubles[0].time_loss).startswith("verdict: ")


def test_when_the_referee_itself_stands_still_the_match_is_played_again(tmp_path: Path) -> None:
    command, record = a_match(tmp_path, bot=SLEEPY, move_seconds=1.0)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        wait_for_thought(tmp_path, process)
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)
        process.send_signal(signal.SIGCONT)
        said, complained = process.communicate(timeout=120)
    assert process.returncode == 0, complained
    assert "fault of this machine, not of " in complained
    assert "verdict: host" in complained
    assert json.loads(said)["endings"] == {"COMPLETED": 2}
    assert load(record).attempt > 1
