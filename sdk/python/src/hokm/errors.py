"""What can go wrong, and whose fault it is.

Every error of this library is a :class:`HokmError`. Rules raise :class:`IllegalAction`; what an
illegal action costs is the referee's decision, not theirs.
"""

import reprlib
from enum import Enum, auto
from typing import Final


class HokmError(Exception):
    """The base of everything this library raises on purpose."""


class NotationError(HokmError, ValueError):
    """A text that does not say what it should: a card, a suit, a hand."""


class RulesError(HokmError, ValueError):
    """A table nobody can play at: an option out of range, without meaning there, or against
    another.
    """


class Reason(Enum):
    """Why an action was refused, in the order in which reasons apply (rulebook 7)."""

    MALFORMED = auto()
    MATCH_OVER = auto()
    STALE_DECISION = auto()
    ALREADY_DECLARED = auto()
    WRONG_PHASE = auto()
    NOT_HAKEM = auto()
    NOT_YOUR_TURN = auto()
    BAD_CUT = auto()
    BAD_DECLARATION = auto()
    BAD_DISCARD = auto()
    NOT_IN_HAND = auto()
    MUST_FOLLOW_SUIT = auto()


class IllegalAction(HokmError):
    """An action the rules refuse. It changed nothing.

    ``reason`` is typed, ``clause`` names the rulebook's paragraph, ``detail`` says what would have
    been right. The text holds nothing that the acting seat does not know already.
    """

    def __init__(self, reason: Reason, *, detail: str, clause: str) -> None:
        super().__init__(f"{reason.name}: {detail} (rulebook {clause})")
        self.reason = reason
        self.detail = detail
        self.clause = clause


_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 100  # room for a digest in hex digits
_SHORT.maxlevel = 1


def quoted(value: object) -> str:
    """A value from outside as a message shows it: its ``repr``, without the middle of a long one.

    >>> quoted("AX")
    "'AX'"
    >>> len(quoted("A" * 1_000_000))
    100
    """
    return _SHORT.repr(value)
