"""Remote bots: entrants that are not launched here, but started by somebody, anywhere.

Such an entrant is a name. For each of its seats the arena writes a small file of environment
variables, with a ticket in it, and waits: whoever runs a bot with them takes the seat. What becomes
of the file on its way there, and what runs at the other end, is not known here.
"""

import hashlib
import os
import secrets
import shlex
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import trio

from arena.ladder.entrants import PLAYER_COUNTS, Entrant, Limits, checked_name
from arena.ladder.players import Player
from arena.referee.lobby import ArrivalFailed
from hokm.cards import Seat
from hokm.session import PROTOCOL

PREFIX: Final = "remote:"
"""What the word for such an entrant begins with on a command line."""

_CONCURRENT: Final = 1024
"""As many games at once as a hello may offer, and so what its hello offers."""


def remote_entrant(name: str) -> Entrant:
    """An entrant that comes over the network.

    It has no files, so its digest is the SHA-256 of ``remote:NAME``: it says which name played, and
    nothing about what played under it. Its version is what its hello says.

    Raises:
        ValueError: for what is no name of a bot, saying what would be right.
    """
    name = checked_name(name)
    return Entrant(
        name=name,
        owner="remote",
        version="remote",
        command=(),
        language="",
        protocol=PROTOCOL,
        variants=PLAYER_COUNTS,
        concurrent=_CONCURRENT,
        limits=Limits(),
        folder=Path(),
        digest=hashlib.sha256(f"{PREFIX}{name}".encode()).hexdigest(),
    )


@dataclass(frozen=True, slots=True)
class Invitations:
    """Writes the files that bring remote bots to their seats; made by :func:`open_invitations`.

    ``tell`` is called with a line for a person for each of them; tickets are in no such line.
    ``mark`` is in their names, so that several matches can have one folder.
    """

    folder: Path
    certificates: bytes | None
    tell: Callable[[str], None]
    mark: str = field(default_factory=partial(secrets.token_hex, 4))

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


class RemotePlayer(Player):
    """A player whose process is somewhere else. What is known of it is its session."""

    @property
    def how_it_ended(self) -> str:
        """See :class:`~arena.ladder.players.Player`."""
        return "it runs elsewhere"

    async def start(self, nursery: trio.Nursery) -> bool:
        """Invite it; whether it came and said hello in time.

        Raises:
            OSError: if its first ticket cannot be written: nothing was played here that would be
                lost. Without a later one it cannot come again, and has failed to.
        """
        house = self._house
        assert house.invitations is not None
        self._starts += 1
        self.failure = None
        ticket = house.lobby.issue(resume_seconds=self._resume_seconds)
        try:
            file = house.invitations.write(
                self.entrant.name,
                room=self._room,
                seat=self.slot,
                address=house.network_address,
                ticket=ticket,
            )
        except OSError as error:
            house.lobby.withdraw(ticket)
            if self._starts == 1:
                raise
            why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            self.failure = f"its ticket cannot be written: {why}"
            return False
        try:
            with trio.move_on_after(house.hello_seconds) as waiting:
                self._welcome(await house.lobby.arrival(ticket))
        except ArrivalFailed as failure:
            self.failure = str(failure)
        finally:  # used or withdrawn, its ticket is worth nothing now
            with suppress(OSError):
                file.unlink()
        if self.session is not None:
            self._say("is here")
        elif waiting.cancelled_caught:
            self.failure = (
                f"nobody came with the ticket in {file.name} within {house.hello_seconds:.1f} s"
            )
        return self.session is not None

    def _absent(self, is_away: bool) -> None:
        super()._absent(is_away)
        away = f"is away, and may come back within {self._resume_seconds:g} s"
        self._say(away if is_away else "is back")

    def _say(self, what: str) -> None:
        assert self._house.invitations is not None
        self._house.invitations.tell(
            f"{PREFIX}{self.entrant.name}, room {self._room}, seat {self.slot}: {what}"
        )


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
