"""Calls answered one task each, without a wire: every end has its status, and leaves nothing."""

import random
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.ladder.bots.shelf import Bundles, FolderShelf
from arena.ladder.errors import LadderError
from arena.ladder.facts import SubmissionState
from arena.referee.calls import Status
from arena.service import messages, values
from arena.service.answering import (
    LEAST_BYTES,
    LEAST_SECONDS,
    LONGEST_DETAILS,
    answer,
    answer_calls,
)
from arena.service.errors import Fault, ServiceError
from tests.arena.service.worlds import MemoryCall, World, upload


async def answered(world: World, call: MemoryCall) -> MemoryCall:
    await answer(call, world.service, trio.CapacityLimiter(1))
    assert call.status is not None
    assert len(call.details) <= LONGEST_DETAILS + 1
    return call


def asking(request: values.Request, token: str = "") -> MemoryCall:
    return MemoryCall(*messages.encode_request(request), token=token)


def parts(world: World) -> list[str]:
    folder = world.service.intake.folder
    return [file.name for file in folder.iterdir()] if folder.exists() else []


async def test_an_upload_is_taken_in(world: World) -> None:
    packed = world.packed("new")
    call = MemoryCall("Submit", *upload(packed, piece=100), token=world.tokens["ada"])
    await answered(world, call)
    assert (call.status, call.details) == (Status.OK, "")
    sent = messages.decode_submitted(call.sent[0])
    assert sent.shown.submission.digest == packed.entrant.digest
    assert parts(world) == [f"{packed.entrant.digest}.zip"]


async def test_what_is_taken_back_is_no_longer_on_the_disk(world: World) -> None:
    packed, token = world.packed("new"), world.tokens["ada"]
    send = partial(MemoryCall, "Submit", *upload(packed), token=token)
    await answered(world, send())
    assert parts(world) == [f"{packed.entrant.digest}.zip"]
    call = await answered(world, asking(values.WithdrawBot("new"), token))
    assert (call.status, parts(world)) == (Status.OK, [])
    assert (await answered(world, send())).status is Status.OK
    assert parts(world) == [f"{packed.entrant.digest}.zip"]


async def test_what_others_ask_for_stays_when_it_is_taken_back(world: World) -> None:
    """The same archive was sent in before, and accepted."""
    packed, accounts = world.packed("new"), world.ladder.store.accounts
    world.submit("ada", packed)
    world.decide(1, SubmissionState.ACCEPTED)
    accounts.submit(
        owner=world.owners["ada"].number,
        name="new",
        version="1.0",
        digest=packed.entrant.digest,
        size_bytes=1,
        at="2026-03-21T12:00:00Z",
    )
    call = await answered(world, asking(values.WithdrawBot("new"), world.tokens["ada"]))
    assert (call.status, call.details) == (Status.OK, "")
    assert parts(world) == [f"{packed.entrant.digest}.zip"]


async def test_what_is_refused_once_it_was_kept_is_not_left(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name was free when it was looked at, and is another's by now."""
    refused = ServiceError(Fault.TAKEN, "it is another's", remedy="take another name")

    def too_late(*_: object) -> values.Submitted:
        raise refused

    monkeypatch.setattr(world.service, "finish_upload", too_late)
    call = MemoryCall("Submit", *upload(world.packed("new")), token=world.tokens["ada"])
    assert (await answered(world, call)).status is Status.ALREADY_EXISTS
    assert parts(world) == []


def test_what_is_just_being_removed_is_not_taken_in_meanwhile(world: World) -> None:
    packed, caller = world.packed("new"), world.caller("ada")
    world.submit("ada", packed)
    world.service.withdraw_bot(caller, values.WithdrawBot("new"))
    remove = world.service.removal_of(packed.entrant.digest)
    assert remove is not None
    with pytest.raises(ServiceError) as caught:
        world.submit("ada", packed)
    assert caught.value.fault is Fault.NOT_NOW
    remove()
    assert not world.submit("ada", packed).was_here
    assert world.service.removal_of(packed.entrant.digest) is None


def headless(requests: list[bytes]) -> list[bytes]:
    return requests[1:]


def two_headed(requests: list[bytes]) -> list[bytes]:
    return [requests[0], *requests]


def cut(requests: list[bytes]) -> list[bytes]:
    return requests[:-1]


def too_long(requests: list[bytes]) -> list[bytes]:
    return [*requests, requests[-1]]


def garbled(requests: list[bytes]) -> list[bytes]:
    return [requests[0], b"\xff\xff"]


def nothing(requests: list[bytes]) -> list[bytes]:
    return []


def hollow(requests: list[bytes]) -> list[bytes]:
    return [requests[0], messages.encode_submit_part(values.Piece(b"")), *requests[1:]]


@pytest.mark.parametrize("spoil", [headless, two_headed, cut, too_long, garbled, nothing, hollow])
async def test_an_upload_that_is_none_is_refused_and_leaves_nothing(
    world: World, spoil: Callable[[list[bytes]], list[bytes]]
) -> None:
    requests = spoil(list(upload(world.packed("new"), piece=100)))
    call = await answered(world, MemoryCall("Submit", *requests, token=world.tokens["ada"]))
    assert call.status is Status.INVALID_ARGUMENT
    assert call.details
    assert parts(world) == []
    assert world.ladder.store.accounts.submissions(1) == ()
    again = MemoryCall("Submit", *upload(world.packed("new")), token=world.tokens["ada"])
    assert (await answered(world, again)).status is Status.OK


@pytest.mark.parametrize("heard", [1, 2, 5])
async def test_who_leaves_in_the_middle_leaves_nothing(world: World, heard: int) -> None:
    call = MemoryCall("Submit", *upload(world.packed("new"), piece=100), token=world.tokens["ada"])
    call.leaves_after = heard
    await answered(world, call)
    assert call.status is not Status.OK
    assert parts(world) == []
    again = MemoryCall("Submit", *upload(world.packed("new")), token=world.tokens["ada"])
    assert (await answered(world, again)).status is Status.OK


class Trickle(MemoryCall):
    """An upload whose pieces come so many seconds one after the other."""

    seconds = 1.0

    async def receive(self) -> bytes | None:
        if self._heard:
            await trio.sleep(self.seconds)
        return await super().receive()


@pytest.mark.parametrize("piece", [1, 100])
async def test_an_upload_that_trickles_keeps_its_place_for_seconds(
    world: World, autojump_clock: trio.testing.MockClock, piece: int
) -> None:
    call = Trickle("Submit", *upload(world.packed("new"), piece=piece), token=world.tokens["ada"])
    call.seconds = 9.0
    await answered(world, call)
    assert call.status is Status.RESOURCE_EXHAUSTED
    assert "64 KiB in 10 s" in call.details
    assert trio.current_time() == LEAST_SECONDS
    assert parts(world) == []
    again = MemoryCall("Submit", *upload(world.packed("new")), token=world.tokens["ada"])
    assert (await answered(world, again)).status is Status.OK


async def test_an_upload_that_is_fast_enough_may_take_a_while(
    world: World, autojump_clock: trio.testing.MockClock
) -> None:
    noise = "".join(random.Random(4).choices("0123456789abcdef", k=600_000))
    requests = list(upload(world.packed("new", code=f"print('{noise}')"), piece=LEAST_BYTES))
    assert len(requests) > 4
    call = Trickle("Submit", *requests, token=world.tokens["ada"])
    call.seconds = LEAST_SECONDS - 0.5
    await answered(world, call)
    assert (call.status, call.details) == (Status.OK, "")
    assert trio.current_time() > 4 * (LEAST_SECONDS - 1)


async def test_what_is_cancelled_leaves_nothing(world: World) -> None:
    class Slow(MemoryCall):
        async def receive(self) -> bytes | None:
            if self._heard == 2:
                await trio.sleep_forever()
            return await super().receive()

    call = Slow("Submit", *upload(world.packed("new"), piece=100), token=world.tokens["ada"])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer, call, world.service, trio.CapacityLimiter(1))
        await trio.testing.wait_all_tasks_blocked()
        assert len(parts(world)) == 1
        nursery.cancel_scope.cancel()
    assert parts(world) == []
    assert call.status is Status.UNAVAILABLE


async def test_a_store_that_is_away_enters_nothing_and_the_same_again_does(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch()  # a file in the place of the folder
    world.service.intake.bundles = Bundles(world.service.intake.folder, FolderShelf(elsewhere))
    packed = world.packed("new")
    call = MemoryCall("Submit", *upload(packed), token=world.tokens["ada"])
    await answered(world, call)
    assert call.status is Status.UNAVAILABLE
    assert "and nothing was entered; send it again in some minutes" in call.details
    assert str(tmp_path) not in call.details
    assert f"{elsewhere}: cannot be written" in caplog.text
    assert world.ladder.store.accounts.submissions(1) == ()
    assert parts(world) == []
    elsewhere.unlink()
    again = MemoryCall("Submit", *upload(packed), token=world.tokens["ada"])
    assert (await answered(world, again)).status is Status.OK
    assert parts(world) == []
    assert [file.name for file in elsewhere.iterdir()] == [f"{packed.entrant.digest}.zip"]


async def test_a_store_that_does_not_answer_keeps_nobody_else_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, is_asked = threading.Event(), threading.Event()

    def put(digest: str, file: Path) -> None:
        is_asked.set()
        go_on.wait(60)

    monkeypatch.setattr(world.service.intake.bundles, "put", put)
    call = MemoryCall("Submit", *upload(world.packed("new")), token=world.tokens["ada"])
    limiter = trio.CapacityLimiter(1)
    try:
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(answer, call, world.service, limiter)
                await trio.to_thread.run_sync(is_asked.wait, 30)
                other = asking(values.GetStandings())
                await answer(other, world.service, limiter)
                assert other.status is Status.OK
                nursery.cancel_scope.cancel()  # an end is not kept waiting either
        assert call.status is Status.UNAVAILABLE
        assert parts(world) == []
    finally:
        go_on.set()


STATUSES = {
    "without a token": (lambda world: asking(values.ListBots()), Status.UNAUTHENTICATED),
    "not allowed": (
        lambda world: asking(values.RegisterOwner("dara")),
        Status.PERMISSION_DENIED,
    ),
    "not there": (lambda world: asking(values.GetRecord("x")), Status.NOT_FOUND),
    "no message": (lambda world: MemoryCall("GetLog", b"\xff"), Status.INVALID_ARGUMENT),
    "no request": (lambda world: MemoryCall("GetStatus"), Status.INVALID_ARGUMENT),
    "no page": (
        lambda world: asking(values.ListResults(page_token="x")),
        Status.INVALID_ARGUMENT,
    ),
}


@pytest.mark.parametrize("name", STATUSES)
async def test_what_is_not_done_has_its_status_and_says_what_to_do(world: World, name: str) -> None:
    make, status = STATUSES[name]
    call = await answered(world, make(world))
    assert (call.status, call.sent) == (status, [])
    assert call.details
    assert "\n" not in call.details


async def test_what_is_asked_too_often_is_turned_away(world: World) -> None:
    for _ in range(60):
        await answered(world, asking(values.GetStatus()))
    call = await answered(world, asking(values.GetStatus()))
    assert call.status is Status.RESOURCE_EXHAUSTED
    assert "wait 1 s" in call.details


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (LadderError("/srv/club/ladder.db", "is damaged", remedy="restore it"), Status.UNAVAILABLE),
        (ZeroDivisionError("/srv/club"), Status.INTERNAL),
        (OSError(5, "EIO", "/srv/club/x"), Status.INTERNAL),
    ],
)
async def test_a_fault_of_the_ladder_is_in_its_log_and_nowhere_else(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: Status,
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(world.service, "get_status", fails)
    call = await answered(world, asking(values.GetStatus()))
    assert call.status is status
    assert "/srv" not in call.details
    assert "operator" in call.details
    assert str(error) in caplog.text


async def test_calls_are_answered_several_at_once(world: World) -> None:
    send, receive = trio.open_memory_channel[MemoryCall](9)
    stuck = MemoryCall("Submit", token=world.tokens["ada"])
    stuck.receive = trio.sleep_forever  # type: ignore[method-assign]
    other = asking(values.GetStatus())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer_calls, receive, world.service)
        await send.send(stuck)
        await send.send(other)
        await trio.testing.wait_all_tasks_blocked()
        assert other.status is Status.OK
        assert stuck.status is None
        nursery.cancel_scope.cancel()


async def test_a_file_that_is_longer_than_it_was_is_sent_as_long_as_it_was_said(
    world: World,
) -> None:
    match = world.match_of("ada", "bob")
    world.write_logs(match)

    class Growing(MemoryCall):
        async def send(self, reply: bytes) -> None:
            await super().send(reply)
            for file in (world.ladder.folder / "logs").rglob("*.log"):
                with file.open("a") as more:
                    more.write("x" * 1000)

    call = await answered(
        world, Growing(*messages.encode_request(values.GetLog(match)), token=world.tokens["ada"])
    )
    assert call.status is Status.OK
    told = [messages.decode_log_part(part) for part in call.sent]
    sizes = [one.size_bytes for one in told if isinstance(one, values.LogHeader)]
    pieces = [len(one.data) for one in told if isinstance(one, values.Piece)]
    assert pieces == sizes
