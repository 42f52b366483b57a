"""What was sent in, on its way to the disk: `submissions/<digest>.zip` in the ladder's folder.

An upload is a file of its own until it is whole and was read by the strict reader of archives; then
it gets its name, and then a row says that it is there. A kill at any moment leaves at most a file
that nobody names, and the next start removes it. Nothing of an archive is ever written where the
archive says.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from arena.ladder.bots import archive
from arena.ladder.bots.bundle import BotError
from arena.ladder.bots.entrants import Entrant
from arena.service.errors import Fault, ServiceError

FOLDER: Final = "submissions"
LARGEST_BYTES: Final = archive.LARGEST_BYTES + 2 * 2**20
"""Of an archive: that, stored, with all names twice, as the reader of archives has it."""
PIECE_BYTES: Final = 1 << 20

_PART: Final = ".part"
_LOOKED_AT: Final = ".looked-at-"


class Intake:
    """The folder of archives that were sent in; it is made with the first."""

    def __init__(self, ladder: Path) -> None:
        self.folder = ladder / FOLDER

    def archive_of(self, digest: str) -> Path:
        """Where the archive of a submission is."""
        return self.folder / f"{digest}{archive.SUFFIX}"

    def begin(self, digest: str, size_bytes: int) -> "Upload":
        """An upload of the bot of that digest, in an archive so long.

        Raises ServiceError for a size or digest that cannot be, and for a disk that takes nothing.
        """
        if archive.named_digest(Path(digest)) is None:
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
    def unpacked(self, digest: str) -> Iterator[Entrant]:
        """The bot of an archive that is kept, in a folder for as long as this is open.

        Raises BotError for an archive that is not what it was, OSError where the disk fails.
        """
        with tempfile.TemporaryDirectory(prefix=_LOOKED_AT, dir=self.folder) as there:
            yield archive.unpack(self.archive_of(digest), Path(there) / "bot", digest=digest)

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
        self._intake = intake
        self._part = part
        self._file = os.fdopen(descriptor, "wb")

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
                    return archive.unpack(self._part, Path(there) / "bot", digest=self.digest)
                except BotError as error:
                    told = str(error).replace(str(self._part), "the archive")
                    raise ServiceError(Fault.INVALID, told, remedy="") from error

    def keep(self) -> None:
        """Give it its name; harmless where the archive is there already."""
        with _disk():
            self._part.replace(self._intake.archive_of(self.digest))
            descriptor = os.open(self._intake.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

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
