"""python -m tests.chaos [--seed N] [--events N] [--broker VERSION [--upgraded]] [--balanced | [--far MS] [--secured]]
                      [--rough] [--processes N]

A cluster of three, a proxy before it, and a seed's worth of accidents; or two proxies on two hosts, and a load balancer that
moves all clients from one to the other; or brokers that are far away. And they may be upgraded beneath it, one by one;
everybody has to say who they are; the network is as bad as all the rest; each proxy has several processes, of which some die
or hang. What went wrong is said, and where the journals, the traces and the logs are. Then the pipeline looks through the
traces, and may find nothing broken either.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import duckdb
import trio

from tests.chaos.play import Outcome, Play
from tests.chaos.sites import Sites, by_roads, one, two
from tests.kafka import Cluster, Security
from tests.kafka.cluster import NEWEST, PLAINTEXT

# Whose clients log in anew, or are hung up on, when this time is over.
SECURED = Security(tls=True, sasl=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"), authorizer=True)
SESSIONS_END = {"connections.max.reauth.ms": "20000"}


class WentWrong(Exception):
    """Whoever is told of it keeps what its clients and brokers said."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="one that is drawn is said")
    parser.add_argument("--events", type=int, default=15)
    parser.add_argument("--broker", default=NEWEST, help=f"the version of Kafka ({NEWEST})")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--balanced", action="store_true", help="two proxies on two hosts, and clients are moved")
    where.add_argument(
        "--far", type=int, default=0, metavar="MS", help="how long an answer from a broker is on its way"
    )
    parser.add_argument("--upgraded", action="store_true", help=f"brokers become {NEWEST} one by one, and some go back")
    parser.add_argument("--secured", action="store_true", help="TLS, SASL and ACLs, and sessions that end")
    parser.add_argument("--rough", action="store_true", help="roads to the proxy and to brokers fail")
    parser.add_argument("--processes", type=int, default=1, help="of each proxy")
    options = parser.parse_args()
    if options.upgraded and options.broker == NEWEST:
        parser.error(f"--upgraded needs a --broker that is older than {NEWEST}")
    if options.secured and options.balanced:
        parser.error("--secured is not for --balanced: the nearer of the two proxies goes where nobody is asked")
    guard, limits = (SECURED, SESSIONS_END) if options.secured else (PLAINTEXT, None)
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    print(f"seed {options.seed}, {options.events} events, Kafka {options.broker}; traces and journal in {folder}")
    try:
        with Cluster.start(version=options.broker, nodes=3, security=guard, overrides=limits) as kafka:
            outcome = trio.run(_plays, kafka, folder, options)
        found = _audited(folder)
    except WentWrong as failure:
        sys.exit("\n".join([str(failure), *getattr(failure, "__notes__", [])]))
    print(outcome)
    print("audits:", ", ".join(f"{count} x {audit} ({severity})" for audit, severity, count in found) or "nothing")


async def _plays(kafka: Cluster, folder: Path, options: argparse.Namespace) -> Outcome:
    async with AsyncExitStack() as ways:
        sites = await _sites(kafka, folder, ways, options)
        try:
            return await _played(kafka, sites, options)
        except WentWrong as failure:
            wrong = failure
    # Not within a relay's nursery: it would be one of a group.
    raise wrong


async def _sites(kafka: Cluster, folder: Path, ways: AsyncExitStack, options: argparse.Namespace) -> Sites:
    if options.balanced:
        return await two(kafka, folder, options.processes, ways)
    if options.far or options.rough:
        return await by_roads(kafka, folder, options.processes, ways, options.far / 2_000)
    return await one(kafka, folder, options.processes)


async def _played(kafka: Cluster, sites: Sites, options: argparse.Namespace) -> Outcome:
    async with AsyncExitStack() as exits:
        chance = random.Random(options.seed)
        play = await trio.to_thread.run_sync(Play, kafka, sites, chance, exits, options.upgraded, options.rough)
        await play.runs(options.events)
        if not play.outcome.good:
            raise WentWrong(repr(play.outcome))
        return play.outcome


def _audited(folder: Path) -> list[tuple[str, str, int]]:
    command = [sys.executable, "-m", "pipeline", "batch", str(folder / "traces"), str(folder / "tables")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise WentWrong(f"the pipeline: {done.stderr}")
    rows = f"FROM '{folder}/tables/audits/*.parquet'"
    if broken := duckdb.execute(f"{rows} WHERE severity = 'broken'").fetchall():
        raise WentWrong("\n".join(["the audits found:", *map(repr, broken)]))
    return duckdb.execute(f"SELECT audit, severity, count(*) {rows} GROUP BY ALL ORDER BY ALL").fetchall()


if __name__ == "__main__":
    main()
