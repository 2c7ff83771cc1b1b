"""Whom we do not translate."""

from __future__ import annotations

import pytest

from tests.translation.playbook import joins, subscription
from translation.admission import WELL_KNOWN, why_not_translated
from translation.events import JoinRequested, Protocol
from translation.rules import Rules

BY_COLOUR = "an assignor of its own, with user data: 'by-colour'"


def offers(*offered: tuple[str, bytes | None]) -> JoinRequested:
    return joins(protocols=tuple(Protocol(name, subscription(user_data=user_data)) for name, user_data in offered))


@pytest.mark.parametrize(
    ("join", "why"),
    [
        (joins(), None),
        (joins(protocols=()), None),
        (joins(protocol_type="connect"), "protocol type 'connect'"),
        (joins(protocol_type="sr"), "protocol type 'sr'"),
        (offers(("range", None), ("stream", b"notes")), "a Kafka Streams assignor"),
        (offers(("faust", b"notes")), "a Faust assignor"),
        (offers(("by-colour", b"red")), BY_COLOUR),
        (offers(("by-colour", b"red"), ("range", None)), BY_COLOUR),
        # Who can live with what libraries bring, and prefers that, is translated as that.
        (offers(("range", None), ("by-colour", b"red")), None),
        (offers(("by-colour", None)), None),
        (offers(("by-colour", b"")), None),
        (offers(("sticky", b"what it had")), None),
        (offers(("rack-affinity", b"a")), None),
        (joins(protocols=(Protocol("by-colour", b""),)), None),
    ],
)
def test_who_may_need_what_an_assignor_wrote_is_not_translated(join: JoinRequested, why: str | None) -> None:
    assert why_not_translated(join, Rules()) == why


def test_an_assignor_whose_wishes_are_lost_is_not_among_those_of_whom_nothing_is_said() -> None:
    assert "rack-affinity" not in WELL_KNOWN


@pytest.mark.parametrize("assignor", ["uniform", ""])
def test_whoever_says_which_assignor_is_asked_for_knows_what_members_need(assignor: str) -> None:
    assert why_not_translated(offers(("by-colour", b"red")), Rules(assignor=assignor)) is None
    assert why_not_translated(offers(("faust", b"notes")), Rules(assignor=assignor)) == "a Faust assignor"
