"""The bridge over real gRPC on the loopback, with a raw client: bytes and stamps, ends of every
kind.
"""

import queue
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import grpc
import pytest
import trio

from arena.referee.bridge import MAX_MESSAGE_BYTES, MESSAGE_COST, UNREAD_BYTES, Bridge, serve
from arena.referee.connection import Close, Connection
from hokm.wire import PLAY_METHOD, TICKET_METADATA

LOOPBACK = "127.0.0.1:0"


class Caller:
    """A bot's end of a stream, without the SDK."""

    def __init__(self, channel: grpc.Channel, ticket: str, *, key: str = TICKET_METADATA) -> None:
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        method: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(PLAY_METHOD)
        requests = iter(self._requests.get, None)
        self.call = method(requests, metadata=((key, ticket),))

    def say(self, payload: bytes) -> None:
        self._requests.put(payload)

    def half_close(self) -> None:
        self._requests.put(None)

    async def listen(self) -> bytes:
        return await trio.to_thread.run_sync(self.call.__next__)

    async def status(self) -> tuple[grpc.StatusCode, str]:
        """How the stream was ended, once it is."""
        code = await trio.to_thread.run_sync(self.call.code)
        return code, self.call.details()


@contextmanager
def calling(address: str, ticket: str = "a ticket") -> Iterator[Caller]:
    with grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel:
        caller = Caller(channel, ticket)
        try:
            yield caller
        finally:
            caller.call.cancel()
            caller.half_close()


@asynccontextmanager
async def one_stream(
    *, unread_bytes: int = UNREAD_BYTES
) -> AsyncIterator[tuple[Bridge, Connection, Caller]]:
    async with serve(LOOPBACK, unread_bytes=unread_bytes) as bridge:
        with calling(bridge.address) as caller:
            yield bridge, await bridge.arrivals.receive(), caller


async def receive_all(connection: Connection) -> list[bytes]:
    """Everything until the stream ends."""
    payloads: list[bytes] = []
    while received := await connection.receive():
        payloads += [payload for payload, _ in received]
    return payloads


async def round_trips(bridge: Bridge, *, count: int = 20) -> None:
    """Messages there and back on another stream: the bridge has done what else it had to do."""
    with calling(bridge.address) as caller:
        connection = await bridge.arrivals.receive()
        for _ in range(count):
            caller.say(b"ping")
            await connection.receive()
            connection.post(b"pong")
            await caller.listen()


def bridge_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "grpc bridge"]


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    yield
    assert not bridge_threads()


async def test_a_stream_brings_its_ticket() -> None:
    async with serve(LOOPBACK) as bridge:
        with calling(bridge.address, "the ticket"):
            connection = await bridge.arrivals.receive()
            assert connection.ticket == "the ticket"


async def test_bytes_go_both_ways_in_order() -> None:
    async with one_stream() as (_, connection, caller):
        for number in range(100):
            caller.say(b"in %d" % number)
            connection.post(b"out %d" % number)
        caller.half_close()
        assert [await caller.listen() for _ in range(100)] == [b"out %d" % n for n in range(100)]
        assert await receive_all(connection) == [b"in %d" % n for n in range(100)]


async def test_bytes_travel_as_they_are() -> None:
    async with one_stream() as (_, connection, caller):
        caller.say(b"")
        caller.say(b"\x00\xff")
        caller.half_close()
        assert await receive_all(connection) == [b"", b"\x00\xff"]


async def test_a_unix_socket_does_as_well(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/referee.sock"
    async with serve(address) as bridge:
        assert bridge.address == address
        await round_trips(bridge, count=1)


async def test_a_socket_path_that_is_too_long_is_said_to_be() -> None:
    with pytest.raises(OSError, match="at most 107 bytes"):
        async with serve("unix:/" + "x" * 107):
            pass


async def test_what_is_no_address_is_said_to_be() -> None:
    with pytest.raises(ValueError, match="host:port or unix:/path"):
        async with serve("nowhere"):
            pass


async def test_an_address_in_use_cannot_be_bound_again() -> None:
    async with serve(LOOPBACK) as bridge:
        with pytest.raises(OSError, match=f"cannot listen at {bridge.address}"):
            async with serve(bridge.address):
                pass


async def test_stamps_stand_in_the_order_of_what_happened() -> None:
    async with one_stream() as (bridge, connection, caller):
        written: list[tuple[float, float]] = []
        before = bridge.now()
        connection.post(b"question", lambda began, at: written.append((began, at)))
        await caller.listen()
        caller.say(b"answer")
        [(_, read)] = await connection.receive()
        assert len(written) == 1
        began, returned = written[0]
        assert before <= began <= returned <= read <= bridge.now()


async def test_a_bot_that_has_said_all_can_still_be_told_things() -> None:
    async with one_stream() as (_, connection, caller):
        caller.half_close()
        assert await connection.receive() == []
        connection.post(b"the end")
        connection.end()
        assert await caller.listen() == b"the end"
        assert await caller.status() == (grpc.StatusCode.OK, "")


@pytest.mark.parametrize(
    ("close", "code"),
    [
        (Close.DONE, grpc.StatusCode.OK),
        (Close.NO_SEAT, grpc.StatusCode.UNAUTHENTICATED),
        (Close.MALFORMED, grpc.StatusCode.INVALID_ARGUMENT),
        (Close.STOPPED, grpc.StatusCode.UNAVAILABLE),
    ],
)
async def test_an_end_tells_its_status_and_no_more(close: Close, code: grpc.StatusCode) -> None:
    async with one_stream() as (_, connection, caller):
        connection.post(b"last words")
        connection.end(close)
        assert await caller.listen() == b"last words"
        caller.half_close()
        assert await caller.status() == (code, "")


async def test_nothing_is_received_after_the_end() -> None:
    async with one_stream() as (_, connection, caller):
        connection.end()
        caller.say(b"but")
        caller.half_close()
        await caller.status()
        assert await connection.receive() == []


async def test_posting_and_ending_after_the_end_do_nothing() -> None:
    async with one_stream() as (_, connection, caller):
        caller.half_close()
        connection.end()
        connection.end(Close.MALFORMED)
        connection.post(b"too late")
        assert await caller.status() == (grpc.StatusCode.OK, "")


async def test_a_message_beyond_all_bounds_breaks_its_stream_alone() -> None:
    async with one_stream() as (bridge, connection, caller):
        caller.say(bytes(MAX_MESSAGE_BYTES + 1))
        assert await connection.receive() == []
        assert (await caller.status())[0] is not grpc.StatusCode.OK
        await round_trips(bridge, count=1)


async def test_a_bot_that_hangs_up_ends_its_stream() -> None:
    async with one_stream() as (_, connection, caller):
        caller.say(b"hello")
        assert len(await connection.receive()) == 1
        caller.call.cancel()
        assert await connection.receive() == []
        assert await connection.receive() == []


READS_NOTHING = f"""
import grpc, sys, threading
channel = grpc.insecure_channel(sys.argv[1])
waiting = threading.Event()
def requests():
    yield b"hello"
    waiting.wait()
call = channel.stream_stream({PLAY_METHOD!r})(requests(), metadata=[({TICKET_METADATA!r}, "t")])
waiting.wait()
"""


async def test_a_bot_that_is_killed_ends_its_stream_with_writes_under_way() -> None:
    async with serve(LOOPBACK) as bridge:
        command = [sys.executable, "-c", READS_NOTHING, bridge.address]
        bot = subprocess.Popen(command)  # noqa: ASYNC220  # starting it does not wait
        try:
            connection = await bridge.arrivals.receive()
            await connection.receive()
            unwritten = await post_until_one_is_stuck(bridge, connection)
            assert unwritten
        finally:
            bot.kill()
            bot.wait()
        assert await connection.receive() == []
        await round_trips(bridge, count=1)


async def post_until_one_is_stuck(bridge: Bridge, connection: Connection) -> set[int]:
    """Post far more than gRPC and the system would hold for a bot that does not read."""
    unwritten = set(range(64))
    for number in range(64):
        connection.post(bytes(1 << 20), partial(_discard, unwritten, number))
    await round_trips(bridge)
    return unwritten


def _discard(unwritten: set[int], number: int, _: float, __: float) -> None:
    unwritten.remove(number)


async def test_a_write_to_a_bot_that_does_not_read_does_not_return() -> None:
    async with one_stream() as (bridge, connection, _):
        assert 63 in await post_until_one_is_stuck(bridge, connection)


async def test_leaving_does_not_wait_for_a_bot_that_does_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.referee.bridge.LINGER_SECONDS", 0.01)
    async with one_stream() as (bridge, connection, _):
        await post_until_one_is_stuck(bridge, connection)
        await bridge.stop()
        assert await connection.receive() == []


async def test_a_stream_that_is_ended_does_not_wait_for_a_bot_that_does_not_end_its_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.referee.bridge.LINGER_SECONDS", 0.01)
    async with one_stream() as (_, connection, caller):
        connection.end()
        assert await caller.status() == (grpc.StatusCode.OK, "")


async def test_a_bot_that_floods_is_read_no_further_than_its_credit() -> None:
    message, credit = 1000, 10_000
    async with one_stream(unread_bytes=credit) as (bridge, connection, caller):
        for _ in range(100):
            caller.say(bytes(message))
        caller.half_close()
        await round_trips(bridge)
        lying = connection.received()
        assert (len(lying) - 1) * (message + MESSAGE_COST) < credit
        # and with each message that is taken there is room for more
        assert len(await receive_all(connection)) == 100 - len(lying)


async def test_settling_waits_for_what_the_bridge_has_done() -> None:
    async with one_stream() as (bridge, connection, _):
        done: list[int] = []
        bridge.out_of_trio(bridge.into_trio, done.append, 1)
        await connection.settle()
        assert done == [1]


async def test_leaving_ends_every_stream_with_its_status() -> None:
    async with serve(LOOPBACK) as bridge:
        with calling(bridge.address) as one, calling(bridge.address) as two:
            connections = [await bridge.arrivals.receive() for _ in range(2)]
            async with trio.open_nursery() as nursery:
                nursery.start_soon(bridge.stop)
                assert await one.status() == (grpc.StatusCode.UNAVAILABLE, "")
                assert await two.status() == (grpc.StatusCode.UNAVAILABLE, "")
            for connection in connections:
                assert await connection.receive() == []
                # nobody is there any more to do these
                connection.post(b"too late")
                connection.end()
                await connection.settle()


async def test_a_cancelled_scope_leaves_no_thread_behind() -> None:
    with trio.CancelScope() as scope:
        async with one_stream() as (_, connection, _):
            scope.cancel()
            await connection.receive()
    assert scope.cancelled_caught
    assert not bridge_threads()


def test_the_bridge_ends_by_itself_when_trio_has_ended() -> None:
    async def leave_it_running() -> Bridge:
        bridge = Bridge(LOOPBACK, unread_bytes=1000)
        await bridge.start()
        return bridge

    bridge = trio.run(leave_it_running)
    with calling(bridge.address) as caller:
        assert caller.call.code() is not grpc.StatusCode.OK
    for thread in bridge_threads():
        thread.join()
