"""Somebody types the tutorial: every command of it runs, in its order. Only sizes are smaller."""

import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

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
TYPED = {
    "arena repro match.json.gz --seat 0 --game 3 --debug": "continue\nquit\n",
    "arena play --with ./mybot": "q\ny\n",
}
"""What needs a terminal, and what is typed there."""

SMALLER = {
    "arena match ./mybot greedy": "--boards 1",
    "arena match ./mybot greedy --boards 40 --record match.json.gz": "--boards 3 --seed s",
    "arena match ./mybot greedy house": "--boards 1",
    "arena match ./mybot greedy --boards 200": "--boards 2",
    "arena analyse match.json.gz": "--samples 2",
    "arena sprt ./mybot ./mybot@HEAD": "--batch 4 --cap 4",
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
    ("arena bot check ./mybot", 0, r"^accepted$"),
    ("arena repro match.json.gz --seat 0 --game 3 --debug", 1, r"(?s)\(Pdb\).*on record +play"),
    ("arena play --with ./mybot", 0, r"replay"),
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
    return [step for step in found if step not in BEFORE]


def test_these_are_all_its_commands() -> None:
    assert [step for step in steps() if isinstance(step, str)] == [one for one, _, _ in SHOWN]
    assert set(SMALLER) <= set(steps())


@pytest.mark.timeout(600)
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
        keys = TYPED.get(step)
        ended, out = run(words, folder) if keys is None else at_a_terminal(words, folder, keys)
        assert ended == status, f"{command}\n{out}"
        assert re.search(pattern, out, re.MULTILINE), f"{command}\n{out}"


def environment(folder: Path) -> dict[str, str]:
    """That of somebody who has never used the arena; all they leave lies beside the folder."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    author = "[user]\nname = maryam\nemail = maryam@example.org\n"
    (home / ".gitconfig").write_text(author, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # pytest-xdist tells its workers how wide a screen is that nobody looks at.
    known = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    places = dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"), str(home))
    return {**known, **places, "PATH": path, "TERM": "xterm"}


def run(words: list[str], folder: Path) -> tuple[int, str]:
    """How a command ends, and what it says on either stream."""
    ran = subprocess.run(
        words,
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout


def at_a_terminal(words: list[str], folder: Path, keys: str) -> tuple[int, str]:
    """The same of a command that needs a terminal, where that is typed."""
    ours, its = os.openpty()
    try:
        with subprocess.Popen(
            words,
            cwd=folder,
            env=environment(folder),
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
        ) as process:
            os.close(its)
            os.write(ours, keys.encode())
            said = b""
            try:
                with suppress(OSError):  # so a terminal ends that nobody has any more
                    while part := os.read(ours, 65536):
                        said += part
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
            return process.wait(), said.decode().replace("\r\n", "\n")
    finally:
        os.close(ours)
