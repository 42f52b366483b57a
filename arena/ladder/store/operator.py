"""What the operator of a ladder told it and did: the audit log, and what it heeds.

Every deed is committed with the change it is about, or neither is. What rests on results (ratings)
is worked out by the caller, outside of any transaction, and taken only if nothing happened
meanwhile that it could rest on; so a ladder that is being played is never held up by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from typing import Final

import sqlalchemy as sa

from arena.ladder.facts import Controls, Deed, Match, Pair, State
from arena.ladder.ratings.elo import EloRating
from arena.ladder.store import tables as t
from arena.ladder.store.database import Database


class Control(Enum):
    """What a ladder that stands can be told."""

    PAUSED = "paused"
    DRAINING = "draining"


Rounds = Mapping[int, Mapping[int, EloRating]]
"""Elo by the number of a closed round, then by number of bot."""

AsOf = tuple[int, int]
"""The last deed and how many rounds are closed: what ratings that were worked out rest on."""

_COLUMNS: Final = ("at", "actor", "verb", "subject", "reason")


class Operator:
    """Controls and deeds in the database. Every method is one transaction, and raises LadderError
    as those of `Store` do.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- to read

    def controls(self) -> Controls:
        """What the ladder is told now."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(t.controls)).all()
            found: dict[str, str] = {row.name: row.value for row in rows}
        return Controls(found.get(Control.PAUSED.value), found.get(Control.DRAINING.value))

    def deeds(self, *, last: int | None = None) -> tuple[Deed, ...]:
        """All that was done, in order, or the `last` so many."""
        query = sa.select(t.deeds).order_by(t.deeds.c.number.desc()).limit(last)
        with self._database.reading() as connection:
            rows = connection.execute(query).mappings().all()
        return tuple(Deed(**row) for row in reversed(rows))

    def last_deed(self) -> int:
        """The number of the last one; 0 before the first."""
        with self._database.reading() as connection:
            return last_deed(connection)

    def as_of(self) -> AsOf:
        """What ratings rest on that are worked out from what is read after this."""
        with self._database.reading() as connection:
            return _as_of(connection)

    # -- to do

    def note(self, deed: Deed) -> None:
        """Keep a deed that changed nothing here."""
        with self._database.writing() as connection:
            _note(connection, deed)

    def tell(self, controls: Mapping[Control, str | None], *, deed: Deed) -> None:
        """Tell the ladder something and why, or with None that it is over."""
        with self._database.writing() as connection:
            for control, because in controls.items():
                connection.execute(sa.delete(t.controls).where(t.controls.c.name == control.value))
                if because is not None:
                    values = {"name": control.value, "value": because}
                    connection.execute(sa.insert(t.controls).values(**values))
            _note(connection, deed)

    def deactivate(self, bot: int, *, because: str, deed: Deed) -> None:
        """Take a bot out: it is paired no more."""
        self._change_bot(bot, deed, inactive_because=because)

    def activate(self, bot: int, *, deed: Deed) -> None:
        """Take a bot back."""
        self._change_bot(bot, deed, failed_starts=0, inactive_because=None)

    def strike(
        self, match: Match, *, because: str, ratings: Rounds, as_of: AsOf, deed: Deed
    ) -> bool:
        """Strike out a match that was played: it counts no more, its attempt stays. `ratings` are
        what follows without it, of the closed rounds from its own on.

        False, and nothing changes, if something happened since `as_of`, or it does not count.
        """
        with self._database.writing() as connection:
            if _as_of(connection) != as_of or not _is(connection, match, (State.PLAYED,)):
                return False
            _strike(connection, match, because=because)
            _update_match(connection, match, state=State.VOID, void_because=because)
            _rerate(connection, ratings, since=match.round)
            _note(connection, deed)
        return True

    def requeue(self, match: Match, *, because: str, as_of: AsOf, deed: Deed) -> bool:
        """Strike out what came of a match, and have it played again. The rounds from its own on are
        open again.

        False, and nothing changes, if something happened since `as_of`, if it is not decided, or
        not of the last cycle of an event that goes on.
        """
        decided = (State.PLAYED, State.VOID)
        with self._database.writing() as connection:
            if _as_of(connection) != as_of or not _is(connection, match, decided):
                return False
            if not _is_of_last_cycle(connection, match):
                return False
            _strike(connection, match, because=because)
            connection.execute(sa.delete(t.results).where(t.results.c.match == match.id))
            _update_match(connection, match, state=State.SCHEDULED, void_because=None)
            connection.execute(
                sa.update(t.rounds).where(t.rounds.c.number >= match.round).values(is_closed=False)
            )
            _rerate(connection, {}, since=match.round)
            _note(connection, deed)
        return True

    def recompute(
        self,
        *,
        ratings: Rounds | None,
        pairs: Mapping[tuple[int, int], Sequence[Pair]] | None,
        as_of: AsOf,
        deed: Deed,
    ) -> bool:
        """Put what follows from all results in the place of what is kept; what is None is right.
        `pairs` go by round and place of their match.

        False, and nothing changes, if something happened since `as_of`.
        """
        with self._database.writing() as connection:
            if _as_of(connection) != as_of:
                return False
            if ratings is not None:
                _rerate(connection, ratings, since=1)
            if pairs is not None:
                connection.execute(sa.delete(t.pairs))
                rows = [
                    {"round": number, "place": place} | asdict(pair)
                    for (number, place), its in pairs.items()
                    for pair in its
                ]
                if rows:
                    connection.execute(sa.insert(t.pairs), rows)
            _note(connection, deed)
        return True

    def _change_bot(self, bot: int, deed: Deed, **values: int | str | None) -> None:
        with self._database.writing() as connection:
            connection.execute(sa.update(t.bots).where(t.bots.c.number == bot).values(**values))
            _note(connection, deed)


def last_deed(connection: sa.Connection) -> int:
    """The number of the last deed; 0 before the first."""
    number: int | None = connection.execute(sa.select(sa.func.max(t.deeds.c.number))).scalar_one()
    return number or 0


def _as_of(connection: sa.Connection) -> AsOf:
    closed = sa.select(sa.func.count()).where(t.rounds.c.is_closed)
    return last_deed(connection), connection.execute(closed).scalar_one()


def _note(connection: sa.Connection, deed: Deed) -> None:
    values = {name: getattr(deed, name) for name in _COLUMNS}
    connection.execute(sa.insert(t.deeds).values(**values))


def _is(connection: sa.Connection, match: Match, states: Sequence[State]) -> bool:
    query = sa.select(t.matches.c.state).where(t.matches.c.id == match.id)
    return connection.execute(query).scalar_one() in [state.value for state in states]


def _is_of_last_cycle(connection: sa.Connection, match: Match) -> bool:
    """Whether a match is of the last cycle, and its event neither over nor about to be."""
    query = (
        sa.select(t.rounds.c.cycle, t.events.c.ending, t.events.c.secret)
        .join(t.cycles, t.cycles.c.number == t.rounds.c.cycle)
        .join(t.events, t.events.c.number == t.cycles.c.event)
        .where(t.rounds.c.number == match.round)
    )
    cycle, is_ending, secret = connection.execute(query).one()
    last = connection.execute(sa.select(sa.func.max(t.cycles.c.number))).scalar_one()
    return cycle == last and not is_ending and secret is None


def _strike(connection: sa.Connection, match: Match, *, because: str) -> None:
    """Strike out the last attempt at a match, and all that was derived from its result."""
    last = sa.select(sa.func.max(t.attempts.c.number)).where(t.attempts.c.match == match.id)
    connection.execute(
        sa.update(t.attempts)
        .where(t.attempts.c.match == match.id, t.attempts.c.number == last.scalar_subquery())
        .values(struck=because)
    )
    connection.execute(
        sa.delete(t.pairs).where(t.pairs.c.round == match.round, t.pairs.c.place == match.place)
    )
    connection.execute(
        sa.update(t.entrants).where(t.entrants.c.match == match.id).values(forfeits=None)
    )


def _update_match(
    connection: sa.Connection, match: Match, *, state: State, void_because: str | None
) -> None:
    connection.execute(
        sa.update(t.matches)
        .where(t.matches.c.id == match.id)
        .values(state=state.value, void_because=void_because)
    )


def _rerate(connection: sa.Connection, ratings: Rounds, *, since: int) -> None:
    connection.execute(sa.delete(t.ratings).where(t.ratings.c.round >= since))
    rows = [
        {"round": number, "bot": bot, "elo": after.rating, "matches": after.matches}
        for number, its in ratings.items()
        if number >= since
        for bot, after in its.items()
    ]
    if rows:
        connection.execute(sa.insert(t.ratings), rows)
