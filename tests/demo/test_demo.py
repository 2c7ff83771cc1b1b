"""C4: the demo as its users run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest


def run(*arguments: str, within: float = 120) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=within, check=False)


def test_the_group_migrates_and_no_record_is_lost_or_doubled(tmp_path: Path) -> None:
    picture = tmp_path / "timeline.svg"
    done = run("--seconds", "0", "--no-page", "--picture", str(picture))
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(line.split()[:2] for line in done.stdout.splitlines() if line.startswith(("  lost", "  doubled")))
    assert counts == {"lost": "0", "doubled": "0"}
    assert "new-4 is given" in done.stdout
    assert "\x1b" not in done.stdout
    assert "new-4 holds" in " ".join(ElementTree.parse(picture).getroot().itertext())


@pytest.mark.broker
def test_it_is_the_same_on_a_real_broker(tmp_path: Path) -> None:
    done = run("--kafka", "--seconds", "0", "--picture", str(tmp_path / "timeline.svg"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_cluster_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    done = run("--cluster", "127.0.0.1:1", "--picture", str(tmp_path / "timeline.svg"))
    assert done.returncode == 2
    assert done.stderr.startswith("kip848-proxy demo: no broker there: 127.0.0.1:1: ")
