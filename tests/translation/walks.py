"""Random walks: a client, a coordinator and a world that say whatever they could say, to one member."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import translation.events as ev
from tests.translation.playbook import NAMES, beats, commits, granted, joins, leaves, refused, syncs, target, tps
from translation import Member, Rules, step
from translation import errors as e
from translation.actions import (
    AnswerCommit,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerSync,
    AnyAction,
    ForwardJoin,
    SendCommit,
    SendGroupHeartbeat,
)
from translation.refusals import REFUSALS
from translation.sending import reported
from translation.states import Phase, Standing

STEPS = 60
ANSWERS = AnswerCommit | AnswerHeartbeat | AnswerJoin | AnswerLeave | AnswerSync | ForwardJoin
Pair = tuple[Member, Member]


class Walker:
    """Keeps what a host keeps: the clock, the requests that wait for an answer, the commits under way."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 0
        self.request = 0
        self.instance_id = self.random.choice([None, None, "i"])
        self.member = self.absent()
        self.waiting: set[int] = set()
        self.commits: set[int] = set()
        self.story: list[tuple[int, ev.AnyEvent]] = []

    def absent(self) -> Member:
        chance = self.random
        rules = Rules(
            plan_ms=chance.choice([0, 300]), company_ms=chance.choice([0, 300]), farewell_ms=chance.choice([0, 500])
        )
        return Member(group_id="g", rules=rules)

    def walk(self) -> Iterator[Pair]:
        for _ in range(STEPS):
            before = self.member
            self.take(self.next_event())
            yield before, self.member
            if self.member.phase is Phase.ABSENT and self.member.standing is Standing.ABSENT:
                assert not self.waiting - self.commits, "somebody waits for a member that is no more"
                self.member = self.absent()

    def take(self, event: ev.AnyEvent) -> None:
        self.story.append((self.now, event))
        if isinstance(event, ev.ClientEvent):
            self.waiting.add(event.request)
        self.member, actions = step(self.member, event, self.now)
        for action in actions:
            self.perform(action)
        wake_at = self.member.wake_at
        assert wake_at is None or wake_at > self.now, f"{self.member} at {self.now} wants to be woken at {wake_at}"
        assert self.waiting - self.commits == {*self.member.waiting} - self.commits, (
            "an answer is missing, or was given twice"
        )

    def perform(self, action: AnyAction) -> None:
        if isinstance(action, ANSWERS):
            self.waiting.remove(action.request)
            self.commits.discard(action.request)
        elif isinstance(action, SendCommit):
            self.commits.add(action.request)
        elif isinstance(action, SendGroupHeartbeat):
            beat = action.heartbeat
            assert beat == self.member.in_flight
            if beat.owned is not None and beat.member_epoch > 0:
                assert set(beat.owned) == reported(self.member), "what the client holds is what the coordinator hears"

    # --- what may happen next -------------------------------------------------------------------------------------------

    def next_event(self) -> ev.AnyEvent:
        chance = self.random
        if self.member.in_flight and chance.random() < 0.5:
            return self.coordinator_says()
        if chance.random() < 0.25:
            return self.time_passes()
        return chance.choice([self.client_says, self.client_says, self.world_says])()

    def time_passes(self) -> ev.AnyEvent:
        wake_at = self.member.wake_at
        if wake_at is not None and self.random.random() < 0.7:
            self.now = max(self.now, wake_at)
        else:
            self.now += self.random.choice([1, 200, 3_000, 100_000])
        return ev.DeadlinePassed()

    def coordinator_says(self) -> ev.AnyEvent:
        chance = self.random
        member, sent = self.member, self.member.in_flight
        assert sent is not None
        roll = chance.random()
        if roll < 0.15:
            return ev.CoordinatorLost()
        if roll < 0.35:
            return refused(chance.choice([*REFUSALS, e.UNKNOWN_SERVER_ERROR, e.UNKNOWN_MEMBER_ID]))
        if sent.member_epoch < 0:
            return granted(sent.member_epoch)
        epoch = max(member.epoch, 1) + chance.choice([0, 0, 1])
        return granted(epoch, chance.choice([None, [0], [0, 1], [1, 2], []]) if sent.owned is None else [0, 1])

    def client_says(self) -> ev.AnyEvent:
        chance, member = self.random, self.member
        self.request += 1
        request, generation = self.request, member.generation + chance.choice([0, 0, 0, 0, 1])
        kind = chance.choice(["join", "join", "sync", "sync", "beat", "beat", "leave", "commit"])
        match kind:
            case "join":
                return self.joins(request)
            case "sync":
                return syncs(request, generation)
            case "beat":
                return beats(request, generation)
            case "leave" if chance.random() < 0.3:
                return leaves(request)
            case _:
                return commits(request, generation, chance.choice([None, [0], [3]]))

    def joins(self, request: int) -> ev.AnyEvent:
        chance, member = self.random, self.member
        owned = chance.choice([(), sorted(tp.partition for tp in member.owned), [0]])
        if member.phase is Phase.ABSENT and chance.random() < 0.8:
            owned = ()
        is_new = self.instance_id and member.phase is Phase.ABSENT
        member_id = "" if is_new or chance.random() < 0.1 else "m"
        return joins(
            request,
            member_id,
            owned=owned,
            topics=chance.choice([["apples"], ["apples", "bananas"]]),
            version=chance.choice([3, 5]),
            fresh_id="m",
            instance_id=self.instance_id,
            predecessor=chance.choice([None, "old"]) if is_new else None,
        )

    def world_says(self) -> ev.AnyEvent:
        chance, member = self.random, self.member
        if member.phase is Phase.ABSENT and member.standing is Standing.ABSENT and chance.random() < 0.5:
            return self.adopted()
        if self.commits and chance.random() < 0.5:
            request = chance.choice(sorted(self.commits))
            self.commits.discard(request)
            codes = [e.NONE, e.STALE_MEMBER_EPOCH, e.UNKNOWN_MEMBER_ID, e.NOT_COORDINATOR]
            lost = ev.CommitLost(request=request)
            answered = [ev.CommitAnswered(request=request, error_code=code) for code in codes]
            return chance.choice(list[ev.AnyEvent]([lost, *answered]))
        if chance.random() < 0.03:
            ends: list[ev.AnyEvent] = [ev.InstanceTaken(), ev.SeenElsewhere()]
            return chance.choice([*ends, ev.ProxyStopping(), ev.ProxyStopping(leaving=True)])
        held = member.held.request if member.held else 0
        parked = chance.choice(member.parked.requests) if member.parked else 0
        assigned = [tp.partition for tp in member.assigned]
        said: list[ev.AnyEvent] = [
            ev.TopicsLearned(names=dict(NAMES)),
            ev.TopicsLearned(names={"a": None}),
            target(member.epoch, assigned),
            target(member.epoch, [7]),
            ev.TargetUnknown(),
            ev.MotionSeen(until=self.now + 1_000),
            ev.BeatWanted(),
            ev.BeatWanted(),
            ev.BeatPlaced(part=chance.choice([0, 0.5])),
            ev.HandOverPlanned(at=self.now + chance.choice([-100, 100])),
            ev.HoldInterrupted(request=held),
            ev.ClientLeft(request=parked),
            ev.ClientLeft(request=held),
            ev.RegisteredMemberFound(member_id=chance.choice([None, "old"])),
            ev.TopicsAllowed(asked=("apples", "bananas"), names=chance.choice([("apples",), ()])),
        ]
        return chance.choice(said)

    def adopted(self) -> ev.AnyEvent:
        chance = self.random
        entry = ev.JournalEntry(
            group_id="g",
            member_id="m",
            instance_id=self.instance_id,
            generation=2,
            told=tps(*chance.choice([(0,), (0, 1)])),
            protocol_name="range",
            subscription_version=1,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=60_000,
        )
        return ev.MemberAdopted(
            member_id="m",
            member_epoch=chance.choice([2, 3, -2]),
            assigned=tps(0, 1),
            subscribed_topics=("apples",),
            names={"a": "apples"},
            instance_id=self.instance_id,
            journal=chance.choice([None, entry]),
        )


def walk(seed: int) -> Iterator[Pair]:
    return Walker(seed).walk()
