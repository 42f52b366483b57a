"""Remote bots: entrants that are not launched here, but started by somebody, anywhere.

Such an entrant is a name. For each of its seats somebody is invited, and whoever comes with the
ticket takes the seat. What runs at the other end is not known here.
"""

from pathlib import Path
from typing import Final

import trio

from arena.ladder.bots.entrants import PLAYER_COUNTS, Entrant, Limits, checked_name
from arena.ladder.processes.invitations import PREFIX, Guest, Invitation
from arena.ladder.processes.players import FAREWELL_SECONDS, Player
from hokm.records import remote_digest
from hokm.session import PROTOCOL

_CONCURRENT: Final = 1024
"""As many games at once as a hello may offer, and so what its hello offers."""


NOBODYS: Final = "remote"
"""The owner and the version of one of which nothing but its name is known."""


def remote_entrant(name: str, *, owner: str = NOBODYS, version: str = NOBODYS) -> Entrant:
    """An entrant that comes over the network.

    It has no files, so its digest is the SHA-256 of ``remote:NAME``: it says which name played, and
    nothing about what played under it. Its version is what its hello says. One of a ladder has an
    owner and a version, and the digest says those as well.

    Raises:
        ValueError: for what is no name of a bot, saying what would be right.
    """
    name = checked_name(name)
    is_anybodys = (owner, version) == (NOBODYS, NOBODYS)
    return Entrant(
        name=name,
        owner=owner,
        version=version,
        command=(),
        language="",
        protocol=PROTOCOL,
        variants=PLAYER_COUNTS,
        concurrent=_CONCURRENT,
        limits=Limits(),
        folder=Path(),
        digest=remote_digest(name) if is_anybodys else remote_digest(name, owner, version),
    )


class RemotePlayer(Player):
    """A player whose process is somewhere else. What is known of it is its session."""

    match = ""
    """The id of the match that it plays in."""
    _invitation: Invitation | None = None

    @property
    def how_it_ended(self) -> str:
        """See :class:`~arena.ladder.processes.players.Player`."""
        return "it runs elsewhere"

    @property
    def guest(self) -> Guest:
        """Where it sits."""
        return Guest(
            match=self.match,
            name=self.entrant.name,
            entrant=self.index,
            room=self._room,
            seat=self.slot,
        )

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
        seconds = house.invitations.hello_seconds or house.hello_seconds
        ticket = house.lobby.issue(resume_seconds=self._resume_seconds)
        try:
            invitation = house.invitations.invite(
                self.guest, address=house.network_address, ticket=ticket, seconds=seconds
            )
        except OSError as error:
            house.lobby.withdraw(ticket)
            if self._starts == 1:
                raise
            why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            self.failure = f"its ticket cannot be written: {why}"
            return False
        self._invitation = invitation
        try:
            with trio.move_on_after(seconds) as waiting:
                async with trio.open_nursery() as race:
                    race.start_soon(self._hear_refusal, invitation, race.cancel_scope)
                    await self._arrive(ticket, race.cancel_scope)
        finally:  # used or withdrawn, its ticket is worth nothing now
            invitation.used()
        if self.session is not None and self._is_another():
            await super().end(wait_seconds=0)
        if self.session is None:
            house.lobby.withdraw(ticket)
            invitation.over()
            if waiting.cancelled_caught:
                self.failure = f"nobody came with {invitation} within {seconds:.1f} s"
            return False
        self._say("is here")
        return True

    async def end(self, *, wait_seconds: float = FAREWELL_SECONDS) -> None:
        """See :class:`~arena.ladder.processes.players.Player`."""
        await super().end(wait_seconds=wait_seconds)
        if self._invitation is not None:
            self._invitation.over()

    async def _hear_refusal(self, invitation: Invitation, race: trio.CancelScope) -> None:
        self.failure = await invitation.refused()
        race.cancel()

    def _is_another(self) -> bool:
        """Whether what came is another version than was entered: then it has another rating."""
        assert self.session is not None
        said = self.session.hello.version
        if self.entrant.version in (NOBODYS, said):
            return False
        self.failure = f"it came as version {said}, and {self.entrant.version} is entered"
        return True

    def _absent(self, is_away: bool) -> None:
        super()._absent(is_away)
        away = f"is away, and may come back within {self._resume_seconds:g} s"
        self._say(away if is_away else "is back")

    def _say(self, what: str) -> None:
        assert self._house.invitations is not None
        self._house.invitations.tell(
            f"{PREFIX}{self.entrant.name}, room {self._room}, seat {self.slot}: {what}"
        )
