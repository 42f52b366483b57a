"""A room: one seating of a match, and its games from first to last.

The players of a room are processes of its own, so that none of them ever meets a deal twice. A room
has the host play its games one after the other, or as many at once as its bots take; a player that
died is started again for the next board, until its side has had its incidents. It does not know
cards, clocks or ratings.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

import trio

from arena.ladder.bots.entrants import Entrant
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.processes.invitations import Kept
from arena.ladder.processes.players import House, Player
from arena.ladder.processes.remote import RemotePlayer
from arena.referee.table import Table
from hokm.cards import Seat
from hokm.outcome import Ending, Outcome
from hokm.records import Flag, GameRecord, HandRecord, ProcessRecord, RoomRecord, TimeLoss
from hokm.session import MatchEnd, MatchStart

INCIDENTS = 3
"""The incident of a side in a match at which its unplayed boards are lost (rulebook 7.7)."""

SIGN_OF_LIFE_SECONDS = 1.0
"""A bot that lost on time and says nothing for so long, or another move, hangs: it is replaced."""

SPARE_SECONDS = 60.0
"""How much longer than its room a process may live: for hellos, and its goodbye."""

DEATH_SECONDS = 1.0
"""How long a bot whose stream broke may take to end by itself: how it ended says why."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A bot failed: the verdict and the evidence, for its owner and the operator, for nobody else.

    ``game`` is None for a start that failed. ``tail`` is the end of its ``log``; ``by_hand`` is the
    command that runs it as it was run. ``time_loss`` says where the time went of a clock that ran
    out; if that was the host's fault the ending is HOST_FAULT, and the bot has not failed.
    ``hand`` is the hand that was on, as far as it went, with all its cards.
    ``loses_rest`` says that its side has had its incidents with this: no bot of it is started again
    in this match, and the games are lost that need one that is not there.
    """

    entrant: Entrant
    room: int
    seat: Seat
    game: int | None
    ending: Ending
    detail: str
    log: Path
    tail: str
    by_hand: str
    time_loss: TimeLoss | None = None
    loses_rest: bool = False
    hand: HandRecord | None = None


class Watcher(Protocol):
    """Who is told how a match goes, while it goes."""

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        """A game is over."""

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        """A bot failed."""


class MatchState:
    """What the rooms of one match share while it is played."""

    def __init__(self) -> None:
        self.incidents: Counter[int] = Counter()
        """Dead processes so far, by team."""
        self.told: set[int] = set()
        """Entrants that know their match, by index: a process of theirs was told that it begins."""
        self.is_over = False
        """No game is begun any more: the match was stopped, or cannot count any more."""
        self.spoilt = trio.Event()
        """It counts for nothing: nobody is waited for with whom a room would begin."""
        self.stopped = trio.Event()
        """Nobody is waited for who is not there yet: no game that is begun needs it."""
        self.aborted = trio.Event()
        """Nothing is waited for any more either: no hello, no farewell."""


class Room:
    """Room ``number`` of a match: :meth:`play` it once, then ask for its :meth:`record`."""

    def __init__(
        self, house: House, plan: MatchPlan, number: int, *, match: MatchState, watcher: Watcher
    ) -> None:
        self._house = house
        self._plan = plan
        self._number = number
        self._match = match
        self._watcher = watcher
        logs = house.logs / plan.folder
        self._players = [
            (RemotePlayer if plan.entrants[index].is_remote else Player)(
                house,
                plan.entrants[index],
                index=index,
                room=number,
                slot=Seat(slot),
                logs=logs,
                resume_seconds=plan.resume_seconds,
                life_seconds=plan.room_seconds + SPARE_SECONDS + 2 * house.hello_seconds,
            )
            for slot, index in enumerate(plan.seatings(number)[0])
        ]
        self._guests = [player for player in self._players if isinstance(player, RemotePlayer)]
        for guest in self._guests:
            guest.match = plan.match
        self._kept: Kept | None = None
        """Their seats, while they are kept."""
        self._tables: dict[int, Table] = {}
        self._games: dict[int, GameRecord] = {}
        self._late: tuple[Player, str] | None = None
        """Who held the room up beyond its cap, and the cause in words."""

    async def reserve(self) -> None:
        """Wait until there is place for those who come from elsewhere, if any do, or it is known
        that there will be none. Whoever stops the match ends the waiting, and so does a start that
        failed in another room of it.
        """
        invitations = self._house.invitations
        if not self._guests or invitations is None:
            return
        async with trio.open_nursery() as waiting:
            waiting.start_soon(self._watch_stop, waiting.cancel_scope)
            waiting.start_soon(self._watch_spoilt, waiting.cancel_scope)
            self._kept = await invitations.reserve(
                [player.guest for player in self._guests],
                has_begun=lambda: any(player.index in self._match.told for player in self._guests),
            )
            waiting.cancel_scope.cancel()

    def release(self) -> None:
        """Give back what :meth:`reserve` took."""
        if self._kept is not None:
            self._kept.release()

    async def play(self) -> None:
        """Start the bots, play every game, see the bots off."""
        async with trio.open_nursery() as nursery:
            async with trio.open_nursery() as playing:
                playing.start_soon(self._watch_abort, playing.cancel_scope)
                if await self._seat_everybody(nursery):
                    playing.start_soon(self._watch_cap)
                    await self._play_games(nursery)
                await self._farewell()
                playing.cancel_scope.cancel()
            await self._dismiss()
            nursery.cancel_scope.cancel()

    def record(self) -> RoomRecord:
        """What happened in this room; games that were not begun are in it as stopped."""
        odd, even = self._plan.seatings(self._number)
        games = (self._games.get(number) or self._stopped(number) for number in self._plan.games)
        return RoomRecord(
            number=self._number,
            seating=odd,
            even_seating=None if even == odd else even,
            games=tuple(games),
        )

    def version_of(self, index: int) -> str | None:
        """The version that the entrant of that index gave in its hello; None where it said none."""
        said = (one.hello for one in self._players if one.index == index)
        return next((hello.version for hello in said if hello is not None), None)

    def processes(self) -> tuple[ProcessRecord, ...]:
        """The processes that ran here."""
        return tuple(process for player in self._players for process in player.ended)

    # -- seating

    async def _seat_everybody(self, nursery: trio.Nursery) -> bool:
        """Start every player; whether all came. A bot says hello before it can know more."""
        if not await self._start(self._players, nursery):
            return False
        for player in self._players:
            if player.session is None:
                if player in self._guests and player.index in self._match.told:
                    self._stayed_away(player)
                else:
                    self._never_started(player)
                return False
        for player in self._players:
            self._tell_start(player)
        return True

    async def _start(self, players: Sequence[Player], nursery: trio.Nursery) -> bool:
        """Start players and wait for them; False if the match was stopped before all came or did
        not.
        """
        is_done = False
        async with trio.open_nursery() as waiting:
            waiting.start_soon(self._watch_stop, waiting.cancel_scope)
            async with trio.open_nursery() as starting:
                for player in players:
                    starting.start_soon(player.start, nursery)
            is_done = True
            waiting.cancel_scope.cancel()
        return is_done

    def _tell_start(self, player: Player) -> None:
        assert player.session is not None
        plan = self._plan
        self._match.told.add(player.index)
        player.session.tell(
            MatchStart(match=plan.match, rules=plan.rules, games=plan.length, clock=plan.clock)
        )

    def _never_started(self, player: Player) -> None:
        """No game of this room counts, and so nothing of the match."""
        self._match.is_over = True
        self._match.spoilt.set()
        self._tell(player, None, ending=Ending.NEVER_STARTED, detail=player.failure or "")
        for number in self._plan.games:
            seat = Seat(self._sitting(number).index(player))
            outcome = self._plan.game(number).void(
                Ending.NEVER_STARTED, cause=f"seat {seat}: it never said hello", seat=seat
            )
            self._over(GameRecord(number=number, outcome=outcome))

    def _stayed_away(self, player: Player) -> None:
        """A remote bot that knows its match, from another room, is not at liberty to void it by not
        coming to this one: its side has lost what is to be played here (rulebook 7.7).
        """
        self._tell(player, None, ending=Ending.CRASH, detail=player.failure or "")
        for number in self._plan.games:
            seat = Seat(self._sitting(number).index(player))
            cause = f"seat {seat}: not played, since it did not come to a room of a match under way"
            outcome = self._plan.game(number).forfeit(seat, ending=Ending.CRASH, cause=cause)
            self._over(GameRecord(number=number, outcome=outcome, flags=(Flag.UNPLAYED,)))

    # -- games

    async def _play_games(self, nursery: trio.Nursery) -> None:
        numbers = iter(self._plan.games)
        at_once = min(self._plan.at_once, *(_takes_at_once(player) for player in self._players))
        async with trio.open_nursery() as games:
            for _ in range(at_once):
                games.start_soon(self._play_in_turn, numbers, nursery)

    async def _play_in_turn(self, numbers: Iterator[int], nursery: trio.Nursery) -> None:
        for number in numbers:
            if self._match.is_over:
                return
            await self._play_game(number, nursery)

    async def _play_game(self, number: int, nursery: trio.Nursery) -> None:
        sitting = self._sitting(number)
        for player in sitting:
            await self._revive(player, nursery)
        sessions = [player.session for player in sitting if player.session is not None]
        if len(sessions) < len(sitting) and self._match.stopped.is_set():
            return
        if len(sessions) < len(sitting) or self._late is not None:
            self._forfeit(number, sitting)
            return
        plan = self._plan
        table = Table(plan.game(number), number=number, clock=plan.clock, policy=plan.policy)
        names = tuple(player.entrant.name for player in sitting)
        self._tables[number] = table
        outcome = await self._house.host.play(
            table,
            sessions,
            match=plan.match,
            players=names,
            tick_seconds=plan.tick_seconds,
        )
        del self._tables[number]
        if outcome.ending is Ending.HOST_FAULT:
            self._match.is_over = True
        self._over(table.record())
        if outcome.at_fault is not None:
            await self._after_fault(sitting[outcome.at_fault], table, outcome)
        elif table.time_loss is not None:
            self._report(sitting[table.time_loss.seat], table, outcome, detail=outcome.cause)
        # What ran out of time may have been answered in the end: then more is known of it.
        self._games[number] = self._seated(table.record())

    def _forfeit(self, number: int, sitting: list[Player]) -> None:
        """A board that is not played: a side has had its incidents, or the match its time."""
        if self._late is not None:
            player, cause = self._late
            ending = Ending.STALL
        else:
            player = next(player for player in sitting if player.session is None)
            ending, cause = Ending.CRASH, f"its side has had {INCIDENTS} incidents in this match"
        seat = Seat(sitting.index(player))
        outcome = self._plan.game(number).forfeit(
            seat, ending=ending, cause=f"seat {seat}: not played, since {cause}"
        )
        self._over(GameRecord(number=number, outcome=outcome, flags=(Flag.UNPLAYED,)))

    def _stopped(self, number: int) -> GameRecord:
        outcome = self._plan.game(number).void(Ending.STOPPED, cause="not played: stopped before")
        return self._seated(GameRecord(number=number, outcome=outcome))

    def _seated(self, game: GameRecord) -> GameRecord:
        return replace(game, seating=self._plan.own_seating(self._number, game.number))

    def _over(self, game: GameRecord) -> None:
        game = self._seated(game)
        self._games[game.number] = game
        assert game.outcome is not None
        self._house.meter.game_over(game.outcome.ending, game.seconds)
        outcome = game.outcome
        _log.info(
            "game over",
            extra={
                "room": self._number,
                "game": game.number,
                "ending": outcome.ending.value,
                "at_fault": None if outcome.at_fault is None else int(outcome.at_fault),
                "cause": outcome.cause or None,
            },
        )
        self._watcher.game_over(self._plan, self._number, game)

    def _sitting(self, number: int) -> list[Player]:
        """The player at each seat in that game; the players of one entrant keep their order."""
        free = list(self._players)
        sitting = []
        for index in self._plan.seating(self._number, number):
            player = next(player for player in free if player.index == index)
            free.remove(player)
            sitting.append(player)
        return sitting

    # -- faults

    async def _after_fault(self, player: Player, table: Table, outcome: Outcome) -> None:
        """End a process that is dead, or as good as dead: that is an incident. Report the fault."""
        detail, loses_rest = outcome.cause, False
        if player.session is not None and await self._is_dead(player, outcome.ending):
            loses_rest = self._incident(player)
            patience = 0 if outcome.ending is Ending.TIME else DEATH_SECONDS
            await player.end(wait_seconds=patience)
            detail = f"{detail} ({player.how_it_ended})"
        self._report(player, table, outcome, detail=detail, loses_rest=loses_rest)

    def _incident(self, player: Player) -> bool:
        """Count one more; whether it is the one that loses its side the rest."""
        team = self._plan.team(player.index)
        self._match.incidents[team] += 1
        return self._match.incidents[team] == INCIDENTS

    async def _is_dead(self, player: Player, ending: Ending) -> bool:
        assert player.session is not None
        if player.session.is_away and player.session.closed is None:
            return False  # it may come back, and its clocks run
        match ending:
            case Ending.TIME:
                seconds = max(SIGN_OF_LIFE_SECONDS, self._plan.clock.move_seconds)
                with trio.move_on_after(seconds) as waiting:
                    await player.session.sign_of_life()
                return waiting.cancelled_caught or player.session.closed is not None
            case Ending.STALL:
                return True
            case _:
                return player.session.closed is not None

    async def _revive(self, player: Player, nursery: trio.Nursery) -> None:
        """Start a dead player again, unless its side has had its incidents.

        It has said hello in this match before, so it may know whom it plays: not to come again is
        one more incident, and not a start that failed.
        """
        team = self._plan.team(player.index)
        async with player.lock:
            while player.session is None and self._match.incidents[team] < INCIDENTS:
                if not await self._start([player], nursery):
                    return
                if _is_here(player):
                    self._tell_start(player)
                else:
                    loses_rest = self._incident(player)
                    detail = f"it died in this match and did not come again: {player.failure}"
                    self._tell(
                        player, None, ending=Ending.CRASH, detail=detail, loses_rest=loses_rest
                    )

    def _report(
        self,
        player: Player,
        table: Table,
        outcome: Outcome,
        *,
        detail: str,
        loses_rest: bool = False,
    ) -> None:
        self._tell(
            player,
            table.number,
            ending=outcome.ending,
            detail=detail,
            time_loss=table.time_loss,
            loses_rest=loses_rest,
            hands=table.record().hands,
        )

    def _tell(
        self,
        player: Player,
        number: int | None,
        *,
        ending: Ending,
        detail: str,
        time_loss: TimeLoss | None = None,
        loses_rest: bool = False,
        hands: Sequence[HandRecord] = (),
    ) -> None:
        trouble = Trouble(
            entrant=player.entrant,
            room=self._number,
            seat=player.slot,
            game=number,
            ending=ending,
            detail=detail,
            log=player.log,
            tail=player.tail,
            by_hand=player.by_hand,
            time_loss=time_loss,
            loses_rest=loses_rest,
            hand=hands[-1] if hands else None,
        )
        _log.warning(
            "bot failed",
            extra={
                "bot": player.entrant.name,
                "room": self._number,
                "seat": int(player.slot),
                "game": number,
                "ending": ending.value,
                "detail": detail,
                "time_loss": None if time_loss is None else str(time_loss),
                "loses_rest": loses_rest or None,
            },
        )
        self._watcher.trouble(self._plan, trouble)

    async def _watch_cap(self) -> None:
        """The seat whose decision is open when the room is beyond its cap has held it up."""
        cap_seconds = self._plan.room_seconds
        await trio.sleep(cap_seconds)
        cause = f"the room has taken {cap_seconds:.0f} s, and may not take longer"
        for number, table in list(self._tables.items()):
            self._house.host.cap(table, cause=cause)
            if table.outcome is not None and table.outcome.at_fault is not None:
                self._late = self._sitting(number)[table.outcome.at_fault], cause

    async def _watch_stop(self, waiting: trio.CancelScope) -> None:
        await self._match.stopped.wait()
        waiting.cancel()

    async def _watch_spoilt(self, waiting: trio.CancelScope) -> None:
        await self._match.spoilt.wait()
        waiting.cancel()

    async def _watch_abort(self, playing: trio.CancelScope) -> None:
        """The host ends the games themselves; what else is under way here is left."""
        await self._match.aborted.wait()
        playing.cancel()

    async def _dismiss(self) -> None:
        """End at once whatever processes an abort has left."""
        async with trio.open_nursery() as nursery:
            for player in self._players:
                nursery.start_soon(partial(player.end, wait_seconds=0))

    async def _farewell(self) -> None:
        """Tell the bots that the match is over, and see their processes end."""
        async with trio.open_nursery() as nursery:
            for player in self._players:
                if player.session is not None:
                    player.session.tell(MatchEnd(self._plan.match))
                nursery.start_soon(player.end)


def _is_here(player: Player) -> bool:
    return player.session is not None


def _takes_at_once(player: Player) -> int:
    """How many games a bot takes at once: what its manifest and its hello both say."""
    said = 1 if player.session is None else player.session.hello.concurrent
    return min(player.entrant.concurrent, said)
