"""Our own solver says what every line of play says, with two, three and four seats."""

import pytest

from hokm.cards import Card, Seat, Trump, card_set
from hokm.rules.position import Position
from hokm.solver import OpenHand, SearchTooLong, endings
from hokm.solver.endings import SweepSearch, side_of_turn
from tests.hokm.positions import cards
from tests.hokm.solver import brute

MOST_CARDS = {2: 6, 3: 4, 4: 3}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_card_of_an_ending_is_worth_what_brute_force_says(seats: int) -> None:
    met = set()
    for position in brute.endings(seats, most_cards=MOST_CARDS[seats]):
        hand = OpenHand.of_position(position)
        tricks = brute.tricks_by_card(position)
        best = max(tricks.values())
        assert endings.card_tricks(hand) == tricks, hand
        assert endings.best_tricks(hand) == best, hand
        for target in range(hand.tricks_left + 2):
            assert endings.can_take(hand, target) == (best >= target), (hand, target)
            taking = tuple(card for card, taken in tricks.items() if taken >= target)
            assert endings.cards_taking(hand, target) == taking, (hand, target)
        met.add((position.trump, len(hand.trick)))
    assert {trump for trump, _ in met} == set(Trump)
    assert {played for _, played in met} == set(range(seats))


@pytest.mark.parametrize("seats", [2, 4])
def test_a_sweep_is_found_where_a_line_of_play_has_it(seats: int) -> None:
    swept = 0
    for position in brute.endings(seats, most_cards=MOST_CARDS[seats]):
        hand = OpenHand.of_position(position)
        mine = side_of_turn(hand)
        for tricks in range(1, hand.tricks_left + 1):
            found = SweepSearch(hand.trump, mine).holds(hand, tricks)
            assert found == brute.sweeps(position, tricks), (hand, tricks)
            swept += found and tricks > 1
    assert swept


def test_a_search_that_would_take_too_long_gives_up() -> None:
    hands = tuple(card_set(Card(card) for card in range(seat, 51, 3)) for seat in range(3))
    hand = OpenHand(hands, Trump.HEARTS, Seat(0))
    with pytest.raises(SearchTooLong):
        endings.best_tricks(hand, most_positions=1_000)


def test_a_hand_that_cannot_be_is_refused() -> None:
    hand = OpenHand((card_set(cards("AS 2S")), card_set(cards("KS"))), Trump.HEARTS, Seat(0))
    with pytest.raises(ValueError, match="seat 1 holds 1 cards, not 2"):
        endings.card_tricks(hand)


def test_a_position_in_the_middle_of_a_trick_is_taken_as_it_stands() -> None:
    held = [card_set(cards(text)) for text in ("AS 2H", "KS 3H", "QS AH", "JS 4H")]
    variant = next(brute.endings(4, most_cards=1)).variant
    position = Position(variant, held, hakem=Seat(0), trump=Trump.HEARTS, leader=Seat(3))
    position.play(cards("JS")[0])
    assert OpenHand.of_position(position) == OpenHand(
        (*held[:3], card_set(cards("4H"))), Trump.HEARTS, Seat(3), cards("JS")
    )
