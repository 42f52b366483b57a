"""Games: one board in one room, or one race. What the referee runs, and what a bot is given one
object for.

A game strings deals together: where the next deck comes from, who is hakem, what the score is, when
it is over. A fault is an end too, but not by the rules: :meth:`Game.forfeit` says what it costs;
who decides that one happened is the referee.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from hokm.actions import Action
from hokm.cards import Card, Seat, Side
from hokm.deck import shuffled
from hokm.events import Event, HandEnded, HandStarted
from hokm.outcome import Ending, HandResult, Outcome
from hokm.rules.deal import Deal
from hokm.rules.draw import opening
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of

SeedOf = Callable[[int], bytes]
"""The 32-byte seed of hand number k of a race; number 0 is the draw for the first hakem."""


class Game(ABC):
    """A board or a race from its first card to its outcome.

    Call :meth:`start` once, then :meth:`act` for the seat :attr:`to_act` until :attr:`is_over`.
    Both return the events that happened; a seat is to be shown :meth:`~hokm.events.Event.seen_by`
    of each and nothing else.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.variant = variant_of(rules)
        self.scores: tuple[int, ...] = (0,) * self.variant.sides
        self.winner: Side | None = None
        self.hand_number = 0

    deal: Deal
    """The hand being played, or the last one played. There is none before :meth:`start`."""

    @property
    def is_over(self) -> bool:
        """Whether the game has been won."""
        return self.winner is not None

    @property
    def to_act(self) -> Seat | None:
        """The seat that is to act, None when the game is over."""
        return self.deal.to_act  # with the game its last deal is over too

    def legal_actions(self) -> tuple[Action, ...]:
        """Every action open to the seat that is to act; empty when the game is over."""
        return self.deal.legal_actions()

    @abstractmethod
    def start(self) -> list[Event]:
        """Begin, up to the first choice; the events in order."""

    def act(self, seat: Seat, action: Action) -> list[Event]:
        """Do it, and all that follows without a choice; raises IllegalAction."""
        deal = self.deal
        events = deal.act(seat, action)
        if deal.verdict is not None and (result := deal.result) is not None:
            events += self._hand_over(result)
        return events

    @property
    def outcome(self) -> Outcome | None:
        """The end by the rules, None while the game goes on."""
        if self.winner is None:
            return None
        return Outcome(Ending.COMPLETED, self.scores, self.winner)

    @abstractmethod
    def forfeit(self, seat: Seat, *, ending: Ending, cause: str) -> Outcome:
        """The end by the fault of ``seat``, as it counts (docs/rules: faults)."""

    def void(self, ending: Ending, *, cause: str, seat: Seat | None = None) -> Outcome:
        """An end that counts for nobody: a fault of the host, a bot that never started, an order to
        stop.
        """
        return Outcome(ending, self.scores, None, at_fault=seat, cause=cause)

    @abstractmethod
    def _hand_over(self, result: HandResult) -> list[Event]:
        """Score a finished hand and go on to the next, if there is one."""

    def _start_hand(self, deck: Sequence[Card], hakem: Seat) -> list[Event]:
        self.hand_number += 1
        self.deal = Deal(self.rules, deck, hakem=hakem)
        dealer = self.variant.dealer_for(hakem)
        started = HandStarted(self.hand_number, hakem, dealer, self.scores)
        return [started, *self.deal.start()]

    def _add(self, result: HandResult) -> None:
        self.scores = tuple(map(sum, zip(self.scores, result.points, strict=True)))


class Board(Game):
    """One hand fixed in advance: board ``number`` (from 1), its deck, and so its hakem (rulebook
    1.11).
    """

    def __init__(self, rules: Rules, deck: Sequence[Card], *, number: int) -> None:
        if rules.play is not Play.BOARDS:
            raise ValueError("these rules are for races: make them with play=Play.BOARDS")
        if number < 1:
            raise ValueError(f"there is no board {number}: boards are numbered from 1")
        super().__init__(rules)
        self.number = number
        self._deck = deck

    @property
    def hakem(self) -> Seat:
        """The hakem of this board."""
        return Seat((self.number - 1) % self.variant.seats)

    def start(self) -> list[Event]:
        """See :class:`Game`."""
        return self._start_hand(self._deck, self.hakem)

    def forfeit(self, seat: Seat, *, ending: Ending, cause: str) -> Outcome:
        """The worst result there is for the side at fault."""
        side_of = self.variant.side_of
        points = self.variant.scoring.fault(
            at_fault=side_of[seat], hakem=side_of[self.hakem], sides=self.variant.sides
        )
        return Outcome(ending, points, _only_other(side_of[seat], self), at_fault=seat, cause=cause)

    def _hand_over(self, result: HandResult) -> list[Event]:
        self._add(result)
        self.winner = result.winner
        return [HandEnded(result, None, None)]


class Race(Game):
    """Hands with a moving hakem until a side reaches the target (rulebook 1.7, 1.9, 2.6).

    ``seed_of(k)`` gives the seed of hand k; the first hakem is drawn from ``seed_of(0)``. Seats are
    those after the draw: where it makes players change chairs, they have done so before the first
    event.
    """

    def __init__(self, rules: Rules, seed_of: SeedOf) -> None:
        if rules.play is not Play.RACE:
            raise ValueError("these rules are for boards: make them with play=Play.RACE")
        super().__init__(rules)
        self._seed_of = seed_of

    def start(self) -> list[Event]:
        """See :class:`Game`."""
        first = opening(self.rules, self._seed_of(0))
        return [*first.events, *self._start_hand(self._deck(1), first.hakem)]

    def forfeit(self, seat: Seat, *, ending: Ending, cause: str) -> Outcome:
        """The side at fault loses the race; the points stay as they were."""
        winner = _only_other(self.variant.side_of[seat], self)
        return Outcome(ending, self.scores, winner, at_fault=seat, cause=cause)

    def _hand_over(self, result: HandResult) -> list[Event]:
        assert self.rules.target_points is not None
        assert self.rules.next_hakem is not None
        self._add(result)
        if self.scores[result.winner] >= self.rules.target_points:
            self.winner = result.winner
            return [HandEnded(result, None, None)]
        hakem = self.variant.next_hakem(
            self.deal.hakem, winner=result.winner, succession=self.rules.next_hakem
        )
        ended = HandEnded(result, hakem, self.variant.dealer_for(hakem))
        return [ended, *self._start_hand(self._deck(self.hand_number + 1), hakem)]

    def _deck(self, hand: int) -> tuple[Card, ...]:
        return shuffled(self.variant.pack, self._seed_of(hand))


def _only_other(side: Side, game: Game) -> Side | None:
    """The other side where there are two; None where a fault leaves more than one."""
    return Side(1 - side) if game.variant.sides == 2 else None
