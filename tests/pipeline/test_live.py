"""Each live rule says what batch's audit of that name says, as soon as nothing can change it. No Spark: rules are pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from pyspark.sql import DataFrame
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

from bench.pipeline.writer import BEGAN_NS
from pipeline import live, live_feed, schema
from pipeline.live_group import Finding, Group, Step
from pipeline.live_rules import LateStep, advance
from tests.pipeline.scenes import fenced, fenced_at, glanced, glanced_at, returned, returns, returns_from, visited
from tests.pipeline.telling import Planted
from translation.states import Phase, Standing

MS = 1_000_000
EVER = 10**12


def steps(*members: Planted) -> list[Step]:
    transitions = [(span, member.proxy) for member in members for span in member.spans if span["name"] == "transition"]
    return [_step(span, proxy) for span, proxy in transitions]


def _step(span: dict[str, Any], proxy: str = "proxy-1") -> Step:
    said = {each["key"].removeprefix(schema.PREFIX): each["value"] for each in span["attributes"]}

    def value(name: str) -> Any:
        kind, found = schema.RECORD.get(name, "string"), said.get(name, {})
        if kind == "array<string>":
            return tuple(each["stringValue"] for each in found.get("arrayValue", {}).get("values", ()))
        return int(found["intValue"]) if kind == "bigint" else found.get("stringValue")

    names = [name for name in Step.__struct_fields__ if name not in ("at_ns", "span_id", "proxy")]
    beside = {"at_ns": int(span["startTimeUnixNano"]), "span_id": span["spanId"], "proxy": proxy}
    return Step(**beside, **{name: value(name) for name in names})


def until(ms: int) -> int:
    return BEGAN_NS + ms * MS + MS - 1


def judged(*members: Planted, at: int = EVER) -> list[tuple[str, str, int, int | None]]:
    return told(advance(Group(), steps(*members), until(at)))


def told(found: list[Finding]) -> list[tuple[str, str, int, int | None]]:
    def ms(ns: int | None) -> int | None:
        return None if ns is None else (ns - BEGAN_NS) // MS

    return [(each.audit, each.member_id, (each.from_ns - BEGAN_NS) // MS, ms(each.to_ns)) for each in found]


def doubled() -> tuple[Planted, Planted]:
    return Planted("g", "a").joins(0, 0).leaves(9_000), Planted("g", "b").joins(5_000, 0).leaves(20_000)


def waiting(at: int = 0) -> Planted:
    return Planted("g", "a").joins(at, 0).waits(at + 10)


def test_two_owners_are_said_when_it_begins_and_when_it_ends() -> None:
    group, (a, b) = Group(), doubled()
    (begun,) = advance(group, steps(a, b), until(6_000))
    assert (begun.member_id, begun.other_member_id, begun.partition, begun.to_ns) == ("b", "a", "t:0", None)
    (ended,) = advance(group, [], until(EVER))
    assert ended.about == begun.about
    assert told([ended]) == [("double ownership", "b", 5_002, 9_000)]


@pytest.mark.parametrize(
    ("other", "overlap_ms", "found"),
    [
        ("proxy-2", 0, []),
        ("proxy-2", 22, [("odd", "proxy-2 and proxy-1, shorter than clocks agree")]),
        ("proxy-2", 100, [("odd", "proxy-2 and proxy-1, shorter than clocks agree")]),
        ("proxy-2", 101, [("broken", "proxy-2 and proxy-1")] * 2),
        ("proxy-1", 22, [("broken", "proxy-1 and proxy-1")]),
    ],
)
def test_an_overlap_that_two_clocks_may_have_made_up_is_odd(
    other: str, overlap_ms: int, found: list[tuple[str, str]]
) -> None:
    """Until that can be told, nothing is said."""
    a, b = Planted("g", "a").joins(0, 0), Planted("g", "b").joins(5_000, 0).leaves(20_000)
    by_another = [replace(step, proxy=other) for step in steps(b)]
    let_go = steps(a.steps(5_002 + overlap_ms, owned=()))[-1:]
    # To the nanosecond: `telling` keeps steps of one millisecond in order by their number.
    let_go = [replace(step, at_ns=by_another[2].at_ns + overlap_ms * MS) for step in let_go]
    group, all_steps = Group(), [*steps(a)[:-1], *by_another, *let_go]
    said = [each for at in (5_080, 5_102, EVER) for each in advance(group, all_steps, until(at))]
    assert [(each.severity, each.detail) for each in said] == found


def test_a_partition_that_goes_from_hand_to_hand_has_one_owner() -> None:
    a, b = Planted("g", "a").joins(0, 0), Planted("g", "b").joins(5_000, 0)
    # In the very nanosecond, the newcomer's step first.
    b.spans[-1]["startTimeUnixNano"] = a.leaves(5_003).spans[-1]["startTimeUnixNano"]
    assert judged(b, a) == []


def test_order_of_arrival_has_no_part_in_what_is_said() -> None:
    a, b = doubled()
    forth, back = steps(a, b), steps(a, b)[::-1]
    assert advance(Group(), forth, until(EVER)) == advance(Group(), back, until(EVER)) != []
    in_pieces, said = Group(), list[Finding]()
    for step in back:
        said += advance(in_pieces, [step], until(-1))
    assert said == []
    assert advance(in_pieces, [], until(EVER)) == advance(Group(), forth, until(EVER))


def test_a_step_that_comes_twice_counts_once() -> None:
    a, b = doubled()
    group = Group()
    once = advance(group, steps(a, b), until(30_000))
    assert advance(group, steps(a, b), until(30_000)) == []
    assert advance(Group(), steps(a, b) * 2, until(EVER)) == once


def test_a_step_from_before_what_was_judged_is_never_dropped_in_silence() -> None:
    group, (a, b) = Group(), doubled()
    advance(group, steps(a), until(30_000))
    with pytest.raises(LateStep, match=r"of b came after 4\.000 s"):
        advance(group, steps(b), until(30_000))


def test_another_groups_time_makes_no_step_late() -> None:
    group = Group()
    advance(group, steps(Planted("g", "a").joins(0, 0)), until(EVER))
    assert advance(group, steps(Planted("g", "b").joins(1_000, 1)), until(EVER)) == []


def test_who_waits_too_long_is_said_to_be_stuck_while_it_waits() -> None:
    group = Group()
    assert advance(group, steps(waiting()), until(300_000)) == []
    assert group.wakes_ns is not None
    assert (group.wakes_ns - BEGAN_NS) // MS == 300_010
    assert told(advance(group, [], until(300_010))) == [("stuck in PrepareRebalance", "a", 10, None)]
    assert advance(group, [], until(400_000)) == []


def test_silence_that_was_taken_for_being_stuck_and_was_none_ends_the_run() -> None:
    group = Group()
    advance(group, steps(waiting()), until(EVER))
    with pytest.raises(LateStep):
        advance(group, steps(waiting().joins(20, 0))[-1:], until(EVER))


def test_a_wait_that_ends_in_time_is_none_and_one_that_ends_late_has_lasted() -> None:
    assert judged(waiting().joins(200_000, 0)) == []
    assert judged(waiting().joins(400_500, 0)) == [("stuck in PrepareRebalance", "a", 10, 400_500)]


def test_a_wait_that_was_called_off_is_over_and_the_next_one_is_another() -> None:
    a = waiting().steps(1_000, phase=Phase.STABLE, standing=Standing.STABLE).waits(400_000)
    assert judged(a, at=699_999) == []
    assert judged(a, at=700_000) == [("stuck in PrepareRebalance", "a", 400_000, None)]


def test_a_wait_in_which_the_coordinator_says_more_is_one() -> None:
    a = waiting().steps(200_000, standing=Standing.STABLE).steps(250_000, epoch=2).joins_again(400_000)
    assert judged(a) == [("stuck in PrepareRebalance", "a", 10, 400_000)]


def test_each_adoption_has_a_wait_of_its_own() -> None:
    first, second = Planted("g", "a").adopted(0, 0), Planted("g", "a", "proxy-2").adopted(200_000, 0)
    assert judged(first, second, at=500_000) == [("stuck in PrepareRebalance", "a", 200_000, None)]
    assert judged(first, second.joins_again(400_000)) == []


def test_what_upstream_has_taken_and_the_client_keeps_is_said() -> None:
    a = Planted("g", "a").joins(0, 0, 1).steps(10_000, assigned=(0,))
    assert judged(a, at=69_999) == []
    assert judged(a, at=70_000) == [("lost revocation", "a", 10_000, None)]
    assert judged(a.steps(100_000, owned=(0,))) == [("lost revocation", "a", 10_000, 100_000)]


def test_what_goes_backwards_is_said() -> None:
    a = Planted("g", "a").joins(0, 0, epoch=7).steps(10_000, epoch=5).steps(11_000, epoch=8, generation=3)
    assert judged(a) == [("epoch backwards", "a", 10_000, None), ("generation backwards", "a", 11_000, None)]


def test_where_a_step_does_not_begin_where_the_last_one_ended_there_is_a_gap() -> None:
    a = waiting().steps(20, phase=Phase.COMPLETING_REBALANCE).joins_again(30).steps(40, epoch=2)
    assert judged(a) == []
    del a.spans[4]
    assert judged(a) == [("gap in the record", "a", 10, 30)]


def test_who_arrives_begins_anew() -> None:
    lives = Planted("g", "a").joins(0, 0, epoch=7), Planted("g", "a", "proxy-2").adopted(9_000, 0, epoch=8)
    assert judged(*lives, at=9_001) == []


def test_a_client_that_comes_four_times_in_five_minutes_flaps() -> None:
    lives = [Planted("g", f"m{n}").joins(n * 15_000, 0).leaves(n * 15_000 + 5_000) for n in range(5)]
    assert judged(*lives[:3]) == []
    assert judged(*lives) == [("flapping", "m3", 45_000, 45_000), ("flapping", "m4", 45_000, 60_000)]


@pytest.mark.parametrize("host", ["10.0.0.1", "[::1]"])
def test_who_comes_again_comes_from_another_port(host: str) -> None:
    lives = steps(*[Planted("g", f"m{n}").joins(n * 15_000, 0).leaves(n * 15_000 + 5_000) for n in range(4)])
    ports = {step.member_id: 47_544 + number for number, step in enumerate(lives)}
    from_there = [replace(step, client_address=f"{host}:{ports[step.member_id]}") for step in lives]
    assert told(advance(Group(), from_there, until(EVER))) == [("flapping", "m3", 45_000, 45_000)]
    elsewhere = [replace(step, client_address=f"10.0.0.{step.member_id[1:]}:47544") for step in lives]
    assert advance(Group(), elsewhere, until(EVER)) == []


def test_many_clients_of_one_name_and_host_are_not_one_that_comes_again() -> None:
    """As those that share a proxy's machine, or an address before it: a deploy is a leave and a join for each."""
    old = [Planted("g", f"old{n}").joins(n, n).leaves(600_000 + n * 15_000) for n in range(6)]
    new = [Planted("g", f"new{n}").joins(602_000 + n * 15_000, n) for n in range(6)]
    assert judged(*old, *new) == []


def test_who_is_adopted_again_and_again_has_not_come_again() -> None:
    assert (
        judged(*[Planted("g", "a", f"p{n}").adopted(n * 15_000, 0).joins_again(n * 15_000 + 1) for n in range(5)]) == []
    )


def test_what_a_former_proxy_says_is_not_about_the_client() -> None:
    a, moved = Planted("g", "a").joins(0, 0), Planted("g", "a", "proxy-2")
    moved.steps(10_000, phase=Phase.STABLE, standing=Standing.STABLE, epoch=5, owned=(0,), assigned=(0,))
    later = Planted("g", "a").joins(0, 0).steps(20_000, epoch=3, standing=Standing.RECONCILING).spans[-1:]
    assert advance(Group(), [*steps(a, moved), *map(_step, later)], until(EVER)) == []


def test_a_client_that_is_back_at_its_first_proxy_is_heard_there_again() -> None:
    there = returned(), visited()
    assert judged(*there) == []
    b = Planted(there[0].group_id, "b").joins(70_000, 0)
    assert judged(*there, b) == [("double ownership", "b", 70_002, None)]


def test_what_a_client_had_before_it_was_elsewhere_it_does_not_have_when_it_is_back() -> None:
    a = returns(), returns_from()
    assert judged(*a, Planted("returns", "b").joins(40_000, 1, epoch=2)) == []
    assert judged(*a, Planted("returns", "c").joins(61_500, 0)) == [("double ownership", "c", 61_502, None)]


def test_what_a_client_had_where_it_was_fenced_it_has_when_it_is_back_elsewhere() -> None:
    a = fenced(), fenced_at()
    assert judged(*a, Planted("fenced", "b").joins(24_500, 1)) == [("double ownership", "a", 26_001, None)]
    assert judged(*a, Planted("fenced", "b").joins(24_500, 0)) == [("double ownership", "a", 25_000, None)]


def test_a_client_that_is_elsewhere_lives_on_and_nobody_asks_it_to_rejoin() -> None:
    there = glanced(), glanced_at()
    assert judged(*there) == []
    b = Planted(there[0].group_id, "b").joins(70_000, 0)
    assert judged(*there, b) == [("double ownership", "b", 70_002, None)]


def test_who_has_left_is_not_brought_to_life_by_a_proxy_that_sees_it_elsewhere() -> None:
    group, a = Group(), Planted("g", "a").joins(0, 0).leaves(9_000).steps(9_001, "SeenElsewhere", epoch=0)
    assert advance(group, steps(a), until(EVER)) == []
    assert group.members == {}


def _asdict(step: Step) -> dict[str, Any]:
    return {name: getattr(step, name) for name in Step.__struct_fields__}


def test_of_a_group_that_all_have_left_nothing_is_kept_but_its_clock() -> None:
    group = Group()
    for number in range(50):
        life = Planted("g", f"m{number}", client_id=f"app-{number}").joins(number * 10_000, number)
        advance(group, steps(life.leaves(number * 10_000 + 5_000)), until(number * 10_000 + 9_000))
    assert len(group.members) == 50
    assert group.wakes_ns is not None
    advance(group, [], group.wakes_ns)
    assert len(group.members) == 49
    advance(group, [], until(EVER))
    assert group == Group(clock_ns=group.clock_ns)
    assert group.wakes_ns is None


def test_state_outlives_the_process() -> None:
    whole, (a, b) = Group(), doubled()
    advance(whole, steps(a, b), until(6_000))
    restored = live.unpack_group(live.pack(whole))
    assert restored == whole
    assert advance(restored, [], until(EVER)) == advance(whole, [], until(EVER)) != []


def test_steps_have_the_columns_that_facts_have() -> None:
    assert set(live_feed.COLUMNS) <= set(schema.TRANSITIONS)


def fed(out: Path, batch: int, *members: Planted, is_committed: bool = True) -> None:
    """A batch of facts as a stream leaves it."""
    folder = out / f"transitions/batch={batch}"
    folder.mkdir(parents=True)
    rows = [{"group_id": "g", **_asdict(step)} for step in steps(*members)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    if is_committed:
        (out / "_checkpoint/commits").mkdir(parents=True, exist_ok=True)
        (out / f"_checkpoint/commits/{batch}").touch()


def test_facts_are_fed_as_they_are_written(tmp_path: Path) -> None:
    fed(tmp_path, 0, *doubled())
    reader = live_feed.Reader(tmp_path)
    (file,) = reader.partitions(reader.initialOffset(), reader.latestOffset(reader.initialOffset(), ReadAllAvailable()))
    ((group_id, last_ms, packed),) = reader.read(file)
    assert (group_id, live_feed.unpack(packed)) == ("g", steps(*doubled()))
    assert last_ms == BEGAN_NS // MS + 20_001


def test_a_batch_that_may_be_written_again_is_not_read_yet(tmp_path: Path) -> None:
    for batch in range(3):
        fed(tmp_path, batch, waiting(), is_committed=batch < 2)
    reader = live_feed.Reader(tmp_path)
    assert reader.latestOffset({"batch": 0}, ReadAllAvailable()) == {"batch": 2}
    assert reader.latestOffset({"batch": 0}, ReadMaxFiles(1)) == {"batch": 1}
    assert reader.latestOffset({"batch": 2}, ReadMaxFiles(1)) == {"batch": 2}


def test_facts_that_are_gone_are_never_passed_over_in_silence(tmp_path: Path) -> None:
    fed(tmp_path, 1, waiting())
    with pytest.raises(FileNotFoundError, match="batch=0 is done, says the checkpoint, and is not there"):
        live_feed.Reader(tmp_path).partitions({"batch": 0}, {"batch": 2})


def test_a_failure_says_in_few_words_what_has_failed() -> None:
    def take(batch: DataFrame, number: int) -> None:
        raise ValueError("at java.base\n" * 1_000 + "pipeline.live_rules.LateStep: a step of a\nat java.base")

    with pytest.raises(LateStep, match=r"^a step of a$"):
        live.briefly(take)(cast("DataFrame", None), 0)
