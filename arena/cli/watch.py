"""What is shown while something is played: a line of progress on a terminal, and every fault."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from arena.cli.pasting import pasted
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import INCIDENTS, Trouble
from arena.ladder.matches.tally import Tally
from arena.wording import counted, printable, signed
from hokm.outcome import Ending
from hokm.records import GameRecord

TOLD_IN_FULL = 2
"""A bot that fails in one way fails in it on every board: so many are shown, the rest counted."""

TAIL_LINES = 15


class Bar(Progress):
    """A bar, and below it lines of text, which a narrow terminal folds."""

    lines: Sequence[str] = ()

    def get_renderables(self) -> Iterator[RenderableType]:
        """What is shown."""
        yield from super().get_renderables()
        yield from (Text(line, overflow="fold") for line in self.lines)


class Watch:
    """Prints faults; below them, on a terminal, a bar of what is done of ``total``.

    Attributes:
        troubles: every bot that failed, so far.
        console: where all of it goes.
        progress, task: the bar.
    """

    def __init__(self, console: Console, *, unit: str, total: int) -> None:
        self.troubles: list[Trouble] = []
        self.console = console
        self._told: Counter[tuple[str, str]] = Counter()
        self._untold: Counter[tuple[str, str]] = Counter()
        self._told_in_full: list[Trouble] = []
        self.progress = Bar(
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn(unit),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.progress.add_task("", total=total)

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self.progress.stop()
        for (name, ending), count in self._untold.items():
            more = counted(count, "more fault")
            self.say(f"fault: {name} {ending}: {more} like these")

    def say(self, text: str) -> None:
        """Print a line for a person; where it cannot be, on a full disk say, play goes on."""
        with suppress(OSError):
            self.console.print(text, markup=False, soft_wrap=True)

    def offer_replays(self, record: Path) -> None:
        """Say how to see the games of the faults that were told, and have them happen again, now
        that their record is there.
        """
        file = shlex.quote(str(record))
        faults = {
            (one.room, one.game, int(one.seat)): one for one in self._told_in_full if one.game
        }
        for room, game in sorted({(room, game) for room, game, _ in faults}):
            self.say(f"see it happen: arena replay {file} --room {room} --game {game}")
        for (room, game, seat), fault in sorted(faults.items()):
            if fault.ending is not Ending.HOST_FAULT and not fault.entrant.is_remote:
                where = f"--room {room} --seat {seat} --game {game}"
                if fault.entrant.revision is None:  # else its folder is not here for long
                    where += f" --bot {shlex.quote(str(fault.entrant.folder))}"
                self.say(f"have it happen again: arena repro {file} {where}")

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`."""

    def trouble(self, plan: MatchPlan, trouble: Trouble) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`."""
        self.troubles.append(trouble)
        kind = (trouble.entrant.label, trouble.ending.value)
        if self._told[kind] >= TOLD_IN_FULL and not trouble.loses_rest:
            self._untold[kind] += 1
        else:
            self._told[kind] += 1
            self._told_in_full.append(trouble)
            for line in _lines(plan, trouble):
                self.say(line)


class MatchWatch(Watch):
    """Watches the games of one match, and its score as it grows."""

    def __init__(self, plan: MatchPlan, console: Console) -> None:
        self._tally = Tally(plan)
        super().__init__(console, unit="games", total=self._tally.games)

    def begin_again(self, plan: MatchPlan) -> None:
        """Another attempt at the match begins: nothing of the last one counts."""
        self._tally = Tally(plan)
        self.progress.update(self.task, completed=0, description="")

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`."""
        self._tally.add(room, game)
        self.progress.update(
            self.task, completed=self._tally.games_over, description=_running(self._tally)
        )


def _running(tally: Tally) -> str:
    if tally.boards == 0:
        return ""
    if len(tally.gained) > 2:
        return f"{tally.unit} " + " ".join(f"{sum(gained)}" for gained in tally.gained)
    differences = tally.differences()
    won, lost = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    drawn = tally.boards - won - lost
    each = signed(sum(differences) / tally.boards, 2)
    return f"W-D-L {won}-{drawn}-{lost}, {each} a board"


def _lines(plan: MatchPlan, trouble: Trouble) -> list[str]:
    match = "" if plan.event is None else f"{plan.match}, "
    game = "" if trouble.game is None else f", game {trouble.game}"
    place = f"{match}room {trouble.room}, seat {trouble.seat}{game}"
    if trouble.ending is Ending.HOST_FAULT:
        lines = [f"fault of this machine, not of {trouble.entrant.label} ({place})"]
        return [*lines, f"  {trouble.detail}", f"  {trouble.time_loss}"]
    lines = [
        f"fault: {trouble.entrant.label} {trouble.ending.value} ({place})",
        f"  {printable(trouble.detail)}",
    ]
    if trouble.time_loss is not None:
        lines.append(f"  {trouble.time_loss}")
    if trouble.hand is not None:
        lines += pasted(plan.rules, trouble.hand)
    if trouble.loses_rest:
        lines.append(
            f"  incident {INCIDENTS} of its side in this match: it is not started again, and the "
            "games that need it are lost"
        )
    if trouble.tail.strip():
        lines += [f"  | {line}" for line in trouble.tail.rstrip().splitlines()[-TAIL_LINES:]]
        lines.append(f"  its log: {trouble.log}")
    elif not trouble.entrant.is_remote:
        lines.append("  it printed nothing")
    if trouble.by_hand:
        lines.append(f"  run it by hand: {trouble.by_hand}")
    return lines
