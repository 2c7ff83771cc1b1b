"""A cluster of broker processes and the verbs that tests do to it."""

from __future__ import annotations

import contextlib
import ctypes
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from kafka_protocol import messages as m
from tests.kafka.certificates import Certificates
from tests.kafka.jars import broker_jars
from tests.kafka.wire import ask

T = TypeVar("T")

START_SECONDS = 60
STOP_SECONDS = 20
CLUSTER_ID = "kip848ProxyTests00000Q"
PR_SET_PDEATHSIG = 1

METADATA, CREATE_TOPICS, FIND_COORDINATOR, CREATE_ACLS = 3, 19, 10, 30
ELECT_LEADERS, INCREMENTAL_ALTER_CONFIGS, ALTER_REASSIGNMENTS = 43, 44, 45
GROUP_RESOURCE = 32

JVM = ["-Xmx512m", "-Xms128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


class Security(NamedTuple):
    """What the CLIENT listener demands."""

    tls: bool = False
    # Clients must show a certificate.
    mutual: bool = False
    # Of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER. The users are alice and bob, "-secret" behind their names.
    sasl: tuple[str, ...] = ()
    # ACLs are enforced: nobody may anything that `allow` did not allow.
    authorizer: bool = False

    @property
    def protocol(self) -> str:
        return ("SASL_" if self.sasl else "") + ("SSL" if self.tls else "PLAINTEXT")


class Node:
    def __init__(self, number: int, ports: tuple[int, int, int]) -> None:
        self.number = number
        self.client_port, self.internal_port, self.controller_port = ports
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.client_port}"

    @property
    def internal(self) -> tuple[str, int]:
        return "127.0.0.1", self.internal_port


class Cluster:
    def __init__(self, version: str, nodes: int, security: Security, overrides: dict[str, str]) -> None:
        self.version = version
        self.security = security
        self.certificates = Certificates() if security.tls else None
        self.nodes = {number: Node(number, _free_ports()) for number in range(1, nodes + 1)}
        self._voters = dict(self.nodes)
        self._overrides = overrides
        self._jars = broker_jars(version)
        self._folder = Path(tempfile.mkdtemp(prefix=f"kafka-{version}-"))

    @classmethod
    def start(
        cls,
        version: str = "4.4.0",
        nodes: int = 1,
        security: Security = Security(),  # noqa: B008
        overrides: dict[str, str] | None = None,
    ) -> Cluster:
        cluster = cls(version, nodes, security, overrides or {})
        try:
            for number in cluster.nodes:
                cluster._format(number)
            for number in cluster.nodes:
                cluster._launch(number)
            cluster.wait_until_whole()
        except BaseException as failure:
            cluster.close(keep=True)
            failure.add_note(f"the brokers' logs are in {cluster._folder}")
            raise
        return cluster

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is not None:
            error.add_note(f"the brokers' logs are in {self._folder}")
        self.close(keep=error is not None)

    def close(self, keep: bool = False) -> None:
        for number in self.nodes:
            self.kill(number)
        if not keep:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def bootstrap(self) -> str:
        return ",".join(node.address for node in self.nodes.values())

    def logs(self, number: int) -> str:
        return (self._folder / f"node-{number}.log").read_text(errors="replace")

    # ------------------------------------------------------------------------------------------------------- verbs

    def kill(self, number: int) -> None:
        self._end(number, signal.SIGKILL)

    def stop(self, number: int) -> None:
        self._end(number, signal.SIGTERM)

    def restart(self, number: int, wait: bool = True) -> None:
        self.stop(number)
        self._launch(number)
        if wait:
            self.wait_until_whole()

    def add_node(self) -> int:
        """A broker that joins the running cluster (no controller)."""
        number = max(self.nodes) + 1
        self.nodes[number] = Node(number, _free_ports())
        self._format(number)
        self._launch(number)
        self.wait_until_whole()
        return number

    def create_topic(self, name: str, partitions: int = 1, replication: int = 1) -> None:
        topic = m.CreateTopicsRequestCreatableTopic(
            name=name, num_partitions=partitions, replication_factor=replication
        )
        answer = self.ask_any(CREATE_TOPICS, 5, m.CreateTopicsRequest(topics=[topic], timeout_ms=10_000))
        assert answer.topics[0].error_code in (0, 36), answer
        _until(lambda: self._leaders(name).keys() >= set(range(partitions)), f"topic {name} has leaders")

    def allow(self, principal: str, resource: str, name: str, *operations: str) -> None:
        """ACLs in words: allow("User:alice", "topic", "orders", "read", "describe")."""
        types = {"topic": 2, "group": 3, "cluster": 4, "transactional_id": 5}
        verbs = {"all": 2, "read": 3, "write": 4, "create": 5, "delete": 6, "alter": 7, "describe": 8}
        rules = [
            m.CreateAclsRequestAclCreation(
                resource_type=types[resource],
                resource_name=name,
                resource_pattern_type=3,
                principal=principal,
                host="*",
                operation=verbs[operation],
                permission_type=3,
            )
            for operation in operations
        ]
        answer = self.ask_any(CREATE_ACLS, 2, m.CreateAclsRequest(creations=rules))
        assert all(result.error_code == 0 for result in answer.results), answer

    def set_group_config(self, group: str, **values: str) -> None:
        configs = [
            m.IncrementalAlterConfigsRequestAlterableConfig(
                name=name.replace("_", "."), config_operation=0, value=value
            )
            for name, value in values.items()
        ]
        resource = m.IncrementalAlterConfigsRequestAlterConfigsResource(
            resource_type=GROUP_RESOURCE, resource_name=group, configs=configs
        )
        answer = self.ask_any(INCREMENTAL_ALTER_CONFIGS, 1, m.IncrementalAlterConfigsRequest(resources=[resource]))
        assert answer.responses[0].error_code == 0, answer

    def coordinator(self, group: str) -> int:
        def found() -> int | None:
            request = m.FindCoordinatorRequest(key=group, key_type=0)
            answer = self.ask_any(FIND_COORDINATOR, 2, request)
            return answer.node_id if answer.error_code == 0 else None

        return _until(found, f"group {group} has a coordinator")

    def move_coordinator(self, group: str, to: int) -> None:
        """Lead the group's partition of __consumer_offsets elsewhere."""
        count = len(self._leaders("__consumer_offsets"))
        self.elect_leader("__consumer_offsets", _java_hash(group) % count, to)
        _until(lambda: self.coordinator(group) == to, f"group {group} moved to node {to}")

    def elect_leader(self, topic: str, partition: int, to: int) -> None:
        """Make a replica the preferred one, then the leader."""
        replicas = [to, *(node for node in self._replicas(topic, partition) if node != to)]
        wish = m.AlterPartitionReassignmentsRequestReassignablePartition(partition_index=partition, replicas=replicas)
        of_topic = m.AlterPartitionReassignmentsRequestReassignableTopic(name=topic, partitions=[wish])
        self.ask_any(ALTER_REASSIGNMENTS, 0, m.AlterPartitionReassignmentsRequest(timeout_ms=10_000, topics=[of_topic]))

        def elected() -> bool:
            partitions = [m.ElectLeadersRequestTopicPartitions(topic=topic, partitions=[partition])]
            self.ask_any(
                ELECT_LEADERS, 2, m.ElectLeadersRequest(election_type=0, topic_partitions=partitions, timeout_ms=9_000)
            )
            return self._leaders(topic).get(partition) == to

        _until(elected, f"node {to} leads {topic}-{partition}")

    def ask(self, number: int, key: int, version: int, message: Any) -> Any:
        return ask(self.nodes[number].internal, key, version, message)

    def ask_any(self, key: int, version: int, message: Any) -> Any:
        last: Exception = ConnectionError("no node runs")
        for number, node in self.nodes.items():
            if node.process is not None:
                try:
                    return self.ask(number, key, version, message)
                except OSError as failure:
                    last = failure
        raise last

    def wait_until_whole(self) -> None:
        """All nodes run, know one another and elect leaders."""
        running = {number for number, node in self.nodes.items() if node.process is not None}

        def whole() -> bool:
            for number in running:
                process = self.nodes[number].process
                if process is not None and process.poll() is not None:
                    raise RuntimeError(f"node {number} ended with {process.returncode}:\n{self.logs(number)[-3_000:]}")
                answer = self.ask(number, METADATA, 1, m.MetadataRequest(topics=[]))
                if {broker.node_id for broker in answer.brokers} < running:
                    return False
            return True

        _until(whole, f"nodes {sorted(running)} are up")

    # ----------------------------------------------------------------------------------------------------- details

    def _metadata(self, topic: str) -> Any:
        request = m.MetadataRequest(topics=[m.MetadataRequestTopic(name=topic)])
        return self.ask_any(METADATA, 1, request).topics[0]

    def _leaders(self, topic: str) -> dict[int, int]:
        return {
            each.partition_index: each.leader_id for each in self._metadata(topic).partitions if each.leader_id >= 0
        }

    def _replicas(self, topic: str, partition: int) -> list[int]:
        return next(list(e.replica_nodes) for e in self._metadata(topic).partitions if e.partition_index == partition)

    def _format(self, number: int) -> None:
        (self._folder / f"node-{number}.properties").write_text(
            "".join(f"{name}={value}\n" for name, value in self._properties(number).items())
        )
        users = []
        for mechanism in self.security.sasl:
            if mechanism.startswith("SCRAM"):
                users += [f"--add-scram={mechanism}=[name={user},password={user}-secret]" for user in ("alice", "bob")]
        done = subprocess.run(
            self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", self._config(number), *users),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"formatting node {number} failed:\n{done.stdout}{done.stderr}")

    def _config(self, number: int) -> str:
        return str(self._folder / f"node-{number}.properties")

    def _java(self, *arguments: str) -> list[str]:
        log = Path(__file__).with_name("log4j2.xml")
        return ["java", *JVM, f"-Dlog4j2.configurationFile={log}", "-cp", f"{self._jars}/*", *arguments]

    def _launch(self, number: int) -> None:
        with (self._folder / f"node-{number}.log").open("ab") as log:
            self.nodes[number].process = subprocess.Popen(
                self._java("kafka.Kafka", self._config(number)),
                stdout=log,
                stderr=log,
                preexec_fn=_die_with_parent,  # noqa: PLW1509
            )

    def _end(self, number: int, how: signal.Signals) -> None:
        process = self.nodes[number].process
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.nodes[number].process = None

    def _properties(self, number: int) -> dict[str, str]:
        node = self.nodes[number]
        copies = str(min(3, len(self._voters)))
        is_voter = number in self._voters
        listeners = [f"CLIENT://127.0.0.1:{node.client_port}", f"INTERNAL://127.0.0.1:{node.internal_port}"]
        return {
            "process.roles": "broker,controller" if is_voter else "broker",
            "node.id": str(number),
            "controller.quorum.voters": ",".join(
                f"{v.number}@127.0.0.1:{v.controller_port}" for v in self._voters.values()
            ),
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join(
                [*listeners, f"CONTROLLER://127.0.0.1:{node.controller_port}"] if is_voter else listeners
            ),
            "advertised.listeners": ",".join(listeners),
            "inter.broker.listener.name": "INTERNAL",
            "listener.security.protocol.map": f"CLIENT:{self.security.protocol},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self._folder / f"data-{number}"),
            "num.partitions": "4",
            "default.replication.factor": copies,
            "offsets.topic.num.partitions": "3",
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.num.partitions": "3",
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.num.partitions": "3",
            "share.coordinator.state.topic.replication.factor": copies,
            "share.coordinator.state.topic.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            "log.cleaner.enable": "false",
            "controlled.shutdown.enable": "true",
            **self._security_properties(),
            **self._overrides,
        }

    def _security_properties(self) -> dict[str, str]:
        security, client = self.security, "listener.name.client"
        said: dict[str, str] = {}
        if security.authorizer:
            said["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
            said["super.users"] = "User:ANONYMOUS"
        if self.certificates is not None:
            said[f"{client}.ssl.keystore.type"] = said[f"{client}.ssl.truststore.type"] = "PEM"
            said[f"{client}.ssl.keystore.location"] = str(self.certificates.broker)
            said[f"{client}.ssl.truststore.location"] = str(self.certificates.authority)
            said[f"{client}.ssl.client.auth"] = "required" if security.mutual else "none"
        if security.sasl:
            said["sasl.enabled.mechanisms"] = ",".join(security.sasl)
        for mechanism in security.sasl:
            said[f"{client}.{mechanism.lower()}.sasl.jaas.config"] = _jaas(mechanism)
        return said


def _jaas(mechanism: str) -> str:
    common = "org.apache.kafka.common.security"
    if mechanism == "PLAIN":
        return f'{common}.plain.PlainLoginModule required user_alice="alice-secret" user_bob="bob-secret";'
    if mechanism == "OAUTHBEARER":
        return f"{common}.oauthbearer.OAuthBearerLoginModule required;"
    return f"{common}.scram.ScramLoginModule required;"


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _free_ports() -> tuple[int, int, int]:
    """Below the range from which the kernel takes ports for outgoing connections, so that none is taken meanwhile."""
    found: list[int] = []
    for port in _candidates():
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == 3:
            return found[0], found[1], found[2]
    raise RuntimeError("no free ports between 20000 and 30000")


_given = iter(range(0))


def _candidates() -> Iterator[int]:
    """Never the same port twice in a process; different processes begin at different places."""
    global _given  # noqa: PLW0603
    while True:
        port = next(_given, None)
        if port is None:
            start = 20_000 + (time.time_ns() // 1_000) % 9_000
            _given = iter(range(start, 30_000))
            continue
        yield port


def _java_hash(text: str) -> int:
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    # Kafka takes the absolute value of the signed number.
    return abs(value - 2**32 if value >= 2**31 else value)


def _until(probe: Callable[[], T | None], what: str) -> T:
    """Ask again until it is so. A broker that is still starting refuses connections; that is not an error yet."""
    deadline = time.monotonic() + START_SECONDS
    last: object = None
    while time.monotonic() < deadline:
        try:
            found = probe()
            if found:
                return found
            last = found
        except OSError as failure:
            last = failure
        time.sleep(0.05)
    raise TimeoutError(f"not within {START_SECONDS} s: {what} (last: {last!r})")
