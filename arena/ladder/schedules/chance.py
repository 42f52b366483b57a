"""Chance for schedules: numbers that follow from the secret of an event, and that nobody can know
before it is revealed.

An author who could foresee who is paired with whom could choose when to enter; an operator who
could draw again could choose a bot's opponents. So every draw comes from the same mixed secret as
the deals (`hokm.deck`), by a label of its own, and anybody can draw it again afterwards.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, TypeVar

from hokm.deck import Stream

T = TypeVar("T")

Draw: TypeAlias = Callable[[int], int]
"""``draw(n)``: the next number in 0 … n − 1, each equally likely, for any n from 1 up."""

LABEL: Final = "hokm-sched-v1"

_BYTE: Final = 256


def drawn_from(mixed: bytes, *, first_round: int) -> Draw:
    """The draws for the rounds from `first_round` on, which are scheduled together.

    Args:
        mixed: the 32 bytes M of `hokm.deck.mix`.
        first_round: in the ladder, from 1. Each answer of a schedule has a stream of its own,
            labelled ``hokm-sched-v1/r17`` say, so that none depends on how much another has drawn.
    """
    stream = Stream(mixed, f"{LABEL}/r{first_round}")

    def draw(n: int) -> int:
        if n == 1:
            return 0  # nothing is left to chance
        if n <= _BYTE:
            return stream.below(n)
        # As a stream does with one byte: what would favour small numbers is thrown away.
        length = ((n - 1).bit_length() + 7) // 8
        values = _BYTE**length
        while True:
            number = int.from_bytes(stream.below(_BYTE) for _ in range(length))
            if number < values - values % n:
                return number % n

    return draw


def in_drawn_order(items: Sequence[T], draw: Draw) -> list[T]:
    """The items in one of all their orders, each equally likely (Fisher and Yates)."""
    order = list(items)
    for i in range(len(order) - 1, 0, -1):
        j = draw(i + 1)
        order[i], order[j] = order[j], order[i]
    return order
