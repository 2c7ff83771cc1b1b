"""What a broker is told: the server.properties of one node."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.kafka.certificates import Certificates
from tests.kafka.kerberos import Kdc

USERS = {"alice": "alice-secret", "bob": "bob-secret"}
LOGIN_MODULES = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule",
}


class Security(NamedTuple):
    """What the CLIENT listener demands."""

    tls: bool = False
    # Clients must show a certificate.
    mutual: bool = False
    # Any of LOGIN_MODULES, for the USERS; or GSSAPI, for whom `kerberos` knows.
    sasl: tuple[str, ...] = ()
    # ACLs are enforced: nobody may anything that `allow` did not allow.
    authorizer: bool = False
    kerberos: Kdc | None = None

    @property
    def protocol(self) -> str:
        return ("SASL_" if self.sasl else "") + ("SSL" if self.tls else "PLAINTEXT")


class Node(NamedTuple):
    number: int
    # Of the CLIENT listener, as in a URL: an IPv6 address in brackets.
    host: str
    client_port: int
    internal_port: int
    controller_port: int

    @property
    def address(self) -> str:
        return f"{self.host}:{self.client_port}"

    @property
    def internal(self) -> tuple[str, int]:
        return "127.0.0.1", self.internal_port


def server_properties(
    node: Node, voters: list[Node], security: Security, certificates: Certificates | None, folder: Path
) -> dict[str, str]:
    return {
        **_listeners(node, voters, security),
        **_internal_topics(copies=min(3, len(voters))),
        **_security(security, certificates),
        "node.id": str(node.number),
        "log.dirs": str(folder / f"data-{node.number}"),
        "group.initial.rebalance.delay.ms": "0",
        "log.cleaner.enable": "false",
        # Leaders move when a test says so, not in the middle of another, minutes after a broker's restart.
        "auto.leader.rebalance.enable": "false",
        # So that a test may shorten a group's session, where one waits for a dead member to be given up.
        "group.consumer.min.session.timeout.ms": "6000",
        # A killed broker cannot register again before the controller has given it up.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        # Twice a second a controller would write into its log that it has nothing to write. Of what a cluster costs while it
        # waits for its next test, and several do all the time, that is a quarter.
        "metadata.max.idle.interval.ms": "5000",
    }


def _listeners(node: Node, voters: list[Node], security: Security) -> dict[str, str]:
    advertised = [f"CLIENT://{node.address}", f"INTERNAL://127.0.0.1:{node.internal_port}"]
    own = [f"CONTROLLER://127.0.0.1:{node.controller_port}"] if node in voters else []
    return {
        "process.roles": "broker,controller" if own else "broker",
        "controller.quorum.voters": ",".join(f"{voter.number}@127.0.0.1:{voter.controller_port}" for voter in voters),
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(advertised + own),
        "advertised.listeners": ",".join(advertised),
        "inter.broker.listener.name": "INTERNAL",
        "listener.security.protocol.map": f"CLIENT:{security.protocol},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }


def _internal_topics(copies: int) -> dict[str, str]:
    """Few partitions, so that they are soon there, and a cluster of three does without any one node."""
    return {
        "num.partitions": "4",
        "default.replication.factor": str(copies),
        "offsets.topic.num.partitions": "3",
        "offsets.topic.replication.factor": str(copies),
        "transaction.state.log.num.partitions": "3",
        "transaction.state.log.replication.factor": str(copies),
        "transaction.state.log.min.isr": "1",
        # A transaction whose producer was killed is given up soon after its time is over, not up to 10 s later.
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        "share.coordinator.state.topic.num.partitions": "3",
        "share.coordinator.state.topic.replication.factor": str(copies),
        "share.coordinator.state.topic.min.isr": "1",
    }


def _security(security: Security, certificates: Certificates | None) -> dict[str, str]:
    said: dict[str, str] = {}
    if security.authorizer:
        said["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        said["super.users"] = "User:ANONYMOUS"
    if certificates is not None:
        tls = "listener.name.client.ssl"
        said[f"{tls}.keystore.type"] = said[f"{tls}.truststore.type"] = "PEM"
        said[f"{tls}.keystore.location"] = str(certificates.broker)
        said[f"{tls}.truststore.location"] = str(certificates.authority)
        said[f"{tls}.client.auth"] = "required" if security.mutual else "none"
    if security.sasl:
        said["sasl.enabled.mechanisms"] = ",".join(security.sasl)
    for mechanism in security.sasl:
        login = security.kerberos.login if mechanism == "GSSAPI" and security.kerberos else _jaas(mechanism)
        said[f"listener.name.client.{mechanism.lower()}.sasl.jaas.config"] = login
    if security.kerberos is not None:
        said["sasl.kerberos.service.name"] = "kafka"
    return said


def _jaas(mechanism: str) -> str:
    users = "".join(f' user_{name}="{password}"' for name, password in USERS.items()) if mechanism == "PLAIN" else ""
    return f"org.apache.kafka.common.security.{LOGIN_MODULES[mechanism]} required{users};"
