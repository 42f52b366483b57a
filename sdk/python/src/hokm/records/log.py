"""A game's record while it is being played: the one mutable thing about records.

Whoever runs a game tells the log what happened, in order; :meth:`GameLog.record` can be asked at
any time, also for a game that never began. The log judges nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from hokm.actions import Draw
from hokm.cards import Card, Seat, Trump
from hokm.errors import Reason
from hokm.events import (
    CardPlayed,
    CardsDiscarded,
    CardTurned,
    DeckCut,
    DrawChosen,
    Event,
    HandEnded,
    HandStarted,
    TrumpDeclared,
)
from hokm.notes import Note
from hokm.outcome import HandResult, Outcome
from hokm.records.values import GameRecord, HandRecord, Noted, Refusal, TimeLoss
from hokm.rules.game import Game

T = TypeVar("T")

ACTION_CHARACTERS = 200
"""A refused action's text is cut here: a record is no notebook for a bot to write in."""

NOTES_BYTES = 4096
"""What the notes of a seat have room for in a hand: each of its decisions may say some 150
characters and three numbers. A hand takes a quarter of that in a record without any.
"""
_NOTE_BYTES = 48
_NUMBER_BYTES = 24
"""About what a note and a number in it take in a record besides their text and name."""


class GameLog:
    """What happens in ``game``, as it happens; ``number`` is its board's, or its pair's in races.

    Call :meth:`charged` and :meth:`noted` for a decision before :meth:`saw` with what it led to:
    the last decision of a hand belongs to that hand.
    """

    def __init__(self, game: Game, *, number: int) -> None:
        self._game = game
        self._number = number
        self._turned: list[tuple[Seat, Card]] = []
        self._hands: list[_Hand] = []
        self._refusals: list[Refusal] = []
        self._outcome: Outcome | None = None
        self._time_loss: TimeLoss | None = None
        self._notes: list[Noted] = []
        self._dropped = [0] * game.variant.seats

    def saw(self, events: Iterable[Event]) -> None:
        """These whole events happened, in this order."""
        for event in events:
            match event:
                case CardPlayed(_, card):
                    self._hands[-1].plays.append(card)
                case CardTurned(seat, card):
                    self._turned.append((seat, card))
                case HandStarted(number, hakem):
                    # A decision starts one hand at most, so the game's deal is that hand's, and
                    # has not been cut yet.
                    self._hands.append(_Hand(number, self._game.deal.deck, hakem))
                case DeckCut(_, position):
                    self._hands[-1].cut = position
                case TrumpDeclared(_, trump):
                    self._hands[-1].trump = trump
                case CardsDiscarded(_, _, cards):
                    self._hands[-1].discards.append(_whole(cards))
                case DrawChosen(_, choice):
                    self._hands[-1].draws.append(_whole(choice))
                case HandEnded(result):
                    self._hands[-1].result = result
                case _:  # what follows from the deck and the decisions
                    pass

    def charged(self, seconds: float) -> None:
        """The decision just taken was charged so much."""
        self._hands[-1].seconds.append(round(seconds, 6))

    def noted(self, seat: Seat, note: Note | None) -> None:
        """The seat attached a note to the decision that was charged last; None for one that is
        none. It is kept as long as there is room for the notes of its seat in this hand.
        """
        hand = self._hands[-1]
        if note is not None:
            noted_bytes = hand.noted_bytes.get(seat, 0) + _bytes_of(note)
            if noted_bytes <= NOTES_BYTES:
                hand.noted_bytes[seat] = noted_bytes
                decision = len(hand.seconds)
                self._notes.append(Noted(hand=hand.number, decision=decision, seat=seat, note=note))
                return
        self._dropped[seat] += 1

    def refused(self, seat: Seat, attempt: int, reason: Reason, action: str) -> None:
        """An answer was refused; ``action`` is its text."""
        refusal = Refusal(
            hand=self._game.hand_number,
            seat=seat,
            attempt=attempt,
            reason=reason,
            action=action[:ACTION_CHARACTERS],
        )
        self._refusals.append(refusal)

    def out_of_time(self, loss: TimeLoss) -> None:
        """A clock ran out; said again, it is known better."""
        self._time_loss = loss

    def finish(self, outcome: Outcome) -> None:
        """The game is over."""
        self._outcome = outcome

    def record(self) -> GameRecord:
        """What happened so far."""
        return GameRecord(
            number=self._number,
            turned=tuple(self._turned),
            hands=tuple(hand.record() for hand in self._hands),
            outcome=self._outcome,
            refusals=tuple(self._refusals),
            seconds=tuple(tuple(hand.seconds) for hand in self._hands),
            time_loss=self._time_loss,
            notes=tuple(self._notes),
            notes_dropped=tuple(self._dropped) if any(self._dropped) else (),
        )


@dataclass(slots=True)
class _Hand:
    number: int
    deck: tuple[Card, ...]
    hakem: Seat
    cut: int | None = None
    trump: Trump | None = None
    discards: list[tuple[Card, ...]] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    plays: list[Card] = field(default_factory=list)
    result: HandResult | None = None
    seconds: list[float] = field(default_factory=list)
    noted_bytes: dict[Seat, int] = field(default_factory=dict)

    def record(self) -> HandRecord:
        return HandRecord(
            number=self.number,
            deck=self.deck,
            hakem=self.hakem,
            cut=self.cut,
            trump=self.trump,
            discards=tuple(self.discards),
            draws=tuple(self.draws),
            plays=tuple(self.plays),
            result=self.result,
        )


def _bytes_of(note: Note) -> int:
    names = sum(len(name) + _NUMBER_BYTES for name, _ in note.numbers)
    return len(note.text.encode()) + names + _NOTE_BYTES


def _whole(value: T | None) -> T:
    if value is None:
        raise ValueError("a record is made of whole events, not of what a seat sees of them")
    return value
