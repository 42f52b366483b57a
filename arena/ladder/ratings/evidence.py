"""Which results move ratings, what each says of its bots, and the Elo it all leads to.

A match is rated if all its bots are, and no two of them are *sisters*: bots of one owner, who could
have one lose to lift the other. The reference bots that come with the arena are nobody's sisters. A
match of two is one comparison, a match of three is three, one a pair. This module fits nothing and
keeps nothing.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from arena.ladder.facts import Bot, Result
from arena.ladder.ratings.comparison import Comparison, RatedMatch
from arena.ladder.ratings.elo import EloRating, after_round
from arena.ladder.ratings.statistics import vp_score
from arena.ladder.settings import MatchScoring, Settings

_PERSIAN: Final = str.maketrans(
    {
        **dict.fromkeys("\u064a\u0649\u06cd\u06d0", "\u06cc"),  # yeh, by whatever keyboard
        **dict.fromkeys("\u0643\u06aa", "\u06a9"),  # kaf
        **dict.fromkeys("\u0629\u06be\u06c0\u06c1\u06c2\u06c3\u06d5", "\u0647"),  # heh
        "\u0640": None,  # tatweel only makes a word longer
        # Hamza above, and vowels: names have none, but owners of older ladders may.
        **dict.fromkeys(map(chr, (*range(0x064B, 0x0656), 0x0670))),
        **{chr(zero + digit): str(digit) for zero in (0x0660, 0x06F0) for digit in range(10)},
    }
)
"""Letters and digits of the Arabic script that a reader of Persian takes for the same."""


def family(bot: Bot) -> str:
    """What sisters have in common and nobody else has: the owner, or for a bot of the arena's own
    its number.
    """
    return f"bot {bot.number}" if bot.reference else f"owner {owner_folded(bot.owner)}"


def owner_folded(owner: str) -> str:
    """What is the same of two spellings of one owner: without regard to capitals, forms of letters,
    the keyboard that a Persian name was typed on, spaces and what cannot be seen. It changes from
    release to release: compare what is folded now, and nothing that was kept.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", owner).casefold())
    seen = [letter for letter in folded if unicodedata.category(letter) not in ("Cf", "Zs")]
    return "".join(seen).translate(_PERSIAN)


def are_sisters(one: Bot, other: Bot) -> bool:
    """Whether two bots are of one owner, and not the arena's own."""
    return family(one) == family(other)


def is_rated(entrants: Sequence[Bot]) -> bool:
    """Whether a match of these bots moves their ratings."""
    return all(bot.rated for bot in entrants) and not any(
        are_sisters(one, other) for one, other in combinations(entrants, 2)
    )


def match_score(difference: int, *, settings: Settings) -> float:
    """What a match is worth to whom has `difference` more of all its boards, from 0 to 1."""
    if settings.score is MatchScoring.VP:
        return vp_score(difference, boards=settings.length)
    return 0.5 + 0.5 * ((difference > 0) - (difference < 0))


def rated_matches(
    bots: Sequence[Bot], results: Sequence[Result], *, settings: Settings
) -> list[RatedMatch]:
    """The results that move ratings, as comparisons by name of bot.

    Raises ValueError for a result of a bot that is none of these.
    """
    known = {bot.number: bot for bot in bots}
    if missing := {number for result in results for number in result.entrants} - known.keys():
        raise ValueError(f"a result of bot {min(missing)}, which is not entered")
    return [
        tuple(
            Comparison(
                known[pair.first].name,
                known[pair.second].name,
                match_score(pair.difference, settings=settings),
            )
            for pair in result.pairs()
        )
        for result in results
        if is_rated([known[number] for number in result.entrants])
    ]


def elo_after(
    bots: Sequence[Bot],
    results: Sequence[Result],
    *,
    settings: Settings,
    before: Mapping[int, EloRating],
) -> dict[int, EloRating]:
    """The Elo after one round, of those who played a rated match in it, by number of bot."""
    matches = rated_matches(bots, results, settings=settings)
    played = {name for match in matches for c in match for name in (c.first, c.second)}
    start = {bot.name: before[bot.number] for bot in bots if bot.number in before}
    after = after_round(start, matches)
    return {bot.number: after[bot.name] for bot in bots if bot.name in played}


def elo_of(
    bots: Sequence[Bot], results: Iterable[Result], *, settings: Settings, rounds_closed: int
) -> dict[int, EloRating]:
    """The Elo that follows from the results of rounds 1 to `rounds_closed`, to the last bit."""
    ratings: dict[int, EloRating] = {}
    for after in elo_by_round(bots, results, settings=settings, rounds_closed=rounds_closed):
        ratings |= after
    return ratings


def elo_by_round(
    bots: Sequence[Bot], results: Iterable[Result], *, settings: Settings, rounds_closed: int
) -> Iterator[dict[int, EloRating]]:
    """The Elo after each of the rounds from 1 on, of those who played a rated match in it."""
    by_round: dict[int, list[Result]] = {}
    for result in results:
        by_round.setdefault(result.round, []).append(result)
    ratings: dict[int, EloRating] = {}
    for number in range(1, rounds_closed + 1):
        round_ = by_round.get(number, [])
        after = elo_after(bots, round_, settings=settings, before=ratings)
        ratings |= after
        yield after
