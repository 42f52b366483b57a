"""Everybody against everybody: what each pair of a ladder's bots came to, and what is odd about it.

It rests on the matches that move ratings, as the fit does. A pair whose results go against the
ratings of both, |z| > 4, plays otherwise against each other than against the rest: a style that
suits, or games that are thrown. This module knows neither the store nor a terminal.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.facts import Bot
from arena.ladder.ratings.bradley_terry import fit
from arena.ladder.ratings.evidence import are_sisters
from arena.ladder.ratings.fitted import Fit, Residual
from arena.ladder.ratings.played import Played, Whole, are_rated, evidence
from arena.ladder.settings import Settings

ODD: Final = 4.0
"""A residual z beyond this is looked at (statistics, 5.4): one pair in 16,000 has it by chance."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """The matches of a bot against an `opponent`, as the bot sees them: won, drawn and lost by all
    boards together, their boards, and the points it has more on all of them. `residual` says how it
    goes with the ratings of all.
    """

    opponent: str
    matches_won: int
    matches_drawn: int
    matches_lost: int
    boards_won: int
    boards_drawn: int
    boards_lost: int
    difference: int
    residual: Residual

    @property
    def is_odd(self) -> bool:
        """Whether it goes against the ratings of both, more than chance explains."""
        return abs(self.residual.z) > ODD and _deviance(self.residual) > ODD**2

    @property
    def matches(self) -> int:
        """How many there were."""
        return self.matches_won + self.matches_drawn + self.matches_lost


@dataclass(frozen=True, slots=True)
class Standing:
    """A bot by its rank, with its rating relative to the field's mean or the anchor, and its
    encounters by the rank of the opponent. `sisters` are those of the others that have its owner:
    no match of two of them moves a rating.
    """

    rank: int
    name: str
    mle: float
    encounters: tuple[Encounter, ...]
    sisters: tuple[str, ...] = ()

    def against(self, opponent: str) -> Encounter | None:
        """Its encounter with an opponent; None if they never met."""
        return next((one for one in self.encounters if one.opponent == opponent), None)


@dataclass(frozen=True, slots=True)
class Crosstable:
    """Every rated bot that has played a rated match, best first."""

    settings: Settings
    rows: tuple[Standing, ...]

    @property
    def odd(self) -> list[tuple[str, Encounter]]:
        """The pairs that go against the ratings, the oddest first, each once: as the one sees it
        that has more than was expected.
        """
        found = [
            (row.name, one)
            for row in self.rows
            for one in row.encounters
            if one.is_odd and one.residual.z > 0
        ]
        return sorted(found, key=lambda pair: (-pair[1].residual.z, pair[0], pair[1].opponent))


def crosstable(settings: Settings, bots: Sequence[Bot], pairs: Whole) -> Crosstable:
    """The table from what was played; `pairs` is as for `Played.of`."""
    rated = _rated(settings, bots, pairs)
    fitted = _fitted(settings, bots, rated)
    if fitted is None:
        return Crosstable(settings, ())
    counts, met, z = _Counts(rated, bots=len(bots)), fitted.meetings, fitted.meetings.z
    place = {bot.name: place for place, bot in enumerate(bots)}
    index = {name: place for place, name in enumerate(fitted.players)}
    order = fitted.ranking()
    anchor = settings.anchor if settings.anchor in index else None
    ratings = (fitted.centred() if anchor is None else fitted.anchored(anchor)).table()

    def encounter(name: str, opponent: str) -> Encounter:
        i, j = place[name], place[opponent]
        k, m = index[name], index[opponent]
        return Encounter(
            opponent,
            matches_won=int(counts.matches_won[i, j]),
            matches_drawn=int(counts.matches_drawn[i, j]),
            matches_lost=int(counts.matches_won[j, i]),
            boards_won=int(counts.boards_won[i, j]),
            boards_drawn=int(counts.boards_drawn[i, j]),
            boards_lost=int(counts.boards_won[j, i]),
            difference=int(counts.difference[i, j]),
            # As `Fit.residual`, which looks at one pair at a time.
            residual=Residual(
                first=name,
                second=opponent,
                matches=int(met.matches[k, m]),
                score=float(met.scored[k, m]),
                expected=float(met.expected[k, m]),
                z=float(z[k, m]),
            ),
        )

    return Crosstable(
        settings,
        tuple(
            Standing(
                rank,
                name,
                ratings[name],
                tuple(
                    encounter(name, opponent)
                    for opponent in order
                    if met.matches[index[name], index[opponent]]
                ),
                tuple(
                    other
                    for other in order
                    if other != name and are_sisters(bots[place[name]], bots[place[other]])
                ),
            )
            for rank, name in enumerate(order, start=1)
        ),
    )


def _deviance(residual: Residual) -> float:
    """z² as the likelihood has it, 2 n KL(score ‖ expected)/φ of shares, φ being the part of the
    variance of win-or-loss games that the scores show.

    The same as z² where there are many matches. Where the result was foregone it is far less: one
    upset in four matches of which 0.03 were expected has a z of 4, and in a large ladder is nothing
    rare; its deviance is 2.
    """
    n, expected = residual.matches, residual.expected / residual.matches
    score, z = residual.score / n, residual.z
    if z == 0.0 or not 0.0 < expected < 1.0:
        return 0.0
    phi = (n * (score - expected) / z) ** 2 / (n * expected * (1.0 - expected))
    likely = sum(
        own * math.log(own / due)
        for own, due in ((score, expected), (1.0 - score, 1.0 - expected))
        if own > 0.0
    )
    return 2.0 * n * likely / phi


def residual(
    settings: Settings, bots: Sequence[Bot], pairs: Whole, *, of: tuple[str, str]
) -> Residual | None:
    """How the rated matches of two bots go with the ratings of all; None if there are none."""
    fitted = _fitted(settings, bots, _rated(settings, bots, pairs))
    if fitted is None or not {*of} <= {*fitted.players}:
        return None
    found = fitted.residual(*of)
    return found if found.matches else None


def _rated(settings: Settings, bots: Sequence[Bot], pairs: Whole) -> Played:
    played = Played.of(bots, pairs, sides=settings.sides)
    return played.where(are_rated(bots, played))


def _fitted(settings: Settings, bots: Sequence[Bot], rated: Played) -> Fit | None:
    """The fit of all that played a rated match; None without any."""
    field = [bots[place].name for place in np.unique(rated.lineups).tolist()]
    return fit(evidence(bots, rated, settings=settings, among=field)) if field else None


class _Counts:
    """What each bot has of each other, as arrays bots × bots in the bots' order."""

    def __init__(self, rated: Played, *, bots: int) -> None:
        sign = np.sign(rated.difference)
        self.matches_won = _square(rated, sign > 0, sign < 0, bots=bots)
        self.matches_drawn = _square(rated, sign == 0, sign == 0, bots=bots)
        self.boards_won = _square(rated, rated.won, rated.lost, bots=bots)
        self.boards_drawn = _square(rated, rated.drawn, rated.drawn, bots=bots)
        self.difference = _square(rated, rated.difference, -rated.difference, bots=bots)


def _square(
    rated: Played,
    firsts: Whole | NDArray[np.bool_],
    seconds: Whole | NDArray[np.bool_],
    *,
    bots: int,
) -> Whole:
    """The sums of what the first and the second of each pair have against each other."""
    total = np.zeros((bots, bots), np.int64)
    for column, (first, second) in enumerate(rated.columns):
        one, other = rated.lineups[:, first], rated.lineups[:, second]
        np.add.at(total, (one, other), firsts[:, column])
        np.add.at(total, (other, one), seconds[:, column])
    return total
