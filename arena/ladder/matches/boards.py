"""The plan of a match: its rooms, who sits where in each, and which cards are dealt.

A match is a pure function of its entrants, format, rules and seeds, up to the bots' own choices.
Every deal is played in every *room* with the sides rotated, so that luck of the cards falls out of
the comparison; the *board* (or the mirrored pair of races) is the unit of all statistics. This
module starts nothing and draws nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.ladder.bots.entrants import Entrant
from hokm.deck import board_seed, commitment, mix, shuffled
from hokm.records import Format, Policy, Seed, deal_id
from hokm.rules.draw import drawn_seating
from hokm.rules.game import Board, Game, Race, SeedOf
from hokm.rules.options import Rules, Teams
from hokm.rules.variants import variant_of
from hokm.session import PROTOCOL, ClockRules


class PlanError(ValueError):
    """A match nobody can play: what is wrong, and what would do."""


@dataclass(frozen=True, slots=True)
class Secret:
    """Where the deals of an event come from: its secret S and the entropy E mixed in (32 bytes, or
    none).

    Neither stands in its repr: a deal that is known before it is played is worth more than any bot.
    """

    secret: bytes = field(repr=False)
    entropy: bytes = field(default=b"", repr=False)

    @property
    def commitment(self) -> bytes:
        """What is published before the event."""
        return commitment(self.secret)


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """One match, ready to be played.

    ``length`` counts boards, or mirrored pairs of races. ``event`` is None for a match outside any
    event. ``attempt`` is 1, or more where a fault of the host voided the match before: the same id,
    other deals. ``at_once`` is how many games a room may play at once, if its bots take so many.
    ``cap_seconds`` is how long a room may take, None for twice what its clocks allow.
    ``resume_seconds`` is how long a bot whose stream broke may be away, 0 for not at all, as it is
    in rated play. ``tick_seconds`` is the masking tick (docs/protocol.md), 0 for none. A match
    ``in_one_room`` is not mirrored: for casual tables, since it measures nothing.
    """

    match: str
    format: Format
    rules: Rules
    length: int
    entrants: tuple[Entrant, ...]
    clock: ClockRules
    policy: Policy
    secret: Secret
    event: str | None = None
    attempt: int = 1
    at_once: int = 1
    cap_seconds: float | None = None
    tick_seconds: float = 0.0
    resume_seconds: float = 0.0
    in_one_room: bool = False

    def __post_init__(self) -> None:
        seats, sitting = self.rules.players, len(self.entrants)
        if (seats, sitting) not in _ROOMS:
            wanted = sorted(entrants for players, entrants in _ROOMS if players == seats)
            counts = " or ".join(map(str, wanted))
            raise PlanError(f"a match with {seats} players has {counts} entrants, not {sitting}")
        if self.in_one_room and self.policy is not Policy.CASUAL:
            raise PlanError("in one room casual matches are played, and nothing else")
        if self.format is Format.CLASSIC and seats == 3 and not self.in_one_room:
            raise PlanError("races are mirrored between two sides; with three players play boards")
        if self.rules.play is not self.format.play:
            raise PlanError(f"rules for {self.rules.play.value} do not fit {self.format.value}")
        if self.draws_partners and sitting != 4:
            raise PlanError(f"teams=second_ace seats four single entrants, not {sitting}")
        if self.draws_partners and self.policy is Policy.RATED:
            raise PlanError("teams=second_ace moves no rating: it is for casual matches")
        if self.resume_seconds and self.policy is Policy.RATED:
            raise PlanError("in rated play a broken stream is a crash: no bot comes back")
        for entrant in self.entrants:
            if entrant.protocol != PROTOCOL:
                raise PlanError(
                    f"{entrant.name} speaks protocol {entrant.protocol} and this arena {PROTOCOL}: "
                    "mend its manifest, or build it with an SDK of that protocol"
                )
            if seats not in entrant.variants:
                raise PlanError(
                    f"{entrant.name} does not play with {seats}: its manifest has "
                    f"variants = {list(entrant.variants)}"
                )

    @property
    def rooms(self) -> range:
        """The numbers of the rooms, from 1."""
        if self.in_one_room:
            return range(1, 2)
        return range(1, len(_ROOMS[self.rules.players, len(self.entrants)]) + 1)

    @property
    def games(self) -> range:
        """The numbers of the games in each room, from 1: the boards, or the pairs of races."""
        return range(1, self.length + 1)

    @property
    def draws_partners(self) -> bool:
        """Whether a second ace makes partners, other ones in each pair of races (rulebook 2.1)."""
        return self.rules.teams is Teams.SECOND_ACE

    def seatings(self, room: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The index of the entrant at each seat of a room in odd games and in even ones, where no
        draw of partners moves them.
        """
        return _ROOMS[self.rules.players, len(self.entrants)][room - 1]

    def seating(self, room: int, game: int) -> tuple[int, ...]:
        """The index of the entrant at each seat of a game. The cards that draw its partners have
        been turned up.
        """
        odd, even = self.seatings(room)
        if self.draws_partners:
            return drawn_seating(self.rules, self.race_seeds(game)(0), seating=odd)
        return odd if game % 2 else even

    def own_seating(self, room: int, game: int) -> tuple[int, ...] | None:
        """The seating of a game that is none of its room's, for the record; None where it is."""
        seating = self.seating(room, game)
        return None if seating in self.seatings(room) else seating

    @property
    def teams(self) -> int:
        """How many teams there are in the match."""
        return len({self.team(entrant) for entrant in range(len(self.entrants))})

    def team(self, entrant: int) -> int:
        """The team that an entrant is of, through all rooms: its own index, or with four entrants
        that of the first of its pair. Where partners are drawn each is a team of its own.
        """
        return entrant if self.draws_partners else entrant % variant_of(self.rules).sides

    @property
    def folder(self) -> str:
        """The match's id as a relative path, other for each attempt."""
        return deal_id(self.match, attempt=self.attempt)

    @property
    def room_seconds(self) -> float:
        """How long a room may take; by default twice what the clocks of all its hands allow."""
        if self.cap_seconds is not None:
            return self.cap_seconds
        hands = self.length
        if self.rules.target_points is not None:
            # A side that wins a hand has a point more, so a race cannot be longer.
            hands *= variant_of(self.rules).sides * (self.rules.target_points - 1) + 1
        clock, decisions = self.clock, variant_of(self.rules).decisions
        a_seat = decisions * (clock.move_seconds + self.tick_seconds) + clock.bank_seconds
        return 2 * hands * self.rules.players * a_seat

    def seeds(self, *, dealt: Mapping[int, int]) -> tuple[Seed, ...]:
        """The seeds to reveal once the last room has closed, by game and hand.

        ``dealt`` is the number of hands that were dealt of each game. A board has one seed whether
        it was dealt or not; of a race those of the hands that were dealt, and of the draw for
        hakem. Where that draw made partners it is revealed of every race, since it says who sat
        where.
        """
        if self.format is Format.BOARDS:
            return tuple(
                Seed(game=number, hand=1, value=self.seed(number)) for number in self.games
            )
        return tuple(
            Seed(game=pair, hand=hand, value=self.race_seeds(pair)(hand))
            for pair, hands in dealt.items()
            if hands > 0 or self.draws_partners
            for hand in range(hands + 1)
        )

    def game(self, number: int) -> Game:
        """Game ``number``, dealt afresh: the same cards in every room."""
        if self.format is Format.BOARDS:
            deck = shuffled(variant_of(self.rules).pack, self.seed(number))
            return Board(self.rules, deck, number=number)
        return Race(self.rules, self.race_seeds(number))

    def seed(self, board: int) -> bytes:
        """The seed of a board."""
        return board_seed(self._mixed, deal_id(self.match, attempt=self.attempt), board)

    def race_seeds(self, pair: int) -> SeedOf:
        """The seeds of the hands of a pair of races; number 0 is the draw for the first hakem."""
        name = deal_id(self.match, attempt=self.attempt, pair=pair)
        return lambda hand: board_seed(self._mixed, name, hand)

    @property
    def _mixed(self) -> bytes:
        return mix(self.secret.secret, self.secret.entropy)


def local_match_id(secret: Secret, names: tuple[str, ...]) -> str:
    """The id of a match outside any event: ``local/<16 hex digits of the commitment>/a~b``."""
    return f"local/{secret.commitment.hex()[:16]}/{joined_names(names)}"


def joined_names(names: tuple[str, ...]) -> str:
    """Names as an id has them: sorted by their UTF-8 bytes, joined by ``~``."""
    return "~".join(sorted(names, key=str.encode))


_Seating = tuple[int, ...]

# (players, entrants) -> for each room the seating of odd and of even games.
# Four entrants: room 2 shifts all by one seat. Three: the cyclic seatings, and their mirrors
# on even boards.
_ROOMS: dict[tuple[int, int], tuple[tuple[_Seating, _Seating], ...]] = {
    (4, 2): (((0, 1, 0, 1),) * 2, ((1, 0, 1, 0),) * 2),
    (4, 4): (((0, 1, 2, 3),) * 2, ((3, 0, 1, 2),) * 2),
    (2, 2): (((0, 1),) * 2, ((1, 0),) * 2),
    (3, 3): (((0, 1, 2), (0, 2, 1)), ((1, 2, 0), (2, 1, 0)), ((2, 0, 1), (1, 0, 2))),
}
