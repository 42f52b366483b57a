"""A real bot whose cable is cut again and again, and a match that goes on as if nothing were."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import trio

from arena.ladder.matches.runner import Runner
from hokm.outcome import Ending
from hokm.records import MatchRecord, Policy, substance_digest, verify
from tests.system.processes import GOOD, Notes, plan, runner, write_bot

CHUNKS = 40
"""How many pieces of what the referee says a cable lets through before it is cut: a hello and a few
decisions.
"""


@dataclass
class Cable:
    """A proxy between bots and a referee; ``cuts`` counts how often it was cut."""

    port: int
    address: str = ""
    cuts: int = 0

    async def carry(self, bot: trio.SocketStream) -> None:
        """One connection, until it is cut or ends."""
        left = CHUNKS + self.cuts  # at another place each time
        referee = await trio.open_tcp_stream("127.0.0.1", self.port)
        async with bot, referee, trio.open_nursery() as nursery:
            nursery.start_soon(self._pass_on, bot, referee, nursery.cancel_scope)
            async for chunk in referee:
                left -= 1
                if left == 0:
                    self.cuts += 1
                    break
                await bot.send_all(chunk)
            nursery.cancel_scope.cancel()

    async def _pass_on(
        self, source: trio.SocketStream, sink: trio.SocketStream, scope: trio.CancelScope
    ) -> None:
        try:
            async for chunk in source:
                await sink.send_all(chunk)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        scope.cancel()


@asynccontextmanager
async def a_cable(running: Runner) -> AsyncIterator[Cable]:
    """Have the bots of a runner connect through a cable that is cut."""
    house = running._house
    cable = Cable(int(house.address.rpartition(":")[2]))
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    cable.address = f"127.0.0.1:{listeners[0].socket.getsockname()[1]}"
    async with trio.open_nursery() as nursery:

        async def carry(bot: trio.SocketStream) -> None:
            try:
                await cable.carry(bot)
            except* (trio.BrokenResourceError, trio.ClosedResourceError):
                pass

        nursery.start_soon(trio.serve_listeners, carry, listeners)
        running._house = replace(house, address=cable.address)
        yield cable
        nursery.cancel_scope.cancel()


async def play(
    folder: Path, *, is_cut: bool, resume_seconds: float
) -> tuple[MatchRecord, Notes, int]:
    bots = [write_bot(folder / name, GOOD) for name in ("one", "other")]
    notes = Notes()
    match = plan(*bots, length=6, policy=Policy.CASUAL, resume_seconds=resume_seconds)
    async with runner(folder) as running:
        if not is_cut:
            record, cuts = await running.play(match, watcher=notes), 0
        else:
            async with a_cable(running) as cable:
                record = await running.play(match, watcher=notes)
            cuts = cable.cuts
    assert verify(record) == ()
    assert not any((folder / "running").iterdir())
    return record, notes, cuts


async def test_a_match_whose_cables_are_cut_ends_as_it_would_have(tmp_path: Path) -> None:
    for name in ("whole", "cut"):
        (tmp_path / name).mkdir()
    whole, _, _ = await play(tmp_path / "whole", is_cut=False, resume_seconds=20.0)
    cut, notes, cuts = await play(tmp_path / "cut", is_cut=True, resume_seconds=20.0)
    assert cuts >= 8
    assert notes.troubles == []
    assert substance_digest(cut) == substance_digest(whole)


async def test_where_nobody_may_come_back_a_cut_cable_is_a_crash(tmp_path: Path) -> None:
    record, _, cuts = await play(tmp_path, is_cut=True, resume_seconds=0.0)
    assert cuts >= 1
    endings = {game.outcome.ending for room in record.rooms for game in room.games if game.outcome}
    assert Ending.CRASH in endings
