"""Ladders of older arenas: opened, they are in the newest form, and nothing of them is lost."""

import re
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.command import upgrade
from alembic.config import Config

from arena.ladder.errors import LadderError
from arena.ladder.facts import Attempt, Match, Result
from arena.ladder.ratings.elo import EloRating
from arena.ladder.store import Store
from arena.ladder.store.address import Address
from arena.ladder.store.database import Database
from hokm.outcome import Ending
from tests.arena.ladder.conftest import sql
from tests.postgres import ON_POSTGRES

# What the first form held: a match that was played at the second attempt, one that is void, and one
# that is still to be played after a fault of the host.
FIRST_FORM = """
INSERT INTO ladder VALUES (1, 'schema = 1
games_of = 4
pairs = 4  # a match
');
INSERT INTO bots VALUES (1, 'ada', 'm', '1', 'aa', true, 0, NULL),
    (2, 'bob', 'm', '1', 'bb', true, 1, NULL),
    (3, 'cyd', 'm', '1', 'cc', false, 2, 'did not start');
INSERT INTO events VALUES (1, 1, '00', NULL);
INSERT INTO cycles VALUES (1, 1);
INSERT INTO rounds VALUES (1, 1, true), (2, 1, false), (3, 1, false);
INSERT INTO matches VALUES ('ev1/r1/ada~bob', 1, 1, 2, 1, 'played', NULL),
    ('ev1/r2/ada~cyd', 2, 1, 1, 3, 'void', 'cyd did not start'),
    ('ev1/r3/bob~cyd', 3, 1, 3, 2, 'scheduled', NULL);
INSERT INTO attempts VALUES ('ev1/r1/ada~bob', 1, 'HOST_FAULT', 'a disk', 'one.gz', '11'),
    ('ev1/r1/ada~bob', 2, NULL, '', 'two.gz', '22'),
    ('ev1/r3/bob~cyd', 1, 'HOST_FAULT', 'a disk', 'three.gz', '33');
INSERT INTO boards VALUES ('ev1/r1/ada~bob', 1, 1, -2), ('ev1/r1/ada~bob', 2, 3, 2),
    ('ev1/r1/ada~bob', 3, -1, -1);
INSERT INTO ratings VALUES (1, 1, 1480.5, 1), (1, 2, 1519.5, 1);
"""


@pytest.fixture
def old(address: Address) -> Address:
    """A database in the first form."""
    database = Database(address)
    with database.writing() as connection:
        database._backend.prepare(connection, proof=None)
        upgrade_to("0001", connection)
        for statement in FIRST_FORM.split(";\n"):
            connection.execute(sa.text(statement))
    database.close()
    return address


def upgrade_to(revision: str, connection: sa.Connection) -> None:
    config = Config()
    config.set_main_option("script_location", "arena.ladder:migrations")
    config.attributes["connection"] = connection
    upgrade(config, revision)


def form(address: Address) -> list[str]:
    """All columns, their kinds, and all keys and indices."""
    database = Database(address)
    found = []
    with database.reading() as connection:
        known = sa.inspect(connection)
        for table in known.get_table_names():
            found += [f"{table} {column!r}" for column in known.get_columns(table)]
            found += [f"{table} {index!r}" for index in known.get_indexes(table)]
            found += [f"{table} {key!r}" for key in known.get_unique_constraints(table)]
            found += [f"{table} {key!r}" for key in known.get_foreign_keys(table)]
            found += [f"{table} {key!r}" for key in known.get_check_constraints(table)]
            found.append(f"{table} {known.get_pk_constraint(table)!r}")
    database.close()
    return sorted(re.sub(r" at 0x\w+", "", text) for text in found)


def rows(address: Address, query: str) -> list[tuple[object, ...]]:
    database = Database(address)
    with database.reading() as connection:
        found = [tuple(row) for row in connection.execute(sa.text(query))]
    database.close()
    return found


def test_matches_of_home_and_away_are_matches_of_two_entrants(old: Address) -> None:
    store = Store.open(old)
    # Bob, at home, had 1 and lost 2 on the first board, had 3 and 2 on the second, lost 1 and 1.
    boards = ((1, 2), (5, 0), (0, 2))
    assert store.results() == (Result("ev1/r1/ada~bob", 1, entrants=(2, 1), boards=boards),)
    assert store.scheduled() == (
        Match("ev1/r3/bob~cyd", round=3, place=1, entrants=(3, 2), attempt=2),
    )
    assert store.voided() == (("ev1/r2/ada~cyd", "cyd did not start"),)
    assert store.attempts() == (
        Attempt("ev1/r1/ada~bob", 1, Ending.HOST_FAULT, "a disk", "one.gz", "11"),
        Attempt("ev1/r1/ada~bob", 2, None, "", "two.gz", "22"),
        Attempt("ev1/r3/bob~cyd", 1, Ending.HOST_FAULT, "a disk", "three.gz", "33"),
    )
    assert store.ratings() == {1: EloRating(1480.5, 1), 2: EloRating(1519.5, 1)}
    assert [bot.failed_starts for bot in store.bots()] == [0, 1, 2]
    assert store.rounds_closed() == 1
    store.close()
    if not ON_POSTGRES:
        assert rows(old, "PRAGMA foreign_key_check") == []


def test_a_ladder_that_was_upgraded_plays_on(old: Address) -> None:
    store = Store.open(old)
    [match] = store.scheduled()
    attempt = Attempt(match.id, 2, None, "", "four.gz", "44")
    store.play(match, attempt, ((0, 1),))
    assert [result.match for result in store.results()] == ["ev1/r1/ada~bob", "ev1/r3/bob~cyd"]
    store.close()
    again = Store.open(old)  # the second time there is nothing to upgrade
    assert len(again.results()) == 2
    again.close()


def test_an_upgrade_that_fails_leaves_the_ladder_as_it_was(old: Address) -> None:
    before = form(old)
    sql(old, "CREATE TABLE points (id INTEGER)")  # in the way, half-way through
    with pytest.raises(LadderError):
        Store.open(old)
    sql(old, "DROP TABLE points")
    assert form(old) == before
    assert rows(old, "SELECT version_num FROM alembic_version") == [("0001",)]
    store = Store.open(old)
    assert len(store.results()) == 1
    store.close()


def test_a_ladder_of_races_counts_them_in_games_as_its_options_do(old: Address) -> None:
    store = Store.open(old)
    assert store.settings() == "schema = 1\ngames_of = 4\ngames = 4  # a match\n"
    store.close()


def test_a_ladder_that_was_upgraded_has_the_form_of_a_new_one(
    old: Address, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    Store.open(old).close()
    if ON_POSTGRES:
        new: Address = request.getfixturevalue("postgres").server()
    else:
        new = tmp_path / "new.db"
    Store.create(new, settings="").close()
    assert form(old) == form(new)
