"""What another broker knows when it takes the group over."""

from __future__ import annotations

from simulation.coordinator import Coordinator
from tests.simulation.conftest import Bench


def test_after_a_failover_everything_written_is_there_and_the_timers_begin_anew(bench: Bench) -> None:
    a = bench.member("A").joins()
    bench.passes(40_000)
    assert isinstance(bench.coordinator, Coordinator)
    bench.coordinator.fail_over(bench.clock.now)
    bench.passes(40_000)
    a.beats().is_at(2, *range(6))
    assert bench.stand() == ("Stable", 2, 2)
