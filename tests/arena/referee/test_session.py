from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from arena.referee.connection import Close
from arena.referee.lobby import open_lobby
from arena.referee.session import BATCH_MESSAGES, End, Ended, Session
from arena.referee.testing import MemoryConnection
from hokm.actions import PLAYS
from hokm.session import Answer, Goodbye, Hello, MatchEnd, Welcome

AN_ANSWER = Answer(1, 2, 1, PLAYS[3])


@asynccontextmanager
async def a_session(*, reads: bool = True) -> AsyncIterator[tuple[Session, MemoryConnection]]:
    """A bot that was welcomed."""
    connect, arrivals = trio.open_memory_channel[MemoryConnection](1)
    async with open_lobby(arrivals) as lobby:
        ticket = lobby.issue()
        connection = MemoryConnection(ticket, reads=reads)
        connection.hello()
        await connect.send(connection)
        session = await lobby.arrival(ticket)
        await trio.testing.wait_all_tasks_blocked()
        yield session, connection


async def test_what_is_told_in_one_tick_goes_out_as_one_batch() -> None:
    async with a_session() as (session, connection):
        for match in "abc":
            session.tell(MatchEnd(match))
        await trio.testing.wait_all_tasks_blocked()
        session.tell(MatchEnd("d"))
        await trio.testing.wait_all_tasks_blocked()
        assert connection.batches[1:] == [
            (MatchEnd("a"), MatchEnd("b"), MatchEnd("c")),
            (MatchEnd("d"),),
        ]


async def test_a_batch_stays_below_what_a_bot_can_receive() -> None:
    async with a_session() as (session, connection):
        messages = [MatchEnd(str(number)) for number in range(BATCH_MESSAGES + 1)]
        sent: list[float] = []
        for message in messages:
            session.tell(message, lambda _, at: sent.append(at))
        await trio.testing.wait_all_tasks_blocked()
        assert list(map(len, connection.batches[1:])) == [BATCH_MESSAGES, 1]
        assert connection.told[1:] == messages
        assert len(sent) == len(messages)


async def test_each_message_of_a_batch_learns_when_its_write_returned(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_session() as (session, _):
        sent: list[float] = []
        session.tell(MatchEnd("a"), lambda _, at: sent.append(at))
        session.tell(MatchEnd("b"))
        session.tell(MatchEnd("c"), lambda _, at: sent.append(at))
        assert sent == []
        now = trio.current_time()
        await trio.sleep(1)
        assert sent == [now, now]


async def test_a_write_that_does_not_return_is_not_reported() -> None:
    async with a_session(reads=False) as (session, _):
        sent: list[float] = []
        session.tell(MatchEnd("a"), lambda _, at: sent.append(at))
        await trio.testing.wait_all_tasks_blocked()
        assert sent == []


async def test_answers_are_heard_with_the_time_at_which_they_were_read(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_session() as (session, connection):
        read_at = trio.current_time()
        connection.say(AN_ANSWER, AN_ANSWER)
        await trio.sleep(1)
        assert await session.hear() == [(AN_ANSWER, read_at), (AN_ANSWER, read_at)]
        assert session.heard() == []


async def test_a_stream_that_just_ends_has_broken() -> None:
    async with a_session() as (session, connection):
        connection.say(AN_ANSWER)
        connection.hang_up()
        assert len(await session.hear()) == 1
        assert session.closed is None
        assert await session.hear() == []
        assert session.closed == End(Ended.BROKEN)


async def test_a_goodbye_closes_and_what_comes_after_is_not_heard() -> None:
    async with a_session() as (session, connection):
        connection.say(AN_ANSWER, Goodbye("tired"), AN_ANSWER)
        connection.say(AN_ANSWER)
        assert len(await session.hear()) == 1
        assert session.closed == End(Ended.GOODBYE, "tired")
        assert await session.hear() == []
        assert session.heard() == []


async def test_bytes_that_are_no_message_close_a_session() -> None:
    async with a_session() as (session, connection):
        connection.say(AN_ANSWER)
        connection.say_bytes(b"\xff\xff\xff")
        assert len(await session.hear()) == 1
        assert session.closed is not None
        assert session.closed.ended is Ended.MALFORMED


async def test_a_second_hello_closes_a_session() -> None:
    async with a_session() as (session, connection):
        connection.say(Hello(1, "sdk", "bot", "1"))
        assert await session.hear() == []
        assert session.closed == End(Ended.MALFORMED, "a second hello")


async def test_a_bot_is_still_told_things_after_it_has_left() -> None:
    async with a_session() as (session, connection):
        connection.hang_up()
        assert await session.hear() == []
        session.tell(MatchEnd("a"))
        session.end()
        assert connection.told[1:] == [MatchEnd("a"), Goodbye()]
        assert session.closed == End(Ended.BROKEN)


async def test_an_end_says_goodbye_after_all_that_was_told() -> None:
    async with a_session() as (session, connection):
        session.tell(MatchEnd("a"))
        session.end()
        session.tell(MatchEnd("b"))
        session.end()
        await trio.testing.wait_all_tasks_blocked()
        welcome, *others = connection.told
        assert isinstance(welcome, Welcome)
        assert others == [MatchEnd("a"), Goodbye()]
        assert connection.close is Close.DONE
        assert session.closed == End(Ended.ARENA)


async def test_an_end_by_the_arena_is_heard_by_who_waits() -> None:
    async with a_session() as (session, _), trio.open_nursery() as nursery:
        nursery.start_soon(session.hear)
        await trio.testing.wait_all_tasks_blocked()
        session.end()


@pytest.mark.parametrize(
    "stir",
    [
        lambda _, connection: connection.say(AN_ANSWER),
        lambda _, connection: connection.hang_up(),
        lambda session, _: session.end(),
    ],
    ids=["says something", "hangs up", "is ended"],
)
async def test_a_sign_of_life_is_anything_that_comes_and_the_end(
    stir: Callable[[Session, MemoryConnection], None],
) -> None:
    async with a_session() as (session, connection), trio.open_nursery() as nursery:
        nursery.start_soon(session.hear)
        signs: list[bool] = []

        async def wait_for_a_sign() -> None:
            await session.sign_of_life()
            signs.append(True)

        nursery.start_soon(wait_for_a_sign)
        await trio.testing.wait_all_tasks_blocked()
        assert not signs
        stir(session, connection)
        await trio.testing.wait_all_tasks_blocked()
        assert signs


@pytest.mark.parametrize("detail", ["a second hello", "x" * 1000])
async def test_a_bot_that_broke_the_protocol_is_told_how(detail: str) -> None:
    async with a_session() as (session, connection):
        session.end(End(Ended.MALFORMED, detail))
        goodbye = connection.told[-1]
        assert isinstance(goodbye, Goodbye)
        assert goodbye.reason.startswith(f"{Ended.MALFORMED.value}: {detail[:20]}")
        assert connection.close is Close.MALFORMED
