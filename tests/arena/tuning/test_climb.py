"""The climb: hills whose top is known, through noise, within bounds, the same way again."""

from collections.abc import Callable
from random import Random

import pytest

from arena.ladder.bots.entrants import Parameter
from arena.tuning.climb import Climb, Values

CAUTION = Parameter("caution", 0.5, 0.0, 1.0)
DEPTH = Parameter("depth", 3.0, 1.0, 8.0, is_integer=True)
OFFSET = Parameter("offset", -40.0, -50.0, 150.0)


def climbed(
    parameters: tuple[Parameter, ...],
    worth: Callable[[Values], float],
    *,
    trials: int = 64,
    seed: int = 0,
    noise: float = 0.0,
) -> Climb:
    climb = Climb(parameters, trials=trials, boards=32, mixed=seed.to_bytes(32, "big"))
    rng = Random(seed)
    while (pair := climb.next()) is not None:
        climb.take(worth(pair.up) - worth(pair.down) + rng.gauss(0, noise))
    return climb


def hill(values: Values) -> float:
    caution, depth, offset = values
    return -2 * (caution - 0.2) ** 2 - 0.05 * (depth - 6) ** 2 - ((offset - 60) / 100) ** 2


def test_it_finds_the_top_of_a_hill() -> None:
    found = climbed((CAUTION, DEPTH, OFFSET), hill, trials=200).found
    caution, depth, offset = (one.value for one in found)
    assert caution == pytest.approx(0.2, abs=0.05)
    assert depth == 6
    assert offset == pytest.approx(60, abs=10)


def test_it_finds_it_through_the_noise_of_boards() -> None:
    # A board between relatives has a deviation of 0.9 points, and a trial has 32 of them.
    start = hill((0.5, 3.0, -40.0))
    for seed in range(20):
        found = climbed((CAUTION, DEPTH, OFFSET), hill, seed=seed, noise=0.9 / 32**0.5).found
        assert hill(tuple(one.value for one in found)) > start / 4


def test_a_top_at_the_end_of_the_range_is_reached_and_not_left() -> None:
    climb = climbed((CAUTION,), lambda values: -values[0])
    assert climb.found[0].value < 0.01
    assert min(values[0] for values in climb.way) == 0.0


def test_what_is_tried_lies_in_its_range_and_whole_numbers_are_whole_and_differ() -> None:
    switch = Parameter("switch", 0.0, 0.0, 1.0, is_integer=True)
    climb = Climb((CAUTION, DEPTH, switch), trials=100, boards=32, mixed=bytes(32))
    rng = Random(1)
    while (pair := climb.next()) is not None:
        for parameter, up, down in zip(climb.parameters, pair.up, pair.down, strict=True):
            assert parameter.low <= min(up, down) < max(up, down) <= parameter.high
        assert pair.up[1].is_integer()
        assert pair.down[1].is_integer()
        climb.take(rng.gauss(0, 1))
    assert all(one.low <= one.high for one in climb.found)


def test_all_values_move_at_once_each_by_a_chance_of_its_own() -> None:
    climb = Climb((CAUTION, OFFSET), trials=64, boards=32, mixed=bytes(32))
    signs = set()
    while (pair := climb.next()) is not None:
        signs.add((pair.up[0] > pair.down[0], pair.up[1] > pair.down[1]))
        climb.take(0.0)
    assert len(signs) == 4


def test_the_same_seed_and_points_go_the_same_way_and_another_seed_another() -> None:
    ways = [climbed((CAUTION, DEPTH), sum, seed=seed).way for seed in (1, 1, 2)]
    assert ways[0] == ways[1] != ways[2]


def test_where_nothing_makes_a_difference_it_stays() -> None:
    found = climbed((CAUTION, DEPTH), lambda _: 0.0, trials=10).found
    assert [(one.value, one.low, one.high) for one in found] == [(0.5, 0.5, 0.5), (3, 3, 3)]


def test_what_is_found_is_the_mean_of_the_second_half_of_the_way() -> None:
    climb = climbed((CAUTION,), lambda values: -values[0], trials=9)
    half = [values[0] for values in climb.way[5:]]
    (found,) = climb.found
    assert len(half) == 5
    assert found.value == pytest.approx(sum(half) / 5)
    assert (found.low, found.high) == (min(half), max(half))


def test_more_boards_a_trial_allow_longer_steps() -> None:
    steps = []
    for boards in (8, 128):
        climb = Climb((CAUTION,), trials=64, boards=boards, mixed=bytes(32))
        climb.take(0.1)
        steps.append(abs(climb.way[1][0] - 0.5))
    assert steps[1] == pytest.approx(4 * steps[0])


def test_after_the_last_trial_there_is_none_to_take_in() -> None:
    climb = climbed((CAUTION,), lambda _: 0.0, trials=2)
    assert climb.next() is None
    with pytest.raises(ValueError, match="all 2 trials"):
        climb.take(0.0)


def test_at_the_end_of_its_range_a_value_is_tried_as_far_apart_as_elsewhere() -> None:
    for default in (0.0, 0.5, 1.0):
        parameter = Parameter("caution", default, 0.0, 1.0)
        pair = Climb((parameter,), trials=64, boards=32, mixed=bytes(32)).next()
        assert pair is not None
        assert abs(pair.up[0] - pair.down[0]) == pytest.approx(0.4)
