"""Deals that fit a view: each is possible, each is as likely as any other, the true one is among
them, and nothing that the seat was not shown makes a difference.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import sqrt
from random import Random

import pytest

from hokm import Rules, Seat, View
from hokm.cards import NO_CARDS, Card, CardSet, Suit, card_set, cards_in
from hokm.events import HandStarted
from hokm.rules.deal import Deal
from hokm.rules.phases import Declaration, Discards, Draws, Tricks
from hokm.sampling import Sample, Sampler
from tests.hokm.permute import Story, other_story
from tests.hokm.positions import places_of, rules
from tests.hokm.random_play import random_story

TABLES = [
    rules(4),
    rules(4, pause_after="first_round"),
    rules(4, pause_after="right_opponent"),
    rules(3),
    rules(3, pause_after="hakem", removed_two="S"),
    rules(2),
    rules(2, draw_choice_public="off"),
]

ME = Seat(0)

MOST_LEFT = {4: 6, 3: 6, 2: 2}
"""Cards in other hands of which every way to lie is tried."""


def moments(story: Story) -> Iterator[tuple[Deal, list[View]]]:
    """A hand after each event of it, with a view of each seat."""
    deal, events = story.begin(), story.replay()[1]
    views = [View(story.rules, Seat(seat)) for seat in range(deal.seats)]
    started = HandStarted(1, story.hakem, deal.variant.dealer_for(story.hakem), views[0].scores)
    for event in [started, *events]:
        if event is not started:
            deal.apply(event)
        for view in views:
            view.apply(event.seen_by(view.seat))
        yield deal, views


def true_sample(deal: Deal, view: View) -> Sample:
    """What really lies where, as it would be sampled for that view."""
    whole = not isinstance(deal.phase, Tricks) and not deal.is_over
    if whole and (deal.seats > 2 or deal.trump is None):
        places = [places_of(deal.seats, seat, hakem=deal.hakem) for seat in range(deal.seats)]
        hands = tuple(card_set(deal.deck[place] for place in its) for its in places)
    else:
        hands = tuple(deal.hands)
    stock = deal.deck[len(deal.deck) - view.stock :]
    gone = NO_CARDS if deal.seats > 2 else deal.discarded[1 - view.seat]
    return Sample(hands, stock, gone)


def faults(view: View, sample: Sample, like: Sample) -> list[str]:
    """What in a sample cannot be; ``like`` has the right number of cards everywhere."""
    wrong: list[str] = []
    sizes = [hand.bit_count() for hand in sample.hands]
    if sizes != [hand.bit_count() for hand in like.hands]:
        wrong.append("the size of a hand")
    if len(sample.stock) != len(like.stock) or sample.gone.bit_count() != like.gone.bit_count():
        wrong.append("the size of stock or discards")
    if view.hand_set & ~sample.hands[view.seat]:
        wrong.append("its own cards")
    if view.offered is not None and sample.stock[0] is not view.offered:
        wrong.append("the card on offer")
    own = {*view.hand, *([view.offered] if view.offered is not None else [])}
    everything = [*sample.stock, *cards_in(sample.gone)]
    everything += [card for hand in sample.hands for card in cards_in(hand)]
    if sorted(everything) != sorted({*view.unseen, *own}):
        wrong.append("a card twice, missing or seen to be elsewhere")
    for seat, suits in enumerate(view.voids):
        if any(card.suit in suits for card in cards_in(sample.hands[seat])):
            wrong.append(f"a suit that seat {seat} is out of")
    return wrong


def every_deal(view: View, like: Sample) -> list[Sample]:
    """All that fit, by trying everything."""
    others = [seat for seat in range(len(like.hands)) if seat != view.seat]
    found: list[Sample] = []

    def deal_on(left: tuple[Card, ...], hands: dict[int, CardSet]) -> None:
        if len(hands) == len(like.hands):
            by_seat = tuple(hands[seat] for seat in range(len(like.hands)))
            sample = Sample(by_seat, like.stock, card_set(left))
            if not faults(view, sample, like):
                found.append(sample)
            return
        seat = others[len(hands) - 1]
        for hand in combinations(left, like.hands[seat].bit_count()):
            rest = tuple(card for card in left if card not in hand)
            deal_on(rest, {**hands, seat: card_set(hand)})

    deal_on(view.unseen, {int(view.seat): view.hand_set})
    return found


@pytest.mark.parametrize("table", TABLES)
def test_every_sample_fits_at_every_moment(table: Rules) -> None:
    rng = Random(1)
    for _ in range(2):
        for deal, views in moments(random_story(table, rng)):
            for view in views:
                like = true_sample(deal, view)
                assert faults(view, like, like) == []
                sample = Sampler(view).sample(rng)
                assert faults(view, sample, like) == [], f"{deal.phase}, {view.counts}"


@pytest.mark.parametrize("table", TABLES)
def test_near_the_end_it_knows_exactly_the_deals_that_trying_everything_finds(table: Rules) -> None:
    rng = Random(2)
    compared = 0
    for _ in range(8):
        for deal, views in moments(random_story(table, rng)):
            for view in views:
                left = sum(view.counts) - view.counts[view.seat]
                if not view.tricks or deal.is_over or not 2 <= left <= MOST_LEFT[table.players]:
                    continue
                like = true_sample(deal, view)
                possible = every_deal(view, like)
                assert like in possible
                sampler = Sampler(view)
                assert sampler.deals == len(possible)
                assert set(sampler.samples(rng, 20)) <= set(possible)
                compared += 1
    assert compared > 20


def chi_square_is_fine(counts: Sequence[int], expected: float) -> bool:
    """Whether counts are as even as chance makes them, with a chance of about 1 in 10,000 to be
    refused.
    """
    freedom = len(counts) - 1
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    return abs(statistic - freedom) < 4 * sqrt(2 * freedom)


@pytest.mark.parametrize("table", TABLES)
def test_each_deal_is_as_likely_as_any_other(table: Rules) -> None:
    rng, times, tried = Random(3), 20, set[tuple[frozenset[Suit], ...]]()
    while len(tried) < 4:
        for deal, views in moments(random_story(table, rng)):
            for view in views:
                left = sum(view.counts) - view.counts[view.seat]
                if not view.tricks or deal.is_over or view.voids in tried or left > 9:
                    continue
                if not 6 <= Sampler(view).deals <= 200:
                    continue
                tried.add(view.voids)
                possible = every_deal(view, true_sample(deal, view))
                found = Counter(Sampler(view).samples(rng, times * len(possible)))
                assert set(found) <= set(possible)
                assert chi_square_is_fine([found[sample] for sample in possible], times)


@pytest.mark.parametrize("table", TABLES)
def test_before_the_tricks_every_card_is_as_likely_to_lie_anywhere(table: Rules) -> None:
    rng, times = Random(4), 500
    for deal, views in moments(random_story(table, rng)):
        if isinstance(deal.phase, Declaration | Discards | Draws) and deal.step in (0, 1, 9):
            view = views[deal.hakem]
            where: Counter[tuple[int, Card]] = Counter()
            for sample in Sampler(view).samples(rng, times):
                for seat, hand in enumerate(sample.hands):
                    where.update((seat, card) for card in cards_in(hand))
            like = true_sample(deal, view)
            for seat, hand in enumerate(like.hands):
                size = hand.bit_count() - len(view.hand) * (seat == view.seat)
                if size:
                    counts = [where[seat, card] for card in view.unseen]
                    assert chi_square_is_fine(counts, times * size / len(view.unseen))


@pytest.mark.parametrize("table", TABLES)
def test_what_a_seat_was_not_shown_makes_no_difference(table: Rules) -> None:
    rng = Random(5)
    whole = random_story(table, rng)
    for actions in range(1, len(whole.actions), 4):
        story = whole.until(actions)
        for seat in range(table.players):
            other = other_story(story, Seat(seat), rng)
            one, same = (
                list(Sampler(views[seat]).samples(Random(6), 3))
                for *_, (_, views) in (moments(story), moments(other))
            )
            assert one == same


def test_what_cannot_be_is_said() -> None:
    view = View(rules(4), ME)
    view._voids = [1, 1, 1, 1]
    with pytest.raises(ValueError, match="no deal fits"):
        Sampler(view)
