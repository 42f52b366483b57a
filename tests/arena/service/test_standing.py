"""A ladder that stands: in virtual time, with matches that take seconds of it."""

import errno
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
import trio

from arena.ladder.audit import check
from arena.ladder.errors import LadderError
from arena.ladder.events import announcing
from arena.ladder.events.playing import EventBegan, EventEnded, NothingRated, Notice
from arena.ladder.facts import Bot
from arena.ladder.ladder import Ladder
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Watcher
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from arena.service.operating import Verbs
from arena.service.standing import Gate, Standing, Status, Ways, event_of, why_idle
from hokm.deck import SEED_BYTES
from hokm.outcome import Ending
from hokm.records import MatchRecord

T = TypeVar("T")

NOW = datetime(2026, 3, 21, 12, 0, 0, tzinfo=UTC)
MATCH_SECONDS = 10.0
WHY = "its author says that it cheated"


class SlowRunner(InProcessRunner):
    """Plays a match in ten seconds; can be stopped, and told to fail."""

    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.errors: list[Exception] = []
        self.done = 0
        self._stopped = trio.Event()

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        if self.errors:
            raise self.errors.pop(0)
        if self._stopped.is_set():
            self.faults[plan.match, plan.attempt] = (Ending.STOPPED, None)
        await trio.sleep(MATCH_SECONDS)
        record = await super().play(plan, watcher=watcher)
        self.done += 1
        return record

    def stop(self) -> None:
        self._stopped.set()

    def abort(self) -> None:
        self.stop()


class World:
    """A ladder that stands, and what is heard of it."""

    def __init__(
        self, ladder: Ladder, runner: SlowRunner, ways: Ways, worker: "Worker | None" = None
    ) -> None:
        self.ladder, self.runner = ladder, runner
        self.told: list[Notice] = []
        self.said: list[str] = []
        self.verbs = Verbs(ladder, actor="maryam", now=lambda: NOW)
        self.is_over = False
        self._began = trio.current_time()
        self.standing = Standing(
            ladder,
            runner,
            ways=ways,
            worker=worker,
            tell=self.told.append,
            say=self.said.append,
            now=self.now,
            draw=lambda count: bytes(range(count)),
        )

    def now(self) -> datetime:
        return NOW + timedelta(seconds=trio.current_time() - self._began)

    def status(self) -> Status:
        return self.standing.status()

    def of(self, kind: type[T]) -> list[T]:
        return [notice for notice in self.told if isinstance(notice, kind)]

    def played(self) -> Counter[str]:
        names = {bot.number: bot.name for bot in self.ladder.store.bots()}
        return Counter(
            names[number] for result in self.ladder.store.results() for number in result.entrants
        )

    async def until(self, is_so: Callable[[], object], *, seconds: float = 3600.0) -> None:
        with trio.fail_after(seconds):
            while not is_so():  # noqa: ASYNC110 - time jumps
                await trio.sleep(0.5)

    async def run(self) -> None:
        await self.standing.run()
        self.is_over = True


@pytest.fixture
def ladder(tmp_path: Path) -> Iterator[Ladder]:
    with Ladder.init(tmp_path / "club", Settings.of("club", length=1)) as made:
        yield made


@pytest.fixture
def add(ladder: Ladder, bot_folder) -> Callable[..., Bot]:
    def entered(name: str, **options) -> Bot:
        return ladder.add(bot_folder(name, **options)).bot

    return entered


@asynccontextmanager
async def standing(
    ladder: Ladder, runner: SlowRunner | None = None, worker: "Worker | None" = None, **ways
) -> AsyncIterator[World]:
    """The ladder, standing; it is stopped at the end, and must be as it should."""
    ways = {"at_once": 2, "event_matches": 6} | ways
    world = World(ladder, runner or SlowRunner(), Ways(**ways), worker)
    with ladder.held():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(world.run)
            yield world
            world.standing.stop()
            await world.until(lambda: world.is_over)
    assert check(ladder) == []


# -- which event, as functions of values


def bots(*owners: str, rated: bool = True, active: bool = True) -> list[Bot]:
    because = None if active else "withdrawn"
    return [
        Bot(n, f"b{n}", owner, "1", f"{n}", rated=rated, inactive_because=because)
        for n, owner in enumerate(owners, start=1)
    ]


@pytest.mark.parametrize(
    ("entered", "sides", "why"),
    [
        ([], 2, "0 active rated bots"),
        (bots("a"), 2, "1 active rated bot, and a match"),
        (bots("a", "b", rated=False), 2, "0 active rated bots, and a match is of 2 (2 active"),
        (bots("a", "b", active=False), 2, "(0 active, 2 entered)"),
        (bots("a", "A"), 2, "are of A, a: a match is of 2 owners"),
        (bots("a", "b", "b"), 3, "a match is of 3 owners"),
    ],
)
def test_it_is_said_why_nobody_can_meet(entered: list[Bot], sides: int, why: str) -> None:
    assert why in (why_idle(entered, sides=sides) or "")


def test_whoever_can_meet_is_not_idle() -> None:
    assert why_idle(bots("a", "b"), sides=2) is None
    assert why_idle(bots("a", "b", "c"), sides=3) is None


def test_an_event_has_room_for_the_floor_of_everybody_and_is_no_smaller_than_a_batch() -> None:
    assert event_of(bots("a", "b"), Ways(floor=2)).matches == 20
    many = bots(*map(str, range(100)))
    assert event_of(many, Ways(floor=4)).matches == 250
    assert event_of(many, Ways(floor=4)).least == 4
    assert event_of(many, Ways(event_matches=7)).matches == 7


# -- playing


async def test_event_follows_event_each_bound_and_revealed(
    autojump_clock, ladder: Ladder, add
) -> None:
    for name in ("ada", "bob", "cyd"):
        add(name)
    async with standing(ladder) as world:
        await world.until(lambda: len(world.of(EventEnded)) == 3)
        assert [notice.event.name for notice in world.of(EventBegan)][:3] == ["ev1", "ev2", "ev3"]
    over = [event for event in ladder.store.events() if event.is_over]
    assert [event.name for event in over] == ["ev1", "ev2", "ev3"]
    for event in over:
        document = announcing.document_of(ladder, event)
        assert document.secret is not None
        assert len(document.matches) == 6


async def test_it_waits_until_two_can_meet_and_says_why(
    autojump_clock, ladder: Ladder, add
) -> None:
    add("ada", owner="o")
    async with standing(ladder) as world:
        await trio.sleep(5)
        assert "1 active rated bot, and a match" in (world.status().idle or "")
        add("bob", owner="o")
        await trio.sleep(5)
        assert "of o: a match is of 2 owners" in (world.status().idle or "")
        assert ladder.store.events() == ()
        assert [line.split(":")[0] for line in world.said] == ["waiting", "waiting"]
        add("cyd")
        await world.until(ladder.store.results, seconds=30)
        assert world.status().idle is None


async def test_a_new_bot_plays_soon_and_every_active_bot_gets_its_floor(
    autojump_clock, ladder: Ladder, add
) -> None:
    for number in range(12):
        add(f"bot{number}")
    async with standing(ladder, event_matches=None, floor=3) as world:
        await world.until(lambda: world.runner.done >= 5)
        add("late")
        began = trio.current_time()
        await world.until(lambda: world.played()["late"])
        # An event of 23 matches, two at once: the new one waits for what was scheduled.
        assert trio.current_time() - began <= 23 / 2 * MATCH_SECONDS + 2 * MATCH_SECONDS
        await world.until(lambda: len(world.of(EventEnded)) == 4)
    for event in ladder.store.events()[1:4]:
        document = announcing.document_of(ladder, event)
        met = Counter(name for match in document.matches for name in match.entrants)
        assert set(met) == {bot.name for bot in ladder.store.bots()}
        assert min(met.values()) >= 3


async def test_an_event_of_which_nothing_counts_is_not_followed_at_once(
    autojump_clock, ladder: Ladder, add
) -> None:
    add("ada"), add("bob")

    class Void(dict[tuple[str, int], tuple[Ending, int | None]]):
        def get(self, key, default=None):
            return Ending.HOST_FAULT, None

    runner = SlowRunner()
    runner.faults = Void()
    async with standing(ladder, runner, event_matches=1) as world:
        await trio.sleep(3600)
        # 30 s of play each, and up to a minute between
        assert 30 <= len(world.of(EventEnded)) <= 60
        runner.faults = {}


async def test_what_a_kill_left_half_written_is_removed(
    autojump_clock, ladder: Ladder, add
) -> None:
    add("ada"), add("bob")
    part = ladder.records_folder / "ev1" / "r1" / ".ada~bob.json.gz.part"
    part.parent.mkdir(parents=True)
    part.touch()
    async with standing(ladder) as world:
        await world.until(lambda: world.runner.done >= 1)
    assert not part.exists()


# -- the operator


async def test_a_pause_finishes_what_is_under_way_and_resume_goes_on_with_the_event(
    autojump_clock, ladder: Ladder, add
) -> None:
    for name in ("ada", "bob", "cyd"):
        add(name)
    async with standing(ladder) as world:
        await world.until(lambda: world.runner.done == 2)
        world.verbs.pause(because="a new disk")
        await trio.sleep(60)
        assert world.runner.done == 4  # two were under way
        assert world.status().paused == "a new disk"
        assert world.status().under_way == ()
        await trio.sleep(3600)
        assert world.runner.done == 4
        world.verbs.resume()
        await world.until(lambda: world.of(EventEnded), seconds=60)
        assert world.runner.done == 6
        assert [notice.event.name for notice in world.of(EventEnded)] == ["ev1"]
    assert any("paused by the operator (a new disk)" in line for line in world.said)
    assert "resumed by the operator" in world.said


async def test_a_drain_ends_it_with_all_that_was_under_way_done(
    autojump_clock, ladder: Ladder, add
) -> None:
    for name in ("ada", "bob", "cyd"):
        add(name)
    async with standing(ladder) as world:
        await world.until(lambda: world.runner.done == 2)
        world.verbs.drain()
        await world.until(lambda: world.is_over, seconds=30)
        assert world.runner.done == 4
        assert len(ladder.store.results()) == 4
    async with standing(ladder) as world:  # it was for the one that was there
        await world.until(lambda: len(ladder.store.results()) == 6)
        [began] = world.of(EventBegan)[:1]
        assert (began.event.name, began.is_resumed) == ("ev1", True)
    assert [deed.verb for deed in ladder.store.operator.deeds()] == ["drain", "drained"]


class Worker:
    """Works at one thing for so long, and then waits for more until the gate is shut."""

    waiting = 0
    working = 1

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_at_work = False

    async def run(self, gate: Gate) -> None:
        self.is_at_work = True
        await trio.sleep(self._seconds)
        while await gate.opened():
            await gate.sleep(1)
        self.is_at_work = False

    def stop(self) -> None:
        pass


@pytest.mark.parametrize("seconds", [0.0, 40.0], ids=["idle", "at work"])
async def test_a_drain_that_is_taken_back_leaves_nobody_out(
    autojump_clock, ladder: Ladder, add, seconds: float
) -> None:
    add("ada"), add("bob")
    worker = Worker(seconds)
    async with standing(ladder, event_matches=100, worker=worker) as world:
        await world.until(lambda: world.runner.done == 2)
        world.verbs.drain()
        await trio.sleep(2 if seconds == 0 else 15)  # one has ended, and the other has not
        assert not world.is_over
        world.verbs.resume()
        await trio.sleep(60)
        done = world.runner.done
        await trio.sleep(60)
        assert world.runner.done > done
        assert worker.is_at_work


async def test_a_drain_of_a_ladder_that_waits_ends_it_soon(autojump_clock, ladder: Ladder) -> None:
    async with standing(ladder) as world:
        await trio.sleep(5)
        world.verbs.drain()
        await trio.sleep(2)
        assert world.is_over


async def test_a_bot_that_is_disabled_plays_no_more_from_the_next_match_on(
    autojump_clock, ladder: Ladder, add
) -> None:
    for name in ("ada", "bob", "cyd"):
        add(name)
    async with standing(ladder, event_matches=12) as world:
        await world.until(lambda: world.runner.done == 2)
        world.verbs.disable("ada", because=WHY)
        begun = len(world.runner.played)
        await world.until(lambda: world.of(EventEnded))
        later = [{bot.name for bot in plan.entrants} for plan in world.runner.played[begun + 2 :]]
        assert later
        assert all("ada" not in names for names in later)
    assert all(f"disabled by the operator: {WHY}" in why for _, why in ladder.store.voided())


async def test_an_event_in_which_nobody_is_left_ends(autojump_clock, ladder: Ladder, add) -> None:
    add("ada"), add("bob")
    async with standing(ladder) as world:
        await world.until(lambda: world.runner.done >= 1)
        world.verbs.disable("ada", because=WHY)
        world.verbs.disable("bob", because=WHY)
        await world.until(lambda: world.of(EventEnded))
        await trio.sleep(5)
        assert "0 active rated bots" in (world.status().idle or "")
        assert len(ladder.store.events()) == 1


async def test_a_match_may_be_struck_out_or_played_again_meanwhile(
    autojump_clock, ladder: Ladder, add
) -> None:
    for name in ("ada", "bob", "cyd"):
        add(name)
    async with standing(ladder) as world:
        await world.until(lambda: world.runner.done == 4)
        first, second, *_ = ladder.store.results()
        world.verbs.void(first.match, because=WHY)
        world.verbs.requeue(second.match, because=WHY)
        await world.until(lambda: world.of(EventEnded))
        assert world.runner.done == 7
        assert first.match not in {result.match for result in ladder.store.results()}
        assert (second.match, 2) in [(plan.match, plan.attempt) for plan in world.runner.played]


# -- what goes wrong


async def test_a_bot_whose_copy_is_damaged_is_taken_out_and_the_others_go_on(
    autojump_clock, ladder: Ladder, add
) -> None:
    damaged = add("ada")
    for name in ("bob", "cyd"):
        add(name)
    file = ladder.bots_folder / damaged.digest / "bot.py"
    intact = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(b"print('another')\n")
    async with standing(ladder) as world:
        await world.until(lambda: len(world.of(EventEnded)) == 1)
        assert world.played().keys() == {"bob", "cyd"}
        file.write_bytes(intact)
        file.chmod(0o444)
    because = "disabled by the operator: its copy is not as it was entered"
    assert ladder.entered("ada").inactive_because == because
    [deed] = ladder.store.operator.deeds()
    assert (deed.actor, deed.verb, deed.subject) == ("arena", "disable", "ada")


async def test_a_full_disk_is_said_and_tried_again_and_no_bot_is_blamed(
    autojump_clock, ladder: Ladder, add
) -> None:
    for name in ("ada", "bob", "cyd"):
        add(name)
    runner = SlowRunner()
    full = LadderError("/club", "cannot be written (No space left)", remedy="mend that")
    runner.errors = [full] * 4
    async with standing(ladder, runner) as world:
        await world.until(lambda: len(world.said) == 2)
        assert "No space left" in (world.status().idle or "")
        await world.until(lambda: world.of(EventEnded))
        assert world.status().idle is None
        # One before the second of two at once was begun, so two at a time or one.
        assert [line.rpartition("again in ")[2] for line in world.said][:2] == ["1 s", "2 s"]
    assert all(bot.is_active for bot in ladder.store.bots())
    assert len({event.name for event in ladder.store.events() if event.is_over}) >= 1


async def test_a_disk_that_cannot_be_read_is_no_word_about_the_bot_that_was_looked_for(
    autojump_clock, ladder: Ladder, add, monkeypatch
) -> None:
    add("ada"), add("bob")
    thawed, failures = ladder.thawed, [4]

    def sometimes(bot: Bot):
        if failures[0]:
            failures[0] -= 1
            error = LadderError("bots", "is not as it was entered", remedy="remove it")
            raise error from OSError(errno.EIO, "Input/output error")
        return thawed(bot)

    monkeypatch.setattr(ladder, "thawed", sometimes)
    async with standing(ladder) as world:
        await world.until(ladder.store.results)
    assert all(bot.is_active for bot in ladder.store.bots())
    assert ladder.store.operator.deeds() == ()


async def test_a_database_that_fails_for_a_while_loses_nothing(
    autojump_clock, ladder: Ladder, add, monkeypatch
) -> None:
    for name in ("ada", "bob", "cyd"):
        add(name)
    failing = False
    for name in ("play", "scheduled", "bots", "event_under_way"):
        real = getattr(ladder.store, name)

        def store_method(*arguments, real=real, **options):
            if failing:
                raise LadderError("ladder.db", "another program holds it", remedy="end it")
            return real(*arguments, **options)

        monkeypatch.setattr(ladder.store, name, store_method)
    async with standing(ladder) as world:
        await world.until(lambda: world.runner.done == 2)
        failing = True
        await trio.sleep(300)
        failing = False
        assert not world.is_over
        await world.until(lambda: world.of(EventEnded))
        assert len({result.match for result in ladder.store.results()}) >= 6


async def test_what_was_not_foreseen_ends_it_with_its_traceback(
    autojump_clock, ladder: Ladder, add
) -> None:
    add("ada"), add("bob")
    runner = SlowRunner()
    runner.errors = [ZeroDivisionError("a fault of ours")]
    world = World(ladder, runner, Ways())
    with ladder.held(), pytest.RaisesGroup(ZeroDivisionError, flatten_subgroups=True):
        await world.run()


async def test_an_event_that_waits_for_its_beacon_is_not_begun_without(
    autojump_clock, ladder: Ladder, add
) -> None:
    add("ada"), add("bob")
    announcing.announce(ladder, schedule=RoundRobin(), beacon="drand", secret=bytes(SEED_BYTES))
    world = World(ladder, SlowRunner(), Ways())
    with ladder.held(), pytest.raises(LadderError, match="needs what drand has published"):
        await world.run()


# -- the alarm


async def test_the_alarm_is_raised_with_its_reason_and_ends_with_the_next_result(
    autojump_clock, ladder: Ladder, add
) -> None:
    for name in ("ada", "bob", "cyd"):
        add(name)
    async with standing(ladder, alarm_seconds=300) as world:
        await world.until(lambda: world.runner.done == 2)
        assert world.status().rated_at == world.now() - timedelta(
            seconds=trio.current_time() - world.standing._course.rated_at
        )
        world.verbs.pause(because="a new disk")
        await trio.sleep(250)
        assert world.of(NothingRated) == []
        assert world.status().alarm is None
        await trio.sleep(100)
        [alarm] = world.of(NothingRated)
        assert "it is paused by the operator (a new disk)" in alarm.because
        assert world.status().alarm == str(alarm)
        assert world.standing.is_alarmed
        await trio.sleep(300)
        assert len(world.of(NothingRated)) == 2
        world.verbs.resume()
        await trio.sleep(20)
        assert world.status().alarm is None
        assert not world.standing.is_alarmed


async def test_the_alarm_spans_events_and_says_why_none_can_be_played(
    autojump_clock, ladder: Ladder, add
) -> None:
    add("ada")
    async with standing(ladder, alarm_seconds=60) as world:
        await trio.sleep(100)
        assert "1 active rated bot, and a match" in (world.status().alarm or "")


# -- the gate


async def test_a_gate_wakes_whoever_waits_at_it_when_it_is_shut_for_good(autojump_clock) -> None:
    from arena.ladder.facts import Controls

    gate = Gate()
    assert await gate.opened()
    gate.heed(Controls(paused=""))
    answers = []

    async def wait() -> None:
        answers.append(await gate.opened())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        nursery.start_soon(gate.sleep, 1000)
        await trio.sleep(100)
        assert answers == []
        began = trio.current_time()
        gate.stop()
    assert answers == [False]
    assert trio.current_time() == began
