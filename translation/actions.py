"""Orders that a member gives its host, in the imperative: the whole of what a host must be able to do.

A list of orders is performed in order. An order that answers a request whose connection has gone is dropped.
"""

from __future__ import annotations

import msgspec

from translation.events import JournalEntry
from translation.group_heartbeat import GroupHeartbeat
from translation.transition import Transition


class Action(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """The common ground of all actions."""


# --- answer the client ---------------------------------------------------------------------------------------------


class AnswerJoin(Action, frozen=True):
    """Answer JoinGroup. There is never a leader and never a member list: every library accepts that."""

    request: int
    error_code: int = 0
    generation: int = -1
    member_id: str = ""
    protocol_name: str = ""


class ForwardJoin(Action, frozen=True):
    """Hand the JoinGroup to the broker as it came: this member cannot be translated, for the reason given."""

    request: int
    reason: str


class AnswerSync(Action, frozen=True):
    """Answer SyncGroup. `assignment` is the embedded assignment, always well formed unless there is an error."""

    request: int
    error_code: int = 0
    assignment: bytes = b""
    protocol_name: str = ""


class AnswerHeartbeat(Action, frozen=True):
    request: int
    error_code: int = 0


class AnswerLeave(Action, frozen=True):
    """This member's part of the answer to a LeaveGroup."""

    request: int
    error_code: int = 0


class AnswerCommit(Action, frozen=True):
    """Answer a commit with this error for every partition; None: with what the broker said, at the client's version."""

    request: int
    error_code: int | None = None


# --- speak to the cluster, on the member's own connection ------------------------------------------------------------


class SendGroupHeartbeat(Action, frozen=True):
    """There is one heartbeat in flight, no more, until CoordinatorAnswered or CoordinatorLost."""

    heartbeat: GroupHeartbeat


class SendCommit(Action, frozen=True):
    """Send this commit upstream, at a version native members may use, under this epoch."""

    request: int
    member_epoch: int


class DescribeGroup(Action, frozen=True):
    """Learn the group's target: TargetLearned or TargetUnknown shall follow. Wishes of many members are one request."""


class FindRegisteredMember(Action, frozen=True):
    """Learn who holds this instance id: RegisteredMemberFound shall follow."""

    instance_id: str


class LearnTopics(Action, frozen=True):
    """Learn the names of these topic ids: TopicsLearned shall follow."""

    topic_ids: tuple[str, ...]


class LearnAllowedTopics(Action, frozen=True):
    """Learn which of these topics the client's principal may describe: TopicsAllowed shall follow."""

    names: tuple[str, ...]


# --- remember ------------------------------------------------------------------------------------------------------


class Remember(Action, frozen=True):
    """Write this entry to the journal, in place of the member's last."""

    entry: JournalEntry


class Forget(Action, frozen=True):
    """The member is over: drop it, its journal entry and its timer."""


class RecordTransition(Action, frozen=True):
    transition: Transition


AnyAction = (
    AnswerJoin
    | ForwardJoin
    | AnswerSync
    | AnswerHeartbeat
    | AnswerLeave
    | AnswerCommit
    | SendGroupHeartbeat
    | SendCommit
    | DescribeGroup
    | FindRegisteredMember
    | LearnTopics
    | LearnAllowedTopics
    | Remember
    | Forget
    | RecordTransition
)
