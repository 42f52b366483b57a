"""The masking tick: at which moments others hear what follows from an answer, and waiting for them.

A bot that has one card to play answers sooner than one that has to choose, so the time between two
messages would tell a seat about another's hand. With a tick, what follows from an answer is told a
whole number of ticks after its decision was: all answers within one tick look alike.

For that the moment must be met in the same way however long ago the answer came. Trio sleeps whole
milliseconds (epoll does), so it wakes late by what is left of the last one, which is just the part
of a millisecond that the bot has taken. Therefore the last of the way is slept in a thread.

This module does not know games or answers.
"""

import heapq
import itertools
import math
import time
from collections.abc import Awaitable, Callable
from functools import partial

import trio

LAST_SECONDS = 0.002
"""What is slept exactly: trio's sleep before it ends a millisecond late at most."""

NEAR_SECONDS = 1e-6
"""A moment this near has come: times are told bots in microseconds, and a shorter sleep may end
before it began.
"""

Sleep = Callable[[float], Awaitable[object]]


def next_tick(told_at: float, now: float, *, tick_seconds: float) -> float:
    """The first moment not before ``now`` that is a whole number of ticks, one at least, after
    ``told_at``.

    >>> next_tick(10.0, 10.25, tick_seconds=1.0), next_tick(10.0, 12.25, tick_seconds=1.0)
    (11.0, 13.0)
    """
    ticks = math.ceil((now - told_at - NEAR_SECONDS) / tick_seconds)
    return told_at + max(1, ticks) * tick_seconds


async def sleep_exactly(seconds: float) -> None:
    """Sleep some milliseconds, and late by a tenth of one rather than by a whole one."""
    sleep = partial(time.sleep, max(0.0, seconds))
    await trio.to_thread.run_sync(sleep, abandon_on_cancel=True)


class Alarms:
    """Things to be done at moments of the clock ``now``, which :meth:`run` does.

    ``sleep`` sleeps the last of the way.
    """

    def __init__(self, now: Callable[[], float], *, sleep: Sleep) -> None:
        self._now = now
        self._sleep = sleep
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._tie = itertools.count()
        self._waiting = trio.CancelScope()

    def set(self, moment: float, call: Callable[[], None]) -> None:
        """Have ``call`` called at that moment, or at once if it is past. It must not raise."""
        place = next(self._tie)
        heapq.heappush(self._heap, (moment, place, call))
        if self._heap[0][1] == place:
            self._waiting.cancel()

    async def run(self) -> None:
        """Wait and call, for ever."""
        while True:
            with trio.CancelScope() as self._waiting:
                await self._until_first()
            now = self._now()
            while self._heap and self._heap[0][0] <= now + NEAR_SECONDS:
                _, _, call = heapq.heappop(self._heap)
                call()

    async def _until_first(self) -> None:
        if not self._heap:
            await trio.sleep_forever()
        left = self._heap[0][0] - self._now()
        if left > LAST_SECONDS:
            await trio.sleep(left - LAST_SECONDS)
            left = self._heap[0][0] - self._now()
        await self._sleep(max(0.0, left))
