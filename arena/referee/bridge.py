"""The bridge: gRPC on one side, trio on the other, and nothing else in between.

gRPC's asyncio server runs with a loop of its own in one background thread; this is the only module
that knows grpc, asyncio and trio. It moves bytes and stamps them: what is read when it is read,
what is written when the write has returned, so that no queue of the referee's is ever charged to a
bot. It does not know what the bytes mean, who may connect, or what a game is.

Bots that the arena starts come over the loopback or a unix socket. On a network there is a second
server beside that one, with TLS, limits, health and reflection (:mod:`arena.referee.serving` has
them as values): whatever happens there, the first one is not touched.

Into trio goes one `run_sync_soon` for each message of the wire; out of it one
`call_soon_threadsafe` for each post, and posts are batches.

The network server may have other services (:mod:`arena.referee.calls`). Their calls are handed into
trio as they are, a message at a time: who calls waits, and nothing is read that nobody asked for.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVarTuple

# gRPC's core writes a line to stderr for every handshake that fails, and strangers make as many as
# they like. It reads this when it is loaded; whoever operates the arena may have said otherwise.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
import grpc.aio
import trio

from arena.referee.calls import CallGone, Services, Status
from arena.referee.connection import Close, Received, Written
from arena.referee.meter import NO_METER, Meter, TurnedAway
from arena.referee.serving import Limits, Network, Patience, Tls, host_of
from hokm.wire import BATCH_BYTES, PLAY_METHOD, RESUME_METADATA, TICKET_METADATA

if TYPE_CHECKING:
    from arena.referee.probes import Probes

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

GOAWAY_SECONDS = 0.2
"""How long connections from the network may take to close, once no stream is left on them."""

MAX_SOCKET_PATH = 107
"""Bytes in the path of a unix socket (Linux, unix(7): sun_path less its final zero)."""

_STATUS = {
    Close.DONE: grpc.StatusCode.OK,
    Close.NO_SEAT: grpc.StatusCode.UNAUTHENTICATED,
    Close.MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    Close.STOPPED: grpc.StatusCode.UNAVAILABLE,
    Close.SHUT_OUT: grpc.StatusCode.ABORTED,
    Close.SILENT: grpc.StatusCode.DEADLINE_EXCEEDED,
}

_CALL_STATUS = {status: grpc.StatusCode[status.value] for status in Status}

_TURNED_AWAY = {Close.NO_SEAT: TurnedAway.TICKET, Close.SILENT: TurnedAway.SILENT}

_FULL = {
    TurnedAway.STREAMS: "as many bots as may be are connected; come again later",
    TurnedAway.WRONG_TICKETS: "too many wrong tickets from this address; come again later",
    TurnedAway.CALLS: "as many calls as may be are under way; try again in a while",
}
"""What is told those who are not even listened to."""

SILENT_SECONDS = 10.0
"""Between two lines of the log about streams that were turned away for one reason."""

SPARE_CALLS = 64
"""Calls at once beyond those that are let in, so that there is one to say no with; above them gRPC
itself refuses, without us.
"""

_OPTIONS = (
    # On by default, and then a second server binds the same port without an error.
    ("grpc.so_reuseport", 0),
    ("grpc.enable_http_proxy", 0),
)
_LONGEST_MESSAGE = "grpc.max_receive_message_length"
_LOCAL_OPTIONS = (*_OPTIONS, (_LONGEST_MESSAGE, MAX_MESSAGE_BYTES))

Args = TypeVarTuple("Args")
Context = grpc.aio.ServicerContext[object, bytes]

_log = logging.getLogger(__name__)


@asynccontextmanager
async def serve(
    address: str,
    *,
    network: Network | None = None,
    services: Services | None = None,
    meter: Meter = NO_METER,
    unread_bytes: int = UNREAD_BYTES,
) -> AsyncIterator["Bridge"]:
    """Listen at ``host:port`` (port 0: any that is free) or ``unix:/path``, without TLS; and where
    ``network`` says, as it says. There the ``services`` are, too; their calls come through
    :attr:`Bridge.calls`.

    The address is bound when this is entered, so that bots may be started at once; when it is left
    every stream is ended and the thread is gone. Raises OSError when the address cannot be bound.
    """
    _check(address)
    bridge = Bridge(
        address, network=network, services=services, meter=meter, unread_bytes=unread_bytes
    )
    await bridge.start()
    try:
        yield bridge
    finally:
        with trio.CancelScope(shield=True):  # takes LINGER_SECONDS and a little at most
            await bridge.stop()


class Bridge:
    """A server that listens; made by :func:`serve`."""

    def __init__(
        self,
        address: str,
        *,
        network: Network | None = None,
        services: Services | None = None,
        meter: Meter = NO_METER,
        unread_bytes: int = UNREAD_BYTES,
    ) -> None:
        self.address = address
        """Where bots on this machine connect, with the port that was bound."""
        self.network_address = ""
        """Where those elsewhere do, with its port; empty where no network is served."""
        self.meter = meter
        self._network = network
        self._new, self.arrivals = trio.open_memory_channel[GrpcConnection](float("inf"))
        self._services = services
        self._new_call, self.calls = trio.open_memory_channel[GrpcCall](float("inf"))
        self._calls: dict[asyncio.Task[None], GrpcCall] = {}
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
        self._readings: set[asyncio.Task[None]] = set()
        self._guests = 0
        """Streams that came over the network."""
        limits = Limits() if network is None else network.limits
        self._limits = limits
        self._patience = Patience(
            limits.wrong_tickets, forgiven_seconds=limits.wrong_ticket_seconds
        )
        self._silent_until: dict[TurnedAway, float] = {}
        """When it may be logged again that somebody was turned away, by why."""
        self._is_serving: asyncio.Queue[bool] = asyncio.Queue()
        meter.queue_age_by(self._queue_age)

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
        self._new_call.close()
        if self._failure is not None:
            raise self._failure

    def out_of_trio(self, call: Callable[[*Args], object], *args: *Args) -> bool:
        """Have the bridge's thread call this soon, in order; False if that has ended."""
        try:
            self._loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            return False
        return True

    def drain(self) -> None:
        """Tell who asks for the health of this server that it accepts no more matches. Streams go
        on, and bots may still come back.
        """
        self.out_of_trio(self._is_serving.put_nowait, False)

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
        handler = grpc.stream_stream_rpc_method_handler(self._play_local)
        handlers = grpc.method_handlers_generic_handler(service, {method: handler})
        local = grpc.aio.server(handlers=[handlers], options=_LOCAL_OPTIONS)
        port = _bind(local, self.address)
        if not self.address.startswith("unix:"):
            self.address = f"{self.address.rpartition(':')[0]}:{port}"
        servers, helping = [local], list[asyncio.Task[None]]()
        if self._network is not None:
            from arena.referee.probes import Probes  # its packages are an extra

            handler = grpc.stream_stream_rpc_method_handler(self._play_guest)
            handlers = grpc.method_handlers_generic_handler(service, {method: handler})
            others = () if self._services is None else tuple(self._services.methods)
            server = _network_server(
                [handlers, *map(self._handlers_of, others)], self._limits, self._services
            )
            probes = Probes(
                server,
                (service, *others),
                most=self._limits.probes,
                turned_away=partial(self._turn_away, TurnedAway.PROBES, host=None),
            )
            await probes.tell(is_serving=True)
            helping.append(asyncio.create_task(self._tell_health(probes)))
            port = _bind(server, self._network.listen, tls=self._network.tls)
            self.network_address = f"{self._network.reached_at}:{port}"
            servers.append(server)
            is_open = self._network.tls is None
            _log.info("serving", extra={"address": self.network_address, "tls": not is_open})
        for server in servers:
            await server.start()
        self.into_trio(self._started.set)
        await self._stop.wait()
        for connection in self._streams.values():
            connection.outgoing.put_nowait(Close.STOPPED)
        for call in self._calls.values():
            call.put(_End(Status.UNAVAILABLE, _GOING_AWAY))
        if waiting := [*self._streams, *self._calls]:
            await asyncio.wait(waiting, timeout=LINGER_SECONDS)
        for server in servers:
            # A moment for connections to close; of one that is cut clients say it is an error.
            await server.stop(GOAWAY_SECONDS if server is not local else None)
        for task in helping:
            task.cancel()

    async def _play_guest(self, requests: AsyncIterator[bytes], context: Context) -> None:
        """A stream that came over the network."""
        host = host_of(context.peer())
        full = self._full(host)
        if full is not None:
            self._turn_away(full, host=host)
            context.set_code(grpc.StatusCode.RESOURCE_EXHAUSTED)
            context.set_details(_FULL[full])
            return
        self._guests += 1
        _log.debug("stream opened", extra={"host": host, "streams": self._guests})
        try:
            close = await self._play(requests, context, first_seconds=self._limits.hello_seconds)
        finally:
            self._guests -= 1
            _log.debug("stream ended", extra={"host": host, "streams": self._guests})
        if close in _TURNED_AWAY:
            self._turn_away(_TURNED_AWAY[close], host=host)
        if close is Close.NO_SEAT and self._patience.wrong(host, time.monotonic()):
            _log.warning(
                "too many wrong tickets: not listened to for a while", extra={"host": host}
            )

    def _full(self, host: str) -> TurnedAway | None:
        """Why nobody more is listened to, or nobody from this host."""
        if self._patience.is_out(host, time.monotonic()):
            return TurnedAway.WRONG_TICKETS
        if self._guests >= self._limits.streams:
            return TurnedAway.STREAMS
        return None

    def _handlers_of(self, service: str) -> grpc.GenericRpcHandler:
        """All methods of another service. To gRPC each is a stream of messages both ways: that a
        request is one message is for whoever reads it to see.
        """
        assert self._services is not None
        handlers: dict[str, grpc.RpcMethodHandler[object, bytes]] = {
            method: grpc.stream_stream_rpc_method_handler(
                partial(self._pass_on, service=service, method=method)
            )
            for method in self._services.methods[service]
        }
        return grpc.method_handlers_generic_handler(service, handlers)

    async def _pass_on(
        self, _: AsyncIterator[bytes], context: Context, *, service: str, method: str
    ) -> None:
        """One call of another service, from its first byte to its status."""
        assert self._services is not None
        task = asyncio.current_task()
        assert task is not None
        host, limits = host_of(context.peer()), self._services.limits
        lasts = f"{service}/{method}" in self._services.lasting
        most, most_of_host = limits.calls, limits.calls_of_a_host
        if lasts:
            most, most_of_host = limits.lasting, limits.lasting_of_a_host
        alike = [call for call in self._calls.values() if call.lasts is lasts]
        of_host = sum(call.host == host for call in alike)
        if len(alike) >= most or of_host >= most_of_host:
            self._turn_away(TurnedAway.CALLS, host=host)
            context.set_code(grpc.StatusCode.RESOURCE_EXHAUSTED)
            context.set_details(_FULL[TurnedAway.CALLS])
            return
        metadata = tuple(context.invocation_metadata() or ())
        call = GrpcCall(
            self, service=service, method=method, host=host, metadata=metadata, lasts=lasts
        )
        self._calls[task] = call
        task.add_done_callback(self._forget_call)
        if self._stop.is_set():
            call.put(_End(Status.UNAVAILABLE, _GOING_AWAY))
        self.into_trio(self._new_call.send_nowait, call)
        try:
            call_seconds = None if lasts else limits.call_seconds
            end = await call.do_all(context, limits.message_seconds, call_seconds)
            context.set_code(_CALL_STATUS[end.status])
            context.set_details(end.details)
        finally:
            self.into_trio(call.deliver_end)

    def keep_reading(self, reading: asyncio.Task[None]) -> None:
        """A read that nobody waits for any more ends with its call."""
        self._readings.add(reading)
        reading.add_done_callback(self._readings.discard)

    def _forget_call(self, task: asyncio.Task[None]) -> None:
        del self._calls[task]

    async def _tell_health(self, probes: "Probes") -> None:
        while True:
            await probes.tell(is_serving=await self._is_serving.get())

    async def _play_local(self, requests: AsyncIterator[bytes], context: Context) -> None:
        """A stream of a bot on this machine."""
        close = await self._play(requests, context)
        if close in _TURNED_AWAY:
            self._turn_away(_TURNED_AWAY[close], host="here")

    def _turn_away(self, why: TurnedAway, *, host: str | None) -> None:
        """Count it, and say so now and then: a stranger must not fill a disk with it."""
        self.meter.turned_away(why)
        now = time.monotonic()
        if now >= self._silent_until.get(why, 0.0):
            self._silent_until[why] = now + SILENT_SECONDS
            _log.info("turned away a stream", extra={"reason": why.value, "host": host})

    async def _play(
        self, _: AsyncIterator[bytes], context: Context, *, first_seconds: float | None = None
    ) -> Close:
        """One stream, from its first byte to its status; cut if nothing is said in so long."""
        task = asyncio.current_task()
        assert task is not None
        metadata = context.invocation_metadata() or ()
        connection = GrpcConnection(
            self,
            ticket=_text_in(metadata, TICKET_METADATA),
            resume_token=_text_in(metadata, RESUME_METADATA),
            unread_bytes=self._unread_bytes,
        )
        self._streams[task] = connection
        # Not before the status was sent: until then the stream has not ended.
        task.add_done_callback(self._forget)
        self.meter.stream_opened()
        if self._stop.is_set():
            connection.outgoing.put_nowait(Close.STOPPED)
        self.into_trio(self._arrive, connection)
        reading = asyncio.create_task(connection.read_all(context))
        self._readings.add(reading)
        reading.add_done_callback(self._readings.discard)
        writing = asyncio.create_task(connection.write_all(context))
        if first_seconds is not None:
            asyncio.get_running_loop().call_later(first_seconds, connection.end_if_silent)
        try:
            # Reading ends when the bot will say no more; it may still be listening. Writing ends
            # when the arena says so or the stream broke. A stream that was cancelled (its process
            # is gone) ends both by a CancelledError raised here.
            close = await writing
            if close is Close.DONE:
                await asyncio.wait([reading], timeout=LINGER_SECONDS)
            context.set_code(_STATUS[close])
            return close
        finally:
            # Not cancelled: gRPC does not give back what a read that is cancelled has taken. It
            # ends with its call.
            connection.stop_reading()
            writing.cancel()
            self.into_trio(connection.deliver_end)

    def _forget(self, task: asyncio.Task[None]) -> None:
        del self._streams[task]
        self.meter.stream_closed()

    # -- any thread

    def _queue_age(self) -> float:
        """How long the oldest batch that is not written has waited, in seconds."""
        posted = [
            connection.writing_since
            for connection in list(self._streams.values())
            if connection.writing_since is not None
        ]
        return time.monotonic() - min(posted) if posted else 0.0


class GrpcConnection:
    """One stream of the bridge: a :class:`~arena.referee.connection.Connection`."""

    def __init__(
        self, bridge: Bridge, *, ticket: str, resume_token: str, unread_bytes: int
    ) -> None:
        self.ticket = ticket
        self.resume_token = resume_token
        self._bridge = bridge
        # Of the bridge thread.
        self.outgoing: asyncio.Queue[_Post | Close] = asyncio.Queue()
        self.writing_since: float | None = None
        """When the batch was posted that is being written."""
        self._has_spoken = False
        self._unread_bytes = unread_bytes
        self._credit = unread_bytes
        self._more_credit = asyncio.Event()
        self._reads_no_more = False
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
        post = _Post(payload, written, time.monotonic())
        self._bridge.out_of_trio(self.outgoing.put_nowait, post)

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
                self._has_spoken = True
                self._bridge.into_trio(self._deliver, received)
                self._credit -= _cost(received)
                while self._credit <= 0 and not self._reads_no_more:
                    self._more_credit.clear()
                    await self._more_credit.wait()
                if self._reads_no_more:
                    return
        except grpc.aio.BaseError:  # the stream broke
            pass
        finally:
            self._bridge.into_trio(self.deliver_end)

    async def write_all(self, context: Context) -> Close:
        """Write what is posted until told how to end."""
        while not isinstance(post := await self.outgoing.get(), Close):
            self.writing_since = post.posted_at
            began_at = time.monotonic()
            try:
                await context.write(post.payload)
            except grpc.aio.BaseError:  # the bot is gone; reading says so too
                return Close.DONE
            finally:
                self.writing_since = None
            now = time.monotonic()
            self._bridge.meter.written(now - post.posted_at)
            if post.written is not None:
                self._bridge.into_trio(post.written, began_at, now)
        return post

    def stop_reading(self) -> None:
        """Read nothing more, but for what is being waited for."""
        self._reads_no_more = True
        self._more_credit.set()

    def end_if_silent(self) -> None:
        """Cut the stream unless something was said on it; harmless where it has ended."""
        if not self._has_spoken:
            self.outgoing.put_nowait(Close.SILENT)

    def _give_credit(self, taken_bytes: int) -> None:
        self._credit += taken_bytes
        self._more_credit.set()


class _Read(NamedTuple):
    """The next request is wanted."""


class _Write(NamedTuple):
    """A reply is to be sent."""

    reply: bytes


class _End(NamedTuple):
    """A call is to be ended."""

    status: Status
    details: str


_GOING_AWAY = "the arena is going away; try again when it is back"
_BROKE = _End(Status.UNAVAILABLE, "the call broke")
"""Nobody hears it, but for whoever answers."""
_TOO_LONG = _End(Status.DEADLINE_EXCEEDED, "this took too long; try again")


class GrpcCall:
    """One call of the bridge: a :class:`~arena.referee.calls.Call`.

    What trio's thread wants is done in the bridge's: one write after another, a read meanwhile.
    """

    def __init__(
        self,
        bridge: Bridge,
        *,
        service: str,
        method: str,
        host: str,
        metadata: Iterable[tuple[str, str | bytes]],
        lasts: bool = False,
    ) -> None:
        self.service = service
        self.method = method
        self.host = host
        self.lasts = lasts
        self._metadata = metadata
        self._bridge = bridge
        # Of the bridge thread.
        self._wanted: asyncio.Queue[_Read | _Write | _End] = asyncio.Queue()
        # Of the trio thread.
        self._has_read = trio.Event()
        self._has_written = trio.Event()
        self._request: bytes | None = None
        self._is_gone = False

    # -- the trio thread

    def metadata(self, name: str) -> str:
        """See :class:`~arena.referee.calls.Call`."""
        return _text_in(self._metadata, name)

    async def receive(self) -> bytes | None:
        """See :class:`~arena.referee.calls.Call`."""
        self._has_read = trio.Event()
        await self._ask(_Read(), self._has_read)
        return self._request

    async def send(self, reply: bytes) -> None:
        """See :class:`~arena.referee.calls.Call`."""
        self._has_written = trio.Event()
        await self._ask(_Write(reply), self._has_written)

    def end(self, status: Status = Status.OK, details: str = "") -> None:
        """See :class:`~arena.referee.calls.Call`."""
        self._bridge.out_of_trio(self.put, _End(status, details))
        self.deliver_end()

    async def _ask(self, wanted: _Read | _Write, is_done: trio.Event) -> None:
        if self._is_gone:
            raise CallGone
        if not self._bridge.out_of_trio(self.put, wanted):
            raise CallGone
        await is_done.wait()
        if self._is_gone:
            raise CallGone

    def _deliver(self, request: bytes | None) -> None:
        self._request = request
        self._has_read.set()

    def _deliver_written(self) -> None:
        self._has_written.set()

    def deliver_end(self) -> None:
        """Nobody calls any more."""
        self._is_gone = True
        self._has_read.set()
        self._has_written.set()

    # -- the bridge thread

    def put(self, wanted: _Read | _Write | _End) -> None:
        """Do this next."""
        self._wanted.put_nowait(wanted)

    async def do_all(
        self, context: Context, message_seconds: float, call_seconds: float | None
    ) -> _End:
        """Read and write as is wanted, until the call is to be ended or has taken too long."""
        try:
            async with asyncio.timeout(call_seconds):
                while not isinstance(wanted := await self._wanted.get(), _End):
                    if isinstance(wanted, _Read):  # what is to be written does not wait for it
                        doing = self._begin(self._read(context))
                        asyncio.get_running_loop().call_later(
                            message_seconds, self._end_unless, doing
                        )
                        continue
                    doing = self._begin(self._write(wanted.reply, context))
                    await asyncio.wait([doing], timeout=message_seconds)
                    if not doing.done():
                        return _TOO_LONG
                return wanted
        except TimeoutError:
            return _TOO_LONG

    def _begin(self, doing: Coroutine[object, object, None]) -> "asyncio.Task[None]":
        """Not to be cancelled: gRPC does not give back what a read that is cancelled has taken."""
        task = asyncio.get_running_loop().create_task(doing)
        self._bridge.keep_reading(task)
        return task

    def _end_unless(self, is_done: "asyncio.Task[None]") -> None:
        if not is_done.done():
            self.put(_TOO_LONG)

    async def _read(self, context: Context) -> None:
        try:
            read = await context.read()
        except grpc.aio.BaseError:
            self.put(_BROKE)
            return
        is_said = isinstance(read, bytes)  # else grpc.aio.EOF, which a call that broke has as well
        if not is_said and context.cancelled():
            self.put(_BROKE)
            return
        self._bridge.into_trio(self._deliver, read if isinstance(read, bytes) else None)

    async def _write(self, reply: bytes, context: Context) -> None:
        try:
            await context.write(reply)
        except grpc.aio.BaseError:
            self.put(_BROKE)
        else:
            self._bridge.into_trio(self._deliver_written)


class _Post(NamedTuple):
    """A batch to be written, and when it was posted."""

    payload: bytes
    written: Written | None
    posted_at: float


def _bind(server: grpc.aio.Server, address: str, *, tls: Tls | None = None) -> int:
    """The port that is bound; raises OSError."""
    try:
        if tls is None:
            return server.add_insecure_port(address)
        credentials = grpc.ssl_server_credentials(
            [(tls.key, tls.certificate)],
            root_certificates=tls.client_ca,
            require_client_auth=tls.client_ca is not None,
        )
        return server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise OSError(
            f"cannot listen at {address}: is it in use, or not an address of this machine?"
        ) from error


def _network_server(
    handlers: Sequence[grpc.GenericRpcHandler], limits: Limits, services: Services | None
) -> grpc.aio.Server:
    """A server that strangers reach; the reasons for each number are beside it in the limits."""
    calls = limits.streams + limits.probes + SPARE_CALLS
    longest = MAX_MESSAGE_BYTES
    if services is not None:
        calls += services.limits.calls + (services.limits.lasting if services.lasting else 0)
        # There is one bound for a whole server: a bot's batch beyond its own is read, and refused.
        longest = max(longest, services.limits.message_bytes)
    options = (
        *_OPTIONS,
        (_LONGEST_MESSAGE, longest),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.max_concurrent_streams", limits.streams_a_connection),
        ("grpc.server_handshake_timeout_ms", _milliseconds(limits.handshake_seconds)),
        ("grpc.max_connection_idle_ms", _milliseconds(limits.idle_seconds)),
        ("grpc.keepalive_time_ms", _milliseconds(limits.keepalive_seconds)),
        ("grpc.keepalive_timeout_ms", _milliseconds(limits.keepalive_timeout_seconds)),
        # Without this one a ping that is not answered is waited for for a minute all the same.
        ("grpc.http2.ping_timeout_ms", _milliseconds(limits.keepalive_timeout_seconds)),
        ("grpc.keepalive_permit_without_calls", 1),
        (
            "grpc.http2.min_ping_interval_without_data_ms",
            _milliseconds(limits.least_ping_seconds),
        ),
        # Above the soft limit gRPC refuses some calls by chance; one limit for both is clear.
        ("grpc.max_metadata_size", limits.metadata_bytes),
        ("grpc.absolute_max_metadata_size", limits.metadata_bytes),
    )
    return grpc.aio.server(handlers=handlers, options=options, maximum_concurrent_rpcs=calls)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _cost(received: Received) -> int:
    return len(received.payload) + MESSAGE_COST


def _text_in(metadata: Iterable[tuple[str, str | bytes]], name: str) -> str:
    for key, value in metadata:
        if key == name and isinstance(value, str):
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
