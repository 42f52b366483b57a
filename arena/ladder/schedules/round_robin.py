"""Everybody meets everybody: cycles of a round robin, for matches of two and of three.

Players are indices, 0 to n − 1. There is no chance in it: the same number of players and the same
cycle always give the same rounds.

A cycle is balanced: every pair of players meets equally often in it, or nearly so. Matches of two
are a round robin by Berger's rule, as FIDE tabulates it; matches of three are a triple system.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from arena.ladder.schedules.meetings import Meeting, Round, in_rounds
from arena.ladder.schedules.state import Place, State, checked_field
from arena.ladder.schedules.triples import triple_system
from arena.wording import counted


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """So many cycles, in each of which all that are active then meet each other.

    Which cycle of the ladder it is decides who is at home, so that home and away change also from
    event to event.
    """

    cycles: int = 1

    def __post_init__(self) -> None:
        if self.cycles < 1:
            raise ValueError(f"a round robin has 1 cycle or more, not {self.cycles}")

    def __str__(self) -> str:
        return counted(self.cycles, "cycle")

    @property
    def uses_knowledge(self) -> bool:
        """It does not."""
        return False

    def settled(self, state: State) -> Self:
        """The same: nothing is left open."""
        checked_field("a round robin", state)
        return self

    def ranking(self, state: State) -> tuple[Place, ...]:
        """None but the ladder's."""
        return ()

    def next_rounds(self, state: State) -> tuple[Round, ...]:
        """The next cycle."""
        if len(state.stages) >= self.cycles or len(state.field) < state.sides:
            return ()
        rounds = cycle_rounds(len(state.field), sides=state.sides, cycle=state.stage)
        return state.rounds(
            *(
                tuple(tuple(state.field[place] for place in meeting) for meeting in one.meetings)
                for one in rounds
            )
        )


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


_CYCLES: Final[dict[int, Callable[[int, int], Sequence[tuple[Meeting, ...]]]]] = {
    2: lambda players, turn: round_robin(players),
    3: lambda players, turn: in_rounds(triple_system(players, turn=turn)),
}
"""By the sides of a match: the rounds of one cycle, from the number of players and the turn."""
