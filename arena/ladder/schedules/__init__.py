"""Schedules: who meets whom in which round, for matches of two and of three.

Players are indices; their names, and what a match is, are the caller's. Chance is an argument, so
that all of it can be computed again. See `docs/schedules.md` for which schedule is for what.
"""

from arena.ladder.schedules.meetings import Meeting, Round
from arena.ladder.schedules.round_robin import cycle_rounds

__all__ = ["Meeting", "Round", "cycle_rounds"]
