"""Runs checks with one bot: which process plays which, what a failure means for those after it, and
when time is up.

The plainest check is run first, alone: where no hello comes of it, nothing else can be told of the
bot. Then most checks share a process, one match after another, since a start costs a third of a
second and a bot should bear it anyway. One that fails there is played again in a fresh process and
judged by that; what only failed after others is told by the check that ends the shared process.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import trio

from arena.conformance.checks import CHECKS
from arena.conformance.checks.sessions import LAST
from arena.conformance.report import Finding, Report, Result, Verdict
from arena.conformance.script import Ask, Check, Numbers, Process, Script
from arena.conformance.talk import SLACK_SECONDS, Bench, Talk, open_bench, open_talk
from arena.conformance.unmet import NotSupported, Unmet
from arena.ladder.bots.entrants import Entrant
from arena.ladder.processes.sandbox import Sandbox

LAST_ENTRIES = 10
"""Batches of an exchange that are shown."""

NO_HELLO = "no process of the bot says hello"


async def check_bot(
    entrant: Entrant,
    checks: Sequence[Check] = CHECKS,
    *,
    ask: Ask,
    limit_seconds: float,
    python: str,
    running: Path,
    logs: Path,
    done: Callable[[Result], None],
    sandbox: Sandbox | None = None,
) -> Report:
    """Run ``checks`` with a bot; ``done`` is told of each result when it is there.

    What has not begun after ``limit_seconds`` is not run, and what is under way then is given up.
    Nothing else is run where the first process does not say hello.
    Bots are started with ``python``, their output goes to ``logs``, notes of live processes to
    ``running``; with a ``sandbox`` each is in one.
    """
    began = trio.current_time()
    async with open_bench(
        entrant, python=python, running=running, logs=logs, sandbox=sandbox
    ) as bench:
        run = _Run(bench, ask=ask, deadline=began + limit_seconds, done=done)
        begun = await run.first(checks)
        left = [check for check in checks if check is not begun]
        if run.says_no_hello:
            run.leave(left)
            left = []
        claimed = [check for check in left if run.is_claimed(check)]
        apart = [check for check in claimed if check.process is not Process.SHARED]
        async with trio.open_nursery() as nursery:
            for check in apart:
                if check.waits:
                    nursery.start_soon(run.apart, [check])
            nursery.start_soon(run.apart, [check for check in apart if not check.waits])
            shared = [check for check in claimed if check.process is Process.SHARED]
            nursery.start_soon(run.together, shared)
    return Report(
        bot=entrant.name,
        version=entrant.version,
        seed=ask.seed,
        seconds=trio.current_time() - began,
        results=[run.results[check.name] for check in checks],
    )


class _Run:
    """The results so far, and how to come by more."""

    def __init__(
        self, bench: Bench, *, ask: Ask, deadline: float, done: Callable[[Result], None]
    ) -> None:
        self.results: dict[str, Result] = {}
        self._bench = bench
        self._ask = ask
        self._deadline = deadline
        self._done = done
        self.says_no_hello = False

    async def first(self, checks: Sequence[Check]) -> Check | None:
        """Run the plainest check that begins with a hello, alone; None where there is none."""
        for check in checks:
            is_plain = check.process is Process.OWN and not check.waits
            if is_plain and not check.lacks(self._bench.entrant):
                async with open_talk(self._bench) as talk:
                    result = await self._judged(check, talk, Numbers(), is_fresh=True)
                    self.says_no_hello = result.verdict is Verdict.FAILED and talk.hello is None
                self._add(result)
                return check
        return None

    def leave(self, checks: Sequence[Check]) -> None:
        """Run none of them, since the bot says no hello."""
        for check in checks:
            self._add(Result(check, Verdict.NOT_RUN, detail=NO_HELLO))

    def is_claimed(self, check: Check) -> bool:
        """Whether the bot claims what a check is about; if not, that is its result."""
        lacks = check.lacks(self._bench.entrant)
        if lacks:
            detail = f"its bot.toml does not claim {lacks}"
            self._add(Result(check, Verdict.NOT_CLAIMED, detail=detail))
        return not lacks

    async def apart(self, checks: Sequence[Check]) -> None:
        """One after the other, each in a process of its own."""
        for check in checks:
            self._add(await self._in_its_own(check))

    async def together(self, checks: Sequence[Check]) -> None:
        """One after the other in one process, as long as it bears that."""
        talk: Talk | None = None
        numbers = Numbers()
        only_after_others: Result | None = None
        async with trio.open_nursery() as nursery:
            for check in checks:
                if only_after_others is not None:
                    is_last = check is LAST
                    result = (
                        _of_last(only_after_others) if is_last else await self._in_its_own(check)
                    )
                    self._add(result)
                    continue
                is_fresh = talk is None
                if talk is None:
                    talk, numbers = Talk(self._bench, nursery), Numbers()
                result = await self._judged(check, talk, numbers, is_fresh=is_fresh)
                if result.verdict is Verdict.FAILED:
                    await talk.end()
                    talk = None
                    if not is_fresh and check is not LAST:
                        again = await self._in_its_own(check)
                        if again.verdict is not Verdict.PASSED:
                            result = again
                        elif LAST in checks:
                            only_after_others, result = result, again
                        else:  # nobody else would tell
                            result = _only_after_others(result)
                self._add(result)
            if talk is not None:
                await talk.end()

    async def _in_its_own(self, check: Check) -> Result:
        """A check in a fresh process."""
        async with open_talk(self._bench) as talk:
            return await self._judged(check, talk, Numbers(), is_fresh=True)

    async def _judged(
        self, check: Check, talk: Talk, numbers: Numbers, *, is_fresh: bool
    ) -> Result:
        """What becomes of a check in that talk."""
        began = trio.current_time()
        if began >= self._deadline:
            return Result(check, Verdict.NOT_RUN, detail="time ran out before it")
        script = Script(check, bench=self._bench, talk=talk, numbers=numbers, ask=self._ask)
        verdict, detail, finding = Verdict.PASSED, "", None
        try:
            with trio.move_on_at(self._deadline + SLACK_SECONDS) as limit:
                if is_fresh and check.process is not Process.SEVERAL:
                    await talk.arrive()
                if is_fresh and check.process is Process.SHARED:
                    talk.say(talk.welcome())
                await check.run(script)
            if limit.cancelled_caught:
                verdict, detail = Verdict.NOT_RUN, "time ran out in the middle of it"
        except NotSupported as text:
            verdict, detail = Verdict.NOT_SUPPORTED, str(text)
        except Unmet as unmet:
            verdict, detail, finding = Verdict.FAILED, unmet.what, _finding(unmet, script)
        return Result(check, verdict, trio.current_time() - began, detail, finding)

    def _add(self, result: Result) -> None:
        self.results[result.check.name] = result
        self._done(result)


def _of_last(failed: Result) -> Result:
    """The result of the check that ends the shared process, where that did not come so far."""
    return replace(_only_after_others(failed), check=LAST)


def _only_after_others(failed: Result) -> Result:
    """A failure that a fresh process does not show: another mistake than one that is seen alone."""
    assert failed.finding is not None
    how = "fails after other checks in one process and passes in a fresh one"
    return replace(
        failed,
        detail=f"{failed.check.name} {how}: {failed.detail}",
        finding=replace(failed.finding, alike=f"{how}: {failed.finding.alike}"),
    )


def _finding(unmet: Unmet, script: Script) -> Finding:
    talk = script.talk
    return Finding(
        what=unmet.what,
        expected=unmet.expected,
        reference=unmet.reference or script.check.reference,
        exchange=tuple(talk.transcript.lines(last=LAST_ENTRIES)),
        log=talk.log_tail,
        by_hand=talk.by_hand,
        alike=unmet.alike,
        decision=talk.transcript.last_decision,
        exit_code=talk.returncode,
        elapsed_seconds=talk.elapsed_seconds,
        limit_seconds=talk.limit_seconds,
    )
