"""Control groups on a folder that stands for the kernel's tree; `tests/sandbox/test_groups.py` has
the kernel's own, where there is one.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.ladder.processes import cgroups
from arena.ladder.processes.cgroups import Groups, NotDelegatedError, delegated

FILES = {
    "cgroup.controllers": "cpu memory pids\n",
    "cgroup.kill": "",
    "cgroup.procs": "",
    "cgroup.subtree_control": "",
    "memory.events": "low 0\noom 0\noom_kill 0\n",
    "memory.max": "max\n",
    "memory.oom.group": "0\n",
    "memory.swap.max": "max\n",
    "pids.max": "max\n",
}


class Tree:
    """What a process sees of control groups: `/proc` and the tree, this process in a group of it.

    Like the kernel it makes files with a folder, and removes them with it once the group is empty.
    """

    def __init__(self, folder: Path) -> None:
        self.proc, self.root = folder / "proc", folder / "tree"
        self.own = self.root / "user" / "scope"
        (self.proc / "self").mkdir(parents=True)
        self.own.parent.mkdir(parents=True)
        self.make(self.own)
        self.now_in(self.own)
        (self.proc / "self/mounts").write_text(
            f"none /somewhere tmpfs rw 0 0\nnone {self.root} cgroup2 rw 0 0\n"
        )

    def make(self, folder: Path) -> None:
        folder.mkdir()
        for name, text in FILES.items():
            (folder / name).write_text(text)

    def remove(self, folder: Path) -> None:
        if (folder / "cgroup.procs").read_text() and not (folder / "cgroup.kill").read_text():
            raise OSError(16, "Device or resource busy")
        shutil.rmtree(folder)

    def now_in(self, group: Path) -> None:
        (group / "cgroup.procs").write_text(f"{os.getpid()}\n")
        (self.proc / "self/cgroup").write_text(f"4:memory:/x\n0::/{group.relative_to(self.root)}\n")

    def delegated(self) -> Groups:
        return delegated(proc=self.proc)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path)
    monkeypatch.setattr(cgroups, "_make", tree.make)
    monkeypatch.setattr(cgroups, "_remove", tree.remove)
    monkeypatch.setattr(cgroups, "_SYSTEMD", tmp_path / "no systemd")
    return tree


def test_the_arena_moves_down_so_that_bots_may_have_groups_beside_it(tree: Tree) -> None:
    assert tree.delegated().home == tree.own
    assert (tree.own / "hokm-arena/cgroup.procs").read_text() == str(os.getpid())
    assert (tree.own / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_one_that_has_moved_down_and_what_it_starts_find_the_same_place(tree: Tree) -> None:
    home = tree.delegated().home
    (home / "cgroup.procs").write_text("")
    (home / "cgroup.subtree_control").write_text("memory pids\n")
    tree.now_in(home / "hokm-arena")
    assert tree.delegated().home == home
    assert (home / "cgroup.subtree_control").read_text() == "memory pids\n"


def test_a_group_has_the_limits_and_its_processes_are_begun_in_it(tree: Tree) -> None:
    group = tree.delegated().make(memory_mib=300, processes=20)
    limits = {
        name: (group.folder / name).read_text()
        for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max")
    }
    assert limits == {
        "memory.max": str(300 << 20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "20",
    }
    words = (*group.entering, "sh", "-c", 'echo "$1"', "sh", "a word")
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert said.stdout == "a word\n"
    assert (group.folder / "cgroup.procs").read_text() == "0\n"


def test_a_command_that_cannot_enter_its_group_is_not_run(tree: Tree) -> None:
    group = tree.delegated().make(memory_mib=300, processes=20)
    tree.remove(group.folder)
    said = subprocess.run(
        (*group.entering, "echo", "run"), capture_output=True, text=True, check=False
    )
    assert said.returncode != 0
    assert said.stdout == ""


def test_each_bot_has_a_group_of_its_own(tree: Tree) -> None:
    groups = tree.delegated()
    made = [groups.make(memory_mib=1, processes=1).folder for _ in range(3)]
    assert len(set(made)) == 3


def test_without_an_account_of_swap_there_is_a_group_all_the_same(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = tree.delegated()
    monkeypatch.delitem(FILES, "memory.swap.max")
    assert groups.make(memory_mib=1, processes=1).folder.exists()


def test_a_group_that_cannot_be_limited_is_not_left(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = tree.delegated()
    monkeypatch.delitem(FILES, "pids.max")
    with pytest.raises(OSError, match=r"pids\.max"):
        groups.make(memory_mib=1, processes=1)
    assert not list(tree.own.glob("hokm-bot-*"))


def test_the_kernel_says_whether_it_killed_for_want_of_memory(tree: Tree) -> None:
    group = tree.delegated().make(memory_mib=1, processes=1)
    assert not group.was_out_of_memory()
    (group.folder / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    assert group.was_out_of_memory()


def test_a_group_is_removed_once_all_in_it_were_killed(tree: Tree) -> None:
    group = tree.delegated().make(memory_mib=1, processes=1)
    (group.folder / "cgroup.procs").write_text("7\n")
    assert not group.remove()
    group.kill()
    assert (group.folder / "cgroup.kill").read_text() == "1"
    assert group.remove()
    assert group.remove()  # it is gone, whoever has done it


def test_what_a_killed_arena_left_is_ended_at_the_next_start_and_nothing_else(tree: Tree) -> None:
    mine = tree.delegated().make(memory_mib=1, processes=1).folder
    left = tree.own / f"hokm-bot-{os.getpid()}-{'0' * 12}-3"  # of another birth
    other = tree.own / "hokm-bots-of-somebody"
    for folder in (left, other):
        tree.make(folder)
        (folder / "cgroup.procs").write_text("7\n")
    tree.delegated()
    assert not left.exists()
    assert mine.exists()
    assert other.exists()


# -- where there are none


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("self/mounts", "none /sys cgroup rw 0 0\n", "version 2"),
        ("self/cgroup", "4:memory:/x\n", "version 2"),
        ("self/cgroup", "0::/../outside\n", "not in sight"),
        ("self/cgroup", "0::/elsewhere\n", "elsewhere"),
    ],
)
def test_without_a_tree_of_version_2_in_sight_there_are_none(
    tree: Tree, file: str, text: str, why: str
) -> None:
    (tree.proc / file).write_text(text)
    with pytest.raises(NotDelegatedError, match=why):
        tree.delegated()


def test_where_there_is_no_proc_there_are_none(tmp_path: Path) -> None:
    with pytest.raises(NotDelegatedError, match="no control groups here"):
        delegated(proc=tmp_path)


def test_without_both_controllers_there_are_none(tree: Tree) -> None:
    (tree.own / "cgroup.controllers").write_text("cpu memory\n")
    with pytest.raises(NotDelegatedError, match="no controller for pids"):
        tree.delegated()


def test_what_is_not_the_arenas_to_write_is_not_delegated(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tree.own / "cgroup.procs"
    monkeypatch.setattr(os, "access", lambda place, mode: place != closed)
    with pytest.raises(NotDelegatedError, match="may not be written to"):
        tree.delegated()


def test_other_programs_are_never_moved(tree: Tree) -> None:
    (tree.own / "cgroup.procs").write_text(f"{os.getpid()}\n4242\n")
    with pytest.raises(NotDelegatedError, match="other programs"):
        tree.delegated()
    assert not (tree.own / "hokm-arena").exists()
    assert (tree.own / "cgroup.subtree_control").read_text() == ""


def test_where_systemd_has_the_tree_it_must_have_delegated_it(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "systemd").mkdir()
    monkeypatch.setattr(cgroups, "_SYSTEMD", tmp_path / "systemd")
    with pytest.raises(NotDelegatedError, match="Delegate=yes"):
        tree.delegated()
    monkeypatch.setattr(os, "getxattr", lambda place, mark: b"1")
    assert tree.delegated().home == tree.own


def test_a_kernel_that_refuses_says_so(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(13, "Permission denied", str(folder))

    monkeypatch.setattr(cgroups, "_make", refuse)
    with pytest.raises(NotDelegatedError, match=r"hokm-arena: Permission denied"):
        tree.delegated()
