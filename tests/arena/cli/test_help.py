"""Help is quick, complete, and names options that exist."""

import re
import subprocess
import sys

import pytest

import arena
from arena.cli.match import EPILOG
from hokm.rules.options import OPTIONS

HEAVY = ("trio", "grpc", "rich", "numpy", "sqlalchemy", "alembic", "hokm", "arena.ladder")
TELLING = ("analyse", "bot history", "crosstable", "head2head", "export", "ladder graph")


def test_help_imports_nothing_that_is_heavy():
    code = "import sys; from arena.cli import main; main(['--help']); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(shown.stdout.splitlines()[-1].split())
    assert "typer" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "words",
    ["", "match", "sprt", "duel", "verify", "replay", "luck", "bot", "bot list", "ladder"]
    + ["bot check", "bot pack", "bot unpack"]
    + ["register", "submit", "status", "logs", "withdraw", "standings", "results", "record"]
    + ["owner", *(f"owner {name}" for name in ("add", "token", "revoke", "bar", "list"))]
    + [*TELLING]
    + [f"ladder {name}" for name in ("init", "add", "run", "standings", "check")],
)
def test_every_command_has_help(run, words):
    ran = run(*words.split(), "--help")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: arena {words}".rstrip())


@pytest.mark.parametrize(
    "words",
    ["", "match", "sprt", "duel", "ladder", "ladder init", "verify", "replay", "luck", *TELLING],
)
def test_a_command_without_what_it_needs_shows_its_help(run, words):
    ran = run(*words.split())
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"Usage: arena {words}".rstrip())


def test_help_of_a_match_names_every_option_of_the_rules():
    named = set(re.findall(r"^  +([a-z_]+(?:, [a-z_]+)*)", EPILOG, flags=re.MULTILINE))
    words = {word for names in named for word in names.split(", ")}
    assert set(OPTIONS) <= words


def test_the_version_is_the_packages(run):
    assert run("--version").out == f"arena {arena.__version__}\n"


def test_the_bundled_bots_are_listed(run, monkeypatch, make_bot, tmp_path):
    make_bot("sara")
    monkeypatch.setattr("arena.ladder.bots.entrants.sample_names", lambda **_: ("sara",))
    monkeypatch.setattr(
        "arena.ladder.bots.entrants.find_bot", lambda name: tmp_path / "bots" / name
    )
    ran = run("bot", "list")
    assert ran.status == 0
    assert "sara" in ran.out
    assert '"players": [\n' in run("bot", "list", "--json").out


@pytest.mark.parametrize("words", ["", "ladder", "bot", "owner"])
def test_what_each_command_does_is_said_in_one_whole_line(run, words):
    commands = run(*words.split(), "--help").out.partition("Commands:\n")[2].splitlines()
    assert commands
    for line in commands:
        assert re.match(r"  [a-z]", line)
        assert line.endswith(".")
        assert not line.endswith("...")
