"""Homes in memory, for a runner that is real but for its bots and its clock: they hear of seats as
homes do, and come to them over streams in memory.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import trio

from arena.ladder.facts import Owner
from arena.ladder.ladder import Ladder
from arena.ladder.matches.runner import Runner
from arena.ladder.processes.invitations import Inviting
from arena.ladder.processes.players import House
from arena.referee.host import open_host
from arena.referee.lobby import open_lobby
from arena.referee.testing import MemoryConnection, first_legal
from arena.service.accounts import register
from arena.service.choices import Remote
from arena.service.errors import ServiceError
from arena.service.homes import Homes
from arena.service.quotas import Quotas
from hokm.seats import (
    HomeAnswer,
    HomeAnswerKind,
    HomeDraining,
    HomeHello,
    SeatOffer,
    SeatOver,
    ToHome,
)
from hokm.session import Decision, GameStart, Goodbye, Hello

TAKEN, REFUSED, FINISHED = HomeAnswerKind.TAKEN, HomeAnswerKind.REFUSED, HomeAnswerKind.FINISHED


@dataclass
class Village:
    """What all homes of a test share: `arrive` leads a stream to the referee."""

    homes: Homes
    runner: Runner
    nursery: trio.Nursery
    arrive: trio.MemorySendChannel[MemoryConnection]


@dataclass(eq=False)
class Home:
    """A home that is there, unless it is told otherwise: `comes` to its seats, or refuses them, or
    says nothing; its processes `linger` after their seat is over.
    """

    village: Village
    owner: Owner
    name: str
    version: str = "1"
    seats: int = 4
    comes: bool | None = True
    lingers: bool = False
    says_version: str | None = None
    thinks_seconds: float = 0.0
    has_begun: trio.Event = field(default_factory=trio.Event)
    """A process of it was told that a game begins."""
    told: list[ToHome] = field(default_factory=list)
    playing: dict[int, trio.CancelScope] = field(default_factory=dict)
    most_playing: int = 0
    ended: ServiceError | None = None
    is_ended: bool = False

    def come(self, *, playing: tuple[int, ...] = ()) -> "Home":
        self.village.homes.come(self.owner, self.hello(playing=playing), self)
        return self

    def hello(self, *, playing: tuple[int, ...] = (), protocol: int = 1) -> HomeHello:
        return HomeHello(protocol, "sdk", self.name, self.version, self.seats, playing)

    def leave(self) -> None:
        """The connection breaks."""
        self.village.homes.left(self)

    def die(self) -> None:
        """The connection breaks, and nothing is left running."""
        self.leave()
        for scope in list(self.playing.values()):
            scope.cancel()

    def drain(self) -> None:
        self.village.homes.heard(self, HomeDraining())

    @property
    def offers(self) -> list[SeatOffer]:
        return [message for message in self.told if isinstance(message, SeatOffer)]

    # -- as the ladder has it

    def say(self, message: ToHome) -> None:
        self.told.append(message)
        match message:
            case SeatOffer() if self.comes:
                self.village.nursery.start_soon(self._play, message)
            case SeatOffer() if self.comes is False:
                self.village.nursery.start_soon(self._answer, message.offer, REFUSED)
            case SeatOver(offer) if offer in self.playing and not self.lingers:
                self.playing[offer].cancel()

    def end(self, error: ServiceError | None = None) -> None:
        self.ended, self.is_ended = error, True

    async def _answer(self, offer: int, kind: HomeAnswerKind) -> None:
        await trio.lowlevel.checkpoint()
        self.village.homes.heard(self, HomeAnswer(offer, kind))

    async def _play(self, offer: SeatOffer) -> None:
        connection = MemoryConnection(offer.ticket)
        with trio.CancelScope() as scope:
            self.playing[offer.offer] = scope
            self.most_playing = max(self.most_playing, len(self.playing))
            self.village.homes.heard(self, HomeAnswer(offer.offer, TAKEN))
            await trio.sleep(0.1)  # a process starts
            version = self.says_version or self.version
            connection.say(Hello(1, "sdk", self.name, version))
            await self.village.arrive.send(connection)
            await self._answer_decisions(connection)
            if self.lingers:
                await trio.sleep_forever()
        connection.hang_up()
        del self.playing[offer.offer]
        self.village.homes.heard(self, HomeAnswer(offer.offer, FINISHED))

    async def _answer_decisions(self, connection: MemoryConnection) -> None:
        while (message := await connection.listen()) is not None:
            match message:
                case Decision():
                    if self.thinks_seconds:
                        await trio.sleep(self.thinks_seconds)
                    connection.say(first_legal(message))
                case Goodbye():
                    connection.say(Goodbye())
                case GameStart():
                    self.has_begun.set()
                case _:
                    pass


@asynccontextmanager
async def a_runner(
    folder: Path, *, invitations: Inviting, concurrency: int = 2
) -> AsyncIterator[tuple[Runner, trio.MemorySendChannel[MemoryConnection]]]:
    """A runner whose bots come over streams in memory."""
    connect, arrivals = trio.open_memory_channel[MemoryConnection](100)
    async with open_lobby(arrivals) as lobby, open_host(now=trio.current_time) as host:
        house = House(
            host=host,
            lobby=lobby,
            address="nowhere",
            python="python",
            running=folder / "running",
            logs=folder / "logs",
            prefix=(),
            hello_seconds=10.0,
            now=trio.current_time,
            network_address="ladder.example:7117",
            invitations=invitations,
        )
        yield Runner(house, concurrency=concurrency), connect


@asynccontextmanager
async def a_village(
    ladder: Ladder,
    *,
    remote: Remote = Remote.TOGETHER,
    limits: Quotas | None = None,
    concurrency: int = 2,
) -> AsyncIterator[Village]:
    """The homes of a ladder, looked after, and a runner."""
    homes = Homes(ladder, remote=remote, limits=limits)
    async with (
        a_runner(ladder.folder, invitations=homes, concurrency=concurrency) as (runner, connect),
        trio.open_nursery() as nursery,
    ):
        await nursery.start(homes.run)
        yield Village(homes, runner, nursery, connect)
        nursery.cancel_scope.cancel()


def an_owner(ladder: Ladder, name: str) -> Owner:
    known = ladder.store.accounts.owner_named(name)
    return known or register(ladder.store.accounts, name, at="2026-01-01T00:00:00Z")


def at_home(village: Village, ladder: Ladder, name: str, **how: object) -> Home:
    """The home of a bot, which has come."""
    make = partial(Home, village, an_owner(ladder, f"o-{name}"), name)
    return make(**how).come()  # type: ignore[arg-type]
