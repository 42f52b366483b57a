"""Random tables and random play, repeatable from a number that hypothesis chooses."""

from collections.abc import Iterator
from itertools import combinations
from random import Random

from hypothesis import strategies as st

from hokm.actions import DECLARATIONS, DRAWS, PLAYS, Action, CutDeck, DiscardCards
from hokm.cards import Seat, cards_in
from hokm.events import Event
from hokm.rules.deal import Deal
from hokm.rules.game import Board, Game, Race, SeedOf
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from tests.hokm.permute import Story

SEEDS = st.integers(0, 2**32 - 1)

_MODES = ("suit", "suit,sar,nar,tak_nar")

ONE_HAND_OPTIONS: dict[int, dict[str, tuple[str, ...]]] = {
    4: {
        "pause_after": ("hakem", "first_round", "right_opponent"),
        "play_out": ("off", "on"),
        "modes": _MODES,
    },
    3: {"pause_after": ("first_round", "hakem"), "removed_two": ("C", "S"), "modes": _MODES},
    2: {"draw_choice_public": ("on", "off"), "play_out": ("off", "on"), "modes": _MODES},
}
"""The options that make a difference within one hand."""

_RACE_OPTIONS: dict[int, dict[str, tuple[str, ...]]] = {
    4: {
        "first_hakem": ("ace_draw", "random", "seat:2"),
        "next_hakem": ("right", "left"),
        "cut": ("off", "on"),
        "teams": ("fixed", "second_ace"),
    },
    3: {"first_hakem": ("ace_draw", "random", "seat:2"), "next_hakem": ("winner", "right")},
    2: {"first_hakem": ("ace_draw", "random", "seat:1"), "next_hakem": ("winner",)},
}


@st.composite
def tables(draw: st.DrawFn, play: Play = Play.BOARDS) -> Rules:
    """Any table for boards or for races."""
    players = draw(st.sampled_from((4, 3, 2)))
    choices = ONE_HAND_OPTIONS[players]
    if play is Play.RACE:
        choices = {**choices, **_RACE_OPTIONS[players]}
    options = {name: draw(st.sampled_from(texts)) for name, texts in choices.items()}
    if play is Play.RACE:
        options["target_points"] = str(draw(st.integers(1, 9)))
    if options.get("teams") == "second_ace":
        options["first_hakem"] = "ace_draw"
    return Rules.of(players, play=play, options=options)


def random_story(rules: Rules, rng: Random) -> Story:
    """A whole hand: any deck, any hakem, any legal actions."""
    deck = list(variant_of(rules).pack)
    rng.shuffle(deck)
    story = Story(rules, Seat(rng.randrange(rules.players)), tuple(deck))
    deal = story.begin()
    deal.start()
    actions = list(random_actions(deal, rng))
    return Story(rules, story.hakem, story.deck, tuple(actions))


def random_actions(deal: Deal, rng: Random) -> Iterator[Action]:
    """Play a deal to its end, one action at a time."""
    while deal.to_act is not None:
        action = rng.choice(deal.legal_actions())
        deal.act(deal.to_act, action)
        yield action


def random_game(rules: Rules, seed: int) -> Iterator[tuple[Game, list[Event]]]:
    """A board or a race, played at random: after its start and after each action, what happened."""
    rng = Random(seed)
    game: Game
    if rules.play is Play.BOARDS:
        deck = list(variant_of(rules).pack)
        rng.shuffle(deck)
        game = Board(rules, deck, number=rng.randrange(1, 9))
    else:
        game = Race(rules, seeds(seed))
    yield game, game.start()
    while game.to_act is not None:
        yield game, game.act(game.to_act, rng.choice(game.legal_actions()))


def seeds(seed: int) -> SeedOf:
    """The seeds of the hands of a race, from a number."""
    return lambda hand: seed.to_bytes(16, "big") + hand.to_bytes(16, "big")


def any_action(deal: Deal) -> list[Action]:
    """Every action there is, and of discards all of one to four of the cards dealt so far, so that
    each is tried that could be legal.
    """
    actions: list[Action] = [*PLAYS, *DECLARATIONS, *DRAWS]
    actions += map(CutDeck, (0, 1, 51, 52))
    for hand in deal.hands if deal.variant.stock else ():
        for count in range(5):
            actions += [DiscardCards(cards) for cards in combinations(cards_in(hand)[:5], count)]
    return actions
