"""What tests of the ladder share: bots on disk, a ladder, and one that has been played."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner

MANIFEST = """\
schema = 1
name = "{name}"
owner = "{owner}"
version = "1.0"
command = ["python", "bot.py"]
protocol = {protocol}
variants = {variants}
"""

MakeBotFolder = Callable[..., str]


@pytest.fixture
def bot_folder(tmp_path: Path) -> MakeBotFolder:
    """Make the folder of a bot and return its path; the same name again is written over. Each is a
    program of its own, and has an owner of its own.
    """

    def make(
        name: str,
        *,
        code: str | None = None,
        owner: str | None = None,
        protocol: int = 1,
        variants: tuple[int, ...] = (2, 4),
    ) -> str:
        folder = tmp_path / "authors" / name
        folder.mkdir(parents=True, exist_ok=True)
        manifest = MANIFEST.format(
            name=name, owner=owner or f"o-{name}"[:40], protocol=protocol, variants=list(variants)
        )
        (folder / "bot.toml").write_text(manifest, encoding="utf-8")
        (folder / "bot.py").write_text(code or f"print('{name}')\n", encoding="utf-8")
        return str(folder)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a ladder may be made."""
    return tmp_path / "club"


@pytest.fixture
def ladder(folder: Path) -> Iterator[Ladder]:
    """An empty ladder, a board a match."""
    with Ladder.init(folder, Settings.of("club", length=1)) as made:
        yield made


@pytest.fixture
async def played(ladder: Ladder, bot_folder: MakeBotFolder) -> Ladder:
    """The same after a cycle of three bots."""
    for name in ("ada", "bob", "cyd"):
        ladder.add(bot_folder(name))
    await play_event(ladder, InProcessRunner(), schedule=RoundRobin())
    return ladder
