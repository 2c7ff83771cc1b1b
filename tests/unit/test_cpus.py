"""How many CPUs a process may use, in a container and out of one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proxy.cpus import cpus


@pytest.mark.parametrize(
    ("said", "allowed"),
    [("max 100000", 8), ("150000 100000", 1.5), ("2000000 100000", 8), ("nothing of the kind", 8)],
)
def test_of_a_containers_share_a_part_may_be_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, allowed: float
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    own = tmp_path / "cgroup"
    own.write_text("9:cpu:/old\n0::/pod/this\n")
    (tmp_path / "pod/this").mkdir(parents=True)
    (tmp_path / "pod/this/cpu.max").write_text(said)
    assert cpus(own, tmp_path) == allowed


def test_without_control_groups_it_may_use_those_it_may_run_on(tmp_path: Path) -> None:
    assert cpus(tmp_path / "nothing", tmp_path) == len(os.sched_getaffinity(0))
