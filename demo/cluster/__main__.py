"""python -m demo.cluster: the embedded cluster as a server of its own, until SIGINT or SIGTERM."""

from __future__ import annotations

import argparse
import signal

import trio

from demo.cluster import open_cluster


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m demo.cluster", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1, help="how many brokers (1)")
    parser.add_argument("--port", type=int, default=0, help="of the first; the others follow (0: any free ones)")
    parser.add_argument("--topic", action="append", default=[], metavar="NAME:PARTITIONS", help="repeat for more")
    parser.add_argument("--auto-create", type=int, default=4, help="partitions of topics made when asked for; 0: never")
    options = parser.parse_args()
    trio.run(_serve, options)


async def _serve(options: argparse.Namespace) -> None:
    topics = {name: int(count or 1) for name, _, count in (each.partition(":") for each in options.topic)}
    ports = [options.port + number for number in range(options.nodes)] if options.port else None
    async with open_cluster(
        nodes=options.nodes, ports=ports, topics=topics, auto_create_partitions=options.auto_create
    ) as cluster:
        print(cluster.bootstrap, flush=True)
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            await anext(signals)


if __name__ == "__main__":
    main()
