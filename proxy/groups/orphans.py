"""Who has not come back after a restart of this proxy.

A broker that becomes coordinator gives each member one session to speak. So does a proxy that has its journal: a member whose
client is silent for longer leaves, as it would if the proxy had been there all the time. Its coordinator alone would wait for
45 seconds, and longer where it was told to.

Some clients forget who they were when a connection ends, and come back as newcomers at once. What their old members have is
what they wait for: so where a newcomer of the same client id has come, an old member has as long to speak as it may take a
client to dial again.

The client may be at another proxy by now, and speak for its member there. Then the coordinator shows that member with that
host, or it follows its group within a heartbeat or so. Whoever leaves here does neither.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from proxy.groups import native
from proxy.groups.departures import NOT_BACK, Departure
from proxy.groups.line import Key, Line
from proxy.groups.native import SeenGroup, SeenMember
from translation import errors as e
from translation.group_heartbeat import GroupHeartbeatAnswer

if TYPE_CHECKING:
    from proxy.groups.host import Host

LOOK_MS = 3_000
# Who is spoken for beats every five seconds, and has the epoch of its group soon after that moves on.
LAG_MS = 6_000
# So soon after its own beat, where its coordinator wishes for one less often.
SOON_MS = 1_000
# librdkafka dials again after ten seconds at the latest, others sooner; and clients beat three times in a session.
DIAL_MS = 12_000
BEATS_IN_A_SESSION = 3
# By then coordinators have given up whoever is silent, unless they were told to be very patient.
LONGEST_MS = 600_000


class Lag(NamedTuple):
    """At which epoch a member was seen to be behind its group, and since when."""

    epoch: int
    since: int


class Orphans:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._began_at = host.clock.now_ms
        # Those that have yet to speak.
        self._silent = dict(host.journal.entries)
        self._lags: dict[Key, Lag] = {}
        # By group and client id: newcomers, as of the last look, and how many have had an old member leave for them.
        self._newcomers: Counter[Key] = Counter()
        self._replaced: Counter[Key] = Counter()
        self._leaving: set[Key] = set()
        self._before = frozenset(self._silent)
        self._look_later()

    def _look_later(self) -> None:
        now_ms = self._host.clock.now_ms
        if self._silent and now_ms - self._began_at < LONGEST_MS:
            self._host.clock.at(now_ms + LOOK_MS, self._look)

    def _look(self) -> None:
        """On the connection of any member of the group: what is not asked about now is asked about the next time."""
        self._silent = {key: entry for key, entry in self._silent.items() if self._is_silent(key)}
        new = (key for key in self._host.members if key not in self._before)
        self._newcomers = Counter((key[0], self._host.members[key].client_id) for key in new)
        for group_id in {group_id for group_id, _ in self._silent}:
            line = self._host.line_into(group_id)
            if line is not None:
                line.ask(native.ask_description([group_id], line.versions), partial(self._seen, line))
        self._look_later()

    def _is_silent(self, key: Key) -> bool:
        return key in self._host.journal.entries and key not in self._host.members

    def _seen(self, line: Line, answer: Any) -> None:
        group = native.described(answer)
        if group is None or group.error_code != e.NONE:
            return
        here = {each.client_host for each in group.members if (group.group_id, each.member_id) in self._host.members}
        for key in [key for key in self._silent if key[0] == group.group_id and here]:
            member = group.member(key[1])
            if member is None:
                self._host.departures.given_up(self._silent.pop(key))
                self._host.log.info("member is gone, whose client has not come back", group=key[0], member=key[1])
            elif member.client_host not in here:
                del self._silent[key]
            elif self._is_silent(key) and key not in self._leaving:
                self._judge(line, key, group, member)

    def _judge(self, line: Line, key: Key, group: SeenGroup, member: SeenMember) -> None:
        now_ms = self._host.clock.now_ms
        if member.epoch >= group.epoch:
            self._lags.pop(key, None)
            return
        if key not in self._lags or self._lags[key].epoch != member.epoch:
            self._lags[key] = Lag(member.epoch, now_ms)
        lags_ms = now_ms - self._lags[key].since
        may_lag_ms = max(LAG_MS, self._host.together.heartbeat_ms(key[0]) + SOON_MS)
        if lags_ms >= may_lag_ms and now_ms - self._began_at >= self._may_be_silent_ms(key, member.client_id):
            self._leaving.add(key)
            self._replaced[key[0], member.client_id] += 1
            leave = Departure(group_id=key[0], seen=member, cause=NOT_BACK)
            self._host.departures.ask(line, leave, partial(self._left, key, member.client_id))

    def _may_be_silent_ms(self, key: Key, client_id: str) -> int:
        session_ms = self._silent[key].session_timeout_ms
        if self._silent[key].instance_id is not None or not self._has_newcomer(key[0], client_id):
            return session_ms
        return min(session_ms, max(DIAL_MS, session_ms // BEATS_IN_A_SESSION))

    def _has_newcomer(self, group_id: str, client_id: str) -> bool:
        """One that no other old member has left for."""
        return self._newcomers[group_id, client_id] > self._replaced[group_id, client_id]

    def _left(self, key: Key, client_id: str, answer: GroupHeartbeatAnswer | None) -> None:
        self._leaving.discard(key)
        if answer is None or answer.error_code != e.NONE:
            self._replaced[key[0], client_id] -= 1
            return
        seconds = (self._host.clock.now_ms - self._began_at) // 1000
        self._host.log.info(
            "member leaves, whose client has not come back",
            group=key[0],
            member=key[1],
            client=client_id,
            seconds=seconds,
        )
