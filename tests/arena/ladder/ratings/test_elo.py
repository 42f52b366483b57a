"""Online Elo: known tables, and what a round must and must not depend on."""

import json
import random
from pathlib import Path

import pytest

from arena.ladder.ratings.comparison import Comparison, free_for_all, one_on_one
from arena.ladder.ratings.elo import (
    EloRating,
    after_round,
    decreasing_k,
    displayed,
    expected_score,
    rate,
    rating_difference,
)

VECTORS = json.loads((Path(__file__).parent / "vectors" / "elo.json").read_text())
NAMES = "abc"


def k32(_matches):
    return 32.0


def k16(_matches):
    return 16.0


def ratings_of(table, names=NAMES):
    return [table[name].rating for name in names]


def known_games():
    return [one_on_one(NAMES[i], NAMES[j], score=s) for i, j, s in VECTORS["sequence"]["games"]]


def one_game_a_round(games):
    return [[game] for game in games]


@pytest.mark.parametrize(
    ("column", "rounds", "k_factor"),
    [
        ("K32", one_game_a_round(known_games()), k32),
        ("K32_reversed", one_game_a_round(known_games()[::-1]), k32),
        ("K16", one_game_a_round(known_games()), k16),
        ("K32_one_period", [known_games()], k32),
        ("Kn", one_game_a_round(known_games()), decreasing_k),
    ],
)
def test_known_games_give_the_known_table(column, rounds, k_factor):
    table = rate(rounds, k_factor=k_factor)
    assert ratings_of(table) == pytest.approx(VECTORS["sequence"][column], abs=5.1e-4)


@pytest.mark.parametrize(("score", "after"), [(1.0, 1611.518), (0.5, 1595.518), (0.0, 1579.518)])
def test_one_game_moves_the_favourite_by_what_was_not_expected(score, after):
    before = {"a": EloRating(1600.0), "b": EloRating(1500.0)}
    table = after_round(before, [one_on_one("a", "b", score=score)], k_factor=k32)
    assert table["a"].rating == pytest.approx(after, abs=5e-4)
    assert table["b"].rating == pytest.approx(3100 - after, abs=5e-4)


@pytest.mark.parametrize("vector", VECTORS["free_for_all"])
def test_a_free_for_all_is_the_mean_of_its_pairs(vector):
    before = {name: EloRating(rating) for name, rating in zip(NAMES, vector["R"], strict=True)}
    game = free_for_all(dict(zip(NAMES, vector["ranks"], strict=True)))
    table = after_round(before, [game], k_factor=lambda _matches: vector["K"])
    assert ratings_of(table) == pytest.approx(vector["new"], abs=5.1e-4)
    assert {rating.matches for rating in table.values()} == {1}


@pytest.mark.parametrize("seed", range(20))
def test_the_order_within_a_round_does_not_show_in_the_last_bit(seed):
    rng = random.Random(seed)
    names = [f"bot{i}" for i in range(8)]
    before = {name: EloRating(rng.gauss(1500, 200), rng.randrange(200)) for name in names}
    matches = [one_on_one(*rng.sample(names, 2), score=rng.random()) for _ in range(60)]
    table = after_round(before, matches)
    rng.shuffle(matches)
    assert after_round(before, matches) == table, f"seed {seed}"


def test_rounds_are_not_interchangeable():
    games = known_games()
    assert rate([games[:3], games[3:]]) != rate([games[3:], games[:3]])


def test_going_on_from_a_table_equals_rating_everything_at_once():
    games = one_game_a_round(known_games())
    assert rate(games[3:], rate(games[:3])) == rate(games)


def test_the_ratings_at_the_start_stay_as_they_were():
    before = {"a": EloRating(1600.0, 7)}
    after_round(before, [one_on_one("a", "b", score=1.0)])
    assert before == {"a": EloRating(1600.0, 7)}


def test_somebody_who_does_not_play_keeps_the_rating():
    before = {"idle": EloRating(1777.0, 50)}
    assert after_round(before, known_games()[:1])["idle"] == EloRating(1777.0, 50)


@pytest.mark.parametrize(("matches", "k"), [(0, 40), (30, 16), (80, 8), (180, 4), (5000, 4)])
def test_k_falls_from_40_to_4(matches, k):
    assert decreasing_k(matches) == k


def test_each_side_moves_by_its_own_k():
    before = {"new": EloRating(1500.0, 0), "old": EloRating(1500.0, 180)}
    table = after_round(before, [one_on_one("new", "old", score=1.0)])
    assert (table["new"].rating, table["old"].rating) == (1520.0, 1498.0)


def test_k_is_that_of_the_start_of_the_round():
    table = after_round({}, [one_on_one("a", "b", score=1.0), one_on_one("a", "c", score=1.0)])
    assert table["a"] == EloRating(1540.0, 2)


def test_a_rating_is_provisional_below_30_matches():
    assert EloRating(1500.0, 29).is_provisional
    assert not EloRating(1500.0, 30).is_provisional


def test_expectations_of_both_sides_add_up_however_far_apart_they_are():
    for lead in (0, 1, 120, 5_000, 1e6):
        total = expected_score(1500 + lead, 1500) + expected_score(1500, 1500 + lead)
        assert total == pytest.approx(1.0)


def test_a_rating_difference_is_the_inverse_of_an_expected_score():
    assert rating_difference(expected_score(1637.5, 1500)) == pytest.approx(137.5)
    assert rating_difference(0.75) == pytest.approx(190.849, abs=5e-4)  # 400 log10 3


@pytest.mark.parametrize("score", [0.0, 1.0, -0.1, 1.1])
def test_scores_at_or_beyond_the_ends_have_no_rating_difference(score):
    assert rating_difference(score) is None


def test_shown_ratings_put_the_anchor_in_its_place_and_keep_differences():
    table = {"a": EloRating(1540.0), "b": EloRating(1490.0)}
    assert displayed(table, "b") == {"a": 1550.0, "b": 1500.0}
    assert displayed(table, None, at=1000.0) == {"a": 1025.0, "b": 975.0}
    assert displayed({}, None) == {}


def test_a_comparison_weighs_what_it_says():
    double = after_round({}, [(Comparison("a", "b", 1.0, weight=2.0),)], k_factor=k32)
    assert double["a"].rating == 1532.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "a", 0.5), "compared with itself"),
        (("a", "b", 1.5), "outside 0 to 1"),
        (("a", "b", float("nan")), "outside 0 to 1"),
        (("a", "b", 0.5, 0.0), "not positive"),
    ],
)
def test_a_comparison_that_says_nothing_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Comparison(*arguments)
