"""The lobby: where a bot's stream becomes a session in a seat.

A seat is taken with a ticket, valid once; whoever comes with another is turned away and told
nothing. A stream with a good ticket says hello and is welcomed; from then on it is a
:class:`~arena.referee.session.Session`. The lobby knows tickets and the hello. It does not know
what gRPC is, what is played, or how long to wait, which is for whoever asks for an arrival.
"""

import hmac
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import trio

import arena
from arena.referee.connection import Close, Connection, Received
from arena.referee.session import Session
from hokm.session import PROTOCOL, Goodbye, Hello, ProtocolRefused, Welcome
from hokm.wire import REASON_LENGTH, WireError, decode_from_bot, encode_from_referee

TICKET_BYTES = 32
"""Random bytes in a ticket and in a resume token: 256 bits."""

_log = logging.getLogger(__name__)


class ArrivalFailed(Exception):
    """A ticket was presented, but no session came of it; the text says why, for its owner."""


@asynccontextmanager
async def open_lobby(arrivals: trio.abc.ReceiveChannel[Connection]) -> AsyncIterator["Lobby"]:
    """A lobby that takes connections from ``arrivals`` for as long as it is open."""
    async with trio.open_nursery() as nursery:
        lobby = Lobby()
        nursery.start_soon(lobby.receive_arrivals, arrivals)
        nursery.start_soon(lobby.post_batches)
        yield lobby
        nursery.cancel_scope.cancel()


class Lobby:
    """Tickets and arrivals; made by :func:`open_lobby`."""

    def __init__(self) -> None:
        self._seats: dict[str, _Seat] = {}
        self._to_post: list[Session] = []
        self._something_to_post = trio.lowlevel.ParkingLot()

    # -- tickets

    def issue(self) -> str:
        """A new ticket for one seat. A secret: it belongs in the environment of one bot, and in no
        log.
        """
        ticket = secrets.token_urlsafe(TICKET_BYTES)
        self._seats[ticket] = _Seat()
        return ticket

    def withdraw(self, ticket: str) -> None:
        """Make a ticket worthless, used or not; whoever came with it and has said no hello yet is
        turned away.
        """
        seat = self._seats.pop(ticket, None)
        if seat is not None and seat.connection is not None:
            seat.connection.end(Close.NO_SEAT)

    async def arrival(self, ticket: str) -> Session:
        """Wait until the bot with this ticket has come and said hello; welcome it.

        The caller sets the deadline. When it passes, or anything else goes wrong, the ticket is
        withdrawn. Raises :class:`ArrivalFailed` when the bot came and left, or spoke out of turn.
        """
        seat = self._seats.get(ticket)
        if seat is None:
            raise ValueError("this ticket was not issued here, was withdrawn, or has been used")
        try:
            await seat.taken.wait()
            assert seat.connection is not None
            session = await self._greet(seat.connection)
        except BaseException:
            self.withdraw(ticket)
            raise
        del self._seats[ticket]
        return session

    # -- the lobby's two tasks

    async def receive_arrivals(self, arrivals: trio.abc.ReceiveChannel[Connection]) -> None:
        """Lead each connection to the seat its ticket names, or out."""
        async for connection in arrivals:
            seat = self._seat_of(connection.ticket)
            if seat is None or seat.connection is not None:
                _log.info("turned away a stream without a valid ticket")
                connection.end(Close.NO_SEAT)
            else:
                seat.connection = connection
                seat.taken.set()

    async def post_batches(self) -> None:
        """Post what there is for each session, once every tick of the scheduler at most: whatever
        the tasks that ran before this one had to say to a bot goes out as one.
        """
        while True:
            if not self._to_post:
                await self._something_to_post.park()
            sessions, self._to_post = self._to_post, []
            for session in sessions:
                session.post()

    def _seat_of(self, presented: str) -> "_Seat | None":
        """The seat of a ticket, in a time that says nothing about the tickets there are."""
        found = None
        for ticket, seat in self._seats.items():
            if hmac.compare_digest(ticket.encode(), presented.encode()):
                found = seat
        return found

    async def _greet(self, connection: Connection) -> Session:
        try:
            hello = _hello_in(await connection.receive())
        except ArrivalFailed as failure:
            reason = str(failure)[:REASON_LENGTH]
            connection.post(encode_from_referee([Goodbye(reason)]))
            connection.end(Close.MALFORMED)
            raise
        session = Session(connection, hello, ready=self._ready)
        if hello.protocol != PROTOCOL:
            session.tell(ProtocolRefused(PROTOCOL, PROTOCOL))
            session.end()
            raise ArrivalFailed(
                f"it speaks protocol {hello.protocol} and protocol {PROTOCOL} is spoken here: "
                "use a library of that protocol"
            )
        # Nothing is done with the token yet: a stream that breaks is a crash.
        token = secrets.token_urlsafe(TICKET_BYTES)
        session.tell(Welcome(PROTOCOL, f"hokm-arena {arena.__version__}", token))
        return session

    def _ready(self, session: Session) -> None:
        self._to_post.append(session)
        self._something_to_post.unpark_all()


def _hello_in(received: Sequence[Received]) -> Hello:
    if not received:
        raise ArrivalFailed("it connected and went away without a hello")
    try:
        messages = [one for payload, _ in received for one in decode_from_bot(payload)]
    except WireError as error:
        raise ArrivalFailed(f"its first message is no hello: {error}") from error
    match messages:
        case [Hello() as hello]:
            return hello
        case _:
            names = ", ".join(type(message).__name__ for message in messages) or "nothing"
            raise ArrivalFailed(f"it began with {names}: say one Hello and wait for the Welcome")


class _Seat:
    """One that a ticket is out for."""

    __slots__ = ("connection", "taken")

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.taken = trio.Event()
