"""Takes a bot through the stages of a validation, one after the other, until one refuses.

It starts what has to be started and says what came of it; how that is shown is the command's
business, and what a ladder makes of it the ladder's. What fails of the arena itself, a full disk
say, is no fault of the bot: then nothing is decided.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import trio

from arena.conformance.checks import CHECKS
from arena.conformance.checks.sessions import LAST
from arena.conformance.groups import Group, grouped
from arena.conformance.kit import check_bot
from arena.conformance.report import Report, Result
from arena.conformance.report import Verdict as CheckVerdict
from arena.conformance.script import Ask as KitAsk
from arena.conformance.script import Check, Process
from arena.groups import leaves
from arena.ladder.bots import archive
from arena.ladder.bots.bundle import BotError
from arena.ladder.bots.entrants import MANIFEST, Entrant, load_bot
from arena.ladder.bots.environments import (
    BUILD_SECONDS,
    INSTALL_SECONDS,
    Environments,
    NotPreparedError,
)
from arena.ladder.matches.boards import MatchPlan, joined_names
from arena.ladder.matches.room import Trouble
from arena.ladder.matches.runner import HELLO_SECONDS, Runner, open_runner
from arena.ladder.matches.verdict import Voided, verdict
from arena.ladder.processes.launcher import LaunchError
from arena.ladder.processes.sandbox import MOST_MEMORY_MIB, MOST_PROCESSES, Sandbox, SandboxError
from arena.validation.commands import check_command
from arena.validation.matches import SelfMatch, TroubleAt, judged, out_of_time, self_matches
from arena.validation.values import (
    Failure,
    MatchResult,
    Stage,
    StageResult,
    State,
    Validation,
)
from arena.wording import counted
from hokm.outcome import Ending
from hokm.records import GameRecord
from hokm.session import PROTOCOL, ClockRules

FUZZ_SECONDS = 10.0
"""How long games are made up; some hundred matches of a bot that answers at once."""

LIMIT_SECONDS = 240.0
"""For checks and matches together. A bot that answers at once takes half a minute of a quiet
machine; where it shares two cores with rated play, two or three times as long.
"""

MOST_LATE = 3
"""Checks that are run once more if they failed for want of time alone."""

MORE_TIME = 4.0
"""How much more of it is proposed to a bot that it was too short for."""

LONGEST_NAMES_BYTES = 220
"""Of the bots of a match on a ladder; arena.ladder.ladder has it too, and takes long to import."""

_STRANGER = "./mybot"
"""What a bot is called in commands that has no name yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked.

    Args:
        seed: of the kit's chances and the matches' deals; fit for a shell.
        called: what the author's commands call the bot; None for what can be told by the place.
        tells_each: whether each check that failed is told, also those that are alike.
        checks: those of the kit that are run.
        plays_matches: whether the last stage is wanted.
        fuzz_seconds: how long games are made up.
        limit_seconds: for checks and matches together.
        hello_seconds: from a process's start to its hello, in matches.
        clock: of the matches.
    """

    seed: str
    called: str | None = None
    tells_each: bool = False
    checks: Sequence[Check] = CHECKS
    plays_matches: bool = True
    fuzz_seconds: float = FUZZ_SECONDS
    limit_seconds: float = LIMIT_SECONDS
    hello_seconds: float = HELLO_SECONDS
    clock: ClockRules = field(default_factory=ClockRules)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.plays_matches and len(self.checks) == len(CHECKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a validation works with.

    Args:
        work: an empty folder of its own, which its owner removes; an archive is unpacked there.
        running: where live processes are noted.
        logs: where bots' output goes.
        environments: what makes what bots need.
        sandbox: what bots are confined in, if they are.
        concurrency: rooms at once.
        python: the interpreter that runs bots.
        blocking: held while environments are made, when trio hears of no signal.
    """

    work: Path
    running: Path
    logs: Path
    environments: Environments
    sandbox: Sandbox | None = None
    concurrency: int = 1
    python: str = sys.executable
    blocking: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who is told of what there is, while there is more to come."""

    checked: Callable[[Result], None] = lambda result: None
    played: Callable[[MatchResult], None] = lambda result: None


async def validate(
    place: Path, *, ask: Ask, means: Means, listener: Listener | None = None
) -> Validation:
    """Validate the bot in a folder or an archive. Nothing that was started is left afterwards.

    Raises what nobody foresaw. A disk that is full, a machine that starts no process, a sandbox
    that does not work make the verdict undecided.
    """
    run = _Run(place, ask=ask, means=means, listener=listener or Listener())
    return await run.validation()


def undecided(problem: str, *, ask: Ask) -> Validation:
    """The validation of a bot that could not even be begun with."""
    stages = [StageResult(stage, State.NOT_REACHED) for stage in Stage]
    return Validation(
        bot=None,
        seed=ask.seed,
        seconds=0.0,
        stages=stages,
        problem=problem,
        is_complete=ask.is_whole,
    )


def is_archive(place: Path) -> bool:
    """Whether a place is to be unpacked first."""
    return place.suffix.lower() == archive.SUFFIX and not place.is_dir()


class _Refused(Exception):
    """A stage that refuses, with what it found."""

    def __init__(self, *failures: Failure) -> None:
        super().__init__()
        self.failures = failures


class _Undecided(Exception):
    """The arena is at fault, or its machine; the text says how."""


class _Run:
    """One validation, as far as it came."""

    def __init__(self, place: Path, *, ask: Ask, means: Means, listener: Listener) -> None:
        self._place = place
        self._ask = ask
        self._means = means
        self._listener = listener
        self._began = trio.current_time()
        self._deadline = 0.0
        self._entrant: Entrant | None = None
        self._report: Report | None = None
        self._matches: list[MatchResult] = []

    async def validation(self) -> Validation:
        """Take the stages in turn."""
        steps = {
            Stage.BUNDLE: self._look,
            Stage.ENVIRONMENT: self._prepare,
            Stage.CONFORMANCE: self._check,
            Stage.MATCHES: self._play,
        }
        results: list[StageResult] = []
        failures: tuple[Failure, ...] = ()
        problem = ""
        for stage, step in steps.items():
            if failures or problem:
                results.append(StageResult(stage, State.NOT_REACHED))
                continue
            if stage is Stage.MATCHES and not self._ask.plays_matches:
                results.append(StageResult(stage, State.LEFT_OUT))
                continue
            began = trio.current_time()
            state = State.FAILED
            try:
                await step()
                state = State.PASSED
            except _Refused as refused:
                failures = tuple(map(self._as_its_author_knows_it, refused.failures))
            except _Undecided as undecided:
                problem = self._at_home(str(undecided))
            except Exception as error:
                if (told := self._foreseen(error)) is None:
                    raise
                problem = told
            results.append(StageResult(stage, state, trio.current_time() - began))
        return Validation(
            bot=self._entrant,
            seed=self._ask.seed,
            seconds=trio.current_time() - self._began,
            stages=results,
            failures=failures,
            problem=problem,
            is_complete=self._ask.is_whole,
            is_confined=self._means.sandbox is not None,
            conformance=self._report,
            matches=tuple(self._matches),
        )

    # -- the stages

    async def _look(self) -> None:
        """Unpack it if it is packed, read its manifest, and see what that claims."""
        began = trio.current_time()
        try:
            if is_archive(self._place):
                self._entrant = archive.unpack(self._place, self._means.work / "bot")
            else:
                self._entrant = load_bot(self._place)
                archive.packable_sizes(self._entrant.folder)
            _refuse_unfit(self._entrant)
        except BotError as error:
            raise _Refused(self._failure(Stage.BUNDLE, str(error), since=began)) from error

    async def _prepare(self) -> None:
        """Make what it needs. Nothing else goes on meanwhile, so it may as well block: what is
        started by a thread of its own would be left by an interrupt.
        """
        await trio.lowlevel.checkpoint()
        began = trio.current_time()
        try:
            with self._means.blocking():
                self._entrant = self._means.environments.prepared(self._bot)
        except NotPreparedError as error:
            if error.is_ours:
                raise _Undecided(str(error)) from error
            failure = self._failure(Stage.ENVIRONMENT, str(error), since=began)
            limit = max(INSTALL_SECONDS, BUILD_SECONDS)
            raise _Refused(replace(failure, log=error.output, limit_seconds=limit)) from error
        except BotError as error:
            raise _Refused(self._failure(Stage.ENVIRONMENT, str(error), since=began)) from error

    async def _check(self) -> None:
        """Have the kit play it."""
        self._deadline = trio.current_time() + self._ask.limit_seconds
        report = self._report = await self._run_kit(self._ask.checks)
        if late := _late(report):
            report = self._report = _again(report, await self._run_kit(late))
        if not report.ok:
            groups = grouped(report.results)
            if self._ask.tells_each:
                failed = [result for result in report.results if result.finding is not None]
                groups = [Group(result, ()) for result in failed]
            raise _Refused(*map(self._of_group, groups) if groups else [self._of_time(report)])

    async def _run_kit(self, checks: Sequence[Check]) -> Report:
        means = self._means
        return await check_bot(
            self._bot,
            checks,
            ask=KitAsk(seed=self._ask.seed, fuzz_seconds=self._ask.fuzz_seconds),
            limit_seconds=max(0.0, self._deadline - trio.current_time()),
            python=means.python,
            running=means.running,
            logs=means.logs,
            done=self._listener.checked,
            sandbox=means.sandbox,
        )

    async def _play(self) -> None:
        """Have it play itself."""
        means, ask = self._means, self._ask
        planned = self_matches(self._bot, seed=ask.seed, clock=ask.clock)
        found: dict[str, MatchResult] = {}
        began = trio.current_time()
        async with open_runner(
            concurrency=means.concurrency,
            python=means.python,
            running=means.running,
            logs=means.logs,
            sandbox=means.sandbox,
            hello_seconds=ask.hello_seconds,
        ) as runner:
            with trio.move_on_at(self._deadline):
                async with trio.open_nursery() as nursery:
                    for match in planned:
                        nursery.start_soon(self._play_match, runner, match, found)
        for match in planned:
            if match.name not in found:
                found[match.name] = out_of_time(
                    match,
                    seconds=trio.current_time() - began,
                    command=self._with_more_time(),
                    limit=ask.limit_seconds,
                )
                self._listener.played(found[match.name])
        self._matches = [found[match.name] for match in planned]
        host_faults = [one for one in self._matches if one.endings.get(Ending.HOST_FAULT)]
        for result in host_faults:
            because = "" if result.failure is None else f": {result.failure.cause}"
            raise _Undecided(f"the arena failed in the match {result.name}{because}")
        failures = [one.failure for one in self._matches if one.failure is not None]
        if failures:
            raise _Refused(*failures)

    async def _play_match(
        self, runner: Runner, match: SelfMatch, found: dict[str, MatchResult]
    ) -> None:
        """Play a match, again where the arena failed in it."""
        plan = match.plan
        while True:
            notes = _Notes()
            record = await runner.play(plan, watcher=notes)
            voided = verdict(record)
            if not isinstance(voided, Voided) or not voided.is_tried_again(attempt=plan.attempt):
                break
            plan = replace(plan, attempt=plan.attempt + 1)
        result = judged(
            replace(match, plan=plan),
            record,
            troubles=notes.troubles,
            seconds=trio.current_time() - notes.began,
            hello_seconds=self._ask.hello_seconds,
            called=self._called,
            is_confined=self._means.sandbox is not None,
        )
        found[match.name] = result
        self._listener.played(result)

    # -- what they find

    def _failure(self, stage: Stage, cause: str, *, since: float) -> Failure:
        is_built_so = stage is Stage.ENVIRONMENT and self._means.sandbox is not None
        return Failure(
            stage=stage,
            name=stage.value,
            cause=cause,
            command=check_command(self._called, is_confined=is_built_so),
            elapsed_seconds=trio.current_time() - since,
        )

    def _of_group(self, group: Group) -> Failure:
        check, finding = group.best.check, group.best.finding
        assert finding is not None
        return Failure(
            stage=Stage.CONFORMANCE,
            name=check.name,
            cause=group.best.detail,
            command=check_command(
                self._called,
                only=check.name,
                seed=self._ask.seed,
                is_confined=self._means.sandbox is not None,
            ),
            expected=finding.expected,
            reference=finding.reference,
            exit_code=finding.exit_code,
            elapsed_seconds=finding.elapsed_seconds,
            limit_seconds=finding.limit_seconds,
            log=finding.log,
            exchange=finding.exchange,
            by_hand=finding.by_hand,
            also=[one.check.name for one in group.others],
        )

    def _of_time(self, report: Report) -> Failure:
        left = report.count(CheckVerdict.NOT_RUN)
        limit = self._ask.limit_seconds
        return Failure(
            stage=Stage.CONFORMANCE,
            name=Stage.CONFORMANCE.value,
            cause=f"time ran out after {limit:g} s: {counted(left, 'check')} not run",
            command=self._with_more_time(),
            expected="that all are; a bot that thinks long needs another --limit",
            reference="docs/check.md: What a validation takes",
            elapsed_seconds=report.seconds,
            limit_seconds=limit,
        )

    def _with_more_time(self) -> str:
        return check_command(
            self._called,
            seed=self._ask.seed,
            limit_seconds=min(3599.0, MORE_TIME * self._ask.limit_seconds),
            is_confined=self._means.sandbox is not None,
        )

    # -- how its author knows it

    @property
    def _bot(self) -> Entrant:
        assert self._entrant is not None, "a later stage follows the bundle's"
        return self._entrant

    @property
    def _called(self) -> str:
        """What the author calls it. An archive that is named by its digest is a ladder's copy."""
        if self._ask.called is not None:
            return self._ask.called
        if is_archive(self._place) and archive.named_digest(self._place) is not None:
            return _STRANGER if self._entrant is None else f"./{self._entrant.name}"
        return str(self._place)

    def _as_its_author_knows_it(self, failure: Failure) -> Failure:
        at_home = self._at_home
        return replace(
            failure,
            cause=at_home(failure.cause),
            expected=at_home(failure.expected),
            log=at_home(failure.log),
            exchange=[at_home(line) for line in failure.exchange],
            by_hand=at_home(failure.by_hand),
        )

    def _at_home(self, text: str) -> str:
        """A text without the places where an archive was looked at: they are of no use to its
        author, and none of an author's business. A folder is where its author has it.
        """
        for place, name in self._places().items():
            text = text.replace(place, name)
        return text

    def _places(self) -> Mapping[str, str]:
        if not is_archive(self._place):
            return {}
        places = {str(self._means.work.resolve() / "bot"): self._called}
        if self._entrant is not None:
            places[str(self._entrant.home)] = self._called
            if self._entrant.environment.python is not None:
                places[str(self._entrant.environment.python)] = "python"
        places[str(self._means.work.resolve())] = self._called
        places[str(self._place)] = self._called
        places[self._means.python] = "python"
        return places

    def _foreseen(self, error: Exception) -> str | None:
        """What is said of a fault of the machine; None for one that nobody foresaw."""
        errors = list(leaves(error))
        if not all(isinstance(leaf, OSError | SandboxError | LaunchError) for leaf in errors):
            return None
        first = errors[0]
        if not isinstance(first, OSError) or first.strerror is None:
            return self._at_home(str(first))
        is_told = first.filename is not None and not is_archive(self._place)
        return f"{first.filename}: {first.strerror}" if is_told else first.strerror


class _Notes:
    """A watcher that keeps what it is told, and when."""

    def __init__(self) -> None:
        self.began = trio.current_time()
        self.troubles: list[TroubleAt] = []

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        """The record has it."""

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`."""
        self.troubles.append(TroubleAt(trouble, trio.current_time() - self.began))


def _late(report: Report) -> list[Check]:
    """The checks to be run once more: those that failed for want of time, if nothing failed in any
    other way and they are few. A machine that is busy with rated play holds up one or two, a bot
    that hangs fails many.
    """
    failed = [one for one in report.results if one.finding is not None]
    is_ours = all(_ran_out(one) for one in failed) and not report.count(CheckVerdict.NOT_RUN)
    if not is_ours or len(failed) > MOST_LATE:
        return []
    late = [one.check for one in failed]
    if LAST in late:  # which tells of what went wrong after others in the process they share
        shared = [one.check for one in report.results if one.check.process is Process.SHARED]
        late = [*(check for check in late if check not in shared), *shared]
    return late


def _ran_out(result: Result) -> bool:
    finding = result.finding
    if finding is None or finding.elapsed_seconds is None or finding.limit_seconds is None:
        return False
    return finding.elapsed_seconds >= finding.limit_seconds


def _again(report: Report, again: Report) -> Report:
    """A report with what came of checks when they were run once more."""
    anew = {one.check.name: one for one in again.results}
    results = [anew.get(one.check.name, one) for one in report.results]
    return replace(report, results=results, seconds=report.seconds + again.seconds)


def _refuse_unfit(entrant: Entrant) -> None:
    """Refuse what no match can be played with. Raises BotError."""
    where = entrant.folder / MANIFEST
    if entrant.protocol != PROTOCOL:
        problem = f"protocol: {entrant.protocol} is not spoken here"
        remedy = f"write protocol = {PROTOCOL}, and build it with an SDK of that protocol"
        raise BotError(where, problem, remedy=remedy)
    for key, asked, most in (
        ("memory_mib", entrant.limits.memory_mib, MOST_MEMORY_MIB),
        ("processes", entrant.limits.processes, MOST_PROCESSES),
    ):
        if asked is not None and asked > most:
            problem = f"limits.{key}: asks for {asked}, and nobody gets more than {most}"
            raise BotError(where, problem, remedy="ask for less, and have it do with that")
    seats = 3 if 3 in entrant.variants else 2
    long_bytes = len(joined_names((entrant.name,) * seats).encode())
    if long_bytes > LONGEST_NAMES_BYTES:
        problem = f"name: {seats} of them have {long_bytes} bytes of UTF-8 in a match's name, "
        problem += f"which has {LONGEST_NAMES_BYTES} at most"
        raise BotError(where, problem, remedy="give it a shorter one")
