"""B1, B2, B5: what clients are told of brokers, in every version, on every listener; and what versions they are offered."""

from __future__ import annotations

import base64
import importlib
import uuid
from collections.abc import Iterator
from struct import pack
from typing import Any

import pytest

from kafka_protocol import API, decode_response, surgery
from kafka_protocol import messages as m
from kafka_protocol.frames import encode_request
from kafka_protocol.messages import keys
from kafka_protocol.schema import Field
from proxy.wire import CEILINGS, REWRITTEN_FROM, SERVED_FROM_0
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.kafka.records import record_batch
from tests.kafka.wire import exchange, read_frame
from tests.proxy.running import Running

# They carry hosts and ports, but not of brokers that a client could dial.
NOT_BROKERS = {
    "StreamsGroupHeartbeat": "endpoints of the Streams applications themselves",
    "StreamsGroupDescribe": "endpoints of the Streams applications themselves",
}


def fields_within(fields: tuple[Field, ...], version: int) -> Iterator[list[str]]:
    """The names of the fields of each struct in a message."""
    present = [field for field in fields if field.exists(version)]
    yield [field.name for field in present]
    for field in present:
        if field.fields:
            yield from fields_within(field.fields, version)


def carries_address(fields: tuple[Field, ...], version: int) -> bool:
    return any("port" in names and any("host" in name for name in names) for names in fields_within(fields, version))


def test_every_answer_that_carries_broker_addresses_is_rewritten_or_not_offered() -> None:
    """When a newer Kafka puts addresses into another answer, this fails until somebody decides what to do."""
    for key, api in API.items():
        schema = importlib.import_module(api.response.__module__).SCHEMAS[api.response.__name__]
        for version in range(api.versions[0], min(api.versions[1], CEILINGS.get(key, 99)) + 1):
            if carries_address(schema.fields(version), version) and api.name not in NOT_BROKERS:
                assert version >= REWRITTEN_FROM.get(key, 99), f"{api.name} v{version} names brokers"


def test_the_search_for_addresses_finds_those_that_are_known() -> None:
    found = {api.name for api in API.values() for v in [api.versions[1]] if _newest_carries_address(api.response, v)}
    known = {"Metadata", "FindCoordinator", "DescribeCluster", "Produce", "Fetch", "ShareFetch", "ShareAcknowledge"}
    assert found == known | {"DescribeQuorum"} | NOT_BROKERS.keys()


def _newest_carries_address(response: type, version: int) -> bool:
    schema = importlib.import_module(response.__module__).SCHEMAS[response.__name__]
    return carries_address(schema.fields(version), version)


# --------------------------------------------------------------------------------------------- against real brokers


@pytest.fixture(scope="module")
def proxy(kafka3: Cluster) -> Iterator[Running]:
    kafka3.create_topic("spread", partitions=6, replication=3)
    kafka3.coordinator("some-group")
    with Running(kafka3.bootstrap) as running:
        yield running.ready()


def asked(proxy: Running, key: int, version: int, body: Any, node: int | None = None) -> tuple[bytes, Any]:
    """The raw answer and what it says."""
    with proxy.connect(node) as sock:
        frame = encode_request(key, version, 5, "tests", body)
        sock.sendall(pack(">i", len(frame)) + frame)
        raw = read_frame(sock)
    return raw, decode_response(key, version, raw)[1]


def real_ports(cluster: Cluster) -> list[bytes]:
    return [pack(">i", port) for node in cluster.nodes.values() for port in (node.client_port, node.internal_port)]


def told_ports(proxy: Running, cluster: Cluster) -> dict[int, int]:
    return {number: proxy.port_of(number) for number in cluster.nodes}


@pytest.mark.broker
@pytest.mark.parametrize("version", range(14))
def test_metadata_names_the_proxy_in_every_version(proxy: Running, kafka3: Cluster, version: int) -> None:
    topics = [m.MetadataRequestTopic(name="spread")]
    raw, answer = asked(proxy, 3, version, m.MetadataRequest(topics=topics))
    assert {b.node_id: b.port for b in answer.brokers} == told_ports(proxy, kafka3)
    assert {b.host for b in answer.brokers} == {"127.0.0.1"}
    assert [t.name for t in answer.topics] == ["spread"]
    assert not any(port in raw for port in real_ports(kafka3))


@pytest.mark.broker
@pytest.mark.parametrize("version", range(7))
def test_find_coordinator_agrees_with_metadata_on_every_listener(proxy: Running, kafka3: Cluster, version: int) -> None:
    for node in (None, 1, 2, 3):
        request = m.FindCoordinatorRequest(key="some-group", coordinator_keys=["some-group"] if version >= 4 else [])
        raw, answer = asked(proxy, 10, version, request, node)
        found = answer.coordinators[0] if version >= 4 else answer
        assert found.error_code == 0
        assert (found.host, found.port) == ("127.0.0.1", proxy.port_of(found.node_id))
        assert not any(port in raw for port in real_ports(kafka3))


@pytest.mark.broker
@pytest.mark.parametrize("version", range(3))
def test_describe_cluster_names_the_proxy(proxy: Running, kafka3: Cluster, version: int) -> None:
    _, answer = asked(proxy, 60, version, m.DescribeClusterRequest())
    assert {b.broker_id: b.port for b in answer.brokers} == told_ports(proxy, kafka3)


@pytest.mark.broker
@pytest.mark.parametrize("version", [10, 11, 12, 13])
def test_an_answer_that_names_the_new_leader_names_the_proxy(proxy: Running, kafka3: Cluster, version: int) -> None:
    leader = kafka3.leaders("spread")[0]
    other = next(node for node in kafka3.nodes if node != leader)
    raw, answer = asked(proxy, 0, version, one_record(proxy, version), other)
    assert answer.responses[0].partition_responses[0].error_code == 6
    assert [(n.node_id, n.host, n.port) for n in answer.node_endpoints] == [
        (leader, "127.0.0.1", proxy.port_of(leader))
    ]
    assert not any(port in raw for port in real_ports(kafka3))


@pytest.mark.broker
@pytest.mark.parametrize("version", [1, 2])
def test_so_does_one_to_a_share_consumer(proxy: Running, kafka3: Cluster, version: int) -> None:
    leader = kafka3.leaders("spread")[0]
    other = next(node for node in kafka3.nodes if node != leader)
    fetch = m.ShareFetchRequest(
        group_id=f"shares-{version}",
        member_id=base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="),
        max_wait_ms=500,
        max_records=1,
        batch_size=1,
        topics=[
            m.ShareFetchRequestFetchTopic(
                topic_id=topic_id(proxy), partitions=[m.ShareFetchRequestFetchPartition(partition_index=0)]
            )
        ],
    )
    raw, answer = asked(proxy, 78, version, fetch, other)
    assert answer.responses[0].partitions[0].error_code == 6
    assert [(n.node_id, n.host, n.port) for n in answer.node_endpoints] == [
        (leader, "127.0.0.1", proxy.port_of(leader))
    ]
    assert not any(port in raw for port in real_ports(kafka3))


@pytest.mark.broker
@pytest.mark.parametrize("version", [10, 11, 12, 13])
def test_what_a_broker_says_of_records_it_took_is_known_at_a_glance(
    proxy: Running, kafka3: Cluster, version: int
) -> None:
    raw, answer = asked(proxy, 0, version, one_record(proxy, version), kafka3.leaders("spread")[0])
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert surgery.names_no_broker(raw, version)


def topic_id(proxy: Running) -> bytes:
    _, seen = asked(proxy, 3, 12, m.MetadataRequest(topics=[m.MetadataRequestTopic(name="spread")]))
    found: bytes = seen.topics[0].topic_id
    return found


def one_record(proxy: Running, version: int) -> m.ProduceRequest:
    """For the first partition of "spread", which is named by its id since version 13."""
    data = m.ProduceRequestPartitionProduceData(index=0, records=record_batch(b"one record"))
    name = {"topic_id": topic_id(proxy)} if version >= 13 else {"name": "spread"}
    topic = m.ProduceRequestTopicProduceData(**name, partition_data=[data])
    return m.ProduceRequest(acks=1, timeout_ms=5_000, topic_data=[topic])


@pytest.mark.broker
@pytest.mark.parametrize("version", range(6))
def test_api_versions_offers_only_what_is_understood_and_raises_no_minimum(
    proxy: Running, kafka3: Cluster, version: int
) -> None:
    body = m.ApiVersionsRequest(client_software_name="tests", client_software_version="1")
    _, offered = asked(proxy, 18, version, body, 1)
    direct = kafka3.ask(1, keys.API_VERSIONS, version, body)
    ours = {each.api_key: (each.min_version, each.max_version) for each in offered.api_keys}
    theirs = {each.api_key: (each.min_version, each.max_version) for each in direct.api_keys}
    assert ours.keys() == theirs.keys()
    for key, (least, most) in theirs.items():
        least = 0 if key in SERVED_FROM_0 else least
        assert ours[key] == (least, min(most, CEILINGS.get(key, most)))
    assert ours[1][1] == 15
    assert offered.finalized_features == direct.finalized_features


@pytest.mark.broker
def test_api_versions_newer_than_ours_is_answered_in_version_zero_with_error_35(proxy: Running) -> None:
    with proxy.connect() as sock:
        # Header version 2 and a body from the future.
        frame = pack(">hhih", 18, 99, 7, 1) + b"c\0" + b"\x09anything"
        sock.sendall(pack(">i", len(frame)) + frame)
        answer = read_frame(sock)
        assert answer[:6] == pack(">ih", 7, 35)
        # The connection lives, and the client falls back on it.
        versions = exchange(sock, 18, 3, m.ApiVersionsRequest(client_software_name="a", client_software_version="1"))
        assert versions.error_code == 0


@pytest.mark.broker
def test_a_client_that_asks_no_versions_is_served(proxy: Running) -> None:
    with proxy.connect() as sock:
        assert exchange(sock, 3, 1, m.MetadataRequest(topics=[])).brokers


@pytest.mark.broker
def test_a_version_that_would_leak_an_address_is_refused_as_a_broker_refuses_unknown_ones(proxy: Running) -> None:
    before = proxy.disconnects("unsupported_version")
    with proxy.connect(1) as sock:
        frame = encode_request(keys.FETCH, 16, 1, "tests", m.FetchRequest())
        sock.sendall(pack(">i", len(frame)) + frame)
        assert sock.recv(1) == b""
    proxy.count_one_more("unsupported_version", before)


@pytest.mark.broker
def test_an_api_that_is_not_known_here_is_the_brokers_to_judge(proxy: Running) -> None:
    """It closes the connection, so that is what the client sees."""
    before = proxy.disconnects("broker_closed")
    with proxy.connect(1) as sock:
        frame = pack(">hhih", 999, 0, 1, -1)
        sock.sendall(pack(">i", len(frame)) + frame)
        assert sock.recv(1) == b""
    proxy.count_one_more("broker_closed", before)


@pytest.mark.broker
def test_ports_survive_a_restart_of_the_proxy(kafka3: Cluster) -> None:
    with Running(kafka3.bootstrap) as first:
        told = [(b.node_id, b.port) for b in asked(first.ready(), 3, 12, m.MetadataRequest(topics=[]))[1].brokers]
        base = first.base
        first.stop()
    with Running(kafka3.bootstrap, base=base) as again:
        # A client that remembers a port dials it before anybody asked for metadata.
        again.ready()
        for node, port in told:
            with again.connect(node) as sock:
                assert sock.getpeername()[1] == port
                assert exchange(sock, 18, 0, m.ApiVersionsRequest()).error_code == 0


@pytest.mark.broker
def test_a_broker_that_joins_is_followed() -> None:
    with Cluster.start() as cluster, Running(cluster.bootstrap) as proxy:
        proxy.ready()
        added = cluster.add_node()

        def known() -> bool:
            return {b.node_id for b in asked(proxy, 3, 12, m.MetadataRequest(topics=[]))[1].brokers} == {1, added}

        until(known, "the new broker is named")
        answer = asked(proxy, 18, 0, m.ApiVersionsRequest(), added)[1]
        assert answer.error_code == 0
