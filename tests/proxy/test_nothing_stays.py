"""Whoever comes and goes leaves nothing with the proxy: no connection, no member, no work for Python's garbage collector.

The collector is told to look seldom (`server.py`), so what only it could let go of would be there in tens of thousands. And
benches hold their connections: what their coming and going costs they do not see.
"""

from __future__ import annotations

import socket
import ssl
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.ports import free_ports
from tests.kafka.wire import send
from tests.proxy.by_hand import ByHand
from tests.proxy.running import secured
from tests.proxy.watched import Watched

pytestmark = pytest.mark.broker

VISITS, SOME = 12, 6
# A session, and some; but not the half minute for which an answer may be waited.
GONE_SECONDS = 25
# One for each group, of the last 20,000; what an alarm of ten or thirty seconds still has of a question: that it is over; and
# one for each thing that can be logged.
REMEMBERED = {"proxy.groups.passing.Ruling", "proxy.groups.line.Question", "proxy.logs._Said"}
NODE = 1
SHORTEST_SESSION_MS = 6_000
JOIN_EPOCH, LEAVE_EPOCH = 0, -1
OLD_TRANSACTION, NEW_TRANSACTION = 3, 5


class Door(NamedTuple):
    address: tuple[str, int]
    tls: ssl.SSLContext | None = None


class Visitor(ByHand):
    """Unlike anybody before: of a group of its own, but for those that meet in one."""

    def __init__(self, door: Door, topic: str, group: str = "", instance_id: str | None = None) -> None:
        self.door = door
        super().__init__(door.address, group or f"group-{uuid.uuid4()}", topic, instance_id=instance_id)
        self.client_id = f"client-{uuid.uuid4()}"
        self.session_timeout_ms = self.rebalance_timeout_ms = SHORTEST_SESSION_MS

    def connect(self) -> socket.socket:
        plain = super().connect()
        return self.door.tls.wrap_socket(plain, server_hostname="localhost") if self.door.tls is not None else plain


Visit = Callable[[Door, str], None]


def member(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic)) as one:
        one.joins()
        assert one.commit(topic, 0, 1) == 0
        assert one.leave().error_code == 0


def static_member(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic, instance_id=f"instance-{uuid.uuid4()}")) as one:
        one.joins()
        assert one.leave().error_code == 0


def one_of_many(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic, group=f"many-{topic}")) as one:
        assert one.join().error_code == 0
        one.sync()
        one.beat()
        assert one.leave().error_code == 0


def dies(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic)) as one:
        one.joins()


def dies_while_it_joins(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic)) as one:
        send(one.sock, keys.JOIN_GROUP, 5, one.join_request(), one.client_id)


def of_transactions(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic)) as one:
        one.joins()
        assert one.transact(topic, 0, 1, OLD_TRANSACTION) == 0
        assert one.transact(topic, 0, 2, NEW_TRANSACTION) == 0
        assert one.leave().error_code == 0


def native_member(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic)) as one:
        comes = m.ConsumerGroupHeartbeatRequest(
            group_id=one.group,
            member_id=str(uuid.uuid4()),
            member_epoch=JOIN_EPOCH,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=[topic],
            topic_partitions=[],
        )
        assert one.ask(keys.CONSUMER_GROUP_HEARTBEAT, 1, comes).error_code == 0
        goes = m.ConsumerGroupHeartbeatRequest(group_id=one.group, member_id=comes.member_id, member_epoch=LEAVE_EPOCH)
        assert one.ask(keys.CONSUMER_GROUP_HEARTBEAT, 1, goes).error_code == 0


def reader_without_a_group(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic)) as one:
        one.ask(keys.API_VERSIONS, 0, m.ApiVersionsRequest())
        one.ask(keys.METADATA, 9, m.MetadataRequest(topics=[m.MetadataRequestTopic(name=topic)]))
        one.fetch(topic)


def tool(door: Door, topic: str) -> None:
    with closing(Visitor(door, topic)) as one:
        assert one.commit(topic, 0, 1) == 0
        one.ask(keys.LIST_GROUPS, 4, m.ListGroupsRequest())
        one.ask(keys.DESCRIBE_GROUPS, 5, m.DescribeGroupsRequest(groups=[one.group]))
        one.ask(keys.CONSUMER_GROUP_DESCRIBE, 0, m.ConsumerGroupDescribeRequest(group_ids=[one.group]))
        [deleted] = one.ask(keys.DELETE_GROUPS, 2, m.DeleteGroupsRequest(groups_names=[one.group])).results
        assert deleted.error_code == 0


def stranger(door: Door, topic: str) -> None:
    """Not of this protocol, or no longer there."""
    for said in (b"", b"\0\0\0\x20\0\x0b", b"\xff" * 40, b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n"):
        with closing(Visitor(door, topic)) as one:
            one.sock.sendall(said)


VISITS_OF = (
    member,
    static_member,
    one_of_many,
    dies,
    dies_while_it_joins,
    of_transactions,
    native_member,
    reader_without_a_group,
    tool,
    stranger,
)


OVER_TLS = (member, dies, reader_without_a_group, stranger)
# Half of these find their group with another process, and their connection goes there, or is passed on to it.
FROM_ONE_TO_ANOTHER = (member, one_of_many, dies)


@pytest.fixture(scope="module")
def watched(kafka: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """With all that there is to write: traces and a journal."""
    place = tmp_path_factory.mktemp("watched")
    yield from proxy_of(
        kafka, f'[translation]\njournal = "{place}/journal"\n[traces]\nfile = "{place}/traces.json"\n', place
    )


@pytest.fixture(scope="module")
def watched_tls(kafka_tls: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    assert kafka_tls.certificates is not None
    yield from proxy_of(kafka_tls, secured(kafka_tls.certificates), tmp_path_factory.mktemp("watched"))


@pytest.fixture(scope="module")
def two(kafka: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    yield from proxy_of(kafka, "", tmp_path_factory.mktemp("watched"), processes=2)


@pytest.fixture(scope="module")
def two_with_tls(kafka_tls: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    assert kafka_tls.certificates is not None
    yield from proxy_of(kafka_tls, secured(kafka_tls.certificates), tmp_path_factory.mktemp("watched"), processes=2)


def proxy_of(kafka: Cluster, settings: str, place: Path, processes: int = 1) -> Iterator[Watched]:
    config = place / "proxy.toml"
    config.write_text(settings)
    with Watched(kafka.bootstrap, "--config", str(config), processes=processes) as proxy:
        yield proxy.ready()
        assert proxy.mistakes() == 0
        assert (proxy.disconnects("moved") > 0) == (processes > 1)


@pytest.mark.parametrize("visit", VISITS_OF)
def test_who_has_been_here_leaves_nothing(watched: Watched, kafka: Cluster, visit: Visit) -> None:
    door, topic = Door(("127.0.0.1", watched.port_of(NODE))), topic_of(kafka)
    nothing_stays(watched, lambda: visit(door, topic))


@pytest.mark.parametrize("visit", OVER_TLS)
def test_nor_who_comes_over_tls(watched_tls: Watched, kafka_tls: Cluster, visit: Visit) -> None:
    door, topic = Door(("127.0.0.1", watched_tls.port_of(NODE)), trusting(kafka_tls)), topic_of(kafka_tls)
    nothing_stays(watched_tls, lambda: visit(door, topic))


@pytest.mark.parametrize("visit", FROM_ONE_TO_ANOTHER)
def test_nor_who_goes_from_one_process_to_another(two: Watched, kafka: Cluster, visit: Visit) -> None:
    door, topic = Door(("127.0.0.1", two.port_of(NODE))), topic_of(kafka)
    nothing_stays(two, lambda: visit(door, topic))


@pytest.mark.parametrize("visit", FROM_ONE_TO_ANOTHER)
def test_nor_who_is_passed_on_over_tls(two_with_tls: Watched, kafka_tls: Cluster, visit: Visit) -> None:
    door, topic = Door(("127.0.0.1", two_with_tls.port_of(NODE)), trusting(kafka_tls)), topic_of(kafka_tls)
    nothing_stays(two_with_tls, lambda: visit(door, topic))


@pytest.mark.parametrize("with_tls", [False, True], ids=["plaintext", "TLS"])
def test_nor_who_finds_no_broker(kafka_tls: Cluster, with_tls: bool, tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text(secured(kafka_tls.certificates) if with_tls else "")  # type: ignore[arg-type]
    [nobody] = free_ports(1)
    with Watched(f"127.0.0.1:{nobody}", "--config", str(config)) as proxy:
        door = Door(("127.0.0.1", proxy.base), trusting(kafka_tls) if with_tls else None)

        def visit() -> None:
            with pytest.raises((ConnectionError, ssl.SSLError)), closing(Visitor(door, "none")) as one:
                one.ask(keys.API_VERSIONS, 0, m.ApiVersionsRequest())

        nothing_stays(proxy, visit)


def topic_of(kafka: Cluster) -> str:
    name = f"visited-{uuid.uuid4()}"
    kafka.create_topic(name)
    kafka.coordinator(name)
    return name


def trusting(kafka: Cluster) -> ssl.SSLContext:
    assert kafka.certificates is not None
    return ssl.create_default_context(cafile=str(kafka.certificates.authority))


def nothing_stays(watched: Watched, visit: Callable[[], None]) -> None:
    before = watched.held()
    for _ in range(VISITS):
        visit()
    garbage: Counter[str] = Counter()

    def stays() -> dict[str, int]:
        now = watched.held()
        garbage.update(now.garbage)
        return more_than_some({name: count - before.alive.get(name, 0) for name, count in now.alive.items()})

    deadline = time.monotonic() + GONE_SECONDS
    while (left := stays()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == {}
    assert more_than_some(garbage) == {}


def more_than_some(counts: Mapping[str, int]) -> dict[str, int]:
    """Less than that many may be made once, for the first, or have nothing to do with visits."""
    return {name: count for name, count in counts.items() if count >= SOME and name not in REMEMBERED}
