"""Where broker lines differ (simulation/brokers.py): each difference is put to every line, which knows what it will say."""

from __future__ import annotations

from simulation.errors import Error
from tests.simulation.conftest import Bench
from tests.simulation.native import GROUP
from tests.simulation.test_coordinator_members import one_steps_out_of_a_full_group, two_settled
from tests.simulation.test_coordinator_offsets import commit


def test_the_first_member_of_a_fresh_group_owns_everything_at_the_epoch_after_that_of_nobody(any_bench: Bench) -> None:
    bench, first = any_bench, any_bench.first_epoch
    bench.member("A").joins().is_at(first, *range(6))
    assert bench.stand() == ("Stable", first, first)


def test_a_member_without_topics_still_gets_an_epoch(any_bench: Bench) -> None:
    a = any_bench.member("A")
    a.topics = ()
    a.joins().is_at(1)


def test_a_second_member_without_topics_moves_nobody(any_bench: Bench) -> None:
    bench, first = any_bench, any_bench.first_epoch
    bench.member("A").joins()
    bench.passes(1_000)
    idle = bench.member("B")
    idle.topics = ()
    idle.joins().is_at(first)
    assert bench.stand() == ("Stable", first, first)


def test_within_the_assignment_interval_a_newcomer_gets_nothing_and_a_later_beat_computes(any_bench: Bench) -> None:
    bench, first, waits = any_bench, any_bench.first_epoch, any_bench.line.assignment_interval_ms > 0
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(300)
    b.joins().is_at(first if waits else first + 1)
    assert bench.stand() == (("Assigning", first + 1, first) if waits else ("Reconciling", first + 1, first + 1))
    bench.passes(900)
    a.beats().is_at(first, 0, 1, 2)


def test_the_target_of_nobody_is_that_of_the_epoch_when_the_last_one_left_or_lags(any_bench: Bench) -> None:
    epoch = any_bench.first_epoch + 1
    any_bench.member("A").joins().leaves()
    assert any_bench.stand() == ("Empty", epoch, epoch if any_bench.line.empty_group_is_assigned else epoch - 1)


def test_what_a_member_gives_back_and_shall_have_after_all_it_has_at_once_or_a_heartbeat_later(
    any_bench: Bench,
) -> None:
    bench, first = any_bench, any_bench.first_epoch
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    a.beats().is_at(first, 0, 1, 2)
    b.leaves()
    bench.passes(1_000)
    a.acknowledges().is_at(first + 2, *range(6 if bench.line.own_revocation_is_free else 3))
    a.beats().is_at(first + 2, *range(6))


def test_who_has_let_go_and_must_let_go_of_more_stays_at_its_epoch_or_is_one_further(any_bench: Bench) -> None:
    bench, first = any_bench, any_bench.first_epoch
    a, b, c = bench.members("A", "B", "C")
    a.joins()
    bench.passes(1_000)
    b.joins()
    a.beats().is_at(first, 0, 1, 2)
    bench.passes(1_000)
    c.joins()
    a.acknowledges().is_at(first + bench.line.letting_go_moves_epoch, 0, 1)
    a.acknowledges().is_at(first + 2, 0, 1)


def test_who_must_let_go_and_unsubscribes_loses_that_topic_at_once_or_once_it_has(any_bench: Bench) -> None:
    bench = any_bench
    bar = bench.topics.create("bar", 1)
    a = bench.member("A", None, "foo", "bar").joins()
    bench.passes(1_000)
    bench.member("B").joins()
    a.beats()
    a.subscribes("foo")
    assert (bar in {each.topic_id for each in a.assigned}) is not bench.line.strips_unsubscribed
    a.acknowledges()
    bench.passes(1_000)
    a.acknowledges()
    assert bar not in {each.topic_id for each in a.assigned}


def test_what_a_member_is_asked_to_give_up_is_described_as_its_own_or_not(any_bench: Bench) -> None:
    bench = any_bench
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    a.beats()
    [described] = [each for each in bench.coordinator.describe(GROUP).members if each.member_id == "A"]
    assert len(described.assignment) == (6 if bench.line.describes_pending_revocation else 3)


def test_epoch_0_again_is_answered_with_everything_or_fenced_once_the_epoch_before_is_not_0(any_bench: Bench) -> None:
    bench, first = any_bench, any_bench.first_epoch
    a, _ = two_settled(bench)
    if bench.line.rejoin_at_epoch_0:
        assert a.joins().is_at(first + 1, 0, 1, 2).answer.assignment == bench.topics.at("foo", 0, 1, 2)
    else:
        a.joins().is_refused(Error.FENCED_MEMBER_EPOCH)


def test_a_full_group_takes_an_instance_that_it_knows_or_refuses_even_that(any_bench: Bench) -> None:
    one_steps_out_of_a_full_group(any_bench)
    successor = any_bench.member("A2", "one").joins()
    if any_bench.line.known_instance_fits_full_group:
        successor.is_at(any_bench.first_epoch, *range(6))
    else:
        successor.is_refused(Error.GROUP_MAX_SIZE_REACHED)


def test_a_commit_at_an_older_epoch_holds_for_what_was_held_since_or_not_at_all(any_bench: Bench) -> None:
    bench, first = any_bench, any_bench.first_epoch
    two_settled(bench)
    forgiven = Error.NONE if bench.line.commits_at_older_epochs else Error.STALE_MEMBER_EPOCH
    assert commit(bench, "A", first, 0, 1, 2) is forgiven
    assert commit(bench, "A", first + 1, 0) is Error.NONE


def test_a_successor_that_wants_another_assignor_moves_the_epoch_or_not(any_bench: Bench) -> None:
    bench = any_bench
    a, b = bench.member("A", "one"), bench.member("B", "two")
    a.joins("uniform")
    bench.passes(1_000)
    b.joins()
    bench.settle(a, b)
    a.leaves(-2)
    bench.passes(1_000)
    epoch = bench.first_epoch + 1 + bench.line.vote_bumps_epoch
    bench.member("A2", "one").joins("range").is_at(epoch, 0, 1, 2)
    b.beats().is_at(epoch, 3, 4, 5)


def test_with_a_vote_on_either_side_quiet_heartbeats_move_the_epoch_or_not(any_bench: Bench) -> None:
    """Nobody can want that; so our members never let it come to a tie (translation/assignors.py)."""
    bench = any_bench
    a, b = bench.members("A", "B")
    a.joins("range")
    bench.passes(1_000)
    b.joins("uniform")
    before = bench.stand()[1]
    for _ in range(3):
        for member in (a, b):
            member.beats()
    moves = bench.stand()[1] - before
    assert moves >= 3 if bench.line.vote_bumps_epoch else moves == 0
