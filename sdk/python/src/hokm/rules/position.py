"""The form of a hand that simulations use: the play of its tricks with all cards open, no events.

A bot deals the cards it cannot see as it thinks they may lie, makes a :class:`Position` of that,
and plays copies of it to the end as often as it likes. Which cards may be played, who takes a
trick, when the hand is over and what it counts are asked of the same tables and values as a
:class:`~hokm.rules.deal.Deal` asks. A position knows nothing of decks, declarations, draws or what
a seat may see.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hokm.cards import Card, CardSet, Seat, Side, Trump, card_set, cards_in, cards_text
from hokm.outcome import HandResult
from hokm.rules.phases import Tricks
from hokm.rules.scoring import Verdict
from hokm.rules.tricks import SEAT_AFTER, STRENGTH, SUIT_OF, legal_cards
from hokm.rules.variants import Variant

if TYPE_CHECKING:
    from hokm.rules.deal import Deal
    from hokm.view import View


class Position:
    """A hand in the middle of its tricks: to copy, to play on, and to score.

    ``hands[seat]`` are the cards held now, ``trick`` those on the table in order of play, led by
    ``leader`` (the hakem where it is not given), and ``taken`` the sides that took the tricks so
    far, in order. Nothing is hidden and nothing is checked while it is played: it is a workbench,
    and a bot has its own.

    >>> from hokm import Rules, Seat, Trump, cards_text, parse_cards
    >>> from hokm.cards import card_set
    >>> from hokm.rules.variants import variant_of
    >>> hands = [card_set(parse_cards(text)) for text in ("AS 2H", "KS 3H", "QS AH", "JS 4H")]
    >>> start = Position(variant_of(Rules.of(4)), hands, hakem=Seat(0), trump=Trump.HEARTS,
    ...                  taken=[0, 1] * 5 + [0])
    >>> line = start.copy()
    >>> for card in parse_cards("AS KS QS"):
    ...     line.play(card)
    >>> line.turn, cards_text(line.playable)
    (3, 'JS')
    >>> line.play(line.playable[0])
    >>> line.result.winner, line.result.points, start.is_over
    (0, (1, 0), False)
    """

    __slots__ = (
        "_best",
        "_by_led",
        "_strength",
        "hakem",
        "hands",
        "led",
        "taken",
        "trick",
        "trump",
        "turn",
        "variant",
        "verdict",
        "winning",
    )

    def __init__(
        self,
        variant: Variant,
        hands: Sequence[CardSet],
        *,
        hakem: Seat,
        trump: Trump,
        leader: Seat | None = None,
        trick: Sequence[Card] = (),
        taken: Sequence[Side] = (),
    ) -> None:
        if len(hands) != variant.seats:
            raise ValueError(f"this table has {variant.seats} seats, not {len(hands)}")
        self.variant = variant
        self.hakem = hakem
        self.trump = trump
        self.hands: list[CardSet] = list(hands)
        """The cards each seat holds, as bit sets."""
        self.turn = hakem if leader is None else leader
        """The seat that is to play."""
        self.trick: list[Card] = []
        """The cards of the trick that is on, in order of play."""
        self.led: int | None = None
        """The suit that was led, None before the lead."""
        self.winning = self.turn
        """The seat that takes the trick as it stands."""
        self.taken: list[Side] = list(taken)
        """The sides that took the tricks so far, in order."""
        self.verdict: Verdict | None = variant.finish.verdict(self.taken)
        self._by_led = STRENGTH[trump]
        self._strength: tuple[int, ...] = ()
        self._best = 0
        for card in trick:
            self.hands[self.turn] |= 1 << card
            self.play(card)

    @classmethod
    def of_deal(cls, deal: "Deal") -> "Position":
        """The position of a deal. Raises ValueError before its tricks have begun."""
        if deal.trump is None or not (deal.is_over or isinstance(deal.phase, Tricks)):
            raise ValueError("a position begins with the tricks: play the deal on to them")
        return cls(
            deal.variant,
            deal.hands,
            hakem=deal.hakem,
            trump=deal.trump,
            leader=Seat((deal.turn - len(deal.trick)) % deal.seats),
            trick=deal.trick,
            taken=deal.taken,
        )

    @classmethod
    def of_view(cls, view: "View", hands: Sequence[CardSet]) -> "Position":
        """The position a view is in, if the cards lie as ``hands[seat]`` says, its own included.

        Raises ValueError before the tricks, and for hands that cannot be: of a wrong size, with a
        card twice, or with one that the seat of the view knows to be elsewhere. Whether a seat
        may still hold a suit it did not follow is for the bot to mind (``view.voids``).

        >>> from hokm.cards import card_set
        >>> def dealt_at_random(view, rng):
        ...     hidden, hands = rng.sample(view.unseen, len(view.unseen)), []
        ...     for seat, count in enumerate(view.counts):
        ...         is_own = seat == view.seat
        ...         cards = [] if is_own else [hidden.pop() for _ in range(count)]
        ...         hands.append(view.hand_set if is_own else card_set(cards))
        ...     return Position.of_view(view, hands)
        """
        if view.trump is None or view.offered is not None or view.stock:
            raise ValueError("a position begins with the tricks, and this hand is before them")
        _refuse_impossible(view, hands)
        side_of = view.variant.side_of
        return cls(
            view.variant,
            hands,
            hakem=view.hakem,
            trump=view.trump,
            leader=_leader(view),
            trick=[play.card for play in view.trick],
            taken=[side_of[trick.taker] for trick in view.tricks],
        )

    def copy(self) -> "Position":
        """Another one like this; playing one leaves the other as it is."""
        new = Position.__new__(Position)
        new.variant = self.variant
        new.hakem = self.hakem
        new.trump = self.trump
        new.hands = self.hands.copy()
        new.turn = self.turn
        new.trick = self.trick.copy()
        new.led = self.led
        new.winning = self.winning
        new.taken = self.taken.copy()
        new.verdict = self.verdict
        new._by_led = self._by_led
        new._strength = self._strength
        new._best = self._best
        return new

    @property
    def is_over(self) -> bool:
        """Whether the hand has a result."""
        return self.verdict is not None

    @property
    def playable_set(self) -> CardSet:
        """The cards the seat :attr:`turn` may play, as a bit set (rulebook 1.4)."""
        return legal_cards(self.hands[self.turn], self.led)

    @property
    def playable(self) -> tuple[Card, ...]:
        """The cards the seat :attr:`turn` may play, ascending (rulebook 1.4)."""
        return cards_in(legal_cards(self.hands[self.turn], self.led))

    def play(self, card: Card) -> None:
        """The seat :attr:`turn` plays one of :attr:`playable`, and the trick is taken if that was
        its last card. Nothing is checked here: what is not playable makes a position that is none.
        """
        seat = self.turn
        self.hands[seat] ^= 1 << card
        trick = self.trick
        if trick:
            strength = self._strength[card]
            if strength > self._best:
                self._best = strength
                self.winning = seat
        else:
            self.led = led = SUIT_OF[card]
            self._strength = self._by_led[led]
            self._best = self._strength[card]
            self.winning = seat
        trick.append(card)
        variant = self.variant
        if len(trick) < variant.seats:
            self.turn = SEAT_AFTER[variant.seats][seat]
        else:
            self.turn = self.winning
            self.taken.append(variant.side_of[self.winning])
            self.led = None
            trick.clear()
            self.verdict = variant.finish.verdict(self.taken)

    @property
    def tricks_won(self) -> tuple[int, ...]:
        """Tricks won so far, by side."""
        return tuple(self.taken.count(Side(side)) for side in range(self.variant.sides))

    @property
    def result(self) -> HandResult | None:
        """What the hand came to, points by side among it; None while it goes on."""
        if self.verdict is None:
            return None
        return self.variant.scoring.result(
            self.verdict,
            self.taken,
            hakem=self.variant.side_of[self.hakem],
            sides=self.variant.sides,
            trump=self.trump,
        )


def _leader(view: "View") -> Seat:
    if view.trick:
        return view.trick[0].seat
    return view.tricks[-1].taker if view.tricks else view.hakem


def _refuse_impossible(view: "View", hands: Sequence[CardSet]) -> None:
    if len(hands) != view.variant.seats:
        raise ValueError(f"this table has {view.variant.seats} seats, not {len(hands)}")
    if hands[view.seat] != view.hand_set:
        raise ValueError(f"seat {view.seat} holds {cards_text(view.hand)}: deal the other seats")
    free = card_set(view.unseen)
    for seat, (hand, count) in enumerate(zip(hands, view.counts, strict=True)):
        if hand.bit_count() != count:
            raise ValueError(f"seat {seat} holds {count} cards, not {hand.bit_count()}")
        if seat != view.seat:
            if hand & ~free:
                elsewhere = cards_text(cards_in(hand & ~free))
                raise ValueError(f"seat {seat} cannot hold {elsewhere}: seen, or dealt twice")
            free &= ~hand
