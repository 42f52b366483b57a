"""Cards, suits, trumps: their numbers, their texts, and sets of them."""

import contextlib
import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hokm.cards import (
    CARDS,
    NO_CARDS,
    Card,
    CardSet,
    Rank,
    Suit,
    Trump,
    card_set,
    cards_in,
    cards_text,
    parse_cards,
)
from hokm.errors import HokmError, NotationError

ALL_CARDS = st.lists(st.sampled_from(CARDS))


def test_cards_are_numbered_by_suit_and_rank() -> None:
    assert [int(card) for card in CARDS] == list(range(52))
    for card in CARDS:
        assert card == 13 * card.suit + card.rank
        assert Card.of(card.suit, card.rank) is card
    assert cards_text([CARDS[0], CARDS[12], CARDS[13], CARDS[51]]) == "2C AC 2D AS"


def test_there_is_one_object_a_card() -> None:
    for card in CARDS:
        assert Card(int(card)) is card
        assert Card.parse(str(card)) is card
        assert copy.deepcopy(card) is card
        assert pickle.loads(pickle.dumps(card)) is card


@pytest.mark.parametrize("number", [-1, 52, 1000])
def test_there_are_no_other_cards(number: int) -> None:
    with pytest.raises(ValueError, match=f"no card {number}: cards are numbered 0 to 51"):
        Card(number)


def test_a_card_is_read_from_letters_of_either_case_and_from_symbols() -> None:
    for card in CARDS:
        assert Card.parse(str(card).lower()) is card
        assert Card.parse(card.symbol) is card
    assert Card.parse("T♦") is Card.of(Suit.DIAMONDS, Rank.TEN)
    assert repr(Card.parse("QH")) == "<Card QH>"


@pytest.mark.parametrize(
    "text", ["", "A", "10C", "1C", "CA", "AX", "AS ", " AS", "A S", "CC", "♠A"]
)
def test_a_text_that_is_no_card_is_refused_with_what_one_looks_like(text: str) -> None:
    with pytest.raises(NotationError, match="is no card: expected a rank 2-9 T J Q K A and a suit"):
        Card.parse(text)
    assert issubclass(NotationError, HokmError)


@given(st.text(max_size=3))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(NotationError):
        card = Card.parse(text)
        assert text.upper() in (str(card), card.symbol)


@given(ALL_CARDS)
def test_cards_are_read_as_they_were_written(cards: list[Card]) -> None:
    assert parse_cards(cards_text(cards)) == tuple(cards)


@given(ALL_CARDS)
def test_a_set_gives_its_cards_ascending_and_each_once(cards: list[Card]) -> None:
    assert cards_in(card_set(cards)) == tuple(sorted(set(cards)))
    assert all(isinstance(card, Card) for card in cards_in(card_set(cards)))


def test_an_empty_set_holds_nothing_and_a_full_one_everything() -> None:
    assert cards_in(NO_CARDS) == ()
    assert cards_in(CardSet((1 << 52) - 1)) == CARDS
    assert card_set(CARDS) == (1 << 52) - 1


def test_the_four_suits_part_the_pack() -> None:
    assert [cards_in(suit.cards) for suit in Suit] == [
        CARDS[13 * s : 13 * s + 13] for s in range(4)
    ]
    for card in CARDS:
        assert card.bit == 1 << card
        assert card.suit.cards & card.bit


def test_trumps_that_are_suits_have_their_numbers() -> None:
    for suit in Suit:
        assert Trump(suit).suit is suit
        assert Trump(suit).letter == suit.letter
    assert [trump.suit for trump in (Trump.SAR, Trump.NAR, Trump.TAK_NAR)] == [None] * 3


def test_a_trump_is_read_as_it_is_written() -> None:
    assert [trump.letter for trump in Trump] == ["C", "D", "H", "S", "SAR", "NAR", "TAK_NAR"]
    for trump in Trump:
        assert Trump.parse(trump.letter) is trump


@pytest.mark.parametrize("text", ["", "c", "CLUBS", "sar", "X"])
def test_a_text_that_is_no_trump_is_refused_with_what_one_is(text: str) -> None:
    with pytest.raises(NotationError, match="expected C, D, H, S, SAR, NAR or TAK_NAR"):
        Trump.parse(text)
