"""Spark's Kafka connector: its jars by Maven, copied once beside the user's other caches."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

POM = Path(__file__).parent / "pom.xml"
COUNT = 4


class NoConnector(RuntimeError):
    """Maven could not bring the jars."""


def folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return cache / "kip848-pipeline" / "spark-4.2.0"


def jars() -> list[Path]:
    target = folder()
    if len(found := sorted(target.glob("*.jar"))) == COUNT:
        return found
    copy = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
    done = subprocess.run(copy, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoConnector(f"Maven could not copy Spark's Kafka connector:\n{done.stdout}{done.stderr}")
    return sorted(target.glob("*.jar"))
