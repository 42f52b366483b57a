"""The matches that a bot plays with itself, and what in the record of one keeps it out. Pure.

They are short, have their options at the defaults but for the target of a race, and are played by
the rules of rated play: the first refused action loses the game. A bot sits at every seat, in
several processes at once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.conformance.talk import last_line
from arena.ladder.bots.entrants import Entrant
from arena.ladder.matches.boards import MatchPlan, Secret, local_match_id
from arena.ladder.matches.room import Trouble
from arena.validation.commands import match_command
from arena.validation.values import Failure, MatchResult, Stage
from arena.wording import counted
from hokm.deck import secret_from_text
from hokm.notation import hand_text
from hokm.outcome import Ending
from hokm.records import Format, GameRecord, MatchRecord, Policy
from hokm.rules.options import Rules
from hokm.session import ClockRules

BOARDS = 2
"""Two games in one process; with three seats they go round the other way in the second."""

RACES = 1
"""A pair of races: one in each room."""

TARGET = "3"
"""Points of a race: two hands or more unless there is a kot, so hakem and scores move."""

_ENDED_BY_THE_ARENA = (-9, -15)
"""As where a busy machine gives a bot no time to leave by itself. The kit looks at that too."""


@dataclass(frozen=True, slots=True)
class SelfMatch:
    """A match with oneself: its name, the text its deals come from, and the plan."""

    name: str
    seed: str
    plan: MatchPlan


def self_matches(entrant: Entrant, *, seed: str, clock: ClockRules) -> tuple[SelfMatch, ...]:
    """Every match to be played: for each number of players boards, and a race where there are two
    sides.
    """
    return tuple(_self_matches(entrant, seed, clock))


def _self_matches(entrant: Entrant, seed: str, clock: ClockRules) -> Iterator[SelfMatch]:
    for players in entrant.variants:
        for kind in Format:
            if kind is Format.CLASSIC and players == 3:
                continue  # there are no mirrored races of three; the kit has races of three
            name = f"{players}-{'boards' if kind is Format.BOARDS else 'race'}"
            text = f"{seed}-{name}"
            secret = Secret(secret_from_text(text))
            entrants = (entrant,) * (3 if players == 3 else 2)
            options = {} if kind is Format.BOARDS else {"target_points": TARGET}
            plan = MatchPlan(
                match=local_match_id(secret, tuple(one.name for one in entrants)),
                format=kind,
                rules=Rules.of(players, play=kind.play, options=options),
                length=BOARDS if kind is Format.BOARDS else RACES,
                entrants=entrants,
                clock=clock,
                policy=Policy.RATED,
                secret=secret,
            )
            yield SelfMatch(name, text, plan)


@dataclass(frozen=True, slots=True)
class TroubleAt:
    """A trouble, and how many seconds after the beginning of its match it was told."""

    trouble: Trouble
    seconds: float


def judged(
    match: SelfMatch,
    record: MatchRecord,
    *,
    troubles: Sequence[TroubleAt],
    seconds: float,
    hello_seconds: float,
    called: str,
    is_confined: bool,
) -> MatchResult:
    """What a match came to. Only one whose games were all completed, with nothing refused, has no
    failure.
    """
    games = [(room.number, game) for room in record.rooms for game in room.games]
    endings = Counter(game.outcome.ending for _, game in games if game.outcome is not None)
    refusals = sum(len(game.refusals) for _, game in games)
    command = match_command(called, match.plan, seed=match.seed, is_confined=is_confined)
    failure: Failure | None = None
    if troubles:
        failure = _of_trouble(match, record, troubles[0], command, hello_seconds=hello_seconds)
    elif unusual := [(room, game) for room, game in games if not _is_usual(game)]:
        room, game = unusual[0]
        failure = Failure(
            stage=Stage.MATCHES,
            name=match.name,
            cause=_what_is_unusual(game),
            command=command,
            expected="that every game is played to its end, and no action refused",
            reference="docs/rules.md: 7.5 Endings",
            exchange=_exchange(record, room, game),
            elapsed_seconds=seconds,
            limit_seconds=match.plan.room_seconds,
        )
    elif (code := _bad_exit(record)) is not None:
        failure = Failure(
            stage=Stage.MATCHES,
            name=match.name,
            cause=f"after a match its process ended{_how(code)}",
            command=command,
            expected="exit code 0 after its goodbye",
            reference="docs/protocol.md: How a call can end",
            exit_code=code,
            elapsed_seconds=seconds,
            limit_seconds=match.plan.room_seconds,
        )
    return MatchResult(
        name=match.name,
        players=match.plan.rules.players,
        endings=endings,
        refusals=refusals,
        seconds=seconds,
        failure=failure,
    )


def out_of_time(match: SelfMatch, *, seconds: float, command: str, limit: float) -> MatchResult:
    """What becomes of a match that there was no time for."""
    failure = Failure(
        stage=Stage.MATCHES,
        name=match.name,
        cause=f"time ran out: checks and matches may take {limit:g} s together",
        command=command,
        expected="a match within what is left; a bot that thinks long needs another --limit",
        reference="docs/check.md: What a validation takes",
        elapsed_seconds=seconds,
        limit_seconds=limit,
    )
    return MatchResult(
        name=match.name,
        players=match.plan.rules.players,
        endings={},
        refusals=0,
        seconds=seconds,
        failure=failure,
    )


def _of_trouble(
    match: SelfMatch, record: MatchRecord, at: TroubleAt, command: str, *, hello_seconds: float
) -> Failure:
    trouble, loss = at.trouble, at.trouble.time_loss
    limit = hello_seconds if trouble.game is None else match.plan.room_seconds
    is_dead = trouble.ending in (Ending.CRASH, Ending.NEVER_STARTED)
    last = last_line(trouble.tail) if is_dead else ""
    return Failure(
        stage=Stage.MATCHES,
        name=match.name,
        cause=f"{trouble.ending.value}: {trouble.detail}{f': {last}' if last else ''}",
        command=command,
        expected="that every game is played to its end, and no action refused",
        reference="docs/rules.md: 7.5 Endings",
        exit_code=_exit_code(record, trouble),
        elapsed_seconds=at.seconds if loss is None else loss.elapsed_seconds,
        limit_seconds=limit if loss is None else loss.limit_seconds,
        log=trouble.tail,
        exchange=_of_game(record, trouble.room, trouble.game),
        by_hand=trouble.by_hand,
    )


def _is_usual(game: GameRecord) -> bool:
    is_completed = game.outcome is not None and game.outcome.ending is Ending.COMPLETED
    return is_completed and not game.refusals


def _what_is_unusual(game: GameRecord) -> str:
    if game.refusals:
        first = game.refusals[0]
        actions = counted(len(game.refusals), "action")
        return f"{actions} refused, the first: {first.action}, {first.reason.name}"
    assert game.outcome is not None
    return f"{game.outcome.ending.value}: {game.outcome.cause}"


def _exit_code(record: MatchRecord, trouble: Trouble) -> int | None:
    codes = [
        process.exit_code
        for process in record.circumstances.processes
        if process.room == trouble.room and process.seat == trouble.seat
    ]
    return codes[0] if codes else None


def _bad_exit(record: MatchRecord) -> int | None:
    for process in record.circumstances.processes:
        if process.exit_code not in (None, 0, *_ENDED_BY_THE_ARENA):
            return process.exit_code
    return None


def _how(code: int) -> str:
    return f" with exit code {code}" if code > 0 else f" by signal {-code}"


def _of_game(record: MatchRecord, room: int, number: int | None) -> Sequence[str]:
    for one in record.rooms:
        for game in one.games:
            if (one.number, game.number) == (room, number):
                return _exchange(record, room, game)
    return ()


def _exchange(record: MatchRecord, room: int, game: GameRecord) -> Sequence[str]:
    """The hand that was played last, as a text that ``arena replay`` reads; what was refused; and
    how the game ended.
    """
    lines = [f"# room {room}, game {game.number}"]
    if game.hands:
        lines += hand_text(record.rules, game.hands[-1]).splitlines()
    lines += [
        f"# hand {one.hand}: seat {one.seat} is refused {one.action}, {one.reason.name}"
        for one in game.refusals
    ]
    if game.outcome is not None and game.outcome.cause:
        lines.append(f"# {game.outcome.ending.value}: {game.outcome.cause}")
    return lines
