"""What is counted of groups; and that the document, the dashboard and the alerts name what is there, and all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import NoOpTracer
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from proxy.certificate_metrics import CertificateMetrics
from proxy.counts import Counts
from proxy.group_metrics import GROUP_METRICS, LONGEST_NAME, MOST_GROUPS, MOST_SOFTWARE, PREFIX, GroupMetrics
from proxy.metrics import Metrics
from proxy.observations import (
    Changed,
    Client,
    GroupPasses,
    GroupRefused,
    HeartbeatAnswered,
    HeartbeatSent,
    HeartbeatUnsent,
    Observation,
    PassesNoMore,
    RequestAnswered,
    RequestArrived,
)
from proxy.tracing.metrics import TraceMetrics
from proxy.tracing.traces import Traces
from tests.unit.observing import LEGACY, changed
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer, TopicPartition
from translation.states import Phase

ROOT = Path(__file__).parents[2]
SECOND = 1_000_000_000


def moved(
    before: Phase,
    after: Phase,
    *,
    at_s: float = 0,
    member: str = "alice",
    group: str = "orders",
    epochs: tuple[int, int] = (7, 7),
    generation: int = 7,
    client: Client = LEGACY,
    assigned: tuple[TopicPartition, ...] = (),
) -> Changed:
    return changed(
        int(at_s * SECOND),
        client=client,
        group_id=group,
        member_id=member,
        phase_before=before,
        phase=after,
        epoch_before=epochs[0],
        epoch=epochs[1],
        generation_before=generation,
        generation=generation,
        assigned=assigned,
    )


def joins(member: str = "alice", group: str = "orders", client: Client = LEGACY) -> Changed:
    return moved(Phase.ABSENT, Phase.COMPLETING_REBALANCE, member=member, group=group, client=client)


def arrived(number: int, api: str) -> RequestArrived:
    return RequestArrived(
        number=number, at_ns=0, group_id="g", member_id="m", instance_id=None, api=api, version=0, client=LEGACY
    )


def beat(serial: int, at_s: float, member: str = "alice") -> HeartbeatSent:
    heartbeat = GroupHeartbeat(group_id="orders", member_id=member, member_epoch=7)
    return HeartbeatSent(serial=serial, at_ns=int(at_s * SECOND), heartbeat=heartbeat)


def unsent(at_s: float, member: str = "alice") -> HeartbeatUnsent:
    return HeartbeatUnsent(at_ns=int(at_s * SECOND), heartbeat=beat(0, at_s, member).heartbeat)


def beaten(serial: int, at_s: float, error_code: int | None = 0) -> HeartbeatAnswered:
    answer = None if error_code is None else GroupHeartbeatAnswer(error_code=error_code)
    return HeartbeatAnswered(serial=serial, at_ns=int(at_s * SECOND), answer=answer)


class Shown:
    """What /metrics says after these observations."""

    def __init__(self, *observations: Observation, now_s: float = 0) -> None:
        metrics = GroupMetrics(lambda: int(now_s * SECOND))
        for observation in observations:
            metrics.observe(observation)
        registry = CollectorRegistry()
        registry.register(metrics)
        families = list(text_string_to_metric_families(generate_latest(registry).decode()))
        self.samples = [sample for family in families for sample in family.samples]
        self.names = {PREFIX + name for name in GROUP_METRICS} & {
            name for family in families for name in (family.name, f"{family.name}_total")
        }

    def of(self, name: str) -> dict[tuple[str, ...], float]:
        found = (sample for sample in self.samples if sample.name == PREFIX + name)
        return {tuple(sample.labels.values()): sample.value for sample in found}


def test_members_are_counted_by_where_they_are_now() -> None:
    shown = Shown(
        joins("alice"),
        joins("bob"),
        moved(Phase.COMPLETING_REBALANCE, Phase.STABLE, member="alice"),
        joins("carol"),
        moved(Phase.COMPLETING_REBALANCE, Phase.ABSENT, member="carol"),
    )
    assert shown.of("members") == {
        ("orders", "stable", "librdkafka"): 1,
        ("orders", "completing-rebalance", "librdkafka"): 1,
    }


def test_a_rebalance_lasts_from_the_first_sign_until_the_client_is_stable() -> None:
    shown = Shown(
        moved(Phase.STABLE, Phase.PREPARE_REBALANCE, at_s=10),
        moved(Phase.PREPARE_REBALANCE, Phase.COMPLETING_REBALANCE, at_s=12),
        moved(Phase.COMPLETING_REBALANCE, Phase.STABLE, at_s=13),
    )
    assert shown.of("rebalances_total") == {("asked", "stable"): 1}
    assert shown.of("rebalance_seconds_sum") == {(): 3}
    buckets = shown.of("rebalance_seconds_bucket")
    assert (buckets["2.5",], buckets["5.0",], buckets["+Inf",]) == (0, 1, 1)


def test_who_is_gone_in_the_middle_of_a_rebalance_adds_no_duration() -> None:
    shown = Shown(joins(), moved(Phase.COMPLETING_REBALANCE, Phase.ABSENT, at_s=60))
    assert shown.of("rebalances_total") == {("joined", "absent"): 1}
    assert shown.of("rebalance_seconds_count") == {(): 0}


def test_an_epoch_that_was_passed_over_in_silence_is_told_from_one_that_the_client_heard() -> None:
    """By SyncGroup. The number of its generation may be a higher one (translation/joining.py)."""
    shown = Shown(
        moved(Phase.COMPLETING_REBALANCE, Phase.STABLE, epochs=(7, 7), generation=12),
        moved(Phase.STABLE, Phase.STABLE, epochs=(7, 8), generation=12),
        moved(Phase.STABLE, Phase.STABLE, epochs=(8, 9), generation=12),
        moved(Phase.STABLE, Phase.STABLE, epochs=(9, 10), generation=12),
        moved(Phase.COMPLETING_REBALANCE, Phase.PREPARE_REBALANCE, epochs=(10, 10), generation=12),
        moved(Phase.PREPARE_REBALANCE, Phase.PREPARE_REBALANCE, epochs=(10, 11), generation=12),
    )
    assert shown.of("member_epochs_total") == {("yes",): 2, ("no",): 2}


def test_what_passes_while_a_client_joins_is_no_silence() -> None:
    """A real run: a client that starts and stops, and was told of every epoch at which it was stable."""
    shown = Shown(
        joins(),
        moved(Phase.COMPLETING_REBALANCE, Phase.COMPLETING_REBALANCE, epochs=(0, 9), generation=-1),
        moved(Phase.COMPLETING_REBALANCE, Phase.COMPLETING_REBALANCE, epochs=(9, 10), generation=-1),
        moved(Phase.COMPLETING_REBALANCE, Phase.STABLE, epochs=(10, 10), generation=10),
        moved(Phase.STABLE, Phase.ABSENT, epochs=(10, 10), generation=10),
    )
    assert shown.of("member_epochs_total") == {("yes",): 0, ("no",): 0}


def test_nor_is_an_epoch_that_takes_something_from_a_client_and_is_over_before_that_syncs() -> None:
    shown = Shown(
        moved(Phase.COMPLETING_REBALANCE, Phase.STABLE),
        moved(Phase.STABLE, Phase.PREPARE_REBALANCE, epochs=(7, 8)),
        moved(Phase.PREPARE_REBALANCE, Phase.PREPARE_REBALANCE, epochs=(8, 9)),
        moved(Phase.PREPARE_REBALANCE, Phase.COMPLETING_REBALANCE, epochs=(9, 9)),
    )
    assert shown.of("member_epochs_total") == {("yes",): 1, ("no",): 0}


MORE = (TopicPartition("t", 0),)


@pytest.mark.parametrize("at_first", [MORE, ()], ids=["as it came", "later"])
def test_nor_is_one_that_gave_a_client_partitions_which_waited_for_company(
    at_first: tuple[TopicPartition, ...],
) -> None:
    shown = Shown(
        moved(Phase.STABLE, Phase.STABLE, epochs=(7, 8), assigned=at_first),
        moved(Phase.STABLE, Phase.STABLE, epochs=(8, 8), assigned=MORE),
        moved(Phase.STABLE, Phase.STABLE, epochs=(8, 9), assigned=MORE),
    )
    assert shown.of("member_epochs_total") == {("yes",): 0, ("no",): 0}


def test_silence_lasted_for_an_epoch_though_the_next_one_ends_it() -> None:
    shown = Shown(
        moved(Phase.STABLE, Phase.STABLE, epochs=(7, 8)),
        moved(Phase.STABLE, Phase.PREPARE_REBALANCE, epochs=(8, 9)),
        moved(Phase.PREPARE_REBALANCE, Phase.PREPARE_REBALANCE, epochs=(9, 10)),
    )
    assert shown.of("member_epochs_total") == {("yes",): 0, ("no",): 1}


def test_a_first_epoch_leaves_none_behind() -> None:
    newcomer = moved(Phase.COMPLETING_REBALANCE, Phase.COMPLETING_REBALANCE, epochs=(0, 5), generation=-1)
    assert sum(Shown(newcomer).of("member_epochs_total").values()) == 0


def test_translations_are_counted_by_what_the_client_was_told() -> None:
    shown = Shown(
        arrived(1, "Heartbeat"),
        arrived(2, "Heartbeat"),
        RequestAnswered(number=2, at_ns=0, error_code=27),
        RequestAnswered(number=1, at_ns=0, error_code=0),
        RequestAnswered(number=99, at_ns=0, error_code=0),
        arrived(3, "JoinGroup"),
        RequestAnswered(number=3, at_ns=0, error_code=0, is_passed_on=True),
        arrived(4, "JoinGroup"),
        RequestAnswered(number=4, at_ns=0, error_code=13, is_heard=False),
        arrived(5, "OffsetCommit"),
        RequestAnswered(number=5, at_ns=0, error_code=12),
    )
    assert shown.of("translations_total") == {
        ("Heartbeat", "ok"): 1,
        ("Heartbeat", "rebalance_in_progress"): 1,
        ("JoinGroup", "nobody_heard"): 1,
        ("OffsetCommit", "offset_metadata_too_large"): 1,
    }


def test_a_heartbeat_without_answer_is_an_error_and_no_round_trip() -> None:
    shown = Shown(beat(1, 0), beaten(1, 0, error_code=None), beat(2, 0), beaten(2, 0.2, 110), beat(3, 0), beaten(3, 0))
    assert shown.of("upstream_errors_total") == {("lost",): 1, ("fenced_member_epoch",): 1}
    assert shown.of("upstream_heartbeat_seconds_count") == {(): 2}


def test_the_age_is_of_the_member_that_has_waited_longest_for_its_coordinator() -> None:
    joined = (joins("alice"), joins("bob"))
    beats = (beat(1, 3, "bob"), beat(2, 5, "alice"), beaten(1, 6, None), beat(3, 7, "bob"))
    assert Shown(*joined, *beats, now_s=10).of("heartbeat_age_seconds") == {(): 7}
    assert Shown(*joined, *beats, beaten(3, 9), now_s=10).of("heartbeat_age_seconds") == {(): 5}
    gone = moved(Phase.COMPLETING_REBALANCE, Phase.ABSENT, member="bob")
    assert Shown(*joined, *beats, gone, now_s=10).of("heartbeat_age_seconds") == {(): 5}


def test_whose_heartbeats_find_no_connection_waits_too() -> None:
    """Its coordinator hears nothing of it, and will give it up. Nothing was lost on the way, though, and it says nothing of
    whoever has left."""
    shown = Shown(joins("alice"), unsent(3), unsent(5), unsent(1, "bob"), now_s=10)
    assert shown.of("heartbeat_age_seconds") == {(): 7}
    assert shown.of("upstream_errors_total") == {}
    back = Shown(joins("alice"), unsent(3), beat(1, 8), beaten(1, 9), now_s=10)
    assert back.of("heartbeat_age_seconds") == {(): 0}


def test_who_does_not_ask_waits_for_nothing() -> None:
    """A silent client's member asks more and more rarely, and in the end no more; whoever leaves asks once."""
    asked = (joins("alice"), beat(1, 3, "alice"), beaten(1, 4, 110))
    assert Shown(*asked, now_s=100).of("heartbeat_age_seconds") == {(): 0}
    gone = moved(Phase.COMPLETING_REBALANCE, Phase.ABSENT, member="alice")
    assert Shown(*asked, gone, beat(2, 6), now_s=10).of("heartbeat_age_seconds") == {(): 4}
    assert Shown(*asked, gone, beat(2, 6), beaten(2, 7, None), now_s=100).of("heartbeat_age_seconds") == {(): 0}


def passes(member: str) -> GroupPasses:
    return GroupPasses(at_ns=0, group_id="orders", member_id=member, reason="a rule says `pass`", client=LEGACY)


def test_a_group_passes_until_its_last_member_that_does_is_gone_or_translated() -> None:
    bob_left = PassesNoMore(at_ns=0, group_id="orders", member_id="bob")
    assert Shown(passes("alice"), passes("bob")).of("groups_passing") == {(): 1}
    assert Shown(passes("alice"), passes("bob"), bob_left).of("groups_passing") == {(): 1}
    after = Shown(passes("alice"), passes("bob"), bob_left, joins("alice"))
    assert after.of("groups_passing") == {(): 0}
    assert after.of("members_passed_total") == {("a rule says `pass`",): 2}


def test_what_a_rule_refuses_is_counted_by_group() -> None:
    refused = GroupRefused(at_ns=0, group_id="orders", client=LEGACY)
    assert Shown(refused, refused).of("requests_refused_total") == {("orders",): 2}


def test_clients_cannot_choose_how_many_series_there_are() -> None:
    crowd = [joins("m", f"group-{n}", Client(address="", software=f"made-up-{n}")) for n in range(2 * MOST_GROUPS)]
    members = Shown(*crowd).of("members")
    assert len({group for group, _, _ in members}) == MOST_GROUPS + 1
    assert len({software for _, _, software in members}) == MOST_SOFTWARE + 1
    assert sum(members.values()) == 2 * MOST_GROUPS


def test_nor_how_long_their_names_are_and_those_that_begin_alike_are_one() -> None:
    long = "x" * 32_000
    shown = Shown(
        joins("m", f"{long}1", Client(address="", software=long)),
        joins("m", f"{long}2", Client(address="", software=long)),
        GroupRefused(at_ns=0, group_id=long, client=LEGACY),
        GroupPasses(at_ns=0, group_id="orders", member_id="m", reason=long, client=LEGACY),
    )
    cut = long[:LONGEST_NAME]
    assert shown.of("members") == {(cut, "completing-rebalance", cut): 2}
    assert shown.of("requests_refused_total") == shown.of("members_passed_total") == {(cut,): 1}


def test_a_group_that_ends_makes_room_for_the_name_of_another() -> None:
    crowd = [joins("m", f"group-{n}") for n in range(MOST_GROUPS + 1)]
    gone = moved(Phase.COMPLETING_REBALANCE, Phase.ABSENT, member="m", group="group-0")
    groups = {group for group, _, _ in Shown(*crowd, gone).of("members")}
    assert f"group-{MOST_GROUPS}" in groups
    assert not groups & {"group-0", "other"}


# --- documents -----------------------------------------------------------------------------------------------------


def families() -> dict[str, str]:
    """Every metric of the proxy, as it is documented, with its type."""
    gauges = dict.fromkeys(("ready", "brokers_away", "journal_behind"), lambda: True)
    counters = Metrics(Counts(), "1.2.3", gauges, str, GroupMetrics()).text().decode()
    found = {f.name: f.type for f in text_string_to_metric_families(counters) if f.name.startswith(PREFIX)}
    return {f"{name}_total" if kind == "counter" else name: kind for name, kind in found.items()}


def named_in(text: str) -> set[str]:
    return set(re.findall(r"kip848_proxy_\w+", text))


def test_the_document_lists_every_metric_with_its_type() -> None:
    rows = re.findall(r"^\| `(kip848_proxy_\w+)` \| (\w+) \|", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE)
    assert dict(rows) == families() | {f"{PREFIX}build_info": "gauge"}


def test_the_document_lists_the_labels_that_groups_have() -> None:
    rows = re.findall(r"^\| `(kip848_proxy_\w+)` \| \w+ \| (.*?) \|", (ROOT / "docs/metrics.md").read_text(), re.M)
    documented = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    shown = Shown(
        joins(),
        moved(Phase.COMPLETING_REBALANCE, Phase.STABLE),
        arrived(1, "Heartbeat"),
        RequestAnswered(number=1, at_ns=0, error_code=0),
        beaten(1, 0, None),
        passes("alice"),
        GroupRefused(at_ns=0, group_id="g", client=LEGACY),
    )
    for sample in shown.samples:
        name = re.sub(r"_(bucket|sum|count)$", "", sample.name)
        assert set(sample.labels) - {"le"} == documented[name], sample.name


def usable() -> set[str]:
    """Names that a query may use."""
    histograms = {name for name, kind in families().items() if kind == "histogram"}
    parts = {f"{name}_{part}" for name in histograms for part in ("bucket", "sum", "count")}
    others = {metric.name for metric in CertificateMetrics(list).collect()} | {f"{PREFIX}build_info"}
    of_traces = TraceMetrics(Traces(NoOpTracer()), []).collect()
    others |= {f"{metric.name}_total" if metric.type == "counter" else metric.name for metric in of_traces}
    return families().keys() - histograms | parts | others


def queries_of(panel: dict[str, Any]) -> list[str]:
    return [target["expr"] for target in panel["targets"]]


@pytest.fixture
def dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / "deploy/grafana/kip848-proxy.json").read_text())
    return read


def test_the_dashboard_draws_only_what_is_there_and_every_metric_of_groups(dashboard: dict[str, Any]) -> None:
    drawn = named_in(" ".join(query for panel in dashboard["panels"] for query in queries_of(panel)))
    assert drawn <= usable()
    totals = {re.sub(r"_(bucket|sum|count)$", "", name) for name in drawn}
    assert {name.removesuffix("_total").removeprefix(PREFIX) for name in totals} >= set(GROUP_METRICS)


def test_panels_of_the_dashboard_do_not_overlap(dashboard: dict[str, Any]) -> None:
    cells = [
        (x, y)
        for panel in dashboard["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_alerts_are_about_metrics_that_are_there() -> None:
    text = (ROOT / "deploy/prometheus/alerts.yml").read_text()
    assert named_in(text) <= usable()
    alerts = re.findall(r"^ *- alert: (\w+)$", text, re.MULTILINE)
    assert len(alerts) == len(set(alerts)) == text.count("  expr:") == text.count("  summary:")
