"""Requests no coordinator looks at: what ConsumerGroupHeartbeat may and must say (Kafka: GroupCoordinatorService)."""

from __future__ import annotations

import re

from simulation.assignors import ASSIGNORS
from simulation.errors import Error, Refused
from translation.group_heartbeat import JOIN_EPOCH, STATIC_LEAVE_EPOCH, GroupHeartbeat


def check_request(request: GroupHeartbeat) -> None:
    if any("" in (text,) for text in (request.group_id, request.member_id, request.instance_id, request.rack_id)):
        raise Refused(Error.INVALID_REQUEST, "an empty id")
    if request.member_epoch == JOIN_EPOCH:
        _check_join(request)
    elif request.member_epoch == STATIC_LEAVE_EPOCH and request.instance_id is None:
        raise Refused(Error.INVALID_REQUEST, "epoch -2 is for static members")
    elif request.member_epoch < STATIC_LEAVE_EPOCH:
        raise Refused(Error.INVALID_REQUEST, f"epoch {request.member_epoch}")
    if request.server_assignor is not None and request.server_assignor not in ASSIGNORS:
        raise Refused(Error.UNSUPPORTED_ASSIGNOR, request.server_assignor)
    _check_expression(request.subscribed_topic_regex)


def _check_expression(expression: str | None) -> None:
    """A broker does so last of all, for only then it knows whether the group has it already."""
    try:
        re.compile(expression or "")
    except re.error as error:
        raise Refused(Error.INVALID_REGULAR_EXPRESSION, f"{expression}: {error}") from error


def _check_join(request: GroupHeartbeat) -> None:
    if request.rebalance_timeout_ms == -1:
        raise Refused(Error.INVALID_REQUEST, "a join says its rebalance timeout")
    if request.owned is None or request.owned:
        raise Refused(Error.INVALID_REQUEST, "a join owns nothing, and says so")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise Refused(Error.INVALID_REQUEST, "a join says what it subscribes to")
