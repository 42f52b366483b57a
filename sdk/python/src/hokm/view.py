"""What one seat lawfully knows of a game, built up from the events it has seen.

A view starts from nothing and grows by :meth:`View.apply`, whether the events come over the wire or
from a game in the same process. It holds no card that its seat was not shown. Everything it hands
out is immutable or a copy.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hokm.actions import Action, Draw
from hokm.cards import NO_CARDS, Card, CardSet, Seat, Side, Suit, Trump, card_set, cards_in
from hokm.events import (
    CardOffered,
    CardPlayed,
    CardsDiscarded,
    CardTurned,
    DeckCut,
    DrawChosen,
    Event,
    HandEnded,
    HandStarted,
    PacketDealt,
    PartnerDrawn,
    TrickTaken,
    TrumpDeclared,
)
from hokm.outcome import HandResult
from hokm.rules.options import Rules
from hokm.rules.tricks import STRENGTH, SUIT_OF, height, legal_cards
from hokm.rules.variants import variant_of


@dataclass(frozen=True, slots=True)
class Trick:
    """A finished trick: its cards in order of play, and the seat that took it."""

    plays: tuple[CardPlayed, ...]
    taker: Seat

    @property
    def leader(self) -> Seat:
        """The seat that led."""
        return self.plays[0].seat

    @property
    def led(self) -> Suit:
        """The suit that was led."""
        return self.plays[0].card.suit


@dataclass(frozen=True, slots=True)
class ClockView:
    """A seat's own clock when it was asked: the time of this move, and what is left in the bank of
    this hand.

    ``last_seconds`` is what its last decision was charged, from written to read; None before the
    first.
    """

    move_seconds: float
    bank_seconds: float
    last_seconds: float | None = None


class View:
    """A seat's knowledge of a game. Attributes speak of the hand being played unless they say
    otherwise.
    """

    def __init__(self, rules: Rules, seat: Seat) -> None:
        self.rules = rules
        self.variant = variant = variant_of(rules)
        self.seat = seat
        self.players: tuple[str, ...] = ()
        """Who sits at the table, names by seat; empty where nobody said."""
        self.scores: tuple[int, ...] = (0,) * variant.sides
        """Points by side in the game so far."""
        self.turned: tuple[CardTurned, ...] = ()
        """The ace draw for the first hakem: every card turned up and who received it; empty without
        one.
        """
        self.partner_drawn: PartnerDrawn | None = None
        """How a second ace made partners: ``turned`` has chairs as they were before, everything
        else as they are since. None where partners are fixed.
        """
        self.results: tuple[HandResult, ...] = ()
        """The results of the hands finished so far in this game."""
        self.clock: ClockView | None = None
        """This seat's clock when it was asked last; None where nobody keeps time."""
        self.legal: tuple[Action, ...] = ()
        """Every action open to this seat now, while it is asked; empty otherwise."""
        self.hand_number = 0
        """Counts hands from 1 within the game; 0 before the first."""
        self.hakem = Seat(0)
        self.dealer = variant.dealer_for(Seat(0))
        self._begin()

    def _begin(self) -> None:
        """A hand of which nothing is known yet."""
        seats = self.variant.seats
        self.cut: int | None = None
        """How many cards the hakem's partner cut; None where nobody did."""
        self.trump: Trump | None = None
        """What the hakem named; None before it did."""
        self.stock = self.variant.stock
        """Cards left in the stock of a two-seat game, the one on offer included."""
        self.offered: Card | None = None
        """The card this seat looks at while it chooses to keep or to refuse it."""
        self.drawing: Seat | None = None
        """The seat whose turn it is to draw."""
        self.draws: tuple[tuple[Seat, Draw | None], ...] = ()
        """The draws so far: who, and keep or refuse, None where this seat is not told."""
        self.discarded: tuple[Card, ...] = ()
        """Cards this seat discarded or, in the draw, saw go: they are out of play."""
        self._hand = NO_CARDS
        # Plays are kept as they come. What follows from them, below, is worked out when it is asked
        # for: there are four views of every card, and most bots ask for little.
        self._plays: list[CardPlayed] = []
        self._takers: list[Seat] = []
        self._worked_out = 0
        self._tricks: list[Trick] = []
        self._counts = [0] * seats
        self._voids = [0] * seats
        self._seen = NO_CARDS

    # -- what a bot asks

    @property
    def tricks(self) -> tuple[Trick, ...]:
        """The tricks finished so far, in order."""
        seats = self.variant.seats
        for number in range(len(self._tricks), len(self._takers)):
            plays = tuple(self._plays[number * seats : (number + 1) * seats])
            self._tricks.append(Trick(plays, self._takers[number]))
        return tuple(self._tricks)

    @property
    def trick(self) -> tuple[CardPlayed, ...]:
        """The plays of the trick that is on, in order; empty before a lead."""
        return tuple(self._plays[len(self._takers) * self.variant.seats :])

    @property
    def voids(self) -> tuple[frozenset[Suit], ...]:
        """By seat, the suits in which it has shown that it holds nothing."""
        self._work_out()
        return tuple([_SUITS[void] for void in self._voids])

    @property
    def hand(self) -> tuple[Card, ...]:
        """This seat's own cards, ascending: clubs, diamonds, hearts, spades, low to high."""
        return cards_in(self._hand)

    @property
    def hand_set(self) -> CardSet:
        """This seat's own cards as a bit set, for bots that simulate."""
        return self._hand

    @property
    def counts(self) -> tuple[int, ...]:
        """How many cards each seat holds."""
        self._work_out()
        return tuple(self._counts)

    @property
    def playable(self) -> tuple[Card, ...]:
        """The cards this seat may play to the trick that is on, ascending."""
        return cards_in(legal_cards(self._hand, self.led))

    @property
    def seen(self) -> tuple[Card, ...]:
        """Every card this seat has seen in this hand: its own, played, discarded; and a two that
        was taken out.
        """
        self._work_out()
        return cards_in(self._seen | ~card_set(self.variant.pack) & _ALL)

    @property
    def unseen(self) -> tuple[Card, ...]:
        """Every card that may be in another hand, undealt, or discarded by the opponent."""
        self._work_out()
        return cards_in(card_set(self.variant.pack) & ~self._seen)

    @property
    def trump_suit(self) -> Suit | None:
        """The trump suit; None before it is named, and in a mode without one."""
        return None if self.trump is None else self.trump.suit

    @property
    def led(self) -> Suit | None:
        """The suit to follow; None if this is the lead."""
        lead = len(self._takers) * self.variant.seats
        return self._plays[lead].card.suit if lead < len(self._plays) else None

    @property
    def winning(self) -> CardPlayed | None:
        """The play that takes the trick as it stands; None before the lead."""
        trick = self.trick
        if not trick or self.trump is None:
            return None
        strength = STRENGTH[self.trump][SUIT_OF[trick[0].card]]
        return max(trick, key=lambda play: strength[play.card])

    def takes(self, card: Card) -> bool:
        """Whether ``card`` would take the trick as it stands; any lead would. Says nothing of
        legality.
        """
        best, led = self.winning, self.led
        if best is None or led is None or self.trump is None:
            return True
        strength = STRENGTH[self.trump][led]
        return strength[card] > strength[best.card]

    def height(self, card: Card) -> int:
        """How high ``card`` stands within its suit, 1 to 13; aces are high until trump says
        otherwise.
        """
        return card.rank + 1 if self.trump is None else height(card.rank, self.trump)

    @property
    def tricks_won(self) -> tuple[int, ...]:
        """Tricks won so far, by side."""
        takers = [self.variant.side_of[taker] for taker in self._takers]
        return tuple(takers.count(Side(side)) for side in range(self.variant.sides))

    @property
    def side(self) -> Side:
        """This seat's side."""
        return self.variant.side_of[self.seat]

    @property
    def partner(self) -> Seat | None:
        """The partner's seat with four seats; None where each plays alone."""
        partners = [seat for seat in self.variant.seats_of(self.side) if seat != self.seat]
        return partners[0] if partners else None

    @property
    def opponents(self) -> tuple[Seat, ...]:
        """The seats of the other sides, in order of play after this seat."""
        seats = self.variant.seats
        after = (Seat((self.seat + place) % seats) for place in range(1, seats))
        return tuple(seat for seat in after if self.variant.side_of[seat] != self.side)

    # -- how it grows

    def ask(self, legal: tuple[Action, ...], clock: ClockView | None = None) -> None:
        """This seat is to act: what it may do, and its clock."""
        self.legal = legal
        self.clock = clock

    def apply(self, event: Event) -> None:
        """Learn of an event, as this seat sees it. Raises ValueError for one that says more than
        this seat may know.
        """
        self.legal = ()
        # First the two that are nearly all events there are, and that everybody sees whole.
        if type(event) is CardPlayed:
            self._plays.append(event)
            if event.seat == self.seat:
                self._hand &= ~(1 << event.card)
        elif type(event) is TrickTaken:
            self._takers.append(event.seat)
        else:
            self._learn(event)

    def _learn(self, event: Event) -> None:
        seen = event.seen_by(self.seat)
        if seen is not event and seen != event:
            raise ValueError(
                f"a {type(event).__name__} is not for seat {self.seat}: apply event.seen_by(seat)"
            )
        _LEARN[type(event)](self, event)

    def _hand_started(self, event: HandStarted) -> None:
        self.hand_number = event.number
        self.hakem = event.hakem
        self.dealer = event.dealer
        self.scores = event.scores
        self._begin()

    def _card_turned(self, event: CardTurned) -> None:
        self.turned = (*self.turned, event)

    def _partner_drawn(self, event: PartnerDrawn) -> None:
        self.partner_drawn = event

    def _deck_cut(self, event: DeckCut) -> None:
        self.cut = event.position

    def _packet_dealt(self, event: PacketDealt) -> None:
        self._counts[event.seat] += event.count
        if event.cards is not None:
            self._gain(event.cards)

    def _trump_declared(self, event: TrumpDeclared) -> None:
        self.trump = event.trump

    def _cards_discarded(self, event: CardsDiscarded) -> None:
        self._counts[event.seat] -= event.count
        for card in event.cards or ():
            self._lose(card)

    def _card_offered(self, event: CardOffered) -> None:
        self.drawing = event.seat
        self.stock = event.stock
        self.offered = event.card
        if event.card is not None:
            self._seen |= event.card.bit

    def _draw_chosen(self, event: DrawChosen) -> None:
        self.draws = (*self.draws, (event.seat, event.choice))
        self.stock -= 2
        self._counts[event.seat] += 1
        first, second = self.offered, event.second
        self.offered = self.drawing = None
        if first is not None and second is not None:
            kept, gone = (first, second) if event.choice is Draw.KEEP else (second, first)
            self._gain((kept, gone))
            self._lose(gone)

    def _hand_ended(self, event: HandEnded) -> None:
        self.results = (*self.results, event.result)
        self.scores = tuple(map(sum, zip(self.scores, event.result.points, strict=True)))

    def _work_out(self) -> None:
        """Draw the conclusions from the plays since this was called last."""
        seats, plays = self.variant.seats, self._plays
        for number in range(self._worked_out, len(plays)):
            play = plays[number]
            led, suit = SUIT_OF[plays[number - number % seats].card], SUIT_OF[play.card]
            if led != suit:
                self._voids[play.seat] |= 1 << led
            self._counts[play.seat] -= 1
            self._seen |= 1 << play.card
        self._worked_out = len(plays)

    def _gain(self, cards: tuple[Card, ...]) -> None:
        gained = card_set(cards)
        self._hand |= gained
        self._seen |= gained

    def _lose(self, card: Card) -> None:
        self._hand &= ~card.bit
        self.discarded = (*self.discarded, card)


_ALL = (1 << 52) - 1

# Sets of suits by their bits, the bit of a suit being ``1 << suit``.
_SUITS = tuple(frozenset(suit for suit in Suit if bits >> suit & 1) for bits in range(16))

# Which event teaches what. The type is open, since each row takes its own event class.
_LEARN: dict[type[Event], Callable[..., None]] = {  # type: ignore[explicit-any]
    CardTurned: View._card_turned,
    PartnerDrawn: View._partner_drawn,
    HandStarted: View._hand_started,
    DeckCut: View._deck_cut,
    PacketDealt: View._packet_dealt,
    TrumpDeclared: View._trump_declared,
    CardsDiscarded: View._cards_discarded,
    CardOffered: View._card_offered,
    DrawChosen: View._draw_chosen,
    HandEnded: View._hand_ended,
}
