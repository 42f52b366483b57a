"""Bradley–Terry ratings and their errors against published fits and independent programs."""

import json
import math
import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from arena.ladder.ratings.bradley_terry import NATS_PER_POINT, NotConnectedError, fit
from arena.ladder.ratings.comparison import Comparison, evidence_of, free_for_all, one_on_one
from arena.ladder.ratings.elo import expected_score
from arena.ladder.ratings.fitted import Errors

VECTORS_FOLDER = Path(__file__).parent / "vectors"
VECTORS = json.loads((VECTORS_FOLDER / "bradley_terry.json").read_text())
ORDO = json.loads((VECTORS_FOLDER / "ordo.json").read_text())
THOUSANDTH = 5.1e-4


def fit_to(matches, players=(), **options):
    return fit(evidence_of(matches, players), **options)


def from_tallies(tallies):
    """[i, j, wins of i, draws, losses] as that many matches."""
    return [
        one_on_one(str(i), str(j), score=score)
        for i, j, won, drawn, lost in tallies
        for score in [1.0] * won + [0.5] * drawn + [0.0] * lost
    ]


def fit_of(vector):
    if "weighted" in vector:
        matches = [(Comparison(str(i), str(j), s, weight=w),) for i, j, s, w in vector["weighted"]]
    else:
        matches = from_tallies(vector["games"])
    found = fit_to(matches, prior_draws=vector["prior_v"])
    if "anchor" in vector:
        player, at = vector["anchor"]
        found = found.anchored(str(player), at=at)
    return found


def vector(name):
    return next(v for v in VECTORS if v["name"].split()[0] == name)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"].split()[0])
def test_known_results_give_the_known_ratings(vector):
    assert fit_of(vector).ratings == pytest.approx(np.array(vector["ratings"]), abs=THOUSANDTH)


@pytest.mark.parametrize("errors", Errors)
@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if "se_model" in v], ids=lambda v: v["name"].split()[0]
)
def test_known_results_give_the_known_standard_errors(vector, errors):
    found = fit_of(vector)
    for column, frame in (("se", found), ("se_centred", found.centred())):
        expected = vector[f"{column}_{errors.value}"]
        assert list(frame.standard_errors(errors).values()) == pytest.approx(
            expected, abs=THOUSANDTH
        ), column


def test_wikipedia_publishes_the_same_strengths():
    strengths = np.exp(NATS_PER_POINT * (fit_of(vector("R1")).ratings - 1500))
    assert strengths.round(3) == pytest.approx(np.array([0.640, 1.043, 0.660, 2.270]))


def test_choix_publishes_the_same_parameters():
    nats = NATS_PER_POINT * (fit_of(vector("R2")).ratings - 1500)
    assert nats == pytest.approx(np.array([0.419617624, -0.419617624, 0.0]), abs=5e-9)


def test_three_quarters_are_exactly_400_log_3_apart():
    found = fit_of(vector("R3"))
    assert found.difference("0", "1").elo == pytest.approx(400 * math.log10(3), abs=1e-6)


def test_ordo_gives_the_same_five_bot_table_without_a_prior():
    found = fit_to(from_tallies(vector("R8")["games"]), prior_draws=0)
    ordo = [1793.017, 1539.097, 1539.097, 1363.662, 1265.127]
    assert found.ratings == pytest.approx(np.array(ordo), abs=THOUSANDTH)


def fit_of_league(league):
    """Players by number, without a prior."""
    players = sorted({str(i) for pair in league["games"] for i in pair[:2]}, key=int)
    return fit_to(from_tallies(league["games"]), players, prior_draws=0)


@pytest.mark.parametrize("league", ORDO, ids=lambda v: v["name"])
def test_ordo_gives_the_same_ratings_to_a_hundredth(league):
    """Ordo 1.2.6, built from its source, reads the PGN of `arena.ladder.ratings.pgn`:

        ordo -q -p league.pgn -a 1500 -z 200.2413 -N 3 -c ratings.csv

    `-z` is the lead that is worth 76 %, 400 log10(.76/.24); Ordo's own 202 is another scale. White
    has no advantage unless `-w` or `-W` say so, and a draw is half a win.
    """
    assert fit_of_league(league).ratings == pytest.approx(np.array(league["ordo"]), abs=0.01)


def test_bayeselo_gives_the_same_ratings_where_nothing_is_drawn():
    """BayesElo 0058 with its prior and its model of draws switched off, in whole points:

    readpgn league.pgn, elo, prior 0, advantage 0, drawelo 0, mm 0 0, scale 1, offset 1500, ratings
    """
    league = next(league for league in ORDO if "bayeselo" in league)
    assert fit_of_league(league).ratings == pytest.approx(np.array(league["bayeselo"]), abs=0.51)


def test_a_lead_has_the_error_of_the_pair_and_not_of_its_players():
    found = fit_of(vector("R4"))
    by_kind = [found.difference("0", "1", errors=e).standard_error for e in Errors]
    assert by_kind == pytest.approx([102.767, 82.115], abs=THOUSANDTH)
    los = [found.difference(a, b, errors=Errors.SANDWICH).los for a, b in (("0", "1"), ("1", "2"))]
    assert los == pytest.approx([0.987479, 0.782551], abs=5.1e-7)


def test_a_lead_does_not_depend_on_the_origin():
    found = fit_of(vector("R5"))
    for frame in (found.anchored("2", at=0.0), found.centred()):
        for errors in Errors:
            here, there = (f.difference("0", "1", errors=errors) for f in (found, frame))
            assert here.elo == pytest.approx(there.elo)
            assert here.standard_error == pytest.approx(there.standard_error)


def test_an_anchor_only_shifts():
    found = fit_of(vector("R8"))
    anchored = found.anchored("3", at=1000.0)
    assert anchored.rating("3") == pytest.approx(1000.0)
    assert np.ptp(anchored.ratings - found.ratings) == pytest.approx(0.0, abs=1e-9)
    assert anchored.standard_errors(Errors.MODEL)["3"] == pytest.approx(0.0, abs=1e-5)
    assert anchored.bars() == pytest.approx(found.bars())


# Games of three, given as players/ranks.
RANKED = "012/123 " * 3 + "102/123 " + "023/123 " * 2 + "203/123 " + "123/123 " * 2
RANKED += "312/123 " + "013/123 " * 2 + "130/123"
RANKED_WITH_TIES = "012/123 012/113 012/212 123/122 023/123 013/213 301/123 231/111"


def games_of_three(text):
    games = [game.split("/") for game in text.split()]
    return [free_for_all(dict(zip(names, map(int, ranks), strict=True))) for names, ranks in games]


@pytest.mark.parametrize(
    ("games", "prior_draws", "ratings", "standard_errors"),
    [
        (RANKED, 0, [1720.811, 1647.659, 1373.728, 1257.802], [109.941, 60.629, 67.961, 123.389]),
        (
            RANKED_WITH_TIES,
            0,
            [1610.766, 1608.258, 1361.846, 1419.130],
            [69.959, 88.904, 48.623, 115.861],
        ),
        (RANKED_WITH_TIES, 1, [1600.895, 1600.044, 1372.116, 1425.778], None),
    ],
)
def test_the_pairs_of_a_game_of_three_are_one_unit_of_evidence(
    games, prior_draws, ratings, standard_errors
):
    found = fit_to(games_of_three(games), prior_draws=prior_draws)
    assert found.ratings == pytest.approx(np.array(ratings), abs=THOUSANDTH)
    if standard_errors is not None:
        sandwich = found.standard_errors(Errors.SANDWICH)
        assert list(sandwich.values()) == pytest.approx(standard_errors, abs=THOUSANDTH)


def test_the_model_takes_those_pairs_for_independent():
    naive = fit_to(games_of_three(RANKED), prior_draws=0).standard_errors(Errors.MODEL)
    assert list(naive.values()) == pytest.approx([82.405, 75.846, 75.183, 90.456], abs=THOUSANDTH)


def random_ladder(seed, *, players=12, matches=150, spread=300.0):
    rng = random.Random(seed)
    strengths = {f"bot{i:02}": rng.gauss(1500, spread) for i in range(players)}
    played = []
    for _ in range(matches):
        a, b = rng.sample(sorted(strengths), 2)
        is_won = rng.random() < expected_score(strengths[a], strengths[b])
        played.append(one_on_one(a, b, score=rng.choice([0.5, float(is_won), float(is_won)])))
    return played


@pytest.mark.parametrize("seed", range(5))
def test_expected_scores_add_up_to_every_total_but_for_the_virtual_draws(seed):
    matches = random_ladder(seed)
    found = fit_to(matches)
    for player in found.players:
        surprise = 0.5 - expected_score(found.rating(player), 1500.0)
        for (c,) in matches:
            p = expected_score(found.rating(c.first), found.rating(c.second))
            surprise += {c.first: c.score - p, c.second: p - c.score}.get(player, 0.0)
        assert surprise == pytest.approx(0.0, abs=1e-9), (seed, player)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_matches_does_not_show_in_the_last_bit(seed):
    rng = random.Random(seed)
    matches = [one_on_one(*rng.sample("abcd", 2), score=rng.random()) for _ in range(100)]
    shuffled = rng.sample(matches, len(matches))
    first, second = fit_to(matches), fit_to(shuffled)
    assert first.table() == second.table()
    assert first.bars() == second.bars()


@pytest.mark.parametrize("spread", [50, 500, 3000])
@pytest.mark.parametrize("prior_draws", [0.01, 1.0])
def test_the_fit_converges_however_uneven_the_field(spread, prior_draws):
    chain = [
        one_on_one(f"{i:02}", f"{i + 1:02}", score=1.0) for i in range(19) for _ in range(spread)
    ]
    ladder = random_ladder(1, players=20, matches=400, spread=spread)
    for matches in (chain, ladder, chain + ladder):
        found = fit_to(matches, prior_draws=prior_draws)
        assert np.isfinite(found.ratings).all()


def test_a_step_far_from_the_maximum_is_cut_short():
    # From where full Newton steps lead here, the curvature is 0 to the last bit.
    tallies = [[1, 2, 0, 0, 25], [2, 3, 1, 0, 0], [0, 4, 167, 0, 0], [3, 4, 0, 0, 1007]]
    found = fit_to(from_tallies([*tallies, [1, 0, 0, 1, 0], [3, 2, 0, 0, 30]]), prior_draws=0.1)
    assert found.rating("4") > found.rating("3")


def test_a_weight_of_two_is_the_same_match_counted_twice():
    rest = from_tallies([[0, 1, 2, 0, 3]])
    heavy = fit_to([*rest, (Comparison("0", "1", 0.8, weight=2.0),)])
    twice = fit_to([*rest, (Comparison("0", "1", 0.8), Comparison("0", "1", 0.8))])
    assert heavy.table() == pytest.approx(twice.table())
    assert heavy.bars() == pytest.approx(twice.bars())
    for errors in Errors:
        assert heavy.standard_errors(errors) == pytest.approx(twice.standard_errors(errors))


def test_a_lead_known_to_the_last_bit_has_an_error_all_the_same():
    heavy = [(Comparison(*pair, weight=1e10),) for pair in (("a", "b", 0.5), ("c", "b", 0.3))]
    found = fit_to(heavy).difference("a", "b", errors=Errors.SANDWICH)
    assert found.standard_error == pytest.approx(0.0, abs=1e-3)


def test_somebody_without_matches_stands_on_the_prior_alone():
    found = fit_to(from_tallies([[0, 1, 3, 0, 1]]), players=["new"])
    assert found.players == ("new", "0", "1")
    assert found.rating("new") == pytest.approx(1500.0)
    assert (found.matches[0], found.shares[0]) == (0, 0.5)
    # One virtual draw is worth a curvature of ¼, an sd of 2 nats.
    assert found.standard_errors(Errors.MODEL)["new"] == pytest.approx(2 / NATS_PER_POINT)


def test_an_empty_field_has_an_empty_table():
    found = fit_to([])
    assert (found.players, found.table(), found.bars(), found.is_connected) == ((), {}, {}, True)
    assert fit_to([], prior_draws=0).centred().table() == {}


def groups(tallies):
    return {"".join(sorted(group)) for group in fit_to(from_tallies(tallies)).groups}


def test_a_bot_that_won_everything_is_not_connected_to_the_rest():
    found = fit_of(vector("R5"))
    assert not found.is_connected
    assert set(found.groups) == {frozenset("0"), frozenset("12")}


def test_a_ring_of_wins_connects_everybody():
    assert groups([[0, 1, 1, 0, 0], [1, 2, 1, 0, 0], [2, 0, 1, 0, 0]]) == {"012"}


def test_one_draw_connects_both_ways():
    assert groups([[0, 1, 0, 1, 0]]) == {"01"}


def test_two_rings_joined_by_wins_in_one_direction_stay_apart():
    ring = [[0, 1, 1, 0, 0], [1, 2, 1, 0, 0], [2, 0, 1, 0, 0]]
    other = [[i + 3, j + 3, *rest] for i, j, *rest in ring]
    bridge = [[0, 3, 5, 0, 0], [1, 4, 2, 0, 0]]
    assert groups(ring + other + bridge) == {"012", "345"}
    assert groups([*ring, *other, *bridge, [2, 5, 0, 0, 1]]) == {"012345"}


def test_without_a_prior_an_unconnected_field_is_refused_and_its_groups_named():
    with pytest.raises(NotConnectedError, match=r"0, 1 \| 2, 3"):
        fit_to(from_tallies(vector("R7")["games"]), prior_draws=0)


def test_a_negative_prior_is_refused():
    with pytest.raises(ValueError, match="negative"):
        fit_to([], prior_draws=-1.0)


def test_an_unknown_player_is_named():
    found = fit_to(from_tallies([[0, 1, 1, 1, 1]]))
    with pytest.raises(KeyError, match="nobody"):
        found.rating("nobody")
    with pytest.raises(KeyError, match="nobody"):
        found.anchored("nobody")


def test_bars_trust_the_sandwich_from_30_matches_with_a_mixed_score():
    matches = from_tallies([[0, 1, 20, 4, 5], [0, 2, 1, 0, 0], [1, 2, 1, 0, 0]])
    found = fit_to(matches).centred()
    assert found.matches == (30, 30, 2)
    bars = found.bars()
    model, sandwich = (found.standard_errors(errors) for errors in Errors)
    z = 1.959963984540054
    assert bars == pytest.approx(
        {"0": z * sandwich["0"], "1": z * sandwich["1"], "2": z * model["2"]}
    )
    assert found.difference("0", "1") == found.difference("0", "1", errors=Errors.SANDWICH)
    assert found.difference("0", "2") == found.difference("0", "2", errors=Errors.MODEL)


def test_bars_of_a_bot_that_won_everything_are_those_of_the_model():
    found = fit_to(from_tallies([[0, 1, 40, 0, 0], [1, 2, 20, 3, 20]])).centred()
    model = found.standard_errors(Errors.MODEL)
    assert found.shares[0] == 1.0
    assert found.bars()["0"] == pytest.approx(1.959963984540054 * model["0"])


def test_sandwich_errors_are_those_of_resampled_matches():
    # The bootstrap is the sandwich's independent double: refit on matches drawn with replacement.
    rng = random.Random(7)
    matches = [
        one_on_one(a, b, score=score)
        for a, b in combinations("abcd", 2)
        for score in rng.choices([0.0, 0.5, 1.0], weights=[2, 3, 4], k=60)
    ]
    refits = [fit_to(rng.choices(matches, k=len(matches))).centred().ratings for _ in range(400)]
    resampled = np.std(refits, axis=0)
    sandwich = list(fit_to(matches).centred().standard_errors(Errors.SANDWICH).values())
    # The sd of an sd from 400 fits is 3.5 %; the sandwich here differs by less than four of them.
    assert resampled == pytest.approx(np.array(sandwich), rel=0.14)
