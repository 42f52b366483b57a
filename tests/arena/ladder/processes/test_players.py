"""A player whose process is a double, in virtual time."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from arena.ladder.bots.entrants import Entrant
from arena.ladder.processes import players
from arena.ladder.processes.launcher import LaunchError
from arena.ladder.processes.players import LAST_WORDS_SECONDS, House, Player
from hokm.cards import Seat

HELLO_SECONDS = 3.0
VARIABLES = {"HOKM_PARAMETERS": '{"depth": 3}'}
"""What the bot finds in its environment on its own account."""


class Process:
    """A process that takes its time to end once it is to."""

    pid = 1
    cpu_seconds = 0.0
    is_overdue = False
    is_out_of_memory = False

    def __init__(self, *, dying_seconds: float) -> None:
        self._dying_seconds = dying_seconds
        self._is_gone = trio.Event()
        self.returncode: int | None = None

    async def wait(self) -> int | None:
        await self._is_gone.wait()
        return self.returncode

    def exit(self, code: int) -> None:
        self.returncode = code
        self._is_gone.set()

    async def end(self) -> int | None:
        if self.returncode is None:
            await trio.sleep(self._dying_seconds)
            self.exit(-15)
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

    def launch(*_: object, environment: dict[str, str], **__: object) -> Process:
        assert environment == VARIABLES
        found = next(processes)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(players, "launch", launch)
    entrant = SimpleNamespace(name="late", home=Path(), argv=lambda python: [python])
    entrant.variables = VARIABLES
    house = SimpleNamespace(
        lobby=Lobby(),
        address="",
        python="python",
        running=Path(),
        prefix=(),
        sandbox=None,
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


@pytest.mark.parametrize(
    ("code", "says"), [(None, "then ended by the arena"), (3, "exit code 3"), (-9, "signal 9")]
)
async def test_a_bot_that_the_arena_ended_is_told_from_one_that_ended_itself(
    code: int | None,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    autojump_clock: trio.testing.MockClock,
) -> None:
    process = Process(dying_seconds=0.5)
    player = player_with(monkeypatch, process)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(started, player)
        await trio.testing.wait_all_tasks_blocked()
        if code is not None:
            process.exit(code)
    await player.end()
    assert says in player.how_it_ended
