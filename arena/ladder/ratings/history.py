"""A bot's history in a ladder: its Elo round by round, and its matches one by one.

Elo is kept as it was computed, from 1500 for everybody. What is shown is shifted so that the last
of it is what the standings show today; the shape is what it was. This module knows no terminal and
draws nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from arena.ladder.facts import Attempt, Bot, Pair, Result
from arena.ladder.ladder import Ladder
from arena.ladder.ratings.elo import EloRating
from arena.ladder.ratings.evidence import is_rated
from arena.ladder.ratings.head_to_head import Score, entered
from arena.ladder.ratings.standings import Row, Standings


@dataclass(frozen=True, slots=True)
class Point:
    """The Elo after a round in which it played a rated match, and the rated matches so far."""

    round: int
    elo: float
    matches: int


@dataclass(frozen=True, slots=True)
class Against:
    """What a match came to against one opponent, as the bot sees it."""

    opponent: str
    boards_won: int
    boards_drawn: int
    boards_lost: int
    difference: int

    @property
    def score(self) -> Score:
        """By all boards together."""
        return Score.of(self.difference)


@dataclass(frozen=True, slots=True)
class Appearance:
    """A match of the bot that counts. `forfeits` are the games that ended by its own fault, None
    for a match of an older arena, which did not count; `record` is the record's file.
    """

    match: str
    round: int
    against: tuple[Against, ...]
    forfeits: int | None
    is_rated: bool
    record: str


@dataclass(frozen=True, slots=True)
class Void:
    """An attempt at a match of the bot that counts for nothing, and why."""

    match: str
    attempt: int
    why: str
    record: str


@dataclass(frozen=True, slots=True)
class BotHistory:
    """All of it; `row` is the bot's in today's standings."""

    bot: Bot
    row: Row
    points: tuple[Point, ...]
    matches: tuple[Appearance, ...]
    void: tuple[Void, ...]


def bot_history(ladder: Ladder, name: str) -> BotHistory:
    """The history of a bot. Raises LadderError for one that is not entered."""
    bot = entered(ladder, name)
    names = {one.number: one for one in ladder.store.bots()}
    curve = next(curves(ladder, ladder.standings(), [bot]))
    attempts = ladder.store.attempts(of=[bot.number])
    files = {one.match: one.record for one in attempts if one.counts}
    return BotHistory(
        bot=bot,
        row=curve.row,
        points=curve.points,
        matches=tuple(
            Appearance(
                result.match,
                result.round,
                tuple(
                    _against(pair, bot, names)
                    for pair in result.pairs()
                    if bot.number in (pair.first, pair.second)
                ),
                _forfeits(result, bot),
                is_rated([names[number] for number in result.entrants]),
                str(ladder.records_folder / files[result.match]),
            )
            for result in ladder.store.results(of=[bot.number])
            if result.match in files
        ),
        void=tuple(
            Void(
                one.match,
                one.number,
                _why_void(one),
                str(ladder.records_folder / one.record),
            )
            for one in attempts
            if not one.counts
        ),
    )


@dataclass(frozen=True, slots=True)
class Curve:
    """The Elo of a bot by round, and its row in the standings."""

    row: Row
    points: tuple[Point, ...]


def curves(ladder: Ladder, standings: Standings, bots: Iterable[Bot]) -> Iterator[Curve]:
    """The curves of some bots in their order, one at a time, as these standings show Elo."""
    now = ladder.store.ratings()
    rows = {row.name: row for row in standings.rows}
    numbers = {bot.name: bot.number for bot in ladder.store.bots()}
    # The same for all but rounding, unless a round was closed meanwhile: the mean is near it then.
    shifts = [
        row.elo - now.get(numbers[row.name], EloRating()).rating
        for row in standings.rows
        if row.elo is not None
    ]
    shift = sum(shifts) / len(shifts) if shifts else 0.0
    for bot in bots:
        history = ladder.store.rating_history(bot.number)
        points = [Point(number, after.rating + shift, after.matches) for number, after in history]
        yield Curve(rows[bot.name], tuple(points))


def _against(pair: Pair, bot: Bot, names: dict[int, Bot]) -> Against:
    if pair.first == bot.number:
        opponent = names[pair.second].name
        return Against(opponent, pair.won, pair.drawn, pair.lost, pair.difference)
    opponent = names[pair.first].name
    return Against(opponent, pair.lost, pair.drawn, pair.won, -pair.difference)


def _why_void(attempt: Attempt) -> str:
    ending = "" if attempt.voided_by is None else attempt.voided_by.value
    ended = f"{ending}: {attempt.cause}" if attempt.cause else ending
    if attempt.struck is None:
        return ended
    return "; ".join(filter(None, [ended, f"struck out by the operator: {attempt.struck}"]))


def _forfeits(result: Result, bot: Bot) -> int | None:
    return result.forfeits[result.entrants.index(bot.number)] if result.forfeits else None
