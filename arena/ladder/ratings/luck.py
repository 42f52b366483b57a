"""Luck, told honestly: what entrants gained a hand, less what the cards alone were worth.

Where a deal was not played in every room, part of a score is the cards. The reference
(:mod:`arena.ladder.ratings.reference`) plays the same decks against itself; how much more it makes
of them than of decks in the mean is luck c − E c, and ``adjusted = x − β (c − E c)``. A deck is
dealt by chance alone, so the luck of many hands is nothing in the mean *whatever β is and however
well the reference plays*; that both are measured on other decks and fixed in advance is all that
the adjustment needs to be unbiased. β and the correlation only decide how much narrower its bar is.

The unit of a bar is the game of a number in all its rooms: a board, or a pair of races, for its
hands hang together. In a board that every room played the luck falls out by itself; the board is
the unit of ratings, and nothing here moves one.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.ladder.ratings.reference import RULES, margins, margins_of
from arena.ladder.ratings.statistics import Z95
from hokm.cards import Card, Seat
from hokm.deck import shuffled
from hokm.errors import HokmError
from hokm.records import (
    EntrantRecord,
    Format,
    GameRecord,
    HandRecord,
    MatchRecord,
    Place,
    RoomRecord,
    substance_digest,
)
from hokm.records.replays import SeedsByGame, seeds_by_game
from hokm.rules.options import Rules, Teams
from hokm.rules.variants import variant_of

VERSION = "luck-v1"
"""The name of the constants and of the reference together: another of either is another version."""

REFERENCE_DIGEST = "2d54f8b0854d9d0b70cf99e363079a345503c996c9bf07d8d7f4208b154d1476"
"""How the reference plays, by :func:`arena.ladder.ratings.reference.digest`."""


@dataclass(frozen=True, slots=True)
class Constants:
    """What was measured for a number of players, on the decks of ``simulations/luck.py``.

    ``expected`` is E c by place: the reference's margin against itself for the hakem's side, then
    for each side after it, in points a hand. They sum to nothing. ``beta`` is β.
    """

    beta: float
    expected: tuple[float, ...]


CONSTANTS: Mapping[int, Constants] = {
    4: Constants(beta=0.71, expected=(0.2173, -0.2173)),
    3: Constants(beta=0.73, expected=(0.1768, -0.1001, -0.0767)),
    2: Constants(beta=0.58, expected=(0.3256, -0.3256)),
}
"""By number of players, for default options; docs/luck.md has the command that made them."""

LEAST_UNITS = 3
"""Below that a bar would be a guess."""

_MATTER = (
    "points_win",
    "points_kot",
    "points_hakem_kot",
    "modes",
    "kot_in_modes",
    "removed_two",
)
"""The options that change what a deck is worth. The others change when cards are shown, how long a
hand goes on, or what comes after it; a cut makes of a deck another one that nobody has seen.
"""


class LuckError(HokmError, ValueError):
    """Records that luck cannot be told of, and why."""


def constants_for(rules: Rules) -> Constants:
    """The constants for a table.

    Raises :class:`LuckError` where it has options that change what a deck is worth: no constants
    are better than wrong ones.
    """
    usual, its = RULES[rules.players].options(), rules.options()
    for name in _MATTER:
        if its.get(name) != usual.get(name):
            raise LuckError(
                f"{VERSION} has no constants for {name}={its[name]}, only for the default "
                f"{name}={usual[name]}: with others the same cards are worth something else"
            )
    return CONSTANTS[rules.players]


# -- hands


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """One hand of a record, side by side. Its values are by side, in points, and sum to nothing.

    ``entrants`` are the indices of those who held the seats of each side. ``raw`` are the margins
    of what it counted, x: points less the mean of the other sides'. ``reference`` are the margins
    of the reference less its mean for that place, c − E c; None for a board that was lost
    undealt, in which no cards had a part.
    """

    room: int
    game: int
    hand: int
    entrants: tuple[tuple[int, ...], ...]
    raw: tuple[float, ...]
    reference: tuple[float, ...] | None


def hands(record: MatchRecord) -> Iterator[Hand]:
    """Every hand that counts: of boards those whose game counts, of races those that were ended.

    The decks are those the record gives, so seeds need not be revealed; those that are must give
    the same deck. Raises :class:`LuckError` where they do not, for a deck that is none, and as
    :func:`constants_for`.
    """
    constants = constants_for(record.rules)
    table = seeds_by_game(record)
    for room in record.rooms:
        for game in room.games:
            for number, points, dealt in _counted(record, game):
                reference: tuple[float, ...] | None = None
                if dealt is not None:
                    place = Place(room=room.number, game=game.number, hand=number)
                    deck = _deck(record, dealt, game=game.number, place=place, table=table)
                    reference = _reference(record.rules, deck, dealt.hakem, constants)
                yield Hand(
                    room=room.number,
                    game=game.number,
                    hand=number,
                    entrants=_holders(record, room, game),
                    raw=margins_of(points),
                    reference=reference,
                )


def _counted(
    record: MatchRecord, game: GameRecord
) -> Iterator[tuple[int, tuple[int, ...], HandRecord | None]]:
    """The numbers of the hands that count, what they counted, and how they were dealt."""
    if record.format is Format.BOARDS:
        outcome = game.outcome
        if outcome is not None and outcome.ending.counts:
            yield 1, outcome.points, game.hands[0] if game.hands else None
        return
    for hand in game.hands:
        if hand.result is not None:
            yield hand.number, hand.result.points, hand


def _deck(
    record: MatchRecord, hand: HandRecord, *, game: int, place: Place, table: SeedsByGame
) -> tuple[Card, ...]:
    """The deck of a hand as it was dealt from, after the cut."""
    pack = variant_of(record.rules).pack
    if len(hand.deck) != len(pack) or set(hand.deck) != set(pack):
        raise LuckError(f"{place}: its deck is not the pack of {record.rules.players} players")
    seed = table.get(game, {}).get(hand.number)
    if seed is not None and shuffled(pack, seed) != hand.deck:
        raise LuckError(f"{place}: its deck is not its seed's; arena verify says more")
    cut = hand.cut or 0
    return (*hand.deck[cut:], *hand.deck[:cut])


def _reference(
    rules: Rules, deck: tuple[Card, ...], hakem: Seat, constants: Constants
) -> tuple[float, ...]:
    sides = variant_of(rules).sides
    side_of_hakem = variant_of(rules).side_of[hakem]
    by_place = [
        margin - expected
        for margin, expected in zip(margins(rules.players, deck), constants.expected, strict=True)
    ]
    return tuple(by_place[(side - side_of_hakem) % sides] for side in range(sides))


def _holders(
    record: MatchRecord, room: RoomRecord, game: GameRecord
) -> tuple[tuple[int, ...], ...]:
    variant, seating = variant_of(record.rules), room.seating_of(game)
    held: list[set[int]] = [set() for _ in range(variant.sides)]
    for entrant, side in zip(seating, variant.side_of, strict=True):
        held[side].add(entrant)
    return tuple(tuple(sorted(entrants)) for entrants in held)


# -- what they come to


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean a hand, and half the width of its 95 % interval: None where too little was played."""

    value: float
    error: float | None


@dataclass(frozen=True, slots=True)
class GameLuck:
    """What a player had of one game: points by margin, and how many of them the cards gave."""

    record: int
    room: int
    game: int
    hands: int
    raw: float
    luck: float

    @property
    def adjusted(self) -> float:
        """What is left of the points without the luck."""
        return self.raw - self.luck


@dataclass(frozen=True, slots=True)
class PlayerLuck:
    """One player over all records: an entrant, or partners who sat together all through.

    ``units`` is how many boards or pairs of races its bars are made of. ``luck`` is the mean a
    hand. ``correlation`` is that of its points with the reference's, hand by hand, and
    ``variance_ratio`` how many times as large the variance of the raw mean is as that of the
    adjusted; None where there is nothing to compare.
    """

    entrants: tuple[EntrantRecord, ...]
    hands: int
    units: int
    raw: Estimate
    luck: float
    adjusted: Estimate
    correlation: float | None
    variance_ratio: float | None
    games: tuple[GameLuck, ...]


@dataclass(frozen=True, slots=True)
class Luck:
    """What records come to. ``games`` is how many boards or pairs of races they hold by number,
    ``doubled`` how many of those every room has finished. ``left_out`` counts hands that were dealt
    and have no result, ``undealt`` boards that were lost without cards, ``unproved`` hands whose
    seed is not revealed.
    """

    rules: Rules
    format: Format
    constants: Constants
    players: tuple[PlayerLuck, ...]
    games: int
    doubled: int
    left_out: int
    undealt: int
    unproved: int


@dataclass(slots=True)
class _Player:
    entrants: tuple[EntrantRecord, ...]
    hands: list[tuple[int, Hand, int]]
    """With the record, and the side the player had."""


def luck(records: Sequence[MatchRecord], names: Sequence[str] = ()) -> Luck:
    """The luck of everybody in these records, each player over all of them.

    ``names`` is what errors call the records, their matches' ids if it is left out. Raises
    :class:`LuckError` for no record, for records whose hands do not add up (another number of
    players, or races and boards), for one that is there twice, and as :func:`hands`.
    """
    first = _refuse_mixed(records)
    found: list[list[Hand]] = []
    for record, name in zip(records, names or [one.match for one in records], strict=True):
        try:
            found.append(list(hands(record)))
        except LuckError as error:
            raise LuckError(f"{name}: {error}") from None
    players: dict[tuple[tuple[EntrantRecord, int], ...], _Player] = {}
    for index, record in enumerate(records):
        who = _told_apart(record)
        is_drawn = record.rules.teams is Teams.SECOND_ACE
        for hand in found[index]:
            for side, entrants in enumerate(hand.entrants):
                for team in [(one,) for one in entrants] if is_drawn else [entrants]:
                    key = tuple(who[entrant] for entrant in team)
                    its = tuple(record.entrants[entrant] for entrant in team)
                    player = players.setdefault(key, _Player(its, []))
                    player.hands.append((index, hand, side))
    constants = CONSTANTS[first.rules.players]
    dealt = sum(len(game.hands) for one in records for room in one.rooms for game in room.games)
    undealt = sum(hand.reference is None for of_record in found for hand in of_record)
    return Luck(
        rules=first.rules,
        format=first.format,
        constants=constants,
        players=tuple(_player(player, constants.beta) for player in players.values()),
        games=sum(record.games for record in records),
        doubled=sum(map(_doubled, records)),
        left_out=dealt - (sum(map(len, found)) - undealt),
        undealt=undealt,
        unproved=sum(map(_unproved, records, found)),
    )


def _refuse_mixed(records: Sequence[MatchRecord]) -> MatchRecord:
    if not records:
        raise LuckError("there is no record to tell the luck of")
    first = records[0]
    for record in records:
        if record.rules.players != first.rules.players or record.format is not first.format:
            raise LuckError(
                f"{first.rules.players} players, {first.format.value} and {record.rules.players} "
                f"players, {record.format.value}: their hands do not add up; ask for each alone"
            )
    digests = [substance_digest(record) for record in records]
    for record, its in zip(records, digests, strict=True):
        if digests.count(its) > 1:
            raise LuckError(f"the match {record.match} is there twice")
    return first


def _told_apart(record: MatchRecord) -> list[tuple[EntrantRecord, int]]:
    """The entrants with a count, for one may meet itself."""
    return [
        (entrant, record.entrants[:index].count(entrant))
        for index, entrant in enumerate(record.entrants)
    ]


def _doubled(record: MatchRecord) -> int:
    rooms_of: defaultdict[int, int] = defaultdict(int)
    for room in record.rooms:
        for game in room.games:
            if game.outcome is not None and game.outcome.ending.counts:
                rooms_of[game.number] += 1
    return sum(count == len(record.rooms) > 1 for count in rooms_of.values())


def _unproved(record: MatchRecord, found: Iterable[Hand]) -> int:
    table = seeds_by_game(record)
    return sum(
        hand.reference is not None and hand.hand not in table.get(hand.game, {}) for hand in found
    )


def _player(player: _Player, beta: float) -> PlayerLuck:
    units: defaultdict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    games: defaultdict[tuple[int, int, int], list[tuple[float, float]]] = defaultdict(list)
    pairs: list[tuple[float, float]] = []
    for record, hand, side in player.hands:
        points, its_luck = hand.raw[side], 0.0
        if hand.reference is not None:
            pairs.append((points, hand.reference[side]))
            its_luck = beta * hand.reference[side]
        units[record, hand.game].append((points, its_luck))
        games[record, hand.room, hand.game].append((points, its_luck))
    raw = mean_a_hand([[points for points, _ in unit] for unit in units.values()])
    adjusted = mean_a_hand([[points - its for points, its in unit] for unit in units.values()])
    ratio: float | None = None
    if raw.error is not None and adjusted.error:
        ratio = (raw.error / adjusted.error) ** 2
    return PlayerLuck(
        entrants=player.entrants,
        hands=len(player.hands),
        units=len(units),
        raw=raw,
        luck=raw.value - adjusted.value,
        adjusted=adjusted,
        correlation=correlation(pairs),
        variance_ratio=ratio,
        games=tuple(
            GameLuck(
                *key,
                hands=len(its),
                raw=math.fsum(points for points, _ in its),
                luck=math.fsum(one for _, one in its),
            )
            for key, its in games.items()
        ),
    )


# -- statistics


def mean_a_hand(units: Sequence[Sequence[float]]) -> Estimate:
    """The mean over all hands, with a bar that takes those of a unit to hang together.

    With n units of h hands that sum to s, the mean is r = Σs/Σh and its variance
    n/(n − 1) Σ(s − r h)²/(Σh)²; the bar is that of Student's t with n − 1 degrees of freedom, for
    there may be few units. Below :data:`LEAST_UNITS` there is none. Raises ValueError without any
    hand.

    >>> mean_a_hand([[1, -1], [1], [2], [-1]])
    Estimate(value=0.4, error=1.7...)
    """
    count = sum(map(len, units))
    if not count:
        raise ValueError("there is no mean of no hands")
    mean = math.fsum(math.fsum(unit) for unit in units) / count
    if len(units) < LEAST_UNITS:
        return Estimate(mean, None)
    squares = math.fsum((math.fsum(unit) - mean * len(unit)) ** 2 for unit in units)
    variance = len(units) / (len(units) - 1) * squares / count**2
    return Estimate(mean, t95(len(units) - 1) * math.sqrt(variance))


def t95(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t, within 1 % for 2 degrees of freedom and more
    (Abramowitz and Stegun, 26.7.5).

    >>> round(t95(2), 1), round(t95(10), 3), round(t95(100), 3)
    (4.3, 2.228, 1.984)
    """
    z = Z95
    return math.fsum(
        [
            z,
            (z**3 + z) / 4 / freedom,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96 / freedom**2,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / freedom**3,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160 / freedom**4,
        ]
    )


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's correlation; None for fewer than three pairs or where one side is all alike."""
    if len(pairs) < LEAST_UNITS:
        return None
    own = math.fsum(x for x, _ in pairs) / len(pairs)
    its = math.fsum(y for _, y in pairs) / len(pairs)
    together = math.fsum((x - own) * (y - its) for x, y in pairs)
    spread = math.fsum((x - own) ** 2 for x, _ in pairs) * math.fsum(
        (y - its) ** 2 for _, y in pairs
    )
    return together / math.sqrt(spread) if spread > 0 else None
