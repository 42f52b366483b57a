"""Luck-adjusted points: what is taken off and what is not, and that it is fair."""

import math
from dataclasses import replace
from statistics import fmean, stdev

import pytest

from arena.ladder.ratings import luck as module
from arena.ladder.ratings.luck import (
    CONSTANTS,
    Constants,
    Estimate,
    LuckError,
    constants_for,
    correlation,
    hands,
    luck,
    mean_a_hand,
    t95,
)
from arena.ladder.ratings.reference import RULES, margins
from hokm.deck import shuffled
from hokm.outcome import Ending
from hokm.records import Format
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.testing import seeds
from tests.hokm.records.conftest import make_match_record


def one_room(record, room=1):
    """As if the match had been stopped before the others were played."""
    return replace(record, rooms=tuple(its for its in record.rooms if its.number == room))


# -- constants


@pytest.mark.parametrize("players", [4, 3, 2])
def test_expected_margins_sum_to_nothing(players):
    assert len(CONSTANTS[players].expected) == variant_of(RULES[players]).sides
    assert sum(CONSTANTS[players].expected) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("players", [4, 3, 2])
def test_the_constants_are_the_means_of_the_reference_on_other_decks(players):
    pack, seed_of = variant_of(RULES[players]).pack, seeds(f"not those of the constants {players}")
    made = [margins(players, shuffled(pack, seed_of(number))) for number in range(1, 801)]
    for values, expected in zip(zip(*made, strict=True), CONSTANTS[players].expected, strict=True):
        assert abs(fmean(values) - expected) < 4 * stdev(values) / math.sqrt(len(values))
    assert 0.4 < CONSTANTS[players].beta < 1.0


@pytest.mark.parametrize(
    ("players", "name", "value"),
    [
        (4, "points_kot", "3"),
        (4, "points_win", "2"),
        (2, "points_hakem_kot", "4"),
        (4, "modes", "suit,sar"),
        (3, "removed_two", "S"),
    ],
)
def test_there_are_no_constants_where_a_deck_is_worth_something_else(players, name, value):
    options = {name: value}
    if name == "points_win":
        options |= {"points_kot": "2"}
    with pytest.raises(LuckError, match=f"no constants for {name}={value}, only .* {name}="):
        constants_for(Rules.of(players, options=options))


@pytest.mark.parametrize(
    ("players", "options"),
    [
        (4, {"pause_after": "first_round", "play_out": "on"}),
        (4, {"cut": "on", "target_points": "3", "next_hakem": "left", "teams": "second_ace"}),
        (3, {"first_hakem": "random", "next_hakem": "right"}),
        (2, {"draw_choice_public": "off"}),
    ],
)
def test_options_that_leave_a_deck_its_worth_have_the_usual_constants(players, options):
    play = Play.RACE if {"target_points", "first_hakem"} & {*options} else Play.BOARDS
    rules = Rules.of(players, play=play, options=options)
    assert constants_for(rules) is CONSTANTS[players]


# -- hands


def test_a_hand_has_its_points_and_what_the_reference_made_of_its_deck():
    record = make_match_record(4, games=5)
    expected = CONSTANTS[4].expected
    for hand in hands(record):
        game = record.rooms[hand.room - 1].games[hand.game - 1]
        assert game.outcome is not None
        ours, theirs = game.outcome.points
        assert list(hand.raw) == [ours - theirs, theirs - ours]
        place = (hand.game - 1) % 2  # of side 0, which is the hakem's on odd boards
        its = margins(4, game.hands[0].deck)[place] - expected[place]
        assert hand.reference == pytest.approx((its, -its))
    assert len(list(hands(record))) == 10


@pytest.mark.parametrize("number", [1, 2, 3])
def test_with_three_seats_places_are_counted_from_the_hakem(number):
    record = make_match_record(3, games=3)
    hand = next(one for one in hands(record) if one.game == number)
    deck = record.rooms[0].games[number - 1].hands[0].deck
    hakem = number - 1
    for side in range(3):
        place = (side - hakem) % 3
        assert hand.reference is not None
        assert hand.reference[side] == pytest.approx(
            margins(3, deck)[place] - CONSTANTS[3].expected[place]
        )


def test_a_cut_deck_is_that_which_was_dealt():
    options = {"cut": "on"}
    record = make_match_record(4, Format.CLASSIC, games=1, options=options)
    hand = record.rooms[0].games[0].hands[0]
    assert hand.cut
    found = next(hands(record)).reference
    assert found is not None
    lain = (*hand.deck[hand.cut :], *hand.deck[: hand.cut])
    place = hand.hakem % 2
    assert found[0] == pytest.approx(margins(4, lain)[place] - CONSTANTS[4].expected[place])


def test_of_a_race_every_hand_with_a_result_counts():
    faults = {(1, 1): Ending.STOPPED}
    record = make_match_record(4, Format.CLASSIC, games=2, faults=faults)
    whole = sum(
        hand.result is not None for room in record.rooms for one in room.games for hand in one.hands
    )
    found = luck([record])
    assert found.players[0].hands == whole
    assert found.left_out == 1


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.HOST_FAULT])
def test_a_board_that_does_not_count_is_left_out(ending):
    found = luck([make_match_record(4, games=3, faults={(2, 3): ending})])
    assert found.players[0].hands == 5
    assert (found.left_out, found.doubled, found.games) == (1, 2, 3)


def test_a_board_that_a_fault_ended_counts_as_it_counted_with_its_cards():
    record = make_match_record(4, games=1, faults={(1, 1): Ending.CRASH})
    outcome = record.rooms[0].games[0].outcome
    first = next(hands(record))
    assert outcome is not None
    assert outcome.ending is Ending.CRASH
    assert first.raw[0] == outcome.points[0] - outcome.points[1]
    assert first.reference is not None


def test_a_board_that_was_lost_undealt_has_no_luck(edited_undealt):
    found = luck([edited_undealt])
    assert found.undealt == 1
    assert found.left_out == 0
    game = found.players[0].games[0]
    assert (game.raw, game.luck) == (-3.0, 0.0)


@pytest.fixture
def edited_undealt():
    record = make_match_record(4, games=2, faults={(1, 1): Ending.CRASH})
    room = record.rooms[0]
    outcome = room.games[0].outcome
    assert outcome is not None
    undealt = replace(room.games[0], hands=(), outcome=replace(outcome, points=(0, 3)))
    games = (undealt, *room.games[1:])
    return replace(record, rooms=(replace(room, games=games), *record.rooms[1:]))


def test_a_deck_that_is_not_its_seeds_is_refused_with_its_place():
    record = make_match_record(4, games=2)
    room = record.rooms[1]
    game = room.games[1]
    other = replace(game.hands[0], deck=tuple(reversed(game.hands[0].deck)))
    games = (room.games[0], replace(game, hands=(other,)))
    forged = replace(record, rooms=(record.rooms[0], replace(room, games=games)))
    with pytest.raises(LuckError, match="room 2, game 2, hand 1: its deck is not its seed's"):
        list(hands(forged))
    short = replace(game, hands=(replace(other, deck=other.deck[:-1]),))
    torn = replace(record, rooms=(replace(room, games=(short,)),))
    with pytest.raises(LuckError, match="is not the pack of 4 players"):
        list(hands(torn))


def test_seeds_need_not_be_revealed_and_it_is_said_of_how_many_hands():
    record = make_match_record(4, games=3)
    hidden = replace(record, seeds=())
    assert luck([hidden]).players == luck([record]).players
    assert (luck([record]).unproved, luck([hidden]).unproved) == (0, 6)


# -- what they come to


def test_the_adjusted_points_are_the_raw_ones_less_beta_times_what_the_reference_made_more():
    record = one_room(make_match_record(4, games=6))
    found = luck([record]).players[0]
    every = list(hands(record))
    assert found.raw.value == pytest.approx(fmean(one.raw[0] for one in every))
    its = [one.raw[0] - CONSTANTS[4].beta * (one.reference or (0,))[0] for one in every]
    assert found.adjusted.value == pytest.approx(fmean(its))
    assert found.luck == pytest.approx(found.raw.value - found.adjusted.value)
    assert found.units == found.hands == 6
    # The bar of independent hands, and Student's t on 5 degrees of freedom.
    assert found.adjusted.error == pytest.approx(2.5706 * stdev(its) / math.sqrt(6), rel=2e-3)


@pytest.mark.parametrize("players", [4, 3, 2])
def test_the_luck_of_a_board_that_every_room_played_falls_out(players):
    found = luck([make_match_record(players, games=6)])
    assert found.doubled == found.games == 6
    for player in found.players:
        assert player.luck == pytest.approx(0)
        assert player.adjusted.value == pytest.approx(player.raw.value)
        # The unit is the board, so that the bar is that of the comparison by boards.
        assert player.units == 6
        assert player.variance_ratio == pytest.approx(1)


def test_a_single_room_is_not_doubled():
    found = luck([one_room(make_match_record(4, games=4), room=2)])
    assert found.doubled == 0
    assert found.games == 4


def test_two_sides_mirror_each_other_and_three_sum_to_nothing():
    first, second = luck([one_room(make_match_record(2, games=8))]).players
    assert first.raw.value == pytest.approx(-second.raw.value)
    assert first.adjusted.value == pytest.approx(-second.adjusted.value)
    assert first.adjusted.error == pytest.approx(second.adjusted.error)
    assert first.correlation == pytest.approx(second.correlation)
    three = luck([one_room(make_match_record(3, games=8))]).players
    assert sum(one.adjusted.value for one in three) == pytest.approx(0)


def test_partners_who_stay_are_one_player_and_drawn_ones_are_each_their_own():
    fixed = luck([make_match_record(4, games=2, entrants=4)])
    assert [[one.name for one in its.entrants] for its in fixed.players] == [
        ["zahra", "Ömer"],
        ["ali", "bahár"],
    ]
    options = {"teams": "second_ace", "target_points": "2"}
    drawn = luck([make_match_record(4, Format.CLASSIC, games=3, entrants=4, options=options)])
    assert sorted(one.entrants[0].name for one in drawn.players) == sorted(
        ["zahra", "ali", "Ömer", "bahár"]
    )
    assert sum(one.raw.value * one.hands for one in drawn.players) == pytest.approx(0)


def test_records_add_up_by_entrant_and_their_boards_stay_apart():
    one, two = (one_room(make_match_record(4, games=3, seed=seed)) for seed in (1, 2))
    together = luck([one, two]).players
    assert [player.hands for player in together] == [6, 6]
    assert together[0].units == 6
    alone = [luck([record]).players[0].raw.value for record in (one, two)]
    assert together[0].raw.value == pytest.approx(fmean(alone))
    assert {game.record for game in together[0].games} == {0, 1}


def test_who_meets_itself_is_two_players():
    record = make_match_record(4, games=3)
    itself = replace(record, entrants=(record.entrants[0],) * 2)
    assert len(luck([itself]).players) == 2


def test_records_that_do_not_add_up_are_refused():
    boards, races = make_match_record(4, games=1), make_match_record(4, Format.CLASSIC, games=1)
    with pytest.raises(LuckError, match=r"4 players, boards and 4 players, classic: .* each alone"):
        luck([boards, races])
    with pytest.raises(LuckError, match="4 players, boards and 2 players, boards"):
        luck([boards, make_match_record(2, games=1)])
    with pytest.raises(LuckError, match=r"the match local/.* is there twice"):
        luck([boards, boards])
    with pytest.raises(LuckError, match="no record"):
        luck([])


def test_an_error_names_the_record():
    record = make_match_record(4, games=1, options={"points_kot": "3"})
    with pytest.raises(LuckError, match=r"^a\.json: luck-v1 has no constants for points_kot=3"):
        luck([record], ["a.json"])


def test_games_say_points_and_luck_of_the_whole_game():
    record = one_room(make_match_record(4, Format.CLASSIC, games=3))
    player = luck([record]).players[0]
    for game, its in zip(player.games, record.rooms[0].games, strict=True):
        assert its.outcome is not None
        ours, theirs = its.outcome.points
        assert game.raw == ours - theirs
        assert game.hands == len(its.hands)
        assert game.adjusted == game.raw - game.luck
    assert player.units == 3


def test_whatever_beta_is_the_mean_is_not_moved_but_by_chance(monkeypatch):
    """The luck of many decks is nothing in the mean; a wrong E c would show at once."""
    pack, seed_of = variant_of(RULES[4]).pack, seeds("whatever beta is")
    found = [
        margins(4, shuffled(pack, seed_of(number)))[0] - CONSTANTS[4].expected[0]
        for number in range(1, 1001)
    ]
    bar = 3 * stdev(found) / math.sqrt(len(found))
    for beta in (0.3, CONSTANTS[4].beta, 5.0):
        assert abs(beta * fmean(found)) < beta * bar
    wrong = Constants(CONSTANTS[4].beta, (CONSTANTS[4].expected[0] + 0.2, 0.0))
    assert abs(fmean(found) + CONSTANTS[4].expected[0] - wrong.expected[0]) > bar


# -- statistics


def test_hands_of_a_unit_hang_together():
    apart = mean_a_hand([[1.0], [1.0], [-1.0], [-1.0], [2.0], [2.0]])
    together = mean_a_hand([[1.0, 1.0], [-1.0, -1.0], [2.0, 2.0]])
    assert apart.value == together.value
    assert apart.error is not None
    assert together.error is not None
    assert together.error > 1.5 * apart.error
    assert mean_a_hand([[1.0, -1.0], [2.0, -2.0], [0.5, -0.5]]) == Estimate(0.0, 0.0)


def test_there_is_no_bar_of_fewer_than_three_units():
    assert mean_a_hand([[1.0, 2.0], [3.0]]) == Estimate(2.0, None)
    with pytest.raises(ValueError, match="no hands"):
        mean_a_hand([[]])


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (1000, 1.9623)],
)
def test_students_quantiles_are_those_of_the_tables(freedom, quantile):
    assert t95(freedom) == pytest.approx(quantile, rel=0.01)


def test_a_correlation_needs_three_pairs_and_a_spread():
    assert correlation([(1, 2), (2, 4), (3, 6)]) == pytest.approx(1)
    assert correlation([(1, 2), (2, 4)]) is None
    assert correlation([(1, 2), (1, 4), (1, 6)]) is None


def test_examples_in_the_docstrings_hold():
    import doctest

    import arena.ladder.ratings.reference

    for one in (module, arena.ladder.ratings.reference):
        assert doctest.testmod(one, optionflags=doctest.ELLIPSIS).failed == 0
