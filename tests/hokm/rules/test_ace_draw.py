"""The draw for the first hakem and his partner (rulebook 1.9, 2.1; cases 1 to 6)."""

from collections import Counter
from itertools import pairwise

import pytest

from hokm.cards import CARDS, Card, Rank, Seat
from hokm.deck import Stream, shuffled
from hokm.events import CardTurned, HandStarted, PartnerDrawn
from hokm.rules.draw import draw_first_ace, draw_second_ace, opening
from hokm.rules.game import Race
from hokm.rules.options import Rules
from hokm.rules.variants import variant_of
from tests.hokm.positions import cards, race_rules

SECOND_ACE = race_rules(4, teams="second_ace")

DRAWS = 100_000
CHI_SQUARE_3_DF_999 = 16.266
"""99.9 % point of chi-square on 3 degrees of freedom (any table of it)."""


def chi_square(counts: Counter[int], *, of: int) -> float:
    expected = counts.total() / of
    return sum((counts[seat] - expected) ** 2 / expected for seat in range(of))


def seed(number: int) -> bytes:
    return number.to_bytes(32, "big")


def race(table: Rules, *, draw: int) -> Race:
    """A race whose first hakem is drawn from the seed ``draw``; its hands have other seeds."""
    return Race(table, lambda hand: seed(draw if hand == 0 else 10**9 + hand))


def seat_of_ace(number: int) -> tuple[Seat, int]:
    """The start of draw ``number``, and how many seats further the first ace falls, from the
    streams the rulebook names.
    """
    deck = shuffled(CARDS, seed(number), label="ace")
    turned = next(place for place, card in enumerate(deck) if card.rank is Rank.ACE)
    return Seat(Stream(seed(number), "start").below(4)), turned


@pytest.mark.rule("8.1")
def test_case_1_the_seat_that_receives_the_first_ace_is_hakem() -> None:
    turned = draw_first_ace(cards("2C 3D AS 4H"), start=Seat(0), seats=4)
    assert [(event.seat, str(event.card)) for event in turned] == [(0, "2C"), (1, "3D"), (2, "AS")]


@pytest.mark.rule("1.9")
def test_cards_go_round_from_the_start_seat() -> None:
    turned = draw_first_ace(cards("2C 3D AS"), start=Seat(3), seats=4)
    assert [event.seat for event in turned] == [3, 0, 1]


@pytest.mark.rule("1.9")
def test_the_first_ace_comes_at_card_49_at_the_latest() -> None:
    aces = [card for card in CARDS if card.rank is Rank.ACE]
    others = [card for card in CARDS if card.rank is not Rank.ACE]
    turned = draw_first_ace([*others, *aces], start=Seat(0), seats=4)
    assert len(turned) == 49
    assert turned[-1].seat == 0


def second_ace(text: str, *, start: int = 0) -> tuple[list[int], PartnerDrawn, Seat]:
    """Who receives the cards after the first ace, the partner they come to, and the dealer."""
    deck = cards(text)
    hakem = draw_first_ace(deck, start=Seat(start), seats=4)
    turned = draw_second_ace(deck[len(hakem) :], hakem=hakem[-1].seat)
    opposite = Seat((hakem[-1].seat + 2) % 4)
    dealer = variant_of(SECOND_ACE).dealer_for(hakem[-1].seat)
    return [event.seat for event in turned], PartnerDrawn(turned[-1].seat, opposite), dealer


@pytest.mark.rule("8.2")
def test_case_2_the_receiver_of_the_second_ace_changes_chairs_to_sit_opposite_the_hakem() -> None:
    seats, drawn, dealer = second_ace("2C 3D AS 5H 6H AD 7H")
    assert seats == [3, 0, 1]
    assert drawn == PartnerDrawn(Seat(1), opposite=Seat(0))
    assert drawn.chairs == (1, 0, 2, 3)
    assert dealer == 1


@pytest.mark.rule("8.3")
def test_case_3_who_sits_opposite_the_hakem_already_stays() -> None:
    seats, drawn, _ = second_ace("2C 3D AS 5H AD 7H")
    assert seats == [3, 0]
    assert drawn == PartnerDrawn(Seat(0), opposite=Seat(0))
    assert drawn.chairs == (0, 1, 2, 3)


@pytest.mark.rule("8.4")
@pytest.mark.parametrize("start", range(4))
def test_case_4_aces_at_the_bottom_are_the_49th_and_the_50th_card(start: int) -> None:
    aces = [card for card in CARDS if card.rank is Rank.ACE]
    others = [card for card in CARDS if card.rank is not Rank.ACE]
    seats, drawn, _ = second_ace(" ".join(map(str, [*others, *aces])), start=start)
    assert seats == [(start + 1) % 4]
    assert drawn == PartnerDrawn(Seat((start + 1) % 4), opposite=Seat((start + 2) % 4))


@pytest.mark.rule("2.1")
def test_the_draw_goes_round_past_the_hakem_until_the_second_ace() -> None:
    seats, drawn, _ = second_ace("AS 2C 3C 4C 5C 6C 7C 8C AD", start=1)
    assert seats == [2, 3, 0, 2, 3, 0, 2, 3]
    assert drawn == PartnerDrawn(Seat(3), opposite=Seat(3))


@pytest.mark.rule("2.1")
def test_a_race_draws_the_partner_from_the_cards_that_drew_its_hakem() -> None:
    for number in range(50):
        events = race(SECOND_ACE, draw=number).start()
        turned = [event for event in events if isinstance(event, CardTurned)]
        deck = shuffled(CARDS, seed(number), label="ace")
        assert tuple(event.card for event in turned) == deck[: len(turned)]
        first, second = (event.seat for event in turned if event.card.rank is Rank.ACE)
        start, place = seat_of_ace(number)
        assert (turned[0].seat, first) == (start, (start + place) % 4)
        assert events[len(turned)] == PartnerDrawn(second, opposite=Seat((first + 2) % 4))
        assert events[len(turned) + 1] == HandStarted(1, first, Seat((first - 1) % 4), (0, 0))
        assert opening(SECOND_ACE, seed(number)).events == tuple(events[: len(turned) + 1])


@pytest.mark.rule("2.1")
def test_anybody_but_the_hakem_may_be_the_partner_and_the_hakem_keeps_his_chair() -> None:
    places = Counter[int]()
    for number in range(300):
        first = opening(SECOND_ACE, seed(number))
        assert first.partner is not None
        assert sorted(first.partner.chairs) == [0, 1, 2, 3]
        assert first.partner.chairs[first.hakem] == first.hakem
        assert first.partner.chairs[(first.hakem + 2) % 4] == first.partner.seat
        places[(first.partner.seat - first.hakem) % 4] += 1
    assert set(places) == {1, 2, 3}


@pytest.mark.rule("8.5")
@pytest.mark.parametrize("number", range(20))
def test_case_5_three_seats_stop_at_the_first_ace_and_have_no_partner(number: int) -> None:
    events = race(race_rules(3), draw=number).start()
    turned = [event for event in events if isinstance(event, CardTurned)]
    assert [event.card.rank is Rank.ACE for event in turned] == [False] * (len(turned) - 1) + [True]
    assert {(after.seat - before.seat) % 3 for before, after in pairwise(turned)} <= {1}
    assert events[len(turned)] == HandStarted(1, turned[-1].seat, _left(turned[-1].seat), (0, 0, 0))


def _left(seat: Seat) -> Seat:
    return Seat((seat - 1) % 3)


@pytest.mark.rule("1.9")
def test_three_seats_draw_from_their_own_pack() -> None:
    for number in range(200):
        events = race(race_rules(3, removed_two="H"), draw=number).start()
        turned = [event.card for event in events if isinstance(event, CardTurned)]
        pack = tuple(card for card in CARDS if card != Card.parse("2H"))
        deck = shuffled(pack, seed(number), label="ace")
        assert tuple(turned) == deck[: len(turned)]


@pytest.mark.rule("8.6")
def test_case_6_every_seat_is_as_likely_to_be_first_hakem() -> None:
    drawn, from_seat_0 = Counter[int](), Counter[int]()
    for number in range(DRAWS):
        start, turned = seat_of_ace(number)
        drawn[(start + turned) % 4] += 1
        from_seat_0[turned % 4] += 1
    assert chi_square(drawn, of=4) < CHI_SQUARE_3_DF_999
    # The same draws from a fixed start are as uneven as the rulebook says.
    assert chi_square(from_seat_0, of=4) > CHI_SQUARE_3_DF_999
    shares = [round(100 * from_seat_0[seat] / DRAWS) for seat in range(4)]
    assert shares == [28, 26, 24, 22]


@pytest.mark.rule("1.9")
def test_a_race_draws_its_first_hakem_from_the_streams_of_hand_number_0() -> None:
    for number in range(200):
        game = race(race_rules(4), draw=number)
        turned = [event for event in game.start() if isinstance(event, CardTurned)]
        start, place = seat_of_ace(number)
        assert turned[0].seat == start
        assert len(turned) == place + 1
        assert game.deal.hakem == (start + place) % 4


@pytest.mark.rule("1.9")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_random_first_hakem_comes_from_its_own_stream_and_no_card_is_turned(players: int) -> None:
    for number in range(50):
        game = race(race_rules(players, first_hakem="random"), draw=number)
        events = game.start()
        assert isinstance(events[0], HandStarted)
        assert game.deal.hakem == Stream(seed(number), "hakem").below(players)


@pytest.mark.rule("1.9")
@pytest.mark.parametrize("seat", range(4))
def test_a_named_first_hakem_is_hakem(seat: int) -> None:
    game = race(race_rules(4, first_hakem=f"seat:{seat}"), draw=1)
    assert game.start()[0] == HandStarted(1, Seat(seat), Seat((seat - 1) % 4), (0, 0))


@pytest.mark.rule("1.8")
def test_the_deck_of_a_hand_is_the_whole_pack_shuffled_and_owes_the_draw_nothing() -> None:
    game = Race(race_rules(4), seed)
    game.start()
    assert game.deal.deck == shuffled(CARDS, seed(1))
