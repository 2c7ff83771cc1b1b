"""python -m bench.commits.run [--rounds N] [--markdown]

A member commits one offset again and again, in turns: a classic one straight to its coordinator, a native one straight to it,
and a classic one through the proxy, which is a native one upstream. In a row, waiting for no answer, and one at a time. It is
made by hand, and costs next to nothing itself. Medians over the rounds, after one that does not count; ratios are to the
first.
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
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.wire import read_frame
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running

NATIVE = "direct, native"
# Of OffsetCommit. Native members speak none before 9.
VERSIONS = {"direct, classic": 7, NATIVE: 9, "proxy": 7}
IN_A_ROW, ONE_AT_A_TIME = 10_000, 2_000
LENGTH = struct.Struct(">i")
FIRST, *OTHERS = VERSIONS


class Round(msgspec.Struct, frozen=True):
    """Commits a second, milliseconds each, and the proxy's CPU for each in microseconds."""

    in_a_row: float
    in_a_row_cpu_us: float
    each_ms: float
    each_cpu_us: float


def main() -> None:
    options = _options()
    found: dict[str, list[Round]] = {layout: [] for layout in VERSIONS}
    with Cluster.start() as kafka, Running(kafka.bootstrap, log_level="warning") as proxy:
        proxy.ready()
        for number in range(options.rounds + 1):
            # Another one first each time.
            for layout in list(VERSIONS)[:: 1 if number % 2 else -1]:
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
    member, version = _member(kafka, proxy, layout), VERSIONS[layout]
    try:
        requests = list(_requests(member, version, IN_A_ROW))
        row_seconds, row_cpu = _timed(pid, lambda: _in_a_row(member, version, requests))
        each_seconds, each_cpu = _timed(pid, lambda: _one_at_a_time(member, version, requests[:ONE_AT_A_TIME]))
        # A native one would leave in other words; its session ends by itself.
        if layout != NATIVE:
            member.leave()
    finally:
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
    member = ByHand((proxy.host, proxy.port_of(node)) if layout == "proxy" else (host, int(port)), name, name)
    if layout == "proxy":
        return member.joins()
    if layout == FIRST:
        member.join()
        member.leads(b"")
    else:
        _join_natively(member)
    return member


def _join_natively(member: ByHand) -> None:
    """Until it has the partition: the coordinator may have yet to hear of the topic."""
    member.member_id, epoch = str(uuid.uuid4()), 0
    while True:
        asked = m.ConsumerGroupHeartbeatRequest(
            group_id=member.group,
            member_id=member.member_id,
            member_epoch=epoch,
            rebalance_timeout_ms=30_000,
            subscribed_topic_names=list(member.topics),
            topic_partitions=[],
        )
        answer = member.ask(keys.CONSUMER_GROUP_HEARTBEAT, 1, asked)
        assert answer.error_code == 0, f"a native member is refused with {answer.error_code}"
        member.generation = epoch = answer.member_epoch
        if answer.assignment and answer.assignment.topic_partitions:
            return
        time.sleep(0.1)


def _requests(member: ByHand, version: int, count: int) -> Iterator[bytes]:
    for number in range(count):
        request = member.commit_request(member.topics[0], 0, number, version)
        frame = encode_request(keys.OFFSET_COMMIT, version, number, member.client_id, request)
        yield LENGTH.pack(len(frame)) + frame


def _timed(pid: int | None, does: Callable[[], None]) -> tuple[float, float]:
    cpu, began = cpu_seconds(pid), time.perf_counter()
    does()
    return time.perf_counter() - began, cpu_seconds(pid) - cpu


def _in_a_row(member: ByHand, version: int, requests: list[bytes]) -> None:
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(member.sock.sendall, b"".join(requests))
        for _ in requests:
            _hear(member, version)
        sent.result()


def _one_at_a_time(member: ByHand, version: int, requests: list[bytes]) -> None:
    for request in requests:
        member.sock.sendall(request)
        _hear(member, version)


def _hear(member: ByHand, version: int) -> None:
    _, answer = decode_response(keys.OFFSET_COMMIT, version, read_frame(member.sock))
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
    first = medians[FIRST]
    lines = [f"| {FIRST} | {first.in_a_row:,.0f} | – | {first.each_ms:.2f} | – |"]
    for layout in OTHERS:
        it = medians[layout]
        costs = (f"{it.in_a_row_cpu_us:.0f}", f"{it.each_cpu_us:.0f}")
        row, each = costs if layout == "proxy" else ("–", "–")
        lines.append(
            f"| {layout} | {it.in_a_row:,.0f} (×{it.in_a_row / first.in_a_row:.2f}) | {row} "
            f"| {it.each_ms:.2f} (×{it.each_ms / first.each_ms:.2f}) | {each} |"
        )
    return "\n".join([head, *lines])


if __name__ == "__main__":
    main()
