"""Shelves: where the archives of bots are kept, each under the digest of the bot in it.

An archive on a shelf is whole or not there. A shelf is believed in nothing: what is fetched is read
by the strict reader of archives, and must hold the bot that was asked for. A shelf may be a folder,
which is here, or a store elsewhere, which is in `arena.ladder.bots.objects`. This module does not
know who sent an archive, nor what becomes of it.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from arena.ladder.bots import archive
from arena.ladder.bots.bundle import BotError
from arena.ladder.files import part_of

FOLDER: Final = "submissions"
"""In the folder of a ladder: its own shelf."""


class ShelfError(Exception):
    """A shelf that did not do what it was asked: where, what is wrong, what to do, in one line for
    the operator. It holds no secret. `is_passing` says that the same may do later.
    """

    def __init__(
        self, where: Path | str, problem: str, *, remedy: str, is_passing: bool = False
    ) -> None:
        super().__init__(f"{where}: {problem}; {remedy}")
        self.is_passing = is_passing


class Shelf(Protocol):
    """Archives by digest. Every method raises ShelfError where the shelf fails, and may take a
    while: a store elsewhere is asked over a network.
    """

    @property
    def name(self) -> str:
        """Where it is, for the operator."""
        ...

    def put(self, digest: str, file: Path) -> None:
        """Keep a copy of an archive; harmless where it is there already."""
        ...

    def get(self, digest: str, file: Path) -> bool:
        """Write the archive into a new file; False if it is not there. `fetch` also reads it."""
        ...

    def has(self, digest: str) -> bool:
        """Whether it is there."""
        ...

    def remove(self, digest: str) -> None:
        """Have it there no more; harmless where it is not."""
        ...

    def list(self) -> frozenset[str]:
        """The digests of all that is there."""
        ...


def fetch(shelf: Shelf, digest: str, *, into: Path) -> Path:
    """Put the archive of a bot into a folder, by the name `<digest>.zip`, which is returned.

    Raises ShelfError if it is not on the shelf, or holds another bot or none, OSError where the
    disk fails.
    """
    file = into / f"{digest}{archive.SUFFIX}"
    if not shelf.get(digest, file):
        problem = f"has no archive of {digest[:12]}…"
        raise ShelfError(shelf.name, problem, remedy="put it back there, or have it sent again")
    try:
        with tempfile.TemporaryDirectory(prefix=".read-", dir=into) as there:
            archive.unpack(file, Path(there) / "bot", digest=digest)
    except BotError as error:
        file.unlink()
        problem = f"has a damaged archive of {digest[:12]}…"
        remedy = "remove it there, then have it sent again"
        raise ShelfError(shelf.name, problem, remedy=remedy) from error
    return file


class FolderShelf:
    """A shelf that is a folder, open to its owner alone; it is made with the first archive."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def name(self) -> str:
        """Where it is."""
        return str(self.folder)

    def file_of(self, digest: str) -> Path:
        """Where an archive lies, or would."""
        return self.folder / f"{digest}{archive.SUFFIX}"

    def put(self, digest: str, file: Path) -> None:
        """See `Shelf`. It lasts through a power cut."""
        target = self.file_of(digest)
        with self._failing("written"):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = part_of(target)
            try:
                descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "wb") as stream, file.open("rb") as source:
                    shutil.copyfileobj(source, stream, 1 << 20)
                    stream.flush()
                    os.fsync(stream.fileno())
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def get(self, digest: str, file: Path) -> bool:
        """See `Shelf`."""
        with self._failing("read"):
            try:
                source = self.file_of(digest).open("rb")
            except FileNotFoundError:
                return False
            with source, file.open("xb") as stream:
                shutil.copyfileobj(source, stream, 1 << 20)
            return True

    def has(self, digest: str) -> bool:
        """See `Shelf`."""
        return self.file_of(digest).is_file()

    def remove(self, digest: str) -> None:
        """See `Shelf`."""
        with self._failing("written"):
            self.file_of(digest).unlink(missing_ok=True)

    def list(self) -> frozenset[str]:
        """See `Shelf`."""
        with self._failing("read"), suppress(FileNotFoundError):
            found = (archive.named_digest(Path(one)) for one in os.listdir(self.folder))
            return frozenset(digest for digest in found if digest is not None)
        return frozenset()

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            problem = f"cannot be {what} ({error.strerror})"
            remedy = "mend that, then it works again"
            raise ShelfError(self.folder, problem, remedy=remedy, is_passing=True) from error


class Bundles:
    """The archives of a ladder: on a shelf of its own in its folder, or `elsewhere`. What its own
    has is found there in any case, so that an operator may change his mind.
    """

    def __init__(self, folder: Path, elsewhere: Shelf | None = None) -> None:
        self.own = FolderShelf(folder)
        self.elsewhere = elsewhere

    def put(self, digest: str, file: Path) -> None:
        """Keep a copy of an archive. Raises ShelfError."""
        (self.elsewhere or self.own).put(digest, file)

    def fetch(self, digest: str, *, into: Path) -> Path:
        """An archive as a file in a folder, see :func:`fetch`."""
        if self.elsewhere is None or self.own.has(digest):
            return fetch(self.own, digest, into=into)
        return fetch(self.elsewhere, digest, into=into)

    def remove(self, digest: str) -> None:
        """Have an archive here no more, wherever it is. Raises ShelfError."""
        self.own.remove(digest)
        if self.elsewhere is not None:
            self.elsewhere.remove(digest)

    def remove_elsewhere(self, digests: frozenset[str]) -> None:
        """Remove archives of the store elsewhere that nobody will ask for. Only those that are
        named: another ladder, or what became of an older backup of this one, may have its own
        there. Raises ShelfError.
        """
        if self.elsewhere is not None and digests:
            for digest in sorted(digests & self.elsewhere.list()):
                self.elsewhere.remove(digest)
