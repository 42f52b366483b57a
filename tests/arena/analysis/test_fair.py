"""What a decision cost against what its seat knew."""

from random import Random

import pytest

from arena.analysis.fair import _lost, fair_points_lost
from arena.analysis.hands import Decided, played_again
from hokm.actions import DeclareTrump, PlayCard
from hokm.cards import Trump
from hokm.records import HandRecord, Place
from hokm.rules.options import Rules
from hokm.solver import is_available
from tests.arena.analysis.hands import played, random_hand

needs_dds = pytest.mark.skipif(not is_available(), reason="the extra `solver` is not installed")


def decisions(rules: Rules, hand: HandRecord) -> list[Decided]:
    return list(played_again(rules, hand, place=Place()))


def first_of(rules: Rules, hand: HandRecord, kind: type) -> Decided:
    for decided in played_again(rules, hand, place=Place()):
        if isinstance(decided.action, kind):
            return decided
    raise AssertionError("there is none of this kind")


@needs_dds
def test_the_cards_that_a_seat_cannot_see_make_no_difference() -> None:
    rules = Rules.of(4)
    losses = set()
    for seed in range(2):
        hand = random_hand(rules, 4, trump=Trump.CLUBS)
        hidden = list(hand.deck[5:])
        Random(seed).shuffle(hidden)
        other = played(
            rules,
            (*hand.deck[:5], *hidden),
            hakem=hand.hakem,
            rng=Random(1),
            trump=Trump.CLUBS,
        )
        decided = first_of(rules, other, DeclareTrump)
        losses.add(fair_points_lost(decided, Random("same"), samples=4))
    assert len(losses) == 1
    assert losses != {None}


def test_what_is_worth_most_in_every_deal_costs_nothing_and_another_card_does() -> None:
    # Two seats, and the hakem has six tricks: the ace of trumps takes the seventh at once.
    rules = Rules.of(2)
    costs: dict[str, float | None] = {}
    for seed in range(40):
        hand = random_hand(rules, seed)
        for decided in played_again(rules, hand, place=Place()):
            view = decided.views[decided.seat]
            if not isinstance(decided.action, PlayCard) or view.tricks_won[view.side] != 6:
                continue
            if len(view.hand) > 5 or view.trick or len(view.playable) == 1:
                continue
            sure = [
                card
                for card in view.playable
                if card.suit == view.trump_suit
                and not any(card < other and other.suit == card.suit for other in view.unseen)
            ]
            lost = fair_points_lost(decided, Random(seed), samples=4)
            assert lost is not None
            if decided.action.card in sure:
                assert lost == 0
                costs["sure"] = lost
            elif sure:
                costs["not sure"] = max(costs.get("not sure") or 0.0, lost)
    assert costs.get("sure") == 0


def test_the_best_of_one_half_is_judged_by_the_other() -> None:
    first, second = [{"a": 1.0, "b": 0.0}], [{"a": 0.0, "b": 1.0}]
    assert _lost("b", first, judge=second) == -1
    assert _lost("a", first, judge=second) == 0
    assert _lost("b", second, judge=first) == 0
    even = [{"a": 1.0, "b": 1.0}]
    assert _lost("b", even, judge=first) == 0


def test_who_chooses_among_equals_by_chance_loses_nothing_in_the_mean() -> None:
    rng = Random(3)
    lost = []
    for _ in range(400):
        deals = [{name: rng.choice((-1.0, 1.0)) for name in "abcd"} for _ in range(10)]
        first, second = deals[::2], deals[1::2]
        lost.append((_lost("a", first, judge=second) + _lost("a", second, judge=first)) / 2)
    # The best of four means of ten would be 0.3 above their mean.
    assert abs(sum(lost) / len(lost)) < 0.1


def test_the_same_chance_gives_the_same_answer_and_what_is_not_asked_gives_none() -> None:
    rules = Rules.of(2)
    hand = random_hand(rules, 1)
    assert fair_points_lost(decisions(rules, hand)[0], Random(1), samples=2) is None
    last = [
        decided
        for decided in played_again(rules, hand, place=Place())
        if isinstance(decided.action, PlayCard) and len(decided.deal.trick) == 0
    ]
    assert last
    for decided in played_again(rules, hand, place=Place()):
        view = decided.views[decided.seat]
        if isinstance(decided.action, PlayCard) and 2 <= len(view.hand) <= 5:
            one, other = (fair_points_lost(decided, Random(9), samples=4) for _ in range(2))
            assert one == other
