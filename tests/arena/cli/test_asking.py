"""What a person says at the table, understood where it can be meant."""

import pytest

from arena.cli.asking import HELP, Misunderstood, Wish, question, understood
from hokm.actions import CUTS, DECLARATIONS, DRAWS, PLAYS, Action, DiscardCards
from hokm.cards import Seat, Trump, parse_cards
from hokm.events import HandStarted, PacketDealt
from hokm.rules.options import Rules
from hokm.testing import view_of
from hokm.view import View

PLAYING = """
hokm 4 hakem 1 pause_after=right_opponent
deck QS JC KH JD 4C AH 8D KC JH 7C 5H AS 6S 4D QD 9S TS TD 3S 2S AC KS 8H 9D
  AD 2H TH QC 9H 5C 7D 3D 6D 7S 2C 3H 5S 3C 8S 8C 2D KD 4S 6H 4H 7H 9C 5D 6C
  JS QH TC
trump H
plays 4C KC 9C
"""
"""Seat 0 is to play, and holds 2C 6C TC 6D TD 3H QH 2S 3S 7S 9S TS JS."""


def holding(cards: str, legal: tuple[Action, ...], *, players: int = 2) -> View:
    """A view of seat 0 with these cards, asked."""
    view = View(Rules.of(players), Seat(0))
    hand = parse_cards(cards)
    view.apply(HandStarted(1, Seat(0), Seat(1), (0,) * view.variant.sides))
    view.apply(PacketDealt(Seat(0), len(hand), hand))
    view.ask(legal)
    return view


@pytest.mark.parametrize("said", ["TC", "tc", "T♣", "10c", "ct", " 3 ", "♣10"])
def test_a_card_is_named_in_many_ways_or_by_its_number(said: str) -> None:
    [card] = parse_cards("TC")
    assert understood(said, view_of(PLAYING)) == PLAYS[card]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("AC", "you do not hold AC; you may play 2C 6C TC"),
        ("2S", "clubs were led, and you have some; you may play 2C 6C TC"),
        ("4", "'4' is no card, nor a number of the list; you may play 2C 6C TC"),
        ("0", "is no card"),
        ("king", "'king' is no card"),
        ("K", "is no card"),
        ("1 2", "is no card"),
    ],
)
def test_what_cannot_be_played_is_answered_with_what_can(said: str, expected: str) -> None:
    answer = understood(said, view_of(PLAYING))
    assert isinstance(answer, Misunderstood)
    assert expected in answer.why


@pytest.mark.parametrize("said", ["S", "♠", "spades", "Spade", "4"])
def test_a_suit_is_named_by_letter_sign_word_or_number(said: str) -> None:
    view = holding("2C 3C 4C 5C 6C", DECLARATIONS[:4])
    assert understood(said, view) == DECLARATIONS[Trump.SPADES]


def test_a_mode_is_named_where_it_may_be() -> None:
    with_modes = holding("2C 3C 4C 5C 6C", DECLARATIONS)
    assert understood("tak_nar", with_modes) == DECLARATIONS[Trump.TAK_NAR]
    answer = understood("sar", holding("2C 3C 4C 5C 6C", DECLARATIONS[:4]))
    assert isinstance(answer, Misunderstood)
    assert answer.why.endswith("name one of 1 C, 2 D, 3 H, 4 S")


@pytest.mark.parametrize("said", ["2C 4C 6C", "6c,2c, 4♣", "1 3 5", "5/3/1"])
def test_cards_to_lay_away_are_said_in_one_line(said: str) -> None:
    three = (DiscardCards(parse_cards("2C 3C 4C")),)
    answer = understood(said, holding("2C 3C 4C 5C 6C", three))
    assert isinstance(answer, DiscardCards)
    assert set(answer.cards) == set(parse_cards("2C 4C 6C"))


@pytest.mark.parametrize("said", ["2C 4C", "2C 2C 4C", "2C 3C 4C 5C", "2C 3C AS", "2C 3C 9", "x"])
def test_other_cards_are_not_laid_away(said: str) -> None:
    three = (DiscardCards(parse_cards("2C 3C 4C")),)
    answer = understood(said, holding("2C 3C 4C 5C 6C", three))
    assert isinstance(answer, Misunderstood)
    assert answer.why.endswith("lay away 3 different cards of 2C 3C 4C 5C 6C")


def test_a_draw_is_kept_or_refused() -> None:
    view = holding("2C 3C", DRAWS)
    assert [understood(word, view) for word in ("k", "KEEP", "r", "refuse")] == [
        DRAWS[0],
        DRAWS[0],
        DRAWS[1],
        DRAWS[1],
    ]
    assert isinstance(understood("2", view), Misunderstood)


def test_a_cut_is_a_number_of_cards() -> None:
    view = holding("", CUTS, players=4)
    assert understood("51", view) == CUTS[50]
    assert all(isinstance(understood(said, view), Misunderstood) for said in ("0", "52", "half"))


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("", Wish.TABLE),
        ("T", Wish.LAST_TRICK),
        ("?", Wish.HELP),
        ("q", Wish.LEAVE),
        ("Quit", Wish.LEAVE),
    ],
)
def test_a_wish_is_one_whatever_is_asked(said: str, wish: Wish) -> None:
    for legal in (CUTS, DECLARATIONS, DRAWS, (DiscardCards(()),), PLAYS[:1]):
        view = holding("2C", legal)
        assert understood(said, view) is wish
        assert question(view)
    assert "q " in HELP
