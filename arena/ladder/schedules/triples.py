"""Designs for matches of three: triples in which every pair meets equally often, or nearly so.

Players are indices, 0 to n − 1. There is no chance in it. This module does not know rounds.
"""

from itertools import combinations
from typing import Final

from arena.ladder.schedules.meetings import Meeting

MOST_FOR_ALL_TRIPLES: Final = 8
"""Up to here a field that no Steiner system fits plays all triples, at most 56. The near-design
would leave out up to half of its pairs (n = 4: 3 of 6; 8: 7 of 28); from 10 players on it leaves
out a fifth at most (9 of 45), and all triples would be 120 matches and more."""


def triple_system(players: int, *, turn: int = 0) -> tuple[Meeting, ...]:
    """The meetings of one cycle of matches of three; `turn` counts cycles from 0.

    * n = 1 or 3 (mod 6): a Steiner triple system, n(n − 1)/6 triples in which every pair meets
      exactly once. Players change places in it from turn to turn, so that a pair does not meet the
      same third every time.
    * Otherwise, up to `MOST_FOR_ALL_TRIPLES`: all triples; every pair meets n − 2 times.
    * Otherwise {i, j, k} with i + j + k = turn (mod n): no pair meets twice, about n − 1 of the
      n(n − 1)/2 pairs do not meet, and in n cycles each of them meets n − 2 times.

    Raises ValueError for fewer than three players.
    """
    if players < 3:
        raise ValueError(f"matches of three need at least 3 players, not {players}")
    if players % 6 in (1, 3):
        return tuple(
            tuple(sorted((player + turn) % players for player in triple))
            for triple in steiner_system(players)
        )
    triples = combinations(range(players), 3)
    if players <= MOST_FOR_ALL_TRIPLES:
        return tuple(triples)
    return tuple(triple for triple in triples if sum(triple) % players == turn % players)


def steiner_system(players: int) -> tuple[Meeting, ...]:
    """Triples in which every pair of n players stands exactly once: by Bose for n = 3 (mod 6), by
    Skolem for n = 1 (mod 6); there are none for another n.

    Players are pairs (a, l), a in a commutative quasigroup and l = 0, 1, 2, numbered a + l·order;
    Skolem has one more, ∞, the last. {a, b} at one level meets a∘b at the next:

        Bose:    order 2t + 1,  n = 6t + 3
        Skolem:  order 2t,      n = 6t + 1

    With s = a + b (mod order), a∘b is s/2 for an even s and (s + order)/2, rounded down, for an odd
    one. Elements with a∘a = a, which are all of Bose's and half of Skolem's, meet themselves at the
    other levels; the other half of Skolem's meet ∞.

    Raises ValueError for another n, or one below 3.
    """
    if players < 3 or players % 6 not in (1, 3):
        raise ValueError(f"no Steiner triple system has {players} players")
    order, infinity = players // 3, players - 1

    def product(a: int, b: int) -> int:
        total = (a + b) % order
        return (total + total % 2 * order) // 2

    def at(element: int, level: int) -> int:
        return element + level % 3 * order

    elements, levels = range(order), range(3)
    themselves = [tuple(at(a, level) for level in levels) for a in elements if product(a, a) == a]
    with_infinity = [
        (infinity, at(a, level), at(product(a, a), level + 1))
        for a in elements
        if product(a, a) != a
        for level in levels
    ]
    across = [
        (at(a, level), at(b, level), at(product(a, b), level + 1))
        for a, b in combinations(elements, 2)
        for level in levels
    ]
    return tuple(tuple(sorted(triple)) for triple in [*themselves, *with_infinity, *across])
