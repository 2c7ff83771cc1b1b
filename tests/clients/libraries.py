"""The libraries: what builds each program, and what runs it."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.kafka import Cluster
from tests.kafka.jars import BUILD, jars
from tests.kafka.jvm import BRIEFLY, archived

HERE = Path(__file__).parent
BUILT = BUILD / "clients"
JAVA_OLDEST, JAVA_NEWEST = "3.9.1", "4.4.0"
# What the JVM has to say for itself is not among the program's events.
JVM = ["java", "-Xmx128m", *BRIEFLY, "-Xlog:disable", "-Xlog:all=warning:stderr"]
# Symbols and debugging information are half of a program, and a third of the time that linking takes. Without the latter,
# and without inlining, compiling takes two thirds as long. And Go's own library is compiled once for all who build alike.
GO_HASTE = ["-ldflags=-s -w", "-gcflags=all=-l -dwarf=false"]
GO_OLDER = ["-modfile=older.mod", "-tags=older"]
GO_BUILD = ["go", "build", "-buildvcs=false", "-mod=readonly", *GO_HASTE]
# What nearly all Java programs do, and the event with which each of it is done.
LIFE: list[tuple[dict[str, Any], str]] = [
    ({"do": "produce", "topic": "topic", "count": 10, "first": 0, "settings": {}}, "produced"),
    (
        {"do": "subscribe", "topics": ["topic"], "group": "group", "protocol": "classic", "commit": "auto"}
        | {"revoke_ms": 0, "settings": {}, "strategy": None, "instance_id": None, "transform": None}
        | {"session_timeout_ms": None, "heartbeat_interval_ms": None, "max_poll_interval_ms": None},
        "records",
    ),
    ({"do": "close"}, "closed"),
]


class Library(NamedTuple):
    # Prepares what is needed, once, and answers the command line.
    command: Callable[[], list[str]]
    # Tools without which the library is left out.
    needs: tuple[str, ...] = ()
    # What `Client.subscribe(strategy=…)` may say; the first is the library's default.
    strategies: tuple[str, ...] = ("range",)
    mechanisms: tuple[str, ...] = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
    transactions: bool = True
    static_members: bool = True
    native: bool = False

    @property
    def missing(self) -> str:
        return ", ".join(tool for tool in self.needs if shutil.which(tool) is None)


def python(program: str) -> list[str]:
    return [sys.executable, "-W", "ignore", str(HERE / "python" / f"{program}.py")]


def kafka_python(version: str) -> list[str]:
    """Beside the one that is installed, so in a folder of its own that is looked at first."""
    folder = BUILT / f"kafka-python-{version}"
    wanted = HERE / f"python/kafka-python-{version}.txt"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--upgrade",
    ]
    _build(folder, [wanted], [*install, "--require-hashes", "--target", str(folder), "-r", str(wanted)])
    return ["env", f"PYTHONPATH={folder}", *python("with_kafka_python_2")]


def java(version: str, program: str = "Client") -> list[str]:
    """Compiled against one version, run with each: what a program calls, all of its versions have."""
    folder, jars = BUILT / "java-programs", java_jars(version)
    jar, classes = folder / "programs.jar", folder / "classes"
    sources = [HERE / "java" / f"{name}.java" for name in ("Client", "Older")]

    def build() -> None:
        _run(["javac", "-nowarn", "-d", str(classes), "-cp", f"{java_jars(JAVA_OLDEST)}/*", *map(str, sources)], HERE)
        _run(["jar", "--create", "--file", str(jar), "-C", str(classes), "."], HERE)

    _once(folder, sources, build)
    words = ["-cp", f"{jar}:{jars}/*", program]
    if version not in (JAVA_OLDEST, JAVA_NEWEST):
        return [*JVM, *words]
    return [*JVM, *archived(f"clients-{version}", [jar, jars], partial(_live_once, words)), *words]


def _live_once(words: list[str], jvm: list[str]) -> None:
    """Who is told to close ends in order, and leaves an archive."""
    with Cluster.start() as cluster:
        cluster.create_topic("topic")
        told = {"bootstrap": cluster.bootstrap, "name": "alice", "tls": None, "sasl": None}
        run = [*JVM, *jvm, *words, json.dumps(told)]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(run, stdin=pipe, stdout=pipe, stderr=nowhere, text=True) as once:
            for command, event in LIFE:
                print(json.dumps(command), file=once.stdin, flush=True)
                while json.loads(once.stdout.readline())["event"] != event:
                    pass


def java_jars(version: str) -> Path:
    return jars(HERE / "java/pom.xml", BUILT / f"java-{version}", clients_version=version)


def go(program: str, versions: Sequence[str] = ()) -> list[str]:
    """`versions` are others than those in go.mod."""
    folder = BUILT / ("go-older" if versions else "go")
    sources = [path for path in sorted((HERE / "go").rglob("*")) if path.is_file()]
    _build(folder, sources, [*GO_BUILD, *versions, "-o", f"{folder}/", "./..."], cwd=HERE / "go")
    return [str(folder / program)]


def node(program: str) -> list[str]:
    folder = BUILT / "js"
    sources = sorted((HERE / "js").iterdir())

    def install() -> None:
        for source in sources:
            shutil.copy(source, folder)
        _run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder)

    _once(folder, sources, install)
    return ["node", "--no-warnings", str(folder / program)]


LIBRARIES = {
    "java-3.9": Library(lambda: java(JAVA_OLDEST), strategies=("range", "roundrobin", "sticky", "cooperative")),
    "java-4.4": Library(
        lambda: java(JAVA_NEWEST), strategies=("range", "roundrobin", "sticky", "cooperative"), native=True
    ),
    "confluent-kafka": Library(
        lambda: python("with_confluent"), strategies=("range", "roundrobin", "cooperative"), native=True
    ),
    "kafka-python": Library(lambda: python("with_kafka_python"), strategies=("range", "roundrobin", "cooperative")),
    "aiokafka": Library(lambda: python("with_aiokafka"), strategies=("roundrobin", "range", "sticky")),
    "sarama": Library(lambda: go("sarama"), ("go",), strategies=("range", "roundrobin", "sticky", "cooperative")),
    "kafka-go": Library(
        lambda: go("kafkago"),
        ("go",),
        strategies=("range", "roundrobin"),
        mechanisms=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
        transactions=False,
        static_members=False,
    ),
    "franz-go": Library(
        lambda: go("franz"), ("go",), strategies=("cooperative", "range", "roundrobin", "sticky"), native=True
    ),
    "kafkajs": Library(lambda: node("kafkajs.js"), ("node", "npm"), strategies=("roundrobin",), static_members=False),
    "platformatic": Library(lambda: node("platformatic.mjs"), ("node", "npm"), strategies=("roundrobin",)),
}


# Versions that many still run: they consume, and log in with nothing. Only the matrix asks for them.
OLDER = {
    "java-1.1": Library(lambda: java("1.1.1", "Older"), mechanisms=(), transactions=False, static_members=False),
    "java-2.1": Library(lambda: java("2.1.1"), mechanisms=(), transactions=False, static_members=False),
    "java-2.4": Library(lambda: java("2.4.1"), strategies=("range", "cooperative"), mechanisms=(), transactions=False),
    "java-2.8": Library(lambda: java("2.8.2"), strategies=("range", "sticky"), mechanisms=(), transactions=False),
    "kafka-python-2": Library(
        lambda: kafka_python("2.0.2"),
        strategies=("range", "roundrobin"),
        mechanisms=(),
        transactions=False,
        static_members=False,
    ),
    "sarama-1.40": Library(
        lambda: go("sarama", GO_OLDER), ("go",), strategies=("range", "sticky"), mechanisms=(), transactions=False
    ),
    "kafka-go-0.4.47": Library(
        lambda: go("kafkago", GO_OLDER), ("go",), mechanisms=(), transactions=False, static_members=False
    ),
    "franz-go-1.15": Library(
        lambda: go("franz", GO_OLDER), ("go",), strategies=("cooperative",), mechanisms=(), transactions=False
    ),
}


def _build(folder: Path, sources: list[Path], command: list[str], cwd: Path = HERE) -> None:
    _once(folder, sources, lambda: _run(command, cwd))


def _once(folder: Path, sources: list[Path], build: Callable[[], None]) -> None:
    """Again when the sources are others than those in the mark, which is written last; one builder at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / ".complete"
    digest = sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists() or mark.read_text() != digest:
            build()
            mark.write_text(digest)


def _run(command: list[str], cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
