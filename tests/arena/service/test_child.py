"""A command of the arena's own, run as a process. Real processes, of a moment each."""

import os
import sys
from pathlib import Path

import pytest
import trio

from arena.service.child import Ended, run


async def python(code: str, *, seconds: float = 30.0, **options) -> Ended:
    options = {"out_bytes": 10_000, "err_bytes": 100, "grace_seconds": 5.0} | options
    return await run([sys.executable, "-c", code], seconds=seconds, **options)


async def test_its_output_and_exit_code_are_handed_back() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    ended = await python(code)
    assert ended == Ended(returncode=3, out=b"out\n", err=b"err\n")


async def test_it_is_in_a_group_of_its_own_and_in_our_session() -> None:
    """Else it would be taken for what a bot left behind (`arena.ladder.processes.orphans`)."""
    ended = await python("import os; print(os.getpgid(0) == os.getpid(), os.getsid(0))")
    assert ended.out.split() == [b"True", str(os.getsid(0)).encode()]


async def test_the_beginning_of_a_flood_and_the_end_of_complaints_are_kept() -> None:
    code = "import sys; print('a' * 10**6); print('b' * 10**6 + 'end', file=sys.stderr)"
    ended = await python(code, out_bytes=50, err_bytes=5)
    assert (ended.out, ended.is_cut, ended.err) == (b"a" * 50, True, b"bend\n")


async def test_one_that_takes_too_long_is_ended_with_all_that_it_started() -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(100)\n"
    )
    with trio.fail_after(20):
        ended = await python(code, seconds=1.0, grace_seconds=0.2)
    assert ended.is_overdue
    assert ended.returncode == -9
    assert not await is_alive(int(ended.out))


async def test_one_that_is_asked_to_end_may_put_things_in_order() -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "print('ready', flush=True)\n"
        "time.sleep(100)\n"
    )
    with trio.fail_after(20):
        ended = await python(code, seconds=2.0)
    assert (ended.returncode, ended.is_overdue) == (7, True)


async def test_it_does_not_outlive_whoever_is_cancelled() -> None:
    with trio.fail_after(20), trio.move_on_after(0.5) as scope:
        await python("import time; time.sleep(100)")
    assert scope.cancelled_caught  # and no process is left, which is looked at after each test


async def test_what_holds_on_to_its_output_holds_nobody_up() -> None:
    code = (
        "import subprocess, sys\n"
        "code = 'import time; time.sleep(100)'\n"
        "other = subprocess.Popen([sys.executable, '-c', code])\n"
        "print(other.pid)\n"
    )
    with trio.fail_after(20):
        ended = await python(code)
    assert (ended.returncode, ended.is_overdue) == (0, False)
    assert not await is_alive(int(ended.out))


async def test_one_that_is_not_there_cannot_be_started(monkeypatch) -> None:
    monkeypatch.setattr("arena.service.child.death_signal_prefix", lambda: ())
    with pytest.raises(OSError, match="No such file"):
        await run(["/no/such/command"], seconds=5, out_bytes=1, err_bytes=100)


async def is_alive(pid: int) -> bool:
    """Whether a process runs; a moment is given to init, which reaps it."""
    for _ in range(100):
        if state_of(pid) in ("", "Z"):
            return False
        await trio.sleep(0.02)
    return True


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
