"""What the record of a match says to a ladder: its boards, or why it counts for nothing."""

from dataclasses import dataclass
from typing import Final

from arena.ladder.facts import Boards
from arena.ladder.matches.scores import score
from hokm.outcome import Ending, Outcome
from hokm.records import MatchRecord

ATTEMPTS: Final = 3
"""A match that a fault of the host voids is played again under its id with other boards, at most
twice: once is chance, a fault that comes back will come again.
"""


@dataclass(frozen=True, slots=True)
class Voided:
    """The match moves no rating. `at_fault` are the entrants that did not start, by index."""

    ending: Ending
    cause: str
    at_fault: tuple[int, ...] = ()

    def is_tried_again(self, *, attempt: int) -> bool:
        """Whether another attempt follows the one, counted from 1, that came to this."""
        return self.ending is Ending.HOST_FAULT and attempt < ATTEMPTS

    def __str__(self) -> str:
        return f"{self.ending.value}: {self.cause}" if self.cause else self.ending.value


def verdict(record: MatchRecord) -> Boards | Voided:
    """Judge a match in which each entrant is a side of its own.

    What a bot answers for counts, as the worst result of its board; so a match that is not void has
    points on every board.
    """
    found = score(record)
    if found.spoilt is not None:
        return _voided(record, found.spoilt)
    return tuple(zip(*found.gained, strict=True))


def forfeits(record: MatchRecord) -> tuple[int, ...]:
    """How many games ended by the fault of each entrant, in their order."""
    counts = [0] * len(record.entrants)
    for room in record.rooms:
        for game in room.games:
            if game.outcome is not None and game.outcome.at_fault is not None:
                counts[room.seating_of(game)[game.outcome.at_fault]] += 1
    return tuple(counts)


def _voided(record: MatchRecord, ending: Ending) -> Voided:
    found: list[tuple[tuple[int, ...], Outcome]] = [
        (room.seating_of(game), game.outcome)
        for room in record.rooms
        for game in room.games
        if game.outcome is not None and game.outcome.ending is ending
    ]
    at_fault = {
        seating[outcome.at_fault] for seating, outcome in found if outcome.at_fault is not None
    }
    causes = [outcome.cause for _, outcome in found if outcome.cause]
    return Voided(ending, causes[0] if causes else "", tuple(sorted(at_fault)))
