"""The record of a match: values, their JSON form on disk, and their verification.

A match is a pure function of its entrants' decisions, the rules and the seeds; its record holds all
three, so that anybody can play it again. :class:`GameLog` gathers a game's record while it is
played.
"""

from hokm.records.log import GameLog
from hokm.records.types import (
    Circumstances,
    EntrantRecord,
    Flag,
    Format,
    GameRecord,
    HandRecord,
    MatchRecord,
    Policy,
    ProcessRecord,
    Refusal,
    RoomRecord,
    Seed,
    deal_id,
    score_of,
)

__all__ = [
    "Circumstances",
    "EntrantRecord",
    "Flag",
    "Format",
    "GameLog",
    "GameRecord",
    "HandRecord",
    "MatchRecord",
    "Policy",
    "ProcessRecord",
    "Refusal",
    "RoomRecord",
    "Seed",
    "deal_id",
    "score_of",
]
