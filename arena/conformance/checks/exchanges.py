"""Checks of the exchange within a match: batches, games at once, refusals, numbers, texts, clocks,
and what a later version may add.
"""

from collections.abc import Callable

from arena.conformance import strangers
from arena.conformance.chance import Chance
from arena.conformance.script import NOTHING, Check, Process, Script
from arena.conformance.tables import BANK_SECONDS, MOVE_SECONDS, ScriptedGame, at_random
from arena.conformance.talk import QUIET_SECONDS, Change, refusal
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.outcome import Ending
from hokm.rules.options import Play, Rules
from hokm.session import (
    ClockRules,
    FromReferee,
    GameStart,
    MatchEnd,
    MatchStart,
    Refused,
)
from hokm.session import Decision as DecisionMessage
from hokm.view import ClockView

OVER = "nothing to a game that is over but one answer, and not again when that is refused"

MOST_AT_ONCE = 64
"""Games that are played at once at most, whatever a bot claims: a decision each is 64 KiB or so."""

LARGE_BYTES = 3 * 1024 * 1024
"""A batch below gRPC's usual limit of 4 MiB."""

LARGEST_GAME = 2**64 - 1
MOST_GAMES = 10_000
"""Of a match in a room, as of `arena match`."""

HANDS_BEFORE = 90
"""Hands of a race before the bot is asked: some 7,000 events with four seats. A race to 100 at a
point a hand is not over then.
"""


# -- batches


async def _empty_batches(script: Script) -> None:
    async def between() -> None:
        script.talk.say()
        await script.talk.quiet(expected="nothing: an empty batch says nothing")

    rules = script.rules()
    script.talk.say(script.match_start(rules, games=1))
    game = script.board(rules, seat=0)
    for _ in range(100):
        script.talk.say()
    script.talk.say(game.start(), game.next())
    script.talk.say()
    for _ in range(3):
        await script.take(game)
        await between()
        script.talk.say(game.next())
        script.talk.say()
    await script.play_on(game)
    await between()
    await script.end_match()


async def _void_decision(script: Script) -> None:
    """A decision and the end of its game in one batch: an answer crosses, and costs nothing."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=3))
    for decisions in (0, 2):
        game = script.board(rules, seat=0)
        script.talk.say(game.start())
        if decisions:
            script.talk.say(game.next())
            await script.play_on(game, decisions=decisions - 1)
            await script.take(game)
        script.talk.say(game.next(), game.fault(Ending.TIME, seat=Seat(1)))
        script.talk.let_cross(game.number)
        await script.talk.quiet(5 * QUIET_SECONDS, expected=OVER)
    await script.play(script.board(rules, seat=0))
    await script.end_match()


async def _crossing(script: Script) -> None:
    """The end of a game in a batch right after its decision."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=4))
    for decisions in (1, 3, 4):
        game = script.board(rules, seat=0)
        script.talk.say(game.start(), game.next())
        await script.play_on(game, decisions=decisions)
        script.talk.say(game.fault(Ending.CRASH, seat=Seat(1)))
        script.talk.let_cross(game.number)
        await script.talk.quiet(5 * QUIET_SECONDS, expected=OVER)
    await script.play(script.board(rules, seat=0))
    await script.end_match()


async def _early_end(script: Script) -> None:
    """Another seat fails before this one was asked anything."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=4))
    for batches in (1, 2):
        game = script.board(rules, seat=rules.players - 1)
        start, end = game.start(), game.fault(Ending.NEVER_STARTED, seat=Seat(0))
        if batches == 1:
            script.talk.say(start, end)
        else:
            script.talk.say(start)
            script.talk.say(end)
        await script.talk.quiet(expected=NOTHING)
    await script.play(script.board(rules, seat=0), script.board(rules, seat=1))
    await script.end_match()


async def _endings(script: Script) -> None:
    """Every ending, for another seat's fault and for one's own, with points below nought."""
    endings = [ending for ending in Ending if ending is not Ending.COMPLETED]
    for players in script.bench.entrant.variants:
        rules = Rules.of(players)
        script.talk.say(script.match_start(rules, games=len(endings) * 2 + 1))
        for place, ending in enumerate(endings):
            for seat in (0, 1):
                game = script.board(rules, seat=0)
                script.talk.say(game.start(), game.next())
                await script.play_on(game, decisions=place % 3)
                await script.take(game)
                script.talk.say(game.fault(ending, seat=Seat(seat), cause=ending.name))
        await script.play(script.board(rules, seat=0))
        await script.end_match()


# -- games at once


async def _many_games(script: Script) -> None:
    """As many games as it takes, all told in one batch."""
    rules = script.rules()
    count = min(script.concurrent, MOST_AT_ONCE)
    script.talk.say(script.match_start(rules, games=count))
    games = [
        script.board(rules, seat=n % rules.players, hakem=n // 2 % rules.players)
        for n in range(count)
    ]
    await script.play_together(games)
    await script.end_match()


async def _shuffled_games(script: Script) -> None:
    """Games at once that begin and end at different times, in any order within a batch."""
    rules = script.rules()
    count = min(script.concurrent, 8)
    script.talk.say(script.match_start(rules, games=3 * count))
    left = [script.board(rules, seat=n % rules.players) for n in range(3 * count)]
    playing: list[ScriptedGame] = []
    while left or playing:
        messages: list[FromReferee] = []
        for game in script.chance.shuffled(playing):
            messages.append(game.next())
            if game.is_over and left:
                began = left.pop()
                messages += [began.start(), began.next()]
                playing.append(began)
        while left and len([game for game in playing if not game.is_over]) < count:
            began = left.pop()
            messages += [began.start(), began.next()]
            playing.append(began)
        script.talk.say(*messages)
        playing = [game for game in playing if not game.is_over]
        for game, answer in await script.answers(playing):
            game.take(answer)
    await script.end_match()


async def _one_answer_each(script: Script) -> None:
    """While one game waits for others, another goes on: nothing is answered twice."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=2))
    waiting, playing = (script.board(rules, seat=0) for _ in range(2))
    script.talk.say(waiting.start(), playing.start(), waiting.next())
    await script.take(waiting)
    script.talk.say(playing.next())
    await script.play_on(playing)
    await script.talk.quiet(expected=NOTHING)
    script.talk.say(waiting.next())
    await script.play_on(waiting)
    await script.end_match()


async def _end_beside_decision(script: Script) -> None:
    """One batch ends a game while it is asked in another, before and after that."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=4))
    for first in ("end", "decision"):
        ended, played = (script.board(rules, seat=0) for _ in range(2))
        script.talk.say(ended.start(), ended.next(), played.start(), played.next())
        for game, answer in await script.answers([ended, played]):
            game.take(answer)
        end, decision = ended.fault(Ending.STALL, seat=Seat(1)), played.next()
        script.talk.say(*((end, decision) if first == "end" else (decision, end)))
        await script.play_on(played)
    await script.end_match()


async def _two_matches(script: Script) -> None:
    """Two matches with other rules at once on one stream."""
    entrant = script.bench.entrant
    tables: list[tuple[MatchStart, ScriptedGame]] = []
    for place, players in enumerate((max(entrant.variants), min(entrant.variants))):
        options = {"points_hakem_kot": "4"} if place else {}
        rules = Rules.of(players, play=Play.RACE if place else Play.BOARDS, options=options)
        start = script.match_start(rules, games=1)
        game = script.race(rules, seat=1) if place else script.board(rules, seat=0)
        tables.append((start, game))
    script.talk.say(*(start for start, _ in tables))
    script.talk.say(*(game.start() for _, game in tables))
    playing = tables
    while playing:
        # The end of one match comes in a batch with a decision of the other.
        messages: list[FromReferee] = []
        for start, game in script.chance.shuffled(playing):
            messages.append(game.next())
            if game.is_over:
                messages.append(MatchEnd(start.match))
        script.talk.say(*messages)
        playing = [(start, game) for start, game in playing if not game.is_over]
        for game, answer in await script.answers([game for _, game in playing]):
            game.take(answer)
    await script.talk.quiet(expected=NOTHING)


# -- refusals


async def _attempts(script: Script) -> None:
    """Answers are refused as no answers deserve it, to hear the attempts that follow."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=2))
    for refused_at in (1, 3):
        game = script.board(rules, seat=0)
        script.talk.say(game.start(), game.next())
        await script.play_on(game, decisions=refused_at - 1)
        for attempt in (1, 2):
            answer = await script.hear_for([game])
            game.judge(answer, attempt=attempt)
            script.refuse(
                answer, Reason.MALFORMED, "refused by the script, to hear another attempt"
            )
        await script.take(game, attempt=3)
        script.talk.say(game.next())
        await script.play_on(game)
    await script.end_match()


async def _attempts_beside(script: Script) -> None:
    """A refusal in one game and a decision in another, in one batch, either first."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=4))
    for refusal_is_first in (True, False):
        refused, other = (script.board(rules, seat=0) for _ in range(2))
        script.talk.say(refused.start(), other.start(), refused.next(), other.next())
        answers = dict(await script.answers([refused, other]))
        other.take(answers[other])
        again = refusal(answers[refused], Reason.MALFORMED, "refused by the script")
        decision = other.next()
        script.talk.say(*((again, decision) if refusal_is_first else (decision, again)))
        waiting = {refused.number: (refused, 2), other.number: (other, 1)}
        while waiting:
            answer = await script.hear_for([game for game, _ in waiting.values()])
            game, attempt = waiting.pop(answer.game)
            game.take(answer, attempt=attempt)
        script.talk.say(refused.next(), other.next())
        for game, answer in await script.answers([refused, other]):
            game.take(answer)
        for game in (refused, other):
            script.talk.say(game.next())
            await script.play_on(game)
    await script.end_match()


async def _late_refusals(script: Script) -> None:
    """Refusals of what is no longer asked: none of them is a reason to answer."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=2))
    game = script.board(rules, seat=0)
    script.talk.say(game.start(), game.next())
    await script.take(game)
    script.talk.say(game.next())
    first = Refused(game.number, 1, 1, Reason.STALE_DECISION, "decision 1 was answered before")
    await script.take(game)
    second = Refused(game.number, 2, 1, Reason.STALE_DECISION, "decision 2 was answered before")
    for refused in (first, second):
        script.talk.say(refused)
        await script.talk.quiet(expected="nothing to a refusal of a decision that is taken")
    script.talk.say(second, game.next())
    await script.play_on(game)
    over = Refused(game.number, 2, 1, Reason.MATCH_OVER, "the game is over")
    script.talk.say(over)
    await script.talk.quiet(expected="nothing to a refusal in a game that is over")
    await script.play(script.board(rules, seat=1))
    await script.end_match()


# -- numbers, texts, clocks


async def _large_numbers(script: Script) -> None:
    rules = script.rules()
    numbers = (2**53 + 1, LARGEST_GAME, 2**31, 2**63, 2**32 + 1)
    script.talk.say(script.match_start(rules, games=MOST_GAMES))
    for number in numbers:
        game = script.board(rules, seat=0, number=number)
        script.talk.say(game.start(), game.next())
        await script.play_on(game, decisions=2)
        await script.take(game)
        script.talk.say(game.fault(Ending.CRASH, seat=Seat(1)))
    await script.end_match()


async def _alike_numbers(script: Script) -> None:
    """Games at once whose numbers differ in their high digits alone, or look alike as floats."""
    rules = script.rules()
    numbers = (2**53 + 2, 2**53 + 3, 2**32 + 7, 7 * 2**32 + 7)[: min(4, script.concurrent)]
    script.talk.say(script.match_start(rules, games=len(numbers)))
    games = [script.board(rules, seat=0, number=number) for number in numbers]
    await script.play_together(games)
    await script.end_match()


async def _names(script: Script) -> None:
    """Names of every script, long ones, and several that are the same."""
    rules = script.rules()
    names = [
        ("مریم", "سعدی‌۷۵۴", "میرزا.ملکم_خان", "شهرزاد"),
        ("م" * 40, "龍" * 40, "Ω" * 40, "ü" * 40),
        ("twin", "twin", "twin", "twin"),
    ]
    start = script.match_start(rules, games=len(names))
    match = f"جام-نوروز/r1/{script.bench.entrant.name}~مریم!2"
    script.talk.say(MatchStart(match, rules, len(names), start.clock))
    for players in names:
        game = script.board(rules, seat=0, match=match)
        first = game.start()
        told_names = players[: rules.players]
        script.talk.say(GameStart(match, first.game, first.seat, told_names), game.next())
        await script.play_on(game)
    script.numbers.match = match
    await script.end_match()


async def _long_texts(script: Script) -> None:
    """Causes and details are for people; they may be long, and in any script."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=2))
    long = "قاعده ۷: 'این حکم' \"نیست\" %s {0} \\n\t" * 30
    game = script.board(rules, seat=0)
    script.talk.say(game.start(), game.next())
    answer = await script.hear_for([game])
    game.judge(answer)
    script.refuse(answer, Reason.MALFORMED, long)
    await script.take(game, attempt=2)
    script.talk.say(game.fault(Ending.ILLEGAL, seat=Seat(1), cause=long))
    await script.play(script.board(rules, seat=0))
    await script.end_match()


async def _no_clock(script: Script) -> None:
    """A table without a clock."""
    rules = script.rules()
    start = script.match_start(rules, games=1)
    start = MatchStart(start.match, rules, 1, ClockRules(0.0, 0.0))
    script.talk.say(start, change=strangers.without_clock)
    game = script.board(rules, seat=0)

    def untimed(message: FromReferee) -> FromReferee:
        if isinstance(message, DecisionMessage):
            return DecisionMessage(
                message.game, message.decision, message.events, message.legal, None
            )
        return message

    script.talk.say(game.start(), untimed(game.next()))
    while not game.is_over:
        await script.take(game)
        script.talk.say(untimed(game.next()))
    await script.end_match()


async def _odd_clocks(script: Script) -> None:
    """Nothing left, nothing used, a first decision without a last time, next to no move time."""
    rules = script.rules()
    start = script.match_start(rules, games=1)
    script.talk.say(MatchStart(start.match, rules, 1, ClockRules(MOVE_SECONDS, 0.0)))
    game = script.board(rules, seat=0)
    clocks = [
        ClockView(MOVE_SECONDS, 0.0, None),
        ClockView(MOVE_SECONDS, 0.000001, 0.0),
        ClockView(0.000001, BANK_SECONDS, 3599.999999),
    ]
    script.talk.say(game.start())
    message: FromReferee = game.next()
    turn = 0
    while not game.is_over:
        if isinstance(message, DecisionMessage):
            clock = clocks[min(turn, len(clocks) - 1)]
            message = DecisionMessage(
                message.game, message.decision, message.events, message.legal, clock
            )
        script.talk.say(message)
        await script.take(game)
        message = game.next()
        turn += 1
    script.talk.say(message)
    await script.end_match()


# -- what a later version may add


def _changed(change: Callable[[bytes, Chance], bytes]) -> Callable[[Script], "_Changing"]:
    return lambda script: _Changing(script, lambda payload: change(payload, script.chance))


class _Changing:
    """Plays games with every batch changed."""

    def __init__(self, script: Script, change: Change) -> None:
        self.script = script
        self.change = change

    async def play(self, game: ScriptedGame) -> None:
        say = self.script.talk.say
        say(game.start(), game.next(), change=self.change)
        while not game.is_over:
            await self.script.take(game)
            say(game.next(), change=self.change)


async def _unknown_fields(script: Script) -> None:
    """Also in the welcome and the goodbye, so it has a process of its own."""
    changing = _changed(strangers.with_unknown_fields)(script)
    talk, rules = script.talk, script.rules()
    talk.say(talk.welcome(), change=changing.change)
    talk.say(script.match_start(rules, games=2), change=changing.change)
    await changing.play(script.board(rules, seat=0))
    await changing.play(script.board(rules, seat=1))
    talk.say(script.match_end, change=changing.change)
    await talk.quiet(expected=NOTHING)
    await talk.farewell()


async def _unknown_events(script: Script) -> None:
    changing = _changed(strangers.with_unknown_events)(script)
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=2))
    await changing.play(script.board(rules, seat=0))
    await changing.play(script.board(rules, seat=1))
    await script.end_match()


async def _unknown_messages(script: Script) -> None:
    changing = _changed(strangers.with_unknown_messages)(script)
    talk, rules = script.talk, script.rules()
    talk.say(script.match_start(rules, games=1), change=changing.change)
    talk.say(change=changing.change)
    await talk.quiet(expected="nothing to a message of an unknown kind")
    await changing.play(script.board(rules, seat=0))
    talk.say(script.match_end, change=changing.change)
    await talk.quiet(expected=NOTHING)


async def _large_batch(script: Script) -> None:
    """Three megabytes before a decision, as 1,024 messages."""
    rules = script.rules()
    script.talk.say(script.match_start(rules, games=1))
    game = script.board(rules, seat=0)
    script.talk.say(game.start(), game.next())
    await script.take(game)
    script.talk.remark("the batch that follows has 3 MiB, most of it of an unknown kind")
    script.talk.say(
        game.next(),
        change=lambda payload: strangers.padded(payload, to_bytes=LARGE_BYTES, messages=1023),
    )
    await script.play_on(game)
    await script.end_match()


async def _huge_history(script: Script) -> None:
    """A first decision after thousands of events: the script sat here before."""
    players = script.players
    points = {"points_win": "1", "points_kot": "1", "points_hakem_kot": "1"}
    options = {**points, "target_points": "100"}
    rules = Rules.of(players, play=Play.RACE, options=options)
    script.talk.say(script.match_start(rules, games=1))
    game = script.race(rules, seat=1)
    game.stands_in = at_random(script.chance)
    start = game.start()
    game.play_to(hand=HANDS_BEFORE)
    game.stands_in = None
    script.talk.say(start, game.next())
    await script.play_on(game, decisions=16)
    await script.take(game)
    script.talk.say(game.fault(Ending.CRASH, seat=Seat(0)))
    await script.end_match()


_BATCHES = "docs/protocol.md: Batches"
_ORDER = "docs/protocol.md: The order of a session"
_REFUSALS = "docs/protocol.md: Refusals, retries, clocks"
_VERSIONS = "docs/protocol.md: Versions"
_TO_BOT = "docs/protocol.md: Referee to bot"

EXCHANGES = (
    Check("empty-batch", "An empty batch says nothing.", _BATCHES, _empty_batches),
    Check(
        "void-decision",
        "A decision whose game ends in the same batch is void: it is answered once at most.",
        _ORDER,
        _void_decision,
    ),
    Check(
        "crossing-end",
        "An answer that crosses the end of its game is refused, and not given again.",
        _REFUSALS,
        _crossing,
    ),
    Check(
        "early-end",
        "A game may end before its first decision.",
        _ORDER,
        _early_end,
    ),
    Check(
        "endings",
        "A game may end by any fault of any seat, with points below nought.",
        "rulebook 7.5",
        _endings,
    ),
    Check(
        "many-games",
        "It plays as many games at once as it claims, told in one batch.",
        _BATCHES,
        _many_games,
        concurrent=2,
    ),
    Check(
        "shuffled-games",
        "Games at once begin, go on and end in any order, several in a batch.",
        _BATCHES,
        _shuffled_games,
        concurrent=2,
    ),
    Check(
        "waiting-game",
        "While one game waits for others, another goes on.",
        _BATCHES,
        _one_answer_each,
        concurrent=2,
    ),
    Check(
        "end-beside-decision",
        "A batch may end one game and ask in another.",
        _BATCHES,
        _end_beside_decision,
        concurrent=2,
    ),
    Check(
        "two-matches",
        "Two matches with other rules may be played at once on one stream.",
        _TO_BOT,
        _two_matches,
        concurrent=2,
    ),
    Check(
        "attempts",
        "After a refusal it answers the same decision again, with the next attempt.",
        "rulebook 7",
        _attempts,
    ),
    Check(
        "attempts-beside",
        "A refusal in one game and a decision in another may come in one batch.",
        "rulebook 7",
        _attempts_beside,
        concurrent=2,
    ),
    Check(
        "late-refusals",
        "A refusal of what is no longer asked is not answered.",
        _REFUSALS,
        _late_refusals,
    ),
    Check(
        "large-numbers",
        "Games have any number up to 2^64 - 1, in any order.",
        "docs/protocol.md: Bot to referee",
        _large_numbers,
    ),
    Check(
        "alike-numbers",
        "Games are told apart by every digit of their numbers.",
        "docs/protocol.md: Bot to referee",
        _alike_numbers,
        concurrent=2,
    ),
    Check("names", "Names are of any script, long, or the same twice.", _TO_BOT, _names),
    Check("long-texts", "What is said for a person may be long.", _TO_BOT, _long_texts),
    Check("no-clock", "A table may have no clock.", _REFUSALS, _no_clock),
    Check(
        "odd-clocks",
        "A clock may have nothing left, and no last time before the first decision.",
        _TO_BOT,
        _odd_clocks,
    ),
    Check(
        "unknown-fields",
        "Fields it does not know, in any message, are ignored.",
        _VERSIONS,
        _unknown_fields,
        process=Process.OWN,
    ),
    Check(
        "unknown-events",
        "Kinds of events it does not know are ignored.",
        _VERSIONS,
        _unknown_events,
    ),
    Check(
        "unknown-messages",
        "Kinds of messages it does not know are ignored.",
        _VERSIONS,
        _unknown_messages,
    ),
    Check(
        "large-batch",
        "A batch may have 3 MiB.",
        "docs/protocol.md: Limits",
        _large_batch,
    ),
    Check(
        "huge-history",
        "A decision may tell of thousands of events.",
        _TO_BOT,
        _huge_history,
    ),
)
