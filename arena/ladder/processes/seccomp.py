"""The filter of system calls of a sandbox: a program for the kernel, as bytes.

Namespaces keep a bot from what it can name; this keeps it from calls that reach past them. Refused
is what would make namespaces of its own (and with them, powers within), what looks into other
processes or into the kernel, and what two bots that share nothing but read-only files could signal
each other by: locks and watches on those files, and the kernel's key rings. Memory that no limit
counts is refused too. The rest is allowed: this is no list of what a bot may need. What builds a
bot gets a filter that lets a little more through.

It knows numbers of Linux, and nothing of sandboxes, processes or bots.
"""

import errno
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# linux/bpf_common.h, linux/seccomp.h: loads, jumps, returns; where a call's fields lie.
_LOAD: Final = 0x20
_JUMP_EQUAL: Final = 0x15
_JUMP_AT_LEAST: Final = 0x35
_JUMP_ANY_BIT: Final = 0x45
_RETURN: Final = 0x06
_NUMBER_AT: Final = 0
_MACHINE_AT: Final = 4
_ARGUMENTS_AT: Final = 16  # 8 bytes each; the lower half comes first on both machines
_KILL: Final = 0x80000000
_ERROR: Final = 0x00050000
_ALLOW: Final = 0x7FFF0000

_X32: Final = 0x40000000  # another set of numbers on x86-64, by which the list could be passed by

_NEW_NAMESPACES: Final = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET together (linux/sched.h)."""
_FAMILIES: Final = (1, 2, 10)
"""AF_UNIX, AF_INET and AF_INET6. Others go round the network namespace, AF_VSOCK to the host of a
virtual machine for one.
"""
_LOCK_COMMANDS: Final = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
"""F_GETLK, F_SETLK, F_SETLKW, the same of open file descriptions, leases, F_NOTIFY."""

# asm/unistd_64.h and asm-generic/unistd.h; -1 where a machine has no such call.
_REFUSED: Final[Mapping[str, tuple[int, int]]] = {
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # what two bots could signal each other by
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "flock": (73, 32),
    "inotify_init": (253, -1),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "utime": (132, -1),  # of the devices, which are the machine's own
    "utimes": (235, -1),
    "futimesat": (261, -1),
    "utimensat": (280, 88),
    # memory that no limit of a process counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # the depths of the kernel, where its faults have been
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "syslog": (103, 116),
    "modify_ldt": (154, -1),
    "personality": (135, 92),
}


_WHAT_BUILDS_NEED: Final = frozenset(
    ("flock", "inotify_init", "inotify_init1", "utime", "utimes", "futimesat", "utimensat")
)


@dataclass(frozen=True, slots=True)
class _Machine:
    audit: int  # AUDIT_ARCH_* of linux/audit.h
    column: int
    clone: int
    clone3: int
    fcntl: int
    socket: int


_MACHINES: Final = {
    "x86_64": _Machine(0xC000003E, 0, clone=56, clone3=435, fcntl=72, socket=41),
    "aarch64": _Machine(0xC00000B7, 1, clone=220, clone3=435, fcntl=25, socket=198),
}

MACHINES: Final = tuple(_MACHINES)
"""The machines there is a filter for, as `platform.machine` names them."""


def program(machine: str, *, is_of_builds: bool = False) -> bytes:
    """Return the filter, as ``bwrap --seccomp`` reads it: 8 bytes an instruction. That of builds
    lets locks, watches and times of files through, which compilers need; they know nothing to
    signal.

    Raises:
        KeyError: for a machine that is none of `MACHINES`.
    """
    about = _MACHINES[machine]
    refused = [
        numbers[about.column]
        for name, numbers in _REFUSED.items()
        if not (is_of_builds and name in _WHAT_BUILDS_NEED)
    ]
    code = [
        _step(_LOAD, _MACHINE_AT),
        *_when(_JUMP_EQUAL, about.audit, otherwise=[_step(_RETURN, _KILL)]),
        _step(_LOAD, _NUMBER_AT),
        *_when(_JUMP_AT_LEAST, _X32, then=[_error(errno.ENOSYS)]),
        # The kernel reads its flags out of memory, where a filter cannot look. Libraries take the
        # older call where there is none.
        *_when(_JUMP_EQUAL, about.clone3, then=[_error(errno.ENOSYS)]),
    ]
    for number in refused:
        if number >= 0:
            code += _when(_JUMP_EQUAL, number, then=[_error(errno.EPERM)])
    flags = _when(_JUMP_ANY_BIT, _NEW_NAMESPACES, then=[_error(errno.EPERM)])
    code += _when(_JUMP_EQUAL, about.clone, then=[_argument(0), *flags, _allowed()])
    commands: list[bytes] = []
    for command in () if is_of_builds else _LOCK_COMMANDS:
        commands += _when(_JUMP_EQUAL, command, then=[_error(errno.ENOLCK)])
    code += _when(_JUMP_EQUAL, about.fcntl, then=[_argument(1), *commands, _allowed()])
    families: list[bytes] = []
    for family in _FAMILIES:
        families += _when(_JUMP_EQUAL, family, then=[_allowed()])
    code += _when(
        _JUMP_EQUAL, about.socket, then=[_argument(0), *families, _error(errno.EAFNOSUPPORT)]
    )
    return b"".join((*code, _allowed()))


def _step(code: int, value: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _when(
    jump: int, value: int, *, then: Sequence[bytes] = (), otherwise: Sequence[bytes] = ()
) -> list[bytes]:
    """Do one or the other, each of which must end with a return where both are there."""
    return [
        _step(jump, value, if_true=0 if then else len(otherwise), if_false=len(then)),
        *then,
        *otherwise,
    ]


def _argument(index: int) -> bytes:
    return _step(_LOAD, _ARGUMENTS_AT + 8 * index)


def _error(number: int) -> bytes:
    return _step(_RETURN, _ERROR | number)


def _allowed() -> bytes:
    return _step(_RETURN, _ALLOW)
