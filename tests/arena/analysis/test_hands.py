"""What a decision cost against open cards is what every line of play says."""

from dataclasses import replace
from functools import cache

import pytest

from arena.analysis.hands import MOST_CARDS, analyse_hand, played_again
from arena.analysis.values import HandAnalysis, Kind
from hokm.actions import PlayCard
from hokm.cards import Side, Trump
from hokm.records import HandRecord, MatchRecord, Place, ReplayError
from hokm.rules.options import Rules
from hokm.rules.position import Position
from hokm.solver import PointsSolver, is_available
from tests.arena.analysis.hands import match_of, random_hand
from tests.hokm.solver import brute

needs_dds = pytest.mark.skipif(not is_available(), reason="the extra `solver` is not installed")
TABLES = [
    pytest.param(Rules.of(4), marks=needs_dds),
    pytest.param(Rules.of(4, options={"modes": "suit,sar,nar", "play_out": "on"}), marks=needs_dds),
    pytest.param(Rules.of(2, options={"play_out": "on"}), id="two"),
    pytest.param(Rules.of(3), id="three"),
]


def analysed(record: MatchRecord) -> HandAnalysis:
    room = record.rooms[0]
    game = room.games[0]
    return analyse_hand(record, room, game, game.hands[0])


@cache
def of_random_hand(rules: Rules) -> HandAnalysis:
    return analysed(match_of(rules, random_hand(rules, 1)))


@pytest.mark.parametrize("rules", TABLES)
def test_the_last_cards_cost_what_brute_force_says(rules: Rules) -> None:
    compared = 0
    found = of_random_hand(rules)
    hand, moments = found.record, {moment.spot.step: moment for moment in found.moments}
    for decided in played_again(rules, hand, place=Place()):
        if not isinstance(decided.action, PlayCard):
            continue
        position = Position.of_deal(decided.deal)
        if position.hands[position.turn].bit_count() > 3 or len(position.playable) == 1:
            continue
        moment = moments[decided.step]
        side = position.variant.side_of[position.turn]
        tricks = brute.tricks_by_card(position)
        before = position.taken.count(side)
        assert {option.name: option.tricks for option in moment.options} == {
            str(card): before + taken for card, taken in tricks.items()
        }
        assert moment.tricks_lost == max(tricks.values()) - tricks[decided.action.card]
        after = position.copy()
        after.play(decided.action.card)
        points = brute.points(position, side) - brute.points(after, side)
        assert moment.points_lost == points
        compared += 1
    assert compared


def first_position(rules: Rules, hand: HandRecord) -> Position:
    decided = played_again(rules, hand, place=Place())
    return next(Position.of_deal(one.deal) for one in decided if isinstance(one.action, PlayCard))


@pytest.mark.parametrize("rules", TABLES[:3])
def test_what_both_sides_lost_is_what_the_hand_came_to(rules: Rules) -> None:
    found = of_random_hand(rules)
    hand = found.record
    first = found.moments[0]
    by_side = [sum(one.points_lost for one in found.moments if one.entrant == s) for s in (0, 1)]
    # Nothing else than these choices can have changed what the hand was worth at first.
    assert hand.result is not None
    end = hand.result.points[0] - hand.result.points[1]
    assert found.entrants == ((0,), (1,))
    at_first = end + by_side[0] - by_side[1]
    if first.kind is Kind.DECLARATION:
        best = max(option.points or -3.0 for option in first.options)
        assert at_first == (best if first.entrant == 0 else -best)
    else:
        position = first_position(rules, hand)
        assert at_first == PointsSolver().points(position, Side(0))


@needs_dds
def test_a_declaration_is_held_against_every_trump_of_the_table() -> None:
    rules = Rules.of(4, options={"modes": "suit,tak_nar"})
    values = {}
    for trump in (Trump.CLUBS, Trump.TAK_NAR):
        hand = replace(random_hand(rules, 7, trump=trump), plays=(), result=None)
        [moment] = analysed(match_of(rules, hand)).moments
        assert (moment.kind, moment.choice) == (Kind.DECLARATION, trump.letter)
        assert [option.name for option in moment.options] == ["C", "D", "H", "S", "TAK_NAR"]
        values[trump] = moment
    one, other = values.values()
    assert one.options == other.options
    assert one.better == other.better
    assert one.points_lost != other.points_lost or one.tricks_lost != other.tricks_lost


@needs_dds
def test_a_choice_is_of_its_kind_and_what_is_no_choice_is_none() -> None:
    rules = Rules.of(4)
    found = of_random_hand(rules)
    hand, kinds = found.record, {moment.spot.step: moment.kind for moment in found.moments}
    for decided in played_again(rules, hand, place=Place()):
        if isinstance(decided.action, PlayCard):
            deal, card = decided.deal, decided.action.card
            legal = len(deal.legal_actions())
            kind = Kind.LEAD if not deal.trick else Kind.FOLLOW
            if deal.trick and card.suit != deal.trick[0].suit:
                kind = Kind.DISCARD
            assert kinds.get(decided.step) == (kind if legal > 1 else None)
    assert set(kinds.values()) == {Kind.DECLARATION, Kind.LEAD, Kind.FOLLOW, Kind.DISCARD}


def test_of_three_seats_the_last_cards_are_analysed_and_the_others_counted() -> None:
    found = of_random_hand(Rules.of(3))
    hand = found.record
    first = min(int(moment.spot.step.removeprefix("play ")) for moment in found.moments)
    assert first > 3 * (17 - MOST_CARDS[3])
    assert (Kind.DECLARATION, int(hand.hakem)) in found.left_out
    assert len(found.moments) + len(found.left_out) <= 1 + len(hand.plays)


def test_of_two_seats_the_draw_is_left_out() -> None:
    found = of_random_hand(Rules.of(2, options={"play_out": "on"}))
    kinds = [kind for kind, _ in found.left_out]
    assert kinds == [Kind.DECLARATION, Kind.LAYING, Kind.LAYING, *[Kind.DRAW] * 21]


def test_a_hand_that_leaves_the_rules_is_refused_at_its_place() -> None:
    rules = Rules.of(2)
    hand: HandRecord = random_hand(rules, 1)
    first, second = hand.plays[:2]
    broken = replace(hand, plays=(second, first, *hand.plays[2:]))
    with pytest.raises(ReplayError, match="room 1, game 1, hand 1, play 1"):
        analysed(match_of(rules, broken))
