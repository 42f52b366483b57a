"""Where records and rows come from: ladders, experiments, folders of record files, or files, read
one record at a time.

A record that cannot be read or played again, or is not the one that a ladder took its result from,
is a `Damaged` in the place of its rows, so that whoever writes these can say so and go on.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from arena.export.ladders import ladder_rows
from arena.export.rows import Origin, rows_of
from arena.export.schema import Bot, Rating, Row
from arena.ladder.errors import LadderError
from arena.ladder.facts import Attempt
from arena.ladder.ladder import Ladder
from arena.ladder.matches.experiment import SETTINGS_FILE as EXPERIMENT_FILE
from arena.ladder.proof.document import EVENT_FILE
from arena.ladder.ratings.evidence import is_rated
from arena.ladder.settings import SETTINGS_FILE
from hokm.records import MatchRecord, RecordError, ReplayError, load, substance_digest


@dataclass(frozen=True, slots=True)
class Found:
    """A record, and where it is from."""

    record: MatchRecord
    origin: Origin


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file that is no record, or not the one it should be, in one line."""

    problem: str


def rows_from(
    paths: Iterable[Path], tables: Collection[type[Row]]
) -> Iterator[Sequence[Row] | Damaged]:
    """The rows of those tables, of a record or a ladder at a time. Records are numbered as they
    come; a file or a ladder that is met again is left out.

    Raises LadderError and OSError for a path where nothing is to be found.
    """
    numbers, seen = count(1), set[Path]()

    def rows_of_records(sources: Iterable[Found | Damaged]) -> Iterator[Sequence[Row] | Damaged]:
        if not {*tables} - {Bot, Rating}:
            return
        for found in sources:
            if isinstance(found, Damaged):
                yield found
                continue
            file = Path(found.origin.file).resolve()
            if file in seen:
                continue
            seen.add(file)
            try:
                # Whole before the first of them is written: all of a record is there, or nothing.
                yield list(
                    rows_of(found.record, number=next(numbers), origin=found.origin, tables=tables)
                )
            except ReplayError as error:
                yield Damaged(f"{found.origin.file}: {error}")

    for path in each_once(paths):
        if is_ladder(path):
            with Ladder.open(path) as ladder:
                yield list(ladder_rows(ladder, tables))
                yield from rows_of_records(records_of_ladder(ladder))
        else:
            yield from rows_of_records(records_of_files(record_files(path)))


def each_once(paths: Iterable[Path]) -> Iterator[Path]:
    """These paths without those that lead where an earlier one does."""
    seen = set[Path]()
    for path in paths:
        if (place := path.resolve()) not in seen:
            seen.add(place)
            yield path


def is_ladder(path: Path) -> bool:
    """Whether a path is the folder of a ladder."""
    return (path / SETTINGS_FILE).is_file()


def source_around(path: Path) -> tuple[Path, str] | None:
    """The folder of a ladder, an event or an experiment that a path is or lies in, and which of
    them it is: what lies there is its own. None if there is none.
    """
    place = path.resolve()
    for folder in (place, *place.parents):
        if is_ladder(folder):
            return folder, "is the folder of a ladder"
        if (folder / EVENT_FILE).is_file():
            return folder, "has the records of an event"
        if (folder / EXPERIMENT_FILE).is_file():
            return folder, "is the folder of an experiment"
    return None


def record_files(path: Path) -> Iterator[Path]:
    """The record files at a path, itself or all below it by name; of a ladder or an experiment,
    those in its folder of records. What is being written is none, and neither is the proof that
    lies beside the records of an event.

    Raises LadderError for a folder in which there is none, OSError for what is not there.
    """
    if not path.is_dir():
        path.stat()
        yield path
        return
    # Bots lie in such folders, too, and may have any files.
    is_whole = is_ladder(path) or (path / EXPERIMENT_FILE).is_file()
    found = False
    for file in sorted((path / "records" if is_whole else path).rglob("*.json*")):
        is_hidden = file.name.startswith(".")
        if file.name.endswith((".json", ".json.gz")) and not is_hidden and file.name != EVENT_FILE:
            found = True
            yield file
    if not found:
        remedy = "give the folder of a ladder or an experiment, a folder of records, or records"
        raise LadderError(path, f"has no {SETTINGS_FILE} and no records", remedy=remedy)


def records_of_files(files: Iterable[Path]) -> Iterator[Found | Damaged]:
    """Those records, one at a time."""
    for file in files:
        yield _read(file, Origin(str(file)))


def records_of_ladder(ladder: Ladder) -> Iterator[Found | Damaged]:
    """Every record of a ladder in the order of its schedule, one at a time, voided ones too."""
    bots = {bot.name: bot for bot in ladder.store.bots()}

    def may_be_rated(record: MatchRecord) -> bool:
        return is_rated([bots[entrant.name] for entrant in record.entrants])

    for attempt in ladder.store.attempts():
        file = ladder.records_folder / attempt.record
        rated = _never_rated if attempt.struck is not None else may_be_rated
        origin = Origin(str(file), ladder=ladder.settings.name, may_be_rated=rated)
        yield _checked(_read(file, origin), attempt)


def _never_rated(_: MatchRecord) -> bool:
    """Of a record that the operator struck out, whatever it says."""
    return False


def _read(file: Path, origin: Origin) -> Found | Damaged:
    try:
        return Found(load(file), origin)
    except RecordError as error:
        return Damaged(str(error))
    except OSError as error:
        return Damaged(f"{file}: {error.strerror}")


def _checked(found: Found | Damaged, attempt: Attempt) -> Found | Damaged:
    if isinstance(found, Found) and substance_digest(found.record) != attempt.record_digest:
        return Damaged(
            f"{found.origin.file}: is not the record that the result of {attempt.match} was "
            "taken from"
        )
    return found
