"""How a native client comes to the instance id of a legacy one: the step of a static member from one protocol to the other.

A legacy client that stops says nothing, for static members do not leave. A broker lets a native one have the instance of a
classic member all the same, at once, and fences that (KAFKA-17228). Of a native member a coordinator wants that it steps out
first: UNRELEASED_INSTANCE_ID, which ends Java's client and librdkafka. And natives are what members here are upstream. So it
is stepped out in the legacy member's name, and asked again in that of the newcomer. Before the coordinator has refused the
newcomer for this and nothing else, nobody loses anything to it.

Where a native client has the instance, the coordinator's word stands: two processes must not drive one another out.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka_protocol.messages import keys
from proxy.groups.classic import Request
from proxy.groups.departures import Departure
from proxy.groups.line import Line
from proxy.groups.native import Ask, SeenGroup, SeenMember
from translation import errors as e
from translation import events as ev
from translation.group_heartbeat import STATIC_LEAVE_EPOCH, GroupHeartbeat
from translation.member import Member
from translation.states import Phase

if TYPE_CHECKING:
    from proxy.groups.host import Host

LastWordHeard = Callable[[Any], None]


class Succession:
    def __init__(self, host: Host) -> None:
        self._host = host

    def join(self, line: Line, request: Request, heard: LastWordHeard) -> None:
        """A native client's first heartbeat, with an instance id. `heard` is called once, with the coordinator's last word on
        it, or with None where there will be none."""
        ask = Ask(request.key, request.version, request.body)

        def judged(answer: Any) -> None:
            if answer is None or answer.error_code != e.UNRELEASED_INSTANCE_ID:
                heard(answer)
            else:
                line.know_versions(lambda: self._find(line, request, released))

        def released(holder: Member | SeenMember | None) -> None:
            # Whoever has it still is told of in the same words.
            if holder is not None:
                self._step_out(line, request, holder)
            line.ask(ask, heard)

        line.ask(ask, judged)

    def _find(self, line: Line, request: Request, found: Callable[[Member | SeenMember | None], None]) -> None:
        """The legacy member that has the instance: one of ours, else one that the group is said to have."""
        if not line.offers(keys.CONSUMER_GROUP_HEARTBEAT):
            # It has not said what it takes, so nobody can be stepped out on it.
            return found(None)
        group_id, instance_id = request.body.group_id, request.body.instance_id
        ours = self._host.members.get((group_id, self._host.instances.get((group_id, instance_id), "")))
        if ours is not None and ours.phase is not Phase.ABSENT:
            return found(ours)
        if not line.offers(keys.CONSUMER_GROUP_DESCRIBE):
            return found(None)
        recognition = self._host.requests.recognition
        return recognition.describe(group_id, line, lambda group: found(_legacy_holder(group, instance_id)))

    def _step_out(self, line: Line, request: Request, holder: Member | SeenMember) -> None:
        """What it has stays the instance's. Its client, if there still is one, is fenced: here, or by the coordinator."""
        group_id, instance_id, member_id = request.body.group_id, request.body.instance_id, holder.member_id
        self._host.log.info(
            "instance goes to a native member",
            group=group_id,
            instance=instance_id,
            member=member_id,
            client=line.client.client_id,
            address=line.client.address,
        )
        self._host.feed((group_id, member_id), ev.InstanceTaken())
        if isinstance(holder, SeenMember):
            cause = ev.InstanceTaken.__name__
            leave = Departure(group_id=group_id, seen=holder, cause=cause, epoch=STATIC_LEAVE_EPOCH)
            return self._host.departures.ask(line, leave, lambda _: None)
        steps_out = GroupHeartbeat(
            group_id=group_id, member_id=member_id, member_epoch=STATIC_LEAVE_EPOCH, instance_id=instance_id
        )
        return self._host.orders.ask_coordinator(line, steps_out, lambda _: None)


def _legacy_holder(group: SeenGroup | None, instance_id: str) -> SeenMember | None:
    members = group.members if group is not None else ()
    return next((each for each in members if each.instance_id == instance_id and is_legacy(each)), None)


def is_legacy(member: SeenMember) -> bool:
    """A proxy made its id, this one before a restart or another one: `<client id>-<UUID>`, as classic coordinators make them.
    Native clients draw theirs themselves, and have no more than a UUID."""
    begins = f"{member.client_id}-"
    try:
        return member.member_id.startswith(begins) and bool(uuid.UUID(member.member_id.removeprefix(begins)))
    except ValueError:
        return False
