"""What ``arena sprt`` and ``arena duel`` say of an experiment: figures, lines, and progress."""

from collections import Counter

from rich.console import Console

from arena.cli.report import SCALES, shown_elo
from arena.cli.show import named_columns, print_line
from arena.cli.watch import Watch
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.experiment import BatchVoided, Design, End, Experiment, Looked, Notice
from arena.ladder.ratings.sprt import Conclusion, Model, Sprt
from arena.ladder.ratings.statistics import (
    HeadToHead,
    ScoreStatistics,
    head_to_head,
    score_statistics,
)
from arena.wording import counted, kept_apart, percent, plain, signed, told_apart, with_error
from hokm.outcome import Ending
from hokm.records import Format, GameRecord

_MODELS = {Model.NORMALIZED: "nElo", Model.LOGISTIC: "Elo"}


def scale_of(design: Design) -> str:
    """What nElo, LOS and LLR are computed from; Elo is that of :data:`arena.cli.report.SCALES`."""
    if design.format is Format.CLASSIC:
        return SCALES[design.format]
    return f"board-{design.classes.value}"


class SeriesReport:
    """An experiment as far as it has been looked at. ``seconds`` is what this run of it
    took, None where all had been played before.
    """

    def __init__(self, experiment: Experiment, *, seconds: float | None) -> None:
        self.experiment = experiment
        self.seconds = seconds
        self.labels = told_apart([(bot.label, bot.version) for bot in experiment.bots])
        differences = experiment.differences
        self.series: HeadToHead = head_to_head(differences)
        self.outcomes = experiment.outcomes
        self.tested: ScoreStatistics = score_statistics(self.outcomes)
        self.by_difference = sorted(Counter(differences).items())
        self.endings: Counter[Ending] = Counter()
        self.faults: Counter[int] = Counter()
        for batch in experiment.counted:
            self.endings.update(batch.endings)
            self.faults.update(dict(enumerate(batch.faults)))

    @property
    def is_boards(self) -> bool:
        """Whether a difference is points, or races won."""
        return self.experiment.design.format is Format.BOARDS

    @property
    def is_done(self) -> bool:
        """Whether the experiment came to its end."""
        return self.experiment.end is not None and self.experiment.end.is_done

    def json(self) -> dict[str, object]:
        """The report as JSON has it; null is undefined, infinite or not known yet."""
        experiment, design = self.experiment, self.experiment.design
        end, series, tested = experiment.end, self.series, self.tested
        is_done = end is not None and end.is_done
        scale = scale_of(design)
        return {
            "experiment": experiment.name,
            **design.document(),
            "test": self._test(),
            "entrants": [
                {
                    "name": bot.name,
                    "owner": bot.owner,
                    "version": bot.version,
                    "digest": bot.digest,
                    "revision": None if bot.revision is None else bot.revision.json(),
                    "faults": self.faults[place],
                }
                for place, bot in enumerate(experiment.bots)
            ],
            "complete": is_done,
            "end": None if end is None else end.name,
            "because": experiment.because or None,
            "counted": series.boards,
            "batches_counted": len(experiment.counted),
            "batches_surplus": experiment.surplus,
            "score": {"wins": series.won, "draws": series.drawn, "losses": series.lost},
            "differences": {str(difference): count for difference, count in self.by_difference},
            "outcomes": list(self.outcomes.counts),
            "points_per_board": series.points_per_board if self.is_boards else None,
            "points_error": series.points_error if self.is_boards else None,
            "elo": {
                "value": _unsigned_zero(series.by_sign.elo),
                "error": series.by_sign.elo_error,
                "scale": SCALES[design.format],
            },
            "nelo": {"value": tested.nelo, "error": tested.nelo_error, "scale": scale},
            "los": tested.los,
            "scale": scale,
            "is_elo_biased": design.test is not None,
            "endings": {each.value: self.endings[each] for each in Ending if each in self.endings},
            "seconds": self.seconds,
            "seed": experiment.secret.secret.hex() if is_done else None,
            "commitment": experiment.secret.commitment.hex(),
            "folder": str(experiment.folder),
        }

    def _test(self) -> dict[str, object] | None:
        test, look = self.experiment.design.test, self.experiment.look
        if test is None:
            return None
        return {
            "model": test.model.value,
            "elo0": test.elo0,
            "elo1": test.elo1,
            "alpha": test.alpha,
            "beta": test.beta,
            "lower": test.lower,
            "upper": test.upper,
            "llr": None if look is None else look.llr,
            "conclusion": None
            if look is None or look.conclusion is None
            else look.conclusion.value,
            "to_go": None if look is None else look.to_go,
        }

    def progress(self) -> list[str]:
        """The figures as short lines, while it is played."""
        experiment, series, tested = self.experiment, self.series, self.tested
        lines = []
        if (test := experiment.design.test) is not None:
            llr = 0.0 if experiment.look is None else experiment.look.llr
            lines.append(f"LLR {signed(llr, 2)} {_interval(test)}, {self._left()}")
        wdl = f"W-D-L {series.won}-{series.drawn}-{series.lost}"
        lines.append(f"{wdl}, D {self._differences() or 'none yet'}")
        figures = [
            f"Elo {with_error(shown_elo(series), series.by_sign.elo_error, digits=1)}",
            f"nElo {with_error(tested.nelo, tested.nelo_error, digits=1)}",
            f"LOS {percent(tested.los)}",
        ]
        if self.is_boards:
            points = with_error(series.points_per_board, series.points_error, digits=2)
            figures.insert(0, f"points/board {points}")
        return [*lines, ", ".join(figures)]

    def _left(self) -> str:
        unit, look = self.experiment.design.unit, self.experiment.look
        if look is not None and look.conclusion is not None:
            return "decided" if look.conclusion is not Conclusion.CAP else "cap reached"
        if look is None or look.to_go is None:
            return f"{unit}s to go not known"
        return f"about {counted(look.to_go, unit)} to go"

    def _differences(self) -> str:
        """How often each difference occurred, of those that did."""
        return " ".join(f"{signed(each, 0)}:{count}" for each, count in self.by_difference)

    def print(self, console: Console) -> None:
        """All of it, for a person."""
        experiment, design = self.experiment, self.experiment.design
        series, tested = self.series, self.tested
        names = " against ".join(kept_apart(label) for label in self.labels)
        most = "at most " if design.test is not None else ""
        print_line(
            console,
            f"{names}: {design.rules.players} players, {most}{self._counted(design.boards)}, "
            f"{design.batch} a batch",
        )
        print_line(console, self._ending())
        if design.test is not None:
            llr = 0.0 if experiment.look is None else experiment.look.llr
            print_line(
                console, f"LLR {signed(llr, 2)} {_interval(design.test)}, {_plan(design.test)}"
            )
        if series.boards:
            table = named_columns("first", "second")
            points = ["points/board"] if self.is_boards else []
            for heading in ("W-D-L", *points, "Elo", "nElo", "LOS"):
                table.add_column(heading, justify="right", no_wrap=True)
            per_board = with_error(series.points_per_board, series.points_error, digits=2)
            table.add_row(
                *(kept_apart(label) for label in self.labels),
                f"{series.won}-{series.drawn}-{series.lost}",
                *([per_board] if self.is_boards else []),
                with_error(shown_elo(series), series.by_sign.elo_error, digits=1),
                with_error(tested.nelo, tested.nelo_error, digits=1),
                percent(tested.los),
            )
            console.print()
            console.print(table)
            what = "points" if self.is_boards else "races won"
            classes = ", ".join(map(str, self.outcomes.counts))
            print_line(console, f"D (difference in {what}:{design.unit}s)  {self._differences()}")
            print_line(console, f"{design.classes.value}, worst first  [{classes}]")
            figures = "nElo and LOS" if design.test is None else "nElo, LOS and LLR"
            print_line(
                console,
                f"± at 95 %; Elo on the scale {SCALES[design.format]}, {figures} on "
                f"{scale_of(design)}",
            )
            if design.test is not None:
                print_line(
                    console,
                    "a test stops when its sample looks decisive, so that sample's Elo, nElo, LOS "
                    "and points are biased: do not rate with them",
                )
        console.print()
        is_done = experiment.end is not None and experiment.end.is_done
        endings = {each: self.endings[each] for each in Ending if each in self.endings}
        for name, text in (
            ("games", ", ".join(f"{count} {each.value}" for each, count in endings.items())),
            ("faults", self._faults()),
            ("surplus", self._surplus()),
            ("took", "" if self.seconds is None else f"{self.seconds:.1f} s"),
            ("experiment", experiment.name),
            ("seed", experiment.secret.secret.hex() if is_done else ""),
            ("commitment", experiment.secret.commitment.hex()),
            ("folder", str(experiment.folder)),
        ):
            if text:
                print_line(console, f"{name:<10}  {text}")

    def _ending(self) -> str:
        end, test = self.experiment.end, self.experiment.design.test
        after = f"after {self._counted(self.series.boards)}"
        match end:
            case End.H1 | End.H0 if test is not None:
                near, far = (test.elo1, test.elo0) if end is End.H1 else (test.elo0, test.elo1)
                label = kept_apart(self.labels[0])
                what = f"{label} is nearer to {near:g} than to {far:g} {_MODELS[test.model]}"
                return f"{end.value} {after}: {what}"
            case End.VOID:
                because = self.experiment.because
                return f"NOT COMPLETE {after}: {because}; the same command tries it again"
            case End.INTERRUPTED | None:
                return f"INTERRUPTED {after}: the same command goes on"
            case _:
                return f"{end.value}, {after}"

    def _counted(self, number: int) -> str:
        unit = self.experiment.design.unit
        return counted(number, unit) if self.is_boards else f"{counted(number, unit)} of races"

    def _faults(self) -> str:
        faults = [
            f"{kept_apart(label)} {self.faults[place]}"
            for place, label in enumerate(self.labels)
            if self.faults[place]
        ]
        return ", ".join(faults)

    def _surplus(self) -> str:
        surplus = self.experiment.surplus
        if not surplus or not (self.experiment.end and self.experiment.end.is_done):
            return ""
        return f"{counted(surplus, 'batch')} played beyond the one that decided, not counted"


class SeriesWatch(Watch):
    """Watches an experiment: a bar and figures on a terminal, elsewhere a line for each batch."""

    def __init__(self, experiment: Experiment, console: Console) -> None:
        super().__init__(console, unit=f"{experiment.design.unit}s", total=experiment.design.boards)
        self._experiment = experiment
        self._under_way: Counter[str] = Counter()
        """Games that are over, by match, of the batches that do not count yet."""
        self._show()

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        """See :class:`~arena.ladder.matches.room.Watcher`."""
        self._under_way[plan.match] += 1
        games = counted(self._under_way.total(), "game")
        self.progress.update(self.task, description=f"and {games} of the next")

    def tell(self, notice: Notice) -> None:
        """Hear of a look, and of what was void."""
        match notice:
            case BatchVoided(number):
                self._under_way.pop(self._experiment.plan(number).match, None)
                self.say(str(notice))
            case Looked(batch):
                self._under_way.pop(self._experiment.plan(batch.number).match, None)
                report = self._show()
                if not self.console.is_terminal:
                    count = counted(report.series.boards, self._experiment.design.unit)
                    figures = ", ".join(report.progress())
                    self.say(f"batch {batch.number}: {count}, {figures}")

    def _show(self) -> SeriesReport:
        report = SeriesReport(self._experiment, seconds=None)
        self.progress.lines = report.progress()
        self.progress.update(self.task, completed=report.series.boards, description="")
        return report


def _interval(test: Sprt) -> str:
    return f"[{signed(test.lower, 2)}, {signed(test.upper, 2)}]"


def _plan(test: Sprt) -> str:
    return (
        f"{_MODELS[test.model]} [{test.elo0:g}, {test.elo1:g}], "
        f"alpha {plain(test.alpha, 2)}, beta {plain(test.beta, 2)}"
    )


def _unsigned_zero(value: float | None) -> float | None:
    """Zero for minus zero, which is what the formula of Elo makes of an even score."""
    return None if value is None else value + 0.0
