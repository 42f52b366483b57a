"""The page of statistics explains every column, line and figure that a command prints.

What is printed is read from the source of the modules that print it: the columns of their tables,
the names of their lines, and the word before each figure. So what is added there and not explained
is missed here, also where it is only printed now and then.
"""

import ast
import re

import pytest

from arena.cli.crosstable import _COLUMNS
from arena.cli.table import _MARKS
from tests.docs.test_docs import BLOCK, ROOT, text_of

PAGE = "docs/statistics.md"
CLI = ROOT / "arena/cli"

HEADINGS = {
    "table.py": "### `arena ladder standings`",
    "history.py": "### `arena bot history`",
    "crosstable.py": "### `arena crosstable`",
    "head2head.py": "### `arena head2head`",
    "show.py": "### `arena match`",
    "series.py": "### `arena sprt` and `arena duel`",
    "luck_table.py": "### `arena luck`",
}

ELSEWHERE = {"analysing.py": "docs/analysis.md", "climbing.py": "docs/experiments.md"}
"""Modules whose tables have a page of their own."""

WITHOUT_FIGURES = {
    ("show.py", "named_columns"),
    ("show.py", "print_bots"),
    ("conformance.py", "list_checks"),
    ("looking.py", "results"),
    ("owner.py", "list_owners"),
    ("status.py", "_print_own"),
}
"""Functions whose tables only list what there is, and the one that makes tables; by module."""

ONLY_WHEN_RUN = {
    ("table.py", "unit"): {"boards", "pairs"},
    ("crosstable.py", "str(row.rank)"): {""},  # a column for each opponent
}
"""Columns that no reading of the source tells."""

FIGURES = {"signed", "plain", "with_error", "percent"}
"""What makes a text of a figure: see arena/wording.py."""


class Printed(ast.NodeVisitor):
    """The names with which a module prints figures."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.names: set[str] = set()
        self._values: dict[str, ast.expr] = {}
        """What a name stands for: its last assignment, or what a loop takes it from."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if (self.module, node.name) not in WITHOUT_FIGURES:
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Name):
            self._values[node.targets[0].id] = node.value
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        match node.target, node.iter:
            case ast.Name(heading), iterated:
                self._values[heading] = iterated
            case ast.Tuple([ast.Name("name"), *_]), ast.Tuple(lines):
                self.names |= {text for one in lines for text in self._first(one)}
            case ast.Tuple([ast.Name("name"), *_]), ast.Call(ast.Attribute(ast.Name(lines), _)):
                document = self._values[lines]
                assert isinstance(document, ast.Dict)
                self.names |= {text for key in document.keys if key for text in self._texts(key)}
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if called == "named_columns":
            self.names |= {text for column in node.args for text in self._texts(column)}
        elif called == "add_column":
            self.names |= self._texts(node.args[0])
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """The word before each figure."""
        for before, part in zip(node.values, node.values[1:], strict=False):
            match before, part:
                case ast.Constant(str(text)), ast.FormattedValue(ast.Call(ast.Name(called))):
                    if called in FIGURES:
                        self.names |= set(re.findall(r"[\w/]+(?= $)", text))
        self.generic_visit(node)

    def _first(self, line: ast.expr) -> set[str]:
        assert isinstance(line, ast.Tuple)
        return self._texts(line.elts[0])

    def _texts(self, node: ast.expr) -> set[str]:
        """All that an expression may be, or may be a list of."""
        if (known := ONLY_WHEN_RUN.get((self.module, ast.unparse(node)))) is not None:
            return known
        match node:
            case ast.Constant(str(text)):
                return {text}
            case ast.Tuple(parts) | ast.List(parts):
                return {text for part in parts for text in self._texts(part)}
            case ast.IfExp(_, body, otherwise):
                return self._texts(body) | self._texts(otherwise)
            case ast.Starred(value) | ast.FormattedValue(value):
                return self._texts(value)
            case ast.Name(name) if name in self._values:
                return self._texts(self._values[name])
            case ast.JoinedStr(parts):
                texts = {""}
                for part in parts:
                    texts = {text + more for text in texts for more in self._texts(part)}
                return texts
        raise AssertionError(f"{self.module}: what column is {ast.unparse(node)}?")


def printed(module: str) -> set[str]:
    found = Printed(module)
    found.visit(ast.parse((CLI / module).read_text(encoding="utf-8")))
    return found.names - {""}


def explained(heading: str) -> set[str]:
    """The names in the first column of the tables below a heading, up to the next one."""
    page = BLOCK.sub("", text_of(PAGE))
    part = re.split(r"^#", page.split(f"\n{heading}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]
    cells = re.findall(r"^\| (`[^|]*)\|", part, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_every_module_that_prints_a_table_is_looked_at() -> None:
    modules = {file.name for file in CLI.glob("*.py") if printed(file.name)}
    assert modules == set(HEADINGS) | set(ELSEWHERE)


@pytest.mark.parametrize("module", ELSEWHERE)
def test_each_column_with_a_page_of_its_own_is_spoken_of_there(module: str) -> None:
    prose = BLOCK.sub("", text_of(ELSEWHERE[module]))
    assert {name for name in printed(module) if name not in prose} == set()


@pytest.mark.parametrize("module", HEADINGS)
def test_each_column_line_and_figure_of_a_command_is_explained_and_no_other(module: str) -> None:
    names, told = printed(module), explained(HEADINGS[module])
    if module == "crosstable.py":
        names |= set(_COLUMNS)
    assert names - told == set(), "not explained"
    assert told - names == set(), "explained, and not printed"


def test_each_mark_of_the_standings_is_explained() -> None:
    part = text_of(PAGE).split("\n### Marks\n")[1].split("\n#")[0]
    assert all(f"**{mark}**" in part for mark, _ in _MARKS.values())
