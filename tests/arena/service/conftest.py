"""What tests of the service share: bots on disk, ladders on the database that is asked for, and one
that was played, with its owners.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.moving import move
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from tests.arena.ladder.conftest import (
    MakeBotFolder,
    _on_the_database_that_is_asked_for,
    bot_folder,
)
from tests.arena.service.worlds import World, make_folder
from tests.postgres import ON_POSTGRES, Cluster

__all__ = ["_on_the_database_that_is_asked_for", "bot_folder", "world"]  # fixtures


@pytest.fixture(scope="session")
def played_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of three bots after a cycle, made once: to be copied."""
    home = tmp_path_factory.mktemp("service")
    with Ladder.init(home / "club", Settings.of("club", length=1)) as ladder:
        for name in ("ada", "bob", "cyd"):
            ladder.add(make_folder(home / "authors", name, owner=f"o-{name}"))

        async def play() -> None:
            await play_event(ladder, InProcessRunner(), schedule=RoundRobin())

        trio.run(play)
    return home / "club"


@pytest.fixture
def world(
    request: pytest.FixtureRequest, played_folder: Path, bot_folder: MakeBotFolder, tmp_path: Path
) -> Iterator[World]:
    shutil.copytree(played_folder, tmp_path / "club")
    if ON_POSTGRES:
        cluster: Cluster = request.getfixturevalue("postgres")
        move(tmp_path / "club", database=cluster.url(schema=cluster.server().schema))
    with Ladder.open(tmp_path / "club") as ladder:
        yield World(ladder, bot_folder, tmp_path / "archives")
