"""The page for those who send a bot in is enough by itself: its first steps, as it has them."""

import shlex
from pathlib import Path

import pytest

from arena.cli.app import main
from tests.docs.test_docs import blocks, text_of

PAGE = "docs/submit.md"


def typed(line: str) -> None:
    program, *words = shlex.split(line)
    assert program == "arena"
    assert main(words) == 0


def test_the_bot_that_the_page_makes_is_the_one_it_shows_and_packs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    new, packing = blocks(PAGE, "console")[:2]
    typed(new)
    manifest = (tmp_path / "mybot/bot.toml").read_text(encoding="utf-8")
    assert blocks(PAGE, "toml")[0] == f"# mybot/bot.toml\n{manifest}"
    check, pack = packing.splitlines()
    assert check == "arena bot check ./mybot"  # it takes a minute: not here
    capsys.readouterr()
    typed(pack)
    first, digest, _ = capsys.readouterr().out.splitlines()
    shown = blocks(PAGE, "text")[0].splitlines()
    assert shown[0] == first
    assert digest.startswith(shown[1].rstrip("…"))


def test_the_page_says_what_to_change_of_every_key_that_may_stay_wrong() -> None:
    for key in ("owner", "name", "version", "variants", "command"):
        assert f"| `{key}` |" in text_of(PAGE)
