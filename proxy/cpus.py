"""How many CPUs this process may use: of a container's share, a part may be all."""

from __future__ import annotations

import os
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


def cpus(own: Path = Path("/proc/self/cgroup"), groups: Path = GROUPS) -> float:
    """Those it may run on, or the quota of its control group (version 2) where that is less."""
    allowed = len(os.sched_getaffinity(0))
    try:
        # "0::/the/group": of a container that sees only its own, "0::/".
        group = own.read_text().strip().rpartition("::")[2].lstrip("/")
        quota, period = (groups / group / "cpu.max").read_text().split()
        return allowed if quota == "max" else min(allowed, int(quota) / int(period))
    except (OSError, ValueError):
        return allowed
