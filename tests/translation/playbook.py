"""Playbooks: one member, exact. `>>` feeds an event, `<<` expects the next action; a failure is a diff of two scripts.

Every action must be expected, in order (transition records are looked at in tests of their own). While a playbook
runs, what must hold after every step is checked: the event survives being written and read, the member does not ask to
be woken at once, there is one heartbeat in flight at most, and a newcomer is remembered before it has one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import msgspec

import translation.events as ev
from translation import Member, Rules, step
from translation.actions import AnswerJoin, AnswerSync, AnyAction, RecordTransition, Remember, SendGroupHeartbeat
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer, TopicPartition
from translation.member import short
from translation.states import Standing
from translation.transition import Transition

RULES = Rules(hold_beat_part=0.0, plan_ms=0, company_ms=0, farewell_ms=0, poll_ms=200, idle_ms=100_000)
NAMES = {"a": "apples", "b": "bananas"}


class Wait(msgspec.Struct, frozen=True):
    """Time passes; DeadlinePassed is fed whenever the member asked to be woken."""

    ms: int


class Is(msgspec.Struct, frozen=True):
    """The member must look like this here: `phase/standing E<epoch> g<generation>`."""

    face: str


class Playbook:
    def __init__(self, member: Member | None = None, now: int = 0, rules: Rules = RULES) -> None:
        self.member = member or Member(group_id="g", rules=rules)
        self.now = now
        self.expected: list[str] = []
        self.actual: list[str] = []
        self.pending: list[str] = []
        self.story: list[tuple[int, ev.AnyEvent]] = []
        self.transitions: list[Transition] = []

    def __rshift__(self, event: ev.AnyEvent | Wait) -> Playbook:
        self._expect_no_more()
        line = f">> {show(event)}"
        self.expected.append(line)
        self.actual.append(line)
        if isinstance(event, Wait):
            self._wait(event.ms)
        else:
            self._feed(event)
        return self

    def __lshift__(self, action: AnyAction | Is) -> Playbook:
        self.expected.append(f"<< {show(action)}")
        if isinstance(action, Is):
            member = self.member
            face = f"{member.phase!r}/{member.standing!r} E{member.epoch} g{member.generation}"
            self.actual.append(f"<< {show(Is(face))}")
        elif self.pending:
            self.actual.append(self.pending.pop(0))
        return self

    def __bool__(self) -> bool:
        self._expect_no_more()
        return True

    def _expect_no_more(self) -> None:
        self.actual += self.pending
        self.pending = []
        if self.actual != self.expected:
            diff = difflib.unified_diff(self.expected, self.actual, "expected", "happened", lineterm="", n=99)
            raise AssertionError("\n" + "\n".join(diff))

    def _wait(self, ms: int) -> None:
        until = self.now + ms
        while self.member.wake_at is not None and self.member.wake_at <= until:
            self.now = max(self.now, self.member.wake_at)
            self._feed(ev.DeadlinePassed())
        self.now = until

    def _feed(self, event: ev.AnyEvent) -> None:
        assert ev.decode(ev.encode(event)) == event
        self.story.append((self.now, event))
        flying, was_joining = self.member.in_flight, self.member.standing is Standing.JOINING
        self.member, actions = step(self.member, event, self.now)
        is_joining = isinstance(event, ev.JoinRequested) and self.member.standing is Standing.JOINING
        if is_joining and not was_joining:
            actions = _without_first_entry(self.member, actions)
        for action in actions:
            if isinstance(action, RecordTransition):
                self.transitions.append(action.transition)
            else:
                self.pending.append(f"<< {show(action)}")
        answered = isinstance(event, ev.CoordinatorAnswered | ev.CoordinatorLost)
        sent = sum(isinstance(a, SendGroupHeartbeat) for a in actions)
        assert sent == (self.member.in_flight is not None and (answered or flying is None)), "one heartbeat in flight"
        wake_at = self.member.wake_at
        assert wake_at is None or wake_at > self.now, (
            f"{self.member!r} wants to be woken at {wake_at}, it is {self.now}"
        )


def _without_first_entry(member: Member, actions: list[AnyAction]) -> list[AnyAction]:
    """Of every newcomer it is the same: no playbook need say so."""
    at = actions.index(Remember(member.journal_entry))
    assert not any(isinstance(each, SendGroupHeartbeat) for each in actions[:at]), (
        "remembered before it has a heartbeat"
    )
    return actions[:at] + actions[at + 1 :]


def show(thing: object) -> str:
    """An event or action on one line: its name and whatever is not at its default."""
    if isinstance(thing, SendGroupHeartbeat):
        return f"beat{_fields(thing.heartbeat, 'group_id')}"
    if isinstance(thing, ev.CoordinatorAnswered):
        return f"answered{_fields(thing.answer)}"
    return f"{type(thing).__name__}{_fields(thing)}"


def _fields(thing: object, *but: str) -> str:
    shown = []
    for field in msgspec.structs.fields(type(thing)):  # type: ignore[arg-type]
        value = getattr(thing, field.name)
        if value != field.default and field.name not in but:
            shown.append(f"{field.name}={_value(value)}")
    return f"({', '.join(shown)})"


def _value(value: object) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], TopicPartition):
        return short(frozenset(value))
    return repr(value)


# --- facts ---------------------------------------------------------------------------------------------------------


def tps(*partitions: int, topic: str = "a") -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, p) for p in sorted(partitions))


def text(value: str) -> bytes:
    return len(value).to_bytes(2, "big") + value.encode()


def number(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)


def subscription(
    topics: Iterable[str] = ("apples",),
    owned: Iterable[int] = (),
    version: int = 1,
    topic: str = "apples",
    user_data: bytes | None = None,
    generation: int = -1,
) -> bytes:
    """An embedded subscription as a client writes it."""
    names = list(topics)
    body = version.to_bytes(2, "big") + number(len(names)) + b"".join(map(text, names))
    body += number(-1) if user_data is None else number(len(user_data)) + user_data
    partitions = list(owned)
    if version >= 1:
        claim = text(topic) + number(len(partitions)) + b"".join(map(number, partitions))
        body += (number(1) + claim) if partitions else number(0)
    if version >= 2:
        body += number(generation)
    if version >= 3:
        body += b"\xff\xff"
    return body


def joins(
    request: int = 1,
    member_id: str = "m",
    owned: Iterable[int] = (),
    topics: Iterable[str] = ("apples",),
    assignor: str = "range",
    **more: object,
) -> ev.JoinRequested:
    fields: dict[str, object] = {
        "request": request,
        "version": 5,
        "member_id": member_id,
        "protocols": (ev.Protocol(assignor, subscription(topics, owned)),),
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
        "fresh_id": "c-1",
        "client_id": "c",
    }
    return ev.JoinRequested(**(fields | more))  # type: ignore[arg-type]


def syncs(request: int = 2, generation: int = 2, **more: object) -> ev.SyncRequested:
    return ev.SyncRequested(request=request, generation=generation, **more)  # type: ignore[arg-type]


def beats(request: int = 3, generation: int = 2, **more: object) -> ev.HeartbeatRequested:
    return ev.HeartbeatRequested(request=request, generation=generation, **more)  # type: ignore[arg-type]


def leaves(request: int = 4, **more: object) -> ev.LeaveRequested:
    return ev.LeaveRequested(request=request, **more)  # type: ignore[arg-type]


def commits(request: int = 5, generation: int = 2, partitions: Iterable[int] | None = None) -> ev.CommitRequested:
    named = None if partitions is None else tuple(("apples", p) for p in partitions)
    return ev.CommitRequested(request=request, generation=generation, partitions=named)


def granted(epoch: int = 2, assigned: Iterable[int] | None = None, topic: str = "a") -> ev.CoordinatorAnswered:
    partitions = None if assigned is None else tps(*assigned, topic=topic)
    return ev.CoordinatorAnswered(
        answer=GroupHeartbeatAnswer(
            member_id="m", member_epoch=epoch, heartbeat_interval_ms=5000, assignment=partitions
        )
    )


def refused(code: int, message: str | None = None) -> ev.CoordinatorAnswered:
    return ev.CoordinatorAnswered(answer=GroupHeartbeatAnswer(error_code=code, error_message=message))


def target(
    epoch: int = 2, partitions: Iterable[int] = (0, 1), group: int | None = None, computed: int | None = None
) -> ev.TargetLearned:
    group_epoch = epoch if group is None else group
    assignment_epoch = group_epoch if computed is None else computed
    return ev.TargetLearned(
        group_epoch=group_epoch, assignment_epoch=assignment_epoch, member_epoch=epoch, target=tps(*partitions)
    )


LEARNED = ev.TopicsLearned(names=dict(NAMES))
LOST = ev.CoordinatorLost()


def wait(ms: int) -> Wait:
    return Wait(ms)


# --- orders --------------------------------------------------------------------------------------------------------


def beat(epoch: int, owned: Iterable[int] | None = None, **more: object) -> SendGroupHeartbeat:
    fields: dict[str, object] = {"group_id": "g", "member_id": "m", "member_epoch": epoch}
    if owned is not None:
        fields |= {
            "rebalance_timeout_ms": 60_000,
            "subscribed_topic_names": ("apples",),
            "server_assignor": "uniform",
            "owned": tps(*owned),
        }
        # Whoever joins inherits none.
        fields |= {"subscribed_topic_regex": ""} if epoch == 0 else {}
    return SendGroupHeartbeat(GroupHeartbeat(**(fields | more)))  # type: ignore[arg-type]


def joined(request: int = 1, generation: int = 2, member_id: str = "m") -> AnswerJoin:
    return AnswerJoin(request, generation=generation, member_id=member_id, protocol_name="range")


def synced(request: int = 2, partitions: Iterable[int] = (0, 1), version: int = 1) -> AnswerSync:
    numbers = sorted(partitions)
    topic = text("apples") + number(len(numbers)) + b"".join(map(number, numbers))
    body = number(1) + topic if numbers else number(0)
    return AnswerSync(request, assignment=version.to_bytes(2, "big") + body + number(0), protocol_name="range")


# --- where stories begin -------------------------------------------------------------------------------------------


def joining(rules: Rules = RULES, **more: object) -> Member:
    """A newcomer whose first heartbeat is in flight."""
    return after(Playbook(rules=rules), joins(**more)).member  # type: ignore[arg-type]


def stable(rules: Rules = RULES, partitions: Iterable[int] = (0, 1), version: int = 5, **more: object) -> Member:
    """A member at epoch and generation 2 with its partitions, long after its group came to rest (now is 20,000)."""
    play = Playbook(rules=rules)
    after(play, joins(version=version, session_timeout_ms=100_000, **more), granted(2, partitions), LEARNED)  # type: ignore[arg-type]
    after(play, target(2, partitions), syncs())
    return msgspec.structs.replace(play.member, heartbeat_at=30_000, heard_at=20_000, beaten_at=20_000)


NOW = 20_000


def after(play: Playbook, *events: ev.AnyEvent | Wait) -> Playbook:
    """Feed without looking at the actions."""
    for event in events:
        if isinstance(event, Wait):
            play._wait(event.ms)
        else:
            play._feed(event)
    play.pending.clear()
    return play


def generation_told() -> Playbook:
    return after(Playbook(joining()), granted(2, [0, 1]), LEARNED, target(2, [0, 1]))
