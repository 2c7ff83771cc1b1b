"""What many clients ask at a time leaves together, and each is answered what it asked, in order: where the kernel has a call
for that, and where it refuses it."""

from __future__ import annotations

import contextlib
import random
from struct import unpack_from

import pytest

from kafka_protocol import messages as m
from kafka_protocol.frames import encode_request
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.wire import read_frame
from tests.proxy.running import Running
from tests.proxy.test_hostile_bytes import framed

pytestmark = pytest.mark.broker

CLIENTS = 50
TURNS = 30
# Of partitions that are asked after: answers of some bytes up to 100,000.
SIZES = (1, 1, 1, 50, 4_000)


@pytest.mark.parametrize("program", ["proxy", "tests.proxy.denied"], ids=["together", "one by one"])
def test_many_clients_that_ask_at_a_time_are_each_answered_what_they_asked(kafka: Cluster, program: str) -> None:
    chance = random.Random(0)
    with Running(kafka.bootstrap, program=program) as proxy, contextlib.ExitStack() as stack:
        proxy.ready()
        clients = [stack.enter_context(proxy.connect(1)) for _ in range(CLIENTS)]
        for turn in range(TURNS):
            speakers = chance.sample(range(CLIENTS), chance.choice((2, 10, CLIENTS)))
            numbers = {speaker: range(chance.choice((1, 1, 1, 2))) for speaker in speakers}
            for speaker in speakers:
                said = [asked(number, f"of-{speaker}-in-{turn}", chance) for number in numbers[speaker]]
                clients[speaker].sendall(b"".join(said))
            for speaker in speakers:
                for number in numbers[speaker]:
                    answer = read_frame(clients[speaker])
                    assert unpack_from(">i", answer) == (number,)
                    assert f"of-{speaker}-in-{turn}".encode() in answer
        assert proxy.mistakes() == 0


def asked(number: int, topic: str, chance: random.Random) -> bytes:
    """After one that is not there, which the answer names again: mostly what passes as it is."""
    if chance.randrange(5):
        partitions = [m.ListOffsetsRequestListOffsetsPartition(partition_index=i) for i in range(chance.choice(SIZES))]
        offsets = m.ListOffsetsRequestListOffsetsTopic(name=topic, partitions=partitions)
        return framed(
            encode_request(keys.LIST_OFFSETS, 5, number, "one of many", m.ListOffsetsRequest(topics=[offsets]))
        )
    metadata = m.MetadataRequest(topics=[m.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    return framed(encode_request(keys.METADATA, 5, number, "one of many", metadata))
