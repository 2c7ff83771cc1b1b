"""LeaveGroup: one member, or (from version 3) many at once, by member id or by instance id.

Each leaver that is ours hears of it by itself, and once, however often it is named; the answers are collected into one. The
others are the coordinator's business: their part is sent on. A refusal of the whole is told as one, if it is of all who were
named: Java's admin client comes again for that, and takes what is said of single members for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from proxy.groups import classic, native
from proxy.groups.classic import Leaver, Request
from proxy.groups.departures import Departure
from proxy.groups.line import Key
from proxy.groups.native import SeenMember
from proxy.groups.succession import is_legacy
from translation import actions as do
from translation import errors as e
from translation import events as ev
from translation.group_heartbeat import unless_blank

if TYPE_CHECKING:
    from proxy.groups.host import Host
    from proxy.groups.requests import Requests

# Here is nobody who could be asked about, or not yet.
NOT_THERE = frozenset({e.COORDINATOR_LOAD_IN_PROGRESS, e.COORDINATOR_NOT_AVAILABLE, e.NOT_COORDINATOR})


class Batch(msgspec.Struct):
    """A LeaveGroup under way: what each hears, and how many have no word yet."""

    number: int
    codes: list[int]
    owed: int


class Leaves:
    def __init__(self, host: Host, requests: Requests) -> None:
        self._host = host
        self._requests = requests
        self._batches: dict[int, tuple[Batch, list[int]]] = {}
        self._serial = 0

    def taken(self, number: int, request: Request) -> None:
        leavers = classic.leavers(request)
        batch = Batch(number, [e.NONE] * len(leavers), len(leavers))
        strangers = []
        ours: dict[tuple[Key, bool], list[int]] = {}
        for index, leaver in enumerate(leavers):
            key = self._key(request.body.group_id, leaver)
            member = self._host.members.get(key)
            if member is not None:
                ours.setdefault((key, _may_be(leaver, member.instance_id)), []).append(index)
            else:
                strangers.append(index)
        for (key, _), indexes in ours.items():
            self._leave(batch, indexes, key, leavers[indexes[0]])
        if strangers:
            self._look_up(batch, request, strangers)
        elif not leavers:
            self._finish(batch)

    def keys(self, request: Request) -> list[Key]:
        """Of all who leave."""
        return [self._key(request.body.group_id, leaver) for leaver in classic.leavers(request)]

    def _key(self, group_id: str, leaver: Leaver) -> Key:
        """An admin tool removes a static member by its instance id alone."""
        by_instance = self._host.instances.get((group_id, leaver.group_instance_id or ""), "")
        return group_id, leaver.member_id or by_instance

    def _leave(self, batch: Batch, indexes: list[int], key: Key, leaver: Leaver) -> None:
        number = batch.number if len(batch.codes) == 1 else self._below_zero()
        self._batches[number] = (batch, indexes)
        reason = classic.reason(leaver) or None
        left = ev.LeaveRequested(request=number, instance_id=unless_blank(leaver.group_instance_id), reason=reason)
        # Where its coordinator answered last, if it did: whoever speaks in its name here may not be its client.
        is_led = key in self._host.lines and self._host.members[key].is_heard
        self._host.feed(key, left, None if is_led else self._requests.line_of(batch.number))

    def _below_zero(self) -> int:
        """One of many is no request by itself, and its number never that of one."""
        self._serial -= 1
        return self._serial

    def whole(self, number: int) -> int | None:
        """Of one of many who will have no word: the request of all, which will never be answered then."""
        batch, _ = self._batches.pop(number, (None, []))
        return batch.number if batch is not None else None

    def answered(self, order: do.AnswerLeave) -> None:
        batch, indexes = self._batches.pop(order.request)
        self._heard(batch, indexes, [order.error_code] * len(indexes))

    def _refused(self, batch: Batch, indexes: list[int], code: int) -> None:
        """All of these at once."""
        if len(indexes) == len(batch.codes):
            self._requests.refuse(batch.number, code)
        else:
            self._heard(batch, indexes, [code] * len(indexes))

    def _heard(self, batch: Batch, indexes: list[int], codes: list[int]) -> None:
        for index, code in zip(indexes, codes, strict=True):
            batch.codes[index] = code
        batch.owed -= len(indexes)
        if not batch.owed:
            self._finish(batch)

    def _finish(self, batch: Batch) -> None:
        answer = classic.leave_answer(self._requests.request_of(batch.number), batch.codes)
        self._requests.answer(batch.number, answer, next((code for code in batch.codes if code), e.NONE))

    # ------------------------------------------------------------------------------------------------------ strangers

    def _look_up(self, batch: Batch, request: Request, strangers: list[int]) -> None:
        """One that was ours before a restart leaves as a native member does."""
        line = self._requests.line_of(batch.number)
        ask = native.ask_description([request.body.group_id], line.versions)
        line.ask(ask, lambda answer: self._looked_up(batch, request, strangers, answer))

    def _looked_up(self, batch: Batch, request: Request, strangers: list[int], answer: Any) -> None:
        group = native.described(answer)
        if group is None or group.error_code in NOT_THERE:
            return self._refused(batch, strangers, e.NOT_COORDINATOR if group is None else group.error_code)
        natives = {each.member_id: each for each in group.members if not each.classic}
        leavers = classic.leavers(request)
        ours: dict[str, list[int]] = {}
        rest = []
        for index in strangers:
            leaver = leavers[index]
            if leaver.member_id in natives and _may_be(leaver, natives[leaver.member_id].instance_id):
                ours.setdefault(leaver.member_id, []).append(index)
            else:
                rest.append(index)
        for name, indexes in ours.items():
            self._send_leave(batch, indexes, request, natives[name])
        if rest:
            self._send_on(batch, request, rest)

    def _send_leave(self, batch: Batch, indexes: list[int], request: Request, member: SeenMember) -> None:
        """Of a native client's member, which an admin tool removes, nobody here has ever said anything."""
        group_id, line = request.body.group_id, self._requests.line_of(batch.number)

        def left(answer: Any) -> None:
            self._heard(batch, indexes, [_code(answer)] * len(indexes))

        if (group_id, member.member_id) in self._host.journal.entries or is_legacy(member):
            reason = classic.reason(classic.leavers(request)[indexes[0]]) or None
            number = batch.number if len(batch.codes) == 1 else self._below_zero()
            cause = ev.LeaveRequested.__name__
            leave = Departure(group_id=group_id, seen=member, cause=cause, request=number, reason=reason)
            self._host.departures.ask(line, leave, left)
        else:
            line.ask(native.ask_leave(group_id, member.member_id, member.instance_id), left)

    def _send_on(self, batch: Batch, request: Request, strangers: list[int]) -> None:
        leavers = classic.leavers(request)
        named = [(leavers[index].member_id, leavers[index].group_instance_id) for index in strangers]
        line = self._requests.line_of(batch.number)
        ask = native.ask_leave_of(request.body.group_id, named)
        line.ask(ask, lambda answer: self._sent_on(batch, strangers, answer))

    def _sent_on(self, batch: Batch, strangers: list[int], answer: Any) -> None:
        if code := _code(answer):
            self._refused(batch, strangers, code)
        else:
            self._heard(batch, strangers, _codes(answer, len(strangers)))


def _may_be(leaver: Leaver, instance_id: str | None) -> bool:
    """It does not claim an instance that it is not."""
    return unless_blank(leaver.group_instance_id) in (None, instance_id)


def _code(answer: Any) -> int:
    return e.NOT_COORDINATOR if answer is None else int(answer.error_code)


def _codes(answer: Any, count: int) -> list[int]:
    told = [member.error_code for member in answer.members]
    return told if len(told) == count else [e.UNKNOWN_MEMBER_ID] * count
