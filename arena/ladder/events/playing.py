"""Playing an event: its stages, every match once, whatever interrupts it.

An event asks its schedule who meets whom, plays that stage (a cycle, a round, a batch) to the last
match, and asks again, until nobody is left to play. It, its stages and their pairings are rows
before anything is played, and a match is played when its result is a row; so the same command after
a kill finds what is left and goes on, with the same boards for the same match. A record without a
row is played over.

Files and rows are written from the one thread that waits: they take milliseconds, matches take
seconds, and no bot's clock runs meanwhile, since answers are stamped as they are read.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

import trio

from arena.groups import leaves
from arena.ladder.bots.entrants import BotError, Entrant
from arena.ladder.errors import LadderError
from arena.ladder.events.announcing import begin, publish, source_of
from arena.ladder.facts import AWAY, Attempt, Boards, Bot, Event, Match, absence, totals
from arena.ladder.files import unwritable
from arena.ladder.ladder import Ladder
from arena.ladder.matches.boards import MatchPlan, Secret, joined_names
from arena.ladder.matches.conduct import cpu_seconds
from arena.ladder.matches.room import Trouble, Watcher
from arena.ladder.matches.verdict import Voided, forfeits, verdict
from arena.ladder.processes.cores import usable_cores
from arena.ladder.proof.entropy import Source
from arena.ladder.ratings.evidence import are_sisters, elo_after, is_rated
from arena.ladder.schedules import AnySchedule, UnfitError, from_text, to_text
from arena.ladder.schedules import State as Known
from arena.wording import counted
from hokm.deck import SEED_BYTES, commitment, mix
from hokm.outcome import Ending
from hokm.records import (
    GameRecord,
    MatchRecord,
    Policy,
    RecordError,
    load,
    save,
    substance_digest,
)

FAILED_STARTS: Final = 2
"""A bot that does not start so often in a row is no longer paired."""

_LOOK_AGAIN_SECONDS: Final = 1.0

QUIET_SECONDS: Final = 300.0
"""After so long without a rated result it is said why. Ordinary bots play a match in seconds to a
minute or two, so five are not usual; and whoever waits for a ladder looks sooner than in an hour.
"""


class Runner(Protocol):
    """Who plays matches: starts the bots, hosts their tables, ends them."""

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        """Play a match to its end. One that was told to stop returns what there is, STOPPED."""


class Gate(Protocol):
    """Who says whether another match may be begun."""

    async def opened(self) -> bool:
        """Wait as long as nothing may be begun; False once nothing is to be begun any more."""


class Open:
    """A gate that nobody shuts."""

    async def opened(self) -> bool:
        """At once."""
        return True


class Guests(Protocol):
    """Who knows of the bots that stay at home."""

    @property
    def are_apart(self) -> bool:
        """Whether they meet each other only."""

    def can_begin(self, bots: Iterable[int]) -> bool:
        """Whether a match of these bots, by number, finds place for those of them that stay at
        home; also where none is to be waited for.
        """

    async def changed(self) -> None:
        """Wait until that may be otherwise."""


class Course:
    """How play goes, to be looked at meanwhile, in seconds of trio's clock.

    Attributes:
        rated_at: when a rated match last came to a result, at first when this was made.
        under_way: when each match that is played now was begun.
    """

    def __init__(self) -> None:
        self.rated_at = trio.current_time()
        self.under_way: dict[str, float] = {}


class EntrantError(LadderError):
    """A bot that was entered and cannot play any more, by no fault of the machine; `why` is that in
    a word for everybody.
    """

    def __init__(self, bot: Bot, error: Exception, *, why: str) -> None:
        super().__init__(bot.name, str(error), remedy="or withdraw it")
        self.bot = bot
        self.why = why


class Unwatched:
    """A watcher that looks away."""

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        """A game is over."""

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        """A bot failed."""


# -- what is told meanwhile; each is a line for a person


@dataclass(frozen=True, slots=True)
class EventBegan:
    """Told before the first card, so that the deals are bound before anybody sees one. `schedule`
    is in words.
    """

    event: Event
    schedule: str
    is_resumed: bool

    def __str__(self) -> str:
        how = "is finished first" if self.is_resumed else "begins"
        return (
            f"{self.event.name} {how}: {self.schedule}, "
            f"its deals bound by the commitment {self.event.commitment.hex()}, "
            f"{_entropy_told(self.event)}"
        )


@dataclass(frozen=True, slots=True)
class StageBegan:
    """The pairings of a stage, from 1 in its event, are fixed: of a cycle, a round, or a batch."""

    number: int
    bots: int
    matches: int

    def __str__(self) -> str:
        return f"stage {self.number}: {self.bots} bots, {counted(self.matches, 'match')}"


@dataclass(frozen=True, slots=True)
class MatchPlayed:
    """The result of a match is committed. `names` are of its entrants, in the order of `boards`;
    `is_rated` says whether it moves their ratings.
    """

    match: Match
    names: tuple[str, ...]
    boards: Boards
    is_rated: bool = True

    def __str__(self) -> str:
        scores = zip(self.names, totals(self.boards), strict=True)
        return f"{self.match.id}: " + ", ".join(f"{name} {total}" for name, total in scores)


@dataclass(frozen=True, slots=True)
class MatchVoided:
    """A match counts for nothing, or this attempt at it if it `is_tried_again`."""

    match: Match
    because: str
    is_tried_again: bool = False

    def __str__(self) -> str:
        again = ", it is played again with other boards" if self.is_tried_again else ""
        return f"{self.match.id}: void ({self.because}){again}"


@dataclass(frozen=True, slots=True)
class BotDeactivated:
    """A bot is no longer paired."""

    bot: Bot

    def __str__(self) -> str:
        return (
            f"{self.bot.name} is inactive: {self.bot.inactive_because}; "
            "mend it and add it under another name"
        )


@dataclass(frozen=True, slots=True)
class RoundClosed:
    """Nothing of the round is left to play, and Elo has moved."""

    number: int

    def __str__(self) -> str:
        return f"round {self.number} is closed"


@dataclass(frozen=True, slots=True)
class EventEnded:
    """Every match is played or void, and the secret is revealed."""

    event: Event

    def __str__(self) -> str:
        secret = self.event.secret.hex() if self.event.secret else ""
        return f"{self.event.name} is over, its secret was {secret}"


@dataclass(frozen=True, slots=True)
class NothingRated:
    """No rated match came to a result for `seconds`; `because` are what can be seen of why."""

    seconds: float
    because: tuple[str, ...]

    def __str__(self) -> str:
        return f"nothing rated was decided for {_duration(self.seconds)}: " + "; ".join(
            self.because
        )


Notice = (
    EventBegan
    | StageBegan
    | MatchPlayed
    | MatchVoided
    | BotDeactivated
    | RoundClosed
    | NothingRated
    | EventEnded
)


async def play_event(
    ladder: Ladder,
    runner: Runner,
    *,
    schedule: AnySchedule,
    beacon_value: str | None = None,
    tell: Callable[[Notice], None] = lambda _: None,
    watcher: Watcher | None = None,
    at_once: int | None = None,
    quiet_seconds: float = QUIET_SECONDS,
    draw: Callable[[int], bytes] = os.urandom,
    gate: Gate | None = None,
    guests: Guests | None = None,
) -> Event:
    """Play an event by a schedule, or the one that was announced, or interrupted, by its own.

    `beacon_value` is what the beacon published that was announced. An event that was not announced
    has no entropy.

    `tell` hears of what is decided, `watcher` goes to the runner. `at_once` is how many matches the
    runner is handed at a time (default: as many as there are cores, so that it never runs out of
    rooms). Without a rated result for `quiet_seconds`, and each time so long passes again, it is
    told why. `draw` gives so many random bytes. No match is begun, nor a stage, before the `gate`
    lets it. Without `guests` nobody from elsewhere plays.

    Returns the event, over unless a match was stopped or the gate was shut for good. Raises
    LadderError if somebody else plays this ladder, if the schedule cannot pair those that are
    active, if the beacon's value is missing or belongs to nothing, or for a ladder that is damaged;
    EntrantError if that is one bot.
    """
    with ladder.held():
        sweep(ladder)
        return await play_held(
            ladder,
            runner,
            schedule=schedule,
            beacon_value=beacon_value,
            tell=tell,
            watcher=watcher,
            at_once=at_once,
            quiet_seconds=quiet_seconds,
            draw=draw,
            gate=gate,
            guests=guests,
        )


async def play_held(
    ladder: Ladder,
    runner: Runner,
    *,
    schedule: AnySchedule,
    beacon_value: str | None = None,
    tell: Callable[[Notice], None] = lambda _: None,
    watcher: Watcher | None = None,
    at_once: int | None = None,
    quiet_seconds: float = QUIET_SECONDS,
    draw: Callable[[int], bytes] = os.urandom,
    gate: Gate | None = None,
    course: Course | None = None,
    guests: Guests | None = None,
) -> Event:
    """As `play_event`, for a caller that holds the ladder, and has swept it. Who gives a `course`
    sees in it how play goes, and tells himself when it is quiet.
    """
    if guests is None:
        _send_home(ladder)
    event = ladder.store.event_under_way()
    if event is not None and event.is_ending:
        return _end_event(ladder, event, tell)
    is_resumed = event is not None and event.has_begun
    if event is not None:
        event = begin(ladder, event, beacon_value=beacon_value, settle=partial(_settle, ladder))
    elif beacon_value is not None:
        problem = "no event is announced whose beacon that could be from"
        remedy = "announce one first, with arena ladder announce --beacon"
        raise LadderError("--entropy", problem, remedy=remedy)
    else:
        event = _begin_event(ladder, schedule, secret=draw(SEED_BYTES))
    schedule = _schedule_of(ladder, event)
    publish(ladder, event)
    tell(EventBegan(event, str(schedule), is_resumed))
    gate = gate or Open()
    player = _Player(
        ladder,
        runner,
        event,
        tell=tell,
        watcher=watcher or Unwatched(),
        gate=gate,
        course=course or Course(),
        guests=guests,
        quiet_seconds=quiet_seconds if course is None else None,
    )
    are_apart = guests is not None and guests.are_apart
    left: Sequence[Match] = ()
    while True:
        _close_rounds(ladder, tell)
        if not await gate.opened():
            return event
        deed = ladder.store.operator.last_deed()
        before, left = left, ladder.store.scheduled()
        if left:
            if left == before:  # or they would be played for ever
                problem = f"keeps {left[0].id} to be played, though it was"
                raise LadderError(ladder.folder, problem, remedy="restore it from a backup")
            await player.play(left, at_once=at_once or usable_cores())
            if player.is_stopped:
                _close_rounds(ladder, tell)
                return event
        elif not _begin_stage(
            ladder, event, tell, as_of=deed, are_guests_apart=are_apart
        ) and ladder.store.begin_ending(event, as_of=deed):
            return _end_event(ladder, event, tell)


class _Player:
    """Plays scheduled matches, several at once, in the order of the schedule."""

    def __init__(
        self,
        ladder: Ladder,
        runner: Runner,
        event: Event,
        *,
        tell: Callable[[Notice], None],
        watcher: Watcher,
        gate: Gate,
        course: Course,
        guests: Guests | None,
        quiet_seconds: float | None,
    ) -> None:
        self.is_stopped = False
        self._ladder = ladder
        self._runner = runner
        self._event = event
        self._secret = Secret(ladder.secret_of(event), event.entropy or b"")
        self._tell = tell
        self._watcher = watcher
        self._gate = gate
        self._course = course
        self._guests = guests
        self._quiet_seconds = quiet_seconds
        self._entrants: dict[int, Entrant] = {}

    async def play(self, matches: Sequence[Match], *, at_once: int) -> None:
        """Play all of them, unless one is stopped: then those under way are the last."""
        self._entrants = self._thawed(matches)
        queue = list(matches)
        working = min(at_once, len(matches))

        async def work(nursery: trio.Nursery) -> None:
            nonlocal working
            while (match := await self._next(queue)) is not None:
                await self._play(match)
                if self.is_stopped:
                    break
            working -= 1
            if working == 0:
                nursery.cancel_scope.cancel()

        try:
            async with trio.open_nursery() as nursery:
                if self._quiet_seconds is not None:
                    nursery.start_soon(self._watch_quiet, self._quiet_seconds)
                for _ in range(working):
                    nursery.start_soon(work, nursery)
        except BaseExceptionGroup as group:
            # A disk that is full fails several matches at once; one line says it.
            told, other = group.split(LadderError)
            if told is None or other is not None:
                raise
            raise next(leaves(told)) from group

    def _thawed(self, matches: Iterable[Match]) -> dict[int, Entrant]:
        """All that are to play, each compared with what was entered before any of them plays."""
        playing = {number for match in matches for number in match.entrants}
        # What is inactive does not play, and may be so because it is damaged.
        return {
            bot.number: _thawed(self._ladder, bot)
            for bot in self._ladder.store.bots()
            if bot.number in playing and bot.is_active
        }

    async def _next(self, queue: list[Match]) -> Match | None:
        """The first of these that can begin, taken out; None if there are no more. A match whose
        bots stay at home, and are all busy, lets others go first.
        """
        while queue and not self.is_stopped:
            for place, match in enumerate(queue):
                if self._guests is None or self._guests.can_begin(match.entrants):
                    return queue.pop(place)
            assert self._guests is not None
            with trio.move_on_after(_LOOK_AGAIN_SECONDS):
                await self._guests.changed()
            if not await self._gate.opened():
                self.is_stopped = True
        return None

    async def _play(self, match: Match) -> None:
        """Play a match until it is played or void."""
        while True:
            if not await self._gate.opened():
                self.is_stopped = True
                return
            bots = {bot.number: bot for bot in self._ladder.store.bots()}
            entrants = [bots[number] for number in match.entrants]
            for bot in entrants:
                if not bot.is_active:
                    because = absence(bot)
                    self._ladder.store.void(match, because=because)
                    self._tell(MatchVoided(match, because))
                    _close_rounds(self._ladder, self._tell)
                    return
            for bot in entrants:
                if bot.number not in self._entrants:  # it was taken back meanwhile
                    self._entrants[bot.number] = _thawed(self._ladder, bot)
            plan = self._plan(match)
            self._course.under_way[match.id] = trio.current_time()
            try:
                record = await self._runner.play(plan, watcher=self._watcher)
            finally:
                del self._course.under_way[match.id]
            found = verdict(record)
            if not isinstance(found, Voided):
                attempt = _keep(self._ladder, plan, record)
                self._ladder.store.play(
                    match,
                    attempt,
                    found,
                    forfeits=forfeits(record),
                    cpu_seconds=cpu_seconds(record),
                )
                counts = is_rated(entrants)
                if counts:
                    self._course.rated_at = trio.current_time()
                names = tuple(bot.name for bot in entrants)
                self._tell(MatchPlayed(match, names, found, counts))
            elif found.ending is Ending.STOPPED:
                self.is_stopped = True
                return
            elif not self._void(match, plan, record, found):
                match = replace(match, attempt=match.attempt + 1)
                continue
            _close_rounds(self._ladder, self._tell)
            return

    def _void(self, match: Match, plan: MatchPlan, record: MatchRecord, found: Voided) -> bool:
        """Record an attempt that counts for nothing; whether it was the last."""
        because = str(found)
        attempt = _keep(self._ladder, plan, record, voided=found)
        is_last = not found.is_tried_again(attempt=match.attempt)
        bots = {bot.number: bot for bot in self._ladder.store.bots()}
        failed = [
            _failed_to_start(bots[match.entrants[index]], found.cause)
            for index in found.at_fault
            if found.ending is Ending.NEVER_STARTED
        ]
        self._ladder.store.void_attempt(
            match, attempt, void_because=because if is_last else None, changed=failed
        )
        self._tell(MatchVoided(match, because, is_tried_again=not is_last))
        for bot in failed:
            if bots[bot.number].is_active and not bot.is_active:
                self._tell(BotDeactivated(bot))
        return is_last

    async def _watch_quiet(self, quiet_seconds: float) -> None:
        """Say why nothing rated is decided, each time that so long has passed without."""
        told_at = self._course.rated_at
        while True:
            await trio.sleep_until(max(told_at, self._course.rated_at) + quiet_seconds)
            now = trio.current_time()
            if now >= max(told_at, self._course.rated_at) + quiet_seconds:
                told_at = now
                because = tuple(why_quiet(self._ladder, self._course))
                self._tell(NothingRated(now - self._course.rated_at, because))

    def _plan(self, match: Match) -> MatchPlan:
        """The match, ready to be played: always the same boards for the same attempt."""
        settings = self._ladder.settings
        return MatchPlan(
            match=match.id,
            format=settings.format,
            rules=settings.rules,
            length=settings.length,
            entrants=tuple(self._entrants[number] for number in match.entrants),
            clock=settings.clock,
            tick_seconds=settings.tick_seconds,
            policy=Policy.RATED,
            secret=self._secret,
            event=self._event.name,
            attempt=match.attempt,
        )


def why_quiet(ladder: Ladder, course: Course) -> Iterator[str]:
    """What can be seen of why nothing rated comes to a result."""
    bots = ladder.store.bots()
    if sum(bot.rated for bot in bots) < ladder.settings.sides:
        rated = [bot.name for bot in bots if bot.rated]
        others = f"every bot but {', '.join(rated)}" if rated else "every bot"
        yield f"{others} is unrated"
    playing = [bot for bot in bots if bot.rated and bot.is_active]
    if len(playing) > 1 and all(are_sisters(playing[0], bot) for bot in playing[1:]):
        yield f"every rated bot is of one owner, {playing[0].owner}"
    for bot in bots:
        if not bot.is_active:
            yield f"{bot.name} is inactive ({bot.inactive_because})"
    now = trio.current_time()
    for match, began in course.under_way.items():
        yield f"{match} is under way for {_duration(now - began)}"


_OF_MACHINE: Final = (
    *(errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENOMEM),
    *(errno.EMFILE, errno.ENFILE, errno.ENODEV, errno.ESTALE),
)
"""What the system says where no bot is to blame."""


def _thawed(ladder: Ladder, bot: Bot) -> Entrant:
    try:
        return ladder.thawed(bot)
    except (LadderError, BotError) as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OSError) and cause.errno in _OF_MACHINE:
                raise
            cause = cause.__cause__ or cause.__context__
        is_changed = isinstance(error, LadderError)
        why = "its copy is not as it was entered" if is_changed else "what it needs cannot be made"
        raise EntrantError(bot, error, why=why) from error


def _begin_event(ladder: Ladder, schedule: AnySchedule, *, secret: bytes) -> Event:
    number = len(ladder.store.events()) + 1
    entered = len(ladder.store.bots())
    event = Event(number, to_text(schedule), commitment(secret), entropy=b"", entered=entered)
    event = replace(event, settled=_settled(ladder, event, secret=secret))
    ladder.keep_secret(event, secret)  # before the row: an event without it could never be dealt
    ladder.store.begin_event(event)
    return event


def _settle(ladder: Ladder, event: Event) -> str:
    return _settled(ladder, event, secret=ladder.secret_of(event))


def _settled(ladder: Ladder, event: Event, *, secret: bytes) -> str:
    """The schedule as it is from now on. Raises LadderError if it cannot pair those that are
    active.
    """
    schedule = from_text(event.schedule)
    try:
        return to_text(schedule.settled(_known(ladder, event, schedule, secret=secret)))
    except ValueError as error:
        idle = [f"{b.name}: {b.inactive_because}" for b in ladder.store.bots() if not b.is_active]
        why = f" (inactive: {'; '.join(idle)})" if idle else ""
        remedy = "add bots with arena ladder add, or take another --schedule"
        if isinstance(error, UnfitError):
            remedy = error.remedy
        raise LadderError(ladder.folder, f"{error}{why}", remedy=remedy) from error


def _begin_stage(
    ladder: Ladder,
    event: Event,
    tell: Callable[[Notice], None],
    *,
    as_of: int,
    are_guests_apart: bool,
) -> bool:
    """Fix who meets whom next; whether anybody does. An event that is over has nobody left. What
    the operator did since his deed `as_of` is to be looked at first.
    """
    schedule = _schedule_of(ladder, event)
    secret = ladder.secret_of(event)
    state = _known(ladder, event, schedule, secret=secret, are_guests_apart=are_guests_apart)
    bots = ladder.store.bots()
    matches = [
        _match(event, round_.number, place, [bots[player] for player in meeting])
        for round_ in schedule.next_rounds(state)
        for place, meeting in enumerate(round_.meetings, start=1)
    ]
    if not matches:
        return False
    field = [bots[player].number for player in state.field]
    if not ladder.store.add_cycle(event, state.stage, matches, field=field, as_of=as_of):
        return True
    publish(ladder, event)
    tell(StageBegan(len(state.stages) + 1, len(field), len(matches)))
    return True


def _schedule_of(ladder: Ladder, event: Event) -> AnySchedule:
    """The schedule of an event that has begun. Raises LadderError for what no arena has kept."""
    try:
        return from_text(event.settled or event.schedule)
    except ValueError as error:
        problem = f"holds a schedule of {event.name} that is none ({error})"
        remedy = "restore it from a backup"
        raise LadderError(ladder.store.where, problem, remedy=remedy) from error


def _known(
    ladder: Ladder,
    event: Event,
    schedule: AnySchedule,
    *,
    secret: bytes,
    are_guests_apart: bool = False,
) -> Known:
    from arena.ladder.events.pairing import known  # numpy with it, 0.16 s

    mixed = mix(secret, event.entropy or b"")
    with ladder.reading_of(event):
        return known(
            ladder.store,
            event,
            schedule,
            settings=ladder.settings,
            mixed=mixed,
            are_guests_apart=are_guests_apart,
        )


def _match(event: Event, number: int, place: int, entrants: Sequence[Bot]) -> Match:
    names = joined_names(tuple(bot.name for bot in entrants))
    numbers = tuple(bot.number for bot in entrants)
    return Match(f"{event.name}/r{number}/{names}", number, place, numbers)


def _failed_to_start(bot: Bot, cause: str) -> Bot:
    count = bot.failed_starts + 1
    if count < FAILED_STARTS or not bot.is_active:
        return replace(bot, failed_starts=count)
    reason = f"did not start {count} times in a row" + (f" ({cause})" if cause else "")
    return replace(bot, failed_starts=count, inactive_because=reason)


def _keep(
    ladder: Ladder, plan: MatchPlan, record: MatchRecord, *, voided: Voided | None = None
) -> Attempt:
    """Write the record of an attempt; it means nothing until its row is committed."""
    path = f"{plan.folder}.json.gz"
    file = ladder.records_folder / path
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        save(file, record)
    except OSError as error:
        raise unwritable(error, file) from error
    return Attempt(
        match=plan.match,
        number=plan.attempt,
        voided_by=voided.ending if voided else None,
        cause=voided.cause if voided else "",
        record=path,
        record_digest=substance_digest(record),
    )


def _close_rounds(ladder: Ladder, tell: Callable[[Notice], None]) -> None:
    """Close, in order, every round of which nothing is left to play; Elo moves by rounds."""
    while (number := ladder.store.round_to_close()) is not None:
        deed = ladder.store.operator.last_deed()
        results = ladder.store.results(in_round=number)
        before = ladder.store.ratings()
        after = elo_after(ladder.store.bots(), results, settings=ladder.settings, before=before)
        if ladder.store.close_round(number, after, as_of=deed):
            tell(RoundClosed(number))


def _end_event(ladder: Ladder, event: Event, tell: Callable[[Notice], None]) -> Event:
    """Reveal the secret in every record of an event that is ending, or it could go on with what
    everybody knows, and in its document; its row, which ends it, comes last.
    """
    secret = ladder.secret_of(event)
    for attempt in ladder.store.attempts(event):
        file = ladder.records_folder / attempt.record
        try:
            with suppress(RecordError, FileNotFoundError):  # the audit tells of it
                record = load(file)
                if record.secret is None:
                    save(file, replace(record, secret=secret, entropy=event.entropy or b""))
        except OSError as error:
            raise unwritable(error, file) from error
    event = replace(event, secret=secret, is_ending=True)
    publish(ladder, event)
    ladder.store.finish_event(event, secret=secret)
    tell(EventEnded(event))
    return event


def _send_home(ladder: Ladder) -> None:
    """Nobody is there for bots that stay at home, whatever a run that was killed has left."""
    for bot in ladder.store.bots():
        if bot.remote and bot.is_active:
            ladder.store.deactivate(bot.number, because=AWAY)


def sweep(ladder: Ladder) -> None:
    """Remove the unfinished files of a run that was killed. It looks at every round there was."""
    for pattern in ("*/.*.part", "*/*/.*.part"):
        for part in ladder.records_folder.glob(pattern):
            part.unlink(missing_ok=True)


def _entropy_told(event: Event) -> str:
    match source_of(event):
        case Source.NOTHING:
            return "without entropy (fine among friends; docs/fair-deals.md)"
        case Source.NONCES:
            return "with entropy from the nonces of its entrants"
        case Source.BEACON:
            return f"with entropy from {event.beacon}"


def _duration(seconds: float) -> str:
    return counted(round(seconds / 60), "minute") if seconds >= 90 else f"{seconds:.0f} s"
