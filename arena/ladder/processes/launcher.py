"""The launcher: starts a bot's process, keeps its log, and leaves nothing of it behind.

A bot runs in a session and process group of its own, which is ended as a whole: when the bot is
done with, when it exits by itself but leaves children, and when the caller is cancelled. It gets an
address and a ticket in an environment made from nothing. What is confined beyond that is the
business of the command prefix, a seam for limits and sandboxes. This module does not know what a
bot says, which games it plays, or what its end means.

A child that leaves the group is found by `arena.ladder.processes.orphans`, on Linux, and otherwise
outlives its bot: only a sandbox holds that one.
"""

import errno
import functools
import math
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import trio

from arena.ladder.processes import strays
from arena.ladder.processes.capped_log import CappedLog
from arena.ladder.processes.cgroups import Group
from arena.ladder.processes.orphans import Family
from arena.ladder.processes.sandbox import WRAPPERS, ended_in_shell
from arena.ladder.processes.strays import eldest_below
from arena.ladder.processes.vitals import memory_of

GRACE_SECONDS: Final = 1.0
"""From SIGTERM to SIGKILL: a Python bot that does not catch SIGTERM is gone within milliseconds."""

_KILL_SECONDS: Final = 5.0  # SIGKILL works at once but for a process stuck in the kernel
_POLL_SECONDS: Final = 0.02  # where there is no pidfd, and for orphans
_LOOK_SECONDS: Final = 1.0  # a process fills some gigabytes in a second
_CHUNK_BYTES: Final = 1 << 16  # a pipe's capacity on Linux
_LAST_WORDS_BYTES: Final = 1 << 20  # the most a pipe can be set to hold unprivileged

# The machine has no more of something; a bot has no part in it.
_EXHAUSTED: Final = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)

# Needed to find and run programs, and no secret. Nothing else of the arena's environment reaches a
# bot: no secret, and no proxy or gRPC setting that would change how it connects.
_INHERITED: Final = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")


class LaunchError(RuntimeError):
    """A process that could not be started, or not be ended."""


class BotProcess:
    """A running or ended bot; made by `launch`.

    Attributes:
        pid: of the process and of its group.
        log: stdout and stderr, capped; its `tail` stands beside a verdict.
        by_hand: the shell line that runs the same command in the same folder.
        returncode: the exit code, or minus the number of the signal that ended it; None while it
            runs.
        cpu_seconds: user and system time of the process and of those children it waited for; None
            while it runs.
        is_overdue: whether it was ended because it had lived as long as it may.
        is_out_of_memory: whether it was ended because its processes had too much memory together.
    """

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        *,
        output: int,
        log: CappedLog,
        note: Path,
        family: Family,
        by_hand: str,
        grace_seconds: float,
        life_seconds: float,
        is_boxed: bool,
        memory_bytes: int | None,
        group: Group | None,
    ) -> None:
        self.pid = popen.pid
        self.log = log
        self.by_hand = by_hand
        self.returncode: int | None = None
        self.cpu_seconds: float | None = None
        self.is_overdue = False
        self.is_out_of_memory = False
        self._popen = popen
        self._output = output
        self._note = note
        self._family = family
        self._pidfd = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        self._grace_seconds = grace_seconds
        self._life_seconds = life_seconds
        self._is_boxed = is_boxed
        self._memory_bytes = memory_bytes
        self._group = group
        self._life = trio.CancelScope()
        self._closed = trio.Event()

    async def wait(self) -> int:
        """Return the exit code once the process has ended and with it all that it has started.

        Raises:
            LaunchError: if even SIGKILL did not end it; its note stays for the next sweep.
        """
        await self._closed.wait()
        if self.returncode is None:
            raise LaunchError(f"process {self.pid} outlives SIGKILL by {_KILL_SECONDS:.0f} s")
        return self.returncode

    async def end(self) -> int:
        """End the whole group: SIGTERM, the grace period, SIGKILL. Harmless if it has ended.

        It goes on even if the caller is cancelled meanwhile. Returns and raises as `wait`.
        """
        self._life.cancel()
        return await self.wait()

    async def _attend(self) -> None:
        """Copy output to the log until the process ends or is to end, then clean up."""
        try:
            with self._life, trio.move_on_after(self._life_seconds) as life:
                async with trio.open_nursery() as nursery:
                    if self._memory_bytes is not None and self._group is None:
                        nursery.start_soon(self._watch_memory, self._memory_bytes)
                    await self._until_exit()
                    nursery.cancel_scope.cancel()
            self.is_overdue = life.cancelled_caught
        finally:
            with trio.CancelScope(shield=True):
                await self._stop()
                is_all_gone = await self._end_family()
                await self._end_group()
                self._close(is_all_gone=is_all_gone)

    async def _stop(self) -> None:
        bounds = {signal.SIGTERM: self._grace_seconds, signal.SIGKILL: _KILL_SECONDS}
        for number, bound_seconds in bounds.items():
            if self.returncode is None:
                self._signal(number)
                with trio.move_on_after(bound_seconds):
                    await self._until_exit()

    async def _end_family(self) -> bool:
        """End what has left the group; whether all of it is gone, as far as it can be known."""
        if self.returncode is None:
            return False
        with trio.move_on_after(_KILL_SECONDS) as waiting:
            while self._family.end_rest():  # noqa: ASYNC110 - nothing tells of it
                await trio.sleep(_POLL_SECONDS)
        return not waiting.cancelled_caught

    async def _end_group(self) -> None:
        """One that cannot be removed now is for the next sweep."""
        if self._group is None:
            return
        self.is_out_of_memory = self._group.was_out_of_memory()
        self._group.kill()
        with trio.move_on_after(_KILL_SECONDS):
            while not self._group.remove():  # noqa: ASYNC110 - nothing tells of it
                await trio.sleep(_POLL_SECONDS)

    async def _watch_memory(self, most_bytes: int) -> None:
        """Kill it once its processes have more together. Without a control group nothing tells of
        that, so it is looked at, in a thread, since the referee must not wait for it.
        """
        look = functools.partial(memory_of, self.pid, enough_bytes=most_bytes)
        while not self.is_out_of_memory:
            await trio.sleep(_LOOK_SECONDS)
            used_bytes = await trio.to_thread.run_sync(look, abandon_on_cancel=True)
            self.is_out_of_memory = used_bytes > most_bytes
        self._signal(signal.SIGKILL)

    async def _until_exit(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._copy_output)
            await self._exit()
            nursery.cancel_scope.cancel()

    async def _exit(self) -> None:
        """Wait for the process to end, kill what is left of its group, and reap it."""
        if self._pidfd is not None:
            await trio.lowlevel.wait_readable(self._pidfd)
            # It is dead but not reaped, so its id and the group's still belong to it.
            self._signal(signal.SIGKILL)
            self._reap()
        else:
            while not self._reap():  # noqa: ASYNC110 - nothing tells of it there
                await trio.sleep(_POLL_SECONDS)
            self._signal(signal.SIGKILL)

    def _reap(self) -> bool:
        # wait4 and not Popen.wait, because it alone tells the time used by this child.
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return False
        code = self._popen.returncode = os.waitstatus_to_exitcode(status)
        self.returncode = ended_in_shell(code) if self._is_boxed else code
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self._family.bot_reaped()
        return True

    def _signal(self, number: signal.Signals) -> None:
        if self._is_boxed and number is signal.SIGTERM and self._ask_inside():
            return
        # macOS answers EPERM in place of ESRCH when only dead processes are left in the group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _ask_inside(self) -> bool:
        """Ask the bot itself to end, and not what is around it, which would take it along at once
        and not tell the time it used. Whether there was one to ask.
        """
        bot = eldest_below(self.pid, WRAPPERS)
        if bot is None or self._pidfd is None:
            return False
        try:
            pidfd = os.pidfd_open(bot)
        except OSError:
            return False
        try:
            # Else it has ended meanwhile, and its id is another's.
            if is_it := eldest_below(self.pid, WRAPPERS) == bot:
                signal.pidfd_send_signal(pidfd, signal.SIGTERM)
            return is_it
        except OSError:
            return False
        finally:
            os.close(pidfd)

    async def _copy_output(self) -> None:
        """Copy a pipe's worth at a time: a flood holds up the bot that writes it, nobody else."""
        while True:
            await trio.lowlevel.wait_readable(self._output)
            if not self._copy_chunk():
                return

    def _copy_chunk(self) -> int:
        chunk = os.read(self._output, _CHUNK_BYTES)
        self.log.write(chunk)
        return len(chunk)

    def _close(self, *, is_all_gone: bool) -> None:
        # What was written before the end is still in the pipe. A process that left the group may
        # hold its other end and write on for ever, so there is a limit.
        left_bytes = _LAST_WORDS_BYTES
        with suppress(BlockingIOError):
            while left_bytes > 0 and (copied_bytes := self._copy_chunk()):
                left_bytes -= copied_bytes
        os.close(self._output)
        if self._pidfd is not None:
            os.close(self._pidfd)
        self.log.close()
        self._family.close()
        if is_all_gone:  # else its note is for the next sweep
            self._note.unlink(missing_ok=True)
        self._closed.set()


def launch(
    nursery: trio.Nursery,
    argv: Sequence[str],
    *,
    folder: Path,
    address: str,
    ticket: str,
    log_path: Path,
    running: Path,
    prefix: Sequence[str] = (),
    sandbox: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    grace_seconds: float = GRACE_SECONDS,
    life_seconds: float = math.inf,
    memory_bytes: int | None = None,
    make_group: Callable[[], Group | None] = lambda: None,
) -> BotProcess:
    """Start a bot; `nursery` watches over it and does not close before the bot has ended.

    Cancelling the nursery ends the bot as `BotProcess.end` does. Call this from a thread that lives
    as long as the arena, such as the one trio runs in: the kernel takes the death of the starting
    *thread* for the death of the parent. `trio.open_process` starts processes in a worker thread
    that ends after ten idle seconds, and the bot would end with it.

    Args:
        argv: the bot's command, see `Entrant.argv`.
        folder: its working directory.
        address: of the referee, as gRPC takes it: "127.0.0.1:4000" or "unix:/path".
        ticket: for its seat; neither is it logged nor does it stand on a command line.
        log_path: where stdout and stderr go, both.
        running: the folder of notes that `strays.sweep` goes by.
        prefix: what stands before the command.
        sandbox: what stands before both, a command that ends as a shell does; it is not shown to
            whoever runs the bot by hand.
        environment: added to `bot_environment`.
        life_seconds: how long it may live.
        memory_bytes: how much memory its processes may have together; None for any.
        make_group: makes its control group, which sees to that; None where there is none, and it
            is looked at each second.

    Raises:
        LaunchError: if there is no such program or folder, saying which.
        OSError: if this machine can start no process now, or its note cannot be written; that is
            no bot's fault.
    """
    by_hand = f"cd {shlex.quote(str(folder))} && {shlex.join((*prefix, *argv))}"
    seen = bot_environment(os.environ, folder=folder, address=address, ticket=ticket)
    seen |= environment or {}
    program = (*prefix, *argv)[0]
    if "/" not in program and shutil.which(program, path=seen.get("PATH")) is None:
        raise LaunchError(
            f"{program} is not on PATH; install it or mend the command; run: {by_hand}"
        )
    with ExitStack() as undo:  # what is begun, if nobody comes to watch over it
        note = strays.note(running, ticket=ticket)
        undo.callback(note.unlink, missing_ok=True)
        output, child_output = os.pipe()
        undo.callback(os.close, output)
        os.set_blocking(output, False)
        log = CappedLog(log_path)
        undo.callback(log.close)
        family = Family(ticket=ticket)
        undo.callback(family.close)
        group = make_group()
        if group is not None:
            undo.callback(group.end)
        entering = () if group is None else group.entering
        words = (*death_signal_prefix(), *entering, *sandbox, *prefix, *argv)
        try:
            # Never a fork: gRPC has threads, and a forked copy of them hangs. Without preexec_fn,
            # user or group Popen uses vfork and exec.
            popen = subprocess.Popen(
                words,
                cwd=str(folder),
                env=seen,
                stdin=subprocess.DEVNULL,
                stdout=child_output,
                stderr=child_output,
                start_new_session=True,
            )
        except OSError as error:
            if error.errno in _EXHAUSTED:
                raise OSError(error.errno, error.strerror, program) from error
            problem = f"{error.strerror}: {error.filename}"
            raise LaunchError(f"cannot start a bot: {problem}; run: {by_hand}") from error
        finally:
            os.close(child_output)
        undo.callback(popen.wait)
        undo.callback(os.killpg, popen.pid, signal.SIGKILL)
        family.bot_started(popen.pid)
        process = BotProcess(
            popen,
            output=output,
            log=log,
            note=strays.note(running, ticket=ticket, pid=popen.pid),
            family=family,
            by_hand=by_hand,
            grace_seconds=grace_seconds,
            life_seconds=life_seconds,
            is_boxed=bool(sandbox),
            memory_bytes=memory_bytes,
            group=group,
        )
        nursery.start_soon(process._attend, name=f"bot {popen.pid}")
        undo.pop_all()
    return process


def bot_environment(
    parent: Mapping[str, str], *, folder: Path, address: str, ticket: str
) -> dict[str, str]:
    """Return all a bot sees of an environment, the arena's being `parent`.

    HOME is the bot's folder, so that caches land there (hidden, hence no part of the bot) and not
    with the operator's. Output is unbuffered and UTF-8, or the last lines before a crash would be
    lost. The interpreter that runs bots finds `hokm` by itself.
    """
    inherited = {name: parent[name] for name in _INHERITED if name in parent}
    return inherited | {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "HOKM_ADDRESS": address,
        "HOKM_TICKET": ticket,
    }


@functools.cache
def death_signal_prefix() -> tuple[str, ...]:
    """Return the command prefix that ends a process with its parent; empty where there is none.

    It is tried, since the setpriv of BusyBox does not know the option.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return ()
    prefix = (setpriv, "--pdeathsig", "KILL", "--")
    tried = subprocess.run((*prefix, "true"), capture_output=True, check=False)
    return prefix if tried.returncode == 0 else ()
