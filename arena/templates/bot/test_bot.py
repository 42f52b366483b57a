"""Tests of the bot: python -m pytest, in this folder."""

import pytest
from hokm import Bot, Card, Rules, View
from hokm.deck import shuffled
from hokm.rules.variants import variant_of
from hokm.testing import duel, play_board, seeds, view_of

from bot import MyBot

# A hand up to its first lead, as `arena replay --text` prints one.
HAND = """
hokm 4 hakem 0
deck KS 7S 5D 2C JD AD 9S 6H QH 2D 6C QC 5S TD 5H QD 5C 3S 8S 2S 6S 4S AH TH
  KC TC 6D KH 7H JS 8D 4C 7C JC 9C JH KD 3H 8C 8H QS 3D 7D AS 4H 3C 9D TS 4D
  2H AC 9H
trump S
"""


@pytest.mark.parametrize("players", [2, 3, 4])
def test_it_plays_by_the_rules(players: int) -> None:
    """What is illegal raises."""
    rules = Rules.of(players)
    for number in range(1, 6):
        deck = shuffled(variant_of(rules).pack, seeds("rules")(number))
        play_board([MyBot() for _ in range(players)], rules, deck, number=number)


@pytest.mark.parametrize(
    ("plays", "card"),
    [("3H 6H 7H", "9H"), ("AH 6H 7H", "2H")],
    ids=["takes as cheaply as it can", "gives away the cheapest"],
)
def test_the_last_to_play(plays: str, card: str) -> None:
    view = view_of(f"{HAND} plays {plays}")
    assert MyBot().play(view) == Card.parse(card)


class Lowest(Bot):
    def play(self, view: View) -> Card:
        return min(view.playable, key=view.height)


@pytest.mark.parametrize("players", [2, 4])
def test_it_beats_whoever_plays_the_lowest_card(players: int) -> None:
    """Points of a board, each deal played from both sides."""
    assert sum(duel(MyBot, Lowest, players=players, boards=20)) > 10
