"""Thousands of games at once in arrays: the vectorised environment.

:class:`VectorEnv` steps many hands of one variant together, each game a hand of the board format
from its declaration to its points, and after it the next. Everything comes and goes as NumPy
arrays with a row a game; the work is done by compiled loops (:mod:`hokm.env.kernels`). Actions are
numbered as :mod:`hokm.env.actions` has it. Decks come from a counted generator of its own, so a
seed gives the same hands everywhere, but not those of ``hokm-shuffle-v1``: for those, or any
others, give the decks (:meth:`VectorEnv.from_decks`).

>>> env = VectorEnv(1000, seats=4)
>>> env.reset(seed=7)
>>> played = 0
>>> while played < 5000:
...     env.step(env.random_actions())
...     played += int(env.done.sum())
>>> env.masks().shape, env.observe()["hand"].shape, env.rewards().shape
((1000, 58), (1000,), (1000, 4))

The first call in a fresh place compiles, which takes some seconds.
"""

from operator import index
from typing import Final, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hokm.env import kernels
from hokm.env.actions import ACTIONS
from hokm.env.kernels import GAME, Games
from hokm.env.observing import OBSERVATION, Observations, observe_all
from hokm.rules.options import Rules
from hokm.rules.variants import variant_of

__all__ = ["Observations", "VectorEnv", "planes"]


class VectorEnv:
    """``games`` hands at once, with two, three or four seats, by the default rules for boards.

    Call :meth:`reset`, then :meth:`step` with an action for every game, as often as you like;
    before it there is no hand to act in or to observe, and ValueError says so. With
    ``deals_on`` a game whose hand is over begins the next at once; without it the hand stays as it
    ended, its action is ignored, and :attr:`is_over` says when all have.

    Raises ValueError for fewer games than one, RulesError for other seats, TypeError for what is no
    integer.

    In every array row ``i`` is game ``i``. What attributes return are views of the state: read
    them, copy them to keep them, and do not write to them.
    """

    def __init__(
        self, games: SupportsIndex, *, seats: SupportsIndex = 4, deals_on: bool = True
    ) -> None:
        games, seats = index(games), index(seats)
        if games < 1:
            raise ValueError(f"at least one game is played, not {games}")
        self.variant: Final = variant_of(Rules.of(seats))
        """The variant as the rules have it."""
        self.seats: Final = seats
        self.deals_on: Final = deals_on
        self._games: Games = np.zeros(games, GAME)
        self._games["seats"] = seats
        self._games["sides"] = self.variant.sides
        self._games["phase"] = kernels.OVER
        self._clock = 0
        self._has_begun = False

    def __len__(self) -> int:
        return len(self._games)

    def reset(self, seed: SupportsIndex) -> None:
        """Begin a hand in every game. Decks, hakems and :meth:`random_actions` follow from the seed
        (taken modulo 2**64), each game's from its row and not from how many there are.

        Raises TypeError for a seed that is no integer.
        """
        kernels.seed_all(self._games, np.uint64(index(seed) % 2**64))
        kernels.deal_all(self._games)
        self._forget()

    @classmethod
    def from_decks(cls, decks: ArrayLike, hakems: ArrayLike, *, seats: int = 4) -> Self:
        """One hand a row of ``decks``, which are dealt as rulebook 1.10 says; no hand follows.

        Args:
            decks: (n, 52) cards, the top first; (n, 51) with three seats.
            hakems: (n,) seats.

        Raises:
            ValueError: if a row is not the pack, each card once, or a hakem has no seat; if they
                are not integers.
        """
        dealt = _integers(decks, "cards")
        env = cls(len(dealt), seats=seats, deals_on=False)
        pack = np.array(env.variant.pack)
        if dealt.shape != (len(dealt), len(pack)) or (np.sort(dealt, axis=1) != pack).any():
            raise ValueError(f"a deck here is the {len(pack)} cards of the pack, each once")
        first = _integers(hakems, "hakems")
        if first.shape != (len(dealt),) or first.min() < 0 or first.max() >= seats:
            raise ValueError(f"hakems are a seat a deck, 0 to {seats - 1}")
        kernels.seed_all(env._games, np.uint64(0))
        env._games["deck"][:, : len(pack)] = dealt
        env._games["hakem"] = first
        kernels.start_all(env._games)
        env._forget()
        return env

    def _forget(self) -> None:
        self._has_begun = True
        self._clock = 0
        self._games["done"] = False
        self._games["points"] = 0

    def _begun(self) -> Games:
        """The games, once there are hands in them."""
        if not self._has_begun:
            raise ValueError("nothing is played yet: call reset() first")
        return self._games

    # -- what is going on

    @property
    def phase(self) -> NDArray[np.int8]:
        """(n,): 0 declaration, 1 discards, 2 draws, 3 tricks, 4 the hand is over."""
        return self._games["phase"]

    @property
    def turn(self) -> NDArray[np.int8]:
        """(n,): the seat that is to act."""
        return self._games["turn"]

    @property
    def hakem(self) -> NDArray[np.int8]:
        """(n,): the hakem's seat."""
        return self._games["hakem"]

    @property
    def trump(self) -> NDArray[np.int8]:
        """(n,): the trump suit, -1 before it is named."""
        return self._games["trump"]

    @property
    def legal(self) -> NDArray[np.uint64]:
        """(n,): the legal actions as bits, ``legal[i] >> a & 1`` for action ``a``; 0 where the hand
        is over.
        """
        return self._begun()["legal"]

    def masks(self) -> NDArray[np.bool_]:
        """(n, 58): the same as booleans."""
        return planes(self.legal, ACTIONS)

    def observe(self) -> Observations:
        """(n,) records with the fields of :class:`~hokm.env.observing.Observation`: what the seat
        to act knows, and nothing else.
        """
        seen = np.empty(len(self), OBSERVATION)
        observe_all(self._begun(), seen)
        return seen

    @property
    def decks(self) -> NDArray[np.uint8]:
        """(n, 52), or (n, 51) with three seats: the decks, for comparison; no seat knows them."""
        return self._games["deck"][:, : len(self.variant.pack)]

    @property
    def hands(self) -> NDArray[np.uint64]:
        """(n, seats): the cards that each seat holds, for critics and tests; no seat knows those of
        others.
        """
        return self._games["hands"][:, : self.seats]

    @property
    def hand_numbers(self) -> NDArray[np.uint64]:
        """(n,): which hand of its game this is, from 1."""
        return self._games["number"]

    # -- what the last step brought

    @property
    def done(self) -> NDArray[np.bool_]:
        """(n,): whether the last step ended a hand."""
        return self._games["done"]

    @property
    def is_over(self) -> bool:
        """Whether every hand is over; with ``deals_on`` none ever stays so."""
        return bool((self._games["phase"] == kernels.OVER).all())

    @property
    def points(self) -> NDArray[np.int8]:
        """(n, sides): the points of the hand that the last step ended; zeros where it did not."""
        return self._games["points"][:, : self.variant.sides]

    def rewards(self) -> NDArray[np.float32]:
        """(n, seats): for the hand that the last step ended, the points of the seat's side less
        those of the others in the mean; they are 0 in sum.
        """
        points = self.points.astype(np.float32)
        others = (points.sum(axis=1, keepdims=True) - points) / (self.variant.sides - 1)
        ahead: NDArray[np.float32] = points - others
        return ahead[:, list(self.variant.side_of)]

    @property
    def tricks_won(self) -> NDArray[np.int8]:
        """(n, sides): tricks won in the hand that is on, or stays as it ended."""
        return self._games["won"][:, : self.variant.sides]

    # -- acting

    def step(self, actions: ArrayLike) -> None:
        """The seat to act of every game does so. ``actions`` are (n,) integers.

        Raises ValueError for the first action that is not legal, and for what is no action a game,
        and then nothing has changed.
        """
        games, chosen = self._begun(), np.ascontiguousarray(_integers(actions, "actions"))
        if chosen.shape != (len(self),):
            raise ValueError(f"an action a game, shape ({len(self)},), not {chosen.shape}")
        wrong = kernels.step_all(games, chosen, self.deals_on)
        if wrong >= 0:
            raise ValueError(
                f"action {chosen[wrong]} of seat {self.turn[wrong]} in game {wrong} is not legal"
            )

    def random_actions(self) -> NDArray[np.int64]:
        """(n,): for every game one of its legal actions, each as likely as another; -1 where the
        hand is over.
        """
        actions = np.empty(len(self), np.int64)
        kernels.choose_all(self._begun(), np.uint64(self._clock), actions)
        self._clock += 1
        return actions

    def play_random(self, steps: int) -> int:
        """What ``step(random_actions())`` does, so many times over, in one go: how many decisions
        were made.
        """
        games = self._begun()
        decisions: int = kernels.play_on(games, np.uint64(self._clock), steps, self.deals_on)
        self._clock += steps
        return decisions


def _integers(given: ArrayLike, what: str) -> NDArray[np.int64]:
    """The array of integers that was given; raises ValueError for one of anything else."""
    array = np.asarray(given)
    if array.dtype.kind not in "iu" and array.size:  # of nothing NumPy makes floats
        raise ValueError(f"{what} are integers, not {array.dtype}")
    return array.astype(np.int64, copy=False)


def planes(sets: NDArray[np.uint64], width: int = 52) -> NDArray[np.bool_]:
    """(n, width): sets of cards or actions as booleans, from their (n,) bits."""
    masks = np.empty((len(sets), width), np.bool_)
    kernels.fill_masks(np.ascontiguousarray(sets), masks)
    return masks
