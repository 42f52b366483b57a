"""An experiment: two bots, batch after batch of boards, until a question is answered.

    experiment.json   what is played and asked, fixed when the experiment was made
    secret            where its deals come from; open to the owner alone
    bots/             the two bots as they were then, by digest
    records/          every batch, and every attempt at one that was void
    logs/             what bots wrote in batches in which something went wrong
    end               what came of it, for people, once it is over
    lock              held by whoever plays

A batch is a match of its own: `local/<commitment>/b7/a~b`, so that its deals follow from the
experiment and its number alone. The test looks at the batches in their order, whichever was done
first, and one batch more than the looks have counted changes nothing: when an experiment ends does
not depend on how fast a batch was. The records are all that is kept of what was played; so the same
experiment after a kill finds what is there and goes on, with the same deals for the same batch.

When to stop is decided in `arena.ladder.ratings.sprt`; who plays, in `arena.ladder.matches.runner`.
An experiment knows no ladder, and none knows it: its results move no rating.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from math import ceil
from pathlib import Path
from shutil import rmtree
from typing import Final, Protocol

import trio

from arena.ladder.bots.entrants import BotError, Entrant, load_bot, program_digest
from arena.ladder.bots.frozen import freeze, thaw
from arena.ladder.errors import LadderError
from arena.ladder.files import held, read_document, unwritable, write_whole
from arena.ladder.matches.boards import MatchPlan, Secret, joined_names
from arena.ladder.matches.room import Watcher
from arena.ladder.matches.scores import score
from arena.ladder.matches.verdict import ATTEMPTS, Voided, forfeits, verdict
from arena.ladder.ratings.sprt import Conclusion, Look, Model, Sprt
from arena.ladder.ratings.statistics import Classes, Outcomes
from arena.wording import counted
from hokm.outcome import Ending
from hokm.records import Format, MatchRecord, Policy, RecordError, load, save
from hokm.rules.options import Rules
from hokm.session import ClockRules

SCHEMA: Final = 1
SETTINGS_FILE: Final = "experiment.json"
SECRET_FILE: Final = "secret"
END_FILE: Final = "end"

_RESTORE: Final = "restore it from a backup"
_POINTS: Final = (1, 2, 3)
_BOUNDS: Final = ("test.model", "test.elo0", "test.elo1")
_LARGEST_BYTES: Final = 64 * 1024  # ours have some 2 KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is played in an experiment, and what is asked.

    `boards` is how many are played, with a `test` at the most; `batch` how many between two looks.
    Both count mirrored pairs of races in a classic format. Raises ValueError for what cannot be.
    """

    rules: Rules
    format: Format = Format.BOARDS
    boards: int
    batch: int
    test: Sprt | None
    classes: Classes = Classes.PENTANOMIAL
    clock: ClockRules = field(default_factory=ClockRules)
    policy: Policy = Policy.RATED
    tick_seconds: float = 0.0
    at_once: int = 1

    def __post_init__(self) -> None:
        points = (self.rules.points_win, self.rules.points_kot, self.rules.points_hakem_kot)
        if self.classes is not Classes.SIGN:
            if self.format is not Format.BOARDS:
                raise ValueError("pairs of races are lost, level or won: take the classes of sign")
            if points != _POINTS:
                raise ValueError(
                    "boards that count other than 1, 2 and 3 points: take the classes of sign"
                )
        if self.test is not None and self.test.cap != self.boards:
            raise ValueError(f"a test of at most {self.test.cap} cannot have {self.boards} boards")
        if not 1 <= self.batch <= self.boards:
            raise ValueError(f"a batch is 1 to {self.boards} of {self.boards}, not {self.batch}")

    @property
    def unit(self) -> str:
        """What is counted: `board` or `pair`."""
        return "board" if self.format is Format.BOARDS else "pair"

    @property
    def batches(self) -> range:
        """The numbers of all the batches there can be, from 1."""
        return range(1, ceil(self.boards / self.batch) + 1)

    def length(self, batch: int) -> int:
        """How many boards that batch has: the last may be shorter."""
        return min(self.batch, self.boards - (batch - 1) * self.batch)

    def document(self) -> dict[str, object]:
        """All of it, as it is written down and compared."""
        test = self.test
        return {
            "kind": "duel" if test is None else "sprt",
            "players": self.rules.players,
            "format": self.format.value,
            "boards": self.boards,
            "batch": self.batch,
            "classes": self.classes.value,
            "test": None
            if test is None
            else {
                "model": test.model.value,
                "elo0": float(test.elo0),
                "elo1": float(test.elo1),
                "alpha": test.alpha,
                "beta": test.beta,
            },
            "policy": self.policy.value,
            "clock": {
                "move_seconds": float(self.clock.move_seconds),
                "bank_seconds": float(self.clock.bank_seconds),
            },
            "tick_seconds": float(self.tick_seconds),
            "at_once": self.at_once,
            "options": self.rules.options(),
        }


class End(Enum):
    """Why no more is played. The value is for a person."""

    H1 = "H1 accepted"
    H0 = "H0 accepted"
    CAP = "cap reached without an answer"
    COMPLETE = "all boards played"
    INTERRUPTED = "interrupted"
    VOID = "void too often"

    @property
    def is_done(self) -> bool:
        """Whether the experiment came to its end; else the same command goes on with it."""
        return self not in (End.INTERRUPTED, End.VOID)


_ENDS: Final = {Conclusion.H1: End.H1, Conclusion.H0: End.H0, Conclusion.CAP: End.CAP}


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that counts: the difference of each of its boards, how its games ended, and how many
    of them by the fault of each of the two.
    """

    number: int
    differences: tuple[int, ...]
    endings: Mapping[Ending, int]
    faults: tuple[int, int]


class Runner(Protocol):
    """Who plays matches: starts the bots, hosts their tables, ends them."""

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        """Play a match to its end. One that was told to stop returns what there is, STOPPED."""

    def abort(self) -> None:
        """End every game now."""


# -- what is told meanwhile


@dataclass(frozen=True, slots=True)
class Looked:
    """The next batch counts, and the test has looked."""

    batch: Batch


@dataclass(frozen=True, slots=True)
class BatchVoided:
    """An attempt at a batch counts for nothing. Its text is a line for a person."""

    number: int
    because: str
    is_tried_again: bool

    def __str__(self) -> str:
        again = ", it is played again with other deals" if self.is_tried_again else ""
        return f"batch {self.number}: void ({self.because}){again}"


Notice = Looked | BatchVoided


class Experiment:
    """An experiment in its folder, held by this process; made by :func:`opened`.

    Attributes:
        secret: where its deals come from.
        bots: the two, as they play: the copies in its folder.
        is_resumed: whether it had been begun before.
        counted: the batches that the looks have counted, from 1 without a gap.
        look: the last look; None before the first, and where nothing is tested.
        end: why it is over, None while it is not.
    """

    def __init__(
        self,
        folder: Path,
        design: Design,
        *,
        bots: tuple[Entrant, Entrant],
        secret: Secret,
        is_resumed: bool,
    ) -> None:
        self.folder = folder
        self.design = design
        self.bots = bots
        self.secret = secret
        self.is_resumed = is_resumed
        self.counted: list[Batch] = []
        self.look: Look | None = None
        self.end: End | None = None
        self.because = ""
        self._ready: dict[int, Batch] = {}  # played, and not yet counted
        self._attempts: dict[int, int] = {}  # the next one at each batch, where it is not 1

    @property
    def name(self) -> str:
        """What the ids of its matches begin with."""
        return experiment_name(self.secret)

    @property
    def differences(self) -> list[int]:
        """What the first has more than the second, on each board that counts."""
        return [difference for batch in self.counted for difference in batch.differences]

    @property
    def outcomes(self) -> Outcomes:
        """The same as the test scores it."""
        return self.design.classes.outcomes(self.differences)

    @property
    def surplus(self) -> int:
        """Batches that were played when it ended already, and count for nothing."""
        return len(self._ready)

    def plan(self, batch: int, *, attempt: int = 1) -> MatchPlan:
        """A batch, ready to be played: always the same deals for the same attempt."""
        return batch_plan(self.design, self.bots, secret=self.secret, number=batch, attempt=attempt)

    @property
    def logs_folder(self) -> Path:
        """What the bots write goes here."""
        return self.folder / "logs"

    def record_file(self, batch: int, *, attempt: int = 1) -> Path:
        """Where the record of an attempt lies."""
        again = "" if attempt == 1 else f"!{attempt}"
        return self.folder / "records" / f"b{batch}{again}.json.gz"

    # -- for :func:`opened` and :func:`play`

    def missing(self) -> list[int]:
        """The batches that are not played yet, by number."""
        done = len(self.counted)
        return [number for number in self.design.batches[done:] if number not in self._ready]

    def next_attempt(self, batch: int) -> int:
        """The number of the next attempt at a batch."""
        return self._attempts.get(batch, 1)

    def load(self) -> None:
        """Take in what was played before. Raises LadderError for records that are not as they were
        left.
        """
        for number in self.design.batches:
            while (file := self.record_file(number, attempt=self.next_attempt(number))).exists():
                record = _loaded(file, self.plan(number, attempt=self.next_attempt(number)))
                if self.take(number, record) is None:
                    break
        while self.advance() is not None:
            pass

    def take(self, batch: int, record: MatchRecord) -> Voided | None:
        """Take in an attempt at a batch; why it counts for nothing, if it does not."""
        found = verdict(record)
        if isinstance(found, Voided):
            self._attempts[batch] = record.attempt + 1
            return found
        first, second = forfeits(record)
        self._ready[batch] = Batch(
            number=batch,
            differences=tuple(ours - theirs for ours, theirs in found),
            endings=score(record).endings,
            faults=(first, second),
        )
        return None

    def advance(self) -> Batch | None:
        """Count the next batch and look at what there is, if it is played and the experiment is not
        over; the batch.
        """
        if self.end is not None:
            return None
        batch = self._ready.pop(len(self.counted) + 1, None)
        if batch is None:
            return None
        self.counted.append(batch)
        if self.design.test is not None:
            self.look = self.design.test.look(self.outcomes)
            if self.look.conclusion is not None:
                self.end = _ENDS[self.look.conclusion]
        elif len(self.counted) == len(self.design.batches):
            self.end = End.COMPLETE
        return batch

    def keep(self, record: MatchRecord, *, batch: int) -> None:
        """Write the record of an attempt, which is what makes it count."""
        file = self.record_file(batch, attempt=record.attempt)
        try:
            file.parent.mkdir(exist_ok=True)
            save(file, record)
        except OSError as error:
            raise unwritable(error, file) from error

    def reveal(self) -> None:
        """Put the secret into every record: no deal of this experiment is to come. Note what came
        of it, too.
        """
        for file in sorted((self.folder / "records").glob("b*.json.gz")):
            try:
                with suppress(RecordError):
                    record = load(file)
                    if record.secret is None:
                        revealed = replace(
                            record, secret=self.secret.secret, entropy=self.secret.entropy
                        )
                        save(file, revealed)
            except OSError as error:
                raise unwritable(error, file) from error
        assert self.end is not None
        note = f"{self.end.value} after {counted(len(self.differences), self.design.unit)}\n"
        try:
            write_whole(self.folder / END_FILE, note.encode(), mode=0o644)
        except OSError as error:
            raise unwritable(error, self.folder / END_FILE) from error


def experiment_name(secret: Secret) -> str:
    """The event that its batches are of: ``local/<16 hex digits of the commitment>``."""
    return f"local/{secret.commitment.hex()[:16]}"


def batch_plan(
    design: Design,
    bots: tuple[Entrant, Entrant],
    *,
    secret: Secret,
    number: int = 1,
    attempt: int = 1,
) -> MatchPlan:
    """A batch as a match. Raises PlanError where these bots cannot play what was designed."""
    event = experiment_name(secret)
    return MatchPlan(
        match=f"{event}/b{number}/{joined_names(tuple(bot.name for bot in bots))}",
        event=event,
        format=design.format,
        rules=design.rules,
        length=design.length(number),
        entrants=bots,
        clock=design.clock,
        policy=design.policy,
        secret=secret,
        attempt=attempt,
        at_once=design.at_once,
        tick_seconds=design.tick_seconds,
    )


@dataclass(frozen=True, slots=True)
class Earlier:
    """An experiment of the same two programs in another folder. Its text is a line for a person."""

    folder: Path
    came_to: str

    def __str__(self) -> str:
        came_to = self.came_to or "not finished"
        return f"these programs were tested before: {self.folder}, {came_to}"


def tested_before(place: Path, bots: tuple[Entrant, Entrant], *, but: Path) -> Iterator[Earlier]:
    """The experiments in the folders of a place that are of the same two programs, whatever their
    manifests say, and whichever is named first; ``but`` is left out, and so is what is damaged.
    """
    programs = sorted(map(program_digest, bots))
    for settings in sorted(place.glob(f"*/{SETTINGS_FILE}")):
        folder = settings.parent
        if folder.resolve() == but.resolve():
            continue
        with suppress(LadderError, BotError, OSError, UnicodeDecodeError):
            kept = _flat(_document(settings))
            copies = [folder / "bots" / str(kept.get(f"bots.{number}.digest")) for number in (0, 1)]
            if sorted(program_digest(load_bot(copy)) for copy in copies) == programs:
                end = folder / END_FILE
                yield Earlier(folder, end.read_text("utf-8").strip() if end.exists() else "")


@contextmanager
def opened(
    folder: Path,
    design: Design,
    *,
    bots: tuple[Entrant, Entrant],
    secret: bytes | None = None,
    draw: Callable[[int], bytes] = os.urandom,
) -> Iterator[Experiment]:
    """The experiment in a folder, begun if there is none yet, held while this is open.

    Its secret is `secret` or drawn. Raises PlanError where these bots cannot play it, LadderError
    where the folder holds something else: another experiment, other bots, another secret, what is
    damaged, or what somebody else plays.
    """
    batch_plan(design, bots, secret=Secret(bytes(32)))  # or it would be found out too late
    with held(
        folder,
        kind="experiment",
        begun=SETTINGS_FILE,
        ours={SECRET_FILE, "bots", "records", "logs"},
    ):
        settings = folder / SETTINGS_FILE
        is_resumed = settings.exists()
        if is_resumed:
            kept = _resumed(folder, design, bots=bots, secret=secret)
        else:
            kept = _begun(folder, design, bots=bots, secret=secret or draw(32))
        for part in folder.glob("records/.*.part"):  # of a run that was killed
            part.unlink(missing_ok=True)
        first, second = (
            replace(
                thaw(bot.digest, bots=folder / "bots"),
                environment=bot.environment,
                revision=bot.revision,
            )
            for bot in bots
        )
        experiment = Experiment(
            folder, design, bots=(first, second), secret=kept, is_resumed=is_resumed
        )
        experiment.load()
        yield experiment


async def play(
    experiment: Experiment,
    runner: Runner,
    *,
    watcher: Watcher,
    tell: Callable[[Notice], None] = lambda _: None,
    at_once: int = 1,
) -> End:
    """Play until the experiment ends, is stopped, or cannot go on; so many batches at once.

    `tell` hears of each look. Returns why nothing more is played. An experiment that is over is not
    played on. Raises LadderError where a record cannot be written.
    """
    player = _Player(experiment, runner, watcher=watcher, tell=tell)
    if experiment.end is None:
        async with trio.open_nursery() as nursery:
            for _ in range(at_once):
                nursery.start_soon(player.work)
    if experiment.end is None:
        assert player.stopped is not None
        experiment.end, experiment.because = player.stopped
    if experiment.end.is_done:
        experiment.reveal()
    return experiment.end


class _Player:
    """Plays the batches that are missing, in their order, and has each looked at in its turn."""

    def __init__(
        self,
        experiment: Experiment,
        runner: Runner,
        *,
        watcher: Watcher,
        tell: Callable[[Notice], None],
    ) -> None:
        self.stopped: tuple[End, str] | None = None
        """Why no batch is begun any more though the experiment is not over."""
        self._experiment = experiment
        self._runner = runner
        self._watcher = watcher
        self._tell = tell
        self._missing = iter(experiment.missing())

    async def work(self) -> None:
        """Play one batch after the other, until there is none or no more is wanted."""
        for number in self._missing:
            await self._play(number)
            while (batch := self._experiment.advance()) is not None:
                self._tell(Looked(batch))
            if self._experiment.end is not None:
                self._runner.abort()  # what else is under way would be looked at by nobody
            if self._experiment.end is not None or self.stopped is not None:
                return

    async def _play(self, number: int) -> None:
        """Play a batch until it counts, is stopped, or was void as often as may be."""
        experiment = self._experiment
        for is_last in (*[False] * (ATTEMPTS - 1), True):
            plan = experiment.plan(number, attempt=experiment.next_attempt(number))
            record = await self._runner.play(plan, watcher=self._watcher)
            found = verdict(record)
            if isinstance(found, Voided) and found.ending is Ending.STOPPED:
                if experiment.end is not None:
                    _remove_logs(experiment.logs_folder, plan)
                self.stopped = self.stopped or (End.INTERRUPTED, "")
                return
            experiment.keep(record, batch=number)
            if (voided := experiment.take(number, record)) is None:
                if not any(forfeits(record)):
                    _remove_logs(experiment.logs_folder, plan)
                return
            self._tell(BatchVoided(number, str(voided), is_tried_again=not is_last))
        self.stopped = (End.VOID, f"batch {number}: {voided}")
        self._runner.abort()


def _remove_logs(folder: Path, plan: MatchPlan) -> None:
    """A long experiment starts thousands of processes, nearly all of which have nothing to say."""
    logs = folder / plan.folder
    rmtree(logs, ignore_errors=True)
    with suppress(OSError):  # the logs of another attempt at it
        logs.parent.rmdir()


# -- the folder


def _begun(folder: Path, design: Design, *, bots: tuple[Entrant, Entrant], secret: bytes) -> Secret:
    """Write down what the experiment is; the settings come last, and make it one."""
    kept = Secret(secret)
    document = {
        "schema": SCHEMA,
        **design.document(),
        "bots": [
            {"name": bot.name, "owner": bot.owner, "version": bot.version, "digest": bot.digest}
            for bot in bots
        ],
        "commitment": kept.commitment.hex(),
    }
    for bot in bots:
        freeze(bot, bots=folder / "bots")
    settings = folder / SETTINGS_FILE
    try:
        write_whole(folder / SECRET_FILE, f"{secret.hex()}\n".encode(), mode=0o600)
        text = json.dumps(document, indent=2, ensure_ascii=False)
        write_whole(settings, f"{text}\n".encode(), mode=0o644)
    except OSError as error:
        raise unwritable(error, settings) from error
    return kept


def _resumed(
    folder: Path, design: Design, *, bots: tuple[Entrant, Entrant], secret: bytes | None
) -> Secret:
    """The secret of the experiment that is there, if it is the one that is meant."""
    file = folder / SETTINGS_FILE
    document = _document(file)
    if document.get("schema") != SCHEMA:
        problem = f"has schema {document.get('schema')}, which this arena does not know"
        raise LadderError(file, problem, remedy="update the arena")
    kept, asked = _flat(document), _flat({"schema": SCHEMA, **design.document()})
    for key in asked | {key: "" for key in kept if not key.startswith(("bots", "commitment"))}:
        if kept.get(key) != asked.get(key):
            what, then, now = key, _shown(kept.get(key)), _shown(asked.get(key))
            if key in _BOUNDS and "test.elo0" in kept and "test.elo0" in asked:
                what, then, now = "its question", _asked(kept), _asked(asked)
            problem = f"is another experiment: {what} is {then} there, and now {now}"
            remedy = "give the same settings to go on with it, or another folder with --out"
            raise LadderError(folder, problem, remedy=remedy)
    for place, bot in enumerate(bots):
        digest = kept.get(f"bots.{place}.digest")
        if digest != bot.digest:
            problem = (
                f"is an experiment with other files of bot {place + 1}: "
                f"{kept.get(f'bots.{place}.name')} {str(digest)[:12]}…, and now {bot.name} "
                f"{bot.digest[:12]}…"
            )
            remedy = (
                f"to go on with it name its copy, {folder / 'bots' / str(digest)}; for the changed "
                "bot give another folder with --out"
            )
            raise LadderError(folder, problem, remedy=remedy)
        freeze(bot, bots=folder / "bots")  # makes a copy that was removed anew
    found = _secret(folder / SECRET_FILE, commitment=str(kept.get("commitment")))
    if secret is not None and secret != found.secret:
        remedy = "leave --seed out to go on with it, or give another folder with --out"
        raise LadderError(folder, "is an experiment with another seed", remedy=remedy)
    return found


def _document(file: Path) -> Mapping[str, object]:
    return read_document(file, largest_bytes=_LARGEST_BYTES, holds="settings", remedy=_RESTORE)


def _flat(value: object, prefix: str = "") -> dict[str, object]:
    """The plain values of a document, each by its keys joined with dots."""
    inner: Sequence[tuple[object, object]]
    if isinstance(value, Mapping):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        return {prefix: value}
    flat: dict[str, object] = {}
    for key, one in inner:
        flat |= _flat(one, f"{prefix}.{key}" if prefix else str(key))
    return flat


def _asked(flat: Mapping[str, object]) -> str:
    """The bounds of a test in such values, as everywhere else: nElo [0, 20], say."""
    scale = "nElo" if flat.get("test.model") == Model.NORMALIZED.value else "Elo"
    low, high = (str(flat.get(key)).removesuffix(".0") for key in ("test.elo0", "test.elo1"))
    return f"{scale} [{low}, {high}]"


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _secret(file: Path, *, commitment: str) -> Secret:
    remedy = f"{_RESTORE}: no other secret deals the boards of this experiment"
    try:
        found = Secret(bytes.fromhex(file.read_text()))
        bound_to = found.commitment.hex()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise LadderError(file, problem, remedy=remedy) from error
    except ValueError as error:
        raise LadderError(file, "holds no secret", remedy=remedy) from error
    if bound_to != commitment:
        problem = "is not the secret that the experiment was begun with"
        raise LadderError(file, problem, remedy=remedy)
    return found


def _loaded(file: Path, plan: MatchPlan) -> MatchRecord:
    """A record of an earlier run, which must be that of its batch."""
    try:
        record = load(file)
    except RecordError as error:
        problem = f"is damaged ({str(error).removeprefix(f'{file}: ')})"
        raise LadderError(file, problem, remedy=_RESTORE) from error
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise LadderError(file, problem, remedy="make it readable") from error
    found = (record.match, record.attempt, record.commitment, record.games)
    digests = tuple(entrant.digest for entrant in record.entrants)
    if found != (plan.match, plan.attempt, plan.secret.commitment, plan.length) or digests != tuple(
        entrant.digest for entrant in plan.entrants
    ):
        problem = f"is not the record of attempt {plan.attempt} at {plan.match}"
        raise LadderError(file, problem, remedy=_RESTORE)
    return record
