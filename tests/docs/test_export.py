"""The page of the export says what the schema says, and its questions have answers."""

import re
from pathlib import Path

import duckdb
import pytest

from arena.cli import main
from arena.export.schema import TABLES, Table
from tests.arena.ladder.ratings.leagues import played_ladder

PAGE = (Path(__file__).resolve().parents[2] / "docs/export.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def as_told(table: Table) -> str:
    """A table of the schema as the page has it."""
    lines = [f"### `{table.name}`", "", table.meaning, "", "| column | kind | what it is |"]
    lines.append("|---|---|---|")
    for column in table.columns:
        kind = column.kind.value + "?" * column.is_optional
        lines.append(f"| `{column.name}` | {kind} | {column.meaning} |")
    return "\n".join(lines)


def test_the_tables_are_those_of_the_schema_in_its_order() -> None:
    part = PAGE.split("## The tables\n")[1].split("\n## ")[0]
    assert part[part.index("### ") :].rstrip() == "\n\n".join(map(as_told, TABLES))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    played_ladder(folder / "club", ["ada", "bob", "cyd"])
    words = ["export", str(folder / "club"), "--out", str(folder / "tables")]
    assert main([*words, "--format", "parquet"]) == 0
    return folder


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_questions_have_answers(
    tables: Path, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tables)
    answer = duckdb.execute(question).fetchall()
    assert len(answer) >= 3
    assert all(value is not None for row in answer for value in row)


def test_there_are_questions() -> None:
    assert len(QUESTIONS) == 3
