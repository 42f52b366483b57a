"""Failures that are alike: one mistake fails many checks, and one of these names it best. Pure.

It knows which checks need least, and nothing of how they are run or printed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.conformance.checks.exchanges import EXCHANGES
from arena.conformance.checks.games import GAMES
from arena.conformance.checks.hands import HANDS
from arena.conformance.checks.memory import MEMORY
from arena.conformance.checks.returns import RETURNS
from arena.conformance.checks.sessions import SESSIONS
from arena.conformance.report import Finding, Result

_PLAINEST_FIRST = (HANDS, GAMES, EXCHANGES, SESSIONS, RETURNS, MEMORY)
"""What needs one hand before what needs several, and a whole session last."""

AT_ONCE = 2
"""Decisions of a game within which a check that is about a fault comes to it: the hakem's of trump,
and a first card.
"""


@dataclass(frozen=True, slots=True)
class Group:
    """Checks in which the bot failed alike: the one that says most, and the others."""

    best: Result
    others: Sequence[Result]


def grouped(results: Iterable[Result]) -> list[Group]:
    """The failures among ``results``, those that are alike together; the largest group first."""
    alike: dict[str, list[tuple[tuple[int, bool, bool], Result]]] = {}
    for result in results:
        if result.finding is not None:
            ranked = (_rank(result, result.finding), result)
            alike.setdefault(result.finding.alike, []).append(ranked)
    groups = []
    for members in alike.values():
        _, best = min(members, key=lambda member: member[0])
        groups.append(Group(best, [result for _, result in members if result is not best]))
    return sorted(groups, key=lambda group: -len(group.others))


def _rank(result: Result, finding: Finding) -> tuple[int, bool, bool]:
    """Lowest for the check that says most: it needs little, it is about the very paragraph that was
    broken, and shows it at once. Of several such the first is taken.
    """
    section = next(
        (place for place, checks in enumerate(_PLAINEST_FIRST) if result.check in checks),
        len(_PLAINEST_FIRST),
    )
    return section, finding.reference != result.check.reference, finding.decision > AT_ONCE
