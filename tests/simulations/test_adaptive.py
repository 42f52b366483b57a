"""Adaptive pairing against a round robin: small leagues, and the figures that the plan rests on."""

import re

import numpy as np
import pytest

from arena.ladder.ratings.fitted import Errors
from simulations.adaptive import (
    DESIGNS,
    MEASURES,
    PAGE,
    League,
    designs,
    needed,
    seen_in,
    standard_errors,
)
from simulations.page import DOCS, markers


def test_the_figures_of_the_plan_come_out_again():
    found = designs(60, 80, np.random.default_rng(1))
    planned = {name: float(text.split(" / ")[0]) for name, text in DESIGNS.items()}
    for name, errors in found.items():
        assert errors.mean() == pytest.approx(planned[name], rel=0.06), name
    assert found["largest gain"].max() == pytest.approx(61, rel=0.06)


def test_with_as_many_matches_adaptive_pairing_leaves_smaller_errors():
    seen = [seen_in(20, np.random.default_rng([7, k]), matches_a_bot=60) for k in range(4)]
    robin = np.mean([one.round_robin for one in seen], axis=0)
    adaptive = np.mean([one.adaptive for one in seen], axis=0)
    assert seen[0].matches[-1] == 60
    assert np.all(np.mean([one.covered for one in seen], axis=0) > 0.85)
    for measure in ("mean standard error", "worst standard error", "mean error"):
        column = MEASURES.index(measure)
        assert adaptive[-1, column] < robin[column], measure
        assert needed(adaptive[:, column], seen[0].matches, target=robin[column]) < 60


def test_the_standard_errors_are_those_of_the_fit():
    truth = np.linspace(1300, 1700, 8)
    league = League(truth, np.random.default_rng(3))
    for _ in range(3):
        league.play([(a, b) for a in range(8) for b in range(a)])
    fitted = league.fit()
    expected = list(fitted.centred().standard_errors(Errors.MODEL).values())
    met = 3 * (np.ones((8, 8), dtype=np.int64) - np.eye(8, dtype=np.int64))
    assert standard_errors(fitted.ratings, met) == pytest.approx(expected)


def test_results_are_those_of_the_ratings():
    league = League(np.array([1600.0, 1500.0]), np.random.default_rng(3))
    league.play([(0, 1), (1, 0)] * 2000)
    fitted = league.fit()
    assert fitted.ratings[0] - fitted.ratings[1] == pytest.approx(100, abs=24)


@pytest.mark.parametrize(
    ("target", "matches"), [(5.0, 10.0), (3.5, 15.0), (1.0, 40.0), (0.5, np.inf), (2.0, 30.0)]
)
def test_how_many_matches_are_needed_is_read_off_the_curve(target, matches):
    curve, played = np.array([4.0, 3.0, 2.5, 1.0]), np.array([10.0, 20.0, 25.0, 40.0])
    assert needed(curve, played, target=target) == pytest.approx(matches)


def test_a_curve_that_comes_back_up_has_not_arrived():
    assert needed(np.array([4.0, 1.0, 3.0, 1.0]), np.arange(4.0), target=2.0) == 2.5


def test_the_page_shows_what_was_simulated():
    first, last = markers("adaptive")
    part = (DOCS / PAGE).read_text(encoding="utf-8").split(first)[1].split(last)[0]
    for bots in (30, 300):
        for measure in MEASURES:
            assert re.search(rf"^\| {bots} \| {measure} \| \d+ Elo \|", part, re.MULTILINE)
        assert f"| {bots} | bars of 95 % that cover | " in part
    for name in DESIGNS:
        assert f"| {name} | " in part
