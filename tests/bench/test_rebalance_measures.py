"""What docs/benchmarks.md says of rebalances is computed right from what clients say."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from bench.document import DOCUMENT
from bench.rebalance.measures import Figures, figures, gaps, idle_ms, long_gaps, medians, requests_per_member_s
from bench.rebalance.requests import Reading
from bench.rebalance.scenarios import SCENARIOS
from bench.rebalance.stage import PARTITIONS
from tests.clients.driver import Event

ALL = range(PARTITIONS)
WINDOW = (10_000.0, 20_000.0)
QUIET = Figures(0, 0, 0, 10, 0, 0, 0, None, 0, 0, 0)


@dataclass
class Member:
    name: str
    subscribed_at_ms: float | None = 0.0
    killed_at_ms: float | None = None
    events: list[Event] = field(default_factory=list)

    @property
    def records(self) -> list[tuple[str, int, int, str]]:
        return [record for event in self.events for record in event.get("records", [])]

    def _says(self, event: str, at_ms: float, *numbers: int) -> Member:
        self.events.append({"event": event, "at_ms": at_ms, "partitions": [["t", number] for number in numbers]})
        return self

    def has(self, at_ms: float, *numbers: int) -> Member:
        return self._says("assigned", at_ms, *numbers)

    def gives(self, at_ms: float, *numbers: int) -> Member:
        return self._says("revoked", at_ms, *numbers)

    def closes(self, at_ms: float) -> Member:
        return self._says("closed", at_ms)

    def reads(self, at_ms: float, *values: str) -> Member:
        """Of number and time of writing."""
        self.events.append({"event": "records", "at_ms": at_ms, "records": [("t", 0, 0, value) for value in values]})
        return self


def told(*everybody: Member, newcomer: Member | None = None, sent: int = 0) -> Figures:
    return figures(everybody, everybody, newcomer, WINDOW, sent)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_scenario_has_its_place_in_the_document(scenario: str) -> None:
    """Else an hour of measuring ends in an error."""
    said = DOCUMENT.read_text()
    assert f"<!-- rebalance {scenario} -->" in said
    assert f"<!-- /rebalance {scenario} -->" in said


def test_what_one_gives_and_another_takes_later_is_idle_between() -> None:
    alice = Member("alice").has(0, *ALL).gives(12_000, 0, 1)
    bob = Member("bob").has(13_500, 0).has(14_000, 1)
    assert idle_ms([alice, bob], WINDOW) == 1_500 + 2_000


def test_only_what_is_idle_within_the_window_counts() -> None:
    alice = Member("alice").has(0, *ALL).gives(8_000, 0).gives(19_000, 1)
    bob = Member("bob").has(10_250, 0).has(21_000, 1)
    assert idle_ms([alice, bob], WINDOW) == 250 + 1_000


def test_what_nobody_ever_has_is_idle_throughout() -> None:
    assert idle_ms([Member("alice").has(0, *ALL[1:])], WINDOW) == 10_000


def test_who_left_what_to_whom_is_told_of_long_gaps() -> None:
    alice = Member("alice").has(0, *ALL).gives(12_000, 0, 1, 2).gives(19_500, 3).gives(18_000, 4)
    bob = Member("bob").has(13_500, 0, 1).has(12_400, 2)
    assert long_gaps(gaps([alice, bob], WINDOW), WINDOW[0]) == [
        "2.0 s: 2 from alice to bob, idle for 1.5 s",
        "8.0 s: 1 from alice to nobody, idle for 2.0 s",
    ]


def test_two_owners_at_once_make_up_for_nothing() -> None:
    alice = Member("alice").has(0, *ALL).gives(15_000, 0, 1)
    bob = Member("bob").has(11_000, 0)
    assert idle_ms([alice, bob], WINDOW) == 5_000
    assert told(alice, bob).overlapping == 1


def test_who_is_killed_has_nothing_from_then_on() -> None:
    assert idle_ms([Member("alice", killed_at_ms=19_000).has(0, *ALL)], WINDOW) == 1_000 * PARTITIONS


def test_a_member_is_disturbed_when_it_loses_something_in_the_window_and_not_by_leaving() -> None:
    alice = Member("alice").has(0, *ALL).gives(9_000, 0).gives(11_000, 1, 2).gives(12_000).gives(13_000, 3)
    leaver = Member("leaver").gives(18_500, 7).closes(19_000)
    assert (told(alice, leaver).revocations, told(alice, leaver).revoked) == (2, 3)


def test_a_record_is_late_by_its_first_reading_if_it_was_written_in_the_window() -> None:
    alice = Member("alice").reads(12_000, "0:9000", "1:10500", "2:11900").reads(25_000, "3:19000")
    bob = Member("bob").reads(11_000, "1:10500")
    seen = told(bob, alice, sent=6)
    assert (seen.late, seen.max_ms) == (1, 6_000)
    assert (seen.lost, seen.duplicated) == (2, 1)


def test_a_newcomer_is_timed_from_its_subscribing() -> None:
    newcomer = Member("newcomer", subscribed_at_ms=11_000).reads(12_500, "0:12000")
    assert told(newcomer, newcomer=newcomer).first_record_s == 1.5


def test_requests_are_shared_among_all_the_time_that_members_were_there() -> None:
    early, late = Reading(10_000, {"Heartbeat": 5}), Reading(20_000, {"Heartbeat": 25, "JoinGroup": 10})
    there = [Member("all"), Member("half", subscribed_at_ms=15_000), Member("closed").closes(12_000)]
    there += [Member("killed", killed_at_ms=13_000), Member("gone").closes(9_000)]
    assert requests_per_member_s(there, early, late) == pytest.approx(30 / (10 + 5 + 2 + 3))


def test_of_several_runs_the_medians_are_told_and_the_worst_of_what_must_not_be() -> None:
    runs = [replace(QUIET, revoked=number, lost=number == 1, first_record_s=number or None) for number in range(3)]
    assert medians(runs) == replace(QUIET, revoked=1, lost=1, first_record_s=1.5)
