"""Casual tables: who wants to play sits down, house bots take the seats that stay empty.

A table is for one race, in one room, which moves no rating. Nobody waits for ever: after a while it
begins with whoever is there. Who leaves before it begins is replaced, and the others play on; after
that he has the incidents of any bot. Who comes first sits at seat 0, and so on. It knows no wire
and no tokens.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from typing import Final, Protocol

import trio

import arena
from arena.ladder.bots.entrants import Entrant
from arena.ladder.events.playing import Unwatched
from arena.ladder.facts import Bot, Owner
from arena.ladder.matches.boards import MatchPlan, Secret, local_match_id
from arena.ladder.matches.room import Watcher
from arena.ladder.matches.verdict import Voided, verdict
from arena.ladder.processes.invitations import Guest, Inviting
from arena.ladder.processes.remote import remote_entrant
from arena.ladder.ratings.evidence import owner_folded
from arena.service.accounts import is_of
from arena.service.choices import Casual
from arena.service.errors import Fault, ServiceError
from arena.service.homes import HELLO_SECONDS, Line, Offer, refuse_protocol
from hokm.errors import quoted
from hokm.outcome import Ending
from hokm.records import Format, MatchRecord, Policy, save
from hokm.rules.options import Play, Rules
from hokm.seats import (
    HomeAnswer,
    HomeAnswerKind,
    HomeHello,
    HomeWelcome,
    Partners,
    SeatOffer,
    SeatOver,
    TableWish,
)
from hokm.session import PROTOCOL, ClockRules

WAIT_SECONDS: Final = 20.0
"""How long who came first waits for others."""
RESUME_SECONDS: Final = 30.0
"""How long a bot whose stream broke may be away, as in any casual match."""
MOST_TABLES: Final = 8
"""At once; who is beyond that waits until one is free."""
MOST_WAITING: Final = 64
MOST_OF_A_HOST: Final = 8
"""Who sit at a table or wait for one, from one address."""
MOST_RECORDS: Final = 2000
"""Records of casual games that are kept; the oldest goes first. One has about 10 kB."""
TRIES: Final = 3
"""A table whose match came to nothing by the arena's fault is begun again, so often in all."""
FOLDER: Final = "casual"
"""Of the records, below those of the ladder."""

_LOOK_SECONDS: Final = 0.5
_log = logging.getLogger(__name__)


class Runner(Protocol):
    """Who plays a table's match."""

    async def play(
        self, plan: MatchPlan, *, watcher: Watcher, invitations: Inviting | None = None
    ) -> MatchRecord:
        """Play a match to its end, as :class:`~arena.ladder.matches.runner.Runner` does."""


@dataclass(eq=False, slots=True)
class _Sitter:
    """Somebody who sat down; ``tries`` counts the tables that came to nothing under him."""

    line: Line
    entrant: Entrant
    wish: TableWish
    host: str
    since: float
    is_gone: bool = False
    tries: int = 0
    offers: dict[int, Offer] = field(default_factory=dict)


class _Table:
    """A table that is played, which invites its sitters: an
    :class:`~arena.ladder.processes.invitations.Inviting`.
    """

    hello_seconds: float | None = HELLO_SECONDS

    def __init__(self, sitters: Sequence[_Sitter], *, next_offer: Callable[[], int]) -> None:
        self.sitters = sitters
        """By the index of their entrants; house bots come after them."""
        self._next_offer = next_offer

    async def reserve(self, guests: Sequence[Guest], *, has_begun: Callable[[], bool]) -> "_Table":
        """Who sits at a table has his seat."""
        await trio.lowlevel.checkpoint()
        return self

    def release(self) -> None:
        """Nothing is kept."""

    def invite(self, guest: Guest, *, address: str, ticket: str, seconds: float) -> Offer:
        """See :class:`~arena.ladder.processes.invitations.Inviting`."""
        sitter = self.sitters[guest.entrant]
        number = self._next_offer()
        said = SeatOffer(number, ticket, seconds)
        offer = Offer(number, said, over=lambda offer: sitter.line.say(SeatOver(offer.number)))
        if sitter.is_gone:
            offer.refuse("it left before the game began")
        else:
            sitter.offers[number] = offer
            sitter.line.say(said)
        return offer

    def tell(self, line: str, /) -> None:
        """Nobody is told of casual play."""


class Tables:
    """The casual tables of an arena. `house` is who takes empty seats, `draw` gives so many random
    bytes, `now` is the time with its zone, `entered` says which bots the ladder has. Records go to
    `records`, below which they have a folder; `logs` is where the runner writes what bots say.
    """

    def __init__(
        self,
        runner: Runner,
        *,
        casual: Casual,
        house: Entrant,
        records: Path,
        logs: Path,
        draw: Callable[[int], bytes],
        now: Callable[[], datetime],
        entered: Callable[[], Iterable[Bot]],
        clock: ClockRules | None = None,
        wait_seconds: float = WAIT_SECONDS,
        most_tables: int = MOST_TABLES,
        most_records: int = MOST_RECORDS,
    ) -> None:
        self._runner = runner
        self._casual = casual
        self._house = house
        self._records = records / FOLDER
        self._logs = logs
        self._draw = draw
        self._now = now
        self._entered = entered
        self._clock = clock or ClockRules()
        self._wait_seconds = wait_seconds
        self._most_tables = most_tables
        self._most_records = most_records
        self._sitting: dict[Line, _Sitter] = {}
        """Everybody who sits at a table or waits for one."""
        self._waiting: list[_Sitter] = []
        self._playing = 0
        self._last_offer = 0
        self._change = trio.Event()

    @property
    def is_open(self) -> bool:
        """Whether anybody may sit down, without a token."""
        return self._casual is Casual.OPEN

    @property
    def waiting(self) -> int:
        """How many wait for a table."""
        return len(self._waiting)

    async def run(self) -> None:
        """Have tables played, until this is cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                for table in self._filled():
                    self._playing += 1
                    nursery.start_soon(self._play, table)
                self._change = trio.Event()
                with trio.move_on_after(_LOOK_SECONDS):
                    await self._change.wait()

    # -- who sits down

    def sit_down(self, owner: Owner | None, hello: HomeHello, line: Line, *, host: str) -> None:
        """Somebody wants to play. Raises ServiceError where he may not, LadderError where it cannot
        be asked who is entered.
        """
        if self._casual is Casual.NO:
            problem = "there are no casual tables here"
            raise ServiceError(Fault.PERMISSION, problem, remedy="ask the operator for some")
        refuse_protocol(hello)
        wish = hello.table
        if wish is None or (wish.partners is Partners.SECOND_ACE and wish.players != 4):
            problem = "no table of this kind is known here"
            remedy = "2, 3 or 4 players; a second ace draws partners where four play"
            raise ServiceError(Fault.INVALID, problem, remedy=remedy)
        of_host = sum(sitter.host == host for sitter in self._sitting.values())
        if len(self._waiting) >= MOST_WAITING or of_host >= MOST_OF_A_HOST:
            problem = "as many wait for casual tables as may"
            raise ServiceError(Fault.QUOTA, problem, remedy="come again later")
        entrant = _entrant(owner, hello)
        self._refuse_name(owner, entrant.name)
        sitter = _Sitter(line, entrant, wish, host, trio.current_time())
        self._sitting[line] = sitter
        self._waiting.append(sitter)
        line.say(HomeWelcome(PROTOCOL, f"hokm-arena {arena.__version__}", sitter.entrant.name))
        self._change.set()

    def _refuse_name(self, owner: Owner | None, name: str) -> None:
        """Raise for the name of a bot that is known here, or one that looks like it, and not his
        who sits down: the others at the table, and who reads the record, would take it for that.
        """
        folded = owner_folded(name)
        for bot in self._entered():
            if owner_folded(bot.name) != folded or (owner is not None and is_of(bot, owner)):
                continue
            problem = f"a bot named {bot.name} is entered here"
            remedy = "take another name, or the token of its owner if that is you"
            raise ServiceError(Fault.TAKEN, problem, remedy=remedy)
        if owner_folded(self._house.name) == folded:
            problem = f"{self._house.name} is the bot of the house"
            raise ServiceError(Fault.TAKEN, problem, remedy="take another name")

    def heard(self, line: Line, message: HomeAnswer) -> None:
        """What one who sat down says of a seat."""
        sitter = self._sitting.get(line)
        offer = None if sitter is None else sitter.offers.get(message.offer)
        if offer is not None and message.kind is not HomeAnswerKind.TAKEN and not offer.is_used:
            offer.refuse("its process at home ended without a hello")

    def left(self, line: Line) -> None:
        """One who sat down is gone. A game that he is in goes on without him, as the rules say."""
        sitter = self._sitting.pop(line, None)
        if sitter is None:
            return
        sitter.is_gone = True
        if sitter in self._waiting:
            self._waiting.remove(sitter)
        for offer in sitter.offers.values():
            if not offer.is_used:
                offer.refuse("it left before the game began")
        self._change.set()

    # -- tables

    def _filled(self) -> list[list[_Sitter]]:
        """Who sits together now: full tables, and those whose first has waited long enough."""
        tables: list[list[_Sitter]] = []
        for first in list(self._waiting):
            if self._playing + len(tables) >= self._most_tables or first not in self._waiting:
                continue
            alike = [one for one in self._waiting if one.wish == first.wish]
            together = alike[: first.wish.players]
            is_full = len(together) == first.wish.players
            if together[0] is first and (
                is_full or trio.current_time() >= first.since + self._wait_seconds
            ):
                tables.append(together)
                for sitter in together:
                    self._waiting.remove(sitter)
        return tables

    async def _play(self, sitters: list[_Sitter]) -> None:
        try:
            plan = self._plan(sitters)
            table = _Table(sitters, next_offer=self._next_offer)
            _log.info("casual table", extra={"match": plan.match, "sitting": len(sitters)})
            record = await self._runner.play(plan, watcher=Unwatched(), invitations=table)
            rmtree(self._logs / plan.folder, ignore_errors=True)
            self._ended(sitters, record)
        finally:
            self._playing -= 1
            self._change.set()

    def _ended(self, sitters: list[_Sitter], record: MatchRecord) -> None:
        """See what came of a table: it was played, or those who came sit down again."""
        found = verdict(record)
        if not isinstance(found, Voided):
            self._keep(record)
            for sitter in sitters:
                sitter.line.end()
            return
        if found.ending is Ending.STOPPED:
            for sitter in sitters:
                sitter.line.end(ServiceError(Fault.NOT_NOW, "the arena is going away", remedy=""))
            return
        back = []
        for index, sitter in enumerate(sitters):
            sitter.offers.clear()
            sitter.tries += 1
            if index in found.at_fault:
                problem = "its process did not come to the table"
                error = ServiceError(Fault.QUOTA, problem, remedy="see what became of it")
                sitter.line.end(error)
            elif sitter.tries >= TRIES:
                problem = "the table could not be played"
                sitter.line.end(ServiceError(Fault.NOT_NOW, problem, remedy="try again later"))
            elif not sitter.is_gone:
                back.append(sitter)
        self._waiting[:0] = back  # they have waited, and are the first

    def _plan(self, sitters: list[_Sitter]) -> MatchPlan:
        wish = sitters[0].wish
        empty = wish.players - len(sitters)
        entrants = (*(sitter.entrant for sitter in sitters), *[self._house] * empty)
        secret = Secret(self._draw(32))
        options = {"teams": wish.partners.value} if wish.players == 4 else {}
        return MatchPlan(
            match=local_match_id(secret, tuple(entrant.name for entrant in entrants)),
            format=Format.CLASSIC,
            rules=Rules.of(wish.players, play=Play.RACE, options=options),
            length=1,
            entrants=entrants,
            clock=self._clock,
            policy=Policy.CASUAL,
            secret=secret,
            resume_seconds=RESUME_SECONDS,
            in_one_room=True,
        )

    def _next_offer(self) -> int:
        self._last_offer += 1
        return self._last_offer

    def _keep(self, record: MatchRecord) -> None:
        """Keep the record, and not too many of them. A full disk ends no game."""
        stamp = self._now().strftime("%Y%m%dT%H%M%S")
        try:
            self._records.mkdir(parents=True, exist_ok=True)
            save(self._records / f"{stamp}-{record.commitment.hex()[:16]}.json.gz", record)
            kept = sorted(self._records.glob("*.json.gz"))
        except OSError as error:
            _log.error("the record of a casual game cannot be kept: %s", error)
            return
        for old in kept[: -self._most_records]:
            with suppress(OSError):
                old.unlink()


def _entrant(owner: Owner | None, hello: HomeHello) -> Entrant:
    try:
        if owner is None:
            return remote_entrant(hello.name)
        return remote_entrant(hello.name, owner=owner.name, version=hello.version)
    except ValueError as error:
        problem, _, remedy = f"the name {quoted(hello.name)} {error}".partition("; ")
        raise ServiceError(Fault.INVALID, problem, remedy=remedy) from error
