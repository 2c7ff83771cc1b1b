"""KIP-848, chapter "Case Studies", in its own order and with its own numbers, played against our coordinator.

Members A, B, C are natives by hand where the text follows single heartbeats, so nobody beats but when it says so.
"""

from __future__ import annotations

import msgspec

from simulation.brokers import V4_4
from simulation.coordinator import Coordinator
from simulation.errors import Error
from simulation.expressions import AT_LEAST_MS
from simulation.group import Group
from simulation.topics import Topics
from tests.simulation.conftest import Bench
from tests.simulation.native import GROUP, REBALANCE_TIMEOUT_MS, Native


def a_group(foo: int, epoch: int) -> Bench:
    """The case studies do not know the assignment interval (KIP-1263 came later)."""
    line = msgspec.structs.replace(V4_4, assignment_interval_ms=0)
    coordinator = Coordinator(Topics(foo=foo), line)
    group = coordinator.groups[GROUP] = Group(GROUP, line, coordinator.topics)
    group.epoch = group.assignment_epoch = epoch
    return Bench(coordinator)


def settled(foo: int, epoch: int, *names: str) -> tuple[Bench, list[Native]]:
    """A group that has come to rest at this epoch."""
    bench = a_group(foo, epoch - len(names))
    members = bench.members(*names)
    for number, member in enumerate(members, 1):
        member.joins()
        bench.settle(*members[:number])
    return bench, members


def test_basic() -> None:
    bench = a_group(foo=3, epoch=0)
    a, b, c = bench.members("A", "B", "C")
    # Member A joins the group; all the partitions are assigned to A.
    a.joins().is_at(1, 0, 1, 2)
    # Member B joins: it can go to epoch 2 but cannot get foo-2 until A revokes it.
    b.joins().is_at(2)
    # When A heartbeats, the group coordinator instructs it to revoke foo-2.
    a.beats().is_at(1, 0, 1)
    # A acknowledges, and is at epoch 2. When B heartbeats, it can now get foo-2.
    a.acknowledges().is_at(2, 0, 1)
    b.beats().is_at(2, 2)
    # Member C joins, and foo-1 is to be its own.
    c.joins().is_at(3)
    # B has no partitions to revoke. C cannot get foo-1 yet.
    b.beats().is_at(3, 2)
    c.beats().is_at(3)
    # A is instructed to revoke foo-1, and acknowledges.
    a.beats().is_at(2, 0)
    a.acknowledges().is_at(3, 0)
    c.beats().is_at(3, 1)
    # All the members have eventually advanced to the group epoch (3).
    assert bench.stand() == ("Stable", 3, 3)


def test_incremental_revocation_and_assignment() -> None:
    bench, [a, b] = settled(6, 21, "A", "B")
    a.is_at(21, 0, 1, 2)
    b.is_at(21, 3, 4, 5)
    # C joins; it is at epoch 22 but gets nothing, because nothing is revoked yet.
    c = bench.member("C").joins().is_at(22)
    a.beats().is_at(21, 0, 1)
    b.beats().is_at(21, 3, 4)
    # C heartbeats, no changes for it.
    c.beats().is_at(22)
    a.acknowledges().is_at(22, 0, 1)
    # C gets foo-2, which is now free; foo-5 is held back.
    c.beats().is_at(22, 2)
    b.acknowledges().is_at(22, 3, 4)
    c.beats().is_at(22, 2, 5)
    assert bench.stand() == ("Stable", 22, 22)


def test_member_failure() -> None:
    bench, [a, b, c] = settled(6, 22, "A", "B", "C")
    a.is_at(22, 0, 1)
    b.is_at(22, 3, 4)
    c.is_at(22, 2, 5)
    # A fails to heartbeat, and is removed after the session timeout.
    bench.passes(40_000)
    b.beats()
    c.beats()
    bench.passes(6_000)
    assert bench.stand() == ("Assigning", 23, 22)
    # B and C heartbeat and are at epoch 23.
    b.beats().is_at(23, 3, 4, 0)
    c.beats().is_at(23, 2, 5, 1)
    assert bench.stand() == ("Stable", 23, 23)


def test_partition_added() -> None:
    bench, [a, b] = settled(1, 22, "A", "B")
    a.is_at(22, 0)
    b.is_at(22)
    bench.topics.grow("foo", 2)
    a.beats().is_at(23, 0)
    b.beats().is_at(23, 1)
    assert bench.stand() == ("Stable", 23, 23)


def test_the_three_epochs_of_the_basic_case() -> None:
    """What the text writes beside each step: the group's epoch, and that of the target."""
    bench = a_group(foo=3, epoch=0)
    a, b = bench.members("A", "B")
    a.joins()
    assert bench.stand() == ("Stable", 1, 1)
    b.joins()
    assert bench.stand() == ("Reconciling", 2, 2)
    a.beats()
    assert bench.stand() == ("Reconciling", 2, 2)
    a.acknowledges()
    # B owns nothing yet, and the group waits for its heartbeat.
    assert bench.stand() == ("Reconciling", 2, 2)
    b.beats()
    assert bench.stand() == ("Stable", 2, 2)


# --- fail over: what a newly elected coordinator has to do ------------------------------------------------------------


def fails_over(bench: Bench) -> None:
    assert isinstance(bench.coordinator, Coordinator)
    bench.coordinator.fail_over(bench.clock.now)


def test_fail_over_sets_up_the_session_timeouts() -> None:
    """ "For all the members (like today)": anew, for whom could they have spoken to before?"""
    bench, [a, b] = settled(2, 22, "A", "B")
    bench.passes(40_000)
    fails_over(bench)
    bench.passes(40_000)
    a.beats().is_at(22, *{each.partition for each in a.assigned})
    bench.passes(6_000)
    # B has not been heard by the new one.
    assert bench.stand() == ("Assigning", 23, 22)
    b.beats().is_refused(Error.UNKNOWN_MEMBER_ID)


def test_fail_over_sets_up_the_rebalance_timeouts() -> None:
    """Of who was revoking when the old one went: it has its time anew, and no more than that."""
    bench, [a, b] = settled(6, 22, "A", "B")
    c = bench.member("C").joins().is_at(23)
    a.beats().is_at(22, 0, 1)
    b.beats().acknowledges().is_at(23, 3, 4)
    beats_for(bench, REBALANCE_TIMEOUT_MS - 10_000, a, b, c)
    fails_over(bench)
    beats_for(bench, REBALANCE_TIMEOUT_MS - 10_000, a, b, c)
    a.is_at(22, 0, 1)
    bench.passes(10_000)
    a.beats().is_refused(Error.UNKNOWN_MEMBER_ID)


def test_fail_over_checks_whether_topics_have_changed() -> None:
    """ "Whether the topic-partition metadata has changed": also while nobody was the coordinator."""
    bench, [a, b] = settled(2, 22, "A", "B")
    bench.topics.grow("foo", 4)
    fails_over(bench)
    a.beats()
    b.beats()
    assert bench.stand() == ("Stable", 23, 23)


def test_fail_over_checks_whether_new_topics_match_an_expression() -> None:
    """ "Whether new topics match the regex subscriptions": and it triggers a rebalance if they do."""
    bench = a_group(foo=2, epoch=20)
    a, b = bench.members("A", "B")
    a.joins_by("(foo|bar)")
    b.joins()
    bench.settle(a, b)
    assert bench.stand() == ("Stable", 22, 22)
    bench.passes(AT_LEAST_MS)
    bench.topics.create("bar", 2)
    fails_over(bench)
    # Whoever beats first.
    b.beats()
    assert bench.stand() == ("Assigning", 23, 22)
    a.beats()
    b.beats().acknowledges()
    a.beats().is_at(23, 0, 0, 1)
    b.is_at(23, 1)
    assert bench.stand() == ("Stable", 23, 23)


def test_fail_over_checks_whether_a_new_assignment_is_required() -> None:
    """ "Group epoch != assignment epoch": who left was written down, and a target without it was not."""
    bench, [a, b] = settled(2, 22, "A", "B")
    b.leaves()
    assert bench.stand() == ("Assigning", 23, 22)
    fails_over(bench)
    a.beats().is_at(23, 0, 1)
    assert bench.stand() == ("Stable", 23, 23)


def beats_for(bench: Bench, ms: int, *members: Native) -> None:
    """All beat every ten seconds, and nobody acknowledges anything."""
    for _ in range(ms // 10_000):
        bench.passes(10_000)
        for member in members:
            assert member.beats().answer.error_code == Error.NONE
