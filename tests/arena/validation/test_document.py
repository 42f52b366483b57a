"""A report has a bounded size and nothing that steers a terminal, whatever was sent in."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from arena.conformance.checks import CHECKS
from arena.conformance.report import Report, Result
from arena.conformance.report import Verdict as CheckVerdict
from arena.ladder.bots.entrants import Entrant
from arena.validation.document import (
    LARGEST_BYTES,
    document_of,
    line_of,
    log_lines,
    text_of,
)
from arena.validation.values import (
    Failure,
    MatchResult,
    Stage,
    StageResult,
    State,
    Validation,
    Verdict,
)
from hokm.outcome import Ending

HOSTILE = ("\x1b[2J", '"', "\\", "\u202e", "\ud800", "گ", "\U0001f0a1", "\n", "\t")


def passed() -> Validation:
    stages = [StageResult(stage, State.PASSED, 1.0) for stage in Stage]
    return Validation(bot=None, seed="s", seconds=4.0, stages=stages)


def failure(name: str, text: str) -> Failure:
    return Failure(
        stage=Stage.CONFORMANCE,
        name=name,
        cause=text,
        command=text,
        expected=text,
        reference=text,
        exit_code=1,
        elapsed_seconds=0.12345,
        limit_seconds=6.0,
        log=text,
        exchange=[text] * 1000,
        by_hand=text,
    )


@pytest.mark.parametrize("letter", HOSTILE)
def test_the_largest_report_is_within_its_bound_and_can_be_shown(letter: str) -> None:
    text = letter * 100_000
    results = [Result(check, CheckVerdict.FAILED, 1.0, text) for check in CHECKS]
    report = Report(bot=text, version=text, seed=text, seconds=1.0, results=results)
    failures = [failure(check.name, text) for check in CHECKS]
    match = MatchResult(
        name="4-boards", players=4, endings=dict.fromkeys(Ending, 10**6), refusals=1, seconds=1.0
    )
    stages = [StageResult(stage, State.FAILED, 1.0) for stage in Stage]
    whole = Validation(
        bot=None,
        seed=text,
        seconds=1.0,
        stages=stages,
        failures=failures,
        conformance=report,
        matches=[match] * 5,
    )
    printed = text_of(document_of(whole))
    assert len(printed.encode()) <= LARGEST_BYTES
    assert printed.replace("\n", "").isprintable()
    told = json.loads(printed)
    names = [one["name"] for one in told["failures"]] + told["more_failures"]
    assert names == [check.name for check in CHECKS]


def test_a_report_keeps_all_of_a_few_failures(entrant: Entrant) -> None:
    failures = [failure("four-void", "it played AC"), failure("fuzz", "it played AD")]
    stages = [replace(one, state=State.FAILED) for one in passed().stages[2:3]]
    validation = replace(passed(), bot=entrant, failures=failures, stages=stages)
    document = json.loads(text_of(document_of(validation)))
    assert (document["verdict"], document["ok"]) == ("refused", False)
    assert (document["stage"], document["cause"]) == ("conformance", "four-void: it played AC")
    assert document["bot"]["digest"] == entrant.digest
    first, second = document["failures"]
    assert (first["exit_code"], first["elapsed_seconds"]) == (1, 0.123)
    assert first["log"] == ["it played AC"]
    assert len(first["exchange"]) == 60
    assert second["name"] == "fuzz"


def test_a_bot_is_accepted_without_a_failure_and_undecided_with_a_problem_of_ours() -> None:
    assert document_of(passed())["verdict"] == "accepted"
    assert document_of(passed())["cause"] is None
    ours = replace(passed(), problem="the disk is full", failures=[failure("x", "y")])
    assert ours.verdict is Verdict.UNDECIDED
    assert document_of(ours)["cause"] == "the disk is full"


def test_a_line_is_cut_where_it_must_and_says_so() -> None:
    assert line_of("a\tb\x9b") == r"a\tb\x9b"
    assert line_of("x" * 10, most_bytes=10) == "x" * 10
    assert line_of("x" * 11, most_bytes=10) == "x" * 7 + "…"
    assert line_of('"' * 8, most_bytes=10) == '"""…'


def test_of_a_log_the_last_lines_are_kept() -> None:
    log = "".join(f"line {number}\n" for number in range(1000))
    assert log_lines(log)[-1] == "line 999"
    assert len(log_lines(log)) == 40
    assert log_lines(log, most_bytes=25) == ["line 998", "line 999"]
    assert log_lines("") == []


def test_the_page_names_every_key_of_a_report() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/check.md").read_text(encoding="utf-8")
    part = page.split("\n## The report\n")[1].split("\n## ")[0]
    failures = [failure("hello", "x")]
    document = json.loads(text_of(document_of(replace(passed(), failures=failures))))
    table = re.findall(r"^\| (`[^|]*) \|", part, re.MULTILINE)
    assert [key for cell in table for key in re.findall(r"`(\w+)`", cell)] == list(document)
    told = set(re.findall(r"`(\w+)`", part))
    assert set(document["failures"][0]) <= told
    assert set(document_of(passed())) <= told
