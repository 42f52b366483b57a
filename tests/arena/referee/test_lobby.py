import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from arena.referee.connection import Close
from arena.referee.lobby import ArrivalFailed, Lobby, open_lobby
from arena.referee.testing import MemoryConnection
from hokm.session import PROTOCOL, Answer, Goodbye, Malformed, ProtocolRefused, Welcome

Connect = trio.MemorySendChannel[MemoryConnection]


@asynccontextmanager
async def a_lobby() -> AsyncIterator[tuple[Lobby, Connect]]:
    connect, arrivals = trio.open_memory_channel[MemoryConnection](10)
    async with open_lobby(arrivals) as lobby:
        yield lobby, connect


async def turned_away(connect: Connect, connection: MemoryConnection) -> bool:
    """Whether a stream is ended at once, with nothing said."""
    await connect.send(connection)
    await trio.testing.wait_all_tasks_blocked()
    return connection.close is Close.NO_SEAT and not connection.told


async def test_a_bot_with_a_ticket_that_says_hello_is_welcomed() -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        connection = MemoryConnection(ticket)
        await connect.send(connection)
        connection.hello("rostam", concurrent=4)
        session = await lobby.arrival(ticket)
        assert (session.hello.name, session.hello.concurrent) == ("rostam", 4)
        await trio.testing.wait_all_tasks_blocked()
        [welcome] = connection.told
        assert isinstance(welcome, Welcome)
        assert welcome.protocol == PROTOCOL
        assert connection.close is None


async def test_who_waits_first_the_arena_or_the_bot_does_not_matter() -> None:
    async with a_lobby() as (lobby, connect), trio.open_nursery() as nursery:
        ticket = lobby.issue()
        nursery.start_soon(lobby.arrival, ticket)
        await trio.testing.wait_all_tasks_blocked()
        connection = MemoryConnection(ticket)
        await connect.send(connection)
        await trio.testing.wait_all_tasks_blocked()
        connection.hello()


async def test_bots_take_the_seat_their_ticket_names_in_whatever_order_they_come() -> None:
    async with a_lobby() as (lobby, connect):
        tickets = {name: lobby.issue() for name in ("a", "b", "c")}
        for name in ("b", "c", "a"):
            connection = MemoryConnection(tickets[name])
            connection.hello(name)
            await connect.send(connection)
        for name, ticket in tickets.items():
            assert (await lobby.arrival(ticket)).hello.name == name


async def test_tickets_and_resume_tokens_are_256_random_bits() -> None:
    async with a_lobby() as (lobby, connect):
        tickets = {lobby.issue() for _ in range(100)}
        assert len(tickets) == 100
        assert min(map(len, tickets)) >= 43  # 256 bits in base64
        ticket = tickets.pop()
        connection = MemoryConnection(ticket)
        connection.hello()
        await connect.send(connection)
        await lobby.arrival(ticket)
        welcome = await connection.listen()
        assert isinstance(welcome, Welcome)
        assert len(welcome.resume_token) >= 43
        assert welcome.resume_token != ticket


@pytest.mark.parametrize("ticket", ["", "nonsense", "کارت"])
async def test_an_unknown_ticket_is_turned_away_and_told_nothing(ticket: str) -> None:
    async with a_lobby() as (lobby, connect):
        lobby.issue()
        assert await turned_away(connect, MemoryConnection(ticket))


async def test_a_ticket_is_good_once_also_before_its_hello() -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        first = MemoryConnection(ticket)
        await connect.send(first)
        assert await turned_away(connect, MemoryConnection(ticket))
        first.hello()
        await lobby.arrival(ticket)
        assert await turned_away(connect, MemoryConnection(ticket))
        assert first.close is None


async def test_a_ticket_that_was_withdrawn_is_turned_away() -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        lobby.withdraw(ticket)
        lobby.withdraw(ticket)
        assert await turned_away(connect, MemoryConnection(ticket))


async def test_withdrawing_turns_away_who_came_and_said_no_hello() -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        connection = MemoryConnection(ticket)
        await connect.send(connection)
        await trio.testing.wait_all_tasks_blocked()
        lobby.withdraw(ticket)
        assert connection.close is Close.NO_SEAT


async def test_the_caller_bounds_the_wait_and_then_the_ticket_is_worthless(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        with pytest.raises(trio.TooSlowError):
            with trio.fail_after(10):
                await lobby.arrival(ticket)
        assert await turned_away(connect, MemoryConnection(ticket))


async def test_a_bot_that_comes_and_says_no_hello_in_time_is_turned_away(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        connection = MemoryConnection(ticket)
        await connect.send(connection)
        with pytest.raises(trio.TooSlowError):
            with trio.fail_after(10):
                await lobby.arrival(ticket)
        assert connection.close is Close.NO_SEAT


async def test_a_bot_that_leaves_before_its_hello_has_failed_to_arrive() -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        connection = MemoryConnection(ticket)
        await connect.send(connection)
        connection.hang_up()
        with pytest.raises(ArrivalFailed, match="without a hello"):
            await lobby.arrival(ticket)


async def test_a_first_message_that_is_no_hello_is_told_what_would_have_been_right() -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        connection = MemoryConnection(ticket)
        await connect.send(connection)
        connection.say(Answer(1, 1, 1, Malformed("")))
        with pytest.raises(ArrivalFailed, match="began with Answer: say one Hello"):
            await lobby.arrival(ticket)
        [goodbye] = connection.told
        assert isinstance(goodbye, Goodbye)
        assert "say one Hello" in goodbye.reason
        assert connection.close is Close.MALFORMED


async def test_bytes_that_are_no_message_are_no_hello() -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        connection = MemoryConnection(ticket)
        await connect.send(connection)
        connection.say_bytes(b"\xff\xff\xff")
        with pytest.raises(ArrivalFailed, match="first message is no hello"):
            await lobby.arrival(ticket)
        assert connection.close is Close.MALFORMED


async def test_another_protocol_is_refused_by_a_typed_message() -> None:
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        connection = MemoryConnection(ticket)
        await connect.send(connection)
        connection.hello(protocol=PROTOCOL + 1)
        with pytest.raises(ArrivalFailed, match=f"speaks protocol {PROTOCOL + 1}"):
            await lobby.arrival(ticket)
        assert connection.told == [ProtocolRefused(PROTOCOL, PROTOCOL), Goodbye()]
        assert connection.close is Close.DONE
        assert await turned_away(connect, MemoryConnection(ticket))


async def test_a_ticket_that_is_not_out_is_nobodys_to_wait_for() -> None:
    async with a_lobby() as (lobby, _):
        with pytest.raises(ValueError, match="not issued here") as caught:
            await lobby.arrival("a secret")
        assert "a secret" not in str(caught.value)


async def test_no_ticket_is_logged_or_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with a_lobby() as (lobby, connect):
        ticket = lobby.issue()
        connection = MemoryConnection(ticket)
        connection.hello()
        await connect.send(connection)
        session = await lobby.arrival(ticket)
        assert await turned_away(connect, MemoryConnection(ticket))
        for text in (caplog.text, repr(session), repr(lobby), repr(vars(lobby))):
            assert ticket not in text
