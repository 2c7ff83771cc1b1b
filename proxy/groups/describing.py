"""DescribeGroups and ListGroups as old tools want them, for proxied and native consumer groups alike.

A broker says of a consumer group that it is Dead and has no members when it is asked in the classic way. So the ones it
calls dead are asked for again with ConsumerGroupDescribe, and painted in the classic manner: state, assignor, members with
their subscription and assignment as a classic member would have sent and been sent them. Of which that is refused, the tool
hears the refusal: what may live is not called dead.
"""

from __future__ import annotations

from typing import Any

from kafka_protocol.messages import keys
from proxy.causes import Cause
from proxy.groups import classic, native
from proxy.groups.classic import Request
from proxy.groups.line import Line
from proxy.groups.native import Ask, SeenGroup
from translation import errors as e

# A consumer group's states in the words of a classic one.
CLASSIC_STATES = {"Assigning": "PreparingRebalance", "Reconciling": "CompletingRebalance"}
FIRST_LIST_WITH_STATES = 4
# Of which no more can be said than that it is Dead: it is no consumer group, or the broker knows none.
NO_SUCH = frozenset({e.GROUP_ID_NOT_FOUND, e.UNSUPPORTED_VERSION})
# Each takes some tenths of a millisecond, in which nobody else is heard.
PAINTED_AT_ONCE = 50


def taken(line: Line, request: Request) -> None:
    if request.key == keys.DESCRIBE_GROUPS:
        ask = Ask(request.key, request.version, request.body)
        line.know_versions(lambda: line.ask(ask, lambda answer: _described(line, request, answer)))
    elif request.version == FIRST_LIST_WITH_STATES:
        ask = Ask(request.key, request.version, _with_native_states(request.body))
        line.ask(ask, lambda answer: _listed(line, request, answer))
    else:
        # Before there were states there is nothing to translate, and who knows of types knows of their states.
        line.forward(request.frame)


def _described(line: Line, request: Request, answer: Any) -> None:
    if answer is None:
        line.connection.close(Cause.BROKER_LOST, f"no answer to {request.name}")
        return
    dead = list(dict.fromkeys(group.group_id for group in answer.groups if _is_dead(group)))
    if not dead or not line.offers(keys.CONSUMER_GROUP_DESCRIBE):
        line.answer(request.answered(answer))
        return
    _paint(line, request, answer, dead, {})


def _paint(line: Line, request: Request, answer: Any, dead: list[str], told: dict[str, Any]) -> None:
    """Some at a time: a tool may ask for all the groups of a cluster, and others want to be heard in between."""
    some, rest = dead[:PAINTED_AT_ONCE], dead[PAINTED_AT_ONCE:]

    def seen(said: Any) -> None:
        if said is None:
            told.update({group_id: classic.undescribed(group_id, e.NOT_COORDINATOR) for group_id in dead})
        else:
            groups = native.descriptions(said)
            told.update({group.group_id: _painted(group) for group in groups if group.error_code not in NO_SUCH})
        if rest and said is not None:
            _paint(line, request, answer, rest, told)
        else:
            answer.groups = [told.get(group.group_id, group) for group in answer.groups]
            line.answer(request.answered(answer))

    line.ask(native.ask_description(some, line.versions, request.body.include_authorized_operations), seen)


def _painted(group: SeenGroup) -> Any:
    """Of topics that one may not describe no classic group ever spoke."""
    if group.error_code == e.TOPIC_AUTHORIZATION_FAILED:
        return classic.undescribed(group.group_id, e.GROUP_AUTHORIZATION_FAILED)
    if group.error_code != e.NONE:
        return classic.undescribed(group.group_id, group.error_code)
    return classic.painted(group, CLASSIC_STATES)


def _listed(line: Line, request: Request, answer: Any) -> None:
    if answer is None:
        line.connection.close(Cause.BROKER_LOST, f"no answer to {request.name}")
        return
    for group in answer.groups:
        group.group_state = CLASSIC_STATES.get(group.group_state, group.group_state)
    line.answer(request.answered(answer))


def _is_dead(group: Any) -> bool:
    """Up to version 5 the broker says Dead without an error, from 6 on that there is no such (classic) group."""
    is_unknown = group.error_code == e.GROUP_ID_NOT_FOUND
    return bool(is_unknown or (group.error_code == e.NONE and group.group_state == "Dead"))


def _with_native_states(body: Any) -> Any:
    """Who filters by a classic state means the native one too. Brokers read it in any case, and without its blanks."""
    wanted = {state.strip().lower() for state in body.states_filter}
    native_states = [state for state, name in CLASSIC_STATES.items() if name.lower() in wanted]
    body.states_filter = [*body.states_filter, *native_states]
    return body
