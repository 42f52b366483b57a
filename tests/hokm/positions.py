"""Hands from text, for tests that want one particular position, and whole hands of a given course.

Where a card lies in the deck is worked out here from the rulebook's words (1.10) and not from the
code under test.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from hokm.actions import DECLARATIONS, PLAYS, Action, ChooseDraw, DiscardCards, Draw
from hokm.cards import CARDS, RANK_LETTERS, Card, Seat, Side, Suit, Trump, cards_in
from hokm.errors import IllegalAction, Reason
from hokm.events import Event, HandEnded
from hokm.rules.deal import Deal
from hokm.rules.game import Board, Game, Race
from hokm.rules.options import Play, Rules

PACKETS = {4: (5, 4, 4), 3: (5, 4, 4, 4), 2: (5,)}
TURNS = 21


def rules(players: int, **options: str) -> Rules:
    """A table for boards with those options."""
    return Rules.of(players, options=options)


def race_rules(players: int, **options: str) -> Rules:
    """A table for races with those options."""
    return Rules.of(players, play=Play.RACE, options=options)


def cards(text: str) -> tuple[Card, ...]:
    """Read cards in the order written: single ones, ``2C AD``, or several of a suit, ``C:AK2``."""
    read: list[Card] = []
    for word in text.split():
        if word[1] == ":":
            read += [Card.parse(rank + word[0]) for rank in word[2:]]
        else:
            read.append(Card.parse(word))
    return tuple(read)


def held(deal: Deal, seat: int) -> tuple[Card, ...]:
    """The cards in a seat's hand, ascending."""
    return cards_in(deal.hands[seat])


# -- decks


def places_of(players: int, seat: int, *, hakem: int = 0) -> list[int]:
    """Where in the deck the cards lie that a seat is dealt, in the order it gets them."""
    places: list[int] = []
    top = 0
    for size in PACKETS[players]:
        start = top + size * ((seat - hakem) % players)
        places += range(start, start + size)
        top += size * players
    return places


def deck_of(
    table: Rules, hands: Mapping[int, str], *, hakem: int = 0, stock: str = ""
) -> tuple[Card, ...]:
    """A deck that deals each seat its cards in the order written; what is not named fills the rest,
    ascending.
    """
    pack = [card for card in CARDS if table.removed_two is None or card != 13 * table.removed_two]
    deck: dict[int, Card] = {}
    for seat, text in hands.items():
        places = places_of(table.players, seat, hakem=hakem)
        deck |= zip(places, cards(text), strict=False)
    deck |= enumerate(cards(stock), start=10)
    rest = iter([card for card in pack if card not in deck.values()])
    return tuple(deck[place] if place in deck else next(rest) for place in range(len(pack)))


def dealt(
    table: Rules,
    hands: Mapping[int, str],
    *,
    hakem: int = 0,
    trump: Trump | None = None,
    stock: str = "",
) -> Deal:
    """A hand that has begun, with trump named if ``trump`` is given."""
    deal = Deal(table, deck_of(table, hands, hakem=hakem, stock=stock), hakem=Seat(hakem))
    deal.start()
    if trump is not None:
        deal.act(deal.hakem, DECLARATIONS[trump])
    return deal


# -- acting


def play(deal: Deal, text: str) -> list[Event]:
    """Play the cards in turn, whoever's turn it is; the events."""
    return go_on(deal, [PLAYS[card] for card in cards(text)])


def go_on(game: Deal | Game, actions: Iterable[Action]) -> list[Event]:
    """Act for the seat that is to act, action by action; the events."""
    events: list[Event] = []
    for action in actions:
        assert game.to_act is not None
        events += game.act(game.to_act, action)
    return events


def refusal(game: Deal | Game, seat: int, action: Action) -> Reason:
    """The reason for which that action of that seat is refused; fails if it is not."""
    with pytest.raises(IllegalAction) as refused:
        game.act(Seat(seat), action)
    return refused.value.reason


# -- a hand of a given course


@dataclass(frozen=True, slots=True)
class Script:
    """A deck, and what to do with it so that the tricks fall as wished. Spades are trump."""

    deck: tuple[Card, ...]
    actions: tuple[Action, ...]


def script(table: Rules, takers: str, *, hakem: int = 0) -> Script:
    """A hand in which those seats take the tricks, in that order: ``0001`` and so on.

    Every trick is of one suit: the taker has its highest card. The suits do not come out even, so
    in a full hand the last trick is one card a suit, and the taker has the trump. With two seats
    each draws its cards by keeping the first one.
    """
    players = table.players
    length = {4: 13, 3: 17, 2: 13}[players]
    wanted = [int(seat) for seat in takers.ljust(length, takers[-1])]
    tricks, last = _same_suit(table)
    by_trick = [*tricks, last][:length]
    hands: list[list[Card]] = [[] for _ in range(players)]
    for taker, (*low, high) in zip(wanted, by_trick, strict=True):
        hands[taker].append(high)
        for place, card in enumerate(low, start=1):
            hands[(taker + place) % players].append(card)
    plays: list[Action] = []
    leader = hakem
    for number, taker in enumerate(wanted):
        plays += [PLAYS[hands[(leader + place) % players][number]] for place in range(players)]
        leader = taker
    if players == 2:
        return _drawn(hands, plays, hakem)
    texts = {seat: " ".join(map(str, hand)) for seat, hand in enumerate(hands)}
    return Script(deck_of(table, texts, hakem=hakem), (DECLARATIONS[Trump.SPADES], *plays))


def _same_suit(table: Rules) -> tuple[list[list[Card]], list[Card]]:
    """Tricks of one suit each, low card first; then the leftovers, one a suit, as the last."""
    assert table.removed_two is not Suit.SPADES, "a script needs the leftover spade"
    tricks: list[list[Card]] = []
    last: list[Card] = []
    for suit in Suit:
        ranks = RANK_LETTERS[1:] if suit is table.removed_two else RANK_LETTERS
        of_suit = [Card.parse(rank + suit.letter) for rank in ranks]
        while len(of_suit) >= table.players:
            tricks.append([of_suit.pop(0) for _ in range(table.players)])
        last += of_suit
    return tricks, last


def _drawn(hands: Sequence[Sequence[Card]], plays: Sequence[Action], hakem: int) -> Script:
    junk = [card for card in CARDS if not any(card in hand for hand in hands)]
    first, second = list(hands[hakem]), list(hands[1 - hakem])
    junk_of_first, junk_of_second, junk = junk[:3], junk[3:5], junk[5:]
    deck = [*first[:2], *junk_of_first, *second[:3], *junk_of_second]
    first, second = first[2:], second[3:]
    for turn in range(TURNS):
        deck += [(first, second)[turn % 2].pop(0), junk.pop(0)]
    actions = (
        DECLARATIONS[Trump.SPADES],
        DiscardCards(tuple(junk_of_first)),
        DiscardCards(tuple(junk_of_second)),
        *[ChooseDraw(Draw.KEEP)] * TURNS,
        *plays,
    )
    return Script(tuple(deck), actions)


def played_out(game: Deal | Game, script: Script) -> list[Event]:
    """Follow the script to the end of the hand, and no further; the events."""
    events: list[Event] = []
    for action in script.actions:
        if game.to_act is None or any(isinstance(event, HandEnded) for event in events):
            break
        events += game.act(game.to_act, action)
    return events


def hand(table: Rules, takers: str, *, hakem: int = 0) -> Deal:
    """A hand in which those seats took the tricks, as far as it went."""
    course = script(table, takers, hakem=hakem)
    deal = Deal(table, course.deck, hakem=Seat(hakem))
    deal.start()
    played_out(deal, course)
    return deal


def board(table: Rules, takers: str, *, number: int = 1) -> Board:
    """A board in which those seats took the tricks, as far as it went."""
    course = script(table, takers, hakem=(number - 1) % table.players)
    game = Board(table, course.deck, number=number)
    game.start()
    played_out(game, course)
    return game


def race(table: Rules, *, seed: int = 1) -> Race:
    """A race that has begun."""
    game = Race(table, lambda hand: seed.to_bytes(16, "big") + hand.to_bytes(16, "big"))
    game.start()
    return game


def rigged(game: Race, takers: str) -> Script:
    """Replace the deck of the hand that begins by one that lets those seats take the tricks."""
    course = script(game.rules, takers, hakem=game.deal.hakem)
    game.deal = Deal(game.rules, course.deck, hakem=game.deal.hakem)
    game.deal.start()
    return course


def next_hand(game: Race, takers: str) -> HandEnded:
    """Play the race's next hand so that those seats take the tricks; how it ended."""
    events = played_out(game, rigged(game, takers))
    [ended] = [event for event in events if isinstance(event, HandEnded)]
    return ended


def points(game: Deal | Board) -> tuple[int, ...]:
    """What the hand that is over counts, by side."""
    result = game.result if isinstance(game, Deal) else game.deal.result
    assert result is not None
    return result.points


def shape(deal: Deal) -> str:
    """Tricks by size: ``9-1-0``."""
    won = sorted((deal.taken.count(Side(side)) for side in range(deal.variant.sides)), reverse=True)
    return "-".join(map(str, won))
