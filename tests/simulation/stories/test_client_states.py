"""The states of KIP-848's own client (the design notes of the new consumer): what a member is towards the coordinator.

A legacy client behind the proxy is such a member without knowing it, so each state of the notes is one of its
standings: joining, stable, reconciling, acknowledging, leaving, fenced, fatal.
"""

from __future__ import annotations

import msgspec
import pytest

from simulation.errors import Error
from simulation.legacy import LegacyStyle
from simulation.story import Story
from simulation.world import GROUP
from tests.simulation.stories.by_hand import ByHand
from tests.simulation.stories.watching import Watch
from translation.errors import IllegalMove
from translation.rules import Pacing
from translation.states import Standing

JOINING, STABLE, LEAVING, FENCED = Standing.JOINING, Standing.STABLE, Standing.LEAVING, Standing.FENCED
RECONCILING, ACKNOWLEDGING = Standing.RECONCILING, Standing.ACKNOWLEDGING


def forget(story: Story, member_id: str) -> None:
    """What the coordinator does to a member it has not heard of for long, or an operator to one he wants to be rid of."""
    group = story.world.group
    group.remove([group.members[member_id]])


def test_joining_a_heartbeat_at_epoch_0_then_stable() -> None:
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice").joins().syncs()
    assert watch.standings(alice.who.member_id) == [JOINING, STABLE]


def test_joined_does_not_imply_partitions() -> None:
    story = Story(foo=1)
    story.legacy("busy").joins()
    story.settles()
    # Of her and busy, the coordinator gives the odd partition to busy.
    idle = story.legacy("zoe").joins().syncs().owns().is_a_member()
    story.passes(20_000)
    idle.is_a_member().was_refused()


def test_stable_nothing_to_do_besides_heartbeating() -> None:
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice").joins().syncs()
    story.passes(Pacing().motion_ms + 1_000)
    watch.forgets()
    asked = story.world.upstream.requests
    story.passes(60_000)
    assert watch.transitions == []
    # One each 5 s as the coordinator wishes, and her own commits; her twenty Heartbeats are nobody's business upstream.
    heartbeats, commits = 60_000 // 5_000, 60_000 // LegacyStyle().commit_ms
    assert story.world.upstream.requests - asked <= heartbeats + commits + 2
    alice.is_a_member()


def test_a_changed_assignment_is_reconciled_acknowledged_and_stable_again() -> None:
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice").joins().syncs()
    watch.forgets()
    story.native("nina").joins()
    story.settles()
    # "Partitions are revoked first and then assigned second": losses make it reconciling, its JoinGroup acknowledges.
    assert watch.standings(alice.who.member_id) == [RECONCILING, ACKNOWLEDGING, STABLE]


def test_what_is_only_gained_is_reconciled_too() -> None:
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice").joins().syncs()
    nina = story.native("nina").joins()
    story.settles()
    watch.forgets()
    nina.leaves()
    story.settles()
    assert watch.standings(alice.who.member_id) == [RECONCILING, ACKNOWLEDGING, STABLE]
    assert alice.who.refusals == []


def test_it_heartbeats_between_revocation_and_assignment() -> None:
    """A question of the notes ("YES, I think so"): a callback of 40 s is outlived, though the session is of 10."""
    story = Story(foo=4)
    alice = story.legacy("alice", session_timeout_ms=50_000, revoke_ms=40_000).joins().syncs()
    story.native("nina").joins()
    alice.hears_of_a_rebalance()
    heard_at = {story.world.group.members[alice.who.member_id].session_deadline}
    for _ in range(7):
        story.passes(5_000)
        heard_at.add(story.world.group.members[alice.who.member_id].session_deadline)
    assert len(heard_at) >= 6
    story.settles()
    alice.was_refused().is_a_member()


def test_unsubscribing_revokes_commits_and_sends_the_last_heartbeat() -> None:
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice").joins().syncs()
    story.passes(3_000)
    member_id = alice.who.member_id
    watch.forgets()
    alice.leaves().is_no_member()
    assert watch.standings(member_id) == [LEAVING, Standing.ABSENT]
    assert len(story.world.coordinator.committed(GROUP)) == 4


def test_unsubscribing_while_reconciling_cancels_the_reconciliation() -> None:
    """The notes: "this can happen anytime"."""
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice", revoke_ms=5_000).joins().syncs()
    nina = story.native("nina").joins()
    alice.hears_of_a_rebalance()
    watch.forgets()
    alice.leaves()
    assert watch.standings(alice.who.member_id)[:2] == [LEAVING, Standing.ABSENT]
    nina.comes_to_own(0, 1, 2, 3)


def test_fenced_everything_is_lost_without_a_revocation_and_the_client_joins_anew() -> None:
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice").joins().syncs()
    old, callbacks = alice.who.member_id, story.world.ledger.revocations
    watch.forgets()
    forget(story, old)
    alice.hears_of_a_rebalance()
    assert watch.standings(old)[0] is FENCED
    alice.was_refused(("Heartbeat", Error.UNKNOWN_MEMBER_ID)).owns()
    assert story.world.ledger.revocations == callbacks
    story.settles()
    alice.owns(0, 1, 2, 3)
    assert alice.who.member_id != old


def test_fenced_while_it_waits_for_its_join_an_eager_client_need_not_know() -> None:
    """It holds nothing, so nothing is lost: "joins anew" happens behind its back, under the same id, at epoch 0."""
    story = Story(foo=4)
    watch = Watch(story)
    slow = story.native("slow", revoke_ms=2_000).joins()
    story.settles()
    newcomer = ByHand(story, "newcomer")
    newcomer.joins()
    answers = newcomer.asks_to_join()
    story.until(lambda: newcomer.stands, "it is a member")
    forget(story, newcomer.member_id)
    assert newcomer.hears(answers).error_code == Error.NONE
    assert watch.standings(newcomer.member_id).count(JOINING) == 2
    newcomer.generation = answers[0].generation
    newcomer.syncs()
    assert newcomer.stands
    slow.is_a_member()


def test_fatal_is_the_end_of_it() -> None:
    """It "is not recoverable": the instance is somebody else's now."""
    story = Story(foo=4)
    watch = Watch(story)
    old = story.legacy("old", instance_id="i").joins().syncs()
    watch.forgets()
    new = story.legacy("new", instance_id="i").joins().syncs().owns(0, 1, 2, 3)
    story.until(lambda: not old.who.alive, "the old one has heard it")
    assert old.who.fatal is Error.FENCED_INSTANCE_ID
    assert watch.standings(old.who.member_id)[0] is Standing.FATAL
    # Whoever speaks in its name hears it again; nobody else is disturbed.
    story.settles()
    new.owns(0, 1, 2, 3).was_refused()


def test_a_pair_of_states_that_the_tables_do_not_know_is_a_mistake_of_ours_and_is_noticed_at_once() -> None:
    story = Story(foo=4)
    alice = story.legacy("alice").joins().syncs()
    members, key = story.world.proxies["proxy"].members, (GROUP, alice.who.member_id)
    members[key] = msgspec.structs.replace(members[key], standing=Standing.FATAL)
    with pytest.raises(IllegalMove):
        story.passes(10_000)
