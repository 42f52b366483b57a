"""The frozen reference: what it makes of fixed decks, and that it never makes anything else."""

from pathlib import Path

import pytest

import arena.ladder.ratings.reference
from arena.ladder.ratings.luck import REFERENCE_DIGEST
from arena.ladder.ratings.reference import RULES, digest, margins, margins_of, opened
from hokm.cards import parse_cards
from hokm.deck import shuffled
from hokm.rules.variants import variant_of
from hokm.testing import seeds


def deck_of(players, number=1, seed="reference"):
    return shuffled(variant_of(RULES[players]).pack, seeds(seed)(number))


def test_the_reference_plays_as_it_did_when_its_constants_were_measured():
    # If this fails, undo what changed its play: another reference is luck-v2, with constants of
    # its own, and every adjusted score of before is another one.
    assert digest() == REFERENCE_DIGEST


def test_the_digest_sees_another_play(monkeypatch):
    monkeypatch.setattr(arena.ladder.ratings.reference, "ERRORS_IN_256", 63)
    assert digest() != REFERENCE_DIGEST


def test_nothing_of_a_sample_bot_is_in_it():
    source = Path(arena.ladder.ratings.reference.__file__).read_text(encoding="utf-8")
    assert "import" in source
    assert "sample_bots" not in source.split('"""', 2)[2]


@pytest.mark.parametrize("players", [4, 3, 2])
def test_what_one_side_gains_the_others_lose(players):
    sides = variant_of(RULES[players]).sides
    for number in range(1, 9):
        found = margins(players, deck_of(players, number))
        assert len(found) == sides
        assert sum(found) == pytest.approx(0)


def test_a_hakem_with_all_the_trumps_has_a_kot_every_time():
    top = parse_cards("AS KS QS JS TS")
    hearts = parse_cards("AH KH QH JH")
    rest = [card for card in variant_of(RULES[4]).pack if card not in {*top, *hearts}]
    spades = [card for card in rest if card.suit == 3]
    others = [card for card in rest if card.suit != 3]
    # 5 to the hakem, 5 each to the others, then 4 to the hakem, and so on.
    deck = [*top, *others[:15], *spades[:4], *others[15:27], *spades[4:], *others[27:]]
    deck += [card for card in variant_of(RULES[4]).pack if card not in deck]
    assert margins(4, deck) == (2.0, -2.0)


def test_it_names_its_longest_suit_and_with_two_seats_draws_thirteen():
    for number in range(1, 5):
        deck = deck_of(4, number)
        start = opened(4, deck)
        suits = [card.suit for card in deck[:5]]
        assert suits.count(start.trump.suit) == max(map(suits.count, suits))
    assert [hand.bit_count() for hand in opened(2, deck_of(2)).hands] == [13, 13]


def test_a_margin_is_what_a_side_has_more_than_the_mean_of_the_others():
    assert margins_of((0, 2)) == (-2.0, 2.0)
    assert margins_of((-3, 0, 0)) == (-3.0, 1.5, 1.5)
