"""Three seats, each alone: pack, shapes that end a hand, succession (cases 36 to 41)."""

from collections import Counter
from random import Random

import pytest

from hokm.cards import CARDS, Card, Seat, Side, Suit
from hokm.outcome import Ending, HandKind, HandResult, Outcome
from hokm.rules.deal import Deal
from hokm.rules.game import Board
from hokm.rules.scoring import EachAlone, Verdict
from hokm.rules.variants import variant_of
from hokm.session import ClockRules, MatchStart
from hokm.view import View
from hokm.wire import decode_from_referee, encode_from_referee
from tests.hokm.positions import hand, next_hand, points, race, race_rules, rules, shape

HANDS = 10_000

RULEBOOK_3_7 = """
    7-0-0
    9-1-0
    9-1-1 9-2-0
    8-2-2 9-2-1 9-3-0
    8-3-2 9-3-1 9-4-0
    8-3-3 8-4-2 9-4-1 9-5-0
    7-4-4 8-4-3 8-5-2 9-5-1 9-6-0
    7-5-4 8-5-3 8-6-2 9-6-1 9-7-0
    7-5-5 7-6-4 8-6-3 8-7-2 9-7-1 9-8-0 6-6-5 7-7-3 8-8-1
"""
SHAPES = RULEBOOK_3_7.split()


def after(first: int, second: int, third: int) -> tuple[Side, ...]:
    """Tricks taken by sides 0, 1 and 2, in turn for as long as each has some left."""
    left = Counter({Side(0): first, Side(1): second, Side(2): third})
    taken: list[Side] = []
    while left.total():
        for side in list(+left):
            taken.append(side)
            left[side] -= 1
    return tuple(taken)


def verdict(first: int, second: int, third: int) -> Verdict | None:
    return EachAlone().verdict(after(first, second, third))


@pytest.mark.rule("8.36")
@pytest.mark.parametrize("suit", list(Suit))
def test_case_36_the_same_two_is_missing_in_every_hand_and_all_know_it(suit: Suit) -> None:
    table = race_rules(3, removed_two=suit.letter)
    two = Card.parse(f"2{suit.letter}")
    assert table.options()["removed_two"] == suit.letter
    assert variant_of(table).pack == tuple(card for card in CARDS if card != two)
    game = race(table)
    for _ in range(3):
        assert len(game.deal.deck) == 51
        assert two not in game.deal.deck
        number = game.hand_number
        while game.hand_number == number and not game.is_over:
            assert game.to_act is not None
            game.act(game.to_act, game.legal_actions()[0])


@pytest.mark.rule("8.36")
@pytest.mark.parametrize("suit", list(Suit))
def test_case_36_the_missing_two_is_announced_before_the_first_card(suit: Suit) -> None:
    """In the rules of the match's start, which is all that a bot is told before its first game."""
    clock = ClockRules(move_seconds=1.0, bank_seconds=30.0)
    start = MatchStart("m", rules(3, removed_two=suit.letter), games=3, clock=clock)
    (told,) = decode_from_referee(encode_from_referee([start]))
    assert isinstance(told, MatchStart)
    assert told.rules.removed_two is suit
    two = Card.parse(f"2{suit.letter}")
    for seat in range(3):
        view = View(told.rules, Seat(seat))
        assert view.rules.removed_two is suit
        assert two not in view.variant.pack
        assert view.seen == (two,), "known before any card is"
        assert two not in view.unseen


@pytest.mark.rule("8.36")
def test_without_a_choice_the_two_of_clubs_is_missing() -> None:
    assert Card.parse("2C") not in variant_of(rules(3)).pack


@pytest.mark.rule("8.37")
def test_case_37_six_to_none_and_a_trick_lost_goes_on_and_9_1_0_is_no_sweep() -> None:
    deal = hand(rules(3), "0000001000")
    assert shape(deal) == "9-1-0"
    assert deal.result == HandResult(Side(0), HandKind.WIN, (1, 0, 0), (9, 1, 0))
    assert verdict(6, 0, 0) is None
    assert verdict(6, 1, 0) is None
    assert verdict(8, 1, 0) is None


@pytest.mark.rule("8.38")
def test_case_38_drawing_level_counts_as_reaching() -> None:
    assert verdict(7, 5, 3) is None
    assert verdict(7, 5, 4) == Verdict(Side(0), kot=False)


@pytest.mark.rule("3.5")
def test_the_rulebooks_own_examples_of_an_unbeatable_lead() -> None:
    assert verdict(7, 4, 3) is None
    assert verdict(7, 4, 4) == Verdict(Side(0), kot=False)
    assert verdict(8, 3, 1) is None
    assert verdict(8, 2, 2) == Verdict(Side(0), kot=False)


@pytest.mark.rule("8.39")
def test_case_39_between_two_who_are_level_the_third_wins() -> None:
    assert verdict(8, 7, 1) is None
    deal = hand(rules(3), "01" * 8 + "2")
    assert shape(deal) == "8-8-1"
    assert deal.result == HandResult(Side(2), HandKind.WIN, (0, 0, 1), (8, 8, 1))


@pytest.mark.rule("8.40")
def test_case_40_six_six_five_goes_to_the_five() -> None:
    deal = hand(rules(3), "012" * 5 + "02")
    assert shape(deal) == "6-6-5"
    assert deal.result == HandResult(Side(1), HandKind.WIN, (0, 1, 0), (6, 5, 6))


@pytest.mark.rule("8.41")
def test_case_41_the_orders_of_trick_winners_end_in_exactly_the_33_shapes() -> None:
    # One order stands for all with the same counts: see the next test.
    finish = EachAlone()
    ends: Counter[str] = Counter()
    going_on: dict[tuple[int, ...], tuple[Side, ...]] = {(0, 0, 0): ()}
    while going_on:
        further: dict[tuple[int, ...], tuple[Side, ...]] = {}
        for taken in going_on.values():
            for side in range(3):
                order = (*taken, Side(side))
                won = tuple(order.count(Side(each)) for each in range(3))
                ending = finish.verdict(order)
                if ending is None:
                    further[won] = order
                    continue
                ends["-".join(map(str, sorted(won, reverse=True)))] += 1
                assert ending == expected_of(won)
        going_on = further
    assert set(ends) == set(SHAPES)
    assert len(SHAPES) == 33


def expected_of(won: tuple[int, ...]) -> Verdict:
    """Who wins with those tricks, said once more: the most, or the odd one out behind two level."""
    most = max(won)
    if won.count(most) == 1:
        return Verdict(Side(won.index(most)), kot=sorted(won) == [0, 0, 7])
    return Verdict(Side(won.index(min(won))), kot=False)


@pytest.mark.rule("3.5")
def test_a_verdict_asks_who_took_how_many_and_not_when() -> None:
    rng = Random(35)
    for _ in range(2000):
        taken = [Side(rng.randrange(3)) for _ in range(rng.randrange(18))]
        verdict = EachAlone().verdict(taken)
        rng.shuffle(taken)
        assert EachAlone().verdict(taken) == verdict


@pytest.mark.rule("8.41")
def test_case_41_random_play_ends_in_no_other_shape() -> None:
    table, rng = rules(3), Random(41)
    pack = list(variant_of(table).pack)
    seen: Counter[str] = Counter()
    for number in range(HANDS):
        rng.shuffle(pack)
        deal = Deal(table, pack, hakem=Seat(number % 3))
        deal.start()
        while deal.to_act is not None:
            deal.act(deal.to_act, rng.choice(deal.legal_actions()))
        seen[shape(deal)] += 1
    assert set(seen) <= set(SHAPES)
    assert len(seen) > 25  # most shapes come up by chance


@pytest.mark.rule("3.4")
@pytest.mark.parametrize(("taker", "counts"), [(1, (0, 2, 0)), (0, (3, 0, 0)), (2, (0, 0, 3))])
def test_a_sweep_is_a_kot_of_the_hakem_or_against_it(
    taker: int, counts: tuple[int, int, int]
) -> None:
    deal = hand(rules(3), str(taker) * 7, hakem=1)
    assert len(deal.taken) == 7
    assert points(deal) == counts


@pytest.mark.rule("3.8")
@pytest.mark.parametrize(("option", "hakem"), [("winner", 0), ("right", 2)])
def test_after_a_loss_the_winner_is_hakem_or_the_seat_on_the_right(option: str, hakem: int) -> None:
    game = race(race_rules(3, first_hakem="seat:1", next_hakem=option))
    ended = next_hand(game, "0000000")
    assert (ended.next_hakem, ended.next_dealer) == (hakem, (hakem - 1) % 3)
    assert game.deal.hakem == hakem


@pytest.mark.rule("3.8")
@pytest.mark.parametrize("option", ["winner", "right"])
def test_a_hakem_that_won_stays_as_the_odd_one_out_too(option: str) -> None:
    game = race(race_rules(3, first_hakem="seat:1", next_hakem=option))
    ended = next_hand(game, "02" * 8 + "1")
    assert ended.result.winner == 1
    assert (ended.next_hakem, ended.next_dealer) == (1, 0)


def test_a_fault_on_a_board_of_three_is_paid_by_the_seat_at_fault() -> None:
    game = Board(rules(3), CARDS[1:], number=1)
    game.start()
    outcome = game.forfeit(Seat(2), ending=Ending.ILLEGAL, cause="")
    assert outcome == Outcome(Ending.ILLEGAL, (0, 0, -3), None, at_fault=Seat(2))
