"""The climb finds better values than trials at random do: here on some hills only."""

import re

import numpy as np
import pytest

from simulations.tuning import Hill, climbed, report, top_of_parabola


def test_a_hill_falls_from_its_top_and_is_level_far_away() -> None:
    hill = Hill(top=np.array([0.2]), widths=np.array([0.4]), height=0.5)
    assert hill.worth(np.array([0.2])) == 0
    assert hill.worth(np.array([0.4])) == pytest.approx(-0.125)
    assert hill.worth(np.array([0.7])) == hill.worth(np.array([1.0])) == -0.5


def test_a_climb_ends_near_the_top_of_a_steep_hill_and_so_does_a_parabola() -> None:
    hill = Hill(top=np.array([0.2, 0.7]), widths=np.array([2.0, 2.0]), height=8.0)
    for way in (climbed, top_of_parabola):
        assert hill.worth(way(hill, np.random.default_rng(1))) > -0.2


def test_the_climb_gains_most_of_what_there_is_and_more_than_the_others() -> None:
    rows = report(12, seed=1).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| 1", "| 2", "| 4", "| 8"]
    for row in rows:
        climb, best, parabola = map(int, re.findall(r"(-?\d+) %", row))
        assert climb > 60
        assert climb > max(best, parabola)
