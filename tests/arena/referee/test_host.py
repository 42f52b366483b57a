"""The host with real tables, bots in memory and virtual time."""

import gc
import logging
import re
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

import pytest
import trio
import trio.testing

from arena.referee import pulse
from arena.referee.blame import Vitals
from arena.referee.connection import Close
from arena.referee.host import Host, open_host
from arena.referee.lobby import Lobby, open_lobby
from arena.referee.session import RECEIVED_A_DECISION, SPARE_RECEIVED, Session
from arena.referee.table import Policy, Table
from arena.referee.testing import MemoryConnection, answer_decisions, endings, first_legal
from hokm.actions import PLAYS, Action
from hokm.cards import Seat
from hokm.deck import shuffled
from hokm.errors import Reason
from hokm.events import Event
from hokm.outcome import Ending, Outcome
from hokm.records import Verdict
from hokm.rules.game import Board, Game
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.session import (
    Answer,
    ClockRules,
    Decision,
    GameEnd,
    GameStart,
    Goodbye,
    Malformed,
    Refused,
)
from tests.arena.referee.virtual import CLOCK, a_game, drive

LIMIT = CLOCK.move_seconds + CLOCK.bank_seconds
NAMES = ("a", "b", "c", "d")


@dataclass
class House:
    """A host, and four bots that were welcomed; what they do is the test's to say."""

    host: Host
    nursery: trio.Nursery
    sessions: list[Session]
    bots: list[MemoryConnection]

    def play_all(self, *seats: int) -> None:
        """Have these bots answer, all four if none is named."""
        for seat in seats or range(4):
            self.nursery.start_soon(answer_decisions, self.bots[seat])

    async def play(self, table: Table) -> Outcome:
        return await self.host.play(table, self.sessions, match="m", players=NAMES)

    async def play_many(self, tables: Sequence[Table]) -> list[tuple[Outcome, float]]:
        """How each ended, and after how many seconds."""
        began = trio.current_time()
        results: dict[int, tuple[Outcome, float]] = {}

        async def play(table: Table) -> None:
            outcome = await self.play(table)
            results[table.number] = outcome, trio.current_time() - began

        async with trio.open_nursery() as nursery:
            for table in tables:
                nursery.start_soon(play, table)
        return [results[table.number] for table in tables]

    async def play_until_its_turn(self, seat: int, *tables: Table) -> Decision:
        """Begin these tables with the other bots playing, up to where they wait for this one."""
        self.play_all(*(other for other in range(4) if other != seat))
        for table in tables:
            self.nursery.start_soon(self.play, table)
        await trio.testing.wait_all_tasks_blocked()
        return told_decisions(self.bots[seat])[-1]


async def _welcomed(
    lobby: Lobby, connect: trio.MemorySendChannel[MemoryConnection]
) -> MemoryConnection:
    connection = MemoryConnection(lobby.issue())
    connection.hello()
    await connect.send(connection)
    return connection


@asynccontextmanager
async def a_house() -> AsyncIterator[House]:
    connect, arrivals = trio.open_memory_channel[MemoryConnection](4)
    async with (
        open_lobby(arrivals) as lobby,
        open_host(now=trio.current_time) as host,
        trio.open_nursery() as nursery,
    ):
        bots = [await _welcomed(lobby, connect) for _ in range(4)]
        sessions = [await lobby.arrival(bot.ticket) for bot in bots]
        yield House(host, nursery, sessions, bots)
        for session in sessions:
            session.end()
        nursery.cancel_scope.cancel()


def a_table(
    number: int = 1,
    *,
    game: Game | None = None,
    clock: ClockRules = CLOCK,
    policy: Policy = Policy.RATED,
    stall_seconds: float = 10.0,
) -> Table:
    game = game or a_game(Rules.of(4), number)
    return Table(game, number=number, clock=clock, policy=policy, stall_seconds=stall_seconds)


def a_board(number: int) -> Game:
    """A board whose hakem, who acts first, is the seat before its number."""
    rules = Rules.of(4)
    return Board(rules, shuffled(variant_of(rules).pack, bytes(32)), number=number)


def ending_of(table: Table) -> Ending | None:
    """How it ended, None while it goes on."""
    return None if table.outcome is None else table.outcome.ending


def told_game(bot: MemoryConnection, number: int) -> list[GameStart | Decision | Refused | GameEnd]:
    """What a bot was told of a game."""
    kinds = (GameStart, Decision, Refused, GameEnd)
    return [one for one in bot.told if isinstance(one, kinds) and one.game == number]


def told_decisions(bot: MemoryConnection) -> list[Decision]:
    return [message for message in bot.told if isinstance(message, Decision)]


# -- playing


async def test_a_decision_has_its_time_to_be_written_from_when_it_is_handed_over(
    autojump_clock: trio.testing.MockClock,
) -> None:
    # What seat 0 answers at once lies in the bridge until its deadline, longer than the next seat
    # may take to be written to. That seat has done nothing yet.
    async with a_house() as house:
        house.bots[0].lags = True
        house.play_all()
        outcome = await house.play(a_table(stall_seconds=10.0))
        assert outcome.ending is Ending.COMPLETED
        assert LIMIT > 10.0


async def test_a_board_is_played_to_its_end() -> None:
    async with a_house() as house:
        house.play_all()
        table = a_table()
        outcome = await house.play(table)
        assert outcome.ending is Ending.COMPLETED
        assert table.outcome == outcome
        await trio.testing.wait_all_tasks_blocked()
        for seat, bot in enumerate(house.bots):
            first, *_, last = told_game(bot, 1)
            assert first == GameStart("m", 1, Seat(seat), NAMES)
            assert isinstance(last, GameEnd)
            assert last.outcome == outcome


async def test_a_host_plays_what_the_table_alone_would() -> None:
    alone = drive(seed=1)
    alone.play_on(lambda decision: decision.legal[0])
    async with a_house() as house:
        house.play_all()
        table = a_table(1)
        assert await house.play(table) == alone.outcome
        assert table.record().hands == alone.table.record().hands


async def test_many_games_at_once_share_sessions_and_batches() -> None:
    async with a_house() as house:
        house.play_all()
        results = await house.play_many([a_table(number) for number in range(1, 33)])
        assert {outcome.ending for outcome, _ in results} == {Ending.COMPLETED}
        assert max(map(len, house.bots[0].batches)) > 4
        posts = sum(len(bot.batches) for bot in house.bots)
        told = sum(len(bot.told) for bot in house.bots)
        assert posts * 4 < told


async def test_a_race_is_played_as_well() -> None:
    async with a_house() as house:
        house.play_all()
        outcome = await house.play(a_table(game=a_game(Rules.of(4, play=Play.RACE))))
        assert outcome.ending is Ending.COMPLETED


# -- time: of the board that a_game() makes, seat 0 is hakem and acts first


async def test_a_bot_that_does_not_answer_loses_on_time_when_its_time_is_up(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        house.play_all(1, 2, 3)
        [(outcome, after)] = await house.play_many([a_table()])
        assert (outcome.ending, outcome.at_fault) == (Ending.TIME, 0)
        assert after == pytest.approx(LIMIT, abs=1e-5)


@pytest.mark.parametrize("moves", list(permutations([1.0, 5.0, 9.0])))
async def test_each_table_has_its_own_deadline_however_they_begin(
    autojump_clock: trio.testing.MockClock, moves: tuple[float, ...]
) -> None:
    async with a_house() as house:
        # Boards 1, 2 and 3 wait for seats 0, 1 and 2, so that no time is shared.
        results = await house.play_many(
            [
                a_table(number, game=a_board(number), clock=ClockRules(move, bank_seconds=2.0))
                for number, move in enumerate(moves, 1)
            ]
        )
        assert [outcome.at_fault for outcome, _ in results] == [0, 1, 2]
        assert [after for _, after in results] == pytest.approx(
            [move + 2.0 for move in moves], abs=1e-5
        )


async def test_an_answer_that_was_read_in_time_counts_though_it_is_heard_late(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        table = a_table()
        decision = await house.play_until_its_turn(0, table)
        house.bots[0].lags = True
        await trio.sleep(LIMIT - 0.001)
        house.bots[0].say(first_legal(decision))
        await trio.sleep(1)
        assert ending_of(table) is None
        assert len(told_game(house.bots[0], 1)) == 3


async def test_an_answer_that_was_read_too_late_does_not_count(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        table = a_table()
        decision = await house.play_until_its_turn(0, table)
        house.bots[0].lags = True
        await trio.sleep(LIMIT + 0.001)
        house.bots[0].say(first_legal(decision))
        await trio.testing.wait_all_tasks_blocked()
        assert ending_of(table) is Ending.TIME


async def test_the_clock_runs_from_the_return_of_the_write(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        house.bots[0].reads = False
        table = a_table(stall_seconds=10.0)
        house.nursery.start_soon(house.play, table)
        await trio.sleep(9)
        house.bots[0].read_on()
        await trio.sleep(LIMIT - 0.001)
        assert ending_of(table) is None
        await trio.sleep(0.002)
        assert ending_of(table) is Ending.TIME


async def test_a_write_that_does_not_return_is_a_stall(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        house.bots[0].reads = False
        [(outcome, after)] = await house.play_many([a_table(stall_seconds=10.0)])
        assert (outcome.ending, outcome.at_fault) == (Ending.STALL, 0)
        assert after == pytest.approx(10.0, abs=1e-5)


@pytest.mark.parametrize("games", [1, 2, 5])
async def test_a_bot_has_its_time_for_each_of_the_decisions_open_at_once(
    autojump_clock: trio.testing.MockClock, games: int
) -> None:
    async with a_house() as house:
        house.play_all(1, 2, 3)
        results = await house.play_many([a_table(number) for number in range(1, games + 1)])
        assert {outcome.ending for outcome, _ in results} == {Ending.TIME}
        assert [after for _, after in results] == pytest.approx([games * LIMIT] * games, abs=1e-4)


async def test_a_bot_is_charged_its_share_where_several_decisions_are_open(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        tables = [a_table(number) for number in range(1, 5)]
        await house.play_until_its_turn(0, *tables)
        await trio.sleep(8)
        bot = house.bots[0]
        bot.say(*map(first_legal, told_decisions(bot)))
        await trio.testing.wait_all_tasks_blocked()
        clocks = [decision.clock for decision in told_decisions(bot)[4:]]
        assert [clock and clock.last_seconds for clock in clocks] == [2.0] * 4


async def test_a_decision_that_was_answered_is_not_open_any_more(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        house.nursery.start_soon(house.play, a_table(1, clock=ClockRules(1000.0, 0.0)))
        await trio.testing.wait_all_tasks_blocked()
        [decision] = told_decisions(house.bots[0])
        house.bots[0].say(first_legal(decision))
        await trio.testing.wait_all_tasks_blocked()
        house.bots[0].say(*map(first_legal, told_decisions(house.bots[0])[1:]))
        await trio.testing.wait_all_tasks_blocked()
        # Game 1 waits for seat 1 now, and seat 0 has its time for game 2 once.
        [(outcome, after)] = await house.play_many([a_table(2)])
        assert (outcome.ending, outcome.at_fault) == (Ending.TIME, 0)
        assert after == pytest.approx(LIMIT, abs=1e-5)


async def test_a_share_does_not_fall_while_a_decision_is_open(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        tables = [a_table(1), a_table(2)]
        one = await house.play_until_its_turn(0, *tables)
        house.bots[0].lags = True  # from here on nothing is heard but what the test delivers
        house.host.cap(tables[one.game - 1], cause="gone")
        await trio.sleep(2 * LIMIT - 0.001)
        other = tables[2 - one.game]
        assert ending_of(other) is None
        await trio.sleep(0.002)
        assert ending_of(other) is Ending.TIME


# -- bots that fail


async def lose(house: House, fail: Callable[[MemoryConnection], None]) -> list[Table]:
    """Three games that wait for seat 0, which then fails; no time passes."""
    tables = [a_table(number, policy=Policy.CASUAL) for number in (1, 2, 3)]
    await house.play_until_its_turn(0, *tables)
    fail(house.bots[0])
    await trio.testing.wait_all_tasks_blocked()
    return tables


FAILURES: dict[str, tuple[Callable[[MemoryConnection], None], Ending]] = {
    "hangs up": (lambda bot: bot.hang_up(), Ending.CRASH),
    "says goodbye": (lambda bot: bot.say(Goodbye("a bot's own words")), Ending.CRASH),
    "sends no message": (lambda bot: bot.say_bytes(b"\xff\xff"), Ending.MALFORMED),
    "answers a game it has not": (
        lambda bot: bot.say(Answer(99, 1, 1, PLAYS[0])),
        Ending.MALFORMED,
    ),
}


@pytest.mark.parametrize(("fail", "ending"), FAILURES.values(), ids=FAILURES)
async def test_a_bot_that_fails_ends_all_its_games_at_once(
    fail: Callable[[MemoryConnection], None], ending: Ending
) -> None:
    async with a_house() as house:
        tables = await lose(house, fail)
        for table in tables:
            assert table.outcome is not None
            assert (table.outcome.ending, table.outcome.at_fault) == (ending, 0)
        for bot in house.bots:
            # the one at fault may still be there to be told, and why
            assert sorted(end.game for end in endings(bot)) == [1, 2, 3]
            for end in endings(bot):
                assert end.outcome == tables[end.game - 1].outcome
                assert "own words" not in end.outcome.cause


async def test_a_bot_that_breaks_the_protocol_is_told_how_and_its_stream_is_ended() -> None:
    async with a_house() as house:
        await lose(house, lambda bot: bot.say(Answer(99, 1, 1, PLAYS[0])))
        goodbye = house.bots[0].told[-1]
        assert isinstance(goodbye, Goodbye)
        assert "no game 99 was started here" in goodbye.reason
        assert [bot.close for bot in house.bots] == [Close.MALFORMED, None, None, None]


async def test_answers_before_the_end_of_a_stream_still_count() -> None:
    async with a_house() as house:
        decision = await house.play_until_its_turn(0, table := a_table())
        house.bots[0].say(first_legal(decision))
        house.bots[0].hang_up()
        await trio.testing.wait_all_tasks_blocked()
        [hand] = table.record().hands
        assert hand.trump is not None
        assert ending_of(table) is Ending.CRASH


async def test_a_goodbye_found_at_a_deadline_ends_the_games_though_the_stream_stays(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        tables = [a_table(1, clock=ClockRules(1.0, 1.0)), a_table(2)]
        await house.play_until_its_turn(0, *tables)
        house.bots[0].lags = True
        house.bots[0].say(Goodbye())
        await trio.sleep(4.1)
        assert list(map(ending_of, tables)) == [Ending.CRASH] * 2


async def test_a_game_with_a_bot_that_is_gone_is_over_before_it_begins() -> None:
    async with a_house() as house:
        await lose(house, lambda bot: bot.hang_up())
        outcome = await house.play(a_table(4))
        assert (outcome.ending, outcome.at_fault) == (Ending.CRASH, 0)
        await trio.testing.wait_all_tasks_blocked()
        for bot in house.bots[1:]:
            assert [type(one) for one in told_game(bot, 4)] == [GameStart, GameEnd]


async def test_an_answer_after_the_end_of_its_game_is_refused_at_no_cost() -> None:
    async with a_house() as house:
        tables = [a_table(1), a_table(2)]
        await house.play_until_its_turn(0, *tables)
        house.host.cap(tables[0], cause="gone")
        house.bots[0].say(Answer(1, 1, 1, PLAYS[0]))
        await trio.testing.wait_all_tasks_blocked()
        refused = told_game(house.bots[0], 1)[-1]
        assert isinstance(refused, Refused)
        assert (refused.game, refused.decision, refused.attempt) == (1, 1, 1)
        assert refused.reason is Reason.MATCH_OVER
        assert tables[1].outcome is None
        assert house.sessions[0].closed is None


async def test_a_bot_that_floods_the_arena_is_stopped() -> None:
    async with a_house() as house:
        decision = await house.play_until_its_turn(0, table := a_table())
        bot = house.bots[0]
        bot.say(first_legal(decision))
        spare = SPARE_RECEIVED + RECEIVED_A_DECISION - 2  # an answer, in a batch of its own
        again = [first_legal(decision)] * 500
        for _ in range(spare // (len(again) + 1)):
            bot.say(*again)
            await trio.testing.wait_all_tasks_blocked()
        assert ending_of(table) is None
        bot.say(*again)
        await trio.testing.wait_all_tasks_blocked()
        assert ending_of(table) is Ending.MALFORMED
        assert bot.close is Close.MALFORMED


# Nothing at all, and a message that has nothing but a field no version knows (number 15).
@pytest.mark.parametrize("nothing", [b"", b"\x0a\x02\x78\x01"])
async def test_a_flood_of_batches_that_say_nothing_is_stopped(nothing: bytes) -> None:
    async with a_house() as house:
        await house.play_until_its_turn(0, table := a_table())
        bot = house.bots[0]
        for _ in range(SPARE_RECEIVED + RECEIVED_A_DECISION):
            bot.say_bytes(nothing)
        await trio.testing.wait_all_tasks_blocked()
        assert ending_of(table) is None
        bot.say_bytes(nothing)
        await trio.testing.wait_all_tasks_blocked()
        assert ending_of(table) is Ending.MALFORMED
        assert bot.close is Close.MALFORMED


# -- faults of the arena, and orders to stop


class Broken(Exception):
    pass


def break_at(game: Game, act: int) -> Game:
    """A game that fails at so many actions, by a mistake of the arena's."""
    whole, acts = game.act, iter(range(1, 1000))

    def broken(seat: Seat, action: Action) -> list[Event]:
        if next(acts) == act:
            raise Broken
        return whole(seat, action)

    game.act = broken  # type: ignore[method-assign]
    return game


async def test_a_fault_of_the_arena_voids_its_game_and_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with a_house() as house:
        house.play_all()
        tables = [a_table(1), a_table(2, game=break_at(a_game(Rules.of(4)), 7)), a_table(3)]
        outcomes = [outcome for outcome, _ in await house.play_many(tables)]
        await trio.testing.wait_all_tasks_blocked()
    assert [outcome.ending for outcome in outcomes] == [
        Ending.COMPLETED,
        Ending.HOST_FAULT,
        Ending.COMPLETED,
    ]
    assert outcomes[1].at_fault is None
    assert "Broken" in caplog.text
    for bot in house.bots:
        assert [end.outcome for end in endings(bot) if end.game == 2] == [outcomes[1]]


@pytest.mark.rule("8.45")
async def test_case_45_before_the_choice_the_second_card_is_in_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The arena says the most where it fails: at the choice, after two refusals of the drawer."""
    for name in (None, *logging.root.manager.loggerDict):
        caplog.set_level(logging.DEBUG, logger=name)
    game = break_at(a_game(Rules.of(2)), 5)  # after trump, two discards and a refused card
    async with a_house() as house:
        table = a_table(game=game, policy=Policy.CASUAL)
        playing = partial(house.host.play, table, house.sessions[:2], match="m", players=NAMES[:2])
        house.nursery.start_soon(playing)
        await trio.testing.wait_all_tasks_blocked()
        while game.deal.offered is None:
            await answer_next(house, game)
        second = game.deal.deck[11]
        await answer_next(house, game, Malformed("keep and refuse at once"), attempt=1)
        await answer_next(house, game, PLAYS[second], attempt=2)
        assert table.outcome is None
        await answer_next(house, game, attempt=3)
    assert ending_of(table) is Ending.HOST_FAULT
    written = caplog.text + "".join(repr(vars(record)) for record in caplog.records)
    assert "Broken" in written
    assert not re.search(rf"\b{second}\b", written)


async def answer_next(
    house: House, game: Game, action: Action | Malformed | None = None, *, attempt: int = 1
) -> None:
    """The seat to act answers what it was asked last, by the first legal action if no other."""
    assert game.to_act is not None
    bot = house.bots[game.to_act]
    asked = told_decisions(bot)[-1]
    bot.say(Answer(asked.game, asked.decision, attempt, action or asked.legal[0]))
    await trio.testing.wait_all_tasks_blocked()


async def test_a_game_that_cannot_even_be_stopped_is_void_as_well(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: object, **__: object) -> Outcome:
        raise Broken

    async with a_house() as house:
        house.play_all()
        game = break_at(a_game(Rules.of(4)), 7)
        game.void = broken  # type: ignore[method-assign]
        outcome = await house.play(a_table(game=game))
        assert outcome.ending is Ending.HOST_FAULT
        await trio.testing.wait_all_tasks_blocked()
        assert [len(endings(bot)) for bot in house.bots] == [1, 1, 1, 1]


async def test_an_order_to_stop_ends_every_game_and_those_that_would_begin() -> None:
    async with a_house() as house:
        tables = [a_table(number) for number in (1, 2, 3)]
        await house.play_until_its_turn(0, *tables)
        house.host.stop("maintenance")
        late = await house.play(a_table(4))
        for outcome in [*(table.outcome for table in tables), late]:
            assert outcome is not None
            assert (outcome.ending, outcome.at_fault) == (Ending.STOPPED, None)
            assert outcome.cause == "maintenance"
        await trio.testing.wait_all_tasks_blocked()
        assert [len(endings(bot)) for bot in house.bots] == [4] * 4


async def test_a_match_beyond_its_cap_is_a_stall_of_who_holds_it_up() -> None:
    async with a_house() as house:
        tables = [a_table(1), a_table(2)]
        await house.play_until_its_turn(0, *tables)
        house.host.cap(tables[0], cause="the match is beyond its cap")
        house.host.cap(a_table(3), cause="not played here")
        assert tables[0].outcome is not None
        assert (tables[0].outcome.ending, tables[0].outcome.at_fault) == (Ending.STALL, 0)
        assert tables[1].outcome is None


async def test_a_game_whose_caller_is_cancelled_is_stopped_and_the_bots_are_told() -> None:
    async with a_house() as house:
        table = a_table()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.play, table)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert ending_of(table) is Ending.STOPPED
        await trio.testing.wait_all_tasks_blocked()
        assert [len(endings(bot)) for bot in house.bots] == [1, 1, 1, 1]


async def test_a_session_that_the_arena_ends_is_nobodys_fault() -> None:
    async with a_house() as house:
        table = a_table()
        await house.play_until_its_turn(0, table)
        house.sessions[0].end()
        await trio.testing.wait_all_tasks_blocked()
        assert table.outcome is not None
        assert (table.outcome.ending, table.outcome.at_fault) == (Ending.STOPPED, None)


# -- what cannot be played


async def test_a_table_needs_a_session_for_each_seat() -> None:
    async with a_house() as house:
        del house.sessions[3]
        with pytest.raises(ValueError, match="4 seats, not 3"):
            await house.play(a_table())


async def test_one_session_cannot_sit_on_two_seats() -> None:
    async with a_house() as house:
        house.sessions[3] = house.sessions[0]
        with pytest.raises(ValueError, match="one session at two seats"):
            await house.play(a_table())


async def test_a_number_is_good_for_one_game_of_a_session() -> None:
    async with a_house() as house:
        house.play_all()
        await house.play(a_table())
        with pytest.raises(ValueError, match="game 1 was played before"):
            await house.play(a_table())


# -- whose time ran out

SHORT = ClockRules(move_seconds=1.0, bank_seconds=0.0)


async def test_a_time_loss_of_the_machines_making_voids_the_game_for_all(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "cpus", lambda: None)
    async with a_house() as house:
        house.play_all(1, 2, 3)
        looks = iter([Vitals(5.0, {1: 1.0}), Vitals(5.1, {1: 1.75})])
        house.sessions[0].take_vitals = lambda: next(looks)
        table = a_table(game=a_board(1), clock=SHORT)
        outcome = await house.play(table)
        assert (outcome.ending, outcome.at_fault) == (Ending.HOST_FAULT, None)
        assert "kept seat 0 from its time" in outcome.cause
        await trio.testing.wait_all_tasks_blocked()
        for bot in house.bots:
            assert [end.outcome for end in endings(bot)] == [outcome]
        loss = table.record().time_loss
        assert loss is not None
        assert (loss.seat, loss.verdict, loss.waited_seconds) == (0, Verdict.HOST, 0.75)


async def test_a_time_loss_of_the_bots_own_is_its_loss_and_the_record_has_why(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        house.play_all(1, 2, 3)
        table = a_table(game=a_board(1), clock=SHORT)
        outcome = await house.play(table)
        assert (outcome.ending, outcome.at_fault) == (Ending.TIME, 0)
        await trio.sleep(0.5)
        first = told_decisions(house.bots[0])[0]
        answer = first_legal(first)
        house.bots[0].say(replace(answer, took_seconds=1.25))
        house.bots[0].say(replace(answer, took_seconds=9.0))  # said once
        await trio.testing.wait_all_tasks_blocked()
        loss = table.record().time_loss
        assert loss is not None
        assert (loss.verdict, loss.limit_seconds, loss.elapsed_seconds) == (Verdict.BOT, 1.0, 1.0)
        assert loss.bot_seconds == 1.25
        assert loss.wire_seconds == pytest.approx(0.25)


async def test_who_answers_in_time_is_never_looked_at(
    autojump_clock: trio.testing.MockClock,
) -> None:
    def look() -> Vitals:
        raise AssertionError("this takes time, and nobody asked")

    async with a_house() as house:
        house.play_all()
        for session in house.sessions:
            session.take_vitals = look
        assert (await house.play(a_table())).ending is Ending.COMPLETED


async def test_a_game_that_is_over_is_not_kept_until_its_deadline_would_have_come(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_house() as house:
        house.play_all()
        table = a_table()
        await house.play(table)
        kept = weakref.ref(table)
        del table
        await trio.testing.wait_all_tasks_blocked()
        gc.collect()
        assert kept() is None
