"""What is measured of a referee at work, as calls; who counts, and for whom, is not known here.

:class:`Meter` counts nothing and is what everything is given where nobody asked for figures.
:mod:`arena.metrics` has the one that counts.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from hokm.outcome import Ending


class TurnedAway(Enum):
    """Why a stream was not let in; the value is a word for figures and logs."""

    TICKET = "ticket"
    """Its ticket names no seat, or one that is taken."""
    WRONG_TICKETS = "wrong_tickets"
    """Too many wrong tickets came from its address."""
    SILENT = "silent"
    """It said nothing in time."""
    STREAMS = "streams"
    """There are as many streams as there may be."""
    PROBES = "probes"
    """There are as many health watches and reflection calls as there may be."""
    CALLS = "calls"
    """There are as many calls of other services as there may be, or from its address."""


class Meter:
    """Is told, and forgets. Every method is cheap, does not raise, and is called by the thread that
    is named beside it, so that whoever counts needs no lock.
    """

    # -- the bridge's thread

    def stream_opened(self) -> None:
        """A bot's stream is there, with whatever ticket."""

    def stream_closed(self) -> None:
        """It has ended."""

    def turned_away(self, why: TurnedAway) -> None:
        """A stream was not let in."""

    def written(self, seconds: float) -> None:
        """A batch was written, so long after it was posted."""

    # -- trio's thread

    def queue_age_by(self, age: Callable[[], float]) -> None:
        """``age`` says how long the oldest batch that is not written has waited, in seconds; it may
        be called in any thread.
        """

    def ladder_by(self, read: Callable[[], Mapping[str, float]]) -> None:
        """``read`` says how a ladder that stands is doing, as figures by name; it may be called in
        any thread.
        """

    def judged(self, heard: Iterable[tuple[object, float]], now: float) -> None:
        """Answers, each with the time at which it was read, have been judged by ``now``. Called
        once for all that were heard together, since there are tens of thousands a second.
        """

    def game_began(self) -> None:
        """A game is under way."""

    def game_ended(self) -> None:
        """It is not any more."""

    def game_over(self, ending: Ending, charged_seconds: Iterable[Iterable[float]]) -> None:
        """A game has its result, played or not; what its decisions were charged, hand by hand."""


NO_METER = Meter()
