"""What a hand with open cards is worth in points, by the scoring of its table.

A side's value is its own points less the mean of the others', as matches compare them. Of two sides
it is exact: whether a side can take its seventh trick, and whether it can take all seven without
losing one (a kot), are asked of DDS and of :mod:`hokm.solver.endings`. Of three seats it is what a
seat can be *sure* of, whatever the other two do, and only asked near the end of a hand. Nothing
here looks at hidden cards or at time.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from hokm.cards import Card, CardSet, Seat, Side, Trump
from hokm.rules.position import Position
from hokm.rules.scoring import SWEEP, Verdict
from hokm.rules.variants import Variant
from hokm.solver import dds, endings
from hokm.solver.endings import MOST_POSITIONS, Search, SearchTooLong, SweepSearch, TrickSearch
from hokm.solver.openhand import OpenHand


class PointsSolver:
    """The values of the positions of one hand, each asked in points of one side.

    It keeps what it has found: ask the same one of all positions of a hand. ``most_positions`` is
    how many it looks into for each question; see :data:`~hokm.solver.endings.MOST_POSITIONS`. For a
    kot of two sides it looks into ``most_for_kot``: some hundreds do for most whole hands, and the
    worst of a hundred took 2,000. Where that is not enough it takes it for none, or, if ``at_most``
    says what the hand was worth, for what it was. Not given, that is an error as all others are.
    """

    def __init__(
        self, *, most_positions: int = MOST_POSITIONS, most_for_kot: int | None = None
    ) -> None:
        self._most_positions = most_positions
        self._most_for_kot = most_for_kot
        self._sweeps: dict[tuple[Trump, Side], SweepSearch] = {}
        self._tricks: dict[tuple[Trump, Side], TrickSearch] = {}
        self._reaching: dict[tuple[Trump, Side, Seat, int], _ReachSearch] = {}

    def points(
        self,
        position: Position,
        side: Side,
        *,
        tricks: int | None = None,
        at_most: float | None = None,
    ) -> float:
        """What the side's points will be, less the mean of the others', if everybody plays as well
        as can be. Where two sides play it is sooner found with what is known already: ``tricks``
        are those that the side takes from here on; ``at_most`` is what cannot be exceeded, the
        value of the position before a card of that side was played, say.

        Raises :class:`~hokm.solver.endings.SearchTooLong`; with four seats
        :class:`~hokm.solver.dds.SolverMissing` where it must ask and ``tricks`` is not given.
        """
        result = position.result
        if result is not None:
            return value_of(result.points, side)
        if position.variant.sides == 2:
            return self._of_two(position, side, tricks, at_most)
        return self._of_many(position, side)

    def card_points(self, position: Position) -> dict[Card, float]:
        """The same for the side that is to play, of each card that it may play now; ascending.
        Raises as :meth:`points`.
        """
        side = position.variant.side_of[position.turn]
        now = None
        winning: Sequence[Card] = ()
        if position.variant.sides == 2:
            winning = self._winning(position, side)
            now = self.points(position, side, tricks=SWEEP if winning else 0)
        values: dict[Card, float] = {}
        for card in position.playable:
            after = position.copy()
            after.play(card)
            tricks = SWEEP if card in winning else 0
            values[card] = self.points(after, side, tricks=tricks, at_most=now)
        return values

    def _winning(self, position: Position, side: Side) -> tuple[Card, ...]:
        """The cards with which the side wins the hand."""
        hand, needed = OpenHand.of_position(position), SWEEP - position.taken.count(side)
        if len(hand.hands) == 4:
            return dds.cards_taking(hand, needed)
        return endings.cards_taking(hand, needed, most_positions=self._most_positions)

    def _of_two(
        self, position: Position, side: Side, tricks: int | None, at_most: float | None
    ) -> float:
        other = Side(1 - side)
        if tricks is None:
            tricks = self._tricks_of(position, side)
        wins = position.taken.count(side) + tricks >= SWEEP
        winner, loser = (side, other) if wins else (other, side)
        win, kot = (_points(position, winner, is_kot=is_kot) for is_kot in (False, True))
        if loser in position.taken[:SWEEP] or (wins and at_most is not None and at_most < kot):
            points = win
        elif not wins and at_most == -kot:
            points = kot
        else:
            takes = self._takes_seven(position, winner)
            if takes is None:
                takes = wins and at_most == kot
            points = kot if takes else win
        return points if wins else -points

    def _tricks_of(self, position: Position, side: Side) -> int:
        """How many tricks the side takes from here on."""
        hand = OpenHand.of_position(position)
        if len(hand.hands) == 4:
            best = dds.best_tricks(hand)
            is_asked = position.variant.side_of[hand.turn] == side
            return best if is_asked else hand.tricks_left - best
        key = (position.trump, side)
        if key not in self._tricks:
            self._tricks[key] = TrickSearch(position.trump, _mine(position.variant, side))
        search = self._tricks[key]
        search.left = self._most_positions
        return search.most(hand)

    def _takes_seven(self, position: Position, side: Side) -> bool | None:
        """Whether the side, which has lost no trick of the first seven, can go on so; None if that
        is not found out.
        """
        key = (position.trump, side)
        if key not in self._sweeps:
            self._sweeps[key] = SweepSearch(position.trump, _mine(position.variant, side))
        search = self._sweeps[key]
        left = SWEEP - len(position.taken)
        if left <= 0:
            return True
        if self._most_for_kot is None:
            search.left = self._most_positions
            return search.holds(OpenHand.of_position(position), left)
        search.left = self._most_for_kot
        try:
            return search.holds(OpenHand.of_position(position), left)
        except SearchTooLong:
            return None

    def _of_many(self, position: Position, side: Side) -> float:
        hand = OpenHand.of_position(position)
        before = _packed([position.taken.count(Side(its)) for its in range(position.variant.sides)])
        outcomes = _outcomes(position.variant, side, position.variant.side_of[position.hakem])
        worst = outcomes[0]
        for at_least in outcomes[1:]:
            key = (position.trump, side, position.hakem, at_least)
            if key not in self._reaching:
                self._reaching[key] = _ReachSearch(position, side, at_least)
            search = self._reaching[key]
            search.left = self._most_positions
            if not search.holds(hand, before):
                break
            worst = at_least
        return worst / (position.variant.sides - 1)


def value_of(points: Sequence[float], side: Side) -> float:
    """A side's points less the mean of the others'."""
    return points[side] - (sum(points) - points[side]) / (len(points) - 1)


class _ReachSearch(Search):
    """Whether a side of several comes to at least so many points less the others' (times their
    number: whole). What is wanted stands for the tricks taken so far, by side.
    """

    def __init__(self, position: Position, side: Side, at_least: int) -> None:
        super().__init__(position.trump, _mine(position.variant, side))
        self._variant = position.variant
        self._hakem = position.variant.side_of[position.hakem]
        self._side = side
        self._at_least = at_least
        self._known: dict[tuple[int, ...], bool] = {}
        self._ended: dict[int, bool | None] = {}

    def _at_lead(self, hands: list[CardSet], leader: int, wanted: int) -> bool | None:
        if wanted not in self._ended:
            self._ended[wanted] = self._end(wanted)
        ended = self._ended[wanted]
        return self._known.get((*hands, leader, wanted)) if ended is None else ended

    def _found(self, hands: list[CardSet], leader: int, wanted: int, *, holds: bool) -> None:
        self._known[(*hands, leader, wanted)] = holds

    def _once_taken(self, winner: int, wanted: int) -> int:
        return wanted + (1 << _BITS * self._variant.side_of[winner])

    def _end(self, wanted: int) -> bool | None:
        variant = self._variant
        # With several sides the order in which they took their tricks says nothing.
        taken = [
            Side(side)
            for side in range(variant.sides)
            for _ in range(wanted >> _BITS * side & _MANY)
        ]
        verdict = variant.finish.verdict(taken)
        if verdict is None:
            return None
        result = variant.scoring.result(
            verdict, taken, hakem=self._hakem, sides=variant.sides, trump=self.trump
        )
        return _whole(result.points, self._side) >= self._at_least


_BITS: Final = 5
_MANY: Final = (1 << _BITS) - 1
"""Room for the tricks of one side."""


def _packed(won: Sequence[int]) -> int:
    return sum(tricks << _BITS * side for side, tricks in enumerate(won))


def _mine(variant: Variant, side: Side) -> tuple[bool, ...]:
    return tuple(its == side for its in variant.side_of)


def _whole(points: Sequence[int], side: Side) -> int:
    return points[side] * len(points) - sum(points)


@cache
def _outcomes(variant: Variant, side: Side, hakem: Side) -> tuple[int, ...]:
    """What a hand may come to for a side, as :func:`_whole` has it, ascending."""
    scoring = variant.scoring
    found = set()
    for winner in range(variant.sides):
        kot = scoring.kot if winner == hakem else scoring.hakem_kot
        for points in (scoring.win, kot):
            by_side = [points if its == winner else 0 for its in range(variant.sides)]
            found.add(_whole(by_side, side))
    return tuple(sorted(found))


def _points(position: Position, winner: Side, *, is_kot: bool) -> float:
    """What it counts if that side of two wins."""
    variant = position.variant
    result = variant.scoring.result(
        Verdict(winner, kot=is_kot),
        position.taken,
        hakem=variant.side_of[position.hakem],
        sides=variant.sides,
        trump=position.trump,
    )
    return float(result.points[winner])
