"""A command of the arena's own, run as a process: bounded in time and output, ended as a group.

What it does there costs the arena's process nothing, neither its lock nor its memory, and it ends
with it. This module does not know what is run, or what its output means.
"""

import math
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import trio

from arena.ladder.processes.launcher import death_signal_prefix

GRACE_SECONDS: Final = 10.0
"""From SIGTERM to SIGKILL: it may have bots of its own to end."""

_CHUNK_BYTES: Final = 1 << 16
_POLL_SECONDS: Final = 0.05  # where there is no pidfd


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended: its exit code, minus the number of the signal that ended it; what it
    wrote; whether it was ended because its time was over, and whether `out` is cut off.
    """

    returncode: int
    out: bytes
    err: bytes
    is_overdue: bool = False
    is_cut: bool = False


async def run(
    argv: Sequence[str],
    *,
    seconds: float,
    out_bytes: int,
    err_bytes: int,
    environment: Mapping[str, str] | None = None,
    grace_seconds: float = GRACE_SECONDS,
) -> Ended:
    """Run a command for so long at most; the beginning of what it writes to stdout is kept, and the
    end of what it writes to stderr. Cancelled it is ended, too; it never outlives this.

    For the main thread: it ends with the thread that starts it. Raises OSError where it cannot be
    started.
    """
    # Not trio's: that starts it in a thread which ends after some idle seconds.
    popen = subprocess.Popen(  # noqa: ASYNC220 - it takes a millisecond or two
        (*death_signal_prefix(), *argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        # Not a session: what has one of its own is taken for what a bot left, and ended.
        process_group=0,
    )
    assert popen.stdout is not None
    assert popen.stderr is not None
    out, err = _Head(out_bytes), _Tail(err_bytes)
    with popen.stdout, popen.stderr:
        try:
            with trio.move_on_after(seconds) as life:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_copy, popen.stdout.fileno(), out.add)
                    nursery.start_soon(_copy, popen.stderr.fileno(), err.add)
                    await _exit(popen)
                    nursery.cancel_scope.deadline = trio.current_time() + 1.0  # its last words
        finally:
            with trio.CancelScope(shield=True):
                await _end(popen, grace_seconds)
    return Ended(
        returncode=popen.returncode,
        out=bytes(out.kept),
        err=err.kept,
        is_overdue=life.cancelled_caught,
        is_cut=out.is_cut,
    )


class _Head:
    def __init__(self, most_bytes: int) -> None:
        self.kept = bytearray()
        self.is_cut = False
        self._most_bytes = most_bytes

    def add(self, chunk: bytes) -> None:
        room = self._most_bytes - len(self.kept)
        self.is_cut = self.is_cut or len(chunk) > room
        self.kept += chunk[:room]


class _Tail:
    def __init__(self, most_bytes: int) -> None:
        self._kept: deque[int] = deque(maxlen=most_bytes)

    def add(self, chunk: bytes) -> None:
        self._kept.extend(chunk)

    @property
    def kept(self) -> bytes:
        return bytes(self._kept)


async def _copy(pipe: int, add: Callable[[bytes], None]) -> None:
    os.set_blocking(pipe, False)
    while True:
        await trio.lowlevel.wait_readable(pipe)
        with suppress(BlockingIOError):
            if not (chunk := os.read(pipe, _CHUNK_BYTES)):
                return
            add(chunk)


async def _exit(popen: "subprocess.Popen[bytes]") -> None:
    if popen.poll() is None and hasattr(os, "pidfd_open"):
        pidfd = os.pidfd_open(popen.pid)
        try:
            await trio.lowlevel.wait_readable(pidfd)
        finally:
            os.close(pidfd)
    while popen.poll() is None:  # noqa: ASYNC110 - nothing tells of it
        await trio.sleep(_POLL_SECONDS)


async def _end(popen: "subprocess.Popen[bytes]", grace_seconds: float) -> None:
    """End the group; what is left of it goes with its leader."""
    for number, bound_seconds in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, math.inf)):
        if popen.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, number)
            with trio.move_on_after(bound_seconds):
                await _exit(popen)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGKILL)
