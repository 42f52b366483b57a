"""The class a bot author writes: one object plays one game.

Only :meth:`Bot.play` must be written; every other method has a sensible default. A class that
thinks about many games together writes :meth:`Bot.decide_many` too. Everything is synchronous.
``hokm.client.run`` plays a bot with a referee, ``hokm.testing`` plays bots against each other in
one process.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import TypeVar

from hokm.actions import (
    DECLARATIONS,
    DRAWS,
    PLAYS,
    Action,
    ChooseDraw,
    CutDeck,
    DeclareTrump,
    DiscardCards,
    PlayCard,
)
from hokm.cards import Card, Rank, Suit, Trump
from hokm.notes import Note, fitted
from hokm.outcome import HandResult, Outcome
from hokm.view import View

T = TypeVar("T")

_NOTE = "_hokm_note"
"""Where a bot's note is among its attributes, and is in no author's way."""

_log = logging.getLogger("hokm")


class Bot(ABC):
    """Plays one seat in one game. Override :meth:`play`, and what else you care for.

    >>> class Lowest(Bot):
    ...     def play(self, view):
    ...         return view.playable[0]
    """

    name: str = ""
    """Shown to others; the class name if empty. On a ladder the manifest's name is used."""
    version: str = "1"
    concurrent: int = 1
    """How many games this bot's process takes at once, 1 to 1024."""
    parameters: Mapping[str, float] = MappingProxyType({})
    """Numbers that the bot leaves open, by name. The class says what they are where no arena has
    started it; one that has gives those of ``[parameters]`` in ``bot.toml``, and ``arena tune``
    tries others.
    """

    def cut(self, view: View) -> int:
        """Cut 1 to 51 cards, as the hakem's partner at a table that cuts; by default the half."""
        return 26

    def declare(self, view: View) -> Trump | Suit:
        """Name trump from the first five cards; by default the longest suit, the higher cards
        breaking ties.
        """
        suits = [(len(cards), sum(cards), suit) for suit, cards in _by_suit(view.hand)]
        return Trump(max(suits)[2])

    def discard(self, view: View, count: int) -> Sequence[Card]:
        """Choose ``count`` cards of the hand to lay away (two seats); by default the lowest that
        are not trump.
        """
        return sorted(view.hand, key=lambda card: (card.suit == view.trump_suit, card.rank))[:count]

    def keep(self, view: View) -> bool:
        """Keep ``view.offered`` or take the unseen card below it (two seats); by default keep
        trumps and a ten or better.
        """
        card = view.offered
        return card is not None and (card.suit == view.trump_suit or card.rank >= Rank.TEN)

    @abstractmethod
    def play(self, view: View) -> Card:
        """Choose one of ``view.playable``."""

    def game_started(self, view: View) -> None:  # noqa: B027  # a hook: nothing is the default
        """A game begins; ``view`` knows the rules and the seat."""

    def hand_ended(self, view: View, result: HandResult) -> None:  # noqa: B027  # likewise
        """A hand is over."""

    def game_ended(self, view: View, outcome: Outcome) -> None:  # noqa: B027  # likewise
        """The game is over."""

    def note(self, text: str = "", /, **numbers: float) -> None:
        """Attach a note to the action that is being decided, for the bot's owner alone: a text of
        up to 200 printable characters, and up to 8 numbers by name.

        The record of the match keeps it; nobody at the table is told. Called again before the
        action is given, the last call counts; called at another time, none does. What does not fit
        is left out, with a warning in the bot's log: a note raises nothing and costs no game.

        >>> class Lowest(Bot):
        ...     def play(self, view):
        ...         self.note("the lowest", choices=len(view.playable))
        ...         return view.playable[0]
        """
        try:
            note, wrong = fitted(text, numbers)
        except Exception as error:  # a text that cannot even be made one
            note, wrong = None, f"it cannot be read: {type(error).__name__}"
        if wrong:
            _log.warning("a note is not kept as it was given: %s", wrong)
        self.__dict__[_NOTE] = note

    @classmethod
    def decide_many(cls, asked: Sequence["Asked"]) -> Iterable[tuple["Asked", Action]]:
        """Decide in all games that wait for this process: each of ``asked`` with its action, in any
        order.

        A class with ``concurrent`` above 1 overrides this to think about them together; by default
        each bot is asked by itself. A generator may yield each pair once it is ready, and it is
        sent while the others are thought about; what is asked next is not seen before the last.

        >>> def network(views):  # one pass for all of them: which of its legal actions each takes
        ...     return [0 for view in views]
        >>> class Together(Bot):
        ...     concurrent = 64
        ...     @classmethod
        ...     def decide_many(cls, asked):
        ...         for one, choice in zip(asked, network([one.view for one in asked])):
        ...             one.bot.note(choice=choice)
        ...             yield one, one.view.legal[choice]
        ...     def play(self, view):
        ...         return view.playable[0]
        """
        for one in asked:
            yield one, one.decide()


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One game in which a bot is to decide, as :meth:`Bot.decide_many` is asked.

    Equal to itself alone, so it can be the key of a dict.
    """

    game: int
    """The number of the game, unique within the process."""
    bot: Bot
    """The bot that plays it."""
    view: View
    """What the bot's seat knows; ``view.legal`` is every action open to it."""

    def decide(self) -> Action:
        """Ask the bot by its ordinary methods: ``play``, ``declare`` and so on."""
        return decide(self.bot, self.view)


def decide_many(kind: type[Bot], asked: Sequence[Asked]) -> Iterator[tuple[Asked, Action]]:
    """Ask bots of one class, together; each answer once it is ready.

    Raises TypeError for what is no answer, for one to what is not asked, and, after the last, for
    what was left without one.
    """
    name = f"{kind.__name__}.decide_many()"
    for one in asked:
        one.bot.__dict__.pop(_NOTE, None)
    answers: object = kind.decide_many(asked)
    if not isinstance(answers, Iterable):
        raise TypeError(f"{name} must give pairs (asked, action), not {answers!r}: yield them")
    unanswered = dict.fromkeys(asked)
    for answer in answers:
        match answer:
            case (Asked() as one, action):
                pass
            case _:
                raise TypeError(f"{name} must give pairs (asked, action), not {answer!r}")
        if one not in unanswered:
            why = "has been answered" if one in asked else "it was not asked about"
            raise TypeError(f"{name} gave an answer for {_named(one)}, which {why}")
        if not isinstance(action, Action):
            raise TypeError(
                f"{name} must give an action, such as PlayCard(card) or one of view.legal, "
                f"for {_named(one)}, not {action!r}"
            )
        del unanswered[one]
        yield one, action
    if unanswered:
        raise TypeError(f"{name} gave no answer for {'; '.join(map(_named, unanswered))}")


def note_of(bot: Bot) -> Note | None:
    """The note that the bot attached to the action it decided last; None if it did not."""
    note: object = bot.__dict__.get(_NOTE)
    return note if isinstance(note, Note) else None


def _named(asked: Asked) -> str:
    return f"game {asked.game}, seat {asked.view.seat}"


def decide(bot: Bot, view: View) -> Action:
    """Ask the bot for the action its view calls for, in the first legal action's kind.

    Raises TypeError if the bot's answer is not what its method promises; legality is for the rules
    to judge.
    """
    match view.legal[0]:
        case CutDeck():
            return CutDeck(_answer(bot.cut(view), int, "cut"))
        case DeclareTrump():
            return DECLARATIONS[_answer(bot.declare(view), (Trump, Suit), "declare")]
        case DiscardCards(cards):
            chosen = bot.discard(view, len(cards))
            return DiscardCards(tuple(_answer(card, Card, "discard") for card in chosen))
        case ChooseDraw():
            return DRAWS[0] if bot.keep(view) else DRAWS[1]
        case PlayCard():
            return PLAYS[_answer(bot.play(view), Card, "play")]
        case other:
            raise TypeError(f"a {type(other).__name__} is no decision this library knows")


def _answer(value: T, kind: type | tuple[type, ...], method: str) -> T:
    if isinstance(value, kind):
        return value
    kinds = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
    raise TypeError(f"{method}() of a bot must give {kinds}, not {value!r}")


def _by_suit(hand: Sequence[Card]) -> list[tuple[Suit, list[Card]]]:
    return [(suit, list(cards)) for suit, cards in groupby(hand, key=lambda card: card.suit)]
