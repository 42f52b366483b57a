"""What a fit says of its players: ranks and their intervals, leads, and results that surprise."""

import random
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from arena.ladder.ratings.bradley_terry import fit
from arena.ladder.ratings.comparison import (
    Comparison,
    evidence_of,
    free_for_all,
    grouped,
    one_on_one,
)
from arena.ladder.ratings.elo import expected_score
from arena.ladder.ratings.fitted import Errors
from arena.ladder.ratings.statistics import Z95


def fit_to(matches, players=(), **options):
    return fit(evidence_of(matches, players), **options)


def ladder(seed, *, players=10, matches=400, spread=150.0, draws=0.0):
    """A field whose first player has met few, so that both kinds of error are asked for."""
    rng = random.Random(seed)
    strength = {f"bot{i:02}": rng.gauss(1500, spread) for i in range(players)}
    names = sorted(strength)
    pairs = [rng.sample(names[1:], 2) for _ in range(matches)] + [names[:2]] * 5
    return [
        one_on_one(
            a,
            b,
            score=0.5
            if rng.random() < draws
            else float(rng.random() < expected_score(strength[a], strength[b])),
        )
        for a, b in pairs
    ]


@pytest.mark.parametrize("errors", [None, *Errors])
@pytest.mark.parametrize("seed", range(3))
def test_a_rank_is_open_as_far_as_leads_may_be_none(seed, errors):
    found = fit_to(ladder(seed, draws=0.3))
    intervals = found.rank_intervals(errors=errors)
    for player in found.players:
        above = below = 0
        for other in set(found.players) - {player}:
            lead = found.difference(player, other, errors=errors)
            above += lead.elo < -Z95 * lead.standard_error
            below += lead.elo > Z95 * lead.standard_error
        assert intervals[player] == (1 + above, len(found.players) - below)
    place = {player: rank for rank, player in enumerate(found.ranking(), start=1)}
    assert all(best <= place[p] <= worst for p, (best, worst) in intervals.items())
    assert intervals != {p: (1, len(place)) for p in place}  # not everything is open
    assert intervals != {p: (rank, rank) for p, rank in place.items()}  # nor everything known


def test_both_kinds_of_error_are_at_work_in_one_field():
    found = fit_to(ladder(0, draws=0.3))
    intervals = [found.rank_intervals(errors=errors) for errors in (None, *Errors)]
    assert found.matches[0] < 30 <= min(found.matches[1:])
    assert intervals[0]["bot00"] == intervals[1]["bot00"]


def test_an_anchor_leaves_ranks_and_their_intervals_alone():
    found = fit_to(ladder(1))
    anchored = found.anchored("bot05")
    assert anchored.ranking() == found.ranking()
    assert anchored.rank_intervals() == found.rank_intervals()


def test_each_is_compared_with_the_next_in_rank_and_the_last_with_nobody():
    found = fit_to(ladder(2))
    order, los = found.ranking(), found.los_next()
    assert list(found.table()) != list(order)
    assert [los[p] for p in order[:-1]] == [
        found.difference(p, after).los for p, after in pairwise(order)
    ]
    assert all((los[p] or 0) >= 0.5 for p in order[:-1])
    assert los[order[-1]] is None
    assert fit_to([]).los_next() == {}


def test_equal_results_are_ranked_by_name():
    results = [("top", "b", 0.7), ("top", "a", 0.7), ("b", "low", 0.9), ("a", "low", 0.9)]
    found = fit_to([one_on_one(x, y, score=s) for x, y, s in results], ["b", "low", "a", "top"])
    assert found.ranking() == ("top", "a", "b", "low")
    rounded = replace(found, ratings=found.ratings + np.array([1e-9, 0.0, 0.0, 0.0]))
    assert rounded.ranking() == ("top", "a", "b", "low")


def test_nobody_has_the_only_rank_there_is():
    assert fit_to([], ["a"]).rank_intervals() == {"a": (1, 1)}
    assert fit_to([]).rank_intervals() == {}


# -- residuals


def test_a_pair_that_plays_otherwise_than_against_the_rest_stands_out():
    thrown = [one_on_one("bot03", "bot04", score=0.0) for _ in range(80)]
    honest = [one_on_one("bot03", "bot04", score=0.5) for _ in range(80)]
    for pair, is_odd in ((thrown, True), (honest, False)):
        found = fit_to(ladder(3, matches=2000, spread=50.0) + pair)
        odd = found.residuals(beyond=4.0)
        assert [(r.first, r.second) for r in odd] == ([("bot04", "bot03")] if is_odd else [])


def test_a_residual_is_the_surprise_over_its_standard_deviation():
    matches = [one_on_one("a", "b", score=s) for s in [1.0] * 30 + [0.0] * 10]
    matches += [one_on_one(*pair, score=s) for pair in ("ac", "bc") for s in [1.0, 0.0] * 20]
    found = fit_to(matches)
    p = expected_score(found.rating("a"), found.rating("b"))
    residual = found.residual("a", "b")
    assert (residual.matches, residual.score) == (40, 30.0)
    assert residual.expected == pytest.approx(40 * p)
    # Nothing but wins and losses: the spread of the scores is that of games.
    assert residual.z == pytest.approx((30 - 40 * p) / (40 * p * (1 - p)) ** 0.5)
    assert found.residual("b", "a").z == pytest.approx(-residual.z)
    assert found.residual("b", "a").score == 10.0


def test_the_spread_of_scores_allows_for_the_ratings_fitted_to_them():
    found = fit_to([one_on_one("a", "b", score=s) for s in (1.0, 0.5, 0.5, 0.5, 0.5)])
    p = expected_score(found.rating("a"), found.rating("b"))
    seen = (1 - p) ** 2 + 4 * (0.5 - p) ** 2
    # Five scores and two players, of whom one is free.
    assert found.meetings.variance[0, 1] == pytest.approx(seen * 5 / 4)


def test_where_many_are_drawn_a_surprise_counts_for_more():
    # Three in four are drawn everywhere: the variance of a score is a quarter of a game's.
    scores = [0.5] * 6 + [0.0, 1.0]
    matches = [one_on_one(*pair, score=s) for pair in combinations("abcd", 2) for s in scores * 40]
    found = fit_to([*matches, *[one_on_one("a", "b", score=1.0)] * 4])
    residual = found.residual("a", "b")
    as_games = (residual.score - residual.expected) / (residual.matches * 0.25) ** 0.5
    assert residual.z == pytest.approx(2 * as_games, rel=0.02)


def test_residuals_of_a_field_are_about_standard_normal():
    z = [r.z for seed in range(20) for r in fit_to(ladder(seed, draws=0.4)).residuals()]
    # Less than 1, by what the ratings take up of it: 9 of 45 pairs.
    assert np.mean(np.square(z)) == pytest.approx(0.8, abs=0.1)


def test_all_pairs_that_met_are_told_once_the_most_surprising_first():
    found = fit_to(ladder(4, players=6, matches=60), [f"bot{i:02}" for i in range(7)])
    told = found.residuals()
    met = {frozenset((c.first, c.second)) for (c,) in ladder(4, players=6, matches=60)}
    assert {frozenset((r.first, r.second)) for r in told} == met
    assert len(told) == len(met)
    assert [r.z for r in told] == sorted((abs(r.z) for r in told), reverse=True)
    assert found.residual("bot06", "bot00").z == 0.0


def test_scores_without_any_spread_surprise_nobody():
    found = fit_to([one_on_one("a", "b", score=0.5)] * 10)
    assert [r.z for r in found.residuals()] == [0.0]


# -- matches of three


def test_a_pair_without_weight_is_no_evidence_and_its_match_counts_once_for_each():
    # Games of three in which a and b have one owner.
    rng = random.Random(5)
    games = [{"a": rng.randint(1, 3), "b": 1, "c": 2, "d": rng.randint(1, 3)} for _ in range(40)]
    for game in games:
        del game[rng.choice("cd")]
    rated = [tuple(c for c in free_for_all(g) if {c.first, c.second} != {"a", "b"}) for g in games]
    found = fit_to(rated)
    assert found.matches[:2] == (40, 40)
    assert found.matches[2] + found.matches[3] == 40
    assert found.residual("a", "b").matches == 0
    loose = fit_to([(c,) for match in rated for c in match])
    assert found.table() == pytest.approx(loose.table())
    assert found.bars() != pytest.approx(loose.bars())  # but clustered


def test_somebody_on_two_sides_of_a_match_has_played_it_once():
    lineups = np.array([[0, 1, 0], [0, 1, 0]])
    scores, weights = np.array([[1.0, 0.5, 0.5], [0.0, 0.5, 1.0]]), np.array([[1.0, 0, 1]] * 2)
    found = fit(grouped("ab", lineups, scores=scores, weights=weights))
    twice = [(Comparison("a", "b", s),) for s in (1.0, 0.5, 0.0, 0.0)]
    assert found.matches == (2, 2)
    assert found.table() == pytest.approx(fit_to(twice).table())
    # One match, one unit: its two comparisons are added up before they are squared.
    clustered = fit_to([(Comparison("a", "b", s, weight=2.0),) for s in (0.75, 0.0)])
    assert found.bars(errors=Errors.SANDWICH) == pytest.approx(
        clustered.bars(errors=Errors.SANDWICH)
    )


def test_three_hundred_players_and_two_hundred_thousand_matches_are_no_work():
    rng = np.random.default_rng(1)
    strength = rng.normal(0, 1, 300)
    lineups = np.array([rng.choice(300, 2, replace=False) for _ in range(2000)])
    lineups = np.vstack([lineups[rng.permutation(2000)] for _ in range(100)])
    p = 1 / (1 + np.exp(strength[lineups[:, 1]] - strength[lineups[:, 0]]))
    scores = (rng.random(len(p)) < p).astype(float)[:, None]
    players = [f"bot{i:03}" for i in range(300)]
    found = fit(grouped(players, lineups, scores=scores))
    backwards = fit(grouped(players, lineups[::-1, ::-1], scores=1 - scores[::-1]))
    assert np.array_equal(found.ratings, backwards.ratings)
    for errors in Errors:
        assert np.array_equal(found.covariances[errors], backwards.covariances[errors])
    assert found.rank_intervals() == backwards.rank_intervals()
    assert sum(found.matches) == 400_000
