"""The floor's carrier: a :class:`~arena.referee.connection.Connection` over a socket pair, with
nothing between it and trio.
"""

import time
from collections.abc import Sequence

import trio

from arena.referee.connection import Close, Received, Written
from benchmarks.bots import HEADER

CHUNK_BYTES = 1 << 20


class PairConnection:
    """One bot's stream. :meth:`run` moves the bytes, in two tasks."""

    def __init__(self, stream: trio.SocketStream, *, ticket: str) -> None:
        self.ticket = ticket
        self.resume_token = ""
        self._stream = stream
        self._received: list[Received] = []
        self._arrived = trio.lowlevel.ParkingLot()
        self._outgoing: list[tuple[bytes, Written | None]] = []
        self._posted = trio.lowlevel.ParkingLot()
        self._is_ended = False
        self._is_over = False

    async def run(self) -> None:
        async with self._stream, trio.open_nursery() as nursery:
            nursery.start_soon(self._write)
            await self._read()

    # -- as the referee sees it

    async def receive(self) -> Sequence[Received]:
        while not self._received and not self._is_over:
            await self._arrived.park()
        return self.received()

    def received(self) -> Sequence[Received]:
        received, self._received = self._received, []
        return received

    def post(self, payload: bytes, written: Written | None = None) -> None:
        self._outgoing.append((payload, written))
        self._posted.unpark_all()

    def end(self, close: Close = Close.DONE) -> None:
        self._is_ended = self._is_over = True
        self._posted.unpark_all()
        self._arrived.unpark_all()

    async def settle(self) -> None:
        await trio.lowlevel.checkpoint()

    # -- the bytes

    async def _read(self) -> None:
        unread = b""
        while chunk := await self._stream.receive_some(CHUNK_BYTES):
            at = time.monotonic()
            unread += chunk
            start = 0
            while len(unread) - start >= HEADER.size:
                end = start + HEADER.size + HEADER.unpack_from(unread, start)[0]
                if end > len(unread):
                    break
                self._received.append(Received(unread[start + HEADER.size : end], at))
                start = end
            unread = unread[start:]
            self._arrived.unpark_all()
        self._is_over = True
        self._arrived.unpark_all()

    async def _write(self) -> None:
        while True:
            while not self._outgoing:
                if self._is_ended:
                    await self._stream.send_eof()
                    return
                await self._posted.park()
            outgoing, self._outgoing = self._outgoing, []
            for payload, written in outgoing:
                began_at = time.monotonic()
                await self._stream.send_all(HEADER.pack(len(payload)) + payload)
                if written is not None:
                    written(began_at, time.monotonic())
