"""The standings as a table."""

from rich.console import Console

from arena.cli.show import named_columns, print_line
from arena.cli.text import kept_apart, percent, plain, signed
from arena.ladder.ratings.elo import PROVISIONAL_MATCHES
from arena.ladder.ratings.fitted import SANDWICH_MATCHES
from arena.ladder.ratings.standings import Flag, Standings
from arena.ladder.settings import MatchScoring
from arena.wording import counted
from hokm.records import Format

_UNITS = {Format.BOARDS: "boards", Format.CLASSIC: "pairs"}

_MARKS = {
    Flag.PROVISIONAL: ("P", f"fewer than {PROVISIONAL_MATCHES} rated matches"),
    Flag.NOT_CONNECTED: (
        "N",
        "never beat, or never lost to, any of the rest: how far apart is a guess",
    ),
    Flag.UNRATED: ("U", "unrated: its matches move no rating"),
    Flag.INACTIVE: ("I", "inactive: no longer paired"),
    Flag.RETIRED: ("R", "retired: its owner took it out"),
    Flag.FORFEITS: ("F", "forfeits: games ended by its fault, which count as the worst result"),
}


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
    table = named_columns("#", "bot", "owner", gap=1)
    for heading in ("ranks", "Elo", "MLE", "±95 %", "W-D-L", unit, "points", "LOS"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for row in standings.rows:
        table.add_row(
            "-" if row.rank is None else str(row.rank),
            kept_apart(row.name),
            kept_apart(row.owner),
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
    console.print()
    console.print(table)
    console.print()
    for line in _legend(standings):
        print_line(console, line)


def _interval(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _legend(standings: Standings) -> list[str]:
    shown = {flag for row in standings.rows for flag in row.flags}
    lines = [
        "Ranked by MLE, one fit to all matches; ranks: those it may truly have, at 95 %",
        "Elo moves once a round and follows the MLE",
        "W-D-L: matches; points: of a board; LOS: likelihood to be better than the next",
    ]
    if standings.settings.score is MatchScoring.VP:
        lines.append("Ratings by victory points: how much a match is won by; W-D-L: by who wins it")
    if standings.is_pairwise:
        lines += [
            "Matches, boards and points are pairwise: against each of the others of a match",
            f"±95 % and LOS: clustered by match from {SANDWICH_MATCHES} matches on, else too sure",
        ]
    lines += [f"{mark} {meaning}" for flag, (mark, meaning) in _MARKS.items() if flag in shown]
    lines += [
        f"{row.name}: {counted(row.forfeits, 'forfeit')}" for row in standings.rows if row.forfeits
    ]
    return lines + [f"{row.name}: {row.note}" for row in standings.rows if row.note]
