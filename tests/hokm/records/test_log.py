"""The log: a game's record at every moment of the game."""

import pytest

from hokm.actions import CutDeck
from hokm.cards import Seat
from hokm.deck import shuffled
from hokm.errors import Reason
from hokm.notes import Note
from hokm.records import GameLog, Noted, Refusal
from hokm.records.log import ACTION_CHARACTERS, NOTES_BYTES
from hokm.rules.game import Board, Race
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of


def board(players: int) -> Board:
    rules = Rules.of(players)
    return Board(rules, shuffled(variant_of(rules).pack, bytes(32)), number=3)


def test_a_game_that_never_began_has_a_record() -> None:
    record = GameLog(board(4), number=3).record()
    assert (record.number, record.hands, record.outcome) == (3, (), None)


def test_a_hand_is_on_record_with_its_whole_deck_from_the_first_card_on() -> None:
    game = board(4)
    log = GameLog(game, number=3)
    log.saw(game.start())
    (hand,) = log.record().hands
    assert (hand.deck, hand.hakem, hand.trump, hand.plays) == (game.deal.deck, 2, None, ())


@pytest.mark.rule("2.2")
def test_a_cut_is_on_record_with_the_deck_as_it_was_before() -> None:
    rules = Rules.of(4, play=Play.RACE, options={"cut": "on", "first_hakem": "seat:1"})
    game = Race(rules, lambda hand: bytes(31) + bytes([hand]))
    log = GameLog(game, number=1)
    log.saw(game.start())
    log.saw(game.act(Seat(3), CutDeck(20)))
    (hand,) = log.record().hands
    dealt = shuffled(variant_of(rules).pack, bytes(31) + bytes([1]))
    assert (hand.deck, hand.cut) == (dealt, 20)
    assert game.deal.deck == (*dealt[20:], *dealt[:20])


def test_every_decision_has_its_time_in_whole_microseconds() -> None:
    game = board(4)
    log = GameLog(game, number=3)
    log.saw(game.start())
    for seconds in (0.0000014, 1 / 3):
        assert game.to_act is not None
        log.charged(seconds)
        log.saw(game.act(game.to_act, game.legal_actions()[0]))
    assert log.record().seconds == ((0.000001, 0.333333),)


def test_a_refused_action_is_kept_but_not_at_any_length() -> None:
    game = board(4)
    log = GameLog(game, number=3)
    log.saw(game.start())
    log.refused(Seat(1), 2, Reason.MALFORMED, "x" * 5000)
    assert log.record().refusals == (
        Refusal(
            hand=1,
            seat=Seat(1),
            attempt=2,
            reason=Reason.MALFORMED,
            action="x" * ACTION_CHARACTERS,
        ),
    )


def decide(game: Board, log: GameLog, note: Note | None = None, *, is_noted: bool = True) -> Seat:
    seat = game.to_act
    assert seat is not None
    log.charged(0.001)
    if is_noted:
        log.noted(seat, note)
    log.saw(game.act(seat, game.legal_actions()[0]))
    return seat


def test_a_note_is_on_record_beside_its_decision() -> None:
    game = board(4)
    log = GameLog(game, number=3)
    log.saw(game.start())
    note = Note("the longest suit", (("cards", 5.0),))
    decide(game, log, is_noted=False)
    seat = decide(game, log, note)
    assert log.record().notes == (Noted(hand=1, decision=2, seat=seat, note=note),)
    assert log.record().notes_dropped == ()


def test_what_is_no_note_is_counted() -> None:
    game = board(4)
    log = GameLog(game, number=3)
    log.saw(game.start())
    seat = decide(game, log, None)
    dropped = [0, 0, 0, 0]
    dropped[seat] = 1
    assert (log.record().notes, log.record().notes_dropped) == ((), tuple(dropped))


def test_notes_of_a_seat_have_so_much_room_in_a_hand_and_leave_the_others_theirs() -> None:
    game = board(2)
    log = GameLog(game, number=3)
    log.saw(game.start())
    longest = Note("\N{GRINNING FACE}" * 200, tuple((f"n{place}", 1.0) for place in range(8)))
    taken = [0, 0]
    while not game.is_over:
        seat = game.to_act
        assert seat is not None
        if seat == 0:
            taken[decide(game, log, longest)] += 1
        else:
            taken[decide(game, log, Note("short"))] += 1
    record = log.record()
    kept = [sum(noted.seat == seat for noted in record.notes) for seat in range(2)]
    assert kept[0] * len(longest.text.encode()) <= NOTES_BYTES < taken[0] * 800
    assert kept[0] >= 3
    assert kept[1] == taken[1]
    assert record.notes_dropped == (taken[0] - kept[0], 0)


def test_what_one_seat_sees_makes_no_record() -> None:
    game = board(2)
    log = GameLog(game, number=3)
    log.saw(game.start())
    log.saw(game.act(Seat(0), game.legal_actions()[0]))
    events = game.act(Seat(0), game.legal_actions()[0])
    with pytest.raises(ValueError, match="whole events"):
        log.saw([event.seen_by(Seat(1)) for event in events])
