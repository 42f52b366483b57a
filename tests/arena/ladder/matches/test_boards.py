"""The plan of a match: rooms, seatings, decks."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import Entrant, Limits
from arena.ladder.events.playing import Unwatched
from arena.ladder.matches.boards import MatchPlan, PlanError, Secret, joined_names, local_match_id
from arena.ladder.testing import InProcessRunner
from hokm.cards import Rank, Seat
from hokm.deck import mix
from hokm.events import CardTurned
from hokm.records import Format, Policy, verify
from hokm.rules.game import Board, Race
from hokm.rules.options import Play, Rules
from hokm.session import ClockRules

SECRET = Secret(bytes(range(32)))


def entrant(name: str, *, variants: tuple[int, ...] = (2, 3, 4)) -> Entrant:
    return Entrant(
        name=name,
        owner="owner",
        version="1",
        command=("python", "bot.py"),
        language="Python",
        protocol=1,
        variants=variants,
        concurrent=1,
        limits=Limits(),
        folder=Path("/nowhere"),
        digest="0" * 64,
    )


def plan(
    players: int,
    *names: str,
    kind: Format = Format.BOARDS,
    length: int = 8,
    match: str = "ev1/1/a~b",
    attempt: int = 1,
    policy: Policy = Policy.RATED,
    in_one_room: bool = False,
    **options: str,
) -> MatchPlan:
    return MatchPlan(
        match=match,
        format=kind,
        rules=Rules.of(players, play=kind.play, options=options),
        length=length,
        entrants=tuple(map(entrant, names)),
        clock=ClockRules(),
        policy=policy,
        secret=SECRET,
        attempt=attempt,
        in_one_room=in_one_room,
    )


def test_two_entrants_at_four_seats_change_sides_between_two_rooms() -> None:
    match = plan(4, "a", "b")
    assert [match.seating(room, 1) for room in match.rooms] == [(0, 1, 0, 1), (1, 0, 1, 0)]


def test_two_entrants_at_two_seats_change_seats() -> None:
    match = plan(2, "a", "b")
    assert [match.seating(room, 2) for room in match.rooms] == [(0, 1), (1, 0)]


def test_four_entrants_move_on_by_one_seat() -> None:
    match = plan(4, "a", "b", "c", "d")
    assert [match.seating(room, 1) for room in match.rooms] == [(0, 1, 2, 3), (3, 0, 1, 2)]
    assert [match.team(index) for index in range(4)] == [0, 1, 0, 1]


def drawing(*names: str, policy: Policy = Policy.CASUAL) -> MatchPlan:
    """Races in which a second ace makes partners."""
    classic = Format.CLASSIC
    return plan(4, *names, kind=classic, length=40, policy=policy, teams="second_ace")


def drawn(match: MatchPlan, pair: int) -> tuple[int, int]:
    """The chairs of the first hakem and of the partner that the cards of a pair draw."""
    aces = [
        event.seat
        for event in match.game(pair).start()
        if isinstance(event, CardTurned) and event.card.rank is Rank.ACE
    ]
    return aces[0], aces[1]


@pytest.mark.rule("2.1")
def test_a_second_ace_seats_its_receiver_opposite_the_hakem_in_room_1() -> None:
    match = drawing("a", "b", "c", "d")
    moved = 0
    for pair in match.games:
        hakem, partner = drawn(match, pair)
        opposite = (hakem + 2) % 4
        seating = match.seating(1, pair)
        # Before the draw entrant k sits in chair k.
        assert seating[hakem] == hakem
        assert seating[opposite] == partner
        assert seating[partner] == opposite
        assert sorted(seating) == [0, 1, 2, 3]
        own = match.own_seating(1, pair)
        assert own == (None if partner == opposite else seating)
        moved += own is not None
    assert 0 < moved < 40


@pytest.mark.rule("2.1")
def test_the_other_race_has_the_same_partners_at_the_other_sides_seats() -> None:
    match = drawing("a", "b", "c", "d")
    for pair in match.games:
        one, two = match.seating(1, pair), match.seating(2, pair)
        assert two == (one[3], *one[:3])
        assert {one[0], one[2]} == {two[1], two[3]}


def test_with_drawn_partners_everybody_is_a_team_of_his_own() -> None:
    match = drawing("a", "b", "c", "d")
    assert [match.team(index) for index in range(4)] == [0, 1, 2, 3]
    assert match.teams == 4
    assert [match.seatings(room)[0] for room in match.rooms] == [(0, 1, 2, 3), (3, 0, 1, 2)]
    assert (plan(4, "a", "b", "c", "d").teams, plan(4, "a", "b").teams) == (2, 2)


def test_the_seed_of_the_draw_is_revealed_of_races_that_were_not_dealt_too() -> None:
    seeds = drawing("a", "b", "c", "d").seeds(dealt={1: 1, 2: 0})
    assert [(seed.game, seed.hand) for seed in seeds] == [(1, 0), (1, 1), (2, 0)]


def test_partners_are_drawn_by_four_single_entrants_and_move_no_rating() -> None:
    with pytest.raises(PlanError, match="second_ace seats four single entrants, not 2"):
        drawing("a", "b")
    with pytest.raises(PlanError, match="moves no rating: it is for casual matches"):
        drawing("a", "b", "c", "d", policy=Policy.RATED)


def test_three_entrants_sit_in_the_cyclic_orders_mirrored_on_even_boards() -> None:
    match = plan(3, "A", "B", "C")
    names = "ABC"
    seatings = [
        ["".join(names[index] for index in match.seating(room, board)) for room in match.rooms]
        for board in (1, 2)
    ]
    assert seatings == [["ABC", "BCA", "CAB"], ["ACB", "CBA", "BAC"]]


@pytest.mark.parametrize("board", [1, 2, 3, 4, 5, 6])
def test_with_three_entrants_everybody_sits_at_every_seat_of_a_board_once(board: int) -> None:
    match = plan(3, "a", "b", "c")
    for seat in range(3):
        assert sorted(match.seating(room, board)[seat] for room in match.rooms) == [0, 1, 2]


def test_every_room_plays_the_same_deck_and_hakem() -> None:
    match = plan(4, "a", "b")
    first, again = match.game(3), match.game(3)
    assert isinstance(first, Board)
    assert isinstance(again, Board)
    first.start()
    again.start()
    assert first.deal.deck == again.deal.deck
    assert first.hakem == Seat(2)


def test_the_seeds_are_those_of_the_published_vector() -> None:
    match = plan(4, "alpha", "beta", match="ev1/r1/alpha~beta")
    # The vector has entropy: E = SHA-256("entropy").
    entropy = bytes.fromhex("67671a2f53dd910a8b35840edb6a0a1e751ae5532178ca7f025b823eee317992")
    assert mix(SECRET.secret, entropy).hex().startswith("b95e683962e6e60c")
    with_entropy = MatchPlan(
        match=match.match,
        format=match.format,
        rules=match.rules,
        length=1,
        entrants=match.entrants,
        clock=match.clock,
        policy=match.policy,
        secret=Secret(SECRET.secret, entropy),
    )
    assert with_entropy.seed(1).hex() == (
        "b5895874aa7a103f1fdf29d5bc355620041e1664977f5a384243dd69459302f3"
    )


def test_another_attempt_deals_other_cards_under_the_same_id() -> None:
    first, second = plan(4, "a", "b"), plan(4, "a", "b", attempt=2)
    assert first.match == second.match
    assert first.seed(1) != second.seed(1)
    assert (first.folder, second.folder) == ("ev1/1/a~b", "ev1/1/a~b!2")


def test_both_races_of_a_pair_have_the_same_hands_and_the_next_pair_has_others() -> None:
    match = plan(2, "a", "b", kind=Format.CLASSIC)
    assert isinstance(match.game(1), Race)
    assert match.race_seeds(1)(0) == match.race_seeds(1)(0)
    assert match.race_seeds(1)(1) != match.race_seeds(2)(1)


def test_the_cap_is_twice_what_all_clocks_allow() -> None:
    # Four seats, each 14 decisions of 1 s and a bank of 30 s, over 8 hands.
    assert plan(4, "a", "b", length=8).room_seconds == 2 * 8 * 4 * (14 * 1.0 + 30.0)
    # A cut is a decision more.
    cut = plan(4, "a", "b", kind=Format.CLASSIC, length=1, cut="on")
    assert cut.room_seconds == 2 * 13 * 4 * (15 * 1.0 + 30.0)
    # A race to 7 has at most 13 hands; two seats have at most 26 decisions each.
    races = plan(2, "a", "b", kind=Format.CLASSIC, length=1)
    assert races.room_seconds == 2 * 13 * 2 * (26 * 1.0 + 30.0)
    # A tick is what each decision may take longer.
    ticking = replace(plan(4, "a", "b", length=8), tick_seconds=0.5)
    assert ticking.room_seconds == 2 * 8 * 4 * (14 * 1.5 + 30.0)


def test_seeds_of_boards_are_revealed_all_and_those_of_races_as_far_as_they_were_dealt() -> None:
    boards = plan(4, "a", "b", length=3).seeds(dealt={1: 1})
    assert [(seed.game, seed.hand) for seed in boards] == [(1, 1), (2, 1), (3, 1)]
    races = plan(4, "a", "b", length=3, kind=Format.CLASSIC).seeds(dealt={1: 2, 2: 0})
    assert [(seed.game, seed.hand) for seed in races] == [(1, 0), (1, 1), (1, 2)]


@pytest.mark.parametrize(
    ("players", "names", "text"),
    [
        (4, ["a"], "with 4 players has 2 or 4 entrants, not 1"),
        (4, ["a", "b", "c"], "with 4 players has 2 or 4 entrants, not 3"),
        (3, ["a", "b"], "with 3 players has 3 entrants, not 2"),
        (2, ["a", "b", "c"], "with 2 players has 2 entrants, not 3"),
    ],
)
def test_a_table_that_cannot_be_filled_is_refused(
    players: int, names: list[str], text: str
) -> None:
    with pytest.raises(PlanError, match=text):
        plan(players, *names)


def test_a_bot_that_does_not_play_the_game_is_refused() -> None:
    only_two = entrant("b", variants=(2,))
    with pytest.raises(PlanError, match="b does not play with 4"):
        MatchPlan(
            match="m",
            format=Format.BOARDS,
            rules=Rules.of(4),
            length=1,
            entrants=(entrant("a"), only_two),
            clock=ClockRules(),
            policy=Policy.CASUAL,
            secret=SECRET,
        )


def test_races_with_three_seats_are_refused() -> None:
    with pytest.raises(PlanError, match="with three players play boards"):
        plan(3, "a", "b", "c", kind=Format.CLASSIC)


def test_rules_of_another_format_are_refused() -> None:
    with pytest.raises(PlanError, match="do not fit boards"):
        MatchPlan(
            match="m",
            format=Format.BOARDS,
            rules=Rules.of(4, play=Play.RACE),
            length=1,
            entrants=(entrant("a"), entrant("b")),
            clock=ClockRules(),
            policy=Policy.CASUAL,
            secret=SECRET,
        )


def test_a_secret_does_not_show_itself() -> None:
    assert SECRET.secret.hex() not in repr(plan(4, "a", "b"))
    assert repr(SECRET.secret) not in repr(plan(4, "a", "b"))


def test_names_in_an_id_stand_in_the_order_of_their_bytes() -> None:
    assert joined_names(("b", "a")) == "a~b"
    names = ("ب", "b", "a-", "a.", "a", "é", "B", "\U00010400")
    assert joined_names(names) == "B~a~a-~a.~b~é~ب~\U00010400"
    commitment = SECRET.commitment.hex()
    assert local_match_id(SECRET, ("b", "a")) == f"local/{commitment[:16]}/a~b"


@pytest.mark.parametrize("kind", Format)
@pytest.mark.parametrize("names", [("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")])
async def test_a_casual_match_may_be_played_in_one_room_and_its_record_stands(
    names: tuple[str, ...], kind: Format
) -> None:
    single = plan(
        len(names),
        *names,
        kind=kind,
        length=1,
        match=local_match_id(SECRET, names),
        policy=Policy.CASUAL,
        in_one_room=True,
    )
    assert list(single.rooms) == [1]
    record = await InProcessRunner().play(single, watcher=Unwatched())
    assert list(verify(record)) == []


@pytest.mark.parametrize("kind", Format)
def test_nothing_that_measures_is_played_in_one_room(kind: Format) -> None:
    with pytest.raises(PlanError, match="in one room casual matches"):
        plan(2, "a", "b", kind=kind, policy=Policy.RATED, in_one_room=True)
