"""How many cores may be used, on made-up control groups."""

import os
from pathlib import Path

import pytest

from arena.ladder.processes.cores import usable_cores


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)


def _membership(folder: Path, text: str) -> Path:
    file = folder / "membership"
    file.write_text(text)
    return file


def test_without_control_groups_affinity_decides(tmp_path: Path) -> None:
    assert usable_cores(cgroups=tmp_path, membership=tmp_path / "absent") == 8


def test_a_quota_of_the_unified_hierarchy_counts_wherever_it_stands_above_us(
    tmp_path: Path,
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "cpu.max").write_text("250000 100000\n")
    (inner / "cpu.max").write_text("max 100000\n")
    assert usable_cores(cgroups=tmp_path, membership=_membership(tmp_path, "0::/a/b\n")) == 2


def test_a_quota_of_the_older_hierarchy_counts(tmp_path: Path) -> None:
    folder = tmp_path / "cpu,cpuacct" / "job"
    folder.mkdir(parents=True)
    (folder / "cpu.cfs_quota_us").write_text("300000\n")
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    text = "5:memory:/job\n4:cpu,cpuacct:/job\n0::/\n"
    assert usable_cores(cgroups=tmp_path, membership=_membership(tmp_path, text)) == 3


def test_less_than_a_core_is_one(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    assert usable_cores(cgroups=tmp_path, membership=_membership(tmp_path, "0::/\n")) == 1
