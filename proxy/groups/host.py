"""The host of the members: the only caller of `step`, as translation/__init__ asks for it.

Events are fed one at a time: what comes up while one is being performed waits its turn, so no member is ever in the middle
of a step when it hears the next thing. A member is found by (group id, member id); the connection it speaks on is the one
its client was last heard on. What clients ask is in requests.py, what members order in orders.py.
"""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Sequence

import msgspec

from proxy import observations as seen
from proxy.causes import Cause
from proxy.counts import Counts
from proxy.groups.clock import Clock, Moment
from proxy.groups.departures import Departures
from proxy.groups.journal import Journal
from proxy.groups.line import Key, Line
from proxy.groups.lines import Lines
from proxy.groups.orders import Orders
from proxy.groups.orphans import Orphans
from proxy.groups.passing import GroupRules, Ruling
from proxy.groups.requests import Requests
from proxy.groups.together import Together
from proxy.logs import Log
from proxy.observations import Observer
from proxy.settings import GroupRule
from translation import actions as do
from translation import events as ev
from translation.member import Member
from translation.rules import Pacing
from translation.states import Phase, Standing
from translation.step import step
from translation.transition import Transition

# No coordinator keeps a member that long whose client is silent.
RETURN_MS = 3_600_000


class Host:
    def __init__(
        self, clock: Clock, rules: GroupRules, pacing: Pacing, journal: Journal, log: Log, counts: Counts
    ) -> None:
        self.clock = clock
        self.rules = rules
        self.journal = journal
        self.log = log
        self._counts = counts
        self.observers: list[Observer] = []
        self.members: dict[Key, Member] = {}
        self.lines = Lines()
        self.instances: dict[Key, str] = {}
        # Of members: what their clients last said that they are, name and version.
        self.software: dict[Key, tuple[str, str]] = {}
        self.together = Together(clock, pacing, self)
        self.requests = Requests(self)
        self.orders = Orders(self)
        self.departures = Departures(self)
        self._wakes: dict[Key, int] = {}
        self._events: deque[tuple[Key, ev.AnyEvent, Line | None]] = deque()
        self._busy = False
        self._orphans = Orphans(self)
        clock.at(clock.now_ms + RETURN_MS, self._forget_who_never_came)

    def observe(self, observation: seen.Observation) -> None:
        for observer in self.observers:
            observer(observation)

    def stop(self, leaving: bool) -> None:
        """The proxy goes: nobody is left waiting. Who is not heard here any more may be another proxy's by now, and does not
        leave; where it is nobody's, its session at the coordinator ends."""
        for key in list(self.members):
            self.feed(key, ev.ProxyStopping(leaving=leaving and self.together.own_hosts.is_loud(key)))

    def _forget_who_never_came(self) -> None:
        """Of those who were here before a restart."""
        for key in self.journal.entries.keys() - self.members.keys():
            self.journal.forget(key)

    def rule_anew(self, group_rules: Sequence[GroupRule]) -> dict[str, tuple[Ruling, Ruling]]:
        """Returns the groups here that are ruled otherwise from now on, with before and after. Whether a member is translated
        stays as it is until its client joins anew (requests.py); an assignor is looked up at each JoinGroup."""
        here = {group_id for group_id, _ in self.members} | self.requests.untranslated.groups
        before = {group_id: self.rules.of(group_id) for group_id in sorted(here)}
        self.rules.exchange(group_rules)
        for key, member in self.members.items():
            self.members[key] = msgspec.structs.replace(member, rules=self.rules.of(key[0]).rules)
        self.requests.refusals.ruled_anew()
        after = {group_id: self.rules.of(group_id) for group_id in before}
        return {group_id: (was, after[group_id]) for group_id, was in before.items() if was != after[group_id]}

    def translates(self, key: Key) -> bool:
        """Those, too, who were here before a restart and have yet to say a word."""
        return key in self.members or key in self.journal.entries

    # ----------------------------------------------------------------------------------------- one step of one member

    def feed(self, key: Key, event: ev.AnyEvent, line: Line | None = None) -> None:
        """Something a member should know. Who is not here any more need not. `line`: the member speaks there from now on."""
        self._events.append((key, event, line))
        if self._busy:
            return
        self._busy = True
        try:
            while self._events:
                self._one(*self._events.popleft())
        finally:
            self._busy = False

    def _one(self, key: Key, event: ev.AnyEvent, line: Line | None) -> None:
        # A commit may outlive its member, and is answered all the same.
        is_first_word = isinstance(event, ev.ClientEvent | ev.MemberAdopted | ev.CommitAnswered | ev.CommitLost)
        member = self.members.get(key) or (self.absent(key[0]) if is_first_word else None)
        if member is None:
            return
        own = key
        try:
            after, orders = step(member, event, self.clock.now_ms)
            own = (after.group_id, after.member_id)
            self._store(own, after, line)
            request = event.request if isinstance(event, ev.ClientEvent) else None
            for order in orders:
                self.orders.perform(own, order, request)
        except Exception:
            self._mistaken(own, event)

    def absent(self, group_id: str) -> Member:
        return Member(group_id=group_id, rules=self.rules.of(group_id).rules)

    def _mistaken(self, key: Key, event: ev.AnyEvent) -> None:
        """It ends the connections on which the member speaks or is waited for, if any, and no other."""
        self._counts.mistakes += 1
        self.log.error("our mistake", group=key[0], member=key[1], fed=repr(event), trace=traceback.format_exc())
        member = self.members.get(key)
        asked = {getattr(event, "request", None), *(member.waiting if member is not None else ())}
        asked |= {self.requests.leaves.whole(number) for number in asked if number is not None and number < 0}
        lines = {self.requests.drop(number) for number in asked} | {self.lines.get(key)}
        self._say_dropped(key)
        self.journal.forget(key)
        self.drop(key)
        for line in filter(None, lines):
            line.connection.close(Cause.OUR_MISTAKE, f"{type(event).__name__} to {key[1]} of {key[0]}")

    def _say_dropped(self, key: Key) -> None:
        """Whoever counts members must hear that this one is here no more."""
        member = self.members.get(key)
        if member is None:
            return
        over = _goes(member, self.clock.now_ms, "our mistake")
        self.together.changed(over, member)
        self._say(over, member, self.clock.now_ns)

    def say_found_and_gone(
        self,
        group_id: str,
        found: ev.MemberAdopted,
        cause: str,
        at: Moment,
        request: int | None = None,
        reason: str | None = None,
    ) -> None:
        """Of one that was here in an earlier life, and never came to be in this one (departures.py)."""
        member, orders = step(self.absent(group_id), found, at.ms)
        (came,) = (order.transition for order in orders if isinstance(order, do.RecordTransition))
        self._say(came, member, at.ns)
        # Not at the same moment: whoever puts a member's steps in order has but the time.
        self._say(_goes(member, at.ms, cause, request, reason), member, at.ns + 1)

    def _say(self, transition: Transition, member: Member, at_ns: int) -> None:
        client = seen.Client(address="", client_id=member.client_id)
        self.observe(seen.Changed(at_ns=at_ns, transition=transition, names=member.names, client=client))

    # ---------------------------------------------------------------------------------------- who is here, and on what

    def _store(self, key: Key, member: Member, line: Line | None) -> None:
        if member.phase is Phase.ABSENT and member.standing is Standing.ABSENT:
            self.drop(key)
            return
        is_new = key not in self.members
        self.members[key] = member
        if member.epoch > 0:
            # The coordinator knows it: when we do not any more, it is elsewhere, and may come back.
            self.requests.issued.take(key)
            self.requests.untranslated.translated(key)
        if line is not None:
            self._speaks_on(key, line, is_new)
        if member.instance_id is not None and member.phase is not Phase.ABSENT:
            self.instances[member.group_id, member.instance_id] = member.member_id
        self._sleep(key, member)

    def _speaks_on(self, key: Key, line: Line, is_new: bool) -> None:
        before = self.lines.get(key)
        if before is line or not line.open:
            return
        self.lines[key] = line
        self.software[key] = line.software
        line.members.add(key)
        if not is_new:
            line.returned.add(key)
        if before is not None:
            before.release(key)

    def line_into(self, group_id: str) -> Line | None:
        """Of any member here whose coordinator listens: all of them may read the group. If there is one on
        which nothing is waited for, one of those: a broker answers in order, and a Fetch may wait for half a second."""
        lines = self.lines.of(group_id)
        there = [line for name, line in lines.items() if line.open and self.members[group_id, name].is_heard]
        return next((line for line in there if line.is_free), next(iter(there), None))

    def line_out(self, key: Key) -> Line | None:
        """Where it is said that a member leaves. Its own connection may have ended with the broker that was its coordinator,
        or lead to one that is so no more, or does not listen to it; and its client, of which nothing is heard, opens no
        other."""
        line = self.lines.get(key)
        return line if line is not None and self.members[key].is_heard else self.line_into(key[0]) or line

    def drop(self, key: Key) -> None:
        member = self.members.pop(key, None)
        self._wakes.pop(key, None)
        self.software.pop(key, None)
        line = self.lines.pop(key)
        if line is not None:
            line.release(key)
        if member is not None and member.instance_id is not None:
            instance = (key[0], member.instance_id)
            if self.instances.get(instance) == key[1]:
                del self.instances[instance]

    def line_closed(self, line: Line) -> None:
        """A closed connection is no event for its members."""
        for key in list(line.members):
            if self.lines.get(key) is line:
                self.lines.pop(key)
        line.members.clear()

    # ----------------------------------------------------------------------------------------------------------- sleep

    def _sleep(self, key: Key, member: Member) -> None:
        wake_at = member.wake_at
        if wake_at is not None and self._wakes.get(key, wake_at + 1) > wake_at:
            self._wakes[key] = wake_at
            self.clock.at(wake_at, lambda: self._wake(key, wake_at))

    def _wake(self, key: Key, wake_at: int) -> None:
        if self._wakes.get(key) != wake_at:
            return
        del self._wakes[key]
        member = self.members.get(key)
        if member is None:
            return
        if member.wake_at is not None and member.wake_at > self.clock.now_ms:
            self._sleep(key, member)
        else:
            self.feed(key, ev.DeadlinePassed())


def _goes(member: Member, now_ms: int, cause: str, request: int | None = None, reason: str | None = None) -> Transition:
    """Its last step, which no event of its own has led to."""
    return Transition(
        group_id=member.group_id,
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        at=now_ms,
        cause=cause,
        phase_before=member.phase,
        phase=Phase.ABSENT,
        standing_before=member.standing,
        standing=Standing.ABSENT,
        epoch_before=member.epoch,
        epoch=member.epoch,
        generation_before=member.generation,
        generation=-1,
        revoked=tuple(sorted(member.owned)),
        request=request,
        reason=reason,
    )
