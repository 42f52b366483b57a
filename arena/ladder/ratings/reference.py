"""The reference of ``luck-v1``: a player that only says how good cards were, and never changes.

It plays a hand from its deck at every seat, many times, with all cards open and with errors; the
mean of that is what the cards were worth. That is no way to play, and explains more of what others
made of the same cards than a bot that plays them once (docs/luck.md). It is frozen: what it makes
of fixed decks is pinned by :func:`digest`, and another reference is another version. So it shares
nothing with the sample bots, and of the rules only what may be played and what it counts. It knows
no record and no entrant.

A hand is seen from its hakem: *places* count sides from the hakem's on, in order of play.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from hokm.actions import DECLARATIONS, DRAWS, DiscardCards
from hokm.cards import Card, CardSet, Seat, Suit, cards_in
from hokm.deck import board_seed, mix, secret_from_text, shuffled
from hokm.rules.deal import Deal
from hokm.rules.options import Rules
from hokm.rules.position import Position
from hokm.rules.tricks import SEAT_AFTER, STRENGTH, SUIT_CARDS
from hokm.rules.variants import variant_of

PLAYS = 16
"""How often a hand is played. Twice as many explain hardly more (a correlation of 0.744 for 0.737
between house and house with four seats) and take twice as long.
"""

ERRORS_IN_256 = 64
"""Of 256 cards, how many are played at random. Fewer explain less: 16 plays with 25 reach 0.707, a
single one without any 0.627. With 96 they reach 0.740.
"""

RULES = {players: Rules.of(players) for players in (4, 3, 2)}
"""What it plays by, whatever the table: the default options."""

_HAKEM = Seat(0)
_STEP, _OFFSET, _MASK = 6364136223846793005, 1442695040888963407, 2**64 - 1
"""Knuth's MMIX generator: its errors are the same in every hand, for it is the decks that differ.
"""
_HONOURS = {12: 6, 11: 4, 10: 2, 9: 1}
_DIGEST_DECKS = 16


def margins(players: int, deck: Sequence[Card]) -> tuple[float, ...]:
    """What the reference makes of a deck against itself: by place, points less the mean of those of
    the other sides. They sum to nothing.

    ``deck`` is the pack of that many players under default options, as it lies after a cut.
    """
    return _margins(players, tuple(deck))


@lru_cache(maxsize=1024)  # every room of a match plays the same decks
def _margins(players: int, deck: tuple[Card, ...]) -> tuple[float, ...]:
    points = [sum(of_place) / PLAYS for of_place in zip(*_points(players, deck), strict=True)]
    return margins_of(points)


def margins_of(points: Sequence[float]) -> tuple[float, ...]:
    """Points by side as margins: each less the mean of the others.

    >>> margins_of((2, 0)), margins_of((0, 1, 0))
    ((2.0, -2.0), (-0.5, 1.0, -0.5))
    """
    total, others = sum(points), len(points) - 1
    return tuple(own - (total - own) / others for own in points)


def digest() -> str:
    """SHA-256 of how it plays fixed decks, in hex digits: the same for as long as it is the same
    reference.
    """
    play = hashlib.sha256()
    mixed = mix(secret_from_text("luck-v1 digest"), b"")
    for players, rules in RULES.items():
        for number in range(1, _DIGEST_DECKS + 1):
            seed = board_seed(mixed, f"luck-v1/{players}", number)
            deck = shuffled(variant_of(rules).pack, seed)
            start = opened(players, deck)
            play.update(f"{players} {start.trump} {start.hands}\n".encode())
            play.update(f"{_points(players, deck)}\n".encode())
    return play.hexdigest()


def _points(players: int, deck: Sequence[Card]) -> list[tuple[int, ...]]:
    """The points of each play, by place."""
    start = opened(players, deck)
    trumps = SUIT_CARDS[start.trump]
    chance = 1
    found: list[tuple[int, ...]] = []
    for _ in range(PLAYS):
        position = start.copy()
        while position.verdict is None:
            legal = position.playable_set
            if legal & (legal - 1):
                chance = (chance * _STEP + _OFFSET) & _MASK
                if chance >> 56 < ERRORS_IN_256:
                    cards = cards_in(legal)
                    card = cards[(chance >> 40 & 0xFFFF) % len(cards)]
                elif position.led is None:
                    card = _lead(position, legal, trumps=trumps)
                else:
                    card = _follow(position, legal, trumps=trumps)
            else:
                card = _highest(legal)
            position.play(card)
        assert position.result is not None
        found.append(position.result.points)
    return found


# -- before the tricks


def opened(players: int, deck: Sequence[Card]) -> Position:
    """A hand as the reference opens it, with seat 0 for hakem: dealt, declared and drawn."""
    deal = Deal(RULES[players], deck, hakem=_HAKEM)
    deal.start()
    trump = _longest(cards_in(deal.hands[_HAKEM]))
    deal.act(_HAKEM, DECLARATIONS[trump])
    if deal.variant.stock:
        _draw(deal, trump)
    return Position.of_deal(deal)


def _longest(hand: Sequence[Card]) -> Suit:
    """The longest suit of five cards; of equally long ones that with the better honours."""

    def preference(suit: Suit) -> tuple[int, int]:
        ranks = [card.rank for card in hand if card.suit == suit]
        return len(ranks), sum(_HONOURS.get(rank, 0) for rank in ranks)

    return max(Suit, key=preference)


def _draw(deal: Deal, trump: Suit) -> None:
    """The discards and draws of two seats: lay away what is worth least, and keep a card that is
    worth no less than the mean of those not seen.
    """
    unseen = [set(deal.deck) - set(cards_in(hand)) for hand in deal.hands]
    for seat, count in ((_HAKEM, 3), (Seat(1), 2)):
        held = sorted(cards_in(deal.hands[seat]), key=lambda card: _worth(card, trump))
        deal.act(seat, DiscardCards(tuple(held[:count])))
    while deal.offered is not None:
        seat, offered = Seat(deal.step % 2), deal.offered
        its_unseen = unseen[seat]
        its_unseen.discard(offered)
        # Summed in order: a sum of floats in the order of a set is another on another Python.
        worths = [_worth(card, trump) for card in sorted(its_unseen)]
        is_kept = _worth(offered, trump) >= sum(worths) / len(worths)
        its_unseen.discard(deal.deck[10 + 2 * deal.step + 1])
        deal.act(seat, DRAWS[0] if is_kept else DRAWS[1])


def _worth(card: Card, trump: Suit) -> float:
    height = card.rank + 1
    return 14.0 + height if card.suit == trump else height * height / 13


# -- the tricks, with open cards


def _lead(position: Position, legal: CardSet, *, trumps: CardSet) -> Card:
    """A card that takes the trick for its side, trumps first while others have some; else the
    lowest of a suit that the partner can trump; else of the longest suit.
    """
    hands, side_of, seat = position.hands, position.variant.side_of, position.turn
    others = [hand for hand, side in zip(hands, side_of, strict=True) if side != side_of[seat]]
    partner = hands[(seat + 2) % 4] if len(hands) == 4 else 0
    others_trumps = any(hand & trumps for hand in others)
    sure: int | None = None
    to_trump: int | None = None
    for suit in range(4):
        cards = SUIT_CARDS[suit]
        own = legal & cards
        if not own:
            continue
        own_top, partner_top = own.bit_length(), (partner & cards).bit_length()
        top = max(own_top, partner_top)
        is_trump = cards == trumps
        is_sure = all_follow = True
        for hand in others:
            if hand & cards:
                is_sure &= (hand & cards).bit_length() < top
            else:
                all_follow = False
                is_sure &= is_trump or not hand & trumps
        if is_sure:
            card = own_top - 1 if own_top > partner_top else _lowest(own)
            if is_trump and others_trumps:
                return Card(card)
            if not is_trump or sure is None:
                sure = card
        elif all_follow and not partner & cards and partner & trumps and not is_trump:
            to_trump = _lowest(own)
    if sure is not None:
        return Card(sure)
    if to_trump is not None:
        return Card(to_trump)
    free = legal & ~trumps or legal
    longest = max(SUIT_CARDS, key=lambda cards: (free & cards).bit_count())
    return Card(_lowest(free & longest))


def _follow(position: Position, legal: CardSet, *, trumps: CardSet) -> Card:
    """The cheapest card that takes the trick and keeps it; the lowest where there is none, or where
    the partner has it for sure.
    """
    hands, side_of, seat = position.hands, position.variant.side_of, position.turn
    assert position.led is not None
    led = SUIT_CARDS[position.led]
    strength = STRENGTH[position.trump][position.led]
    best = max(strength[card] for card in position.trick)
    threat, to_come = 0, seat
    for _ in range(len(hands) - len(position.trick) - 1):
        to_come = SEAT_AFTER[len(hands)][to_come]
        if side_of[to_come] != side_of[seat]:
            beating = hands[to_come] & led or hands[to_come] & trumps
            if beating:
                threat = max(threat, strength[beating.bit_length() - 1])
    if side_of[position.winning] == side_of[seat] and threat < best:
        return _throw(legal, trumps=trumps)
    keeping = [
        card for card in cards_in(legal) if strength[card] > best and strength[card] > threat
    ]
    return min(keeping, key=strength.__getitem__) if keeping else _throw(legal, trumps=trumps)


def _throw(legal: CardSet, *, trumps: CardSet) -> Card:
    """The lowest card, a trump only where there is no other."""
    return min(cards_in(legal & ~trumps) or cards_in(legal), key=lambda card: card.rank)


def _lowest(cards: int) -> int:
    return (cards & -cards).bit_length() - 1


def _highest(cards: CardSet) -> Card:
    return Card(cards.bit_length() - 1)
