"""python -m bench.commits.run [--rounds N] [--markdown]

A member commits one offset again and again, straight to its coordinator and through the proxy, in turns: in a row, waiting
for no answer, and one at a time. It is made by hand, and costs next to nothing itself. Medians over the rounds, after one
that does not count; ratios are to direct.
"""

from __future__ import annotations

import argparse
import statistics
import struct
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec

from bench.dataplane.accounting import cpu_seconds
from bench.document import write_section
from kafka_protocol import decode_response, encode_request
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.wire import read_frame
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running

VERSION = 7
IN_A_ROW, ONE_AT_A_TIME = 10_000, 2_000
LENGTH = struct.Struct(">i")
LAYOUTS = ("direct", "proxy")


class Round(msgspec.Struct, frozen=True):
    """Commits a second, milliseconds each, and the proxy's CPU for each in microseconds."""

    in_a_row: float
    in_a_row_cpu_us: float
    each_ms: float
    each_cpu_us: float


def main() -> None:
    options = _options()
    found: dict[str, list[Round]] = {layout: [] for layout in LAYOUTS}
    with Cluster.start() as kafka, Running(kafka.bootstrap, log_level="warning") as proxy:
        proxy.ready()
        for number in range(options.rounds + 1):
            # Another one first each time.
            for layout in LAYOUTS[:: 1 if number % 2 else -1]:
                found[layout].append(play(kafka, proxy, layout))
            print(f"round {number} of {options.rounds} done", file=sys.stderr, flush=True)
    table = _table({layout: rounds[1:] for layout, rounds in found.items()})
    print(table)
    if options.markdown:
        write_section("commits", f"python -m bench.commits.run {' '.join(sys.argv[1:])}", table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    return parser.parse_args()


def play(kafka: Cluster, proxy: Running, layout: str) -> Round:
    pid = proxy.process.pid if layout == "proxy" else None
    member = _member(kafka, proxy, layout)
    try:
        requests = list(_requests(member, IN_A_ROW))
        row_seconds, row_cpu = _timed(pid, lambda: _in_a_row(member, requests))
        each_seconds, each_cpu = _timed(pid, lambda: _one_at_a_time(member, requests[:ONE_AT_A_TIME]))
    finally:
        member.leave()
        member.close()
    return Round(
        IN_A_ROW / row_seconds,
        row_cpu / IN_A_ROW * 1e6,
        each_seconds / ONE_AT_A_TIME * 1e3,
        each_cpu / ONE_AT_A_TIME * 1e6,
    )


def _member(kafka: Cluster, proxy: Running, layout: str) -> ByHand:
    """Alone in a group of its own, with partition 0 of its topic."""
    name = f"commits-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=1)
    node = kafka.coordinator(name)
    host, _, port = kafka.nodes[node].address.rpartition(":")
    member = ByHand((host, int(port)) if layout == "direct" else (proxy.host, proxy.port_of(node)), name, name)
    if layout == "proxy":
        return member.joins()
    member.join()
    member.leads(b"")
    return member


def _requests(member: ByHand, count: int) -> Iterator[bytes]:
    for number in range(count):
        request = member.commit_request(member.topics[0], 0, number, VERSION)
        frame = encode_request(keys.OFFSET_COMMIT, VERSION, number, member.client_id, request)
        yield LENGTH.pack(len(frame)) + frame


def _timed(pid: int | None, does: Callable[[], None]) -> tuple[float, float]:
    cpu, began = cpu_seconds(pid), time.perf_counter()
    does()
    return time.perf_counter() - began, cpu_seconds(pid) - cpu


def _in_a_row(member: ByHand, requests: list[bytes]) -> None:
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(member.sock.sendall, b"".join(requests))
        for _ in requests:
            _hear(member)
        sent.result()


def _one_at_a_time(member: ByHand, requests: list[bytes]) -> None:
    for request in requests:
        member.sock.sendall(request)
        _hear(member)


def _hear(member: ByHand) -> None:
    _, answer = decode_response(keys.OFFSET_COMMIT, VERSION, read_frame(member.sock))
    code = answer.topics[0].partitions[0].error_code
    assert code == 0, f"a commit is refused with {code}"


def _table(found: dict[str, list[Round]]) -> str:
    head = (
        "| layout | in a row: commits/s | proxy's CPU µs each | one at a time: ms each | proxy's CPU µs each |\n"
        "|---|---|---|---|---|"
    )
    medians = {
        layout: Round(*map(statistics.median, zip(*map(msgspec.structs.astuple, rounds), strict=True)))
        for layout, rounds in found.items()
    }
    direct, proxy = medians["direct"], medians["proxy"]
    return "\n".join(
        [
            head,
            f"| direct | {direct.in_a_row:,.0f} | – | {direct.each_ms:.2f} | – |",
            f"| proxy | {proxy.in_a_row:,.0f} (×{proxy.in_a_row / direct.in_a_row:.2f}) | {proxy.in_a_row_cpu_us:.0f} "
            f"| {proxy.each_ms:.2f} (×{proxy.each_ms / direct.each_ms:.2f}) | {proxy.each_cpu_us:.0f} |",
        ]
    )


if __name__ == "__main__":
    main()
