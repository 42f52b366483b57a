"""What naming nar is worth is the difference of two plays of one deal."""

from hokm import Rules, parse_cards
from hokm.cards import CARDS
from hokm.deck import shuffled
from simulations.nar import gain, report

RULES = Rules.of(4, options={"modes": "suit,nar"})


def test_where_house_names_a_suit_nothing_is_gained():
    for number in range(3):
        deck = shuffled(CARDS, bytes([number]) * 32)
        assert gain(RULES, deck) == 0
        assert gain(Rules.of(4), deck) == 0


def test_a_hand_of_low_cards_alone_wins_more_in_nar():
    own = parse_cards("2C 2D 2H 2S 3C 3D 3H 3S 4C 4D 4H 4S 5S")
    rest = [card for card in CARDS if card not in own]
    deck = (*own[:5], *rest[:15], *own[5:9], *rest[15:27], *own[9:], *rest[27:])
    # Seven to none in nar is a plain win; in a suit the others take most.
    assert gain(RULES, deck) >= 2


def test_a_deal_a_row_is_counted_where_it_is_for_nar():
    title, _, _, _, *rows = report(200, seed=1).splitlines()
    assert title == "200 deals a row, seed 1."
    assert [row.split(" | ")[0] for row in rows] == ["| 4", "| 3", "| 2"]
    assert all(0 < int(row.split(" | ")[1]) < 20 for row in rows)
