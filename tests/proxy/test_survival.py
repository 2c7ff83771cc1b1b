"""B8, A17 and their like: what members live through, and what their clients notice of it."""

from __future__ import annotations

import signal
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, closing
from functools import partial
from pathlib import Path

import pytest
import trio

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.proxy.by_hand import REBALANCE_IN_PROGRESS, ByHand
from tests.proxy.pairs import Pair, each, with_a_journal
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, describe

pytestmark = pytest.mark.broker

SESSION_SECONDS = 10
COORDINATOR_LOST = 16
# The first may come before there is a new epoch to write; the one after what was written is the one that tells.
REFUSALS = 6
INVALID_SESSION_TIMEOUT = 26


def new_topic(kafka: Cluster) -> str:
    name = f"survival-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=4, replication=len(kafka.nodes))
    return name


@pytest.fixture
def topic(kafka3: Cluster) -> str:
    return new_topic(kafka3)


@pytest.mark.parametrize(
    ("how", "cluster"),
    [(signal.SIGKILL, "kafka3"), (signal.SIGTERM, "kafka3"), (signal.SIGKILL, "kafka_sasl_tls")],
    ids=["killed", "stopped", "killed, and all have to log in"],
)
async def test_a_stable_group_does_not_notice_that_the_proxy_was_restarted(
    how: signal.Signals, cluster: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    kafka: Cluster = request.getfixturevalue(cluster)
    config = with_a_journal(kafka, tmp_path)
    proxy = Running(kafka.bootstrap, "--config", config).ready()
    async with AsyncExitStack() as stack:
        pairs = {
            (topic := new_topic(kafka)): await Pair.start(stack, kafka, proxy.bootstrap, topic, library)
            for library in ("confluent-kafka", "kafka-python")
        }
        await each(Pair.settles, pairs.values())
        await trio.to_thread.run_sync(proxy.process.end, how)
        with Running(kafka.bootstrap, "--config", config, base=proxy.base) as again:
            await trio.to_thread.run_sync(again.ready)
            await each(Pair.has_not_noticed, pairs.values())
            adopted = [line for line in again.log.read_text().splitlines() if "member adopted" in line]
            assert all(any(topic in line for line in adopted) for topic in pairs)
            assert again.mistakes() == 0


async def test_without_a_journal_a_restart_costs_one_rejoin_and_no_partition(kafka3: Cluster, topic: str) -> None:
    proxy = Running(kafka3.bootstrap).ready()
    async with await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice:
        await alice.produce(topic, 10)
        alice.subscribe(topic, topic, session_timeout_ms=20_000, heartbeat_interval_ms=500)
        await alice.until(lambda: len(alice.values) >= 10)
        before = await at_rest(kafka3, topic, alice)
        joined = len(alice.seen("assigned"))
        await trio.to_thread.run_sync(proxy.process.end, signal.SIGKILL)
        with Running(kafka3.bootstrap, base=proxy.base) as again:
            await trio.to_thread.run_sync(again.ready)
            await alice.produce(topic, 10, first=10)
            await alice.until(lambda: len(alice.values) >= 20)
            await alice.until(lambda: len(alice.seen("assigned")) > joined)
            after = await at_rest(kafka3, topic, alice)
            assert len(alice.owned) == 4
            assert [each.member_id for each in after.members] == [each.member_id for each in before.members]
            assert len(alice.seen("assigned")) == joined + 1


def test_a_proxy_that_stood_still_through_a_session_goes_on_with_a_client_that_waits_for_it(
    kafka3: Cluster, topic: str
) -> None:
    """All that time its Heartbeat was held; and when it is answered at last, it says nothing for a while."""
    with (
        Running(kafka3.bootstrap).ready() as proxy,
        closing(ByHand(("127.0.0.1", proxy.port_of(kafka3.coordinator(topic))), topic, topic)) as one,
    ):
        one.session_timeout_ms = SESSION_SECONDS * 1000
        one.joins()
        # A Heartbeat right after SyncGroup would be answered at once.
        time.sleep(0.2)
        with ThreadPoolExecutor() as beside:
            held = beside.submit(one.beat)
            time.sleep(0.2)
            assert not held.done()
            with proxy.standing_still():
                time.sleep(SESSION_SECONDS - 1)
            assert held.result() == 0
        # By now it would be asked once more who else has this client.
        time.sleep(1)
        assert proxy.get("/livez")[0] == 200
        assert proxy.metric("stood_still_seconds_total") > 1
        assert "stood still" in proxy.log.read_text()
        assert one.beat() == 0
        assert one.commit(topic, 0, 5) == 0


async def test_members_stay_when_their_coordinator_moves(kafka3: Cluster, topic: str) -> None:
    with Running(kafka3.bootstrap) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        async with AsyncExitStack() as stack:
            pair = await Pair.start(stack, kafka3, proxy.bootstrap, topic, "confluent-kafka", "aiokafka")
            await pair.settles()
            for _ in range(2):
                await trio.to_thread.run_sync(kafka3.move_coordinator, topic)
                await pair.rests()
            await pair.has_not_noticed()
            assert overlaps(pair.clients) == []


def test_who_had_no_coordinator_to_speak_to_is_not_taken_for_silent(kafka3: Cluster, topic: str) -> None:
    """A cluster takes ten seconds to see that a broker was killed. Classic coordinators that take over begin every session
    anew; so do members here, when another's word shows that there is one again."""
    node = kafka3.coordinator(topic)
    with (
        Running(kafka3.bootstrap).ready() as proxy,
        closing(ByHand(("127.0.0.1", proxy.port_of(node)), topic, topic)) as one,
        closing(ByHand(one.address, topic, new_topic(kafka3))) as another,
    ):
        one.session_timeout_ms = SESSION_SECONDS * 1000
        another.joins()
        one.joins()
        heard_at = time.monotonic()
        kafka3.kill(node)
        try:
            successor = (
                "127.0.0.1",
                proxy.port_of(until(partial(takes_over, kafka3, topic, node), "another takes over")),
            )
            one.address = another.address = successor
            # A killed broker is missed after some three seconds here. A session that began anew as early as that would end
            # about when it is looked at.
            time.sleep(max(0.0, heard_at + SESSION_SECONDS - 2 - time.monotonic()))
            another.on_new_socket()
            # Until its session is over, and with it the time in which another proxy could say that it has this client.
            while time.monotonic() < heard_at + SESSION_SECONDS + 3:
                another.beat()
                time.sleep(0.2)
            one.on_new_socket()
            assert one.beat() == 0
            assert "session ended" not in proxy.log.read_text()
        finally:
            kafka3.start_node(node)


def test_a_heartbeat_that_its_coordinator_could_not_write_in_time_may_be_written_yet() -> None:
    """While a follower hangs: it is refused as if there were no coordinator, and when the follower is back the member has the
    epoch of which it was not told. It goes on as it was, and is not taken for somebody else's."""
    impatient = {"offsets.commit.timeout.ms": "1000"}
    with Cluster.start(nodes=2, overrides=impatient) as kafka, Running(kafka.bootstrap) as proxy:
        proxy.ready()
        topic = new_topic(kafka)
        node = kafka.coordinator(topic)
        (follower,) = kafka.nodes.keys() - {node}
        with (
            closing(ByHand(("127.0.0.1", proxy.port_of(node)), topic, topic)) as one,
            closing(ByHand(one.address, topic, new_topic(kafka))) as another,
            ThreadPoolExecutor() as beside,
        ):
            member_id, heard = one.joins().member_id, list[int]()

            def is_refused_again_and_again() -> bool:
                heard.append(one.beat())
                assert heard[-1] in (0, COORDINATOR_LOST)
                return heard.count(COORDINATOR_LOST) >= REFUSALS

            def epochs() -> dict[str, int]:
                assert one.beat() in (0, COORDINATOR_LOST)
                return {each.member_id: each.member_epoch for each in describe(kafka, topic).members}

            with kafka.hanging(follower):
                joined = beside.submit(another.joins)
                until(is_refused_again_and_again, "its heartbeats are refused")
            joined.result()
            everybody = {member_id: another.generation, another.member_id: another.generation}
            until(lambda: epochs() == everybody, "both are at the newcomer's epoch")
            assert one.beat() == 0


def takes_over(kafka: Cluster, group: str, predecessor: int) -> int | None:
    node = kafka.coordinator(group)
    return None if node == predecessor else node


@pytest.fixture(scope="module")
def kafka_disabled() -> Iterator[Cluster]:
    with Cluster.start(overrides={"group.consumer.migration.policy": "disabled"}) as cluster:
        yield cluster


async def test_a_group_of_direct_classic_members_passes_and_says_so_once(kafka_disabled: Cluster) -> None:
    """B6: the coordinator refuses to convert the group, so the client stays what it was."""
    topic = f"direct-{uuid.uuid4()}"
    kafka_disabled.create_topic(topic, partitions=4)
    with Running(kafka_disabled.bootstrap) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        async with (
            await Client.start("confluent-kafka", kafka_disabled.bootstrap, name="direct") as direct,
            await Client.start("confluent-kafka", proxy.bootstrap, name="proxied") as proxied,
        ):
            direct.subscribe(topic, topic, session_timeout_ms=10_000)
            await direct.until(lambda: len(direct.owned) == 4)
            proxied.subscribe(topic, topic, session_timeout_ms=10_000)
            await proxied.until(lambda: len(proxied.owned) == 2 and len(direct.owned) == 2)
            assert proxy.log.read_text().count("group passes untranslated") == 1


def test_who_passed_and_comes_back_when_its_session_is_over_is_translated_throughout(kafka_disabled: Cluster) -> None:
    """Under its old id, which the broker has forgotten: nothing of it passes any more."""
    group = f"back-{uuid.uuid4()}"
    kafka_disabled.create_topic(group, partitions=1)
    node = kafka_disabled.coordinator(group)
    with (
        Running(kafka_disabled.bootstrap) as proxy,
        closing(ByHand(("127.0.0.1", kafka_disabled.nodes[node].client_port), group, group)) as direct,
        closing(ByHand(("127.0.0.1", proxy.ready().port_of(node)), group, group)) as behind,
        ThreadPoolExecutor() as threads,
    ):
        direct.join()
        direct.leads(b"")
        behind.session_timeout_ms = 6_000
        # Before version 4 nobody is sent away for an id first.
        joined = threads.submit(behind.join, 3)
        until(lambda: direct.beat() == REBALANCE_IN_PROGRESS, "the first is asked to rejoin")
        direct.leave()
        assert joined.result().error_code == 0
        behind.leads(b"")
        described = m.DescribeGroupsRequest(groups=[group])
        until(lambda: not direct.ask(keys.DESCRIBE_GROUPS, 5, described).groups[0].members, "its session is over")
        assert behind.join().error_code == 0
        assert behind.sync().error_code == 0
        assert behind.owned == {group: [0]}


async def test_a_rule_lets_a_group_pass_and_refuses_another(kafka: Cluster, tmp_path: Path) -> None:
    topic = f"rules-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=2)
    config = tmp_path / "proxy.toml"
    config.write_text(
        '[[groups]]\npattern = "old-*"\nmode = "pass"\n[[groups]]\npattern = "forbidden-*"\nmode = "refuse"\n'
    )
    with Running(kafka.bootstrap, "--config", str(config)) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        async with (
            await Client.start("confluent-kafka", proxy.bootstrap, name="passes") as passes,
            await Client.start("confluent-kafka", proxy.bootstrap, name="refused") as refused,
        ):
            passes.subscribe(topic, f"old-{topic}", session_timeout_ms=10_000)
            await passes.until(lambda: len(passes.owned) == 2)
            described = await trio.to_thread.run_sync(describe, kafka, f"old-{topic}")
            assert described.error_code == 69
            refused.subscribe(topic, f"forbidden-{topic}", session_timeout_ms=10_000)
            await refused.event("error")
            assert refused.owned == set()
            again = partial(proxy.metric, "requests_refused_total", group=f"forbidden-{topic}")
            await trio.to_thread.run_sync(proxy.wait_for, lambda: again() > 1, "it asked again")
            said = [line for line in proxy.log.read_text().splitlines() if "group refused" in line]
            assert len(said) == 1
            assert f"group=forbidden-{topic} client=refused" in said[0]
            assert proxy.metric("groups_passing") == 1


def test_sessions_may_be_as_short_and_as_long_as_settings_say(kafka: Cluster, tmp_path: Path) -> None:
    """A cluster may have other bounds than brokers have by default: who was taken there is taken here. Who is not is told so
    as a broker would, and the log says once what to do."""
    topic = f"sessions-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=1)
    config = tmp_path / "proxy.toml"
    config.write_text("[translation]\nmin_session_ms = 2_000\nmax_session_ms = 3_600_000\n")
    with Running(kafka.bootstrap, "--config", str(config)) as proxy:
        address = ("127.0.0.1", proxy.ready().port_of(kafka.coordinator(topic)))
        for session_ms in (2_000, 3_600_000):
            with closing(ByHand(address, topic, topic)) as member:
                member.session_timeout_ms = session_ms
                member.joins()
                assert member.owned == {topic: [0]}
                member.leave()
        for session_ms in (1_999, 3_600_001, 3_600_001):
            with closing(ByHand(address, topic, topic)) as member:
                member.session_timeout_ms = session_ms
                assert member.join().error_code == INVALID_SESSION_TIMEOUT
        (said,) = [line for line in proxy.log.read_text().splitlines() if "join refused" in line]
        assert "error=INVALID_SESSION_TIMEOUT session_ms=1999 protocols=" in said
        assert "group.max.session.timeout.ms" in said
