"""The vectorised environment: decisions a second of CPU time, beside the scalar core and, where
they are installed, beside peers, all in the same rounds of the same run.

Every form plays random legal actions on one core, each legal action as likely as another.

*vectorised, at once* is :meth:`~hokm.env.vector.VectorEnv.play_random`: per decision the seat that
is to act, its legal actions, a random choice among them, the card played, the trick taken and the
hand scored, through the functions that ``step`` calls; and hands are dealt within the time.
*vectorised, by steps* is the interface that learners use, a pair of calls from Python for a
decision of every game: ``step(random_actions())``. *with observations* asks for the booleans of all
legal actions and for what the acting seats know besides. Declarations, discards and draws are
decisions and count.

The scalar forms are those of :mod:`benchmarks.core`, which count cards. Of the peers, every
decision of a player counts; their cards are dealt within the time, as ours are here.
"""

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from benchmarks import core
from benchmarks.measure import Rate, cpu_rate, in_turn, table
from hokm.env.vector import VectorEnv

SEATS = (4, 3, 2)
FLOOR = "public, 4 seats"
AT_ONCE = "vectorised, at once, 4 seats"
TARGET_PER_SECOND = 10_000_000
"""Decisions a second of random four-seat play on one core."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What came of it: rates by measure, and the peers that are not installed."""

    rates: dict[str, Rate]
    missing: tuple[str, ...]


def measure(*, games: int, steps: int, hands: int, rounds: int) -> Environment:
    """Games at once and steps for each vectorised measure; hands for each of the others."""
    measures: dict[str, Callable[[], float]] = {
        FLOOR: core.public(4, hands),
        "simulation, 4 seats": core.simulation(4, hands),
    }
    for seats in SEATS:
        measures[f"vectorised, at once, {seats} seats"] = at_once(seats, games, steps)
    for seats in SEATS:
        measures[f"vectorised, by steps, {seats} seats"] = by_steps(seats, games, steps)
    measures["the same with observations, 4 seats"] = observing(games, steps)
    missing = []
    for name, (module, peer) in PEERS.items():
        if find_spec(module):
            measures[name] = peer(hands)
        else:
            missing.append(name)
    for warm_up in measures.values():
        warm_up()  # compiled code is made or read when it is called first
    return Environment(in_turn(measures, floor=FLOOR, rounds=rounds), tuple(missing))


def begun(seats: int, games: int) -> VectorEnv:
    """An environment of so many games, each at its first decision."""
    env = VectorEnv(games, seats=seats)
    env.reset(seed=1)
    return env


def at_once(seats: int, games: int, steps: int) -> Callable[[], float]:
    """Random play in one call: decisions a second of CPU."""
    env = begun(seats, games)
    return lambda: cpu_rate(lambda: env.play_random(steps))


def by_steps(seats: int, games: int, steps: int) -> Callable[[], float]:
    """Random play by a pair of calls for each decision of every game."""
    env = begun(seats, games)

    def play() -> int:
        for _ in range(steps):
            env.step(env.random_actions())
        return steps * games

    return lambda: cpu_rate(play)


def observing(games: int, steps: int) -> Callable[[], float]:
    """Likewise, with the masks and the observations of every decision made too."""
    env = begun(4, games)

    def play() -> int:
        for _ in range(steps):
            env.masks()
            env.observe()
            env.step(env.random_actions())
        return steps * games

    return lambda: cpu_rate(play)


# -- peers, driven from Python as their own examples do


def open_spiel(game_name: str) -> Callable[[int], Callable[[], float]]:
    """Random play of a game of OpenSpiel, by so many hands."""

    def peer(hands: int) -> Callable[[], float]:
        game = importlib.import_module("pyspiel").load_game(game_name)
        random_number = random.Random(4).random

        def play() -> int:
            decisions = 0
            for _ in range(hands):
                state = game.new_initial_state()
                while not state.is_terminal():
                    decisions += not state.is_chance_node()
                    legal = state.legal_actions()
                    state.apply_action(legal[int(random_number() * len(legal))])
            return decisions

        return lambda: cpu_rate(play)

    return peer


def rlcard(hands: int) -> Callable[[], float]:
    """Random play of RLCard's bridge, by a twentieth of so many hands: it is slow."""
    env = importlib.import_module("rlcard").make("bridge", config={"seed": 5})
    random_number = random.Random(5).random

    def play() -> int:
        decisions = 0
        for _ in range(max(1, hands // 20)):
            state, _ = env.reset()
            while not env.is_over():
                legal = list(state["legal_actions"])
                state, _ = env.step(legal[int(random_number() * len(legal))])
                decisions += 1
        return decisions

    return lambda: cpu_rate(play)


PEERS: dict[str, tuple[str, Callable[[int], Callable[[], float]]]] = {
    "OpenSpiel, spades": ("pyspiel", open_spiel("spades")),
    "OpenSpiel, hearts": ("pyspiel", open_spiel("hearts")),
    "RLCard, bridge": ("rlcard", rlcard),
}


def report(measured: Environment) -> str:
    """The table of what was measured, and what is not installed."""
    rows = [["Environment", "decisions/s of CPU", "of the public form", "target"]]
    for name, rate in measured.rates.items():
        target = f"{TARGET_PER_SECOND:,}" if name == AT_ONCE else ""
        rows.append([name, f"{rate.median:,.0f}", f"{rate.ratio:,.2f}", target])
    rows += [[name, "not installed", "", ""] for name in measured.missing]
    return table(rows)
