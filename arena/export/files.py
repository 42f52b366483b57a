"""Tables as files of text: CSV, and JSON with a row a line.

Every file is written under another name and renamed when all of them are whole, so that a name that
is there is a table that is whole. Rows are written as they come; none is kept.
"""

import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from arena.export.schema import TABLE_OF, Row, Table, Value

Write = Callable[[Row], None]

_FORMULAS: Final = ("=", "+", "-", "@")
"""How a text begins that a spreadsheet calculates."""


def csv_file(folder: Path, table: Table) -> Path:
    """The file of a table in CSV."""
    return folder / f"{table.name}.csv"


def json_file(folder: Path, table: Table) -> Path:
    """The file of a table in JSON."""
    return folder / f"{table.name}.jsonl"


@contextmanager
def csv_tables(
    folder: Path, tables: Sequence[Table], *, are_for_people: bool = True
) -> Iterator[Write]:
    """A function that writes a row to the CSV file of its table: UTF-8, a line of names first, a
    comma between, nothing for None, `true` and `false`. Raises OSError, and then leaves no file.

    A text that a spreadsheet would take for a formula has an apostrophe before it, unless no person
    opens it: a bot writes what it likes into its notes.
    """
    cell = _spreadsheet if are_for_people else _csv
    with whole_files([csv_file(folder, table) for table in tables]) as streams:
        writers = {}
        for table, stream in zip(tables, streams, strict=True):
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow([column.name for column in table.columns])
            writers[table.rows] = writer
        yield lambda row: writers[type(row)].writerow([cell(value) for value in row])


@contextmanager
def json_tables(folder: Path, tables: Sequence[Table]) -> Iterator[Write]:
    """A function that writes a row to the JSON file of its table, an object a line. Raises OSError,
    and then leaves no file.
    """
    with whole_files([json_file(folder, table) for table in tables]) as streams:
        by_rows = {table.rows: stream for table, stream in zip(tables, streams, strict=True)}
        yield lambda row: print(_json(row), file=by_rows[type(row)])


@contextmanager
def whole_files(files: Sequence[Path]) -> Iterator[list[TextIO]]:
    """Files to write; all are there, or none is new."""
    parts = [file.with_name(f".{file.name}.part") for file in files]
    try:
        with ExitStack() as stack:
            yield [
                stack.enter_context(part.open("w", encoding="utf-8", newline="")) for part in parts
            ]
        for part, file in zip(parts, files, strict=True):
            part.replace(file)
    except OSError as error:
        if error.errno is None or error.filename is not None or not parts:
            raise
        # A full disk names no file; the folder is what there is to make room in.
        raise OSError(error.errno, error.strerror, os.fspath(parts[0].parent)) from error
    finally:
        for part in parts:
            with suppress(OSError):
                part.unlink()


def _csv(value: Value) -> Value:
    return str(value).lower() if isinstance(value, bool) else value


def _spreadsheet(value: Value) -> Value:
    is_formula = isinstance(value, str) and value.startswith(_FORMULAS)
    return f"'{value}" if is_formula else _csv(value)


def _json(row: Row) -> str:
    names = (column.name for column in TABLE_OF[type(row)].columns)
    return json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
