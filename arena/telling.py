"""A hand told in lines, event by event, to whoever may know what the events say.

A :class:`Teller` is told by one seat, or openly by all. One seat's teller must be given the events
as that seat sees them; it has a view for that seat and none for another, so there is nothing in it
that it would have to keep to itself. It knows no file, no record and no terminal: a line is made of
spans, each with its style, and says all without them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from arena.wording import kept_apart, printable, told_apart
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
from hokm.notation import options_chosen
from hokm.notes import Note
from hokm.outcome import HandKind, Outcome
from hokm.records import Flag, GameRecord, MatchRecord, Refusal
from hokm.rules.options import Play, Rules
from hokm.rules.variants import Variant, variant_of
from hokm.view import View

LEGEND = "> leads, ^ trump, * takes the trick"

DECIDED = (DeckCut, TrumpDeclared, CardsDiscarded, DrawChosen, CardPlayed)
"""The events that are somebody's choice, one each."""

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


def table_text(rules: Rules) -> str:
    """What is played at a table: ``4 players, boards``, and the options that were chosen."""
    play = "boards" if rules.play is Play.BOARDS else "a race"
    return ", ".join([f"{rules.players} players", play, *options_chosen(rules)])


def entrant_labels(record: MatchRecord) -> list[str]:
    """The entrants of a match as they are told apart, and which of them were elsewhere."""
    entrants = [(printable(one.name), printable(one.version)) for one in record.entrants]
    homes = [" (from elsewhere)" if one.is_remote else "" for one in record.entrants]
    return [kept_apart(name) + home for name, home in zip(told_apart(entrants), homes, strict=True)]


def refusal_line(refusal: Refusal) -> Line:
    """An action that was refused, and why."""
    return labelled(
        "refused",
        f"seat {refusal.seat}, attempt {refusal.attempt}: {refusal.reason.name}: "
        f"{printable(refusal.action)}",
    )


def ending_lines(rules: Rules, game: GameRecord, names: Sequence[str]) -> Iterator[Line]:
    """How a game ended, and by whose fault; ``names`` by seat."""
    outcome = game.outcome
    if outcome is None:
        yield labelled("ending", "there is none: the game goes on")
        return
    if Flag.UNPLAYED in game.flags:
        yield labelled("unplayed", "the side at fault had no incident left in this match")
    yield labelled("ending", outcome.ending.value, _fault(outcome, names))
    winner = outcome.winner
    won = "nobody wins" if winner is None else f"{side_text(variant_of(rules), winner)} won"
    yield labelled("", f"{won}; points by side {points_text(outcome.points)}")


def _fault(outcome: Outcome, names: Sequence[str]) -> str:
    seat = outcome.at_fault
    whose = "" if seat is None else f" by the fault of seat {seat}, {names[seat]}"
    return whose + (f": {printable(outcome.cause)}" if outcome.cause else "")


def note_line(seat: Seat, note: Note) -> Line:
    """What a bot noted about an action, for its owner."""
    return labelled("note", f"seat {seat}: {printable(str(note))}")


class Words:
    """The lines that a hand at a table of this ``variant`` is told in, one kind of event each.

    They say what they are given and know nothing else, so whoever tells a seat gives no more than
    the seat may know. Cards are written ``T♣``, or ``TC`` if ``in_letters``, for a terminal that
    has no suits; those of the ``trump`` suit stand out.
    """

    def __init__(self, variant: Variant, *, in_letters: bool = False) -> None:
        self.variant = variant
        self._in_letters = in_letters

    def suit(self, suit: Suit) -> str:
        """A suit: ``♣``, or ``C``."""
        return suit.letter if self._in_letters else suit.symbol

    def card(self, card: Card, *, trump: Suit | None = None, taken: bool = False) -> Span:
        """A card; ``taken`` is one that takes its trick."""
        text = card.rank.letter + self.suit(card.suit)
        styles = [suit_style(card.suit), "reverse" if taken else ""]
        if card.suit is trump:
            styles.append("bold")
        return Span(text, " ".join(filter(None, styles)))

    def cards(self, cards: Sequence[Card], *, trump: Suit | None = None) -> list[Span]:
        """Cards in the order given."""
        spans: list[Span] = []
        for card in cards:
            spans += [Span(" "), self.card(card, trump=trump)]
        return spans[1:]

    def trump(self, trump: Trump) -> Span:
        """A suit, or a mode with what it means."""
        if trump.suit is None:
            return Span(f"{trump.name.lower()} ({_MODES[trump]})")
        return Span(self.suit(trump.suit), suit_style(trump.suit))

    def ace_draw(self, turned: Sequence[CardTurned]) -> Iterator[Line]:
        """The cards that were turned up for the first hakem."""
        for first in range(0, len(turned), _TURNED_IN_A_LINE):
            spans: list[Span] = []
            for one in turned[first : first + _TURNED_IN_A_LINE]:
                spans += [Span(f"{one.seat} "), self.card(one.card), Span("  ")]
            yield labelled("" if first else "ace draw", *spans)

    def partner_drawn(self, event: PartnerDrawn) -> Line:
        """Who became the hakem's partner."""
        if event.seat == event.opposite:
            changed = "who sits opposite already"
        else:
            changed = f"who changes chairs with seat {event.opposite} to sit opposite"
        return labelled(
            "partner", f"the second ace makes it the player at seat {event.seat}, {changed}"
        )

    def hand_started(self, event: HandStarted) -> Line:
        """The heading of a hand."""
        return line(
            f"hand {event.number}: seat {event.hakem} is hakem, seat {event.dealer} deals, score "
            f"{by_side(event.scores)}"
        )

    def deck_cut(self, event: DeckCut) -> Line:
        """Who cut, and how many."""
        cards = "1 card" if event.position == 1 else f"{event.position} cards"
        return labelled("cut", f"seat {event.seat} cuts {cards} from the top to the bottom")

    def trump_declared(self, event: TrumpDeclared) -> Line:
        """What was named, and by whom."""
        return labelled("trump", self.trump(event.trump), f", named by seat {event.seat}")

    def cards_discarded(self, event: CardsDiscarded, *, trump: Suit | None) -> Line:
        """Who laid cards away, and which or how many."""
        if event.cards is None:
            cards = [Span(f"{event.count} cards")]
        else:
            cards = self.cards(event.cards, trump=trump)
        return labelled("discard", f"seat {event.seat} lays away ", *cards)

    def draw_chosen(
        self, event: DrawChosen, *, first: Card | None, stock: int, trump: Suit | None
    ) -> Line:
        """A draw from ``stock`` cards; ``first`` is the card that was looked at, if it is known."""
        second = event.second
        what: tuple[Card | str, ...]
        match event.choice:
            case Draw.KEEP if first is not None and second is not None:
                what = (" keeps ", first, ", and ", second, " goes")
            case Draw.REFUSE if first is not None and second is not None:
                what = (" refuses ", first, ", and takes ", second)
            case Draw.KEEP:
                what = (" keeps the first card",)
            case Draw.REFUSE:
                what = (" refuses the first card, and takes the second",)
            case None:
                what = (" keeps the first card or takes the second",)
        return self.draw(event.seat, *what, stock=stock, trump=trump)

    def draw(self, seat: Seat, *what: Card | str, stock: int, trump: Suit | None) -> Line:
        """Who draws from ``stock`` cards, and what of it there is to say."""
        spans = [
            self.card(one, trump=trump) if isinstance(one, Card) else Span(one) for one in what
        ]
        return labelled("draw", f"{stock:>2} left: seat {seat}", *spans)

    def tricks_heading(self, *, you: Seat | None = None) -> Line:
        """What stands above tricks, for whoever sits at one of the seats."""
        names = (f"{seat} you" if seat == you else f"{seat}" for seat in range(self.variant.seats))
        seats = "".join(f"{name:<7}" for name in names)
        return labelled("trick", " ", seats, "won by side")

    def trick(
        self,
        plays: Sequence[CardPlayed],
        *,
        number: int,
        taker: Seat | None,
        won: Sequence[int],
        trump: Suit | None,
    ) -> Line:
        """Trick ``number``, each card below its seat; ``won`` by side, with this one, where there
        is a ``taker``.
        """
        cells: dict[Seat, tuple[Span, ...]] = {}
        for play in plays:
            lead = ">" if play is plays[0] else " "
            taken = "*" if play.seat == taker else ""
            card = self.card(play.card, trump=trump, taken=bool(taken))
            marks = ("^" if play.card.suit is trump else "") + taken
            cells[play.seat] = (Span(lead), card, Span(marks.ljust(4)))
        blank = (Span(" " * 7),)
        by_seat = [cells.get(Seat(seat), blank) for seat in range(self.variant.seats)]
        score = "" if taker is None else by_side(won)
        whole = labelled(f"{number:>5}", *(span for cell in by_seat for span in cell), score)
        return Line(whole.spans, ends_trick=taker is not None)

    def hand_ended(self, event: HandEnded) -> Iterator[Line]:
        """What a hand came to, and who is hakem next."""
        result, winners = event.result, side_text(self.variant, event.result.winner)
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


class Teller:
    """Tells hands at a table of these ``rules``.

    Args:
        eyes: the seat that tells; None where all cards are open.
        in_letters: cards as ``TC`` and not as ``T♣``, for a terminal that has no suits.
    """

    def __init__(self, rules: Rules, *, eyes: Seat | None, in_letters: bool = False) -> None:
        self._variant = variant_of(rules)
        self._words = Words(self._variant, in_letters=in_letters)
        seats = range(self._variant.seats) if eyes is None else (eyes,)
        self._views = {Seat(seat): View(rules, Seat(seat)) for seat in seats}
        self._table = next(iter(self._views.values()))
        """What every view knows, such as the trick, is taken from this one."""
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
            looked_at = "a card" if offered is None else offered
            what = (" looks at ", looked_at)
            trump = table.trump_suit
            yield self._words.draw(table.drawing, *what, stock=table.stock, trump=trump)
        yield from self._hands()
        if table.trick:
            yield self._trick(table.trick, taker=None)

    # -- event by event, before the views have learnt of it

    def _card_turned(self, event: CardTurned) -> Iterator[Line]:
        self._turned.append(event)
        yield from ()

    def _partner_drawn(self, event: PartnerDrawn) -> Iterator[Line]:
        yield self._words.partner_drawn(event)

    def _hand_started(self, event: HandStarted) -> Iterator[Line]:
        self._hands_are_new = False
        yield line()
        yield self._words.hand_started(event)

    def _deck_cut(self, event: DeckCut) -> Iterator[Line]:
        yield self._words.deck_cut(event)

    def _packet_dealt(self, event: PacketDealt) -> Iterator[Line]:
        self._hands_are_new = True
        yield from ()

    def _trump_declared(self, event: TrumpDeclared) -> Iterator[Line]:
        yield self._words.trump_declared(event)

    def _cards_discarded(self, event: CardsDiscarded) -> Iterator[Line]:
        self._hands_are_new = True
        yield self._words.cards_discarded(event, trump=self._table.trump_suit)

    def _card_offered(self, event: CardOffered) -> Iterator[Line]:
        yield from ()  # told with the choice

    def _draw_chosen(self, event: DrawChosen) -> Iterator[Line]:
        self._hands_are_new = True
        view = self._views.get(event.seat)
        first = None if view is None else view.offered
        table = self._table
        yield self._words.draw_chosen(event, first=first, stock=table.stock, trump=table.trump_suit)

    def _card_played(self, event: CardPlayed) -> Iterator[Line]:
        if not self._table.tricks and not self._table.trick:
            yield self._words.tricks_heading()

    def _trick_taken(self, event: TrickTaken) -> Iterator[Line]:
        yield from ()  # told when the views know it

    def _hand_ended(self, event: HandEnded) -> Iterator[Line]:
        yield from self._words.hand_ended(event)

    # -- lines

    def _ace_draw(self) -> Iterator[Line]:
        yield from self._words.ace_draw(self._turned)
        self._turned.clear()

    def _hands(self) -> Iterator[Line]:
        if not self._hands_are_new:
            return
        self._hands_are_new = False
        label, trump = "hands", self._table.trump_suit
        for seat, count in enumerate(self._table.counts):
            if count == 0:
                continue
            view = self._views.get(Seat(seat))
            if view is None:
                cards = [Span(f"({count} cards)")]
            else:
                cards = self._words.cards(view.hand, trump=trump)
            yield labelled(label, f"{seat}  ", *cards)
            label = ""

    def _trick(self, plays: Sequence[CardPlayed], *, taker: Seat | None) -> Line:
        table = self._table
        number = len(table.tricks) + (taker is None)
        return self._words.trick(
            plays, number=number, taker=taker, won=table.tricks_won, trump=table.trump_suit
        )


def suit_style(suit: Suit) -> str:
    """How a suit is shown."""
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
