"""The command line in this process: bots in folders, and a runner that starts nothing."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from arena.cli import main
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Trouble, Watcher
from arena.ladder.testing import InProcessRunner
from hokm.cards import Seat
from hokm.outcome import Ending
from hokm.records import MatchRecord


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command line came to."""

    status: int
    out: str
    err: str


RunCommand = Callable[..., Ran]
MakeBot = Callable[..., Path]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest-xdist tells its workers one

    def run(*words: object) -> Ran:
        capsys.readouterr()
        status = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return run


@pytest.fixture
def make_bot(tmp_path: Path) -> MakeBot:
    """Makes a folder of a bot; `comment` makes it another bot of the same name. Its owner has its
    name.
    """

    def make_bot(
        name: str, *, version: str = "1.0", comment: str = "", under: str = "", owner: str = ""
    ) -> Path:
        folder = tmp_path / "bots" / under / name
        folder.mkdir(parents=True)
        (folder / "bot.py").write_text(f"# {name} {comment}\n", encoding="utf-8")
        (folder / "bot.toml").write_text(
            f'schema = 1\nname = "{name}"\nowner = "{owner or name}"\nversion = "{version}"\n'
            'command = ["python", "bot.py"]\nprotocol = 1\nvariants = [2, 3, 4]\n',
            encoding="utf-8",
        )
        return folder

    return make_bot


class Unneeded:
    """A sandbox that nothing is run in."""

    listen = "unix:/short"


class FakeRunner(InProcessRunner):
    """The double; `fault` ends every game, and `troubled` entrants (by index) are reported."""

    settings: dict[str, object]
    """What it was opened with."""
    fault: tuple[Ending, int | None] | None = None
    troubled: Sequence[int] = ()
    loser: int | None = None
    """Who has one more fault, which is the incident that loses its side the rest."""

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        if self.fault is not None:
            self.faults[plan.match, plan.attempt] = self.fault
        for index in self.troubled:
            watcher.trouble(plan, trouble_of(plan, index))
        if self.loser is not None:
            watcher.trouble(plan, replace(trouble_of(plan, self.loser), loses_rest=True))
        return await super().play(plan, watcher=watcher)

    def stop(self) -> None: ...

    def abort(self) -> None: ...


def trouble_of(plan: MatchPlan, index: int = 0) -> Trouble:
    return Trouble(
        entrant=plan.entrants[index],
        room=1,
        seat=Seat(index),
        game=3,
        ending=Ending.CRASH,
        detail="its stream broke off (exit code 1)",
        log=Path("logs/room1-seat0.log"),
        tail="Traceback\nValueError: [bold]no[/bold] such card\n",
        by_hand="cd here && python bot.py",
    )


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> FakeRunner:
    """In the place of the runner that starts processes, and of the sandbox for them."""
    runner = FakeRunner()
    monkeypatch.setattr("arena.cli.confining.prepare", lambda folder, *, python: Unneeded())

    @asynccontextmanager
    async def open_runner(**settings: object) -> AsyncIterator[FakeRunner]:
        runner.settings = settings
        yield runner

    monkeypatch.setattr("arena.cli.local.open_runner", open_runner)
    monkeypatch.setattr("arena.cli.event.open_runner", open_runner)
    monkeypatch.setattr("arena.cli.trial.open_runner", open_runner)
    monkeypatch.setattr("arena.cli.sitting.open_runner", open_runner)
    return runner


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
