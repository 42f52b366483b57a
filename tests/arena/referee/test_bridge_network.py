"""The bridge on a network, with real clients: who is let in, and what a stranger can use up."""

import contextlib
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import grpc
import pytest
import trio

from arena.referee.bridge import Bridge, serve
from arena.referee.connection import Close, Connection
from arena.referee.meter import Meter, TurnedAway
from arena.referee.serving import Limits, Network, Tls
from tests.arena.referee.certificates import authority, issue
from tests.arena.referee.test_bridge import Caller, bridge_threads, calling

ROOTS = authority().cert_pem.bytes()
GUARD_SECONDS = 20.0
"""Nothing here takes long; a wait that does has failed."""


class Notes(Meter):
    """A meter that keeps why streams were turned away, and lets the test wait for it."""

    def __init__(self) -> None:
        self.turned: list[TurnedAway] = []
        self.open = 0

    def stream_opened(self) -> None:
        self.open += 1

    def stream_closed(self) -> None:
        self.open -= 1

    def turned_away(self, why: TurnedAway) -> None:
        self.turned.append(why)


@pytest.fixture(scope="module")
def tls() -> Tls:
    return issue(authority(), "localhost", "127.0.0.1")


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    yield
    assert not bridge_threads()


@asynccontextmanager
async def networked(
    tls: Tls | None = None, *, meter: Meter | None = None, **limits: float
) -> AsyncIterator[Bridge]:
    network = Network(
        listen="127.0.0.1:0",
        reached_at="localhost",
        tls=tls,
        limits=Limits(**limits),  # type: ignore[arg-type]
    )
    with trio.fail_after(GUARD_SECONDS):
        async with serve("127.0.0.1:0", network=network, meter=meter or Notes()) as bridge:
            yield bridge


@contextlib.contextmanager
def secured(
    bridge: Bridge, ticket: str = "a ticket", *, roots: bytes = ROOTS, own: Tls | None = None
) -> Iterator[Caller]:
    """A bot that comes over TLS, with a certificate of its own or without."""
    mine = (None, None) if own is None else (own.key, own.certificate)
    credentials = grpc.ssl_channel_credentials(roots, *mine)
    options = [("grpc.enable_http_proxy", 0)]
    with grpc.secure_channel(bridge.network_address, credentials, options=options) as channel:
        caller = Caller(channel, ticket)
        try:
            yield caller
        finally:
            caller.call.cancel()
            caller.half_close()


async def says(caller: Caller, bridge: Bridge, payload: bytes = b"hello") -> Connection:
    """The connection on which a caller's word arrives, answered."""
    caller.say(payload)
    connection = await bridge.arrivals.receive()
    assert [one.payload for one in await connection.receive()] == [payload]
    connection.post(b"welcome")
    assert await caller.listen() == b"welcome"
    return connection


async def round_trips(caller: Caller, connection: Connection) -> None:
    """Messages there and back: what else was on its way had its time."""
    for _ in range(20):
        caller.say(b"ping")
        await connection.receive()
        connection.post(b"pong")
        await caller.listen()


# -- who is let in


async def test_bots_come_over_tls_from_elsewhere_and_without_it_from_here(tls: Tls) -> None:
    async with networked(tls) as bridge:
        assert bridge.network_address.startswith("localhost:")
        with secured(bridge, "far") as far:
            assert (await says(far, bridge)).ticket == "far"
            with calling(bridge.address, "near") as near:
                assert (await says(near, bridge)).ticket == "near"


async def test_the_arenas_own_certificate_is_root_enough(tls: Tls) -> None:
    async with networked(tls) as bridge:
        with secured(bridge, roots=tls.certificate) as caller:
            await says(caller, bridge)


async def test_a_bot_does_not_come_to_an_arena_of_another_authority(tls: Tls) -> None:
    async with networked(tls) as bridge:
        with secured(bridge, roots=authority("another").cert_pem.bytes()) as caller:
            code, details = await caller.status()
        assert code is grpc.StatusCode.UNAVAILABLE
        assert "CERTIFICATE_VERIFY_FAILED" in details
        with pytest.raises(trio.WouldBlock):
            bridge.arrivals.receive_nowait()


async def test_who_speaks_in_the_open_to_a_tls_port_is_not_heard(tls: Tls) -> None:
    async with networked(tls) as bridge:
        with calling(bridge.network_address) as caller:
            assert (await caller.status())[0] is grpc.StatusCode.UNAVAILABLE
        with pytest.raises(trio.WouldBlock):
            bridge.arrivals.receive_nowait()


async def test_with_a_client_ca_only_bots_of_that_authority_come_in() -> None:
    clients = authority("clients")
    mutual = issue(authority(), "localhost", client_ca=clients)
    async with networked(mutual) as bridge:
        with secured(bridge, own=issue(clients, "maryam")) as caller:
            await says(caller, bridge)
        for stranger in (None, issue(authority("another"), "maryam")):
            with secured(bridge, own=stranger) as caller:
                assert (await caller.status())[0] is grpc.StatusCode.UNAVAILABLE
        with pytest.raises(trio.WouldBlock):
            bridge.arrivals.receive_nowait()


async def test_an_address_in_use_is_said_to_be(tls: Tls) -> None:
    async with networked(tls) as bridge:
        port = bridge.network_address.rpartition(":")[2]
        again = Network(listen=f"127.0.0.1:{port}", reached_at="localhost", tls=tls)
        with pytest.raises(
            OSError, match=f"cannot listen at 127.0.0.1:{port}: is it in use, or not"
        ):
            async with serve("127.0.0.1:0", network=again):
                pass


# -- what a stranger can use up


async def test_of_more_streams_than_may_be_the_last_is_turned_away_with_the_reason() -> None:
    meter = Notes()
    async with networked(meter=meter, streams=1) as bridge:
        with calling(bridge.network_address) as one:
            await says(one, bridge)
            with calling(bridge.network_address) as two:
                code, details = await two.status()
            assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert "as many bots as may be" in details
            assert meter.turned == [TurnedAway.STREAMS]
            with calling(bridge.address) as local:  # has a place whatever happens there
                await says(local, bridge)
            one.call.cancel()
        while meter.open > 0:  # noqa: ASYNC110  # until the bridge has seen them leave
            await trio.sleep(0.01)
        with calling(bridge.network_address) as three:
            await says(three, bridge)


async def test_one_connection_has_no_more_calls_at_once_than_it_may() -> None:
    async with networked(streams_a_connection=1) as bridge:
        address = bridge.network_address
        with grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)]) as channel:
            one = Caller(channel, "one")
            connection = await says(one, bridge)
            two = Caller(channel, "two")
            two.say(b"hello")
            await round_trips(one, connection)
            # The client holds the second call back until the first one is over.
            with pytest.raises(trio.WouldBlock):
                bridge.arrivals.receive_nowait()
            connection.end()
            one.half_close()
            await one.status()
            assert (await bridge.arrivals.receive()).ticket == "two"
            two.call.cancel()
            two.half_close()


async def test_of_more_connections_than_may_be_the_last_is_closed() -> None:
    async with networked(connections=1) as bridge:
        address = bridge.network_address
        with calling(address) as one:
            await says(one, bridge)
            assert await first_bytes(connect(address)) == b""


async def test_a_connection_that_says_nothing_is_closed(tls: Tls) -> None:
    async with networked(tls, handshake_seconds=0.1) as bridge:
        assert await first_bytes(connect(bridge.network_address)) == b""


async def test_a_connection_that_says_nothing_after_tls_is_closed(tls: Tls) -> None:
    context = ssl.create_default_context(cadata=ROOTS.decode())
    context.set_alpn_protocols(["h2"])
    async with networked(tls, handshake_seconds=0.1) as bridge:

        def last_words() -> bytes:
            heard = b""
            with context.wrap_socket(
                connect(bridge.network_address), server_hostname="localhost"
            ) as stream:
                while data := stream.recv(1000):
                    heard += data
            return heard

        assert b"handshake timeout" in await trio.to_thread.run_sync(last_words)


async def test_a_connection_without_a_call_is_closed_in_time() -> None:
    async with networked(idle_seconds=0.1) as bridge:
        with grpc.insecure_channel(
            bridge.network_address, [("grpc.enable_http_proxy", 0)]
        ) as channel:
            states = channel_states(channel)
            await trio.to_thread.run_sync(grpc.channel_ready_future(channel).result)
            while grpc.ChannelConnectivity.IDLE not in states[1:]:  # noqa: ASYNC110  # it is gRPC's
                await trio.sleep(0.01)


def channel_states(channel: grpc.Channel) -> list[grpc.ChannelConnectivity]:
    states: list[grpc.ChannelConnectivity] = []
    channel.subscribe(states.append, try_to_connect=True)
    return states


def frame(kind: int, flags: int, payload: bytes) -> bytes:
    """A frame of HTTP/2 on the connection itself (RFC 9113, 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + bytes(4) + payload


SETTINGS, PING = 4, 6
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, b"") + frame(SETTINGS, 1, b"")


def last_words_to(address: str, *pings: bytes) -> bytes:
    """What is heard, up to its end, on a connection that shakes hands and then answers nothing."""
    heard = b""
    with connect(address) as stream:
        stream.sendall(PREFACE + b"".join(frame(PING, 0, ping) for ping in pings))
        with contextlib.suppress(ConnectionResetError):
            while data := stream.recv(1000):
                heard += data
    return heard


async def test_a_peer_that_answers_no_ping_is_given_up() -> None:
    async with networked(keepalive_seconds=0.1, keepalive_timeout_seconds=0.1) as bridge:
        heard = await trio.to_thread.run_sync(last_words_to, bridge.network_address)
    assert frame(PING, 0, b"")[3:5] in heard


async def test_a_peer_that_pings_all_the_time_is_sent_away() -> None:
    pings = [bytes([number]) * 8 for number in range(8)]
    async with networked(least_ping_seconds=1000.0) as bridge:
        heard = await trio.to_thread.run_sync(last_words_to, bridge.network_address, *pings)
    assert b"too_many_pings" in heard


async def test_a_stream_on_which_nothing_is_said_is_cut() -> None:
    meter = Notes()
    async with networked(meter=meter, hello_seconds=0.1) as bridge:
        with calling(bridge.network_address) as caller:
            connection = await bridge.arrivals.receive()
            assert await caller.status() == (grpc.StatusCode.DEADLINE_EXCEEDED, "")
            assert await connection.receive() == []
        assert meter.turned == [TurnedAway.SILENT]


async def test_a_stream_on_which_something_was_said_stays() -> None:
    async with networked(hello_seconds=1.0) as bridge:
        with calling(bridge.network_address) as caller:
            connection = await says(caller, bridge)
            await trio.sleep(1.2)
            caller.say(b"still here")
            assert len(await connection.receive()) == 1


async def test_headers_beyond_all_bounds_are_refused() -> None:
    async with networked() as bridge:
        with calling(bridge.network_address, "x" * 8192) as caller:
            code, details = await caller.status()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "metadata" in details
        assert "xxx" not in details
        # gRPC lets us know that somebody came, and nothing of what the headers were.
        with contextlib.suppress(trio.WouldBlock):
            assert bridge.arrivals.receive_nowait().ticket == ""


async def test_a_message_beyond_all_bounds_breaks_its_stream(tls: Tls) -> None:
    async with networked(tls) as bridge:
        with secured(bridge) as caller:
            caller.say(bytes(1 << 20))
            connection = await bridge.arrivals.receive()
            assert await connection.receive() == []
            assert (await caller.status())[0] is not grpc.StatusCode.OK


async def wrong_ticket(bridge: Bridge) -> tuple[grpc.StatusCode, str]:
    with calling(bridge.network_address, "wrong") as caller:
        with trio.move_on_after(5) as waiting:
            connection = await bridge.arrivals.receive()
            connection.end(Close.NO_SEAT)
        assert not waiting.cancelled_caught
        return await caller.status()


async def test_an_address_with_too_many_wrong_tickets_is_not_listened_to(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    meter = Notes()
    async with networked(meter=meter, wrong_tickets=2, wrong_ticket_seconds=1e6) as bridge:
        for _ in range(2):
            assert (await wrong_ticket(bridge))[0] is grpc.StatusCode.UNAUTHENTICATED
        with calling(bridge.network_address, "a good one, even") as caller:
            code, details = await caller.status()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "too many wrong tickets" in details
        with calling(bridge.address) as local:
            await says(local, bridge)
    assert meter.turned == [TurnedAway.TICKET, TurnedAway.TICKET, TurnedAway.WRONG_TICKETS]
    assert caplog.text.count("too many wrong tickets") == 1
    assert caplog.text.count("turned away a stream") == 2  # one for each reason


async def test_wrong_tickets_are_forgiven_with_time() -> None:
    async with networked(wrong_tickets=1, wrong_ticket_seconds=0.05) as bridge:
        await wrong_ticket(bridge)
        await trio.sleep(0.1)
        assert (await wrong_ticket(bridge))[0] is grpc.StatusCode.UNAUTHENTICATED


async def test_nothing_of_tickets_is_logged_by_anybody(
    tls: Tls, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    ticket = "a-secret-of-this-test"
    async with networked(tls) as bridge:
        with secured(bridge, ticket) as caller:
            connection = await says(caller, bridge)
            connection.end(Close.NO_SEAT)
            await caller.status()
    out, err = capfd.readouterr()
    assert "asyncio" in caplog.text  # everything is listened to
    assert ticket not in caplog.text + out + err


def connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection(("127.0.0.1" if host == "localhost" else host, int(port)))


async def first_bytes(stream: socket.socket) -> bytes:
    """What is heard on a connection on which nothing is said; nothing when it is closed."""
    with stream:
        return await trio.to_thread.run_sync(stream.recv, 100)
