"""Bots that stay at home, in virtual time: entered, paired, seated, away; the runner is real."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.ladder.events.pairing import known
from arena.ladder.events.playing import MatchPlayed, MatchVoided, Notice, Unwatched, play_event
from arena.ladder.facts import AWAY, Bot, Event, disabled
from arena.ladder.ladder import Ladder
from arena.ladder.matches.boards import MatchPlan, Secret, joined_names
from arena.ladder.matches.verdict import Voided, verdict
from arena.ladder.schedules import Adaptive, RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from arena.service import homes
from arena.service.choices import Remote
from arena.service.errors import Fault, ServiceError
from arena.service.homes import (
    GRACE_SECONDS,
    HELLO_SECONDS,
    LINGER_SECONDS,
    PENALTY_SECONDS,
)
from arena.service.quotas import Quotas
from hokm.outcome import Ending
from hokm.records import Flag, MatchRecord, Policy, remote_digest, verify
from hokm.seats import SeatOffer, SeatOver
from tests.arena.service.village import Home, Village, a_village, an_owner, at_home

Clock = trio.testing.MockClock


@pytest.fixture
def ladder(tmp_path: Path) -> Iterator[Ladder]:
    with Ladder.init(tmp_path / "club", Settings.of("club", length=1, tick_seconds=0.0)) as made:
        yield made


def bot_named(ladder: Ladder, name: str) -> Bot:
    return next(bot for bot in ladder.store.bots() if bot.name == name)


def a_plan(ladder: Ladder, *names: str, number: int = 1) -> MatchPlan:
    settings = ladder.settings
    return MatchPlan(
        match=f"ev1/r{number}/{joined_names(names)}",
        format=settings.format,
        rules=settings.rules,
        length=settings.length,
        entrants=tuple(ladder.thawed(bot_named(ladder, name)) for name in names),
        clock=settings.clock,
        policy=Policy.RATED,
        secret=Secret(bytes(32)),
        event="ev1",
    )


async def played(village: Village, plan: MatchPlan) -> MatchRecord:
    return await village.runner.play(plan, watcher=Unwatched())


def endings(record: MatchRecord) -> list[Ending]:
    outcomes = [game.outcome for room in record.rooms for game in room.games]
    return [outcome.ending for outcome in outcomes if outcome is not None]


# -- coming


async def test_a_bot_is_entered_when_it_first_comes(ladder: Ladder, autojump_clock: Clock) -> None:
    async with a_village(ladder) as village:
        home = at_home(village, ladder, "rostam")
        bot = bot_named(ladder, "rostam")
        assert (bot.owner, bot.version, bot.remote, bot.rated) == ("o-rostam", "1", True, True)
        assert bot.digest == remote_digest("rostam", "o-rostam", "1")
        assert bot.is_active
        [welcome] = home.told
        assert getattr(welcome, "bot", None) == "rostam"
        assert village.homes.there == ("rostam",)


async def test_another_version_is_another_bot(ladder: Ladder, autojump_clock: Clock) -> None:
    async with a_village(ladder) as village:
        first = at_home(village, ladder, "rostam")
        first.leave()
        at_home(village, ladder, "rostam", version="2.0")
        assert [bot.name for bot in ladder.store.bots()] == ["rostam", "rostam-2.0"]
        first.come()
        assert len(ladder.store.bots()) == 2
        record = await played(village, a_plan(ladder, "rostam", "rostam-2.0"))
        assert [entrant.is_remote for entrant in record.entrants] == [True, True]


async def test_a_name_in_another_spelling_is_the_same_bot_when_it_comes_back(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        home = at_home(village, ladder, "e\u0301a")
        home.leave()
        await trio.sleep(GRACE_SECONDS + 5)
        [bot] = ladder.store.bots()
        assert (bot.name, bot.is_active) == ("\u00e9a", False)
        home.come()
        await trio.sleep(10)
        [bot] = ladder.store.bots()
        assert bot.is_active
        assert village.homes.there == ("\u00e9a",)


async def test_nobody_takes_a_name_that_is_anothers(ladder: Ladder, autojump_clock: Clock) -> None:
    async with a_village(ladder) as village:
        at_home(village, ladder, "rostam")
        for name in ("rostam", "Rostam"):
            with pytest.raises(ServiceError) as refused:
                Home(village, an_owner(ladder, "sohrab"), name, version="3").come()
            assert refused.value.fault is Fault.TAKEN
        assert len(ladder.store.bots()) == 1


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("a b", {}, Fault.INVALID),
        ("rostam", {"protocol": 2}, Fault.INVALID),
        ("rostam", {"seats": 1}, Fault.INVALID),
    ],
)
async def test_what_cannot_play_is_refused(
    ladder: Ladder, autojump_clock: Clock, name: str, change: dict[str, int], fault: Fault
) -> None:
    async with a_village(ladder) as village:
        home = Home(village, an_owner(ladder, "maryam"), name)
        with pytest.raises(ServiceError) as refused:
            village.homes.come(home.owner, replace(home.hello(), **change), home)  # type: ignore[arg-type]
        assert refused.value.fault is fault
        assert ladder.store.bots() == ()


async def test_an_owner_has_so_many_active_bots_and_so_many_new_ones_a_day(
    ladder: Ladder, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(homes, "_DAY_SECONDS", 60.0)
    limits = Quotas(active_bots=2, submissions_a_day=3)
    async with a_village(ladder, limits=limits) as village:
        owner = an_owner(ladder, "maryam")

        def fault_of(name: str) -> Fault | None:
            try:
                Home(village, owner, name).come()
            except ServiceError as error:
                return error.fault
            return None

        assert [fault_of(name) for name in ("a", "b", "c")] == [None, None, Fault.QUOTA]
        ladder.withdraw("a")
        ladder.withdraw("b")
        assert [fault_of(name) for name in ("c", "d")] == [None, Fault.QUOTA]
        await trio.sleep(61)
        assert fault_of("d") is None


async def test_the_second_home_of_a_bot_takes_the_place_of_the_first(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        first = at_home(village, ladder, "rostam")
        second = at_home(village, ladder, "rostam")
        assert first.ended is not None
        assert first.ended.fault is Fault.TAKEN
        first.leave()  # as its call ends: that is nothing to the second
        assert village.homes.there == ("rostam",)
        assert not second.is_ended


async def test_one_that_the_operator_took_out_does_not_come_back(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        home = at_home(village, ladder, "rostam")
        ladder.store.deactivate(bot_named(ladder, "rostam").number, because=disabled("too loud"))
        await trio.sleep(6)
        assert home.ended is not None
        assert home.ended.fault is Fault.PERMISSION
        with pytest.raises(ServiceError) as refused:
            home.come()
        assert refused.value.fault is Fault.PERMISSION


# -- going


async def test_who_is_gone_for_long_is_away_and_back_when_it_comes(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        home = at_home(village, ladder, "rostam")
        home.leave()
        await trio.sleep(GRACE_SECONDS - 2)
        assert bot_named(ladder, "rostam").is_active
        await trio.sleep(4)
        assert bot_named(ladder, "rostam").inactive_because == AWAY
        home.come()
        assert bot_named(ladder, "rostam").is_active
    assert bot_named(ladder, "rostam").inactive_because == AWAY, "nobody is there any more"


async def test_nobody_is_there_when_it_begins(ladder: Ladder, autojump_clock: Clock) -> None:
    ladder.add_remote("rostam", owner="maryam", version="1")  # as a kill leaves it
    async with a_village(ladder):
        assert bot_named(ladder, "rostam").inactive_because == AWAY


async def test_an_event_without_homes_has_none_of_them(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    ladder.add("greedy")
    ladder.add("house")
    ladder.add_remote("rostam", owner="maryam", version="1")
    async with a_village(ladder) as village:
        del village
    ladder.store.activate(bot_named(ladder, "rostam").number)
    runner = InProcessRunner()
    await play_event(ladder, runner, schedule=RoundRobin())
    assert {bot.name for plan in runner.played for bot in plan.entrants} == {"greedy", "house"}


# -- seats


async def test_a_match_is_played_at_home_and_its_record_stands(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        pair = [at_home(village, ladder, name) for name in ("ada", "bob")]
        record = await played(village, a_plan(ladder, "ada", "bob"))
        assert list(verify(record)) == []
        assert not isinstance(verdict(record), Voided)
        assert [(one.name, one.version, one.is_remote) for one in record.entrants] == [
            ("ada", "1", True),
            ("bob", "1", True),
        ]
        await trio.sleep(1)
        for home in pair:
            assert len(home.offers) == 4  # two seats in each of two rooms
            assert home.playing == {}


async def test_no_home_is_asked_for_more_than_it_offers(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder, concurrency=8) as village:
        ada = at_home(village, ladder, "ada", seats=2)
        bob = at_home(village, ladder, "bob", seats=3)
        cyd = at_home(village, ladder, "cyd", seats=8)
        names = [("ada", "bob"), ("ada", "cyd"), ("bob", "cyd"), ("ada", "bob")]
        plans = [a_plan(ladder, *pair, number=number) for number, pair in enumerate(names)]
        records: list[MatchRecord] = []

        async def play(plan: MatchPlan) -> None:
            records.append(await played(village, plan))

        async with trio.open_nursery() as nursery:
            for plan in plans:
                nursery.start_soon(play, plan)
        assert [set(endings(record)) for record in records] == [{Ending.COMPLETED}] * 4
        assert [home.most_playing for home in (ada, bob)] == [2, 2]
        assert cyd.most_playing <= 4


async def test_a_process_that_lingers_has_its_seat_until_it_is_not_believed_any_more(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        ada = at_home(village, ladder, "ada", seats=2, lingers=True)
        at_home(village, ladder, "bob")
        numbers = [bot.number for bot in ladder.store.bots()]
        began = trio.current_time()
        await played(village, a_plan(ladder, "ada", "bob"))
        # Its two rooms one after the other, and the second only once the first is forgotten.
        assert trio.current_time() - began == pytest.approx(LINGER_SECONDS, abs=10)
        assert not village.homes.can_begin(numbers)
        await trio.sleep(LINGER_SECONDS + 2)
        assert village.homes.can_begin(numbers)
        assert any(isinstance(message, SeatOver) for message in ada.told)


@pytest.mark.parametrize(
    ("comes", "takes_seconds", "says"),
    [(None, HELLO_SECONDS, "nobody came"), (False, 0.5, "refused the seat")],
)
async def test_a_match_whose_seats_do_not_come_is_void_in_time(
    ladder: Ladder,
    autojump_clock: Clock,
    comes: bool | None,
    takes_seconds: float,
    says: str,
) -> None:
    troubles: list[str] = []

    class Notes(Unwatched):
        def trouble(self, plan: object, trouble: object) -> None:
            troubles.append(getattr(trouble, "detail", ""))

    async with a_village(ladder) as village:
        at_home(village, ladder, "ada", comes=comes)
        at_home(village, ladder, "bob")
        began = trio.current_time()
        record = await village.runner.play(a_plan(ladder, "ada", "bob"), watcher=Notes())
        assert trio.current_time() - began == pytest.approx(takes_seconds, abs=3)
        found = verdict(record)
        assert isinstance(found, Voided)
        assert (found.ending, found.at_fault) == (Ending.NEVER_STARTED, (0,))
        assert says in troubles[0]


async def test_what_comes_as_another_version_does_not_play(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        at_home(village, ladder, "ada", says_version="1-dirty")
        at_home(village, ladder, "bob")
        found = verdict(await played(village, a_plan(ladder, "ada", "bob")))
        assert isinstance(found, Voided)
        assert found.ending is Ending.NEVER_STARTED


async def test_who_knows_its_match_does_not_void_it_by_staying_away(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder, concurrency=1) as village:
        ada = at_home(village, ladder, "ada", seats=2, thinks_seconds=0.01)
        at_home(village, ladder, "bob")
        record: list[MatchRecord] = []

        async def play() -> None:
            record.append(await played(village, a_plan(ladder, "ada", "bob")))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play)
            await ada.has_begun.wait()
            ada.comes = False
        assert set(endings(record[0])) == {Ending.COMPLETED, Ending.CRASH}
        [(seating, lost)] = [
            (room.seating, room.games[0]) for room in record[0].rooms if room.games[0].flags
        ]
        assert lost.flags == (Flag.UNPLAYED,)
        assert lost.outcome is not None
        assert lost.outcome.at_fault is not None
        assert seating[lost.outcome.at_fault] == 0
        assert not isinstance(verdict(record[0]), Voided)
        assert list(verify(record[0])) == []


async def test_a_home_that_breaks_off_and_is_back_hears_of_its_seats_again(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        ada = at_home(village, ladder, "ada", comes=None)
        at_home(village, ladder, "bob")
        record: list[MatchRecord] = []

        async def play() -> None:
            record.append(await played(village, a_plan(ladder, "ada", "bob")))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play)
            await trio.sleep(1)
            assert len(ada.offers) == 4
            ada.leave()
            await trio.sleep(1)
            ada.comes = True
            ada.come()
        assert not isinstance(verdict(record[0]), Voided)
        tickets = [offer.ticket for offer in ada.offers]
        assert len(tickets) == 8
        assert len(set(tickets)) == 4


async def test_what_a_killed_home_played_is_lost_and_its_seats_are_free_when_it_is_back(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        ada = at_home(village, ladder, "ada", seats=4, thinks_seconds=0.01)
        at_home(village, ladder, "bob")
        numbers = [bot.number for bot in ladder.store.bots()]
        record: list[MatchRecord] = []

        async def play() -> None:
            record.append(await played(village, a_plan(ladder, "ada", "bob")))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play)
            await ada.has_begun.wait()
            assert len(ada.playing) == 4
            ada.die()
            ada.come()
        assert not isinstance(verdict(record[0]), Voided)
        assert village.homes.can_begin(numbers)
        told = [offer.offer for offer in ada.offers]
        assert len(set(told)) == len(told), "what was used is not offered again"


async def test_offers_say_nothing_but_a_ticket_and_a_time(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        ada = at_home(village, ladder, "ada")
        at_home(village, ladder, "bob")
        await played(village, a_plan(ladder, "ada", "bob"))
        assert SeatOffer.__slots__ == ("offer", "ticket", "within_seconds")
        text = repr(ada.told[1:])
        assert "bob" not in text
        assert "ev1" not in text
        assert all(offer.ticket not in text for offer in ada.offers)


# -- draining


async def test_who_drains_plays_out_its_match_and_is_let_go(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder, concurrency=1) as village:
        ada = at_home(village, ladder, "ada", seats=2, thinks_seconds=0.01)
        at_home(village, ladder, "bob")
        record: list[MatchRecord] = []

        async def play() -> None:
            record.append(await played(village, a_plan(ladder, "ada", "bob")))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play)
            await ada.has_begun.wait()
            ada.drain()
            assert bot_named(ladder, "ada").inactive_because == AWAY
            was_ended = ada.is_ended
            assert not was_ended
        assert set(endings(record[0])) == {Ending.COMPLETED}
        await trio.sleep(1)
        assert ada.is_ended
        assert ada.ended is None


async def test_who_drains_with_nothing_under_way_is_let_go_at_once(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder) as village:
        ada = at_home(village, ladder, "ada")
        ada.drain()
        assert ada.is_ended


# -- with the schedule


async def run_event(
    ladder: Ladder, village: Village, *, matches: int = 20, at_once: int = 4
) -> list[Notice]:
    notices: list[Notice] = []
    await play_event(
        ladder,
        village.runner,
        schedule=Adaptive(matches, least=2),
        tell=notices.append,
        at_once=at_once,
        guests=village.homes,
    )
    return notices


def met(ladder: Ladder) -> set[frozenset[str]]:
    names = {bot.number: bot.name for bot in ladder.store.bots()}
    return {
        frozenset(names[number] for number in result.entrants) for result in ladder.store.results()
    }


async def test_busy_homes_let_other_matches_go_first_and_all_are_played(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder, concurrency=8) as village:
        four = [at_home(village, ladder, name, seats=2) for name in ("ada", "bob", "cyd", "dan")]
        notices = await run_event(ladder, village)
        assert sum(isinstance(notice, MatchPlayed) for notice in notices) == 20
        assert not any(isinstance(notice, MatchVoided) for notice in notices)
        assert {home.most_playing for home in four} == {2}


async def test_one_that_never_comes_holds_nobody_up_and_is_out_after_two(
    ladder: Ladder, autojump_clock: Clock
) -> None:
    async with a_village(ladder, concurrency=8) as village:
        for name in ("ada", "bob", "cyd"):
            at_home(village, ladder, name)
        dan = at_home(village, ladder, "dan", comes=None)
        await run_event(ladder, village)
        dan_played = [pair for pair in met(ladder) if "dan" in pair]
        assert not dan_played
        assert met(ladder) == {
            frozenset(p) for p in (("ada", "bob"), ("ada", "cyd"), ("bob", "cyd"))
        }
        assert "did not start 2 times in a row" in (bot_named(ladder, "dan").inactive_because or "")
        await trio.sleep(6)
        assert dan.ended is not None
        assert dan.ended.fault is Fault.QUOTA
        with pytest.raises(ServiceError):
            dan.come()
        await trio.sleep(PENALTY_SECONDS)
        dan.come()
        assert bot_named(ladder, "dan").is_active


@pytest.mark.parametrize("remote", [Remote.TOGETHER, Remote.APART])
async def test_they_meet_all_others_or_each_other_only(
    ladder: Ladder, autojump_clock: Clock, bot_folder, remote: Remote
) -> None:
    async with a_village(ladder, remote=remote, concurrency=8) as village:
        for name in ("ada", "bob"):
            at_home(village, ladder, name)
        for name in ("cyd", "dan"):
            ladder.add(bot_folder(name))
        state = known(
            ladder.store,
            Event(1, "", b""),
            Adaptive(4),
            settings=ladder.settings,
            mixed=bytes(32),
            are_guests_apart=village.homes.are_apart,
        )
        mixed = {(0, 2), (0, 3), (1, 2), (1, 3)}
        assert state.apart == (mixed if remote is Remote.APART else set())
