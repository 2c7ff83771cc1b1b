"""What a producer sends arrives whole and in order, however large it is: the inside of large requests is spliced."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from struct import pack, unpack_from

import pytest

from kafka_protocol import messages as m
from kafka_protocol.frames import encode_request
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.records import record_batch
from tests.kafka.wire import read_frame
from tests.proxy.running import Running

pytestmark = pytest.mark.broker

# Around what is spliced, and what is read at once; 1 MB is what a broker takes.
SIZES = (10, 60_000, 64 * 1024, 70_000, 250_000, 300_000, 1_000_000)
REQUESTS = 60
# Of a batch as it is stored: its offset and its leader's epoch are the broker's; behind them all is the client's.
THE_CLIENTS = 16


@pytest.mark.parametrize("seed", range(3))
def test_large_and_small_requests_arrive_as_they_were_sent_whatever_the_pieces(kafka: Cluster, seed: int) -> None:
    chance = random.Random(seed)
    topic = f"large-requests-{seed}"
    kafka.create_topic(topic)
    batches = [record_batch(chance.randbytes(chance.choice(SIZES))) for _ in range(REQUESTS)]
    stream = b"".join(asked(topic, number, batch) for number, batch in enumerate(batches))
    with Running(kafka.bootstrap) as proxy, ThreadPoolExecutor(1) as thread, proxy.ready().connect(1) as sock:
        sending = thread.submit(send_in_pieces, sock, stream, chance)
        answered = [unpack_from(">i", read_frame(sock))[0] for _ in range(2 * REQUESTS)]
        sending.result()
        assert answered == list(range(2 * REQUESTS))
        assert proxy.mistakes() == 0
    assert [batch[THE_CLIENTS:] for batch in stored(kafka, topic)] == [batch[THE_CLIENTS:] for batch in batches]


def asked(topic: str, number: int, batch: bytes) -> bytes:
    """A Produce, and behind it a request whose answer is small and overtakes nothing."""
    data = m.ProduceRequestPartitionProduceData(index=0, records=batch)
    of_topic = m.ProduceRequestTopicProduceData(name=topic, partition_data=[data])
    produce = m.ProduceRequest(acks=1, timeout_ms=5_000, topic_data=[of_topic])
    frames = (
        encode_request(keys.PRODUCE, 8, 2 * number, "large", produce),
        encode_request(keys.API_VERSIONS, 0, 2 * number + 1, "large", m.ApiVersionsRequest()),
    )
    return b"".join(pack(">i", len(frame)) + frame for frame in frames)


def send_in_pieces(sock: socket.socket, stream: bytes, chance: random.Random) -> None:
    """Far more than the broker takes at once: it answers one request before it reads the next."""
    at = 0
    while at < len(stream):
        size = chance.choice((1, 13, 5_000, 100_000, 3_000_000))
        sock.sendall(stream[at : at + size])
        at += size


def stored(cluster: Cluster, topic: str) -> Iterator[bytes]:
    """The batches of a partition, read past the proxy; all of them are less than a broker says at once."""
    partition = m.FetchRequestFetchPartition(partition=0, partition_max_bytes=50_000_000)
    of_topic = m.FetchRequestFetchTopic(topic=topic, partitions=[partition])
    fetch = m.FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=50_000_000, session_epoch=-1, topics=[of_topic])
    records = cluster.ask(1, keys.FETCH, 11, fetch).responses[0].partitions[0].records
    at = 0
    while at < len(records):
        length = 12 + unpack_from(">i", records, at + 8)[0]
        yield records[at : at + length]
        at += length
