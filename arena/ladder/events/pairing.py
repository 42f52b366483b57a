"""What the schedule of an event is asked with: who may be paired, what was played, what is known.

All of it follows from what the ladder keeps, so that an event that was interrupted is paired as it
would have been. Who is paired with whom is the business of `arena.ladder.schedules`.
"""

from collections.abc import Iterator

import numpy as np

from arena.ladder.facts import Bot, Event, Fixture, State, absent_in
from arena.ladder.facts import Stage as Stored
from arena.ladder.ratings.bradley_terry import fit
from arena.ladder.ratings.evidence import family, match_score
from arena.ladder.ratings.fitted import Errors
from arena.ladder.ratings.played import Played, are_rated, evidence
from arena.ladder.schedules import AnySchedule, Knowledge, Place, Scheduled, Stage, from_text
from arena.ladder.schedules import State as Known
from arena.ladder.settings import Settings
from arena.ladder.store import Store
from hokm.deck import SEED_BYTES

UNKNOWN_CPU_SECONDS = 4.0
"""What a match is taken to cost a bot that has played none: four processes of a cheap one."""


def known(
    store: Store,
    event: Event,
    schedule: AnySchedule,
    *,
    settings: Settings,
    mixed: bytes,
    are_guests_apart: bool = False,
) -> Known:
    """The state of an event, for its schedule; `mixed` is its mixed secret. Bots that stay at home
    may be kept apart from all others.
    """
    bots = store.bots()
    stage, last_round = store.last_numbers()
    return Known(
        names=tuple(bot.name for bot in bots),
        field=tuple(index for index, bot in enumerate(bots) if bot.is_active),
        mixed=mixed,
        sides=settings.sides,
        stages=_stages(store, event, bots, settings=settings),
        stage=stage + 1,
        first_round=last_round + 1,
        apart=_apart(bots, are_guests_apart=are_guests_apart),
        knowledge=_knowledge(store, bots, settings=settings) if schedule.uses_knowledge else None,
    )


def ranking(store: Store, event: Event, *, settings: Settings) -> tuple[tuple[str, Place], ...]:
    """Who won an event, by name and with what, best first, as far as it has come; empty for one
    that is played for the ratings alone.
    """
    schedule = from_text(event.settled or event.schedule)
    no_chance = bytes(SEED_BYTES)  # it is drawn for pairings only
    state = known(store, event, schedule, settings=settings, mixed=no_chance)
    return tuple((state.names[place.player], place) for place in schedule.ranking(state))


def _stages(
    store: Store, event: Event, bots: tuple[Bot, ...], *, settings: Settings
) -> tuple[Stage, ...]:
    index = {bot.number: place for place, bot in enumerate(bots)}
    scores: dict[tuple[int, int], dict[int, list[float]]] = {}
    stages = store.stages(event)
    for number, place, first, second, difference in _differences(store, event, stages):
        score = match_score(difference, settings=settings)
        of_match = scores.setdefault((number, place), {})
        of_match.setdefault(first, []).append(score)
        of_match.setdefault(second, []).append(1.0 - score)

    def scheduled(fixture: Fixture) -> Scheduled:
        match = fixture.match
        meeting = tuple(index[number] for number in match.entrants)
        if fixture.state is not State.PLAYED and (match.round, match.place) not in scores:
            name = absent_in(fixture.because)
            absent = tuple(player for player in meeting if bots[player].name == name)
            return Scheduled(meeting, None, absent)
        # Of a match of three what an entrant has is the mean of what it has against the two.
        found = [scores[match.round, match.place][number] for number in match.entrants]
        return Scheduled(meeting, tuple(sum(own) / len(own) for own in found))

    return tuple(
        Stage(
            field=tuple(index[number] for number in stage.field),
            matches=tuple(scheduled(fixture) for fixture in stage.fixtures),
        )
        for stage in stages
    )


def _differences(
    store: Store, event: Event, stages: tuple[Stored, ...]
) -> Iterator[tuple[int, int, int, int, int]]:
    """Round, place, first, second and difference of all that was played. What was struck out is in
    it: pairings went on by its result, and anybody must find the same ones.
    """
    for number, place, first, second, *_, difference in store.pairs(event).tolist():
        yield number, place, first, second, difference
    places = {
        fixture.match.id: fixture.match.place
        for stage in stages
        for fixture in stage.fixtures
        if fixture.state is State.VOID
    }
    for result in store.results(struck=True) if places else ():
        if result.match in places:
            for pair in result.pairs():
                place = places[result.match]
                yield result.round, place, pair.first, pair.second, pair.difference


def _apart(bots: tuple[Bot, ...], *, are_guests_apart: bool) -> frozenset[tuple[int, int]]:
    """Whose matches would not be rated, or are not wanted."""
    families = [family(bot) for bot in bots]
    return frozenset(
        (one, other)
        for other in range(len(bots))
        for one in range(other)
        if families[one] == families[other]
        or not (bots[one].rated and bots[other].rated)
        or (are_guests_apart and bots[one].remote != bots[other].remote)
    )


def _knowledge(store: Store, bots: tuple[Bot, ...], *, settings: Settings) -> Knowledge:
    played = Played.of(bots, store.pairs(), sides=settings.sides)
    rated = played.where(are_rated(bots, played))
    names = [bot.name for bot in bots]
    fitted = fit(evidence(bots, rated, settings=settings, among=names)).centred()
    met = np.zeros((len(bots), len(bots)), np.int64)
    for first, second in rated.columns:
        np.add.at(met, (rated.lineups[:, first], rated.lineups[:, second]), 1)
    label = {name: number for number, group in enumerate(fitted.groups) for name in group}
    cost = store.cpu_seconds()
    return Knowledge(
        ratings=fitted.ratings,
        covariance=fitted.covariances[Errors.MODEL],
        met=met + met.T,
        groups=tuple(label[name] for name in names),
        cpu_seconds=np.array([cost.get(bot.number, UNKNOWN_CPU_SECONDS) for bot in bots]),
    )
