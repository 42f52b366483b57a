"""The tables of an export: their columns, what kind each is, in which unit, and what it means.

This is the one place that says so. A row is a value of one of the classes below, in the order of
its fields; the writers, `docs/export.md` and the tests take names, kinds and meanings from here. A
unit is in the name of its column. `record` is what binds tables together: a name or an id of a
match may be there twice, from two ladders say. What is not known, or has no meaning, is None.
"""

from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Final, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

Value: TypeAlias = int | float | str | bool | None


class Kind(Enum):
    """What a column holds."""

    WHOLE = "whole number"
    REAL = "number"
    TEXT = "text"
    TRUTH = "true or false"


class Match(NamedTuple):
    """A record: one attempt at a match."""

    record: Annotated[int, "number of the record in this export, from 1"]
    file: Annotated[str, "the record's file"]
    ladder: Annotated[str | None, "name of the ladder it is from; none outside one"]
    match: Annotated[str, "id of the match"]
    attempt: Annotated[int, "2 or more where a fault of the arena voided the one before"]
    event: Annotated[str | None, "the event it is of; none outside one"]
    round: Annotated[int | None, "the round of the ladder, as its id has it"]
    format: Annotated[str, "`boards` or `classic`, mirrored pairs of races"]
    players: Annotated[int, "seats at the table"]
    games: Annotated[int, "boards, or pairs of races, in each room"]
    rooms: Annotated[int, "how often each deal was played, with the sides rotated"]
    rules: Annotated[str, "the options of the table, `name=value` each"]
    policy: Annotated[str, "`rated` or `casual`: what a refused action costs"]
    move_milliseconds: Annotated[float, "what each move might take before the bank paid"]
    bank_milliseconds: Annotated[float, "what a seat had besides, for a hand"]
    counts: Annotated[bool, "whether the match counts: no ending voids it"]
    voided_by: Annotated[str | None, "the ending that voids it"]
    is_rated: Annotated[bool | None, "whether it moves ratings; none outside a ladder"]
    started: Annotated[str | None, "when it began, ISO 8601"]
    ended: Annotated[str | None, "when it was over, ISO 8601"]
    commitment: Annotated[str, "what its deals are bound by, as hex"]
    substance_digest: Annotated[str, "the digest of what was decided, as hex"]


class Entrant(NamedTuple):
    """A bot in a match."""

    record: Annotated[int, "the record"]
    entrant: Annotated[int, "its place among the entrants, from 0"]
    side: Annotated[int, "the side it is of; with four entrants two are of one"]
    bot: Annotated[str, "name"]
    owner: Annotated[str, "owner"]
    version: Annotated[str | None, "version"]
    digest: Annotated[str, "SHA-256 of its files"]
    score: Annotated[int, "points of its side on all boards, or races its side won"]
    decisions: Annotated[int, "decisions it took in all rooms"]
    charged_milliseconds: Annotated[float, "what they were charged"]
    longest_milliseconds: Annotated[float | None, "the most that one of them was charged"]
    cpu_milliseconds: Annotated[float | None, "CPU time of its processes, their start included"]
    refusals: Annotated[int, "actions of it that were refused"]
    faults: Annotated[int, "games that ended by its fault"]


class Board(NamedTuple):
    """A board that counts, or a pair of races, between two sides, over all rooms: the unit of
    statistics."""

    record: Annotated[int, "the record"]
    board: Annotated[int, "number of the board, or of the pair"]
    first_side: Annotated[int, "one side"]
    second_side: Annotated[int, "the other"]
    first: Annotated[str, "the bot of the one side; with two, `a + b`"]
    second: Annotated[str, "that of the other"]
    first_points: Annotated[int, "points of the one, or races it won"]
    second_points: Annotated[int, "those of the other"]
    difference: Annotated[int, "D, the first's less the second's"]


class Game(NamedTuple):
    """A board in one room, or a race."""

    record: Annotated[int, "the record"]
    room: Annotated[int, "the room, from 1"]
    game: Annotated[int, "number of the board, or of the pair of races"]
    seat_0: Annotated[str, "the bot at seat 0"]
    seat_1: Annotated[str, "at seat 1"]
    seat_2: Annotated[str | None, "at seat 2; none with two players"]
    seat_3: Annotated[str | None, "at seat 3; none with two or three players"]
    hands: Annotated[int, "hands that were dealt"]
    ending: Annotated[str | None, "how it ended, as in the rulebook; none: not at all"]
    winner_side: Annotated[int | None, "the side that won: 0 sits at seats 0 and 2, or at 0"]
    winner: Annotated[str | None, "the bot of that side; with two, `a + b`"]
    points_0: Annotated[int | None, "points of side 0"]
    points_1: Annotated[int | None, "points of side 1"]
    points_2: Annotated[int | None, "points of side 2; none with two sides"]
    fault_seat: Annotated[int | None, "the seat by whose fault it ended"]
    fault_bot: Annotated[str | None, "the bot there"]
    cause: Annotated[str | None, "the ending in words"]
    refusals: Annotated[int, "actions that were refused"]
    is_unplayed: Annotated[bool, "lost without being dealt (rulebook 7.7)"]


class Hand(NamedTuple):
    """A hand that was dealt."""

    record: Annotated[int, "the record"]
    room: Annotated[int, "the room"]
    game: Annotated[int, "the game"]
    hand: Annotated[int, "number of the hand in its game, from 1"]
    deck: Annotated[str, "the pack from the top, before a cut"]
    hakem_seat: Annotated[int, "the hakem's seat"]
    hakem: Annotated[str, "the bot there"]
    cut: Annotated[int | None, "cards that were cut from the top; none: nobody cut"]
    trump: Annotated[str | None, "`C`, `D`, `H`, `S`, `SAR`, `NAR` or `TAK_NAR`"]
    decisions: Annotated[int, "decisions in it"]
    winner_side: Annotated[int | None, "the side that won it; none: it did not end by the rules"]
    winner: Annotated[str | None, "the bot of that side; with two, `a + b`"]
    kind: Annotated[str | None, "`win`, `kot` or `hakem_kot`"]
    points: Annotated[int | None, "what it counts for the winner"]
    tricks_0: Annotated[int | None, "tricks of side 0"]
    tricks_1: Annotated[int | None, "tricks of side 1"]
    tricks_2: Annotated[int | None, "tricks of side 2; none with two sides"]


class Play(NamedTuple):
    """A decision: a cut, a declaration, a discard, a draw, a card."""

    record: Annotated[int, "the record"]
    room: Annotated[int, "the room"]
    game: Annotated[int, "the game"]
    hand: Annotated[int, "the hand"]
    decision: Annotated[int, "number of the decision in its hand, from 1"]
    seat: Annotated[int, "who took it"]
    entrant: Annotated[int, "the entrant there"]
    bot: Annotated[str, "the bot there"]
    action: Annotated[str, "`cut`, `trump`, `discard`, `draw` or `play`"]
    number: Annotated[int, "which of these in the hand, from 1"]
    what: Annotated[str, "the cards, the trump, `keep` or `refuse`, or how many were cut"]
    legal: Annotated[int, "how many actions were open to it"]
    charged_milliseconds: Annotated[float | None, "what its clock was charged"]
    hand_milliseconds: Annotated[float | None, "that of its seat in the hand so far"]
    note: Annotated[str | None, "the text that the bot noted of it; none: no note, or numbers only"]
    note_numbers: Annotated[str | None, "the numbers of its note, as a JSON object by name"]


class Bot(NamedTuple):
    """A bot of a ladder, and where it stands; the columns of `arena ladder standings`."""

    ladder: Annotated[str, "name of the ladder"]
    bot: Annotated[str, "name"]
    owner: Annotated[str, "owner"]
    version: Annotated[str | None, "version"]
    digest: Annotated[str, "SHA-256 of its files"]
    is_rated: Annotated[bool, "whether its matches move ratings"]
    is_reference: Annotated[bool, "whether it came with the arena"]
    inactive_because: Annotated[str | None, "why it is paired no more; none: it is active"]
    rank: Annotated[int | None, "rank by MLE"]
    rank_best: Annotated[int | None, "the best rank that the results leave open, at 95 %"]
    rank_worst: Annotated[int | None, "the worst"]
    elo: Annotated[float | None, "online Elo after the last closed round"]
    mle: Annotated[float | None, "the rating fitted to all rated matches"]
    mle_error_95: Annotated[float | None, "half the width of its 95 % interval"]
    matches: Annotated[int, "matches it rests on"]
    matches_won: Annotated[int, "won, against each other entrant"]
    matches_drawn: Annotated[int, "drawn"]
    matches_lost: Annotated[int, "lost"]
    boards_won: Annotated[int, "boards won, against each other entrant"]
    boards_drawn: Annotated[int, "level"]
    boards_lost: Annotated[int, "lost"]
    points_per_board: Annotated[float | None, "points it has more of a board, in the mean"]
    los_next: Annotated[float | None, "likelihood to be better than the next in rank, 0 to 1"]
    forfeits: Annotated[int, "games that ended by its fault"]


class Rating(NamedTuple):
    """The online Elo of a bot after a round in which it played a rated match."""

    ladder: Annotated[str, "name of the ladder"]
    bot: Annotated[str, "name"]
    round: Annotated[int, "the round, which is closed"]
    elo: Annotated[float, "Elo after it, on the scale of today's standings"]
    matches: Annotated[int, "rated matches it rests on"]


Row: TypeAlias = Match | Entrant | Board | Game | Hand | Play | Bot | Rating


@dataclass(frozen=True, slots=True)
class Column:
    """A column; where it `is_optional` it may be None."""

    name: str
    kind: Kind
    is_optional: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, the class of its rows, what one of them is, and its columns in order."""

    name: str
    rows: type[Row]
    meaning: str
    columns: tuple[Column, ...]


_KINDS: Final = {bool: Kind.TRUTH, int: Kind.WHOLE, float: Kind.REAL, str: Kind.TEXT}


def _table(name: str, rows: type[Row]) -> Table:
    hints = get_type_hints(rows, include_extras=True)
    columns = tuple(_column(field, hints[field]) for field in rows._fields)
    return Table(name, rows, " ".join((rows.__doc__ or "").split()), columns)


def _column(name: str, hint: object) -> Column:
    held, meaning = get_args(hint)
    is_optional = get_origin(held) is UnionType
    kind = get_args(held)[0] if is_optional else held
    return Column(name, _KINDS[kind], is_optional, meaning)


TABLES: Final = (
    _table("matches", Match),
    _table("entrants", Entrant),
    _table("boards", Board),
    _table("games", Game),
    _table("hands", Hand),
    _table("plays", Play),
    _table("bots", Bot),
    _table("ratings", Rating),
)
"""All of them, in the order in which they are written down and documented."""

TABLE_OF: Final = {table.rows: table for table in TABLES}
