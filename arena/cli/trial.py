"""An experiment on one's own machine: from what was asked to an answer."""

import functools
import hashlib
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import trio

from arena.cli import show
from arena.cli.confining import confining, for_builds
from arena.cli.errors import Misuse
from arena.cli.interrupts import heeding_signals
from arena.cli.listening import is_remote
from arena.cli.local import LONGEST_FILE_NAME_BYTES
from arena.cli.operating import Operating, operated
from arena.cli.places import environments, named_bot, running_folder
from arena.cli.series import SeriesReport, SeriesWatch
from arena.ladder.bots.entrants import Entrant, program_digest
from arena.ladder.matches.boards import joined_names
from arena.ladder.matches.experiment import (
    Design,
    End,
    Experiment,
    opened,
    play,
    tested_before,
)
from arena.ladder.matches.runner import open_runner
from arena.ladder.processes.cores import usable_cores
from arena.ladder.processes.sandbox import Sandbox
from arena.ladder.ratings.sprt import Model
from arena.referee.meter import Meter
from arena.wording import printable
from hokm.deck import secret_from_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena sprt`` or ``arena duel``; None leaves a thing to its default."""

    bots: tuple[str, str]
    design: Design
    seed: str | None
    out: Path | None
    concurrency: int | None
    hello_seconds: float
    operating: Operating
    is_confined: bool = False
    wheels: Path | None = None


def experiment(ask: Ask, *, as_json: bool) -> bool:
    """Play the experiment, or the rest of it, and print what it came to; whether it is done."""
    report = played(ask)
    if as_json:
        show.print_json(report.json())
    else:
        report.print(show.results())
    return report.is_done


def played(ask: Ask) -> SeriesReport:
    """Play the experiment, or the rest of it; what it came to."""
    first, second = map(_entrant, ask.bots)
    if len(joined_names((first.name, second.name)).encode()) > LONGEST_FILE_NAME_BYTES:
        raise Misuse(
            "these bots' names together are too long for the folder of their logs: it takes "
            f"{LONGEST_FILE_NAME_BYTES} bytes of UTF-8; shorten a name in its bot.toml"
        )
    made = environments(ask.wheels, confine=for_builds(ask.is_confined))
    first, second = made.prepared(first), made.prepared(second)
    folder = ask.out or default_folder(ask.design, (first, second))
    secret = None if ask.seed is None else secret_from_text(ask.seed)
    began = time.monotonic()
    with (
        confining(ask.is_confined) as sandbox,
        opened(folder, ask.design, bots=(first, second), secret=secret) as found,
        SeriesWatch(found, show.errors()) as watch,
        operated(ask.operating, say=watch.say) as meter,
    ):
        if program_digest(first) == program_digest(second):
            watch.say("both are the same program: what they differ by is chance")
        if ask.out is None and not found.is_resumed:
            for earlier in tested_before(folder.parent, (first, second), but=folder):
                watch.say(printable(str(earlier)))
        watch.say(_greeting(found))
        was_over = found.end is not None
        if not was_over:
            trio.run(
                functools.partial(_play, found, ask=ask, watch=watch, meter=meter, sandbox=sandbox)
            )
        else:
            found.reveal()  # where the run that ended it was killed before it had
    return SeriesReport(found, seconds=None if was_over else time.monotonic() - began)


def default_folder(design: Design, bots: tuple[Entrant, Entrant]) -> Path:
    """Where an experiment goes that nobody has named a folder for: in the working directory, by the
    bots, their very files and the bounds of a test, so that a changed bot or another question
    begins another one.
    """
    test, asked = design.test, ""
    if test is not None:
        scale = "nelo" if test.model is Model.NORMALIZED else "elo"
        asked = f"{scale}{test.elo0:g}to{test.elo1:g}-"
    kind = "duel" if test is None else "sprt"
    digest = hashlib.sha256("~".join(bot.digest for bot in bots).encode()).hexdigest()
    name = f"{kind}-{bots[0].name}-{bots[1].name}-{asked}{digest[:8]}"
    is_short = len(name.encode()) <= LONGEST_FILE_NAME_BYTES
    return Path(name if is_short else f"{kind}-{asked}{digest[:16]}")


async def _play(
    found: Experiment, *, ask: Ask, watch: SeriesWatch, meter: Meter, sandbox: Sandbox | None
) -> End:
    rooms = ask.concurrency or usable_cores()
    async with (
        open_runner(
            concurrency=rooms,
            python=sys.executable,
            running=running_folder(otherwise=found.folder),
            logs=found.logs_folder,
            hello_seconds=ask.hello_seconds,
            meter=meter,
            sandbox=sandbox,
        ) as runner,
        heeding_signals(runner, tell=watch.say, drain_seconds=ask.operating.drain_seconds),
    ):
        # One more than there is room for, so that no core waits for the end of a batch.
        at_once = rooms // len(found.plan(1).rooms) + 1
        return await play(found, runner, watcher=watch, tell=watch.tell, at_once=at_once)


def _entrant(text: str) -> Entrant:
    if is_remote(text):
        raise Misuse(f"{text}: a remote bot may be another one tomorrow; name a bot's folder")
    return named_bot(text)


def _greeting(found: Experiment) -> str:
    deals = f"deals bound by the commitment {found.secret.commitment.hex()}"
    if not found.is_resumed:
        return f"experiment in {found.folder}: {_expectation(found.design)}{deals}"
    unit, count = found.design.unit, sum(len(batch.differences) for batch in found.counted)
    state = "is over" if found.end is not None else "goes on"
    return f"experiment in {found.folder}: {state} after {count} {unit}s; {deals}"


def _expectation(design: Design) -> str:
    test = design.test
    if test is None or test.model is not Model.NORMALIZED:
        return ""
    middle = (test.elo0 + test.elo1) / 2
    at_bound = max(test.expected_total(gap) for gap in (test.elo0, test.elo1))
    return (
        f"at least some {round(at_bound, -1):,.0f} {design.unit}s are to be expected if the gap is "
        f"either bound, {round(test.expected_total(middle), -1):,.0f} between them; "
    )
