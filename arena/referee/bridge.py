"""The bridge: gRPC on one side, trio on the other, and nothing else in between.

gRPC's asyncio server runs with a loop of its own in one background thread; this is the only module
that knows grpc, asyncio and trio. It moves bytes and stamps them: what is read when it is read,
what is written when the write has returned, so that no queue of the referee's is ever charged to a
bot. It does not know what the bytes mean, who may connect, or what a game is.

Into trio goes one `run_sync_soon` for each message of the wire; out of it one
`call_soon_threadsafe` for each post, and posts are batches.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVarTuple

import grpc
import grpc.aio
import trio

from arena.referee.connection import Close, Received, Written
from hokm.wire import BATCH_BYTES, PLAY_METHOD, TICKET_METADATA

MAX_MESSAGE_BYTES = 4 * BATCH_BYTES
"""The largest message that is read at all; a batch out of bounds, but not far, is read so that its
sender can be told.
"""

UNREAD_BYTES = 1 << 20
"""How much may lie read and unprocessed before a connection is read no further. It is far above
what a bot has reason to send, since what is not read is charged to the bot's clock.
"""

MESSAGE_COST = 64
"""What a message counts towards that limit besides its bytes, so that empty ones are not free."""

LINGER_SECONDS = 1.0
"""How long a stream that ends well stays open for the bot to end its half, and how long all streams
may take when the bridge closes, before they are cut: a bot that does not read never takes its
status.
"""

MAX_SOCKET_PATH = 107
"""Bytes in the path of a unix socket (Linux, unix(7): sun_path less its final zero)."""

_STATUS = {
    Close.DONE: grpc.StatusCode.OK,
    Close.NO_SEAT: grpc.StatusCode.UNAUTHENTICATED,
    Close.MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    Close.STOPPED: grpc.StatusCode.UNAVAILABLE,
}

_OPTIONS = (
    # On by default, and then a second server binds the same port without an error.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.enable_http_proxy", 0),
)

Args = TypeVarTuple("Args")
Context = grpc.aio.ServicerContext[object, bytes]

_log = logging.getLogger(__name__)


@asynccontextmanager
async def serve(address: str, *, unread_bytes: int = UNREAD_BYTES) -> AsyncIterator["Bridge"]:
    """Listen at ``host:port`` (port 0: any that is free) or ``unix:/path``.

    The address is bound when this is entered, so that bots may be started at once; when it is left
    every stream is ended and the thread is gone. Raises OSError when the address cannot be bound.
    """
    _check(address)
    bridge = Bridge(address, unread_bytes=unread_bytes)
    await bridge.start()
    try:
        yield bridge
    finally:
        with trio.CancelScope(shield=True):  # takes LINGER_SECONDS and a little at most
            await bridge.stop()


class Bridge:
    """A server that listens; made by :func:`serve`."""

    def __init__(self, address: str, *, unread_bytes: int) -> None:
        self.address = address
        """Where bots connect, with the port that was bound."""
        self._new, self.arrivals = trio.open_memory_channel[GrpcConnection](float("inf"))
        self._unread_bytes = unread_bytes
        self._trio = trio.lowlevel.current_trio_token()
        self._started = trio.Event()
        self._stopped = trio.Event()
        self._failure: BaseException | None = None
        # A daemon, so that a program whose trio loop died without leaving `serve` can still end.
        self._thread = threading.Thread(target=self._run, name="grpc bridge", daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._stop = asyncio.Event()
        self._streams: dict[asyncio.Task[None], GrpcConnection] = {}

    def now(self) -> float:
        """The clock of every stamp: seconds, monotonic."""
        return time.monotonic()

    # -- the trio thread

    async def start(self) -> None:
        """Bind and serve; raises OSError when the address cannot be bound."""
        self._thread.start()
        with trio.CancelScope(shield=True):  # binding does not wait for anybody
            await self._started.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure

    async def stop(self) -> None:
        """End every stream, then the server and its thread."""
        self.out_of_trio(self._stop.set)
        await self._stopped.wait()
        self._thread.join()
        self._new.close()
        if self._failure is not None:
            raise self._failure

    def out_of_trio(self, call: Callable[[*Args], object], *args: *Args) -> bool:
        """Have the bridge's thread call this soon, in order; False if that has ended."""
        try:
            self._loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            return False
        return True

    def _arrive(self, connection: "GrpcConnection") -> None:
        self._new.send_nowait(connection)

    # -- the bridge thread

    def into_trio(self, call: Callable[[*Args], object], *args: *Args) -> None:
        """Have trio's thread call this soon, in order. If there is no trio any more, stop."""
        try:
            self._trio.run_sync_soon(call, *args)
        except trio.RunFinishedError:
            self._stop.set()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as failure:
            self._failure = failure
        self.into_trio(self._started.set)
        self.into_trio(self._stopped.set)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        service, method = PLAY_METHOD.strip("/").split("/")
        # Without serializers gRPC hands over the bytes as they are.
        handler: grpc.RpcMethodHandler[object, bytes]
        handler = grpc.stream_stream_rpc_method_handler(self._play)
        handlers = grpc.method_handlers_generic_handler(service, {method: handler})
        server = grpc.aio.server(handlers=[handlers], options=_OPTIONS)
        try:
            port = server.add_insecure_port(self.address)
        except RuntimeError as error:
            raise OSError(f"cannot listen at {self.address}: is it in use?") from error
        if not self.address.startswith("unix:"):
            self.address = f"{self.address.rpartition(':')[0]}:{port}"
        await server.start()
        self.into_trio(self._started.set)
        await self._stop.wait()
        for connection in self._streams.values():
            connection.outgoing.put_nowait(Close.STOPPED)
        if self._streams:
            await asyncio.wait(self._streams, timeout=LINGER_SECONDS)
        await server.stop(None)

    async def _play(self, _: AsyncIterator[bytes], context: Context) -> None:
        """One stream, from its first byte to its status."""
        task = asyncio.current_task()
        assert task is not None
        connection = GrpcConnection(self, _ticket_of(context), unread_bytes=self._unread_bytes)
        self._streams[task] = connection
        # Not before the status was sent: until then the stream has not ended.
        task.add_done_callback(lambda _: self._streams.pop(task))
        if self._stop.is_set():
            connection.outgoing.put_nowait(Close.STOPPED)
        self.into_trio(self._arrive, connection)
        reading = asyncio.create_task(connection.read_all(context))
        writing = asyncio.create_task(connection.write_all(context))
        try:
            # Reading ends when the bot will say no more; it may still be listening. Writing ends
            # when the arena says so or the stream broke. A stream that was cancelled (its process
            # is gone) ends both by a CancelledError raised here.
            close = await writing
            if close is Close.DONE:
                await asyncio.wait([reading], timeout=LINGER_SECONDS)
            context.set_code(_STATUS[close])
        finally:
            reading.cancel()
            writing.cancel()
            self.into_trio(connection.deliver_end)


class GrpcConnection:
    """One stream of the bridge: a :class:`~arena.referee.connection.Connection`."""

    def __init__(self, bridge: Bridge, ticket: str, *, unread_bytes: int) -> None:
        self.ticket = ticket
        self._bridge = bridge
        # Of the bridge thread.
        self.outgoing: asyncio.Queue[tuple[bytes, Written | None] | Close] = asyncio.Queue()
        self._unread_bytes = unread_bytes
        self._credit = unread_bytes
        self._more_credit = asyncio.Event()
        # Of the trio thread.
        self._received: list[Received] = []
        self._waiting = trio.lowlevel.ParkingLot()
        self._ended = False
        self._taken_bytes = 0

    # -- the trio thread

    async def receive(self) -> Sequence[Received]:
        """See :class:`~arena.referee.connection.Connection`."""
        while not self._received and not self._ended:
            await self._waiting.park()
        return self.received()

    def received(self) -> Sequence[Received]:
        """See :class:`~arena.referee.connection.Connection`."""
        received, self._received = self._received, []
        self._taken_bytes += sum(map(_cost, received))
        # Half of it at a time: one call into the other thread for many messages.
        if self._taken_bytes * 2 >= self._unread_bytes:
            self._bridge.out_of_trio(self._give_credit, self._taken_bytes)
            self._taken_bytes = 0
        return received

    def post(self, payload: bytes, written: Written | None = None) -> None:
        """See :class:`~arena.referee.connection.Connection`."""
        self._bridge.out_of_trio(self.outgoing.put_nowait, (payload, written))

    def end(self, close: Close = Close.DONE) -> None:
        """See :class:`~arena.referee.connection.Connection`."""
        self._bridge.out_of_trio(self.outgoing.put_nowait, close)
        self.deliver_end()

    async def settle(self) -> None:
        """See :class:`~arena.referee.connection.Connection`."""
        settled = trio.Event()
        # What the bridge's thread did before comes before this, there and back.
        if self._bridge.out_of_trio(self._bridge.into_trio, settled.set):
            await settled.wait()

    def _deliver(self, received: Received) -> None:
        if not self._ended:
            self._received.append(received)
            self._waiting.unpark_all()

    def deliver_end(self) -> None:
        """No more will be received."""
        self._ended = True
        self._waiting.unpark_all()

    # -- the bridge thread

    async def read_all(self, context: Context) -> None:
        """Read until the bot has said all, or the stream broke."""
        try:
            while isinstance(payload := await context.read(), bytes):  # else grpc.aio.EOF
                received = Received(payload, time.monotonic())
                self._bridge.into_trio(self._deliver, received)
                self._credit -= _cost(received)
                while self._credit <= 0:
                    self._more_credit.clear()
                    await self._more_credit.wait()
        except grpc.aio.BaseError:  # the stream broke
            pass
        finally:
            self._bridge.into_trio(self.deliver_end)

    async def write_all(self, context: Context) -> Close:
        """Write what is posted until told how to end."""
        while not isinstance(post := await self.outgoing.get(), Close):
            payload, written = post
            try:
                await context.write(payload)
            except grpc.aio.BaseError:  # the bot is gone; reading says so too
                return Close.DONE
            if written is not None:
                self._bridge.into_trio(written, time.monotonic())
        return post

    def _give_credit(self, taken_bytes: int) -> None:
        self._credit += taken_bytes
        self._more_credit.set()


def _cost(received: Received) -> int:
    return len(received.payload) + MESSAGE_COST


def _ticket_of(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == TICKET_METADATA and isinstance(value, str):
            return value
    return ""


def _check(address: str) -> None:
    scheme, colon, path = address.partition(":")
    if not colon or not path:
        raise ValueError(f"{address!r} is no address: host:port or unix:/path")
    if scheme == "unix":
        length = len(path.encode())
        if length > MAX_SOCKET_PATH:
            raise OSError(
                f"the path of a unix socket has at most {MAX_SOCKET_PATH} bytes, "
                f"{path} has {length}: choose a shorter folder"
            )
