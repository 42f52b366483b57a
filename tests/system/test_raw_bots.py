"""Bots without the SDK's client, in Python and TypeScript: the protocol is enough to play.

The one in TypeScript is built as its README says, in a copy, from the npm registry; where that
cannot be done, its tests are skipped and say why.
"""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import Entrant, load_bot
from hokm.outcome import Ending
from hokm.records import Format, MatchRecord, verify
from tests.system.processes import GOOD, Notes, plan, runner, write_bot

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

NODE = 20
"""The oldest major version of Node that the example says it runs on."""

# A first download takes a while.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def python_raw() -> Entrant:
    return load_bot(EXAMPLES / "python-raw")


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Entrant:
    """The bot in TypeScript, built in a copy that lies beside a copy of the .proto files."""
    if missing := what_is_missing():
        pytest.skip(f"the bot in TypeScript cannot be built here: {missing}")
    root = tmp_path_factory.mktemp("repository")
    shutil.copytree(ROOT / "proto", root / "proto")
    folder = root / "examples" / "typescript"
    left = shutil.ignore_patterns("node_modules", "dist", "gen")
    shutil.copytree(EXAMPLES / "typescript", folder, ignore=left)
    for command in ("npm install --no-audit --no-fund", "npm run build", "npm prune --omit=dev"):
        done = run(command, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return load_bot(folder)


def what_is_missing() -> str:
    """Why the bot in TypeScript cannot be built on this machine; empty where it can."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            return f"{program} is not on PATH"
    version = run("node --version", EXAMPLES).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < NODE:
        return f"Node is {version}, and has to be {NODE} or later"
    if run("npm ping --fetch-retries=0 --fetch-timeout=10000", EXAMPLES).returncode:
        return "the npm registry does not answer"
    return ""


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = command.split()
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


async def play(bot: Entrant, folder: Path, *, players: int, kind: Format) -> MatchRecord:
    good = [write_bot(folder / f"good{n}", GOOD, concurrent=2) for n in range(players % 2 + 1)]
    length = 2 if kind is Format.BOARDS else 1
    async with runner(folder) as running:
        match = plan(bot, *good, players=players, kind=kind, length=length, at_once=2)
        return await running.play(match, watcher=Notes())


def assert_is_completed(record: MatchRecord) -> None:
    """Nothing was refused, every game came to its end, and every process said goodbye."""
    assert verify(record) == ()
    games = [game for room in record.rooms for game in room.games]
    assert {game.outcome.ending for game in games if game.outcome} == {Ending.COMPLETED}
    assert not any(game.refusals for game in games)
    assert {process.exit_code for process in record.circumstances.processes} == {0}


TABLES = [
    (2, Format.BOARDS),
    (3, Format.BOARDS),
    (4, Format.BOARDS),
    (4, Format.CLASSIC),
]


@pytest.mark.parametrize(("players", "kind"), TABLES)
async def test_a_bot_of_generated_python_alone_plays_every_game(
    python_raw: Entrant, tmp_path: Path, players: int, kind: Format
) -> None:
    assert_is_completed(await play(python_raw, tmp_path, players=players, kind=kind))


@pytest.mark.parametrize(("players", "kind"), TABLES)
async def test_a_bot_in_typescript_plays_every_game(
    typescript: Entrant, tmp_path: Path, players: int, kind: Format
) -> None:
    assert_is_completed(await play(typescript, tmp_path, players=players, kind=kind))


def test_the_raw_bot_in_python_takes_nothing_of_hokm_but_generated_code() -> None:
    tree = ast.parse((EXAMPLES / "python-raw" / "bot.py").read_text(encoding="utf-8"))
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert not [alias.name for node in plain for alias in node.names if "hokm" in alias.name]
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    of_hokm = [module for module in modules if module.startswith("hokm")]
    assert of_hokm
    assert all(module.startswith("hokm.v1.") for module in of_hokm)
