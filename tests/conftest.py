"""One cluster of each kind for the whole session, started when the first test asks for it; and who runs which tests."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling, LoadScopeScheduling

from tests.kafka import Cluster, Security
from tests.kafka.cluster import OLDEST

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
# Each of these is one worker's. What needs Spark computes, and the others wait for brokers and clients; and clusters of
# three nodes, or that want certificates and passwords, are there to the end in whatever worker has begun them.
SPARK = ("tests/pipeline/",)
CLUSTERS = (
    "tests/clients/test_clients.py",
    "tests/kafka/test_cluster.py",
    "tests/proxy/test_addresses_on_the_wire.py",
    "tests/proxy/test_cli_check.py",
    "tests/proxy/test_cli_watching.py",
    "tests/proxy/test_clients.py",
    "tests/proxy/test_exactly_once.py",
    "tests/proxy/test_libraries.py",
    "tests/proxy/test_processes.py",
    "tests/proxy/test_security.py",
    "tests/proxy/test_survival.py",
    "tests/proxy/test_ways_in.py",
)
# One file that mostly waits, and longest.
LONGEST = "tests/simulation/real/"
# Of a broker that waits for its next test, half of what it costs is threads that look for work.
FEW_THREADS = {"num.io.threads": "2", "num.network.threads": "1"}


# How long an example takes is the machine's business.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure() -> None:
    """Whoever is started in the background ignores Ctrl-C, and so would all that is started here."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is left behind, logs of proxies mostly, goes with pytest's own folders: those of the last three runs are kept."""
    os.environ["TMPDIR"] = tempfile.tempdir = str(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def kafka() -> Iterator[Cluster]:
    with Cluster.start(overrides=FEW_THREADS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka3() -> Iterator[Cluster]:
    with Cluster.start(nodes=3, overrides=FEW_THREADS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka40() -> Iterator[Cluster]:
    with Cluster.start(version=OLDEST, overrides=FEW_THREADS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka_tls() -> Iterator[Cluster]:
    with Cluster.start(security=Security(tls=True), overrides=FEW_THREADS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka_mtls() -> Iterator[Cluster]:
    with Cluster.start(security=Security(tls=True, mutual=True), overrides=FEW_THREADS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka_sasl() -> Iterator[Cluster]:
    """ACLs are enforced: alice and bob may nothing yet. Who is authenticated may be so again on the same connection."""
    again = FEW_THREADS | {"connections.max.reauth.ms": "3600000"}
    with Cluster.start(security=Security(sasl=MECHANISMS, authorizer=True), overrides=again) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka_sasl_tls() -> Iterator[Cluster]:
    with Cluster.start(security=Security(tls=True, sasl=MECHANISMS), overrides=FEW_THREADS) as cluster:
        yield cluster


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure says where the brokers' logs are, and they are kept."""
    report = yield
    used = getattr(item, "funcargs", {}).values()
    for cluster in {each for each in used if isinstance(each, Cluster)}:
        if report.failed:
            cluster.keep_logs = True
            report.sections.append(("brokers", f"logs are kept in {cluster.folder}"))
    return report


class Sharing(LoadFileScheduling):
    """File by file, but for what is one worker's."""

    def _split_scope(self, nodeid: str) -> str:
        together = [each for each in (SPARK, CLUSTERS) if nodeid.startswith(each)]
        return together[0][0] if together else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    return Sharing(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes a worker longest comes first."""
    first = (SPARK, CLUSTERS, LONGEST)
    items.sort(key=lambda item: [not item.nodeid.startswith(each) for each in first])
