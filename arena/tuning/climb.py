"""The climb: which values to try next, and what the games say of them (SPSA).

Simultaneous perturbation stochastic approximation (Spall, IEEE Transactions on Aerospace and
Electronic Systems 34/3, 1998) is how engines for chess are tuned. Each trial moves all values at
once, every one of them up or down by chance, and plays that against the opposite move: the
difference in points says how much better it is to go one way than the other, with a noise that a
single game mostly consists of. Small steps along it, smaller with time, add up. What was found is
where the second half of the way lay in the mean.

It climbs from where it stands and sees no other hill. This module plays nothing and draws nothing:
chance comes from a seed, so the same differences always lead the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.ladder.bots.entrants import Parameter
from hokm.deck import Stream, board_seed

_REACH: Final = 0.2
"""How far a value is moved in the first trial, as a part of its range; found by simulation."""

_REACH_DECAY: Final = 0.101
_STEP_DECAY: Final = 0.602
"""Spall's advice for few trials."""

_STEADY: Final = 0.1
"""For that part of the trials steps hardly become smaller."""

_STEP: Final = 0.2
_STEP_BOARDS: Final = 32
"""Of its range a value goes so far per point a board and range, in the first trial, where a trial
has so many boards; with the root of their number, as their noise falls. Found by simulation.
"""

Values = tuple[float, ...]
"""A number for each parameter, in their order."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What trial `number`, from 1, sets against each other."""

    number: int
    up: Values
    down: Values


@dataclass(frozen=True, slots=True)
class Found:
    """A parameter's value, and between which the way went in the half of the trials that counts."""

    parameter: Parameter
    value: float
    low: float
    high: float


class Climb:
    """A way through the values of `parameters`, from their defaults, in so many `trials`.

    Call :meth:`next` for what to try and :meth:`take` with what came of it, until there is no next.

    Attributes:
        way: where it stood before the first trial and after each; not rounded where a parameter is
            a whole number.
    """

    def __init__(
        self, parameters: Sequence[Parameter], *, trials: int, boards: int, mixed: bytes
    ) -> None:
        self.parameters = tuple(parameters)
        self.trials = trials
        self.way: list[Values] = [tuple(one.default for one in self.parameters)]
        self._mixed = mixed
        self._step = _STEP * (boards / _STEP_BOARDS) ** 0.5
        self._at = [self._part(one, one.default) for one in self.parameters]

    @property
    def done(self) -> int:
        """How many trials have been taken in."""
        return len(self.way) - 1

    def next(self) -> Pair | None:
        """The trial to play now; None after the last."""
        if self.done == self.trials:
            return None
        number = self.done + 1
        chance = Stream(board_seed(self._mixed, "tune", number), "signs")
        up, down = [], []
        for parameter, at in zip(self.parameters, self._at, strict=True):
            reach = self._reach(parameter)
            # At an end of the range it is tried from further inside: a shorter reach sees less.
            middle = min(max(at, reach), 1 - reach)
            sign = 1 if chance.below(2) else -1
            up.append(self._value(parameter, middle + sign * reach))
            down.append(self._value(parameter, middle - sign * reach))
        return Pair(number, tuple(up), tuple(down))

    def take(self, points: float) -> None:
        """Go on by what the next trial came to: the points a board that `up` had more than `down`.

        Raises ValueError after the last trial.
        """
        pair = self.next()
        if pair is None:
            raise ValueError(f"all {self.trials} trials have been taken in")
        steady = _STEADY * self.trials
        step = self._step * ((1 + steady) / (pair.number + steady)) ** _STEP_DECAY
        for place, parameter in enumerate(self.parameters):
            gap = self._part(parameter, pair.up[place]) - self._part(parameter, pair.down[place])
            if gap:
                self._at[place] = min(max(self._at[place] + step * points / gap, 0.0), 1.0)
        self.way.append(
            tuple(
                parameter.low + at * (parameter.high - parameter.low)
                for parameter, at in zip(self.parameters, self._at, strict=True)
            )
        )

    @property
    def found(self) -> tuple[Found, ...]:
        """What it has come to so far: the mean of the second half of the way."""
        half = self.way[len(self.way) // 2 :]
        columns = zip(*half, strict=True)
        return tuple(
            Found(parameter, parameter.near(sum(column) / len(column)), min(column), max(column))
            for parameter, column in zip(self.parameters, columns, strict=True)
        )

    def _reach(self, parameter: Parameter) -> float:
        reach: float = _REACH / (self.done + 1) ** _REACH_DECAY
        if parameter.is_integer:  # up and down are to be different numbers
            reach = max(reach, 0.5 / (parameter.high - parameter.low))
        return min(reach, 0.5)

    def _part(self, parameter: Parameter, value: float) -> float:
        """Where in its range a value lies, 0 to 1."""
        return (value - parameter.low) / (parameter.high - parameter.low)

    def _value(self, parameter: Parameter, part: float) -> float:
        return parameter.near(parameter.low + part * (parameter.high - parameter.low))
