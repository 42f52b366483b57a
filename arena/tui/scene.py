"""What is to be seen at a moment of a recorded game, by one seat or by all, as lines of spans.

A seat's scene is made of the events as that seat saw them, and of nothing else that happened at the
table. How lines get onto a screen is not known here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.telling import (
    Line,
    Span,
    Teller,
    Words,
    by_side,
    ending_lines,
    labelled,
    line,
    note_line,
    refusal_line,
    suit_style,
    table_text,
)
from arena.tui.reel import At, Kind, Moment, Reel, Strip, Tape
from arena.wording import kept_apart
from hokm.cards import Card, Seat, Suit
from hokm.events import CardPlayed, Event
from hokm.rules.variants import variant_of
from hokm.view import View

_HAND_COLUMNS = 20
"""Thirteen cards in four suits, with their three gaps."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a moment shows: where it is, who holds and plays what, what has happened in this hand,
    and what is remarked on it. Whatever is in it may be seen.
    """

    heading: tuple[Line, ...]
    table: tuple[Line, ...]
    story: tuple[Line, ...]
    remarks: tuple[Line, ...]


def scene(reel: Reel, at: At, *, eyes: Seat | None, in_letters: bool = False) -> Scene:
    """The scene there, for one seat, or for None with all cards open."""
    tape, strip, moment = reel.tapes[at.game], reel.strip(at.game), reel.moment(at)
    events = [
        event if eyes is None else event.seen_by(eyes)
        for event in strip.events[moment.start : moment.end]
    ]
    words = Words(variant_of(tape.rules), in_letters=in_letters)
    views = _views(tape, events, eyes=eyes)
    table = _Table(tape, strip, moment, views=views, words=words)
    return Scene(
        heading=(_place(reel, at, moment), _standing(table, eyes)),
        table=tuple(table.lines()),
        story=tuple(_story(reel, at, events, eyes=eyes, in_letters=in_letters)),
        remarks=tuple(_remarks(moment, eyes)),
    )


def _views(tape: Tape, events: Sequence[Event], *, eyes: Seat | None) -> dict[Seat, View]:
    seats = range(tape.rules.players) if eyes is None else (eyes,)
    views = {Seat(seat): View(tape.rules, Seat(seat)) for seat in seats}
    for seat, view in views.items():
        for event in events:
            view.apply(event.seen_by(seat))
    return views


def _place(reel: Reel, at: At, moment: Moment) -> Line:
    tape = reel.tapes[at.game]
    places = [] if tape.room is None else [f"room {tape.room}", f"game {tape.number}"]
    if moment.hand and (tape.has_many_hands or tape.room is None):
        places.append(f"hand {moment.hand}")
    if moment.trick:
        places.append(f"trick {moment.trick}")
    where = ", ".join(places) or "the beginning"
    among = f"   {at.game + 1} of {len(reel.tapes)} games" if len(reel.tapes) > 1 else ""
    return Line((Span(where, "bold"), Span(f"{among}   {reel.title}")))


def _standing(table: "_Table", eyes: Seat | None) -> Line:
    view = table.any_view
    trump: Span = Span("-") if view.trump is None else table.words.trump(view.trump)
    seen = "all cards open" if eyes is None else f"as seat {eyes} sees it"
    score = f"score {by_side(view.scores)}   tricks {by_side(view.tricks_won)}   trump "
    return Line((Span(score), trump, Span("   "), Span(seen, "italic")))


# -- the table


class _Table:
    """The seats, each with what it has."""

    def __init__(
        self, tape: Tape, strip: Strip, moment: Moment, *, views: dict[Seat, View], words: Words
    ) -> None:
        self.words = words
        self.any_view = next(iter(views.values()))
        self._tape = tape
        self._strip = strip
        self._moment = moment
        self._views = views

    def lines(self) -> Iterator[Line]:
        heading = "  seat        card      took    bank  " + "hand".ljust(_HAND_COLUMNS)
        yield Line((Span(heading, "dim"),))
        plays, taker = self._trick()
        took = self._took()
        for number in range(self._tape.rules.players):
            seat = Seat(number)
            play = next((one for one in plays if one.seat == seat), None)
            acts = self._moment.seat == seat
            yield Line(
                (
                    Span("> " if acts else "  ", "bold"),
                    Span(f"{seat} {self._role(seat):<8}  ", "bold" if acts else ""),
                    *self._cell(seat, play, leads=play is not None and play is plays[0]),
                    Span("*" if seat == taker else " "),
                    Span(_seconds(took.get(seat))),
                    Span(_seconds(self._bank(seat), digits=1)),
                    Span("  "),
                    *self._hand(seat),
                    Span(f"  {self._name(seat)}"),
                )
            )

    def _trick(self) -> tuple[Sequence[CardPlayed], Seat | None]:
        """The trick that is on, or the last one until another is led."""
        view = self.any_view
        if view.trick or not view.tricks:
            return view.trick, None
        return view.tricks[-1].plays, view.tricks[-1].taker

    def _took(self) -> dict[Seat, float]:
        """What the last decision of each seat in this trick was charged; before it, in this hand's
        choices.
        """
        until, now = self._moment.end, self._moment
        return {
            one.seat: one.seconds
            for one in self._strip.moments
            if one.seat is not None
            and one.seconds is not None
            and (one.hand, one.trick) == (now.hand, now.trick)
            and one.end <= until
        }

    def _role(self, seat: Seat) -> str:
        if not self._moment.hand:
            return ""
        view = self.any_view
        return "hakem" if seat == view.hakem else "deals" if seat == view.dealer else ""

    def _cell(self, seat: Seat, play: CardPlayed | None, *, leads: bool) -> tuple[Span, ...]:
        view = self.any_view
        if play is None and view.drawing == seat:
            own = self._views.get(seat)
            offered = None if own is None else own.offered
            looked_at = Span("? ") if offered is None else self._card(offered)
            return (Span("("), looked_at, Span(") "))
        if play is None:
            return (Span(" " * 5),)
        is_trump = play.card.suit is view.trump_suit
        lead = Span(">" if leads else " ")
        return (lead, self._card(play.card), Span("^ " if is_trump else "  "))

    def _card(self, card: Card) -> Span:
        return self.words.card(card, trump=self.any_view.trump_suit)

    def _bank(self, seat: Seat) -> float | None:
        banks = self._moment.banks
        return banks[seat] if banks else None

    def _hand(self, seat: Seat) -> Iterator[Span]:
        """Its cards by suits, or how many it has."""
        view = self._views.get(seat)
        if view is None:
            yield Span(f"{self.any_view.counts[seat]} cards".ljust(_HAND_COLUMNS))
            return
        left = _HAND_COLUMNS
        for suit in Suit:
            ranks = "".join(card.rank.letter for card in view.hand if card.suit is suit)
            if ranks:
                gap = "" if left == _HAND_COLUMNS else " "
                bold = " bold" if suit is view.trump_suit else ""
                text = f"{self.words.suit(suit)}{ranks}"
                yield Span(gap)
                yield Span(text, (suit_style(suit) + bold).strip())
                left -= len(gap) + len(text)
        yield Span(" " * left)

    def _name(self, seat: Seat) -> str:
        names = self._tape.names
        return kept_apart(names[seat]) if names else ""


def _seconds(value: float | None, *, digits: int = 3) -> str:
    return " " * 8 if value is None else f"{value:7.{digits}f}s"


# -- what has happened, and what is remarked on it


def _story(
    reel: Reel, at: At, events: Sequence[Event], *, eyes: Seat | None, in_letters: bool
) -> Iterator[Line]:
    """As ``arena replay`` tells it, as far as this moment."""
    tape, strip, moment = reel.tapes[at.game], reel.strip(at.game), reel.moment(at)
    if not moment.hand:
        yield line(table_text(tape.rules))
    teller = Teller(tape.rules, eyes=eyes, in_letters=in_letters)
    for event in events:
        yield from teller.tell(event)
    yield from teller.rest()
    for one in strip.moments[: at.moment + 1]:
        if one.refusal is not None and one.hand == moment.hand and one.may_be_seen(eyes):
            yield refusal_line(one.refusal)
    if moment.kind is Kind.ENDING and tape.room is not None:
        yield from ending_lines(tape.rules, tape.game, tape.names)
    if moment.kind is Kind.BROKEN and strip.broken is not None:
        # Why a seat may not do something is said from what it holds.
        why = f": {strip.broken.what}" if eyes is None else ""
        yield labelled("broken", f"here the record leaves the rules{why}")


def _remarks(moment: Moment, eyes: Seat | None) -> Iterator[Line]:
    note = moment.note_for(eyes)
    if note is not None and moment.seat is not None:
        yield note_line(moment.seat, note)
