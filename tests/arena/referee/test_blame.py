"""Who is to blame for a clock that ran out, case by case."""

import pytest

from arena.referee.blame import Evidence, Overrun, Vitals, answered_at_last, time_loss, verdict
from hokm.cards import Seat
from hokm.records import Verdict


def overrun(elapsed: float, *, limit: float = 1.0, is_answered: bool = True) -> Overrun:
    return Overrun(7, limit, 100.0, 100.25, 100.5, 100.5 + elapsed, is_answered=is_answered)


@pytest.mark.parametrize(
    ("what", "elapsed", "is_answered", "evidence", "found"),
    [
        ("nothing is known", 1.1, True, Evidence(), Verdict.BOT),
        ("all is well", 1.1, True, Evidence(0.0, 0.01, 0.001, 0.0), Verdict.BOT),
        ("late by a hair, and a hair was lost", 1.01, True, Evidence(0.02), Verdict.BOT),
        ("in time but for a stall", 1.2, True, Evidence(0.9), Verdict.HOST),
        ("too late by more than the stall", 2.5, True, Evidence(0.9), Verdict.UNCLEAR),
        ("in time but for a small stall", 1.05, True, Evidence(0.06), Verdict.UNCLEAR),
        ("no CPU to run on", 1.3, True, Evidence(0.0, 0.2, 0.8, 0.0), Verdict.HOST),
        ("stolen from the machine", 1.3, True, Evidence(0.0, 0.2, 0.0, 0.5), Verdict.HOST),
        ("it had its time of CPU", 3.0, True, Evidence(0.0, 1.0, 2.0, 0.0), Verdict.BOT),
        ("no answer, and most of it lost", 1.0, False, Evidence(0.0, 0.1, 0.6), Verdict.HOST),
        ("no answer, and some of it lost", 1.0, False, Evidence(0.0, 0.1, 0.3), Verdict.UNCLEAR),
        ("no answer, and little of it lost", 1.0, False, Evidence(0.0, 0.1, 0.04), Verdict.BOT),
        ("no answer, asleep", 1.0, False, Evidence(0.0, 0.0, 0.0, 0.0), Verdict.BOT),
    ],
)  # fmt: skip
def test_a_verdict(
    what: str, elapsed: float, is_answered: bool, evidence: Evidence, found: Verdict
) -> None:
    assert verdict(overrun(elapsed, is_answered=is_answered), evidence) is found


def test_on_a_long_clock_a_short_stall_excuses_nobody() -> None:
    assert verdict(overrun(31.2, limit=31.0), Evidence(stalled_seconds=1.0)) is Verdict.BOT


def test_a_loss_says_where_the_time_went() -> None:
    loss = time_loss(Seat(1), overrun(1.2), Evidence(0.9, 0.05, 0.01, 0.0))
    assert (loss.seat, loss.decision, loss.verdict) == (Seat(1), 7, Verdict.HOST)
    assert (loss.referee_seconds, loss.writing_seconds) == (0.25, 0.25)
    assert (loss.stalled_seconds, loss.cpu_seconds, loss.waited_seconds) == (0.9, 0.05, 0.01)
    assert "verdict: host" in str(loss)
    assert "says" not in str(loss)


def test_what_the_bot_says_of_its_time_is_told_and_changes_no_verdict() -> None:
    loss = time_loss(Seat(0), overrun(1.2), Evidence())
    later = answered_at_last(loss, seconds=1.5, took_seconds=0.125)
    assert (later.bot_seconds, later.wire_seconds, later.verdict) == (0.125, 1.375, Verdict.BOT)
    assert "the bot says it took 0.125 s" in str(later)
    assert answered_at_last(loss, seconds=1.5, took_seconds=None) == loss


def test_a_bot_that_says_it_took_longer_than_it_could_has_spent_nothing_on_the_wire() -> None:
    loss = time_loss(Seat(0), overrun(1.2), Evidence())
    assert answered_at_last(loss, seconds=1.5, took_seconds=9.0).wire_seconds == 0.0


def test_the_thread_that_waited_most_counts_and_new_ones_count_from_their_start() -> None:
    before = Vitals(1.0, {1: 5.0, 2: 1.0})
    assert Vitals(1.0, {1: 5.25, 2: 1.5, 3: 0.125}).waited_since(before) == 0.5
    assert Vitals(1.0, {3: 2.0}).waited_since(before) == 2.0
    assert Vitals(1.0, {}).waited_since(before) == 0.0
