"""The pulse on a virtual clock that a test can stop the world of."""

from collections.abc import Iterator

import pytest
import trio
import trio.testing

from arena.referee import pulse
from arena.referee.blame import Overrun, Vitals
from arena.referee.pulse import BEAT_SECONDS, CATCH_UP_SECONDS, Cpus, Pulse, Watch, cpus


@pytest.fixture(autouse=True)
def _busy_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "cpus", lambda: Cpus({0: 0.0}, {0: 0.0}))


class World:
    """A clock that goes on while nothing runs, as a machine's does while a process is stopped."""

    def __init__(self) -> None:
        self.stopped_seconds = 0.0
        self.watched: list[Watch] = []
        self.pulse = Pulse(self.now, lambda: self.watched)

    def now(self) -> float:
        return trio.current_time() + self.stopped_seconds

    def stand_still(self, seconds: float) -> None:
        self.stopped_seconds += seconds

    def overrun(self, since: float, until: float) -> Overrun:
        return Overrun(1, 1.0, since, since, since, until, is_answered=False)


@pytest.fixture
async def world(nursery: trio.Nursery) -> World:
    world = World()
    nursery.start_soon(world.pulse.run)
    await trio.testing.wait_all_tasks_blocked()
    return world


async def test_a_stall_counts_as_far_as_it_lies_within_the_decision(
    world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world.watched = [Watch(None)]
    began = world.now()
    world.pulse.want()
    await trio.sleep(1.0)
    world.stand_still(2.0)
    await trio.sleep(1.0)
    ended = world.now()
    whole = world.pulse.stalled_seconds(world.overrun(began, ended))
    assert 2.0 - BEAT_SECONDS <= whole <= 2.0
    assert world.pulse.stalled_seconds(world.overrun(began, began + 1.0)) == pytest.approx(
        0, abs=0.11
    )
    assert world.pulse.stalled_seconds(world.overrun(ended - 0.5, ended)) == 0.0


async def test_a_stall_is_noticed_also_by_whoever_asks_before_the_next_beat(
    world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world.watched = [Watch(None)]
    world.pulse.want()
    began = world.now()
    await trio.sleep(BEAT_SECONDS / 2)
    world.stand_still(5.0)
    stalled = world.pulse.stalled_seconds(world.overrun(began, world.now()))
    assert 5.0 - BEAT_SECONDS <= stalled <= 5.0


async def test_an_untroubled_time_has_no_stall(
    world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world.watched = [Watch(None)]
    world.pulse.want()
    began = world.now()
    await trio.sleep(20.0)
    assert world.pulse.stalled_seconds(world.overrun(began, world.now())) == 0.0


async def test_it_rests_while_there_is_nothing_to_watch_and_then_blames_nobody(
    world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world.watched = [Watch(None)]
    world.pulse.want()
    await trio.sleep(1.0)
    world.watched = []
    await trio.sleep(1.0)
    began = world.now()
    world.stand_still(3.0)
    world.watched = [Watch(None)]
    world.pulse.want()
    await trio.sleep(1.0)
    assert world.pulse.stalled_seconds(world.overrun(began, world.now())) == 0.0


class Looks:
    """A process that used and waited so much, more each time it is looked at."""

    def __init__(self, *looks: Vitals | None) -> None:
        self.looks: Iterator[Vitals | None] = iter(looks)
        self.count = 0

    def __call__(self) -> Vitals | None:
        self.count += 1
        return next(self.looks)


async def test_a_bot_that_thinks_for_two_beats_is_looked_at_and_again_when_it_has_lost(
    world: World, autojump_clock: trio.testing.MockClock
) -> None:
    looks = Looks(Vitals(1.0, {1: 0.5}), Vitals(1.25, {1: 1.25}))
    world.watched = [Watch(looks)]
    world.pulse.want()
    await trio.sleep(1.5 * BEAT_SECONDS)
    assert looks.count == 0
    await trio.sleep(5.0)
    assert looks.count == 1
    evidence = world.watched[0].evidence(stalled_seconds=0.0)
    assert (evidence.cpu_seconds, evidence.waited_seconds) == (0.25, 0.75)


@pytest.mark.parametrize("looks", [(None, None), (Vitals(1.0, {}), None)])
async def test_a_process_that_cannot_be_looked_at_says_nothing(
    world: World,
    looks: tuple[Vitals | None, ...],
    autojump_clock: trio.testing.MockClock,
) -> None:
    world.watched = [Watch(Looks(*looks))]
    world.pulse.want()
    await trio.sleep(1.0)
    evidence = world.watched[0].evidence(stalled_seconds=0.0)
    assert (evidence.cpu_seconds, evidence.waited_seconds) == (None, None)


@pytest.mark.parametrize(
    ("idle", "waited"),
    [
        ({0: 0.0, 1: 0.0}, 2.5),  # both are busy
        ({0: 0.0, 1: 2.0}, 0.5),  # there was one to go to most of the time
        ({0: 0.0, 1: 3.0}, 0.0),
    ],
)
async def test_who_waits_while_a_cpu_is_idle_has_made_itself_wait(
    idle: dict[int, float],
    waited: float,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    autojump_clock: trio.testing.MockClock,
) -> None:
    seen = iter([Cpus({0: 0.0, 1: 0.0}, {0: 1.0, 1: 1.0}), Cpus(idle, {0: 1.5, 1: 1.0})])
    monkeypatch.setattr(pulse, "cpus", lambda: next(seen))
    world.watched = [Watch(Looks(Vitals(1.0, {1: 0.5}), Vitals(1.25, {1: 3.0})))]
    world.pulse.want()
    await trio.sleep(1.0)
    evidence = world.watched[0].evidence(stalled_seconds=0.0)
    assert (evidence.waited_seconds, evidence.steal_seconds) == (waited, 0.25)


async def test_for_a_moment_after_a_stall_what_came_meanwhile_may_be_unread(
    world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world.watched = [Watch(None)]
    world.pulse.want()
    await trio.sleep(1.0)
    assert not world.pulse.has_just_stalled()
    world.stand_still(0.5)
    assert world.pulse.has_just_stalled()
    await trio.sleep(1.1 * CATCH_UP_SECONDS)
    assert not world.pulse.has_just_stalled()


def test_idle_and_stolen_time_never_fall() -> None:
    first, second = cpus(), cpus()
    if first is None or second is None:
        pytest.skip("this system tells nothing of its CPUs")
    assert first.idle_seconds
    assert second.idle_since(first) >= 0.0
    assert second.stolen_since(first) >= 0.0
