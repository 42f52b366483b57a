"""A bot that needs more than its files, played: packages from a folder of wheels, and a build."""

from pathlib import Path

import pytest

from arena.cli import main
from arena.ladder.bots.entrants import load_bot
from arena.ladder.bots.environments import Environments
from hokm.outcome import Ending
from tests.arena.ladder.bots.test_environments import wheel
from tests.system.processes import GOOD, Notes, plan, runner, write_bot

LUCKY = """
    import tiny_luck
    from hokm import Bot, run

    class Lucky(Bot):
        def play(self, view):
            return tiny_luck.choose(view.playable)

    run(Lucky)
"""


def lucky(folder: Path) -> Path:
    write_bot(folder, LUCKY)
    (folder / "requirements.txt").write_text("tiny-luck==1.0\n")
    return folder


def endings(notes: Notes) -> list[Ending | None]:
    return [None if game.outcome is None else game.outcome.ending for _, game in notes.games]


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    code = "def choose(cards):\n    return cards[-1]\n"
    return wheel(tmp_path / "wheels", "tiny_luck", code).parent


async def test_a_bot_that_imports_from_a_wheel_plays(tmp_path: Path, wheels: Path) -> None:
    made = Environments(cache=tmp_path / "cache", wheels=wheels)
    entrant = made.prepared(load_bot(lucky(tmp_path / "lucky")))
    notes = Notes()
    async with runner(tmp_path) as running:
        record = await running.play(
            plan(entrant, write_bot(tmp_path / "good", GOOD)), watcher=notes
        )
    assert not notes.troubles
    assert endings(notes) == [Ending.COMPLETED] * 2
    assert record.entrants[0].digest == entrant.digest


async def test_a_bot_that_is_built_plays_what_was_built(tmp_path: Path) -> None:
    folder = tmp_path / "built"
    write_bot(folder, GOOD)
    (folder / "bot.py").rename(folder / "source.txt")
    manifest = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text(
        f'{manifest}[build]\ncommand = ["cp", "source.txt", "bot.py"]\n'
    )
    entrant = Environments(cache=tmp_path / "cache").prepared(load_bot(folder))
    notes = Notes()
    async with runner(tmp_path) as running:
        await running.play(plan(entrant, write_bot(tmp_path / "good", GOOD)), watcher=notes)
    assert not notes.troubles
    assert endings(notes) == [Ending.COMPLETED] * 2


def test_every_command_that_starts_a_bot_gives_it_its_environment(
    tmp_path: Path,
    wheels: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("STATE_HOME", "CACHE_HOME", "DATA_HOME"):
        monkeypatch.setenv(f"XDG_{name}", str(tmp_path / name))
    mine, good = str(lucky(tmp_path / "lucky")), str(tmp_path / "good")
    write_bot(Path(good), GOOD)

    def run(*words: str) -> str:
        assert main(words) == 0, capsys.readouterr().err
        return capsys.readouterr().err

    brief = ("--players", "2", "--hello-time", "60")
    said = run("match", mine, good, "--boards", "1", *brief, "--wheels", str(wheels))
    assert "lucky: installing tiny-luck==1.0" in said
    for words in (
        ("match", mine, good, "--boards", "1", *brief),
        ("duel", mine, good, "--boards", "1", *brief),
        ("bot", "check", mine, "--only", "hello*", "--fuzz", "0"),
        ("ladder", "init", "club", "--boards", "1", "--players", "2"),
        ("ladder", "add", "club", mine, good),
        ("ladder", "run", "club", "--cycles", "1", "--hello-time", "60", "--no-sandbox"),
    ):
        said = run(*words)
        assert "installing" not in said
        assert "fault" not in said


def test_the_environment_of_a_ladder_that_was_lost_is_made_again(
    tmp_path: Path,
    wheels: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOKM_ARENA_WHEELS", str(wheels))
    write_bot(tmp_path / "good", GOOD)
    bots = (str(lucky(tmp_path / "lucky")), str(tmp_path / "good"))
    assert main(("ladder", "init", "club", "--boards", "1", "--players", "2")) == 0
    assert main(("ladder", "add", "club", *bots)) == 0
    (tmp_path / "cache").rename(tmp_path / "lost")
    assert (
        main(("ladder", "run", "club", "--cycles", "1", "--hello-time", "60", "--no-sandbox")) == 0
    )
    said = capsys.readouterr()
    assert said.err.count("lucky: installing tiny-luck==1.0") == 2
    assert "1 match played, 0 void" in said.out
