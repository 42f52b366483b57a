"""One record file, checked, and what there is to say of it."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from arena.cli.errors import failure_of
from arena.cli.text import printable
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
            yield from (f"  {line}" for line in _what_was_checked(self.record))

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
            "findings": [
                {"what": finding.what, **asdict(finding.place)} for finding in self.findings
            ],
        }


def check(file: Path) -> Check:
    """Read and check a file."""
    try:
        record = load(file)
    except (RecordError, OSError) as error:
        failure = failure_of(error)
        assert failure is not None
        return Check(file, problem=failure.text)
    return Check(file, record=record, findings=findings_of(record))


def _what_was_checked(record: MatchRecord) -> Iterator[str]:
    yield f"match {record.match}"
    yield (
        f"{record.games} games in each of {len(record.rooms)} rooms, {_hands(record)} hands: "
        "dealt from their seeds, played by the rules, scored"
    )
    if record.secret is None:
        yield "the secret is not revealed yet: the seeds cannot be compared with the commitment"
    else:
        yield f"the seeds follow from the secret committed to, {record.commitment.hex()}"
    yield f"substance digest {substance_digest(record)}"


def _hands(record: MatchRecord) -> int:
    return sum(len(game.hands) for room in record.rooms for game in room.games)
