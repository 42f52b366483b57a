"""Adaptive pairing: the gains, the rules that bound it, and that chance is what it should be."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ladder.schedules import Adaptive, Scheduled, Stage, State
from arena.ladder.schedules.adaptive import Why, expected_information, gains, information
from arena.ladder.schedules.state import Knowledge
from tests.arena.ladder.schedules.events import (
    MIXED,
    Event,
    counts,
    homes,
    known,
    met,
    nobody_twice,
)

SIZES = st.integers(2, 12)


def state(knowledge: Knowledge, **changes) -> State:
    players = len(knowledge.ratings)
    names = tuple(f"bot{player}" for player in range(players))
    whole = State(names, tuple(range(players)), MIXED, knowledge=knowledge)
    return replace(whole, **changes)


def together(knowledge: Knowledge) -> Knowledge:
    """Everybody bound to everybody."""
    return replace(knowledge, groups=(0,) * len(knowledge.groups))


def whys(schedule: Adaptive, at: State) -> list[Why]:
    return [pick.why for pick in schedule.picks(at)]


# -- what a match says


def test_the_gains_of_the_worked_example():
    covariance = np.diag([100.0**2, 50.0**2, 60.0**2])
    found = gains(
        information(np.array([1500.0, 1500.0, 1700.0])), covariance, covariance @ covariance
    )
    assert np.round(found[np.triu_indices(3, 1)], 3).tolist() == [797.604, 631.31, 112.058]
    assert np.allclose(found, found.T)


@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_a_gain_is_what_the_sum_of_variances_falls_by(players, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(0, 100, (players, players))
    covariance = root @ root.T + 100 * np.eye(players)
    weights = information(rng.normal(1500, 300, players))
    found = gains(weights, covariance, covariance @ covariance)
    for i, j in combinations(range(players), 2):
        u = np.zeros(players)
        u[i], u[j] = 1, -1
        after = np.linalg.inv(np.linalg.inv(covariance) + weights[i, j] * np.outer(u, u))
        assert np.trace(covariance) - np.trace(after) == pytest.approx(found[i, j], rel=1e-4)


@pytest.mark.parametrize("lead", [0.0, 100.0, 500.0])
@pytest.mark.parametrize("sd", [20.0, 150.0, 350.0])
def test_what_a_match_says_is_its_mean_over_what_the_ratings_may_be(lead, sd):
    ratings = np.array([1500.0 + lead, 1500.0])
    found = expected_information(ratings, np.eye(2) * sd**2)[0, 1]
    # Each of 2,001 equally likely leads.
    quantile = NormalDist(lead, sd * 2**0.5).inv_cdf
    leads = [quantile((k + 0.5) / 2001) for k in range(2001)]
    mean = np.mean([information(np.array([one, 0.0]))[0, 1] for one in leads])
    assert found == pytest.approx(mean, rel=0.12)


def test_ratings_that_are_sure_are_taken_for_true():
    ratings = np.array([1500.0, 1600.0, 2100.0])
    sure = expected_information(ratings, np.zeros((3, 3)))
    assert sure == pytest.approx(information(ratings))


def test_every_choice_is_made_as_if_ratings_had_been_fitted_after_the_one_before():
    ratings = [1500.0, 1480.0, 1530.0, 1700.0, 1900.0, 1300.0, 1350.0, 1620.0]
    knowledge = together(known(8, ratings=ratings, sd=150.0))
    weights = expected_information(np.array(ratings), knowledge.covariance)
    covariance = knowledge.covariance
    pairs = list(combinations(range(8), 2))
    counted: Counter[tuple[int, int]] = Counter()
    checked = 0
    for number, pick in enumerate(Adaptive(20).picks(state(knowledge)), start=1):
        i, j = sorted(pick.meeting)
        found = gains(weights, covariance, covariance @ covariance)
        if pick.why is Why.GAIN:
            most = max(1.0, 2 * number / len(pairs))
            best = max(found[pair] for pair in pairs if counted[pair] + 1 <= most)
            assert found[i, j] >= 0.95 * best
            checked += 1
        counted[i, j] += 1
        u = np.zeros(8)
        u[i], u[j] = 1, -1
        covariance = np.linalg.inv(np.linalg.inv(covariance) + weights[i, j] * np.outer(u, u))
    assert checked > 10


def test_a_new_bot_is_served_first():
    knowledge = together(known(20, ratings=[1400.0 + 10 * player for player in range(20)], sd=40.0))
    knowledge.covariance[7, 7] = 300.0**2
    picks = Adaptive(20).picks(state(knowledge))
    assert [7 in pick.meeting for pick in picks if pick.why is Why.GAIN][:3] == [True] * 3
    assert counts([pick.meeting for pick in picks], [7])[0] >= 5


def test_a_bot_that_costs_ten_times_as_much_plays_less():
    knowledge = together(known(10))
    slow = replace(knowledge, cpu_seconds=np.array([10.0] + [1.0] * 9))
    played = counts(Event(Adaptive(100), [range(10)]).played(), range(10))
    less = counts([pick.meeting for pick in Adaptive(100).picks(state(slow))], range(10))
    assert played[0] > 15
    assert less[0] < min(less[1:])


# -- the rules that bound it


@given(SIZES, st.integers(1, 120), st.integers(0, 2**16))
def test_as_many_matches_as_asked_in_batches_of_twenty_or_half_the_field(players, matches, seed):
    event = Event(
        Adaptive(matches),
        [range(players)],
        mixed=seed.to_bytes(32, "big"),
        ratings=[1500.0] * players,
    )
    sizes = [len(meetings) for meetings in event]
    assert sum(sizes) == matches
    assert set(sizes[:-1]) <= {20}


def test_of_many_players_a_batch_is_half_as_many_matches():
    assert len(Adaptive(1000).picks(state(known(90)))) == 45
    assert len(Adaptive(1000).picks(state(known(30)))) == 20


@settings(max_examples=40)
@given(st.integers(3, 12), st.integers(0, 2**16), st.booleans())
def test_nobody_has_less_than_half_of_the_mean(players, seed, is_uneven):
    rng = np.random.default_rng(seed)
    ratings = rng.normal(1500, 600 if is_uneven else 50, players)
    event = Event(Adaptive(players * 15), [range(players)], ratings=list(ratings))
    played = counts(event.played(), range(players))
    assert min(played) >= 0.5 * np.mean(played) - 1


@settings(max_examples=40)
@given(st.integers(4, 12), st.integers(1, 6), st.integers(0, 2**16))
def test_everybody_has_the_least_and_nobody_more_than_the_most(players, least, seed):
    most = least + 6
    matches = players * (least + 2) // 2 + players
    ratings = np.random.default_rng(seed).normal(1500, 500, players)
    event = Event(
        Adaptive(matches, least=least, most=most),
        [range(players)],
        ratings=list(ratings),
        mixed=seed.to_bytes(32, "big"),
    )
    played = counts(event.played(), range(players))
    assert max(played) <= most
    assert sum(played) == 2 * matches
    assert min(played) >= least


def test_who_has_too_few_goes_before_what_says_most():
    knowledge = together(known(8, sd=50.0))
    knowledge.covariance[0, 0] = knowledge.covariance[1, 1] = 400.0**2
    picks = Adaptive(20, least=4).picks(state(knowledge))
    seen: Counter[int] = Counter()
    for pick in picks:
        starved = {player for player in range(8) if seen[player] < 4}
        if pick.why is Why.FLOOR:
            assert starved & set(pick.meeting)
        elif pick.why is Why.GAIN:
            assert not starved
        seen.update(pick.meeting)
    assert Why.FLOOR in {pick.why for pick in picks}


def test_it_is_over_when_everybody_has_the_most():
    event = Event(Adaptive(1000, most=6), [range(5)])
    assert counts(event.played(), range(5)) in ([6] * 5, [6, 6, 6, 6, 4])


@given(st.integers(4, 10), st.data())
def test_bots_that_are_kept_apart_never_meet(players, data):
    pairs = list(combinations(range(players), 2))
    apart = data.draw(st.frozensets(st.sampled_from(pairs), max_size=len(pairs) - 1))
    event = Event(Adaptive(60), [range(players)], apart=apart)
    assert not apart & set(met(event.played()))


@pytest.mark.parametrize("players", [3, 6, 15])
def test_no_pair_meets_more_than_twice_as_often_as_pairs_do_in_the_mean(players):
    # Two new bots in a field that is known would meet each other all the time.
    pairs = players * (players - 1) / 2
    ratings = [1500.0, 1500.0, *(3000.0 + 700 * player for player in range(players - 2))]
    event = Event(Adaptive(200), [range(players)], ratings=ratings)
    total = 0
    for meetings in event:
        total += len(meetings)
        assert max(event.knowledge().met.flat) <= max(1, 2 * total / pairs)


def test_matches_of_earlier_events_count_towards_a_pair():
    knowledge = together(known(4))
    knowledge.met[0, 1] = knowledge.met[1, 0] = 50
    assert (0, 1) not in met([pick.meeting for pick in Adaptive(20).picks(state(knowledge))])


def test_a_pair_that_has_met_often_meets_again_if_there_is_no_other():
    knowledge = known(2)
    knowledge.met[0, 1] = knowledge.met[1, 0] = 9
    assert len(Adaptive(20).picks(state(knowledge))) == 20


def test_bots_that_nobody_may_meet_change_nothing_for_the_others():
    # Unrated ones, say: nothing is known about them, so they would always be worth most; and they
    # play nothing, so that nobody else would have less than half of the mean.
    alone = frozenset((player, other) for other in range(6, 30) for player in range(other))
    meetings = [(a, b) for a in range(1, 6) for b in range(1, a)]
    before = Stage(tuple(range(30)), tuple(Scheduled(meeting, (1.0, 0.0)) for meeting in meetings))
    with_them = state(together(known(30)), apart=alone, stages=(before,))
    without = replace(with_them, field=tuple(range(6)))
    assert Adaptive(40).picks(with_them) == Adaptive(40).picks(without)
    assert Why.FLOOR in whys(Adaptive(40), with_them)


# -- groups that nothing binds together


def test_each_group_gets_a_match_outside_it_in_every_batch():
    knowledge = replace(known(9), groups=(0, 0, 0, 0, 0, 1, 1, 2, 3))
    picks = Adaptive(20).picks(state(knowledge))
    bridges = [pick for pick in picks if pick.why is Why.BRIDGE]
    assert 0 < len(bridges) <= 3
    for group in (1, 2, 3):
        assert any(
            group in (labels := {knowledge.groups[player] for player in pick.meeting})
            and len(labels) > 1
            for pick in picks
        )
    assert picks.index(bridges[-1]) < 6


def test_once_all_is_bound_there_are_no_bridges():
    assert Why.BRIDGE not in whys(Adaptive(20), state(together(known(9))))


def test_everybody_of_a_fresh_field_is_met_in_the_first_batch():
    picks = Adaptive(45).picks(state(known(60)))
    assert len(picks) == 30
    assert min(counts([pick.meeting for pick in picks], range(60))) >= 0
    assert sum(pick.why is Why.BRIDGE for pick in picks) >= 24


# -- chance


def test_one_match_in_ten_is_of_any_two():
    knowledge = together(known(60, sd=50.0))
    reasons: Counter[Why] = Counter()
    for number in range(1, 101):
        reasons.update(whys(Adaptive(20), state(knowledge, first_round=number)))
    # Four standard deviations are 54.
    assert reasons.total() == 2000
    assert 146 <= reasons[Why.CHANCE] <= 254


def test_what_is_drawn_by_chance_heeds_no_rating():
    # Half of the field is so far away that no match with it says anything.
    ratings = [1500.0] * 10 + [6000.0] * 10
    knowledge = together(known(20, ratings=ratings))
    across = total = 0
    for number in range(1, 101):
        for pick in Adaptive(20).picks(state(knowledge, first_round=number)):
            if pick.why is Why.CHANCE:
                total += 1
                across += (pick.meeting[0] < 10) != (pick.meeting[1] < 10)
    # 100 of 190 pairs are; about 200 were drawn, and four standard deviations are 14 %.
    assert total > 140
    assert abs(across / total - 100 / 190) < 0.15


def test_nobody_can_know_the_pairings_without_the_secret():
    def pairs(mixed: bytes) -> tuple[object, ...]:
        return Adaptive(20).picks(state(together(known(10)), mixed=mixed))

    assert pairs(MIXED) == pairs(MIXED)
    assert len({pairs(bytes([number]) * 32) for number in range(20)}) == 20


def test_noise_in_the_last_digits_changes_nothing():
    # Another machine adds up a matrix product in another order. Many pairs are worth the same here.
    rng = np.random.default_rng(5)
    knowledge = together(known(40, ratings=[1500.0] * 20 + [1600.0] * 20))
    noisy = replace(
        knowledge,
        ratings=knowledge.ratings * (1 + 1e-13 * rng.normal(size=40)),
        covariance=knowledge.covariance * (1 + 1e-13 * rng.normal(size=(40, 40))),
    )
    assert Adaptive(20).picks(state(knowledge)) == Adaptive(20).picks(state(noisy))


def test_home_is_shared_out_also_between_those_who_play_much_and_little():
    ratings = [1500.0 + 150 * player for player in range(12)]
    event = Event(Adaptive(300), [range(12)], ratings=ratings)
    matches = event.played()
    played = counts(matches, range(12))
    assert max(played) > 1.3 * min(played)
    leans = [2 * home - all_ for home, all_ in zip(homes(matches, range(12)), played, strict=True)]
    assert max(map(abs, leans)) <= 3


# -- who comes and goes


def test_who_joins_is_brought_up_to_half_of_the_mean_at_once():
    event = Event(Adaptive(80), [range(6), range(6), range(7)])
    *_, before, after, _ = event
    assert counts(before, [6]) == [0]
    assert counts(after, [6])[0] >= 7


def test_who_leaves_plays_no_more_and_its_matches_still_count():
    event = Event(Adaptive(60), [range(6), [0, 1, 2, 3, 5]])
    first, *later = event
    assert counts(first, [4])[0] > 0
    assert all(counts(meetings, [4]) == [0] for meetings in later)
    assert len(first) + sum(map(len, later)) == 60


def test_a_bot_that_is_gone_does_not_confuse_the_places_of_the_others():
    # Places in the field and indices of players differ.
    knowledge = together(known(6, ratings=[5000.0, 1500.0, 5000.0, 1500.0, 3000.0, 8000.0]))
    played = Stage((0, 2, 4, 5), (Scheduled((0, 2), (1.0, 0.0)),))
    at = state(knowledge, field=(1, 3, 4), stages=(played,))
    picks = Adaptive(21).picks(at)
    assert {player for pick in picks for player in pick.meeting} <= {1, 3, 4}
    gaining = [frozenset(pick.meeting) for pick in picks if pick.why is Why.GAIN]
    assert gaining[0] == {1, 3}


def test_it_is_over_when_nobody_is_left_to_meet():
    event = Event(Adaptive(60), [range(4), [3]])
    assert len(event.played()) == 20


# -- threes


@settings(max_examples=30)
@given(st.integers(3, 10), st.integers(0, 2**16))
def test_threes_hold_to_the_same_rules(players, seed):
    event = Event(
        Adaptive(40, most=45),
        [range(players)],
        sides=3,
        mixed=seed.to_bytes(32, "big"),
        ratings=list(np.random.default_rng(seed).normal(1500, 200, players)),
    )
    matches = event.played()
    played = counts(matches, range(players))
    assert max(played) <= 45
    assert len(matches) == 40
    for meetings in event.rounds:
        nobody_twice(meetings)
    assert min(played) >= 0.5 * np.mean(played) - 1


def test_the_third_is_the_one_who_adds_most():
    knowledge = together(known(6, ratings=[1500.0, 1500.0, 1500.0, 4000.0, 6000.0, 8000.0]))
    picks = Adaptive(20).picks(state(knowledge, sides=3))
    best = next(pick for pick in picks if pick.why is Why.GAIN)
    assert set(best.meeting) == {0, 1, 2}


def test_threes_keep_all_three_apart():
    apart = frozenset({(0, 1), (2, 3)})
    matches = Event(Adaptive(60), [range(6)], sides=3, apart=apart).played()
    assert len(matches) == 60
    assert not apart & set(met(matches))


# -- what cannot be


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="without ratings"):
        Adaptive(20).settled(State(("a", "b"), (0, 1), MIXED))
    with pytest.raises(ValueError, match="no two of these bots may meet"):
        Event(Adaptive(20), [range(2)], apart=frozenset({(0, 1)}))
    with pytest.raises(ValueError, match="1 match or more, not 0"):
        Adaptive(0)
    with pytest.raises(ValueError, match="least is 0 or more"):
        Adaptive(5, least=-1)
    with pytest.raises(ValueError, match="no less than least"):
        Adaptive(5, least=4, most=3)
