"""An event of a ladder: the runner, the watch and the signals that it is played with."""

import functools
import sys

import trio
from rich.console import Console

from arena.cli import show
from arena.cli.confining import confining
from arena.cli.interrupts import heeding_signals
from arena.cli.operating import Operating, operated
from arena.cli.places import running_folder
from arena.cli.watch import Watch
from arena.ladder.events.playing import (
    BotDeactivated,
    EventBegan,
    EventEnded,
    MatchPlayed,
    MatchVoided,
    NothingRated,
    Notice,
    RoundClosed,
    StageBegan,
    play_event,
)
from arena.ladder.facts import Event
from arena.ladder.ladder import Ladder
from arena.ladder.matches.runner import open_runner
from arena.ladder.processes.cores import usable_cores
from arena.ladder.processes.sandbox import Sandbox
from arena.ladder.schedules import AnySchedule
from arena.referee.meter import Meter
from arena.wording import counted


def play(
    ladder: Ladder,
    *,
    schedule: AnySchedule,
    beacon_value: str | None,
    concurrency: int | None,
    hello_seconds: float,
    operating: Operating,
    is_confined: bool = False,
) -> Event:
    """Play an event, or what is left of one; it is not over if it was stopped."""
    ladder.prepare()  # now, while Ctrl-C still ends it at once
    with (
        LadderWatch(show.errors(), left=len(ladder.store.scheduled())) as watch,
        operated(operating, say=watch.say) as meter,
        confining(is_confined, is_ladder=True, unseen=[ladder.folder]) as sandbox,
    ):
        event = trio.run(
            functools.partial(
                _play,
                ladder,
                schedule=schedule,
                beacon_value=beacon_value,
                rooms=concurrency or usable_cores(),
                hello_seconds=hello_seconds,
                meter=meter,
                drain_seconds=operating.drain_seconds,
                watch=watch,
                sandbox=sandbox,
            )
        )
        if not event.is_over:
            watch.say(f"{event.name} is not over: the same command goes on with it")
    return event


class LadderWatch(Watch):
    """Watches the matches of an event; ``left`` of an earlier run are to be played first."""

    def __init__(self, console: Console, *, left: int) -> None:
        super().__init__(console, unit="matches", total=left)
        self._total = left

    def tell(self, notice: Notice) -> None:
        """Hear what was decided. Off a terminal only rounds are said, what somebody must do
        something about, and the commitment and the secret.
        """
        match notice:
            case EventBegan() | EventEnded() | MatchVoided() | BotDeactivated() | NothingRated():
                self.say(str(notice))
            case StageBegan():
                self._total += notice.matches
                self.progress.update(self.task, total=self._total)
            case RoundClosed():
                # Off a terminal that is all that shows a long run to go on.
                done = self.progress.tasks[self.task].completed
                self.say(f"{notice}: {done:g} of {counted(self._total, 'match')} done")
            case MatchPlayed() if self.console.is_terminal:
                self.say(str(notice))
            case _:
                pass
        if isinstance(notice, MatchPlayed) or (
            isinstance(notice, MatchVoided) and not notice.is_tried_again
        ):
            self.progress.advance(self.task)


async def _play(
    ladder: Ladder,
    *,
    schedule: AnySchedule,
    beacon_value: str | None,
    rooms: int,
    hello_seconds: float,
    meter: Meter,
    drain_seconds: float,
    watch: LadderWatch,
    sandbox: Sandbox | None,
) -> Event:
    logs = ladder.folder / "logs"
    async with (
        open_runner(
            concurrency=rooms,
            python=sys.executable,
            running=running_folder(otherwise=ladder.folder),
            logs=logs,
            hello_seconds=hello_seconds,
            meter=meter,
            sandbox=sandbox,
        ) as runner,
        heeding_signals(runner, tell=watch.say, drain_seconds=drain_seconds),
    ):
        return await play_event(
            ladder,
            runner,
            schedule=schedule,
            beacon_value=beacon_value,
            tell=watch.tell,
            watcher=watch,
            at_once=rooms,
        )
