"""Reading TOML strictly: every complaint has the file, the key and what would have been right."""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.ladder.errors import LadderError
from arena.ladder.strict_toml import Table, parsed, read_text

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


def refusal(text: str) -> str:
    """Return what is said about a text that is not read; it is always one line."""
    with pytest.raises(LadderError) as caught:
        parsed(text, where=Path("a/b.toml"), error=LadderError, remedy="mend it")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["a" * 16_000 + " = 1", '"a" = 1\n"a" = 1', f"x = {{{'a' * 7000} = 1, {'a' * 7000} = 2}}"],
)
def test_no_complaint_repeats_a_file(text: str) -> None:
    where = Path("a/b.toml")

    def read() -> None:
        values = parsed(text, where=where, error=LadderError, remedy="mend it")
        Table(where, values, error=LadderError, remedy=str).refuse_unknown(["b"])

    with pytest.raises(LadderError) as caught:
        read()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("value", ["x" * 16_000, ["x" * 100] * 100, {"a": "x" * 16_000}])
def test_no_complaint_repeats_a_value(value: object) -> None:
    table = Table(Path("a/b.toml"), {"a": value}, error=LadderError, remedy=str)
    for read in (table.whole, table.number, table.wholes):
        with pytest.raises(LadderError) as caught:
            read("a")
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("digits", ["9" * 5000, "0x" + "f" * 5000, str(2**63)])
def test_an_integer_too_long_for_toml_is_refused(digits: str) -> None:
    assert refusal(f"size = {digits}").startswith("a/b.toml: ")
    assert refusal(f"sizes = [[{digits}]]").startswith("a/b.toml: ")
    assert parsed(
        f"size = {2**63 - 1}", where=Path("a/b.toml"), error=LadderError, remedy="mend it"
    ) == {"size": 2**63 - 1}


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 5000 + "]" * 5000, "a" + ".a" * 5000 + " = 1", "a = " + "[" * 5000]
)
def test_what_is_nested_too_deeply_is_refused(text: str) -> None:
    assert refusal(text) == "a/b.toml: is nested too deeply; mend it"


def test_a_file_is_bounded_before_it_is_parsed(tmp_path: Path) -> None:
    file = tmp_path / "b.toml"
    file.write_text("a" + ".a" * 20_000 + " = 1", encoding="utf-8")
    with pytest.raises(LadderError, match=r"is longer than 16384 bytes; mend it"):
        read_text(file, error=LadderError, remedy="mend it")


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_regular_file_is_refused_unread(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "b.toml"
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case "folder":
            file.mkdir()
    with pytest.raises(LadderError, match="is not a regular file"):
        read_text(file, error=LadderError, remedy="mend it")
