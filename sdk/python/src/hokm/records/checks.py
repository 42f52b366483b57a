"""Is a record true to the rules, the seeds and the commitment?

Every game is dealt again from its seeds and played again through the rules; whatever differs from
what the record says is a :class:`Finding`. That catches accidents, and edits that break the play, a
deck or the commitment. A forgery that is consistent throughout can only be told by a digest kept
elsewhere.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hokm.cards import Card, Seat
from hokm.deck import board_seed, commitment, mix
from hokm.errors import Reason, quoted
from hokm.events import CardTurned, HandEnded, HandStarted
from hokm.outcome import Ending, HandResult, Outcome
from hokm.records.replays import (
    Decided,
    Place,
    ReplayError,
    SeedsByGame,
    dealt_again,
    decisions,
    played,
    seeds_by_game,
)
from hokm.records.values import (
    Flag,
    Format,
    GameRecord,
    HandRecord,
    MatchRecord,
    Policy,
    RoomRecord,
    deal_id,
    score_of,
)
from hokm.rules.draw import drawn_seating
from hokm.rules.game import Game
from hokm.rules.options import Teams
from hokm.rules.variants import variant_of


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a record that is not so: ``what``, and where."""

    what: str
    place: Place = Place()  # noqa: RUF009  # immutable

    def __str__(self) -> str:
        return ": ".join(filter(None, [str(self.place), self.what]))


def verify(record: MatchRecord) -> tuple[Finding, ...]:
    """Everything in the record that is not so; none for a record that is true."""
    return tuple(_findings(record))


def _findings(record: MatchRecord) -> Iterator[Finding]:
    yield from _header(record)
    yield from _seeds(record)
    yield from _seatings(record)
    yield from _processes(record)
    table = seeds_by_game(record)
    for room in record.rooms:
        yield from _numbers(record, room)
        yield from _starts(room)
        for game in room.games:
            yield from _seating(record, room, game, table=table)
            yield from _game(
                record, game, place=Place(room=room.number, game=game.number), table=table
            )
    score = score_of(record.rules, record.rooms, entrants=len(record.entrants))
    if score != record.score:
        yield Finding(f"the score is {score} by its games, not {record.score}")


# -- the match: its header, seeds, seatings, and the numbers of its games


def _header(record: MatchRecord) -> Iterator[Finding]:
    names = sorted((entrant.name for entrant in record.entrants), key=str.encode)
    prefix, _, pairing = record.match.rpartition("/")
    if pairing != (expected := "~".join(names)):
        made = f"its entrants make it {quoted(expected)}"
        yield Finding(f"the match's id ends in {quoted(pairing)}; {made}")
    if record.event is not None and not record.match.startswith(f"{record.event}/"):
        event = quoted(record.event)
        yield Finding(f"the match's id {quoted(record.match)} is not of the event {event}")
    local = f"local/{record.commitment.hex()[:16]}"
    # A match by itself, or one of many in an event that is known by its commitment.
    if prefix.startswith("local/") and local not in (prefix, record.event):
        yield Finding(
            f"the id of this local match begins with {quoted(prefix)}, not with {local!r}"
        )
    if record.rules.play is not record.format.play:
        yield Finding(f"these rules do not play the format {record.format.value}")


def _seeds(record: MatchRecord) -> Iterator[Finding]:
    counted = Counter((seed.game, seed.hand) for seed in record.seeds)
    for (game, hand), times in counted.items():
        if times > 1:
            yield Finding(f"its seed is there {times} times", Place(game=game, hand=hand))
        if not 1 <= game <= record.games:
            yield Finding("a seed is revealed of a game that is not there", Place(game=game))
    if record.secret is None:
        return
    if commitment(record.secret) != record.commitment:
        yield Finding("the secret is not the one that was committed to")
    if record.entropy is None:
        yield Finding("the secret is revealed without the entropy it was mixed with")
        return
    mixed = mix(record.secret, record.entropy)
    for seed in record.seeds:
        if seed.value != _seed_by_secret(record, mixed, game=seed.game, hand=seed.hand):
            yield Finding(
                "its seed is not the secret's for this match", Place(game=seed.game, hand=seed.hand)
            )


def _seed_by_secret(record: MatchRecord, mixed: bytes, *, game: int, hand: int) -> bytes:
    match record.format:
        case Format.BOARDS:
            return board_seed(mixed, deal_id(record.match, attempt=record.attempt), game)
        case Format.CLASSIC:
            name = deal_id(record.match, attempt=record.attempt, pair=game)
            return board_seed(mixed, name, hand)


def _seatings(record: MatchRecord) -> Iterator[Finding]:
    """Room 1 seats the entrants in the order named, the others move them on, so that every side
    plays in every side's place once; with three at the table even games go round the other way. A
    casual match may be played in one room.
    """
    seats, sides = record.rules.players, variant_of(record.rules).sides
    entrants = len(record.entrants)
    if entrants not in (sides, seats):
        yield Finding(f"{entrants} entrants cannot share a table of {seats}")
        return
    if record.rules.teams is Teams.SECOND_ACE:
        if entrants != seats:
            yield Finding(f"{entrants} entrants cannot draw their partners")
            return
        if record.policy is Policy.RATED:
            yield Finding("a match with drawn partners is not a rated one")
    may_be_one = record.policy is Policy.CASUAL
    if len(record.rooms) != sides and not (may_be_one and len(record.rooms) == 1):
        yield Finding(f"there are {len(record.rooms)} rooms; this match has {sides}")
    onwards = tuple(seat % entrants for seat in range(seats))
    backwards = tuple(-seat % entrants for seat in range(seats))
    room_of: dict[int, int] = {}
    for number, room in enumerate(record.rooms, start=1):
        here = Place(room=room.number)
        if room.number != number:
            yield Finding(f"the room that stands here is number {number}", here)
        moved = _moved(room.seating, onwards)
        if moved is None or (number == 1 and moved != 0):
            yield Finding(f"the seating {room.seating} is none of this match", here)
            continue
        if (other := room_of.setdefault(moved % sides, number)) != number:
            yield Finding(f"every side sits where it sat in room {other}", here)
        even = room.even_seating
        is_other = seats == 3 if even is None else _moved(even, backwards) != moved
        if is_other:
            yield Finding(f"the seating {even} is none of its even games", here)


def _processes(record: MatchRecord) -> Iterator[Finding]:
    rooms, seats = {room.number for room in record.rooms}, record.rules.players
    for process in record.circumstances.processes:
        if process.room not in rooms or process.seat >= seats:
            what = f"a process sat at seat {process.seat}, which is not there"
            yield Finding(what, Place(room=process.room))


def _seating(
    record: MatchRecord, room: RoomRecord, game: GameRecord, *, table: SeedsByGame
) -> Iterator[Finding]:
    """Where a second ace draws partners each game has its own seating; nowhere else."""
    here = Place(room=room.number, game=game.number)
    drawn = room.seating
    if record.rules.teams is Teams.SECOND_ACE and len(record.entrants) == record.rules.players:
        seed = table.get(game.number, {}).get(0)
        if seed is None:
            yield Finding("the seed that draws its partners is not revealed", here)
            return
        drawn = drawn_seating(record.rules, seed, seating=room.seating)
    expected = None if drawn == room.seating else drawn
    if game.seating != expected:
        yield Finding(f"its own seating is {expected} by the draw, not {game.seating}", here)


def _moved(seating: Sequence[int], first: Sequence[int]) -> int | None:
    """By how many seats ``seating`` is ``first`` moved on; None if it is another order."""
    for places in range(len(first)):
        if tuple(seating) == (*first[places:], *first[:places]):
            return places
    return None


def _numbers(record: MatchRecord, room: RoomRecord) -> Iterator[Finding]:
    numbers = [game.number for game in room.games]
    counted = Counter(numbers)
    for number in range(1, record.games + 1):
        if number not in counted:
            yield Finding("this game is missing", Place(room=room.number, game=number))
    for number, times in counted.items():
        here = Place(room=room.number, game=number)
        if number > record.games:
            yield Finding(f"the match has {record.games} games in a room", here)
        if times > 1:
            yield Finding(f"this game is there {times} times", here)
    if numbers != sorted(numbers):
        yield Finding("its games do not stand in order", Place(room=room.number))


def _starts(room: RoomRecord) -> Iterator[Finding]:
    """A bot that never said hello plays no game of its room."""
    endings = {None if game.outcome is None else game.outcome.ending for game in room.games}
    if Ending.NEVER_STARTED in endings and len(endings) > 1:
        what = f"some of its games ended {Ending.NEVER_STARTED.value}, and others did not"
        yield Finding(what, Place(room=room.number))


# -- a game, played again


def _game(
    record: MatchRecord, game: GameRecord, *, place: Place, table: SeedsByGame
) -> Iterator[Finding]:
    decided: list[tuple[int, int, Seat]] = []
    try:
        fresh = dealt_again(record, game, place=place, table=table)
        yield from _hands(fresh, game, place=place, decided=decided)
    except ReplayError as error:
        yield Finding(error.what, error.place)
        return
    yield from _refusals(game, policy=record.policy, place=place)
    yield from _outcome(fresh, game, policy=record.policy, place=place)
    yield from _times(game, place=place)
    yield from _notes(game, decided, place=place)


def _hands(
    fresh: Game, game: GameRecord, *, place: Place, decided: list[tuple[int, int, Seat]]
) -> Iterator[Finding]:
    """Play the game again and compare what follows without a choice. Adds each decision to those
    that were ``decided``: its hand, its number there, its seat.
    """
    hands = {hand.number: hand for hand in game.hands}
    turned: list[tuple[Seat, Card]] = []
    results: dict[int, HandResult] = {}
    number = taken = 0
    for event in played(fresh, game, place=place):
        if isinstance(event, Decided):
            taken += 1
            decided.append((number, taken, event.seat))
        match event:
            case CardTurned(seat, card):
                turned.append((seat, card))
            case HandStarted(number, hakem):
                taken = 0
                if number in hands:
                    yield from _dealt(hands[number], fresh.deal.deck, hakem=hakem, place=place)
                else:
                    yield Finding("this hand is missing", replace(place, hand=number))
            case HandEnded(result):
                results[number] = result
    if turned != list(game.turned):
        yield Finding("the draw for the first hakem is not what its seed gives", place)
    if [hand.number for hand in game.hands] != list(range(1, len(hands) + 1)):
        yield Finding("its hands are not numbered 1, 2, 3 and so on", place)
    for hand in game.hands:
        here = replace(place, hand=hand.number)
        if hand.number > number:
            yield Finding("the game did not come to this hand", here)
        elif hand.result != (by_play := results.get(hand.number)):
            yield Finding(f"by the play its result is {by_play}, not {hand.result}", here)


def _dealt(
    hand: HandRecord, deck: Sequence[Card], *, hakem: Seat, place: Place
) -> Iterator[Finding]:
    here = replace(place, hand=hand.number)
    if hand.hakem != hakem:
        yield Finding(f"the hakem is seat {hakem}, not seat {hand.hakem}", here)
    if len(hand.deck) != len(deck):
        yield Finding(f"the deck has {len(deck)} cards, not {len(hand.deck)}", here)
        return
    wrong = [at for at, pair in enumerate(zip(hand.deck, deck, strict=True)) if pair[0] != pair[1]]
    if wrong:
        at = wrong[0]
        yield Finding(
            f"the deck is not its seed's in {len(wrong)} places: card {at + 1} from the top is "
            f"{deck[at]}, not {hand.deck[at]}",
            here,
        )


def _refusals(game: GameRecord, *, policy: Policy, place: Place) -> Iterator[Finding]:
    """No seat was refused more often than the table allows, unless the game ended for it; and what
    costs nothing is not recorded.
    """
    last = len(game.hands)
    if any(refusal.reason is Reason.MATCH_OVER for refusal in game.refusals):
        yield Finding("an action is recorded as refused after the end of the game", place)
    counted = Counter((refusal.hand, refusal.seat) for refusal in game.refusals)
    for (hand, seat), times in counted.items():
        here = replace(place, hand=hand)
        if not 1 <= hand <= last:
            yield Finding("an action is refused in a hand that was not dealt", here)
        if times >= policy.refusals_that_end and not (
            times == policy.refusals_that_end
            and hand == last
            and game.outcome is not None
            and game.outcome.at_fault == seat
            and game.outcome.ending in (Ending.ILLEGAL, Ending.MALFORMED)
        ):
            yield Finding(
                f"seat {seat} was refused {times} times, and the game did not end for it", here
            )


def _times(game: GameRecord, *, place: Place) -> Iterator[Finding]:
    """Every decision was charged, where any was."""
    if not game.seconds:
        return
    times = [len(hand) for hand in game.seconds]
    taken = [sum(1 for _ in decisions(hand)) for hand in game.hands]
    if times != taken:
        what = f"{quoted(times)} decision times by hand, for {quoted(taken)} decisions"
        yield Finding(f"it has {what}", place)


def _notes(
    game: GameRecord, decided: Sequence[tuple[int, int, Seat]], *, place: Place
) -> Iterator[Finding]:
    """Each note is of a seat to a decision that it took, one to each, in their order."""
    noted = [(one.hand, one.decision, one.seat) for one in game.notes]
    took = set(decided)
    for hand, decision, seat in noted:
        if (hand, decision, seat) not in took:
            what = f"seat {seat} has a note to decision {decision}, which it did not take"
            yield Finding(what, replace(place, hand=hand))
    if sorted(set(noted)) != noted:
        yield Finding("its notes do not stand in order, one to a decision", place)


def _outcome(fresh: Game, game: GameRecord, *, policy: Policy, place: Place) -> Iterator[Finding]:
    outcome = game.outcome
    if outcome is None:
        yield Finding("it has no outcome", place)
        return
    if Flag.UNPLAYED in game.flags and game.hands:
        yield Finding("it is flagged as unplayed and has hands", place)
    objection = _objection(fresh, game, outcome, policy=policy)
    if objection is not None:
        yield Finding(f"{outcome.ending.value}: {objection}", place)
    elif outcome != (by_rules := _outcome_by_rules(fresh, outcome)):
        yield Finding(
            f"{outcome.ending.value}: by the rules side {by_rules.winner} wins and the points are "
            f"{by_rules.points}, not side {outcome.winner} and {outcome.points}",
            place,
        )


def _objection(fresh: Game, game: GameRecord, outcome: Outcome, *, policy: Policy) -> str | None:
    """Why a game cannot have ended in this way, whatever it counts; None if it can."""
    seat, ending = outcome.at_fault, outcome.ending
    if ending is Ending.COMPLETED:
        return None if fresh.is_over else "the game is not over"
    if fresh.is_over:
        return "the game was played to its end"
    nobody = ending in (Ending.HOST_FAULT, Ending.STOPPED)
    if nobody != (seat is None):
        return "no seat is at fault" if nobody else "it does not say which seat is at fault"
    if Flag.UNPLAYED in game.flags:
        lost = ending in (Ending.CRASH, Ending.STALL)
        return None if lost else "a game that is not played is lost by a crash or a stall"
    match ending:
        case Ending.TIME | Ending.STALL:
            if not game.hands or fresh.to_act != seat:
                return f"seat {seat} was not to act"
        case Ending.ILLEGAL | Ending.MALFORMED:
            refused = [
                one for one in game.refusals if (one.hand, one.seat) == (len(game.hands), seat)
            ]
            ends = len(refused) == policy.refusals_that_end
            malformed = ends and refused[-1].reason is Reason.MALFORMED
            # What is no message at all ends a game too, and is no refusal.
            if ending is Ending.ILLEGAL and (not ends or malformed):
                return f"no refusal of seat {seat} ends this game"
            if ending is Ending.MALFORMED and ends and not malformed:
                return f"the last refusal of seat {seat} has another reason"
        case Ending.NEVER_STARTED:
            if any((hand.cut, hand.trump) != (None, None) for hand in game.hands):
                return "the game was played"
        case _:
            pass
    return None


def _outcome_by_rules(fresh: Game, outcome: Outcome) -> Outcome:
    if fresh.outcome is not None:
        return fresh.outcome
    if outcome.ending.counts and outcome.at_fault is not None:
        return fresh.forfeit(outcome.at_fault, ending=outcome.ending, cause=outcome.cause)
    return fresh.void(outcome.ending, cause=outcome.cause, seat=outcome.at_fault)
