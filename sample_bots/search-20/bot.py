"""Deals the cards it cannot see in many ways, plays each deal on, and takes what comes out best.

A card is judged by the points that the hand brings on average (a kot more than a win), each deal
played on from that card by all seats as *house* would (``playout``); towards the end of a four-seat
hand also by what the solver says of it, if that is installed. Which deals are likely is told by
``worlds``. What is named and, with two seats, discarded and drawn is chosen in the same way.

It thinks for so many milliseconds of its processor's time (``--milliseconds 200``), and for less
where its clock is short, the choice is clear or little is left to learn. With ``--samples 60`` it
looks at so many deals however long that takes. Chance is a hash of what its seat sees, so it then
plays the same cards again.
"""

import argparse
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import combinations
from math import inf, sqrt
from operator import mul
from random import Random
from typing import TypeAlias, TypeVar

from draws import DISCARDS, Draws, worths
from playout import SUIT_OF_BIT, Hand, Table
from worlds import Worlds, kept

from hokm import Bot, Card, Rank, Suit, Trump, View, run
from hokm.actions import DeclareTrump
from hokm.cards import CARDS, CardSet, Side, card_set
from hokm.rules.scoring import Verdict
from hokm.sampling import Sample, Sampler
from hokm.solver import OpenHand, card_tricks, is_available
from hokm.solver.openhand import by_strength

Choice = TypeVar("Choice", bound=Hashable)

Round: TypeAlias = tuple[int, Callable[[Choice], float]]
"""One deal: how often it counts, and what each choice brings in it."""

MOST_SAMPLES = 200
"""Deals after which little is left to learn, whatever time there is."""
FEWEST_SAMPLES = 8
"""Deals drawn before time is asked for; of them one is looked at whatever the time."""
POOL = 5
"""So many deals are drawn for each that is looked at, and the plausible ones are kept."""
POOL_SHARE = 0.4
"""How much of the time goes into drawing them."""
DOUBT = 0.35
"""How often others play a card that is not advised, to how often one that is."""
TRICK = 0.1
"""What a trick counts beside the points: of two cards that win as often it tells the better."""
LEAD = 0.5
"""By how many standard errors a choice must come out better than the advised one."""
CLEAR = 2.5
"""By how many it must come out worse to be looked at no more."""
STEP = 16
"""Deals between two looks at what is clear."""
SOLVED_CARDS = 7
"""With so many cards in hand or fewer four seats are solved too."""
SOLVED_SHARE = 0.5
"""How much the solver then has to say."""

HONOURS = {Rank.ACE: 6, Rank.KING: 4, Rank.QUEEN: 2, Rank.JACK: 1}


class Search(Bot):
    """Samples deals and plays them on, with four, three and two seats."""

    name = "search"
    milliseconds = 200.0
    samples: int | None = None
    """Look at exactly so many deals; None to go by time."""

    def declare(self, view: View) -> Trump | Suit:
        """Name what brings most, the rest of the cards dealt at random."""
        named = [act.trump for act in view.legal if isinstance(act, DeclareTrump)]
        # First what house names: it is the better of two that come out alike.
        trumps = sorted(named, key=lambda trump: holds(view.hand, trump.suit), reverse=True)
        limit = Limit(view, milliseconds=self.milliseconds, samples=self.samples)

        def value(sample: Sample, trump: Trump) -> float:
            stakes = Stakes(view, trump)
            if view.variant.stock:
                return stakes.of(_drawn(view, sample, trump, lay_away=None, keep=None))
            hands = [by_strength(hand, trump) for hand in sample.hands]
            packs = [by_strength(card_set(view.variant.pack), trump)] * len(hands)
            table = Table(view.variant.side_of, trump.suit)
            return stakes.of(Hand(table, hands, packs=packs, turn=view.hakem))

        return self._best(trumps, self._unweighed(view, limit, value))

    def discard(self, view: View, count: int) -> Sequence[Card]:
        """Lay away what is missed least."""
        assert view.trump is not None
        trump, stakes = view.trump, Stakes(view, view.trump)
        worth = worths(view.trump_suit)
        by_worth = sorted(view.hand, key=lambda card: worth[_place(card, trump)])
        limit = Limit(view, milliseconds=self.milliseconds, samples=self.samples)

        def value(sample: Sample, cards: tuple[Card, ...]) -> float:
            return stakes.of(_drawn(view, sample, trump, lay_away=cards, keep=None))

        choices = list(combinations(by_worth, count))
        return self._best(choices, self._unweighed(view, limit, value))

    def keep(self, view: View) -> bool:
        """Keep the card on offer if that brings more."""
        assert view.trump is not None
        assert view.offered is not None
        trump, stakes = view.trump, Stakes(view, view.trump)
        worth = worths(view.trump_suit)
        unseen = [worth[_place(card, trump)] for card in view.unseen]
        advised = worth[_place(view.offered, trump)] * len(unseen) >= sum(unseen)
        limit = Limit(view, milliseconds=self.milliseconds, samples=self.samples)

        def value(sample: Sample, keep: bool) -> float:
            return stakes.of(_drawn(view, sample, trump, lay_away=None, keep=keep))

        return self._best([advised, not advised], self._unweighed(view, limit, value))

    def play(self, view: View) -> Card:
        """Play what brings most in the deals that are likely."""
        assert view.trump is not None
        if len(view.playable) == 1:
            return view.playable[0]
        chance = _chance(view)
        worlds = Worlds(view, chance, doubt=DOUBT)
        cards = unlike(worlds.draw()[0], by_strength(card_set(view.playable), view.trump))
        best = cards[0]
        if len(cards) > 1:
            best = self._best(cards, self._weighed(view, worlds, chance))
        return next(card for card in view.playable if by_strength(card.bit, view.trump) == best)

    def _weighed(self, view: View, worlds: Worlds, chance: Random) -> Iterator[Round[int]]:
        """Deals in the middle of the tricks, and what each card brings in them."""
        assert view.trump is not None
        limit = Limit(view, milliseconds=self.milliseconds, samples=self.samples)
        stakes = Stakes(view, view.trump)
        most = min(limit.samples, 2 * worlds.deals)
        fewest = min(FEWEST_SAMPLES, most)
        pool = [worlds.draw() for _ in range(fewest)]
        while len(pool) < POOL * most and limit.used() < POOL_SHARE:
            pool.append(worlds.draw())
        # The solver plays on beyond seven tricks, and so knows nothing of a kot still to be had.
        may_solve = view.variant.seats == 4 and min(view.tricks_won) > 0
        solves = may_solve and len(view.hand) <= SOLVED_CARDS and _has_solver()
        number = max(fewest, len(pool) // POOL)
        for done, (hand, times) in enumerate(kept(pool, number, chance)):
            if done and limit.used() >= 1:
                return
            solved = stakes.solved(hand, view) if solves else {}

            def value(card: int, hand: Hand = hand, solved: Mapping[int, float] = solved) -> float:
                line = hand.copy()
                line.play(card)
                points = stakes.of(line)
                if not solved:
                    return points
                return (1 - SOLVED_SHARE) * points + SOLVED_SHARE * solved[card]

            yield times, value

    def _unweighed(
        self, view: View, limit: "Limit", value: Callable[[Sample, Choice], float]
    ) -> Iterator[Round[Choice]]:
        """Deals before the tricks, and what each choice brings in them."""
        sampler, chance = Sampler(view), _chance(view)
        for done in range(limit.samples):
            if done and limit.used() >= 1:
                return
            sample = sampler.sample(chance)

            def brings(choice: Choice, sample: Sample = sample) -> float:
                return value(sample, choice)

            yield 1, brings

    def _best(self, choices: Sequence[Choice], rounds: Iterable[Round[Choice]]) -> Choice:
        """The choice with the best mean; the first, which house advises, where none is better by
        enough. What came out is noted.
        """
        values: dict[Choice, list[float]] = {choice: [] for choice in choices}
        weights: list[int] = []
        left = list(choices)

        def ahead(one: Choice, other: Choice) -> float:
            """By how many standard errors one is better than the other."""
            pairs = zip(weights, values[one], values[other], strict=True)
            gaps = [(weight, mine - its) for weight, mine, its in pairs]
            total = sum(weights)
            mean = sum(weight * gap for weight, gap in gaps) / total
            square = sum(weight * gap * gap for weight, gap in gaps) / total
            # A few deals that agree prove less than their spread says: hence the term added.
            spread = square - mean * mean + 1 / total
            return mean * sqrt(total * total / sum(w * w for w in weights) / spread)

        def first() -> Choice:
            return max(left, key=lambda one: sum(map(mul, values[one], weights)))

        for number, (times, value) in enumerate(rounds, start=1):
            weights.append(times)
            for choice in left:
                values[choice].append(value(choice))
            if number % STEP == 0:
                best = first()
                left = [one for one in left if one == best or ahead(best, one) < CLEAR]
                if len(left) == 1:
                    break
        best, advised = first(), choices[0]
        chosen = advised if advised in left and ahead(best, advised) < LEAD else best
        self.note(
            deals=sum(weights),
            brings=sum(map(mul, values[chosen], weights)) / sum(weights),
            advised=sum(map(mul, values[advised], weights)) / sum(weights[: len(values[advised])]),
        )
        return chosen


class Limit:
    """How long to think about one decision."""

    def __init__(self, view: View, *, milliseconds: float, samples: int | None) -> None:
        self.samples = MOST_SAMPLES if samples is None else samples
        self._is_timed = samples is None
        self._thread_seconds = milliseconds / 1000
        self._wall_seconds = wall_seconds(view)
        self._thread_start, self._wall_start = time.thread_time(), time.monotonic()

    def used(self) -> float:
        """How much of the time is gone, 1 for all of it.

        It is the processor's time, so that a busy machine makes nobody play worse; the clock of the
        table sees to it that it does not become too long.
        """
        if not self._is_timed:
            return 0
        thread = time.thread_time() - self._thread_start
        wall = time.monotonic() - self._wall_start
        return max(thread / self._thread_seconds, wall / self._wall_seconds)


def wall_seconds(view: View) -> float:
    """How long this decision may take by the clock on the wall, with much to spare: a third of the
    time for the move, and of the bank half the share of each decision that may come.
    """
    clock = view.clock
    if clock is None:
        return inf
    return clock.move_seconds / 3 + clock.bank_seconds / (2 * view.variant.decisions) + 1e-4


class Stakes:
    """What the end of a hand is worth to this seat's side under that trump: its points less the
    mean of the others', in a race none beyond the target; and a little for each trick.
    """

    def __init__(self, view: View, trump: Trump) -> None:
        self._side, self._trump = view.side, trump
        self._mean_tricks = 1 / view.variant.sides
        self._wins, self._kots = (
            [self._points(view, Side(side), trump, kot=kot) for side in range(view.variant.sides)]
            for kot in (False, True)
        )

    def _points(self, view: View, winner: Side, trump: Trump, *, kot: bool) -> float:
        variant = view.variant
        points = variant.scoring.result(
            Verdict(winner, kot),
            (),
            hakem=variant.side_of[view.hakem],
            sides=variant.sides,
            trump=trump,
        ).points[winner]
        if view.rules.target_points is not None:
            points = min(points, view.rules.target_points - view.scores[winner])
        return float(points if winner == view.side else -points / (variant.sides - 1))

    def of(self, hand: Hand) -> float:
        """Play the hand to its end, and say what that is worth."""
        return self._worth(hand.play_out(), hand.won)

    def solved(self, hand: Hand, view: View) -> dict[int, float]:
        """By card that may be played now, what it is worth if everybody sees all cards and plays as
        well as can be: the winner follows from the tricks. Both sides have one.
        """
        # The cards are in order of strength already, as under a suit.
        trump = Trump.SAR if self._trump.suit is None else self._trump
        trick = tuple(CARDS[_place(play.card, self._trump)] for play in view.trick)
        leader = view.trick[0].seat if trick else view.seat
        open_hand = OpenHand(tuple(map(CardSet, hand.hands)), trump, leader, trick)
        worth: dict[int, float] = {}
        for card, tricks in card_tricks(open_hand).items():
            won = hand.won.copy()
            won[self._side] += tricks
            won[1 - self._side] += open_hand.tricks_left - tricks
            worth[card.bit] = self._worth(int(won[1] > won[0]), won)
        return worth

    def _worth(self, winner: int, won: Sequence[int]) -> float:
        every = sum(won)
        points = (self._kots if won[winner] == every else self._wins)[winner]
        return points + TRICK * (won[self._side] - every * self._mean_tricks)


def holds(hand: Sequence[Card], suit: Suit | None) -> tuple[int, int]:
    """How many cards of a suit a hand holds, and how good its honours are."""
    ranks = [card.rank for card in hand if card.suit == suit]
    return len(ranks), sum(HONOURS.get(rank, 0) for rank in ranks)


def unlike(hand: Hand, playable: int) -> list[int]:
    """The cards that may be played, one of each run of equals, first the one that house advises.

    Cards of a suit are equal if every card between them has been played before this trick, or is of
    the same hand.
    """
    advised = hand.advised()
    between = hand.packs[hand.turn] & ~(hand.played | hand.hands[hand.turn])
    if hand.length:
        between |= hand.best
    cards: list[int] = []
    last = 0
    while playable:
        card = playable & -playable
        playable ^= card
        is_like_last = (
            last
            and SUIT_OF_BIT[last] == SUIT_OF_BIT[card]
            and not between & (card - 1) & ~(last - 1)
        )
        if not is_like_last:
            cards.append(card)
        elif card == advised:
            cards[-1] = card
        last = card
    cards.sort(key=lambda card: card != advised)
    return cards


def _drawn(
    view: View,
    sample: Sample,
    trump: Trump,
    *,
    lay_away: Sequence[Card] | None,
    keep: bool | None,
) -> Hand:
    """A two-seat hand at its first trick, after this discard or draw and all that follow it."""
    own = view.seat
    gone = [by_strength(sample.gone, trump)] * 2
    gone[own] = by_strength(card_set(view.discarded), trump)
    draws = Draws(
        [by_strength(hand, trump) for hand in sample.hands],
        gone,
        stock=[by_strength(card.bit, trump) for card in sample.stock],
        turn=own,
        worths=worths(trump.suit),
    )
    if lay_away is not None:
        draws.discard(by_strength(card_set(lay_away), trump))
    if keep is None:
        # Whoever has not yet discarded does so: both, if trump is only being named.
        for seat in (view.hakem, 1 - view.hakem):
            if not draws.gone[seat]:
                draws.turn = seat
                draws.discard_least(DISCARDS[seat != view.hakem])
        draws.turn = view.hakem
    draws.draw(keep=keep)
    pack = by_strength(card_set(view.variant.pack), trump)
    packs = [pack & ~cards for cards in draws.gone]
    return Hand(Table(view.variant.side_of, trump.suit), draws.hands, packs=packs, turn=view.hakem)


def _place(card: Card, trump: Trump) -> int:
    return by_strength(card.bit, trump).bit_length() - 1


def _chance(view: View) -> Random:
    """Chance made of what the seat sees, so that the same bot in the same place plays the same."""
    tricks = (*(trick.plays for trick in view.tricks), view.trick)
    played = [int(play.card) for plays in tricks for play in plays]
    seen = (view.hand_number, view.seat, view.trump, view.hand_set, view.offered, played)
    return Random(blake2b(repr(seen).encode(), digest_size=16).digest())


@cache
def _has_solver() -> bool:
    """Whether the solver is there; says so once where it is not."""
    if is_available():
        return True
    sys.stderr.write(
        "search: plays on without the solver, for it is not installed: "
        "pip install 'hokm-sdk[solver]'\n"
    )
    return False


def main() -> None:
    """Play, thinking for as long as the command says."""
    parser = argparse.ArgumentParser(description="Play Hokm by sampling what is hidden.")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument(
        "--milliseconds", type=float, default=Search.milliseconds, help="for each decision"
    )
    limit.add_argument("--samples", type=int, help="look at so many deals, however long it takes")
    asked = parser.parse_args()
    if not asked.milliseconds > 0 or (asked.samples is not None and asked.samples < 1):
        parser.error("it needs some time, or a deal to look at")
    Search.milliseconds, Search.samples = asked.milliseconds, asked.samples
    run(Search)


if __name__ == "__main__":
    main()
