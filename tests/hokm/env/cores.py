"""Hands in the rules core and in the vectorised environment, played side by side."""

from collections.abc import Iterator, Sequence
from random import Random

from hokm.actions import DiscardCards, PlayCard
from hokm.cards import Card, Seat, Side, card_set
from hokm.env.actions import action_of, number_of
from hokm.env.vector import VectorEnv
from hokm.events import Event
from hokm.rules.deal import Deal
from hokm.rules.options import Rules
from hokm.rules.phases import Discards
from hokm.rules.variants import variant_of
from hokm.view import View


class Core:
    """A hand in the rules core, by the actions of the environment."""

    def __init__(self, seats: int, deck: list[int], hakem: int, *, has_views: bool) -> None:
        self.deal = Deal(Rules.of(seats), [Card(card) for card in deck], hakem=Seat(hakem))
        self.views = [View(self.deal.rules, Seat(seat)) for seat in range(has_views * seats)]
        self.laid: list[Card] = []
        """Cards laid away one by one, of discards that the rules want at once."""
        for view in self.views:
            view.hakem = Seat(hakem)
        self._show(self.deal.start())

    def legal(self) -> int:
        bits = 0
        for action in self.deal.legal_actions():
            if type(action) is PlayCard:
                bits |= 1 << action.card
            elif isinstance(action, DiscardCards):
                bits |= card_set(action.cards) & ~card_set(self.laid)
            else:
                bits |= 1 << number_of(action)
        return bits

    def act(self, number: int) -> None:
        seat = self.deal.to_act
        assert seat is not None
        if not isinstance(self.deal.phase, Discards):
            self._show(self.deal.act(seat, action_of(number)))
            return
        self.laid.append(Card(number))
        if len(self.laid) == self.deal.phase.counts[self.deal.step]:
            self._show(self.deal.act(seat, DiscardCards(tuple(self.laid))))
            self.laid = []

    def tricks_won(self) -> list[int]:
        return [self.deal.taken.count(Side(side)) for side in range(self.deal.variant.sides)]

    def _show(self, events: Sequence[Event]) -> None:
        for event in events:
            for view in self.views:
                view.apply(event.seen_by(view.seat))


def decks_of(seats: int, games: int, rng: Random) -> tuple[list[list[int]], list[int]]:
    pack = [int(card) for card in variant_of(Rules.of(seats)).pack]
    decks = [rng.sample(pack, len(pack)) for _ in range(games)]
    return decks, [rng.randrange(seats) for _ in range(games)]


def side_by_side(
    seats: int, games: int, rng: Random, *, has_views: bool = False
) -> Iterator[tuple[VectorEnv, list[Core]]]:
    """Random hands, decision by decision, in both forms; each time before a decision, and once
    after the last.
    """
    decks, hakems = decks_of(seats, games, rng)
    env = VectorEnv.from_decks(decks, hakems, seats=seats)
    cores = [
        Core(seats, deck, hakem, has_views=has_views)
        for deck, hakem in zip(decks, hakems, strict=True)
    ]
    while not env.is_over:
        yield env, cores
        actions = env.random_actions()
        for core, action in zip(cores, actions.tolist(), strict=True):
            if action >= 0:
                core.act(action)
        env.step(actions)
    yield env, cores
