"""Hokm as PettingZoo has games: an environment in which one agent after the other acts (AEC).

Seats are agents, ``seat_0`` and so on. The rules core plays; this module numbers what it says. An
agent observes what its seat's :class:`~hokm.view.View` knows and nothing else, so what a policy
learned here it can do at a table. It does not know how anybody learns.

>>> from hokm.env import env
>>> table = env(seats=4)
>>> table.reset(seed=1)
>>> for agent in table.agent_iter():
...     observation, reward, terminated, truncated, info = table.last()
...     over = terminated or truncated
...     mask = observation["action_mask"]
...     table.step(None if over else table.action_space(agent).sample(mask))
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Literal, SupportsIndex

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils.seeding import np_random
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from hokm.actions import DiscardCards, Draw, PlayCard
from hokm.cards import Card, CardSet, Seat, Side, Suit, card_set, cards_in
from hokm.deck import board_seed, shuffled
from hokm.env.actions import ACTIONS, action_of, number_of
from hokm.events import Event, HandEnded
from hokm.rules.game import Board, Game, Race
from hokm.rules.options import Play, Rules
from hokm.rules.phases import Discards
from hokm.rules.variants import variant_of
from hokm.view import View

Observation = dict[str, NDArray[np.int16] | NDArray[np.int8]]
"""``observation`` (see :func:`layout`) and ``action_mask``, 1 for every action that is legal."""

if TYPE_CHECKING:
    Field = slice[int, int, None]
else:
    Field = slice  # has no parts of a type before Python 3.14

_NOT_BEGUN: Final = "nothing is played yet: call reset() first"

_MOST: Final = 199
"""The largest number in an observation: points in a race to 100, the last hand counting 100."""


def env(
    seats: int = 4,
    *,
    format: Literal["boards", "race"] = "boards",  # noqa: A002  # as the arena calls it
    options: Mapping[str, str] | None = None,
    render_mode: Literal["human", "ansi"] | None = None,
) -> OrderEnforcingWrapper:
    """The environment, guarded: what is no action raises, and an illegal action ends the game, its
    agent being rewarded as after the worst hand there is.

    See :class:`raw_env` for the arguments.
    """
    raw = raw_env(seats, format=format, options=options, render_mode=render_mode)
    guarded = TerminateIllegalWrapper(raw, illegal_reward=-float(raw.rules.points_hakem_kot))
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(guarded))


class raw_env(AECEnv):  # type: ignore[misc]  # it has no types  # noqa: N801  # its name, too
    """The environment as it is: an illegal action raises :class:`~hokm.errors.IllegalAction`.

    An episode is one hand ("boards") or a race to the target ("race"). At the end of each hand a
    seat is rewarded with the points of its side less those of the others in the mean: -3 to 3 by
    the default points, and 0 over all seats. Nothing else is rewarded.

    Args:
        seats: 2, 3 or 4.
        format: what an episode is.
        options: options of the rules by name, as texts; see docs/rules.md. A table here has neither
            a cut nor modes without a trump suit.
        render_mode: ``human`` prints the table after every action, ``ansi`` has :meth:`render`
            return it. Either shows all cards.

    Raises:
        RulesError: for rules that there are not.
        ValueError: for rules with choices that have no action here, or another format or mode.
    """

    metadata: ClassVar[dict[str, object]] = {
        "name": "hokm_v0",
        "render_modes": ["human", "ansi"],
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        seats: int = 4,
        *,
        format: Literal["boards", "race"] = "boards",  # noqa: A002
        options: Mapping[str, str] | None = None,
        render_mode: Literal["human", "ansi"] | None = None,
    ) -> None:
        super().__init__()
        forms = [play.value for play in Play]
        if format not in forms:
            raise ValueError(f"format is {' or '.join(forms)}, not {format!r}")
        self.rules = Rules.of(seats, play=Play(format), options=options)
        if self.rules.cut or self.rules.modes:
            raise ValueError("the environment has no action for a cut or a mode: leave them off")
        if render_mode not in (None, "human", "ansi"):
            raise ValueError(f"render_mode is human, ansi or None, not {render_mode!r}")
        self.render_mode = render_mode
        variant = variant_of(self.rules)
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self.agents = self.possible_agents[:]
        self.layout = layout(seats)
        observed = Dict(
            {
                "observation": Box(0, _MOST, (_size(self.layout),), np.int16),
                "action_mask": Box(0, 1, (ACTIONS,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, observed)
        # A space apiece: it may be seeded, and then two would draw from one stream.
        self.action_spaces = {agent: Discrete(ACTIONS) for agent in self.possible_agents}
        self._variant = variant
        self._chance: np.random.Generator | None = None
        self._game: Game | None = None
        self._views: list[View] = []
        self._laid_away: tuple[Card, ...] = ()

    def observation_space(self, agent: str) -> Dict:  # type: ignore[explicit-any]  # its own
        """What :meth:`observe` gives; the same for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> "Discrete[np.int64]":
        """The actions of :mod:`hokm.env.actions`; the same for all agents."""
        return self.action_spaces[agent]

    # -- what happens

    def reset(self, seed: int | None = None, options: Mapping[str, object] | None = None) -> None:
        """Begin an episode, up to the first choice.

        With a seed the episode, and every one after it, is the same each time; without one the
        cards come from where they were, at first from the system. A board's hakem is drawn as well.

        ``options`` may give a board's ``deck``, cards from the top on, and its ``hakem``, a seat;
        what else is in it is ignored, as PettingZoo has it. Raises ValueError for what is no deck
        or no seat, and for either in a race.
        """
        if seed is not None or self._chance is None:
            self._chance, _ = np_random(seed)
        mixed = self._chance.bytes(32)
        hakem = int(self._chance.integers(self._variant.seats))
        self._game = self._begun(mixed, hakem, options or {})
        self._laid_away = ()
        self._views = [View(self.rules, Seat(seat)) for seat in range(self._variant.seats)]
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._show(self._game.start())

    def step(self, action: SupportsIndex | None) -> None:
        """Do what the agent :attr:`agent_selection` chose; None once its episode is over.

        Raises :class:`~hokm.errors.IllegalAction`, or ValueError for what is no action, and changes
        nothing.
        """
        if self._game is None:
            raise ValueError(_NOT_BEGUN)
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is to act: None is for whose episode is over")
        try:
            number = index(action)
        except TypeError as error:
            raise ValueError(f"an action is a whole number, not {action!r}") from error
        events = self._done(number)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._show(events)
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def last(
        self,
        observe: bool = True,  # by position too, as PettingZoo has it
    ) -> tuple[Observation | None, float, bool, bool, dict[str, NDArray[np.int8]]]:
        """What the agent that is to act sees, its reward since it acted last, whether its episode
        is over or was cut short, and its infos; raises ValueError before the first reset.
        """
        if self._game is None:
            raise ValueError(_NOT_BEGUN)
        found: tuple[Observation | None, float, bool, bool, dict[str, NDArray[np.int8]]]
        found = super().last(observe)
        return found

    def _done(self, number: int) -> list[Event]:
        """What follows from an action, which may be to lay one more card away."""
        game, chosen = self.game, action_of(number)
        phase, actor = game.deal.phase, game.to_act
        assert actor is not None
        if isinstance(phase, Discards) and isinstance(chosen, PlayCard):
            cards = (*self._laid_away, chosen.card)
            is_held = self._may_lay_away() & chosen.card.bit
            if is_held and len(cards) < phase.counts[game.deal.step]:
                self._laid_away = cards
                return []
            chosen = DiscardCards(cards)
        events = game.act(actor, chosen)
        self._laid_away = ()
        return events

    def _may_lay_away(self) -> int:
        """What the seat that discards holds besides what it has chosen already, as a set."""
        deal = self.game.deal
        assert deal.to_act is not None
        return deal.hands[deal.to_act] & ~card_set(self._laid_away)

    def _show(self, events: Sequence[Event]) -> None:
        """Let every seat see what happened, reward them, and go on to whoever acts next."""
        side_of = self._variant.side_of
        for event in events:
            for view in self._views:
                view.apply(event.seen_by(view.seat))
            if isinstance(event, HandEnded):
                points = event.result.points
                for agent, side in zip(self.possible_agents, side_of, strict=True):
                    others = (sum(points) - points[side]) / (len(points) - 1)
                    self.rewards[agent] += points[side] - others
        game = self.game
        if game.is_over:
            self.terminations = dict.fromkeys(self.agents, True)
        if game.to_act is not None:
            self.agent_selection = self.possible_agents[game.to_act]
        self.infos = {agent: {"action_mask": self.action_mask(agent)} for agent in self.agents}

    def close(self) -> None:
        """There is nothing to close."""

    def _begun(self, mixed: bytes, hakem: int, options: Mapping[str, object]) -> Game:
        if self.rules.play is Play.RACE:
            if options.keys() & {"deck", "hakem"}:
                raise ValueError("a race deals hand after hand: no deck or hakem can be given")
            return Race(self.rules, lambda hand: board_seed(mixed, "env", hand))
        deck = shuffled(self._variant.pack, board_seed(mixed, "env", 1))
        match options.get("deck", deck), options.get("hakem", hakem):
            case [*cards], int(seat) if 0 <= seat < self._variant.seats:
                # What is no card leaves a deck that the rules refuse.
                deck = tuple(Card(card) for card in cards if isinstance(card, int))
                return Board(self.rules, deck, number=seat + 1)
            case _:
                raise ValueError("deck is a list of cards, and hakem a seat from 0 up")

    @property
    def game(self) -> Game:
        """The game as the rules have it, all cards open: for who runs the table, not for agents.
        This and what is seen raise ValueError before the first reset.
        """
        if self._game is None:
            raise ValueError(_NOT_BEGUN)
        return self._game

    # -- what is seen

    def view(self, agent: str) -> View:
        """What the agent's seat knows, as a bot is given it: for who makes features of it."""
        if not self._views:
            raise ValueError(_NOT_BEGUN)
        return self._views[self._seat_of(agent)]

    def observe(self, agent: str) -> Observation:
        """What the agent's seat knows as numbers, and what it may do: nothing, unless it is the
        seat that is to act.
        """
        view = self.view(agent)
        laid_away = self._laid_away if view.seat == self.game.to_act else ()
        return {
            "observation": _numbers(view, self.layout, laid_away=laid_away),
            "action_mask": self.action_mask(agent),
        }

    def action_mask(self, agent: str) -> NDArray[np.int8]:
        """1 for every action that is legal for the agent now."""
        mask = np.zeros(ACTIONS, np.int8)
        game = self.game
        if game.to_act == self._seat_of(agent):
            if isinstance(game.deal.phase, Discards):
                legal = [int(card) for card in cards_in(CardSet(self._may_lay_away()))]
            else:
                legal = [number_of(action) for action in game.legal_actions()]
            mask[legal] = 1
        return mask

    def render(self) -> str | None:
        """The table with all cards open: printed in the mode ``human``, returned in ``ansi``."""
        text = _table(self.game, self.possible_agents)
        if self.render_mode == "human":
            print(text)  # noqa: T201  # which is what that mode is for
            return None
        return text

    def _seat_of(self, agent: str) -> Seat:
        return Seat(self.possible_agents.index(agent))


@cache
def layout(seats: int) -> Mapping[str, Field]:
    """Where in an observation each thing stands, by name; the slices follow each other.

    Seats are counted from the observer on, in order of play: 0 is itself, 1 plays next. Sides
    likewise. n is the number of seats.

    ========== ======== =====================================================================
    hand       52       1 for each card it holds
    trick      n x 52   1 for the card that each seat has played to the trick that is on
    played     n x 52   1 for each card that each seat has played to earlier tricks
    voids      n x 4    1 for a suit in which that seat has shown that it holds nothing
    counts     n        how many cards each seat holds
    trump      4        1 for the trump suit; none before it is named
    hakem      n        1 for the hakem
    won        sides    tricks won in this hand
    scores     sides    points won in this race before this hand
    ========== ======== =====================================================================

    With two seats also:

    ========== ======== =====================================================================
    discarded  52       1 for each card it has laid away, or seen go in the draw
    offered    52       1 for the card it may keep or refuse
    stock      1        cards left to draw from
    draws      21 x 2   by turn, from the hakem's first: 1 and 0 for a card that was kept, 0
                        and 1 for one that was refused, 0 and 0 for what is not known
    ========== ======== =====================================================================
    """
    variant = variant_of(Rules.of(seats))
    sizes = {
        "hand": 52,
        "trick": seats * 52,
        "played": seats * 52,
        "voids": seats * 4,
        "counts": seats,
        "trump": 4,
        "hakem": seats,
        "won": variant.sides,
        "scores": variant.sides,
    }
    if variant.stock:
        sizes |= {"discarded": 52, "offered": 52, "stock": 1, "draws": variant.stock}
    ends = list(accumulate(sizes.values()))
    return MappingProxyType(
        {
            name: slice(end - size, end)
            for (name, size), end in zip(sizes.items(), ends, strict=True)
        }
    )


def _size(where: Mapping[str, Field]) -> int:
    return max(field.stop for field in where.values())


def _numbers(
    view: View, where: Mapping[str, Field], *, laid_away: Sequence[Card]
) -> NDArray[np.int16]:
    """A view as numbers, see :func:`layout`; `laid_away` are cards that its seat is about to
    discard.
    """
    variant, me = view.variant, view.seat
    seats = variant.seats
    found = np.zeros(_size(where), np.int16)
    fields = {name: found[field] for name, field in where.items()}
    fields["hand"][[card for card in view.hand if card not in laid_away]] = 1
    for play in view.trick:
        fields["trick"][(play.seat - me) % seats * 52 + play.card] = 1
    for trick in view.tricks:
        for play in trick.plays:
            fields["played"][(play.seat - me) % seats * 52 + play.card] = 1
    for seat, (count, void) in enumerate(zip(view.counts, view.voids, strict=True)):
        away = (seat - me) % seats
        fields["counts"][away] = count
        for suit in void:
            fields["voids"][away * 4 + suit] = 1
    fields["counts"][0] -= len(laid_away)
    if view.trump is not None:
        fields["trump"][view.trump] = 1
    fields["hakem"][(view.hakem - me) % seats] = 1
    sides = [variant.side_of[(me + away) % seats] for away in range(variant.sides)]
    won = view.tricks_won
    fields["won"][:] = [won[side] for side in sides]
    fields["scores"][:] = [view.scores[side] for side in sides]
    if variant.stock:
        fields["discarded"][[*view.discarded, *laid_away]] = 1
        if view.offered is not None:
            fields["offered"][view.offered] = 1
        fields["stock"][:] = view.stock
        for turn, (_, choice) in enumerate(view.draws):
            if choice is not None:
                fields["draws"][2 * turn + (choice is Draw.REFUSE)] = 1
    return found


def _table(game: Game, agents: Sequence[str]) -> str:
    """A game as a few lines, all cards open."""
    deal = game.deal
    trump = "not named yet" if deal.trump is None else f"{deal.trump.name.lower()}"
    won = "-".join(str(deal.taken.count(Side(side))) for side in range(game.variant.sides))
    lines = [f"hand {game.hand_number}, trump {trump}, tricks {won}"]
    led_by = deal.turn - len(deal.trick)
    for seat, agent in enumerate(agents):
        place = (seat - led_by) % deal.seats
        played = f"  plays {deal.trick[place].symbol}" if place < len(deal.trick) else ""
        hakem = "  hakem" if seat == deal.hakem else ""
        turn = ">" if seat == game.to_act else " "
        lines.append(f"{turn} {agent}  {_suits(deal.hands[seat])}{hakem}{played}")
    if deal.offered is not None:
        lines.append(f"  on offer {deal.offered.symbol}")
    if game.is_over:
        lines.append(f"  over: points {'-'.join(map(str, game.scores))}")
    return "\n".join(lines)


def _suits(hand: CardSet) -> str:
    """A hand by suits, high cards first: ``♣AK2 ♦- ♥T ♠98``."""
    cards = cards_in(hand)
    return " ".join(
        suit.symbol
        + ("".join(card.rank.letter for card in reversed(cards) if card.suit is suit) or "-")
        for suit in Suit
    )
