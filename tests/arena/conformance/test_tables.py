"""A scripted game tells what is lawful, and takes what is legal and nothing else."""

import pytest

from arena.conformance.chance import Chance
from arena.conformance.decks import random_deck
from arena.conformance.tables import ScriptedGame, at_random
from arena.conformance.unmet import Unmet
from hokm.actions import PLAYS, Action, PlayCard
from hokm.cards import CARDS, Seat
from hokm.outcome import Ending
from hokm.rules.game import Board, Race
from hokm.rules.options import Play, Rules
from hokm.session import Answer, Decision, GameEnd, Malformed
from hokm.view import View


def board(*, players: int = 4, seat: int = 0, hakem: int = 1) -> ScriptedGame:
    rules = Rules.of(players)
    chance = Chance(f"{players} {seat} {hakem}")
    return scripted(Board(rules, random_deck(rules, chance), number=hakem + 1), seat=seat)


def scripted(game: Board | Race, *, seat: int) -> ScriptedGame:
    return ScriptedGame(
        game,
        match="m",
        number=7,
        seat=Seat(seat),
        others=at_random(Chance("others")),
        players=("a", "b", "c", "d"),
    )


def asked(game: ScriptedGame) -> Decision:
    message = game.next()
    assert isinstance(message, Decision)
    return message


def answer(decision: Decision, action: Action | None = None, *, attempt: int = 1) -> Answer:
    chosen = decision.legal[0] if action is None else action
    return Answer(decision.game, decision.decision, attempt, chosen)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_game_is_told_from_its_start_to_its_end_as_its_seat_may_see_it(players: int) -> None:
    game = board(players=players)
    start = game.start()
    view = View(Rules.of(players), start.seat)
    numbers = []
    while isinstance(message := game.next(), Decision):
        for event in message.events:
            view.apply(event)  # raises for one that says too much
        assert message.legal == game.game.legal_actions()
        numbers.append(message.decision)
        game.take(answer(message))
    assert isinstance(message, GameEnd)
    assert message.outcome.ending is Ending.COMPLETED
    assert numbers == list(range(1, len(numbers) + 1))
    assert game.is_over


def test_the_first_clock_has_no_last_time_and_the_next_has() -> None:
    game = board()
    game.start()
    first = asked(game)
    game.take(answer(first))
    second = asked(game)
    assert first.clock is not None
    assert second.clock is not None
    assert (first.clock.last_seconds is None, second.clock.last_seconds is None) == (True, False)


def test_an_answer_to_another_decision_or_attempt_is_not_right() -> None:
    game = board()
    game.start()
    decision = asked(game)
    for wrong in (
        answer(decision, attempt=2),
        Answer(7, decision.decision + 1, 1, decision.legal[0]),
        Answer(7, decision.decision, 1, Malformed("no action")),
    ):
        with pytest.raises(Unmet):
            game.take(wrong)
    with pytest.raises(Unmet, match="attempt 1"):
        game.take(answer(decision), attempt=2)
    game.take(answer(decision, attempt=2), attempt=2)


def test_an_illegal_answer_is_told_with_its_clause() -> None:
    game = board()
    game.start()
    decision = asked(game)
    held = {action.card for action in decision.legal if isinstance(action, PlayCard)}
    other = next(card for card in CARDS if card not in held)
    with pytest.raises(Unmet) as raised:
        game.take(answer(decision, PLAYS[other]))
    assert raised.value.reference == "rulebook 1.4"
    assert str(decision.legal[0].card) in raised.value.expected  # type: ignore[union-attr]


def test_nothing_may_be_answered_where_nobody_is_asked() -> None:
    game = board()
    game.start()
    decision = asked(game)
    game.take(answer(decision))
    with pytest.raises(Unmet, match="nothing is asked"):
        game.take(answer(decision))


def test_who_comes_back_is_told_everything_and_the_same_decision() -> None:
    game = board()
    game.start()
    first = asked(game)
    game.take(answer(first))
    second = asked(game)
    again = game.again(attempt=2)
    assert isinstance(again, Decision)
    assert again.events == first.events + second.events
    assert (again.decision, again.attempt, again.legal) == (2, 2, second.legal)


def test_a_fault_ends_a_game_whatever_is_asked() -> None:
    game = board()
    game.start()
    asked(game)
    end = game.fault(Ending.TIME, seat=Seat(0))
    assert (end.outcome.ending, end.outcome.at_fault, end.outcome.winner) == (Ending.TIME, 0, 1)
    assert game.is_over
    assert game.open is None


def test_the_script_can_stand_in_for_the_bot() -> None:
    rules = Rules.of(4, play=Play.RACE)
    game = scripted(Race(rules, lambda hand: bytes([hand]) * 32), seat=2)
    game.stands_in = at_random(Chance("stands in"))
    game.start()
    game.play_to(hand=4)
    game.stands_in = None
    decision = asked(game)
    assert game.game.hand_number == 4
    assert len(decision.events) > 150
