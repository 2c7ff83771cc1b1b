"""What a span says: its attributes, from what was observed.

`kip848.*` is ours and is a contract with whoever reads traces (docs/traces.md): a transition's attributes are the fields
of `Transition`, by one rule. The others are OpenTelemetry's semantic conventions for messaging, and for errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

import msgspec

from proxy.observations import Changed, Client, HeartbeatAnswered, HeartbeatSent, RequestAnswered, RequestArrived
from translation import errors as e
from translation.heartbeat import TopicPartition
from translation.transition import Transition

PREFIX = "kip848."
Value = str | int | list[str]
Attributes = dict[str, Value]
Names = Mapping[str, str | None]

FIELDS = tuple(field.name for field in msgspec.structs.fields(Transition))
PARTITIONS = ("kept", "revoked", "gained", "owned", "assigned")
# What the classic protocol answers in the ordinary course of things.
ORDINARY = frozenset({e.NONE, e.MEMBER_ID_REQUIRED, e.REBALANCE_IN_PROGRESS})
LOST = "lost"
PLAIN = (str, int, list)


def transition_attributes(changed: Changed) -> Attributes:
    """The record, field by field: enums by value, partitions as `topic:number`, nothing for None and for no partitions."""
    said = {name: getattr(changed.transition, name) for name in FIELDS}
    beside = {"at_ns": changed.at_ns, "topic_ids": _topic_ids(changed), "node": changed.node}
    ours = _prefixed(said | beside | _client(changed.client), changed.names)
    return ours | messaging(changed.transition.group_id, changed.transition.client_id)


def rebalance_attributes(opened: Changed) -> Attributes:
    """Of a rebalance as it begins: who, and why."""
    it = opened.transition
    said = {
        name: getattr(it, name) for name in ("group_id", "member_id", "instance_id", "client_id", "cause", "reason")
    }
    before = {"epoch_before": it.epoch_before, "generation_before": it.generation_before, "node": opened.node}
    return _prefixed(said | before | _client(opened.client), opened.names) | messaging(it.group_id, it.client_id)


def outcome_attributes(opened: Changed, closed: Changed, outcome: str) -> Attributes:
    """Of a rebalance as it ends: what came of it, over all its transitions."""
    held, holds = {*opened.transition.kept, *opened.transition.revoked}, set(closed.transition.owned)
    said = {
        "outcome": outcome,
        "epoch": closed.transition.epoch,
        "generation": closed.transition.generation,
        "kept": tuple(sorted(held & holds)),
        "revoked": tuple(sorted(held - holds)),
        "gained": tuple(sorted(holds - held)),
        "owned": closed.transition.owned,
    }
    return _prefixed(said, {**opened.names, **closed.names})


def phase_attributes(changed: Changed) -> Attributes:
    it = changed.transition
    return _prefixed({"group_id": it.group_id, "member_id": it.member_id, "epoch": it.epoch, "cause": it.cause}, {})


def request_attributes(arrived: RequestArrived) -> Attributes:
    said: dict[str, object] = {
        "group_id": arrived.group_id,
        "member_id": arrived.member_id or None,
        "instance_id": arrived.instance_id,
        "client_id": arrived.client.client_id,
        "request": arrived.number,
        "api_version": arrived.version,
        "reason": arrived.reason,
        # Where the member was already in the middle of asking, the span begins later than this.
        "arrived_ns": arrived.at_ns,
    }
    ours = _prefixed(said | _client(arrived.client), {})
    return ours | messaging(arrived.group_id, arrived.client.client_id, arrived.api)


def answer_attributes(answered: RequestAnswered) -> Attributes:
    said: Attributes = {PREFIX + "error_code": answered.error_code}
    return said if answered.error_code in ORDINARY else said | {"error.type": error_name(answered.error_code)}


def heartbeat_attributes(sent: HeartbeatSent, names: Names) -> Attributes:
    beat = sent.heartbeat
    said = {
        "group_id": beat.group_id,
        "member_id": beat.member_id,
        "instance_id": beat.instance_id,
        "epoch_before": beat.member_epoch,
        "owned": beat.owned,
        "request": sent.request,
    }
    return _prefixed(said, names) | messaging(beat.group_id, "", "ConsumerGroupHeartbeat")


def heartbeat_answer_attributes(answered: HeartbeatAnswered, names: Names) -> Attributes:
    answer = answered.answer
    if answer is None:
        return {"error.type": LOST}
    if answer.error_code:
        reason = {PREFIX + "reason": answer.error_message} if answer.error_message else {}
        return {PREFIX + "error_code": answer.error_code, "error.type": error_name(answer.error_code), **reason}
    return _prefixed({"error_code": 0, "epoch": answer.member_epoch, "assigned": answer.assignment}, names)


def messaging(group_id: str, client_id: str, operation: str | None = None) -> Attributes:
    """https://opentelemetry.io/docs/specs/semconv/messaging/kafka/"""
    said: Attributes = {"messaging.system": "kafka", "messaging.consumer.group.name": group_id}
    if client_id:
        said["messaging.client.id"] = client_id
    if operation:
        said["messaging.operation.name"] = operation
    return said


def error_name(code: int) -> str:
    return e.NAMES.get(code, str(code))


def _prefixed(said: Mapping[str, object], names: Names) -> Attributes:
    flat = {PREFIX + name: _flat(value, names) for name, value in said.items() if value is not None}
    return {name: value for name, value in flat.items() if value != []}


def _flat(value: object, names: Names) -> Value:
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return [_partition(each, names) for each in value]
    raise TypeError(f"no attribute for {value!r}")


def _partition(partition: TopicPartition, names: Names) -> str:
    return f"{names.get(partition.topic_id) or partition.topic_id}:{partition.partition}"


def _topic_ids(changed: Changed) -> list[str]:
    """Of the topics that the record speaks of: names are for people, ids are what a topic is."""
    spoken_of = _topics(getattr(changed.transition, name) for name in PARTITIONS)
    return [f"{name}={topic}" for topic in sorted(spoken_of) if (name := changed.names.get(topic))]


def _topics(lists: Iterable[tuple[TopicPartition, ...]]) -> set[str]:
    return {partition.topic_id for partitions in lists for partition in partitions}


def _client(client: Client) -> dict[str, object]:
    return {
        "client_address": client.address or None,
        "client_software": client.software or None,
        "client_software_version": client.software_version or None,
    }
