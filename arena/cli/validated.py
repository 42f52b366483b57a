"""The report of a validation that was done elsewhere, told as ``arena bot check`` tells its own.

It comes as JSON from a ladder: whatever is missing in it, or of another kind, is left out, and what
it says is made fit for a terminal.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Final

from arena.validation.document import LARGEST_BYTES, line_of
from arena.validation.values import Failure, Stage
from arena.wording import printable

_READ: Final = 4 * LARGEST_BYTES
"""Characters that are read at all."""


def report_lines(report: str) -> Iterator[str]:
    """The lines of a report: every failure in full, and what it all came to."""
    document = _document(report)
    if document is None:
        yield printable(line_of(report))
        return
    # The kit with it, 0.1 s.
    from arena.cli.conformance import failure_lines

    failures = failures_in(document)
    yield from failure_lines(failures, is_each_shown=True)
    if more := _texts(document.get("more_failures")):
        yield ""
        yield f"FAILED {', '.join(more)}"
    if more or any(failure.also for failure in failures):
        yield ""  # the report has no more of them
        seed = shlex.quote(line_of(_text(document, "seed")))
        yield f"each failure in full, at home: arena bot check BOT --all --seed {seed}"
    yield ""
    if isinstance(counts := document.get("counts"), dict):
        told = [f"{count} {line_of(str(name))}" for name, count in counts.items() if count]
        if told:
            yield f"checks: {line_of(', '.join(told))} (seed {line_of(_text(document, 'seed'))})"
    if cause := _text(document, "cause"):
        yield f"cause: {line_of(cause)}"
    if verdict := _text(document, "verdict"):
        yield line_of(verdict)


def failures_in(document: Mapping[str, object]) -> list[Failure]:
    """The failures that a report tells of in full."""
    stages = {stage.value: stage for stage in Stage}
    found = document.get("failures")
    return [
        Failure(
            stage=stages.get(_text(one, "stage"), Stage.BUNDLE),
            name=line_of(_text(one, "name")),
            cause=_text(one, "cause"),
            command=_text(one, "command"),
            expected=_text(one, "expected"),
            reference=_text(one, "reference"),
            exit_code=_whole(one, "exit_code"),
            elapsed_seconds=_number(one, "elapsed_seconds"),
            limit_seconds=_number(one, "limit_seconds"),
            log="\n".join(_texts(one.get("log"))),
            exchange=_texts(one.get("exchange")),
            by_hand=_text(one, "by_hand"),
            also=list(map(line_of, _texts(one.get("also")))),
        )
        for one in (found if isinstance(found, list) else [])
        if isinstance(one, dict)
    ]


def _document(report: str) -> Mapping[str, object] | None:
    try:
        found = json.loads(report[:_READ])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(one: Mapping[str, object], key: str) -> str:
    value = one.get(key)
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _whole(one: Mapping[str, object], key: str) -> int | None:
    value = one.get(key)
    return value if type(value) is int and abs(value) < 2**31 else None


def _number(one: Mapping[str, object], key: str) -> float | None:
    value = one.get(key)
    if type(value) not in (int, float) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e9 else None  # and neither NaN
