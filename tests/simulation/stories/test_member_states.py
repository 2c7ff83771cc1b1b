"""KIP-848, "Supporting Online Consumer Group Upgrade": member states, the three requests, the rebalance triggers.

Sentence by sentence, with a client by hand. Where this proxy keeps to another rule than the text, the test says which
and why: the text translates inside the broker, where a member's state is at hand, and was written before anybody had
measured what a rebalance costs.
"""

from __future__ import annotations

import pytest

from simulation.embedded import partitions_of
from simulation.errors import Error
from simulation.story import Story
from tests.simulation.stories.by_hand import REBALANCE_TIMEOUT_MS, SESSION_TIMEOUT_MS, ByHand
from tests.simulation.stories.watching import Watch
from translation.states import Phase, Standing


@pytest.fixture
def story() -> Story:
    return Story(foo=4)


@pytest.fixture
def member(story: Story) -> ByHand:
    """Alone in the group, with all partitions, at epoch 2."""
    return ByHand(story, "member").enters().owns(0, 1, 2, 3)


def beats_until_told(member: ByHand) -> None:
    member.story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "a rebalance is in progress")


def phase(story: Story, member: ByHand) -> Phase:
    return Watch(story).member(member.member_id).phase


# --- member states -------------------------------------------------------------------------------------------------


def test_a_member_goes_from_prepare_rebalance_through_completing_rebalance_to_stable(
    story: Story, member: ByHand
) -> None:
    story.native("other").joins()
    beats_until_told(member)
    assert phase(story, member) is Phase.PREPARE_REBALANCE
    member.joins()
    assert phase(story, member) is Phase.COMPLETING_REBALANCE
    member.syncs()
    assert phase(story, member) is Phase.STABLE


def test_it_must_rejoin_within_the_rebalance_timeout_or_it_is_kicked_out(story: Story, member: ByHand) -> None:
    other = story.native("other").joins()
    beats_until_told(member)
    member.is_over()
    # Long before its session would end.
    assert REBALANCE_TIMEOUT_MS < SESSION_TIMEOUT_MS
    other.comes_to_own(0, 1, 2, 3, within_ms=REBALANCE_TIMEOUT_MS + 10_000)


def test_a_member_that_was_kicked_out_hears_so_when_it_comes_back(story: Story, member: ByHand) -> None:
    story.native("other").joins()
    beats_until_told(member)
    story.until(lambda: not member.stands, "it is kicked out")
    # A silent client's member beats rarely: this word makes the proxy ask, and the next one hears what it was told.
    member.beats()
    story.passes(100)
    assert member.beats() is Error.UNKNOWN_MEMBER_ID
    member.is_over()


def test_it_must_sync_within_the_rebalance_timeout_or_it_is_kicked_out(story: Story) -> None:
    member = ByHand(story, "member")
    member.joins()
    member.joins()
    assert phase(story, member) is Phase.COMPLETING_REBALANCE
    story.passes(REBALANCE_TIMEOUT_MS - 1_000)
    assert member.stands
    story.passes(2_000)
    assert not member.stands
    assert member.syncs().error_code == Error.UNKNOWN_MEMBER_ID
    member.is_over()


# --- JoinGroup handling --------------------------------------------------------------------------------------------


def test_the_group_need_not_exist(story: Story) -> None:
    """The text adds a member to a group that a native one has converted; here the first member makes the group."""
    assert ByHand(story, "first").enters().generation == 2


def test_the_member_must_exist_or_be_created(story: Story) -> None:
    newcomer = ByHand(story, "newcomer")
    assert newcomer.joins().error_code == Error.MEMBER_ID_REQUIRED
    assert newcomer.joins().error_code == Error.NONE
    stranger = ByHand(story, "stranger")
    stranger.member_id, stranger.partitions = "not-one-of-ours", frozenset({("foo", 0)})
    assert stranger.joins(owned=(0,)).error_code == Error.UNKNOWN_MEMBER_ID
    stranger.is_over()


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_the_embedded_protocol_may_be_of_any_version(story: Story, version: int) -> None:
    """The text wants 3, and with it a generation; half of all libraries write 0 or 1."""
    ByHand(story, "old", embedded_version=version).enters().owns(0, 1, 2, 3)


def test_the_generation_of_a_subscription_need_not_be_the_member_epoch(story: Story, member: ByHand) -> None:
    """The epoch moves without the client's knowing (silence), so what it writes there may be behind."""
    story.native("without-topics", topics=("bar",)).joins()
    story.settles()
    assert member.joins(owned=(0, 1, 2, 3)).error_code == Error.NONE
    member.syncs()
    member.owns(0, 1, 2, 3)


def test_a_changed_subscription_increments_the_group_epoch() -> None:
    story = Story(foo=4, bar=1)
    member = ByHand(story, "member").enters()
    epoch = story.world.group.epoch
    member.joins(owned=(0, 1, 2, 3), topics=("foo", "bar"))
    member.syncs()
    assert story.world.group.epoch == epoch + 1
    assert member.partitions == {("foo", 0), ("foo", 1), ("foo", 2), ("foo", 3), ("bar", 0)}
    story.settles()


def test_the_first_protocol_becomes_the_assignor() -> None:
    """Where there are two topics to keep together; on one topic `range` and `uniform` promise the same."""
    story, topics = Story(foo=4, bar=4), ("foo", "bar")
    member = ByHand(story, "member", assignors=("range", "roundrobin"), topics=topics).enters()
    assert story.world.group.preferred_assignor() == "range"
    again = member.joins(owned=(0, 1, 2, 3), assignors=("roundrobin", "range"), topics=topics)
    assert again.protocol_name == "roundrobin"
    member.syncs()
    story.settles()
    assert story.world.group.preferred_assignor() == "uniform"


def test_members_of_different_assignors_agree_on_one_and_the_group_comes_to_rest() -> None:
    """Else a 4.4 coordinator would move the epoch with every other heartbeat, and the partitions with it, for ever."""
    story, topics = Story(foo=4, bar=4), ("foo", "bar")
    a = story.legacy("A", assignor="range", topics=topics).joins().syncs()
    b = story.legacy("B", assignor="roundrobin", topics=topics).joins().syncs()
    story.settles()
    epoch = story.world.group.epoch
    story.passes(30_000)
    assert story.world.group.epoch == epoch
    a.owns(0, 1)
    b.owns(2, 3)


def test_a_member_that_has_revoked_everything_goes_to_its_next_epoch(story: Story, member: ByHand) -> None:
    other = story.native("other").joins()
    beats_until_told(member)
    assert member.joins().generation == 3
    member.syncs()
    assert len(member.partitions) == 2
    other.reaches_epoch(3)
    story.settles()


def test_a_member_that_has_revoked_what_it_must_goes_to_its_next_epoch_too(story: Story, member: ByHand) -> None:
    story.native("other").joins()
    beats_until_told(member)
    wanted = sorted(each.partition for each in Watch(story).member(member.member_id).assigned)
    assert member.joins(owned=wanted).generation == 3
    member.syncs()
    member.owns(*wanted)
    story.settles()


def test_a_member_that_has_yet_to_revoke_is_answered_with_its_current_epoch(story: Story, member: ByHand) -> None:
    """And at once: nobody can have what it still owns, so there is nothing to wait for."""
    story.native("other").joins()
    beats_until_told(member)
    asked_at = story.world.now
    assert member.joins(owned=(0, 1, 2, 3)).generation == 2
    assert story.world.now - asked_at < 500
    member.syncs()
    member.joins()
    member.syncs()
    story.settles()


# --- SyncGroup handling --------------------------------------------------------------------------------------------


def test_the_generation_of_a_sync_must_be_the_one_that_was_told(story: Story, member: ByHand) -> None:
    """Not the member epoch: the client was never told that one."""
    member.joins()
    assert member.syncs(generation=member.generation + 1).error_code == Error.ILLEGAL_GENERATION
    assert member.syncs().error_code == Error.NONE


def test_a_member_of_an_older_epoch_is_answered_with_what_it_may_keep(story: Story, member: ByHand) -> None:
    """Told is "the intersection between the current assignment and target assignment"; it rejoins if it revokes."""
    story.native("other").joins()
    beats_until_told(member)
    member.joins(owned=(0, 1, 2, 3))
    told = partitions_of(member.syncs().assignment)
    target = {("foo", each.partition) for each in story.world.group.target[member.member_id]}
    assert told == target == told & member.partitions
    assert len(told) == 2
    assert phase(story, member) is Phase.PREPARE_REBALANCE
    # It lets go, joins again, and is at the epoch of the others.
    assert member.joins(owned=[number for _, number in told]).generation == 3
    member.syncs()
    story.settles()


def test_a_member_of_the_target_epoch_is_answered_with_what_others_have_revoked(story: Story) -> None:
    """What is "not revoked by other members yet" it gets later, by another rebalance."""
    story.native("slow", revoke_ms=20_000).joins()
    story.settles()
    member = ByHand(story, "member").enters().owns()
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "the slow one has let go", 40_000)
    member.joins()
    member.syncs()
    assert len(member.partitions) == 2
    story.settles()


def test_after_a_sync_the_member_is_stable(story: Story, member: ByHand) -> None:
    assert phase(story, member) is Phase.STABLE
    assert Watch(story).member(member.member_id).standing is Standing.STABLE


# --- Heartbeat handling --------------------------------------------------------------------------------------------


def test_a_heartbeat_needs_the_generation_that_was_told(member: ByHand) -> None:
    assert member.beats(generation=member.generation + 1) is Error.ILLEGAL_GENERATION
    assert member.beats(generation=member.generation - 1) is Error.ILLEGAL_GENERATION
    assert member.beats() is Error.NONE


def test_a_heartbeat_of_a_stranger_is_unknown(story: Story, member: ByHand) -> None:
    stranger = ByHand(story, "stranger")
    stranger.member_id = "not-one-of-ours"
    assert stranger.beats(generation=2) is Error.UNKNOWN_MEMBER_ID
    stranger.is_over()


def test_a_heartbeat_keeps_the_session(story: Story) -> None:
    member = ByHand(story, "member", session_timeout_ms=10_000).enters()
    for _ in range(6):
        story.passes(8_000)
        assert member.beats() is Error.NONE
    story.passes(12_000)
    assert not member.stands
    member.is_over()


def test_rebalance_in_progress_is_said_in_prepare_rebalance_and_none_otherwise(story: Story, member: ByHand) -> None:
    assert member.beats() is Error.NONE
    story.native("other").joins()
    beats_until_told(member)
    # Again and again, until it joins.
    assert member.beats() is Error.REBALANCE_IN_PROGRESS
    member.joins()
    assert member.beats() is Error.NONE
    member.syncs()
    assert member.beats() is Error.NONE
    story.settles()


# --- rebalance triggers --------------------------------------------------------------------------------------------


def test_a_new_assignment_rebalances_only_those_whose_partitions_move(story: Story, member: ByHand) -> None:
    """The text: "all non-upgraded members must be rebalanced". What for? Nothing changes for this one."""
    story.native("without-topics", topics=("bar",)).joins()
    for _ in range(6):
        story.passes(3_000)
        assert member.beats() is Error.NONE
    story.settles()
    assert story.world.group.epoch == 3 == Watch(story).member(member.member_id).epoch
    assert member.generation == 2


def test_a_member_is_rebalanced_when_its_newly_assigned_partitions_have_been_revoked_by_others(story: Story) -> None:
    slow = story.native("slow", revoke_ms=12_000).joins()
    story.settles()
    member = ByHand(story, "member").enters().owns()
    asked: list[int] = []

    def is_told() -> bool:
        asked.append(len(slow.who.partitions))
        return member.beats() is Error.REBALANCE_IN_PROGRESS

    story.until(is_told, "it is rebalanced", 40_000)
    # Not before: while the slow one held all four there was nothing to rebalance for.
    assert asked[-1] == 2
    member.joins()
    member.syncs()
    story.settles()
