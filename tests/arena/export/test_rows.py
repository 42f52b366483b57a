"""The rows that a record is."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from arena.export import schema
from arena.export.rows import Origin, rows_of
from arena.export.schema import TABLES
from arena.ladder.matches.conduct import conduct
from arena.ladder.matches.scores import score
from arena.ladder.testing import InProcessRunner
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.outcome import Ending, Outcome
from hokm.records import (
    Circumstances,
    Flag,
    Format,
    GameRecord,
    MatchRecord,
    ProcessRecord,
    Refusal,
    ReplayError,
)
from tests.arena.export.conftest import PlayMatch
from tests.arena.noted import with_notes_in

ALL = frozenset(table.rows for table in TABLES)

R = TypeVar("R")

ALONE = Origin("m.json")


def told(
    record: MatchRecord,
    *,
    tables: Collection[type[schema.Row]] = ALL,
    origin: Origin = ALONE,
) -> list[schema.Row]:
    return list(rows_of(record, number=7, origin=origin, tables=tables))


def of(rows: Sequence[schema.Row], kind: type[R]) -> list[R]:
    return [row for row in rows if isinstance(row, kind)]


def with_game(record: MatchRecord, **changes: object) -> MatchRecord:
    """The record with another first game of its first room."""
    first = record.rooms[0]
    games = (replace(first.games[0], **changes), *first.games[1:])  # type: ignore[arg-type]
    return replace(record, rooms=(replace(first, games=games), *record.rooms[1:]))


KINDS: dict[str, dict[str, Any]] = {
    "four": {},
    "four entrants": {"names": "abcd"},
    "three": {"players": 3, "names": "abc"},
    "two": {"players": 2},
    "races": {"kind": Format.CLASSIC, "cut": "on", "target_points": "2"},
    "races of two": {"players": 2, "kind": Format.CLASSIC, "target_points": "2"},
    "drawn partners": {
        "names": "abcd",
        "kind": Format.CLASSIC,
        "teams": "second_ace",
        "target_points": "1",
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_decision_of_every_hand_is_a_row_with_who_took_it(play: PlayMatch, kind: str) -> None:
    record = play(boards=2, **KINDS[kind])
    rows = told(record)
    games = [game for room in record.rooms for game in room.games]
    plays = of(rows, schema.Play)
    assert len(plays) == sum(len(seconds) for game in games for seconds in game.seconds)
    assert len(plays) == sum(hand.decisions for hand in of(rows, schema.Hand))
    assert [p.what for p in plays if p.action == "play"] == [
        str(card) for game in games for hand in game.hands for card in hand.plays
    ]
    # Who that is, is what an entrant's conduct rests on too.
    assert Counter(p.entrant for p in plays) == {
        entrant: one.decisions for entrant, one in enumerate(conduct(record))
    }
    assert [row.decisions for row in of(rows, schema.Entrant)] == [
        one.decisions for one in conduct(record)
    ]
    assert {(p.entrant, p.bot) for p in plays} == {
        (place, bot.name) for place, bot in enumerate(record.entrants)
    }


@pytest.mark.parametrize("kind", KINDS)
def test_games_and_hands_are_there_once_each_with_who_sat_and_won(
    play: PlayMatch, kind: str
) -> None:
    record = play(boards=2, **KINDS[kind])
    rows = told(record)
    games = [(room, game) for room in record.rooms for game in room.games]
    assert [(row.room, row.game, row.hands) for row in of(rows, schema.Game)] == [
        (room.number, game.number, len(game.hands)) for room, game in games
    ]
    assert [(row.room, row.game, row.hand) for row in of(rows, schema.Hand)] == [
        (room.number, game.number, hand.number) for room, game in games for hand in game.hands
    ]
    for row, (room, game) in zip(of(rows, schema.Game), games, strict=True):
        seats = [row.seat_0, row.seat_1, row.seat_2, row.seat_3][: record.rules.players]
        assert seats == [record.entrants[index].name for index in room.seating_of(game)]
        assert game.outcome is not None
        winner = game.outcome.winner
        assert winner is not None
        assert row.winner_side == winner
        assert row.winner is not None
        assert row.winner.split(" + ")[0] == seats[winner]
        assert row.ending == "COMPLETED"


@pytest.mark.parametrize("kind", KINDS)
def test_a_hand_says_who_was_hakem_and_what_came_of_it(play: PlayMatch, kind: str) -> None:
    record = play(boards=4, **KINDS[kind])
    rows = told(record)
    hands = [
        (room.seating_of(game), hand)
        for room in record.rooms
        for game in room.games
        for hand in game.hands
    ]
    for row, (seating, hand) in zip(of(rows, schema.Hand), hands, strict=True):
        assert (row.hakem_seat, row.hakem) == (
            hand.hakem,
            record.entrants[seating[hand.hakem]].name,
        )
        assert hand.result is not None
        assert (row.winner_side, row.kind) == (hand.result.winner, hand.result.kind.value)
        assert row.points == max(hand.result.points)
        tricks = [row.tricks_0, row.tricks_1, row.tricks_2]
        assert tuple(t for t in tricks if t is not None) == hand.result.tricks
        own = [
            p.decision
            for p in of(rows, schema.Play)
            if (p.room, p.game, p.hand) == (row.room, row.game, row.hand)
        ]
        assert own == list(range(1, row.decisions + 1))
    points = [(row.points_0, row.points_1, row.points_2) for row in of(rows, schema.Game)]
    assert [tuple(p for p in some if p is not None) for some in points] == [
        game.outcome.points
        for room in record.rooms
        for game in room.games
        if game.outcome is not None
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_boards_are_what_the_score_of_the_match_says(play: PlayMatch, kind: str) -> None:
    record = play(boards=3, **KINDS[kind])
    boards = of(told(record), schema.Board)
    found = score(record)
    assert [(b.first_side, b.second_side, b.difference) for b in boards] == [
        (pair.first, pair.second, d) for pair in found.pairs for d in pair.differences
    ]
    for board in boards:
        assert board.first_points - board.second_points == board.difference
    names = {(b.first, b.second) for b in boards}
    expected = {
        "three": {("a", "b"), ("a", "c"), ("b", "c")},
        "four entrants": {("a + c", "b + d")},
        "drawn partners": set(),
    }
    assert names == expected.get(kind, {("a", "b")})


def test_an_action_says_how_many_were_open(play: PlayMatch) -> None:
    plays = of(told(play()), schema.Play)
    trump, lead, *_ = plays
    assert (trump.action, trump.legal, trump.what in "CDHS") == ("trump", 4, True)
    assert (lead.action, lead.number, lead.legal, lead.seat) == ("play", 1, 13, trump.seat)
    last = [p for p in plays if p.number == 28]
    assert all(p.legal <= 13 - 6 for p in last)


def test_a_hand_of_two_has_discards_and_draws(play: PlayMatch) -> None:
    plays = of(told(play(2)), schema.Play)
    first = [p for p in plays if (p.room, p.game) == (1, 1)]
    assert [p.action for p in first[:5]] == ["trump", "discard", "discard", "draw", "draw"]
    assert [p.number for p in first[:5]] == [1, 1, 2, 1, 2]
    assert [len(p.what.split()) for p in first[1:3]] == [3, 2]
    assert {p.what for p in first if p.action == "draw"} <= {"keep", "refuse"}
    assert {p.legal for p in first if p.action == "draw"} == {2}


def test_a_cut_says_how_many_cards(play: PlayMatch) -> None:
    rows = told(play(**KINDS["races"]))
    first = of(rows, schema.Play)[0]
    hand = of(rows, schema.Hand)[0]
    assert (first.action, first.what, first.legal) == ("cut", str(hand.cut), 51)


def test_times_are_those_of_the_record_in_milliseconds(play: PlayMatch) -> None:
    record = play()
    count = len(record.rooms[0].games[0].seconds[0])
    # Trump and the first lead are the hakem's, seat 0; the second card is seat 1's.
    seconds = (0.001234, 0.5, 2.0, *[0.0] * (count - 3))
    rows = told(with_game(record, seconds=(seconds,)))
    first, second, third, *_ = of(rows, schema.Play)
    assert (first.charged_milliseconds, first.hand_milliseconds) == (1.234, 1.234)
    assert (second.charged_milliseconds, second.hand_milliseconds) == (500.0, 501.234)
    assert (third.charged_milliseconds, third.hand_milliseconds) == (2000.0, 2000.0)
    one, other = of(rows, schema.Entrant)
    assert (one.charged_milliseconds, one.longest_milliseconds) == (501.234, 500.0)
    assert (other.charged_milliseconds, other.longest_milliseconds) == (2000.0, 2000.0)


def test_a_time_that_is_not_recorded_is_none(play: PlayMatch) -> None:
    rows = told(with_game(play(), seconds=()))
    plays = [p for p in of(rows, schema.Play) if p.room == 1]
    assert {(p.charged_milliseconds, p.hand_milliseconds) for p in plays} == {(None, None)}


def test_faults_refusals_and_cpu_are_told_with_who_it_was(play: PlayMatch) -> None:
    refusal = Refusal(hand=1, seat=Seat(1), attempt=1, reason=Reason.NOT_IN_HAND, action="play 2C")
    fault = Outcome(Ending.ILLEGAL, (3, 0), None, at_fault=Seat(3), cause="no such card")
    processes = (
        ProcessRecord(room=1, seat=Seat(1), cpu_seconds=0.25),
        ProcessRecord(room=2, seat=Seat(0), cpu_seconds=0.5),
        ProcessRecord(room=2, seat=Seat(1)),
    )
    record = replace(
        with_game(play(), refusals=(refusal, refusal), outcome=fault, flags=(Flag.UNPLAYED,)),
        circumstances=Circumstances(started="10 o'clock", ended="noon", processes=processes),
    )
    rows = told(record)
    game = of(rows, schema.Game)[0]
    assert (game.ending, game.fault_seat, game.fault_bot) == ("ILLEGAL", 3, "b")
    assert (game.cause, game.refusals, game.is_unplayed) == ("no such card", 2, True)
    assert (game.winner_side, game.winner) == (None, None)
    assert [(e.refusals, e.faults, e.cpu_milliseconds) for e in of(rows, schema.Entrant)] == [
        (0, 0, None),
        (2, 1, 750.0),
    ]
    match = of(rows, schema.Match)[0]
    assert (match.started, match.ended) == ("10 o'clock", "noon")


def test_a_note_stands_beside_its_decision(play: PlayMatch) -> None:
    assert {(p.note, p.note_numbers) for p in of(told(play()), schema.Play)} == {(None, None)}
    plays = of(told(with_notes_in(play())), schema.Play)
    assert plays
    for one in plays:
        assert one.note == f"{one.bot} thinks"
        assert one.note_numbers == f'{{"decision": {float(one.decision)}}}'


def test_a_match_says_whether_it_counts_and_moves_ratings(play: PlayMatch) -> None:
    record = replace(play(), match="ev3/r12/a~b", event="ev3", attempt=2)
    rated = Origin("m.json", ladder="club", may_be_rated=lambda _: True)
    match = of(told(record, origin=rated), schema.Match)[0]
    assert (match.record, match.ladder, match.round, match.attempt) == (7, "club", 12, 2)
    assert (match.counts, match.voided_by, match.is_rated) == (True, None, True)
    stopped = with_game(record, outcome=None)
    match = of(told(stopped, origin=rated), schema.Match)[0]
    assert (match.counts, match.voided_by, match.is_rated) == (False, "STOPPED", False)
    alone = of(told(play()), schema.Match)[0]
    assert (alone.ladder, alone.event, alone.round, alone.is_rated) == (None, None, None, None)


def test_a_match_that_never_began_has_games_without_hands(play: PlayMatch) -> None:
    runner = InProcessRunner(faults={("local/x/a~b", 1): (Ending.NEVER_STARTED, 1)})
    rows = told(play(runner=runner))
    assert {row.ending for row in of(rows, schema.Game)} == {"NEVER_STARTED"}
    assert {type(row) for row in rows} == {schema.Match, schema.Entrant, schema.Game}
    assert [row.longest_milliseconds for row in of(rows, schema.Entrant)] == [None, None]


def test_a_hand_that_was_broken_off_is_told_as_far_as_it_went(play: PlayMatch) -> None:
    record = play()
    game = record.rooms[0].games[0]
    [hand] = game.hands
    record = with_game(
        record,
        hands=(replace(hand, plays=hand.plays[:5], result=None),),
        seconds=(game.seconds[0][:6],),
        outcome=Outcome(Ending.TIME, (3, 0), None, at_fault=Seat(1)),
    )
    rows = told(record)
    own = of(rows, schema.Hand)[0]
    assert (own.decisions, own.winner_side, own.winner, own.kind) == (6, None, None, None)
    assert (own.points, own.tricks_0, own.tricks_1) == (None, None, None)
    first = [p for p in of(rows, schema.Play) if p.room == 1]
    assert [p.what for p in first if p.action == "play"] == [str(card) for card in hand.plays[:5]]


def test_only_what_is_asked_for_is_told(play: PlayMatch) -> None:
    record = play()
    for table in TABLES[:6]:
        rows = told(record, tables=[table.rows])
        assert rows
        assert {type(row) for row in rows} == {table.rows}


def test_a_game_that_leaves_the_rules_is_refused_where_decisions_are_asked_for(
    play: PlayMatch,
) -> None:
    record = play()
    first: GameRecord = record.rooms[0].games[0]
    hand = first.hands[0]
    forged = with_game(record, hands=(replace(hand, plays=(*hand.plays[1:], hand.plays[0])),))
    with pytest.raises(ReplayError, match="room 1, game 1, hand 1, play 1: seat 0 may not"):
        told(forged)
    longer = with_game(record, hands=(replace(hand, plays=(*hand.plays, hand.plays[0])),))
    with pytest.raises(ReplayError, match="is not being played"):
        told(longer)
    assert told(forged, tables=[schema.Match, schema.Board, schema.Game, schema.Hand])


def test_no_column_is_empty_that_is_not_said_to_be(play: PlayMatch) -> None:
    for kind in KINDS.values():
        for row in told(play(**kind)):
            for column, value in zip(schema.TABLE_OF[type(row)].columns, row, strict=True):
                assert value is not None or column.is_optional, column
