"""DDS says what every line of play says."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from hokm.cards import CardSet, Seat, Trump, card_set, cards_in
from hokm.solver import (
    OpenHand,
    SolverMissing,
    best_tricks,
    can_take,
    card_tricks,
    cards_taking,
    dds,
    is_available,
    trump_tricks,
)
from tests.hokm.positions import cards
from tests.hokm.solver.brute import endings, tricks_by_card

needs_dds = pytest.mark.skipif(not is_available(), reason="the extra `solver` is not installed")


def open_hand(
    *texts: str, trump: Trump = Trump.SPADES, leader: int = 0, trick: str = ""
) -> OpenHand:
    hands = tuple(card_set(cards(text)) for text in texts)
    return OpenHand(hands, trump, Seat(leader), cards(trick))


@needs_dds
def test_every_card_of_an_ending_is_worth_what_brute_force_says() -> None:
    trumps, places = set(), set()
    for position in endings(4, most_cards=4):
        hand = OpenHand.of_position(position)
        tricks = tricks_by_card(position)
        best = max(tricks.values())
        assert card_tricks(hand) == tricks, hand
        assert best_tricks(hand) == best, hand
        for target in range(hand.tricks_left + 2):
            assert can_take(hand, target) == (best >= target), (hand, target)
            taking = tuple(card for card, taken in tricks.items() if taken >= target)
            assert cards_taking(hand, target) == taking, (hand, target)
        trumps.add(position.trump)
        places.add((hand.leader, len(hand.trick)))
    assert trumps == set(Trump)
    assert len(places) == 16


@needs_dds
def test_a_whole_deal_is_worth_what_is_plain_to_see() -> None:
    # Each seat has a suit: whoever's suit is trump takes everything.
    hands = tuple(CardSet(0x1FFF << 13 * suit) for suit in range(4))
    assert trump_tricks(hands, Seat(0)) == {
        Trump.CLUBS: 13,
        Trump.DIAMONDS: 0,
        Trump.HEARTS: 13,
        Trump.SPADES: 0,
    }
    led = OpenHand(hands, Trump.SAR, Seat(1))
    assert card_tricks(led) == dict.fromkeys(cards_in(hands[1]), 13)
    assert can_take(led, 13)
    assert not can_take(OpenHand(hands, Trump.HEARTS, Seat(1)), 1)


@needs_dds
def test_two_threads_take_turns() -> None:
    hands = [OpenHand.of_position(position) for position in endings(4, most_cards=8, count=60)]
    alone = [card_tricks(hand) for hand in hands]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(card_tricks, hands * 4)) == alone * 4


@needs_dds
@pytest.mark.parametrize(
    ("hand", "what"),
    [
        (open_hand("", "", "", ""), "is over"),
        (open_hand("AS 2S", "KS", "QS", "JS"), "seat 1 holds 1 cards, not 2"),
        (open_hand("AS", "KS", "QS", "JS", trick="2S"), "seat 0 holds 1 cards, not 0"),
        (open_hand("", "KS", "QS", "JS", trick="KS"), "two places"),
        (open_hand("AS", "AS", "QS", "JS"), "two places"),
        (open_hand("AS", "KS", "QS", "JS", leader=4), "no hand"),
        (open_hand("AS", "KS", "QS"), "four seats, not of 3"),
    ],
)
def test_a_hand_that_cannot_be_is_refused(hand: OpenHand, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        dds.card_tricks(hand)
    for target in (-1, 0, 1, 14):
        for ask in (dds.can_take, dds.cards_taking):
            with pytest.raises(ValueError, match=what):
                ask(hand, target)


def test_without_dds_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dds, "find_spec", lambda name: None)
    dds._load.cache_clear()
    assert not is_available()
    with pytest.raises(SolverMissing, match=r"pip install 'hokm-sdk\[solver\]'"):
        card_tricks(open_hand("AS", "KS", "QS", "JS"))
