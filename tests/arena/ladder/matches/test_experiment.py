"""Experiments in their folder: what is played, looked at, kept, and gone on with after a kill."""

import json
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from arena.ladder.bots.entrants import Entrant, load_bot
from arena.ladder.errors import LadderError
from arena.ladder.events.playing import Unwatched
from arena.ladder.matches.boards import MatchPlan, PlanError
from arena.ladder.matches.experiment import (
    BatchVoided,
    Design,
    End,
    Experiment,
    Looked,
    Notice,
    opened,
    play,
)
from arena.ladder.matches.room import Watcher
from arena.ladder.ratings.sprt import Sprt
from arena.ladder.ratings.statistics import Classes
from arena.ladder.testing import InProcessRunner
from hokm.cards import Seat
from hokm.deck import commitment
from hokm.outcome import Ending, Outcome
from hokm.records import Format, GameRecord, MatchRecord, load, score_of, substance_digest, verify
from hokm.rules.options import Rules
from hokm.rules.variants import variant_of

SECRET = bytes(range(32))
NAME = f"local/{commitment(SECRET).hex()[:16]}"
DUEL = Design(rules=Rules.of(2), boards=10, batch=4, test=None)
SMOKE = Sprt(elo0=0, elo1=50, cap=40)
TEST = Design(rules=Rules.of(2), boards=40, batch=4, test=SMOKE)

Bots = tuple[Entrant, Entrant]
Differences = Callable[[int, int], int]


class InProcess(InProcessRunner):
    """Real games, which nobody ends before their end."""

    def abort(self) -> None: ...


class Scripted(InProcessRunner):
    """Decides each board as `difference(batch, board)` says, in an order of its own.

    A batch in `slow` takes so many seconds more than the one that each takes. `stop_at` is the
    batch that is stopped, and all after it.
    """

    def __init__(
        self,
        difference: Differences = lambda batch, board: 0,
        *,
        slow: dict[int, float] | None = None,
        stop_at: int | None = None,
        faults: dict[tuple[str, int], tuple[Ending, int | None]] | None = None,
    ) -> None:
        super().__init__(faults=faults)
        self.difference = difference
        self.slow = slow or {}
        self.stop_at = stop_at
        self.aborted = trio.Event()

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        number = batch_of(plan)
        is_stopped = self.stop_at is not None and number >= self.stop_at
        if not is_stopped:
            with trio.move_on_after(1 + self.slow.get(number, 0)):
                await self.aborted.wait()
                is_stopped = True
        if is_stopped:
            self.faults[plan.match, plan.attempt] = (Ending.STOPPED, None)
        record = await super().play(plan, watcher=watcher)
        if (plan.match, plan.attempt) in self.faults:
            return record
        return with_differences(record, [self.difference(number, b) for b in plan.games])

    def abort(self) -> None:
        self.aborted.set()


def batch_of(plan: MatchPlan) -> int:
    return int(plan.match.split("/")[2].removeprefix("b"))


def with_differences(record: MatchRecord, differences: Sequence[int]) -> MatchRecord:
    """The record of a match whose boards came out so, by points that room 1 alone was worth."""

    def decided(game: GameRecord, points: tuple[int, int]) -> GameRecord:
        assert game.outcome is not None
        return replace(game, outcome=replace(game.outcome, points=points))

    rooms = tuple(
        replace(
            room,
            games=tuple(
                decided(
                    game,
                    (
                        max(0, differences[game.number - 1]),
                        max(0, -differences[game.number - 1]),
                    )
                    if room.number == 1
                    else (0, 0),
                )
                for game in room.games
            ),
        )
        for room in record.rooms
    )
    assert len(variant_of(record.rules).side_of) == 2
    return replace(
        record, rooms=rooms, score=score_of(record.rules, rooms, entrants=len(record.entrants))
    )


@pytest.fixture
def bots(bot_folder: Callable[..., str]) -> Bots:
    return load_bot(Path(bot_folder("new"))), load_bot(Path(bot_folder("old")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "trials" / "new-old"


def going_on(
    folder: Path,
    design: Design,
    bots: Bots,
    runner: Any,
    *,
    at_once: int = 1,
    secret: bytes | None = SECRET,
    killed_after: float = math.inf,
) -> tuple[Experiment, list[Notice]]:
    """The experiment as it is after this run of it, and what was told."""
    told: list[Notice] = []

    async def run() -> None:
        with trio.move_on_after(killed_after):
            await play(experiment, runner, watcher=Unwatched(), tell=told.append, at_once=at_once)

    with opened(folder, design, bots=bots, secret=secret) as experiment:
        trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
    return experiment, told


def test_a_duel_is_played_in_batches_to_its_number_of_boards(folder, bots):
    runner = Scripted(lambda batch, board: batch - 2)
    experiment, told = going_on(folder, DUEL, bots, runner)
    assert [plan.match for plan in runner.played] == [f"{NAME}/b{n}/new~old" for n in (1, 2, 3)]
    assert [plan.length for plan in runner.played] == [4, 4, 2]
    assert experiment.differences == [-1] * 4 + [0] * 4 + [1] * 2
    assert experiment.end is End.COMPLETE
    assert [type(notice) for notice in told] == [Looked] * 3


def test_a_test_stops_at_the_first_look_that_is_enough(folder, bots):
    runner = Scripted(lambda batch, board: 2)
    experiment, told = going_on(folder, TEST, bots, runner)
    assert experiment.end is End.H1
    looks = len(told)
    assert looks == len(runner.played) == len(experiment.counted) < len(TEST.batches)
    before = TEST.classes.outcomes([2] * 4 * (looks - 1))
    assert SMOKE.look(before).conclusion is None


def test_the_worse_bot_is_found_out_and_the_cap_ends_the_rest(folder, bots, tmp_path):
    assert going_on(folder, TEST, bots, Scripted(lambda *_: -2))[0].end is End.H0
    level = Scripted(lambda batch, board: (board % 2) * 2 - 1)
    experiment, _ = going_on(
        tmp_path / "level", replace(TEST, test=Sprt(elo0=0, elo1=5, cap=40)), bots, level
    )
    assert experiment.end is End.CAP
    assert len(experiment.differences) == 40


def test_every_batch_has_deals_of_its_own_that_follow_from_the_secret(folder, bots):
    runner = Scripted()
    going_on(folder, DUEL, bots, runner)
    seeds = [plan.seed(board) for plan in runner.played for board in plan.games]
    assert len(set(seeds)) == 10
    again = Scripted()
    going_on(folder.with_name("again"), DUEL, bots, again)
    assert seeds == [plan.seed(board) for plan in again.played for board in plan.games]


def test_looks_are_in_the_order_of_batches_whichever_was_done_first(folder, bots):
    # Batch 1 is slow and good, the others quick and bad: by the order of their end H0 would win.
    def script(batch: int, board: int) -> int:
        return 3 if batch <= 6 else -3

    one_by_one, _ = going_on(folder, TEST, bots, Scripted(script))
    runner = Scripted(script, slow={1: 1000.0})
    at_once, told = going_on(folder.with_name("other"), TEST, bots, runner, at_once=3)
    assert one_by_one.end is at_once.end is End.H1
    assert one_by_one.differences == at_once.differences
    assert one_by_one.look == at_once.look
    assert [notice.batch.number for notice in told if isinstance(notice, Looked)] == [
        batch.number for batch in at_once.counted
    ]
    assert at_once.surplus > 0
    assert len(runner.played) > len(at_once.counted)


def test_what_is_under_way_when_the_test_ends_is_ended_and_counts_for_nothing(folder, bots):
    runner = Scripted(lambda *_: 3, slow=dict.fromkeys(range(7, 11), 1000.0))
    experiment, _ = going_on(folder, TEST, bots, runner, at_once=4)
    assert experiment.end is End.H1
    assert runner.aborted.is_set()
    assert max(batch.number for batch in experiment.counted) < 7
    assert not experiment.record_file(7).exists()


def test_an_experiment_that_is_stopped_goes_on_with_the_same_command(folder, bots):
    def script(batch: int, board: int) -> int:
        return (batch + board) % 3 - 1

    whole, _ = going_on(folder.with_name("whole"), DUEL, bots, Scripted(script))
    stopped, told = going_on(folder, DUEL, bots, Scripted(script, stop_at=2))
    assert (stopped.end, len(stopped.counted), len(told)) == (End.INTERRUPTED, 1, 1)
    runner = Scripted(script)
    resumed, _ = going_on(folder, DUEL, bots, runner, secret=None)
    assert [batch_of(plan) for plan in runner.played] == [2, 3]
    assert resumed.is_resumed
    assert not whole.is_resumed
    assert resumed.end is End.COMPLETE
    assert resumed.counted == whole.counted


def test_a_batch_that_was_done_before_an_earlier_one_is_not_played_again(folder, bots):
    runner = Scripted(slow={1: 1000.0})
    experiment, _ = going_on(folder, DUEL, bots, runner, at_once=2, killed_after=10)
    assert experiment.counted == []
    again = Scripted()
    resumed, told = going_on(folder, DUEL, bots, again, at_once=3)
    assert [batch_of(plan) for plan in again.played] == [1]
    assert (resumed.end, len(told)) == (End.COMPLETE, 3)


@pytest.mark.parametrize("seconds", [0.5, 1.5, 2.5])
def test_killed_again_and_again_it_ends_as_what_nobody_touched(folder, bots, seconds):
    def script(batch: int, board: int) -> int:
        return (batch * board) % 3 - 1

    whole, _ = going_on(folder.with_name("whole"), DUEL, bots, Scripted(script))
    for slow in ({1: 0.7, 3: 1.3}, {1: 0.2}, {}, {2: 0.1}):
        runner = Scripted(script, slow=slow)
        going_on(folder, DUEL, bots, runner, at_once=2, killed_after=seconds)
    experiment, _ = going_on(folder, DUEL, bots, Scripted(script))
    assert (experiment.end, experiment.counted) == (whole.end, whole.counted)
    for number in DUEL.batches:
        record, same = load(experiment.record_file(number)), load(whole.record_file(number))
        assert substance_digest(record) == substance_digest(same)


def test_one_that_is_over_is_not_played_on(folder, bots):
    going_on(folder, TEST, bots, Scripted(lambda *_: 3))
    runner = Scripted(lambda *_: -3)
    experiment, told = going_on(folder, TEST, bots, runner)
    assert (experiment.end, runner.played, told) == (End.H1, [], [])


def test_a_batch_that_a_fault_of_the_host_voids_is_played_again_with_other_deals(folder, bots):
    match = f"{NAME}/b2/new~old"
    runner = Scripted(lambda *_: 1, faults={(match, 1): (Ending.HOST_FAULT, None)})
    experiment, told = going_on(folder, DUEL, bots, runner)
    assert [(batch_of(plan), plan.attempt) for plan in runner.played] == [
        (1, 1),
        (2, 1),
        (2, 2),
        (3, 1),
    ]
    first, second = runner.played[1:3]
    assert first.seed(1) != second.seed(1)
    (void,) = (notice for notice in told if isinstance(notice, BatchVoided))
    assert str(void) == (
        "batch 2: void (HOST_FAULT: HOST_FAULT on order), it is played again with other deals"
    )
    assert experiment.end is End.COMPLETE
    assert len(experiment.differences) == 10
    kept = load(experiment.record_file(2)), load(experiment.record_file(2, attempt=2))
    assert [record.attempt for record in kept] == [1, 2]


def test_a_batch_that_is_void_three_times_ends_the_run_and_the_next_goes_on_with_it(folder, bots):
    match = f"{NAME}/b2/new~old"
    faults = {(match, attempt): (Ending.NEVER_STARTED, 1) for attempt in (1, 2, 3)}
    runner = Scripted(lambda *_: 1, faults={**faults})
    experiment, told = going_on(folder, DUEL, bots, runner)
    assert experiment.end is End.VOID
    assert experiment.because == "batch 2: NEVER_STARTED: NEVER_STARTED on order"
    assert len(experiment.counted) == 1
    voids = [notice for notice in told if isinstance(notice, BatchVoided)]
    assert [void.is_tried_again for void in voids] == [True, True, False]
    again = Scripted(lambda *_: 1)
    experiment, _ = going_on(folder, DUEL, bots, again)
    assert [(batch_of(plan), plan.attempt) for plan in again.played] == [(2, 4), (3, 1)]
    assert experiment.end is End.COMPLETE


def test_a_fault_of_a_bot_counts_as_its_worst_result_and_for_it(folder, bots):
    match = f"{NAME}/b1/new~old"

    class Crashing(InProcess):
        async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
            record = await super().play(plan, watcher=watcher)
            return record if plan.match != match else with_a_crash(plan, record)

    def with_a_crash(plan: MatchPlan, record: MatchRecord) -> MatchRecord:
        """The second entrant falls on board 1 of both rooms."""
        rooms = []
        for room in record.rooms:
            seat = Seat(room.seating.index(1))
            lost: Outcome = plan.game(1).forfeit(seat, ending=Ending.CRASH, cause="fell")
            rooms.append(replace(room, games=(GameRecord(number=1, outcome=lost), *room.games[1:])))
        score = score_of(record.rules, rooms, entrants=2)
        return replace(record, rooms=tuple(rooms), score=score)

    experiment, _ = going_on(folder, DUEL, bots, Crashing())
    assert experiment.counted[0].differences[0] == 5
    assert experiment.counted[0].faults == (0, 2)
    assert experiment.counted[0].endings[Ending.CRASH] == 2
    resumed, _ = going_on(folder, DUEL, bots, Crashing())
    assert resumed.counted == experiment.counted


def test_records_hold_the_secret_only_once_no_deal_is_to_come(folder, bots):
    class Real(InProcess):
        seen: list[bytes | None] = []  # noqa: RUF012 - one test

        async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
            self.seen += [load(file).secret for file in (folder / "records").glob("*")]
            return await super().play(plan, watcher=watcher)

    experiment, _ = going_on(folder, DUEL, bots, Real())
    assert Real.seen == [None] * 3
    records = [load(experiment.record_file(number)) for number in (1, 2, 3)]
    assert [record.secret for record in records] == [SECRET] * 3
    assert [verify(record) for record in records] == [()] * 3
    assert {record.event for record in records} == {NAME}


def test_the_secret_is_its_owners_alone_and_in_no_other_file(folder, bots):
    stopped, _ = going_on(folder, DUEL, bots, Scripted(stop_at=2))
    assert stopped.end is End.INTERRUPTED
    assert (folder / "secret").stat().st_mode & 0o077 == 0
    assert SECRET.hex() not in (folder / "experiment.json").read_text()
    assert SECRET.hex() not in repr(stopped.secret)


def test_the_bots_play_as_they_were_when_it_began(folder, bots):
    going_on(folder, DUEL, bots, Scripted(stop_at=2))
    mine = bots[0].folder / "bot.py"
    mine.write_text("print('a better bot')\n")
    changed = load_bot(bots[0].folder), bots[1]
    with pytest.raises(LadderError, match=r"other files of bot 1: new .*name its copy") as e:
        going_on(folder, DUEL, changed, Scripted())
    copy = Path(str(e.value).split("its copy, ")[1].split(";")[0])
    runner = Scripted()
    going_on(folder, DUEL, (load_bot(copy), bots[1]), runner)
    assert {plan.entrants[0].folder for plan in runner.played} == {copy.resolve()}


def test_a_copy_that_was_removed_is_made_anew(folder, bots):
    going_on(folder, DUEL, bots, Scripted(stop_at=2))
    copy = folder / "bots" / bots[0].digest
    shutil.rmtree(copy)
    assert going_on(folder, DUEL, bots, Scripted())[0].end is End.COMPLETE
    assert load_bot(copy).digest == bots[0].digest


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"boards": 11}, "boards is 10 there, and now 11"),
        ({"batch": 5}, "batch is 4 there, and now 5"),
        ({"rules": Rules.of(4)}, "players is 2 there, and now 4"),
        ({"rules": Rules.of(2, options={"play_out": "on"})}, 'options.play_out is "off" there'),
        ({"tick_seconds": 0.005}, "tick_seconds is 0.0 there, and now 0.005"),
        ({"classes": Classes.SIGN}, 'classes is "pentanomial" there, and now "sign"'),
        ({"test": Sprt(elo0=0, elo1=50, cap=10)}, 'kind is "duel" there, and now "sprt"'),
    ],
)
def test_other_settings_are_another_experiment(folder, bots, change, says):
    going_on(folder, DUEL, bots, Scripted(stop_at=2))
    runner = Scripted()
    with pytest.raises(LadderError, match=says):
        going_on(folder, replace(DUEL, **change), bots, runner)
    assert runner.played == []


def test_other_bounds_are_another_experiment(folder, bots):
    going_on(folder, TEST, bots, Scripted(stop_at=2))
    wider = replace(TEST, test=Sprt(elo0=0, elo1=60, cap=40))
    with pytest.raises(LadderError, match=r"nElo \[0, 50\] there, and now nElo \[0, 60\]"):
        going_on(folder, wider, bots, Scripted())


def test_another_seed_is_another_experiment(folder, bots):
    going_on(folder, DUEL, bots, Scripted(stop_at=2))
    with pytest.raises(LadderError, match="another seed; leave --seed out"):
        going_on(folder, DUEL, bots, Scripted(), secret=bytes(32))


def test_nobody_plays_an_experiment_that_is_being_played(folder, bots):
    with (
        opened(folder, DUEL, bots=bots),
        pytest.raises(LadderError, match="is being played already"),
        opened(folder, DUEL, bots=bots),
    ):
        pass


def test_a_folder_of_something_else_is_left_alone(folder, bots):
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("")
    with (
        pytest.raises(LadderError, match=r"is no experiment, and has thesis\.tex in it"),
        opened(folder, DUEL, bots=bots),
    ):
        pass
    assert [file.name for file in folder.iterdir()] == ["thesis.tex"]


def test_one_that_was_killed_while_it_was_made_is_made(folder, bots):
    folder.mkdir(parents=True)
    (folder / "secret").write_text(f"{bytes(32).hex()}\n")
    (folder / ".experiment.json.part").write_text("{")
    (folder / "lock").touch()
    experiment, _ = going_on(folder, DUEL, bots, Scripted())
    assert experiment.end is End.COMPLETE
    assert not experiment.is_resumed


def test_bots_that_cannot_play_it_leave_no_folder(folder, bots, bot_folder):
    only_four = load_bot(Path(bot_folder("four", variants=(4,))))
    with (
        pytest.raises(PlanError, match="four does not play with 2"),
        opened(folder, DUEL, bots=(only_four, bots[1])),
    ):
        pass
    assert not folder.exists()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "secret").unlink(), "secret: cannot be read"),
        (lambda folder: (folder / "secret").write_text("no"), "secret: holds no secret"),
        (lambda folder: (folder / "secret").write_text("00" * 31), "secret: holds no secret"),
        (lambda folder: (folder / "secret").write_text(""), "secret: holds no secret"),
        (lambda folder: (folder / "secret").write_bytes(b"\xff"), "secret: holds no secret"),
        (lambda folder: (folder / "secret").write_text("00" * 32), "is not the secret that"),
        (lambda folder: (folder / "experiment.json").write_text("{"), "is not JSON"),
        (lambda folder: (folder / "experiment.json").write_text("[1]"), "holds no settings"),
        (lambda folder: (folder / "records/b1.json.gz").write_text("no"), "is damaged"),
        (
            lambda folder: (folder / "records/b1.json.gz").rename(folder / "records/b2.json.gz"),
            "is not the record of attempt 1 at",
        ),
    ],
)
def test_what_is_damaged_is_told_and_not_played_on(folder, bots, damage, says):
    going_on(folder, DUEL, bots, Scripted(stop_at=2))
    damage(folder)
    runner = Scripted()
    with pytest.raises(LadderError, match=says):
        going_on(folder, DUEL, bots, runner)
    assert runner.played == []


def test_an_experiment_of_another_arena_is_told(folder, bots):
    going_on(folder, DUEL, bots, Scripted(stop_at=2))
    file = folder / "experiment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"schema": 2}))
    with pytest.raises(LadderError, match="has schema 2, which this arena does not know"):
        going_on(folder, DUEL, bots, Scripted())


def test_a_setting_that_this_arena_does_not_know_is_another_experiment(folder, bots):
    going_on(folder, DUEL, bots, Scripted(stop_at=2))
    file = folder / "experiment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"fog": "on"}))
    with pytest.raises(LadderError, match='fog is "on" there, and now not set'):
        going_on(folder, DUEL, bots, Scripted())


def test_the_first_named_is_the_first_in_every_figure(folder, bots):
    first, second = bots
    ours, _ = going_on(folder, DUEL, (first, second), InProcess())
    theirs, _ = going_on(folder.with_name("turned"), DUEL, (second, first), InProcess())
    assert ours.differences == [-difference for difference in theirs.differences]
    assert any(ours.differences)


def test_a_bot_may_meet_itself(folder, bots):
    runner = InProcess()
    experiment, _ = going_on(folder, DUEL, (bots[0], bots[0]), runner)
    assert runner.played[0].match == f"{NAME}/b1/new~new"
    assert experiment.differences == [0] * 10


def test_logs_of_batches_without_faults_are_gone(folder, bots):
    class Writing(Scripted):
        async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
            logs = folder / "logs" / plan.folder
            logs.mkdir(parents=True)
            (logs / "room1.log").write_text("")
            return await super().play(plan, watcher=watcher)

    faults = {(f"{NAME}/b2/new~old", 1): (Ending.HOST_FAULT, None)}
    going_on(folder, DUEL, bots, Writing(faults={**faults}))
    assert [str(file.relative_to(folder / "logs")) for file in folder.glob("logs/**/*.log")] == [
        f"{NAME}/b2/new~old/room1.log"
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"batch": 0}, "a batch is 1 to 10 of 10, not 0"),
        ({"batch": 11}, "not 11"),
        (
            {"rules": Rules.of(2, play=Format.CLASSIC.play), "format": Format.CLASSIC},
            "lost, level or won",
        ),
        ({"rules": Rules.of(2, options={"points_kot": "3"})}, "other than 1, 2 and 3 points"),
        ({"test": SMOKE}, "a test of at most 40 cannot have 10 boards"),
    ],
)
def test_what_cannot_be_counted_is_refused(change, says):
    with pytest.raises(ValueError, match=says):
        replace(DUEL, **change)


def test_races_are_looked_at_by_pairs(folder, bots):
    rules = Rules.of(2, play=Format.CLASSIC.play, options={"target_points": "1"})
    races = replace(DUEL, rules=rules, format=Format.CLASSIC, classes=Classes.SIGN)
    runner = InProcess()
    experiment, _ = going_on(folder, races, bots, runner)
    assert len(experiment.differences) == 10
    assert set(experiment.differences) <= {-2, 0, 2}
    assert experiment.outcomes.total == 10
