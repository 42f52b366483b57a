"""The database of a ladder: what is entered, what is scheduled, what came of it.

One transaction a fact: a match is played the moment its attempt, its boards and its new state are
committed, and a round is closed the moment its ratings are. Whoever reads at any time, or after a
kill, sees whole facts only. The store decides nothing about pairings, ratings or files. A
transaction takes about a millisecond, so none needs a thread of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import sqlalchemy as sa

from arena.ladder.elo import EloRating
from arena.ladder.facts import Attempt, Boards, Bot, Event, Match, Result, State
from arena.ladder.store import tables as t
from arena.ladder.store.database import Database
from hokm.errors import quoted
from hokm.outcome import Ending


class Store:
    """The database in `file`, made by `create` or `open`.

    Every method is one transaction, and raises LadderError for a database that is damaged, locked
    by a stuck process, or on a full disk.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def create(cls, file: Path, *, settings: str) -> "Store":
        """Make the database of a new ladder."""
        store = cls(Database(file))
        try:
            store._database.create()
            with store._database.writing() as connection:
                connection.execute(sa.insert(t.ladder).values(id=1, settings=settings))
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open(cls, file: Path) -> "Store":
        """Open the database of a ladder; one from an older arena is brought up to date.

        Raises LadderError if there is none, or if a newer arena made it.
        """
        store = cls(Database(file))
        try:
            store._database.open()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def settings(self) -> str:
        """`ladder.toml` as it was made."""
        with self._database.reading() as connection:
            text: str = connection.execute(sa.select(t.ladder.c.settings)).scalar_one()
        return text

    # -- bots

    def bots(self) -> tuple[Bot, ...]:
        """Everybody, in the order they were entered."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(t.bots).order_by(t.bots.c.number))
            return tuple(Bot(**row) for row in rows.mappings())

    def add_bot(self, *, name: str, owner: str, version: str, digest: str, rated: bool) -> None:
        """Enter a bot; name and digest must be new."""
        row = {"name": name, "owner": owner, "version": version, "digest": digest}
        with self._database.writing() as connection:
            connection.execute(sa.insert(t.bots).values(**row, rated=rated, failed_starts=0))

    def activate(self, bot: int) -> None:
        """Take a bot back whose starts failed."""
        with self._database.writing() as connection:
            self._update_bot(connection, bot, failed_starts=0, inactive_because=None)

    # -- the schedule

    def event_under_way(self) -> Event | None:
        """The event that is not over; there is one at most."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(t.events).where(t.events.c.secret.is_(None)))
            row = rows.one_or_none()
        return None if row is None else _event(row)

    def events(self) -> tuple[Event, ...]:
        """All of them, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(t.events).order_by(t.events.c.number))
            return tuple(_event(row) for row in rows)

    def begin_event(self, event: Event) -> None:
        """Announce an event: from now on its commitment is bound to its name."""
        with self._database.writing() as connection:
            connection.execute(
                sa.insert(t.events).values(
                    number=event.number, cycles=event.cycles, commitment=event.commitment.hex()
                )
            )

    def finish_event(self, event: Event, *, secret: bytes) -> None:
        """Its secret is revealed, and it is over."""
        with self._database.writing() as connection:
            connection.execute(
                sa.update(t.events)
                .where(t.events.c.number == event.number)
                .values(secret=secret.hex())
            )

    def cycles_begun(self, event: Event) -> int:
        """How many cycles of the event are scheduled."""
        query = sa.select(sa.func.count()).where(t.cycles.c.event == event.number)
        with self._database.reading() as connection:
            return connection.execute(query).scalar_one()

    def last_numbers(self) -> tuple[int, int]:
        """The numbers of the last cycle and the last round there are; 0 before the first."""
        with self._database.reading() as connection:
            cycle = connection.execute(sa.select(sa.func.max(t.cycles.c.number))).scalar_one()
            last = connection.execute(sa.select(sa.func.max(t.rounds.c.number))).scalar_one()
        return cycle or 0, last or 0

    def add_cycle(self, event: Event, cycle: int, matches: Sequence[Match]) -> None:
        """Schedule a cycle, all its rounds and matches at once."""
        with self._database.writing() as connection:
            connection.execute(sa.insert(t.cycles).values(number=cycle, event=event.number))
            connection.execute(
                sa.insert(t.rounds),
                [
                    {"number": number, "cycle": cycle, "is_closed": False}
                    for number in sorted({match.round for match in matches})
                ],
            )
            connection.execute(
                sa.insert(t.matches),
                [
                    {
                        "id": match.id,
                        "round": match.round,
                        "place": match.place,
                        "state": State.SCHEDULED.value,
                    }
                    for match in matches
                ],
            )
            connection.execute(
                sa.insert(t.entrants),
                [
                    {"match": match.id, "place": place, "bot": bot}
                    for match in matches
                    for place, bot in enumerate(match.entrants, start=1)
                ],
            )

    def scheduled(self) -> tuple[Match, ...]:
        """The matches still to be played, by round and place."""
        tried = (
            sa.select(sa.func.count())
            .where(t.attempts.c.match == t.matches.c.id)
            .scalar_subquery()
            .label("tried")
        )
        query = (
            sa.select(t.matches.c.id, t.matches.c.round, t.matches.c.place, t.entrants.c.bot, tried)
            .join(t.entrants, t.entrants.c.match == t.matches.c.id)
            .where(t.matches.c.state == State.SCHEDULED.value)
            .order_by(t.matches.c.round, t.matches.c.place, t.entrants.c.place)
        )
        matches = []
        with self._database.reading() as connection:
            for _, found in groupby(connection.execute(query), key=lambda row: row.id):
                rows = list(found)
                entrants = tuple(row.bot for row in rows)
                id_, number, place, _, tried = rows[0]
                matches.append(Match(id_, number, place, entrants, attempt=tried + 1))
        return tuple(matches)

    # -- what came of it

    def play(self, match: Match, attempt: Attempt, boards: Boards) -> None:
        """The match is played; all its bots have started."""
        with self._database.writing() as connection:
            self._add_attempt(connection, attempt)
            self._update_match(connection, match, state=State.PLAYED)
            connection.execute(
                sa.insert(t.points),
                [
                    {"match": match.id, "board": board, "place": place, "points": count}
                    for board, points in enumerate(boards, start=1)
                    for place, count in enumerate(points, start=1)
                ],
            )
            for bot in match.entrants:
                self._update_bot(connection, bot, failed_starts=0)

    def void_attempt(
        self,
        match: Match,
        attempt: Attempt,
        *,
        void_because: str | None,
        changed: Iterable[Bot] = (),
    ) -> None:
        """An attempt counts for nothing, and neither does the match if `void_because` says so; else
        it is still to be played. `changed` are bots with new failed starts, or inactive now.
        """
        with self._database.writing() as connection:
            self._add_attempt(connection, attempt)
            if void_because is not None:
                self._update_match(connection, match, state=State.VOID, because=void_because)
            for bot in changed:
                values = {
                    "failed_starts": bot.failed_starts,
                    "inactive_because": bot.inactive_because,
                }
                self._update_bot(connection, bot.number, **values)

    def void(self, match: Match, *, because: str) -> None:
        """The match will not be played."""
        with self._database.writing() as connection:
            self._update_match(connection, match, state=State.VOID, because=because)

    def results(self, *, in_round: int | None = None) -> tuple[Result, ...]:
        """The matches played, all or those of a round, by round and place."""
        query = (
            sa.select(
                t.matches.c.id,
                t.matches.c.round,
                t.entrants.c.bot,
                t.points.c.board,
                t.points.c.points,
            )
            .join(t.entrants, t.entrants.c.match == t.matches.c.id)
            .join(t.points)
            .where(t.matches.c.state == State.PLAYED.value)
            .order_by(t.matches.c.round, t.matches.c.place, t.points.c.board, t.points.c.place)
        )
        if in_round is not None:
            query = query.where(t.matches.c.round == in_round)
        results = []
        with self._database.reading() as connection:
            played = groupby(connection.execute(query), key=lambda row: (row.id, row.round))
            for (match, number), rows in played:
                boards = [list(board) for _, board in groupby(rows, key=lambda row: row.board)]
                entrants = tuple(row.bot for row in boards[0])
                points = tuple(tuple(row.points for row in board) for board in boards)
                if any(tuple(row.bot for row in board) != entrants for board in boards):
                    raise ValueError(f"a board of {quoted(match)} without points for each entrant")
                results.append(Result(match, number, entrants, points))
        return tuple(results)

    def attempts(self, event: Event | None = None) -> tuple[Attempt, ...]:
        """Every attempt with its record, all or those of an event, in the order of the schedule."""
        query = (
            sa.select(t.attempts)
            .join(t.matches, t.matches.c.id == t.attempts.c.match)
            .join(t.rounds, t.rounds.c.number == t.matches.c.round)
            .join(t.cycles, t.cycles.c.number == t.rounds.c.cycle)
            .order_by(t.matches.c.round, t.matches.c.place, t.attempts.c.number)
        )
        if event is not None:
            query = query.where(t.cycles.c.event == event.number)
        with self._database.reading() as connection:
            return tuple(
                Attempt(
                    row.match,
                    row.number,
                    None if row.voided_by is None else Ending(row.voided_by),
                    row.cause,
                    row.record,
                    row.record_digest,
                )
                for row in connection.execute(query)
            )

    def voided(self) -> tuple[tuple[str, str], ...]:
        """The matches that never counted and why, by round and place."""
        query = (
            sa.select(t.matches.c.id, t.matches.c.void_because)
            .where(t.matches.c.state == State.VOID.value)
            .order_by(t.matches.c.round, t.matches.c.place)
        )
        with self._database.reading() as connection:
            return tuple((match, because) for match, because in connection.execute(query))

    # -- rounds and ratings

    def rounds_closed(self) -> int:
        """How many rounds are closed, always the first ones."""
        query = sa.select(sa.func.count()).where(t.rounds.c.is_closed)
        with self._database.reading() as connection:
            return connection.execute(query).scalar_one()

    def round_to_close(self) -> int | None:
        """The first open round, if nothing of it is still to be played."""
        first = sa.select(sa.func.min(t.rounds.c.number)).where(~t.rounds.c.is_closed)
        with self._database.reading() as connection:
            number: int | None = connection.execute(first).scalar_one()
            left = connection.execute(
                sa.select(sa.func.count()).where(
                    t.matches.c.round == number, t.matches.c.state == State.SCHEDULED.value
                )
            ).scalar_one()
        return None if left else number

    def close_round(self, number: int, ratings: Mapping[int, EloRating]) -> None:
        """Close a round with the ratings, after it, of those who played in it."""
        with self._database.writing() as connection:
            connection.execute(
                sa.update(t.rounds).where(t.rounds.c.number == number).values(is_closed=True)
            )
            if ratings:
                connection.execute(
                    sa.insert(t.ratings),
                    [
                        {"round": number, "bot": bot, "elo": after.rating, "matches": after.matches}
                        for bot, after in ratings.items()
                    ],
                )

    def ratings(self) -> dict[int, EloRating]:
        """The Elo of each bot after the last closed round it played in."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(t.ratings).order_by(t.ratings.c.round))
            return {row.bot: EloRating(row.elo, row.matches) for row in rows}

    # -- rows

    def _add_attempt(self, connection: sa.Connection, attempt: Attempt) -> None:
        connection.execute(
            sa.insert(t.attempts).values(
                match=attempt.match,
                number=attempt.number,
                voided_by=None if attempt.voided_by is None else attempt.voided_by.value,
                cause=attempt.cause,
                record=attempt.record,
                record_digest=attempt.record_digest,
            )
        )

    def _update_match(
        self, connection: sa.Connection, match: Match, *, state: State, because: str | None = None
    ) -> None:
        connection.execute(
            sa.update(t.matches)
            .where(t.matches.c.id == match.id)
            .values(state=state.value, void_because=because)
        )

    def _update_bot(self, connection: sa.Connection, bot: int, **values: int | str | None) -> None:
        connection.execute(sa.update(t.bots).where(t.bots.c.number == bot).values(**values))


def _event(row: "sa.Row[tuple[object, ...]]") -> Event:
    return Event(
        row.number,
        row.cycles,
        bytes.fromhex(row.commitment),
        None if row.secret is None else bytes.fromhex(row.secret),
    )
