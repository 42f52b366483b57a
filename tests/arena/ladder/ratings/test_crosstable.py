"""Everybody against everybody, and what goes against the ratings."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from arena.ladder.facts import Bot, Result
from arena.ladder.ratings.crosstable import Crosstable, Encounter, crosstable, residual
from arena.ladder.ratings.fitted import Residual
from arena.ladder.ratings.played import pairs_of
from arena.ladder.ratings.standings import standings
from arena.ladder.settings import Settings


def bots(*names: str) -> list[Bot]:
    return [
        Bot(number, name, f"o-{name}", "1", f"{number:064x}")
        for number, name in enumerate(names, start=1)
    ]


FIELD = bots("ada", "bob", "cyd")
SETTINGS = Settings.of("club", length=2)


def result(first: int, second: int, *boards: tuple[int, int], round_: int = 1) -> Result:
    return Result(f"ev1/r{round_}/{first}~{second}", round_, (first, second), boards)


RESULTS = [
    result(2, 1, (3, 0), (1, 1)),  # bob wins
    result(1, 2, (0, 0), (1, 1)),  # a draw
    result(1, 3, (2, 0), (0, 1)),  # ada wins, a board each
]


def table(results=RESULTS, field=FIELD, settings=SETTINGS) -> Crosstable:
    return crosstable(settings, field, pairs_of(results))


def test_a_cell_is_what_the_bot_of_the_row_has_against_that_of_the_column() -> None:
    rows = {row.name: row for row in table().rows}
    ada = rows["ada"].against("bob")
    assert ada is not None
    assert (ada.matches_won, ada.matches_drawn, ada.matches_lost, ada.matches) == (0, 1, 1, 2)
    assert (ada.boards_won, ada.boards_drawn, ada.boards_lost) == (0, 3, 1)
    assert ada.difference == -3
    bob = rows["bob"].against("ada")
    assert bob is not None
    assert (bob.matches_won, bob.matches_drawn, bob.matches_lost) == (1, 1, 0)
    assert (bob.boards_won, bob.boards_lost, bob.difference) == (1, 0, 3)
    against_cyd = rows["ada"].against("cyd")
    assert against_cyd is not None
    assert (against_cyd.boards_won, against_cyd.boards_lost) == (1, 1)
    assert rows["bob"].against("cyd") is None


def test_bots_stand_as_in_the_standings() -> None:
    for settings in (SETTINGS, replace(SETTINGS, anchor="cyd"), replace(SETTINGS, anchor="eve")):
        due = standings(settings, FIELD, pairs_of(RESULTS), elo={}).rows
        found = table(settings=settings).rows
        assert [(row.rank, row.name) for row in found] == [(row.rank, row.name) for row in due]
        assert [row.mle for row in found] == pytest.approx([row.mle for row in due])
        for row in found:
            order = [one.opponent for one in row.encounters]
            assert order == [other.name for other in found if other.name in order]


def test_the_residual_is_the_fits_and_each_sees_its_own() -> None:
    rows = {row.name: row for row in table().rows}
    ada, bob = rows["ada"].against("bob"), rows["bob"].against("ada")
    assert ada is not None
    assert bob is not None
    assert (ada.residual.matches, ada.residual.score) == (2, 0.5)
    assert ada.residual.expected + bob.residual.expected == pytest.approx(2)
    assert ada.residual.z == pytest.approx(-bob.residual.z)
    alone = residual(SETTINGS, FIELD, pairs_of(RESULTS), of=("ada", "bob"))
    assert alone == ada.residual
    assert residual(SETTINGS, FIELD, pairs_of(RESULTS), of=("bob", "cyd")) is None
    assert residual(SETTINGS, FIELD, pairs_of(RESULTS), of=("ada", "eve")) is None
    assert residual(SETTINGS, FIELD, pairs_of([]), of=("ada", "bob")) is None


def test_only_matches_that_move_ratings_are_in_it() -> None:
    field = [FIELD[0], replace(FIELD[1], owner="O-ADA"), replace(FIELD[2], rated=False)]
    assert table(field=field).rows == ()
    field = [FIELD[0], FIELD[1], replace(FIELD[2], rated=False)]
    assert {row.name for row in table(field=field).rows} == {"ada", "bob"}


def test_nobody_has_played() -> None:
    assert table([]).rows == ()
    assert table([]).odd == []


def test_a_pair_that_goes_against_the_ratings_is_odd_and_told_once() -> None:
    """ada beats everybody, everybody beats cyd; and cyd beats ada again and again."""
    field = bots("ada", "bob", "cyd", "dan", "eve")
    results = []
    for round_ in range(1, 31):
        for first, second in ((1, 2), (1, 4), (1, 5), (2, 3), (4, 3), (5, 3)):
            results.append(result(first, second, (1, 0), round_=round_))
    results += [result(3, 1, (1, 0), round_=round_) for round_ in range(1, 21)]
    results += [result(2, 4, (0, 0)), result(4, 5, (0, 0))]
    found = table(results, field=field)
    name, worst = found.odd[0]
    assert (name, worst.opponent) == ("cyd", "ada")
    assert worst.is_odd
    assert worst.residual.z > 4
    pairs = [frozenset((name, one.opponent)) for name, one in found.odd]
    assert len(pairs) == len(set(pairs))
    assert [one.residual.z for _, one in found.odd] == sorted(
        (one.residual.z for _, one in found.odd), reverse=True
    )
    even = {row.name: row for row in found.rows}["bob"].against("dan")
    assert even is not None
    assert not even.is_odd


def encounter(*, matches: int, score: float, expected: float, z: float) -> Encounter:
    said = Residual("ada", "bob", matches, score, expected, z)
    return Encounter("bob", 0, 0, 0, 0, 0, 0, 0, residual=said)


@pytest.mark.parametrize("phi", [1.0, 0.84])
def test_of_many_matches_z_says_it_and_of_a_foregone_few_it_does_not(phi: float) -> None:
    def z(matches: int, score: float, expected: float) -> float:
        share = expected / matches
        return (score - expected) / math.sqrt(phi * matches * share * (1 - share))

    for matches, score, expected in ((1000, 600.0, 500.0), (400, 150.0, 200.0), (60, 50.0, 31.0)):
        found = z(matches, score, expected)
        assert abs(found) > 4
        assert encounter(matches=matches, score=score, expected=expected, z=found).is_odd
    for matches, score, expected in ((4, 0.5, 0.012), (1, 1, 0.02), (6, 5, 5.99)):
        found = z(matches, score, expected)
        assert abs(found) > 4
        assert not encounter(matches=matches, score=score, expected=expected, z=found).is_odd
    assert not encounter(matches=100, score=60, expected=50, z=z(100, 60, 50)).is_odd
    assert not encounter(matches=3, score=1.5, expected=1.5, z=0.0).is_odd


def test_by_chance_hardly_any_pair_is_odd() -> None:
    """300 bots far apart, 100,000 matches as their strengths say: 44,850 pairs of a few each."""
    field = bots(*(f"b{number:03}" for number in range(300)))
    chance = np.random.default_rng(20261130)
    strength = chance.normal(0.0, 300.0, 301)
    rows = np.zeros((100_000, 8), np.int64)
    rows[:, 1] = np.arange(len(rows))
    pairs = np.sort(np.stack([chance.permutation(300)[:2] + 1 for _ in range(len(rows))]), axis=1)
    rows[:, 2:4] = pairs
    lead = strength[pairs[:, 0]] - strength[pairs[:, 1]]
    wins = chance.random(len(rows)) < 1 / (1 + 10 ** (-lead / 400))
    rows[:, 7] = np.where(wins, 1, -1)
    found = crosstable(SETTINGS, field, rows)
    large = [one for row in found.rows for one in row.encounters if abs(one.residual.z) > 4]
    assert len(large) > 100  # z alone cries wolf
    assert len(found.odd) < 10


def test_a_match_of_three_is_in_it_pair_by_pair() -> None:
    settings = Settings.of("threes", players=3, length=1)
    results = [Result("ev1/r1/ada~bob~cyd", 1, (3, 1, 2), ((5, 3, 3),))]
    rows = {row.name: row for row in table(results, settings=settings).rows}
    assert [one.matches for row in rows.values() for one in row.encounters] == [1] * 6
    cyd, ada = rows["cyd"].against("ada"), rows["ada"].against("bob")
    assert cyd is not None
    assert ada is not None
    assert (cyd.matches_won, cyd.difference) == (1, 2)
    assert (ada.matches_drawn, ada.boards_drawn) == (1, 1)


def test_the_order_of_the_log_does_not_show() -> None:
    chance = random.Random(1)
    results = [
        result(first, second, (chance.randint(0, 3), chance.randint(0, 3)))
        for first, second in 20 * [(1, 2), (3, 1), (2, 3)]
    ]
    shuffled = list(results)
    chance.shuffle(shuffled)
    assert table(shuffled) == table(results)


def test_a_ladder_of_300_is_quick_enough() -> None:
    field = bots(*(f"b{number:03}" for number in range(300)))
    chance = np.random.default_rng(1)
    rows = np.zeros((200_000, 8), np.int64)
    rows[:, 1] = np.arange(len(rows))
    rows[:, 2] = chance.integers(1, 300, len(rows))
    rows[:, 3] = np.minimum(300, rows[:, 2] + chance.integers(1, 40, len(rows)))
    rows[:, 7] = chance.integers(-3, 4, len(rows))
    found = crosstable(SETTINGS, field, rows)
    assert len(found.rows) == 300
    assert sum(one.matches for row in found.rows for one in row.encounters) == 2 * len(rows)
