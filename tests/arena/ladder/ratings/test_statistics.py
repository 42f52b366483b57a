"""Score, Elo, nElo and LOS against published and independently computed figures."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from arena.ladder.ratings.statistics import (
    Outcomes,
    Unit,
    boards_to_separate,
    by_points,
    games,
    head_to_head,
    likelihood_of_superiority,
    pentanomial,
    score_statistics,
    trinomial,
    vp_score,
)

VECTORS = json.loads((Path(__file__).parent / "vectors" / "statistics.json").read_text())
BOARD_VALUES = {
    3: (0.0, 0.5, 1.0),
    5: (0.0, 0.25, 0.5, 0.75, 1.0),
    11: tuple(0.5 + d / 10 for d in range(-5, 6)),
}
# Vector column, field, decimals that the vector gives.
COLUMNS = [
    ("score", "score", 8),
    ("var", "variance", 8),
    ("elo", "elo", 4),
    ("err", "elo_error", 4),
    ("nelo", "nelo", 4),
    ("nerr", "nelo_error", 4),
    ("los", "los", 6),
]


def known(value: float | None) -> float:
    assert value is not None
    return value


def assert_matches(vector: dict[str, Any], outcomes: Outcomes) -> None:
    found = score_statistics(outcomes)
    assert found.total == outcomes.total
    for column, field, decimals in COLUMNS:
        if column not in vector:
            continue
        value, expected = getattr(found, field), vector[column]
        if expected is None:
            assert value is None, field
        else:
            assert value == pytest.approx(expected, abs=0.51 * 10**-decimals, rel=0), field


@pytest.mark.parametrize(
    "vector", VECTORS["pentanomial"] + VECTORS["boards"], ids=lambda v: v["id"]
)
def test_pairs_of_hands_give_the_known_figures(vector):
    counts = vector["counts"]
    assert_matches(vector, Outcomes(tuple(counts), BOARD_VALUES[len(counts)], Unit.PAIR))


@pytest.mark.parametrize("vector", VECTORS["games"], ids=lambda v: v["id"])
def test_single_games_give_the_known_figures(vector):
    won, drawn, lost = vector["wdl"]
    assert_matches(vector, games(won, drawn, lost))


def test_fastchess_prints_the_same_for_its_own_examples():
    pairs = score_statistics(
        Outcomes((34, 54, 63, 64, 75), BOARD_VALUES[5], Unit.PAIR)
    )  # elo_test.cpp
    assert (round(known(pairs.elo), 2), round(known(pairs.elo_error), 2)) == (55.58, 27.65)
    assert (round(known(pairs.nelo), 2), round(known(pairs.nelo_error), 2)) == (57.94, 28.28)
    single = score_statistics(games(136, 111, 96))
    assert (round(known(single.nelo), 2), round(known(single.nelo_error), 2)) == (49.77, 36.77)
    assert round(100 * known(single.los), 2) == 99.60


def test_fishtest_prints_the_same_nelo_for_a_lost_run():
    published = -63.97  # montytest.muzhen.org
    found = score_statistics(Outcomes((13, 37, 50, 25, 3), BOARD_VALUES[5], Unit.PAIR))
    assert round(known(found.nelo), 2) == published


def test_without_outcomes_nothing_is_known():
    found = score_statistics(trinomial([]))
    assert found.total == 0
    assert all(getattr(found, field) is None for _, field, _ in COLUMNS)


def test_elo_error_is_none_where_its_interval_leaves_the_scale():
    found = score_statistics(games(2, 0, 1))
    assert found.elo == pytest.approx(400 * math.log10(2))
    assert found.elo_error is None


def test_no_figure_is_ever_a_nan():
    small = range(3)
    for counts in ((a, b, c) for a in small for b in small for c in small):
        found = score_statistics(Outcomes(counts, BOARD_VALUES[3], Unit.PAIR))
        values = [getattr(found, field) for _, field, _ in COLUMNS]
        assert all(value is None or math.isfinite(value) for value in values), counts


def test_swapping_the_sides_mirrors_every_figure():
    differences = [3, 0, 0, -1, 2, 2, 0, -5, 1]
    ours = score_statistics(pentanomial(differences))
    theirs = score_statistics(pentanomial([-d for d in differences]))
    assert theirs.elo == pytest.approx(-known(ours.elo))
    assert theirs.nelo == pytest.approx(-known(ours.nelo))
    assert theirs.los == pytest.approx(1 - known(ours.los))
    assert theirs.elo_error == pytest.approx(ours.elo_error)


ONE_OF_EACH = range(-5, 6)


def test_trinomial_classes_go_by_the_sign_of_a_board():
    assert trinomial(ONE_OF_EACH).counts == (5, 1, 5)


def test_pentanomial_classes_part_at_two_and_three_points():
    assert pentanomial(ONE_OF_EACH).counts == (3, 2, 1, 2, 3)


def test_points_have_a_class_for_each_difference():
    found = by_points([*ONE_OF_EACH, 4])
    assert found.counts == (1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1)
    assert found.values == pytest.approx(BOARD_VALUES[11])


def test_a_board_cannot_be_worth_six_points():
    with pytest.raises(ValueError, match="at most 5 points either way, not \\[6\\]"):
        by_points([1, 6])


def test_boards_are_pairs_and_games_are_not():
    level = (10, 5, 12)
    as_boards = score_statistics(Outcomes(level, BOARD_VALUES[3], Unit.PAIR))
    as_games = score_statistics(Outcomes(level, BOARD_VALUES[3], Unit.GAME))
    assert as_games.nelo == pytest.approx(math.sqrt(2) * known(as_boards.nelo))
    assert as_games.elo == as_boards.elo


def test_outcomes_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="2 counts do not fit 3 values"):
        Outcomes((1, 2), BOARD_VALUES[3], Unit.PAIR)
    with pytest.raises(ValueError, match="negative"):
        games(1, -1, 0)
    with pytest.raises(ValueError, match="not all scores"):
        Outcomes((1,), (1.5,), Unit.GAME)


def test_superiority_of_a_certain_lead_is_its_limit():
    assert [likelihood_of_superiority(lead, standard_error=0.0) for lead in (-1, 0, 1)] == [
        0.0,
        0.5,
        1.0,
    ]


def test_superiority_far_below_zero_is_still_positive():
    # Φ(−10) = 7.6199e-24 (Abramowitz and Stegun, table 26.2); 1 − Φ(10) would round to 0.
    assert likelihood_of_superiority(-10.0, standard_error=1.0) == pytest.approx(
        7.6199e-24, rel=1e-4, abs=0
    )


@pytest.mark.parametrize(
    ("nelo", "boards", "digits"),
    [(5, 31_400, -2), (10, 7_843, 0), (20, 1_961, 0), (50, 314, 0), (100, 78, 0)],
)
def test_boards_to_separate_grow_with_the_inverse_square_of_the_gap(nelo, boards, digits):
    assert round(boards_to_separate(nelo), digits) == boards
    assert boards_to_separate(-nelo) == boards_to_separate(nelo)


def test_a_gap_of_nothing_never_shows():
    with pytest.raises(ValueError, match="gap of 0"):
        boards_to_separate(0)


def test_head_to_head_elo_follows_from_the_boards_won_drawn_and_lost():
    # The board differences of B2: 8 won, 52 level, 4 lost of 64.
    series = head_to_head([1] * 3 + [5] * 5 + [0] * 52 + [-2] * 4)
    assert (series.boards, series.won, series.drawn, series.lost) == (64, 8, 52, 4)
    assert series.by_sign.elo == pytest.approx(21.7431, abs=5e-5)
    assert series.by_sign.elo_error == pytest.approx(36.7533, abs=5e-5)
    assert series.by_sign.nelo == pytest.approx(35.8352, abs=5e-5)


def test_points_per_board_carry_the_error_of_their_mean():
    series = head_to_head([2, 0, 0, -1, 4, 1])
    assert series.points_per_board == 1.0
    # Squares about 1: 1 + 1 + 1 + 4 + 9 + 0 = 16; population sd √(16/6).
    assert series.points_error == pytest.approx(1.959964 * math.sqrt(16 / 6) / math.sqrt(6))


@pytest.mark.parametrize("differences", [[], [2], [0, 0, 0]])
def test_points_without_spread_have_no_error(differences):
    assert head_to_head(differences).points_error is None


def test_a_series_without_boards_is_empty_rather_than_an_error():
    series = head_to_head([])
    assert (series.boards, series.points_per_board, series.by_sign.elo) == (0, None, None)


VICTORY_POINTS = {
    16: {0: 0.5, 1: 0.605015, 2: 0.701156, 3: 0.782316, 5: 0.893977, 8: 0.968054, 12: 0.994041},
    32: {0: 0.5, 1: 0.574812, 2: 0.646349, 3: 0.711882, 5: 0.818701, 8: 0.917746, 12: 0.973869},
}


@pytest.mark.parametrize(
    ("boards", "difference", "score"),
    [(n, d, score) for n, column in VICTORY_POINTS.items() for d, score in column.items()],
)
def test_victory_points_grow_with_the_difference_and_are_shared(boards, difference, score):
    assert vp_score(difference, boards=boards) == pytest.approx(score, abs=5.1e-7)
    assert vp_score(-difference, boards=boards) == pytest.approx(1 - score, abs=5.1e-7)


def test_victory_points_of_the_largest_difference_are_still_a_score():
    assert 0.0 < vp_score(-80, boards=16) < 1e-14
    assert vp_score(5 * 1000, boards=1) == 1.0
