"""Validates what was sent in: each submission as `arena bot check` does at home, in a process.

Owners take turns, so that nobody's submissions keep those of others waiting. What is accepted is
entered, what is refused gets its report; where the arena itself has failed it is tried again, some
time later, and given up after some times. What was under way as the process was killed waits again.

Which is next, and what a check came to, are functions of values; the rest waits.
"""

import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Final, Protocol, TypeVar

import trio

from arena.ladder.bots import archive as archives
from arena.ladder.bots.bundle import BotError
from arena.ladder.bots.shelf import ShelfError
from arena.ladder.errors import LadderError
from arena.ladder.facts import Bot, Submission, SubmissionState
from arena.ladder.ladder import Added, Entry, Ladder
from arena.ladder.ratings.evidence import owner_folded
from arena.service import child
from arena.service.intake import Intake
from arena.service.quotas import CHECK_MINUTES
from arena.service.standing import POLL_SECONDS, Gate, delays
from arena.wording import stamp

TRIES: Final = 3
"""How often a submission is tried at which the arena itself fails: what fails thrice will again."""

RETRY_SECONDS: Final = 60.0
"""Until the second try; until the third it is twice as long."""

BUILD_SECONDS: Final = 900.0
"""What packages and builds may take besides; a check ends by itself before that."""

REPORT_BYTES: Final = 256 * 2**10
"""Four times what a check prints at most."""

_STDERR_BYTES: Final = 4096
_SEEN: Final = frozenset(
    {
        *("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"),
        *("LD_LIBRARY_PATH", "VIRTUAL_ENV"),
        *("CURL_CA_BUNDLE", "NETRC", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"),
        *("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
        *("HOKM_ARENA_LOG_FILE", "HOKM_ARENA_LOG_FORMAT", "HOKM_ARENA_LOG_LEVEL"),
        "HOKM_ARENA_WHEELS",
    }
)
_SEEN_BEGINNINGS: Final = ("GRPC_", "LC_", "MALLOC_", "PIP_", "PYTHON", "UV_", "XDG_")
"""What programs are found and run by, in which language, and what packages are installed by."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


class InThread(Protocol):
    """Does what takes a while in another thread, as :func:`trio.to_thread.run_sync`."""

    async def __call__(self, act: Callable[[], T], /, *, abandon_on_cancel: bool = ...) -> T:
        """Do it; what may be abandoned is not waited for at an end."""
        ...


class Judged(Enum):
    """What a check came to; the words are those of its report."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check came to, and its report as JSON."""

    judged: Judged
    report: str


Check = Callable[[Path], Awaitable[Checked]]
"""Checks the bot in an archive. Raises OSError where it cannot be begun."""


# -- functions of values

_EXIT_STATUS: Final = {0: Judged.ACCEPTED, 1: Judged.REFUSED, 3: Judged.UNDECIDED}


def next_of(
    waiting: Sequence[Submission],
    *,
    served: Mapping[int, int],
    not_before: Mapping[int, float],
    now: float,
) -> Submission | None:
    """Which submission is validated next: of the owner who was served longest ago, his first.

    `served` says of an owner as the how manieth he was served last, `not_before` of a submission
    when it may be tried again.
    """
    due = [one for one in waiting if not_before.get(one.number, now) <= now]
    return min(due, key=lambda one: (served.get(one.owner, 0), one.number), default=None)


def checked(ended: child.Ended) -> Checked:
    """What a check came to by how its process ended and what it printed."""
    judged = _EXIT_STATUS.get(ended.returncode)
    try:
        report = json.loads(ended.out)
        said = Judged(report["verdict"])
    except (ValueError, KeyError, TypeError, RecursionError):
        report = said = None
    if judged is not None and said is judged and not ended.is_cut and not ended.is_overdue:
        return Checked(judged, json.dumps(report, ensure_ascii=False, separators=(",", ":")))
    if ended.is_overdue:
        cause = "the check took longer than it may"
    elif ended.is_cut:
        cause = "the check printed more than it may"
    else:
        cause = f"the check ended with status {ended.returncode} and no report that fits"
    return Checked(Judged.UNDECIDED, _report(cause, judged=Judged.UNDECIDED))


def command_of(
    archive: Path,
    *,
    ladder: Ladder,
    is_confined: bool,
    wheels: Path | None = None,
    limit_seconds: float = 60.0 * CHECK_MINUTES,
) -> list[str]:
    """The command that checks an archive by the clock of a ladder: what it says is by construction
    what the same command says at home.
    """
    clock = ladder.settings.clock
    words = [sys.executable, "-m", "arena", "bot", "check", str(archive.absolute()), "--json"]
    words += ["--move-time", f"{clock.move_seconds:g}", "--bank", f"{clock.bank_seconds:g}"]
    words += ["--limit", f"{limit_seconds:g}"]
    words += ["--sandbox"] if is_confined else []
    return [*words, "--wheels", str(wheels.absolute())] if wheels is not None else words


def environment_of(ours: Mapping[str, str]) -> dict[str, str]:
    """What a check sees of our environment: what it needs, and nothing else, since nobody knows
    what an operator keeps there. An index of packages or a proxy may want credentials, which are
    in it then: those that send packages to an index are not.
    """
    return {
        name: value
        for name, value in ours.items()
        if (name.upper() in _SEEN or name.startswith(_SEEN_BEGINNINGS))
        and "TOKEN" not in name.upper()
        and not name.startswith("UV_PUBLISH_")
    }


def _report(cause: str, *, judged: Judged, report: str | None = None) -> str:
    """A report that says what came after a check, or in place of one."""
    document = {"schema": 1} if report is None else json.loads(report)
    document |= {"verdict": judged.value, "ok": False, "stage": "ladder", "cause": cause}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _cause_in(report: str) -> str:
    cause: object = json.loads(report).get("cause")
    return cause if isinstance(cause, str) else "nobody knows why"


# -- what waits


def checking_by_process(
    command: Callable[[Path], Sequence[str]], *, limit_seconds: float = 60.0 * CHECK_MINUTES
) -> Check:
    """Check by a process of its own, in which no secret of ours is; it is ended if it does not end
    by itself when its checks and matches have had so long.
    """

    async def check(archive: Path) -> Checked:
        ended = await child.run(
            command(archive),
            seconds=limit_seconds + BUILD_SECONDS,
            out_bytes=REPORT_BYTES,
            err_bytes=_STDERR_BYTES,
            environment=environment_of(os.environ),
        )
        found = checked(ended)
        if found.judged is Judged.UNDECIDED:
            last_words = ended.err.decode(errors="replace").strip()
            _log.warning("a check failed", extra={"archive": archive.name, "stderr": last_words})
        return found

    return check


class Validator:
    """Validates what waits, `at_once` so many; a worker beside a ladder that stands."""

    def __init__(
        self,
        ladder: Ladder,
        *,
        check: Check,
        at_once: int = 1,
        say: Callable[[str], None] = lambda _: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        in_thread: InThread | None = None,
    ) -> None:
        self._ladder = ladder
        self._accounts = ladder.store.accounts
        self._intake = Intake(ladder.folder, ladder.bundles)
        self._check = check
        self._at_once = at_once
        self._say = say
        self._now = now
        self._in_thread = in_thread or _in_thread
        self._scope = trio.CancelScope()
        self._served: dict[int, int] = {}
        self._tries: dict[int, int] = {}
        self._not_before: dict[int, float] = {}
        self._under_way: set[int] = set()

    @property
    def waiting(self) -> int:
        """How many submissions wait. Raises LadderError where the database cannot be read."""
        return len(self._accounts.in_state(SubmissionState.WAITING))

    @property
    def working(self) -> int:
        """How many are being validated."""
        return len(self._under_way)

    def stop(self) -> None:
        """End what is under way; it waits again."""
        self._scope.cancel()

    async def run(self, gate: Gate) -> None:
        """Validate until the gate is shut; it may be run again where that opens once more."""
        self._scope = trio.CancelScope()
        await self._surely(self._accounts.wait_again)
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    for _ in range(self._at_once):
                        nursery.start_soon(self._work, gate)
        finally:
            if self._under_way:
                with suppress(LadderError):  # then the next start says so
                    self._accounts.wait_again()

    async def _work(self, gate: Gate) -> None:
        while await gate.opened():
            submission = await self._surely(self._next)
            if submission is None:
                await gate.sleep(POLL_SECONDS)
                continue
            # What is cancelled stays under way, and waits again.
            await self._validate(submission)
            self._under_way.discard(submission.number)

    def _next(self) -> Submission | None:
        waiting = self._accounts.in_state(SubmissionState.WAITING)
        found = next_of(
            [one for one in waiting if one.number not in self._under_way],
            served=self._served,
            not_before=self._not_before,
            now=trio.current_time(),
        )
        if found is not None:
            self._set(found, SubmissionState.VALIDATING)
            self._under_way.add(found.number)
            self._served[found.owner] = 1 + max(self._served.values(), default=0)
        return found

    async def _validate(self, submission: Submission) -> None:
        _log.info("validation began", extra=_named(submission))
        barred, bot = await self._barred(submission), None
        if barred is None:
            found, bot = await self._looked_at(submission)
        else:
            found = barred
        match found.judged:
            case Judged.ACCEPTED:
                assert bot is not None
                state = SubmissionState.ACCEPTED
                await self._decide(submission, state, found.report, bot=bot)
            case Judged.REFUSED:
                await self._decide(submission, SubmissionState.REFUSED, found.report)
            case Judged.UNDECIDED:
                await self._try_again(submission, found.report)

    async def _looked_at(self, submission: Submission) -> tuple[Checked, Bot | None]:
        """Check a bot, and enter it if it is accepted; what that came to."""
        try:
            with self._intake.looking() as there:
                archive = await self._in_thread(
                    lambda: self._intake.bundles.fetch(submission.digest, into=there),
                    abandon_on_cancel=True,
                )
                found = await self._check(archive)
                if found.judged is not Judged.ACCEPTED:
                    return found, None
                if (barred := await self._barred(submission)) is not None:
                    return barred, None
                return await self._enter(submission, found, archive)
        except ShelfError as error:
            # Where archives are kept is the operator's business, and the report is its owner's.
            _log.error("an archive could not be fetched: %s", error, extra=_named(submission))
            cause = "its archive could not be fetched from where the ladder keeps it"
        except OSError as error:
            cause = f"the check could not be begun: {error.strerror}"
        return Checked(Judged.UNDECIDED, _report(cause, judged=Judged.UNDECIDED)), None

    async def _barred(self, submission: Submission) -> Checked | None:
        """The verdict on what is of an owner who is barred."""
        owner = await self._surely(lambda: self._accounts.owner(submission.owner))
        if owner is None or not owner.is_barred:
            return None
        cause = f"its owner is barred: {owner.barred_because}"
        return Checked(Judged.REFUSED, _report(cause, judged=Judged.REFUSED))

    async def _enter(
        self, submission: Submission, found: Checked, archive: Path
    ) -> tuple[Checked, Bot | None]:
        """Enter a bot that was accepted; what that came to."""

        def enter() -> Added:
            folder = archive.parent / "bot"
            entrant = archives.unpack(archive, folder, digest=submission.digest)
            return self._ladder.add(str(entrant.folder), is_version=True)

        judged, cause = Judged.UNDECIDED, ""
        try:
            added = await self._in_thread(enter)
        except LadderError as error:
            # What has a cause in the system or the database is no word about the bot.
            cause = str(error)
            if error.__cause__ is None or isinstance(error.__cause__, ValueError):
                judged = Judged.REFUSED
        except BotError as error:
            cause = f"what it needs could not be made again: {error}"
        except OSError as error:
            cause = f"it could not be entered: {error.strerror}"
        else:
            if added.entry is not Entry.SAME_PROGRAM or self._is_own(submission, added.bot):
                return found, added.bot
            judged = Judged.REFUSED
            cause = f"it is the same program as {added.bot.name} of {added.bot.owner}"
        return Checked(judged, _report(cause, judged=judged, report=found.report)), None

    def _is_own(self, submission: Submission, bot: Bot) -> bool:
        owner = self._accounts.owner(submission.owner)
        return owner is not None and owner_folded(owner.name) == owner_folded(bot.owner)

    async def _try_again(self, submission: Submission, report: str) -> None:
        tries = self._tries[submission.number] = self._tries.get(submission.number, 0) + 1
        if tries >= TRIES:
            await self._decide(submission, SubmissionState.FAILED, report)
            return
        delay_seconds = RETRY_SECONDS * tries
        self._not_before[submission.number] = trio.current_time() + delay_seconds
        extra = _named(submission) | {"again_in": delay_seconds}
        _log.warning("validation came to nothing", extra=extra)
        self._say(
            f"submission {submission.number} ({submission.name}) could not be validated: "
            f"{_cause_in(report)}; it is tried again in {delay_seconds:g} s"
        )
        await self._surely(lambda: self._set(submission, SubmissionState.WAITING, report))

    async def _decide(
        self,
        submission: Submission,
        state: SubmissionState,
        report: str,
        *,
        bot: Bot | None = None,
    ) -> None:
        await self._surely(lambda: self._set(submission, state, report, bot=bot))
        if state is SubmissionState.REFUSED:
            await self._remove(submission)
        self._tries.pop(submission.number, None)
        self._not_before.pop(submission.number, None)
        _log.info("validated", extra=_named(submission) | {"state": state.value})
        entered = "" if bot is None else f", and plays as {bot.name}"
        self._say(
            f"submission {submission.number} ({submission.name} {submission.version}): "
            f"{state.value}{entered}"
        )

    async def _remove(self, submission: Submission) -> None:
        """Remove an archive that nobody will ask for: what was refused is not kept."""
        kept = await self._surely(self._accounts.kept_digests)
        if submission.digest in kept:
            return
        try:
            await self._in_thread(
                lambda: self._intake.bundles.remove(submission.digest), abandon_on_cancel=True
            )
        except ShelfError as error:  # the next start does it
            _log.warning("an archive could not be removed: %s", error, extra=_named(submission))

    def _set(
        self,
        submission: Submission,
        state: SubmissionState,
        report: str | None = None,
        *,
        bot: Bot | None = None,
    ) -> None:
        self._accounts.set_state(
            submission.number,
            state,
            at=stamp(self._now()),
            report=report,
            bot=None if bot is None else bot.number,
        )

    async def _surely(self, act: Callable[[], T]) -> T:
        """Do something with the database, again and again until it can be done."""
        for delay_seconds in delays():
            try:
                return act()
            except LadderError as error:
                _log.warning("validation waits", extra={"because": str(error)})
                self._say(f"validation waits: {error}; tried again in {delay_seconds:g} s")
                await trio.sleep(delay_seconds)
        raise AssertionError("there is always another delay")


async def _in_thread(act: Callable[[], T], /, *, abandon_on_cancel: bool = False) -> T:
    return await trio.to_thread.run_sync(act, abandon_on_cancel=abandon_on_cancel)


def _named(submission: Submission) -> dict[str, object]:
    return {"submission": submission.number, "bot": submission.name}
