"""Chance that a text gives: what the script does at random it does again for the same seed.

Numbers come from the streams of `hokm.deck`; this module knows nothing of games.
"""

from collections.abc import Sequence
from typing import TypeVar

from hokm.deck import Stream, secret_from_text

T = TypeVar("T")

_BYTE = 256


class Chance:
    """Draws that follow from ``text`` alone, always in the same order."""

    def __init__(self, text: str) -> None:
        self._stream = Stream(secret_from_text(f"hokm-check {text}"), "check")

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound - 1``, each equally likely, or nearly so above 256."""
        if bound <= 1:
            return 0
        if bound <= _BYTE:
            return self._stream.below(bound)
        return int.from_bytes(self._bytes(8), "big") % bound

    def happens(self, percent: int) -> bool:
        """Whether something comes to pass that does so in so many cases of a hundred."""
        return self.below(100) < percent

    def one_of(self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.below(len(choices))]

    def shuffled(self, things: Sequence[T]) -> tuple[T, ...]:
        """All of them in some order."""
        left = list(things)
        return tuple([left.pop(self.below(len(left))) for _ in things])

    def seed(self) -> bytes:
        """32 bytes for the shuffle of a deck."""
        return self._bytes(32)

    def _bytes(self, count: int) -> bytes:
        return bytes([self._stream.below(_BYTE) for _ in range(count)])
