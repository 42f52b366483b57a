"""The process of a person at a table: a bot like any other, but that it asks whoever sits there.

It comes to the referee with a ticket, as all bots do, and knows no more than its seat is told. What
is shown is in :mod:`arena.cli.seated`, what is understood in :mod:`arena.cli.asking`.
"""

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.console import Console

from arena.cli.asking import HELP, Misunderstood, Wish, understood
from arena.cli.paint import has_suits, put
from arena.cli.seated import Seated, prompt
from arena.telling import LEGEND, Line, Words, line
from hokm import Bot, run
from hokm.actions import (
    Action,
    ChooseDraw,
    CutDeck,
    DeclareTrump,
    DiscardCards,
    Draw,
    PlayCard,
)
from hokm.cards import Card, Trump
from hokm.outcome import HandResult, Outcome
from hokm.view import View

LEFT: Final = 4
"""The exit status of somebody who left the table."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where a person is asked: ``ask`` shows a prompt and gives what was typed, and raises EOFError
    where nothing will be any more; ``show`` shows lines.
    """

    ask: Callable[[str], str]
    show: Callable[[Iterable[Line]], None]
    in_letters: bool = False


class Person(Bot):
    """Asks a person, in words and lines; :func:`person_at` makes one for a terminal."""

    terminal: ClassVar[Terminal]

    def game_started(self, view: View) -> None:
        """See :class:`hokm.Bot`."""
        self._seated = Seated(Words(view.variant, in_letters=self.terminal.in_letters))

    def cut(self, view: View) -> int:
        """See :class:`hokm.Bot`."""
        action = self._decide(view)
        assert isinstance(action, CutDeck)
        return action.position

    def declare(self, view: View) -> Trump:
        """See :class:`hokm.Bot`."""
        action = self._decide(view)
        assert isinstance(action, DeclareTrump)
        return action.trump

    def discard(self, view: View, count: int) -> Sequence[Card]:
        """See :class:`hokm.Bot`."""
        action = self._decide(view)
        assert isinstance(action, DiscardCards)
        return action.cards

    def keep(self, view: View) -> bool:
        """See :class:`hokm.Bot`."""
        action = self._decide(view)
        assert isinstance(action, ChooseDraw)
        return action.choice is Draw.KEEP

    def play(self, view: View) -> Card:
        """See :class:`hokm.Bot`."""
        action = self._decide(view)
        assert isinstance(action, PlayCard)
        return action.card

    def hand_ended(self, view: View, result: HandResult) -> None:
        """See :class:`hokm.Bot`."""
        self._show(self._seated.hand_ended(view, result))

    def game_ended(self, view: View, outcome: Outcome) -> None:
        """See :class:`hokm.Bot`."""
        self._show(self._seated.over(view, outcome))

    def _decide(self, view: View) -> Action:
        """Ask until what is said can be done."""
        self._show(self._seated.asked(view))
        while True:
            said = understood(self._typed(prompt(view)), view)
            match said:
                case Wish.TABLE:
                    self._show(self._seated.table(view))
                case Wish.LAST_TRICK:
                    self._show(self._seated.last_trick(view))
                case Wish.HELP:
                    self._show(map(line, [*HELP.splitlines(), f"  {LEGEND}"]))
                case Wish.LEAVE:
                    question = "  Leave the table? The game ends here (y, n) > "
                    if self._typed(question).strip().casefold() in ("y", "yes"):
                        raise SystemExit(LEFT)
                case Misunderstood(why):
                    self._show([line(f"  {why}")])
                case action:
                    return action

    def _typed(self, prompt: str) -> str:
        try:
            return self.terminal.ask(prompt)
        except EOFError:
            raise SystemExit(LEFT) from None

    def _show(self, lines: Iterable[Line]) -> None:
        self.terminal.show(lines)


def person_at(terminal_: Terminal, *, name_: str = "") -> type[Person]:
    """The class of a person at that terminal, and of that name."""

    class There(Person):
        """A person who sits there."""

        terminal = terminal_
        name = name_

    return There


def this_terminal() -> Terminal:
    """Standard input and output."""
    console = Console(highlight=False)

    def show(lines: Iterable[Line]) -> None:
        """Print the lines now, whoever reads."""
        for one in lines:
            put(console, one)
        sys.stdout.flush()

    def ask(prompt: str) -> str:
        """One line that is typed; raises EOFError at the end of input."""
        try:
            typed = input(prompt)
        except (EOFError, KeyboardInterrupt):
            print()
            raise
        if not sys.stdin.isatty():  # nobody has seen it
            print(typed)
        return typed

    return Terminal(ask=ask, show=show, in_letters=not has_suits(console))


def main() -> None:
    """Play as the arena asks that started this process, under the name that is its argument."""
    [name] = sys.argv[1:]
    # What the library would warn of is of the protocol, and no matter of who sits here.
    logging.getLogger("hokm").addHandler(logging.NullHandler())
    run(person_at(this_terminal(), name_=name))


if __name__ == "__main__":
    main()
