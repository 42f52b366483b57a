"""A PostgreSQL server for tests: made for them, ended with them, and nobody else's.

A cluster of its own in a temporary folder, for each process that runs tests; a unix socket in that
folder is the one way to it. It writes nothing to last. PostgreSQL does not run as root, so where
the tests do it is nobody's. What a test needs of it is a schema that holds no ladder yet.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path

from arena.ladder.store.address import Server

ON_POSTGRES = os.environ.get("HOKM_TEST_DATABASE") == "postgresql"
"""Whether ladders of tests are kept on a server, but for those that are about files."""

USER = "hokm"
PASSWORD = "open sesame"
_NOBODY = 65534
_PREFIX = "hokm-postgres-"

_SETTINGS = (
    "listen_addresses=''",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "shared_buffers=32MB",
    "max_connections=100",
)


def lacking() -> str | None:
    """Why there can be no server on this machine, if there is a reason."""
    if _programs() is None:
        return "PostgreSQL is not installed: no initdb on PATH or below /usr/lib/postgresql"
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL does not run as root, and there is no setpriv to be another user"
    return None


@dataclass
class Cluster:
    """A server that runs; its folder holds the socket."""

    folder: Path
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def server(self, schema: str | None = None, *, database: str = "postgres") -> Server:
        """A schema, one that nobody has used if none is named."""
        named = f"s{next(self._numbers)}" if schema is None else schema
        return Server.parse(self.url(schema=named, database=database))

    def url(self, *, schema: str, database: str = "postgres", user: str = USER) -> str:
        """The same as text."""
        return f"postgresql://{user}@/{database}?host={self.folder}&schema={schema}"

    def pg_ctl(self, *words: str) -> None:
        """Start it, stop it, or the like; raises CalledProcessError with what it said."""
        _run("pg_ctl", "--pgdata", str(self._data), "--wait", "--log", str(self._log), *words)

    def start(self) -> None:
        """Have it listen."""
        options = " ".join(f"-c {setting}" for setting in _SETTINGS)
        self.pg_ctl("--options", f"-k {self.folder} {options}", "start")

    def stop(self) -> None:
        """End it, as a power cut would; by the process id that it has noted."""
        self.pg_ctl("--mode", "immediate", "stop")

    @cached_property
    def _data(self) -> Path:
        return self.folder / "data"

    @cached_property
    def _log(self) -> Path:
        return self.folder / "log"


@contextmanager
def running() -> Iterator[Cluster]:
    """Make a cluster, have it listen, end it."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    cluster = Cluster(folder)
    try:
        if os.getuid() == 0:
            os.chown(folder, _NOBODY, _NOBODY)
        _run(
            *("initdb", "--pgdata", str(folder / "data"), "--username", USER),
            *("--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"),
        )
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep() -> None:
    """End what tests that were killed have left."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists() and Path("/proc/self").exists():
            if (folder / "data/postmaster.pid").exists():
                subprocess.run(
                    [
                        *_as_nobody(),
                        _program("pg_ctl"),
                        "-D",
                        folder / "data",
                        "-m",
                        "immediate",
                        "stop",
                    ],
                    check=False,
                    capture_output=True,
                )
            shutil.rmtree(folder, ignore_errors=True)


def _run(program: str, *words: str) -> None:
    # Its output goes to no pipe of ours: the server would hold it open for as long as it runs.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [*_as_nobody(), _program(program), *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            check=False,
        )
        output.seek(0)
        said = output.read().decode(errors="replace")
    assert done.returncode == 0, f"{program}: {said}"


def _as_nobody() -> list[str]:
    if os.getuid() != 0:
        return []
    return ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]


def _program(name: str) -> str:
    programs = _programs()
    assert programs is not None
    return str(programs / name)


def _programs() -> Path | None:
    """Where the programs of the newest PostgreSQL are."""
    if (found := shutil.which("initdb")) is not None and shutil.which("pg_ctl") is not None:
        return Path(found).resolve().parent
    installed = [
        path.parent
        for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")
        if path.parent.parent.name.isdecimal()
    ]
    return max(installed, key=lambda folder: int(folder.parent.name), default=None)
