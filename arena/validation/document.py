"""A validation as JSON: what a ladder keeps, and ``arena bot check --json`` prints. Pure.

Whatever the bot had a hand in, names, logs, messages, is made fit to be shown and cut to a size, so
that a report has at most :data:`LARGEST_BYTES` whatever was sent in. docs/check.md has the fields.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

import arena
from arena.conformance.report import Report, Verdict
from arena.validation.values import Failure, MatchResult, Validation
from arena.wording import printable
from hokm.outcome import Ending

SCHEMA: Final = 1

LARGEST_BYTES: Final = 64 * 2**10
"""Of a report as :func:`text_of` prints it."""

MOST_FAILURES: Final = 8
"""Each is of another kind, the first says most; of more there are only the names."""

_LINE_BYTES: Final = 400
_DETAIL_BYTES: Final = 160
_LOG_BYTES: Final = 4096
_LOG_LINES: Final = 40
_EXCHANGE_LINES: Final = 60
_GOES_ON_BYTES: Final = len("…".encode())

# Of a report that is too large even so: how many failures it keeps, and of each the bytes of a log
# and the lines of an exchange. The last of them fits whatever was sent in.
_SMALLER: Final = ((MOST_FAILURES, 2048, 30), (MOST_FAILURES, 1024, 12), (3, 256, 4))

Document = dict[str, object]


def document_of(validation: Validation) -> Document:
    """The report as one object of JSON."""
    document = _document(
        validation, failures=MOST_FAILURES, log_bytes=_LOG_BYTES, lines=_EXCHANGE_LINES
    )
    for failures, log_bytes, lines in _SMALLER:
        if len(text_of(document).encode()) <= LARGEST_BYTES:
            break
        document = _document(validation, failures=failures, log_bytes=log_bytes, lines=lines)
    return document


def text_of(document: Mapping[str, object]) -> str:
    """How a report is printed."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _document(validation: Validation, *, failures: int, log_bytes: int, lines: int) -> Document:
    bot, report = validation.bot, validation.conformance
    told, untold = validation.failures[:failures], validation.failures[failures:]
    return {
        "schema": SCHEMA,
        "arena": arena.__version__,
        "verdict": validation.verdict.value,
        "ok": validation.verdict.value == "accepted",
        "stage": None if validation.stage is None else validation.stage.value,
        "cause": line_of(validation.cause) or None,
        "complete": validation.is_complete,
        "sandbox": validation.is_confined,
        "bot": None
        if bot is None
        else {
            "name": line_of(bot.name),
            "owner": line_of(bot.owner),
            "version": line_of(bot.version),
            "digest": bot.digest,
            "players": list(bot.variants),
        },
        "seed": line_of(validation.seed),
        "seconds": round(validation.seconds, 3),
        "stages": [
            {"name": one.stage.value, "result": one.state.value, "seconds": round(one.seconds, 3)}
            for one in validation.stages
        ],
        "failures": [_failure(one, log_bytes=log_bytes, lines=lines) for one in told],
        "more_failures": [one.name for one in untold],
        **_conformance(report),
        "matches": [_match(one) for one in validation.matches],
    }


def _failure(failure: Failure, *, log_bytes: int, lines: int) -> Document:
    return {
        "stage": failure.stage.value,
        "name": failure.name,
        "cause": line_of(failure.cause),
        "expected": line_of(failure.expected),
        "reference": line_of(failure.reference),
        "exit_code": failure.exit_code,
        "elapsed_seconds": _rounded(failure.elapsed_seconds),
        "limit_seconds": _rounded(failure.limit_seconds),
        "log": log_lines(failure.log, most_bytes=log_bytes),
        "exchange": [line_of(line) for line in _ends(failure.exchange, most=lines)],
        "command": line_of(failure.command),
        "by_hand": line_of(failure.by_hand),
        "also": list(failure.also),
    }


def _conformance(report: Report | None) -> Document:
    results = [] if report is None else report.results
    return {
        "counts": {
            verdict.value: 0 if report is None else report.count(verdict) for verdict in Verdict
        },
        "checks": [
            {
                "name": one.check.name,
                "result": one.verdict.value,
                "seconds": round(one.seconds, 3),
                "detail": line_of(one.detail, most_bytes=_DETAIL_BYTES),
            }
            for one in results
        ],
    }


def _match(match: MatchResult) -> Document:
    return {
        "name": match.name,
        "players": match.players,
        "result": "passed" if match.failure is None else "failed",
        "endings": {ending.value: count for ending, count in sorted_endings(match)},
        "refused": match.refusals,
        "seconds": round(match.seconds, 3),
    }


def sorted_endings(match: MatchResult) -> Sequence[tuple[Ending, int]]:
    """How many games of a match ended how, in the order of the endings."""
    return [(ending, match.endings[ending]) for ending in Ending if ending in match.endings]


def line_of(text: str, *, most_bytes: int = _LINE_BYTES) -> str:
    """As much of a text as takes so many bytes, on one line and fit to be shown."""
    taken, taken_bytes, fitting = [], 0, 0
    for letter in text:
        shown = printable(letter)
        taken.append(shown)
        taken_bytes += _bytes_of(shown)
        if taken_bytes > most_bytes:
            return f"{''.join(taken[:fitting])}…"
        if taken_bytes <= most_bytes - _GOES_ON_BYTES:
            fitting = len(taken)
    return "".join(taken)


def log_lines(log: str, *, most_bytes: int = _LOG_BYTES) -> list[str]:
    """The last lines of a log, fit to be shown, of so many bytes together at most."""
    kept: list[str] = []
    left_bytes = most_bytes
    for line in reversed(log.rstrip().splitlines()[-_LOG_LINES:]):
        shown = line_of(line.expandtabs(4))
        left_bytes -= _bytes_of(shown) + 2
        if left_bytes < 0:
            break
        kept.append(shown)
    return kept[::-1]


def _ends(lines: Sequence[str], *, most: int) -> Sequence[str]:
    """The first line, which says where one is, and the last ones."""
    return lines if len(lines) <= most else [*lines[:1], "…", *lines[-(most - 2) :]]


def _bytes_of(text: str) -> int:
    """What it takes within JSON, which escapes quotes and backslashes."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")) - 2


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
