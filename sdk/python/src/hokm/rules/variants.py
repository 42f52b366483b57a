"""The variants as values: pack, seats, sides, phases, finish, scoring, succession.

Two, three and four seats share all code; what differs between them is in this file and nowhere
else.
"""

from dataclasses import dataclass
from functools import lru_cache

from hokm.cards import CARDS, Card, Rank, Seat, Side
from hokm.rules.options import NextHakem, PauseAfter, Rules
from hokm.rules.phases import Cut, Declaration, Discards, Draws, Packet, Packets, Phase, Tricks
from hokm.rules.scoring import EachAlone, Finish, Scoring, SidesToSeven


@dataclass(frozen=True, slots=True)
class Variant:
    """How one hand goes. Built by :func:`variant_of` from a table's rules, once."""

    seats: int
    sides: int
    side_of: tuple[Side, ...]
    """The side of each seat."""
    pack: tuple[Card, ...]
    """The cards that are dealt, ascending."""
    phases: tuple[Phase, ...]
    finish: Finish
    scoring: Scoring
    decisions: int
    """The most decisions a seat can have in a hand."""
    stock: int = 0
    """Cards left to draw from once the first ones are dealt; 0 where the whole pack is dealt."""

    def seats_of(self, side: Side) -> tuple[Seat, ...]:
        """The seats of a side, in order."""
        return tuple(Seat(seat) for seat, its_side in enumerate(self.side_of) if its_side == side)

    def dealer_for(self, hakem: Seat) -> Seat:
        """The dealer: the seat on the hakem's left (rulebook 2.2, 3.2, 4.1)."""
        return Seat((hakem - 1) % self.seats)

    def next_hakem(self, hakem: Seat, *, winner: Side, succession: NextHakem) -> Seat:
        """Who is hakem after a hand that ``winner`` won (rulebook 2.6, 3.8, 4.6)."""
        if self.side_of[hakem] == winner:
            return hakem
        match succession:
            case NextHakem.RIGHT:
                return Seat((hakem + 1) % self.seats)
            case NextHakem.LEFT:
                return Seat((hakem - 1) % self.seats)
            case NextHakem.WINNER:
                return self.seats_of(winner)[0]


@lru_cache(maxsize=64)
def variant_of(rules: Rules) -> Variant:
    """The variant that these rules make."""
    scoring = Scoring(
        win=rules.points_win,
        kot=rules.points_kot,
        hakem_kot=rules.points_hakem_kot,
        kot_in_modes=rules.kot_in_modes,
    )
    match rules.players:
        case 4:
            return Variant(
                seats=4,
                sides=2,
                side_of=(Side(0), Side(1), Side(0), Side(1)),
                pack=CARDS,
                phases=(
                    *((Cut(by=2),) if rules.cut else ()),
                    *_dealt(4, sizes=(5, 4, 4), pause_after=rules.pause_after),
                    Tricks(),
                ),
                finish=SidesToSeven(play_out=bool(rules.play_out)),
                scoring=scoring,
                decisions=bool(rules.cut) + 1 + 13,
            )
        case 3:
            removed = None if rules.removed_two is None else Card.of(rules.removed_two, Rank.TWO)
            return Variant(
                seats=3,
                sides=3,
                side_of=(Side(0), Side(1), Side(2)),
                pack=tuple(card for card in CARDS if card != removed),
                phases=(*_dealt(3, sizes=(5, 4, 4, 4), pause_after=rules.pause_after), Tricks()),
                finish=EachAlone(),
                scoring=scoring,
                decisions=1 + 17,
            )
        case 2:
            return Variant(
                seats=2,
                sides=2,
                side_of=(Side(0), Side(1)),
                pack=CARDS,
                phases=(
                    *_dealt(2, sizes=(5,), pause_after=PauseAfter.FIRST_ROUND),
                    Discards(counts=(3, 2)),
                    Draws(first=10, turns=21),
                    Tricks(),
                ),
                finish=SidesToSeven(play_out=bool(rules.play_out)),
                scoring=scoring,
                decisions=1 + 1 + 11 + 13,
                stock=42,
            )
        case players:
            raise AssertionError(f"rules for {players} players were refused before")


def _dealt(
    seats: int, *, sizes: tuple[int, ...], pause_after: PauseAfter | None
) -> tuple[Phase, ...]:
    """Packets of those sizes in seat order from the hakem, with the declaration after the first few
    (rulebook 1.10).

    Which cards a packet holds depends on its place alone, so the pause decides when cards are
    shown, never which.
    """
    packets: list[Packet] = []
    top = 0
    for size in sizes:
        for place in range(seats):
            packets.append(Packet(place, start=top, end=top + size))
            top += size
    match pause_after:
        case PauseAfter.HAKEM:
            shown = 1
        case PauseAfter.RIGHT_OPPONENT:
            shown = 2
        case PauseAfter.FIRST_ROUND | None:
            shown = seats
    before, after = Packets(tuple(packets[:shown])), Packets(tuple(packets[shown:]))
    return (before, Declaration(), after) if after.packets else (before, Declaration())
