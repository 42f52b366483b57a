"""Many games at once in a room, with real bots that think about them together."""

from pathlib import Path

import pytest

from hokm.outcome import Ending
from hokm.records import MatchRecord, substance_digest, verify
from hokm.session import ClockRules
from tests.system.processes import Notes, plan, runner, write_bot

# Answers the last asked first, and notes how many were asked at once.
TOGETHER = """
    import time
    from hokm import Bot, run

    class Together(Bot):
        concurrent = 8
        {slowness}

        @classmethod
        def decide_many(cls, asked):
            print("at once:", len(asked))
            if len(asked) >= 4:
                time.sleep(cls.slow_seconds)
                cls.slow_seconds = 0
            for one in reversed(asked):
                yield one, one.decide()

        def play(self, view):
            return view.playable[{place}]

    run(Together)
"""


def together(place: int, *, slow_seconds: float = 0) -> str:
    return TOGETHER.format(place=place, slowness=f"slow_seconds = {slow_seconds}")


async def play(folder: Path, *sources: str, **options: object) -> MatchRecord:
    bots = [
        write_bot(folder / f"bot{number}", source, concurrent=8)
        for number, source in enumerate(sources)
    ]
    async with runner(folder) as running:
        record = await running.play(plan(*bots, length=8, **options), watcher=Notes())  # type: ignore[arg-type]
    assert verify(record) == ()
    return record


def most_at_once(folder: Path) -> int:
    """The most decisions that any bot was asked for at once."""
    texts = [log.read_text() for log in (folder / "logs").rglob("*.log")]
    return max(int(line.removeprefix("at once:")) for text in texts for line in text.splitlines())


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A folder for what is played one after another."""
    (tmp_path / "one").mkdir()
    return tmp_path / "one"


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A folder for what is played at once."""
    (tmp_path / "many").mkdir()
    return tmp_path / "many"


@pytest.mark.parametrize("players", [2, 4])
async def test_games_at_once_come_out_as_one_after_another(
    one: Path, many: Path, players: int
) -> None:
    bots = (together(0), together(-1))
    in_turn = await play(one, *bots, players=players)
    at_once = await play(many, *bots, players=players, at_once=8)
    assert substance_digest(at_once) == substance_digest(in_turn)
    assert most_at_once(one) == 1
    assert most_at_once(many) > 1


async def test_decisions_open_at_once_have_their_time_together(many: Path) -> None:
    """It thinks once for a second, about four boards or more, and has half of one for each."""
    slow = (together(0, slow_seconds=1.0), together(-1))
    clock = ClockRules(move_seconds=0.5, bank_seconds=0.0)
    record = await play(many, *slow, clock=clock, at_once=8)
    games = [game for room in record.rooms for game in room.games]
    assert {game.outcome.ending for game in games if game.outcome} == {Ending.COMPLETED}
    charged = [seconds for game in games for hand in game.seconds for seconds in hand]
    assert max(charged) > 1.0 / 8
