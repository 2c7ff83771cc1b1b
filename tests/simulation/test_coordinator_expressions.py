"""Subscriptions by a regular expression: when the coordinator looks which topics it means, and whom that moves."""

from __future__ import annotations

from simulation.errors import Error
from simulation.expressions import AT_LEAST_MS
from tests.simulation.conftest import Bench
from tests.simulation.native import GROUP, Native

HEARTBEAT_MS = 5_000


def topics_of(bench: Bench, member: Native) -> set[str]:
    return {bench.topics.names[each.topic_id] for each in member.assigned}


def beats_until(bench: Bench, member: Native, topics: set[str]) -> int:
    """How long it beats until it has all of these, and acknowledges."""
    for beats in range(25):
        if topics_of(bench, member) == topics:
            return beats * HEARTBEAT_MS
        bench.passes(HEARTBEAT_MS)
        member.beats().acknowledges()
    raise AssertionError(f"it has {topics_of(bench, member)}")


def test_who_brings_an_expression_hears_with_its_next_heartbeat_what_it_means(any_bench: Bench) -> None:
    bench = any_bench
    bench.topics.create("bar", 2)
    a = bench.member("A").joins_by("fo+")
    assert a.assigned == frozenset()
    bench.passes(1_000)
    a.beats()
    assert a.assigned == frozenset(bench.topics.of(["foo"]))
    [described] = bench.coordinator.describe(GROUP).members
    assert described.topic_names == ()
    assert described.topic_regex


def test_an_expression_is_of_whole_names(any_bench: Bench) -> None:
    bench = any_bench
    bench.topics.create("foo2", 2)
    a = bench.member("A").joins_by("foo")
    assert beats_until(bench, a, {"foo"}) == HEARTBEAT_MS


def test_what_cannot_be_compiled_is_refused(any_bench: Bench) -> None:
    any_bench.member("A").joins_by("fo(").is_refused(Error.INVALID_REGULAR_EXPRESSION)
    assert any_bench.stand()[0] == "Dead"


def test_a_second_member_with_the_expression_joins_as_with_names(any_bench: Bench) -> None:
    bench = any_bench
    a, b = bench.members("A", "B")
    a.joins_by("fo+")
    beats_until(bench, a, {"foo"})
    before = bench.stand()[1]
    b.joins_by("fo+")
    assert bench.stand()[1] == before + 1
    bench.settle(a, b)
    assert len(a.assigned) == len(b.assigned) == 3


def test_topics_may_be_named_beside_it(any_bench: Bench) -> None:
    bench = any_bench
    bench.topics.create("bar", 2)
    a = bench.member("A").joins_by("ba.", "foo")
    beats_until(bench, a, {"foo", "bar"})


def test_another_expression_waits_until_the_last_look_is_long_enough_ago(any_bench: Bench) -> None:
    bench = any_bench
    bench.topics.create("bar", 2)
    a, b = bench.members("A", "B")
    a.joins_by("fo+")
    b.joins_by("ba.")
    assert beats_until(bench, b, {"bar"}) >= AT_LEAST_MS
    assert topics_of(bench, a) <= {"foo"}


def test_who_subscribes_by_another_expression_keeps_nothing_of_the_last(any_bench: Bench) -> None:
    bench = any_bench
    bench.topics.create("bar", 2)
    a = bench.member("A").joins_by("fo+")
    beats_until(bench, a, {"foo"})
    a.subscribes_by("ba.").acknowledges()
    beats_until(bench, a, {"bar"})


def test_who_names_topics_instead_has_no_expression_any_more(any_bench: Bench) -> None:
    bench = any_bench
    bench.topics.create("bar", 2)
    a = bench.member("A").joins_by("(foo|bar)")
    beats_until(bench, a, {"foo", "bar"})
    a.subscribes_by("", "bar").acknowledges()
    beats_until(bench, a, {"bar"})
    [described] = bench.coordinator.describe(GROUP).members
    assert (described.topic_names != (), described.topic_regex) == (True, "")


def test_a_new_topic_is_seen_but_not_at_once(any_bench: Bench) -> None:
    bench = any_bench
    a = bench.member("A").joins_by("(foo|bar)")
    beats_until(bench, a, {"foo"})
    bench.topics.create("bar", 2)
    before = bench.stand()[1]
    a.beats()
    assert bench.stand()[1] == before
    assert beats_until(bench, a, {"foo", "bar"}) >= AT_LEAST_MS - HEARTBEAT_MS
    assert bench.stand()[1] == before + 1


def test_a_topic_that_it_does_not_mean_moves_nobody(bench: Bench) -> None:
    a = bench.member("A").joins_by("fo+")
    beats_until(bench, a, {"foo"})
    before = bench.stand()
    bench.topics.create("bar", 2)
    for _ in range(4):
        bench.passes(HEARTBEAT_MS)
        a.beats()
    assert bench.stand() == before
