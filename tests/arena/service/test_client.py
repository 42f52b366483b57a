"""The client against the service, over real gRPC on the loopback: the main path, and what is said
where it fails.
"""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
import trio

from arena.ladder.facts import SubmissionState
from arena.referee.bridge import serve
from arena.referee.serving import Network
from arena.service.answering import SERVICES, answer_calls
from arena.service.client import LadderClient, Server, _no_way, _pieces, connected
from arena.service.errors import ServerError
from arena.service.handlers import Openness
from arena.service.values import LogHeader, Piece
from hokm.records import load
from tests.arena.referee.certificates import authority, issue
from tests.arena.referee.test_bridge import bridge_threads
from tests.arena.service.worlds import World

ROOTS = authority().cert_pem.bytes()
GUARD_SECONDS = 60.0
T = TypeVar("T")


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    yield
    assert not bridge_threads()


@asynccontextmanager
async def served(world: World, *, is_open: bool = False) -> AsyncIterator[str]:
    """Where the service of a world is."""
    network = Network(
        listen="127.0.0.1:0",
        reached_at="localhost",
        tls=None if is_open else issue(authority(), "localhost"),
    )
    with trio.fail_after(GUARD_SECONDS):
        async with (
            serve("127.0.0.1:0", network=network, services=SERVICES) as bridge,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(answer_calls, bridge.calls, world.service)
            yield bridge.network_address
            nursery.cancel_scope.cancel()


async def asked(
    address: str, ask: Callable[[LadderClient], T], *, token: str = "", **server: object
) -> T:
    """What a client in a thread of its own comes to."""
    where = Server(address=address, **({"roots": ROOTS, "is_here": True} | server))  # type: ignore[arg-type]

    def run() -> T:
        with connected(where, token=token) as client:
            return ask(client)

    return await trio.to_thread.run_sync(run)


async def failed(address: str, ask: Callable[[LadderClient], object], **server: object) -> str:
    with pytest.raises(ServerError) as caught:
        await asked(address, ask, **server)  # type: ignore[arg-type]
    text = str(caught.value)
    assert text.startswith(f"{address}: ")
    assert "\n" not in text
    return text


async def test_a_bot_is_sent_followed_seen_and_taken_out(world: World, tmp_path: Path) -> None:
    world.open(Openness(may_register=True))
    async with served(world) as address:
        made = await asked(address, lambda client: client.register("dara"))
        packed = world.packed("big", owner="dara", code=f"# {'x' * 2_000_000}\n")
        ask = partial(asked, address, token=made.token)
        told: list[tuple[int, int]] = []
        submit = partial(
            LadderClient.submit,
            archive=packed.file,
            digest=packed.entrant.digest,
            told=lambda *sent: told.append(sent),
        )
        sent = await ask(submit)
        size = packed.file.stat().st_size
        assert told[-1] == (size, size)
        assert len(told) > 5
        assert (sent.was_here, sent.shown.submission.number) == (False, 1)
        kept = world.service.intake.bundles.own.file_of(packed.entrant.digest)
        assert kept.stat().st_size == size
        assert (await ask(submit)).was_here
        found = await ask(LadderClient.submission)
        assert (found.submission.state, found.report) == (SubmissionState.WAITING, "")
        world.decide(1, SubmissionState.REFUSED)
        found = await ask(lambda client: client.submission(1))
        assert found.submission.state is SubmissionState.REFUSED
        assert "said" in found.report
        assert [one.submission.number for one in await ask(lambda c: list(c.submissions()))] == [1]
        assert (await ask(LadderClient.bots)).bots == ()
    assert list(world.service.intake.folder.glob(".*")) == []


async def test_an_owner_gets_logs_and_records_and_withdraws(world: World, tmp_path: Path) -> None:
    match = world.match_of("ada", "bob")
    world.write_logs(match)
    async with served(world) as address:
        ask = partial(asked, address, token=world.tokens["ada"])

        def logs(client: LadderClient) -> list[bytes]:
            return [b"".join(file) for file in client.logs(match)]

        assert set(await ask(logs)) == {
            b"printed by ada, start 1\n",
            b"printed by ada, start 2\n",
        }
        skipped = await ask(lambda client: [file.header for file in client.logs(match)])
        assert len(skipped) == 8

        def record(client: LadderClient) -> bytes:
            return b"".join(client.record(match))

        file = tmp_path / "record.json.gz"
        file.write_bytes(await ask(record))
        assert load(file).match == match
        assert (await ask(lambda client: client.withdraw("ada"))).inactive_because == "withdrawn"
        assert not world.ladder.store.bots()[0].is_active


async def test_anybody_sees_standings_results_and_the_status(world: World) -> None:
    async with served(world) as address:
        standings = await asked(address, LadderClient.standings)
        assert standings == world.ladder.standings()
        results = await asked(address, lambda client: list(client.results()))
        assert [one.match for one in results] == [
            one.match for one in reversed(world.ladder.store.results())
        ]
        assert (await asked(address, LadderClient.status)).ladder == "club"


async def test_what_the_ladder_says_no_with_comes_through(world: World) -> None:
    async with served(world) as address:
        assert "needs a token" in await failed(address, LadderClient.bots)
        wrong = "hokm_" + "A" * 43
        text = await failed(address, LadderClient.bots, token=wrong)
        assert "not known here" in text
        assert wrong not in text
        text = await failed(address, lambda client: client.record("ev9/r1/a~b"))
        assert "no match 'ev9/r1/a~b' is decided here" in text
        packed = world.packed("other", owner="o-bob")
        submit = partial(LadderClient.submit, archive=packed.file, digest=packed.entrant.digest)
        text = await failed(address, submit, token=world.tokens["ada"])
        assert 'write owner = "o-ada"' in text


def test_a_file_that_is_shorter_than_it_was_said_is_none() -> None:
    parts: Iterator[LogHeader | Piece] = iter([Piece(b"12345")])
    with pytest.raises(ServerError, match="not as long"):
        list(_pieces(parts, [], size=6, server=Server(address="a:1")))
    parts = iter([Piece(b"12345")])
    assert list(_pieces(parts, [], size=5, server=Server(address="a:1"))) == [b"12345"]


async def test_a_fault_of_the_ladder_is_its_own_and_in_its_log(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(world.service, "list_results", lambda *_: 1 / 0)
    async with served(world) as address:
        text = await failed(address, lambda client: list(client.results()))
        assert "tell its operator" in text
        assert "division" not in text
    assert "ZeroDivisionError" in caplog.text


async def test_who_cannot_be_reached_and_why(world: World) -> None:
    text = await failed("127.0.0.1:1", LadderClient.status)
    assert "nobody listens there" in text
    text = await failed("no-such-host.invalid:7117", LadderClient.status)
    assert "no host of that name" in text or "cannot be reached" in text
    async with served(world) as address:
        text = await failed(
            address, LadderClient.status, roots=authority("another").cert_pem.bytes()
        )
        assert "--ca" in text
        text = await failed(address, LadderClient.status, is_open=True)
        assert "TLS" in text
    async with served(world, is_open=True) as address:
        text = await failed(address, LadderClient.status)
        assert "--insecure" in text
        assert (await asked(address, LadderClient.status, is_open=True)).ladder == "club"


async def test_a_referee_without_a_ladder_is_said_to_be_none(world: World) -> None:
    network = Network(listen="127.0.0.1:0", reached_at="localhost")
    with trio.fail_after(GUARD_SECONDS):
        async with serve("127.0.0.1:0", network=network) as bridge:
            text = await failed(bridge.network_address, LadderClient.status, is_open=True)
    assert "is no ladder that takes bots" in text


async def test_tokens_are_in_no_log(
    world: World, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        caplog.set_level(logging.DEBUG, logger=name)
    world.open(Openness(may_register=True))
    secrets = [*world.tokens.values(), "hokm_" + "B" * 43]
    async with served(world) as address:
        made = await asked(address, lambda client: client.register("dara"))
        secrets.append(made.token)
        for token in secrets:
            for ask in (LadderClient.bots, LadderClient.submission, LadderClient.status):
                with contextlib.suppress(ServerError):
                    await asked(address, ask, token=token)
    out, err = capfd.readouterr()
    written = "\n".join([caplog.text, out, err, *(repr(vars(one)) for one in caplog.records)])
    assert "refused a call" in written
    for secret in secrets:
        assert secret not in written


def test_what_was_not_given_is_not_to_be_left_out() -> None:
    told = _no_way(Server(address="127.0.0.1:1", is_open=True), "Socket closed")
    assert told.endswith("Then give --ca FILE")
    told = _no_way(Server(address="a:1", is_open=True, is_told_so=True), "Socket closed")
    assert told.endswith("Then leave --insecure out, and give --ca")
