"""Tables as files: whole or not there, and read back as they were."""

import csv
import errno
import json
import os
from pathlib import Path

import duckdb
import pytest

from arena.export.files import csv_file, csv_tables, json_file, json_tables
from arena.export.parquet import parquet_file, parquet_tables
from arena.export.schema import TABLE_OF, Board, Game, Kind, Rating, Row

TABLES = [TABLE_OF[Board], TABLE_OF[Rating]]
ROWS: list[Row] = [
    Board(1, 1, 0, 1, "ada", 'علی "x", y', 3, -2, 5),
    Rating("club", "ada", 2, 1481.3244871734805, 1),
    Rating("club", "bob", 2, 1e-300, 2**40),
]
FORMATS = {
    "csv": (csv_tables, csv_file),
    "json": (json_tables, json_file),
    "parquet": (parquet_tables, parquet_file),
}


@pytest.fixture(params=FORMATS)
def format_(request):
    return FORMATS[request.param]


def test_csv_has_names_first_and_nothing_for_none(tmp_path: Path) -> None:
    with csv_tables(tmp_path, TABLES) as write:
        for row in ROWS:
            write(row)
    text = csv_file(tmp_path, TABLES[1]).read_bytes().decode("utf-8")
    assert text == (
        "ladder,bot,round,elo,matches\n"
        "club,ada,2,1481.3244871734805,1\n"
        "club,bob,2,1e-300,1099511627776\n"
    )
    with csv_file(tmp_path, TABLES[0]).open(encoding="utf-8", newline="") as file:
        names, cells = csv.reader(file)
    assert names == list(Board._fields)
    assert cells[5] == 'علی "x", y'


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum"])
def test_no_text_is_a_formula_to_a_spreadsheet_and_to_programs_it_is_as_it_was(
    tmp_path: Path, text: str
) -> None:
    row = Rating("club", text, 2, -1.5, 1)
    for tables, _ in FORMATS.values():
        with tables(tmp_path, TABLES[1:]) as write:
            write(row)
    with csv_file(tmp_path, TABLES[1]).open(encoding="utf-8", newline="") as file:
        _, cells = csv.reader(file)
    assert cells[1:4] == [f"'{text}", "2", "-1.5"]
    assert json.loads(json_file(tmp_path, TABLES[1]).read_text())["bot"] == text
    kept = duckdb.execute("SELECT * FROM read_parquet(?)", [str(parquet_file(tmp_path, TABLES[1]))])
    assert kept.fetchall() == [tuple(row)]


def test_json_has_an_object_a_line(tmp_path: Path) -> None:
    with json_tables(tmp_path, TABLES) as write:
        for row in ROWS:
            write(row)
    lines = json_file(tmp_path, TABLES[1]).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["bot"] for line in lines] == ["ada", "bob"]
    [line] = json_file(tmp_path, TABLES[0]).read_text(encoding="utf-8").splitlines()
    assert tuple(json.loads(line).items()) == tuple(zip(Board._fields, ROWS[0], strict=True))
    assert "علی" in line


def test_what_is_none_true_or_false_is_so_in_every_format(tmp_path: Path) -> None:
    table = TABLE_OF[Game]
    known = {"record": 1, "room": 1, "game": 1, "seat_0": "a", "seat_1": "b"}
    known |= {"hands": 1, "refusals": 0, "is_unplayed": True}
    row = Game._make(known.get(column.name) for column in table.columns)
    for tables, _ in FORMATS.values():
        with tables(tmp_path, [table]) as write:
            write(row)
    assert csv_file(tmp_path, table).read_text().splitlines()[1] == "1,1,1,a,b,,,1,,,,,,,,,,0,true"
    assert json.loads(json_file(tmp_path, table).read_text()) == row._asdict()
    kept = duckdb.execute("SELECT * FROM read_parquet(?)", [str(parquet_file(tmp_path, table))])
    assert kept.fetchall() == [tuple(row)]


def test_parquet_has_the_rows_with_the_kinds_of_the_schema(tmp_path: Path) -> None:
    with parquet_tables(tmp_path, TABLES) as write:
        for row in ROWS:
            write(row)
    kinds = {Kind.WHOLE: "BIGINT", Kind.REAL: "DOUBLE", Kind.TEXT: "VARCHAR"}
    for table in TABLES:
        file = str(parquet_file(tmp_path, table))
        described = duckdb.execute("DESCRIBE SELECT * FROM read_parquet(?)", [file]).fetchall()
        assert [(name, kind) for name, kind, *_ in described] == [
            (column.name, kinds[column.kind]) for column in table.columns
        ]
        kept = duckdb.execute("SELECT * FROM read_parquet(?)", [file]).fetchall()
        assert kept == [tuple(row) for row in ROWS if isinstance(row, table.rows)]


def test_parquet_keeps_the_order_of_many_rows(tmp_path: Path) -> None:
    count = 300_000
    with parquet_tables(tmp_path, TABLES[1:]) as write:
        for number in range(count):
            write(Rating("club", "ada", number, 1500.0, number))
    file = str(parquet_file(tmp_path, TABLES[1]))
    rounds = duckdb.execute("SELECT round FROM read_parquet(?)", [file]).fetchall()
    assert rounds == [(number,) for number in range(count)]


def test_nothing_but_the_tables_is_left(format_, tmp_path: Path) -> None:
    tables, file_of = format_
    with tables(tmp_path, TABLES) as write:
        write(ROWS[0])
    assert sorted(tmp_path.iterdir()) == sorted(file_of(tmp_path, table) for table in TABLES)


def test_what_a_kill_has_left_is_gone_after_the_next(format_, tmp_path: Path) -> None:
    tables, file_of = format_
    (tmp_path / f".{file_of(tmp_path, TABLES[0]).name}.part").write_text("half")
    (tmp_path / ".parquet.part").mkdir()
    (tmp_path / ".parquet.part" / "boards.csv").write_text("half")
    with tables(tmp_path, TABLES):
        pass
    left = {file.name for file in tmp_path.iterdir()} - {".parquet.part", ".boards.parquet.part"}
    assert left == {file_of(tmp_path, table).name for table in TABLES}
    if file_of is parquet_file:
        assert not (tmp_path / ".parquet.part").exists()


def test_a_table_that_is_not_whole_is_not_there_and_an_older_one_stays(
    format_, tmp_path: Path
) -> None:
    tables, file_of = format_
    for table in TABLES:
        file_of(tmp_path, table).write_text("older")

    def stop_in_the_middle() -> None:
        with tables(tmp_path, TABLES) as write:
            write(ROWS[0])
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        stop_in_the_middle()
    assert {file.read_text() for file in tmp_path.iterdir()} == {"older"}
    assert len(list(tmp_path.iterdir())) == len(TABLES)


def test_a_folder_that_is_not_there_is_named(format_, tmp_path: Path) -> None:
    tables, _ = format_
    with pytest.raises(OSError) as caught, tables(tmp_path / "nowhere", TABLES):
        pass
    assert str(tmp_path / "nowhere") in str(caught.value.filename)


def test_a_disk_that_is_full_is_told_with_its_folder(tmp_path: Path) -> None:
    def write_to_a_full_disk() -> None:
        with csv_tables(tmp_path, TABLES) as write:
            write(ROWS[0])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError) as caught:
        write_to_a_full_disk()
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path))
    assert list(tmp_path.iterdir()) == []
