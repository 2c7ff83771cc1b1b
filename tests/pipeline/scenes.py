"""What is planted, a group for each thing, so that each can be found and nothing else.

story        a run of the simulation: alice is there, bob comes and dies, carol is native
double       b is told t:0 while a still has it                lost      upstream takes t:1, the client keeps it
stuck        a is asked to rejoin, and never does              skew      somebody sets the proxy's clock
back         an epoch, and a generation, go backwards          untold    a generation that no client ever synced
commits      by a member that does not own what it commits     flapping  four joins in a minute
killed       of a's proxy nothing is heard any more, and b is told what a had
moved        a client moves from one proxy to another          gone      all members left a day ago
returned     a client moves to another proxy, and is back before the first has missed it
glanced      a client is adopted by another proxy, and is back at the first before it hears that it should rejoin
returns      a client gives up t:1 at another proxy, and is back at the first one, which has that still in mind
fenced       a client is fenced at another proxy, and is back at the first one before it has heard of that
patient      a is to rejoin twice, and each time it is called  adopted   a's proxy is killed, and without a journal the next
             off before its client has heard of it                       one asks it to rejoin, as the one before it had
behind       a's proxy is killed, and b comes to later epochs without a for hours
apart        as double, by 22 ms: b's proxy has a clock of its own
restarted    a's proxy ends, and the next one says only that a was found and is gone, whereupon b is told what a had
given-up     as restarted, but its coordinator had given a up: the next proxy finds a without t:0 when b has long had it
crowd        four clients of one name come from one host
torn         of a's steps one is missing, in which it let go of t:0, and b is told t:0
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from bench.pipeline.writer import BEGAN_NS, request, span
from tests.pipeline.telling import Planted, spans_of, watched, write
from translation.states import Phase, Standing

Spans = list[dict[str, Any]]
DAY_MS = 86_400_000
AT_REST: dict[str, Any] = {"phase": Phase.STABLE, "standing": Standing.STABLE, "epoch": 1, "generation": 1}
NO_UTF8 = b"\xff\xfeno\xe2\x82"
TELLING_LINES = ("{broken", "{}", "{}", '{"resourceSpans":[{"resource":{"attributes":[{"key"')


def write_all(folder: Path) -> None:
    first = [
        *story(),
        *double(),
        *lost(),
        *stuck(),
        *back(),
        *untold(),
        *commits(),
        *apart_at_one(),
        *flapping(),
        *crowd(),
        *gone(),
        *late(),
        *returned().spans,
        *glanced().spans,
        *returns().spans,
        *Planted("returns", "b").joins(40_000, 1, epoch=2).spans,
        *fenced().spans,
        *taken_over(),
        *patient(),
        *adopted("proxy-1", 0),
        *torn(),
        *ahead(),
        *found_and_gone(),
        *found_given_up(),
    ]
    write(folder / "proxy-1.json", first)
    write(folder / "skew.json", skew(), "skewed")
    by_the_killed = [*killed_with_its_proxy(), *behind(), *before_the_restart(), *before_it_was_given_up()]
    write(folder / "killed.json", by_the_killed, "killed")
    write(folder / "moved-1.json", moved_from(), "proxy-1")
    at_another = [*moved_to(), *adopted("proxy-2", 400_000), *apart_at_another(), *visited().spans]
    at_another += [*glanced_at().spans, *returns_from().spans, *fenced_at().spans]
    write(folder / "moved-2.json", at_another, "proxy-2")
    # The same again: exporters deliver at least once.
    write(folder / "again.json", story())
    bad = (*TELLING_LINES, "", *incomplete(), *of_other_times())
    (folder / "bad.json").write_bytes(b"".join(b"%s\n" % line for line in (NO_UTF8, *map(str.encode, bad))))


def story() -> Spans:
    story, seen = watched(foo=3)
    alice = story.legacy("alice").joins().syncs().owns(0, 1, 2)
    bob = story.legacy("bob", cooperative=True, assignor="cooperative-sticky").joins()
    story.settles()
    story.native("carol").joins()
    story.settles()
    bob.vanishes()
    story.passes(60_000)
    alice.leaves()
    return spans_of(story, seen, "story")


def double() -> Spans:
    a = Planted("double", "a").joins(0, 0, 1).leaves(9_000)
    b = Planted("double", "b").joins(5_000, 0).leaves(20_000)
    return [*a.spans, *b.spans]


def apart_at_one() -> Spans:
    return Planted("apart", "a").joins(0, 0, 1).leaves(10_000).spans


def apart_at_another() -> Spans:
    return Planted("apart", "b", "proxy-2").joins(9_976, 0).leaves(20_000).spans


def killed_with_its_proxy() -> Spans:
    return Planted("killed", "a", "killed").joins(0, 0).spans


def taken_over() -> Spans:
    return Planted("killed", "b").joins(60_000, 0).leaves(90_000).spans


def before_the_restart() -> Spans:
    return Planted("restarted", "a", "killed").joins(0, 0).spans


def found_and_gone() -> Spans:
    a = Planted("restarted", "a").steps(60_000, "MemberAdopted", **AT_REST, owned=(0,), assigned=(0,)).leaves(60_001)
    return [*a.spans, *Planted("restarted", "b").joins(60_002, 0).leaves(90_000).spans]


def before_it_was_given_up() -> Spans:
    return Planted("given-up", "a", "killed").joins(0, 0).spans


def found_given_up() -> Spans:
    a = Planted("given-up", "a").steps(61_000, "MemberAdopted", **AT_REST | {"epoch": 0}).leaves(61_001)
    return [*a.spans, *Planted("given-up", "b").joins(60_000, 0).leaves(90_000).spans]


def lost() -> Spans:
    a = Planted("lost", "a").joins(0, 0, 1)
    a.steps(10_000, "CoordinatorAnswered", standing=Standing.RECONCILING, assigned=(0,))
    return a.leaves(100_000).spans


def stuck() -> Spans:
    a = Planted("stuck", "a").joins(0, 0).waits(10_000)
    # The traces end long after that.
    return [*a.spans, *Planted("stuck", "b").joins(400_000, 1).spans]


def patient() -> Spans:
    a = Planted("patient", "a").joins(0, 0)
    for at in (10_000, 410_000):
        a.waits(at).steps(at + 1_000, phase=Phase.STABLE, standing=Standing.STABLE)
    return a.spans


def adopted(proxy: str, at: int) -> Spans:
    return Planted("adopted", "a", proxy).adopted(at, 0).joins_again(at + 2_000).spans


def behind() -> Spans:
    return Planted("behind", "a", "killed").joins(0, 0).spans


def ahead() -> Spans:
    return Planted("behind", "b").joins(60_000, 1, epoch=2).leaves(7_200_000).spans


def torn() -> Spans:
    a = Planted("torn", "a").joins(0, 0).waits(10_000)
    a.steps(11_000, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, owned=(), assigned=()).spans.pop()
    a.steps(20_000, "SyncRequested", phase=Phase.STABLE, standing=Standing.STABLE, epoch=2, generation=2)
    return [*a.spans, *Planted("torn", "b").joins(15_000, 0, epoch=2).spans]


def back() -> Spans:
    a = Planted("back", "a").joins(0, 0, epoch=7)
    return a.steps(10_000, epoch=5).steps(11_000, epoch=8, generation=3).spans


def untold() -> Spans:
    a = Planted("untold", "a").joins(0, 0)
    a.steps(10_000, phase=Phase.COMPLETING_REBALANCE, standing=Standing.STABLE, epoch=2, generation=2)
    a.steps(11_000, epoch=3, generation=3)
    return a.steps(12_000, phase=Phase.STABLE).spans


def commits() -> Spans:
    """Of its own, of another's, one that is refused, one of a topic that it does not read, one of its own while it rejoins,
    and one after its leave."""
    a = Planted("commits", "a").joins(0, 0).commits(1_000, 0).commits(2_000, 5).commits(3_000, 6, error_code=22)
    a.commits(3_500, 3, topic="unread")
    a.steps(3_600, phase=Phase.COMPLETING_REBALANCE, standing=Standing.ACKNOWLEDGING, owned=()).commits(3_700, 0)
    return a.leaves(4_000).commits(5_000, 0).spans


def flapping() -> Spans:
    lives = [Planted("flapping", f"m{n}").joins(n * 15_000, 0).leaves(n * 15_000 + 5_000) for n in range(4)]
    return [each for life in lives for each in life.spans]


def crowd() -> Spans:
    """And the first one goes: nobody came again."""
    there = [Planted("crowd", f"m{n}").joins(n * 1_000, n) for n in range(4)]
    return [each for one in (there[0].leaves(500), *there[1:]) for each in one.spans]


def skew() -> Spans:
    a = Planted("skew", "a", "skewed").joins(0, 0)
    return a.steps(10_000, skew_ms=-4_000, epoch=2).steps(20_000, skew_ms=-4_000, epoch=3).spans


def moved_from() -> Spans:
    return Planted("moved", "a", "proxy-1").joins(0, 0).leaves(30_000, "seen elsewhere").spans


def moved_to() -> Spans:
    """Adopted by the second proxy while the first has not noticed."""
    a = Planted("moved", "a", "proxy-2")
    return a.steps(20_000, "MemberAdopted", **AT_REST, owned=(0,), assigned=(0,)).leaves(50_000).spans


def returned() -> Planted:
    """What the first proxy knows is older than what the second has found."""
    a = Planted("returned", "a").joins(0, 0)
    a.steps(24_000, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, standing=Standing.ACKNOWLEDGING, owned=())
    a.steps(24_001, "CoordinatorAnswered", standing=Standing.STABLE, epoch=2, generation=3)
    return a.steps(24_002, "SyncRequested", phase=Phase.STABLE, owned=(0,)).commits(70_000, 0)


def visited() -> Planted:
    there = {**AT_REST, "epoch": 2, "generation": 2, "owned": (0,), "assigned": (0,)}
    return Planted("returned", "a", "proxy-2").steps(20_000, "MemberAdopted", **there).leaves(64_000, "SeenElsewhere")


def glanced() -> Planted:
    """In its silence its client beats, at the first."""
    return Planted("glanced", "a").joins(0, 0).steps(400_000, "CoordinatorAnswered", epoch=2)


def glanced_at() -> Planted:
    return Planted("glanced", "a", "proxy-2").adopted(20_000, 0, epoch=1).leaves(64_000, "SeenElsewhere")


def returns() -> Planted:
    a = Planted("returns", "a").joins(0, 0, 1)
    a.steps(60_000, "was elsewhere", phase=Phase.PREPARE_REBALANCE, generation=-1)
    a.steps(61_000, "CoordinatorAnswered", standing=Standing.RECONCILING, assigned=(0,))
    return a.steps(63_000, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, epoch=2, owned=(0,)).steps(
        63_001, "SyncRequested", phase=Phase.STABLE, standing=Standing.STABLE, generation=4
    )


def returns_from() -> Planted:
    a = Planted("returns", "a", "proxy-2").adopted(20_000, 0, 1, epoch=1)
    a.steps(22_000, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, owned=(0,), assigned=(0,))
    return a.steps(22_001, "SyncRequested", phase=Phase.STABLE, epoch=2, generation=3)


def fenced() -> Planted:
    """The first proxy has asked the coordinator meanwhile, and brought the member to an epoch that the other one does not
    know of."""
    a = Planted("fenced", "a").joins(0, 0).steps(23_000, standing=Standing.RECONCILING, epoch=2, assigned=(0, 1))
    a.steps(25_000, "was elsewhere", phase=Phase.PREPARE_REBALANCE, generation=-1, owned=(0, 1)).commits(25_100, 0)
    a.steps(26_000, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, standing=Standing.STABLE, owned=(0,))
    return a.steps(26_001, "SyncRequested", phase=Phase.STABLE, generation=3, owned=(0, 1))


def fenced_at() -> Planted:
    there = Planted("fenced", "a", "proxy-2").adopted(20_000, 0, epoch=1).joins_again(20_001)
    return there.leaves(24_000, "refused: FENCED_MEMBER_EPOCH")


def gone() -> Spans:
    return [*Planted("gone", "a").joins(-DAY_MS, 0).leaves(-DAY_MS + 60_000).spans]


def late() -> Spans:
    said = {"group_id": "late", "member_id": "native-1"}
    return [span("ConsumerGroupHeartbeat", BEGAN_NS, BEGAN_NS + 7_000_000_000, "late", said)]


def incomplete() -> list[str]:
    """Spans that are JSON, and no spans."""
    good = Planted("bad", "a").joins(0, 0).spans
    no_time = {**good[0], "startTimeUnixNano": "soon"}
    no_id = {**good[1], "spanId": ""}
    no_member = {**good[2], "attributes": [each for each in good[2]["attributes"] if each["key"] != "kip848.member_id"]}
    odd_phase = [
        {"key": each["key"], "value": {"stringValue": "asleep"}} if each["key"] == "kip848.phase" else each
        for each in good[2]["attributes"]
    ]
    no_day = {**good[0], "endTimeUnixNano": str(2**63 - 1)}
    return [request([each]) for each in (no_time, no_day, no_id, no_member, {**good[2], "attributes": odd_phase})]


def of_other_times() -> list[str]:
    """Spans in which only a clock was wrong, at their beginning or at their end."""
    first, *_ = Planted("when", "a").joins(0, 0).spans
    in_two_days_ns, in_1970_ns = time.time_ns() + 2 * DAY_MS * 1_000_000, 5
    times = (("startTimeUnixNano", in_1970_ns), ("endTimeUnixNano", in_two_days_ns))
    return [request([{**first, name: str(ns)}]) for name, ns in times]
