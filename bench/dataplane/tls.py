"""python -m bench.dataplane.tls [--rounds N] [--markdown]: consume with TLS to clients, and with TLS on both sides.

Direct TLS to the broker and this proxy, in turns, in one run; reported, without targets.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.dataplane.client import produce
from bench.dataplane.measures import MESSAGE_BYTES, TOPIC, cpu_seconds
from bench.document import write_section
from tests.kafka import Cluster, Security
from tests.kafka.certificates import Certificates
from tests.proxy.running import Running

MEGABYTES = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    tempfile.tempdir = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(Cluster.start())
        secured = stack.enter_context(Cluster.start(security=Security(tls=True)))
        ours = Certificates()
        assert secured.certificates is not None
        broker_authority = str(secured.certificates.authority)
        for cluster, config in ((plain, {}), (secured, _trusting(broker_authority))):
            cluster.create_topic(TOPIC)
            produce(cluster.bootstrap, TOPIC, (MEGABYTES + 20) * 1_000_000, MESSAGE_BYTES, config)
        to_clients = stack.enter_context(_proxy(plain, _client_tls(ours)))
        both = stack.enter_context(
            _proxy(secured, _client_tls(ours) + f'[upstream_tls]\nca_file = "{broker_authority}"\n')
        )
        cases = {
            "direct, TLS": (secured.bootstrap, broker_authority, None),
            "this proxy, TLS to clients": (to_clients.bootstrap, str(ours.authority), to_clients.process.pid),
            "this proxy, TLS on both sides": (both.bootstrap, str(ours.authority), both.process.pid),
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
        for _ in range(options.rounds):
            for name, case in cases.items():
                found[name].append(_consume(*case))
    text = _table(found)
    print(text)
    if options.markdown:
        write_section("tls", f"python -m bench.dataplane.tls --rounds {options.rounds} --markdown", text)


def _consume(bootstrap: str, authority: str, pid: int | None) -> tuple[float, float]:
    before = cpu_seconds(pid)
    command = [sys.executable, str(Path(__file__).with_name("client.py")), "consume", bootstrap, TOPIC]
    command += [str(MEGABYTES), str(MESSAGE_BYTES), json.dumps(_trusting(authority))]
    seconds = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["seconds"]
    return MEGABYTES / seconds, (cpu_seconds(pid) - before) / MEGABYTES * 1000


def _trusting(authority: str) -> dict[str, str]:
    return {"security.protocol": "SSL", "ssl.ca.location": authority}


def _client_tls(certificates: Certificates) -> str:
    pem = certificates.issue("proxy", "127.0.0.1")
    return f'[client_tls]\ncertificate_file = "{pem}"\nprivate_key_file = "{pem}"\n'


@contextlib.contextmanager
def _proxy(cluster: Cluster, settings: str):  # type: ignore[no-untyped-def]
    config = Path(tempfile.mkdtemp()) / "proxy.toml"
    config.write_text(settings)
    with Running(cluster.bootstrap, "--config", str(config), log_level="warning") as running:
        yield running.ready()


def _table(found: dict[str, list[tuple[float, float]]]) -> str:
    lines = ["| consume | MB/s | proxy CPU s/GB |", "|---|---|---|"]
    direct = statistics.median(rate for rate, _ in found["direct, TLS"])
    for name, values in found.items():
        rate = statistics.median(value[0] for value in values)
        cpu = statistics.median(value[1] for value in values)
        lines.append(f"| {name} | {rate:,.0f} (×{rate / direct:.2f}) | {'–' if not cpu else f'{cpu:.2f}'} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
