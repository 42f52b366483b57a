"""The database of a ladder: what is entered, what is scheduled, what came of it.

One transaction a fact: a match is played the moment its attempt, its boards and its new state are
committed, and a round is closed the moment its ratings are. Whoever reads at any time, or after a
kill, sees whole facts only. The store decides nothing about pairings, ratings or files. A
transaction takes about a millisecond, two or three on a server nearby, so none needs a thread of
its own.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from arena.ladder.facts import Attempt, Boards, Bot, Event, Fixture, Match, Result, Stage, State
from arena.ladder.ratings.elo import EloRating
from arena.ladder.store import tables as t
from arena.ladder.store.accounts import Accounts
from arena.ladder.store.address import Address
from arena.ladder.store.database import Database
from arena.ladder.store.listing import Listing
from arena.ladder.store.operator import Operator, last_deed
from hokm.errors import quoted
from hokm.outcome import Ending

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Store:
    """The database at an address, made by `create` or `open`.

    Every method is one transaction, and raises LadderError for a database that is damaged, locked
    by a stuck process, on a full disk, or out of reach.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.accounts = Accounts(database)
        """Owners, their tokens, and what they sent in."""
        self.listing = Listing(database)
        """Matches that are decided, by pages and by name."""
        self.operator = Operator(database)
        """What the operator of a ladder that stands told it, and did."""

    @classmethod
    def create(cls, address: Address, *, settings: str, proof: Path | None = None) -> "Store":
        """Make the database of a new ladder; `proof` is a file as `Database.creating` takes it.

        Raises LadderError if there is one already.
        """
        store = cls(Database(address))
        try:
            with store._database.creating(proof=proof) as connection:
                connection.execute(sa.insert(t.ladder).values(id=1, settings=settings))
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open(cls, address: Address) -> "Store":
        """Open the database of a ladder; one from an older arena is brought up to date.

        Raises LadderError if there is none, or if a newer arena made it.
        """
        store = cls(Database(address))
        try:
            store._database.open()
        except BaseException:
            store.close()
            raise
        return store

    @property
    def where(self) -> Path | str:
        """Where it is, as errors say it."""
        return self._database.where

    @property
    def database(self) -> Database:
        """What it is kept in, for whoever copies it."""
        return self._database

    def close(self) -> None:
        """Let go of it."""
        self._database.close()

    def made(self, *, proof: Path) -> None:
        """What was created with this `proof`, if it was, is in use from now on."""
        self._database.made(proof=proof)

    def held(self) -> AbstractContextManager[None]:
        """Hold it for playing. Raises LadderError if whoever has another folder holds it."""
        return self._database.held()

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

    def add_bot(
        self,
        *,
        name: str,
        owner: str,
        version: str,
        digest: str,
        program: str = "",
        reference: bool = False,
        rated: bool,
        remote: bool = False,
    ) -> None:
        """Enter a bot; name and digest must be new."""
        with self._database.writing() as connection:
            connection.execute(
                sa.insert(t.bots).values(
                    name=name,
                    owner=owner,
                    version=version,
                    digest=digest,
                    program=program or digest,
                    reference=reference,
                    rated=rated,
                    failed_starts=0,
                    remote=remote,
                )
            )

    def activate(self, bot: int) -> None:
        """Take a bot back whose starts failed, or that was withdrawn."""
        with self._database.writing() as connection:
            self._update_bot(connection, bot, failed_starts=0, inactive_because=None)

    def deactivate(self, bot: int, *, because: str) -> None:
        """Take a bot out: it is paired no more."""
        with self._database.writing() as connection:
            self._update_bot(connection, bot, inactive_because=because)

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
                    number=event.number,
                    schedule=event.schedule,
                    commitment=event.commitment.hex(),
                    beacon=event.beacon,
                )
            )
            if event.entropy is not None:
                self._begin(connection, event, event.entropy)

    def fix_entropy(self, event: Event, entropy: bytes) -> None:
        """From now on the deals of the event are fixed; it is kept as well how `event` says that
        its schedule is settled, what its beacon published, and how many bots were entered.
        """
        with self._database.writing() as connection:
            self._begin(connection, event, entropy)

    def event(self, number: int) -> Event:
        """An event, by its number."""
        query = sa.select(t.events).where(t.events.c.number == number)
        with self._database.reading() as connection:
            return _event(connection.execute(query).one())

    def add_nonce(self, event: Event, *, bot: int, nonce: bytes) -> None:
        """Take a bot's nonce for an event; another one of the same bot takes its place."""
        with self._database.writing() as connection:
            connection.execute(
                sa.delete(t.nonces).where(t.nonces.c.event == event.number, t.nonces.c.bot == bot)
            )
            connection.execute(
                sa.insert(t.nonces).values(event=event.number, bot=bot, nonce=nonce.hex())
            )

    def nonces(self, event: Event) -> dict[int, bytes]:
        """The nonces of an event by number of bot."""
        query = sa.select(t.nonces).where(t.nonces.c.event == event.number).order_by("bot")
        with self._database.reading() as connection:
            return {row.bot: bytes.fromhex(row.nonce) for row in connection.execute(query)}

    def begin_ending(self, event: Event, *, as_of: int | None = None) -> bool:
        """From now on nothing of the event is played: its secret is to be revealed. False, and
        nothing changes, if the operator's last deed is not the one `as_of` which nothing was left.
        """
        with self._database.writing() as connection:
            if as_of not in (None, last_deed(connection)):
                return False
            connection.execute(
                sa.update(t.events).where(t.events.c.number == event.number).values(ending=True)
            )
        return True

    def finish_event(self, event: Event, *, secret: bytes) -> None:
        """Its secret is revealed, and it is over."""
        with self._database.writing() as connection:
            connection.execute(
                sa.update(t.events)
                .where(t.events.c.number == event.number)
                .values(secret=secret.hex())
            )

    def last_numbers(self) -> tuple[int, int]:
        """The numbers of the last cycle and the last round there are; 0 before the first."""
        with self._database.reading() as connection:
            cycle = connection.execute(sa.select(sa.func.max(t.cycles.c.number))).scalar_one()
            last = connection.execute(sa.select(sa.func.max(t.rounds.c.number))).scalar_one()
        return cycle or 0, last or 0

    def add_cycle(
        self,
        event: Event,
        cycle: int,
        matches: Sequence[Match],
        *,
        field: Iterable[int] = (),
        as_of: int | None = None,
    ) -> bool:
        """Schedule a cycle, all its rounds and matches at once. `field` are the bots that could be
        paired, if others than are. False, and nothing changes, if the operator's last deed is not
        the one `as_of` which it was worked out.
        """
        numbers = json.dumps(list(field)) if field else None
        with self._database.writing() as connection:
            if as_of not in (None, last_deed(connection)):
                return False
            connection.execute(
                sa.insert(t.cycles).values(number=cycle, event=event.number, field=numbers)
            )
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
        return True

    def scheduled(self) -> tuple[Match, ...]:
        """The matches still to be played, by round and place."""
        query = (
            sa.select(
                t.matches.c.id, t.matches.c.round, t.matches.c.place, t.entrants.c.bot, _TRIED
            )
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

    def stages(self, event: Event) -> tuple[Stage, ...]:
        """All that is scheduled of an event, in order."""
        query = (
            sa.select(
                t.cycles.c.number,
                t.cycles.c.field,
                t.matches.c.id,
                t.matches.c.round,
                t.matches.c.place,
                t.matches.c.state,
                t.matches.c.void_because,
                t.entrants.c.bot,
                _TRIED,
            )
            .join(t.rounds, t.rounds.c.cycle == t.cycles.c.number)
            .join(t.matches, t.matches.c.round == t.rounds.c.number)
            .join(t.entrants, t.entrants.c.match == t.matches.c.id)
            .where(t.cycles.c.event == event.number)
            .order_by(t.matches.c.round, t.matches.c.place, t.entrants.c.place)
        )
        with self._database.reading() as connection:
            found = groupby(connection.execute(query), key=lambda row: row.number)
            return tuple(_stage(number, rows) for number, rows in found)

    # -- what came of it

    def play(
        self,
        match: Match,
        attempt: Attempt,
        boards: Boards,
        *,
        forfeits: Sequence[int] | None = None,
        cpu_seconds: Sequence[float | None] | None = None,
    ) -> None:
        """The match is played; all its bots have started. `forfeits` and `cpu_seconds` are of each
        of its entrants.
        """
        unknown = [None] * len(match.entrants)
        result = Result(match.id, match.round, match.entrants, boards)
        with self._database.writing() as connection:
            self._add_attempt(connection, attempt)
            self._update_match(connection, match, state=State.PLAYED)
            text = json.dumps(boards, separators=(",", ":"))
            connection.execute(sa.insert(t.results).values(match=match.id, boards=text))
            connection.execute(
                sa.insert(t.pairs),
                [
                    {"round": match.round, "place": match.place} | asdict(pair)
                    for pair in result.pairs()
                ],
            )
            for bot, faults, seconds in zip(
                match.entrants, forfeits or unknown, cpu_seconds or unknown, strict=True
            ):
                self._update_bot(connection, bot, failed_starts=0)
                connection.execute(
                    sa.update(t.entrants)
                    .where(t.entrants.c.match == match.id, t.entrants.c.bot == bot)
                    .values(
                        forfeits=faults,
                        cpu_milliseconds=None if seconds is None else round(1000 * seconds),
                    )
                )

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

    def results(
        self,
        *,
        in_round: int | None = None,
        of: Iterable[int] = (),
        damaged: list[str] | None = None,
        struck: bool = False,
    ) -> tuple[Result, ...]:
        """The matches played by round and place: all, those of a round, those that all of some bots
        were in. With a list for those that are `damaged` their ids go there, and the rest is read.
        Those that were `struck` out by the operator are not among them, but asked for alone.
        """
        query = (
            sa.select(
                t.matches.c.id,
                t.matches.c.round,
                t.entrants.c.bot,
                t.entrants.c.forfeits,
                t.results.c.boards,
            )
            .join(t.results, t.results.c.match == t.matches.c.id)
            .join(t.entrants, t.entrants.c.match == t.matches.c.id)
            .where(t.matches.c.state == (State.VOID if struck else State.PLAYED).value)
            .order_by(t.matches.c.round, t.matches.c.place, t.entrants.c.place)
        )
        if in_round is not None:
            query = query.where(t.matches.c.round == in_round)
        for bot in of:
            own = sa.select(t.entrants.c.match).where(t.entrants.c.bot == bot)
            query = query.where(t.matches.c.id.in_(own))
        with self._database.reading() as connection:
            played = groupby(
                connection.execute(query), key=lambda row: (row.id, row.round, row.boards)
            )
            results = []
            for (match, number, boards), found in played:
                rows = list(found)
                forfeits = None if rows[0].forfeits is None else [row.forfeits for row in rows]
                entrants = [row.bot for row in rows]
                try:
                    result = _result(match, number, entrants, boards=boards, forfeits=forfeits)
                except ValueError:
                    if damaged is None:
                        raise
                    damaged.append(match)
                else:
                    results.append(result)
        return tuple(results)

    def pairs(self, event: Event | None = None) -> "NDArray[np.int64]":
        """What came of the matches, all or those of an event, between each two of their entrants,
        by round and place: a row each of round, place, first, second, won, drawn, lost, difference,
        as `facts.Pair` has them.
        """
        import numpy as np  # 0.16 s, and only standings and schedules want this

        query = f"SELECT {', '.join(column.name for column in t.pairs.columns)} FROM pairs"
        if event is not None:
            query += (
                " WHERE round IN (SELECT rounds.number FROM rounds JOIN cycles"
                f" ON cycles.number = rounds.cycle WHERE cycles.event = {event.number:d})"
            )
        with self._database.reading() as connection:
            # Straight from the driver: to make SQLAlchemy's rows of 200,000 takes 0.3 s.
            rows = connection.exec_driver_sql(f"{query} ORDER BY round, place").cursor.fetchall()
            try:
                return np.array(rows, np.int64).reshape(-1, len(t.pairs.columns))
            except (TypeError, OverflowError) as error:
                raise ValueError(str(error)) from error

    def matches_void(self) -> int:
        """How many matches never counted."""
        query = sa.select(sa.func.count()).where(t.matches.c.state == State.VOID.value)
        with self._database.reading() as connection:
            return connection.execute(query).scalar_one()

    def forfeits(self) -> dict[int, int]:
        """How many games each bot ended by its fault, those who ended any, by number."""
        total = sa.func.sum(t.entrants.c.forfeits)
        some = t.entrants.c.forfeits > 0
        query = sa.select(t.entrants.c.bot, total).where(some).group_by(t.entrants.c.bot)
        with self._database.reading() as connection:
            return dict(connection.execute(query).all())

    def cpu_seconds(self) -> dict[int, float]:
        """By number: what a match has cost each bot's processes in the mean, where it is known."""
        milliseconds = t.entrants.c.cpu_milliseconds
        query = sa.select(
            t.entrants.c.bot, sa.func.sum(milliseconds), sa.func.count(milliseconds)
        ).group_by(t.entrants.c.bot)
        with self._database.reading() as connection:
            found = connection.execute(query)
            return {bot: total / count / 1000 for bot, total, count in found if total}

    def attempts(
        self, event: Event | None = None, *, of: Iterable[int] = ()
    ) -> tuple[Attempt, ...]:
        """Every attempt with its record, in the order of the schedule: all, those of an event,
        those at matches that all of some bots were in.
        """
        query = (
            sa.select(t.attempts)
            .join(t.matches, t.matches.c.id == t.attempts.c.match)
            .join(t.rounds, t.rounds.c.number == t.matches.c.round)
            .join(t.cycles, t.cycles.c.number == t.rounds.c.cycle)
            .order_by(t.matches.c.round, t.matches.c.place, t.attempts.c.number)
        )
        if event is not None:
            query = query.where(t.cycles.c.event == event.number)
        for bot in of:
            own = sa.select(t.entrants.c.match).where(t.entrants.c.bot == bot)
            query = query.where(t.attempts.c.match.in_(own))
        with self._database.reading() as connection:
            return tuple(
                Attempt(
                    row.match,
                    row.number,
                    None if row.voided_by is None else Ending(row.voided_by),
                    row.cause,
                    row.record,
                    row.record_digest,
                    row.struck,
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

    def close_round(
        self, number: int, ratings: Mapping[int, EloRating], *, as_of: int | None = None
    ) -> bool:
        """Close a round with the ratings, after it, of those who played in it. False, and nothing
        changes, if the operator's last deed is not the one `as_of` which they were worked out.
        """
        with self._database.writing() as connection:
            if as_of not in (None, last_deed(connection)):
                return False
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
        return True

    def ratings(self) -> dict[int, EloRating]:
        """The Elo of each bot after the last closed round it played in."""
        other = t.ratings.alias()
        last = (
            sa.select(sa.func.max(other.c.round))
            .where(other.c.bot == t.bots.c.number)
            .scalar_subquery()
        )
        query = (
            sa.select(t.ratings)
            .join(t.bots, t.bots.c.number == t.ratings.c.bot)
            .where(t.ratings.c.round == last)
            .order_by(t.ratings.c.bot)
        )
        with self._database.reading() as connection:
            rows = connection.execute(query)
            return {row.bot: EloRating(row.elo, row.matches) for row in rows}

    def rating_history(self, bot: int) -> tuple[tuple[int, EloRating], ...]:
        """The Elo of a bot after each closed round it played in."""
        query = sa.select(t.ratings).where(t.ratings.c.bot == bot).order_by(t.ratings.c.round)
        with self._database.reading() as connection:
            rows = connection.execute(query)
            return tuple((row.round, EloRating(row.elo, row.matches)) for row in rows)

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

    def _begin(self, connection: sa.Connection, event: Event, entropy: bytes) -> None:
        connection.execute(
            sa.update(t.events)
            .where(t.events.c.number == event.number)
            .values(
                entropy=entropy.hex(),
                settled=event.settled,
                beacon_value=event.beacon_value,
                entered=event.entered,
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


_TRIED = (
    sa.select(sa.func.count())
    .where(t.attempts.c.match == t.matches.c.id)
    .scalar_subquery()
    .label("tried")
)


def _event(row: "sa.Row[tuple[object, ...]]") -> Event:
    return Event(
        row.number,
        row.schedule,
        bytes.fromhex(row.commitment),
        row.beacon,
        None if row.entropy is None else bytes.fromhex(row.entropy),
        None if row.secret is None else bytes.fromhex(row.secret),
        row.settled,
        row.beacon_value,
        row.entered,
        row.ending,
    )


def _stage(number: int, found: "Iterable[sa.Row[*tuple[object, ...]]]") -> Stage:
    rows, fixtures = list(found), []
    for _, its in groupby(rows, key=lambda row: row.id):
        its_rows = list(its)
        first = its_rows[0]
        entrants = tuple(row.bot for row in its_rows)
        match = Match(first.id, first.round, first.place, entrants, attempt=first.tried + 1)
        fixtures.append(Fixture(match, State(first.state), first.void_because))
    if rows[0].field is None:
        field = sorted({row.bot for row in rows})
    else:
        field = json.loads(rows[0].field)
        if not isinstance(field, list) or not all(type(bot) is int for bot in field):
            raise ValueError(f"no numbers of bots in the field of {quoted(rows[0].id)}")
    return Stage(number, tuple(field), tuple(fixtures))


def _result(
    match: str, number: int, entrants: Sequence[int], *, boards: str, forfeits: list[int] | None
) -> Result:
    try:
        points = json.loads(boards)
    except (ValueError, TypeError):
        points = None
    if not isinstance(points, list) or not all(
        isinstance(board, list)
        and len(board) == len(entrants)
        and all(type(count) is int for count in board)
        for board in points
    ):
        raise ValueError(f"a board of {quoted(match)} without points for each entrant")
    return Result(
        match,
        number,
        entrants=tuple(entrants),
        boards=tuple(map(tuple, points)),
        forfeits=None if forfeits is None else tuple(forfeits),
    )
