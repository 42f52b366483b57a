"""The score while a match is played is what the record says in the end."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from arena.ladder.bots.entrants import load_bot
from arena.ladder.matches.boards import MatchPlan, Secret
from arena.ladder.matches.scores import score
from arena.ladder.matches.tally import Tally
from arena.ladder.testing import InProcessRunner
from hokm.outcome import Ending, Outcome
from hokm.records import Format, GameRecord, Policy
from hokm.rules.options import Rules
from hokm.session import ClockRules

PlanOf = Callable[..., MatchPlan]


@pytest.fixture
def plan_of(bot_folder: Callable[..., str]) -> PlanOf:
    def plan_of(
        players: int, names: str, *, kind: Format = Format.BOARDS, **options: str
    ) -> MatchPlan:
        folders = [Path(bot_folder(name, variants=(2, 3, 4))) for name in names]
        return MatchPlan(
            match=f"local/x/{'~'.join(names)}",
            format=kind,
            rules=Rules.of(players, play=kind.play, options=options),
            length=4,
            entrants=tuple(map(load_bot, folders)),
            clock=ClockRules(),
            policy=Policy.CASUAL,
            secret=Secret(bytes(32)),
        )

    return plan_of


class Watch:
    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.boards: list[int] = []

    def game_over(self, plan: MatchPlan, room: int, game: GameRecord) -> None:
        self.tally.add(room, game)
        self.boards.append(self.tally.boards)

    def trouble(self, plan: MatchPlan, trouble: object) -> None:
        raise AssertionError("nobody fails here")


@pytest.mark.parametrize(
    ("players", "names", "kind"),
    [
        (4, "ab", Format.BOARDS),
        (4, "abcd", Format.BOARDS),
        (2, "ab", Format.BOARDS),
        (4, "ab", Format.CLASSIC),
        (3, "abc", Format.BOARDS),
    ],
)
async def test_it_ends_where_the_record_does(
    plan_of: PlanOf, players: int, names: str, kind: Format
) -> None:
    plan = plan_of(players, names, kind=kind)
    watch = Watch(Tally(plan))
    record = await InProcessRunner().play(plan, watcher=watch)
    tally, final = watch.tally, score(record)
    assert tuple(map(tuple, tally.gained)) == final.gained
    assert tally.differences() == final.pairs[0].differences
    games = 4 * len(plan.rooms)
    assert (tally.games, tally.games_over) == (games, games)


async def test_with_drawn_partners_the_races_of_each_are_counted(plan_of: PlanOf) -> None:
    plan = plan_of(4, "abcd", kind=Format.CLASSIC, teams="second_ace", cut="on")
    watch = Watch(Tally(plan))
    record = await InProcessRunner().play(plan, watcher=watch)
    assert tuple(map(tuple, watch.tally.gained)) == score(record).gained
    assert tuple(map(sum, watch.tally.gained)) == record.score
    assert sum(record.score) == 2 * 8  # both partners of each race
    assert watch.tally.unit == "races won"


async def test_a_board_counts_when_its_last_room_has_finished_it(plan_of: PlanOf) -> None:
    plan = plan_of(4, "ab")
    watch = Watch(Tally(plan))
    await InProcessRunner().play(plan, watcher=watch)
    assert watch.boards == [0, 0, 0, 0, 1, 2, 3, 4]  # the double plays room by room


def test_with_three_seats_everybody_gains_alone(plan_of: PlanOf) -> None:
    plan = plan_of(3, "abc")
    tally = Tally(plan)
    won = {1: (1, 0, 0), 2: (0, 2, 0), 3: (0, 0, 3)}  # by seat, in board 2 of each room
    for room, points in won.items():
        tally.add(room, finished(2, points))
    seatings = {room: plan.seating(room, 2) for room in plan.rooms}
    gained = [0, 0, 0]
    for room, points in won.items():
        for seat, count in enumerate(points):
            gained[seatings[room][seat]] += count
    assert [sum(one) for one in tally.gained] == gained


def test_a_board_that_was_stopped_in_one_room_does_not_count(plan_of: PlanOf) -> None:
    tally = Tally(plan_of(4, "ab"))
    tally.add(1, finished(1, (2, 0)))
    tally.add(2, finished(1, (0, 0), ending=Ending.STOPPED))
    assert (tally.boards, tally.games_over) == (0, 2)


def finished(number: int, points: Sequence[int], ending: Ending = Ending.COMPLETED) -> GameRecord:
    return GameRecord(number=number, outcome=Outcome(ending, tuple(points), None))
