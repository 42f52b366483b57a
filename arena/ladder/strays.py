"""Strays: the processes a killed arena left behind, found and ended by the next one.

Each started process is noted in a folder until it is reaped. A note names a process by its id and
its birth, since ids are used again, and carries a fingerprint of the ticket in its environment: the
death signal of its parent ends the leader of a group at once, but not the leader's children, and
those are known by that ticket alone. This module ends processes, it starts none.
"""

import hashlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_TICKET_PREFIX: Final = b"HOKM_TICKET="


@dataclass(frozen=True, slots=True)
class Stray:
    """A process group that was started and not yet reaped.

    Args:
        pid: of the leader, and so of the group.
        birth: of the leader, see `birth_of`.
        fingerprint: SHA-256 of the ticket in its environment, in hex; the ticket itself is secret.
        owner_pid: of the arena that started it.
        owner_birth: of that arena.
    """

    pid: int
    birth: str
    fingerprint: str
    owner_pid: int
    owner_birth: str


def note(folder: Path, pid: int, *, ticket: str) -> Path:
    """Write down that this arena has started the group `pid`; remove the returned file once reaped.

    The process must not have been reaped, so that its id cannot belong to another.
    """
    stray = Stray(
        pid=pid,
        birth=birth_of(pid) or "",
        fingerprint=_fingerprint(ticket.encode()),
        owner_pid=os.getpid(),
        owner_birth=birth_of(os.getpid()) or "",
    )
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{pid}.json"
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(stray)), encoding="utf-8")
    draft.replace(file)  # a kill in mid-write leaves no half note
    return file


def sweep(folder: Path) -> list[Stray]:
    """Kill what arenas that are no more have left according to their notes in `folder`.

    Nothing is killed on the strength of an id alone: the leader's birth must match, or the ticket
    in the environment of one of its children (Linux only). Groups of an arena that still runs are
    left alone. Returns the groups that were killed; their notes are gone, and so are stale ones.
    """
    killed = []
    for file in sorted(folder.glob("*.json")):
        stray = _read(file)
        if stray is not None and birth_of(stray.owner_pid) == stray.owner_birth:
            continue
        if stray is not None and _still_runs(stray):
            with suppress(ProcessLookupError):
                os.killpg(stray.pid, signal.SIGKILL)
                killed.append(stray)
        file.unlink(missing_ok=True)
    return killed


def birth_of(pid: int) -> str | None:
    """Return what tells this process from others that had or will have its id; None if it is gone.

    On Linux the boot's id and the start time in clock ticks since the boot, elsewhere the start
    time to the second as `ps` shows it. A process that has ended but was not reaped still has one.
    """
    if not _PROC.joinpath("self/stat").exists():
        return _birth_from_ps(pid)
    fields = _stat(pid)
    if fields is None:
        return None
    boot = _PROC.joinpath("sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {fields[19]}"  # field 22 of proc(5), the third being the first here


def _birth_from_ps(pid: int) -> str | None:
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    shown = subprocess.run(
        command, capture_output=True, text=True, env={"LC_ALL": "C"}, check=False
    )
    return " ".join(shown.stdout.split()) or None


def _still_runs(stray: Stray) -> bool:
    birth = birth_of(stray.pid)
    if birth is not None:
        return birth == stray.birth
    return any(_carries(pid, stray.fingerprint) for pid in _members(stray.pid))


def _members(group: int) -> Iterator[int]:
    for entry in _PROC.glob("[1-9]*"):
        fields = _stat(int(entry.name))
        if fields is not None and int(fields[2]) == group:  # field 5 of proc(5)
            yield int(entry.name)


def _carries(pid: int, fingerprint: str) -> bool:
    try:
        environment = _PROC.joinpath(str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(
        _fingerprint(line.removeprefix(_TICKET_PREFIX)) == fingerprint
        for line in environment
        if line.startswith(_TICKET_PREFIX)
    )


def _stat(pid: int) -> list[str] | None:
    """Return the fields of /proc/<pid>/stat from the third on; None if there is no such process."""
    try:
        text = _PROC.joinpath(str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()  # the second is the program's name and may hold anything


def _fingerprint(ticket: bytes) -> str:
    return hashlib.sha256(ticket).hexdigest()


def _read(file: Path) -> Stray | None:
    try:
        return Stray(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None  # not a note of ours, or of a version that wrote others
