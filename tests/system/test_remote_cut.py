"""A remote bot over TLS whose cable is cut again and again: in casual play it comes back."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
import trio

from arena.ladder.matches.runner import open_runner
from arena.ladder.processes.invitations import open_invitations
from arena.ladder.processes.remote import remote_entrant
from arena.referee.serving import Network
from hokm.outcome import Ending
from hokm.records import Policy, verify
from tests.arena.referee.certificates import authority, issue
from tests.system.processes import GOOD, Notes, plan, write_bot
from tests.system.test_coming_back import Cable

if os.name != "posix":
    pytest.skip("the arena runs bots on POSIX systems", allow_module_level=True)


async def test_a_remote_bot_whose_cable_is_cut_plays_on(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text(dedent(GOOD))
    came: list[subprocess.Popen[bytes]] = []

    def come(line: str) -> None:
        file = line.partition(": ")[2]
        if file.endswith(".env"):
            variables = dict(one.split("=", 1) for one in Path(file).read_text().splitlines())
            environment = os.environ | variables | {"HOKM_TLS_NAME": "localhost"}
            came.append(subprocess.Popen([sys.executable, str(program)], env=environment))

    tls = issue(authority(), "localhost")
    network = Network(listen="127.0.0.1:0", reached_at="localhost", tls=tls)
    invitations = open_invitations(tmp_path / "t", certificates=tls.certificate, tell=come)
    notes = Notes()
    match = plan(
        *(remote_entrant("far"), write_bot(tmp_path / "near", GOOD)),
        length=4,
        policy=Policy.CASUAL,
        resume_seconds=20.0,
    )
    async with (
        open_runner(
            concurrency=2,
            python=sys.executable,
            running=tmp_path / "running",
            logs=tmp_path / "logs",
            hello_seconds=30.0,
            network=network,
            invitations=invitations,
        ) as runner,
        trio.open_nursery() as nursery,
    ):
        cable = Cable(int(runner._house.network_address.rpartition(":")[2]))
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")

        async def carry(bot: trio.SocketStream) -> None:
            try:
                await cable.carry(bot)
            except* (trio.BrokenResourceError, trio.ClosedResourceError):
                pass

        nursery.start_soon(trio.serve_listeners, carry, listeners)
        address = f"127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        runner._house = replace(runner._house, network_address=address)
        try:
            record = await runner.play(match, watcher=notes)
        finally:
            for process in came:
                process.kill()
                process.wait()
        nursery.cancel_scope.cancel()
    assert cable.cuts >= 2
    assert notes.troubles == []
    assert verify(record) == ()
    endings = [game.outcome.ending for room in record.rooms for game in room.games if game.outcome]
    assert endings == [Ending.COMPLETED] * 8
