"""Events by every kind of schedule: what a schedule is asked with, and that an event goes on."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from arena.ladder.audit import check
from arena.ladder.errors import LadderError
from arena.ladder.events.pairing import UNKNOWN_CPU_SECONDS, known
from arena.ladder.events.playing import MatchVoided, play_event
from arena.ladder.facts import Event
from arena.ladder.ladder import Ladder
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Watcher
from arena.ladder.proof.folder import load_event
from arena.ladder.schedules import Adaptive, AnySchedule, Gauntlet, KnockOut, RoundRobin, Swiss
from arena.ladder.schedules.state import State
from arena.ladder.settings import Settings
from arena.ladder.store import Store
from arena.ladder.testing import InProcessRunner
from hokm.records import MatchRecord
from tests.arena.ladder.conftest import sql

SECRET = bytes(range(32))
NAMES = ("ada", "bob", "cyd", "dan", "eve")
SCHEDULES: dict[str, AnySchedule] = {
    "round-robin": RoundRobin(),
    "gauntlet": Gauntlet(("eve",)),
    "near": Gauntlet(("eve",), near=4),
    "swiss": Swiss(),
    "knock-out": KnockOut(third=True),
    "adaptive": Adaptive(matches=45),
}


@pytest.fixture
def folder(tmp_path: Path, bot_folder) -> Path:
    return made(tmp_path / "club", bot_folder)


@pytest.fixture
def ladder(folder: Path) -> Iterator[Ladder]:
    with Ladder.open(folder) as opened:
        yield opened


def made(folder: Path, bot_folder, *, owner: str | None = None) -> Path:
    with Ladder.init(folder, Settings.of("club", length=1)) as ladder:
        for name in NAMES:
            ladder.add(bot_folder(name, owner=owner if name in ("ada", "bob") else None))
    return folder


async def play(
    ladder: Ladder, schedule: AnySchedule, runner: InProcessRunner | None = None
) -> Event:
    return await play_event(
        ladder,
        runner or InProcessRunner(),
        schedule=schedule,
        at_once=1,
        draw=lambda _: SECRET,
    )


def met(ladder: Ladder) -> list[tuple[str, ...]]:
    names = {bot.number: bot.name for bot in ladder.store.bots()}
    return [tuple(names[bot] for bot in result.entrants) for result in ladder.store.results()]


class Interrupted(Exception):
    """What a kill looks like from within."""


class Fragile(InProcessRunner):
    """Plays so many matches and is gone."""

    def __init__(self, matches: int) -> None:
        super().__init__()
        self.left = matches

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        self.left -= 1
        if self.left < 0:
            raise Interrupted
        return await super().play(plan, watcher=watcher)


@pytest.mark.parametrize("kind", SCHEDULES)
async def test_an_interrupted_event_is_paired_as_it_would_have_been(
    kind: str, tmp_path: Path, bot_folder
) -> None:
    schedule = SCHEDULES[kind]
    with Ladder.open(made(tmp_path / "whole", bot_folder)) as whole:
        await play(whole, schedule)
        expected = whole.store.results(), whole.store.ratings()
    folder = made(tmp_path / "torn", bot_folder)
    for matches in (1, 2, 0):
        with Ladder.open(folder) as torn, pytest.RaisesGroup(Interrupted):
            await play(torn, schedule, Fragile(matches))
    with Ladder.open(folder) as torn:
        event = await play(torn, RoundRobin(9))  # of the one under way the own schedule counts
        assert event.is_over
        assert check(torn) == []
        assert (torn.store.results(), torn.store.ratings()) == expected


async def test_a_schedule_that_no_arena_has_kept_is_damage(ladder: Ladder) -> None:
    with pytest.RaisesGroup(Interrupted):
        await play(ladder, RoundRobin(), Fragile(1))
    sql(ladder, "UPDATE events SET settled = :schedule", schedule='{"kind": "lottery"}')
    with pytest.raises(LadderError, match="holds a schedule of ev1 that is none"):
        await play(ladder, RoundRobin())


async def test_a_gauntlet_is_run_by_its_seeds_alone(ladder: Ladder) -> None:
    await play(ladder, Gauntlet(("eve",), cycles=2))
    pairs = met(ladder)
    assert all("eve" in pair for pair in pairs)
    assert Counter(name for pair in pairs for name in pair) == {
        "eve": 8,
        "ada": 2,
        "bob": 2,
        "cyd": 2,
        "dan": 2,
    }


async def test_who_loses_a_tie_of_a_knock_out_is_out(ladder: Ladder) -> None:
    event = await play(ladder, KnockOut())
    state = asked(ladder, event, KnockOut())
    cup = KnockOut(order=NAMES)
    winner = cup.ranking(state)[0].player
    lost: Counter[int] = Counter()
    for match in state.matches:
        assert match.points is not None
        if match.points[0] != match.points[1]:
            lost[match.meeting[match.points.index(min(match.points))]] += 1
    assert winner not in lost
    assert all(count == 1 for count in lost.values())


async def test_adaptive_events_leave_out_matches_that_would_not_be_rated(
    tmp_path: Path, bot_folder
) -> None:
    folder = made(tmp_path / "sisters", bot_folder, owner="one-and-the-same")
    with Ladder.open(folder) as ladder:
        ladder.add("random")
        await play(ladder, Adaptive(matches=40))
        pairs = [frozenset(pair) for pair in met(ladder)]
    assert len(pairs) == 40
    assert frozenset(("ada", "bob")) not in pairs
    assert not any("random" in pair for pair in pairs)


async def test_who_joins_or_leaves_between_two_stages_is_in_the_next_or_out_of_it(
    ladder: Ladder, bot_folder
) -> None:
    def between(notice: object) -> None:
        if str(notice).startswith("stage 1"):
            ladder.add(bot_folder("fay"))
            ladder.withdraw("dan")

    event = await play_event(
        ladder,
        InProcessRunner(),
        schedule=RoundRobin(2),
        tell=between,
        at_once=1,
        draw=lambda _: SECRET,
    )
    first, second = ladder.store.stages(event)
    assert len(first.field) == len(second.field) == 5
    numbers = {bot.name: bot.number for bot in ladder.store.bots()}
    assert numbers["fay"] in second.field
    assert numbers["dan"] not in second.field
    of_dan = [f for f in first.fixtures if numbers["dan"] in f.match.entrants]
    assert {f.because for f in of_dan} == {"dan is inactive: withdrawn"}


def asked(ladder: Ladder, event: Event, schedule: AnySchedule) -> State:
    return known(ladder.store, event, schedule, settings=ladder.settings, mixed=bytes(32))


async def test_what_is_known_counts_rated_matches_and_what_they_cost(ladder: Ladder) -> None:
    event = await play(ladder, RoundRobin(2))
    state = asked(ladder, event, Adaptive(matches=1))
    assert state.knowledge is not None
    assert state.knowledge.met.tolist() == (2 * (1 - np.eye(5, dtype=int))).tolist()
    assert set(state.knowledge.cpu_seconds.tolist()) == {UNKNOWN_CPU_SECONDS}
    assert (state.stage, state.first_round) == (3, 11)
    rows = {row.name: row.mle for row in ladder.standings().rows}
    assert state.knowledge.ratings.tolist() == pytest.approx([rows[name] for name in NAMES])


async def test_ratings_are_fitted_only_for_a_schedule_that_looks_at_them(ladder: Ladder) -> None:
    event = await play(ladder, RoundRobin())
    assert asked(ladder, event, RoundRobin()).knowledge is None


async def test_an_event_whose_secret_was_revealed_is_not_gone_on_with(
    ladder: Ladder, folder: Path, bot_folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended early for want of bots, and was killed when all the world knew its deals."""

    def killed(*_: object, **__: object) -> None:
        raise Interrupted

    def leave(notice: object) -> None:
        if str(notice).startswith("stage 1"):
            for name in NAMES[1:]:
                ladder.withdraw(name)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish_event", killed)
        with pytest.raises(Interrupted):
            await play_event(
                ladder,
                InProcessRunner(),
                schedule=RoundRobin(2),
                tell=leave,
                at_once=1,
                draw=lambda _: SECRET,
            )
    assert load_event(folder / "records" / "ev1" / "event.json").secret == SECRET
    for name in NAMES[1:]:
        ladder.add(bot_folder(name))
    runner = InProcessRunner()
    event = await play(ladder, RoundRobin(), runner)
    assert (event.name, event.is_over) == ("ev1", True)
    assert runner.played == []
    assert check(ladder) == []


async def test_a_gauntlet_ends_when_nobody_is_left_to_run_it_against(ladder: Ladder) -> None:
    def leave(notice: object) -> None:
        if str(notice).startswith("stage 1"):
            for name in NAMES[:-1]:
                ladder.withdraw(name)

    event = await play_event(
        ladder,
        InProcessRunner(),
        schedule=Gauntlet((NAMES[-1],), near=3),
        tell=leave,
        at_once=1,
        draw=lambda _: SECRET,
    )
    assert event.is_over


async def test_who_was_withdrawn_from_a_cup_does_not_come_back_into_it(
    ladder: Ladder, bot_folder
) -> None:
    def leave_and_return(notice: object) -> None:
        if str(notice).startswith("stage 1"):
            ladder.withdraw("ada")
        elif isinstance(notice, MatchVoided):
            ladder.add(bot_folder("ada"))

    event = await play_event(
        ladder,
        InProcessRunner(),
        schedule=KnockOut(order=("bob", "cyd", "dan", "ada", "eve")),
        tell=leave_and_return,
        at_once=1,
        draw=lambda _: SECRET,
    )
    numbers = {bot.name: bot.number for bot in ladder.store.bots()}
    of_ada = [
        fixture
        for stage in ladder.store.stages(event)
        for fixture in stage.fixtures
        if numbers["ada"] in fixture.match.entrants
    ]
    assert [fixture.because for fixture in of_ada] == ["ada is inactive: withdrawn"]
    assert check(ladder) == []
