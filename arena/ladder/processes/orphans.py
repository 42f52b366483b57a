"""Orphans: what bots leave behind when they end, inherited by the arena and ended by it.

A child that opens a session of its own, or whose parent ends at once, is in no group that could be
ended with its bot. Linux gives a process whose parent has ended to the nearest ancestor that asks
for it; the arena asks, so whatever a bot started becomes a child of the arena sooner or later, and
can be ended and reaped.

Whose an orphan is, is told by its session and by the ticket in its environment. One that has left
both behind may be of any bot that is older: it is ended with the last of those. What is in the
session of the arena itself was started by the arena for other reasons, and is never touched; no bot
can enter that session. This module starts nothing.
"""

import ctypes
import functools
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final

from arena.ladder.processes.strays import Process, fingerprint_of, fingerprint_of_ticket, process_of

_PR_SET_CHILD_SUBREAPER: Final = 36  # linux/prctl.h
_TASKS: Final = Path("/proc/self/task")


class Family:
    """A bot of this process and whatever it starts; to be made before the bot, and to be closed.
    Orphans come to this process while a family is open.
    """

    _open: ClassVar[set["Family"]] = set()
    _running: ClassVar[dict[int, "Family"]] = {}  # those whose bot was not reaped, by its id

    def __init__(self, *, ticket: str) -> None:
        self._fingerprint = fingerprint_of_ticket(ticket.encode())
        self._open.add(self)
        self._has_orphans = _adopt_orphans(True)
        self._pid = 0  # as yet no bot
        self._started_ticks = 0

    def bot_started(self, pid: int) -> None:
        """The bot is there, and was not reaped."""
        self._pid = pid
        bot = process_of(pid)
        self._started_ticks = 0 if bot is None else bot.started_ticks
        self._running[pid] = self

    def bot_reaped(self) -> None:
        """The bot itself is gone, and its id may be another's from now on."""
        self._running.pop(self._pid, None)

    def close(self) -> None:
        """Nothing is looked for any more."""
        self.bot_reaped()
        self._open.discard(self)
        if not self._open:
            _adopt_orphans(False)

    def end_rest(self) -> bool:
        """Once the bot was reaped, kill what is left of its family, and reap what is dead.

        True if there was anything: there may be more then, so call again in a moment. Nothing is
        found where no orphans come.
        """
        if not self._has_orphans:
            return False
        was_any = False
        own_session = os.getsid(0)
        for pid in _children():
            child = None if pid in self._running else process_of(pid)
            if child is None or child.session == own_session:
                continue
            if child.started_ticks < self._started_ticks:
                continue  # older than the bot
            if _reap(pid):
                was_any = True
            elif self._owns(child):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                    was_any = True
        return was_any

    def _owns(self, orphan: Process) -> bool:
        if orphan.session == self._pid or fingerprint_of(orphan.pid) == self._fingerprint:
            return True
        # It has left all marks behind, or it bears those of another bot, which is older then.
        return all(orphan.started_ticks < other._started_ticks for other in self._running.values())


def _adopt_orphans(is_wanted: bool) -> bool:
    """Whether orphans come to this process from now on, and can be found among its children."""
    library = _library()
    if library is None:
        return False
    return bool(library.prctl(_PR_SET_CHILD_SUBREAPER, int(is_wanted), 0, 0, 0) == 0)


@functools.cache
def _library() -> ctypes.CDLL | None:
    if not any(_TASKS.glob("*/children")):
        return None  # no Linux, or one that does not list the children of a process
    library = ctypes.CDLL(None)
    return library if hasattr(library, "prctl") else None


def _children() -> Iterator[int]:
    for of_thread in _TASKS.glob("*/children"):
        with suppress(OSError):  # the thread has ended meanwhile
            yield from map(int, of_thread.read_text().split())


def _reap(pid: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    return False
