"""A bot with parameters, and a runner in whose games they decide."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import Entrant, load_bot
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Watcher
from arena.ladder.testing import InProcessRunner
from hokm.records import GameRecord, MatchRecord, RoomRecord, score_of
from tests.arena.ladder.conftest import bot_folder

__all__ = ["bot_folder"]  # a fixture

MANIFEST = """\
# what was found by hand
schema = 1
name = "mine"
owner = "ada"
version = "1.0"
command = ["python", "bot.py", "a \\"b\\""]
protocol = 1
variants = [2, 4]

[limits]
memory_mib = 256

[parameters]
chance = { default = 0.5, low = 0.0, high = 1.0 }
depth = { default = 3, low = 1, high = 8, integer = true }
"""

Worth = Callable[[dict[str, float]], float]


@pytest.fixture
def mine(tmp_path: Path) -> Entrant:
    folder = tmp_path / "authors" / "mine"
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(MANIFEST, encoding="utf-8")
    (folder / "bot.py").write_text("# a bot\n", encoding="utf-8")
    (folder / "run.sh").write_text("", encoding="utf-8")
    (folder / "run.sh").chmod(0o755)
    (folder / "seen.log").write_text("no part of it", encoding="utf-8")
    return load_bot(folder)


class Worthy(InProcessRunner):
    """A board is worth the difference of its two bots by their parameters, to the next point."""

    def __init__(self, worth: Worth) -> None:
        super().__init__()
        self.worth = worth

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        record = await super().play(plan, watcher=watcher)
        if (plan.match, plan.attempt) in self.faults:
            return record
        first, second = (self.worth(values_of(bot)) for bot in plan.entrants)
        return with_difference(record, round(first - second))

    def abort(self) -> None: ...

    def stop(self) -> None: ...


def values_of(bot: Entrant) -> dict[str, float]:
    return {one.name: one.default for one in bot.parameters}


def with_difference(record: MatchRecord, points: int) -> MatchRecord:
    """The record with every board worth so much to the first of the two, in room 1 alone."""

    def decided(game: GameRecord, room: int) -> GameRecord:
        assert game.outcome is not None
        won = (max(0, points), max(0, -points)) if room == 1 else (0, 0)
        return replace(game, outcome=replace(game.outcome, points=won))

    rooms: tuple[RoomRecord, ...] = tuple(
        replace(room, games=tuple(decided(game, room.number) for game in room.games))
        for room in record.rooms
    )
    score = score_of(record.rules, rooms, entrants=len(record.entrants))
    return replace(record, rooms=rooms, score=score)
