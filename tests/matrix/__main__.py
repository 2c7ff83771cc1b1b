"""Every row, direct and through the proxy, and the table.

python -m tests.matrix [--row WORDS …] [--broker VERSION] [--policy NAME] [--jobs N] [--markdown]
"""

from __future__ import annotations

import argparse
import datetime
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import trio

from tests.kafka import Cluster
from tests.kafka.cluster import NEWEST, OLDEST
from tests.matrix.rows import ROWS, Row
from tests.matrix.walk import Seen, walks, warm
from tests.proxy.running import Running

DOCUMENTS = Path(__file__).parents[2] / "docs"
HEAD = """# Clients

Written by `{command}` on {date}, against Kafka {version} with the migration policy `{policy}`.

Each client walks the same way twice, straight to the broker (which then translates for it while a native member is in the
group) and through the proxy: two are straight at the broker and are restarted, {how}, on this walk's way; a third
one joins; with static membership that one restarts; it leaves; a native member joins and leaves; another one joins and is
killed; and at last somebody straight at the broker goes on where they were. Records are produced all the time at 50 a
second. Sessions are 10 s.

"Seconds" are until the group was at rest again, a second and a half of rest included: after both had moved, a third one
had joined, a native one had, and after a kill. "Twice" counts records read again: a client that was killed had not
committed them, and some makes commit late when they let go. "Complaints" are warnings and errors in the client's log or
thrown by it that the direct walk did not show.

| client | strategy | walk | lost, overlapping | twice: direct, proxy | seconds: direct | seconds: proxy | complaints |
|---|---|---|---|---|---|---|---|
"""
BY_DEFAULT = "bidirectional"
# Where members of both protocols may be in one group: there members move one by one.
MIXING = ("bidirectional", "upgrade")
TIMED = ("moves", "scales_out", "native_joins", "crash")


class Pair(NamedTuple):
    direct: Seen
    proxy: Seen

    @property
    def complaints(self) -> set[str]:
        return self.proxy.complaints - self.direct.complaints

    @property
    def green(self) -> bool:
        return self.proxy.whole and not self.complaints


def main() -> None:
    options = _options()
    rows = [row for row in ROWS if not options.row or any(words in row.name for words in options.row)]
    overrides = {"group.consumer.migration.policy": options.policy}
    with (
        Cluster.start(version=options.broker, overrides=overrides) as kafka,
        Running(kafka.bootstrap, log_level="info") as proxy,
    ):
        found = trio.run(_all, kafka, proxy.ready(), rows, options.policy in MIXING, options.jobs)
        version = kafka.version
    command = shlex.join(["python", "-m", "tests.matrix", *sys.argv[1:]])
    how = "one after the other" if options.policy in MIXING else "both at once"
    head = HEAD.format(command=command, date=datetime.date.today(), version=version, policy=options.policy, how=how)
    print(head + markdown(found))
    if options.markdown:
        document(version, options.policy).write_text(head + markdown(found))
    sys.exit(not all(pair.green for pair in found.values()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", nargs="+", metavar="WORDS", help="only rows whose names contain one of these")
    parser.add_argument("--broker", default=NEWEST, help=f"the version of Kafka: {NEWEST} (the default) or {OLDEST}")
    parser.add_argument(
        "--policy", default=BY_DEFAULT, help=f"the brokers' group.consumer.migration.policy ({BY_DEFAULT})"
    )
    parser.add_argument("--jobs", type=int, default=2, help="rows that walk at the same time")
    parser.add_argument(
        "--markdown", action="store_true", help="write docs/clients.md, clients-4.0.md, clients-disabled.md …"
    )
    return parser.parse_args()


def document(version: str, policy: str) -> Path:
    unusual = [] if version == NEWEST else [version.rpartition(".")[0]]
    unusual += [] if policy == BY_DEFAULT else [policy]
    return DOCUMENTS / f"{'-'.join(['clients', *unusual])}.md"


async def _all(kafka: Cluster, proxy: Running, rows: list[Row], one_by_one: bool, jobs: int) -> dict[Row, Pair]:
    found: dict[Row, Pair] = {}
    limit = trio.Semaphore(jobs)

    async def one(row: Row) -> None:
        async with limit:
            direct = await walks(kafka, kafka.bootstrap, row, one_by_one)
            found[row] = Pair(direct, await walks(kafka, proxy.bootstrap, row, one_by_one))
        print(f"{row.name}: {'green' if found[row].green else 'RED'} {found[row]}", file=sys.stderr, flush=True)

    await warm(kafka)
    async with trio.open_nursery() as nursery:
        for row in rows:
            if row.missing:
                print(f"{row.name} is left out: it needs {row.missing}", file=sys.stderr)
            else:
                nursery.start_soon(one, row)
    return {row: found[row] for row in rows if row in found}


def markdown(found: dict[Row, Pair]) -> str:
    lines = []
    notes = []
    for row, (direct, proxy) in found.items():
        strategy = " ".join([row.strategy or "default", *(["static"] if row.static else [])])
        cells = [
            proxy.client,
            strategy,
            "whole" if proxy.failed is None else f"ended at {_step(proxy)}",
            f"{proxy.lost} of {proxy.sent}, {proxy.overlapping}",
            f"{direct.twice}, {proxy.twice}",
            _seconds(direct),
            _seconds(proxy),
            str(len(found[row].complaints)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
        notes += [f"* {row.name}, {way}" for way in _remarks(found[row])]
    return "\n".join([*lines, *([""] if notes else []), *notes, ""])


def _step(seen: Seen) -> str:
    return "" if seen.failed is None else seen.failed.partition(":")[0].replace("_", " ")


def _seconds(seen: Seen) -> str:
    if seen.failed is not None:
        return f"ended at {_step(seen)}"
    return ", ".join(f"{seen.seconds[step]:.1f}" for step in TIMED)


def _remarks(pair: Pair) -> list[str]:
    failed = [(name, seen.failed) for name, seen in (("direct", pair.direct), ("proxy", pair.proxy)) if seen.failed]
    said = [f"{name}: {reason.splitlines()[0]}" for name, reason in failed]
    return said + [f"complaint: `{each}`" for each in sorted(pair.complaints)]


if __name__ == "__main__":
    main()
