"""Rating models that the ladder does not use, fitted to the same results: what it would change.

They are here as oracles only. Each is a likelihood, maximised with numerical derivatives; the
numbers are those that the models' own programs publish.
"""

import math

import numpy as np
import pytest

from arena.ladder.ratings.bradley_terry import NATS_PER_POINT, fit
from arena.ladder.ratings.comparison import evidence_of, free_for_all, one_on_one

STEP = 1e-4


def maximum(log_likelihood, parameters):
    """The parameters, all from 0, at which a concave function is largest: Newton's method."""
    x = np.zeros(parameters)
    steps = STEP * np.eye(parameters)
    for _ in range(50):
        rises = [log_likelihood(x + step) - log_likelihood(x - step) for step in steps]
        gradient = np.array(rises) / (2 * STEP)
        curvature = [
            [
                sum(
                    a * b * log_likelihood(x + a * one + b * other)
                    for a in (1, -1)
                    for b in (1, -1)
                )
                for other in steps
            ]
            for one in steps
        ]
        move = np.linalg.solve(np.array(curvature) / (4 * STEP**2), -gradient)
        x += move / max(1.0, np.abs(move).max())
        if np.abs(move).max() < 1e-8:
            return x
    raise AssertionError("the likelihood has no maximum near 0")


def elo(nats):
    return 1500 + nats / NATS_PER_POINT


# -- draws

DRAWS = [(0, 1, 6, 3, 1), (1, 2, 5, 2, 3), (0, 2, 7, 2, 1)]
"""Vector R4: i, j, wins of i, draws, losses."""


def with_draws(outcomes):
    """The likelihood of DRAWS where `outcomes(lead, width)` are the logs of win, draw and loss."""

    def log_likelihood(x):
        *nats, width = x
        logs = [np.dot(wdl, outcomes(nats[i] - nats[j], width)) for i, j, *wdl in DRAWS]
        return sum(logs) - sum(nats) ** 2  # of all that differ by a shift, the one centred on 0

    return log_likelihood


def davidson(lead, log_nu):
    terms = np.array([lead / 2, log_nu, -lead / 2])
    return terms - math.log(np.exp(terms).sum())


def rao_kupper(lead, width):
    win, loss = (1 / (1 + math.exp(width - sign * lead)) for sign in (1, -1))
    return np.log([win, max(1 - win - loss, 1e-300), loss])


def test_davidsons_draws_are_on_another_scale():
    *nats, log_nu = maximum(with_draws(davidson), 4)
    assert elo(np.array(nats)) == pytest.approx(np.array([1703.095, 1444.077, 1352.827]), abs=5e-3)
    assert math.exp(log_nu) == pytest.approx(0.77060, abs=1e-5)


def test_rao_and_kuppers_draws_are_on_yet_another():
    def log_likelihood(x):
        return with_draws(rao_kupper)(x + np.array([0, 0, 0, 0.5]))

    *nats, width = maximum(log_likelihood, 4)
    assert elo(np.array(nats)) == pytest.approx(np.array([1651.146, 1462.905, 1385.949]), abs=5e-3)
    assert (width + 0.5) / NATS_PER_POINT == pytest.approx(108.012, abs=5e-3)


# -- games of three


def plackett_luce(rankings, bots, *, pseudo=0.0):
    """Nats from rankings, best first, with how often each occurred; `pseudo` wins and losses of
    everybody against somebody at 0."""

    def log_likelihood(x):
        total = sum(
            times * (x[ranking[k]] - np.logaddexp.reduce(x[list(ranking[k:])]))
            for ranking, times in rankings
            for k in range(len(ranking) - 1)
        )
        virtual = pseudo * sum(nats - 2 * np.logaddexp(0, nats) for nats in x)
        return total + virtual - (0.0 if pseudo else sum(x) ** 2)

    return maximum(log_likelihood, bots)


COUNTED = [("012", 3), ("102", 1), ("023", 2), ("203", 1), ("123", 2), ("312", 1), ("013", 2)]
RANKINGS = [([*map(int, text)], times) for text, times in [*COUNTED, ("130", 1)]]


@pytest.mark.parametrize(
    ("pseudo", "ratings"),
    [
        (0.0, [1709.805, 1648.059, 1396.372, 1245.764]),
        (0.5, [1688.052, 1632.379, 1401.104, 1269.663]),
    ],
)
def test_whole_rankings_say_nearly_what_their_pairs_say(pseudo, ratings):
    whole = elo(plackett_luce(RANKINGS, 4, pseudo=pseudo))
    assert whole == pytest.approx(np.array(ratings), abs=5e-3)
    games = [
        free_for_all({str(bot): rank for rank, bot in enumerate(ranking)})
        for ranking, times in RANKINGS
        for _ in range(times)
    ]
    pairwise = fit(evidence_of(games), prior_draws=2 * pseudo).ratings
    assert pairwise == pytest.approx(whole, abs=25)


def test_choix_publishes_the_same_for_rankings_of_two_and_three():
    nats = plackett_luce([([0, 1, 2], 1), ([3, 2, 0], 1), ([1, 3], 1)], 4)
    assert nats == pytest.approx(np.array([-0.44328, 0.69506, -0.67061, 0.41883]), abs=3e-5)


@pytest.mark.parametrize(
    ("winners", "pseudo", "published"),
    [
        ("AB CA AD BA BC", 0.5, [0, 0.5184185, 0.1354707, -1.1537565]),
        ("AB CA BA BC", 0.0, [0, 0.8392, 0.4196]),
    ],
)
def test_the_package_plackettluce_publishes_the_same_for_pairs(winners, pseudo, published):
    pairs = [["ABCD".index(one) for one in pair] for pair in winners.split()]
    nats = plackett_luce([(pair, 1) for pair in pairs], len(published), pseudo=pseudo)
    assert nats - nats[0] == pytest.approx(np.array(published), abs=1e-4)
    # Of pairs it is the ladder's own model; half a win and half a loss are a virtual draw.
    ours = fit(
        evidence_of([one_on_one(str(a), str(b), score=1.0) for a, b in pairs]),
        prior_draws=2 * pseudo,
    )
    assert ours.ratings == pytest.approx(elo(nats), abs=1e-3)
