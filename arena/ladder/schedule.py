"""The schedule: who meets whom in which round, for matches of two and of three.

Players are indices, 0 to n − 1; their names, and what a match is, are the caller's. There is no
chance in it: the same number of players and the same cycle always give the same rounds.

A cycle is balanced: every pair of players meets equally often in it, or nearly so. Matches of two
are a round robin by Berger's rule, as FIDE tabulates it; matches of three are a triple system.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

Meeting: TypeAlias = tuple[int, ...]
"""The players of a match, by index. The first is named first: it has seat 0 in room 1."""

MOST_FOR_ALL_TRIPLES: Final = 8
"""Up to here a field that no Steiner system fits plays all triples, at most 56. The near-design
would leave out up to half of its pairs (n = 4: 3 of 6; 8: 7 of 28); from 10 players on it leaves
out a fifth at most (9 of 45), and all triples would be 120 matches and more."""


@dataclass(frozen=True, slots=True)
class Round:
    """Meetings in which nobody plays twice. `number` counts from 1 and on through all cycles."""

    number: int
    meetings: tuple[Meeting, ...]


def cycle_rounds(
    players: int, *, sides: int = 2, cycle: int = 1, first_round: int = 1
) -> tuple[Round, ...]:
    """Cycle `cycle` (from 1) of matches between `sides` players.

    In every second cycle the players of each meeting are named in the opposite order, so that home
    and away change. Rounds are numbered from `first_round` on, which does not follow from the
    cycle: the field may have grown since the last.

    Raises ValueError for fewer players than a match has sides, or a cycle before the first.

    >>> [r.number for r in cycle_rounds(4, cycle=2, first_round=4)]
    [4, 5, 6]
    """
    if cycle < 1:
        raise ValueError(f"cycles are numbered from 1, not {cycle}")
    order = 1 if cycle % 2 else -1
    return tuple(
        Round(number, tuple(meeting[::order] for meeting in meetings))
        for number, meetings in enumerate(_CYCLES[sides](players, cycle - 1), start=first_round)
    )


# -- matches of two


def round_robin(players: int) -> tuple[tuple[Meeting, ...], ...]:
    """The rounds of one cycle by Berger's rule: n − 1 for an even field of n, n for an odd one.

    Every pair meets once and nobody plays twice in a round; of a pair, the one at home is first.
    With an odd number one player sits out each round and all are at home equally often; with an
    even number the counts of home matches differ by at most one.

    Let m be n or n + 1, whichever is even (the last player then being a dummy, whose opponent sits
    out). Round r = 0 … m − 2 turns the ring of players 1 … m − 1 by o = r·m/2:

        ring[k] = (o + k) mod (m − 1) + 1

    and pairs ring[0] with m, the other way round where r is odd, and ring[k] with ring[m − 1 − k]
    for k = 1 … m/2 − 1. These are the Berger tables of FIDE's handbook.

    Raises ValueError for fewer than two players.
    """
    if players < 2:
        raise ValueError(f"a round robin needs at least 2 players, not {players}")
    even = players + players % 2
    return tuple(
        tuple(pair for pair in _full_round(number, even) if max(pair) < players)
        for number in range(even - 1)
    )


def _full_round(number: int, even: int) -> list[Meeting]:
    """Round `number` (from 0) of an even field, its dummy included; here players count from 0."""
    last, half = even - 1, even // 2
    ring = [(number * half + k) % last for k in range(last)]
    pivot = (ring[0], last)
    return [
        pivot[::-1] if number % 2 else pivot,
        *((ring[k], ring[last - k]) for k in range(1, half)),
    ]


# -- matches of three


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


def in_rounds(meetings: Iterable[Meeting]) -> tuple[tuple[Meeting, ...], ...]:
    """The same meetings in rounds in which nobody plays twice: each goes into the first round that
    has none of its players.

    It takes up to twice as many rounds as it must (n = 100: 67, at least 49), which costs nothing:
    rounds are played one into the other.
    """
    rounds: list[list[Meeting]] = []
    playing: list[set[int]] = []
    for meeting in meetings:
        free = (number for number, busy in enumerate(playing) if busy.isdisjoint(meeting))
        number = next(free, len(rounds))
        if number == len(rounds):
            rounds.append([])
            playing.append(set())
        rounds[number].append(meeting)
        playing[number].update(meeting)
    return tuple(map(tuple, rounds))


_CYCLES: Final[dict[int, Callable[[int, int], Sequence[tuple[Meeting, ...]]]]] = {
    2: lambda players, turn: round_robin(players),
    3: lambda players, turn: in_rounds(triple_system(players, turn=turn)),
}
"""By the sides of a match: the rounds of one cycle, from the number of players and the turn."""
