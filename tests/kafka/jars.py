"""Jars by Maven, copied once into .build and shared by all who need them at the same time."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Where it is a link, as in a copy of the tree, JVMs map what was archived beside the real one.
BUILD = (ROOT / ".build").resolve()


def jars(pom: Path, target: Path, **properties: str) -> Path:
    """The folder with the pom's dependencies. The mark is written last, so a broken copy is made again."""
    mark = target / ".complete"
    target.mkdir(parents=True, exist_ok=True)
    with (target.parent / f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists():
            given = [f"-D{name.replace('_', '.')}={value}" for name, value in properties.items()]
            copy = [
                "mvn",
                "-q",
                "-B",
                "-f",
                str(pom),
                *given,
                "dependency:copy-dependencies",
                f"-DoutputDirectory={target}",
            ]
            done = subprocess.run(copy, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"Maven could not copy the jars of {pom} {properties}:\n{done.stdout}{done.stderr}")
            mark.touch()
    return target


def broker_jars(version: str) -> Path:
    return jars(ROOT / "tests/kafka/pom.xml", BUILD / "kafka" / version, kafka_version=version)


def client_jars(version: str) -> Path:
    return jars(ROOT / "kafka_protocol/generator/pom.xml", BUILD / "clients" / version, clients_version=version)
