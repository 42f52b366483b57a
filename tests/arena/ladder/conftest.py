"""What tests of the ladder share: bots on disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

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
