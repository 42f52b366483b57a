"""What a check is, and what it has at hand: a talk with the bot, games to play in it, and ways to
play them.

A check is a value with a function that talks. It says what should be; a bot that does otherwise is
an :class:`~arena.conformance.unmet.Unmet`. Which checks there are is in
:mod:`arena.conformance.checks`, and how they are run in :mod:`arena.conformance.kit`.
"""

import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from arena.conformance.chance import Chance
from arena.conformance.decks import Deck, random_deck
from arena.conformance.tables import (
    BANK_SECONDS,
    MOVE_SECONDS,
    Choose,
    ScriptedGame,
    at_random,
)
from arena.conformance.talk import Bench, Talk, refusal
from arena.conformance.transcript import told
from arena.conformance.unmet import Unmet
from arena.ladder.bots.entrants import Entrant
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.rules.game import Board, Game, Race
from hokm.rules.options import Play, Rules
from hokm.session import (
    Answer,
    ClockRules,
    FromReferee,
    MatchEnd,
    MatchStart,
)

NOTHING = "nothing: nobody is asked"

Run = Callable[["Script"], Awaitable[None]]


class Process(Enum):
    """Which process a check talks with."""

    SHARED = "shared"
    """One that most checks share; it has been welcomed."""
    OWN = "own"
    """One of its own, which has said hello and which it welcomes and sees off."""
    SEVERAL = "several"
    """It starts them itself."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a bot should do.

    Args:
        name: to ask for it.
        meaning: one sentence that is so of a bot that passes.
        reference: the rulebook's clause, or the page and its heading.
        run: plays it; raises Unmet, or NotSupported.
        players: it is about a table of so many; None where any will do.
        concurrent: games at once that it takes.
        process: which one it talks with.
        waits: nearly all of its time passes in waiting.
    """

    name: str
    meaning: str
    reference: str
    run: Run
    players: int | None = None
    concurrent: int = 1
    process: Process = Process.SHARED
    waits: bool = False

    def lacks(self, entrant: Entrant) -> str:
        """What the bot's manifest would have to claim for this check; empty if it does."""
        if self.players is not None and self.players not in entrant.variants:
            return f"variants with {self.players}"
        if self.concurrent > entrant.concurrent:
            return f"concurrent of {self.concurrent} or more"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of a run besides the checks: the seed of its chances, and how long games are
    made up.
    """

    seed: str
    fuzz_seconds: float


class Script:
    """What a check has at hand.

    Attributes:
        talk: with the bot.
        bench: for checks that start further processes.
        chance: follows from the seed and the check's name.
        players: a number of players that the bot claims.
    """

    def __init__(self, check: Check, *, bench: Bench, talk: Talk, numbers: "Numbers", ask: Ask):
        self.check = check
        self.bench = bench
        self.talk = talk
        self.ask = ask
        self.chance = Chance(f"{ask.seed} {check.name}")
        self.numbers = numbers
        self.players = check.players or max(bench.entrant.variants)

    @property
    def concurrent(self) -> int:
        """How many games the bot takes at once."""
        return self.bench.entrant.concurrent

    # -- making

    def rules(self, play: Play = Play.BOARDS, **options: str) -> Rules:
        """Rules for this check's number of players."""
        return Rules.of(self.players, play=play, options=options)

    def board(
        self,
        rules: Rules,
        *,
        seat: int,
        deck: Deck | None = None,
        hakem: int = 0,
        others: Choose | None = None,
        match: str | None = None,
        number: int | None = None,
    ) -> ScriptedGame:
        """A board with the bot at ``seat``, any deck unless one is given."""
        deck = random_deck(rules, self.chance) if deck is None else deck
        game = Board(rules, deck, number=hakem + 1)
        return self.game(game, seat=seat, others=others, match=match, number=number)

    def race(
        self,
        rules: Rules,
        *,
        seat: int,
        seed: str | None = None,
        others: Choose | None = None,
        match: str | None = None,
        number: int | None = None,
    ) -> ScriptedGame:
        """A race with the bot at ``seat``; ``seed`` gives its draw and its decks."""
        text = str(self.chance.seed().hex()) if seed is None else seed
        game = Race(rules, seeds(text))
        return self.game(game, seat=seat, others=others, match=match, number=number)

    def game(
        self,
        game: Game,
        *,
        seat: int,
        others: Choose | None = None,
        match: str | None = None,
        number: int | None = None,
    ) -> ScriptedGame:
        """A game of the match that was started last, or will be."""
        names = ["other", "another", "a-third"]
        names.insert(seat, self.bench.entrant.name)
        return ScriptedGame(
            game,
            match=self.numbers.match if match is None else match,
            number=self.numbers.next_game() if number is None else number,
            seat=Seat(seat),
            others=at_random(self.chance) if others is None else others,
            players=names[: game.variant.seats],
        )

    def match_start(self, rules: Rules, *, games: int) -> MatchStart:
        """The start of a new match; games made after this are of it."""
        match = self.numbers.next_match(self.check.name, self.bench.entrant.name)
        return MatchStart(match, rules, games, ClockRules(MOVE_SECONDS, BANK_SECONDS))

    @property
    def match_end(self) -> MatchEnd:
        """The end of the match that was started last."""
        return MatchEnd(self.numbers.match)

    # -- playing

    async def play(self, *games: ScriptedGame) -> None:
        """Play games one after the other, each from its start to its end."""
        for game in games:
            self.talk.say(game.start(), game.next())
            await self.play_on(game)

    async def play_on(self, game: ScriptedGame, *, decisions: int | None = None) -> None:
        """Answer by answer to the end of a game, or until so many more decisions were answered and
        the next has been told.
        """
        done = 0
        while not game.is_over and done != decisions:
            await self.take(game)
            self.talk.say(game.next())
            done += 1

    async def take(self, game: ScriptedGame, *, attempt: int = 1) -> Answer:
        """Hear the answer to the one decision that is open, judge it, and do what it says."""
        answer = await self.hear_for([game])
        game.take(answer, attempt=attempt)
        return answer

    async def hear_for(self, games: Sequence[ScriptedGame]) -> Answer:
        """The next message, which must be an answer in one of those games."""
        asked = [game for game in games if game.open is not None]
        expected = "an answer to " + ", ".join(
            f"game {game.number}, decision {game.open.decision}" for game in asked[:4] if game.open
        )
        answer = await self.talk.hear_answer(expected=expected)
        if answer.game not in {game.number for game in asked}:
            raise Unmet(
                f"it answered game {answer.game}, decision {answer.decision}",
                expected=expected,
                reference="docs/protocol.md: Answer",
            )
        return answer

    async def answers(self, games: Sequence[ScriptedGame]) -> list[tuple[ScriptedGame, Answer]]:
        """One answer to each of those games that are asked, in any order; judged, not yet done."""
        waiting = {game.number: game for game in games if game.open is not None}
        answered: dict[int, Answer] = {}
        while len(answered) < len(waiting):
            left = [game for game in waiting.values() if game.number not in answered]
            answer = await self.hear_for(left)
            waiting[answer.game].judge(answer)
            answered[answer.game] = answer
        return [(game, answered[game.number]) for game in waiting.values()]

    async def play_together(
        self, games: Sequence[ScriptedGame], *, chance: Chance | None = None
    ) -> None:
        """Play games at once: all that is to be told goes out as one batch, in an order that
        ``chance`` gives where there is one.
        """
        starts = [game.start() for game in games]
        playing = list(games)
        while playing:
            order = playing if chance is None else list(chance.shuffled(playing))
            self.talk.say(*starts, *(game.next() for game in order))
            starts = []
            playing = [game for game in playing if not game.is_over]
            for game, answer in await self.answers(playing):
                game.take(answer)

    async def play_match(
        self, rules: Rules, games: Callable[[Rules], Iterable[ScriptedGame]]
    ) -> None:
        """A match of its own with those games, one after the other."""
        start = self.match_start(rules, games=1)
        made = list(games(rules))
        self.talk.say(MatchStart(start.match, rules, len(made), start.clock))
        await self.play(*made)
        await self.end_match()

    async def end_match(self) -> None:
        """Tell the end of the match; nothing is to be answered to it."""
        self.talk.say(self.match_end)
        await self.talk.quiet(expected=NOTHING)

    def refuse(self, answer: Answer, reason: Reason, detail: str) -> None:
        """Refuse an answer."""
        self.talk.say(refusal(answer, reason, detail))


class Numbers:
    """Numbers and names that are used once: games on a stream, matches of a run."""

    def __init__(self) -> None:
        self.match = ""
        self._games = itertools.count(1)
        self._matches = itertools.count(1)

    def next_game(self) -> int:
        """A number that no game of this stream has had."""
        return next(self._games)

    def next_match(self, check: str, bot: str) -> str:
        """The id of a new match."""
        self.match = f"check/{check}.{next(self._matches)}/{bot}~other"
        return self.match


def seeds(text: str) -> Callable[[int], bytes]:
    """The seed of each hand of a race, from a text."""
    return lambda hand: Chance(f"{text} hand {hand}").seed()


def texts(messages: Sequence[FromReferee]) -> str:
    """Messages in one line, for an error."""
    return "; ".join(told(message)[0] for message in messages)
