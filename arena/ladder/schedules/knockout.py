"""A knock-out: who loses a tie is out, until one is left.

For a day's cup, not for ratings: half of the field plays once. There is no chance in it.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, Self, TypeAlias

from arena.ladder.schedules.meetings import Meeting, Round
from arena.ladder.schedules.state import (
    Place,
    Scheduled,
    State,
    by_rating,
    checked_field,
    checked_sides,
)


class _Open(Enum):
    OPEN = "open"


OPEN = _Open.OPEN
"""Nobody has won the tie yet."""


@dataclass(frozen=True, slots=True)
class KnockOut:
    """A bracket in which the best seed meets the last, and the two best seeds meet in the final at
    the earliest; the best have byes where the field is no power of two.

    A tie is one match. If it is drawn or void, it is played again in an extra round, up to
    `replays` times, as bridge plays extra boards and chess extra games; after that the better seed
    goes on, so that the cup ends. Who is withdrawn has lost by default, and does not come back.
    With `third` those who lost in the semi-finals meet too.

    `order` are the names of all who play, the best seed first. It is settled as the event begins,
    by rating where there are any, and nobody can join after that.
    """

    third: bool = False
    replays: int = 2
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.replays < 0:
            raise ValueError(f"a tie is played again 0 times or more, not {self.replays}")
        if len(set(self.order)) < len(self.order):
            raise ValueError("each is seeded once")

    def __str__(self) -> str:
        return "a knock-out"

    @property
    def uses_knowledge(self) -> bool:
        """For the seeding, unless that is given."""
        return not self.order

    def settled(self, state: State) -> Self:
        """With its seeding. Raises ValueError for matches of three, and for a seed that is not in
        the field."""
        checked_sides("a knock-out", state)
        checked_field("a knock-out", state)
        if not self.order:
            return replace(self, order=tuple(state.names[player] for player in by_rating(state)))
        if missing := set(self.order) - {state.names[player] for player in state.field}:
            raise ValueError(f"{min(missing)} is seeded and is not an active bot")
        return self

    def next_rounds(self, state: State) -> tuple[Round, ...]:
        """The ties of the next round of the bracket, or those of them that are played again."""
        bracket = _Bracket(self, state)
        for ties in bracket.levels():
            meetings = [bracket.meeting(tie) for tie in ties if bracket.winner(tie) is OPEN]
            if meetings:
                return state.rounds(tuple(meetings))
        return ()

    def ranking(self, state: State) -> tuple[Place, ...]:
        """The players by how far they have come; those who fell in one round by their seeding."""
        bracket = _Bracket(self, state)
        levels = list(bracket.levels())
        rounds = int(math.log2(len(slots_of(len(bracket.seed)))))
        third = bracket.winner(levels[-1][1]) if len(levels[-1]) == 2 and self.third else None
        fell: list[Place] = []
        for number, ties in enumerate(levels, start=1):
            known = {place.player for place in fell}
            out = [player for tie in ties for player in bracket.fallen(tie) if player not in known]
            fell += (
                Place(player, reached="third" if player == third else _round_name(number, rounds))
                for player in sorted(
                    out, key=lambda player: (player == third, -bracket.seed[player])
                )
            )
        known = {place.player for place in fell}
        left = [player for player in bracket.seed if player not in known]
        is_won = len(levels) == rounds and bracket.winner(levels[-1][0]) is not OPEN
        reached = "winner" if is_won else "still in"
        return (*(Place(player, reached=reached) for player in left), *reversed(fell))


def _round_name(number: int, rounds: int) -> str:
    """A round of a bracket of so many, from 1."""
    last = {0: "final", 1: "semi-final", 2: "quarter-final"}
    return last.get(rounds - number, f"round {number}")


Tie: TypeAlias = tuple[int | None, int | None]
"""Two players; None where there is nobody, so that the other has a bye."""


class _Bracket:
    """The bracket of an event as far as it is known."""

    def __init__(self, cup: KnockOut, state: State) -> None:
        index = {name: player for player, name in enumerate(state.names)}
        self.seed = {index[name]: seed for seed, name in enumerate(cup.order)}
        self._cup = cup
        self._matches: dict[frozenset[int], list[tuple[int, Scheduled]]] = defaultdict(list)
        # The first answer that each was no longer there for. Nobody comes back into a cup.
        self._gone_at = dict.fromkeys(self.seed, math.inf)
        for number, stage in enumerate(state.stages):
            for match in stage.matches:
                self._matches[frozenset(match.meeting)].append((number, match))
                for player in match.absent:
                    self._gone_at[player] = min(self._gone_at[player], number + 1)
        for number, field in enumerate([*(stage.field for stage in state.stages), state.field]):
            for player in self.seed.keys() - set(field):
                self._gone_at[player] = min(self._gone_at[player], number)

    def levels(self) -> Iterator[tuple[Tie, ...]]:
        """The ties of each round; those of the last may be open. That for the third place comes
        with the final, after it."""
        players = list(self.seed)
        slots = [players[s] if s < len(players) else None for s in slots_of(len(players))]
        losers: list[int | None] = []
        while len(slots) > 1:
            ties: list[Tie] = list(zip(slots[::2], slots[1::2], strict=True))
            final = len(ties) == 1
            yield (*ties, (losers[0], losers[1])) if final and losers else tuple(ties)
            winners = [self.winner(tie) for tie in ties]
            if self._cup.third and len(ties) == 2:
                losers = [
                    first if w == second else second
                    for w, (first, second) in zip(winners, ties, strict=True)
                ]
            slots = [winner for winner in winners if winner is not OPEN]
            if len(slots) < len(ties):
                return

    def winner(self, tie: Tie) -> int | Literal[_Open.OPEN] | None:
        """Who goes on: nobody if both have left."""
        first, second = tie
        if first is None or second is None:
            return second if first is None else first
        matches = self._matches[frozenset((first, second))]
        for _, match in matches:
            if match.points is not None and match.points[0] != match.points[1]:
                return match.meeting[match.points[1] > match.points[0]]
        gone = [self._gone_at[player] for player in (first, second)]
        if len(matches) > self._cup.replays:
            decided_at = matches[-1][0] + 1
            is_there = [at > decided_at for at in gone]
            if is_there[0] == is_there[1]:
                return min(first, second, key=self.seed.__getitem__)
            return first if is_there[0] else second
        if gone[0] == gone[1]:
            return OPEN if gone[0] == math.inf else None
        return first if gone[0] > gone[1] else second

    def fallen(self, tie: Tie) -> list[int]:
        """Who of a tie is out."""
        winner = self.winner(tie)
        return [p for p in tie if p is not None and winner is not OPEN and p != winner]

    def meeting(self, tie: Tie) -> Meeting:
        """The next match of a tie: the better seed is at home first, then they change."""
        players = sorted((p for p in tie if p is not None), key=self.seed.__getitem__)
        return tuple(players[:: -1 if len(self._matches[frozenset(players)]) % 2 else 1])


def slots_of(players: int) -> list[int]:
    """Seeds, from 0, in the order of the bracket: neighbours meet, then winners of neighbours.
    There are as many as the next power of two; those from `players` on are nobody.

    >>> slots_of(6)
    [0, 7, 3, 4, 1, 6, 2, 5]
    """
    slots = [0]
    while len(slots) < players:
        last = 2 * len(slots) - 1
        pairs = [(seed, last - seed) for seed in slots]
        slots = [seed for pair in pairs for seed in pair]
    return slots
