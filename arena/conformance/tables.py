"""One game of the script: the rules play it, the script has all seats but the bot's, and says what
the bot is to be told and whether what it answers is right. Pure.

Everything told comes from the real rules, so every view is lawful. It knows no process, no stream,
and nothing of how messages travel.
"""

from collections.abc import Callable, Sequence

from arena.conformance.chance import Chance
from arena.conformance.unmet import Unmet
from hokm.actions import (
    DECLARATIONS,
    Action,
    ChooseDraw,
    CutDeck,
    DeclareTrump,
    DiscardCards,
    Draw,
    PlayCard,
    action_text,
)
from hokm.cards import Seat, Trump
from hokm.errors import IllegalAction
from hokm.events import Event
from hokm.outcome import Ending, Outcome
from hokm.rules.deal import Deal
from hokm.rules.game import Game
from hokm.rules.tricks import STRENGTH, SUIT_OF, height
from hokm.session import Answer, Decision, GameEnd, GameStart, Malformed
from hokm.view import ClockView

Choose = Callable[[Deal], Action]
"""What the script does for the seat that is to act."""

MOVE_SECONDS = 1.0
BANK_SECONDS = 5.0
"""The clock that bots are told: short enough that one that hangs is found out soon."""


class ScriptedGame:
    """A game in which the bot sits at ``seat`` and ``others`` chooses for every other seat.

    Attributes:
        number: the game's, on the stream.
        open: the decision the bot is to answer, None while there is none.
        is_over: whether its end was told.
        actions: what the bot did so far.
    """

    def __init__(
        self,
        game: Game,
        *,
        match: str,
        number: int,
        seat: Seat,
        others: Choose,
        players: Sequence[str],
        has_clock: bool = True,
    ) -> None:
        self.game = game
        self.match = match
        self.number = number
        self.seat = seat
        self.others = others
        self.open: Decision | None = None
        self.is_over = False
        self.actions: list[Action] = []
        self.stands_in: Choose | None = None
        """Acts for the bot as well while it is there."""
        self._players = tuple(players)
        self._clock = ClockView(MOVE_SECONDS, BANK_SECONDS) if has_clock else None
        self._decisions = 0
        self._told = 0
        self._seen: list[Event] = []

    # -- what the bot is told

    def start(self, *, resumed: bool = False) -> GameStart:
        """The first message of the game; said again, ``resumed``, to a bot that came back."""
        if not self._seen:
            self._note(self.game.start())
        return GameStart(self.match, self.number, self.seat, self._players, resumed)

    def next(self) -> Decision | GameEnd:
        """What comes next for the bot: everybody else plays until it is asked, or all is over."""
        if not self._seen:
            raise AssertionError("a game begins with its start")
        while (seat := self.game.to_act) is not None:
            choose = self.others if seat != self.seat else self.stands_in
            if choose is None:
                return self._ask()
            self._note(self.game.act(seat, choose(self.game.deal)))
        outcome = self.game.outcome
        assert outcome is not None
        return self._end(outcome)

    def play_to(self, *, hand: int) -> None:
        """Play to the beginning of that hand of a race, with ``stands_in`` at the bot's seat."""
        assert self.stands_in is not None
        while self.game.hand_number < hand and (seat := self.game.to_act) is not None:
            choose = self.stands_in if seat == self.seat else self.others
            self._note(self.game.act(seat, choose(self.game.deal)))

    def again(self, *, attempt: int = 1) -> Decision | GameEnd:
        """What a bot that came back is told next: as :meth:`next`, and all events there were."""
        self._told = 0
        decision = self.open
        if decision is None:
            return self.next()
        self.open = Decision(
            decision.game,
            decision.decision,
            self._news(),
            decision.legal,
            decision.clock,
            attempt,
        )
        return self.open

    def fault(
        self,
        ending: Ending,
        *,
        seat: Seat,
        cause: str = "another seat failed",
        everything: bool = False,
    ) -> GameEnd:
        """The end by somebody's fault, whatever the bot is doing; with ``everything`` that happened
        in the game where the bot came back.
        """
        if everything:
            self._told = 0
        if ending.counts:
            return self._end(self.game.forfeit(seat, ending=ending, cause=cause))
        at_fault = seat if ending is Ending.NEVER_STARTED else None
        return self._end(self.game.void(ending, cause=cause, seat=at_fault))

    # -- what the bot answers

    def take(self, answer: Answer, *, attempt: int = 1) -> Action:
        """Judge an answer to the open decision, and do what it says; the action.

        Raises Unmet for one that is not right.
        """
        action = self.judge(answer, attempt=attempt)
        self.actions.append(action)
        self.open = None
        self._note(self.game.act(self.seat, action))
        return action

    def judge(self, answer: Answer, *, attempt: int = 1) -> Action:
        """Judge an answer, and leave everything as it is. Raises Unmet."""
        decision = self.open
        if decision is None:
            raise Unmet(
                f"it answered in game {answer.game}, where nothing is asked",
                expected="an answer to each decision, once, and nothing else",
            )
        right = f"an answer to game {self.number}, decision {decision.decision}, attempt {attempt}"
        if (answer.decision, answer.attempt) != (decision.decision, attempt):
            raise Unmet(
                f"it answered decision {answer.decision}, attempt {answer.attempt} of game "
                f"{answer.game}",
                expected=right,
                reference="docs/protocol.md: Answer",
            )
        if isinstance(answer.action, Malformed):
            raise Unmet(
                f"its answer is malformed: {answer.action.detail}",
                expected=right,
                alike="its answer is malformed",
            )
        try:
            self.game.deal.check(self.seat, answer.action)
        except IllegalAction as illegal:
            raise Unmet(
                f"{action_text(answer.action)} is refused: {illegal}",
                expected=f"one of: {legal_text(decision.legal)}",
                reference=f"rulebook {illegal.clause}",
                alike=illegal.reason.name,
            ) from None
        return answer.action

    # -- within

    def _ask(self) -> Decision:
        self._decisions += 1
        clock = self._clock
        if clock is not None and self._decisions > 1:
            clock = ClockView(clock.move_seconds, clock.bank_seconds, 0.001)
        self.open = Decision(
            self.number, self._decisions, self._news(), self.game.legal_actions(), clock
        )
        return self.open

    def _end(self, outcome: Outcome) -> GameEnd:
        self.is_over = True
        self.open = None
        return GameEnd(self.number, self._news(), outcome)

    def _note(self, events: Sequence[Event]) -> None:
        self._seen += [event.seen_by(self.seat) for event in events]

    def _news(self) -> tuple[Event, ...]:
        news = tuple(self._seen[self._told :])
        self._told = len(self._seen)
        return news


def legal_text(legal: Sequence[Action], *, most: int = 26) -> str:
    """Legal actions in a line, shortened where there are many."""
    texts = [action_text(action) for action in legal[:most]]
    if len(legal) > most:
        texts.append(f"… ({len(legal)} in all)")
    words = texts[0].split(" ")[0] if texts else "nothing"
    if all(text.startswith(f"{words} ") for text in texts):
        return f"{words} " + ", ".join(text.removeprefix(f"{words} ") for text in texts)
    return ", ".join(texts)


# -- what the script does for the others


def at_random(chance: Chance) -> Choose:
    """Any legal action."""
    return lambda deal: chance.one_of(deal.legal_actions())


def naming(trump: Trump, otherwise: Choose) -> Choose:
    """Name that trump, and choose as ``otherwise`` in all else."""

    def choose(deal: Deal) -> Action:
        legal = deal.legal_actions()
        return DECLARATIONS[trump] if isinstance(legal[0], DeclareTrump) else otherwise(deal)

    return choose


def cutting(position: int, otherwise: Choose) -> Choose:
    """Cut there, and choose as ``otherwise`` in all else."""

    def choose(deal: Deal) -> Action:
        legal = deal.legal_actions()
        return CutDeck(position) if isinstance(legal[0], CutDeck) else otherwise(deal)

    return choose


def keeping(otherwise: Choose) -> Choose:
    """Keep every card that is offered, lay away the lowest that are not trump."""

    def choose(deal: Deal) -> Action:
        match deal.legal_actions()[0]:
            case ChooseDraw():
                return ChooseDraw(Draw.KEEP)
            case DiscardCards():
                return min(deal.legal_actions(), key=lambda action: _worth(action, deal))
            case _:
                return otherwise(deal)

    return choose


def strongest(deal: Deal) -> Action:
    """Play the card that stands highest; elsewhere the first that is legal."""
    return max(deal.legal_actions(), key=lambda action: _strength(action, deal))


def evenly(deal: Deal) -> Action:
    """Play so that hands are long: high for a side that is behind, low for one in front."""
    side = deal.variant.side_of[deal.turn]
    own = deal.taken.count(side)
    best = max(deal.taken.count(other) for other in set(deal.variant.side_of) if other != side)
    choose = max if own <= best else min
    return choose(deal.legal_actions(), key=lambda action: _strength(action, deal))


def _strength(action: Action, deal: Deal) -> int:
    if not isinstance(action, PlayCard) or deal.trump is None:
        return 0
    led = SUIT_OF[action.card] if deal.led is None else deal.led
    return STRENGTH[deal.trump][led][action.card]


def _worth(action: Action, deal: Deal) -> int:
    if not isinstance(action, DiscardCards) or deal.trump is None:
        return 0
    trump = deal.trump
    return sum(
        height(card.rank, trump) + (100 if card.suit is trump.suit else 0) for card in action.cards
    )
