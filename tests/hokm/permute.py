"""Another world that one seat cannot tell from this one (the test of rulebook 6).

A :class:`Story` is a hand up to some point as whoever deals it knows it. :func:`other_story` moves
the cards that a seat has not been shown, and what others chose unseen, and leaves all that the seat
lawfully knows: whatever the seat is sent in one story it must be sent in the other. What a seat has
been shown is worked out here from the rulebook and from whole events, never from
:meth:`~hokm.events.Event.seen_by` or a view: those are what is on trial.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from hokm.actions import DRAWS, Action, ChooseDraw, DiscardCards, Draw
from hokm.cards import Card, Seat, Suit, cards_in
from hokm.events import CardOffered, CardPlayed, DrawChosen, Event, PacketDealt
from hokm.rules.deal import Deal
from hokm.rules.game import Race, SeedOf
from hokm.rules.options import Rules


class StackedRace(Race):
    """A race some of whose hands are dealt from given decks, by number; the others by seed."""

    def __init__(
        self, rules: Rules, seed_of: SeedOf, decks: Mapping[int, tuple[Card, ...]]
    ) -> None:
        super().__init__(rules, seed_of)
        self._decks = decks

    def _deck(self, hand: int) -> tuple[Card, ...]:
        return self._decks[hand] if hand in self._decks else super()._deck(hand)


@dataclass(frozen=True, slots=True)
class Story:
    """A hand so far: its deck before any cut, and every action in order. Who acted is for the rules
    to say.
    """

    rules: Rules
    hakem: Seat
    deck: tuple[Card, ...]
    actions: tuple[Action, ...] = ()

    def begin(self) -> Deal:
        """The deal before its first card."""
        return Deal(self.rules, self.deck, hakem=self.hakem)

    def replay(self) -> tuple[Deal, list[Event]]:
        """The deal at the end of the story, and every event on the way."""
        deal = self.begin()
        events = deal.start()
        for action in self.actions:
            assert deal.to_act is not None
            events += deal.act(deal.to_act, action)
        return deal, events

    def actors(self) -> list[Seat]:
        """Who acted, action by action."""
        deal, actors = self.begin(), []
        deal.start()
        for action in self.actions:
            assert deal.to_act is not None
            actors.append(deal.to_act)
            deal.act(deal.to_act, action)
        return actors

    def until(self, actions: int) -> "Story":
        """The story up to that number of actions."""
        return replace(self, actions=self.actions[:actions])


def other_story(story: Story, seat: Seat, rng: Random) -> Story:
    """A story with other hidden cards in which that seat has been shown just the same.

    Every card that was played is played by the same seat at the same time, and legally so. A hidden
    discard is of the cards at the same places of the deck. Where draw choices are not public, those
    of the other seat may differ.
    """
    deal, events = story.replay()
    deck, actions = list(story.deck), list(story.actions)
    may_lie_at = _constraints(story, deal, events)
    hidden = sorted(set(range(len(deck))) - _shown(story, seat, events))
    # From the true cards on by exchanges of two, each of which leaves the story possible. Twenty
    # times as many as there are cards forget where they were.
    for _ in range(20 * len(hidden)):
        one, other = rng.choice(hidden), rng.choice(hidden)
        if may_lie_at(deck[one], other) and may_lie_at(deck[other], one):
            deck[one], deck[other] = deck[other], deck[one]
    moved = dict(zip(story.deck, deck, strict=True))
    turn = 0
    for number, (actor, action) in enumerate(zip(story.actors(), story.actions, strict=True)):
        match action:
            case DiscardCards(discarded) if actor != seat:
                actions[number] = DiscardCards(tuple(moved[card] for card in discarded))
            case ChooseDraw():
                if actor != seat and not story.rules.draw_choice_public:
                    actions[number] = _chosen_anew(action, deck, turn, rng)
                turn += 1
    return replace(story, deck=tuple(deck), actions=tuple(actions))


def _chosen_anew(action: ChooseDraw, deck: list[Card], turn: int, rng: Random) -> ChooseDraw:
    """Take the same card of the two by the other choice, or leave all as it is."""
    if rng.random() < 0.5:
        return action
    top = _STOCK + 2 * turn
    deck[top], deck[top + 1] = deck[top + 1], deck[top]
    return DRAWS[0 if action.choice is Draw.REFUSE else 1]


_STOCK = 10
"""Where the stock of a two-seat game begins in the deck (rulebook 1.10)."""


def _shown(story: Story, seat: Seat, events: list[Event]) -> set[int]:
    """The places of the deck whose cards that seat was shown as they were dealt or drawn."""
    place_of = {card: place for place, card in enumerate(story.deck)}
    shown: set[int] = set()
    for event in events:
        match event:
            case PacketDealt(receiver, _, cards) if receiver == seat and cards:
                shown |= {place_of[card] for card in cards}
            case CardOffered(drawer, _, card) if drawer == seat and card is not None:
                shown.add(place_of[card])
            case DrawChosen(drawer, _, second) if drawer == seat and second is not None:
                shown.add(place_of[second])
    return shown


def _constraints(story: Story, deal: Deal, events: list[Event]) -> Callable[[Card, int], bool]:
    """Whether a card may lie at a place of the deck without making an act of the story impossible.

    A card that was played must come to the seat that played it and stay there; any other card must
    not come to stay where its suit was shown to be missing.
    """
    played_by = {event.card: event.seat for event in events if isinstance(event, CardPlayed)}
    keeper = {
        place: Seat(seat)
        for place, card in enumerate(story.deck)
        for seat in range(deal.seats)
        if played_by.get(card) == seat or card in cards_in(deal.hands[seat])
    }
    voids = _voids(deal.seats, events)

    def may_lie_at(card: Card, place: int) -> bool:
        if card in played_by:
            return keeper.get(place) == played_by[card]
        return place not in keeper or (keeper[place], card.suit) not in voids

    return may_lie_at


def _voids(seats: int, events: list[Event]) -> set[tuple[Seat, Suit]]:
    """Who has shown to be out of which suit."""
    plays = [event for event in events if isinstance(event, CardPlayed)]
    voids: set[tuple[Seat, Suit]] = set()
    for number, event in enumerate(plays):
        led = plays[number - number % seats].card.suit
        if event.card.suit is not led:
            voids.add((event.seat, led))
    return voids
