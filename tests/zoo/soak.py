"""The soak: many short matches on one runner, with members of the zoo among good bots, to see that
the arena's memory stays as it is and that nothing is left.

`python -m tests.zoo.soak --matches 1000` prints what it finds; `make soak` is that. What grows with
the number of matches shows as a slope of the process's resident size over the last four fifths of
them. It is looked at in pauses, when no match is under way: what one needs while it is played, up
to megabytes with a bot that floods, is no growth, and would hide one. Before that, garbage is
collected and free memory handed back to the system.
"""

import argparse
import ctypes
import gc
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import linear_regression

import trio

from arena.ladder.matches.boards import MatchPlan, Secret, local_match_id
from arena.ladder.matches.runner import Runner, open_runner
from hokm.actions import plays_of
from hokm.cards import CardSet, cards_in
from hokm.records import verify
from hokm.session import ClockRules
from tests.system.processes import Notes, plan
from tests.zoo.keeper import enter, processes_of
from tests.zoo.members import MEMBERS, Limit, Member
from tests.zoo.page import PAGE, with_soak

HURRIED = ClockRules(move_seconds=0.2, bank_seconds=0.0)
CAP_SECONDS = 0.5
HELLO_SECONDS = 5.0
"""Shorter than usual, since some members let it pass."""
WARM = 0.2
"""The share of the matches that come before what is measured."""
ALLOWED_KIB = 1.0
"""How much the referee may grow a match."""
PAUSE_EVERY = 10
"""So many matches are played, then nothing until all that was under way is over, and a look."""
PAUSE_SECONDS = 0.2
"""For streams and processes that have just ended to be let go of."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large the arena's process was in a pause, after so many matches in all."""

    matches: int
    resident_kib: float
    objects: int
    files: int


@dataclass(frozen=True, slots=True)
class Soak:
    """What a soak has found. ``left`` are processes, notes and children that were there at its
    end; ``endings`` counts those of all games.
    """

    sizes: tuple[Size, ...]
    endings: Counter[str]
    seconds: float
    left: tuple[str, ...]

    @property
    def kib_a_match(self) -> float:
        """How much the resident size grew with each match once it was warm."""
        return self._slope([size.resident_kib for size in self.sizes])

    @property
    def objects_a_match(self) -> float:
        """How many objects that the garbage collector knows each match left."""
        return self._slope([float(size.objects) for size in self.sizes])

    def _slope(self, values: Sequence[float]) -> float:
        first = int(len(values) * WARM)
        matches = [size.matches for size in self.sizes]
        return linear_regression(matches[first:], values[first:]).slope

    def lines(self) -> Iterator[str]:
        """What there is to say of it."""
        last = self.sizes[-1]
        warm = self.sizes[int(len(self.sizes) * WARM)]
        yield f"{last.matches} matches in {self.seconds:.0f} s"
        yield ", ".join(f"{count} {name}" for name, count in self.endings.most_common())
        yield (
            f"resident: {warm.resident_kib:.0f} KiB when warm, {last.resident_kib:.0f} KiB at the "
            f"end, {self.kib_a_match:+.3f} KiB a match"
        )
        yield (
            f"objects: {warm.objects} when warm, {last.objects} at the end, "
            f"{self.objects_a_match:+.2f} a match"
        )
        yield f"open files: {warm.files} when warm, {last.files} at the end"
        yield f"left at the end: {', '.join(self.left) or 'nothing'}"


async def soak(folder: Path, *, matches: int, at_once: int, seed: int, share: float) -> Soak:
    """Play so many matches, ``at_once`` side by side; in ``share`` of them sits a member."""
    chance = random.Random(seed)
    plans = tuple(_plans(folder, chance, matches=matches, share=share))
    sizes: list[Size] = []
    endings: Counter[str] = Counter()
    _fill_caches()
    start = time.monotonic()
    async with open_runner(
        concurrency=2 * at_once,
        python=sys.executable,
        running=folder / "running",
        logs=folder / "logs",
        hello_seconds=HELLO_SECONDS,
    ) as runner:
        for played in range(0, matches, PAUSE_EVERY):
            queue = iter(plans[played : played + PAUSE_EVERY])
            async with trio.open_nursery() as nursery:
                for _ in range(at_once):
                    nursery.start_soon(_play_in_turn, runner, queue, endings)
            await trio.sleep(PAUSE_SECONDS)
            sizes.append(_size(matches=min(played + PAUSE_EVERY, matches)))
            if sizes[-1].matches % 100 == 0:
                print(sizes[-1], flush=True)
    left = [f"process {pid}" for pid in processes_of(folder)]
    left += [f"note {note.name}" for note in (folder / "running").iterdir()]
    left += [f"child {pid}" for pid in _children()]
    return Soak(tuple(sizes), endings, time.monotonic() - start, tuple(left))


def _fill_caches() -> None:
    """The tuples of cards that the rules make once and keep: a bound number, met by and by."""
    for suit in range(4):
        for cards in range(1 << 13):
            plays_of(CardSet(cards << 13 * suit))
            cards_in(CardSet(cards << 13 * suit))


def _plans(
    folder: Path, chance: random.Random, *, matches: int, share: float
) -> Iterator[MatchPlan]:
    """Every member once, while what is measured has not begun, so that the heap has had to hold
    what each of them sends; then by lot.
    """
    for number in range(matches):
        if number < len(MEMBERS) < matches * WARM:
            yield _plan(folder, chance, MEMBERS[number])
        elif chance.random() < share:
            yield _plan(folder, chance, chance.choice(MEMBERS))
        else:
            yield _plan(folder, chance, None)


def _plan(folder: Path, chance: random.Random, member: Member | None) -> MatchPlan:
    good = enter(folder / "good", "witness.py")
    if member is None:
        match = plan(enter(folder / "other", "witness.py"), good, clock=HURRIED)
    else:
        match = plan(
            enter(folder / member.name, "bot.py", member.name),
            good,
            policy=member.policy,
            clock=member.clock if member.limit is Limit.CAP else HURRIED,
            cap_seconds=CAP_SECONDS if member.limit is Limit.CAP else None,
        )
    secret = Secret(chance.randbytes(32))
    names = tuple(entrant.name for entrant in match.entrants)
    return replace(match, match=local_match_id(secret, names), secret=secret)


async def _play_in_turn(runner: Runner, plans: Iterator[MatchPlan], endings: Counter[str]) -> None:
    for match in plans:
        record = await runner.play(match, watcher=Notes())
        assert verify(record) == ()
        outcomes = [game.outcome for room in record.rooms for game in room.games]
        endings.update(outcome.ending.name for outcome in outcomes if outcome)


def _size(*, matches: int) -> Size:
    gc.collect()
    _hand_back()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Size(
        matches=matches,
        resident_kib=pages * os.sysconf("SC_PAGE_SIZE") / 1024,
        objects=len(gc.get_objects()),
        files=len(os.listdir("/proc/self/fd")),
    )


def _hand_back() -> None:
    """Have the C library give what is free to the system. It keeps what a flood once needed, which
    is no leak and would hide one.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)


def _children() -> list[int]:
    lists = Path("/proc/self/task").glob("*/children")
    return [int(pid) for path in lists for pid in path.read_text().split()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo.soak", description=__doc__)
    parser.add_argument("--matches", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--share", type=float, default=0.5, help="of matches with a member")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="write it to docs/zoo.md as well")
    given = parser.parse_args()
    logging.disable()  # members fail by the hundred
    with tempfile.TemporaryDirectory() as folder:
        found = trio.run(
            lambda: soak(
                Path(folder),
                matches=given.matches,
                at_once=given.at_once,
                seed=given.seed,
                share=given.share,
            )
        )
    print("\n".join(found.lines()))
    if given.page:
        PAGE.write_text(
            with_soak(PAGE.read_text(encoding="utf-8"), found.lines()), encoding="utf-8"
        )
    if found.kib_a_match >= ALLOWED_KIB or found.left:
        sys.exit(1)


if __name__ == "__main__":
    main()
