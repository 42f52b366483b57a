"""A position that a bot simulates and a deal that a referee plays are the same game."""

import doctest
from random import Random

import pytest

import hokm.rules.position
from hokm.actions import DECLARATIONS, PLAYS, DeclareTrump, PlayCard
from hokm.cards import CARDS, NO_CARDS, Card, CardSet, Seat, Trump, card_set, cards_in
from hokm.rules.deal import Deal
from hokm.rules.options import Rules
from hokm.rules.position import Position
from hokm.rules.variants import variant_of
from hokm.view import View
from tests.hokm.positions import cards, dealt, play, rules

MODES = "suit,sar,nar,tak_nar"
TABLES = [
    rules(4, modes=MODES),
    rules(4, modes=MODES, play_out="on", kot_in_modes="on", pause_after="first_round"),
    rules(3, modes=MODES),
    rules(2, modes=MODES),
    rules(2, modes=MODES, play_out="on"),
]
HANDS = 286
"""Hands at each table and trump, which makes 10,010."""


def name_of(value: object) -> str:
    if isinstance(value, Rules):
        return f"{value.players}-{'out' if value.play_out else 'stop'}"
    return value.name if isinstance(value, Trump) else str(value)


def to_the_tricks(table: Rules, rng: Random, *, trump: Trump, views: list[View]) -> Deal:
    """A random deal with that trump, up to the first lead, and the views of it."""
    deck = list(variant_of(table).pack)
    rng.shuffle(deck)
    deal = Deal(table, deck, hakem=Seat(rng.randrange(table.players)))
    events = deal.start()
    while not isinstance(action := rng.choice(deal.legal_actions()), PlayCard):
        seat = deal.to_act
        assert seat is not None
        events += deal.act(
            seat, DECLARATIONS[trump] if isinstance(action, DeclareTrump) else action
        )
    for view in views:
        view.hakem = deal.hakem
        for event in events:
            view.apply(event.seen_by(view.seat))
    return deal


def same(position: Position, deal: Deal) -> bool:
    return (
        position.hands == deal.hands
        and position.is_over == deal.is_over
        and position.result == deal.result
        and position.taken == deal.taken
        and position.trick == deal.trick
        and position.led == deal.led
        and (deal.is_over or position.turn == deal.to_act)
        and (not deal.trick or position.winning == deal.winning)
    )


@pytest.mark.parametrize("trump", Trump, ids=name_of)
@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_ten_thousand_hands_go_the_same_way_in_both_forms(table: Rules, trump: Trump) -> None:
    rng = Random(trump)
    for _ in range(HANDS):
        deal = to_the_tricks(table, rng, trump=trump, views=[])
        position = Position.of_deal(deal)
        while not deal.is_over:
            assert same(position, deal)
            assert [PLAYS[card] for card in position.playable] == list(deal.legal_actions())
            assert position.playable == cards_in(position.playable_set)
            card = rng.choice(position.playable)
            deal.act(position.turn, PLAYS[card])
            position.play(card)
        assert same(position, deal)
        assert sum(position.tricks_won) == len(deal.taken)


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_a_position_can_be_taken_up_anywhere_from_the_deal_and_from_every_view(
    table: Rules,
) -> None:
    rng = Random(table.players)
    views = [View(table, Seat(seat)) for seat in range(table.players)]
    deal = to_the_tricks(table, rng, trump=Trump.NAR, views=views)
    position = Position.of_deal(deal)
    while not deal.is_over:
        assert same(Position.of_deal(deal), deal)
        for view in views:
            assert same(Position.of_view(view, deal.hands), deal)
        card = rng.choice(position.playable)
        for event in deal.act(position.turn, PLAYS[card]):
            for view in views:
                view.apply(event.seen_by(view.seat))
        position.play(card)
    assert same(Position.of_deal(deal), deal)


def test_playing_a_copy_leaves_the_position_as_it_was() -> None:
    deal = dealt(rules(4), {0: "AS KS"}, trump=Trump.SPADES)
    play(deal, "AS")
    position = Position.of_deal(deal)
    line = position.copy()
    while not line.is_over:
        line.play(line.playable[-1])
    assert same(position, deal)
    assert not same(line, deal)


def test_a_position_begins_with_the_tricks() -> None:
    before_trump = dealt(rules(4), {})
    with pytest.raises(ValueError, match="begins with the tricks"):
        Position.of_deal(before_trump)
    with_a_stock = dealt(rules(2), {}, trump=Trump.CLUBS)
    with pytest.raises(ValueError, match="begins with the tricks"):
        Position.of_deal(with_a_stock)
    view = View(rules(4), Seat(0))
    with pytest.raises(ValueError, match="before them"):
        Position.of_view(view, [NO_CARDS] * 4)


def view_of_seat_1() -> tuple[View, list[CardSet]]:
    """A four-seat hand after the first lead, as seat 1 sees it, and where the cards lie."""
    views = [View(rules(4), Seat(1))]
    deal = to_the_tricks(rules(4), Random(1), trump=Trump.HEARTS, views=views)
    seat = deal.to_act
    assert seat is not None
    for event in deal.act(seat, deal.legal_actions()[0]):
        views[0].apply(event)
    return views[0], list(deal.hands)


def test_hands_that_cannot_be_are_refused() -> None:
    view, hands = view_of_seat_1()
    other = next(seat for seat in (0, 2, 3) if view.counts[seat] == 13)
    another = next(seat for seat in (3, 2, 0) if view.counts[seat] == 13)

    def refusal(**changed: int) -> str:
        wrong = [CardSet(changed.get(f"seat_{seat}", hand)) for seat, hand in enumerate(hands)]
        with pytest.raises(ValueError, match=r"seat") as refused:
            Position.of_view(view, wrong)
        return str(refused.value)

    Position.of_view(view, hands)
    with pytest.raises(ValueError, match="4 seats, not 3"):
        Position.of_view(view, hands[:3])
    assert "deal the other seats" in refusal(seat_1=hands[other])
    lowest = cards_in(hands[other])[0]
    assert "holds 13 cards, not 12" in refusal(**{f"seat_{other}": hands[other] ^ lowest.bit})
    played = view.trick[0].card
    exchanged = hands[other] ^ lowest.bit ^ played.bit
    assert f"cannot hold {played}" in refusal(**{f"seat_{other}": exchanged})
    assert "seen, or dealt twice" in refusal(**{f"seat_{another}": hands[other]})


def test_a_position_can_be_written_down_in_the_middle_of_a_trick() -> None:
    position = Position(
        variant_of(rules(3)),
        [card_set(cards(text)) for text in ("2H", "3H 4H", "5H")],
        hakem=Seat(0),
        trump=Trump.TAK_NAR,
        leader=Seat(2),
        trick=cards("6H"),
    )
    assert (position.turn, position.winning) == (0, 2)
    position.play(Card.parse("2H"))
    position.play(Card.parse("3H"))
    assert (position.turn, position.taken, position.led) == (0, [0], None)
    with pytest.raises(ValueError, match="3 seats, not 2"):
        Position(variant_of(rules(3)), [NO_CARDS] * 2, hakem=Seat(0), trump=Trump.SAR)


def test_the_examples_in_its_docstrings_run() -> None:
    results = doctest.testmod(hokm.rules.position)
    assert results.attempted
    assert not results.failed


def test_a_bot_can_sample_what_it_does_not_see_and_play_on() -> None:
    view, _ = view_of_seat_1()
    rng = Random(2)
    for _ in range(20):
        hidden = rng.sample(view.unseen, len(view.unseen))
        hands = [
            view.hand_set
            if seat == view.seat
            else card_set(hidden.pop() for _ in range(view.counts[seat]))
            for seat in range(4)
        ]
        position = Position.of_view(view, hands)
        while not position.is_over:
            position.play(rng.choice(position.playable))
        assert position.result is not None
        assert sum(position.result.points) in (1, 2, 3)
    assert len(view.seen) + len(view.unseen) == len(CARDS)
