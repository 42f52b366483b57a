"""Who may send bots to a ladder, by which tokens, and what they have sent.

Whole facts, as in the rest of the store: each method is one transaction. Who may do what, how much
of it, and what a token looks like is not known here; only digests of tokens are. Times come from
the caller, ISO 8601 in UTC to the second, and are compared as texts.
"""

from collections.abc import Iterable

import sqlalchemy as sa

from arena.ladder.facts import Owner, Scope, Submission, SubmissionState, Token, Usage
from arena.ladder.store import tables as t
from arena.ladder.store.database import Database

_OVER = (SubmissionState.REFUSED.value, SubmissionState.WITHDRAWN.value)
"""Of what is so there is no bot, and its archive is kept for nothing."""


class Accounts:
    """The owners of a ladder; reached as `Store.accounts`.

    Every method raises LadderError as those of the store do.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- owners

    def register(self, *, name: str, family: str, at: str) -> Owner | None:
        """A new owner, without a token yet; None if there is one of that name or family."""
        with self._database.writing() as connection:
            like = sa.or_(t.owners.c.name == name, t.owners.c.family == family)
            if connection.execute(sa.select(t.owners.c.number).where(like)).first() is not None:
                return None
            number = _next(connection, t.owners.c.number)
            connection.execute(
                sa.insert(t.owners).values(number=number, name=name, family=family, registered=at)
            )
        return Owner(number, name, family, at)

    def owners(self) -> tuple[Owner, ...]:
        """All of them, in the order they were registered."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(t.owners).order_by(t.owners.c.number))
            return tuple(Owner(**row) for row in rows.mappings())

    def owner(self, number: int) -> Owner | None:
        """The owner of that number."""
        return self._owner(t.owners.c.number == number)

    def owner_named(self, name: str) -> Owner | None:
        """The owner of exactly that name."""
        return self._owner(t.owners.c.name == name)

    def bar(self, owner: int, *, because: str | None) -> None:
        """Bar an owner, or let one come back (None)."""
        with self._database.writing() as connection:
            connection.execute(
                sa.update(t.owners).where(t.owners.c.number == owner).values(barred_because=because)
            )

    def _owner(self, condition: "sa.ColumnElement[bool]") -> Owner | None:
        with self._database.reading() as connection:
            row = connection.execute(sa.select(t.owners).where(condition)).mappings().first()
        return None if row is None else Owner(**row)

    # -- tokens

    def add_token(self, token: Token) -> bool:
        """Keep a token; False if its owner has one of that label, revoked ones included."""
        with self._database.writing() as connection:
            same = sa.select(t.tokens.c.digest).where(
                t.tokens.c.owner == token.owner, t.tokens.c.label == token.label
            )
            if connection.execute(same).first() is not None:
                return False
            connection.execute(
                sa.insert(t.tokens).values(
                    digest=token.digest,
                    owner=token.owner,
                    label=token.label,
                    scopes=" ".join(scope.value for scope in Scope if scope in token.scopes),
                    issued=token.issued,
                    revoked=token.revoked,
                )
            )
        return True

    def token(self, digest: str) -> Token | None:
        """The token of that digest, revoked or not."""
        query = sa.select(t.tokens).where(t.tokens.c.digest == digest)
        with self._database.reading() as connection:
            row = connection.execute(query).first()
            return None if row is None else _token(row)

    def tokens(self, owner: int) -> tuple[Token, ...]:
        """All tokens an owner ever had, in the order they were issued."""
        query = (
            sa.select(t.tokens)
            .where(t.tokens.c.owner == owner)
            .order_by(t.tokens.c.issued, t.tokens.c.label)
        )
        with self._database.reading() as connection:
            return tuple(map(_token, connection.execute(query)))

    def revoke(self, digest: str, *, at: str) -> None:
        """A token is good for nothing from now on; harmless where it is so already."""
        with self._database.writing() as connection:
            connection.execute(
                sa.update(t.tokens)
                .where(t.tokens.c.digest == digest, t.tokens.c.revoked.is_(None))
                .values(revoked=at)
            )

    # -- submissions

    def submit(
        self, *, owner: int, name: str, version: str, digest: str, size_bytes: int, at: str
    ) -> Submission:
        """A new submission, which waits. Its archive must be there, whole, before it."""
        with self._database.writing() as connection:
            number = _next(connection, t.submissions.c.number)
            submission = Submission(number, owner, name, version, digest, size_bytes, at)
            connection.execute(
                sa.insert(t.submissions).values(
                    number=number,
                    owner=owner,
                    name=name,
                    version=version,
                    digest=digest,
                    size_bytes=size_bytes,
                    received=at,
                    state=submission.state.value,
                )
            )
        return submission

    def submission(self, number: int) -> Submission | None:
        """The submission of that number."""
        found = self._submissions(t.submissions.c.number == number)
        return found[0] if found else None

    def submissions(self, owner: int) -> tuple[Submission, ...]:
        """All that an owner ever sent, in that order."""
        return self._submissions(t.submissions.c.owner == owner)

    def last_of(self, owner: int, *, digest: str) -> Submission | None:
        """The last time that an owner sent the bot of that digest."""
        found = self._submissions(t.submissions.c.owner == owner, t.submissions.c.digest == digest)
        return found[-1] if found else None

    def in_state(self, *states: SubmissionState) -> tuple[Submission, ...]:
        """The submissions in any of these states, in the order they came: those that wait, say."""
        return self._submissions(t.submissions.c.state.in_([state.value for state in states]))

    def set_state(
        self,
        number: int,
        state: SubmissionState,
        *,
        at: str,
        report: str | None = None,
        bot: int | None = None,
    ) -> None:
        """What has become of a submission, `at` being kept if that decides it; a report or bot that
        is not given stays as it was.
        """
        values: dict[str, str | int | None] = {
            "state": state.value,
            "decided": at if state.is_decided else None,
        }
        if report is not None:
            values["report"] = report
        if bot is not None:
            values["bot"] = bot
        with self._database.writing() as connection:
            connection.execute(
                sa.update(t.submissions).where(t.submissions.c.number == number).values(**values)
            )

    def wait_again(self) -> int:
        """Whatever was being validated waits again: who did it is gone. How many there were."""
        with self._database.writing() as connection:
            done = connection.execute(
                sa.update(t.submissions)
                .where(t.submissions.c.state == SubmissionState.VALIDATING.value)
                .values(state=SubmissionState.WAITING.value)
            )
            return done.rowcount

    def usage(self, owner: int, *, since: str) -> Usage:
        """What an owner has used: submissions received after that time, and the archives of all
        that were neither refused nor taken back, each counted once.
        """
        of = t.submissions.c.owner == owner
        recent = sa.select(sa.func.count()).where(of, t.submissions.c.received > since)
        kept = (
            sa.select(t.submissions.c.digest, sa.func.max(t.submissions.c.size_bytes).label("size"))
            .where(of, t.submissions.c.state.not_in(_OVER))
            .group_by(t.submissions.c.digest)
            .subquery()
        )
        with self._database.reading() as connection:
            count: int = connection.execute(recent).scalar_one()
            total: int | None = connection.execute(sa.select(sa.func.sum(kept.c.size))).scalar_one()
        return Usage(count, int(total or 0))  # of whole numbers PostgreSQL's sum is a Decimal

    def kept_digests(self) -> frozenset[str]:
        """The digests of all archives that may still be asked for: of whatever was neither refused
        nor taken back.
        """
        query = sa.select(t.submissions.c.digest).where(t.submissions.c.state.not_in(_OVER))
        with self._database.reading() as connection:
            return frozenset(connection.execute(query).scalars())

    def refused_digests(self) -> frozenset[str]:
        """The digests of all archives that nobody will ask for: of what was refused or taken back,
        each time.
        """
        query = sa.select(t.submissions.c.digest).where(t.submissions.c.state.in_(_OVER))
        with self._database.reading() as connection:
            refused = frozenset(connection.execute(query).scalars())
        return refused - self.kept_digests()

    def _submissions(self, *conditions: "sa.ColumnElement[bool]") -> tuple[Submission, ...]:
        query = sa.select(t.submissions).where(*conditions).order_by(t.submissions.c.number)
        with self._database.reading() as connection:
            return tuple(map(_submission, connection.execute(query)))


def _next(connection: sa.Connection, number: "sa.Column[int]") -> int:
    """The number of the next row; a writer is alone, so nobody else takes it."""
    last: int | None = connection.execute(sa.select(sa.func.max(number))).scalar_one()
    return (last or 0) + 1


def _token(row: "sa.Row[*tuple[object, ...]]") -> Token:
    return Token(
        row.digest, row.owner, row.label, scopes_in(row.scopes.split()), row.issued, row.revoked
    )


def scopes_in(words: Iterable[str]) -> frozenset[Scope]:
    """The scopes that are named; raises ValueError for a word that names none."""
    return frozenset(map(Scope, words))


def _submission(row: "sa.Row[*tuple[object, ...]]") -> Submission:
    return Submission(
        row.number,
        row.owner,
        row.name,
        row.version,
        row.digest,
        row.size_bytes,
        row.received,
        SubmissionState(row.state),
        row.decided,
        row.report,
        row.bot,
    )
