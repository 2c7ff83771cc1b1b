"""What a trace looks like: members played by hand, and the tree of spans that comes of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan

import translation.events as ev
from proxy.observations import Changed, HeartbeatAnswered, HeartbeatSent, RequestAnswered, RequestArrived
from tests.proxy.traces.telling import CLIENT, Told, Traced
from tests.translation.playbook import LEARNED, RULES, beats, granted, joins, leaves, refused, syncs, target, tps
from tests.unit.observing import changed
from translation import Member
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer
from translation.states import Phase, Standing

DONE = ev.DeadlinePassed()
# Of an old client: it has no id yet, and is not sent back for one.
NEWCOMER = joins(1, "", version=3, fresh_id="m")


class Played(Told):
    """Events by hand, instead of by chance."""

    def __init__(self, traced: Traced) -> None:
        super().__init__(0, traced.traces.observe)
        self.instance_id = None
        self.member = Member(group_id="g", rules=RULES)

    def hears(self, *events: ev.AnyEvent, ms: int = 10) -> Played:
        for event in events:
            self.now += ms
            self.take(event)
        return self


def played(*events: ev.AnyEvent) -> tuple[Played, Traced]:
    traced = Traced()
    return Played(traced).hears(*events), traced


JOINED = (NEWCOMER, granted(2, [0, 1]), LEARNED, target(2, [0, 1]), syncs(2))


def tree(spans: Iterable[ReadableSpan]) -> list[str]:
    """One line a span, in the order of their beginnings, children below their parents."""
    ordered = sorted(spans, key=lambda span: (span.start_time, -span.end_time))

    def below(parent: int | None, indent: str) -> list[str]:
        lines = []
        for span in ordered:
            if (span.parent.span_id if span.parent is not None else None) == parent:
                mark = "!" if span.status.status_code.name == "ERROR" else ""
                lines += [f"{indent}{span.name}{mark}", *below(span.context.span_id, indent + "  ")]
        return lines

    return below(None, "")


def test_a_newcomers_trace_begins_with_its_join_group_and_ends_when_it_has_its_partitions() -> None:
    _, traced = played(*JOINED)
    assert tree(traced.spans) == [
        "rebalance",
        "  JoinGroup",
        "    ConsumerGroupHeartbeat",
        "  CompletingRebalance",
        "  transition",
        "  transition",
        "  transition",
        "  SyncGroup",
        "  transition",
    ]
    root = traced.spans[-1]
    assert root.attributes["kip848.outcome"] == "stable"
    assert root.attributes["kip848.gained"] == ("apples:0", "apples:1")
    assert root.attributes["messaging.consumer.group.name"] == "g"
    assert root.attributes["kip848.client_software"] == "librdkafka"


def test_what_is_over_is_forgotten() -> None:
    play, traced = played(NEWCOMER)
    assert repr(traced.traces) == "<Traces: 1 members, 1 under way, 1 requests wait>"
    play.hears(*JOINED[1:])
    assert repr(traced.traces) == "<Traces: 1 members, 0 under way, 0 requests wait>"
    play.hears(leaves(9), granted(-1))
    assert repr(traced.traces) == "<Traces: 0 members, 0 under way, 0 requests wait>"


def test_a_quiet_heartbeat_is_not_traced() -> None:
    play, traced = played(*JOINED)
    before = len(traced.spans)
    play.hears(beats(3), DONE, ms=4_000).hears(granted(2))
    assert len(traced.spans) == before


def test_news_for_a_member_begin_a_trace_with_the_heartbeat_that_brought_them() -> None:
    play, traced = played(*JOINED)
    before = len(traced.spans)
    play.hears(DONE, ms=4_000).hears(granted(3, [0]), DONE).hears(joins(4, "m", owned=[0]), ms=400)
    play.hears(granted(3, [0]), target(3, [0]), syncs(5, 3))
    assert [line for line in tree(traced.spans[before:]) if line.strip() != "transition"] == [
        "rebalance",
        "  ConsumerGroupHeartbeat",
        "  PrepareRebalance",
        "  JoinGroup",
        "    ConsumerGroupHeartbeat",
        "  CompletingRebalance",
        "  SyncGroup",
    ]
    assert traced.spans[-1].attributes["kip848.revoked"] == ("apples:1",)


def test_a_member_that_is_stuck_can_be_seen_while_it_is_stuck() -> None:
    _, traced = played(NEWCOMER)
    assert [span.name for span in traced.spans] == ["transition"]
    assert traced.spans[0].attributes["kip848.standing"] == "joining"


def test_a_leave_is_a_trace_with_the_heartbeat_it_became() -> None:
    play, traced = played(*JOINED)
    before = len(traced.spans)
    play.hears(leaves(9), granted(-1))
    shown = tree(traced.spans[before:])
    assert shown[0] == "rebalance"
    assert shown[1] == "  LeaveGroup"
    assert any(line.strip() == "ConsumerGroupHeartbeat" for line in shown)
    assert traced.spans[-1].attributes["kip848.outcome"] == "absent"


def test_each_request_and_the_heartbeat_it_became_are_known_from_each_other() -> None:
    play, traced = played(*JOINED)
    play.hears(leaves(9), granted(-1))
    by_id = {span.context.span_id: span for span in traced.spans}
    beats_of = [span for span in traced.spans if span.name == "ConsumerGroupHeartbeat"]
    assert [(by_id[beat.parent.span_id].name, beat.attributes["kip848.request"]) for beat in beats_of] == [
        ("JoinGroup", 1),
        ("LeaveGroup", 9),
    ]


def test_a_refusal_is_an_error_on_the_heartbeat_the_request_and_the_rebalance() -> None:
    play, traced = played(NEWCOMER, refused(30))
    traced.traces.close(play.at_ns())
    failed = {span.name: span.attributes["error.type"] for span in traced.spans if "error.type" in span.attributes}
    assert failed["ConsumerGroupHeartbeat"] == "GROUP_AUTHORIZATION_FAILED"
    assert failed["JoinGroup"] == "GROUP_AUTHORIZATION_FAILED"
    assert tree(traced.spans)[0] == "rebalance!"
    assert traced.spans[-1].status.description == "JoinGroup: GROUP_AUTHORIZATION_FAILED"


def test_an_epoch_that_moves_in_silence_is_a_trace_of_its_own() -> None:
    play, traced = played(*JOINED)
    before = len(traced.spans)
    play.hears(DONE, ms=4_000).hears(granted(7))
    assert tree(traced.spans[before:]) == ["transition"]


# --- by observations alone -----------------------------------------------------------------------------------------


def moved(
    member: str, at_ns: int, before: tuple[Phase, Standing], after: tuple[Phase, Standing], **more: Any
) -> Changed:
    return changed(
        at_ns,
        client=CLIENT,
        group_id="g",
        member_id=member,
        phase_before=before[0],
        phase=after[0],
        standing_before=before[1],
        standing=after[1],
        owned=tps(0),
        **({"epoch_before": 6, "epoch": 6} | more),
    )


REST = (Phase.STABLE, Standing.STABLE)
ASKED = (Phase.PREPARE_REBALANCE, Standing.RECONCILING)


def observed(*observations: object) -> Traced:
    traced = Traced()
    for observation in observations:
        traced.traces.observe(observation)  # type: ignore[arg-type]
    return traced


def arrived(number: int, at_ns: int, api: str = "Heartbeat", member: str = "a", **said: Any) -> RequestArrived:
    return RequestArrived(
        number=number,
        at_ns=at_ns,
        group_id="g",
        member_id=member,
        instance_id=None,
        api=api,
        version=4,
        client=CLIENT,
        **said,
    )


def test_members_of_one_group_change_link_to_the_first_of_them() -> None:
    traced = observed(
        moved("a", 10, REST, ASKED, epoch=7),
        moved("b", 20, REST, ASKED, epoch=7),
        moved("b", 30, ASKED, REST, epoch_before=7, epoch=7),
        moved("a", 40, ASKED, REST, epoch_before=7, epoch=7),
    )
    b, a = (span for span in traced.spans if span.name == "rebalance")
    assert [link.context.trace_id for link in b.links] == [a.context.trace_id]
    assert not a.links


def test_a_held_heartbeat_that_tells_of_the_rebalance_is_in_it_and_does_not_stretch_it() -> None:
    traced = observed(
        moved("a", 5, (Phase.ABSENT, Standing.ABSENT), REST),
        arrived(1, 100),
        RequestAnswered(number=1, at_ns=3_000, error_code=27),
        moved("a", 3_010, REST, ASKED),
        moved("a", 4_000, ASKED, REST),
    )
    beat, root = (span for span in traced.spans if span.name in ("Heartbeat", "rebalance"))
    assert (root.start_time, root.end_time) == (3_000, 4_000)
    assert (beat.start_time, beat.end_time, beat.attributes["kip848.arrived_ns"]) == (3_000, 3_000, 100)
    assert beat.status.is_unset


def test_a_heartbeat_is_in_the_request_that_became_it_and_in_no_other() -> None:
    beat = GroupHeartbeat(group_id="g", member_id="a", member_epoch=6)
    quiet = GroupHeartbeatAnswer(member_epoch=6)
    traced = observed(
        moved("a", 10, REST, ASKED),
        arrived(1, 20, "JoinGroup"),
        arrived(2, 30, "LeaveGroup"),
        arrived(3, 35, "SyncGroup"),
        HeartbeatSent(serial=1, at_ns=40, heartbeat=beat, request=1),
        HeartbeatAnswered(serial=1, at_ns=50, answer=quiet),
        HeartbeatSent(serial=2, at_ns=60, heartbeat=beat, request=3),
        RequestAnswered(number=3, at_ns=70, error_code=0),
        HeartbeatAnswered(serial=2, at_ns=80, answer=quiet),
        moved("a", 90, ASKED, REST),
    )
    assert [line for line in tree(traced.spans) if line.strip() != "transition"] == [
        "rebalance",
        "  PrepareRebalance",
        "    ConsumerGroupHeartbeat",
        "  JoinGroup",
        "    ConsumerGroupHeartbeat",
        "  LeaveGroup",
        "  SyncGroup",
    ]


def test_in_a_rebalance_a_heartbeat_that_brings_nothing_is_counted_and_one_that_says_anything_is_traced() -> None:
    alive = GroupHeartbeat(group_id="g", member_id="a", member_epoch=6)
    has_let_go = GroupHeartbeat(group_id="g", member_id="a", member_epoch=6, owned=tps(0))
    same, granted_more = (
        GroupHeartbeatAnswer(member_epoch=6),
        GroupHeartbeatAnswer(member_epoch=6, assignment=tps(0, 1)),
    )
    told = [(alive, same), (alive, same), (has_let_go, same), (alive, granted_more), (alive, None)]
    traced = observed(
        moved("a", 10, REST, ASKED),
        *(
            each
            for serial, (beat, answer) in enumerate(told, 2)
            for each in (
                HeartbeatSent(serial=serial, at_ns=10 * serial, heartbeat=beat),
                HeartbeatAnswered(serial=serial, at_ns=10 * serial + 5, answer=answer),
            )
        ),
        moved("a", 90, ASKED, REST),
    )
    assert [span.start_time for span in traced.spans if span.name == "ConsumerGroupHeartbeat"] == [40, 50, 60]
    assert traced.spans[-1].attributes["kip848.quiet_heartbeats"] == 2


def test_a_leave_group_that_names_its_member_in_a_list_is_known_by_its_number() -> None:
    leaving, gone = (Phase.ABSENT, Standing.LEAVING), (Phase.ABSENT, Standing.ABSENT)
    beat = GroupHeartbeat(group_id="g", member_id="a", member_epoch=-1)
    traced = observed(
        moved("a", 10, gone, REST),
        arrived(2, 20, "LeaveGroup", member=""),
        HeartbeatSent(serial=1, at_ns=30, heartbeat=beat, request=2),
        moved("a", 40, REST, leaving, request=2),
        HeartbeatAnswered(serial=1, at_ns=50, answer=GroupHeartbeatAnswer(member_epoch=-1)),
        RequestAnswered(number=2, at_ns=60, error_code=0),
        moved("a", 70, leaving, gone),
    )
    assert [line for line in tree(traced.spans) if line.strip() != "transition"] == [
        "rebalance",
        "  LeaveGroup",
        "    ConsumerGroupHeartbeat",
    ]


def test_a_rebalance_ends_whoever_still_waits() -> None:
    traced = observed(
        moved("a", 10, REST, ASKED),
        arrived(1, 20, "OffsetCommit"),
        moved("a", 30, ASKED, REST),
        RequestAnswered(number=1, at_ns=40, error_code=0),
    )
    commit = next(span for span in traced.spans if span.name == "OffsetCommit")
    assert (commit.end_time, commit.attributes["kip848.still_open"]) == (30, 1)


def test_a_request_that_is_handed_to_the_broker_says_so_and_has_no_answer_of_ours() -> None:
    traced = observed(
        moved("a", 10, REST, ASKED),
        arrived(1, 20, "JoinGroup"),
        RequestAnswered(number=1, at_ns=25, error_code=0, is_passed_on=True),
        moved("a", 30, ASKED, (Phase.ABSENT, Standing.ABSENT)),
    )
    join = next(span for span in traced.spans if span.name == "JoinGroup")
    assert (join.end_time, join.attributes["kip848.passed_on"]) == (25, 1)
    assert "kip848.error_code" not in join.attributes


def test_a_request_that_its_client_hung_up_on_is_no_error() -> None:
    traced = observed(
        moved("a", 10, REST, ASKED),
        arrived(1, 20, "JoinGroup"),
        RequestAnswered(number=1, at_ns=25, error_code=13, is_heard=False),
        moved("a", 30, ASKED, REST),
    )
    join, root = (span for span in traced.spans if span.name in ("JoinGroup", "rebalance"))
    assert (join.end_time, join.attributes["kip848.nobody_heard"]) == (25, 1)
    assert "kip848.error_code" not in join.attributes
    assert join.status.is_unset
    assert root.status.is_unset


def test_a_commit_says_what_is_committed() -> None:
    traced = observed(
        moved("a", 10, REST, ASKED),
        arrived(1, 20, "OffsetCommit", committed=(("apples", 1), ("pears", 0))),
        RequestAnswered(number=1, at_ns=25, error_code=0),
        moved("a", 30, ASKED, REST),
    )
    commit = next(span for span in traced.spans if span.name == "OffsetCommit")
    assert commit.attributes["kip848.partitions"] == ("apples:1", "pears:0")


def test_a_wall_clock_that_is_set_back_moves_no_span_out_of_its_parent() -> None:
    traced = observed(
        moved("a", 1_000, REST, ASKED),
        moved("a", 100, ASKED, (Phase.PREPARE_REBALANCE, Standing.STABLE)),
        arrived(1, 110, "JoinGroup"),
        RequestAnswered(number=1, at_ns=120, error_code=0),
        moved("a", 130, (Phase.PREPARE_REBALANCE, Standing.STABLE), REST),
    )
    assert {(span.name, span.start_time, span.end_time) for span in traced.spans} == {
        (name, 1_000, 1_000) for name in ("transition", "PrepareRebalance", "JoinGroup", "rebalance")
    }
    said = [span.attributes["kip848.at_ns"] for span in traced.spans if span.name == "transition"]
    assert said == [1_000, 100, 130]


def test_a_member_that_the_host_dropped_does_not_leave_its_trace_open() -> None:
    traced = observed(moved("a", 10, REST, ASKED), moved("a", 50, (Phase.ABSENT, Standing.ABSENT), REST))
    root = next(span for span in traced.spans if span.name == "rebalance")
    assert (root.end_time, root.attributes["kip848.outcome"]) == (10, "lost")


def test_what_fails_at_rest_is_traced_alone() -> None:
    beat = GroupHeartbeat(group_id="g", member_id="a", member_epoch=6)
    refusal = GroupHeartbeatAnswer(error_code=16)
    traced = observed(
        moved("a", 5, (Phase.ABSENT, Standing.ABSENT), REST),
        HeartbeatSent(serial=1, at_ns=10, heartbeat=beat),
        HeartbeatAnswered(serial=1, at_ns=20, answer=refusal),
        arrived(1, 30),
        RequestAnswered(number=1, at_ns=40, error_code=25),
        arrived(2, 50),
        arrived(3, 60, "JoinGroup", member="nobody"),
        RequestAnswered(number=3, at_ns=70, error_code=25),
    )
    assert tree(traced.spans) == ["transition", "ConsumerGroupHeartbeat!", "Heartbeat!", "JoinGroup!"]
    assert [span.attributes.get("error.type") for span in traced.spans][1:] == [
        "NOT_COORDINATOR",
        "UNKNOWN_MEMBER_ID",
        "UNKNOWN_MEMBER_ID",
    ]


@pytest.mark.parametrize("brings", ["nothing", "an epoch"])
def test_at_rest_a_heartbeat_is_traced_if_it_took_long(brings: str) -> None:
    """The pipeline blames the coordinator for it."""
    beat = GroupHeartbeat(group_id="g", member_id="a", member_epoch=6)
    answer = GroupHeartbeatAnswer(member_epoch=6 if brings == "nothing" else 7)
    news = [] if brings == "nothing" else [moved("a", 6_000_000_020, REST, REST, epoch=7)]
    traced = observed(
        moved("a", 5, (Phase.ABSENT, Standing.ABSENT), REST),
        HeartbeatSent(serial=1, at_ns=10, heartbeat=beat),
        HeartbeatAnswered(serial=1, at_ns=6_000_000_010, answer=answer),
        *news,
        HeartbeatSent(serial=2, at_ns=7_000_000_000, heartbeat=beat),
        HeartbeatAnswered(serial=2, at_ns=7_000_000_010, answer=GroupHeartbeatAnswer(member_epoch=6)),
    )
    assert tree(traced.spans) == ["transition", "ConsumerGroupHeartbeat", *["transition" for _ in news]]


def test_a_quiet_heartbeat_is_not_blamed_for_what_comes_after_it() -> None:
    beat = GroupHeartbeat(group_id="g", member_id="a", member_epoch=6)
    traced = observed(
        moved("a", 5, (Phase.ABSENT, Standing.ABSENT), REST),
        HeartbeatSent(serial=1, at_ns=10, heartbeat=beat),
        HeartbeatAnswered(serial=1, at_ns=20, answer=GroupHeartbeatAnswer(member_epoch=6)),
        moved("a", 500, REST, REST),
        HeartbeatSent(serial=2, at_ns=510, heartbeat=beat),
        HeartbeatAnswered(serial=2, at_ns=520, answer=GroupHeartbeatAnswer(member_epoch=6)),
        moved("a", 900, REST, ASKED),
        moved("a", 999, ASKED, REST),
    )
    assert tree(traced.spans) == [
        "transition",
        "transition",
        "rebalance",
        "  PrepareRebalance",
        "  transition",
        "  transition",
    ]
    assert traced.spans[-1].start_time == 900


def test_when_the_proxy_stops_open_rebalances_end_unfinished() -> None:
    traced = observed(moved("a", 10, REST, ASKED))
    traced.traces.close(99)
    root = traced.spans[-1]
    assert (root.end_time, root.attributes["kip848.outcome"]) == (99, "unfinished")
