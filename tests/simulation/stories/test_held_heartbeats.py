"""A legacy client hears of a rebalance in the answer to a Heartbeat and nowhere else, so the answer is held for a while:
then news travels at once. Nobody may suffer from it: not what is queued behind it, not the session.
"""

from __future__ import annotations

from simulation.errors import Error
from simulation.story import Story
from tests.simulation.stories.by_hand import ByHand
from translation.rules import Rules


def with_a_rhythm(story: Story) -> ByHand:
    """Its Heartbeats are held by now: four came, 3 s apart."""
    member = ByHand(story, "member").enters()
    story.passes(Rules().motion_ms)
    beats_evenly(story, member)
    return member


def beats_evenly(story: Story, member: ByHand) -> None:
    """By its own clock: however late an answer is, the next Heartbeat goes out 3 s after the last."""
    for _ in range(4):
        began = story.world.now
        assert member.beats() is Error.NONE
        story.passes(began + 3_000 - story.world.now)


def test_a_heartbeat_is_held_and_answered_as_soon_as_something_happens() -> None:
    story = Story(foo=4)
    member = with_a_rhythm(story)
    beat = member.asks_to_beat()
    story.passes(100)
    assert beat == []
    story.native("nina", through="proxy").joins()
    began = story.world.now
    assert member.hears(beat).error_code == Error.REBALANCE_IN_PROGRESS
    assert story.world.now - began < 2_000
    member.joins()
    member.syncs()
    member.goes_along()


def test_a_heartbeat_is_never_held_longer_than_a_part_of_the_clients_rhythm() -> None:
    story = Story(foo=4)
    member = with_a_rhythm(story)
    began = story.world.now
    assert member.beats() is Error.NONE
    assert 1_000 < story.world.now - began < 3_000


def test_whatever_comes_behind_a_held_heartbeat_on_its_socket_does_not_wait() -> None:
    """Answers leave in the order of the requests: sarama has all its requests on one socket."""
    story = Story(foo=4)
    member = with_a_rhythm(story)
    beat = member.asks_to_beat()
    story.passes(10)
    began = story.world.now
    assert member.commits(0, 1, 2, 3) is Error.NONE
    assert story.world.now - began < 100
    assert beat[0].error_code == Error.NONE


def test_a_client_that_begins_with_a_heartbeat_has_its_offsets_at_once() -> None:
    """sarama has one request in flight to a broker: it asks for them when that is answered."""
    story = Story(foo=4)
    member = ByHand(story, "member").enters()
    began = story.world.now
    assert member.beats() is Error.NONE
    assert story.world.now - began < 100


def test_a_commit_on_another_socket_leaves_the_held_heartbeat_alone() -> None:
    story = Story(foo=4)
    member = with_a_rhythm(story)
    beat = member.asks_to_beat()
    story.passes(10)
    member.takes_a_new_socket()
    assert member.commits(0) is Error.NONE
    assert beat == []
    assert member.hears(beat).error_code == Error.NONE


def test_the_time_for_which_we_held_a_heartbeat_is_not_taken_from_the_clients_session() -> None:
    story = Story(foo=4)
    member = ByHand(story, "member", session_timeout_ms=10_000).enters()
    beats_evenly(story, member)
    began = story.world.now
    assert member.beats() is Error.NONE
    assert story.world.now - began > 500
    # To the client, its session has begun with this answer.
    story.passes(9_900)
    assert member.beats() is Error.NONE
