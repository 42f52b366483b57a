"""Tables as Parquet files, made from their CSV by DuckDB with the types of the schema.

So both formats hold the same rows whatever they are, and neither needs memory for them: DuckDB
reads and packs a group of rows at a time. It is of the extra `export`, and imported here alone.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import duckdb

from arena.export.files import Write, csv_file, csv_tables
from arena.export.schema import Kind, Table

_TYPES: Final = {
    Kind.WHOLE: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.TRUTH: "BOOLEAN",
}


def parquet_file(folder: Path, table: Table) -> Path:
    """The file of a table in Parquet."""
    return folder / f"{table.name}.parquet"


@contextmanager
def parquet_tables(folder: Path, tables: Sequence[Table]) -> Iterator[Write]:
    """A function that writes a row to its table; the Parquet files are made once all are written,
    from CSV files beside them that are gone then. Raises OSError, and then leaves no file.
    """
    texts = folder / ".parquet.part"  # by one name, so that what a kill has left is not for ever
    shutil.rmtree(texts, ignore_errors=True)
    texts.mkdir()
    try:
        with csv_tables(texts, tables, are_for_people=False) as write:
            yield write
        for table in tables:
            text = csv_file(texts, table)
            _pack(table, text, into=parquet_file(texts, table))
            with suppress(OSError):
                text.unlink()  # as early as can be: the disk holds it twice meanwhile
        for table in tables:
            parquet_file(texts, table).replace(parquet_file(folder, table))
    finally:
        shutil.rmtree(texts, ignore_errors=True)


def _pack(table: Table, text: Path, *, into: Path) -> None:
    columns = ", ".join(f"'{column.name}': '{_TYPES[column.kind]}'" for column in table.columns)
    source = (
        f"read_csv({_quoted(text)}, columns = {{{columns}}}, auto_detect = false, header = true, "
        """delim = ',', quote = '"', escape = '"', nullstr = '', new_line = '\\n')"""
    )
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as database:
        try:
            database.execute(
                f"COPY (SELECT * FROM {source}) TO {_quoted(into)} "
                "(FORMAT parquet, COMPRESSION zstd)"
            )
        except duckdb.IOException as error:
            raise OSError(None, str(error).splitlines()[0], str(into)) from error


def _quoted(file: Path) -> str:
    return "'" + str(file).replace("'", "''") + "'"
