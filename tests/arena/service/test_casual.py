"""Casual tables, in virtual time: who sits with whom, when it begins, and what comes of it."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.ladder.bots.entrants import SAMPLES, load_bot
from arena.ladder.facts import Bot, Owner
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Watcher
from arena.ladder.processes.invitations import Guest, Inviting
from arena.ladder.testing import InProcessRunner
from arena.service.casual import (
    MOST_OF_A_HOST,
    TRIES,
    WAIT_SECONDS,
    Tables,
)
from arena.service.choices import Casual
from arena.service.errors import Fault, ServiceError
from hokm.cards import Seat
from hokm.outcome import Ending
from hokm.records import Format, MatchRecord, Policy, load, verify
from hokm.seats import (
    HomeAnswer,
    HomeAnswerKind,
    HomeHello,
    Partners,
    SeatOffer,
    SeatOver,
    TableWish,
    ToHome,
)

Clock = trio.testing.MockClock
NOW = datetime(2026, 3, 21, 12, 0, tzinfo=UTC)
HELLO_SECONDS = 30.0


class TableRunner:
    """A runner that invites who comes from elsewhere, waits for them, and plays in this process."""

    def __init__(self) -> None:
        self.plans: list[MatchPlan] = []
        self.faults: list[Ending] = []
        """Of the next matches, in order."""
        self.game_seconds = 5.0
        self.waits_seconds = 0.0
        """For a core."""

    async def play(
        self, plan: MatchPlan, *, watcher: Watcher, invitations: Inviting | None = None
    ) -> MatchRecord:
        self.plans.append(plan)
        assert invitations is not None
        guests = [
            Guest(match=plan.match, name=one.name, entrant=index, room=1, seat=Seat(index))
            for index, one in enumerate(plan.entrants)
            if one.is_remote
        ]
        kept = await invitations.reserve(guests, has_begun=lambda: False)
        await trio.sleep(self.waits_seconds)
        offers = [
            (guest, invitations.invite(guest, address="a:1", ticket="t", seconds=HELLO_SECONDS))
            for guest in guests
        ]
        missing = None
        for guest, offer in offers:
            with trio.move_on_after(HELLO_SECONDS if "sleepy" in guest.name else 0.1) as waited:
                await offer.refused()
                missing = guest.entrant
            if waited.cancelled_caught and "sleepy" in guest.name:
                missing = guest.entrant
            offer.used()
        fault = self.faults.pop(0) if self.faults else None
        faults: dict[tuple[str, int], tuple[Ending, int | None]] = {}
        if missing is not None:
            faults = {(plan.match, 1): (Ending.NEVER_STARTED, missing)}
        elif fault is not None:
            faults = {(plan.match, 1): (fault, None)}
        else:
            await trio.sleep(self.game_seconds)
        for _, offer in offers:
            offer.over()
        kept.release()
        return await InProcessRunner(faults=faults).play(plan, watcher=watcher)


@dataclass(eq=False)
class Sitter:
    """Somebody who sat down, and what he was told."""

    tables: Tables
    told: list[ToHome] = field(default_factory=list)
    error: ServiceError | None = None
    ended: trio.Event = field(default_factory=trio.Event)

    def say(self, message: ToHome) -> None:
        self.told.append(message)

    def end(self, error: ServiceError | None = None) -> None:
        self.error = error
        self.ended.set()
        self.tables.left(self)

    @property
    def offers(self) -> int:
        return sum(isinstance(message, SeatOffer) for message in self.told)

    @property
    def overs(self) -> int:
        return sum(isinstance(message, SeatOver) for message in self.told)


@dataclass
class Hall:
    tables: Tables
    runner: TableRunner
    records: Path

    def sits(
        self,
        name: str,
        players: int = 4,
        partners: Partners = Partners.FIXED,
        *,
        owner: Owner | None = None,
        host: str = "10.0.0.1",
    ) -> Sitter:
        sitter = Sitter(self.tables)
        hello = HomeHello(1, "sdk", name, "2", 1, (), TableWish(players, partners))
        self.tables.sit_down(owner, hello, sitter, host=host)
        return sitter

    def names(self, table: int = -1) -> Sequence[str]:
        return [entrant.name for entrant in self.runner.plans[table].entrants]

    def kept(self) -> list[MatchRecord]:
        return [load(file) for file in sorted(self.records.glob("casual/*.json.gz"))]


@asynccontextmanager
async def a_hall(
    tmp_path: Path,
    *,
    casual: Casual = Casual.OPEN,
    most_tables: int = 8,
    most_records: int = 50,
    entered: Sequence[Bot] = (),
) -> AsyncIterator[Hall]:
    runner = TableRunner()
    tables = Tables(
        runner,
        casual=casual,
        house=load_bot(SAMPLES / "house"),
        records=tmp_path / "records",
        logs=tmp_path / "logs",
        draw=os.urandom,
        now=lambda: NOW,
        entered=lambda: entered,
        most_tables=most_tables,
        most_records=most_records,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tables.run)
        yield Hall(tables, runner, tmp_path / "records")
        nursery.cancel_scope.cancel()


def a_bot(name: str, owner: str) -> Bot:
    return Bot(
        number=1,
        name=name,
        owner=owner,
        version="1",
        digest="ab" * 32,
        program="cd" * 32,
        reference=False,
        rated=True,
    )


@pytest.mark.parametrize("name", ["rostam", "Rostam", "ROSTAM", "ｒostam", "house", "House"])
@pytest.mark.parametrize("owner", [None, Owner(2, "bob", "bob", "2026-01-01T00:00:00Z")])
async def test_nobody_sits_down_under_the_name_of_a_bot_that_is_not_his(
    tmp_path: Path, autojump_clock: Clock, name: str, owner: Owner | None
) -> None:
    async with a_hall(tmp_path, entered=[a_bot("rostam", "ada")]) as hall:
        with pytest.raises(ServiceError, match="take another name") as refused:
            hall.sits(name, owner=owner)
        assert refused.value.fault is Fault.TAKEN
        assert hall.tables.waiting == 0
        hall.sits("rostam2", owner=owner)
        assert hall.tables.waiting == 1


async def test_an_owner_sits_down_under_the_name_of_his_own_bot(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path, entered=[a_bot("rostam", "Ada")]) as hall:
        hall.sits("rostam", owner=Owner(1, "ada", "ada", "2026-01-01T00:00:00Z"))
        assert hall.tables.waiting == 1


async def test_a_full_table_begins_at_once_in_the_order_in_which_they_came(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        four = [hall.sits(name) for name in ("ada", "bob", "cyd", "dan")]
        await four[0].ended.wait()
        assert trio.current_time() < WAIT_SECONDS
        assert hall.names() == ["ada", "bob", "cyd", "dan"]
        plan = hall.runner.plans[0]
        assert (plan.format, plan.policy) == (Format.CLASSIC, Policy.CASUAL)
        assert (plan.length, list(plan.rooms)) == (1, [1])
        assert plan.seatings(1)[0] == (0, 1, 2, 3)  # so ada and cyd are partners
        assert all(sitter.error is None for sitter in four)
        [record] = hall.kept()
        assert list(verify(record)) == []
        assert record.policy is Policy.CASUAL


@pytest.mark.parametrize(("players", "sitting"), [(2, 1), (3, 2), (4, 1), (4, 3)])
async def test_house_bots_take_the_empty_seats_after_a_while(
    tmp_path: Path, autojump_clock: Clock, players: int, sitting: int
) -> None:
    async with a_hall(tmp_path) as hall:
        there = [hall.sits(f"bot{number}", players) for number in range(sitting)]
        await trio.sleep(WAIT_SECONDS - 1)
        assert not hall.runner.plans
        await there[0].ended.wait()
        assert trio.current_time() < WAIT_SECONDS + 10
        names = [f"bot{number}" for number in range(sitting)]
        assert hall.names() == names + ["house"] * (players - sitting)
        [record] = hall.kept()
        assert list(verify(record)) == []


async def test_partners_may_be_drawn(tmp_path: Path, autojump_clock: Clock) -> None:
    async with a_hall(tmp_path) as hall:
        sitter = hall.sits("ada", 4, Partners.SECOND_ACE)
        await sitter.ended.wait()
        assert hall.runner.plans[0].draws_partners
        assert list(verify(hall.kept()[0])) == []


async def test_who_wants_another_table_sits_at_another(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        hall.sits("ada", 2)
        hall.sits("bob", 4)
        hall.sits("cyd", 4, Partners.SECOND_ACE)
        dan = hall.sits("dan", 2)
        await dan.ended.wait()
        assert hall.names() == ["ada", "dan"]
        assert len(hall.runner.plans) == 1


async def test_who_leaves_while_he_waits_is_not_waited_for(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        ada, bob = hall.sits("ada", 2), hall.sits("bob", 4)
        hall.tables.left(ada)
        cyd = hall.sits("cyd", 2)
        await cyd.ended.wait()
        assert hall.names(0) in (["cyd", "house"], ["bob", "house", "house", "house"])
        await bob.ended.wait()
        assert ["ada"] not in [hall.names(0)[:1], hall.names(1)[:1]]


async def test_one_who_leaves_before_the_start_is_replaced_and_the_others_play(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        ada, bob = hall.sits("ada", 2), hall.sits("bob", 2)
        while not ada.offers:
            await trio.testing.wait_all_tasks_blocked()
            await trio.sleep(0.01)
        hall.tables.left(ada)
        await bob.ended.wait()
        assert bob.error is None
        assert [hall.names(0), hall.names(1)] == [["ada", "bob"], ["bob", "house"]]
        assert bob.offers == bob.overs == 2
        assert len(hall.kept()) == 1


async def test_one_who_leaves_while_his_table_waits_for_a_core_is_replaced(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        hall.runner.waits_seconds = 5.0
        ada, bob = hall.sits("ada", 2), hall.sits("bob", 2)
        await trio.sleep(1)
        assert len(hall.runner.plans) == 1
        hall.tables.left(ada)
        await bob.ended.wait()
        assert bob.error is None
        assert ada.offers == 0
        assert [hall.names(0), hall.names(1)] == [["ada", "bob"], ["bob", "house"]]


async def test_one_whose_process_does_not_come_is_sent_away_and_the_others_play(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        sleepy, bob = hall.sits("sleepy", 2), hall.sits("bob", 2)
        await bob.ended.wait()
        assert sleepy.error is not None
        assert sleepy.error.fault is Fault.QUOTA
        assert hall.names() == ["bob", "house"]


async def test_one_who_refuses_his_seat_is_sent_away_at_once(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        ada, bob = hall.sits("ada", 2), hall.sits("bob", 2)
        await trio.sleep(0.05)
        [offer] = [one.offer for one in ada.told if isinstance(one, SeatOffer)]
        hall.tables.heard(ada, HomeAnswer(offer, HomeAnswerKind.REFUSED))
        await ada.ended.wait()
        assert ada.error is not None
        await bob.ended.wait()
        assert bob.error is None


async def test_a_table_that_the_arena_fails_is_begun_again_and_not_for_ever(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        hall.runner.faults = [Ending.HOST_FAULT]
        ada = hall.sits("ada", 2)
        await ada.ended.wait()
        assert ada.error is None
        assert len(hall.runner.plans) == 2
        hall.runner.faults = [Ending.HOST_FAULT] * TRIES
        bob = hall.sits("bob", 2)
        await bob.ended.wait()
        assert bob.error is not None
        assert bob.error.fault is Fault.NOT_NOW
        assert len(hall.kept()) == 1


async def test_when_the_arena_goes_away_who_sits_is_told(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path) as hall:
        hall.runner.faults = [Ending.STOPPED]
        ada = hall.sits("ada", 2)
        await ada.ended.wait()
        assert ada.error is not None
        assert ada.error.fault is Fault.NOT_NOW
        assert hall.kept() == []


async def test_who_is_beyond_the_tables_waits_for_one(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with a_hall(tmp_path, most_tables=1) as hall:
        hall.runner.game_seconds = 100.0
        first = [hall.sits(name, 2) for name in ("ada", "bob")]
        await trio.sleep(1)
        second = [hall.sits(name, 2) for name in ("cyd", "dan")]
        await trio.sleep(90)
        assert len(hall.runner.plans) == 1
        await second[0].ended.wait()
        assert first[0].ended.is_set()
        assert len(hall.runner.plans) == 2


@pytest.mark.parametrize(
    ("casual", "wish", "protocol", "fault"),
    [
        (Casual.NO, TableWish(), 1, Fault.PERMISSION),
        (Casual.OPEN, TableWish(), 2, Fault.INVALID),
        (Casual.OPEN, None, 1, Fault.INVALID),
        (Casual.OPEN, TableWish(2, Partners.SECOND_ACE), 1, Fault.INVALID),
    ],
)
async def test_what_cannot_be_is_refused(
    tmp_path: Path,
    autojump_clock: Clock,
    casual: Casual,
    wish: TableWish | None,
    protocol: int,
    fault: Fault,
) -> None:
    async with a_hall(tmp_path, casual=casual) as hall:
        hello = HomeHello(protocol, "sdk", "ada", "2", 1, (), wish)
        with pytest.raises(ServiceError) as refused:
            hall.tables.sit_down(None, hello, Sitter(hall.tables), host="here")
        assert refused.value.fault is fault
        assert hall.tables.waiting == 0


async def test_one_address_does_not_take_every_seat(tmp_path: Path, autojump_clock: Clock) -> None:
    async with a_hall(tmp_path) as hall:
        for number in range(MOST_OF_A_HOST):
            hall.sits(f"bot{number}")
        with pytest.raises(ServiceError) as refused:
            hall.sits("one more")
        assert refused.value.fault in (Fault.QUOTA,)
        hall.sits("other", host="10.0.0.2")


async def test_who_has_a_token_plays_under_his_name(tmp_path: Path, autojump_clock: Clock) -> None:
    async with a_hall(tmp_path) as hall:
        maryam = Owner(1, "maryam", "maryam", "")
        ada = hall.sits("ada", 2, owner=maryam)
        await ada.ended.wait()
        [record] = hall.kept()
        assert (record.entrants[0].owner, record.entrants[0].version) == ("maryam", "2")
        assert record.entrants[0].is_remote


async def test_the_oldest_records_go_first(tmp_path: Path, autojump_clock: Clock) -> None:
    async with a_hall(tmp_path, most_records=2) as hall:
        for _ in range(4):
            await hall.sits("ada", 2).ended.wait()
        assert len(hall.kept()) == 2


async def test_offers_say_nothing_of_the_table(tmp_path: Path, autojump_clock: Clock) -> None:
    async with a_hall(tmp_path) as hall:
        ada, bob = hall.sits("ada", 2), hall.sits("bob", 2)
        await bob.ended.wait()
        assert "bob" not in repr(ada.told)
        assert "local/" not in repr(ada.told)
