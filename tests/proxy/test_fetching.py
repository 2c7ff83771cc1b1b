"""A10: offsets are fetched whatever the coordinator's epoch is by then, in the words of whoever asks."""

from __future__ import annotations

import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running, room
from tests.proxy.settled import describe

pytestmark = pytest.mark.broker

UNKNOWN_MEMBER_ID = 25


def test_a_generation_that_was_passed_in_silence_fetches_offsets(cluster: Cluster, proxy: Running) -> None:
    """As franz-go does: with its member id, and the generation it was told."""
    topic, other_topic = f"fetching-{uuid.uuid4()}", f"other-{uuid.uuid4()}"
    cluster.create_topic(topic, partitions=2)
    cluster.create_topic(other_topic, partitions=2)
    at = ("127.0.0.1", proxy.port_of(cluster.coordinator(topic)))
    with closing(ByHand(at, topic, topic)) as one, closing(ByHand(at, topic, other_topic)) as other:
        one.joins()
        assert one.commit(topic, 0, 7) == 0
        other.joins()
        until(
            lambda: epoch_of(cluster, one) > one.generation, "the member has moved on, and its client was told nothing"
        )
        found = fetched(one, one.member_id)
        assert found.error_code == 0
        assert [each.committed_offset for topic in found.topics for each in topic.partitions] == [7]
        assert fetched(one, "a stranger, whom the coordinator judges").error_code == UNKNOWN_MEMBER_ID


def test_so_it_does_with_its_first_word_after_a_restart_of_the_proxy(cluster: Cluster, tmp_path: Path) -> None:
    """Of whom the journal says that it was told something."""
    topic, other_topic = f"fetching-{uuid.uuid4()}", f"other-{uuid.uuid4()}"
    cluster.create_topic(topic, partitions=2)
    cluster.create_topic(other_topic, partitions=2)
    config = tmp_path / "proxy.toml"
    config.write_text(f'[translation]\njournal = "{tmp_path / "journal"}"\n')
    base, node = room(6), cluster.coordinator(topic)
    with Running(cluster.bootstrap, "--config", str(config), base=base) as proxy:
        at = ("127.0.0.1", proxy.ready().port_of(node))
        one, other = ByHand(at, topic, topic), ByHand(at, topic, other_topic)
        one.joins()
        assert one.commit(topic, 0, 7) == 0
        other.joins()
        until(lambda: epoch_of(cluster, one) > one.generation, "the member has moved on")
    with Running(cluster.bootstrap, "--config", str(config), base=base) as again, closing(one), closing(other):
        again.ready()
        one.on_new_socket()
        found = fetched(one, one.member_id)
        assert found.error_code == 0
        assert [each.committed_offset for topic in found.topics for each in topic.partitions] == [7]


def fetched(one: ByHand, member_id: str) -> Any:
    """All that its group has committed."""
    group = m.OffsetFetchRequestGroup(group_id=one.group, member_id=member_id, member_epoch=one.generation, topics=None)
    return one.ask(keys.OFFSET_FETCH, 9, m.OffsetFetchRequest(groups=[group])).groups[0]


def epoch_of(cluster: Cluster, one: ByHand) -> int:
    return next(each.member_epoch for each in describe(cluster, one.group).members if each.member_id == one.member_id)
