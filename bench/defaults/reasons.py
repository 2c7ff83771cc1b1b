"""Why each default is what it is: the prose of docs/defaults.md, between its tables."""

from __future__ import annotations

WHY = {
    "park_ms": """Long enough for a whole assignment, which takes others a round of heartbeats to let go; short enough that
whoever holds something does not stand still for it. Without parking a newcomer is told an empty assignment and waits for
its own next heartbeat: several times the idle time. Beyond the default little is gained, and a client whose assignment never
becomes whole would wait for nothing.""",
    "company_ms": """What others give up comes in pieces, and each telling costs an eager client all it has: a moment's wait
gathers them. Longer saves rebalances in rolling restarts only, and adds itself to every single addition. It is also how long
the first member of a group waits for others before it is told of all: threads of one application begin each with its own
share (without that, "three begin" has a rebalance, and is at rest after three seconds). Alone it begins as much later; a
classic coordinator lets it wait for three seconds (`group.initial.rebalance.delay.ms`).""",
    "plan_ms": """One description, to find out when the receiver can take. It must cover a round trip to a busy coordinator;
as the answer ends the wait, more than that changes nothing. What it is worth shows with direct native members only.""",
    "poll_ms": """How often who waits for its assignment asks how the group stands; whoever is alone looks for itself. Each
halving costs up to two fifths more requests while members come or restart. Longer saves little, and what a member waits for
may lie idle for as much longer.""",
    "look_ms": """How often who waits for its assignment looks for itself where its group is described: whoever has
something to hear is asked to beat by the description, which all have in common. 0: as often as `poll_ms`. In groups this
small little depends on it; with 0 the start of three hundred takes a quarter more steps (`python -m bench.simulation.run
--sizes 300`), and lasts longer. Once a second is for what descriptions do not show: a coordinator that has moved. Where
descriptions take long a few look sooner: where three begin together and a coordinator takes half a second to answer, seven
groups in ten had a rebalance without that, and two have one with it (by hand, in the simulation).""",
    "hold_beat_part": """A held Heartbeat brings the news in a round trip instead of half a rhythm later, so a client hears
at once of what it is to take or give. In these small groups it costs some idle time when several join at once, for each
piece is told as it comes; what it saves is the time until a single newcomer or a cooperative group is at rest, and the
clients' own requests.""",
    "describe_from": """Who looks while the group moves: one description for all (then only those beat who have something to
take or to give), or every member with heartbeats of its own. From two members on the description takes a third to three
quarters of the requests, and mostly leaves less idle, for it says at once who waits for whom; members that are restarted one
by one pay a little for its being half as frequent. One member alone is its own description. Where a group cannot be
described a few members look for themselves, and many beat as ever.""",
    "grace_ms": """A bet on a replacement. When it comes within the grace, nobody else is disturbed; when nobody comes, all
that the leaver had lies idle for that much longer. A restart that takes longer than this is two changes whatever is
chosen, and deployments that scale down pay for every ms: hence the shortest grace that covers a process which is replaced
at once. Whose replacement takes longer, the next is waited for longer, below.""",
    "longest_away_ms": """Processes that are restarted one by one are away for about the same time. So where a replacement
comes later than `grace_ms`, but no later than this, the next one is waited for twice as long as that was away: where each is
away for a second, the first of six disturbs everybody and the others nobody, for as much idle time as if what they had were
given to others and back again; and where they become native ones past the proxy, half of the idle time is saved. Where it
comes later still, within a minute, the next is not waited for at all: that would be more idle time for fewer revocations, or
for none.""",
}

NOT_SWEPT = """## Those that are not swept

- `word_ms` 12,000: a JoinGroup may wait so long for the coordinator's first word, a move of the coordinator included. The
  shortest patience of a client with a JoinGroup is sarama's (it reads for 30 s), and one that is refused asks again at once:
  so it is the longest that leaves room for a second attempt within that.
- `idle_ms` 400: for a client that holds nothing while something is there for it. Each further piece begins the wait anew, so
  it need only exceed the gap between two pieces, about three polls.
- `calm_ms` 1,300: where nobody may describe the group, "nothing has changed" stands for "whole"; it must exceed the
  coordinator's assignment interval of 1 s (KIP-1263).
- `next_target_ms` 1,200: so long who comes with others waits for a target with all of them in it. It is the coordinator's
  assignment interval, and time for a heartbeat.
- `motion_ms` 6,000: a sign of motion is followed by others for as long as members that beat every 5 s still have to. Where
  the coordinator wishes for heartbeats less often, for one interval of theirs and a second.
- `describe_us` 100: the members of a large group that wait each ask for a description ten times a second, and each is as dear
  as the group is large. A thousand members see the next a tenth of a second after the last: with 0 their start takes five
  times the steps, and they are at rest no sooner (`python -m bench.simulation.run`).
- `AGAIN_MS` 25: who waits asks for a description ten times a second. Where fifty wait for a native member's heartbeat, each
  had one of its own: ten that start beside a native have three tenths fewer requests so, fifty a fifth, and partitions lie
  idle for a tenth to a quarter longer; from 50 on they do in small groups too (by hand, in the simulation).
- `describe_topic_us` 2: a description also names what each member subscribes to. That of three hundred members of a thousand
  topics each has 7.6 MB and takes an eighth of a second to read: the next comes six tenths later.
- `native_moving_ms` 300, `native_quiet_ms` 2,000: native members that pass through are polled for, as legacy ones are; when
  all is quiet, two and a half times as often as the coordinator asks for. librdkafka gives its next heartbeat up when the
  interval has passed, and hangs up: so they are told no less than four times the slowest answer that native members of the
  group had in the last half minute.
- `native_us` 1,000: nor less than this for each of them. A thousand that beat three times a second would take a
  quarter of a core here (by hand, 76 to 90 µs each).
- `margin_ms` 400: between a client's being asked and its JoinGroup lie a round trip and its revoke callback; partitions that
  are free this long before the receiver's beat are not missed by it.
- `WAIT_PART` 0.25 (`translation/handover.py`, no setting): clients that are asked before a later beat of a direct native
  member may leave less idle, and keep it waiting. With 0, clients that are not held let a native newcomer wait for a beat
  more, for hardly less idle time; with 1, all is given at once and lies idle for longer.
- `MISSED_PART` 0.45 (`translation/holding.py`, no setting): other requests end holds, commits above all; a client that could
  hear no more in time is asked that early at most. Less, and native newcomers wait for another beat now and then.
- `farewell_ms` 2,000: time for three or four descriptions, so that another proxy is heard even if one of them is lost.
- `retry_ms` 500: a coordinator takes longer to move than that, and a client notices nothing of it.
"""
