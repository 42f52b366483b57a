"""Notes put into a record that has none, one to every decision, for tests of who sees them."""

from collections.abc import Iterator
from dataclasses import replace

from hokm.events import HandStarted
from hokm.notes import Note
from hokm.records import GameRecord, MatchRecord, Noted, RoomRecord, replay
from hokm.records.replays import Decided


def with_notes_in(record: MatchRecord) -> MatchRecord:
    """Every seat notes its name and which decision of the hand it takes; one was dropped each."""

    def noted(room: RoomRecord, game: GameRecord) -> GameRecord:
        notes = tuple(_notes(record, room, game))
        return replace(game, notes=notes, notes_dropped=(1,) * record.rules.players)

    rooms = tuple(
        replace(room, games=tuple(noted(room, game) for game in room.games))
        for room in record.rooms
    )
    return replace(record, rooms=rooms)


def _notes(record: MatchRecord, room: RoomRecord, game: GameRecord) -> Iterator[Noted]:
    hand = decision = 0
    seating = room.seating_of(game)
    for event in replay(record, room=room.number, game=game.number):
        if isinstance(event, HandStarted):
            hand, decision = event.number, 0
        elif isinstance(event, Decided):
            decision += 1
            name = record.entrants[seating[event.seat]].name
            note = Note(f"{name} thinks", (("decision", float(decision)),))
            yield Noted(hand=hand, decision=decision, seat=event.seat, note=note)
