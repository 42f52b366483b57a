"""What can be seen of a process from outside."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.ladder.processes.vitals import memory_of, vitals
from arena.referee.blame import Vitals

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="there is no /proc to read on this system"
)

BUSY = "while True: pass"
A_BUSY_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"


def look_until(pid: int, enough: Callable[[Vitals], bool]) -> Vitals:
    """Look until it shows; a guard of the test's own ends it if it never does."""
    while True:
        seen = vitals(pid)
        assert seen is not None
        if enough(seen):
            return seen
        time.sleep(0.01)


@pytest.mark.parametrize("program", [BUSY, A_BUSY_CHILD], ids=["itself", "a child"])
def test_what_a_process_and_its_children_use_is_seen(program: str) -> None:
    with subprocess.Popen([sys.executable, "-c", program], start_new_session=True) as process:
        try:
            used = look_until(process.pid, lambda seen: seen.cpu_seconds > 0.1)
            assert used.waited_seconds
            later = look_until(process.pid, lambda seen: seen.cpu_seconds > used.cpu_seconds)
            assert later.waited_since(used) >= 0.0
        finally:
            subprocess.run(["kill", "-9", "--", f"-{process.pid}"], check=True)


def test_processes_that_share_a_cpu_wait_for_it() -> None:
    pinned = ["taskset", "-c", "0", sys.executable, "-c", BUSY]
    processes = [subprocess.Popen(pinned) for _ in range(3)]
    try:
        look_until(processes[0].pid, lambda seen: max(seen.waited_seconds.values()) > 0.1)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_in_a_sandbox_it_is_the_bot_that_waits_and_not_what_is_around_it() -> None:
    shell = ["sh", "-c", '"$@"; exit $?', "sh"]
    command = [*shell, *shell, sys.executable, "-c", BUSY]
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            used = None
            while used is None or used.cpu_seconds < 0.1:  # until all of them are there
                time.sleep(0.01)
                used = vitals(process.pid, wrappers=2)
            (bot,) = used.waited_seconds
            assert b"while True" in Path(f"/proc/{bot}/cmdline").read_bytes().split(b"\0")[2]
            assert bot != process.pid
            assert vitals(process.pid, wrappers=3) is None
        finally:
            subprocess.run(["kill", "-9", "--", f"-{process.pid}"], check=True)


def test_a_process_that_is_gone_shows_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        pass
    assert vitals(process.pid) is None


def test_a_process_that_is_in_no_group_of_a_session_is_seen() -> None:
    """The first process is older than such groups where nothing has begun a session for it."""
    assert vitals(1) is not None


LOWERED = {
    "niceness": "os.nice(5)",
    "policy": "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
}


@pytest.mark.parametrize("how", LOWERED)
def test_a_process_that_lowers_its_own_priority_is_not_taken_to_wait(how: str) -> None:
    program = f"import os; {LOWERED[how]}; print(flush=True)\n{BUSY}"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            seen = look_until(process.pid, lambda seen: seen.cpu_seconds > 0.05)
            assert not seen.waited_seconds
        finally:
            process.kill()


HOLDERS = """
import os, signal
held = bytearray(b"x" * (40 << 20))
for _ in range(3):
    if os.fork() == 0:
        {child}
        print(flush=True)
        while True: signal.pause()
while True: signal.pause()
"""


@pytest.mark.parametrize(
    ("child", "least_mib", "most_mib"),
    [("pass", 40, 80), ("held = bytearray(b'y' * (40 << 20))", 120, 200)],
    ids=["shared", "each its own"],
)
def test_memory_of_all_that_a_process_has_started_is_summed_and_what_is_shared_counted_once(
    child: str, least_mib: int, most_mib: int
) -> None:
    command = ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", HOLDERS.format(child=child)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            for _ in range(3):
                process.stdout.readline()
            used_mib = memory_of(process.pid, enough_bytes=0) >> 20
            assert least_mib <= used_mib < most_mib
            # Where it may have so much, nobody looks what is shared.
            assert memory_of(process.pid, enough_bytes=1 << 40) >> 20 >= 150
        finally:
            subprocess.run(["kill", "-9", "--", f"-{process.pid}"], check=True)
    assert memory_of(process.pid, enough_bytes=0) == 0
