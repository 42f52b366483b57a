"""Records and events, checked where they lie, and what there is to say of them."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from arena.cli.errors import failure_of
from arena.export.sources import record_files
from arena.ladder.errors import LadderError
from arena.ladder.proof.checks import succession
from arena.ladder.proof.document import EVENT_FILE, EventDocument
from arena.ladder.proof.entropy import Source
from arena.ladder.proof.folder import EventReport, check_event
from arena.wording import counted, printable
from hokm.records import Finding, MatchRecord, RecordError, load, substance_digest
from hokm.records import verify as findings_of


@dataclass(frozen=True, slots=True)
class Check:
    """A file that was checked: there is a record, or a ``problem`` says why it cannot be read."""

    file: Path
    problem: str | None = None
    record: MatchRecord | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether it was read and nothing was found."""
        return self.problem is None and not self.findings

    def lines(self) -> Iterator[str]:
        """For a person; none for a file that could not be read."""
        if self.record is None:
            return
        if self.findings:
            yield from (printable(f"{self.file}: {finding}") for finding in self.findings)
        else:
            yield printable(f"{self.file}: ok")
            yield from (printable(f"  {line}") for line in _what_was_checked(self.record))

    def json(self) -> dict[str, object]:
        """For a program."""
        record = self.record
        return {
            "file": str(self.file),
            "ok": self.is_ok,
            "problem": None if self.problem is None else self.problem.removeprefix("error: "),
            "match": None if record is None else record.match,
            "substance_digest": None if record is None else substance_digest(record),
            "rooms": None if record is None else len(record.rooms),
            "games": None if record is None else record.games,
            "hands": None if record is None else _hands(record),
            "is_secret_revealed": None if record is None else record.secret is not None,
            "remote": [entrant.name for entrant in record.entrants if entrant.is_remote]
            if record is not None
            else None,
            "findings": [
                {"what": finding.what, **asdict(finding.place)} for finding in self.findings
            ],
        }


@dataclass(frozen=True, slots=True)
class EventCheck:
    """The folder of an event that was checked: there is a report, or a ``problem`` says why it
    cannot be read.
    """

    folder: Path
    problem: str | None = None
    report: EventReport | None = None

    @property
    def is_ok(self) -> bool:
        """Whether it was read and nothing was found."""
        return self.report is not None and not self.report.findings

    def lines(self) -> Iterator[str]:
        """For a person; none for an event that could not be read."""
        if self.report is None:
            return
        for finding in self.report.findings:
            yield printable(f"{self.folder}: {finding}")
        if self.is_ok:
            yield printable(f"{self.folder}: ok")
        yield from (printable(f"  {line}") for line in _what_was_checked_of(self.report))
        yield from (printable(f"  not checked: {line}") for line in self.report.unchecked)

    def json(self) -> dict[str, object]:
        """For a program."""
        report = self.report
        event = None if report is None else report.event
        return {
            "folder": str(self.folder),
            "ok": self.is_ok,
            "problem": None if self.problem is None else self.problem.removeprefix("error: "),
            "event": None if event is None else event.announcement.event,
            "announcement_digest": None if event is None else event.announcement.digest,
            "is_over": None if event is None else event.is_over,
            "matches": None if event is None else len(event.matches),
            "records": None if report is None else report.records,
            "games": None if report is None else report.games,
            "hands": None if report is None else report.hands,
            "findings": [
                {
                    "what": finding.what,
                    "match": finding.match,
                    "attempt": None if finding.match is None else finding.attempt,
                    **asdict(finding.place),
                }
                for finding in (() if report is None else report.findings)
            ],
            "not_checked": [] if report is None else list(report.unchecked),
        }


Checked = Callable[[Path, int, int], None]
"""Hears how many records of how many are done, in the folder of an event."""


def checks(
    path: Path, *, earlier: EventDocument | None = None, checked: Checked = lambda *_: None
) -> Iterator[Check | EventCheck]:
    """Check what is at a path, one thing after another: a record, an event in its folder, all
    events of a ladder in its, or the records in any other folder, that of an experiment say.

    ``earlier`` is a document that was kept: its event is held to it.
    """
    if not path.is_dir():
        yield check(path)
        return
    if (path / EVENT_FILE).exists():
        yield _event(path, earlier=earlier, checked=checked)
        return
    folder = path / "records" if (path / "records").is_dir() else path
    events = {event.name: event for event in folder.glob("ev*") if event.is_dir()}
    if not events:
        try:
            files = list(record_files(path))
        except LadderError:
            yield _wrong(path, f"has no {EVENT_FILE}, and no records")
            return
        yield from map(check, files)
        if earlier is None:
            return
    kept = None if earlier is None else earlier.announcement.event
    if kept is not None and kept not in events:
        yield _wrong(path, f"has no {kept}, which the earlier document is of")
    before: EventDocument | None = None
    last = max((int(name[2:]) for name in events if name[2:].isdecimal()), default=0)
    for name in (f"ev{number}" for number in range(1, last + 1)):
        if name not in events:
            yield _wrong(path, f"has no {name}, and has later events")
        elif (events[name] / EVENT_FILE).exists():
            its_earlier = earlier if name == kept else None
            found = _event(events[name], earlier=its_earlier, checked=checked, before=before)
            before = None if found.report is None else found.report.event
            yield found
        else:  # of an arena that published nothing
            before = None
            yield from map(check, sorted(events[name].glob("*/*.json.gz")))


def _wrong(path: Path, what: str) -> EventCheck:
    return EventCheck(path, problem=f"error: {printable(str(path))}: {what}")


def _event(
    folder: Path,
    *,
    earlier: EventDocument | None,
    checked: Checked,
    before: EventDocument | None = None,
) -> EventCheck:
    try:
        report = check_event(
            folder, earlier=earlier, checked=lambda done, of: checked(folder, done, of)
        )
    except (RecordError, OSError) as error:
        failure = failure_of(error)
        assert failure is not None
        return EventCheck(folder, problem=failure.text)
    if before is not None:
        followed = tuple(succession(before, report.event))
        report = replace(report, findings=(*report.findings, *followed))
    return EventCheck(folder, report=report)


def check(file: Path) -> Check:
    """Read and check a file."""
    try:
        record = load(file)
    except (RecordError, OSError) as error:
        failure = failure_of(error)
        assert failure is not None
        return Check(file, problem=failure.text)
    return Check(file, record=record, findings=findings_of(record))


def _what_was_checked_of(report: EventReport) -> Iterator[str]:
    event, announced = report.event, report.event.announcement
    if event.beginning is None:
        state = "called off" if event.is_over else "announced"
    else:
        state = "over" if event.is_over else "under way"
    yield f"event {announced.event} of {announced.ladder}, {state}"
    yield f"announcement {announced.digest}"
    if event.secret is not None:
        yield f"the secret is the one committed to, {announced.commitment.hex()}"
    match None if event.beginning is None else event.beginning.source:
        case Source.NONCES:
            yield f"its entropy follows from {counted(len(event.nonces), 'nonce')}"
        case Source.BEACON:
            yield f"its entropy follows from what was published by {announced.beacon}"
        case _:
            pass
    if event.stages:
        yield (
            f"{counted(len(event.matches), 'match')}, {counted(report.records, 'record')}: "
            f"{counted(report.hands, 'hand')} dealt from their seeds, played by the rules, scored"
        )


def _what_was_checked(record: MatchRecord) -> Iterator[str]:
    yield f"match {record.match}"
    yield (
        f"{counted(record.games, 'game')} in each of {counted(len(record.rooms), 'room')}, "
        f"{counted(_hands(record), 'hand')}: "
        "dealt from their seeds, played by the rules, scored"
    )
    if record.secret is None:
        yield "the secret is not revealed yet: the seeds cannot be compared with the commitment"
    else:
        yield f"the seeds follow from the secret committed to, {record.commitment.hex()}"
    yield f"substance digest {substance_digest(record)}"
    remote = [entrant.name for entrant in record.entrants if entrant.is_remote]
    if remote:
        yield (
            f"not checked: what {' and '.join(remote)} ran, and whether its players told each "
            "other their cards: it played from elsewhere, where nobody can isolate them"
        )


def _hands(record: MatchRecord) -> int:
    return sum(len(game.hands) for room in record.rooms for game in room.games)
