"""Transitions as the host would tell them, by hand: of one member at rest, and what is different."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from proxy.observations import Changed, Client
from translation.states import Phase, Standing
from translation.transition import Transition

LEGACY = Client(address="10.0.0.1:5000", client_id="c", software="librdkafka", software_version="1.9.2")
AT_REST = Transition(
    group_id="orders",
    member_id="alice",
    instance_id=None,
    client_id="c",
    at=0,
    cause="SyncGroup",
    phase_before=Phase.STABLE,
    phase=Phase.STABLE,
    standing_before=Standing.STABLE,
    standing=Standing.STABLE,
    epoch_before=7,
    epoch=7,
    generation_before=7,
    generation=7,
)


def changed(
    at_ns: int,
    *,
    names: Mapping[str, str | None] | None = None,
    client: Client = LEGACY,
    node: int | None = None,
    **said: Any,
) -> Changed:
    transition = msgspec.structs.replace(AT_REST, **said)
    return Changed(at_ns=at_ns, transition=transition, names=names or {}, client=client, node=node)
