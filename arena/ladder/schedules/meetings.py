"""Who meets whom, as values: meetings, and rounds of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Meeting: TypeAlias = tuple[int, ...]
"""The players of a match, by index. The first is named first: it has seat 0 in room 1."""


@dataclass(frozen=True, slots=True)
class Round:
    """Meetings in which nobody plays twice. `number` counts from 1 and on through all cycles."""

    number: int
    meetings: tuple[Meeting, ...]


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
