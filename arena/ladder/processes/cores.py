"""How many cores this process may really use: by affinity, and by the quota of its control group.

``os.cpu_count`` counts the machine. A container that is allowed two of its sixty-four cores would
be told to run thirty-two times as many rooms as it can, and its bots would lose on time for it.
"""

import os
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


def usable_cores(*, cgroups: Path = _CGROUPS, membership: Path = Path("/proc/self/cgroup")) -> int:
    """Cores by affinity (all of the machine's where the system has none), at most the quota rounded
    down; at least 1.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    quota = _quota(cgroups, membership)
    return max(1, cores if quota is None else min(cores, int(quota)))


def _quota(cgroups: Path, membership: Path) -> float | None:
    """The tightest CPU quota on the way up from our control group, in cores; None where there is
    none.
    """
    quotas = [
        quota for folder in _folders(cgroups, membership) if (quota := _read(folder)) is not None
    ]
    return min(quotas, default=None)


def _folders(cgroups: Path, membership: Path) -> list[Path]:
    """Our groups and all above them, in the unified hierarchy (v2) and in the cpu controller's."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return []
    folders: list[Path] = []
    for line in lines:  # "0::/path" in v2, "4:cpu,cpuacct:/path" in v1
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = cgroups / controllers if controllers else cgroups
        inner = root / path.lstrip("/")
        folders += [inner, *(above for above in inner.parents if above.is_relative_to(root))]
    return folders


def _read(folder: Path) -> float | None:
    try:
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        quota_us = int((folder / "cpu.cfs_quota_us").read_text())
        period_us = int((folder / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None
    return quota_us / period_us if quota_us > 0 else None
