"""The tutorial, gone through step by step: it shows what there is, and what it says comes true."""

import math
import re
import sys
from pathlib import Path
from statistics import fmean, stdev
from types import ModuleType
from typing import Any

import pytest

from arena.cli import main
from hokm import Bot
from hokm.testing import duel

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/write-a-bot.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"^```(\w+)\n# (at the end of )?mybot/(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)

SHOWN: dict[str, list[str]] = {}
"""The versions of each file as the page shows them, in its order."""
ADDED: dict[str, str] = {}
"""What a reader writes at the end of a file."""
for _, at_end, name, code in BLOCK.findall(PAGE):
    if at_end:
        ADDED[name] = code
    else:
        SHOWN.setdefault(name, []).append(code)


@pytest.fixture
def mybot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the page begins with."""
    monkeypatch.chdir(tmp_path)
    assert main(["bot", "new", "mybot", "--owner", "maryam"]) == 0
    return tmp_path / "mybot"


def executed(code: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "a_file"}
    exec(compile(code, "a file", "exec"), namespace)
    return namespace


VERSIONS: list[type[Bot]] = [executed(code)["MyBot"] for code in SHOWN["bot.py"]]
GREEDY: type[Bot] = executed((ROOT / "sample_bots/greedy/bot.py").read_text("utf-8"))["Greedy"]


def test_it_shows_the_files_that_the_command_makes(mybot: Path) -> None:
    for name in ("bot.toml", "bot.py"):
        assert SHOWN[name][0] == (mybot / name).read_text(encoding="utf-8")
    assert len(VERSIONS) == 2


def final_tests(bot: type[Bot], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `test_bot.py` has in the end, with that bot."""
    module = ModuleType("bot")
    module.MyBot = bot  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bot", module)
    return executed((folder / "test_bot.py").read_text("utf-8") + ADDED["test_bot.py"])


def test_the_tests_that_it_adds_fail_at_first(mybot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = final_tests(VERSIONS[0], mybot, monkeypatch)
    added = re.findall(r"^def (\w+)", ADDED["test_bot.py"], re.MULTILINE)
    assert len(added) == 2
    for name in added:
        with pytest.raises(AssertionError):
            tests[name]()


def test_all_tests_pass_in_the_end(mybot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = 0
    for name, test in final_tests(VERSIONS[-1], mybot, monkeypatch).items():
        if name.startswith("test_"):
            marks = getattr(test, "pytestmark", [])
            for case in marks[0].args[1] if marks else [()]:
                test(*case) if isinstance(case, tuple) else test(case)
                ran += 1
    assert ran == 9


def gap(first: type[Bot], second: type[Bot], *, boards: int) -> tuple[float, float]:
    """Points a board of the first against the second, and half the width of its interval."""
    points = duel(first, second, boards=boards, seed="tutorial")
    return fmean(points), 1.96 * stdev(points) / math.sqrt(boards)


def test_at_first_it_does_not_beat_greedy() -> None:
    mean, bar = gap(VERSIONS[0], GREEDY, boards=200)
    assert mean - bar < 0


def test_in_the_end_it_beats_greedy_and_the_bar_excludes_zero() -> None:
    assert "does not reach zero: it beats *greedy*" in PAGE
    mean, bar = gap(VERSIONS[-1], GREEDY, boards=200)
    assert mean - bar > 0
    shown = re.search(r"mybot  greedy  48-142-10  \+0\.35 ± 0\.13", PAGE)
    assert shown
    assert mean == pytest.approx(0.35, abs=2 * bar), "other deals, and the same two bots"


def test_in_the_end_it_beats_what_it_was() -> None:
    mean, bar = gap(VERSIONS[-1], VERSIONS[0], boards=112)
    assert mean - bar > 0
