"""What the kernel says of a process: how long it computed, how much memory it holds and held."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int | None) -> float:
    """Of the process and its children, living and ended; none for direct, where no process stands between."""
    return sum(_own_ticks(each) for each in _family(pid)) / TICKS if pid is not None else 0.0


def resident_megabytes(pid: int) -> float:
    return sum(_status(each, "VmRSS") for each in _family(pid))


def peak_megabytes(pid: int) -> float:
    """The most it held since `forget_peak`."""
    return sum(_status(each, "VmHWM") for each in _family(pid))


def forget_peak(pid: int) -> None:
    for each in _family(pid):
        # proc(5): 5 makes the high-water mark what is resident now.
        Path(f"/proc/{each}/clear_refs").write_text("5")


def _family(pid: int) -> Iterator[int]:
    yield pid
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            yield from _family(int(child))


def _own_ticks(pid: int) -> int:
    """utime, stime, and both again for children that have ended (fields 14 to 17 of proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15])


def _status(pid: int, name: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024
