"""A ladder's database on a PostgreSQL server: turns, moments, holds, and what is said where it is
not as it should be.
"""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.ladder.errors import LadderError
from arena.ladder.ladder import Ladder
from arena.ladder.settings import Settings
from arena.ladder.store import Store
from arena.ladder.store import postgresql as module
from arena.ladder.store.address import Server, address_file, proof_file
from arena.ladder.store.database import Database
from tests.postgres import Cluster

SETTINGS = Settings.of("club", length=1)


@pytest.fixture
def server(postgres: Cluster) -> Server:
    return postgres.server()


@pytest.fixture
def store(server: Server) -> Iterator[Store]:
    made = Store.create(server, settings="")
    yield made
    made.close()


def complaint(do) -> str:
    """Return what is said when it is done; it is always one line."""
    with pytest.raises(LadderError) as caught:
        do()
    text = str(caught.value)
    assert "\n" not in text
    return text


def enter(store: Store, name: str, *, digest: str | None = None) -> None:
    store.add_bot(name=name, owner="m", version="1", digest=digest or name, rated=True)


def sessions(server: Server) -> list[int]:
    """The process ids of the sessions of an arena that look at this schema, idle ones included."""
    database = Database(server)
    with database.reading() as connection:
        query = (
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'hokm-arena'"
            " AND pid <> pg_backend_pid()"
        )
        found = list(connection.execute(sa.text(query)).scalars())
    database.close()
    return found


def cut(server: Server) -> int:
    """End all sessions of arenas, as a server does that is started again; how many there were."""
    pids = sessions(server)
    database = Database(server)
    with database.writing() as connection:
        for pid in pids:
            connection.execute(sa.select(sa.func.pg_terminate_backend(pid, 5000)))
    database.close()
    return len(pids)


# -- transactions


def test_a_reader_sees_one_moment_and_keeps_nobody_waiting(store: Store) -> None:
    count = sa.text("SELECT count(*) FROM bots")
    with store.database.reading() as connection:
        assert connection.execute(count).scalar_one() == 0
        enter(store, "ada")
        assert connection.execute(count).scalar_one() == 0
    assert [bot.name for bot in store.bots()] == ["ada"]


def test_a_reader_writes_nothing(store: Store) -> None:
    def write() -> None:
        with store.database.reading() as connection:
            connection.execute(sa.text("DELETE FROM bots"))

    assert "cannot be written (cannot execute DELETE in a read-only" in complaint(write)


def test_writers_take_turns_from_their_first_statement_on(
    store: Store, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Store.open(server)
    began, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with store.database.writing():
            began.set()
            may_end.wait(30)

    thread = threading.Thread(target=write)
    thread.start()
    began.wait(30)
    done = threading.Thread(target=lambda: enter(other, "ada"))
    done.start()
    done.join(0.2)
    assert done.is_alive()
    assert other.bots() == ()
    may_end.set()
    thread.join()
    done.join()
    assert [bot.name for bot in store.bots()] == ["ada"]
    other.close()


def test_a_writer_that_is_held_up_for_too_long_says_so(
    store: Store, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TURN_SECONDS", 0.05)
    other = Store.open(server)
    with store.database.writing():
        said = complaint(lambda: enter(other, "ada"))
    assert (
        said == f"{server}: another program holds it; end that program, then run the command again"
    )
    enter(other, "ada")
    other.close()


def test_a_statement_that_takes_too_long_is_ended(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STATEMENT_SECONDS", 0.05)
    database = Database(server)

    def sleep() -> None:
        with database.reading() as connection:
            connection.execute(sa.text("SELECT pg_sleep(60)"))

    assert "took longer than" in complaint(sleep)
    database.close()


def test_a_transaction_that_fails_leaves_nothing_and_no_gap_in_numbers(store: Store) -> None:
    enter(store, "ada")
    said = complaint(lambda: enter(store, "ada", digest="other"))
    assert said.endswith("another command changed it at this moment; run the command again")
    enter(store, "bob")
    assert [bot.number for bot in store.bots()] == [1, 2]


def test_text_that_no_server_keeps_is_kept_as_what_it_looks_like(store: Store) -> None:
    enter(store, "a\0b")
    assert store.bots()[0].name == "a␀b"


# -- connections that end


def test_the_next_transaction_after_a_lost_connection_has_another(
    store: Store, server: Server
) -> None:
    enter(store, "ada")
    assert cut(server) > 0
    assert [bot.name for bot in store.bots()] == ["ada"]
    assert cut(server) > 0
    enter(store, "bob")


def test_a_connection_that_is_lost_in_the_middle_commits_nothing(
    store: Store, server: Server
) -> None:
    def write() -> None:
        with store.database.writing() as connection:
            connection.execute(sa.text("INSERT INTO controls VALUES ('a', 'b')"))
            cut_all_but_writers(server)
            connection.execute(sa.text("INSERT INTO controls VALUES ('c', 'd')"))

    assert "lost its server in the middle (terminating connection" in complaint(write)
    with store.database.reading() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM controls")).scalar_one() == 0


def cut_all_but_writers(server: Server) -> None:
    pids = sessions(server)
    database = Database(server)
    with database._engine.begin() as connection:  # which takes no turn
        for pid in pids:
            connection.execute(sa.select(sa.func.pg_terminate_backend(pid, 5000)))
    database.close()


# -- held for playing


def test_two_folders_that_name_one_schema_are_not_both_played(store: Store, server: Server) -> None:
    other = Store.open(server)
    with store.held():
        said = complaint(lambda: ExitStack().enter_context(other.held()))
        assert "is being played by an arena in another folder, or on another machine" in said
        enter(other, "ada")  # that may be done meanwhile
        enter(store, "bob")
    with other.held():
        pass
    other.close()


def test_what_goes_wrong_while_it_is_held_is_not_the_databases(store: Store) -> None:
    with pytest.raises(ValueError, match="mine"), store.held():
        raise ValueError("mine")


def test_whoever_holds_it_and_loses_its_connection_holds_it_again(
    store: Store, server: Server
) -> None:
    other = Store.open(server)
    with store.held():
        cut(server)
        enter(store, "ada")
        assert "is being played" in complaint(lambda: ExitStack().enter_context(other.held()))
    other.close()


def test_whoever_has_lost_its_hold_to_another_writes_nothing(store: Store, server: Server) -> None:
    other = Store.open(server)
    with store.held():
        cut(server)
        with other.held():
            said = complaint(lambda: enter(store, "ada"))
            assert "is being played by an arena in another folder" in said
        enter(store, "ada")
    assert len(other.bots()) == 1
    other.close()


def test_a_hold_that_is_lost_in_the_middle_of_a_transaction_is_had_again_before_the_next(
    store: Store, server: Server
) -> None:
    other = Store.open(server)

    def write() -> None:
        with store.database.writing() as connection:
            cut_all_but_writers(server)
            connection.execute(sa.text("INSERT INTO controls VALUES ('c', 'd')"))

    with store.held():
        complaint(write)
        enter(store, "ada")
        assert "is being played" in complaint(lambda: ExitStack().enter_context(other.held()))
    other.close()


def test_a_ladder_holds_its_schema_while_it_is_held(server: Server, tmp_path: Path) -> None:
    with Ladder.init(tmp_path / "one", SETTINGS, database=server) as ladder:
        other = Store.open(server)
        with ladder.held():
            assert "is being played" in complaint(lambda: ExitStack().enter_context(other.held()))
        with other.held(), pytest.raises(LadderError, match="is being played"), ladder.held():
            pass
        other.close()


# -- making one


def test_several_ladders_are_in_one_database_and_know_nothing_of_each_other(
    postgres: Cluster, tmp_path: Path
) -> None:
    for name in ("the club's", 'a "quoted" one', "باشگاه"):
        server = postgres.server(name)
        with Ladder.init(tmp_path / name, SETTINGS, database=server) as ladder:
            enter(ladder.store, name)
    for name in ("the club's", 'a "quoted" one', "باشگاه"):
        with Ladder.open(tmp_path / name) as ladder:
            assert [bot.name for bot in ladder.store.bots()] == [name]
            assert not proof_file(tmp_path / name).exists()


def test_a_schema_that_holds_a_ladder_is_left_alone(server: Server, tmp_path: Path) -> None:
    with Ladder.init(tmp_path / "one", SETTINGS, database=server) as one:
        enter(one.store, "ada")
        said = complaint(lambda: Ladder.init(tmp_path / "two", SETTINGS, database=server))
        assert said.startswith(f"{server}: holds a ladder already; ")
        assert len(one.store.bots()) == 1


def test_a_schema_that_holds_something_else_is_left_alone(server: Server) -> None:
    database = Database(server)
    with database.writing() as connection:
        connection.execute(sa.schema.CreateSchema(server.schema))
        connection.execute(sa.text("CREATE TABLE bots (mine text)"))
    assert "holds other tables" in complaint(lambda: Store.create(server, settings=""))
    with database.reading() as connection:
        assert connection.execute(sa.text("SELECT * FROM bots")).keys() == ["mine"]
    database.close()


def test_one_that_was_not_made_to_its_end_is_known_by_its_own_folder_only(
    server: Server, tmp_path: Path
) -> None:
    proof, others = tmp_path / "proof", tmp_path / "others"
    Store.create(server, settings="one", proof=proof).close()
    others.write_text("0" * 36)
    for whose in (others, tmp_path / "none", None):
        said = complaint(lambda whose=whose: Store.create(server, settings="two", proof=whose))
        assert "holds a ladder already" in said
    store = Store.create(server, settings="three", proof=proof)
    assert store.settings() == "three"
    store.made(proof=others)  # which says nothing of this one
    assert others.exists()
    store.made(proof=proof)
    assert not proof.exists()
    store.close()
    assert "holds a ladder already" in complaint(
        lambda: Store.create(server, settings="four", proof=proof)
    )


def test_a_schema_without_a_ladder_is_not_opened(server: Server) -> None:
    assert "holds no ladder; mend the address, or restore" in complaint(lambda: Store.open(server))


def test_a_database_of_another_encoding_is_refused(postgres: Cluster) -> None:
    database = Database(postgres.server())
    with database._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(
            sa.text("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
        )
    database.close()
    server = postgres.server("club", database="latin")
    assert "keeps text as LATIN1; make the database with encoding UTF8" in complaint(
        lambda: Store.create(server, settings="")
    )


# -- servers that cannot be had


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    for host in (f"/{tmp_path}", "127.0.0.1:1"):
        where = (
            f"postgresql://u:s3cret@{host}/d" if host[0] != "/" else f"postgresql:///d?host={host}"
        )
        said = complaint(lambda where=where: Store.open(Server.parse(where, schema="club")))
        assert "cannot be reached (" in said
        assert "see that its server runs" in said
        assert "s3cret" not in said


def test_users_and_databases_that_are_not_there_are_told(postgres: Cluster) -> None:
    nobody = Server.parse(postgres.url(schema="s", user="nobody"))
    assert "does not let us in (" in complaint(lambda: Store.open(nobody))
    nowhere = postgres.server("s", database="nowhere")
    assert "is not there (" in complaint(lambda: Store.open(nowhere))


def test_a_wrong_password_is_told_and_printed_nowhere(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(postgres.server())
    with database.writing() as connection:
        connection.execute(sa.text("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'open s3same'"))
    database.close()
    rules = postgres.folder / "data/pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    try:
        postgres.pg_ctl("reload")
        url = postgres.url(schema="guarded", user="guarded")
        for text in (url, url.replace("guarded@", "guarded:wr0ng@")):
            said = complaint(lambda text=text: Store.open(Server.parse(text)))
            assert "does not let us in (" in said
            assert "PGPASSWORD or in ~/.pgpass" in said
            assert "wr0ng" not in said
        server = Server.parse(url.replace("guarded@", "guarded:open%20s3same@"))
        with Ladder.init(tmp_path / "club", SETTINGS, database=server) as ladder:
            assert "s3same" not in repr(ladder.store.database._engine) + str(ladder.store.where)
        monkeypatch.setenv("PGPASSWORD", "open s3same")
        address_file(tmp_path / "club").write_text(url)
        Ladder.open(tmp_path / "club").close()
    finally:
        rules.write_text(before)
        postgres.pg_ctl("reload")


def test_a_user_without_rights_is_told(postgres: Cluster) -> None:
    database = Database(postgres.server())
    with database.writing() as connection:
        connection.execute(sa.text("CREATE ROLE poor LOGIN"))
    database.close()
    server = Server.parse(postgres.url(schema="poor", user="poor"))
    said = complaint(lambda: Store.create(server, settings=""))
    assert "is closed to this user (permission denied for database" in said


def test_without_its_driver_it_says_how_to_get_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    assert "pip install 'hokm-arena[postgres]'" in complaint(lambda: Store.open(server))


# -- the server of these tests


def test_a_cluster_of_tests_listens_on_its_socket_alone(postgres: Cluster) -> None:
    database = Database(postgres.server())
    with database.reading() as connection:
        addresses = connection.execute(sa.text("SHOW listen_addresses")).scalar_one()
        owner = connection.execute(sa.text("SELECT current_setting('data_directory')")).scalar_one()
    database.close()
    assert addresses == ""
    assert Path(owner).stat().st_uid != 0
    listed = subprocess.run(["ls", postgres.folder], capture_output=True, text=True, check=True)
    assert ".s.PGSQL" not in listed.stdout  # hidden, and a socket
    assert any(path.is_socket() for path in postgres.folder.iterdir())
