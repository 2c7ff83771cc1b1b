"""B3: authentication passes through with the client's own principal, and TLS on each side, on its own and together."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import shutil
import signal
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from cryptography import x509

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka import Cluster, Security
from tests.kafka.certificates import Certificates
from tests.kafka.wire import exchange, read_frame
from tests.proxy.running import Running
from tests.proxy.test_real_acls import Known

pytestmark = pytest.mark.broker


def login(user: str, mechanism: str) -> dict[str, object]:
    if mechanism == "OAUTHBEARER":
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "enable.sasl.oauthbearer.unsecure.jwt": True,
            "sasl.oauthbearer.config": f"principal={user}",
        }
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": f"{user}-secret",
    }


def produced(bootstrap: str, topic: str, config: Mapping[str, Any]) -> KafkaError | None:
    """What the producer was told of its one message."""
    told: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": bootstrap, "message.timeout.ms": 60_000, **config})
    producer.produce(topic, b"value", on_delivery=lambda error, _: told.append(error))
    producer.flush(60)
    assert told, "nothing was heard of the message"
    return told[0]


def complaints(bootstrap: str, config: Mapping[str, Any]) -> list[int]:
    """The codes that a client hears, until it knows that it is let in nowhere."""
    heard: list[int] = []
    producer = Producer(
        {"bootstrap.servers": bootstrap, "error_cb": lambda error: heard.append(error.code()), **config}
    )
    deadline = time.monotonic() + 60
    while KafkaError._ALL_BROKERS_DOWN not in heard and time.monotonic() < deadline:
        producer.poll(0.1)
    return heard


@pytest.fixture(scope="module")
def guarded(kafka_sasl: Cluster) -> Iterator[Running]:
    kafka_sasl.create_topic("guarded")
    kafka_sasl.allow("User:alice", "topic", "guarded", "read", "write", "describe")
    kafka_sasl.allow("User:alice", "group", "guarded-group", "read")
    with Running(kafka_sasl.bootstrap) as proxy:
        yield proxy.ready()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_acls_are_enforced_for_the_clients_own_principal(guarded: Running, mechanism: str) -> None:
    assert produced(guarded.bootstrap, "guarded", login("alice", mechanism)) is None
    refused = produced(guarded.bootstrap, "guarded", login("bob", mechanism))
    assert refused is not None
    assert refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_a_group_is_refused_to_whom_it_is_not_allowed(guarded: Running) -> None:
    """She may read the topic, and in another group."""
    consumer = Consumer({"bootstrap.servers": guarded.bootstrap, "group.id": "not-hers", **login("alice", "PLAIN")})
    consumer.subscribe(["guarded"])
    (message,) = consumer.consume(1, 60)
    consumer.close()
    refused = message.error()
    assert refused is not None
    assert refused.code() == KafkaError.GROUP_AUTHORIZATION_FAILED


def test_after_a_restart_the_ports_of_brokers_are_open_before_anybody_has_logged_in(
    kafka_sasl: Cluster, tmp_path: Path
) -> None:
    """It may ask no broker for the others. And who is hung up on there may ask nowhere else: where a load balancer stands
    before it, nobody is refused."""
    config = tmp_path / "proxy.toml"
    config.write_text(f'[translation]\njournal = "{tmp_path / "journal"}"')
    with Running(kafka_sasl.bootstrap, "--config", str(config)) as proxy:
        Producer({"bootstrap.servers": proxy.ready().bootstrap, **login("alice", "PLAIN")}).list_topics(timeout=30)
    with Running(kafka_sasl.bootstrap, "--config", str(config), base=proxy.base) as again:
        again.ready()
        for node in kafka_sasl.nodes:
            again.connect(node).close()


def test_a_wrong_password_is_refused_by_the_broker(guarded: Running) -> None:
    wrong = login("alice", "PLAIN") | {"sasl.password": "guess"}
    assert KafkaError._AUTHENTICATION in complaints(guarded.bootstrap, wrong)


def test_who_has_yet_to_show_who_they_are_is_not_read_at_length(guarded: Running) -> None:
    """A broker takes no more than 512 KB of them, and reading a request of a group of some MB takes the proxy seconds."""
    leavers = [m.LeaveGroupRequestMemberIdentity(member_id=f"nobody-{number}") for number in range(100_000)]
    leave = m.LeaveGroupRequest(group_id="guarded-group", members=leavers)
    guarded.ready()
    with guarded.connect() as stranger, pytest.raises(ConnectionError):
        exchange(stranger, keys.LEAVE_GROUP, 3, leave)
    assert not guarded.metric("requests_total", api="LeaveGroup")
    with guarded.connect() as alice:
        exchange(alice, keys.SASL_HANDSHAKE, 1, m.SaslHandshakeRequest(mechanism="PLAIN"))
        proof = m.SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret")
        assert exchange(alice, keys.SASL_AUTHENTICATE, 1, proof).error_code == 0
        assert len(exchange(alice, keys.LEAVE_GROUP, 3, leave).members) in (0, 100_000)
    assert guarded.metric("requests_total", api="LeaveGroup") == 1


def test_the_brokers_are_learnt_from_clients_when_the_proxy_may_not_ask(guarded: Running) -> None:
    assert "brokers are learnt from clients" in guarded.log.read_text()
    assert produced(guarded.bootstrap, "guarded", login("alice", "PLAIN")) is None
    assert "listening" in guarded.log.read_text()


def token(sock: socket.socket, text: bytes) -> bytes:
    sock.sendall(pack(">i", len(text)) + text)
    return read_frame(sock)


def test_bare_plain_tokens_after_handshake_version_zero(guarded: Running) -> None:
    with guarded.connect() as sock:
        assert exchange(sock, keys.SASL_HANDSHAKE, 0, m.SaslHandshakeRequest(mechanism="PLAIN")).error_code == 0
        assert token(sock, b"\0alice\0alice-secret") == b""
        answer = exchange(sock, keys.METADATA, 1, m.MetadataRequest(topics=[m.MetadataRequestTopic(name="guarded")]))
        assert [(t.name, t.error_code) for t in answer.topics] == [("guarded", 0)]
        assert answer.brokers[0].port == guarded.port_of(1)


def test_bare_scram_tokens_after_handshake_version_zero(guarded: Running) -> None:
    with guarded.connect() as sock:
        assert exchange(sock, keys.SASL_HANDSHAKE, 0, m.SaslHandshakeRequest(mechanism="SCRAM-SHA-256")).error_code == 0
        first = b"n=alice,r=clientnonce"
        server_first = token(sock, b"n,," + first)
        proof, signature = scram(first, server_first, b"alice-secret")
        assert token(sock, proof) == b"v=" + signature
        assert exchange(sock, keys.API_VERSIONS, 0, m.ApiVersionsRequest()).error_code == 0


def scram(first: bytes, server_first: bytes, password: bytes) -> tuple[bytes, bytes]:
    """RFC 5802: the client's last message, and the signature that the server must show for it."""
    said = dict(part.split(b"=", 1) for part in server_first.split(b","))
    salted = hashlib.pbkdf2_hmac("sha256", password, base64.b64decode(said[b"s"]), int(said[b"i"]))
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    bare = b"c=biws,r=" + said[b"r"]
    authenticated = first + b"," + server_first + b"," + bare
    mask = hmac.digest(hashlib.sha256(client_key).digest(), authenticated, "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, mask, strict=True))
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    signature = hmac.digest(server_key, authenticated, "sha256")
    return bare + b",p=" + base64.b64encode(proof), base64.b64encode(signature)


def test_re_authentication_on_a_connection_in_use(guarded: Running) -> None:
    with guarded.connect() as sock:
        for _ in range(2):
            assert exchange(sock, keys.SASL_HANDSHAKE, 1, m.SaslHandshakeRequest(mechanism="PLAIN")).error_code == 0
            proof = m.SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret")
            assert exchange(sock, keys.SASL_AUTHENTICATE, 2, proof).error_code == 0
            assert exchange(sock, keys.METADATA, 9, m.MetadataRequest(topics=[])).brokers


def test_a_broker_says_how_long_a_session_lasts_with_the_last_step_alone(kafka_sasl: Cluster) -> None:
    """By that the proxy knows that no step follows, of mechanisms that have several too."""
    host, _, port = kafka_sasl.bootstrap.rpartition(":")
    with closing(socket.create_connection((host, int(port)))) as sock:
        for _ in range(2):
            assert exchange(sock, keys.SASL_HANDSHAKE, 1, m.SaslHandshakeRequest(mechanism="SCRAM-SHA-256")).mechanisms
            first = b"n=alice,r=clientnonce"
            begun = exchange(sock, keys.SASL_AUTHENTICATE, 2, m.SaslAuthenticateRequest(auth_bytes=b"n,," + first))
            proof, _ = scram(first, begun.auth_bytes, b"alice-secret")
            ended = exchange(sock, keys.SASL_AUTHENTICATE, 2, m.SaslAuthenticateRequest(auth_bytes=proof))
            assert (begun.error_code, ended.error_code) == (0, 0)
            assert (begun.session_lifetime_ms, ended.session_lifetime_ms) == (0, 3_600_000)


def test_a_member_goes_on_while_its_client_authenticates_anew_and_asks_for_nothing_behind_that(
    guarded: Running, kafka_sasl: Cluster
) -> None:
    """librdkafka does so by a timer of its own: the member was silent until its client's next Heartbeat, and given up."""
    group = "guarded-again"
    kafka_sasl.create_topic(group, partitions=2)
    kafka_sasl.allow("User:alice", "topic", group, "read", "describe")
    kafka_sasl.allow("User:alice", "group", group, "read")
    kafka_sasl.coordinator(group)
    # There is one broker, so it is there too.
    with closing(Known("alice", ("127.0.0.1", guarded.ready().base), group, group)) as one:
        one.joins()
        one.authenticates(one.sock)
        before = answered_heartbeats(guarded)
        guarded.wait_for(lambda: answered_heartbeats(guarded) > before, "the coordinator hears from it", 15)
        one.leave()


def answered_heartbeats(proxy: Running) -> int:
    found = re.search(r"^kip848_proxy_upstream_heartbeat_seconds_count (\d+)", proxy.get("/metrics")[1], re.MULTILINE)
    assert found
    return int(found[1])


# ------------------------------------------------------------------------------------------------------------- tls


@pytest.fixture(scope="module")
def ours() -> Certificates:
    return Certificates()


def client_tls(certificates: Certificates, *more: str, name: str = "proxy") -> str:
    pem = certificates.issue(name, "127.0.0.1", "localhost", "kafka.example", "*.kafka.example")
    return "\n".join(["[client_tls]", shows(pem), *more, ""])


def shows(pem: Path) -> str:
    return f'certificate_file = "{pem}"\nprivate_key_file = "{pem}"\n'


def configured(folder: Path, text: str) -> list[str]:
    (folder / "proxy.toml").write_text(text)
    return ["--config", str(folder / "proxy.toml")]


def test_tls_to_clients_over_a_plaintext_cluster(kafka: Cluster, ours: Certificates, tmp_path: Path) -> None:
    topic = "proxy-tls-to-clients"
    kafka.create_topic(topic)
    with Running(kafka.bootstrap, *configured(tmp_path, client_tls(ours))) as proxy:
        proxy.ready()
        secured = {"security.protocol": "SSL", "ssl.ca.location": str(ours.authority)}
        assert produced(proxy.bootstrap, topic, secured) is None
        assert consumed(proxy.bootstrap, topic, secured) == [b"value"]
        # Who does not trust us, and who speaks plaintext, is counted under the client side.
        with proxy.connect() as sock:
            sock.sendall(pack(">ihhi", 100, 18, 0, 1))
            assert sock.recv(1) == b""
        proxy.wait_for(lambda: proxy.disconnects("client_tls_failed") >= 1, "counted")
        assert "clients ⇄ proxy" in proxy.log.read_text()


def test_tls_to_the_brokers_from_plaintext_clients(kafka_tls: Cluster, tmp_path: Path) -> None:
    topic = "proxy-tls-upstream"
    kafka_tls.create_topic(topic)
    assert kafka_tls.certificates is not None
    text = f'[upstream_tls]\nca_file = "{kafka_tls.certificates.authority}"\n'
    with Running(kafka_tls.bootstrap, *configured(tmp_path, text)) as proxy:
        proxy.ready()
        assert produced(proxy.bootstrap, topic, {}) is None
        assert consumed(proxy.bootstrap, topic, {}) == [b"value"]


def test_a_seed_that_says_nothing_within_the_handshake_is_passed_over(kafka_tls: Cluster, tmp_path: Path) -> None:
    topic = "proxy-tls-silent-seed"
    kafka_tls.create_topic(topic)
    assert kafka_tls.certificates is not None
    text = f'[limits]\nconnect_timeout_ms = 1000\n[upstream_tls]\nca_file = "{kafka_tls.certificates.authority}"\n'
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seeds = f"127.0.0.1:{silent.getsockname()[1]},{kafka_tls.bootstrap}"
        with Running(seeds, *configured(tmp_path, text)) as proxy:
            assert produced(proxy.ready().bootstrap, topic, {}) is None
            # Who answered the proxy itself is dialled first.
            assert proxy.metric("upstream_connect_failures_total") == 0


def test_brokers_that_are_not_trusted_are_refused_by_side(
    kafka_tls: Cluster, ours: Certificates, tmp_path: Path
) -> None:
    text = f'[upstream_tls]\nca_file = "{ours.authority}"\n'
    with Running(kafka_tls.bootstrap, *configured(tmp_path, text)) as proxy:
        with proxy.connect() as sock:
            assert sock.recv(1) == b""
        proxy.count_one_more("broker_tls_failed", 0)
        assert "proxy ⇄ brokers" in proxy.log.read_text()
        assert proxy.get("/readyz")[0] == 503


def test_tls_on_both_sides_with_certificates_on_both(kafka_mtls: Cluster, ours: Certificates, tmp_path: Path) -> None:
    topic = "proxy-mutual"
    kafka_mtls.create_topic(topic)
    theirs = kafka_mtls.certificates
    assert theirs is not None
    shown = theirs.issue("the-proxy", "proxy")
    text = client_tls(ours, f'client_ca_file = "{ours.authority}"')
    text += f'[upstream_tls]\nca_file = "{theirs.authority}"\n' + shows(shown)
    with Running(kafka_mtls.bootstrap, *configured(tmp_path, text)) as proxy:
        proxy.ready()
        mine = ours.issue("client", "client")
        config = {"security.protocol": "SSL", "ssl.ca.location": str(ours.authority)}
        with_certificate = config | {"ssl.certificate.location": str(mine), "ssl.key.location": str(mine)}
        assert produced(proxy.bootstrap, topic, with_certificate) is None
        assert KafkaError._ALL_BROKERS_DOWN in complaints(proxy.bootstrap, config)
        assert proxy.disconnects("client_tls_failed") > 0
        assert "peer did not return a certificate" in proxy.log.read_text()


def principal(pem: Path) -> str:
    """As Java has its subject, which escapes more than RFC 4514 does."""
    return x509.load_pem_x509_certificate(pem.read_bytes()).subject.rfc4514_string().replace("#", r"\#")


def exchanging(proxy: Running, authority: Certificates, certificate: Path) -> ssl.SSLSocket:
    trusting = ssl.create_default_context(cafile=str(authority.authority))
    trusting.load_cert_chain(certificate)
    sock = trusting.wrap_socket(proxy.connect(), server_hostname="127.0.0.1")
    exchange(sock, keys.METADATA, 12, m.MetadataRequest(topics=[]))
    return sock


def test_brokers_know_each_client_by_the_identity_that_stands_for_its_certificate(
    ours: Certificates, tmp_path: Path
) -> None:
    """And allow it what is allowed to that; of whom has none they know the proxy."""
    topic = "identities"
    with Cluster.start(security=Security(tls=True, mutual=True, authorizer=True)) as kafka:
        theirs = kafka.certificates
        assert theirs is not None
        kafka.create_topic(topic)
        mine = {name: ours.issue(name, name) for name in ("alice", "bob", "carol")}
        upstream = {name: theirs.issue(name, name) for name in ("alice", "bob", "the-proxy")}
        kafka.allow(f"User:{principal(upstream['alice'])}", "topic", topic, "read", "write", "describe")
        kafka.allow(f"User:{principal(upstream['alice'])}", "group", topic, "read")
        before = client_tls(ours, f'client_ca_file = "{ours.authority}"')
        before += f'[upstream_tls]\nca_file = "{theirs.authority}"\n' + shows(upstream["the-proxy"])

        def with_identities(**clients: Path) -> list[str]:
            tables = [
                f"[[upstream_tls.identities]]\nclient = {json.dumps(principal(mine[name]))}\n{shows(pem)}"
                for name, pem in clients.items()
            ]
            return configured(tmp_path, before + "".join(tables))

        with Running(kafka.bootstrap, *with_identities(bob=upstream["bob"], alice=upstream["alice"])) as proxy:
            proxy.ready()
            tls = {"security.protocol": "SSL", "ssl.ca.location": str(ours.authority)}
            configs = {
                name: tls | {"ssl.certificate.location": str(pem), "ssl.key.location": str(pem)}
                for name, pem in mine.items()
            }
            assert produced(proxy.bootstrap, topic, configs["alice"]) is None
            assert consumed(proxy.bootstrap, topic, configs["alice"]) == [b"value"]
            assert proxy.metric("rebalances_total", began="joined", ended="stable") == 1
            with exchanging(proxy, ours, mine["alice"]):
                _, page = proxy.get("/connections")
                said = [each["client"]["certificate"] for each in json.loads(page)["connections"]]
                assert principal(mine["alice"]) in said
            for name in ("bob", "carol"):
                refused = produced(proxy.bootstrap, topic, configs[name])
                assert refused is not None
                assert refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
            (warned,) = [line for line in proxy.log.read_text().splitlines() if "has no identity upstream" in line]
            assert "CN=carol" in warned
            assert str(upstream["the-proxy"]) in warned

            for carols, says in (
                (upstream["alice"], "info settings reloaded: identities of clients gone="),
                (tmp_path / "nowhere", "error settings not reloaded: all stays as it was reason="),
            ):
                with_identities(carol=carols, alice=upstream["alice"])
                proxy.process.send(signal.SIGHUP)
                proxy.wait_for(lambda says=says: says in proxy.log.read_text(), f"it says {says}")
                assert produced(proxy.bootstrap, topic, configs["carol"]) is None
            gone, new = (json.dumps(principal(mine[name])) for name in ("bob", "carol"))
            assert f"identities of clients gone={gone} new={new}\n" in proxy.log.read_text()
            assert proxy.mistakes() == 0


def test_sasl_passes_through_tls_on_both_sides(kafka_sasl_tls: Cluster, ours: Certificates, tmp_path: Path) -> None:
    topic = "proxy-sasl-tls"
    kafka_sasl_tls.create_topic(topic)
    theirs = kafka_sasl_tls.certificates
    assert theirs is not None
    text = client_tls(ours) + f'[upstream_tls]\nca_file = "{theirs.authority}"\n'
    with Running(kafka_sasl_tls.bootstrap, *configured(tmp_path, text)) as proxy:
        proxy.ready()
        config = login("alice", "SCRAM-SHA-512") | {
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(ours.authority),
        }
        assert produced(proxy.bootstrap, topic, config) is None


def test_sni_tells_brokers_apart_on_one_port(kafka3: Cluster, ours: Certificates, tmp_path: Path) -> None:
    sni = '[sni]\nbroker_pattern = "broker-{node}.kafka.example"\nbootstrap_name = "kafka.example"\n'
    with Running(kafka3.bootstrap, *configured(tmp_path, client_tls(ours) + sni)) as proxy:
        proxy.ready()
        trusting = ssl.create_default_context(cafile=str(ours.authority))

        def talk(name: str) -> ssl.SSLSocket:
            return trusting.wrap_socket(proxy.connect(), server_hostname=name)

        with talk("kafka.example") as sock:
            brokers = exchange(sock, keys.METADATA, 12, m.MetadataRequest(topics=[])).brokers
            assert {(b.node_id, b.host, b.port) for b in brokers} == {
                (node, f"broker-{node}.kafka.example", proxy.base) for node in kafka3.nodes
            }
        for node in kafka3.nodes:
            with talk(f"broker-{node}.kafka.example") as sock:
                # Only the broker itself names its own configuration.
                resource = m.DescribeConfigsRequestDescribeConfigsResource(
                    resource_type=4, resource_name=str(node), configuration_keys=["node.id"]
                )
                answer = exchange(sock, 32, 1, m.DescribeConfigsRequest(resources=[resource]))
                assert answer.results[0].error_code == 0
                assert answer.results[0].configs[0].value == str(node)
        with talk("other.kafka.example") as sock:
            assert sock.recv(1) == b""


def test_a_new_certificate_is_used_without_a_restart_and_a_broken_one_is_not(
    kafka: Cluster, ours: Certificates, tmp_path: Path
) -> None:
    pem = tmp_path / "proxy.pem"
    shutil.copy(ours.issue("first", "127.0.0.1"), pem)
    text = f'[client_tls]\ncertificate_file = "{pem}"\nprivate_key_file = "{pem}"\n'
    with Running(kafka.bootstrap, *configured(tmp_path, text)) as proxy:
        proxy.ready()
        assert shown(proxy, ours) == "first"
        shutil.copy(ours.issue("second", "127.0.0.1"), pem)
        proxy.wait_for(lambda: shown(proxy, ours) == "second", "the new certificate is shown")
        pem.write_text("no certificate")
        proxy.wait_for(lambda: "certificates not reloaded" in proxy.log.read_text(), "the broken one is reported")
        assert shown(proxy, ours) == "second"


def shown(proxy: Running, authority: Certificates) -> str:
    """The common name of the certificate that the proxy shows."""
    trusting = ssl.create_default_context(cafile=str(authority.authority))
    with trusting.wrap_socket(proxy.connect(), server_hostname="127.0.0.1") as sock:
        subject = sock.getpeercert()
        assert subject is not None
        return next(value for part in subject["subject"] for key, value in part if key == "commonName")  # type: ignore[str-unpack]


def consumed(bootstrap: str, topic: str, config: Mapping[str, Any]) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest", **config})
    consumer.subscribe([topic])
    try:
        return [message.value() for message in consumer.consume(1, 60)]
    finally:
        consumer.close()
