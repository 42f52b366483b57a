"""Endings at random, and what they are worth by trying every line of play through the rules core.

There are few of them in the suite and ten thousand of each kind in ``make endings``.
"""

import os
from collections.abc import Iterator
from random import Random

from hokm.cards import Card, Seat, Side, Trump, card_set
from hokm.rules.options import Rules
from hokm.rules.position import Position
from hokm.rules.variants import variant_of

ENDINGS = int(os.environ.get("ENDINGS", "120"))

# All cards are played here, whatever side has seven tricks.
_TABLES = {
    4: variant_of(Rules.of(4, options={"play_out": "on"})),
    3: variant_of(Rules.of(3)),
    2: variant_of(Rules.of(2, options={"play_out": "on"})),
}


def endings(seats: int, *, most_cards: int, count: int = ENDINGS) -> Iterator[Position]:
    """Positions near the end of a hand, in the middle of a trick more often than not, under every
    trump and mode; the cards that are gone are few or many.
    """
    for seed in range(count):
        rng = Random(seed)
        held = rng.randint(1, most_cards)
        # Of cards that touch more are equally good, of others more is gone.
        lowest = min(rng.choice((0, 6, 9)), 13 - -(-seats * held // 4))
        there = [card for card in _TABLES[seats].pack if card.rank >= lowest]
        dealt = rng.sample(there, seats * held)
        hands = [card_set(dealt[seat * held : (seat + 1) * held]) for seat in range(seats)]
        position = Position(
            _TABLES[seats],
            hands,
            hakem=Seat(0),
            trump=rng.choice(list(Trump)),
            leader=Seat(rng.randrange(seats)),
        )
        for _ in range(rng.randrange(seats)):
            position.play(rng.choice(position.playable))
        yield position


def tricks_by_card(position: Position) -> dict[Card, int]:
    """For each card that may be played, the tricks that the side to play takes from here on, where
    it plays for most and all others for fewest.
    """
    side = position.variant.side_of[position.turn]
    before = position.taken.count(side)
    known: dict[object, int] = {}
    tricks: dict[Card, int] = {}
    for card in position.playable:
        after = position.copy()
        after.play(card)
        tricks[card] = _tricks(after, side, known) - before
    return tricks


def _tricks(position: Position, side: Side, known: dict[object, int]) -> int:
    if not any(position.hands):
        return position.taken.count(side)
    now = (
        tuple(position.hands),
        position.turn,
        tuple(position.trick),
        position.taken.count(side),
    )
    if now not in known:
        values = []
        for card in position.playable:
            after = position.copy()
            after.play(card)
            values.append(_tricks(after, side, known))
        best = max if position.variant.side_of[position.turn] == side else min
        known[now] = best(values)
    return known[now]


def tricks_of(position: Position, side: Side) -> int:
    """The tricks that this side takes from here on."""
    return _tricks(position, side, {}) - position.taken.count(side)


def sweeps(position: Position, tricks: int) -> bool:
    """Whether the side to play takes each of the next so many tricks."""
    side = position.variant.side_of[position.turn]
    return _sweeps(position, side, len(position.taken) + tricks)


def _sweeps(position: Position, side: Side, until: int) -> bool:
    if any(taker != side for taker in position.taken):
        return False
    if len(position.taken) == until:
        return True
    is_mine = position.variant.side_of[position.turn] == side
    for card in position.playable:
        after = position.copy()
        after.play(card)
        if _sweeps(after, side, until) == is_mine:
            return is_mine
    return not is_mine


def points(position: Position, side: Side) -> float:
    """The side's points less the mean of the others', where it plays for most and all others for
    fewest.
    """
    return _points(position, side, {})


def _points(position: Position, side: Side, known: dict[object, float]) -> float:
    result = position.result
    if result is not None:
        rest = [points for its, points in enumerate(result.points) if its != side]
        return result.points[side] - sum(rest) / len(rest)
    taken = position.taken
    # Beyond the first seven tricks their order says nothing.
    now = (
        tuple(position.hands),
        position.turn,
        tuple(position.trick),
        tuple(taken[:7]),
        tuple(sorted(taken[7:])),
    )
    if now not in known:
        values = []
        for card in position.playable:
            after = position.copy()
            after.play(card)
            values.append(_points(after, side, known))
        best = max if position.variant.side_of[position.turn] == side else min
        known[now] = best(values)
    return known[now]
