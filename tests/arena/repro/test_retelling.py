"""A game told again: to a bot that does as on record byte for byte what it was told then, as the
bridge got it; and whatever it does otherwise is found.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
import trio
import trio.testing

from arena.referee.table import Table
from arena.repro.retelling import DEATH, SILENCE, Retelling, seat_of, told_games
from hokm.actions import PLAYS, Action, action_text
from hokm.cards import Seat
from hokm.deck import shuffled
from hokm.errors import Reason
from hokm.events import HandStarted
from hokm.notation import parse_hand
from hokm.notes import Note
from hokm.outcome import Ending, Outcome
from hokm.records import (
    EntrantRecord,
    Flag,
    Format,
    GameRecord,
    MatchRecord,
    Policy,
    ReplayError,
    RoomRecord,
    Seed,
    replay,
)
from hokm.records.replays import Decided
from hokm.rules.game import Board, Game, Race
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.session import Answer, ClockRules, Decision, FromReferee, GameEnd, Malformed, Refused
from hokm.wire import decode_from_referee, encode_from_referee
from tests.arena.noted import with_notes_in
from tests.arena.referee.worlds import NUMBER, Room, a_room

CLOCK = ClockRules(move_seconds=1.0, bank_seconds=20.0)

TABLES = [
    Rules.of(4),
    Rules.of(3),
    Rules.of(2, options={"draw_choice_public": "off"}),
    Rules.of(4, play=Play.RACE, options={"target_points": "2", "cut": "on", "modes": "suit,nar"}),
    Rules.of(2, play=Play.RACE, options={"target_points": "2"}),
]


def name_of(rules: Rules) -> str:
    return f"{rules.players}-{rules.play.value}"


Ends = Callable[[Room], None]
"""How a game ends that does not come to its own end."""

Said = tuple[int, int, Action]
"""A decision of a seat, an attempt at it, and what it does."""


@dataclass(frozen=True)
class Played:
    """A game as it was: its record in a match, and by seat what was said and, in bytes, told."""

    record: MatchRecord
    said: dict[int, list[Said]]
    told: list[bytes]

    @property
    def game(self) -> GameRecord:
        return self.record.rooms[0].games[0]

    def retelling(self, seat: int, *, until_hand: int | None = None) -> Retelling:
        room = self.record.rooms[0]
        return Retelling(self.record, room, self.game, seat=Seat(seat), until_hand=until_hand)


def seed_of(hand: int) -> bytes:
    return bytes([hand]) * 32


def a_game(rules: Rules) -> Game:
    if rules.play is Play.RACE:
        return Race(rules, seed_of)
    return Board(rules, shuffled(variant_of(rules).pack, seed_of(1)), number=NUMBER)


def played(
    rules: Rules,
    *,
    seed: int = 1,
    policy: Policy = Policy.CASUAL,
    tries: int = 13,
    stops_after: int = 10_000,
    ends: Ends | None = None,
) -> Played:
    """Play at random, in uneven times; every so many decisions a seat tries first what it may not.
    After so many it is ended otherwise.
    """
    table = Table(a_game(rules), number=NUMBER, clock=CLOCK, policy=policy)
    said: defaultdict[int, list[Said]] = defaultdict(list)
    told: list[bytes] = []

    async def play() -> None:
        chance = random.Random(seed)
        async with a_room(table) as room:
            places = 0
            while table.outcome is None and places < stops_after:
                seat = table.game.to_act
                assert seat is not None
                bot, places = room.bots[seat], places + 1
                [decision] = [one for one in bot.told if isinstance(one, Decision)][-1:]
                attempts = [*[_illegal(decision)] * (places % tries == 0)]
                attempts.append(chance.choice(decision.legal))
                for attempt, action in enumerate(attempts, start=1):
                    await trio.sleep(0.1234567 * (places % 23))
                    bot.say(Answer(NUMBER, decision.decision, attempt, action))
                    said[seat].append((decision.decision, attempt, action))
                    await trio.testing.wait_all_tasks_blocked()
                    if is_over(table):
                        break
            if table.outcome is None and ends is not None:
                ends(room)
            await trio.sleep(100.0)
            for session in room.sessions:
                session.end()
            await trio.testing.wait_all_tasks_blocked()
            for bot in room.bots:
                batches = [one.what for one in bot.posted if isinstance(one.what, bytes)]
                told.append(b"".join(batches[1:-1]))  # without the welcome and the goodbye

    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))
    return Played(in_a_match(table.record(), rules, policy=policy), said, told)


def is_over(table: Table) -> bool:
    return table.outcome is not None


def _illegal(decision: Decision) -> Action:
    return next(play for play in PLAYS if play not in decision.legal)


def in_a_match(game: GameRecord, rules: Rules, *, policy: Policy) -> MatchRecord:
    names = "abcd"[: rules.players]
    seating = tuple(range(rules.players))
    return MatchRecord(
        match="m",
        format=Format.CLASSIC if rules.play is Play.RACE else Format.BOARDS,
        rules=rules,
        games=NUMBER,
        entrants=tuple(
            EntrantRecord(name=name, owner="o", version="1", digest="ab" * 32) for name in names
        ),
        clock=CLOCK,
        policy=policy,
        commitment=bytes(32),
        rooms=(RoomRecord(number=1, seating=seating, games=(game,)),),
        seeds=tuple(Seed(game=NUMBER, hand=hand, value=seed_of(hand)) for hand in range(60)),
        score=(0,) * rules.players,
    )


Does = Callable[[Decision], Sequence[Action]]
"""What a bot does when it is asked: its attempts in order."""


def as_recorded(played: Played, seat: int) -> Does:
    attempts: defaultdict[int, list[Action]] = defaultdict(list)
    for decision, _, action in played.said[seat]:
        attempts[decision].append(action)
    return lambda decision: attempts[decision.decision]


def run(retelling: Retelling, does: Does, *, dies: bool = False) -> list[FromReferee]:
    """Tell it all, with a bot that does so, and then is silent, or dies; what it was told."""
    told = retelling.start()
    while not retelling.is_over:
        decision = retelling.open
        if retelling.ends_meanwhile:
            told += retelling.finish()
        elif decision is None:
            told += retelling.lost("it left", endings=DEATH)
        elif not (actions := does(decision)):
            told += retelling.lost("no answer", endings=DEATH if dies else SILENCE)
        else:
            for attempt, action in enumerate(actions, start=1):
                if retelling.open is decision:
                    told += retelling.take(Answer(NUMBER, decision.decision, attempt, action))
    return told


# -- the same bytes


def crash(seat: int) -> Ends:
    return lambda room: room.bots[seat].hang_up()


def stop(room: Room) -> None:
    room.host.stop("Ctrl-C")


def cap(room: Room) -> None:
    room.host.cap(room.table, cause="it took 900 s")


def silence(_: Room) -> None:
    """Whoever is asked says nothing more, and its time runs out."""


ENDS: dict[str, tuple[Ends, int]] = {
    "crash": (crash(1), 9),
    "stop": (stop, 11),
    "cap": (cap, 4),
    "silence": (silence, 13),
    "crash at once": (crash(0), 0),
}


def check_same(game: Played) -> None:
    for seat in range(game.record.rules.players):
        outcome = game.game.outcome
        assert outcome is not None
        dies = outcome.ending is Ending.CRASH and outcome.at_fault == seat
        retelling = game.retelling(seat)
        told = run(retelling, as_recorded(game, seat), dies=dies)
        assert retelling.differences == []
        now, then = encode_from_referee(told), game.told[seat]
        if dies:
            assert then.startswith(now)  # it is gone, and is told no end
            assert now
        else:
            assert decode_from_referee(now) == decode_from_referee(then)
            assert now == then


@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_a_bot_that_does_the_same_is_told_the_same_bytes(rules: Rules) -> None:
    game = played(rules, tries=17)
    assert game.game.outcome is not None
    assert game.game.outcome.ending is Ending.COMPLETED
    assert game.game.refusals
    assert max(seconds for hand in game.game.seconds for seconds in hand) > CLOCK.move_seconds
    check_same(game)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("rules", [TABLES[0], TABLES[4]], ids=name_of)
def test_so_it_is_however_the_game_ended(rules: Rules, end: str) -> None:
    ends, after = ENDS[end]
    game = played(rules, stops_after=after, ends=ends)
    assert game.game.outcome is not None
    assert game.game.outcome.ending is not Ending.COMPLETED
    check_same(game)


def test_so_it_is_where_a_refusal_ended_the_game() -> None:
    game = played(TABLES[0], policy=Policy.RATED)
    assert game.game.outcome is not None
    assert game.game.outcome.ending is Ending.ILLEGAL
    check_same(game)


def test_the_pause_before_a_message_is_what_the_others_took() -> None:
    game = played(TABLES[0], tries=1000)
    retelling, does = game.retelling(0), as_recorded(game, 0)
    pauses: list[float] = []
    retelling.start()
    while not retelling.is_over:
        pauses.append(retelling.pause_seconds)
        assert retelling.open is not None
        number = retelling.open.decision
        retelling.take(Answer(NUMBER, number, 1, does(retelling.open)[0]))
    pauses.append(retelling.pause_seconds)
    events = replay(game.record, room=1, game=NUMBER)
    seats = [event.seat for event in events if isinstance(event, Decided)]
    (charged,) = game.game.seconds
    others = [took for seat, took in zip(seats, charged, strict=True) if seat != 0]
    assert sum(pauses) == pytest.approx(sum(others))
    assert pauses.count(0.0) < len(pauses) / 2


# -- what is otherwise


@pytest.fixture(scope="module")
def board() -> Played:
    """A board without refusals."""
    return played(TABLES[0], tries=1000)


def test_another_action_is_told_with_what_the_seat_saw_and_the_game_goes_on(board: Played) -> None:
    usual = as_recorded(board, 2)

    def does(decision: Decision) -> Sequence[Action]:
        actions = usual(decision)
        return actions if decision.decision != 3 else [_other(decision, actions[0])]

    retelling = board.retelling(2)
    told = run(retelling, does)
    assert encode_from_referee(told) == board.told[2]
    (found,) = retelling.differences
    recorded = usual(_decision(told, 3))[0]
    assert found.recorded == action_text(recorded)
    assert found.now == action_text(_other(_decision(told, 3), recorded))
    assert (found.place.game, found.place.hand, found.seat) == (NUMBER, 1, 2)
    assert found.place.step is not None
    assert found.place.step.startswith("play ")
    assert found.trick == 2  # it named trump first
    assert any(line.startswith("holds ") for line in found.sees)
    assert any(line.startswith("may: play ") for line in found.sees)
    _, hand = parse_hand(found.text)
    assert hand.deck == board.game.hands[0].deck
    assert len(hand.plays) == int(found.place.step.split()[1]) - 1


def _other(decision: Decision, action: Action) -> Action:
    return next(one for one in PLAYS if one != action)


def _decision(told: Sequence[FromReferee], number: int) -> Decision:
    return next(one for one in told if isinstance(one, Decision) and one.decision == number)


def test_an_illegal_action_that_is_not_on_record_is_a_difference_and_not_refused(
    board: Played,
) -> None:
    retelling = board.retelling(1)

    def does(decision: Decision) -> Sequence[Action]:
        return [_illegal(decision)]

    told = run(retelling, does)
    assert not any(isinstance(message, Refused) for message in told)
    assert len(retelling.differences) == retelling.compared == len(board.said[1])


def test_no_answer_is_a_difference_and_the_end(board: Played) -> None:
    for endings, what in ((SILENCE, "no answer within 10 s"), (DEATH, "exit code 1")):
        retelling = board.retelling(3)
        retelling.start()
        retelling.lost(what, endings=endings)
        assert retelling.is_over
        (found,) = retelling.differences
        assert (found.recorded, found.now) == (action_text(board.said[3][0][2]), what)


def test_a_fault_on_record_that_does_not_come_again_is_a_difference() -> None:
    game = played(TABLES[0], tries=1000, stops_after=13, ends=silence)
    assert game.game.outcome is not None
    seat = game.game.outcome.at_fault
    assert seat is not None
    usual = as_recorded(game, seat)
    retelling = game.retelling(seat)
    told = run(retelling, lambda decision: usual(decision) or decision.legal[:1])
    (found,) = retelling.differences
    assert found.recorded.startswith("no answer: TIME, seat ")
    assert found.now.startswith("play ")
    assert isinstance(told[-1], GameEnd)
    assert encode_from_referee(told) == game.told[seat]


def test_one_that_left_and_is_still_there_is_told_the_end() -> None:
    game = played(TABLES[0], tries=1000, stops_after=9, ends=crash(2))
    retelling = game.retelling(2)
    told = run_until_loss(retelling, as_recorded(game, 2))
    assert retelling.awaits_loss
    told += retelling.finish()
    (found,) = retelling.differences
    assert found.recorded.startswith("no answer: CRASH")
    assert found.now == "it is still there"
    assert isinstance(told[-1], GameEnd)
    assert told[-1].outcome == game.game.outcome


def run_until_loss(retelling: Retelling, does: Does) -> list[FromReferee]:
    told = retelling.start()
    while not retelling.is_over and (decision := retelling.open) is not None:
        action = (does(decision) or decision.legal)[0]
        told += retelling.take(Answer(NUMBER, decision.decision, 1, action))
    return told


def test_a_refusal_on_record_that_is_not_tried_again_is_a_difference() -> None:
    game = played(TABLES[0])
    seat = game.game.refusals[0].seat
    usual = as_recorded(game, seat)
    retelling = game.retelling(seat)
    run(retelling, lambda decision: usual(decision)[-1:])
    refused = [one for one in game.game.refusals if one.seat == seat]
    assert [one.recorded for one in retelling.differences] == [
        f"{one.action}, refused: {one.reason.name}" for one in refused
    ]
    assert {one.now for one in retelling.differences} == {"it is not tried"}


def test_what_is_no_action_is_refused_again_if_it_was(board: Played) -> None:
    game = played(TABLES[0])
    refusal = replace(game.game.refusals[0], reason=Reason.MALFORMED, action="no action")
    seat = refusal.seat
    record = replace(
        game.record,
        rooms=(replace(game.record.rooms[0], games=(replace(game.game, refusals=(refusal,)),)),),
    )
    retelling = Played(record, game.said, game.told).retelling(seat)
    retelling.start()
    decision = retelling.open
    assert decision is not None
    (refused,) = retelling.take(Answer(NUMBER, decision.decision, 1, Malformed("no action")))
    assert isinstance(refused, Refused)
    assert retelling.open is decision
    assert retelling.differences == []


def test_an_answer_to_nothing_is_a_difference_and_told_nothing(board: Played) -> None:
    retelling = board.retelling(0)
    retelling.start()
    assert retelling.take(Answer(NUMBER, 17, 1, PLAYS[0])) == []
    (found,) = retelling.differences
    assert (found.recorded, found.now) == ("no answer", "play 2C, to decision 17")
    assert retelling.open is not None


def test_notes_of_both_are_told_with_a_difference(board: Played) -> None:
    now = Note("now", (("x", 1.0),))
    with_notes = with_notes_in(board.record)
    retelling = Played(with_notes, board.said, board.told).retelling(0)
    retelling.start()
    decision = retelling.open
    assert decision is not None
    retelling.take(Answer(NUMBER, decision.decision, 1, PLAYS[51], note=now))
    (found,) = retelling.differences
    assert found.note == now
    assert found.recorded_note is not None
    assert found.recorded_note.text == "a thinks"


# -- only so far, and which games


def test_a_race_is_told_no_further_than_a_hand() -> None:
    game = played(TABLES[3], tries=1000)
    assert len(game.game.hands) > 1
    for seat in range(4):
        retelling = game.retelling(seat, until_hand=1)
        told = run(retelling, as_recorded(game, seat))
        assert retelling.differences == []
        end = told[-1]
        assert isinstance(end, GameEnd)
        assert end.outcome.ending is Ending.STOPPED
        whole = decode_from_referee(game.told[seat])
        before = encode_from_referee(told[:-1])
        assert game.told[seat].startswith(before)
        events = [
            event for one in whole if isinstance(one, Decision | GameEnd) for event in one.events
        ]
        told_events = [
            event for one in told if isinstance(one, Decision | GameEnd) for event in one.events
        ]
        assert told_events == events[: len(told_events)]
        hands = sum(isinstance(event, HandStarted) for event in told_events)
        assert hands == 2  # whose beginning ends the first
    last = len(game.game.hands)
    assert (
        encode_from_referee(run(game.retelling(0, until_hand=last), as_recorded(game, 0)))
        == game.told[0]
    )


def test_games_of_which_nobody_was_told_are_left_out() -> None:
    hands = played(TABLES[0], stops_after=0, ends=stop).game
    crash = Outcome(Ending.CRASH, (0, 0), None, at_fault=Seat(1))
    games = (
        hands,
        GameRecord(number=2, outcome=crash),
        GameRecord(number=3, outcome=crash, flags=(Flag.UNPLAYED,)),
        GameRecord(number=4, outcome=Outcome(Ending.STOPPED, (0, 0), None)),
        GameRecord(number=5, outcome=Outcome(Ending.NEVER_STARTED, (0, 0), None, Seat(1))),
    )
    room = RoomRecord(number=1, seating=(0, 1, 0, 1), games=games)
    assert [game.number for game in told_games(room)] == [NUMBER, 2]


def test_a_process_keeps_its_place_among_those_of_its_bot() -> None:
    room = RoomRecord(number=1, seating=(0, 1, 2), even_seating=(0, 2, 1), games=())
    odd, even = GameRecord(number=1), GameRecord(number=2)
    assert [seat_of(room, odd, slot=slot) for slot in range(3)] == [0, 1, 2]
    assert [seat_of(room, even, slot=slot) for slot in range(3)] == [0, 2, 1]
    pairs = RoomRecord(number=1, seating=(0, 1, 0, 1), games=())
    moved = GameRecord(number=1, seating=(1, 0, 1, 0))
    assert [seat_of(pairs, moved, slot=slot) for slot in range(4)] == [1, 0, 3, 2]


def test_a_record_that_leaves_the_rules_is_told_no_further(board: Played) -> None:
    (hand,) = board.game.hands
    swapped = replace(hand, plays=(hand.plays[4], *hand.plays[1:4], hand.plays[0], *hand.plays[5:]))
    game = replace(board.game, hands=(swapped,))
    record = replace(board.record, rooms=(replace(board.record.rooms[0], games=(game,)),))
    forged = Played(record, board.said, board.told)
    with pytest.raises(ReplayError, match="may not do this"):
        run(forged.retelling(0), as_recorded(board, 0))
    with pytest.raises(ReplayError, match="seed is not revealed"):
        Played(replace(record, seeds=()), board.said, board.told).retelling(0)
