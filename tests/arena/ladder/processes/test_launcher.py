"""Bots are started, heard and ended, and nothing of them is left; with real, small processes.

A process under test dials the address it was given and says that it is there. Its children hold the
same connection, so its end is the end of all of them: nothing here polls or sleeps.
"""

import errno
import json
import math
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import cast

import pytest
import trio

from arena.ladder.processes import launcher, strays
from arena.ladder.processes.capped_log import CAP_BYTES
from arena.ladder.processes.cgroups import Group
from arena.ladder.processes.launcher import BotProcess, LaunchError, bot_environment, launch

TICKET = "0123456789abcdef" * 4

DIAL = """\
import os, signal, socket, sys, time
host, port = os.environ["HOKM_ADDRESS"].rsplit(":", 1)
line = socket.create_connection((host, int(port)))
def ready(): line.sendall(b"%d\\n" % os.getpid())
"""
WAIT = "\nready()\nsignal.pause()\n"
# A child that holds the same connection and ignores SIGTERM; its parent goes on once it is ready.
CHILD = """
told, tell = os.pipe()
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ready()
    os.write(tell, b"x")
    while True: signal.pause()
os.read(told, 1)
"""


class Desk:
    """Where processes under test are started and where they call."""

    def __init__(self, nursery: trio.Nursery, listener: trio.SocketListener, folder: Path) -> None:
        self.nursery = nursery
        self.folder = folder
        self.running = folder / "running"
        self.callers: list[trio.SocketStream] = []
        self._listener = listener
        host, port = listener.socket.getsockname()
        self.address = f"{host}:{port}"

    def launch(
        self,
        script: str,
        *,
        dial: bool = True,
        grace_seconds: float = 30,
        prefix: tuple[str, ...] = (),
        sandbox: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        nursery: trio.Nursery | None = None,
        ticket: str = TICKET,
        life_seconds: float = math.inf,
        memory_bytes: int | None = None,
        group: "FakeGroup | None" = None,
    ) -> BotProcess:
        return launch(
            nursery or self.nursery,
            (sys.executable, "-c", DIAL * dial + textwrap.dedent(script)),
            folder=self.folder,
            address=self.address,
            ticket=ticket,
            log_path=self.folder / "logs" / "bot.log",
            running=self.running,
            prefix=prefix,
            sandbox=sandbox,
            environment=environment,
            grace_seconds=grace_seconds,
            life_seconds=life_seconds,
            memory_bytes=memory_bytes,
            make_group=lambda: cast("Group | None", group),
        )

    async def caller(self) -> trio.SocketStream:
        """Return the connection of the next process that says that it is there."""
        stream = await self._listener.accept()
        self.callers.append(stream)
        assert (await stream.receive_some()).endswith(b"\n")
        return stream

    def notes(self) -> list[Path]:
        return list(self.running.glob("*")) if self.running.exists() else []

    def noted(self) -> list[int]:
        """Return the ids in the notes."""
        return [json.loads(note.read_text())["pid"] for note in self.notes()]


async def all_gone(stream: trio.SocketStream) -> None:
    """Wait until no process holds the other end of the connection."""
    try:
        while await stream.receive_some():
            pass
    except trio.BrokenResourceError:
        pass


def child_left() -> bool:
    """Return whether this process has a child, running or not reaped."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def stop(pid: int) -> None:
    """Stop a child and wait until it has stopped; a signal sent before that might come first."""
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)


def command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@asynccontextmanager
async def opened_desk(folder: Path) -> AsyncIterator[Desk]:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    # A coarse guard against hanging; whatever it stops has failed.
    with trio.fail_after(60):
        async with listener, trio.open_nursery() as nursery:
            desk = Desk(nursery, listener, folder)
            yield desk
            for stream in desk.callers:
                await stream.aclose()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with opened_desk(tmp_path) as desk:
        yield desk


@pytest.fixture(params=["pidfd", "polling"])
def either_wait(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with both ways to learn of an exit, that of Linux and that of macOS."""
    if request.param == "polling":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


@pytest.mark.usefixtures("either_wait")
async def test_a_process_that_exits_gives_its_code_and_its_words(desk: Desk) -> None:
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
    process = desk.launch(script, dial=False)
    assert await process.wait() == 7
    assert process.returncode == 7
    assert process.log.tail() == "out\nerr\n"
    assert desk.notes() == []


@pytest.mark.usefixtures("either_wait")
async def test_a_process_ended_by_a_signal_gives_its_number_negated(desk: Desk) -> None:
    process = desk.launch("import os; os.kill(os.getpid(), 11)", dial=False)
    assert await process.wait() == -11


@pytest.mark.usefixtures("either_wait")
async def test_ending_asks_first_and_lets_a_bot_say_its_last_words(desk: Desk) -> None:
    process = desk.launch(
        "signal.signal(signal.SIGTERM, lambda *_: (print('x' * 300_000), sys.exit(3)))" + WAIT
    )
    stream = await desk.caller()
    assert process.returncode is None
    assert await process.end() == 3
    assert process.log.path.stat().st_size == 300_001  # more than a pipe holds
    await all_gone(stream)


@pytest.mark.usefixtures("either_wait")
async def test_a_bot_that_ignores_the_request_is_killed_after_the_grace_period(desk: Desk) -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nready()\nwhile True: signal.pause()"
    process = desk.launch(script, grace_seconds=0.05)
    stream = await desk.caller()
    assert await process.end() == -signal.SIGKILL
    await all_gone(stream)


async def test_a_stopped_bot_is_ended_too(desk: Desk) -> None:
    process = desk.launch(WAIT, grace_seconds=0.05)
    stream = await desk.caller()
    stop(process.pid)
    assert await process.end() == -signal.SIGKILL
    await all_gone(stream)


async def test_ending_what_has_ended_or_is_being_ended_is_harmless(desk: Desk) -> None:
    process = desk.launch(WAIT)
    await desk.caller()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process.end)
        nursery.start_soon(process.end)
    assert await process.end() == -signal.SIGTERM


async def test_a_bot_can_be_ended_before_it_has_done_anything(desk: Desk) -> None:
    process = desk.launch("", dial=False)
    assert await process.end() in (0, -signal.SIGTERM)
    assert desk.notes() == []


@pytest.mark.usefixtures("either_wait")
async def test_children_that_outlive_a_normal_exit_are_killed_with_the_group(desk: Desk) -> None:
    process = desk.launch(CHILD)
    stream = await desk.caller()
    assert await process.wait() == 0
    await all_gone(stream)


async def test_children_that_ignore_the_request_do_not_outlive_their_leader(desk: Desk) -> None:
    process = desk.launch(CHILD + "signal.pause()")
    stream = await desk.caller()
    assert await process.end() == -signal.SIGTERM
    await all_gone(stream)


async def test_cancelling_the_nursery_leaves_nothing_behind(desk: Desk) -> None:
    async with trio.open_nursery() as nursery:
        process = desk.launch(CHILD + "signal.pause()", nursery=nursery)
        stream = await desk.caller()
        nursery.cancel_scope.cancel()
    assert process.returncode == -signal.SIGTERM
    assert desk.notes() == []
    await all_gone(stream)


async def test_an_error_in_the_match_leaves_nothing_behind_either(desk: Desk) -> None:
    started = []

    async def match() -> None:
        async with trio.open_nursery() as nursery:
            started.append(desk.launch(WAIT, nursery=nursery))
            await desk.caller()
            raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        await match()
    assert caught.group_contains(ZeroDivisionError)
    assert started[0].returncode == -signal.SIGTERM
    await all_gone(desk.callers[0])


async def test_a_bot_started_in_a_cancelled_nursery_is_ended(desk: Desk) -> None:
    async with trio.open_nursery() as nursery:
        nursery.cancel_scope.cancel()
        process = desk.launch(WAIT, nursery=nursery)
    assert process.returncode == -signal.SIGTERM


async def test_a_bot_started_in_a_closed_nursery_is_not_left_behind(desk: Desk) -> None:
    async with trio.open_nursery() as nursery:
        pass
    with pytest.raises(RuntimeError, match="closed to new arrivals"):
        desk.launch(WAIT, nursery=nursery)
    assert not child_left()


async def test_cancelling_the_wait_leaves_the_bot_alone(desk: Desk) -> None:
    process = desk.launch(WAIT)
    stream = await desk.caller()
    with trio.CancelScope() as scope:
        scope.cancel()
        await process.wait()
    assert process.returncode is None
    os.kill(process.pid, 0)
    await process.end()
    await all_gone(stream)


async def test_a_process_that_not_even_a_kill_ends_is_reported_and_its_note_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = desk.launch(WAIT, grace_seconds=0)
    stream = await desk.caller()
    with monkeypatch.context() as patch:
        patch.setattr(launcher, "_KILL_SECONDS", 0)
        patch.setattr(os, "killpg", lambda group, number: None)
        with pytest.raises(LaunchError, match=f"process {process.pid} outlives SIGKILL"):
            await process.end()
    assert desk.noted() == [process.pid]
    os.killpg(process.pid, signal.SIGKILL)
    await all_gone(stream)
    process._popen.wait()


async def test_a_flood_of_output_is_capped_and_counted(desk: Desk) -> None:
    process = desk.launch(
        """
        import os
        for i in range(800): os.write(1 + i % 2, b"%07d\\n" % i * 8192)
        """,
        dial=False,
    )
    assert await process.wait() == 0
    content = process.log.path.read_bytes()
    assert CAP_BYTES - 64 < len(content) <= CAP_BYTES
    assert content.startswith(b"0000000\n")
    assert content.endswith(b"0000799\n")
    (note,) = re.findall(rb"\n\[(\d+) bytes left out here\]\n", content)
    assert int(note) == process.log.left_out_bytes
    kept_bytes = len(content) - len(b"\n[ bytes left out here]\n") - len(note)
    assert int(note) + kept_bytes == 800 * 65536


async def test_a_bot_that_floods_for_ever_can_be_ended(desk: Desk) -> None:
    process = desk.launch("ready()\nwhile True: os.write(1, b'x' * 65536)")
    stream = await desk.caller()
    assert await process.end() == -signal.SIGTERM
    assert process.log.path.stat().st_size <= CAP_BYTES
    await all_gone(stream)


async def test_one_that_left_the_group_with_the_log_in_hand_does_not_hold_up_the_end(
    desk: Desk,
) -> None:
    script = """
if os.fork() == 0:
    os.setsid()
    ready()
    while True: os.write(1, b"x" * 65536)
signal.pause()
"""
    process = desk.launch(script)
    stream = await desk.caller()
    assert await process.end() == -signal.SIGTERM
    await all_gone(stream)  # the next write to the closed pipe ends it


async def test_a_pipe_that_never_runs_dry_does_not_hold_up_the_end(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = desk.launch(WAIT)
    stream = await desk.caller()
    with monkeypatch.context() as patch:
        patch.setattr(os, "read", lambda descriptor, most_bytes: b"x" * most_bytes)
        assert await process.end() == -signal.SIGTERM
    await all_gone(stream)


@contextmanager
def standard_input(data: bytes) -> Iterator[None]:
    """Let the standard input of this process hold `data`."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    kept = os.dup(0)
    os.dup2(reading, 0)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(reading)


async def test_a_bot_reads_nothing_and_leads_a_group_and_session_of_its_own(desk: Desk) -> None:
    script = "import os, sys; print(sys.stdin.read(), os.getpgid(0), os.getsid(0))"
    with standard_input(b"the operator's"):
        process = desk.launch(script, dial=False)
        await process.wait()
    assert process.log.tail() == f" {process.pid} {process.pid}\n"


async def test_a_bot_sees_its_address_and_ticket_and_none_of_our_environment(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET", "HOKM_SEED", "http_proxy", "GRPC_VERBOSITY", "PYTHONPATH"):
        monkeypatch.setenv(name, "ours")
    script = "import os; print(*(f'{k}={v}' for k, v in sorted(os.environ.items())), sep='\\n')"
    process = desk.launch(script, dial=False, environment={"MALLOC_ARENA_MAX": "1"})
    await process.wait()
    expected = bot_environment(
        {
            name: os.environ[name]
            for name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
            if name in os.environ
        },
        folder=desk.folder,
        address=desk.address,
        ticket=TICKET,
    ) | {"MALLOC_ARENA_MAX": "1"}
    lines = process.log.tail(most_bytes=100_000).splitlines()
    assert lines == [f"{name}={value}" for name, value in sorted(expected.items())]


def test_the_environment_of_a_bot_is_made_from_nothing() -> None:
    parent = {"PATH": "/bin", "TMPDIR": "/t", "HOME": "/home/op", "AWS_SECRET": "x"}
    assert bot_environment(parent, folder=Path("/bot"), address="a:1", ticket="t") == {
        "PATH": "/bin",
        "TMPDIR": "/t",
        "HOME": "/bot",
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "HOKM_ADDRESS": "a:1",
        "HOKM_TICKET": "t",
    }


async def test_neither_ticket_nor_address_stands_on_a_command_line(desk: Desk) -> None:
    process = desk.launch(WAIT)
    await desk.caller()
    for pid in (process.pid, os.getpid()):
        words = command_line(pid)
        assert TICKET.encode() not in words
        assert desk.address.encode() not in words
    assert TICKET not in process.by_hand
    assert all(TICKET not in path.read_text() for path in desk.notes())
    await process.end()


async def test_a_prefix_stands_before_the_command(desk: Desk) -> None:
    script = "import os; print(os.environ['LIMITED'])"
    process = desk.launch(script, dial=False, prefix=("env", "LIMITED=yes"))
    await process.wait()
    assert process.log.tail() == "yes\n"
    assert f"cd {desk.folder} && env LIMITED=yes {sys.executable} -c" in process.by_hand


async def test_a_sandbox_stands_before_all_and_is_not_in_the_line_to_run_by_hand(
    desk: Desk,
) -> None:
    sandbox, prefix = ("env", "WORD=boxed"), ("env", "OTHER=prefixed")
    script = "print(os.environ['WORD'], os.environ['OTHER'])"
    process = desk.launch("import os\n" + script, dial=False, sandbox=sandbox, prefix=prefix)
    assert await process.wait() == 0
    assert process.log.tail() == "boxed prefixed\n"
    assert "WORD=boxed" not in process.by_hand
    assert "OTHER=prefixed" in process.by_hand


async def test_the_shell_of_a_sandbox_says_by_which_signal_a_bot_ended(desk: Desk) -> None:
    shell = ("sh", "-c", '"$@"; exit $?', "sh")
    crash = "import os; os.kill(os.getpid(), 11)"
    assert await desk.launch(crash, dial=False, sandbox=shell).wait() == -11
    assert await desk.launch("exit(3)", dial=False, sandbox=shell).wait() == 3
    assert await desk.launch("exit(139)", dial=False).wait() == 139


@pytest.mark.usefixtures("either_wait")
async def test_a_process_that_lives_too_long_is_ended(desk: Desk) -> None:
    process = desk.launch(WAIT, life_seconds=0.5)
    assert await process.wait() == -signal.SIGTERM
    assert process.is_overdue
    other = desk.launch("pass", dial=False, life_seconds=60)
    assert await other.wait() == 0
    assert not other.is_overdue


class FakeGroup:
    """A control group that is removed at the second attempt."""

    entering = ("env", "GROUPED=yes")

    def __init__(self, *, is_out_of_memory: bool = False) -> None:
        self.calls: list[str] = []
        self._is_out_of_memory = is_out_of_memory

    def was_out_of_memory(self) -> bool:
        self.calls.append("asked")
        return self._is_out_of_memory

    def kill(self) -> None:
        self.calls.append("killed")

    def remove(self) -> bool:
        self.calls.append("removed")
        return self.calls.count("removed") > 1

    def end(self) -> bool:
        self.calls.append("ended")
        return True


@pytest.mark.parametrize("is_out_of_memory", [True, False])
async def test_a_bot_begins_in_its_control_group_which_is_asked_and_removed_at_its_end(
    desk: Desk, is_out_of_memory: bool
) -> None:
    group = FakeGroup(is_out_of_memory=is_out_of_memory)
    script = "import os; print(os.environ['GROUPED'])"
    process = desk.launch(script, dial=False, prefix=("env", "A=b"), group=group)
    assert await process.wait() == 0
    assert process.log.tail() == "yes\n"
    assert process.is_out_of_memory is is_out_of_memory
    assert group.calls == ["asked", "killed", "removed", "removed"]
    assert "GROUPED=yes" not in process.by_hand


async def test_of_a_bot_that_cannot_be_started_no_control_group_is_left(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def popen(*_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "somewhere")

    launcher.death_signal_prefix()  # it starts a process itself, the first time
    group = FakeGroup()
    monkeypatch.setattr(subprocess, "Popen", popen)
    with pytest.raises(LaunchError):
        desk.launch("", dial=False, group=group)
    assert group.calls == ["ended"]


FILLS = "import signal; held = bytearray(b'x' * (64 << 20)); {ready}; signal.pause()"


async def test_a_bot_is_killed_once_it_has_more_memory_than_it_may(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_LOOK_SECONDS", 0.05)
    process = desk.launch(FILLS.format(ready="pass"), dial=False, memory_bytes=32 << 20)
    with trio.fail_after(60):
        assert await process.wait() == -signal.SIGKILL
    assert process.is_out_of_memory
    other = desk.launch(FILLS.format(ready="ready()"), memory_bytes=256 << 20)
    await desk.caller()
    await trio.sleep(0.3)  # looked at some times
    assert other.returncode is None
    await other.end()
    assert not other.is_out_of_memory


async def test_the_line_to_run_by_hand_does_what_the_launch_did(desk: Desk) -> None:
    process = desk.launch("import os; print(os.getcwd(), 'it\\'s')", dial=False)
    await process.wait()
    by_hand = await trio.run_process(process.by_hand, shell=True, capture_stdout=True)
    assert by_hand.stdout.decode() == process.log.tail() == f"{desk.folder} it's\n"


async def test_the_time_a_bot_used_is_its_processor_time_not_the_clock_s(desk: Desk) -> None:
    script = """
        import time
        while time.process_time() < 0.3: pass
        print(time.process_time())
        """
    process = desk.launch(script, dial=False)
    so_far = process.cpu_seconds
    assert so_far is None
    await process.wait()
    own = float(process.log.tail())
    assert process.cpu_seconds is not None
    assert own <= process.cpu_seconds < own + 0.5  # what starting and stopping Python takes


def missing_program(desk: Desk) -> BotProcess:
    return launch_plainly(desk, ("no-such-program-here",), folder=desk.folder)


def missing_folder(desk: Desk) -> BotProcess:
    return launch_plainly(desk, (sys.executable,), folder=desk.folder / "gone")


def launch_plainly(desk: Desk, argv: tuple[str, ...], *, folder: Path) -> BotProcess:
    return launch(
        desk.nursery,
        argv,
        folder=folder,
        address="127.0.0.1:1",
        ticket=TICKET,
        log_path=desk.folder / "bot.log",
        running=desk.running,
    )


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (
            missing_program,
            "no-such-program-here is not on PATH; install it .*; run: cd .* && no-su",
        ),
        (
            missing_folder,
            "cannot start a bot: No such file or directory: /.*/gone; run: cd /.*/gone && ",
        ),
    ],
)
async def test_what_cannot_be_started_is_said_with_the_line_to_try(
    desk: Desk, start: Callable[[Desk], BotProcess], says: str
) -> None:
    with pytest.raises(LaunchError, match=says):
        start(desk)
    assert desk.notes() == []


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE])
async def test_a_machine_that_can_start_no_more_is_no_bots_fault(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    launcher.death_signal_prefix()  # it is tried by starting something
    monkeypatch.setattr(subprocess, "Popen", exhausted)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        desk.launch("", dial=False)
    assert caught.value.filename == sys.executable
    assert desk.notes() == []


async def test_a_bot_is_noted_until_it_has_ended(desk: Desk) -> None:
    process = desk.launch(WAIT)
    await desk.caller()
    assert desk.noted() == [process.pid]
    await process.end()
    assert desk.notes() == []


# -- those who leave the group

needs_orphans = pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="Linux lists orphans only"
)
# A child that leaves in one of these ways and says that it is there. Each ignores SIGTERM.
WAYS = {
    "a session of its own": "os.setsid()",
    "a group of its own": "os.setpgid(0, 0)",
    "forked twice": "os.setsid()\n    if os.fork(): os._exit(0)",
    "with a child of its own": "os.setsid()\n    os.fork()",
    "without its environment": (
        "os.setsid()\n    os.execve(sys.executable, [sys.executable, '-c', REST], "
        "{'HOKM_ADDRESS': os.environ['HOKM_ADDRESS']})"
    ),
}
STAY = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nready()\nwhile True: signal.pause()\n"


def leaver(way: str) -> str:
    """A program whose child leaves, and that goes on once the child has said that it is there."""
    rest = DIAL + STAY
    return f"""
REST = {rest!r}
if os.fork() == 0:
    {WAYS[way]}
    exec(REST)
"""


@needs_orphans
@pytest.mark.usefixtures("either_wait")
@pytest.mark.parametrize("ends", ["by itself", "when it is ended"])
@pytest.mark.parametrize("way", WAYS)
async def test_one_that_left_the_group_ends_with_its_bot(desk: Desk, way: str, ends: str) -> None:
    process = desk.launch(leaver(way) + WAIT)
    streams = [await desk.caller() for _ in range(3 if way == "with a child of its own" else 2)]
    if ends == "by itself":
        os.kill(process.pid, signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
    else:
        assert await process.end() == -signal.SIGTERM
    for stream in streams:
        await all_gone(stream)
    assert desk.notes() == []


@needs_orphans
@pytest.mark.parametrize("way", WAYS)
async def test_what_a_living_bot_has_started_outlives_another_bot(desk: Desk, way: str) -> None:
    older = desk.launch(leaver(way) + WAIT, ticket="older")
    count = 3 if way == "with a child of its own" else 2
    of_older = [await desk.caller() for _ in range(count)]
    younger = desk.launch(WAIT, ticket="younger")
    await desk.caller()
    await younger.end()
    for stream in of_older:
        with trio.move_on_after(0.05) as waiting:
            await stream.receive_some()
        assert waiting.cancelled_caught  # nobody has let go of it
    await older.end()
    for stream in of_older:
        await all_gone(stream)


@needs_orphans
async def test_one_that_bears_no_mark_ends_with_the_last_bot_it_could_be_of(desk: Desk) -> None:
    older = desk.launch(WAIT, ticket="older")
    await desk.caller()
    parent = desk.launch(leaver("without its environment") + WAIT, ticket="parent")
    streams = [await desk.caller() for _ in range(2)]
    await trio.sleep(2 / os.sysconf("SC_CLK_TCK"))  # ages are counted in clock ticks
    younger = desk.launch(WAIT, ticket="younger")
    await desk.caller()
    for bot in (parent, younger):
        await bot.end()
    with trio.move_on_after(0.05) as waiting:
        async with trio.open_nursery() as nursery:
            for stream in streams:
                nursery.start_soon(all_gone, stream)
    assert waiting.cancelled_caught
    await older.end()
    for stream in streams:
        await all_gone(stream)


@needs_orphans
async def test_what_the_arena_starts_itself_is_left_alone_and_left_to_reap(desk: Desk) -> None:
    process = desk.launch(WAIT)
    await desk.caller()
    running = await trio.lowlevel.open_process(("sleep", "1000"))
    ended = await trio.lowlevel.open_process(("sh", "-c", "exit 3"))
    await trio.to_thread.run_sync(os.waitid, os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    await process.end()
    assert running.poll() is None
    assert await ended.wait() == 3
    running.kill()
    await running.wait()


@needs_orphans
async def test_orphans_come_here_only_while_a_bot_runs(desk: Desk) -> None:
    forked_twice = "(sleep 0.2 & echo $!)"
    process = desk.launch(WAIT)
    await desk.caller()
    assert parent_of(await said_by("sh", "-c", forked_twice)) == os.getpid()
    await process.end()
    assert parent_of(await said_by("sh", "-c", forked_twice)) != os.getpid()
    await trio.to_thread.run_sync(os.waitpid, -1, 0)  # the first of them


async def said_by(*words: str) -> int:
    # Not through a pipe that the grandchild keeps open.
    reading, writing = os.pipe()
    process = await trio.lowlevel.open_process(words, stdout=writing)
    os.close(writing)
    said = os.read(reading, 100)
    os.close(reading)
    await process.wait()
    return int(said)


def parent_of(pid: int) -> int:
    process = strays.process_of(pid)
    assert process is not None
    return process.parent


@needs_orphans
async def test_a_bot_without_children_costs_no_look_at_every_process(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    process_of = strays.process_of
    monkeypatch.setattr("arena.ladder.processes.orphans.process_of", lambda pid: looked.append(pid))
    process = desk.launch("", dial=False)
    await process.wait()
    assert process_of(os.getpid()) is not None
    assert looked == [process.pid]


@pytest.mark.skipif(not launcher.death_signal_prefix(), reason="no setpriv with --pdeathsig here")
@pytest.mark.parametrize("leaves", ["", "os.setsid()"])
async def test_a_bot_ends_with_its_arena_and_its_children_with_the_next_sweep(
    desk: Desk, tmp_path: Path, leaves: str
) -> None:
    """A second arena starts a bot with a child and is killed: see what becomes of each."""
    arena = f"""
import sys, trio
from pathlib import Path
from arena.ladder.processes.launcher import launch
async def main():
    async with trio.open_nursery() as nursery:
        launch(nursery, (sys.executable, "-c", sys.argv[1]), folder=Path({str(tmp_path)!r}),
               address={desk.address!r}, ticket={TICKET!r}, running=Path({str(desk.running)!r}),
               log_path=Path({str(tmp_path / "bot.log")!r}))
trio.run(main)
"""
    child = CHILD.replace("== 0:", f"== 0:\n    {leaves}") if leaves else CHILD
    leader = DIAL + child + "mine = socket.create_connection((host, int(port)))\nline.close()\n"
    leader += "mine.sendall(b'leader\\n')\nsignal.pause()\n"
    killed = await trio.lowlevel.open_process((sys.executable, "-c", arena, leader))
    of_child = await desk.caller()
    of_leader = await desk.caller()
    assert strays.sweep(desk.running) == []  # its arena still runs

    killed.kill()
    await killed.wait()
    await all_gone(of_leader)
    noted = desk.noted()
    assert [swept.pid for swept in strays.sweep(desk.running)] == noted
    await all_gone(of_child)
    assert desk.notes() == []
