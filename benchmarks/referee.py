"""The referee: decisions a second with four bot processes and so many boards at once.

As in a ladder: rules, views, clocks, batches and records are on; boards follow each other until the
time is up. Each measurement has a process of its own, which prints one JSON object, so that memory
and caches are those of one measurement. The *floor* is the same referee over socket pairs: only
what carries the bytes is another (:mod:`benchmarks.pairs`).

A decision's latency is the referee's: from the moment its table has it to tell until its answer was
read, with all batching, writing and queueing in between.
"""

import argparse
import itertools
import json
import os
import random
import resource
import socket
import statistics
import subprocess
import sys
import time
from array import array
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import trio

from arena.referee.bridge import serve
from arena.referee.connection import Connection
from arena.referee.host import Host, open_host
from arena.referee.lobby import Lobby, open_lobby
from arena.referee.session import Session
from arena.referee.table import Policy, Table, Tell
from benchmarks.measure import over, table
from benchmarks.pairs import PairConnection
from hokm.actions import Action
from hokm.cards import CARDS, Seat
from hokm.notes import Note
from hokm.outcome import Ending
from hokm.rules.game import Board
from hokm.rules.options import Rules
from hokm.session import ClockRules, Malformed, MatchStart

ROOT = Path(__file__).resolve().parent.parent
SEATS = 4
TARGETS = {64: 0.40, 256: 0.55}
"""Ratios to the floor, by boards at once."""
START_SECONDS = 60.0
END_SECONDS = 20.0
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement. CPU times are milliseconds for 1,000 decisions; None where the system does
    not say (it does in /proc).
    """

    carrier: str
    bots: str
    boards: int
    seconds: float
    decisions: int
    games: int
    median_milliseconds: float
    p99_milliseconds: float
    referee_cpu: float
    bots_cpu: float | None
    peak_megabytes: float

    @property
    def rate(self) -> float:
        """Decisions a second of the wall."""
        return self.decisions / self.seconds

    @property
    def cpu_rate(self) -> float:
        """Decisions a second of CPU, of the referee and its bots together: what a machine whose
        cores are all busy gives.
        """
        return 1e6 / (self.referee_cpu + (self.bots_cpu or 0.0))


class Tally:
    """What is counted while it is on."""

    def __init__(self) -> None:
        self.is_on = False
        self.latencies = array("d")
        self.games = 0


class TimedTable(Table):
    """A table that notes how long its decisions take."""

    tally: Tally
    asked_at: float

    def start(self, now: float) -> list[Tell]:
        self.asked_at = now
        return super().start(now)

    def answer(
        self,
        seat: Seat,
        decision: int,
        attempt: int,
        action: Action | Malformed,
        now: float,
        *,
        asks_at: float | None = None,
        took_seconds: float | None = None,
        note: Note | Malformed | None = None,
    ) -> list[Tell]:
        if self.tally.is_on:
            self.tally.latencies.append(now - self.asked_at)
        tells = super().answer(
            seat,
            decision,
            attempt,
            action,
            now,
            asks_at=asks_at,
            took_seconds=took_seconds,
            note=note,
        )
        self.asked_at = time.monotonic()
        return tells


# -- one measurement, in a process of its own


async def measure(
    carrier: str, bots: str, *, boards: int, seconds: float, warm_up_seconds: float
) -> Measured:
    opened = open_grpc(bots) if carrier == "grpc" else open_pairs(bots)
    async with opened as (lobby, tickets, processes), open_host(now=time.monotonic) as host:
        with trio.fail_after(START_SECONDS):
            sessions = [await lobby.arrival(ticket) for ticket in tickets]
        tally = Tally()
        async with trio.open_nursery() as nursery:
            keep_playing(nursery, host, sessions, boards=boards, tally=tally)
            await trio.sleep(warm_up_seconds)
            tally.is_on = True
            start, cpu, bots_cpu = time.monotonic(), time.process_time(), cpu_of(processes)
            await trio.sleep(seconds)
            tally.is_on = False
            took, cpu = time.monotonic() - start, time.process_time() - cpu
            bots_cpu_after = cpu_of(processes)
            host.stop("the measurement is over")
        for session in sessions:
            session.end()
        for process in processes:
            with trio.fail_after(END_SECONDS):
                await process.wait()
    thousands = len(tally.latencies) / 1000
    return Measured(
        carrier=carrier,
        bots=bots,
        boards=boards,
        seconds=took,
        decisions=len(tally.latencies),
        games=tally.games,
        median_milliseconds=statistics.median(tally.latencies) * 1000,
        p99_milliseconds=statistics.quantiles(tally.latencies, n=100)[98] * 1000,
        referee_cpu=cpu * 1000 / thousands,
        bots_cpu=None
        if bots_cpu is None or bots_cpu_after is None
        else (bots_cpu_after - bots_cpu) * 1000 / thousands,
        peak_megabytes=peak_megabytes(),
    )


def keep_playing(
    nursery: trio.Nursery, host: Host, sessions: Sequence[Session], *, boards: int, tally: Tally
) -> None:
    rules, clock, match = Rules.of(SEATS), ClockRules(), "benchmark/1/first~first"
    decks = [tuple(random.Random(seed).sample(CARDS, len(CARDS))) for seed in range(64)]
    numbers = itertools.count(1)
    for session in sessions:
        session.tell(MatchStart(match, rules, 1_000_000, clock))

    async def play_in_turn() -> None:
        for number in numbers:
            board = Board(rules, decks[number % len(decks)], number=number)
            its_table = TimedTable(board, number=number, clock=clock, policy=Policy.RATED)
            its_table.tally = tally
            outcome = await host.play(its_table, sessions, match=match, players=("first",) * SEATS)
            its_table.record()
            tally.games += tally.is_on
            if outcome.ending is Ending.STOPPED:
                return
            if outcome.ending is not Ending.COMPLETED:
                raise RuntimeError(f"a game did not end by the rules: {outcome}")

    for _ in range(boards):
        nursery.start_soon(play_in_turn)


Opened = tuple[Lobby, list[str], list[trio.Process]]


@asynccontextmanager
async def open_grpc(bots: str) -> AsyncIterator[Opened]:
    """As the arena does it: the bridge on a loopback port, and processes with a ticket each."""
    async with serve("127.0.0.1:0") as bridge, open_lobby(bridge.arrivals) as lobby:
        tickets = [lobby.issue() for _ in range(SEATS)]
        async with trio.open_nursery() as nursery:
            processes = [
                await start(nursery, [bots], HOKM_ADDRESS=bridge.address, HOKM_TICKET=ticket)
                for ticket in tickets
            ]
            yield lobby, tickets, processes


@asynccontextmanager
async def open_pairs(bots: str) -> AsyncIterator[Opened]:
    """The floor: a socket pair for each process, and no gRPC."""
    send, arrivals = trio.open_memory_channel[Connection](SEATS)
    async with open_lobby(arrivals) as lobby, trio.open_nursery() as nursery:
        tickets = [lobby.issue() for _ in range(SEATS)]
        processes = []
        for ticket in tickets:
            ours, theirs = socket.socketpair()
            stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
            connection = PairConnection(stream, ticket=ticket)
            nursery.start_soon(connection.run)
            with theirs:
                fd = theirs.fileno()
                processes.append(await start(nursery, [bots, str(fd)], pass_fds=(fd,)))
            send.send_nowait(connection)
        yield lobby, tickets, processes


async def start(
    nursery: trio.Nursery, arguments: list[str], *, pass_fds: Sequence[int] = (), **environ: str
) -> trio.Process:
    """A bot's process; it is killed when the nursery is cancelled."""

    async def run(task_status: trio.TaskStatus[trio.Process]) -> None:
        await trio.run_process(
            [sys.executable, "-m", "benchmarks.bots", *arguments],
            env={**os.environ, **environ},
            cwd=ROOT,
            pass_fds=pass_fds,
            check=False,
            task_status=task_status,
        )

    process: trio.Process = await nursery.start(run)
    return process


def cpu_of(processes: Sequence[trio.Process]) -> float | None:
    """Seconds of CPU that the processes have had."""
    total = 0.0
    for process in processes:
        try:
            stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return None
        user, system = stat.rpartition(")")[2].split()[11:13]
        total += (int(user) + int(system)) * TICK_SECONDS
    return total


def peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


# -- all of them, in turn


def in_turn(
    boards: Sequence[int], *, rounds: int, seconds: float, warm_up_seconds: float
) -> list[Measured]:
    kinds = [(carrier, "raw", count) for count in boards for carrier in ("pairs", "grpc")]
    kinds += [("grpc", "client", count) for count in boards if count in TARGETS]
    return [
        measured_apart(*kind, seconds=seconds, warm_up_seconds=warm_up_seconds)
        for _ in range(rounds)
        for kind in kinds
    ]


def measured_apart(
    carrier: str, bots: str, boards: int, *, seconds: float, warm_up_seconds: float
) -> Measured:
    """The same in a process of its own, which ends by itself or is ended."""
    command = [sys.executable, "-m", "benchmarks.referee", carrier, bots, str(boards)]
    command += [str(seconds), str(warm_up_seconds)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        timeout=seconds + warm_up_seconds + START_SECONDS + END_SECONDS,
        check=True,
    )
    return Measured(**json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description="One measurement of the referee, as JSON.")
    parser.add_argument("carrier", choices=["grpc", "pairs"])
    parser.add_argument("bots", choices=["raw", "client"])
    parser.add_argument("boards", type=int)
    parser.add_argument("seconds", type=float)
    parser.add_argument("warm_up_seconds", type=float)
    given = parser.parse_args()

    async def run() -> Measured:
        return await measure(
            given.carrier,
            given.bots,
            boards=given.boards,
            seconds=given.seconds,
            warm_up_seconds=given.warm_up_seconds,
        )

    print(json.dumps(asdict(trio.run(run))))


# -- what came of it


def ratios(measured: Sequence[Measured], rate: Callable[[Measured], float]) -> dict[int, float]:
    """gRPC over the floor, with raw bots, by boards at once: the median of the rounds."""
    found = {}
    for boards in dict.fromkeys(one.boards for one in measured):
        grpc, floor = (
            [rate(one) for one in measured if (one.carrier, one.bots, one.boards) == key]
            for key in (("grpc", "raw", boards), ("pairs", "raw", boards))
        )
        found[boards] = statistics.median(over(grpc, floor))
    return found


HEADING = (
    "Referee: carrier, bots, boards",
    "decisions/s",
    "of the floor",
    "target",
    "by CPU",
    "median ms",
    "p99 ms",
    "CPU ms/1000",
    "of bots",
    "peak MB",
)


def report(measured: Sequence[Measured]) -> str:
    rows = [HEADING]
    by_wall = ratios(measured, lambda one: one.rate)
    by_cpu = ratios(measured, lambda one: one.cpu_rate)
    for kind in dict.fromkeys((one.boards, one.bots, one.carrier) for one in measured):
        ones = [one for one in measured if (one.boards, one.bots, one.carrier) == kind]
        boards, bots, carrier = kind
        beside_floor = ("", "", "")
        if (bots, carrier) == ("raw", "grpc"):
            target = f"{TARGETS.get(boards, '')}"
            beside_floor = (f"{by_wall[boards]:.2f}", target, f"{by_cpu[boards]:.2f}")
        rows.append(
            (
                f"{carrier}, {bots}, {boards}",
                f"{statistics.median(one.rate for one in ones):,.0f}",
                *beside_floor,
                f"{statistics.median(one.median_milliseconds for one in ones):.2f}",
                f"{statistics.median(one.p99_milliseconds for one in ones):.1f}",
                f"{statistics.median(one.referee_cpu for one in ones):.0f}",
                _bots_cpu(ones),
                f"{max(one.peak_megabytes for one in ones):.0f}",
            )
        )
    return table(rows)


def _bots_cpu(ones: Sequence[Measured]) -> str:
    known = [one.bots_cpu for one in ones if one.bots_cpu is not None]
    return f"{statistics.median(known):.0f}" if known else "-"


if __name__ == "__main__":
    main()
