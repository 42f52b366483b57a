"""An event before its first card: announced, nonces taken, its entropy fixed; and what is published
of it, then and later.

Each step is a row first and then the document that says so (`records/<event>/event.json`), so that
a kill between the two loses nothing: whoever goes on publishes again what the rows say. The secret
is in neither before the end. How matches are played is the business of
`arena.ladder.events.playing`.
"""

import fcntl
import os
from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

from arena.ladder.errors import LadderError
from arena.ladder.facts import Attempt, Bot, Event, Fixture
from arena.ladder.files import unwritable, write_whole
from arena.ladder.ladder import Ladder
from arena.ladder.proof.checks import contradictions
from arena.ladder.proof.document import (
    EVENT_FILE,
    Announcement,
    AttemptEntry,
    Beginning,
    EventDocument,
    MatchEntry,
    Nonce,
    Stage,
    schedule_text,
    to_json,
)
from arena.ladder.proof.entropy import Source, beacon_text, entropy_of_beacon, entropy_of_nonces
from arena.ladder.proof.folder import check_event
from arena.ladder.schedules import Adaptive, AnySchedule, State, to_text
from hokm.deck import commitment
from hokm.records import EntrantRecord, RecordError
from hokm.records.document import parsed

_RESTORE: Final = "see what changed it, or restore it from a backup"


def announce(ladder: Ladder, *, schedule: AnySchedule, beacon: str | None, secret: bytes) -> Event:
    """Bind the ladder to the secret of its next event, and publish that; play nothing. What is
    announced already, in the same words, is published again. The caller holds the ladder.

    `beacon` names whose value will be the entropy, None where entrants may bring nonces.

    Raises LadderError where another event is under way or announced, and for a schedule that no
    field of this ladder could be paired by.
    """
    if beacon is not None:
        _checked("--beacon", beacon)
    under_way = ladder.store.event_under_way()
    if under_way is not None:
        is_same = (under_way.schedule, under_way.beacon) == (to_text(schedule), beacon)
        if is_same and not under_way.has_begun and not under_way.is_ending:
            publish(ladder, under_way)
            return under_way
        state = "has begun" if under_way.has_begun else "is announced already, in other words"
        remedy = "play it to its end first, with arena ladder run"
        if not under_way.has_begun:
            remedy = "play it, or call it off with arena ladder announce --call-off"
        raise LadderError(under_way.name, state, remedy=remedy)
    _refuse_impossible(ladder, schedule)
    number = len(ladder.store.events()) + 1
    event = Event(number, to_text(schedule), commitment(secret), beacon)
    ladder.keep_secret(event, secret)  # before the row: an event without it could never be dealt
    ladder.store.begin_event(event)
    publish(ladder, event)
    return event


def call_off(ladder: Ladder) -> Event:
    """End the event that is announced without playing it, and reveal its secret: it keeps its
    number, so that nobody can announce until he likes the deals and hide it. The caller holds the
    ladder.

    Raises LadderError where no event is announced, or it has begun.
    """
    event = _announced(ladder)
    secret = ladder.secret_of(event)
    ladder.store.begin_ending(event)  # first, or it could be played with what everybody knows
    event = replace(event, secret=secret, is_ending=True)
    publish(ladder, event)
    ladder.store.finish_event(event, secret=secret)
    return event


def _announced(ladder: Ladder) -> Event:
    event = ladder.store.event_under_way()
    if event is None:
        remedy = "announce one with arena ladder announce"
        raise LadderError(ladder.folder, "no event is announced", remedy=remedy)
    if event.has_begun:
        problem = "has begun: its entropy is fixed"
        raise LadderError(event.name, problem, remedy="play it to its end, with arena ladder run")
    return event


def _refuse_impossible(ladder: Ladder, schedule: AnySchedule) -> None:
    """Raise LadderError for a schedule that fits no field, however large: once it is announced
    nothing else could be played. Who may still enter is not asked.
    """
    if isinstance(schedule, Adaptive):
        return  # which pairs whoever there is, and would ask for ratings
    named = [name for option in fields(schedule) for name in _names(getattr(schedule, option.name))]
    names = (*named, *(f"another-{place}" for place in range(16)))
    sides = ladder.settings.sides
    try:
        schedule.settled(State(names, tuple(range(len(names))), mixed=bytes(32), sides=sides))
    except ValueError as error:
        raise LadderError(ladder.folder, str(error), remedy="take another --schedule") from error


def _names(option: object) -> tuple[str, ...]:
    return option if isinstance(option, tuple) else ()


def take_nonce(ladder: Ladder, bot: str, *, nonce: bytes) -> Event:
    """Take what an entrant brings for the event that is announced, and publish it. The caller holds
    the ladder.

    Raises LadderError where no event is announced, or it has begun, or has a beacon; for a bot that
    is not entered, or inactive; and for a second nonce of a bot: who could change his would choose
    last.
    """
    event = _announced(ladder)
    if event.is_ending:
        problem = "is being called off"
        remedy = "give arena ladder announce --call-off again, to its end"
        raise LadderError(event.name, problem, remedy=remedy)
    if event.beacon is not None:
        problem = f"takes no nonces: its entropy comes from {event.beacon}"
        raise LadderError(event.name, problem, remedy="leave it, or announce one without a beacon")
    known = {one.name: one for one in ladder.store.bots()}
    if bot not in known:
        remedy = "give the name of a bot that is, or add it first"
        raise LadderError(bot, "is not entered here", remedy=remedy)
    if not known[bot].is_active:
        problem = f"is inactive ({known[bot].inactive_because})"
        raise LadderError(bot, problem, remedy="only who can play brings a nonce")
    number = known[bot].number
    given = ladder.store.nonces(event).get(number)
    if given not in (None, nonce):
        problem = f"has brought its nonce for {event.name} already"
        raise LadderError(bot, problem, remedy="it stays: who could change his would choose last")
    if given is None:
        ladder.store.add_nonce(event, bot=number, nonce=nonce)
    publish(ladder, event)
    return event


def begin(
    ladder: Ladder, event: Event, *, beacon_value: str | None, settle: Callable[[Event], str]
) -> Event:
    """Fix the entropy of an event, once and for all, and its schedule with it. The caller holds the
    ladder, and publishes it before the first card.

    `beacon_value` is what its beacon published, None where it has none. `settle` makes of the event
    with its entropy its schedule as it is from then on. An event that has begun is left as it is.

    Raises LadderError for a value that is missing, or is another than it began with.
    """
    if event.beacon is None and beacon_value is not None:
        problem = "was announced without a beacon"
        raise LadderError(event.name, problem, remedy="leave --entropy out")
    if beacon_value is not None:
        _checked("--entropy", beacon_value)
    if event.has_begun:
        if beacon_value not in (None, event.beacon_value):
            problem = f"has begun with {event.beacon_value}"
            raise LadderError(event.name, problem, remedy="leave --entropy out: that stays")
        return event
    if event.beacon is None:
        entropy = entropy_of_nonces(ladder.store.nonces(event).values())
    elif beacon_value is None:
        problem = f"needs what {event.beacon} has published"
        raise LadderError(event.name, problem, remedy="give it with --entropy")
    else:
        entropy = entropy_of_beacon(beacon_value)
    entered = len(ladder.store.bots())
    event = replace(event, entropy=entropy, beacon_value=beacon_value, entered=entered)
    event = replace(event, settled=settle(event))
    ladder.store.fix_entropy(event, entropy)
    return event


def source_of(event: Event) -> Source:
    """Where the entropy of an event that has begun comes from."""
    if event.beacon_value is not None:
        return Source.BEACON
    return Source.NONCES if event.entropy else Source.NOTHING


# -- what is published


def publish(ladder: Ladder, event: Event) -> EventDocument:
    """Write the document of an event as it is now, whole.

    Raises LadderError where it cannot be written.
    """
    folder = ladder.records_folder / event.name
    file = folder / EVENT_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Whoever publishes reads the rows inside, so nobody puts an older document over a newer.
        with _alone(folder):
            document = document_of(ladder, event)
            write_whole(file, to_json(document), mode=0o644)
    except OSError as error:
        raise unwritable(error, file) from error
    return document


def republish(ladder: Ladder) -> None:
    """Publish the event that is announced, if there is one and it has not begun: a copy that
    somebody keeps then says who was entered before the entropy was known. Raises as `publish`.
    """
    event = ladder.store.event_under_way()
    if event is not None and not event.has_begun and not event.is_ending:
        publish(ladder, event)


def publish_again(ladder: Ladder, number: int) -> None:
    """Write the document of an event as it is now, for a change that came from elsewhere than its
    play. Raises as `publish`.

    Who is ending it meanwhile has yet to publish it, and more of it than is known here.
    """
    event = ladder.store.event(number)
    folder = ladder.records_folder / event.name
    file = folder / EVENT_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            event = ladder.store.event(number)
            if event.is_over or not event.is_ending:
                write_whole(file, to_json(document_of(ladder, event)), mode=0o644)
    except OSError as error:
        raise unwritable(error, file) from error


def document_of(ladder: Ladder, event: Event) -> EventDocument:
    """All that there is to say of an event. Its secret is said if `event` has it, the rest is as
    the store has it.

    Raises LadderError for a store that says what cannot be.
    """
    with ladder.reading_of(event, remedy=_RESTORE):
        return _document(ladder, event)


def _document(ladder: Ladder, event: Event) -> EventDocument:
    kept = ladder.store.event(event.number)
    bots = ladder.store.bots()
    names = {bot.number: bot.name for bot in bots}
    attempts: defaultdict[str, list[Attempt]] = defaultdict(list)
    for attempt in ladder.store.attempts(kept):
        attempts[attempt.match].append(attempt)
    return EventDocument(
        announcement=_announcement(ladder, kept),
        entrants=tuple(_entrant(bot) for bot in bots),
        nonces=tuple(
            Nonce(entrant=names[bot], value=nonce)
            for bot, nonce in sorted(ladder.store.nonces(kept).items())
        ),
        beginning=_beginning(kept, entered=len(bots)),
        stages=tuple(
            Stage(
                number=stage.number,
                field=tuple(names[bot] for bot in stage.field),
                matches=tuple(
                    _match(fixture, names=names, attempts=attempts[fixture.match.id])
                    for fixture in stage.fixtures
                ),
            )
            for stage in ladder.store.stages(kept)
        ),
        secret=event.secret,
    )


def problems(ladder: Ladder, *, told: Container[tuple[str, int]] = ()) -> Iterator[LadderError]:
    """What is not so of the ladder's events by their documents and records, or at odds with the
    database; but for attempts that are `told` of already, by match and number. Of an event that an
    arena without documents played there is nothing to say.
    """
    for event in ladder.store.events():
        if event.has_begun and event.entered is None:
            continue
        folder = ladder.records_folder / event.name
        file = folder / EVENT_FILE
        try:
            report = check_event(folder)
        except FileNotFoundError:
            if event.has_begun and event.settled is None and not event.is_over:
                continue  # an older arena began it, and the next run publishes it
            yield LadderError(file, "is missing", remedy=_RESTORE)
        except OSError as error:
            yield LadderError(file, f"cannot be read ({error.strerror})", remedy=_RESTORE)
        except RecordError as error:
            problem = str(error).removeprefix(f"{file}: ")
            yield LadderError(file, f"is damaged ({problem})", remedy=_RESTORE)
        else:
            try:
                rows = document_of(ladder, event)
            except LadderError as error:
                yield error
                continue
            kept = tuple(contradictions(report.event, rows))
            # In a backup the document may be newer than the database; the next run publishes again.
            if not any(contradictions(rows, report.event)):
                kept = ()
            for finding in (*report.findings, *kept):
                if finding.match is None or (finding.match, finding.attempt) not in told:
                    yield LadderError(folder, str(finding), remedy=_RESTORE)


def _announcement(ladder: Ladder, event: Event) -> Announcement:
    settings = ladder.settings
    return Announcement(
        event=event.name,
        ladder=settings.name,
        format=settings.format,
        rules=settings.rules,
        games=settings.length,
        clock=settings.clock,
        tick_seconds=settings.tick_seconds,
        score=settings.score,
        schedule=_canonical(event.schedule),
        commitment=event.commitment,
        beacon=event.beacon,
    )


def _beginning(event: Event, *, entered: int) -> Beginning | None:
    if event.entropy is None:
        return None
    return Beginning(
        entropy=event.entropy,
        source=source_of(event),
        beacon_value=event.beacon_value,
        entrants=entered if event.entered is None else event.entered,
        schedule=_canonical(event.settled or event.schedule),
    )


def _match(fixture: Fixture, *, names: dict[int, str], attempts: list[Attempt]) -> MatchEntry:
    return MatchEntry(
        match=fixture.match.id,
        round=fixture.match.round,
        entrants=tuple(names[bot] for bot in fixture.match.entrants),
        state=fixture.state,
        because=fixture.because,
        attempts=tuple(
            AttemptEntry(
                number=attempt.number,
                voided_by=attempt.voided_by,
                digest=attempt.record_digest,
                struck=attempt.struck,
            )
            for attempt in attempts
        ),
    )


def _entrant(bot: Bot) -> EntrantRecord:
    return EntrantRecord(name=bot.name, owner=bot.owner, version=bot.version, digest=bot.digest)


def _canonical(schedule: str) -> str:
    document = parsed(schedule.encode())
    if not isinstance(document, dict):
        raise ValueError(f"no schedule: {schedule}")
    return schedule_text(document)


def _checked(where: str, text: str) -> None:
    try:
        beacon_text(text)
    except ValueError as error:
        remedy = "give one line, as it is published"
        raise LadderError(where, str(error), remedy=remedy) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until nobody else writes into a folder, and keep others waiting."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
