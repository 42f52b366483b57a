"""``arena bot history`` and ``arena ladder graph``: how ratings came about."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.errors import Misuse
from arena.cli.options import Json, refuse_no_ladder_here

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from arena.ladder.ratings.history import Against, Appearance, BotHistory, Curve

_PICTURE = "FILE.svg|FILE.png"


def history(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The bot's name.")],
    ladder: Annotated[Path, typer.Option(metavar="DIR", help="The ladder's folder.")] = Path("."),
    graph: Annotated[
        Path | None, typer.Option(metavar=_PICTURE, help="Draw its ratings into a file, too.")
    ] = None,
    json_: Json = False,
) -> None:
    """Print a bot's matches in a ladder, and its Elo after each."""
    from arena.cli import show
    from arena.ladder.ladder import Ladder
    from arena.ladder.ratings.history import Curve, bot_history

    _refuse_format(graph)
    refuse_no_ladder_here(ladder)
    with Ladder.open(ladder) as opened:
        told = bot_history(opened, name)
        title = f"{name} in {opened.settings.name} ({opened.settings.scale})"
    if graph is not None:
        _draw([Curve(told.row, told.points)], graph, title=title, option="--graph")
    if json_:
        show.print_json(_json(told))
    else:
        _print(told, show.results())


def graph(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The ladder's folder.")],
    file: Annotated[Path, typer.Argument(metavar=_PICTURE, help="The picture to draw.")],
    top: Annotated[int, typer.Option(metavar="N", min=1, help="Only the best N bots.")] = 20,
) -> None:
    """Draw ratings by round, and the 95 % bars of today."""
    from arena.ladder.ladder import Ladder
    from arena.ladder.ratings.history import curves

    _refuse_format(file)
    with Ladder.open(folder) as ladder:
        standings = ladder.standings()
        bots = {bot.name: bot for bot in ladder.store.bots()}
        best = [bots[row.name] for row in standings.rows if row.rank is not None][:top]
        ranked = sum(row.rank is not None for row in standings.rows)
        title = f"{ladder.settings.name} ({ladder.settings.scale})"
        if len(best) < ranked:
            title += f": the best {len(best)} of {ranked}"
        found = list(curves(ladder, standings, best))
    if not found:
        raise Misuse(f"{folder} has no ratings to draw yet: play it first (arena ladder run)")
    _draw(found, file, title=title, option="arena ladder graph")


def _refuse_format(file: Path | None) -> None:
    if file is not None and file.suffix not in (".svg", ".png"):
        raise Misuse(f"{file} is no picture that is drawn here: end its name in .svg or .png")


def _draw(curves: "Sequence[Curve]", file: Path, *, title: str, option: str) -> None:
    from arena.cli.operating import extra

    with extra(option, name="graph"):
        from arena import graph as picture
    picture.draw(curves, file, title=title)


def _json(told: "BotHistory") -> dict[str, object]:
    return {
        "bot": told.bot.name,
        "owner": told.bot.owner,
        "version": told.bot.version,
        "standing": told.row.json(),
        "ratings": [
            {"round": point.round, "elo": point.elo, "matches": point.matches}
            for point in told.points
        ],
        "matches": [
            {
                "match": one.match,
                "round": one.round,
                "rated": one.is_rated,
                "against": [
                    {
                        "bot": other.opponent,
                        "score": other.score.value,
                        "boards": {
                            "won": other.boards_won,
                            "drawn": other.boards_drawn,
                            "lost": other.boards_lost,
                        },
                        "difference": other.difference,
                    }
                    for other in one.against
                ],
                "forfeits": one.forfeits,
                "record": one.record,
            }
            for one in told.matches
        ],
        "void": [
            {"match": one.match, "attempt": one.attempt, "why": one.why, "record": one.record}
            for one in told.void
        ],
    }


def _print(told: "BotHistory", console: "Console") -> None:
    from arena.cli.show import named_columns, print_line, records_folder
    from arena.wording import kept_apart, plain, printable

    row, bot = told.row, told.bot
    print_line(console, f"{kept_apart(bot.name)} {bot.version} ({kept_apart(bot.owner)})")
    place = "no rank yet" if row.rank is None else f"rank {row.rank}"
    if row.ranks is not None:
        place += f" ({row.ranks[0]} to {row.ranks[1]} at 95 %)"
    print_line(
        console,
        f"{place}, Elo {plain(row.elo, 1)}, MLE {plain(row.mle, 1)} ± {plain(row.bar, 0)}; "
        f"{row.matches_won}-{row.matches_drawn}-{row.matches_lost} in {row.matches} matches",
    )
    elo_after = {point.round: point.elo for point in told.points}
    table = named_columns("match", "opponent", gap=1)
    for heading in ("score", "boards", "points", "forfeits", "Elo"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in told.matches:
        for place_, other in enumerate(one.against):
            is_first = place_ == 0
            table.add_row(
                kept_apart(one.match) if is_first else "",
                kept_apart(other.opponent),
                _score(one, other),
                f"+{other.boards_won}={other.boards_drawn}-{other.boards_lost}",
                f"{other.difference:+d}",
                str(one.forfeits or "") if is_first else "",
                plain(elo_after.get(one.round), 1) if is_first and one.is_rated else "",
            )
    if told.matches:
        console.print()
        console.print(table)
        folder = records_folder((one.match, one.record) for one in told.matches)
        print_line(console, f"records: {printable(folder)}")
    if any(not one.is_rated for one in told.matches):
        print_line(console, "(in brackets: moves no rating)")
    for void in told.void:
        print_line(console, printable(f"{void.match} attempt {void.attempt}: void ({void.why})"))


def _score(one: "Appearance", other: "Against") -> str:
    return other.score.value if one.is_rated else f"({other.score.value})"
