"""An exchange with a bot, kept to be read: what was said, by whom and when, a line a message. Pure.

Messages are kept as values and only made lines of where a check fails.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from arena.conformance.tables import legal_text
from hokm.actions import Action, action_text
from hokm.cards import cards_text
from hokm.events import (
    CardOffered,
    CardPlayed,
    CardsDiscarded,
    CardTurned,
    DeckCut,
    DrawChosen,
    Event,
    HandEnded,
    HandStarted,
    PacketDealt,
    PartnerDrawn,
    TrickTaken,
    TrumpDeclared,
)
from hokm.session import (
    Answer,
    Decision,
    FromBot,
    FromReferee,
    GameEnd,
    GameStart,
    Goodbye,
    Hello,
    Malformed,
    MatchEnd,
    MatchStart,
    ProtocolRefused,
    Refused,
    Welcome,
)

KEPT = 60
"""Entries that are kept; the last few are what is read."""

EVENTS_TOLD = 12
"""Events of a message that are told, the last ones."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch, or a remark of the script's own: who, when, and what."""

    who: str
    at_seconds: float
    messages: tuple[FromReferee | FromBot, ...] = ()
    remark: str = ""


class Transcript:
    """What was said last; times are seconds since the bot's start."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)

    def add(self, entry: Entry) -> None:
        """Note an entry."""
        self._entries.append(entry)

    def lines(self, *, last: int = 12) -> list[str]:
        """The last entries, each message in a line."""
        lines: list[str] = []
        for entry in list(self._entries)[-last:]:
            head = f"{entry.at_seconds:8.3f} s  {entry.who:<7}  "
            if entry.remark:
                lines.append(f"{head}({entry.remark})")
            texts = [text for message in entry.messages for text in told(message)]
            for place, text in enumerate(texts):
                lines.append((head if place == 0 and not entry.remark else " " * len(head)) + text)
            if not texts and not entry.remark:
                lines.append(f"{head}an empty batch")
        return lines


def told(message: FromReferee | FromBot) -> list[str]:
    """A message in lines, the first of which says what it is."""
    match message:
        case Hello():
            who = f"{message.name!r} {message.version!r} by {message.sdk!r}"
            games = f", back for games {_some(message.games)}" if message.games else ""
            return [
                f"hello: protocol {message.protocol}, {who}, {message.concurrent} at once{games}"
            ]
        case Answer():
            action = message.action
            text = "malformed" if isinstance(action, Malformed) else action_text(action)
            return [f"answer to {_decision_text(message)}, attempt {message.attempt}: {text}"]
        case Goodbye():
            return [f"goodbye {message.reason!r}" if message.reason else "goodbye"]
        case Welcome():
            return [f"welcome: protocol {message.protocol}, {message.arena}"]
        case ProtocolRefused():
            return [f"protocol refused: {message.lowest} to {message.highest} are spoken"]
        case MatchStart():
            rules = message.rules
            table = f"{rules.players} players, {rules.play.value}, games {message.games}"
            options = ", ".join(f"{name}={text}" for name, text in rules.options().items())
            return [f"match {message.match!r} starts: {table}", f"  {options}"]
        case GameStart():
            again = " again" if message.resumed else ""
            seat = f"seat {message.seat} of {_some(message.players)}"
            return [f"game {message.game} starts{again}: {seat}"]
        case Decision():
            attempt = f", attempt {message.attempt}" if message.attempt > 1 else ""
            legal = legal_text(message.legal)
            return [f"{_decision_text(message)}{attempt}: {legal}", *_news(message.events)]
        case Refused():
            why = f"{message.reason.name}: {message.detail[:80]}"
            return [f"refused: {_decision_text(message)}, attempt {message.attempt}: {why}"]
        case GameEnd():
            outcome = message.outcome
            how = f"{outcome.ending.name}, points {outcome.points}, winner {outcome.winner}"
            return [f"game {message.game} ends: {how}", *_news(message.events)]
        case MatchEnd():
            return [f"match {message.match!r} ends"]
        case _:
            assert_never(message)


def _decision_text(message: Decision | Answer | Refused) -> str:
    return f"game {message.game}, decision {message.decision}"


def _news(events: Sequence[Event]) -> list[str]:
    if not events:
        return []
    texts = [event_text(event) for event in events[-EVENTS_TOLD:]]
    left = len(events) - len(texts)
    return [f"  since then: {f'({left} events), ' if left else ''}{', '.join(texts)}"]


def event_text(event: Event) -> str:
    """An event as a seat sees it, in a few words."""
    match event:
        case CardTurned(seat, card):
            return f"{seat} is turned {card}"
        case PartnerDrawn(seat, opposite):
            return f"{seat} is partner and sits at {opposite}"
        case HandStarted(number, hakem, dealer, scores):
            return f"hand {number}, hakem {hakem}, dealer {dealer}, scores {scores}"
        case DeckCut(seat, position):
            return f"{seat} cuts {position}"
        case PacketDealt(seat, count, None):
            return f"{seat} is dealt {count}"
        case PacketDealt(seat, _, cards):
            return f"{seat} is dealt {cards_text(cards or ())}"
        case TrumpDeclared(seat, trump):
            return f"{seat} names {trump.letter}"
        case CardsDiscarded(seat, count, None):
            return f"{seat} lays away {count}"
        case CardsDiscarded(seat, _, cards):
            return f"{seat} lays away {cards_text(cards or ())}"
        case CardOffered(seat, stock, card):
            return f"{seat} is offered {'a card' if card is None else card} of {stock}"
        case DrawChosen(seat, choice, second, _):
            what = "keeps or refuses" if choice is None else f"{choice.value}s"
            return f"{seat} {what}{'' if second is None else f', below it {second}'}"
        case CardPlayed(seat, card):
            return f"{seat} plays {card}"
        case TrickTaken(seat):
            return f"{seat} takes it"
        case HandEnded(result, hakem, _):
            return f"the hand ends {result.kind.value} for side {result.winner}, next {hakem}"
        case _:
            return type(event).__name__


def actions_text(actions: Sequence[Action]) -> str:
    """Actions one after another."""
    return ", ".join(map(action_text, actions))


def _some(things: Sequence[object], *, most: int = 6) -> str:
    texts = [str(thing) for thing in things[:most]]
    return ", ".join(texts) + (f", … ({len(things)} in all)" if len(things) > most else "")
