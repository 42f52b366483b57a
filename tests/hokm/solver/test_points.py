"""What a position is worth in points is what every line of play to its end says."""

from random import Random

import pytest

from hokm.cards import Seat, Side, Trump, card_set
from hokm.rules.options import Rules
from hokm.rules.position import Position
from hokm.rules.variants import Variant, variant_of
from hokm.solver import OpenHand, PointsSolver, SolverMissing, dds, is_available
from tests.hokm.positions import cards
from tests.hokm.solver import brute

TABLES = [
    Rules.of(2),
    Rules.of(2, options={"play_out": "on", "modes": "suit,sar,nar", "kot_in_modes": "on"}),
    Rules.of(3),
    Rules.of(3, options={"points_win": "2", "points_kot": "5", "points_hakem_kot": "7"}),
    Rules.of(4),
    Rules.of(4, options={"play_out": "on", "points_kot": "4", "points_hakem_kot": "9"}),
]
CARDS = {2: 6, 3: 4, 4: 3}


def position_at_the_end(variant: Variant, rng: Random) -> Position:
    """Any tricks taken but those that end a hand, and any cards for the rest."""
    whole = 17 if variant.sides == 3 else 13
    while True:
        held = rng.randint(1, CARDS[variant.seats])
        hakem = Seat(rng.randrange(variant.seats))
        # One side takes more than others, so that kots are near.
        weights = [rng.choice((1, 1, 9)) for _ in range(variant.sides)]
        sides = [Side(side) for side in range(variant.sides)]
        taken = rng.choices(sides, weights, k=whole - held)
        dealt = rng.sample(variant.pack, variant.seats * held)
        hands = [card_set(dealt[seat :: variant.seats]) for seat in range(variant.seats)]
        trump = rng.choice(list(Trump))
        position = Position(variant, hands, hakem=hakem, trump=trump, leader=Seat(0), taken=taken)
        if not position.is_over:
            for _ in range(rng.randrange(variant.seats)):
                position.play(rng.choice(position.playable))
            return position


@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: "-".join(rules.options().values()))
def test_an_ending_is_worth_what_brute_force_says(rules: Rules) -> None:
    variant = variant_of(rules)
    values = set()
    for seed in range(brute.ENDINGS // 3):
        position = position_at_the_end(variant, Random(seed))
        for side in map(Side, range(variant.sides)):
            value = brute.points(position, side)
            if variant.seats == 4:
                tricks = brute.tricks_of(position, side)
                assert PointsSolver().points(position, side, tricks=tricks) == value, position.hands
            if variant.seats != 4 or is_available():
                assert PointsSolver().points(position, side) == value, position.hands
            values.add(value)
    assert len(values) > 1


@pytest.mark.parametrize(("lead", "value"), [("8D", 2.0), ("AS", 1.0)])
def test_a_kot_needs_every_trick_up_to_the_seventh(lead: str, value: float) -> None:
    # Six to none, and high diamonds to come: but the other, who leads, may have a trump.
    hands = [card_set(cards(text)) for text in ("D:AKQJT9 KS", f"D:234567 {lead}")]
    position = Position(
        variant_of(Rules.of(2)),
        hands,
        hakem=Seat(0),
        trump=Trump.SPADES,
        leader=Seat(1),
        taken=[Side(0)] * 6,
    )
    assert PointsSolver().points(position, Side(0)) == value


def test_what_a_solver_has_found_of_a_hand_it_says_again() -> None:
    variant = variant_of(Rules.of(2))
    rng = Random(5)
    position = position_at_the_end(variant, rng)
    one = PointsSolver()
    while not position.is_over:
        for side in map(Side, range(2)):
            assert one.points(position, side) == PointsSolver().points(position, side)
        position.play(rng.choice(position.playable))


def test_without_dds_the_tricks_of_four_seats_must_be_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dds, "find_spec", lambda name: None)
    dds._load.cache_clear()
    position = position_at_the_end(variant_of(Rules.of(4)), Random(1))
    with pytest.raises(SolverMissing):
        PointsSolver().points(position, Side(0))
    left = OpenHand.of_position(position).tricks_left
    assert PointsSolver().points(position, Side(0), tricks=left) >= 1
