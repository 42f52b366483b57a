"""Matches that are decided, a page at a time, and one by its id: for those who look at a ladder.

What is still to be played, or being played, is in none of it: whoever asks through here cannot be
told of a live match. The rest of the store reads all results at once, as ratings want them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import sqlalchemy as sa

from arena.ladder.facts import State, totals
from arena.ladder.store import tables as t
from arena.ladder.store.database import Database

_DECIDED = (State.PLAYED.value, State.VOID.value)


@dataclass(frozen=True, slots=True)
class Decided:
    """A match that was played, or is void: `entrants` are numbers of bots, as named, `totals` what
    each has of all boards, None for a void one, and `because` why it is void. `event` and `cycle`
    are numbers.
    """

    id: str
    event: int
    round: int
    place: int
    entrants: tuple[int, ...]
    totals: tuple[int, ...] | None
    because: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """An attempt at a match, and its record: the file below `records/`, and the digest of what is
    in it.
    """

    number: int
    record: str
    digest: str


class Listing:
    """Decided matches; reached as `Store.listing`. Every method raises LadderError as those of the
    store do.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, *, most: int, before: tuple[int, int] | None = None, of: Sequence[int] = ()
    ) -> tuple[Decided, ...]:
        """The last decided matches by round and place, the last one first, `most` of them; before a
        round and place, and of any of some bots, if so asked.
        """
        query = (
            sa.select(t.matches.c.id)
            .where(t.matches.c.state.in_(_DECIDED))
            .order_by(t.matches.c.round.desc(), t.matches.c.place.desc())
            .limit(most)
        )
        if before is not None:
            query = query.where(
                sa.or_(
                    t.matches.c.round < before[0],
                    sa.and_(t.matches.c.round == before[0], t.matches.c.place < before[1]),
                )
            )
        if of:
            own = sa.select(t.entrants.c.match).where(t.entrants.c.bot.in_(of))
            query = query.where(t.matches.c.id.in_(own))
        with self._database.reading() as connection:
            ids = list(connection.execute(query).scalars())
            return _decided(connection, ids)

    def match(self, id_: str) -> Decided | None:
        """A decided match by its id; None for one that is not decided, or not there."""
        with self._database.reading() as connection:
            found = _decided(connection, [id_])
        return found[0] if found else None

    def attempts(self, id_: str) -> tuple[Kept, ...]:
        """The attempts at a decided match, in order; none for one that is not decided."""
        query = (
            sa.select(t.attempts)
            .join(t.matches, t.matches.c.id == t.attempts.c.match)
            .where(t.attempts.c.match == id_, t.matches.c.state.in_(_DECIDED))
            .order_by(t.attempts.c.number)
        )
        with self._database.reading() as connection:
            return tuple(
                Kept(row.number, row.record, row.record_digest) for row in connection.execute(query)
            )


def _decided(connection: sa.Connection, ids: Sequence[str]) -> tuple[Decided, ...]:
    query = (
        sa.select(
            t.matches.c.id,
            t.matches.c.round,
            t.matches.c.place,
            t.matches.c.state,
            t.matches.c.void_because,
            t.cycles.c.event,
            t.entrants.c.bot,
            t.results.c.boards,
        )
        .join(t.rounds, t.rounds.c.number == t.matches.c.round)
        .join(t.cycles, t.cycles.c.number == t.rounds.c.cycle)
        .join(t.entrants, t.entrants.c.match == t.matches.c.id)
        .outerjoin(t.results, t.results.c.match == t.matches.c.id)
        .where(t.matches.c.id.in_(ids), t.matches.c.state.in_(_DECIDED))
        .order_by(t.matches.c.round.desc(), t.matches.c.place.desc(), t.entrants.c.place)
    )
    matches = []
    for id_, found in groupby(connection.execute(query), key=lambda row: row.id):
        rows = list(found)
        first = rows[0]
        is_played = first.state == State.PLAYED.value
        matches.append(
            Decided(
                id_,
                first.event,
                first.round,
                first.place,
                tuple(row.bot for row in rows),
                _totals(first.boards, entrants=len(rows)) if is_played else None,
                None if is_played else first.void_because or "",
            )
        )
    return tuple(matches)


def _totals(boards: str | None, *, entrants: int) -> tuple[int, ...]:
    points = json.loads(boards or "null")
    if not isinstance(points, list) or not points:
        raise ValueError("a match that was played, without boards")
    sums = totals(tuple(tuple(map(int, board)) for board in points))
    if len(sums) != entrants:
        raise ValueError("a board without points for each entrant")
    return sums
