"""The standings as a table, and the places of an event that somebody wins."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table

from arena.cli.show import named_columns, print_line
from arena.ladder.ratings.elo import PROVISIONAL_MATCHES
from arena.ladder.ratings.fitted import SANDWICH_MATCHES
from arena.ladder.ratings.standings import Flag, Row, Standings
from arena.ladder.schedules import Place
from arena.ladder.settings import MatchScoring
from arena.wording import counted, kept_apart, percent, plain, signed
from hokm.records import Format

_UNITS = {Format.BOARDS: "boards", Format.CLASSIC: "pairs"}

_POINTS = {Format.BOARDS: "points: of a board", Format.CLASSIC: "points: races of a pair"}

_MARKS = {
    Flag.PROVISIONAL: ("P", f"fewer than {PROVISIONAL_MATCHES} rated matches"),
    Flag.NOT_CONNECTED: (
        "N",
        "no chain of results, both ways, binds it to all: how far apart is a guess",
    ),
    Flag.UNRATED: ("U", "unrated: its matches move no rating"),
    Flag.INACTIVE: ("I", "inactive: no longer paired"),
    Flag.RETIRED: ("R", "retired (withdrawn)"),
    Flag.FORFEITS: ("F", "forfeits: games ended by its fault, which count as the worst result"),
    Flag.REMOTE: ("H", "stays at home: nobody can look at it, or isolate those of one machine"),
}

_LEAST_OWNER = 6
"""Cells of an owner's name that still say something."""


def print_standings(standings: Standings, console: Console) -> None:
    """The table, and what its marks mean."""
    settings = standings.settings
    unit = _UNITS[settings.format]
    anchor = "the field's mean" if standings.anchor is None else standings.anchor
    print_line(
        console,
        f"{settings.name} ({settings.scale}): {settings.rules.players} players, "
        f"{settings.format.value}, {settings.length} {unit} a match",
    )
    print_line(
        console,
        f"{counted(standings.matches_played, 'match')} played, {standings.matches_void} void, "
        f"{counted(standings.rounds_closed, 'round')} closed; {anchor} stands at 1500",
    )
    if standings.anchor is None and settings.anchor is not None:
        is_entered = any(row.name == settings.anchor for row in standings.rows)
        waits = "has no rated match yet" if is_entered else "is not entered yet"
        print_line(console, f"anchor {settings.anchor} {waits}")
    # The owner gives way before anything is folded.
    least = console.measure(
        _table(standings, unit, owner_cells=0), options=console.options.update(width=10_000)
    ).maximum
    wanted = max(len("owner"), *(cell_len(row.owner) for row in standings.rows), 0)
    room = min(wanted, console.width - least - 1)
    has_owners = room >= min(wanted, _LEAST_OWNER)
    console.print()
    console.print(_table(standings, unit, owner_cells=room if has_owners else 0))
    console.print()
    for line in _legend(standings):
        print_line(console, line)
    if not has_owners:
        for owner in dict.fromkeys(row.owner for row in standings.rows):
            theirs = ", ".join(kept_apart(row.name) for row in standings.rows if row.owner == owner)
            print_line(console, f"Of {kept_apart(owner)}: {theirs}")


def _table(standings: Standings, unit: str, *, owner_cells: int) -> Table:
    """The rows, the owners' names in so many cells; with none there is no such column."""
    table = named_columns("#", "bot", gap=1)
    if owner_cells:
        table.add_column("owner", no_wrap=True)
    for heading in ("ranks", "Elo", "MLE", "±95 %", "W-D-L", unit, "points", "LOS"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for row in standings.rows:
        table.add_row(
            "-" if row.rank is None else str(row.rank),
            kept_apart(row.name),
            *([_owner(row, owner_cells)] if owner_cells else []),
            "-" if row.ranks is None else _interval(*row.ranks),
            plain(row.elo, 1),
            plain(row.mle, 1),
            plain(row.bar, 0),
            f"{row.matches_won}-{row.matches_drawn}-{row.matches_lost}",
            f"+{row.boards_won}={row.boards_drawn}-{row.boards_lost}",
            signed(row.points_per_board, 2),
            "" if row.los_next is None else percent(row.los_next),
            "".join(_MARKS[flag][0] for flag in row.flags),
        )
    return table


def _owner(row: Row, cells: int) -> str:
    name = row.owner
    if cell_len(name) > cells:
        name = f"{set_cell_size(name, cells - 1)}…"
    return kept_apart(name)


def print_places(
    places: Sequence[tuple[str, Place]], console: Console, *, event: str, is_over: bool
) -> None:
    """Who came where in an event that somebody wins, and by what."""
    is_swiss = places[0][1].points is not None
    table = named_columns("#", "bot")
    for heading in ("points", "Buchholz") if is_swiss else ("reached",):
        table.add_column(heading, justify="right" if is_swiss else "left", no_wrap=True)
    for number, (name, place) in enumerate(places, start=1):
        points, buchholz = place.points or 0.0, place.buchholz or 0.0
        figures = (f"{points:g}", f"{buchholz:g}") if is_swiss else (place.reached,)
        table.add_row(str(number), kept_apart(name), *figures)
    console.print()
    print_line(console, event if is_over else f"{event} so far")
    console.print()
    console.print(table)
    if is_swiss:
        console.print()
        print_line(console, "Buchholz: the points of all opponents; equals by seeding")


def _interval(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _legend(standings: Standings) -> list[str]:
    shown = {flag for row in standings.rows for flag in row.flags}
    lines = [
        "Ranked by MLE, one fit to all matches; ranks: those it may truly have, at 95 %",
        "Elo moves once a round and follows the MLE",
        (
            f"W-D-L: matches; {_POINTS[standings.settings.format]}; "
            "LOS: likelihood to be better than the next"
        ),
    ]
    if standings.settings.score is MatchScoring.VP:
        lines.append("Ratings by victory points: how much a match is won by; W-D-L: by who wins it")
    if standings.is_pairwise:
        lines += [
            "Matches, boards and points are pairwise: against each of the others of a match",
            f"±95 % and LOS: clustered by match from {SANDWICH_MATCHES} matches on, else too sure",
        ]
    lines += [f"{mark} {meaning}" for flag, (mark, meaning) in _MARKS.items() if flag in shown]
    waiting = [
        kept_apart(row.name)
        for row in standings.rows
        if not row.matches and not {Flag.INACTIVE, Flag.RETIRED} & set(row.flags)
    ]
    if waiting and standings.matches_played:
        lines.append(f"No rated match yet, plays from the next stage on: {', '.join(waiting)}")
    lines += [
        f"{row.name}: {counted(row.forfeits, 'forfeit')}" for row in standings.rows if row.forfeits
    ]
    return lines + [f"{row.name}: {row.note}" for row in standings.rows if row.note]
