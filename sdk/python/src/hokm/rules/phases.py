"""The phases of a hand: cut, packets, declaration, discards, draws, tricks.

A phase is a value without state. Over the state of a :class:`~hokm.rules.deal.Deal` it says what
happens without a choice, who is to act, what is legal, and what event an action causes.
:meth:`Phase.judge` is the one home of legality: it raises with the reason, or returns the event. A
phase reads a deal and never changes it.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from hokm.actions import (
    CUTS,
    DECLARATIONS,
    DRAWS,
    Action,
    ChooseDraw,
    CutDeck,
    DeclareTrump,
    DiscardCards,
    PlayCard,
    plays_of,
)
from hokm.cards import Card, Seat, Suit, card_set, cards_in
from hokm.errors import IllegalAction, Reason
from hokm.events import (
    CARD_PLAYED,
    TRICK_TAKEN,
    CardOffered,
    CardsDiscarded,
    DeckCut,
    DrawChosen,
    Event,
    PacketDealt,
    TrumpDeclared,
)
from hokm.rules.tricks import legal_cards

if TYPE_CHECKING:
    from hokm.rules.deal import Deal


class Phase(Protocol):
    """One phase of a hand."""

    def is_over(self, deal: "Deal") -> bool:
        """Whether nothing more happens in this phase."""

    def forced(self, deal: "Deal") -> Event | None:
        """The next event that happens without anybody's choice; None if a seat is to act."""

    def actor(self, deal: "Deal") -> Seat | None:
        """The seat that is to act, when nothing is forced; None when nobody ever is again."""

    def legal(self, deal: "Deal") -> tuple[Action, ...]:
        """Every action the actor may take."""

    def judge(self, deal: "Deal", seat: Seat, action: Action) -> Event:
        """The event that this action causes; raises :class:`~hokm.errors.IllegalAction` with the
        reason.
        """


@dataclass(frozen=True, slots=True)
class Cut:
    """The seat ``by`` seats after the hakem, its partner, cuts the deck (rulebook 2.2)."""

    by: int

    def is_over(self, deal: "Deal") -> bool:
        """See :class:`Phase`."""
        return deal.cut is not None

    def forced(self, deal: "Deal") -> Event | None:
        """See :class:`Phase`."""
        return None

    def actor(self, deal: "Deal") -> Seat:
        """See :class:`Phase`."""
        return _seat_after(deal, self.by)

    def legal(self, deal: "Deal") -> tuple[Action, ...]:
        """See :class:`Phase`."""
        return CUTS

    def judge(self, deal: "Deal", seat: Seat, action: Action) -> Event:
        """See :class:`Phase`."""
        if not isinstance(action, CutDeck):
            raise wrong_phase(deal, action, "the deck is cut first")
        _refuse_out_of_turn(seat, self.actor(deal))
        last = len(deal.deck) - 1
        if not 1 <= action.position <= last:
            raise IllegalAction(Reason.BAD_CUT, detail=f"cut 1 to {last} cards", clause="2.2")
        return DeckCut(seat, action.position)


@dataclass(frozen=True, slots=True)
class Packet:
    """Cards ``start`` to ``end`` of the deck, for the seat ``place`` seats after the hakem."""

    place: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Packets:
    """Cards are dealt in packets; nobody chooses anything (rulebook 1.10)."""

    packets: tuple[Packet, ...]

    def is_over(self, deal: "Deal") -> bool:
        """See :class:`Phase`."""
        return deal.step == len(self.packets)

    def forced(self, deal: "Deal") -> Event | None:
        """See :class:`Phase`."""
        packet = self.packets[deal.step]
        cards = deal.deck[packet.start : packet.end]
        return PacketDealt(_seat_after(deal, packet.place), len(cards), cards)

    def actor(self, deal: "Deal") -> Seat:
        """Nobody acts while cards are dealt."""
        raise AssertionError("packets are dealt without a choice")

    def legal(self, deal: "Deal") -> tuple[Action, ...]:
        """See :class:`Phase`."""
        return ()

    def judge(self, deal: "Deal", seat: Seat, action: Action) -> Event:
        """See :class:`Phase`."""
        raise wrong_phase(deal, action, "wait for the deal")


@dataclass(frozen=True, slots=True)
class Declaration:
    """The hakem names trump from the cards it has (rulebook 1.3, 2.4)."""

    def is_over(self, deal: "Deal") -> bool:
        """See :class:`Phase`."""
        return deal.trump is not None

    def forced(self, deal: "Deal") -> Event | None:
        """See :class:`Phase`."""
        return None

    def actor(self, deal: "Deal") -> Seat:
        """See :class:`Phase`."""
        return deal.hakem

    def legal(self, deal: "Deal") -> tuple[Action, ...]:
        """See :class:`Phase`."""
        return (*DECLARATIONS[:4], *(DECLARATIONS[mode] for mode in deal.rules.modes))

    def judge(self, deal: "Deal", seat: Seat, action: Action) -> Event:
        """See :class:`Phase`."""
        if not isinstance(action, DeclareTrump):
            raise wrong_phase(deal, action, "the hakem names trump first")
        if seat != deal.hakem:
            raise IllegalAction(
                Reason.NOT_HAKEM, detail=f"seat {deal.hakem} is hakem and names trump", clause="1.3"
            )
        if action.trump.suit is None and action.trump not in deal.rules.modes:
            raise IllegalAction(
                Reason.BAD_DECLARATION,
                detail=f"this table does not allow {action.trump.letter}: name a suit",
                clause="5",
            )
        return TrumpDeclared(seat, action.trump)


@dataclass(frozen=True, slots=True)
class Discards:
    """From the hakem on, each seat lays its number of cards face down (rulebook 4.2)."""

    counts: tuple[int, ...]

    def is_over(self, deal: "Deal") -> bool:
        """See :class:`Phase`."""
        return deal.step == len(self.counts)

    def forced(self, deal: "Deal") -> Event | None:
        """See :class:`Phase`."""
        return None

    def actor(self, deal: "Deal") -> Seat:
        """See :class:`Phase`."""
        return _seat_after(deal, deal.step)

    def legal(self, deal: "Deal") -> tuple[Action, ...]:
        """See :class:`Phase`."""
        held = cards_in(deal.hands[self.actor(deal)])
        return tuple(DiscardCards(cards) for cards in combinations(held, self.counts[deal.step]))

    def judge(self, deal: "Deal", seat: Seat, action: Action) -> Event:
        """See :class:`Phase`."""
        if not isinstance(action, DiscardCards):
            raise wrong_phase(deal, action, "cards are discarded first")
        _refuse_out_of_turn(seat, self.actor(deal))
        count = self.counts[deal.step]
        if len(action.cards) != count or len(set(action.cards)) != count:
            raise IllegalAction(
                Reason.BAD_DISCARD, detail=f"discard {count} different cards", clause="4.2"
            )
        for card in action.cards:
            _refuse_unless_held(deal, seat, card)
        return CardsDiscarded(seat, count, action.cards)


@dataclass(frozen=True, slots=True)
class Draws:
    """From the hakem on, seats in turn look at the top of the stock and keep it or refuse it
    (rulebook 4.3).

    The stock is the deck from card ``first`` on, two cards a turn, ``turns`` turns.
    """

    first: int
    turns: int

    def is_over(self, deal: "Deal") -> bool:
        """See :class:`Phase`."""
        return deal.step == self.turns

    def forced(self, deal: "Deal") -> Event | None:
        """See :class:`Phase`."""
        if deal.offered is not None:
            return None
        stock = 2 * (self.turns - deal.step)
        return CardOffered(self.actor(deal), stock, deal.deck[self.first + 2 * deal.step])

    def actor(self, deal: "Deal") -> Seat:
        """See :class:`Phase`."""
        return _seat_after(deal, deal.step % deal.seats)

    def legal(self, deal: "Deal") -> tuple[Action, ...]:
        """See :class:`Phase`."""
        return DRAWS

    def judge(self, deal: "Deal", seat: Seat, action: Action) -> Event:
        """See :class:`Phase`."""
        if not isinstance(action, ChooseDraw):
            raise wrong_phase(deal, action, "the stock is drawn first")
        _refuse_out_of_turn(seat, self.actor(deal))
        second = deal.deck[self.first + 2 * deal.step + 1]
        return DrawChosen(seat, action.choice, second, bool(deal.rules.draw_choice_public))


@dataclass(frozen=True, slots=True)
class Tricks:
    """Tricks are played until the hand's finish has a verdict (rulebook 1.4, 1.5)."""

    def is_over(self, deal: "Deal") -> bool:
        """See :class:`Phase`."""
        return deal.verdict is not None

    def forced(self, deal: "Deal") -> Event | None:
        """See :class:`Phase`."""
        return TRICK_TAKEN[deal.winning] if len(deal.trick) == deal.seats else None

    def actor(self, deal: "Deal") -> Seat:
        """See :class:`Phase`."""
        return deal.turn

    def legal(self, deal: "Deal") -> tuple[Action, ...]:
        """See :class:`Phase`."""
        return plays_of(legal_cards(deal.hands[deal.turn], deal.led))

    def judge(self, deal: "Deal", seat: Seat, action: Action) -> Event:
        """See :class:`Phase`."""
        if type(action) is not PlayCard:
            raise wrong_phase(deal, action, "play a card")
        if seat != deal.turn:
            _refuse_out_of_turn(seat, deal.turn)
        card = action.card
        if not legal_cards(deal.hands[seat], deal.led) >> card & 1:
            _refuse_unless_held(deal, seat, card)
            assert deal.led is not None, "any card of the hand may be led"
            raise IllegalAction(
                Reason.MUST_FOLLOW_SUIT,
                detail=f"seat {seat} holds {Suit(deal.led).name.lower()} and must follow",
                clause="1.4",
            )
        return CARD_PLAYED[seat][card]


@dataclass(frozen=True, slots=True)
class Over:
    """What comes after the last phase: nothing."""

    def is_over(self, deal: "Deal") -> bool:
        """See :class:`Phase`."""
        return False

    def forced(self, deal: "Deal") -> Event | None:
        """See :class:`Phase`."""
        return None

    def actor(self, deal: "Deal") -> Seat | None:
        """See :class:`Phase`."""
        return None

    def legal(self, deal: "Deal") -> tuple[Action, ...]:
        """See :class:`Phase`."""
        return ()

    def judge(self, deal: "Deal", seat: Seat, action: Action) -> Event:
        """See :class:`Phase`."""
        raise wrong_phase(deal, action, "the hand is over")


OVER = Over()


def _seat_after(deal: "Deal", places: int) -> Seat:
    return Seat((deal.hakem + places) % deal.seats)


def _refuse_out_of_turn(seat: Seat, actor: Seat) -> None:
    if seat != actor:
        raise IllegalAction(
            Reason.NOT_YOUR_TURN, detail=f"it is the turn of seat {actor}", clause="1.2"
        )


def _refuse_unless_held(deal: "Deal", seat: Seat, card: Card) -> None:
    # One text, whether the card is another's, already played or in the stock (rulebook 7).
    if not deal.hands[seat] & card_set((card,)):
        raise IllegalAction(
            Reason.NOT_IN_HAND, detail=f"seat {seat} does not hold {card}", clause="1.4"
        )


def wrong_phase(deal: "Deal", action: Action, what_now: str) -> IllegalAction:
    """The refusal of an action that is not of the kind the hand waits for."""
    if isinstance(action, DeclareTrump) and deal.trump is not None:
        return IllegalAction(
            Reason.ALREADY_DECLARED, detail=f"trump is {deal.trump.letter} already", clause="1.3"
        )
    return IllegalAction(
        Reason.WRONG_PHASE, detail=f"{type(action).__name__} is not for now: {what_now}", clause="1"
    )
