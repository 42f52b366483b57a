"""A player whose process is a double, in virtual time."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from arena.ladder import players
from arena.ladder.entrants import Entrant
from arena.ladder.launcher import LaunchError
from arena.ladder.players import LAST_WORDS_SECONDS, House, Player
from hokm.cards import Seat

HELLO_SECONDS = 3.0


class Process:
    """A process that takes its time to end once it is to."""

    pid = 1
    returncode = -9
    cpu_seconds = 0.0

    def __init__(self, *, dying_seconds: float) -> None:
        self._dying_seconds = dying_seconds
        self._is_gone = trio.Event()

    async def wait(self) -> int:
        await self._is_gone.wait()
        return self.returncode

    async def end(self) -> int:
        await trio.sleep(self._dying_seconds)
        self._is_gone.set()
        return self.returncode


class Lobby:
    """Nobody ever arrives."""

    def issue(self, **_: object) -> str:
        return "a ticket"

    def withdraw(self, ticket: str) -> None: ...

    async def arrival(self, ticket: str) -> None:
        await trio.sleep_forever()


def player_with(monkeypatch: pytest.MonkeyPatch, *launched: Process | Exception) -> Player:
    """A player whose starts launch these, one after the other."""
    processes = iter(launched)

    def launch(*_: object, **__: object) -> Process:
        found = next(processes)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(players, "launch", launch)
    entrant = SimpleNamespace(name="late", folder=Path(), argv=lambda python: [python])
    house = SimpleNamespace(
        lobby=Lobby(),
        address="",
        python="python",
        running=Path(),
        prefix=(),
        hello_seconds=HELLO_SECONDS,
        now=trio.current_time,
    )
    options: dict[str, Any] = {"index": 0, "room": 1, "slot": Seat(0), "logs": Path()}
    return Player(cast(House, house), cast(Entrant, entrant), **options)


async def started(player: Player) -> bool:
    async with trio.open_nursery() as nursery:
        return await player.start(nursery)


async def test_nobody_waits_for_the_end_of_a_bot_that_did_not_start(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    player = player_with(monkeypatch, Process(dying_seconds=60.0))
    began = trio.current_time()
    assert not await started(player)
    assert trio.current_time() - began <= HELLO_SECONDS + LAST_WORDS_SECONDS
    assert player.ended == []
    await player.end()
    assert len(player.ended) == 1


async def test_a_bot_is_gone_before_it_is_started_again_and_each_start_is_recorded_once(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    slow, quick = Process(dying_seconds=60.0), Process(dying_seconds=0.0)
    player = player_with(monkeypatch, slow, LaunchError("no such program"), quick)
    assert not await started(player)
    assert not await started(player)
    assert len(player.ended) == 1
    assert not await started(player)
    await player.end()
    await player.end()
    assert len(player.ended) == 2
