"""Recorded games as moments, and the ways from one moment to another.

A moment is what somebody who steps through a game stops at: a deal, a decision with all that
follows from it without a choice, a result, a refused action, an ending. Games are played again once
somebody comes to them. This module shows nothing: see :mod:`arena.tui.scene`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, assert_never

from hokm.cards import Card, Seat
from hokm.errors import NotationError, quoted
from hokm.events import (
    CardOffered,
    CardPlayed,
    CardsDiscarded,
    CardTurned,
    DeckCut,
    DrawChosen,
    Event,
    HandEnded,
    HandStarted,
    PacketDealt,
    PartnerDrawn,
    TrickTaken,
    TrumpDeclared,
)
from hokm.notes import Note
from hokm.outcome import Ending
from hokm.records import GameRecord, HandRecord, Refusal, ReplayError
from hokm.rules.options import Play, Rules
from hokm.session import ClockRules

_GAMES_KEPT = 8
"""Games that are ready to be looked at again; one takes some 100 kB."""

_FOLLOWS = (PartnerDrawn, PacketDealt, CardOffered, TrickTaken)
"""What happens without a choice, in the moment of what was before it."""


class NoSuchPlace(LookupError):
    """Somebody wants to go where there is nothing; the text says where there is something."""


class Unit(Enum):
    """How far one step goes."""

    PLAY = "play"
    TRICK = "trick"
    HAND = "hand"
    GAME = "game"


class Kind(Enum):
    """What a moment is."""

    ACE_DRAW = "ace draw"
    DEAL = "deal"
    DECISION = "decision"
    PLAY = "play"
    TRICK = "trick"
    """A play that ended its trick."""
    RESULT = "result"
    REFUSAL = "refusal"
    ENDING = "ending"
    BROKEN = "broken"
    """Here the record leaves the rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    """A game that can be looked at.

    ``room`` is None for a hand that is out of its game, which is the only one of its ``game`` then.
    ``names`` are the entrants by seat, or empty where nobody is known. ``events`` plays the game
    again, and raises ReplayError where that cannot be done.
    """

    room: int | None
    game: GameRecord
    rules: Rules
    names: tuple[str, ...]
    clock: ClockRules | None
    events: Callable[[], Iterable[Event]]

    @property
    def number(self) -> int:
        """The number of the game."""
        return self.game.number

    @property
    def has_many_hands(self) -> bool:
        """Whether it is a race, and no board or hand."""
        return self.room is not None and self.rules.play is Play.RACE

    def hand(self, number: int) -> HandRecord | None:
        """A hand by its number."""
        return next((hand for hand in self.game.hands if hand.number == number), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A moment of a game.

    The events of its hand so far are ``events[start:end]`` of its :class:`Strip`. ``hand`` and
    ``trick`` are numbers from 1, 0 before the first. ``seat`` decided here, as the ``decision``-th
    of the hand, in ``seconds``; ``banks`` is what is left by seat, empty where there are no clocks.
    """

    kind: Kind
    start: int
    end: int
    hand: int = 0
    trick: int = 0
    decision: int = 0
    seat: Seat | None = None
    seconds: float | None = None
    banks: tuple[float, ...] = ()
    card: Card | None = None
    note: Note | None = None
    refusal: Refusal | None = None

    @property
    def ends_trick(self) -> bool:
        """Whether somebody who goes trick by trick stops here."""
        return self.kind in (Kind.TRICK, Kind.RESULT, Kind.ENDING, Kind.BROKEN)

    def may_be_seen(self, eyes: Seat | None) -> bool:
        """Whether there is something here for this seat; None sees all. A refusal is told to its
        sender alone (rulebook 7).
        """
        return self.refusal is None or eyes in (None, self.refusal.seat)

    def note_for(self, eyes: Seat | None) -> Note | None:
        """The note, where its seat looks or all is open."""
        return self.note if eyes in (None, self.seat) else None


@dataclass(frozen=True, slots=True)
class Strip:
    """A game that was played again: its events and its moments, of which there is at least one.
    ``broken`` is why it went no further.
    """

    events: tuple[Event, ...]
    moments: tuple[Moment, ...]
    broken: ReplayError | None


class At(NamedTuple):
    """A place in a reel, by indices: a game, and a moment of it."""

    game: int
    moment: int


class Reel:
    """Games one after another; ``title`` says where they are from."""

    def __init__(self, title: str, tapes: Sequence[Tape]) -> None:
        self.title = title
        self.tapes = tuple(tapes)
        self.strip = lru_cache(_GAMES_KEPT)(self._strip)
        """A game by its index, played again."""

    def moment(self, at: At) -> Moment:
        """The moment there."""
        return self.strip(at.game).moments[at.moment]

    def _strip(self, game: int) -> Strip:
        return strip_of(self.tapes[game])

    # -- ways

    def step(self, at: At, unit: Unit, *, onwards: bool, eyes: Seat | None = None) -> At:
        """The next or the last stop of that unit; ``at`` itself where there is none.

        Tricks stop at their last card. Back within a hand, or a game, comes to its beginning first.
        """
        if unit is Unit.GAME:
            return self._by_game(at, onwards=onwards)
        for there in self._from(at, onwards=onwards):
            moment = self.moment(there)
            if moment.may_be_seen(eyes) and _is_stop(moment, unit):
                return there
        return at if unit is Unit.PLAY else self._edge(at, onwards=onwards)

    def ends(self, at: At, *, last: bool) -> At:
        """The first or the last moment of the game."""
        return At(at.game, len(self.strip(at.game).moments) - 1 if last else 0)

    def of_hand(self, game: int, hand: int, *, trick: int = 0) -> At:
        """The deal of a hand, or the lead of one of its tricks.

        Raises NoSuchPlace.
        """
        moments = self.strip(game).moments
        of_hand = [index for index, moment in enumerate(moments) if moment.hand == hand]
        if not of_hand:
            hands = max(moment.hand for moment in moments)
            raise NoSuchPlace(f"there is no hand {hand} here: hands go to {hands}")
        of_trick = [index for index in of_hand if moments[index].trick >= trick]
        if not of_trick:
            tricks = max(moments[index].trick for index in of_hand)
            raise NoSuchPlace(f"hand {hand} has no trick {trick}: tricks go to {tricks}")
        return At(game, of_trick[0])

    def jump(self, at: At, text: str) -> At:
        """Where somebody wants to go who says ``12.3``: hand 12, trick 3 of this race; of boards it
        is board 12. ``2.12.3`` is of race 2, ``1/12.3`` of room 1.

        Raises NoSuchPlace.
        """
        read = re.fullmatch(r"(?:([0-9]{1,6})/)?([0-9]{1,6}(?:\.[0-9]{1,6}){0,2})", text.strip())
        here = self.tapes[at.game]
        most = 3 if here.has_many_hands else 2
        numbers = [] if read is None else [int(number) for number in read[2].split(".")]
        if read is None or len(numbers) > most:
            first = "HAND.TRICK or GAME.HAND.TRICK" if most == 3 else "GAME.TRICK"
            raise NoSuchPlace(f"{quoted(text.strip())} is no place; say {first}, as in 2.3")
        room = here.room if read[1] is None else int(read[1])
        if not here.has_many_hands:
            number, trick = (*numbers, 0)[:2]
            game = self._game(room, number)
            return self.of_hand(game, self._first_hand(game), trick=trick)
        number = numbers.pop(0) if len(numbers) == 3 else here.number
        hand, trick = (*numbers, 0)[:2]
        return self.of_hand(self._game(room, number), hand, trick=trick)

    def search(self, at: At, query: str, *, onwards: bool, eyes: Seat | None = None) -> At | None:
        """The next place, or the last one, that has what is looked for, round about; None where
        none has: a card where it was played or turned up, as ``TC`` or ``T♣``; a player, by name or
        as ``seat 2``; a ``fault``; a piece of a note, of a refused action, of a cause.
        """
        sought = _Sought.of(query)
        games = len(self.tapes)
        for distance in range(games + 1):
            game = (at.game + (distance if onwards else -distance)) % games
            tape = self.tapes[game]
            if not sought.may_be_in(tape):
                continue
            moments = self.strip(game).moments
            indices = range(len(moments))
            if distance == 0:
                indices = indices[at.moment + 1 :] if onwards else indices[: at.moment]
            for index in indices if onwards else reversed(indices):
                if sought.is_at(moments[index], tape, eyes=eyes):
                    return At(game, index)
        return None

    def _from(self, at: At, *, onwards: bool) -> Iterator[At]:
        """All places after this one, or before it."""
        moments = len(self.strip(at.game).moments)
        if onwards:
            yield from (At(at.game, index) for index in range(at.moment + 1, moments))
            for game in range(at.game + 1, len(self.tapes)):
                yield from (At(game, index) for index in range(len(self.strip(game).moments)))
        else:
            yield from (At(at.game, index) for index in reversed(range(at.moment)))
            for game in reversed(range(at.game)):
                count = len(self.strip(game).moments)
                yield from (At(game, index) for index in reversed(range(count)))

    def _by_game(self, at: At, *, onwards: bool) -> At:
        if onwards:
            is_last = at.game == len(self.tapes) - 1
            return self.ends(at, last=True) if is_last else At(at.game + 1, 0)
        return At(at.game, 0) if at.moment or not at.game else At(at.game - 1, 0)

    def _edge(self, at: At, *, onwards: bool) -> At:
        if onwards:
            return self.ends(At(len(self.tapes) - 1, 0), last=True)
        return At(0, 0)

    def _game(self, room: int | None, number: int) -> int:
        for index, tape in enumerate(self.tapes):
            if (tape.room, tape.number) == (room, number):
                return index
        where = "here" if room is None else f"in room {room}"
        raise NoSuchPlace(f"there is no game {number} {where} among these")

    def _first_hand(self, game: int) -> int:
        hands = self.tapes[game].game.hands
        if not hands:
            raise NoSuchPlace(f"game {self.tapes[game].number} was never begun")
        return hands[0].number


def _is_stop(moment: Moment, unit: Unit) -> bool:
    match unit:
        case Unit.PLAY:
            return True
        case Unit.TRICK:
            return moment.ends_trick
        case Unit.HAND:
            return moment.kind is Kind.DEAL
        case Unit.GAME:
            return moment.end == 0
        case _:
            assert_never(unit)


# -- a game as moments


def strip_of(tape: Tape) -> Strip:
    """Play a game again, and see where one stops."""
    events: list[Event] = []
    broken = None
    try:
        events.extend(tape.events())
    except ReplayError as error:
        broken = error
        events = _as_far_as_it_goes(tape)
    moments = list(_moments(tape, events))
    last = moments[-1] if moments else Moment(kind=Kind.DEAL, start=0, end=0)
    if broken is not None:
        moments.append(_after(last, Kind.BROKEN))
    elif tape.room is not None or not moments:
        moments.append(_after(last, Kind.ENDING))
    return Strip(tuple(events), tuple(moments), broken)


def hand_until(hand: HandRecord, decisions: int) -> HandRecord:
    """A hand as it was after so many decisions, without the result that it had not yet."""
    left = decisions
    cut = trump = None
    if hand.cut is not None and left:
        cut, left = hand.cut, left - 1
    if hand.trump is not None and left:
        trump, left = hand.trump, left - 1
    discards, left = hand.discards[:left], left - len(hand.discards[:left])
    draws, left = hand.draws[:left], left - len(hand.draws[:left])
    return replace(
        hand,
        cut=cut,
        trump=trump,
        discards=discards,
        draws=draws,
        plays=hand.plays[:left],
        result=None,
    )


def _as_far_as_it_goes(tape: Tape) -> list[Event]:
    events: list[Event] = []
    try:
        for event in tape.events():
            events.append(event)  # noqa: PERF402 - those before the error are wanted
    except ReplayError:
        pass
    return events


def _after(last: Moment, kind: Kind) -> Moment:
    return Moment(
        kind=kind,
        start=last.start,
        end=last.end,
        hand=last.hand,
        trick=last.trick,
        decision=last.decision,
        banks=last.banks,
    )


def _moments(tape: Tape, events: Sequence[Event]) -> Iterator[Moment]:
    notes = {(one.hand, one.decision, one.seat): one.note for one in tape.game.notes}
    seconds = {
        hand.number: charged
        for hand, charged in zip(tape.game.hands, tape.game.seconds, strict=False)
    }
    bank = () if tape.clock is None else (tape.clock.bank_seconds,) * tape.rules.players
    refusals = list(tape.game.refusals)
    now = Moment(kind=Kind.ACE_DRAW, start=0, end=0, banks=bank)
    is_something = False
    for index, event in enumerate(events):
        is_in_draw = isinstance(event, CardTurned) and now.kind is Kind.ACE_DRAW
        if is_something and not is_in_draw and not isinstance(event, _FOLLOWS):
            yield now
        is_something = True
        end = index + 1
        match event:
            case CardTurned():
                now = replace(now, end=end)
            case HandStarted(number):
                now = Moment(kind=Kind.DEAL, start=index, end=end, hand=number, banks=bank)
            case HandEnded():
                while refusals and refusals[0].hand <= now.hand:
                    yield replace(_after(now, Kind.REFUSAL), refusal=refusals.pop(0))
                now = replace(_after(now, Kind.RESULT), end=end)
            case CardPlayed(seat, card):
                is_lead = now.kind is not Kind.PLAY
                now = replace(
                    _decided(now, seat, tape, seconds=seconds, notes=notes, kind=Kind.PLAY),
                    end=end,
                    card=card,
                    trick=now.trick + is_lead,
                )
            case TrickTaken():
                now = replace(now, end=end, kind=Kind.TRICK)
            case DeckCut(seat) | TrumpDeclared(seat) | CardsDiscarded(seat) | DrawChosen(seat):
                decided = _decided(
                    now, seat, tape, seconds=seconds, notes=notes, kind=Kind.DECISION
                )
                now = replace(decided, end=end)
            case _:
                now = replace(now, end=end)
    if is_something:
        yield now
    for refusal in refusals:
        yield replace(_after(now, Kind.REFUSAL), refusal=refusal)


def _decided(
    before: Moment,
    seat: Seat,
    tape: Tape,
    *,
    seconds: dict[int, tuple[float, ...]],
    notes: dict[tuple[int, int, Seat], Note],
    kind: Kind,
) -> Moment:
    """The moment of the next decision of a hand, as far as it does not depend on what it was."""
    decision = before.decision + 1
    charged = seconds.get(before.hand, ())
    took = charged[decision - 1] if decision <= len(charged) else None
    banks = before.banks
    if tape.clock is not None and took is not None:
        # As the seat's clock charges it: the move's own time first.
        used = max(0.0, took - tape.clock.move_seconds)
        left = max(0.0, banks[seat] - used)
        banks = (*banks[:seat], left, *banks[seat + 1 :])
    return Moment(
        kind=kind,
        start=before.start,
        end=before.end,
        hand=before.hand,
        trick=before.trick,
        decision=decision,
        seat=seat,
        seconds=took,
        banks=banks,
        note=notes.get((before.hand, decision, seat)),
    )


# -- what is looked for


_FAULTLESS = (None, Ending.COMPLETED, Ending.STOPPED)


@dataclass(frozen=True, slots=True)
class _Sought:
    """What somebody looks for: a card, or a text in small letters."""

    card: Card | None
    text: str

    @classmethod
    def of(cls, query: str) -> "_Sought":
        """What a query asks for: a card if it can be read as one, else its text."""
        query = query.strip()
        try:
            return cls(Card.parse(query), query.casefold())
        except NotationError:
            return cls(None, query.casefold())

    def may_be_in(self, tape: Tape) -> bool:
        """Whether a game can have it, as far as can be seen without playing it again."""
        game = tape.game
        if self.card is not None:
            turned = (card for _, card in game.turned)
            plays = (card for hand in game.hands for card in hand.plays)
            return self.card in (*turned, *plays)
        texts = [
            *(text for seat in range(tape.rules.players) for text in _seat_texts(tape, Seat(seat))),
            *(text for refusal in game.refusals for text in _refusal_texts(refusal)),
            *(text for noted in game.notes for text in _note_texts(noted.note)),
            *_ending_texts(tape),
        ]
        return self._is_in(texts)

    def is_at(self, moment: Moment, tape: Tape, *, eyes: Seat | None) -> bool:
        """Whether a moment shows it to those eyes; None sees all."""
        if not moment.may_be_seen(eyes):
            return False
        if self.card is not None:
            turned = tape.game.turned if moment.kind is Kind.ACE_DRAW else ()
            return self.card == moment.card or any(self.card == card for _, card in turned)
        texts: list[str] = []
        if moment.seat is not None:
            texts += _seat_texts(tape, moment.seat)
        if moment.refusal is not None:
            texts += _refusal_texts(moment.refusal)
        if (note := moment.note_for(eyes)) is not None:
            texts += _note_texts(note)
        if moment.kind is Kind.ENDING:
            texts += _ending_texts(tape)
        return self._is_in(texts)

    def _is_in(self, texts: Sequence[str]) -> bool:
        return any(self.text in text.casefold() for text in texts)


def _seat_texts(tape: Tape, seat: Seat) -> list[str]:
    return [f"seat {seat}", *tape.names[seat : seat + 1]]


def _refusal_texts(refusal: Refusal) -> list[str]:
    return ["fault", "refused", refusal.reason.name, refusal.action]


def _note_texts(note: Note) -> list[str]:
    return [note.text, *(name for name, _ in note.numbers)]


def _ending_texts(tape: Tape) -> list[str]:
    outcome = tape.game.outcome
    if outcome is None:
        return []
    fault = [] if outcome.ending in _FAULTLESS else ["fault"]
    return [*fault, outcome.ending.value, outcome.cause]
