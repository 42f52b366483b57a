"""Records of hands that were played at random, with no match around them."""

from random import Random

from hokm.actions import DECLARATIONS, ChooseDraw, DeclareTrump, DiscardCards, PlayCard
from hokm.cards import Card, Seat, Trump
from hokm.records import (
    EntrantRecord,
    Format,
    GameRecord,
    HandRecord,
    MatchRecord,
    Policy,
    RoomRecord,
)
from hokm.rules.deal import Deal
from hokm.rules.options import Rules
from hokm.rules.variants import variant_of
from hokm.session import ClockRules


def random_hand(rules: Rules, seed: int, *, trump: Trump | None = None) -> HandRecord:
    """A hand played at random to its end."""
    rng = Random(seed)
    deck = list(variant_of(rules).pack)
    rng.shuffle(deck)
    return played(rules, tuple(deck), hakem=rng.randrange(rules.players), rng=rng, trump=trump)


def played(
    rules: Rules,
    deck: tuple[Card, ...],
    *,
    hakem: int,
    rng: Random,
    trump: Trump | None = None,
) -> HandRecord:
    """That deck, played at random; trump is the one given, if there is one."""
    deal = Deal(rules, deck, hakem=Seat(hakem))
    deal.start()
    discards, draws, plays = [], [], []
    while deal.to_act is not None:
        action = rng.choice(deal.legal_actions())
        match action:
            case DeclareTrump() if trump is not None:
                action = DECLARATIONS[trump]
            case DiscardCards(cards):
                discards.append(cards)
            case ChooseDraw(choice):
                draws.append(choice)
            case PlayCard(card):
                plays.append(card)
        deal.act(deal.to_act, action)
    return HandRecord(
        number=1,
        deck=deck,
        hakem=Seat(hakem),
        trump=deal.trump,
        discards=tuple(discards),
        draws=tuple(draws),
        plays=tuple(plays),
        result=deal.result,
    )


def match_of(rules: Rules, *hands: HandRecord) -> MatchRecord:
    """Those hands as the games of one room; entrant 0 sits in seat 0."""
    sides = variant_of(rules).side_of
    entrants = sorted(set(sides))
    return MatchRecord(
        match="local/0/a~b",
        format=Format.BOARDS,
        rules=rules,
        games=len(hands),
        entrants=tuple(
            EntrantRecord(name=f"bot{one}", owner="o", version="1", digest="0" * 64)
            for one in entrants
        ),
        clock=ClockRules(1.0, 30.0),
        policy=Policy.RATED,
        commitment=bytes(32),
        rooms=(
            RoomRecord(
                number=1,
                seating=tuple(map(int, sides)),
                games=tuple(
                    GameRecord(number=number, hands=(hand,))
                    for number, hand in enumerate(hands, start=1)
                ),
            ),
        ),
        seeds=(),
        score=(0,) * len(entrants),
    )
