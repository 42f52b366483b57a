"""Bots in one process: the same rules and views as with the referee."""

import pytest

from hokm.bot import Bot
from hokm.cards import CARDS, Card, Seat, Suit
from hokm.errors import IllegalAction, Reason
from hokm.outcome import Ending, HandResult, Outcome
from hokm.rules.options import Play, Rules
from hokm.testing import duel, play_board, play_race, seeds
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


def test_a_table_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(ValueError, match="4 seats, not 2"):
        play_board([Lowest(), Lowest()], Rules.of(4), CARDS)


def test_a_view_knows_its_partner_and_its_opponents_in_order_of_play() -> None:
    view = View(Rules.of(4), Seat(3))
    assert (view.partner, view.opponents) == (1, (0, 2))
    assert View(Rules.of(3), Seat(1)).partner is None
