"""A table driven on a virtual clock: what each seat was told, and answers to what is open."""

import random
from collections.abc import Callable, Mapping

from arena.referee.table import Policy, Table, Tell
from hokm.actions import Action
from hokm.cards import Card, Seat
from hokm.deck import shuffled
from hokm.outcome import Outcome
from hokm.rules.game import Board, Game
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.session import ClockRules, Decision, GameEnd, Malformed, Refused
from tests.hokm.permute import StackedRace

Message = Decision | Refused | GameEnd
Choose = Callable[[Decision], Action]

CLOCK = ClockRules(move_seconds=1.0, bank_seconds=30.0)


def a_game(
    rules: Rules, seed: int = 0, *, decks: Mapping[int, tuple[Card, ...]] | None = None
) -> Game:
    """Board 1 or a race of these rules, from decks that `seed` names, but for those of hands that
    `decks` names.
    """
    stacked = decks or {}

    def seed_of(hand: int) -> bytes:
        return seed.to_bytes(28, "big") + hand.to_bytes(4, "big")

    if rules.play is Play.RACE:
        return StackedRace(rules, seed_of, stacked)
    deck = stacked.get(1) or shuffled(variant_of(rules).pack, seed_of(1))
    return Board(rules, deck, number=1)


class Drive:
    """Plays a table: writes return at once, and `now` moves only where a test says so."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.now = 100.0
        self.told: list[list[Message]] = [[] for _ in range(table.game.variant.seats)]
        self.seat = Seat(0)
        self.attempt = 1
        self.take(table.start(self.now))

    @property
    def decision(self) -> Decision:
        """The last decision that a seat was sent; `seat` is whose it is."""
        decisions = [message for message in self.told[self.seat] if isinstance(message, Decision)]
        return decisions[-1]

    @property
    def outcome(self) -> Outcome:
        assert self.table.outcome is not None, "the game goes on"
        return self.table.outcome

    def take(self, tells: list[Tell]) -> list[Tell]:
        for tell in tells:
            self.told[tell.seat].append(tell.message)
            if isinstance(tell.message, Decision):
                self.seat, self.attempt = tell.seat, 1
                self.table.sent(tell.seat, tell.message.decision, self.now)
        return tells

    def answer(
        self,
        action: Action | Malformed,
        *,
        after: float = 0.25,
        seat: int | None = None,
        decision: int | None = None,
        attempt: int | None = None,
    ) -> list[Tell]:
        """Answer the open decision, or what is named instead, `after` so many seconds."""
        self.now += after
        named = self.seat if seat is None else Seat(seat)
        tells = self.table.answer(
            named,
            self.decision.decision if decision is None else decision,
            self.attempt if attempt is None else attempt,
            action,
            self.now,
        )
        if (seat, decision, attempt) == (None, None, None) and any(
            isinstance(tell.message, Refused) for tell in tells
        ):
            self.attempt += 1
        return self.take(tells)

    def tick(self, after: float) -> list[Tell]:
        self.now += after
        return self.take(self.table.tick(self.now))

    def play_on(self, choose: Choose, *, answers: int = 10_000) -> None:
        """Give so many answers, or as many as the game takes."""
        for _ in range(answers):
            if self.table.outcome is not None:
                return
            self.answer(choose(self.decision))


def first_legal(decision: Decision) -> Action:
    return decision.legal[0]


def at_random(seed: int) -> Choose:
    chance = random.Random(seed)
    return lambda decision: chance.choice(decision.legal)


def drive(
    rules: Rules | None = None,
    *,
    seed: int = 0,
    policy: Policy = Policy.CASUAL,
    clock: ClockRules = CLOCK,
) -> Drive:
    """A table that has just started, four seats and a board unless the rules say otherwise."""
    game = a_game(rules or Rules.of(4), seed)
    return Drive(Table(game, number=7, clock=clock, policy=policy))


def refusals(tells: list[Tell]) -> list[Refused]:
    return [tell.message for tell in tells if isinstance(tell.message, Refused)]


def endings(tells: list[Tell]) -> list[GameEnd]:
    return [tell.message for tell in tells if isinstance(tell.message, GameEnd)]
