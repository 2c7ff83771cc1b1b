"""What is a refusal: one table, from the coordinator's error to what the client is told and where the member stands.

The vocabulary is narrow because libraries are brittle: kafkajs stops for good on any error it holds for final, aiokafka
raises on a JoinGroup's REBALANCE_IN_PROGRESS, the Java client on every code it does not expect. So JoinGroup hears
only 0, 79, 25, 16, 14, and where that is the truth 82, 81 and 30; SyncGroup and Heartbeat 0, 27, 25, 22, 16, and 82 and 30.
What is wrong in itself is refused as by a classic broker: all with 24 (no group id), JoinGroup with 26 (a session out of
bounds) and 23 (no assignor, an unreadable subscription), SyncGroup with 23 (another protocol than was agreed on).
FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, GROUP_ID_NOT_FOUND and TOPIC_AUTHORIZATION_FAILED never reach a client.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from translation import errors as e


class Then(Enum):
    """Where a refusal leaves the member."""

    RETRY = "kept; asks again a moment later"
    SAY_ALL = "kept; says all again, as after an answer that is lost"
    FENCED = "fenced; joins anew at once if the client holds nothing and waits for its JoinGroup"
    ELSEWHERE = "absent; adopted as the coordinator has it when its client comes again (at epoch 0: leaves, joins anew)"
    FATAL = "fatal"
    REFUSED = "absent"
    BARRED = "kept; judged anew with each heartbeat, for the session of its client (before it has joined: absent)"
    PASS_THROUGH = "absent; the JoinGroup goes to the broker as it came (fenced, if it was a member)"
    ANOTHER_VOTE = "kept; votes for an assignor that the coordinator knows"
    RELEASE = "kept; releases the registered member of its instance id, asks again"
    FILTER = "kept; asks again for the topics the principal may describe"


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """What each kind of request is told. For a commit None means: the broker's own answer."""

    then: Then
    join: int
    sync: int
    heartbeat: int
    commit: int | None


def _same(code: int, then: Then) -> Refusal:
    return Refusal(then=then, join=code, sync=code, heartbeat=code, commit=code)


_LOADING = Refusal(
    # A broker turns this one into success for Heartbeat: the session is safe until the coordinator has loaded.
    then=Then.RETRY,
    join=e.COORDINATOR_LOAD_IN_PROGRESS,
    sync=e.NOT_COORDINATOR,
    heartbeat=e.NONE,
    commit=e.COORDINATOR_LOAD_IN_PROGRESS,
)
LOST = _same(e.NOT_COORDINATOR, Then.SAY_ALL)
_FENCED = _same(e.UNKNOWN_MEMBER_ID, Then.FENCED)


def _inside(then: Then) -> Refusal:
    """Dealt with between us and the coordinator. A client that has waited long enough is asked to come again."""
    return msgspec.structs.replace(_LOADING, then=then, commit=None)


REFUSALS: dict[int, Refusal] = {
    e.COORDINATOR_LOAD_IN_PROGRESS: _LOADING,
    e.COORDINATOR_NOT_AVAILABLE: LOST,
    e.NOT_COORDINATOR: LOST,
    e.UNKNOWN_MEMBER_ID: _FENCED,
    e.FENCED_MEMBER_EPOCH: msgspec.structs.replace(LOST, then=Then.ELSEWHERE, commit=e.UNKNOWN_MEMBER_ID),
    e.FENCED_INSTANCE_ID: _same(e.FENCED_INSTANCE_ID, Then.FATAL),
    # Not for good: READ that was withdrawn by mistake is given back, and each request is judged anew, as by a broker.
    e.GROUP_AUTHORIZATION_FAILED: _same(e.GROUP_AUTHORIZATION_FAILED, Then.BARRED),
    e.GROUP_MAX_SIZE_REACHED: msgspec.structs.replace(_FENCED, join=e.GROUP_MAX_SIZE_REACHED, then=Then.REFUSED),
    e.GROUP_ID_NOT_FOUND: msgspec.structs.replace(_FENCED, then=Then.PASS_THROUGH),
    e.UNSUPPORTED_VERSION: msgspec.structs.replace(_FENCED, then=Then.PASS_THROUGH, commit=None),
    e.UNSUPPORTED_ASSIGNOR: _inside(Then.ANOTHER_VOTE),
    e.UNRELEASED_INSTANCE_ID: _inside(Then.RELEASE),
    e.TOPIC_AUTHORIZATION_FAILED: _inside(Then.FILTER),
}

# Whatever else there is (an assignor that threw, a code of the future): the member keeps trying, the client comes again.
OTHER = _inside(Then.RETRY)

# Commits that came under an epoch the coordinator has left behind. TxnOffsetCommit before version 6 says it as
# ILLEGAL_GENERATION. They are sent again with a newer epoch, and only then:
STALE = frozenset({e.STALE_MEMBER_EPOCH, e.ILLEGAL_GENERATION})
STALE_FOR_GOOD = e.REBALANCE_IN_PROGRESS


def refusal(code: int) -> Refusal:
    return REFUSALS.get(code, OTHER)
