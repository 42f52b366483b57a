"""The sequential test keeps its error rates: hundreds of tests here, thousands in a full run."""

import numpy as np
import pytest

from arena.ladder.ratings.sprt import Model, Sprt, llr
from arena.ladder.ratings.statistics import Outcomes, Unit, score_statistics
from simulations.sequential import (
    VALUES,
    boards_with,
    characteristics,
    fixed_boards,
    ratios,
    report,
)

SMOKE = Sprt(elo0=0, elo1=50, cap=10**9)


def test_the_ratios_of_many_tests_are_those_of_one() -> None:
    rng = np.random.default_rng(5)
    counts = rng.multinomial(64, rng.dirichlet(np.full(5, 0.3), size=200)).astype(float)
    for test in (SMOKE, Sprt(elo0=-40, elo1=3, cap=1)):
        one_by_one = [
            llr(
                Outcomes(tuple(map(int, row)), tuple(map(float, VALUES)), Unit.PAIR),
                test.elo0,
                test.elo1,
                model=Model.NORMALIZED,
            )
            for row in counts
        ]
        assert ratios(counts, test) == pytest.approx(one_by_one, abs=1e-6)


@pytest.mark.parametrize("nelo", [-10, 0, 20, 50])
def test_the_boards_have_the_gap_that_is_asked_for(nelo: float) -> None:
    counts = tuple(round(1e9 * share) for share in boards_with(nelo))
    found = score_statistics(Outcomes(counts, tuple(map(float, VALUES)), Unit.PAIR))
    assert found.nelo == pytest.approx(nelo, abs=1e-4)
    assert found.variance == pytest.approx(0.0165, abs=0.003)  # sd of D about 0.9


def test_the_error_rates_are_kept_and_the_lengths_are_those_that_are_expected() -> None:
    at_lower, at_middle, at_upper = characteristics(SMOKE, runs=600, seed=1)
    # 5 % of 600 is 30, give or take 5; a look each 16 boards overshoots, so it is fewer.
    assert at_lower.accepted < 0.065
    assert at_upper.accepted > 0.935
    assert 0.4 < at_middle.accepted < 0.6
    for found in (at_lower, at_middle, at_upper):
        expected = SMOKE.expected_total(found.nelo)
        assert expected < found.mean_boards < 1.45 * expected
        assert found.mean_boards < found.most_boards
    assert at_lower.mean_boards < fixed_boards(SMOKE)


def test_a_test_that_is_content_with_less_errs_more_often() -> None:
    at_lower, _, at_upper = characteristics(
        Sprt(elo0=0, elo1=50, alpha=0.15, beta=0.15, cap=10**9), runs=600, seed=1
    )
    assert at_lower.accepted > 0.065
    assert at_upper.accepted < 0.935


def test_the_table_has_a_line_for_each_pair_of_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulations.sequential.BOUNDS", ((0.0, 50.0), (-50.0, 50.0)))
    heading, _, first, second = report(5, seed=1).splitlines()
    assert heading.count("|") == first.count("|") == second.count("|")
    assert first.startswith("| [0, 50] | ")
    assert first.endswith(" | 261 |")
    assert second.endswith(" | 65 |")


def test_the_same_seed_gives_the_same_figures() -> None:
    first, again, other = (characteristics(SMOKE, runs=20, seed=seed) for seed in (2, 2, 3))
    assert first == again != other
