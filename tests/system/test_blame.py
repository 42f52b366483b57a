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
import trio

from arena.ladder.boards import MatchPlan
from arena.ladder.room import Trouble
from hokm.outcome import Ending
from hokm.records import Verdict, load, verify
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
def a_busy_machine() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Both cores, and all others, have much to do."""
    count = 12 * len(os.sched_getaffinity(0))
    busy = [sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(busy, start_new_session=True) for _ in range(count)]
    try:
        yield burners
    finally:
        for burner in burners:
            burner.kill()
        for burner in burners:
            burner.wait()


class Relieved(Notes):
    """Ends what keeps the machine busy as soon as a bot is in trouble."""

    def __init__(self) -> None:
        super().__init__()
        self.burners: list[subprocess.Popen[bytes]] = []

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        super().trouble(plan, trouble)
        for burner in self.burners:
            burner.kill()


async def test_a_bot_that_a_busy_machine_keeps_from_its_time_has_not_lost(tmp_path: Path) -> None:
    working = write_bot(tmp_path / "working", WORKING)
    good = write_bot(tmp_path / "good", GOOD)
    watcher = Relieved()
    async with runner(tmp_path) as running, trio.open_nursery() as nursery:

        async def play() -> None:
            record = await running.play(plan(working, good, clock=A_SECOND), watcher=watcher)
            assert verify(record) == ()

        nursery.start_soon(play)
        while not (tmp_path / "working" / "thinking").exists():  # noqa: ASYNC110
            await trio.sleep(0.01)
        with a_busy_machine() as watcher.burners:
            while not watcher.troubles:  # noqa: ASYNC110
                await trio.sleep(0.01)
    trouble = watcher.troubles[0]
    assert trouble.ending is Ending.HOST_FAULT, trouble.time_loss
    assert trouble.time_loss is not None
    # Whether the bot had no CPU or the referee, or both, is chance.
    assert trouble.time_loss.verdict is Verdict.HOST


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
        assert (loss.verdict, loss.limit_seconds) == (Verdict.BOT, 1.0)
        assert loss.cpu_seconds is not None
        assert loss.cpu_seconds < 0.5
    assert {trouble.ending for trouble in watcher.troubles} == {Ending.TIME}
    assert "verdict: bot" in str(watcher.troubles[0].time_loss)


def test_when_the_referee_itself_stands_still_the_match_is_played_again(tmp_path: Path) -> None:
    for name, source in {"sleepy": SLEEPY, "good": GOOD}.items():
        write_bot(tmp_path / name, source)
    record = tmp_path / "match.json"
    command = [
        *(sys.executable, "-m", "arena", "match", str(tmp_path / "sleepy"), str(tmp_path / "good")),
        *("--players", "2", "--boards", "1", "--move-time", "0.4", "--bank", "0"),
        *("--policy", "rated", "--seed", "x", "--json", "--record", str(record)),
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        while not (tmp_path / "sleepy" / "thinking").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.0)
        process.send_signal(signal.SIGCONT)
        said, complained = process.communicate(timeout=120)
    assert process.returncode == 0, complained
    assert "fault of this machine, not of " in complained
    assert "verdict: host" in complained
    assert json.loads(said)["endings"] == {"COMPLETED": 2}
    assert load(record).attempt == 2
