"""Checks of coming back: the stream breaks, and the bot goes on where it was on another.

A library may do without. A bot that then ends with an error is none the worse for it.
"""

from collections.abc import Sequence

from arena.conformance.checks.memory import AWAY_SECONDS, Subject, compare
from arena.conformance.script import NOTHING, Check, Process, Script
from arena.conformance.tables import ScriptedGame, at_random
from arena.conformance.talk import refusal
from arena.conformance.unmet import NotSupported, Unmet
from hokm.errors import Reason
from hokm.outcome import Ending
from hokm.rules.options import Play
from hokm.session import FromReferee, MatchStart

HANDS_BEFORE = 40
"""Hands of a race before its stream breaks: thousands of events to be told again."""


async def _open(script: Script) -> None:
    """The stream breaks with a decision open: once unanswered, once with the answer lost."""
    start, game = await _begin(script)
    for _ in range(2):
        await script.hear_for([game])
        await _back(script, start, [game])
        script.talk.say(game.start(resumed=True), game.again())
        await script.take(game)
        script.talk.say(game.next())
        await script.play_on(game, decisions=2)
    await script.play_on(game)
    await script.talk.farewell(script.match_end)


async def _taken(script: Script) -> None:
    """The stream breaks while others are to act; the answer before arrived."""
    start, game = await _begin(script)
    await script.take(game)
    await _back(script, start, [game])
    script.talk.say(game.start(resumed=True))
    await script.talk.quiet(expected="nothing: others are to act")
    script.talk.say(game.again())
    await script.play_on(game)
    await script.play(script.board(script.rules(), seat=1))
    await script.talk.farewell(script.match_end)


async def _over(script: Script) -> None:
    """The game ends while the bot is away, and another begins."""
    start, game = await _begin(script)
    await script.play_on(game, decisions=2)
    await script.take(game)
    await _back(script, start, [game])
    end = game.fault(Ending.CRASH, seat=game.seat, everything=True)
    script.talk.say(game.start(resumed=True), end)
    await script.play(script.board(script.rules(), seat=1), script.board(script.rules(), seat=0))
    await script.talk.farewell(script.match_end)


async def _gone(script: Script) -> None:
    """The game is over and not told of again; another begins."""
    start, game = await _begin(script)
    await script.play_on(game, decisions=1)
    await script.take(game)
    await _back(script, start, [game])
    await script.talk.quiet(expected=NOTHING)
    await script.play(script.board(script.rules(), seat=0))
    await script.talk.farewell(script.match_end)


async def _idle(script: Script) -> None:
    """The stream breaks between two games, and again before the goodbye."""
    start, game = await _begin(script)
    await script.play_on(game)
    await script.talk.quiet(expected=NOTHING)
    await _back(script, start, [])
    await script.play(script.board(script.rules(), seat=1))
    script.talk.say(script.match_end)
    await script.talk.quiet(expected=NOTHING)
    await _back(script, None, [])
    await script.talk.quiet(expected=NOTHING)
    await script.talk.farewell()


async def _attempt(script: Script) -> None:
    """An attempt was refused before the stream broke: the next one is awaited."""
    start, game = await _begin(script)
    answer = await script.hear_for([game])
    game.judge(answer)
    script.talk.say(refusal(answer, Reason.MALFORMED, "refused by the script"))
    await script.hear_for([game])
    await _back(script, start, [game])
    script.talk.say(game.start(resumed=True), game.again(attempt=2))
    await script.take(game, attempt=2)
    script.talk.say(game.next())
    await script.play_on(game)
    await script.talk.farewell(script.match_end)


async def _many(script: Script) -> None:
    """Several games: one is asked, one is not, one ended meanwhile."""
    rules = script.rules()
    count = min(3, script.concurrent)
    talk = script.talk
    start = script.match_start(rules, games=count)
    games = [script.board(rules, seat=0) for _ in range(count)]
    talk.say(talk.welcome(resume_seconds=AWAY_SECONDS), start, *(g.start() for g in games))
    talk.say(*(game.next() for game in games))
    for game, answer in await script.answers(games):
        if game is not games[1]:
            game.take(answer)
    await _back(script, start, games)
    asked, waiting, *ended = games[1], games[0], *games[2:]
    messages: list[FromReferee] = []
    for game in ended:
        end = game.fault(Ending.CRASH, seat=game.seat, everything=True)
        messages += [game.start(resumed=True), end]
    talk.say(*messages, waiting.start(resumed=True), asked.start(resumed=True), asked.again())
    await script.take(asked)
    talk.say(waiting.again(), asked.next())
    for game, answer in await script.answers([waiting, asked]):
        game.take(answer)
    for game in (waiting, asked):
        talk.say(game.next())
        await script.play_on(game)
    await talk.farewell(script.match_end)


async def _long(script: Script) -> None:
    """A long race: its whole history is told again."""
    rules = script.rules(
        Play.RACE,
        target_points="100",
        points_win="1",
        points_kot="1",
        points_hakem_kot="1",
    )
    talk = script.talk
    start = script.match_start(rules, games=1)
    game = script.race(rules, seat=0)
    talk.say(talk.welcome(resume_seconds=AWAY_SECONDS), start, game.start(), game.next())
    await script.play_on(game, decisions=1)
    await script.take(game)
    await _back(script, start, [game])
    talk.remark(f"the script plays the bot's seat as well, to hand {HANDS_BEFORE}")
    game.stands_in = at_random(script.chance)
    game.play_to(hand=HANDS_BEFORE)
    game.stands_in = None
    talk.say(game.start(resumed=True), game.again())
    await script.play_on(game, decisions=16)
    await script.take(game)
    talk.say(game.fault(Ending.CRASH, seat=game.seat))
    await talk.farewell(script.match_end)


async def _alike(script: Script) -> None:
    """A game that the bot plays alike each time: also where its stream breaks, each time between an
    answer and the next decision.
    """

    async def play(subject: Subject) -> ScriptedGame:
        game = subject.game()
        script.talk.say(game.start(), game.next())
        for _ in range(3):
            await script.play_on(game, decisions=3)
            if game.is_over:
                break
            await script.take(game)
            await _back(script, subject.start, [game])
            script.talk.say(game.start(resumed=True), game.again())
        await script.play_on(game)
        return game

    await compare(script, play, "after its stream broke", tables=[script.players])


async def _begin(script: Script) -> tuple[MatchStart, ScriptedGame]:
    """Welcome it as one that may come back, and ask the first decision of a game."""
    rules = script.rules()
    start = script.match_start(rules, games=3)
    game = script.board(rules, seat=0)
    welcome = script.talk.welcome(resume_seconds=AWAY_SECONDS)
    script.talk.say(welcome, start, game.start(), game.next())
    return start, game


async def _back(script: Script, start: MatchStart | None, games: Sequence[ScriptedGame]) -> None:
    """Break the stream; the bot comes back, is welcomed, and is told its match."""
    talk = script.talk
    is_first = not talk.came_back
    hello = await talk.come_back(within=AWAY_SECONDS)
    if hello is None:
        code = await talk.exit_code(within=1.0)
        if not is_first:
            raise Unmet(
                f"it came back once and not again (exit code {code})",
                expected="that it comes back with the token of its last welcome",
            )
        if code == 0:
            raise Unmet(
                "its stream broke, and its process ended with exit code 0",
                expected="that it comes back, or another exit code",
            )
        raise NotSupported("it does not come back when its stream breaks")
    if sorted(hello.games) != sorted(game.number for game in games):
        raise Unmet(
            f"on coming back it names the games {sorted(hello.games)}",
            expected=f"those whose end it has not seen: {sorted(game.number for game in games)}",
        )
    talk.say(talk.welcome(resume_seconds=AWAY_SECONDS), *([start] if start else []))


_PAGE = "docs/protocol.md: Coming back"

RETURNS = (
    *(
        Check(name, meaning, _PAGE, run, concurrent=concurrent, process=Process.OWN)
        for name, meaning, run, concurrent in (
            ("return-open", "It comes back with a decision open, and answers it.", _open, 1),
            ("return-taken", "It comes back and waits where others are to act.", _taken, 1),
            ("return-over", "It comes back to a game that has ended meanwhile.", _over, 1),
            ("return-gone", "It comes back, and a game that is not told again is over.", _gone, 1),
            ("return-idle", "It comes back where no game is on.", _idle, 1),
            ("return-attempt", "It comes back to the attempt that is awaited.", _attempt, 1),
            ("return-many", "It comes back to several games.", _many, 2),
            ("return-long", "It comes back to a long race, told from its beginning.", _long, 1),
        )
    ),
    Check(
        "return-alike",
        "It plays a game alike, whether its stream breaks or not.",
        _PAGE,
        _alike,
        process=Process.SEVERAL,
    ),
)
