"""Static members: an instance is one process at a time."""

from __future__ import annotations

from tests.translation.playbook import (
    LOST,
    NOW,
    RULES,
    Is,
    Playbook,
    after,
    beat,
    beats,
    commits,
    granted,
    joining,
    joins,
    leaves,
    refused,
    stable,
    syncs,
    wait,
)
from translation import Member
from translation import errors as e
from translation.actions import (
    AnswerCommit,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerSync,
    FindRegisteredMember,
    Forget,
)
from translation.events import (
    InstanceTaken,
    Protocol,
    RegisteredMemberFound,
)
from translation.joining import is_proper


def test_a_static_newcomer_takes_over_from_the_registered_member_without_an_epoch() -> None:
    play = Playbook()
    play >> joins(member_id="", instance_id="i", predecessor="old")
    play << beat(-2, member_id="old", instance_id="i")
    play >> granted(-2) << beat(0, owned=(), member_id="c-1", instance_id="i")
    assert play


def test_an_unreleased_instance_is_released_by_the_id_it_is_registered_under_and_no_client_hears_of_it() -> None:
    play = Playbook(joining(member_id="", instance_id="i"))
    play >> refused(e.UNRELEASED_INSTANCE_ID) << FindRegisteredMember("i")
    play >> RegisteredMemberFound(member_id="old") << beat(-2, member_id="old", instance_id="i")
    play >> granted(-2) << beat(0, owned=(), member_id="c-1", instance_id="i")
    assert play


def test_an_unreleased_instance_that_nobody_has_any_more_is_asked_for_again() -> None:
    play = Playbook(joining(member_id="", instance_id="i"))
    play >> refused(e.UNRELEASED_INSTANCE_ID) << FindRegisteredMember("i")
    assert play >> RegisteredMemberFound(member_id=None) << beat(0, owned=(), member_id="c-1", instance_id="i")


def test_a_registration_that_cannot_be_found_ends_in_a_code_every_client_survives() -> None:
    play = Playbook(joining(member_id="", instance_id="i"))
    play >> refused(e.UNRELEASED_INSTANCE_ID) << FindRegisteredMember("i")
    for _ in range(23):
        play >> wait(500) << beat(0, owned=(), member_id="c-1", instance_id="i")
        play >> refused(e.UNRELEASED_INSTANCE_ID) << FindRegisteredMember("i")
    play >> wait(500) << AnswerJoin(1, e.COORDINATOR_LOAD_IN_PROGRESS, member_id="c-1")
    assert play << beat(-1, member_id="c-1", instance_id="i")


def test_a_registration_found_too_late_is_of_no_interest() -> None:
    assert Playbook(stable(), NOW) >> RegisteredMemberFound(member_id="old") << Is("stable/stable E2 g2")


def test_the_old_process_of_an_instance_is_fenced_and_the_new_one_is_not() -> None:
    play = Playbook(stable(instance_id="i", member_id=""), NOW)
    play >> InstanceTaken() << Is("absent/fatal E2 g-1")
    play >> beats(6) << AnswerHeartbeat(6, e.FENCED_INSTANCE_ID)
    play >> syncs(7) << AnswerSync(7, e.FENCED_INSTANCE_ID)
    play >> commits(8) << AnswerCommit(8, e.FENCED_INSTANCE_ID)
    play >> joins(9, member_id="c-1", instance_id="i") << AnswerJoin(9, e.FENCED_INSTANCE_ID, member_id="c-1")
    assert play >> wait(100_000) << Forget() << Is("absent/absent E2 g-1")


def test_a_process_whose_instance_was_taken_leaves_as_little_as_one_of_a_broker() -> None:
    """And takes nothing with it: the instance is its successor's."""
    play = Playbook(stable(instance_id="i", member_id=""), NOW) >> InstanceTaken() << Is("absent/fatal E2 g-1")
    play >> leaves(6, instance_id="i") << AnswerLeave(6, e.FENCED_INSTANCE_ID)
    play >> leaves(7) << AnswerLeave(7, e.UNKNOWN_MEMBER_ID)
    assert play << Is("absent/fatal E2 g-1")


def test_only_a_join_that_will_be_taken_in_takes_an_instance() -> None:
    absent = Member(group_id="g", rules=RULES)
    assert is_proper(absent, joins(member_id="", instance_id="i"))
    assert not is_proper(absent, joins(member_id="", instance_id="i", session_timeout_ms=1))
    assert not is_proper(absent, joins(member_id="", instance_id="i", protocols=(Protocol("range", b"\0"),)))


def test_a_process_that_has_left_already_is_not_fenced_by_its_successor() -> None:
    play = after(Playbook(stable(instance_id="i", member_id=""), NOW), leaves(instance_id="i"))
    assert play >> InstanceTaken() << Is("absent/leaving E2 g-1")


def test_an_answer_to_the_old_process_changes_nothing() -> None:
    play = after(Playbook(stable(instance_id="i", member_id=""), NOW), wait(10_000), InstanceTaken())
    assert play >> granted(3, [0]) << Is("absent/fatal E2 g-1")
    play = after(Playbook(stable(instance_id="i", member_id=""), NOW), wait(10_000), InstanceTaken())
    assert play >> LOST << Is("absent/fatal E2 g-1")


def test_a_heartbeat_from_before_the_fall_does_not_disturb_the_new_beginning() -> None:
    """A keep-alive was in flight when the member left and came back."""
    play = after(Playbook(stable(), NOW), wait(10_000), leaves(), joins(6))
    play >> refused(e.UNKNOWN_MEMBER_ID) << beat(0, owned=())
    play = after(Playbook(stable(), NOW), wait(10_000), leaves(), joins(6))
    play >> granted(2) << beat(0, owned=())
    assert play
