"""From the deck to thirteen cards each, and the declaration between (cases 7 to 14)."""

import pytest

from hokm.actions import DECLARATIONS, PLAYS, CutDeck, DeclareTrump
from hokm.cards import CARDS, Card, Seat, Suit, Trump
from hokm.deck import shuffled
from hokm.errors import IllegalAction, Reason
from hokm.events import Event, HandStarted, PacketDealt, TrumpDeclared
from hokm.rules.deal import Deal
from hokm.rules.game import Board
from hokm.rules.options import Rules
from hokm.view import View
from tests.hokm.positions import (
    deck_of,
    held,
    next_hand,
    places_of,
    race,
    race_rules,
    refusal,
    rules,
)

SPADES = DECLARATIONS[Trump.SPADES]


def paused(table: Rules, *, hakem: int = 0, seed: int = 7) -> tuple[Deal, list[Event]]:
    pack = CARDS if table.removed_two is None else [c for c in CARDS if c != 13 * table.removed_two]
    deal = Deal(table, shuffled(pack, bytes([seed]) * 32), hakem=Seat(hakem))
    return deal, deal.start()


def views_of(table: Rules, events: list[Event]) -> list[View]:
    views = [View(table, Seat(seat)) for seat in range(table.players)]
    for event in events:
        for view in views:
            view.apply(event.seen_by(view.seat))
    return views


@pytest.mark.rule("8.7")
@pytest.mark.parametrize("hakem", range(4))
@pytest.mark.parametrize(
    ("players", "pause_after", "holding_five"),
    [
        (4, "hakem", {0}),
        (4, "right_opponent", {0, 1}),
        (4, "first_round", {0, 1, 2, 3}),
        (3, "hakem", {0}),
        (3, "first_round", {0, 1, 2}),
        (2, None, {0, 1}),
    ],
)
def test_case_7_at_the_pause_only_the_seats_of_the_option_hold_five(
    players: int, pause_after: str | None, holding_five: set[int], hakem: int
) -> None:
    if hakem >= players:
        hakem = 0
    table = rules(players) if pause_after is None else rules(players, pause_after=pause_after)
    deal, events = paused(table, hakem=hakem)
    places = {(hakem + place) % players for place in holding_five}
    for view in views_of(table, events):
        assert len(view.hand) == (5 if view.seat in places else 0)
        assert view.hand == held(deal, view.seat)
        assert view.counts == tuple(5 if seat in places else 0 for seat in range(players))
    assert deal.to_act == hakem


@pytest.mark.rule("8.8")
@pytest.mark.parametrize("seat", [1, 2, 3])
def test_case_8_nobody_but_the_hakem_names_trump(seat: int) -> None:
    deal, _ = paused(rules(4))
    assert refusal(deal, seat, SPADES) is Reason.NOT_HAKEM


@pytest.mark.rule("8.9")
def test_case_9_no_card_is_played_before_trump_is_named() -> None:
    deal, _ = paused(rules(4))
    assert refusal(deal, 0, PLAYS[held(deal, 0)[0]]) is Reason.WRONG_PHASE


@pytest.mark.rule("8.10")
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("mode", [Trump.SAR, Trump.NAR, Trump.TAK_NAR])
def test_case_10_a_mode_the_table_does_not_allow_is_refused_and_the_hakem_asked_still(
    players: int, mode: Trump
) -> None:
    deal, _ = paused(rules(players))
    assert refusal(deal, 0, DeclareTrump(mode)) is Reason.BAD_DECLARATION
    assert deal.trump is None
    assert deal.to_act == 0
    deal.act(Seat(0), SPADES)


@pytest.mark.rule("8.11")
def test_case_11_a_suit_the_hakem_does_not_hold_may_be_trump() -> None:
    deal = Deal(rules(4), deck_of(rules(4), {0: "C:AKQJT"}), hakem=Seat(0))
    deal.start()
    assert all(card.suit is Suit.CLUBS for card in held(deal, 0))
    deal.act(Seat(0), SPADES)
    assert deal.trump is Trump.SPADES


@pytest.mark.rule("8.12")
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("seat", [0, 1])
def test_case_12_trump_is_named_once(players: int, seat: int) -> None:
    deal, _ = paused(rules(players))
    deal.act(Seat(0), SPADES)
    assert refusal(deal, seat, DECLARATIONS[Trump.HEARTS]) is Reason.ALREADY_DECLARED
    assert deal.trump is Trump.SPADES


@pytest.mark.rule("8.13")
@pytest.mark.parametrize(("players", "each"), [(4, 13), (3, 17)])
def test_case_13_after_the_deal_all_hold_as_many_and_together_the_pack(
    players: int, each: int
) -> None:
    deal, _ = paused(rules(players))
    deal.act(Seat(0), SPADES)
    hands = [held(deal, seat) for seat in range(players)]
    assert [len(hand) for hand in hands] == [each] * players
    assert sorted(card for hand in hands for card in hand) == sorted(deal.deck)


@pytest.mark.rule("8.14")
def test_case_14_a_new_hand_has_no_trump_yet() -> None:
    game = race(race_rules(4))
    view = View(game.rules, Seat(0))
    next_hand(game, "0")
    assert game.deal.trump is None
    view.apply(TrumpDeclared(Seat(1), Trump.HEARTS))
    view.apply(HandStarted(2, Seat(0), Seat(3), (2, 0)))
    assert view.trump is None


@pytest.mark.rule("1.10")
@pytest.mark.parametrize("pause_after", ["hakem", "right_opponent", "first_round"])
@pytest.mark.parametrize("hakem", range(4))
def test_the_pause_decides_when_cards_are_shown_and_never_which(
    pause_after: str, hakem: int
) -> None:
    deal, events = paused(rules(4, pause_after=pause_after), hakem=hakem)
    events += deal.act(Seat(hakem), SPADES)
    for seat in range(4):
        of_seat = [e for e in events if isinstance(e, PacketDealt) and e.seat == seat]
        assert [event.count for event in of_seat] == [5, 4, 4]
        got = [card for event in of_seat for card in event.cards or ()]
        assert got == [deal.deck[place] for place in places_of(4, seat, hakem=hakem)]


@pytest.mark.rule("1.10")
@pytest.mark.parametrize("hakem", range(3))
def test_three_seats_are_dealt_in_packets_of_5_4_4_4(hakem: int) -> None:
    deal, events = paused(rules(3), hakem=hakem)
    events += deal.act(Seat(hakem), SPADES)
    for seat in range(3):
        of_seat = [e for e in events if isinstance(e, PacketDealt) and e.seat == seat]
        assert [event.count for event in of_seat] == [5, 4, 4, 4]
        got = [card for event in of_seat for card in event.cards or ()]
        assert got == [deal.deck[place] for place in places_of(3, seat, hakem=hakem)]


@pytest.mark.rule("1.11")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_boards_have_their_hakem_by_number_and_the_dealer_on_his_left(players: int) -> None:
    deck = CARDS[1:] if players == 3 else CARDS
    for number in range(1, 10):
        game = Board(rules(players), deck, number=number)
        hakem = Seat((number - 1) % players)
        left = Seat((hakem - 1) % players)
        assert game.start()[0] == HandStarted(1, hakem, left, (0,) * game.variant.sides)
        assert game.to_act == hakem


@pytest.mark.parametrize("number", [0, -1])
def test_boards_are_numbered_from_1(number: int) -> None:
    with pytest.raises(ValueError, match="numbered from 1"):
        Board(rules(4), CARDS, number=number)


@pytest.mark.parametrize(
    ("players", "deck"), [(4, CARDS[1:]), (3, CARDS), (3, CARDS[:-1]), (2, (*CARDS[1:], CARDS[1]))]
)
def test_a_deck_that_is_not_the_pack_is_refused(players: int, deck: tuple[Card, ...]) -> None:
    with pytest.raises(ValueError, match="cards of the pack, each once"):
        Deal(rules(players), deck, hakem=Seat(0))


@pytest.mark.rule("2.2")
def test_nobody_cuts_where_the_table_has_no_cut() -> None:
    deal, _ = paused(rules(4))
    assert refusal(deal, 2, CutDeck(20)) is Reason.WRONG_PHASE


def test_a_refusal_says_what_would_have_been_right_and_where_it_is_written() -> None:
    deal, _ = paused(rules(4))
    with pytest.raises(IllegalAction) as refused:
        deal.act(Seat(1), SPADES)
    assert str(refused.value) == "NOT_HAKEM: seat 0 is hakem and names trump (rulebook 1.3)"
    assert (refused.value.reason, refused.value.clause) == (Reason.NOT_HAKEM, "1.3")
