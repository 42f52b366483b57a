"""Recorded games as moments: where one stops, and how one gets from there to elsewhere."""

from dataclasses import replace

import pytest

from arena.tui.reel import At, Kind, NoSuchPlace, Reel, Unit, hand_until
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.events import CardPlayed, HandStarted, TrickTaken
from hokm.notation import hand_events
from hokm.notes import Note
from hokm.outcome import Ending
from hokm.records import Format, MatchRecord, Noted, Refusal
from hokm.session import ClockRules
from tests.arena.tui.conftest import MakeReel, reel_of
from tests.hokm.records.conftest import make_match_record

RACES = {"kind": Format.CLASSIC, "games": 2, "options": {"target_points": "2"}}


def walked(reel: Reel, unit: Unit, *, onwards: bool, eyes: Seat | None = None) -> list[At]:
    """All stops from one end to the other."""
    at = At(0, 0) if onwards else reel.ends(At(len(reel.tapes) - 1, 0), last=True)
    stops = [at]
    while (there := reel.step(stops[-1], unit, onwards=onwards, eyes=eyes)) != stops[-1]:
        stops.append(there)
    return stops


def kinds(reel: Reel, stops: list[At]) -> set[Kind]:
    return {reel.moment(at).kind for at in stops}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_decision_is_a_moment_with_its_seat_and_its_time(make_reel: MakeReel, players: int):
    reel = make_reel(players)
    for game, tape in enumerate(reel.tapes):
        moments = reel.strip(game).moments
        decided = [one for one in moments if one.kind in (Kind.DECISION, Kind.PLAY, Kind.TRICK)]
        assert [one.seconds for one in decided] == list(tape.game.seconds[0])
        assert all(one.seat is not None for one in decided)
        plays = [one.card for one in decided if one.card is not None]
        assert plays == list(tape.game.hands[0].plays)


def test_step_by_step_one_comes_through_all_games_and_back_again(make_reel: MakeReel):
    reel = make_reel(**RACES)
    onwards = walked(reel, Unit.PLAY, onwards=True)
    moments = [len(reel.strip(game).moments) for game in range(len(reel.tapes))]
    assert onwards == [At(game, one) for game, count in enumerate(moments) for one in range(count)]
    assert walked(reel, Unit.PLAY, onwards=False) == onwards[::-1]


def test_tricks_stop_at_their_last_card_and_hands_at_their_deal(make_reel: MakeReel):
    reel = make_reel(**RACES)
    stops = walked(reel, Unit.TRICK, onwards=True)[1:]
    assert kinds(reel, stops) == {Kind.TRICK, Kind.RESULT, Kind.ENDING}
    tricks = [at for at in stops if reel.moment(at).kind is Kind.TRICK]
    events = [event for game in range(len(reel.tapes)) for event in reel.strip(game).events]
    assert len(tricks) == sum(isinstance(event, TrickTaken) for event in events)
    hands = walked(reel, Unit.HAND, onwards=True)
    assert kinds(reel, hands[1:-1]) == {Kind.DEAL}
    assert len(hands) - 2 == sum(isinstance(event, HandStarted) for event in events)


def test_back_by_hand_or_game_comes_to_its_beginning_first(make_reel: MakeReel):
    reel = make_reel(games=3)
    inside = reel.jump(At(0, 0), "2.3")
    for unit in (Unit.HAND, Unit.GAME):
        beginning = reel.step(inside, unit, onwards=False)
        assert (beginning.game, reel.moment(beginning).kind) == (1, Kind.DEAL)
        assert reel.step(beginning, unit, onwards=False).game == 0
    assert reel.step(inside, Unit.GAME, onwards=True) == At(2, 0)
    assert reel.step(At(5, 0), Unit.GAME, onwards=True) == reel.ends(At(5, 0), last=True)


@pytest.mark.parametrize(
    ("text", "room", "game", "hand", "trick"),
    [("2", 1, 1, 2, 0), ("2.3", 1, 1, 2, 3), ("2.1.4", 1, 2, 1, 4), (" 2/2.1.4 ", 2, 2, 1, 4)],
)
def test_a_place_in_a_race_is_named_by_hand_and_trick(
    make_reel: MakeReel, text: str, room: int, game: int, hand: int, trick: int
):
    reel = make_reel(**RACES)
    at = reel.jump(At(0, 5), text)
    tape, moment = reel.tapes[at.game], reel.moment(at)
    assert (tape.room, tape.number, moment.hand, moment.trick) == (room, game, hand, trick)
    assert moment.kind is (Kind.PLAY if trick else Kind.DEAL)
    before = reel.moment(reel.step(at, Unit.PLAY, onwards=False))
    assert before.trick < trick or not trick


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9", "there is no game 9 in room 1"),
        ("2.99", "hand 1 has no trick 99: tricks go to"),
        ("1.1.1", "say GAME.TRICK, as in 2.3"),
        ("3/1", "there is no game 1 in room 3"),
        ("here", "'here' is no place"),
        ("1.", "is no place"),
    ],
)
def test_where_there_is_nothing_it_is_said_where_there_is_something(
    make_reel: MakeReel, text: str, expected: str
):
    with pytest.raises(NoSuchPlace, match=expected):
        make_reel().jump(At(0, 0), text)


def test_a_hand_that_a_race_has_not_is_said_too(make_reel: MakeReel):
    with pytest.raises(NoSuchPlace, match=r"no hand 99 here: hands go to \d"):
        make_reel(**RACES).jump(At(0, 0), "99")


# -- search


def test_a_card_is_found_where_it_was_played_round_about(make_reel: MakeReel):
    reel = make_reel()
    card = reel.tapes[2].game.hands[0].plays[7]
    at = At(0, 0)
    found = set()
    for _ in range(len(reel.tapes)):
        there = reel.search(at, card.symbol, onwards=True)
        assert there is not None
        assert reel.moment(there).card == card
        found.add(there)
        at = there
    assert reel.search(at, str(card).lower(), onwards=True) in found
    assert reel.search(at, str(card), onwards=False) in found


def test_one_that_is_there_once_is_found_from_wherever_one_stands(make_reel: MakeReel):
    reel = make_reel(games=1)
    only = Reel("one", reel.tapes[:1])
    card = only.tapes[0].game.hands[0].plays[3]
    there = only.search(At(0, 0), str(card), onwards=True)
    assert there is not None
    for onwards in (True, False):
        assert only.search(there, str(card), onwards=onwards) == there


def test_a_player_is_found_by_name_and_by_seat(make_reel: MakeReel):
    reel = make_reel()
    by_name = reel.search(At(0, 0), "ALI", onwards=True)
    assert by_name is not None
    moment, tape = reel.moment(by_name), reel.tapes[by_name.game]
    assert moment.seat is not None
    assert tape.names[moment.seat] == "ali"
    by_seat = reel.search(At(0, 0), "seat 3", onwards=True)
    assert by_seat is not None
    assert reel.moment(by_seat).seat == 3
    assert reel.search(At(0, 0), "nobody", onwards=True) is None


def refused(record: MatchRecord) -> MatchRecord:
    refusal = Refusal(
        hand=1, seat=Seat(1), attempt=1, reason=Reason.NOT_IN_HAND, action="play AS, says \x07"
    )
    room = record.rooms[0]
    first = replace(room.games[0], refusals=(refusal,), notes=(NOTED,))
    return replace(record, rooms=(replace(room, games=(first, *room.games[1:])), *record.rooms[1:]))


NOTED = Noted(hand=1, decision=3, seat=Seat(1), note=Note("Sure of it", (("odds", 0.61),)))


def test_a_refusal_stands_before_the_result_and_is_there_for_its_seat_alone():
    reel = reel_of(refused(make_match_record()))
    at = reel.search(At(0, 0), "not_in_hand", onwards=True)
    assert at is not None
    assert reel.moment(at).kind is Kind.REFUSAL
    assert reel.moment(reel.step(at, Unit.PLAY, onwards=True)).kind is Kind.RESULT
    assert reel.search(At(0, 0), "not_in_hand", onwards=True, eyes=Seat(1)) == at
    assert reel.search(At(0, 0), "not_in_hand", onwards=True, eyes=Seat(0)) is None
    seen = walked(reel, Unit.PLAY, onwards=True, eyes=Seat(0))
    assert Kind.REFUSAL not in kinds(reel, seen)


@pytest.mark.parametrize("query", ["sure of", "ODDS"])
def test_a_note_is_found_by_a_piece_of_it_by_its_seat_alone(query: str):
    reel = reel_of(refused(make_match_record(players=4)))
    at = reel.search(At(0, 0), query, onwards=True)
    assert at is not None
    decision = reel.moment(at)
    assert (decision.hand, decision.decision, decision.note) == (1, 3, NOTED.note)
    assert reel.search(At(0, 0), query, onwards=True, eyes=Seat(1)) == at
    for other in (0, 2, 3):
        assert reel.search(At(0, 0), query, onwards=True, eyes=Seat(other)) is None


def test_a_fault_is_found_and_a_game_that_ended_well_is_none(make_reel: MakeReel):
    reel = make_reel(faults={(2, 1): Ending.CRASH})
    at = reel.search(At(0, 0), "fault", onwards=True)
    assert at is not None
    assert (reel.tapes[at.game].room, reel.tapes[at.game].number) == (2, 1)
    assert reel.moment(at).kind is Kind.ENDING
    assert reel.search(at, "fault", onwards=True) == at


# -- clocks, texts, and what is broken


def test_what_goes_beyond_a_moves_time_is_taken_from_the_bank_of_the_hand():
    record = make_match_record()
    room = record.rooms[0]
    charged = [0.0] * len(room.games[0].seconds[0])
    charged[0], charged[4] = 3.5, 1.25  # the hakem declares, leads, and its next play
    game = replace(room.games[0], seconds=(tuple(charged),))
    rooms = (replace(room, games=(game, *room.games[1:])), *record.rooms[1:])
    clock = ClockRules(move_seconds=1.0, bank_seconds=5.0)
    reel = reel_of(replace(record, rooms=rooms, clock=clock))
    decided = [one for one in reel.strip(0).moments if one.seat is not None]
    assert decided[0].seat == 0
    assert decided[0].banks == (2.5, 5.0, 5.0, 5.0)
    assert decided[4].seat is not None
    assert decided[4].banks[decided[4].seat] == (2.25 if decided[4].seat == 0 else 4.75)
    assert reel.strip(1).moments[0].banks == (5.0,) * 4


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_text_of_a_hand_as_far_as_it_is_played_gives_the_events_so_far(
    make_reel: MakeReel, players: int
):
    reel = make_reel(players, games=1)
    tape, strip = reel.tapes[0], reel.strip(0)
    for moment in strip.moments:
        if moment.kind in (Kind.DECISION, Kind.PLAY, Kind.TRICK):
            cut_short = hand_until(tape.game.hands[0], moment.decision)
            events = list(hand_events(tape.rules, cut_short))
            assert events[: moment.end] == list(strip.events[moment.start : moment.end])
            assert not any(isinstance(event, CardPlayed) for event in events[moment.end :])


def test_where_a_record_leaves_the_rules_is_the_last_moment():
    record = make_match_record()
    room = record.rooms[0]
    [hand] = room.games[0].hands
    again = (*hand.plays[:5], hand.plays[0], *hand.plays[6:])
    game = replace(room.games[0], hands=(replace(hand, plays=again),))
    reel = reel_of(
        replace(record, rooms=(replace(room, games=(game, *room.games[1:])), *record.rooms[1:]))
    )
    strip = reel.strip(0)
    assert strip.broken is not None
    assert strip.moments[-1].kind is Kind.BROKEN
    assert sum(one.card is not None for one in strip.moments) == 5


def test_a_game_that_never_began_has_its_ending(make_reel: MakeReel):
    reel = make_reel(faults={(1, 1): Ending.NEVER_STARTED})
    assert [one.kind for one in reel.strip(0).moments] == [Kind.ENDING]
    with pytest.raises(NoSuchPlace, match="game 1 was never begun"):
        reel.jump(At(1, 0), "1")
