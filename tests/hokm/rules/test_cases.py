"""Which cases of the rulebook's section 8 have a test here."""

import re
from pathlib import Path

ALL = set(range(1, 54))
AT_THE_TABLE = {25, 26}
"""They need ids and clocks, which the rules know nothing of: tests of the referee's table."""
WITH_THE_DECK = {51}
"""Test of the shuffle: tests/hokm/test_deck.py."""


def test_every_case_that_the_rules_can_answer_is_tested_under_its_number() -> None:
    texts = [path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py")]
    marked = _numbers(r'@pytest\.mark\.rule\("8\.(\d+)"\)', texts)
    named = _numbers(r"def test_case_(\d+)_", texts)
    assert marked - WITH_THE_DECK == ALL - AT_THE_TABLE - WITH_THE_DECK
    assert named == marked - WITH_THE_DECK


def _numbers(pattern: str, texts: list[str]) -> set[int]:
    return {int(number) for text in texts for number in re.findall(pattern, text)}
