"""Ctrl-C: once finishes what is being played, twice ends it, thrice leaves with nothing."""

import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

import trio

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stoppable(Protocol):
    """What plays, and can be asked to end."""

    def stop(self) -> None:
        """Finish the games that are being played, and begin none."""

    def abort(self) -> None:
        """End every game now."""


@asynccontextmanager
async def heeding_signals(runner: Stoppable, *, tell: Callable[[str], None]) -> AsyncIterator[None]:
    """Signals stop the runner while this is open.

    SIGTERM, and SIGHUP of a terminal that is closed, do not wait for games. Whatever comes after
    the order to end them raises KeyboardInterrupt; the bots are ended then, too.
    """
    with trio.open_signal_receiver(*_SIGNALS) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_heed, signals, runner, tell)
            yield
            nursery.cancel_scope.cancel()


async def _heed(
    signals: AsyncIterator[int], runner: Stoppable, tell: Callable[[str], None]
) -> None:
    number = await anext(signals)
    if number == signal.SIGINT:
        tell("stopping: the games under way are finished; Ctrl-C again ends them at once")
        runner.stop()
        await anext(signals)
    tell("stopping at once")
    runner.abort()
    await anext(signals)
    raise KeyboardInterrupt
