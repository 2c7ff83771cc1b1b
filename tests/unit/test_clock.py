"""Alarms: when they ring, and what has its turn before those that were overslept."""

from __future__ import annotations

from functools import partial

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from proxy.groups.clock import CATCH_UP_SECONDS, OVERSLEPT_MS, Clock


@pytest.fixture
def rung(nursery: trio.Nursery, mock_clock: MockClock) -> list[str]:
    """Alarms at one and two seconds from now, of a clock that runs. Nobody's time passes but by `mock_clock.jump`."""
    rung: list[str] = []
    clock = Clock(lambda seconds: rung.append(f"stood still for {seconds} s"))
    for name, delay_ms in (("second", 2_000), ("first", 1_000)):
        clock.at(clock.now_ms + delay_ms, partial(rung.append, name))
    nursery.start_soon(clock.run)
    return rung


async def passes(mock_clock: MockClock, seconds: float) -> None:
    mock_clock.jump(seconds)
    await wait_all_tasks_blocked()


async def test_alarms_ring_when_they_are_over_and_not_before(rung: list[str], mock_clock: MockClock) -> None:
    await wait_all_tasks_blocked()
    await passes(mock_clock, 0.9)
    assert rung == []
    await passes(mock_clock, 0.2)
    assert rung == ["first"]
    await passes(mock_clock, 1.0)
    assert rung == ["first", "second"]


async def test_what_came_while_the_process_stood_still_has_its_turn_before_alarms_that_it_overslept(
    rung: list[str], mock_clock: MockClock
) -> None:
    await wait_all_tasks_blocked()
    await passes(mock_clock, 2.1 + OVERSLEPT_MS / 1000)
    assert rung == ["stood still for 2.1 s"]
    rung.clear()
    await passes(mock_clock, CATCH_UP_SECONDS)
    assert rung == ["first", "second"]


async def test_an_alarm_that_sets_itself_for_a_moment_that_is_over_stops_nobody(
    nursery: trio.Nursery, mock_clock: MockClock
) -> None:
    clock, times = Clock(), 0

    def ring() -> None:
        nonlocal times
        times += 1
        clock.at(clock.now_ms - 1, ring)

    ring()
    nursery.start_soon(clock.run)
    for _ in range(3):
        await wait_all_tasks_blocked()
        mock_clock.jump(0.001)
    assert times == 4


async def test_an_alarm_that_fails_is_told_and_keeps_no_other_from_ringing(
    nursery: trio.Nursery, mock_clock: MockClock
) -> None:
    failures, rung = list[Exception](), list[str]()
    clock = Clock(mistaken=failures.append)
    clock.at(clock.now_ms, lambda: [].remove("what is not there"))  # type: ignore[arg-type]
    clock.at(clock.now_ms, partial(rung.append, "the next"))
    nursery.start_soon(clock.run)
    await passes(mock_clock, 0.1)
    assert rung == ["the next"]
    assert [type(failure) for failure in failures] == [ValueError]


async def test_between_alarms_that_are_due_together_others_have_a_turn(
    nursery: trio.Nursery, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of hundreds of members are, and each takes a moment: here as long as all of them may."""
    monkeypatch.setattr("proxy.groups.clock.TURN_SECONDS", -1.0)
    clock, rung = Clock(), list[str]()

    async def another() -> None:
        rung.append("another")

    def ring() -> None:
        rung.append("alarm")
        nursery.start_soon(another)

    for _ in range(3):
        clock.at(clock.now_ms, ring)
    nursery.start_soon(clock.run)
    await passes(mock_clock, 0.1)
    # Who can go on at the same time does so in no order.
    assert "another" in rung[:3]


async def test_a_clock_that_has_had_much_to_ring_has_not_stood_still(
    nursery: trio.Nursery, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of members, when all have lost their coordinator."""
    monkeypatch.setattr("proxy.groups.clock.TURN_SECONDS", -1.0)
    rung = list[str]()
    clock = Clock(lambda seconds: rung.append(f"stood still for {seconds} s"))
    for _ in range(3):
        clock.at(clock.now_ms, lambda: mock_clock.jump(0.6 * OVERSLEPT_MS / 1000))
    clock.at(clock.now_ms + OVERSLEPT_MS // 2, partial(rung.append, "late"))
    nursery.start_soon(clock.run)
    for _ in range(2):
        await passes(mock_clock, 0.001)
    assert rung == ["late"]


async def test_members_have_a_clock_that_nobody_sets_and_what_is_observed_the_walls(mock_clock: MockClock) -> None:
    clock = Clock()
    members_ms, walls_ns = clock.now_ms, clock.now_ns
    mock_clock.jump(3_600)
    assert clock.now_ms - members_ms >= 3_600_000
    assert clock.now_ns - walls_ns < 3_600 * 1_000_000_000
