"""Decks that are dealt as a check wants them: hands by seat, or at random. Pure."""

from collections.abc import Mapping, Sequence

from arena.conformance.chance import Chance
from hokm.cards import Card, Rank, Seat, Suit
from hokm.rules.options import Rules
from hokm.rules.phases import Packets
from hokm.rules.variants import variant_of

Deck = tuple[Card, ...]


def random_deck(rules: Rules, chance: Chance) -> Deck:
    """Any deck of these rules."""
    return chance.shuffled(variant_of(rules).pack)


def deck_of(
    rules: Rules,
    chance: Chance,
    *,
    hakem: Seat,
    hands: Mapping[Seat, Sequence[Card]],
    stock: Sequence[Card | None] = (),
) -> Deck:
    """A deck that deals those cards first to each seat named, in that order, and any to the rest.

    ``stock`` are cards of a two-seat stock from its top, None for any.
    """
    variant = variant_of(rules)
    places: dict[Seat, list[int]] = {Seat(seat): [] for seat in range(variant.seats)}
    for phase in variant.phases:
        if isinstance(phase, Packets):
            for packet in phase.packets:
                seat = Seat((hakem + packet.place) % variant.seats)
                places[seat] += range(packet.start, packet.end)
    wanted: dict[int, Card] = {}
    for seat, cards in hands.items():
        wanted |= dict(zip(places[seat], cards, strict=False))
    first = len(variant.pack) - variant.stock
    wanted |= {first + place: card for place, card in enumerate(stock) if card is not None}
    left = list(chance.shuffled([c for c in variant.pack if c not in set(wanted.values())]))
    return tuple(
        wanted[place] if place in wanted else left.pop() for place in range(len(variant.pack))
    )


def suit_cards(suit: Suit) -> tuple[Card, ...]:
    """The thirteen cards of a suit, high to low."""
    return tuple(Card.of(suit, rank) for rank in reversed(Rank))
