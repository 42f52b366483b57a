"""What the record of a match says to a ladder: its boards, or why it counts for nothing."""

from dataclasses import dataclass, replace

from arena.ladder.scores import score
from hokm.outcome import Ending, Outcome
from hokm.records import MatchRecord, score_of

Boards = tuple[tuple[int, int], ...]
"""Of each board, or pair of races, what the first entrant has over the second in room 1 and 2."""


@dataclass(frozen=True, slots=True)
class Voided:
    """The match moves no rating. `at_fault` are the entrants that did not start, by index."""

    ending: Ending
    cause: str
    at_fault: tuple[int, ...] = ()


def verdict(record: MatchRecord) -> Boards | Voided:
    """Judge a match of two entrants in two rooms.

    What a bot answers for counts, as the worst result of its board; so a match that is not void has
    points on every board.
    """
    spoilt = score(record).spoilt
    if spoilt is not None:
        return _voided(record, spoilt)
    return tuple(
        (_difference(record, room=0, game=game), _difference(record, room=1, game=game))
        for game in range(record.games)
    )


def _difference(record: MatchRecord, *, room: int, game: int) -> int:
    played = record.rooms[room]
    alone = replace(played, games=(played.games[game],))
    first, second = score_of(record.rules, [alone], entrants=2)
    return first - second


def _voided(record: MatchRecord, ending: Ending) -> Voided:
    found: list[tuple[tuple[int, ...], Outcome]] = [
        (room.seating_of(game.number), game.outcome)
        for room in record.rooms
        for game in room.games
        if game.outcome is not None and game.outcome.ending is ending
    ]
    at_fault = {
        seating[outcome.at_fault] for seating, outcome in found if outcome.at_fault is not None
    }
    causes = [outcome.cause for _, outcome in found if outcome.cause]
    return Voided(ending, causes[0] if causes else "", tuple(sorted(at_fault)))
