"""Signals: Ctrl-C once finishes what is being played, twice ends it, thrice leaves with nothing.

SIGTERM is a service manager's Ctrl-C: it finishes what is being played, too, but not for ever.
"""

import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

import trio

DRAIN_SECONDS = 60.0
"""How long the games under way may take after a SIGTERM: a board takes seconds and a race minutes;
Kubernetes sends SIGKILL after 30 seconds and systemd after 90 unless told otherwise.
"""

_log = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stoppable(Protocol):
    """What plays, and can be asked to end."""

    def stop(self) -> None:
        """Finish the games that are being played, and begin none."""

    def abort(self) -> None:
        """End every game now."""


@asynccontextmanager
async def heeding_signals(
    runner: Stoppable, *, tell: Callable[[str], None], drain_seconds: float = DRAIN_SECONDS
) -> AsyncIterator[None]:
    """Signals stop the runner while this is open.

    After SIGINT it finishes its games, after SIGTERM as well, but in ``drain_seconds``; then, or
    with whatever signal comes next, they are ended. SIGHUP, of a terminal that is closed, ends them
    at once. Whatever comes after that raises KeyboardInterrupt; the bots are ended then, too.
    """
    with trio.open_signal_receiver(*_SIGNALS) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_heed, signals, runner, tell, drain_seconds)
            yield
            nursery.cancel_scope.cancel()


async def _heed(
    signals: AsyncIterator[int],
    runner: Stoppable,
    tell: Callable[[str], None],
    drain_seconds: float,
) -> None:
    number = await anext(signals)
    drains = drain_seconds if number == signal.SIGTERM else None
    _log.info("stopping", extra={"signal": signal.Signals(number).name, "drain_seconds": drains})
    if number == signal.SIGINT:
        tell("stopping: the games under way are finished; Ctrl-C again ends them at once")
        runner.stop()
        await anext(signals)
    elif number == signal.SIGTERM:
        tell(
            f"stopping: the games under way have {drain_seconds:g} s to finish; "
            "another SIGTERM ends them at once"
        )
        runner.stop()
        with trio.move_on_after(drain_seconds):
            await anext(signals)
    _log.info("stopping at once")
    tell("stopping at once")
    runner.abort()
    await anext(signals)
    raise KeyboardInterrupt
