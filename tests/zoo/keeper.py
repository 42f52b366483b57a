"""The keeper: has members of the zoo play through a real runner, and looks at what came of it.

While a member and a witness play, other games go on at the same runner between good bots, the
neighbours. What is looked at is what the record says, what the witness was told and when, how the
neighbours fared meanwhile, and what is left afterwards; then it is compared with what the member's
description says. What there is in `/proc` is needed for it, and so Linux.
"""

import json
import os
import re
import shutil
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import trio

from arena.ladder.bots.entrants import Entrant, load_bot
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Trouble
from arena.ladder.matches.runner import Runner, open_runner
from arena.ladder.processes.capped_log import CAP_BYTES
from hokm.outcome import Ending, Outcome
from hokm.records import GameRecord, MatchRecord, RoomRecord, verify
from hokm.session import ClockRules
from tests.system.processes import Notes, plan, runs
from tests.zoo.members import Limit, Member

HERE = Path(__file__).resolve().parent
NEIGHBOURS_CLOCK = ClockRules(move_seconds=1.0, bank_seconds=10.0)
NEIGHBOURS_BOARDS = 1000
HELLO_SECONDS = 5.0
"""Short, because it has to pass, but not for a good bot on a machine with other work."""
AMPLE_SECONDS = 60.0
PATIENCE_SECONDS = 5.0
"""How much longer than the limit the others may have to wait at most, on a busy machine."""
DYING_SECONDS = 5.0
"""How long what was killed may take to be gone."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One room of a member's match, and what it looked like from the witness's chair.

    ``seats`` are the member's. ``told`` are the lines in which witnesses wrote the causes that they
    were told. ``beyond_seconds`` is how much longer than the limit the last of them had to wait;
    None where there was nothing to wait for.
    """

    outcome: Outcome
    seats: tuple[int, ...]
    told: tuple[str, ...]
    beyond_seconds: float | None


@dataclass(frozen=True, slots=True)
class Sighting:
    """A member's match, and what was about it.

    ``neighbours`` is how the other games that went on meanwhile ended, ``slowest_seconds`` the
    most that one of their moves was charged. ``left`` names what was there afterwards and should
    not have been.
    """

    member: Member
    record: MatchRecord
    troubles: tuple[Trouble, ...]
    rooms: tuple[Seen, ...]
    neighbours: frozenset[Ending]
    slowest_seconds: float
    left: tuple[str, ...]
    said: str
    """What the member wrote, in all rooms."""
    log_bytes: int
    """The size of its largest log."""


class Neighbours:
    """A watcher of the games that go on beside the zoo."""

    def __init__(self) -> None:
        self.games: list[GameRecord] = []
        self._over = trio.Event()

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        self.games.append(game)
        self._over.set()
        self._over = trio.Event()

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        """What there is to say of it is in the game's record."""

    async def next_game(self) -> None:
        await self._over.wait()


@dataclass(frozen=True, slots=True)
class Visit:
    """All that was seen, and what was left when the zoo had closed."""

    sightings: tuple[Sighting, ...]
    left: tuple[str, ...]


async def visit(folder: Path, members: Sequence[Member], *, at_once: int) -> Visit:
    """See so many members at once until all have been seen, and the zoo closed behind them.

    Those that are waited for until their time for a hello is over have a runner of their own, where
    that time is short.
    """
    threads, sockets = set(threading.enumerate()), _sockets()
    seen: dict[str, Sighting] = {}
    left: list[str] = []
    for name, hello_seconds, ones in (
        ("late", HELLO_SECONDS, [one for one in members if one.limit is Limit.HELLO]),
        ("prompt", AMPLE_SECONDS, [one for one in members if one.limit is not Limit.HELLO]),
    ):
        if not ones:
            continue
        rooms = 2 * at_once
        async with (
            open_keeper(folder / name, hello_seconds=hello_seconds, rooms=rooms) as keeper,
            trio.open_nursery() as nursery,
        ):
            queue = iter(ones)
            for _ in range(at_once):
                nursery.start_soon(_see, keeper, queue, seen)
        left += keeper.left
    left += [f"thread {thread.name}" for thread in set(threading.enumerate()) - threads]
    if _sockets() > sockets:
        left.append(f"{_sockets() - sockets} sockets")
    return Visit(tuple(seen[member.name] for member in members), tuple(left))


async def _see(keeper: "Keeper", queue: Iterator[Member], seen: dict[str, Sighting]) -> None:
    for member in queue:
        seen[member.name] = await keeper.show(member)


def _sockets() -> int:
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one this loop has had
            found += str(link.readlink()).startswith("socket:")
    return found


@asynccontextmanager
async def open_keeper(folder: Path, *, hello_seconds: float, rooms: int) -> AsyncIterator["Keeper"]:
    """A keeper with a runner and neighbours, for as long as it is open.

    So many rooms are for the zoo; the neighbours have two more.
    """
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    async with open_runner(
        concurrency=rooms + 2,
        python=sys.executable,
        running=folder / "running",
        logs=folder / "logs",
        hello_seconds=hello_seconds,
        prefix=("env", f"TMPDIR={temporary}"),
    ) as runner:
        address = runner._house.address
        keeper = Keeper(runner, folder, hello_seconds=hello_seconds)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keeper.keep_neighbours)
            await keeper.neighbours.next_game()
            yield keeper
            runner.stop()
    keeper.left += [path.name for path in [*(folder / "running").iterdir(), *temporary.iterdir()]]
    keeper.left += await _left_running(folder, keeper.children)
    keeper.left += [f"port {address}"] if _listens(address) else []


class Keeper:
    """Shows members; made by :func:`open_keeper`."""

    def __init__(self, runner: Runner, folder: Path, *, hello_seconds: float) -> None:
        self.neighbours = Neighbours()
        self.children: list[int] = []
        """The processes that members have said they started."""
        self.left: list[str] = []
        """What was there when it had closed."""
        self._runner = runner
        self._folder = folder
        self._hello_seconds = hello_seconds
        self._witness = enter(folder / "witness", "witness.py")

    async def keep_neighbours(self) -> None:
        """Games of good bots, until the runner is stopped."""
        bots = [enter(self._folder / name, "neighbour.py") for name in ("left", "right")]
        match = plan(*bots, clock=NEIGHBOURS_CLOCK, length=NEIGHBOURS_BOARDS)
        record = await self._runner.play(match, watcher=self.neighbours)
        # A test that lasts longer needs more of them.
        assert record.rooms[0].games[-1].hands == (), "the neighbours have played all their boards"

    async def show(self, member: Member) -> Sighting:
        """A member's match, from its start until nothing of it is left, or too much."""
        bot = enter(self._folder / member.name, "bot.py", member.name)
        files = sorted(bot.folder.iterdir())
        match = plan(
            bot,
            self._witness,
            players=member.players,
            clock=member.clock,
            policy=member.policy,
            cap_seconds=member.cap_seconds,
        )
        notes = Notes()
        first = len(self.neighbours.games)
        record = await self._runner.play(match, watcher=notes)
        await self.neighbours.next_game()  # the one that went on at the end
        meanwhile = self.neighbours.games[first:]
        logs = self._folder / "logs" / match.folder
        limit_seconds = member.limit_seconds(hello_seconds=self._hello_seconds)
        children = _children(logs, member)
        self.children += children
        left = [] if member.leaves_a_stranger else await _left_running(bot.folder, children)
        left += [path.name for path in sorted(bot.folder.iterdir()) if path not in files]
        return Sighting(
            member,
            record,
            troubles=tuple(notes.troubles),
            rooms=tuple(
                _seen(room, member, logs=logs, limit_seconds=limit_seconds) for room in record.rooms
            ),
            neighbours=frozenset(game.outcome.ending for game in meanwhile if game.outcome),
            slowest_seconds=max(
                (seconds for game in meanwhile for hand in game.seconds for seconds in hand),
                default=0.0,
            ),
            left=tuple(left),
            said="\n".join(_logs(logs, member.name)),
            log_bytes=max(log.stat().st_size for log in logs.iterdir()),
        )


def enter(folder: Path, program: str, *arguments: str) -> Entrant:
    """A bot in that folder, which runs a copy of a program of this one."""
    if not folder.exists():
        folder.mkdir()
        shutil.copyfile(HERE / program, folder / "bot.py")
        command = json.dumps(["python", "bot.py", *arguments])
        (folder / "bot.toml").write_text(
            f'schema = 1\nname = "{folder.name}"\nowner = "zoo"\nversion = "1"\n'
            f"command = {command}\nprotocol = 1\nvariants = [2, 3, 4]\n"
        )
    return load_bot(folder)


# -- what ought to have come of it


def wrong_with(sighting: Sighting) -> list[str]:
    """What of a sighting is not as the member's description has it."""
    member = sighting.member
    wrong = [f"the record: {finding}" for finding in verify(sighting.record)]
    wrong += [f"left: {left}" for left in sighting.left]
    for number, room in enumerate(sighting.rooms, 1):
        wrong += [f"room {number}: {problem}" for problem in _wrong_in(room, member)]
    endings = {room.outcome.ending for room in sighting.rooms}
    is_at_fault = any(room.outcome.at_fault is not None for room in sighting.rooms)
    if Ending.NEVER_STARTED in member.endings and Ending.NEVER_STARTED not in endings:
        wrong.append("it started")
    named = {trouble.entrant.name for trouble in sighting.troubles}
    # Whom the machine held up is told of as well.
    is_told_of = is_at_fault or Ending.HOST_FAULT in endings
    if named - {member.name} or (named and not is_told_of) or (is_at_fault and not named):
        wrong.append(f"these are said to have failed: {named}")
    if sighting.neighbours != {Ending.COMPLETED}:
        wrong.append(f"games beside it ended as {sighting.neighbours}")
    if sighting.log_bytes > CAP_BYTES:
        wrong.append(f"a log has {sighting.log_bytes} bytes")
    return wrong


def _wrong_in(room: Seen, member: Member) -> Iterator[str]:
    outcome = room.outcome
    # What spoils the match has the rooms left that were not begun.
    spoilers = {Ending.NEVER_STARTED, Ending.HOST_FAULT}
    if outcome.ending is Ending.STOPPED and spoilers & set(member.endings):
        return
    if outcome.ending not in member.endings:
        yield f"it ended as {outcome.ending.name}: {outcome.cause}"
    if outcome.ending in (Ending.COMPLETED, Ending.HOST_FAULT):
        if outcome.at_fault is not None:
            yield f"seat {outcome.at_fault} is at fault"
    else:
        if outcome.at_fault not in room.seats:
            yield f"seat {outcome.at_fault} is at fault, which is not the member's"
        if member.told not in outcome.cause:
            yield f"the cause is: {outcome.cause}"
        if room.beyond_seconds is None or room.beyond_seconds > PATIENCE_SECONDS:
            yield f"the others had to wait {room.beyond_seconds} s longer than the limit"
    expected = f"{outcome.ending.name} {outcome.at_fault} {outcome.cause}"
    is_told = outcome.ending is not Ending.NEVER_STARTED
    if room.told != (expected,) * (member.players - len(room.seats)) * is_told:
        yield f"the others were told {room.told}"


# -- a room, afterwards


def _seen(room: RoomRecord, member: Member, *, logs: Path, limit_seconds: float) -> Seen:
    outcome = room.games[0].outcome
    assert outcome is not None
    own = "\n".join(_logs(logs, member.name, room=room.number))
    others = "\n".join(_logs(logs, "witness", room=room.number))
    ends = re.findall(r"^ended ([\d.]+) ([\d.]+) (.*)$", others, re.MULTILINE)
    told_at = [float(at) for at, _, _ in ends]
    if not ends:  # no game has begun
        told_at = _times("over", others)
    begun_at = _times("born" if member.limit is Limit.HELLO else "deed", own)
    if not ends and member.limit is not Limit.HELLO:
        begun_at += _times("welcomed", others)  # who is not there yet waits for itself
    if member.limit is Limit.MOVE:  # who does not read what it is asked does not know when it was
        begun_at += [float(at) for _, at, _ in ends]
    waits = bool(told_at and begun_at) and outcome.ending is not Ending.COMPLETED
    return Seen(
        outcome,
        seats=tuple(seat for seat, entrant in enumerate(room.seating) if entrant == 0),
        told=tuple(words for _, _, words in ends),
        beyond_seconds=max(0.0, max(told_at) - max(begun_at) - limit_seconds) if waits else None,
    )


def _times(event: str, log: str) -> list[float]:
    return [float(at) for at in re.findall(rf"^{event} ([\d.]+)$", log, re.MULTILINE)]


def _logs(folder: Path, name: str, *, room: int | str = "*") -> Iterator[str]:
    for log in sorted(folder.glob(f"room{room}-seat*-{name}.log")):
        yield log.read_text(encoding="utf-8", errors="replace")


# -- what is left


def _children(logs: Path, member: Member) -> list[int]:
    """The processes that a member says it has started."""
    said = "\n".join(_logs(logs, member.name))
    return [int(pid) for pid in re.findall(r"^child (\d+)$", said, re.MULTILINE)]


async def _left_running(folder: Path, children: Sequence[int]) -> list[str]:
    """The processes of a bot that go on, once those that were killed have had time to go."""

    def left() -> list[str]:
        return [f"process {pid}" for pid in {*processes_of(folder), *filter(runs, children)}]

    with trio.move_on_after(DYING_SECONDS):
        while left():  # noqa: ASYNC110 - nothing tells of it
            await trio.sleep(0.02)
    return left()


def processes_of(folder: Path) -> list[int]:
    """The processes that live in a folder or below it, or in whose environment it is."""
    found = []
    named = re.compile(re.escape(bytes(folder)) + rb"[/\0]")
    for process in Path("/proc").glob("[1-9]*"):
        try:
            is_there = process.joinpath("cwd").readlink().is_relative_to(folder)
            is_there = (
                is_there or named.search(process.joinpath("environ").read_bytes()) is not None
            )
        except OSError:  # it has ended meanwhile, or is another user's
            continue
        if is_there and runs(int(process.name)) and int(process.name) != os.getpid():
            found.append(int(process.name))
    return found


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.socket() as tried:
        return tried.connect_ex((host, int(port))) == 0
