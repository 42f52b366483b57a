"""The hakem's partner cuts before the deal (rulebook 2.2)."""

import pytest

from hokm.actions import CUTS, DECLARATIONS, CutDeck
from hokm.cards import CARDS, Seat
from hokm.deck import shuffled
from hokm.errors import IllegalAction, Reason
from hokm.events import DeckCut, HandStarted, PacketDealt
from hokm.rules.game import Race
from hokm.view import View
from tests.hokm.positions import go_on, held, places_of, race_rules, refusal

pytestmark = pytest.mark.rule("2.2")


def cutting(hakem: int = 0, **options: str) -> Race:
    """A race that waits for its first cut."""
    table = race_rules(4, cut="on", first_hakem=f"seat:{hakem}", **options)
    game = Race(table, lambda hand: hand.to_bytes(32, "big"))
    game.start()
    return game


@pytest.mark.parametrize("hakem", range(4))
def test_the_partner_of_the_hakem_is_asked_before_a_card_is_dealt(hakem: int) -> None:
    game = cutting(hakem)
    assert game.to_act == (hakem + 2) % 4
    assert game.legal_actions() == CUTS
    assert [cut.position for cut in CUTS] == list(range(1, 52))
    assert [held(game.deal, seat) for seat in range(4)] == [()] * 4


@pytest.mark.parametrize("position", [1, 20, 51])
def test_what_was_cut_lies_under_the_rest_and_is_dealt_last(position: int) -> None:
    game = cutting()
    dealt = shuffled(CARDS, (1).to_bytes(32, "big"))
    assert game.deal.deck == dealt
    events = game.act(Seat(2), CutDeck(position))
    events += game.act(Seat(0), DECLARATIONS[0])
    assert events[0] == DeckCut(Seat(2), position)
    cut = (*dealt[position:], *dealt[:position])
    for seat in range(4):
        packets = [e for e in events if isinstance(e, PacketDealt) and e.seat == seat]
        got = [card for packet in packets for card in packet.cards or ()]
        assert got == [cut[place] for place in places_of(4, seat)]


@pytest.mark.parametrize("position", [0, 52, 2**32 - 1])
def test_a_cut_that_leaves_no_two_parts_is_refused_and_the_seat_asked_still(position: int) -> None:
    game = cutting()
    with pytest.raises(IllegalAction) as refused:
        game.act(Seat(2), CutDeck(position))
    assert str(refused.value) == "BAD_CUT: cut 1 to 51 cards (rulebook 2.2)"
    assert (game.to_act, game.deal.cut) == (2, None)
    assert game.deal.deck == shuffled(CARDS, (1).to_bytes(32, "big"))
    game.act(Seat(2), CutDeck(26))


def test_nobody_else_cuts_and_nothing_else_comes_first() -> None:
    game = cutting()
    for seat in (0, 1, 3):
        assert refusal(game, seat, CutDeck(26)) is Reason.NOT_YOUR_TURN
        # Of two reasons the earlier one, whatever was cut.
        assert refusal(game, seat, CutDeck(0)) is Reason.NOT_YOUR_TURN
        assert refusal(game, seat, DECLARATIONS[0]) is Reason.WRONG_PHASE


def test_a_hand_is_cut_once() -> None:
    game = cutting()
    game.act(Seat(2), CutDeck(26))
    assert game.to_act == 0
    assert refusal(game, 2, CutDeck(26)) is Reason.WRONG_PHASE


def test_every_hand_of_a_race_is_cut_by_the_partner_of_its_hakem() -> None:
    game = cutting()
    hakems, cutters = [], []
    while not game.is_over:
        assert game.to_act is not None
        for event in game.act(game.to_act, game.legal_actions()[0]):
            if isinstance(event, HandStarted):
                hakems.append(event.hakem)
            if isinstance(event, DeckCut):
                cutters.append(event.seat)
    assert cutters == [(hakem + 2) % 4 for hakem in (0, *hakems)]
    assert len(set(cutters)) > 1


def test_everybody_knows_the_cut_until_the_next_hand() -> None:
    game = cutting(target_points="2")
    view = View(game.rules, Seat(1))
    view.apply(HandStarted(1, Seat(0), Seat(3), (0, 0)))
    known = [view.cut]
    (event, *_) = go_on(game, [CutDeck(17)])
    for learned in (event.seen_by(Seat(1)), HandStarted(2, Seat(0), Seat(3), (1, 0))):
        view.apply(learned)
        known.append(view.cut)
    assert known == [None, 17, None]
