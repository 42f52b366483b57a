"""The sequential test against published and independently computed ratios."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.ratings.sprt import Conclusion, Model, Sprt, llr, llr_alt
from arena.ladder.ratings.statistics import Outcomes, Unit, games, pentanomial

VECTORS = json.loads((Path(__file__).parent / "vectors" / "sprt.json").read_text())
VALUES = {
    3: (0.0, 0.5, 1.0),
    5: (0.0, 0.25, 0.5, 0.75, 1.0),
    11: tuple(0.5 + d / 10 for d in range(-5, 6)),
}
PROMOTION = Sprt(elo0=0, elo1=20, cap=6000)


def outcomes_of(vector: dict[str, Any]) -> Outcomes:
    if "wdl" in vector:
        return games(*vector["wdl"])
    counts = vector["counts"]
    return Outcomes(tuple(counts), VALUES[len(counts)], Unit.PAIR)


def pairs(*counts: int) -> Outcomes:
    return Outcomes(counts, VALUES[len(counts)], Unit.PAIR)


RATIOS = [
    (
        "llr_normalized",
        lambda outcomes, low, high: llr(outcomes, low, high, model=Model.NORMALIZED),
    ),
    ("llr_logistic", lambda outcomes, low, high: llr(outcomes, low, high, model=Model.LOGISTIC)),
    ("llr_alt", llr_alt),
]
CASES = [
    pytest.param(vector, column, ratio, id=f"{vector['id']} {column}")
    for group in ("pentanomial", "games", "boards", "more")
    for vector in VECTORS[group]
    for column, ratio in RATIOS
    if column in vector
]


def test_every_vector_is_there():
    # 14 with three columns, 4 with two, 4 with two, 2 with one.
    assert len(CASES) == 14 * 3 + 4 * 2 + 4 * 2 + 2


@pytest.mark.parametrize(("vector", "column", "ratio"), CASES)
def test_the_ratio_is_the_known_one(vector, column, ratio):
    found = ratio(outcomes_of(vector), vector["elo0"], vector["elo1"])
    decimals = vector.get("decimals", 5)
    assert found == pytest.approx(vector[column], abs=0.51 * 10**-decimals, rel=0)


@pytest.mark.parametrize("vector", VECTORS["bounds"])
def test_the_ratio_is_held_against_walds_bounds(vector):
    test = Sprt(elo0=0, elo1=20, alpha=vector["alpha"], beta=vector["beta"], cap=1)
    assert test.lower == pytest.approx(vector["lower"], abs=5e-7)
    assert test.upper == pytest.approx(vector["upper"], abs=5e-7)


def test_fastchess_prints_the_same_for_its_own_examples():
    by_name = {vector["id"]: vector for vector in VECTORS["pentanomial"] + VECTORS["games"]}
    printed = {"P6": (2.25, "normalized"), "P7": (3.01, "normalized"), "P8": (-3.07, "logistic")}
    for name, (published, model) in (printed | {"T3": (0.92, "normalized")}).items():
        vector = by_name[name]
        found = llr(outcomes_of(vector), vector["elo0"], vector["elo1"], model=Model(model))
        assert round(found, 2) == published


def test_exchanging_the_hypotheses_turns_the_ratio_round():
    boards = pairs(2, 10, 70, 15, 3)
    for model in Model:
        there, back = llr(boards, -5, 30, model=model), llr(boards, 30, -5, model=model)
        assert there == pytest.approx(-back)


def test_exchanging_the_sides_and_the_bounds_turns_the_ratio_round():
    ours, theirs = pairs(2, 10, 70, 15, 3), pairs(3, 15, 70, 10, 2)
    for model in Model:
        assert llr(ours, -5, 30, model=model) == pytest.approx(-llr(theirs, -30, 5, model=model))


@given(
    counts=st.one_of(
        *(st.lists(st.integers(0, 3000), min_size=n, max_size=n) for n in (3, 5, 11))
    ).filter(any),
    bounds=st.tuples(st.floats(-200, 200), st.floats(-200, 200)),
    model=st.sampled_from(Model),
)
def test_whatever_was_played_the_ratio_is_a_number(counts, bounds, model):
    found = llr(pairs(*counts), *bounds, model=model)
    assert math.isfinite(found)


def test_a_clear_lead_accepts_h1_and_a_clear_deficit_h0():
    assert PROMOTION.look(pairs(0, 91, 798, 134, 1)).conclusion is Conclusion.H1
    assert PROMOTION.look(pairs(1, 134, 798, 91, 0)).conclusion is Conclusion.H0


def test_little_is_enough_for_no_conclusion():
    look = PROMOTION.look(pairs(0, 29, 192, 35, 0))
    assert look.conclusion is None
    assert look.llr == pytest.approx(0.12906, abs=5e-6)


def test_nothing_played_says_nothing():
    look = PROMOTION.look(pentanomial([]))
    assert (look.llr, look.conclusion, look.to_go) == (0.0, None, None)


def test_the_ratio_on_its_bound_is_enough():
    boards = pairs(0, 91, 798, 134, 1)
    ratio = llr(boards, 0, 20, model=Model.NORMALIZED)
    # alpha and beta for which that very ratio is a bound, give or take a rounding.
    chance = 1 / (1 + math.exp(ratio))
    just = Sprt(elo0=0, elo1=20, alpha=chance * 1.000001, beta=chance * 1.000001, cap=6000)
    short = Sprt(elo0=0, elo1=20, alpha=chance * 0.999999, beta=chance * 0.999999, cap=6000)
    assert just.look(boards).conclusion is Conclusion.H1
    assert short.look(boards).conclusion is None


def test_the_cap_ends_what_is_not_decided_but_not_what_is():
    undecided, decided = pairs(0, 29, 192, 35, 0), pairs(0, 91, 798, 134, 1)
    capped = Sprt(elo0=0, elo1=20, cap=256)
    assert capped.look(undecided).conclusion is Conclusion.CAP
    assert capped.look(decided).conclusion is Conclusion.H1
    assert Sprt(elo0=0, elo1=20, cap=257).look(undecided).conclusion is None


def test_what_is_to_go_shrinks_to_nothing_as_the_bound_comes_near():
    left = [PROMOTION.look(pairs(0, 9 * n, 80 * n, 13 * n, 0)).to_go for n in range(1, 8)]
    assert left[0] is not None
    assert left[0] > 400
    steps = [number for number in left if number is not None]
    assert steps == sorted(steps, reverse=True)
    assert PROMOTION.look(pairs(0, 91, 798, 134, 1)).to_go == 0


def test_what_is_to_go_is_never_more_than_the_cap_leaves():
    level = pairs(0, 30, 200, 33, 0)
    look = Sprt(elo0=0, elo1=1, cap=1000).look(level)
    assert look.to_go == 1000 - level.total


def test_while_all_boards_are_alike_the_ratio_is_taken_to_go_on_as_it_went():
    alike = pairs(0, 0, 400, 0, 0)
    look = PROMOTION.look(alike)
    assert look.to_go is not None
    assert PROMOTION.look(pairs(0, 0, 400 + look.to_go, 0, 0)).conclusion is Conclusion.H0
    assert PROMOTION.look(pairs(0, 0, 390 + look.to_go, 0, 0)).conclusion is None
    won = Sprt(elo0=0, elo1=50, cap=1000).look(pairs(0, 0, 0, 0, 8))
    assert won.to_go is not None
    assert 0 < won.to_go < 20


def test_where_the_ratio_does_not_move_it_is_the_cap_that_will_end_the_test():
    assert Sprt(elo0=-10, elo1=10, cap=1000).look(pairs(0, 0, 16, 0, 0)).to_go == 984


def test_the_drift_that_is_seen_says_when_the_test_will_end():
    # At the rate of the ratio so far, 4.39 in 1024 boards, the bound is 2.944 · 1024 / 4.39 away.
    for model in Model:
        low, high = (0, 20) if model is Model.NORMALIZED else (0, 5)
        few, many = pairs(0, 9, 80, 13, 0), pairs(0, 900, 8000, 1300, 0)
        test = Sprt(elo0=low, elo1=high, alpha=1e-9, beta=1e-9, cap=10**9, model=model)
        rate = llr(many, low, high, model=model) / many.total
        to_go = test.look(few).to_go
        assert to_go is not None
        assert to_go == pytest.approx(test.upper / rate, rel=0.15)


def test_the_mean_length_is_symmetric_about_the_middle_and_longest_there():
    lengths = [PROMOTION.expected_total(gap) for gap in (-20, 0, 10, 20, 40)]
    assert lengths[0] == pytest.approx(lengths[4])
    assert lengths[1] == pytest.approx(lengths[3])
    assert max(lengths) == lengths[2]
    # Wald: A·B/v at the middle.
    step = math.sqrt(2) * 20 / (800 / math.log(10))
    assert lengths[2] == pytest.approx((math.log(19) / step) ** 2)


def test_the_mean_length_far_away_neither_overflows_nor_is_none():
    assert 0 < PROMOTION.expected_total(1e4) < 10
    assert 0 < PROMOTION.expected_total(-1e4) < 10


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"elo0": 20}, "the bounds 20 and 20 are no interval; the lower one is first"),
        ({"elo0": 21}, "are no interval"),
        ({"elo0": 0, "elo1": 1e-300}, "the bounds 0 and 1e-300 are too close: take 0.1 Elo apart"),
        ({"elo0": 0, "elo1": 0.09}, "are too close"),
        ({"elo1": 201}, "the upper bound is 201; take one from -200 to 200 Elo"),
        ({"elo0": math.nan}, "the lower bound is nan"),
        ({"alpha": 0.0}, "alpha is a chance of error above 0 and below 0.5, not 0.0"),
        ({"beta": 0.5}, "beta is a chance of error"),
        ({"cap": 0}, "the cap is 1 or more, not 0"),
    ],
)
def test_what_is_no_test_is_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        Sprt(**{"elo0": 0, "elo1": 20, "cap": 6000, **wrong})
