"""Online Elo: ratings that move once a round, from its results and the ratings at its start.

A player's change depends only on the results of the round and the ratings before it, so the order
inside a round cannot matter, and the table can be recomputed from the record to the last bit.
Online Elo never settles (with a K of 32 a rating keeps wandering by 53 points), so K falls with the
number of matches. This module does not know which matches are rated, nor when a round closes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it brings numpy along, which a match without a rating list can do without
    from arena.ladder.ratings.comparison import RatedMatch

START_RATING = 1500.0

SCALE = 400.0
"""Points between two players of whom one scores ten times what the other does."""

PROVISIONAL_MATCHES = 30
"""Below this many rated matches a rating says little: K has only come down to 16."""


@dataclass(frozen=True, slots=True)
class EloRating:
    """A player's rating, unrounded, and the number of rated matches it rests on."""

    rating: float = START_RATING
    matches: int = 0

    @property
    def is_provisional(self) -> bool:
        """Whether it rests on so few matches that it may still be far off."""
        return self.matches < PROVISIONAL_MATCHES


def expected_score(rating: float, opponent: float) -> float:
    """E = 1/(1 + 10^((R_opponent − R)/400)), the score to be expected against an opponent.

    >>> round(expected_score(1600, 1500), 4)
    0.6401
    """
    # Written with a negative power only: 10^(+large) would overflow.
    lead = rating - opponent
    ratio = math.pow(10.0, -abs(lead) / SCALE)
    return (1.0 if lead >= 0 else ratio) / (1.0 + ratio)


def rating_difference(score: float) -> float | None:
    """The lead in Elo at which `score` is the expected one: −400 log10(1/score − 1).

    None where it is infinite or undefined: for a score that is not strictly between 0 and 1.
    """
    return -SCALE * math.log10(1.0 / score - 1.0) if 0.0 < score < 1.0 else None


def decreasing_k(matches: int) -> float:
    """K_n = max(4, 800/(n + 20)): 40 for a newcomer, 16 after 30 matches, 4 from 180 on.

    A bot does not improve while it is entered, so the floor can be low.
    """
    return max(4.0, 800.0 / (matches + 20))


def rate(
    rounds: Iterable[Iterable[RatedMatch]],
    start: Mapping[str, EloRating] | None = None,
    *,
    k_factor: Callable[[int], float] = decreasing_k,
) -> dict[str, EloRating]:
    """The ratings after `rounds`, one after the other, from `start` on; newcomers begin at 1500."""
    ratings = dict(start or {})
    for matches in rounds:
        ratings = after_round(ratings, matches, k_factor=k_factor)
    return ratings


def after_round(
    ratings: Mapping[str, EloRating],
    matches: Iterable[RatedMatch],
    *,
    k_factor: Callable[[int], float] = decreasing_k,
) -> dict[str, EloRating]:
    """The ratings after one round: R += K Σ (S − E), every E from the ratings before the round.

    Each player moves by its own K, that of the matches it had before the round; so the sum of all
    ratings is not kept. In a game of m players each comparison counts 1/(m − 1), and the whole game
    as one match. A comparison of weight w counts w times. Players new to `ratings` begin at 1500.
    """
    surprises: dict[str, list[float]] = {}
    played: dict[str, int] = {}

    def rating(player: str) -> float:
        return ratings.get(player, EloRating()).rating

    for match in matches:
        players = {name for c in match for name in (c.first, c.second)}
        for name in players:
            played[name] = played.get(name, 0) + 1
        for c in match:
            share = c.weight / (len(players) - 1)
            surprise = share * (c.score - expected_score(rating(c.first), rating(c.second)))
            surprises.setdefault(c.first, []).append(surprise)
            surprises.setdefault(c.second, []).append(-surprise)

    after = dict(ratings)
    for name, terms in surprises.items():
        before = ratings.get(name, EloRating())
        # fsum is exact, so the order of the matches does not even show in the last bit.
        change = k_factor(before.matches) * math.fsum(terms)
        after[name] = EloRating(before.rating + change, before.matches + played[name])
    return after


def displayed(
    ratings: Mapping[str, EloRating], anchor: str | None, *, at: float = START_RATING
) -> dict[str, float]:
    """The ratings to show: all shifted so that `anchor`, or without one their mean, stands `at`.

    Raises KeyError for an anchor without a rating.
    """
    if not ratings:
        return {}
    origin = (
        ratings[anchor].rating
        if anchor is not None
        else math.fsum(r.rating for r in ratings.values()) / len(ratings)
    )
    return {name: r.rating - origin + at for name, r in ratings.items()}
