"""Golden playthroughs: one text a table, of all that happens there and what each seat sees of it.

    python tests/playthroughs/regenerate.py

writes them anew. Nobody edits them: whoever changes the rules or what is shown runs this, and the
difference is what there is to review. An event is written as it happened, and after a bar what
others see in its place; a decision has the number of legal actions after a slash. Plays stand in
one line a trick, since everybody sees them whole; a play that somebody did not would stand alone.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from hashlib import sha256
from pathlib import Path
from textwrap import wrap

from hokm.actions import Action, DeclareTrump
from hokm.cards import Card, Seat, Suit, Trump
from hokm.deck import shuffled
from hokm.events import CardPlayed, CardTurned, Event, HandStarted, TrickTaken
from hokm.rules.game import Board, Game, Race
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of

FOLDER = Path(__file__).parent
COLUMNS = 100

Choose = Callable[[str, Sequence[Action]], Action]
"""Chooses one of the legal actions for the decision of that name."""


def first_legal(decision: str, legal: Sequence[Action]) -> Action:
    """Every seat takes the first of its legal actions."""
    return legal[0]


def by_hash(decision: str, legal: Sequence[Action]) -> Action:
    """Every seat takes the legal action that the hash of the decision's name points at."""
    return legal[int.from_bytes(sha256(decision.encode()).digest()[:8], "big") % len(legal)]


def naming(trump: Trump) -> Choose:
    """The hakem names that trump; else by the hash."""

    def choose(decision: str, legal: Sequence[Action]) -> Action:
        wanted = DeclareTrump(trump)
        return wanted if wanted in legal else by_hash(decision, legal)

    choose.__doc__ = f"The hakem names {trump.letter}, and every seat plays by the hash."
    return choose


@dataclass(frozen=True, slots=True)
class Playthrough:
    """A table, and how its games are played: boards 1, 2 and so on, or races, one for each
    ``choices``.
    """

    players: int
    play: Play
    options: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[Choose, ...] = (by_hash, first_legal)

    @property
    def rules(self) -> Rules:
        """The rules of the table."""
        return Rules.of(self.players, play=self.play, options=self.options)


def _boards(players: int, *choices: Choose, **options: str) -> Playthrough:
    return Playthrough(players, Play.BOARDS, options, choices or (by_hash, first_legal))


def _race(players: int, **options: str) -> Playthrough:
    return Playthrough(players, Play.RACE, options, (by_hash,))


_ALL_MODES = "suit,sar,nar,tak_nar"
_OTHER_POINTS = {"points_win": "2", "points_kot": "5", "points_hakem_kot": "9"}

PLAYTHROUGHS: Mapping[str, Playthrough] = {
    "4-boards": _boards(4),
    "4-boards-first_round": _boards(4, pause_after="first_round"),
    "4-boards-right_opponent": _boards(4, pause_after="right_opponent"),
    "4-boards-play_out": _boards(4, play_out="on"),
    "4-boards-sar": _boards(4, naming(Trump.SAR), modes=_ALL_MODES),
    "4-boards-nar": _boards(4, naming(Trump.NAR), modes=_ALL_MODES, kot_in_modes="on"),
    "4-boards-tak_nar": _boards(4, naming(Trump.TAK_NAR), modes=_ALL_MODES),
    "4-race": _race(4, target_points="2"),
    "4-race-cut": _race(4, target_points="2", cut="on", next_hakem="left"),
    "4-race-second_ace": _race(4, target_points="1", teams="second_ace"),
    "4-race-random": _race(4, target_points="1", first_hakem="random"),
    "4-race-seat": _race(4, target_points="2", first_hakem="seat:2", **_OTHER_POINTS),
    "3-boards": _boards(3),
    "3-boards-hakem": _boards(3, pause_after="hakem"),
    "3-boards-removed_two": _boards(3, removed_two="S"),
    "3-boards-sar": _boards(3, naming(Trump.SAR), modes=_ALL_MODES, removed_two="D"),
    "3-boards-nar": _boards(3, naming(Trump.NAR), modes=_ALL_MODES),
    "3-boards-tak_nar": _boards(
        3, naming(Trump.TAK_NAR), modes=_ALL_MODES, removed_two="H", kot_in_modes="on"
    ),
    "3-race": _race(3, target_points="2", next_hakem="right"),
    "3-race-random": _race(3, target_points="2", first_hakem="random", next_hakem="winner"),
    "3-race-seat": _race(3, target_points="2", first_hakem="seat:1", **_OTHER_POINTS),
    "2-boards": _boards(2),
    "2-boards-private": _boards(2, draw_choice_public="off"),
    "2-boards-sar": _boards(2, naming(Trump.SAR), modes=_ALL_MODES),
    "2-boards-nar": _boards(2, naming(Trump.NAR), modes=_ALL_MODES, kot_in_modes="on"),
    "2-boards-tak_nar": _boards(2, naming(Trump.TAK_NAR), modes=_ALL_MODES),
    "2-race": _race(2, target_points="2", first_hakem="random", play_out="on"),
    "2-race-ace_draw": _race(2, target_points="1", first_hakem="ace_draw"),
    "2-race-seat": _race(2, target_points="2", first_hakem="seat:1", **_OTHER_POINTS),
}
"""Every playthrough by the name of its file."""


def text_of(name: str) -> str:
    """The playthrough of that name, as its file has it."""
    return "\n".join(_lines(name, PLAYTHROUGHS[name])) + "\n"


def _lines(name: str, playthrough: Playthrough) -> Iterator[str]:
    yield "# Written by tests/playthroughs/regenerate.py, and not by hand."
    rules = playthrough.rules
    options = " ".join(f"{option}={text}" for option, text in rules.options().items())
    yield from _wrapped(f"table: {rules.players} players, {rules.play.value}, {options}")
    for number, choose in enumerate(playthrough.choices, start=1):
        seed = f"{name}/{number}"
        yield ""
        yield f"game {number}, seed: the SHA-256 of {seed!r}, a slash and the hand"
        yield f"{choose.__doc__}"
        game = _game(rules, seed, number=number)
        yield from _game_lines(game, choose, seed=seed)


def _game(rules: Rules, seed: str, *, number: int) -> Game:
    def seed_of(hand: int) -> bytes:
        return sha256(f"{seed}/{hand}".encode()).digest()

    if rules.play is Play.RACE:
        return Race(rules, seed_of)
    return Board(rules, shuffled(variant_of(rules).pack, seed_of(1)), number=number)


def _game_lines(game: Game, choose: Choose, *, seed: str) -> Iterator[str]:
    writer = _Writer(game.variant.seats)
    yield from writer.write(game.start(), legal=0)
    decisions = 0
    while (seat := game.to_act) is not None:
        decisions += 1
        legal = game.legal_actions()
        action = choose(f"{seed}/{decisions}", legal)
        yield from writer.write(game.act(seat, action), legal=len(legal))
    yield from writer.flush()
    yield f"{decisions} decisions"
    yield f"Outcome {_fields(game.outcome)}"


class _Writer:
    """Writes events; what everybody sees whole and comes often is gathered in one line."""

    def __init__(self, seats: int) -> None:
        self._seats = [Seat(seat) for seat in range(seats)]
        self._gathered: list[str] = []

    def write(self, events: Sequence[Event], *, legal: int) -> Iterator[str]:
        """Events that a decision among so many legal actions led to; 0 for none."""
        for place, event in enumerate(events):
            # The first event is the decision itself.
            count = f"/{legal}" if legal and place == 0 else ""
            others = self._others(event)
            match event:
                case CardPlayed(seat, card) | CardTurned(seat, card) if not others:
                    if isinstance(event, CardTurned) and not self._gathered:
                        self._gathered.append("turned up:")
                    self._gathered.append(f"{seat} {card}{count}")
                case TrickTaken(seat) if not others and self._gathered:
                    self._gathered.append(f"taken by {seat}")
                    yield from self.flush()
                case _:
                    yield from self.flush()
                    if isinstance(event, HandStarted):
                        yield ""
                    yield from _wrapped(f"{type(event).__name__}{count} {_fields(event)}{others}")

    def flush(self) -> Iterator[str]:
        """What was gathered."""
        if self._gathered:
            yield from _wrapped("  " + "  ".join(self._gathered))
            self._gathered.clear()

    def _others(self, event: Event) -> str:
        """What is seen by those who do not see it whole."""
        seen: dict[str, list[Seat]] = {}
        for seat in self._seats:
            its = event.seen_by(seat)
            if its != event:
                seen.setdefault(_difference(event, its), []).append(seat)
        return "".join(f" | {' '.join(map(str, seats))}: {what}" for what, seats in seen.items())


def _difference(whole: Event, seen: Event) -> str:
    if type(seen) is not type(whole):
        return f"{type(seen).__name__} {_fields(seen)}"
    pairs = [(name, getattr(whole, name), getattr(seen, name)) for name in _names(whole)]
    return " ".join(f"{name}={_text(its)}" for name, is_, its in pairs if is_ != its)


def _fields(value: object) -> str:
    return " ".join(f"{name}={_text(getattr(value, name))}" for name in _names(value))


def _names(value: object) -> list[str]:
    assert is_dataclass(value)
    return [one.name for one in fields(value)]


def _text(value: object) -> str:
    match value:
        case None:
            return "-"
        case Trump() | Suit():
            return value.letter
        case Card():
            return str(value)
        case Enum():
            return str(value.value)
        case tuple():
            return ",".join(map(_text, value)) or "none"
        case _ if is_dataclass(value):
            return f"({_fields(value)})"
        case _:
            return str(value)


def _wrapped(line: str) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())] + "  "
    return wrap(line, COLUMNS, subsequent_indent=indent, break_long_words=False)


def main() -> None:
    """Write every file anew, and remove what no playthrough has."""
    wanted = {FOLDER / f"{name}.txt": name for name in PLAYTHROUGHS}
    for file in set(FOLDER.glob("*.txt")) - set(wanted):
        file.unlink()
    for file, name in wanted.items():
        file.write_text(text_of(name), encoding="utf-8")
    sys.stdout.write(f"{len(wanted)} playthroughs written; see what changed with git diff\n")


if __name__ == "__main__":
    main()
