"""Calls of homes, without a wire: who is let in, what is heard and told, and how each one ends."""

import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
import trio
import trio.testing

from arena.ladder.bots.entrants import SAMPLES, load_bot
from arena.ladder.errors import LadderError
from arena.ladder.facts import Scope
from arena.referee.calls import CallGone, Status
from arena.service import accounts
from arena.service.casual import Tables
from arena.service.choices import Casual, Remote
from arena.service.homes import Homes
from arena.service.seats import LOOK_SECONDS, MOST_HEARD, MOST_UNSAID, SeatService
from arena.service.tokens import digest_of
from hokm.seats import (
    FromHome,
    HomeAlive,
    HomeAnswer,
    HomeAnswerKind,
    HomeDraining,
    HomeHello,
    HomeWelcome,
    SeatOver,
    TableWish,
    ToHome,
)
from hokm.wire import OFFER_SEATS, SEAT_SERVICE, SIT_DOWN, decode_to_home, encode_from_home
from tests.arena.service.test_casual import TableRunner
from tests.arena.service.worlds import NOON, World

Clock = trio.testing.MockClock
HELLO = HomeHello(1, "sdk", "rostam", "1.0", 4)
OF_BOB = HomeHello(1, "sdk", "of-bob", "1.0", 4)
SITS = HomeHello(1, "sdk", "rostam", "1.0", 1, (), TableWish(2))


class Talk:
    """A call in memory, both ways: a :class:`~arena.referee.calls.Call`, and its caller's end."""

    service = SEAT_SERVICE
    host = "10.0.0.1"

    def __init__(self, method: str, *, token: str = "") -> None:
        self.method = method
        self.status: Status | None = None
        self.details = ""
        self.told: list[ToHome | None] = []
        self.reads = True
        self._token = token
        self._say, self._heard = trio.open_memory_channel[bytes](10_000)
        self._is_gone = False

    def metadata(self, name: str) -> str:
        return self._token if name == "hokm-token" else ""

    async def receive(self) -> bytes | None:
        try:
            return await self._heard.receive()
        except trio.EndOfChannel:
            if self._is_gone:
                raise CallGone from None
            return None

    async def send(self, reply: bytes) -> None:
        if self._is_gone:
            raise CallGone
        if not self.reads:
            await trio.sleep_forever()
        self.told.append(decode_to_home(reply))

    def end(self, status: Status = Status.OK, details: str = "") -> None:
        self.status, self.details = status, details

    # -- the caller's end

    def says(self, *messages: FromHome | bytes) -> "Talk":
        for message in messages:
            data = message if isinstance(message, bytes) else encode_from_home(message)
            self._say.send_nowait(data)
        return self

    def says_no_more(self, *, is_gone: bool = False) -> "Talk":
        self._is_gone = is_gone
        self._say.close()
        return self


class Seats:
    """The service of a world, and what it is made of."""

    def __init__(self, world: World, nursery: trio.Nursery, casual: Casual) -> None:
        self.world = world
        self.nursery = nursery
        self.homes = Homes(world.ladder, remote=Remote.TOGETHER)
        self.tables = Tables(
            TableRunner(),
            casual=casual,
            house=load_bot(SAMPLES / "house"),
            records=world.ladder.records_folder,
            logs=world.ladder.folder / "logs",
            draw=os.urandom,
            now=lambda: datetime(2026, 3, 21, tzinfo=UTC),
            entered=world.ladder.store.bots,
        )
        self.service = SeatService(
            self.homes,
            self.tables,
            enter=world.service.owner_of,
            refuse_former=world.service.refuse_former,
        )

    async def calls(self, talk: Talk) -> Talk:
        """Somebody calls; until nothing happens any more."""
        self.nursery.start_soon(self.service.answer, talk)
        await trio.testing.wait_all_tasks_blocked()
        return talk


@asynccontextmanager
async def seats_of(world: World, casual: Casual = Casual.OPEN) -> AsyncIterator[Seats]:
    async with trio.open_nursery() as nursery:
        seats = Seats(world, nursery, casual)
        await nursery.start(seats.homes.run)
        nursery.start_soon(seats.tables.run)
        yield seats
        nursery.cancel_scope.cancel()


def token_for(world: World, *scopes: Scope) -> str:
    return accounts.issue(
        world.ladder.store.accounts,
        world.owners["ada"],
        label="another",
        scopes=frozenset(scopes),
        random=os.urandom(32),
        at=NOON.isoformat(),
        most=9,
    )


async def test_a_home_is_welcome_and_gone_when_its_call_ends(
    world: World, autojump_clock: Clock
) -> None:
    async with seats_of(world) as seats:
        talk = await seats.calls(Talk(OFFER_SEATS, token=world.tokens["ada"]).says(HELLO))
        [welcome] = talk.told
        assert isinstance(welcome, HomeWelcome)
        assert welcome.bot == "rostam"
        assert list(seats.homes.there) == ["rostam"]
        talk.says(HomeAlive(), b"").says_no_more(is_gone=True)
        await trio.testing.wait_all_tasks_blocked()
        assert list(seats.homes.there) == []
        assert talk.status is not None


async def test_a_home_that_drains_is_let_go_well(world: World, autojump_clock: Clock) -> None:
    async with seats_of(world) as seats:
        talk = Talk(OFFER_SEATS, token=world.tokens["ada"]).says(HELLO, HomeDraining())
        await seats.calls(talk)
        assert (talk.status, talk.details) == (Status.OK, "")


@pytest.mark.parametrize("method", [OFFER_SEATS, SIT_DOWN])
@pytest.mark.parametrize("token", ["hokm_" + "x" * 43, "nonsense"])
async def test_a_wrong_token_opens_nothing(
    world: World, autojump_clock: Clock, method: str, token: str
) -> None:
    async with seats_of(world) as seats:
        hello = HELLO if method == OFFER_SEATS else SITS
        talk = await seats.calls(Talk(method, token=token).says(hello))
        assert talk.status is Status.UNAUTHENTICATED
        assert talk.told == []


async def test_a_token_for_something_else_opens_nothing(
    world: World, autojump_clock: Clock
) -> None:
    token = token_for(world, Scope.SUBMIT, Scope.READ)
    async with seats_of(world) as seats:
        talk = await seats.calls(Talk(OFFER_SEATS, token=token).says(HELLO))
        assert talk.status is Status.PERMISSION_DENIED
        assert "rostam" not in {bot.name for bot in world.ladder.store.bots()}


async def test_without_a_token_there_are_open_tables_alone(
    world: World, autojump_clock: Clock
) -> None:
    async with seats_of(world) as seats:
        assert (await seats.calls(Talk(OFFER_SEATS).says(HELLO))).status is Status.UNAUTHENTICATED
        assert (await seats.calls(Talk(SIT_DOWN).says(SITS))).status is None
        assert seats.tables.waiting == 1
    async with seats_of(world, Casual.OWNERS) as seats:
        assert (await seats.calls(Talk(SIT_DOWN).says(SITS))).status is Status.UNAUTHENTICATED
        token = token_for(world, Scope.PLAY)
        assert (await seats.calls(Talk(SIT_DOWN, token=token).says(SITS))).status is None


async def test_who_sat_down_and_left_is_not_waited_for(world: World, autojump_clock: Clock) -> None:
    async with seats_of(world) as seats:
        talk = await seats.calls(Talk(SIT_DOWN).says(SITS))
        talk.says_no_more(is_gone=True)
        await trio.testing.wait_all_tasks_blocked()
        assert seats.tables.waiting == 0


async def test_a_casual_game_ends_its_call_well(world: World, autojump_clock: Clock) -> None:
    async with seats_of(world) as seats:
        talk = await seats.calls(Talk(SIT_DOWN).says(SITS))
        await trio.sleep(60)
        assert (talk.status, talk.details) == (Status.OK, "")


TOO_MUCH: list[FromHome | bytes] = [HELLO, *[HomeAlive()] * (MOST_HEARD + 1)]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ([], Status.INVALID_ARGUMENT),
        ([HomeAlive()], Status.INVALID_ARGUMENT),
        ([b"\xff"], Status.INVALID_ARGUMENT),
        ([SITS], Status.INVALID_ARGUMENT),
        ([HELLO, HELLO], Status.INVALID_ARGUMENT),
        ([HELLO, b"\xff"], Status.INVALID_ARGUMENT),
        (TOO_MUCH, Status.RESOURCE_EXHAUSTED),
    ],
)
async def test_what_is_no_conversation_is_ended(
    world: World, autojump_clock: Clock, said: list[FromHome | bytes], status: Status
) -> None:
    async with seats_of(world) as seats:
        talk = Talk(OFFER_SEATS, token=world.tokens["ada"]).says(*said)
        if not said:
            talk.says_no_more()
        await seats.calls(talk)
        assert talk.status is status
        assert talk.details
        assert seats.homes.there == ()


async def test_answers_to_offers_that_never_were_are_nothing(
    world: World, autojump_clock: Clock
) -> None:
    async with seats_of(world) as seats:
        answers = [HomeAnswer(2**64 - 1, kind) for kind in HomeAnswerKind]
        talk = Talk(OFFER_SEATS, token=world.tokens["ada"]).says(HELLO, *answers)
        await seats.calls(talk)
        assert talk.status is None
        assert seats.homes.there == ("rostam",)


async def test_one_that_reads_nothing_is_let_go(world: World, autojump_clock: Clock) -> None:
    async with seats_of(world) as seats:
        talk = Talk(OFFER_SEATS, token=world.tokens["ada"]).says(HELLO)
        talk.reads = False
        await seats.calls(talk)
        line = next(iter(seats.homes._by_line))
        for number in range(MOST_UNSAID + 2):
            line.say(SeatOver(number))
        talk.says_no_more(is_gone=True)
        talk._is_gone = True
        await trio.testing.wait_all_tasks_blocked()
        assert line.error is not None  # type: ignore[attr-defined]


def revoke(world: World) -> Status:
    store = world.ladder.store.accounts
    store.revoke(digest_of(world.tokens["ada"]), at="2026-03-21T12:00:01Z")
    return Status.UNAUTHENTICATED


def bar(world: World) -> Status:
    world.ladder.store.accounts.bar(world.owners["ada"].number, because="floods")
    return Status.PERMISSION_DENIED


@pytest.mark.parametrize("shut_out", [revoke, bar])
@pytest.mark.parametrize("reads", [True, False])
async def test_who_is_there_is_let_go_once_his_token_is_good_no_more(
    world: World, autojump_clock: Clock, shut_out: Callable[[World], Status], reads: bool
) -> None:
    async with seats_of(world) as seats:
        token = world.tokens["ada"]
        home = await seats.calls(Talk(OFFER_SEATS, token=token).says(HELLO))
        # A table of four is not begun before it is looked again.
        sits = HomeHello(1, "sdk", "sohrab", "1.0", 1, (), TableWish(4))
        sitter = await seats.calls(Talk(SIT_DOWN, token=token).says(sits))
        other = await seats.calls(Talk(OFFER_SEATS, token=world.tokens["bob"]).says(OF_BOB))
        home.reads = reads
        next(iter(seats.homes._by_line)).say(SeatOver(1))
        await trio.sleep(LOOK_SECONDS + 1)
        assert [talk.status for talk in (home, sitter, other)] == [None] * 3
        status = shut_out(world)
        await trio.sleep(LOOK_SECONDS + 1)
        assert [talk.status for talk in (home, sitter, other)] == [status, status, None]
        assert seats.homes.there == ("of-bob",)
        assert seats.tables.waiting == 0


async def test_who_is_there_stays_while_the_database_cannot_be_asked(
    world: World, autojump_clock: Clock
) -> None:
    async with seats_of(world) as seats:

        def fail(digest: str, scope: Scope) -> None:
            raise LadderError("ladder.db", "is locked", remedy="wait")

        seats.service._refuse_former = fail
        talk = await seats.calls(Talk(OFFER_SEATS, token=world.tokens["ada"]).says(HELLO))
        await trio.sleep(3 * LOOK_SECONDS)
        assert talk.status is None


async def test_no_token_is_logged(
    world: World, autojump_clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="arena")
    async with seats_of(world) as seats:
        for token in (world.tokens["ada"], "hokm_" + "x" * 43):
            await seats.calls(Talk(OFFER_SEATS, token=token).says(HELLO, HomeDraining()))
    written = "\n".join(repr(vars(record)) for record in caplog.records)
    assert "home is there" in written
    assert world.tokens["ada"] not in written
    assert "x" * 43 not in written
