"""A ladder's database as it grows: what a result costs to append, the standings, the next pairing.

The database is made, not played: bots of known strength, matches of 16 boards between pairs in
turn, ten results a round as an event has them. What is measured are the ladder's own functions on
it.
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import sqlalchemy as sa

from arena.ladder.events.pairing import known
from arena.ladder.facts import Attempt, Boards, Event, Match, Result, State
from arena.ladder.ladder import Ladder
from arena.ladder.ratings.elo import EloRating, expected_score
from arena.ladder.schedules import Adaptive
from arena.ladder.settings import Settings
from arena.ladder.store import tables as t
from arena.ladder.store.address import address_of
from arena.ladder.store.database import Database
from benchmarks.measure import table

BOARDS = 16
ROUND_MATCHES = 10
APPENDS = 50
"""Results that are appended to each ladder in a round."""
FIELD_SD_ELO = 200.0
CHUNK_MATCHES = 20_000
FIRST_APPENDED = 10_000_000
"""Rounds of their own for the matches that are appended, far from those that are made."""

STANDINGS, PAIRING, APPEND = "standings", "a pairing (adaptive)", "append a result"
TARGETS = {STANDINGS: 1.0, PAIRING: 0.05}
"""Seconds, at 300 bots and 200,000 matches."""


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds, round by round, with so many matches in the store."""

    what: str
    matches: int
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def measure(*, bots: int, matches: int, rounds: int) -> list[Took]:
    """Make a ladder of so many matches and one of a two-hundredth, and measure both in turn."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        _made(Path(scratch) / "small", bots) as small,
        _made(Path(scratch) / "grown", bots) as grown,
    ):
        ladders = {max(matches // 200, 1): small, matches: grown}
        for size, ladder in ladders.items():
            ladder.to(size)
        seconds: dict[tuple[str, int], list[float]] = {}
        for _ in range(rounds):
            # In turn, so that what the machine and its disk do meanwhile falls on both.
            for size, ladder in [*ladders.items()] * APPENDS:
                seconds.setdefault((APPEND, size), []).append(ladder.append())
            for size, ladder in ladders.items():
                seconds.setdefault((STANDINGS, size), []).append(_timed(ladder.ladder.standings))
                seconds.setdefault((PAIRING, size), []).append(ladder.pairing())
        return [Took(what, size, tuple(found)) for (what, size), found in seconds.items()]


def report(taken: list[Took]) -> str:
    """A table, with what is appended to the grown ladder as a ratio to the small one."""
    taken = sorted(taken, key=lambda one: (one.what, one.matches))
    small = {one.what: one.median for one in reversed(taken)}
    rows = [("", "matches", "ms", "of the small", "target ms")]
    for one in taken:
        target = TARGETS.get(one.what)
        rows.append(
            (
                one.what,
                f"{one.matches:,}",
                f"{1000 * one.median:.2f}",
                f"{one.median / small[one.what]:.2f}",
                "" if target is None else f"{1000 * target:.0f}",
            )
        )
    return table(rows)


class _Grown:
    """A ladder that is made to have so many matches."""

    def __init__(self, ladder: Ladder, bots: int) -> None:
        self.ladder = ladder
        self._chance = random.Random(20261130)
        self._strengths = [self._chance.gauss(1500.0, FIELD_SD_ELO) for _ in range(bots)]
        self._made = self._appended = 0
        self._schedule = self._matches()
        self._event = Event(1, '{"kind": "round-robin", "cycles": 1}', bytes(32), entropy=b"")
        for number in range(1, bots + 1):
            name = f"bot-{number:03}"
            ladder.store.add_bot(
                name=name, owner=name, version="1", digest=f"{number:064x}", rated=True
            )
        ladder.store.begin_event(self._event)
        ladder.store.finish_event(self._event, secret=bytes(32))
        self._next = Event(2, '{"kind": "adaptive", "matches": 1000000}', bytes(32), entropy=b"")
        ladder.store.begin_event(self._next)

    def to(self, matches: int) -> None:
        """Insert what is missing, in large transactions."""
        database = Database(address_of(self.ladder.folder))
        try:
            while self._made < matches:
                chunk = list(islice(self._schedule, min(CHUNK_MATCHES, matches - self._made)))
                with database.writing() as connection:
                    self._insert(connection, chunk)
                self._made += len(chunk)
        finally:
            database.close()

    def append(self) -> float:
        """Play one more match as an event does; the seconds that its result took."""
        store = self.ladder.store
        self._appended += 1
        number, entrants = FIRST_APPENDED + self._appended, next(self._schedule).entrants
        match = Match(f"ev1/r{number}/appended", number, 1, entrants)
        store.add_cycle(self._event, number, [match])
        boards = self._boards(match)
        attempt = Attempt(match.id, 1, None, "", f"{match.id}.json.gz", "00" * 32)
        return _timed(
            lambda: store.play(match, attempt, boards, forfeits=(0, 0), cpu_seconds=(2.0, 2.0))
        )

    def pairing(self) -> float:
        """The seconds that each pairing of the next batch takes: to read what is known, to fit, and
        to choose, over the number of matches chosen.
        """
        schedule = Adaptive(matches=1_000_000)
        chosen = 0

        def pair() -> None:
            nonlocal chosen
            state = known(
                self.ladder.store,
                self._next,
                schedule,
                settings=self.ladder.settings,
                mixed=bytes(32),
            )
            chosen = sum(len(round_.meetings) for round_ in schedule.next_rounds(state))

        return _timed(pair) / chosen

    def _matches(self) -> Iterator[Match]:
        """Pairs in turn, in rounds in which nobody plays twice."""
        bots = len(self._strengths)
        number = 0
        while True:
            number += 1
            playing = self._chance.sample(range(1, bots + 1), min(2 * ROUND_MATCHES, bots))
            for place, pair in enumerate(zip(playing[::2], playing[1::2], strict=False), start=1):
                yield Match(f"ev1/r{number}/{pair[0]}~{pair[1]}", number, place, pair)

    def _boards(self, match: Match) -> Boards:
        first, second = (self._strengths[bot - 1] for bot in match.entrants)
        ahead = expected_score(first, second)
        boards = []
        for _ in range(BOARDS):
            if self._chance.random() < 0.7:
                boards.append((1, 1))
            else:
                boards.append((2, 0) if self._chance.random() < ahead else (0, 2))
        return tuple(boards)

    def _insert(self, connection: sa.Connection, chunk: list[Match]) -> None:
        rounds = sorted({match.round for match in chunk})
        known = set(
            connection.execute(
                sa.select(t.rounds.c.number).where(t.rounds.c.number >= rounds[0])
            ).scalars()
        )
        if cycles := [number for number in rounds if number not in known]:
            connection.execute(sa.insert(t.cycles), [{"number": n, "event": 1} for n in cycles])
            connection.execute(
                sa.insert(t.rounds),
                [{"number": n, "cycle": n, "is_closed": True} for n in cycles],
            )
            connection.execute(sa.insert(t.ratings), [*self._ratings(cycles)])
        results = [
            Result(match.id, match.round, match.entrants, self._boards(match)) for match in chunk
        ]
        connection.execute(
            sa.insert(t.matches),
            [
                {"id": m.id, "round": m.round, "place": m.place, "state": State.PLAYED.value}
                for m in chunk
            ],
        )
        connection.execute(
            sa.insert(t.entrants),
            [
                {"match": m.id, "place": k, "bot": bot, "forfeits": 0, "cpu_milliseconds": 2000}
                for m in chunk
                for k, bot in enumerate(m.entrants, start=1)
            ],
        )
        connection.execute(
            sa.insert(t.attempts),
            [
                {
                    "match": m.id,
                    "number": 1,
                    "cause": "",
                    "record": f"{m.id}.json.gz",
                    "record_digest": "00" * 32,
                }
                for m in chunk
            ],
        )
        connection.execute(
            sa.insert(t.results),
            [{"match": r.match, "boards": str([list(b) for b in r.boards])} for r in results],
        )
        connection.execute(
            sa.insert(t.pairs),
            [
                {
                    "round": m.round,
                    "place": m.place,
                    "first": p.first,
                    "second": p.second,
                    "won": p.won,
                    "drawn": p.drawn,
                    "lost": p.lost,
                    "difference": p.difference,
                }
                for m, r in zip(chunk, results, strict=True)
                for p in r.pairs()
            ],
        )

    def _ratings(self, rounds: list[int]) -> Iterator[dict[str, int | float]]:
        for number in rounds:
            for bot in self._chance.sample(range(1, len(self._strengths) + 1), 2):
                rating = EloRating(self._strengths[bot - 1], number)
                yield {"round": number, "bot": bot, "elo": rating.rating, "matches": number}


@contextmanager
def _made(folder: Path, bots: int) -> Iterator[_Grown]:
    with Ladder.init(folder, Settings.of("grown", length=BOARDS)) as ladder:
        yield _Grown(ladder, bots)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
