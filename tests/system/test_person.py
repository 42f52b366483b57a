"""A person at a table with real bots: what is typed comes from a pipe."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from arena.cli import sitting as sitting_down
from arena.ladder.processes.invitations import Guest
from hokm.cards import Seat
from hokm.notation import parse_hand
from hokm.outcome import Ending
from hokm.records import load, verify

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is left is seen in /proc")


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """All that is left of a game would be below the folder of the test."""
    places = {"TMPDIR": "temporary", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data"}
    (tmp_path / "temporary").mkdir()
    return {**os.environ, **{name: str(tmp_path / place) for name, place in places.items()}}


@contextmanager
def sitting(environment: Mapping[str, str], *words: object) -> Iterator["subprocess.Popen[str]"]:
    """The command in a process group of its own, as a shell runs it in a terminal."""
    command = [sys.executable, "-m", "arena", "play", *map(str, words)]
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def assert_nothing_is_left(pid: int, folder: Path) -> None:
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)
    assert list((folder / "temporary").iterdir()) == []
    # Who runs is noted there, and the note goes once all of it is gone.
    assert list((folder / "state/hokm-arena/running").iterdir()) == []


def test_a_board_is_played_to_its_end(environment: Mapping[str, str], tmp_path: Path) -> None:
    file = tmp_path / "board.json"
    words = ["--with", "greedy", "--format", "boards", "--boards", 1, "--record", file]
    with sitting(environment, *words) as process:
        out, err = process.communicate("1\n" * 14, timeout=60)
    assert process.returncode == 0, err
    assert err == "greedy takes every seat that is left\n"
    assert out.count("name trump > 1\n") == 1
    assert ("You win: " in out) != ("You lose: " in out)
    record = load(file)
    assert list(verify(record)) == []
    [game] = record.rooms[0].games
    assert game.outcome is not None
    assert game.outcome.ending is Ending.COMPLETED
    asked = out.count("your card > 1\n")
    assert asked == len(game.hands[0].plays) // 4
    _, hand = parse_hand(out[out.index("\n  hokm 4 ") :])
    assert hand.plays == game.hands[0].plays
    assert_nothing_is_left(process.pid, tmp_path)


def test_ctrl_c_leaves_the_table_at_once_and_nothing_behind(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "board.json"
    with sitting(environment, "--format", "boards", "--record", file) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("1\n")
        process.stdin.flush()
        while "you may  1 " not in process.stdout.readline():
            pass
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines() == ["house takes every seat that is left", "interrupted"]
    assert f"see it again: arena replay {file}\n" in out
    record = load(file)
    assert list(verify(record)) == []
    endings = {game.outcome.ending for game in record.rooms[0].games if game.outcome}
    assert endings == {Ending.STOPPED}
    assert_nothing_is_left(process.pid, tmp_path)


async def test_a_process_that_ends_before_its_match_leaves_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sitting_down, "PERSON", "no_such_module")
    chair, left = sitting_down.Chair("sara"), trio.Event()
    guest = Guest(match="m", name="sara", entrant=0, room=1, seat=Seat(0))
    with trio.fail_after(60):
        async with chair.attended(on_left=left.set):
            invitation = chair.invite(guest, address="nowhere", ticket="secret", seconds=1)
            assert await invitation.refused() == "the person's process ended with exit code 1"
            await left.wait()
    assert chair.status == 1
