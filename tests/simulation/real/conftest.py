"""The same benches, with real brokers on them: 4.4 and 4.0, or those that BROKERS names.

`BROKERS=4.1.2,4.2.2,4.3.1 .venv/bin/pytest tests/simulation/real -k 4.` puts to these what differs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from simulation.brokers import LINES
from tests.kafka import Cluster
from tests.kafka.cluster import NEWEST, OLDEST
from tests.simulation.conftest import Bench
from tests.simulation.real.broker import SETTINGS, RealCoordinator

VERSIONS = os.environ.get("BROKERS", f"{OLDEST},{NEWEST}").split(",")
Benches = Callable[[str], Bench]


@pytest.fixture(scope="module")
def benches() -> Iterator[Benches]:
    """By version. A broker is started when it is first asked for."""
    with ExitStack() as running:

        @cache
        def broker(version: str) -> Cluster:
            return running.enter_context(Cluster.start(version=version, overrides=SETTINGS))

        def bench(version: str) -> Bench:
            return Bench(RealCoordinator(broker(version)), LINES[version.rpartition(".")[0]])

        yield bench


@pytest.fixture
def bench(benches: Benches) -> Bench:
    return benches(NEWEST)


@pytest.fixture(params=VERSIONS)
def any_bench(benches: Benches, request: pytest.FixtureRequest) -> Bench:
    return benches(request.param)
