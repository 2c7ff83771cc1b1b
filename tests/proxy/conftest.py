"""The proxy before each kind of broker that the rest of a module asks the same questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka import Cluster
from tests.proxy.running import Running


@pytest.fixture(scope="module", params=["4.4", "4.0"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue("kafka" if request.param == "4.4" else "kafka40")
    return found


@pytest.fixture(scope="module")
def proxy(cluster: Cluster) -> Iterator[Running]:
    """Whatever it is asked, it is never mistaken."""
    with Running(cluster.bootstrap) as running:
        yield running.ready()
        assert running.mistakes() == 0
