"""What a bot's process has had of its machine: CPU time, time waited for a CPU, and memory.

Read from /proc (Linux; elsewhere there is nothing to read), for a process and its children. How
long a thread was ready to run and had no CPU is the second number of its `schedstat`
(Documentation/scheduler/sched-stats in the kernel's source). Who has made itself wait by a lower
priority than it was started with is not taken to have waited, and children are not: a bot could
have any number of them wait for each other.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.ladder.processes.strays import eldest_below
from arena.referee.blame import Vitals

_PROC: Final = Path("/proc")
_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
_RESIDENT: Final = ("RssAnon:", "RssShmem:")  # proc(5), of status
_PROPORTIONAL: Final = ("Pss_Anon:", "Pss_Shmem:")  # of smaps_rollup: of what n share, an n-th
_MOST_WITH_MEMORY: Final = 512
_MOST_PROCESSES: Final = 64
"""Children that are looked at: a bot that has more has what it uses reckoned too low."""


def vitals(pid: int, *, wrappers: int = 0) -> Vitals | None:
    """Look at a process and its children; None if it is gone or nothing can be read.

    Where it is a sandbox, the bot itself is its first descendant below so many ``wrappers``.
    """
    bot = eldest_below(pid, wrappers)
    if bot is None:
        return None
    cpu_seconds = 0.0
    waited_seconds: dict[int, float] = {}
    waiting = [bot]
    for looked_at in range(_MOST_PROCESSES):
        if not waiting:
            break
        process = _PROC / str(waiting.pop())
        try:
            cpu_seconds += _cpu_seconds(process)
            is_humble = _has_humbled_its_session(process)
            for thread in process.joinpath("task").iterdir():
                _, waited, _ = thread.joinpath("schedstat").read_text(encoding="ascii").split()
                if looked_at == 0 and not is_humble and _is_as_started(thread):
                    waited_seconds[int(thread.name)] = int(waited) / 1e9
                children = thread.joinpath("children").read_text(encoding="ascii")
                waiting += map(int, children.split())
        except (OSError, ValueError):
            if looked_at == 0:
                return None
    return Vitals(cpu_seconds, waited_seconds)


def memory_of(pid: int, *, enough_bytes: int) -> int:
    """Bytes of memory that a process and all that it has started have together, files left out; 0
    where nothing can be read.

    What several share is counted once, but only where there could be more than ``enough_bytes``,
    since that takes the kernel a walk through all of it.
    """
    shared_often = dict(_each_memory(pid, "status", _RESIDENT))
    if sum(shared_often.values()) <= enough_bytes:
        return sum(shared_often.values())
    # What one has closed to others' eyes is taken as if it shared nothing.
    return sum((shared_often | dict(_each_memory(pid, "smaps_rollup", _PROPORTIONAL))).values())


def _each_memory(pid: int, file: str, names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The id of each process there, and the sum of those lines in bytes."""
    waiting = [pid]
    for _ in range(_MOST_WITH_MEMORY):
        if not waiting:
            return
        looked_at = waiting.pop()
        process = _PROC / str(looked_at)
        with suppress(OSError, ValueError):
            for thread in process.joinpath("task").iterdir():
                children = thread.joinpath("children").read_text(encoding="ascii")
                waiting += map(int, children.split())
        with suppress(OSError, ValueError, IndexError):
            lines = process.joinpath(file).read_text(errors="replace").splitlines()
            numbers = [int(line.split()[1]) for line in lines if line.startswith(names)]
            if numbers:
                yield looked_at, sum(numbers) << 10  # they are in kB


def _cpu_seconds(process: Path) -> float:
    # User and system time of the process and of children it has waited for: fields 14 to 17.
    return sum(map(int, _stat(process)[11:15])) / _TICKS_PER_SECOND


def _is_as_started(thread: Path) -> bool:
    """Whether a thread has the niceness and the policy of this program, which it began with."""
    fields = _stat(thread)
    nice, policy = int(fields[16]), int(fields[38])  # fields 19 and 41
    is_eager = nice <= os.getpriority(os.PRIO_PROCESS, 0)
    return is_eager and policy == os.sched_getscheduler(0)


def _has_humbled_its_session(process: Path) -> bool:
    """Whether its whole session has been made nicer (sched(7), autogroup)."""
    try:
        words = process.joinpath("autogroup").read_text(encoding="ascii").split()
    except OSError:
        return False  # a kernel without
    if not words:
        return False  # it is in no such group: its session was begun before there were any
    return int(words[-1]) > 0


def _stat(task: Path) -> list[str]:
    """The fields of proc(5) from the third on; the second, a name, may hold anything."""
    return task.joinpath("stat").read_text(errors="replace").rpartition(")")[2].split()
