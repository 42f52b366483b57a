"""What a bot's process has had of its machine: CPU time, and time waited for a CPU.

Read from /proc (Linux; elsewhere there is nothing to read), for a process and its children. How
long a thread was ready to run and had no CPU is the second number of its `schedstat`
(Documentation/scheduler/sched-stats in the kernel's source). Who has made itself wait by a lower
priority than it was started with is not taken to have waited, and children are not: a bot could
have any number of them wait for each other.
"""

import os
from pathlib import Path
from typing import Final

from arena.ladder.processes.strays import eldest_below
from arena.referee.blame import Vitals

_PROC: Final = Path("/proc")
_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
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
