"""Two seats, draw and discard (cases 42 to 50)."""

import pytest

from hokm.actions import DECLARATIONS, DRAWS, PLAYS, ChooseDraw, DiscardCards, Draw
from hokm.cards import CARDS, Card, Seat, Trump, card_set, cards_in
from hokm.deck import shuffled
from hokm.errors import Reason
from hokm.events import CardOffered, DrawChosen, Event
from hokm.rules.deal import Deal
from hokm.view import View
from tests.hokm.positions import (
    go_on,
    hand,
    held,
    next_hand,
    points,
    race,
    race_rules,
    refusal,
    rules,
)

KEEP, REFUSE = DRAWS


class Room:
    """A hand of two, and what each seat learns of it."""

    def __init__(self, *, hakem: int = 0, **options: str) -> None:
        self.rules = rules(2, **options)
        self.deal = Deal(self.rules, shuffled(CARDS, bytes([42]) * 32), hakem=Seat(hakem))
        self.views = [View(self.rules, Seat(seat)) for seat in range(2)]
        self.sent: list[list[Event]] = [[], []]
        self.tell(self.deal.start())

    def tell(self, events: list[Event]) -> list[Event]:
        for view, sent in zip(self.views, self.sent, strict=True):
            for event in events:
                seen = event.seen_by(view.seat)
                sent.append(seen)
                view.apply(seen)
        return events

    def declared(self) -> "Room":
        self.tell(go_on(self.deal, [DECLARATIONS[Trump.SPADES]]))
        return self

    def discarded(self) -> "Room":
        self.declared()
        for count in (3, 2):
            assert self.deal.to_act is not None
            own = held(self.deal, self.deal.to_act)
            self.tell(go_on(self.deal, [DiscardCards(own[:count])]))
        return self

    def drawn(self, *choices: ChooseDraw) -> "Room":
        self.discarded()
        for choice in choices or [KEEP, REFUSE, REFUSE] * 7:
            self.tell(go_on(self.deal, [choice]))
        return self


@pytest.mark.rule("8.42")
@pytest.mark.parametrize("hakem", [0, 1])
def test_case_42_five_cards_each_and_a_stock_of_42(hakem: int) -> None:
    room = Room(hakem=hakem)
    assert held(room.deal, hakem) == tuple(sorted(room.deal.deck[:5]))
    assert held(room.deal, 1 - hakem) == tuple(sorted(room.deal.deck[5:10]))
    for view in room.views:
        assert view.counts == (5, 5)
        assert view.stock == 42


@pytest.mark.rule("8.43")
@pytest.mark.parametrize("places", [(0, 1), (0, 1, 2, 3), (0, 1, 1), ()])
def test_case_43_the_hakem_discards_three_different_cards(places: tuple[int, ...]) -> None:
    room = Room().declared()
    own = held(room.deal, 0)
    action = DiscardCards(tuple(own[place] for place in places))
    assert refusal(room.deal, 0, action) is Reason.BAD_DISCARD
    assert held(room.deal, 0) == own
    assert room.deal.to_act == 0


@pytest.mark.rule("4.2")
def test_the_other_seat_discards_two() -> None:
    room = Room().declared()
    go_on(room.deal, [DiscardCards(held(room.deal, 0)[:3])])
    assert refusal(room.deal, 1, DiscardCards(held(room.deal, 1)[:3])) is Reason.BAD_DISCARD
    go_on(room.deal, [DiscardCards(held(room.deal, 1)[:2])])
    assert [len(held(room.deal, seat)) for seat in (0, 1)] == [2, 3]


@pytest.mark.rule("4.2")
def test_a_discard_of_cards_that_are_not_in_hand_is_refused() -> None:
    room = Room().declared()
    mixed = (*held(room.deal, 0)[:2], held(room.deal, 1)[0])
    assert refusal(room.deal, 0, DiscardCards(mixed)) is Reason.NOT_IN_HAND


@pytest.mark.rule("8.44")
def test_case_44_the_hakem_discards_and_draws_first() -> None:
    room = Room().declared()
    other = DiscardCards(held(room.deal, 1)[:2])
    assert refusal(room.deal, 1, other) is Reason.NOT_YOUR_TURN
    room = Room().discarded()
    assert refusal(room.deal, 1, KEEP) is Reason.NOT_YOUR_TURN
    assert room.deal.to_act == 0


@pytest.mark.rule("4.2")
def test_discarding_comes_before_drawing_and_drawing_before_playing() -> None:
    room = Room().declared()
    assert refusal(room.deal, 0, KEEP) is Reason.WRONG_PHASE
    assert refusal(room.deal, 0, PLAYS[held(room.deal, 0)[0]]) is Reason.WRONG_PHASE
    room = Room().discarded()
    assert refusal(room.deal, 0, PLAYS[held(room.deal, 0)[0]]) is Reason.WRONG_PHASE
    assert refusal(room.deal, 0, DiscardCards(held(room.deal, 0)[:2])) is Reason.WRONG_PHASE


@pytest.mark.rule("8.45")
@pytest.mark.parametrize("turns", range(21))
def test_case_45_before_the_choice_the_second_card_is_in_no_view_and_no_event(turns: int) -> None:
    room = Room().discarded()
    for _ in range(turns):
        room.tell(go_on(room.deal, [KEEP]))
    second = room.deal.deck[10 + 2 * turns + 1]
    for view, sent in zip(room.views, room.sent, strict=True):
        assert second in view.unseen
        assert second not in (*view.seen, *view.hand, *view.discarded, view.offered)
        assert repr(second) not in repr(sent)
    assert room.deal.offered != second


@pytest.mark.rule("8.46")
@pytest.mark.parametrize("public", ["on", "off"])
@pytest.mark.parametrize("choice", [KEEP, REFUSE])
def test_case_46_one_card_of_the_two_is_taken_and_both_are_shown_to_the_drawer_alone(
    choice: ChooseDraw, public: str
) -> None:
    room = Room(draw_choice_public=public).discarded()
    first, second = room.deal.deck[10:12]
    assert room.views[0].offered == first
    assert room.views[1].offered is None
    room.tell(go_on(room.deal, [choice]))
    taken, gone = (first, second) if choice is KEEP else (second, first)
    drawer, other = room.views
    assert taken in held(room.deal, 0)
    assert taken in drawer.hand
    assert gone in drawer.discarded
    assert drawer.offered is None
    assert drawer.draws == ((0, choice.choice),)
    assert {first, second} <= set(other.unseen)
    assert other.draws == ((0, choice.choice if public == "on" else None),)
    assert other.counts == drawer.counts == (3, 3)
    assert room.sent[1][-2] == DrawChosen(
        Seat(0), choice.choice if public == "on" else None, None, public == "on"
    )
    assert room.deal.to_act == 1


@pytest.mark.rule("4.3")
def test_the_other_seat_is_told_whose_turn_it_is_and_the_size_of_the_stock() -> None:
    room = Room().discarded()
    assert room.sent[1][-1] == CardOffered(Seat(0), 42, None)
    assert room.sent[0][-1] == CardOffered(Seat(0), 42, room.deal.deck[10])
    room.tell(go_on(room.deal, [KEEP]))
    assert room.sent[0][-1] == CardOffered(Seat(1), 40, None)


@pytest.mark.rule("8.47")
@pytest.mark.parametrize("choice", DRAWS)
@pytest.mark.parametrize("again", DRAWS)
def test_case_47_a_choice_is_one_of_two_and_made_once(
    choice: ChooseDraw, again: ChooseDraw
) -> None:
    room = Room().discarded()
    go_on(room.deal, [choice])
    after = held(room.deal, 0)
    assert refusal(room.deal, 0, again) is Reason.NOT_YOUR_TURN
    assert held(room.deal, 0) == after
    assert len(Draw) == 2


@pytest.mark.rule("8.48")
@pytest.mark.parametrize("hakem", [0, 1])
def test_case_48_21_draws_bring_both_to_13_and_the_hakem_leads(hakem: int) -> None:
    room = Room(hakem=hakem).discarded()
    drawers = []
    while isinstance(room.deal.legal_actions()[0], ChooseDraw):
        drawers.append(room.deal.to_act)
        room.tell(go_on(room.deal, [REFUSE]))
    assert drawers == [hakem, 1 - hakem] * 10 + [hakem]
    assert [len(held(room.deal, seat)) for seat in (0, 1)] == [13, 13]
    assert sum(len(cards_in(gone)) for gone in room.deal.discarded) == 26
    for view in room.views:
        assert view.stock == 0
        assert view.counts == (13, 13)
        assert view.drawing is None
    assert room.deal.to_act == hakem


@pytest.mark.rule("8.49")
@pytest.mark.parametrize("hakem", [0, 1])
def test_case_49_every_card_has_been_seen_by_exactly_one_27_and_25(hakem: int) -> None:
    room = Room(hakem=hakem).drawn()
    by_hakem, by_other = room.views[hakem].seen, room.views[1 - hakem].seen
    assert (len(by_hakem), len(by_other)) == (27, 25)
    assert sorted((*by_hakem, *by_other)) == list(CARDS)


@pytest.mark.rule("8.50")
def test_case_50_a_discarded_card_cannot_be_played() -> None:
    room = Room().drawn()
    for gone in cards_in(room.deal.discarded[0]):
        assert refusal(room.deal, 0, PLAYS[gone]) is Reason.NOT_IN_HAND


@pytest.mark.rule("4.3")
def test_the_stock_is_drawn_from_the_top_two_cards_a_turn() -> None:
    choices = [KEEP, REFUSE, REFUSE] * 7
    room = Room().drawn(*choices)
    stock = room.deal.deck[10:]
    drawn: list[set[Card]] = [set(), set()]
    for turn, choice in enumerate(choices):
        drawn[turn % 2].add(stock[2 * turn + (0 if choice is KEEP else 1)])
    for seat in (0, 1):
        kept = set(held(room.deal, seat)) & set(stock)
        assert kept == drawn[seat]


@pytest.mark.rule("4.5")
def test_two_seats_score_like_two_sides() -> None:
    assert points(hand(rules(2), "0000000", hakem=0)) == (2, 0)
    assert points(hand(rules(2), "0000000", hakem=1)) == (3, 0)
    assert points(hand(rules(2), "010101010101" + "1", hakem=0)) == (0, 1)


@pytest.mark.rule("4.6")
@pytest.mark.parametrize("taker", [0, 1])
@pytest.mark.parametrize("hakem", [0, 1])
def test_the_winner_is_the_next_hakem(hakem: int, taker: int) -> None:
    game = race(race_rules(2, first_hakem=f"seat:{hakem}"))
    ended = next_hand(game, str(taker) * 7)
    assert (ended.next_hakem, ended.next_dealer) == (taker, 1 - taker)
    assert card_set(held(game.deal, taker)) == card_set(game.deal.deck[:5])
