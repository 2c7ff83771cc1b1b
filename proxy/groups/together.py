"""What the members of one group know together, hosted as translation/group says: facts in, orders performed, one timer.

Native members that pass through are part of it: their heartbeats are read as they pass, and the interval in the answer is
lowered, so that they come when there is something to take. In the grace after a leave those that say nothing are answered
here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafka_protocol.messages import keys
from proxy.answers import Bytes
from proxy.groups import classic, native
from proxy.groups.classic import Request
from proxy.groups.clock import Clock
from proxy.groups.line import MOST_ADMITTED, Key, Line
from proxy.groups.native import SeenGroup
from proxy.groups.own_hosts import Look, OwnHosts
from proxy.groups.recognising import UNTOLD
from proxy.groups.succession import Succession
from translation import errors as e
from translation import events as ev
from translation import group as gr
from translation.group_heartbeat import JOIN_EPOCH
from translation.member import Member
from translation.motion import FADED_MS, group_step, is_deserted
from translation.rules import Pacing
from translation.transition import Transition

if TYPE_CHECKING:
    from proxy.groups.host import Host


# So many members of a group are told something before everybody else has a turn.
MOST_AT_ONCE = 16


class Together:
    def __init__(self, clock: Clock, pacing: Pacing, host: Host) -> None:
        self._clock = clock
        self._pacing = pacing
        self._host = host
        self._succession = Succession(host)
        self._groups: dict[str, gr.Group] = {}
        self._wakes: dict[str, int] = {}
        # Orders of groups that have many.
        self._undone: dict[str, deque[gr.GroupOrder]] = {}
        # Groups in which native members pass. Now and then it is looked whether they still do.
        self._passed: set[str] = set()
        self.own_hosts = OwnHosts(host)

    def changed(self, transition: Transition, member: Member) -> None:
        fact = gr.MemberChanged(transition=transition, contract=member.contract, interval_ms=member.interval_ms)
        self._tell(transition.group_id, fact)

    def answered(self, key: Key) -> None:
        """A member's heartbeat."""
        if key[0] in self._groups and self.own_hosts.takes_a_look():
            self._describe(*key)

    def assignor(self, group_id: str) -> str | None:
        """What the members here have agreed on."""
        group = self._groups.get(group_id)
        return group.assignor if group else None

    def here(self, group_id: str) -> Sequence[str]:
        """Its members behind this proxy."""
        group = self._groups.get(group_id)
        return group.locals if group else ()

    def heartbeat_ms(self, group_id: str) -> int:
        """How often its members are to beat."""
        group = self._groups.get(group_id)
        return group.heartbeat_ms if group else self._pacing.heartbeat_ms

    def wants_description(self, key: Key) -> None:
        self._tell(key[0], gr.DescriptionWanted(member_id=key[1]))

    # ------------------------------------------------------------------------------------------------ native members

    def native_taken(self, line: Line, request: Request) -> None:
        body = request.body
        if body.group_id in line.natives and native.says_nothing(body) and self._puts_off(line, request):
            return
        if body.member_epoch == JOIN_EPOCH and body.instance_id is not None:
            self._succession.join(line, request, lambda answer: self._joined(line, request, answer))
        else:
            self._forward(line, request)

    def _joined(self, line: Line, request: Request, answer: Any) -> None:
        frame = classic.refusal(request, e.NOT_COORDINATOR) if answer is None else request.answered(answer)
        line.answer(self._paced(line, request, frame))

    def _puts_off(self, line: Line, request: Request) -> bool:
        """Answered at once: who is kept waiting may hang up."""
        body, now = request.body, self._clock.now_ms
        group = self._groups.get(body.group_id)
        due_at = now if group is None else gr.native_due_at(group, body.member_id, body.member_epoch, now)
        if group is None or due_at <= now:
            return False
        self._tell(body.group_id, gr.NativePutOff(member_id=body.member_id))
        line.answer(request.answered(native.put_off(body, gr.native_put_off_ms(group, due_at, now))))
        return True

    def _forward(self, line: Line, request: Request) -> None:
        sent_ms = self._clock.now_ms

        def hear(frame: Bytes | None) -> bytes | None:
            return None if frame is None else self._paced(line, request, bytes(frame), self._clock.now_ms - sent_ms)

        line.forward(request.frame, hear)

    def _paced(self, line: Line, request: Request, frame: bytes, answered_after_ms: int = 0) -> bytes:
        passed = native.passed(request.version, frame)
        body, answer = request.body, passed.answer
        if answer.error_code != e.NONE:
            return frame
        # The first heartbeat of older clients bears no name yet.
        member_id = answer.member_id or body.member_id
        # Not before: whoever may not read the group could say so of another's member.
        self._host.requests.untranslated.passes((body.group_id, member_id))
        _has_natives(line, body.group_id, body.member_epoch >= JOIN_EPOCH)
        beat = gr.NativeBeat(
            member_id=member_id,
            epoch_sent=body.member_epoch,
            epoch_answered=answer.member_epoch,
            answered_after_ms=answered_after_ms,
            interval_ms=answer.heartbeat_interval_ms,
        )
        self._tell(body.group_id, beat)
        self._look_again(body.group_id)
        group = self._groups.get(body.group_id)
        if group is None:
            return frame
        interval_ms = gr.native_interval_ms(group, answer.heartbeat_interval_ms, self._clock.now_ms)
        return frame if interval_ms == answer.heartbeat_interval_ms else passed.paced(interval_ms)

    def _look_again(self, group_id: str) -> None:
        if group_id not in self._passed:
            self._passed.add(group_id)
            self._clock.at(self._clock.now_ms + FADED_MS, lambda: self._looked_again(group_id))

    def _looked_again(self, group_id: str) -> None:
        """A group with nobody of ours, whose native members have all ended without a word, is heard of no more."""
        self._passed.discard(group_id)
        group = self._groups.get(group_id)
        if group is None:
            return
        if is_deserted(group, self._clock.now_ms):
            del self._groups[group_id]
        else:
            self._look_again(group_id)

    # ---------------------------------------------------------------------------------------------------------- facts

    def _tell(self, group_id: str, fact: gr.AnyGroupFact) -> None:
        group = self._groups.get(group_id) or gr.Group(group_id=group_id, pacing=self._pacing)
        self._groups[group_id], orders = group_step(group, fact, self._clock.now_ms)
        self._sleep(group_id)
        if is_deserted(self._groups[group_id], self._clock.now_ms) and group_id not in self._wakes:
            # Nobody is left, and nothing is to be done for them: group ids are many.
            del self._groups[group_id]
        self._perform(group_id, orders)

    def _perform(self, group_id: str, orders: Sequence[gr.GroupOrder]) -> None:
        """One description may answer hundreds of clients. Some are told at once; then everybody else has a turn now and then,
        and what is ordered meanwhile is done behind: so none is asked for before all have heard of the last."""
        later = orders if group_id in self._undone else orders[MOST_AT_ONCE:]
        if later:
            self._undone.setdefault(group_id, deque()).extend(later)
        for _ in range(0, len(later), MOST_AT_ONCE):
            self._clock.at(self._clock.now_ms, lambda: self._go_on(group_id))
        for order in orders[: len(orders) - len(later)]:
            self._do(group_id, order)

    def _go_on(self, group_id: str) -> None:
        undone = self._undone.get(group_id, deque())
        for _ in range(min(len(undone), MOST_AT_ONCE)):
            self._do(group_id, undone.popleft())
        if not undone:
            self._undone.pop(group_id, None)

    def _do(self, group_id: str, order: gr.GroupOrder) -> None:
        match order:
            case gr.Tell():
                self._host.feed((group_id, order.member_id), order.event)
            case gr.Describe():
                self._describe(group_id)

    def _sleep(self, group_id: str) -> None:
        wake_at = self._groups[group_id].wake_at
        if wake_at is not None and self._wakes.get(group_id, wake_at + 1) > wake_at:
            self._wakes[group_id] = wake_at
            self._clock.at(wake_at, lambda: self._wake(group_id, wake_at))

    def _wake(self, group_id: str, wake_at: int) -> None:
        if self._wakes.get(group_id) == wake_at:
            del self._wakes[group_id]
            self._tell(group_id, gr.TimePassed())

    # --------------------------------------------------------------------------------------------------- descriptions

    def _describe(self, group_id: str, beaten: str | None = None) -> None:
        line = self._host.line_into(group_id)
        if line is None or not line.offers(keys.CONSUMER_GROUP_DESCRIBE):
            self._tell(group_id, gr.DescriptionFailed(for_good=line is not None))
            return
        looked = self.own_hosts.look(group_id, beaten)
        ask = native.ask_description([group_id], line.versions)
        line.ask(ask, lambda answer: self._described(group_id, looked, answer))

    def _described(self, group_id: str, looked: Look, answer: Any) -> None:
        if group_id not in self._groups:
            # Those who wanted to know have gone.
            return
        seen = native.described(answer)
        if seen is None or seen.error_code != e.NONE:
            # Not allowed will not change by asking; the rest may.
            for_good = seen is not None and seen.error_code in UNTOLD
            self._tell(group_id, gr.DescriptionFailed(for_good=for_good))
            return
        self.own_hosts.hear(seen, looked)
        self._find_lost(seen)
        local = self._host.members
        members = tuple(
            gr.described_member(
                each.member_id, each.epoch, each.assigned, each.target, local.get((group_id, each.member_id))
            )
            for each in seen.members
        )
        fact = gr.Described(
            group_epoch=seen.epoch,
            assignment_epoch=seen.assignment_epoch,
            members=members,
            topics=sum(len(each.topics) for each in seen.members),
        )
        self._tell(group_id, fact)

    def _find_lost(self, seen: SeenGroup) -> None:
        """Who was silent here and has been heard from another host since is another proxy's member."""
        for each in seen.members:
            member = self._host.members.get((seen.group_id, each.member_id))
            if member is None or member.farewell_at is None:
                continue
            if self.own_hosts.is_elsewhere(each.client_host):
                self._host.feed((seen.group_id, each.member_id), ev.SeenElsewhere())


def _has_natives(line: Line, group_id: str, has_some: bool) -> None:
    """Of groups that are forgotten nobody is put off, until the next heartbeat."""
    line.natives.discard(group_id)
    if has_some:
        if len(line.natives) >= MOST_ADMITTED:
            line.natives.clear()
        line.natives.add(group_id)
