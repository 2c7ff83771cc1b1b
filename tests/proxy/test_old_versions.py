"""KIP-896: brokers have dropped ListOffsets 0, OffsetCommit 0 and 1 and OffsetFetch 0; the proxy serves them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import closing
from struct import pack
from typing import Any

import pytest
import trio
from confluent_kafka import Producer

from demo.cluster import open_cluster
from demo.cluster.apis import OFFERED
from kafka_protocol import decode_response, encode_request, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.addresses import Directory
from proxy.cli import main
from proxy.settings import Settings
from proxy.wire import Wire
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.kafka.wire import exchange, read_frame
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running

pytestmark = pytest.mark.broker

FIRST_FETCH = 4
LATEST, EARLIEST = -1, -2
FIRST_OF_MANY_GROUPS, FIRST_BY_TOPIC_ID = 8, 10
UNKNOWN_TOPIC_OR_PARTITION = 3
RECORDS = 7
# When the records were written, by their own timestamps: the first at this time, each a second after the last.
BEGAN_MS, APART_MS = 1_700_000_000_000, 1_000


@pytest.fixture(scope="module")
def written(cluster: Cluster) -> str:
    """A topic whose partition 0 has records; partition 1 has none."""
    name = f"written-{uuid.uuid4()}"
    # By their timestamps they are too old to be kept: once in a while a broker looks, half a minute after its start at first.
    cluster.create_topic(name, partitions=2, retention_ms="-1")
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "enable.idempotence": True})
    for number in range(RECORDS):
        producer.produce(name, str(number), partition=0, timestamp=BEGAN_MS + number * APART_MS)
    assert producer.flush(60) == 0
    return name


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"old-versions-{uuid.uuid4()}"
    cluster.create_topic(name, partitions=2)
    return name


@pytest.fixture
def client(proxy: Running, cluster: Cluster, topic: str) -> Iterator[ByHand]:
    one = ByHand(("127.0.0.1", proxy.port_of(cluster.coordinator(topic))), topic, topic)
    yield one
    one.close()


def test_versions_that_brokers_dropped_are_offered(client: ByHand) -> None:
    offered = {each.api_key: each for each in client.ask(keys.API_VERSIONS, 3, introduction()).api_keys}
    dropped = (keys.LIST_OFFSETS, keys.OFFSET_COMMIT, keys.OFFSET_FETCH, keys.JOIN_GROUP)
    assert [offered[key].min_version for key in dropped] == [0, 0, 0, 0]


async def test_brokers_that_do_not_describe_consumer_groups_get_no_native_members(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(OFFERED, keys.CONSUMER_GROUP_DESCRIBE)
    async with open_cluster(topics={"orders": 2}) as cluster:

        def joins() -> str:
            with Running(cluster.nodes[1].address) as proxy:
                proxy.ready()
                with closing(ByHand(("127.0.0.1", proxy.port_of(1)), "billing", "orders")) as one:
                    one.join()
                return proxy.log.read_text()

        assert 'reason="the brokers do not offer ConsumerGroupHeartbeat"' in await trio.to_thread.run_sync(joins)


def introduction() -> m.ApiVersionsRequest:
    return m.ApiVersionsRequest(client_software_name="by-hand", client_software_version="1")


def test_what_a_broker_cannot_be_asked_instead_is_not_offered() -> None:
    """A broker of the future that begins at ListOffsets 2."""
    theirs = [m.ApiVersionsResponseApiVersion(api_key=keys.LIST_OFFSETS, min_version=2, max_version=11)]
    said = encode_response(keys.API_VERSIONS, 0, 1, m.ApiVersionsResponse(api_keys=theirs))
    told = Wire(Directory(Settings(upstream=("kafka:9092",)))).rewrite(keys.API_VERSIONS << 16, said)
    assert decode_response(keys.API_VERSIONS, 0, told)[1].api_keys[0].min_version == 2


def test_brokers_have_dropped_them(cluster: Cluster) -> None:
    """Else the rest of this file would show nothing."""
    offered = {
        each.api_key: each.min_version for each in cluster.ask_any(keys.API_VERSIONS, 3, introduction()).api_keys
    }
    assert (offered[keys.LIST_OFFSETS], offered[keys.OFFSET_COMMIT], offered[keys.OFFSET_FETCH]) == (1, 2, 1)


@pytest.mark.parametrize(
    ("timestamp", "most", "offsets"),
    [
        (LATEST, 1, [RECORDS]),
        (LATEST, 5, [RECORDS, 0]),
        (EARLIEST, 5, [0]),
        # The first record at or after that time; then the start of the log.
        (BEGAN_MS + 3 * APART_MS - 1, 1, [3]),
        (BEGAN_MS + 3 * APART_MS, 5, [3, 0]),
        (BEGAN_MS - 1, 5, [0]),
        # Nothing was written since: the end.
        (BEGAN_MS + RECORDS * APART_MS, 1, [RECORDS]),
        (LATEST, 0, []),
    ],
)
def test_offsets_are_listed_newest_first(
    client: ByHand, written: str, timestamp: int, most: int, offsets: list[int]
) -> None:
    assert listed(client, written, {0: (timestamp, most)}) == {0: (0, offsets)}


def test_each_partition_is_listed_at_its_own_time(client: ByHand, written: str) -> None:
    asked = {0: (LATEST, 2), 1: (LATEST, 2), 7: (EARLIEST, 1)}
    assert listed(client, written, asked) == {
        0: (0, [RECORDS, 0]),
        1: (0, [0]),
        7: (UNKNOWN_TOPIC_OR_PARTITION, []),
    }


def listed(client: ByHand, topic: str, asked: dict[int, tuple[int, int]]) -> dict[int, tuple[int, list[int]]]:
    partitions = [
        m.ListOffsetsRequestListOffsetsPartition(partition_index=number, timestamp=at, max_num_offsets=most)
        for number, (at, most) in asked.items()
    ]
    wanted = m.ListOffsetsRequest(
        replica_id=-1, topics=[m.ListOffsetsRequestListOffsetsTopic(name=topic, partitions=partitions)]
    )
    (answered,) = client.ask(keys.LIST_OFFSETS, 0, wanted).topics
    return {each.partition_index: (each.error_code, each.old_style_offsets) for each in answered.partitions}


def test_every_version_lists_the_same_end(client: ByHand, written: str) -> None:
    partition = m.ListOffsetsRequestListOffsetsPartition(partition_index=0, timestamp=LATEST)
    of_topic = m.ListOffsetsRequestListOffsetsTopic(name=written, partitions=[partition])
    for version in versions_offered(client, keys.LIST_OFFSETS):
        (answered,) = client.ask(
            keys.LIST_OFFSETS, version, m.ListOffsetsRequest(replica_id=-1, topics=[of_topic])
        ).topics
        (told,) = answered.partitions
        assert (version, told.old_style_offsets if version == 0 else [told.offset]) == (version, [RECORDS])


def test_every_version_fetches_the_same_offset(client: ByHand, topic: str) -> None:
    until(lambda: client.commit(topic, 0, 5, 2, generation_id_or_member_epoch=-1) == 0, "the coordinator is there")
    for version in versions_offered(client, keys.OFFSET_FETCH):
        if version < FIRST_BY_TOPIC_ID:
            assert (version, fetched(client, topic, version)[0]) == (version, (0, 5))


def versions_offered(client: ByHand, key: int) -> range:
    offered = next(each for each in client.ask(keys.API_VERSIONS, 3, introduction()).api_keys if each.api_key == key)
    assert offered.min_version == 0
    return range(offered.max_version + 1)


@pytest.mark.parametrize("version", [0, 1])
def test_what_an_old_client_commits_in_nobodys_name_it_finds_again(client: ByHand, topic: str, version: int) -> None:
    """Zero is what it finds, and not "nothing"; where nothing is, version 0 says so in its own word."""

    def committed() -> bool:
        return client.commit(topic, 0, 0, version, generation_id_or_member_epoch=-1) == 0

    until(committed, "the coordinator is there")
    assert fetched(client, topic, 0) == {0: (0, 0), 1: (UNKNOWN_TOPIC_OR_PARTITION, -1)}
    assert fetched(client, topic, 1) == {0: (0, 0), 1: (0, -1)}


def fetched(client: ByHand, topic: str, version: int) -> dict[int, tuple[int, int]]:
    both = [0, 1]
    if version < FIRST_OF_MANY_GROUPS:
        of_topic = m.OffsetFetchRequestTopic(name=topic, partition_indexes=both)
        (answered,) = client.ask(keys.OFFSET_FETCH, version, m.OffsetFetchRequest(client.group, [of_topic])).topics
    else:
        of_group = m.OffsetFetchRequestGroup(
            group_id=client.group, topics=[m.OffsetFetchRequestTopics(name=topic, partition_indexes=both)]
        )
        (answered,) = client.ask(keys.OFFSET_FETCH, version, m.OffsetFetchRequest(groups=[of_group])).groups[0].topics
    return {each.partition_index: (each.error_code, each.committed_offset) for each in answered.partitions}


@pytest.mark.parametrize("version", [0, 1])
def test_a_member_of_a_translated_group_commits_and_finds_it_again(client: ByHand, topic: str, version: int) -> None:
    """Version 0 names no member, so its sender must have left; version 1 speaks for one."""
    one = client.joins(0, 0)
    if version == 0:
        one.leave(0)
    assert one.commit(topic, 1, 41, version) == 0
    assert fetched(one, topic, 0)[1] == (0, 41)


@pytest.mark.parametrize(("version", "relies_on"), [(1, ["OffsetCommit v1"]), (2, [])])
def test_who_asks_in_words_that_brokers_have_dropped_is_named_once_and_in_the_report(
    client: ByHand, proxy: Running, topic: str, capsys: pytest.CaptureFixture[str], version: int, relies_on: list[str]
) -> None:
    """Else nobody knows before it goes to the brokers: not even itself, where it hears nothing of its commits (sarama)."""
    client.client_id = f"old-{topic}"
    client.joins()
    for offset in (41, 42):
        client.on_new_socket()
        assert client.commit(topic, 1, offset, version) == 0
    lines = [line for line in proxy.log.read_text().splitlines() if f"client={client.client_id}" in line]
    said = [line for line in lines if "client relies on the proxy" in line]
    report = ("report", "--admin", f"127.0.0.1:{proxy.admin}")
    assert main(report) == 0
    [in_words] = [line for line in capsys.readouterr().out.splitlines() if line.startswith(topic)]
    assert main([*report, "--json"]) == 0
    groups = {group["group_id"]: group for group in json.loads(capsys.readouterr().out)["groups"]}
    assert groups[topic]["relies_on"] == relies_on
    assert [line.partition("asked=")[2][:17] for line in said] == [f'"{each}"' for each in relies_on]
    assert in_words.endswith("1 × unknown; brokers have dropped OffsetCommit v1" if relies_on else "1 × unknown")


def test_who_fetches_in_words_that_brokers_have_dropped_is_named_once(
    proxy: Running, cluster: Cluster, written: str
) -> None:
    partition = m.FetchRequestFetchPartition(partition=0, partition_max_bytes=1_000)
    topic = m.FetchRequestFetchTopic(topic=written, partitions=[partition])
    wanted = m.FetchRequest(replica_id=-1, max_wait_ms=100, min_bytes=1, topics=[topic])
    name = f"ancient-{uuid.uuid4()}"
    for version in (2, 2, FIRST_FETCH):
        with proxy.connect(1) as sock:
            if version == FIRST_FETCH:
                wanted.max_bytes = 1_000
                assert exchange(sock, keys.FETCH, version, wanted, name).responses[0].partitions[0].error_code == 0
            else:
                with pytest.raises(ConnectionError):
                    exchange(sock, keys.FETCH, version, wanted, name)
    [said] = [line for line in proxy.log.read_text().splitlines() if f"client={name}" in line]
    assert "warning client too old for its broker" in said
    assert 'asked="Fetch v2" remedy="brokers since 4.0 take Fetch from version 4 on' in said


@pytest.mark.parametrize(("acks", "named"), [(1, 1), (0, 0)])
def test_so_is_who_produces_in_them_and_wants_an_answer(
    proxy: Running, cluster: Cluster, topic: str, acks: int, named: int
) -> None:
    partition = m.ProduceRequestPartitionProduceData(index=0, records=b"")
    of_topic = m.ProduceRequestTopicProduceData(name=topic, partition_data=[partition])
    wanted = m.ProduceRequest(acks=acks, timeout_ms=1_000, topic_data=[of_topic])
    name = f"ancient-{uuid.uuid4()}"
    for version in (2, 1):
        with proxy.connect(1) as sock, pytest.raises(ConnectionError):
            exchange(sock, keys.PRODUCE, version, wanted, name)
    said = [line for line in proxy.log.read_text().splitlines() if f"client={name}" in line]
    assert [line.partition("asked=")[2][:12] for line in said] == ['"Produce v2"'] * named


def test_answers_keep_their_order_among_others(client: ByHand, written: str) -> None:
    """Four requests in one breath, of which every other one is asked twice upstream."""
    partition = m.ListOffsetsRequestListOffsetsPartition(partition_index=0, timestamp=LATEST, max_num_offsets=2)
    of_topic = m.ListOffsetsRequestListOffsetsTopic(name=written, partitions=[partition])
    asked: list[tuple[int, int, Any]] = [
        (keys.LIST_OFFSETS, 0, m.ListOffsetsRequest(replica_id=-1, topics=[of_topic])),
        (keys.API_VERSIONS, 0, m.ApiVersionsRequest()),
    ] * 2
    frames = [encode_request(key, version, at, "tests", body) for at, (key, version, body) in enumerate(asked)]
    client.sock.sendall(b"".join(pack(">i", len(frame)) + frame for frame in frames))
    for at, (key, version, _) in enumerate(asked):
        correlation_id, _ = decode_response(key, version, read_frame(client.sock))
        assert correlation_id == at
