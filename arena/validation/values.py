"""What a validation came to, as values. Pure; as JSON it is in :mod:`arena.validation.document`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from arena.conformance.report import Report
from arena.ladder.bots.entrants import Entrant
from hokm.outcome import Ending


class Stage(Enum):
    """The steps of a validation, in their order; none is begun after one that refuses."""

    BUNDLE = "bundle"
    """Its files: the archive, the manifest, what that claims and asks for."""
    ENVIRONMENT = "environment"
    """What it needs besides: packages, a build."""
    CONFORMANCE = "conformance"
    """The kit of :mod:`arena.conformance`."""
    MATCHES = "matches"
    """Matches of the bot with itself, of every number of players that its manifest claims."""


class Verdict(Enum):
    """What becomes of a bot."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNDECIDED = "undecided"
    """The arena failed, or the machine it is on: nothing is known of the bot, so try again."""


class State(Enum):
    """What became of a stage."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not reached"
    """One before it failed."""
    LEFT_OUT = "left out"
    """Nobody asked for it."""


@dataclass(frozen=True, slots=True)
class StageResult:
    """A stage, what became of it, and how long it took."""

    stage: Stage
    state: State
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One thing that keeps a bot out, for its author.

    Args:
        stage: where.
        name: of the check or the match, or of the stage where it has no parts.
        cause: one line.
        expected, reference: what would have been right, and where that is written; may be empty.
        command: the shell line that repeats it on the author's machine.
        exit_code: of the bot's process, minus the number of the signal that ended it; None where
            it was running, or there was none.
        elapsed_seconds, limit_seconds: how long it took, and how long it might have; None where
            nothing was waited for.
        log: the end of what the bot, an installer or a build wrote.
        exchange: the last messages both ways, a line each; of a match the hand as a text.
        by_hand: the shell line that runs the bot as it was run.
        also: the other checks that failed alike.
    """

    stage: Stage
    name: str
    cause: str
    command: str
    expected: str = ""
    reference: str = ""
    exit_code: int | None = None
    elapsed_seconds: float | None = None
    limit_seconds: float | None = None
    log: str = ""
    exchange: Sequence[str] = ()
    by_hand: str = ""
    also: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """A match of a bot with itself. ``endings`` counts its games, ``refusals`` actions of its that
    were refused; ``failure`` is None where all was as it should be.
    """

    name: str
    players: int
    endings: Mapping[Ending, int]
    refusals: int
    seconds: float
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """All of it.

    Args:
        bot: None where the bundle says nothing that can be believed.
        problem: what failed of the arena or its machine where that is undecided, else empty.
        is_complete: whether every check was asked for, and the matches.
        is_confined: whether the bot was in the sandbox.
        conformance: what the kit came to; None where it was not reached.
    """

    bot: Entrant | None
    seed: str
    seconds: float
    stages: Sequence[StageResult]
    failures: Sequence[Failure] = ()
    problem: str = ""
    is_complete: bool = True
    is_confined: bool = False
    conformance: Report | None = None
    matches: Sequence[MatchResult] = ()

    @property
    def verdict(self) -> Verdict:
        """Accepted only if nothing failed."""
        if self.problem:
            return Verdict.UNDECIDED
        return Verdict.REFUSED if self.failures else Verdict.ACCEPTED

    @property
    def cause(self) -> str:
        """Why it is not accepted, in one line; empty where it is."""
        if self.problem:
            return self.problem
        if not self.failures:
            return ""
        first = self.failures[0]
        return first.cause if first.name == first.stage.value else f"{first.name}: {first.cause}"

    @property
    def stage(self) -> Stage | None:
        """Where it came no further; None where it is accepted."""
        failed = (one.stage for one in self.stages if one.state is State.FAILED)
        return next(failed, None)
