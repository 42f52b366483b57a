"""The draw before a race: who is hakem first and, where a second ace says so, who is the partner.

Cards are turned up one by one from a pack of their own, which goes back before the deal. Everything
here is public. Nothing here knows the hands that follow.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle

from hokm.cards import Card, Rank, Seat
from hokm.deck import Stream, shuffled
from hokm.events import CardTurned, PartnerDrawn
from hokm.rules.options import HakemDraw, Rules, Teams
from hokm.rules.variants import variant_of


@dataclass(frozen=True, slots=True)
class Opening:
    """What comes before the first hand of a race: the cards turned up, the first ``hakem``, and how
    its partner was drawn, None where partners are fixed.
    """

    hakem: Seat
    turned: tuple[CardTurned, ...] = ()
    partner: PartnerDrawn | None = None

    @property
    def events(self) -> tuple[CardTurned | PartnerDrawn, ...]:
        """The same as events, in order."""
        return self.turned if self.partner is None else (*self.turned, self.partner)


def opening(rules: Rules, seed: bytes) -> Opening:
    """The opening of a race that this seed gives, the one of hand number 0 (rulebook 1.9, 2.1).

    It needs no game, so that whoever seats the players can know where each will sit.
    """
    assert rules.first_hakem is not None, "boards have no draw"
    variant = variant_of(rules)
    match rules.first_hakem.draw:
        case HakemDraw.ACE_DRAW:
            start = Seat(Stream(seed, "start").below(variant.seats))
            cards = shuffled(variant.pack, seed, label="ace")
            turned = draw_first_ace(cards, start=start, seats=variant.seats)
            hakem = turned[-1].seat
            if rules.teams is not Teams.SECOND_ACE:
                return Opening(hakem, tuple(turned))
            turned += draw_second_ace(cards[len(turned) :], hakem=hakem)
            partner = PartnerDrawn(turned[-1].seat, opposite=Seat((hakem + 2) % 4))
            return Opening(hakem, tuple(turned), partner)
        case HakemDraw.RANDOM:
            return Opening(Seat(Stream(seed, "hakem").below(variant.seats)))
        case HakemDraw.SEAT:
            assert rules.first_hakem.seat is not None
            return Opening(rules.first_hakem.seat)


def drawn_seating(rules: Rules, seed: bytes, *, seating: tuple[int, ...]) -> tuple[int, ...]:
    """Which of players 0 to 3 sits at each seat once that seed has drawn the partners.

    ``seating`` is where they would sit without: in their order, and so they take the chairs of the
    draw, or in a mirrored race moved on by a seat. Moved on they sit where the draw has put them,
    and as far on: the same partners, at the other side's seats.
    """
    partner = opening(rules, seed).partner
    return seating if partner is None else tuple(partner.chairs[player] for player in seating)


def draw_first_ace(cards: Sequence[Card], *, start: Seat, seats: int) -> list[CardTurned]:
    """Turn cards up one by one from seat ``start`` on, to the first ace; its receiver is hakem
    (rulebook 1.9).
    """
    return _turned_to_an_ace(cards, [Seat((start + place) % seats) for place in range(seats)])


def draw_second_ace(cards: Sequence[Card], *, hakem: Seat) -> list[CardTurned]:
    """Go on with the ``cards`` that are left, past the hakem, to the next ace; its receiver is the
    hakem's partner (rulebook 2.1).
    """
    return _turned_to_an_ace(cards, [Seat((hakem + place) % 4) for place in (1, 2, 3)])


def _turned_to_an_ace(cards: Sequence[Card], seats: Iterable[Seat]) -> list[CardTurned]:
    turned: list[CardTurned] = []
    for seat, card in zip(cycle(seats), cards, strict=False):
        turned.append(CardTurned(seat, card))
        if card.rank is Rank.ACE:
            break
    return turned
