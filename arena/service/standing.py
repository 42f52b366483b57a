"""A ladder that stands: it plays events for ever, and minds what its operator tells it.

One event follows another, each small, so that a new bot plays soon, and adaptive with a floor, so
that every active bot gets its matches. What goes wrong with one bot takes that bot out and nothing
else; what goes wrong with the disk or the database is said and tried again. The ladder is as the
database has it at every moment, so whatever ends the process loses nothing: the next one goes on.

Who validates what was sent in stands beside this (`arena.service.validator`), behind the same gate.
"""

import logging
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, repeat
from typing import Final, Protocol

import trio

from arena.groups import leaves
from arena.ladder.errors import LadderError
from arena.ladder.events.playing import (
    BotDeactivated,
    Course,
    EntrantError,
    Guests,
    MatchPlayed,
    NothingRated,
    Notice,
    Runner,
    play_held,
    sweep,
    why_quiet,
)
from arena.ladder.facts import Bot, Controls, Deed
from arena.ladder.ladder import Ladder
from arena.ladder.matches.room import Watcher
from arena.ladder.ratings.evidence import family
from arena.ladder.schedules import Adaptive
from arena.ladder.store.operator import Control, Operator
from arena.service.operating import Verbs
from arena.wording import counted, stamp

POLL_SECONDS: Final = 1.0
"""How often it is looked at what the operator says, and whether there is somebody to play."""

FLOOR: Final = 2
"""Matches that every active bot gets in an event, unless told otherwise."""

SMALLEST_EVENT: Final = 20
"""Matches: as many as an adaptive schedule chooses at once."""

ALARM_SECONDS: Final = 300.0
"""After so long without a rated result it is said why; see `playing.QUIET_SECONDS`."""

ARENA: Final = "arena"
"""Who did what no operator did."""

_RETRY_SECONDS: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""From one attempt to the next, and from the last on always so."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How a ladder stands. `event_matches` is how many an event has; None: what the floor takes."""

    floor: int = FLOOR
    event_matches: int | None = None
    alarm_seconds: float = ALARM_SECONDS
    at_once: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a ladder that stands is doing. Times are by the clock on the wall, with their zone.

    `paused` and `draining` are the operator's reasons, None where he has not said so; `idle` is why
    nothing can be played. `alarm` is why nothing rated was decided for so long, None where it was;
    `public_alarm` the same without what is the operator's business: matches that are not decided,
    and where his files are.
    """

    paused: str | None
    draining: str | None
    event: str | None
    under_way: tuple[str, ...]
    left: int
    waiting: int
    validating: int
    rated_at: datetime | None
    idle: str | None
    alarm: str | None
    public_alarm: str | None


class Stoppable(Runner, Protocol):
    """A runner that can be asked to end."""

    def stop(self) -> None:
        """Finish the games that are played, and begin none."""

    def abort(self) -> None:
        """End every game now."""


class Worker(Protocol):
    """What stands beside: it works until the gate is shut for good, or it is told to stop."""

    async def run(self, gate: "Gate") -> None:
        """Work."""

    def stop(self) -> None:
        """End at once what is under way: it is begun again another time."""

    @property
    def waiting(self) -> int:
        """How much there is still to begin."""

    @property
    def working(self) -> int:
        """How much is under way."""


# -- who may be paired, as functions of values


def why_idle(bots: Sequence[Bot], *, sides: int) -> str | None:
    """Why no rated match can be made of these bots; None if one can."""
    rated = [bot for bot in bots if bot.is_active and bot.rated]
    if len(rated) < sides:
        active = sum(bot.is_active for bot in bots)
        return (
            f"{counted(len(rated), 'active rated bot')}, and a match is of {sides} "
            f"({active} active, {len(bots)} entered)"
        )
    families = {family(bot) for bot in rated}
    if len(families) < sides:
        owners = ", ".join(sorted({bot.owner for bot in rated}))
        return f"all {len(rated)} active rated bots are of {owners}: a match is of {sides} owners"
    return None


def event_of(bots: Sequence[Bot], ways: Ways) -> Adaptive:
    """The next event of these bots: small, with the floor for everybody.

    A match in ten is anybody's, so a quarter more than the floor alone would take.
    """
    playing = sum(bot.is_active and bot.rated for bot in bots)
    due = math.ceil(1.25 * ways.floor * playing / 2)
    return Adaptive(ways.event_matches or max(SMALLEST_EVENT, due), least=ways.floor)


# -- the gate


class Gate:
    """Whether something may be begun: as the operator has it, and whoever stops the program."""

    def __init__(self) -> None:
        self.controls = Controls()
        self._is_stopping = False
        self._is_ending = False
        """Whether somebody was told that nothing will be begun; then the others are told as well,
        though a drain be taken back: all end, or none."""
        self._changed = trio.Event()

    @property
    def is_closing(self) -> bool:
        """Whether nothing will be begun any more."""
        return self._is_stopping or self._is_ending or self.controls.draining is not None

    def heed(self, controls: Controls) -> None:
        """Mind what the operator says now."""
        if controls != self.controls:
            self.controls = controls
            self._wake()

    def stop(self) -> None:
        """Let nothing be begun any more."""
        self._is_stopping = True
        self._wake()

    async def opened(self) -> bool:
        """Wait as long as it is paused; False once nothing is to be begun any more."""
        while not self.is_closing and self.controls.paused is not None:
            await self._changed.wait()
        self._is_ending = self.is_closing
        return not self.is_closing

    def reopen(self) -> bool:
        """Whether a drain was taken back before all had ended: then they may begin again."""
        self._is_ending = False
        return not self.is_closing

    async def sleep(self, seconds: float) -> None:
        """Wait, unless something changes here."""
        with trio.move_on_after(seconds):
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


# -- the whole


class Standing:
    """A ladder that stands; `run` it once, for whoever holds the ladder.

    `tell` hears what is decided, and `say` lines for a person. `now` is the time, `draw` gives so
    many random bytes.
    """

    def __init__(
        self,
        ladder: Ladder,
        runner: Stoppable,
        *,
        ways: Ways,
        worker: Worker | None = None,
        guests: Guests | None = None,
        tell: Callable[[Notice], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
        watcher: Watcher | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        draw: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.gate = Gate()
        self._ladder = ladder
        self._runner = runner
        self._ways = ways
        self._worker = worker
        self._guests = guests
        self._tell = tell
        self._say = say
        self._watcher = watcher
        self._now = now
        self._draw = draw
        self._course = Course()
        self._rated_at: datetime | None = None
        self._idle: str | None = None
        self._trouble: str | None = None
        self._alarm: NothingRated | None = None
        self._alarm_at = -math.inf
        self._played = 0
        self._waiting = 0

    def status(self) -> Status:
        """What it is doing now; for trio's thread. Raises LadderError for a database that fails."""
        event = self._ladder.store.event_under_way()
        return Status(
            paused=self.gate.controls.paused,
            draining=self.gate.controls.draining,
            event=None if event is None else event.name,
            under_way=tuple(sorted(self._course.under_way)),
            left=len(self._ladder.store.scheduled()),
            waiting=self._waiting,
            validating=0 if self._worker is None else self._worker.working,
            rated_at=self._rated_at,
            idle=self._trouble or self._idle,
            alarm=str(self._alarm) if self.is_alarmed else None,
            public_alarm=str(self._public_alarm()) if self.is_alarmed else None,
        )

    def figures(self) -> dict[str, float]:
        """How it is doing, as `arena.metrics.LADDER` names it. For any thread: nothing waits."""
        return {
            "paused": float(self.gate.controls.holds),
            "alarm": float(self.is_alarmed),
            "last_rated_timestamp_seconds": self._rated_at.timestamp() if self._rated_at else 0.0,
            "matches_under_way": float(len(self._course.under_way)),
            "submissions_waiting": float(self._waiting),
            "submissions_validating": 0.0 if self._worker is None else float(self._worker.working),
        }

    @property
    def is_alarmed(self) -> bool:
        """Whether nothing rated was decided for too long, at this moment."""
        return self._alarm is not None and self._course.rated_at < self._alarm_at

    def stop(self) -> None:
        """Finish the games under way, begin nothing, and end."""
        self.gate.stop()
        if self._worker is not None:
            self._worker.stop()
        self._runner.stop()

    def abort(self) -> None:
        """End every game now, and all else."""
        self.stop()
        self._runner.abort()

    async def run(self) -> None:
        """Play for ever: until it is told to drain, or is stopped.

        Raises LadderError, before anything is played, for an event that was announced with a beacon
        whose value nobody has given.
        """
        event = self._ladder.store.event_under_way()
        if event is not None and not event.has_begun and event.beacon is not None:
            problem = f"is announced, and needs what {event.beacon} has published"
            remedy = f"play it first: arena ladder run {self._ladder.folder} --entropy VALUE"
            raise LadderError(event.name, problem, remedy=remedy)
        self._end_old_drain()
        sweep(self._ladder)
        async with trio.open_nursery() as watching:
            watching.start_soon(self._mind_operator)
            watching.start_soon(self._watch_quiet)
            is_open = True
            while is_open:
                async with trio.open_nursery() as working:
                    working.start_soon(self._play)
                    if self._worker is not None:
                        working.start_soon(self._worker.run, self.gate)
                is_open = self.gate.reopen()
            watching.cancel_scope.cancel()
        self._end_old_drain()

    # -- playing

    async def _play(self) -> None:
        """Play event after event; nothing that was foreseen ends it but the gate."""
        waits = delays()
        while await self.gate.opened():
            try:
                wait_seconds = await self._play_next()
            except BaseExceptionGroup as group:
                errors = list(leaves(group))
                if not all(isinstance(leaf, (LadderError, OSError)) for leaf in errors):
                    raise
                wait_seconds = self._failed(errors[0], next(waits))
            except (LadderError, OSError) as error:
                wait_seconds = self._failed(error, next(waits))
            else:
                if wait_seconds is None:
                    wait_seconds = next(waits)
                else:
                    waits, self._trouble = delays(), None
            if wait_seconds:
                await self.gate.sleep(wait_seconds)

    async def _play_next(self) -> float | None:
        """Play the event under way or the next one, if there can be one. How long to wait then;
        None if an event came to nothing: ever longer, so that it does not spin.
        """
        store = self._ladder.store
        bots = store.bots()
        idle = why_idle(bots, sides=self._ladder.settings.sides)
        if idle != self._idle and idle is not None:
            _log.info("nothing to play", extra={"because": idle})
            self._say(f"waiting: {idle}")
        self._idle = idle
        if idle is not None and store.event_under_way() is None:
            return POLL_SECONDS
        before = self._played
        event = await play_held(
            self._ladder,
            self._runner,
            schedule=event_of(bots, self._ways),
            tell=self._hear,
            watcher=self._watcher,
            at_once=self._ways.at_once,
            draw=self._draw,
            gate=self.gate,
            course=self._course,
            guests=self._guests,
        )
        return 0.0 if self._played > before or not event.is_over else None

    def _hear(self, notice: Notice) -> None:
        if isinstance(notice, MatchPlayed):
            self._played += 1
            self._trouble = None
            if notice.is_rated:
                self._rated_at = self._now()
        self._tell(notice)

    def _failed(self, error: BaseException, delay_seconds: float) -> float:
        """Say what went wrong and do what can be done; how long to wait before the next attempt."""
        if isinstance(error, EntrantError) and self._took_out(error):
            return 0.0
        self._trouble = str(error)
        _log.warning("cannot go on", extra={"because": str(error), "again_in": delay_seconds})
        self._say(f"cannot go on: {error}; tried again in {delay_seconds:g} s")
        return delay_seconds

    def _took_out(self, error: EntrantError) -> bool:
        """Whether a bot that cannot play is disabled now, so that the others go on."""
        try:
            verbs = Verbs(self._ladder, actor=ARENA, now=self._now)
            bot = verbs.disable(error.bot.name, because=error.why)
        except LadderError:
            return False  # the database: another time
        _log.warning("bot disabled", extra={"bot": bot.name, "because": str(error)})
        self._say(str(error))
        self._tell(BotDeactivated(bot))
        return True

    # -- watching

    async def _mind_operator(self) -> None:
        """Look for ever at what the operator says. While nobody can tell, it is what it was."""
        operator: Operator = self._ladder.store.operator
        is_told = False
        while True:
            try:
                controls = operator.controls()
                self._waiting = 0 if self._worker is None else self._worker.waiting
            except LadderError as error:
                if not is_told:
                    is_told = True
                    _log.error("cannot see what the operator says", extra={"because": str(error)})
            else:
                is_told = False
                if controls != self.gate.controls:
                    self._tell_controls(controls)
                self.gate.heed(controls)
            await trio.sleep(POLL_SECONDS)

    def _tell_controls(self, controls: Controls) -> None:
        for word, reason in (("draining", controls.draining), ("paused", controls.paused)):
            if reason is not None:
                because = f" ({reason})" if reason else ""
                _log.warning("%s by the operator", word, extra={"because": reason or None})
                self._say(f"{word} by the operator{because}: what is under way is finished")
                return
        _log.warning("resumed by the operator")
        self._say("resumed by the operator")

    async def _watch_quiet(self) -> None:
        """Raise the alarm each time that so long has passed without a rated result."""
        alarm_seconds = self._ways.alarm_seconds
        while True:
            await trio.sleep_until(max(self._alarm_at, self._course.rated_at) + alarm_seconds)
            now = trio.current_time()
            if now >= max(self._alarm_at, self._course.rated_at) + alarm_seconds:
                self._alarm_at = now
                self._alarm = NothingRated(now - self._course.rated_at, tuple(self._why_quiet()))
                _log.warning(
                    "nothing rated was decided",
                    extra={
                        "seconds": round(self._alarm.seconds),
                        "because": "; ".join(self._alarm.because),
                    },
                )
                self._tell(self._alarm)

    def _public_alarm(self) -> NothingRated:
        seconds = trio.current_time() - self._course.rated_at
        because = [*self._why_held()]
        if self._trouble is not None:
            because.append("it cannot go on, as its operator is told")
        return NothingRated(seconds, tuple(because or ["its operator is told"]))

    def _why_held(self) -> Iterator[str]:
        controls = self.gate.controls
        for word, reason in (("paused", controls.paused), ("draining", controls.draining)):
            if reason is not None:
                yield f"it is {word} by the operator" + (f" ({reason})" if reason else "")
        if self._idle is not None:
            yield self._idle

    def _why_quiet(self) -> Iterator[str]:
        yield from self._why_held()
        if self._trouble is not None:
            yield self._trouble
        try:
            yield from why_quiet(self._ladder, self._course)
        except LadderError as error:
            yield str(error)

    def _end_old_drain(self) -> None:
        """A drain is for whoever plays as it is said: the next one is to play."""
        operator = self._ladder.store.operator
        if operator.controls().draining is not None:
            at = stamp(self._now())
            deed = Deed(at, ARENA, "drained", self._ladder.settings.name, "")
            operator.tell({Control.DRAINING: None}, deed=deed)


def delays() -> Iterator[float]:
    """How long to wait from one attempt to the next, in seconds, for ever."""
    return chain(_RETRY_SECONDS, repeat(_RETRY_SECONDS[-1]))
