"""What a ladder is besides its records: its bots, where they stand, their Elo by round; and the
comparisons that its ratings rest on.
"""

from collections.abc import Collection, Iterator

from arena.export import schema
from arena.ladder.facts import Bot
from arena.ladder.ladder import Ladder
from arena.ladder.ratings.comparison import Comparison, RatedMatch
from arena.ladder.ratings.evidence import match_score
from arena.ladder.ratings.history import curves
from arena.ladder.ratings.played import Played, are_rated
from arena.ladder.ratings.standings import Row, Standings


def ladder_rows(ladder: Ladder, tables: Collection[type[schema.Row]]) -> Iterator[schema.Row]:
    """The rows of a ladder in those of the tables `bots` and `ratings`, as its standings are."""
    if not {schema.Bot, schema.Rating} & {*tables}:
        return
    bots, standings = ladder.store.bots(), ladder.standings()
    if schema.Bot in tables:
        yield from _bots(ladder.settings.name, standings, {bot.name: bot for bot in bots})
    if schema.Rating in tables:
        for curve in curves(ladder, standings, bots):
            for point in curve.points:
                yield schema.Rating(
                    ladder=ladder.settings.name,
                    bot=curve.row.name,
                    round=point.round,
                    elo=point.elo,
                    matches=point.matches,
                )


def rated_matches(ladder: Ladder) -> Iterator[RatedMatch]:
    """What moves ratings, match by match, as `arena.ladder.ratings.evidence` has it of results;
    these are not read here, only how they came out.
    """
    bots = ladder.store.bots()
    played = Played.of(bots, ladder.store.pairs(), sides=ladder.settings.sides)
    rated = played.where(are_rated(bots, played))
    for lineup, differences in zip(rated.lineups.tolist(), rated.difference.tolist(), strict=True):
        yield tuple(
            Comparison(
                bots[lineup[first]].name,
                bots[lineup[second]].name,
                match_score(difference, settings=ladder.settings),
            )
            for (first, second), difference in zip(played.columns, differences, strict=True)
        )


def _bots(ladder: str, standings: Standings, bots: dict[str, Bot]) -> Iterator[schema.Bot]:
    for row in standings.rows:
        yield _bot(ladder, bots[row.name], row)


def _bot(ladder: str, bot: Bot, row: Row) -> schema.Bot:
    best, worst = (None, None) if row.ranks is None else row.ranks
    return schema.Bot(
        ladder=ladder,
        bot=bot.name,
        owner=bot.owner,
        version=bot.version or None,
        digest=bot.digest,
        is_rated=bot.rated,
        is_reference=bot.reference,
        inactive_because=bot.inactive_because,
        rank=row.rank,
        rank_best=best,
        rank_worst=worst,
        elo=row.elo,
        mle=row.mle,
        mle_error_95=row.bar,
        matches=row.matches,
        matches_won=row.matches_won,
        matches_drawn=row.matches_drawn,
        matches_lost=row.matches_lost,
        boards_won=row.boards_won,
        boards_drawn=row.boards_drawn,
        boards_lost=row.boards_lost,
        points_per_board=row.points_per_board,
        los_next=row.los_next,
        forfeits=row.forfeits,
    )
