"""Remote bots: entrants that are not launched here, but started by somebody, anywhere.

Such an entrant is a name. For each of its seats the arena writes a small file of environment
variables, with a ticket in it, and waits: whoever runs a bot with them takes the seat. What becomes
of the file on its way there, and what runs at the other end, is not known here.
"""

import hashlib
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
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

_CERTIFICATES: Final = "arena.pem"

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
    """

    folder: Path
    has_certificates: bool
    tell: Callable[[str], None]

    def write(self, name: str, *, room: int, seat: Seat, address: str, ticket: str) -> Path:
        """Write the file for a seat, readable by its owner alone, in place of an older one."""
        variables = {"HOKM_ADDRESS": address, "HOKM_TICKET": ticket}
        if self.has_certificates:
            variables["HOKM_TLS_CA"] = str(self.folder / _CERTIFICATES)
        lines = [f"{name}={shlex.quote(value)}\n" for name, value in variables.items()]
        file = self.folder / f"{name}-room{room}-seat{seat}.env"
        _write_privately(file, "".join(lines).encode())
        self.tell(f"{PREFIX}{name}, room {room}, seat {seat}: {file}")
        return file


def open_invitations(
    folder: Path, *, certificates: bytes | None, tell: Callable[[str], None]
) -> Invitations:
    """Make the folder, for its owner alone, or take one that is so; ``certificates``, in PEM, are
    what bots check the arena's by, and are laid there.

    Raises:
        OSError: if the folder cannot be made or written to, or others can look into it.
    """
    folder = folder.absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        raise OSError(f"{folder} is open to others, and tickets go there: chmod 700 it")
    if certificates is not None:
        _write_privately(folder / _CERTIFICATES, certificates)
    return Invitations(folder, certificates is not None, tell)


class RemotePlayer(Player):
    """A player whose process is somewhere else. What is known of it is its session."""

    @property
    def how_it_ended(self) -> str:
        """See :class:`~arena.ladder.players.Player`."""
        return "it runs elsewhere"

    async def start(self, nursery: trio.Nursery) -> bool:
        """Invite it; whether it came and said hello in time."""
        house = self._house
        assert house.invitations is not None
        self._starts += 1
        self.failure = None
        ticket = house.lobby.issue(resume_seconds=self._resume_seconds)
        file = house.invitations.write(
            self.entrant.name,
            room=self._room,
            seat=self.slot,
            address=house.network_address,
            ticket=ticket,
        )
        try:
            with trio.move_on_after(house.hello_seconds) as waiting:
                self._welcome(await house.lobby.arrival(ticket))
        except ArrivalFailed as failure:
            self.failure = str(failure)
        finally:  # used or withdrawn, its ticket is worth nothing now
            file.unlink(missing_ok=True)
        if self.session is not None:
            house.invitations.tell(
                f"{PREFIX}{self.entrant.name}, room {self._room}, seat {self.slot}: is here"
            )
        elif waiting.cancelled_caught:
            self.failure = (
                f"nobody came with the ticket in {file.name} within {house.hello_seconds:.1f} s"
            )
        return self.session is not None


def _write_privately(file: Path, content: bytes) -> None:
    """Write a file whole, readable by its owner alone from its first moment."""
    draft = file.with_name(f".{file.name}.draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(content)
    draft.replace(file)
