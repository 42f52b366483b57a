"""What a person at a table says, understood: an action, a wish, or nothing that makes sense here.

Whatever is understood as an action is legal by what the person's seat sees. This module reads and
prints nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from hokm.actions import (
    CUTS,
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
from hokm.cards import Card, Suit, Trump
from hokm.errors import NotationError, quoted
from hokm.view import View


class Wish(Enum):
    """What a person may want in place of an action."""

    TABLE = "to see the table again"
    LAST_TRICK = "to see the last trick"
    HELP = "to know what can be said"
    LEAVE = "to leave the table"


@dataclass(frozen=True, slots=True)
class Misunderstood:
    """Nothing that can be done; ``why`` says what can."""

    why: str


_WISHES: Final = {
    "": Wish.TABLE,
    "p": Wish.TABLE,
    "t": Wish.LAST_TRICK,
    "?": Wish.HELP,
    "help": Wish.HELP,
    "q": Wish.LEAVE,
    "quit": Wish.LEAVE,
}

HELP: Final = """\
  a card   AS, as, A♠, or its number in the list of what you may play
  trump    C, D, H, S or ♣ ♦ ♥ ♠; sar, nar or tak_nar where they may be named
  cards    to lay away: all of them in one line, as in 2C 7H 9S, or their numbers
  draw     k keeps the card you look at, r refuses it
  cut      how many cards go from the top to the bottom
  Enter    shows the table again, t the last trick
  q        leaves the table: the game ends there. So does Ctrl-C, at once"""


def question(view: View) -> str:
    """What the person is asked, in a word or two."""
    match view.legal[0]:
        case CutDeck():
            return f"cut, 1 to {len(CUTS)} cards"
        case DeclareTrump():
            return "name trump"
        case DiscardCards(cards):
            return f"lay away {len(cards)} cards"
        case ChooseDraw():
            return "keep or refuse (k, r)"
        case PlayCard():
            return "your card"


def choices(view: View) -> tuple[Card, ...]:
    """The cards that have a number, from 1: those that may be played or laid away."""
    match view.legal[0]:
        case PlayCard():
            return view.playable
        case DiscardCards():
            return view.hand
        case _:
            return ()


def understood(text: str, view: View) -> Action | Wish | Misunderstood:
    """What was said, where ``view`` is asked."""
    said = text.strip().casefold()
    if said in _WISHES:
        return _WISHES[said]
    match view.legal[0]:
        case CutDeck():
            return _cut(said)
        case DeclareTrump():
            return _trump(said, view)
        case DiscardCards(cards):
            return _discards(said, view, count=len(cards))
        case ChooseDraw():
            return _draw(said)
        case PlayCard():
            return _play(said, view)


def cards_list(cards: Sequence[Card]) -> str:
    """Cards for a person, and for a terminal that may have no suits."""
    return " ".join(map(str, cards))


def _cut(said: str) -> Action | Misunderstood:
    number = _number(said)
    if number is not None and 1 <= number <= len(CUTS):
        return CUTS[number - 1]
    return Misunderstood(f"say how many cards you cut: 1 to {len(CUTS)}")


def _trump(said: str, view: View) -> Action | Misunderstood:
    trumps = [action.trump for action in view.legal if isinstance(action, DeclareTrump)]
    for number, trump in enumerate(trumps, start=1):
        if said in (*_names_of(trump), str(number)):
            return DECLARATIONS[trump]
    names = ", ".join(f"{n} {trump.letter}" for n, trump in enumerate(trumps, start=1))
    return Misunderstood(f"{quoted(said)} cannot be named here; name one of {names}")


def _names_of(trump: Trump) -> tuple[str, ...]:
    if trump.suit is None:
        return (trump.name.casefold(),)
    name = trump.suit.name.casefold()
    return (trump.suit.letter.casefold(), trump.suit.symbol, name, name.removesuffix("s"))


def _draw(said: str) -> Action | Misunderstood:
    for action in DRAWS:
        word = action.choice.value
        if said in (word, word[0]):
            return action
    return Misunderstood("say k to keep the card, or r to refuse it and take the next one")


def _discards(said: str, view: View, *, count: int) -> Action | Misunderstood:
    words = [word for word in re.split(r"[\s,/]+", said) if word]
    cards = [_card(word, view.hand) for word in words]
    unknown = [word for word, card in zip(words, cards, strict=True) if card is None]
    if unknown:
        return Misunderstood(f"{quoted(unknown[0])} is no card; {_expected(view, count)}")
    chosen = tuple(card for card in cards if card is not None)
    foreign = [card for card in chosen if card not in view.hand]
    if foreign:
        return Misunderstood(f"you do not hold {foreign[0]}; {_expected(view, count)}")
    if len(set(chosen)) != count or len(chosen) != count:
        return Misunderstood(_expected(view, count))
    return DiscardCards(chosen)


def _expected(view: View, count: int) -> str:
    return f"lay away {count} different cards of {cards_list(view.hand)}"


def _play(said: str, view: View) -> Action | Misunderstood:
    card = _card(said, view.playable)
    if card in view.playable:
        return PLAYS[card]
    may = f"you may play {cards_list(view.playable)}"
    if card is None:
        return Misunderstood(f"{quoted(said)} is no card, nor a number of the list; {may}")
    if card not in view.hand:
        return Misunderstood(f"you do not hold {card}; {may}")
    assert view.led is not None
    return Misunderstood(f"{view.led.name.casefold()} were led, and you have some; {may}")


def _card(said: str, listed: Sequence[Card]) -> Card | None:
    """A card by its number in the list or its name; with a 10 for the T, or the suit first."""
    number = _number(said)
    if number is not None:
        return listed[number - 1] if 1 <= number <= len(listed) else None
    said = said.replace("10", "t")
    for text in (said, said[::-1]):
        try:
            return Card.parse(text)
        except NotationError:
            continue
    return None


def _number(said: str) -> int | None:
    return int(said) if re.fullmatch(r"[0-9]{1,3}", said) else None


def suits_of(cards: Sequence[Card]) -> list[tuple[Card, ...]]:
    """Cards sorted into their suits, low to high; suits without any left out."""
    suits = (tuple(card for card in sorted(cards) if card.suit is suit) for suit in Suit)
    return [cards for cards in suits if cards]
