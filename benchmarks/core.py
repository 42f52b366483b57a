"""The core: cards played a second of CPU time, beside the bare loop in the same round.

Every form plays random legal cards from the same kind of shuffled deck; shuffling is outside what
is timed. The *simulation* form is a :class:`~hokm.rules.position.Position`, copied from its start,
played to its end and scored. The *public* form is a :class:`~hokm.rules.game.Board` from its first
packet on, made with its deck; before each action its legal actions are asked for, and every event
is shown to a view of every seat by ``seen_by``. With two seats the discards and draws are in the
time and not in the count.

How fast one process is depends by some per cent on where its objects happen to lie, so the rounds
are spread over several.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks import bare_loop
from benchmarks.measure import Rate, cpu_rate, in_turn, table
from hokm.actions import PlayCard
from hokm.bot import Bot
from hokm.cards import Card, Seat, Trump, card_set
from hokm.rules.game import Board
from hokm.rules.options import Rules
from hokm.rules.position import Position
from hokm.rules.variants import variant_of
from hokm.testing import duel
from hokm.view import View
from sample_bots.house.bot import House

FLOOR = "bare loop, 4 seats"
TARGETS = {"simulation, 4 seats": 0.3, "public, 4 seats": 0.1}
"""Ratios to the bare loop (design, section 3)."""

SEATS = (4, 3, 2)
ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Core:
    """What came of it."""

    rates: dict[str, Rate]
    duel_milliseconds: float
    """CPU time of one hand of house against house, in one process and without a referee."""


def measure(*, hands: int, rounds: int, boards: int) -> Core:
    """Hands for each measure in each round; boards of the duel, each played twice."""
    measures: dict[str, Callable[[], float]] = {FLOOR: lambda: bare(hands * 2)}
    for seats in SEATS:
        measures[f"simulation, {seats} seats"] = simulation(seats, hands)
    for seats in SEATS:
        measures[f"public, {seats} seats"] = public(seats, hands)
    for warm_up in list(measures.values())[1:]:
        warm_up()  # the tables of cards within a suit fill as they are met
    return Core(in_turn(measures, floor=FLOOR, rounds=rounds), duel_milliseconds(House, boards))


def in_processes(count: int, *, hands: int, rounds: int, boards: int) -> Core:
    """The same in so many processes one after the other, each with all its rounds."""
    command = [sys.executable, "-m", "benchmarks.core", str(hands), str(rounds), str(boards)]
    cores: list[Core] = []
    for _ in range(count):
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, timeout=TIMEOUT_SECONDS, check=True
        )
        figures = json.loads(done.stdout)
        rates = {
            name: Rate(tuple(rate["rounds"]), tuple(rate["ratios"]))
            for name, rate in figures["rates"].items()
        }
        cores.append(Core(rates, figures["duel_milliseconds"]))
    together = {
        name: Rate(
            tuple(one for core in cores for one in core.rates[name].rounds),
            tuple(one for core in cores for one in core.rates[name].ratios),
        )
        for name in cores[0].rates
    }
    return Core(together, median(core.duel_milliseconds for core in cores))


def bare(hands: int) -> float:
    rng = random.Random(1)
    deals = [bare_loop.deal(rng) for _ in range(hands)]

    def play() -> int:
        played = 0
        for number, deal in enumerate(deals):
            played += bare_loop.play_hand(rng.random, deal, number & 3, (number >> 2) & 3)[1]
        return played

    return cpu_rate(play)


def simulation(seats: int, hands: int) -> Callable[[], float]:
    variant = variant_of(Rules.of(seats))
    rng = random.Random(2)
    each = 13 if seats == 2 else len(variant.pack) // seats
    starts = []
    for number, deck in enumerate(decks(variant.pack, hands, rng)):
        held = [card_set(deck[seat * each : (seat + 1) * each]) for seat in range(seats)]
        hakem, trump = Seat(number % seats), Trump(number // seats % 4)
        starts.append(Position(variant, held, hakem=hakem, trump=trump))
    random_number = rng.random

    def play() -> int:
        played = points = 0
        for start in starts:
            position = start.copy()
            while not position.is_over:
                cards = position.playable
                position.play(cards[int(random_number() * len(cards))])
                played += 1
            assert position.result is not None
            points += position.result.points[0]
        return played

    return lambda: cpu_rate(play)


def public(seats: int, hands: int) -> Callable[[], float]:
    rules = Rules.of(seats)
    rng = random.Random(3)
    shuffled = decks(variant_of(rules).pack, hands, rng)
    random_number = rng.random

    def play() -> int:
        played = 0
        for number, deck in enumerate(shuffled, start=1):
            board = Board(rules, deck, number=number)
            views = [View(rules, Seat(seat)) for seat in range(seats)]
            for event in board.start():
                for view in views:
                    view.apply(event.seen_by(view.seat))
            while (seat := board.to_act) is not None:
                legal = board.legal_actions()
                views[seat].ask(legal)
                action = legal[int(random_number() * len(legal))]
                for event in board.act(seat, action):
                    for view in views:
                        view.apply(event.seen_by(view.seat))
                if type(action) is PlayCard:
                    played += 1
        return played

    return lambda: cpu_rate(play)


def decks(pack: tuple[Card, ...], hands: int, rng: random.Random) -> list[tuple[Card, ...]]:
    return [tuple(rng.sample(pack, len(pack))) for _ in range(hands)]


def duel_milliseconds(bot: type[Bot], boards: int) -> float:
    start = time.process_time()
    duel(bot, bot, boards=boards)
    return (time.process_time() - start) / (2 * boards) * 1000


def report(core: Core) -> str:
    rows = [["Core", "cards/s of CPU", "of the floor", "target"]]
    for name, rate in core.rates.items():
        target = TARGETS.get(name)
        rows.append([name, f"{rate.median:,.0f}", f"{rate.ratio:.3f}", f"{target or ''}"])
    house = f"house against house, in one process: {core.duel_milliseconds:.1f} ms of CPU a hand"
    return f"{table(rows)}\n{house}"


if __name__ == "__main__":
    given_hands, given_rounds, given_boards = map(int, sys.argv[1:])
    one = measure(hands=given_hands, rounds=given_rounds, boards=given_boards)
    print(json.dumps(asdict(one)))
