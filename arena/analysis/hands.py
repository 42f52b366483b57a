"""One recorded hand, decision by decision, against open cards.

The hand is played again through the rules. Before every card it is asked how many tricks each card
that may be played would bring, and what the hand is then worth in points; before the declaration
the same of every trump. With four seats that is exact from the first card on (DDS). With two seats
it is exact once trick play begins, with three what a seat can be sure of once few cards are left;
what is before that is left out, and counted. How long an answer takes is the solver's business,
and chance is no part of it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena.analysis.values import HandAnalysis, Kind, Moment, Option, Spot
from hokm.actions import Action, ChooseDraw, DeclareTrump, DiscardCards, PlayCard
from hokm.cards import Card, Seat, Side, Trump
from hokm.errors import IllegalAction
from hokm.events import HandStarted
from hokm.records import GameRecord, HandRecord, MatchRecord, Place, ReplayError, RoomRecord
from hokm.records.replays import decisions
from hokm.rules.deal import Deal
from hokm.rules.options import Rules
from hokm.rules.position import Position
from hokm.rules.variants import variant_of
from hokm.solver import OpenHand, PointsSolver, SearchTooLong, best_tricks, card_tricks
from hokm.solver.dds import SUITS
from hokm.view import View

MOST_CARDS: Final[Mapping[int, int]] = {4: 13, 3: 8, 2: 13}
"""By seats, with how many cards in a hand the tricks are analysed."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of a hand that is played again, just before it is taken."""

    step: str
    seat: Seat
    action: Action
    deal: Deal
    views: Sequence[View]


def played_again(rules: Rules, hand: HandRecord, *, place: Place) -> Iterator[Decided]:
    """Every decision of a hand in order, with the deal and what every seat knows. Raises
    :class:`~hokm.records.ReplayError`.
    """
    try:
        deal = Deal(rules, hand.deck, hakem=hand.hakem)
    except ValueError as error:
        raise ReplayError(str(error), place) from None
    variant = deal.variant
    views = [View(rules, Seat(seat)) for seat in range(variant.seats)]
    started = HandStarted(
        hand.number, hand.hakem, variant.dealer_for(hand.hakem), (0,) * variant.sides
    )
    events = [started, *deal.start()]
    for step, action in decisions(hand):
        for event in events:
            for view in views:
                view.apply(event.seen_by(view.seat))
        here = replace(place, step=step)
        if deal.to_act is None:
            raise ReplayError("this hand is not being played at this point", here)
        try:
            deal.check(deal.to_act, action)
        except IllegalAction as error:
            raise ReplayError(f"seat {deal.to_act} may not do this: {error}", here) from None
        yield Decided(step, deal.to_act, action, deal, views)
        events = deal.act(deal.to_act, action)


def analyse_hand(
    record: MatchRecord,
    room: RoomRecord,
    game: GameRecord,
    hand: HandRecord,
    *,
    fair: Callable[[Decided, Spot], float | None] | None = None,
) -> HandAnalysis:
    """What every decision of a hand cost against open cards, and against what was known if ``fair``
    is there to say it.

    Raises :class:`~hokm.records.ReplayError`, and :class:`~hokm.solver.SolverMissing`.
    """
    variant, seating = variant_of(record.rules), room.seating_of(game)
    place = Place(room=room.number, game=game.number, hand=hand.number)
    course = _Course(record.rules, hand)
    moments: list[Moment] = []
    left_out: list[tuple[Kind, int]] = []
    for decided in played_again(record.rules, hand, place=place):
        match course.take(decided):
            case Kind() as kind:
                left_out.append((kind, seating[decided.seat]))
            case _Cost() as cost:
                spot = Spot(room.number, game.number, hand.number, decided.step)
                moments.append(
                    Moment(
                        spot=spot,
                        seat=decided.seat,
                        entrant=seating[decided.seat],
                        kind=cost.kind,
                        choice=cost.choice,
                        options=cost.options,
                        tricks_lost=cost.tricks,
                        points_lost=cost.points,
                        fair_points_lost=None if fair is None else fair(decided, spot),
                    )
                )
    return HandAnalysis(
        room=room.number,
        game=game.number,
        record=hand,
        entrants=tuple(
            tuple(sorted({seating[seat] for seat in variant.seats_of(Side(side))}))
            for side in range(variant.sides)
        ),
        moments=tuple(moments),
        left_out=tuple(left_out),
    )


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a choice cost."""

    kind: Kind
    choice: str
    options: tuple[Option, ...]
    tricks: int
    points: float


class _Course:
    """The values of a hand as it goes on. With two sides what it is worth after a decision is what
    it is worth before the next, which saves half of the asking.
    """

    def __init__(self, rules: Rules, hand: HandRecord) -> None:
        self._rules = rules
        self._hand = hand
        self._solver = PointsSolver()
        self._value: float | None = None
        """What the hand is worth to side 0 of two as it stands, if that is known."""

    def take(self, decided: Decided) -> _Cost | Kind | None:
        """What the decision cost; its kind if that is not analysed; None if it was no choice."""
        match decided.action:
            case DeclareTrump(trump):
                return self._declare(trump)
            case PlayCard(card):
                return self._play(Position.of_deal(decided.deal), card)
            case DiscardCards():
                return Kind.LAYING
            case ChooseDraw():
                return Kind.DRAW
            case _:
                # What is cut says nothing of how well.
                return None

    def _declare(self, named: Trump) -> _Cost | Kind:
        if self._rules.players != 4:
            return Kind.DECLARATION
        options = []
        for trump in trumps_of(self._rules):
            position = dealt_out(self._rules, self._hand, trump)
            side = position.variant.side_of[position.turn]
            tricks = best_tricks(OpenHand.of_position(position))
            points = self._points(position, side, tricks=tricks, at_most=None)
            if points is None:
                return Kind.DECLARATION
            options.append(Option(trump.letter, tricks, points))
            if trump == named:
                self._value = points if side == 0 else -points
        return _cost(Kind.DECLARATION, named.letter, options)

    def _play(self, position: Position, card: Card) -> _Cost | Kind | None:
        kind = kind_of(position, card)
        if len(position.playable) == 1:
            return None
        if position.hands[position.turn].bit_count() > MOST_CARDS[self._rules.players]:
            return kind
        side = position.variant.side_of[position.turn]
        before = position.taken.count(side)
        try:
            tricks = card_tricks(OpenHand.of_position(position))
        except SearchTooLong:
            return kind
        now = self._now(position, side, most=max(tricks.values()))
        after = self._then(position, card, tricks=tricks[card], at_most=now)
        if position.variant.sides == 2:
            self._value = after if side == 0 or after is None else -after
        if now is None or after is None:
            return kind
        options = []
        for other, its in tricks.items():
            points = None
            if after < now:
                points = self._then(position, other, tricks=its, at_most=now)
            options.append(Option(str(other), before + its, points))
        return _Cost(
            kind, str(card), tuple(options), max(tricks.values()) - tricks[card], now - after
        )

    def _now(self, position: Position, side: Side, *, most: int) -> float | None:
        """What the position is worth to the side that is to play."""
        if self._value is None or position.variant.sides != 2:
            return self._points(position, side, tricks=most, at_most=None)
        return self._value if side == 0 else -self._value

    def _then(
        self, position: Position, card: Card, *, tricks: int, at_most: float | None
    ) -> float | None:
        """What it is worth to that side once it has played that card."""
        side = position.variant.side_of[position.turn]
        after = position.copy()
        after.play(card)
        left = tricks - (after.taken.count(side) - position.taken.count(side))
        return self._points(after, side, tricks=left, at_most=at_most)

    def _points(
        self, position: Position, side: Side, *, tricks: int, at_most: float | None
    ) -> float | None:
        try:
            return self._solver.points(position, side, tricks=tricks, at_most=at_most)
        except SearchTooLong:
            return None


def _cost(kind: Kind, choice: str, options: Sequence[Option]) -> _Cost:
    """Of a choice whose options all have points."""
    [taken] = [option for option in options if option.name == choice]
    most = max(option.tricks for option in options)
    best = max(option.points or 0.0 for option in options)
    return _Cost(kind, choice, tuple(options), most - taken.tricks, best - (taken.points or 0.0))


def kind_of(position: Position, card: Card) -> Kind:
    """What it is to play that card now."""
    if position.led is None:
        return Kind.LEAD
    return Kind.FOLLOW if card.suit == position.led else Kind.DISCARD


def dealt_out(rules: Rules, hand: HandRecord, trump: Trump) -> Position:
    """The hand before its first card, if that is trump: for tables where all cards are dealt."""
    deal = Deal(rules, hand.deck, hakem=hand.hakem)
    deal.start()
    for _, action in decisions(replace(hand, trump=trump, plays=())):
        assert deal.to_act is not None
        deal.act(deal.to_act, action)
    return Position.of_deal(deal)


def trumps_of(rules: Rules) -> tuple[Trump, ...]:
    """What the hakem may name at a table."""
    return (*SUITS, *rules.modes)
