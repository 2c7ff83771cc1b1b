"""The broker's own translation in the small does what a broker does, and the price of a deploy is told beside it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import trio
from pyspark.sql import SparkSession

from bench.pipeline.writer import BEGAN_NS
from pipeline import cost, replay
from pipeline.in_broker import NATIVE_BEAT_MS
from pipeline.ownership import ownership
from pipeline.rebalances import rebalances
from pipeline.replay import LEFT, TAKEN_OVER, Bill, Move, Stage
from pipeline.sweep import stretches
from simulation.errors import Error
from tests.clients import Client
from tests.kafka import Cluster
from tests.pipeline.conftest import Rows
from tests.pipeline.telling import Planted, home_of
from translation.states import Phase, Standing

SECOND = 10**9
SIX = [f"t:{number}" for number in range(6)]


def move(deploy: int, at: float, who: str, comes: bool = True, **more: Any) -> Move:
    said: dict[str, Any] = {
        "instance_id": None,
        "cooperative": False,
        "cause": "JoinRequested" if comes else LEFT,
        "again": deploy > 0,
    } | more
    return Move(deploy=deploy, at_ns=int(at * SECOND), member_id=who, comes=comes, **said)


def stage(*names: str, partitions: int = 6, **more: Any) -> Stage:
    """Before the broker, with these in it and at rest."""
    found = Stage({"t": partitions}, in_broker=True, seed=0)
    for name in names:
        found.comes(move(1, 0, name, **more))
    found.world.settles(60_000)
    return found


def until(found: Stage, so: Callable[[], bool]) -> None:
    assert found.world.run_until(so, 60_000)


def joins(found: Stage, name: str) -> int:
    return found.world.legacy[name].joins


# --------------------------------------------------------------------------------------- what the broker's translation does


def test_a_newcomer_is_answered_at_once_with_nothing_and_told_again_when_something_is_free() -> None:
    found = stage("a")
    found.comes(move(2, 0, "b"))
    until(found, lambda: found.world.legacy["b"].stable)
    assert found.world.legacy["b"].owned == frozenset()
    found.world.settles(60_000)
    assert len(found.world.legacy["b"].owned) == 3
    # One for its member id, one that gave it nothing, one that gave it something.
    assert joins(found, "b") == 3


def test_every_member_must_rejoin_whenever_the_target_moves_even_one_that_keeps_what_it_has() -> None:
    found = stage("a", "b", "c", partitions=3)
    before = {name: (joins(found, name), found.world.legacy[name].owned) for name in "abc"}
    found.felt.rebalances = found.felt.in_vain = 0
    found.world.topics.create("other", 1)
    found.comes(move(2, 0, "d"))
    found.world.run(20_000)
    assert all(joins(found, name) > before[name][0] for name in "abc")
    kept = [name for name in "abc" if found.world.legacy[name].owned == before[name][1]]
    assert found.felt.in_vain >= len(kept) >= 2


def test_after_a_leave_nobody_computes_before_a_native_member_beats() -> None:
    found = stage("a", "b")
    # Just after a beat, so that there is most of an interval to wait, and heartbeats of bob's fall into it.
    found.world.run(NATIVE_BEAT_MS - found.world.now % NATIVE_BEAT_MS + 100)
    left_over, rounds = found.world.legacy["a"].owned, joins(found, "b")
    found.goes(move(2, 0, "a", comes=False))
    found.world.run(NATIVE_BEAT_MS - 200)
    assert found.world.group.epoch > found.world.group.assignment_epoch
    assert joins(found, "b") == rounds
    found.world.settles(NATIVE_BEAT_MS)
    assert left_over < found.world.legacy["b"].owned


def test_a_cooperative_member_gives_up_and_takes_in_rounds_of_their_own() -> None:
    found = stage("a", cooperative=True)
    rounds = joins(found, "a")
    found.comes(move(2, 0, "b", cooperative=True))
    found.world.settles(60_000)
    assert joins(found, "a") == rounds + 2
    assert (found.felt.revoked, found.felt.in_vain) == (3, 0)


def test_a_static_member_that_comes_back_disturbs_nobody() -> None:
    found = stage("a", "b")
    found.comes(move(1, 0, "s", instance_id="i"))
    found.world.settles(60_000)
    held, epoch = found.world.legacy["s"].owned, found.world.group.epoch
    found.goes(move(2, 0, "s", comes=False, instance_id="i", cause=TAKEN_OVER))
    found.comes(move(2, 0, "s again", instance_id="i"))
    found.world.settles(60_000)
    assert found.world.legacy["s again"].owned == held
    assert found.world.group.epoch == epoch


def test_a_member_that_dies_is_missed_after_its_session() -> None:
    found = stage("a", "b")
    died_at = found.world.now
    found.world.legacy["a"].vanishes()
    until(found, lambda: len(found.world.group.members) == 1)
    assert 7_000 <= found.world.now - died_at <= 10_200


def test_a_member_that_was_put_out_hears_that_it_is_unknown_and_comes_back() -> None:
    found = stage("a", "b")
    found._broker.fence(found.world.legacy["a"].member_id)
    found.world.settles(60_000)
    assert found.world.legacy["a"].refusals == [("Heartbeat", Error.UNKNOWN_MEMBER_ID)]
    assert len(found.world.legacy["a"].owned) == 3


# ----------------------------------------------------------------------------------------------------------------- the bill


def bills(partitions: list[str], moves: list[Move]) -> list[tuple[int, Bill | None, Bill | None]]:
    """Of each deploy: (its number, in the broker, through a proxy)."""
    scenes = replay.scenes(partitions, moves)
    return [(scene.deploy, replay.bill(scene, True), replay.bill(scene, False)) for scene in scenes]


def test_a_rolling_restart_disturbs_in_vain_in_the_broker_and_never_through_a_proxy() -> None:
    there = [move(0, number, f"old-{number}") for number in range(6)]
    steps = [
        (at, f"{kind}-{number}", kind == "new")
        for number in range(6)
        for at, kind in ((17.3 * number, "old"), (17.3 * number + 2, "new"))
    ]
    moves = [move(1, 100 + at, who, comes) for at, who, comes in steps]
    ((_, broker, proxy),) = bills([f"t:{number}" for number in range(24)], there + moves)
    assert broker is not None
    assert proxy is not None
    assert broker.in_vain > proxy.in_vain == 0
    assert broker.unowned_partition_ns > proxy.unowned_partition_ns > 0


def test_the_first_member_of_a_group_disturbs_nobody() -> None:
    assert bills(SIX, [move(1, 0, "a")]) == [(1, Bill(0, 0, 0, 0), Bill(0, 0, 0, 0))]


def test_the_same_moves_in_any_order_have_the_same_price() -> None:
    moves = [move(0, 0, "a"), move(1, 10, "b"), move(1, 12, "c"), move(2, 400, "a", comes=False)]
    two_topics = ["few:0", *SIX]
    assert bills(two_topics, moves) == bills(two_topics[::-1], moves[::-1])
    assert list(replay._topics(two_topics[::-1])) == ["few", "t"]


def test_a_topic_may_have_any_name() -> None:
    for name in ("self", "a.b-c_d"):
        assert bills([f"{name}:0"], [move(1, 0, "a")]) == [(1, Bill(0, 0, 0, 0), Bill(0, 0, 0, 0))]


def test_what_it_took_to_set_the_stage_is_not_on_the_bill() -> None:
    static: dict[str, Any] = {"instance_id": "i"}
    there = [move(0, 0, "a"), move(0, 0, "b"), move(0, 0, "s", **static)]
    again = [move(1, 50, "s", comes=False, cause=TAKEN_OVER, **static), move(1, 50.001, "s again", **static)]
    ((_, broker, proxy),) = bills(SIX, there + again)
    for bill in (broker, proxy):
        assert bill is not None
        assert bill[:3] == (0, 0, 0)
        # Two partitions, for as long as a JoinGroup and a SyncGroup take.
        assert 0 < bill.unowned_partition_ns < SECOND


def test_who_is_there_is_not_there_twice_when_another_proxy_adopts_it() -> None:
    there = [move(0, 0, "a"), move(0, 0, "b")]
    ((_, broker, proxy),) = bills(SIX, [*there, move(1, 50, "a", cause="MemberAdopted")])
    assert broker == proxy == Bill(0, 0, 0, 0)


def test_a_replay_counts_no_wait_that_was_called_off_before_the_client_heard_of_it() -> None:
    watch, a = replay.Watch(), Planted("g", "a").joins(0, 0)
    a.waits(10).steps(20, phase=Phase.STABLE, standing=Standing.STABLE)
    a.waits(30).joins_again(40)
    for seen in a.seen:
        watch(seen)
    assert (watch.felt.rebalances, watch.felt.in_vain) == (1, 1)


def test_what_would_take_too_long_is_not_played_and_what_follows_is() -> None:
    crowd = [move(1, number, f"m{number}") for number in range(2_000)]
    gone = [move(2, 5_000 + number, f"m{number}", comes=False) for number in range(1_999)]
    last = move(3, 90_000, "m1999", comes=False)
    assert [deploy for deploy, *_ in bills(SIX, [*crowd, *gone, last])] == [3]


def test_what_has_too_many_partitions_for_its_members_is_not_played() -> None:
    """Of which 50 would have taken a quarter of an hour."""
    there = [move(0, number, f"m{number}") for number in range(50)]
    deploy = [move(1, 100, "m0", comes=False), move(1, 110, "n0")]
    assert bills([f"t:{number}" for number in range(1_000)], [*there, *deploy]) == []
    assert bills([f"t:{number}" for number in range(1_000)], [*there[:2], *deploy]) != []


def test_what_is_not_asked_for_is_not_played_but_counts_as_what_came_before() -> None:
    before = [move(1, 0, "a", again=False), move(1, 1, "b", again=False)]
    found = bills(SIX, [*before, move(2, 200, "c")])
    assert [deploy for deploy, *_ in found] == [2]
    assert found[0][1] is not None
    assert found[0][1].rebalances >= 3


# ---------------------------------------------------------------------------------------------------------------- the table


@pytest.mark.broker
def test_beside_what_a_deploy_cost_stands_what_it_would_have_cost(rows: Rows) -> None:
    (story,) = rows("cost", "group_id = 'story'")
    assert story.broker_rebalances >= 2
    assert story.broker_unowned_partition_ns > 0
    assert story.replayed_in_vain == 0


@pytest.mark.broker
def test_members_that_were_there_before_the_traces_are_there_in_the_replay(spark: SparkSession) -> None:
    resident = Planted("g", "a")
    resident.phase, resident.standing = resident.phase.STABLE, resident.standing.STABLE
    resident.steps(0, epoch=1, generation=1, owned=(0, 1, 2, 3), assigned=(0, 1, 2, 3))
    newcomer = Planted("g", "b").joins(10_000, 4, 5)
    with home_of(spark, resident, newcomer) as home:
        held = ownership(home)
        (deploy,) = cost.cost(home, rebalances(home), held, stretches(held)).collect()
    assert (deploy.joined, deploy.left, deploy.from_ns) == (1, 0, BEGAN_NS + 10_000_000_000)
    assert deploy.rebalances == 0
    # The resident has all six in the replay, and must give up three.
    assert deploy.broker_rebalances >= 1
    assert deploy.broker_revoked == 3


@pytest.mark.broker
def test_deploys_are_played_side_by_side_though_they_are_few_bytes(spark: SparkSession) -> None:
    """Plans that adapt would make one task of them, and that was for the last of many processors."""
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    try:
        with home_of(spark, Planted("g", "a").joins(0, 0)) as home:
            moves = cost._moves(home)
            played = cost.elsewhere(moves, cost._last(cost._deploys(moves)), ownership(home))
            assert played.rdd.getNumPartitions() == cost.TASKS
            assert [row.deploy for row in played.collect()] == [1]
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", "false")


# ------------------------------------------------------------------------------------------------------------ a real broker


@pytest.mark.broker
@pytest.mark.parametrize("strategy", ["roundrobin", "cooperative"])
async def test_a_real_broker_asks_as_much_of_its_members_as_the_model_says(kafka: Cluster, strategy: str) -> None:
    """A native member on another topic makes it the broker that translates. Alice is there, bob comes, alice goes."""
    topic = f"cost-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=8)
    kafka.create_topic(f"{topic}-elsewhere")
    moves: list[Move] = []

    def note(deploy: int, client: Client, comes: bool) -> None:
        moves.append(move(deploy, time.time(), client.name, comes, cooperative=strategy == "cooperative"))

    async with (
        await Client.start("confluent-kafka", kafka.bootstrap, name="native") as native,
        await Client.start("confluent-kafka", kafka.bootstrap, name="alice") as alice,
        await Client.start("confluent-kafka", kafka.bootstrap, name="bob") as bob,
    ):
        native.subscribe(f"{topic}-elsewhere", topic, protocol="consumer")
        await native.until(lambda: native.owned, within=30)
        note(1, alice, comes=True)
        alice.subscribe(topic, topic, strategy=strategy)
        await alice.until(lambda: len(alice.owned) == 8, within=40)
        note(2, bob, comes=True)
        bob.subscribe(topic, topic, strategy=strategy)
        await bob.until(lambda: len(alice.owned) == len(bob.owned) == 4, within=60)
        # Whoever must still be asked to rejoin is so at its next heartbeat.
        await trio.sleep(7)
        note(3, alice, comes=False)
        await alice.close()
        await bob.until(lambda: len(bob.owned) == 8, within=60)
        seen = {client.name: client.events for client in (alice, bob)}
    (_, first, _), (_, second, _), (_, third, _) = bills([f"{topic}:{number}" for number in range(8)], moves)
    assert first == Bill(0, 0, 0, 0)
    # Alice once, to give up; bob once, to take.
    assert (second.rebalances, second.revoked, second.in_vain) == (2, 4, 0)
    assert (third.rebalances, third.revoked, third.in_vain) == (1, 0, 0)
    taken = {name: [e for e in events if e["event"] == "assigned" and e["partitions"]] for name, events in seen.items()}
    rested = (1 if strategy == "cooperative" else 2, 2)
    assert (len(taken["alice"]), len(taken["bob"])) == rested
    revoked = [e for e in seen["alice"] if e["event"] == "revoked" and e["partitions"]]
    assert [len(event["partitions"]) for event in revoked] == [4 if strategy == "cooperative" else 8, 4]
