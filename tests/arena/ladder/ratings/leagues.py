"""Ladders that were played in this process, for tests of what is made of ladders."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import trio

from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from hokm.records import Format


def played_ladder(
    folder: Path,
    names: Sequence[str],
    *,
    players: int = 4,
    play: Format = Format.BOARDS,
    length: int = 2,
    cycles: int = 2,
    anchor: str | None = None,
    owners: Mapping[str, str] | None = None,
    unrated: Sequence[str] = (),
    runner: InProcessRunner | None = None,
) -> Path:
    """Make a ladder called club of bots that play steadily, play it, and return its folder.

    Each has an owner of its own, `o-NAME`, unless `owners` says so.
    """
    settings = Settings.of("club", players=players, format=play, length=length, anchor=anchor)
    with Ladder.init(folder, settings) as ladder:
        for name in names:
            owner = (owners or {}).get(name, f"o-{name}")
            bot = _bot_folder(folder.with_name(f"{folder.name}-bots") / name, owner=owner)
            ladder.add(str(bot), rated=name not in unrated)
        play_on(ladder, cycles=cycles, runner=runner)
    return folder


def play_on(ladder: Ladder, *, cycles: int, runner: InProcessRunner | None = None) -> None:
    """Play another event."""

    async def played() -> None:
        await play_event(ladder, runner or InProcessRunner(), schedule=RoundRobin(cycles))

    trio.run(played)


def _bot_folder(folder: Path, *, owner: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(
        f'schema = 1\nname = "{folder.name}"\nowner = "{owner}"\nversion = "1.0"\n'
        'command = ["python", "bot.py"]\nprotocol = 1\nvariants = [2, 3, 4]\n',
        encoding="utf-8",
    )
    (folder / "bot.py").write_text(f"print('{folder.name}')\n", encoding="utf-8")
    return folder
