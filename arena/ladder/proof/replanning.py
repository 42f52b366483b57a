"""The schedule of an event, made again from what its document says.

A round robin, or a cycle of triples, follows from the field alone. Where more decides (results so
far, ratings, chance), this says so instead of making it again.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from arena.ladder.proof.document import Announcement, EventDocument, Stage
from arena.ladder.schedules import cycle_rounds
from hokm.rules.variants import variant_of

Planned: TypeAlias = tuple[int, tuple[str, ...]]
"""A match as the schedule has it: its round, and its entrants in the order named."""

_ROUND_ROBIN: Final = "round-robin"


@dataclass(frozen=True, slots=True)
class Replanned:
    """A stage with the matches that it should have, in order."""

    stage: Stage
    matches: tuple[Planned, ...]


def kind_of(announcement: Announcement) -> str:
    """What kind of schedule an event has: `round-robin`, `swiss` and so on."""
    return str(_options(announcement)["kind"])


def stages_wanted(announcement: Announcement) -> int | None:
    """How many stages the event comes to, None where that is not known before."""
    cycles = _options(announcement).get("cycles")
    return cycles if isinstance(cycles, int) and is_replanned(announcement) else None


def is_replanned(announcement: Announcement) -> bool:
    """Whether the schedule of such an event is made again here."""
    return kind_of(announcement) == _ROUND_ROBIN


def replanned(event: EventDocument) -> Iterator[Replanned]:
    """Every stage of an event that is a round robin, made again.

    Rounds are numbered on through all events of a ladder; where the first one of this event begins
    is taken from it.
    """
    sides = variant_of(event.announcement.rules).sides
    first_round = min((match.round for match in event.matches), default=1)
    for stage in event.stages:
        if len(stage.field) < sides:
            yield Replanned(stage, ())
            continue
        rounds = cycle_rounds(
            len(stage.field), sides=sides, cycle=stage.number, first_round=first_round
        )
        first_round += len(rounds)
        yield Replanned(
            stage,
            tuple(
                (round_.number, tuple(stage.field[player] for player in meeting))
                for round_ in rounds
                for meeting in round_.meetings
            ),
        )


def _options(announcement: Announcement) -> Mapping[str, object]:
    options: Mapping[str, object] = json.loads(announcement.schedule)
    return options
