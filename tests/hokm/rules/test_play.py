"""Playing to a trick and taking it (cases 15 to 24)."""

from itertools import pairwise

import pytest

from hokm.actions import DECLARATIONS, DRAWS, PLAYS, DiscardCards
from hokm.cards import CARDS, Card, Seat, Suit, Trump
from hokm.errors import IllegalAction, Reason
from hokm.events import TrickTaken
from hokm.rules.deal import Deal
from hokm.rules.tricks import STRENGTH, taker
from tests.hokm.positions import cards, dealt, go_on, held, play, refusal, rules

ONE_SUIT_EACH = {
    0: "C:23456789TJQKA",
    1: "D:23456789TJQKA",
    2: "H:23456789TJQKA",
    3: "S:23456789TJQKA",
}


def one_suit_each(*, hakem: int = 0, trump: Trump = Trump.SPADES) -> Deal:
    return dealt(rules(4), ONE_SUIT_EACH, hakem=hakem, trump=trump)


def hearts_led(*, seat_1: str) -> Deal:
    """Seat 0 led the heart king, spades are trump; seat 1 holds those cards among others."""
    deal = dealt(rules(4), {0: "KH", 1: seat_1}, trump=Trump.SPADES)
    play(deal, "KH")
    return deal


@pytest.mark.rule("8.15")
@pytest.mark.parametrize("seat", [1, 2, 3])
def test_case_15_the_hakem_leads_the_first_trick(seat: int) -> None:
    deal = one_suit_each()
    assert refusal(deal, seat, PLAYS[held(deal, seat)[0]]) is Reason.NOT_YOUR_TURN
    assert deal.to_act == 0


@pytest.mark.rule("8.16")
def test_case_16_who_holds_the_led_suit_follows() -> None:
    deal = hearts_led(seat_1="2H AS C:23456789TJQ")
    assert refusal(deal, 1, PLAYS[Card.parse("AS")]) is Reason.MUST_FOLLOW_SUIT
    assert deal.legal_actions() == (PLAYS[Card.parse("2H")],)


@pytest.mark.rule("8.17")
def test_case_17_who_is_void_may_play_any_card() -> None:
    deal = hearts_led(seat_1="AS C:23456789TJQK")
    assert deal.legal_actions() == tuple(PLAYS[card] for card in held(deal, 1))
    play(deal, "3C")
    assert deal.to_act == 2


@pytest.mark.rule("8.18")
def test_case_18_only_cards_in_hand_are_played() -> None:
    deal = dealt(rules(4), {0: "C:AK", 1: "C:23", 2: "C:45", 3: "C:67"}, trump=Trump.SPADES)
    play(deal, "AC 2C 4C 6C")
    anothers, played_before = Card.parse("3C"), Card.parse("AC")
    assert refusal(deal, 0, PLAYS[anothers]) is Reason.NOT_IN_HAND
    assert refusal(deal, 0, PLAYS[played_before]) is Reason.NOT_IN_HAND


@pytest.mark.rule("7")
def test_the_text_is_the_same_whether_a_card_is_anothers_played_or_undrawn() -> None:
    deal = dealt(rules(2), {0: "C:AK2", 1: "C:345"}, trump=Trump.SPADES)
    undrawn, anothers = Card.parse("QS"), Card.parse("3C")
    texts = []
    for card in (undrawn, anothers):
        with pytest.raises(IllegalAction) as refused:
            deal.act(Seat(0), DiscardCards((*held(deal, 0)[:2], card)))
        texts.append(str(refused.value).replace(str(card), "?"))
    go_on(deal, [DiscardCards(held(deal, 0)[:3]), DiscardCards(held(deal, 1)[:2])])
    go_on(deal, [DRAWS[0]] * 21)
    play(deal, f"{held(deal, 0)[-1]}")
    [played] = deal.trick
    play(deal, f"{next(action.card for action in deal.legal_actions())}")  # type: ignore[union-attr]
    discarded = next(card for card in CARDS if deal.discarded[1] & card.bit)
    anothers = held(deal, 1 - deal.turn)[0]
    for card in (played, discarded, anothers):
        with pytest.raises(IllegalAction) as refused:
            deal.act(deal.turn, PLAYS[card])
        texts.append(str(refused.value).replace(str(card), "?").replace(f"{deal.turn}", "0"))
    assert len(set(texts)) == 1, texts


@pytest.mark.rule("8.19")
def test_case_19_the_lead_takes_where_nobody_follows_or_trumps() -> None:
    deal = dealt(
        rules(4),
        {0: "C:23456789TJQKA", 1: "AD", 2: "KH", 3: "3D"},
        trump=Trump.SPADES,
    )
    assert play(deal, "2C AD KH 3D")[-1] == TrickTaken(Seat(0))
    assert deal.to_act == 0


@pytest.mark.rule("8.20")
def test_case_20_the_lowest_trump_takes_from_aces() -> None:
    deal = dealt(
        rules(4),
        {0: "AH", 1: "KH", 2: "2S C:23456789TJQK", 3: "QH"},
        trump=Trump.SPADES,
    )
    assert play(deal, "AH KH 2S QH")[-1] == TrickTaken(Seat(2))
    assert deal.to_act == 2


@pytest.mark.rule("8.21")
def test_case_21_the_highest_trump_takes() -> None:
    deal = dealt(
        rules(4),
        {
            0: "H:23456789TJQKA",
            1: "2S C:23456789TJQK",
            2: "QS AC D:23456789TJQ",
            3: "5S",
        },
        trump=Trump.SPADES,
    )
    assert play(deal, "AH 2S QS 5S")[-1] == TrickTaken(Seat(2))


@pytest.mark.rule("8.22")
def test_case_22_aces_of_other_suits_take_nothing() -> None:
    deal = dealt(
        rules(4),
        {0: "4H", 1: "D:23456789TJQKA", 2: "C:23456789TJQKA", 3: "3H"},
        trump=Trump.SPADES,
    )
    assert play(deal, "4H AD AC 3H")[-1] == TrickTaken(Seat(0))


@pytest.mark.rule("8.23")
def test_case_23_a_card_sent_before_its_turn_is_refused_and_not_kept() -> None:
    deal = dealt(rules(4), {0: "C:AK", 1: "C:23", 2: "C:45", 3: "C:67"}, trump=Trump.SPADES)
    play(deal, "AC")
    assert refusal(deal, 2, PLAYS[Card.parse("4C")]) is Reason.NOT_YOUR_TURN
    play(deal, "2C")
    assert deal.to_act == 2
    assert [str(card) for card in deal.trick] == ["AC", "2C"]


@pytest.mark.rule("8.24")
def test_case_24_a_second_card_from_the_last_seat_is_refused_and_the_first_stands() -> None:
    deal = dealt(rules(4), {0: "C:AK", 1: "C:23", 2: "C:45", 3: "C:67"}, trump=Trump.SPADES)
    play(deal, "AC 2C 4C 6C")
    assert refusal(deal, 3, PLAYS[Card.parse("7C")]) is Reason.NOT_YOUR_TURN
    assert deal.taken == [0]
    assert Card.parse("6C") not in held(deal, 3)
    assert Card.parse("7C") in held(deal, 3)


@pytest.mark.rule("1.4")
def test_trump_may_be_led() -> None:
    deal = one_suit_each(trump=Trump.CLUBS)
    assert len(deal.legal_actions()) == 13
    assert play(deal, "2C AD AH AS")[-1] == TrickTaken(Seat(0))


@pytest.mark.rule("1.5")
def test_who_takes_leads_the_next_trick() -> None:
    deal = one_suit_each()
    play(deal, "2C 2D 2H 2S")
    assert deal.to_act == 3


@pytest.mark.rule("1.5")
@pytest.mark.parametrize("trump", list(Trump)[:4])
@pytest.mark.parametrize("led", list(Suit))
def test_trumps_beat_the_led_suit_and_that_the_rest_each_by_rank(trump: Trump, led: Suit) -> None:
    order = "23456789TJQKA"

    def expected(card: Card) -> int:
        height = 1 + order.index(str(card)[0])
        if str(card)[1] == trump.letter:
            return 100 + height
        return height if str(card)[1] == led.letter else 0

    strength = STRENGTH[trump][led]
    for one in CARDS:
        for other in CARDS:
            assert (strength[one] > strength[other]) == (expected(one) > expected(other))


@pytest.mark.rule("5")
@pytest.mark.parametrize(
    ("mode", "order"),
    [
        (Trump.SAR, "23456789TJQKA"),
        (Trump.NAR, "AKQJT98765432"),
        (Trump.TAK_NAR, "KQJT98765432A"),
    ],
)
def test_a_mode_has_its_order_of_ranks_and_no_trump(mode: Trump, order: str) -> None:
    for lower, higher in pairwise(order):
        assert taker(cards(f"{lower}H {higher}H AS AC"), trump=mode) == 1
        assert taker(cards(f"{higher}H {lower}H 2S 2C"), trump=mode) == 0


def test_the_hand_that_is_over_takes_no_card() -> None:
    deal = one_suit_each(hakem=3)
    for _ in range(7):
        for _ in range(4):
            assert deal.to_act is not None
            deal.act(deal.to_act, deal.legal_actions()[0])
    assert deal.is_over
    assert deal.to_act is None
    assert deal.legal_actions() == ()
    assert refusal(deal, 3, PLAYS[held(deal, 3)[0]]) is Reason.WRONG_PHASE
    assert refusal(deal, 3, DECLARATIONS[0]) is Reason.ALREADY_DECLARED
