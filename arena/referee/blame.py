"""Blame: whose time it was that ran out, the bot's or the machine's.

A clock stands on stamps, and stamps do not say why an answer is late: the bot thought too long, or
the machine did not let it think, or the arena itself stood still. So before a seat loses on time
what is known is put side by side and judged. Nothing a bot says of itself excuses it, and where it
is not clear it is the bot's loss, or else a bot could have matches voided that it is losing.

Times are seconds. This module reads no clock and no process.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hokm.cards import Seat
from hokm.records import TimeLoss, Verdict

LITTLE_SHARE = 0.05
LITTLE_SECONDS = 0.05
"""What every bot loses to other processes now and then, of its limit or at all: no excuse."""

HOST_SHARE = 0.1
"""Of its limit a bot that did answer must have been deprived of so much, if the answer would have
been in time without: one that is late by a hair cannot blame a hair.
"""

LOST_SHARE = 0.5
"""Of its limit a bot that did not answer must have been deprived of so much: nobody knows how long
it would have taken.
"""


@dataclass(frozen=True, slots=True)
class Vitals:
    """What a process has had of its machine, since it began and up to one moment.

    ``cpu_seconds`` is what all its threads and children used, ``waited_seconds`` how long each
    thread of its own, by its id, was ready to run and had no CPU.
    """

    cpu_seconds: float
    waited_seconds: Mapping[int, float]

    def waited_since(self, before: "Vitals") -> float:
        """How long the thread that waited most waited since then."""
        waits = (
            waited - before.waited_seconds.get(thread, 0.0)
            for thread, waited in self.waited_seconds.items()
        )
        return max(waits, default=0.0)


@dataclass(frozen=True, slots=True)
class Overrun:
    """A decision whose time is over, as its clock knows it.

    It was handed over at ``asked_at``, its write began and returned (``began_at``, ``sent_at``;
    None if that is not known to have happened), and at ``ended_at`` its time was over: that is when
    its answer was read if it ``is_answered``.
    """

    decision: int
    limit_seconds: float
    asked_at: float
    began_at: float | None
    sent_at: float | None
    ended_at: float
    is_answered: bool

    @property
    def since(self) -> float:
        """When the limit began to count: with the write's return, or while it is waited for."""
        return self.asked_at if self.sent_at is None else self.sent_at

    @property
    def elapsed_seconds(self) -> float:
        """What is held against the limit."""
        return self.ended_at - self.since


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was seen of the machine between the two ends of an overrun; None where nothing was.

    ``stalled_seconds`` is how long the arena stood still, ``cpu_seconds`` and ``waited_seconds``
    what the bot's process had and lacked, ``steal_seconds`` what a CPU lost, in the mean, to other
    guests of the same hardware.
    """

    stalled_seconds: float = 0.0
    cpu_seconds: float | None = None
    waited_seconds: float | None = None
    steal_seconds: float | None = None

    @property
    def deprived_seconds(self) -> float:
        """How long the bot could not run. A machine that is stopped shows in all three."""
        return max(self.stalled_seconds, self.waited_seconds or 0.0, self.steal_seconds or 0.0)


def time_loss(seat: Seat, overrun: Overrun, evidence: Evidence) -> TimeLoss:
    """Judge the overrun of a seat by what was seen."""
    began_at = overrun.since if overrun.began_at is None else overrun.began_at
    writing_seconds = 0.0 if overrun.sent_at is None else overrun.sent_at - began_at
    return TimeLoss(
        seat=seat,
        decision=overrun.decision,
        verdict=verdict(overrun, evidence),
        limit_seconds=overrun.limit_seconds,
        elapsed_seconds=overrun.elapsed_seconds,
        referee_seconds=max(0.0, began_at - overrun.asked_at),
        writing_seconds=max(0.0, writing_seconds),
        stalled_seconds=evidence.stalled_seconds,
        cpu_seconds=evidence.cpu_seconds,
        waited_seconds=evidence.waited_seconds,
        steal_seconds=evidence.steal_seconds,
    )


def answered_at_last(loss: TimeLoss, *, seconds: float, took_seconds: float | None) -> TimeLoss:
    """The same once the answer has come, so many seconds after the clock began to run: what the bot
    says of it is told, and judged no more.
    """
    if took_seconds is None:
        return loss
    wire_seconds = max(0.0, seconds - took_seconds)
    return replace(loss, bot_seconds=took_seconds, wire_seconds=wire_seconds)


def verdict(overrun: Overrun, evidence: Evidence) -> Verdict:
    """Whose time ran out."""
    limit, deprived = overrun.limit_seconds, evidence.deprived_seconds
    if evidence.cpu_seconds is not None and evidence.cpu_seconds >= limit:
        return Verdict.BOT  # it has had its time, whatever it waited for besides
    if deprived < max(LITTLE_SECONDS, LITTLE_SHARE * limit):
        return Verdict.BOT
    if overrun.is_answered:
        would_be_in_time = overrun.elapsed_seconds - deprived <= limit
        is_host = would_be_in_time and deprived >= HOST_SHARE * limit
    else:
        is_host = deprived >= LOST_SHARE * limit
    return Verdict.HOST if is_host else Verdict.UNCLEAR
