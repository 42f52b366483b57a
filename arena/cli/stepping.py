"""``arena replay`` on a terminal: whether it can be a program there, and what that shows."""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

from arena.telling import entrant_labels
from arena.tui.reel import At, NoSuchPlace, Reel, Tape
from arena.wording import printable
from hokm.cards import Seat
from hokm.events import Event
from hokm.notation import hand_events
from hokm.records import GameRecord, HandRecord, MatchRecord, Place, RoomRecord
from hokm.records.replays import SeedsByGame, dealt_again, played, seeds_by_game
from hokm.rules.options import Rules


def is_possible() -> bool:
    """Whether somebody sits at a terminal, and what the program needs is installed."""
    streams = (sys.stdin, sys.stdout, sys.stderr)  # the program draws on the last of them
    if not all(stream.isatty() for stream in streams) or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        import textual  # noqa: F401  # is it there?
    except ModuleNotFoundError:
        print("to step through it: pip install 'hokm-arena[tui]'", file=sys.stderr)
        return False
    return True


def step_through(reel: Reel, *, hand: int | None, seat: Seat | None, in_letters: bool) -> None:
    """Show games, from the deal of that hand of the first one on; when it is left, print the hands
    that were copied.
    """
    from arena.tui.screen import Replay

    at = At(0, 0)
    if hand is not None:
        with suppress(NoSuchPlace):  # the record leaves the rules before it
            at = reel.of_hand(0, hand)
    replay = Replay(reel, at=at, eyes=seat, in_letters=in_letters)
    replay.run()
    for text in replay.texts:
        print(text)


def reel_of_match(
    record: MatchRecord, games: Iterable[tuple[RoomRecord, GameRecord]], *, lost: str | None = None
) -> Reel:
    """These games of a record, which are those that a bot ``lost`` if there is a name."""
    labels, table = entrant_labels(record), seeds_by_game(record)
    tapes = [
        Tape(
            room=room.number,
            game=game,
            rules=record.rules,
            names=tuple(labels[index] for index in room.seating_of(game)),
            clock=record.clock,
            events=partial(_events, record, room, game, table=table),
        )
        for room, game in games
    ]
    by_whom = "" if lost is None else f", lost by {lost}"
    return Reel(printable(f"{record.match}{by_whom}"), tapes)


def reel_of_hands(title: str, hands: Sequence[tuple[Rules, HandRecord]]) -> Reel:
    """Hands that were pasted."""
    tapes = [
        Tape(
            room=None,
            game=GameRecord(number=number, hands=(hand,)),
            rules=rules,
            names=(),
            clock=None,
            events=partial(hand_events, rules, hand),
        )
        for number, (rules, hand) in enumerate(hands, start=1)
    ]
    return Reel(printable(title), tapes)


def _events(
    record: MatchRecord, room: RoomRecord, game: GameRecord, *, table: SeedsByGame
) -> Iterable[Event]:
    place = Place(room=room.number, game=game.number)
    return played(dealt_again(record, game, place=place, table=table), game, place=place)
