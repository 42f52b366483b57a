"""One hand, played: the state, and the events that change it.

Actions are judged by the phase that is on; what they cause, and what follows without a choice, are
events, and :meth:`Deal.apply` is the only thing that changes state. Applying the same events to a
fresh deal gives an equal deal.
"""

from collections.abc import Callable, Sequence

from hokm.actions import Action, Draw
from hokm.cards import NO_CARDS, Card, CardSet, Seat, Side, Trump, card_set
from hokm.errors import IllegalAction
from hokm.events import (
    CardOffered,
    CardPlayed,
    CardsDiscarded,
    DeckCut,
    DrawChosen,
    Event,
    PacketDealt,
    TrickTaken,
    TrumpDeclared,
)
from hokm.outcome import HandResult
from hokm.rules.options import Rules
from hokm.rules.phases import OVER, Phase
from hokm.rules.scoring import Verdict
from hokm.rules.tricks import SEAT_AFTER, STRENGTH, SUIT_OF
from hokm.rules.variants import variant_of


class Deal:
    """One hand of a variant from its deck to its result.

    ``deck`` is the whole pack in order, ``deck[0]`` on top, and as it lies after a cut. Call
    :meth:`start` once, then :meth:`act` for the seat :attr:`to_act` until :attr:`is_over`; both
    return the events that happened, unseen by anybody yet: a seat is to be shown
    :meth:`Event.seen_by` of each and nothing else.
    """

    __slots__ = (
        "_phase",
        "_strength",
        "_winning_strength",
        "cut",
        "deck",
        "discarded",
        "hakem",
        "hands",
        "led",
        "offered",
        "phase_number",
        "rules",
        "seats",
        "step",
        "taken",
        "trick",
        "trump",
        "turn",
        "variant",
        "verdict",
        "winning",
    )

    def __init__(self, rules: Rules, deck: Sequence[Card], *, hakem: Seat) -> None:
        self.rules = rules
        self.variant = variant_of(rules)
        if len(deck) != len(self.variant.pack) or set(deck) != set(self.variant.pack):
            raise ValueError(
                f"a deck here is the {len(self.variant.pack)} cards of the pack, each once"
            )
        self.seats = self.variant.seats
        self.deck = tuple(deck)
        self.hakem = hakem
        self.cut: int | None = None
        self.trump: Trump | None = None
        self.hands: list[CardSet] = [NO_CARDS] * self.seats
        self.discarded: list[CardSet] = [NO_CARDS] * self.seats
        self.phase_number = 0
        self.step = 0
        self.offered: Card | None = None
        self.trick: list[Card] = []
        self.turn = hakem
        self.led: int | None = None
        self.winning = hakem
        self.taken: list[Side] = []
        self.verdict: Verdict | None = None
        self._phase: Phase = self.variant.phases[0]
        self._winning_strength = 0
        self._strength: tuple[int, ...] = ()

    # -- what is going on

    @property
    def is_over(self) -> bool:
        """Whether the hand has a result."""
        return self._phase is OVER

    @property
    def phase(self) -> Phase | None:
        """The phase that is on, None after the last."""
        return None if self._phase is OVER else self._phase

    @property
    def to_act(self) -> Seat | None:
        """The seat that is to act, None when the hand is over."""
        return self._phase.actor(self)

    @property
    def result(self) -> HandResult | None:
        """The result by the rules, None while the hand goes on."""
        if self.verdict is None or self.trump is None:
            return None
        return self.variant.scoring.result(
            self.verdict,
            self.taken,
            hakem=self.variant.side_of[self.hakem],
            sides=self.variant.sides,
            trump=self.trump,
        )

    # -- legality, asked three ways

    def legal_actions(self) -> tuple[Action, ...]:
        """Every action open to the seat that is to act; empty when the hand is over."""
        return self._phase.legal(self)

    def check(self, seat: Seat, action: Action) -> None:
        """Raise :class:`~hokm.errors.IllegalAction` if ``seat`` may not do this now; change
        nothing.
        """
        self._phase.judge(self, seat, action)

    def is_legal(self, seat: Seat, action: Action) -> bool:
        """Whether ``seat`` may do this now."""
        try:
            self._phase.judge(self, seat, action)
        except IllegalAction:
            return False
        return True

    def act(self, seat: Seat, action: Action) -> list[Event]:
        """Do it, and all that follows without a choice; the events in order. Raises as
        :meth:`check`.
        """
        return self._run(self._phase.judge(self, seat, action))

    def start(self) -> list[Event]:
        """Deal up to the first choice; the events in order."""
        return self._run(self._phase.forced(self))

    def _run(self, event: Event | None) -> list[Event]:
        events: list[Event] = []
        while event is not None:
            self.apply(event)
            events.append(event)
            event = self._phase.forced(self)
        return events

    # -- the one way state changes

    def apply(self, event: Event) -> None:
        """Change the state by an event of this hand, as it happened or as a record has it."""
        if type(event) is CardPlayed:  # most events; and no phase ends before a trick is taken
            self._card_played(event)
            return
        _APPLY[type(event)](self, event)
        while self._phase.is_over(self):
            self.phase_number += 1
            self.step = 0
            phases = self.variant.phases
            self._phase = phases[self.phase_number] if self.phase_number < len(phases) else OVER

    def _deck_cut(self, event: DeckCut) -> None:
        self.cut = event.position
        self.deck = (*self.deck[event.position :], *self.deck[: event.position])

    def _packet_dealt(self, event: PacketDealt) -> None:
        self.hands[event.seat] |= card_set(event.cards or ())
        self.step += 1

    def _trump_declared(self, event: TrumpDeclared) -> None:
        self.trump = event.trump

    def _cards_discarded(self, event: CardsDiscarded) -> None:
        gone = card_set(event.cards or ())
        self.hands[event.seat] &= ~gone
        self.discarded[event.seat] |= gone
        self.step += 1

    def _card_offered(self, event: CardOffered) -> None:
        self.offered = event.card

    def _draw_chosen(self, event: DrawChosen) -> None:
        kept, gone = self.offered, event.second
        if event.choice is Draw.REFUSE:
            kept, gone = gone, kept
        if kept is None or gone is None:
            raise ValueError("a deal is changed by whole events, not by what a seat sees of them")
        self.hands[event.seat] |= kept.bit
        self.discarded[event.seat] |= gone.bit
        self.offered = None
        self.step += 1

    def _card_played(self, event: CardPlayed) -> None:
        seat, card = event.seat, event.card
        self.hands[seat] ^= 1 << card
        if self.led is None:
            assert self.trump is not None
            self.led = SUIT_OF[card]
            self._strength = STRENGTH[self.trump][self.led]
            self.winning = seat
            self._winning_strength = self._strength[card]
        elif (strength := self._strength[card]) > self._winning_strength:
            self.winning = seat
            self._winning_strength = strength
        self.trick.append(card)
        self.turn = SEAT_AFTER[self.seats][seat]

    def _trick_taken(self, event: TrickTaken) -> None:
        self.taken.append(self.variant.side_of[event.seat])
        self.trick.clear()
        self.led = None
        self.turn = event.seat
        self.verdict = self.variant.finish.verdict(self.taken)

    # -- equality, for replays

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Deal):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # it changes


# Which event changes what: the table of transitions. The type is open, since each row takes its own
# event class.
_APPLY: dict[type[Event], Callable[..., None]] = {  # type: ignore[explicit-any]
    DeckCut: Deal._deck_cut,
    PacketDealt: Deal._packet_dealt,
    TrumpDeclared: Deal._trump_declared,
    CardsDiscarded: Deal._cards_discarded,
    CardOffered: Deal._card_offered,
    DrawChosen: Deal._draw_chosen,
    TrickTaken: Deal._trick_taken,
}
