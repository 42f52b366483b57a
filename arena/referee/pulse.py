"""The pulse: a task that wakes at a steady beat, and so notices when the arena stood still.

While decisions are open it beats; a beat that comes late says that nothing here ran meanwhile,
whether the process was stopped, the machine was busy or its hardware was given to others. With each
beat it also looks at the bots that are thinking for longer than a beat, so that what their
processes have had of the machine is known from early on. Nothing is looked at for a bot that
answers in time, which is nearly always. It does not know tables or what a late answer costs.
"""

import os
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import trio

from arena.referee.blame import Evidence, Overrun, Vitals

BEAT_SECONDS = 0.1
"""How often it beats: a stall that is no longer is no excuse for anybody."""

LATE_SECONDS = 0.02
"""How late a beat is at least that is noticed at all; a busy loop of trio's is later by less."""

MOST_STALLS = 1000
"""How many stalls are remembered: those of the last minutes, on a machine that stalls all the
time.
"""

CATCH_UP_SECONDS = 0.1
"""After a stall, what lies in the kernel is read within this time."""

_STAT = Path("/proc/stat")
_TICK_SECONDS = 0.01
"""The unit of /proc/stat: USER_HZ is 100 on all that Linux runs on (proc(5))."""

TakeVitals = Callable[[], Vitals | None]
"""Look at a bot's process; None if that cannot be done."""


@dataclass(frozen=True, slots=True)
class Cpus:
    """How long each CPU this program may use has been idle, and lost to other guests of the same
    hardware, since the machine was started; by its number, in seconds.
    """

    idle_seconds: Mapping[int, float]
    steal_seconds: Mapping[int, float]

    def idle_since(self, before: "Cpus") -> float:
        """How long the idlest of them was idle since then: whoever was ready to run could have
        run there.
        """
        idle = [now - before.idle_seconds.get(cpu, now) for cpu, now in self.idle_seconds.items()]
        return max(0.0, *idle)

    def stolen_since(self, before: "Cpus") -> float:
        """What was stolen since then of one of them, in the mean."""
        stolen = sum(
            now - before.steal_seconds.get(cpu, now) for cpu, now in self.steal_seconds.items()
        )
        return max(0.0, stolen / len(self.steal_seconds))


class Watch:
    """What is seen of one open decision from its second beat on."""

    __slots__ = ("_beats", "_cpus", "_vitals", "take_vitals")

    def __init__(self, take_vitals: TakeVitals | None) -> None:
        self.take_vitals = take_vitals
        self._beats = 0
        self._vitals: Vitals | None = None
        self._cpus: Cpus | None = None

    def beat(self) -> None:
        """A beat passed and the decision is still open."""
        self._beats += 1
        if self._beats == 2:
            self._vitals = self._look()
            self._cpus = cpus()

    def evidence(self, *, stalled_seconds: float) -> Evidence:
        """What was seen up to now."""
        evidence = Evidence(stalled_seconds=stalled_seconds)
        idle_seconds = 0.0
        if self._cpus is not None and (now := cpus()) is not None:
            idle_seconds = now.idle_since(self._cpus)
            evidence = replace(evidence, steal_seconds=now.stolen_since(self._cpus))
        if self._vitals is not None and (vitals := self._look()) is not None:
            # Who waits while a CPU is idle has tied itself to another, or to its own kind.
            waited_seconds = vitals.waited_since(self._vitals) - idle_seconds
            evidence = replace(
                evidence,
                cpu_seconds=max(0.0, vitals.cpu_seconds - self._vitals.cpu_seconds),
                waited_seconds=max(0.0, waited_seconds),
            )
        return evidence

    def _look(self) -> Vitals | None:
        return None if self.take_vitals is None else self.take_vitals()


class Pulse:
    """Beats while there is anything to watch; ``watched`` gives it with each beat."""

    def __init__(self, now: Callable[[], float], watched: Callable[[], list[Watch]]) -> None:
        self._now = now
        self._watched = watched
        self._stalls: deque[tuple[float, float]] = deque(maxlen=MOST_STALLS)
        self._beat_due: float | None = None
        """When the next beat is to come; None while there is nothing to watch."""
        self._wanted = trio.lowlevel.ParkingLot()

    def want(self) -> None:
        """There is something to watch."""
        if self._beat_due is None:
            self._beat_due = self._now() + BEAT_SECONDS
            self._wanted.unpark_all()

    async def run(self) -> None:
        """Beat, for ever."""
        while True:
            while self._beat_due is None:
                await self._wanted.park()
            await trio.sleep(max(0.0, self._beat_due - self._now()))
            now = self._now()
            self._note(now)
            watched = self._watched()
            for watch in watched:
                watch.beat()
            self._beat_due = now + BEAT_SECONDS if watched else None

    def has_just_stalled(self) -> bool:
        """Whether what came meanwhile may not have been read yet."""
        now = self._now()
        self._note(now)
        return bool(self._stalls) and now - self._stalls[-1][1] < CATCH_UP_SECONDS

    def stalled_seconds(self, overrun: Overrun) -> float:
        """How long of an overrun nothing ran here."""
        now = self._now()
        self._note(now)  # the beat after a stall may come after its victim
        return sum(
            max(0.0, min(end, overrun.ended_at) - max(start, overrun.since))
            for start, end in self._stalls
        )

    def _note(self, now: float) -> None:
        """Remember that nothing ran since the beat that was due."""
        due = self._beat_due
        if due is not None and now - due > LATE_SECONDS:
            self._stalls.append((due, now))
            self._beat_due = now + BEAT_SECONDS


def cpus() -> Cpus | None:
    """Look at the CPUs (proc(5), `/proc/stat`); None where nothing can be read."""
    try:
        lines = _STAT.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    usable = os.sched_getaffinity(0)
    idle, steal = dict[int, float](), dict[int, float]()
    for name, *fields in map(str.split, lines):
        number = name.removeprefix("cpu")
        if number.isdigit() and int(number) in usable and len(fields) > 7:
            idle[int(number)] = (int(fields[3]) + int(fields[4])) * _TICK_SECONDS
            steal[int(number)] = int(fields[7]) * _TICK_SECONDS
    return Cpus(idle, steal) if idle else None
