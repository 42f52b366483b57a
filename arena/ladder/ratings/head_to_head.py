"""Two bots against each other: all their matches, from a ladder or from records, and what all their
boards say.

The unit is the board (or the mirrored pair of races), over all matches together. What was played
counts here whether it moves ratings or not. This module knows no terminal.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from arena.ladder.errors import LadderError
from arena.ladder.facts import Bot, Result
from arena.ladder.ladder import Ladder
from arena.ladder.matches.scores import score
from arena.ladder.ratings.fitted import Residual
from arena.ladder.ratings.statistics import HeadToHead, head_to_head
from hokm.records import Format, MatchRecord
from hokm.rules.options import Rules


class Score(Enum):
    """What a match is for the first of two."""

    WON = "won"
    DRAWN = "drawn"
    LOST = "lost"

    @classmethod
    def of(cls, difference: int) -> "Score":
        """By the difference of all boards together."""
        return cls.WON if difference > 0 else cls.LOST if difference < 0 else cls.DRAWN


@dataclass(frozen=True, slots=True)
class Met:
    """A match of the two; `differences` are of each board, as the first sees it. `record` is the
    file of its record.
    """

    match: str
    differences: tuple[int, ...]
    record: str

    @property
    def difference(self) -> int:
        """Of all boards together."""
        return sum(self.differences)

    @property
    def score(self) -> Score:
        """What it is for the first."""
        return Score.of(self.difference)


@dataclass(frozen=True, slots=True)
class Series:
    """All matches of `first` against `second`, in order. `residual` is how those that move ratings
    go with the ratings of all; None outside a ladder, and where there is none.
    """

    first: str
    second: str
    format: Format
    matches: tuple[Met, ...]
    residual: Residual | None = None

    @property
    def boards(self) -> HeadToHead:
        """What all boards say."""
        return head_to_head([d for met in self.matches for d in met.differences])

    @property
    def differences(self) -> dict[int, int]:
        """How many boards came to each difference, the largest first."""
        counts = Counter(d for met in self.matches for d in met.differences)
        return {d: counts[d] for d in sorted(counts, reverse=True)}

    def matches_of(self, score: Score) -> int:
        """How many matches were won, drawn or lost."""
        return sum(met.score is score for met in self.matches)


def series_of_ladder(ladder: Ladder, first: str, second: str) -> Series:
    """The matches of two bots of a ladder. Raises LadderError for one that is not entered."""
    from arena.ladder.ratings.crosstable import residual  # numpy with it

    one, other = entered(ladder, first), entered(ladder, second)
    if one == other:
        raise LadderError(first, "does not play against itself", remedy="name another bot")
    both = [one.number, other.number]
    files = {
        attempt.match: attempt.record
        for attempt in ladder.store.attempts(of=both)
        if attempt.counts
    }
    return Series(
        first,
        second,
        ladder.settings.format,
        tuple(
            Met(
                result.match,
                _differences(result, one, other),
                str(ladder.records_folder / files[result.match]),
            )
            for result in ladder.store.results(of=both)
            if result.match in files  # one that was played since is in the next series
        ),
        residual(ladder.settings, ladder.store.bots(), ladder.store.pairs(), of=(first, second)),
    )


def series_of_records(
    records: Iterable[tuple[str, MatchRecord]], first: str, second: str
) -> Series:
    """The matches of two bots among records, each with its file. Matches that are void, and those
    that the two were not both in, once each and on two sides, are left out.

    Raises LadderError where their matches do not compare: other formats or rules.
    """
    met: list[Met] = []
    seen: tuple[Format, Rules] | None = None
    for file, record in records:
        differences = _differences_of(record, first, second)
        if differences is None:
            continue
        played = (record.format, record.rules)
        if seen is not None and played != seen:
            problem = f"is played by other rules than {met[0].record}"
            raise LadderError(file, problem, remedy="give records of one kind of match")
        seen = played
        met.append(Met(record.match, differences, file))
    return Series(first, second, Format.BOARDS if seen is None else seen[0], tuple(met))


def entered(ladder: Ladder, name: str) -> Bot:
    """The bot of a ladder that a person names. Raises LadderError, with what may have been meant,
    where there is none.
    """
    return ladder.entered(name)


def _differences(result: Result, one: Bot, other: Bot) -> tuple[int, ...]:
    first, second = result.entrants.index(one.number), result.entrants.index(other.number)
    return tuple(board[first] - board[second] for board in result.boards)


def _differences_of(record: MatchRecord, first: str, second: str) -> tuple[int, ...] | None:
    """Of each board, as the first sees it; None where the record has nothing to say of them."""
    names = [entrant.name for entrant in record.entrants]
    if names.count(first) != 1 or names.count(second) != 1:
        return None
    found = score(record)
    wanted = names.index(first), names.index(second)
    if found.spoilt is not None or len(names) == 4:  # then each has a partner
        return None
    for pair in found.pairs:
        if (pair.first, pair.second) == wanted:
            return pair.differences
        if (pair.second, pair.first) == wanted:
            return tuple(-d for d in pair.differences)
    return None
