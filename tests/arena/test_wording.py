"""Figures and names as a person reads them."""

import math

import pytest

from arena.wording import kept_apart, percent, signed, told_apart, with_error


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.26, "+1.3"), (-1.26, "-1.3"), (-0.0, "+0.0"), (-0.04, "+0.0"), (None, "n/a")],
)
def test_a_figure_has_its_sign_and_zero_is_not_below_itself(value, text):
    assert signed(value, 1) == text


def test_a_side_that_won_everything_is_infinitely_better_and_nobody_knows_by_how_little():
    assert with_error(math.inf, None, digits=1) == "+inf ± n/a"
    assert with_error(-math.inf, None, digits=1) == "-inf ± n/a"


@pytest.mark.parametrize(
    ("probability", "text"),
    [(None, "n/a"), (0.5, "50.0 %"), (1.0, ">99.9 %"), (0.99999, ">99.9 %"), (0.0, "<0.1 %")],
)
def test_no_sample_makes_a_certainty(probability, text):
    assert percent(probability) == text


def test_bots_of_one_name_are_told_apart():
    assert told_apart([("a", "1"), ("b", "1")]) == ("a", "b")
    assert told_apart([("a", "1"), ("a", "2")]) == ("a 1", "a 2")
    assert told_apart([("a", "1"), ("a", "1"), ("a", "2")]) == ("a #1", "a #2", "a #3")


def test_a_name_written_from_right_to_left_does_not_turn_the_figures_round():
    assert kept_apart("علی") == "علی\u200e"
    assert kept_apart("بات-2") == "بات-2\u200e"
    assert kept_apart("sara") == "sara"
