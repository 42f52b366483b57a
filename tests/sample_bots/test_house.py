"""The advice that the bot `house` follows, a position each."""

import runpy
from typing import Any

import pytest

from arena.ladder.bots.entrants import SAMPLES
from hokm import Bot, Card, Rules, Seat, Suit, Trump, View, parse_cards
from hokm.actions import CutDeck
from hokm.events import CardOffered, CardPlayed, HandStarted, PacketDealt, TrickTaken, TrumpDeclared
from hokm.rules.game import Race
from hokm.rules.options import Play
from hokm.testing import seeds

ME = Seat(0)


@pytest.fixture(scope="module")
def house() -> Bot:
    bot: Bot = runpy.run_path(str(SAMPLES / "house" / "bot.py"))["House"]()
    return bot


def view(
    hand: str,
    *,
    trump: Trump = Trump.SPADES,
    played: str = "",
    lost: tuple[str, ...] = (),
    leader: int = 1,
    players: int = 4,
    **options: str,
) -> View:
    """What seat 0 sees: ``hand`` is left, ``lost`` are tricks that ``leader`` led and took,
    ``played`` are the cards on the table, the last of them by the seat before.
    """
    seen = View(Rules.of(players, options=options), ME)
    own = [parse_cards(trick)[-leader % players] for trick in lost]
    seen.apply(HandStarted(1, ME, Seat(players - 1), seen.scores))
    seen.apply(PacketDealt(ME, len(own) + len(parse_cards(hand)), (*own, *parse_cards(hand))))
    seen.apply(TrumpDeclared(ME, trump))
    for trick in lost:
        for place, card in enumerate(parse_cards(trick), start=leader):
            seen.apply(CardPlayed(Seat(place % players), card))
        seen.apply(TrickTaken(Seat(leader)))
    cards = parse_cards(played)
    for place, card in enumerate(cards, start=players - len(cards)):
        seen.apply(CardPlayed(Seat(place), card))
    return seen


def card(text: str) -> Card:
    return Card.parse(text)


def test_names_the_longest_suit(house: Bot) -> None:
    assert house.declare(view("2H 3H 4H AS 9C")) is Suit.HEARTS


def test_of_two_long_suits_names_the_one_with_ace_and_king(house: Bot) -> None:
    assert house.declare(view("AC KC JD QD 4S")) is Suit.CLUBS
    assert house.declare(view("JC QC AD KD 4S")) is Suit.DIAMONDS


def test_names_nar_with_low_cards_and_no_suit_where_the_table_allows_it(house: Bot) -> None:
    low = "2H 3H 2C 9D KS"
    assert house.declare(view(low, modes="suit,nar")) is Trump.NAR
    assert house.declare(view(low)) is Suit.HEARTS
    assert house.declare(view("2H 3H 4H 2C 2D", modes="suit,nar")) is Suit.HEARTS
    assert house.declare(view("3H 4H 2C 9D KS", modes="suit,nar")) is Suit.HEARTS


def test_cashes_a_side_ace_early(house: Bot) -> None:
    assert house.play(view("AH 2H 3C 9C 5S 6S")) == card("AH")


def test_draws_trumps_with_a_long_suit_and_its_ace(house: Bot) -> None:
    assert house.play(view("AS KS QS 8S 7S AH 3C 4D")) == card("AS")


def test_a_king_is_good_once_the_ace_is_gone(house: Bot) -> None:
    hand = "KH 2H 3D 5S"
    assert house.play(view(hand)) != card("KH")
    assert house.play(view(hand, lost=("AH 3H 4H 2H",))) == card("KH")


def test_opens_a_short_suit_before_it_cashes_against_a_lone_opponent(house: Bot) -> None:
    hand = "AH 3H 4H QD 5S 6S"
    assert house.play(view(hand, players=2)) == card("QD")
    assert house.play(view(hand, players=3)) == card("AH")


def test_opens_the_longest_suit_without_trumps_to_come(house: Bot) -> None:
    assert house.play(view("2H 3H 4H 2D")) == card("2H")
    assert house.play(view("2H 3H 4H 2D 2S")) == card("2D")


def test_takes_last_with_the_cheapest_card_that_takes(house: Bot) -> None:
    assert house.play(view("AH QH JH 2H", played="TH 4H 5H")) == card("JH")


def test_does_not_trump_what_the_partner_takes(house: Bot) -> None:
    assert house.play(view("2S 9D KD", played="4H AH 5H")) == card("9D")


def test_trumps_a_low_card_of_the_partner_that_the_last_hand_may_beat(house: Bot) -> None:
    assert house.play(view("2S 9D KD", played="5H 3H")) == card("2S")


def test_leaves_a_low_lead_to_the_partner_where_a_trump_may_be_beaten(house: Bot) -> None:
    followed, void = ("AH 2H 4H 3H",), ("AH 2H 4D 3H",)  # by seats 3, 0, 1 and 2
    assert house.play(view("2S 9D KC", played="5H", lost=followed, leader=3)) == card("2S")
    assert house.play(view("2S 9D KC", played="5H", lost=void, leader=3)) == card("9D")


def test_third_hand_plays_high(house: Bot) -> None:
    assert house.play(view("KH JH 2H", played="5H 7H")) == card("KH")


def test_second_hand_plays_low(house: Bot) -> None:
    assert house.play(view("KH JH 2H", played="5H")) == card("2H")


def test_second_hand_plays_high_when_one_trick_saves_from_kot(house: Bot) -> None:
    lost = ("AC 3C 4C 2C", "KC 6C 7C 5C", "AD 3D 4D 2D", "KD 6D 7D 5D", "QC 9C TC 8C")
    assert house.play(view("KH JH 2H", played="5H", lost=lost)) == card("KH")
    assert house.play(view("KH JH 2H", played="5H", lost=lost[:4])) == card("2H")


def test_throws_from_a_short_suit_to_trump_it_later(house: Bot) -> None:
    assert house.play(view("2C 3C 4C 6D 3S", played="4H AH 5H")) == card("6D")
    assert house.play(view("2C 3C 4C 6D", played="4H AH 5H")) == card("2C")


def test_with_the_order_reversed_a_two_is_high(house: Bot) -> None:
    assert house.play(view("2H 9H AH", trump=Trump.NAR)) == card("2H")
    assert house.play(view("3H 9H AH", trump=Trump.NAR, played="4H 2H 5H")) == card("AH")
    assert house.play(view("3H 9H AH", trump=Trump.TAK_NAR, played="4H 2H 5H")) == card("9H")
    assert house.play(view("3H 9H AH", trump=Trump.SAR, played="4H TH 5H")) == card("3H")


ALL_MODES = "suit,sar,nar,tak_nar"


def in_mode(hand: str, mode: Trump, played: str = "", **also: Any) -> View:
    """What seat 0 sees in a hand without trumps."""
    return view(hand, trump=mode, played=played, modes=ALL_MODES, **also)


def test_in_sar_cashes_what_stands_and_has_no_trumps_to_wait_for(house: Bot) -> None:
    assert house.play(in_mode("AH 4H 2S 3S KC", Trump.SAR)) == card("AH")
    assert house.play(in_mode("KH 4H 2S 3S 5S", Trump.SAR)) == card("2S"), "the longest suit, low"
    # With spades as trumps the same hand opens its shortest suit, to trump it soon.
    assert house.play(view("KH 4H 2S 3S 5S")) == card("4H")


def test_in_sar_a_card_of_another_suit_takes_nothing_and_the_cheapest_goes(house: Bot) -> None:
    assert house.play(in_mode("AS KS 3C 9C", Trump.SAR, "TH 4H 5H")) == card("3C")
    assert house.play(in_mode("AH KH 3H", Trump.SAR, "TH 4H 5H")) == card("KH")
    assert house.play(in_mode("AH KH 3H", Trump.SAR, "4H QH 5H")) == card("3H"), "the partner's"


def test_in_tak_nar_the_ace_stands_before_the_two_and_a_king_is_lowest(house: Bot) -> None:
    assert house.play(in_mode("AH 2C 5S KS", Trump.TAK_NAR)) == card("AH")
    assert house.play(in_mode("2H KH 5S KS", Trump.TAK_NAR)) == card("KH")
    gone = ("AH QH JH 9H",)
    assert house.play(in_mode("2H KH 5S KS", Trump.TAK_NAR, lost=gone)) == card("2H")
    assert house.play(in_mode("2C 9C KC", Trump.TAK_NAR, "TH 4H 5H")) == card("KC")


def test_in_tak_nar_the_third_hand_plays_high_and_the_last_as_low_as_takes(house: Bot) -> None:
    assert house.play(in_mode("2H 3H KH", Trump.TAK_NAR, "9H TH")) == card("2H")
    assert house.play(in_mode("2H 3H KH", Trump.TAK_NAR, "9H TH 4H")) == card("3H")
    assert house.play(in_mode("AH 2H KH", Trump.TAK_NAR, "TH 9H 3H")) == card("2H")


@pytest.mark.parametrize("mode", [Trump.SAR, Trump.NAR, Trump.TAK_NAR])
@pytest.mark.parametrize("kot_in_modes", ["on", "off"])
def test_takes_the_trick_that_saves_from_kot_in_every_mode(
    house: Bot, mode: Trump, kot_in_modes: str
) -> None:
    clubs, diamonds = ("AC 3C 4C 2C", "KC 6C 7C 5C"), ("AD 3D 4D 2D", "KD 6D 7D 5D", "QD 9D TD 8D")
    # Second hand with a high card that another of its suit beats; the lowest is kept for later.
    hand, high, low = {
        Trump.SAR: ("KH JH 2H", "KH", "2H"),
        Trump.NAR: ("3H 9H AH", "3H", "AH"),
        Trump.TAK_NAR: ("2H 9H KH", "2H", "KH"),
    }[mode]
    played = "5H" if mode is Trump.SAR else "TH"
    for lost, expected in (((*clubs, *diamonds), high), ((*clubs, *diamonds[:2]), low)):
        seen = in_mode(hand, mode, played, lost=lost, kot_in_modes=kot_in_modes)
        assert house.play(seen) == card(expected)


@pytest.mark.parametrize("hand", ["2H 3H 2C 9D KS", "2H 3H 4H AS 9C", "AC KC JD QD 4S"])
def test_names_the_same_whether_or_not_a_mode_counts_kot(house: Bot, hand: str) -> None:
    on, off = (
        house.declare(view(hand, modes=ALL_MODES, kot_in_modes=text)) for text in ("on", "off")
    )
    assert on == off == house.declare(view(hand, modes="suit,nar"))


def test_cuts_as_the_rules_let_it(house: Bot) -> None:
    """A pack is shuffled well: no cut is better than another, and house keeps the SDK's."""
    rules = Rules.of(4, play=Play.RACE, options={"cut": "on"})
    game = Race(rules, seeds("cut"))
    game.start()
    assert CutDeck(house.cut(View(rules, ME))) in game.legal_actions()


def test_keeps_a_trump_and_refuses_a_low_card(house: Bot) -> None:
    seen = view("2S 9D", players=2)
    for offered, keep in (("3S", True), ("AH", True), ("4H", False)):
        seen.apply(CardOffered(ME, 42, card(offered)))
        assert house.keep(seen) is keep


def test_leads_high_against_a_lone_opponent(house: Bot) -> None:
    assert house.play(view("QH 2H 3D 9D TD 5S", players=2)) == card("QH")
    assert house.play(view("QH 2H 3D 9D TD 5S", players=4)) == card("2H")
