"""The runner: plays planned matches with real bot processes and hands each back as one record.

It packs *rooms* on the cores, whichever matches they belong to, since a room is what keeps a core
busy: four seats that wait for each other. It runs the referee that the rooms share, and sweeps away
what a killed runner left behind. It does not know ladders or ratings.
"""

import logging
import platform
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import trio

import arena
import hokm
from arena import logs
from arena.heap import keep_heap_small
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import MatchState, Room, Watcher
from arena.ladder.matches.scores import score
from arena.ladder.processes import strays
from arena.ladder.processes.invitations import Inviting
from arena.ladder.processes.players import House
from arena.ladder.processes.remote import NOBODYS
from arena.ladder.processes.sandbox import Sandbox
from arena.referee.bridge import serve
from arena.referee.calls import Call, Services
from arena.referee.host import open_host
from arena.referee.lobby import open_lobby
from arena.referee.meter import NO_METER, Meter
from arena.referee.serving import Network
from hokm.records import Circumstances, EntrantRecord, MatchRecord, RoomRecord, score_of

HELLO_SECONDS = 10.0
"""How long a bot may take from its start to its hello."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_runner(
    *,
    concurrency: int,
    python: str,
    running: Path,
    logs: Path,
    address: str = "127.0.0.1:0",
    prefix: Sequence[str] = (),
    sandbox: Sandbox | None = None,
    hello_seconds: float = HELLO_SECONDS,
    network: Network | None = None,
    invitations: Inviting | None = None,
    services: Services | None = None,
    meter: Meter = NO_METER,
) -> AsyncIterator["Runner"]:
    """A runner and its referee, for as long as it is open; nothing it started is left afterwards.

    ``concurrency`` is how many rooms run at once, ``python`` the interpreter for bots that ask for
    one, ``running`` the folder of notes about live processes, ``logs`` where bots' output goes.
    Remote entrants come over ``network``, by ``invitations``. ``meter`` is told how it all goes.
    There other ``services`` may be as well, see :attr:`Runner.calls`.
    With a ``sandbox`` all other bots are in one, and the referee listens on its socket in place of
    ``address``.
    """
    keep_heap_small()
    strays.sweep(running)
    listen = address if sandbox is None else sandbox.listen
    async with (
        serve(listen, network=network, services=services, meter=meter) as bridge,
        open_lobby(bridge.arrivals) as lobby,
        open_host(now=bridge.now, meter=meter) as host,
    ):
        if sandbox is not None:
            sandbox.admit()
        house = House(
            host=host,
            lobby=lobby,
            address=bridge.address,
            python=python,
            running=running,
            logs=logs,
            prefix=tuple(prefix),
            hello_seconds=hello_seconds,
            now=bridge.now,
            meter=meter,
            # Who is invited and no network is served is on this machine.
            network_address=bridge.network_address or bridge.address,
            invitations=invitations,
            sandbox=sandbox,
        )
        yield Runner(
            house,
            concurrency=concurrency,
            stopping=bridge.drain,
            calls=bridge.calls,
            network_address=bridge.network_address,
        )


class Runner:
    """Plays matches; made by :func:`open_runner`.

    Attributes:
        calls: those of the other services that were asked for.
        network_address: where the network is served, with its port; empty where it is not.
    """

    def __init__(
        self,
        house: House,
        *,
        concurrency: int,
        stopping: Callable[[], None] = lambda: None,
        calls: AsyncIterable[Call] | None = None,
        network_address: str = "",
    ) -> None:
        self.calls = calls
        self.network_address = network_address
        self._house = house
        self._stopping = stopping
        self._rooms = trio.CapacityLimiter(concurrency)
        self._matches: set[MatchState] = set()
        self._is_stopping = False

    async def play(
        self, plan: MatchPlan, *, watcher: Watcher, invitations: Inviting | None = None
    ) -> MatchRecord:
        """Play a match, all rooms as soon as there is place for them.

        Remote entrants are told of their seats by ``invitations``, if by others than the runner's.
        Any number of matches may be played at once. A match that was stopped, or that a fault of
        the host or a bot that never started has spoilt, is a record too; its score says that it
        does not count.
        """
        started = datetime.now(UTC)
        match = MatchState()
        match.is_over = self._is_stopping
        house = self._house
        if invitations is not None:
            house = replace(house, invitations=invitations)
        rooms = [Room(house, plan, number, match=match, watcher=watcher) for number in plan.rooms]
        self._matches.add(match)
        with logs.about(plan.match):
            names = " ".join(entrant.name for entrant in plan.entrants)
            _log.info("match began", extra={"attempt": plan.attempt, "bots": names})
            try:
                async with trio.open_nursery() as nursery:
                    for room in rooms:
                        nursery.start_soon(self._play_room, room, match)
            finally:
                self._matches.discard(match)
            record = _record(plan, rooms, started=started)
            ending = score(record).spoilt
            fields = {
                "score": " ".join(map(str, record.score)),
                "complete": ending is None,
                "ending": None if ending is None else ending.value,
            }
            _log.info("match ended", extra=fields)
        return record

    def stop(self) -> None:
        """Finish the games that are being played, and begin none."""
        self._is_stopping = True
        self._stopping()
        for match in self._matches:
            match.is_over = True
            match.stopped.set()

    def abort(self) -> None:
        """End every game and every process now, with nobody at fault."""
        self.stop()
        self._house.host.stop("whoever runs the arena stopped it")
        for match in self._matches:
            match.aborted.set()

    async def _play_room(self, room: Room, match: MatchState) -> None:
        try:
            await room.reserve()  # first, or a core would wait with it
            async with self._rooms:
                if not match.is_over:
                    await room.play()
        finally:
            room.release()


def _record(plan: MatchPlan, rooms: Sequence[Room], *, started: datetime) -> MatchRecord:
    played = tuple(room.record() for room in rooms)
    is_event_over = plan.event is None  # a match outside any event is an event of its own
    return MatchRecord(
        match=plan.match,
        attempt=plan.attempt,
        event=plan.event,
        format=plan.format,
        rules=plan.rules,
        games=plan.length,
        entrants=tuple(
            EntrantRecord(
                name=entrant.name,
                owner=entrant.owner,
                version=_version(plan, index, rooms),
                digest=entrant.digest,
            )
            for index, entrant in enumerate(plan.entrants)
        ),
        clock=plan.clock,
        policy=plan.policy,
        commitment=plan.secret.commitment,
        rooms=played,
        seeds=plan.seeds(dealt=_hands_dealt(played)),
        score=score_of(plan.rules, played, entrants=len(plan.entrants)),
        secret=plan.secret.secret if is_event_over else None,
        entropy=plan.secret.entropy if is_event_over else None,
        circumstances=Circumstances(
            started=started.isoformat(timespec="milliseconds"),
            ended=datetime.now(UTC).isoformat(timespec="milliseconds"),
            arena=arena.__version__,
            sdk=hokm.__version__,
            python=platform.python_version(),
            platform=platform.platform(),
            processes=tuple(process for room in rooms for process in room.processes()),
        ),
    )


def _version(plan: MatchPlan, index: int, rooms: Sequence[Room]) -> str:
    """What the manifest says, or the ladder, or a remote bot of which no more is known itself."""
    entrant = plan.entrants[index]
    if entrant.is_remote and entrant.version == NOBODYS:
        for room in rooms:
            if (version := room.version_of(index)) is not None:
                return version
    return entrant.version


def _hands_dealt(rooms: Sequence[RoomRecord]) -> dict[int, int]:
    """How many hands of each game were dealt, in the room that dealt most."""
    dealt: dict[int, int] = {}
    for room in rooms:
        for game in room.games:
            dealt[game.number] = max(dealt.get(game.number, 0), len(game.hands))
    return dealt
