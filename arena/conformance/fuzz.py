"""Games made up from a seed: any table the bot claims, any deck, any play of the others, told in
any batches, with unknown fields and early ends among them. Every answer is judged by the rules.

Each match follows from the seed and its own number, so one that a bot fails can be played again by
itself: ``--seed TEXT:NUMBER`` begins with it.
"""

import trio

from arena.conformance import strangers
from arena.conformance.chance import Chance
from arena.conformance.decks import random_deck
from arena.conformance.script import Check, Script
from arena.conformance.tables import (
    Choose,
    ScriptedGame,
    at_random,
    evenly,
    keeping,
    strongest,
)
from arena.conformance.talk import Change
from arena.conformance.unmet import Unmet
from hokm.cards import Seat
from hokm.errors import Reason, RulesError
from hokm.outcome import Ending
from hokm.rules.game import Board
from hokm.rules.options import Play, Rules
from hokm.session import FromReferee, MatchStart

MOST_AT_ONCE = 6
MOST_GAMES = 8

LONGEST_DELAY_SECONDS = 0.02

_FAULTS = tuple(ending for ending in Ending if ending is not Ending.COMPLETED)
_CHANGES = (
    strangers.with_unknown_fields,
    strangers.with_unknown_events,
    strangers.with_unknown_messages,
)


async def _fuzz(script: Script) -> None:
    text, first = split_seed(script.ask.seed)
    number, until = first, trio.current_time() + script.ask.fuzz_seconds
    while number == first or trio.current_time() < until:
        try:
            await _Match(script, Chance(f"{text} match {number}"), until=until).play()
        except Unmet as unmet:
            raise Unmet(
                f"in match {number} of the fuzz (to begin with it: --seed {text}:{number}), "
                f"{unmet.what}",
                expected=unmet.expected,
                reference=unmet.reference,
                alike=unmet.alike,
            ) from None
        number += 1


def split_seed(seed: str) -> tuple[str, int]:
    """The text of a seed, and the number of the match to begin with.

    >>> split_seed("abc"), split_seed("abc:17")
    (('abc', 1), ('abc', 17))
    """
    text, colon, number = seed.rpartition(":")
    if colon and number.isascii() and number.isdecimal() and int(number) > 0:
        return text, int(number)
    return seed, 1


class _Match:
    """One match of the fuzz. Once ``until`` has passed its games are stopped."""

    def __init__(self, script: Script, chance: Chance, *, until: float) -> None:
        self._script = script
        self._chance = chance
        self._until = until
        players = chance.one_of(script.bench.entrant.variants)
        play = Play.RACE if chance.happens(35) else Play.BOARDS
        self._rules = random_rules(players, play=play, chance=chance)
        self._at_once = 1 + chance.below(min(script.concurrent, MOST_AT_ONCE))
        self._left = 1 + chance.below(MOST_GAMES)

    async def play(self) -> None:
        """From its start to its end."""
        script, chance = self._script, self._chance
        start = script.match_start(self._rules, games=self._left)
        await self._say([MatchStart(start.match, self._rules, self._left, start.clock)])
        playing: list[ScriptedGame] = []
        while playing or self._left:
            if trio.current_time() > self._until:
                self._left = 0
                script.talk.say(*(game.fault(Ending.STOPPED, seat=game.seat) for game in playing))
                break
            # Not every game moves at once: others think.
            moving = [game for game in playing if chance.happens(75)]
            messages: list[FromReferee] = [self._next(game) for game in chance.shuffled(moving)]
            while self._left and len(playing) < self._at_once and chance.happens(60):
                game = self._begin()
                self._left -= 1
                playing.append(game)
                messages.append(game.start())
                if chance.happens(70):
                    messages.append(self._next(game))
            await self._say(messages)
            playing = [game for game in playing if not game.is_over]
            await self._hear([game for game in playing if game.open is not None])
        await script.end_match()

    def _next(self, game: ScriptedGame) -> FromReferee:
        if self._chance.happens(1):
            ending = self._chance.one_of(_FAULTS)
            return game.fault(ending, seat=Seat(self._chance.below(self._rules.players)))
        return game.next()

    async def _hear(self, asked: list[ScriptedGame]) -> None:
        """An answer in each game; now and then one is refused first."""
        for game, answer in await self._script.answers(asked):
            attempt = 1
            if self._chance.happens(2):
                self._script.refuse(answer, Reason.MALFORMED, "refused by the script")
                again = await self._script.hear_for([game])
                answer, attempt = again, 2
            game.take(answer, attempt=attempt)

    async def _say(self, messages: list[FromReferee]) -> None:
        """Say all in order, in one batch or several."""
        chance = self._chance
        while messages:
            size = len(messages) if chance.happens(60) else 1 + chance.below(len(messages))
            batch, messages = messages[:size], messages[size:]
            self._script.talk.say(*batch, change=self._change())
            if chance.happens(5):
                self._script.talk.say()
            if chance.happens(5):
                await trio.sleep(chance.below(100) / 100 * LONGEST_DELAY_SECONDS)

    def _change(self) -> Change | None:
        if not self._chance.happens(20):
            return None
        change = self._chance.one_of(_CHANGES)
        return lambda payload: change(payload, self._chance)

    def _begin(self) -> ScriptedGame:
        rules, chance = self._rules, self._chance
        seat = chance.below(rules.players)
        others = _others(chance)
        if rules.play is Play.RACE:
            return self._script.race(rules, seat=seat, seed=chance.seed().hex(), others=others)
        board = Board(rules, random_deck(rules, chance), number=1 + chance.below(400))
        return self._script.game(board, seat=seat, others=others)


def _others(chance: Chance) -> Choose:
    by_chance = at_random(chance)
    return chance.one_of((by_chance, by_chance, keeping(strongest), keeping(evenly)))


_TEXTS = {
    "pause_after": ("hakem", "first_round", "right_opponent"),
    "play_out": ("on", "off"),
    "removed_two": ("C", "D", "H", "S"),
    "draw_choice_public": ("on", "off"),
    "modes": ("suit", "suit,nar", "suit,sar,nar,tak_nar", "suit,tak_nar"),
    "kot_in_modes": ("on", "off"),
    "target_points": ("1", "2", "3", "5"),
    "first_hakem": ("ace_draw", "random", "seat:0", "seat:1"),
    "next_hakem": ("right", "left", "winner"),
    "teams": ("fixed", "fixed", "second_ace"),
    "cut": ("on", "off"),
}
_POINTS = (("1", "2", "3"), ("1", "1", "1"), ("2", "3", "5"), ("1", "50", "100"))


def random_rules(players: int, *, play: Play, chance: Chance) -> Rules:
    """Rules of any table of so many players; what has no meaning there is left out."""
    points = chance.one_of(_POINTS)
    names = ("points_win", "points_kot", "points_hakem_kot")
    options = dict(zip(names, points, strict=True))
    for name, texts in _TEXTS.items():
        if chance.happens(50):
            options = _if_playable(players, play, options, {name: chance.one_of(texts)})
    return Rules.of(players, play=play, options=options)


def _if_playable(
    players: int, play: Play, options: dict[str, str], more: dict[str, str]
) -> dict[str, str]:
    try:
        Rules.of(players, play=play, options=options | more)
    except RulesError:
        return options
    return options | more


FUZZ = Check(
    "fuzz",
    "It plays games made up from a seed: any table, any deck, any batches.",
    "docs/rules.md: Options",
    _fuzz,
)
