"""A1, A2: legacy clients behind the proxy are native members upstream, and share a group with native ones."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import trio

from tests.clients import LIBRARIES, Client, overlaps
from tests.clients.makes import each, makes
from tests.kafka import Cluster
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, describe

pytestmark = pytest.mark.broker

NATIVE = 1
NATIVES = [name for name, library in LIBRARIES.items() if library.native]
# When a native member is killed: the coordinator's own 45 s show no more.
SOON_GIVEN_UP_MS = "10000"


async def seen(kafka: Cluster, group: str, holds: Callable[[Any], bool], within: float = 60) -> Any:
    """The group's description, once it is so."""
    with trio.fail_after(within):
        while True:
            described = await trio.to_thread.run_sync(describe, kafka, group)
            if holds(described):
                return described
            await trio.sleep(0.2)


@pytest.fixture(scope="module")
def proxy(kafka: Cluster) -> Iterator[Running]:
    with Running(kafka.bootstrap) as running:
        yield running.ready()


@pytest.fixture
def topic(kafka: Cluster) -> str:
    name = f"members-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=4)
    return name


@makes()
async def test_a_legacy_client_is_a_native_member_under_its_own_client_id(
    libraries: list[str], proxy: Running, kafka: Cluster
) -> None:
    await each(libraries, partial(is_native, proxy, kafka))


async def is_native(proxy: Running, kafka: Cluster, library: str) -> None:
    topic = f"members-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, topic, 4)
    async with await Client.start(library, proxy.bootstrap, name="alice") as alice:
        await alice.produce(topic, 20)
        alice.subscribe(topic, topic, session_timeout_ms=6000)
        await alice.until(lambda: len(alice.values) >= 20)
        group = await seen(kafka, topic, lambda group: group.group_state == "Stable")
        assert [member.member_type for member in group.members] == [NATIVE]
        assert "alice" in group.members[0].client_id
        assert group.assignor_name in ("range", "uniform")


async def test_legacy_and_native_members_share_a_group_and_no_partition(
    proxy: Running, kafka: Cluster, topic: str
) -> None:
    every = {(topic, number) for number in range(4)}
    kafka.set_group_config(topic, consumer_session_timeout_ms=SOON_GIVEN_UP_MS)
    async with (
        await Client.start("confluent-kafka", proxy.bootstrap, name="old") as old,
        await Client.start("aiokafka", proxy.bootstrap, name="older") as older,
        await Client.start("confluent-kafka", kafka.bootstrap, name="new") as new,
    ):
        await new.produce(topic, 50)
        old.subscribe(topic, topic, session_timeout_ms=6000)
        await old.until(lambda: old.owned == every)
        new.subscribe(topic, topic, protocol="consumer")
        await new.until(lambda: len(new.owned) == 2)
        older.subscribe(topic, topic, session_timeout_ms=6000)
        group = await at_rest(kafka, topic, old, older, new)
        # The broker would let classic members in, and translate for them.
        assert [member.member_type for member in group.members] == [NATIVE] * 3
        assert all(client.owned for client in (old, older, new))
        assert old.owned | older.owned | new.owned == every
        new.kill()
        await old.until(lambda: old.owned | older.owned == every)
        assert overlaps([old, older, new]) == []


@makes(NATIVES)
async def test_a_native_member_that_comes_through_the_proxy_stays_its_own(
    libraries: list[str], proxy: Running, kafka: Cluster
) -> None:
    """It commits as legacy members do; it is not one."""
    await each(libraries, partial(stays_its_own, proxy, kafka))
    assert "member adopted" not in proxy.log.read_text()


async def stays_its_own(proxy: Running, kafka: Cluster, library: str) -> None:
    topic = f"members-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, topic, 4)
    async with (
        await Client.start("confluent-kafka", proxy.bootstrap, name="old") as old,
        await Client.start(library, proxy.bootstrap, name="new") as new,
    ):
        old.subscribe(topic, topic, session_timeout_ms=6000)
        new.subscribe(topic, topic, protocol="consumer", commit="each")
        await new.until(lambda: len(new.owned) == 2 and len(old.owned) == 2)
        await old.produce(topic, 40)
        await new.until(lambda: len(new.values) + len(old.values) >= 40)
        await new.until(lambda: any(event["event"] == "committed" for event in new.events))
        await trio.sleep(3)
        assert len(new.owned) == len(old.owned) == 2
        group = await at_rest(kafka, topic, old, new)
        assert [member.member_type for member in group.members] == [NATIVE] * 2
