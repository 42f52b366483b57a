"""All that was played, as columns of numbers: what standings are made of, for ladders of any size.

A ladder of 200,000 matches is read, filtered, counted and grouped here in a fraction of a second;
one match at a time is the business of `evidence`, whose rules these are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from arena.ladder.facts import Bot, Result
from arena.ladder.ratings.comparison import Evidence, grouped
from arena.ladder.ratings.evidence import family, match_score
from arena.ladder.settings import Settings

Whole = NDArray[np.int64]

FIRST, SECOND, WON, DRAWN, LOST, DIFFERENCE = range(2, 8)
"""Columns of a row of `arena.ladder.store`'s pairs, after the round and the place in it."""


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Matches, a row each. `lineups` has its bots, as indices into the ladder's, in the order they
    were entered; the other arrays have a column for each pair of them, in the order of
    `itertools.combinations`: boards won, drawn and lost by the first of the pair, and the
    difference of all boards.
    """

    lineups: Whole
    won: Whole
    drawn: Whole
    lost: Whole
    difference: Whole

    @classmethod
    def of(cls, bots: Sequence[Bot], pairs: Whole, *, sides: int) -> "Played":
        """From rows of round, place, first, second, won, drawn, lost, difference, in the order of
        rounds, places and bots, as `arena.ladder.store` has them.

        Raises ValueError for a match that has not a row for each pair of its sides, and for a bot
        that is none of these.
        """
        columns = len(list(combinations(range(sides), 2)))
        if len(pairs) % columns:
            raise ValueError(f"{len(pairs)} rows of pairs are no matches of {sides}")
        rows = pairs.reshape(-1, columns, pairs.shape[1])
        lineups = np.column_stack([rows[:, 0, FIRST], rows[:, : sides - 1, SECOND]])
        numbers = np.array([bot.number for bot in bots], np.int64)
        order = np.argsort(numbers)
        places = np.searchsorted(numbers, lineups, sorter=order)
        if len(lineups) and not np.isin(lineups, numbers).all():
            raise ValueError("a match of a bot that is not entered")
        lineups = order[places] if len(lineups) else places
        return cls(lineups, *(rows[:, :, c] for c in (WON, DRAWN, LOST, DIFFERENCE)))

    def where(self, chosen: NDArray[np.bool_]) -> "Played":
        """Some of the matches."""
        return Played(
            self.lineups[chosen],
            self.won[chosen],
            self.drawn[chosen],
            self.lost[chosen],
            self.difference[chosen],
        )

    @property
    def columns(self) -> list[tuple[int, int]]:
        """The sides of each pair."""
        return list(combinations(range(self.lineups.shape[1]), 2))


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What each bot, by index, has of matches and of boards, against each other entrant."""

    matches: Whole
    matches_won: Whole
    matches_drawn: Whole
    matches_lost: Whole
    won: Whole
    drawn: Whole
    lost: Whole
    difference: Whole


def pairs_of(results: Sequence[Result]) -> Whole:
    """Results as the rows that the store has of them, each match at a place of its own."""
    rows = [
        (result.round, place, p.first, p.second, p.won, p.drawn, p.lost, p.difference)
        for place, result in enumerate(results, start=1)
        for p in result.pairs()
    ]
    return np.array(rows, np.int64).reshape(-1, 8)


def are_rated(bots: Sequence[Bot], played: Played) -> NDArray[np.bool_]:
    """Of each match, whether it moves ratings; as `evidence.is_rated`."""
    rated = np.array([bot.rated for bot in bots], np.bool_)
    families = np.unique([family(bot) for bot in bots], return_inverse=True)[1]
    chosen = np.ones(len(played.lineups), np.bool_)
    if len(chosen):
        chosen &= np.all(rated[played.lineups], axis=1)
        for first, second in played.columns:
            one, other = played.lineups[:, first], played.lineups[:, second]
            chosen &= families[one] != families[other]
    return chosen


def evidence(
    bots: Sequence[Bot], played: Played, *, settings: Settings, among: Sequence[str]
) -> Evidence:
    """Rated matches by kind, about the bots of those names, which have to hold all that played."""
    index = {name: place for place, name in enumerate(among)}
    players = np.array([index.get(bot.name, -1) for bot in bots], np.int64)
    # The differences that there are, few among many matches, and what each is worth.
    differences, which = np.unique(played.difference, return_inverse=True)
    worth = np.array([match_score(int(d), settings=settings) for d in differences], np.float64)
    scores = worth[which].reshape(played.difference.shape)
    return grouped(tuple(among), players[played.lineups], scores=scores)


def tally(played: Played, *, bots: int) -> Tally:
    """Count what each bot has."""
    sign = np.sign(played.difference)
    return Tally(
        matches=np.bincount(played.lineups.ravel(), minlength=bots),
        matches_won=_each(played, sign > 0, sign < 0, bots=bots),
        matches_drawn=_each(played, sign == 0, sign == 0, bots=bots),
        matches_lost=_each(played, sign < 0, sign > 0, bots=bots),
        won=_each(played, played.won, played.lost, bots=bots),
        drawn=_each(played, played.drawn, played.drawn, bots=bots),
        lost=_each(played, played.lost, played.won, bots=bots),
        difference=_each(played, played.difference, -played.difference, bots=bots),
    )


def _each(
    played: Played,
    firsts: NDArray[np.int64] | NDArray[np.bool_],
    seconds: NDArray[np.int64] | NDArray[np.bool_],
    *,
    bots: int,
) -> Whole:
    """The sum for each bot of what the first and the second of each pair have."""
    total = np.zeros(bots, np.int64)
    for column, (first, second) in enumerate(played.columns):
        np.add.at(total, played.lineups[:, first], firsts[:, column])
        np.add.at(total, played.lineups[:, second], seconds[:, column])
    return total
