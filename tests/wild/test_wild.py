"""A little of `python -m tests.wild`, and that it would notice."""

from __future__ import annotations

import pytest

from tests.kafka import Cluster
from tests.wild.__main__ import plays
from tests.wild.holdings import Holdings


@pytest.mark.broker
def test_clients_that_do_what_no_library_does_share_partitions_and_come_to_rest(kafka: Cluster) -> None:
    assert list(plays(kafka, seed=1, groups=3, seconds=12)) == []


def test_what_is_told_to_a_second_before_the_first_has_let_go_is_a_fault() -> None:
    holdings = Holdings()
    holdings.takes("alice", {0, 1})
    holdings.keeps("alice", {1})
    holdings.takes("bob", {0})
    assert holdings.faults == []
    holdings.takes("bob", {0, 1})
    assert holdings.faults == ["partition 1 is told to bob while alice has it"]
    assert holdings.shares() == {"bob": 2}
