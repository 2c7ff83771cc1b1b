"""Spark's Kafka connector: its jars by Maven, copied once beside the user's other caches."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.asking import CannotBeDone, first_line

POM = Path(__file__).parent / "pom.xml"


class NoConnector(CannotBeDone):
    """Maven could not bring the jars."""


def folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return cache / "kip848-pipeline" / "spark-4.2.0"


def jars() -> list[Path]:
    """The folder comes to be whole or not at all, whoever else copies at the same time."""
    target = folder()
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target.parent) as place:
            whole = Path(place) / target.name
            _copy(whole)
            try:
                whole.rename(target)
            except OSError:
                if not target.exists():
                    raise
    return sorted(target.glob("*.jar"))


def _copy(target: Path) -> None:
    if shutil.which("mvn") is None:
        raise NoConnector(
            f"Maven brings Spark's Kafka connector, and there is no mvn on the PATH: install it, or put the jars that {POM}"
            f" names into {folder()}"
        )
    copy = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
    done = subprocess.run(copy, capture_output=True, text=True, check=False)
    if done.returncode:
        why = first_line(RuntimeError(done.stdout + done.stderr))
        raise NoConnector(f"Maven could not bring Spark's Kafka connector: {why}. `{shlex.join(copy)}` says more")
