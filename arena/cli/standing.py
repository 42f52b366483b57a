"""A ladder that stands, put together: runner, loop, validator, service, signals."""

import functools
import logging
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import trio
from rich.console import Console

from arena.cli import show
from arena.cli.confining import confining
from arena.cli.interrupts import heeding_signals
from arena.cli.operating import Operating, extra, operated
from arena.cli.places import running_folder
from arena.ladder.bots.bundle import BotError
from arena.ladder.bots.entrants import SAMPLES, load_bot
from arena.ladder.bots.shelf import ShelfError
from arena.ladder.errors import LadderError
from arena.ladder.events.playing import (
    BotDeactivated,
    EventBegan,
    EventEnded,
    MatchPlayed,
    MatchVoided,
    NothingRated,
    Notice,
)
from arena.ladder.ladder import Ladder
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Trouble
from arena.ladder.matches.runner import Runner, open_runner
from arena.ladder.processes.cores import usable_cores
from arena.ladder.processes.sandbox import Sandbox
from arena.referee.calls import Services
from arena.referee.meter import Meter
from arena.referee.serving import Network
from arena.service.answering import SERVICES, answer_calls
from arena.service.casual import Tables
from arena.service.choices import Casual, Remote
from arena.service.handlers import LadderService, Openness
from arena.service.homes import Homes
from arena.service.quotas import Quotas
from arena.service.seats import LASTING, METHODS, SeatService
from arena.service.standing import Standing, Ways
from arena.service.validator import Validator, checking_by_process, command_of
from arena.service.values import ServiceStatus
from arena.wording import stamp
from hokm.records import GameRecord
from hokm.wire import SEAT_SERVICE

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena serve``; ``network`` is None where it serves on none."""

    network: Network | None
    doubt: str
    may_register: bool
    is_private: bool
    remote: Remote
    casual: Casual
    casual_wait_seconds: float
    quotas: Quotas
    floor_ways: Ways
    validations: int
    check_seconds: float
    concurrency: int | None
    hello_seconds: float
    is_confined: bool
    wheels: Path | None
    operating: Operating


def serve(ladder: Ladder, ask: Ask) -> None:
    """Play, validate and answer, until told to drain or to stop.

    Raises LadderError where somebody else plays this ladder; Misuse, OSError where what was asked
    for is not there.
    """
    watch = StandingWatch(show.errors())
    if ask.network is not None:
        with extra("--listen"):
            import arena.referee.probes  # noqa: F401  # to miss it here, and not when it is late
    with ladder.held():
        _prepare(ladder, watch)
        with (
            operated(ask.operating, say=watch.say) as meter,
            confining(ask.is_confined, is_ladder=True, unseen=[ladder.folder]) as sandbox,
        ):
            trio.run(
                functools.partial(
                    _serve, ladder, ask=ask, meter=meter, sandbox=sandbox, watch=watch
                )
            )


class StandingWatch:
    """Tells a person what a ladder that stands is doing. On a terminal that is every match; else
    what somebody must do something about, since the log has the rest.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        """Print a line; where it cannot be, on a full disk say, play goes on."""
        with suppress(OSError):
            self._console.print(text, markup=False, soft_wrap=True)

    def tell(self, notice: Notice) -> None:
        """Hear what was decided."""
        match notice:
            case BotDeactivated() | NothingRated():
                self.say(str(notice))
            case EventBegan() | EventEnded() | MatchPlayed() | MatchVoided():
                if self._console.is_terminal:
                    self.say(str(notice))
            case _:
                pass

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`."""

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`; the log has all of it."""
        if self._console.is_terminal:
            self.say(f"fault: {trouble.entrant.name} {trouble.ending.value} ({plan.match})")


def _prepare(ladder: Ladder, watch: StandingWatch) -> None:
    """Make what bots need now, while no match waits for it; play deals with what cannot be."""
    for bot in ladder.store.bots():
        if bot.is_active:
            ladder.refrozen(bot)
            try:
                ladder.thawed(bot)
            except (BotError, LadderError) as error:
                watch.say(str(error))


async def _serve(
    ladder: Ladder, *, ask: Ask, meter: Meter, sandbox: Sandbox | None, watch: StandingWatch
) -> None:
    # Validations take a core each, and matches are not to feel it.
    rooms = ask.concurrency or max(1, usable_cores() - ask.validations)
    homes = None
    if ask.remote is not Remote.NO:
        homes = Homes(ladder, remote=ask.remote, limits=ask.quotas)
    async with open_runner(
        concurrency=rooms,
        python=sys.executable,
        running=running_folder(otherwise=ladder.folder),
        logs=ladder.folder / "logs",
        hello_seconds=ask.hello_seconds,
        network=ask.network,
        services=None if ask.network is None else _services(ask),
        invitations=homes,
        meter=meter,
        sandbox=sandbox,
    ) as runner:
        command = functools.partial(
            command_of,
            ladder=ladder,
            is_confined=ask.is_confined,
            wheels=ask.wheels,
            limit_seconds=ask.check_seconds,
        )
        validator = Validator(
            ladder,
            check=checking_by_process(command, limit_seconds=ask.check_seconds),
            at_once=ask.validations,
            say=watch.say,
            now=_now,
        )
        standing = Standing(
            ladder,
            runner,
            ways=replace(ask.floor_ways, at_once=rooms),
            worker=validator,
            guests=homes,
            tell=watch.tell,
            say=watch.say,
            watcher=watch,
            now=_now,
            draw=os.urandom,
        )
        meter.ladder_by(standing.figures)
        async with (
            heeding_signals(standing, tell=watch.say, drain_seconds=ask.operating.drain_seconds),
            trio.open_nursery() as nursery,
        ):
            if homes is not None:
                await nursery.start(homes.run)
            if ask.network is not None:
                nursery.start_soon(_answer, ladder, ask, runner, standing, watch, homes)
            await standing.run()
            nursery.cancel_scope.cancel()


def _services(ask: Ask) -> Services:
    if ask.remote is Remote.NO and ask.casual is Casual.NO:
        return SERVICES
    return replace(SERVICES, methods={**SERVICES.methods, SEAT_SERVICE: METHODS}, lasting=LASTING)


async def _answer(
    ladder: Ladder,
    ask: Ask,
    runner: Runner,
    standing: Standing,
    watch: StandingWatch,
    homes: Homes | None,
) -> None:
    assert ask.network is not None
    assert runner.calls is not None
    service = LadderService(
        ladder,
        now=_now,
        draw=os.urandom,
        status=functools.partial(_status, ladder, standing),
        limits=ask.quotas,
        openness=Openness(may_register=ask.may_register, is_private=ask.is_private),
    )
    service.intake.sweep(ladder.store.accounts.kept_digests())
    await trio.to_thread.run_sync(_sweep_elsewhere, ladder, abandon_on_cancel=True)
    if ask.network.tls is None:
        watch.say("no TLS: tokens and archives can be read on the way")
    if ask.doubt:
        watch.say(f"others may not come in: {ask.doubt}; --advertise a name that is in it")
    if homes is not None:
        apart = ", and meet each other only" if homes.are_apart else ""
        watch.say(f"bots that stay at home play here: nobody can isolate them{apart}")
    tables = Tables(
        runner,
        casual=ask.casual,
        house=load_bot(SAMPLES / "house"),
        records=ladder.records_folder,
        logs=ladder.folder / "logs",
        draw=os.urandom,
        now=_now,
        entered=ladder.store.bots,
        wait_seconds=ask.casual_wait_seconds,
    )
    seats = SeatService(homes, tables, enter=service.owner_of, refuse_former=service.refuse_former)
    watch.say(f"listening at {runner.network_address}")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tables.run)
        await answer_calls(runner.calls, service, others={SEAT_SERVICE: seats.answer})
        nursery.cancel_scope.cancel()


def _sweep_elsewhere(ladder: Ladder) -> None:
    try:
        ladder.bundles.remove_elsewhere(ladder.store.accounts.refused_digests())
    except ShelfError as error:  # the next start does it
        _log.warning("archives could not be removed: %s", error)


def _status(ladder: Ladder, standing: Standing) -> ServiceStatus:
    """What anybody may know of what the ladder is doing: no match that is not decided."""
    status = standing.status()
    return ServiceStatus(
        ladder=ladder.settings.name,
        is_paused=status.paused is not None or status.draining is not None,
        event=status.event or "",
        waiting=status.waiting,
        validating=status.validating,
        rated="" if status.rated_at is None else stamp(status.rated_at),
        alarm=status.public_alarm or "",
        paused_because=status.paused or status.draining or "",
    )


def _now() -> datetime:
    return datetime.now(UTC)
