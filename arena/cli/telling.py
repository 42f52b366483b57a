"""A hand told in lines, event by event, to whoever may know what the events say.

A :class:`Teller` is told by one seat, or openly by all. One seat's teller must be given the events
as that seat sees them; it has a view for that seat and none for another, so there is nothing in it
that it would have to keep to itself. It knows no file, no record and no terminal: a line is made of
spans, each with its style, and says all without them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hokm.actions import Draw
from hokm.cards import Card, Seat, Side, Suit, Trump
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
from hokm.outcome import HandKind
from hokm.rules.options import Rules
from hokm.rules.variants import Variant, variant_of
from hokm.view import View

LEGEND = "> leads, ^ trump, * takes the trick"

_TURNED_IN_A_LINE = 10
"""Cards of the ace draw: each is six characters, and a line fits eighty columns."""

_MODES = {
    Trump.SAR: "no trump, aces high",
    Trump.NAR: "no trump, twos high and aces low",
    Trump.TAK_NAR: "no trump, aces high and then twos",
}


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line, and its style as rich names it."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of spans; ``ends_trick`` where somebody may want to stop and look."""

    spans: tuple[Span, ...]
    ends_trick: bool = False

    def __str__(self) -> str:
        return "".join(span.text for span in self.spans).rstrip()


def line(text: str = "") -> Line:
    """A line without any style."""
    return Line((Span(text),))


def labelled(label: str, *spans: Span | str) -> Line:
    """A line within a hand: what it is about, then what there is to say."""
    whole = (Span(span) if isinstance(span, str) else span for span in spans)
    return Line((Span(f"  {label:<8} "), *whole))


def by_side(numbers: Iterable[int]) -> str:
    """Tricks or a score, side by side: ``7-5``."""
    return "-".join(map(str, numbers))


def points_text(points: Iterable[int]) -> str:
    """Points, which may be below nought, side by side: ``-2, 0``."""
    return ", ".join(map(str, points))


def side_text(variant: Variant, side: Side) -> str:
    """A side by its seats: ``seats 0 and 2``, ``seat 1``."""
    seats = variant.seats_of(side)
    return f"seat{'s' if len(seats) > 1 else ''} {' and '.join(map(str, seats))}"


class Teller:
    """Tells hands at a table of these ``rules``.

    Args:
        eyes: the seat that tells; None where all cards are open.
        in_letters: cards as ``TC`` and not as ``T♣``, for a terminal that has no suits.
    """

    def __init__(self, rules: Rules, *, eyes: Seat | None, in_letters: bool = False) -> None:
        self._variant = variant_of(rules)
        seats = range(self._variant.seats) if eyes is None else (eyes,)
        self._views = {Seat(seat): View(rules, Seat(seat)) for seat in seats}
        self._table = next(iter(self._views.values()))
        """What every view knows, such as the trick, is taken from this one."""
        self._in_letters = in_letters
        self._turned: list[CardTurned] = []
        self._hands_are_new = False

    def tell(self, event: Event) -> Iterator[Line]:
        """What happened, given as it is seen; nothing yet for what is part of something longer."""
        if self._turned and not isinstance(event, CardTurned):
            yield from self._ace_draw()
        if isinstance(event, TrumpDeclared | CardPlayed):
            yield from self._hands()
        yield from _TELL[type(event)](self, event)
        for seat, view in self._views.items():
            view.apply(event.seen_by(seat))
        if isinstance(event, TrickTaken):
            yield self._trick(self._table.tricks[-1].plays, taker=event.seat)

    def rest(self) -> Iterator[Line]:
        """What began and has not come to its end: a deal, a draw, a trick."""
        if self._turned:
            yield from self._ace_draw()
        table = self._table
        if table.drawing is not None:
            offered = self._views[table.drawing].offered if table.drawing in self._views else None
            looked_at = "a card" if offered is None else self._card(offered)
            yield self._draw(table.drawing, " looks at ", looked_at)
        yield from self._hands()
        if table.trick:
            yield self._trick(table.trick, taker=None)

    # -- event by event, before the views have learnt of it

    def _card_turned(self, event: CardTurned) -> Iterator[Line]:
        self._turned.append(event)
        yield from ()

    def _partner_drawn(self, event: PartnerDrawn) -> Iterator[Line]:
        if event.seat == event.opposite:
            changed = "who sits opposite already"
        else:
            changed = f"who changes chairs with seat {event.opposite} to sit opposite"
        yield labelled(
            "partner", f"the second ace makes it the player at seat {event.seat}, {changed}"
        )

    def _hand_started(self, event: HandStarted) -> Iterator[Line]:
        self._hands_are_new = False
        yield line()
        yield line(
            f"hand {event.number}: seat {event.hakem} is hakem, seat {event.dealer} deals, score "
            f"{by_side(event.scores)}"
        )

    def _deck_cut(self, event: DeckCut) -> Iterator[Line]:
        cards = "1 card" if event.position == 1 else f"{event.position} cards"
        yield labelled("cut", f"seat {event.seat} cuts {cards} from the top to the bottom")

    def _packet_dealt(self, event: PacketDealt) -> Iterator[Line]:
        self._hands_are_new = True
        yield from ()

    def _trump_declared(self, event: TrumpDeclared) -> Iterator[Line]:
        suit = event.trump.suit
        if suit is not None:
            trump = Span(self._suit(suit), _style(suit))
            yield labelled("trump", trump, f", named by seat {event.seat}")
        else:
            name = f"{event.trump.name.lower()} ({_MODES[event.trump]})"
            yield labelled("trump", f"{name}, named by seat {event.seat}")

    def _cards_discarded(self, event: CardsDiscarded) -> Iterator[Line]:
        self._hands_are_new = True
        cards = [Span(f"{event.count} cards")] if event.cards is None else self._cards(event.cards)
        yield labelled("discard", f"seat {event.seat} lays away ", *cards)

    def _card_offered(self, event: CardOffered) -> Iterator[Line]:
        yield from ()  # told with the choice

    def _draw_chosen(self, event: DrawChosen) -> Iterator[Line]:
        self._hands_are_new = True
        view = self._views.get(event.seat)
        first = None if view is None else view.offered
        seat, second = event.seat, event.second
        match event.choice:
            case Draw.KEEP if first is not None and second is not None:
                yield self._draw(seat, " keeps ", self._card(first), ", and ", second, " goes")
            case Draw.REFUSE if first is not None and second is not None:
                yield self._draw(seat, " refuses ", self._card(first), ", and takes ", second)
            case Draw.KEEP:
                yield self._draw(seat, " keeps the first card")
            case Draw.REFUSE:
                yield self._draw(seat, " refuses the first card, and takes the second")
            case None:
                yield self._draw(seat, " keeps the first card or takes the second")

    def _card_played(self, event: CardPlayed) -> Iterator[Line]:
        if not self._table.tricks and not self._table.trick:
            seats = "".join(f"{seat:<7}" for seat in range(self._variant.seats))
            yield labelled("trick", " ", seats, "won by side")

    def _trick_taken(self, event: TrickTaken) -> Iterator[Line]:
        yield from ()  # told when the views know it

    def _hand_ended(self, event: HandEnded) -> Iterator[Line]:
        result, winners = event.result, side_text(self._variant, event.result.winner)
        match result.kind:
            case HandKind.WIN:
                how = f"won by {winners}"
            case HandKind.KOT:
                how = f"kot by {winners}"
            case HandKind.HAKEM_KOT:
                how = f"hakem-kot by {winners}"
        tricks, points = by_side(result.tricks), points_text(result.points)
        yield labelled("result", f"{how}; tricks by side {tricks}, points by side {points}")
        if event.next_hakem is not None:
            yield labelled(
                "next", f"seat {event.next_hakem} is hakem, seat {event.next_dealer} deals"
            )

    # -- lines

    def _ace_draw(self) -> Iterator[Line]:
        for first in range(0, len(self._turned), _TURNED_IN_A_LINE):
            spans: list[Span] = []
            for turned in self._turned[first : first + _TURNED_IN_A_LINE]:
                spans += [Span(f"{turned.seat} "), self._card(turned.card), Span("  ")]
            yield labelled("" if first else "ace draw", *spans)
        self._turned.clear()

    def _hands(self) -> Iterator[Line]:
        if not self._hands_are_new:
            return
        self._hands_are_new = False
        label = "hands"
        for seat, count in enumerate(self._table.counts):
            if count == 0:
                continue
            view = self._views.get(Seat(seat))
            cards = [Span(f"({count} cards)")] if view is None else self._cards(view.hand)
            yield labelled(label, f"{seat}  ", *cards)
            label = ""

    def _draw(self, seat: Seat, *what: Span | Card | str) -> Line:
        spans = [self._card(piece) if isinstance(piece, Card) else piece for piece in what]
        return labelled("draw", f"{self._table.stock:>2} left: seat {seat}", *spans)

    def _trick(self, plays: Sequence[CardPlayed], *, taker: Seat | None) -> Line:
        cells: dict[Seat, tuple[Span, ...]] = {}
        for play in plays:
            lead = ">" if play is plays[0] else " "
            trump = "^" if play.card.suit is self._table.trump_suit else ""
            taken = "*" if play.seat == taker else ""
            card = self._card(play.card, taken=bool(taken))
            cells[play.seat] = (Span(lead), card, Span(f"{trump}{taken}".ljust(4)))
        blank = (Span(" " * 7),)
        by_seat = [cells.get(Seat(seat), blank) for seat in range(self._variant.seats)]
        number = len(self._table.tricks) + (taker is None)
        won = "" if taker is None else by_side(self._table.tricks_won)
        whole = labelled(f"{number:>5}", *(span for cell in by_seat for span in cell), won)
        return Line(whole.spans, ends_trick=taker is not None)

    def _cards(self, cards: Sequence[Card]) -> list[Span]:
        spans: list[Span] = []
        for card in cards:
            spans += [Span(" "), self._card(card)]
        return spans[1:]

    def _card(self, card: Card, *, taken: bool = False) -> Span:
        text = card.rank.letter + self._suit(card.suit)
        styles = [_style(card.suit), "reverse" if taken else ""]
        if card.suit is self._table.trump_suit:
            styles.append("bold")
        return Span(text, " ".join(filter(None, styles)))

    def _suit(self, suit: Suit) -> str:
        return suit.letter if self._in_letters else suit.symbol


def _style(suit: Suit) -> str:
    # What is black on a card is whatever the terminal writes in: black may be its background.
    return "red" if suit in (Suit.DIAMONDS, Suit.HEARTS) else ""


# Which event is told how. The type is open, since each row takes its own event class.
_TELL: dict[type[Event], Callable[..., Iterator[Line]]] = {  # type: ignore[explicit-any]
    CardTurned: Teller._card_turned,
    PartnerDrawn: Teller._partner_drawn,
    HandStarted: Teller._hand_started,
    DeckCut: Teller._deck_cut,
    PacketDealt: Teller._packet_dealt,
    TrumpDeclared: Teller._trump_declared,
    CardsDiscarded: Teller._cards_discarded,
    CardOffered: Teller._card_offered,
    DrawChosen: Teller._draw_chosen,
    CardPlayed: Teller._card_played,
    TrickTaken: Teller._trick_taken,
    HandEnded: Teller._hand_ended,
}
