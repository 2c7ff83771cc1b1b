"""Real clients, a real proxy, a real broker: the tables say what the clients themselves have written down.

Alice (confluent-kafka, eager) is there first, bob (kafka-python, cooperative) takes half, alice goes, bob has all and is
killed. The proxy exports to a file, a batch reads it, and any reader of Parquet reads the tables.
"""

from __future__ import annotations

import itertools
from enum import Enum
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pyarrow import parquet
from pyspark.sql import SparkSession

from bench.pipeline.writer import BEGAN_NS
from pipeline import jobs, schema, spans
from proxy.observations import Changed, Client
from proxy.tracing.otlp_file import OtlpFile
from proxy.tracing.traces import Traces
from tests import clients
from tests.clients.driver import partitions
from tests.kafka import Cluster
from tests.pipeline.telling import watched
from tests.proxy.running import Running
from translation.transition import Transition

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]
CLIENT = Client(address="10.0.0.7", client_id="app", software="librdkafka", software_version="2.16.0")
GROUP = TOPIC = "golden"
EVERY = {(TOPIC, number) for number in range(4)}
# Two processes read one clock; the proxy's nanoseconds have gone through a float.
CLOCK_MS = 1
# Everybody keeps what it is given for longer than that.
STAY_SECONDS = 0.5


class Golden(NamedTuple):
    alice: clients.Client
    bob: clients.Client
    out: Path

    def rows(self, table: str, **like: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = parquet.read_table(self.out / table).to_pylist()
        return [row for row in found if row["group_id"] == GROUP and like.items() <= row.items()]


@pytest.fixture(scope="module")
def golden(spark: SparkSession, kafka: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Golden:
    folder = tmp_path_factory.mktemp("golden")
    alice, bob = trio.run(live, kafka, folder)
    jobs.batch(spark, str(folder / "traces"), str(folder / "out"))
    return Golden(alice, bob, folder / "out")


async def live(kafka: Cluster, folder: Path) -> tuple[clients.Client, clients.Client]:
    kafka.create_topic(TOPIC, partitions=4)
    traces, config = folder / "traces/traces.json", folder / "proxy.toml"
    traces.parent.mkdir()
    config.write_text(f'[traces]\nfile = "{traces}"\nexport_interval_ms = 100\n')
    with Running(kafka.bootstrap, "--config", str(config)) as proxy:
        proxy.ready()
        async with (
            await clients.Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
            await clients.Client.start("kafka-python", proxy.bootstrap, name="bob") as bob,
        ):
            alice.subscribe(TOPIC, GROUP, strategy="roundrobin", session_timeout_ms=6000)
            await alice.until(lambda: alice.owned == EVERY, within=40)
            await trio.sleep(STAY_SECONDS)
            bob.subscribe(TOPIC, GROUP, strategy="cooperative", session_timeout_ms=6000)
            await bob.until(lambda: len(bob.owned) == len(alice.owned) == 2, within=40)
            await trio.sleep(STAY_SECONDS)
            await alice.close()
            await bob.until(lambda: bob.owned == EVERY, within=40)
            bob.kill()
            await trio.to_thread.run_sync(
                proxy.wait_for, lambda: "session ended" in traces.read_text(), "bob is missed"
            )
        proxy.stop()
    return alice, bob


def held_after_each_assignment(client: clients.Client) -> list[set[tuple[str, int]]]:
    """By its own callbacks: what it had, each time it had been given something, or nothing."""
    held: set[tuple[str, int]] = set()
    found = []
    for event in client.events:
        if event["event"] == "assigned":
            held = held | partitions(event)
            found.append(held)
        elif event["event"] in ("revoked", "lost"):
            held = held - partitions(event)
    return found


def parted(names: list[str]) -> set[tuple[str, int]]:
    return {(name.rpartition(":")[0], int(name.rpartition(":")[2])) for name in names}


def cycles(golden: Golden, client_id: str) -> list[dict[str, Any]]:
    return sorted(golden.rows("rebalances", client_id=client_id), key=lambda row: row["from_ns"])


def test_each_generation_an_eager_client_was_told_is_a_row(golden: Golden) -> None:
    rows, held = cycles(golden, "alice"), held_after_each_assignment(golden.alice)
    assert [parted(row["kept"] + row["gained"]) for row in rows] == held
    assert [parted(row["revoked"]) for row in rows] == [before - now for before, now in pairwise([set(), *held])]
    assert [row["is_newcomer"] for row in rows] == [True] + [False] * (len(held) - 1)
    assert {row["outcome"] for row in rows} == {"stable"}


def test_a_cooperative_client_hears_of_what_is_new_and_that_is_what_the_rows_gain(golden: Golden) -> None:
    gained = [parted(row["gained"]) for row in cycles(golden, "bob") if row["gained"]]
    told = [partitions(event) for event in golden.bob.events if event["event"] == "assigned"]
    assert gained == [each for each in told if each]
    assert all(row["revoked"] == [] for row in cycles(golden, "bob"))


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_a_partition_was_a_clients_when_the_table_says_so(golden: Golden, name: str) -> None:
    """Told before the client can act on it, and let go of after the client has: each stay has a row, and no two rows of a
    partition meet. kafka-python joins once more before it has looked at the answer to its SyncGroup, at times, and never
    says that it had what that told it: but so it says in its JoinGroup."""
    rows = sorted(
        golden.rows("ownership", client_id=name, view="told"), key=lambda row: (row["partition"], row["from_ns"])
    )
    stays = clients.spans(getattr(golden, name))
    said = [[stay for stay in stays if is_within(stay, row)] for row in rows]
    assert sorted(itertools.chain.from_iterable(said)) == sorted(stays)
    assert max(map(len, said)) == 1
    unsaid = [row["ended_by"] for row, within in zip(rows, said, strict=True) if not within]
    assert unsaid == (["JoinRequested"] * len(unsaid) if name == "bob" else [])
    for _, of_one in groupby(rows, lambda row: row["partition"]):
        assert all(earlier["to_ns"] <= later["from_ns"] for earlier, later in pairwise(of_one))


def is_within(stay: clients.Span, row: dict[str, Any]) -> bool:
    from_ms, to_ms = row["from_ns"] / 1e6 - CLOCK_MS, row["to_ns"] / 1e6 + CLOCK_MS
    return parted([row["partition"]]) == {stay.partition} and from_ms <= stay.since_ms and stay.until_ms <= to_ms


def test_nobody_held_a_partition_twice_and_all_that_is_found_is_that_bob_died(golden: Golden) -> None:
    assert clients.overlaps([golden.alice, golden.bob]) == []
    found = [(row["severity"], row["audit"], row["detail"]) for row in golden.rows("audits")]
    # How long a partition lay between two owners is the clients' doing, and a busy machine's.
    assert [each for each in found if each[1] != "unowned"] == [("odd", "late heartbeat", "session ended")]
    assert parquet.read_table(golden.out / "rejects").num_rows == 0


def test_a_deploy_cost_those_who_stayed_what_they_went_through(golden: Golden) -> None:
    (deploy,) = golden.rows("cost")
    assert (deploy["joined"], deploy["left"]) == (2, 2)
    of_members = cycles(golden, "alice") + cycles(golden, "bob")
    assert deploy["rebalances"] == sum(not row["is_newcomer"] for row in of_members)
    assert deploy["revoked"] == sum(len(row["revoked"]) for row in of_members) == 2


def test_clients_are_known_by_what_they_said_of_themselves(golden: Golden) -> None:
    said = {(row["client_id"], row["client_software"]) for row in golden.rows("member_phases")}
    assert said == {("alice", "confluent-kafka-python"), ("bob", "kafka-python")}


# ------------------------------------------------------------------------------------------- the exporter, field by field


def export(file: Path, seen: list[Transition], names: dict[str, str | None]) -> None:
    provider = TracerProvider(resource=Resource({"service.name": "kip848-proxy", "service.instance.id": "proxy-7"}))
    provider.add_span_processor(SimpleSpanProcessor(OtlpFile(str(file), max_bytes=1 << 30, count=2)))
    traces = Traces(provider.get_tracer("kip848-proxy"))
    for number, transition in enumerate(seen):
        at_ns = BEGAN_NS + transition.at * 1_000_000 + number
        traces.observe(Changed(at_ns=at_ns, transition=transition, names=names, client=CLIENT, node=3))
    traces.close(at_ns)
    provider.shutdown()
    assert traces.mistakes == 0


def flat(value: Any, names: dict[str, str | None]) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [f"{names[each.topic_id]}:{each.partition}" for each in value]
    return value


def test_a_story_through_the_proxys_exporter_is_the_story(spark: SparkSession, tmp_path: Path) -> None:
    story, seen = watched(foo=3, bar=2)
    alice = story.legacy("alice", topics=("foo", "bar"), instance_id="i-alice").joins().syncs()
    story.legacy("bob", cooperative=True, assignor="cooperative-sticky").joins()
    story.settles()
    alice.vanishes()
    story.passes(60_000)
    names: dict[str, str | None] = dict(story.world.topics.names)
    export(tmp_path / "traces.json", seen, names)

    read = jobs.read_lines(spark, str(tmp_path)).transform(spans.spans).persist()
    assert spans.rejects(read).collect() == []
    rows = sorted(read.transform(spans.transitions).collect(), key=lambda row: row.at_ns)
    assert [tuple(row[name] for name in schema.RECORD) for row in rows] == [
        tuple(flat(getattr(each, name), names) for name in schema.RECORD) for each in seen
    ]
    assert {(row.proxy, row.node, row.client_software, row.client_address) for row in rows} == {
        ("proxy-7", 3, "librdkafka", "10.0.0.7")
    }
    roots = read.where("name = 'rebalance'").count()
    assert 0 < roots == spans.requests(read).where("name = 'rebalance'").count()
    read.unpersist()
