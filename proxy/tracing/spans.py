"""What a span says: its attributes, from what was observed.

`kip848.*` is ours and is a contract with whoever reads traces (docs/traces.md): a transition's attributes are the fields
of `Transition`, by one rule. The others are OpenTelemetry's semantic conventions for messaging, and for errors.
Values are such as the SDK would keep them: strings, numbers, tuples of strings; never None. Nobody checks them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache

import msgspec

from proxy.observations import Changed, Client, HeartbeatAnswered, HeartbeatSent, RequestAnswered, RequestArrived
from translation import errors as e
from translation.group_heartbeat import TopicPartition
from translation.transition import Transition

PREFIX = "kip848."
Key = tuple[str, str]
Value = str | int | tuple[str, ...]
Attributes = dict[str, Value]
Names = Mapping[str, str | None]

# What the classic protocol answers in the ordinary course of things.
ORDINARY = frozenset({e.NONE, e.MEMBER_ID_REQUIRED, e.REBALANCE_IN_PROGRESS})
LOST = "lost"
BEAT = "ConsumerGroupHeartbeat"
NO_NAMES: Names = {}
PLAIN = (str, int)


def whose(member: Key) -> Attributes:
    """What sampling goes by, before anything else is said."""
    return _ours({"group_id": member[0], "member_id": member[1]})


def transition_attributes(changed: Changed) -> Attributes:
    """The record, field by field: enums by value, partitions as `topic:number`, nothing for None and for no partitions."""
    it = changed.transition
    beside = {"at_ns": changed.at_ns, "node": changed.node}
    ours = _ours(msgspec.structs.asdict(it) | beside | _client(changed.client), changed.names)
    return ours | _topic_ids(it, changed.names) | messaging(it.group_id, it.client_id)


def rebalance_attributes(opened: Changed) -> Attributes:
    """Of a rebalance as it begins: who, and why."""
    it = opened.transition
    said = {
        name: getattr(it, name) for name in ("group_id", "member_id", "instance_id", "client_id", "cause", "reason")
    }
    before = {"epoch_before": it.epoch_before, "generation_before": it.generation_before, "node": opened.node}
    return _ours(said | before | _client(opened.client)) | messaging(it.group_id, it.client_id)


def outcome_attributes(opened: Changed, closed: Changed, outcome: str, quiet_heartbeats: int) -> Attributes:
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
        "quiet_heartbeats": quiet_heartbeats or None,
    }
    return _ours(said, {**opened.names, **closed.names})


def phase_attributes(changed: Changed) -> Attributes:
    it = changed.transition
    return _ours({"group_id": it.group_id, "member_id": it.member_id, "epoch": it.epoch, "cause": it.cause})


def change_attributes(changed: Changed) -> Attributes:
    """Of the link between members of one group change."""
    return _ours({"group_id": changed.transition.group_id, "epoch": changed.transition.epoch})


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
    committed = {_prefixed("partitions"): tuple(f"{topic}:{number}" for topic, number in arrived.committed)}
    ours = _ours(said | _client(arrived.client)) | (committed if arrived.committed else {})
    return ours | messaging(arrived.group_id, arrived.client.client_id, arrived.api)


def answer_attributes(answered: RequestAnswered | None) -> Attributes:
    """None: the rebalance was over before it was answered."""
    if answered is None:
        return _ours({"still_open": 1})
    if answered.is_passed_on:
        return _ours({"passed_on": 1})
    if not answered.is_heard:
        return _ours({"nobody_heard": 1})
    said = _ours({"error_code": answered.error_code})
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
    return _ours(said, names) | messaging(beat.group_id, "", BEAT)


def heartbeat_answer_attributes(answered: HeartbeatAnswered | None, names: Names) -> Attributes:
    answer = answered.answer if answered is not None else None
    if answer is None:
        return {"error.type": LOST}
    if answer.error_code:
        reason = {PREFIX + "reason": answer.error_message} if answer.error_message else {}
        return {PREFIX + "error_code": answer.error_code, "error.type": error_name(answer.error_code), **reason}
    return _ours({"error_code": 0, "epoch": answer.member_epoch, "assigned": answer.assignment}, names)


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


def _ours(said: Mapping[str, object], names: Names = NO_NAMES) -> Attributes:
    ours: Attributes = {}
    for name, value in said.items():  # the most frequent kind first
        if isinstance(value, PLAIN):
            ours[_prefixed(name)] = value
        elif isinstance(value, tuple):
            if value:
                ours[_prefixed(name)] = tuple([_partition(each, names) for each in value])
        elif isinstance(value, Enum):
            ours[_prefixed(name)] = str(value.value)
        elif value is not None:
            raise TypeError(f"no attribute for {value!r}")
    return ours


@cache
def _prefixed(name: str) -> str:
    """One string for all spans that wait."""
    return PREFIX + name


def _partition(partition: TopicPartition, names: Names) -> str:
    return f"{names.get(partition.topic_id) or partition.topic_id}:{partition.partition}"


def _topic_ids(it: Transition, names: Names) -> Attributes:
    """Of the topics that the record speaks of: names are for people, ids are what a topic is."""
    spoken_of = {each.topic_id for each in (*it.kept, *it.revoked, *it.gained, *it.owned, *it.assigned)}
    named = tuple(f"{name}={topic}" for topic in sorted(spoken_of) if (name := names.get(topic)))
    return {_prefixed("topic_ids"): named} if named else {}


def _client(client: Client) -> dict[str, object]:
    return {
        "client_address": client.address or None,
        "client_software": client.software or None,
        "client_software_version": client.software_version or None,
    }
