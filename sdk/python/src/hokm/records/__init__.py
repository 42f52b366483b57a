"""The record of a match: values, their JSON form on disk, and their verification.

A match is a pure function of its entrants' decisions, the rules and the seeds; its record holds all
three, so that anybody can play it again. :class:`GameLog` gathers a game's record while it is
played.
"""

from hokm.records.checks import Finding, verify
from hokm.records.decode import from_json
from hokm.records.document import RecordError
from hokm.records.encode import substance_digest, to_json
from hokm.records.files import load, save
from hokm.records.log import GameLog
from hokm.records.replays import Place, ReplayError, replay
from hokm.records.values import (
    Circumstances,
    EntrantRecord,
    Flag,
    Format,
    GameRecord,
    HandRecord,
    MatchRecord,
    Noted,
    Policy,
    ProcessRecord,
    Refusal,
    RoomRecord,
    Seed,
    TimeLoss,
    Verdict,
    deal_id,
    remote_digest,
    score_of,
    with_notes_of,
)

__all__ = [
    "Circumstances",
    "EntrantRecord",
    "Finding",
    "Flag",
    "Format",
    "GameLog",
    "GameRecord",
    "HandRecord",
    "MatchRecord",
    "Noted",
    "Place",
    "Policy",
    "ProcessRecord",
    "RecordError",
    "Refusal",
    "ReplayError",
    "RoomRecord",
    "Seed",
    "TimeLoss",
    "Verdict",
    "deal_id",
    "from_json",
    "load",
    "remote_digest",
    "replay",
    "save",
    "score_of",
    "substance_digest",
    "to_json",
    "verify",
    "with_notes_of",
]
