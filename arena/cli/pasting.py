"""A hand as a short text, wherever one is shown that somebody may want to look at again."""

from collections.abc import Iterator
from typing import Final

from hokm.notation import hand_text
from hokm.records import HandRecord
from hokm.rules.options import Rules

OFFER: Final = "the hand so far, to paste into `arena replay -`:"


def pasted(rules: Rules, hand: HandRecord, *, indent: str = "  ") -> Iterator[str]:
    """The hand as far as it went, in lines, and what to do with them."""
    yield from pasted_text(hand_text(rules, hand), indent=indent)


def pasted_text(text: str, *, indent: str = "  ") -> Iterator[str]:
    """The same of a hand that is a text already."""
    yield f"{indent}{OFFER}"
    yield from (f"{indent}  {line}" for line in text.splitlines())
