"""As many rooms at once as are advertised, and no quick bot loses a move on time."""

from pathlib import Path

import trio

from hokm.outcome import Ending
from hokm.records import MatchRecord, Policy
from hokm.session import ClockRules
from tests.system.processes import GOOD, Notes, plan, runner, write_bot

ROOMS = 6
"""Three matches of two rooms are asked for at once; the runner packs them on its cores."""


async def test_a_quick_bot_loses_no_move_on_time_at_the_advertised_concurrency(
    tmp_path: Path,
) -> None:
    bots = [write_bot(tmp_path / name, GOOD) for name in ("one", "other")]
    # There is no bank to make up for a slow move.
    match = plan(
        *bots,
        players=4,
        length=4,
        clock=ClockRules(move_seconds=1.0, bank_seconds=0.0),
        policy=Policy.RATED,
    )
    watcher, records = Notes(), list[MatchRecord]()

    async with runner(tmp_path) as running, trio.open_nursery() as nursery:

        async def play() -> None:
            records.append(await running.play(match, watcher=watcher))

        for _ in range(ROOMS // len(match.rooms)):
            nursery.start_soon(play)
    games = [game for record in records for room in record.rooms for game in room.games]
    assert len(games) == ROOMS * match.length
    assert {game.outcome.ending for game in games if game.outcome} == {Ending.COMPLETED}
    assert watcher.troubles == []
