"""``arena bot check``: from what was asked to a run of the kit, and how its results are printed."""

import fnmatch
import functools
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import trio
from rich.console import Console

from arena.cli import show
from arena.cli.confining import confining, for_builds
from arena.cli.errors import Misuse
from arena.cli.places import bot_folder, environments, running_folder
from arena.cli.text import printable
from arena.conformance.checks import CHECKS
from arena.conformance.groups import grouped
from arena.conformance.kit import NO_HELLO, check_bot
from arena.conformance.report import Report, Result, Verdict
from arena.conformance.script import Ask as KitAsk
from arena.conformance.script import Check
from arena.ladder.bots.entrants import load_bot
from arena.wording import counted

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
    is_confined: bool = False
    wheels: Path | None = None


def check(ask: Ask, *, as_json: bool) -> bool:
    """Run the checks, print what they came to; whether the bot passed."""
    checks = _chosen(ask)
    made = environments(ask.wheels, confine=for_builds(ask.is_confined))
    entrant = made.prepared(load_bot(bot_folder(ask.bot)))
    seed = os.urandom(SEED_BYTES).hex() if ask.seed is None else ask.seed
    console = show.results()

    def done(result: Result) -> None:
        if not as_json and result.detail != NO_HELLO:  # of those one line tells
            _print_line(console, result)

    with _logs(ask.logs) as logs, confining(ask.is_confined) as sandbox:
        report = trio.run(
            _unless_told,
            functools.partial(
                check_bot,
                entrant,
                checks,
                ask=KitAsk(seed=seed, fuzz_seconds=ask.fuzz_seconds),
                limit_seconds=ask.limit_seconds,
                python=sys.executable,
                running=running_folder(otherwise=logs),
                logs=logs,
                done=done,
                sandbox=sandbox,
            ),
        )
    if as_json:
        show.print_json(report.json())
    else:
        _print_report(console, report, ask=ask)
    return report.ok


async def _unless_told(run: Callable[[], Awaitable[Report]]) -> Report:
    """What ``run`` comes to. SIGTERM, and SIGHUP of a terminal that is closed, end it as Ctrl-C
    does: no bot is left.
    """
    reports: list[Report] = []
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
        async with trio.open_nursery() as nursery:

            async def wait() -> None:
                async for _ in signals:
                    nursery.cancel_scope.cancel()

            nursery.start_soon(wait)
            reports.append(await run())
            nursery.cancel_scope.cancel()
    if not reports:
        raise KeyboardInterrupt
    return reports[0]


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


_WORDS = {
    Verdict.PASSED: "ok",
    Verdict.FAILED: "FAILED",
    Verdict.NOT_CLAIMED: "not claimed",
    Verdict.NOT_SUPPORTED: "not supported",
    Verdict.NOT_RUN: "NOT RUN",
}


def _print_line(console: Console, result: Result) -> None:
    detail = f"  {printable(result.detail)}" if result.detail else ""
    name = result.check.name
    text = f"{_WORDS[result.verdict]:<13}  {name:<20}  {result.seconds:6.2f} s{detail}"
    show.print_line(console, text)


def _print_report(console: Console, report: Report, *, ask: Ask) -> None:
    left = [result for result in report.results if result.detail == NO_HELLO]
    if left:
        words = _WORDS[Verdict.NOT_RUN]
        show.print_line(console, f"{words:<13}  {counted(len(left), 'check')}, since {NO_HELLO}")
    for text in _failures(report, ask=ask):
        show.print_line(console, text)
    counts = ", ".join(
        f"{report.count(verdict)} {verdict.value}" for verdict in Verdict if report.count(verdict)
    )
    show.print_line(console, "")
    many = counted(len(report.results), "check")
    show.print_line(
        console,
        f"{report.bot} {report.version}: {many} in {report.seconds:.1f} s: {counts} "
        f"(seed {report.seed})",
    )
    show.print_line(console, "passed" if report.ok else "not passed")


def _failures(report: Report, *, ask: Ask) -> Iterator[str]:
    if ask.show_all:
        for result in report.results:
            if result.finding is not None:
                yield from _failure(result, report, bot=ask.bot)
        return
    groups = grouped(report.results)
    for group in groups[:MOST_SHOWN]:
        yield from _failure(group.best, report, bot=ask.bot)
        if group.others:
            many = counted(len(group.others), "other check")
            yield f"  likewise in {many}: {_names(group.others)}"
    for group in groups[MOST_SHOWN:]:
        yield ""
        yield f"FAILED {_names([group.best, *group.others])}: {printable(group.best.detail)}"
    if len(groups) > MOST_SHOWN or any(group.others for group in groups):
        yield ""
        yield "--all shows each failure in full"


def _names(results: Sequence[Result]) -> str:
    return ", ".join(result.check.name for result in results)


def _failure(result: Result, report: Report, *, bot: str) -> Iterator[str]:
    finding, check = result.finding, result.check
    assert finding is not None
    yield ""
    yield f"FAILED {check.name}: {check.meaning}"
    yield f"  see       {finding.reference}"
    yield f"  it did    {printable(result.detail)}"
    yield f"  expected  {printable(finding.expected)}"
    if finding.exchange:
        yield "  the end of the exchange:"
        yield from (f"    {printable(text)}" for text in finding.exchange)
    else:
        yield "  nothing was said"
    if finding.log.strip():
        yield "  the end of its log:"
        yield from (f"    | {text}" for text in finding.log.rstrip().splitlines()[-LOG_LINES:])
    else:
        yield "  it printed nothing"
    seed = f" --seed {shlex.quote(report.seed)}"
    yield f"  run this alone: arena bot check {shlex.quote(bot)} --only {check.name}{seed}"
    if finding.by_hand:
        yield f"  how it is run: {finding.by_hand}"


@contextmanager
def _logs(folder: Path | None) -> Iterator[Path]:
    """Where bots' output goes; what is worth reading of it is in the findings."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    temporary = Path(tempfile.mkdtemp(prefix="hokm-check-"))
    try:
        yield temporary
    finally:
        rmtree(temporary, ignore_errors=True)
