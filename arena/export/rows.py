"""The rows that a record is: what was dealt, decided and scored, and how long it took.

Every game is played again by the rules, since a record keeps decisions in order and not by seat.
Nothing is read or written here, and what a ladder makes of a match is not known.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from arena.export import schema
from arena.ladder.matches.scores import score
from hokm.actions import (
    Action,
    ChooseDraw,
    CutDeck,
    DeclareTrump,
    DiscardCards,
    PlayCard,
    action_text,
)
from hokm.cards import Side, cards_text
from hokm.errors import IllegalAction
from hokm.notes import Note
from hokm.records import (
    Flag,
    GameRecord,
    HandRecord,
    MatchRecord,
    Place,
    ReplayError,
    RoomRecord,
    substance_digest,
)
from hokm.records.replays import SeedsByGame, dealt_again, decisions, seeds_by_game
from hokm.rules.game import Game
from hokm.rules.options import Teams
from hokm.rules.variants import variant_of

T = TypeVar("T")

_ROUND: Final = re.compile(r"ev\d+/r(\d{1,9})/")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a record is from: its file, and if it is a ladder's, the name of that and whether a
    match of these bots moves its ratings.
    """

    file: str
    ladder: str | None = None
    may_be_rated: Callable[[MatchRecord], bool] | None = None


def rows_of(
    record: MatchRecord, *, number: int, origin: Origin, tables: Collection[type[schema.Row]]
) -> Iterator[schema.Row]:
    """The rows of a record in those tables, by its number in the export.

    Raises ReplayError for a game that cannot be played again by the rules, which is seen only where
    decisions are asked for: in the rows of `plays` and `entrants`.
    """
    told = _Told(record, number)
    if schema.Match in tables:
        yield told.match(origin)
    if schema.Board in tables:
        yield from told.boards()
    if schema.Game in tables:
        yield from told.games()
    if schema.Hand in tables:
        yield from told.hands()
    if schema.Play in tables or schema.Entrant in tables:
        plays = list(told.plays())
        if schema.Entrant in tables:
            yield from told.entrants(plays)
        if schema.Play in tables:
            yield from plays


class _Told:
    """A record while it is told."""

    def __init__(self, record: MatchRecord, number: int) -> None:
        self.record = record
        self.number = number
        self.variant = variant_of(record.rules)
        self.score = score(record)

    def match(self, origin: Origin) -> schema.Match:
        record, spoilt = self.record, self.score.spoilt
        in_round = _ROUND.match(record.match) if record.event is not None else None
        is_rated = None
        if origin.may_be_rated is not None:
            is_rated = spoilt is None and origin.may_be_rated(record)
        return schema.Match(
            record=self.number,
            file=origin.file,
            ladder=origin.ladder,
            match=record.match,
            attempt=record.attempt,
            event=record.event,
            round=None if in_round is None else int(in_round[1]),
            format=record.format.value,
            players=record.rules.players,
            games=record.games,
            rooms=len(record.rooms),
            rules=" ".join(f"{name}={value}" for name, value in record.rules.options().items()),
            policy=record.policy.value,
            move_milliseconds=_milliseconds(record.clock.move_seconds),
            bank_milliseconds=_milliseconds(record.clock.bank_seconds),
            counts=spoilt is None,
            voided_by=None if spoilt is None else spoilt.value,
            is_rated=is_rated,
            started=record.circumstances.started or None,
            ended=record.circumstances.ended or None,
            commitment=record.commitment.hex(),
            substance_digest=substance_digest(record),
        )

    def entrants(self, plays: Sequence[schema.Play]) -> Iterator[schema.Entrant]:
        charged: defaultdict[int, list[float]] = defaultdict(list)
        for play in plays:
            charged[play.entrant].append(play.charged_milliseconds or 0.0)
        refusals, faults = [0] * len(self.record.entrants), [0] * len(self.record.entrants)
        cpu: dict[int, float] = {}
        for room, game in self._all_games():
            seating = room.seating_of(game)
            for refusal in game.refusals:
                refusals[seating[refusal.seat]] += 1
            if game.outcome is not None and game.outcome.at_fault is not None:
                faults[seating[game.outcome.at_fault]] += 1
        seatings = {room.number: room.seating for room in self.record.rooms}
        for process in self.record.circumstances.processes:
            if process.cpu_seconds is not None:
                index = seatings[process.room][process.seat]
                cpu[index] = cpu.get(index, 0.0) + process.cpu_seconds
        for place, entrant in enumerate(self.record.entrants):
            own = charged[place]
            yield schema.Entrant(
                record=self.number,
                entrant=place,
                side=self._side(place),
                bot=entrant.name,
                owner=entrant.owner,
                version=entrant.version or None,
                digest=entrant.digest,
                score=self.record.score[place],
                decisions=len(own),
                charged_milliseconds=round(sum(own), 3),
                longest_milliseconds=max(own, default=None),
                cpu_milliseconds=_milliseconds_or_none(cpu.get(place)),
                refusals=refusals[place],
                faults=faults[place],
            )

    def boards(self) -> Iterator[schema.Board]:
        for pair in self.score.pairs:
            gained = self.score.gained[pair.first], self.score.gained[pair.second]
            for board, own, other in zip(self.score.boards, *gained, strict=True):
                yield schema.Board(
                    record=self.number,
                    board=board,
                    first_side=pair.first,
                    second_side=pair.second,
                    first=self._names_of_side(pair.first),
                    second=self._names_of_side(pair.second),
                    first_points=own,
                    second_points=other,
                    difference=own - other,
                )

    def games(self) -> Iterator[schema.Game]:
        for room, game in self._all_games():
            names = self._names(room, game)
            outcome = game.outcome
            points = () if outcome is None else outcome.points
            winner = None if outcome is None else outcome.winner
            fault = None if outcome is None else outcome.at_fault
            yield schema.Game(
                record=self.number,
                room=room.number,
                game=game.number,
                seat_0=names[0],
                seat_1=names[1],
                seat_2=_at(names, 2),
                seat_3=_at(names, 3),
                hands=len(game.hands),
                ending=None if outcome is None else outcome.ending.value,
                winner_side=winner,
                winner=self._winner(names, winner),
                points_0=_at(points, 0),
                points_1=_at(points, 1),
                points_2=_at(points, 2),
                fault_seat=fault,
                fault_bot=None if fault is None else names[fault],
                cause=(outcome.cause if outcome is not None else "") or None,
                refusals=len(game.refusals),
                is_unplayed=Flag.UNPLAYED in game.flags,
            )

    def hands(self) -> Iterator[schema.Hand]:
        for room, game in self._all_games():
            names = self._names(room, game)
            for hand in game.hands:
                result = hand.result
                winner = None if result is None else result.winner
                tricks = () if result is None else result.tricks
                yield schema.Hand(
                    record=self.number,
                    room=room.number,
                    game=game.number,
                    hand=hand.number,
                    deck=cards_text(hand.deck),
                    hakem_seat=hand.hakem,
                    hakem=names[hand.hakem],
                    cut=hand.cut,
                    trump=None if hand.trump is None else hand.trump.letter,
                    decisions=_decisions(hand),
                    winner_side=winner,
                    winner=self._winner(names, winner),
                    kind=None if result is None else result.kind.value,
                    points=None if result is None else result.points[result.winner],
                    tricks_0=_at(tricks, 0),
                    tricks_1=_at(tricks, 1),
                    tricks_2=_at(tricks, 2),
                )

    def plays(self) -> Iterator[schema.Play]:
        table = seeds_by_game(self.record)
        for room, game in self._all_games():
            yield from self._plays(room, game, table=table)

    def _plays(
        self, room: RoomRecord, game: GameRecord, *, table: SeedsByGame
    ) -> Iterator[schema.Play]:
        if not game.hands:
            return
        place = Place(room=room.number, game=game.number)
        names, seating = self._names(room, game), room.seating_of(game)
        fresh = dealt_again(self.record, game, place=place, table=table)
        fresh.start()
        notes = {(noted.hand, noted.decision): noted.note for noted in game.notes}
        for index, hand in enumerate(game.hands):
            charged = game.seconds[index] if index < len(game.seconds) else ()
            used = [0.0] * len(names)
            for decision, (step, action) in enumerate(decisions(hand)):
                here = Place(room=room.number, game=game.number, hand=hand.number, step=step)
                if fresh.to_act is None or fresh.hand_number != hand.number:
                    raise ReplayError("this hand is not being played at this point", here)
                seat, legal = fresh.to_act, len(fresh.legal_actions())
                _act(fresh, action, here=here)
                kind, _, which = step.partition(" ")
                own = charged[decision] if decision < len(charged) else None
                used[seat] += own or 0.0
                note = notes.get((hand.number, decision + 1), Note())
                yield schema.Play(
                    record=self.number,
                    room=room.number,
                    game=game.number,
                    hand=hand.number,
                    decision=decision + 1,
                    seat=seat,
                    entrant=seating[seat],
                    bot=names[seat],
                    action=kind,
                    number=int(which or 1),
                    what=_what(action),
                    legal=legal,
                    charged_milliseconds=_milliseconds_or_none(own),
                    hand_milliseconds=None if own is None else _milliseconds(used[seat]),
                    note=note.text or None,
                    note_numbers=json.dumps(dict(note.numbers)) if note.numbers else None,
                )

    def _all_games(self) -> Iterator[tuple[RoomRecord, GameRecord]]:
        for room in self.record.rooms:
            for game in room.games:
                yield room, game

    def _names(self, room: RoomRecord, game: GameRecord) -> tuple[str, ...]:
        """The bot at each seat."""
        return tuple(self.record.entrants[index].name for index in room.seating_of(game))

    def _side(self, entrant: int) -> int:
        is_drawn = self.record.rules.teams is Teams.SECOND_ACE
        return entrant if is_drawn else entrant % self.variant.sides

    def _names_of_side(self, side: int) -> str:
        entrants = enumerate(self.record.entrants)
        return " + ".join(bot.name for place, bot in entrants if self._side(place) == side)

    def _winner(self, names: Sequence[str], winner: Side | None) -> str | None:
        """Who won, once where one bot has both seats of its side."""
        if winner is None:
            return None
        return " + ".join(dict.fromkeys(names[seat] for seat in self.variant.seats_of(winner)))


def _act(game: Game, action: Action, *, here: Place) -> None:
    seat = game.to_act
    assert seat is not None
    try:
        game.act(seat, action)
    except IllegalAction as error:
        raise ReplayError(f"seat {seat} may not do this: {error}", here) from None


def _what(action: Action) -> str:
    match action:
        case PlayCard(card):
            return str(card)
        case DeclareTrump(trump):
            return trump.letter
        case DiscardCards(cards):
            return cards_text(cards)
        case CutDeck(position):
            return str(position)
        case ChooseDraw():
            return action_text(action)


def _decisions(hand: HandRecord) -> int:
    first = (hand.cut is not None) + (hand.trump is not None)
    return first + len(hand.discards) + len(hand.draws) + len(hand.plays)


def _at(values: Sequence[T], index: int) -> T | None:
    return values[index] if index < len(values) else None


def _milliseconds(seconds: float) -> float:
    """Records are exact to a microsecond."""
    return round(1000 * seconds, 3)


def _milliseconds_or_none(seconds: float | None) -> float | None:
    return None if seconds is None else _milliseconds(seconds)
