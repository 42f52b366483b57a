"""A recorded game, told again to one seat as it was told then, and what it does compared. Pure.

The table of the referee is driven with what the record has: the decks, the actions of all seats,
and what each was charged. So the seat is told the same, clocks included. Where it now does
something else, the game goes on with what is on record. It knows no process and no stream.

What the record does not have cannot be told again: at which decision an action was refused, so one
is told again when the bot gives it again; and how games that were open at once lay in each other.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from arena.conformance.tables import legal_text
from arena.referee.table import Table, Tell
from hokm.actions import Action, PlayCard, action_text
from hokm.cards import Seat, cards_text
from hokm.notation import hand_text
from hokm.notes import Note
from hokm.outcome import Ending, Outcome
from hokm.records import (
    Flag,
    GameRecord,
    MatchRecord,
    Place,
    Refusal,
    ReplayError,
    RoomRecord,
)
from hokm.records.log import ACTION_CHARACTERS
from hokm.records.replays import SeedsByGame, dealt_again, decisions
from hokm.session import Answer, Decision, FromReferee, GameEnd, GameStart, Malformed, Refused
from hokm.view import View

SILENCE = (Ending.TIME, Ending.STALL)
"""How games end of bots that give no answer."""
DEATH = (Ending.CRASH, Ending.MALFORMED, Ending.ILLEGAL)
"""How those end of bots that leave, or send what cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a bot did otherwise than on record.

    ``trick`` is the number of the trick, None before the first. ``sees`` is what its seat knew, in
    lines; ``text`` the hand up to there as a short text, to paste elsewhere. ``recorded_note`` and
    ``note`` are what the bot said to the two actions.
    """

    place: Place
    seat: Seat
    trick: int | None
    recorded: str
    now: str
    sees: tuple[str, ...]
    text: str
    recorded_note: Note | None = None
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """A decision on record, and what it was charged."""

    hand: int
    step: str
    action: Action
    seconds: float
    note: Note | None


class Retelling:
    """A game of a record, told to ``seat``.

    Say what :meth:`start` returns; then for each answer that comes what :meth:`take` returns, until
    :attr:`is_over`. ``until_hand`` is the last hand that is told. Raises ReplayError where the
    record leaves the rules, or lacks a seed.

    Attributes:
        open: the decision that the seat was told; None while there is none.
        is_over: whether its end was told, or the bot was lost.
        pause_seconds: how long the others took before what was returned last.
        compared: how many decisions of the seat were compared.
        differences: what it did otherwise, in order.
    """

    def __init__(
        self,
        record: MatchRecord,
        room: RoomRecord,
        game: GameRecord,
        *,
        seat: Seat,
        seeds: SeedsByGame | None = None,
        until_hand: int | None = None,
    ) -> None:
        self.seat = seat
        self.open: Decision | None = None
        self.is_over = False
        self.pause_seconds = 0.0
        self.compared = 0
        self.differences: list[Difference] = []
        self._record = record
        self._game = game
        self._place = Place(room=room.number, game=game.number)
        fresh = dealt_again(record, game, place=self._place, table=seeds)
        self._table = Table(fresh, number=game.number, clock=record.clock, policy=record.policy)
        self._names = tuple(record.entrants[index].name for index in room.seating_of(game))
        self._view = View(record.rules, seat)
        is_cut = until_hand is not None and any(hand.number > until_hand for hand in game.hands)
        self._until_hand = until_hand if is_cut and until_hand is not None else math.inf
        self._script = deque(step for step in _steps(game) if step.hand <= self._until_hand)
        self._refusals = deque(one for one in game.refusals if one.seat == seat)
        self._now = 0.0
        self._attempt = 1
        self._asked = [0] * record.rules.players
        """The decision that each seat was told last, by its number."""

    # -- what is told

    def start(self) -> list[FromReferee]:
        """The start of the game, and what follows it."""
        start = GameStart(self._record.match, self._game.number, self.seat, self._names)
        tells = self._table.start(self._now) if self._game.hands else self._end()
        return [start, *self._go_on(tells)]

    @property
    def ends_meanwhile(self) -> bool:
        """Whether the game ended while the seat was asked, by no fault of its own: say what
        :meth:`finish` returns, and wait for nothing.
        """
        return self.open is not None and not self._script and not self._is_at_fault

    @property
    def awaits_loss(self) -> bool:
        """Whether the bot left on record while it was not asked: see whether it does so now, and
        call :meth:`lost` or :meth:`finish`.
        """
        return not self.is_over and self.open is None

    def finish(self) -> list[FromReferee]:
        """The end of the game as it is on record."""
        if self.awaits_loss:
            self._differs(self._how_it_ended(), "it is still there")
        return self._go_on(self._end())

    # -- what the bot does

    def take(self, answer: Answer) -> list[FromReferee]:
        """Compare an answer, to the decision that is open or to another; what is told next."""
        decision = self.open
        if decision is None or answer.decision != decision.decision:
            return self._take_stray(answer)
        self._miss_refusals(before=self._hand)
        step = self._script[0] if self._script else None
        if step is not None and answer.action == step.action:
            self.compared += 1
            return self._go_on(self._act(self.seat, self._script.popleft()))
        if self._is_refused_again(answer):
            return self._refuse(answer)
        self.compared += 1
        if step is None:
            self._refusals.clear()  # it ended the game, and that it does not is what is told
            self._differs(self._how_it_ended(), _text(answer.action), note=_note(answer))
            return self._go_on(self._end())
        self._differs(action_text(step.action), _text(answer.action), note=_note(answer), step=step)
        return self._go_on(self._act(self.seat, self._script.popleft()))

    def lost(self, what: str, *, endings: Sequence[Ending]) -> list[FromReferee]:
        """The bot gave no answer, or is gone, as games end that have one of these endings; what it
        was told on record even so.
        """
        outcome = self._game.outcome
        self.compared += self.open is not None
        is_same = (
            not self._script
            and self._is_at_fault
            and outcome is not None
            and outcome.ending in endings
        )
        if not is_same:
            step = self._script[0] if self._script else None
            if self.open is None or step is None:
                self._differs(self._how_it_ended(), what)
            else:
                self._differs(action_text(step.action), what, step=step)
        told = self._go_on(self._end()) if is_same and endings is SILENCE else []
        self.open = None
        self.is_over = True
        return told

    # -- within

    @property
    def _hand(self) -> int:
        return self._table.game.hand_number

    @property
    def _is_at_fault(self) -> bool:
        outcome = self._game.outcome
        return (
            self._until_hand == math.inf and outcome is not None and (outcome.at_fault == self.seat)
        )

    def _go_on(self, tells: Sequence[Tell]) -> list[FromReferee]:
        """Let the others act until the seat is asked or all is over; what the seat is told."""
        told: list[FromReferee] = []
        self.open = None
        self.pause_seconds = 0.0
        while True:
            for tell in tells:
                if isinstance(tell.message, Decision):
                    self._asked[tell.seat] = tell.message.decision
                if tell.seat == self.seat:
                    told.append(self._seen(tell.message))
            if self._table.outcome is not None:
                self._miss_refusals()
                self.is_over = True
                return told
            if self._hand > self._until_hand:
                return self._cut_short(told)
            seat = self._table.game.to_act
            assert seat is not None, "a game that is not over waits for a seat"
            if seat == self.seat:
                self._attempt = 1
                return told
            if self._script:
                step = self._script.popleft()
                self.pause_seconds += step.seconds
                tells = self._act(seat, step)
            elif self._is_at_fault:
                return told
            else:
                tells = self._end()

    def _seen(self, message: Decision | Refused | GameEnd) -> FromReferee:
        if isinstance(message, Refused):
            return message
        for event in message.events:
            self._view.apply(event)
        if isinstance(message, Decision):
            self._view.ask(message.legal, message.clock)
            self.open = message
        return message

    def _act(self, seat: Seat, step: _Step) -> list[Tell]:
        """Have a seat do what is on record, in the time that is."""
        place = replace(self._place, hand=step.hand, step=step.step)
        if step.hand != self._hand:
            raise ReplayError("this hand is not being played at this point", place)
        decision = self._asked[seat]
        self._table.sent(seat, decision, self._now)
        deadline = self._table.deadline
        assert deadline is not None
        self._now = min(self._now + step.seconds, deadline)
        attempt = self._attempt if seat == self.seat else 1
        tells = self._table.answer(seat, decision, attempt, step.action, self._now, note=step.note)
        for tell in tells:
            if tell.seat == seat and isinstance(tell.message, Refused):
                raise ReplayError(f"seat {seat} may not do this: {tell.message.detail}", place)
        return tells

    def _end(self) -> list[Tell]:
        """End the game as it did on record."""
        outcome = self._game.outcome
        if self._until_hand < math.inf or outcome is None:
            cause = "it is told no further"
            return self._table.stop(self._now, ending=Ending.STOPPED, cause=cause)
        if outcome.at_fault is None:
            if outcome.ending not in (Ending.STOPPED, Ending.HOST_FAULT):
                raise ReplayError(
                    "by the rules the game goes on, where its record ends", self._place
                )
            tells = self._table.stop(self._now, ending=outcome.ending, cause=outcome.cause)
        else:
            tells = self._table.lost(
                outcome.at_fault, self._now, cause=outcome.cause, ending=outcome.ending
            )
        return _with_outcome(tells, outcome)

    def _cut_short(self, told: Sequence[FromReferee]) -> list[FromReferee]:
        """The seat is told of what begins the next hand, and is asked nothing there."""
        self.open = None
        self.is_over = True
        (end,) = [tell.message for tell in self._end() if tell.seat == self.seat]
        assert isinstance(end, GameEnd)
        asked = [message.events for message in told if isinstance(message, Decision)]
        before = [message for message in told if not isinstance(message, Decision)]
        self._miss_refusals()
        return [*before, replace(end, events=(*(asked[0] if asked else ()), *end.events))]

    # -- refusals

    def _is_refused_again(self, answer: Answer) -> bool:
        if not self._refusals:
            return False
        refusal = self._refusals[0]
        return (refusal.hand, refusal.attempt, refusal.action) == (
            self._hand,
            answer.attempt,
            _text(answer.action)[:ACTION_CHARACTERS],
        )

    def _refuse(self, answer: Answer) -> list[FromReferee]:
        """Refuse again what was refused; the decision may be open still."""
        self._refusals.popleft()
        outcome = self._game.outcome
        tells = self._table.answer(
            self.seat, answer.decision, answer.attempt, answer.action, self._now
        )
        if self._table.outcome is not None:
            self.compared += 1
            return self._go_on(tells if outcome is None else _with_outcome(tells, outcome))
        if self.open is not None and answer.decision == self.open.decision:
            self._attempt = answer.attempt + 1
        return [tell.message for tell in tells if tell.seat == self.seat]

    def _take_stray(self, answer: Answer) -> list[FromReferee]:
        """An answer where nothing of the kind is asked: as on record, or nothing is told."""
        self._miss_refusals(before=self._hand)
        if self._is_refused_again(answer):
            return self._refuse(answer)
        self._differs("no answer", f"{_text(answer.action)}, to decision {answer.decision}")
        return []

    def _miss_refusals(self, *, before: float = math.inf) -> None:
        """Refusals on record of hands before this one were not seen again."""
        while self._refusals and self._refusals[0].hand < before:
            self._differs(_refused(self._refusals.popleft()), "it is not tried")

    # -- what is found

    def _how_it_ended(self) -> str:
        outcome = self._game.outcome
        if outcome is None or not self._is_at_fault:
            return "nothing: the game had ended"
        if self._refusals and outcome.ending in (Ending.ILLEGAL, Ending.MALFORMED):
            return _refused(self._refusals[-1])
        return f"no answer: {outcome.ending.value}, {outcome.cause}"

    def _differs(
        self, recorded: str, now: str, *, note: Note | None = None, step: _Step | None = None
    ) -> None:
        view, hands = self._view, self._table.record().hands
        place = replace(
            self._place,
            hand=hands[-1].number if hands else None,
            step=None if step is None else step.step,
        )
        is_playing = bool(view.legal) and isinstance(view.legal[0], PlayCard)
        self.differences.append(
            Difference(
                place=place,
                seat=self.seat,
                trick=len(view.tricks) + 1 if is_playing and self.open is not None else None,
                recorded=recorded,
                now=now,
                sees=tuple(_sight(view, is_asked=self.open is not None)) if hands else (),
                text=hand_text(self._record.rules, hands[-1]) if hands else "",
                recorded_note=None if step is None else step.note,
                note=note,
            )
        )


def told_games(room: RoomRecord) -> list[GameRecord]:
    """The games of a room of which its bots were told, in order."""
    return [
        game
        for game in room.games
        if game.hands
        or (
            game.outcome is not None
            and game.outcome.ending.counts
            and Flag.UNPLAYED not in game.flags
        )
    ]


def seat_of(room: RoomRecord, game: GameRecord, *, slot: int) -> Seat:
    """Where the process that sits at ``slot`` in the odd games of a room sits in this one; those of
    one entrant keep their order.
    """
    index = room.seating[slot]
    nth = room.seating[:slot].count(index)
    seats = [seat for seat, other in enumerate(room.seating_of(game)) if other == index]
    return Seat(seats[nth])


def _steps(game: GameRecord) -> Iterator[_Step]:
    notes = {(noted.hand, noted.decision): noted.note for noted in game.notes}
    for place, hand in enumerate(game.hands):
        seconds = game.seconds[place] if place < len(game.seconds) else ()
        for number, (step, action) in enumerate(decisions(hand)):
            charged = seconds[number] if number < len(seconds) else 0.0
            yield _Step(hand.number, step, action, charged, notes.get((hand.number, number + 1)))


def _with_outcome(tells: Sequence[Tell], outcome: Outcome) -> list[Tell]:
    """The end with the outcome, and its cause, as they are on record."""
    return [
        replace(tell, message=replace(tell.message, outcome=outcome))
        if isinstance(tell.message, GameEnd)
        else tell
        for tell in tells
    ]


def _text(action: Action | Malformed) -> str:
    return action.detail if isinstance(action, Malformed) else action_text(action)


def _refused(refusal: Refusal) -> str:
    return f"{refusal.action}, refused: {refusal.reason.name}"


def _note(answer: Answer) -> Note | None:
    return answer.note if isinstance(answer.note, Note) else None


def _sight(view: View, *, is_asked: bool) -> Iterator[str]:
    """What a seat knows, in a few lines."""
    trump = "" if view.trump is None else f", trump {view.trump.letter}"
    won = "-".join(map(str, view.tricks_won))
    yield f"hakem seat {view.hakem}{trump}, tricks {won}"
    yield f"holds {cards_text(view.hand) or 'nothing'}"
    if view.offered is not None:
        yield f"is offered {view.offered}"
    if view.trick:
        yield "on the table: " + ", ".join(f"seat {one.seat} {one.card}" for one in view.trick)
    if is_asked:
        yield f"may: {legal_text(view.legal)}"
