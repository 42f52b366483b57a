"""Moments of random games to look at, at every kind of table: the hands before, the one that is on
as a story that could be another, and the seat that looks.
"""

import random
from dataclasses import dataclass

from hokm.actions import Action
from hokm.cards import Seat
from hokm.rules.game import Game
from hokm.rules.options import Play, Rules, Teams
from hokm.rules.variants import variant_of
from tests.arena.referee.virtual import a_game
from tests.hokm.permute import Story

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


def phases(rules: Rules) -> set[str]:
    """The phases in which somebody decides."""
    return {type(phase).__name__ for phase in variant_of(rules).phases} - {"Packets"}
