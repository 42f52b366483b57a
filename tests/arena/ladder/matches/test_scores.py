"""What a match came to, from its record alone."""

from dataclasses import replace

import pytest

from arena.ladder.matches.scores import PairScore, score
from hokm.cards import Seat, Side
from hokm.outcome import Ending, Outcome
from hokm.records import (
    EntrantRecord,
    Format,
    GameRecord,
    MatchRecord,
    Policy,
    RoomRecord,
)
from hokm.rules.options import Rules
from hokm.session import ClockRules


def won(*points: int) -> Outcome:
    """A completed game with these points by side."""
    return Outcome(Ending.COMPLETED, points, Side(points.index(max(points))))


def room(number: int, seating: tuple[int, ...], *outcomes: Outcome | None) -> RoomRecord:
    games = tuple(GameRecord(number=n, outcome=o) for n, o in enumerate(outcomes, start=1))
    return RoomRecord(number=number, seating=seating, games=games)


def record(
    players: int, *rooms: RoomRecord, kind: Format = Format.BOARDS, **options: str
) -> MatchRecord:
    entrants = len(set(rooms[0].seating))
    return MatchRecord(
        match="m",
        format=kind,
        rules=Rules.of(players, play=kind.play, options=options),
        games=len(rooms[0].games),
        entrants=tuple(
            EntrantRecord(name=name, owner="o", version="1", digest="0" * 64)
            for name in "abcd"[:entrants]
        ),
        clock=ClockRules(),
        policy=Policy.CASUAL,
        commitment=bytes(32),
        rooms=rooms,
        seeds=(),
        score=(0,) * entrants,
    )


def test_a_difference_is_points_over_both_rooms() -> None:
    match = record(
        4,
        room(1, (0, 1, 0, 1), won(2, 0), won(0, 1)),
        room(2, (1, 0, 1, 0), won(0, 1), won(0, 1)),
    )
    # Board 1: +2 and +1; board 2: -1 and +1, a push.
    assert score(match).pairs == (PairScore(0, 1, (3, 0)),)
    assert score(match).gained == ((3, 1), (0, 1))
    assert score(match).spoilt is None


def test_the_side_at_fault_pays_and_the_board_counts() -> None:
    lost = Outcome(Ending.CRASH, (3, 0), Side(0), at_fault=Seat(1))
    match = record(2, room(1, (0, 1), lost), room(2, (1, 0), won(0, 1)))
    assert score(match).pairs[0].differences == (4,)
    assert score(match).endings == {Ending.CRASH: 1, Ending.COMPLETED: 1}
    assert score(match).spoilt is None


def test_races_count_by_who_won_them() -> None:
    match = record(
        4,
        room(1, (0, 1, 0, 1), won(7, 5), won(3, 7), won(8, 0)),
        room(2, (1, 0, 1, 0), won(2, 7), won(7, 6), won(7, 6)),
        kind=Format.CLASSIC,
    )
    assert score(match).pairs[0].differences == (2, -2, 0)


def test_three_entrants_make_three_pairs() -> None:
    match = record(
        3,
        room(1, (0, 1, 2), won(1, 0, 0)),
        room(2, (1, 2, 0), won(0, 0, 3)),
        room(3, (2, 0, 1), won(2, 0, 0)),
    )
    assert score(match).pairs == (
        PairScore(0, 1, (4,)),
        PairScore(0, 2, (2,)),
        PairScore(1, 2, (-2,)),
    )


def test_even_boards_are_counted_by_their_own_seating() -> None:
    rooms = (
        room(1, (0, 1, 2), won(0, 0, 1), won(0, 1, 0)),
        room(2, (1, 2, 0), won(0, 1, 0), won(1, 0, 0)),
        room(3, (2, 0, 1), won(1, 0, 0), won(0, 0, 1)),
    )
    evens = ((0, 2, 1), (2, 1, 0), (1, 0, 2))
    turned = tuple(replace(r, even_seating=e) for r, e in zip(rooms, evens, strict=True))
    assert score(record(3, *turned)).gained == ((0, 0), (0, 0), (3, 3))


def test_four_entrants_count_as_two_pairs() -> None:
    match = record(4, room(1, (0, 1, 2, 3), won(2, 0)), room(2, (3, 0, 1, 2), won(0, 1)))
    assert score(match).pairs == (PairScore(0, 1, (3,)),)


def test_drawn_partners_gain_each_for_himself_and_make_no_pairs() -> None:
    first = room(1, (0, 1, 2, 3), won(7, 5), won(3, 7))
    second = room(2, (3, 0, 1, 2), won(2, 7), won(7, 6))
    # In pair 2 the draw made partners of 0 and 3, against 1 and 2.
    apart = [
        replace(its, games=(its.games[0], replace(its.games[1], seating=seating)))
        for its, seating in ((first, (0, 1, 3, 2)), (second, (2, 0, 1, 3)))
    ]
    found = score(record(4, *apart, kind=Format.CLASSIC, teams="second_ace"))
    assert found.pairs == ()
    # Pair 1: 0 and 2 won both. Pair 2: 1 and 2 won both.
    assert found.gained == ((2, 0), (0, 2), (2, 2), (0, 0))
    assert found.spoilt is None


def test_a_board_is_lost_by_whoever_gained_less_than_the_others_in_the_mean() -> None:
    match = record(
        4,
        room(1, (0, 1, 0, 1), won(0, 2), won(1, 0), won(1, 0)),
        room(2, (1, 0, 1, 0), won(0, 1), won(0, 1), won(1, 0)),
    )
    assert score(match).lost(0) == (1,)
    assert score(match).lost(1) == (2,)  # and the third was level
    three = record(
        3,
        room(1, (0, 1, 2), won(2, 0, 0)),
        room(2, (1, 2, 0), won(1, 0, 0)),
        room(3, (2, 0, 1), won(0, 0, 0)),
    )
    assert [score(three).lost(entrant) for entrant in range(3)] == [(), (), (1,)]


def test_of_four_entrants_the_pair_loses_and_what_does_not_count_is_lost_by_nobody() -> None:
    void = Outcome(Ending.STOPPED, (0, 0), None)
    match = record(
        4, room(1, (0, 1, 2, 3), won(0, 1), void), room(2, (3, 0, 1, 2), won(1, 0), won(0, 1))
    )
    assert [score(match).lost(entrant) for entrant in range(4)] == [(1,), (), (1,), ()]


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.HOST_FAULT, Ending.NEVER_STARTED])
def test_a_board_counts_only_if_every_room_finished_it(ending: Ending) -> None:
    void = Outcome(ending, (0, 0), None)
    match = record(2, room(1, (0, 1), won(1, 0), void), room(2, (1, 0), won(0, 1), won(1, 0)))
    assert score(match).boards == (1,)
    assert score(match).pairs[0].differences == (2,)
    assert score(match).spoilt is ending


def test_a_fault_of_the_host_says_more_than_an_order_to_stop() -> None:
    stopped, failed = (Outcome(e, (0, 0), None) for e in (Ending.STOPPED, Ending.HOST_FAULT))
    match = record(2, room(1, (0, 1), stopped), room(2, (1, 0), failed))
    assert score(match).spoilt is Ending.HOST_FAULT
    assert score(match).boards == ()
