"""Proxies come and go: members that began elsewhere, and what is left to the next."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.playbook import (
    LEARNED,
    NOW,
    Is,
    Playbook,
    after,
    beat,
    beats,
    commits,
    granted,
    joins,
    leaves,
    stable,
    subscription,
    synced,
    syncs,
    target,
    tps,
    wait,
)
from tests.translation.test_happy_path import remembered
from tests.translation.test_holding import HOLDING, rhythmic
from translation import errors as e
from translation.actions import (
    AnswerCommit,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerSync,
    DescribeGroup,
    Forget,
    LearnTopics,
    Remember,
    SendCommit,
)
from translation.adopting import may_be_adopted, still_valid
from translation.events import (
    ClientEvent,
    JournalEntry,
    MemberAdopted,
    Protocol,
    ProxyStopping,
    TargetUnknown,
    TopicsLearned,
)
from translation.member import Member

JOURNAL = JournalEntry(
    group_id="g",
    member_id="m",
    instance_id=None,
    generation=7,
    told=tps(0, 1),
    protocol_name="range",
    subscription_version=1,
    session_timeout_ms=10_000,
    rebalance_timeout_ms=60_000,
    offers=("uniform", "range"),
    assignor="uniform",
)


def adopted(epoch: int = 9, journal: JournalEntry | None = JOURNAL, *partitions: int) -> MemberAdopted:
    return MemberAdopted(
        member_id="m",
        member_epoch=epoch,
        assigned=tps(*(partitions or (0, 1))),
        names={"a": "apples"},
        subscribed_topics=("apples",),
        journal=journal,
    )


def test_a_stable_member_comes_through_a_restart_and_its_client_notices_nothing() -> None:
    play = Playbook() >> adopted() << beat(9, owned=[0, 1]) << Is("stable/stable E9 g7")
    play >> granted(9, [0, 1]) << Is("stable/stable E9 g7")
    play >> beats(3, 7) << AnswerHeartbeat(3)
    assert play >> commits(5, 7, [0, 1]) << SendCommit(5, 9)


def test_the_first_beat_after_a_restart_is_not_held_for_its_client_has_long_been_without_an_answer() -> None:
    play = after(Playbook(Member(group_id="g", rules=HOLDING)), adopted(), granted(9, [0, 1]), commits(5, 7, [0, 1]))
    play >> wait(1_000) >> beats(3, 7) << AnswerHeartbeat(3)
    play >> wait(1_000) >> beats(4, 7) >> wait(799)
    assert play >> wait(1) << AnswerHeartbeat(4)


def test_what_changed_while_the_proxy_was_away_asks_for_one_rejoin() -> None:
    play = after(Playbook(), adopted(), granted(10, [0]))
    assert play << Is("prepare-rebalance/reconciling E10 g7")


def test_a_member_without_a_journal_entry_is_asked_to_rejoin_once_and_may_commit_what_it_holds() -> None:
    play = after(Playbook(), adopted(9, None), granted(9, [0, 1]))
    play << Is("prepare-rebalance/stable E9 g-1")
    play >> commits(5, 7, [0]) << SendCommit(5, 9)
    play >> commits(6, 7, [2]) << AnswerCommit(6, e.REBALANCE_IN_PROGRESS)
    play >> beats(3, 7) << AnswerHeartbeat(3, e.REBALANCE_IN_PROGRESS)
    play >> joins(8, owned=[0, 1]) << beat(9, owned=[0, 1])
    after(play, granted(9, [0, 1]), TargetUnknown(), wait(1_300), granted(9))
    assert (
        play >> syncs(9, 10) << AnswerSync(9, assignment=_apples(0, 1), protocol_name="range") << remembered((0, 1), 10)
    )


def _apples(*partitions: int) -> bytes:

    return synced(0, partitions).assignment


@pytest.mark.parametrize(
    ("epoch", "request_", "may_be"),
    [
        (9, beats(3, 7), True),
        (-2, beats(3, 7), False),
        (-2, syncs(3, 7), False),
        (-2, commits(), False),
        (-2, joins(), True),
        (9, joins(), True),
    ],
)
def test_a_static_member_that_had_left_is_not_adopted_by_a_client_that_does_not_know(
    epoch: int, request_: ClientEvent, may_be: bool
) -> None:
    """It holds what it was told. To join says that it holds nothing: then it may be given to others at once."""
    assert may_be_adopted(epoch, request_) is may_be


def test_a_static_member_that_had_left_for_a_while_is_taken_back_when_its_client_joins_with_empty_hands() -> None:
    play = Playbook() >> msgspec.structs.replace(adopted(-2, None), instance_id="i")
    play << Is("prepare-rebalance/joining E0 g-1")
    play >> joins(8, instance_id="i") << beat(0, owned=(), instance_id="i")
    assert play >> granted(9, [0, 1]) << DescribeGroup() << Is("completing-rebalance/stable E9 g-1")


def test_it_is_unknown_if_its_client_still_holds_something() -> None:
    play = Playbook() >> msgspec.structs.replace(adopted(-2, None), instance_id="i")
    play >> joins(8, instance_id="i", owned=[0]) << AnswerJoin(8, e.UNKNOWN_MEMBER_ID, member_id="m") << Forget()
    assert play << Is("absent/absent E0 g-1")


def test_what_an_adopted_client_is_told_bears_a_number_that_nobody_else_has_told_it() -> None:
    """At the same epoch the other proxy may have told it less, and would take it for the one that it knows."""
    for named, told in ((9, 10), (12, 13), (3, 10), (2**31 - 1, 2**30 + 1)):
        play = after(Playbook(), msgspec.structs.replace(adopted(9, None), generation=named), granted(9))
        after(play, joins(8), granted(9, [0, 1]), target(9, [0, 1]))
        assert play.member.generation == told


def test_it_never_falls_and_is_the_epoch_again_when_that_is_higher() -> None:
    play = after(Playbook(), adopted(6), granted(6, [0, 1]), beats(3, 7), joins(8, owned=[0, 1]), granted(6, [0, 1]))
    assert after(play, target(6, [0, 1])).member.generation == 7
    after(play, syncs(9, 7), joins(10, owned=[0, 1]), granted(12, [0, 1]))
    assert after(play, target(12, [0, 1])).member.generation == 12


def test_claims_of_a_client_that_is_adopted_and_rejoins_at_once_go_upstream() -> None:
    for event in (adopted(9, None), msgspec.structs.replace(adopted(9, None), names={})):
        play = after(Playbook(), event, joins(8, owned=[0]))
        play >> LEARNED
        assert play >> granted(9, [0, 1]) << beat(9, owned=[0])


@pytest.mark.parametrize(
    ("request_", "valid"), [(beats(3, 7), True), (beats(3, 8), False), (joins(), False), (leaves(), False)]
)
def test_a_journal_entry_holds_for_a_client_that_is_where_it_was_told_to_be(request_: ClientEvent, valid: bool) -> None:
    assert still_valid(JOURNAL, request_, tps(0, 1)) is (JOURNAL if valid else None)
    assert still_valid(None, request_, tps(0, 1)) is None


def test_nor_does_it_hold_where_its_client_had_yet_to_be_told_something() -> None:
    untold = msgspec.structs.replace(JOURNAL, generation=-1, told=())
    assert still_valid(untold, commits(5, -1), ()) is None


def test_nor_does_it_hold_where_the_member_has_more_than_it_says() -> None:
    """It could not be written, maybe, when the client was told of that at the same generation."""
    assert still_valid(JOURNAL, beats(3, 7), tps(0)) is JOURNAL
    assert still_valid(JOURNAL, beats(3, 7), tps(0, 2)) is None


def test_what_an_adopted_client_holds_beyond_its_described_assignment_goes_upstream_too() -> None:
    """Brokers before 4.3 do not describe what a member is asked to give up: until it joins, nothing is said for it."""
    play = Playbook() >> adopted(9, None) << beat(9)
    play >> joins(8, owned=[0, 1, 7])
    assert play >> granted(9) << beat(9, owned=[0, 1, 7])


def test_an_adopted_client_that_holds_what_nobody_can_name_must_drop_it() -> None:
    play = after(Playbook(), adopted(9, None), granted(9))
    metadata = subscription(["apples"], [0], topic="cherries")
    play >> joins(8, protocols=(Protocol("range", metadata),)) << AnswerJoin(8, e.UNKNOWN_MEMBER_ID, member_id="m")
    assert play << beat(-1)


def test_names_that_come_before_an_adopted_client_joins_do_not_displace_those_it_was_adopted_with() -> None:
    event = msgspec.structs.replace(adopted(9, None), names={"a": "apples", "b": "bananas"})
    play = after(Playbook(), event, TopicsLearned(names={"a": "apples"}), granted(9))
    after(play, joins(8, protocols=(Protocol("range", subscription(["apples"], [3], topic="bananas")),)))
    assert play.member.owned == frozenset(tps(3, topic="b"))


def test_nobody_is_adopted_twice() -> None:
    with pytest.raises(e.ImpossibleStory):
        Playbook(stable(), NOW) >> adopted()


def test_a_proxy_that_stops_leaves_nobody_waiting_and_its_members_where_they_are() -> None:
    play = rhythmic() >> beats(5)
    play >> ProxyStopping() << AnswerHeartbeat(5) << remembered(session_ms=100_000)
    assert play << Is("stable/stable E2 g2")
    parked = Playbook(stable(), NOW) >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1])
    parked >> ProxyStopping() << AnswerJoin(6, e.NOT_COORDINATOR, member_id="m") << remembered()
    assert parked << Is("prepare-rebalance/acknowledging E2 g2")
    assert Playbook() >> ProxyStopping() << Is("absent/absent E0 g-1")


def test_whose_client_has_yet_to_hear_its_id_leaves_when_its_proxy_stops() -> None:
    """It could not come back under it, and what is meant for it would lie idle."""
    play = Playbook() >> joins(member_id="", version=3, fresh_id="m") << beat(0, owned=())
    play >> granted(1, [0]) << LearnTopics(("a",)) << DescribeGroup()
    play >> ProxyStopping() << AnswerJoin(1, e.NOT_COORDINATOR, member_id="m") << beat(-1)
    assert play << Is("absent/leaving E1 g-1")


@pytest.mark.parametrize(("member_id", "instance_id"), [("m", None), ("", "i")])
def test_who_waits_to_join_and_can_come_back_stays_when_its_proxy_stops(
    member_id: str, instance_id: str | None
) -> None:
    play = Playbook() >> joins(member_id=member_id, fresh_id="m", instance_id=instance_id)
    play << beat(0, owned=(), instance_id=instance_id)
    play >> ProxyStopping() << AnswerJoin(1, e.NOT_COORDINATOR, member_id="m")
    play << Remember(play.member.journal_entry)
    assert play << Is("completing-rebalance/joining E0 g-1")


def test_a_proxy_that_leaves_takes_its_members_along_and_static_ones_keep_their_place() -> None:
    assert Playbook(stable(), NOW) >> ProxyStopping(leaving=True) << beat(-1)
    play = Playbook(stable(instance_id="i", member_id=""), NOW) >> ProxyStopping(leaving=True)
    assert play << beat(-2, member_id="c-1", instance_id="i")
    play = after(rhythmic(HOLDING), beats(5)) >> ProxyStopping(leaving=True)
    assert play << AnswerHeartbeat(5, e.UNKNOWN_MEMBER_ID) << beat(-1)
