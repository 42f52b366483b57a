"""Designs of three against published tables, and their promises for every field."""

from collections import Counter
from itertools import chain, combinations

import pytest

from arena.ladder.schedules import cycle_rounds
from arena.ladder.schedules.meetings import in_rounds
from arena.ladder.schedules.triples import MOST_FOR_ALL_TRIPLES, steiner_system, triple_system

TRIPLE_SIZES = range(3, 31)
STEINER_SIZES = [players for players in range(3, 104) if players % 6 in (1, 3)]


def pairs_met(meetings) -> Counter[tuple[int, ...]]:
    return Counter(pair for meeting in meetings for pair in combinations(sorted(meeting), 2))


def triples_of(rounds):
    return [meeting for one in rounds for meeting in one.meetings]


@pytest.mark.parametrize(
    ("players", "table"),
    [
        (7, "024 126 346 056 013 235 145"),
        (9, "036 147 258 015 348 267 024 357 168 123 456 078"),
    ],
)
def test_the_small_steiner_systems_are_the_published_ones(players, table):
    assert " ".join("".join(map(str, triple)) for triple in steiner_system(players)) == table


@pytest.mark.parametrize("players", STEINER_SIZES)
def test_in_a_steiner_system_every_pair_meets_exactly_once(players):
    met = pairs_met(steiner_system(players))
    assert len(met) == players * (players - 1) // 2
    assert set(met.values()) == {1}
    assert set(chain.from_iterable(met)) == set(range(players))


@pytest.mark.parametrize("players", [0, 1, 2, 4, 5, 6, 8, 11, 100])
def test_there_is_no_steiner_system_of_another_size(players):
    with pytest.raises(ValueError, match=f"no Steiner triple system has {players} players"):
        steiner_system(players)


@pytest.mark.parametrize("turn", [0, 1, 5])
@pytest.mark.parametrize("players", TRIPLE_SIZES)
def test_a_cycle_of_threes_is_balanced_whatever_the_field(players, turn):
    met = pairs_met(triple_system(players, turn=turn))
    pairs = players * (players - 1) // 2
    played = Counter(chain.from_iterable(triple_system(players, turn=turn)))
    assert set(played) == set(range(players))
    if players % 6 in (1, 3):
        assert (len(met), set(met.values())) == (pairs, {1})
    elif players <= MOST_FOR_ALL_TRIPLES:
        assert (len(met), set(met.values())) == (pairs, {players - 2})
    else:
        assert set(met.values()) == {1}
        assert pairs - players <= len(met) < pairs
        assert max(played.values()) - min(played.values()) <= 1


def test_the_near_design_has_the_figures_it_is_known_for():
    for players, games, pairs in ((10, 12, 36), (100, 1617, 4851)):
        triples = triple_system(players)
        assert (len(triples), len(pairs_met(triples))) == (games, pairs)
    assert set(Counter(chain.from_iterable(triple_system(100))).values()) == {48, 49}


@pytest.mark.parametrize("players", [10, 11, 12, 14, 18])
def test_over_as_many_cycles_as_players_the_near_design_brings_every_pair_together_as_often(
    players,
):
    met = pairs_met(chain.from_iterable(triple_system(players, turn=t) for t in range(players)))
    assert len(met) == players * (players - 1) // 2
    assert set(met.values()) == {players - 2}


@pytest.mark.parametrize("players", [7, 9, 13])
def test_in_the_next_cycle_most_pairs_of_a_steiner_system_meet_another_third(players):
    first, second = (set(triple_system(players, turn=turn)) for turn in (0, 1))
    assert len(first & second) < len(first) / 2


@pytest.mark.parametrize("players", [*TRIPLE_SIZES, 100])
def test_rounds_of_three_hold_every_match_once_and_nobody_twice(players):
    rounds = cycle_rounds(players, sides=3)
    assert sorted(triples_of(rounds)) == sorted(triple_system(players))
    for one in rounds:
        playing = list(chain.from_iterable(one.meetings))
        assert len(set(playing)) == len(playing) > 0
    assert [one.number for one in rounds] == list(range(1, len(rounds) + 1))


def test_a_match_goes_into_the_first_round_that_has_none_of_its_players():
    rounds = in_rounds([(0, 1, 2), (0, 3, 4), (3, 5, 6), (1, 5, 7)])
    assert rounds == (((0, 1, 2), (3, 5, 6)), ((0, 3, 4), (1, 5, 7)))


def test_three_players_are_one_match_named_in_the_other_order_in_every_second_cycle():
    cycles = [cycle_rounds(3, sides=3, cycle=cycle) for cycle in (1, 2, 3)]
    assert [triples_of(rounds) for rounds in cycles] == [[(0, 1, 2)], [(2, 1, 0)], [(0, 1, 2)]]


@pytest.mark.parametrize("players", [-1, 0, 2])
def test_a_field_too_small_for_threes_is_refused(players):
    with pytest.raises(ValueError, match=f"at least 3 players, not {players}"):
        cycle_rounds(players, sides=3)
