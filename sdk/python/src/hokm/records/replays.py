"""A recorded game, played again: dealt from its seeds, decided as recorded, judged by the rules."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from hokm.actions import DECLARATIONS, DRAWS, PLAYS, Action, CutDeck, DiscardCards, Draw
from hokm.deck import shuffled
from hokm.errors import HokmError, IllegalAction
from hokm.events import (
    CardPlayed,
    CardsDiscarded,
    DeckCut,
    DrawChosen,
    Event,
    HandEnded,
    HandStarted,
    TrumpDeclared,
)
from hokm.records.values import GameRecord, HandRecord, MatchRecord
from hokm.rules.deal import Deal
from hokm.rules.game import Board, Game, Race
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of

SeedsByGame: TypeAlias = Mapping[int, Mapping[int, bytes]]

Decided: TypeAlias = DeckCut | TrumpDeclared | CardsDiscarded | DrawChosen | CardPlayed
"""What decisions become, one each; it has the seat that took it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a record, as far as it is one place.

    ``room``, ``game`` and ``hand`` are numbers from 1; ``step`` is a decision of the hand:
    ``cut``, ``trump``, ``discard 2``, ``draw 7``, ``play 13``.
    """

    room: int | None = None
    game: int | None = None
    hand: int | None = None
    step: str | None = None

    def __str__(self) -> str:
        named = {"room": self.room, "game": self.game, "hand": self.hand}
        places = [f"{name} {number}" for name, number in named.items() if number is not None]
        return ", ".join([*places, *([self.step] if self.step else [])])


class ReplayError(HokmError):
    """A recorded game that cannot be played again: ``what`` is wrong, and at which place."""

    def __init__(self, what: str, place: Place) -> None:
        super().__init__(f"{place}: {what}")
        self.what = what
        self.place = place


def replay(record: MatchRecord, *, room: int, game: int) -> Iterator[Event]:
    """Every event of a recorded game, whole and in order, with the decks its seeds give.

    Raises LookupError for a game that is not in the record, and :class:`ReplayError` where the game
    leaves the rules.
    """
    for its_room in record.rooms:
        for its_game in its_room.games:
            if (its_room.number, its_game.number) == (room, game):
                place = Place(room=room, game=game)
                return played(dealt_again(record, its_game, place=place), its_game, place=place)
    raise LookupError(f"there is no game {game} of room {room} in this record")


def seeds_by_game(record: MatchRecord) -> SeedsByGame:
    """The seeds of a record as a table: of each game, by hand."""
    table: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
    for seed in record.seeds:
        table[seed.game][seed.hand] = seed.value
    return table


def dealt_again(
    record: MatchRecord, game: GameRecord, *, place: Place, table: SeedsByGame | None = None
) -> Game:
    """The game as it was before its first card, to be dealt from the seeds in this record.

    Whoever deals many games of a record makes the ``table`` of its seeds once, and gives it.

    Raises :class:`ReplayError` where the record has no seed for a hand that was dealt: now for a
    board, for a race when the hand's turn has come.
    """
    seeds = (seeds_by_game(record) if table is None else table).get(game.number, {})

    def seed_of(hand: int) -> bytes:
        if hand not in seeds:
            raise ReplayError("its seed is not revealed", replace(place, hand=hand))
        return seeds[hand]

    match record.rules.play:
        case Play.BOARDS:
            pack = variant_of(record.rules).pack
            deck = shuffled(pack, seed_of(1)) if game.hands else ()
            return Board(record.rules, deck, number=game.number)
        case Play.RACE:
            return Race(record.rules, seed_of)


def played(fresh: Game, game: GameRecord, *, place: Place) -> Iterator[Event]:
    """Every event of a game before its first card, decided as recorded; raises
    :class:`ReplayError`. Nothing happens in a game that never began.
    """
    if not game.hands:
        return
    yield from fresh.start()
    for hand in game.hands:
        yield from _decided(fresh, hand, place=replace(place, hand=hand.number))


def hand_played(rules: Rules, hand: HandRecord) -> Iterator[Event]:
    """Every event of one hand out of its game, dealt from the deck it names and decided as
    recorded; raises :class:`ReplayError`.

    It begins at no score, and nobody is the next hakem: that is the game's to say.
    """
    try:
        deal = Deal(rules, hand.deck, hakem=hand.hakem)
    except ValueError as error:
        raise ReplayError(str(error), Place(hand=hand.number)) from None
    dealer = deal.variant.dealer_for(hand.hakem)
    yield HandStarted(hand.number, hand.hakem, dealer, (0,) * deal.variant.sides)
    yield from deal.start()
    yield from _decided(deal, hand, place=Place())
    if deal.result is not None:
        yield HandEnded(deal.result, None, None)


def _decided(table: Game | Deal, hand: HandRecord, *, place: Place) -> Iterator[Event]:
    """Take the decisions of a hand at its table, and say what happens."""
    for step, action in decisions(hand):
        here = replace(place, step=step)
        seat = table.to_act
        is_on = not isinstance(table, Game) or table.hand_number == hand.number
        if seat is None or not is_on:
            raise ReplayError("this hand is not being played at this point", here)
        try:
            events = table.act(seat, action)
        except IllegalAction as error:
            raise ReplayError(f"seat {seat} may not do this: {error}", here) from None
        yield from events


def decisions(hand: HandRecord) -> Iterator[tuple[str, Action]]:
    """The decisions of a hand in order, each with the name of its step."""
    if hand.cut is not None:
        yield "cut", CutDeck(hand.cut)
    if hand.trump is not None:
        yield "trump", DECLARATIONS[hand.trump]
    for number, cards in enumerate(hand.discards, start=1):
        yield f"discard {number}", DiscardCards(cards)
    for number, choice in enumerate(hand.draws, start=1):
        yield f"draw {number}", DRAWS[0] if choice is Draw.KEEP else DRAWS[1]
    for number, card in enumerate(hand.plays, start=1):
        yield f"play {number}", PLAYS[card]
