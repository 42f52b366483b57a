import copy
import random
from collections import Counter

import pytest

from arena.referee.table import Policy, Table
from hokm.actions import (
    PLAYS,
    Action,
    ChooseDraw,
    CutDeck,
    DeclareTrump,
    DiscardCards,
    Draw,
    PlayCard,
)
from hokm.cards import CARDS, Card, Seat, Trump
from hokm.errors import Reason
from hokm.events import CardPlayed
from hokm.notes import Note
from hokm.outcome import Ending, HandResult
from hokm.records import HandRecord, Noted
from hokm.rules.deal import Deal
from hokm.rules.options import Play, Rules
from hokm.session import ClockRules, Decision, GameEnd, Malformed, Refused
from tests.arena.referee.virtual import (
    CLOCK,
    Drive,
    a_game,
    at_random,
    drive,
    endings,
    first_legal,
    refusals,
)

NONSENSE = Malformed("both keep and refuse")

EVERY_OPTION = {"cut": "on", "teams": "second_ace", "modes": "suit,sar,nar,tak_nar"}

TABLES = [
    Rules.of(players, play=play, options=options)
    for play in Play
    for players, options in [
        (4, {}),
        (4, {"pause_after": "first_round", "play_out": "on"}),
        (3, {"modes": "suit,nar"}),
        (2, {}),
        (2, {"draw_choice_public": "off"}),
    ]
]
TABLES.append(Rules.of(4, play=Play.RACE, options=EVERY_OPTION))


def name_of(rules: Rules) -> str:
    return f"{rules.players}-{rules.play.value}"


def the_reason(table: Drive, action: Action | Malformed, **named: int) -> Reason:
    """Why an answer is refused; fails if it is not."""
    (refused,) = refusals(table.answer(action, **named))
    return refused.reason


def in_play(rules: Rules | None = None, *, policy: Policy = Policy.CASUAL) -> Drive:
    """A table where the second card of the first trick is to be played."""
    table = drive(rules, policy=policy)
    while not isinstance(table.decision.legal[0], PlayCard):
        table.answer(first_legal(table.decision))
    table.answer(first_legal(table.decision))
    return table


def hand_of(table: Drive, seat: int) -> list[Card]:
    return [card for card in CARDS if table.table.game.deal.hands[seat] >> card & 1]


def not_held(table: Drive, seat: int) -> Card:
    return next(card for card in CARDS if card not in hand_of(table, seat))


def must_follow(table: Drive) -> PlayCard:
    """Play on until a seat must follow, and give a card it holds and may not play."""
    while True:
        legal = [action.card for action in table.decision.legal if isinstance(action, PlayCard)]
        held = hand_of(table, table.seat)
        if legal and len(legal) < len(held):
            return PLAYS[next(card for card in held if card not in legal)]
        table.answer(first_legal(table.decision))


def replayed(rules: Rules, hand: HandRecord) -> HandResult:
    """Play a recorded hand again by the rules alone; its result, which must be the recorded one."""
    deal = Deal(rules, hand.deck, hakem=hand.hakem)
    assert hand.trump is not None
    actions: list[Action] = [
        *([] if hand.cut is None else [CutDeck(hand.cut)]),
        DeclareTrump(hand.trump),
        *map(DiscardCards, hand.discards),
        *map(ChooseDraw, hand.draws),
        *map(PlayCard, hand.plays),
    ]
    deal.start()
    for action in actions:
        assert deal.to_act is not None
        deal.act(deal.to_act, action)
    assert deal.result is not None
    assert deal.result == hand.result
    return deal.result


# -- the game goes on


@pytest.mark.parametrize("rules", TABLES, ids=name_of)
@pytest.mark.parametrize("seed", range(3))
def test_a_game_of_legal_answers_is_completed_and_its_record_gives_the_same_result(
    rules: Rules, seed: int
) -> None:
    table = drive(rules, seed=seed)
    table.play_on(at_random(seed))
    assert table.outcome.ending is Ending.COMPLETED
    assert table.outcome == table.table.game.outcome
    record = table.table.record()
    assert record.outcome == table.outcome
    assert record.refusals == ()
    points = [replayed(rules, hand).points for hand in record.hands]
    assert tuple(map(sum, zip(*points, strict=True))) == table.outcome.points


@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_one_decision_is_open_at_a_time_and_everybody_is_told_the_end(rules: Rules) -> None:
    table = drive(rules)
    choose = at_random(1)
    while table.table.outcome is None:
        tells = table.answer(choose(table.decision))
        if table.table.outcome is None:
            assert [type(tell.message) for tell in tells] == [Decision]
    assert [type(tell.message) for tell in tells] == [GameEnd] * rules.players
    assert [tell.seat for tell in tells] == list(range(rules.players))


@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_each_seat_is_told_every_event_once_in_order_as_it_may_see_it(rules: Rules) -> None:
    game, twin = a_game(rules), a_game(rules)
    table = Drive(Table(game, number=1, clock=CLOCK, policy=Policy.RATED))
    events = twin.start()
    choose = at_random(2)
    while table.table.outcome is None:
        action = choose(table.decision)
        events += twin.act(table.seat, action)
        table.answer(action)
    for seat in map(Seat, range(rules.players)):
        told = [
            event
            for message in table.told[seat]
            if isinstance(message, Decision | GameEnd)
            for event in message.events
        ]
        assert told == [event.seen_by(seat) for event in events]


def test_decisions_count_from_one_for_each_seat() -> None:
    table = drive()
    table.play_on(first_legal)
    for messages in table.told:
        ids = [message.decision for message in messages if isinstance(message, Decision)]
        assert ids == list(range(1, len(ids) + 1))


def test_the_record_holds_what_each_decision_was_charged() -> None:
    table = drive()
    charged: list[float] = []
    while table.table.outcome is None:
        charged.append(0.25 * (len(charged) % 9))
        table.answer(first_legal(table.decision), after=charged[-1])
    assert [second for hand in table.table.record().seconds for second in hand] == charged


# -- one judgement for each message, in order (rulebook 7; pains 17, 18, 19)


@pytest.mark.rule("8.25")
def test_a_move_for_a_hand_that_is_over_is_stale() -> None:
    table = drive(Rules.of(4, play=Play.RACE))
    table.answer(first_legal(table.decision))
    seat, last = table.seat, table.decision
    while table.table.game.hand_number == 1:
        seat, last = table.seat, table.decision
        table.answer(first_legal(last))
    reason = the_reason(table, first_legal(last), seat=seat, decision=last.decision, attempt=2)
    assert reason is Reason.STALE_DECISION


@pytest.mark.rule("8.10")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_nonsense_for_a_declaration_is_malformed_and_the_hakem_is_still_asked(players: int) -> None:
    table = drive(Rules.of(players))
    hakem, asked = table.seat, table.decision
    assert the_reason(table, Malformed("a suit that does not exist")) is Reason.MALFORMED
    assert table.table.outcome is None
    assert table.table.game.deal.trump is None
    assert (table.seat, table.decision) == (hakem, asked)
    assert not refusals(table.answer(DeclareTrump(Trump.CLUBS)))
    assert table.table.game.deal.trump is Trump.CLUBS


@pytest.mark.rule("8.24")
def test_a_second_card_in_one_trick_from_the_last_seat_is_stale_and_the_first_stands() -> None:
    table = in_play()
    while len(table.table.game.deal.trick) < 3:
        table.answer(first_legal(table.decision))
    seat, asked = table.seat, table.decision
    table.answer(first_legal(asked))
    before = copy.deepcopy(table.table.game.deal)
    second = PLAYS[hand_of(table, seat)[0]]
    reason = the_reason(table, second, seat=seat, decision=asked.decision, attempt=2)
    assert reason is Reason.STALE_DECISION
    assert table.table.game.deal == before
    assert len(table.table.game.deal.taken) == 1


@pytest.mark.rule("8.47")
def test_choosing_a_draw_again_is_stale() -> None:
    table = drive(Rules.of(2))
    while not isinstance(table.decision.legal[0], ChooseDraw):
        table.answer(first_legal(table.decision))
    seat, asked = table.seat, table.decision
    table.answer(ChooseDraw(Draw.KEEP))
    again = ChooseDraw(Draw.REFUSE)
    reason = the_reason(table, again, seat=seat, decision=asked.decision, attempt=2)
    assert reason is Reason.STALE_DECISION


@pytest.mark.rule("8.47")
def test_keep_and_refuse_at_once_is_malformed_and_the_drawer_is_still_asked() -> None:
    table = drive(Rules.of(2))
    while not isinstance(table.decision.legal[0], ChooseDraw):
        table.answer(first_legal(table.decision))
    seat = table.seat
    assert the_reason(table, NONSENSE) is Reason.MALFORMED
    table.answer(ChooseDraw(Draw.KEEP))
    assert table.seat != seat, "the other seat draws next"


@pytest.mark.rule("8.26")
def test_an_illegal_move_neither_stops_restarts_nor_lengthens_the_clock() -> None:
    table = drive()
    deadline = table.table.deadline
    assert deadline == 131.0
    for illegal in (CutDeck(1), PLAYS[0]):
        assert refusals(table.answer(illegal, after=5.0))
        assert table.table.deadline == deadline
    seat = table.seat
    table.answer(DeclareTrump(Trump.SPADES), after=2.0)
    assert table.seat == seat, "the hakem leads"
    clock = table.decision.clock
    assert clock is not None
    assert clock.last_seconds == 12.0
    assert clock.bank_seconds == 30.0 - 11.0


def test_malformed_comes_before_match_over_and_that_before_stale() -> None:
    table = drive()
    assert the_reason(table, NONSENSE, decision=99) is Reason.MALFORMED
    assert the_reason(table, CutDeck(1), decision=99) is Reason.STALE_DECISION
    assert the_reason(table, CutDeck(1)) is Reason.WRONG_PHASE
    assert table.outcome.ending is Ending.ILLEGAL
    assert the_reason(table, NONSENSE, decision=99) is Reason.MALFORMED
    assert the_reason(table, CutDeck(1), decision=99) is Reason.MATCH_OVER


# The rules' reasons that an answer to an open decision can meet, each with what comes before it;
# NOT_HAKEM and NOT_YOUR_TURN are the rules' own: at a table such an answer is stale first.
def test_then_the_reasons_of_the_rules_apply_in_their_order() -> None:
    table = drive()
    assert the_reason(table, DeclareTrump(Trump.SAR)) is Reason.BAD_DECLARATION
    table.answer(DeclareTrump(Trump.HEARTS))
    assert the_reason(table, DeclareTrump(Trump.SAR)) is Reason.ALREADY_DECLARED
    assert the_reason(table, CutDeck(0)) is Reason.WRONG_PHASE
    table = drive(Rules.of(4, play=Play.RACE, options={"cut": "on"}))
    assert the_reason(table, CutDeck(52)) is Reason.BAD_CUT
    assert the_reason(table, DeclareTrump(Trump.SAR)) is Reason.WRONG_PHASE
    table.answer(CutDeck(51))
    assert the_reason(table, CutDeck(52)) is Reason.WRONG_PHASE
    table = in_play()
    assert the_reason(table, PLAYS[not_held(table, table.seat)]) is Reason.NOT_IN_HAND
    table = in_play()
    assert the_reason(table, must_follow(table)) is Reason.MUST_FOLLOW_SUIT
    table = drive(Rules.of(2))
    table.answer(first_legal(table.decision))
    held = hand_of(table, table.seat)
    strange = not_held(table, table.seat)
    assert the_reason(table, DiscardCards((held[0], strange))) is Reason.BAD_DISCARD
    assert the_reason(table, DiscardCards((held[0], held[1], strange))) is Reason.NOT_IN_HAND


def test_a_seat_cannot_answer_the_decision_of_another() -> None:
    table = drive()
    action = first_legal(table.decision)
    for seat in (1, 2, 3):
        for decision in (1, 2):
            named = {"seat": seat, "decision": decision, "attempt": 1}
            assert the_reason(table, action, **named) is Reason.STALE_DECISION
    assert table.table.game.deal.trump is None


def test_the_text_of_a_stale_answer_is_the_same_whenever_it_comes() -> None:
    table = drive()
    texts = set()
    for seat, decision in [(0, 2), (1, 1), (2, 5), (3, 1), (0, 0)]:
        tells = table.answer(first_legal(table.decision), seat=seat, decision=decision, attempt=1)
        texts |= {refused.detail for refused in refusals(tells)}
    table.answer(first_legal(table.decision))
    texts |= {refused.detail for refused in refusals(table.answer(PLAYS[0], seat=3, attempt=9))}
    assert len(texts) == 1


def test_trump_cannot_be_changed_in_mid_hand() -> None:
    table = drive()
    table.answer(DeclareTrump(Trump.HEARTS))
    assert the_reason(table, DeclareTrump(Trump.SPADES)) is Reason.ALREADY_DECLARED
    first = {"seat": 0, "decision": 1}
    again = DeclareTrump(Trump.SPADES)
    assert the_reason(table, again, **first, attempt=2) is Reason.STALE_DECISION
    assert table.table.game.deal.trump is Trump.HEARTS


def test_a_refusal_changes_nothing_and_only_its_sender_hears_of_it() -> None:
    table = in_play()
    illegal = must_follow(table)
    twin = in_play()
    assert must_follow(twin) == illegal
    seat = table.seat
    tells = table.answer(illegal, after=0.0)
    assert [tell.seat for tell in tells] == [seat]
    assert table.table.game.deal == twin.table.game.deal
    assert table.table.deadline == twin.table.deadline
    table.play_on(first_legal)
    twin.play_on(first_legal)
    for other in range(4):
        if other != seat:
            assert table.told[other] == twin.told[other]
    without = [message for message in table.told[seat] if not isinstance(message, Refused)]
    assert without == twin.told[seat]


def test_an_illegal_move_is_refused_told_counted_and_recorded_and_never_replaced() -> None:
    table = in_play()
    illegal = must_follow(table)
    seat, hand = table.seat, list(table.table.game.deal.hands)
    (refused,) = refusals(table.answer(illegal))
    assert (refused.game, refused.decision, refused.attempt) == (7, table.decision.decision, 1)
    assert "must follow" in refused.detail
    assert "1.4" in refused.detail
    assert table.table.game.deal.hands == hand
    (kept,) = table.table.record().refusals
    assert (kept.hand, kept.seat, kept.attempt) == (1, seat, 1)
    assert kept.reason is Reason.MUST_FOLLOW_SUIT
    assert kept.action == f"play {illegal.card}"


# -- the same answer again (pains 15, 18)


def test_an_answer_sent_twice_is_applied_once_and_answered_as_before() -> None:
    table = in_play()
    seat, asked = table.seat, table.decision
    action = first_legal(asked)
    table.answer(action)
    before = copy.deepcopy(table.table.game.deal)
    again = table.answer(action, seat=seat, decision=asked.decision, attempt=1)
    assert again == []
    assert table.table.game.deal == before


def test_a_refused_answer_sent_again_is_refused_the_same_way_and_costs_no_more() -> None:
    table = in_play()
    illegal = must_follow(table)
    first = table.answer(illegal, attempt=1)
    for _ in range(5):
        assert table.answer(illegal, attempt=1) == first
    assert len(table.table.record().refusals) == 1
    assert refusals(table.answer(illegal, attempt=2)) != refusals(first)
    assert table.answer(illegal, attempt=1) == first
    assert table.table.outcome is None
    table.answer(first_legal(table.decision), attempt=3)
    assert len(table.table.record().refusals) == 2


def test_an_answer_that_ended_the_game_is_answered_as_before_once_it_is_over() -> None:
    table = in_play(policy=Policy.RATED)
    illegal = must_follow(table)
    seat, asked = table.seat, table.decision.decision
    first = refusals(table.answer(illegal))
    assert table.outcome.ending is Ending.ILLEGAL
    assert refusals(table.answer(illegal, seat=seat, decision=asked, attempt=1)) == first


def test_after_a_refusal_the_next_attempt_is_open_and_no_other() -> None:
    table = drive()
    trump = DeclareTrump(Trump.CLUBS)
    assert the_reason(table, trump, attempt=2) is Reason.STALE_DECISION
    assert the_reason(table, CutDeck(1), attempt=1) is Reason.WRONG_PHASE
    table.answer(trump, attempt=2)
    assert table.table.game.deal.trump is Trump.CLUBS


@pytest.mark.rule("8.23")
def test_an_answer_ahead_of_its_decision_is_refused_and_not_kept() -> None:
    table = drive()
    table.answer(DeclareTrump(Trump.CLUBS))
    card = PLAYS[hand_of(table, 1)[0]]
    early = {"seat": 1, "decision": 1, "attempt": 1}
    assert the_reason(table, card, **early) is Reason.STALE_DECISION
    table.answer(first_legal(table.decision))
    assert table.seat == 1
    assert len(table.table.game.deal.trick) == 1, "nothing was kept"
    table.answer(first_legal(table.decision), attempt=1)
    assert len(table.table.game.deal.trick) == 2, "attempt 1 is judged afresh"


def test_writing_a_decision_again_does_not_give_its_clock_back() -> None:
    table = drive()
    deadline = table.table.deadline
    table.table.sent(table.seat, table.decision.decision, table.now + 20.0)
    assert table.table.deadline == deadline


def test_reports_about_a_decision_that_is_not_open_are_ignored() -> None:
    table = in_play()
    deadline = table.table.deadline
    for seat, decision in [(0, 1), (table.seat, 9), ((table.seat + 1) % 4, 1)]:
        table.table.shared(Seat(seat), decision, 8)
        table.table.sent(Seat(seat), decision, table.now + 5.0)
    assert table.table.deadline == deadline


def test_the_late_news_of_an_earlier_write_does_not_start_the_clock_of_the_next_decision() -> None:
    table = Table(a_game(Rules.of(4)), number=1, clock=CLOCK, policy=Policy.RATED)
    table.start(50.0)
    table.answer(Seat(0), 1, 1, DeclareTrump(Trump.CLUBS), 50.5)
    table.sent(Seat(0), 1, 50.25)
    assert table.deadline == 60.5, "decision 2 of the same seat has yet to be written"
    table.sent(Seat(0), 2, 51.0)
    assert table.deadline == 82.0


# -- what a refusal costs


@pytest.mark.parametrize(("policy", "allowed"), [(Policy.RATED, 0), (Policy.CASUAL, 2)])
def test_the_first_refusal_ends_a_rated_game_and_the_third_of_a_hand_a_casual_one(
    policy: Policy, allowed: int
) -> None:
    table = in_play(policy=policy)
    illegal = PLAYS[not_held(table, table.seat)]
    for _ in range(allowed):
        assert endings(table.answer(illegal)) == []
    seat = table.seat
    tells = table.answer(illegal)
    assert [type(tell.message) for tell in tells] == [Refused, *[GameEnd] * 4]
    assert table.outcome.ending is Ending.ILLEGAL
    assert table.outcome.at_fault == seat


def test_refusals_are_counted_by_seat_and_by_hand() -> None:
    table = drive(Rules.of(4, play=Play.RACE))
    refused: dict[tuple[int, int], int] = {}
    while table.table.game.hand_number < 3:
        place = (table.table.game.hand_number, table.seat)
        if refused.setdefault(place, 0) < 2:
            refused[place] += 1
            assert the_reason(table, CutDeck(1)) is Reason.WRONG_PHASE
        table.answer(first_legal(table.decision))
    assert len(refused) >= 8
    assert table.table.outcome is None


@pytest.mark.parametrize("attempt", [1, 9])
def test_what_is_no_action_ends_a_rated_game_as_malformed(attempt: int) -> None:
    table = drive(policy=Policy.RATED)
    table.answer(NONSENSE, attempt=attempt)
    assert table.outcome.ending is Ending.MALFORMED


def test_a_stale_answer_of_a_seat_that_is_not_asked_counts_too() -> None:
    table = drive(policy=Policy.RATED)
    table.answer(first_legal(table.decision), seat=3)
    assert table.outcome.ending is Ending.ILLEGAL
    assert table.outcome.at_fault == 3
    assert "STALE_DECISION" in table.outcome.cause


def test_a_note_is_on_record_if_its_action_was_taken_and_the_first_time_alone() -> None:
    table = drive()
    seat, legal = table.seat, table.decision.legal
    note = Note("my longest", (("cards", 3.0),))

    def answers(action: Action | Malformed, attempt: int, note: Note | Malformed | None) -> None:
        number = table.decision.decision if table.seat == seat else 1
        tells = table.table.answer(seat, number, attempt, action, table.now, note=note)
        table.take(tells)

    answers(PLAYS[0], 1, Note("refused"))
    assert table.table.record().notes == ()
    answers(legal[0], 2, note)
    answers(legal[0], 2, Note("again"))
    record = table.table.record()
    assert record.notes == (Noted(hand=1, decision=1, seat=seat, note=note),)
    assert record.notes_dropped == ()


def test_what_is_no_note_costs_its_action_nothing_and_is_counted() -> None:
    table = drive()
    bad = Malformed("it says nothing")
    seat = table.seat
    tells = table.table.answer(seat, 1, 1, table.decision.legal[0], table.now, note=bad)
    assert all(isinstance(tell.message, Decision) for tell in tells)
    assert table.table.record().notes == ()
    assert table.table.record().notes_dropped[seat] == 1


def test_an_answer_after_the_end_costs_nothing() -> None:
    table = drive()
    table.take(table.table.stop(table.now, ending=Ending.STOPPED, cause="Ctrl-C"))
    outcome, record = table.outcome, table.table.record()
    for attempt in range(1, 9):
        assert the_reason(table, PLAYS[3], attempt=attempt) is Reason.MATCH_OVER
    assert table.outcome == outcome
    assert table.table.record() == record


# -- time


def test_a_clock_that_ran_out_ends_the_game_at_its_deadline_and_not_before() -> None:
    table = drive(clock=ClockRules(move_seconds=1.0, bank_seconds=2.0))
    assert table.table.deadline == 103.0
    assert table.tick(2.999) == []
    tells = table.tick(0.001)
    assert len(endings(tells)) == 4
    assert table.outcome.ending is Ending.TIME
    assert table.outcome.at_fault == 0
    assert table.outcome.cause == (
        "seat 0: no answer 3.000 s after the decision was sent; it had 1.000 s for the move and "
        "2.000 s in the bank (and 0.000 s of writing before that, not charged)"
    )
    assert table.table.deadline is None


def test_an_answer_read_in_time_counts_however_late_the_table_hears_of_it() -> None:
    clock = ClockRules(move_seconds=1.0, bank_seconds=2.0)
    table = drive(clock=clock)
    assert table.answer(first_legal(table.decision), after=3.0)
    assert table.table.outcome is None
    assert table.tick(0.5) == []


def test_an_answer_read_after_the_deadline_loses_even_before_the_tick() -> None:
    table = drive(clock=ClockRules(move_seconds=1.0, bank_seconds=2.0))
    tells = table.answer(first_legal(table.decision), after=3.125)
    assert len(endings(tells)) == 4
    assert table.outcome.ending is Ending.TIME
    assert table.table.game.deal.trump is None


def test_time_that_others_take_is_not_a_seats_own() -> None:
    table = drive(clock=ClockRules(move_seconds=1.0, bank_seconds=2.0))
    table.answer(first_legal(table.decision))
    table.answer(first_legal(table.decision), after=2.5)
    (before,) = [m for m in table.told[1] if isinstance(m, Decision)]
    assert before.clock is not None
    assert before.clock.bank_seconds == 2.0
    assert before.clock.last_seconds is None


def test_the_bank_of_every_seat_is_full_again_in_a_new_hand() -> None:
    table = drive(Rules.of(4, play=Play.RACE), clock=ClockRules(1.0, 40.0))
    spent = set()
    while table.table.game.hand_number == 1:
        spent.add(table.seat)
        table.answer(first_legal(table.decision), after=2.0)
    assert spent == {0, 1, 2, 3}
    seen: set[Seat] = set()
    while len(seen) < 4:
        clock = table.decision.clock
        assert clock is not None
        if table.seat not in seen:
            assert clock.bank_seconds == 40.0
            seen.add(table.seat)
        table.answer(first_legal(table.decision), after=0.5)


@pytest.mark.parametrize("k", [2, 8])
def test_k_decisions_open_on_a_connection_give_each_k_times_as_long(k: int) -> None:
    tables = [drive(seed=seed, clock=ClockRules(1.0, 2.0)) for seed in range(k)]
    for table in tables:
        table.table.shared(Seat(0), 1, k)
        assert table.table.deadline == 100.0 + 3.0 * k
    # One after another, a second of thought each: none is charged for the others' turns.
    for place, table in enumerate(tables, start=1):
        table.answer(first_legal(table.decision), after=float(place))
        assert table.table.outcome is None
        ((charged,),) = table.table.record().seconds
        assert charged == place / k
        clock = table.decision.clock
        assert clock is not None
        assert clock.bank_seconds == 2.0


def test_a_decision_that_is_never_written_is_a_stall_of_its_seat() -> None:
    game = a_game(Rules.of(4))
    table = Table(game, number=1, clock=CLOCK, policy=Policy.RATED, stall_seconds=10.0)
    table.start(50.0)
    assert table.deadline == 60.0
    assert table.tick(59.9) == []
    assert len(table.tick(60.0)) == 4
    assert table.outcome is not None
    assert table.outcome.ending is Ending.STALL
    assert table.outcome.at_fault == 0


# -- endings


@pytest.mark.parametrize("rules", TABLES, ids=name_of)
@pytest.mark.parametrize("ending", [Ending.CRASH, Ending.MALFORMED])
def test_a_lost_seat_forfeits_and_every_seat_gets_the_cause(rules: Rules, ending: Ending) -> None:
    table = drive(rules)
    table.play_on(at_random(3), answers=4)
    seat = Seat(1)
    cause = "exit code 1 after 3.2 s"
    tells = table.take(table.table.lost(seat, table.now, cause=cause, ending=ending))
    expected = table.table.game.forfeit(seat, ending=ending, cause=f"seat 1: {cause}")
    assert table.outcome == expected
    assert [tell.seat for tell in tells] == list(range(rules.players))
    assert [end.outcome for end in endings(tells)] == [expected] * rules.players


def test_a_faulted_board_is_the_worst_result_for_the_side_at_fault() -> None:
    for seat, points in [(0, (0, 3)), (2, (0, 3)), (1, (2, 0)), (3, (2, 0))]:
        table = in_play()
        table.table.lost(Seat(seat), table.now, cause="gone")
        assert table.outcome.points == points
    table = in_play(Rules.of(3))
    table.table.lost(Seat(1), table.now, cause="gone")
    assert table.outcome.points == (0, -3, 0)


def test_a_faulted_race_is_lost_with_the_points_as_they_stand() -> None:
    table = drive(Rules.of(4, play=Play.RACE))
    choose = at_random(4)
    while table.table.game.hand_number < 3:
        table.answer(choose(table.decision))
    scores = table.table.game.scores
    table.table.lost(Seat(2), table.now, cause="gone")
    assert table.outcome.points == scores
    assert sum(scores) > 0
    assert table.outcome.winner == 1


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.HOST_FAULT])
def test_a_stopped_table_has_nobody_at_fault(ending: Ending) -> None:
    table = in_play()
    tells = table.table.stop(table.now, ending=ending, cause="the disk is full")
    assert len(endings(tells)) == 4
    assert table.outcome.ending is ending
    assert table.outcome.at_fault is None
    assert table.outcome.winner is None
    assert not table.outcome.ending.counts


@pytest.mark.parametrize("ending", [Ending.TIME, Ending.COMPLETED, Ending.CRASH])
def test_stopping_with_an_ending_that_has_a_fault_is_a_mistake(ending: Ending) -> None:
    table = in_play()
    with pytest.raises(ValueError, match="has a seat at fault"):
        table.table.stop(table.now, ending=ending, cause="?")
    assert table.table.outcome is None


def test_a_match_beyond_its_cap_is_a_stall_of_the_seat_that_is_asked() -> None:
    table = in_play()
    seat = table.seat
    assert len(table.table.cap(table.now, cause="the match took 900 s")) == 4
    assert table.outcome.ending is Ending.STALL
    assert table.outcome.at_fault == seat


def test_there_is_one_end_and_it_is_told_once() -> None:
    table = in_play()
    table.table.lost(Seat(1), table.now, cause="gone")
    outcome = table.outcome
    assert table.table.lost(Seat(2), table.now, cause="gone as well") == []
    assert table.table.stop(table.now, ending=Ending.STOPPED, cause="Ctrl-C") == []
    assert table.table.cap(table.now, cause="late") == []
    assert table.tick(1e6) == []
    assert table.outcome == outcome


def test_a_seat_lost_before_the_first_card_ends_the_game_there() -> None:
    game = a_game(Rules.of(4))
    table = Table(game, number=1, clock=CLOCK, policy=Policy.RATED)
    assert len(table.lost(Seat(3), 0.0, cause="exit code 1")) == 4
    assert table.start(1.0) == []
    assert table.record().hands == ()


def test_survivors_hear_the_last_events_with_the_end() -> None:
    table = in_play()
    lead = CardPlayed(Seat(0), table.table.game.deal.trick[0])
    news = [end.events for end in endings(table.table.lost(Seat(1), table.now, cause="gone"))]
    assert news[1] == (), "seat 1 was told with its decision"
    assert [events[-1] for events in (news[0], news[2], news[3])] == [lead] * 3


def test_the_cause_of_an_illegal_card_does_not_say_which_or_why() -> None:
    reasons, causes = set(), set()
    for kind in ("not held", "must follow"):
        table = in_play(policy=Policy.RATED)
        must = must_follow(table)
        action = must if kind == "must follow" else PLAYS[not_held(table, table.seat)]
        reasons |= {refused.reason for refused in refusals(table.answer(action))}
        causes.add(table.outcome.cause)
    assert reasons == {Reason.MUST_FOLLOW_SUIT, Reason.NOT_IN_HAND}
    assert len(causes) == 1
    assert causes.pop().endswith(": a card it may not use, refusal 1 in this hand")


def test_random_answers_of_every_kind_never_break_the_table() -> None:
    chance = random.Random(5)
    kinds: list[Action | Malformed] = [
        *PLAYS,
        CutDeck(0),
        CutDeck(51),
        ChooseDraw(Draw.KEEP),
        DiscardCards(()),
        DiscardCards((Card(0), Card(0))),
        *[DeclareTrump(trump) for trump in Trump],
        NONSENSE,
    ]
    for seed in range(60):
        table = drive(TABLES[seed % len(TABLES)], seed=seed)
        game = table.table.game
        for _ in range(300):
            if table.table.outcome is not None:
                break
            if chance.random() < 0.97:
                table.answer(chance.choice(table.decision.legal))
                continue
            seat = chance.randrange(game.variant.seats)
            table.answer(
                chance.choice(kinds),
                seat=seat,
                decision=table.decision.decision + chance.choice([-1, 0, 1]),
                attempt=chance.choice([1, 2, 3]),
            )
            assert sum(hand.bit_count() for hand in game.deal.hands) <= 52
            limit = table.table.policy.refusals_that_end
            per_place = Counter((one.hand, one.seat) for one in table.table.record().refusals)
            assert max(per_place.values(), default=0) < limit or table.table.outcome is not None
