"""The schedule of an event, made again: which matches each stage should have.

It is asked the same questions as when the event was played, from what the document and the records
say: who could be paired, what earlier stages came to, and, once the secret is revealed, the chance
that is drawn from it. A schedule that looks at ratings rests on every earlier event of the ladder
as well, and is not made again here; it is held to the number of its matches alone.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from arena.ladder.facts import State, absent_in
from arena.ladder.proof.document import Announcement, EventDocument, MatchEntry, Stage
from arena.ladder.ratings.evidence import match_score, owner_folded
from arena.ladder.schedules import Adaptive, AnySchedule, Scheduled, from_text
from arena.ladder.schedules import Stage as PlayedStage
from arena.ladder.schedules import State as Known
from arena.ladder.settings import Settings
from hokm.deck import mix
from hokm.outcome import Ending
from hokm.rules.variants import variant_of

Planned: TypeAlias = tuple[int, tuple[str, ...]]
"""A match as the schedule has it: its round, and its entrants in the order named."""

Totals: TypeAlias = Mapping[str, tuple[int, ...]]
"""By id, what each entrant of a match has of all its boards, in the order named."""


class NotReplannedError(Exception):
    """Why the schedule of an event cannot be made again here, or from here on."""


@dataclass(frozen=True, slots=True)
class Replanned:
    """A stage with the matches that it should have, in order."""

    stage: Stage
    matches: tuple[Planned, ...]


def schedule_of(event: EventDocument) -> AnySchedule:
    """The schedule that an event was played by; raises NotReplannedError for one not known here."""
    beginning = event.beginning
    text = event.announcement.schedule if beginning is None else beginning.schedule
    try:
        return from_text(text)
    except ValueError as error:
        raise NotReplannedError(str(error)) from error


def settled_otherwise(event: EventDocument) -> Iterator[str]:
    """The options in which the schedule that an event began with is not the one that was announced:
    what was left open then may be settled, nothing else.
    """
    if event.beginning is None:
        return
    announced = json.loads(event.announcement.schedule)
    began = json.loads(event.beginning.schedule)
    for option in sorted({*announced, *began}):
        if announced.get(option) not in (None, []) and announced[option] != began.get(option):
            yield option


def is_seeded(event: EventDocument) -> bool:
    """Whether it was settled as the event began who is seeded how."""
    beginning = event.beginning
    return beginning is not None and beginning.schedule != event.announcement.schedule


def replanned(event: EventDocument, *, totals: Totals) -> Iterator[Replanned]:
    """Every stage, made again from those before it.

    Raises NotReplannedError as soon as it cannot go on.
    """
    schedule = schedule_of(event)
    if schedule.uses_knowledge:
        raise NotReplannedError("it rests on the ratings of the whole ladder")
    played: list[PlayedStage] = []
    for stage in event.stages:
        state = _known(event, stage, played=played)
        yield Replanned(stage, _answer(schedule, state))
        played.append(_played(event, stage, totals=totals))


def could_go_on(event: EventDocument) -> bool:
    """Whether, by the document alone, an adaptive event had another match to choose as it ended:
    somebody in its last field had not played as often as its schedule lets anybody play, and there
    were others of whom the same is so to meet. Who failed to start in the last stage may have
    been taken out, and so may who was no longer there for a match of it; who was withdrawn after it
    cannot be seen.
    """
    schedule = schedule_of(event)
    assert isinstance(schedule, Adaptive)
    played = Counter(name for match in event.matches for name in match.entrants)
    field = {entrant.name for entrant in event.entrants}
    if event.stages:
        *_, last = event.stages
        field = set(last.field) - {
            name
            for match in last.matches
            if match.state is State.VOID
            and {one.voided_by for one in match.attempts[-1:]} != {Ending.HOST_FAULT}
            for name in match.entrants
        }
    if schedule.most is not None:
        field = {name for name in field if played[name] < schedule.most}
    met = {frozenset(pair) for match in event.matches for pair in combinations(match.entrants, 2)}
    owners = {entrant.name: owner_folded(entrant.owner) for entrant in event.entrants}
    remote = {entrant.name: entrant.is_remote for entrant in event.entrants}

    def may_meet(first: str, second: str) -> bool:
        # The arena's own bots are of one owner and meet; it can be seen by that they have. Remote
        # ones may be kept apart from all others, which can be seen by nothing else either.
        are_apart = owners[first] == owners[second] or remote[first] != remote[second]
        return not are_apart or frozenset((first, second)) in met

    pairs = [pair for pair in combinations(sorted(field), 2) if may_meet(*pair)]
    if variant_of(event.announcement.rules).sides == 2:
        return bool(pairs)
    # The third is looked for once the pair is drawn: one that finds none ends the event as well.
    return bool(pairs) and all(
        any(may_meet(one, first) and may_meet(one, second) for one in field - {first, second})
        for first, second in pairs
    )


def goes_on(event: EventDocument, *, totals: Totals) -> bool:
    """Whether the schedule of an event that is over would have gone on with those who were in its
    last stage. Raises NotReplannedError.
    """
    if not event.stages:
        return True
    *_, last = event.stages
    rounds = [match.round for match in last.matches]
    after = Stage(number=last.number + 1, field=last.field, matches=())
    played = [_played(event, stage, totals=totals) for stage in event.stages]
    state = replace(_known(event, after, played=played), first_round=max(rounds, default=0) + 1)
    return bool(_answer(schedule_of(event), state))


def _known(event: EventDocument, stage: Stage, *, played: Sequence[PlayedStage]) -> Known:
    index = _index(event)
    secret, beginning = event.secret, event.beginning
    return Known(
        names=tuple(index),
        field=tuple(index[name] for name in stage.field),
        mixed=b"" if secret is None or beginning is None else mix(secret, beginning.entropy),
        sides=variant_of(event.announcement.rules).sides,
        stages=tuple(played),
        stage=stage.number,
        first_round=min((match.round for match in stage.matches), default=1),
    )


def _answer(schedule: AnySchedule, state: Known) -> tuple[Planned, ...]:
    try:
        rounds = schedule.next_rounds(state)
    except (ValueError, LookupError) as error:
        if not state.mixed:
            raise NotReplannedError("it draws lots, and the secret is not revealed yet") from error
        raise NotReplannedError(f"it cannot be asked: {error}") from error
    return tuple(
        (round_.number, tuple(state.names[player] for player in meeting))
        for round_ in rounds
        for meeting in round_.meetings
    )


def _played(event: EventDocument, stage: Stage, *, totals: Totals) -> PlayedStage:
    index = _index(event)
    return PlayedStage(
        field=tuple(index[name] for name in stage.field),
        matches=tuple(
            Scheduled(
                tuple(index[name] for name in match.entrants),
                _points(match, event.announcement, totals=totals),
                tuple(index[name] for name in match.entrants if name == absent_in(match.because)),
            )
            for match in stage.matches
        ),
    )


def _index(event: EventDocument) -> dict[str, int]:
    return {entrant.name: player for player, entrant in enumerate(event.entrants)}


def _points(
    match: MatchEntry, announced: Announcement, *, totals: Totals
) -> tuple[float, ...] | None:
    """What each entrant has of the one match: the mean of what it has against each of the others.
    None for a match that does not count; one that was struck out does, since the schedule went on
    by its result.
    """
    if match.as_played.state is not State.PLAYED:
        return None
    if match.match not in totals:
        raise NotReplannedError(f"the result of {match.match} is not known")
    settings = _settings(announced)
    own = totals[match.match]
    points = [0.0] * len(own)
    for first, second in combinations(range(len(own)), 2):
        score = match_score(own[first] - own[second], settings=settings)
        points[first] += score / (len(own) - 1)
        points[second] += (1.0 - score) / (len(own) - 1)
    return tuple(points)


def _settings(announced: Announcement) -> Settings:
    try:
        return Settings(
            name=announced.ladder,
            rules=announced.rules,
            format=announced.format,
            length=announced.games,
            clock=announced.clock,
            score=announced.score,
        )
    except ValueError as error:
        raise NotReplannedError(f"no ladder has these settings: {error}") from error
