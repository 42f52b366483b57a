"""What a match came to: the difference of each board between each pair, and whether it counts.

The score follows from the record alone, so that anybody who has the record can have it. Where
partners are drawn nobody is another's opponent all through, and there are no differences.
Statistics over them are in :mod:`arena.ladder.ratings.statistics`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from hokm.cards import Side
from hokm.outcome import Ending, Outcome
from hokm.records import Format, GameRecord, MatchRecord
from hokm.rules.options import Teams
from hokm.rules.variants import variant_of


@dataclass(frozen=True, slots=True)
class PairScore:
    """Entrant ``first`` against ``second``, by index; ``differences`` are the first's, a board
    each.

    On boards a difference is points over all rooms, -5 to 5 between two sides. In mirrored pairs of
    races it is races won less races lost: -2, 0 or 2.
    """

    first: int
    second: int
    differences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchScore:
    """The score of a match.

    ``boards`` are the numbers of the boards (or pairs of races) that count: those that every room
    finished. ``gained`` is what each entrant gained on each of them, in their order:
    ``gained[entrant][board]``. ``pairs`` is every two opponents, nobody where partners are drawn.
    ``endings`` counts games by how they ended. ``spoilt`` is the ending that keeps a match from
    counting as a whole, None where it counts.
    """

    boards: tuple[int, ...]
    gained: tuple[tuple[int, ...], ...]
    pairs: tuple[PairScore, ...]
    endings: Mapping[Ending, int]
    spoilt: Ending | None

    def lost(self, entrant: int) -> tuple[int, ...]:
        """The numbers of those ``boards`` on which an entrant gained less than the mean of the
        others.
        """
        sides = len(self.gained)
        own = self.gained[entrant % sides]  # of four entrants the pair
        every = zip(self.boards, own, zip(*self.gained, strict=True), strict=True)
        return tuple(board for board, mine, gained in every if mine * sides < sum(gained))


def score(record: MatchRecord) -> MatchScore:
    """The score of a match between its entrants; with four entrants that of the pair {0, 2} against
    {1, 3}, or with drawn partners what each gained with whom it had.
    """
    is_drawn = record.rules.teams is Teams.SECOND_ACE
    sides = 2 if len(record.entrants) == 4 and not is_drawn else len(record.entrants)
    outcomes = [game.outcome for room in record.rooms for game in room.games]
    games = _games_by_number(record)
    boards = tuple(
        number for number in range(1, record.games + 1) if _finished(record, games[number])
    )
    gained = tuple(
        tuple(_gained(record, games[number], entrant) for number in boards)
        for entrant in range(sides)
    )
    return MatchScore(
        boards=boards,
        gained=gained,
        pairs=tuple(
            PairScore(
                first,
                second,
                tuple(a - b for a, b in zip(gained[first], gained[second], strict=True)),
            )
            for first, second in (() if is_drawn else combinations(range(sides), 2))
        ),
        endings=Counter(outcome.ending for outcome in outcomes if outcome is not None),
        spoilt=_spoilt(outcomes),
    )


def _spoilt(outcomes: list[Outcome | None]) -> Ending | None:
    endings = {Ending.STOPPED if outcome is None else outcome.ending for outcome in outcomes}
    # A fault of the host says most: it voids the match whatever else happened in it.
    for ending in (Ending.HOST_FAULT, Ending.NEVER_STARTED, Ending.STOPPED):
        if ending in endings:
            return ending
    return None


_Games = list[tuple[tuple[int, ...], GameRecord]]
"""One board or pair of races in every room, with the entrant at each seat."""


def _games_by_number(record: MatchRecord) -> Mapping[int, _Games]:
    games: defaultdict[int, _Games] = defaultdict(list)
    for room in record.rooms:
        for game in room.games:
            games[game.number].append((room.seating_of(game), game))
    return games


def _finished(record: MatchRecord, games: _Games) -> bool:
    return len(games) == len(record.rooms) and all(
        game.outcome is not None and game.outcome.ending.counts for _, game in games
    )


def _gained(record: MatchRecord, games: _Games, entrant: int) -> int:
    side_of = variant_of(record.rules).side_of
    total = 0
    for seating, game in games:
        outcome = game.outcome
        assert outcome is not None
        side = side_of[seating.index(entrant)]
        total += outcome.points[side] if record.format is Format.BOARDS else _won(outcome, side)
    return total


def _won(outcome: Outcome, side: Side) -> int:
    return int(outcome.winner == side)
