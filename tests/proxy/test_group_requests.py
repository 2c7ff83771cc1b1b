"""A9, A12, A13, A14, A18, B10 on the wire: every version of every request of the classic group protocol."""

from __future__ import annotations

import struct
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest

from kafka_protocol import decode, decode_response, encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups.holding import MUCH_BETWEEN
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.kafka.wire import read_frame, send
from tests.proxy.by_hand import (
    FIRST_COMMIT_BY_ID,
    FIRST_TRANSACTED_BY_ID,
    REBALANCE_IN_PROGRESS,
    ByHand,
)
from tests.proxy.running import Running
from tests.proxy.settled import assigned, describe

pytestmark = pytest.mark.broker

UNKNOWN_TOPIC_OR_PARTITION = 3
ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL, INVALID_GROUP_ID = 22, 23, 24
UNKNOWN_MEMBER_ID, INVALID_SESSION_TIMEOUT, FENCED_INSTANCE_ID = 25, 26, 82


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"requests-{uuid.uuid4()}"
    cluster.create_topic(name, partitions=4)
    return name


@pytest.fixture
def member(proxy: Running, cluster: Cluster, topic: str) -> Iterator[Callable[..., ByHand]]:
    """Members of one group, which end with the test."""
    made: list[ByHand] = []

    def make(**how: Any) -> ByHand:
        node = cluster.coordinator(topic)
        one = ByHand(("127.0.0.1", proxy.port_of(node)), topic, topic, **how)
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def settled(proxy: Running, cluster: Cluster) -> Iterator[ByHand]:
    """One that only looks at what tools are told; its session outlasts them all."""
    name = f"settled-{uuid.uuid4()}"
    cluster.create_topic(name, partitions=4)
    one = ByHand(("127.0.0.1", proxy.port_of(cluster.coordinator(name))), name, name)
    one.session_timeout_ms = 300_000
    yield one.joins()
    one.close()


@pytest.fixture
def alone(proxy: Running, cluster: Cluster) -> Iterator[Callable[[], ByHand]]:
    """Members of a group and a topic each."""
    made: list[ByHand] = []

    def make() -> ByHand:
        name = f"alone-{uuid.uuid4()}"
        cluster.create_topic(name, partitions=4)
        one = ByHand(("127.0.0.1", proxy.port_of(cluster.coordinator(name))), name, name)
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


def in_every_version(count: int, holds: Callable[[int], None]) -> None:
    """Side by side, for most of the time is waiting: a heartbeat's answer is held while there is no news."""
    with ThreadPoolExecutor(count) as threads:
        every = [threads.submit(holds, version) for version in range(count)]
    for version, done in enumerate(every):
        if failure := done.exception():
            failure.add_note(f"in version {version}")
            raise failure


def share(one: ByHand, newcomer: ByHand) -> None:
    done = threading.Thread(target=newcomer.joins)
    done.start()
    until(lambda: one.beat() == REBALANCE_IN_PROGRESS, "the first is asked to rejoin")
    one.joins()
    done.join(60)
    assert not done.is_alive()


def test_every_version_of_join_and_of_what_follows(alone: Callable[[], ByHand]) -> None:
    def holds(version: int) -> None:
        one = alone()
        one.subscription_version = min(version, 3)
        one.joins(version, min(version, 5))
        assert one.owned == {one.topics[0]: [0, 1, 2, 3]}
        assert one.beat(min(version, 4)) == 0
        assert one.leave(min(version, 5)).error_code == 0
        assert one.beat() == UNKNOWN_MEMBER_ID

    in_every_version(10, holds)


def test_every_version_of_a_commit_is_taken_and_told(alone: Callable[[], ByHand]) -> None:
    def holds(version: int) -> None:
        one = alone().joins()
        if version == 0:
            # In nobody's name, as that version has none: the broker refuses it while the group has members.
            one.leave()
        if version >= 1:
            wrong = {"generation_id_or_member_epoch": one.generation + 1}
            assert one.commit(one.topics[0], 1, 40, version, **wrong) == ILLEGAL_GENERATION
        assert one.commit(one.topics[0], 1, 41, version) == 0
        assert one.committed(one.topics[0], 1) == 41

    count = alone().versions_of(keys.OFFSET_COMMIT)
    assert count >= FIRST_COMMIT_BY_ID
    in_every_version(count, holds)


def test_who_wants_offsets_kept_for_a_time_of_its_own_is_named(alone: Callable[[], ByHand], proxy: Running) -> None:
    one = alone().joins()
    for offset in (7, 8):
        assert one.commit(one.topics[0], 1, offset, version=4, retention_time_ms=1_000) == 0
    said = f"a commit's own retention time is not kept group={one.group} client=by-hand retention_ms=1000 "
    assert proxy.log.read_text().count(said) == 1


def test_every_version_of_a_commit_within_a_transaction_is_taken_and_told(alone: Callable[[], ByHand]) -> None:
    """In nobody's name before version 3, as a broker takes it; then by generation."""

    def holds(version: int) -> None:
        one = alone().joins()
        if version >= 3:
            wrong = {"generation_id_or_member_epoch": one.generation + 1}
            assert one.transact(one.topics[0], 1, 40, version, **wrong) == ILLEGAL_GENERATION
        assert one.transact(one.topics[0], 1, 41, version) == 0
        until(lambda: one.committed(one.topics[0], 1) == 41, "the transaction has ended")

    count = alone().versions_of(keys.TXN_OFFSET_COMMIT)
    assert count >= FIRST_TRANSACTED_BY_ID
    in_every_version(count, holds)


def test_a_commit_under_another_generation_or_in_nobodys_name_is_refused(
    member: Callable[..., ByHand], topic: str
) -> None:
    one = member().joins()
    assert one.commit(topic, 0, 1, generation_id_or_member_epoch=one.generation + 7) == ILLEGAL_GENERATION
    assert one.commit(topic, 0, 1, member_id="nobody") == UNKNOWN_MEMBER_ID


def test_what_another_member_holds_is_committed_with_the_rest_as_in_a_classic_group(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    """By applications that commit all they ever read, at rest and in the revoke callback: in the textbook's example."""
    one, two = member().joins(), member()
    share(one, two)
    (elsewhere, *_) = two.owned[topic]
    assert one.commit(topic, elsewhere, 1) == 0
    cluster.grow_topic(topic, 8)
    until(lambda: one.beat() == REBALANCE_IN_PROGRESS, "the first is asked to rejoin")
    assert one.commit(topic, elsewhere, 2) == 0
    assert one.committed(topic, elsewhere) == 2
    assert one.commit(topic, 99, 1) == UNKNOWN_TOPIC_OR_PARTITION
    one.joins()


def test_a_commit_for_a_topic_that_is_not_subscribed_to_is_the_brokers_to_judge(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    """As it is by the classic protocol."""
    other_topic = f"elsewhere-{uuid.uuid4()}"
    cluster.create_topic(other_topic, partitions=2)
    one = member().joins()
    assert one.commit(other_topic, 1, 5) == 0
    assert one.committed(other_topic, 1) == 5
    assert one.commit("nowhere", 0, 1) == UNKNOWN_TOPIC_OR_PARTITION


def test_between_join_and_sync_it_commits_what_stays_its_own_and_a_producer_hears_no_word_that_ends_it(
    member: Callable[..., ByHand], topic: str
) -> None:
    one, two = member().joins(), member()
    share(one, two)
    (own, *_), (elsewhere, *_) = one.owned[topic], two.owned[topic]
    one.join()
    assert one.commit(topic, elsewhere, 1) == REBALANCE_IN_PROGRESS
    assert one.transact(topic, elsewhere, 1, version=3) == ILLEGAL_GENERATION
    assert one.commit(topic, own, 1) == 0
    assert one.committed(topic, own) == 1


def test_commits_keep_succeeding_under_epochs_the_member_never_hears_of(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    """A7: the other's coming and going moves nothing for a member of another topic."""
    other_topic = f"other-{uuid.uuid4()}"
    cluster.create_topic(other_topic, partitions=2)
    one = member().joins()
    generation = one.generation
    for round_ in range(3):
        other = member()
        other.topics = (other_topic,)
        other.joins()
        assert one.commit(topic, 0, round_ + 1) == 0
        other.leave()
        assert one.commit(topic, 1, round_ + 1) == 0
    until(lambda: bool(describe(cluster, topic).group_epoch >= generation + 5), "the epochs have passed")
    assert one.beat() == 0
    assert one.commit(topic, 2, 9) == 0
    assert one.generation == generation


def test_who_commits_each_record_and_waits_for_no_answer_is_told_of_each_in_order(
    member: Callable[..., ByHand], topic: str
) -> None:
    """And the group may move meanwhile: an epoch that the coordinator has left behind is none of the client's business."""
    one, offsets = member().joins(), range(1, 2_001)
    requests = ((n, one.commit_request(topic, 0, n, version=7)) for n in offsets)
    frames = [encode_request(keys.OFFSET_COMMIT, 7, n, "by-hand", request) for n, request in requests]
    with ThreadPoolExecutor(1) as pool:
        pool.submit(one.sock.sendall, b"".join(struct.pack(">i", len(frame)) + frame for frame in frames))
        member().join()
        answers = [decode_response(keys.OFFSET_COMMIT, 7, read_frame(one.sock)) for _ in offsets]
    told = [(number, body.topics[0].partitions[0].error_code) for number, body in answers]
    assert told == [(n, 0) for n in offsets]
    assert one.committed(topic, 0) == offsets[-1]


def test_two_members_share_and_the_first_hears_of_it_in_its_heartbeat(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    one, two = member().joins(), member()
    share(one, two)
    assert sorted(one.owned[topic] + two.owned[topic]) == [0, 1, 2, 3]
    assert len(one.owned[topic]) == 2


@pytest.fixture
def direct(cluster: Cluster, topic: str) -> Iterator[ByHand]:
    """Past the proxy, in the group that `member` makes members of."""
    one = ByHand(("127.0.0.1", cluster.nodes[cluster.coordinator(topic)].client_port), topic, topic)
    yield one
    one.close()


def test_who_come_together_begin_each_with_its_own_share(member: Callable[..., ByHand], topic: str) -> None:
    """None of them beats, so what the first was told of too much would not be given up."""
    three = [member() for _ in range(3)]
    with ThreadPoolExecutor(len(three)) as threads:
        list(threads.map(ByHand.joins, three))
    assert sorted(len(one.owned[topic]) for one in three) == [1, 1, 2]


def test_a_group_that_only_holds_committed_offsets_goes_on_from_them(
    direct: ByHand, member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    """As a simple consumer or a tool leaves it, for no member has ever been in it."""
    until(lambda: direct.commit(topic, 2, 7) == 0, "the commit is taken by a coordinator that has just come")
    assert member().joins().committed(topic, 2) == 7
    assert describe(cluster, topic).group_state == "Stable"


def test_a_classic_group_that_has_emptied_goes_on_as_a_group_of_native_members(
    direct: ByHand, member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    assert direct.join().error_code == 0
    direct.leads(b"")
    assert direct.commit(topic, 0, 5) == 0
    assert direct.leave().error_code == 0
    one = member().joins()
    assert (one.owned, one.committed(topic, 0)) == ({topic: [0, 1, 2, 3]}, 5)
    assert [each.member_id for each in describe(cluster, topic).members] == [one.member_id]


@contextmanager
def held_beside(held: ByHand, other: ByHand) -> Iterator[None]:
    """Whatever the other does within: a Heartbeat of the first came before all of it, and is not answered until the end."""
    for one in (held, other):
        assert one.beat() == 0
    # One that comes right after a held one's answer was waiting for that, and is not held either.
    time.sleep(0.1)
    send(held.sock, keys.HEARTBEAT, 3, held.alive())
    yield
    held.sock.setblocking(False)
    with pytest.raises(BlockingIOError):
        held.sock.recv(1)


def test_who_reads_nothing_while_it_waits_for_a_heartbeat_is_not_kept_waiting(
    alone: Callable[[], ByHand], topic: str
) -> None:
    """sarama: one request in flight to a broker, a Fetch as well as a Heartbeat. Others are held meanwhile."""
    one_at_a_time, held = alone().joins(), alone().joins()
    with held_beside(held, one_at_a_time):
        for _ in range(5):
            one_at_a_time.fetch(topic)
            assert one_at_a_time.beat() == 0
            time.sleep(0.05)


def test_where_much_is_asked_between_two_heartbeats_these_are_answered_at_once(
    alone: Callable[[], ByHand], topic: str
) -> None:
    """Who commits with each batch (@platformatic/kafka) would end each hold soon, and beats so long after the answer: its
    next beat came late for nothing, and members that had beaten together no longer did."""
    busy, held = alone().joins(), alone().joins()
    with held_beside(held, busy):
        # A second hold would be a shorter one: three are longer than the first.
        for _ in range(3):
            for offset in range(MUCH_BETWEEN):
                assert busy.commit(topic, 0, offset) == 0
            assert busy.beat() == 0


def test_a_newcomer_is_not_kept_waiting_either_where_its_neighbours_are_not(
    member: Callable[..., ByHand], alone: Callable[[], ByHand], topic: str
) -> None:
    one_at_a_time, newcomer, held = member().joins(), member(), alone().joins()
    one_at_a_time.fetch(topic)
    share(one_at_a_time, newcomer)
    with held_beside(held, newcomer):
        for _ in range(5):
            assert newcomer.beat() == 0
            time.sleep(0.05)


def test_a_member_lives_on_over_new_sockets(member: Callable[..., ByHand], topic: str) -> None:
    one = member().joins()
    for _ in range(3):
        one.on_new_socket()
        assert one.beat() == 0
    assert one.commit(topic, 0, 5) == 0


def test_a_members_words_may_come_over_several_sockets_at_a_time(member: Callable[..., ByHand], topic: str) -> None:
    """A12: joined on one, it beats on another and commits on a third; and when the first closes, nothing has happened."""
    one, beats, commits = member(), member(), member()
    one.joins()
    for other in (beats, commits):
        other.member_id, other.generation = one.member_id, one.generation
    for offset in (5, 6):
        assert beats.beat() == 0
        assert commits.commit(topic, 0, offset) == 0
        assert one.beat() == 0
    one.close()
    assert beats.beat() == 0
    assert commits.commit(topic, 0, 7) == 0
    beats.leave()
    assert commits.beat() == UNKNOWN_MEMBER_ID


def test_a_connection_that_outlived_its_client_ends_when_the_client_speaks_on_another(
    cluster: Cluster, topic: str
) -> None:
    with Running(cluster.bootstrap) as proxy:
        at = ("127.0.0.1", proxy.ready().port_of(cluster.coordinator(topic)))
        with closing(ByHand(at, topic, topic)) as one:
            one.joins()
            for _ in range(3):
                one.on_new_socket()
                assert one.beat() == 0
            until(lambda: proxy.metric("connections_open") == 1, "the others have ended")


def test_a_silent_member_is_gone_after_its_own_session(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    one = member()
    one.session_timeout_ms = 6_000
    one.joins()
    began = time.monotonic()
    assert one.beat() == 0
    one.sock.close()
    # The coordinator itself would wait for 45 s.
    until(lambda: not describe(cluster, topic).members, "the member is gone")
    # The coordinator's own session would have taken 45 s.
    assert 5.9 < time.monotonic() - began < 30


def test_a_newcomer_that_hangs_up_before_it_has_heard_its_id_is_gone_at_once(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    """Nobody could come back under that id. All that could end a membership otherwise outlasts the test."""
    one, two = member(), member()
    for each in (one, two):
        each.session_timeout_ms = each.rebalance_timeout_ms = 300_000
    one.joins()
    send(two.sock, keys.JOIN_GROUP, 3, two.join_request(), two.client_id)
    until(lambda: len(describe(cluster, topic).members) == 2, "it waits for partitions of the first")
    two.sock.close()
    until(lambda: len(describe(cluster, topic).members) == 1, "the newcomer is gone")


def test_a_join_that_was_sent_again_on_a_new_socket_is_over_when_both_have_closed(
    member: Callable[..., ByHand], proxy: Running, cluster: Cluster, topic: str
) -> None:
    def unheard() -> float:
        return proxy.metric("translations_total", api="JoinGroup", outcome="nobody_heard")

    before = unheard()
    one, two = member(), member()
    for each in (one, two):
        each.session_timeout_ms = each.rebalance_timeout_ms = 300_000
    one.joins()
    two.member_id = two.ask(keys.JOIN_GROUP, 4, two.join_request()).member_id
    send(two.sock, keys.JOIN_GROUP, 4, two.join_request(), two.client_id)
    until(lambda: len(describe(cluster, topic).members) == 2, "it waits for partitions of the first")
    with two.connect() as again:
        send(again, keys.JOIN_GROUP, 4, two.join_request(), two.client_id)
        # Nothing tells that it has arrived; should it not have, the first waits alone.
        time.sleep(0.5)
        two.sock.close()
        until(lambda: unheard() == before + 1, "the first is over")
    until(lambda: unheard() == before + 2, "the second is over")


def test_wrong_words_get_the_codes_a_classic_broker_gives(
    member: Callable[..., ByHand], proxy: Running, cluster: Cluster, topic: str
) -> None:
    one = member().joins()
    assert one.beat(generation=one.generation + 1) == ILLEGAL_GENERATION
    stranger = member()
    stranger.member_id, stranger.generation = "nobody", 1
    assert stranger.beat() == UNKNOWN_MEMBER_ID
    assert stranger.sync().error_code == UNKNOWN_MEMBER_ID
    # Of a subscription of version 0, which cannot claim anything: it may be a newcomer's.
    assert stranger.join().error_code == 0
    hasty = member()
    hasty.session_timeout_ms = 1
    assert hasty.join().error_code == INVALID_SESSION_TIMEOUT
    nameless = ByHand(one.address, "", topic)
    assert nameless.join().error_code == INVALID_GROUP_ID
    nameless.close()
    broken = one.join_request()
    broken.protocols[0].metadata = b"\0"
    broken.member_id = one.member_id
    assert one.ask(keys.JOIN_GROUP, 5, broken).error_code == INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("blank", ["", " \t"])
def test_an_instance_id_of_no_letters_and_a_rebalance_timeout_of_less_than_nothing_are_none(
    member: Callable[..., ByHand], blank: str
) -> None:
    one = member(instance_id=blank)
    one.rebalance_timeout_ms = -1
    assert one.joins().beat() == 0


def test_who_rejoins_under_an_instance_id_of_no_letters_alone_is_the_member_that_it_was(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    """phpkafka names no member when it rejoins: to a broker the instance says who it is."""
    one = member(instance_id="").joins(7)
    had = one.member_id
    one.member_id = ""
    assert one.joins(7).member_id == had
    assert [each.member_id for each in describe(cluster, topic).members] == [had]
    assert [each.error_code for each in one.leave().members] == [0]
    assert describe(cluster, topic).members == []


def test_a_group_of_a_blank_name_stays_classic(proxy: Running, cluster: Cluster, topic: str) -> None:
    """Classic coordinators take it, those of native members do not."""
    one = ByHand(("127.0.0.1", proxy.port_of(cluster.coordinator(" "))), " ", topic)
    joined = one.join()
    assert joined.error_code == 0
    assert joined.leader == one.member_id
    assert one.leave().error_code == 0
    one.close()


def test_an_unknown_id_that_claims_partitions_must_drop_them(member: Callable[..., ByHand], topic: str) -> None:
    one = member()
    one.subscription_version, one.member_id = 1, "from-long-ago"
    assert one.join(claims={topic: [0, 1]}).error_code == UNKNOWN_MEMBER_ID


def test_who_goes_on_claiming_them_is_let_in_under_the_id_it_is_given_and_has_what_it_is_given(
    member: Callable[..., ByHand], topic: str
) -> None:
    """kafka-python runs what goes before a JoinGroup once for a rebalance, however often that is refused."""
    one = member()
    one.subscription_version, one.member_id = 1, "from-long-ago"
    claims = {topic: [0, 1]}
    assert one.join(claims=claims).error_code == UNKNOWN_MEMBER_ID
    one.member_id = ""
    # It is given an id, and claims them under that too.
    assert one.join(claims=claims).error_code == 0
    assert one.sync().error_code == 0
    assert one.beat() == 0


def test_a_restarted_static_member_gets_the_same_back_and_the_old_one_is_fenced(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    one, two = member(instance_id="i-1").joins(), member(instance_id="i-2")
    joining = threading.Thread(target=two.joins)
    joining.start()
    until(lambda: one.beat() == REBALANCE_IN_PROGRESS, "the first is asked to rejoin")
    one.joins()
    joining.join(60)
    assert not joining.is_alive()
    epoch = describe(cluster, topic).group_epoch
    again = member(instance_id="i-1").joins()
    assert again.owned == one.owned
    assert one.beat() == FENCED_INSTANCE_ID
    assert two.beat() == 0
    assert describe(cluster, topic).group_epoch == epoch


def test_who_is_refused_takes_nobodys_instance(member: Callable[..., ByHand]) -> None:
    one = member(instance_id="i-1").joins()
    hasty = member(instance_id="i-1")
    hasty.session_timeout_ms = 1
    assert hasty.join().error_code == INVALID_SESSION_TIMEOUT
    babbling = hasty.join_request()
    babbling.session_timeout_ms, babbling.protocols[0].metadata = one.session_timeout_ms, b"\0"
    assert hasty.ask(keys.JOIN_GROUP, 5, babbling).error_code == INCONSISTENT_GROUP_PROTOCOL
    assert one.beat() == 0


def test_a_static_members_pattern_is_not_its_legacy_successors(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    cluster.create_topic(f"others-of-{topic}", partitions=2)
    node = cluster.coordinator(topic)

    def beats(epoch: int, **more: Any) -> Any:
        request = m.ConsumerGroupHeartbeatRequest(
            group_id=topic, member_id="native", member_epoch=epoch, instance_id="i-1", **more
        )
        return cluster.ask(node, keys.CONSUMER_GROUP_HEARTBEAT, 1, request)

    how: dict[str, Any] = {
        "rebalance_timeout_ms": 30_000,
        "subscribed_topic_regex": f"others-of-{topic}",
        "topic_partitions": [],
    }
    epochs = [beats(0, **how).member_epoch]

    def has_its_own() -> bool:
        epochs.append(beats(epochs[-1]).member_epoch)
        return any(assigned(describe(cluster, topic)).values())

    until(has_its_own, "the native one has its own")
    assert beats(-2).error_code == 0
    assert member(instance_id="i-1").joins().owned == {topic: [0, 1, 2, 3]}


def test_a_process_whose_instance_was_taken_is_fenced_by_a_proxy_that_never_saw_it_too(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    """Told that it is unknown, it would take the instance back, and the two would go on so for ever."""
    old = member(instance_id="i-1").joins()
    new = member(instance_id="i-1").joins()
    with Running(cluster.bootstrap) as another:
        old.address = ("127.0.0.1", another.ready().port_of(cluster.coordinator(topic)))
        old.on_new_socket()
        assert old.join(claims=old.owned).error_code == FENCED_INSTANCE_ID
    assert new.beat() == 0


def test_who_leaves_with_its_first_word_to_a_proxy_that_never_saw_it_has_left(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    one = member().joins()
    with Running(cluster.bootstrap) as another:
        one.address = ("127.0.0.1", another.ready().port_of(cluster.coordinator(topic)))
        one.on_new_socket()
        assert [each.error_code for each in one.leave().members] == [0]
        assert describe(cluster, topic).members == []


def test_a_batch_of_leavers_is_answered_one_by_one(member: Callable[..., ByHand], cluster: Cluster, topic: str) -> None:
    one = member(instance_id="i-1").joins()
    leavers = [
        m.LeaveGroupRequestMemberIdentity(member_id="", group_instance_id="i-1", reason="removed"),
        m.LeaveGroupRequestMemberIdentity(member_id="nobody"),
    ]
    answer = one.ask(keys.LEAVE_GROUP, 5, m.LeaveGroupRequest(group_id=topic, members=leavers))
    assert [each.error_code for each in answer.members] == [0, UNKNOWN_MEMBER_ID]
    assert describe(cluster, topic).members == []


def test_who_is_named_many_times_in_a_leave_leaves_once_and_keeps_nobody_waiting(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    """One of ours, a native one that came directly, and one that lies about its instance."""
    legacy, native = member().joins(), f"native-{uuid.uuid4()}"
    comes = m.ConsumerGroupHeartbeatRequest(
        group_id=topic,
        member_id=native,
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        subscribed_topic_names=[topic],
        topic_partitions=[],
    )
    assert cluster.ask(cluster.coordinator(topic), keys.CONSUMER_GROUP_HEARTBEAT, 0, comes).error_code == 0
    named = [(legacy.member_id, None), (native, None), (legacy.member_id, "nobody"), (native, "nobody")] * 12_000
    leavers = [m.LeaveGroupRequestMemberIdentity(member_id=one, group_instance_id=by) for one, by in named]
    tool = member()
    began = time.monotonic()
    answer = tool.ask(keys.LEAVE_GROUP, 5, m.LeaveGroupRequest(group_id=topic, members=leavers))
    # With each word on each of them looked for among all, it took minutes.
    assert time.monotonic() - began < 60
    told = [(one.member_id, one.group_instance_id, one.error_code) for one in answer.members]
    said = {None: 0, "nobody": UNKNOWN_MEMBER_ID}
    assert told == [(one, by, said[by]) for one, by in named]
    assert legacy.beat() == UNKNOWN_MEMBER_ID


def test_a_leave_that_is_refused_is_answered_on_a_connection_that_lives(
    member: Callable[..., ByHand], cluster: Cluster, topic: str
) -> None:
    one, static = member().joins(), member(instance_id="i-1")

    def leaves(who: ByHand, instance_id: str | None) -> list[int]:
        leaver = m.LeaveGroupRequestMemberIdentity(member_id=who.member_id, group_instance_id=instance_id)
        answer = one.ask(keys.LEAVE_GROUP, 3, m.LeaveGroupRequest(group_id=topic, members=[leaver]))
        return [each.error_code for each in answer.members]

    assert leaves(one, "another") == [UNKNOWN_MEMBER_ID]
    assert one.beat() in (0, REBALANCE_IN_PROGRESS)
    static.join()
    assert leaves(static, "another") == [FENCED_INSTANCE_ID]
    member(instance_id="i-1").join()
    assert leaves(static, None) == [UNKNOWN_MEMBER_ID]
    assert one.beat() in (0, REBALANCE_IN_PROGRESS)
    no_more = m.LeaveGroupRequest(group_id=topic, members=[])
    assert one.ask(keys.LEAVE_GROUP, 3, no_more).error_code == 0


@pytest.mark.parametrize("version", range(7))
def test_old_tools_see_a_consumer_group_as_a_classic_one(settled: ByHand, version: int) -> None:
    group = settled.ask(keys.DESCRIBE_GROUPS, version, m.DescribeGroupsRequest(groups=[settled.group])).groups[0]
    assert (group.error_code, group.group_state, group.protocol_type) == (0, "Stable", "consumer")
    assert [each.client_id for each in group.members] == ["by-hand"]
    told = decode(m.ConsumerProtocolAssignment, 0, group.members[0].member_assignment, 2)
    assert sorted(told.assigned_partitions[0].partitions) == [0, 1, 2, 3]
    said = decode(m.ConsumerProtocolSubscription, 0, group.members[0].member_metadata, 2)
    assert said.topics == list(settled.topics)


@pytest.mark.parametrize("version", range(6))
def test_old_tools_find_a_consumer_group_in_the_list(settled: ByHand, version: int) -> None:
    listed = settled.ask(keys.LIST_GROUPS, version, m.ListGroupsRequest()).groups
    (found,) = (group for group in listed if group.group_id == settled.group)
    assert found.protocol_type == "consumer"
    assert found.group_state == ("Stable" if version >= 4 else "")
