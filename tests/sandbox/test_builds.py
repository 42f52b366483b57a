"""What a build of a hostile author gets: each probe confined, and without, where it is seen to
work.
"""

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.bots import environments
from arena.ladder.bots.entrants import Entrant, load_bot
from arena.ladder.bots.environments import Environments, NotPreparedError
from arena.ladder.processes import sandbox as sandboxes
from arena.ladder.processes.sandbox import Sandbox

MANIFEST = """\
schema = 1
name = "built"
owner = "somebody"
version = "1"
command = ["./run"]
protocol = 1
variants = [4]
[build]
command = ["python", "make.py"]
"""

MAKES = """\
import os
with open("run", "w") as run: run.write("#!/bin/sh\\n")
os.chmod("run", 0o755)
"""


def bot(folder: Path, script: str) -> Entrant:
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(MANIFEST)
    (folder / "make.py").write_text(MAKES + script)
    return load_bot(folder)


@pytest.fixture
def confined(sandbox: Sandbox, tmp_path: Path) -> Environments:
    return Environments(cache=tmp_path / "cache", confine=lambda: nullcontext(sandbox))


@pytest.fixture
def free(tmp_path: Path) -> Environments:
    return Environments(cache=tmp_path / "cache")


def built(made: Environments, entrant: Entrant) -> Path:
    """The file that its build has written, in what came of it."""
    return made.prepared(entrant).home / "told"


READS = """
try: text = open({place!r}).read()
except OSError as error: text = type(error).__name__
open("told", "w").write(text)
"""


def test_a_build_reads_nothing_of_the_operators(
    confined: Environments, free: Environments, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the ladder")
    entrant = bot(tmp_path / "bot", READS.format(place=str(secret)))
    assert built(confined, entrant).read_text() == "FileNotFoundError"
    assert built(free, entrant).read_text() == "of the ladder"


WRITES = """
import os
for place in ({place!r}, "/usr/hokm-told", "/bot/../hokm-told"):
    try: open(place, "w").close()
    except OSError: pass
open("/tmp/mine", "w").close()
open("told", "w").write(os.environ["HOME"])
"""


def test_a_build_writes_to_its_own_folder_and_nowhere_else(
    confined: Environments, free: Environments, tmp_path: Path
) -> None:
    place = tmp_path / "mark"
    entrant = bot(
        tmp_path / "bot", WRITES.replace('"/usr/hokm-told", ', "").format(place=str(place))
    )
    assert built(confined, entrant).read_text() == "/bot"
    assert not place.exists()
    built(free, entrant)
    assert place.exists()
    Path("/tmp/mine").unlink()
    Path("/hokm-told").unlink(missing_ok=True)


@contextmanager
def answering() -> Iterator[int]:
    """A port of this machine at which somebody says a word."""
    with socket.create_server(("127.0.0.1", 0)) as line:
        line.settimeout(60)

        def answer() -> None:
            while True:
                try:
                    with line.accept()[0] as caller:
                        caller.send(b"hello")
                except OSError:
                    return

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield line.getsockname()[1]
        finally:
            line.shutdown(socket.SHUT_RDWR)
            thread.join()


CALLS = """
import socket
try:
    with socket.create_connection(("127.0.0.1", {port}), timeout=5) as line:
        text = line.recv(9).decode()
except OSError as error: text = type(error).__name__
open("told", "w").write(text)
"""


def test_a_build_has_no_network_unless_the_operator_says_so(
    confined: Environments, free: Environments, tmp_path: Path
) -> None:
    with answering() as port:
        entrant = bot(tmp_path / "bot", CALLS.format(port=port))
        assert built(confined, entrant).read_text() == "ConnectionRefusedError"
        assert built(free, entrant).read_text() == "hello"
        again = replace(confined, cache=tmp_path / "other", has_network=True)
        assert built(again, entrant).read_text() == "hello"


FORKS = """
import os, signal, time
children = []
try:
    for _ in range(300):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
except OSError: pass
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
open("told", "w").write(str(len(children)))
"""


def test_a_build_forks_so_often_and_no_more(
    confined: Environments, free: Environments, sandbox: Sandbox, tmp_path: Path
) -> None:
    if not sandbox.is_root and sandbox.folder.stat().st_uid == 0:
        pytest.skip("root in the sandbox of others is not counted")
    entrant = bot(tmp_path / "bot", FORKS)
    assert 200 < int(built(confined, entrant).read_text()) < 260
    assert int(built(free, entrant).read_text()) == 300


def test_a_build_without_end_is_ended_with_all_that_it_left(
    confined: Environments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "BUILD_SECONDS", 2.0)
    leaves = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(10_000):
            open("beats", "w").write(str(number))
            time.sleep(0.02)
    os._exit(0)
time.sleep(600)
"""
    kept: list[Path] = []
    monkeypatch.setattr(environments, "_remove", kept.append)
    with pytest.raises(NotPreparedError, match="was ended after 2 s"):
        confined.prepared(bot(tmp_path / "bot", leaves))
    before = (kept[-1] / "beats").read_text()
    time.sleep(0.3)
    assert (kept[-1] / "beats").read_text() == before
    shutil.rmtree(kept[-1])


FILLS = """
for number in range(64):
    with open("filled" + str(number), "wb") as stream: stream.write(bytes(1 << 20))
"""


@pytest.mark.parametrize("seconds", [60, 0])
def test_a_build_that_fills_the_disk_is_ended_and_leaves_nothing(
    confined: Environments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """Also one that is done before anybody looks."""
    monkeypatch.setattr(environments, "BUILD_MIB", 32)
    with pytest.raises(NotPreparedError, match="was ended: its files have over 32 MiB"):
        confined.prepared(bot(tmp_path / "bot", f"{FILLS}import time; time.sleep({seconds})\n"))
    assert not list(tmp_path.glob("cache/**/filled*"))


def test_a_build_that_makes_files_or_folders_without_end_is_ended(
    confined: Environments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "BUILD_FILES", 500)
    many = "for number in range(600): open(f'file{number}', 'w').close()\n"
    with pytest.raises(NotPreparedError, match="over 500 files"):
        confined.prepared(bot(tmp_path / "many", many))
    deep = "for _ in range(3000):\n    os.mkdir('d' * 100)\n    os.chdir('d' * 100)\n"
    with pytest.raises(NotPreparedError, match=r"folders without end|over 500 files"):
        confined.prepared(bot(tmp_path / "deep", deep))
    assert not list(tmp_path.glob("cache/built/*/*/"))


def test_a_build_leaves_room_on_the_disk_whatever_it_hides(
    confined: Environments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is open and has no name is in no folder."""
    free_mib = shutil.disk_usage(tmp_path).free >> 20
    monkeypatch.setattr(environments, "LEAST_FREE_MIB", free_mib + 1000)
    with pytest.raises(NotPreparedError, match="the disk has less than"):
        confined.prepared(bot(tmp_path / "bot", "import time; time.sleep(60)\n"))


def test_what_a_build_leaves_is_the_arenas_and_gives_nobody_powers(
    confined: Environments, tmp_path: Path
) -> None:
    script = """
os.mkdir("closed")
open("closed/run", "w").close()
os.chmod("closed/run", 0o6711)
os.symlink("/etc/passwd", "link")
os.chmod("closed", 0o000)
"""
    home = confined.prepared(bot(tmp_path / "bot", script)).home
    file = home / "closed" / "run"
    assert (home / "closed").stat().st_mode & 0o7777 == 0o755
    assert file.stat().st_mode & 0o7777 == 0o755
    assert {place.lstat().st_uid for place in (home, file, home / "link")} == {
        tmp_path.stat().st_uid
    }


def test_a_build_may_do_what_compilers_do(confined: Environments, tmp_path: Path) -> None:
    script = """
import fcntl
with open("lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    fcntl.lockf(lock, fcntl.LOCK_EX)
os.utime("lock", (1, 1))
open("told", "w").write("done")
"""
    assert built(confined, bot(tmp_path / "bot", script)).read_text() == "done"


def test_a_limit_that_a_build_hit_is_told(confined: Environments, tmp_path: Path) -> None:
    with pytest.raises(NotPreparedError, match="out of memory, says its log"):
        confined.prepared(bot(tmp_path / "bot", "held = bytearray(5 << 30)\n"))
    with pytest.raises(NotPreparedError, match="no network and writes nowhere else"):
        confined.prepared(bot(tmp_path / "other", "raise SystemExit(3)\n"))


def test_the_memory_of_all_of_a_builds_processes_is_limited_together(
    confined: Environments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxes, "MOST_MEMORY_MIB", 256)
    script = """
import time
for _ in range(4):
    if os.fork() == 0:
        held = bytearray(b"x" * (60 << 20))
        held += b"x" * (60 << 20)
        time.sleep(60)
time.sleep(60)
"""
    with pytest.raises(NotPreparedError, match="its processes together may have 256 MiB"):
        confined.prepared(bot(tmp_path / "bot", script))


def test_what_was_built_confined_and_what_was_not_are_two(
    confined: Environments, free: Environments, tmp_path: Path
) -> None:
    entrant = bot(tmp_path / "bot", "")
    assert confined.prepared(entrant).home != free.prepared(entrant).home
    assert confined.prepared(entrant).home == confined.prepared(entrant).home
