"""What the bridge and the host tell a meter, with streams that are there and bots that lag."""

import trio
import trio.testing

from arena.metrics import Figures
from arena.referee.bridge import serve
from arena.referee.host import open_host
from arena.referee.lobby import open_lobby
from arena.referee.testing import MemoryConnection, answer_decisions
from tests.arena.referee.test_bridge import LOOPBACK, calling, post_until_one_is_stuck
from tests.arena.referee.test_host import a_table


async def test_games_and_what_answers_waited_for_are_counted(
    autojump_clock: trio.testing.MockClock,
) -> None:
    figures = Figures()
    connect, arrivals = trio.open_memory_channel[MemoryConnection](4)
    async with (
        open_lobby(arrivals) as lobby,
        open_host(now=trio.current_time, meter=figures) as host,
        trio.open_nursery() as nursery,
    ):
        sessions = []
        for _ in range(4):
            connection = MemoryConnection(lobby.issue())
            connection.hello()
            await connect.send(connection)
            sessions.append(await lobby.arrival(connection.ticket))
            nursery.start_soon(answer_decisions, connection)
        under_way: list[int] = []

        async def look() -> None:
            under_way.append(figures.games_under_way)

        nursery.start_soon(look)
        table = a_table()
        await host.play(table, sessions, match="m", players=("a",) * 4)
        decisions = sum(map(len, table.record().seconds))
        for session in sessions:
            session.end()
        nursery.cancel_scope.cancel()
    assert under_way == [1]
    assert figures.games_under_way == 0
    assert figures.answers == decisions > 40
    assert sum(figures.delays.counts) == decisions
    assert figures.delays.total == 0.0  # no virtual time passes in the referee


async def test_writes_streams_and_the_age_of_the_queue_are_counted() -> None:
    figures = Figures()
    with trio.fail_after(30):
        async with serve(LOOPBACK, meter=figures) as bridge:
            assert figures.queue_age() == 0.0
            with calling(bridge.address) as caller:
                connection = await bridge.arrivals.receive()
                connection.post(b"one")
                await caller.listen()
                written = trio.Event()
                connection.post(b"two", lambda *_: written.set())
                await written.wait()
                assert sum(figures.writes.counts) == 2
                assert figures.queue_age() == 0.0
                assert figures.streams == 1
                await post_until_one_is_stuck(bridge, connection)
                age = figures.queue_age()
                assert 0.0 < age < 30.0
                await trio.sleep(0.01)
                assert figures.queue_age() >= age + 0.01
    assert figures.queue_age() == 0.0
    assert figures.streams == 0
    assert figures.streams_opened == 2
