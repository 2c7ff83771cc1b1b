"""The picture, drawn from observations."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from proxy.admin import Feed, Page
from proxy.observations import Changed, Client, GroupPasses, Observation, PassesNoMore, RequestArrived
from proxy.pages import picture_pages
from proxy.picture import DEPARTURES, ENDED_SPANS, PASSING_MEMBERS, Picture
from tests.unit import observing
from translation.group_heartbeat import TopicPartition
from translation.states import Phase, Standing

TOPIC = "0" * 31 + "1"


def changed(
    member: str = "alice",
    owned: tuple[int, ...] = (),
    assigned: tuple[int, ...] = (),
    phase: Phase = Phase.STABLE,
    at_ns: int = 0,
    group: str = "orders",
) -> Changed:
    return observing.changed(
        at_ns,
        names={TOPIC: "clicks"},
        node=2,
        group_id=group,
        member_id=member,
        phase=phase,
        standing=Standing.ABSENT if phase is Phase.ABSENT else Standing.STABLE,
        epoch_before=6,
        generation_before=6,
        generation=6,
        owned=tuple(TopicPartition(TOPIC, n) for n in owned),
        assigned=tuple(TopicPartition(TOPIC, n) for n in assigned),
    )


def passes(member: str = "bob", reason: str = "a rule lets it pass") -> GroupPasses:
    return GroupPasses(at_ns=0, group_id="orders", member_id=member, reason=reason, client=Client(address="10.0.0.2:1"))


def drawn(*observations: Observation) -> Picture:
    picture = Picture()
    for observation in observations:
        picture.observe(observation)
    return picture


def test_a_member_shows_what_it_waits_for_and_what_it_lets_go() -> None:
    group = drawn(changed(owned=(0, 1), assigned=(1, 2))).group("orders")
    assert group is not None
    member = group["members"][0]
    assert [tuple(p) for p in member["owned"]] == [("clicks", 0), ("clicks", 1)]
    assert [tuple(p) for p in member["waiting_for"]] == [("clicks", 2)]
    assert [tuple(p) for p in member["letting_go"]] == [("clicks", 0)]
    assert not group["settled"]


def asks(api: str, at_ns: int, client: Client = observing.LEGACY) -> RequestArrived:
    said: dict[str, Any] = {
        "group_id": "orders",
        "member_id": "alice",
        "instance_id": None,
        "version": 1,
        "client": client,
    }
    return RequestArrived(number=1, at_ns=at_ns, api=api, **said)


def test_when_a_client_was_last_heard_is_no_change_to_tell() -> None:
    picture = drawn(changed(at_ns=5))
    assert [member.heard_ns for member in picture.everyone()] == [5]
    told = picture.version
    picture.observe(asks("Heartbeat", 9))
    picture.observe(changed(at_ns=10))
    assert [member.heard_ns for member in picture.everyone()] == [9]
    assert picture.version == told + 1
    picture.observe(asks("OffsetCommit", 12, Client(address="10.0.0.9:1", client_id="its producer")))
    assert [(member.heard_ns, member.client) for member in picture.everyone()] == [(12, observing.LEGACY)]


def test_how_long_ago_clients_were_heard_is_asked_by_group() -> None:
    picture = drawn(changed(at_ns=5 * 10**9), changed("carol", group="sums", at_ns=0), passes("bob"))
    heard = picture_pages(picture, lambda: 60 * 10**9)["/heard/*"]
    assert answered(heard("orders")) == (200, {"heard_seconds": {"alice": 55.0, "bob": None}})
    picture.observe(asks("Heartbeat", 59 * 10**9 + 750_000_000))
    assert answered(heard("orders"))[1]["heard_seconds"]["alice"] == 0.25
    # The clock was set back.
    picture.observe(asks("Heartbeat", 61 * 10**9))
    assert answered(heard("orders"))[1]["heard_seconds"]["alice"] == 0
    assert answered(heard("order")) == (404, {"error": "no group order was seen here", "groups": "/groups"})


def answered(page: Page | Feed) -> tuple[int, Any]:
    assert isinstance(page, Page)
    return page.status, json.loads(page.body)


def test_a_client_that_opens_another_connection_is_shown_there() -> None:
    picture = drawn(changed())
    moved = msgspec.structs.replace(observing.LEGACY, address="10.0.0.1:5001")
    told = picture.version
    picture.observe(asks("Heartbeat", 1, moved))
    assert [row["client"]["address"] for row in picture.since(told)["members"]] == ["10.0.0.1:5001"]


def test_the_timeline_says_who_held_a_partition_when() -> None:
    picture = drawn(
        changed("alice", owned=(0,), at_ns=10),
        changed("alice", owned=(), at_ns=20),
        changed("bob", owned=(0,), at_ns=25),
    )
    held = [(s.member_id, s.what, s.from_ns, s.until_ns) for s in picture.spans("orders") if s.kind == "holds"]
    assert held == [("alice", "clicks-0", 10, 20), ("bob", "clicks-0", 25, None)]


def test_since_when_counts_from_the_last_change_of_phase_or_standing() -> None:
    picture = drawn(changed(at_ns=10), changed(owned=(1,), at_ns=20))
    assert picture.members["orders", "alice"].since_ns == 10
    picture.observe(changed(phase=Phase.PREPARE_REBALANCE, at_ns=30))
    assert picture.members["orders", "alice"].since_ns == 30


def test_a_member_that_is_gone_leaves_its_spans_ended() -> None:
    picture = drawn(changed(owned=(0,), at_ns=10), changed(phase=Phase.ABSENT, at_ns=30))
    assert not picture.members
    assert {span.until_ns for span in picture.spans("orders")} == {30}


def test_a_reader_is_told_only_what_changed_since() -> None:
    picture = drawn(changed("alice"), changed("bob"))
    seen = picture.version
    picture.observe(changed("alice", phase=Phase.ABSENT))
    picture.observe(changed("carol"))
    news = picture.since(seen)
    assert [member["member_id"] for member in news["members"]] == ["carol"]
    assert [gone["member_id"] for gone in news["gone"]] == ["alice"]
    assert not news["whole"]


def test_a_reader_that_fell_far_behind_is_told_everything() -> None:
    picture = drawn(changed("stays"), changed("first"), changed("first", phase=Phase.ABSENT))
    seen = picture.version - 1
    for n in range(DEPARTURES):
        picture.observe(changed(f"m{n}"))
        picture.observe(changed(f"m{n}", phase=Phase.ABSENT))
    news = picture.since(seen)
    assert news["whole"]
    assert [member["member_id"] for member in news["members"]] == ["stays"]


def test_a_reader_from_before_a_restart_is_told_everything() -> None:
    assert drawn(changed()).since(99)["whole"]


def test_a_group_that_passes_says_why_and_once() -> None:
    picture = drawn(passes(), passes())
    assert picture.version == 1
    assert picture.groups()[0]["passes_because"] == ["a rule lets it pass"]


def test_who_passes_no_longer_is_gone_and_readers_are_told() -> None:
    picture = drawn(passes("bob"))
    seen = picture.version
    picture.observe(PassesNoMore(at_ns=1, group_id="orders", member_id="bob"))
    assert picture.groups() == []
    assert [gone["member_id"] for gone in picture.since(seen)["gone"]] == ["bob"]


def test_a_member_that_moves_over_passes_no_longer() -> None:
    line = drawn(passes("bob"), changed("bob")).groups()[0]
    assert (line["translated"], line["passing"]) == (1, 0)


def test_what_is_kept_is_bounded() -> None:
    picture = Picture()
    for n in range(ENDED_SPANS + 10):
        picture.observe(changed(owned=(n % 2,), at_ns=n))
        picture.observe(passes(f"p{n}"))
    assert len(picture.spans()) <= ENDED_SPANS + 2
    assert sum(1 for _ in picture.everyone()) == PASSING_MEMBERS + 1
