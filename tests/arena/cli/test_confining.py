"""``--sandbox`` and ``--no-sandbox``: where it does not work, a line says so; nothing is played."""

import json
from pathlib import Path

import pytest

from arena.cli import confining
from arena.cli.errors import Misuse
from arena.ladder.processes.sandbox import SandboxError
from tests.arena.cli.conftest import FakeRunner, MakeBot, RunCommand, Unneeded


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path, *, python: str) -> None:
        raise SandboxError("user namespaces are off: sysctl")

    monkeypatch.setattr(confining, "prepare", refuse)


@pytest.fixture
def unplayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be opened that plays."""

    def refuse(**_: object) -> None:
        raise AssertionError("it was played")

    for name in ("local", "trial", "event"):
        monkeypatch.setattr(f"arena.cli.{name}.open_runner", refuse)
    monkeypatch.setattr("arena.validation.validate.check_bot", refuse)


@pytest.mark.usefixtures("no_sandbox", "unplayed")
@pytest.mark.parametrize("words", ["match A B", "sprt A B", "duel A B"])
def test_without_a_sandbox_nothing_is_played(
    run: RunCommand, make_bot: MakeBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    named = {"A": str(make_bot("sara")), "B": str(make_bot("reza"))}
    ran = run(*(named.get(word, word) for word in words.split()), "--sandbox")
    assert ran.status == 2
    assert ran.err.splitlines()[-1] == "error: --sandbox: user namespaces are off: sysctl"
    assert ran.out == ""
    assert [entry.name for entry in tmp_path.iterdir()] == ["bots"]


@pytest.mark.usefixtures("no_sandbox", "unplayed")
def test_without_a_sandbox_no_bot_is_judged(run: RunCommand, make_bot: MakeBot) -> None:
    ran = run("bot", "check", make_bot("sara"), "--sandbox")
    assert ran.status == 3
    assert ran.err == "error: --sandbox: user namespaces are off: sysctl\n"
    assert ran.out.strip() == "undecided"
    report = json.loads(run("bot", "check", make_bot("reza"), "--sandbox", "--json").out)
    assert (report["verdict"], report["ok"]) == ("undecided", False)
    assert report["cause"] == "--sandbox: user namespaces are off: sysctl"


@pytest.mark.usefixtures("unplayed")
@pytest.mark.parametrize("record", [False, True])
def test_what_bots_would_see_with_the_interpreter_is_refused(
    run: RunCommand,
    make_bot: MakeBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record: bool,
) -> None:
    """As where somebody made a virtual environment of the folder in which his bots are."""
    bots = [str(make_bot(name)) for name in ("sara", "reza")]
    seen = tmp_path / "kept" if record else tmp_path / "bots"
    seen.mkdir(exist_ok=True)
    monkeypatch.setattr("sys.prefix", str(seen))
    words = ["--record", str(seen / "match.json")] if record else []
    ran = run("match", *bots, "--sandbox", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.splitlines()[-1].startswith("error: --sandbox: bots would see ")
    assert "python -m venv .venv" in ran.err


@pytest.mark.usefixtures("unplayed")
def test_no_ladder_is_played_that_bots_would_see(
    run: RunCommand, club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.prefix", str(club.parent))
    ran = run("ladder", "run", club)
    assert ran.status == 2
    assert f"bots would see {club}" in ran.err


@pytest.fixture
def club(run: RunCommand, make_bot: MakeBot, tmp_path: Path) -> Path:
    ladder = tmp_path / "club"
    assert run("ladder", "init", ladder, "--boards", 1).status == 0
    assert run("ladder", "add", ladder, make_bot("sara"), make_bot("reza")).status == 0
    return ladder


REFUSAL = (
    "error: a ladder's bots are confined, but user namespaces are off: sysctl; "
    "--no-sandbox runs them without it, as you"
)


@pytest.mark.usefixtures("no_sandbox", "unplayed")
@pytest.mark.parametrize("words", [(), ("--sandbox",)])
def test_without_a_sandbox_no_event_is_played(
    run: RunCommand, club: Path, words: tuple[str, ...]
) -> None:
    ran = run("ladder", "run", club, *words)
    assert ran.status == 2
    assert ran.err.splitlines()[-1] == REFUSAL
    assert ran.out == ""
    assert not list((club / "records").iterdir())


def test_a_ladder_runs_in_the_sandbox_unless_its_operator_says_no(
    run: RunCommand, runner: FakeRunner, club: Path
) -> None:
    assert run("ladder", "run", club, "--cycles", 1).status == 0
    assert isinstance(runner.settings["sandbox"], Unneeded)
    assert run("ladder", "run", club, "--cycles", 1, "--no-sandbox").status == 0
    assert runner.settings["sandbox"] is None


@pytest.mark.usefixtures("no_sandbox")
def test_what_is_to_be_built_for_a_ladder_needs_a_sandbox_or_the_operators_word(
    run: RunCommand,
    make_bot: MakeBot,
    club: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    built = make_bot("built")
    with (built / "bot.toml").open("a") as manifest:
        manifest.write('[build]\ncommand = ["touch", "made"]\n')
    ran = run("ladder", "add", club, built)
    assert ran.status == 2
    assert ran.err.splitlines()[-1] == REFUSAL
    assert not list(tmp_path.glob("cache/**/made"))
    assert run("ladder", "add", club, built, "--no-sandbox").status == 0
    assert list(tmp_path.glob("cache/**/made"))


def test_a_folder_whose_socket_has_too_long_a_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Prepared:
        listen = f"unix:{tmp_path}/{'x' * 108}"

    monkeypatch.setattr(confining, "prepare", lambda folder, *, python: Prepared())
    with pytest.raises(Misuse, match="TMPDIR"), confining.confining(True):
        pass


def test_the_folder_of_a_sandbox_is_private_and_gone_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Path] = []

    class Prepared:
        listen = "unix:/short"

    def prepare(folder: Path, *, python: str) -> Prepared:
        assert folder.stat().st_mode & 0o777 == 0o700
        seen.append(folder)
        return Prepared()

    monkeypatch.setattr(confining, "prepare", prepare)
    with confining.confining(True) as sandbox:
        assert sandbox is not None
        assert seen[0].is_dir()
    assert not seen[0].exists()
    with confining.confining(False) as none:
        assert none is None
