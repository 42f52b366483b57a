"""What the vectorised environment does to its arrays, one game at a time, compiled by numba.

The state is one array of records, a :class:`Game` each: compiled functions hand a record on as a
pointer, and what a decision touches lies together. Cards are bits as in
:class:`~hokm.cards.CardSet`, and so are legal actions, by their numbers in :mod:`hokm.env.actions`:
58 fit into a word. Which card takes is asked of the rules' own table; what follows from it is
written here once more, for speed, and held to the rules core by a test that plays both. The rules
are the defaults for boards.

Compiled code is kept beside this file as Python keeps its own (``__pycache__``), or not at all
where nothing can be written.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from hokm.cards import Suit
from hokm.rules.tricks import STRENGTH, SUIT_CARDS

P = ParamSpec("P")
R = TypeVar("R")

# -- phases

DECLARATION, DISCARDS, DRAWS, TRICKS, OVER = range(5)

# -- constants of the game; numbers beside words of 64 bits must be such words themselves

NONE = np.uint64(0)
ONE = np.uint64(1)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The step of splitmix64."""
DECLARATIONS_LEGAL = np.uint64(0xF << 52)
DRAWS_LEGAL = np.uint64(0b11 << 56)

_SUITS: NDArray[np.uint64] = np.array(SUIT_CARDS, dtype=np.uint64)
_STRENGTH = np.array(STRENGTH[: len(Suit)], dtype=np.uint8)

FIRST_PACKET, PACKET = 5, 4
STOCK, TURNS = 10, 21
HAKEM_DISCARDS, ALL_DISCARDS = 3, 5
SWEEP = 7
WIN, KOT, HAKEM_KOT = 1, 2, 3


class Game:
    """One game of ``seats`` seats and ``sides`` sides, a record of an array of dtype :data:`GAME`.
    Of fields with a value a seat or side, those beyond its number are not used.
    """

    seats: int
    sides: int
    seed: np.uint64
    """What every deck and every random choice of this game follows from."""
    number: np.uint64
    """How many hands were begun."""
    deck: NDArray[np.uint8]
    """The deck of the hand, its top first; 51 cards with three seats."""
    hakem: int
    phase: int
    """DECLARATION, DISCARDS, DRAWS, TRICKS or OVER."""
    turn: int
    """The seat that is to act."""
    legal: np.uint64
    """What it may do, bit ``a`` for action ``a``; 0 once the hand is over."""
    trump: int
    """The trump suit, -1 before it is named."""
    hands: NDArray[np.uint64]
    """By seat, the cards held."""
    coming: NDArray[np.uint64]
    """By seat, the cards it is dealt once trump is named."""
    discarded: NDArray[np.uint64]
    """By seat, the cards it laid away, and those it saw go in the draw."""
    turns: int
    """Discards made while they are, then draws made."""
    kept: np.uint32
    """Bit ``t`` is on if the card of draw ``t`` was kept."""
    offered: int
    """The card that is looked at in a draw, else -1."""
    led: int
    """The suit led to the trick that is on, -1 before the lead."""
    trick: NDArray[np.int8]
    """By seat, its card in the trick that is on, -1 for none."""
    placed: int
    """How many cards that is."""
    winning: int
    """The seat that takes the trick as it stands."""
    strength: int
    """How strong its card is."""
    played: NDArray[np.uint64]
    """By seat, the cards it has played."""
    voids: NDArray[np.uint8]
    """By seat, bit ``s`` is on if it did not follow suit ``s``."""
    leads: NDArray[np.uint8]
    """By seat, bit ``s`` is on if it led suit ``s`` to a trick."""
    plays: NDArray[np.int8]
    """The cards in the order in which they were played, -1 for those to come."""
    count: int
    """How many were played."""
    won: NDArray[np.int8]
    """By side, tricks won."""
    done: bool
    """Whether the last step ended a hand."""
    points: NDArray[np.int8]
    """By side, what it got for that hand; 0 for all where none ended."""


_BY_SEAT, _BY_CARD = (4,), (52,)
GAME = np.dtype(
    [
        ("seed", np.uint64),
        ("number", np.uint64),
        ("legal", np.uint64),
        ("hands", np.uint64, _BY_SEAT),
        ("coming", np.uint64, _BY_SEAT),
        ("discarded", np.uint64, _BY_SEAT),
        ("played", np.uint64, _BY_SEAT),
        ("kept", np.uint32),
        ("seats", np.int8),
        ("sides", np.int8),
        ("hakem", np.int8),
        ("phase", np.int8),
        ("turn", np.int8),
        ("trump", np.int8),
        ("turns", np.int8),
        ("offered", np.int8),
        ("led", np.int8),
        ("placed", np.int8),
        ("winning", np.int8),
        ("strength", np.int8),
        ("count", np.int8),
        ("done", np.bool_),
        ("trick", np.int8, _BY_SEAT),
        ("voids", np.uint8, _BY_SEAT),
        ("leads", np.uint8, _BY_SEAT),
        ("won", np.int8, _BY_SEAT),
        ("points", np.int8, _BY_SEAT),
        ("deck", np.uint8, _BY_CARD),
        ("plays", np.int8, _BY_CARD),
    ],
    align=True,
)
"""The fields of a :class:`Game` as bytes."""

Games = NDArray[np.void]
"""An array of games: shape (n,), dtype :data:`GAME`."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function compiled when it is called first, and kept on the disk if there is a place."""
    try:
        made = cast(Callable[P, R], numba.njit(cache=True)(function))
    except RuntimeError:  # numba's word for neither __pycache__ nor a cache folder to write to
        made = cast(Callable[P, R], numba.njit(function))
    return made


# -- the rules


@compiled
def legal_cards(hand: np.uint64, led: int) -> np.uint64:
    """See :func:`hokm.rules.tricks.legal_cards`; -1 for the lead."""
    if led < 0:
        return hand
    following: np.uint64 = hand & _SUITS[led]
    return following if following != NONE else hand


@compiled
def legal_actions(game: Game) -> np.uint64:
    """Every action open to the seat that is to act, as bits."""
    phase = game.phase
    hand: np.uint64 = game.hands[game.turn]
    if phase == TRICKS:
        return legal_cards(hand, game.led)
    if phase == DECLARATION:
        return DECLARATIONS_LEGAL
    if phase == DISCARDS:
        return hand
    if phase == DRAWS:
        return DRAWS_LEGAL
    return NONE


@compiled
def start_hand(game: Game) -> None:
    """Deal the deck that lies there up to the declaration."""
    seats = game.seats
    hakem, deck = game.hakem, game.deck
    rest = 0 if seats == 2 else 52 // seats // PACKET - 1  # packets to come: two, or three
    for place in range(seats):
        seat = (hakem + place) % seats
        first = coming = NONE
        for k in range(FIRST_PACKET):
            first |= ONE << np.uint64(deck[FIRST_PACKET * place + k])
        for packet in range(rest):
            top = FIRST_PACKET * seats + PACKET * (seats * packet + place)
            for k in range(PACKET):
                coming |= ONE << np.uint64(deck[top + k])
        game.hands[seat] = first
        game.coming[seat] = coming
        game.discarded[seat] = NONE
        game.trick[seat] = -1
        game.played[seat] = NONE
        game.voids[seat] = 0
        game.leads[seat] = 0
    for side in range(game.sides):
        game.won[side] = 0
    for k in range(len(game.plays)):
        game.plays[k] = -1
    game.phase = DECLARATION
    game.turn = hakem
    game.trump = -1
    game.turns = 0
    game.kept = np.uint32(0)
    game.offered = -1
    game.led = -1
    game.placed = 0
    game.winning = hakem
    game.strength = 0
    game.count = 0
    game.number += ONE
    game.legal = DECLARATIONS_LEGAL


@compiled
def act(game: Game, action: int) -> None:
    """The seat that is to act does so, and all follows that nobody chooses. Nothing is checked."""
    phase = game.phase
    if phase == TRICKS:
        play(game, action)
    elif phase == DECLARATION:
        game.trump = action - 52
        if game.seats == 2:
            game.phase = DISCARDS
        else:
            for seat in range(game.seats):
                game.hands[seat] |= game.coming[seat]
            game.phase = TRICKS
    elif phase == DISCARDS:
        discard(game, action)
    elif phase == DRAWS:
        draw(game, action)
    game.legal = legal_actions(game)


@compiled
def discard(game: Game, card: int) -> None:
    """One card is laid away: the hakem's three, then the other's two (rulebook 4.2)."""
    seat, bit = game.turn, ONE << np.uint64(card)
    game.hands[seat] ^= bit
    game.discarded[seat] |= bit
    game.turns += 1
    if game.turns == HAKEM_DISCARDS:
        game.turn = 1 - seat
    elif game.turns == ALL_DISCARDS:
        game.turns = 0
        game.turn = 1 - seat
        game.phase = DRAWS
        game.offered = game.deck[STOCK]


@compiled
def draw(game: Game, action: int) -> None:
    """The card on offer is kept or refused (rulebook 4.3)."""
    seat, turn = game.turn, game.turns
    top = STOCK + 2 * turn
    kept, gone = game.deck[top], game.deck[top + 1]
    if action == 56:
        game.kept |= np.uint32(1) << np.uint32(turn)
    else:
        kept, gone = gone, kept
    game.hands[seat] |= ONE << np.uint64(kept)
    game.discarded[seat] |= ONE << np.uint64(gone)
    game.turns = turn + 1
    if turn + 1 == TURNS:
        game.turn = game.hakem
        game.phase = TRICKS
        game.offered = -1
    else:
        game.turn = 1 - seat
        game.offered = game.deck[top + 2]


@compiled
def play(game: Game, card: int) -> None:
    """A card is played, and the trick taken if it was the last of it (rulebook 1.4, 1.5)."""
    seats, seat = game.seats, game.turn
    bit, suit = ONE << np.uint64(card), card // 13
    game.hands[seat] ^= bit
    game.played[seat] |= bit
    game.plays[game.count] = card
    game.count += 1
    led = game.led
    if led < 0:
        led = suit
        game.led = suit
        game.leads[seat] |= np.uint8(1 << suit)
        game.strength = 0
    elif suit != led:
        game.voids[seat] |= np.uint8(1 << led)
    strength = _STRENGTH[game.trump, led, card]
    if strength > game.strength:
        game.strength = strength
        game.winning = seat
    game.trick[seat] = card
    game.placed += 1
    if game.placed < seats:
        game.turn = seat + 1 if seat + 1 < seats else 0
    else:
        take_trick(game)


@compiled
def take_trick(game: Game) -> None:
    """The trick goes to the seat that wins it, and the hand may be over."""
    seats, sides = game.seats, game.sides
    winning = game.winning
    game.won[winning % sides] += 1
    game.turn = winning
    game.led = -1
    game.placed = 0
    for seat in range(seats):
        game.trick[seat] = -1
    winner = alone_winner(game) if sides == 3 else side_winner(game)
    if winner < 0:
        return
    game.phase = OVER
    won = game.won[winner]
    others = -won
    for side in range(sides):
        others += game.won[side]
    if won != SWEEP or others > 0:
        game.points[winner] = WIN
    elif winner == game.hakem % sides:
        game.points[winner] = KOT
    else:
        game.points[winner] = HAKEM_KOT


@compiled
def side_winner(game: Game) -> int:
    """Of two sides the one with seven tricks (rulebook 2.5, 4.5), else -1."""
    for side in range(2):
        if game.won[side] == SWEEP:
            return side
    return -1


@compiled
def alone_winner(game: Game) -> int:
    """Of three seats the one with a sweep, an unbeatable lead, or the odd one out (rulebook 3.4 to
    3.6), else -1.
    """
    first = 0
    for seat in range(1, 3):
        if game.won[seat] > game.won[first]:
            first = seat
    second, third = (first + 1) % 3, (first + 2) % 3
    if game.won[third] > game.won[second]:
        second, third = third, second
    taken = game.won[0] + game.won[1] + game.won[2]
    if game.won[first] == SWEEP and taken == SWEEP:
        return first
    if game.won[first] > game.won[second] + 17 - taken:
        return first
    return third if taken == 17 else -1


# -- chance: splitmix64, counted, so that each number depends on the seed and its place alone


@compiled
def mixed(number: np.uint64) -> np.uint64:
    """Sixty-four bits well stirred: the finish of splitmix64 (Steele, Lea and Flood, 2014)."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@compiled
def below(number: np.uint64, limit: np.uint64) -> np.uint64:
    """Of a random word a number below the limit. The limit being at most 58, no number is likelier
    than another by more than 58 parts in 2**32.
    """
    return ((number >> np.uint64(32)) * limit) >> np.uint64(32)


@compiled
def new_hand(game: Game) -> None:
    """The next hand of a game: its hakem and its deck follow from seed, game and number."""
    state = mixed(game.seed + GOLDEN * game.number)
    deck = game.deck
    game.hakem = int(below(mixed(state), np.uint64(game.seats)))
    removed = 1 if game.seats == 3 else 0  # the two of clubs, card 0
    cards = 52 - removed
    for k in range(cards):
        deck[k] = k + removed
    for k in range(cards - 1, 0, -1):
        state += GOLDEN
        other = below(mixed(state), np.uint64(k + 1))
        deck[k], deck[other] = deck[other], deck[k]
    start_hand(game)


@compiled
def size_of(bits: np.uint64) -> np.uint64:
    """How many bits are on."""
    bits -= (bits >> ONE) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + (
        (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def random_action(game: Game, clock: np.uint64) -> int:
    """One of the legal actions, each as likely as another; -1 where there is none."""
    bits = game.legal
    if bits == NONE:
        return -1
    word = mixed(game.seed ^ mixed(clock))
    for _ in range(below(word, size_of(bits))):
        bits &= bits - ONE
    return np.int64(  # type: ignore[return-value]  # a plain number in compiled code
        size_of((bits & (~bits + ONE)) - ONE)
    )


# -- over all games


@compiled
def seed_all(games: Games, seed: np.uint64) -> None:
    """A seed of its own for every game, and no hand yet."""
    for number in range(len(games)):
        game = games[number]
        game.seed = mixed(mixed(seed) + GOLDEN * np.uint64(number + 1))
        game.number = NONE


@compiled
def deal_all(games: Games) -> None:
    """A new hand for every game."""
    for number in range(len(games)):
        new_hand(games[number])


@compiled
def start_all(games: Games) -> None:
    """A hand for every game, from the deck and the hakem that lie there."""
    for number in range(len(games)):
        start_hand(games[number])


@compiled
def step(game: Game, action: int, deals_on: bool) -> None:
    """One decision of one game, and a new hand after the last if ``deals_on``."""
    game.done = False
    for side in range(game.sides):
        game.points[side] = 0
    if game.phase != OVER:
        act(game, action)
        if game.phase == OVER:
            game.done = True
            if deals_on:
                new_hand(game)


@compiled
def step_all(games: Games, actions: NDArray[np.int64], deals_on: bool) -> int:
    """A decision of every game that is not over; -1, or the first game whose action is not legal,
    and then nothing has changed.
    """
    for number in range(len(games)):
        game, action = games[number], actions[number]
        if game.legal != NONE and not (
            0 <= action < 64 and game.legal >> np.uint64(action) & ONE != NONE
        ):
            return number
    for number in range(len(games)):
        step(games[number], actions[number], deals_on)
    return -1


@compiled
def choose_all(games: Games, clock: np.uint64, actions: NDArray[np.int64]) -> None:
    """A random legal action for every game, -1 where the hand is over."""
    for number in range(len(games)):
        actions[number] = random_action(games[number], clock)


@compiled
def play_on(games: Games, clock: np.uint64, steps: int, deals_on: bool) -> int:
    """As many steps of :func:`choose_all` and :func:`step_all`, one game after the other; how many
    decisions were made.
    """
    decisions = 0
    for number in range(len(games)):
        game = games[number]
        for later in range(steps):
            action = random_action(game, clock + np.uint64(later))
            decisions += action >= 0
            step(game, action, deals_on)
    return decisions


@compiled
def fill_masks(legal: NDArray[np.uint64], masks: NDArray[np.bool_]) -> None:
    """The bits of every word as a row of booleans."""
    for row in range(len(legal)):
        for action in range(masks.shape[1]):
            masks[row, action] = legal[row] >> np.uint64(action) & ONE != NONE
