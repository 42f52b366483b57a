"""Doubles for tests of what stands above the bridge: streams in memory, with a bot at the far end.

They behave as the bridge does (order, ends, stamps), but for the threads and the wire's limits:
messages are encoded and decoded like any others. Time is trio's, so it can be virtual.
"""

from collections.abc import Callable, Sequence

import trio

from arena.referee.connection import Close, Received, Written
from hokm.session import (
    PROTOCOL,
    Answer,
    Decision,
    FromBot,
    FromReferee,
    GameEnd,
    Goodbye,
    Hello,
)
from hokm.wire import decode_from_referee, encode_from_bot


class MemoryConnection:
    """A stream in memory: a :class:`~arena.referee.connection.Connection`, and the bot's end of it.

    The bot's side is :meth:`say`, :meth:`say_bytes`, :meth:`listen` and :meth:`hang_up`.
    """

    def __init__(self, ticket: str = "", *, resume_token: str = "", reads: bool = True) -> None:
        self.ticket = ticket
        self.resume_token = resume_token
        self.reads = reads
        """Whether the bot reads: if not, no write returns until it does (:meth:`read_on`)."""
        self.lags = False
        """Whether what is read lies in the bridge until somebody has it settle."""
        self.close: Close | None = None
        """How the arena ended the stream."""
        self.told: list[FromReferee] = []
        """Everything that was written, in order."""
        self.batches: list[tuple[FromReferee, ...]] = []
        """The same, as it was posted."""
        self._unwritten: list[tuple[bytes, Written | None]] = []
        self._in_bridge: list[Received] = []
        self._received: list[Received] = []
        self._is_over = False
        self._arrived = trio.lowlevel.ParkingLot()
        self._listened = 0
        self._written = trio.lowlevel.ParkingLot()

    # -- the arena's side

    async def receive(self) -> Sequence[Received]:
        """See :class:`~arena.referee.connection.Connection`."""
        while not self._received and not self._is_over:
            await self._arrived.park()
        return self.received()

    def received(self) -> Sequence[Received]:
        """See :class:`~arena.referee.connection.Connection`."""
        received, self._received = self._received, []
        return received

    def post(self, payload: bytes, written: Written | None = None) -> None:
        """See :class:`~arena.referee.connection.Connection`."""
        if self.close is not None:
            return
        if not self.reads:
            self._unwritten.append((payload, written))
            return
        batch = decode_from_referee(payload)
        self.batches.append(batch)
        self.told += batch
        self._written.unpark_all()
        if written is not None:
            written(trio.current_time(), trio.current_time())

    def end(self, close: Close = Close.DONE) -> None:
        """See :class:`~arena.referee.connection.Connection`."""
        if self.close is None:
            self.close = close
            self.hang_up()
            self._written.unpark_all()

    async def settle(self) -> None:
        """See :class:`~arena.referee.connection.Connection`."""
        await trio.lowlevel.checkpoint()
        self._deliver()

    # -- the bot's side

    def say(self, *messages: FromBot) -> None:
        """Send a batch."""
        self.say_bytes(encode_from_bot(messages))

    def say_bytes(self, payload: bytes) -> None:
        """Send bytes, whatever they are."""
        if not self._is_over:
            self._in_bridge.append(Received(payload, trio.current_time()))
            if not self.lags:
                self._deliver()

    def read_on(self) -> None:
        """Begin to read: what was posted is written."""
        self.reads = True
        unwritten, self._unwritten = self._unwritten, []
        for payload, written in unwritten:
            self.post(payload, written)

    def hello(
        self,
        name: str = "bot",
        *,
        concurrent: int = 1,
        protocol: int = PROTOCOL,
        games: tuple[int, ...] = (),
    ) -> None:
        """Say hello."""
        self.say(Hello(protocol, "hokm-sdk test", name, "1", concurrent, games))

    def hang_up(self) -> None:
        """End the stream."""
        self._is_over = True
        self._arrived.unpark_all()

    async def listen(self) -> FromReferee | None:
        """The next message; None once the arena has ended the stream and all is read."""
        while self._listened == len(self.told):
            if self.close is not None:
                return None
            await self._written.park()
        self._listened += 1
        return self.told[self._listened - 1]

    def _deliver(self) -> None:
        self._received += self._in_bridge
        self._in_bridge.clear()
        self._arrived.unpark_all()


Reply = Callable[[Decision], FromBot | None]
"""What a bot says to a decision; None for nothing."""


def first_legal(decision: Decision) -> Answer:
    """The first action that is legal."""
    return Answer(decision.game, decision.decision, 1, decision.legal[0])


async def answer_decisions(connection: MemoryConnection, reply: Reply = first_legal) -> None:
    """A bot: answer every decision, and say goodbye when the arena does."""
    while (message := await connection.listen()) is not None:
        match message:
            case Decision():
                answer = reply(message)
                if answer is not None:
                    connection.say(answer)
            case Goodbye():
                connection.say(Goodbye())
            case _:
                pass


def endings(connection: MemoryConnection) -> list[GameEnd]:
    """Every game's end that a bot was told, in order."""
    return [message for message in connection.told if isinstance(message, GameEnd)]
