"""B10: kafka-consumer-groups.sh of Kafka 2.8. Of a consumer group it says, asked directly, that there is none, and offers to
reset the offsets of its members while they commit; through the proxy it works as ever."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.kafka import Cluster
from tests.kafka.jars import BUILD, jars
from tests.kafka.jvm import BRIEFLY
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running

pytestmark = pytest.mark.broker

TOOL = "kafka.admin.ConsumerGroupCommand"
TOOL_SECONDS = 120


@pytest.fixture(scope="module")
def proxy(kafka: Cluster) -> Iterator[Running]:
    with Running(kafka.bootstrap) as running:
        yield running.ready()


def tool(bootstrap: str, *arguments: str) -> list[list[str]]:
    """The words of each line it prints."""
    folder = jars(Path(__file__).parent / "clients/tools.xml", BUILD / "clients/tools-2.8.2")
    command = ["java", *BRIEFLY, "-cp", f"{folder}/*", TOOL, "--bootstrap-server", bootstrap, *arguments]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TOOL_SECONDS).stdout
    return [line.split() for line in said.splitlines() if line.strip()]


def test_an_old_tool_lists_describes_and_resets_a_translated_group(proxy: Running, kafka: Cluster) -> None:
    topic = f"old-tools-{uuid.uuid4()}"
    kafka.create_topic(topic, 2)
    reset = ("--reset-offsets", "--group", topic, "--topic", topic, "--to-earliest", "--execute")
    with closing(ByHand(("127.0.0.1", proxy.port_of(kafka.coordinator(topic))), topic, topic)) as member:
        # It says nothing while the tool runs.
        member.session_timeout_ms = 120_000
        member.joins()
        assert member.commit(topic, 0, 3) == member.commit(topic, 1, 4) == 0

        assert [topic] in tool(proxy.bootstrap, "--list")
        described = tool(proxy.bootstrap, "--describe", "--group", topic)
        of_group = [(line[1], line[2], line[3], line[6], line[8]) for line in described if line[0] == topic]
        assert sorted(of_group) == [
            (topic, "0", "3", member.member_id, member.client_id),
            (topic, "1", "4", member.member_id, member.client_id),
        ]
        [refused, _] = tool(proxy.bootstrap, *reset)
        assert refused[0] == "Error:"
        assert refused[-1] == "Stable."
        assert member.leave().error_code == 0

    assert sorted(line[1:] for line in tool(proxy.bootstrap, *reset)[1:]) == [[topic, "0", "0"], [topic, "1", "0"]]
