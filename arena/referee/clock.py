"""A seat's clock: so much time for each move, then a bank that lasts a hand.

A decision goes through three moments: it is *asked* (handed over to be written), *sent* (its write
returned) and *answered* (its answer was read). Thinking time runs from sent to answered; what comes
before is the arena's, or, beyond a limit of its own, the fault of a seat that does not read. A
clock reads no time: every moment is given to it, in seconds of one monotonic clock. It does not
know what is asked, or what running out of time costs.
"""

from arena.referee.blame import Overrun
from hokm.outcome import Ending
from hokm.session import ClockRules
from hokm.view import ClockView


class SeatClock:
    """The clock of one seat at one table.

    >>> clock = SeatClock(ClockRules(move_seconds=1.0, bank_seconds=30.0), stall_seconds=10.0)
    >>> clock.ask(5.0)
    >>> clock.sent(5.5)
    >>> clock.deadline
    36.5
    >>> clock.stop(9.0), clock.bank_seconds
    (3.5, 27.5)
    """

    __slots__ = (
        "_asked_at",
        "_began_at",
        "_open_at_once",
        "_sent_at",
        "bank_seconds",
        "last_seconds",
        "move_seconds",
        "rules",
        "stall_seconds",
    )

    def __init__(self, rules: ClockRules, *, stall_seconds: float) -> None:
        self.rules = rules
        self.stall_seconds = stall_seconds
        self.move_seconds = rules.move_seconds
        self.bank_seconds = rules.bank_seconds
        """What is left of the bank in this hand."""
        self.last_seconds: float | None = None
        """What the last answered decision was charged; None before the first."""
        self._asked_at: float | None = None
        self._began_at: float | None = None
        self._sent_at: float | None = None
        self._open_at_once = 1

    def restore(self) -> None:
        """A new hand: the bank is full again."""
        self.bank_seconds = self.rules.bank_seconds

    # -- the moments of a decision

    def ask(self, now: float) -> None:
        """A decision is handed over to be written to the seat."""
        self._asked_at = now
        self._began_at = self._sent_at = None
        self._open_at_once = 1

    def sent(self, now: float, *, began_at: float | None = None) -> None:
        """The write returned, having begun at `began_at`: thinking time runs. A write that returned
        too late does not count.
        """
        if self._sent_at is None and not self.is_late(now):
            self._began_at, self._sent_at = began_at, now

    def share(self, open_at_once: int) -> None:
        """So many decisions, this one included, are open on the seat's connection at once.

        The largest number counts, since each of them had its part in the waiting.
        """
        self._open_at_once = max(self._open_at_once, open_at_once)

    def stop(self, now: float) -> float:
        """The decision was answered: charge it and return the charge in seconds, to a microsecond,
        as the record and its seat are told it: so the bank follows from the record.

        An answer may be read before its write is seen to have returned; it is charged nothing.
        """
        sent_at = now if self._sent_at is None else self._sent_at
        charged = round(max(0.0, now - sent_at) / self._open_at_once, 6)
        self.bank_seconds = max(0.0, self.bank_seconds - max(0.0, charged - self.move_seconds))
        self.last_seconds = charged
        self._asked_at = self._sent_at = None
        return charged

    # -- what it says

    @property
    def deadline(self) -> float | None:
        """The last moment that is in time: to be written, then to be answered. None when nothing is
        asked.
        """
        if self._asked_at is None:
            return None
        if self._sent_at is None:
            return self._asked_at + self.stall_seconds
        return self._sent_at + self._limit_seconds

    def is_late(self, now: float) -> bool:
        """Whether the deadline has passed; at the deadline itself one is still in time."""
        deadline = self.deadline
        return deadline is not None and now > deadline

    def view(self, now: float | None = None) -> ClockView:
        """The clock as its seat is shown it: when it is asked, or at `now`, while it runs."""
        move_seconds, bank_seconds = self.move_seconds, self.bank_seconds
        if now is not None and self._sent_at is not None:
            used = max(0.0, now - self._sent_at) / self._open_at_once
            bank_seconds = max(0.0, bank_seconds - max(0.0, used - move_seconds))
            move_seconds = max(0.0, move_seconds - used)
        return ClockView(move_seconds, bank_seconds, self.last_seconds)

    @property
    def _limit_seconds(self) -> float:
        if self._sent_at is None:
            return self.stall_seconds
        return (self.move_seconds + self.bank_seconds) * self._open_at_once

    def overrun(self, now: float, *, decision: int, is_answered: bool) -> Overrun:
        """What is known of the time of a decision whose deadline is missed at `now`."""
        assert self._asked_at is not None
        return Overrun(
            decision=decision,
            limit_seconds=self._limit_seconds,
            asked_at=self._asked_at,
            began_at=self._began_at,
            sent_at=self._sent_at,
            ended_at=now,
            is_answered=is_answered,
        )

    def missed(self, now: float) -> tuple[Ending, str]:
        """How missing the deadline ends a game, and why, for a person."""
        assert self._asked_at is not None
        if self._sent_at is None:
            return Ending.STALL, (
                f"did not take its decision within {self.stall_seconds:.3f} s of its being written"
            )
        elapsed, writing = now - self._sent_at, self._sent_at - self._asked_at
        shared = self._open_at_once
        limits = f"{self.move_seconds:.3f} s for the move and {self.bank_seconds:.3f} s in the bank"
        if shared > 1:
            limits += f", times {shared} for {shared} decisions open at once"
        return Ending.TIME, (
            f"no answer {elapsed:.3f} s after the decision was sent; it had {limits} "
            f"(and {writing:.3f} s of writing before that, not charged)"
        )
