"""Invitations: how remote bots hear of their seats; and one way of it, small files.

A file holds the environment of one process of a bot, with a ticket in it, for its owner alone. What
becomes of it on its way to that process, and what the process is, is not known here. Others are
told otherwise (:mod:`arena.service.homes`).
"""

import hashlib
import os
import secrets
import shlex
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import trio

from hokm.cards import Seat

PREFIX: Final = "remote:"
"""What the word for a remote entrant begins with, on a command line and in what is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A seat in a room of a match, and the remote bot that it is for: its name, and its index among
    the entrants.
    """

    match: str
    name: str
    entrant: int
    room: int
    seat: Seat


class Invitation(Protocol):
    """Somebody was told of a seat. Its text says how, for a person."""

    async def refused(self) -> str:
        """Wait until it is known that nobody will come; why, for the bot's owner."""

    def used(self) -> None:
        """Its ticket is worth nothing any more: somebody came with it, or it was withdrawn."""

    def over(self) -> None:
        """Nothing more is played at the seat under this ticket. A second time is harmless."""


class Kept(Protocol):
    """Seats that are kept for a room."""

    def release(self) -> None:
        """Nobody is invited any more."""


class Inviting(Protocol):
    """Who tells remote bots of their seats."""

    @property
    def hello_seconds(self) -> float | None:
        """How long they may take to come; None for as long as bots that are started here."""

    async def reserve(self, guests: Sequence[Guest], *, has_begun: Callable[[], bool]) -> Kept:
        """Wait until there is place for all of a room, or it is known that there will be none; then
        they are invited. ``has_begun`` says whether one of them knows its match already.
        """

    def invite(self, guest: Guest, *, address: str, ticket: str, seconds: float) -> Invitation:
        """Tell of a seat that is reserved. Raises OSError where that cannot be done."""

    def tell(self, line: str, /) -> None:
        """Say how it goes, to whoever operates the arena."""


@dataclass(frozen=True, slots=True)
class FileInvitation:
    """An invitation that is a file."""

    file: Path

    def __str__(self) -> str:
        return f"the ticket in {self.file.name}"

    async def refused(self) -> str:
        """See :class:`Invitation`: who does not come does not say so."""
        await trio.sleep_forever()
        raise AssertionError

    def used(self) -> None:
        """The file is gone."""
        with suppress(OSError):
            self.file.unlink()

    def over(self) -> None:
        """See :class:`Invitation`."""


@dataclass(frozen=True, slots=True)
class Invitations:
    """Writes the files that bring remote bots to their seats; made by :func:`open_invitations`.

    ``say`` is called with a line for a person for each of them; tickets are in no such line.
    ``mark`` is in their names, so that several matches can have one folder.
    """

    folder: Path
    certificates: bytes | None
    say: Callable[[str], None]
    mark: str = field(default_factory=partial(secrets.token_hex, 4))
    hello_seconds: float | None = None

    async def reserve(self, guests: Sequence[Guest], *, has_begun: Callable[[], bool]) -> Kept:
        """See :class:`Inviting`: whoever reads a file may be anybody, and any number."""
        return self

    def release(self) -> None:
        """See :class:`Kept`."""

    def invite(self, guest: Guest, *, address: str, ticket: str, seconds: float) -> FileInvitation:
        """See :class:`Inviting`."""
        return FileInvitation(
            self.write(guest.name, room=guest.room, seat=guest.seat, address=address, ticket=ticket)
        )

    def tell(self, line: str, /) -> None:
        """See :class:`Inviting`."""
        self.say(line)

    def prepare(self) -> None:
        """Make the folder and what every file needs, as far as it is not there (any more).

        Raises:
            OSError: see :func:`open_invitations`.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.folder.stat().st_mode & 0o077:
            raise OSError(f"{self.folder} is open to others, and tickets go there: chmod 700 it")
        if self.certificates is not None and not self._authority.exists():
            _write_privately(self._authority, self.certificates)

    def write(self, name: str, *, room: int, seat: Seat, address: str, ticket: str) -> Path:
        """Write the file for a seat, readable by its owner alone, in place of an older one.

        Raises:
            OSError: if that cannot be done; nothing of the file is left then.
        """
        variables = {"HOKM_ADDRESS": address, "HOKM_TICKET": ticket}
        if self.certificates is not None:
            variables["HOKM_TLS_CA"] = str(self._authority)
        lines = [f"{name}={shlex.quote(value)}\n" for name, value in variables.items()]
        file = self.folder / f"{name}-{self.mark}-room{room}-seat{seat}.env"
        self.prepare()  # again: in a match somebody may have removed it
        _write_privately(file, "".join(lines).encode())
        self.tell(f"{PREFIX}{name}, room {room}, seat {seat}: {file}")
        return file

    @property
    def _authority(self) -> Path:
        """The file of the certificates; matches that have the same share it."""
        digest = hashlib.sha256(self.certificates or b"").hexdigest()
        return self.folder / f"arena-{digest[:8]}.pem"


def open_invitations(
    folder: Path, *, certificates: bytes | None, tell: Callable[[str], None]
) -> Invitations:
    """Make the folder, for its owner alone, or take one that is so; ``certificates``, in PEM, are
    what bots check the arena's by, and are laid there.

    Raises:
        OSError: if the folder cannot be made or written to, or others can look into it.
    """
    invitations = Invitations(folder.absolute(), certificates, tell)
    invitations.prepare()
    return invitations


def _write_privately(file: Path, content: bytes) -> None:
    """Write a file whole, readable by its owner alone from its first moment.

    Raises:
        OSError: with the file's name in it; then nothing of it is left.
    """
    try:
        descriptor, draft = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(content)
            os.replace(draft, file)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
