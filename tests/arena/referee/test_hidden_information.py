"""Two worlds that one seat cannot tell apart: whatever it is sent, up to the first lawful
difference, is byte for byte the same (rulebook 6).

A game is played up to some decision. Then every card that the observing seat has not lawfully seen
is exchanged for others, so that the other seats' public actions stay legal; the same actions at the
same times drive a second table. Both are provoked and ended the same way, and the bytes told to the
observer are compared.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from arena.referee import table as table_module
from arena.referee.table import Policy, Table
from hokm.actions import (
    PLAYS,
    Action,
    ChooseDraw,
    CutDeck,
    DeclareTrump,
    DiscardCards,
    Draw,
)
from hokm.cards import CARDS, Card, Seat, Trump
from hokm.errors import IllegalAction, Reason
from hokm.events import CardOffered, CardPlayed, DrawChosen, Event, HandStarted, PacketDealt
from hokm.outcome import Ending
from hokm.rules.game import Board, Game, Race
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.session import GameEnd, Malformed
from hokm.wire import encode_from_referee
from tests.arena.referee.virtual import CLOCK, Drive, Message, a_game

TABLES = [
    Rules.of(players, play=play, options=options)
    for play in Play
    for players, options in [
        (4, {"pause_after": "hakem"}),
        (4, {"pause_after": "first_round"}),
        (4, {"pause_after": "right_opponent"}),
        (3, {"pause_after": "first_round"}),
        (3, {"pause_after": "hakem"}),
        (2, {"draw_choice_public": "on"}),
        (2, {"draw_choice_public": "off"}),
    ]
]


def name_of(rules: Rules) -> str:
    option = rules.options().get("pause_after") or rules.options()["draw_choice_public"]
    return f"{rules.players}-{rules.play.value}-{option}"


Swap = Mapping[Card, Card]
Step = tuple[Seat, Action]
MakeTable = Callable[[Game], Table]


@dataclass(frozen=True)
class Cut:
    """A game up to a decision, and the seat that looks at it."""

    rules: Rules
    seed: int
    hand: int
    hakem: Seat
    steps: tuple[Step, ...]
    observer: Seat
    seen: frozenset[Card]
    phase: str


@dataclass(frozen=True)
class World:
    """The game of a cut with other cards in its last hand.

    Where the choices of a draw are not public they are hidden too: the others then choose the other
    way from a stock that gives them the same cards for it.
    """

    cut: Cut
    swap: Swap
    mirrored: bool = False

    def game(self) -> Game:
        rules, true = self.cut.rules, a_game(self.cut.rules, self.cut.seed)
        if isinstance(true, Board):
            true.start()
            return Board(rules, self.deck(true.deal.deck), number=true.number)
        return _RaceWithOtherCards(self, self.cut.seed)

    def deck(self, deck: Sequence[Card]) -> tuple[Card, ...]:
        other = [self.swap.get(card, card) for card in deck]
        if self.mirrored:
            for step in range(21):
                if (self.cut.hakem + step) % 2 != self.cut.observer:
                    first = 10 + 2 * step
                    other[first : first + 2] = reversed(other[first : first + 2])
        return tuple(other)

    def steps(self) -> list[Step]:
        game = a_game(self.cut.rules, self.cut.seed)
        game.start()
        steps: list[Step] = []
        for seat, action in self.cut.steps:
            changed = game.hand_number == self.cut.hand
            steps.append((seat, self.action(seat, action) if changed else action))
            game.act(seat, action)
        return steps

    def action(self, seat: Seat, action: Action) -> Action:
        match action:
            case DiscardCards(cards):
                return DiscardCards(tuple(self.swap.get(card, card) for card in cards))
            case ChooseDraw(choice) if self.mirrored and seat != self.cut.observer:
                return ChooseDraw(Draw.REFUSE if choice is Draw.KEEP else Draw.KEEP)
            case _:
                return action

    def is_lawful(self) -> bool:
        """Whether everybody could have acted so."""
        try:
            replay(self.game(), self.steps())
        except IllegalAction:
            return False
        return True


class _RaceWithOtherCards(Race):
    def __init__(self, world: World, seed: int) -> None:
        true = a_game(world.cut.rules, seed)
        assert isinstance(true, Race)
        super().__init__(world.cut.rules, true._seed_of)
        self._world = world

    def _deck(self, hand: int) -> tuple[Card, ...]:
        deck = super()._deck(hand)
        return self._world.deck(deck) if hand == self._world.cut.hand else deck


def replay(game: Game, steps: Iterable[Step]) -> list[Event]:
    """Every event of these steps, whole."""
    events = list(game.start())
    for seat, action in steps:
        events += game.act(seat, action)
    return events


def lawfully_seen(events: Sequence[Event], seat: Seat) -> frozenset[Card]:
    """The cards of the last hand that a seat may know, by the table of rulebook 6; deliberately not
    from what events say of themselves.
    """
    seen: set[Card] = set()
    for event in events:
        match event:
            case HandStarted():
                seen.clear()
            case PacketDealt(dealt_to, _, cards) if dealt_to == seat:
                seen.update(cards or ())
            case CardOffered(drawer, _, card) if drawer == seat and card is not None:
                seen.add(card)
            case DrawChosen(drawer, _, card, _) if drawer == seat and card is not None:
                seen.add(card)
            case CardPlayed(_, card):
                seen.add(card)
            case _:
                pass
    return frozenset(seen)


def cuts(rules: Rules, seed: int, *, stride: int, hands: int) -> list[Cut]:
    """A random game of at most so many hands, cut at every `stride`-th decision for some seat."""
    chance = random.Random(seed)
    game = a_game(rules, seed)
    events, steps, found = game.start(), list[Step](), list[Cut]()
    while game.to_act is not None and game.hand_number <= hands:
        if chance.randrange(stride) == 0:
            observer = Seat(chance.randrange(game.variant.seats))
            found.append(
                Cut(
                    rules,
                    seed,
                    game.hand_number,
                    game.deal.hakem,
                    tuple(steps),
                    observer,
                    lawfully_seen(events, observer),
                    type(game.deal.phase).__name__,
                )
            )
        steps.append((game.to_act, chance.choice(game.legal_actions())))
        events += game.act(*steps[-1])
    return found


def another_world(cut: Cut, chance: random.Random) -> World | None:
    """A world the observer cannot tell from the true one; None where there is no other."""
    unseen = [card for card in variant_of(cut.rules).pack if card not in cut.seen]
    mirrored = cut.rules.draw_choice_public is False
    shuffled = chance.sample(unseen, len(unseen))
    world = World(cut, dict(zip(unseen, shuffled, strict=True)), mirrored)
    if shuffled != unseen and world.is_lawful():
        return world
    # Late in a hand few exchanges are lawful: go on from one to the next by single swaps.
    world = World(cut, dict(zip(unseen, unseen, strict=True)), mirrored)
    for _ in range(12):
        if len(unseen) < 2:
            break
        one, other = chance.sample(unseen, 2)
        swap = {**world.swap, one: world.swap[other], other: world.swap[one]}
        if (candidate := World(cut, swap, mirrored)).is_lawful():
            world = candidate
    return world if any(card != to for card, to in world.swap.items()) else None


# -- what both worlds are put through


def run(game: Game, steps: Sequence[Step], make: MakeTable) -> Drive:
    drive = Drive(make(game))
    for place, (seat, action) in enumerate(steps):
        assert drive.seat == seat
        drive.answer(action, after=0.125 * (place % 7))
    return drive


Provocation = Callable[[Drive], None]


def tries(seat: Seat, actions: Sequence[Action | Malformed]) -> Provocation:
    """The seat sends these, in answer to what it is asked or, out of turn, to what it was last."""

    def provoke(drive: Drive) -> None:
        asked = drive.table._places[seat].awaited
        for place, action in enumerate(actions):
            decision, attempt = asked[0], asked[1] + place
            drive.answer(action, seat=seat, decision=decision, attempt=attempt)

    return provoke


def runs_out_of_time(drive: Drive) -> None:
    deadline = drive.table.deadline
    assert deadline is not None
    drive.tick(deadline + 0.5 - drive.now)


def crashes(seat: Seat) -> Provocation:
    def provoke(drive: Drive) -> None:
        drive.take(drive.table.lost(seat, drive.now, cause="its stream broke off"))

    return provoke


def is_capped(drive: Drive) -> None:
    drive.take(drive.table.cap(drive.now, cause="the match took 900 s"))


def is_stopped(drive: Drive) -> None:
    drive.take(drive.table.stop(drive.now, ending=Ending.STOPPED, cause="Ctrl-C"))


def provocations(cut: Cut, worlds: Sequence[Game], chance: random.Random) -> list[Provocation]:
    """Two illegal tries of the observer, then an end: those of the observer's doing, of another
    seat's, of nobody's.
    """
    game = worlds[0]
    seats = [Seat(seat) for seat in range(game.variant.seats)]
    others = [seat for seat in seats if seat != cut.observer]
    legal = {action for world in worlds for action in world.legal_actions()}
    illegal: list[Action | Malformed] = [
        CutDeck(1),
        DeclareTrump(Trump.SAR),
        DiscardCards(CARDS[:7]),
        Malformed("no action"),
        # Cards of others, in the stock, played, discarded; its own where they may not be played.
        *chance.sample([play for play in PLAYS if play not in legal], 8),
    ]
    unheld = sorted(set(CARDS) - cut.seen)
    if len(unheld) >= 3:
        illegal += [DiscardCards(tuple(unheld[:count])) for count in (2, 3)]
    end = chance.choice(
        [
            runs_out_of_time,
            is_capped,
            is_stopped,
            crashes(chance.choice(seats)),
            tries(cut.observer, chance.sample(illegal, 3)),
            tries(
                chance.choice(others),
                [*chance.sample(illegal[:4], 2), chance.choice(illegal[4:12])],
            ),
            tries(chance.choice(others), chance.sample(illegal[4:12], 3)),
        ]
    )
    return [tries(cut.observer, chance.sample(illegal, 2)), end]


def differences(
    rules: Rules, *, seeds: Iterable[int], make: MakeTable, stride: int, hands: int
) -> tuple[list[str], dict[str, int]]:
    """What an observer could tell two worlds by, and how many cuts were compared in each phase."""
    found: list[str] = []
    compared: dict[str, int] = {}
    for seed in seeds:
        chance = random.Random(seed)
        for cut in cuts(rules, seed, stride=stride, hands=hands):
            world = another_world(cut, chance)
            if world is None:
                continue
            drives = [
                run(a_game(rules, seed), cut.steps, make),
                run(world.game(), world.steps(), make),
            ]
            for provoke in provocations(cut, [drive.table.game for drive in drives], chance):
                for drive in drives:
                    if drive.table.outcome is None:
                        provoke(drive)
            told = [drive.told[cut.observer] for drive in drives]
            assert any(isinstance(message, GameEnd) for message in told[0])
            compared[cut.phase] = compared.get(cut.phase, 0) + 1
            if encode_from_referee(told[0]) != encode_from_referee(told[1]):
                found.append(first_difference(cut, *told))
    return found, compared


def first_difference(cut: Cut, told: Sequence[Message], other: Sequence[Message]) -> str:
    where = f"{name_of(cut.rules)} seed {cut.seed} after {len(cut.steps)}, seat {cut.observer}: "
    for one, two in zip(told, other, strict=False):
        if one != two:
            return f"{where}{one}\n  against {two}"
    return f"{where}{len(told)} messages against {len(other)}"


def casual(game: Game) -> Table:
    return Table(game, number=1, clock=CLOCK, policy=Policy.CASUAL)


PHASES = {
    2: {"Declaration", "Discards", "Draws", "Tricks"},
    3: {"Declaration", "Tricks"},
    4: {"Declaration", "Tricks"},
}


@pytest.mark.rule("6")
@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_what_a_seat_cannot_see_changes_no_byte_of_what_it_is_sent(rules: Rules) -> None:
    found, compared = differences(rules, seeds=range(8), make=casual, stride=6, hands=2)
    assert found == []
    assert set(compared) == PHASES[rules.players]
    assert sum(compared.values()) >= 40


# -- the test must be able to fail


class TableThatShowsEvents(Table):
    """Sends events whole."""

    def _news(self, seat: Seat) -> tuple[Event, ...]:
        place = self._places[seat]
        news = tuple(self._events[place.told :])
        place.told = len(self._events)
        return news


@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_a_table_that_sends_whole_events_is_caught(rules: Rules) -> None:
    def leaky(game: Game) -> Table:
        return TableThatShowsEvents(game, number=1, clock=CLOCK, policy=Policy.CASUAL)

    found, compared = differences(rules, seeds=range(2), make=leaky, stride=6, hands=1)
    assert len(found) > sum(compared.values()) / 2


def test_a_cause_that_says_why_a_card_was_refused_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leaky(reason: Reason) -> str:
        return reason.name

    monkeypatch.setattr(table_module, "_public", leaky)
    found, _ = differences(TABLES[0], seeds=range(40), make=casual, stride=6, hands=1)
    assert found
    assert all("MUST_FOLLOW_SUIT" in difference for difference in found)
