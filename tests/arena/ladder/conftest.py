"""What tests of the ladder share: bots on disk, a ladder, and one that has been played."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.ladder.backup import back_up, restore
from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.store.address import DATABASE_FILE, Address, Server, address_of
from arena.ladder.store.database import Database
from arena.ladder.testing import InProcessRunner
from tests.postgres import ON_POSTGRES, Cluster

MANIFEST = """\
schema = 1
name = "{name}"
owner = "{owner}"
version = "1.0"
command = ["python", "bot.py"]
protocol = {protocol}
variants = {variants}
"""

MakeBotFolder = Callable[..., str]


OF_FILES = "about a file of SQLite: nothing that PostgreSQL has"


def sql(where: Address | Ladder, statement: str, **values: object) -> None:
    """Do to a database what no arena does."""
    database = Database(address_of(where.folder) if isinstance(where, Ladder) else where)
    with database._engine.begin() as connection:
        connection.execute(sa.text(statement), values)
    database.close()


def copied(ladder: Ladder, folder: Path) -> None:
    """Make another ladder that is the same, as whoever copies its folder does."""
    shutil.copytree(ladder.folder, folder)
    address = address_of(folder)
    if isinstance(address, Server):
        shutil.rmtree(folder)
        back_up(ladder, folder.with_suffix(".tar"))
        server = replace(address, schema=f"{address.schema} of {folder.name}")
        restore(folder.with_suffix(".tar"), folder, database=server.text, is_checked=False)


@pytest.fixture(autouse=True)
def _on_the_database_that_is_asked_for(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have ladders made on the server of the tests, where that is what they are run for."""
    if not ON_POSTGRES:
        return
    cluster: Cluster = request.getfixturevalue("postgres")
    servers: dict[Path, Server] = {}
    init = Ladder.init

    def made(folder: Path, settings: Settings, *, database: Server | None = None) -> Ladder:
        server = database or servers.setdefault(folder, cluster.server())
        return init(folder, settings, database=server)

    monkeypatch.setattr(Ladder, "init", made)


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Address:
    """Where a database may be made."""
    if ON_POSTGRES:
        cluster: Cluster = request.getfixturevalue("postgres")
        return cluster.server()
    return tmp_path / DATABASE_FILE


@pytest.fixture
def file(address: Address) -> Path:
    """The same, for what is about files."""
    if isinstance(address, Server):
        pytest.skip(OF_FILES)
    return address


@pytest.fixture
def bot_folder(tmp_path: Path) -> MakeBotFolder:
    """Make the folder of a bot and return its path; the same name again is written over. Each is a
    program of its own, and has an owner of its own.
    """

    def make(
        name: str,
        *,
        code: str | None = None,
        owner: str | None = None,
        protocol: int = 1,
        variants: tuple[int, ...] = (2, 4),
    ) -> str:
        folder = tmp_path / "authors" / name
        folder.mkdir(parents=True, exist_ok=True)
        manifest = MANIFEST.format(
            name=name, owner=owner or f"o-{name}"[:40], protocol=protocol, variants=list(variants)
        )
        (folder / "bot.toml").write_text(manifest, encoding="utf-8")
        (folder / "bot.py").write_text(code or f"print('{name}')\n", encoding="utf-8")
        return str(folder)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a ladder may be made."""
    return tmp_path / "club"


@pytest.fixture
def ladder(folder: Path) -> Iterator[Ladder]:
    """An empty ladder, a board a match."""
    with Ladder.init(folder, Settings.of("club", length=1)) as made:
        yield made


@pytest.fixture
async def played(ladder: Ladder, bot_folder: MakeBotFolder) -> Ladder:
    """The same after a cycle of three bots."""
    for name in ("ada", "bob", "cyd"):
        ladder.add(bot_folder(name))
    await play_event(ladder, InProcessRunner(), schedule=RoundRobin())
    return ladder
