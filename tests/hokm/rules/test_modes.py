"""Hands without a trump suit: who takes, who must follow, what they count (rulebook 5)."""

import pytest

from hokm.actions import DECLARATIONS, PLAYS, DeclareTrump
from hokm.cards import CARDS, Card, Seat, Suit, Trump
from hokm.deck import shuffled
from hokm.errors import Reason
from hokm.events import HandEnded, HandStarted
from hokm.outcome import HandKind
from hokm.rules.deal import Deal
from hokm.rules.game import Race
from hokm.rules.options import Rules
from tests.hokm.positions import (
    dealt,
    deck_of,
    go_on,
    held,
    play,
    race,
    race_rules,
    refusal,
    rules,
)

MODES = (Trump.SAR, Trump.NAR, Trump.TAK_NAR)
ALL = "suit,sar,nar,tak_nar"


@pytest.mark.rule("8.10")
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_that_the_table_allows_is_named_like_a_suit(players: int, mode: Trump) -> None:
    table = rules(players, modes=f"suit,{mode.name.lower()}")
    deal = dealt(table, {})
    assert deal.legal_actions() == (*DECLARATIONS[:4], DECLARATIONS[mode])
    for other in MODES:
        if other is not mode:
            assert refusal(deal, 0, DeclareTrump(other)) is Reason.BAD_DECLARATION
    deal.act(Seat(0), DeclareTrump(mode))
    assert deal.trump is mode
    assert refusal(deal, 0, DECLARATIONS[Trump.CLUBS]) is Reason.ALREADY_DECLARED


@pytest.mark.rule("5")
@pytest.mark.parametrize(
    ("mode", "trick", "taker"),
    [
        (Trump.SAR, "9H KH 2H AH", 3),
        (Trump.NAR, "9H KH 2H AH", 2),
        (Trump.TAK_NAR, "9H KH 2H AH", 3),
        (Trump.NAR, "AH KH QH JH", 3),
        (Trump.TAK_NAR, "QH KH JH TH", 3),
        (Trump.TAK_NAR, "3H 2H 4H 5H", 1),
    ],
)
def test_the_card_that_stands_highest_in_the_led_suit_takes(
    mode: Trump, trick: str, taker: int
) -> None:
    deal = dealt(rules(4, modes=ALL), dict(enumerate(trick.split())), trump=mode)
    play(deal, trick)
    assert (deal.taken, deal.turn) == ([taker % 2], taker)


@pytest.mark.rule("5")
@pytest.mark.parametrize(
    ("mode", "trick"),
    [
        (Trump.SAR, "2H AS AD AC"),
        (Trump.NAR, "AH 2S 2D 2C"),
        (Trump.TAK_NAR, "KH AS AD AC"),
    ],
)
def test_the_lowest_lead_takes_where_nobody_follows(mode: Trump, trick: str) -> None:
    hands = {**dict(enumerate(trick.split())), 0: "H:AKQJT98765432"}
    deal = dealt(rules(4, modes=ALL), hands, trump=mode)
    play(deal, trick)
    assert (deal.taken, deal.turn) == ([0], 0)


@pytest.mark.rule("1.4")
@pytest.mark.parametrize("mode", MODES)
def test_the_led_suit_is_followed_in_a_mode_too(mode: Trump) -> None:
    deal = dealt(rules(4, modes=ALL), {0: "9H", 1: "KH 2S"}, trump=mode)
    play(deal, "9H")
    assert refusal(deal, 1, PLAYS[Card.parse("2S")]) is Reason.MUST_FOLLOW_SUIT
    hearts = [PLAYS[card] for card in held(deal, 1) if card.suit is Suit.HEARTS]
    assert list(deal.legal_actions()) == hearts
    play(deal, "KH")


def seven_to_none(table: Rules, mode: Trump, *, to_hakem: bool) -> Deal:
    """Seat 0 is hakem, and it or the next seat takes seven tricks with clubs, its only suit."""
    if to_hakem:
        hands, lead = {0: "C:98765432AKQJT"}, ""
    else:
        # The one club that does not beat the others is led; whatever follows is thrown away.
        low = {Trump.SAR: "2C", Trump.NAR: "AC", Trump.TAK_NAR: "KC"}[mode]
        clubs = "C:" + "".join(rank for rank in "98765432AKQJT" if rank != low[0])
        hands, lead = {0: low, 1: clubs}, low
    deal = dealt(table, hands, trump=mode)
    play(deal, lead)
    while deal.to_act is not None:
        deal.act(deal.to_act, deal.legal_actions()[0])
    return deal


@pytest.mark.rule("5")
@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("to_hakem", "kind", "points"), [(True, HandKind.KOT, 6), (False, HandKind.HAKEM_KOT, 9)]
)
def test_seven_to_none_in_a_mode_is_a_plain_win_unless_kot_in_modes_is_on(
    players: int, mode: Trump, to_hakem: bool, kind: HandKind, points: int
) -> None:
    counts = {"points_win": "4", "points_kot": "6", "points_hakem_kot": "9", "modes": ALL}
    if players == 3:
        counts["removed_two"] = "D"
    for kot_in_modes, expected in (("off", (HandKind.WIN, 4)), ("on", (kind, points))):
        table = rules(players, kot_in_modes=kot_in_modes, **counts)
        result = seven_to_none(table, mode, to_hakem=to_hakem).result
        assert result is not None
        assert sorted(result.tricks)[-2:] == [0, 7]
        assert (result.kind, max(result.points)) == expected
        assert result.winner == (0 if to_hakem else 1)


@pytest.mark.rule("5")
def test_kot_in_modes_leaves_suits_alone() -> None:
    for kot_in_modes in ("off", "on"):
        table = rules(4, modes=ALL, kot_in_modes=kot_in_modes)
        result = seven_to_none(table, Trump.CLUBS, to_hakem=True).result
        assert result is not None
        assert (result.kind, result.points) == (HandKind.KOT, (2, 0))


@pytest.mark.rule("5")
def test_a_race_goes_on_from_a_hand_in_a_mode_as_from_any_other() -> None:
    table = race_rules(4, modes=ALL, first_hakem="seat:0")
    game = race(table)
    game.deal = Deal(table, deck_of(table, {0: "C:98765432AKQJT"}), hakem=Seat(0))
    game.deal.start()
    go_on(game, [DECLARATIONS[Trump.NAR]])
    events = []
    while game.hand_number == 1:
        assert game.to_act is not None
        events += game.act(game.to_act, game.legal_actions()[0])
    (ended,) = [event for event in events if isinstance(event, HandEnded)]
    assert (ended.result.points, ended.next_hakem) == ((1, 0), 0)
    (started,) = [event for event in events if isinstance(event, HandStarted)]
    assert started.scores == (1, 0)
    assert game.deal.trump is None
    go_on(game, [DECLARATIONS[Trump.TAK_NAR]])


@pytest.mark.rule("5")
def test_who_loses_in_a_mode_hands_on_and_the_race_is_won_by_points() -> None:
    table = race_rules(4, modes=ALL, target_points="2", kot_in_modes="on", first_hakem="seat:0")
    game = Race(table, lambda hand: hand.to_bytes(32, "big"))
    game.start()
    assert game.deal.deck == shuffled(CARDS, (1).to_bytes(32, "big"))
    deck = deck_of(table, {0: "2C", 1: "C:AKQJT98765432".replace("2", "")})
    game.deal = Deal(table, deck, hakem=Seat(0))
    game.deal.start()
    go_on(game, [DECLARATIONS[Trump.SAR], PLAYS[Card.parse("2C")]])
    while not game.is_over:
        assert game.to_act is not None
        game.act(game.to_act, game.legal_actions()[-1])
    assert game.hand_number == 1
    assert game.scores == (0, 3)
    assert game.winner == 1


@pytest.mark.rule("1.3")
def test_the_hakem_leads_in_a_mode() -> None:
    deal = dealt(rules(4, modes=ALL), {}, hakem=2, trump=Trump.TAK_NAR)
    assert deal.to_act == 2
    assert refusal(deal, 0, PLAYS[held(deal, 0)[0]]) is Reason.NOT_YOUR_TURN
