"""Verification: nothing is found in a true record; each kind of tampering is found and located."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hokm.actions import Draw
from hokm.cards import Card, Rank, Seat, Side, Trump
from hokm.deck import commitment
from hokm.errors import Reason
from hokm.events import CardPlayed, CardTurned, HandEnded, HandStarted
from hokm.outcome import Ending, HandKind, Outcome
from hokm.records import (
    Circumstances,
    EntrantRecord,
    Flag,
    Format,
    GameRecord,
    MatchRecord,
    Place,
    Policy,
    ProcessRecord,
    Refusal,
    ReplayError,
    RoomRecord,
    Seed,
    deal_id,
    replay,
    score_of,
    verify,
)
from hokm.rules.options import Rules
from hokm.session import ClockRules

MakeMatch = Callable[..., MatchRecord]
Edit = Callable[..., MatchRecord]

CLOCK = ClockRules()
HERE = Place(room=1, game=1)
HAND = Place(room=1, game=1, hand=1)


def found(record: MatchRecord) -> list[str]:
    return [str(finding) for finding in verify(record)]


def places(record: MatchRecord) -> list[Place]:
    return [finding.place for finding in verify(record)]


def other(record: MatchRecord) -> Card:
    """A card that was not played in the first hand."""
    hand = record.rooms[0].games[0].hands[0]
    return next(card for card in reversed(hand.deck) if card not in hand.plays)


def swapped(cards: tuple[Card, ...], one: int, two: int) -> tuple[Card, ...]:
    changed = list(cards)
    changed[one], changed[two] = changed[two], changed[one]
    return tuple(changed)


@pytest.fixture
def drawn(make_drawn_match: MakeMatch) -> Edit:
    """Races with drawn partners, in the first of which they change chairs; ``drawn(seating=…)``:
    the record with another game 1 in room 1.
    """
    record = make_drawn_match(games=3)
    assert record.rooms[0].games[0].seating is not None

    def edit(**changes: Any) -> MatchRecord:
        room = record.rooms[0]
        game = replace(room.games[0], **changes)
        rooms = (replace(room, games=(game, *room.games[1:])), *record.rooms[1:])
        return replace(record, rooms=rooms, score=score_of(record.rules, rooms, entrants=4))

    return edit


# -- notes


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"seat": Seat(9)}, "seat 9 has a note to decision {}, which it did not take"),
        ({"decision": 400}, "a note to decision 400, which it did not take"),
        ({"hand": 2}, "room 1, game 1, hand 2: seat"),
    ],
)
def test_a_note_to_a_decision_that_its_seat_did_not_take_is_found(
    match: MatchRecord, edited_game: Edit, change: dict[str, Any], what: str
) -> None:
    first, *rest = match.rooms[0].games[0].notes
    record = edited_game(match, notes=(replace(first, **change), *rest))
    assert what.format(first.decision) in found(record)[0]


def test_notes_out_of_order_or_two_to_a_decision_are_found(
    match: MatchRecord, edited_game: Edit
) -> None:
    notes = match.rooms[0].games[0].notes
    says = "room 1, game 1: its notes do not stand in order, one to a decision"
    assert found(edited_game(match, notes=notes[::-1])) == [says]
    assert found(edited_game(match, notes=(notes[0], *notes))) == [says]


# -- true records


@pytest.mark.parametrize("ending", [ending for ending in Ending if ending is not Ending.COMPLETED])
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("kind", Format)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_nothing_is_found_however_a_game_ended(
    make_match: MakeMatch, players: int, kind: Format, policy: Policy, ending: Ending
) -> None:
    record = make_match(players, kind, games=1, policy=policy, faults={(1, 1): ending})
    assert found(record) == []


def test_four_entrants_and_a_second_attempt_are_as_good(make_match: MakeMatch) -> None:
    record = make_match(entrants=4, attempt=2)
    assert record.rooms[1].seating == (3, 0, 1, 2)
    assert record.seeds != make_match(entrants=4).seeds
    assert found(record) == []


@pytest.mark.parametrize("ending", Ending)
def test_nothing_is_found_with_cuts_modes_and_drawn_partners(
    make_drawn_match: MakeMatch, ending: Ending
) -> None:
    faults = {} if ending is Ending.COMPLETED else {(1, 1): ending, (2, 3): ending}
    if ending is Ending.NEVER_STARTED:  # it is all games of a room that fail so
        faults = {(1, number): ending for number in range(1, 9)}
    record = make_drawn_match(games=8, faults=faults)
    assert found(record) == []
    games = [game for room in record.rooms for game in room.games]
    assert any(game.seating for game in games)
    hands = [hand for game in games for hand in game.hands if hand.result]
    assert all(hand.cut for hand in hands)
    assert {hand.trump for hand in hands} > set(Trump) - {Trump.SAR, Trump.NAR, Trump.TAK_NAR}


@pytest.mark.rule("2.1")
def test_both_races_of_a_pair_have_the_same_partners_at_each_others_seats(drawn: Edit) -> None:
    record = drawn()
    home, away = record.rooms
    for first, second in zip(home.games, away.games, strict=True):
        one, two = home.seating_of(first), away.seating_of(second)
        assert two == (one[3], *one[:3])
        aces = [seat for seat, card in first.turned if card.rank is Rank.ACE]
        # In room 1 the entrants have the chairs 0 to 3 when the cards are turned up.
        assert {one[seat] for seat in (aces[0], (aces[0] + 2) % 4)} == set(aces)
        assert first.turned == second.turned


def test_an_entrant_may_meet_itself(make_match: MakeMatch) -> None:
    record = make_match()
    twin = replace(record.entrants[0], name="ali")
    local = record.match.rpartition("/")[0]
    # Its secret would give other seeds under the other id.
    record = replace(record, entrants=(twin, twin), match=f"{local}/ali~ali", secret=None)
    assert found(record) == []


@pytest.mark.parametrize("kind", Format)
def test_a_casual_match_may_be_played_in_one_room(make_match: MakeMatch, kind: Format) -> None:
    record = make_match(kind=kind, games=1)
    rooms = record.rooms[:1]
    single = replace(record, rooms=rooms, score=score_of(record.rules, rooms, entrants=2))
    assert found(single) == []
    assert found(replace(single, policy=Policy.RATED)) == ["there are 1 rooms; this match has 2"]


def test_an_unplayed_board_needs_no_seed(make_match: MakeMatch) -> None:
    record = make_match(games=1)
    rooms = tuple(
        replace(
            room,
            games=(
                *room.games,
                GameRecord(
                    number=2,
                    outcome=Outcome(Ending.CRASH, (3, 0), Side(0), at_fault=Seat(1), cause="gone"),
                    flags=(Flag.UNPLAYED,),
                ),
            ),
        )
        for room in record.rooms
    )
    record = replace(record, games=2, rooms=rooms)
    record = replace(record, score=score_of(record.rules, rooms, entrants=2))
    assert found(record) == []


# -- replays


@pytest.mark.parametrize("kind", Format)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_replay_tells_the_game_again(make_match: MakeMatch, players: int, kind: Format) -> None:
    record = make_match(players, kind)
    for room in record.rooms:
        for game in room.games:
            events = list(replay(record, room=room.number, game=game.number))
            plays = [event.card for event in events if isinstance(event, CardPlayed)]
            assert plays == [card for hand in game.hands for card in hand.plays]
            started = [event.hakem for event in events if isinstance(event, HandStarted)]
            assert started == [hand.hakem for hand in game.hands]
            ended = [event.result for event in events if isinstance(event, HandEnded)]
            assert ended == [hand.result for hand in game.hands]
            turned = [(e.seat, e.card) for e in events if isinstance(e, CardTurned)]
            assert turned == list(game.turned)


def test_a_replay_of_an_edited_game_stops_where_it_leaves_the_rules(
    match: MatchRecord, edited: Edit
) -> None:
    plays = match.rooms[0].games[0].hands[0].plays
    events = replay(edited(match, plays=(*plays[:5], other(match), *plays[6:])), room=1, game=1)
    with pytest.raises(
        ReplayError, match=r"room 1, game 1, hand 1, play 6: seat . may not do this"
    ):
        list(events)


def test_a_game_that_is_not_there_is_not_replayed(match: MatchRecord) -> None:
    with pytest.raises(LookupError, match="no game 9 of room 1"):
        replay(match, room=1, game=9)


# -- what was played


def test_a_swapped_card_is_found_where_it_was_played(match: MatchRecord, edited: Edit) -> None:
    plays = match.rooms[0].games[0].hands[0].plays
    record = edited(match, plays=(*plays[:9], other(match), *plays[10:]))
    assert places(record) == [replace(HAND, step="play 10")]
    assert "NOT_IN_HAND" in found(record)[0]


def test_a_card_that_was_left_out_is_found_at_the_next(match: MatchRecord, edited: Edit) -> None:
    plays = match.rooms[0].games[0].hands[0].plays
    assert places(edited(match, plays=plays[:-1])) == [HAND, HERE, HERE]
    assert places(edited(match, plays=plays[1:])) == [replace(HAND, step="play 1")]


def test_a_card_after_the_end_is_found(match: MatchRecord, edited: Edit) -> None:
    plays = match.rooms[0].games[0].hands[0].plays
    record = edited(match, plays=(*plays, other(match)))
    step = f"room 1, game 1, hand 1, play {len(plays) + 1}"
    assert found(record) == [f"{step}: this hand is not being played at this point"]


def test_another_trump_is_found_by_what_follows_from_it(match: MatchRecord, edited: Edit) -> None:
    trump = match.rooms[0].games[0].hands[0].trump
    for changed in set(Trump) - {trump}:
        findings = verify(edited(match, trump=changed))
        assert findings
        assert {(finding.place.room, finding.place.game) for finding in findings} <= {
            (1, 1),
            (None, None),  # the score
        }


def test_a_mode_this_table_does_not_play_is_found(match: MatchRecord, edited: Edit) -> None:
    assert places(edited(match, trump=Trump.NAR)) == [replace(HAND, step="trump")]
    assert places(edited(match, trump=None)) == [replace(HAND, step="play 1")]


def test_draws_and_discards_are_played_again(make_match: MakeMatch, edited: Edit) -> None:
    record = make_match(2)
    hand = record.rooms[0].games[0].hands[0]
    hakems, others = hand.discards
    record_1 = edited(record, discards=(hakems[:2], others))
    assert places(record_1) == [replace(HAND, step="discard 1")]
    assert "BAD_DISCARD" in found(record_1)[0]
    record_2 = edited(record, discards=(hakems, (others[0], hakems[0])))
    assert places(record_2) == [replace(HAND, step="discard 2")]
    record_3 = edited(record, draws=(*hand.draws, Draw.KEEP))
    assert places(record_3) == [replace(HAND, step="draw 22")]
    other_way = {Draw.KEEP: Draw.REFUSE, Draw.REFUSE: Draw.KEEP}
    record_4 = edited(record, draws=tuple(other_way[choice] for choice in hand.draws))
    assert places(record_4)[0].step is not None


# -- results and outcomes


def test_another_result_is_found(match: MatchRecord, edited: Edit) -> None:
    result = match.rooms[0].games[0].hands[0].result
    assert result is not None
    assert places(edited(match, result=replace(result, points=result.points[::-1]))) == [HAND]
    assert places(edited(match, result=None)) == [HAND]


def test_a_result_of_a_hand_that_was_not_played_out_is_found(
    make_match: MakeMatch, edited: Edit
) -> None:
    result = make_match().rooms[0].games[0].hands[0].result
    record = make_match(faults={(1, 1): Ending.TIME})
    assert places(edited(record, result=result)) == [HAND]


def test_other_points_are_found_in_the_game_and_the_score(
    match: MatchRecord, edited_game: Edit
) -> None:
    outcome = match.rooms[0].games[0].outcome
    assert outcome is not None
    record = edited_game(match, outcome=replace(outcome, points=outcome.points[::-1]))
    assert places(record) == [HERE, Place()]
    assert "the score is" in found(record)[1]


def test_another_winner_is_found(match: MatchRecord, edited_game: Edit) -> None:
    outcome = match.rooms[0].games[0].outcome
    assert outcome is not None
    assert outcome.winner is not None
    record = edited_game(match, outcome=replace(outcome, winner=Side(1 - outcome.winner)))
    assert places(record) == [HERE]


def test_another_score_is_found(match: MatchRecord) -> None:
    assert "by its games" in found(replace(match, score=(99, 0)))[0]


@pytest.mark.parametrize("kind", Format)
def test_a_game_called_complete_that_is_not_is_found(
    make_match: MakeMatch, edited_game: Edit, kind: Format
) -> None:
    record = make_match(kind=kind, games=1, faults={(1, 1): Ending.STOPPED})
    completed = Outcome(Ending.COMPLETED, (0, 0), None)
    assert found(edited_game(record, outcome=completed)) == [
        "room 1, game 1: COMPLETED: the game is not over"
    ]
    assert found(edited_game(record, outcome=None)) == ["room 1, game 1: it has no outcome"]


@pytest.mark.parametrize(
    ("ending", "seat", "objection"),
    [
        (Ending.TIME, 1, "seat {seat} was not to act"),
        (Ending.STALL, 1, "seat {seat} was not to act"),
        (Ending.ILLEGAL, 0, "no refusal of seat {seat} ends this game"),
        (Ending.CRASH, None, "it does not say which seat is at fault"),
        (Ending.NEVER_STARTED, 0, "the game was played"),
    ],
)
def test_a_fault_that_cannot_have_happened_is_found(
    make_match: MakeMatch, edited_game: Edit, ending: Ending, seat: int | None, objection: str
) -> None:
    record = make_match(faults={(1, 1): Ending.TIME})
    outcome = record.rooms[0].games[0].outcome
    assert outcome is not None
    assert outcome.at_fault is not None
    at_fault = None if seat is None else Seat((outcome.at_fault + seat) % 4)
    edited = edited_game(record, outcome=replace(outcome, ending=ending, at_fault=at_fault))
    expected = f"room 1, game 1: {ending.value}: {objection.format(seat=at_fault)}"
    assert expected in found(edited)


def test_nobody_is_at_fault_when_the_host_is(make_match: MakeMatch, edited_game: Edit) -> None:
    record = make_match(faults={(1, 1): Ending.HOST_FAULT})
    outcome = record.rooms[0].games[0].outcome
    assert outcome is not None
    edited = edited_game(record, outcome=replace(outcome, at_fault=Seat(0)))
    assert found(edited) == ["room 1, game 1: HOST_FAULT: no seat is at fault"]


def test_a_fault_in_a_game_that_was_over_is_found(match: MatchRecord, edited_game: Edit) -> None:
    outcome = Outcome(Ending.CRASH, (0, 2), Side(1), at_fault=Seat(0))
    assert "room 1, game 1: CRASH: the game was played to its end" in found(
        edited_game(match, outcome=outcome)
    )


def test_a_cheaper_fault_is_found(make_match: MakeMatch, edited_game: Edit) -> None:
    record = make_match(faults={(1, 1): Ending.CRASH})
    outcome = record.rooms[0].games[0].outcome
    assert outcome is not None
    cheaper = replace(outcome, points=tuple(points // 2 for points in outcome.points))
    assert places(edited_game(record, outcome=cheaper)) == [HERE, Place()]


# -- refusals


def refusal(*, hand: int = 1, seat: int = 2, attempt: int = 1) -> Refusal:
    return Refusal(
        hand=hand,
        seat=Seat(seat),
        attempt=attempt,
        reason=Reason.NOT_YOUR_TURN,
        action="play 2C",
    )


def test_refusals_below_the_limit_cost_nothing(match: MatchRecord, edited_game: Edit) -> None:
    twice = (refusal(), refusal(attempt=2), refusal(seat=1))
    assert found(edited_game(match, refusals=twice)) == []


def test_the_refusal_that_should_have_ended_the_game_is_found(
    match: MatchRecord, edited_game: Edit
) -> None:
    message = "room 1, game 1, hand 1: seat 2 was refused {} times, and the game did not end for it"
    thrice = edited_game(match, refusals=(refusal(),) * 3)
    assert found(thrice) == [message.format(3)]
    rated = replace(edited_game(match, refusals=(refusal(),)), policy=Policy.RATED)
    assert found(rated) == [message.format(1)]


def test_a_refusal_in_a_hand_that_was_not_dealt_is_found(
    match: MatchRecord, edited_game: Edit
) -> None:
    for hand in (0, 2):
        record = edited_game(match, refusals=(refusal(hand=hand),))
        assert places(record) == [Place(room=1, game=1, hand=hand)]


def test_a_refusal_that_is_never_recorded_is_found(match: MatchRecord, edited_game: Edit) -> None:
    late = replace(refusal(), reason=Reason.MATCH_OVER)
    assert found(edited_game(match, refusals=(late,))) == [
        "room 1, game 1: an action is recorded as refused after the end of the game"
    ]


@pytest.mark.parametrize("change", [lambda times: times[1:], lambda times: (*times, 0.5)])
def test_times_that_are_not_one_a_decision_are_found(
    match: MatchRecord, edited_game: Edit, change: Callable[..., Any]
) -> None:
    [times] = match.rooms[0].games[0].seconds
    assert found(edited_game(match, seconds=())) == []
    assert places(edited_game(match, seconds=(change(times),))) == [HERE]


@pytest.mark.parametrize(("room", "seat"), [(3, 0), (0, 0), (1, 4)])
def test_a_process_that_sat_nowhere_is_found(match: MatchRecord, room: int, seat: int) -> None:
    process = ProcessRecord(room=room, seat=Seat(seat))
    record = replace(match, circumstances=Circumstances(processes=(process,)))
    assert found(record) == [f"room {room}: a process sat at seat {seat}, which is not there"]


@pytest.mark.parametrize("game", [0, 3])
def test_a_seed_of_no_game_is_found(match: MatchRecord, game: int) -> None:
    seeds = (*match.seeds, Seed(game=game, hand=1, value=bytes(32)))
    record = replace(match, seeds=seeds, secret=None, entropy=None)
    assert found(record) == [f"game {game}: a seed is revealed of a game that is not there"]


def test_a_malformed_last_refusal_does_not_make_an_illegal_end(
    make_match: MakeMatch, edited_game: Edit
) -> None:
    record = make_match(faults={(1, 1): Ending.MALFORMED})
    outcome = record.rooms[0].games[0].outcome
    assert outcome is not None
    assert places(edited_game(record, outcome=replace(outcome, ending=Ending.ILLEGAL))) == [HERE]


# -- decks, seeds, commitment


@pytest.mark.parametrize("kind", Format)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_another_deck_is_found_with_the_place_of_the_card(
    make_match: MakeMatch, edited: Edit, players: int, kind: Format
) -> None:
    record = make_match(players, kind)
    deck = record.rooms[0].games[0].hands[0].deck
    findings = verify(edited(record, deck=swapped(deck, 6, 50)))
    assert [finding.place for finding in findings] == [HAND]
    assert findings[0].what == (
        f"the deck is not its seed's in 2 places: card 7 from the top is {deck[6]}, not {deck[50]}"
    )
    assert places(edited(record, deck=deck[:-1])) == [HAND]


def test_another_hakem_is_found(match: MatchRecord, edited: Edit) -> None:
    assert found(edited(match, hakem=Seat(3))) == [
        "room 1, game 1, hand 1: the hakem is seat 0, not seat 3"
    ]


def test_another_succession_is_found(make_match: MakeMatch) -> None:
    record = make_match(kind=Format.CLASSIC, games=1)
    options = {**record.rules.options(), "next_hakem": "left"}
    rules = Rules.of(4, play=Format.CLASSIC.play, options=options)
    assert any("the hakem is seat" in line for line in found(replace(record, rules=rules)))


def test_another_draw_for_the_first_hakem_is_found(
    make_match: MakeMatch, edited_game: Edit
) -> None:
    record = make_match(kind=Format.CLASSIC, games=1)
    turned = record.rooms[0].games[0].turned
    assert places(edited_game(record, turned=turned[1:])) == [HERE]


def test_another_seed_is_found_with_and_without_the_secret(match: MatchRecord) -> None:
    first = match.seeds[0]
    changed = replace(match, seeds=(replace(first, value=bytes(32)), *match.seeds[1:]))
    assert "game 1, hand 1: its seed is not the secret's for this match" in found(changed)
    unrevealed = verify(replace(changed, secret=None))
    decks = [each.place for each in unrevealed if "the deck is not its seed's" in each.what]
    assert decks == [Place(room=room, game=1, hand=1) for room in (1, 2)]


def test_a_seed_that_is_missing_or_there_twice_is_found(match: MatchRecord) -> None:
    missing = replace(match, seeds=match.seeds[1:])
    assert found(missing) == [
        f"room {room}, game 1, hand 1: its seed is not revealed" for room in (1, 2)
    ]
    twice = replace(match, seeds=(*match.seeds, match.seeds[0]))
    assert found(twice) == ["game 1, hand 1: its seed is there 2 times"]


@pytest.mark.parametrize("hand", [0, 1, 3])
def test_a_missing_seed_of_a_race_is_found_when_its_turn_has_come(
    make_match: MakeMatch, hand: int
) -> None:
    record = make_match(kind=Format.CLASSIC, games=1)
    seeds = tuple(seed for seed in record.seeds if seed.hand != hand)
    assert places(replace(record, seeds=seeds)) == [
        Place(room=room, game=1, hand=hand) for room in (1, 2)
    ]


def test_a_secret_that_was_not_committed_to_is_found(match: MatchRecord) -> None:
    other_secret = bytes(32)
    record = replace(match, secret=other_secret)
    assert "the secret is not the one that was committed to" in found(record)
    assert "game 2, hand 1: its seed is not the secret's for this match" in found(record)
    record = replace(record, commitment=commitment(other_secret))
    assert any("begins with 'local/" in line for line in found(record))


def test_a_local_event_is_known_by_its_commitment(make_match: MakeMatch) -> None:
    alone = make_match()
    event, _, names = alone.match.rpartition("/")
    one_of_many = replace(alone, match=f"{event}/b7/{names}", event=event, secret=None, seeds=())
    assert not any("begins with" in line for line in found(one_of_many))
    other = f"local/{'0' * 16}"
    for wrong in (
        replace(one_of_many, match=f"{other}/b7/{names}", event=other),
        replace(one_of_many, event=None),
    ):
        assert any("the id of this local match begins with" in line for line in found(wrong))


def test_a_secret_without_its_entropy_is_found(match: MatchRecord) -> None:
    assert found(replace(match, entropy=None)) == [
        "the secret is revealed without the entropy it was mixed with"
    ]
    assert len(found(replace(match, entropy=b"other"))) == len(match.seeds)


def test_the_published_vector_verifies() -> None:
    """Statistics 5.3: S, E and the seed of ev1/r1/alpha~beta#1."""
    secret = bytes(range(32))
    entropy = bytes.fromhex("67671a2f53dd910a8b35840edb6a0a1e751ae5532178ca7f025b823eee317992")
    seed = bytes.fromhex("b5895874aa7a103f1fdf29d5bc355620041e1664977f5a384243dd69459302f3")
    assert deal_id("ev1/r1/alpha~beta") == "ev1/r1/alpha~beta"
    entrants = tuple(
        EntrantRecord(name=name, owner="o", version="1", digest="0" * 64)
        for name in ("beta", "alpha")
    )
    stopped = GameRecord(number=1, outcome=Outcome(Ending.STOPPED, (0, 0), None))
    rooms = tuple(
        RoomRecord(number=number, seating=seating, games=(stopped,))
        for number, seating in ((1, (0, 1, 0, 1)), (2, (1, 0, 1, 0)))
    )
    record = MatchRecord(
        match="ev1/r1/alpha~beta",
        event="ev1",
        format=Format.BOARDS,
        rules=Rules.of(4),
        games=1,
        entrants=entrants,
        clock=CLOCK,
        policy=Policy.RATED,
        commitment=bytes.fromhex(
            "b23d20ed297cf680f0638a1d9ef110503204b8796a24f2611433ef8acfaee78f"
        ),
        rooms=rooms,
        seeds=(Seed(game=1, hand=1, value=seed),),
        score=(0, 0),
        secret=secret,
        entropy=entropy,
    )
    assert found(record) == []
    assert found(replace(record, match="ev1/r2/alpha~beta")) == [
        "game 1, hand 1: its seed is not the secret's for this match"
    ]
    assert found(replace(record, secret=None, event="ev2")) == [
        "the match's id 'ev1/r1/alpha~beta' is not of the event 'ev2'"
    ]


# -- the match


def test_another_id_is_found(match: MatchRecord) -> None:
    names = "~".join(sorted(entrant.name for entrant in match.entrants))
    assert found(replace(match, match=match.match.replace(names, "ali~reza"), secret=None)) == [
        f"the match's id ends in 'ali~reza'; its entrants make it {names!r}"
    ]


def test_another_attempt_is_found_by_its_decks(match: MatchRecord) -> None:
    assert len(found(replace(match, attempt=2))) == len(match.seeds)


def with_games(record: MatchRecord, games: tuple[GameRecord, ...]) -> MatchRecord:
    """The record with other games in room 2, and the score they make."""
    rooms = (record.rooms[0], replace(record.rooms[1], games=games))
    return replace(record, rooms=rooms, score=score_of(record.rules, rooms, entrants=2))


def test_a_board_that_was_dropped_is_found(match: MatchRecord) -> None:
    first, second = match.rooms[1].games
    assert found(with_games(match, (second,))) == ["room 2, game 1: this game is missing"]
    assert found(with_games(match, (first,))) == ["room 2, game 2: this game is missing"]


def test_a_board_that_is_there_twice_is_found(match: MatchRecord) -> None:
    first, second = match.rooms[1].games
    assert found(with_games(match, (first, second, second))) == [
        "room 2, game 2: this game is there 2 times"
    ]


def test_a_board_too_many_or_out_of_order_is_found(match: MatchRecord) -> None:
    first, second = match.rooms[1].games
    assert found(with_games(match, (second, first))) == ["room 2: its games do not stand in order"]
    third = replace(first, number=3)
    assert "room 2, game 3: the match has 2 games in a room" in found(
        with_games(match, (first, second, third))
    )


def test_a_hand_that_was_dropped_or_added_is_found(
    make_match: MakeMatch, edited_game: Edit
) -> None:
    record = make_match(kind=Format.CLASSIC, games=1)
    hands = record.rooms[0].games[0].hands
    dropped = edited_game(record, hands=(*hands[:1], *hands[2:]))
    assert Place(room=1, game=1, hand=2) in places(dropped)
    extra = replace(hands[-1], number=len(hands) + 1, trump=None, plays=(), result=None)
    assert places(edited_game(record, hands=(*hands, extra), seconds=())) == [
        Place(room=1, game=1, hand=len(hands) + 1)
    ]
    assert places(edited_game(record, hands=(), seconds=(), notes=())) == [HERE, HERE]


@pytest.mark.parametrize(
    ("seatings", "message"),
    [
        (((0, 1, 0, 1), (0, 1, 0, 1)), "room 2: every side sits where it sat in room 1"),
        (((0, 1, 0, 1), (0, 0, 1, 1)), "room 2: the seating (0, 0, 1, 1) is none of this match"),
        (((1, 0, 1, 0), (0, 1, 0, 1)), "room 1: the seating (1, 0, 1, 0) is none of this match"),
    ],
)
def test_a_seating_that_does_not_rotate_is_found(
    match: MatchRecord, seatings: tuple[tuple[int, ...], ...], message: str
) -> None:
    rooms = tuple(
        replace(room, seating=seating) for room, seating in zip(match.rooms, seatings, strict=True)
    )
    record = replace(match, rooms=rooms, score=score_of(match.rules, rooms, entrants=2))
    assert found(record) == [message]


@pytest.mark.rule("2.1")
@pytest.mark.parametrize("seating", [None, (0, 1, 2, 3), (3, 2, 1, 0), (0, 0, 2, 3)])
def test_a_seating_that_was_not_drawn_is_found(
    drawn: Edit, seating: tuple[int, ...] | None
) -> None:
    by_draw = drawn().rooms[0].games[0].seating
    assert found(drawn(seating=seating)) == [
        f"room 1, game 1: its own seating is {by_draw} by the draw, not {seating}"
    ]


def test_a_seating_of_its_own_without_a_draw_is_found(
    match: MatchRecord, edited_game: Edit
) -> None:
    record = edited_game(match, seating=(1, 0, 1, 0))
    assert "room 1, game 1: its own seating is None by the draw, not (1, 0, 1, 0)" in found(record)


def test_partners_whose_draw_is_not_revealed_are_found(drawn: Edit) -> None:
    outcome = Outcome(Ending.CRASH, (0, 0), Side(1), at_fault=Seat(0), cause="gone")
    unplayed = {"hands": (), "turned": (), "seconds": (), "notes": (), "flags": (Flag.UNPLAYED,)}
    record = drawn(outcome=outcome, **unplayed)
    assert found(record) == []
    rooms = tuple(replace(room, games=room.games[1:]) for room in record.rooms)
    seeds = tuple(seed for seed in record.seeds if seed.game != 1)
    rooms = (replace(rooms[0], games=record.rooms[0].games), rooms[1])
    record = replace(record, rooms=rooms, seeds=seeds)
    assert "room 1, game 1: the seed that draws its partners is not revealed" in found(record)


def test_drawn_partners_are_four_entrants_and_unrated(drawn: Edit, make_match: MakeMatch) -> None:
    assert found(replace(drawn(), policy=Policy.RATED)) == [
        "a match with drawn partners is not a rated one"
    ]
    fixed = make_match(4, Format.CLASSIC, games=1)
    rules = Rules.of(4, play=fixed.rules.play, options={"teams": "second_ace"})
    assert "2 entrants cannot draw their partners" in found(replace(fixed, rules=rules))


@pytest.mark.rule("2.2")
@pytest.mark.parametrize("cut", [None, 52, 0])
def test_a_cut_that_was_not_made_is_found(drawn: Edit, cut: int | None) -> None:
    first, *rest = drawn().rooms[0].games[0].hands
    (finding, *_) = verify(drawn(hands=(replace(first, cut=cut), *rest)))
    step = "trump" if cut is None else "cut"
    assert finding.place == Place(room=1, game=1, hand=1, step=step)


@pytest.mark.rule("2.2")
def test_another_cut_deals_other_cards(drawn: Edit) -> None:
    first, *rest = drawn().rooms[0].games[0].hands
    assert first.cut is not None
    edited = drawn(hands=(replace(first, cut=52 - first.cut or 1), *rest))
    assert places(edited)[0].step is not None


def test_a_cut_at_a_table_without_one_is_found(match: MatchRecord, edited: Edit) -> None:
    (finding,) = verify(edited(match, cut=26))
    assert finding.place == Place(room=1, game=1, hand=1, step="cut")
    assert "WRONG_PHASE" in finding.what


@pytest.mark.rule("5")
def test_a_kot_in_a_mode_has_the_kind_of_its_table(make_match: MakeMatch) -> None:
    kinds = set()
    for kot_in_modes in ("off", "on"):
        rules = Rules.of(2, options={"modes": "suit,sar,nar,tak_nar", "kot_in_modes": kot_in_modes})
        record = make_match(2, games=60, options=rules.options())
        assert found(record) == []
        for game in (game for room in record.rooms for game in room.games):
            (hand,) = game.hands
            assert hand.trump is not None
            assert hand.result is not None
            if hand.trump.suit is None and 0 in hand.result.tricks:
                kinds.add((kot_in_modes, hand.result.kind is HandKind.WIN))
                wrong = HandKind.KOT if kot_in_modes == "off" else HandKind.WIN
                edited = replace(hand, result=replace(hand.result, kind=wrong))
                forged = replace(game, hands=(edited,))
                rooms = tuple(
                    replace(room, games=tuple(forged if g is game else g for g in room.games))
                    for room in record.rooms
                )
                assert [f.place.hand for f in verify(replace(record, rooms=rooms))] == [1]
    assert kinds == {("off", True), ("on", False)}


def test_the_even_seating_of_three_goes_the_other_way_round(make_match: MakeMatch) -> None:
    record = make_match(3)
    rooms = tuple(
        replace(room, even_seating=room.seating) if room.number == 3 else room
        for room in record.rooms
    )
    record = replace(record, rooms=rooms, score=score_of(record.rules, rooms, entrants=3))
    assert found(record) == ["room 3: the seating (2, 0, 1) is none of its even games"]


def test_rooms_are_numbered_in_order(match: MatchRecord) -> None:
    rooms = (match.rooms[0], replace(match.rooms[1], number=3))
    assert found(replace(match, rooms=rooms)) == ["room 3: the room that stands here is number 2"]


def test_entrants_who_cannot_share_a_table_are_found(match: MatchRecord) -> None:
    third = replace(match.entrants[0], name="Ömer")
    local = match.match.rpartition("/")[0]
    names = "~".join(sorted(["Ömer", *(each.name for each in match.entrants)], key=str.encode))
    record = replace(
        match,
        entrants=(*match.entrants, third),
        match=f"{local}/{names}",
        score=(*match.score, 0),
        secret=None,
    )
    assert found(record) == ["3 entrants cannot share a table of 4"]


def test_a_format_that_the_rules_do_not_play_is_found(match: MatchRecord) -> None:
    record = replace(match, format=Format.CLASSIC, secret=None)
    assert found(record) == ["these rules do not play the format classic"]


def test_a_hand_that_is_there_twice_is_found(match: MatchRecord, edited_game: Edit) -> None:
    hand = match.rooms[0].games[0].hands[0]
    again = replace(hand, trump=None, plays=())
    assert found(edited_game(match, hands=(hand, again), seconds=())) == [
        "room 1, game 1: its hands are not numbered 1, 2, 3 and so on"
    ]


def test_an_unplayed_game_that_was_played_is_found(match: MatchRecord, edited_game: Edit) -> None:
    assert found(edited_game(match, flags=(Flag.UNPLAYED,))) == [
        "room 1, game 1: it is flagged as unplayed and has hands"
    ]


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.TIME, Ending.ILLEGAL, Ending.MALFORMED])
def test_an_unplayed_game_is_lost_by_a_crash_or_a_stall(
    match: MatchRecord, edited_game: Edit, ending: Ending
) -> None:
    at_fault = None if ending is Ending.STOPPED else Seat(0)
    outcome = Outcome(ending, (0, 3), Side(1), at_fault=at_fault)
    record = edited_game(match, hands=(), seconds=(), outcome=outcome, flags=(Flag.UNPLAYED,))
    problem = f"{ending.value}: a game that is not played is lost by a crash or a stall"
    assert f"room 1, game 1: {problem}" in found(record)


def test_a_bot_that_never_started_has_no_other_game_in_its_room(make_match: MakeMatch) -> None:
    whole = dict.fromkeys([(2, 1), (2, 2)], Ending.NEVER_STARTED)
    assert found(make_match(faults=whole)) == []
    assert found(make_match(faults={(2, 1): Ending.NEVER_STARTED})) == [
        "room 2: some of its games ended NEVER_STARTED, and others did not"
    ]


def test_an_illegal_last_refusal_does_not_make_a_malformed_end(
    make_match: MakeMatch, edited_game: Edit
) -> None:
    record = make_match(faults={(1, 1): Ending.ILLEGAL})
    outcome = record.rooms[0].games[0].outcome
    assert outcome is not None
    edited = edited_game(record, outcome=replace(outcome, ending=Ending.MALFORMED))
    seat = outcome.at_fault
    assert found(edited) == [
        f"room 1, game 1: MALFORMED: the last refusal of seat {seat} has another reason"
    ]


def test_a_refusal_at_the_limit_is_no_crash(make_match: MakeMatch, edited_game: Edit) -> None:
    record = make_match(faults={(1, 1): Ending.ILLEGAL})
    outcome = record.rooms[0].games[0].outcome
    assert outcome is not None
    edited = edited_game(record, outcome=replace(outcome, ending=Ending.CRASH))
    seat = outcome.at_fault
    assert found(edited) == [
        f"room 1, game 1, hand 1: seat {seat} was refused 3 times, and the game did not end for it"
    ]
