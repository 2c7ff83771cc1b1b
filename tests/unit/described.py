"""A host of members whose group is described as a test says: when, and under which hosts its members."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from types import SimpleNamespace
from typing import Any, ClassVar

import msgspec

from kafka_protocol import encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups import native
from proxy.groups.clock import Clock
from proxy.groups.lines import Lines
from proxy.groups.together import Together
from tests.unit.observing import changed
from translation import events as ev
from translation import group as gr
from translation.member import Member
from translation.rules import Pacing
from translation.states import Phase, Standing

GROUP = "group"
HERE, THERE = "/10.0.0.1", "/10.0.0.2"
LONG_AGO_MS = 3_600_000


class Line:
    """What is asked on it is answered by `hears`."""

    open = True
    client_left = False
    versions: ClassVar = {keys.CONSUMER_GROUP_DESCRIBE: (0, 1)}

    def __init__(self) -> None:
        self.heard: list[Callable[[Any], None]] = []
        self.natives: set[str] = set()
        self.returned: set[tuple[str, str]] = set()

    def offers(self, key: int) -> bool:
        return True

    def forward(self, _: bytes, heard: Callable[[bytes], Any]) -> None:
        heard(encode_response(keys.CONSUMER_GROUP_HEARTBEAT, 1, 7, m.ConsumerGroupHeartbeatResponse(member_epoch=3)))

    def ask(self, _: native.Ask, heard: Callable[[Any], None]) -> None:
        self.heard.append(heard)


class Later(Clock):
    """What is asked again a moment later need not take that moment here."""

    passed_ms = 0

    @property
    def now_ms(self) -> int:
        return super().now_ms + self.passed_ms


class Host:
    def __init__(self, *names: str) -> None:
        self.clock = Later()
        self.line = Line()
        self.reaches_the_coordinator = True
        self.lines = Lines()
        for name in names:
            self.lines[GROUP, name] = self.line  # type: ignore[assignment]
        self.members = {
            (GROUP, name): Member(
                group_id=GROUP,
                member_id=name,
                phase=Phase.STABLE,
                standing=Standing.STABLE,
                heard_at=self.clock.now_ms,
            )
            for name in names
        }
        self.lost: list[str] = []
        self.told: list[str] = []
        self.requests = SimpleNamespace(untranslated=SimpleNamespace(passes=lambda key: None))
        self.together = Together(self.clock, Pacing(), self)  # type: ignore[arg-type]

    def feed(self, key: tuple[str, str], event: ev.AnyEvent) -> None:
        if isinstance(event, ev.SeenElsewhere):
            self.lost.append(key[1])
        if isinstance(event, ev.BeatWanted):
            self.told.append(key[1])

    def line_into(self, _group_id: str) -> Line | None:
        return self.line if self.reaches_the_coordinator else None

    def falls_silent(self, name: str) -> None:
        now = self.clock.now_ms
        silent = msgspec.structs.replace(self.members[GROUP, name], heard_at=now - LONG_AGO_MS, farewell_at=now)
        self.members[GROUP, name] = silent

    def hangs_up(self, name: str) -> None:
        """Its connection to the broker stays, for the member does."""
        left = copy(self.line)
        left.client_left = True
        self.lines[GROUP, name] = left  # type: ignore[assignment]

    def ends(self, name: str) -> None:
        over = changed(0, group_id=GROUP, member_id=name, phase=Phase.ABSENT, standing=Standing.LEAVING).transition
        self.together.changed(over, self.members.pop((GROUP, name)))
        self.lines.pop((GROUP, name))

    def is_told(self, name: str) -> None:
        told = changed(0, group_id=GROUP, member_id=name, phase_before=Phase.COMPLETING_REBALANCE).transition
        self.together.changed(told, self.members[GROUP, name])

    def is_answered(self, name: str) -> None:
        """Its heartbeat, a second after the last."""
        self.clock.passed_ms += 1_000
        self.together.answered((GROUP, name))

    def described(self, **hosts: str) -> None:
        self.clock.passed_ms += gr.AGAIN_MS
        self.together.wants_description((GROUP, next(iter(hosts))))
        self.hears(**hosts)

    def hears(self, **hosts: str) -> None:
        members = [
            m.ConsumerGroupDescribeResponseMember(
                member_id=name,
                client_host=host,
                assignment=m.ConsumerGroupDescribeResponseAssignment(),
                target_assignment=m.ConsumerGroupDescribeResponseAssignment(),
            )
            for name, host in hosts.items()
        ]
        group = m.ConsumerGroupDescribeResponseDescribedGroup(group_id=GROUP, group_state="Stable", members=members)
        self.line.heard.pop()(m.ConsumerGroupDescribeResponse(groups=[group]))
