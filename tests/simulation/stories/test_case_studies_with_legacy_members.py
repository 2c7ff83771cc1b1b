"""KIP-848's case studies again, with the same epochs, when all who take part are legacy clients behind the proxy.

Between the lines of the text a legacy client pays: it can only be told a whole assignment, and each telling is a
rebalance to it. So these stories also count what the text does not speak of: who was disturbed, and how often.
"""

from __future__ import annotations

from typing import Any

from simulation.brokers import V4_0
from simulation.story import Legacy, Story
from tests.simulation.stories.watching import Watch
from translation.states import Phase

COOPERATIVE: dict[str, Any] = {"cooperative": True, "assignor": "cooperative-sticky"}
# By then the proxy knows how often its clients beat, and holds their Heartbeats: what they must hear they hear at once.
A_RHYTHM_MS = 9_000
ONE_ROUND = [Phase.PREPARE_REBALANCE, Phase.COMPLETING_REBALANCE, Phase.STABLE]


def a_group_at(epoch: int, *names: str, foo: int = 6, **style: Any) -> tuple[Story, Watch, list[Legacy]]:
    """Settled at this epoch; before 4.3 an epoch begins at 0, as in the text."""
    story = Story(V4_0, foo=foo)
    watch = Watch(story)
    members = [story.legacy(name, **style).joins() for name in names[:-1]]
    story.settles()
    story.begins_at_epoch(epoch - 1)
    members.append(story.legacy(names[-1], **style).joins())
    story.settles()
    story.group_is("Stable", epoch)
    story.passes(A_RHYTHM_MS)
    watch.forgets()
    return story, watch, members


def test_basic() -> None:
    story = Story(V4_0, foo=3)
    watch = Watch(story)
    # Member A joins an empty group: epoch 1, all the partitions.
    a = story.legacy("A").joins().syncs().is_told_generation(1).is_at_epoch(1).owns(0, 1, 2)
    story.passes(A_RHYTHM_MS)
    # Member B joins: epoch 2. It is parked until A has let go of its part, and then gets it in one go.
    b = story.legacy("B").joins().syncs().is_told_generation(2)
    b.has_joined_times(2)
    story.settles()
    story.group_is("Stable", 2)
    a.is_told_generation(2)
    richer, poorer = sorted((a, b), key=lambda member: -len(member.who.partitions))
    assert (len(richer.who.partitions), len(poorer.who.partitions)) == (2, 1)
    story.passes(A_RHYTHM_MS)
    watch.forgets()
    # Member C joins: epoch 3. What it gets the richer one had. The other has nothing to revoke, and hears nothing.
    before = richer.who.partitions
    c = story.legacy("C").joins().syncs().is_told_generation(3)
    story.settles()
    story.group_is("Stable", 3)
    assert richer.who.partitions | c.who.partitions == before
    assert watch.phases(richer.who.member_id) == ONE_ROUND
    assert watch.phases(poorer.who.member_id) == []
    # "All the members have eventually advanced to the group epoch (3)": that one too, without having been told.
    poorer.is_at_epoch(3).is_told_generation(2)


def test_incremental_revocation_and_assignment_of_cooperative_members() -> None:
    story, watch, [a, b] = a_group_at(21, "A", "B", **COOPERATIVE)
    before = story.shares()
    c = story.legacy("C", **COOPERATIVE).joins().syncs().is_told_generation(22)
    # Both of what it shall have: its JoinGroup waited for the revocations, and no second round was needed.
    assert len(c.who.partitions) == 2
    c.has_joined_times(2)
    story.settles()
    story.group_is("Stable", 22)
    for member in (a, b):
        member.is_told_generation(22)
        assert member.who.partitions < before[member.who.name]
        # Two rounds: SyncGroup takes away, and the second JoinGroup says that it is done.
        assert watch.phases(member.who.member_id).count(Phase.STABLE) == 1


def test_member_failure() -> None:
    story, watch, [a, b, c] = a_group_at(22, "A", "B", "C")
    before = story.shares()
    # "A fails to heartbeat. The group coordinator removes it after the session timeout": its own, of 10 s, not of 45.
    a.vanishes()
    story.until(lambda: len(story.world.group.members) == 2, "A is removed", within_ms=14_000)
    a.is_no_member()
    story.settles()
    story.group_is("Stable", 23)
    now = story.shares()
    for member in (b, c):
        member.is_told_generation(23).is_at_epoch(23)
        assert now[member.who.name] > before[member.who.name]
        assert watch.phases(member.who.member_id) == ONE_ROUND


def test_partition_added() -> None:
    story, watch, [a, b] = a_group_at(22, "A", "B", foo=1)
    idle, busy = sorted((a, b), key=lambda member: len(member.who.partitions))
    # "A new partition foo-1 is created." No legacy client watches for that without a leader: the proxy does.
    story.topic_grows("foo", 2)
    story.until(lambda: story.world.group.epoch == 23, "the coordinator has noticed")
    story.settles()
    story.group_is("Stable", 23)
    idle.owns(1).is_told_generation(23)
    busy.owns(0).is_told_generation(22).is_at_epoch(23)
    assert watch.phases(busy.who.member_id) == []


def test_a_second_partition_is_added_to_one_who_has_one() -> None:
    story, watch, [a, b] = a_group_at(22, "A", "B", foo=2)
    story.topic_grows("foo", 3)
    story.until(lambda: story.world.group.epoch == 23, "the coordinator has noticed")
    story.settles()
    story.group_is("Stable", 23)
    rounds = sorted(len(watch.phases(member.who.member_id)) for member in (a, b))
    # One is told and pays for it, the other is not and does not.
    assert rounds == [0, len(ONE_ROUND)]
