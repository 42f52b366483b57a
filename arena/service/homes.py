"""Bots that stay at home: who is there, with how many seats, and which room has them.

A bot is entered when it first comes, paired while it is there, and away once nobody has been there
for a while. Seats are kept for a room as a whole, in the order in which rooms ask, so that no two
wait for each other; and no home is ever asked for more than it offered. A home that does not come
to its seats spoils no more than its own matches. It knows no wire, no tokens and no cards: a
home is a `Line` here, and its owner is given.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil, inf
from typing import Final, Protocol
from unicodedata import normalize

import trio

import arena
from arena.ladder.errors import LadderError
from arena.ladder.facts import AWAY, WITHDRAWN, Bot, Owner, SubmissionState
from arena.ladder.ladder import Ladder
from arena.ladder.processes.invitations import Guest
from arena.service.accounts import is_of
from arena.service.choices import Remote
from arena.service.errors import Fault, ServiceError
from arena.service.quotas import Quotas
from arena.wording import counted
from hokm.errors import quoted
from hokm.records import remote_digest
from hokm.rules.variants import variant_of
from hokm.seats import (
    HomeAnswer,
    HomeAnswerKind,
    HomeDraining,
    HomeHello,
    HomeWelcome,
    SeatOffer,
    SeatOver,
    ToHome,
)
from hokm.session import PROTOCOL

HELLO_SECONDS: Final = 30.0
"""How long a process at home may take from its offer to its hello: it is started, connects over a
network, and may load a model."""
GRACE_SECONDS: Final = 30.0
"""How long nobody may be there before a bot is away: a connection that breaks is back sooner."""
LINGER_SECONDS: Final = 60.0
"""How long a process at home may take to end once its seat is over, before it is not counted."""
PENALTY_SECONDS: Final = 60.0
LONGEST_PENALTY_SECONDS: Final = 3600.0
"""How long a home is not let in whose bot did not come to its matches: doubled each time."""
_LOOK_SECONDS: Final = 1.0
_LOOKS_A_BOTS: Final = 5
"""The database is looked at so seldom: what an operator or a schedule did with the bots."""
_DAY_SECONDS: Final = 24 * 3600.0

_log = logging.getLogger(__name__)


class Line(Protocol):
    """The way to a home that is there."""

    def say(self, message: ToHome) -> None:
        """Say something soon; nothing comes of it where nobody is there any more."""

    def end(self, error: ServiceError | None = None) -> None:
        """Let it go: well, or saying why not."""


class Offer:
    """A seat that a home was told of: an invitation, as the processes of players have them."""

    def __init__(self, number: int, seat: SeatOffer | None, *, over: "Callable[[Offer], None]"):
        self.number = number
        self.seat = seat
        """What was said; None where nothing could be."""
        self.is_used = False
        self.over_at: float | None = None
        """When nothing more was played at it."""
        self.is_finished = False
        """Whether nothing runs for it at home, by the home's word."""
        self._over = over
        self._why_not = ""
        self._is_refused = trio.Event()

    def __str__(self) -> str:
        return "the ticket that was sent to its home"

    def refuse(self, why: str) -> None:
        """Nobody will come."""
        self._why_not = why
        self._is_refused.set()

    async def refused(self) -> str:
        """See :class:`~arena.ladder.processes.invitations.Invitation`."""
        await self._is_refused.wait()
        return self._why_not

    def used(self) -> None:
        """See :class:`~arena.ladder.processes.invitations.Invitation`."""
        self.is_used = True

    def over(self) -> None:
        """See :class:`~arena.ladder.processes.invitations.Invitation`."""
        if self.over_at is None:
            self.over_at = trio.current_time()
            self._over(self)


class _Home:
    """A bot's home, there or not: what it offered, and what is out of that."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot.number
        self.name = bot.name
        self.line: Line | None = None
        self.seats = 0
        self.is_draining = False
        self.gone_at = -inf
        """Since when nobody is there, where that is so."""
        self.held = 0
        """Seats that rooms have."""
        self.offers: dict[int, Offer] = {}
        """Those for which something may run at home, by number."""
        self.penalty_seconds = 0.0
        self.not_before = -inf

    def free(self) -> int:
        """Seats that nobody has, and nothing runs in."""
        lingering = sum(offer.over_at is not None for offer in self.offers.values())
        return self.seats - self.held - lingering


class _Keep:
    """Seats for a room, asked for: see :class:`~arena.ladder.processes.invitations.Kept`."""

    def __init__(
        self,
        room: tuple[str, int],
        needs: "dict[str, int]",
        *,
        has_begun: Callable[[], bool],
        release: "Callable[[_Keep], None]",
    ) -> None:
        self.room = room
        self.needs = needs
        self.has_begun = has_begun
        self.answered = trio.Event()
        self.failure: str | None = None
        """Why it has none; None while it waits, and where it has them."""
        self.is_released = False
        self._release = release

    def release(self) -> None:
        """See :class:`~arena.ladder.processes.invitations.Kept`."""
        if not self.is_released:
            self.is_released = True
            self._release(self)


class Homes:
    """The homes of a ladder. It invites remote bots for the runner, and says to the schedule which
    matches can begin. Times are by trio's clock.
    """

    hello_seconds: float | None = HELLO_SECONDS

    def __init__(
        self,
        ladder: Ladder,
        *,
        remote: Remote,
        limits: Quotas | None = None,
        grace_seconds: float = GRACE_SECONDS,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ladder = ladder
        self._remote = remote
        self._limits = limits or Quotas()
        self._grace_seconds = grace_seconds
        self._tell = tell
        self._homes: dict[str, _Home] = {}
        self._by_line: dict[Line, _Home] = {}
        self._waiting: list[_Keep] = []
        self._kept: dict[tuple[str, int], _Keep] = {}
        self._last_offer = 0
        self._entered: dict[int, deque[float]] = {}
        """When each owner's new bots came, in the last day."""
        self._change = trio.lowlevel.ParkingLot()

    @property
    def are_apart(self) -> bool:
        """See :class:`~arena.ladder.events.playing.Guests`."""
        return self._remote is Remote.APART

    @property
    def there(self) -> tuple[str, ...]:
        """The bots whose homes are there, by name."""
        return tuple(home.name for home in self._homes.values() if home.line is not None)

    async def run(self, task_status: "trio.TaskStatus[None]" = trio.TASK_STATUS_IGNORED) -> None:
        """Look after them, until this is cancelled; nobody is there before it has started, and
        after.
        """
        try:
            self._send_all_away()
            task_status.started()
            for looks in _counting():
                await trio.sleep(_LOOK_SECONDS)
                self._look(with_bots=looks % _LOOKS_A_BOTS == 0)
        finally:
            for home in list(self._by_line.values()):
                self._let_go(home, ServiceError(Fault.NOT_NOW, "the ladder is closed", remedy=""))
            self._send_all_away()

    # -- homes that come and go

    def come(self, owner: Owner, hello: HomeHello, line: Line) -> HomeWelcome:
        """A home is there. One that was there for the same bot is let go.

        Raises ServiceError for one that may not be.
        """
        refuse_protocol(hello)
        needed = self._seats_a_room()
        if hello.seats < needed:
            problem = f"a match here takes {needed} seats at once, and {hello.seats} are offered"
            raise ServiceError(Fault.INVALID, problem, remedy=f"run(…, seats={needed}), or more")
        bot = self._bot_of(owner, hello)
        home = self._homes.setdefault(bot.name, _Home(bot))
        if home.line is not None:
            problem = f"another process has come for {bot.name}, and takes its place"
            self._let_go(home, ServiceError(Fault.TAKEN, problem, remedy="one is enough"))
        home.line, home.seats, home.is_draining = line, hello.seats, False
        self._by_line[line] = home
        welcome = HomeWelcome(PROTOCOL, f"hokm-arena {arena.__version__}", bot.name)
        line.say(welcome)
        self._tell_again(home, frozenset(hello.playing))
        _log.info("home is there", extra={"bot": bot.name, "seats": hello.seats})
        self._changed()
        return welcome

    def heard(self, line: Line, message: HomeAnswer | HomeDraining) -> None:
        """What a home says; harmless where another has taken its place."""
        home = self._by_line.get(line)
        if home is None:
            return
        match message:
            case HomeAnswer(number, kind):
                self._answered(home, number, kind)
            case HomeDraining():
                home.is_draining = True
                self._deactivate(home, because=AWAY)
                _log.info("home takes part in no more", extra={"bot": home.name})
        self._changed()

    def left(self, line: Line) -> None:
        """Nobody is there any more; it may be back soon."""
        home = self._by_line.pop(line, None)
        if home is None:
            return
        home.line = None
        home.gone_at = trio.current_time()
        _log.info("home is gone", extra={"bot": home.name})
        self._changed()

    def _answered(self, home: _Home, number: int, kind: HomeAnswerKind) -> None:
        offer = home.offers.get(number)
        if offer is None or kind is HomeAnswerKind.TAKEN:
            return
        offer.is_finished = True
        if offer.over_at is not None or kind is HomeAnswerKind.REFUSED:
            del home.offers[number]
        if not offer.is_used:
            what = "refused the seat" if kind is HomeAnswerKind.REFUSED else "ended without a hello"
            offer.refuse(f"its process at home {what}")

    def _tell_again(self, home: _Home, playing: frozenset[int]) -> None:
        """What a home that is back may not have heard, and what runs there no more."""
        assert home.line is not None
        for number, offer in list(home.offers.items()):
            if offer.over_at is not None:
                if number in playing:
                    home.line.say(SeatOver(number))
                else:
                    del home.offers[number]
            elif number not in playing and offer.is_used:
                offer.is_finished = True
            elif number not in playing and offer.seat is not None:
                home.line.say(offer.seat)

    def _let_go(self, home: _Home, error: ServiceError | None) -> None:
        line = home.line
        if line is not None:
            self.left(line)
            line.end(error)

    # -- entering

    def _bot_of(self, owner: Owner, hello: HomeHello) -> Bot:
        """The bot that a home is of: entered, or found, and active."""
        # By its name as it is entered: two spellings of é are one bot, and so is what it was told.
        name = normalize("NFC", hello.name)
        digest = remote_digest(name, owner.name, hello.version)
        bots = self._ladder.store.bots()
        known = next((bot for bot in bots if bot.digest == digest), None)
        if known is None:
            self._refuse_beyond_quotas(owner, bots)
            return self._enter(owner, hello)
        if known.is_active:
            return known
        if known.is_disabled:
            problem = f"{known.name} is {known.inactive_because}"
            raise ServiceError(Fault.PERMISSION, problem, remedy="ask the operator of this ladder")
        home = self._homes.get(known.name)
        now = trio.current_time()
        if home is not None and now < home.not_before:
            problem = f"{known.name} {known.inactive_because}"
            wait_seconds = home.not_before - now
            remedy = f"see what became of its processes; it may come in {ceil(wait_seconds)} s"
            raise ServiceError(Fault.QUOTA, problem, remedy=remedy)
        self._refuse_beyond_active(owner, bots)
        self._ladder.store.activate(known.number)
        return known

    def _enter(self, owner: Owner, hello: HomeHello) -> Bot:
        try:
            bot = self._ladder.add_remote(hello.name, owner=owner.name, version=hello.version)
        except ValueError as error:
            problem, _, remedy = f"the name {quoted(hello.name)} {error}".partition("; ")
            raise ServiceError(Fault.INVALID, problem, remedy=remedy) from error
        except LadderError as error:
            if not str(error).startswith(hello.name):  # else it is about the bot
                raise
            raise ServiceError(Fault.TAKEN, str(error), remedy="") from error
        self._entered.setdefault(owner.number, deque()).append(trio.current_time())
        _log.info("bot entered", extra={"bot": bot.name, "owner": owner.name, "remote": True})
        return bot

    def _refuse_beyond_quotas(self, owner: Owner, bots: Sequence[Bot]) -> None:
        self._refuse_beyond_active(owner, bots)
        entered = self._entered.get(owner.number, deque())
        while entered and entered[0] < trio.current_time() - _DAY_SECONDS:
            entered.popleft()
        if len(entered) >= self._limits.submissions_a_day:
            problem = f"{counted(len(entered), 'new bot')} in 24 hours, which is the most here"
            raise ServiceError(Fault.QUOTA, problem, remedy="try again tomorrow")

    def _refuse_beyond_active(self, owner: Owner, bots: Sequence[Bot]) -> None:
        active = [bot.name for bot in bots if bot.is_active and is_of(bot, owner)]
        coming = self._ladder.store.accounts.in_state(
            SubmissionState.WAITING, SubmissionState.VALIDATING
        )
        on_the_way = sum(one.owner == owner.number for one in coming)
        if len(active) + on_the_way >= self._limits.active_bots:
            problem = (
                f"{owner.name} has {counted(len(active), 'active bot')} and {on_the_way} on the "
                f"way, and {self._limits.active_bots} is the most"
            )
            remedy = f"arena withdraw one of {', '.join(active)}" if active else "wait for those"
            raise ServiceError(Fault.QUOTA, problem, remedy=remedy)

    # -- seats, for the runner and the schedule

    def tell(self, line: str, /) -> None:
        """See :class:`~arena.ladder.processes.invitations.Inviting`."""
        self._tell(line)

    async def reserve(self, guests: Sequence[Guest], *, has_begun: Callable[[], bool]) -> _Keep:
        """See :class:`~arena.ladder.processes.invitations.Inviting`. It waits for as long as others
        have the seats, and for no longer than a home may be gone.
        """
        room = guests[0].match, guests[0].room
        needs = dict(Counter(guest.name for guest in guests))
        keep = _Keep(room, needs, has_begun=has_begun, release=self._release)
        self._waiting.append(keep)
        self._kept[room] = keep
        try:
            self._changed()
            await keep.answered.wait()
        except BaseException:
            keep.release()
            raise
        return keep

    def invite(self, guest: Guest, *, address: str, ticket: str, seconds: float) -> Offer:
        """See :class:`~arena.ladder.processes.invitations.Inviting`; the address is known to a home
        that is there.
        """
        home = self._homes.get(guest.name)
        keep = self._kept.get((guest.match, guest.room))
        self._last_offer += 1
        number = self._last_offer
        if keep is None or keep.failure is not None or home is None:
            offer = Offer(number, None, over=lambda _: None)
            offer.refuse((keep and keep.failure) or "it has no seat at home")
            return offer
        offer = Offer(number, SeatOffer(number, ticket, seconds), over=self._over(home))
        home.offers[number] = offer
        if home.line is not None and offer.seat is not None:
            home.line.say(offer.seat)
        return offer

    def can_begin(self, bots: Iterable[int]) -> bool:
        """See :class:`~arena.ladder.events.playing.Guests`."""
        numbers = set(bots)
        homes = [home for home in self._homes.values() if home.bot in numbers]
        needed = self._seats_a_room()
        wanted = self._wanted()
        for home in homes:
            if home.line is None:
                if not self._is_lost(home):
                    return False
            elif not home.is_draining and home.free() - wanted[home.name] < needed:
                return False
        return True

    async def changed(self) -> None:
        """See :class:`~arena.ladder.events.playing.Guests`."""
        await self._change.park()

    def _over(self, home: _Home) -> Callable[[Offer], None]:
        def over(offer: Offer) -> None:
            if offer.is_finished:
                home.offers.pop(offer.number, None)
            elif offer.number in home.offers and home.line is not None:
                home.line.say(SeatOver(offer.number))
            self._changed()

        return over

    def _release(self, keep: _Keep) -> None:
        if self._kept.get(keep.room) is keep:
            del self._kept[keep.room]
        if keep in self._waiting:
            self._waiting.remove(keep)
        elif keep.failure is None:
            for name, count in keep.needs.items():
                self._homes[name].held -= count
        self._changed()

    def _serve(self) -> None:
        """Give rooms that wait what is free, in their order."""
        claimed: Counter[str] = Counter()
        for keep in list(self._waiting):
            keep.failure = self._why_never(keep)
            homes = self._homes
            is_free = keep.failure is None and all(
                home.line is not None and home.free() - claimed[name] >= count
                for name, count in keep.needs.items()
                for home in [homes[name]]
            )
            if keep.failure is None and not is_free:
                claimed.update(keep.needs)  # or later ones could keep it waiting for ever
                continue
            if is_free:
                for name, count in keep.needs.items():
                    homes[name].held += count
            self._waiting.remove(keep)
            keep.answered.set()

    def _why_never(self, keep: _Keep) -> str | None:
        """Why a room will not get its seats; None if it may."""
        for name, count in keep.needs.items():
            home = self._homes.get(name)
            if home is None or self._is_lost(home):
                return "nobody is at its home"
            if home.is_draining and not keep.has_begun():
                return "its home takes part in no more matches"
            if home.line is not None and home.seats < count:
                return f"its home has {home.seats} seats, and this room takes {count}"
        return None

    def _wanted(self) -> Counter[str]:
        """The seats that rooms wait for, by name."""
        wanted: Counter[str] = Counter()
        for keep in self._waiting:
            wanted.update(keep.needs)
        return wanted

    def _is_lost(self, home: _Home) -> bool:
        return home.line is None and trio.current_time() >= home.gone_at + self._grace_seconds

    def _seats_a_room(self) -> int:
        """How many a bot takes in a room of this ladder."""
        variant = variant_of(self._ladder.settings.rules)
        return variant.seats // variant.sides

    # -- what is looked after

    def _changed(self) -> None:
        self._serve()
        self._see_off()
        self._change.unpark_all()

    def _see_off(self) -> None:
        """Let those go that are to take part in no more, once all is played and ended."""
        wanted = self._wanted()
        for home in list(self._homes.values()):
            is_busy = home.held or home.offers or wanted[home.name]
            if home.line is not None and home.is_draining and not is_busy:
                self._let_go(home, None)

    def _look(self, *, with_bots: bool) -> None:
        try:
            for home in list(self._homes.values()):
                self._end_lingering(home)
                if self._is_lost(home):
                    self._deactivate(home, because=AWAY)
                    if self._is_idle(home):
                        del self._homes[home.name]
            if with_bots:
                self._heed_bots()
        except LadderError as error:  # it is tried again in a moment
            _log.warning("homes cannot be looked after: %s", error)
        self._changed()

    def _end_lingering(self, home: _Home) -> None:
        """A home that does not say what became of its processes has its seats back after a while:
        it ends them itself long before.
        """
        for number, offer in list(home.offers.items()):
            if offer.over_at is not None and trio.current_time() >= offer.over_at + LINGER_SECONDS:
                del home.offers[number]

    def _is_idle(self, home: _Home) -> bool:
        """Whether there is nothing to remember of a home that is lost."""
        is_forgiven = trio.current_time() >= home.not_before + LONGEST_PENALTY_SECONDS
        return not home.held and is_forgiven and home.name not in self._wanted()

    def _heed_bots(self) -> None:
        """Let homes go whose bots are out."""
        bots = {bot.number: bot for bot in self._ladder.store.bots()}
        for home in list(self._homes.values()):
            bot = bots[home.bot]
            if home.line is None or home.is_draining or bot.is_active:
                continue
            because = f"{bot.name} {'was' if bot.is_retired else 'is out:'} {bot.inactive_because}"
            if bot.is_disabled or bot.inactive_because == WITHDRAWN:
                error = ServiceError(Fault.PERMISSION, because, remedy="")
            else:
                doubled = min(2 * home.penalty_seconds, LONGEST_PENALTY_SECONDS)
                home.penalty_seconds = max(PENALTY_SECONDS, doubled)
                home.not_before = trio.current_time() + home.penalty_seconds
                remedy = f"it may come again in {home.penalty_seconds:.0f} s"
                error = ServiceError(Fault.QUOTA, because, remedy=remedy)
            self._let_go(home, error)

    def _deactivate(self, home: _Home, *, because: str) -> None:
        bots = {bot.number: bot for bot in self._ladder.store.bots()}
        if bots[home.bot].is_active:
            self._ladder.store.deactivate(home.bot, because=because)

    def _send_all_away(self) -> None:
        for bot in self._ladder.store.bots():
            if bot.remote and bot.is_active:
                self._ladder.store.deactivate(bot.number, because=AWAY)


def refuse_protocol(hello: HomeHello) -> None:
    """Raises ServiceError for a home that speaks another protocol."""
    if hello.protocol != PROTOCOL:
        problem = f"it speaks protocol {hello.protocol}, and protocol {PROTOCOL} is spoken here"
        raise ServiceError(Fault.INVALID, problem, remedy="use a library of that protocol")


def _counting() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1
