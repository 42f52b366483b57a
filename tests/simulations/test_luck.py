"""A luck-adjusted score is unbiased and narrower: a small simulation, and its page."""

import re
from dataclasses import replace

import pytest

from arena.ladder.ratings.luck import CONSTANTS, REFERENCE_DIGEST, Constants
from arena.ladder.ratings.reference import digest
from hokm.records import Format
from simulations import luck
from simulations.page import DOCS


def test_adjusted_scores_are_unbiased_narrower_and_their_bars_hold():
    played = luck.matches_of(4, ("house", "greedy"), kind=Format.BOARDS, numbers=range(40), seed=11)
    found = luck.trial(played)
    assert (found.matches, found.hands) == (40, 40 * 16)
    # 1.5 half widths at 95 % are three standard errors.
    assert abs(found.shift) < 1.5 * found.shift_error
    assert found.adjusted - found.raw == pytest.approx(found.shift)
    assert abs(found.adjusted - found.truth) < abs(found.raw - found.truth) + found.shift_error
    assert found.ratio > 1.2
    assert found.covered[1] > 0.85


def test_a_wrong_mean_of_the_reference_would_show(monkeypatch):
    first, second = CONSTANTS[4].expected
    wrong = Constants(CONSTANTS[4].beta, (first + 0.4, second + 0.4))
    monkeypatch.setitem(CONSTANTS, 4, wrong)
    played = luck.matches_of(4, ("house", "greedy"), kind=Format.BOARDS, numbers=range(20), seed=11)
    found = luck.trial(played)
    assert abs(found.shift) > 1.5 * found.shift_error


def test_races_are_adjusted_by_hand():
    played = luck.matches_of(
        2, ("greedy", "house-30"), kind=Format.CLASSIC, numbers=range(8), seed=3
    )
    found = luck.trial(played)
    assert found.hands > 8 * 6 * 4
    assert abs(found.shift) < 1.5 * found.shift_error


@pytest.mark.parametrize("players", [4, 3, 2])
def test_the_constants_are_measured_again_on_a_few_of_their_decks(players):
    found = luck.measure(players, decks=300, beta_decks=60)
    for value, error, used in zip(
        found.expected, found.errors, CONSTANTS[players].expected, strict=True
    ):
        assert abs(value - used) < 2 * error
    assert 0.3 < found.beta < 1.2
    assert found.correlations["house – house"]["house"] == pytest.approx(1)


def test_the_page_has_the_constants_of_the_code():
    page = (DOCS / luck.PAGE).read_text(encoding="utf-8")
    assert REFERENCE_DIGEST[:16] in page
    for players, constants in CONSTANTS.items():
        used = ", ".join(f"{value:+.4f}" for value in constants.expected)
        assert re.search(
            rf"^\| {players} \|.*\| {re.escape(used)} \| {constants.beta} \|$", page, re.M
        )
    assert digest() == REFERENCE_DIGEST


def test_a_report_has_a_row_for_each_measure(monkeypatch):
    monkeypatch.setattr(luck, "CONSTANTS_DECKS", 20)
    monkeypatch.setattr(luck, "BETA_DECKS", 8)
    one = luck.measure(2, decks=20, beta_decks=8)
    table = luck._constants_table([one, replace(one, players=4)])
    assert len(table.splitlines()) == 4
    assert len(luck._correlations_table([one]).splitlines()) == 2 + len(luck.PAIRINGS) + 1
