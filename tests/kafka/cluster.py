"""A cluster of broker processes: how they are started, ended and started again."""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka.admin import Admin, until
from tests.kafka.certificates import Certificates
from tests.kafka.jars import broker_jars
from tests.kafka.jvm import BRIEFLY, archived
from tests.kafka.ports import free_ports
from tests.kafka.processes import TiedProcess
from tests.kafka.settings import USERS, Node, Security, server_properties
from tests.kafka.wire import ask

NEWEST = "4.4.0"
OLDEST = "4.0.1"
START_ATTEMPTS = 3
CLUSTER_ID = "kip848ProxyTests00000Q"
PLAINTEXT = Security()
JVM = ["java", "-Xmx512m", "-Xms128m", *BRIEFLY]
LOGGING = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.xml')}"


class PortTaken(Exception):
    """Another process was quicker between our probe and the broker's bind."""


class Cluster(Admin):
    def __init__(
        self, version: str, nodes: int, security: Security, overrides: dict[str, str], host: str, jvm: list[str] | None
    ) -> None:
        self.version = version
        self.security = security
        self.certificates = Certificates() if security.tls else None
        self.nodes = {number: Node(number, host, *free_ports(3)) for number in range(1, nodes + 1)}
        self.versions = dict.fromkeys(self.nodes, version)
        self.folder = Path(tempfile.mkdtemp(prefix=f"kafka-{version}-"))
        # Set by whoever wants to read them afterwards.
        self.keep_logs = False
        self._voters = list(self.nodes.values())
        self._overrides = overrides
        self._host = host
        self._jvm = jvm
        self._running: dict[int, TiedProcess] = {}

    @classmethod
    def start(
        cls,
        version: str = NEWEST,
        nodes: int = 1,
        security: Security = PLAINTEXT,
        overrides: dict[str, str] | None = None,
        host: str = "127.0.0.1",
        jvm: list[str] | None = None,
    ) -> Cluster:
        for _ in range(START_ATTEMPTS):
            cluster = cls(version, nodes, security, overrides or {}, host, jvm)
            try:
                cluster._begin()
            except PortTaken:
                cluster.close()
            except BaseException as failure:
                cluster.__exit__(type(failure), failure, None)
                raise
            else:
                return cluster
        raise PortTaken(f"in {START_ATTEMPTS} attempts to start")

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is not None:
            self.keep_logs = True
            error.add_note(f"the brokers' logs are in {self.folder}")
        self.close()

    def close(self) -> None:
        for number in list(self._running):
            self.kill(number)
        if self.keep_logs:
            for data in self.folder.glob("data-*"):
                shutil.rmtree(data)
            return
        shutil.rmtree(self.folder)
        if self.certificates is not None:
            shutil.rmtree(self.certificates.folder)

    @property
    def bootstrap(self) -> str:
        return ",".join(node.address for node in self.nodes.values())

    @property
    def inside(self) -> str:
        """Where nobody is asked who they are, and no road begins."""
        return ",".join("{}:{}".format(*node.internal) for node in self.nodes.values())

    def pid(self, number: int) -> int:
        return self._running[number].pid

    def logs(self, number: int) -> str:
        return self._log(number).read_text(errors="replace")

    # ------------------------------------------------------------------------------------------------------- verbs

    def kill(self, number: int) -> None:
        self._end(number, signal.SIGKILL)

    def stop(self, number: int) -> None:
        self._end(number, signal.SIGTERM)

    def start_node(self, number: int, version: str | None = None) -> None:
        """After `kill` or `stop`: the same port, the same data; if one is named, as another version of Kafka."""
        self.versions[number] = version or self.versions[number]
        self._launch(number)
        self.wait_until_whole()

    def restart(self, number: int, version: str | None = None) -> None:
        self.stop(number)
        self.start_node(number, version)

    def advertise(self, number: int, address: str) -> None:
        """Clients are told that the node is there, once it has restarted: where a road to it begins."""
        internal = "{}:{}".format(*self.nodes[number].internal)
        with self._config(number).open("a") as said:
            said.write(f"advertised.listeners=CLIENT://{address},INTERNAL://{internal}\n")
        self.restart(number)

    @contextlib.contextmanager
    def hanging(self, number: int) -> Iterator[None]:
        """It keeps its connections and says nothing: as a machine that was cut off."""
        self._running[number].send(signal.SIGSTOP)
        try:
            yield
        finally:
            self._running[number].send(signal.SIGCONT)

    def add_node(self) -> int:
        """A broker (no controller) that joins the running cluster."""
        number = max(self.nodes) + 1
        self.nodes[number] = Node(number, self._host, *free_ports(3))
        self.versions[number] = self.version
        self._format([number])
        self.start_node(number)
        return number

    def ask(self, number: int, key: int, version: int, message: Any) -> Any:
        return ask(self.nodes[number].internal, key, version, message)

    def ask_any(self, key: int, version: int, message: Any) -> Any:
        last: Exception = ConnectionError("no node runs")
        for number in self._running:
            try:
                return self.ask(number, key, version, message)
            except OSError as failure:
                last = failure
        raise last

    def ask_all(self, key: int, version: int, message: Any) -> list[Any]:
        return [self.ask(number, key, version, message) for number in self._running]

    def wait_until_whole(self) -> None:
        """Every node that was started answers, and knows all the others."""

        def whole() -> bool:
            for number in self._running:
                self._raise_if_ended(number)
                answer = self.ask(number, keys.METADATA, 1, m.MetadataRequest(topics=[]))
                if {broker.node_id for broker in answer.brokers} < self._running.keys():
                    return False
            return True

        until(whole, f"nodes {sorted(self._running)} are up")

    # ------------------------------------------------------------------------------------------------------ details

    def _begin(self) -> None:
        self._format(list(self.nodes))
        for number in self.nodes:
            self._launch(number)
        self.wait_until_whole()

    def _format(self, numbers: list[int]) -> None:
        """All at once: most of it is the JVM's start."""
        formatting = {}
        for number in numbers:
            node = self.nodes[number]
            said = server_properties(node, self._voters, self.security, self.certificates, self.folder)
            lines = [f"{name}={value}\n" for name, value in {**said, **self._overrides}.items()]
            self._config(number).write_text("".join(lines))
            command = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(self._config(number))]
            formatting[number] = TiedProcess(self._java(number, *command, *self._scram_users()), self._log(number))
        for number, process in formatting.items():
            if process.wait() != 0:
                raise RuntimeError(f"formatting node {number} failed:\n{self.logs(number)}")

    def _scram_users(self) -> list[str]:
        return [
            f"--add-scram={mechanism}=[name={user},password={password}]"
            for mechanism in self.security.sasl
            if mechanism.startswith("SCRAM")
            for user, password in USERS.items()
        ]

    def _launch(self, number: int) -> None:
        command = self._java(number, "kafka.Kafka", str(self._config(number)))
        self._running[number] = TiedProcess(command, self._log(number))

    def _end(self, number: int, how: signal.Signals) -> None:
        process = self._running.pop(number, None)
        if process is not None:
            process.end(how)

    def _raise_if_ended(self, number: int) -> None:
        code = self._running[number].exit_code
        if code is not None:
            said = self.logs(number)
            error = PortTaken if "Address already in use" in said else RuntimeError
            raise error(f"node {number} ended with {code}:\n{said[-3_000:]}")

    def _java(self, number: int, *arguments: str) -> list[str]:
        version = self.versions[number]
        jars = broker_jars(version)
        # No version can use another's.
        classes = archived(f"kafka-{version}", [jars], partial(_live_once, version)) if self._jvm is None else self._jvm
        kerberos = [self.security.kerberos.jvm_option] if self.security.kerberos else []
        return [*JVM, *classes, LOGGING, *kerberos, "-cp", f"{jars}/*", *arguments]

    def _config(self, number: int) -> Path:
        return self.folder / f"node-{number}.properties"

    def _log(self, number: int) -> Path:
        return self.folder / f"node-{number}.log"


def _live_once(version: str, jvm: list[str]) -> None:
    """What any broker of a test does, so that its classes are in the archive."""
    with Cluster.start(version, jvm=jvm) as cluster:
        cluster.create_topic("topic")
        cluster.coordinator("group")
        cluster.stop(1)
