"""What counts as a complaint in each make's log, and that two runs say the same."""

from __future__ import annotations

import pytest

from tests.matrix.complaints import complaints_in

COMPLAINING = [
    ("java-3.9", "[main] WARN org.apache.kafka.clients.NetworkClient - [Consumer clientId=alice] Connection lost"),
    ("java-1.1", "[main] ERROR org.apache.kafka.clients.consumer.KafkaConsumer - failed"),
    ("confluent-kafka", "%3|1763719000.123|FAIL|alice#consumer-1| [thrd:main]: 127.0.0.1:9092/1: refused"),
    ("confluent-kafka", "%4|1763719000.123|MAXPOLL|alice#consumer-1| [thrd:main]: exceeded"),
    ("aiokafka", "Heartbeat failed for group orders because it is rebalancing"),
    ("kafkajs", '{"level":"ERROR","message":"The coordinator is not aware of this member"}'),
]
CONTENT = [
    ("java-3.9", "[main] INFO org.apache.kafka.clients.consumer.ConsumerConfig - ConsumerConfig values:"),
    ("java-3.9", "\tauto.offset.reset = earliest"),
    ("confluent-kafka", "%5|1763719000.123|REQTMOUT|alice#consumer-1| [thrd:main]: timed out 0 in-flight"),
    ("aiokafka", ""),
]


@pytest.mark.parametrize(("library", "line"), COMPLAINING)
def test_it_complains(library: str, line: str) -> None:
    assert len(complaints_in(line, library)) == 1


@pytest.mark.parametrize(("library", "line"), CONTENT)
def test_it_does_not_complain(library: str, line: str) -> None:
    assert complaints_in(line, library) == set()


def test_the_same_complaint_of_two_runs_is_one() -> None:
    one = "[main] WARN o.Fetcher - [groupId=matrix-7f2b91aa-0c2d-4c3e-8a51-6f0e7a9b1c2d] 127.0.0.1:29092 offset 17"
    other = "[main] WARN o.Fetcher - [groupId=matrix-00000000-aaaa-4bbb-8ccc-dddddddddddd] 127.0.0.1:31001 offset 4"
    assert complaints_in(one, "java-2.8") == complaints_in(other, "java-2.8") != set()


def test_a_commit_that_fails_says_why() -> None:
    line = (
        "[main] WARN o.ConsumerCoordinator - [Consumer clientId=bob, groupId=matrix-1] Synchronous auto-commit of offsets "
        "{matrix-1-0=OffsetAndMetadata{offset=7, leaderEpoch=0, metadata=''}, matrix-1-1=OffsetAndMetadata{offset=12, "
        "leaderEpoch=0, metadata=''}} failed: not part of an active group"
    )
    [complaint] = complaints_in(line, "java-3.9")
    assert complaint.endswith("Synchronous auto-commit of offsets · failed: not part of an active group")
