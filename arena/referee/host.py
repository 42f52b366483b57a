"""The host: plays tables over sessions, many at once.

A table says what to tell whom and what it is waiting for; the host does the telling, brings it the
answers, and lets it know when its time has come. One task a session hears answers, and one for all
tables watches their deadlines. What an answer, a loss or a deadline means is the table's to say.
Where a game has a masking tick, an answer of which others would hear is held until the tick.
The host does not know gRPC, the wire, tickets, or what a match is.
"""

import heapq
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple

import trio

from arena.referee.blame import Evidence, Overrun, time_loss
from arena.referee.meter import NO_METER, Meter
from arena.referee.pulse import CATCH_UP_SECONDS, Pulse, Watch
from arena.referee.session import End, Ended, Heard, Session
from arena.referee.table import Table, Tell
from arena.referee.tick import NEAR_SECONDS, Alarms, Sleep, next_tick, sleep_exactly
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.outcome import Ending, Outcome
from hokm.records import TimeLoss
from hokm.session import Answer, Decision, GameEnd, GameStart, Refused

_ENDINGS = {
    Ended.GOODBYE: Ending.CRASH,
    Ended.BROKEN: Ending.CRASH,
    Ended.MALFORMED: Ending.MALFORMED,
    Ended.FLOODED: Ending.MALFORMED,
}
"""How a session's end ends the games that are open on it; another is not the bot's doing."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_host(
    *, now: Callable[[], float], sleep: Sleep = sleep_exactly, meter: Meter = NO_METER
) -> AsyncIterator["Host"]:
    """A host for as long as it is open. ``now`` is the clock by which messages are stamped;
    ``sleep`` waits for a tick, by that clock; ``meter`` is told of games and delays.
    """
    async with trio.open_nursery() as nursery:
        host = Host(nursery, now=now, sleep=sleep, meter=meter)
        nursery.start_soon(host.watch_deadlines)
        nursery.start_soon(host.keep_ticks)
        nursery.start_soon(host.beat)
        yield host
        nursery.cancel_scope.cancel()


class Host:
    """Plays tables; made by :func:`open_host`."""

    def __init__(
        self, nursery: trio.Nursery, *, now: Callable[[], float], sleep: Sleep, meter: Meter
    ) -> None:
        self._nursery = nursery
        self._meter = meter
        self._now = now
        self._lines: dict[Session, _Line] = {}
        self._asked: set[_Line] = set()
        """Those that were told a decision in this turn."""
        self._games: dict[Table, _Game] = {}
        self._deadlines = _Deadlines(now)
        self._alarms = Alarms(now, sleep=sleep)
        self._pulse = Pulse(now, self._watched)
        self._stopped: str | None = None

    async def play(
        self,
        table: Table,
        sessions: Sequence[Session],
        *,
        match: str,
        players: tuple[str, ...],
        tick_seconds: float = 0.0,
    ) -> Outcome:
        """Play a fresh table to its end, ``sessions[seat]`` at each seat, and return how it ended.

        Any number of tables may be played at once over the same sessions; on one session no two
        may have the same number, then or later. ``match``, its id, and ``players``, the names by
        seat, are what the bots are told. If this is cancelled, the game is stopped and the bots are
        told so.

        With ``tick_seconds`` above 0 what follows from an answer is told so many seconds after its
        decision was, or twice, three times so many. The answer counts from when it was read.
        """
        game = _Game(
            table, [self._line(session) for session in sessions], match=match, players=players
        )
        game.tick_seconds = tick_seconds
        table.examine = partial(self._examine, game)
        self._seat(game)
        self._games[table] = game
        self._meter.game_began()
        try:
            for seat, line in enumerate(game.lines):
                line.session.tell(game.start(Seat(seat)))
            for seat, line in enumerate(game.lines):
                if line.session.closed is not None:
                    self._lost(game, Seat(seat), line.session.closed)
            self._do(game, lambda: table.start(self._now()))
            if self._stopped is not None:
                self._stop(game, cause=self._stopped)
            self._share_clocks()
            await game.over.wait()
        finally:
            if game.outcome is None:
                self._stop(game, cause="the match was stopped")
            del self._games[table]
            self._meter.game_ended()
        assert game.outcome is not None
        return game.outcome

    def stop(self, cause: str) -> None:
        """End every game, and every one that is begun from now on, with nobody at fault."""
        self._stopped = cause
        for game in list(self._games.values()):
            self._stop(game, cause=cause)

    def cap(self, table: Table, *, cause: str) -> None:
        """End a game because its match is beyond its cap."""
        game = self._games.get(table)
        if game is not None:
            self._release(game)
            self._do(game, lambda: table.cap(self._now(), cause=cause))

    # -- sessions

    def _line(self, session: Session) -> "_Line":
        line = self._lines.get(session)
        if line is None:
            line = self._lines[session] = _Line(session)
            session.attendant = self
            self._nursery.start_soon(self._hear, line)
        return line

    def _seat(self, game: "_Game") -> None:
        number, lines = game.table.number, game.lines
        seats = game.table.game.variant.seats
        if len(lines) != seats:
            raise ValueError(f"this table has {seats} seats, not {len(lines)}")
        if len(set(lines)) != len(lines):
            raise ValueError("one session at two seats: an answer would not say for which it is")
        if any(number in line.given for line in lines):
            raise ValueError(f"game {number} was played before by one of these sessions")
        for seat, line in enumerate(lines):
            line.given.add(number)
            line.games[number] = game, Seat(seat)

    async def _hear(self, line: "_Line") -> None:
        while line.session.closed is None:
            self._take(line, await line.session.hear())
        del self._lines[line.session]

    def away(self, session: Session) -> None:
        """See :class:`~arena.referee.session.Attendant`. Its clocks run on."""
        for opened in list(self._lines[session].open.values()):
            self._do(opened.game, partial(_away, opened.game.table, opened.seat, self._now()))

    def back(self, session: Session, games: Sequence[int]) -> None:
        """See :class:`~arena.referee.session.Attendant`."""
        line, now = self._lines[session], self._now()
        # A bot may name a game as often as it likes, and is told of it once.
        named = [line.over[number] for number in dict.fromkeys(games) if number in line.over]
        for game, seat in named:
            session.tell(game.start(seat, resumed=True))
            for tell in game.table.back(seat, now):
                self._tell(game, tell)
        for game, seat in list(line.games.values()):
            session.tell(game.start(seat, resumed=True))
            self._do(game, partial(game.table.back, seat, now))
        self._share_clocks()

    def _take(self, line: "_Line", heard: Sequence[Heard]) -> None:
        """Bring answers to their tables. If they are the last of a session, its games are over."""
        session = line.session
        for answer, at in heard:
            place = line.games.get(answer.game)
            if place is not None:
                game, seat = place
                if game.tick_seconds > 0:
                    self._do(game, partial(self._judge_or_hold, game, seat, answer, at))
                else:
                    judge = partial(_judge, game.table, seat, answer, at, asks_at=self._now())
                    self._do(game, judge)
            elif answer.game in line.given:
                session.tell(_too_late(answer))
                if answer.game in line.lost:
                    table, seat = line.lost[answer.game]
                    took_seconds = answer.took_seconds
                    table.answered_at_last(seat, answer.decision, at, took_seconds=took_seconds)
            else:
                self._close(line, End(Ended.MALFORMED, f"no game {answer.game} was started here"))
                break
        if session.closed is not None:
            self._close(line, session.closed)
        self._share_clocks()
        if heard:
            self._meter.judged(heard, self._now())

    def _close(self, line: "_Line", end: End) -> None:
        """A session is over: so are its games, at once, and then its stream."""
        for game, seat in list(line.games.values()):
            self._lost(game, seat, end)
        line.session.end(end)

    def _share_clocks(self) -> None:
        """Tell tables how many decisions are open at once on a connection."""
        for line in self._asked:
            count = len(line.open)
            for opened in line.open.values():
                if opened.shared < count:
                    opened.share(count)
        self._asked.clear()

    # -- tables

    def _do(self, game: "_Game", step: Callable[[], Sequence[Tell]]) -> None:
        """Let something happen at a table, and do what it asks for.

        What goes wrong inside is a fault of ours: it ends this game and no other.
        """
        if game.outcome is not None:
            return
        try:
            tells = step()
            deadline, outcome = game.table.deadline, game.table.outcome
        except Exception:
            _log.exception("the table of game %d failed: the game is void", game.table.number)
            tells, outcome = _void(game, self._now())
            deadline = None
        for tell in tells:
            self._tell(game, tell)
        if outcome is not None:
            game.end(outcome)
            self._deadlines.forget(game)
        elif deadline is not None:
            self._deadlines.add(game, deadline)

    def _tell(self, game: "_Game", tell: Tell) -> None:
        line, message = game.lines[tell.seat], tell.message
        if isinstance(message, Decision):
            game.open(tell.seat, message.decision)
            self._asked.add(line)
            self._pulse.want()
            if game.tick_seconds > 0:
                game.told_at = self._now()
            line.session.tell(message, partial(self._sent, game, tell.seat, message.decision))
            if line.session.is_away:  # it is not written, and time runs all the same
                game.table.away(tell.seat, self._now())
        else:
            line.session.tell(message)

    def _sent(self, game: "_Game", seat: Seat, decision: int, began_at: float, at: float) -> None:
        self._do(game, partial(_sent, game.table, seat, decision, began_at, at))

    def _lost(self, game: "_Game", seat: Seat, end: End) -> None:
        self._release(game)
        cause, ending = end.ended.value, _ENDINGS.get(end.ended)
        if ending is None:
            self._stop(game, cause=cause)
        else:
            lost = partial(game.table.lost, seat, self._now(), cause=cause, ending=ending)
            self._do(game, lost)

    def _stop(self, game: "_Game", *, cause: str) -> None:
        self._release(game)
        stop = partial(game.table.stop, self._now(), ending=Ending.STOPPED, cause=cause)
        self._do(game, stop)

    # -- blame

    async def beat(self) -> None:
        """Notice when nothing runs here; see :mod:`arena.referee.pulse`."""
        await self._pulse.run()

    def _watched(self) -> list[Watch]:
        return [one.watch(line) for line in self._lines.values() for one in line.open.values()]

    def _examine(self, game: "_Game", seat: Seat, overrun: Overrun) -> TimeLoss:
        stalled_seconds = self._pulse.stalled_seconds(overrun)
        line = game.lines[seat]
        opened = line.open.get(game.table.number)
        evidence = (
            Evidence(stalled_seconds=stalled_seconds)
            if opened is None
            else opened.watch(line).evidence(stalled_seconds=stalled_seconds)
        )
        return time_loss(seat, overrun, evidence)

    # -- ticks

    async def keep_ticks(self) -> None:
        """Judge each answer that was held when its tick has come."""
        await self._alarms.run()

    def _judge_or_hold(
        self, game: "_Game", seat: Seat, answer: Answer, at: float
    ) -> Sequence[Tell]:
        """What an answer says to its sender alone is told at once: its clock may be running. What
        others hear of has them hear nothing of when it came.
        """
        table = game.table
        if not table.concerns_others(seat, answer.decision, answer.attempt, answer.action, at):
            return _judge(table, seat, answer, at, asks_at=self._now())
        if game.opened is game.lines[seat]:
            game.answered()  # it has time no more in common with others on its line
        if not game.held:
            tick = next_tick(game.told_at, self._now(), tick_seconds=game.tick_seconds)
            self._alarms.set(tick, partial(self._tick_came, game))
        game.held.append(_Held(seat, answer, at))
        return []

    def _tick_came(self, game: "_Game") -> None:
        self._release(game)
        self._share_clocks()

    def _release(self, game: "_Game") -> None:
        """Judge what was held, now: its tick has come, or else the game ends, and then whatever
        came before counts.
        """
        held, game.held = game.held, []
        for seat, answer, at in held:
            if game.outcome is None:
                self._do(game, partial(_judge, game.table, seat, answer, at, asks_at=self._now()))
            else:
                game.lines[seat].session.tell(_too_late(answer))

    # -- deadlines

    async def watch_deadlines(self) -> None:
        """Tell each table when its time has come, after every answer that was in time."""
        while True:
            await self._deadlines.wait()
            if self._pulse.has_just_stalled():
                await trio.sleep(CATCH_UP_SECONDS)  # what came meanwhile is still to be read
            now = self._now()
            due = self._deadlines.due(now)
            lines = {line for game in due for line in game.lines}
            for line in lines:
                await line.session.settle()
            for line in lines:
                self._take(line, line.session.heard())
            for game in due:
                if not game.held:  # else what was in time is about to be judged
                    self._do(game, partial(_tick, game.table, now))


class _Line:
    """What the host keeps about one session."""

    __slots__ = ("games", "given", "lost", "open", "over", "session")

    def __init__(self, session: Session) -> None:
        self.session = session
        self.games: dict[int, tuple[_Game, Seat]] = {}
        """The games under way, by number, and the seat in each."""
        self.given: set[int] = set()
        """The number of every game it was ever given."""
        self.over: dict[int, tuple[_Game, Seat]] = {}
        """Those that are over, where the bot may have missed it and come back."""
        self.lost: dict[int, tuple[Table, Seat]] = {}
        """Those that it lost on time, whose answer may yet come."""
        self.open: dict[int, _Open] = {}
        """The decisions it has been told and has not answered, by game."""


class _Held(NamedTuple):
    """An answer that is judged later."""

    seat: Seat
    answer: Answer
    at: float


class _Game:
    """What the host keeps about one table under way."""

    __slots__ = (
        "due",
        "entry",
        "held",
        "lines",
        "match",
        "opened",
        "outcome",
        "over",
        "players",
        "table",
        "tick_seconds",
        "told_at",
    )

    def __init__(
        self, table: Table, lines: Sequence[_Line], *, match: str, players: tuple[str, ...]
    ) -> None:
        self.table = table
        self.lines = lines
        self.match = match
        self.players = players
        self.opened: _Line | None = None
        """The line on which the game's one open decision is."""
        self.due: float | None = None
        """When the deadline watcher looks at it next."""
        self.entry = -1
        """Its entry among the deadlines that are watched."""
        self.over = trio.Event()
        self.outcome: Outcome | None = None
        self.tick_seconds = 0.0
        """The masking tick; 0 where there is none."""
        self.told_at = 0.0
        """When the open decision was told."""
        self.held: list[_Held] = []
        """Answers that are judged when the tick comes, in order."""

    def start(self, seat: Seat, *, resumed: bool = False) -> GameStart:
        """How a seat is told that the game begins, or goes on."""
        return GameStart(self.match, self.table.number, seat, self.players, resumed)

    def open(self, seat: Seat, decision: int) -> None:
        """A decision is put to a seat; the one before it, if any, was answered."""
        self.answered()
        self.opened = self.lines[seat]
        self.opened.open[self.table.number] = _Open(self, seat, decision)

    def end(self, outcome: Outcome) -> None:
        """The game is over."""
        self.answered()
        number = self.table.number
        for line in self.lines:
            place = line.games.pop(number)
            if line.session.resume_seconds:
                line.over[number] = place
            if self.table.time_loss is not None and self.table.time_loss.seat == place[1]:
                line.lost[number] = self.table, place[1]
        self.outcome = outcome
        self.over.set()

    def answered(self) -> None:
        if self.opened is not None:
            del self.opened.open[self.table.number]
            self.opened = None


class _Open:
    """A decision that a bot has been told and has not answered."""

    __slots__ = ("_watch", "decision", "game", "seat", "shared")

    def __init__(self, game: _Game, seat: Seat, decision: int) -> None:
        self.game = game
        self.seat = seat
        self.decision = decision
        self.shared = 1
        """How many were open on its line at once, at most, as its table was told."""
        self._watch: Watch | None = None

    def watch(self, line: _Line) -> Watch:
        """What is seen of it, from the first time that anybody looks."""
        if self._watch is None:
            self._watch = Watch(line.session.take_vitals)
        return self._watch

    def share(self, count: int) -> None:
        # A clock that is shared runs longer, so no deadline comes nearer.
        self.shared = count
        self.game.table.shared(self.seat, self.decision, count)


class _Deadlines:
    """When to look at which table: a heap, with one entry in force for each game.

    Deadlines mostly move away, decision by decision. So an entry is not moved with them: when it
    comes up, it is put back at the deadline of that moment. Only one that comes nearer is added. An
    entry that is in force no more stays in the heap until its time, but holds no game.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._heap: list[tuple[float, int]] = []
        self._entries = itertools.count()
        self._games: dict[int, _Game] = {}
        self._sleep = trio.CancelScope()

    def add(self, game: _Game, deadline: float) -> None:
        if game.due is None or deadline < game.due:
            self.forget(game)
            game.due, game.entry = deadline, next(self._entries)
            self._games[game.entry] = game
            heapq.heappush(self._heap, (deadline, game.entry))
            if self._heap[0][1] == game.entry:
                self._sleep.deadline = self._trio_time(deadline)

    def forget(self, game: _Game) -> None:
        """The game is over, or looked at otherwise."""
        self._games.pop(game.entry, None)

    async def wait(self) -> None:
        """Sleep until the first of them; it may move while this sleeps."""
        with trio.CancelScope() as self._sleep:
            if self._heap:
                self._sleep.deadline = self._trio_time(self._heap[0][0])
            await trio.sleep_forever()

    def due(self, now: float) -> list[_Game]:
        """The games whose deadline has come."""
        due = []
        while self._heap and self._heap[0][0] <= now + NEAR_SECONDS:
            _, entry = heapq.heappop(self._heap)
            game = self._games.pop(entry, None)
            if game is None:
                continue  # over, or looked at earlier
            game.due = None
            deadline = game.table.deadline
            if deadline is None:
                continue
            if deadline <= now + NEAR_SECONDS:
                due.append(game)
            else:
                self.add(game, deadline)
        return due

    def _trio_time(self, deadline: float) -> float:
        return trio.current_time() + deadline - self._now()


def _judge(
    table: Table, seat: Seat, answer: Answer, at: float, *, asks_at: float | None = None
) -> Sequence[Tell]:
    return table.answer(
        seat,
        answer.decision,
        answer.attempt,
        answer.action,
        at,
        asks_at=asks_at,
        took_seconds=answer.took_seconds,
        note=answer.note,
    )


def _sent(table: Table, seat: Seat, decision: int, began_at: float, at: float) -> Sequence[Tell]:
    table.sent(seat, decision, at, began_at=began_at)
    return []


def _away(table: Table, seat: Seat, now: float) -> Sequence[Tell]:
    table.away(seat, now)
    return []


def _tick(table: Table, now: float) -> Sequence[Tell]:
    deadline = table.deadline
    if deadline is None or deadline > now + NEAR_SECONDS:
        return []
    return table.tick(max(now, deadline))


def _void(game: _Game, now: float) -> tuple[Sequence[Tell], Outcome]:
    """The end of a game whose table has failed, by the table itself if it can still do that."""
    ending, cause = Ending.HOST_FAULT, "the arena failed; nobody is at fault"
    try:
        tells = game.table.stop(now, ending=ending, cause=cause)
        outcome = game.table.outcome
    except Exception:
        _log.exception("the table of game %d cannot even be stopped", game.table.number)
    else:
        if outcome is not None:
            return tells, outcome
    outcome = Outcome(ending, (), None, cause=cause)
    seats = [Seat(seat) for seat in range(len(game.lines))]
    return [Tell(seat, GameEnd(game.table.number, (), outcome)) for seat in seats], outcome


def _too_late(answer: Answer) -> Refused:
    """Costs nothing: the bot could not know yet (rulebook 7)."""
    return Refused(
        answer.game,
        answer.decision,
        answer.attempt,
        Reason.MATCH_OVER,
        "this game is over",
    )
