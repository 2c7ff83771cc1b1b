"""Which hosts does the coordinator know this proxy by? It may have several addresses, and nobody tells it which.

They are learned from descriptions. A member that only this proxy can have is shown under a host of ours. One that another
proxy may still beat for too is shown under the host of whoever was last: so what counts there is a look right behind an
answered heartbeat of ours. The other's may just have come between, and while their group moves both beat ten times a second:
so a host is ours when it was shown so often more than another.
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
# A description that takes longer tells too little.
FRESH_MS = 100
LEAD = 3


class Look(NamedTuple):
    """Who was loud when a description was asked for, for what is asked on other lines may be answered before it, and yet have
    arrived behind it; and for whose sake it was asked, whose heartbeat had just been answered."""

    at: int
    loud: frozenset[str]
    beaten: str | None


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

    def look(self, group_id: str, beaten: str | None) -> Look:
        loud = (name for name in self._host.lines.of(group_id) if self.is_loud((group_id, name)))
        return Look(self._host.clock.now_ms, frozenset(loud), beaten)

    def hear(self, seen: SeenGroup, looked: Look) -> None:
        now = self._host.clock.now_ms
        for each in seen.members:
            # One of them is enough, and there are mostly many.
            if each.client_host in self._known:
                continue
            key = (seen.group_id, each.member_id)
            if each.member_id in looked.loud and self.is_loud(key) and self._is_only_here(key):
                self._known.add(each.client_host)
            elif each.member_id == looked.beaten and now - looked.at <= FRESH_MS:
                self._sighted(each.client_host)

    def _is_only_here(self, key: Key) -> bool:
        """A client that has come by another connection may have been at another proxy for some seconds, unmissed."""
        member, line = self._host.members[key], self._host.lines[key]
        return key not in line.returned and not member.is_shared(self._host.clock.now_ms)

    def _sighted(self, host: str) -> None:
        self._sightings[host] += 1
        others = self._sightings.total() - self._sightings[host]
        if self._sightings[host] >= others + LEAD:
            self._known.add(host)

    def is_loud(self, key: Key) -> bool:
        """Whether the coordinator must have heard this member through us last, if no other proxy has it. One that was adopted
        and has yet to be answered may still be shown under the host that it came from; and one whose client has hung up under
        the host to which that went."""
        member, line = self._host.members.get(key), self._host.lines.get(key)
        if member is None or line is None or line.client_left:
            return False
        return not member.must_say_all and not member.is_silent(self._host.clock.now_ms)
