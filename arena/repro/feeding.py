"""A bot's process, told again what it was told in a recorded match.

It is a real process behind the real launcher and bridge, and the messages are those of
:mod:`arena.repro.retelling`. A process that ends where the record has its end too is started again
for the next game, as in a match. What is found is for others to show.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import trio

from arena.conformance.talk import (
    HELLO_SECONDS,
    Start,
    Talk,
    launched,
    open_bench,
    open_talk,
    refusal,
)
from arena.conformance.unmet import Unmet
from arena.ladder.bots.entrants import Entrant
from arena.repro.retelling import DEATH, SILENCE, Difference, Retelling, seat_of
from hokm.errors import Reason
from hokm.records import GameRecord, MatchRecord, RoomRecord
from hokm.records.replays import seeds_by_game
from hokm.session import Answer, FromReferee, Goodbye, Hello, MatchEnd, MatchStart

LOSS_SECONDS = 2.0
"""How long is waited for a bot to leave where it left on record while it was not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is to be told again to whom: these games of a room, to the process at that ``slot``.

    Args:
        slot: its seat in the room's odd games.
        until_hand: the last hand of a game that is told; None for all.
        answer_seconds: how long an answer may take.
        is_paced: whether it is told as late as it was then.
        stops_at_first: whether to stop at the first difference.
        start: starts its processes.
        is_watched: whether somebody is at the terminal of its process, for whom nothing ends by
            itself.
        all_told: called when no more is to be told to a process that is still there.
    """

    record: MatchRecord
    room: RoomRecord
    games: Sequence[GameRecord]
    slot: int
    entrant: Entrant
    python: str
    running: Path
    logs: Path
    answer_seconds: float
    until_hand: int | None = None
    is_paced: bool = False
    stops_at_first: bool = False
    hello_seconds: float = HELLO_SECONDS
    start: Start = launched
    is_watched: bool = False
    all_told: Callable[[], None] = lambda: None


@dataclass(slots=True)
class Found:
    """What came of it.

    Attributes:
        games: those that were told, by number, as far as it went.
        compared: decisions of the bot that were compared.
        differences: what it did otherwise, in order.
        problem: why no more could be told; empty if all was.
        log: the end of what the process printed that was lost last, if one was.
    """

    games: list[int] = field(default_factory=list)
    compared: int = 0
    differences: list[Difference] = field(default_factory=list)
    problem: str = ""
    log: str = ""


async def feed(ask: Ask, *, tell: Callable[[Difference], None]) -> Found:
    """Tell it all again, and each difference to ``tell`` when it is found.

    Raises ReplayError where the record leaves the rules, LaunchError where the bot does not start.
    """
    found = Found()
    left = list(ask.games)
    async with open_bench(
        ask.entrant,
        python=ask.python,
        running=ask.running,
        logs=ask.logs,
        sandbox=None,
        start=ask.start,
    ) as bench:
        while left and not _is_enough(ask, found):
            async with open_talk(bench) as talk:
                await _Session(ask, talk, found, tell).play(left)
            if found.problem:
                break
    return found


def _is_enough(ask: Ask, found: Found) -> bool:
    return ask.stops_at_first and bool(found.differences)


class _Lost(Exception):
    """The process is gone, or will be ended."""


class _Session:
    """One process, from its start to its end."""

    def __init__(
        self, ask: Ask, talk: Talk, found: Found, tell: Callable[[Difference], None]
    ) -> None:
        self._ask = ask
        self._talk = talk
        self._found = found
        self._tell = tell
        self._seeds = seeds_by_game(ask.record)

    async def play(self, left: list[GameRecord]) -> None:
        """Play the games that are left, as long as the process is there; takes them from those."""
        ask, talk, record = self._ask, self._talk, self._ask.record
        try:
            await talk.arrive(within=ask.hello_seconds)
        except Unmet as unmet:
            self._found.problem = f"{ask.entrant.name} did not start: {unmet.what}"
            self._found.log = talk.log_tail
            return
        arena = f"hokm-arena {record.circumstances.arena}"
        talk.say(replace(talk.welcome(), arena=arena))
        talk.say(MatchStart(record.match, record.rules, record.games, record.clock))
        try:
            while left and not _is_enough(ask, self._found):
                await self._play_game(left.pop(0))
        except _Lost:
            await talk.end()  # and then all that it printed is there
            self._found.log = talk.log_tail
            return
        if not _is_enough(ask, self._found):
            await self._see_off()

    async def _see_off(self) -> None:
        """Say goodbye; how it leaves was not recorded."""
        self._ask.all_told()
        end = MatchEnd(self._ask.record.match)
        with suppress(Unmet):
            if self._ask.is_watched:
                await self._talk.farewell(end, half_seconds=math.inf, exit_seconds=math.inf)
            else:
                await self._talk.farewell(end)

    async def _play_game(self, game: GameRecord) -> None:
        ask = self._ask
        retelling = Retelling(
            ask.record,
            ask.room,
            game,
            seat=seat_of(ask.room, game, slot=ask.slot),
            seeds=self._seeds,
            until_hand=ask.until_hand,
        )
        try:
            await self._play_on(game, retelling)
        finally:
            self._found.compared += retelling.compared
            self._found.games.append(game.number)
            self._show(retelling)

    async def _play_on(self, game: GameRecord, retelling: Retelling) -> None:
        messages: Sequence[FromReferee] = retelling.start()
        while True:
            if self._ask.is_paced:
                await trio.sleep(retelling.pause_seconds)
            if messages:
                self._talk.say(*messages)
            self._show(retelling)
            if retelling.is_over or _is_enough(self._ask, self._found):
                return
            if retelling.ends_meanwhile:
                self._talk.let_cross(game.number)
                messages = retelling.finish()
            elif retelling.awaits_loss:
                await self._hear(retelling, LOSS_SECONDS)
                messages = retelling.finish()
            else:
                message = await self._hear(retelling, self._ask.answer_seconds)
                if message is None:
                    what = f"no answer within {self._ask.answer_seconds:g} s"
                    raise self._lost(retelling, what, is_silent=True)
                messages = self._answered(message, game, retelling)

    async def _hear(self, retelling: Retelling, seconds: float) -> Answer | Goodbye | Hello | None:
        try:
            return await self._talk.hear_any(seconds, expected="an answer")
        except Unmet as unmet:
            raise self._lost(retelling, unmet.what) from None

    def _answered(
        self, message: Answer | Goodbye | Hello, game: GameRecord, retelling: Retelling
    ) -> Sequence[FromReferee]:
        if isinstance(message, Answer) and message.game == game.number:
            return retelling.take(message)
        if isinstance(message, Answer) and message.game in self._found.games:
            return [refusal(message, Reason.MATCH_OVER, "this game is over")]
        match message:
            case Answer(number):
                what = f"it answered in game {number}, which is not on"
            case Goodbye():
                what = "it said goodbye and left"
            case _:
                what = "it said hello a second time"
        raise self._lost(retelling, what)

    def _lost(self, retelling: Retelling, what: str, *, is_silent: bool = False) -> _Lost:
        """Say that the bot is lost; what to raise."""
        messages = retelling.lost(what, endings=SILENCE if is_silent else DEATH)
        if messages:
            self._talk.say(*messages)
        return _Lost()

    def _show(self, retelling: Retelling) -> None:
        """Tell of what was found since."""
        new, retelling.differences = retelling.differences, []
        self._found.differences += new
        for difference in new:
            self._tell(difference)
