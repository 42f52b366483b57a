"""Reading TOML strictly: every complaint has the file, the key and what would have been right."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.ladder.errors import LadderError
from arena.ladder.strict_toml import Table

TEXT = """
colour = "red"
size = 3
weight = 1.5
names = ["a", "b"]
counts = [1, 2]
is_old = true
[inner]
depth = 0
"""


@pytest.fixture
def table() -> Table:
    return Table(
        Path("a/b.toml"),
        tomllib.loads(TEXT),
        error=LadderError,
        remedy=lambda key: f"mend {key}",
    )


def test_values_are_read_as_what_they_are(table: Table) -> None:
    assert table.text("colour") == "red"
    assert table.whole("size") == table.whole("size", least=3) == 3
    assert (table.number("weight"), table.number("size")) == (1.5, 3.0)
    assert table.texts("names") == ["a", "b"]
    assert table.wholes("counts") == [1, 2]
    assert table.table("inner").whole("depth") == 0
    assert "size" in table
    assert "sizes" not in table


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda t: t.text("size"), "size: 3 is not a text; mend size"),
        (lambda t: t.whole("weight"), "weight: 1.5 is not a whole number; mend weight"),
        (lambda t: t.whole("is_old"), "is_old: True is not a whole number; mend is_old"),
        (lambda t: t.whole("size", least=4), "size: 3 is not a whole number from 4 up; mend size"),
        (lambda t: t.number("is_old"), "is_old: True is not a number; mend is_old"),
        (lambda t: t.texts("counts"), "counts: [1, 2] is not a list of texts; mend counts"),
        (lambda t: t.wholes("names"), "names: ['a', 'b'] is not a list of whole numbers; mend"),
        (lambda t: t.table("size"), "size: is not a table; mend size"),
        (lambda t: t.table("inner").text("depth"), "inner.depth: 0 is not a text; mend depth"),
        (lambda t: t.text("color"), "color: is missing; did you mean it by colour?"),
        (lambda t: t.text("shade"), "shade: is missing; mend shade"),
        (lambda t: t.text("name"), "name: is missing; did you mean it by names?"),
        (lambda t: t.refuse_unknown(["colour", "sise"]), "size: is not a known key; did you mean"),
        (lambda t: t.refuse_unknown(["q", "z"]), "colour: is not a known key; the keys here are q"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    table: Table, read: Callable[[Table], object], said: str
) -> None:
    with pytest.raises(LadderError) as caught:
        read(table)
    assert str(caught.value).startswith(f"a/b.toml: {said}")


def test_known_keys_are_let_pass(table: Table) -> None:
    table.refuse_unknown(table.values)
