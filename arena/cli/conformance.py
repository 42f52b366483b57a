"""``arena bot check``: from what was asked to a validation, and how its results are printed."""

import fnmatch
import functools
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import trio
from rich.console import Console

from arena.cli import show
from arena.cli.confining import confining
from arena.cli.errors import Misuse
from arena.cli.places import bot_place, environments, running_folder, temporary_folder
from arena.conformance.checks import CHECKS
from arena.conformance.kit import NO_HELLO
from arena.conformance.report import Report, Result, Verdict
from arena.conformance.script import Check
from arena.ladder.processes.cores import usable_cores
from arena.logs import errors_shown
from arena.validation import validate as validating
from arena.validation.document import (
    document_of,
    line_of,
    log_lines,
    sorted_endings,
    text_of,
)
from arena.validation.validate import Listener, Means, validate
from arena.validation.values import Failure, MatchResult, Stage, Validation
from arena.validation.values import Verdict as Judgement
from arena.wording import counted, printable
from hokm.session import ClockRules

SEED_BYTES = 4
"""Of a new seed: eight digits are easily typed, and nobody need guess it."""

LOG_LINES = 12

MOST_SHOWN = 4
"""Failures that are shown in full, each of another kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena bot check``; None leaves a thing to its default."""

    bot: str
    only: tuple[str, ...]
    skip: tuple[str, ...]
    seed: str | None
    fuzz_seconds: float
    limit_seconds: float
    logs: Path | None
    show_all: bool
    """Each failure in full, also those that are alike."""
    plays_matches: bool = True
    clock: ClockRules
    is_confined: bool = False
    wheels: Path | None = None


def check(ask: Ask, *, as_json: bool) -> Judgement:
    """Validate a bot, as far as is asked, and print what it came to."""
    asked = validating.Ask(
        seed=os.urandom(SEED_BYTES).hex() if ask.seed is None else ask.seed,
        tells_each=ask.show_all,
        checks=_chosen(ask),
        plays_matches=ask.plays_matches and not ask.only and not ask.skip,
        fuzz_seconds=ask.fuzz_seconds,
        limit_seconds=ask.limit_seconds,
        clock=ask.clock,
    )
    place = bot_place(ask.bot)
    environments(ask.wheels)  # a folder of wheels that is none is told before all else
    console = show.results()
    listener = Listener() if as_json else _listener(console)
    try:
        validation = _validated(place, ask=ask, asked=asked, listener=listener)
    except Exception as error:
        if isinstance(error, Misuse):
            raise
        # A fault of ours that nobody foresaw is no bot's: whoever goes by the verdict tries again.
        traceback.print_exception(error)
        problem = f"a fault of the arena, {type(error).__name__}"
        validation = validating.undecided(problem, ask=asked)
    if as_json:
        print(text_of(document_of(validation)))
    else:
        _print_validation(console, validation, is_each_shown=ask.show_all)
    if validation.problem:
        print(f"error: {printable(validation.problem)}", file=sys.stderr)
    return validation.verdict


def _validated(place: Path, *, ask: Ask, asked: validating.Ask, listener: Listener) -> Validation:
    with ExitStack() as open_:
        open_.enter_context(errors_shown())  # what a bot did is in the report
        work, logs = open_.enter_context(_folders(ask.logs))
        try:
            sandbox = open_.enter_context(confining(ask.is_confined))
        except Misuse as error:
            return validating.undecided(str(error), ask=asked)
        means = Means(
            work=work,
            running=running_folder(otherwise=logs),
            logs=logs,
            environments=environments(
                ask.wheels, confine=None if sandbox is None else lambda: nullcontext(sandbox)
            ),
            sandbox=sandbox,
            concurrency=usable_cores(),
            blocking=_interrupted_by_all,
        )
        validated = functools.partial(validate, place, ask=asked, means=means, listener=listener)
        return trio.run(_unless_told, validated)


@contextmanager
def _folders(logs: Path | None) -> Iterator[tuple[Path, Path]]:
    """Where an archive is unpacked, and where bots' output goes: what is worth reading of that is
    in the report, so it is kept only where somebody asks for it.
    """
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
    temporary = temporary_folder()
    try:
        work = temporary / "work"
        work.mkdir()
        yield work, temporary / "logs" if logs is None else logs
    finally:
        rmtree(temporary, ignore_errors=True)


async def _unless_told(run: Callable[[], Awaitable[Validation]]) -> Validation:
    """What ``run`` comes to. SIGTERM, and SIGHUP of a terminal that is closed, end it as Ctrl-C
    does: no bot is left.
    """
    validations: list[Validation] = []
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
        async with trio.open_nursery() as nursery:

            async def wait() -> None:
                async for _ in signals:
                    nursery.cancel_scope.cancel()

            nursery.start_soon(wait)
            validations.append(await run())
            nursery.cancel_scope.cancel()
    if not validations:
        raise KeyboardInterrupt
    return validations[0]


@contextmanager
def _interrupted_by_all() -> Iterator[None]:
    """Whatever asks this process to end raises KeyboardInterrupt at once, as Ctrl-C does: what is
    started meanwhile is ended on the way out.
    """
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def list_checks(*, as_json: bool) -> None:
    """Print every check there is, and what it means."""
    if as_json:
        rows = [
            {"name": one.name, "meaning": one.meaning, "reference": one.reference} for one in CHECKS
        ]
        show.print_json({"checks": rows})
        return
    table = show.named_columns("check", "what a bot that passes does", "reference")
    for one in CHECKS:
        table.add_row(one.name, one.meaning, one.reference)
    show.results().print(table)


def _chosen(ask: Ask) -> list[Check]:
    for pattern in (*ask.only, *ask.skip):
        if not any(fnmatch.fnmatchcase(one.name, pattern) for one in CHECKS):
            raise Misuse(f"there is no check {pattern!r}; see them all: arena bot check --list")
    chosen = [
        one
        for one in CHECKS
        if (not ask.only or _is_among(one, ask.only)) and not _is_among(one, ask.skip)
    ]
    if not chosen:
        raise Misuse("no check is left; give fewer --skip, or other --only")
    return chosen


def _is_among(check: Check, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(check.name, pattern) for pattern in patterns)


# -- what is printed

_WORDS = {
    Verdict.PASSED: "ok",
    Verdict.FAILED: "FAILED",
    Verdict.NOT_CLAIMED: "not claimed",
    Verdict.NOT_SUPPORTED: "not supported",
    Verdict.NOT_RUN: "NOT RUN",
}

_MEANINGS = {one.name: one.meaning for one in CHECKS}

_STAGES = {
    Stage.BUNDLE: "Its files are those of a bot that can play here.",
    Stage.ENVIRONMENT: "What it needs can be made.",
    Stage.CONFORMANCE: "The checks are done in time.",
    Stage.MATCHES: "It plays matches with itself, and every ending is normal.",
}


def _listener(console: Console) -> Listener:
    """Prints each result in a line when it is there."""

    def checked(result: Result) -> None:
        if result.detail != NO_HELLO:  # of those one line tells
            words = _WORDS[result.verdict]
            _print_result(console, words, result.check.name, result.seconds, result.detail)

    def played(result: MatchResult) -> None:
        words = _WORDS[Verdict.PASSED if result.failure is None else Verdict.FAILED]
        name = f"match {result.name}"
        _print_result(console, words, name, result.seconds, _endings(result))

    return Listener(checked=checked, played=played)


def _print_result(console: Console, words: str, name: str, seconds: float, detail: str) -> None:
    told = f"  {line_of(detail)}" if detail else ""
    show.print_line(console, f"{words:<13}  {name:<20}  {seconds:6.2f} s{told}")


def _endings(match: MatchResult) -> str:
    if not match.endings:
        return "" if match.failure is None else match.failure.cause
    texts = [f"{count} {ending.value}" for ending, count in sorted_endings(match)]
    texts += [f"{counted(match.refusals, 'action')} refused"] if match.refusals else []
    return ", ".join(texts)


def _print_validation(
    console: Console, validation: Validation, *, is_each_shown: bool = False
) -> None:
    """What there is to say once all is done; what a listener has printed is not said again."""
    report = validation.conformance
    if report is not None and (left := [one for one in report.results if one.detail == NO_HELLO]):
        words = _WORDS[Verdict.NOT_RUN]
        show.print_line(console, f"{words:<13}  {counted(len(left), 'check')}, since {NO_HELLO}")
    for text in failure_lines(validation.failures, is_each_shown=is_each_shown):
        show.print_line(console, text)
    show.print_line(console, "")
    for text in _summary(validation, report):
        show.print_line(console, text)
    if validation.is_complete or validation.problem:
        show.print_line(console, validation.verdict.value)
    else:
        show.print_line(console, "not passed" if validation.failures else "passed")


def _summary(validation: Validation, report: Report | None) -> Iterator[str]:
    bot = validation.bot
    name = "" if bot is None else f"{line_of(bot.name)} {line_of(bot.version)}: "
    if report is not None:
        counts = ", ".join(
            f"{report.count(verdict)} {verdict.value}"
            for verdict in Verdict
            if report.count(verdict)
        )
        many = counted(len(report.results), "check")
        yield f"{name}{many} in {report.seconds:.1f} s: {counts} (seed {line_of(report.seed)})"
    if validation.matches:
        many = counted(len(validation.matches), "match")
        failed = sum(one.failure is not None for one in validation.matches)
        result = f"{failed} not as they should be" if failed else "all as they should be"
        yield f"{name}{many} with itself: {result}"


def failure_lines(failures: Sequence[Failure], *, is_each_shown: bool = False) -> Iterator[str]:
    """Failures for a person, a line each: the first few in full, and how to see the rest so, or
    all.
    """
    shown = len(failures) if is_each_shown else MOST_SHOWN
    for failure in failures[:shown]:
        yield from _failure(failure)
    for failure in failures[shown:]:
        yield ""
        names = ", ".join([failure.name, *failure.also])
        yield f"FAILED {names}: {line_of(failure.cause)}"
    if not is_each_shown and (len(failures) > shown or any(one.also for one in failures)):
        yield ""
        yield "--all shows each failure in full"


def _failure(failure: Failure) -> Iterator[str]:
    yield ""
    yield f"FAILED {failure.name}: {_MEANINGS.get(failure.name) or _STAGES[failure.stage]}"
    if failure.reference:
        yield f"  see       {line_of(failure.reference)}"
    yield f"  it did    {line_of(failure.cause)}"
    if failure.expected:
        yield f"  expected  {line_of(failure.expected)}"
    if how := _how_it_ended(failure):
        yield f"  ended     {how}"
    if time := _time(failure):
        yield f"  took      {time}"
    if failure.exchange:
        yield "  the end of the exchange:"
        yield from (f"    {line_of(text)}" for text in failure.exchange)
    elif failure.stage is Stage.CONFORMANCE:
        yield "  nothing was said"
    if log := log_lines(failure.log):
        yield "  the end of its log:"
        yield from (f"    | {text}" for text in log[-LOG_LINES:])
    elif failure.stage in (Stage.CONFORMANCE, Stage.MATCHES):
        yield "  it printed nothing"
    is_part = failure.name != failure.stage.value
    yield f"  {'run this alone' if is_part else 'run it again'}: {line_of(failure.command)}"
    if failure.by_hand:
        yield f"  how it is run: {line_of(failure.by_hand)}"
    if failure.also:
        many = counted(len(failure.also), "other check")
        yield f"  likewise in {many}: {', '.join(failure.also)}"


def _how_it_ended(failure: Failure) -> str:
    code = failure.exit_code
    if code is None:
        return ""
    return f"its process, by signal {-code}" if code < 0 else f"its process, with exit code {code}"


def _time(failure: Failure) -> str:
    if failure.elapsed_seconds is None:
        return ""
    limit = "" if failure.limit_seconds is None else f", and may take {failure.limit_seconds:.1f} s"
    return f"{failure.elapsed_seconds:.1f} s{limit}"
