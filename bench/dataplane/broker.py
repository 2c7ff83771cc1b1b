"""The one broker behind every peer: its data in memory, something there to read, and a topic to write that stays small."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from bench.dataplane.client import produce
from tests.kafka import Cluster, Security
from tests.kafka.cluster import PLAINTEXT

TOPIC = "bench"
# Producers write elsewhere, so that what is read stays the same.
SINK = "bench-in"
MESSAGE_BYTES = 16 * 1024
# Consumers stop short of the end, where they would wait for what never comes.
SPARE_BYTES = 20_000_000
# Rounds write many GB: the broker forgets them as it goes, or memory would be full before the bench is done.
SINK_CONFIG = {"retention.bytes": "500000000", "segment.bytes": "100000000"}
BROKER_SETTINGS = {
    "log.initial.task.delay.ms": "1000",
    "log.retention.check.interval.ms": "1000",
    "log.segment.delete.delay.ms": "1000",
}
# A proxy needs two for each of a thousand clients; many a shell gives 1,024.
DESCRIPTORS = 4096


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Where this run's files are, brokers' data included: in memory if the machine can, or the disk is what is measured."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, hard), hard))
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=memory if memory.is_dir() else None))
    tempfile.tempdir = str(folder)
    try:
        yield folder
    finally:
        # The logs of a failure are wanted; a refusal or Ctrl-C leaves nothing to explain.
        if not isinstance(sys.exception(), Exception):
            shutil.rmtree(folder)


def start_broker(security: Security = PLAINTEXT) -> Cluster:
    """With the optimising compiler, which tests do without: only its code has AES in hardware (TLS: 30 MB/s without).

    The launcher reads `_JAVA_OPTIONS` after the command line, so it has the last word.
    """
    os.environ["_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=4 -Xmx1g"
    try:
        return Cluster.start(security=security, overrides=BROKER_SETTINGS)
    finally:
        del os.environ["_JAVA_OPTIONS"]


def fill(bootstrap: str, megabytes: int, config: dict[str, str]) -> None:
    """So many MB for consumers and Fetch to read, and a topic for producers."""
    wanted = [NewTopic(TOPIC, 1, 1), NewTopic(SINK, 1, 1, config=SINK_CONFIG)]
    # Bound to a name: its answers die with it.
    admin = AdminClient({"bootstrap.servers": bootstrap, **config})
    for created in admin.create_topics(wanted).values():
        try:
            created.result()
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
    produce(bootstrap, TOPIC, megabytes * 1_000_000 + SPARE_BYTES, MESSAGE_BYTES, config)
