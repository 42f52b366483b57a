"""Two worlds that one seat cannot tell apart: whatever it is sent, up to the first lawful
difference, is byte for byte the same (rulebook 6).

A game is played up to some decision. Then every card that the observing seat has not lawfully seen
is exchanged for others, so that the other seats' public actions stay legal (the permutation is that
of :mod:`tests.hokm.permute`); the same actions at the same times drive a second table. Both are
provoked and ended the same way, and the bytes told to the observer are compared.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import pytest

from arena.referee import table as table_module
from arena.referee.table import Policy, Table
from hokm.actions import PLAYS, Action, CutDeck, DeclareTrump, DiscardCards
from hokm.cards import CARDS, Seat, Trump
from hokm.errors import Reason
from hokm.events import Event
from hokm.outcome import Ending
from hokm.rules.game import Game
from hokm.rules.options import Play, Rules, Teams
from hokm.rules.variants import variant_of
from hokm.session import GameEnd, Malformed
from hokm.wire import encode_from_referee
from tests.arena.referee.virtual import CLOCK, Drive, Message, a_game
from tests.hokm.permute import Story, other_story

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
MODES = "suit,sar,nar,tak_nar"
TABLES += [
    *(
        Rules.of(players, options={"modes": MODES, "kot_in_modes": "on", **options})
        for players, options in [(4, {}), (3, {}), (2, {"draw_choice_public": "off"})]
    ),
    *(
        Rules.of(
            4,
            play=Play.RACE,
            options={"modes": MODES, "cut": "on", "teams": teams, "pause_after": pause_after},
        )
        for teams in ("fixed", "second_ace")
        for pause_after in ("hakem", "first_round", "right_opponent")
    ),
]


def name_of(rules: Rules) -> str:
    options = rules.options()
    named = [
        str(rules.players),
        rules.play.value,
        options.get("pause_after") or options["draw_choice_public"],
        "modes" if rules.modes else "",
        "cut" if rules.cut else "",
        "second_ace" if rules.teams is Teams.SECOND_ACE else "",
    ]
    return "-".join(filter(None, named))


Step = tuple[Seat, Action]
MakeTable = Callable[[Game], Table]


@dataclass(frozen=True)
class Moment:
    """A game up to a decision, and the seat that looks at it: the hands before, and the one that is
    on as a story that could be another.
    """

    rules: Rules
    seed: int
    before: tuple[Step, ...]
    hand: int
    story: Story
    observer: Seat
    phase: str

    def game(self) -> Game:
        """The game before its first card, which deals the story's hand."""
        return a_game(self.rules, self.seed, decks={self.hand: self.story.deck})

    def steps(self) -> list[Step]:
        """Every action so far, and whose it was."""
        return [*self.before, *zip(self.story.actors(), self.story.actions, strict=True)]


def moments(rules: Rules, seed: int, *, stride: int, hands: int) -> list[Moment]:
    """A random game of at most so many hands, stopped at every `stride`-th decision for some
    seat.
    """
    chance = random.Random(seed)
    game = a_game(rules, seed)
    game.start()
    before, actions = list[Step](), list[Step]()
    hand, deck = game.hand_number, game.deal.deck
    found = list[Moment]()
    while game.to_act is not None and game.hand_number <= hands:
        if game.hand_number != hand:
            before, actions = [*before, *actions], []
            hand, deck = game.hand_number, game.deal.deck
        if chance.randrange(stride) == 0:
            story = Story(rules, game.deal.hakem, deck, tuple(action for _, action in actions))
            observer = Seat(chance.randrange(game.variant.seats))
            phase = type(game.deal.phase).__name__
            found.append(Moment(rules, seed, tuple(before), hand, story, observer, phase))
        actions.append((game.to_act, chance.choice(game.legal_actions())))
        game.act(*actions[-1])
    return found


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


def provocations(
    observer: Seat, worlds: Sequence[Game], chance: random.Random
) -> list[Provocation]:
    """Two illegal tries of the observer, then an end: those of the observer's doing, of another
    seat's, of nobody's.
    """
    game = worlds[0]
    seats = [Seat(seat) for seat in range(game.variant.seats)]
    others = [seat for seat in seats if seat != observer]
    legal = {action for world in worlds for action in world.legal_actions()}
    # Cards of others, in the stock, played, discarded; its own where they may not be played.
    plays: list[Action | Malformed] = list(
        chance.sample([play for play in PLAYS if play not in legal], 8)
    )
    unheld = [card for card in CARDS if not game.deal.hands[observer] & card.bit]
    odd: list[Action | Malformed] = [
        CutDeck(0),
        CutDeck(52),
        *(action for action in (CutDeck(1), DeclareTrump(Trump.SAR)) if action not in legal),
        DiscardCards(CARDS[:7]),
        Malformed("no action"),
        *(DiscardCards(tuple(chance.sample(unheld, count))) for count in (2, 3)),
    ]
    illegal = [*odd, *plays]
    end = chance.choice(
        [
            runs_out_of_time,
            is_capped,
            is_stopped,
            crashes(chance.choice(seats)),
            tries(observer, chance.sample(illegal, 3)),
            tries(chance.choice(others), [*chance.sample(odd, 2), chance.choice(plays)]),
            tries(chance.choice(others), chance.sample(plays, 3)),
        ]
    )
    return [tries(observer, chance.sample(illegal, 2)), end]


def differences(
    rules: Rules, *, seeds: Iterable[int], make: MakeTable, stride: int, hands: int
) -> tuple[list[str], dict[str, int]]:
    """What an observer could tell two worlds by, and how many moments were compared by phase."""
    found: list[str] = []
    compared: dict[str, int] = {}
    for seed in seeds:
        chance = random.Random(seed)
        for moment in moments(rules, seed, stride=stride, hands=hands):
            other = replace(moment, story=other_story(moment.story, moment.observer, chance))
            if other == moment:  # nothing is hidden that could be otherwise
                continue
            drives = [run(world.game(), world.steps(), make) for world in (moment, other)]
            games = [drive.table.game for drive in drives]
            for provoke in provocations(moment.observer, games, chance):
                for drive in drives:
                    if drive.table.outcome is None:
                        provoke(drive)
            told = [drive.told[moment.observer] for drive in drives]
            assert any(isinstance(message, GameEnd) for message in told[0])
            compared[moment.phase] = compared.get(moment.phase, 0) + 1
            if encode_from_referee(told[0]) != encode_from_referee(told[1]):
                found.append(first_difference(moment, *told))
    return found, compared


def first_difference(moment: Moment, told: Sequence[Message], other: Sequence[Message]) -> str:
    where = (
        f"{name_of(moment.rules)} seed {moment.seed} after {len(moment.steps())}, "
        f"seat {moment.observer}: "
    )
    for one, two in zip(told, other, strict=False):
        if one != two:
            return f"{where}{one}\n  against {two}"
    return f"{where}{len(told)} messages against {len(other)}"


def casual(game: Game) -> Table:
    return Table(game, number=1, clock=CLOCK, policy=Policy.CASUAL)


def phases(rules: Rules) -> set[str]:
    """The phases in which somebody decides."""
    return {type(phase).__name__ for phase in variant_of(rules).phases} - {"Packets"}


@pytest.mark.rule("6")
@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_what_a_seat_cannot_see_changes_no_byte_of_what_it_is_sent(rules: Rules) -> None:
    found, compared = differences(rules, seeds=range(8), make=casual, stride=6, hands=2)
    assert found == []
    assert set(compared) == phases(rules)
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
