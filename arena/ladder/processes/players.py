"""A player: the process that sits for an entrant in one room, from its start to its end.

It is started with a ticket, says hello, plays, and is seen off; one that died is started again with
another ticket. What a death costs, and which games it plays, is the room's business.
"""

import contextvars
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio

from arena.ladder.bots.entrants import Entrant
from arena.ladder.processes.cgroups import Group
from arena.ladder.processes.invitations import Inviting
from arena.ladder.processes.launcher import BotProcess, LaunchError, launch
from arena.ladder.processes.sandbox import WRAPPERS, Sandbox, bounds_of, how_it_hit_a_limit
from arena.ladder.processes.vitals import vitals
from arena.referee.host import Host
from arena.referee.lobby import ArrivalFailed, Lobby
from arena.referee.meter import NO_METER, Meter
from arena.referee.session import Session
from hokm.cards import Seat
from hokm.records import ProcessRecord
from hokm.session import Hello

FAREWELL_SECONDS = 2.0
"""How long a bot may take to end by itself once its match is over; a Python process needs 0.1."""

_log = logging.getLogger(__name__)

LAST_WORDS_SECONDS = 0.1
"""How long a bot that did not start may take to end before it is left to end by itself."""


@dataclass(frozen=True, slots=True)
class House:
    """What all rooms of a runner share: where bots are launched, seated, played and logged.

    Remote ones, if any, are invited by ``invitations`` to ``network_address``.
    """

    host: Host
    lobby: Lobby
    address: str
    python: str
    running: Path
    logs: Path
    prefix: tuple[str, ...]
    hello_seconds: float
    now: Callable[[], float]
    meter: Meter = NO_METER
    network_address: str = ""
    invitations: Inviting | None = None
    sandbox: Sandbox | None = None


class Player:
    """The process at ``slot`` of a room, which sits for the entrant of that ``index``.

    ``slot`` is its seat in the odd games of the room; with three seats it has another in even ones,
    and where partners are drawn the one that the draw of a game gives it.
    """

    def __init__(
        self,
        house: House,
        entrant: Entrant,
        *,
        index: int,
        room: int,
        slot: Seat,
        logs: Path,
        resume_seconds: float = 0.0,
        life_seconds: float = math.inf,
    ) -> None:
        self.entrant = entrant
        self.index = index
        self.slot = slot
        self.session: Session | None = None
        """The bot while it is there: None before its hello, and once it is dead."""
        self.hello: Hello | None = None
        """What it said of itself, the first time."""
        self.failure: str | None = None
        """Why the last start failed, for the bot's owner; None if it did not."""
        self.ended: list[ProcessRecord] = []
        """The processes that have ended."""
        self.lock = trio.Lock()
        """Held while it is started again, since several games may want it."""
        self._house = house
        self._room = room
        self._logs = logs
        self._resume_seconds = resume_seconds
        self._life_seconds = life_seconds
        self._bounds = (
            None if house.sandbox is None else bounds_of(entrant.limits, seconds=life_seconds)
        )
        """What its process may use; None where it is not confined."""
        self._starts = 0
        self._process: BotProcess | None = None
        self._reaped: BotProcess | None = None
        self._was_ended = False
        """Whether the last process that was reaped was ended, and did not end by itself."""

    @property
    def log(self) -> Path:
        """The log of the last process."""
        again = "" if self._starts <= 1 else f".{self._starts}"
        return self._logs / f"room{self._room}-seat{self.slot}-{self.entrant.name}{again}.log"

    @property
    def tail(self) -> str:
        """The last lines that the last process wrote."""
        return "" if self._process is None else self._process.log.tail()

    @property
    def by_hand(self) -> str:
        """The shell line that runs the bot as it was run."""
        return "" if self._process is None else self._process.by_hand

    @property
    def how_it_ended(self) -> str:
        """How the last process ended, for a person; empty while it runs."""
        code = None if self._process is None else self._process.returncode
        if code is None:
            return ""
        if self._process is not None and self._process.is_overdue:
            return f"ended by the arena after {self._life_seconds:.0f} s"
        if self._was_ended:
            return "then ended by the arena"
        how = f"exit code {code}" if code >= 0 else f"ended by signal {-code}"
        if self._bounds is None:
            return how
        limit = how_it_hit_a_limit(
            code,
            log_tail=self.tail,
            bounds=self._bounds,
            is_out_of_memory=self._process is not None and self._process.is_out_of_memory,
        )
        return f"{how}; {limit}" if limit else how

    async def start(self, nursery: trio.Nursery) -> bool:
        """Start a process that ``nursery`` watches over; whether it came and said hello in time."""
        house = self._house
        if self._process is not None:  # one that failed to start may not be gone yet
            await self._reap(self._process, wait_seconds=0)
        self._starts += 1
        self.failure = None
        ticket = house.lobby.issue(resume_seconds=self._resume_seconds)
        argv, folder = self.entrant.argv(house.python), self.entrant.home
        sandbox: tuple[str, ...] = ()
        if house.sandbox is not None and self._bounds is not None:
            own = self.entrant.environment.python
            sandbox = house.sandbox.around(argv, folder=folder, bounds=self._bounds, python=own)
        try:
            self._process = process = launch(
                nursery,
                argv,
                folder=folder,
                address=house.address if house.sandbox is None else house.sandbox.address,
                ticket=ticket,
                log_path=self.log,
                running=house.running,
                prefix=house.prefix,
                sandbox=sandbox,
                environment=self.entrant.variables,
                life_seconds=self._life_seconds if sandbox else math.inf,
                memory_bytes=None if self._bounds is None else self._bounds.memory_mib << 20,
                make_group=self._group,
            )
        except LaunchError as error:
            house.lobby.withdraw(ticket)
            self._process = None
            self.failure = str(error)
            return False
        self._was_ended = False
        self._note("bot started", pid=process.pid)
        began = house.now()
        with trio.move_on_after(house.hello_seconds) as waiting:
            async with trio.open_nursery() as race:
                race.start_soon(self._arrive, ticket, race.cancel_scope)
                await process.wait()
                race.cancel_scope.cancel()
        if self.session is None:
            house.lobby.withdraw(ticket)
            if waiting.cancelled_caught:
                self.failure = f"no hello within {house.hello_seconds:.1f} s of its start"
            elif self.failure is None:
                self.failure = (
                    f"it ended without a hello, {house.now() - began:.1f} s after its start "
                    f"({self.how_it_ended}; it has {house.hello_seconds:.1f} s)"
                )
                if process.returncode == 0:
                    self.failure += "; does its program end with run(ITS_CLASS)?"
            # What it wrote at its end may be wanted, but the others do not wait for its SIGKILL.
            with trio.move_on_after(LAST_WORDS_SECONDS):
                await self._reap(process, wait_seconds=0)
            return False
        wrappers = WRAPPERS if sandbox else 0
        self.session.take_vitals = partial(vitals, process.pid, wrappers=wrappers)
        if self._resume_seconds:
            nursery.start_soon(self._watch, process, self.session)
        return True

    async def end(self, *, wait_seconds: float = FAREWELL_SECONDS) -> None:
        """End its session, and its process if that does not end by itself in so long."""
        if self.session is not None:
            with trio.move_on_after(wait_seconds):
                await self.session.whole()
            self.session.end()
            self.session = None
        if self._process is not None:
            await self._reap(self._process, wait_seconds=wait_seconds)

    def _group(self) -> Group | None:
        sandbox = self._house.sandbox
        return None if sandbox is None or self._bounds is None else sandbox.group(self._bounds)

    async def _watch(self, process: BotProcess, session: Session) -> None:
        """A stream may break and its bot come back, but for one whose process has ended."""
        await process.wait()
        session.lose()

    async def _arrive(self, ticket: str, race: trio.CancelScope) -> None:
        try:
            self._welcome(await self._house.lobby.arrival(ticket))
        except ArrivalFailed as failure:
            self.failure = str(failure)
        race.cancel()

    def _welcome(self, session: Session) -> None:
        self.session = session
        hello = session.hello
        self.hello = self.hello or hello
        self._note("bot said hello", sdk=hello.sdk, version=hello.version)
        # Whoever leads it back knows no match, and the lines are about this one.
        about = contextvars.copy_context()
        session.on_absence = lambda is_away: about.run(self._absent, is_away)

    def _absent(self, is_away: bool) -> None:
        """Its stream broke, or it is back on another."""
        if is_away:
            self._note("bot is away", seconds=self._resume_seconds)
        else:
            self._note("bot is back")

    def _note(self, message: str, **fields: object) -> None:
        here = {"bot": self.entrant.name, "room": self._room, "seat": int(self.slot)}
        _log.info(message, extra=here | fields)

    async def _reap(self, process: BotProcess, *, wait_seconds: float) -> None:
        if process is self._reaped:
            return
        with trio.move_on_after(wait_seconds):
            await process.wait()
        self._was_ended = process.returncode is None
        await process.end()
        record = ProcessRecord(
            room=self._room,
            seat=self.slot,
            cpu_seconds=process.cpu_seconds,
            exit_code=process.returncode,
            is_confined=self._house.sandbox is not None,
        )
        self._reaped = process
        self.ended.append(record)
        self._note("bot ended", pid=process.pid, exit_code=process.returncode)
