"""The programs themselves, directly against a broker: what they do here they are trusted to do through the proxy."""

from __future__ import annotations

import uuid
from functools import partial

import pytest
import trio
from confluent_kafka import ConsumerGroupType
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription  # type: ignore[attr-defined]

from tests.clients import LIBRARIES, Client, ClientEnded, Sasl, Tls, overlaps, spans
from tests.clients.makes import each, makes
from tests.kafka import Cluster

pytestmark = pytest.mark.broker

EVERY = list(LIBRARIES)
TRANSACTIONAL = [name for name, library in LIBRARIES.items() if library.transactions]
NATIVE = [name for name, library in LIBRARIES.items() if library.native]
STATIC = [name for name, library in LIBRARIES.items() if library.static_members]
LOGINS = [(name, mechanism) for name, library in LIBRARIES.items() for mechanism in library.mechanisms]
STRATEGIES = [(name, strategy) for name, library in LIBRARIES.items() for strategy in library.strategies]


@pytest.fixture
def library(request: pytest.FixtureRequest) -> str:
    missing = LIBRARIES[request.param].missing
    if missing:
        pytest.skip(f"{request.param} needs {missing}")
    return request.param


@pytest.fixture
def topic(kafka: Cluster) -> str:
    return new_topic(kafka)


def new_topic(kafka: Cluster) -> str:
    name = f"clients-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=3)
    return name


def described(kafka: Cluster, group: str) -> ConsumerGroupDescription:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    return admin.describe_consumer_groups([group])[group].result(60)


@makes()
async def test_what_it_produces_it_consumes_and_commits(libraries: list[str], kafka: Cluster) -> None:
    await each(libraries, partial(round_trip, kafka))


async def round_trip(kafka: Cluster, library: str) -> None:
    topic = await trio.to_thread.run_sync(new_topic, kafka)
    async with await Client.start(library, kafka.bootstrap) as alice:
        await alice.produce(topic, 100)
        alice.subscribe(topic, topic, commit="none")
        await alice.until(lambda: len(alice.values) >= 100)
        assert sorted(alice.values, key=int) == [str(number) for number in range(100)]
        assert alice.owned == {(topic, number) for number in range(3)}
        assert sum(offset for _, _, offset in await alice.commit()) == 100
        await alice.close()
    assert (await trio.to_thread.run_sync(described, kafka, topic)).members == []
    async with await Client.start(library, kafka.bootstrap, name="bob") as bob:
        bob.subscribe(topic, topic, commit="each")
        await bob.event("assigned")
        await bob.produce(topic, 10, first=100)
        await bob.until(lambda: len(bob.values) >= 10)
        assert sorted(bob.values) == [str(number) for number in range(100, 110)]
        # It may have been told before `produced` was.
        await bob.until(lambda: bob.seen("committed"))


@makes()
async def test_two_share_and_the_survivor_inherits(libraries: list[str], kafka: Cluster) -> None:
    await each(libraries, partial(inherits, kafka))


async def inherits(kafka: Cluster, library: str) -> None:
    topic = await trio.to_thread.run_sync(new_topic, kafka)
    every = {(topic, number) for number in range(3)}
    async with (
        await Client.start(library, kafka.bootstrap, name="alice") as alice,
        await Client.start(library, kafka.bootstrap, name="bob") as bob,
    ):
        alice.subscribe(topic, topic, session_timeout_ms=6000, heartbeat_interval_ms=500)
        await alice.until(lambda: alice.owned == every)
        bob.subscribe(topic, topic, session_timeout_ms=6000, heartbeat_interval_ms=500)
        await bob.until(lambda: bob.owned and bob.owned | alice.owned == every)
        assert not alice.owned & bob.owned
        bob.kill()
        await alice.until(lambda: alice.owned == every)
        assert overlaps([alice, bob]) == []
        assert {span.owner for span in spans(alice) + spans(bob)} == {"alice", "bob"}


@pytest.mark.parametrize("library", TRANSACTIONAL, indirect=True)
async def test_an_aborted_transaction_is_never_read(library: str, kafka: Cluster, topic: str) -> None:
    async with await Client.start(library, kafka.bootstrap) as alice:
        await alice.transact(topic, 10, transactional_id=f"aborted-{topic}", abort=True)
        await alice.transact(topic, 10, first=10, transactional_id=f"tx-{topic}")
        alice.subscribe(topic, topic)
        await alice.until(lambda: len(alice.values) >= 10)
        assert sorted(alice.values) == [str(number) for number in range(10, 20)]


@makes(TRANSACTIONAL)
async def test_it_copies_in_transactions(libraries: list[str], kafka: Cluster) -> None:
    await each(libraries, partial(copies_all, kafka))


async def copies_all(kafka: Cluster, library: str) -> None:
    topic = await trio.to_thread.run_sync(new_topic, kafka)
    copies = f"{topic}-copies"
    await trio.to_thread.run_sync(kafka.create_topic, copies)
    async with await Client.start(library, kafka.bootstrap) as alice:
        await alice.produce(topic, 20)
        alice.subscribe(topic, topic, commit="none", transform={"to": copies, "transactional_id": f"copy-{topic}"})
        await alice.until(lambda: sum(event["count"] for event in alice.seen("transacted")) == 20)
        async with await Client.start("confluent-kafka", kafka.bootstrap, name="bob") as bob:
            bob.subscribe(copies, copies)
            await bob.until(lambda: len(bob.values) >= 20)
            assert sorted(bob.values, key=int) == [str(number) for number in range(20)]


@pytest.mark.parametrize("library", NATIVE, indirect=True)
async def test_it_joins_as_a_native_member(library: str, kafka: Cluster, topic: str) -> None:
    async with await Client.start(library, kafka.bootstrap, name="nadia") as nadia:
        nadia.subscribe(topic, topic, protocol="consumer")
        await nadia.until(lambda: len(nadia.owned) == 3)
        group = described(kafka, topic)
        assert group.type is ConsumerGroupType.CONSUMER
        assert [member.client_id for member in group.members] == ["nadia"]


@pytest.mark.parametrize("library", STATIC, indirect=True)
async def test_a_static_member_is_known_by_its_instance_id(library: str, kafka: Cluster, topic: str) -> None:
    async with await Client.start(library, kafka.bootstrap) as alice:
        alice.subscribe(topic, topic, instance_id="first")
        await alice.event("assigned")
        assert [member.group_instance_id for member in described(kafka, topic).members] == ["first"]


@pytest.mark.parametrize(("library", "strategy"), STRATEGIES, indirect=["library"])
async def test_it_joins_with_the_strategy_it_was_told(library: str, strategy: str, kafka: Cluster, topic: str) -> None:
    spoken = {"cooperative": "cooperative-sticky"}
    if library == "kafkajs":
        spoken["roundrobin"] = "RoundRobinAssigner"
    async with await Client.start(library, kafka.bootstrap) as alice:
        alice.subscribe(topic, topic, strategy=strategy)
        await alice.until(lambda: len(alice.owned) == 3)
        assert described(kafka, topic).partition_assignor == spoken.get(strategy, strategy)


@pytest.mark.parametrize(("library", "mechanism"), LOGINS, indirect=["library"])
async def test_it_logs_in_over_tls(library: str, mechanism: str, kafka_sasl_tls: Cluster) -> None:
    tls = Tls(kafka_sasl_tls.certificates.authority)
    async with await Client.start(library, kafka_sasl_tls.bootstrap, tls=tls, sasl=Sasl(mechanism)) as alice:
        await alice.produce("logged-in", 5)


@pytest.mark.parametrize("library", EVERY, indirect=True)
async def test_it_shows_its_certificate(library: str, kafka_mtls: Cluster) -> None:
    certificates = kafka_mtls.certificates
    tls = Tls(certificates.authority, certificates.issue("alice", "alice"))
    async with await Client.start(library, kafka_mtls.bootstrap, tls=tls) as alice:
        await alice.create_topic(f"certified-{library}", partitions=2)
        await alice.produce(f"certified-{library}", 5)


@pytest.mark.parametrize("library", EVERY, indirect=True)
async def test_it_tells_the_addresses_it_was_told(library: str, kafka3: Cluster) -> None:
    async with await Client.start(library, kafka3.bootstrap) as alice:
        assert await alice.metadata() == {number: node.address for number, node in kafka3.nodes.items()}


@makes()
async def test_a_sleep_in_the_revoke_callback_delays_the_revocation(libraries: list[str], kafka: Cluster) -> None:
    await each(libraries, partial(sleeps, kafka))


async def sleeps(kafka: Cluster, library: str) -> None:
    topic = await trio.to_thread.run_sync(new_topic, kafka)
    async with (
        await Client.start(library, kafka.bootstrap, name="alice") as alice,
        await Client.start(library, kafka.bootstrap, name="bob") as bob,
    ):
        alice.subscribe(topic, topic, revoke_ms=1500, heartbeat_interval_ms=500)
        await alice.until(lambda: len(alice.owned) == 3)
        bob.subscribe(topic, topic)
        begun = await alice.event("revoking")
        while not begun["partitions"]:
            begun = await alice.event("revoking")
        ended = await alice.event("revoked")
        assert ended["partitions"] == begun["partitions"]
        assert ended["at_ms"] - begun["at_ms"] >= 1490


async def test_who_waits_for_a_dead_client_is_told(kafka: Cluster) -> None:
    async with await Client.start("confluent-kafka", kafka.bootstrap) as alice:
        alice.kill()
        with pytest.raises(ClientEnded, match="event assigned"):
            await alice.event("assigned")
        with pytest.raises(ClientEnded, match="produce"):
            await alice.produce("unread", 1)


async def test_a_client_ends_when_its_driver_does(kafka: Cluster) -> None:
    async with await Client.start("confluent-kafka", kafka.bootstrap) as alice:
        alice._process.stdin.close()
        with trio.fail_after(5):
            await trio.to_thread.run_sync(alice._process.wait)
