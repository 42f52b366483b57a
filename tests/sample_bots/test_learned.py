"""The bot `learned`: what it sees is what it learned from, and its training runs."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest

from arena.ladder.bots.entrants import SAMPLES
from hokm import Bot, Rules, Suit, Trump, View
from hokm.cards import cards_in
from hokm.deck import shuffled
from hokm.env.actions import KEEP
from hokm.rules.game import Board
from hokm.rules.phases import Declaration, Discards, Draws, Tricks
from hokm.rules.variants import variant_of
from hokm.testing import duel, play, play_many, seeds
from tests.hokm.env.cores import side_by_side

FOLDER = SAMPLES / "learned"
SEATS = (2, 3, 4)


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """The modules of the folder, which import one another by name as where the bot runs."""
    before = {name: sys.modules.pop(name, None) for name in ("bot", "train")}
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in before}
    finally:
        sys.path.remove(str(FOLDER))
        for name, module in before.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


@pytest.fixture
def bot(modules: dict[str, ModuleType]) -> type[Bot]:
    kind: type[Bot] = modules["bot"].Learned
    return kind


@pytest.mark.parametrize("seats", SEATS)
def test_the_bot_sees_of_a_view_what_it_learned_from_an_observation(
    seats: int, modules: dict[str, ModuleType]
) -> None:
    bot, train = modules["bot"], modules["train"]
    kinds = set()
    for env, cores in side_by_side(seats, 6, Random(seats), has_views=True):
        seen = env.observe()
        ruled = np.full(len(seen), -1)
        if seats == 2:
            train.discard_or_draw(seen, ruled)
        for game, core in enumerate(cores):
            if core.deal.to_act is None:
                continue
            view, rows = core.views[core.deal.to_act], np.array([game])
            kinds.add(type(core.deal.phase))
            match core.deal.phase:
                case Declaration():
                    inputs = np.zeros((1, 4, bot.DECLARED), np.uint8)
                    train.encode_declarations(seen, rows, inputs)
                    for suit in Suit:
                        assert (bot.declaration_inputs(view, suit) == inputs[0, suit]).all()
                case Discards():
                    count = core.deal.phase.counts[core.deal.step]
                    chosen = bot.Learned().discard(view, count)
                    assert ruled[game] == chosen[len(core.laid)] or core.laid
                case Draws():
                    assert (ruled[game] == KEEP) == bot.Learned().keep(view)
                case Tricks():
                    inputs = np.zeros((1, train.OPEN_INPUTS), np.uint8)
                    cards = np.empty((1, 52), np.int8)
                    train.encode(seen, env.hands, rows, inputs, cards)
                    position = bot.Position(view)
                    differing = np.flatnonzero(position.inputs() != inputs[0, : bot.INPUTS])
                    assert not len(differing), f"inputs {differing} of {view.hand}"
                    places = {position.place_of(card): int(card) for card in view.playable}
                    assert places == {p: c for p, c in enumerate(cards[0].tolist()) if c >= 0}
                    hidden = inputs[0, train.HIDDEN :].reshape(3, bot.PLACES)
                    for turns in range(1, seats):
                        hand = core.deal.hands[(view.seat + turns) % seats]
                        held = {position.place_of(card) for card in cards_in(hand)}
                        assert {*np.flatnonzero(hidden[turns - 1]).tolist()} == held
    assert kinds == (
        {Declaration, Discards, Draws, Tricks} if seats == 2 else {Declaration, Tricks}
    )


@pytest.mark.parametrize("seats", SEATS)
def test_one_pass_for_many_boards_plays_as_one_board_after_the_other(
    seats: int, modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, bot = Rules.of(seats), modules["bot"]
    pack, rows = variant_of(rules).pack, list[int]()
    decks = [shuffled(pack, seeds("many")(number)) for number in range(8)]

    def games() -> list[tuple[Board, list[Bot]]]:
        return [
            (Board(rules, deck, number=number), [bot.Learned() for _ in range(seats)])
            for number, deck in enumerate(decks, start=1)
        ]

    class Counting(bot.Network):  # type: ignore[misc,name-defined]
        def __call__(self, inputs):
            rows.append(len(inputs))
            return super().__call__(inputs)

    one_by_one = [play(*game) for game in games()]
    networks = {what: bot.network(seats, what) for what in ("play", "declare")}
    monkeypatch.setattr(bot, "network", lambda _, what: Counting(networks[what].layers))
    assert play_many(games()) == one_by_one
    assert max(rows) == len(decks)


def test_a_table_where_no_suit_is_trump_is_played_by_a_rule(bot: type[Bot]) -> None:
    rules = Rules.of(4, options={"modes": "suit,nar"})

    class Low(bot):  # type: ignore[misc,valid-type]
        def declare(self, view: View) -> Trump:
            return Trump.NAR

    deck = shuffled(variant_of(rules).pack, seeds("nar")(1))
    outcome = play(Board(rules, deck, number=1), [Low() for _ in range(4)])
    assert max(outcome.points) > 0


def train(*options: str) -> str:
    """What the script prints. As a process, so that NumPy has the threads that it asks for."""
    done = subprocess.run(
        [sys.executable, FOLDER / "train.py", *options],
        stdout=subprocess.PIPE,
        text=True,
        timeout=100,
        check=True,
    )
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_training_is_one_thread_whatever_the_machine_has() -> None:
    count = "import train; from os import listdir; print(len(listdir('/proc/self/task')))"
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "OPENBLAS_NUM_THREADS": "2"}
    words = [sys.executable, "-c", count]
    assert int(subprocess.check_output(words, env=environment, timeout=100)) == 1


def test_training_learns_and_writes_what_the_bot_plays_with(
    modules: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot, weights = modules["bot"], tmp_path / "weights.npz"
    printed = train("--seats=4", "--hands=2560", "--games=128", f"--out={weights}")
    first, last = (float(error) for error in re.findall(r"error ([\d.]+)$", printed, re.MULTILINE))
    assert last < 0.85 * first
    assert {name.rpartition(" ")[0] for name in np.load(weights)} == {"4 play", "4 declare"}
    monkeypatch.setattr(bot, "network", lambda seats, what: bot.load(weights, f"{seats} {what}"))
    assert len(duel(bot.Learned, bot.Learned, boards=1)) == 1
