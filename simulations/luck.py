"""The constants of the luck-adjusted score, and whether it does what it says.

Everything is played in this process, by the sample bots and by the reference. The constants come
from decks of their own, whatever the seed; that an adjusted score is unbiased, how much narrower
its bar is and how often the bar covers is then tried on other decks, where every board is played in
all rooms as well, so that the true difference is known better than one room tells it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from statistics import correlation, covariance, fmean, stdev, variance

import trio

from arena.ladder.bots.entrants import find_bot, load_bot
from arena.ladder.matches.boards import MatchPlan, Secret, joined_names
from arena.ladder.matches.room import Trouble
from arena.ladder.ratings.luck import (
    CONSTANTS,
    REFERENCE_DIGEST,
    VERSION,
    Estimate,
    PlayerLuck,
    luck,
    mean_a_hand,
)
from arena.ladder.ratings.reference import RULES, margins, margins_of
from arena.ladder.ratings.statistics import Z95
from arena.ladder.testing import InProcessRunner
from hokm.cards import Card
from hokm.deck import secret_from_text, shuffled
from hokm.records import Format, GameRecord, Policy
from hokm.rules.options import Rules
from hokm.rules.variants import variant_of
from hokm.session import ClockRules
from hokm.testing import MakeBot, play_board, seeds
from sample_bots.greedy.bot import Greedy
from sample_bots.house.bot import House
from sample_bots.random.bot import Random

LEAGUES = 200
"""Matches a row: some six minutes on two cores."""

PAGE = "luck.md"

LENGTHS = {Format.BOARDS: 16, Format.CLASSIC: 6}
"""Boards or races of a match. One room is looked at, as if the others had been stopped."""

PART = 20
"""Matches that one process plays at a time."""

CONSTANTS_SEED = "luck-v1 constants"
CONSTANTS_DECKS = 40_000
"""For E c; β and the correlations come from the first of them."""
BETA_DECKS = 3_000


class House30(House):
    """House with 30 % of its cards at random."""

    name = "house-30"
    noise_percent = 30


BOTS: dict[str, MakeBot] = {
    "house": House,
    "house-30": House30,
    "greedy": Greedy,
    "random": Random,
}

Pairing = tuple[str, str]
"""Two bots by name; with three seats there are two of the second."""

PAIRINGS: tuple[Pairing, ...] = (
    ("house", "house"),
    ("house", "greedy"),
    ("greedy", "house-30"),
    ("house-30", "random"),
)

Margins = tuple[float, ...]


# -- hands


def deck_of(players: int, number: int) -> tuple[Card, ...]:
    """Deck ``number`` of the constants' own, from 1."""
    seed_of = seeds(CONSTANTS_SEED, name=f"luck/{players}")
    return shuffled(variant_of(RULES[players]).pack, seed_of(number))


def board(players: int, number: int, pairing: Pairing) -> Margins:
    """A board between the two: the margins by place. The first sits on each side in turn."""
    rules = RULES[players]
    variant = variant_of(rules)
    mine = number // players % variant.sides
    bots = [BOTS[pairing[side != mine]]() for side in variant.side_of]
    values = margins_of(play_board(bots, rules, deck_of(players, number), number=number).points)
    hakem = (number - 1) % players
    return tuple(values[(hakem + place) % variant.sides] for place in range(variant.sides))


# -- the constants


@dataclass(frozen=True, slots=True)
class Measured:
    """What the constants of a number of players should be. ``errors`` are half widths at 95 % of
    ``expected``. ``correlations`` are by pairing and reference, ``milliseconds`` of CPU a hand.
    """

    players: int
    decks: int
    expected: Margins
    errors: Margins
    beta: float
    correlations: dict[str, dict[str, float]]
    milliseconds: dict[str, float]


def measure(players: int, *, decks: int, beta_decks: int) -> Measured:
    """Measure them, on the first decks of their own seed text."""
    references: dict[str, list[Margins]] = {}
    milliseconds: dict[str, float] = {}
    for name, plays in _references(players).items():
        began = time.process_time()
        references[name] = [plays(number) for number in range(1, beta_decks + 1)]
        milliseconds[name] = 1000 * (time.process_time() - began) / beta_decks
    # Now, for its cache would make the reference look quicker than it is.
    made = [margins(players, deck_of(players, number)) for number in range(1, decks + 1)]
    correlations: dict[str, dict[str, float]] = {}
    together = alone = 0.0
    for pairing in PAIRINGS:
        own = _centred([board(players, number, pairing) for number in range(1, beta_decks + 1)])
        correlations[" – ".join(pairing)] = {
            name: correlation(own, _centred(theirs)) for name, theirs in references.items()
        }
        together += covariance(own, _centred(references[VERSION]))
        alone += variance(_centred(references[VERSION]))
    places = list(zip(*made, strict=True))
    return Measured(
        players=players,
        decks=decks,
        expected=tuple(map(fmean, places)),
        errors=tuple(Z95 * stdev(values) / math.sqrt(decks) for values in places),
        beta=together / alone,
        correlations=correlations,
        milliseconds=milliseconds,
    )


def _references(players: int) -> dict[str, Callable[[int], Margins]]:
    """What might have been the reference: margins by place, from the number of a deck."""

    def frozen(number: int) -> Margins:
        return margins(players, deck_of(players, number))

    def itself(number: int, *, name: str) -> Margins:
        return board(players, number, (name, name))

    return {VERSION: frozen, **{name: partial(itself, name=name) for name in ("house", "greedy")}}


def _centred(played: Sequence[Margins]) -> list[float]:
    """The values of all places in one list, each less the mean of its place; of two sides the
    first alone, since the other is the same with another sign.
    """
    places = list(zip(*played, strict=True))
    if len(places) == 2:
        del places[1]
    return [value - mean for values in places for mean in [fmean(values)] for value in values]


# -- is it unbiased, and how much narrower


@dataclass(frozen=True, slots=True)
class Trial:
    """Many matches of which one room was played, as the first of two bots sees them, in points a
    hand.

    ``truth`` is the raw mean of all rooms. ``shift`` is by how much the adjusted mean lies above
    the raw one, and ``shift_error`` half the width of its 95 % interval: what chance allows.
    ``ratio`` is the variance of raw matches over that of adjusted ones. ``covered`` is the share of
    matches whose bar holds the truth: raw, and adjusted.
    """

    matches: int
    hands: int
    truth: float
    raw: float
    adjusted: float
    shift: float
    shift_error: float
    ratio: float
    covered: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Played:
    """One such match: the first of its bots in one room, and in all of them."""

    one: PlayerLuck
    all: PlayerLuck


def matches_of(
    players: int, pairing: Pairing, *, kind: Format, numbers: Sequence[int], seed: int
) -> list[Played]:
    """The matches of these numbers, each with decks of its own."""
    return [
        _played(_plan(players, pairing, kind=kind, number=number, seed=seed)) for number in numbers
    ]


def _plan(players: int, pairing: Pairing, *, kind: Format, number: int, seed: int) -> MatchPlan:
    rules = Rules.of(players, play=kind.play)
    names = (pairing[0], *[pairing[1]] * (variant_of(rules).sides - 1))
    return MatchPlan(
        match=f"luck/{players}/{number}/{joined_names(names)}",
        format=kind,
        rules=rules,
        length=LENGTHS[kind],
        entrants=tuple(load_bot(find_bot(name)) for name in names),
        clock=ClockRules(),
        policy=Policy.RATED,
        secret=Secret(secret_from_text(f"luck {seed}")),
    )


def _played(plan: MatchPlan) -> Played:
    runner = InProcessRunner(BOTS)
    record = trio.run(partial(runner.play, plan, watcher=_Nobody()))
    alone = replace(record, rooms=record.rooms[:1])
    return Played(luck([alone]).players[0], luck([record]).players[0])


class _Nobody:
    """Watches no match."""

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None: ...

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None: ...


def trial(played: Sequence[Played]) -> Trial:
    """What these matches say together."""
    ones = [match.one for match in played]
    hands = sum(one.hands for one in ones)
    truth = _mean([match.all for match in played], lambda one: one.raw.value)
    shift = mean_a_hand([[-one.luck] * one.hands for one in ones])
    assert shift.error is not None
    return Trial(
        matches=len(ones),
        hands=hands,
        truth=truth,
        raw=_mean(ones, lambda one: one.raw.value),
        adjusted=_mean(ones, lambda one: one.adjusted.value),
        shift=shift.value,
        shift_error=shift.error,
        ratio=variance(one.raw.value for one in ones)
        / variance(one.adjusted.value for one in ones),
        covered=(
            fmean(_holds(one.raw, truth) for one in ones),
            fmean(_holds(one.adjusted, truth) for one in ones),
        ),
    )


def _mean(ones: Sequence[PlayerLuck], value: Callable[[PlayerLuck], float]) -> float:
    """Over all hands of all matches."""
    return sum(value(one) * one.hands for one in ones) / sum(one.hands for one in ones)


def _holds(estimate: Estimate, truth: float) -> bool:
    assert estimate.error is not None
    return abs(estimate.value - truth) <= estimate.error


# -- all of it


def report(leagues: int, *, seed: int) -> str:
    """The constants as measured, what explains how much, and the trials of so many matches."""
    wanted = [(4, Format.BOARDS), (4, Format.CLASSIC), (3, Format.BOARDS), (2, Format.BOARDS)]
    tried = [pairing for pairing in PAIRINGS if pairing[0] != pairing[1]]
    parts = [range(start, min(start + PART, leagues)) for start in range(0, leagues, PART)]
    # A process that has used gRPC must not fork, and threads there are too.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        measured = [
            pool.submit(measure, players, decks=CONSTANTS_DECKS, beta_decks=BETA_DECKS)
            for players in CONSTANTS
        ]
        futures = {
            (players, kind, pairing): [
                pool.submit(matches_of, players, pairing, kind=kind, numbers=numbers, seed=seed)
                for numbers in parts
            ]
            for players, kind in wanted
            for pairing in tried
        }
        constants = [future.result() for future in measured]
        trials = {
            key: trial([match for part in of_key for match in part.result()])
            for key, of_key in futures.items()
        }
    return "\n\n".join(
        [
            f"Reference `{REFERENCE_DIGEST[:16]}…`, decks of the seed `{CONSTANTS_SEED}`.",
            _constants_table(constants),
            _correlations_table(constants),
            f"Decks of the seed `luck {seed}`.",
            _trials_table(trials),
        ]
    )


def _constants_table(measured: Sequence[Measured]) -> str:
    lines = [
        "| seats | decks | E c by place, from the hakem's side | β | in the code: E c | β |",
        "|---|---|---|---|---|---|",
    ]
    for one in measured:
        its = CONSTANTS[one.players]
        found = ", ".join(
            f"{value:+.4f} ± {error:.4f}"
            for value, error in zip(one.expected, one.errors, strict=True)
        )
        used = ", ".join(f"{value:+.4f}" for value in its.expected)
        lines.append(
            f"| {one.players} | {one.decks:,} | {found} | {one.beta:.3f} | {used} | {its.beta} |"
        )
    return "\n".join(lines)


def _correlations_table(measured: Sequence[Measured]) -> str:
    references = list(measured[0].milliseconds)
    lines = [
        f"| seats | who played | {' | '.join(f'ρ with {name}' for name in references)} |",
        f"|---|---|{'---|' * len(references)}",
    ]
    for one in measured:
        for pairing, found in one.correlations.items():
            shown = " | ".join(f"{found[name]:.2f}" for name in references)
            lines.append(f"| {one.players} | {pairing} | {shown} |")
        shown = " | ".join(f"{one.milliseconds[name]:.1f}" for name in references)
        lines.append(f"| {one.players} | *ms of CPU a hand* | {shown} |")
    return "\n".join(lines)


def _trials_table(trials: Mapping[tuple[int, Format, Pairing], Trial]) -> str:
    lines = [
        (
            "| seats | format | the first of | hands | all rooms | raw | adjusted "
            "| adjusted − raw | variance ÷ | bars cover: raw | adjusted |"
        ),
        f"|{'---|' * 11}",
    ]
    for (players, kind, pairing), one in trials.items():
        raw, adjusted = one.covered
        lines.append(
            f"| {players} | {kind.value} | {' – '.join(pairing)} | {one.hands:,} "
            f"| {one.truth:+.3f} | {one.raw:+.3f} | {one.adjusted:+.3f} "
            f"| {one.shift:+.4f} ± {one.shift_error:.4f} | {one.ratio:.2f} "
            f"| {100 * raw:.1f} % | {100 * adjusted:.1f} % |"
        )
    return "\n".join(lines)
