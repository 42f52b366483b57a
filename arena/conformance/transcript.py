"""An exchange with a bot, kept to be read: what was said, by whom and when, a line a message. Pure.

Messages are kept as values and only made lines of where a check fails.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from arena.conformance.tables import legal_text
from arena.wording import counted
from hokm.actions import action_text
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

KEPT = 2000
"""Entries that are kept: the last few are what is read, with what a game began with."""

EVENTS_TOLD = 12
"""Events of a message that are told, the last ones, besides those without which a hand cannot be
understood.
"""


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

    def end_with(self, game: int, decision: int) -> None:
        """Forget what was said of other games, and after the answer to that decision."""
        entries: list[Entry] = []
        for entry in self._entries:
            kept = [m for m in entry.messages if not isinstance(m, _IN_A_GAME) or m.game == game]
            if kept or not entry.messages:
                entries.append(replace(entry, messages=tuple(kept)))
            answers = [one for one in kept if isinstance(one, Answer)]
            if any(one.decision == decision for one in answers):
                break
        self._entries = deque(entries, maxlen=KEPT)

    @property
    def last_decision(self) -> int:
        """The number within its game of what was asked last; 0 where nothing was."""
        for entry in reversed(self._entries):
            for message in reversed(entry.messages):
                if isinstance(message, Decision):
                    return message.decision
        return 0

    def lines(self, *, last: int = 12) -> list[str]:
        """The last entries, each message in a line; before them what the game of the last of them
        began with, and the hand that is played in it, where that was said earlier.
        """
        entries = list(self._entries)
        cut = max(0, len(entries) - last)
        earlier = [message for entry in entries[:cut] for message in entry.messages]
        shown = [message for entry in entries[cut:] for message in entry.messages]
        lines = [f"{'earlier':<20}  {text}" for text in _background(earlier, shown)]
        for entry in entries[cut:]:
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
    return [f"  since then: {_events_text(events, last=EVENTS_TOLD)}"] if events else []


def _events_text(events: Sequence[Event], *, last: int) -> str:
    """The last of them, and before those what matters of this hand and the one before it."""
    hands = [place for place, event in enumerate(events) if isinstance(event, HandStarted)]
    since = hands[-2] if len(hands) > 1 else 0
    texts: list[str] = []
    left = 0
    for place, event in enumerate(events):
        if place < len(events) - last and (place < since or not _matters(event)):
            left += 1
            continue
        if left:
            texts.append(f"({counted(left, 'event')})")
            left = 0
        texts.append(event_text(event))
    return ", ".join([*texts, *([f"({counted(left, 'event')})"] if left else [])])


def _matters(event: Event) -> bool:
    """Whether a hand cannot be understood without it: where it begins and ends, its trump, and the
    cards of the seat that is told.
    """
    match event:
        case HandStarted() | TrumpDeclared() | HandEnded():
            return True
        case PacketDealt(_, _, cards) | CardsDiscarded(_, _, cards):
            return cards is not None
        case CardOffered(_, _, card):
            return card is not None
        case DrawChosen(_, choice, _, _):
            return choice is not None
        case _:
            return False


def _background(
    earlier: Sequence[FromReferee | FromBot], shown: Sequence[FromReferee | FromBot]
) -> list[str]:
    """What was said of the game that is shown last, before what is shown."""
    numbers = [one.game for one in (*earlier, *shown) if isinstance(one, _IN_A_GAME)]
    if not numbers:
        return []
    game = numbers[-1]
    start = _last_start(earlier, game)
    if start is None:
        return []
    matches = [one for one in earlier if isinstance(one, MatchStart) and one.match == start.match]
    lines = [text for match in matches[-1:] for text in told(match)]
    lines += told(start)
    if not any(isinstance(event, HandStarted) for event in _events_of(game, shown)):
        events = _events_of(game, earlier)
        hands = [place for place, event in enumerate(events) if isinstance(event, HandStarted)]
        if hands:
            lines.append(f"  {_events_text(events[hands[-1] :], last=0)}")
    return lines


def _last_start(messages: Sequence[FromReferee | FromBot], game: int) -> GameStart | None:
    starts = [one for one in messages if isinstance(one, GameStart) and one.game == game]
    return starts[-1] if starts else None


def _events_of(game: int, messages: Sequence[FromReferee | FromBot]) -> list[Event]:
    told_of = [one for one in messages if isinstance(one, Decision | GameEnd) and one.game == game]
    return [event for message in told_of for event in message.events]


_IN_A_GAME = (GameStart, Decision, Answer, Refused, GameEnd)


def event_text(event: Event) -> str:
    """An event as a seat sees it, in a few words."""
    match event:
        case CardTurned(seat, card):
            return f"{seat} is turned {card}"
        case PartnerDrawn(seat, opposite):
            return f"{seat} is partner and sits at {opposite}"
        case HandStarted(number, hakem, dealer, scores):
            points = "-".join(map(str, scores))
            return f"hand {number} starts (hakem {hakem}, dealer {dealer}, scores {points})"
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
            after = "no hand follows" if hakem is None else f"{hakem} is hakem of the next"
            return f"the hand ends (side {result.winner} wins: {result.kind.value}; {after})"
        case _:
            return type(event).__name__


def _some(things: Sequence[object], *, most: int = 6) -> str:
    texts = [str(thing) for thing in things[:most]]
    return ", ".join(texts) + (f", … ({len(things)} in all)" if len(things) > most else "")
