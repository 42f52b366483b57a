"""What surrounds a match for whoever operates it, with real processes: figures and a SIGTERM."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from arena.ladder.matches.runner import open_runner
from arena.metrics import Figures
from hokm.outcome import Ending
from tests.system.processes import GOOD, Notes, plan, write_bot

if os.name != "posix":
    pytest.skip("the arena runs bots on POSIX systems", allow_module_level=True)

HANGS = """
    import pathlib, signal
    from hokm import Bot, run

    class Hangs(Bot):
        def play(self, view):
            with open({fifo!r}, "w"):
                signal.pause()

    run(Hangs)
"""


def test_figures_are_read_while_a_match_is_played_and_a_drain_ends_in_time(tmp_path: Path) -> None:
    fifo = tmp_path / "here"
    os.mkfifo(fifo)
    bots = [
        write_bot(tmp_path / "good", GOOD),
        write_bot(tmp_path / "slow", HANGS.format(fifo=str(fifo))),
    ]
    words = ["--players", "2", "--boards", "1", "--bank", "3000", "--concurrency", "1", "--json"]
    words += ["--metrics", "127.0.0.1:0", "--drain", "0.1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", "match", *(str(bot.folder) for bot in bots), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state"), "TMPDIR": str(tmp_path)},
    )
    try:
        assert process.stderr is not None
        address = process.stderr.readline().removeprefix("metrics: ").rstrip()
        with fifo.open():  # it plays
            with urllib.request.urlopen(address, timeout=10) as response:
                figures = dict(
                    line.split(" ")
                    for line in response.read().decode().splitlines()
                    if not line.startswith("#")
                )
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate()
    finally:
        process.kill()
        process.communicate()
    assert figures["hokm_games_under_way"] == "1.0"
    assert figures["hokm_streams"] == "2.0"
    assert float(figures["hokm_answers_total"]) > 0
    assert figures["hokm_queue_age_seconds"] == "0.0"
    assert json.loads(out)["endings"] == {"STOPPED": 2}
    assert process.returncode == 1
    assert err.splitlines() == [
        "stopping: the games under way have 0.1 s to finish; another SIGTERM ends them at once",
        "stopping at once",
    ]


async def test_figures_of_a_match_agree_with_its_record(tmp_path: Path) -> None:
    figures = Figures()
    bots = [write_bot(tmp_path / name, GOOD) for name in "ab"]
    async with open_runner(
        concurrency=2,
        python=sys.executable,
        running=tmp_path / "running",
        logs=tmp_path / "logs",
        hello_seconds=30.0,
        meter=figures,
    ) as runner:
        record = await runner.play(plan(*bots), watcher=Notes())
    games = [game for room in record.rooms for game in room.games]
    charged = [seconds for game in games for hand in game.seconds for seconds in hand]
    assert figures.games == {Ending.COMPLETED: len(games)}
    assert sum(figures.charges.counts) == figures.answers == len(charged)
    assert figures.charges.total == pytest.approx(sum(charged))
    assert figures.streams_opened == 4
    assert (figures.streams, figures.games_under_way) == (0, 0)
