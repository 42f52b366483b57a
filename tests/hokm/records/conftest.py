"""Matches to make records of: random legal play, faults where a test wants them, no processes."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from hokm.cards import Rank, Seat
from hokm.deck import board_seed, commitment, mix, shuffled
from hokm.errors import Reason
from hokm.events import CardTurned
from hokm.notes import Note
from hokm.outcome import Ending
from hokm.records import (
    Circumstances,
    EntrantRecord,
    Format,
    GameLog,
    GameRecord,
    MatchRecord,
    Policy,
    ProcessRecord,
    RoomRecord,
    Seed,
    TimeLoss,
    Verdict,
    deal_id,
    score_of,
)
from hokm.rules.game import Board, Game, Race
from hokm.rules.options import Rules, Teams
from hokm.rules.variants import variant_of
from hokm.session import ClockRules

MakeMatch = Callable[..., MatchRecord]

SECRET = bytes(range(32))
NAMES = ("zahra", "ali", "Ömer", "bahár")
EVERY_OPTION = {
    "cut": "on",
    "teams": "second_ace",
    "modes": "suit,sar,nar,tak_nar",
    "kot_in_modes": "on",
    "target_points": "3",
}
"""Options of a race of four single entrants that each add something to a record."""

MIRRORED = {0: (0, 2, 1), 1: (2, 1, 0), 2: (1, 0, 2)}


def make_match_record(
    players: int = 4,
    kind: Format = Format.BOARDS,
    *,
    seed: int = 1,
    games: int = 2,
    entrants: int | None = None,
    policy: Policy = Policy.CASUAL,
    attempt: int = 1,
    options: Mapping[str, str] | None = None,
    faults: Mapping[tuple[int, int], Ending] | None = None,
) -> MatchRecord:
    """A match of random legal play; ``faults`` ends the game (room, game) otherwise."""
    chance = random.Random(seed)
    rules = Rules.of(players, play=kind.play, options=options)
    sides = variant_of(rules).sides
    names = NAMES[: entrants or sides]
    match = f"local/{commitment(SECRET).hex()[:16]}/{'~'.join(sorted(names, key=str.encode))}"
    seeds: dict[tuple[int, int], bytes] = {}
    mixed = mix(SECRET, b"")

    def fresh(number: int) -> Game:
        def seed_of(hand: int) -> bytes:
            pair = number if kind is Format.CLASSIC else None
            named = deal_id(match, attempt=attempt, pair=pair)
            value = board_seed(mixed, named, hand if pair else number)
            return seeds.setdefault((number, hand), value)

        if kind is Format.CLASSIC:
            return Race(rules, seed_of)
        return Board(rules, shuffled(variant_of(rules).pack, seed_of(1)), number=number)

    rooms = []
    for room in range(sides):
        first = [seat % len(names) for seat in range(players)]
        # Two rooms: everybody one seat on; three: the other way round, as the arena seats them.
        moved = room if players == 3 else -room
        seating = (*first[moved:], *first[:moved])
        rooms.append(
            RoomRecord(
                number=room + 1,
                seating=seating,
                even_seating=MIRRORED[room] if players == 3 else None,
                games=tuple(
                    seated(
                        played(
                            fresh(number),
                            number,
                            chance,
                            ending=(faults or {}).get((room + 1, number)),
                            policy=policy,
                        ),
                        fresh(number),
                        seating=seating,
                    )
                    for number in range(1, games + 1)
                ),
            )
        )
    return MatchRecord(
        match=match,
        attempt=attempt,
        format=kind,
        rules=rules,
        games=games,
        entrants=tuple(
            EntrantRecord(name=n, owner="o", version="1", digest="ab" * 32) for n in names
        ),
        clock=ClockRules(),
        policy=policy,
        commitment=commitment(SECRET),
        rooms=tuple(rooms),
        seeds=tuple(Seed(game=g, hand=h, value=value) for (g, h), value in sorted(seeds.items())),
        score=score_of(rules, rooms, entrants=len(names)),
        secret=SECRET,
        entropy=b"",
        circumstances=Circumstances(
            started="2026-11-30T12:00:00+00:00",
            processes=(
                ProcessRecord(
                    room=1, seat=Seat(0), cpu_seconds=1.25, exit_code=-9, is_confined=True
                ),
                ProcessRecord(room=1, seat=Seat(1), is_confined=False),
                ProcessRecord(room=1, seat=Seat(1)),
            ),
        ),
    )


NOTES = (
    Note("the ace is out"),
    Note("", (("win", 0.61), ("deals", 40.0))),
    None,
    Note('é, \\ and "', (("z", -1e-300), ("a", 1e22))),
)
"""What seats note now and then; one of them is no note."""

A_TIME_LOSS = TimeLoss(
    seat=Seat(0),
    decision=2,
    verdict=Verdict.UNCLEAR,
    limit_seconds=31.0,
    elapsed_seconds=31.000125,
    referee_seconds=0.0005,
    writing_seconds=0.25,
    stalled_seconds=2.0,
    cpu_seconds=1.5,
    bot_seconds=30.5,
)


def played(
    game: Game, number: int, chance: random.Random, *, ending: Ending | None, policy: Policy
) -> GameRecord:
    """Play to the end, or to ``ending`` after some decisions."""
    log = GameLog(game, number=number)
    if ending is not Ending.NEVER_STARTED:
        log.saw(game.start())
        decisions = chance.randrange(1, 25) if ending else 10**6
        while not game.is_over and decisions:
            seat, decisions = game.to_act, decisions - 1
            assert seat is not None
            log.charged(chance.randrange(3000) / 1_000_000)
            if decisions % 9 == 0:
                log.noted(seat, NOTES[decisions // 9 % len(NOTES)])
            log.saw(game.act(seat, chance.choice(game.legal_actions())))
    seat = (game.to_act if log.record().hands else None) or Seat(0)
    if ending in (Ending.ILLEGAL, Ending.MALFORMED):
        reason = Reason.MALFORMED if ending is Ending.MALFORMED else Reason.NOT_IN_HAND
        for attempt in range(policy.refusals_that_end):
            log.refused(seat, attempt + 1, reason, "play 2C")
    if ending is Ending.TIME:
        log.out_of_time(A_TIME_LOSS)
    if ending is None:
        assert game.outcome is not None
        log.finish(game.outcome)
    elif ending in (Ending.STOPPED, Ending.HOST_FAULT):
        log.finish(game.void(ending, cause="stopped after 1.0 s"))
    elif ending is Ending.NEVER_STARTED:
        log.finish(game.void(ending, cause="no hello within 10 s", seat=seat))
    else:
        log.finish(game.forfeit(seat, ending=ending, cause=f"seat {seat}: after 1.2 s"))
    return log.record()


def seated(record: GameRecord, fresh: Game, *, seating: tuple[int, ...]) -> GameRecord:
    """The record with its own seating where a second ace draws partners."""
    if fresh.rules.teams is not Teams.SECOND_ACE:
        return record
    turned = [event for event in fresh.start() if isinstance(event, CardTurned)]
    hakem, partner = (event.seat for event in turned if event.card.rank is Rank.ACE)
    opposite = (hakem + 2) % 4
    chairs = [0, 1, 2, 3]
    chairs[opposite], chairs[partner] = partner, opposite
    # In room 1 the players have the chairs 0 to 3 in the draw; the other room sits as room 1 ends
    # up, one seat on.
    drawn = tuple(chairs[index] for index in seating)
    return record if drawn == seating else replace(record, seating=drawn)


@pytest.fixture
def make_match() -> MakeMatch:
    return make_match_record


@pytest.fixture
def make_drawn_match() -> MakeMatch:
    """Makes races with everything an option adds: cuts, modes, drawn partners."""
    return partial(make_match_record, 4, Format.CLASSIC, entrants=4, options=EVERY_OPTION)


@pytest.fixture
def match(make_match: MakeMatch) -> MatchRecord:
    """Two boards, two rooms, four seats."""
    return make_match()


def with_game(record: MatchRecord, game: GameRecord, *, room: int = 1) -> MatchRecord:
    """The record with another game in place of the one of its number."""
    rooms = tuple(
        replace(
            its,
            games=tuple(game if one.number == game.number else one for one in its.games),
        )
        if its.number == room
        else its
        for its in record.rooms
    )
    return replace(record, rooms=rooms)


@pytest.fixture
def edited() -> Callable[..., MatchRecord]:
    """``edited(record, plays=…)``: the record with another hand 1 of game 1 in room 1."""

    def edit(record: MatchRecord, **changes: Any) -> MatchRecord:
        game = record.rooms[0].games[0]
        hand = replace(game.hands[0], **changes)
        return with_game(record, replace(game, hands=(hand, *game.hands[1:])))

    return edit


@pytest.fixture
def edited_game() -> Callable[..., MatchRecord]:
    """``edited_game(record, outcome=…)``: the record with another game 1 in room 1."""

    def edit(record: MatchRecord, **changes: Any) -> MatchRecord:
        return with_game(record, replace(record.rooms[0].games[0], **changes))

    return edit
