"""Open cards solved in Python, for two, three and four seats: quick near the end of a hand.

One side plays for itself and all others play against it. Of two sides that is the exact value of
the hand. Of three seats it is what a seat can be *sure* of, whatever the other two do: as much as
it takes if they were partners, which they are not, so that it may well take more.

It tries every line of play, but that cards with none of another seat's between them are as good as
one another, that what can be taken with the highest cards need not be tried, and that positions are
met again: what was found of them is kept in a table. How long that takes stands beside
:data:`MOST_POSITIONS`. What tricks count is for :mod:`hokm.solver.points` to say.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from hokm.cards import Card, CardSet, Trump, cards_in
from hokm.errors import HokmError
from hokm.rules.tricks import SEAT_AFTER, STRENGTH, SUIT_CARDS, SUIT_OF, legal_cards
from hokm.solver.openhand import OpenHand, by_strength, cards_of_strength

MOST_POSITIONS: Final = 100_000
"""How many positions are looked into, at the start of a trick each, before a search gives up: about
a second. Random hands of so many cards a seat take so many milliseconds of CPU time, half of them
less and half more, and the slowest of twenty:

======  =========  =========  ===========  ===========
seats   half done  slowest    half done    slowest
======  =========  =========  ===========  ===========
two     10: 1.2    10: 7      13: 24       13: 200
three   8: 3       8: 14      10: 20       10: 90
four    6: 3       6: 5       8: 30        8: 150
======  =========  =========  ===========  ===========
"""


class SearchTooLong(HokmError):
    """More positions than were allowed: there are too many cards for this solver."""


def card_tricks(hand: OpenHand, *, most_positions: int = MOST_POSITIONS) -> dict[Card, int]:
    """For each card that may be played now, the tricks its side can be sure of from here on, the
    trick that is on among them; cards ascending.

    Raises :class:`SearchTooLong`, and ValueError for a hand that cannot be.
    """
    hand.refuse_impossible()
    search = _search(hand, most_positions)
    back = cards_of_strength(hand.trump)
    tricks: dict[Card, int] = {}
    best = 0
    for same in search.choices(hand):
        best = search.most_after(hand, card=same[0], guess=best)
        tricks |= {back[card]: best for card in same}
    return dict(sorted(tricks.items()))


def best_tricks(hand: OpenHand, *, most_positions: int = MOST_POSITIONS) -> int:
    """The most tricks that the side to play can be sure of from here on; raises as
    :func:`card_tricks`.
    """
    hand.refuse_impossible()
    return _search(hand, most_positions).most(hand)


def can_take(hand: OpenHand, tricks: int, *, most_positions: int = MOST_POSITIONS) -> bool:
    """Whether the side to play can be sure of that many tricks from here on; raises as
    :func:`card_tricks`.
    """
    hand.refuse_impossible()
    return _search(hand, most_positions).holds(hand, tricks)


def cards_taking(
    hand: OpenHand, tricks: int, *, most_positions: int = MOST_POSITIONS
) -> tuple[Card, ...]:
    """The cards after which the side to play can still be sure of that many tricks from here on,
    ascending; raises as :func:`card_tricks`.
    """
    hand.refuse_impossible()
    search = _search(hand, most_positions)
    back = cards_of_strength(hand.trump)
    taking = [same for same in search.choices(hand) if search.holds_after(hand, same[0], tricks)]
    return tuple(sorted(back[card] for same in taking for card in same))


def _search(hand: OpenHand, most_positions: int) -> "TrickSearch":
    mine = side_of_turn(hand)
    return TrickSearch(hand.trump, mine, most_positions=most_positions)


def side_of_turn(hand: OpenHand) -> tuple[bool, ...]:
    """By seat, whether it is of the side that is to play."""
    seats, turn = len(hand.hands), hand.turn
    return tuple(seat == turn or (seats == 4 and seat % 2 == turn % 2) for seat in range(seats))


class Search:
    """Whether some seats can bring about what they want, all others being against it.

    ``mine`` says by seat who wants it. A search is of one trump, and keeps what it has found: ask
    the same one of all positions of a hand. What is wanted is a number, and up to a search: it says
    what there is to know at the start of a trick, and what a trick that is taken leaves to be
    wanted.
    """

    def __init__(
        self, trump: Trump, mine: Sequence[bool], *, most_positions: int = MOST_POSITIONS
    ) -> None:
        self.trump = trump
        self.mine = tuple(mine)
        self.left = most_positions
        """How many positions it may still look into; give it more to ask it more."""
        self._seats = len(self.mine)
        # Cards are renamed by their strength, so that there is one order.
        plain = Trump.SAR if trump.suit is None else trump
        self._by_led = STRENGTH[plain]
        self._trumps = 0 if trump.suit is None else SUIT_CARDS[trump]
        self._after = SEAT_AFTER[self._seats]

    def holds(self, hand: OpenHand, wanted: int) -> bool:
        """Whether it can be brought about from here on. Raises :class:`SearchTooLong`."""
        hands = [by_strength(cards, hand.trump) for cards in hand.hands]
        if not hand.trick:
            return self._from_lead(hands, hand.leader, wanted)
        table = [by_strength(card.bit, hand.trump).bit_length() - 1 for card in hand.trick]
        return self._from_table(hands, hand.leader, table, wanted)

    def holds_after(self, hand: OpenHand, card: int, wanted: int) -> bool:
        """The same once that card is played, which goes by its strength (:meth:`choices`)."""
        hands = [by_strength(cards, hand.trump) for cards in hand.hands]
        hands[hand.turn] = CardSet(hands[hand.turn] ^ 1 << card)
        table = [by_strength(card.bit, hand.trump).bit_length() - 1 for card in hand.trick]
        return self._from_table(hands, hand.leader, [*table, card], wanted)

    def choices(self, hand: OpenHand) -> list[tuple[int, ...]]:
        """The cards that may be played, by their strength; those that are as good together."""
        hands = [by_strength(cards, hand.trump) for cards in hand.hands]
        rest = 0
        for seat, cards in enumerate(hands):
            rest |= cards if seat != hand.turn else 0
        for card in hand.trick:
            rest |= by_strength(card.bit, hand.trump)
        legal = by_strength(hand.playable, hand.trump)
        return [tuple(map(int, cards_in(CardSet(run)))) for run in _runs(legal, rest)]

    # -- what a search says

    def _at_lead(self, hands: list[CardSet], leader: int, wanted: int) -> bool | None:
        """Whether it can be brought about, as far as that is known without a card being played."""
        raise NotImplementedError

    def _found(self, hands: list[CardSet], leader: int, wanted: int, *, holds: bool) -> None:
        """It was found out: keep it."""
        raise NotImplementedError

    def _once_taken(self, winner: int, wanted: int) -> int | None:
        """What is wanted after a trick of that seat; None if it cannot be brought about now."""
        raise NotImplementedError

    def _theirs(self, winning: list[int], losing: list[int]) -> tuple[list[int], list[int]]:
        """Of the cards that others might play, ascending, those that need be tried, in order."""
        return winning, losing

    # -- how it is found out

    def _from_table(
        self, hands: list[CardSet], leader: int, table: Sequence[int], wanted: int
    ) -> bool:
        led = SUIT_OF[table[0]]
        strength = self._by_led[led]
        place, best = max(enumerate(table), key=lambda played: strength[played[1]])
        winner = (leader + place) % self._seats
        if len(table) == self._seats:
            return self._once(hands, winner, wanted)
        gone = 0
        for card in table:
            gone |= 1 << card
        seat = (leader + len(table)) % self._seats
        return self._follow(
            hands, seat, len(table), led, strength[best], winner, CardSet(gone), wanted
        )

    def _once(self, hands: list[CardSet], winner: int, wanted: int) -> bool:
        left = self._once_taken(winner, wanted)
        return left is not None and self._from_lead(hands, winner, left)

    def _from_lead(self, hands: list[CardSet], leader: int, wanted: int) -> bool:
        known = self._at_lead(hands, leader, wanted)
        if known is not None:
            return known
        if self.left <= 0:
            raise SearchTooLong("there are too many cards to look ahead as far as was allowed")
        self.left -= 1
        hand = hands[leader]
        rest = 0
        for cards in hands:
            rest |= cards
        rest ^= hand
        is_mine = self.mine[leader]
        holds = not is_mine
        after = self._after[leader]
        for card in _leads(hand, rest):
            hands[leader] = CardSet(hand ^ 1 << card)
            led = SUIT_OF[card]
            found = self._follow(
                hands,
                after,
                1,
                led,
                self._by_led[led][card],
                leader,
                CardSet(1 << card),
                wanted,
            )
            if found is is_mine:
                holds = is_mine
                break
        hands[leader] = hand
        self._found(hands, leader, wanted, holds=holds)
        return holds

    def _follow(
        self,
        hands: list[CardSet],
        seat: int,
        place: int,
        led: int,
        best: int,
        winner: int,
        table: CardSet,
        wanted: int,
    ) -> bool:
        """With ``place`` cards on the table, the best of strength ``best``. Called for every card
        that is tried: names would cost a tenth.
        """
        hand = hands[seat]
        legal = legal_cards(hand, led)
        is_mine = self.mine[seat]
        strength = self._by_led[led]
        is_last = place == self._seats - 1
        choices: Sequence[int]
        if legal & (legal - 1):
            rest = int(table)
            for cards in hands:
                rest |= cards
            winning: list[int] = []
            losing: list[int] = []
            for run in _runs(legal, rest & ~hand):
                card = (run & -run).bit_length() - 1
                (winning if strength[card] > best else losing).append(card)
            if not is_mine:
                winning, losing = self._theirs(winning, losing)
            # Who is winning already keeps its high cards; who is not takes it as cheaply as it can.
            choices = losing + winning if self.mine[winner] is is_mine else winning + losing
        else:
            choices = (legal.bit_length() - 1,)
        for card in choices:
            hands[seat] = CardSet(hand ^ 1 << card)
            if strength[card] > best:
                its_winner, its_best = seat, strength[card]
            else:
                its_winner, its_best = winner, best
            if is_last:
                found = self._once(hands, its_winner, wanted)
            else:
                found = self._follow(
                    hands,
                    self._after[seat],
                    place + 1,
                    led,
                    its_best,
                    its_winner,
                    CardSet(table | 1 << card),
                    wanted,
                )
            if found is is_mine:
                hands[seat] = hand
                return is_mine
        hands[seat] = hand
        return not is_mine


class TrickSearch(Search):
    """Whether my side takes so many of the tricks that are left."""

    def __init__(
        self, trump: Trump, mine: Sequence[bool], *, most_positions: int = MOST_POSITIONS
    ) -> None:
        super().__init__(trump, mine, most_positions=most_positions)
        self._known: dict[tuple[int, ...], tuple[int, int]] = {}
        """Of hands and leader: so many tricks are sure, and more than so many are not to be had."""

    def most(self, hand: OpenHand) -> int:
        """The most tricks that my side can be sure of from here on."""
        most = 0
        while most < hand.tricks_left and self.holds(hand, most + 1):
            most += 1
        return most

    def most_after(self, hand: OpenHand, *, card: int, guess: int) -> int:
        """The same once that card is played; sooner found where the guess is near."""
        most = guess
        while most > 0 and not self.holds_after(hand, card, most):
            most -= 1
        while most == guess and most < hand.tricks_left:
            if not self.holds_after(hand, card, most + 1):
                break
            guess = most = most + 1
        return most

    def _at_lead(self, hands: list[CardSet], leader: int, wanted: int) -> bool | None:
        left = hands[leader].bit_count()
        if wanted <= 0:
            return True
        if wanted > left:
            return False
        seat, sure = _sure_tricks(hands, leader, self._trumps)
        if self.mine[seat]:
            if sure >= wanted:
                return True
        elif sure > left - wanted:
            return False
        known = self._known.get((*hands, leader))
        if known is None:
            return None
        if wanted <= known[0]:
            return True
        return False if wanted > known[1] else None

    def _found(self, hands: list[CardSet], leader: int, wanted: int, *, holds: bool) -> None:
        place = (*hands, leader)
        low, high = self._known.get(place, (0, hands[leader].bit_count()))
        self._known[place] = (max(low, wanted), high) if holds else (low, min(high, wanted - 1))

    def _once_taken(self, winner: int, wanted: int) -> int:
        return wanted - 1 if self.mine[winner] else wanted


class SweepSearch(Search):
    """Whether my side takes each of the next so many tricks (a kot, rulebook 1.6)."""

    def __init__(
        self, trump: Trump, mine: Sequence[bool], *, most_positions: int = MOST_POSITIONS
    ) -> None:
        super().__init__(trump, mine, most_positions=most_positions)
        self._known: dict[tuple[int, ...], bool] = {}

    def _at_lead(self, hands: list[CardSet], leader: int, wanted: int) -> bool | None:
        if wanted <= 0:
            return True
        if wanted > hands[leader].bit_count():
            return False
        if self.mine[leader] and _cashed(hands, leader, self._trumps, self.mine) >= wanted:
            return True
        return self._known.get((*hands, leader, wanted))

    def _found(self, hands: list[CardSet], leader: int, wanted: int, *, holds: bool) -> None:
        self._known[(*hands, leader, wanted)] = holds

    def _once_taken(self, winner: int, wanted: int) -> int | None:
        return wanted - 1 if self.mine[winner] else None

    def _theirs(self, winning: list[int], losing: list[int]) -> tuple[list[int], list[int]]:
        # They need one trick, whoever takes it: of a suit they keep what is highest.
        lowest: dict[int, int] = {}
        for card in losing:
            lowest.setdefault(SUIT_OF[card], card)
        return winning[::-1], list(lowest.values())


def _sure_tricks(hands: Sequence[CardSet], leader: int, trumps: int) -> tuple[int, int]:
    """A seat, and how many tricks it takes whatever is played: with the highest trumps, or, where
    nobody has a trump, with the highest cards of the suits that it leads.
    """
    everything = 0
    for cards in hands:
        everything |= cards
    trumps &= everything
    if not trumps:
        return leader, sum(_tops(hands[leader], everything, suit) for suit in SUIT_CARDS)
    highest = 1 << trumps.bit_length() - 1
    for seat, cards in enumerate(hands):
        if cards & highest:
            return seat, _tops(cards, everything, trumps)
    raise AssertionError("somebody holds the highest trump")


def _cashed(hands: Sequence[CardSet], leader: int, trumps: int, mine: Sequence[bool]) -> int:
    """How many tricks the leader takes one after another by leading its highest cards: trumps
    first, and other suits if then no opponent has a trump.
    """
    everything = 0
    for cards in hands:
        everything |= cards
    hand = hands[leader]
    rounds = _tops(hand, everything, trumps)
    longest = 0
    for seat, cards in enumerate(hands):
        if not mine[seat]:
            longest = max(longest, (cards & trumps).bit_count())
    if rounds < longest:
        return rounds
    return rounds + sum(_tops(hand, everything, suit & ~trumps) for suit in SUIT_CARDS)


def _tops(hand: int, everything: int, suit: int) -> int:
    """How many cards of the hand are higher in that suit than all that others hold."""
    others = everything & ~hand & suit
    return ((hand & suit) >> others.bit_length()).bit_count()


def _leads(hand: CardSet, rest: int) -> list[int]:
    """What to lead, one of each run: highest cards of their suits first, then from the top."""
    highest: list[int] = []
    others: list[int] = []
    for run in _runs(hand, rest):
        card = run.bit_length() - 1
        suit = SUIT_CARDS[SUIT_OF[card]]
        (others if (rest & suit) >> card else highest).append(card)
    highest.reverse()
    others.reverse()
    return highest + others


def _runs(cards: int, rest: int) -> Iterator[int]:
    """The cards as sets, ascending, of such as have no card of the rest between them."""
    while cards:
        low = cards & -cards
        suit = SUIT_CARDS[SUIT_OF[low.bit_length() - 1]]
        above = rest & suit & -low
        run = cards & suit
        if above:
            run &= (above & -above) - 1
        yield run
        cards ^= run
