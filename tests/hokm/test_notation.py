"""A hand as text: what is written is read back, what is wrong is said and where."""

import re
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hokm.cards import Seat, parse_cards
from hokm.errors import NotationError
from hokm.events import HandEnded, HandStarted
from hokm.notation import (
    LARGEST_CHARACTERS,
    hand_events,
    hand_text,
    parse_hand,
    parse_hands,
)
from hokm.records import GameLog, HandRecord, ReplayError
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from tests.hokm.random_play import SEEDS, random_game, tables

ANY_TABLE = st.one_of(tables(Play.BOARDS), tables(Play.RACE))


def hands_of(rules: Rules, seed: int, *, actions: int | None = None) -> tuple[HandRecord, ...]:
    """The hands of a game at random, the last one perhaps as it was after so many actions."""
    steps = random_game(rules, seed)
    game, events = next(steps)
    log = GameLog(game, number=1)
    log.saw(events)
    for _, events in islice(steps, actions):
        log.saw(events)
    return log.record().hands


@given(ANY_TABLE, SEEDS, st.integers(0, 120))
def test_every_prefix_of_a_hand_is_read_back_as_it_was(rules, seed, actions):
    hand = hands_of(rules, seed, actions=actions)[-1]
    assert parse_hand(hand_text(rules, hand)) == (rules, replace(hand, result=None))


@given(tables(Play.BOARDS), SEEDS, SEEDS)
def test_layout_and_comments_and_the_size_of_letters_do_not_matter(rules, seed, layout):
    (hand,) = hands_of(rules, seed)
    chance = Random(layout)
    words = hand_text(rules, hand).split()
    spaces = (" ", "\n", "\t  ", " # hokm, not a card\n", "\r\n")
    # An option's name and value are as they are.
    text = "".join(
        (word.lower() if "=" not in word and chance.random() < 0.5 else word)
        + chance.choice(spaces)
        for word in words
    )
    assert parse_hand(text) == (rules, replace(hand, result=None))


@given(tables(Play.BOARDS), SEEDS)
def test_a_hand_of_a_board_plays_again_to_the_same_events(rules, seed):
    happened = [event for _, events in random_game(rules, seed) for event in events]
    (hand,) = hands_of(rules, seed)
    assert list(hand_events(*parse_hand(hand_text(rules, hand)))) == happened


@given(tables(Play.RACE), SEEDS)
def test_every_hand_of_a_race_plays_again_to_its_result(rules, seed):
    variant = variant_of(rules)
    for hand in hands_of(rules, seed):
        started, *_, ended = hand_events(*parse_hand(hand_text(rules, hand)))
        dealer = variant.dealer_for(hand.hakem)
        assert started == HandStarted(hand.number, hand.hakem, dealer, (0,) * variant.sides)
        assert hand.result is not None
        assert ended == HandEnded(hand.result, None, None)


SHORT = """\
hokm 2 hakem 1
deck 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD
  KD AD 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH 2S 3S 4S 5S 6S 7S 8S 9S TS JS
  QS KS AS
trump TAK_NAR
discards 2C 3C 4C / 7C 8C
draws KRK
"""


def test_the_text_is_short_and_says_only_what_is_not_the_default():
    rules, hand = parse_hand(SHORT.replace("hakem 1", "hakem 1 modes=suit,tak_nar play_out=off"))
    assert rules == Rules.of(2, options={"modes": "suit,tak_nar"})
    assert hand.hakem == Seat(1)
    assert hand.discards == (parse_cards("2C 3C 4C"), parse_cards("7C 8C"))
    assert hand_text(rules, hand) == SHORT.replace("hakem 1", "hakem 1 modes=suit,tak_nar")


def test_the_hand_in_the_documents_is_written_as_it_should_be():
    page = (Path(__file__).parents[2] / "docs/record.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```text\n(hokm .*?)```", page, re.DOTALL)
    assert hand_text(*parse_hand(text)) == text
    assert len(list(hand_events(*parse_hand(text)))) > 20


def test_tricks_may_be_kept_apart_or_not():
    text = hand_text(Rules.of(4), whole_hand())
    apart, together = parse_hand(text), parse_hand(text.replace("/", ""))
    assert apart == together
    assert "\nplays" in text
    assert text.count("/") == (len(whole_hand().plays) - 1) // 4


def test_several_hands_are_read_in_turn():
    rules, hand = parse_hand(SHORT)
    other = hand_text(Rules.of(4), whole_hand())
    text = f"# one\n{SHORT}\n# another\n{other}"
    assert parse_hands(text) == ((rules, hand), parse_hand(other))
    with pytest.raises(NotationError, match="there are 2 hands in this text; expected one"):
        parse_hand(text)


def whole_hand() -> HandRecord:
    return hands_of(Rules.of(4), 1)[0]


# -- what is wrong

DECK = SHORT[SHORT.index("deck") : SHORT.index("trump")]

WRONG = {
    "": "there is no hand in this text: a hand begins with 'hokm'",
    "# hokm 4\n": "there is no hand in this text",
    "deck 2C": "line 1, column 1: expected 'hokm', with which a hand begins, not 'deck'",
    " {}": "line 1, column 2: expected 'hokm', with which a hand begins, not '{}'",
    "hokm": "line 1, column 1: expected the number of players after 'hokm', as in",
    "hokm 5": "line 1, column 6: expected how many play, a number from 2 to 4, not '5'",
    "hokm four": "line 1, column 6: expected how many play, a number from 2 to 4, not 'four'",
    "hokm 4": "line 1, column 1: it does not say who is hakem: expected 'hakem' and a seat",
    "hokm 3 hakem": "line 1, column 8: expected a number after 'hakem'",
    "hokm 3 hakem 3": "line 1, column 14: expected a seat, a number from 0 to 2, not '3'",
    "hokm 3 hakem +1": "line 1, column 14: expected a seat, a number from 0 to 2, not '+1'",
    "hokm 3 hakem ۲": "line 1, column 14: expected a seat",
    "hokm 4 hand 0 hakem 1": "line 1, column 13: expected the hand of its race, a number from 1",
    "hokm 4 hakem 1 later": "line 1, column 16: expected race, hand, hakem or an option such as",
    "hokm 4 hakem 0 x=1": "line 1, column 1: there is no option 'x'; the options are",
    "hokm 4 hakem 0 play_out=on play_out=on": "column 28: the option 'play_out' is there twice",
    "hokm 4 hakem 0 target_points=3": "line 1, column 1: target_points has no meaning with boards",
    "hokm 4\nhakem 0": "line 1, column 1: this hand has no deck: expected 'deck' and its cards",
    "hokm 4 hakem 0 deck 2C 2C": "line 1, column 16: 2C is 2 times in the deck",
    "hokm 3 hakem 0 deck 2C": "line 1, column 16: 2C is in the deck, and was taken out of the pack",
    "hokm 4 hakem 0\n deck 10C": "line 2, column 7: expected a card, such as TC for the ten of",
    "hokm 4 hakem 0\n" + DECK.replace("9H ", ""): "expected the 52 cards of the pack; missing: 9H",
    "hokm 4 hakem 0 deck deck": "line 1, column 21: 'deck' is there twice in one hand",
    "hokm 4 hakem 0\n" + DECK + "trump": "line 5, column 1: expected C, D, H, S, SAR, NAR or",
    "hokm 4 hakem 0\n" + DECK + "trump X": "line 5, column 7: expected C, D, H, S, SAR, NAR or",
    "hokm 4 hakem 0\n" + DECK + "trump S 9C": "line 5, column 9: expected one of deck, cut, trump",
    "hokm 4 hakem 0\n" + DECK + "discards 2C": "line 5, column 1: nothing is drawn with 4 players",
    "hokm 4 hakem 0\n" + DECK + "draws K": "line 5, column 1: nothing is drawn with 4 players",
    "hokm 4 hakem 0\n" + DECK + "cut 9": "line 5, column 1: nobody cuts here: expected cut=on",
    "hokm 4 race hakem 0 cut=on\n" + DECK + "cut 52": "line 5, column 5: expected cards to cut, a "
    "number from 1 to 51, not '52'",
    "hokm 4 race hakem 0 cut=on\n" + DECK + "cut": "expected the number of cards that were cut",
    "hokm 4 hakem 0\n" + DECK + "plays 2C 3C 4C / 9C": "line 5, column 7: this trick has 3 cards; "
    "expected 4",
    "hokm 4 hakem 0\n" + DECK + "plays 2C, 3C": "line 5, column 7: expected a card, such as TC for "
    "the ten of clubs, not '2C,'",
    "hokm 2 hakem 0\n"
    + DECK
    + "draws KRX": "line 5, column 7: expected K for each card kept and R",
    "hokm 2 hakem 0\n" + DECK + "discards": "line 5, column 1: expected the hakem's discards, '/'",
    "hokm 2 hakem 0\n" + DECK + "discards 2C / 3C / 4C": "there are 3 groups",
    "hokm 4 " + "9" * 500: "not '99999999999999999999…'",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_where_with_what_was_expected(text):
    with pytest.raises(NotationError) as error:
        parse_hand(text)
    assert WRONG[text] in str(error.value)


def test_an_endless_text_is_not_read():
    with pytest.raises(NotationError, match="no hand is that long"):
        parse_hand(SHORT + "#" * LARGEST_CHARACTERS)


@given(st.text("hokm deckplaystrump234CDHS/=#\n", max_size=60))
def test_any_text_is_a_hand_or_an_error_of_notation(text):
    with suppress(NotationError):
        parse_hand(f"hokm 4 hakem 0 {text}")


def test_a_hand_that_leaves_the_rules_says_at_which_step():
    rules, hand = parse_hand(SHORT.replace("TAK_NAR", "S").replace("/ 7C 8C", "/ 2C 8C"))
    happened = hand_events(rules, hand)
    with pytest.raises(ReplayError, match=r"^discard 2: seat 0 may not do this: NOT_IN_HAND"):
        list(happened)
    with pytest.raises(ReplayError, match=r"^hand 1: a deck here is the 52 cards"):
        list(hand_events(rules, replace(hand, deck=hand.deck[1:])))


def test_a_hand_that_goes_on_after_its_end_leaves_the_rules():
    hand = whole_hand()
    left = next(card for card in hand.deck if card not in hand.plays)
    happened = hand_events(Rules.of(4), replace(hand, plays=(*hand.plays, left)))
    with pytest.raises(ReplayError, match="this hand is not being played at this point"):
        list(happened)
