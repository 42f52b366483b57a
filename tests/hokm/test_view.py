"""A view holds what its seat was shown, all of it and no more (rulebook 6)."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hokm.actions import DECLARATIONS, ChooseDraw, DiscardCards, Draw, PlayCard
from hokm.cards import CARDS, Card, Seat, Suit, Trump, cards_in
from hokm.events import (
    CardOffered,
    CardPlayed,
    CardsDiscarded,
    CardTurned,
    DrawChosen,
    Event,
    HandEnded,
    HandStarted,
    PacketDealt,
    PartnerDrawn,
    TrickTaken,
)
from hokm.rules.deal import Deal
from hokm.rules.game import Game
from hokm.rules.options import Play, Rules, Teams
from hokm.view import View
from tests.hokm.positions import dealt, play, rules
from tests.hokm.random_play import SEEDS, random_game, tables

ORDERS = {Trump.NAR: "AKQJT98765432", Trump.TAK_NAR: "KQJT98765432A"}


def order_of(deal: Deal) -> str:
    """Ranks from low to high; trump alone changes them (rulebook 5)."""
    return "23456789TJQKA" if deal.trump is None else ORDERS.get(deal.trump, "23456789TJQKA")


EITHER = st.sampled_from(Play).flatmap(tables)


def watched(table: Rules, seed: int) -> Iterator[tuple[Game, list[View], list[Event]]]:
    """A random game with a view for each seat; the events so far are whole."""
    views = [View(table, Seat(seat)) for seat in range(table.players)]
    events: list[Event] = []
    for game, happened in random_game(table, seed):
        events += happened
        for view in views:
            for event in happened:
                view.apply(event.seen_by(view.seat))
        yield game, views, events


@given(EITHER, SEEDS)
def test_a_view_counts_as_the_deal_does(table: Rules, seed: int) -> None:
    for game, views, _ in watched(table, seed):
        deal = game.deal
        for view in views:
            assert view.hand_set == deal.hands[view.seat]
            assert view.hand == cards_in(deal.hands[view.seat])
            assert view.counts == tuple(len(cards_in(hand)) for hand in deal.hands)
            assert view.trump is deal.trump
            assert view.cut == deal.cut
            assert all(
                view.height(card) == order_of(deal).index(card.rank.letter) + 1
                for card in view.hand
            )
            assert view.hakem == deal.hakem
            assert view.hand_number == game.hand_number
            assert view.scores == game.scores
            assert [view.variant.side_of[trick.taker] for trick in view.tricks] == deal.taken
            assert sum(view.tricks_won) == len(deal.taken)
            assert [play.card for play in view.trick] == deal.trick
            if deal.trick:
                assert view.winning is not None
                assert view.winning.seat == deal.winning
            if view.seat == deal.to_act and isinstance(game.legal_actions()[0], PlayCard):
                playable = [
                    action.card for action in game.legal_actions() if isinstance(action, PlayCard)
                ]
                assert list(view.playable) == playable


@settings(max_examples=50)
@given(tables(), SEEDS)
def test_seen_and_unseen_are_all_the_cards_and_seen_is_what_was_shown(
    table: Rules, seed: int
) -> None:
    for _, views, events in watched(table, seed):
        for view in views:
            removed = [card for card in CARDS if card not in view.variant.pack]
            assert sorted((*view.seen, *view.unseen)) == list(CARDS)
            assert set(view.seen) == {*shown_to(view.seat, events), *removed}
            assert not set(view.hand) & set(view.discarded)
            assert {*view.hand, *view.discarded} <= set(view.seen)


def shown_to(seat: Seat, events: list[Event]) -> set[Card]:
    """Rulebook 6, said once more: the cards a seat is shown in a hand."""
    shown: set[Card] = set()
    for event in events:
        match event:
            case PacketDealt(receiver, _, cards) if receiver == seat:
                shown |= set(cards or ())
            case CardOffered(drawer, _, Card() as card) if drawer == seat:
                shown.add(card)
            case DrawChosen(drawer, _, Card() as second, _) if drawer == seat:
                shown.add(second)
            case CardPlayed(_, card):
                shown.add(card)
    return shown


@given(EITHER, SEEDS)
def test_a_suit_a_seat_has_shown_to_lack_is_a_suit_it_lacks(table: Rules, seed: int) -> None:
    for game, views, _ in watched(table, seed):
        for view in views:
            for seat, suits in enumerate(view.voids):
                assert all(not game.deal.hands[seat] & suit.cards for suit in suits)


@given(tables(), SEEDS)
def test_who_did_not_follow_is_known_to_lack_the_suit(table: Rules, seed: int) -> None:
    for _, views, _ in watched(table, seed):
        for view in views:
            for trick in view.tricks:
                assert trick.plays[0].seat == trick.leader
                for one in trick.plays:
                    if one.card.suit is not trick.led:
                        assert trick.led in view.voids[one.seat]


@settings(max_examples=30)
@given(st.sampled_from(["on", "off"]), SEEDS)
def test_the_draw_as_each_seat_follows_it(public: str, seed: int) -> None:
    table = rules(2, draw_choice_public=public)
    for game, views, events in watched(table, seed):
        deal, drawn = game.deal, [event for event in events if isinstance(event, DrawChosen)]
        drawing = not game.is_over and isinstance(game.legal_actions()[0], ChooseDraw)
        for view in views:
            assert view.stock == 42 - 2 * len(drawn)
            assert view.drawing == (game.to_act if drawing else None)
            assert view.offered == (deal.offered if view.seat == game.to_act else None)
            assert view.draws == tuple(
                (event.seat, event.choice if public == "on" or event.seat == view.seat else None)
                for event in drawn
            )
            assert set(view.discarded) == set(cards_in(deal.discarded[view.seat]))


@settings(max_examples=20)
@given(tables(Play.RACE), SEEDS)
def test_a_race_as_each_seat_follows_it(table: Rules, seed: int) -> None:
    for game, views, events in watched(table, seed):
        turned = [event for event in events if isinstance(event, CardTurned)]
        drawn = [event for event in events if isinstance(event, PartnerDrawn)]
        assert len(drawn) == (table.teams is Teams.SECOND_ACE)
        results = [event.result for event in events if isinstance(event, HandEnded)]
        for view in views:
            assert [(play.seat, play.card) for play in view.turned] == [
                (event.seat, event.card) for event in turned
            ]
            assert view.partner_drawn == (drawn[0] if drawn else None)
            assert list(view.results) == results
            assert view.dealer == game.variant.dealer_for(view.hakem)
            if isinstance(events[-1], PacketDealt):  # a hand has just begun
                assert {*view.seen} - {*view.hand} == set(CARDS) - set(view.variant.pack)
                assert not view.tricks
                assert not view.trick


@pytest.mark.parametrize(
    ("players", "seat", "partner", "opponents"),
    [
        (4, 0, 2, (1, 3)),
        (4, 3, 1, (0, 2)),
        (3, 1, None, (2, 0)),
        (2, 1, None, (0,)),
    ],
)
def test_a_seat_knows_its_partner_and_its_opponents_in_order_of_play(
    players: int, seat: int, partner: int | None, opponents: tuple[int, ...]
) -> None:
    view = View(rules(players), Seat(seat))
    assert view.partner == partner
    assert view.opponents == opponents


def test_a_view_begins_with_nothing() -> None:
    view = View(rules(3), Seat(1))
    assert view.hand == view.playable == view.discarded == ()
    assert not view.tricks
    assert not view.trick
    assert view.seen == (Card.parse("2C"),)
    assert view.counts == (0, 0, 0)
    assert (view.trump, view.trump_suit, view.led, view.winning) == (None, None, None, None)
    assert view.hand_number == 0


def test_a_view_says_what_a_card_would_do() -> None:
    table = rules(4)
    deal = dealt(table, {0: "KH", 1: "2S C:23456789TJQK", 2: "AH", 3: "3H"}, trump=Trump.SPADES)
    view = View(table, Seat(3))
    assert view.takes(Card.parse("2D"))
    assert view.height(Card.parse("AD")) == 13
    for event in (*DEALT_AND_DECLARED, *play(deal, "KH 2S AH")):
        view.apply(event.seen_by(Seat(3)))
    assert view.winning is not None
    assert view.winning.card == Card.parse("2S")
    assert view.led is Suit.HEARTS
    assert not view.takes(Card.parse("QH"))
    assert not view.takes(Card.parse("AC"))
    assert view.takes(Card.parse("3S"))
    assert view.height(Card.parse("2D")) == 1


DEALT_AND_DECLARED = (
    HandStarted(1, Seat(0), Seat(3), (0, 0)),
    *[PacketDealt(Seat(seat), 13, None) for seat in range(4)],
    *dealt(rules(4), {}).act(Seat(0), DECLARATIONS[Trump.SPADES])[:1],
)


def test_being_asked_is_forgotten_with_the_next_event() -> None:
    view = View(rules(4), Seat(0))
    view.ask(DECLARATIONS[:4])
    assert view.legal == DECLARATIONS[:4]
    view.apply(TrickTaken(Seat(1)))
    assert view.legal == ()


# -- what does not belong to a seat


@pytest.mark.rule("6")
@pytest.mark.parametrize(
    "event",
    [
        PacketDealt(Seat(1), 2, (Card(50), Card(51))),
        CardsDiscarded(Seat(1), 2, (Card(50), Card(51))),
        CardOffered(Seat(1), 42, Card(51)),
        DrawChosen(Seat(1), Draw.KEEP, Card(51), public=True),
        DrawChosen(Seat(1), Draw.KEEP, None, public=False),
    ],
)
def test_a_view_takes_no_event_that_says_more_than_its_seat_may_know(event: Event) -> None:
    view = View(rules(2), Seat(0))
    with pytest.raises(ValueError, match=rf"^a {type(event).__name__} is not for seat 0: ") as told:
        view.apply(event)
    assert "AS" not in str(told.value)
    assert len(view.seen) == 0
    view.apply(event.seen_by(Seat(0)))
    View(rules(2), Seat(1)).apply(event)


@given(tables(), SEEDS)
def test_what_a_seat_sees_is_seen_again_just_so(table: Rules, seed: int) -> None:
    for _, happened in random_game(table, seed):
        for event in happened:
            for seat in map(Seat, range(table.players)):
                seen = event.seen_by(seat)
                assert seen.seen_by(seat) == seen


# -- what a bot in the same process is given


def is_immutable(value: object) -> bool:
    match value:
        case None | bool() | int() | float() | str() | bytes() | Enum():
            return True
        case tuple() | frozenset():
            return all(map(is_immutable, value))
        case _ if is_dataclass(value) and not isinstance(value, type):
            frozen = value.__dataclass_params__.frozen  # type: ignore[attr-defined]
            return frozen and all(is_immutable(getattr(value, f.name)) for f in fields(value))
        case _:
            return False


@pytest.mark.rule("8.53")
@settings(max_examples=15)
@given(tables(), SEEDS)
def test_case_53_all_that_a_view_hands_out_is_immutable(table: Rules, seed: int) -> None:
    names = [name for name in dir(View(table, Seat(0))) if not name.startswith("_")]
    for game, views, events in watched(table, seed):
        assert is_immutable(tuple(events))
        assert is_immutable(game.legal_actions())
        for view in views:
            view.ask(game.legal_actions())
            for name in names:
                value = getattr(view, name)
                assert callable(value) or is_immutable(value), name


@pytest.mark.rule("8.53")
def test_case_53_nothing_a_bot_does_to_its_view_reaches_the_game() -> None:
    deal = dealt(rules(4), {}, trump=Trump.CLUBS)
    mine, others = View(rules(4), Seat(0)), View(rules(4), Seat(1))
    mine.apply(PacketDealt(Seat(0), 2, (Card(0), Card(1))))
    hands = list(deal.hands)
    mine.legal, mine.trump, mine.scores = (), Trump.NAR, (99, 0)
    assert others.scores == (0, 0)
    assert others.trump is None
    assert deal.hands == hands
    assert deal.trump is Trump.CLUBS


def test_the_test_for_immutability_tells_lists_and_dicts() -> None:
    assert not is_immutable([1])
    assert not is_immutable(({},))
    assert is_immutable(DiscardCards((Card(1),)))
    assert not is_immutable(DiscardCards([Card(1)]))  # type: ignore[arg-type]
