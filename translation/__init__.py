"""The protocol, pure: how one classic group member is a member of a KIP-848 group.

Nothing here reads a clock, draws a random number, opens a socket or knows Kafka's frames:
`step(member, event, now) -> (member, actions)` takes facts and gives orders. All values are frozen.

Theory of operation. A legacy client speaks JoinGroup, SyncGroup, Heartbeat and LeaveGroup; upstream the same member
speaks ConsumerGroupHeartbeat. Each JoinGroup that follows the first says which partitions the client still owns: that
is the acknowledgement of a revocation, and the only one. Each SyncGroup tells the client what is assigned to it. What
happens between the two sides, and is of no concern to the client, is never told to it.

Glossary. *Event*: a fact (events.py). *Action*: an order (actions.py). *Phase* and *standing*: the two faces of a
member (states.py). *Generation*: the number the client was told; *epoch*: the number the coordinator goes by; the
first is some earlier value of the second, or the same. *Assigned, told, owned, grantable*: see member.py. *Parked*: a
JoinGroup that waits for a whole assignment. *Held*: a Heartbeat that waits for news. *Moving*: a group in which
something was seen to change lately. *Lull*, *grace*: the moment after a leave in which nobody is hurried, for a
replacement may come. *Local*: a legacy member behind this proxy; a native one is *passing* if its heartbeats go through
the proxy, and *direct* if it comes to the brokers itself. *Stranger*: an adopted member whose client has yet to say what
it holds. *Silent*: a client that has not been heard for so long that it may be at another proxy; *farewell*: the time
before its end, in which the coordinator is asked about that.

The files, by the question that each answers.

One step of one member:
    step.py             the door: one fact in, the member as it is now and its orders out
    events.py           what can a member be told?
    actions.py          what can it order?
    member.py           what is known of one client, and the four words for partitions
    states.py           which moves of phase and standing are legal, and which pairs?
    turn.py             one step under way
    transition.py       what changed, for whoever watches
    rules.py            the settings
    errors.py           Kafka's error codes, and our own mistakes
The client's side:
    speaking.py         to whom does the client speak: to a member, or to one that is no member any more?
    admission.py        whom do we not translate?
    joining.py          how is a JoinGroup answered?
    syncing.py          how is a SyncGroup answered?
    holding.py          how is a Heartbeat answered, and for how long may it be held?
    committing.py       how is a commit answered?
    leaving.py          how is a LeaveGroup answered?
    waiting.py          who is answered when things go wrong?
    refusals.py         which error is the client told for which of the coordinator's?
    embedded.py         the bytes inside JoinGroup and SyncGroup
The coordinator's side:
    sending.py          when do we heartbeat upstream, and with what?
    group_heartbeat.py  that heartbeat and its answer, field by field
    answers.py          what does the coordinator's answer mean?
    learning.py         what else does a member learn?
    assignors.py        which server assignor does a client mean, and which one do the members of a group agree on?
Time, comings and goings:
    deadlines.py        what has become due?
    adopting.py         how does a member come to be here that began elsewhere?
    farewell.py         when is a silent client given up?
    ending.py           how does a member end?
    stopping.py         what does it do when its proxy stops?
The members of one group together:
    group.py            what do they know together?
    motion.py           when do they look closely at the coordinator?
    replacing.py        how long is a replacement waited for?
    watch.py            whose turn is it to look?
    handover.py         when can partitions change hands?

protocol_page.py prints docs/protocol.md from the tables.

How to host members (the proxy does it over sockets, the simulation without):

1. Keep one `Member` per (group id, member id), and for static ones an index (group id, instance id) -> member id.
   A request for a member you do not have: ask ConsumerGroupDescribe on the client's own connection; if the group knows
   that id, feed `MemberAdopted` to `Member(group_id=..., rules=...)` first (with your journal's entry if it is
   `adopting.still_valid` for that request, and with the names of the topics assigned and subscribed to);
   otherwise feed the request to the absent member: it answers UNKNOWN_MEMBER_ID, MEMBER_ID_REQUIRED or joins. Of an id that
   you gave out on this very connection, the JoinGroup says so (`is_issued`).
   A JoinGroup with an instance id of another member of yours, and an empty member id: feed that one `InstanceTaken`
   (if the JoinGroup `is_proper`), and give the newcomer its id as `predecessor`. With a member id that is not the
   registered one: the absent member answers UNKNOWN_MEMBER_ID, and the one that was taken over answers
   FENCED_INSTANCE_ID itself: keep it until `Forget`.
   A native client that passes and hears UNRELEASED_INSTANCE_ID, because a member of yours has its instance id: feed
   that one `InstanceTaken`, step out in its name (epoch -2), and ask for the native client again.
2. Call `step` for one event at a time, with a clock in milliseconds that never goes back, and perform the actions in
   the order given. Store the member under `member.member_id` (a newcomer gets it there) until `Forget`.
   A member that is absent in phase and standing need not be kept.
3. Sleep until `member.wake_at` and feed `DeadlinePassed`. It may be fed early or late; early does nothing.
4. `SendGroupHeartbeat`: send it on the member's newest connection to the coordinator, and feed exactly one of
   `CoordinatorAnswered` or `CoordinatorLost` (cut off, timed out, or no connection to send it on). There is never a
   second one before that. All retries are decided here, never by the host.
5. `DescribeGroup`, `LearnTopics`, `LearnAllowedTopics`, `FindRegisteredMember`: ask, feed the answer when it comes. If
   it never comes nothing is stuck: the member asks again. Names of topics may be served from the host's memory.
6. `SendCommit`: rewrite and send; feed `CommitAnswered` or `CommitLost`. `AnswerCommit(error_code=None)` passes the
   broker's answer on. If you let pass what the client sent behind it meanwhile, that answer `is_final`.
7. LeaveGroup with several members: feed each its `LeaveRequested`, collect the `AnswerLeave`s into one answer. Members
   you do not have are the coordinator's business: forward their part.
8. Answers keep the order of requests on each connection. When a request comes in on a connection whose Heartbeat is
   held, feed `HoldInterrupted` for that Heartbeat before the request itself.
9. When a client closes a connection on which a request of its waits, feed `ClientLeft` for that request (not `hung_up` if
   the broker closed it first); otherwise a closed connection is no event: members live by their sessions. `OurMistake`
   from `step` closes the connection.
10. Give each `Transition` to the group (group.py), and what the group says to the members it names.
"""

from translation.member import Member
from translation.rules import Pacing, Rules
from translation.step import step

__all__ = ["Member", "Pacing", "Rules", "step"]
