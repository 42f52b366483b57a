"""A bot in the foreground: the debugger stands where Python takes it."""

import sys
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import load_bot
from arena.repro.foreground import debugged
from tests.arena.ladder.conftest import MANIFEST


@pytest.mark.parametrize(
    ("command", "run"),
    [
        (["python", "bot.py"], "PYTHON -m pdb bot.py"),
        (["python", "-O", "-u", "bot.py", "-x"], "PYTHON -O -u -m pdb bot.py -x"),
        (["python", "-m", "mine"], "PYTHON -m pdb -m mine"),
        (["./bot.py"], "./bot.py"),
        (["/usr/bin/env", "python"], "/usr/bin/env python"),
    ],
)
def test_the_debugger_stands_before_what_python_runs(
    tmp_path: Path, command: list[str], run: str
) -> None:
    (tmp_path / "bot.py").touch(mode=0o755)
    words = ", ".join(f'"{word}"' for word in command)
    manifest = MANIFEST.format(name="a", owner="b", protocol=1, variants=[4])
    lines = [line for line in manifest.splitlines() if not line.startswith("command")]
    (tmp_path / "bot.toml").write_text("\n".join([f"command = [{words}]", *lines]))
    entrant = load_bot(tmp_path)
    argv = debugged(entrant, entrant.argv(sys.executable))
    assert " ".join(argv).replace(sys.executable, "PYTHON") == run
