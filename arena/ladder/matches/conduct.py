"""How the entrants of a match behaved: what they were asked, the time they took, what went wrong.

It follows from the record alone. Who took a decision is found by playing its game again, since a
record keeps decisions in order and not by seat.
"""

from dataclasses import dataclass, field

from hokm.cards import Seat
from hokm.events import CardPlayed, CardsDiscarded, DeckCut, DrawChosen, TrumpDeclared
from hokm.records import GameRecord, MatchRecord, Place, ReplayError
from hokm.records.replays import SeedsByGame, dealt_again, played, seeds_by_game


@dataclass(slots=True)
class Conduct:
    """One entrant over all its seats and rooms.

    ``charged`` is what each of its decisions was charged, in seconds. ``cpu_seconds`` is what its
    processes used, their start included; None where the record does not say. ``refusals`` counts
    actions that were refused, ``faults`` the games that ended by its fault.
    """

    charged: list[float] = field(default_factory=list)
    cpu_seconds: float | None = None
    refusals: int = 0
    faults: int = 0

    @property
    def decisions(self) -> int:
        """How many decisions it took."""
        return len(self.charged)

    @property
    def mean_seconds(self) -> float | None:
        """What a decision was charged in the mean; None without any."""
        return sum(self.charged) / len(self.charged) if self.charged else None

    @property
    def longest_seconds(self) -> float | None:
        """The most that a decision was charged; None without any."""
        return max(self.charged, default=None)


def conduct(record: MatchRecord) -> tuple[Conduct, ...]:
    """The conduct of each entrant, in their order.

    Games that do not replay (a damaged record) add no decisions. What a record points to is there,
    or it would not have been read (:func:`~hokm.records.from_json`).
    """
    table = seeds_by_game(record)
    of_entrant = tuple(Conduct() for _ in record.entrants)
    for room in record.rooms:
        for game in room.games:
            seating = room.seating_of(game)
            for seat, seconds in _charged(record, game, table=table):
                of_entrant[seating[seat]].charged.append(seconds)
            for refusal in game.refusals:
                of_entrant[seating[refusal.seat]].refusals += 1
            if game.outcome is not None and game.outcome.at_fault is not None:
                of_entrant[seating[game.outcome.at_fault]].faults += 1
    for one, used in zip(of_entrant, cpu_seconds(record), strict=True):
        one.cpu_seconds = used
    return of_entrant


def cpu_seconds(record: MatchRecord) -> tuple[float | None, ...]:
    """What the processes of each entrant used, their start included, in their order; None where the
    record does not say.
    """
    seatings = {room.number: room.seating for room in record.rooms}
    used: list[float | None] = [None] * len(record.entrants)
    for process in record.circumstances.processes:
        entrant = seatings[process.room][process.seat]
        if process.cpu_seconds is not None:
            used[entrant] = (used[entrant] or 0.0) + process.cpu_seconds
    return tuple(used)


def _charged(
    record: MatchRecord, game: GameRecord, *, table: SeedsByGame
) -> list[tuple[Seat, float]]:
    if not game.hands:
        return []
    place = Place(game=game.number)
    try:
        fresh = dealt_again(record, game, place=place, table=table)
        events = list(played(fresh, game, place=place))
    except ReplayError:
        return []
    seats = [
        event.seat
        for event in events
        if isinstance(event, DeckCut | TrumpDeclared | CardsDiscarded | DrawChosen | CardPlayed)
    ]
    seconds = [charged for hand in game.seconds for charged in hand]
    return list(zip(seats, seconds, strict=False))
