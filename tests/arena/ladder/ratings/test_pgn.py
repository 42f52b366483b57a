"""Results as games without moves, for other rating programs."""

import re

import pytest

from arena.ladder.ratings.comparison import Comparison, free_for_all, one_on_one
from arena.ladder.ratings.pgn import pgn

TAG = re.compile(r'^\[(\w+) "(.*)"\]$', re.MULTILINE)


def games(matches):
    """The tags of each game."""
    return [dict(TAG.findall(game)) for game in pgn(matches)]


@pytest.mark.parametrize(
    ("score", "result"),
    [(1.0, "1-0"), (0.0, "0-1"), (0.5, "1/2-1/2"), (0.501, "1-0"), (0.499, "0-1")],
)
def test_a_match_is_a_game_that_ends_as_the_match_did(score, result):
    (game,) = pgn([one_on_one("ada", "bob", score=score)])
    assert game == f'[White "ada"]\n[Black "bob"]\n[Result "{result}"]\n\n{result}\n\n'


def test_a_match_of_three_is_a_game_for_each_pair():
    assert games([free_for_all({"ada": 2, "bob": 1, "cyd": 2})]) == [
        {"White": "ada", "Black": "bob", "Result": "0-1"},
        {"White": "ada", "Black": "cyd", "Result": "1/2-1/2"},
        {"White": "bob", "Black": "cyd", "Result": "1-0"},
    ]


def test_matches_keep_their_order():
    played = [one_on_one("ada", name, score=1.0) for name in ("cyd", "bob", "cyd")]
    assert [game["Black"] for game in games(played)] == ["cyd", "bob", "cyd"]
    assert list(pgn([])) == []


def test_a_name_cannot_end_its_tag():
    name = 'a "b" \\ c"]\n[Result "1-0'
    (game,) = pgn([(Comparison(name, "رستم", 0.0),)])
    assert game.splitlines()[:3] == [
        r'[White "a \"b\" \\ c\"] [Result \"1-0"]',
        '[Black "رستم"]',
        '[Result "0-1"]',
    ]
