"""All rows of a ladder, out of one database and into another, and whether both have the same.

Rows are plain values in an order that does not depend on what keeps them. That is all there is:
what a database adds of its own, such as indices, is made anew with its tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Final, TypeAlias

import sqlalchemy as sa

from arena.ladder.store.tables import REVISION, metadata, without_nul
from hokm.errors import quoted

Value: TypeAlias = int | float | str | bool | None
Row: TypeAlias = tuple[Value, ...]

CHUNK_ROWS: Final = 2000


class Tables:
    """The tables that a transaction sees, in an order in which each refers to earlier ones only."""

    def __init__(self, connection: sa.Connection, *, revision: str = REVISION) -> None:
        self._connection = connection
        if revision == REVISION:
            found = metadata
        else:
            found = sa.MetaData()
            found.reflect(connection)
        self._tables = {table.name: table for table in found.sorted_tables}

    def columns(self) -> dict[str, tuple[str, ...]]:
        """The names of the columns of every table."""
        return {name: tuple(table.columns.keys()) for name, table in self._tables.items()}

    def rows(self, name: str) -> Iterator[Row]:
        """The rows of a table by its key. Raises ValueError for what no arena writes."""
        table = self._tables[name]
        query = sa.select(table).order_by(*(self._in_order(key) for key in table.primary_key))
        options = {"stream_results": True, "max_row_buffer": CHUNK_ROWS}
        with self._connection.execute(query, execution_options=options) as found:
            for row in found:
                yield tuple(without_nul(value) for value in row)

    def fill(self, name: str, columns: Sequence[str], rows: Iterable[Row]) -> int:
        """Put rows into a table that is empty, and return how many there were.

        Raises ValueError for a table or column that there is not.
        """
        table = self._tables.get(name)
        if table is None or not set(columns) <= set(table.columns.keys()):
            raise ValueError(f"no table {quoted(name)} of columns {quoted(' '.join(columns))}")
        count, left = 0, iter(rows)
        while chunk := list(islice(left, CHUNK_ROWS)):
            values = [dict(zip(columns, row, strict=True)) for row in chunk]
            self._connection.execute(sa.insert(table), values)
            count += len(chunk)
        return count

    def _in_order(
        self, column: "sa.Column[object]"
    ) -> "sa.ColumnElement[object] | sa.ColumnElement[str]":
        # By the bytes of a text: SQLite does so, PostgreSQL as its database is set.
        if self._connection.dialect.name == "postgresql" and isinstance(column.type, _TEXTS):
            return sa.collate(column, "C")
        return column


_TEXTS: Final = (sa.Text, type(metadata.tables["ladder"].c.settings.type))


def copy(source: Tables, target: Tables) -> dict[str, int]:
    """Put all rows of one into the other, whose tables are empty; how many rows of each table."""
    return {
        name: target.fill(name, columns, source.rows(name))
        for name, columns in source.columns().items()
    }


def difference(one: Iterable[Row], other: Iterable[Row]) -> str | None:
    """The first row in which they differ, None if there is none."""
    for number, (row, its) in enumerate(zip_longest(one, other), start=1):
        if row != its:
            return f"row {number} is {quoted(str(its))} in place of {quoted(str(row))}"
    return None
