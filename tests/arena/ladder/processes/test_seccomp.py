"""The filter of system calls, judged by a machine for it that is written here."""

import errno
import struct

import pytest

from arena.ladder.processes.seccomp import MACHINES, program

ALLOWED = 0x7FFF0000
KILLED = 0x80000000
ERROR = 0x00050000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# asm/unistd_64.h and asm-generic/unistd.h
NUMBERS = {
    "x86_64": {"read": 0, "clone": 56, "clone3": 435, "fcntl": 72, "socket": 41, "flock": 73}
    | {
        "utimensat": 280,
        "ptrace": 101,
        "unshare": 272,
        "memfd_create": 319,
        "keyctl": 250,
        "execve": 59,
    },
    "aarch64": {"read": 63, "clone": 220, "clone3": 435, "fcntl": 25, "socket": 198, "flock": 32}
    | {
        "utimensat": 88,
        "ptrace": 117,
        "unshare": 97,
        "memfd_create": 279,
        "keyctl": 219,
        "execve": 221,
    },
}


def judged(
    machine: str,
    number: int,
    *arguments: int,
    audit: int | None = None,
    is_of_builds: bool = False,
) -> int:
    """What the filter says to a call (linux/seccomp.h, struct seccomp_data)."""
    words = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=iIQ6Q", number, AUDIT[machine] if audit is None else audit, 0, *words)
    code = list(struct.iter_unpack("=HBBI", program(machine, is_of_builds=is_of_builds)))
    place = value = 0
    while True:
        operation, if_true, if_false, operand = code[place]
        place += 1
        match operation:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x15:
                place += if_true if value == operand else if_false
            case 0x35:
                place += if_true if value >= operand else if_false
            case 0x45:
                place += if_true if value & operand else if_false
            case 0x06:
                return int(operand)
            case _:
                raise AssertionError(f"there is no operation {operation:#x}")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "verdict"),
    [
        ("read", (0, 0, 10), ALLOWED),
        ("execve", (1, 2, 3), ALLOWED),
        ("flock", (3, 2), ERROR | errno.EPERM),
        ("ptrace", (16, 1), ERROR | errno.EPERM),
        ("unshare", (0,), ERROR | errno.EPERM),
        ("keyctl", (), ERROR | errno.EPERM),
        ("utimensat", (), ERROR | errno.EPERM),
        ("memfd_create", (), ERROR | errno.EPERM),
        ("clone3", (), ERROR | errno.ENOSYS),
        ("clone", (0x11,), ALLOWED),
        ("clone", (0x3D0F00,), ALLOWED),  # a thread, as glibc makes it
        ("clone", (0x10000011,), ERROR | errno.EPERM),
        ("clone", (0x00020011,), ERROR | errno.EPERM),
        ("fcntl", (3, 3), ALLOWED),  # F_GETFL
        ("fcntl", (3, 1030), ALLOWED),  # F_DUPFD_CLOEXEC
        ("fcntl", (3, 6), ERROR | errno.ENOLCK),
        ("fcntl", (3, 37), ERROR | errno.ENOLCK),
        ("socket", (1, 1), ALLOWED),
        ("socket", (10, 1), ALLOWED),
        ("socket", (40, 1), ERROR | errno.EAFNOSUPPORT),  # AF_VSOCK
        ("socket", (16, 3), ERROR | errno.EAFNOSUPPORT),  # AF_NETLINK
    ],
)
def test_a_call_is_judged_by_its_number_and_arguments(
    machine: str, call: str, arguments: tuple[int, ...], verdict: int
) -> None:
    assert judged(machine, NUMBERS[machine][call], *arguments) == verdict


@pytest.mark.parametrize("machine", MACHINES)
def test_the_upper_half_of_an_argument_hides_nothing(machine: str) -> None:
    """The kernel looks at the lower half of a family and of flags alone."""
    assert judged(machine, NUMBERS[machine]["socket"], 40 | 1 << 32) != ALLOWED
    assert judged(machine, NUMBERS[machine]["fcntl"], 3, 6 | 1 << 32) != ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_of_another_machine_are_not_taken(machine: str) -> None:
    assert judged(machine, NUMBERS[machine]["read"], audit=0x40000003) == KILLED
    assert judged(machine, 0x40000000 | 101) == ERROR | errno.ENOSYS


def test_there_is_no_filter_for_a_machine_whose_numbers_are_not_known() -> None:
    with pytest.raises(KeyError):
        program("sparc")


@pytest.mark.parametrize("machine", MACHINES)
def test_builds_may_lock_and_mark_files_and_nothing_more(machine: str) -> None:
    numbers = NUMBERS[machine]
    for call in ("flock", "utimensat"):
        assert judged(machine, numbers[call], is_of_builds=True) == ALLOWED
        assert judged(machine, numbers[call]) != ALLOWED
    assert judged(machine, numbers["fcntl"], 3, 6, is_of_builds=True) == ALLOWED  # F_SETLK
    assert judged(machine, numbers["fcntl"], 3, 6) != ALLOWED
    for call in ("ptrace", "unshare", "memfd_create", "keyctl"):
        assert judged(machine, numbers[call], is_of_builds=True) == ERROR | errno.EPERM
