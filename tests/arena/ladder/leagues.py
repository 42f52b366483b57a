"""A ladder that was played in this process, for tests of what is made of ladders."""

from collections.abc import Callable, Sequence
from pathlib import Path

import trio

from arena.ladder.cycles import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from hokm.records import Format


def played_ladder(
    folder: Path,
    make_bot: Callable[[str], str | Path],
    names: Sequence[str],
    *,
    players: int = 4,
    play: Format = Format.BOARDS,
    length: int = 2,
    cycles: int = 2,
    unrated: Sequence[str] = (),
    runner: InProcessRunner | None = None,
) -> Path:
    """Make a ladder of these bots, play it, and return its folder."""
    settings = Settings.of("club", players=players, format=play, length=length)
    with Ladder.init(folder, settings) as ladder:
        for name in names:
            ladder.add(str(make_bot(name)), rated=name not in unrated)

        async def played() -> None:
            await play_event(ladder, runner or InProcessRunner(), schedule=RoundRobin(cycles))

        trio.run(played)
    return folder
