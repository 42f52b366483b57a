"""``arena tune`` on one's own machine: from what was asked to better values, and a match that says
whether they are.
"""

import difflib
import functools
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import trio
from rich.console import Console

from arena.cli import show, trial
from arena.cli.confining import confining, for_builds
from arena.cli.errors import Misuse
from arena.cli.interrupts import heeding_signals
from arena.cli.local import LONGEST_FILE_NAME_BYTES
from arena.cli.operating import Operating, operated
from arena.cli.places import environments, named_bot, running_folder
from arena.cli.series import SeriesReport
from arena.cli.watch import Watch
from arena.ladder.bots.entrants import Entrant, Parameter
from arena.ladder.matches.experiment import Design as Design
from arena.ladder.matches.runner import open_runner
from arena.ladder.processes.cores import usable_cores
from arena.ladder.processes.sandbox import Sandbox
from arena.ladder.ratings.statistics import head_to_head
from arena.referee.meter import Meter
from arena.tuning.climb import Values
from arena.tuning.study import (
    BEST_FOLDER,
    CONFIRM_FOLDER,
    PICTURE_FILE,
    Question,
    Stopped,
    Study,
    Trial,
    opened,
    play,
)
from arena.tuning.variant import parameter_line, write_variant
from arena.wording import counted, kept_apart, printable, with_error
from hokm.deck import SEED_BYTES, secret_from_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena tune``; None leaves a thing to its default, or out."""

    bot: str
    opponent: str | None
    only: tuple[str, ...]
    trials: int
    design: Design
    confirm: Design | None
    seed: str | None
    out: Path | None
    concurrency: int | None
    hello_seconds: float
    operating: Operating
    is_confined: bool = False
    wheels: Path | None = None


def tune(ask: Ask, *, as_json: bool) -> bool:
    """Play the tuning, or the rest of it, and print what it came to; whether it is done."""
    bot = named_bot(ask.bot)
    parameters = _chosen(bot, ask.only)
    opponent = None if ask.opponent is None else named_bot(ask.opponent)
    made = environments(ask.wheels, confine=for_builds(ask.is_confined))
    question = Question(
        bot=made.prepared(bot),
        opponent=None if opponent is None else made.prepared(opponent),
        parameters=parameters,
        design=ask.design,
        trials=ask.trials,
    )
    folder = ask.out or _default_folder(question)
    secret = os.urandom(SEED_BYTES) if ask.seed is None else secret_from_text(ask.seed)
    with (
        confining(ask.is_confined) as sandbox,
        opened(folder, question, secret=secret, is_new_seed=ask.seed is None) as study,
        _Watch(study, show.errors()) as watch,
        operated(ask.operating, say=watch.say) as meter,
    ):
        watch.say(_greeting(study))
        stopped = trio.run(
            functools.partial(_play, study, ask=ask, watch=watch, meter=meter, sandbox=sandbox)
        )
        picture = _drawn(study, watch)
        if stopped is None:
            best = write_variant(study.question.bot, study.best, into=folder / BEST_FOLDER)
    console = show.results()
    if not as_json:
        _print(study, stopped, console)
    confirmed = None
    if stopped is None and ask.confirm is not None:
        if study.best == {one.name: one.default for one in parameters}:
            watch.say("what was found is what the bot has: there is nothing to confirm")
        else:
            if not as_json:
                console.print()
            confirmed = trial.played(_confirming(ask, ask.confirm, study, best=best.folder))
            if not as_json:
                confirmed.print(console)
    if as_json:
        show.print_json(_json(study, stopped, confirmed, picture=picture))
    elif stopped is None and not any(any(one.differences) for one in study.trials):
        level = "all boards of all trials were level: more of them may show a difference"
        show.print_line(console, level)
    elif stopped is None and (confirmed is None or confirmed.is_done):
        _print_remedy(study, confirmed, console)
    return stopped is None and (confirmed is None or confirmed.is_done)


async def _play(
    study: Study, *, ask: Ask, watch: "_Watch", meter: Meter, sandbox: Sandbox | None
) -> Stopped | None:
    if study.is_done:
        return None
    async with (
        open_runner(
            concurrency=ask.concurrency or usable_cores(),
            python=sys.executable,
            running=running_folder(otherwise=study.folder),
            logs=study.logs_folder,
            hello_seconds=ask.hello_seconds,
            meter=meter,
            sandbox=sandbox,
        ) as runner,
        heeding_signals(runner, tell=watch.say, drain_seconds=ask.operating.drain_seconds),
    ):
        return await play(study, runner, watcher=watch, tell=watch.tell)


def _chosen(bot: Entrant, only: Sequence[str]) -> tuple[Parameter, ...]:
    """The parameters that are to be tuned. Raises Misuse where there are none of that name."""
    if not bot.parameters:
        raise Misuse(
            f"{bot.name} has nothing to tune: write [parameters] into its bot.toml, such as "
            "caution = { default = 0.5, low = 0.0, high = 1.0 }"
        )
    names = [one.name for one in bot.parameters]
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1) or [", ".join(names)]
            raise Misuse(f"--only {name}: {bot.name} has no such parameter; it has {near[0]}")
    return tuple(one for one in bot.parameters if not only or one.name in only)


def _default_folder(question: Question) -> Path:
    """Where a tuning goes that nobody has named a folder for, by the bots' very files and what is
    tuned: a changed bot begins another one.
    """
    bots = [question.bot, *([question.opponent] if question.opponent else [])]
    what = "~".join([*(bot.digest for bot in bots), *(one.name for one in question.parameters)])
    digest = hashlib.sha256(what.encode()).hexdigest()
    name = f"tune-{'-'.join(bot.name for bot in bots)}-{digest[:8]}"
    return Path(name if len(name.encode()) <= LONGEST_FILE_NAME_BYTES else f"tune-{digest[:16]}")


def _confirming(ask: Ask, design: Design, study: Study, *, best: Path) -> trial.Ask:
    """The match of what was found against the bot as it was: other deals than any of a trial."""
    secret = hashlib.sha256(b"confirm" + study.secret.secret).hexdigest()
    return trial.Ask(
        bots=(str(best), str(study.question.bot.folder)),
        design=design,
        seed=secret,
        out=study.folder / CONFIRM_FOLDER,
        concurrency=ask.concurrency,
        hello_seconds=ask.hello_seconds,
        operating=ask.operating,
        is_confined=ask.is_confined,
        wheels=ask.wheels,
    )


# -- what is told


class _Watch(Watch):
    """Watches a tuning: a bar and where it stands; off a terminal a line for each trial."""

    def __init__(self, study: Study, console: Console) -> None:
        super().__init__(console, unit="trials", total=study.question.trials)
        self._study = study
        self._show()

    def tell(self, trial: Trial) -> None:
        """Hear of a trial."""
        self._show()
        if not self.console.is_terminal:
            series = head_to_head(trial.differences)
            points = with_error(series.points_per_board, series.points_error, digits=2)
            names = [one.name for one in self._study.question.parameters]
            up, down = _values(names, trial.pair.up), _values(names, trial.pair.down)
            self.say(f"trial {trial.pair.number}: {up} against {down}: {points}; {self._at()}")

    def _show(self) -> None:
        self.progress.lines = [self._at()]
        self.progress.update(self.task, completed=len(self._study.trials))

    def _at(self) -> str:
        names = [one.name for one in self._study.question.parameters]
        return f"now at {_values(names, self._study.climb.way[-1])}"


def _values(names: Sequence[str], values: Values) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in zip(names, values, strict=True))


def _greeting(study: Study) -> str:
    question = study.question
    deals = f"deals bound by the commitment {study.secret.commitment.hex()}"
    if study.is_resumed:
        state = "all trials are played" if study.is_done else "goes on"
        return f"tuning in {study.folder}: {state} after {len(study.trials)} trials; {deals}"
    against = "each other" if question.opponent is None else question.opponent.label
    return (
        f"tuning in {study.folder}: {counted(len(question.parameters), 'parameter')} of "
        f"{question.bot.label}, {question.trials} trials of "
        f"{counted(question.design.boards, 'board')} against {against}; {deals}"
    )


def _drawn(study: Study, watch: _Watch) -> Path | None:
    """The picture of it; None where what draws it is not installed, which is said."""
    if not study.trials:
        return None
    try:
        from arena.tuning.picture import draw
    except ImportError as error:
        watch.say(f"no picture: it needs {error.name}; pip install 'hokm-arena[graph]'")
        return None
    file = study.folder / PICTURE_FILE
    bot, design = study.question.bot, study.question.design
    title = f"{bot.label}: {len(study.trials)} trials of {counted(design.boards, 'board')}"
    draw(study.climb, study.trials, file=file, title=title)
    return file


def _print(study: Study, stopped: Stopped | None, console: Console) -> None:
    question = study.question
    after = f"{len(study.trials)} of {question.trials} trials"
    if stopped is None:
        state = f"all {question.trials} trials played"
    elif stopped.because:
        state = f"NOT COMPLETE after {after}: {stopped.because}; the same command tries it again"
    else:
        state = f"INTERRUPTED after {after}: the same command goes on"
    show.print_line(console, f"{kept_apart(question.bot.label)}: {state}")
    table = show.named_columns("parameter")
    for heading in ("default", "found", "second half of the way", "range"):
        table.add_column(heading, justify="right", no_wrap=True)
    for found in study.climb.found:
        one = found.parameter
        table.add_row(
            one.name,
            _number(one.default),
            _number(study.best[one.name]),
            f"{_number(found.low)} to {_number(found.high)}",
            f"{_number(one.low)} to {_number(one.high)}",
        )
    console.print()
    console.print(table)
    if stopped is None:
        show.print_line(
            console,
            "a trial is mostly noise: how much better these values are, only fresh deals say",
        )


def _print_remedy(study: Study, confirmed: SeriesReport | None, console: Console) -> None:
    bot = study.question.bot
    console.print()
    show.print_line(console, _advice(kept_apart(bot.name), confirmed))
    show.print_line(console, "")
    show.print_line(console, "[parameters]")
    best = study.best
    for one in bot.parameters:
        show.print_line(console, parameter_line(one, best.get(one.name, one.default)))
    show.print_line(console, "")
    show.print_line(console, printable(f"the bot with them  {study.folder / BEST_FOLDER}"))
    if (picture := study.folder / PICTURE_FILE).exists():
        show.print_line(console, printable(f"picture            {picture}"))


def _advice(name: str, confirmed: SeriesReport | None) -> str:
    """Whether to have these values, as far as fresh deals say."""
    if confirmed is None or confirmed.series.points_per_board is None:
        return f"to have these values, write into the bot.toml of {name}:"
    points, error = confirmed.series.points_per_board, confirmed.series.points_error or 0.0
    if points > error:
        return f"fresh deals say that these values are better; for the bot.toml of {name}:"
    if points < -error:
        return f"fresh deals say that these values are worse: keep what {name} has. They are:"
    return (
        f"fresh deals do not tell these values from those that {name} has: more trials might find "
        "better ones, and more deals tell. They are:"
    )


def _number(value: float) -> str:
    return f"{value:.4g}"


def _json(
    study: Study, stopped: Stopped | None, confirmed: SeriesReport | None, *, picture: Path | None
) -> Mapping[str, object]:
    question = study.question
    document = question.document()
    return {
        **document,
        "kind": "tune",
        "parameters": [
            {
                "name": found.parameter.name,
                "default": found.parameter.default,
                "low": found.parameter.low,
                "high": found.parameter.high,
                "integer": found.parameter.is_integer,
                "found": found.value,
                "way_low": found.low,
                "way_high": found.high,
            }
            for found in study.climb.found
        ],
        "played": [
            {
                "trial": trial.pair.number,
                "up": list(trial.pair.up),
                "down": list(trial.pair.down),
                "points_per_board": trial.points,
            }
            for trial in study.trials
        ],
        "complete": stopped is None,
        "because": None if stopped is None else stopped.because or "interrupted",
        "commitment": study.secret.commitment.hex(),
        "seed": study.secret.secret.hex() if stopped is None else None,
        "folder": str(study.folder),
        "picture": None if picture is None else str(picture),
        "confirmed": None if confirmed is None else confirmed.json(),
    }
