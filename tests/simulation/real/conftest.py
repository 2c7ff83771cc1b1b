"""The same bench, with a real 4.4 or 4.0 broker on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka import Cluster
from tests.kafka.cluster import OLDEST
from tests.simulation.conftest import Bench
from tests.simulation.real.broker import SETTINGS, SETTINGS_4_4, RealCoordinator


@pytest.fixture(scope="module")
def quick_kafka() -> Iterator[Cluster]:
    with Cluster.start(overrides=SETTINGS_4_4) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def quick_kafka40() -> Iterator[Cluster]:
    with Cluster.start(version=OLDEST, overrides=SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def bench(quick_kafka: Cluster) -> Bench:
    return Bench(RealCoordinator(quick_kafka))


@pytest.fixture
def bench40(quick_kafka40: Cluster) -> Bench:
    return Bench(RealCoordinator(quick_kafka40))
