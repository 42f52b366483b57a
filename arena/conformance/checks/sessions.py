"""Checks of a session as a whole: hello, welcome, how matches begin and end, goodbye and exit."""

from tempfile import TemporaryDirectory

import trio

from arena.conformance.script import NOTHING, Check, Process, Script
from arena.conformance.talk import EXIT_SECONDS, open_bench, open_talk, unasked
from arena.conformance.unmet import Unmet
from hokm.outcome import Ending
from hokm.session import PROTOCOL, Answer, Goodbye, ProtocolRefused

PAUSE_SECONDS = 12.0
"""A pause that is longer than what libraries usually have as a limit for a read, 5 or 10 s."""

BREAK_SECONDS = 5.0
"""How long a bot may take to notice that there is no arena any more."""


async def _hello(script: Script) -> None:
    hello = script.talk.hello
    assert hello is not None
    entrant = script.bench.entrant
    if hello.protocol != PROTOCOL or entrant.protocol != PROTOCOL:
        raise Unmet(
            f"it speaks protocol {hello.protocol}, and its bot.toml says {entrant.protocol}",
            expected=f"protocol {PROTOCOL} in both",
        )
    if hello.concurrent < entrant.concurrent:
        raise Unmet(
            f"its hello takes {hello.concurrent} games at once, its bot.toml {entrant.concurrent}",
            expected="as many in both",
        )
    if hello.games:
        raise Unmet(
            f"its first hello names games: {hello.games}", expected="none, before there was one"
        )
    await script.talk.quiet(0.3, expected="nothing between its hello and the welcome")
    script.talk.say(script.talk.welcome())
    await script.talk.quiet(0.1, expected=NOTHING)
    await script.talk.farewell()


async def _late_welcome(script: Script) -> None:
    await trio.sleep(2.5)
    await script.talk.quiet(expected="that it waits for the welcome")
    script.talk.say(script.talk.welcome())
    await _short_match(script)
    await script.talk.farewell()


async def _all_in_one(script: Script) -> None:
    start = script.match_start(script.rules(), games=1)
    game = script.board(script.rules(), seat=0)
    script.talk.say(script.talk.welcome(), start, game.start(), game.next())
    await script.play_on(game)
    await script.talk.farewell(script.match_end)


async def _one_by_one(script: Script) -> None:
    talk = script.talk
    start = script.match_start(script.rules(), games=2)
    talk.say(talk.welcome())
    await trio.sleep(0.05)
    talk.say(start)
    for seat in (1, 0):
        game = script.board(script.rules(), seat=seat)
        await trio.sleep(0.05)
        talk.say(game.start())
        await trio.sleep(0.05)
        talk.say(game.next())
        await script.play_on(game)
    await talk.quiet(0.05, expected=NOTHING)
    talk.say(script.match_end)
    await talk.quiet(0.05, expected=NOTHING)
    await talk.farewell()


async def _without_a_match(script: Script) -> None:
    script.talk.say(script.talk.welcome())
    await script.talk.farewell()


async def _without_a_game(script: Script) -> None:
    talk = script.talk
    talk.say(talk.welcome(), script.match_start(script.rules(), games=3))
    await talk.quiet(expected=NOTHING)
    await talk.farewell(script.match_end)


async def _end_in_one_batch(script: Script) -> None:
    """A decision, the end of its game, of the match and of the session, all at once."""
    talk = script.talk
    start = script.match_start(script.rules(), games=2)
    talk.say(talk.welcome(), start)
    game = script.board(script.rules(), seat=0)
    talk.say(game.start(), game.next())
    await script.play_on(game, decisions=1)
    await script.take(game)
    messages = [game.next()]
    if not game.is_over:
        messages.append(game.fault(Ending.STOPPED, seat=game.seat, cause="the arena was stopped"))
    talk.say(*messages, script.match_end, Goodbye())
    message = await talk.hear(expected="a goodbye in return")
    if isinstance(message, Answer):  # to the decision that is void; it costs nothing
        message = await talk.hear(expected="a goodbye in return")
    if not isinstance(message, Goodbye):
        raise unasked(message, expected="a goodbye in return")
    await talk.leave()


async def _goodbye_mid_match(script: Script) -> None:
    """The arena stops: between two games of a match there is a goodbye."""
    talk = script.talk
    talk.say(talk.welcome(), script.match_start(script.rules(), games=3))
    await script.play(script.board(script.rules(), seat=0))
    await talk.farewell()


async def _match_end_mid_batch(script: Script) -> None:
    """One match ends and the next begins in the middle of a batch."""
    talk = script.talk
    first = script.match_start(script.rules(), games=1)
    game = script.board(script.rules(), seat=0)
    talk.say(talk.welcome(), first, game.start(), game.next())
    await script.play_on(game, decisions=3)
    await script.take(game)
    end = game.fault(Ending.CRASH, seat=game.seat)
    ended = script.match_end
    second = script.match_start(script.rules(), games=1)
    other = script.board(script.rules(), seat=0)
    talk.say(end, ended, second, other.start(), other.next())
    await script.play_on(other)
    await talk.farewell(script.match_end)


async def _protocol_refused(script: Script) -> None:
    talk = script.talk
    talk.say(ProtocolRefused(PROTOCOL + 1, PROTOCOL + 3), Goodbye("another protocol"))
    talk.remark("the referee speaks other protocols, and waits for the bot to end")
    message = None
    with trio.move_on_after(EXIT_SECONDS):
        try:
            message = await talk.hear(within=EXIT_SECONDS)
        except Unmet:
            message = None  # it has ended its stream, as it may
    if message is not None and not isinstance(message, Goodbye):
        raise unasked(message, expected="that it ends")
    talk.break_off()
    await talk.exit_code(within=EXIT_SECONDS)


async def _turned_away(script: Script) -> None:
    async with open_talk(script.bench) as talk:
        script.talk = talk
        await talk.launch(ticket_is_good=False)
        talk.remark("its ticket is refused: the call ends with UNAUTHENTICATED")
        code = await talk.turned_away(within=BREAK_SECONDS + 5.0)
        if code == 0:
            raise Unmet("its process ended with exit code 0", expected="another exit code")


async def _broken_stream(script: Script) -> None:
    talk = script.talk
    talk.say(talk.welcome(), script.match_start(script.rules(), games=1))
    game = script.board(script.rules(), seat=0)
    talk.say(game.start(), game.next())
    await script.play_on(game, decisions=2)
    await script.take(game)
    talk.break_off()
    code = await talk.exit_code(within=BREAK_SECONDS)
    if code == 0:
        raise Unmet(
            "its process ended with exit code 0 after a stream without a goodbye",
            expected="another exit code",
        )


async def _slow_referee(script: Script) -> None:
    talk = script.talk
    talk.say(talk.welcome(), script.match_start(script.rules(), games=2))
    game = script.board(script.rules(), seat=0)
    talk.say(game.start(), game.next())
    await script.play_on(game, decisions=2)
    await script.take(game)
    talk.remark(f"the referee is silent for {PAUSE_SECONDS:.0f} s, and then says nothing")
    await talk.quiet(PAUSE_SECONDS, expected="that it waits, however long others think")
    talk.say()
    await talk.quiet(2.0, expected="nothing: an empty batch says nothing")
    talk.say(game.next())
    await script.play_on(game)
    await script.play(script.board(script.rules(), seat=1))
    await talk.farewell(script.match_end)


async def _unix_socket(script: Script) -> None:
    bench = script.bench
    if bench.sandbox is not None:  # there it is at a socket anyway; nothing is started outside
        await _comes_and_plays(script)
        return
    # A path has 107 bytes at most, and the folder of the logs may be deep.
    with TemporaryDirectory(prefix="hokm-check-") as folder:
        async with (
            open_bench(
                bench.entrant,
                python=bench.python,
                running=bench.running,
                logs=bench.logs / "unix",
                address=f"unix:{folder}/referee",
                sandbox=None,
            ) as other,
            open_talk(other) as talk,
        ):
            script.talk = talk
            await _comes_and_plays(script)


async def _comes_and_plays(script: Script) -> None:
    talk = script.talk
    await talk.arrive()
    talk.say(talk.welcome())
    await _short_match(script)
    await talk.farewell()


async def _long_session(script: Script) -> None:
    await script.talk.farewell()


async def _short_match(script: Script) -> None:
    await script.play_match(script.rules(), lambda rules: [script.board(rules, seat=0)])


_ORDER = "docs/protocol.md: The order of a session"
_CALL = "docs/protocol.md: How a call can end"

SESSIONS = (
    Check(
        "hello",
        "It says one good hello within ten seconds, and then waits.",
        "docs/protocol.md: Bot to referee",
        _hello,
        process=Process.OWN,
    ),
    Check(
        "unix-socket",
        "It finds a referee at a unix socket as well.",
        "docs/protocol.md: Reaching the referee",
        _unix_socket,
        process=Process.SEVERAL,
    ),
    Check(
        "late-welcome",
        "It waits for a welcome that takes its time.",
        _ORDER,
        _late_welcome,
        process=Process.OWN,
        waits=True,
    ),
    Check(
        "all-in-one",
        "Welcome, match, game and first decision may come in one batch.",
        "docs/protocol.md: Batches",
        _all_in_one,
        process=Process.OWN,
    ),
    Check(
        "one-by-one",
        "Every message may come in a batch of its own.",
        "docs/protocol.md: Batches",
        _one_by_one,
        process=Process.OWN,
    ),
    Check(
        "no-match",
        "A goodbye may follow the welcome: it says goodbye and exits with 0.",
        _CALL,
        _without_a_match,
        process=Process.OWN,
    ),
    Check(
        "no-game",
        "A match may end before its first game.",
        _ORDER,
        _without_a_game,
        process=Process.OWN,
    ),
    Check(
        "end-in-one-batch",
        "A void decision, the end of its game, of its match and the goodbye may come in one batch.",
        _ORDER,
        _end_in_one_batch,
        process=Process.OWN,
    ),
    Check(
        "goodbye-mid-match",
        "A goodbye ends the session also where a match has games left.",
        _ORDER,
        _goodbye_mid_match,
        process=Process.OWN,
    ),
    Check(
        "match-end-mid-batch",
        "A match may end, and another begin, in the middle of a batch.",
        _ORDER,
        _match_end_mid_batch,
        process=Process.OWN,
    ),
    Check(
        "protocol-refused",
        "It ends by itself where its protocol is not spoken.",
        "docs/protocol.md: Referee to bot",
        _protocol_refused,
        process=Process.OWN,
    ),
    Check(
        "turned-away",
        "It ends by itself, with an exit code that is not 0, where its ticket is refused.",
        _CALL,
        _turned_away,
        process=Process.SEVERAL,
    ),
    Check(
        "broken-stream",
        "It ends by itself, with an exit code that is not 0, where the stream breaks for good.",
        _CALL,
        _broken_stream,
        process=Process.OWN,
    ),
    Check(
        "slow-referee",
        f"It waits {PAUSE_SECONDS:.0f} s for its next decision, and an empty batch is no reason "
        "to speak.",
        "docs/protocol.md: Batches",
        _slow_referee,
        process=Process.OWN,
        waits=True,
    ),
)

LAST = Check(
    "long-session",
    "After all these matches on one stream it says goodbye and exits with 0.",
    _CALL,
    _long_session,
)
"""It ends the process that the checks share."""
