"""Who may commit, and at which epoch: 4.0 is strict, 4.3 forgives an epoch the partitions were already held at."""

from __future__ import annotations

from simulation.errors import Error
from simulation.offsets import Commit
from tests.simulation.conftest import Bench
from tests.simulation.native import GROUP


def commit(bench: Bench, member_id: str, epoch: int, *partitions: int, version: int = 9) -> Error:
    offsets = dict.fromkeys(bench.topics.at("foo", *partitions), 7)
    asked = Commit(group_id=GROUP, member_id=member_id, epoch=epoch, offsets=offsets, version=version)
    return bench.coordinator.commit(asked)


def two_with_a_moved_epoch(bench: Bench) -> None:
    """A keeps foo-0..2 from its first epoch on and gave the others to B."""
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    bench.settle(a, b)


def test_at_the_member_epoch_a_commit_is_taken(bench: Bench) -> None:
    bench.member("A").joins()
    assert commit(bench, "A", 2, 0, 1) is Error.NONE
    assert bench.coordinator.committed(GROUP) == dict.fromkeys(bench.topics.at("foo", 0, 1), 7)


def test_natives_need_version_9(bench: Bench) -> None:
    bench.member("A").joins()
    assert commit(bench, "A", 2, 0, version=8) is Error.UNSUPPORTED_VERSION


def test_a_newer_epoch_is_stale_too(bench: Bench) -> None:
    bench.member("A").joins()
    assert commit(bench, "A", 3, 0) is Error.STALE_MEMBER_EPOCH


def test_an_older_epoch_holds_for_partitions_held_since(bench: Bench) -> None:
    two_with_a_moved_epoch(bench)
    assert commit(bench, "A", 2, 0, 1, 2) is Error.NONE
    assert commit(bench, "A", 2, 0, 3) is Error.STALE_MEMBER_EPOCH
    assert commit(bench, "B", 2, 3) is Error.STALE_MEMBER_EPOCH
    assert commit(bench, "B", 3, 3) is Error.NONE


def test_an_older_epoch_holds_for_partitions_being_revoked(bench: Bench) -> None:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    a.beats()
    assert commit(bench, "A", 2, 5) is Error.NONE


def test_strangers_and_nobody_do_not_commit_to_a_group_with_members(bench: Bench) -> None:
    assert commit(bench, "A", 3, 0) is Error.GROUP_ID_NOT_FOUND
    assert commit(bench, "", -1, 0) is Error.NONE
    a = bench.member("A").joins()
    assert commit(bench, "B", 2, 0) is Error.UNKNOWN_MEMBER_ID
    assert commit(bench, "", -1, 0) is Error.UNKNOWN_MEMBER_ID
    a.leaves()
    assert commit(bench, "", -1, 0) is Error.NONE
