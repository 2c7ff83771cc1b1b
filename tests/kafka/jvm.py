"""How the JVMs of tests are started: they are many, and live briefly.

The optimising compiler would not pay for itself, nor do counters that are kept twenty times a second for nobody. And most
of what a young broker does is to load classes, the same as the one before it: so the first of a version leaves an archive of
them, which the others map (class data sharing): they are there in 1.5 s instead of 2.7.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from tests.kafka.jars import BUILD

BRIEFLY = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
ARCHIVES = BUILD / "classes"


def archived(name: str, beside: Sequence[Path], run: Callable[[list[str]], None], java: str = "java") -> list[str]:
    """Options with which a JVM maps the archive of that name. Where there is none yet, `run` runs a JVM with the options
    it is given: that does what all others will, and ends in order. `beside` is where its classes are."""
    ARCHIVES.mkdir(parents=True, exist_ok=True)
    archive = ARCHIVES / f"{name}-{_made(java, *beside)}.jsa"
    with archive.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            unfinished = archive.with_suffix(".unfinished")
            unfinished.unlink(missing_ok=True)
            run([f"-XX:ArchiveClassesAtExit={unfinished}"])
            # Of a JVM that can make none an empty one is kept, which no JVM uses: it is not asked again.
            unfinished.touch()
            unfinished.rename(archive)
    return [f"-XX:SharedArchiveFile={archive}"]


def _made(java: str, *beside: Path) -> str:
    """Which they are: no archive is of use to another Java, nor beside other classes, or the same from another time."""
    files = [each for each in (Path(shutil.which(java) or java).resolve(), *beside) if each.exists()]
    return sha256("".join(f"{each}{each.stat().st_mtime_ns}" for each in files).encode()).hexdigest()[:8]
