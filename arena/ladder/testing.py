"""A double of the runner: bots in this process, no clocks, real records, and faults on order.

The games are real, by the rules and from the plan's own seeds, so whatever reads the records finds
nothing amiss. A fault voids every game of its match, as a host or a bot that does not work would.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

import trio

from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Watcher
from hokm.bot import Bot, decide
from hokm.cards import Card, Seat
from hokm.outcome import Ending, Outcome
from hokm.records import EntrantRecord, GameLog, GameRecord, MatchRecord, RoomRecord, score_of
from hokm.rules.game import Game
from hokm.view import View

MakeBot = Callable[[], Bot]


class Steady(Bot):
    """Plays any legal card, by a hash of its name and what it sees: the same game every time."""

    def __init__(self, name: str) -> None:
        self._name = name

    def play(self, view: View) -> Card:
        """Choose as the hash says."""
        seen = f"{self._name} {view.seat} {view.trump} {view.hand} {view.trick}"
        digest = blake2b(seen.encode(), digest_size=2).digest()
        return view.playable[int.from_bytes(digest, "big") % len(view.playable)]


class InProcessRunner:
    """Plays matches between bots by name; those not in `bots` play steadily.

    `faults` are endings by (match, attempt), with the index of the entrant at fault, None where
    none is. `played` lists the plans as they were begun.
    """

    def __init__(
        self,
        bots: Mapping[str, MakeBot] | None = None,
        *,
        faults: Mapping[tuple[str, int], tuple[Ending, int | None]] | None = None,
    ) -> None:
        self.bots = dict(bots or {})
        self.faults = dict(faults or {})
        self.played: list[MatchPlan] = []

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        """Play a match; other tasks run between its rooms, and it can be cancelled there."""
        self.played.append(plan)
        fault = self.faults.get((plan.match, plan.attempt))
        rooms = []
        for number in plan.rooms:
            await trio.lowlevel.checkpoint()
            games = tuple(
                replace(
                    self._game(plan, number, game, fault=fault),
                    seating=plan.own_seating(number, game),
                )
                for game in plan.games
            )
            for record in games:
                watcher.game_over(plan, number, record)
            odd, even = plan.seatings(number)
            rooms.append(
                RoomRecord(
                    number=number,
                    seating=odd,
                    even_seating=None if even == odd else even,
                    games=games,
                )
            )
        return _record(plan, rooms)

    def _game(
        self,
        plan: MatchPlan,
        room: int,
        number: int,
        *,
        fault: tuple[Ending, int | None] | None,
    ) -> GameRecord:
        seating = plan.seating(room, number)
        game = plan.game(number)
        if fault is not None:
            ending, entrant = fault
            seat = None if entrant is None else Seat(seating.index(entrant))
            outcome = game.void(ending, cause=f"{ending.value} on order", seat=seat)
            return GameRecord(number=number, outcome=outcome)
        names = [plan.entrants[index].name for index in seating]
        return _played(game, [self._bot(name) for name in names], number=number)

    def _bot(self, name: str) -> Bot:
        return self.bots[name]() if name in self.bots else Steady(name)


def _played(game: Game, bots: Sequence[Bot], *, number: int) -> GameRecord:
    log = GameLog(game, number=number)
    views = [View(game.rules, Seat(seat)) for seat in range(game.variant.seats)]
    events = game.start()
    while True:
        log.saw(events)
        for event in events:
            for view in views:
                view.apply(event.seen_by(view.seat))
        seat = game.to_act
        if seat is None:
            break
        views[seat].ask(game.legal_actions())
        events = game.act(seat, decide(bots[seat], views[seat]))
        log.charged(0.0)
    outcome: Outcome | None = game.outcome
    assert outcome is not None
    log.finish(outcome)
    return log.record()


def _record(plan: MatchPlan, rooms: Sequence[RoomRecord]) -> MatchRecord:
    is_event_over = plan.event is None  # a match outside any event is an event of its own
    dealt = {
        number: max(len(room.games[number - 1].hands) for room in rooms) for number in plan.games
    }
    return MatchRecord(
        match=plan.match,
        attempt=plan.attempt,
        event=plan.event,
        format=plan.format,
        rules=plan.rules,
        games=plan.length,
        entrants=tuple(
            EntrantRecord(name=bot.name, owner=bot.owner, version=bot.version, digest=bot.digest)
            for bot in plan.entrants
        ),
        clock=plan.clock,
        policy=plan.policy,
        commitment=plan.secret.commitment,
        rooms=tuple(rooms),
        seeds=plan.seeds(dealt=dealt),
        score=score_of(plan.rules, rooms, entrants=len(plan.entrants)),
        secret=plan.secret.secret if is_event_over else None,
        entropy=plan.secret.entropy if is_event_over else None,
    )
