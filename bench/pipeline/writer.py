"""Transitions as the proxy exports them, from runs of the simulation: one OTLP-JSON request a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from translation.group_heartbeat import TopicPartition
from translation.transition import Transition

# In 2025: what lies ahead of the clock of whoever reads it is rejected.
BEGAN_NS = 1_735_729_600_000_000_000
PER_REQUEST = 100


def value(given: object) -> dict[str, Any]:
    if isinstance(given, Enum):
        return {"stringValue": given.value}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, tuple | list):
        return {"arrayValue": {"values": [value(each) for each in given]}}
    return {"stringValue": str(given)}


def attributes(given: Mapping[str, object]) -> list[dict[str, Any]]:
    return [{"key": name, "value": value(each)} for name, each in given.items() if each is not None]


def named(given: object, names: Mapping[str, str]) -> object:
    if isinstance(given, tuple) and all(isinstance(each, TopicPartition) for each in given):
        return [f"{names.get(each.topic_id, each.topic_id)}:{each.partition}" for each in given]
    return given


def transition_span(
    transition: Transition,
    names: Mapping[str, str],
    number: int,
    began_ns: int = BEGAN_NS,
    proxy: str = "proxy-1",
    identity: str = "",
    **more: object,
) -> dict[str, Any]:
    """`number` keeps the order of steps that the simulation takes within one millisecond."""
    at_ns = began_ns + transition.at * 1_000_000 + number % 1_000_000
    said = {field: named(getattr(transition, field), names) for field in transition.__struct_fields__}
    return span("transition", at_ns, at_ns, f"{proxy}/{identity}/{number}", {**said, "at_ns": at_ns, **more})


def span(name: str, start_ns: int, end_ns: int, identity: str, said: Mapping[str, object]) -> dict[str, Any]:
    digest = hashlib.blake2b(identity.encode(), digest_size=24).hexdigest()
    return {
        "traceId": digest[:32],
        "spanId": digest[32:],
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(end_ns),
        "attributes": attributes({f"kip848.{key}": each for key, each in said.items()}),
    }


def request(spans: list[dict[str, Any]], proxy: str = "proxy-1") -> str:
    resource = {
        "attributes": [
            {"key": "service.name", "value": {"stringValue": "kip848-proxy"}},
            {"key": "service.instance.id", "value": {"stringValue": proxy}},
        ]
    }
    scope = {"scope": {"name": "kip848-proxy"}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}, separators=(",", ":"))


def lines(spans: Iterable[dict[str, Any]], proxy: str = "proxy-1", per_request: int = PER_REQUEST) -> Iterator[str]:
    batch: list[dict[str, Any]] = []
    for each in spans:
        batch.append(each)
        if len(batch) == per_request:
            yield request(batch, proxy)
            batch = []
    if batch:
        yield request(batch, proxy)
