"""JoinGroup in all its ways: refused, repeated, parked, handed on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from tests.translation.playbook import (
    LEARNED,
    LOST,
    NOW,
    RULES,
    Is,
    Playbook,
    after,
    beat,
    beats,
    granted,
    joined,
    joining,
    joins,
    leaves,
    refused,
    stable,
    subscription,
    target,
    tps,
    wait,
)
from translation import Member, Rules, step
from translation import errors as e
from translation.actions import (
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    DescribeGroup,
    Forget,
    ForwardJoin,
    LearnAllowedTopics,
    LearnTopics,
    RecordTransition,
    Remember,
    SendGroupHeartbeat,
)
from translation.events import (
    AssignorAgreed,
    ClientLeft,
    JoinRequested,
    MotionSeen,
    Protocol,
    TargetUnknown,
    TopicsAllowed,
)
from translation.group_heartbeat import TopicPartition
from translation.states import Standing


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"session_timeout_ms": 5_999}, e.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, e.INVALID_SESSION_TIMEOUT),
        ({"protocol_type": "connect"}, e.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocols": ()}, e.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocols": (Protocol("range", b"\0"),)}, e.INCONSISTENT_GROUP_PROTOCOL),
        ({"instance_id": "i"}, e.UNKNOWN_MEMBER_ID),
        ({"owned": [0]}, e.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_wrong_join_gets_the_code_a_classic_broker_gives(wrong: dict[str, object], code: int) -> None:
    play = Playbook() >> joins(**wrong) << AnswerJoin(1, code, member_id="m")  # type: ignore[arg-type]
    assert play << Is("absent/absent E0 g-1")


@pytest.mark.parametrize("timeout_ms", [6_000, 1_800_000])
def test_the_bounds_of_the_session_timeout_are_within(timeout_ms: int) -> None:
    assert Playbook() >> joins(session_timeout_ms=timeout_ms) << beat(0, owned=())


def test_a_newcomer_is_remembered_before_its_first_heartbeat_as_one_that_was_told_nothing() -> None:
    """A proxy that is killed now must know of it: its coordinator does, and its client may begin anew."""
    _, orders = step(Member(group_id="g", rules=RULES), joins(member_id="", fresh_id="c-1", version=3), NOW)
    noted, sent = [each for each in orders if not isinstance(each, RecordTransition)]
    assert isinstance(noted, Remember)
    assert isinstance(sent, SendGroupHeartbeat)
    entry = noted.entry
    assert (entry.member_id, entry.generation, entry.told, entry.session_timeout_ms) == ("c-1", -1, (), 10_000)


def test_an_empty_group_id_is_invalid() -> None:
    assert Playbook(Member(group_id="")) >> joins() << AnswerJoin(1, e.INVALID_GROUP_ID, member_id="m")


def test_a_member_that_names_another_instance_is_fenced() -> None:
    play = (
        Playbook(stable(), NOW) >> joins(6, instance_id="other") << AnswerJoin(6, e.FENCED_INSTANCE_ID, member_id="m")
    )
    assert play << Is("stable/stable E2 g2")


@pytest.mark.parametrize(
    ("name", "topics", "means"),
    [
        ("range", ("apples", "bananas"), "range"),
        ("roundrobin", ("apples", "bananas"), "uniform"),
        ("sticky", ("apples",), "uniform"),
        ("range", ("apples",), "uniform"),
    ],
)
def test_the_assignor_keeps_its_intent(name: str, topics: tuple[str, ...], means: str) -> None:
    """What `range` is for, partitions of the same number together, takes two topics."""
    play = Playbook() >> joins(assignor=name, topics=topics)
    assert play << beat(0, owned=(), server_assignor=means, subscribed_topic_names=topics)


def two_topics(*names: str) -> tuple[Protocol, ...]:
    return tuple(Protocol(name, subscription(["apples", "bananas"])) for name in names)


@pytest.mark.parametrize(
    ("offered", "company", "vote"),
    [
        (("range", "roundrobin"), "uniform", "uniform"),
        (("range", "roundrobin"), None, "range"),
        (("range",), "uniform", "range"),
    ],
)
def test_a_newcomer_votes_with_its_company_if_it_can(offered: tuple[str, ...], company: str | None, vote: str) -> None:
    play = Playbook() >> joins(protocols=two_topics(*offered), company_assignor=company)
    assert play << beat(0, owned=(), server_assignor=vote, subscribed_topic_names=("apples", "bananas"))


def test_a_vote_that_the_group_has_agreed_on_goes_out_with_the_next_heartbeat_and_once() -> None:
    play = Playbook(stable(), NOW) >> AssignorAgreed(assignor="range") << beat(2, server_assignor="range")
    assert play >> granted(2) >> wait(5_000) << beat(2)


def test_who_leaves_the_choice_to_the_group_is_not_asked_to_agree() -> None:
    play = Playbook(stable(rules=Rules(assignor="")), NOW) >> AssignorAgreed(assignor="range")
    assert play << Is("stable/stable E2 g2")


def test_a_vote_is_kept_over_a_rejoin() -> None:
    member = stable(protocols=two_topics("range", "roundrobin"), company_assignor="uniform")
    play = Playbook(member, NOW) >> joins(6, protocols=two_topics("range", "roundrobin"))
    assert play.member.contract.assignor == "uniform"


@pytest.mark.parametrize(("rule", "means"), [("uniform", "uniform"), ("", None)])
def test_a_rule_overrides_the_assignor(rule: str, means: str | None) -> None:
    play = Playbook(rules=Rules(assignor=rule))
    assert play >> joins(assignor="range") << beat(0, owned=(), server_assignor=means)


def test_for_an_unsupported_assignor_the_next_is_voted_for_and_none_when_all_were_refused() -> None:
    play = Playbook(joining()) >> refused(e.UNSUPPORTED_ASSIGNOR) << beat(0, owned=(), server_assignor="range")
    assert play >> refused(e.UNSUPPORTED_ASSIGNOR) << beat(0, owned=(), server_assignor=None)


def test_of_the_supported_assignors_one_is_voted_for() -> None:
    play = Playbook(joining())
    play >> refused(
        e.UNSUPPORTED_ASSIGNOR, "ServerAssignor uniform is not supported. Supported assignors: org.Fair, b."
    )
    assert play << beat(0, owned=(), server_assignor="org.Fair")


def test_an_old_vote_that_the_coordinator_chokes_on_is_said_again_and_then_replaced() -> None:
    """A heartbeat without a vote leaves it as it was, and fails for as long."""
    play = Playbook(stable(), 30_000) >> wait(0) << beat(2)
    play >> refused(e.UNKNOWN_SERVER_ERROR) >> wait(RULES.retry_ms) << beat(2, server_assignor="uniform")
    play >> refused(e.UNSUPPORTED_ASSIGNOR, "Supported assignors: range.") << beat(2, server_assignor="range")
    assert play >> granted(3) >> wait(5_000) << beat(3)


def test_who_is_outvoted_by_old_votes_that_nobody_can_withdraw_leaves_and_its_client_joins_anew() -> None:
    """The coordinator counts what it has of the others, chokes on it, and so never keeps the new vote."""
    play = Playbook(stable(), 30_000) >> wait(0) << beat(2)
    after(play, refused(e.UNKNOWN_SERVER_ERROR), wait(RULES.retry_ms), refused(e.UNSUPPORTED_ASSIGNOR))
    assert play >> refused(e.UNKNOWN_SERVER_ERROR) << beat(-1) << Is("absent/leaving E2 g-1")
    assert play >> beats(7) << AnswerHeartbeat(7, e.UNKNOWN_MEMBER_ID)


def test_whoever_has_voted_anew_and_was_heard_stays_whatever_the_coordinator_chokes_on_later() -> None:
    play = after(Playbook(stable(), 30_000), wait(0), refused(e.UNKNOWN_SERVER_ERROR), wait(RULES.retry_ms))
    after(play, refused(e.UNSUPPORTED_ASSIGNOR), granted(3), wait(5_000))
    assert play >> refused(e.UNKNOWN_SERVER_ERROR) >> wait(RULES.retry_ms) << beat(3)


def test_what_was_refused_is_not_voted_for_again_be_it_agreed_on_or_joined_with() -> None:
    play = Playbook(stable(protocols=two_topics("cooperative-sticky")), NOW)
    after(play, AssignorAgreed(assignor="range"), refused(e.UNSUPPORTED_ASSIGNOR, "Supported assignors: uniform."))
    after(play, AssignorAgreed(assignor="range"), granted(2))
    assert play.member.contract.assignor == "uniform"
    after(play, AssignorAgreed(assignor="range"), joins(6, protocols=two_topics("cooperative-sticky")))
    assert (play.member.contract.assignor, play.member.contract.refused) == ("uniform", ("range",))


def test_the_first_protocol_speaks_for_the_client() -> None:
    first, second = Protocol("sticky", subscription(["apples"])), Protocol("range", subscription(["bananas"]))
    play = Playbook() >> joins(protocols=(first, second)) << beat(0, owned=(), server_assignor="uniform")
    assert play


def test_the_rack_of_the_subscription_goes_upstream() -> None:
    metadata = subscription(version=3)[:-2] + b"\x00\x02r1"
    assert Playbook() >> joins(protocols=(Protocol("range", metadata),)) << beat(0, owned=(), rack_id="r1")


def test_a_blank_rack_goes_nowhere() -> None:
    """A coordinator of native members would call the heartbeat invalid."""
    metadata = subscription(version=3)[:-2] + b"\x00\x02 \t"
    assert Playbook() >> joins(protocols=(Protocol("range", metadata),)) << beat(0, owned=())


def test_a_second_join_with_other_protocols_replaces_the_first_and_both_are_answered() -> None:
    """aiokafka sends as many JoinGroups in a row as it has assignors."""
    play = Playbook(joining())
    play >> joins(2, topics=["apples", "bananas"])
    assert play.member.waiting == (1, 2)
    news = {"subscribed_topic_names": ("apples", "bananas"), "server_assignor": "range"}
    play >> granted(2, []) << beat(2, owned=(), **news)
    play >> granted(3, []) << DescribeGroup()
    play >> target(3, []) << joined(1, 3) << joined(2, 3)
    assert play


def test_a_join_while_a_plain_heartbeat_is_in_flight_is_acknowledged_after_its_answer() -> None:
    play = Playbook(stable(), NOW)
    play >> wait(10_000) << beat(2)
    play >> joins(6)
    play >> granted(2) << beat(2, owned=())
    play >> granted(2, [0, 1]) << joined(6, 2)
    assert play


def test_what_the_client_owns_is_said_again_if_it_changed_while_in_flight() -> None:
    play = Playbook(stable(), NOW)
    play >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1])
    play >> joins(7, owned=[0])
    play >> granted(2, [0, 1]) << beat(2, owned=[0])
    play >> granted(2, [0, 1]) << joined(6, 2) << joined(7, 2)
    assert play


def test_a_stable_member_may_rejoin_at_any_time_and_is_answered_at_once() -> None:
    """KIP-568, enforceRebalance: the group is not disturbed, and the reason is on record."""
    play = Playbook(stable(), NOW)
    play >> joins(6, owned=[0, 1], reason="enforced") << beat(2, owned=[0, 1])
    play >> granted(2, [0, 1]) << joined(6, 2)
    assert play
    assert play.transitions[0].reason == "enforced"


def says(generation: int, owned: Iterable[int], **claims: Any) -> JoinRequested:
    """Of which generation its claims are, as clients say since version 2 of the subscription."""
    metadata = subscription(["apples", "bananas"], owned, 2, generation=generation, **claims)
    return joins(6, protocols=(Protocol("range", metadata),))


def test_claims_on_what_was_never_granted_do_not_go_upstream() -> None:
    assert upstream(says(2, [0, 9])) == tps(0)


def test_claims_of_a_generation_that_another_proxy_has_told_are_believed() -> None:
    """Before it was missed here: the coordinator would take an assignment without them for word that it has let go."""
    assert upstream(says(3, [0, 9])) == tps(0, 9)


def test_claims_that_name_no_generation_may_be_of_what_another_proxy_has_told() -> None:
    assert upstream(joins(6, owned=[0, 9])) == tps(0, 9)


def upstream(join: JoinRequested) -> tuple[TopicPartition, ...]:
    """What the coordinator is told that a client owns which was told 0 and 1 here."""
    play = Playbook(stable(), NOW) >> join
    assert play.member.in_flight is not None
    return play.member.in_flight.owned or ()


def test_a_client_that_was_told_elsewhere_of_a_topic_that_nobody_here_can_name_must_drop_it() -> None:
    play = Playbook(stable(), NOW) >> says(3, [7], topic="bananas")
    assert play << AnswerJoin(6, e.UNKNOWN_MEMBER_ID, member_id="m") << beat(-1)


def test_whoever_is_to_join_anew_and_holds_something_by_now_must_drop_it() -> None:
    """It hung up on its JoinGroup when its member was forgotten upstream, and another proxy had it meanwhile. Whoever joins
    upstream says that it holds nothing."""
    play = Playbook(stable(), NOW)
    after(play, joins(6), refused(e.UNKNOWN_MEMBER_ID), ClientLeft(request=6), LOST)
    assert play.member.standing is Standing.JOINING
    play >> joins(7, owned=[0, 1]) << AnswerJoin(7, e.UNKNOWN_MEMBER_ID, member_id="m") << beat(-1)
    assert play


def test_a_static_member_may_join_by_a_version_that_knows_no_instances() -> None:
    play = Playbook(stable(instance_id="i", member_id=""), NOW)
    play >> joins(6, member_id="c-1", version=4) << beat(2, member_id="c-1", instance_id="i", owned=[])
    assert play


def test_an_old_epoch_in_a_description_does_not_end_the_parking() -> None:
    play = after(Playbook(joining()), granted(2, [0]), LEARNED)
    play >> target(1, [0]) >> target(2, [0], group=3) >> target(2, [0, 1])
    assert play >> target(2, [0]) << joined()


def test_a_parked_join_waits_for_the_names_of_topics() -> None:
    play = Playbook(joining())
    play >> granted(2, [0]) << LearnTopics(("a",)) << DescribeGroup()
    play >> target(2, [0])
    assert play >> LEARNED << joined()


def test_motion_makes_a_whole_assignment_doubtful_again() -> None:
    play = after(Playbook(joining()), granted(2, [0]), target(2, [0]))
    play >> MotionSeen(until=5_000) << DescribeGroup()
    play >> LEARNED
    assert play >> target(2, [0]) << joined()


def test_a_parked_join_polls_the_coordinator_fast_and_is_never_parked_beyond_the_limit() -> None:
    play = after(Playbook(stable(), NOW), joins(6, owned=[0, 1]), granted(3))
    play >> wait(200) << DescribeGroup() << beat(3)
    play >> granted(3)
    after(play, wait(2_799))
    assert play >> wait(1) << joined(6, 3)


def test_who_is_parked_among_many_looks_for_itself_as_often_as_the_group_says() -> None:
    """Hundreds that beat ten times a second leave time for nothing else, the coordinator neither."""
    play = after(Playbook(stable(), NOW), joins(6, owned=[0, 1]), granted(3))
    play >> msgspec.structs.replace(target(3, [0, 1], group=4, computed=3), look_ms=500)
    play >> wait(200) << DescribeGroup() << beat(3)
    play >> granted(3) >> wait(200) << DescribeGroup() >> wait(299) << DescribeGroup()
    play >> wait(1) << beat(3)
    # Nobody looks for it where the group cannot be described any more.
    play >> TargetUnknown() >> granted(3)
    assert play >> wait(200) << beat(3)


def test_who_is_parked_does_not_look_before_anything_can_have_come() -> None:
    """Another has yet to let go of what it lacks, and will hear no sooner."""
    play = after(Playbook(stable(), NOW), joins(6, owned=[0, 1]), granted(3))
    play >> msgspec.structs.replace(target(3, [0, 1, 2]), rest_from=play.now + 1_000)
    play >> wait(200) << DescribeGroup() << beat(3)
    play >> granted(3) >> wait(200) << DescribeGroup()
    play >> wait(200) << DescribeGroup() >> wait(200) << DescribeGroup()
    assert play >> wait(200) << DescribeGroup() << beat(3)


def test_a_join_cannot_be_answered_before_the_coordinator_has_spoken() -> None:
    play = Playbook(stable(), NOW)
    play >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1]) >> wait(10_000)
    assert play >> granted(2) << joined(6)


def test_who_holds_nothing_waits_longer_for_its_first_partitions() -> None:
    """It would hear of them with its first beat only. Nothing at all is an answer too, before clients lose patience."""
    play = Playbook(joining()) >> granted(2, []) << DescribeGroup()
    play >> target(2, [0], group=3) << Is("completing-rebalance/stable E2 g-1")
    after(play, *(event for _ in range(59) for event in (wait(200), MotionSeen(until=99_000))))
    assert play.member.parked
    assert play >> wait(200) << joined()


def test_who_let_go_of_all_does_not_wait_for_an_epoch_that_is_yet_to_be_computed() -> None:
    play = Playbook(stable(), NOW)
    play >> joins(6) << beat(2, owned=()) >> granted(3, [0]) << DescribeGroup()
    play >> target(3, [0, 1], group=4, computed=3) << Is("completing-rebalance/stable E3 g2")
    assert play >> target(3, [0], group=4, computed=3) << joined(6, 3)


def test_who_holds_something_waits_for_that_epoch() -> None:
    play = Playbook(stable(), NOW)
    play >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1]) >> granted(3, [0, 1, 2]) << DescribeGroup()
    play >> target(3, [0, 1, 2], group=4, computed=3) << Is("completing-rebalance/stable E3 g2")
    assert play >> target(3, [0, 1, 2]) << joined(6, 3)


def first_of_all(**word: object) -> Playbook:
    """All partitions are there for it, and the group's next epoch is yet to be computed."""
    play = after(Playbook(joining(msgspec.structs.replace(RULES, idle_ms=400))), granted(2, [0, 1]), LEARNED)
    return play >> msgspec.structs.replace(target(2, [0, 1], group=4, computed=2), **word)


def test_who_comes_with_others_waits_for_its_own_share() -> None:
    play = first_of_all(begins=True) << Is("completing-rebalance/stable E2 g-1")
    play >> wait(200) << DescribeGroup() << beat(2)
    play >> granted(3, [0]) << beat(3, owned=()) >> granted(3, [0]) << DescribeGroup()
    assert play >> target(3, [0]) << joined(1, 3)


def test_who_comes_with_others_is_told_of_all_if_no_other_target_comes() -> None:
    play = after(first_of_all(begins=True), wait(RULES.next_target_ms + 399))
    assert play.member.parked
    assert play >> wait(1) << joined()


def test_who_comes_to_others_that_have_their_shares_does_not_wait_for_that_epoch() -> None:
    assert first_of_all() << joined()


def test_who_comes_to_an_empty_group_waits_a_moment_for_others() -> None:
    rules = msgspec.structs.replace(RULES, company_ms=300)
    alone = msgspec.structs.replace(target(2, [0, 1]), alone=True)
    play = after(Playbook(joining(rules)), granted(2, [0, 1]), LEARNED, alone, wait(299), alone)
    assert play.member.parked
    assert after(play, wait(1)) >> alone << joined()


def parked_with_one(coming: int = 0, comes_in: int = 0) -> Playbook:
    """One partition is there for a newcomer, and lies idle; two are still with others."""
    play = after(Playbook(joining(msgspec.structs.replace(RULES, idle_ms=400))), granted(2, [0]), LEARNED)
    learned = msgspec.structs.replace(target(2, [0, 1, 2]), coming=coming, comes_at=play.now + comes_in)
    return play >> learned << Is("completing-rebalance/stable E2 g-1")


def test_what_lies_idle_for_a_parked_client_is_told_soon() -> None:
    play = after(parked_with_one(), wait(399))
    assert play.member.parked
    assert play >> wait(1) << joined()


def test_what_lies_idle_for_a_parked_client_is_not_told_before_what_is_coming_if_that_is_more_or_soon() -> None:
    play = after(parked_with_one(coming=2, comes_in=1_000), wait(1_399))
    assert play.member.parked
    assert play >> wait(1) << joined()


def test_what_comes_as_late_as_the_next_beat_is_not_waited_for() -> None:
    assert after(parked_with_one(coming=1, comes_in=3_000), wait(399)) >> wait(1) << joined()


def test_a_newcomer_does_not_wait_for_company_that_cannot_come_soon() -> None:
    play = after(Playbook(joining(msgspec.structs.replace(RULES, idle_ms=400))), granted(2, [0]), LEARNED)
    soon, late = (msgspec.structs.replace(target(2, [0, 1]), rest_from=play.now + ms) for ms in (400, 401))
    play >> soon << Is("completing-rebalance/stable E2 g-1")
    assert play >> late << joined()


def test_what_was_said_of_the_rest_counts_no_more_when_a_part_has_come() -> None:
    """It was to come in 5 s, said the group. Then one gave up its part, and now the other is asked for its own too."""
    play = Playbook(joining(msgspec.structs.replace(RULES, idle_ms=400)))
    play >> granted(2, []) << DescribeGroup()
    play >> msgspec.structs.replace(target(2, [0, 1]), rest_from=play.now + 5_000)
    play >> wait(200) << DescribeGroup() << beat(2)
    play >> granted(2, [0]) << LearnTopics(("a",)) << DescribeGroup()
    play >> LEARNED << Is("completing-rebalance/stable E2 g-1")
    in_a_second = play.now + 1_000
    after(
        play,
        msgspec.structs.replace(target(2, [0, 1]), coming=1, comes_at=in_a_second, rest_from=in_a_second),
        wait(1_399),
    )
    assert play.member.parked
    assert play >> wait(1) << joined()


def test_whoever_was_talked_into_a_vote_keeps_it_when_it_joins_again() -> None:
    """It offers nothing that all offer. A vote for its own wish would be a new target, and that the next JoinGroup."""
    play = Playbook(stable(protocols=two_topics("cooperative-sticky")), NOW)
    after(play, AssignorAgreed(assignor="range"), joins(6, protocols=two_topics("cooperative-sticky")))
    assert play.member.contract.assignor == "range"
    after(play, joins(7, protocols=two_topics("sticky", "range")))
    assert play.member.contract.assignor == "range"
    after(play, joins(8, protocols=two_topics("sticky")))
    assert play.member.contract.assignor == "uniform"


def test_who_is_gone_while_its_join_waits_keeps_all_until_it_joins_again() -> None:
    """What was granted meanwhile it may have been told by another proxy. So nothing is given back in its name."""
    play = Playbook(stable(), NOW)
    play >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1]) >> granted(3, [0, 1, 2]) << DescribeGroup()
    play >> ClientLeft(request=6) << AnswerJoin(6, e.NETWORK_EXCEPTION, member_id="m")
    play << Is("completing-rebalance/stable E3 g2")
    play >> wait(5_000) << beat(3) >> granted(4, [0, 1]) << Is("completing-rebalance/reconciling E4 g2")
    assert play >> joins(7, owned=[0, 1]) << beat(4, owned=[0, 1])


def test_who_has_sent_a_second_join_waits_on_that_connection() -> None:
    play = Playbook(stable(), NOW)
    play >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1]) >> joins(7, owned=[0, 1])
    play >> ClientLeft(request=6) << AnswerJoin(6, e.NETWORK_EXCEPTION, member_id="m")
    play >> ClientLeft(request=6)
    assert play >> granted(2) << joined(7)


def test_a_newcomer_that_is_gone_before_it_has_heard_its_id_leaves() -> None:
    """Nobody can come back under that id: the member would lie there until its session ends, with partitions."""
    play = Playbook() >> joins(member_id="", version=3, fresh_id="m") << beat(0, owned=())
    play >> granted(1, [0]) << LearnTopics(("a",)) << DescribeGroup()
    play >> ClientLeft(request=1) << AnswerJoin(1, e.NETWORK_EXCEPTION, member_id="m")
    assert play << beat(-1) << Is("absent/leaving E1 g-1")


def test_an_instance_that_is_gone_before_it_has_heard_its_id_can_come_back() -> None:
    play = Playbook() >> joins(member_id="", fresh_id="m", instance_id="i") << beat(0, owned=(), instance_id="i")
    play >> granted(1, [0]) << LearnTopics(("a",)) << DescribeGroup()
    play >> ClientLeft(request=1) << AnswerJoin(1, e.NETWORK_EXCEPTION, member_id="m")
    assert play << Is("completing-rebalance/stable E1 g-1")


def test_who_is_gone_before_the_coordinator_has_spoken_joins_only_when_it_comes_back() -> None:
    """Joining again in its name would say that it holds nothing, and it may have joined by way of another proxy."""
    play = Playbook() >> joins(member_id="m") << beat(0, owned=())
    play >> ClientLeft(request=1) << AnswerJoin(1, e.NETWORK_EXCEPTION, member_id="m")
    play >> LOST >> wait(5_000)
    assert play >> joins(2, member_id="m") << beat(0, owned=())


def test_a_leave_while_the_join_is_parked_ends_both() -> None:
    play = Playbook(joining())
    play >> leaves() << AnswerJoin(1, e.UNKNOWN_MEMBER_ID, member_id="m") << Is("absent/leaving E0 g-1")
    play >> granted(2, [0]) << beat(-1)
    assert play >> granted(-1) << AnswerLeave(4) << Forget()


def test_a_client_that_comes_back_while_it_is_leaving_joins_when_it_is_gone() -> None:
    play = Playbook(stable(), NOW)
    play >> leaves() << beat(-1)
    play >> joins(6) << AnswerLeave(4)
    play >> granted(-1) << beat(0, owned=())
    assert play << Is("completing-rebalance/joining E0 g-1")


@pytest.mark.parametrize("who", [{}, {"member_id": "", "version": 3}])
def test_a_group_that_is_full_says_so(who: dict[str, Any]) -> None:
    """And gives nobody an id, as a broker does not."""
    play = Playbook(joining(**who)) >> refused(e.GROUP_MAX_SIZE_REACHED)
    play << AnswerJoin(1, e.GROUP_MAX_SIZE_REACHED) << Forget()
    assert play << Is("absent/absent E0 g-1")


@pytest.mark.parametrize("code", [e.GROUP_ID_NOT_FOUND, e.UNSUPPORTED_VERSION])
def test_a_group_that_cannot_be_converted_is_left_to_the_broker(code: int) -> None:
    play = Playbook(joining()) >> refused(code) << ForwardJoin(1, e.NAMES[code]) << Forget()
    assert play << Is("absent/absent E0 g-1")


@pytest.mark.parametrize("blank", [" ", "\t", " " * 300])
def test_nobody_is_called_by_blanks(blank: str) -> None:
    """To the coordinator that is no name, and its refusal would be taken for a mistake of ours."""
    play = Playbook() >> joins(1, member_id=blank)
    assert play << AnswerJoin(1, e.UNKNOWN_MEMBER_ID, member_id=blank) << Is("absent/absent E0 g-1")


def test_access_to_the_group_is_refused_for_as_long_as_it_is_withdrawn() -> None:
    play = Playbook(joining()) >> refused(e.GROUP_AUTHORIZATION_FAILED)
    play << AnswerJoin(1, e.GROUP_AUTHORIZATION_FAILED, member_id="m") << Forget() << Is("absent/absent E0 g-1")
    assert play >> joins(2) << beat(0, owned=())


def test_topics_that_may_not_be_described_are_left_out() -> None:
    play = Playbook(joining(topics=["apples", "bananas"], assignor="sticky"))
    play >> refused(e.TOPIC_AUTHORIZATION_FAILED) << LearnAllowedTopics(("apples", "bananas"))
    assert play >> TopicsAllowed(asked=("apples", "bananas"), names=("apples",)) << beat(0, owned=())


def test_topics_that_were_left_out_are_looked_at_again_and_said_as_soon_as_they_are_allowed() -> None:
    member = stable(topics=["apples", "bananas"], assignor="sticky")
    contract = msgspec.structs.replace(member.contract, denied=("bananas",))
    member = msgspec.structs.replace(member, contract=contract, heard_at=44_000, beaten_at=44_000, heartbeat_at=45_000)
    play = Playbook(member, 44_000) >> wait(1_000) << beat(2) << LearnAllowedTopics(("apples", "bananas"))
    play >> granted(2) >> TopicsAllowed(asked=("apples", "bananas"), names=("apples",))
    play >> beats() << AnswerHeartbeat(3) << beat(2, owned=[0, 1])
    (
        play
        >> granted(2, [0, 1])
        >> wait(10)
        >> TopicsAllowed(asked=("apples", "bananas"), names=("apples", "bananas"))
        << beat(2)
    )
    play >> granted(2) >> beats() << AnswerHeartbeat(3)
    assert play << beat(2, owned=[0, 1], subscribed_topic_names=("apples", "bananas"))
    assert play >> granted(2, [0, 1]) >> wait(4_999)


def test_what_was_allowed_of_an_older_subscription_denies_nothing_of_the_newer_one() -> None:
    play = Playbook(joining(topics=["apples", "bananas"], assignor="sticky"))
    play >> refused(e.TOPIC_AUTHORIZATION_FAILED) << LearnAllowedTopics(("apples", "bananas"))
    play >> TopicsAllowed(asked=("apples", "cherries"), names=("apples",)) >> wait(500)
    assert play << beat(0, owned=(), subscribed_topic_names=("apples", "bananas"))


def test_topics_that_are_all_allowed_and_yet_refused_are_asked_for_again_later() -> None:
    play = Playbook(joining())
    play >> refused(e.TOPIC_AUTHORIZATION_FAILED) << LearnAllowedTopics(("apples",))
    play >> TopicsAllowed(asked=("apples",), names=("apples",))
    assert play >> wait(500) << beat(0, owned=())


def test_a_known_member_that_is_fenced_at_epoch_0_leaves_and_joins_again() -> None:
    """Brokers 4.0 and 4.1 (KAFKA-19233)."""
    play = Playbook(joining())
    play >> refused(e.FENCED_MEMBER_EPOCH) << beat(-1)
    play >> refused(e.UNKNOWN_MEMBER_ID) << beat(0, owned=())
    assert play << Is("completing-rebalance/joining E0 g-1")


def test_a_fenced_client_that_holds_nothing_and_is_parked_joins_anew_and_never_knows() -> None:
    play = Playbook(stable(), NOW)
    play >> joins(6) << beat(2, owned=())
    play >> refused(e.UNKNOWN_MEMBER_ID) << beat(0, owned=())
    play >> granted(9, [5]) << DescribeGroup()
    assert play >> target(9, [5]) << joined(6, 9)


def test_a_fenced_client_that_claims_partitions_must_hear_it() -> None:
    play = Playbook(stable(), NOW)
    play >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1])
    play >> refused(e.UNKNOWN_MEMBER_ID) << AnswerJoin(6, e.UNKNOWN_MEMBER_ID, member_id="m")
    play << Is("absent/fenced E2 g-1")
    play >> joins(7, owned=[0, 1]) << AnswerJoin(7, e.UNKNOWN_MEMBER_ID, member_id="m") << Forget()
    assert play << Is("absent/absent E2 g-1")


def test_who_claims_partitions_under_an_id_it_was_just_given_is_a_newcomer_that_has_nothing() -> None:
    """kafka-python says what it held until it is let in: to refuse it is to refuse it for ever."""
    play = Playbook() >> joins(member_id="", owned=[0, 1])
    play << AnswerJoin(1, e.MEMBER_ID_REQUIRED, member_id="c-1")
    play >> joins(2, "c-1", owned=[0, 1], is_issued=True) << beat(0, owned=(), member_id="c-1")
    assert play << Is("completing-rebalance/joining E0 g-1")


def test_a_fenced_client_without_claims_may_join_under_its_id() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), refused(e.UNKNOWN_MEMBER_ID))
    assert play >> joins(7) << beat(0, owned=())


def test_rules_ride_with_the_member() -> None:
    assert msgspec.structs.replace(RULES, park_ms=1) != RULES
    play = Playbook(stable(rules=msgspec.structs.replace(RULES, park_ms=1)), NOW)
    after(play, joins(6, owned=[0, 1]), granted(3))
    assert play >> wait(1) << joined(6, 3)
