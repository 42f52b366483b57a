"""What an operator does: in one go with its deed, and so that the ladder still says what is so."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.ladder.audit import check
from arena.ladder.errors import LadderError
from arena.ladder.events.playing import MatchPlayed, Notice, play_event
from arena.ladder.facts import Controls, Event, State
from arena.ladder.ladder import Ladder
from arena.ladder.proof.folder import check_event, load_event
from arena.ladder.schedules import AnySchedule, KnockOut, RoundRobin, Swiss
from arena.ladder.settings import Settings
from arena.ladder.testing import InProcessRunner
from arena.service.operating import Refusal, Verbs
from hokm.outcome import Ending

NOW = datetime(2026, 3, 21, 12, 0, 0, tzinfo=UTC)
NAMES = ("ada", "bob", "cyd", "dan")
WHY = "its author says that it cheated"


@pytest.fixture
def ladder(tmp_path: Path, bot_folder) -> Iterator[Ladder]:
    with Ladder.init(tmp_path / "club", Settings.of("club", length=1)) as made:
        for name in NAMES:
            made.add(bot_folder(name))
        yield made


@pytest.fixture
def verbs(ladder: Ladder) -> Verbs:
    return Verbs(ladder, actor="maryam", now=lambda: NOW)


class Stop:
    """A gate that is shut for good once so many matches were played."""

    def __init__(self, ladder: Ladder, after: int) -> None:
        self._ladder = ladder
        self._after = after

    async def opened(self) -> bool:
        return len(self._ladder.store.attempts()) < self._after


async def play(
    ladder: Ladder,
    *,
    schedule: AnySchedule | None = None,
    stop_after: int = 10**6,
    runner: InProcessRunner | None = None,
) -> Event:
    return await play_event(
        ladder,
        runner or InProcessRunner(),
        schedule=schedule or RoundRobin(),
        gate=Stop(ladder, stop_after),
        at_once=1,
        draw=lambda count: b"\1" * count,
    )


def folder_of(ladder: Ladder, event: Event) -> Path:
    return ladder.records_folder / event.name


def deeds(ladder: Ladder) -> list[tuple[str, str, str]]:
    return [(deed.verb, deed.subject, deed.reason) for deed in ladder.store.operator.deeds()]


def test_a_pause_is_told_to_the_ladder_with_its_reason_until_it_is_taken_back(
    ladder: Ladder, verbs: Verbs
) -> None:
    verbs.pause(because="a new disk")
    assert ladder.store.operator.controls() == Controls(paused="a new disk")
    with pytest.raises(Refusal, match="paused already"):
        verbs.pause()
    verbs.drain()
    assert ladder.store.operator.controls() == Controls(paused="a new disk", draining="")
    verbs.resume()
    assert ladder.store.operator.controls() == Controls()
    with pytest.raises(Refusal, match="not paused"):
        verbs.resume()
    assert [deed.verb for deed in verbs.log()] == ["pause", "drain", "resume"]
    first = verbs.log()[0]
    assert (first.actor, first.at, first.subject) == ("maryam", "2026-03-21T12:00:00Z", "club")
    assert [deed.verb for deed in verbs.log(last=2)] == ["drain", "resume"]


def test_a_bot_that_was_disabled_comes_back_by_nobody_but_the_operator(
    ladder: Ladder, verbs: Verbs, bot_folder
) -> None:
    assert not verbs.disable("ada", because=WHY).is_active
    assert ladder.entered("ada").inactive_because == f"disabled by the operator: {WHY}"
    with pytest.raises(LadderError, match="disabled by the operator"):
        ladder.add(bot_folder("ada"))
    ladder.withdraw("ada")  # or the next `add` would be a way back
    with pytest.raises(LadderError, match="disabled by the operator"):
        ladder.add(bot_folder("ada"))
    with pytest.raises(Refusal, match="disabled by the operator"):
        verbs.disable("ada", because="again")
    assert verbs.enable("ada").is_active
    with pytest.raises(Refusal, match="is active"):
        verbs.enable("ada")
    assert deeds(ladder) == [("disable", "ada", WHY), ("enable", "ada", "")]


@pytest.mark.parametrize("because", ["", "  ", "two\nlines", "x" * 201, "\x1b[31mred"])
def test_what_takes_something_from_somebody_has_a_reason_that_can_be_shown(
    ladder: Ladder, verbs: Verbs, because: str
) -> None:
    with pytest.raises(Refusal, match="--because"):
        verbs.disable("ada", because=because)
    assert ladder.entered("ada").is_active
    assert deeds(ladder) == []


def test_a_bot_that_nobody_entered_is_named_with_what_was_meant(verbs: Verbs) -> None:
    with pytest.raises(LadderError, match="did you mean ada"):
        verbs.disable("adda", because=WHY)


async def test_a_match_that_is_struck_out_counts_no_more_and_everybody_can_see_it(
    ladder: Ladder, verbs: Verbs
) -> None:
    event = await play(ladder)
    before, ratings = ladder.store.results(), ladder.store.ratings()
    earlier = load_event(folder_of(ladder, event) / "event.json")
    verbs.void("ev1/r1/ada~dan", because=WHY)
    assert ladder.store.results() == before[1:]
    assert ladder.store.ratings() != ratings
    assert ladder.standings().matches_void == 1
    assert check(ladder) == []
    report = check_event(folder_of(ladder, event), earlier=earlier)
    assert report.findings == ()
    assert report.records == 6
    why = f"whether ev1/r1/ada~dan had to be struck out by the operator: {WHY}"
    assert why in report.unchecked
    entry = report.event.matches[0]
    assert (entry.state, entry.because, entry.attempts[0].struck) == (State.VOID, WHY, WHY)
    assert deeds(ladder) == [("void", "ev1/r1/ada~dan", WHY)]
    with pytest.raises(Refusal, match="void already"):
        verbs.void("ev1/r1/ada~dan", because=WHY)


async def test_ratings_after_a_strike_are_those_of_a_ladder_in_which_it_never_counted(
    ladder: Ladder, verbs: Verbs
) -> None:
    await play(ladder)
    verbs.void("ev1/r2/ada~bob", because=WHY)
    first = ladder.store.ratings()
    assert not verbs.recompute().is_anything
    assert ladder.store.ratings() == first


@pytest.mark.parametrize("schedule", [Swiss(rounds=3), KnockOut()], ids=["swiss", "knock-out"])
async def test_a_stage_that_was_paired_by_a_result_stays_paired_so_when_that_is_struck_out(
    ladder: Ladder, verbs: Verbs, schedule: AnySchedule
) -> None:
    await play(ladder, schedule=schedule, stop_after=2)
    first, second = ladder.store.results()
    verbs.void(first.match, because=WHY)  # before the next stage, which goes by it all the same
    event = await play(ladder)  # the rest of it
    assert event.is_over
    assert check(ladder) == []
    assert check_event(folder_of(ladder, event)).findings == ()
    verbs.void(second.match, because=WHY)  # and when all is over
    assert check(ladder) == []
    assert check_event(folder_of(ladder, event)).findings == ()


async def test_games_that_a_bot_lost_by_its_fault_do_not_count_once_the_match_does_not(
    ladder: Ladder, verbs: Verbs
) -> None:
    await play(ladder)
    with ladder.store._database.writing() as connection:
        connection.exec_driver_sql(
            "UPDATE entrants SET forfeits = 2 WHERE match = 'ev1/r1/ada~dan'"
        )
    assert set(ladder.store.forfeits().values()) == {2}
    verbs.void("ev1/r1/ada~dan", because=WHY)
    assert ladder.store.forfeits() == {}


async def test_a_match_that_is_played_again_has_other_boards_and_its_first_attempt_stays(
    ladder: Ladder, verbs: Verbs
) -> None:
    await play(ladder, stop_after=5)
    earlier = load_event(ladder.records_folder / "ev1/event.json")
    verbs.requeue("ev1/r1/ada~dan", because="its record has a wrong card")
    assert ladder.store.rounds_closed() == 0
    assert [match.attempt for match in ladder.store.scheduled()] == [2, 1]
    assert check(ladder) == []
    runner = InProcessRunner()
    event = await play(ladder, runner=runner)
    assert [(plan.match, plan.attempt) for plan in runner.played] == [
        ("ev1/r1/ada~dan", 2),
        ("ev1/r3/ada~cyd", 1),
    ]
    assert event.is_over
    assert len(ladder.store.results()) == 6
    assert check(ladder) == []
    report = check_event(folder_of(ladder, event), earlier=earlier)
    assert report.findings == ()
    assert report.records == 7
    entry = report.event.matches[0]
    assert (entry.state, [attempt.struck for attempt in entry.attempts]) == (
        State.PLAYED,
        ["its record has a wrong card", None],
    )


async def test_a_match_that_a_bot_made_void_may_be_played_again(
    ladder: Ladder, verbs: Verbs
) -> None:
    fault = {("ev1/r1/ada~dan", 1): (Ending.NEVER_STARTED, 0)}
    await play(ladder, stop_after=3, runner=InProcessRunner(faults=fault))
    assert [match for match, _ in ladder.store.voided()] == ["ev1/r1/ada~dan"]
    verbs.requeue("ev1/r1/ada~dan", because="no interpreter was there")
    event = await play(ladder)
    assert ladder.store.voided() == ()
    assert check(ladder) == []
    assert check_event(folder_of(ladder, event)).findings == ()


async def test_what_cannot_be_played_again_is_refused_with_the_reason(
    ladder: Ladder, verbs: Verbs
) -> None:
    await play(ladder, schedule=RoundRobin(2), stop_after=8)
    refused = {
        "ev1/r1/ada~dan": "of an earlier stage",
        "ev1/r6/bob~dan": "to be played anyway",
        "ev1/r9/ada~bob": "no match of this ladder",
        "nonsense": "no match of this ladder",
    }
    for match, why in refused.items():
        with pytest.raises(Refusal, match=why):
            verbs.requeue(match, because=WHY)
    verbs.disable("ada", because=WHY)
    with pytest.raises(Refusal, match="ada is inactive"):
        verbs.requeue("ev1/r4/ada~dan", because=WHY)
    event = await play(ladder)
    assert event.is_over
    with pytest.raises(Refusal, match="everybody knows its deals"):
        verbs.requeue("ev1/r4/bob~cyd", because=WHY)
    assert deeds(ladder) == [("disable", "ada", WHY)]
    assert check(ladder) == []


async def test_nobody_is_told_to_void_what_is_void(ladder: Ladder, verbs: Verbs) -> None:
    await play(ladder)
    with pytest.raises(Refusal, match="void it, if it should not count"):
        verbs.requeue("ev1/r1/ada~dan", because=WHY)
    verbs.void("ev1/r1/ada~dan", because=WHY)
    with pytest.raises(Refusal, match="it is void already"):
        verbs.requeue("ev1/r1/ada~dan", because=WHY)


async def test_what_is_still_to_be_played_cannot_be_struck_out(
    ladder: Ladder, verbs: Verbs
) -> None:
    await play(ladder, stop_after=1)
    with pytest.raises(Refusal, match="still to be played"):
        verbs.void("ev1/r3/ada~cyd", because=WHY)


async def test_an_operator_may_strike_out_and_requeue_at_any_moment_of_an_event(
    ladder: Ladder, verbs: Verbs
) -> None:
    done = 0

    def tell(notice: Notice) -> None:
        nonlocal done
        if isinstance(notice, MatchPlayed):
            done += 1
            if done == 2:
                verbs.void(notice.match.id, because=WHY)
            if done in (3, 6):  # the last of the event, too
                verbs.requeue(notice.match.id, because=WHY)

    event = await play_event(ladder, InProcessRunner(), schedule=RoundRobin(), tell=tell, at_once=1)
    assert event.is_over
    assert done == 8
    assert len(ladder.store.results()) == 5
    assert check(ladder) == []
    assert check_event(folder_of(ladder, event)).findings == ()


async def test_what_does_not_follow_from_the_results_is_mended_and_told(
    ladder: Ladder, verbs: Verbs
) -> None:
    await play(ladder)
    due = ladder.store.ratings(), ladder.store.pairs().tolist()
    with ladder.store._database.writing() as connection:
        connection.exec_driver_sql("UPDATE ratings SET elo = elo + 1 WHERE bot = 2")
        connection.exec_driver_sql("DELETE FROM pairs WHERE round = 2")
    assert len(check(ladder)) == 2
    moved = verbs.recompute(because="a check found it")
    assert [name for name, _, _ in moved.elo] == ["bob"]
    assert moved.pairs
    assert (ladder.store.ratings(), ladder.store.pairs().tolist()) == due
    assert check(ladder) == []


async def test_a_kill_between_a_strike_and_its_publication_leaves_a_ladder_that_holds(
    ladder: Ladder, verbs: Verbs, monkeypatch
) -> None:
    event = await play(ladder)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("arena.service.operating.publish_again", killed)
        with pytest.raises(KeyboardInterrupt):
            verbs.void("ev1/r1/ada~dan", because=WHY)
    assert check(ladder) == []
    assert check_event(folder_of(ladder, event)).event.matches[0].state is State.PLAYED
    verbs.recompute()
    assert check_event(folder_of(ladder, event)).event.matches[0].state is State.VOID
    assert check(ladder) == []


@pytest.mark.parametrize(
    ("moment", "verb"),
    [("begin_ending", "requeue"), ("add_cycle", "requeue"), ("close_round", "void")],
)
async def test_a_deed_between_what_the_player_reads_and_what_it_writes_is_heeded(
    ladder: Ladder, verbs: Verbs, monkeypatch, moment: str, verb: str
) -> None:
    """It decides by what it has read, and another process may come between."""
    write, done = getattr(ladder.store, moment), ""

    def after_a_deed(*arguments, **options):
        nonlocal done
        played = [result.match for result in ladder.store.results()]
        if not done and played:
            done = played[-1]
            getattr(verbs, verb)(done, because=WHY)
            assert not write(*arguments, **options)
            return False
        return write(*arguments, **options)

    monkeypatch.setattr(ladder.store, moment, after_a_deed)
    runner = InProcessRunner()
    event = await play(ladder, schedule=RoundRobin(2), runner=runner)
    played = [(plan.match, plan.attempt) for plan in runner.played]
    if verb == "requeue":  # and nothing that may rest on it comes first
        assert played.index((done, 2)) == played.index((done, 1)) + 1
    assert len(ladder.store.results()) == (12 if verb == "requeue" else 11)
    assert check(ladder) == []
    assert check_event(folder_of(ladder, event)).findings == ()
