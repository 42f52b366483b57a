"""How a hand of two teams ends, and what it counts (cases 27 to 35)."""

import pytest

from hokm.actions import PLAYS
from hokm.cards import CARDS, Seat, Side
from hokm.errors import IllegalAction, RulesError
from hokm.events import HandEnded, HandStarted, TrickTaken
from hokm.outcome import Ending, HandKind, HandResult, Outcome
from hokm.rules.game import Board, Race
from hokm.rules.options import Play, Rules
from hokm.rules.scoring import SidesToSeven
from tests.hokm.positions import (
    board,
    go_on,
    hand,
    held,
    next_hand,
    played_out,
    points,
    race,
    race_rules,
    rigged,
    rules,
)


@pytest.mark.rule("8.27")
def test_case_27_seven_tricks_to_one_end_the_hand_with_five_cards_each_unplayed() -> None:
    deal = hand(rules(4), "00102200")
    assert deal.is_over
    assert len(deal.taken) == 8
    assert [len(held(deal, seat)) for seat in range(4)] == [5, 5, 5, 5]


@pytest.mark.rule("8.28")
@pytest.mark.parametrize("last", ["2", "3"])
def test_case_28_at_six_all_the_thirteenth_trick_decides(last: str) -> None:
    deal = hand(rules(4), "012301230123" + last)
    assert len(deal.taken) == 13
    assert deal.result is not None
    assert deal.result.winner == int(last) % 2
    assert sorted(deal.result.tricks) == [6, 7]
    assert sorted(points(deal)) == [0, 1]


@pytest.mark.rule("8.29")
def test_case_29_a_kot_of_the_hakems_side_counts_2_and_the_hakem_stays() -> None:
    game = race(race_rules(4, first_hakem="seat:1"))
    ended = next_hand(game, "1133113")
    assert ended.result.kind is HandKind.KOT
    assert ended.result.points == (0, 2)
    assert (ended.next_hakem, ended.next_dealer) == (1, 0)
    assert game.scores == (0, 2)


@pytest.mark.rule("8.30")
def test_case_30_a_kot_against_counts_3_the_seat_on_the_right_is_hakem_and_the_old_one_deals() -> (
    None
):
    game = race(race_rules(4, first_hakem="seat:1"))
    ended = next_hand(game, "0022002")
    assert ended.result.kind is HandKind.HAKEM_KOT
    assert ended.result.points == (3, 0)
    assert (ended.next_hakem, ended.next_dealer) == (2, 1)


@pytest.mark.rule("8.31")
def test_case_31_who_took_the_first_trick_alone_lost_no_kot() -> None:
    deal = hand(rules(4), "10000000")
    assert deal.result is not None
    assert deal.result.kind is HandKind.WIN
    assert points(deal) == (1, 0)


@pytest.mark.rule("8.32")
def test_case_32_the_seat_on_the_right_of_seat_3_is_seat_0() -> None:
    game = race(race_rules(4, first_hakem="seat:3"))
    ended = next_hand(game, "30000000")
    assert (ended.next_hakem, ended.next_dealer) == (0, 3)


def six_to_five() -> Race:
    """A race at 6-5 for side 0, to whose side the hakem belongs."""
    game = race(race_rules(4, first_hakem="seat:1"))
    next_hand(game, "1111111")
    next_hand(game, "1111111")
    next_hand(game, "01111111")
    assert game.scores == (0, 5)
    next_hand(game, "0000000")
    next_hand(game, "0000000")
    next_hand(game, "10000000")
    assert game.scores == (6, 5)
    assert game.deal.hakem == 2
    return game


@pytest.mark.rule("8.33")
def test_case_33_a_race_is_won_by_passing_the_target_too() -> None:
    game = six_to_five()
    ended = next_hand(game, "2222222")
    assert (ended.next_hakem, ended.next_dealer) == (None, None)
    assert game.outcome == Outcome(Ending.COMPLETED, (8, 5), Side(0))
    assert game.to_act is None
    assert game.legal_actions() == ()


@pytest.mark.rule("8.34")
def test_case_34_a_trick_for_a_side_on_6_ends_nothing() -> None:
    game = six_to_five()
    course = rigged(game, "2222222")
    events = go_on(game, course.actions[: 1 + 4])
    assert isinstance(events[-1], TrickTaken)
    assert game.deal.taken == [0]
    assert not game.is_over
    assert game.scores == (6, 5)


@pytest.mark.rule("8.35")
def test_case_35_a_kot_that_counts_less_than_a_win_is_refused() -> None:
    with pytest.raises(RulesError, match="1 <= points_win <= points_kot <= points_hakem_kot"):
        Rules.of(4, options={"points_win": "2", "points_kot": "1"})


@pytest.mark.rule("2.6")
@pytest.mark.parametrize(("option", "hakem"), [("right", 2), ("left", 0)])
def test_the_next_hakem_is_the_loser_s_neighbour_that_the_option_names(
    option: str, hakem: int
) -> None:
    game = race(race_rules(4, first_hakem="seat:1", next_hakem=option))
    ended = next_hand(game, "20000000")
    assert (ended.next_hakem, ended.next_dealer) == (hakem, (hakem - 1) % 4)
    assert game.deal.hakem == hakem


@pytest.mark.rule("2.5")
@pytest.mark.parametrize(
    ("takers", "kind", "tricks", "counts"),
    [
        ("0000000111111", HandKind.KOT, (7, 6), (2, 0)),
        ("1111111000000", HandKind.HAKEM_KOT, (6, 7), (0, 3)),
        ("1000000000000", HandKind.WIN, (12, 1), (1, 0)),
        ("0000001000000", HandKind.WIN, (12, 1), (1, 0)),
    ],
)
@pytest.mark.parametrize("players", [2, 4])
def test_played_out_a_kot_is_still_the_first_seven(
    players: int, takers: str, kind: HandKind, tricks: tuple[int, int], counts: tuple[int, int]
) -> None:
    deal = hand(rules(players, play_out="on"), takers)
    assert len(deal.taken) == 13
    assert deal.result == HandResult(Side(int(counts[1] > 0)), kind, counts, tricks)


@pytest.mark.rule("1.6")
def test_points_are_those_of_the_table() -> None:
    table = rules(4, points_win="4", points_kot="5", points_hakem_kot="9")
    assert points(hand(table, "10000000")) == (4, 0)
    assert points(hand(table, "0000000")) == (5, 0)
    assert points(hand(table, "1111111")) == (0, 9)


@pytest.mark.rule("1.7")
@pytest.mark.parametrize(("target", "hands"), [("1", 1), ("2", 1), ("3", 2), ("100", 50)])
def test_a_race_goes_to_its_target(target: str, hands: int) -> None:
    game = race(race_rules(4, first_hakem="seat:0", target_points=target))
    for played in range(hands):
        assert not game.is_over
        assert game.hand_number == played + 1
        next_hand(game, "0000000")
    assert game.outcome == Outcome(Ending.COMPLETED, (2 * hands, 0), Side(0))


@pytest.mark.rule("1.7")
def test_the_next_hand_begins_with_the_score_so_far() -> None:
    game = race(race_rules(4, first_hakem="seat:0"))
    events = played_out(game, rigged(game, "0000000"))
    assert HandStarted(2, Seat(0), Seat(3), (2, 0)) in events
    assert events.index(HandStarted(2, Seat(0), Seat(3), (2, 0))) == 1 + next(
        place for place, event in enumerate(events) if isinstance(event, HandEnded)
    )


@pytest.mark.rule("1.11")
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_board_is_one_hand_and_has_no_next_hakem(number: int) -> None:
    game = board(rules(4), "1111111", number=number)
    hakem_kot = number % 2 == 1
    assert game.outcome == Outcome(Ending.COMPLETED, (0, 3 if hakem_kot else 2), Side(1))
    with pytest.raises(IllegalAction, match="the hand is over"):
        game.act(Seat(0), PLAYS[0])


@pytest.mark.parametrize(("seat", "number", "counts"), [(0, 1, (0, 3)), (1, 1, (2, 0))])
def test_a_fault_on_a_board_counts_as_the_worst_result_of_the_side_at_fault(
    seat: int, number: int, counts: tuple[int, int]
) -> None:
    game = Board(rules(4), CARDS, number=number)
    game.start()
    outcome = game.forfeit(Seat(seat), ending=Ending.TIME, cause="the clock ran out")
    assert outcome == Outcome(
        Ending.TIME, counts, Side(1 - seat), at_fault=Seat(seat), cause="the clock ran out"
    )


def test_a_fault_in_a_race_loses_it_and_leaves_the_points() -> None:
    game = six_to_five()
    outcome = game.forfeit(Seat(2), ending=Ending.CRASH, cause="exited")
    assert outcome == Outcome(Ending.CRASH, (6, 5), Side(1), at_fault=Seat(2), cause="exited")


def test_a_void_game_counts_for_nobody() -> None:
    outcome = six_to_five().void(Ending.HOST_FAULT, cause="no room")
    assert outcome == Outcome(Ending.HOST_FAULT, (6, 5), None, cause="no room")
    assert not outcome.ending.counts


@pytest.mark.rule("2.5")
def test_two_sides_end_at_seven_tricks_whatever_their_order() -> None:
    finish = SidesToSeven(play_out=False)
    ends: set[tuple[int, int]] = set()
    going_on: list[tuple[Side, ...]] = [()]
    while going_on:
        taken = going_on.pop()
        if finish.verdict(taken) is None:
            going_on += [(*taken, Side(0)), (*taken, Side(1))]
        else:
            ends.add((taken.count(Side(0)), taken.count(Side(1))))
    assert ends == {(7, lost) for lost in range(7)} | {(lost, 7) for lost in range(7)}


def test_rules_for_boards_play_no_race_and_the_other_way_round() -> None:
    with pytest.raises(ValueError, match=r"make them with play=Play\.BOARDS"):
        Board(Rules.of(4, play=Play.RACE), CARDS, number=1)
    with pytest.raises(ValueError, match=r"make them with play=Play\.RACE"):
        Race(Rules.of(4), lambda hand: bytes(32))
