"""What a hostile bot gets: each probe with the sandbox, which stops it, and without, where it is
seen to work.
"""

import itertools
import math
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from arena.ladder.bots.archive import pack
from arena.ladder.bots.entrants import Entrant, Limits, load_bot
from arena.ladder.bots.frozen import freeze
from arena.ladder.bots.shelf import FolderShelf
from arena.ladder.processes.capped_log import CAP_BYTES
from arena.ladder.processes.launcher import BotProcess, launch
from arena.ladder.processes.sandbox import WRAPPERS, Sandbox, bounds_of
from arena.ladder.processes.vitals import vitals
from tests.sandbox import probes
from tests.system.processes import runs

LIMITS = Limits(memory_mib=256, processes=64)
GUARD_SECONDS = 60
TICKET = "fedcba9876543210" * 4
"""Of no other test: those of the sweep end whatever has theirs, also what runs beside them."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where probes are run: in a sandbox, or without one."""

    folder: Path
    sandbox: Sandbox | None
    numbers: "itertools.count[int]"

    def start(
        self,
        nursery: trio.Nursery,
        body: str,
        argument: str = "",
        *,
        folder: Path | None = None,
        seconds: float = GUARD_SECONDS,
        life_seconds: float = math.inf,
        ticket: str = TICKET,
    ) -> BotProcess:
        number = next(self.numbers)
        folder = self.folder / f"bot{number}" if folder is None else folder
        folder.mkdir(exist_ok=True)
        source = probes.PRELUDE.format(body=textwrap.indent(textwrap.dedent(body), "    "))
        (folder / f"probe{number}.py").write_text(source)
        argv = (sys.executable, f"probe{number}.py", argument)
        sandbox: tuple[str, ...] = ()
        bounds = bounds_of(LIMITS, seconds=seconds)
        if self.sandbox is not None:
            sandbox = self.sandbox.around(argv, folder=folder, bounds=bounds)
        return launch(
            nursery,
            argv,
            folder=folder,
            address="unix:/run/referee.sock",
            ticket=ticket,
            log_path=self.folder / f"{number}.log",
            running=self.folder / "running",
            sandbox=sandbox,
            life_seconds=life_seconds,
            memory_bytes=None if self.sandbox is None else bounds.memory_mib << 20,
            make_group=lambda: None if self.sandbox is None else self.sandbox.group(bounds),
        )

    async def said(self, body: str, argument: str = "", *, folder: Path | None = None) -> str:
        """What a probe wrote from its start to its end."""
        async with trio.open_nursery() as nursery:
            process = self.start(nursery, body, argument, folder=folder)
            with trio.fail_after(GUARD_SECONDS):
                await process.wait()
        return process.log.tail()

    @asynccontextmanager
    async def beside(
        self, body: str, argument: str = "", *, until: str, folder: Path | None = None
    ) -> AsyncIterator[BotProcess]:
        """Another bot, which has said so much and goes on as long as this is entered."""
        async with trio.open_nursery() as nursery:
            process = self.start(nursery, body, argument, folder=folder, ticket="f" * 64)
            with trio.fail_after(GUARD_SECONDS):
                while until not in process.log.tail():
                    assert process.returncode is None, process.log.tail()
                    await trio.sleep(0.02)
            yield process
            await process.end()


@pytest.fixture
def confined(sandbox: Sandbox, tmp_path: Path) -> Ground:
    return ground_in(tmp_path / "confined", sandbox)


@pytest.fixture
def free(tmp_path: Path) -> Ground:
    return ground_in(tmp_path / "free", None)


def ground_in(folder: Path, sandbox: Sandbox | None) -> Ground:
    folder.mkdir()
    return Ground(folder, sandbox, itertools.count())


def assert_stopped(said: str) -> None:
    """It ran to its end and got nothing."""
    assert "DONE" in said
    assert "GOT" not in said


def operators_home(_: Path) -> str:
    """Something in it that is not on the way to the interpreter."""
    for entry in sorted(Path.home().iterdir()):
        if not any(Path(place).is_relative_to(entry) for place in (sys.prefix, sys.base_prefix)):
            return str(entry)
    pytest.skip("there is nothing in the home of this account")


def partners_file(folder: Path) -> str:
    (folder / "partner").mkdir(exist_ok=True)
    (folder / "partner" / "cards.py").write_text("a secret of its author")
    return str(folder / "partner" / "cards.py")


def others_bundle(folder: Path) -> str:
    """As a ladder keeps the bots that are entered."""
    freeze(others_bot(folder), bots=folder / "bots")
    return str(folder / "bots")


def others_archive(folder: Path) -> str:
    """As a ladder keeps what was sent in."""
    entrant = others_bot(folder)
    packed = pack(entrant.folder, into=folder)
    FolderShelf(folder / "submissions").put(entrant.digest, packed.file)
    return str(folder / "submissions")


def others_bot(folder: Path) -> Entrant:
    bot = folder / "other"
    bot.mkdir(exist_ok=True)
    (bot / "bot.py").write_text("a secret of its author")
    (bot / "bot.toml").write_text(
        'schema = 1\nname = "other"\nowner = "ann"\nversion = "1"\ncommand = ["python", "bot.py"]\n'
        "protocol = 1\nvariants = [4]\n"
    )
    return load_bot(bot)


def store(folder: Path) -> str:
    (folder / "ladder.db").write_text("SQLite")
    return str(folder / "ladder.db")


def secret_folder(folder: Path) -> str:
    (folder / "secret").mkdir(mode=0o700, exist_ok=True)
    return str(folder / "secret")


def nothing(_: Path) -> str:
    return ""


def operators_temporary(folder: Path) -> str:
    return str(folder)


ALONE: list[tuple[str, str, Callable[[Path], str]]] = [
    ("a partner's file", probes.READ, partners_file),
    ("another bot's bundle", probes.READ_BELOW, others_bundle),
    ("archives that others sent in", probes.READ_BELOW, others_archive),
    ("the store", probes.READ, store),
    ("the secrets of deals", probes.READ, secret_folder),
    ("the operator's home", probes.READ, operators_home),
    ("the accounts of the machine", probes.READ, lambda _: "/etc/shadow"),
    ("tracing a process", probes.PTRACE, nothing),
    ("a fork bomb", probes.FORKS, nothing),
    ("a bomb of threads", probes.THREADS, nothing),
    ("a memory bomb", probes.MEMORY, nothing),
    ("a bomb of shared memory", probes.SHARED_MEMORY, nothing),
    ("memory that no limit counts", probes.MEMFD, nothing),
    ("sockets of other families", probes.OTHER_FAMILY, nothing),
    ("a namespace of its own", probes.NEW_NAMESPACE, nothing),
    ("a clone in a namespace", probes.CLONE_NAMESPACE, nothing),
    ("a mark on devices", probes.MARK, nothing),
    ("a watch on files", probes.WATCH, nothing),
    ("counters of the machine", probes.COUNTERS, nothing),
    ("settings of the machine", probes.MACHINE_SETTINGS, nothing),
]
NOT_OF_ROOT = ("a fork bomb", "a bomb of threads")
"""Root's own processes are not counted; the arena gives no bot root's account, where it is root."""


@pytest.mark.parametrize(("what", "body", "prepared"), ALONE, ids=[row[0] for row in ALONE])
async def test_a_bot_gets_nothing_by_itself(
    confined: Ground, what: str, body: str, prepared: Callable[[Path], str]
) -> None:
    assert confined.sandbox is not None
    is_counted = confined.sandbox.is_root or confined.sandbox.groups is not None
    if what in NOT_OF_ROOT and os.geteuid() == 0 and not is_counted:
        pytest.skip("root in the sandbox of others is not counted")
    assert_stopped(await confined.said(body, prepared(confined.folder)))


@pytest.mark.usefixtures("made_sandbox")  # a control of what is skipped without one
@pytest.mark.parametrize(("what", "body", "prepared"), ALONE, ids=[row[0] for row in ALONE])
async def test_without_the_sandbox_it_gets_that(
    free: Ground, what: str, body: str, prepared: Callable[[Path], str]
) -> None:
    if what == "the accounts of the machine" and os.geteuid() != 0:
        pytest.skip("they are closed to an ordinary user anyway")
    said = await free.said(body, prepared(free.folder))
    if "not permitted" in said or "not implemented" in said:
        pytest.skip(f"this machine refuses it anyway: {said}")
    assert "GOT" in said, said


# -- what it fills


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
@pytest.mark.parametrize("body", [probes.BIG_FILE, probes.MANY_FILES], ids=["one file", "many"])
async def test_a_bot_fills_no_disk(confined: Ground, free: Ground, body: str, place: str) -> None:
    assert_stopped(await confined.said(body, place))
    assert "GOT" in await free.said(body, str(free.folder))


async def test_a_bot_has_so_much_time(confined: Ground, free: Ground) -> None:
    async with trio.open_nursery() as nursery:
        process = confined.start(nursery, probes.BURN, seconds=1)
        with trio.fail_after(GUARD_SECONDS):
            assert await process.wait() == -signal.SIGXCPU
    assert "GOT" in await free.said(probes.BURN)


async def test_a_bot_lives_so_long_and_no_longer(confined: Ground) -> None:
    """By the clock on the wall: one that does nothing uses no time of a CPU."""
    async with trio.open_nursery() as nursery:
        process = confined.start(nursery, "time.sleep(600)", life_seconds=2.0)
        with trio.fail_after(GUARD_SECONDS):
            await process.wait()
    assert process.is_overdue


async def test_the_memory_of_all_of_a_bots_processes_is_limited_together(
    confined: Ground, free: Ground
) -> None:
    """Each of them keeps within the limit of a process, and of shared memory."""
    async with trio.open_nursery() as nursery:
        process = confined.start(nursery, probes.MEMORY_OF_MANY)
        with trio.fail_after(GUARD_SECONDS):
            assert await process.wait() == -signal.SIGKILL
    assert process.is_out_of_memory
    assert "GOT" in await free.said(probes.MEMORY_OF_MANY)


async def test_memory_that_processes_share_is_not_counted_for_each_of_them(
    confined: Ground,
) -> None:
    assert "GOT" in await confined.said(probes.MEMORY_THAT_IS_SHARED)


async def test_a_control_group_goes_with_its_bot(confined: Ground) -> None:
    assert confined.sandbox is not None
    if confined.sandbox.groups is None:
        pytest.skip("no control groups are delegated here")
    async with confined.beside("print('here', flush=True); time.sleep(60)", until="here"):
        (group,) = confined.sandbox.groups.home.glob("hokm-bot-*")
        assert len((group / "cgroup.procs").read_text().split()) == 3  # with WRAPPERS
    assert not group.exists()


@pytest.mark.parametrize("sandbox", ["as it is"], indirect=True)
async def test_ten_gigabytes_of_output_are_a_log_with_its_cap(confined: Ground) -> None:
    assert_stopped(await confined.said(probes.FLOOD))
    assert (confined.folder / "0.log").stat().st_size <= CAP_BYTES


# -- the network


@contextmanager
def answering(line: socket.socket) -> Iterator[None]:
    """Say a word to whoever comes, until it is closed."""

    def answer() -> None:
        while True:
            try:
                if line.type is socket.SOCK_DGRAM:
                    line.sendto(b"hello", line.recvfrom(100)[1])
                else:
                    with line.accept()[0] as caller:
                        caller.send(b"hello")
            except OSError:
                return

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        poke(line) if line.type is socket.SOCK_DGRAM else line.shutdown(socket.SHUT_RDWR)
        line.close()
        thread.join()


def poke(line: socket.socket) -> None:
    """Wake a thread that waits for a datagram, which is then sent nowhere."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        address = line.getsockname()
        line.settimeout(0.01)
        other.sendto(b"", address)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (probes.TCP, socket.SOCK_STREAM),
        (probes.UDP, socket.SOCK_DGRAM),
        (probes.DNS, socket.SOCK_DGRAM),
    ],
    ids=["TCP", "UDP", "DNS"],
)
async def test_a_bot_has_no_network(
    confined: Ground, free: Ground, body: str, kind: socket.SocketKind
) -> None:
    with socket.socket(socket.AF_INET, kind) as line:
        line.bind(("127.0.0.1", 0))
        if kind is socket.SOCK_STREAM:
            line.listen()
        port = str(line.getsockname()[1])
        with answering(line):
            assert_stopped(await confined.said(body, port))
            assert "GOT" in await free.said(body, port)


@pytest.mark.parametrize("kind", ["in a folder", "abstract"])
async def test_a_bot_reaches_no_other_socket(confined: Ground, free: Ground, kind: str) -> None:
    name = f"{confined.sandbox and confined.sandbox.folder}/other{os.getpid()}"
    shown = name if kind == "in a folder" else f"@{name}"
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(shown.replace("@", "\0"))
        line.listen()
        with answering(line):
            assert_stopped(await confined.said(probes.UNIX, shown))
            assert "GOT" in await free.said(probes.UNIX, shown)
    remove(name)


def remove(*files: str | Path) -> None:
    for file in files:
        Path(file).unlink(missing_ok=True)


async def test_a_bot_has_the_devices_that_programs_need(confined: Ground) -> None:
    assert "GOT 9" in await confined.said(probes.DEVICES)


async def test_a_bot_neither_marks_nor_closes_the_socket_of_all(
    confined: Ground, free: Ground
) -> None:
    assert confined.sandbox is not None
    before = (confined.sandbox.folder / "referee.sock").stat()
    assert_stopped(await confined.said(probes.SPOIL, "/run/referee.sock"))
    after = (confined.sandbox.folder / "referee.sock").stat()
    assert (after.st_mode, after.st_mtime) == (before.st_mode, before.st_mtime)
    (free.folder / "referee.sock").touch()
    assert "GOT" in await free.said(probes.SPOIL, str(free.folder / "referee.sock"))


# -- another bot


async def test_a_bot_sees_no_other_process_nor_its_ticket(confined: Ground, free: Ground) -> None:
    for ground, is_free in ((confined, False), (free, True)):
        wait = "print('here', flush=True); time.sleep(600)"
        async with ground.beside(wait, "marked", until="here"):
            for body, argument in ((probes.TICKETS, "f" * 64), (probes.PROCESSES, "marked")):
                said = await ground.said(body, argument)
                assert "DONE" in said
                assert ("GOT" in said) is is_free, said


async def test_a_bot_signals_no_other(confined: Ground, free: Ground) -> None:
    for ground, is_free in ((confined, False), (free, True)):
        wait = "print('here', flush=True); time.sleep(600)"
        async with ground.beside(wait, until="here") as other:
            said = await ground.said(probes.KILL, str(other.pid))
            assert ("GOT" in said) is is_free, said
            with trio.move_on_after(1.0):
                await other.wait()
            assert (other.returncode == -signal.SIGKILL) is is_free


async def test_what_a_bot_writes_is_read_by_no_other(confined: Ground, free: Ground) -> None:
    """Two processes of one bot, as in the two rooms of a match."""
    writable = [str(free.folder), "/tmp", "/dev/shm", "."]
    closed = ["/", "/etc", "/run", "/proc", "/proc/sys", "/dev", "/usr", sys.prefix]
    both = confined.folder / "both"
    try:
        argument = os.pathsep.join(writable + closed)
        async with confined.beside(probes.WRITE, argument, until="wrote", folder=both):
            assert_stopped(await confined.said(probes.FIND, argument, folder=both))
        assert not told_in(writable + closed)
        argument = os.pathsep.join(writable)
        async with free.beside(probes.WRITE, argument, until="wrote", folder=both):
            found = await free.said(probes.FIND, argument, folder=both)
        assert found.count("GOT") == len(writable)
    finally:
        remove(*told_in(writable))


def told_in(places: list[str]) -> list[Path]:
    return [file for place in places if (file := Path(place, "hokm-told")).exists()]


async def test_locks_on_what_all_may_read_tell_nothing(confined: Ground, free: Ground) -> None:
    for ground, is_free in ((confined, False), (free, True)):
        async with ground.beside(probes.LOCK, os.__file__, until="holds") as other:
            assert ("NOT" in other.log.tail()) is not is_free
            said = await ground.said(probes.SEE_LOCK, os.__file__)
            assert ("GOT" in said) is is_free, said


async def test_a_name_without_a_file_tells_nothing(confined: Ground, free: Ground) -> None:
    name = f"hokm-{os.getpid()}"
    for ground, is_free in ((confined, False), (free, True)):
        async with ground.beside(probes.ABSTRACT, name, until="listens"):
            said = await ground.said(probes.UNIX, f"@{name}")
            assert ("GOT" in said) is is_free, said


async def test_key_rings_tell_nothing(confined: Ground, free: Ground) -> None:
    name = f"hokm-{os.getpid()}"
    assert_stopped(await confined.said(probes.KEY, name))
    try:
        async with free.beside(probes.KEY, name, until="kept"):
            assert "GOT" in await free.said(probes.SEE_KEY, name)
    except* AssertionError as group:
        if "NOT OSError" not in str(group.exceptions[0]):
            raise
        pytest.skip(f"this machine keeps no keys: {group.exceptions[0]}")


async def test_the_numbers_of_processes_tell_nothing(confined: Ground, free: Ground) -> None:
    for ground, is_free in ((confined, False), (free, True)):
        async with trio.open_nursery() as nursery:
            process = ground.start(nursery, probes.NUMBERS)
            while process.returncode is None:
                await trio.run_process(["true"])
        said = process.log.tail()
        assert "DONE" in said
        assert ("GOT" in said) is is_free, said


async def test_what_a_bot_has_of_its_machine_is_seen_through_the_sandbox(
    confined: Ground,
) -> None:
    async with trio.open_nursery() as nursery:
        process = confined.start(nursery, "while True: pass")
        with trio.fail_after(GUARD_SECONDS):
            seen = None
            while seen is None or seen.cpu_seconds < 0.2:
                await trio.sleep(0.02)
                seen = vitals(process.pid, wrappers=WRAPPERS)
        assert [words_of(thread)[1] for thread in seen.waited_seconds] == ["probe0.py"]
        assert await process.end() == -signal.SIGTERM


def words_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


# -- its end


async def test_a_bot_that_is_to_end_is_asked_first_and_the_time_it_used_is_known(
    confined: Ground,
) -> None:
    farewell = """
    def bye(*_):
        print("goodbye", flush=True)
        os._exit(3)
    signal.signal(signal.SIGTERM, bye)
    while time.process_time() < 0.5: pass
    print("here", flush=True)
    while True: signal.pause()
    """
    async with confined.beside(farewell, until="here") as process:
        assert await process.end() == 3
        assert "goodbye" in process.log.tail()
        assert process.cpu_seconds is not None
        assert process.cpu_seconds > 0.5


async def test_a_bot_that_will_not_end_is_killed(confined: Ground) -> None:
    stays = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0: os.setsid()
    print("here", flush=True)
    while True: signal.pause()
    """
    async with confined.beside(stays, until="here") as process:
        assert await process.end() == -signal.SIGKILL


# -- what it leaves


ARENA = """
import sys, trio
from pathlib import Path
from tests.sandbox import probes
from tests.sandbox.test_probes import ground_in
from arena.ladder.processes.sandbox import Sandbox, interpreter
folder, bwrap, made, is_root, marker, is_confined = sys.argv[1:]
sandbox = Sandbox(bwrap=bwrap, folder=Path(made), python=sys.executable, shown=interpreter(),
    is_root=is_root == "True")
ground = ground_in(Path(folder, "ground"), sandbox if is_confined == "True" else None)
async def main():
    async with ground.beside(probes.LEAVE, marker, until="left"):
        print("left", flush=True)
        await trio.sleep(600)
trio.run(main)
"""


@pytest.mark.parametrize("is_confined", [True, False], ids=["confined", "free"])
def test_a_process_that_leaves_everything_ends_with_an_arena_that_is_killed(
    sandbox: Sandbox, tmp_path: Path, is_confined: bool
) -> None:
    """Without the sandbox it is the one that no sweep knows (docs/run-a-ladder.md)."""
    marker = f"hokm-left-{os.getpid()}-{is_confined}"
    words = [sys.executable, "-c", ARENA, str(tmp_path), sandbox.bwrap, str(sandbox.folder)]
    words += [str(sandbox.is_root), marker, str(is_confined)]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, text=True) as arena:
        try:
            assert arena.stdout is not None
            assert arena.stdout.readline() == "left\n"
            left = trio.run(there, marker)
        finally:
            arena.kill()
    try:
        trio.run(gone, left)
        assert is_confined
    except trio.TooSlowError:
        assert not is_confined
    finally:
        for pid in left_with(marker):
            os.kill(pid, signal.SIGKILL)


async def there(marker: str) -> list[int]:
    """What was left, once it is there: it may still be a copy of its parent."""
    with trio.fail_after(GUARD_SECONDS):
        while not (left := left_with(marker)):  # noqa: ASYNC110 - nothing tells of it
            await trio.sleep(0.02)
    return left


def left_with(marker: str) -> list[int]:
    """Processes with that word in their command, which are none but the test's own."""
    found = []
    for entry in Path("/proc").glob("[1-9]*"):
        try:
            words = (entry / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if "import time; time.sleep(120)" in words and marker in words:
            found.append(int(entry.name))
    return found


async def gone(pids: list[int]) -> None:
    with trio.fail_after(3):
        while any(runs(pid) for pid in pids):  # noqa: ASYNC110 - nothing tells of it
            await trio.sleep(0.02)


async def test_with_a_bot_all_that_it_left_ends_at_once(confined: Ground) -> None:
    marker = f"hokm-ended-{os.getpid()}"
    async with confined.beside(probes.LEAVE, marker, until="left") as process:
        left = await there(marker)
        await process.end()
        await gone(left)
