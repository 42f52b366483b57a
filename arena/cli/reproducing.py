"""What ``arena repro`` does: finds the games and the bot, and prints what differs."""

import functools
import math
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import trio

from arena.cli import show
from arena.cli.errors import Misuse
from arena.cli.pasting import pasted_text
from arena.cli.places import environments, named_bot, running_folder, temporary_folder
from arena.conformance.talk import HELLO_SECONDS, launched
from arena.ladder.bots.entrants import BotError, Entrant, find_bot, load_bot
from arena.repro.feeding import Ask as Feed
from arena.repro.feeding import Found, feed
from arena.repro.foreground import in_foreground
from arena.repro.retelling import Difference, told_games
from arena.wording import counted, printable
from hokm.notes import Note
from hokm.records import EntrantRecord, GameRecord, MatchRecord, RoomRecord, load
from hokm.rules.options import Play

LEAST_ANSWER_SECONDS = 10.0
"""How long an answer may take at the least: nobody's clock runs, and the machine may be another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena repro``; None leaves a thing to its default."""

    file: Path
    seat: int
    room: int
    game: int | None
    hand: int | None
    bot: str | None
    is_paced: bool
    stops_at_first: bool
    is_debugged: bool
    wheels: Path | None


def reproduce(ask: Ask, *, as_json: bool) -> bool:
    """Tell it all again and print what came of it; whether the bot did the same."""
    if ask.is_debugged and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse("--debug runs the bot on this terminal, and there is none")
    record = load(ask.file)
    room, games, until_hand = _chosen(record, ask)
    known_as = record.entrants[room.seating[ask.seat]]
    entrant = _bot(ask, known_as)
    entrant = environments(ask.wheels).prepared(entrant)
    if entrant.digest != known_as.digest and not known_as.is_remote:
        _say(
            f"note: {entrant.folder} is not what played as {known_as.name}: its digest is "
            f"{entrant.digest[:12]}…, on record is {known_as.digest[:12]}…"
        )
    temporary = temporary_folder()
    feeding = Feed(
        record=record,
        room=room,
        games=games,
        slot=ask.seat,
        entrant=entrant,
        python=sys.executable,
        running=running_folder(otherwise=temporary),
        logs=temporary,
        answer_seconds=math.inf if ask.is_debugged else _answer_seconds(record),
        until_hand=until_hand,
        is_paced=ask.is_paced,
        stops_at_first=ask.stops_at_first,
        hello_seconds=math.inf if ask.is_debugged else HELLO_SECONDS,
        start=in_foreground if ask.is_debugged else launched,
        is_watched=ask.is_debugged,
        all_told=_leave_debugger if ask.is_debugged else _nothing,
    )
    tell = _hold if as_json else _Printer().print
    if ask.is_debugged:
        # Ctrl-C is for the debugger. A handler, since what is ignored is ignored in the bot too.
        signal.signal(signal.SIGINT, lambda *_: None)
    try:
        found = trio.run(functools.partial(feed, feeding, tell=tell))
    finally:
        rmtree(temporary, ignore_errors=True)
    if as_json:
        show.print_json(_json(found, record, known_as, entrant))
    else:
        _print_found(found, feeding, known_as)
    return not found.differences and not found.problem


# -- what is to be told, and to whom


def _chosen(record: MatchRecord, ask: Ask) -> tuple[RoomRecord, Sequence[GameRecord], int | None]:
    """The room, the games, and the last hand; raises Misuse for what is not there."""
    if ask.seat >= record.rules.players:
        raise Misuse(f"--seat {ask.seat}: this table has seats 0 to {record.rules.players - 1}")
    room = next((one for one in record.rooms if one.number == ask.room), None)
    if room is None:
        raise Misuse(f"--room {ask.room}: this record has rooms 1 to {len(record.rooms)}")
    number, hand = ask.game, ask.hand
    if hand is not None and record.rules.play is Play.BOARDS:
        if number is not None:
            raise Misuse("a board has one hand: give --game or --hand, not both")
        number, hand = hand, None  # what people call a hand of such a match
    elif hand is not None and number is None:
        number = 1
    games = [game for game in told_games(room) if number in (None, game.number)]
    if not games:
        which = "no game" if number is None else f"no game {number}"
        raise Misuse(f"its bots were told of {which} in room {room.number}")
    if hand is not None and not any(one.number == hand for one in games[0].hands):
        raise Misuse(f"--hand {hand}: the last hand of game {number} is {len(games[0].hands)}")
    return room, games, hand


def _bot(ask: Ask, known_as: EntrantRecord) -> Entrant:
    """The bot that is told again: the one named, the copy of a ladder that the record is of, or
    one by its name.
    """
    if ask.bot is not None:
        return named_bot(ask.bot)
    for folder in ask.file.resolve().parents:
        copy = folder / "bots" / known_as.digest
        if (folder / "ladder.toml").is_file() and copy.is_dir():
            return load_bot(copy)
    try:
        return load_bot(find_bot(known_as.name))
    except BotError as error:
        raise Misuse(
            f"the files of {known_as.name} are not found here ({error}); give --bot FOLDER"
        ) from error


def _answer_seconds(record: MatchRecord) -> float:
    clock = record.clock
    return max(LEAST_ANSWER_SECONDS, 2 * (clock.move_seconds + clock.bank_seconds))


# -- what is printed


def _leave_debugger() -> None:
    _say("all is told: leave the debugger (q in pdb), and what differs is printed")


def _nothing() -> None: ...


def _hold(_: Difference) -> None:
    """Told at the end."""


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr)


class _Printer:
    """Prints each difference when it is found; of a hand the first with the hand as a text."""

    def __init__(self) -> None:
        self._pasted: set[tuple[int | None, int | None]] = set()

    def print(self, difference: Difference) -> None:
        """Print one difference, and its hand if that is a new one."""
        hand = difference.place.game, difference.place.hand
        console = show.results()
        for line in _difference_lines(difference, is_pasted=hand not in self._pasted):
            show.print_line(console, line)
        show.print_line(console, "")
        self._pasted.add(hand)


def _difference_lines(difference: Difference, *, is_pasted: bool) -> Iterator[str]:
    trick = "" if difference.trick is None else f", trick {difference.trick}"
    yield f"{difference.place}{trick}: seat {difference.seat}"
    for label, what, note in (
        ("on record", difference.recorded, difference.recorded_note),
        ("now", difference.now, difference.note),
    ):
        noted = "" if note is None else f"  ({printable(str(note))})"
        yield f"  {label:<9}  {printable(what)}{noted}"
    yield from (f"  {line}" for line in difference.sees)
    if difference.text and is_pasted:
        yield from pasted_text(difference.text)


def _print_found(found: Found, feeding: Feed, known_as: EntrantRecord) -> None:
    console = show.results()
    name, room = printable(known_as.name), feeding.room.number
    if found.log.strip():
        show.print_line(console, "it was lost; the end of what it printed:")
        for line in found.log.rstrip().splitlines()[-15:]:
            show.print_line(console, f"  | {printable(line)}")
    games = counted(len(found.games), "game")
    told = f"{counted(found.compared, 'decision')} of {name}, seat {feeding.slot} of room {room}, "
    told += f"in {games}"
    if found.problem:
        show.print_line(console, printable(found.problem))
    elif found.differences:
        many = counted(len(found.differences), "difference")
        show.print_line(console, f"{many} in {told}")
    else:
        show.print_line(console, f"the same: {told}")


def _json(
    found: Found, record: MatchRecord, known_as: EntrantRecord, entrant: Entrant
) -> dict[str, object]:
    return {
        "match": record.match,
        "bot": known_as.name,
        "digest": known_as.digest,
        "digest_now": entrant.digest,
        "games": found.games,
        "decisions": found.compared,
        "problem": found.problem or None,
        "differences": [
            {
                "room": one.place.room,
                "game": one.place.game,
                "hand": one.place.hand,
                "step": one.place.step,
                "trick": one.trick,
                "seat": int(one.seat),
                "recorded": one.recorded,
                "now": one.now,
                "sees": list(one.sees),
                "text": one.text,
                "recorded_note": _note_json(one.recorded_note),
                "note": _note_json(one.note),
            }
            for one in found.differences
        ],
    }


def _note_json(note: Note | None) -> dict[str, object] | None:
    return None if note is None else {"text": note.text, "numbers": dict(note.numbers)}
