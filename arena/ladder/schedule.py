"""The round robin: who meets whom in which round, by Berger's rule as FIDE tabulates it.

Players are indices, 0 to n − 1; their names, and what a match is, are the caller's. There is no
chance in it: the same number of players and the same cycle always give the same rounds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players, by index. `home` is named first: it has seats 0 and 2 in room 1."""

    home: int
    away: int

    def reversed(self) -> Pairing:
        return Pairing(self.away, self.home)


@dataclass(frozen=True, slots=True)
class Round:
    """Pairings in which nobody plays twice. `number` counts from 1 and on through all cycles."""

    number: int
    pairings: tuple[Pairing, ...]


def cycle_rounds(players: int, *, cycle: int = 1, first_round: int = 1) -> tuple[Round, ...]:
    """Cycle `cycle` (from 1): every pair once, with home and away changed in every second cycle.

    Its rounds are numbered from `first_round` on, which does not follow from the cycle: the field
    may have grown since the last.

    Raises ValueError for fewer than two players, or a cycle before the first.

    >>> [r.number for r in cycle_rounds(4, cycle=2, first_round=4)]
    [4, 5, 6]
    """
    if cycle < 1:
        raise ValueError(f"cycles are numbered from 1, not {cycle}")
    is_return = cycle % 2 == 0
    return tuple(
        Round(number, tuple(p.reversed() for p in pairings) if is_return else pairings)
        for number, pairings in enumerate(round_robin(players), start=first_round)
    )


def round_robin(players: int) -> tuple[tuple[Pairing, ...], ...]:
    """The rounds of one cycle by Berger's rule: n − 1 for an even field of n, n for an odd one.

    Every pair meets once and nobody plays twice in a round. With an odd number one player sits out
    each round and all are at home equally often; with an even number the counts of home matches
    differ by at most one.

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
        tuple(p for p in _full_round(number, even) if max(p.home, p.away) < players)
        for number in range(even - 1)
    )


def _full_round(number: int, even: int) -> list[Pairing]:
    """Round `number` (from 0) of an even field, its dummy included; here players count from 0."""
    last, half = even - 1, even // 2
    ring = [(number * half + k) % last for k in range(last)]
    pivot = Pairing(ring[0], last)
    return [
        pivot.reversed() if number % 2 else pivot,
        *(Pairing(ring[k], ring[last - k]) for k in range(1, half)),
    ]
