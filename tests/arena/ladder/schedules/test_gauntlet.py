"""A gauntlet: every seed meets the whole field, evenly, and the field meets nobody but seeds."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.schedules import Gauntlet
from arena.ladder.schedules.gauntlet import against_field, quantiles, with_pairs
from tests.arena.ladder.schedules.events import Event, counts, homes, met

SEEDS = st.integers(1, 12)
FIELD = st.integers(1, 20)


def gauntlet(seeds: int, field: int, **options) -> Event:
    """The seeds are the last of the bots, as new ones are."""
    names = tuple(f"bot{player}" for player in range(field, field + seeds))
    sides = options.pop("sides", 2)
    return Event(Gauntlet(names, **options), [range(field + seeds)], sides=sides)


@given(SEEDS, FIELD, st.integers(1, 3))
def test_every_seed_meets_everybody_once_a_cycle_and_no_two_of_a_kind_meet(seeds, field, cycles):
    event = gauntlet(seeds, field, cycles=cycles)
    matches = event.played()
    pairs = met(matches)
    assert pairs == Counter(
        {(low, high): cycles for low in range(field) for high in range(field, field + seeds)}
    )
    assert len(event.rounds) == cycles * max(seeds, field)


@given(SEEDS, FIELD)
def test_home_is_shared_out_and_changes_with_the_cycle(seeds, field):
    once = gauntlet(seeds, field).played()
    for players, matches in ((range(field), seeds), (range(field, field + seeds), field)):
        assert all(abs(2 * home - matches) <= 1 for home in homes(once, players))
    twice = gauntlet(seeds, field, cycles=2).played()
    assert len(set(twice)) == len(twice) == 2 * seeds * field


@given(st.integers(2, 8), st.integers(1, 8))
def test_seeds_meet_each_other_if_that_is_asked(seeds, field):
    event = gauntlet(seeds, field, cycles=2, among=True)
    pairs = met(event.played())
    new = range(field, field + seeds)
    assert all(pairs[a, b] == 2 for a in new for b in new if a < b)
    assert sum(pairs.values()) == 2 * (seeds * field + seeds * (seeds - 1) // 2)


@given(st.integers(1, 6), st.integers(2, 15), st.integers(1, 20))
def test_in_threes_a_seed_meets_two_at_a_time_and_everybody_once(seeds, field, cycles):
    event = gauntlet(seeds, field, cycles=cycles, sides=3)
    matches = event.played()
    assert len(matches) == cycles * seeds * (field // 2)
    assert all(sum(player >= field for player in meeting) == 1 for meeting in matches)
    pairs = met(matches)
    for seed in range(field, field + seeds):
        against = [pairs[player, seed] for player in range(field)]
        if field % 2 == 0:
            assert set(against) == {cycles}
        else:
            assert cycles - (cycles * seeds // field + 1) <= min(against) <= max(against) <= cycles


def test_an_odd_field_of_threes_sits_out_in_turn():
    matches = gauntlet(1, 5, cycles=5, sides=3).played()
    assert counts(matches, range(5)) == [4, 4, 4, 4, 4]


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_over_as_many_cycles_as_rounds_the_seeds_see_every_pair_of_the_field(seeds):
    pairs = met(gauntlet(seeds, 6, cycles=5, sides=3).played())
    assert {pairs[a, b] for a in range(6) for b in range(a + 1, 6)} == {seeds}


def test_in_threes_who_is_named_first_goes_round():
    firsts = Counter(meeting[0] == 6 for meeting in with_pairs([6], range(6), cycle=0))
    assert firsts == {True: 1, False: 2}


def test_who_joins_is_met_from_the_next_cycle_on_and_who_leaves_no_more():
    event = Event(Gauntlet(("bot0",), cycles=3), [[0, 1, 2], [0, 1, 2, 3], [0, 2, 3]])
    assert met(event.played()) == {(0, 1): 2, (0, 2): 3, (0, 3): 2}


def test_a_seed_that_leaves_plays_no_more_and_without_seeds_it_is_over():
    event = Event(Gauntlet(("bot0", "bot1"), cycles=3), [range(4), [1, 2, 3], [2, 3]])
    assert met(event.played()) == {(0, 2): 1, (0, 3): 1, (1, 2): 2, (1, 3): 2}


def test_near_opponents_come_after_a_look_from_the_weakest_to_the_strongest():
    ratings = [1000.0 + 25 * player for player in range(41)]
    ratings[20] = 1510.0
    event = Event(Gauntlet(("bot20",), near=30), [range(41)], ratings=ratings)
    placing, near = event
    first = sorted({player for meeting in placing for player in meeting} - {20})
    assert len(placing) == len(first) == 10
    assert (first[0], first[-1]) == (0, 40)
    against = counts(near, range(41))
    assert against[20] == 30
    reachable = [p for p in range(41) if p != 20 and abs(ratings[p] - 1510) <= 200]
    assert {player for player, count in enumerate(against) if count} - {20} == set(reachable)
    played = [against[player] for player in reachable]
    assert max(played) - min(played) <= 1
    assert abs(2 * homes(near, [20])[0] - 30) <= 1


def test_who_is_near_whom_is_drawn_from_the_secret_of_the_event():
    def near(mixed: bytes) -> list[tuple[int, ...]]:
        return Event(Gauntlet(("bot0",), near=8), [range(20)], mixed=mixed).played()

    assert near(bytes(32)) != near(bytes(31) + b"\1")


def test_a_bot_that_is_near_nobody_meets_the_nearest():
    ratings = [2500.0, *(1000.0 + 10 * player for player in range(30))]
    event = Event(Gauntlet(("bot0",), near=20), [range(31)], ratings=ratings)
    _, near = event
    assert {player for meeting in near for player in meeting} == {0, *range(21, 31)}


@given(st.integers(2, 60))
def test_quantiles_go_evenly_from_the_first_to_the_last(count):
    shown = quantiles(range(count), 10)
    assert len(shown) == len(set(shown)) == min(count, 10)
    assert (shown[0], shown[-1]) == (0, count - 1)
    steps = {b - a for a, b in pairwise(shown)}
    assert max(steps) - min(steps) <= 1


def test_nobody_at_all_makes_no_rounds():
    assert against_field([], [], cycle=0) == ()
    assert with_pairs([3], [1], cycle=0) == []


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="bot9 runs the gauntlet and is not an active bot"):
        Event(Gauntlet(("bot9",)), [range(4)])
    with pytest.raises(ValueError, match="nobody to run the gauntlet against"):
        Event(Gauntlet(("bot0", "bot1")), [range(2)])
    with pytest.raises(ValueError, match="matches of two, not of 3"):
        Event(Gauntlet(("bot0",), near=5), [range(6)], sides=3)
    with pytest.raises(ValueError, match="each named once"):
        Gauntlet(("bot0", "bot0"))
    with pytest.raises(ValueError, match="each named once"):
        Gauntlet(())
    with pytest.raises(ValueError, match="1 cycle or more, not 0"):
        Gauntlet(("bot0",), cycles=0)
    with pytest.raises(ValueError, match="in place of cycles"):
        Gauntlet(("bot0",), cycles=2, near=3)
