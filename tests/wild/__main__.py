"""python -m tests.wild [--seed N] [--groups N] [--seconds N] [--broker VERSION]
                      [--processes N]

A broker, a proxy before it, and groups of clients that do at random what the protocol allows. Halfway the proxy is killed and
started again; of several processes, one is before that. What was told to two, who heard what brokers don't say, and who did
not come to rest is said, with its story.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.kafka import Cluster
from tests.kafka.cluster import NEWEST
from tests.proxy.running import Running
from tests.wild.group import PARTITIONS, WildGroup

AWAY_SECONDS = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="one that is drawn is said")
    parser.add_argument("--groups", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=30, help="of wildness")
    parser.add_argument("--broker", default=NEWEST, help=f"the version of Kafka ({NEWEST})")
    parser.add_argument("--processes", type=int, default=1, help="of the proxy")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.groups} groups, {options.seconds} s, Kafka {options.broker}")
    with Cluster.start(version=options.broker) as kafka:
        faults = list(plays(kafka, options.seed, options.groups, options.seconds, options.processes))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else print("nothing went wrong"))


def plays(kafka: Cluster, seed: int, groups: int, seconds: float, processes: int = 1) -> Iterator[str]:
    """Every fault, in words."""
    with ExitStack() as proxies, ExitStack() as exits:
        folder = Path(proxies.enter_context(tempfile.TemporaryDirectory(prefix="wild-")))
        config = folder / "proxy.toml"
        config.write_text(f'[translation]\njournal = "{folder / "journal"}"\n')
        begins = partial(Running, kafka.bootstrap, "--config", str(config), processes=processes)
        first = proxies.enter_context(begins().ready())
        wild = [_group(kafka, first, seed + at, exits) for at in range(groups)]
        time.sleep(seconds / 4)
        for pid in first.pids()[:1]:
            os.kill(pid, signal.SIGKILL)
        time.sleep(seconds / 4)
        first.kill()
        time.sleep(AWAY_SECONDS)
        second = proxies.enter_context(begins(base=first.base))
        time.sleep(seconds / 2)
        for group in wild:
            if faults := group.comes_to_rest():
                yield f"group {group.seed}:\n{group.story()}\n" + "\n".join(faults)
        if mistakes := second.mistakes():
            yield f"{mistakes} mistakes of the proxy:\n{second.log.read_text()[-4_000:]}"


def _group(kafka: Cluster, proxy: Running, seed: int, exits: ExitStack) -> WildGroup:
    topic = f"wild-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=PARTITIONS)
    return WildGroup(kafka, ("127.0.0.1", proxy.port_of(kafka.coordinator(topic))), topic, seed, exits)


if __name__ == "__main__":
    main()
