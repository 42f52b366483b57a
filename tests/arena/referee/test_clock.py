import pytest

from arena.referee.blame import Overrun
from arena.referee.clock import SeatClock
from hokm.outcome import Ending
from hokm.session import ClockRules
from hokm.view import ClockView


def a_clock(move: float = 1.0, bank: float = 30.0, stall: float = 10.0) -> SeatClock:
    return SeatClock(ClockRules(move_seconds=move, bank_seconds=bank), stall_seconds=stall)


def asked(clock: SeatClock, *, at: float, written: float | None = None) -> SeatClock:
    clock.ask(at)
    if written is not None:
        clock.sent(written)
    return clock


def test_the_time_of_a_move_is_free_and_only_what_is_beyond_it_comes_from_the_bank() -> None:
    clock = asked(a_clock(), at=0.0, written=0.0)
    assert clock.stop(0.75) == 0.75
    assert clock.bank_seconds == 30.0
    asked(clock, at=1.0, written=1.0)
    assert clock.stop(5.0) == 4.0
    assert clock.bank_seconds == 27.0


def test_time_saved_on_a_move_is_not_kept() -> None:
    clock = a_clock()
    for at in range(100):
        asked(clock, at=at, written=at).stop(at)
    assert clock.bank_seconds == 30.0


def test_a_new_hand_fills_the_bank() -> None:
    clock = asked(a_clock(), at=0.0, written=0.0)
    clock.stop(21.0)
    assert clock.bank_seconds == 10.0
    clock.restore()
    assert clock.view() == ClockView(1.0, 30.0, last_seconds=21.0)


def test_thinking_runs_from_the_return_of_the_write_not_from_the_asking() -> None:
    clock = asked(a_clock(), at=0.0, written=8.0)
    assert clock.deadline == 39.0
    assert clock.stop(8.5) == 0.5


def test_a_decision_written_a_second_time_does_not_restart_the_clock() -> None:
    clock = asked(a_clock(), at=0.0, written=2.0)
    clock.sent(20.0)
    assert clock.deadline == 33.0
    assert clock.stop(22.0) == 20.0


def test_an_answer_read_before_its_write_was_seen_to_return_is_charged_nothing() -> None:
    clock = asked(a_clock(), at=5.0)
    assert clock.stop(4.9) == 0.0
    asked(clock, at=5.0, written=5.2)
    assert clock.stop(5.1) == 0.0


def test_until_it_is_written_the_deadline_is_that_of_a_stall() -> None:
    clock = asked(a_clock(stall=10.0), at=3.0)
    assert clock.deadline == 13.0
    assert not clock.is_late(13.0)
    assert clock.is_late(13.1)
    assert clock.missed(13.1)[0] is Ending.STALL


def test_a_write_that_returned_too_late_is_still_a_stall() -> None:
    clock = asked(a_clock(stall=10.0), at=3.0, written=13.5)
    assert clock.deadline == 13.0
    assert clock.missed(14.0)[0] is Ending.STALL


def test_nothing_is_due_while_nothing_is_asked() -> None:
    clock = a_clock()
    assert clock.deadline is None
    asked(clock, at=0.0, written=0.0).stop(1.0)
    assert clock.deadline is None
    assert not clock.is_late(1e9)


@pytest.mark.parametrize("k", [1, 2, 5, 64])
def test_k_decisions_open_at_once_give_k_times_as_long_and_are_charged_a_kth(k: int) -> None:
    clock = asked(a_clock(move=1.0, bank=30.0), at=0.0, written=0.0)
    clock.share(k)
    assert clock.deadline == 31.0 * k
    assert clock.stop(3.0 * k) == 3.0
    assert clock.bank_seconds == 28.0


def test_k_grows_while_a_decision_is_open_and_never_falls() -> None:
    clock = asked(a_clock(), at=0.0, written=0.0)
    clock.share(4)
    clock.share(2)
    assert clock.stop(8.0) == 2.0
    asked(clock, at=10.0, written=10.0)
    assert clock.deadline == 40.0, "k is the decision's own: the next begins alone"


def test_the_bank_runs_dry_and_not_below() -> None:
    clock = asked(a_clock(move=1.0, bank=2.0), at=0.0, written=0.0)
    assert clock.deadline == 3.0
    clock.stop(3.0)
    assert clock.view().bank_seconds == 0.0
    asked(clock, at=3.0, written=3.0)
    assert clock.deadline == 4.0


def test_at_the_deadline_is_in_time() -> None:
    clock = asked(a_clock(move=1.0, bank=2.0), at=0.0, written=0.0)
    assert not clock.is_late(3.0)
    assert clock.is_late(3.000_001)


def test_a_time_loss_says_where_the_time_went() -> None:
    clock = asked(a_clock(move=1.0, bank=2.0), at=10.0, written=10.125)
    clock.share(3)
    ending, cause = clock.missed(19.5)
    assert ending is Ending.TIME
    assert cause == (
        "no answer 9.375 s after the decision was sent; it had 1.000 s for the move and 2.000 s in "
        "the bank, times 3 for 3 decisions open at once (and 0.125 s of writing before that, not "
        "charged)"
    )


def test_an_overrun_says_what_the_clock_saw_of_the_decision() -> None:
    clock = a_clock(move=1.0, bank=2.0)
    clock.ask(10.0)
    clock.sent(10.5, began_at=10.25)
    overrun = clock.overrun(13.75, decision=4, is_answered=True)
    assert overrun == Overrun(4, 3.0, 10.0, 10.25, 10.5, 13.75, is_answered=True)
    assert overrun.elapsed_seconds == 3.25


def test_an_overrun_of_what_was_never_written_runs_from_the_asking() -> None:
    overrun = asked(a_clock(stall=10.0), at=3.0).overrun(13.0, decision=1, is_answered=False)
    assert (overrun.limit_seconds, overrun.elapsed_seconds) == (10.0, 10.0)


def test_a_running_clock_shows_what_is_left_of_it() -> None:
    clock = asked(a_clock(move=1.0, bank=30.0), at=0.0, written=1.0)
    assert clock.view(1.25) == ClockView(0.75, 30.0)
    assert clock.view(4.0) == ClockView(0.0, 28.0)
    assert clock.view(99.0) == ClockView(0.0, 0.0)
    assert clock.view() == ClockView(1.0, 30.0)
