"""The draw for the first hakem (rulebook 1.9; cases 1 to 6)."""

from collections import Counter
from itertools import pairwise

import pytest

from hokm.cards import CARDS, Card, Rank, Seat
from hokm.deck import Stream, shuffled
from hokm.events import CardTurned, HandStarted
from hokm.rules.game import Race, draw_first_ace
from hokm.rules.options import Rules
from tests.hokm.positions import cards, race_rules

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
