"""The database of a ladder: whole facts or none, and errors that say what to do."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from arena.ladder.errors import LadderError
from arena.ladder.facts import Attempt, Event, Fixture, Match, Result, Stage, State
from arena.ladder.ratings.elo import EloRating
from arena.ladder.store import Store
from arena.ladder.store.address import Address
from arena.ladder.store.tables import REVISION, metadata
from hokm.outcome import Ending
from tests.arena.ladder.conftest import OF_FILES, sql
from tests.postgres import ON_POSTGRES

EVENT = Event(1, schedule='{"kind": "round-robin", "cycles": 1}', commitment=bytes(32), entropy=b"")
MATCH = Match("ev1/r1/ada~bob", round=1, place=1, entrants=(2, 1))
ATTEMPT = Attempt(MATCH.id, 1, None, "", "ev1/r1/ada~bob.json.gz", "00" * 32)


@pytest.fixture
def store(address: Address) -> Iterator[Store]:
    """A ladder with two bots and one match scheduled."""
    made = Store.create(address, settings="boards = 16\n")
    for number, name in enumerate(("ada", "bob"), start=1):
        made.add_bot(name=name, owner="m", version="1", digest=f"{number}" * 64, rated=True)
    made.begin_event(EVENT)
    made.add_cycle(EVENT, 1, [MATCH])
    yield made
    made.close()


def complaint(address: Address) -> str:
    """Return what opening says; it is always one line."""
    with pytest.raises(LadderError) as caught:
        Store.open(address)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{address}: ")
    return text


def test_the_migrations_make_the_tables_the_store_works_with(store: Store) -> None:
    with store._database._engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    assert differences == []


def test_the_revision_the_store_expects_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "arena.ladder:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == REVISION


@pytest.mark.skipif(ON_POSTGRES, reason=OF_FILES)
def test_every_connection_survives_power_cuts_and_checks_references(store: Store) -> None:
    with store._database._engine.connect() as one, store._database._engine.connect() as other:
        for connection in (one, other):
            pragmas = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("journal_mode", "synchronous", "foreign_keys")
            }
            assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_reference_to_nothing_is_refused(store: Store) -> None:
    with pytest.raises(LadderError, match=r"(?i)foreign key"):
        store.close_round(1, {99: EloRating(1500.0, 1)})
    assert store.rounds_closed() == 0


def test_a_played_match_is_read_back_with_every_board(store: Store) -> None:
    boards = ((1, 2), (0, 3), (4, 0))
    store.play(MATCH, ATTEMPT, boards)
    assert store.results() == (Result(MATCH.id, 1, entrants=(2, 1), boards=boards),)
    assert store.results(in_round=1) == store.results()
    assert store.results(in_round=2) == ()
    assert store.results(of=[1, 2]) == store.results()
    assert store.results(of=[1, 99]) == ()
    # Of ada, who was entered first: 2 - 1, 3 - 0 and 0 - 4.
    assert store.pairs().tolist() == [[1, 1, 1, 2, 2, 0, 1, 0]]
    assert store.scheduled() == ()
    assert store.attempts() == (ATTEMPT,)
    assert store.attempts(replace(EVENT, number=2)) == ()
    assert store.attempts(of=[1, 2]) == (ATTEMPT,)
    assert store.attempts(of=[1, 99]) == ()


def test_games_that_ended_by_a_bots_fault_are_summed_by_bot(store: Store) -> None:
    again = Match("ev1/r2/ada~bob", round=2, place=1, entrants=(1, 2))
    store.add_cycle(EVENT, 2, [again])
    store.play(MATCH, ATTEMPT, ((1, 2),), forfeits=(0, 3))
    store.play(again, replace(ATTEMPT, match=again.id), ((1, 2),), forfeits=(2, 0))
    assert store.forfeits() == {1: 5}


def test_what_a_match_costs_a_bot_is_the_mean_of_those_that_say(store: Store) -> None:
    again = Match("ev1/r2/ada~bob", round=2, place=1, entrants=(1, 2))
    store.add_cycle(EVENT, 2, [again])
    store.play(MATCH, ATTEMPT, ((1, 2),), cpu_seconds=(1.5, None))
    store.play(again, replace(ATTEMPT, match=again.id), ((1, 2),), cpu_seconds=(0.25, 0.5))
    # The first is bob, who is named first in the first match.
    assert store.cpu_seconds() == {1: 0.25, 2: 1.0}


def test_nonces_and_entropy_of_an_event_are_kept(store: Store) -> None:
    store.add_nonce(EVENT, bot=1, nonce=bytes(32))
    store.add_nonce(EVENT, bot=1, nonce=bytes(range(32)))
    assert store.nonces(EVENT) == {1: bytes(range(32))}
    store.fix_entropy(EVENT, b"\1" * 32)
    assert store.event_under_way() == replace(EVENT, entropy=b"\1" * 32)


def test_an_event_begins_with_what_its_beacon_published_and_who_was_entered(store: Store) -> None:
    store.finish_event(EVENT, secret=bytes(32))
    announced = Event(2, schedule="{}", commitment=bytes(32), beacon="drand, round 7")
    store.begin_event(announced)
    assert store.event(2) == announced
    assert not announced.has_begun
    begun = replace(announced, settled='{"of": 2}', beacon_value="4 8 15", entered=2)
    store.fix_entropy(begun, b"\1" * 32)
    assert store.event(2) == replace(begun, entropy=b"\1" * 32)


def test_what_is_scheduled_of_an_event_is_there_by_stages(store: Store) -> None:
    again = Match("ev1/r2/ada~bob", round=2, place=1, entrants=(1, 2))
    store.add_cycle(EVENT, 2, [again], field=(1, 2, 7))
    store.void_attempt(again, replace(ATTEMPT, match=again.id), void_because=None)
    store.void(MATCH, because="of the weather")
    first = Stage(1, (1, 2), (Fixture(MATCH, State.VOID, "of the weather"),))
    tried = replace(again, attempt=2)
    assert store.stages(EVENT) == (
        first,
        Stage(2, (1, 2, 7), (Fixture(tried, State.SCHEDULED, None),)),
    )
    assert store.stages(replace(EVENT, number=2)) == ()


def test_a_field_that_no_arena_writes_is_damage(store: Store, address: Address) -> None:
    sql(address, "UPDATE cycles SET field = '[1, true]'")
    with pytest.raises(LadderError, match="holds what no arena writes"):
        store.stages(EVENT)


@pytest.mark.parametrize("boards", ["7", "[[1,2],3]", "[[1,2.5]]", "[[1,2,3]]", "[[1,true]]", "["])
def test_boards_that_no_arena_writes_are_damage(
    store: Store, address: Address, boards: str
) -> None:
    store.play(MATCH, ATTEMPT, ((1, 1),))
    sql(address, f"UPDATE results SET boards = '{boards}'")
    with pytest.raises(LadderError, match="holds what no arena writes"):
        store.results()


def test_matches_of_three_are_kept_in_the_order_of_their_entrants(store: Store) -> None:
    for number, name in enumerate(("cyd", "dan"), start=3):
        store.add_bot(name=name, owner="m", version="1", digest=f"{number}" * 64, rated=True)
    one = Match("ev1/r2/ada~bob~cyd", round=2, place=1, entrants=(3, 1, 2))
    other = Match("ev1/r3/ada~bob~dan", round=3, place=1, entrants=(1, 4, 2))
    store.add_cycle(EVENT, 2, [one, other])
    assert store.scheduled() == (MATCH, one, other)
    boards = ((0, 1, 2), (-3, 2, 0))
    store.play(other, replace(ATTEMPT, match=other.id), boards)
    assert store.results() == (Result(other.id, 3, entrants=(1, 4, 2), boards=boards),)
    assert store.scheduled() == (MATCH, one)


def test_no_bot_is_entered_twice_in_a_match(store: Store) -> None:
    with pytest.raises(LadderError, match="another command changed it"):
        store.add_cycle(EVENT, 2, [Match("ev1/r2/ada~ada", round=2, place=1, entrants=(1, 1))])
    assert store.scheduled() == (MATCH,)


def test_a_result_that_cannot_be_written_whole_is_not_written_at_all(store: Store) -> None:
    elsewhere = replace(MATCH, entrants=(1, 99))  # no such bot
    with pytest.raises(LadderError):
        store.play(elsewhere, ATTEMPT, ((1, 0),))
    assert store.attempts() == ()
    assert store.results() == ()
    assert store.scheduled() == (MATCH,)


def test_a_voided_attempt_leaves_the_match_to_be_played_under_the_next_number(
    store: Store,
) -> None:
    voided = replace(ATTEMPT, voided_by=Ending.HOST_FAULT, cause="a disk")
    store.void_attempt(MATCH, voided, void_because=None)
    assert store.scheduled() == (replace(MATCH, attempt=2),)
    assert store.attempts() == (voided,)
    assert store.voided() == ()


def test_a_void_match_is_not_played_and_says_why(store: Store) -> None:
    failed = replace(store.bots()[0], failed_starts=2, inactive_because="did not start")
    voided = replace(ATTEMPT, voided_by=Ending.NEVER_STARTED)
    store.void_attempt(MATCH, voided, void_because="ada did not start", changed=[failed])
    assert store.scheduled() == ()
    assert store.voided() == ((MATCH.id, "ada did not start"),)
    assert store.matches_void() == 1
    assert store.bots()[0] == failed
    assert store.bots()[1].is_active


def test_a_played_match_forgets_failed_starts(store: Store) -> None:
    late = replace(store.bots()[0], failed_starts=1)
    store.void_attempt(
        MATCH, replace(ATTEMPT, voided_by=Ending.HOST_FAULT), void_because=None, changed=[late]
    )
    assert store.bots()[0].failed_starts == 1
    store.play(MATCH, replace(ATTEMPT, number=2), ((1, 1),))
    assert store.bots()[0].failed_starts == 0


def test_a_round_is_ready_to_close_once_nothing_of_it_is_left(store: Store) -> None:
    assert store.round_to_close() is None
    store.void(MATCH, because="ada is inactive")
    assert store.round_to_close() == 1
    store.close_round(1, {})
    assert store.round_to_close() is None
    assert store.rounds_closed() == 1


def test_ratings_are_kept_to_the_last_bit(store: Store) -> None:
    rating = EloRating(1500.0 + 0.1 + 0.2, 1)
    store.close_round(1, {1: rating})
    assert store.ratings() == {1: rating}


def test_an_event_is_under_way_until_its_secret_is_revealed(store: Store) -> None:
    assert store.event_under_way() == EVENT
    store.finish_event(EVENT, secret=bytes(range(32)))
    assert store.event_under_way() is None
    assert store.events() == (replace(EVENT, secret=bytes(range(32))),)


def test_a_ladder_is_the_same_when_it_is_opened_again(store: Store, address: Address) -> None:
    store.play(MATCH, ATTEMPT, ((2, 0),))
    store.close()
    again = Store.open(address)
    assert again.settings() == "boards = 16\n"
    assert [bot.name for bot in again.bots()] == ["ada", "bob"]
    assert again.results() == (Result(MATCH.id, 1, entrants=(2, 1), boards=((2, 0),)),)
    again.close()


@pytest.mark.skipif(ON_POSTGRES, reason=OF_FILES)
def test_a_full_disk_is_told_and_nothing_of_a_transaction_is_kept(store: Store) -> None:
    with store._database._engine.connect() as connection:  # the pool hands out the same one again
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    boards = ((2, 0),) * 10_000
    with pytest.raises(LadderError, match=r"\(database or disk is full\); mend the disk"):
        store.play(MATCH, ATTEMPT, boards)
    assert store.attempts() == ()
    assert store.scheduled() == (MATCH,)
    with store._database._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    store.play(MATCH, ATTEMPT, boards)
    assert len(store.results()[0].boards) == 10_000


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_committed_to_a_file_that_was_removed(
    store: Store, file: Path, replaced: bool
) -> None:
    away = file.rename(file.with_suffix(".away"))
    if replaced:
        shutil.copy(away, file)
    with pytest.raises(LadderError, match="was removed or replaced while it was in use; restore"):
        store.play(MATCH, ATTEMPT, ((2, 0),))
    away.rename(file)
    assert store.scheduled() == (MATCH,)
    store.play(MATCH, ATTEMPT, ((2, 0),))
    assert store.scheduled() == ()


def test_a_missing_database_is_not_made_anew(file: Path) -> None:
    assert "is missing; restore" in complaint(file)
    assert not file.exists()


def test_what_is_no_database_is_said_to_be_damaged(file: Path) -> None:
    file.write_bytes(b"no database, but long enough to look at " * 100)
    assert "is damaged (file is not a database)" in complaint(file)


def test_an_empty_file_is_no_ladders_database(file: Path) -> None:
    file.touch()
    assert "is not a ladder's database, or damaged (no such table" in complaint(file)


def test_a_missing_table_is_found_on_opening(store: Store, address: Address) -> None:
    store.close()
    sql(address, "DROP TABLE pairs")
    assert "is not a ladder's database, or damaged (" in complaint(address)
    assert "pairs" in complaint(address)


def test_a_torn_database_is_said_to_be_damaged(store: Store, file: Path) -> None:
    store.close()
    data = file.read_bytes()
    file.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    assert "is damaged" in complaint(file)


def test_a_database_from_a_newer_arena_asks_for_a_newer_arena(
    store: Store, address: Address
) -> None:
    store.close()
    sql(address, "UPDATE alembic_version SET version_num = '9999'")
    assert "revision 9999" in complaint(address)
    assert "update the arena" in complaint(address)


def test_a_value_no_arena_writes_is_damage_not_a_traceback(store: Store, address: Address) -> None:
    store.play(MATCH, ATTEMPT, ((1, 1),))
    sql(address, "UPDATE attempts SET voided_by = 'EARTHQUAKE'")
    with pytest.raises(LadderError, match="holds what no arena writes"):
        store.attempts()


def test_a_writer_that_is_held_up_for_too_long_says_so(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    monkeypatch.setattr("arena.ladder.store.sqlite.BUSY_SECONDS", 0.0)
    again = Store.open(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as other, other:
        other.execute("BEGIN IMMEDIATE")
        assert again.scheduled() == (MATCH,)  # readers are not held up
        with pytest.raises(LadderError, match="another program holds it"):
            again.void(MATCH, because="")
        other.execute("ROLLBACK")
    other.close()
    again.close()
