"""The card game Hokm: cards, rules, views, records, and the client a bot plays with.

What a bot needs is here by name; the rest stands in its module:

>>> from hokm import Bot, run
>>> class Lowest(Bot):
...     def play(self, view):
...         return view.playable[0]
>>> if __name__ == "__main__":
...     run(Lowest)
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

from hokm.bot import Asked, Bot
from hokm.cards import Card, Rank, Seat, Side, Suit, Trump, cards_text, parse_cards
from hokm.errors import HokmError, IllegalAction, Reason
from hokm.outcome import Ending, HandKind, HandResult, Outcome
from hokm.rules.options import Rules
from hokm.view import Trick, View

if TYPE_CHECKING:
    from hokm.client import run

__all__ = [
    "Asked",
    "Bot",
    "Card",
    "Ending",
    "HandKind",
    "HandResult",
    "HokmError",
    "IllegalAction",
    "Outcome",
    "Rank",
    "Reason",
    "Rules",
    "Seat",
    "Side",
    "Suit",
    "Trick",
    "Trump",
    "View",
    "cards_text",
    "parse_cards",
    "run",
]


def __getattr__(name: str) -> object:
    # The client imports gRPC, which takes a third of a second: not for who only wants the game.
    if name == "run":
        from hokm.client import run

        return run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
