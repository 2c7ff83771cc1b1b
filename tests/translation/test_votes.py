"""The members here vote for one assignor, if they can."""

from __future__ import annotations

from tests.translation.facts import QUIET, changed, gone
from translation.events import (
    AssignorAgreed,
)
from translation.group import (
    GroupOrder,
    MemberChanged,
    Tell,
)
from translation.member import Contract
from translation.motion import group_step


def voter(member_id: str, *offers: str, vote: str | None = "") -> MemberChanged:
    return changed(member_id, contract=Contract(offers=offers, assignor=offers[0] if vote == "" else vote))


def refused_uniform(member_id: str, *offers: str, vote: str | None = "range") -> MemberChanged:
    return changed(member_id, contract=Contract(offers=offers, assignor=vote, refused=("uniform",)))


def asked_to_vote(orders: list[GroupOrder]) -> dict[str, str]:
    return {
        o.member_id: o.event.assignor for o in orders if isinstance(o, Tell) and isinstance(o.event, AssignorAgreed)
    }


def test_members_that_can_vote_with_all_others_are_asked_to_and_once() -> None:
    group, orders = group_step(QUIET, voter("a", "range", "uniform"), 0)
    assert (group.assignor, asked_to_vote(orders)) == ("range", {})
    group, orders = group_step(group, voter("b", "uniform"), 0)
    assert (group.assignor, asked_to_vote(orders)) == ("uniform", {"a": "uniform"})
    assert asked_to_vote(group_step(group, voter("b", "uniform"), 0)[1]) == {}


def test_who_has_no_vote_is_asked_nothing_and_keeps_nobody_from_agreeing() -> None:
    group, _ = group_step(QUIET, voter("a", "range", vote=None), 0)
    group, orders = group_step(group, voter("b", "uniform"), 0)
    assert (group.assignor, asked_to_vote(orders)) == ("uniform", {})


def test_when_the_last_who_needed_it_has_gone_the_others_vote_as_they_like() -> None:
    group, _ = group_step(QUIET, voter("a", "range"), 0)
    group, orders = group_step(group, voter("b", "uniform", "range"), 0)
    assert asked_to_vote(orders) == {"b": "range"}
    group, orders = group_step(group, gone("a"), 0)
    assert asked_to_vote(orders) == {"b": "uniform"}


def test_when_the_last_voter_has_gone_there_is_nothing_to_agree_on() -> None:
    group, _ = group_step(QUIET, voter("a", "range"), 0)
    group, orders = group_step(group, gone("a"), 0)
    assert (group.assignor, asked_to_vote(orders)) == (None, {})


def test_what_one_was_refused_nobody_is_asked_to_vote_for_and_all_vote_as_that_one() -> None:
    group, _ = group_step(QUIET, voter("a", "uniform"), 0)
    group, _ = group_step(group, voter("b", "uniform"), 0)
    group, orders = group_step(group, refused_uniform("a", "uniform"), 0)
    assert (group.assignor, asked_to_vote(orders)) == ("range", {"b": "range"})
    assert asked_to_vote(group_step(group, voter("b", "uniform", vote="range"), 0)[1]) == {}
