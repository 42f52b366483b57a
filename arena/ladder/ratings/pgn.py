"""Rated matches in the form in which other rating programs read results: PGN without moves.

Ordo and BayesElo take the two names and the result of each game and nothing else; every comparison
of a match becomes such a "game". That is all of a win, draw or loss; of victory points it keeps who
had more of them. This module does not know which matches are rated, nor where the text goes.
"""

from collections.abc import Iterable, Iterator

from arena.ladder.ratings.comparison import Comparison, RatedMatch


def pgn(matches: Iterable[RatedMatch]) -> Iterator[str]:
    """Yield one game for each comparison of each match, in order: for a match of three, three.

    The first player has White, which stands for nothing: a rating program is to be told that White
    has no advantage, as Ordo assumes.

    >>> from arena.ladder.ratings.comparison import one_on_one
    >>> print(*pgn([one_on_one("ada", "bob", score=0.5)]), sep="")
    [White "ada"]
    [Black "bob"]
    [Result "1/2-1/2"]
    <BLANKLINE>
    1/2-1/2
    <BLANKLINE>
    <BLANKLINE>
    """
    for match in matches:
        for comparison in match:
            result = _result(comparison)
            yield (
                f'[White "{_escaped(comparison.first)}"]\n'
                f'[Black "{_escaped(comparison.second)}"]\n'
                f'[Result "{result}"]\n\n{result}\n\n'
            )


def _result(comparison: Comparison) -> str:
    if comparison.score == 0.5:
        return "1/2-1/2"
    return "1-0" if comparison.score > 0.5 else "0-1"


def _escaped(name: str) -> str:
    """A name as PGN writes it between quotes; a tag cannot go on in another line."""
    return " ".join(name.replace("\\", "\\\\").replace('"', '\\"').split())
