"""Every way a game can end, provoked with real bot processes through the gRPC referee.

Each test says which ending, which seat is named, what it costs, and that the others got their end.
Times are short because they must pass; none is asserted.
"""

from pathlib import Path

import pytest
import trio

from arena.ladder.bots.entrants import Entrant
from arena.ladder.matches.scores import score
from arena.referee.table import Table
from hokm.cards import Seat
from hokm.outcome import Ending, Outcome
from hokm.records import Flag, Format, MatchRecord, Policy, substance_digest, verify
from hokm.session import ClockRules
from tests.system.processes import GOOD, Notes, plan, runner, runs, write_bot

HELLO_SECONDS = 4.0
"""Long enough for a good bot to say hello on a loaded machine, short enough to wait for."""

HURRIED = ClockRules(move_seconds=0.6, bank_seconds=0.0)
"""Long enough that a machine with much else to do is not to blame for a bot that sleeps."""

# A good bot that also writes down how each of its games ended.
WITNESS = """
    from hokm import Bot, run

    class Witness(Bot):
        def play(self, view):
            return view.playable[0]

        def game_ended(self, view, outcome):
            print("ended", outcome.ending.name, outcome.at_fault, outcome.cause)

    run(Witness)
"""


def failing(what: str) -> str:
    """A bot that does this in place of its first play in a hand, and is good before."""
    return f"""
        import os, sys, time
        from hokm import Bot, run

        class Failing(Bot):
            def play(self, view):
                {what}
                return view.playable[0]

        run(Failing)
    """


async def play(tmp_path: Path, *entrants: Entrant, **options: object) -> tuple[MatchRecord, Notes]:
    notes = Notes()
    async with runner(tmp_path) as running:
        record = await running.play(plan(*entrants, **options), watcher=notes)  # type: ignore[arg-type]
    assert verify(record) == ()
    assert not any((tmp_path / "running").iterdir())
    return record, notes


def outcomes(record: MatchRecord) -> list[Outcome]:
    found = [game.outcome for room in record.rooms for game in room.games]
    assert all(outcome is not None for outcome in found)
    return [outcome for outcome in found if outcome is not None]


def witnessed(tmp_path: Path) -> list[str]:
    """What the witness's processes wrote of their games' ends."""
    logs = sorted((tmp_path / "logs").rglob("*witness*.log"))
    return [line for log in logs for line in log.read_text().splitlines() if "ended" in line]


@pytest.mark.parametrize(("players", "seats"), [(2, 2), (3, 3), (4, 2)])
async def test_a_match_of_good_bots_is_completed(tmp_path: Path, players: int, seats: int) -> None:
    bots = [write_bot(tmp_path / f"bot{n}", GOOD) for n in range(seats)]
    record, notes = await play(tmp_path, *bots, players=players, length=2)
    assert {outcome.ending for outcome in outcomes(record)} == {Ending.COMPLETED}
    assert notes.troubles == []
    assert all(process.exit_code == 0 for process in record.circumstances.processes)


async def test_races_are_played_in_mirrored_pairs(tmp_path: Path) -> None:
    bots = [write_bot(tmp_path / name, GOOD) for name in ("a", "b")]
    record, _ = await play(tmp_path, *bots, players=2, kind=Format.CLASSIC, length=1)
    # Equal bots and equal decks: each wins the race that the other wins from the other side.
    assert score(record).pairs[0].differences == (0,)


@pytest.mark.parametrize(
    ("what", "ending", "cause"),
    [
        ("time.sleep(60)", Ending.TIME, "no answer"),
        ("return view.unseen[0]", Ending.ILLEGAL, "a card it may not use"),
        ("os._exit(3)", Ending.CRASH, "its stream ended without a goodbye"),
        ("raise RuntimeError('my bug')", Ending.CRASH, "its stream ended without a goodbye"),
        ("os.kill(os.getpid(), 9)", Ending.CRASH, "its stream ended without a goodbye"),
    ],
)
async def test_a_fault_names_its_seat_and_costs_the_board_and_the_other_is_told_why(
    tmp_path: Path, what: str, ending: Ending, cause: str
) -> None:
    bad = write_bot(tmp_path / "bad", failing(what))
    witness = write_bot(tmp_path / "witness", WITNESS)
    record, notes = await play(tmp_path, bad, witness, clock=HURRIED)
    first, second = outcomes(record)
    # The bad bot sits at seat 0 in room 1, where it is hakem, and at seat 1 in room 2.
    assert (first.ending, first.at_fault, first.points) == (ending, 0, (0, 3))
    assert (second.ending, second.at_fault, second.points) == (ending, 1, (2, 0))
    assert cause in first.cause
    assert score(record).pairs[0].differences == (-5,)
    assert [trouble.entrant.name for trouble in notes.troubles] == ["bad", "bad"]
    assert (
        sum(
            f"ended {ending.name} {seat} seat {seat}" in line
            for seat, line in enumerate(witnessed(tmp_path))
        )
        == 2
    )


async def test_the_verdict_comes_with_the_bots_last_words_and_how_to_run_it(
    tmp_path: Path,
) -> None:
    bad = write_bot(tmp_path / "bad", failing("raise RuntimeError('my bug')"))
    good = write_bot(tmp_path / "good", GOOD)
    _, notes = await play(tmp_path, bad, good)
    trouble = notes.troubles[0]
    assert "RuntimeError: my bug" in trouble.tail
    assert "exit code 1" in trouble.detail
    assert str(bad.folder) in trouble.by_hand
    assert "RuntimeError: my bug" in trouble.log.read_text()


async def test_bytes_that_are_no_message_are_malformed(tmp_path: Path) -> None:
    bad = write_bot(
        tmp_path / "bad",
        """
        import os, queue, grpc
        from hokm import session, wire

        said = queue.SimpleQueue()
        hello = session.Hello(session.PROTOCOL, "raw", "bad", "1")
        said.put(wire.encode_from_bot([hello]))
        channel = grpc.insecure_channel(os.environ["HOKM_ADDRESS"])
        call = channel.stream_stream(wire.PLAY_METHOD)(
            iter(said.get, None), metadata=[("hokm-ticket", os.environ["HOKM_TICKET"])]
        )
        try:
            for batch in call:
                for message in wire.decode_from_referee(batch):
                    if isinstance(message, session.Decision):
                        said.put(b"\\xff\\xff\\xff\\xff")
        except grpc.RpcError as error:
            print(error.code())
        os._exit(0)
        """,
    )
    good = write_bot(tmp_path / "good", GOOD)
    record, notes = await play(tmp_path, bad, good)
    assert [(outcome.ending, outcome.at_fault) for outcome in outcomes(record)] == [
        (Ending.MALFORMED, 0),
        (Ending.MALFORMED, 1),
    ]
    assert notes.troubles[0].ending is Ending.MALFORMED


async def test_a_card_that_does_not_exist_is_malformed(tmp_path: Path) -> None:
    bad = write_bot(
        tmp_path / "bad",
        """
        from hokm import Bot, run, wire
        from hokm.v1 import action_pb2

        class Lowest(Bot):
            def play(self, view):
                return view.playable[0]

        # Every answer leaves without its action.
        encode = wire.encode_from_bot

        def without_actions(messages):
            import hokm.session as session
            data = encode(messages)
            from hokm.v1 import session_pb2, referee_service_pb2
            request = referee_service_pb2.PlayRequest.FromString(data)
            for message in request.messages:
                if message.HasField("answer"):
                    message.answer.ClearField("action")
            return request.SerializeToString()

        wire.encode_from_bot = without_actions
        import hokm.client
        hokm.client.encode_from_bot = without_actions
        run(Lowest)
        """,
    )
    good = write_bot(tmp_path / "good", GOOD)
    record, _ = await play(tmp_path, bad, good)
    assert {outcome.ending for outcome in outcomes(record)} == {Ending.MALFORMED}
    refusal = record.rooms[0].games[0].refusals[0]
    assert refusal.seat == 0


async def test_a_match_beyond_its_cap_is_the_fault_of_the_seat_that_holds_it_up(
    tmp_path: Path,
) -> None:
    slow = write_bot(tmp_path / "slow", failing("time.sleep(60)"))
    witness = write_bot(tmp_path / "witness", WITNESS)
    clock = ClockRules(move_seconds=600.0, bank_seconds=0.0)
    record, _ = await play(tmp_path, slow, witness, length=3, clock=clock, cap_seconds=0.5)
    first = outcomes(record)[0]
    assert (first.ending, first.at_fault) == (Ending.STALL, 0)
    assert {outcome.ending for outcome in outcomes(record)} == {Ending.STALL}
    assert [game.flags for game in record.rooms[0].games] == [
        (),
        (Flag.UNPLAYED,),
        (Flag.UNPLAYED,),
    ]
    assert all(d < 0 for d in score(record).pairs[0].differences)


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("import sys; print('no such module'); sys.exit(7)", "exit code 7"),
        ("import time; time.sleep(60)", f"no hello within {HELLO_SECONDS:.1f} s"),
    ],
)
async def test_a_bot_that_never_says_hello_moves_no_rating(
    tmp_path: Path, source: str, detail: str
) -> None:
    absent = write_bot(tmp_path / "absent", source)
    good = write_bot(tmp_path / "good", GOOD)
    notes = Notes()
    async with runner(tmp_path, hello_seconds=HELLO_SECONDS) as running:
        record = await running.play(plan(absent, good, length=2), watcher=notes)
    assert verify(record) == ()
    assert score(record).spoilt is Ending.NEVER_STARTED
    assert score(record).boards == ()
    trouble = next(one for one in notes.troubles if one.entrant.name == "absent")
    assert trouble.ending is Ending.NEVER_STARTED
    assert detail in trouble.detail


async def aborted(tmp_path: Path, slow: Entrant) -> MatchRecord:
    """The match of a bot against the witness, aborted once the bot has written "thinking"."""
    witness = write_bot(tmp_path / "witness", WITNESS)
    record: list[MatchRecord] = []
    # What this waits for in vain it waits for until the test fails.
    async with runner(tmp_path, hello_seconds=600.0) as running, trio.open_nursery() as nursery:

        async def play_it() -> None:
            clock = ClockRules(move_seconds=600.0)
            match = plan(slow, witness, clock=clock)
            record.append(await running.play(match, watcher=Notes()))

        nursery.start_soon(play_it)
        # A real process is waited for, and nothing tells of what it writes.
        while not any(  # noqa: ASYNC110
            "thinking" in log.read_text() for log in (tmp_path / "logs").rglob("*slow*.log")
        ):
            await trio.sleep(0.02)
        running.abort()
        nursery.cancel_scope.deadline = trio.current_time() + 60
    assert record, "the match goes on after it was aborted"
    assert verify(record[0]) == ()
    assert not any((tmp_path / "running").iterdir())
    return record[0]


async def test_an_order_to_stop_is_nobodys_fault(tmp_path: Path) -> None:
    slow = write_bot(tmp_path / "slow", failing("print('thinking', flush=True); time.sleep(600)"))
    record = await aborted(tmp_path, slow)
    ends = outcomes(record)
    assert {outcome.ending for outcome in ends} == {Ending.STOPPED}
    assert {outcome.at_fault for outcome in ends} == {None}
    assert score(record).spoilt is Ending.STOPPED


async def test_an_abort_waits_for_no_hello(tmp_path: Path) -> None:
    source = "import time; print('thinking', flush=True); time.sleep(600)"
    record = await aborted(tmp_path, write_bot(tmp_path / "slow", source))
    assert score(record).spoilt is Ending.STOPPED
    assert len(record.circumstances.processes) == 4


async def test_an_abort_waits_for_no_farewell(tmp_path: Path) -> None:
    """Both rooms: one bot hangs, the other hears of the end and would take a second over it."""
    source = """
        import time
        from pathlib import Path
        from hokm import Bot, run

        class Leaving(Bot):
            def play(self, view):
                print("thinking", flush=True)
                if view.seat == 0:
                    time.sleep(600)
                return view.playable[0]

            def game_ended(self, view, outcome):
                time.sleep(1)  # half of what a bot may take otherwise
                print("left", flush=True)

        run(Leaving)
    """
    record = await aborted(tmp_path, write_bot(tmp_path / "slow", source))
    assert score(record).spoilt is Ending.STOPPED
    assert not any("left" in log.read_text() for log in (tmp_path / "logs").rglob("*slow*.log"))


async def test_a_failure_of_the_referee_is_the_hosts_fault_and_the_bots_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Table.answer

    def broken(table: Table, seat: Seat, *rest: object) -> object:
        if len(table.record().hands[0].plays) == 5:
            raise RuntimeError("a bug of ours")
        return judge(table, seat, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Table, "answer", broken)
    bots = [write_bot(tmp_path / name, WITNESS) for name in ("witness1", "witness2")]
    record, _ = await play(tmp_path, *bots, length=3)
    assert {outcome.ending for outcome in outcomes(record)} <= {Ending.HOST_FAULT, Ending.STOPPED}
    assert score(record).spoilt is Ending.HOST_FAULT
    assert any("HOST_FAULT None" in line for line in witnessed(tmp_path))


async def test_a_dead_bot_is_started_again_and_the_third_incident_loses_the_rest(
    tmp_path: Path,
) -> None:
    bad = write_bot(tmp_path / "bad", failing("os._exit(3)"))
    good = write_bot(tmp_path / "good", GOOD)
    record, notes = await play(tmp_path, bad, good, length=8)
    games = [game for room in record.rooms for game in room.games]
    played = [game for game in games if Flag.UNPLAYED not in game.flags]
    # Rooms run side by side, so a fourth may be under way when the third happens.
    assert 3 <= len(played) <= 4
    assert {outcome.ending for outcome in outcomes(record)} == {Ending.CRASH}
    assert len(score(record).boards) == 8
    assert len(notes.troubles) == len(played)
    assert [trouble.loses_rest for trouble in notes.troubles[:3]] == [False, False, True]
    assert not any(trouble.loses_rest for trouble in notes.troubles[3:])


async def test_a_bot_that_dies_once_loses_one_board(tmp_path: Path) -> None:
    marker = tmp_path / "died"
    bad = write_bot(
        tmp_path / "bad",
        failing(f"os.path.exists({str(marker)!r}) or (open({str(marker)!r}, 'x'), os._exit(3))"),
    )
    good = write_bot(tmp_path / "good", GOOD)
    record, _ = await play(tmp_path, bad, good, length=4)
    assert score(record).endings == {Ending.CRASH: 1, Ending.COMPLETED: 7}


async def test_in_casual_play_the_third_refusal_in_a_hand_ends_the_game(tmp_path: Path) -> None:
    bad = write_bot(tmp_path / "bad", failing("return view.unseen[0]"))
    good = write_bot(tmp_path / "good", GOOD)
    record, _ = await play(tmp_path, bad, good, policy=Policy.CASUAL)
    assert {outcome.ending for outcome in outcomes(record)} == {Ending.ILLEGAL}
    assert [len(game.refusals) for room in record.rooms for game in room.games] == [3, 3]


async def test_deterministic_bots_on_the_same_deals_give_the_same_substance(
    tmp_path: Path,
) -> None:
    bots = [write_bot(tmp_path / name, GOOD) for name in ("a", "b")]
    digests = set()
    for run in ("first", "second"):
        (tmp_path / run).mkdir()
        record, _ = await play(tmp_path / run, *bots, players=4, length=2)
        digests.add(substance_digest(record))
    assert len(digests) == 1


async def test_nothing_is_left_running(tmp_path: Path) -> None:
    """A bot's child that outlives it goes with its group."""
    bad = write_bot(
        tmp_path / "bad",
        failing(
            "import subprocess; print('child', subprocess.Popen(['sleep', '600']).pid, flush=True)"
        ),
    )
    good = write_bot(tmp_path / "good", GOOD)
    await play(tmp_path, bad, good)
    logs = list((tmp_path / "logs").rglob("*bad*.log"))
    children = [
        int(line.split()[1])
        for log in logs
        for line in log.read_text().splitlines()
        if line.startswith("child")
    ]
    assert children
    with trio.fail_after(10):  # they have been killed; dying takes them a moment
        while any(map(runs, children)):  # noqa: ASYNC110
            await trio.sleep(0.01)
