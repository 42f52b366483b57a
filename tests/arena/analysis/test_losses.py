"""What decisions cost, added up; and the moments that cost most, to paste."""

import pytest

from arena.analysis.hands import analyse_hand
from arena.analysis.losses import costliest, losses_of, up_to
from arena.analysis.values import HandAnalysis, Kind, Moment, Option, Spot
from hokm.cards import Seat
from hokm.notation import hand_events, hand_text, parse_hand
from hokm.rules.options import Rules
from tests.arena.analysis.hands import match_of, random_hand

HAND = random_hand(Rules.of(2), 1)


def moment(
    step: str, entrant: int, kind: Kind, points: float, tricks: int = 0, fair: float | None = None
) -> Moment:
    return Moment(
        spot=Spot(1, 1, 1, step),
        seat=Seat(entrant),
        entrant=entrant,
        kind=kind,
        choice="AS",
        options=(Option("AS", 6, 1 - points), Option("KS", 6 + tricks, 1.0)),
        tricks_lost=tricks,
        points_lost=points,
        fair_points_lost=fair,
    )


def hand(
    game: int, *moments: Moment, left_out: tuple[tuple[Kind, int], ...] = (), room: int = 1
) -> HandAnalysis:
    return HandAnalysis(
        room=room,
        game=game,
        record=HAND,
        entrants=((0,), (1,)),
        moments=moments,
        left_out=left_out,
    )


def test_losses_are_summed_by_entrant_and_kind() -> None:
    hands = [
        hand(1, moment("play 1", 0, Kind.LEAD, 2.0, 1), moment("play 3", 0, Kind.LEAD, 0.0, 1)),
        hand(1, moment("play 2", 1, Kind.FOLLOW, 1.0, fair=0.25), room=2),
        hand(2, moment("play 1", 0, Kind.DISCARD, 4.0, fair=-0.5), left_out=((Kind.DRAW, 1),)),
        hand(3),
    ]
    first, second = losses_of(hands, entrants=2)
    assert (first.hands, second.hands) == (4, 4)
    lead = first.by_kind[Kind.LEAD]
    assert (lead.choices, lead.tricks, lead.points, lead.fair_points) == (2, 2, 2.0, None)
    assert first.by_kind[Kind.DISCARD].fair_points == -0.5
    assert (first.total.choices, first.total.points, first.total.fair_points) == (3, 6.0, -0.5)
    assert second.by_kind[Kind.DRAW].left_out == second.total.left_out == 1
    # By game, each hand of it counting alike: both rooms of the first.
    assert first.by_game == ((1, 1.0), (2, 4.0), (3, 0.0))
    # 1.96 times the standard deviation of 1, 4, 0 over the root of 3.
    assert first.error == pytest.approx(1.96 * (13 / 3) ** 0.5 / 3**0.5, rel=1e-3)


def test_two_games_have_no_bar_and_who_met_itself_held_both_sides() -> None:
    one = HandAnalysis(
        room=1,
        game=1,
        record=HAND,
        entrants=((0,), (0,)),
        moments=(moment("play 1", 0, Kind.LEAD, 3.0),),
    )
    [losses] = losses_of([one], entrants=1)
    assert (losses.hands, losses.error, losses.by_game) == (2, None, ((1, 1.5),))


def test_the_costliest_come_first_by_points_and_then_by_tricks() -> None:
    moments = [
        moment("play 1", 0, Kind.LEAD, 1.0, 1),
        moment("play 2", 1, Kind.FOLLOW, 1.0, 3),
        moment("play 3", 0, Kind.LEAD, 0.0),
        moment("play 4", 0, Kind.LEAD, 4.0),
    ]
    found = costliest([hand(1, *moments)], top=9)
    assert [one.spot.step for _, one in found] == ["play 4", "play 2", "play 1"]
    assert len(costliest([hand(1, *moments)], top=1)) == 1


def test_what_was_bad_luck_alone_comes_after_what_was_a_mistake_too() -> None:
    unlucky = moment("play 1", 0, Kind.LEAD, 2.0, fair=-0.5)
    mistaken = moment("play 2", 0, Kind.LEAD, 2.0, fair=1.0)
    found = costliest([hand(1, unlucky, mistaken)], top=2)
    assert [one for _, one in found] == [mistaken, unlucky]


def test_what_is_better_is_best_in_points_and_then_in_tricks() -> None:
    options = (Option("2C", 5, -1.0), Option("3C", 7, 1.0), Option("4C", 8, 1.0))
    its = Moment(
        spot=Spot(1, 1, 1, "play 1"),
        seat=Seat(0),
        entrant=0,
        kind=Kind.LEAD,
        choice="2C",
        options=options,
        tricks_lost=3,
        points_lost=2.0,
    )
    assert its.better == ("4C",)


def test_the_text_of_a_moment_is_the_hand_up_to_it_and_can_be_played_on() -> None:
    rules = Rules.of(2)
    record = match_of(rules, HAND)
    room = record.rooms[0]
    found = analyse_hand(record, room, room.games[0], HAND)
    for one in (found.moments[0], found.moments[-1]):
        text = hand_text(rules, up_to(HAND, one.spot.step))
        again, cut = parse_hand(text)
        assert again == rules
        played = int(one.spot.step.removeprefix("play ")) - 1
        assert cut.plays == HAND.plays[:played]
        assert (cut.draws, cut.discards, cut.trump) == (HAND.draws, HAND.discards, HAND.trump)
        assert list(hand_events(again, cut))
    before = up_to(HAND, "trump")
    assert (before.trump, before.draws, before.plays) == (None, (), ())
