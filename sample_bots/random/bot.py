"""Plays a random legal card. It is here to be beaten, and as a fast opponent in tests.

Random means by a hash of what the seat sees, so that the same game is played again the same way.
"""

from collections.abc import Sequence
from hashlib import blake2b

from hokm import Bot, Card, Suit, View, run


class Random(Bot):
    """Every choice is uniform over what is legal."""

    concurrent = 16

    def declare(self, view: View) -> Suit:
        return Suit(below(4, view))

    def discard(self, view: View, count: int) -> Sequence[Card]:
        first = below(len(view.hand), view)
        return (view.hand + view.hand)[first : first + count]

    def keep(self, view: View) -> bool:
        return below(2, view) == 0

    def play(self, view: View) -> Card:
        return view.playable[below(len(view.playable), view)]


def below(bound: int, view: View) -> int:
    """A number from 0 to ``bound - 1`` made of the seat's cards and what was played."""
    played = " ".join(str(play.card) for trick in view.tricks for play in trick.plays)
    on_table = " ".join(str(play.card) for play in view.trick)
    seen = f"{view.hand_number} {view.seat} {view.trump} {view.hand_set} {played} {on_table}"
    text = f"random {seen} {view.stock} {view.offered}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") % bound


if __name__ == "__main__":
    run(Random)
