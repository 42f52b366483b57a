"""A person at a table of bots: from what was asked to a record and what is said of it.

The person's seat is that of a remote bot, and who is invited is a process at this terminal,
:mod:`arena.cli.person`. Once that process has ended before its match, the game is stopped with
nobody at fault.
"""

import functools
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from typing import Final

import trio

from arena import logs
from arena.cli import show
from arena.cli.confining import confining, for_builds
from arena.cli.errors import INTERRUPTED, Misuse
from arena.cli.interrupts import heeding_signals
from arena.cli.pasting import pasted
from arena.cli.person import LEFT
from arena.cli.places import (
    data_folder,
    environments,
    keep,
    named_bot,
    running_folder,
    temporary_folder,
)
from arena.cli.watch import Watch
from arena.ladder.bots.entrants import Entrant
from arena.ladder.matches.boards import MatchPlan, Secret, local_match_id
from arena.ladder.matches.room import Trouble
from arena.ladder.matches.runner import Runner, open_runner
from arena.ladder.matches.scores import score
from arena.ladder.processes.invitations import Guest, Invitation, Kept
from arena.ladder.processes.launcher import death_signal_prefix
from arena.ladder.processes.remote import remote_entrant
from arena.telling import entrant_labels
from hokm.deck import SEED_BYTES, secret_from_text
from hokm.records import (
    Format,
    GameRecord,
    HandRecord,
    MatchRecord,
    Policy,
    RecordError,
    save,
)
from hokm.rules.options import Rules
from hokm.session import ClockRules

HELLO_SECONDS: Final = 30.0
"""How long the person's process, and a bot, may take to come: nobody is in a hurry here."""

RESUME_SECONDS: Final = 10.0
"""How long the stream of a process may be away. That of a person who leaves is away until it is
noticed that the process has ended, and then nobody is at fault.
"""

FAREWELL_SECONDS: Final = 2.0
"""How long the process may take to end once its match is over."""

PERSON: Final = "arena.cli.person"
"""The module that is that process."""

_LOOK_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena play``; None leaves a thing to its default."""

    bots: tuple[str, ...]
    players: int
    format: str
    length: int
    seat: int
    name: str
    seed: str | None
    options: dict[str, str]
    move_seconds: float
    bank_seconds: float
    record: Path | None
    is_confined: bool
    wheels: Path | None


def sit_down(ask: Ask) -> bool:
    """Play, and say where it can be seen again; whether it was played to its end, or the person
    left. Raises KeyboardInterrupt where a signal ended it.
    """
    plan = _plan(ask)
    made = environments(ask.wheels, confine=for_builds(ask.is_confined))
    plan = replace(plan, entrants=tuple(map(made.prepared, plan.entrants)))
    chair, faults = Chair(ask.name), _Faults()
    kept = temporary_folder()
    try:
        with logs.errors_shown(), confining(ask.is_confined) as sandbox:
            opened = functools.partial(
                open_runner,
                concurrency=1,
                python=sys.executable,
                running=running_folder(otherwise=kept),
                logs=kept,
                hello_seconds=HELLO_SECONDS,
                invitations=chair,
                sandbox=sandbox,
            )
            play = functools.partial(_play, opened, plan, chair=chair, faults=faults)
            record, was_stopped = trio.run(play)
    finally:
        if not faults.are_of_bots:
            rmtree(kept, ignore_errors=True)
    faults.tell(plan, chair, kept=kept)
    tell_end(record, ask.record)
    if was_stopped:
        raise KeyboardInterrupt
    return chair.status == LEFT or score(record).spoilt is None


async def _play(
    opened: Callable[[], AbstractAsyncContextManager[Runner]],
    plan: MatchPlan,
    *,
    chair: "Chair",
    faults: "_Faults",
) -> tuple[MatchRecord, bool]:
    """The record, and whether a signal ended the play."""
    async with opened() as runner, chair.attended(on_left=runner.abort):
        stopper = _AtOnce(runner)
        async with heeding_signals(stopper, tell=_say_nothing):
            record = await runner.play(plan, watcher=faults)
    # A Ctrl-C on the terminal goes to both processes.
    was_stopped = stopper.was_asked or chair.status in (INTERRUPTED, -signal.SIGINT)
    return record, was_stopped


class _AtOnce:
    """A runner that a signal ends at once: whoever would wait for the rest is leaving."""

    def __init__(self, runner: Runner) -> None:
        self.was_asked = False
        self._runner = runner

    def stop(self) -> None:
        """A first signal ends it as a second one does."""
        self.abort()

    def abort(self) -> None:
        """End the runner, and remember that somebody asked for it."""
        self.was_asked = True
        self._runner.abort()


def _say_nothing(text: str) -> None:
    pass


# -- the person's process


class Chair:
    """Where the person sits: who is invited here is a process at this terminal.

    ``status`` is the exit code of the last one, None while it runs.
    """

    hello_seconds: float | None = HELLO_SECONDS

    def __init__(self, name: str) -> None:
        self.status: int | None = None
        self._name = name
        self._nursery: trio.Nursery
        self._on_left: Callable[[], None]
        self._sitters: list[_Sitter] = []

    @asynccontextmanager
    async def attended(self, *, on_left: Callable[[], None]) -> AsyncIterator[None]:
        """While this is open somebody can be invited; ``on_left`` is called if a process ends
        before it is done with. None is left afterwards.
        """
        self._on_left = on_left
        async with trio.open_nursery() as self._nursery:
            yield
            for sitter in self._sitters:
                sitter.over()

    async def reserve(self, guests: Sequence[Guest], *, has_begun: Callable[[], bool]) -> Kept:
        """See :class:`~arena.ladder.processes.invitations.Inviting`."""
        return self

    def release(self) -> None:
        """See :class:`~arena.ladder.processes.invitations.Kept`."""

    def invite(self, guest: Guest, *, address: str, ticket: str, seconds: float) -> Invitation:
        """Start the process, with this terminal."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("HOKM_")}
        # It is in the foreground with us, to read what is typed, and so a Ctrl-C reaches it.
        process = subprocess.Popen(
            (*death_signal_prefix(), sys.executable, "-m", PERSON, self._name),
            env={**own, "HOKM_ADDRESS": address, "HOKM_TICKET": ticket},
        )
        sitter = _Sitter(process)
        self._sitters.append(sitter)
        self.status = None
        self._nursery.start_soon(self._attend, sitter)
        return sitter

    def tell(self, line: str, /) -> None:
        """Whoever sits here knows."""

    async def _attend(self, sitter: "_Sitter") -> None:
        try:
            await sitter.ends()
        finally:
            with trio.CancelScope(shield=True):
                self.status = await sitter.end()
        if self.status != 0 and not sitter.is_over.is_set():
            self._on_left()


class _Sitter:
    """A process of the person, from its invitation on."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.is_over = trio.Event()
        self._process = process
        self._ended = trio.Event()

    def __str__(self) -> str:
        return "the person at this terminal"

    async def refused(self) -> str:
        """See :class:`~arena.ladder.processes.invitations.Invitation`."""
        await self._ended.wait()
        return f"the person's process ended with exit code {self._process.returncode}"

    def used(self) -> None:
        """See :class:`~arena.ladder.processes.invitations.Invitation`."""

    def over(self) -> None:
        """See :class:`~arena.ladder.processes.invitations.Invitation`."""
        self.is_over.set()

    async def ends(self) -> None:
        """Wait until it has ended by itself, or has had its time to once it is done with."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._waits_no_longer, nursery.cancel_scope)
            await self._exit()
            nursery.cancel_scope.cancel()

    async def end(self) -> int:
        """End it; its exit code. Harmless if it has ended."""
        for ending in (self._process.terminate, self._process.kill):
            if self._process.poll() is None:
                ending()
                with trio.move_on_after(1):
                    await self._exit()
        self._ended.set()
        return self._process.wait()

    async def _waits_no_longer(self, waiting: trio.CancelScope) -> None:
        await self.is_over.wait()
        await trio.sleep(FAREWELL_SECONDS)
        waiting.cancel()

    async def _exit(self) -> None:
        while self._process.poll() is None:  # noqa: ASYNC110 - nothing tells of it everywhere
            await trio.sleep(_LOOK_SECONDS)


# -- the table


def _plan(ask: Ask) -> MatchPlan:
    if ask.seat >= ask.players:
        raise Misuse(f"--seat {ask.seat}: this table has seats 0 to {ask.players - 1}")
    others = ask.players - 1
    if len(ask.bots) > others:
        raise Misuse(f"--with: {len(ask.bots)} bots for {others} seats")
    try:
        person = remote_entrant(ask.name)
    except ValueError as error:
        raise Misuse(f"--name {ask.name}: the name {error}") from error
    bots = [named_bot(text) for text in ask.bots]
    if len(bots) < others:
        show.print_line(show.errors(), f"{bots[-1].label} takes every seat that is left")
        bots += [bots[-1]] * (others - len(bots))
    entrants: tuple[Entrant, ...] = (*bots[: ask.seat], person, *bots[ask.seat :])
    kind = Format(ask.format)
    secret = Secret(os.urandom(SEED_BYTES) if ask.seed is None else secret_from_text(ask.seed))
    return MatchPlan(
        match=local_match_id(secret, tuple(entrant.name for entrant in entrants)),
        format=kind,
        rules=Rules.of(ask.players, play=kind.play, options=ask.options),
        length=ask.length,
        entrants=entrants,
        clock=ClockRules(move_seconds=ask.move_seconds, bank_seconds=ask.bank_seconds),
        policy=Policy.CASUAL,
        secret=secret,
        resume_seconds=RESUME_SECONDS,
        in_one_room=True,
    )


# -- what is told afterwards


class _Faults:
    """Keeps the faults of bots until the cards are open: what a bot printed may tell its hand."""

    def __init__(self) -> None:
        self.seen: list[Trouble] = []

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`."""

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`."""
        self.seen.append(trouble)

    @property
    def are_of_bots(self) -> bool:
        """Whether one is of a bot with a log."""
        return not all(trouble.entrant.is_remote for trouble in self.seen)

    def tell(self, plan: MatchPlan, chair: Chair, *, kept: Path) -> None:
        """Now it can be told; what the bots printed is in the folder that is kept."""
        watch = Watch(show.errors(), unit="games", total=plan.length)
        for trouble in self.seen:
            watch.trouble(plan, trouble)
        if self.are_of_bots:
            keep(kept)
            watch.say(f"logs of the bots: {kept}")
        if chair.status is not None and chair.status > 0 and chair.status not in _WISHED:
            watch.say(f"the process at this terminal ended with exit code {chair.status}")


_WISHED: Final = (LEFT, INTERRUPTED)


def tell_end(record: MatchRecord, file: Path | None) -> None:
    """Say what it came to, keep the record, and offer the last hand as text.

    Raises OSError or RecordError where the record cannot be kept, with all of it said.
    """
    console = show.results()
    hand = _last_hand(record)
    if hand is None:
        show.print_line(console, "no card was dealt, and nothing is kept")
        return
    if record.games > 1:
        kind = "points" if record.format is Format.BOARDS else "races won"
        gained = zip(entrant_labels(record), record.score, strict=True)
        show.print_line(console, f"{kind}: {', '.join(f'{name} {won}' for name, won in gained)}")
    unsaved = None
    try:
        if file is None:
            file = _new_file(record)
        save(file, record)
        show.print_line(console, f"\nrecord: {file}")
        show.print_line(console, f"see it again: arena replay {shlex.quote(str(file))}")
    except (OSError, RecordError) as error:
        unsaved = error  # the text below is all that is left of the game
    for line in pasted(record.rules, hand, indent=""):
        show.print_line(console, line)
    if unsaved is not None:
        raise unsaved


def _last_hand(record: MatchRecord) -> HandRecord | None:
    hands = [hand for room in record.rooms for game in room.games for hand in game.hands]
    return hands[-1] if hands else None


def _new_file(record: MatchRecord) -> Path:
    """A name in the folder of games played at this machine, which is made."""
    folder = data_folder() / "games"
    folder.mkdir(parents=True, exist_ok=True)
    ended = datetime.now(UTC).astimezone()
    return folder / f"{ended:%Y%m%d-%H%M%S}-{record.commitment.hex()[:8]}.json.gz"
