"""Strays: the processes a killed arena left behind, found and ended by the next one.

Each bot is noted in a folder from just before its start until it is reaped. A note names a process
by its id and its birth, since ids are used again, and carries a fingerprint of the ticket in its
environment: the death signal of its parent ends the leader of a group at once, but not what the
leader has started, and that is known by its ticket alone. This module ends processes, it starts
none.
"""

import hashlib
import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_TICKET_PREFIX: Final = b"HOKM_TICKET="
_DRAFT: Final = ".draft"
_LONGEST_NOTE_BYTES: Final = 4096  # ours have some 300
_PASSES: Final = 5  # what is killed may just have started another


@dataclass(frozen=True, slots=True)
class Stray:
    """A process group that is started and not yet reaped.

    Args:
        pid: of the leader, and so of the group; None while it is not known.
        birth: of the leader, see `birth_of`; empty while it is not known.
        fingerprint: SHA-256 of the ticket in its environment, in hex; the ticket itself is secret.
        owner_pid: of the arena that started it.
        owner_birth: of that arena.
    """

    pid: int | None
    birth: str
    fingerprint: str
    owner_pid: int
    owner_birth: str


@dataclass(frozen=True, slots=True)
class Process:
    """A process as Linux shows it, with the ids of its parent, group and session; `started_ticks`
    are clock ticks since the system's start.
    """

    pid: int
    parent: int
    group: int
    session: int
    started_ticks: int


def note(folder: Path, *, ticket: str, pid: int | None = None) -> Path:
    """Write down that this arena starts, or has started, the group `pid`; remove the returned file,
    always the same for a ticket, once the group was reaped.

    First without a pid, so that a kill at any moment leaves a note of what was just started; then
    with it, while the process cannot have been reaped and its id not belong to another. Raises
    OSError, which names the note.
    """
    fingerprint = fingerprint_of_ticket(ticket.encode())
    stray = Stray(
        pid=pid,
        birth=(pid and birth_of(pid)) or "",
        fingerprint=fingerprint,
        owner_pid=os.getpid(),
        owner_birth=birth_of(os.getpid()) or "",
    )
    name = fingerprint[:16]
    file = folder / f"{name}.json"
    draft = folder / f"{name}.{os.getpid()}{_DRAFT}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(asdict(stray)), encoding="utf-8")
        draft.replace(file)  # a kill in mid-write leaves no half note
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise OSError(error.errno, error.strerror, os.fspath(file)) from error
    return file


def sweep(folder: Path) -> list[Stray]:
    """Kill what arenas that are no more have left according to their notes in `folder`.

    Nothing is killed on the strength of an id alone: the leader's birth must match, or else the
    ticket in a process's environment, whatever group or session that has gone to (Linux only); with
    it go its group and all it has started. Not found is what has both cleared its environment and
    left its group, once its parent has ended. Groups of an arena that still runs are left alone.

    Returns the groups of which something was killed; all notes but those of a living arena are gone
    then.
    """
    orphaned: dict[Path, Stray] = {}
    for file in sorted(folder.glob("*.json")):
        stray = _read(file)
        if stray is None:
            with suppress(OSError):  # a folder of that name stays where it is
                file.unlink(missing_ok=True)
        elif birth_of(stray.owner_pid) != stray.owner_birth:
            orphaned[file] = stray
    killed: set[Stray] = set()
    for number in range(_PASSES if orphaned else 0):
        found = _found(orphaned.values())
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for stray in orphaned.values():
            if stray.pid is None or stray in killed:
                continue
            if birth_of(stray.pid) == stray.birth:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(stray.pid, signal.SIGKILL)
                    killed.add(stray)
        killed |= set(found.values())
        if not found and number > 0:  # the environment of one that was just exec'd shows empty
            break
    for file in (*orphaned, *_drafts(folder)):
        file.unlink(missing_ok=True)
    return [stray for stray in orphaned.values() if stray in killed]


def _drafts(folder: Path) -> Iterator[Path]:
    """What arenas that are no more were writing as they were killed."""
    for file in folder.glob(f"*{_DRAFT}"):
        owner = file.name.split(".")[1]
        if not owner.isdecimal() or birth_of(int(owner)) is None:
            yield file


def birth_of(pid: int) -> str | None:
    """Return what tells this process from others that had or will have its id; None if it is gone.

    On Linux the boot's id and the start time in clock ticks since the boot, elsewhere the start
    time to the second as `ps` shows it. A process that has ended but was not reaped still has one.
    """
    if not _PROC.joinpath("self/stat").exists():
        return _birth_from_ps(pid)
    process = process_of(pid)
    if process is None:
        return None
    boot = _PROC.joinpath("sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {process.started_ticks}"


def process_of(pid: int) -> Process | None:
    """Return what Linux says of a process that has not been reaped; None if it is gone, and on
    other systems.
    """
    try:
        text = _PROC.joinpath(str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # As in proc(5) from the third field on; the second is the program's name and may hold anything.
    fields = text.rpartition(")")[2].split()
    return Process(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        started_ticks=int(fields[19]),
    )


def eldest_below(pid: int, levels: int) -> int | None:
    """Return the eldest child of the eldest child, and so on, so many levels down; None where there
    is none. One that is adopted is the youngest.
    """
    for _ in range(levels):
        try:
            children = _PROC.joinpath(f"{pid}/task/{pid}/children").read_text(encoding="ascii")
            pid = int(children.split()[0])
        except (OSError, ValueError, IndexError):
            return None
    return pid


def fingerprint_of(pid: int) -> str | None:
    """Return that of the ticket in the environment a process was started with; None without one,
    and where it is not shown.
    """
    try:
        environment = _PROC.joinpath(str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    tickets = (line for line in environment if line.startswith(_TICKET_PREFIX))
    ticket = next(tickets, None)
    return None if ticket is None else fingerprint_of_ticket(ticket.removeprefix(_TICKET_PREFIX))


def fingerprint_of_ticket(ticket: bytes) -> str:
    """Return what a ticket is known by where it must not be read itself."""
    return hashlib.sha256(ticket).hexdigest()


def _birth_from_ps(pid: int) -> str | None:
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    shown = subprocess.run(
        command, capture_output=True, text=True, env={"LC_ALL": "C"}, check=False
    )
    return " ".join(shown.stdout.split()) or None


def _found(strays: Iterable[Stray]) -> dict[int, Stray]:
    """What is there of them, by the tickets that processes carry: which process is whose."""
    by_fingerprint = {stray.fingerprint: stray for stray in strays}
    processes = {process.pid: process for process in _processes()}
    found = {
        pid: by_fingerprint[fingerprint]
        for pid in processes
        if (fingerprint := fingerprint_of(pid)) in by_fingerprint
    }
    groups = {stray.pid: stray for pid, stray in found.items() if processes[pid].group == stray.pid}
    is_growing = True
    while is_growing:  # until nothing they have started is missing
        more = {
            pid: stray
            for pid, process in processes.items()
            if pid not in found
            and (stray := groups.get(process.group) or found.get(process.parent)) is not None
        }
        found |= more
        is_growing = bool(more)
    found.pop(os.getpid(), None)
    return found


def _processes() -> Iterator[Process]:
    for entry in _PROC.glob("[1-9]*"):
        process = process_of(int(entry.name))
        if process is not None:
            yield process


def _read(file: Path) -> Stray | None:
    """The note; None for what is none of ours, or of a version that wrote others."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe would have us wait
            return None
        with file.open("rb") as stream:
            data = stream.read(_LONGEST_NOTE_BYTES + 1)
        stray = Stray(**json.loads(data)) if len(data) <= _LONGEST_NOTE_BYTES else None
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return stray if stray is not None and _is_possible(stray) else None


def _is_possible(stray: Stray) -> bool:
    # What is killed by a number must be one: 0 would be the group of this very process.
    pids = (stray.owner_pid,) if stray.pid is None else (stray.pid, stray.owner_pid)
    texts = (stray.birth, stray.fingerprint, stray.owner_birth)
    return all(type(pid) is int and 1 < pid < 2**31 for pid in pids) and all(
        isinstance(text, str) for text in texts
    )
