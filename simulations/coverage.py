"""How often the 95 % bars of the ratings cover the truth, on leagues of made-up bots.

A league has 10 to 20 bots, whose ratings have a standard deviation of 150 to 200 Elo. They meet at
random, 18 to 180 matches each. A match is made up so that its expected score is that of the
ratings, while its spread, its draws and what its comparisons have in common are those of the
format. What the standings would say is then compared with the truth.

The truth is what a fit estimates: the ratings that the fit without a prior gives where every score
is its expectation. Where two meet, they are those that the league was made with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from arena.ladder.ratings.bradley_terry import NATS_PER_POINT, fit
from arena.ladder.ratings.comparison import grouped
from arena.ladder.ratings.fitted import SANDWICH_MATCHES, Array, Errors, Fit
from arena.ladder.ratings.statistics import BOARD_LIMIT, Z95, vp_score

LEAGUES = 1000
PAGE = "statistics.md"


class Format(Protocol):
    """A kind of match, made up. `strengths` are in nats, a row for each match and a column for each
    side; scores have a column for each pair of sides."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    @property
    def sides(self) -> int:
        """How many sides a match has."""

    def play(self, rng: np.random.Generator, strengths: Array) -> Array:
        """The scores of one match for each row."""

    def expected(self, strengths: Array) -> Array:
        """What those scores are in the mean."""


@dataclass(frozen=True, slots=True)
class Boards:
    """Matches of 16 boards whose score is their sign, or victory points."""

    name: str
    is_vp: bool = False
    sides: int = 2

    def play(self, rng: np.random.Generator, strengths: Array) -> Array:
        """A score for each match and each pair of sides, drawn from `rng`."""
        # All bots of a league are of one kind.
        tilted = _tilted_matches(int(rng.integers(len(EVEN_BOARDS))), self.is_vp)
        expected = self.expected(strengths)[:, 0]
        # Between two tilts whose matches are worth less and more, by chance, so that the mean fits.
        upper = np.clip(np.searchsorted(tilted.worth, expected), 1, len(tilted.worth) - 1)
        low, high = tilted.worth[upper - 1], tilted.worth[upper]
        tilt = upper - (rng.random(len(upper)) > (expected - low) / (high - low))
        outcome = (tilted.cumulated[tilt] < rng.random((len(tilt), 1))).sum(axis=1)
        scores: Array = tilted.scores[np.minimum(outcome, len(tilted.scores) - 1), None]
        return scores

    def expected(self, strengths: Array) -> Array:
        """The same in the mean."""
        return _expected_of(strengths)


EVEN_BOARDS = (
    (0, 0, 0, 0.0396, 0.0012, 0.7701, 0.0283, 0.1591, 0.0006, 0.0011, 0),
    (0, 0.0007, 0.0002, 0.0651, 0.0157, 0.6950, 0.0305, 0.1891, 0.0023, 0.0014, 0),
)
"""How often a board ends with a difference of −5 to 5 points, as seen between two heuristic bots,
and between one that searches and a heuristic one. Mirrored they are the boards of equals, and
weighted with e^(tD) those of others."""

BOARDS = 16


@dataclass(frozen=True, slots=True)
class TiltedMatches:
    """Matches at growing tilts: [tilt, difference] how likely a difference is or a smaller one, the
    score of each difference, and what a match is worth in the mean at each tilt."""

    cumulated: Array
    scores: Array
    worth: Array


@cache
def _tilted_matches(kind: int, is_vp: bool) -> TiltedMatches:
    seen = np.array(EVEN_BOARDS[kind])
    even = (seen + seen[::-1]) / (2 * seen.sum())
    points = np.arange(-BOARD_LIMIT, BOARD_LIMIT + 1)
    matches = []
    for tilt in np.linspace(-4.0, 4.0, 81):
        board = even * np.exp(tilt * points)
        match = np.ones(1)
        for _ in range(BOARDS):
            match = np.convolve(match, board / board.sum())
        matches.append(match)
    differences = range(-BOARDS * BOARD_LIMIT, BOARDS * BOARD_LIMIT + 1)
    scores = np.array(
        [vp_score(d, boards=BOARDS) if is_vp else 0.5 + 0.5 * np.sign(d) for d in differences]
    )
    chances = np.array(matches)
    return TiltedMatches(np.cumsum(chances, axis=1), scores, chances @ scores)


@dataclass(frozen=True, slots=True)
class MirroredRaces:
    """Pairs of races on the same deals with sides swapped, worth 0, ½ or 1.

    Luck that wins one race loses the other: between equals the two are correlated by −½, so that
    the pair tells as much as four races would. (Boards of the arena, the same way, tell 2.0 to 2.2
    times as much a hand.)
    """

    name: str = "mirrored races"
    sides: int = 2

    def play(self, rng: np.random.Generator, strengths: Array) -> Array:
        """A score for each match and each pair of sides, drawn from `rng`."""
        p = self.expected(strengths)
        in_common = -0.5 * np.minimum(p, 1.0 - p) ** 2
        both, none = p**2 + in_common, (1.0 - p) ** 2 + in_common
        chance = rng.random(p.shape)
        return np.where(chance < both, 1.0, np.where(chance < 1.0 - none, 0.5, 0.0))

    def expected(self, strengths: Array) -> Array:
        """The same in the mean."""
        return _expected_of(strengths)


@dataclass(frozen=True, slots=True)
class GamesOfThree:
    """Games of three, ranked by strength plus a chance of each bot's own (Gumbel's, with which the
    order is Plackett's and Luce's), coarsely, so that some have the same rank."""

    name: str = "games of three"
    sides: int = 3

    def play(self, rng: np.random.Generator, strengths: Array) -> Array:
        """A score for each match and each pair of sides, drawn from `rng`."""
        form = strengths + rng.gumbel(size=strengths.shape)
        step = np.floor(form / TIE + rng.random((len(form), 1)))
        return np.asarray(0.5 + 0.5 * np.sign(_differences(step)))

    def expected(self, strengths: Array) -> Array:
        """The same in the mean."""
        # Coarse steps laid at random: a win where the lead is more than a chance from −TIE to TIE.
        lead = _differences(strengths)
        softplus = np.logaddexp(0.0, lead + TIE) - np.logaddexp(0.0, lead - TIE)
        return np.asarray(softplus / (2 * TIE))


TIE = 0.6
"""Nats. As coarse as this, 15 % of the pairs of equals are ties."""

FORMATS: tuple[Format, ...] = (
    Boards("16 boards, win-draw-loss"),
    Boards("16 boards, victory points", is_vp=True),
    MirroredRaces(),
    GamesOfThree(),
)


def _differences(of_sides: Array) -> Array:
    """A column for each pair of columns: the first minus the second."""
    first, second = np.array(list(combinations(range(of_sides.shape[1]), 2))).T
    return np.asarray(of_sides[:, first] - of_sides[:, second])


def _expected_of(strengths: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-_differences(strengths))))


@dataclass(frozen=True, slots=True)
class League:
    """One league: the ratings it was made with and the truth, in Elo over the mean of the field,
    and what was seen of it. `loose` takes every comparison for a match of its own."""

    matches_each: int
    made_with: Array
    truth: Array
    fitted: Fit
    loose: Fit


COLUMNS = (
    "bar covers",
    "mean bar",
    "model's bar covers",
    "pairs apart",
    "lead covers",
    "rank in interval",
    "LOS said",
    "was so",
)


def report(leagues: int, *, seed: int) -> str:
    """The table of all formats, in Markdown: all leagues, and those whose bots have fewer matches
    than the sandwich asks for."""
    lines = [
        f"{leagues:,} leagues of each kind, seed {seed}.",
        "",
        f"| | {' | '.join(COLUMNS)} |",
        f"|---|{'---|' * len(COLUMNS)}",
    ]
    for kind in FORMATS:
        played = list(made_up(kind, leagues, seed=seed))
        few = [one for one in played if one.matches_each < SANDWICH_MATCHES]
        lines.append(_line(kind.name, coverage(played)))
        if few:
            lines.append(
                _line(f"– {len(few)} with under {SANDWICH_MATCHES} matches", coverage(few))
            )
    return "\n".join(lines)


def _line(name: str, seen: Coverage) -> str:
    shares = [seen.model, seen.loose, seen.leads, seen.ranks, seen.los_said, seen.los_was]
    model, loose, leads, ranks, said, was = (f"{100 * share:.1f} %" for share in shares)
    bars = f"{100 * seen.bars:.1f} ± {100 * seen.error:.1f} %"
    cells = [name, bars, f"±{seen.width:.0f}", model, loose, leads, ranks, said, was]
    return f"| {' | '.join(cells)} |"


def made_up(kind: Format, count: int, *, seed: int) -> Iterator[League]:
    """So many leagues of one format; the same for the same seed."""
    for child in np.random.SeedSequence(seed).spawn(count):
        yield league(kind, np.random.default_rng(child))


def league(kind: Format, rng: np.random.Generator) -> League:
    """A league of one format."""
    bots = int(rng.integers(10, 21))
    strengths = NATS_PER_POINT * rng.normal(0.0, rng.uniform(150.0, 200.0), bots)
    matches_each = int(rng.integers(18, 181))
    names = [f"bot{i:02}" for i in range(bots)]
    lineups = _lineups(rng, bots, sides=kind.sides, matches_each=matches_each)
    scores = kind.play(rng, strengths[lineups])
    ideal = grouped(names, lineups, scores=kind.expected(strengths[lineups]))
    pairs = [lineups[:, pair] for pair in combinations(range(kind.sides), 2)]
    loose = grouped(names, np.concatenate(pairs), scores=scores.T.reshape(-1, 1))
    return League(
        matches_each=matches_each,
        made_with=(strengths - strengths.mean()) / NATS_PER_POINT,
        truth=fit(ideal, prior_draws=0).centred(0.0).ratings,
        fitted=fit(grouped(names, lineups, scores=scores)).centred(0.0),
        loose=fit(loose).centred(0.0),
    )


def _lineups(
    rng: np.random.Generator, bots: int, *, sides: int, matches_each: int
) -> NDArray[np.intp]:
    """Random rounds in which nobody plays twice, until the mean bot has its matches."""
    at_once = bots // sides
    rounds = math.ceil(matches_each * bots / (sides * at_once))
    order = np.argsort(rng.random((rounds, bots)), axis=1)
    return order[:, : sides * at_once].reshape(-1, sides)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of what was said that was so, over `leagues` leagues.

    `bars` are those of the standings, `error` the half width at 95 % of that share over leagues;
    `model` and `loose` are the same with the model's errors, and with every comparison for a match
    of its own. `width` is the mean bar in Elo. `leads` is the share of leads between two bots
    whose 95 % interval covers the truth, `ranks` that of true ranks within
    the interval; `los_said` and `los_was` are the mean likelihood of superiority over the next, and
    how often the bot is the better one.
    """

    leagues: int
    bars: float
    error: float
    model: float
    loose: float
    width: float
    leads: float
    ranks: float
    los_said: float
    los_was: float


def coverage(played: Iterable[League]) -> Coverage:
    """What the leagues show."""
    seen = np.array([_seen(one) for one in played])
    bars, *others = seen.mean(axis=0).tolist()
    error = Z95 * float(seen[:, 0].std()) / math.sqrt(len(seen))
    return Coverage(len(seen), bars, error, *others)


def _seen(one: League) -> tuple[float, ...]:
    """Means over the bots of a league."""
    fitted, truth = one.fitted, one.truth
    bars = fitted.bars()
    model = fitted.bars(errors=Errors.MODEL)
    true_rank = 1 + (truth[:, None] < truth[None, :]).sum(axis=1)
    best, worst = np.array([*fitted.rank_intervals().values()]).T
    index = {name: i for i, name in enumerate(fitted.players)}
    los = fitted.los_next()
    following = list(pairwise(fitted.ranking()))
    return (
        _within(fitted.ratings, bars.values(), truth),
        _within(fitted.ratings, model.values(), truth),
        _within(one.loose.ratings, one.loose.bars().values(), truth),
        float(np.mean([*bars.values()])),
        _leads_within(fitted, truth),
        float(np.mean((best <= true_rank) & (true_rank <= worst))),
        float(np.mean([los[a] for a, _ in following])),
        float(np.mean([truth[index[a]] > truth[index[b]] for a, b in following])),
    )


def _within(ratings: Array, bars: Iterable[float], truth: Array) -> float:
    return float(np.mean(np.abs(ratings - truth) <= np.array([*bars])))


def _leads_within(fitted: Fit, truth: Array) -> float:
    """The share of all pairs whose true lead the 95 % interval of their lead covers."""
    true = dict(zip(fitted.players, truth.tolist(), strict=True))
    leads = [
        (fitted.difference(a, b), true[a] - true[b]) for a, b in combinations(fitted.players, 2)
    ]
    return float(np.mean([abs(d.elo - lead) <= Z95 * d.standard_error for d, lead in leads]))
