"""The permutation test once more with real gRPC in between: what a raw client reads (rulebook 6).

The clock by which the bridge stamps stands still, since what a seat is told of its own time is as
lawful as it is never twice the same. On a virtual clock, and at every table, this is tested in
`tests/arena/referee/test_hidden_information.py`.
"""

import queue
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import assert_never

import grpc
import pytest
import trio

from arena.referee.bridge import serve
from arena.referee.host import Host, open_host
from arena.referee.lobby import open_lobby
from arena.referee.session import Session
from arena.referee.table import Policy, Table
from hokm.actions import PLAYS, Action
from hokm.cards import Seat, cards_in
from hokm.events import PacketDealt
from hokm.outcome import Ending
from hokm.records import verify
from hokm.rules.options import Play, Rules
from hokm.session import PROTOCOL, Answer, Decision, FromBot, GameEnd, Hello, Refused
from hokm.wire import (
    PLAY_METHOD,
    RESUME_METADATA,
    TICKET_METADATA,
    decode_from_referee,
    encode_from_bot,
)
from tests.arena.referee.moments import Moment, moments, name_of
from tests.arena.referee.virtual import CLOCK
from tests.hokm.permute import other_story
from tests.system.processes import GOOD, Notes, plan, runner, write_bot

pytestmark = pytest.mark.timeout(120)

NUMBER = 3


class RawBot:
    """A bot's end of a stream, without the SDK; it keeps the bytes it reads."""

    def __init__(self, channel: grpc.Channel, *, metadata: str, secret: str) -> None:
        self.read: list[bytes] = []
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        method: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(PLAY_METHOD)
        requests = iter(self._requests.get, None)
        self.call = method(requests, metadata=((metadata, secret),))

    def say(self, *messages: FromBot) -> None:
        self._requests.put(encode_from_bot(messages))

    def hello(self) -> None:
        self.say(Hello(PROTOCOL, "raw", "raw", "1", 1, (NUMBER,)))

    async def batch(self) -> bytes | None:
        """The next batch, None when the stream is over."""
        payload: bytes | None = await trio.to_thread.run_sync(partial(next, self.call, None))
        if payload is not None:
            self.read.append(payload)
        return payload

    async def decision(self, number: int) -> Decision:
        """The decision of that number, as soon as it is read."""
        while (payload := await self.batch()) is not None:
            for message in decode_from_referee(payload):
                if isinstance(message, Decision) and message.decision == number:
                    return message
        raise AssertionError("the stream was ended")

    async def tries(self, decision: int, action: Action, *, times: int) -> None:
        """Send what is refused, one after the other."""
        for attempt in range(1, times + 1):
            self.say(Answer(NUMBER, decision, attempt, action))
            payload = await self.batch()
            assert payload is not None
            assert isinstance(decode_from_referee(payload)[0], Refused)

    async def game_end(self) -> GameEnd:
        """The end of the game, as soon as it is read."""
        while (payload := await self.batch()) is not None:
            for message in decode_from_referee(payload):
                if isinstance(message, GameEnd):
                    return message
        raise AssertionError("the stream was ended")

    async def read_all(self) -> None:
        self._requests.put(None)
        while await self.batch() is not None:
            pass

    def leave(self) -> None:
        self.call.cancel()
        self._requests.put(None)


@dataclass
class Room:
    """Who sits at a table that is played over gRPC."""

    sessions: list[Session]
    bots: list[RawBot]
    come: Callable[[str, str], RawBot]

    async def come_back(self, seat: Seat) -> None:
        """That bot comes again on another stream, and is told of its games."""
        old = self.bots[seat]
        new = self.come(RESUME_METADATA, self.sessions[seat].resume_tokens[0])
        new.read = old.read
        new.hello()
        await new.batch()
        old.leave()
        self.bots[seat] = new


@contextmanager
def standing_still() -> Iterator[None]:
    """No time passes at the bridge, and secrets are the same in every run."""
    numbers = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.referee.bridge.time", SimpleNamespace(monotonic=lambda: 1000.0))
        patch.setattr("secrets.token_urlsafe", lambda _: f"token-{next(numbers)}")
        yield


@asynccontextmanager
async def a_room(table: Table, *, resume_seconds: float) -> AsyncIterator[tuple[Host, Room]]:
    """A game that has begun."""
    seats = range(table.game.variant.seats)
    with standing_still(), ExitStack() as streams:
        async with (
            serve("127.0.0.1:0") as bridge,
            open_lobby(bridge.arrivals) as lobby,
            open_host(now=bridge.now) as host,
            trio.open_nursery() as nursery,
        ):

            def come(metadata: str, secret: str) -> RawBot:
                options = [("grpc.enable_http_proxy", 0)]
                channel = grpc.insecure_channel(bridge.address, options=options)
                bot = RawBot(streams.enter_context(channel), metadata=metadata, secret=secret)
                streams.callback(bot.leave)
                return bot

            tickets = [lobby.issue(resume_seconds=resume_seconds) for _ in seats]
            bots = [come(TICKET_METADATA, ticket) for ticket in tickets]
            for bot in bots:
                bot.hello()
            sessions = []
            for ticket, bot in zip(tickets, bots, strict=True):
                sessions.append(await lobby.arrival(ticket))
                await bot.batch()  # the welcome
            names = tuple("abcd"[: len(bots)])
            nursery.start_soon(partial(host.play, table, sessions, match="m", players=names))
            room = Room(sessions, bots, come)
            yield host, room
            for bot in room.bots:
                bot.leave()
            nursery.cancel_scope.cancel()


class End(Enum):
    """What befalls the game at its moment."""

    REFUSALS = auto()
    CRASH = auto()
    SNAPSHOT = auto()


async def read_at(moment: Moment, end: End) -> list[bytes]:
    """What the observer of a moment reads, from its welcome to the end of its stream."""
    table = Table(moment.game(), number=NUMBER, clock=CLOCK, policy=Policy.CASUAL)
    observer = moment.observer
    other = Seat((observer + 1) % table.game.variant.seats)
    resume_seconds = 10.0 if end is End.SNAPSHOT else 0.0
    async with a_room(table, resume_seconds=resume_seconds) as (host, room):
        asked = [0] * len(room.bots)
        for seat, action in moment.steps():
            asked[seat] += 1
            decision = await room.bots[seat].decision(asked[seat])
            room.bots[seat].say(Answer(NUMBER, decision.decision, 1, action))
        deal, _ = moment.story.replay()
        assert deal.to_act is not None
        await room.bots[deal.to_act].decision(asked[deal.to_act] + 1)
        # The observer cannot play it out of turn, and another does not have it.
        card = cards_in(deal.hands[observer])[0]
        await room.bots[observer].tries(asked[observer] + 2, PLAYS[card], times=2)
        match end:
            case End.REFUSALS:
                await room.bots[other].tries(asked[other] + 2, PLAYS[card], times=3)
            case End.CRASH:
                room.bots[other].leave()
            case End.SNAPSHOT:
                await room.come_back(observer)
                host.stop("the test is over")
            case _:
                assert_never(end)
        await room.bots[observer].game_end()
        room.sessions[observer].end()
        await room.bots[observer].read_all()
    return room.bots[observer].read


def a_moment(rules: Rules, seed: int) -> Moment:
    """In the middle of the tricks of a hand, with cards that could be otherwise."""
    tricks = [one for one in moments(rules, seed, stride=1, hands=1) if one.phase == "Tricks"]
    return tricks[len(tricks) // 2]


RULES = [
    Rules.of(4),
    Rules.of(3),
    Rules.of(2),
    Rules.of(4, play=Play.RACE, options={"cut": "on", "teams": "second_ace"}),
]


@pytest.mark.rule("6")
@pytest.mark.parametrize("end", End)
@pytest.mark.parametrize("rules", RULES, ids=name_of)
async def test_what_a_seat_cannot_see_changes_no_byte_that_it_reads(rules: Rules, end: End) -> None:
    moment = a_moment(rules, seed=3)
    other = replace(moment, story=other_story(moment.story, moment.observer, random.Random(3)))
    assert other != moment
    read = await read_at(moment, end)
    assert len(read) > 4
    assert read == await read_at(other, end)


async def test_a_deal_that_is_shown_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PacketDealt, "seen_by", lambda event, _: event)
    moment = a_moment(Rules.of(4), seed=3)
    other = replace(moment, story=other_story(moment.story, moment.observer, random.Random(3)))
    assert await read_at(moment, End.CRASH) != await read_at(other, End.CRASH)


# -- and a tick in real time


async def test_a_match_with_a_tick_takes_that_long_for_each_decision(tmp_path: Path) -> None:
    bots = [write_bot(tmp_path / name, GOOD) for name in ("one", "two")]
    began = time.monotonic()
    async with runner(tmp_path) as running:
        match = replace(plan(*bots, players=4, length=1), tick_seconds=0.05)
        record = await running.play(match, watcher=Notes())
    took = time.monotonic() - began
    assert verify(record) == ()
    games = [game for room in record.rooms for game in room.games]
    assert [game.outcome.ending for game in games if game.outcome] == [Ending.COMPLETED] * 2
    for game in games:
        [charged] = game.seconds
        assert len(charged) > 28
        assert took > len(charged) * 0.05
        assert sum(charged) < took / 2  # nobody is charged for the ticks
