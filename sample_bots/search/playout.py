"""Plays a hand on to its end with all cards open, every seat as the bot *house* would play it.

That is what a card is judged by: each seat knows only its own cards, what is gone and who is void,
as at a table. The advice is that of ``house``, card for card, written with bit sets: a decision
takes some five microseconds. Cards are bits by strength: of two in a suit the stronger is the
higher bit, whatever is trump.
"""

from collections.abc import Sequence

SUITS = tuple(0x1FFF << 13 * suit for suit in range(4))
SUIT_OF_BIT = {1 << card: card // 13 for card in range(52)}
LOW_HONOUR = 10
"""How high a jack stands in its suit."""


class Table:
    """What does not change while a hand is played out."""

    __slots__ = ("after", "opponents", "partner", "seats", "side_of", "sides", "trump")

    def __init__(self, side_of: Sequence[int], trump: int | None) -> None:
        self.side_of = tuple(side_of)
        self.seats = seats = len(side_of)
        self.sides = max(side_of) + 1
        self.trump = -1 if trump is None else trump
        """The number of the trump suit, -1 without one."""
        self.after = tuple((seat + 1) % seats for seat in range(seats))
        self.partner = tuple(
            next((o for o in range(seats) if o != s and side_of[o] == side_of[s]), -1)
            for s in range(seats)
        )
        self.opponents = tuple(
            tuple(o for o in range(seats) if side_of[o] != side_of[s]) for s in range(seats)
        )


class Hand:
    """A hand from its first trick on, the cards of every seat open: to copy and to play on."""

    __slots__ = (
        "best",
        "hands",
        "led",
        "length",
        "packs",
        "played",
        "ruffed",
        "table",
        "taken",
        "turn",
        "voids",
        "winning",
        "won",
    )

    def __init__(
        self, table: Table, hands: Sequence[int], *, packs: Sequence[int], turn: int
    ) -> None:
        self.table = table
        self.hands = list(hands)
        self.packs = packs
        """By seat, the cards it has not seen leave the game before the tricks: all but its own
        discards.
        """
        self.played = 0
        self.voids = [0] * table.seats
        """By seat, the suits it has shown to be out of, as bits."""
        self.won = [0] * table.sides
        """Tricks by side."""
        self.taken = 0
        self.turn = turn
        self.length = 0
        """Cards in the trick that is on."""
        self.led = 0
        self.best = 0
        """The card that takes the trick as it stands."""
        self.ruffed = False
        """Whether that is a trump in another suit's trick."""
        self.winning = turn

    def copy(self) -> "Hand":
        """Another one like this."""
        new = Hand.__new__(Hand)
        new.table = self.table
        new.hands = self.hands.copy()
        new.packs = self.packs
        new.played = self.played
        new.voids = self.voids.copy()
        new.won = self.won.copy()
        new.taken = self.taken
        new.turn = self.turn
        new.length = self.length
        new.led = self.led
        new.best = self.best
        new.ruffed = self.ruffed
        new.winning = self.winning
        return new

    def play(self, card: int) -> None:
        """The seat whose turn it is plays that card."""
        table, seat, suit = self.table, self.turn, SUIT_OF_BIT[card]
        self.hands[seat] ^= card
        self.played |= card
        if not self.length:
            self.led, self.best, self.winning = suit, card, seat
            self.ruffed = False
        elif suit == self.led:
            if not self.ruffed and card > self.best:
                self.best, self.winning = card, seat
        else:
            self.voids[seat] |= 1 << self.led
            if suit == table.trump and (not self.ruffed or card > self.best):
                self.best, self.winning, self.ruffed = card, seat, True
        self.length += 1
        if self.length < table.seats:
            self.turn = table.after[seat]
        else:
            self.won[table.side_of[self.winning]] += 1
            self.taken += 1
            self.length = 0
            self.turn = self.winning

    def winner(self) -> int:
        """The side that has won the hand, -1 while it goes on."""
        won = self.won
        if self.table.sides == 2:
            return 0 if won[0] >= 7 else 1 if won[1] >= 7 else -1
        return _alone(won, self.taken)

    def play_out(self) -> int:
        """Play to the end; the side that won."""
        winner = self.winner()
        while winner < 0:
            self.play(self.advised())
            if not self.length:
                winner = self.winner()
        return winner

    def advised(self) -> int:
        """The card that house plays here."""
        hand = self.hands[self.turn]
        if not hand & (hand - 1):
            return hand
        if not self.length:
            return self._lead(hand)
        follows = hand & SUITS[self.led]
        if follows:
            return self._follow(hand, follows)
        return self._ruff_or_throw(hand)

    def _to_come(self) -> list[int]:
        """The opponents that are still to play to this trick."""
        table, seat = self.table, self.turn
        side_of, after = table.side_of, table.after
        side, opponents = side_of[seat], []
        for _ in range(table.seats - 1 - self.length):
            seat = after[seat]
            if side_of[seat] != side:
                opponents.append(seat)
        return opponents

    def _follow(self, hand: int, follows: int) -> int:
        lowest = follows & -follows
        if follows == lowest or self.ruffed:
            return lowest
        best, led, table, seat = self.best, self.led, self.table, self.turn
        taking = follows & -(best << 1)
        if not taking:
            return lowest
        trump = table.trump
        unseen = self.packs[seat] & ~(self.played | hand)
        may_ruff, must_be_master = False, False
        for opponent in self._to_come():
            void = self.voids[opponent]
            if not void >> led & 1:
                must_be_master = True
            elif trump >= 0 and not void >> trump & 1 and unseen & SUITS[trump]:
                may_ruff = True
        over_all = -(1 << (unseen & SUITS[led]).bit_length())
        if self.winning == table.partner[seat]:
            if best.bit_length() - 13 * led >= LOW_HONOUR:
                return lowest
            if not may_ruff and (not must_be_master or best & over_all):
                return lowest
        if not may_ruff:
            safe = taking & over_all if must_be_master else taking
            if safe:
                return safe & -safe
        if (self.length == 2 and table.partner[seat] >= 0) or self._kot_is_near(seat):
            return 1 << taking.bit_length() - 1
        return lowest

    def _ruff_or_throw(self, hand: int) -> int:
        table, seat, led = self.table, self.turn, self.led
        trump = table.trump
        trumps = hand & SUITS[trump] if trump >= 0 else 0
        unseen = self.packs[seat] & ~(self.played | hand)
        taking = trumps & -(self.best << 1) if self.ruffed else trumps
        if not taking:
            return self._throw(hand, trumps, unseen)
        trumps_out = unseen & SUITS[trump]
        over_all = -(1 << trumps_out.bit_length())
        may_ruff, may_follow = False, False
        for opponent in self._to_come():
            void = self.voids[opponent]
            if not void >> led & 1:
                may_follow = True
            elif trumps_out and not void >> trump & 1:
                may_ruff = True
        partner = table.partner[seat]
        if self.winning == partner:
            best = self.best
            suit = trump if self.ruffed else led
            if best.bit_length() - 13 * suit >= LOW_HONOUR:
                return self._throw(hand, trumps, unseen)
            if self.ruffed:
                stands = not may_ruff or best & over_all
            else:
                over = -(1 << (unseen & SUITS[led]).bit_length())
                stands = not may_ruff and (not may_follow or best & over)
            if stands:
                return self._throw(hand, trumps, unseen)
        safe = taking & over_all if may_ruff else taking
        if safe:
            return safe & -safe
        if partner >= 0 and self.length == 1 and self.best.bit_length() - 13 * led < LOW_HONOUR:
            return self._throw(hand, trumps, unseen)
        return taking & -taking

    def _throw(self, hand: int, trumps: int, unseen: int) -> int:
        others = hand ^ trumps
        if not others:
            return trumps & -trumps
        lowest_price, thrown = 1 << 30, 0
        for suit, mask in enumerate(SUITS):
            cards = others & mask
            if not cards:
                continue
            lowest = cards & -cards
            price = lowest.bit_length() - 13 * suit
            if lowest >> (unseen & mask).bit_length():
                price += 64
            if trumps and cards.bit_count() > 2:
                price += 32
            if price < lowest_price:
                lowest_price, thrown = price, lowest
        return thrown

    def _kot_is_near(self, seat: int) -> bool:
        return self.won[self.table.side_of[seat]] == 0 and max(self.won) >= 5

    def _lead(self, hand: int) -> int:
        table, seat = self.table, self.turn
        trump, voids = table.trump, self.voids
        unseen = self.packs[seat] & ~(self.played | hand)
        opponents = table.opponents[seat]
        is_lone = len(opponents) == 1
        trumps, may_trump = 0, list[int]()
        if trump >= 0:
            mask = SUITS[trump]
            trumps, trumps_out = hand & mask, unseen & mask
            if trumps_out:
                may_trump = [o for o in opponents if not voids[o] >> trump & 1]
            if trumps and may_trump:
                count = trumps.bit_count() * (table.seats - 1)
                if trumps > trumps_out and count > trumps_out.bit_count():
                    return 1 << trumps.bit_length() - 1
        others = hand ^ trumps
        if not others:
            trumps_out = unseen & SUITS[trump]
            return 1 << trumps.bit_length() - 1 if trumps > trumps_out else trumps & -trumps
        if not is_lone:
            most, cashed = -1, 0
            for suit, mask in enumerate(SUITS):
                cards = others & mask
                if not cards:
                    continue
                out = unseen & mask
                if any(voids[o] >> suit & 1 for o in may_trump):
                    continue
                if not all(voids[o] >> suit & 1 for o in opponents):
                    cards &= -(1 << out.bit_length())
                    if not cards:
                        continue
                card = cards & -cards
                count = out.bit_count() << 10
                # Of equals first what is no master, then the lower card.
                count -= (card > out) * 64 + card.bit_length() - 13 * suit
                if count > most or not cashed:
                    most, cashed = count, card
            if cashed:
                return cashed
        lowest_key, opened = 1 << 30, 0
        for suit, mask in enumerate(SUITS):
            cards = others & mask
            if not cards:
                continue
            card = 1 << cards.bit_length() - 1 if is_lone else cards & -cards
            height = card.bit_length() - 13 * suit
            length = cards.bit_count()
            key = (length if trumps else -length) << 10
            key += ((-height if is_lone else height) << 5) + (card > (unseen & mask))
            if key < lowest_key:
                lowest_key, opened = key, card
        return opened


def _alone(won: Sequence[int], taken: int) -> int:
    """The winner of three seats that each play alone, -1 while the hand goes on (rulebook 3.4)."""
    if taken < 7:
        return -1
    first, second, third = sorted(range(3), key=won.__getitem__, reverse=True)
    left = 17 - taken
    if won[first] - won[second] > left or won[first] == taken == 7:
        return first
    return third if not left else -1
