"""What was sent in, on its way to the shelf of the ladder: `submissions/<digest>.zip` in its
folder, or a store elsewhere.

An upload is a file of its own until it is whole and was read by the strict reader of archives; then
it is put on the shelf, and then a row says that it is there. A kill at any moment leaves at most a
file that nobody names, and the next start removes those of the folder. Nothing of an archive is
ever written where the archive says.
"""

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from arena.ladder.bots import archive
from arena.ladder.bots.bundle import BotError
from arena.ladder.bots.entrants import Entrant, program_digest
from arena.ladder.bots.shelf import FOLDER, Bundles, ShelfError
from arena.service.errors import Fault, ServiceError

LARGEST_BYTES: Final = archive.LARGEST_BYTES + 2 * 2**20
"""Of an archive: that, stored, with all names twice, as the reader of archives has it."""
PIECE_BYTES: Final = 1 << 20

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_PART: Final = ".part"
_LOOKED_AT: Final = ".looked-at-"

_log = logging.getLogger(__name__)


class Intake:
    """The archives that were sent in to a ladder, and the folder where they are looked at; it is
    made with the first.
    """

    def __init__(self, ladder: Path, bundles: Bundles | None = None) -> None:
        self.folder = ladder / FOLDER
        self.bundles = bundles or Bundles(self.folder)

    def begin(self, digest: str, size_bytes: int) -> "Upload":
        """An upload of the bot of that digest, in an archive so long.

        Raises ServiceError for a size or digest that cannot be, and for a disk that takes nothing.
        """
        if not _DIGEST.fullmatch(digest):
            problem = "the digest is not 64 hex digits"
            raise ServiceError(Fault.INVALID, problem, remedy="arena bot pack prints it")
        if not 0 < size_bytes <= LARGEST_BYTES:
            problem = f"an archive of {size_bytes:,} bytes: one has 1 to {LARGEST_BYTES:,}"
            remedy = "make its files smaller, or leave out what it can do without"
            raise ServiceError(Fault.INVALID, problem, remedy=remedy)
        with _disk():
            self.folder.mkdir(mode=0o700, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix=".", suffix=_PART, dir=self.folder)
        return Upload(self, digest, size_bytes, part=Path(name), descriptor=descriptor)

    @contextmanager
    def looking(self) -> Iterator[Path]:
        """A folder to look at an archive in, for as long as this is open. Raises OSError."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        # A fetch that nobody waits for any more may write into it while it is removed.
        with tempfile.TemporaryDirectory(
            prefix=_LOOKED_AT, dir=self.folder, ignore_cleanup_errors=True
        ) as there:
            yield Path(there)

    def sweep(self, kept: frozenset[str]) -> None:
        """Remove what a kill left, and archives that nobody will ask for: all but those of the
        digests that are ``kept``. For the moment before the first upload.
        """
        with suppress(FileNotFoundError), os.scandir(self.folder) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name.startswith(_LOOKED_AT):
                        shutil.rmtree(entry.path, ignore_errors=True)
                    continue
                digest = archive.named_digest(Path(entry.name))
                if entry.name.endswith(_PART) or (digest is not None and digest not in kept):
                    with suppress(OSError):
                        os.unlink(entry.path)


class Upload:
    """An archive that is being sent: pieces, then :meth:`checked`, then :meth:`keep`; and at the
    end, whatever became of it, :meth:`close`.
    """

    def __init__(
        self, intake: Intake, digest: str, size_bytes: int, *, part: Path, descriptor: int
    ) -> None:
        self.digest = digest
        self.size_bytes = size_bytes
        self.received_bytes = 0
        self.owner = 0
        """The number of the owner who sends it."""
        self.program = ""
        """The digest of what its bot runs, once it was checked."""
        self._intake = intake
        self._part = part
        self._file = os.fdopen(descriptor, "wb")
        self.is_kept = False

    def write(self, piece: bytes) -> None:
        """The next piece. Raises ServiceError for one that is empty or too long, and beyond the
        size that was announced.
        """
        if not 0 < len(piece) <= PIECE_BYTES:
            problem = f"a piece of {len(piece):,} bytes: one has 1 to {PIECE_BYTES:,}"
            raise ServiceError(Fault.INVALID, problem, remedy="send it in pieces")
        self.received_bytes += len(piece)
        if self.received_bytes > self.size_bytes:
            problem = f"more than the {self.size_bytes:,} bytes that were announced"
            raise ServiceError(Fault.INVALID, problem, remedy="send the archive again")
        with _disk():
            self._file.write(piece)

    def checked(self) -> Entrant:
        """The bot that is in it: the archive is whole, holds nothing that it may not, and the bot
        has the digest that was announced. Takes a second for a large one; may be called in another
        thread.

        Raises ServiceError for anything else, in the words of the reader of archives.
        """
        if self.received_bytes != self.size_bytes:
            problem = f"{self.received_bytes:,} bytes of {self.size_bytes:,} came"
            raise ServiceError(Fault.INVALID, problem, remedy="send the archive again")
        with _disk():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            with tempfile.TemporaryDirectory(prefix=_LOOKED_AT, dir=self._intake.folder) as there:
                try:
                    found = archive.unpack(self._part, Path(there) / "bot", digest=self.digest)
                    self.program = program_digest(found)
                except BotError as error:
                    told = str(error).replace(str(self._part), "the archive")
                    raise ServiceError(Fault.INVALID, told, remedy="") from error
        return found

    def keep(self) -> None:
        """Put it on the shelf of the ladder; harmless where the archive is there already, and done
        once. It takes a while where that is elsewhere; may be called in another thread.

        Raises ServiceError where it cannot be kept: then nothing was entered.
        """
        if self.is_kept:
            return
        try:
            self._intake.bundles.put(self.digest, self._part)
        except ShelfError as error:
            # Where it is kept is the operator's business.
            _log.error("an archive could not be kept: %s", error)
            problem = "the ladder cannot keep archives at the moment, and nothing was entered"
            remedy = "send it again in some minutes, or tell its operator"
            raise ServiceError(Fault.NOT_NOW, problem, remedy=remedy) from error
        self.is_kept = True

    def close(self) -> None:
        """Leave nothing of what was not kept."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._part.unlink(missing_ok=True)


@contextmanager
def _disk() -> Iterator[None]:
    """What the system says of the disk is nothing for who sends a bot, but for that it is so."""
    try:
        yield
    except OSError as error:
        problem = "the ladder cannot take files at the moment"
        remedy = "try again later, or tell its operator"
        raise ServiceError(Fault.NOT_NOW, problem, remedy=remedy) from error
