"""A ladder's database from one place to another: from its folder to a server, or back.

The new one is filled in one transaction and compared with the old one, row by row, before the
ladder's folder names it; that is one rename. The old one is removed after it, in a transaction that
let nobody else write all the while. So a kill at any moment leaves one that is whole, the one that
the folder names, and at the worst another besides that nobody reads.
"""

from dataclasses import dataclass
from pathlib import Path

from arena.ladder.errors import LadderError
from arena.ladder.facts import Deed
from arena.ladder.files import part_of, unwritable
from arena.ladder.ladder import Ladder
from arena.ladder.store import sqlite
from arena.ladder.store.address import (
    DATABASE_FILE,
    Address,
    Server,
    address_of,
    keep_address,
    proof_file,
)
from arena.ladder.store.database import Database
from arena.ladder.store.transfer import Tables, copy, difference


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved: from where to where, and how many rows, None if it was there already."""

    source: str
    target: str
    rows: int | None


def move(folder: Path, *, database: str | None, deed: Deed | None = None) -> Moved:
    """Move the database of a ladder to the server that `database` is the address of, or into its
    folder. What a move that was interrupted has left is made anew. The deed is kept where it
    moved to.

    Raises LadderError if the ladder is being played, or if there is a ladder in that place.
    """
    with Ladder.open(folder) as ladder, ladder.held():
        source = address_of(folder)
        target: Address = folder / DATABASE_FILE
        if database is not None:
            target = Server.parse(database, schema=ladder.settings.name)
        if source == target:
            if isinstance(target, Server):
                sqlite.remove(folder / DATABASE_FILE)
            return Moved(str(source), str(target), None)
        rows = _move(ladder, target)
    with Ladder.open(folder) as ladder:  # it is in use from now on
        if deed is not None:
            ladder.store.operator.note(deed)
    return Moved(str(source), str(target), rows)


def _move(ladder: Ladder, target: Address) -> int:
    folder = ladder.folder
    is_in_use = False
    try:
        with ladder.store.database.leaving() as connection:
            source = Tables(connection)
            if isinstance(target, Server):
                rows = _fill(target, source, proof=proof_file(folder))
            else:
                part = part_of(target)
                sqlite.remove(part)
                rows = _fill(part, source, proof=None)
                sqlite.put(part, target)
            keep_address(folder, target)
            is_in_use = True
    except LadderError as error:
        if not is_in_use:
            raise
        problem = f"holds a copy that could not be removed and nobody reads any more ({error})"
        remedy = f"remove it by hand: the ladder is in {target} now"
        raise LadderError(ladder.store.where, problem, remedy=remedy) from error
    except OSError as error:
        raise unwritable(error, Path(error.filename or folder)) from error
    return rows


def _fill(address: Address, source: Tables, *, proof: Path | None) -> int:
    database = Database(address)
    try:
        with database.creating(proof=proof) as connection:
            target = Tables(connection)
            counts = copy(source, target)
            for name in counts:
                if found := difference(source.rows(name), target.rows(name)):
                    problem = f"would not be as it was: of {name}, {found}"
                    remedy = "nothing is moved; tell who maintains the arena"
                    raise LadderError(database.where, problem, remedy=remedy)
    finally:
        database.close()
    return sum(counts.values())
