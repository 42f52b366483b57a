"""Reading and judging an event where it lies: a folder with its document and its records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.ladder.facts import totals as totals_of
from arena.ladder.matches.verdict import ATTEMPTS, Voided, verdict
from arena.ladder.proof.checks import (
    EventFinding,
    contradictions,
    document_findings,
    id_of,
    record_findings,
    schedule_findings,
    unchecked,
)
from arena.ladder.proof.document import (
    EVENT_FILE,
    EventDocument,
    MatchEntry,
    from_json,
    record_name,
)
from hokm.records import MatchRecord, RecordError, load
from hokm.records.files import read_bounded


@dataclass(frozen=True, slots=True)
class EventReport:
    """An event that was checked: what was found, what was looked at, and what could not be.

    ``records``, ``games`` and ``hands`` count what was dealt and played again; ``games`` are those
    of all rooms.
    """

    event: EventDocument
    findings: tuple[EventFinding, ...]
    records: int
    games: int
    hands: int
    unchecked: tuple[str, ...]


def load_event(file: Path) -> EventDocument:
    """Read the document of an event.

    Raises RecordError saying what is wrong and where for a file that is torn, too large or none;
    OSError where it cannot be read.
    """
    try:
        return from_json(read_bounded(file))
    except RecordError as error:
        raise RecordError(f"{file}: {error}") from None


def check_event(
    folder: Path,
    *,
    earlier: EventDocument | None = None,
    checked: Callable[[int, int], None] = lambda done, of: None,
) -> EventReport:
    """Check an event: its document, every record that it names, and that there is no other.

    ``earlier`` is a document of the event that was kept: then also that nothing of it was taken
    back. ``checked`` hears how many attempts of how many are done.

    Raises as :func:`load_event`, for the document; what cannot be read of the rest is a finding.
    """
    event = load_event(folder / EVENT_FILE)
    findings = [*document_findings(event)]
    if earlier is not None:
        findings += contradictions(earlier, event)
    attempts = [(match, attempt) for match in event.matches for attempt in match.attempts]
    records = games = hands = 0
    expected: set[str] = set()
    totals: dict[str, tuple[int, ...]] = {}
    for done, (match, attempt) in enumerate(attempts, start=1):
        if match.match != id_of(event, match):
            continue  # which is found already; another id could lead out of the folder
        name = record_name(match.match, attempt.number)
        expected.add(name)
        record = _read(folder / name)
        if isinstance(record, str):
            findings.append(EventFinding(f"its record {record}", match.match, attempt.number))
        else:
            findings += record_findings(event, match, attempt, record)
            if not isinstance(boards := verdict(record), Voided):
                totals[match.match] = totals_of(boards)
            records += 1
            games += sum(len(room.games) for room in record.rooms)
            hands += sum(len(game.hands) for room in record.rooms for game in room.games)
        checked(done, len(attempts))
    findings += schedule_findings(event, totals=totals)
    # The check may take so long that the event goes on meanwhile: what is there now may be so.
    now = load_event(folder / EVENT_FILE)
    named = expected | {name for match in now.matches for name in _files(match, now)}
    found = _records(folder)
    findings += [
        EventFinding(f"there is a file {name} that it does not name")
        for name in sorted(found - named)
    ]
    played_since = found & named - expected
    left = list(unchecked(event, totals=totals))
    if played_since:
        left.append(
            f"records of matches that were played since it was published: {len(played_since)}"
        )
    return EventReport(event, tuple(findings), records, games, hands, tuple(left))


def _read(file: Path) -> MatchRecord | str:
    """A record, or what is wrong with it."""
    try:
        return load(file)
    except FileNotFoundError:
        return f"{file.name} is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    except RecordError as error:
        return f"is damaged ({str(error).removeprefix(f'{file}: ')})"


def _records(folder: Path) -> set[str]:
    """All files but the document and hidden ones, which are of a write that is under way, or was
    broken off.
    """
    found = {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }
    return found - {EVENT_FILE}


def _files(match: MatchEntry, event: EventDocument) -> Iterator[str]:
    """The files of the attempts that a match has had, and of those that it may still have."""
    attempts = len(match.attempts) if event.is_over else ATTEMPTS
    for number in range(1, attempts + 1):
        yield record_name(match.match, number)
