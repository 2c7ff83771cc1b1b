"""The same requests to the broker's own translation and to the proxy: docs/differences.md is printed from here.

Each question is put twice, by a legacy member in a group that already has a native one: to the broker, which then speaks
for the member itself, and to the proxy before that broker. What is asked is a fact about an answer, never about time.

    python -m tests.proxy.differences > docs/differences.md
"""

from __future__ import annotations

import struct
import sys
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, NamedTuple

import msgspec

from kafka_protocol import encode
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.cluster import OLDEST
from tests.proxy.running import Running
from tests.proxy.scene import PARTITIONS, Scene, word

CLOSED = "the connection is closed"
AT_ONCE = 6


# --- the questions -------------------------------------------------------------------------------------------------


def kafka_go(scene: Scene) -> str:
    one = scene.member()
    request = one.join_request()
    body = encode(m.ConsumerProtocolSubscription(topics=[scene.topic]), 0)
    request.protocols[0].metadata = struct.pack(">h", 1) + body
    return word(one.ask(keys.JOIN_GROUP, 1, request).error_code)


def another_assignor(scene: Scene) -> str:
    one, other = scene.member(), scene.member()
    scene.settled(one)
    other.protocol = "cooperative-sticky"
    return word(other.join().error_code)


def preferred_assignor(scene: Scene) -> str:
    pair = f"pair-{uuid.uuid4()}"
    scene.kafka.create_topic(pair, partitions=PARTITIONS)
    one = scene.member()
    one.topics = (scene.topic, pair)
    scene.settled(one)
    return f"`{scene.described().assignor_name}`"


def claims_of_long_ago(scene: Scene) -> str:
    one = scene.member()
    one.subscription_version, one.member_id = 1, "from-long-ago"
    return word(one.join(claims={scene.topic: [0, 1]}).error_code)


def epoch_that_moves_nothing(scene: Scene) -> str:
    one = scene.settled_member()
    scene.another_native_comes()
    return word(one.beat())


def described_as_old_tools_do(scene: Scene) -> str:
    one = scene.settled_member()
    group = one.ask(keys.DESCRIBE_GROUPS, 5, m.DescribeGroupsRequest(groups=[scene.topic])).groups[0]
    return f"{group.group_state}, {len(group.members)} members"


def name_of_a_newcomer(scene: Scene) -> str:
    one = scene.member()
    one.join()
    return "its client id and a UUID" if one.member_id.startswith(one.client_id) else "a UUID"


def commit_of_version_1(scene: Scene) -> str:
    one = scene.settled_member()
    return _unless_closed(lambda: one.commit(scene.topic, 0, 5, 1))


def fetch_of_version_0(scene: Scene) -> str:
    wanted = m.OffsetFetchRequestTopic(name=scene.topic, partition_indexes=[0])
    request = m.OffsetFetchRequest(group_id=scene.topic, topics=[wanted])
    one = scene.member()
    return _unless_closed(lambda: one.ask(keys.OFFSET_FETCH, 0, request).topics[0].partitions[0].error_code)


def listing_of_version_0(scene: Scene) -> str:
    partition = m.ListOffsetsRequestListOffsetsPartition(partition_index=0, timestamp=-1)
    topic = m.ListOffsetsRequestListOffsetsTopic(name=scene.topic, partitions=[partition])
    request = m.ListOffsetsRequest(replica_id=-1, topics=[topic])
    one = scene.member()
    return _unless_closed(lambda: one.ask(keys.LIST_OFFSETS, 0, request).topics[0].partitions[0].error_code)


def _unless_closed(ask: Callable[[], int]) -> str:
    try:
        return word(ask())
    except ConnectionError:
        return CLOSED


def first_join(scene: Scene) -> str:
    return word(scene.member().ask(keys.JOIN_GROUP, 5, scene.member().join_request()).error_code)


def short_session(scene: Scene) -> str:
    one = scene.member()
    one.session_timeout_ms = 1
    return word(one.join().error_code)


def unknown_beat(scene: Scene) -> str:
    one = scene.member()
    one.member_id, one.generation = "nobody", 1
    return word(one.beat())


def beat_of_another_generation(scene: Scene) -> str:
    one = scene.settled_member()
    return word(one.beat(generation=one.generation + 7))


def sync_of_another_generation(scene: Scene) -> str:
    one = scene.settled_member()
    one.generation += 7
    return word(one.sync().error_code)


def sync_without_a_protocol(scene: Scene) -> str:
    return _synced(scene, 5)


def sync_of_another_protocol(scene: Scene) -> str:
    return _synced(scene, 5, protocol_type="consumer", protocol_name="sticky")


def _synced(scene: Scene, version: int, **how: Any) -> str:
    one = scene.settled_member()
    who: dict[str, Any] = {"group_id": one.group, "member_id": one.member_id, "generation_id": one.generation}
    return word(one.ask(keys.SYNC_GROUP, version, m.SyncGroupRequest(**who, **how)).error_code)


def join_of_another_type(scene: Scene) -> str:
    return _joined(scene, protocol_type="connect")


def join_without_protocols(scene: Scene) -> str:
    return _joined(scene, protocols=[])


def _joined(scene: Scene, **how: Any) -> str:
    scene.settled_member()
    request = msgspec.structs.replace(scene.member().join_request(), **how)
    return word(scene.member().ask(keys.JOIN_GROUP, 5, request).error_code)


def join_under_anothers_instance(scene: Scene) -> str:
    one, other = scene.member(instance_id="i-1"), scene.member(instance_id="i-1")
    scene.settled(one)
    other.member_id = "nobody"
    return word(other.join().error_code)


def commit_of_another_generation(scene: Scene) -> str:
    one = scene.settled_member()
    return word(one.commit(scene.topic, 0, 1, generation_id_or_member_epoch=one.generation + 7))


def commit_in_a_transaction_by_nobody(scene: Scene) -> str:
    return word(scene.settled_member().transact(scene.topic, 0, 1, 3, member_id="nobody"))


def leave_of_an_unknown(scene: Scene) -> str:
    one = scene.settled_member()
    one.member_id = "nobody"
    return word(one.leave(version=1).error_code)


def fenced_by_its_own_kind(scene: Scene) -> str:
    one, other = scene.member(instance_id="i-1"), scene.member(instance_id="i-1")
    scene.settled(one)
    other.join()
    return word(one.beat())


def fenced_where_it_names_no_instance(scene: Scene) -> str:
    """As aiokafka, which joins with its instance and beats without."""
    one, other = scene.member(instance_id="i-1"), scene.member(instance_id="i-1")
    scene.settled(one)
    other.join()
    return word(one.beat(version=1))


def beat_after_leaving(scene: Scene) -> str:
    one = scene.settled_member()
    one.leave()
    return word(one.beat())


class Question(NamedTuple):
    asked: str
    answer: Callable[[Scene], str]
    why: str = ""


DIFFERENT = [
    Question(
        "JoinGroup as kafka-go writes it: a subscription marked version 1 with the body of version 0",
        kafka_go,
        "In classic groups it is let in. Here it is fatal: the first native member stops every service with that library.",
    ),
    Question(
        "JoinGroup of a `cooperative-sticky` member beside a `range` one",
        another_assignor,
        "The server assigns: what names clients have for it need not agree, and a fleet can change its own bit by bit.",
    ),
    Question(
        "What becomes of the wish of a `range` member of two topics",
        preferred_assignor,
        "Without it, partitions of the same number no longer meet in one member: joins of topics break, silently.",
    ),
    Question(
        "JoinGroup of a member nobody knows, which holds partitions that others were given since",
        claims_of_long_ago,
        "Who hears UNKNOWN_MEMBER_ID lets go at once. Taken in, it goes on reading what others own by now.",
    ),
    Question(
        "Heartbeat after an epoch that moved nothing for this member",
        epoch_that_moves_nothing,
        "An eager client lets go of everything when it is asked to rejoin, to be given the same again.",
    ),
    Question(
        "Heartbeat 1, which names no instance, of a static member whose instance id another one has taken",
        fenced_where_it_names_no_instance,
        "Who hears UNKNOWN_MEMBER_ID joins again, and takes the instance back: two processes put each other out for ever.",
    ),
    Question(
        "DescribeGroups 5, as dashboards and exporters of lag ask it",
        described_as_old_tools_do,
        "Old tools show a group that works as dead.",
    ),
    Question(
        "The member id of a newcomer",
        name_of_a_newcomer,
        "As classic coordinators make them: an operator who reads a log finds the client.",
    ),
    Question("OffsetCommit 1", commit_of_version_1, "KIP-896 took it from brokers; clients that speak it still run."),
    Question(
        "OffsetFetch 0, where nothing is committed", fetch_of_version_0, "The same. That is version 0's word for it."
    ),
    Question("ListOffsets 0", listing_of_version_0, "The same."),
]
ALIKE = [
    Question("The first JoinGroup of a newcomer without an id", first_join),
    Question("JoinGroup with a session of a millisecond", short_session),
    Question("Heartbeat of a member nobody knows", unknown_beat),
    Question("Heartbeat of another generation", beat_of_another_generation),
    Question("SyncGroup of another generation", sync_of_another_generation),
    Question("SyncGroup 5 that names no protocol", sync_without_a_protocol),
    Question("SyncGroup of another assignor than the client's first", sync_of_another_protocol),
    Question("JoinGroup of another protocol type", join_of_another_type),
    Question("JoinGroup without an assignor", join_without_protocols),
    Question("JoinGroup of a member nobody knows with an instance id that another has", join_under_anothers_instance),
    Question("OffsetCommit of another generation", commit_of_another_generation),
    Question("TxnOffsetCommit of a member nobody knows", commit_in_a_transaction_by_nobody),
    Question("LeaveGroup of a member nobody knows", leave_of_an_unknown),
    Question("Heartbeat of a static member whose instance id another one has taken", fenced_by_its_own_kind),
    Question("Heartbeat of a member that has left", beat_after_leaving),
]


# --- the page ------------------------------------------------------------------------------------------------------


class Answers(NamedTuple):
    direct: str
    proxy: str


def answers(kafka: Cluster, proxy: Running, question: Question) -> Answers:
    return Answers(_asked(kafka, None, question), _asked(kafka, proxy, question))


def _asked(kafka: Cluster, proxy: Running | None, question: Question) -> str:
    with ExitStack() as exits:
        return question.answer(Scene(kafka, proxy, exits))


HEAD = """# Where the proxy's answers differ from the broker's own

Printed by `python -m tests.proxy.differences`, and checked against brokers by `tests/proxy/test_differences.py`.

Since 4.0 a broker translates by itself for a classic client that joins a group with native members. Here the same requests
go to a broker and to the proxy before it, each time from a legacy member in a group that has a native one. How often and how
long clients are disturbed is not shown here but measured ([benchmarks](benchmarks.md)).

| asked | broker {oldest} | broker {newest} | proxy | why |
|---|---|---|---|---|
"""
SAME = """
Refusals are the same, word for word:

| asked | both |
|---|---|
"""


def page(oldest: str, newest: str, old: list[Answers], new: list[Answers]) -> str:
    """`old` and `new`: the answers to DIFFERENT and then ALIKE."""
    rows = [
        f"| {question.asked} | {mine.direct} | {theirs.direct} | {_either(mine.proxy, theirs.proxy)} | {question.why} |"
        for question, mine, theirs in zip(DIFFERENT, old, new, strict=False)
    ]
    alike = [
        f"| {question.asked} | {_either(*mine, *theirs)} |"
        for question, mine, theirs in zip(ALIKE, old[len(DIFFERENT) :], new[len(DIFFERENT) :], strict=True)
    ]
    return "\n".join([HEAD.format(oldest=oldest, newest=newest) + "\n".join(rows), SAME + "\n".join(alike), ""])


def _either(*said: str) -> str:
    """One word, if all said the same."""
    return " / ".join(dict.fromkeys(said))


def all_answers(kafka: Cluster) -> list[Answers]:
    """Side by side, for most of the time is waiting."""
    with Running(kafka.bootstrap) as proxy, ThreadPoolExecutor(AT_ONCE) as threads:
        proxy.ready()
        return list(threads.map(lambda question: answers(kafka, proxy, question), [*DIFFERENT, *ALIKE]))


def main() -> None:
    with Cluster.start(version=OLDEST) as old, Cluster.start() as new:
        sys.stdout.write(page(old.version, new.version, all_answers(old), all_answers(new)))


if __name__ == "__main__":
    main()
