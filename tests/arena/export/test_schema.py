"""The schema is whole: names, kinds, units and meanings of every column."""

from arena.export.schema import TABLE_OF, TABLES, Column, Kind, Play, Row

COLUMNS = [(table.name, column) for table in TABLES for column in table.columns]


def test_a_column_has_its_kind_whether_it_may_be_empty_and_what_it_means() -> None:
    columns = {column.name: column for column in TABLE_OF[Play].columns}
    assert columns["seat"] == Column("seat", Kind.WHOLE, False, "who took it")
    assert columns["charged_milliseconds"] == Column(
        "charged_milliseconds", Kind.REAL, True, "what its clock was charged"
    )


def test_every_table_and_column_says_what_it_is() -> None:
    assert all(table.meaning and "  " not in table.meaning for table in TABLES)
    assert [told for told in COLUMNS if not told[1].meaning] == []


def test_a_table_has_the_columns_of_its_rows_in_their_order() -> None:
    for table in TABLES:
        assert tuple(column.name for column in table.columns) == table.rows._fields


def test_times_are_milliseconds_and_say_so() -> None:
    assert {column.kind for _, column in COLUMNS if column.name.endswith("_milliseconds")} == {
        Kind.REAL
    }
    assert not [told for told in COLUMNS if told[1].name.endswith(("_seconds", "_time"))]


def test_what_is_asked_as_a_question_is_true_or_false() -> None:
    asked = {column.kind for _, column in COLUMNS if column.name.startswith("is_")}
    assert asked == {Kind.TRUTH}


def test_every_kind_of_row_has_its_table() -> None:
    kinds = set(Row.__args__)
    assert set(TABLE_OF) == kinds
    assert len({table.name for table in TABLES}) == len(kinds)
