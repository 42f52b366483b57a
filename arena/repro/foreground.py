"""A bot's process in the foreground, with the terminal's input and output, under a debugger."""

import os
import shlex
import subprocess
from collections.abc import Sequence

import trio

from arena.conformance.talk import Bench
from arena.ladder.bots.entrants import Entrant
from arena.ladder.processes.launcher import (
    GRACE_SECONDS,
    LaunchError,
    bot_environment,
    death_signal_prefix,
)

_POLL_SECONDS = 0.05


class Foreground:
    """A process that somebody talks to; made by :func:`in_foreground`. What it prints is on the
    terminal and nowhere else.
    """

    def __init__(self, popen: subprocess.Popen[bytes], *, by_hand: str) -> None:
        self.by_hand = by_hand
        self.log = self
        self._popen = popen

    @property
    def returncode(self) -> int | None:
        """How it ended; None while it runs."""
        return self._popen.poll()

    def tail(self) -> str:
        """Nothing: it was read as it came."""
        return ""

    async def wait(self) -> int:
        """Wait for its end, however long somebody sits there."""
        while (code := self._popen.poll()) is None:  # noqa: ASYNC110 - nothing tells of it
            await trio.sleep(_POLL_SECONDS)
        return code

    async def end(self) -> int:
        """End it. Harmless if it has ended."""
        for end in (self._popen.terminate, self._popen.kill):
            with trio.move_on_after(GRACE_SECONDS):
                if self._popen.poll() is None:
                    end()
                return await self.wait()
        return await self.wait()


def in_foreground(_: trio.Nursery, bench: Bench, ticket: str) -> Foreground:
    """Start the bench's bot; see :data:`~arena.conformance.talk.Start`."""
    entrant = bench.entrant
    argv = debugged(entrant, entrant.argv(bench.python))
    parent = os.environ
    environment = {
        **bot_environment(parent, folder=entrant.home, address=bench.address, ticket=ticket),
        **entrant.variables,
        **{name: parent[name] for name in ("HOME", "TERM") if name in parent},
    }
    by_hand = f"cd {shlex.quote(str(entrant.home))} && {shlex.join(argv)}"
    try:
        popen = subprocess.Popen((*death_signal_prefix(), *argv), cwd=entrant.home, env=environment)
    except OSError as error:
        raise LaunchError(f"cannot start a bot: {error}; run: {by_hand}") from error
    return Foreground(popen, by_hand=by_hand)


def debugged(entrant: Entrant, argv: Sequence[str]) -> tuple[str, ...]:
    """The command with Python's debugger in it, where the arena's or the bot's Python runs it; any
    other as it is.

    Options of the interpreter stay before it: ``python -O bot.py`` is ``python -O -m pdb bot.py``.
    """
    program, *rest = argv
    if entrant.command[:1] != ("python",):
        return (program, *rest)
    options = 0
    while options < len(rest) and rest[options].startswith("-") and rest[options] != "-m":
        options += 1
    return (program, *rest[:options], "-m", "pdb", *rest[options:])
