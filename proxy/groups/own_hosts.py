"""Which hosts does the coordinator know this proxy by? It may have several addresses, and nobody tells it which.

They are learned from descriptions. A member that only this proxy can have is shown under a host of ours. One that another
proxy may still beat for too is shown under the host of whoever was last: so what counts there is a look right behind an
answered heartbeat of ours, twice, for the other's may just have come between.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from proxy.groups.line import Key
from proxy.groups.native import SeenGroup

if TYPE_CHECKING:
    from proxy.groups.host import Host

# As long as no host is known, there is a look behind a heartbeat now and then, always less often; for over a minute, and by
# then no other proxy beats for members of ours.
LOOK_MS, LOOKS = 100, 40
# If a heartbeat went out longer ago, or a description takes longer, another proxy's may be between.
FRESH_MS = 100
SIGHTINGS = 2


class Look(NamedTuple):
    """Who was loud when a description was asked for, and who had just been heard: what is asked on other lines may be
    answered before it, and yet have arrived behind it."""

    at: int
    loud: frozenset[str]
    fresh: frozenset[str] = frozenset()


class OwnHosts:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: set[str] = set()
        self._sightings = Counter[str]()
        self._looks = 0
        self._look_at = 0

    def is_elsewhere(self, host: str) -> bool:
        return bool(self._known) and host not in self._known

    def takes_a_look(self) -> bool:
        """A heartbeat has been answered: whether to ask for a description."""
        now = self._host.clock.now_ms
        if self._known or self._looks == LOOKS or now < self._look_at:
            return False
        self._looks += 1
        self._look_at = now + self._looks * LOOK_MS
        return True

    def look(self, group_id: str) -> Look:
        now, here = self._host.clock.now_ms, self._host.lines.of(group_id)
        loud = frozenset(name for name in here if self.is_loud((group_id, name)))
        if self._known:
            # Each sighting may err, so there should be few.
            return Look(now, loud)
        members = (self._host.members[group_id, name] for name in here)
        fresh = (each.member_id for each in members if each.in_flight is None and now - each.beaten_at <= FRESH_MS)
        return Look(now, loud, frozenset(fresh))

    def hear(self, seen: SeenGroup, looked: Look) -> None:
        now = self._host.clock.now_ms
        for each in seen.members:
            # One of them is enough, and there are mostly many.
            if each.client_host in self._known:
                continue
            key = (seen.group_id, each.member_id)
            is_loud = each.member_id in looked.loud and self.is_loud(key)
            if is_loud and not self._host.members[key].is_shared(now):
                self._known.add(each.client_host)
            elif each.member_id in looked.fresh and now - looked.at <= FRESH_MS:
                self._sighted(each.client_host)

    def _sighted(self, host: str) -> None:
        self._sightings[host] += 1
        if self._sightings[host] == SIGHTINGS:
            self._known.add(host)

    def is_loud(self, key: Key) -> bool:
        """Whether the coordinator must have heard this member through us last, if no other proxy has it. One that was adopted
        and has yet to be answered may still be shown under the host that it came from; and one whose client has hung up under
        the host to which that went."""
        member, line = self._host.members.get(key), self._host.lines.get(key)
        if member is None or line is None or line.client_left:
            return False
        return not member.must_say_all and not member.is_silent(self._host.clock.now_ms)
