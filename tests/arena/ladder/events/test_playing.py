"""Playing an event: every match once, whatever happens, and always the same boards."""

import random
import re
import signal
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
import trio
import trio.testing

from arena.ladder.audit import check
from arena.ladder.bots.entrants import load_bot
from arena.ladder.errors import LadderError
from arena.ladder.events.playing import (
    QUIET_SECONDS,
    BotDeactivated,
    EventBegan,
    EventEnded,
    MatchPlayed,
    MatchVoided,
    NothingRated,
    Notice,
    RoundClosed,
    StageBegan,
    play_event,
)
from arena.ladder.facts import Event
from arena.ladder.ladder import Entry, Ladder
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Watcher
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.store import Store
from arena.ladder.testing import InProcessRunner
from hokm.deck import commitment
from hokm.outcome import Ending
from hokm.records import MatchRecord, load, save, verify

T = TypeVar("T")

SECRET = bytes(range(32))
NAMES = ("ada", "bob", "cyd", "dan")
# Of four bots in two cycles: home and away change in the second.
SCHEDULE: list[tuple[str, ...]] = [
    ("ev1/r1/ada~dan", "ada", "dan"),
    ("ev1/r1/bob~cyd", "bob", "cyd"),
    ("ev1/r2/cyd~dan", "dan", "cyd"),
    ("ev1/r2/ada~bob", "ada", "bob"),
    ("ev1/r3/bob~dan", "bob", "dan"),
    ("ev1/r3/ada~cyd", "cyd", "ada"),
    ("ev1/r4/ada~dan", "dan", "ada"),
    ("ev1/r4/bob~cyd", "cyd", "bob"),
    ("ev1/r5/cyd~dan", "cyd", "dan"),
    ("ev1/r5/ada~bob", "bob", "ada"),
    ("ev1/r6/bob~dan", "dan", "bob"),
    ("ev1/r6/ada~cyd", "ada", "cyd"),
]
# With three seats: all four triples, each a round of its own, and in the other order.
TRIPLES: list[tuple[str, ...]] = [
    ("ev1/r1/ada~bob~cyd", "ada", "bob", "cyd"),
    ("ev1/r2/ada~bob~dan", "ada", "bob", "dan"),
    ("ev1/r3/ada~cyd~dan", "ada", "cyd", "dan"),
    ("ev1/r4/bob~cyd~dan", "bob", "cyd", "dan"),
    ("ev1/r5/ada~bob~cyd", "cyd", "bob", "ada"),
    ("ev1/r6/ada~bob~dan", "dan", "bob", "ada"),
    ("ev1/r7/ada~cyd~dan", "dan", "cyd", "ada"),
    ("ev1/r8/bob~cyd~dan", "dan", "cyd", "bob"),
]
SCHEDULES: dict[int, list[tuple[str, ...]]] = {4: SCHEDULE, 3: TRIPLES}


MakeLadder = Callable[..., Path]


@pytest.fixture
def make_ladder(tmp_path: Path, bot_folder) -> MakeLadder:
    """Makes a ladder of four bots, one board a match, and returns its folder."""

    def make(name: str, *, players: int = 4) -> Path:
        folder = tmp_path / name
        with Ladder.init(folder, Settings.of("club", players=players, length=1)) as ladder:
            for bot in NAMES:
                ladder.add(bot_folder(bot, variants=(2, 3, 4)))
        return folder

    return make


@pytest.fixture
def folder(make_ladder: MakeLadder) -> Path:
    return make_ladder("club")


@pytest.fixture
def ladder(folder: Path) -> Iterator[Ladder]:
    with Ladder.open(folder) as opened:
        yield opened


class Notices(list[Notice]):
    """What was told, in order."""

    def of(self, kind: type[T]) -> list[T]:
        return [notice for notice in self if isinstance(notice, kind)]


async def play(
    ladder: Ladder,
    runner: InProcessRunner | None = None,
    *,
    cycles: int = 2,
    tell: Callable[[Notice], None] = lambda _: None,
    at_once: int = 1,
    quiet_seconds: float = QUIET_SECONDS,
) -> Event:
    return await play_event(
        ladder,
        runner or InProcessRunner(),
        schedule=RoundRobin(cycles),
        tell=tell,
        at_once=at_once,
        quiet_seconds=quiet_seconds,
        draw=lambda _: SECRET,
    )


def outcome(ladder: Ladder) -> tuple[object, ...]:
    """All that must not depend on how often a ladder was interrupted."""
    attempts = [(a.match, a.number, a.record_digest) for a in ladder.store.attempts()]
    return ladder.store.results(), ladder.store.ratings(), attempts


# -- the schedule


@pytest.mark.parametrize("players", SCHEDULES)
async def test_everybody_meets_everybody_in_a_cycle_and_the_next_names_them_the_other_way_round(
    make_ladder: MakeLadder, players: int
) -> None:
    with Ladder.open(make_ladder("x", players=players)) as ladder:
        runner = InProcessRunner()
        event = await play(ladder, runner)
        played = [(plan.match, *(bot.name for bot in plan.entrants)) for plan in runner.played]
        schedule = SCHEDULES[players]
        assert played == schedule
        assert event.is_over
        assert ladder.store.rounds_closed() == {4: 6, 3: 8}[players]
        assert [result.match for result in ladder.store.results()] == [row[0] for row in schedule]
        assert check(ladder) == []


async def test_what_is_told_binds_the_deals_before_the_first_card(ladder: Ladder) -> None:
    runner, told = InProcessRunner(), Notices()

    def tell(notice: Notice) -> None:
        if isinstance(notice, EventBegan):
            assert runner.played == []
            assert ladder.store.event_under_way() == notice.event
        told.append(notice)

    await play(ladder, runner, cycles=1, tell=tell)
    kinds = [type(notice) for notice in told]
    pair = [MatchPlayed, MatchPlayed, RoundClosed]
    assert kinds == [EventBegan, StageBegan, *pair, *pair, *pair, EventEnded]
    assert told.of(EventBegan)[0].event.commitment == commitment(SECRET)
    assert told.of(EventEnded)[0].event.secret == SECRET
    lines = [str(notice) for notice in told]
    assert (
        lines[0]
        == f"ev1 begins: 1 cycle, its deals bound by the commitment {commitment(SECRET).hex()}, "
        "without entropy (fine among friends; docs/fair-deals.md)"
    )
    assert lines[1] == "stage 1: 4 bots, 6 matches"
    assert lines[2].startswith("ev1/r1/ada~dan: ada ")
    assert re.fullmatch(r"ev1/r1/ada~dan: ada \d+, dan \d+", lines[2])
    assert lines[-1] == f"ev1 is over, its secret was {SECRET.hex()}"


async def test_events_and_rounds_are_numbered_on(ladder: Ladder) -> None:
    await play(ladder, cycles=1)
    runner = InProcessRunner()
    event = await play(ladder, runner, cycles=1)
    assert event.name == "ev2"
    assert [(p.match, *(b.name for b in p.entrants)) for p in runner.played] == [
        (match.replace("ev1", "ev2"), home, away) for match, home, away in SCHEDULE[6:]
    ]


async def test_a_bot_added_while_matches_are_played_is_in_the_next_cycle(
    ladder: Ladder, folder: Path, bot_folder
) -> None:
    told = Notices()

    def tell(notice: Notice) -> None:
        if isinstance(notice, MatchPlayed) and not told.of(MatchPlayed):
            with Ladder.open(folder) as other:
                assert other.add(bot_folder("eve")).entry is Entry.NEW
        told.append(notice)

    await play(ladder, tell=tell)
    assert [(c.number, c.bots, c.matches) for c in told.of(StageBegan)] == [(1, 4, 6), (2, 5, 10)]


async def test_the_copy_plays_not_the_authors_folder(ladder: Ladder, folder: Path) -> None:
    runner = InProcessRunner()
    await play(ladder, runner, cycles=1)
    homes = {entrant.folder.parent for plan in runner.played for entrant in plan.entrants}
    assert homes == {folder / "bots"}  # not where its author works


async def test_a_ladder_of_one_bot_says_what_it_needs(tmp_path: Path, bot_folder) -> None:
    with Ladder.init(tmp_path / "x", Settings.of("x")) as ladder:
        ladder.add(bot_folder("ada"))
        with pytest.raises(
            LadderError, match="needs 2 active bots to play and has 1; add bots with"
        ):
            await play(ladder)
        assert ladder.store.events() == ()


async def test_a_table_of_three_needs_three_bots(tmp_path: Path, bot_folder) -> None:
    with Ladder.init(tmp_path / "x", Settings.of("x", players=3)) as ladder:
        for name in ("ada", "bob"):
            ladder.add(bot_folder(name, variants=(3,)))
        with pytest.raises(
            LadderError, match="needs 3 active bots to play and has 2; add bots with"
        ):
            await play(ladder)


async def test_a_ladder_that_is_being_played_is_not_played_twice(
    ladder: Ladder, folder: Path
) -> None:
    said = "is being played by process"
    with Ladder.open(folder) as other, other.held(), pytest.raises(LadderError, match=said):
        await play(ladder)
    assert ladder.store.events() == ()


# -- records and secrets


async def test_every_record_is_true_and_bound_to_the_commitment(
    ladder: Ladder, folder: Path
) -> None:
    await play(ladder, cycles=1)
    for match, home, away in SCHEDULE[:6]:
        record = load(folder / "records" / f"{match}.json.gz")
        assert verify(record) == ()
        assert (record.match, record.event, record.attempt) == (match, "ev1", 1)
        assert [entrant.name for entrant in record.entrants] == [home, away]
        assert record.secret == SECRET


async def test_a_secret_is_in_no_record_before_its_event_is_over(
    ladder: Ladder, folder: Path
) -> None:
    def tell(notice: Notice) -> None:
        if isinstance(notice, MatchPlayed):
            assert load(folder / "records" / f"{notice.match.id}.json.gz").secret is None

    await play(ladder, cycles=1, tell=tell)


async def test_a_secret_is_the_owners_alone_and_drawn_for_each_event(
    ladder: Ladder, folder: Path
) -> None:
    for _ in range(2):
        await play_event(ladder, InProcessRunner(), schedule=RoundRobin())
    files = [folder / "secret" / name for name in ("ev1", "ev2")]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    secrets = [bytes.fromhex(file.read_text()) for file in files]
    assert [commitment(secret) for secret in secrets] == [
        event.commitment for event in ladder.store.events()
    ]
    assert secrets[0] != secrets[1]


# -- what counts for nothing


async def test_a_fault_of_the_host_is_played_again_with_other_boards(
    ladder: Ladder, folder: Path
) -> None:
    told = Notices()
    runner = InProcessRunner(faults={("ev1/r1/bob~cyd", 1): (Ending.HOST_FAULT, None)})
    await play(ladder, runner, cycles=1, tell=told.append)
    again = [plan for plan in runner.played if plan.match == "ev1/r1/bob~cyd"]
    assert [plan.attempt for plan in again] == [1, 2]
    assert again[0].seed(1) != again[1].seed(1)
    assert len(ladder.store.results()) == 6
    attempts = [a for a in ladder.store.attempts() if a.match == "ev1/r1/bob~cyd"]
    assert [a.voided_by for a in attempts] == [Ending.HOST_FAULT, None]
    assert [load(folder / "records" / a.record).attempt for a in attempts] == [1, 2]
    assert check(ladder) == []
    [void] = told.of(MatchVoided)
    assert str(void) == (
        "ev1/r1/bob~cyd: void (HOST_FAULT: HOST_FAULT on order), "
        "it is played again with other boards"
    )


async def test_a_match_is_not_played_a_fourth_time(ladder: Ladder) -> None:
    match = "ev1/r1/bob~cyd"
    faults = {(match, attempt): (Ending.HOST_FAULT, None) for attempt in (1, 2, 3, 4)}
    runner, told = InProcessRunner(faults=faults), Notices()
    event = await play(ladder, runner, cycles=1, tell=told.append)
    assert event.is_over
    assert [plan.attempt for plan in runner.played if plan.match == match] == [1, 2, 3]
    assert [void.is_tried_again for void in told.of(MatchVoided)] == [True, True, False]
    assert ladder.store.voided() == ((match, "HOST_FAULT: HOST_FAULT on order"),)
    assert len(ladder.store.results()) == 5
    assert ladder.standings().matches_void == 1


async def test_a_match_in_which_a_bot_never_started_moves_nothing(ladder: Ladder) -> None:
    fault = {("ev1/r1/ada~dan", 1): (Ending.NEVER_STARTED, 1)}
    runner = InProcessRunner(faults=fault)
    await play(ladder, runner, cycles=1)
    assert Counter(plan.match for plan in runner.played)["ev1/r1/ada~dan"] == 1
    by_name = {bot.name: bot for bot in ladder.store.bots()}
    assert ladder.store.ratings()[by_name["ada"].number].matches == 2
    # It has started since, which wipes the slate.
    assert (by_name["dan"].is_active, by_name["dan"].failed_starts) == (True, 0)


async def test_a_bot_that_does_not_start_twice_in_a_row_is_out_and_says_why(
    ladder: Ladder, bot_folder
) -> None:
    faults = {
        ("ev1/r1/ada~dan", 1): (Ending.NEVER_STARTED, 1),
        ("ev1/r2/cyd~dan", 1): (Ending.NEVER_STARTED, 0),  # dan is at home
    }
    runner, told = InProcessRunner(faults=faults), Notices()
    await play(ladder, runner, tell=told.append)
    reason = "did not start 2 times in a row (NEVER_STARTED on order)"
    assert [notice.bot.name for notice in told.of(BotDeactivated)] == ["dan"]
    played = {result.match for result in ladder.store.results()}
    assert not any("dan" in match for match in played)
    assert len(played) == 3 + 3  # of the three others, in two cycles
    assert ("ev1/r3/bob~dan", f"dan is inactive: {reason}") in ladder.store.voided()
    [row] = [row for row in ladder.standings().rows if row.name == "dan"]
    assert row.note == reason
    assert told.of(StageBegan)[1].bots == 3

    assert ladder.add(bot_folder("dan", variants=(2, 3, 4))).entry is Entry.BACK
    told.clear()
    await play(ladder, cycles=1, tell=told.append)
    assert told.of(StageBegan)[0].bots == 4


async def test_of_three_the_one_that_did_not_start_is_out_whatever_its_place(
    make_ladder: MakeLadder,
) -> None:
    faults = {
        ("ev1/r1/ada~bob~cyd", 1): (Ending.NEVER_STARTED, 2),
        ("ev1/r3/ada~cyd~dan", 1): (Ending.NEVER_STARTED, 1),
    }
    with Ladder.open(make_ladder("x", players=3)) as ladder:
        told = Notices()
        await play(ladder, InProcessRunner(faults=faults), cycles=1, tell=told.append)
        assert [notice.bot.name for notice in told.of(BotDeactivated)] == ["cyd"]
        assert [result.match for result in ladder.store.results()] == ["ev1/r2/ada~bob~dan"]
        because = "cyd is inactive: did not start 2 times in a row (NEVER_STARTED on order)"
        assert ladder.store.voided()[-1] == ("ev1/r4/bob~cyd~dan", because)


async def test_unrated_matches_move_no_elo(tmp_path: Path, bot_folder) -> None:
    with Ladder.init(tmp_path / "x", Settings.of("x", length=1)) as ladder:
        for name in ("ada", "bob"):
            ladder.add(bot_folder(name))
        dull = ladder.add(bot_folder("dull"), rated=False).bot
        await play(ladder, cycles=1)
        assert len(ladder.store.results()) == 3
        ratings = ladder.store.ratings()
        assert dull.number not in ratings
        assert {rating.matches for rating in ratings.values()} == {1}
        assert check(ladder) == []


# -- when nothing is decided


class Slow(InProcessRunner):
    """Takes so many seconds for each match, on the clock of the test."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        await trio.sleep(self.seconds)
        return await super().play(plan, watcher=watcher)


async def test_a_run_that_decides_nothing_rated_says_what_it_waits_for(
    ladder: Ladder, autojump_clock: trio.testing.MockClock
) -> None:
    told = Notices()
    await play(ladder, Slow(750), cycles=1, tell=told.append, at_once=6)
    assert [str(notice) for notice in told.of(NothingRated)] == [
        f"nothing rated was decided for {minutes} minutes: "
        + "; ".join(f"{row[0]} is under way for {minutes} minutes" for row in SCHEDULE[:6])
        for minutes in (5, 10)
    ]


async def test_a_run_in_which_results_come_says_nothing_of_waiting(
    ladder: Ladder, autojump_clock: trio.testing.MockClock
) -> None:
    told = Notices()
    await play(ladder, Slow(299), cycles=2, tell=told.append, at_once=1)
    assert told.of(NothingRated) == []
    assert len(told.of(MatchPlayed)) == 12


async def test_a_run_without_rated_bots_says_so(
    tmp_path: Path, bot_folder, autojump_clock: trio.testing.MockClock
) -> None:
    with Ladder.init(tmp_path / "x", Settings.of("x", length=1)) as ladder:
        for name in ("ada", "bob", "cyd"):
            ladder.add(bot_folder(name), rated=name == "ada")
        told = Notices()
        await play(ladder, Slow(31), cycles=1, tell=told.append, quiet_seconds=60)
        assert str(told.of(NothingRated)[0]) == (
            "nothing rated was decided for 60 s: every bot but ada is unrated; "
            "ev1/r2/ada~bob is under way for 29 s"
        )


async def test_a_run_that_waits_tells_who_is_out_and_why(
    ladder: Ladder, autojump_clock: trio.testing.MockClock
) -> None:
    faults = {
        ("ev1/r1/ada~dan", 1): (Ending.NEVER_STARTED, 1),
        ("ev1/r2/cyd~dan", 1): (Ending.NEVER_STARTED, 0),
    }
    runner, told = Slow(130), Notices()
    runner.faults.update(faults)
    await play(ladder, runner, cycles=1, tell=told.append, quiet_seconds=120)
    assert (
        "dan is inactive (did not start 2 times in a row (NEVER_STARTED on order)); "
        "ev1/r2/ada~bob is under way for " in " | ".join(map(str, told.of(NothingRated)))
    )


# -- interruptions


class Interrupted(Exception):
    """Something broke in the middle."""


class Fragile(InProcessRunner):
    """Raises after so many rooms were begun, or cancels a scope."""

    def __init__(self, rooms: int, *, scope: trio.CancelScope | None = None) -> None:
        super().__init__()
        self.left = rooms
        self.scope = scope

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        record = await super().play(plan, watcher=watcher)
        self.left -= 1
        if self.left == 0:
            if self.scope is None:
                raise Interrupted
            self.scope.cancel()
            await trio.lowlevel.checkpoint()
        return record


def played_once_each(ladder: Ladder) -> bool:
    """Whether every match scheduled has exactly one result."""
    return Counter(result.match for result in ladder.store.results()) == Counter(
        row[0] for row in SCHEDULES[ladder.settings.rules.players]
    )


@pytest.mark.parametrize(
    ("players", "way", "at_once"),
    [
        (4, "raises", 1),
        (4, "raises", 3),
        (4, "cancelled", 3),
        (3, "raises", 1),
        (3, "cancelled", 3),
    ],
)
async def test_the_same_command_goes_on_wherever_it_was_interrupted(
    make_ladder: MakeLadder, players: int, way: str, at_once: int
) -> None:
    with Ladder.open(make_ladder("whole", players=players)) as whole:
        await play(whole)
        expected = outcome(whole)

    folder = make_ladder("torn", players=players)
    for calls in range(1, 100):
        with Ladder.open(folder) as torn:
            if any(event.is_over for event in torn.store.events()):
                break
            with trio.CancelScope() as scope:
                runner = Fragile(calls % 4 + 1, scope=scope if way == "cancelled" else None)
                try:
                    await play(torn, runner, at_once=at_once)
                except* Interrupted:
                    pass
    assert calls > 3
    with Ladder.open(folder) as torn:
        assert played_once_each(torn)
        assert outcome(torn) == expected
        assert check(torn) == []
        assert len(torn.store.events()) == 1


@pytest.mark.parametrize(("players", "seed"), [(4, 0), (4, 1), (4, 2), (4, 3), (3, 4), (3, 5)])
async def test_no_commit_is_lost_or_doubled_whichever_fails(
    make_ladder: MakeLadder, players: int, seed: int, monkeypatch
) -> None:
    """A fault before or after any transaction or file, as a kill would fall between them."""
    dice = random.Random(seed)
    with Ladder.open(make_ladder("whole", players=players)) as whole:
        await play(whole)
        expected = outcome(whole)
    folder = make_ladder("torn", players=players)

    faults = 0

    def fragile(step):
        def wrapped(*args, **kwargs):
            nonlocal faults
            if dice.random() < 0.15:
                faults += 1
                raise Interrupted("before")
            result = step(*args, **kwargs)
            if dice.random() < 0.15:
                faults += 1
                raise Interrupted("after")
            return result

        return wrapped

    for name in ("begin_event", "add_cycle", "play", "close_round", "finish_event"):
        monkeypatch.setattr(Store, name, fragile(getattr(Store, name)))
    monkeypatch.setattr("arena.ladder.events.playing.save", fragile(save))
    monkeypatch.setattr(Ladder, "keep_secret", fragile(Ladder.keep_secret))
    for _ in range(200):
        with Ladder.open(folder) as torn:
            if any(event.is_over for event in torn.store.events()):
                break  # also when the fault fell after the last commit
            try:
                await play(torn, at_once=2)
            except* Interrupted:
                pass
    assert faults > 3, f"seed {seed} tried nothing"
    monkeypatch.undo()
    with Ladder.open(folder) as torn:
        assert played_once_each(torn)
        assert outcome(torn) == expected
        assert check(torn) == []


async def test_an_interrupted_event_is_finished_whatever_the_number_of_cycles(
    ladder: Ladder,
) -> None:
    with pytest.RaisesGroup(Interrupted):
        await play(ladder, Fragile(3), cycles=2)
    told = Notices()
    event = await play(ladder, cycles=7, tell=told.append)
    assert (event.name, event.is_over) == ("ev1", True)
    assert told[0] == EventBegan(
        replace(event, secret=None, is_ending=False), "2 cycles", is_resumed=True
    )
    assert "2 cycles" in str(told[0])
    assert played_once_each(ladder)


async def test_a_record_without_a_row_is_played_over(ladder: Ladder, folder: Path) -> None:
    orphan = folder / "records" / "ev1" / "r1" / "ada~dan.json.gz"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"torn")
    (orphan.parent / ".ada~dan.json.gz.4242.part").write_bytes(b"torn as well")
    await play(ladder, cycles=1)
    assert check(ladder) == []
    assert {path.name for path in orphan.parent.iterdir()} == {"ada~dan.json.gz", "bob~cyd.json.gz"}


async def test_what_is_played_over_has_the_boards_it_had(ladder: Ladder, monkeypatch) -> None:
    def killed(*_: object, **__: object) -> None:
        raise Interrupted

    runner = InProcessRunner()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "play", killed)  # the record is written, its row is not
        with pytest.RaisesGroup(Interrupted):
            await play(ladder, runner)
    await play(ladder, runner)
    first, again = [plan for plan in runner.played if plan.match == SCHEDULE[0][0]]
    assert first.attempt == again.attempt == 1
    assert first.seed(1) == again.seed(1)
    assert played_once_each(ladder)


async def test_a_match_that_stays_to_be_played_is_not_played_for_ever(
    ladder: Ladder, monkeypatch
) -> None:
    monkeypatch.setattr(Store, "play", lambda *_, **__: None)
    runner = InProcessRunner()
    with pytest.raises(LadderError, match="keeps ev1/r1/ada~dan to be played, though it was; rest"):
        await play(ladder, runner)
    assert len(runner.played) == 6


class Stopping(InProcessRunner):
    """Is told to stop after so many matches: what it is handed then comes back STOPPED."""

    def __init__(self, matches: int) -> None:
        super().__init__()
        self.left = matches

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        self.left -= 1
        if self.left < 0:
            self.faults[plan.match, plan.attempt] = (Ending.STOPPED, None)
        return await super().play(plan, watcher=watcher)


async def test_a_stopped_run_keeps_what_is_finished_and_goes_on_later(ladder: Ladder) -> None:
    event = await play(ladder, Stopping(5), at_once=2)
    assert not event.is_over
    assert len(ladder.store.results()) == 5
    assert ladder.store.rounds_closed() == 2
    assert len(ladder.store.attempts()) == 5  # what was stopped leaves no trace
    runner = InProcessRunner()
    assert (await play(ladder, runner)).is_over
    assert [plan.match for plan in runner.played] == [row[0] for row in SCHEDULE[5:]]
    assert {plan.attempt for plan in runner.played} == {1}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda file: file.unlink(), "cannot be read (No such file"),
        (lambda file: file.write_text("?"), "holds no secret"),
        (lambda file: file.write_text("00" * 32), "is not the secret that ev1 was announced with"),
    ],
)
async def test_without_its_secret_an_event_does_not_go_on(
    ladder: Ladder, folder: Path, damage: Callable[[Path], object], said: str
) -> None:
    with pytest.RaisesGroup(Interrupted):
        await play(ladder, Fragile(1))
    damage(folder / "secret" / "ev1")
    with pytest.raises(LadderError) as caught:
        await play(ladder)
    assert said in str(caught.value)
    assert [str(caught.value)] == [str(problem) for problem in check(ladder)]


async def test_a_bot_that_was_changed_is_found_before_it_plays(
    ladder: Ladder, folder: Path
) -> None:
    dan = ladder.store.bots()[3]
    file = folder / "bots" / dan.digest / "bot.py"
    file.chmod(0o644)
    file.write_text("stronger")
    runner = InProcessRunner()
    with pytest.raises(LadderError, match="is not as it was entered"):
        await play(ladder, runner)
    assert runner.played == []


async def test_a_full_disk_is_one_line_and_loses_nothing(ladder: Ladder, monkeypatch) -> None:
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("arena.ladder.events.playing.save", full)
    with pytest.raises(LadderError, match=r"cannot be written \(No space left on device\)"):
        await play(ladder, at_once=3)
    monkeypatch.undo()
    await play(ladder)
    assert played_once_each(ladder)


# -- a real kill

KILLED = """
import sys
from pathlib import Path
import trio
from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.testing import InProcessRunner

def tell(notice):
    print(type(notice).__name__, flush=True)

with Ladder.open(Path(sys.argv[1])) as ladder:
    trio.run(lambda: play_event(
        ladder, InProcessRunner(), schedule=RoundRobin(2), at_once=2, tell=tell,
        draw=lambda _: bytes(range(32)),
    ))
"""


@pytest.mark.parametrize("players", SCHEDULES)
def test_a_killed_run_goes_on_as_if_nothing_had_been(make_ladder: MakeLadder, players: int) -> None:
    with Ladder.open(make_ladder("whole", players=players)) as whole:
        trio.run(play, whole)
        expected = outcome(whole)
    folder = make_ladder("torn", players=players)
    kills = 0
    # The kill follows a line the run has printed, so it falls into whatever comes next.
    for lines in (1, 2, 5, 1, 8, 3, 100):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process.stdout:
            for _ in range(lines):
                if not process.stdout.readline():
                    break
            process.kill()
        kills += process.wait() == -signal.SIGKILL
    assert kills >= 4
    with Ladder.open(folder) as ladder:
        if ladder.store.event_under_way():
            trio.run(play, ladder)
        assert played_once_each(ladder)
        assert outcome(ladder) == expected
        assert check(ladder) == []


def test_a_frozen_bot_is_loaded_like_any_other(ladder: Ladder, folder: Path) -> None:
    for bot in ladder.store.bots():
        entrant = load_bot(folder / "bots" / bot.digest)
        assert (entrant.name, entrant.digest) == (bot.name, bot.digest)
