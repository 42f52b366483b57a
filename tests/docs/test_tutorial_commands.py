"""Somebody types the tutorial: every command of it runs, in its order. Only sizes are smaller."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.club.story import why_unconfined

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/write-a-bot.md").read_text(encoding="utf-8")

STEP = re.compile(
    r"^```(?P<language>\w+)\n(?P<block>.*?)^```$|`(?P<inline>(?:arena|python -m) [^`]+)`",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"# (?P<added>at the end of )?(?P<path>mybot/\S+)\n")

BEFORE = ["make environment", ". .venv/bin/activate"]
"""What has made the environment of these tests."""
AT_A_TERMINAL = [
    "arena play --with ./mybot",  # tests/system/test_person.py
    "arena repro match.json.gz --seat 0 --game 3 --debug",  # tests/system/test_repro.py
]

SMALLER = {
    "arena match ./mybot greedy": "--boards 1",
    "arena match ./mybot greedy --boards 40 --record match.json.gz": "--boards 3 --seed s",
    "arena match ./mybot greedy house": "--boards 1",
    "arena match ./mybot greedy --boards 200": "--boards 2",
    "arena analyse match.json.gz": "--samples 2",
    "arena sprt ./mybot ./mybot@HEAD": "--batch 4 --cap 4",
    "arena bot check ./mybot": "--no-matches --only 'four-*'",
    "arena ladder init club": "--boards 1 --tick 0",
    "arena ladder run club --cycles 2": "--cycles 1 --schedule gauntlet --seeds mybot",
}
"""What is added to a command: the last of an option counts."""

SHOWN = [
    ("arena bot new mybot", 0, r"made \S*mybot: bot\.toml, bot\.py, test_bot\.py"),
    ("arena match ./mybot greedy", 0, r"mybot +greedy +\d-\d-\d"),
    ("arena bot list", 0, r"greedy"),
    ("arena match ./mybot greedy --boards 40 --record match.json.gz", 0, r"games +6 COMPLETED"),
    ("arena analyse match.json.gz", 0, r"(?s)fair points/hand.*mybot +declaration.*^plays "),
    ("arena replay match.json.gz --lost mybot", 0, r"mybot lost \d of 3 boards"),
    ("python -m pytest mybot", 0, r"7 passed"),
    ("python -m pytest mybot", 1, r"2 failed, 7 passed"),
    ("arena replay match.json.gz --room 1 --game 3 --text", 0, r"(?s)room 1, game 3.*^plays "),
    ("git init mybot", 0, ""),
    ("git -C mybot add .", 0, ""),
    ('git -C mybot commit -m "As it began"', 0, r"6 files changed"),
    ("python -m pytest mybot", 0, r"9 passed"),
    ("arena repro match.json.gz --seat 0 --bot ./mybot", 1, r"^[1-9]\d* differences in"),
    ("arena sprt ./mybot ./mybot@HEAD", 0, r"mybot"),
    ("arena duel", 2, r"^Usage: arena duel"),
    ("arena tune", 2, r"^Usage: arena tune"),
    ("arena match ./mybot greedy --boards 200", 0, r"games +4 COMPLETED"),
    ("arena match ./mybot greedy house", 0, r"mybot +house"),
    ("arena match --help", 0, r"--format"),
    ("arena bot check ./mybot", 0, r"^passed$"),
    ("arena ladder init club", 0, ""),
    ("arena ladder add club ./mybot greedy house house-10 house-30", 0, ""),
    ("arena ladder run club --cycles 2", 0, ""),
    ("arena ladder standings club", 0, r"mybot"),
]
"""The commands of the page in their order, how each ends, and what it shows."""


def steps() -> list[str | tuple[str, str, bool]]:
    """What the page has its reader do: a command, or a file with its text, and if that is added."""
    found: list[str | tuple[str, str, bool]] = []
    for step in STEP.finditer(PAGE):
        if step["inline"]:
            found.append(step["inline"])
        elif file := FILE.match(step["block"]):
            found.append((file["path"], step["block"], bool(file["added"])))
        elif step["language"] == "console":
            found += step["block"].splitlines()
    return [step for step in found if step not in BEFORE + AT_A_TERMINAL]


def test_these_are_all_its_commands() -> None:
    assert [step for step in steps() if isinstance(step, str)] == [one for one, _, _ in SHOWN]
    assert set(SMALLER) <= set(steps())


def test_each_shows_what_the_page_says(tmp_path: Path) -> None:
    confined = not why_unconfined(tmp_path / "tried")
    folder = tmp_path / "empty"
    folder.mkdir()
    shown = iter(SHOWN)
    for step in steps():
        if not isinstance(step, str):
            path, text, is_added = step
            before = (folder / path).read_text(encoding="utf-8") if is_added else ""
            (folder / path).write_text(before + text, encoding="utf-8")
            continue
        words = shlex.split(f"{step} {SMALLER.get(step, '')}")
        if step.startswith("arena ladder run") and not confined:
            words.append("--no-sandbox")
        command, status, pattern = next(shown)
        ran = typed(words, folder)
        assert ran.returncode == status, f"{command}\n{ran.stdout}"
        assert re.search(pattern, ran.stdout, re.MULTILINE), f"{command}\n{ran.stdout}"


def typed(words: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """A command as its user has it; what it says on either stream is one text."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    author = "[user]\nname = maryam\nemail = maryam@example.org\n"
    (home / ".gitconfig").write_text(author, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # pytest-xdist tells its workers how wide a screen is that nobody looks at.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(
        words,
        cwd=folder,
        env={**environment, "PATH": path, "HOME": str(home), "XDG_STATE_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
