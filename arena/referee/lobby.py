"""The lobby: where a bot's stream becomes a session in a seat.

A seat is taken with a ticket, valid once; whoever comes with another is turned away and told
nothing. A stream with a good ticket says hello and is welcomed; from then on it is a
:class:`~arena.referee.session.Session`. A bot whose stream broke, and may come back, presents the
token of its last welcome instead, and its session goes on. The lobby knows tickets, tokens and the
hello. It does not know what gRPC is, what is played, or how long to wait for an arrival, which is
for whoever asks for one.
"""

import hmac
import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import trio

import arena
from arena.referee.connection import Close, Connection, Received
from arena.referee.session import Session, messages_in
from hokm.session import PROTOCOL, Goodbye, Hello, ProtocolRefused, Welcome
from hokm.wire import REASON_LENGTH, WireError, encode_from_referee

T = TypeVar("T")

TICKET_BYTES = 32
"""Random bytes in a ticket and in a resume token: 256 bits."""

HELLO_AGAIN_SECONDS = 10.0
"""How long a stream with a good token may take to say hello, before it is cut."""


class ArrivalFailed(Exception):
    """A ticket was presented, but no session came of it; the text says why, for its owner."""


@asynccontextmanager
async def open_lobby(arrivals: trio.abc.ReceiveChannel[Connection]) -> AsyncIterator["Lobby"]:
    """A lobby that takes connections from ``arrivals`` for as long as it is open."""
    async with trio.open_nursery() as nursery:
        lobby = Lobby(nursery)
        nursery.start_soon(lobby.receive_arrivals, arrivals)
        nursery.start_soon(lobby.post_batches)
        yield lobby
        nursery.cancel_scope.cancel()


class Lobby:
    """Tickets and arrivals; made by :func:`open_lobby`."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._seats: dict[str, _Seat] = {}
        self._resumable: list[Session] = []
        self._to_post: list[Session] = []
        self._something_to_post = trio.lowlevel.ParkingLot()

    # -- tickets

    def issue(self, *, resume_seconds: float = 0.0) -> str:
        """A new ticket for one seat. A secret: it belongs in the environment of one bot, and in no
        log. Who takes the seat may be away for so long when its stream breaks.
        """
        ticket = _new_secret()
        self._seats[ticket] = _Seat(resume_seconds)
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
            session = await self._greet(seat.connection, resume_seconds=seat.resume_seconds)
        except BaseException:
            self.withdraw(ticket)
            raise
        del self._seats[ticket]
        return session

    # -- the lobby's two tasks

    async def receive_arrivals(self, arrivals: trio.abc.ReceiveChannel[Connection]) -> None:
        """Lead each connection to the seat its ticket names, or out."""
        async for connection in arrivals:
            if connection.resume_token:
                self._nursery.start_soon(self._resume, connection)
                continue
            seat = self._seat_of(connection.ticket)
            if seat is None or seat.connection is not None:
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
        return _named(presented, self._seats.items())

    async def _greet(self, connection: Connection, *, resume_seconds: float) -> Session:
        hello = await _hello_on(connection)
        session = Session(connection, hello, ready=self._ready, resume_seconds=resume_seconds)
        session.welcome(_welcome(resume_seconds))
        if resume_seconds:
            self._resumable.append(session)
        return session

    async def _resume(self, connection: Connection) -> None:
        """Let a bot go on where its stream broke, if it may."""
        if self._session_of(connection.resume_token) is None:
            connection.end(Close.NO_SEAT)
            return
        try:
            with trio.fail_after(HELLO_AGAIN_SECONDS):
                hello = await _hello_on(connection)
        except (ArrivalFailed, trio.TooSlowError):
            connection.end(Close.NO_SEAT)
            return
        # Its session may have ended meanwhile, or been resumed by another stream.
        session = self._session_of(connection.resume_token)
        if session is None:
            connection.end(Close.NO_SEAT)
        else:
            session.resume(connection, hello, _welcome(session.resume_seconds))

    def _session_of(self, presented: str) -> Session | None:
        self._resumable = [session for session in self._resumable if session.closed is None]
        tokens = [(token, one) for one in self._resumable for token in one.resume_tokens]
        return _named(presented, tokens)

    def _ready(self, session: Session) -> None:
        self._to_post.append(session)
        self._something_to_post.unpark_all()


def _new_secret() -> str:
    return secrets.token_urlsafe(TICKET_BYTES)


def _named(presented: str, secrets_: Iterable[tuple[str, T]]) -> T | None:
    """What the presented secret names, in a time that says nothing about the others there are."""
    found = None
    for secret, named in secrets_:
        if hmac.compare_digest(secret.encode(), presented.encode()):
            found = named
    return found


def _welcome(resume_seconds: float) -> Welcome:
    return Welcome(PROTOCOL, f"hokm-arena {arena.__version__}", _new_secret(), resume_seconds)


async def _hello_on(connection: Connection) -> Hello:
    """The hello of a stream; one that says something else is told so and ended."""
    try:
        hello = _hello_in(await connection.receive())
    except ArrivalFailed as failure:
        connection.post(encode_from_referee([Goodbye(str(failure)[:REASON_LENGTH])]))
        connection.end(Close.MALFORMED)
        raise
    if hello.protocol != PROTOCOL:
        connection.post(encode_from_referee([ProtocolRefused(PROTOCOL, PROTOCOL), Goodbye()]))
        connection.end()
        raise ArrivalFailed(
            f"it speaks protocol {hello.protocol} and protocol {PROTOCOL} is spoken here: "
            "use a library of that protocol"
        )
    return hello


def _hello_in(received: Sequence[Received]) -> Hello:
    if not received:
        raise ArrivalFailed("it connected and went away without a hello")
    try:
        messages = [one for payload, _ in received for one in messages_in(payload)]
    except WireError as error:
        raise ArrivalFailed(f"its first message is no hello: {error}") from error
    match messages:
        case [Hello() as hello]:
            return hello
        case _:
            names = ", ".join(type(message).__name__ for message in messages[:5]) or "nothing"
            raise ArrivalFailed(f"it began with {names}: say one Hello and wait for the Welcome")


class _Seat:
    """One that a ticket is out for."""

    __slots__ = ("connection", "resume_seconds", "taken")

    def __init__(self, resume_seconds: float) -> None:
        self.connection: Connection | None = None
        self.resume_seconds = resume_seconds
        self.taken = trio.Event()
