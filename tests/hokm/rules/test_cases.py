"""Every case of the rulebook's section 8 is carried by a test that is marked with its number."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[2]
CASES = set(range(1, 54))
CLAUSE = "8."


def test_every_case_is_carried_by_a_test_with_its_mark() -> None:
    carried = {case for _, case in marked_tests()}
    assert sorted(CASES - carried) == [], "no test is marked with these"
    assert sorted(carried - CASES) == [], "the rulebook has no such cases"


def test_a_test_named_after_a_case_has_its_mark() -> None:
    for name, case in marked_tests():
        if name.startswith("test_case_"):
            assert name.startswith(f"test_case_{case}_")


def marked_tests() -> Iterator[tuple[str, int]]:
    """The name of each test of the repository that is marked with a case, and the case."""
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if f'rule("{CLAUSE}' not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for clause in map(clause_of, node.decorator_list):
                    if clause is not None and clause.startswith(CLAUSE):
                        yield node.name, int(clause.removeprefix(CLAUSE))


def clause_of(decorator: ast.expr) -> str | None:
    """What ``@pytest.mark.rule("...")`` names; None for another decorator."""
    match decorator:
        case ast.Call(func=ast.Attribute(attr="rule"), args=[ast.Constant(value=str(clause))]):
            return clause
    return None
