"""What ``arena replay`` shows: which hands of a file, told line by line or as short texts, if they
are not stepped through (:mod:`arena.cli.stepping`).
"""

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from arena.cli import show, stepping
from arena.cli.errors import Misuse
from arena.cli.paint import has_suits, put
from arena.cli.pasting import pasted
from arena.cli.places import entrants_named, tell
from arena.ladder.matches.scores import score
from arena.telling import (
    DECIDED,
    LEGEND,
    Line,
    Teller,
    ending_lines,
    entrant_labels,
    labelled,
    line,
    note_line,
    refusal_line,
    table_text,
)
from arena.wording import printable
from hokm.cards import Seat
from hokm.errors import NotationError
from hokm.events import CardPlayed, Event, HandEnded, HandStarted
from hokm.notation import hand_events, hand_text, parse_hands
from hokm.records import (
    Format,
    GameRecord,
    HandRecord,
    MatchRecord,
    Noted,
    Place,
    RecordError,
    Refusal,
    ReplayError,
    RoomRecord,
    from_json,
    load,
)
from hokm.records.files import LARGEST_BYTES, refuse_irregular
from hokm.records.replays import dealt_again, played, seeds_by_game
from hokm.rules.options import Rules

STDIN = Path("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena replay``; None chooses all."""

    file: Path
    room: int | None
    game: int | None
    hand: int | None
    seat: int | None
    in_steps: bool
    as_text: bool
    is_plain: bool = False
    lost: str | None = None


def replay_file(ask: Ask) -> None:
    """Show what was asked for."""
    what = _read(ask.file)
    tables = [what.rules] if isinstance(what, MatchRecord) else [rules for rules, _ in what]
    seats = min(rules.players for rules in tables)
    if ask.seat is not None and ask.seat >= seats:
        raise Misuse(f"--seat {ask.seat}: this table has seats 0 to {seats - 1}")
    if ask.in_steps and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse("--step waits for Enter, which needs a terminal on both sides")
    console = show.results()
    style = _Style(None if ask.seat is None else Seat(ask.seat), in_letters=not has_suits(console))
    choosing = (ask.room, ask.game, ask.hand, ask.lost)
    if not isinstance(what, MatchRecord) and any(one is not None for one in choosing):
        raise Misuse(
            "--room, --game, --hand and --lost choose from a record, and this is a hand's text"
        )
    chosen = list(_chosen(what, ask)) if isinstance(what, MatchRecord) else []
    if ask.lost is not None and not chosen:
        return
    is_printed = ask.is_plain or ask.as_text or ask.in_steps
    if not is_printed and stepping.is_possible():
        if isinstance(what, MatchRecord):
            reel = stepping.reel_of_match(what, chosen, lost=ask.lost)
        else:
            reel = stepping.reel_of_hands(str(ask.file), what)
        stepping.step_through(reel, hand=ask.hand, seat=style.seat, in_letters=style.in_letters)
        return
    if isinstance(what, MatchRecord):
        lines = (
            _texts_of_match(what, chosen, ask) if ask.as_text else _match(what, chosen, ask, style)
        )
    else:
        lines = _texts(what) if ask.as_text else _hands(what, style)
    _print(lines, console, in_steps=ask.in_steps)


# -- what there is


def _read(file: Path) -> MatchRecord | tuple[tuple[Rules, HandRecord], ...]:
    """A record, or the hands of a text; which of them is seen by how it begins."""
    if file != STDIN and file.suffix in (".json", ".gz"):
        return load(file)
    name = "stdin" if file == STDIN else str(file)
    try:
        if file == STDIN:
            data = sys.stdin.buffer.read(LARGEST_BYTES + 1)
        else:
            refuse_irregular(file)
            with file.open("rb") as stream:
                data = stream.read(LARGEST_BYTES + 1)
        if len(data) > LARGEST_BYTES:
            raise RecordError(f"over {LARGEST_BYTES} bytes: no record is that long")
        if data.lstrip()[:1] == b"{":
            return from_json(data)
        return parse_hands(data.decode())
    except RecordError as error:
        raise RecordError(f"{name}: {error}") from None
    except NotationError as error:
        raise NotationError(f"{name}: {error}") from None
    except UnicodeDecodeError:
        raise NotationError(f"{name}: neither a record (.json, .json.gz) nor a text") from None


_Game = tuple[RoomRecord, GameRecord]


def _chosen(record: MatchRecord, ask: Ask) -> Iterator[_Game]:
    """The games asked for; raises Misuse for what is not there."""
    rooms = [room for room in record.rooms if ask.room in (None, room.number)]
    if not rooms:
        raise Misuse(f"--room {ask.room}: this record has rooms 1 to {len(record.rooms)}")
    games = [(room, game) for room in rooms for game in room.games]
    if ask.lost is not None:
        lost = _lost(record, ask.lost)
        # How a board was lost shows beside the other rooms.
        games.sort(key=lambda one: one[1].number)
        games = [one for one in games if one[1].number in lost]
        if not games:
            return
    of_number = [one for one in games if ask.game in (None, one[1].number)]
    if not of_number:
        if ask.lost is not None:
            raise Misuse(f"--game {ask.game}: it is none of those that were lost")
        raise Misuse(f"--game {ask.game}: this record has games 1 to {record.games}")
    if ask.hand is None:
        yield from of_number
        return
    with_hand = [one for one in of_number if any(hand.number == ask.hand for hand in one[1].hands)]
    if not with_hand:
        most = max(len(game.hands) for _, game in of_number)
        raise Misuse(f"--hand {ask.hand}: the last hand of what was chosen is {most}")
    yield from with_hand


def _lost(record: MatchRecord, name: str) -> set[int]:
    """The boards that a bot lost, which are told beside what is shown."""
    entrants = entrants_named(record, name, option="--lost")
    result = score(record)
    lost = {board for entrant in entrants for board in result.lost(entrant)}
    numbers = ": " + ", ".join(map(str, sorted(lost))) if lost else ""
    unit = "boards" if record.format is Format.BOARDS else "pairs of races"
    counting = len(result.boards)
    left = record.games - counting
    beside = f"; not counted: {left} that not every room finished" if left else ""
    tell(f"{name} lost {len(lost)} of {counting} {unit}{numbers}{beside}")
    return lost


# -- as short texts


def _texts_of_match(record: MatchRecord, games: Iterable[_Game], ask: Ask) -> Iterator[Line]:
    for room, game in games:
        for hand in game.hands:
            if ask.hand in (None, hand.number):
                place = f"room {room.number}, game {game.number}, hand {hand.number}"
                yield line(f"# {printable(record.match)}, {place}")
                yield from _text(record.rules, hand)


def _texts(hands: Iterable[tuple[Rules, HandRecord]]) -> Iterator[Line]:
    for rules, hand in hands:
        yield from _text(rules, hand)


def _text(rules: Rules, hand: HandRecord) -> Iterator[Line]:
    yield from map(line, hand_text(rules, hand).splitlines())
    yield line()


# -- told


@dataclass(frozen=True, slots=True)
class _Style:
    """Whose eyes see it, None for all; and whether cards are written in letters."""

    seat: Seat | None
    in_letters: bool


def _hands(hands: Iterable[tuple[Rules, HandRecord]], style: _Style) -> Iterator[Line]:
    for rules, hand in hands:
        yield line(table_text(rules))
        yield line(LEGEND)
        yield from _told(rules, hand_events(rules, hand), style)
        yield line()


def _match(record: MatchRecord, games: Iterable[_Game], ask: Ask, style: _Style) -> Iterator[Line]:
    labels, table = entrant_labels(record), seeds_by_game(record)
    yield line(f"{printable(record.match)}: {table_text(record.rules)}")
    yield line(LEGEND)
    for room, game in games:
        seating = room.seating_of(game)
        names = [labels[index] for index in seating]
        yield line()
        yield line(f"room {room.number}, game {game.number}")
        for seat, name in enumerate(names):
            yield labelled(f"seat {seat}", name)
        place = Place(room=room.number, game=game.number)
        events = played(dealt_again(record, game, place=place, table=table), game, place=place)
        refusals, notes = game.refusals, game.notes
        if ask.hand is not None:
            events = _of_hand(events, ask.hand)
            refusals = tuple(refusal for refusal in refusals if refusal.hand == ask.hand)
        yield from _told(record.rules, events, style, refusals, notes)
        if ask.hand in (None, len(game.hands)):
            yield from ending_lines(record.rules, game, names)
            at_fault = None if game.outcome is None else game.outcome.at_fault
            is_offered = at_fault is not None or ask.lost is not None
            if is_offered and game.hands and style.seat is None:  # it shows all cards
                yield from map(line, pasted(record.rules, game.hands[-1]))


def _of_hand(events: Iterable[Event], number: int) -> Iterator[Event]:
    is_on = False
    for event in events:
        if isinstance(event, HandStarted):
            if is_on:
                return
            is_on = event.number == number
        if is_on:
            yield event


def _told(
    rules: Rules,
    events: Iterable[Event],
    style: _Style,
    refusals: Sequence[Refusal] = (),
    notes: Sequence[Noted] = (),
) -> Iterator[Line]:
    """Events of a game or a hand, as far as they may be told; raises ReplayError where they leave
    the rules.
    """
    seat = style.seat
    # A refusal is told to its sender alone (rulebook 7), and a note is for its bot's owner.
    told_later = deque(refusal for refusal in refusals if seat in (None, refusal.seat))
    noted = {(one.hand, one.decision): one for one in notes if seat in (None, one.seat)}
    teller = Teller(rules, eyes=seat, in_letters=style.in_letters)
    due: list[Line] = []
    hand = decision = 0
    try:
        for event in events:
            if isinstance(event, HandStarted):
                hand, decision = event.number, 0
            elif isinstance(event, DECIDED):
                decision += 1
                if (note := noted.get((hand, decision))) is not None:
                    due.append(note_line(note.seat, note.note))
            elif isinstance(event, HandEnded):
                while told_later and told_later[0].hand <= hand:
                    yield refusal_line(told_later.popleft())
            yield from teller.tell(event if seat is None else event.seen_by(seat))
            if not isinstance(event, CardPlayed):  # those of a trick stand below it
                yield from due
                due.clear()
    except ReplayError as error:
        yield from (*teller.rest(), *due)
        if seat is None:
            raise
        # Why a seat may not do something is said from what it holds.
        what = "the hand leaves the rules here; without --seat it is said how"
        raise ReplayError(what, error.place) from None
    yield from (*teller.rest(), *due, *map(refusal_line, told_later))


# -- printed


def _print(lines: Iterable[Line], console: Console, *, in_steps: bool) -> None:
    """Line by line as they come: nobody waits for the end of a long record."""
    try:
        _print_each(lines, console, in_steps=in_steps)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has seen enough, as `head` has. What is left must not fail at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_each(lines: Iterable[Line], console: Console, *, in_steps: bool) -> None:
    if in_steps:
        print("Enter shows the next trick, Ctrl-D all that is left", file=sys.stderr)
    for one in lines:
        put(console, one)
        if in_steps and one.ends_trick:
            in_steps = bool(sys.stdin.readline())
