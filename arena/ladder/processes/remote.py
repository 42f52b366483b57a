"""Remote bots: entrants that are not launched here, but started by somebody, anywhere.

Such an entrant is a name. For each of its seats somebody is invited, and whoever comes with the
ticket takes the seat. What runs at the other end is not known here.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from arena.ladder.bots.entrants import PLAYER_COUNTS, Entrant, Limits, checked_name
from arena.ladder.processes.invitations import PREFIX
from arena.ladder.processes.players import Player
from arena.referee.lobby import ArrivalFailed
from hokm.session import PROTOCOL

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


class RemotePlayer(Player):
    """A player whose process is somewhere else. What is known of it is its session."""

    @property
    def how_it_ended(self) -> str:
        """See :class:`~arena.ladder.processes.players.Player`."""
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
