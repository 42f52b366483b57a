"""Trains the networks by self-play on the vectorised environment, with nothing but NumPy.

All seats play with the network as it is, now and then at random. Beside it learns a *teacher*, a
network that sees the cards of the other seats as well: from every card that was chosen it learns
what the side made of the hand. What a hand comes to depends most of all on where the cards lie, and
that the teacher knows; so it soon tells what each of the legal cards would have come to on this
very deal. The network that plays learns from the teacher which of its legal cards are better than
the others, over all the deals that look alike from its seat. Declarations learn likewise.

    python sample_bots/learned/train.py --seats 4 --hands 1000000

writes ``weights.npz`` beside this file. It needs numba besides (``pip install 'hokm-sdk[env]'``).
"""

import argparse
import os
import time
from itertools import pairwise
from pathlib import Path

# More threads would be many times slower than one, and would add up in another order each time.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from bot import (
    DECLARED,
    HAKEM,
    INPUTS,
    LEADS,
    OWN,
    PLACED,
    PLAYED,
    RUFF,
    TAKING,
    UNSEEN,
    VOIDS,
    WEIGHTS,
    WINNER,
    WINNING,
    WON,
    Floats,
    Network,
    load,
    save,
)
from numpy.typing import NDArray

from hokm.env.actions import DECLARE, KEEP, REFUSE
from hokm.env.kernels import DECLARATION, DISCARDS, DRAWS, NONE, ONE, TRICKS, compiled, size_of
from hokm.env.observing import Observation, Observations
from hokm.env.vector import VectorEnv

HIDDEN = INPUTS
"""Where the teacher's inputs go on: the cards of the seats one, two and three turns later, by
place."""
OPEN_INPUTS = HIDDEN + 3 * 52
WIDTH = 128
"""Values in each of two hidden layers."""
DECLARE_WIDTH = 64
RATE, CHANCE = 5e-4, 0.05
"""How far a step goes, and how often a seat chooses at random."""
REPORT_ROUNDS = 10
BATCH = 512
"""How many choices a step learns from."""
MEAN_STEPS = 4000
"""Over how many steps networks are averaged."""
TEACHER_ROUNDS = 10
"""Rounds in which the teacher learns alone, and what it says is not worth much."""
TRACE = 0.8
"""How much a choice learns from what came of the hand, and not from what was expected next."""
TRICK_SHARE = 0.25
"""What a trick counts beside a point while training: it says sooner how a hand goes."""

# -- inputs


@compiled
def suit_order(seen: Observation, trump: int, order: NDArray[np.int64]) -> None:
    """Trump, the suit that was led, then the others by length and height of what is held."""
    filled = 1
    order[0] = trump
    if seen.led >= 0 and seen.led != trump:
        order[1] = seen.led
        filled = 2
    start = filled
    for suit in range(4):
        if suit == trump or suit == seen.led:
            continue
        at = filled
        while at > start and suit_rank(seen, suit) > suit_rank(seen, order[at - 1]):
            order[at] = order[at - 1]
            at -= 1
        order[at] = suit
        filled += 1


@compiled
def suit_rank(seen: Observation, suit: int) -> int:
    """Longer suits are greater, of equally long ones that with the higher cards, then that of which
    fewer cards are out.
    """
    ranks = np.uint64(0x1FFF)
    held = (seen.hand >> np.uint64(13 * suit)) & ranks
    out = (seen.unseen >> np.uint64(13 * suit)) & ranks
    return np.int64((size_of(held) << np.uint64(26)) | (held << np.uint64(13)) | (ranks ^ out))


@compiled
def place_of(card: int, slot: int, live: np.uint64) -> int:
    """A card's place: thirteen a suit, less one for every live card of the suit above it."""
    suit = card // 13
    above = (np.uint64(0x1FFF) << np.uint64(13 * suit)) & ~((np.uint64(2) << np.uint64(card)) - ONE)
    return 13 * slot + 12 - np.int64(size_of(live & above))


@compiled
def strength_of(card: int, trump: int, led: int) -> int:
    if card // 13 == trump:
        return 13 + card % 13 + 1
    return card % 13 + 1 if card // 13 == led else 0


@compiled
def encode(
    seen: Observations,
    hands: NDArray[np.uint64],
    rows: NDArray[np.int64],
    inputs: NDArray[np.uint8],
    cards: NDArray[np.int8],
) -> None:
    """For each of those rows the inputs of the teacher, zeros before, the first of which are those
    of the network that plays; and the legal card at each place, -1 for none. ``hands`` are by game
    and seat.
    """
    order = np.empty(4, np.int64)
    slots = np.empty(4, np.int64)
    for row in range(len(rows)):
        one, x = seen[rows[row]], inputs[row]
        trump, led = one.trump, one.led
        suit_order(one, trump, order)
        for slot in range(4):
            slots[order[slot]] = slot
        live = one.hand | one.unseen
        placed = 0
        for place in range(1, 4):
            if one.trick[place] >= 0:
                live |= ONE << np.uint64(one.trick[place])
                placed += 1
        best = -1
        if one.winning >= 0:
            winning = one.trick[one.winning]
            best = strength_of(winning, trump, led)
            x[WINNING + place_of(winning, slots[winning // 13], live)] = 1
            x[WINNER + one.winning - 1] = 1
        for card in range(52):
            cards[row, card] = -1
        for card in range(52):
            bit = ONE << np.uint64(card)
            if live & bit == NONE:
                continue
            place = place_of(card, slots[card // 13], live)
            if one.hand & bit != NONE:
                x[OWN + place] = 1
                if best >= 0 and strength_of(card, trump, led) > best:
                    x[TAKING + place] = 1
                if one.legal & bit != NONE:
                    cards[row, place] = card
            elif one.unseen & bit != NONE:
                x[UNSEEN + place] = 1
        seats = hands.shape[1]
        for turns in range(1, seats):
            hand = hands[rows[row], (one.seat + turns) % seats]
            for card in range(52):
                if hand >> np.uint64(card) & ONE != NONE:
                    x[HIDDEN + 52 * (turns - 1) + place_of(card, slots[card // 13], live)] = 1
        x[PLACED + placed] = 1
        x[RUFF] = led == trump
        x[HAKEM + one.hakem] = 1
        for side in range(3):
            x[WON + 10 * side + min(9, one.won[side])] = 1
        for place in range(3):
            for slot in range(4):
                suit = order[slot]
                x[VOIDS + 4 * place + slot] = (one.voids[place + 1] >> suit) & 1
                x[LEADS + 4 * place + slot] = (one.leads[place + 1] >> suit) & 1
                x[PLAYED + 4 * place + slot] = size_of(
                    (one.played[place + 1] >> np.uint64(13 * suit)) & np.uint64(0x1FFF)
                )


@compiled
def encode_declarations(
    seen: Observations, rows: NDArray[np.int64], inputs: NDArray[np.uint8]
) -> None:
    """For each of those rows the inputs of four declarations, (n, 4, 52), zeros before."""
    order = np.empty(4, np.int64)
    for row in range(len(rows)):
        for trump in range(4):
            suit_order(seen[rows[row]], trump, order)
            for slot in range(4):
                held = seen[rows[row]].hand >> np.uint64(13 * order[slot])
                for rank in range(13):
                    inputs[row, trump, 13 * slot + rank] = held >> np.uint64(rank) & ONE


# -- two seats before the tricks: by a rule, the same as the bot's


@compiled
def worth(card: int, trump: int) -> float:
    height = card % 13 + 1
    return 14.0 + height if card // 13 == trump else height * height / 13


@compiled
def discard_or_draw(seen: Observations, actions: NDArray[np.int64]) -> None:
    """Lay away what is worth least; keep a card worth what the unseen ones are in the mean."""
    for row in range(len(seen)):
        one = seen[row]
        if one.phase == DISCARDS:
            least = 99.0
            for card in range(52):
                if one.hand >> np.uint64(card) & ONE != NONE and worth(card, one.trump) < least:
                    least = worth(card, one.trump)
                    actions[row] = card
        elif one.phase == DRAWS:
            total = 0.0
            for card in range(52):
                if one.unseen >> np.uint64(card) & ONE != NONE:
                    total += worth(card, one.trump)
            mean = total / size_of(one.unseen)
            actions[row] = KEEP if worth(one.offered, one.trump) >= mean else REFUSE


# -- learning


def fresh(sizes: tuple[int, ...], rng: np.random.Generator) -> Network:
    """A network of random weights, as He, Zhang, Ren and Sun (2015) scale them; the last layer's
    are small, so that it values all alike.
    """
    layers = []
    for number, (rows, columns) in enumerate(pairwise(sizes), start=2):
        scale = np.sqrt(2 / rows) * (0.1 if number == len(sizes) else 1)
        weights = rng.normal(0, scale, (rows, columns)).astype(np.float32)
        layers.append((weights, np.zeros(columns, np.float32)))
    return Network(layers)


class Adam:
    """Steps down the slope of a network's error (Kingma and Ba, 2015), and the mean of the networks
    on the way, which plays better than any of them: what is learned last from a handful of hands
    does not weigh (Polyak and Juditsky, 1992).
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.mean = Network([(weights.copy(), biases.copy()) for weights, biases in network.layers])
        self._steps = 0
        self._means = [np.zeros_like(array) for array in network.arrays]
        self._squares = [np.zeros_like(array) for array in network.arrays]

    def learn(
        self,
        inputs: Floats,
        asked: NDArray[np.bool_],
        *,
        targets: Floats,
        differences: bool = False,
    ) -> None:
        """One step for rows of inputs; of each row's outputs those that are asked for are to come
        closer to their targets, or only the differences between them to those between the targets.
        """
        layers = self.network.layers
        values, passed = inputs, []
        for number, (weights, biases) in enumerate(layers):
            if number:
                values = np.maximum(values, 0)
            passed.append(values)
            values = values @ weights + biases
        slope = np.where(asked, values - targets, 0) / np.float32(len(inputs))
        if differences:
            common = slope.sum(axis=1, keepdims=True) / asked.sum(axis=1, keepdims=True)
            slope -= np.where(asked, common.astype(np.float32), 0)
        slopes: list[Floats] = []
        for number in reversed(range(len(layers))):
            slopes[:0] = [passed[number].T @ slope, slope.sum(axis=0)]
            if number:
                slope = (slope @ layers[number][0].T) * (passed[number] > 0)
        self._descend(slopes)

    def _descend(self, slopes: list[Floats]) -> None:
        self._steps += 1
        corrected = np.float32(RATE * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps))
        newest = np.float32(max(1 / MEAN_STEPS, 4 / (self._steps + 4)))
        for array, kept, slope, mean, square in zip(
            self.network.arrays, self.mean.arrays, slopes, self._means, self._squares, strict=True
        ):
            mean += np.float32(0.1) * (slope - mean)
            square += np.float32(0.001) * (slope * slope - square)
            array -= corrected * mean / (np.sqrt(square) + np.float32(1e-8))
            kept += newest * (array - kept)


class Experience:
    """What was chosen where, in hands that are played at once: inputs of the teacher, places that
    were legal and the one that was chosen, and whose choice it was.
    """

    def __init__(self) -> None:
        self._inputs: list[NDArray[np.uint8]] = []
        self._legal: list[NDArray[np.bool_]] = []
        self._chosen: list[NDArray[np.int64]] = []
        self._who: list[tuple[NDArray[np.int64], NDArray[np.int8]]] = []

    def add(
        self,
        inputs: NDArray[np.uint8],
        legal: NDArray[np.bool_],
        *,
        chosen: NDArray[np.int64],
        games: NDArray[np.int64],
        seats: NDArray[np.int8],
    ) -> None:
        """One choice each of some games, of each the seat that made it."""
        self._inputs.append(inputs)
        self._legal.append(legal)
        self._chosen.append(chosen)
        self._who.append((games, seats))

    def inputs(self) -> Floats:
        """Of all choices, in the order in which they were made."""
        return np.concatenate(self._inputs).astype(np.float32)

    def legal(self) -> NDArray[np.bool_]:
        """Of all choices."""
        return np.concatenate(self._legal)

    def chosen(self) -> NDArray[np.bool_]:
        """Of all choices, the same shape as :meth:`legal`."""
        made = np.zeros_like(self.legal())
        made[np.arange(len(made)), np.concatenate(self._chosen)] = True
        return made

    def targets(self, returns: Floats, expected: Floats) -> tuple[Floats, float]:
        """What each choice is to be valued at, given the returns by game and seat and what it was
        expected to bring; and the mean square error of what was expected.

        From the last choice to the first, a target is partly what came of the hand and partly what
        was expected of what the same seat chose next: ``TRACE`` of the one, the rest of the other,
        and so on backwards (the return lambda of Sutton's temporal differences).
        """
        came_of_it = np.concatenate([returns[who] for who in self._who])
        error = float(np.square(expected - came_of_it).mean())
        traced, ends = returns.copy(), np.cumsum([len(chosen) for chosen in self._chosen])
        targets: list[Floats] = []
        for who, end in zip(reversed(self._who), reversed(ends), strict=True):
            targets.append(traced[who])
            own = expected[end - len(who[0]) : end]
            traced[who] = TRACE * traced[who] + (1 - TRACE) * own
        return np.concatenate(targets[::-1]), error


class Training:
    """Self-play with the networks of one variant, and learning from it."""

    def __init__(
        self, seats: int, *, seed: int, games: int = 1024, begin: Path | None = None
    ) -> None:
        self.rng = np.random.default_rng(seed)
        if begin is None:
            self.play = Adam(fresh((INPUTS, WIDTH, WIDTH, 52), self.rng))
            self.declare = Adam(fresh((DECLARED, DECLARE_WIDTH, 1), self.rng))
        else:
            self.play = Adam(load(begin, f"{seats} play"))
            self.declare = Adam(load(begin, f"{seats} declare"))
        self.teacher = Adam(fresh((OPEN_INPUTS, WIDTH, WIDTH, 52), self.rng))
        self.env = VectorEnv(games, seats=seats, deals_on=False)
        self.seed = seed
        self.rounds = 0

    @property
    def networks(self) -> dict[str, Network]:
        """By the names under which the bot looks for them."""
        seats = self.env.seats
        return {f"{seats} play": self.play.mean, f"{seats} declare": self.declare.mean}

    def round(self) -> float:
        """Play a hand in every game and learn from them; the mean square error of what the teacher
        expects of the cards that were chosen.
        """
        self.env.reset(self.seed * 1_000_003 + self.rounds)
        self.rounds += 1
        made = Experience()
        returns = np.zeros((len(self.env), self.env.seats), np.float32)
        while not self.env.is_over:
            seen = self.env.observe()
            actions = np.full(len(seen), -1)
            self._declare(seen, actions)
            discard_or_draw(seen, actions)
            self._play(seen, actions, made)
            self.env.step(actions)
            returns += self.env.rewards()
        return self._learn(made, returns + TRICK_SHARE * self._tricks_ahead())

    def _learn(self, made: Experience, returns: Floats) -> float:
        inputs, legal, chosen = made.inputs(), made.legal(), made.chosen()
        values = self.teacher.network(inputs)
        targets, error = made.targets(returns, values[chosen])
        order = self.rng.permutation(len(inputs))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            self.teacher.learn(inputs[some], chosen[some], targets=targets[some, None])
            if self.rounds > TEACHER_ROUNDS:
                own = np.ascontiguousarray(inputs[some, :INPUTS])
                self.play.learn(own, legal[some], targets=values[some], differences=True)
        if self.rounds > TEACHER_ROUNDS:
            self._learn_declarations()
        return error

    def _learn_declarations(self) -> None:
        """From what the teacher expects of the hakem's first card, after each of the declarations,
        on the decks of this round.
        """
        seats, decks = self.env.seats, np.repeat(self.env.decks, 4, axis=0)
        env = VectorEnv.from_decks(decks, np.repeat(self.env.hakem, 4), seats=seats)
        rows = np.arange(len(env))
        seen = env.observe()
        inputs = np.zeros((len(env), 4, DECLARED), np.uint8)
        encode_declarations(seen, rows, inputs)
        suits = rows % 4
        env.step(DECLARE + suits)
        while (env.phase != TRICKS).any():
            seen = env.observe()
            actions = np.full(len(seen), -1)
            discard_or_draw(seen, actions)
            env.step(actions)
        positions, cards = self._encoded(env, env.observe(), rows)
        positions, legal = positions.astype(np.float32), cards >= 0
        best = np.where(legal, self.play.network(positions[:, :INPUTS]), -np.inf).argmax(axis=1)
        targets = self.teacher.network(positions)[rows, best]
        named = inputs[rows, suits].astype(np.float32)
        for some in np.array_split(self.rng.permutation(len(env)), max(1, len(env) // BATCH)):
            is_asked = np.ones((len(some), 1), np.bool_)
            self.declare.learn(named[some], is_asked, targets=targets[some, None])

    def _encoded(
        self, env: VectorEnv, seen: Observations, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Of those rows the inputs of the teacher, and the legal card at each place."""
        inputs = np.zeros((len(rows), OPEN_INPUTS), np.uint8)
        cards = np.empty((len(rows), 52), np.int8)
        encode(seen, env.hands, rows, inputs, cards)
        return inputs, cards

    def _tricks_ahead(self) -> Floats:
        """By game and seat, its side's tricks less those of the others in the mean."""
        won = self.env.tricks_won.astype(np.float32)
        variant = self.env.variant
        ahead = won - (won.sum(axis=1, keepdims=True) - won) / (variant.sides - 1)
        return ahead[:, list(variant.side_of)]

    def _declare(self, seen: Observations, actions: NDArray[np.int64]) -> None:
        [rows] = np.nonzero(seen["phase"] == DECLARATION)
        if not len(rows):
            return
        inputs = np.zeros((len(rows), 4, DECLARED), np.uint8)
        encode_declarations(seen, rows, inputs)
        rows_of_four = inputs.reshape(-1, DECLARED).astype(np.float32)
        suits = self.declare.network(rows_of_four).reshape(-1, 4).argmax(axis=1)
        stray = self.rng.random(len(rows)) < CHANCE
        suits[stray] = self.rng.integers(0, 4, stray.sum())
        actions[rows] = DECLARE + suits

    def _play(self, seen: Observations, actions: NDArray[np.int64], made: Experience) -> None:
        [rows] = np.nonzero(seen["phase"] == TRICKS)
        if not len(rows):
            return
        inputs, cards = self._encoded(self.env, seen, rows)
        legal = cards >= 0
        places = legal.argmax(axis=1)
        [asked] = np.nonzero(legal.sum(axis=1) > 1)
        if len(asked):
            values = self.play.network(inputs[asked, :INPUTS].astype(np.float32))
            stray = self.rng.random(len(asked)) < CHANCE
            values[stray] = self.rng.random((stray.sum(), 52))
            places[asked] = np.where(legal[asked], values, -np.inf).argmax(axis=1)
            made.add(
                inputs[asked],
                legal[asked],
                chosen=places[asked],
                games=rows[asked],
                seats=seen["seat"][rows[asked]],
            )
        actions[rows] = cards[np.arange(len(rows)), places]


def train(
    seats: int, *, hands: int, games: int, seed: int, path: Path, begin: Path | None = None
) -> None:
    """Train the networks of one variant on so many hands, ``games`` of them at once, and write them
    every now and then. ``begin`` has networks to begin with.
    """
    training = Training(seats, seed=seed, games=games, begin=begin)
    rounds = max(1, hands // games)
    errors: list[float] = []
    started = time.process_time()
    for number in range(1, rounds + 1):
        errors.append(training.round())
        if number % REPORT_ROUNDS == 0 or number == rounds:
            save(path, training.networks)
            seconds = time.process_time() - started
            error = np.mean(errors[-REPORT_ROUNDS:])
            print(  # noqa: T201
                f"{number * games:,} hands, {seconds:,.0f} s of CPU, error {error:.3f}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the networks by self-play.")
    parser.add_argument("--seats", type=int, choices=(2, 3, 4), default=4)
    parser.add_argument("--hands", type=int, default=1_000_000)
    parser.add_argument("--games", type=int, default=1024, help="hands that are played at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--begin", type=Path, metavar="FILE", help="go on from these weights")
    parser.add_argument("--out", type=Path, default=WEIGHTS, metavar="FILE")
    given = parser.parse_args()
    train(
        given.seats,
        hands=given.hands,
        games=given.games,
        seed=given.seed,
        path=given.out,
        begin=given.begin,
    )


if __name__ == "__main__":
    main()
