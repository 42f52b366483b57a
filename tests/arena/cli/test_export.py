"""`arena export` as whoever wants the tables sees it."""

import csv
import json
import re
import sys

import pytest

from arena.export.schema import TABLES
from tests.arena.ladder.ratings.leagues import played_ladder

NAMES = [table.name for table in TABLES]


@pytest.fixture
def club(tmp_path):
    return played_ladder(tmp_path / "club", ["ada", "bob", "علی"], length=1, cycles=1)


@pytest.mark.parametrize(
    ("format_", "ending"), [("csv", "csv"), ("json", "jsonl"), ("parquet", "parquet")]
)
def test_every_table_is_a_file_and_its_rows_are_counted(run, club, tmp_path, format_, ending):
    out = tmp_path / "new" / "tables"
    ran = run("export", club, "--format", format_, "--out", out)
    assert (ran.status, ran.err) == (0, "")
    assert sorted(file.name for file in out.iterdir()) == sorted(f"{n}.{ending}" for n in NAMES)
    assert f"{out / f'matches.{ending}'}: 3 rows\n" in ran.out
    assert f"{out / f'bots.{ending}'}: 3 rows\n" in ran.out
    assert len(ran.out.splitlines()) == len(NAMES)


def test_it_is_csv_unless_one_says_otherwise_and_the_same_bytes_again(run, club, tmp_path):
    contents = []
    for name in ("one", "other"):
        assert run("export", club, "--out", tmp_path / name).status == 0
        contents.append({f.name: f.read_bytes() for f in (tmp_path / name).iterdir()})
    assert contents[0] == contents[1]
    with (tmp_path / "one" / "bots.csv").open(encoding="utf-8") as file:
        assert {row["bot"] for row in csv.DictReader(file)} == {"ada", "bob", "علی"}


def test_single_tables_can_be_had(run, club, tmp_path):
    ran = run("export", club, "--out", tmp_path / "o", "--table", "boards", "--table", "matches")
    assert ran.status == 0
    assert {file.name for file in (tmp_path / "o").iterdir()} == {"boards.csv", "matches.csv"}
    ran = run("export", club, "--out", tmp_path / "p", "--table", "board")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: --table board is no table: take matches, entrants, ")
    assert not (tmp_path / "p").exists()


def test_a_damaged_record_is_said_and_left_out_and_the_status_is_1(run, club, tmp_path):
    first, *_ = sorted((club / "records").rglob("*.json.gz"))
    first.write_bytes(b"torn")
    ran = run("export", club, "--format", "json", "--out", tmp_path / "o")
    assert ran.status == 1
    [line] = ran.err.splitlines()
    assert line.startswith(f"error: {first}: ")
    assert line.endswith("; it is left out")
    lines = (tmp_path / "o" / "matches.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    assert str(first) not in {json.loads(line)["file"] for line in lines}


def test_records_alone_have_no_ladder(run, club, tmp_path):
    ran = run("export", club / "records", "--out", tmp_path / "o")
    assert ran.status == 0
    assert (tmp_path / "o" / "bots.csv").read_text().count("\n") == 1
    assert (tmp_path / "o" / "matches.csv").read_text().count("\n") == 4


def test_rated_results_can_be_had_as_pgn(run, club, tmp_path):
    ran = run("export", club, "--format", "pgn", "--out", tmp_path / "o")
    assert ran.status == 0
    assert ran.out == f"{tmp_path / 'o' / 'matches.pgn'}: 3 games\n"
    text = (tmp_path / "o" / "matches.pgn").read_text(encoding="utf-8")
    players = re.findall(r'\[White "(.*)"\]\n\[Black "(.*)"\]\n\[Result "(.*)"\]', text)
    assert {frozenset(pair[:2]) for pair in players} == {
        frozenset(("ada", "bob")),
        frozenset(("ada", "علی")),
        frozenset(("bob", "علی")),
    }


def test_a_ladder_that_is_named_twice_is_in_pgn_once(run, club, tmp_path):
    ran = run("export", club, club, "--format", "pgn", "--out", tmp_path / "o")
    assert ran.out == f"{tmp_path / 'o' / 'matches.pgn'}: 3 games\n"


@pytest.mark.parametrize("format_", ["csv", "pgn"])
@pytest.mark.parametrize("inside", [".", "records", "records/ev1", "records/ev1/tables", "new"])
def test_nothing_is_written_into_a_ladder(run, club, tmp_path, inside, format_):
    before = sorted(club.rglob("*"))
    out = club / inside
    ran = run("export", club, "--format", format_, "--out", out)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"error: --out {out} is in ")
    assert ran.err.endswith(": take a folder elsewhere\n")
    assert sorted(club.rglob("*")) == before


def test_nothing_is_written_beside_the_records_of_an_event(run, club, tmp_path):
    event = (club / "records" / "ev1").rename(tmp_path / "ev1")
    ran = run("export", event, "--out", event)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        f"error: --out {event} is in {event}, which has the records of an event: take a folder "
        "elsewhere\n"
    )
    assert not (event / "bots.csv").exists()


def test_nothing_is_written_into_an_experiment(run, club, tmp_path):
    (tmp_path / "duel").mkdir()
    (tmp_path / "duel" / "experiment.json").write_text("{}")
    ran = run("export", club, "--out", tmp_path / "duel" / "tables")
    assert (ran.status, ran.out) == (2, "")
    assert "which is the folder of an experiment: take a folder elsewhere" in ran.err
    assert len(list((tmp_path / "duel").iterdir())) == 1


def test_pgn_is_of_ladders_and_has_no_tables(run, club, tmp_path):
    ran = run("export", club / "records", "--format", "pgn", "--out", tmp_path / "o")
    assert ran.status == 2
    assert "is for ladders" in ran.err
    words = ("--format", "pgn", "--table", "plays", "--out", tmp_path / "o")
    assert run("export", club, *words).status == 2
    assert not (tmp_path / "o").exists()


def test_without_duckdb_it_is_said_how_to_get_it(run, club, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.delitem(sys.modules, "arena.export.parquet", raising=False)
    monkeypatch.delattr("arena.export.parquet", raising=False)
    ran = run("export", club, "--format", "parquet", "--out", tmp_path / "o")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "error: --format parquet needs duckdb; install what goes with it: "
        "pip install 'hokm-arena[export]'\n"
    )
    assert not (tmp_path / "o").exists()
    assert run("export", club, "--out", tmp_path / "o").status == 0


def test_what_is_not_there_is_one_line_and_leaves_no_table(run, tmp_path):
    ran = run("export", tmp_path / "nowhere", "--out", tmp_path / "o")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"error: {tmp_path / 'nowhere'}: No such file or directory\n"
    assert list((tmp_path / "o").iterdir()) == []
    (tmp_path / "file").write_text("")
    ran = run("export", tmp_path / "o", "--out", tmp_path / "file")
    assert ran.status == 1
    assert len(ran.err.splitlines()) == 1
