"""A tuning in its folder: trial after trial, kept so that it goes on after a kill.

    tuning.json   what is tuned and how, and every trial that was played, board by board
    secret        where its deals come from; open to the owner alone
    bots/         the bot and its opponent as they were when it began, by digest
    logs/         what bots wrote in trials in which something went wrong
    best/         the bot with what was found, once it is done
    confirm/      an experiment: the bot in best/ against the bot as it was
    tuning.svg    a picture of the way
    lock          held by whoever plays

Where the climb stands follows from the differences of the trials alone, so they are all that is
kept. Within a trial both settings play the same deals, as duplicate boards; each trial has deals of
its own, or the values would be fitted to a few of them. What a setting is, is known to
`arena.tuning.climb`; who plays, to `arena.ladder.matches.runner`. Nothing here moves a rating.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import floor, log10
from pathlib import Path
from shutil import rmtree
from typing import Final

import trio

from arena.ladder.bots.entrants import Entrant, Parameter
from arena.ladder.bots.frozen import freeze, thaw
from arena.ladder.errors import LadderError
from arena.ladder.files import held, read_document, unwritable, write_whole
from arena.ladder.matches.boards import MatchPlan, Secret
from arena.ladder.matches.experiment import Design, Runner, batch_plan, experiment_name
from arena.ladder.matches.room import Watcher
from arena.ladder.matches.verdict import ATTEMPTS, Voided, forfeits, verdict
from arena.tuning.climb import Climb, Found, Pair, Values
from hokm.deck import mix
from hokm.outcome import Ending

SCHEMA: Final = 1
STUDY_FILE: Final = "tuning.json"
SECRET_FILE: Final = "secret"
BEST_FOLDER: Final = "best"
CONFIRM_FOLDER: Final = "confirm"
PICTURE_FILE: Final = "tuning.svg"

_DIGITS: Final = 3
"""Of a value that was found, as a part of its range: what comes after is noise."""

_PART_BOARDS: Final = 16
"""Boards of a trial that one match plays: on many cores the parts are played at once."""

_RESTORE: Final = "restore it from a backup, or begin another with --out"
_LARGEST_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is tuned: those `parameters` of `bot`, in so many `trials`, each with as many boards as
    the design has. Without an `opponent` the two settings of a trial meet each other.
    """

    bot: Entrant
    opponent: Entrant | None
    parameters: tuple[Parameter, ...]
    design: Design
    trials: int

    def document(self) -> dict[str, object]:
        """All of it, as it is written down and compared."""
        design = self.design.document()
        left_out = ("kind", "batch", "classes", "test")
        return {
            "schema": SCHEMA,
            "trials": self.trials,
            **{key: value for key, value in design.items() if key not in left_out},
            "bot": _identity(self.bot),
            "opponent": None if self.opponent is None else _identity(self.opponent),
            "parameters": [
                {
                    "name": one.name,
                    "default": one.default,
                    "low": one.low,
                    "high": one.high,
                    "integer": one.is_integer,
                }
                for one in self.parameters
            ],
        }


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial that was played: what `up` had more than `down` on each of its boards."""

    pair: Pair
    differences: tuple[int, ...]

    @property
    def points(self) -> float:
        """The same a board, in the mean."""
        return sum(self.differences) / len(self.differences)


class Study:
    """A tuning in its folder, held by this process; made by :func:`opened`.

    Attributes:
        question: what is tuned, with the bots as they play: the copies in its folder.
        secret: where its deals come from.
        climb: where it stands.
        trials: those that were played.
    """

    def __init__(self, folder: Path, question: Question, *, secret: Secret) -> None:
        self.folder = folder
        self.question = question
        self.secret = secret
        self.climb = Climb(
            question.parameters,
            trials=question.trials,
            boards=question.design.boards,
            mixed=mix(secret.secret, secret.entropy),
        )
        self.trials: list[Trial] = []
        self.is_resumed = False

    @property
    def is_done(self) -> bool:
        """Whether all trials are played."""
        return len(self.trials) == self.question.trials

    @property
    def logs_folder(self) -> Path:
        """What the bots write goes here."""
        return self.folder / "logs"

    @property
    def best(self) -> dict[str, float]:
        """The values found so far, by name, with no more digits than can mean anything."""
        return {found.parameter.name: _rounded(found) for found in self.climb.found}

    def with_values(self, values: Values) -> Entrant:
        """The bot with those values of what is tuned, and its own of the rest."""
        bot = self.question.bot
        named = dict(zip((one.name for one in self.question.parameters), values, strict=True))
        return replace(
            bot,
            parameters=tuple(
                replace(one, default=named.get(one.name, one.default)) for one in bot.parameters
            ),
        )

    def plans(self, pair: Pair, bots: tuple[Entrant, Entrant]) -> list[MatchPlan]:
        """The matches of a trial between two bots: the same deals whoever they are."""
        event, boards = experiment_name(self.secret), self.question.design.boards
        whole = batch_plan(self.question.design, bots, secret=self.secret)
        _, _, names = whole.match.rpartition("/")
        return [
            replace(
                whole,
                match=f"{event}/t{pair.number}.{part}/{names}",
                length=min(_PART_BOARDS, boards - first),
            )
            for part, first in enumerate(range(0, boards, _PART_BOARDS), start=1)
        ]

    def take(self, differences: Sequence[int]) -> Trial:
        """Take in the next trial, and write it down, which is what makes it count."""
        pair = self.climb.next()
        assert pair is not None
        trial = self._taken(pair, differences)
        self.save()
        return trial

    def _taken(self, pair: Pair, differences: Sequence[int]) -> Trial:
        trial = Trial(pair, tuple(differences))
        self.climb.take(trial.points)
        self.trials.append(trial)
        return trial

    def save(self) -> None:
        """Write down what is tuned, and every trial. Raises LadderError."""
        document = {
            **self.question.document(),
            "commitment": self.secret.commitment.hex(),
            "played": [
                {
                    "trial": trial.pair.number,
                    "up": list(trial.pair.up),
                    "down": list(trial.pair.down),
                    "differences": list(trial.differences),
                }
                for trial in self.trials
            ],
        }
        file = self.folder / STUDY_FILE
        try:
            text = json.dumps(document, ensure_ascii=False)
            write_whole(file, f"{text}\n".encode(), mode=0o644)
        except OSError as error:
            raise unwritable(error, file) from error

    def load(self, played: object) -> None:
        """Take in what was played before. Raises LadderError where it is not as it was left."""
        for entry in played if isinstance(played, list) else ():
            pair = self.climb.next()
            boards = self.question.design.boards
            match entry:
                case {"up": up, "down": down, "differences": [*differences]} if (
                    pair is not None
                    and (list(pair.up), list(pair.down)) == (up, down)
                    and len(differences) == boards
                    and all(type(one) is int and abs(one) <= 200 for one in differences)
                ):
                    self._taken(pair, differences)
                case _:
                    problem = f"is damaged from trial {len(self.trials) + 1} on"
                    raise LadderError(self.folder / STUDY_FILE, problem, remedy=_RESTORE)


@contextmanager
def opened(
    folder: Path, question: Question, *, secret: bytes, is_new_seed: bool
) -> Iterator[Study]:
    """The tuning in a folder, begun if there is none yet, held while this is open.

    One that is begun has its deals from `secret`; `is_new_seed` says that nobody asked for it, so
    that another one may be there. Raises PlanError where these bots cannot play it, LadderError
    where the folder holds something else.
    """
    for other in filter(None, (question.bot, question.opponent)):
        batch_plan(question.design, (question.bot, other), secret=Secret(bytes(32)))
    with held(folder, kind="tuning", begun=STUDY_FILE, ours={SECRET_FILE, "bots", "logs"}):
        file = folder / STUDY_FILE
        kept = _document(file) if file.exists() else None
        if kept is None:
            found = Secret(secret)
            _write_secret(folder / SECRET_FILE, secret)
        else:
            _refuse_another(folder, question, kept)
            found = _secret(folder / SECRET_FILE, commitment=str(kept.get("commitment")))
            if not is_new_seed and found.secret != secret:
                remedy = "leave --seed out to go on with it, or give another folder with --out"
                raise LadderError(folder, "is a tuning with another seed", remedy=remedy)
        bots = folder / "bots"
        study = Study(
            folder,
            replace(
                question,
                bot=_frozen(question.bot, bots),
                opponent=None if question.opponent is None else _frozen(question.opponent, bots),
            ),
            secret=found,
        )
        if kept is None:
            study.save()
        else:
            study.is_resumed = True
            study.load(kept.get("played"))
        yield study


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why no more is played though trials are left; empty where somebody stopped it."""

    because: str


async def play(
    study: Study, runner: Runner, *, watcher: Watcher, tell: Callable[[Trial], None]
) -> Stopped | None:
    """Play the trials that are left; why not all of them, if so. `tell` hears of each."""
    while (pair := study.climb.next()) is not None:
        up, down = study.with_values(pair.up), study.with_values(pair.down)
        opponent = study.question.opponent
        if opponent is None:
            differences = await _played(study, runner, study.plans(pair, (up, down)), watcher)
        else:
            differences = await _played(study, runner, study.plans(pair, (up, opponent)), watcher)
            if not isinstance(differences, Stopped):
                other = await _played(study, runner, study.plans(pair, (down, opponent)), watcher)
                differences = (
                    other
                    if isinstance(other, Stopped)
                    else [one - two for one, two in zip(differences, other, strict=True)]
                )
        if isinstance(differences, Stopped):
            return differences
        tell(study.take(differences))
    return None


async def _played(
    study: Study, runner: Runner, plans: Sequence[MatchPlan], watcher: Watcher
) -> list[int] | Stopped:
    """What the first of two bots had more on each board of all these matches."""
    found: dict[int, list[int] | Stopped] = {}

    async def part(number: int, plan: MatchPlan) -> None:
        found[number] = await _match(study, runner, plan, watcher)

    async with trio.open_nursery() as nursery:
        for number, plan in enumerate(plans):
            nursery.start_soon(part, number, plan)
    differences: list[int] = []
    for number in sorted(found):
        one = found[number]
        if isinstance(one, Stopped):
            return one
        differences += one
    return differences


async def _match(
    study: Study, runner: Runner, plan: MatchPlan, watcher: Watcher
) -> list[int] | Stopped:
    for attempt in range(1, ATTEMPTS + 1):
        plan = replace(plan, attempt=attempt)
        record = await runner.play(plan, watcher=watcher)
        counted = verdict(record)
        if not isinstance(counted, Voided):
            if not any(forfeits(record)):
                rmtree(study.logs_folder / plan.folder, ignore_errors=True)
            return [ours - theirs for ours, theirs in counted]
        if counted.ending is Ending.STOPPED:
            return Stopped("")
    return Stopped(f"{plan.match}: {counted}")


def _rounded(found: Found) -> float:
    one = found.parameter
    return one.near(round(found.value, _DIGITS - floor(log10(one.high - one.low))))


# -- the folder


def _identity(bot: Entrant) -> dict[str, object]:
    return {"name": bot.name, "owner": bot.owner, "version": bot.version, "digest": bot.digest}


def _frozen(bot: Entrant, bots: Path) -> Entrant:
    freeze(bot, bots=bots)
    kept = thaw(bot.digest, bots=bots)
    return replace(kept, environment=bot.environment, revision=bot.revision)


def _document(file: Path) -> Mapping[str, object]:
    return read_document(file, largest_bytes=_LARGEST_BYTES, holds="tuning", remedy=_RESTORE)


def _refuse_another(folder: Path, question: Question, kept: Mapping[str, object]) -> None:
    for key, now in question.document().items():
        then = kept.get(key)
        if then == json.loads(json.dumps(now)):
            continue
        what = f"{key} is {json.dumps(then, ensure_ascii=False)} there, and now {json.dumps(now)}"
        if key in ("bot", "opponent"):
            what = f"the {key} was another one, or had other files"
        elif key == "parameters":
            what = "other parameters, or others of their bounds, are tuned there"
        remedy = "give the same settings to go on with it, or another folder with --out"
        raise LadderError(folder, f"is another tuning: {what}", remedy=remedy)


def _write_secret(file: Path, secret: bytes) -> None:
    try:
        write_whole(file, f"{secret.hex()}\n".encode(), mode=0o600)
    except OSError as error:
        raise unwritable(error, file) from error


def _secret(file: Path, *, commitment: str) -> Secret:
    try:
        found = Secret(bytes.fromhex(file.read_text()))
        is_it = found.commitment.hex() == commitment
    except (OSError, ValueError) as error:
        raise LadderError(file, "cannot be read", remedy=_RESTORE) from error
    if not is_it:
        problem = "is not the secret that the tuning was begun with"
        raise LadderError(file, problem, remedy=_RESTORE)
    return found
