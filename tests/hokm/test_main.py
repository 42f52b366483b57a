"""`python -m hokm`: the self-check, and which bot a file holds."""

import sys
from pathlib import Path

import pytest

import hokm
from hokm.__main__ import bot_in, main

BOT = "from hokm import Bot\nclass Mine(Bot):\n    def play(self, view): return view.playable[0]\n"


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "hokm_bot", raising=False)


def written(folder: Path, text: str, name: str = "bot.py") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_the_self_check_names_the_version_and_plays_a_board(capsys) -> None:
    main([])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"hokm-sdk {hokm.__version__}, grpcio ")
    assert second.endswith("All is well.")


def test_the_bot_of_a_file_is_found(tmp_path) -> None:
    assert bot_in(written(tmp_path, BOT)).__name__ == "Mine"


def test_a_file_may_have_a_base_and_an_imported_bot_beside_its_own(tmp_path) -> None:
    written(tmp_path, BOT, "helper.py")
    text = "from helper import Mine\nfrom hokm import Bot\nclass Base(Bot): pass\n"
    file = written(tmp_path, text + BOT.replace("Mine(Bot)", "Own(Base)") + "Same = Own\n")
    assert bot_in(file).__name__ == "Own"


def test_a_file_may_have_the_name_of_a_module_or_none_of_python(tmp_path) -> None:
    assert bot_in(written(tmp_path, BOT, "random.py")).__name__ == "Mine"
    assert bot_in(written(tmp_path, BOT, "bot")).__name__ == "Mine"
    import random

    assert hasattr(random, "shuffle")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "defines no bot"),
        ("from hokm import Bot", "defines no bot"),
        (BOT + BOT.replace("Mine", "Other"), "defines several bots, Mine, Other: leave one"),
    ],
)
def test_a_file_without_one_bot_is_refused(text, says, tmp_path, capsys) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["run", str(written(tmp_path, text))])
    assert exit_.value.code == 2
    assert says in capsys.readouterr().err


def test_a_file_that_is_not_there_is_refused(tmp_path, capsys) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["run", str(tmp_path / "nothing.py")])
    assert exit_.value.code == 2
    assert "there is no file" in capsys.readouterr().err


def test_an_error_in_a_file_comes_through(tmp_path) -> None:
    with pytest.raises(ZeroDivisionError):
        bot_in(written(tmp_path, "1 / 0"))


def test_a_bot_file_that_no_arena_started_says_so(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.delenv("HOKM_ADDRESS", raising=False)
    with pytest.raises(SystemExit) as exit_:
        main(["run", str(written(tmp_path, BOT))])
    assert exit_.value.code == 2
    assert "HOKM_ADDRESS" in capsys.readouterr().err
