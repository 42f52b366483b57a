"""Plays as a good human guide advises; told to, it errs in a share of its cards.

Each method of :class:`Advice` is one piece of the advice and bears its name. Nothing is searched or
sampled: beyond its own cards this bot knows which cards are gone and who has shown a void. What was
tried in duels on duplicate boards, and what it is worth, stands in the README.

``--noise 10`` plays 10 % of the cards at random. What is random is a hash of the bot's name and of
what its seat sees, so the same bot in the same place plays the same card again, and bots of
different names err in different places.
"""

import argparse
from collections.abc import Sequence
from hashlib import blake2b

from hokm import Bot, Card, Rank, Seat, Suit, Trump, View, run

JACK = 10
"""How high a jack stands in its suit, as ``View.height`` counts."""


class House(Bot):
    """The guide's advice with four, three and two seats."""

    name = "house"
    concurrent = 16
    noise_percent = 0

    def declare(self, view: View) -> Suit | Trump:
        """Name the longest suit; of equally long ones that with the better honours. Where the table
        allows it, name nar with low cards and no suit to speak of.
        """
        if Trump.NAR in view.rules.modes and is_low(view.hand):
            return Trump.NAR
        return best_suit(view.hand)

    def discard(self, view: View, count: int) -> Sequence[Card]:
        """Lay away what is worth least."""
        return sorted(view.hand, key=lambda card: worth(view, card))[:count]

    def keep(self, view: View) -> bool:
        """Keep the card if the unseen one below it is worth no more on average."""
        assert view.offered is not None
        unseen = [worth(view, card) for card in view.unseen]
        return worth(view, view.offered) >= sum(unseen) / len(unseen)

    def play(self, view: View) -> Card:
        """Lead or follow as advised, unless the noise has it otherwise."""
        if self.noise_percent:
            number = hashed(self.name, view)
            if number % 100 < self.noise_percent:
                return view.playable[number // 100 % len(view.playable)]
        advice = Advice(view)
        return advice.follow() if view.trick else advice.lead()


def best_suit(hand: Sequence[Card]) -> Suit:
    """The longest suit; of equally long ones that with the better honours."""
    honours = {Rank.ACE: 6, Rank.KING: 4, Rank.QUEEN: 2, Rank.JACK: 1}

    def preference(suit: Suit) -> tuple[int, int]:
        ranks = [card.rank for card in hand if card.suit == suit]
        return len(ranks), sum(honours.get(rank, 0) for rank in ranks)

    return max(Suit, key=preference)


def is_low(hand: Sequence[Card]) -> bool:
    """Whether five cards are for nar: low ones, and no suit longer than two. The README says what
    it is worth to name it.
    """
    lows = {Rank.TWO: 3, Rank.THREE: 2, Rank.FOUR: 1}
    suits = [card.suit for card in hand]
    return max(map(suits.count, suits)) <= 2 and sum(lows.get(card.rank, 0) for card in hand) >= 7


def worth(view: View, card: Card) -> float:
    """What a card is worth in a two-seat hand: a trump more than any other card, and a high card
    more than in proportion.
    """
    height = view.height(card)
    return 14 + height if card.suit == view.trump_suit else height * height / 13


def hashed(name: str, view: View) -> int:
    """A number made of the bot's name, the seat's cards and what was played in this hand."""
    tricks = (*(trick.plays for trick in view.tricks), view.trick)
    played = " ".join(str(play.card) for plays in tricks for play in plays)
    seen = f"{name} {view.hand_number} {view.seat} {view.trump} {view.hand_set} {played}"
    return int.from_bytes(blake2b(seen.encode(), digest_size=8).digest(), "big")


class Advice:
    """What the guide would say at this moment."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.has_lone_opponent = len(view.opponents) == 1
        out = sorted(view.unseen, key=view.height)
        self.highest_out = {card.suit: view.height(card) for card in out}
        self.trumps_out = sum(map(self.is_trump, out))
        self.playable = sorted(view.playable, key=self.price)
        self.trumps = [card for card in self.playable if self.is_trump(card)]
        self.others = [card for card in self.playable if not self.is_trump(card)]

    # -- leading

    def lead(self) -> Card:
        """The first piece of advice that applies; with nothing but trumps, the highest or a low."""
        for advice in (self.draw_trumps, self.cash_a_winner, self.open_a_suit):
            card = advice()
            if card is not None:
                return card
        return self.trumps[-1] if self.is_master(self.trumps[-1]) else self.trumps[0]

    def draw_trumps(self) -> Card | None:
        """Take the others' trumps away, holding the highest and more than a fair share."""
        if not self.trumps or not any(map(self.may_hold_trumps, self.view.opponents)):
            return None
        fair_share = self.trumps_out / (self.view.variant.seats - 1)
        highest = self.trumps[-1]
        return highest if self.is_master(highest) and len(self.trumps) > fair_share else None

    def cash_a_winner(self) -> Card | None:
        """Take tricks in the other suits before somebody is void; first where most cards are out.

        Against a lone opponent they keep: there, opening a short suit first did better in duels.
        """
        if self.has_lone_opponent:
            return None
        winners = [card for card in self.others if self.stands(card)]
        return max(winners, key=lambda card: self.count_out(card.suit), default=None)

    def open_a_suit(self) -> Card | None:
        """Open the shortest suit, to trump it soon, or without trumps the longest. Lead low, for
        another hand may take it; high against a lone opponent, whom it costs a higher card.
        """
        shortest_first = 1 if self.trumps else -1
        lowest_first = -1 if self.has_lone_opponent else 1

        def preference(card: Card) -> tuple[int, int]:
            return (
                shortest_first * self.length(card.suit),
                lowest_first * self.view.height(card),
            )

        return min(self.others, key=preference, default=None)

    # -- following

    def follow(self) -> Card:
        """Take the trick with the cheapest card that keeps it; else it depends on who is to come.

        A trick is the partner's to take if the partner has it already, or comes after a low lead.
        """
        taking = [card for card in self.playable if self.view.takes(card)]
        if not taking or self.partner_has_it():
            return self.throw()
        safe = next((card for card in taking if self.stands(card)), None)
        if safe is not None:
            return safe
        if self.is_ruff(taking[0]):
            return self.throw() if self.partner_may_take_it() else taking[0]
        if self.is_third_hand() or self.kot_is_near():
            return taking[-1]
        return self.throw()

    def partner_has_it(self) -> bool:
        """Whether the partner's card takes the trick as it stands, and will, or is high enough."""
        winning = self.view.winning
        if winning is None or winning.seat != self.view.partner:
            return False
        return self.stands(winning.card) or self.view.height(winning.card) >= JACK

    def partner_may_take_it(self) -> bool:
        """Whether a low card was led, and the partner's is still to come."""
        is_second_hand = self.view.partner is not None and len(self.view.trick) == 1
        return is_second_hand and self.view.height(self.view.trick[0].card) < JACK

    def is_third_hand(self) -> bool:
        """Whether the partner led: then one plays high, to take it or to force a higher card."""
        return self.view.partner is not None and len(self.view.trick) == 2

    def kot_is_near(self) -> bool:
        """Whether a single trick matters most: this side has none, and another five or more."""
        won = self.view.tricks_won
        return won[self.view.side] == 0 and max(won) >= 5

    def throw(self) -> Card:
        """Give away the cheapest card; with trumps at hand, out of a suit that is soon void."""

        def price(card: Card) -> tuple[bool, bool, bool, int]:
            is_trump, is_master, height = self.price(card)
            keeps_length = bool(self.trumps) and self.length(card.suit) > 2
            return is_trump, is_master, keeps_length, height

        return min(self.playable, key=price)

    # -- counting

    def stands(self, card: Card) -> bool:
        """Whether a card that takes the trick as it is keeps it: no opponent to come may beat."""
        view, seats = self.view, self.view.variant.seats
        to_come = (Seat((view.seat + place) % seats) for place in range(1, seats - len(view.trick)))
        return not any(self.may_beat(seat, card) for seat in to_come if seat != view.partner)

    def may_beat(self, seat: Seat, card: Card) -> bool:
        """Whether a seat that is still to play may hold a card that beats this one."""
        led = card.suit if self.view.led is None else self.view.led
        if card.suit == led and led not in self.view.voids[seat]:
            return not self.is_master(card)
        if led not in self.view.voids[seat] or not self.may_hold_trumps(seat):
            return False
        return not (self.is_trump(card) and self.is_master(card))

    def may_hold_trumps(self, seat: Seat) -> bool:
        """Whether trumps are out, and that seat has not shown that it has none."""
        return self.trumps_out > 0 and self.view.trump_suit not in self.view.voids[seat]

    def is_ruff(self, card: Card) -> bool:
        """Whether this card trumps another suit's trick."""
        return self.is_trump(card) and self.view.led != card.suit

    def is_trump(self, card: Card) -> bool:
        """Whether the card is of the trump suit."""
        return card.suit == self.view.trump_suit

    def is_master(self, card: Card) -> bool:
        """Whether no card of its suit that is out stands higher."""
        return self.view.height(card) > self.highest_out.get(card.suit, 0)

    def price(self, card: Card) -> tuple[bool, bool, int]:
        """The order in which cards are parted with: trumps and masters last, else the low first."""
        return self.is_trump(card), self.is_master(card), self.view.height(card)

    def length(self, suit: Suit) -> int:
        """How many cards of a suit this hand holds."""
        return sum(card.suit == suit for card in self.view.hand)

    def count_out(self, suit: Suit) -> int:
        """How many cards of a suit this seat has not seen."""
        return sum(card.suit == suit for card in self.view.unseen)


def main() -> None:
    """Play, with as much noise as the command asks for."""
    parser = argparse.ArgumentParser(description="Play Hokm as a good human guide advises.")
    parser.add_argument(
        "--noise", type=int, default=0, metavar="PERCENT", help="share of cards played at random"
    )
    House.noise_percent = parser.parse_args().noise
    if House.noise_percent:
        House.name = f"house-{House.noise_percent}"
    run(House)


if __name__ == "__main__":
    main()
