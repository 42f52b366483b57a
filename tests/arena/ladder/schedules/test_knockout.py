"""A knock-out has one winner, whatever happens in it."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.schedules import KnockOut, Scheduled, Stage, State
from arena.ladder.schedules.knockout import slots_of
from tests.arena.ladder.schedules.events import Event, better_wins, drawn, met, void

SIZES = st.integers(2, 40)


def cup(players: int, schedule: KnockOut | None = None, **options) -> Event:
    return Event(schedule or KnockOut(), [range(players)], **options)


def test_the_bracket_of_eight_is_the_usual_one():
    assert [seed + 1 for seed in slots_of(8)] == [1, 8, 4, 5, 2, 7, 3, 6]


@given(SIZES)
def test_the_two_best_of_any_number_meet_as_late_as_can_be(players):
    slots = slots_of(players)
    while len(slots) > 1:
        assert sorted(slots) == list(range(len(slots)))
        pairs = list(zip(slots[::2], slots[1::2], strict=True))
        assert all(sum(pair) == len(slots) - 1 for pair in pairs)
        slots = [min(pair) for pair in pairs]


@given(SIZES, st.randoms(use_true_random=False))
def test_all_but_one_lose_one_match_each(players, chance):
    def either(meeting):
        return chance.choice([(1.0, 0.0), (0.0, 1.0)])

    event = cup(players, results=either)
    matches = event.played()
    assert len(matches) == players - 1
    losers = [
        match.meeting[match.points == (1.0, 0.0)]
        for match in chain.from_iterable(stage.matches for stage in event.stages)
    ]
    assert len(set(losers)) == len(losers) == players - 1
    ranking = event.order()
    assert sorted(ranking) == list(range(players))
    assert ranking[0] not in losers
    assert ranking[1] == losers[-1]


@given(SIZES)
def test_byes_go_to_the_best_seeds_and_only_in_the_first_round(players):
    event = cup(players)
    event.played()
    first, *later = event.rounds
    size = len(slots_of(players))
    assert set(chain.from_iterable(first)) == set(range(size - players, players))
    for number, meetings in enumerate(later, start=2):
        assert len(meetings) == size >> number


def test_seeds_are_by_rating_and_the_order_is_kept_with_the_schedule():
    event = cup(4, ratings=[1400.0, 1700.0, 1500.0, 1600.0])
    assert event.schedule == KnockOut(order=("bot1", "bot3", "bot2", "bot0"))
    assert next(iter(event)) == ((1, 0), (3, 2))


def test_an_order_that_is_given_stands():
    order = ("bot2", "bot0", "bot1")
    event = cup(3, KnockOut(order=order), ratings=[1.0, 2.0, 3.0])
    assert event.schedule == KnockOut(order=order)
    assert event.played() == [(0, 1), (2, 0)]


@pytest.mark.parametrize("result", [drawn, void])
def test_a_tie_without_a_winner_is_played_again_and_then_the_better_seed_goes_on(result):
    event = cup(4, KnockOut(replays=2), results=result)
    assert event.played() == [
        (0, 3),
        (1, 2),
        (3, 0),
        (2, 1),
        (0, 3),
        (1, 2),
        (0, 1),
        (1, 0),
        (0, 1),
    ]
    assert event.order() == (0, 1, 2, 3)


def test_only_the_ties_that_are_open_are_played_again():
    results = iter([(0.5, 0.5), (0.0, 1.0), (0.0, 1.0), (1.0, 0.0)])
    event = cup(4, results=lambda meeting: next(results))
    event.played()
    assert event.rounds == [((0, 3), (1, 2)), ((3, 0),), ((0, 2),)]


@given(st.integers(4, 40))
def test_the_losers_of_the_semi_finals_may_play_for_the_third_place(players):
    event = cup(players, KnockOut(third=True))
    matches = event.played()
    assert len(matches) == players
    assert event.rounds[-1] == ((0, 1), (2, 3))
    assert event.order()[:4] == (0, 1, 2, 3)


def test_of_three_there_is_one_who_lost_a_semi_final_and_is_third():
    event = cup(3, KnockOut(third=True))
    assert event.played() == [(1, 2), (0, 1)]
    assert event.order() == (0, 1, 2)


def test_the_winner_of_the_small_final_is_third_against_the_seeding():
    def lower_wins_the_small_final(meeting):
        return (0.0, 1.0) if set(meeting) == {2, 3} else better_wins(meeting)

    event = cup(4, KnockOut(third=True), results=lower_wins_the_small_final)
    event.played()
    assert event.order() == (0, 1, 3, 2)
    assert reached(event) == ["winner", "final", "third", "semi-final"]


def test_how_far_each_has_come_is_said_in_words():
    event = cup(9)
    assert set(reached(event)) == {"still in"}
    rounds = iter(event)
    next(rounds)
    assert reached(event) == ["still in"] * 8 + ["round 1"]
    list(rounds)
    expected = ["winner", "final", *["semi-final"] * 2, *["quarter-final"] * 4, "round 1"]
    assert reached(event) == expected


def reached(event: Event) -> list[str]:
    return [place.reached for place in event.schedule.ranking(event.state())]


def test_who_is_withdrawn_loses_by_default_and_does_not_come_back():
    event = Event(KnockOut(), [range(4), [1, 2, 3], range(4)])
    assert event.played() == [(0, 3), (1, 2)]
    assert event.order()[0] == 1


def test_who_leaves_in_the_middle_of_a_tie_loses_it_once_and_for_all():
    # bot0 and bot3 draw, bot0 leaves; bot3 goes on, and leaves later: nothing of it changes.
    def drawn_at_the_top(meeting):
        return (0.5, 0.5) if set(meeting) == {0, 3} else better_wins(meeting)

    event = Event(KnockOut(), [range(4), [1, 2, 3], [1, 2]], results=drawn_at_the_top)
    assert event.played() == [(0, 3), (1, 2), (1, 3)]


def test_who_has_left_stays_out_though_it_is_seen_again():
    # 0 leaves the tie with 3, which goes on and leaves later; then 0 is seen, and leaves again.
    fields = [(0, 1, 2, 3), (1, 2, 3), (0, 1, 2), (1, 2)]
    drawn_match = Scheduled((0, 3), (0.5, 0.5))
    won = Scheduled((1, 2), (1.0, 0.0))
    final = Scheduled((1, 3), (0.5, 0.5))
    matches = [(drawn_match, won), (final,), ()]
    stages = tuple(Stage(*one) for one in zip(fields[:3], matches, strict=True))
    names = tuple(f"bot{player}" for player in range(4))
    state = State(names, fields[3], bytes(32), stages=stages)
    cup = KnockOut(order=names)
    assert cup.next_rounds(state) == ()
    assert tuple(place.player for place in cup.ranking(state)) == (1, 3, 0, 2)


def test_a_decision_by_seeding_stands_when_the_winner_leaves_later():
    event = Event(KnockOut(replays=0), [range(4), range(4), [1, 2, 3]], results=drawn)
    assert event.played() == [(0, 3), (1, 2), (0, 1)]
    assert event.order() == (1, 0, 2, 3)


def test_a_void_match_without_replays_is_won_by_the_one_who_is_still_there():
    event = Event(KnockOut(replays=0), [range(2), [1]], results=void)
    event.played()
    assert event.order() == (1, 0)


@given(SIZES, st.data())
def test_a_cup_ends_whoever_leaves(players, data):
    fields, left = [], list(range(players))
    for _ in range(8):
        fields.append(list(left))
        left = [player for player in left if data.draw(st.booleans()) or len(left) == 1]
        left = left or [0]
    event = Event(
        KnockOut(third=True), fields, results=data.draw(st.sampled_from([better_wins, drawn, void]))
    )
    matches = event.played()
    assert all(count <= 3 for count in met(matches).values())
    assert sorted(event.order()) == list(range(players))


def test_who_joins_later_is_not_in_the_cup():
    event = Event(KnockOut(), [range(4), range(6)])
    assert {player for meeting in event.played() for player in meeting} == set(range(4))


def test_three_sides_have_no_brackets():
    with pytest.raises(ValueError, match="a knock-out is for matches of two, not of 3"):
        Event(KnockOut(), [range(6)], sides=3)


def test_a_seed_must_be_there():
    with pytest.raises(ValueError, match="bot7 is seeded and is not an active bot"):
        KnockOut(order=("bot0", "bot7")).settled(State(("bot0", "bot1"), (0, 1), bytes(32)))
