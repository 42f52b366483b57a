"""A Swiss event: everybody plays, nobody meets anybody twice, equals meet equals."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.schedules import Scheduled, Stage, State, Swiss
from arena.ladder.schedules.swiss import usual_rounds
from tests.arena.ladder.schedules.events import (
    Event,
    better_wins,
    counts,
    drawn,
    first_wins,
    homes,
    met,
    void,
)

SIZES = st.integers(2, 30)
RESULTS = st.sampled_from([better_wins, drawn, first_wins, void])


def swiss(players: int, rounds: int | None = None, **options) -> Event:
    return Event(Swiss(rounds), [range(players)], **options)


def either_wins(chance):
    return lambda meeting: chance.choice([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)])


@pytest.mark.parametrize(
    ("players", "rounds"),
    [(2, 1), (3, 3), (4, 3), (5, 5), (6, 5), (8, 5), (9, 6), (16, 6), (64, 8), (100, 9), (300, 11)],
)
def test_the_usual_number_of_rounds(players, rounds):
    assert usual_rounds(players) == rounds
    settled = swiss(players).schedule
    assert isinstance(settled, Swiss)
    assert settled.rounds == rounds


@given(SIZES, st.randoms(use_true_random=False))
def test_everybody_plays_every_round_or_has_the_bye(players, chance):
    event = swiss(players, results=either_wins(chance))
    matches = event.played()
    rounds = usual_rounds(players)
    assert len(event.rounds) == len(event.stages) == rounds
    assert all(len(one) == players // 2 for one in event.rounds)
    byes = [rounds - played for played in counts(matches, range(players))]
    assert sum(byes) == rounds * (players % 2)
    assert max(byes) - min(byes) <= 1


@given(SIZES, st.randoms(use_true_random=False))
def test_nobody_meets_anybody_twice(players, chance):
    # In a graph where everybody may still meet at least half of the others, everybody can be
    # paired (Dirac 1952); so this many rounds are always possible, however the earlier ones went.
    rounds = max(1, (players + players % 2) // 2)
    event = swiss(players, rounds, results=either_wins(chance))
    assert set(met(event.played()).values()) == {1}


@given(st.integers(2, 7), st.integers(1, 9), st.randoms(use_true_random=False))
def test_there_is_a_rematch_only_where_no_pairing_goes_without(players, rounds, chance):
    event = swiss(players, rounds, results=either_wins(chance))
    before: list[tuple[int, ...]] = []
    for meetings in event:
        had_bye = [len(event.rounds) - 1 - played for played in counts(before, range(players))]
        rematches = sum(met(before)[pair] for pair in met(meetings))
        assert rematches == fewest_rematches(frozenset(range(players)), met(before), had_bye)
        before += meetings


def fewest_rematches(
    left: frozenset[int], before: Counter[tuple[int, int]], had_bye: list[int]
) -> int:
    """By trying everything: the bye goes to one of those who had fewest."""
    if len(left) % 2:
        fewest = min(had_bye)
        return min(
            fewest_rematches(left - {player}, before, had_bye)
            for player in left
            if had_bye[player] == fewest
        )
    if not left:
        return 0
    first = min(left)
    return min(
        before[first, other] + fewest_rematches(left - {first, other}, before, had_bye)
        for other in left - {first}
    )


def test_in_the_first_round_the_upper_half_meets_the_lower():
    event = swiss(8, ratings=[1000.0 + 10 * player for player in range(8)])
    assert {frozenset(meeting) for meeting in next(iter(event))} == {
        frozenset({7 - seed, 3 - seed}) for seed in range(4)
    }


@given(st.integers(2, 20), st.randoms(use_true_random=False))
def test_in_the_second_round_those_who_won_meet_each_other(pairs, chance):
    event = swiss(2 * pairs, results=lambda _: chance.choice([(1.0, 0.0), (0.0, 1.0)]))
    rounds = iter(event)
    next(rounds)
    points = {
        player: share
        for match in event.stages[0].matches
        for player, share in zip(match.meeting, match.points or (), strict=True)
    }
    # Only who is left over of an odd group meets another.
    assert sum(points[home] != points[away] for home, away in next(rounds)) == pairs % 2


def test_the_bye_goes_to_the_last():
    event = swiss(5, results=better_wins)
    resting = [set(range(5)) - {p for meeting in meetings for p in meeting} for meetings in event]
    assert resting[0] == {4}
    assert sorted(map(min, resting)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("players", [4, 7, 16, 33])
@pytest.mark.parametrize("results", [better_wins, drawn, first_wins])
def test_nobody_is_at_home_much_more_often_than_away(players, results):
    matches = swiss(players, results=results).played()
    home, played = homes(matches, range(players)), counts(matches, range(players))
    assert max(abs(2 * h - p) for h, p in zip(home, played, strict=True)) <= 2


@pytest.mark.parametrize("players", [2, 5, 16, 33, 100])
def test_the_best_is_found(players):
    event = swiss(players, results=better_wins)
    event.played()
    ranking = event.order()
    assert ranking[0] == 0
    assert sorted(ranking) == list(range(players))


def test_each_has_its_points_and_those_of_its_opponents():
    field = (0, 1, 2)
    state = State(("a", "b", "c"), field, bytes(32), stages=(stage(field, ((0, 1), (0.5, 0.5))),))
    ranking = Swiss(2).ranking(state)
    assert [(place.player, place.points, place.buchholz) for place in ranking] == [
        (2, 1.0, 1.0),
        (0, 0.5, 0.5),
        (1, 0.5, 0.5),
    ]


def standing(*stages: Stage, order: tuple[str, ...] = ()) -> tuple[int, ...]:
    names = tuple(f"bot{player}" for player in range(6))
    last = stages[-1].field
    state = State(names, last, bytes(32), stages=stages)
    return tuple(place.player for place in Swiss(9, order).ranking(state))


def stage(field, *matches) -> Stage:
    return Stage(field, tuple(Scheduled(meeting, points) for meeting, points in matches))


def test_equals_are_ranked_by_what_their_opponents_have_and_then_by_seeding():
    # 0 and 1 have beaten one each; 1's opponent has a point more.
    field = (0, 1, 2, 3)
    first = stage(field, ((0, 2), (1.0, 0.0)), ((1, 3), (1.0, 0.0)))
    second = stage((2, 3), ((2, 3), (0.0, 1.0)))
    assert standing(first, second) == (1, 3, 0, 2)
    assert standing(first) == (0, 1, 2, 3)
    assert standing(first, order=("bot3", "bot1", "bot0", "bot2")) == (1, 0, 3, 2)


def test_a_bye_is_a_win_and_counts_as_an_opponent_like_oneself():
    # 2 had a bye: one point, and one from the opponent it did not have. 0 beat somebody with none.
    assert standing(stage((0, 1, 2), ((0, 1), (1.0, 0.0)))) == (2, 0, 1)


def test_a_void_match_is_won_by_who_is_still_there_or_else_shared():
    both = stage((0, 1), ((0, 1), None))
    # Half a point each: with another half 1 is level with 2, whose opponent has less.
    draw = stage((0, 1, 2, 3), ((0, 2), (0.0, 1.0)), ((1, 3), (0.5, 0.5)))
    assert standing(both, draw) == (1, 2, 0, 3)
    gone = stage((1, 2), ((1, 2), (0.5, 0.5)))
    assert standing(both, gone) == (1, 2, 0)


def test_who_joins_begins_with_nothing_and_who_leaves_is_not_paired():
    event = Event(Swiss(4), [range(4), range(6), [0, 1, 2, 4, 5]], results=better_wins)
    matches = event.played()
    assert counts(matches, [3]) == [2]
    last = {player for meeting in event.rounds[-1] for player in meeting}
    assert 3 not in last
    assert sorted(event.order()) == list(range(6))
    assert all(count == 1 for count in met(matches).values())


def test_it_is_over_when_nobody_is_left_to_meet():
    event = Event(Swiss(4), [range(4), [2]])
    assert len(event.played()) == 2


def test_the_lot_comes_from_the_secret_of_the_event():
    events = [swiss(16, mixed=bytes([number]) * 32).played() for number in range(4)]
    assert len({tuple(matches) for matches in events}) == 4


def test_a_field_of_300_is_paired_at_once_without_a_rematch():
    event = swiss(300, 2)
    assert set(met(event.played()).values()) == {1}


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="a Swiss event is for matches of two, not of 3"):
        Event(Swiss(), [range(6)], sides=3)
    with pytest.raises(ValueError, match="needs 2 active bots to play and has 1"):
        swiss(1)
    with pytest.raises(ValueError, match="1 round or more, not 0"):
        Swiss(0)
    with pytest.raises(ValueError, match="seeded once"):
        Swiss(order=("a", "a"))


def test_all_pairs_of_a_small_field_meet():
    for players in (3, 4):
        assert set(met(swiss(players).played())) == set(combinations(range(players), 2))
