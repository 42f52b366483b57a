"""Bots in one process: the same rules and views as with the referee."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from hokm.actions import Action
from hokm.bot import Asked, Bot, note_of
from hokm.cards import CARDS, Card, Seat, Suit, parse_cards
from hokm.deck import shuffled
from hokm.errors import IllegalAction, Reason
from hokm.events import HandEnded
from hokm.notation import hand_events, hand_text, parse_hand
from hokm.outcome import Ending, HandResult, Outcome
from hokm.records.log import GameLog
from hokm.rules.game import Board
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.testing import duel, play, play_board, play_many, play_race, seeds, view_of
from hokm.view import View


class Lowest(Bot):
    def play(self, view: View) -> Card:
        return view.playable[0]


class Highest(Bot):
    def play(self, view: View) -> Card:
        return max(view.playable, key=lambda card: (card.rank, card.suit == view.trump_suit))


class Revoking(Lowest):
    """Plays the lowest card it holds, whatever was led."""

    def play(self, view: View) -> Card:
        return view.hand[0]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_board_is_played_to_its_end(players: int) -> None:
    deck = CARDS if players != 3 else CARDS[1:]
    outcome = play_board([Lowest() for _ in range(players)], Rules.of(players), deck)
    assert outcome.ending is Ending.COMPLETED
    assert sorted(outcome.points)[-1] in (1, 2, 3)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_race_is_played_to_its_target(players: int) -> None:
    rules = Rules.of(players, play=Play.RACE, options={"target_points": "3"})
    outcome = play_race([Lowest() for _ in range(players)], rules, seeds("race"))
    assert outcome.winner is not None
    assert outcome.points[outcome.winner] >= 3


def test_a_bot_that_always_plays_high_beats_one_that_always_plays_low() -> None:
    assert sum(duel(Highest, Lowest, boards=40)) > 0
    assert sum(duel(Lowest, Highest, boards=40)) < 0


def test_the_same_seed_gives_the_same_differences() -> None:
    assert duel(Highest, Lowest, boards=10, seed="x") == duel(Highest, Lowest, boards=10, seed="x")
    assert duel(Highest, Lowest, boards=10, seed="x") != duel(Highest, Lowest, boards=10, seed="y")


def test_an_illegal_card_raises_for_its_author() -> None:
    with pytest.raises(IllegalAction) as raised:
        duel(Revoking, Lowest, boards=5)
    assert raised.value.reason is Reason.MUST_FOLLOW_SUIT


def test_an_answer_of_the_wrong_kind_says_what_the_method_must_give() -> None:
    class Confused(Lowest):
        def declare(self, view: View) -> Suit:
            return "spades"  # type: ignore[return-value]

    with pytest.raises(TypeError, match=r"declare\(\) of a bot must give Trump or Suit"):
        duel(Confused, Lowest, boards=1)


class Together(Highest):
    """As Highest, but asked about all its games at once; notes how many those were."""

    concurrent = 8
    open_at_once: list[int] = []  # noqa: RUF012  # of all bots of a test: emptied by it

    @classmethod
    def decide_many(cls, asked: Sequence[Asked]) -> Iterable[tuple[Asked, Action]]:
        cls.open_at_once.append(len(asked))
        return [(one, one.decide()) for one in reversed(asked)]


def test_boards_played_at_once_come_out_as_one_by_one() -> None:
    Together.open_at_once = []
    assert duel(Together, Lowest, boards=6) == duel(Highest, Lowest, boards=6)
    assert max(Together.open_at_once) == 1  # Lowest takes one
    assert duel(Together, Together, boards=6) == [0] * 6
    assert max(Together.open_at_once) == 8


def test_outcomes_of_many_games_stand_in_their_order() -> None:
    def game(number: int) -> Board:
        return Board(Rules.of(2), shuffled(CARDS, seeds("many")(number)), number=number)

    numbers = range(1, 9)
    one_by_one = [play(game(number), [Together(), Lowest()]) for number in numbers]
    assert len(set(one_by_one)) > 1
    assert play_many((game(n), [Together(), Lowest()]) for n in numbers) == one_by_one


def answering(give: Callable[[Sequence[Asked]], object]) -> type[Bot]:
    class Answering(Lowest):
        @classmethod
        def decide_many(cls, asked: Sequence[Asked]) -> Iterable[tuple[Asked, Action]]:
            return give(asked)  # type: ignore[return-value]

    return Answering


@pytest.mark.parametrize(
    ("give", "says"),
    [
        (lambda asked: None, "must give pairs (asked, action), not None: yield them"),
        (lambda asked: [asked[0]], "must give pairs (asked, action), not Asked(game=0"),
        (lambda asked: [(asked[0], CARDS[0])], "such as PlayCard(card) or one of view.legal, for"),
        (lambda asked: [], "gave no answer for game 0, seat 0; game 1, seat 0"),
        (lambda asked: [(asked[1], asked[1].decide())], "gave no answer for game 0, seat 0"),
        (
            lambda asked: [(asked[0], asked[0].decide())] * 2,
            "gave an answer for game 0, seat 0, which has been answered",
        ),
        (
            lambda asked: [(replace(asked[0], game=9), asked[0].decide())],
            "gave an answer for game 9, seat 0, which it was not asked about",
        ),
    ],
)
def test_answers_to_many_that_do_not_fit_what_is_asked_are_named(give, says: str) -> None:
    bot = answering(give)
    games = [(Board(Rules.of(2), CARDS, number=1), [bot(), bot()]) for _ in range(2)]
    with pytest.raises(TypeError, match=r"Answering\.decide_many\(\) .*" + re.escape(says)):
        play_many(games)


def test_every_hook_is_called_at_its_time() -> None:
    calls: list[str] = []

    class Noting(Lowest):
        def game_started(self, view: View) -> None:
            calls.append(f"start {view.seat} {len(view.hand)}")

        def hand_ended(self, view: View, result: HandResult) -> None:
            calls.append(f"hand {result.winner}")

        def game_ended(self, view: View, outcome: Outcome) -> None:
            calls.append(f"end {outcome.winner}")

    outcome = play_board([Noting(), Lowest(), Lowest(), Lowest()], Rules.of(4), CARDS)
    assert calls == ["start 0 0", f"hand {outcome.winner}", f"end {outcome.winner}"]


def test_a_bot_that_notes_plays_here_too_and_its_note_can_be_looked_at() -> None:
    class Noting(Lowest):
        def play(self, view: View) -> Card:
            self.note("lowest", left=len(view.hand))
            return view.playable[0]

    noting, silent = Noting(), Lowest()
    play_board([noting, silent, Noting(), Lowest()], Rules.of(4), CARDS)
    note = note_of(noting)
    assert note is not None
    assert note.text == "lowest"
    assert note_of(silent) is None


def test_a_table_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(ValueError, match="4 seats, not 2"):
        play_board([Lowest(), Lowest()], Rules.of(4), CARDS)


def test_a_view_knows_its_partner_and_its_opponents_in_order_of_play() -> None:
    view = View(Rules.of(4), Seat(3))
    assert (view.partner, view.opponents) == (1, (0, 2))
    assert View(Rules.of(3), Seat(1)).partner is None


# -- one position

DECLARING = """
hokm 4 hakem 0
deck KS 7S 5D 2C JD AD 9S 6H QH 2D 6C QC 5S TD 5H QD 5C 3S 8S 2S 6S 4S AH TH
  KC TC 6D KH 7H JS 8D 4C 7C JC 9C JH KD 3H 8C 8H QS 3D 7D AS 4H 3C 9D TS 4D
  2H AC 9H
"""


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_view_of_a_text_is_what_a_seat_at_the_table_is_asked_with(players: int) -> None:
    """A whole hand, decision by decision."""
    rules = Rules.of(players)
    game = Board(rules, shuffled(variant_of(rules).pack, seeds("a text")(1)), number=1)
    log, views = GameLog(game, number=1), [View(rules, Seat(seat)) for seat in range(players)]
    happened = game.start()
    while not game.is_over:
        log.saw(happened)
        for event in happened:
            for view in views:
                view.apply(event.seen_by(view.seat))
        assert game.to_act is not None
        asked = views[game.to_act]
        asked.ask(game.legal_actions())
        text = hand_text(rules, log.record().hands[-1])
        assert known(view_of(text)) == known(asked)
        happened = game.act(asked.seat, asked.legal[-1])


def known(view: View) -> dict[str, object]:
    """All that a view says."""
    names = {*vars(view), *vars(View)} - {"rules", "variant"}
    said = {name: getattr(view, name) for name in names if not name.startswith("_")}
    return {name: value for name, value in said.items() if not callable(value)}


def test_of_a_hand_that_went_on_so_many_cards_are_taken_as_played() -> None:
    text = DECLARING + "trump S plays AH KH 7H JH / KD AD"
    assert view_of(text, plays=5).playable == parse_cards("2D 3D 6D 7D AD")
    assert view_of(text, plays=6).seat == view_of(text).seat == 2
    assert view_of(text, plays=0).playable == view_of(DECLARING + "trump S").playable
    for plays in (-1, 7):
        with pytest.raises(ValueError, match=f"plays={plays}: 6 cards are played in this text"):
            view_of(text, plays=plays)


def test_where_nobody_is_to_act_there_is_no_view() -> None:
    text = DECLARING + "trump S plays"
    while not isinstance([*hand_events(*parse_hand(text))][-1], HandEnded):
        text += f" {view_of(text).playable[0]}"
    with pytest.raises(ValueError, match="this hand is over: leave cards away"):
        view_of(text)
