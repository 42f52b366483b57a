"""Control groups: what a bot's processes may use together, where the kernel's version 2 of them is
delegated to the arena.

A limit of a process (`arena.ladder.processes.sandbox`) is passed by having many. A control group
counts memory and processes of all that was ever started in it, and ends them at once. The kernel
lets those have one to whom somebody has delegated a part of its tree: systemd to a service or a
scope with `Delegate=yes`, a container with a tree of its own. A group that has groups with limits
below it may have no processes itself, so the arena moves itself into one of those; it does so only
where it is alone, since what else is there is not its own.

This module reads and writes files of that tree. It starts and knows no processes but those in it.
"""

import hashlib
import itertools
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from arena.ladder.processes.strays import birth_of

_NEEDED: Final = ("memory", "pids")
_OWN: Final = "hokm-arena"
"""The group that an arena moves itself into; a child of it is there too, and finds its parent's."""
_PREFIX: Final = "hokm-bot-"
_SYSTEMD: Final = Path("/run/systemd/system")
"""There where systemd manages the tree: what it has not delegated, it may change at any time."""
_MARKS: Final = ("user.delegate", "trusted.delegate")  # systemd.resource-control(5) of Delegate=
_SWEEP_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.02
_ENTER: Final = 'echo 0 >"$1" && shift && exec "$@"'  # 0: whoever writes it


class NotDelegatedError(RuntimeError):
    """There are no control groups for bots here: why, in a few words."""


@dataclass(frozen=True, slots=True)
class Group:
    """The group of one bot; made by `Groups.make`."""

    folder: Path

    @property
    def entering(self) -> tuple[str, ...]:
        """What stands before a command, so that it and all it starts are in the group."""
        return ("/bin/sh", "-c", _ENTER, "sh", str(self.folder / "cgroup.procs"))

    def was_out_of_memory(self) -> bool:
        """Whether the kernel has killed in it for want of memory."""
        with suppress(OSError, ValueError):
            for line in _read(self.folder / "memory.events").splitlines():
                name, _, number = line.partition(" ")
                if name == "oom_kill" and int(number) > 0:
                    return True
        return False

    def kill(self) -> None:
        """Kill all that is in it, at once."""
        with suppress(OSError):
            _write(self.folder / "cgroup.kill", "1")
            return
        with suppress(OSError, ValueError):  # a kernel before 5.14
            for pid in _read(self.folder / "cgroup.procs").split():
                os.kill(int(pid), 9)

    def remove(self) -> bool:
        """Remove it, once it is empty; whether it is gone."""
        try:
            _remove(self.folder)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def end(self, *, within_seconds: float = _SWEEP_SECONDS) -> bool:
        """Kill all that is in it and remove it; whether it is gone in that time."""
        deadline = time.monotonic() + within_seconds
        self.kill()
        while not (is_gone := self.remove()) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return is_gone


@dataclass(frozen=True, slots=True)
class Groups:
    """A part of the tree that is the arena's, in ``home``; made by `delegated`."""

    home: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def make(self, *, memory_mib: int, processes: int) -> Group:
        """A group for one bot. Raises OSError where it cannot be made."""
        group = Group(self.home / f"{_PREFIX}{_owner(os.getpid())}-{next(self._numbers)}")
        _make(group.folder)
        try:
            _write(group.folder / "memory.max", str(memory_mib << 20))
            _write(group.folder / "memory.oom.group", "1")
            _write(group.folder / "pids.max", str(processes))
            with suppress(FileNotFoundError):  # a kernel that accounts for no swap
                _write(group.folder / "memory.swap.max", "0")
        except OSError:
            group.remove()
            raise
        return group

    def sweep(self) -> None:
        """End what arenas that are no more have left."""
        with suppress(OSError):
            for folder in self.home.glob(f"{_PREFIX}*"):
                name = re.fullmatch(rf"{_PREFIX}((\d+)-[0-9a-f]+)-\d+", folder.name)
                if name is not None and _owner(int(name[2])) != name[1]:
                    Group(folder).end()


def delegated(*, proc: Path = Path("/proc")) -> Groups:
    """The part of the tree that is this process's own; what others have left there is ended.

    Raises:
        NotDelegatedError: where there is none.
    """
    home = _home(proc)
    try:
        groups = Groups(home)
        missing = [one for one in _NEEDED if one not in _words(home / "cgroup.controllers")]
        if missing:
            raise NotDelegatedError(f"this control group has no controller for {missing[0]}")
        for place in (home, home / "cgroup.procs", home / "cgroup.subtree_control"):
            if not os.access(place, os.W_OK):
                raise NotDelegatedError(f"{place} may not be written to")
        if _SYSTEMD.exists() and not _is_marked(home):
            raise NotDelegatedError("systemd has not delegated this control group (Delegate=yes)")
        groups.sweep()
        if not set(_NEEDED) <= set(_words(home / "cgroup.subtree_control")):
            _move_down(home)
    except OSError as error:
        raise NotDelegatedError(f"{error.filename or home}: {error.strerror}") from error
    return groups


def _home(proc: Path) -> Path:
    """The group that this process is in, or the one above where an arena has moved down from it."""
    try:
        mounts = [line.split() for line in _read(proc / "self/mounts").splitlines()]
        own = [
            line.removeprefix("0::")
            for line in _read(proc / "self/cgroup").splitlines()
            if line.startswith("0::")
        ]
    except OSError:
        raise NotDelegatedError("there are no control groups here") from None
    trees = [words[1] for words in mounts if len(words) > 2 and words[2] == "cgroup2"]
    if not trees or not own:
        raise NotDelegatedError("there are no control groups of version 2 here")
    if own[0].startswith("/.."):
        raise NotDelegatedError("the control group of this process is not in sight")
    home = Path(trees[0]) / own[0].strip("/")
    return home.parent if home.name == _OWN else home


def _move_down(home: Path) -> None:
    own = str(os.getpid())
    if [pid for pid in _words(home / "cgroup.procs") if pid != own]:
        raise NotDelegatedError("other programs are in the control group of this process")
    with suppress(FileExistsError):
        _make(home / _OWN)
    _write(home / _OWN / "cgroup.procs", own)
    _write(home / "cgroup.subtree_control", " ".join(f"+{name}" for name in _NEEDED))


def _is_marked(home: Path) -> bool:
    for mark in _MARKS:
        with suppress(OSError):
            if os.getxattr(home, mark) == b"1":
                return True
    return False


def _owner(pid: int) -> str:
    """What tells an arena from others that had or will have its id."""
    birth = birth_of(pid) or ""
    return f"{pid}-{hashlib.sha256(birth.encode()).hexdigest()[:12]}"


def _words(file: Path) -> list[str]:
    return _read(file).split()


def _read(file: Path) -> str:
    return file.read_text(encoding="ascii", errors="replace")


def _write(file: Path, text: str) -> None:
    """In one call, as the kernel wants it; it makes no such file by being written to."""
    descriptor = os.open(file, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)


def _make(folder: Path) -> None:
    """Make a folder: the kernel puts the files into it."""
    folder.mkdir()


def _remove(folder: Path) -> None:
    """Remove a folder: the kernel takes the files out of it. Not while anything is in the group."""
    folder.rmdir()
