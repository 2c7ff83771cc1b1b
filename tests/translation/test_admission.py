"""Whom we do not translate."""

from __future__ import annotations

import pytest

from tests.translation.playbook import joins
from translation.admission import why_not_translated
from translation.events import (
    Protocol,
)


@pytest.mark.parametrize(
    ("join", "why"),
    [
        (joins(), None),
        (joins(protocol_type="connect"), "protocol type 'connect'"),
        (joins(protocol_type="sr"), "protocol type 'sr'"),
        (joins(protocols=(Protocol("range", b""), Protocol("stream", b""))), "a Kafka Streams assignor"),
    ],
)
def test_what_is_not_a_plain_consumer_group_is_not_translated(join: object, why: str | None) -> None:
    assert why_not_translated(join) == why  # type: ignore[arg-type]
