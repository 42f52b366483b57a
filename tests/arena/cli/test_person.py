"""A person at a table, as the person sees it: asked in this process, answering from a list."""

from collections.abc import Callable, Iterable

import pytest

from arena.cli.person import LEFT, Person, Terminal, person_at
from arena.ladder.testing import Steady
from arena.telling import Line
from hokm.deck import board_seed, shuffled
from hokm.rules.game import Board, Race
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.testing import play
from hokm.view import View

Answers = Callable[[str], str]


class Seen:
    """A terminal that keeps what is shown and asked on it; `answer` gives what is typed."""

    def __init__(self, answer: Answers) -> None:
        self.lines: list[str] = []
        self._answer = answer

    def ask(self, prompt: str) -> str:
        typed = self._answer(prompt)
        self.lines.append(prompt + typed)
        return typed

    def show(self, lines: Iterable[Line]) -> None:
        self.lines += map(str, lines)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def person(self) -> Person:
        return person_at(Terminal(self.ask, self.show))()


def first(prompt: str) -> str:
    """The first of whatever may be done."""
    if "lay away" in prompt:
        return "1 2 3" if "3 cards" in prompt else "1 2"
    return "k" if "keep" in prompt else "1"


def answering(*typed: str, then: Answers = first) -> Answers:
    rest = list(typed)
    return lambda prompt: rest.pop(0) if rest else then(prompt)


def board(players: int, **options: str) -> Board:
    rules = Rules.of(players, options=options)
    return Board(rules, shuffled(variant_of(rules).pack, bytes(32)), number=1)


def race(players: int, **options: str) -> Race:
    rules = Rules.of(players, play=Play.RACE, options={"target_points": "2", **options})
    return Race(rules, lambda hand: board_seed(bytes(32), "m", hand))


def played(game: Board | Race, seen: Seen, *, seat: int = 0) -> str:
    others = [Steady(f"bot {number}") for number in range(game.variant.seats - 1)]
    play(game, [*others[:seat], seen.person(), *others[seat:]])
    return seen.text


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_a_board_is_told_from_its_deal_to_its_result(seat: int) -> None:
    text = played(board(4), Seen(first), seat=seat)
    assert text.startswith("\n  seat 0   ")
    assert f"\n  seat {seat}   you\n" in text
    assert ", your partner\n" in text
    assert "\nhand 1: seat 0 is hakem, seat 3 deals, score 0-0\n" in text
    assert "\n  trump    " in text
    assert f"{seat} you  " in text
    finished = [line for line in text.splitlines() if "*" in line]
    assert [int(line.split()[0]) for line in finished] == list(range(1, len(finished) + 1))
    assert "\n  result   " in text
    assert text.count("\nYou win: ") + text.count("\nYou lose: ") == 1


def test_the_hakem_names_trump_from_five_cards() -> None:
    seen = Seen(answering("♥"))
    text = played(board(4), seen)
    before = text[: text.index("name trump > ♥")]
    hand = next(line for line in before.splitlines() if line.startswith("  hand     "))
    assert sum(hand.count(suit) for suit in "♣♦♥♠") == 5
    assert "  you may  1 ♣  2 ♦  3 ♥  4 ♠" in before
    assert "  trump    ♥, named by seat 0" in text


def test_a_race_has_its_draw_its_scores_and_its_hands() -> None:
    text = played(race(4), Seen(first), seat=1)
    assert text.count("\n  ace draw ") == 1
    hands = text.count("\nhand ")
    assert hands > 1
    assert text.count("\n  result   ") == hands
    assert text.count("\n  score    ") == hands - 1


def test_partners_that_were_drawn_and_cuts_are_told() -> None:
    text = played(race(4, teams="second_ace", cut="on"), Seen(first), seat=2)
    assert "\n  partner  the second ace makes it " in text
    assert "\n  cut      seat " in text
    texts = [played(race(4, cut="on"), Seen(first), seat=seat) for seat in range(4)]
    assert any("cut, 1 to 51 cards > 1" in one for one in texts)


def test_three_play_each_for_itself() -> None:
    text = played(board(3), Seen(first), seat=2)
    assert "partner" not in text
    assert "tricks by side " in text


@pytest.mark.parametrize("seat", [0, 1])
def test_with_two_seats_cards_are_laid_away_and_drawn(seat: int) -> None:
    kept: list[bool] = []

    def by_turns(prompt: str) -> str:
        if "keep" not in prompt:
            return first(prompt)
        kept.append(not kept or not kept[-1])
        return "k" if kept[-1] else "r"

    seen = Seen(by_turns)
    text = played(board(2), seen, seat=seat)
    assert f"lay away {3 if seat == 0 else 2} cards > 1 2" in text
    own = [line for line in seen.lines if line.startswith("  draw ") and f"seat {seat} " in line]
    assert [" keeps " in line for line in own] == kept
    for line in own:
        assert line.endswith(" goes") or ", and takes " in line
    others = [line for line in seen.lines if line.startswith("  draw ") and "left: seat" in line]
    unseen = [line for line in others if line not in own]
    assert unseen
    assert all(line.endswith(" the first card") or "the second" in line for line in unseen)


@pytest.mark.parametrize("word", ["k", "r"])
def test_a_draw_says_the_cards_that_came_and_went(word: str) -> None:
    views: list[View] = []

    class Looking(Person):
        def keep(self, view: View) -> bool:
            views.append(view)
            return super().keep(view)

    seen = Seen(lambda prompt: word if "keep" in prompt else first(prompt))
    Looking.terminal = Terminal(seen.ask, seen.show)
    play(board(2), [Looking(), Steady("b")])
    gone = [card.symbol for card in views[-1].discarded[3:]]
    lines = [line.replace(",", "") for line in seen.lines if " left: seat 0 " in line]
    assert len(lines) == len(gone) == len(views)
    for line, card in zip(lines, gone, strict=True):
        looked_at, other = [one for one in line.split() if one[-1] in "♣♦♥♠"]
        came, went = (looked_at, other) if word == "k" else (other, looked_at)
        assert went == card
        assert came not in gone


def test_what_makes_no_sense_is_answered_and_asked_again() -> None:
    seen = Seen(answering("sar", "1", "AS KS", "?", "", "t"))
    text = played(board(4), seen)
    assert "\n  'sar' cannot be named here; name one of 1 C, 2 D, 3 H, 4 S\n" in text
    assert "is no card, nor a number of the list; you may play " in text
    assert "\n  q        leaves the table" in text
    assert "\n  trick    none of this hand is finished yet\n" in text


def test_the_last_trick_is_shown_again() -> None:
    seen = Seen(answering("1", "1", "t"))
    played(board(4), seen)
    at = seen.lines.index("  your card > t")
    assert seen.lines[at + 1].startswith("  trick     0 you")
    assert seen.lines[at + 2].startswith("      1 ")
    assert seen.lines[at + 2] in seen.lines[:at]


def test_who_leaves_is_asked_whether_it_is_meant() -> None:
    seen = Seen(answering("q", "n", "q", "y"))
    with pytest.raises(SystemExit) as left:
        played(board(4), seen)
    assert left.value.code == LEFT
    assert seen.text.count("Leave the table? The game ends here (y, n) > ") == 2


def test_at_the_end_of_what_is_typed_the_table_is_left() -> None:
    def nothing(prompt: str) -> str:
        raise EOFError

    with pytest.raises(SystemExit) as left:
        played(board(4), Seen(nothing))
    assert left.value.code == LEFT
