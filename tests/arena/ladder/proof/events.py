"""What tests of the proof share: what a folder of an event is made of."""

from pathlib import Path

from arena.ladder.bots.entrants import Entrant
from arena.ladder.proof.document import EVENT_FILE, EventDocument, record_name, to_json
from hokm.records import EntrantRecord, MatchRecord, save

SECRET = bytes(range(32))
NAMES = ("ada", "bob", "cyd")


def entrant_of(bot: Entrant) -> EntrantRecord:
    return EntrantRecord(name=bot.name, owner=bot.owner, version=bot.version, digest=bot.digest)


def keep(folder: Path, record: MatchRecord) -> None:
    file = folder / record_name(record.match, record.attempt)
    file.parent.mkdir(parents=True, exist_ok=True)
    save(file, record)


def publish(folder: Path, event: EventDocument) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EVENT_FILE).write_bytes(to_json(event))
