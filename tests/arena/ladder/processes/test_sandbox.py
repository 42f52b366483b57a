"""What a sandbox is asked for, and what is said where there is none."""

import os
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest

from arena.ladder.bots.entrants import Limits
from arena.ladder.processes import cgroups
from arena.ladder.processes import sandbox as module
from arena.ladder.processes.sandbox import (
    DEFAULT_MEMORY_MIB,
    DEFAULT_PROCESSES,
    MOST_MEMORY_MIB,
    MOST_PROCESSES,
    WRAPPERS,
    Sandbox,
    SandboxError,
    bounds_of,
    bounds_of_build,
    find_bwrap,
    how_it_hit_a_limit,
    prepare,
)

BOUNDS = bounds_of(Limits(memory_mib=300, processes=20), seconds=90.0)


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(
        bwrap="/usr/bin/bwrap", folder=tmp_path, python=sys.executable, shown=(), is_root=False
    )


def test_a_bot_that_asks_for_nothing_gets_the_default() -> None:
    bounds = bounds_of(Limits(), seconds=1.0)
    assert (bounds.memory_mib, bounds.processes) == (DEFAULT_MEMORY_MIB, DEFAULT_PROCESSES)


def test_a_bot_gets_what_it_asks_for_up_to_what_anybody_gets() -> None:
    assert (BOUNDS.memory_mib, BOUNDS.processes) == (300, 20)
    bounds = bounds_of(Limits(memory_mib=10**9, processes=10**9), seconds=1.0)
    assert (bounds.memory_mib, bounds.processes) == (MOST_MEMORY_MIB, MOST_PROCESSES)


def test_its_limits_are_in_the_command(sandbox: Sandbox) -> None:
    words = sandbox.around(("python3", "bot.py"), folder=Path("/somewhere"), bounds=BOUNDS)
    assert {f"--data={300 << 20}:{300 << 20}", "--nproc=21:21", "--cpu=90:91"} <= set(words)


def test_no_ticket_stands_in_the_command_and_nothing_of_the_operator_is_shown(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    words = sandbox.around(("sh", "bot.sh"), folder=Path("/somewhere"), bounds=BOUNDS)
    shown = shown_by(words)
    ours = {str(tmp_path / name) for name in ("referee.sock", "empty", "passwd", "group")}
    rest = [place for place in shown if place not in ours]
    assert not [place for place in rest if not place.startswith(("/usr", "/etc", "/somewhere"))]
    assert "HOKM_TICKET" not in words


def shown_by(words: Sequence[str]) -> list[str]:
    return [source for option, source in pairwise(words) if option.endswith(("bind", "bind-try"))]


def test_a_program_of_ones_own_is_shown_with_its_tree_and_never_a_home(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tool/bin", "tool/lib", "home/bin", "home/lib"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/tool/bin:{tmp_path}/home/bin")
    for home in ("tool", "home"):
        program = tmp_path / home / "bin" / "engine"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        words = sandbox.around((str(program),), folder=Path("/somewhere"), bounds=BOUNDS)
        assert (str(tmp_path / home) in shown_by(words)) is (home == "tool")
        assert (str(program) in shown_by(words)) is (home == "home")


def test_a_program_that_is_named_in_full_shows_nothing_that_the_operator_did_not_put_on_path(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("bots/0f/bin", "bots/0f/lib", "home/.local/bin", "home/.local/lib"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("PATH", f"/usr/bin:/bin:{tmp_path}/home/.local/bin")
    for name in ("bots/0f/bin/engine", "bots/0f/engine", "home/.local/bin/engine"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "root").symlink_to("/")
    usual = shown_by(sandbox.around(("./engine",), folder=Path("/somewhere"), bounds=BOUNDS))
    for program in (
        "/var/run/../bin/sh",
        "/proc/self/root/bin/sh",
        "/usr/bin/../../bin/sh",
        f"{tmp_path}/root/bin/sh",
        f"{tmp_path}/bots/0f/bin/engine",
        f"{tmp_path}/bots/0f/engine",
        f"{tmp_path}/home/.local/bin/../../.local/bin/engine",
    ):
        words = sandbox.around((program,), folder=Path("/somewhere"), bounds=BOUNDS)
        assert shown_by(words) == usual, program
    for program in ("engine", f"{tmp_path}/home/.local/bin/engine"):
        words = sandbox.around((program,), folder=Path("/somewhere"), bounds=BOUNDS)
        assert [place for place in shown_by(words) if place not in usual] == [
            f"{tmp_path}/home/.local/bin/engine"
        ]


def test_the_interpreter_of_a_bots_own_environment_is_shown_with_its_packages(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    for name in ("kept/bin", "kept/lib"):
        (tmp_path / name).mkdir(parents=True)
    python = tmp_path / "kept" / "bin" / "python"
    python.symlink_to(sys.executable)
    argv = (str(python), "bot.py")
    folder = Path("/somewhere")
    words = sandbox.around(argv, folder=folder, bounds=BOUNDS, python=python)
    assert str(tmp_path / "kept") in shown_by(words)
    assert str(tmp_path / "kept") not in shown_by(
        sandbox.around(argv, folder=folder, bounds=BOUNDS)
    )


@pytest.mark.parametrize(
    ("code", "log", "said"),
    [
        (-signal.SIGXCPU, "", "it had 90 s of CPU"),
        (-signal.SIGXFSZ, "", "a file may have 64 MiB"),
        (1, "Traceback\nMemoryError\n", "a process of it may have 300 MiB"),
        (-signal.SIGABRT, "FATAL ERROR: JavaScript heap out of memory", "300 MiB"),
        (1, "RuntimeError: can't start new thread", "20 processes and threads"),
        (1, "OSError: [Errno 28] No space left on device", "/tmp and /dev/shm have 64 MiB each"),
        (-signal.SIGKILL, "", "killed from outside"),
    ],
)
def test_a_limit_that_a_bot_ended_at_is_named(code: int, log: str, said: str) -> None:
    assert said in how_it_hit_a_limit(code, log_tail=log, bounds=BOUNDS)


@pytest.mark.parametrize(("code", "log"), [(0, "MemoryError"), (1, "ValueError"), (-11, "")])
def test_what_is_no_limit_is_called_none(code: int, log: str) -> None:
    assert how_it_hit_a_limit(code, log_tail=log, bounds=BOUNDS) == ""


def test_memory_of_all_its_processes_together_is_named_before_what_its_log_says() -> None:
    said = how_it_hit_a_limit(
        -signal.SIGKILL, log_tail="MemoryError", bounds=BOUNDS, is_out_of_memory=True
    )
    assert said == "its processes together may have 300 MiB of memory"


def test_a_control_group_has_room_for_what_is_around_a_bot(sandbox: Sandbox) -> None:
    asked: list[tuple[int, int]] = []

    class Groups:
        def make(self, *, memory_mib: int, processes: int) -> None:
            asked.append((memory_mib, processes))

    assert sandbox.group(BOUNDS) is None
    replace(sandbox, groups=cast(cgroups.Groups, Groups())).group(BOUNDS)
    assert asked == [(300, 20 + WRAPPERS)]


def test_a_build_writes_to_its_folder_and_gets_more_room(sandbox: Sandbox) -> None:
    bounds = bounds_of_build(seconds=600.0)
    for has_network in (True, False):
        words = sandbox.around_build(
            ("make",), folder=Path("/somewhere"), bounds=bounds, has_network=has_network
        )
        assert ("--bind", "/somewhere") in list(pairwise(words))
        assert ("--unshare-net" in words) is not has_network
        assert ("/etc/resolv.conf" in words) is has_network
        assert not any("referee.sock" in word for word in words)
        assert f"--fsize={1024 << 20}:{1024 << 20}" in words
    free = sandbox.around(("make",), folder=Path("/somewhere"), bounds=BOUNDS)
    assert "--unshare-net" in free


# -- where there is none


def without(monkeypatch: pytest.MonkeyPatch, complaint: str) -> None:
    """A bubblewrap that says only that."""

    class Tried:
        returncode = 1
        stderr = f"setting up\n{complaint}\n"

    monkeypatch.setattr(subprocess, "run", lambda *_, **__: Tried())
    monkeypatch.setattr(module, "find_bwrap", lambda: "/usr/bin/bwrap")


@pytest.mark.skipif(sys.platform != "linux", reason="there the first line says that it is not")
@pytest.mark.parametrize(
    ("settings", "user", "complaint", "remedy"),
    [
        ({}, 1, "bwrap: Unknown option --size", "too old"),
        ({}, 0, "bwrap: Creating new namespace failed", "CAP_SYS_ADMIN"),
        ({}, 1, "bwrap: setting up uid map: Permission denied", "the kernel refuses"),
        ({"/proc/sys/user/max_user_namespaces": "0"}, 1, "bwrap: No space", "user.max_user_names"),
        (
            {"/proc/sys/kernel/unprivileged_userns_clone": "0"},
            1,
            "bwrap: No permissions",
            "unprivileged_userns_clone=1",
        ),
        (
            {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"},
            1,
            "bwrap: setting up uid map: Permission denied",
            "AppArmor",
        ),
        ({}, 1, "sh: 1: /somewhere/python: Permission denied", "readable to everybody"),
    ],
)
def test_what_is_missing_is_said_in_a_line_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    settings: dict[str, str],
    user: int,
    complaint: str,
    remedy: str,
) -> None:
    without(monkeypatch, complaint)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(module, "_setting", lambda file: settings.get(file, ""))
    with pytest.raises(SandboxError) as raised:
        prepare(tmp_path, python=sys.executable)
    assert remedy in str(raised.value)
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)


def test_without_bubblewrap_it_is_said_where_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "find_bwrap", lambda: None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(SandboxError, match=r"hokm-arena\[sandbox\]"):
        prepare(tmp_path, python=sys.executable)


def test_elsewhere_than_on_linux_and_on_other_machines_there_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(SandboxError, match="riscv64"):
        prepare(tmp_path, python=sys.executable)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="Linux"):
        prepare(tmp_path, python=sys.executable)


def test_the_systems_bubblewrap_comes_before_the_wheels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "bwrap"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_bwrap() == str(own)
    own.unlink()
    assert find_bwrap() != str(own)
