"""B3, Kerberos: the proxy holds no key. A client's ticket is for the host that it dials, and passes to a broker that can read
it, or can't (tests/kafka/kerberos.py has the hosts, and why). If it can, the client is its own principal there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
import trio

from tests.clients import Client, Sasl
from tests.kafka import Cluster, Kdc, Security
from tests.kafka.admin import until
from tests.proxy.running import Running
from tests.proxy.settled import describe

pytestmark = pytest.mark.broker

LIBRARY = "java-3.9"
TOPIC = GROUP = "of-alice"


@pytest.fixture(scope="module")
def kdc() -> Iterator[Kdc]:
    with Kdc() as running:
        yield running


@pytest.fixture(scope="module")
def kafka(kdc: Kdc) -> Iterator[Cluster]:
    """Of alice and bob only she may read in the group."""
    with Cluster.start(security=Security(sasl=("GSSAPI",), authorizer=True, kerberos=kdc)) as cluster:
        cluster.create_topic(TOPIC, partitions=2)
        cluster.allow("User:alice", "topic", TOPIC, "read", "write", "describe")
        cluster.allow("User:alice", "group", GROUP, "read")
        cluster.allow("User:bob", "topic", TOPIC, "read", "describe")
        yield cluster


@pytest.fixture(scope="module")
def proxy(kafka: Cluster) -> Iterator[Running]:
    with Running(kafka.bootstrap, "--advertise", "proxy.example") as running:
        yield running.ready()


async def holder(name: str, kdc: Kdc, host: str, port: int) -> Client:
    """Of a ticket of that name."""
    login = Sasl("GSSAPI", user=name, kerberos=str(kdc.folder))
    return await Client.start(LIBRARY, f"{host}:{port}", name=name, sasl=login)


async def refusal(name: str, kdc: Kdc, *ways: tuple[str, int]) -> str:
    """What the application hears first, the same by each way."""
    heard: list[str] = []

    async def consume(host: str, port: int) -> None:
        async with await holder(name, kdc, host, port) as client:
            client.subscribe(TOPIC, GROUP)
            heard.append((await client.event("error"))["message"])

    async with trio.open_nursery() as nursery:
        for host, port in ways:
            nursery.start_soon(consume, host, port)
    assert heard == [heard[0]] * len(ways)
    return heard[0]


async def test_with_a_ticket_for_the_proxys_host_it_reads_as_a_native_member(
    kdc: Kdc, kafka: Cluster, proxy: Running
) -> None:
    async with await holder("alice", kdc, "proxy.example", proxy.base) as alice:
        await alice.produce(TOPIC, 20)
        alice.subscribe(TOPIC, GROUP)
        await alice.until(lambda: len(alice.values) == 20)
        group = await trio.to_thread.run_sync(until, partial(describe, kafka, GROUP), "it is described")
        assert (group.error_code, [member.client_id for member in group.members]) == (0, ["alice"])
        assert await alice.commit()
        await alice.close()


async def test_who_may_not_read_in_the_group_hears_the_same_as_directly(
    kdc: Kdc, kafka: Cluster, proxy: Running
) -> None:
    directly = ("broker.example", kafka.nodes[1].client_port)
    assert "GroupAuthorizationException" in await refusal("bob", kdc, directly, ("proxy.example", proxy.base))


async def test_a_key_of_another_principal_than_the_brokers_login_does_not_serve_though_it_is_in_the_keytab(
    kdc: Kdc, kafka: Cluster, proxy: Running
) -> None:
    directly = ("other.example", kafka.nodes[1].client_port)
    heard = await refusal("alice", kdc, directly, ("other.example", proxy.base))
    assert "SaslAuthenticationException: Authentication failed" in heard
    assert "invalid credentials with SASL mechanism GSSAPI" in heard


async def test_for_a_host_that_the_kdc_does_not_know_a_java_client_only_tries_again(kdc: Kdc, proxy: Running) -> None:
    """Directly it does the same: it takes "Server not found in Kerberos database" to be passing, and says that at DEBUG."""
    async with await holder("alice", kdc, "nobody.example", proxy.base) as alice:
        alice.subscribe(TOPIC, GROUP)
        said = alice.folder / "errors"
        await alice.until(lambda: said.read_text().count("terminated during authentication") > 1)
        assert not alice.seen("error")
