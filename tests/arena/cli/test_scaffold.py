"""`arena bot new`: what it makes is a bot at once, and nothing that is there is touched."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from arena.ladder.bots.bundle import bundle
from arena.ladder.bots.entrants import load_bot
from hokm import Bot, View
from hokm.testing import duel


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder, and a person whom only the environment knows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("USER", "maryam")


def test_the_folder_is_a_bot_of_that_name_and_owner(run):
    ran = run("bot", "new", "sara", "--owner", "ali")
    assert (ran.status, ran.err) == (0, "")
    bot = load_bot(Path("sara"))
    assert (bot.name, bot.owner, bot.variants) == ("sara", "ali", (2, 3, 4))
    assert "./sara: bot.toml, bot.py, test_bot.py, README.md" in ran.out
    assert "arena match ./sara greedy" in ran.out
    assert "owner ali\n" in ran.out


def test_what_serves_its_author_alone_is_no_part_of_the_bot(run):
    run("bot", "new", "sara")
    assert [file.path for file in bundle(Path("sara"))] == [
        "README.md",
        "bot.py",
        "bot.toml",
        "test_bot.py",
    ]
    hidden = {file.name for file in Path("sara").iterdir()} - {
        file.path for file in bundle(Path("sara"))
    }
    assert hidden == {".gitignore", ".pytest.ini"}


def test_its_words_name_the_bot_and_nothing_is_left_to_fill_in(run):
    run("bot", "new", "سارا", "--owner", "maryam")
    for file in Path("سارا").iterdir():
        assert "NAME" not in (text := file.read_text(encoding="utf-8")), file
        assert "OWNER" not in text, file
    assert "arena match ./سارا greedy" in Path("سارا/README.md").read_text(encoding="utf-8")


def test_it_plays_well_above_whoever_knows_nothing(run):
    class First(Bot):
        def play(self, view: View):
            return view.playable[0]

    run("bot", "new", "sara")
    mine = runpy.run_path("sara/bot.py")["MyBot"]
    for players in (2, 4):
        points = duel(mine, First, players=players, boards=30)
        assert sum(points) > 15, "half a point a board"


def test_its_own_tests_pass_whatever_settings_of_pytest_lie_above(run, tmp_path):
    """As in a checkout of the arena, say."""
    settings = '[tool.pytest.ini_options]\naddopts = ["-k", "nothing"]\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    run("bot", "new", "sara")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd="sara",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "7 passed" in ran.stdout


def test_another_folder_is_made_where_it_is_asked_for(run):
    ran = run("bot", "new", "sara", "--in", "bots/mine")
    assert ran.status == 0
    assert load_bot(Path("bots/mine/sara")).name == "sara"
    assert "arena match ./bots/mine/sara greedy" in ran.out


def test_what_is_there_is_left_as_it_is(run):
    Path("sara").mkdir()
    Path("sara/bot.py").write_text("mine\n", encoding="utf-8")
    ran = run("bot", "new", "sara")
    assert ran.status == 1
    assert ran.err == "error: sara: is there already; take another name, or remove it\n"
    assert [file.name for file in Path("sara").iterdir()] == ["bot.py"]
    assert Path("sara/bot.py").read_text(encoding="utf-8") == "mine\n"


def test_a_folder_that_could_not_be_filled_is_not_left_behind(run, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")  # as the system says it

    monkeypatch.setattr(Path, "write_text", full)
    ran = run("bot", "new", "sara")
    assert ran.status == 1
    assert "error: sara/bot.toml: No space left on device" in ran.err
    assert not Path("sara").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a b"], "NAME 'a b' has ' ', U+0020 SPACE in it; take letters, digits"),
        (["../sara"], "NAME '../sara' has '/'"),
        ([".sara"], "begins with '.'"),
        (["house"], "house is the name of a bundled bot; take another"),
        (["sara", "--owner", "a/b"], "--owner 'a/b' has '/'"),
    ],
)
def test_a_name_that_no_bot_or_owner_may_have_is_refused(words, said, run, tmp_path):
    ran = run("bot", "new", *words)
    assert ran.status == 2
    assert said in ran.err
    assert not any(path.is_dir() and path.name != "state" for path in tmp_path.iterdir())


# -- whose it is


def test_the_owner_is_who_git_says(run, tmp_path):
    (tmp_path / "gitconfig").write_text("[user]\n\tname = Maryam  Karimi\n", encoding="utf-8")
    ran = run("bot", "new", "sara")
    assert load_bot(Path("sara")).owner == "Maryam-Karimi"
    assert "owner Maryam-Karimi, from git config user.name; --owner names another" in ran.out


@pytest.mark.parametrize("name", ["", "Maryam & Ali"])
def test_without_a_name_of_git_that_can_be_an_owners_it_is_the_user(name, run, tmp_path):
    (tmp_path / "gitconfig").write_text(f'[user]\n\tname = "{name}"\n', encoding="utf-8")
    ran = run("bot", "new", "sara")
    assert load_bot(Path("sara")).owner == "maryam"
    assert "owner maryam, from $USER; --owner names another" in ran.out


def test_where_git_is_not_installed_it_is_the_user(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    run("bot", "new", "sara")
    assert load_bot(Path("sara")).owner == "maryam"


def test_where_nothing_says_whose_it_is_one_is_asked_to(run, monkeypatch):
    monkeypatch.delenv("USER")
    ran = run("bot", "new", "sara")
    assert ran.status == 2
    assert ran.err == "error: nothing says whose bot it is; say it with --owner NAME\n"
    assert not Path("sara").exists()
