"""What the seat that is to act knows, of many games at once.

The vectorised counterpart of :class:`~hokm.view.View`: an :class:`Observation` is filled field by
field with what rulebook 6 gives the seat, and holds no card that a view of the same seat would not.
"""

import numpy as np
from numpy.typing import NDArray

from hokm.env.kernels import DRAWS, GAME, NONE, ONE, Game, Games, compiled


class Observation:
    """What one seat knows, a record of an array of dtype :data:`OBSERVATION`. Places are counted
    from the seat itself: place 0 is its own, place ``k`` that of the seat ``k`` turns later, and
    sides likewise; those beyond the number of seats hold nothing. Sets of cards are bits, as in
    :class:`~hokm.cards.CardSet`.
    """

    seat: int
    """The seat that observes, and is to act."""
    phase: int
    """0 declaration, 1 discards, 2 draws, 3 tricks, 4 the hand is over."""
    hakem: int
    """The hakem's place."""
    trump: int
    """The trump suit, -1 before it is named."""
    hand: np.uint64
    """The seat's own cards."""
    legal: np.uint64
    """What it may do, bit ``a`` for action ``a`` (:mod:`hokm.env.actions`)."""
    unseen: np.uint64
    """Every card that may be in another hand, undealt, or discarded by the opponent."""
    discarded: np.uint64
    """Cards it laid away or saw go in the draw."""
    offered: int
    """The card it looks at in a draw, else -1."""
    turns: int
    """Draws made so far; in the discards, cards laid away so far by both seats."""
    kept: np.uint32
    """Bit ``t`` is on if the card of draw ``t`` was kept; the hakem has the even draws."""
    led: int
    """The suit to follow, -1 for a lead."""
    winning: int
    """The place that takes the trick as it stands, -1 before the lead."""
    trick: NDArray[np.int8]
    """By place, its card in the trick that is on, -1 for none."""
    played: NDArray[np.uint64]
    """By place, all cards it has played."""
    voids: NDArray[np.uint8]
    """By place, bit ``s`` is on if it did not follow suit ``s``."""
    leads: NDArray[np.uint8]
    """By place, bit ``s`` is on if it led suit ``s`` to a trick."""
    won: NDArray[np.int8]
    """By side, the own first, tricks won."""
    plays: NDArray[np.int8]
    """The cards in the order in which they were played, -1 for those to come."""


OBSERVATION = np.dtype(
    [
        ("hand", np.uint64),
        ("legal", np.uint64),
        ("unseen", np.uint64),
        ("discarded", np.uint64),
        ("played", np.uint64, (4,)),
        ("kept", np.uint32),
        ("seat", np.int8),
        ("phase", np.int8),
        ("hakem", np.int8),
        ("trump", np.int8),
        ("offered", np.int8),
        ("turns", np.int8),
        ("led", np.int8),
        ("winning", np.int8),
        ("trick", np.int8, (4,)),
        ("voids", np.uint8, (4,)),
        ("leads", np.uint8, (4,)),
        ("won", np.int8, (4,)),
        ("plays", GAME["plays"].base, GAME["plays"].shape),
    ],
    align=True,
)
"""The fields of an :class:`Observation` as bytes."""

Observations = NDArray[np.void]
"""An array of observations: shape (n,), dtype :data:`OBSERVATION`."""


@compiled
def observe(game: Game, seen: Observation) -> None:
    """What the seat to act of one game knows."""
    seats, seat = game.seats, game.turn
    out = (ONE << np.uint64(52)) - ONE
    if seats == 3:
        out ^= ONE  # the two of clubs was taken out
    seen.seat = seat
    seen.phase = game.phase
    seen.hakem = (game.hakem - seat) % seats
    seen.trump = game.trump
    seen.hand = game.hands[seat]
    seen.legal = game.legal
    seen.discarded = game.discarded[seat]
    seen.offered = -1
    if game.phase == DRAWS:
        seen.offered = game.offered
        out &= ~(ONE << np.uint64(game.offered))
    seen.turns = game.turns
    seen.kept = game.kept
    seen.led = game.led
    seen.winning = -1
    if game.led >= 0:
        seen.winning = (game.winning - seat) % seats
    for place in range(4):
        seen.trick[place] = -1
        seen.played[place] = NONE
        seen.voids[place] = seen.leads[place] = seen.won[place] = 0
    for place in range(seats):
        other = (seat + place) % seats
        seen.trick[place] = game.trick[other]
        seen.played[place] = game.played[other]
        seen.voids[place] = game.voids[other]
        seen.leads[place] = game.leads[other]
        out &= ~game.played[other]
    for side in range(game.sides):
        seen.won[side] = game.won[(seat + side) % game.sides]
    for number in range(len(seen.plays)):
        seen.plays[number] = game.plays[number]
    seen.unseen = out & ~(seen.hand | seen.discarded)


@compiled
def observe_all(games: Games, seen: Observations) -> None:
    """What the seat to act of every game knows."""
    for number in range(len(games)):
        observe(games[number], seen[number])
