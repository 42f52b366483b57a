"""Whether a ladder is what it says: bots, records, secrets, results and ratings, all worked out
again from what they rest on.

Nothing is changed; what is found is told with its remedy. A single event without its ladder is the
business of `arena.ladder.proof`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import zip_longest
from typing import Final

from arena.ladder.bots.frozen import thaw
from arena.ladder.errors import LadderError
from arena.ladder.events.announcing import problems as problems_of_events
from arena.ladder.facts import Attempt, Result
from arena.ladder.ladder import Ladder
from arena.ladder.matches.verdict import Voided, forfeits, verdict
from arena.ladder.ratings.evidence import elo_by_round
from hokm.records import MatchRecord, RecordError, load, substance_digest

_RESTORE: Final = "restore it from a backup"


def check(ladder: Ladder) -> list[LadderError]:
    """Compare what the ladder rests on with what is there: bots, records, secret, ratings; and see
    that its events are what they were announced to be.
    """
    problems: list[LadderError] = []
    for bot in ladder.store.bots():
        if bot.remote:  # it has no files here
            continue
        try:
            thaw(bot.digest, bots=ladder.bots_folder)
        except LadderError as error:
            problems.append(error)
    event = ladder.store.event_under_way()
    if event is not None:
        try:
            ladder.secret_of(event)
        except LadderError as error:
            problems.append(error)
    damaged: list[str] = []
    results = ladder.store.results(damaged=damaged)
    database = ladder.store.where
    for match in damaged:
        problem = f"holds a result of {match} that is damaged"
        problems.append(LadderError(database, problem, remedy=_RESTORE))
    struck = ladder.store.results(damaged=damaged, struck=True)
    by_match = {result.match: result for result in (*results, *struck)}
    attempts = ladder.store.attempts()
    last = {attempt.match: attempt.number for attempt in attempts}
    struck_results = {(result.match, last.get(result.match)) for result in struck}
    told: set[tuple[str, int]] = set()
    for attempt in attempts:
        result = by_match.get(attempt.match)
        counts = attempt.voided_by is None and attempt.match not in damaged
        if attempt.struck is not None and (attempt.match, attempt.number) not in struck_results:
            counts = False  # another attempt followed, and gave the result
        found = _record_problem(ladder, attempt, result=result, counts=counts)
        if found is not None:
            problems.append(found)
            told.add((attempt.match, attempt.number))
    problems += problems_of_events(ladder, told=told)
    if damaged:
        return problems  # what follows from all results cannot be worked out
    return problems + [
        LadderError(database, f"holds {what}", remedy=_RESTORE)
        for what in _derived_problems(ladder, results)
    ]


def _derived_problems(ladder: Ladder, results: Sequence[Result]) -> Iterator[str]:
    """What is kept only to be quick, and does not follow from the results."""
    due = [[result.round, *astuple(pair)] for result in results for pair in result.pairs()]
    kept = [[number, *pair] for number, _, *pair in ladder.store.pairs().tolist()]
    if sorted(kept) != sorted(due):
        yield "comparisons of bots that do not follow from its results"
    closed = ladder.store.rounds_closed()
    try:
        bots = ladder.store.bots()
        rounds = elo_by_round(bots, results, settings=ladder.settings, rounds_closed=closed)
        elo = {
            (bot, number): rating
            for number, after in enumerate(rounds, start=1)
            for bot, rating in after.items()
        }
    except ValueError as error:
        yield str(error)
        return
    ratings = {
        (bot.number, number): rating
        for bot in bots
        for number, rating in ladder.store.rating_history(bot.number)
    }
    if elo != ratings:
        yield "Elo ratings that do not follow from its results"


def _record_problem(
    ladder: Ladder, attempt: Attempt, *, result: Result | None, counts: bool
) -> LadderError | None:
    """What is amiss with the record of an attempt, or if it `counts` with what is kept of it."""
    file = ladder.records_folder / attempt.record
    try:
        record = load(file)
    except FileNotFoundError:
        return LadderError(file, "is missing", remedy=_RESTORE)
    except OSError as error:
        return LadderError(file, f"cannot be read ({error.strerror})", remedy=_RESTORE)
    except RecordError as error:
        problem = str(error).removeprefix(f"{file}: ")
        return LadderError(file, f"is damaged ({problem})", remedy=_RESTORE)
    if substance_digest(record) != attempt.record_digest:
        problem = f"is not the record that the result of {attempt.match} was taken from"
        return LadderError(file, problem, remedy=_RESTORE)
    if counts and (problem := _difference(result, record)):
        problem = f"holds a result of {attempt.match} that is not its record's: {problem}"
        return LadderError(ladder.store.where, problem, remedy=_RESTORE)
    return None


def _difference(kept: Result | None, record: MatchRecord) -> str:
    """The first thing in which a result is not what its record says; empty if there is none."""
    found = verdict(record)
    if isinstance(found, Voided):
        return f"by its record it is void ({found.ending.value})"
    boards, faults = (kept.boards, kept.forfeits) if kept is not None else ((), None)
    for number, (own, true) in enumerate(zip_longest(boards, found), start=1):
        if own != true:
            return f"board {number} is kept as {_points(own)}, and is {_points(true)}"
    if faults is not None and faults != forfeits(record):
        return f"forfeits are kept as {_points(faults)}, and are {_points(forfeits(record))}"
    return ""


def _points(board: tuple[int, ...] | None) -> str:
    return "-".join(map(str, board)) if board else "missing"
