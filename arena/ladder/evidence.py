"""Which results move ratings, and the Elo they lead to, round by round.

A match is rated if all its bots are; a match of three is three comparisons, one a pair. This module
fits nothing and keeps nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

from arena.ladder.comparison import RatedMatch, free_for_all
from arena.ladder.elo import EloRating, after_round
from arena.ladder.facts import Bot, Result


def rated_results(bots: Iterable[Bot], results: Iterable[Result]) -> list[Result]:
    """The results that move ratings."""
    rated = {bot.number for bot in bots if bot.rated}
    return [result for result in results if rated.issuperset(result.entrants)]


def rated_matches(bots: Sequence[Bot], results: Iterable[Result]) -> list[RatedMatch]:
    """The same as evidence, by name of bot."""
    names = {bot.number: bot.name for bot in bots}
    return [
        free_for_all(
            {names[bot]: rank for bot, rank in zip(result.entrants, result.ranks, strict=True)}
        )
        for result in rated_results(bots, results)
    ]


def elo_after(
    bots: Sequence[Bot], results: Iterable[Result], *, before: Mapping[int, EloRating]
) -> dict[int, EloRating]:
    """The Elo after one round, of those who played a rated match in it, by number of bot."""
    matches = rated_matches(bots, results)
    played = {name for match in matches for c in match for name in (c.first, c.second)}
    start = {bot.name: before[bot.number] for bot in bots if bot.number in before}
    after = after_round(start, matches)
    return {bot.number: after[bot.name] for bot in bots if bot.name in played}


def elo_of(
    bots: Sequence[Bot], results: Iterable[Result], *, rounds_closed: int
) -> dict[int, EloRating]:
    """The Elo that follows from the results of rounds 1 to `rounds_closed`, to the last bit."""
    by_round: dict[int, list[Result]] = {}
    for result in results:
        by_round.setdefault(result.round, []).append(result)
    ratings: dict[int, EloRating] = {}
    for number in range(1, rounds_closed + 1):
        ratings |= elo_after(bots, by_round.get(number, []), before=ratings)
    return ratings
