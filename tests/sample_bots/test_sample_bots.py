"""The bundled bots: they start as their manifests say, play every game, and stand in order."""

import math
import runpy
import sys
from collections.abc import Callable

import pytest

import hokm
from arena.ladder.bots.entrants import PLAYER_COUNTS, SAMPLES, load_bot, sample_names
from hokm import Bot, Card, Ending, HandResult, Rules, View
from hokm.deck import shuffled
from hokm.rules.game import Board
from hokm.rules.options import Play
from hokm.rules.variants import variant_of
from hokm.testing import duel, play_board, play_many, play_race, seeds

NAMES = (
    "batch",
    "greedy",
    "house",
    "house-10",
    "house-30",
    "learned",
    "random",
    "search",
    "search-20",
)

ONE_OF_EACH = tuple(name for name in NAMES if name != "search-20")
"""Without the one that is search and thinks less: here both look at so few deals that it shows
nothing.
"""

Bots = Callable[[str], type[Bot]]


@pytest.fixture
def bots(monkeypatch: pytest.MonkeyPatch) -> Bots:
    """The class that a bundled bot's command plays with, caught where it would meet a referee."""

    def started(name: str) -> type[Bot]:
        entrant = load_bot(SAMPLES / name)
        caught: list[type[Bot]] = []
        monkeypatch.setattr(hokm, "run", caught.append)
        monkeypatch.setattr(sys, "argv", list(entrant.command[1:]))
        monkeypatch.syspath_prepend(str(entrant.folder))  # as for a script that is started
        runpy.run_path(str(entrant.folder / entrant.command[1]), run_name="__main__")
        [bot] = caught
        if hasattr(bot, "samples"):  # it goes by time, and so plays otherwise the next time
            monkeypatch.setattr(bot, "samples", 1)
        return bot

    return started


def noting(bot: type[Bot], plays: list[Card]) -> type[Bot]:
    """The same bot, which at seat 0 notes every card that was played."""

    class Noting(bot):  # type: ignore[misc,valid-type]
        def hand_ended(self, view: View, result: HandResult) -> None:
            if view.seat == 0:
                plays.extend(play.card for trick in view.tricks for play in trick.plays)

    return Noting


def cards_played(bot: type[Bot], *, players: int, boards: int, seed: str = "cards") -> list[Card]:
    """Every card of some boards on which one bot has all seats, in order."""
    rules, plays = Rules.of(players), list[Card]()
    for number in range(1, boards + 1):
        deck = shuffled(variant_of(rules).pack, seeds(seed)(number))
        play_board([noting(bot, plays)() for _ in range(players)], rules, deck, number=number)
    return plays


def test_these_bots_are_bundled() -> None:
    assert sample_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_bears_its_folders_name_and_takes_every_table(name: str) -> None:
    entrant = load_bot(SAMPLES / name)
    assert entrant.name == name
    assert entrant.variants == PLAYER_COUNTS


@pytest.mark.parametrize("name", NAMES)
def test_a_process_takes_as_many_games_as_its_manifest_says(name: str, bots: Bots) -> None:
    assert bots(name).concurrent == load_bot(SAMPLES / name).concurrent


@pytest.mark.parametrize("name", ["house-10", "house-30"])
def test_the_weaker_houses_are_copies_of_house(name: str) -> None:
    # A bot is its folder, so the file cannot be shared: it is frozen with the folder.
    house, copy = ((SAMPLES / bot / "bot.py").read_bytes() for bot in ("house", name))
    assert copy == house, (
        f"the copy lags behind; renew it: cp sample_bots/house/bot.py sample_bots/{name}/bot.py"
    )


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_bot_plays_boards_and_races_to_the_end(name: str, players: int, bots: Bots) -> None:
    bot = bots(name)
    assert len(cards_played(bot, players=players, boards=2 * players)) > 7 * players
    race = Rules.of(players, play=Play.RACE, options={"target_points": "3"})
    outcome = play_race([bot() for _ in range(players)], race, seeds(name))
    assert outcome.ending is Ending.COMPLETED


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_bot_plays_the_same_game_the_same_way_again(name: str, players: int, bots: Bots) -> None:
    first, second = (cards_played(bots(name), players=players, boards=6) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_batch_plays_as_greedy_whether_asked_one_by_one_or_together(
    players: int, bots: Bots
) -> None:
    batch, greedy = bots("batch"), bots("greedy")
    assert cards_played(batch, players=players, boards=12) == cards_played(
        greedy, players=players, boards=12
    )
    together: list[Card] = []
    bot = noting(batch, together)
    rules = Rules.of(players)
    play_many(
        (Board(rules, shuffled(variant_of(rules).pack, seeds("cards")(n)), number=n), seats)
        for n in range(1, 13)
        for seats in [[bot() for _ in range(players)]]
    )
    assert sorted(together) == sorted(cards_played(greedy, players=players, boards=12))


def test_different_deals_are_not_played_at_random_alike(bots: Bots) -> None:
    """Which of the legal cards is taken depends on the deal, and not on their number alone."""
    places: list[int] = []

    class Watched(bots("random")):  # type: ignore[misc]
        def play(self, view: View) -> Card:
            card: Card = super().play(view)
            if len(view.playable) == 13:
                places.append(view.playable.index(card))
            return card

    for number in range(1, 41):
        deck = shuffled(variant_of(Rules.of(4)).pack, seeds("leads")(number))
        play_board([Watched() for _ in range(4)], Rules.of(4), deck, number=number)
    assert len(set(places)) > 9


@pytest.mark.parametrize(("name", "share"), [("house-10", 0.1), ("house-30", 0.3)])
def test_a_weaker_house_strays_in_the_share_its_name_says(
    name: str, share: float, bots: Bots
) -> None:
    house, noisy = bots("house")(), bots(name)
    strayed: list[bool] = []
    chances: list[float] = []

    class Watched(noisy):  # type: ignore[misc,valid-type]
        def play(self, view: View) -> Card:
            card: Card = super().play(view)
            strayed.append(card != house.play(view))
            # A random card is the advised one by chance, always where there is only one.
            chances.append(1 - 1 / len(view.playable))
            return card

    cards_played(Watched, players=4, boards=60)
    assert sum(strayed) / sum(chances) == pytest.approx(share, rel=0.2)


def test_houses_of_different_names_err_in_different_places(bots: Bots) -> None:
    assert [bots(name).name for name in ("house-10", "house-30")] == ["house-10", "house-30"]
    one, other = bots("house-10"), bots("house-10")
    one.noise_percent = other.noise_percent = 100  # type: ignore[attr-defined]
    other.name = "house-20"
    assert cards_played(one, players=4, boards=2) != cards_played(other, players=4, boards=2)


STRONGER = [
    # stronger, weaker, boards with four and with two seats that are enough for this seed
    ("house", "greedy", 60, 100),
    ("house", "house-30", 100, 150),
    ("house-30", "random", 20, 20),
    ("greedy", "random", 20, 20),
    ("learned", "greedy", 40, 60),
]


@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize(("stronger", "weaker", "four", "two"), STRONGER)
def test_the_bots_stand_in_order(
    stronger: str, weaker: str, four: int, two: int, players: int, bots: Bots
) -> None:
    boards = four if players == 4 else two
    points = duel(bots(stronger), bots(weaker), players=players, boards=boards, seed="order")
    mean = sum(points) / boards
    variance = sum((point - mean) ** 2 for point in points) / (boards - 1)
    assert mean > 1.96 * math.sqrt(variance / boards), f"{mean:+.2f} a board"
