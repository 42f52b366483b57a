"""The list of checks: each can be named, says what it means, and where that is written."""

import re
from pathlib import Path

import pytest

from arena.conformance.checks import CHECKS
from arena.conformance.script import Check
from arena.ladder.bots.entrants import load_bot

ROOT = Path(__file__).resolve().parents[3]


def test_there_are_at_least_forty_and_each_has_a_name_of_its_own() -> None:
    names = [check.name for check in CHECKS]
    assert len(names) >= 40
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_what_a_check_refers_to_is_there(check: Check) -> None:
    page, _, heading = check.reference.partition(": ")
    if page.startswith("rulebook "):
        rulebook = (ROOT / "docs/rules.md").read_text(encoding="utf-8")
        clause = re.escape(page.removeprefix("rulebook "))
        assert re.search(rf"^(?:\*\*|#+ ){clause}\b", rulebook, re.MULTILINE)
    else:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE)
    assert check.meaning.endswith(".")


def test_what_a_manifest_does_not_claim_is_said(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("")
    (tmp_path / "bot.toml").write_text(
        'schema = 1\nname = "b"\nowner = "o"\nversion = "1"\ncommand = ["python", "bot.py"]\n'
        "protocol = 1\nvariants = [2, 4]\nconcurrent = 2\n"
    )
    bot = load_bot(tmp_path)
    lacks = {check.name: check.lacks(bot) for check in CHECKS}
    assert lacks["three-seats"] == "variants with 3"
    assert lacks["two-seats"] == lacks["many-games"] == lacks["hello"] == ""
