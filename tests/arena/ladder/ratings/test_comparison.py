"""Evidence: matches by kind, whatever their order and whoever was named first."""

import random

import numpy as np
import pytest

from arena.ladder.ratings.comparison import (
    Comparison,
    evidence_of,
    free_for_all,
    grouped,
    one_on_one,
)


def rows(evidence):
    """Each kind as names, scores, weights and how often."""
    return [
        ("".join(evidence.players[i] for i in lineup), tuple(scores), tuple(weights), int(count))
        for lineup, scores, weights, count in zip(
            evidence.lineups, evidence.scores, evidence.weights, evidence.counts, strict=True
        )
    ]


def test_matches_that_came_out_alike_are_one_row():
    draw, win = one_on_one("a", "b", score=0.5), one_on_one("a", "b", score=1.0)
    assert rows(evidence_of([win, draw, win])) == [("ab", (0.5,), (1,), 1), ("ab", (1,), (1,), 2)]


def test_a_loss_of_one_is_a_win_of_the_other():
    both = [one_on_one("a", "b", score=0.0), one_on_one("b", "a", score=1.0)]
    assert rows(evidence_of(both)) == [("ab", (0,), (1,), 2)]


def test_players_stand_as_given_and_those_only_met_after_them_by_name():
    found = evidence_of([one_on_one("c", "b", score=1.0)], ["z", "b"])
    assert found.players == ("z", "b", "c")
    assert rows(found) == [("bc", (0,), (1,), 1)]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_matches_and_of_their_sides_leaves_no_trace(seed):
    rng = random.Random(seed)
    games = [{name: rng.randint(1, 3) for name in rng.sample("abcde", 3)} for _ in range(200)]
    other = [dict(rng.sample(list(game.items()), 3)) for game in rng.sample(games, len(games))]
    first, second = (evidence_of(map(free_for_all, played), "abcde") for played in (games, other))
    for name in ("lineups", "scores", "counts", "weights"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    assert first.counts.sum() == 200
    assert len(first.counts) < 200


def test_a_row_of_three_keeps_who_scored_what_against_whom():
    # c beats a and draws with b; a against b is no evidence.
    found = grouped(
        "abc",
        np.array([[2, 1, 0]]),
        scores=np.array([[0.5, 1.0, 0.9]]),
        weights=np.array([[1.0, 3.0, 0.0]]),
    )
    assert rows(found) == [("abc", (0.5, 0.0, 0.5), (0.0, 3.0, 1.0), 1)]


def test_a_pair_compared_twice_in_a_match_is_compared_once_by_the_mean():
    match = (Comparison("a", "b", 1.0), Comparison("b", "a", 0.75, weight=3.0))
    assert rows(evidence_of([match])) == [("ab", (0.4375,), (4.0,), 1)]


def test_a_match_of_fewer_players_says_as_much_among_larger_ones():
    found = evidence_of([free_for_all({"a": 1, "b": 2, "c": 3}), one_on_one("b", "c", score=1.0)])
    assert rows(found) == [
        ("abc", (1, 1, 1), (1, 1, 1), 1),
        ("bcc", (1, 0.5, 0.5), (1, 0, 0), 1),
    ]


def test_what_says_nothing_is_left_out():
    lineups, scores = np.array([[0, 1], [0, 1], [1, 0]]), np.full((3, 1), 1.0)
    found = grouped(
        "ab",
        lineups,
        scores=scores,
        counts=np.array([0, 2, 5]),
        weights=np.array([[1.0], [0], [1]]),
    )
    assert rows(found) == [("ab", (0,), (1,), 5)]
    assert rows(evidence_of([()])) == []


def test_counts_of_rows_alike_add_up():
    lineups, scores = np.array([[0, 1], [1, 0]]), np.array([[1.0], [0.0]])
    assert rows(grouped("ab", lineups, scores=scores, counts=np.array([3, 4]))) == [
        ("ab", (1,), (1,), 7)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lineups": [[0, 2]]}, "an index that none of the 2"),
        ({"lineups": [[-1, 0]]}, "an index that none of the 2"),
        ({"lineups": [[1, 1]]}, "compared with itself"),
        ({"scores": [[1.5]]}, "outside 0 to 1"),
        ({"scores": [[float("nan")]]}, "outside 0 to 1"),
        ({"scores": [[0.5, 0.5]]}, "do not go with"),
        ({"counts": [1, 1]}, "do not go with"),
        ({"counts": [-1]}, "negative"),
        ({"weights": [[-1.0]]}, "negative or not finite"),
        ({"weights": [[float("inf")]]}, "negative or not finite"),
        ({"players": "aa"}, "named twice"),
    ],
)
def test_evidence_that_cannot_be_is_refused(change, message):
    given = {"players": "ab", "lineups": [[0, 1]], "scores": [[0.5]]} | change
    players, lineups = given.pop("players"), np.array(given.pop("lineups"))
    with pytest.raises(ValueError, match=message):
        grouped(players, lineups, **{name: np.array(value) for name, value in given.items()})
