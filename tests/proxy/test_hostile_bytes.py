"""B7: bad bytes close their own connection with a counted cause; nobody else feels it, and memory stays bounded."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from struct import pack

import pytest

from kafka_protocol import messages as m
from kafka_protocol.frames import encode_request
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.records import record_batch
from tests.kafka.wire import exchange, read_exactly
from tests.proxy.running import Running

pytestmark = pytest.mark.broker

CONFIG = """
[limits]
max_request_bytes = 100_000
max_pipelined_requests = 50
request_timeout_ms = 1_500
idle_timeout_ms = 9_000
"""

# Answers of 26 kB each.
LEFT_LYING = 400


@pytest.fixture(scope="module")
def proxy(kafka: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    config = tmp_path_factory.mktemp("config") / "proxy.toml"
    config.write_text(CONFIG)
    with Running(kafka.bootstrap, "--config", str(config)) as running:
        yield running.ready()


@pytest.fixture
def neighbour(proxy: Running) -> Iterator[socket.socket]:
    """A well-behaved client, which must not notice."""
    with proxy.connect(1) as sock:
        assert healthy(sock)
        yield sock
        assert healthy(sock)


def healthy(sock: socket.socket) -> bool:
    return exchange(sock, 18, 0, m.ApiVersionsRequest()).error_code == 0


def framed(frame: bytes) -> bytes:
    return pack(">i", len(frame)) + frame


def closed(sock: socket.socket) -> bool:
    try:
        while sock.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.usefixtures("neighbour")
@pytest.mark.parametrize(
    ("sent", "cause"),
    [
        (pack(">ihhi", -5, 18, 0, 1), "malformed_request"),
        (pack(">ihhi", 3, 18, 0, 1), "malformed_request"),
        (pack(">ihhi", 100_001, 18, 0, 1), "request_too_large"),
        (pack(">ihhi", 2**31 - 1, 0, 3, 1), "request_too_large"),
        (b"GET / HTTP/1.1\r\nHost: proxy\r\n\r\n", "malformed_request"),
        (framed(pack(">hhih", -3, 0, 1, -1)), "malformed_request"),
        (framed(pack(">hhih", 0, 9, 1, 5000)), "malformed_request"),
    ],
)
def test_bytes_that_are_no_request_close_the_connection(proxy: Running, sent: bytes, cause: str) -> None:
    before = proxy.disconnects(cause)
    with proxy.connect(1) as sock:
        sock.sendall(sent)
        assert closed(sock)
    proxy.count_one_more(cause, before)


@pytest.mark.usefixtures("neighbour")
def test_a_request_that_trickles_in_is_cut_off(proxy: Running) -> None:
    before = proxy.disconnects("request_timeout")
    with proxy.connect(1) as sock:
        assert healthy(sock)
        frame = framed(encode_request(keys.API_VERSIONS, 0, 1, "slow", m.ApiVersionsRequest()))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            trickle(sock, frame)
    proxy.count_one_more("request_timeout", before)


def trickle(sock: socket.socket, data: bytes) -> None:
    for byte in data:
        sock.send(bytes([byte]))
        time.sleep(0.3)


def test_where_clients_must_authenticate_one_that_says_nothing_is_cut_off(kafka_sasl: Cluster, tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text("[limits]\nauthentication_timeout_ms = 1_500\n")
    with Running(kafka_sasl.bootstrap, "--config", str(config)) as proxy:
        with proxy.ready().connect() as sock:
            assert closed(sock)
        proxy.count_one_more("authentication_timeout", 0)


def test_where_anybody_is_answered_a_client_may_be_silent_at_first(kafka: Cluster, tmp_path: Path) -> None:
    """Libraries connect to every broker that they hear of, and may have nothing to ask for a while."""
    config = tmp_path / "proxy.toml"
    config.write_text("[limits]\nauthentication_timeout_ms = 500\n")
    with Running(kafka.bootstrap, "--config", str(config)) as proxy:
        proxy.wait_for(lambda: " node=1" in proxy.log.read_text(), "the cluster has named its broker")
        with proxy.connect(1) as sock:
            time.sleep(3)
            assert healthy(sock)


@pytest.mark.parametrize("speaks", [False, True])
def test_an_idle_connection_is_cut_off(proxy: Running, speaks: bool) -> None:
    before = proxy.disconnects("idle")
    with proxy.connect(1) as sock:
        assert not speaks or healthy(sock)
        assert closed(sock)
    proxy.count_one_more("idle", before)


def test_random_and_mutated_frames_disturb_nobody(proxy: Running, neighbour: socket.socket) -> None:
    """From a corpus of real requests: cut, flipped, spliced; and pure noise. Nothing may be our mistake.

    Some turn into a Fetch that the broker holds for ever, as it would for a direct client: those end as idle.
    """
    draw = random.Random(848)
    corpus = [bytes.fromhex(line) for line in (Path(__file__).with_name("corpus.txt")).read_text().split()]
    for number in range(200):
        # It would be idle, on a slow machine.
        assert number % 20 or healthy(neighbour)
        sent = bytearray(draw.choice(corpus) + draw.choice(corpus))
        for _ in range(draw.randint(1, 8)):
            sent[draw.randrange(len(sent))] = draw.randrange(256)
        if number % 4 == 0:
            sent = bytearray(draw.randbytes(draw.randint(1, 300)))
        with proxy.connect(1) as sock:
            sock.sendall(sent[: draw.randint(1, len(sent))])
            sock.shutdown(socket.SHUT_WR)
            sock.settimeout(0.02)
            try:
                sock.recv(65536)
            except (TimeoutError, ConnectionResetError):
                pass
    assert proxy.mistakes() == 0
    left = lambda: healthy(neighbour) and proxy.metric("connections_open")  # noqa: E731
    proxy.wait_for(lambda: left() <= 2, "none of them is left")


@pytest.fixture(scope="module")
def large(kafka: Cluster) -> str:
    """A topic of 20 MB."""
    kafka.create_topic("large")
    batch = record_batch(bytes(range(256)) * 3_900)
    for _ in range(20):
        data = m.ProduceRequestPartitionProduceData(index=0, records=batch)
        of_topic = m.ProduceRequestTopicProduceData(name="large", partition_data=[data])
        answer = kafka.ask(1, keys.PRODUCE, 8, m.ProduceRequest(acks=1, timeout_ms=5_000, topic_data=[of_topic]))
        assert answer.responses[0].partition_responses[0].error_code == 0
    return "large"


def test_a_client_that_asks_and_never_reads_costs_bounded_memory(proxy: Running, large: str) -> None:
    before = proxy.resident_megabytes()
    readers = []
    try:
        for _ in range(20):
            sock = proxy.connect(1)
            readers.append(sock)
            for _ in range(40):
                sock.sendall(framed(encode_request(keys.FETCH, 11, 1, "lazy", fetch(large))))
        time.sleep(3)
        # 20 × 40 × 20 MB were asked for.
        assert proxy.resident_megabytes() - before < 40
    finally:
        for sock in readers:
            sock.close()


def send_megabytes(sock: socket.socket, data: bytes, megabytes: int) -> None:
    sent = 0
    while sent < megabytes * 1_000_000:
        sent += sock.send(data)


def test_a_client_that_floods_with_what_is_answered_here_is_not_read_for_ever(proxy: Running) -> None:
    """ApiVersions of the future never reach a broker, so no broker slows them down."""
    before = proxy.resident_megabytes()
    flood = framed(pack(">hhih", 18, 99, 7, -1) + b"\0") * 1_000
    with proxy.connect(1) as sock:
        assert healthy(sock)
        sock.settimeout(1)
        with pytest.raises(TimeoutError):
            send_megabytes(sock, flood, 200)
        assert proxy.resident_megabytes() - before < 20


def test_what_a_slow_reader_gets_is_whole_and_in_order(proxy: Running, kafka: Cluster, large: str) -> None:
    direct = kafka.ask(1, keys.FETCH, 11, fetch(large))
    with proxy.connect(1) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        sock.sendall(framed(encode_request(keys.FETCH, 11, 7, "slow", fetch(large))) * 2)
        for _ in range(2):
            size = int.from_bytes(read_exactly(sock, 4), "big")
            received = b""
            while len(received) < size:
                received += sock.recv(min(300_000, size - len(received)))
            assert received[:4] == pack(">i", 7)
            assert received.endswith(direct.responses[0].partitions[0].records[-1_000:])
            assert len(received) > 5_000_000


def send_one_at_a_time(sock: socket.socket, asked: m.ListOffsetsRequest) -> None:
    for number in range(LEFT_LYING):
        sock.sendall(framed(encode_request(keys.LIST_OFFSETS, 5, number, "slow", asked)))
        time.sleep(0.01)


def test_small_answers_that_a_slow_reader_leaves_lying_are_whole_and_in_order(proxy: Running) -> None:
    """Asked one at a time, and far more than sockets hold. A broker says each in one piece, unlike what it fetches."""
    partitions = [m.ListOffsetsRequestListOffsetsPartition(partition_index=index) for index in range(1_000)]
    topic = m.ListOffsetsRequestListOffsetsTopic(name="nobody-knows", partitions=partitions)
    asked = m.ListOffsetsRequest(replica_id=-1, topics=[topic])
    with ThreadPoolExecutor(1) as thread, proxy.connect(1) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        sending = thread.submit(send_one_at_a_time, sock, asked)
        time.sleep(5)
        answers = [read_exactly(sock, int.from_bytes(read_exactly(sock, 4), "big")) for _ in range(LEFT_LYING)]
        sending.result()
    assert [int.from_bytes(answer[:4], "big") for answer in answers] == list(range(LEFT_LYING))
    assert {answer[4:] for answer in answers} == {answers[0][4:]}
    assert len(answers[0]) > 20_000


def test_an_answer_made_here_leaves_when_the_large_one_before_it_has(proxy: Running, large: str) -> None:
    with proxy.connect(1) as sock:
        unknown_version = pack(">hhih", 18, 99, 8, -1) + b"\0"
        sock.sendall(framed(encode_request(keys.FETCH, 11, 7, "client", fetch(large))) + framed(unknown_version))
        sock.settimeout(30)
        for correlation_id in (7, 8):
            answer = read_exactly(sock, int.from_bytes(read_exactly(sock, 4), "big"))
            assert answer[:4] == pack(">i", correlation_id)


def test_a_thousand_idle_connections_cost_little(kafka: Cluster) -> None:
    """Of a proxy that cuts none of them off, however long they take to come."""
    with Running(kafka.bootstrap) as patient:
        patient.ready()
        with patient.connect(1) as first:
            assert healthy(first)
        before = patient.resident_megabytes()
        held = [patient.connect(1) for _ in range(1_000)]
        try:
            for sock in held[::10]:
                assert healthy(sock)
            patient.wait_for(lambda: patient.metric("connections_open") >= 1_000, "all of them are in")
            assert patient.resident_megabytes() - before < 30
        finally:
            for sock in held:
                sock.close()


def fetch(topic: str) -> m.FetchRequest:
    partition = m.FetchRequestFetchPartition(partition=0, partition_max_bytes=20_000_000)
    of_topic = m.FetchRequestFetchTopic(topic=topic, partitions=[partition])
    return m.FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=20_000_000, session_epoch=-1, topics=[of_topic])
