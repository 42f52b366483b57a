"""What a decision cost against what the seat knew.

With open cards everybody is wise: a finesse that failed looks like a mistake. So a decision is
judged once more over deals that fit what its seat had seen (:mod:`hokm.sampling`), each as likely
as any other; of each it is asked what every choice would bring if everybody saw all cards from then
on. A choice is worth the mean.

To take the best of such means would flatter it, for it is partly the luckiest. So the deals are
halved: what is best in one half is held against the taken choice in the other, and the other way
round. That is right in the mean for what it compares, and may fall below nothing by chance. The
source of chance is an argument.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from arena.analysis.hands import Decided, trumps_of
from hokm.actions import DeclareTrump, PlayCard
from hokm.rules.position import Position
from hokm.rules.scoring import SWEEP
from hokm.sampling import Chance, Sample, Sampler
from hokm.solver import OpenHand, PointsSolver, SearchTooLong, can_take
from hokm.view import View

MOST_CARDS: Final[Mapping[int, int]] = {4: 13, 3: 6, 2: 8}
"""By seats, with how many cards in a hand the samples are solved."""

MOST_FOR_KOT: Final = 60
"""Positions looked into to find a kot in a sample. More would take more time than all the rest, and
find few more.
"""


def fair_points_lost(decided: Decided, chance: Chance, *, samples: int) -> float | None:
    """What the decision cost in points, in the mean over so many deals (an even number, 2 at
    least); None where it is not asked: too many cards, or what is no trump and no card.
    """
    view = decided.views[decided.seat]
    if len(view.hand) > MOST_CARDS[view.variant.seats]:
        return None
    worth: Callable[[View, Sample], dict[str, float]]
    match decided.action:
        case DeclareTrump(trump) if view.variant.seats == 4:
            choice, worth = trump.letter, _trumps
        case PlayCard(card):
            choice, worth = str(card), _cards
        case _:
            return None
    sampler = Sampler(view)
    try:
        if sampler.deals == 1:
            values = worth(view, sampler.sample(chance))
            return max(values.values()) - values[choice]
        found = [worth(view, sampler.sample(chance)) for _ in range(samples)]
    except SearchTooLong:
        return None
    first, second = found[::2], found[1::2]
    return (_lost(choice, first, judge=second) + _lost(choice, second, judge=first)) / 2


def _lost(
    choice: str, found: Sequence[Mapping[str, float]], *, judge: Sequence[Mapping[str, float]]
) -> float:
    """What is best of those found, less the choice, in the mean of the others."""
    total = {name: sum(values[name] for values in found) for name in found[0]}
    # Of equals the choice itself: it has lost nothing.
    best = max(total, key=lambda name: (total[name], name == choice))
    return sum(values[best] - values[choice] for values in judge) / len(judge)


def _trumps(view: View, sample: Sample) -> dict[str, float]:
    solver = _solver()
    values = {}
    for trump in trumps_of(view.rules):
        position = Position(view.variant, sample.hands, hakem=view.hakem, trump=trump)
        side = position.variant.side_of[position.turn]
        wins = can_take(OpenHand.of_position(position), SWEEP)
        values[trump.letter] = solver.points(position, side, tricks=SWEEP if wins else 0)
    return values


def _cards(view: View, sample: Sample) -> dict[str, float]:
    position = Position.of_view(view, sample.hands)
    return {str(card): points for card, points in _solver().card_points(position).items()}


def _solver() -> PointsSolver:
    return PointsSolver(most_for_kot=MOST_FOR_KOT)
