"""The program that shows recorded games in a terminal: keys, and where things stand on the screen.

What is shown is made in :mod:`arena.tui.scene`, where one goes is said by :mod:`arena.tui.reel`;
here are Textual's widgets and nothing of the game.
"""

from collections.abc import Iterable
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from arena.telling import LEGEND, Line
from arena.tui.reel import At, NoSuchPlace, Reel, Unit, hand_until
from arena.tui.scene import scene
from hokm.cards import Seat
from hokm.notation import hand_text

KEYS = f"""\
right, left     the next decision, the last one (also l, h, space)
down, up        to the end of the next trick, of the last one (also j, k)
], [            the next hand, the beginning of this one or the last
}}, {{            the next game, the beginning of this one or the last
home, end       the beginning and the end of this game
g               go: 12.3 is trick 3 of hand 12, with boards of board 12;
                2.12.3 is in game 2, and 1/ before it in room 1
/               find a card (TC, T♣), a player, seat 2, fault, or a piece of
                a note, of what was refused, of a cause
n, N            find it again, onwards or backwards
o               open the cards, or close them again
0, 1, 2, 3      close them but for what this seat saw; its notes alone
t, T            copy this hand as text, as far as it is played or whole;
                it is printed again when the program ends
page up, down   move the story
q               leave

{LEGEND}"""


class Page(ModalScreen[None]):
    """A text over everything, until a key is pressed."""

    DEFAULT_CSS = """
    Page { align: center middle; }
    Page VerticalScroll { width: 80; max-width: 100%; height: auto; max-height: 100%;
                          border: round $primary; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "leave", "back", key_display="esc")
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """The text."""
        with VerticalScroll():
            yield Static(Content(self._text))
        yield Footer(compact=True)

    def action_leave(self) -> None:
        """Back to the game."""
        self.dismiss(None)


class Replay(App[None]):
    """Shows the games of a ``reel``, from the place ``at`` on; ``eyes`` as for a scene.

    Attributes:
        at: the place that is shown.
        eyes: the seat that looks, None where all cards are open.
        texts: the hands that were copied.
    """

    CSS = """
    #heading, #table, #remarks { height: auto; padding: 0 1; }
    #heading { background: $panel; }
    #table { margin-top: 1; }
    #remarks { max-height: 5; }
    #story { height: 1fr; margin-top: 1; padding: 0 1; scrollbar-size-vertical: 1; }
    #ask { display: none; height: 1; border: none; padding: 0 1; }
    #ask.asking { display: block; }
    """
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = ""  # or keys would go to the line that asks, although it is not there
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,space", "step('play', True)", "play", key_display="←→"),
        Binding("left,h", "step('play', False)", show=False),
        Binding("down,j", "step('trick', True)", "trick", key_display="↑↓"),
        Binding("up,k", "step('trick', False)", show=False),
        Binding("right_square_bracket", "step('hand', True)", "hand", key_display="[]"),
        Binding("left_square_bracket", "step('hand', False)", show=False),
        Binding("right_curly_bracket", "step('game', True)", "game", key_display="{}"),
        Binding("left_curly_bracket", "step('game', False)", show=False),
        Binding("home", "ends(False)", show=False),
        Binding("end", "ends(True)", show=False),
        Binding("g", "ask('go to')", "go"),
        Binding("slash", "ask('find')", "find", key_display="/"),
        Binding("n", "again(True)", show=False),
        Binding("N", "again(False)", show=False),
        Binding("o", "open", "open"),
        *(Binding(str(seat), f"look({seat})", show=False) for seat in range(4)),
        Binding("t", "copy(False)", "text"),
        Binding("T", "copy(True)", show=False),
        Binding("pageup", "scroll(False)", show=False, priority=True),
        Binding("pagedown", "scroll(True)", show=False, priority=True),
        Binding("question_mark", "help", "keys", key_display="?"),
        Binding("escape", "leave_question", "back", key_display="esc"),
        Binding("q,ctrl+c", "quit", "leave", key_display="q"),
    ]

    def __init__(
        self, reel: Reel, *, at: At, eyes: Seat | None = None, in_letters: bool = False
    ) -> None:
        super().__init__()
        self.reel = reel
        self.at = at
        self.eyes = eyes
        self.texts: list[str] = []
        self._closed_eyes = Seat(0) if eyes is None else eyes
        self._in_letters = in_letters
        self._asking = ""
        self._query = ""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(id="heading")
        yield Static(id="table")
        with VerticalScroll(id="story", can_focus=False):
            yield Static(id="told")
        yield Static(id="remarks")
        yield Input(id="ask", select_on_focus=False)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Show the first place."""
        self.set_focus(None)
        self._show()

    # -- what keys do

    def action_step(self, unit: str, onwards: bool) -> None:
        """Go one unit further, or back."""
        self._go(self.reel.step(self.at, Unit(unit), onwards=onwards, eyes=self.eyes))

    def action_ends(self, last: bool) -> None:
        """Go to an end of this game."""
        self._go(self.reel.ends(self.at, last=last))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing more is asked while something is, and only then can that be left."""
        match action:
            case "ask":
                return not self._asking
            case "leave_question":
                return bool(self._asking)
            case _:
                return True

    def action_ask(self, what: str) -> None:
        """Ask where to go, or what to look for."""
        self._asking = what
        self.refresh_bindings()
        ask = self.query_one("#ask", Input)
        ask.placeholder = f"{what} …"
        ask.value = ""
        ask.add_class("asking")
        ask.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """What was asked is answered."""
        asking, text = self._asking, event.value.strip()
        self.action_leave_question()
        if not text:
            return
        if asking == "find":
            self._query = text
            self.action_again(True)
            return
        try:
            self._go(self.reel.jump(self.at, text))
        except NoSuchPlace as error:
            self._say(str(error))

    def action_leave_question(self) -> None:
        """Nothing is asked any more."""
        self._asking = ""
        self.refresh_bindings()
        self.query_one("#ask", Input).remove_class("asking")
        self.set_focus(None)

    def action_again(self, onwards: bool) -> None:
        """Look for the same thing further on, or back."""
        if not self._query:
            self._say("nothing was looked for yet: /")
            return
        found = self.reel.search(self.at, self._query, onwards=onwards, eyes=self.eyes)
        if found is None:
            self._say(f"{self._query}: not found")
        else:
            self._go(found)

    def action_open(self) -> None:
        """Open the cards, or close them again."""
        self.eyes = self._closed_eyes if self.eyes is None else None
        self._show()

    def action_look(self, seat: int) -> None:
        """Look with the eyes of a seat."""
        if seat < self.reel.tapes[self.at.game].rules.players:
            self.eyes = self._closed_eyes = Seat(seat)
            self._show()

    def action_copy(self, whole: bool) -> None:
        """Copy the hand as text, and show it."""
        tape, moment = self.reel.tapes[self.at.game], self.reel.moment(self.at)
        hand = tape.hand(moment.hand)
        if hand is None:
            self._say("no hand was dealt yet")
        elif self.eyes is not None:
            self._say("the text has all cards in it: open them first (o)")
        else:
            text = hand_text(
                tape.rules, hand if whole else hand_until(hand, decisions=moment.decision)
            )
            self.texts.append(text)
            self.copy_to_clipboard(text)
            self.push_screen(Page(f"{text}\nCopied, where this terminal can do that."))

    def action_scroll(self, onwards: bool) -> None:
        """Move what has happened."""
        story = self.query_one("#story", VerticalScroll)
        if onwards:
            story.scroll_page_down(animate=False)
        else:
            story.scroll_page_up(animate=False)

    def action_help(self) -> None:
        """Say what keys do."""
        self.push_screen(Page(KEYS))

    # -- what is shown

    def _go(self, at: At) -> None:
        self.at = at
        self._show()

    def _show(self) -> None:
        shown = scene(self.reel, self.at, eyes=self.eyes, in_letters=self._in_letters)
        for name, lines in (
            ("heading", shown.heading),
            ("table", shown.table),
            ("told", shown.story),
            ("remarks", shown.remarks),
        ):
            self.query_one(f"#{name}", Static).update(_content(lines))
        self.query_one("#story", VerticalScroll).scroll_end(animate=False)

    def _say(self, text: str) -> None:
        self.notify(text, markup=False)


def _content(lines: Iterable[Line]) -> Content:
    rows = (
        Content.assemble(
            *((span.text, span.style) if span.style else span.text for span in one.spans)
        )
        for one in lines
    )
    return Content("\n").join(rows)
