"""What a run of checks came to, as values and as JSON. Pure; how it is printed is the command's."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from arena.conformance.script import Check


class Verdict(Enum):
    """What became of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CLAIMED = "not claimed"
    """The bot's manifest does not claim what it is about."""
    NOT_SUPPORTED = "not supported"
    """The bot does without what it is about, and may."""
    NOT_RUN = "not run"
    """Time ran out before it, or no process of the bot said hello."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Why a check failed, for the bot's author."""

    what: str
    expected: str
    reference: str
    exchange: tuple[str, ...]
    """The last messages both ways, a line each."""
    log: str
    """The last lines the bot wrote."""
    by_hand: str
    alike: str
    """The same for all that the bot did alike."""
    decision: int
    """The number within its game of the decision that was asked last: how little it takes to see
    the fault.
    """
    exit_code: int | None = None
    """How its process ended, as in :class:`~arena.ladder.processes.launcher.BotProcess`; None where
    it was running.
    """
    elapsed_seconds: float | None = None
    limit_seconds: float | None = None
    """How long the bot was last waited for, and how long it might have been; None where it was not.
    """


@dataclass(frozen=True, slots=True)
class Result:
    """A check and what became of it; ``detail`` is one line, empty where it passed."""

    check: Check
    verdict: Verdict
    seconds: float = 0.0
    detail: str = ""
    finding: Finding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results, in the order of the checks."""

    bot: str
    version: str
    seed: str
    seconds: float
    results: Sequence[Result]

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and nothing was left."""
        return not any(self.count(verdict) for verdict in (Verdict.FAILED, Verdict.NOT_RUN))

    def count(self, verdict: Verdict) -> int:
        """How many checks came to that."""
        return sum(result.verdict is verdict for result in self.results)

    def json(self) -> dict[str, object]:
        """The report as one object."""
        return {
            "bot": {"name": self.bot, "version": self.version},
            "ok": self.ok,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "counts": {verdict.value: self.count(verdict) for verdict in Verdict},
            "checks": [_json(result) for result in self.results],
        }


def _json(result: Result) -> dict[str, object]:
    check, finding = result.check, result.finding
    row: dict[str, object] = {
        "name": check.name,
        "result": result.verdict.value,
        "seconds": round(result.seconds, 3),
        "detail": result.detail,
    }
    if finding is not None:
        row |= {
            "meaning": check.meaning,
            "reference": finding.reference,
            "expected": finding.expected,
            "exchange": list(finding.exchange),
            "log": finding.log,
            "by_hand": finding.by_hand,
            "group": finding.alike,
        }
    return row
