"""An exchange as it is read: what a hand cannot be understood without is never left out."""

from arena.conformance.chance import Chance
from arena.conformance.decks import random_deck
from arena.conformance.tables import ScriptedGame, at_random
from arena.conformance.transcript import Entry, Transcript
from hokm.cards import Seat, cards_text
from hokm.events import PacketDealt
from hokm.rules.game import Board, Race
from hokm.rules.options import Play, Rules
from hokm.session import Answer, ClockRules, Decision, FromBot, FromReferee, MatchStart

RULES = Rules.of(4)
SEAT = Seat(0)


def scripted(game: Board | Race, *, number: int = 1) -> ScriptedGame:
    others = at_random(Chance("others"))
    names = ("mine", "b", "c", "d")
    return ScriptedGame(game, match="m", number=number, seat=SEAT, others=others, players=names)


def board(number: int = 1) -> ScriptedGame:
    return scripted(Board(RULES, random_deck(RULES, Chance("deck")), number=2), number=number)


def told(transcript: Transcript, *messages: FromReferee | FromBot) -> None:
    transcript.add(Entry("someone", 0.0, messages))


def played(transcript: Transcript, game: ScriptedGame, *, decisions: int) -> list[PacketDealt]:
    """Play so many decisions of a game; the bot's own cards as they were dealt."""
    told(transcript, MatchStart("m", game.game.rules, 1, ClockRules()))
    told(transcript, game.start())
    dealt: list[PacketDealt] = []
    for _ in range(decisions):
        message = game.next()
        assert isinstance(message, Decision)
        events = message.events
        dealt += [one for one in events if isinstance(one, PacketDealt) and one.cards is not None]
        answer = Answer(message.game, message.decision, 1, message.legal[0])
        told(transcript, message)
        told(transcript, answer)
        game.take(answer)
    return dealt


def test_the_beginning_of_a_hand_is_told_although_it_is_far_back() -> None:
    transcript = Transcript()
    dealt = played(transcript, board(), decisions=5)
    text = "\n".join(transcript.lines(last=2))
    assert text.count("answer to") == 1
    assert "match 'm' starts" in text
    assert "game 1 starts: seat 0 of mine" in text
    assert "hand 1 starts (hakem 1, dealer 0, scores 0-0)" in text
    assert " 1 names " in text
    assert all(f"0 is dealt {cards_text(packet.cards or ())}" in text for packet in dealt)


def test_a_message_of_many_events_tells_what_matters_of_them() -> None:
    transcript = Transcript()
    played(transcript, board(), decisions=1)
    text = "\n".join(transcript.lines(last=2))
    for what in ("hand 1 starts", " names ", "0 is dealt ", " events), "):
        assert what in text.split("since then: ")[1]


def test_a_long_history_is_told_from_the_hand_before_the_last() -> None:
    race = Race(Rules.of(4, play=Play.RACE), lambda hand: bytes([hand]) * 32)
    game = scripted(race)
    game.stands_in = at_random(Chance("stands in"))
    transcript = Transcript()
    told(transcript, game.start())
    game.play_to(hand=5)
    game.stands_in = None
    told(transcript, game.next())
    text = "\n".join(transcript.lines())
    assert "hand 3 starts" not in text
    assert "hand 4 starts" in text
    assert "hand 5 starts" in text
    assert text.count("the hand ends (side ") == 1
    assert " is hakem of the next)" in text


def test_the_end_of_a_hand_is_told_in_words() -> None:
    game = board()
    game.stands_in = at_random(Chance("stands in"))
    transcript = Transcript()
    told(transcript, game.start())
    told(transcript, game.next())
    assert "; no hand follows)" in transcript.lines()[-1]
    assert "None" not in transcript.lines()[-1].split("the hand ends")[1]


def test_an_exchange_may_end_with_an_answer_and_be_about_its_game_alone() -> None:
    transcript = Transcript()
    played(transcript, board(1), decisions=3)
    played(transcript, board(2), decisions=3)
    transcript.end_with(1, 2)
    text = "\n".join(transcript.lines(last=99))
    assert "answer to game 1, decision 2" in transcript.lines()[-1]
    assert "game 2" not in text
    assert transcript.last_decision == 2
