"""Remote bots: an entrant that is a name, files that bring it to its seats, and who comes."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import trio
import trio.testing

from arena import logs
from arena.ladder.processes.invitations import Invitations, open_invitations
from arena.ladder.processes.players import House
from arena.ladder.processes.remote import RemotePlayer, remote_entrant
from arena.referee.host import open_host
from arena.referee.lobby import open_lobby
from arena.referee.testing import MemoryConnection
from hokm.cards import Seat
from hokm.records import EntrantRecord

HELLO_SECONDS = 60.0


def test_a_remote_entrant_is_known_by_its_name_alone() -> None:
    entrant = remote_entrant("rostam")
    assert entrant.is_remote
    assert entrant.digest == hashlib.sha256(b"remote:rostam").hexdigest()
    assert entrant.variants == (2, 3, 4)


def test_one_of_a_ladder_is_known_by_its_owner_and_version_as_well() -> None:
    entrant = remote_entrant("rostam", owner="maryam", version="1.5")
    assert entrant.digest == hashlib.sha256(b"remote:maryam/rostam/1.5").hexdigest()
    assert (entrant.owner, entrant.version) == ("maryam", "1.5")


@pytest.mark.parametrize(
    ("name", "owner", "version", "is_remote"),
    [
        ("rostam", "remote", "what it said", True),
        ("rostam", "maryam", "1.5", True),
        ("rostam-1.5", "maryam", "1.5", True),
        ("rostam", "sohrab", "1.5", False),
        ("sohrab", "maryam", "1.5", False),
    ],
)
def test_a_record_says_by_the_digest_who_was_remote(
    name: str, owner: str, version: str, is_remote: bool
) -> None:
    whose = {} if owner == "remote" else {"owner": "maryam", "version": "1.5"}
    digest = remote_entrant("rostam", **whose).digest
    record = EntrantRecord(name=name, owner=owner, version=version, digest=digest)
    assert record.is_remote is is_remote


@pytest.mark.parametrize("name", ["", "a b", "-x", "../up", "x" * 41])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError):
        remote_entrant(name)


# -- the files


def variables(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


def test_a_file_has_what_its_bot_needs_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    told: list[str] = []
    folder = tmp_path / "new" / "tickets"
    invitations = open_invitations(folder, certificates=b"PEM", tell=told.append)
    file = invitations.write("a", room=1, seat=Seat(0), address="far:7117", ticket="secret")
    assert file == folder / f"a-{invitations.mark}-room1-seat0.env"
    authority = folder / "arena-384fb9a4.pem"  # the beginning of the SHA-256 of what is in it
    assert variables(file) == {
        "HOKM_ADDRESS": "far:7117",
        "HOKM_TICKET": "secret",
        "HOKM_TLS_CA": str(authority),
    }
    assert authority.read_bytes() == b"PEM"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for one in folder.iterdir():
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    assert told == [f"remote:a, room 1, seat 0: {file}"]


def test_without_tls_there_is_nothing_to_check_it_by(tmp_path: Path) -> None:
    invitations = open_invitations(tmp_path / "t", certificates=None, tell=lambda _: None)
    file = invitations.write("a", room=1, seat=Seat(0), address="far:7117", ticket="secret")
    assert set(variables(file)) == {"HOKM_ADDRESS", "HOKM_TICKET"}
    assert os.listdir(tmp_path / "t") == [file.name]


def test_a_folder_with_odd_characters_can_be_sourced(tmp_path: Path) -> None:
    folder = tmp_path / "it's $HOME"
    invitations = open_invitations(folder, certificates=b"PEM", tell=lambda _: None)
    file = invitations.write("a", room=1, seat=Seat(0), address="far:1", ticket="-_x")
    script = '. "$1" && printf %s "$HOKM_TLS_CA"'
    ran = subprocess.run(["sh", "-c", script, "sh", file], capture_output=True, check=True)
    assert ran.stdout.decode() == str(next(folder.glob("arena-*.pem")))


def test_a_folder_that_others_can_look_into_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o750)
    with pytest.raises(OSError, match="chmod 700 it"):
        open_invitations(folder, certificates=None, tell=lambda _: None)
    assert not list(folder.iterdir())


def test_a_file_that_is_there_is_not_written_through(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    invitations = open_invitations(tmp_path / "t", certificates=None, tell=lambda _: None)
    there = tmp_path / "t" / f"a-{invitations.mark}-room1-seat0.env"
    there.symlink_to(elsewhere)
    file = invitations.write("a", room=1, seat=Seat(0), address="far:1", ticket="secret")
    assert elsewhere.read_text() == "mine"
    assert file == there
    assert not file.is_symlink()


def test_matches_that_share_a_folder_do_not_touch_each_others_files(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    files: list[Path] = []
    for certificates in (b"one", b"one", b"two"):
        invitations = open_invitations(folder, certificates=certificates, tell=lambda _: None)
        ticket = f"ticket{len(files)}"
        files.append(invitations.write("a", room=1, seat=Seat(0), address="far:1", ticket=ticket))
    said = [variables(file) for file in files]
    assert [one["HOKM_TICKET"] for one in said] == ["ticket0", "ticket1", "ticket2"]
    read = [Path(one["HOKM_TLS_CA"]).read_bytes() for one in said]
    assert read == [b"one", b"one", b"two"]
    assert len(list(folder.iterdir())) == 5


def test_a_folder_that_was_removed_is_made_again_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    invitations = open_invitations(folder, certificates=b"PEM", tell=lambda _: None)
    shutil.rmtree(folder)
    file = invitations.write("a", room=1, seat=Seat(0), address="far:1", ticket="secret")
    assert Path(variables(file)["HOKM_TLS_CA"]).read_bytes() == b"PEM"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_that_cannot_be_written_is_named_and_leaves_no_ticket(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    invitations = open_invitations(folder, certificates=None, tell=lambda _: None)
    there = folder / f"a-{invitations.mark}-room1-seat0.env"
    there.mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        invitations.write("a", room=1, seat=Seat(0), address="far:1", ticket="secret")
    assert caught.value.filename == str(there)
    assert list(folder.iterdir()) == [there]


# -- who comes

Connect = trio.MemorySendChannel[MemoryConnection]


@asynccontextmanager
async def a_house(folder: Path) -> AsyncIterator[tuple[House, Connect]]:
    connect, arrivals = trio.open_memory_channel[MemoryConnection](10)
    async with open_lobby(arrivals) as lobby, open_host(now=trio.current_time) as host:
        house = House(
            host=host,
            lobby=lobby,
            address="nowhere",
            python="python",
            running=folder / "running",
            logs=folder / "logs",
            prefix=(),
            hello_seconds=HELLO_SECONDS,
            now=trio.current_time,
            network_address="far:7117",
            invitations=Invitations(folder, None, lambda _: None),
        )
        yield house, connect


def a_player(house: House, folder: Path, *, resume_seconds: float = 0.0) -> RemotePlayer:
    return RemotePlayer(
        house,
        remote_entrant("rostam"),
        index=0,
        room=2,
        slot=Seat(1),
        logs=folder,
        resume_seconds=resume_seconds,
    )


def files_in(folder: Path) -> list[Path]:
    return list(folder.glob("*.env"))


async def started(player: RemotePlayer, connect: Connect, folder: Path, *, says: str) -> bool:
    """Start a player for which a bot comes that says something."""
    came = False
    async with trio.open_nursery() as nursery:

        async def start() -> None:
            nonlocal came
            came = await player.start(nursery)

        nursery.start_soon(start)
        await trio.testing.wait_all_tasks_blocked()
        [file] = files_in(folder)
        assert file.name.startswith("rostam-")
        assert file.name.endswith("-room2-seat1.env")
        connection = MemoryConnection(variables(file)["HOKM_TICKET"])
        match says:
            case "hello":
                connection.hello("rostam")
            case "hello, and is cut off":
                connection.hello("rostam")
                connection.hang_up()
            case "nonsense":
                connection.say_bytes(b"\xff")
            case "nothing":
                connection.hang_up()
        await connect.send(connection)
    assert files_in(folder) == [], "a used ticket's file is gone"
    return came


async def test_who_comes_with_the_ticket_takes_the_seat(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with a_house(tmp_path) as (house, connect):
        player = a_player(house, tmp_path)
        assert await started(player, connect, tmp_path, says="hello")
        assert player.session is not None
        assert player.hello is not None
        assert player.hello.name == "rostam"
        session = player.session
        await player.end()
        assert session.closed is not None
        assert player.ended == []  # no process of ours


@pytest.mark.parametrize(("says", "failure"), [("nonsense", "no hello"), ("nothing", "went away")])
async def test_who_comes_and_says_something_else_has_not_started(
    says: str, failure: str, tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with a_house(tmp_path) as (house, connect):
        player = a_player(house, tmp_path)
        assert not await started(player, connect, tmp_path, says=says)
        assert failure in (player.failure or "")


async def test_where_nobody_comes_it_has_not_started(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with a_house(tmp_path) as (house, _), trio.open_nursery() as nursery:
        player = a_player(house, tmp_path)
        began = trio.current_time()
        assert not await player.start(nursery)
        assert trio.current_time() - began == pytest.approx(HELLO_SECONDS)
        assert isinstance(house.invitations, Invitations)
        name = f"rostam-{house.invitations.mark}-room2-seat1.env"
        assert player.failure == f"nobody came with the ticket in {name} within 60.0 s"
        assert files_in(tmp_path) == []


async def test_one_that_died_is_invited_again_with_another_ticket(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    tickets: list[str] = []

    def note(line: str) -> None:
        if line.endswith(".env"):
            tickets.append(variables(Path(line.rpartition(": ")[2]))["HOKM_TICKET"])

    async with a_house(tmp_path) as (house, connect):
        invitations = Invitations(tmp_path, None, note)
        player = a_player(replace(house, invitations=invitations), tmp_path)
        for _ in range(2):
            assert await started(player, connect, tmp_path, says="hello")
            await player.end(wait_seconds=0)
    assert len(set(tickets)) == 2


async def test_one_whose_first_ticket_cannot_be_written_ends_the_command(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    folder = tmp_path / "t"
    async with a_house(folder) as (house, _), trio.open_nursery() as nursery:
        folder.touch()
        with pytest.raises(FileExistsError):
            await a_player(house, tmp_path).start(nursery)


async def test_one_whose_next_ticket_cannot_be_written_does_not_come_again(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    folder = tmp_path / "t"
    async with a_house(folder) as (house, connect), trio.open_nursery() as nursery:
        player = a_player(house, tmp_path)
        assert await started(player, connect, folder, says="hello")
        await player.end(wait_seconds=0)
        folder.rmdir()
        folder.touch()
        assert not await player.start(nursery)
        assert player.failure == f"its ticket cannot be written: {folder}: File exists"
        folder.unlink()
        assert await started(player, connect, folder, says="hello"), "it can be written again"
        await player.end(wait_seconds=0)


async def test_a_file_that_somebody_removed_is_nobodys_trouble(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    folder = tmp_path / "t"
    async with a_house(folder) as (house, _), trio.open_nursery() as nursery:
        nursery.start_soon(a_player(house, tmp_path).start, nursery)
        await trio.testing.wait_all_tasks_blocked()
        shutil.rmtree(folder)
        folder.touch()


async def test_who_is_away_and_back_is_told_and_logged_for_its_match(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    told: list[str] = []
    log = tmp_path / "log"
    async with a_house(tmp_path) as (house, connect), trio.open_nursery() as nursery:
        invitations = Invitations(tmp_path, None, told.append)
        player = a_player(replace(house, invitations=invitations), tmp_path, resume_seconds=20.0)
        with logs.written(logs.Format.JSON, file=log):
            with logs.about("the match"):
                assert await started(player, connect, tmp_path, says="hello, and is cut off")
            session = player.session
            assert session is not None
            told.clear()
            nursery.start_soon(session.hear)
            await trio.testing.wait_all_tasks_blocked()
            back = MemoryConnection(resume_token=session.resume_tokens[0])
            back.hello("rostam")
            await connect.send(back)
            await trio.testing.wait_all_tasks_blocked()
        await player.end()
        nursery.cancel_scope.cancel()
    assert told == [
        "remote:rostam, room 2, seat 1: is away, and may come back within 20 s",
        "remote:rostam, room 2, seat 1: is back",
    ]
    *_, away, again = map(json.loads, log.read_text().splitlines())
    assert (away["message"], away["seconds"]) == ("bot is away", 20.0)
    assert again["message"] == "bot is back"
    for line in (away, again):
        here = line["match"], line["bot"], line["room"], line["seat"]
        assert here == ("the match", "rostam", 2, 1)
