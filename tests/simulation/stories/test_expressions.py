"""KIP-848, "Regex Based Subscription": the coordinator is responsible for it. Classic clients expand their own, as ever.

What it means for members of both kinds in one group: a topic that comes moves those who want it, and nobody else.
"""

from __future__ import annotations

import pytest

from simulation.expressions import AT_LEAST_MS
from simulation.story import Story

NEW = {("new", 0), ("new", 1)}


@pytest.mark.parametrize("through", [None, "proxy"], ids=["direct", "through the proxy"])
def test_a_topic_that_comes_is_the_native_member_s_and_its_legacy_neighbour_hears_nothing(through: str | None) -> None:
    story = Story(foo=2)
    alice = story.legacy("alice").joins().syncs()
    nina = story.native("nina", through, topics=(), topic_regex="(foo|new)").joins()
    story.until(lambda: len(nina.who.partitions) == 1, "nina has her share of foo").settles()
    alice.owns(*{0, 1} - {number for _, number in nina.who.partitions})
    joins = alice.who.joins
    story.passes(AT_LEAST_MS).topic_is_created("new", 2)
    story.until(lambda: nina.who.partitions >= NEW, "nina has what is new").settles()
    alice.has_joined_times(joins)


def test_a_legacy_client_expands_its_own_and_shares_what_is_new() -> None:
    story = Story(foo=2)
    alice = story.legacy("alice").joins().syncs()
    nina = story.native("nina", topics=(), topic_regex="(foo|new)").joins()
    story.until(lambda: len(nina.who.partitions) == 1, "nina has her share of foo").settles()
    story.topic_is_created("new", 2)
    alice.subscribes("foo", "new")
    story.until(lambda: bool(alice.who.partitions & NEW and nina.who.partitions & NEW), "each has some of it").settles()


def test_what_an_expression_means_outlives_the_coordinator() -> None:
    story = Story(foo=2)
    nina = story.native("nina", topics=(), topic_regex="fo+").joins().comes_to_own(0, 1)
    alice = story.legacy("alice").joins().syncs()
    story.settles()
    story.coordinator_moves()
    story.settles()
    assert len(nina.who.partitions) == len(alice.who.partitions) == 1


def test_an_expression_goes_with_the_member_that_had_it() -> None:
    """Kafka's scenarios 30 and 31: the legacy successor of its instance subscribes to what it says, and to nothing else."""
    story = Story(foo=2, bar=2)
    nina = story.native("nina", instance_id="i", topics=(), topic_regex="(foo|bar)").joins()
    story.until(lambda: len(nina.who.partitions) == 4, "nina has both topics").settles()
    nina.who.stops()
    story.passes(1_000)
    alice = story.legacy("alice", instance_id="i", topics=("foo",)).joins().syncs()
    story.settles()
    alice.owns(0, 1)
    [member] = story.world.group.members.values()
    assert (member.member_id, member.topic_regex, member.topic_names) == (alice.who.member_id, "", ("foo",))
