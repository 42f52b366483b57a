"""The standings: who stands where, how surely, and on what evidence.

They are a pure function of the results: whoever has these, in whatever order, has the same table to
the last digit. Bots are ranked by their Bradley–Terry rating, fitted to all rated matches at once,
with its 95 % bar beside it, relative to the mean of the field, and the ranks it may truly have.
Online Elo, which moves once a round, stands beside it. A match of three is looked at pair by pair,
everywhere: each bot has a result against each of the others. Ratings compare within one ladder
only, so the table names what is played. This module knows neither the store nor a terminal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from arena.ladder.facts import Bot
from arena.ladder.ratings.bradley_terry import fit
from arena.ladder.ratings.elo import PROVISIONAL_MATCHES, EloRating, displayed
from arena.ladder.ratings.fitted import Fit
from arena.ladder.ratings.played import Played, Tally, Whole, are_rated, evidence, tally
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
    RETIRED = "retired"
    """Its owner took it out. What it played still counts."""
    FORFEITS = "forfeits"
    """Games ended by its fault; `forfeits` says how many."""
    REMOTE = "remote"
    """It runs on a machine of its owner's: nobody can look at it, or keep it from another there."""


@dataclass(frozen=True, slots=True)
class Row:
    """A bot in the standings.

    `rank`, `ranks`, `elo`, `mle` and `bar` (half the width of its 95 % interval) are None for an
    unrated bot, and for one without a rated match. `ranks` are the best and the worst that it may
    truly have: those of the bots from which its distance is within its 95 % interval of 0.
    `matches` are those its rating rests on, for an unrated bot all it played. What follows counts
    them, and their boards, against each other entrant: won, drawn and lost by points; and the
    points it has more of a board, in the mean. `los_next` is the likelihood of superiority over the
    next in rank, None for the last. `forfeits` counts games that ended by its fault, unrated ones
    too.
    """

    rank: int | None
    ranks: tuple[int, int] | None
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
    forfeits: int
    flags: tuple[Flag, ...]
    note: str

    def json(self) -> dict[str, object]:
        """The row as JSON has it."""
        return {
            "rank": self.rank,
            "rank_interval_95": None if self.ranks is None else list(self.ranks),
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
            "forfeits": self.forfeits,
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
        """Whether a match has more than one pair of entrants, whose comparisons come from the same
        deals: errors take a whole match as the one independent unit.
        """
        return self.settings.sides > 2

    def json(self) -> dict[str, object]:
        """The table as JSON has it; numbers are not rounded."""
        return {
            "ladder": self.settings.name,
            "scale": self.settings.scale,
            "players": self.settings.rules.players,
            "format": self.settings.format.value,
            self.settings.length_key: self.settings.length,
            "score": self.settings.score.value,
            "counted": "pairwise" if self.is_pairwise else "by match",
            "anchor": self.anchor,
            "rounds_closed": self.rounds_closed,
            "matches_played": self.matches_played,
            "matches_void": self.matches_void,
            "rows": [row.json() for row in self.rows],
        }


def standings(
    settings: Settings,
    bots: Sequence[Bot],
    pairs: Whole,
    *,
    elo: Mapping[int, EloRating],
    forfeits: Mapping[int, int] | None = None,
    rounds_closed: int = 0,
    matches_void: int = 0,
) -> Standings:
    """The standings from what was played.

    `pairs` is as for `Played.of`; `elo`, after the last closed round, and `forfeits` are by number
    of bot.
    """
    played = Played.of(bots, pairs, sides=settings.sides)
    rated = played.where(are_rated(bots, played))
    tallies = {True: tally(rated, bots=len(bots)), False: tally(played, bots=len(bots))}
    rows = {
        bot.name: _row(bot, tallies[bot.rated], place, forfeits=(forfeits or {}).get(bot.number, 0))
        for place, bot in enumerate(bots)
    }
    field = [bot for bot in bots if bot.rated and rows[bot.name].matches]
    ranked: list[Row] = []
    anchor = settings.anchor if settings.anchor in {bot.name for bot in field} else None
    if field:
        fitted = fit(evidence(bots, rated, settings=settings, among=[bot.name for bot in field]))
        online = displayed({bot.name: elo.get(bot.number, EloRating()) for bot in field}, anchor)
        ranked = _ranked(rows, fitted, online=online, anchor=anchor)
    ranked_names = {row.name for row in ranked}
    fresh = [rows[bot.name] for bot in bots if bot.rated and bot.name not in ranked_names]
    unrated = [rows[bot.name] for bot in bots if not bot.rated]
    return Standings(
        settings,
        anchor,
        rounds_closed,
        len(played.lineups),
        matches_void,
        (*ranked, *fresh, *unrated),
    )


def _ranked(
    rows: Mapping[str, Row], fitted: Fit, *, online: Mapping[str, float], anchor: str | None
) -> list[Row]:
    """The rows of a fit in the order of its ratings, with all that it says of them."""
    ratings = (fitted.centred() if anchor is None else fitted.anchored(anchor)).table()
    bars, intervals = fitted.bars(), fitted.rank_intervals()
    bound = _bound_together(fitted)
    order = sorted(fitted.players, key=lambda name: (-ratings[name], name.encode()))
    return [
        replace(
            rows[name],
            rank=rank,
            ranks=intervals[name],
            elo=online[name],
            mle=ratings[name],
            bar=bars[name],
            los_next=None if after is None else fitted.difference(name, after).los,
            flags=_flagged(rows[name].flags, is_connected=name in bound),
        )
        for rank, (name, after) in enumerate(zip(order, [*order[1:], None], strict=True), start=1)
    ]


def _bound_together(fitted: Fit) -> frozenset[str]:
    """Whom results alone compare: the largest group, or nobody where two are as large."""
    by_size = sorted(fitted.groups, key=len)
    if len(by_size) > 1 and len(by_size[-1]) == len(by_size[-2]):
        return frozenset()
    return by_size[-1]


def _flagged(flags: tuple[Flag, ...], *, is_connected: bool) -> tuple[Flag, ...]:
    found = {*flags} | (set() if is_connected else {Flag.NOT_CONNECTED})
    return tuple(flag for flag in Flag if flag in found)


def _row(bot: Bot, counts: Tally, place: int, *, forfeits: int) -> Row:
    """What was played, without any rating."""
    boards = sum(int(column[place]) for column in (counts.won, counts.drawn, counts.lost))
    matches = int(counts.matches[place])
    flags = {
        Flag.PROVISIONAL: bot.rated and matches < PROVISIONAL_MATCHES,
        Flag.UNRATED: not bot.rated,
        Flag.INACTIVE: not bot.is_active and not bot.is_retired,
        Flag.RETIRED: bot.is_retired,
        Flag.FORFEITS: forfeits > 0,
        Flag.REMOTE: bot.remote,
    }
    return Row(
        rank=None,
        ranks=None,
        name=bot.name,
        owner=bot.owner,
        version=bot.version,
        elo=None,
        mle=None,
        bar=None,
        matches=matches,
        matches_won=int(counts.matches_won[place]),
        matches_drawn=int(counts.matches_drawn[place]),
        matches_lost=int(counts.matches_lost[place]),
        boards_won=int(counts.won[place]),
        boards_drawn=int(counts.drawn[place]),
        boards_lost=int(counts.lost[place]),
        points_per_board=int(counts.difference[place]) / boards if boards else None,
        los_next=None,
        forfeits=forfeits,
        flags=tuple(flag for flag, applies in flags.items() if applies),
        note=bot.inactive_because if bot.inactive_because and not bot.is_retired else "",
    )
