"""A match on one's own machine: from what was asked to a record and what it says."""

import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

import trio

from arena.cli import show
from arena.cli.confining import confining, for_builds
from arena.cli.errors import Misuse
from arena.cli.interrupts import heeding_signals
from arena.cli.listening import Listening, inviting, is_remote
from arena.cli.operating import Operating, operated
from arena.cli.places import environments, keep, named_bot, running_folder, temporary_folder
from arena.cli.report import MatchReport
from arena.cli.watch import MatchWatch
from arena.ladder.bots.entrants import SAMPLES, Entrant
from arena.ladder.matches.boards import MatchPlan, Secret, joined_names, local_match_id
from arena.ladder.matches.runner import Runner, open_runner
from arena.ladder.matches.verdict import Voided, verdict
from arena.ladder.processes.cores import usable_cores
from arena.ladder.processes.invitations import PREFIX
from arena.ladder.processes.remote import remote_entrant
from arena.ladder.settings import DEFAULT_LENGTH
from hokm.deck import SEED_BYTES, secret_from_text
from hokm.records import Format, MatchRecord, Policy, RecordError, save
from hokm.rules.options import Rules
from hokm.session import ClockRules

LONGEST_FILE_NAME_BYTES = 255
"""What the file systems of Linux and macOS take at the least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena match``; None leaves a thing to its default."""

    bots: tuple[str, ...]
    players: int
    format: str
    length: int | None
    seed: str | None
    options: dict[str, str]
    policy: str
    move_seconds: float
    bank_seconds: float
    tick_seconds: float
    hello_seconds: float
    resume_seconds: float
    concurrency: int | None
    at_once: int
    record: Path | None
    logs: Path | None
    listening: Listening | None
    operating: Operating
    is_confined: bool = False
    wheels: Path | None = None


def match(ask: Ask, *, as_json: bool) -> bool:
    """Play the match, print what it came to; whether it was played to its end and counts."""
    plan = _plan(ask)
    made = environments(ask.wheels, confine=for_builds(ask.is_confined))
    plan = replace(plan, entrants=tuple(map(made.prepared, plan.entrants)))
    if ask.logs is not None:
        ask.logs.mkdir(parents=True, exist_ok=True)
    watch = MatchWatch(plan, show.errors())
    with (
        _logs(ask.logs, watch, plan) as logs,
        watch,
        operated(ask.operating, say=watch.say) as meter,  # its lines go above the bar
        inviting(ask.listening, say=watch.say) as invitations,
        confining(ask.is_confined, unseen=_unseen(ask, plan)) as sandbox,
    ):
        fewest = min(plan.entrants, key=lambda entrant: entrant.concurrent)
        if fewest.concurrent < ask.at_once:
            watch.say(
                f"games at once in a room: {fewest.concurrent}, not {ask.at_once}, since "
                f"{fewest.label} takes no more (concurrent in its bot.toml)"
            )
        began = time.monotonic()
        opened = functools.partial(
            open_runner,
            concurrency=ask.concurrency or _rooms_at_once(plan),
            python=sys.executable,
            running=running_folder(otherwise=logs),
            logs=logs,
            hello_seconds=ask.hello_seconds,
            network=None if ask.listening is None else ask.listening.network,
            invitations=invitations,
            meter=meter,
            sandbox=sandbox,
        )
        plan, record = trio.run(functools.partial(_play, opened, plan, ask=ask, watch=watch))
        seconds = time.monotonic() - began
    unsaved = _save(record, ask.record)
    file = ask.record if unsaved is None else None
    if file is not None:
        watch.offer_replays(file)
    report = MatchReport(plan, record, seconds=seconds, file=file)
    if as_json:
        show.print_json(report.json())
    else:
        show.print_match(report, show.results())
    if unsaved is not None:
        raise unsaved
    return report.is_complete


def _unseen(ask: Ask, plan: MatchPlan) -> list[Path]:
    """What a bot of the match may not see: the others, but for what everybody has, and records."""
    bots = [entrant.folder for entrant in plan.entrants]
    own = [folder for folder in bots if not folder.resolve().is_relative_to(SAMPLES.resolve())]
    return own + [place for place in (ask.record, ask.logs) if place is not None]


def _save(record: MatchRecord, file: Path | None) -> OSError | RecordError | None:
    """Write the record where one was asked for; what went wrong is told after the result, which is
    all that is left of the match then.
    """
    try:
        if file is not None:
            save(file, record)
    except (OSError, RecordError) as error:
        return error
    return None


def _rooms_at_once(plan: MatchPlan) -> int:
    """As many as there are cores; all of them where somebody waits for a bot's seats elsewhere."""
    cores = usable_cores()
    has_remote = any(entrant.is_remote for entrant in plan.entrants)
    return max(cores, len(plan.rooms)) if has_remote else cores


async def _play(
    opened: Callable[[], AbstractAsyncContextManager[Runner]],
    plan: MatchPlan,
    *,
    ask: Ask,
    watch: MatchWatch,
) -> tuple[MatchPlan, MatchRecord]:
    """Play until a match is not voided by a fault of the host, or was tried often enough; return
    the last attempt and its record.
    """
    async with (
        opened() as runner,
        heeding_signals(runner, tell=watch.say, drain_seconds=ask.operating.drain_seconds),
    ):
        while True:
            record = await runner.play(plan, watcher=watch)
            found = verdict(record)
            if not isinstance(found, Voided) or not found.is_tried_again(attempt=plan.attempt):
                return plan, record
            watch.say(f"void ({found}), it is played again with other boards")
            plan = replace(plan, attempt=plan.attempt + 1)
            watch.begin_again(plan)


def _entrant(text: str) -> Entrant:
    if not is_remote(text):
        return named_bot(text)
    try:
        return remote_entrant(text.removeprefix(PREFIX))
    except ValueError as error:
        raise Misuse(f"{text}: the name {error}") from error


def _plan(ask: Ask) -> MatchPlan:
    entrants = tuple(map(_entrant, ask.bots))
    names = tuple(entrant.name for entrant in entrants)
    kind = Format(ask.format)
    secret = Secret(os.urandom(SEED_BYTES) if ask.seed is None else secret_from_text(ask.seed))
    plan = MatchPlan(
        match=local_match_id(secret, names),
        format=kind,
        rules=Rules.of(ask.players, play=kind.play, options=ask.options),
        length=DEFAULT_LENGTH[kind] if ask.length is None else ask.length,
        entrants=entrants,
        clock=ClockRules(move_seconds=ask.move_seconds, bank_seconds=ask.bank_seconds),
        policy=Policy(ask.policy),
        secret=secret,
        at_once=ask.at_once,
        resume_seconds=ask.resume_seconds,
        tick_seconds=ask.tick_seconds,
    )
    if len(joined_names(names).encode()) > LONGEST_FILE_NAME_BYTES:
        raise Misuse(
            "these bots' names together are too long for the folder of their logs: it takes "
            f"{LONGEST_FILE_NAME_BYTES} bytes of UTF-8; shorten a name in its bot.toml"
        )
    return plan


@contextmanager
def _logs(folder: Path | None, watch: MatchWatch, plan: MatchPlan) -> Iterator[Path]:
    """Where bots' output goes: a folder that is asked for is kept, another if it says anything.
    A bot that runs elsewhere has no output here.
    """
    if folder is not None:
        yield folder
        return
    temporary = temporary_folder()
    try:
        yield temporary
    finally:
        if watch.troubles and not all(entrant.is_remote for entrant in plan.entrants):
            keep(temporary)
            watch.say(f"logs of the bots: {temporary}")
        else:
            rmtree(temporary, ignore_errors=True)
