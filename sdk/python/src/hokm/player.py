"""A bot's side of a session, as values in and values out: the games of one process, each with its
bot and its view.

It takes in a batch of the referee and gives answers as they are ready. It does not know how batches
travel, so an in-process double of a bot is this class and nothing else; :mod:`hokm.client` puts a
stream around it.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

import hokm
from hokm.actions import Action, action_text
from hokm.bot import Asked, Bot, decide_many, note_of
from hokm.errors import HokmError, Reason, quoted
from hokm.events import CardPlayed, Event, HandEnded, HandStarted, PartnerDrawn
from hokm.notes import Note
from hokm.session import (
    PROTOCOL,
    Answer,
    Decision,
    FromBot,
    FromReferee,
    GameEnd,
    GameStart,
    Goodbye,
    Hello,
    MatchEnd,
    MatchStart,
    ProtocolRefused,
    Refused,
    Welcome,
)
from hokm.view import View

# Without any set-up by the author, warnings go to stderr, where the arena keeps them.
_log = logging.getLogger("hokm")


class SessionError(HokmError):
    """The referee said what ends a session before its time, or what makes no sense there."""


@dataclass(slots=True)
class _Game:
    seat: Asked
    decision: int = 0
    attempt: int = 0
    """It was asked last for this attempt at this decision; 0 before the first."""
    action: Action | None = None
    """Its last answer."""
    note: Note | None = None
    """What it attached to that."""
    answered: tuple[int, int] = (0, 0)
    """The decision and attempt that this answered."""
    hands_ended: int = 0
    """How many hands the bot was told the end of."""


class Player:
    """Plays every game of a session, with a fresh ``bot_class()`` for each.

    Send :meth:`hello` first, then for each batch received what :meth:`receive` gives, until
    :attr:`is_finished`. What a bot raises passes through, and the session is then to be broken off.

    If the stream breaks before that and there is a :attr:`resume_token`, the session can go on, on
    a new stream that presents it: send :meth:`hello` there. Bots keep what they remember; each view
    is made anew from what the referee tells again.
    """

    def __init__(self, bot_class: type[Bot]) -> None:
        self._bot_class = bot_class
        self._welcome: Welcome | None = None
        self._matches: dict[str, MatchStart] = {}
        self._games: dict[int, _Game] = {}
        self._asked: dict[int, _Game] = {}
        """The games of this batch that wait for an answer."""
        self.is_finished = False
        """Whether both sides have said goodbye: the stream is to be ended, and all is well."""

    @property
    def resume_token(self) -> str:
        """What names the session on a new stream; empty before the welcome. A secret."""
        return "" if self._welcome is None else self._welcome.resume_token

    @property
    def resume_seconds(self) -> float:
        """How long a broken stream may be away; 0 where the session ends with its stream."""
        return 0.0 if self._welcome is None else self._welcome.resume_seconds

    def hello(self) -> Hello:
        """The first message of the session, and of each stream on which it goes on."""
        kind = self._bot_class
        self._asked.clear()
        return Hello(
            protocol=PROTOCOL,
            sdk=f"hokm-sdk {hokm.__version__}",
            name=kind.name or kind.__name__,
            version=kind.version,
            concurrent=kind.concurrent,
            games=tuple(self._games),
        )

    def receive(self, messages: Sequence[FromReferee]) -> Iterator[FromBot]:
        """Take in a batch in order; what to answer, each once it is ready, empty where nobody is
        asked.

        Bots decide while the answers are drawn, all of them before the next batch. Raises
        SessionError for what the referee should not have said.
        """
        for message in messages:
            self._receive(message)
        return self._answers()

    def _answers(self) -> Iterator[FromBot]:
        asked = []
        for game in self._asked.values():
            if game.action is not None and game.answered == (game.decision, game.attempt):
                # Its answer did not arrive before the stream broke.
                yield _answer(game)
            else:
                asked.append(game.seat)
        self._asked.clear()
        if asked:
            for seat, action in decide_many(self._bot_class, asked):
                game = self._games[seat.game]
                game.action, game.note = action, note_of(seat.bot)
                game.answered = game.decision, game.attempt
                yield _answer(game)
        if self.is_finished:
            yield Goodbye()

    def _receive(self, message: FromReferee) -> None:
        match message:
            case Decision():
                self._decide(message)
            case Refused():
                self._decide_again(message)
            case GameStart():
                self._start(message)
            case GameEnd():
                self._end(message)
            case MatchStart():
                self._matches[message.match] = message
            case MatchEnd():
                self._matches.pop(message.match, None)
            case Welcome():
                self._welcome = message
            case ProtocolRefused(lowest, highest):
                raise SessionError(
                    f"this library speaks protocol {PROTOCOL}, the referee {lowest} to {highest}: "
                    "install a version of hokm-sdk that speaks one of those"
                )
            case Goodbye(reason):
                if self._welcome is None:
                    raise SessionError(f"the referee did not let this bot in: {reason}")
                self.is_finished = True
            case _:
                assert_never(message)

    def _start(self, start: GameStart) -> None:
        match = self._matches.get(start.match)
        if match is None:
            raise SessionError(
                f"game {start.game} is of match {quoted(start.match)}, which never began"
            )
        view = View(match.rules, start.seat)
        if start.seat >= view.variant.seats:
            raise SessionError(f"game {start.game}: there is no seat {start.seat} at its table")
        view.players = start.players
        known = self._games.get(start.game)
        if known is not None:
            if not start.resumed:
                raise SessionError(f"game {start.game} begins a second time")
            known.seat = Asked(start.game, known.seat.bot, view)
            self._asked.pop(start.game, None)  # what is open is asked again
            return
        seat = Asked(start.game, self._bot_class(), view)
        self._games[start.game] = _Game(seat)
        seat.bot.game_started(seat.view)

    def _decide(self, decision: Decision) -> None:
        game = self._games.get(decision.game)
        if game is None:
            raise SessionError(f"a decision in game {decision.game}, which is not on")
        if not decision.legal:
            raise SessionError("a decision without an action that this version of hokm-sdk knows")
        _learn(game, decision.events)
        game.seat.view.ask(decision.legal, decision.clock)
        game.decision = decision.decision
        game.attempt = decision.attempt
        self._asked[decision.game] = game

    def _decide_again(self, refused: Refused) -> None:
        game = self._games.get(refused.game)
        what = "an answer" if game is None or game.action is None else action_text(game.action)
        _log.warning(
            "game %d, decision %d, attempt %d: %s was refused: %s: %s",
            refused.game,
            refused.decision,
            refused.attempt,
            what,
            refused.reason.name,
            refused.detail,
        )
        if game is None or refused.reason in (Reason.MATCH_OVER, Reason.STALE_DECISION):
            return
        if (refused.decision, refused.attempt) != (game.decision, game.attempt):
            return
        if not game.seat.view.legal:  # nothing is open, or not yet again after the stream broke
            return
        # The bot may give the same again; how often that is borne is for the table to say.
        game.attempt += 1
        self._asked[refused.game] = game

    def _end(self, end: GameEnd) -> None:
        game = self._games.pop(end.game, None)
        if game is None:
            raise SessionError(f"the end of game {end.game}, which is not on")
        self._asked.pop(end.game, None)
        _learn(game, end.events)
        game.seat.bot.game_ended(game.seat.view, end.outcome)


def _answer(game: _Game) -> Answer:
    assert game.action is not None
    decision, attempt = game.answered
    return Answer(game.seat.game, decision, attempt, game.action, note=game.note)


def _learn(game: _Game, events: Sequence[Event]) -> None:
    seat = game.seat
    for event in events:
        if not _fits(seat.view, event):
            raise SessionError(f"game {seat.game}: {event} cannot be at this table")
        try:
            seat.view.apply(event)
        except ValueError as error:  # it says more than this seat may know
            raise SessionError(f"game {seat.game}: {error}") from error
        # One that is told again, after the stream broke, is news to the view alone.
        if isinstance(event, HandEnded) and len(seat.view.results) > game.hands_ended:
            game.hands_ended += 1
            seat.bot.hand_ended(seat.view, event.result)


def _fits(view: View, event: Event) -> bool:
    """Whether the seats and sides of which an event speaks are there: a view looks no closer."""
    seats, sides = view.variant.seats, view.variant.sides
    match event:
        case CardPlayed(seat):
            return seat < seats
        case HandStarted(_, hakem, dealer, scores):
            return hakem < seats and dealer < seats and len(scores) == sides
        case HandEnded(result):
            lengths = {len(result.points), len(result.tricks)}
            return result.winner < sides and lengths == {sides}
        case PartnerDrawn(seat, opposite):
            return seat < seats and opposite < seats
        case _:
            its_seat: object = getattr(event, "seat", None)
            return not isinstance(its_seat, int) or its_seat < seats
