"""Rules over one member alone: whatever can be said to it, in any order Hypothesis can think of.

Each rule is a fact, drawn with its arguments, so a counterexample is a script of facts. After each fact: nothing was
raised but our own typed error, the tables allow the move (`step` refuses others), nobody's request was forgotten or
answered twice, and the member does not ask to be woken in the past. In the end the facts replay to the same member.
`DEPTH=100` goes a hundred times as far (depth.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import translation.events as ev
from tests.translation.depth import far
from tests.translation.playbook import NAMES, beats, commits, granted, joins, leaves, refused, syncs, target
from tests.translation.walks import Walker
from translation import Member, Rules, step
from translation import errors as e
from translation.actions import AnyAction
from translation.refusals import REFUSALS
from translation.states import JOINT, Phase, Standing

CODES = sorted({*REFUSALS, e.UNKNOWN_SERVER_ERROR, e.INVALID_REQUEST})
PARTITIONS = st.lists(st.integers(0, 3), unique=True, max_size=3)
NEAR_MS = st.integers(-1_000, 5_000)


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.walker = Walker(0)
        self.walker.instance_id = None
        self.walker.member = Member(group_id="g", rules=Rules())
        self.first = self.walker.member
        self.lives: list[tuple[Member, list[tuple[int, ev.AnyEvent]], Member]] = []

    # --- what can be said ---------------------------------------------------------------------------------------------

    @rule(
        owned=PARTITIONS,
        topics=st.sampled_from([["apples"], ["apples", "bananas"], []]),
        version=st.integers(0, 9),
        static=st.booleans(),
        forgot=st.booleans(),
        assignor=st.sampled_from(["range", "cooperative-sticky", "own"]),
    )
    def join_requested(
        self, owned: list[int], topics: list[str], version: int, static: bool, forgot: bool, assignor: str
    ) -> None:
        instance_id = "i" if static and version >= 5 else None
        member_id = "" if forgot else "m"
        more: dict[str, Any] = {"version": version, "fresh_id": "m", "instance_id": instance_id}
        self.take(joins(self.number(), member_id, owned, topics, assignor, **more))

    @rule(behind=st.integers(-1, 1))
    def sync_requested(self, behind: int) -> None:
        self.take(syncs(self.number(), self.member.generation - behind))

    @rule(behind=st.integers(-1, 1))
    def heartbeat_requested(self, behind: int) -> None:
        self.take(beats(self.number(), self.member.generation - behind))

    @rule()
    def leave_requested(self) -> None:
        self.take(leaves(self.number()))

    @rule(behind=st.integers(-1, 1), partitions=st.none() | PARTITIONS)
    def commit_requested(self, behind: int, partitions: list[int] | None) -> None:
        self.take(commits(self.number(), self.member.generation - behind, partitions))

    @precondition(lambda self: self.member.in_flight)
    @rule(ahead=st.integers(0, 2), assigned=st.none() | PARTITIONS)
    def coordinator_answered(self, ahead: int, assigned: list[int] | None) -> None:
        """A full heartbeat is always answered with an assignment, and a leave with its own epoch."""
        sent = self.member.in_flight
        assert sent is not None
        if sent.member_epoch < 0:
            return self.take(granted(sent.member_epoch))
        complete = [] if assigned is None and sent.owned is not None else assigned
        return self.take(granted(max(self.member.epoch, 1) + ahead, complete))

    @precondition(lambda self: self.member.in_flight)
    @rule(code=st.sampled_from(CODES))
    def coordinator_refused(self, code: int) -> None:
        self.take(refused(code))

    @precondition(lambda self: self.member.in_flight)
    @rule()
    def coordinator_lost(self) -> None:
        self.take(ev.CoordinatorLost())

    @precondition(lambda self: self.walker.commits)
    @rule(code=st.none() | st.sampled_from([e.NONE, e.STALE_MEMBER_EPOCH, e.UNKNOWN_MEMBER_ID, e.NOT_COORDINATOR]))
    def commit_answered_or_lost(self, code: int | None) -> None:
        request = min(self.walker.commits)
        self.walker.commits.discard(request)
        lost = ev.CommitLost(request=request)
        self.take(lost if code is None else ev.CommitAnswered(request=request, error_code=code))

    @rule(name=st.sampled_from([*NAMES.values(), None]))
    def topics_learned(self, name: str | None) -> None:
        self.take(ev.TopicsLearned(names={**NAMES, "a": name}))

    @rule(names=st.sampled_from([("apples",), ("apples", "bananas"), ()]))
    def topics_allowed(self, names: tuple[str, ...]) -> None:
        self.take(ev.TopicsAllowed(asked=("apples", "bananas"), names=names))

    @rule(epoch_off=st.integers(-1, 2), partitions=PARTITIONS)
    def target_learned(self, epoch_off: int, partitions: list[int]) -> None:
        self.take(target(self.member.epoch, partitions, group=self.member.epoch + epoch_off))

    @rule(
        fact=st.sampled_from(
            [
                ev.TargetUnknown(),
                ev.BeatWanted(),
                ev.HoldHurt(),
                ev.InstanceTaken(),
                ev.SeenElsewhere(),
                ev.AssignorAgreed(assignor="range"),
                ev.AssignorAgreed(assignor="uniform"),
                ev.ProxyStopping(),
                ev.ProxyStopping(leaving=True),
                ev.RegisteredMemberFound(member_id=None),
                ev.RegisteredMemberFound(member_id="old"),
            ]
        )
    )
    def the_world_moved(self, fact: ev.AnyEvent) -> None:
        self.take(fact)

    @rule(ms=NEAR_MS)
    def motion_seen(self, ms: int) -> None:
        self.take(ev.MotionSeen(until=self.walker.now + ms))

    @rule(ms=NEAR_MS)
    def lull_wanted(self, ms: int) -> None:
        self.take(ev.LullWanted(until=self.walker.now + ms))

    @rule(part=st.sampled_from([0, 0.5, 0.75]))
    def beat_placed(self, part: float) -> None:
        self.take(ev.BeatPlaced(part=part))

    @rule(ms=NEAR_MS)
    def hand_over_planned(self, ms: int) -> None:
        self.take(ev.HandOverPlanned(at=self.walker.now + ms))

    @precondition(lambda self: self.member.held)
    @rule()
    def hold_interrupted(self) -> None:
        assert self.member.held is not None
        self.take(ev.HoldInterrupted(request=self.member.held.request))

    @precondition(lambda self: self.is_absent)
    @rule()
    def member_adopted(self) -> None:
        self.take(self.walker.adopted())

    @rule(early_ms=st.integers(0, 500))
    def deadline_passed(self, early_ms: int) -> None:
        """Early does nothing; at `wake_at` what was due is done."""
        wake_at = self.member.wake_at
        if wake_at is not None:
            self.walker.now = max(self.walker.now, wake_at - early_ms)
        self.take(ev.DeadlinePassed())

    @rule(ms=st.sampled_from([1, 200, 3_000, 20_000, 100_000]))
    def time_passed(self, ms: int) -> None:
        """A host that oversleeps."""
        self.walker.now += ms
        self.take(ev.DeadlinePassed())

    # --- what cannot have happened ------------------------------------------------------------------------------------

    @precondition(lambda self: not self.member.in_flight)
    @rule()
    def an_answer_to_nothing(self) -> None:
        with pytest.raises(e.ImpossibleStory):
            step(self.member, granted(), self.walker.now)

    @precondition(lambda self: not self.is_absent)
    @rule()
    def a_second_adoption(self) -> None:
        with pytest.raises(e.ImpossibleStory):
            step(self.member, self.walker.adopted(), self.walker.now)

    # --- what must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def the_two_faces_fit(self) -> None:
        assert self.member.standing in JOINT[self.member.phase]

    @invariant()
    def nobody_waits_for_a_member_that_is_no_more(self) -> None:
        assert not self.is_absent or not self.walker.waiting - self.walker.commits

    def teardown(self) -> None:
        for first, story, last in [*self.lives, (self.first, self.walker.story, self.member)]:
            assert replayed(first, story) == replayed(first, [(now, read_back(event)) for now, event in story])
            assert replayed(first, story)[0] == last

    # --- the host's part ----------------------------------------------------------------------------------------------

    @property
    def member(self) -> Member:
        return self.walker.member

    @property
    def is_absent(self) -> bool:
        return self.member.phase is Phase.ABSENT and self.member.standing is Standing.ABSENT

    def number(self) -> int:
        self.walker.request += 1
        return self.walker.request

    def take(self, event: ev.AnyEvent) -> None:
        """Our own mistake is the one error there is: it ends the member, and only a coordinator that calls us wrong
        may cause it here."""
        before = self.member
        try:
            self.walker.take(event)
        except e.IllegalMove:
            raise
        except e.OurMistake:
            assert event == refused(e.INVALID_REQUEST)
            assert self.member is before
            self.walker.story.pop()
            self.begins_anew()
        if self.is_absent:
            self.begins_anew()

    def begins_anew(self) -> None:
        """The host drops a member that is over, and the next request finds a new one."""
        self.lives.append((self.first, self.walker.story, self.member))
        self.walker.story, self.walker.waiting, self.walker.commits = [], set(), set()
        self.walker.member = self.first = Member(group_id="g", rules=self.member.rules)


def read_back(event: ev.AnyEvent) -> ev.AnyEvent:
    return ev.decode(ev.encode(event))


def replayed(member: Member, story: list[tuple[int, ev.AnyEvent]]) -> tuple[Member, list[AnyAction]]:
    orders: list[AnyAction] = []
    for now, event in story:
        member, actions = step(member, event, now)
        orders += actions
    return member, orders


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = far(examples=60, steps=40)
