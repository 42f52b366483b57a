"""What a person at a table is shown, from what the person's seat sees and nothing else.

A :class:`Seated` is shown one game from its first moment on, each time the person is asked and at
the end of each hand; it remembers what it has told. It reads and prints nothing.
"""

from collections.abc import Iterator

from arena.cli.asking import choices, question, suits_of
from arena.telling import Line, Span, Words, by_side, labelled, line, points_text, side_text
from arena.wording import kept_apart, printable
from hokm.actions import DeclareTrump, Draw
from hokm.cards import Card, Seat, Side
from hokm.events import DeckCut, DrawChosen, HandEnded, HandStarted, TrumpDeclared
from hokm.outcome import Ending, HandResult, Outcome
from hokm.view import View

LONG_SECONDS = 600.0
"""A clock with more than that is not worth a line each time."""

_IN_A_LINE = 9
"""Cards with their numbers: each takes seven columns."""


class Seated:
    """Tells one game to the person at the seat of the view; ``words`` are those of its table."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._has_welcomed = False
        self._has_told_draw = False
        self._hand = 0
        self._begin()

    def _begin(self) -> None:
        self._has_told_cut = self._has_told_trump = self._has_headed = False
        self._draws = 0
        self._tricks = 0
        self._offered: Card | None = None
        self._held: frozenset[Card] = frozenset()

    def asked(self, view: View) -> Iterator[Line]:
        """What is new, and then what the person needs to know to decide."""
        yield from self._news(view)
        yield from self.table(view)
        # What comes of a draw is seen by the hand before and after it.
        self._offered, self._held = view.offered, frozenset(view.hand)

    def table(self, view: View) -> Iterator[Line]:
        """The trick that is on, the hand, and what may be done."""
        if view.trick:
            yield self._trick(view, len(view.tricks))
        yield labelled("hand", *self._hand_spans(view))
        if view.offered is not None:
            left = f", {view.stock} cards left"
            yield labelled("draw", "you look at ", self._card(view, view.offered), left)
        numbered = choices(view)
        for first in range(0, len(numbered), _IN_A_LINE):
            spans: list[Span] = []
            for number, card in enumerate(numbered[first : first + _IN_A_LINE], start=first + 1):
                spans += [Span(f"{number} ", "dim"), self._card(view, card), Span("  ")]
            yield labelled("" if first else "you may", *spans)
        trumps = [action.trump for action in view.legal if isinstance(action, DeclareTrump)]
        if trumps:
            spans = []
            for number, trump in enumerate(trumps, start=1):
                spans += [Span(f"{number} ", "dim"), self._words.trump(trump), Span("  ")]
            yield labelled("you may", *spans)
        clock = view.clock
        if clock is not None and clock.move_seconds <= LONG_SECONDS:
            bank = f", then {clock.bank_seconds:.0f} s of this hand" if clock.bank_seconds else ""
            yield labelled("clock", f"{clock.move_seconds:g} s for this{bank}")

    def last_trick(self, view: View) -> Iterator[Line]:
        """The last finished trick of this hand."""
        if view.tricks:
            yield self._words.tricks_heading(you=view.seat)
            yield self._trick(view, len(view.tricks) - 1)
        else:
            yield labelled("trick", "none of this hand is finished yet")

    def hand_ended(self, view: View, result: HandResult) -> Iterator[Line]:
        """The rest of a hand, and what it came to."""
        yield from self._news(view)
        yield from self._words.hand_ended(HandEnded(result, None, None))
        if len(view.results) > 1:
            yield labelled("score", by_side(view.scores))

    def over(self, view: View, outcome: Outcome) -> Iterator[Line]:
        """How the game ended."""
        yield from self._news(view)
        yield line()
        if outcome.ending is not Ending.COMPLETED:
            seat = outcome.at_fault
            fault = "" if seat is None else self._fault(view, seat)
            cause = f": {printable(outcome.cause)}" if outcome.cause else ""
            yield line(f"The game ended early, {outcome.ending.value}{fault}{cause}")
        points = f"points by side {points_text(outcome.points)}"
        if outcome.winner is None:
            yield Line((Span("Nobody wins", "bold"), Span(f"; {points}")))
        else:
            who = "You win" if outcome.winner == view.side else "You lose"
            won = side_text(view.variant, outcome.winner)
            yield Line((Span(who, "bold"), Span(f": {won} won; {points}")))

    # -- what is new

    def _news(self, view: View) -> Iterator[Line]:
        if not self._has_welcomed:
            self._has_welcomed = True
            yield from self._welcome(view)
        if view.turned and not self._has_told_draw:
            self._has_told_draw = True
            yield from self._words.ace_draw(view.turned)
            if view.partner_drawn is not None:
                yield self._words.partner_drawn(view.partner_drawn)
        if not view.hand_number:
            return
        if view.hand_number != self._hand:
            self._hand = view.hand_number
            self._begin()
            yield line()
            # Every seat is asked before a hand is over, so nothing is scored of this one yet.
            number, hakem, dealer = view.hand_number, view.hakem, view.dealer
            yield self._words.hand_started(HandStarted(number, hakem, dealer, view.scores))
        if view.cut is not None and not self._has_told_cut:
            self._has_told_cut = True
            cutter = Seat((view.hakem + 2) % view.variant.seats)
            yield self._words.deck_cut(DeckCut(cutter, view.cut))
        if view.trump is not None and not self._has_told_trump:
            self._has_told_trump = True
            yield self._words.trump_declared(TrumpDeclared(view.hakem, view.trump))
        for number in range(self._draws, len(view.draws)):
            yield self._drawn(view, number)
        self._draws = len(view.draws)
        if (view.tricks or view.trick) and not self._has_headed:
            self._has_headed = True
            yield self._words.tricks_heading(you=view.seat)
        for number in range(self._tricks, len(view.tricks)):
            yield self._trick(view, number)
        self._tricks = len(view.tricks)

    def _welcome(self, view: View) -> Iterator[Line]:
        yield line()
        for number in range(view.variant.seats):
            seat = Seat(number)
            whose = self._name(view, seat)
            if seat == view.partner:
                whose += ", your partner"
            yield labelled(f"seat {seat}", Span(whose, "bold" if seat == view.seat else ""))

    def _fault(self, view: View, seat: Seat) -> str:
        whose = "your fault" if seat == view.seat else f"the fault of {self._name(view, seat)}"
        return f" by {whose}"

    def _name(self, view: View, seat: Seat) -> str:
        if seat == view.seat:
            return "you"
        if seat >= len(view.players):
            return "somebody"
        return kept_apart(printable(view.players[seat]))

    def _drawn(self, view: View, number: int) -> Line:
        seat, choice = view.draws[number]
        first = second = None
        gained = set(view.hand) - self._held
        if seat == view.seat and self._offered is not None and len(gained) == 1:
            first = self._offered
            second = view.discarded[-1] if choice is Draw.KEEP else gained.pop()
        return self._words.draw_chosen(
            DrawChosen(seat, choice, second, public=choice is not None),
            first=first,
            stock=view.variant.stock - 2 * number,
            trump=view.trump_suit,
        )

    # -- cards

    def _trick(self, view: View, number: int) -> Line:
        """Trick ``number``, from 0, finished or on."""
        is_on = number == len(view.tricks)
        takers = [view.variant.side_of[trick.taker] for trick in view.tricks[: number + 1]]
        return self._words.trick(
            view.trick if is_on else view.tricks[number].plays,
            number=number + 1,
            taker=None if is_on else view.tricks[number].taker,
            won=[takers.count(Side(side)) for side in range(view.variant.sides)],
            trump=view.trump_suit,
        )

    def _hand_spans(self, view: View) -> list[Span]:
        spans: list[Span] = []
        for cards in suits_of(view.hand):
            spans += [Span("   "), *self._words.cards(cards, trump=view.trump_suit)]
        return spans[1:] or [Span("empty")]

    def _card(self, view: View, card: Card) -> Span:
        return self._words.card(card, trump=view.trump_suit)


def prompt(view: View) -> str:
    """What stands before what the person types."""
    return f"  {question(view)} > "
