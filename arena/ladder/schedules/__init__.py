"""Schedules: who meets whom in which round of an event, for matches of two and of three.

Each kind is a value with its options, and is asked for the next rounds until there are none; what
came of the earlier ones, the ratings and all chance are arguments, so that every pairing can be
worked out again. `docs/schedules.md` says which kind is for what.
"""

from arena.ladder.schedules.adaptive import Adaptive
from arena.ladder.schedules.document import (
    KINDS,
    AnySchedule,
    Document,
    from_document,
    from_text,
    kind_of,
    to_document,
    to_text,
)
from arena.ladder.schedules.gauntlet import Gauntlet
from arena.ladder.schedules.knockout import KnockOut
from arena.ladder.schedules.meetings import Meeting, Round
from arena.ladder.schedules.round_robin import RoundRobin, cycle_rounds
from arena.ladder.schedules.state import (
    Knowledge,
    Place,
    Schedule,
    Scheduled,
    Stage,
    State,
    UnfitError,
)
from arena.ladder.schedules.swiss import Swiss

__all__ = [
    "KINDS",
    "Adaptive",
    "AnySchedule",
    "Document",
    "Gauntlet",
    "KnockOut",
    "Knowledge",
    "Meeting",
    "Place",
    "Round",
    "RoundRobin",
    "Schedule",
    "Scheduled",
    "Stage",
    "State",
    "Swiss",
    "UnfitError",
    "cycle_rounds",
    "from_document",
    "from_text",
    "kind_of",
    "to_document",
    "to_text",
]
