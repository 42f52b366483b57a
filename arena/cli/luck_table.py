"""What ``arena luck`` says of records: as tables, and as JSON in their place."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arena.cli.show import named_columns, print_line
from arena.ladder.ratings.luck import (
    LEAST_UNITS,
    REFERENCE_DIGEST,
    VERSION,
    Estimate,
    GameLuck,
    Luck,
    PlayerLuck,
    luck,
)
from arena.wording import counted, kept_apart, plain, printable, signed, told_apart, with_error
from hokm.records import Format, load

_UNITS = {Format.BOARDS: "board", Format.CLASSIC: "pair"}


@dataclass(frozen=True, slots=True)
class LuckReport:
    """The luck of some record files; ``labels`` are the names of its players, in their order."""

    files: tuple[Path, ...]
    luck: Luck
    labels: tuple[str, ...]

    def json(self, *, with_games: bool) -> dict[str, object]:
        """As JSON has it; null is undefined, nothing is rounded."""
        its = self.luck
        document: dict[str, object] = {
            "version": VERSION,
            "reference": REFERENCE_DIGEST,
            "beta": its.constants.beta,
            "expected": list(its.constants.expected),
            "records": [str(file) for file in self.files],
            "players": its.rules.players,
            "format": its.format.value,
            "games": its.games,
            "doubled": its.doubled,
            "left_out": its.left_out,
            "undealt": its.undealt,
            "unproved": its.unproved,
            "entrants": [
                _player(player, label)
                for player, label in zip(its.players, self.labels, strict=True)
            ],
        }
        if with_games:
            document["by_game"] = [
                {
                    "record": str(self.files[game.record]),
                    "room": game.room,
                    "game": game.game,
                    "entrant": label,
                    "hands": game.hands,
                    "raw": game.raw,
                    "luck": game.luck,
                    "adjusted": game.adjusted,
                }
                for label, game in self.games()
            ]
        return document

    def games(self) -> Iterator[tuple[str, GameLuck]]:
        """Every game in order, for each player who was in it."""
        every = [
            (label, game)
            for player, label in zip(self.luck.players, self.labels, strict=True)
            for game in player.games
        ]
        yield from sorted(every, key=lambda one: (one[1].record, one[1].game, one[1].room))


def read(files: Sequence[Path]) -> LuckReport:
    """Load the records and tell their luck.

    Raises :class:`LuckError`, which names the file where it is of one, RecordError, OSError.
    """
    records = [load(file) for file in files]
    found = luck(records, names=[str(file) for file in files])
    return LuckReport(tuple(files), found, _labels(found.players))


def _labels(players: Sequence[PlayerLuck]) -> tuple[str, ...]:
    entrants = list(dict.fromkeys(one for player in players for one in player.entrants))
    names = told_apart([(one.name, one.version) for one in entrants])
    name_of = dict(zip(entrants, names, strict=True))
    teams = [" + ".join(name_of[one] for one in player.entrants) for player in players]
    # Who met itself is there twice.
    return tuple(
        f"{team} #{1 + teams[:place].count(team)}" if teams.count(team) > 1 else team
        for place, team in enumerate(teams)
    )


def _player(player: PlayerLuck, label: str) -> dict[str, object]:
    return {
        "entrant": label,
        "bots": [asdict(entrant) for entrant in player.entrants],
        "hands": player.hands,
        "units": player.units,
        "raw": _estimate(player.raw),
        "luck": player.luck,
        "adjusted": _estimate(player.adjusted),
        "correlation": player.correlation,
        "variance_ratio": player.variance_ratio,
    }


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "error": estimate.error}


# -- for a person


def print_luck(report: LuckReport, console: Console, *, with_games: bool) -> None:
    """The players, the games if they were asked for, and what to know about them."""
    its = report.luck
    records = counted(len(report.files), "record")
    print_line(console, f"{records}, {its.rules.players} players, {its.format.value}")
    print_line(
        console,
        f"{VERSION}: adjusted = points - luck; luck is {its.constants.beta:g} x what the reference "
        "makes of the same cards, less its mean",
    )
    if with_games and its.players:
        console.print()
        console.print(_games(report))
    if its.players:
        console.print()
        console.print(_players(report))
    if with_games and len(report.files) > 1:
        for number, file in enumerate(report.files, start=1):
            print_line(console, f"record {number}: {printable(str(file))}")
    for line in _notes(its):
        print_line(console, line)


def _players(report: LuckReport) -> Table:
    table = named_columns("bot")
    for heading in ("hands", "points/hand", "luck", "adjusted", "rho", "variance"):
        table.add_column(heading, justify="right", no_wrap=True)
    for player, label in zip(report.luck.players, report.labels, strict=True):
        ratio = player.variance_ratio
        table.add_row(
            kept_apart(label),
            str(player.hands),
            with_error(player.raw.value, player.raw.error, digits=2),
            signed(player.luck, 2),
            with_error(player.adjusted.value, player.adjusted.error, digits=2),
            plain(player.correlation, 2),
            plain(ratio, 2) if ratio is None else f"{ratio:.2f} : 1",
        )
    return table


def _games(report: LuckReport) -> Table:
    """Points and luck of whole games; of two sides the first, for the other has as much less. Of
    several records each has a number: their paths are too long for a table, and stand below.
    """
    has_two_sides = len(report.luck.constants.expected) == 2
    table = named_columns("bot")
    has_several = len(report.files) > 1
    for heading in (
        *(["record"] if has_several else []),
        "game",
        "room",
        "hands",
        "points",
        "luck",
        "adjusted",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    shown: set[tuple[int, int, int]] = set()
    for label, game in report.games():
        place = (game.record, game.room, game.game)
        if has_two_sides and place in shown:
            continue
        shown.add(place)
        table.add_row(
            kept_apart(label),
            *([str(game.record + 1)] if has_several else []),
            str(game.game),
            str(game.room),
            str(game.hands),
            signed(game.raw, 1),
            signed(game.luck, 1),
            signed(game.adjusted, 1),
        )
    return table


def _notes(its: Luck) -> Iterator[str]:
    is_boards = its.format is Format.BOARDS
    unit = _UNITS[its.format]
    if not its.players:
        yield "no hand was played to its end: there is no score to adjust"
        return
    yield "± at 95 %; points: a side's less the mean of the others'; variance: raw to adjusted"
    if any(player.units < LEAST_UNITS for player in its.players):
        yield f"n/a: there is no error bar of fewer than {LEAST_UNITS} {unit}s"
    if not is_boards:
        yield "points a hand, given who was hakem; races won are not adjusted"
    if its.doubled:
        were = "was" if its.doubled == 1 else "were"
        of = f"{its.doubled} of {counted(its.games, unit)} {were} played in every room"
        yield (
            f"{of}: there all sides had the same cards and the luck falls out by itself, also what "
            "no reference sees; the comparison by board (arena match, arena ladder) is the better "
            "one, and the one that is rated"
            if is_boards
            else f"{of}, with the same decks: the comparison by pair is the one that is rated"
        )
    if its.left_out:
        yield f"{counted(its.left_out, 'hand')} without a result left out"
    if its.undealt:
        yield f"{counted(its.undealt, 'hand')} lost undealt, to which no luck belongs"
    if its.unproved:
        yield (
            f"{counted(its.unproved, 'hand')} whose seed is not revealed: that their decks are "
            "fair cannot be checked"
        )
