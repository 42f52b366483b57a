"""What an operator does to a ladder: every verb is checked, done, and kept with who did it and why.

It works on the ladder's folder, whether somebody plays it or not; who does sees it within a second.
Whoever may write the folder is the operator, so nobody is asked who he is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arena.ladder.errors import LadderError
from arena.ladder.events.announcing import publish_again
from arena.ladder.facts import Bot, Deed, Event, Fixture, Pair, Result, State, disabled
from arena.ladder.ladder import Ladder
from arena.ladder.matches.verdict import ATTEMPTS
from arena.ladder.ratings.elo import EloRating
from arena.ladder.ratings.evidence import elo_by_round
from arena.ladder.store.operator import AsOf, Control, Rounds
from arena.wording import stamp

LONGEST_REASON: Final = 200
"""Characters: it stands in tables, and in documents that others keep."""

_TRIES: Final = 100
"""How often ratings are worked out again because a round was closed meanwhile, which takes seconds;
they take milliseconds."""


class Refusal(LadderError):
    """A verb that cannot be done, and why."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a computation of everything changed: bots by name with their Elo before and after, and
    whether comparisons were others.
    """

    elo: tuple[tuple[str, float | None, float | None], ...]
    pairs: bool = False
    others: bool = False

    @property
    def is_anything(self) -> bool:
        """Whether something was not as it follows from the results."""
        return bool(self.elo) or self.pairs or self.others


class Verbs:
    """The verbs, for `actor`, by the clock `now`. Each raises LadderError for a ladder that is
    damaged, and Refusal for what cannot be done.
    """

    def __init__(self, ladder: Ladder, *, actor: str, now: Callable[[], datetime]) -> None:
        self._ladder = ladder
        self._store = ladder.store
        self._actor = actor
        self._now = now

    # -- the ladder as a whole

    def pause(self, *, because: str = "") -> None:
        """Have nothing more begun; what is under way is finished."""
        if self._store.operator.controls().paused is not None:
            raise Refusal("pause", "it is paused already", remedy="resume it first")
        because = _line(because)
        deed = self._deed("pause", because=because)
        self._store.operator.tell({Control.PAUSED: because}, deed=deed)

    def resume(self, *, because: str = "") -> None:
        """Go on. Whoever was told to end, and has not yet, does not."""
        if not self._store.operator.controls().holds:
            raise Refusal("resume", "it is not paused", remedy="there is nothing to do")
        deed = self._deed("resume", because=_line(because))
        self._store.operator.tell(dict.fromkeys(Control), deed=deed)

    def drain(self, *, because: str = "") -> None:
        """Have whoever plays end, once all that is under way is done."""
        if self._store.operator.controls().draining is not None:
            raise Refusal("drain", "it is draining already", remedy="resume takes that back")
        because = _line(because)
        deed = self._deed("drain", because=because)
        self._store.operator.tell({Control.DRAINING: because}, deed=deed)

    # -- bots

    def disable(self, name: str, *, because: str) -> Bot:
        """Take a bot out, until `enable`: it is paired no more, its owner cannot bring it back."""
        because = _reason(because)
        bot = self._bot(name)
        if bot.is_disabled:
            raise Refusal(name, f"is {bot.inactive_because}", remedy="there is nothing to do")
        deed = self._deed("disable", name, because=because)
        self._store.operator.deactivate(bot.number, because=disabled(because), deed=deed)
        return self._bot(name)

    def enable(self, name: str, *, because: str = "") -> Bot:
        """Take a bot back that was disabled, or that did not start."""
        bots = self._store.bots()
        bot = self._bot(name)
        if bot.is_active:
            raise Refusal(name, "is active", remedy="there is nothing to do")
        if bot.is_retired:
            raise Refusal(name, "was withdrawn", remedy="arena ladder add takes it back")
        for other in bots:
            if other.is_active and other.program == bot.program:
                problem = f"is the same program as {other.name}, which plays"
                raise Refusal(name, problem, remedy=f"disable {other.name} first")
        deed = self._deed("enable", name, because=_line(because))
        self._store.operator.activate(bot.number, deed=deed)
        return self._bot(name)

    # -- matches

    def void(self, match: str, *, because: str) -> None:
        """Strike out the result of a match: ratings are what they would be without it. Its record
        stays, and its event says that it was struck out and why.
        """
        because = _reason(because)
        for _ in range(_TRIES):
            as_of = self._store.operator.as_of()
            event, fixture = self._fixture(match)
            self._refuse_ending(event)
            if fixture.state is State.SCHEDULED:
                remedy = "wait until it is played, or disable one of its bots"
                raise Refusal(match, "is still to be played", remedy=remedy)
            if fixture.state is State.VOID:
                problem = f"is void already ({fixture.because})"
                raise Refusal(match, problem, remedy="there is nothing to do")
            rest = [one for one in self._store.results() if one.match != fixture.match.id]
            if self._store.operator.strike(
                fixture.match,
                because=because,
                ratings=self._elo(rest, as_of=as_of),
                as_of=as_of,
                deed=self._deed("void", fixture.match.id, because=because),
            ):
                publish_again(self._ladder, event.number)
                return
        raise _busy(match)

    def requeue(self, match: str, *, because: str) -> None:
        """Have a match played again, with other deals: of the event under way, and of its last
        stage, since later ones rest on what it came to.
        """
        because = _reason(because)
        for _ in range(_TRIES):
            as_of = self._store.operator.as_of()
            event, fixture = self._fixture(match)
            self._refuse_ending(event)
            self._refuse_requeue(event, fixture)
            if self._store.operator.requeue(
                fixture.match,
                because=because,
                as_of=as_of,
                deed=self._deed("requeue", fixture.match.id, because=because),
            ):
                publish_again(self._ladder, event.number)
                return
        raise _busy(match)

    # -- all of it

    def recompute(self, *, because: str = "") -> Moved:
        """Work out again all that follows from results, put it in the place of what is kept, and
        publish again the documents of events in which something was struck out.
        """
        for _ in range(_TRIES):
            as_of = self._store.operator.as_of()
            bots = self._store.bots()
            results = self._store.results()
            due = self._elo(results, as_of=as_of)
            kept: dict[int, dict[int, EloRating]] = {number: {} for number in due}
            for bot in bots:
                for number, rating in self._store.rating_history(bot.number):
                    kept.setdefault(number, {})[bot.number] = rating
            last, before = _last(due), _last(kept)
            moved = tuple(
                (bot.name, before.get(bot.number), last.get(bot.number))
                for bot in bots
                if before.get(bot.number) != last.get(bot.number)
            )
            pairs = self._pairs(results)
            are_pairs_right = sorted(
                (number, *row) for number, _, *row in self._store.pairs().tolist()
            ) == sorted((place[0], *_row(pair)) for place, its in pairs.items() for pair in its)
            if self._store.operator.recompute(
                ratings=None if due == kept else due,
                pairs=None if are_pairs_right else pairs,
                as_of=as_of,
                deed=self._deed("recompute", because=_line(because)),
            ):
                for struck in self._events_with_strikes():
                    publish_again(self._ladder, struck)
                return Moved(moved, pairs=not are_pairs_right, others=due != kept)
        raise _busy("recompute")

    def log(self, *, last: int | None = None) -> tuple[Deed, ...]:
        """What was done, in order, or the `last` so many."""
        return self._store.operator.deeds(last=last)

    # -- below

    def _deed(self, verb: str, subject: str = "", *, because: str) -> Deed:
        at = stamp(self._now())
        return Deed(at, self._actor, verb, subject or self._ladder.settings.name, because)

    def _bot(self, name: str) -> Bot:
        return self._ladder.entered(name)

    def _fixture(self, match: str) -> tuple[Event, Fixture]:
        name = match.partition("/")[0]
        for event in self._store.events():
            if event.name == name:
                for stage in self._store.stages(event):
                    for fixture in stage.fixtures:
                        if fixture.match.id == match:
                            return event, fixture
        remedy = "give its id as event/round/a~b; arena bot history shows those of a bot"
        raise Refusal(match, "is no match of this ladder", remedy=remedy)

    def _refuse_ending(self, event: Event) -> None:
        if event.is_ending and not event.is_over:
            problem = "is being ended, and its secret revealed"
            remedy = "give the command again once it is over, which arena ladder run sees to"
            raise Refusal(event.name, problem, remedy=remedy)

    def _refuse_requeue(self, event: Event, fixture: Fixture) -> None:
        match = fixture.match
        void = "void it, if it should not count"
        if fixture.state is State.VOID:
            void = "it is void already, so there is nothing to do"
        if event.is_over:
            problem = f"cannot be played again: {event.name} is over, everybody knows its deals"
            raise Refusal(match.id, problem, remedy=void)
        *_, last = self._store.stages(event)
        if all(fixture.match.id != one.match.id for one in last.fixtures):
            problem = "is of an earlier stage, and who met whom since rests on what it came to"
            raise Refusal(match.id, problem, remedy=void)
        if fixture.state is State.SCHEDULED:
            raise Refusal(match.id, "is to be played anyway", remedy="there is nothing to do")
        if match.attempt == 1:
            problem = f"was not played ({fixture.because})"
            raise Refusal(match.id, problem, remedy="let its bots meet in the next event")
        if match.attempt > ATTEMPTS:
            problem = f"was played {ATTEMPTS} times, which is the most"
            raise Refusal(match.id, problem, remedy=void)
        bots = {bot.number: bot for bot in self._store.bots()}
        for number in match.entrants:
            if not (bot := bots[number]).is_active:
                problem = f"cannot be played: {bot.name} is inactive ({bot.inactive_because})"
                raise Refusal(match.id, problem, remedy="enable it first")

    def _elo(self, results: Sequence[Result], *, as_of: AsOf) -> Rounds:
        """Elo by round, of all rounds that are closed."""
        _, closed = as_of
        by_round = elo_by_round(
            self._store.bots(), results, settings=self._ladder.settings, rounds_closed=closed
        )
        return dict(enumerate(by_round, start=1))

    def _pairs(self, results: Sequence[Result]) -> dict[tuple[int, int], tuple[Pair, ...]]:
        places = {
            fixture.match.id: fixture.match.place
            for event in self._store.events()
            for stage in self._store.stages(event)
            for fixture in stage.fixtures
        }
        return {(one.round, places[one.match]): one.pairs() for one in results}

    def _events_with_strikes(self) -> Iterator[int]:
        names = {one.match.partition("/")[0] for one in self._store.attempts() if one.struck}
        for event in self._store.events():
            if event.name in names:
                yield event.number


def _row(pair: Pair) -> tuple[int, ...]:
    return pair.first, pair.second, pair.won, pair.drawn, pair.lost, pair.difference


def _last(rounds: Rounds) -> dict[int, float]:
    found: dict[int, float] = {}
    for number in sorted(rounds):
        found |= {bot: after.rating for bot, after in rounds[number].items()}
    return found


def _reason(because: str) -> str:
    """A reason that somebody will read from whom something was taken."""
    if not (line := _line(because)):
        raise Refusal("--because", "is empty", remedy="say why, in a line that others may read")
    return line


def _line(because: str) -> str:
    line = because.strip()
    if len(line) > LONGEST_REASON or not line.isprintable():
        problem = f"is one line of {LONGEST_REASON} characters at most"
        raise Refusal("--because", problem, remedy="say it shorter")
    return line


def _busy(what: str) -> Refusal:
    problem = "could not be done, so much goes on meanwhile"
    return Refusal(what, problem, remedy="pause the ladder first")
