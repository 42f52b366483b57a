"""Is an event what its document says: its secret, its entropy, its schedule, and every record?

Everything is worked out again from the document and the records alone, as anybody can who has the
two; whatever differs is an :class:`EventFinding`. What cannot be worked out from them is not passed
over: :func:`unchecked` says it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from arena.ladder.facts import State
from arena.ladder.matches.boards import joined_names
from arena.ladder.matches.verdict import ATTEMPTS, Voided, verdict
from arena.ladder.proof.document import AttemptEntry, EventDocument, MatchEntry, Stage
from arena.ladder.proof.entropy import Source, entropy_of_beacon, entropy_of_nonces
from arena.ladder.proof.replanning import (
    NotReplannedError,
    Replanned,
    Totals,
    could_go_on,
    goes_on,
    is_seeded,
    replanned,
    schedule_of,
    settled_otherwise,
)
from arena.ladder.schedules import Adaptive
from hokm.deck import commitment
from hokm.errors import quoted
from hokm.outcome import Ending
from hokm.records import (
    Format,
    MatchRecord,
    Place,
    Policy,
    deal_id,
    substance_digest,
    verify,
)


@dataclass(frozen=True, slots=True)
class EventFinding:
    """Something of an event that is not so: ``what``, and where, as far as it is one place."""

    what: str
    match: str | None = None
    attempt: int = 1
    place: Place = Place()  # noqa: RUF009  # immutable

    def __str__(self) -> str:
        named = "" if self.match is None else deal_id(self.match, attempt=self.attempt)
        return ": ".join(filter(None, [named, str(self.place), self.what]))


# -- the document alone


def document_findings(event: EventDocument) -> Iterator[EventFinding]:
    """Everything that is not so by the document itself."""
    yield from _secret(event)
    yield from _entropy(event)
    yield from _stages(event)
    yield from _matches(event)
    yield from _number_of_matches(event)
    for option in settled_otherwise(event):
        yield EventFinding(f"its schedule began with another {option} than was announced")


def _secret(event: EventDocument) -> Iterator[EventFinding]:
    if event.secret is not None and commitment(event.secret) != event.announcement.commitment:
        yield EventFinding("the secret is not the one that was committed to")


def _entropy(event: EventDocument) -> Iterator[EventFinding]:
    beginning, beacon = event.beginning, event.announcement.beacon
    if beacon is not None and event.nonces:
        yield EventFinding("a beacon was announced, and there are nonces as well")
    if beginning is None:
        return
    if (beginning.beacon_value is not None) != (beginning.source is Source.BEACON):
        yield EventFinding("a beacon's value belongs to an entropy from a beacon, and to no other")
        return
    if beacon is not None:
        expected = Source.BEACON
    else:
        expected = Source.NONCES if event.nonces else Source.NOTHING
    if beginning.source is not expected:
        what = f"its entropy comes from {beginning.source.value}, and should from {expected.value}"
        yield EventFinding(what)
    match beginning.source:
        case Source.BEACON:
            assert beginning.beacon_value is not None
            entropy = entropy_of_beacon(beginning.beacon_value)
        case Source.NONCES:
            entropy = entropy_of_nonces(nonce.value for nonce in event.nonces)
        case Source.NOTHING:
            entropy = b""
    if beginning.entropy != entropy:
        what = f"from {beginning.source.value} its entropy is {entropy.hex() or 'empty'}"
        yield EventFinding(f"{what}, not {beginning.entropy.hex() or 'empty'}")
    early = {entrant.name for entrant in event.entrants[: beginning.entrants]}
    for nonce in event.nonces:
        if nonce.entrant not in early:
            yield EventFinding(f"{nonce.entrant} was entered later, and has a nonce")


def _stages(event: EventDocument) -> Iterator[EventFinding]:
    places = {entrant.name: place for place, entrant in enumerate(event.entrants)}
    for before, after in pairwise(event.stages):
        if after.number != before.number + 1:
            yield EventFinding(f"stage {after.number} follows stage {before.number}")
        if _rounds(before) and _rounds(after) and max(_rounds(before)) >= min(_rounds(after)):
            yield EventFinding(f"stage {after.number} has rounds of the stage before it")
    for stage in event.stages:
        numbers = [places[name] for name in stage.field]
        if any(first >= second for first, second in pairwise(numbers)):
            what = "does not stand in the order in which bots were entered"
            yield EventFinding(f"the field of stage {stage.number} {what}")
        for match in stage.matches:
            for name in match.entrants:
                if name not in stage.field:
                    what = f"{name} is not in the field of stage {stage.number}"
                    yield EventFinding(what, match.match)
    rounds = [match.round for match in event.matches]
    for before_, after_ in pairwise(rounds):
        if after_ not in (before_, before_ + 1):
            yield EventFinding(f"round {after_} follows round {before_}")


def _matches(event: EventDocument) -> Iterator[EventFinding]:
    ids = Counter(match.match for match in event.matches)
    for id_, times in ids.items():
        if times > 1:
            yield EventFinding(f"it is scheduled {times} times", id_)
    playing: Counter[tuple[int, str]] = Counter()
    for match in event.matches:
        if match.match != (expected := id_of(event, match)):
            yield EventFinding(
                f"by its round and entrants its id is {quoted(expected)}", match.match
            )
        playing.update((match.round, name) for name in match.entrants)
        yield from _attempts(match, is_over=event.is_over)
    for (number, name), times in playing.items():
        if times > 1:
            yield EventFinding(f"{name} plays {times} times in round {number}")


def _number_of_matches(event: EventDocument) -> Iterator[EventFinding]:
    """Of an adaptive event: which matches it should have is not known here, how many is. Those that
    were void are among them.
    """
    with suppress(NotReplannedError):  # `unchecked` says it
        there, schedule = len(event.matches), schedule_of(event)
        if not isinstance(schedule, Adaptive):
            return
        if there > schedule.matches:
            yield EventFinding(f"its schedule has {schedule.matches} matches, and it has {there}")
        if _is_short(event) and could_go_on(event):
            what = f"it is over with {there} of the {schedule.matches} matches of its schedule"
            yield EventFinding(what)


def _is_short(event: EventDocument) -> bool:
    """Whether an event is over with fewer matches than it should have, if it is an adaptive one."""
    schedule = schedule_of(event)
    return (
        isinstance(schedule, Adaptive)
        and event.is_over
        and event.beginning is not None
        and len(event.matches) < schedule.matches
    )


def id_of(event: EventDocument, match: MatchEntry) -> str:
    """The id that a match has by its round and entrants."""
    return f"{event.announcement.event}/r{match.round}/{joined_names(match.entrants)}"


def _attempts(match: MatchEntry, *, is_over: bool) -> Iterator[EventFinding]:
    numbers = [attempt.number for attempt in match.attempts]
    endings = [attempt.voided_by for attempt in match.attempts]
    if numbers != list(range(1, len(numbers) + 1)):
        yield EventFinding(
            f"its attempts are numbered {numbers}, not 1, 2, 3 and so on", match.match
        )
    for attempt in match.attempts[:-1]:
        if attempt.voided_by is not Ending.HOST_FAULT and attempt.struck is None:
            what = "another attempt follows, and no fault of the host voided this one"
            yield EventFinding(what, match.match, attempt.number)
    last = endings[-1] if endings else None
    match match.state:
        case State.PLAYED if not endings or last is not None or match.is_struck:
            yield EventFinding("it is said to be played, and no attempt counts", match.match)
        case State.VOID if endings and last is None and not match.is_struck:
            yield EventFinding("it is said to be void, and an attempt counts", match.match)
        case State.VOID if not match.because:
            yield EventFinding("it is void, and it is not said why", match.match)
        case State.SCHEDULED if is_over:
            yield EventFinding("the event is over, and it was not played", match.match)
        case State.SCHEDULED if endings and last is not Ending.HOST_FAULT and not match.is_struck:
            yield EventFinding("an attempt decided it, and it is still to be played", match.match)
        case _:
            pass
    if len(numbers) > ATTEMPTS:
        yield EventFinding(f"it has {len(numbers)} attempts; {ATTEMPTS} are the most", match.match)


def schedule_findings(event: EventDocument, *, totals: Totals) -> Iterator[EventFinding]:
    """The matches that the schedule makes and the event does not have, or the other way round;
    `totals` say what came of those that were played. What cannot be made again is not judged.
    """
    with suppress(NotReplannedError):  # `unchecked` says it
        for planned in replanned(event, totals=totals):
            yield from _differences(planned)


def succession(before: EventDocument, after: EventDocument) -> Iterator[EventFinding]:
    """What is not so between two events of a ladder that follow each other: stages and rounds are
    numbered on, since who is at home, and what is drawn, depends on their numbers.
    """
    if not before.stages or not after.stages:
        return
    last, first = before.stages[-1], after.stages[0]
    for what, ended, begins in (
        ("stage", last.number, first.number),
        ("round", max(_rounds(last), default=0), min(_rounds(first), default=0)),
    ):
        if begins != ended + 1:
            yield EventFinding(
                f"it begins with {what} {begins}; the event before ends with {ended}"
            )


def _differences(planned: Replanned) -> Iterator[EventFinding]:
    stage = planned.stage
    stated = [(match.round, match.entrants) for match in stage.matches]
    there, expected = set(stated), set(planned.matches)
    for number, names in planned.matches:
        if (number, names) not in there:
            what = f"the schedule has {' against '.join(names)} in round {number}"
            yield EventFinding(f"{what}, and stage {stage.number} has not")
    for match in stage.matches:
        if (match.round, match.entrants) not in expected:
            yield EventFinding(
                f"the schedule does not have it in stage {stage.number}", match.match
            )
    if there == expected and stated != list(planned.matches):
        yield EventFinding(f"the matches of stage {stage.number} stand in another order")


def _rounds(stage: Stage) -> list[int]:
    return [match.round for match in stage.matches]


# -- a record, and what an earlier document said


def record_findings(
    event: EventDocument, match: MatchEntry, attempt: AttemptEntry, record: MatchRecord
) -> Iterator[EventFinding]:
    """Everything that is not so in the record of an attempt, or is not as the document has it."""

    def finding(what: str, place: Place = Place()) -> EventFinding:  # noqa: B008  # immutable
        return EventFinding(what, match.match, attempt.number, place)

    if (digest := substance_digest(record)) != attempt.digest:
        yield finding(f"its record has the substance digest {digest}, not {attempt.digest}")
    for what in _unlike(event, match, attempt, record):
        yield finding(f"by its record {what}")
    entropy = None if event.beginning is None else event.beginning.entropy
    if record.entropy not in (None, entropy):
        yield finding("its record has another entropy than the event")
    if event.is_over:
        # At the end records say it first; against the commitment they are held in any case.
        if record.secret not in (None, event.secret):
            yield finding("its record has another secret than the event")
        if record.secret is None:
            yield finding("the event is over, and its record does not reveal the secret")
        # With the event's own, so that a record that reveals nothing is held to it all the same.
        record = replace(record, secret=event.secret, entropy=entropy)
    if record.format is Format.BOARDS:
        there = {(seed.game, seed.hand) for seed in record.seeds}
        for board in range(1, record.games + 1):
            if (board, 1) not in there:
                yield finding("its seed is not revealed", Place(game=board))
    for inner in verify(record):
        yield finding(inner.what, inner.place)
    found = verdict(record)
    ending = found.ending if isinstance(found, Voided) else None
    if ending is not attempt.voided_by:
        yield finding(f"by its record it {_came_to(ending)}, not {_came_to(attempt.voided_by)}")


def _unlike(
    event: EventDocument, match: MatchEntry, attempt: AttemptEntry, record: MatchRecord
) -> Iterator[str]:
    """In what the head of a record differs from what was announced and scheduled."""
    announced = event.announcement
    entrants = {entrant.name: entrant for entrant in event.entrants}
    stated: Sequence[tuple[str, object, object]] = (
        ("id", record.match, match.match),
        ("attempt", record.attempt, attempt.number),
        ("event", record.event, announced.event),
        ("commitment", record.commitment.hex(), announced.commitment.hex()),
        ("format", record.format.value, announced.format.value),
        ("rules", record.rules.options(), announced.rules.options()),
        ("number of players", record.rules.players, announced.rules.players),
        ("number of games", record.games, announced.games),
        ("clock", record.clock, announced.clock),
        ("policy", record.policy.value, Policy.RATED.value),
        (
            "entrants",
            [f"{one.name} {one.version} ({one.owner}), {one.digest}" for one in record.entrants],
            [
                f"{one.name} {one.version} ({one.owner}), {one.digest}"
                for one in map(entrants.__getitem__, match.entrants)
            ],
        ),
    )
    for name, found, expected in stated:
        if found != expected:
            yield f"the {name} is {quoted(found)}, not {quoted(expected)}"


def _came_to(ending: Ending | None) -> str:
    return "counts" if ending is None else f"is void by {ending.value}"


def contradictions(earlier: EventDocument, now: EventDocument) -> Iterator[EventFinding]:
    """What an earlier document of the same event said and this one does not: there is nothing, if
    each only added to the one before.
    """
    if earlier.announcement != now.announcement:
        yield EventFinding("what was announced is not what was announced earlier")
    if now.entrants[: len(earlier.entrants)] != earlier.entrants:
        yield EventFinding("its first entrants are not those of the earlier document")
    nonces = {nonce.entrant: nonce.value for nonce in now.nonces}
    for nonce in earlier.nonces:
        if nonces.get(nonce.entrant) != nonce.value:
            yield EventFinding(f"the nonce of {nonce.entrant} was {nonce.value.hex()} earlier")
    if earlier.beginning is not None:
        if now.beginning != earlier.beginning:
            yield EventFinding("its entropy, or what it came from, was another earlier")
        if len(now.nonces) > len(earlier.nonces):
            yield EventFinding("a nonce was added after the entropy was fixed")
    if earlier.secret not in (None, now.secret):
        yield EventFinding("its secret was another earlier")
    if earlier.secret is not None and _course(now) != _course(earlier):
        yield EventFinding("it went on after its secret was revealed")
    if len(now.stages) < len(earlier.stages):
        yield EventFinding("stages of the earlier document are missing")
    for before, after in zip(earlier.stages, now.stages, strict=False):
        yield from _contradictions_of(before, after)


def _course(event: EventDocument) -> tuple[object, ...]:
    """What may not change any more once the deals are known to all; bots enter for other events,
    and a result may be struck out.
    """
    stages = (replace(one, matches=tuple(m.as_played for m in one.matches)) for one in event.stages)
    return event.nonces, event.beginning, tuple(stages)


def _contradictions_of(before: Stage, after: Stage) -> Iterator[EventFinding]:
    if (before.number, before.field) != (after.number, after.field):
        yield EventFinding(f"stage {before.number} had another field earlier")
    now = {match.match: match for match in after.matches}
    if len(now) != len(before.matches):
        yield EventFinding(f"stage {before.number} had {len(before.matches)} matches earlier")
    for match in before.matches:
        if (later := now.get(match.match)) is None:
            yield EventFinding("it was scheduled earlier, and is not there", match.match)
        elif (later.round, later.entrants) != (match.round, match.entrants):
            yield EventFinding("its round, or the order of its entrants, was another", match.match)
        elif not _only_struck(match, later):
            yield EventFinding("its attempts were others earlier", match.match)
        elif match.state is not State.SCHEDULED and later != match and not _undone(match, later):
            yield EventFinding(f"it was {match.state.value} earlier", match.match)


def _undone(match: MatchEntry, later: MatchEntry) -> bool:
    """Whether the attempt that had decided a match is struck out, for all to see."""
    decided = len(match.attempts)
    return decided > 0 and later.attempts[decided - 1].struck is not None


def _only_struck(match: MatchEntry, later: MatchEntry) -> bool:
    """Whether a match still has all its attempts, as they were but for those struck out since."""
    return len(later.attempts) >= len(match.attempts) and all(
        replace(now, struck=None) == replace(then, struck=None)
        and then.struck in (None, now.struck)
        for then, now in zip(match.attempts, later.attempts, strict=False)
    )


# -- what is left to say


def unchecked(event: EventDocument, *, totals: Totals) -> Iterator[str]:
    """What nobody can tell from an event's document and records, and what to look at oneself."""
    if event.is_over and event.beginning is None:
        yield "why it was called off: how often that happens, and whether the entropy was known"
    match None if event.beginning is None else event.beginning.source:
        case Source.NOTHING:
            what = "that nobody chose the secret for its deals: there is no entropy"
            yield f"{what}, so that is the operator's word alone"
        case Source.NONCES:
            yield "whether whoever brought the last nonce knew the secret, or the other nonces"
        case Source.BEACON:
            yield (
                f"whether {event.announcement.beacon} published that value, and not before the "
                "announcement: compare it with the beacon's own archive"
            )
        case _:
            pass
    if event.secret is None:
        yield "the secret is not revealed yet: seeds cannot be compared with the commitment"
    played = {name for stage in event.stages for name in stage.field}
    if late := [name for name in event.late if name in played]:
        yield (
            f"entered when the entropy was fixed, so by somebody who may have known the deals: "
            f"{', '.join(late)}"
        )
    for stage in event.stages:
        known = [entrant.name for entrant in event.entrants]
        if absent := [name for name in known if name not in stage.field]:
            yield (
                f"why stage {stage.number} was planned without {', '.join(absent)}: entered later, "
                "withdrawn, disabled or away, as the operator says"
            )
    if is_seeded(event):
        yield "why they are seeded as they are: by the ratings of the whole ladder as it began"
    yield from _unplanned(event, totals=totals)
    for match in event.matches:
        if match.state is State.VOID and match.because is not None and not match.is_struck:
            yield f"whether {match.match} had to be void: {match.because}"
        for attempt in match.attempts:
            if attempt.struck is not None:
                named = deal_id(match.match, attempt=attempt.number)
                yield f"whether {named} had to be struck out by the operator: {attempt.struck}"


def _unplanned(event: EventDocument, *, totals: Totals) -> Iterator[str]:
    try:
        for _ in replanned(event, totals=totals):
            pass
        if event.is_over and event.beginning is not None and goes_on(event, totals=totals):
            yield "why it ended before its schedule did"
    except NotReplannedError as error:
        yield f"whether the matches are those that its schedule makes: {error}"
        with suppress(NotReplannedError):
            if _is_short(event) and not could_go_on(event):
                yield "why it ended before its schedule did"
