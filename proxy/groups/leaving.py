"""LeaveGroup: one member, or (from version 3) many at once, by member id or by instance id.

Each leaver that is ours hears of it by itself; the answers are collected into one. The others are the coordinator's
business: their part is sent on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from proxy.groups import classic, native
from proxy.groups.classic import Leaver, Request
from proxy.groups.line import Key
from translation import actions as do
from translation import errors as e
from translation import events as ev

if TYPE_CHECKING:
    from proxy.groups.host import Host
    from proxy.groups.requests import Requests


class Batch(msgspec.Struct):
    """A LeaveGroup under way; None: no word on this one yet."""

    number: int
    codes: list[int | None]


class Leaves:
    def __init__(self, host: Host, requests: Requests) -> None:
        self._host = host
        self._requests = requests
        self._batches: dict[int, tuple[Batch, int]] = {}
        self._serial = 0

    def taken(self, number: int, request: Request) -> None:
        leavers = classic.leavers(request)
        batch = Batch(number, [None] * len(leavers))
        strangers = []
        for index, leaver in enumerate(leavers):
            key = self._key(request.body.group_id, leaver)
            if key in self._host.members:
                self._leave(batch, index, key, leaver)
            else:
                strangers.append(index)
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

    def _leave(self, batch: Batch, index: int, key: Key, leaver: Leaver) -> None:
        number = batch.number if len(batch.codes) == 1 else self._below_zero()
        self._batches[number] = (batch, index)
        reason = leaver.reason or None
        left = ev.LeaveRequested(request=number, instance_id=leaver.group_instance_id, reason=reason)
        # Where its coordinator answered last, if it did: whoever speaks in its name here may not be its client.
        is_led = key in self._host.lines and not self._host.members[key].cut
        self._host.feed(key, left, None if is_led else self._requests.line_of(batch.number))

    def _below_zero(self) -> int:
        """One of many is no request by itself, and its number never that of one."""
        self._serial -= 1
        return self._serial

    def answered(self, order: do.AnswerLeave) -> None:
        batch, index = self._batches.pop(order.request)
        batch.codes[index] = order.error_code
        self._finish(batch)

    def _finish(self, batch: Batch) -> None:
        codes = [code for code in batch.codes if code is not None]
        if len(codes) == len(batch.codes):
            first_error = next((code for code in codes if code), e.NONE)
            self._requests.answer(
                batch.number, classic.leave_answer(self._requests.request_of(batch.number), codes), first_error
            )

    # ------------------------------------------------------------------------------------------------------ strangers

    def _look_up(self, batch: Batch, request: Request, strangers: list[int]) -> None:
        """One that was ours before a restart leaves as a native member does."""
        line = self._requests.line_of(batch.number)
        ask = native.ask_description([request.body.group_id], line.versions)
        line.ask(ask, lambda answer: self._looked_up(batch, request, strangers, answer))

    def _looked_up(self, batch: Batch, request: Request, strangers: list[int], answer: Any) -> None:
        groups = native.descriptions(answer) if answer is not None else []
        natives = {member.member_id for group in groups for member in group.members if not member.classic}
        leavers = classic.leavers(request)
        ours = [index for index in strangers if leavers[index].member_id in natives]
        for index in ours:
            self._send_leave(batch, index, request, leavers[index])
        if rest := [index for index in strangers if index not in ours]:
            self._send_on(batch, request, rest)

    def _send_leave(self, batch: Batch, index: int, request: Request, leaver: Leaver) -> None:
        group_id = request.body.group_id
        self._host.journal.forget((group_id, leaver.member_id))
        ask = native.ask_leave(group_id, leaver.member_id, leaver.group_instance_id)
        line = self._requests.line_of(batch.number)
        line.ask(ask, lambda answer: self._heard(batch, [index], [_code(answer)]))

    def _send_on(self, batch: Batch, request: Request, strangers: list[int]) -> None:
        leavers = classic.leavers(request)
        named = [(leavers[index].member_id, leavers[index].group_instance_id) for index in strangers]
        line = self._requests.line_of(batch.number)
        ask = native.ask_leave_of(request.body.group_id, named)
        line.ask(ask, lambda answer: self._heard(batch, strangers, _codes(answer, len(strangers))))

    def _heard(self, batch: Batch, indexes: list[int], codes: list[int]) -> None:
        for index, code in zip(indexes, codes, strict=True):
            batch.codes[index] = code
        self._finish(batch)


def _code(answer: Any) -> int:
    return e.NOT_COORDINATOR if answer is None else int(answer.error_code)


def _codes(answer: Any, count: int) -> list[int]:
    """A refusal of the whole is one of each."""
    if answer is None or answer.error_code or len(answer.members) != count:
        return [_code(answer) or e.UNKNOWN_MEMBER_ID] * count
    return [member.error_code for member in answer.members]
