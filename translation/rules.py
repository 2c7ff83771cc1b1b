"""The settings of the translation, with defaults. Milliseconds throughout; docs/defaults.md says how they were chosen."""

from __future__ import annotations

import msgspec


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """How one group is translated. Every member carries the rules of its group, so `step` needs no other argument."""

    # JoinGroup of a client that holds something waits this long for a whole assignment.
    park_ms: int = 3000
    # And this long for the coordinator's first word, or for the first partitions. Clients give up later than that, all of
    # them (sarama, the first, reads for 30 s).
    word_ms: int = 12_000
    # Between two looks at the coordinator of who waits, or watches a group that moves for itself.
    poll_ms: int = 100
    # How long after a sign of motion the group counts as moving.
    motion_ms: int = 6000
    # Where the group cannot be described: an assignment that has not changed for so long counts as whole. It must
    # exceed the coordinator's assignment interval (KIP-1263, 1 s by default).
    calm_ms: int = 1300
    # By then a coordinator has computed the next target: its assignment interval (KIP-1263, 1 s by default), and a beat.
    next_target_ms: int = 1200
    # A parked client that holds nothing, while partitions are there for it: this long after the last of them came.
    idle_ms: int = 400
    # New partitions wait this long for company before a client is asked to rejoin for them; and who finds a group empty, for
    # others to share it with.
    company_ms: int = 300
    # How long a revocation waits for the group to say when the receiver can take. 0: never, tell at once.
    plan_ms: int = 300
    # A planned hand-over may use at most this part of the client's rebalance timeout.
    plan_part: float = 0.5
    # Heartbeats are held for this part of the client's rhythm and of its session, whichever is less. 0: never held.
    hold_beat_part: float = 0.9
    hold_session_part: float = 0.3
    # After the coordinator was lost or not ready.
    retry_ms: int = 500
    # A commit refused as stale is sent again with a newer epoch at most this many times (brokers before 4.3 want equality).
    commit_attempts: int = 4
    # A member that never heard of an interval beats at this one (the coordinator's default).
    heartbeat_ms: int = 5000
    # So long before a silent client is given up the coordinator is asked whether another proxy has it. 0: never.
    farewell_ms: int = 2000
    # The broker's bounds for the session timeout of a classic client.
    min_session_ms: int = 6000
    max_session_ms: int = 1_800_000
    # Overrides what the assignor's name maps to; "" leaves the choice to the group's default.
    assignor: str | None = None

    def takes_session(self, session_ms: int) -> bool:
        return self.min_session_ms <= session_ms <= self.max_session_ms


class Pacing(msgspec.Struct, frozen=True, kw_only=True):
    """What the members of one proxy know together (group.py)."""

    # The interval told to native members that pass through, while their group moves and when all is quiet. 0: as is.
    # Never less than some of the slowest answers: a client may give up its heartbeat after the interval.
    native_moving_ms: int = 300
    native_quiet_ms: int = 2000
    # Nor less than this for each native member of the group, in µs: a thousand beat no more often than once a second.
    native_us: int = 1000
    # After a leave the coordinator is not hurried: a replacement that joins within this time inherits at once.
    grace_ms: int = 500
    # If it came later, but no later than this, the next is waited for longer, and else not at all (replacing.py).
    longest_away_ms: int = 1500
    # With more members than this, a moving group is watched by one ConsumerGroupDescribe instead of their heartbeats.
    describe_from: int = 1
    # Descriptions are at least this far apart, in µs for each member of the group: 100 ms for a thousand members.
    describe_us: int = 100
    # And for each topic that each subscribes to, which it names too: 600 ms for three hundred members with a thousand.
    describe_topic_us: int = 2
    # A parked member looks for itself no more often than this where its group is watched: the description says who should
    # look sooner. A few look the more often, the longer descriptions take.
    look_ms: int = 1000
    poll_ms: int = 200
    # For a beat of those who beat seldom, if that is longer.
    motion_ms: int = 6000
    # A direct native member beats at this interval unless its group was told another.
    heartbeat_ms: int = 5000
    # A hand-over is to be complete this long before the receiver's beat.
    margin_ms: int = 400

    @property
    def paces_natives(self) -> bool:
        """Those that pass through come for what there is to take, while their group moves."""
        return self.native_moving_ms > 0
