"""The standings: who stands where, how surely, and on what evidence.

Bots are ranked by their Bradley–Terry rating, fitted to all rated matches at once, with its 95 %
bar beside it, relative to the mean of the field. Online Elo, which moves once a round, stands
beside it. A match of three is looked at pair by pair, everywhere: each bot has a result against
each of the others. Ratings compare within one ladder only, so the table names what is played. This
module knows neither the store nor a terminal.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from arena.ladder.bradley_terry import Errors, Fit, fit
from arena.ladder.elo import PROVISIONAL_MATCHES, EloRating, displayed
from arena.ladder.evidence import rated_matches, rated_results
from arena.ladder.facts import Bot, Result
from arena.ladder.settings import Settings


class Flag(Enum):
    """What a reader must know about a row besides its figures."""

    PROVISIONAL = "provisional"
    """Fewer than 30 rated matches."""
    NOT_CONNECTED = "not connected"
    """No chain of results binds it to the rest both ways: how far apart they are is the prior's
    word, not the results'."""
    UNRATED = "unrated"
    """Its matches move no rating; what stands in its row is for looking at."""
    INACTIVE = "inactive"
    """It is no longer paired; `note` says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """A bot in the standings.

    `rank`, `elo`, `mle` and `bar` (half the width of its 95 % interval) are None for an unrated
    bot, and for one without a rated match. `matches` are those its rating rests on, for an unrated
    bot all it played. What follows counts them, and their boards, against each other entrant: won,
    drawn and lost by points; and the points it has more of a board, in the mean. `los_next` is the
    likelihood of superiority over the next in rank, None for the last.
    """

    rank: int | None
    name: str
    owner: str
    version: str
    elo: float | None
    mle: float | None
    bar: float | None
    matches: int
    matches_won: int
    matches_drawn: int
    matches_lost: int
    boards_won: int
    boards_drawn: int
    boards_lost: int
    points_per_board: float | None
    los_next: float | None
    flags: tuple[Flag, ...]
    note: str

    def json(self) -> dict[str, object]:
        """The row as JSON has it."""
        return {
            "rank": self.rank,
            "bot": self.name,
            "owner": self.owner,
            "version": self.version,
            "elo": self.elo,
            "mle": self.mle,
            "mle_error_95": self.bar,
            "matches_played": self.matches,
            "matches": {
                "won": self.matches_won,
                "drawn": self.matches_drawn,
                "lost": self.matches_lost,
            },
            "boards": {
                "won": self.boards_won,
                "drawn": self.boards_drawn,
                "lost": self.boards_lost,
            },
            "points_per_board": self.points_per_board,
            "los_next": self.los_next,
            "flags": [flag.value for flag in self.flags],
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class Standings:
    """The table: rated bots by rank, then those without a rated match, then the unrated ones.

    `anchor` is the bot that stands at 1500, None while the mean of the field does. Elo rests on the
    first `rounds_closed` rounds, everything else on every match played so far.
    """

    settings: Settings
    anchor: str | None
    rounds_closed: int
    matches_played: int
    matches_void: int
    rows: tuple[Row, ...]

    @property
    def is_pairwise(self) -> bool:
        """Whether a match has more than one pair of entrants.

        Its comparisons come from the same deals. Errors are then *clustered*: measured on whole
        matches, for a bot with 30 of them; before that they are the model's, which for three are
        too small, by a factor of 1.155 among equals (statistics, 3.3). Where a match is one pair
        they are the model's.
        """
        return self.settings.sides > 2

    def json(self) -> dict[str, object]:
        """The table as JSON has it; numbers are not rounded."""
        return {
            "ladder": self.settings.name,
            "players": self.settings.rules.players,
            "format": self.settings.format.value,
            self.settings.length_key: self.settings.length,
            "scale": "match-sign",
            "counted": "pairwise" if self.is_pairwise else "by match",
            "errors": "clustered" if self.is_pairwise else "model",
            "anchor": self.anchor,
            "rounds_closed": self.rounds_closed,
            "matches_played": self.matches_played,
            "matches_void": self.matches_void,
            "rows": [row.json() for row in self.rows],
        }


def standings(
    settings: Settings,
    bots: Sequence[Bot],
    results: Sequence[Result],
    *,
    elo: Mapping[int, EloRating],
    rounds_closed: int = 0,
    matches_void: int = 0,
) -> Standings:
    """The standings from what was played; `elo` is by number of bot, after the last closed round.

    A match is rated if all its bots are.
    """
    evidence = rated_results(bots, results)
    played = {number for result in evidence for number in result.entrants}
    rated = [bot for bot in bots if bot.rated and bot.number in played]
    anchor = settings.anchor if settings.anchor in {bot.name for bot in rated} else None
    rows: list[Row] = []
    if rated:
        fitted = fit(rated_matches(bots, results), [bot.name for bot in rated])
        online = displayed({bot.name: elo.get(bot.number, EloRating()) for bot in rated}, anchor)
        rows += _ranked(
            rated,
            evidence,
            fitted=fitted,
            errors=None if settings.sides > 2 else Errors.MODEL,
            online=online,
            anchor=anchor,
        )
    rows += [_row(bot, evidence) for bot in bots if bot.rated and bot.number not in played]
    rows += [_row(bot, results) for bot in bots if not bot.rated]
    return Standings(settings, anchor, rounds_closed, len(results), matches_void, tuple(rows))


def _ranked(
    rated: Sequence[Bot],
    evidence: Sequence[Result],
    *,
    fitted: Fit,
    errors: Errors | None,
    online: Mapping[str, float],
    anchor: str | None,
) -> list[Row]:
    ratings = (fitted.centred() if anchor is None else fitted.anchored(anchor)).table()
    bars = fitted.bars(errors=errors)
    bound = _bound_together(fitted)
    order = sorted(rated, key=lambda bot: (-ratings[bot.name], bot.name.encode()))
    return [
        _row(
            bot,
            evidence,
            rank=rank,
            elo=online[bot.name],
            mle=ratings[bot.name],
            bar=bars[bot.name],
            los_next=fitted.difference(bot.name, after.name, errors=errors).los
            if after is not None
            else None,
            is_connected=bot.name in bound,
        )
        for rank, (bot, after) in enumerate(zip(order, [*order[1:], None], strict=True), start=1)
    ]


def _bound_together(fitted: Fit) -> frozenset[str]:
    """Whom results alone compare: the largest group, or nobody where two are as large."""
    by_size = sorted(fitted.groups, key=len)
    if len(by_size) > 1 and len(by_size[-1]) == len(by_size[-2]):
        return frozenset()
    return by_size[-1]


def _row(
    bot: Bot,
    results: Iterable[Result],
    *,
    rank: int | None = None,
    elo: float | None = None,
    mle: float | None = None,
    bar: float | None = None,
    los_next: float | None = None,
    is_connected: bool = True,
) -> Row:
    own = [result for result in results if bot.number in result.entrants]
    pairs = [pair for result in own for pair in result.against(bot.number)]
    matches = [sum(pair) for pair in pairs]
    boards = [difference for pair in pairs for difference in pair]
    flags = {
        Flag.PROVISIONAL: bot.rated and len(own) < PROVISIONAL_MATCHES,
        Flag.NOT_CONNECTED: not is_connected,
        Flag.UNRATED: not bot.rated,
        Flag.INACTIVE: not bot.is_active,
    }
    return Row(
        rank=rank,
        name=bot.name,
        owner=bot.owner,
        version=bot.version,
        elo=elo,
        mle=mle,
        bar=bar,
        matches=len(own),
        matches_won=sum(d > 0 for d in matches),
        matches_drawn=matches.count(0),
        matches_lost=sum(d < 0 for d in matches),
        boards_won=sum(d > 0 for d in boards),
        boards_drawn=boards.count(0),
        boards_lost=sum(d < 0 for d in boards),
        points_per_board=sum(boards) / len(boards) if boards else None,
        los_next=los_next,
        flags=tuple(flag for flag, applies in flags.items() if applies),
        note=bot.inactive_because or "",
    )
