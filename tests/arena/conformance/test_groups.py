"""Failures that are alike, and which of them says most."""

from arena.conformance.checks import CHECKS
from arena.conformance.groups import grouped
from arena.conformance.report import Finding, Result, Verdict

BY_NAME = {check.name: check for check in CHECKS}


def failure(
    name: str, *, alike: str = "a crash", decision: int = 9, reference: str | None = None
) -> Result:
    check = BY_NAME[name]
    finding = Finding(
        what=alike,
        expected="",
        reference=check.reference if reference is None else reference,
        exchange=(),
        log="",
        by_hand="",
        alike=alike,
        decision=decision,
    )
    return Result(check, Verdict.FAILED, finding=finding)


def best(*results: Result) -> str:
    (group,) = grouped(results)
    return group.best.check.name


def test_what_needs_one_hand_says_more_than_a_race_and_that_more_than_a_session() -> None:
    sessions = [failure(name) for name in ("hello", "one-by-one", "fuzz", "long-session")]
    assert best(*sessions) == "hello"
    assert best(*sessions, failure("names")) == "names"
    assert best(*sessions, failure("names"), failure("long-race")) == "long-race"
    assert best(failure("long-race"), failure("four-sweep")) == "four-sweep"


def test_a_check_of_the_paragraph_that_was_broken_says_more_than_others() -> None:
    seats = failure("four-seats", reference="rulebook 1.4")
    assert best(seats, failure("four-void")) == "four-void"


def test_a_check_that_shows_it_at_once_says_more_than_one_that_comes_to_it() -> None:
    assert best(failure("four-seats"), failure("four-void", decision=1)) == "four-void"
    assert best(failure("four-seats", decision=2), failure("four-void", decision=1)) == "four-seats"


def test_what_passed_is_in_no_group_and_the_largest_group_is_first() -> None:
    groups = grouped(
        [
            Result(BY_NAME["hello"], Verdict.PASSED),
            failure("names", alike="another"),
            failure("four-seats"),
            failure("four-void"),
        ]
    )
    assert [group.best.check.name for group in groups] == ["four-seats", "names"]
    assert [one.check.name for one in groups[0].others] == ["four-void"]
