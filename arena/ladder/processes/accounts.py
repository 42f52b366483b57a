"""Accounts that bots are run as, where root runs the arena: for each bot another, of numbers that
are nobody's.

Linux counts the processes of an account on the whole machine. So what is taken by one process of
the arena (a server, say, and the checks beside it) is locked in a file that all of root's know, and
free once that process is gone, however it ends.
"""

import fcntl
import os
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final

USERS: Final = range(61184, 65520)
"""For accounts that live as long as a process (systemd's range for dynamic users)."""

FILE: Final = Path("/run/hokm-arena-accounts.lock")
"""Root's own folder, and empty after a start of the machine."""

MOST: Final = 256
"""What one process takes: all seats of 64 rooms of four. Sixteen such processes find enough."""


class Accounts:
    """Those of one process; good for several threads. There is one for each file, since all locks
    that a process has in a file go where it closes that file once.
    """

    def __init__(self, file: Path = FILE, *, most: int = MOST) -> None:
        self._file = file
        self._most = most
        self._own: deque[int] = deque()
        self._next = os.getpid()
        self._descriptor: int | None = None
        self._lock = threading.Lock()

    def next(self) -> int:
        """The account that this process has not given out for the longest time. It is no other
        process's, unless they have all, or no file can be locked here.
        """
        with self._lock:
            user = self._taken() if len(self._own) < self._most else None
            if user is None and not self._own:
                user = self._following()
            elif user is None:
                user = self._own.popleft()
                self._own.append(user)
            else:
                self._own.append(user)
            return user

    def _taken(self) -> int | None:
        """One that was free, and is this process's from now on."""
        with suppress(OSError):
            if self._descriptor is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._descriptor = os.open(self._file, flags, 0o600)
            for _ in USERS:
                user = self._following()
                if user not in self._own and self._is_free(self._descriptor, user):
                    return user
        return None

    def _is_free(self, descriptor: int, user: int) -> bool:
        # Of a process, and not of an open file: so two processes differ, whoever opened it.
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, user - USERS.start)
        except BlockingIOError:
            return False
        return True

    def _following(self) -> int:
        user = USERS[self._next % len(USERS)]
        self._next += 1
        return user
