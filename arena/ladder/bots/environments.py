"""Environments: what a bot needs besides its files, made once and kept by digest.

A bot of Python may bring `requirements.txt`: packages that are installed into an environment of its
own. It is kept by the digest of what is asked for, not of the bot, so that the versions of a bot
share it and one that changed a line of its code need not wait. A bot of another language may bring
`[build]` in its manifest: a command that is run once in a copy of its files, which then is what
runs; that is kept by the digest of the bot. Neither is part of a bot's identity.

Whatever is kept is whole: it is made in a folder of its own, and named by a file that is written
last. Two at once wait for each other. Packages come as wheels only, since to build one is to run
code of its author; nothing of what is installed is run here. A build is code of the bot's author:
where bots are confined it is too, in a sandbox of its own, where it may write to its copy of the
files only; otherwise it runs as whoever runs the arena. This module knows no games and starts no
bots.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import re
import selectors
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

import hokm
from arena.ladder.bots.bundle import BotError, bundle, bundle_digest
from arena.ladder.bots.entrants import Entrant, Environment, check_built
from arena.ladder.files import write_whole
from arena.ladder.processes.capped_log import CappedLog
from arena.ladder.processes.sandbox import (
    Sandbox,
    bounds_of_build,
    ended_in_shell,
    how_it_hit_a_limit,
)
from arena.ladder.processes.vitals import memory_of
from arena.ladder.strict_toml import read_text, shortened
from hokm.errors import quoted

REQUIREMENTS: Final = "requirements.txt"

INSTALL_SECONDS: Final = 600.0
"""A network of a common kind is some 200 MiB of wheels."""

BUILD_SECONDS: Final = 600.0
"""A program of some thousand lines is compiled in a minute, with what it depends on in several."""

BUILD_MIB: Final = 2048
BUILD_FILES: Final = 200_000
"""What a confined build may hold at once; the folders of large programs in Node or Rust have half
of that.
"""
LEAST_FREE_MIB: Final = 512
"""What a confined build leaves of the disk, whatever it does with files that cannot be seen."""

_SCHEMA: Final = 1  # of what is kept: another one is made anew
_SDK: Final = "hokm-sdk"
_WHOLE: Final = "whole"
_LOCK: Final = "lock"
_SHOWN_LINES: Final = 12
_POLL_SECONDS: Final = 0.1
_CHUNK_BYTES: Final = 1 << 16
_LONGEST_PATH: Final = 2000  # half of what Linux takes; what lies deeper cannot be counted
_HASH: Final = re.compile(r"\s--hash=(\w+:[0-9a-f]+)(?=\s|$)")
_COMMENT: Final = re.compile(r"(^|\s)#.*$")
_SAYS_NO_NETWORK: Final = (
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "Connection refused",
    "ConnectTimeoutError",
    "ProxyError",
    "error sending request",  # uv
    "dns error",
)
_NOT_FOUND: Final = re.compile(r"No matching distribution found for ([^\s(]+)")  # says pip
_WORD: Final = re.compile(r"[\w.-]*\w")

# Needed to find and run programs, and no secret: a build sees nothing else of ours.
_INHERITED: Final = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
_CREDENTIALS: Final = re.compile(r"://([^\s/:@]*)(?::([^\s/@]*))?@")
_SECRET_NAME: Final = re.compile(r"PASSWORD|SECRET|TOKEN|KEY$")
_SHORTEST_SECRET: Final = 4


class NotPreparedError(BotError):
    """An environment that cannot be made; `output` is the end of what was said about it. `is_ours`
    says that this machine lacks something, and that the bot may be a good one.
    """

    def __init__(
        self,
        where: Path | str,
        problem: str,
        *,
        remedy: str,
        output: str = "",
        is_ours: bool = False,
    ) -> None:
        super().__init__(where, problem, remedy=remedy)
        self.output = output
        self.is_ours = is_ours


@dataclass(frozen=True, slots=True)
class Environments:
    """Makes what bots need, and finds it again.

    Args:
        cache: where it is kept; None for the user's own, see `default_cache`.
        wheels: a folder that packages are taken from, in place of the network.
        tell: is told what takes its time.
        confine: makes the sandbox that builds are run in, each time something is built; None where
            they are not confined.
        has_network: whether a confined build has the network that the arena has.
    """

    cache: Path | None = None
    wheels: Path | None = None
    tell: Callable[[str], None] = lambda line: None
    confine: Callable[[], AbstractContextManager[Sandbox | None]] | None = None
    has_network: bool = False

    def prepared(self, entrant: Entrant) -> Entrant:
        """Return the same bot with the environment it needs, which is made if it is not there.

        Raises:
            BotError: if what it asks for cannot be meant, or not be made: `NotPreparedError`.
            OSError: if nothing can be kept.
        """
        if entrant.is_python and (wanted := read_requirements(entrant.folder)):
            python = self._python(entrant, wanted)
            entrant = replace(entrant, environment=Environment(python=python))
        if entrant.build:
            home = self._built(entrant)
            check_built(home)
            entrant = replace(entrant, environment=replace(entrant.environment, home=home))
        return entrant

    def _python(self, entrant: Entrant, wanted: Sequence[str]) -> Path:
        sdk = _Sdk.here()
        key = _key(_SCHEMA, *wanted, sys.version, sys.base_prefix, *sdk.described())
        made = self._kept(
            "python",
            key,
            is_usable=lambda folder: os.access(_python_of(folder), os.X_OK),
            make=lambda folder, lock: self._install(entrant, folder, wanted, sdk=sdk, lock=lock),
        )
        return _python_of(made)

    def _install(
        self, entrant: Entrant, folder: Path, wanted: Sequence[str], *, sdk: "_Sdk", lock: int
    ) -> None:
        self.tell(f"{entrant.name}: installing {', '.join(map(_name_of, wanted))}")
        venv.EnvBuilder(symlinks=True).create(folder)
        requirements, constraints = folder / REQUIREMENTS, folder / "constraints.txt"
        requirements.write_text("".join(f"{line}\n" for line in wanted), encoding="utf-8")
        constraints.write_text("".join(f"{line}\n" for line in sdk.constraints), encoding="utf-8")
        words = [*_installer(_python_of(folder), wheels=self.wheels), "--only-binary", ":all:"]
        words += ["-r", str(requirements), "-c", str(constraints)]
        # A wheel index may ask for what is set up here; what changes Python itself would change it.
        seen = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        # The lock goes with it: if the arena is killed, nobody begins before it has ended as well.
        done = _run(words, folder=folder, seen=seen, seconds=INSTALL_SECONDS, kept_open=(lock,))
        if done.status != 0:
            done = replace(done, output=without_credentials(done.output, environment=seen))
            raise _not_installed(entrant, done, wanted, wheels=self.wheels)
        sdk.link(folder)

    def _built(self, entrant: Entrant) -> Path:
        python = entrant.environment.python
        what = (entrant.digest, sys.version, sysconfig.get_platform(), str(python))
        # What was built with more at hand says nothing of what a ladder can build.
        how = () if self.confine is None else ("confined",)
        return self._kept(
            "built",
            _key(_SCHEMA, *what, *how),
            is_usable=lambda folder: True,
            make=lambda folder, lock: self._build(entrant, folder),
        )

    def _build(self, entrant: Entrant, folder: Path) -> None:
        self.tell(f"{entrant.name}: building, {' '.join(entrant.build)}")
        for file in bundle(entrant.folder):
            copy = folder / file.path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.source, copy)
            copy.chmod(0o755 if file.runs else 0o644)
        if bundle_digest(folder) != entrant.digest:
            remedy = "stop what writes there"
            raise BotError(entrant.folder, "changed while it was copied", remedy=remedy)
        with nullcontext() if self.confine is None else self.confine() as sandbox:
            done, limit = self._run_build(entrant, folder, sandbox)
        if done.status != 0:
            how = f"{done.how}; {limit}" if limit else done.how
            by_hand = "run it by hand in a copy of the folder"
            if sandbox is not None and not self.has_network:
                by_hand += "; it has no network and writes nowhere else"
            raise NotPreparedError(
                entrant.folder,
                f"cannot be built: {quoted(' '.join(entrant.build))} {how}",
                remedy=f"see what it said, and {by_hand}",
                output=done.output,
            )
        try:
            check_built(folder)
        except BotError as error:
            problem, _, _ = str(error).replace(str(folder), str(entrant.folder)).partition("; ")
            raise NotPreparedError(
                entrant.folder,
                f"is built, but {problem}",
                remedy="have the build make it, or mend the command",
                output=done.output,
            ) from error

    def _run_build(
        self, entrant: Entrant, folder: Path, sandbox: Sandbox | None
    ) -> tuple["_Done", str]:
        """Run it in the folder; how it ended, and which limit it hit if that can be known."""
        words = entrant.build_argv(sys.executable)
        seen = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        seen |= {"HOME": str(folder), "LANG": "C.UTF-8"}
        if sandbox is None:
            return _run(words, folder=folder, seen=seen, seconds=BUILD_SECONDS), ""
        bounds = bounds_of_build(seconds=BUILD_SECONDS)
        prefix = sandbox.around_build(
            words,
            folder=folder,
            bounds=bounds,
            has_network=self.has_network,
            python=entrant.environment.python,
        )
        group = sandbox.group(bounds)
        entering = () if group is None else group.entering
        try:
            done = _run(
                (*entering, *prefix, *words),
                folder=folder,
                seen=seen,
                seconds=BUILD_SECONDS,
                watch=_Watch(
                    folder, memory_mib=bounds.memory_mib if group is None else None
                ).excess,
            )
        finally:
            is_out_of_memory = group is not None and group.was_out_of_memory()
            if group is not None:
                group.end()
            _take_back(folder)
        if done.status is None:
            return done, ""
        if excess := _Watch(folder).excess():  # made since it was last looked at
            return replace(done, status=None, excess=excess), ""
        status = ended_in_shell(done.status)
        limit = how_it_hit_a_limit(
            status, log_tail=done.output, bounds=bounds, is_out_of_memory=is_out_of_memory
        )
        return replace(done, status=status), limit

    def _kept(
        self,
        kind: str,
        key: str,
        *,
        is_usable: Callable[[Path], bool],
        make: Callable[[Path, int], None],
    ) -> Path:
        """The folder of that key, whole. `make` fills a new one, while it holds the lock."""
        place = (default_cache() if self.cache is None else self.cache).resolve() / kind / key
        found = _whole(place)
        if found is not None and is_usable(found):
            return found
        place.mkdir(parents=True, exist_ok=True)
        with self._locked(place / _LOCK) as lock:
            found = _whole(place)  # another one may just have made it
            if found is not None and is_usable(found):
                return found
            (place / _WHOLE).unlink(missing_ok=True)
            for left in place.iterdir():  # by somebody who was killed
                if left.is_dir():
                    _remove(left)
            # Each attempt has a folder of its own, where it stays: environments know where they
            # are, and what a killed one left running writes into no other.
            folder = Path(tempfile.mkdtemp(dir=place))
            try:
                folder.chmod(0o755)
                make(folder, lock)
                write_whole(place / _WHOLE, folder.name.encode(), mode=0o644)
            except BaseException:
                _remove(folder)
                raise
        return folder

    @contextmanager
    def _locked(self, file: Path) -> Iterator[int]:
        """Hold a file, as soon as nobody else does; gives what a child may hold on to."""
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.tell("waiting for another arena, which makes the same")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def default_cache() -> Path:
    """Where environments are kept unless somebody says otherwise. Raises OSError without a home."""
    cache = os.environ.get("XDG_CACHE_HOME")
    try:
        home = Path(cache) if cache else Path.home() / ".cache"
    except RuntimeError as error:
        raise OSError("there is no home to keep environments in; set XDG_CACHE_HOME") from error
    return home / "hokm-arena" / "environments"


# -- what is asked for


def read_requirements(folder: Path) -> tuple[str, ...]:
    """Return the packages that a bot of Python asks for, one a line and sorted; none without a
    `requirements.txt`, and none for the SDK alone, which is there.

    A line names a package, its versions, a marker and hashes. What would have pip read another
    file, go to another place or build something is refused: what is installed follows from these
    lines.

    Raises:
        BotError: for any other line, and for an SDK that is not the arena's.
    """
    file = folder / REQUIREMENTS
    try:
        text = read_text(file, error=BotError, remedy="name packages there, one a line")
    except FileNotFoundError:
        return ()
    lines: list[str] = []
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        stripped = _COMMENT.sub("", line).strip()
        if stripped:
            lines += _wanted(file, stripped)
    return tuple(sorted(set(lines)))


def _wanted(file: Path, line: str) -> Iterator[str]:
    shown = quoted(line)
    hashes = _HASH.findall(f" {line}")
    words = _HASH.sub("", f" {line}").strip()
    remedy = "write a package with its version, such as numpy==2.3.5"
    if words.startswith("-") or " -" in words:
        raise BotError(file, f"{shown} is an option, or a file", remedy=remedy)
    if "$" in words:
        # The installer would put what it finds in our environment there, and say it.
        raise BotError(file, f"{shown} names a variable", remedy=remedy)
    try:
        requirement = Requirement(words)
    except InvalidRequirement as error:
        raise BotError(file, f"{shown} names no package", remedy=remedy) from error
    if requirement.url is not None:
        raise BotError(file, f"{shown} is an address", remedy=remedy)
    if canonicalize_name(requirement.name) == _SDK:
        if not requirement.specifier.contains(hokm.__version__, prereleases=True):
            problem = f"asks for {shortened(words)}, and this arena speaks {hokm.__version__}"
            raise BotError(file, problem, remedy="leave it out: the arena brings its own")
        return
    try:
        is_asked = requirement.marker is None or requirement.marker.evaluate()
    except (ValueError, KeyError) as error:
        raise BotError(file, f"{shown} has a marker that says nothing", remedy=remedy) from error
    if is_asked:
        yield " ".join([str(requirement), *(f"--hash={one}" for one in sorted(hashes))])


def _name_of(line: str) -> str:
    return line.partition(" --hash")[0]


def _package_of(line: str) -> str:
    return canonicalize_name(Requirement(_name_of(line)).name)


# -- the SDK


@dataclass(frozen=True, slots=True)
class _Sdk:
    """The arena's own SDK and what that needs, to be seen by an environment as they are here.

    What is installed there comes before it, within `constraints`: whoever asks for another protobuf
    gets one that the SDK takes.
    """

    distributions: Mapping[str, metadata.Distribution]
    constraints: Sequence[str]

    @classmethod
    def here(cls) -> "_Sdk":
        found: dict[str, metadata.Distribution] = {}
        constraints = [f"{_SDK}=={hokm.__version__}"]
        left = [_SDK]
        while left:
            name = canonicalize_name(left.pop())
            if name in found:
                continue
            found[name] = metadata.distribution(name)
            for text in found[name].requires or ():
                needed = Requirement(text)
                if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                    constraints.append(f"{needed.name}{needed.specifier}")
                    left.append(needed.name)
        return cls(found, sorted(constraints))

    def described(self) -> Iterator[str]:
        """What it is, and where: it is linked, not copied."""
        yield str(Path(hokm.__file__).parent)
        for name, distribution in sorted(self.distributions.items()):
            yield f"{name} {distribution.version} {distribution.locate_file('')}"

    def link(self, environment: Path) -> None:
        """Have an environment see it, after all that is its own."""
        home = environment / "sdk"
        for distribution in self.distributions.values():
            for file in distribution.files or ():
                source = Path(str(distribution.locate_file(file)))
                if ".." not in file.parts and source.is_file():
                    target = home / file
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.symlink_to(source.resolve())
        if not (home / "hokm").exists():  # installed to be worked on
            (home / "hokm").symlink_to(Path(hokm.__file__).resolve().parent)
        (_packages_of(environment) / f"{_SDK}.pth").write_text(f"{home}\n", encoding="utf-8")


# -- tools


def _installer(python: Path, *, wheels: Path | None) -> tuple[str, ...]:
    """The command that installs into the environment of `python`, but for what. It goes by whatever
    is set up here, unless there is a folder of wheels: then by nothing else.
    """
    only = () if wheels is None else ("--no-index", "--find-links", str(wheels.resolve()))
    uv = shutil.which("uv")
    if uv is not None:
        # Copies: a link into its cache could be written through.
        words = (uv, "pip", "install", "--link-mode", "copy", "--python", str(python))
        return (*words, *(("--no-config", *only) if only else ()))
    if importlib.util.find_spec("pip") is None:
        raise NotPreparedError(
            sys.executable,
            "has no pip to install what a bot requires",
            remedy="run python -m ensurepip with it, or install uv",
            is_ours=True,
        )
    pip = (sys.executable, "-m", "pip", "--python", str(python), "install")
    once = ("--retries", "1", "--timeout", "15")
    quiet = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off")
    return (*pip, *quiet, *once, *(("--isolated", *only) if only else ()))


def without_credentials(text: str, *, environment: Mapping[str, str]) -> str:
    """What an installer said, for the owner of a bot, without what opens an index of packages or a
    proxy: it stands in addresses there or in the environment, and installers may quote either.
    """
    secrets: set[str] = set()
    for name, value in environment.items():
        if _SECRET_NAME.search(name.upper()):
            secrets.add(value)
        for user, password in _CREDENTIALS.findall(value):
            secrets |= {f"{user}:{password}", password} if password else {user}
    secrets |= {unquote(secret) for secret in secrets}
    text = _CREDENTIALS.sub("://…@", text)
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:  # a shorter one would tear words apart
            text = text.replace(secret, "…")
    return text


def _not_installed(
    entrant: Entrant, done: "_Done", wanted: Sequence[str], *, wheels: Path | None
) -> NotPreparedError:
    said = {canonicalize_name(word) for word in _WORD.findall(done.output)}
    named = [line for line in map(_name_of, wanted) if _package_of(line) in said]
    found = _NOT_FOUND.findall(done.output) or named or list(map(_name_of, wanted))
    what = ", ".join(dict.fromkeys(found))
    lacks_network = wheels is None and any(sign in done.output for sign in _SAYS_NO_NETWORK)
    if wheels is not None:
        remedy = f"put a wheel of it for this Python into {wheels}, with what it needs"
    elif lacks_network:
        remedy = "there is no network: put its wheels into a folder and name that with --wheels"
    else:
        remedy = "see what was said; a package without a wheel for this Python is not built here"
    return NotPreparedError(
        entrant.folder / REQUIREMENTS,
        f"{shortened(what)} cannot be installed: the installer {done.how}",
        remedy=remedy,
        output=done.output,
        is_ours=lacks_network,
    )


@dataclass(frozen=True, slots=True)
class _Done:
    """How a command ended: its status, None if it was ended, since its time was up or for what it
    had in `excess`; and the end of what it printed.
    """

    status: int | None
    output: str
    seconds: float
    excess: str = ""

    @property
    def how(self) -> str:
        if self.excess:
            return f"was ended: {self.excess}"
        if self.status is None:
            return f"was ended after {self.seconds:.0f} s"
        if self.status < 0:
            return f"was ended by signal {-self.status}"
        return f"ended with status {self.status}"


def _run(
    words: Sequence[str],
    *,
    folder: Path,
    seen: Mapping[str, str],
    seconds: float,
    kept_open: tuple[int, ...] = (),
    watch: Callable[[int], str] = lambda pid: "",
) -> _Done:
    """Run a command to its end, within its time and until ``watch`` says what it has too much of;
    nothing of its process group is left.
    """
    from arena.ladder.processes.launcher import death_signal_prefix  # trio with it, 0.1 s

    with tempfile.TemporaryDirectory(prefix="hokm-said-") as there:
        log = CappedLog(Path(there) / "output")
        read, write = os.pipe()
        try:
            popen = subprocess.Popen(
                (*death_signal_prefix(), *words),
                cwd=folder,
                env=dict(seen),
                stdin=subprocess.DEVNULL,
                stdout=write,
                stderr=write,
                start_new_session=True,
                pass_fds=kept_open,
            )
        except OSError as error:
            os.close(read)
            log.close()
            return _Done(127, f"{words[0]}: {error.strerror}\n", seconds)
        finally:
            os.close(write)
        has_ended, excess = False, ""
        try:
            has_ended, excess = _attended(popen, read, log, seconds=seconds, watch=watch)
        finally:
            # It may be dead, but is not reaped: its id and the group's still belong to it.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, signal.SIGKILL)
            status = popen.wait()
            os.close(read)
            log.close()
        lines = log.tail().splitlines()[-_SHOWN_LINES:]
    said = "".join(f"{line}\n" for line in lines)
    return _Done(status if has_ended else None, said, seconds, excess)


def _attended(
    popen: subprocess.Popen[bytes],
    output: int,
    log: CappedLog,
    *,
    seconds: float,
    watch: Callable[[int], str],
) -> tuple[bool, str]:
    """Copy what a process prints until it has ended; whether it did so in its time, and what it had
    too much of. One that it has left behind may hold its output for ever.
    """
    deadline = time.monotonic() + seconds
    looks_again = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while (now := time.monotonic()) < deadline:
            if now >= looks_again:
                if excess := watch(popen.pid):
                    return False, excess
                looks_again = time.monotonic() + _POLL_SECONDS
            if not selector.get_map():  # it has closed its output, which says nothing
                time.sleep(_POLL_SECONDS)
            elif selector.select(_POLL_SECONDS):
                if chunk := os.read(output, _CHUNK_BYTES):
                    log.write(chunk)
                    continue
                selector.unregister(output)
            if _has_ended(popen):
                return True, ""
    return False, ""


def _has_ended(popen: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):  # macOS, before Python 3.13
        return popen.poll() is not None
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, popen.pid, how) is not None


class _Watch:
    """What a build takes up in a folder, what it leaves of the disk, and the memory that its
    processes have together, where no control group sees to that.
    """

    def __init__(self, folder: Path, *, memory_mib: int | None = None) -> None:
        self._folder = folder
        self._memory_mib = memory_mib
        self._looks_again = 0.0

    def excess(self, pid: int = 0) -> str:
        """What it has too much of; empty while it keeps within its limits. Whether the disk is full
        is cheap to ask; the rest is looked at each second, or less often where there is much.
        """
        if shutil.disk_usage(self._folder).free < LEAST_FREE_MIB << 20:
            return f"the disk has less than {LEAST_FREE_MIB} MiB left"
        began = time.monotonic()
        if began < self._looks_again:
            return ""
        if self._memory_mib is not None:
            most_bytes = self._memory_mib << 20
            if memory_of(pid, enough_bytes=most_bytes) > most_bytes:
                return f"its processes together may have {self._memory_mib} MiB of memory"
        size_bytes = 0
        for files, entry in enumerate(_everything_in(self._folder), start=1):
            if len(entry.path) > _LONGEST_PATH:
                return "it makes folders in folders without end"
            with suppress(OSError):  # gone meanwhile
                size_bytes += entry.stat(follow_symlinks=False).st_blocks * 512
            if files > BUILD_FILES:
                return f"it has over {BUILD_FILES} files"
            if size_bytes > BUILD_MIB << 20:
                return f"its files have over {BUILD_MIB} MiB"
        now = time.monotonic()
        self._looks_again = now + max(1.0, 10 * (now - began))
        return ""


def _everything_in(folder: Path | str) -> Iterator["os.DirEntry[str]"]:
    """All that lies below, a folder before what is in it."""
    left = [os.fspath(folder)]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                yield entry
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)


def _take_back(folder: Path) -> None:
    """What was built belongs to the arena again; all may read it, nobody gets powers from it."""
    os.chown(folder, os.geteuid(), os.getegid())
    folder.chmod(0o755)
    for entry in _everything_in(folder):
        with suppress(OSError):  # too deep to be named: such a build is refused
            mode = entry.stat(follow_symlinks=False).st_mode
            os.chown(entry.path, os.geteuid(), os.getegid(), follow_symlinks=False)
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                runs = stat.S_ISDIR(mode) or mode & 0o111
                os.chmod(entry.path, 0o755 if runs else 0o644)


def _remove(folder: Path) -> None:
    """Remove a folder, as far as it can be; one that somebody has made deeper than Python goes."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        subprocess.run(("rm", "-rf", "--", str(folder)), capture_output=True, check=False)


def _python_of(environment: Path) -> Path:
    return environment / "bin" / "python"


def _packages_of(environment: Path) -> Path:
    where = {"base": str(environment), "platbase": str(environment)}
    return Path(sysconfig.get_path("purelib", scheme="venv", vars=where))


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _whole(place: Path) -> Path | None:
    """The folder that is kept there, if there is a whole one."""
    try:
        name = (place / _WHOLE).read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    folder = place / name
    return folder if name and "/" not in name and folder.is_dir() else None
