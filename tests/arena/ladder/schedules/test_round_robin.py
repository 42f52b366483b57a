"""Round robins against published tables, and their promises for every field."""

from collections import Counter
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.schedules import RoundRobin, State, cycle_rounds
from arena.ladder.schedules.round_robin import round_robin
from tests.arena.ladder.schedules.events import Event, counts, homes, met

# Berger tables of the FIDE handbook.
FIDE = {
    6: "1-6 2-5 3-4 | 6-4 5-3 1-2 | 2-6 3-1 4-5 | 6-5 1-4 2-3 | 3-6 4-2 5-1",
    8: "1-8 2-7 3-6 4-5 | 8-5 6-4 7-3 1-2 | 2-8 3-1 4-7 5-6 | 8-6 7-5 1-4 2-3 |"
    " 3-8 4-2 5-1 6-7 | 8-7 1-6 2-5 3-4 | 4-8 5-3 6-2 7-1",
}
SIZES = range(2, 60)


def as_table(rounds):
    return " | ".join(" ".join(f"{home + 1}-{away + 1}" for home, away in one) for one in rounds)


@pytest.mark.parametrize("players", FIDE)
def test_an_even_field_plays_the_table_of_fide(players):
    assert as_table(round_robin(players)) == FIDE[players]


@pytest.mark.parametrize("players", FIDE)
def test_an_odd_field_plays_the_same_table_and_the_last_numbers_opponent_sits_out(players):
    without_last = [
        " ".join(pair for pair in one.split() if str(players) not in pair)
        for one in FIDE[players].split("|")
    ]
    assert as_table(round_robin(players - 1)) == " | ".join(without_last)


def test_two_players_meet_in_the_only_round():
    assert round_robin(2) == (((0, 1),),)


@pytest.mark.parametrize("players", SIZES)
def test_every_pair_meets_once(players):
    met = Counter(map(frozenset, chain.from_iterable(round_robin(players))))
    assert len(met) == players * (players - 1) // 2
    assert set(met.values()) == {1}
    assert all(len(pair) == 2 and pair <= set(range(players)) for pair in met)


@pytest.mark.parametrize("players", SIZES)
def test_nobody_plays_twice_in_a_round_and_at_most_one_sits_out(players):
    rounds = round_robin(players)
    assert len(rounds) == players - 1 + players % 2
    for one in rounds:
        playing = list(chain.from_iterable(one))
        assert len(set(playing)) == len(playing) == players - players % 2


@pytest.mark.parametrize("players", SIZES)
def test_home_is_shared_out_evenly(players):
    home = Counter(home for one in round_robin(players) for home, _ in one)
    counts = [home[player] for player in range(players)]
    assert max(counts) - min(counts) <= (0 if players % 2 else 1)


@pytest.mark.parametrize("players", SIZES)
def test_two_cycles_give_everybody_both_sides_of_every_pairing(players):
    pairings = [
        pair
        for cycle in (1, 2)
        for one in cycle_rounds(players, cycle=cycle)
        for pair in one.meetings
    ]
    assert len(set(pairings)) == len(pairings) == players * (players - 1)


def test_the_third_cycle_is_the_first_again():
    first, second, third = (cycle_rounds(5, cycle=cycle) for cycle in (1, 2, 3))
    assert third == first
    assert second[0].meetings == tuple((away, home) for home, away in first[0].meetings)


def test_rounds_are_numbered_on_even_when_the_field_grows():
    first = cycle_rounds(4)
    second = cycle_rounds(5, cycle=2, first_round=first[-1].number + 1)
    assert [one.number for one in (*first, *second)] == list(range(1, 9))


@pytest.mark.parametrize("players", [-1, 0, 1])
def test_a_field_too_small_to_pair_is_refused(players):
    with pytest.raises(ValueError, match=f"at least 2 players, not {players}"):
        round_robin(players)


def test_there_is_no_cycle_before_the_first():
    with pytest.raises(ValueError, match="numbered from 1"):
        cycle_rounds(4, cycle=0)


# -- an event


@given(st.integers(2, 12), st.integers(1, 4))
def test_an_event_is_so_many_cycles_in_which_every_pair_meets(players, cycles):
    event = Event(RoundRobin(cycles), [range(players)])
    matches = event.played()
    assert met(matches) == dict.fromkeys(combinations(range(players), 2), cycles)
    assert len(event.stages) == cycles
    if cycles % 2 == 0:
        assert homes(matches, range(players)) == [cycles * (players - 1) // 2] * players


def test_home_and_away_change_from_event_to_event():
    def state(stage: int) -> State:
        return State(("a", "b", "c"), (0, 1, 2), bytes(32), stage=stage, first_round=4 * stage - 3)

    first, second = (RoundRobin().next_rounds(state(stage)) for stage in (1, 2))
    assert [one.number for one in second] == [5, 6, 7]
    assert [one.meetings for one in second] == [
        tuple(meeting[::-1] for meeting in one.meetings) for one in first
    ]


def test_who_joins_and_who_leaves_count_from_the_next_cycle_on():
    event = Event(RoundRobin(3), [[0, 1, 2], [0, 1, 2, 3], [1, 2, 3]])
    assert met(event.played()) == {(0, 1): 2, (0, 2): 2, (0, 3): 1, (1, 2): 3, (1, 3): 2, (2, 3): 2}


def test_threes_meet_in_a_triple_system():
    event = Event(RoundRobin(2), [range(9), [0, 2, 3, 4, 5, 6, 8]], sides=3)
    first, second = event
    assert (len(first), len(second)) == (12, 7)
    assert set(met(second).values()) == {1}
    assert counts(second, [1, 7]) == [0, 0]


def test_an_event_is_over_when_nobody_is_left_to_meet():
    assert len(Event(RoundRobin(3), [range(3), [1]]).played()) == 3


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="a round robin needs 3 active bots to play and has 2"):
        Event(RoundRobin(), [range(2)], sides=3)
    with pytest.raises(ValueError, match="1 cycle or more, not 0"):
        RoundRobin(0)
