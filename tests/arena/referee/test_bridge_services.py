"""Other services on the network server, with real clients: calls come as they are, and cost no more
than they may.
"""

import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import grpc
import pytest
import trio
import trio.testing

from arena.referee.bridge import Bridge, GrpcCall, serve
from arena.referee.calls import CallGone, CallLimits, Services, Status
from arena.referee.meter import TurnedAway
from arena.referee.serving import Network
from tests.arena.referee.certificates import authority, issue
from tests.arena.referee.test_bridge import bridge_threads, calling
from tests.arena.referee.test_bridge_network import Notes, says, secured

GUARD_SECONDS = 20.0
ECHO = "tests.v1.EchoService"
METHOD = f"/{ECHO}/Echo"


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    yield
    assert not bridge_threads()


@asynccontextmanager
async def serving(
    meter: Notes | None = None, *, lasts: bool = False, **limits: float
) -> AsyncIterator[Bridge]:
    services = Services(
        methods={ECHO: frozenset({"Echo"})},
        lasting=frozenset({f"{ECHO}/Echo"}) if lasts else frozenset(),
        limits=CallLimits(**limits),  # type: ignore[arg-type]
    )
    network = Network(
        listen="127.0.0.1:0", reached_at="localhost", tls=issue(authority(), "localhost")
    )
    with trio.fail_after(GUARD_SECONDS):
        async with serve(
            "127.0.0.1:0", network=network, services=services, meter=meter or Notes()
        ) as bridge:
            yield bridge


class Client:
    """One call, made in a thread of its own: what it sends, and what comes back."""

    def __init__(self, channel: grpc.Channel, *requests: bytes, token: str, holds: bool) -> None:
        self._may_end = threading.Event()
        self._requests = requests
        self.drawn = 0
        if not holds:
            self._may_end.set()
        method = channel.stream_stream(METHOD, lambda data: data, lambda data: data)
        self.call = method(self._all(), metadata=(("hokm-token", token),))

    def _all(self) -> Iterator[bytes]:
        for request in self._requests:
            yield request
            self.drawn += 1
        self._may_end.wait(GUARD_SECONDS)

    async def next(self) -> bytes:
        return await trio.to_thread.run_sync(next, self.call)

    async def replies(self) -> list[bytes]:
        return await trio.to_thread.run_sync(list, self.call)

    async def status(self) -> tuple[grpc.StatusCode, str]:
        code = await trio.to_thread.run_sync(self.call.code)
        return code, self.call.details()

    def end(self) -> None:
        self.call.cancel()
        self._may_end.set()


@contextmanager
def a_client(
    bridge: Bridge, *requests: bytes, token: str = "", holds: bool = False
) -> Iterator[Client]:
    credentials = grpc.ssl_channel_credentials(authority().cert_pem.bytes())
    with grpc.secure_channel(bridge.network_address, credentials) as channel:
        client = Client(channel, *requests, token=token, holds=holds)
        try:
            yield client
        finally:
            client.end()


async def taken(bridge: Bridge) -> GrpcCall:
    return await bridge.calls.receive()


async def test_a_call_is_heard_answered_and_ended() -> None:
    async with serving() as bridge:
        with a_client(bridge, b"one", b"", b"three", token="secret") as client:
            call = await taken(bridge)
            assert (call.service, call.method, call.host) == (ECHO, "Echo", "127.0.0.1")
            assert (call.metadata("hokm-token"), call.metadata("other")) == ("secret", "")
            assert [await call.receive() for _ in range(4)] == [b"one", b"", b"three", None]
            await call.send(b"first")
            await call.send(b"second")
            call.end()
            call.end(Status.INTERNAL, "too late")
            assert await client.replies() == [b"first", b"second"]
            assert await client.status() == (grpc.StatusCode.OK, "")


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.OK])
async def test_a_call_ends_with_its_status_and_its_line(status: Status) -> None:
    async with serving() as bridge:
        with a_client(bridge) as client:
            (await taken(bridge)).end(status, "do this next")
            assert await client.status() == (grpc.StatusCode[status.name], "do this next")


async def test_who_hangs_up_is_gone() -> None:
    async with serving() as bridge:
        with a_client(bridge, b"one", holds=True) as client:
            call = await taken(bridge)
            assert await call.receive() == b"one"
            client.end()
            with pytest.raises(CallGone):
                await receive_for_ever(call)
            with pytest.raises(CallGone):
                await call.send(b"hello?")
            call.end()


async def send_for_ever(call: GrpcCall) -> None:
    while True:
        await call.send(bytes(1 << 16))


async def test_nothing_is_read_that_nobody_asked_for() -> None:
    piece = bytes(1 << 18)
    async with serving() as bridge:
        with a_client(bridge, *[piece] * 256) as client:
            call = await taken(bridge)
            assert await call.receive() == piece
            await trio.sleep(0.3)  # in which most of 64 MiB would be here; windows hold 16 and more
            assert client.drawn < 200
            for _ in range(255):
                assert await call.receive() == piece
            assert await call.receive() is None
            call.end()
            assert (await client.status())[0] is grpc.StatusCode.OK


async def test_a_caller_that_says_nothing_or_does_not_read_is_given_up() -> None:
    async with serving(message_seconds=0.1) as bridge:
        with a_client(bridge, holds=True) as client:
            call = await taken(bridge)
            with pytest.raises(CallGone):
                await call.receive()
            assert (await client.status())[0] is grpc.StatusCode.DEADLINE_EXCEEDED
        with a_client(bridge, holds=True):
            call = await taken(bridge)
            with pytest.raises(CallGone):
                await send_for_ever(call)


async def test_a_call_takes_no_longer_than_it_may() -> None:
    async with serving(call_seconds=0.1) as bridge:
        with a_client(bridge) as client:
            await taken(bridge)
            code, details = await client.status()
            assert code is grpc.StatusCode.DEADLINE_EXCEEDED
            assert "try again" in details


async def test_a_message_beyond_its_bound_ends_the_call() -> None:
    async with serving(message_bytes=1 << 19) as bridge:
        with a_client(bridge, bytes(1 << 19)) as client:
            call = await taken(bridge)
            assert len(await call.receive() or b"") == 1 << 19
            call.end()
            assert (await client.status())[0] is grpc.StatusCode.OK
        with a_client(bridge, bytes((1 << 19) + 1)) as client:
            call = await taken(bridge)
            with pytest.raises(CallGone):
                await receive_for_ever(call)
            assert (await client.status())[0] is not grpc.StatusCode.OK


async def receive_for_ever(call: GrpcCall) -> None:
    for _ in range(1000):  # until gRPC says that it broke, there is nothing more
        assert await call.receive() is None
        await trio.sleep(0.01)


@pytest.mark.parametrize("limits", [{"calls": 2}, {"calls_of_a_host": 2}])
async def test_calls_beyond_their_number_are_turned_away(limits: dict[str, float]) -> None:
    meter = Notes()
    async with serving(meter, **limits) as bridge:  # type: ignore[arg-type]
        with a_client(bridge, holds=True), a_client(bridge, holds=True) as second:
            for _ in range(2):
                await taken(bridge)
            with a_client(bridge) as third:
                code, details = await third.status()
                assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
                assert "try again" in details
            second.end()
            await trio.sleep(0.2)
            with a_client(bridge) as fourth:
                (await taken(bridge)).end()
                assert (await fourth.status())[0] is grpc.StatusCode.OK
    assert meter.turned == [TurnedAway.CALLS]


async def test_who_calls_when_the_arena_goes_away_is_told() -> None:
    async with serving() as bridge:
        with a_client(bridge, holds=True) as client:
            call = await taken(bridge)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(bridge.stop)
                code, details = await client.status()
            assert code is grpc.StatusCode.UNAVAILABLE
            assert "going away" in details
            with pytest.raises(CallGone):
                await call.receive()
    # Leaving stops it again, which is harmless.


async def test_only_the_network_has_other_services() -> None:
    async with serving() as bridge:
        with grpc.insecure_channel(bridge.address) as channel:
            client = Client(channel, token="", holds=False)
            assert (await client.status())[0] is grpc.StatusCode.UNIMPLEMENTED
        with a_client(bridge):
            (await taken(bridge)).end()


async def test_bots_come_beside_them() -> None:
    async with serving() as bridge:
        with secured(bridge, "far") as far:
            assert (await says(far, bridge)).ticket == "far"
            with calling(bridge.address, "near") as near:
                assert (await says(near, bridge)).ticket == "near"


async def test_nothing_of_a_token_is_logged_by_anybody(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        caplog.set_level(logging.DEBUG, logger=name)
    async with serving(calls_of_a_host=1) as bridge:
        with a_client(bridge, holds=True, token="hokm_secret"):
            await taken(bridge)
            with a_client(bridge, token="hokm_secret") as client:
                await client.status()
    out, err = capfd.readouterr()
    written = "\n".join(repr(vars(record)) for record in caplog.records)
    assert "turned away" in caplog.text
    assert "hokm_secret" not in caplog.text + out + err + written


# -- calls that last


async def test_something_is_said_while_a_word_is_waited_for() -> None:
    async with serving() as bridge:
        with a_client(bridge, b"one", holds=True) as client:
            call = await taken(bridge)
            assert await call.receive() == b"one"
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hears_the_end, call)
                await trio.testing.wait_all_tasks_blocked()
                await call.send(b"meanwhile")
                assert await client.next() == b"meanwhile"
                client.end()


async def hears_the_end(call: GrpcCall) -> None:
    with suppress(CallGone):  # or it was seen first that no more is said
        assert await call.receive() is None


async def test_a_call_that_lasts_may_take_longer_than_others() -> None:
    async with serving(lasts=True, call_seconds=0.05) as bridge:
        with a_client(bridge, b"one", holds=True) as client:
            call = await taken(bridge)
            await trio.sleep(0.2)
            assert await call.receive() == b"one"
            call.end()
            assert await client.status() == (grpc.StatusCode.OK, "")


async def test_who_lets_a_call_that_lasts_wait_is_cut_off() -> None:
    async with serving(lasts=True, message_seconds=0.05) as bridge:
        with a_client(bridge, holds=True) as client:
            call = await taken(bridge)
            with pytest.raises(CallGone):
                await call.receive()
            assert (await client.status())[0] is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_calls_that_last_are_counted_apart() -> None:
    async with serving(lasts=True, calls_of_a_host=0, lasting_of_a_host=1) as bridge:
        with a_client(bridge, holds=True):
            await taken(bridge)
            with a_client(bridge) as client:
                assert (await client.status())[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
