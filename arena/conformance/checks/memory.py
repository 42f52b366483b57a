"""Checks of what a bot remembers: a game is played alike whatever was played before and beside it.

They judge bots that make the same choices each time alone. One that draws lots, or plays by the
clock, is found to do so and is not judged.
"""

from collections.abc import Awaitable, Callable, Sequence

from arena.conformance.chance import Chance
from arena.conformance.script import Check, Process, Script
from arena.conformance.tables import ScriptedGame, at_random
from arena.conformance.talk import open_talk
from arena.conformance.unmet import NotSupported, Unmet
from hokm.actions import Action, action_text
from hokm.rules.options import Play, Rules
from hokm.session import MatchStart

AWAY_SECONDS = 8.0
"""How long a bot may be away where its stream breaks."""

OTHERS = 3
"""Games that are played before, and besides."""


class Subject:
    """A game that is played again and again, the same way by the script."""

    def __init__(self, script: Script, *, players: int) -> None:
        self._script = script
        self._text = f"{script.ask.seed} the same again, {players}"
        options = {"target_points": "3"}
        self.rules = Rules.of(players, play=Play.RACE, options=options)
        self.start: MatchStart | None = None
        """The start of the match it is played in."""

    def game(self) -> ScriptedGame:
        """The game once more, under another number."""
        others = at_random(Chance(self._text))
        return self._script.race(self.rules, seat=0, seed=self._text, others=others)

    def other(self) -> ScriptedGame:
        """Another game at the same table."""
        return self._script.race(self.rules, seat=self._script.chance.below(self.rules.players))


async def _after_others(script: Script) -> None:
    """The same game after others in one process."""

    async def play(subject: Subject) -> ScriptedGame:
        await script.play(*(subject.other() for _ in range(OTHERS)))
        game = subject.game()
        await script.play(game)
        return game

    tables = script.bench.entrant.variants
    await compare(script, play, "after other games in the same process", tables=tables)


async def _beside_others(script: Script) -> None:
    """The same game while others are played."""

    async def play(subject: Subject) -> ScriptedGame:
        count = min(script.concurrent, OTHERS + 1)
        game = subject.game()
        await script.play_together([game, *(subject.other() for _ in range(count - 1))])
        return game

    circumstances = "while other games are played in the same process"
    await compare(script, play, circumstances, tables=script.bench.entrant.variants)


async def compare(
    script: Script, play: "Playing", circumstances: str, *, tables: Sequence[int]
) -> None:
    """Whether the bot plays a game as it does alone, wherever it does so alike each time."""
    judged = False
    for players in tables:
        subject = Subject(script, players=players)
        alone = await _played_alone(script, subject)
        if alone is None:
            continue
        judged = True
        if (await _in_a_process(script, subject, play)).actions == alone:
            continue
        # Once more, both: a bot that plays by the clock may have done alike by luck.
        again = await _in_a_process(script, subject, _alone(script))
        played = await _in_a_process(script, subject, play)
        otherwise = played.actions
        if again.actions != alone or otherwise == alone:
            continue
        place = next(
            (n for n, (a, b) in enumerate(zip(alone, otherwise, strict=False)) if a != b), 0
        )
        decision = place + 1  # each is answered once, and they are counted from 1
        script.talk.transcript.end_with(played.number, decision)
        raise Unmet(
            f"{circumstances} it plays a game of {players} otherwise: to decision {decision} of "
            f"it, game {played.number} of the exchange, it answers "
            f"{action_text(otherwise[place])}, and {action_text(alone[place])} each time when it "
            "plays the same game alone",
            expected="the same choices; if it learns from game to game, or draws lots from a fixed "
            f"seed, leave this out: --skip {script.check.name}",
            alike=f"{circumstances} it plays otherwise",
        )
    if not judged:
        raise NotSupported("it does not play the same game alike each time, so it is not judged")


async def _played_alone(script: Script, subject: Subject) -> Sequence[Action] | None:
    """What the bot does in the subject where it plays nothing else; None if not the same twice."""
    known = script.bench.alone
    players = subject.rules.players
    if players not in known:
        games = [await _in_a_process(script, subject, _alone(script)) for _ in range(2)]
        first, second = [game.actions for game in games]
        known[players] = first if first == second else None
    return known[players]


def _alone(script: Script) -> "Playing":
    async def play(subject: Subject) -> ScriptedGame:
        game = subject.game()
        await script.play(game)
        return game

    return play


async def _in_a_process(script: Script, subject: Subject, play: "Playing") -> ScriptedGame:
    """The subject, played so in a fresh process."""
    async with open_talk(script.bench) as talk:
        script.talk = talk
        await talk.arrive()
        subject.start = script.match_start(subject.rules, games=OTHERS + 1)
        talk.say(talk.welcome(resume_seconds=AWAY_SECONDS), subject.start)
        game = await play(subject)
        await talk.farewell(script.match_end)
        return game


Playing = Callable[[Subject], Awaitable[ScriptedGame]]

_PAGE = "docs/bot-reference.md: What a bot is asked"

MEMORY = (
    Check(
        "after-others",
        "It plays a game alike, whatever its process played before.",
        _PAGE,
        _after_others,
        process=Process.SEVERAL,
    ),
    Check(
        "beside-others",
        "It plays a game alike, whatever its process plays at the same time.",
        _PAGE,
        _beside_others,
        concurrent=2,
        process=Process.SEVERAL,
    ),
)
