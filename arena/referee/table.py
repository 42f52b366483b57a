"""The table: one game under way between seats, without any input or output of its own.

Stamped inputs go in (an answer, a write that returned, a lost connection, the time), messages for
seats come out, and in the end an outcome. A table never waits, reads a clock or draws a random
number; it knows neither the wire nor the processes behind its seats. The rules say what is legal;
what a refusal, a lost seat or a missed deadline costs is said here, and nowhere else.

Times are seconds of one monotonic clock, and stamps decide: an answer is in time by when it was
read, whatever the time when the table hears of it. So whoever drives a table hands it the answers
that were read before it calls :meth:`Table.tick`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from arena.referee.blame import Evidence, Overrun, answered_at_last, time_loss
from arena.referee.clock import SeatClock
from hokm.actions import Action, action_text
from hokm.cards import Seat
from hokm.errors import IllegalAction, Reason
from hokm.events import Event
from hokm.notes import Note
from hokm.outcome import Ending, Outcome
from hokm.records import GameLog, GameRecord, TimeLoss, Verdict
from hokm.records import Policy as Policy
from hokm.rules.game import Game
from hokm.session import ClockRules, Decision, GameEnd, Malformed, Refused


@dataclass(frozen=True, slots=True)
class Tell:
    """A message for a seat."""

    seat: Seat
    message: Decision | Refused | GameEnd


Examine = Callable[[Seat, Overrun], TimeLoss]


class Table:
    """One game and the seats that play it.

    Call :meth:`start` once; then report what happens until :attr:`outcome` is there. Every method
    that returns messages returns them in the order in which they are to be written. At most one
    decision is open. A seat hears of what happened, as it may see it, with its next decision or
    with the end, so that not even the time of a message tells it more than whose turn it is.

    ``number`` is the game's number in every message, ``policy`` what refusals cost,
    ``stall_seconds`` how long a decision may take to be written.

    Decisions are counted by seat, from 1: a seat's ids are what a bot would count itself, and an id
    that belongs to another seat does not exist.
    """

    def __init__(
        self,
        game: Game,
        *,
        number: int,
        clock: ClockRules,
        policy: Policy,
        stall_seconds: float = 10.0,
    ) -> None:
        self.game = game
        self.number = number
        self.policy = policy
        self._places = [
            _Place(SeatClock(clock, stall_seconds=stall_seconds)) for _ in range(game.variant.seats)
        ]
        self._events: list[Event] = []
        self._asked: Seat | None = None
        self._hand = 0
        self._outcome: Outcome | None = None
        self._log = GameLog(game, number=number)
        self.examine: Examine = _unexamined
        """Asked when a deadline is missed: whose time it was that ran out."""
        self._time_loss: TimeLoss | None = None
        self._ran_from: float | None = None
        """When the clock that ran out began to run, until the late answer is there."""

    # -- what goes in

    def start(self, now: float) -> list[Tell]:
        """Begin the game; the first decision."""
        if self._outcome is not None:  # a seat was lost before the first card
            return []
        self._happened(self.game.start())
        return self._go_on(now)

    def sent(self, seat: Seat, decision: int, now: float, *, began_at: float | None = None) -> None:
        """The write of that decision, begun at `began_at`, returned: its clock runs."""
        if self._is_open(seat, decision):
            self._places[seat].clock.sent(now, began_at=began_at)

    def away(self, seat: Seat, now: float) -> None:
        """The seat's stream broke, and it may come back: its clock runs, whatever was written."""
        if seat == self._asked:
            self._places[seat].clock.sent(now)

    def back(self, seat: Seat, now: float) -> list[Tell]:
        """The seat came back and knows nothing any more: the next it is told of this game, now if
        it is to act or the game is over, has all that happened from the beginning, and its clock as
        it stands.
        """
        self._places[seat].told = 0
        if self._outcome is not None:
            return [Tell(seat, GameEnd(self.number, self._news(seat), self._outcome))]
        if seat != self._asked:
            return []
        return [Tell(seat, self._decision(seat, now))]

    def shared(self, seat: Seat, decision: int, open_at_once: int) -> None:
        """So many decisions are open on this seat's connection, that one included.

        It may take so many times its limit and is charged its share. The number never falls while
        the decision is open.
        """
        if self._is_open(seat, decision):
            self._places[seat].clock.share(open_at_once)

    def answer(
        self,
        seat: Seat,
        decision: int,
        attempt: int,
        action: Action | Malformed,
        now: float,
        *,
        asks_at: float | None = None,
        took_seconds: float | None = None,
        note: Note | Malformed | None = None,
    ) -> list[Tell]:
        """Judge an answer, once, that was read at ``now``; ``asks_at`` is when the decision that
        follows is handed over, if that is later. The bot says that it took ``took_seconds``; its
        ``note`` goes into the record if the action is taken, and nowhere else.

        What was answered before is answered the same way again, at no cost. A refusal changes
        nothing and is told to its sender alone, unless the policy ends the game for it.
        """
        place = self._places[seat]
        if seat == self._asked and place.clock.is_late(now):
            tells = self._out_of_time(seat, now, is_answered=True)
            self.answered_at_last(seat, decision, now, took_seconds=took_seconds)
            return tells
        key = (decision, attempt)
        if key in place.replies:
            reply = place.replies[key]
            return [] if reply is None else [Tell(seat, reply)]
        try:
            events = self._act(seat, key, action)
        except IllegalAction as illegal:
            return self._refuse(seat, key, action, illegal=illegal)
        place.replies[key] = None
        place.awaited = (decision + 1, 1)
        self._asked = None
        self._log.charged(place.clock.stop(now))
        if note is not None:
            self._log.noted(seat, note if isinstance(note, Note) else None)
        self._happened(events)
        return self._go_on(now if asks_at is None else asks_at)

    def concerns_others(
        self, seat: Seat, decision: int, attempt: int, action: Action | Malformed, now: float
    ) -> bool:
        """Whether :meth:`answer` would have something to tell to another seat than the sender: what
        follows from an action, or the end of the game. Changes nothing.
        """
        place = self._places[seat]
        if seat == self._asked and place.clock.is_late(now):
            return True
        if self._outcome is not None or (decision, attempt) in place.replies:
            return False
        try:
            self.game.deal.check(seat, self._admitted(seat, (decision, attempt), action))
        except IllegalAction:
            return place.refusals + 1 == self.policy.refusals_that_end
        return True

    def lost(
        self, seat: Seat, now: float, *, cause: str, ending: Ending = Ending.CRASH
    ) -> list[Tell]:
        """The seat's process or stream is gone; ``cause`` says how, and is safe for every seat."""
        return self._fault(seat, ending=ending, cause=cause)

    def tick(self, now: float) -> list[Tell]:
        """The time is ``now``, and every answer read before has been reported."""
        deadline = self.deadline
        if self._asked is None or deadline is None or now < deadline:
            return []
        return self._out_of_time(self._asked, now, is_answered=False)

    def answered_at_last(
        self, seat: Seat, decision: int, now: float, *, took_seconds: float | None
    ) -> None:
        """The answer for which the time was over came at ``now``: the record says where it was."""
        loss, ran_from = self.time_loss, self._ran_from
        if loss is not None and (seat, decision) == (loss.seat, loss.decision):
            self._ran_from = None
            if ran_from is not None:
                seconds = now - ran_from
                self._note_loss(answered_at_last(loss, seconds=seconds, took_seconds=took_seconds))

    def cap(self, now: float, *, cause: str) -> list[Tell]:
        """The match is beyond its cap: the seat whose decision is open holds it up."""
        if self._asked is None:
            return self.stop(now, ending=Ending.HOST_FAULT, cause=cause)
        return self._fault(self._asked, ending=Ending.STALL, cause=cause)

    def stop(self, now: float, *, ending: Ending, cause: str) -> list[Tell]:
        """End the game with nobody at fault: ``STOPPED`` or ``HOST_FAULT``; ``cause`` is safe for
        every seat.
        """
        if ending not in (Ending.STOPPED, Ending.HOST_FAULT):
            raise ValueError(f"{ending.name} has a seat at fault: report that instead of stop()")
        return self._end(self.game.void(ending, cause=cause))

    # -- what it says

    @property
    def deadline(self) -> float | None:
        """The earliest time at which :meth:`tick` would end the game; None when nothing is open."""
        return None if self._asked is None else self._places[self._asked].clock.deadline

    @property
    def outcome(self) -> Outcome | None:
        """The end of the game, None while it goes on."""
        return self._outcome

    @property
    def time_loss(self) -> TimeLoss | None:
        """Where the time went, if a clock ran out."""
        return self._time_loss

    def record(self) -> GameRecord:
        """What has happened so far, whole, for the record of the match."""
        return self._log.record()

    # -- judging

    def _act(self, seat: Seat, key: tuple[int, int], action: Action | Malformed) -> list[Event]:
        """The events an answer causes; raises the first reason that applies (rulebook 7)."""
        return self.game.act(seat, self._admitted(seat, key, action))

    def _admitted(self, seat: Seat, key: tuple[int, int], action: Action | Malformed) -> Action:
        """The action of an answer that is awaited; raises IllegalAction for another."""
        if isinstance(action, Malformed):
            raise IllegalAction(Reason.MALFORMED, detail=action.detail, clause="7")
        if self._outcome is not None:
            raise IllegalAction(Reason.MATCH_OVER, detail="this game is over", clause="7")
        if seat != self._asked or key != self._places[seat].awaited:
            # One text, whosever turn it is and whatever was meant.
            raise IllegalAction(
                Reason.STALE_DECISION,
                detail="answer the last decision you were sent, once: attempt 1, or one more than "
                "the attempt that was refused",
                clause="7",
            )
        return action

    def _refuse(
        self,
        seat: Seat,
        key: tuple[int, int],
        action: Action | Malformed,
        *,
        illegal: IllegalAction,
    ) -> list[Tell]:
        place, (decision, attempt) = self._places[seat], key
        detail = f"{illegal.detail} (rulebook {illegal.clause})"
        reply = Refused(self.number, decision, attempt, illegal.reason, detail)
        if self._outcome is not None:
            return [Tell(seat, reply)]
        if seat == self._asked and key == place.awaited:
            place.awaited = (decision, attempt + 1)
        if key < place.awaited:
            place.replies[key] = reply
        # An answer ahead of its decision is not kept (rulebook case 23): when its time has come it
        # is judged afresh.
        self._log.refused(seat, attempt, illegal.reason, _text(action))
        place.refusals += 1
        tells = [Tell(seat, reply)]
        if place.refusals == self.policy.refusals_that_end:
            ending = Ending.MALFORMED if illegal.reason is Reason.MALFORMED else Ending.ILLEGAL
            cause = f"{_public(illegal.reason)}, refusal {place.refusals} in this hand"
            tells += self._fault(seat, ending=ending, cause=cause)
        return tells

    # -- going on, and ending

    def _happened(self, events: list[Event]) -> None:
        self._events += events
        self._log.saw(events)
        if self.game.hand_number != self._hand:
            self._hand = self.game.hand_number
            for place in self._places:
                place.clock.restore()
                place.refusals = 0

    def _go_on(self, now: float) -> list[Tell]:
        outcome = self.game.outcome
        if outcome is not None:
            return self._end(outcome)
        seat = self.game.to_act
        assert seat is not None, "a game that is not over waits for a seat"
        self._asked = seat
        self._places[seat].clock.ask(now)
        return [Tell(seat, self._decision(seat, now))]

    def _decision(self, seat: Seat, now: float) -> Decision:
        place = self._places[seat]
        decision, attempt = place.awaited
        return Decision(
            self.number,
            decision=decision,
            events=self._news(seat),
            legal=self.game.legal_actions(),
            clock=place.clock.view(now),
            attempt=attempt,
        )

    def _news(self, seat: Seat) -> tuple[Event, ...]:
        """What happened since this seat was told last, as it may see it: the one way out for
        events.
        """
        place = self._places[seat]
        news = tuple([event.seen_by(seat) for event in self._events[place.told :]])
        place.told = len(self._events)
        return news

    def _out_of_time(self, seat: Seat, now: float, *, is_answered: bool) -> list[Tell]:
        """End the game for a missed deadline: against the seat, but for a fault of the host."""
        place = self._places[seat]
        decision, _ = place.awaited
        overrun = place.clock.overrun(now, decision=decision, is_answered=is_answered)
        loss = self.examine(seat, overrun)
        self._ran_from = overrun.sent_at
        self._note_loss(loss)
        if loss.verdict is Verdict.HOST:
            cause = f"the machine kept seat {seat} from its time: nobody is at fault"
            return self.stop(now, ending=Ending.HOST_FAULT, cause=cause)
        ending, cause = place.clock.missed(now)
        return self._fault(seat, ending=ending, cause=cause)

    def _note_loss(self, loss: TimeLoss) -> None:
        self._time_loss = loss
        self._log.out_of_time(loss)

    def _fault(self, seat: Seat, *, ending: Ending, cause: str) -> list[Tell]:
        return self._end(self.game.forfeit(seat, ending=ending, cause=f"seat {seat}: {cause}"))

    def _end(self, outcome: Outcome) -> list[Tell]:
        """Tell every seat of the end, the one at fault too, if this is the first end there is."""
        if self._outcome is not None:
            return []
        self._outcome = outcome
        self._asked = None
        self._log.finish(outcome)
        return [
            Tell(seat, GameEnd(self.number, self._news(seat), outcome))
            for seat in map(Seat, range(len(self._places)))
        ]

    def _is_open(self, seat: Seat, decision: int) -> bool:
        return seat == self._asked and decision == self._places[seat].awaited[0]


class _Place:
    """What a table keeps about one seat."""

    __slots__ = ("awaited", "clock", "refusals", "replies", "told")

    def __init__(self, clock: SeatClock) -> None:
        self.clock = clock
        self.told = 0
        """How many of the game's events this seat has been told."""
        self.awaited = (1, 1)
        """The decision and attempt that is open, or will be next."""
        self.replies: dict[tuple[int, int], Refused | None] = {}
        """How each decision and attempt was answered; None where it was accepted. Refusals are few,
        since they end the game, so this grows no faster than the record.
        """
        self.refusals = 0
        """Refusals in this hand."""


def _unexamined(seat: Seat, overrun: Overrun) -> TimeLoss:
    """Where nobody looked at the machine."""
    return time_loss(seat, overrun, Evidence())


def _public(reason: Reason) -> str:
    """A reason as every seat may learn it.

    Which of these two it was would tell the others about the hand of the seat that was refused; its
    sender and the record have it.
    """
    if reason in (Reason.NOT_IN_HAND, Reason.MUST_FOLLOW_SUIT):
        return "a card it may not use"
    return reason.name


def _text(action: Action | Malformed) -> str:
    """An answer as the record quotes it."""
    return action.detail if isinstance(action, Malformed) else action_text(action)
