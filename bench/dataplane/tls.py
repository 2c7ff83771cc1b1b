"""python -m bench.dataplane.tls [--rounds N] [--markdown]: consume with TLS to clients, and with TLS on both sides.

Direct TLS to the broker, the Kafka proxies in Go and on the JVM, and this one, in turns, in one run; reported, without
targets.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import statistics
import sys
from pathlib import Path

from bench.dataplane import peers
from bench.dataplane.broker import TOPIC, fill, scratch, start_broker
from bench.dataplane.measures import answer_of, client_command, with_cpu
from bench.dataplane.peers import Peer, Tls
from bench.dataplane.surroundings import surroundings
from bench.document import write_section
from tests.kafka import Security
from tests.kafka.certificates import Certificates

MEGABYTES = 400

# A row's name, whom it asks, and whom its client must trust.
Case = tuple[str, Peer, Path]
# MB/s and CPU-seconds a GB.
Found = tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    around = surroundings()
    with contextlib.ExitStack() as stack:
        cases = start(stack, stack.enter_context(scratch()))
        found: dict[str, list[Found]] = {name: [] for name, _, _ in cases}
        for number in range(options.rounds + 1):
            for name, peer, authority in cases:
                figures = consume(peer, authority)
                # The first round warms JVMs up.
                if number > 0:
                    found[name].append(figures)
    text = f"{around}\n\n{render(found)}"
    print(text)
    if options.markdown:
        write_section("tls", shlex.join(["python", "-m", "bench.dataplane.tls", *sys.argv[1:]]), text)


def start(stack: contextlib.ExitStack, folder: Path) -> list[Case]:
    plain = stack.enter_context(start_broker())
    secured = stack.enter_context(start_broker(Security(tls=True)))
    assert secured.certificates is not None
    brokers, own = secured.certificates.authority, Certificates()
    fill(plain.bootstrap, MEGABYTES, {})
    fill(secured.bootstrap, MEGABYTES, _trusting(brokers))
    shown = own.issue("proxy", "127.0.0.1")
    cases: list[Case] = [("direct", peers.direct(secured.bootstrap), brokers)]
    for begin in (peers.kafka_proxy, peers.kroxylicious, peers.ours):
        one = stack.enter_context(begin(plain.bootstrap, folder, Tls(shown)))
        both = stack.enter_context(begin(secured.bootstrap, folder, Tls(shown, trusted=brokers)))
        for peer, where in ((one, "TLS to clients"), (both, "TLS on both sides")):
            if peer is not None:
                cases.append((f"{peer.name}, {where}", peer, own.authority))
    return cases


def consume(peer: Peer, authority: Path) -> Found:
    command = client_command("consume", peer.bootstrap, TOPIC, MEGABYTES, json.dumps(_trusting(authority)))
    answer, cpu = with_cpu(peer, lambda: answer_of(command))
    return MEGABYTES / answer["seconds"], cpu / MEGABYTES * 1000


def _trusting(authority: Path) -> dict[str, str]:
    return {"security.protocol": "SSL", "ssl.ca.location": str(authority)}


def render(found: dict[str, list[Found]]) -> str:
    lines = ["| consume | MB/s | proxy CPU s/GB |", "|---|---|---|"]
    direct = statistics.median(rate for rate, _ in found["direct"])
    for name, values in found.items():
        rate, cpu = (statistics.median(column) for column in zip(*values, strict=True))
        lines.append(f"| {name} | {rate:,.0f} (×{rate / direct:.2f}) | {f'{cpu:.2f}' if cpu else '–'} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
