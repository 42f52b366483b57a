"""Leagues whose truth is known: made as they should be, and covered as often as bars say."""

import re

import numpy as np
import pytest

from simulations.coverage import (
    FORMATS,
    LEAGUES,
    PAGE,
    Boards,
    GamesOfThree,
    MirroredRaces,
    coverage,
    made_up,
    report,
)
from simulations.page import DOCS, markers

WDL, VP, RACES, THREES = FORMATS
EQUALS = np.zeros((20_000, 3))
"""Strengths of as many matches of three equals."""


def by_name(kind):
    return kind.name


@pytest.mark.parametrize("lead", [0.0, 0.4, -1.5, 3.0])
@pytest.mark.parametrize("kind", FORMATS, ids=by_name)
def test_scores_are_in_the_mean_what_the_ratings_say(kind, lead):
    rng = np.random.default_rng(3)
    strengths = np.zeros((40_000, kind.sides))
    strengths[:, 0] = lead
    scores, expected = kind.play(rng, strengths), kind.expected(strengths)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores.mean(axis=0) == pytest.approx(expected[0], abs=4 * 0.5 / 200)


def test_matches_vary_as_those_of_their_format():
    rng = np.random.default_rng(4)
    drawn = {kind.name: (kind.play(rng, EQUALS[:, : kind.sides]) == 0.5).mean() for kind in FORMATS}
    assert 0.1 < drawn[WDL.name] < 0.2
    assert drawn[RACES.name] == pytest.approx(0.75, abs=0.01)
    assert drawn[THREES.name] == pytest.approx(0.15, abs=0.01)
    spread = VP.play(rng, EQUALS[:, :2]).std()
    assert 0.1 < spread < 0.3


def test_games_of_three_have_their_pairs_in_common():
    scores = THREES.play(np.random.default_rng(5), EQUALS)
    # Who beat the one has likely beaten the other.
    assert 0.25 < np.corrcoef(scores[:, 0], scores[:, 1])[0, 1] < 0.4


@pytest.mark.parametrize("kind", [WDL, VP, RACES], ids=by_name)
def test_the_truth_of_two_sides_is_what_the_league_was_made_with(kind):
    for one in made_up(kind, 3, seed=6):
        assert one.truth == pytest.approx(one.made_with, abs=1e-4)


def test_the_truth_of_three_sides_allows_for_their_ties():
    (one,) = made_up(THREES, 1, seed=6)
    assert np.corrcoef(one.truth, one.made_with)[0, 1] > 0.999
    assert one.truth.std() == pytest.approx(one.made_with.std(), rel=0.05)


def test_leagues_are_as_large_as_said_and_the_same_for_a_seed():
    first, again = (list(made_up(THREES, 30, seed=7)) for _ in range(2))
    assert [one.fitted.table() for one in first] == [one.fitted.table() for one in again]
    for one in first:
        assert 10 <= len(one.fitted.players) <= 20
        assert 18 <= one.matches_each <= 180
        assert np.mean(one.fitted.matches) == pytest.approx(one.matches_each, abs=1.5)
        assert sum(one.loose.matches) == 2 * sum(one.fitted.matches)
    assert len({one.matches_each for one in first}) > 20


@pytest.mark.parametrize("kind", FORMATS, ids=by_name)
def test_bars_and_leads_cover_as_often_as_they_say(kind):
    seen = coverage(made_up(kind, 200, seed=8))
    assert 0.93 < seen.bars < 0.97
    assert 0.93 < seen.leads < 0.97
    assert seen.ranks > 0.97  # of bots whose every single lead is held to 95 %
    assert seen.los_said == pytest.approx(seen.los_was, abs=0.03)


def test_pairs_of_a_game_of_three_taken_apart_are_too_sure():
    seen = coverage(made_up(THREES, 200, seed=9))
    assert seen.loose < 0.93 < seen.bars


def test_the_models_errors_are_too_wide_where_a_score_is_an_average():
    seen = coverage(made_up(VP, 50, seed=10))
    assert seen.model > 0.99


def test_the_report_has_a_line_for_each_format():
    table = report(30, seed=11)
    assert table == report(30, seed=11)
    assert "30 leagues" in table
    for kind in (Boards("16 boards, win-draw-loss"), MirroredRaces(), GamesOfThree()):
        assert f"| {kind.name} |" in table
    assert "under 30 matches" in table


def test_the_page_shows_what_a_thousand_leagues_of_each_format_have_kept_to():
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    first, last = markers("coverage")
    table = page.split(first)[1].split(last)[0]
    assert f"{LEAGUES:,} leagues of each kind" in table
    for kind in FORMATS:
        covered, of_leads = re.findall(
            rf"^\| {kind.name} \| (\S+) .* \| (\S+) %(?: \|[^|]*){{3}} \|$", table, re.M
        )[0]
        assert 93 < float(covered) < 97
        assert 93 < float(of_leads) < 97
