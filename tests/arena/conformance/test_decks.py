"""Decks are dealt as a check wants them, by the rules themselves."""

import pytest

from arena.conformance.chance import Chance
from arena.conformance.decks import deck_of, random_deck, suit_cards
from hokm.actions import DECLARATIONS
from hokm.cards import Rank, Seat, Suit, card_set
from hokm.rules.game import Board
from hokm.rules.options import Rules
from hokm.rules.variants import variant_of


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("hakem", [0, 1, 2])
def test_a_seat_has_the_cards_that_were_wanted_and_its_first_five_first(
    players: int, hakem: int
) -> None:
    rules = Rules.of(players)
    seat, wanted = Seat(hakem), suit_cards(Suit.SPADES)
    deck = deck_of(rules, Chance("deck"), hakem=Seat(hakem), hands={seat: wanted})
    board = Board(rules, deck, number=hakem + 1)
    board.start()
    assert board.deal.hands[seat] == card_set(wanted[:5])
    board.act(seat, DECLARATIONS[0])
    assert board.deal.hands[seat] & Suit.SPADES.cards == card_set(wanted)


def test_a_stock_has_the_cards_that_were_wanted_at_their_places() -> None:
    rules = Rules.of(2)
    ace, two = suit_cards(Suit.HEARTS)[0], suit_cards(Suit.HEARTS)[-1]
    hands = {Seat(1): suit_cards(Suit.CLUBS)[:5]}
    deck = deck_of(rules, Chance("deck"), hakem=Seat(1), hands=hands, stock=[ace, None, two])
    assert (deck[10], deck[12]) == (ace, two)
    assert deck[:5] == suit_cards(Suit.CLUBS)[:5]
    assert sorted(deck) == sorted(variant_of(rules).pack)


def test_a_deck_is_of_the_pack_that_is_played_with() -> None:
    rules = Rules.of(3, options={"removed_two": "H"})
    deck = random_deck(rules, Chance("deck"))
    assert len(set(deck)) == 51
    assert not any(card.suit is Suit.HEARTS and card.rank is Rank.TWO for card in deck)
