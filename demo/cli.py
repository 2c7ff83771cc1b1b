"""The command: `kip848-proxy demo`, or `python -m demo`.

Exit codes: 0 it went well, 1 records were lost or it could not go on, 2 something it needs is not there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import trio

from demo.cluster import open_cluster
from demo.crew import ProgramEnded, ProxyProcess
from demo.migration import LEGACY, PARTITIONS, Migration, NotInTime, Stage
from demo.picture import timeline
from demo.screen import Screen, summary
from simulation.brokers import GroupSettings

NODES = 3
# A broker's default is five: more time than one likes to watch.
EVERY_SECOND = GroupSettings(heartbeat_interval_ms=1_000)
TOPIC_SECONDS = 10
LOST, NOT_HERE, INTERRUPTED = 1, 2, 130
NEEDED = {"confluent_kafka": "confluent-kafka", "kafka": "kafka-python"}


class NotHere(Exception):
    """What this needs, and how to get it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--cluster", metavar="HOST:PORT[,…]", help="run on this Kafka 4.x cluster; a topic is made on it"
    )
    source.add_argument("--kafka", action="store_true", help="start a real broker (Java 17+ and a source checkout)")
    parser.add_argument("--seconds", type=float, default=25, help="calm time to watch, in all (25)")
    parser.add_argument("--picture", type=Path, default=Path("demo-timeline.svg"), help="where the timeline is saved")
    parser.add_argument("--no-page", action="store_true", help="the proxy opens no admin port for its status page")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="kip848-proxy demo",
        description="A rolling migration to watch: legacy consumers behind the proxy become native, one by one.",
        epilog="Without --cluster and --kafka it runs on a small cluster in memory, and needs no Java.",
    )
    add_arguments(parser)
    return run(parser.parse_args(arguments))


def run(options: argparse.Namespace) -> int:
    screen = Screen(sys.stdout)
    try:
        _look_for_libraries()
        return trio.run(_perform, options, screen)
    except BaseException as raised:
        match _first(raised):
            case NotHere() as missing:
                print(f"kip848-proxy demo: {missing}", file=sys.stderr)
                return NOT_HERE
            case ProgramEnded() | NotInTime() | OSError() as failure:
                screen.end(f"\nThe demo could not go on: {failure}")
                return LOST
            case KeyboardInterrupt():
                screen.end("\ninterrupted")
                return INTERRUPTED
            case _:
                raise


def _first(raised: BaseException) -> BaseException:
    """Nurseries group what their tasks raise; the first is what went wrong, the others were in its way."""
    while isinstance(raised, BaseExceptionGroup):
        raised = raised.exceptions[0]
    return raised


def _look_for_libraries() -> None:
    missing = [name for module, name in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise NotHere(f"{' and '.join(missing)} missing: pip install 'kip848-proxy[demo]'")


async def _perform(options: argparse.Namespace, screen: Screen) -> int:
    with tempfile.TemporaryDirectory(prefix="kip848-demo-") as folder:
        async with _cluster(options, screen) as bootstrap, trio.open_nursery() as tasks:
            proxy = ProxyProcess(bootstrap, has_page=not options.no_page, log=Path(folder) / "proxy.log")
            screen.say(f"the proxy starts:  kip848-proxy serve --upstream {bootstrap} --listen {proxy.bootstrap}")
            await tasks.start(proxy.run)
            if proxy.admin is not None:
                screen.say(f"watch it on  http://127.0.0.1:{proxy.admin}/")
            code = await _migrate(options, screen, bootstrap, proxy, Path(folder))
            tasks.cancel_scope.cancel()
    return code


async def _migrate(
    options: argparse.Namespace, screen: Screen, bootstrap: str, proxy: ProxyProcess, folder: Path
) -> int:
    topic = f"kip848-demo-{uuid.uuid4().hex[:8]}"
    await trio.to_thread.run_sync(_create_topic, bootstrap, topic)
    stage = Stage(bootstrap, proxy.bootstrap, topic, group=topic, folder=folder, seconds=options.seconds)
    migration = Migration(
        stage, proxy.stop, screen.say, lambda: screen.show(migration.ledger, migration.moved, to_move=len(LEGACY))
    )
    try:
        await migration.run()
    finally:
        options.picture.write_text(timeline(migration.ledger))
        screen.end(f"{summary(migration.ledger)}\n  the timeline: {options.picture}")
    return LOST if migration.ledger.lost else 0


@asynccontextmanager
async def _cluster(options: argparse.Namespace, screen: Screen) -> AsyncIterator[str]:
    if options.cluster:
        await _find(options.cluster)
        yield options.cluster
    elif options.kafka:
        async with _real_broker(screen) as bootstrap:
            yield bootstrap
    else:
        async with open_cluster(nodes=NODES, settings=EVERY_SECOND) as cluster:
            screen.say(f"a cluster of {NODES} brokers in memory, where members beat every second: {cluster.bootstrap}")
            yield cluster.bootstrap


async def _find(bootstrap: str) -> None:
    """Said at once, where a client library would go on trying."""
    failures = []
    for address in bootstrap.split(","):
        host, _, port = address.rpartition(":")
        try:
            stream = await trio.open_tcp_stream(host, int(port))
        except (OSError, ValueError) as failure:
            failures.append(f"{address}: {failure}")
        else:
            return await stream.aclose()
    raise NotHere(f"no broker there: {'; '.join(failures)}")


@asynccontextmanager
async def _real_broker(screen: Screen) -> AsyncIterator[str]:
    try:
        from tests.kafka import Cluster
    except ImportError as failure:
        raise NotHere(f"--kafka needs a source checkout with its development tools: {failure}") from failure
    screen.say("a real broker starts …")
    kafka = await trio.to_thread.run_sync(Cluster.start)
    try:
        yield kafka.bootstrap
    finally:
        kafka.close()


def _create_topic(bootstrap: str, topic: str) -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    try:
        client.create_topics([NewTopic(topic, PARTITIONS)])[topic].result(TOPIC_SECONDS)
    except (KafkaException, TimeoutError) as failure:
        raise NotHere(f"no topic can be made on {bootstrap}: {failure or 'no answer'}") from failure
