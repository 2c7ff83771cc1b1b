"""What the translation costs and achieves, in numbers: counted from observations, shown when somebody asks.

A member's *rebalance* begins when the client has to join or rejoin, and ends when it is stable again or gone. An *epoch*
of a member is counted when a newer one replaces it: was the client told of it, or was it none of its concern, from first to
last? One that passed while the client was joining, or was about to have to, is neither. Labels that clients choose (groups,
software, reasons) are bounded, and cut: past the limits below they are counted as `other`.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from proxy import observations as seen
from proxy.memory import LARGEST_MEMORY
from proxy.observations import Observation
from translation import errors as e
from translation.states import Phase
from translation.transition import Transition

PREFIX = "kip848_proxy_"
GROUP_METRICS = {
    "members": "members translated now, by group, phase and client software",
    "rebalances": "rebalances of members that have ended, by how they began and how they ended",
    "rebalance_seconds": "how long a member's rebalance took, for those that ended stable",
    "translations": "group requests answered here, by api and outcome",
    "member_epochs": "epochs that members left for newer ones: the client was told of them, or they moved nothing for it",
    "upstream_errors": "errors of coordinators in answer to heartbeats; `lost` where no answer came",
    "upstream_heartbeat_seconds": "from a heartbeat sent upstream to its answer",
    "heartbeat_age_seconds": "since the first heartbeat without an answer of the member that has waited longest for one",
    "groups_passing": "groups with members that are handed to the broker untranslated now",
    "members_passed": "members handed to the broker untranslated, by reason",
    "requests_refused": "requests of groups that a rule `refuse` keeps out, by group",
}

MOST_GROUPS, MOST_SOFTWARE, MOST_REASONS = 200, 40, 40
# And of a name so many characters: those that begin alike are counted as one.
LONGEST_NAME = 250
REBALANCE_BOUNDS_S = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
HEARTBEAT_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
OTHER, UNHEARD = "other", "nobody_heard"

BEGINNINGS = {
    (Phase.ABSENT, Phase.COMPLETING_REBALANCE): "joined",
    (Phase.ABSENT, Phase.PREPARE_REBALANCE): "adopted",
    (Phase.STABLE, Phase.PREPARE_REBALANCE): "asked",
    (Phase.STABLE, Phase.COMPLETING_REBALANCE): "own_will",
}
# SyncGroup, whether more is to be given up or not.
TELLINGS = {(Phase.COMPLETING_REBALANCE, Phase.STABLE), (Phase.COMPLETING_REBALANCE, Phase.PREPARE_REBALANCE)}
Key = tuple[str, str]
Labels = tuple[str, ...]
K = TypeVar("K")
V = TypeVar("V")


class Durations:
    """A histogram."""

    def __init__(self, bounds_s: tuple[float, ...]) -> None:
        self._bounds_s = bounds_s
        self._counts = [0] * (len(bounds_s) + 1)
        self._sum_s = 0.0

    def add(self, from_ns: int, until_ns: int) -> None:
        # The wall clock may be set back.
        seconds = max(0, until_ns - from_ns) / 1e9
        self._counts[bisect_left(self._bounds_s, seconds)] += 1
        self._sum_s += seconds

    def family(self, name: str) -> Metric:
        total, buckets = 0, []
        for bound, count in zip((*map(str, self._bounds_s), "+Inf"), self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        return HistogramMetricFamily(PREFIX + name, GROUP_METRICS[name], buckets=buckets, sum_value=self._sum_s)


class GroupMetrics(Collector):
    """`observe` hears the translation; Prometheus' registry calls `collect`."""

    def __init__(self, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._now_ns = now_ns
        # Groups in the order in which they came; the first of them are named.
        self._groups: Counter[str] = Counter()
        self._faces: dict[Key, tuple[Phase, str]] = {}
        self._members: Counter[tuple[str, str, str]] = Counter()
        self._software: set[str] = set()
        self._reasons: set[str] = set()
        self._begun: dict[Key, tuple[str, int]] = {}
        self._asked: OrderedDict[int, str] = OrderedDict()
        self._sent: OrderedDict[int, tuple[Key, int]] = OrderedDict()
        # Since when each member that waits has asked its coordinator without an answer, the longest wait first.
        self._unanswered: OrderedDict[Key, int] = OrderedDict()
        # Was the client told of the epoch that its member is at? Where that is not known there is no entry.
        self._told: dict[Key, str] = {}
        self._passing: OrderedDict[Key, None] = OrderedDict()
        self._rebalances: Counter[Labels] = Counter()
        self._translations: Counter[Labels] = Counter()
        self._epochs: Counter[Labels] = Counter({("yes",): 0, ("no",): 0})
        self._errors: Counter[Labels] = Counter()
        self._passed: Counter[Labels] = Counter()
        self._kept_out: set[str] = set()
        self._refused: Counter[Labels] = Counter()
        self._rebalance_s = Durations(REBALANCE_BOUNDS_S)
        self._heartbeat_s = Durations(HEARTBEAT_BOUNDS_S)

    def observe(self, observation: Observation) -> None:
        match observation:
            case seen.RequestArrived():
                _remember(self._asked, observation.number, observation.api)
            case seen.RequestAnswered():
                self._request_answered(observation)
            case seen.HeartbeatSent():
                self._heartbeat_sent(observation)
            case seen.HeartbeatUnsent():
                self._heartbeat_unsent(observation)
            case seen.HeartbeatAnswered():
                self._heartbeat_answered(observation)
            case seen.Changed():
                self._changed(observation)
            case seen.GroupPasses():
                self._passed[(_bounded(observation.reason, self._reasons, MOST_REASONS),)] += 1
                _remember(self._passing, (observation.group_id, observation.member_id), None)
            case seen.PassesNoMore():
                self._passing.pop((observation.group_id, observation.member_id), None)
            case seen.GroupRefused():
                self._refused[(_bounded(observation.group_id, self._kept_out, MOST_GROUPS),)] += 1

    # --------------------------------------------------------------------------------------------------- questions

    def _request_answered(self, answered: seen.RequestAnswered) -> None:
        api = self._asked.pop(answered.number, None)
        if api is not None and not answered.is_passed_on:
            outcome = _error_name(answered.error_code) if answered.is_heard else UNHEARD
            self._translations[api, outcome] += 1

    def _heartbeat_sent(self, sent: seen.HeartbeatSent) -> None:
        key = (sent.heartbeat.group_id, sent.heartbeat.member_id)
        _remember(self._sent, sent.serial, (key, sent.at_ns))
        if key not in self._unanswered:
            _remember(self._unanswered, key, sent.at_ns)

    def _heartbeat_unsent(self, unsent: seen.HeartbeatUnsent) -> None:
        """Its coordinator has no word of the member, as if it had been lost. Of whoever has left nothing is awaited."""
        key = (unsent.heartbeat.group_id, unsent.heartbeat.member_id)
        if key in self._faces and key not in self._unanswered:
            _remember(self._unanswered, key, unsent.at_ns)

    def _heartbeat_answered(self, answered: seen.HeartbeatAnswered) -> None:
        key, sent_ns = self._sent.pop(answered.serial, (None, 0))
        # Whoever has left asks only once.
        if key is not None and (answered.answer is not None or key not in self._faces):
            self._unanswered.pop(key, None)
        if answered.answer is None:
            self._errors[("lost",)] += 1
            return
        if answered.answer.error_code:
            self._errors[(_error_name(answered.answer.error_code),)] += 1
        if key is not None:
            self._heartbeat_s.add(sent_ns, answered.at_ns)

    # ----------------------------------------------------------------------------------------------------- members

    def _changed(self, changed: seen.Changed) -> None:
        it = changed.transition
        key = (it.group_id, it.member_id)
        self._recount(key, it.phase, _bounded(changed.client.software or "unknown", self._software, MOST_SOFTWARE))
        self._rebalance(key, it, changed.at_ns)
        self._epoch(key, it)
        if it.phase is Phase.ABSENT:
            self._unanswered.pop(key, None)
            self._told.pop(key, None)
        else:
            self._passing.pop(key, None)

    def _recount(self, key: Key, phase: Phase, software: str) -> None:
        group_id = key[0]
        before = self._faces.pop(key, None)
        if before is not None:
            _take_one(self._members, (group_id, before[0].value, before[1]))
        if phase is not Phase.ABSENT:
            self._faces[key] = (phase, software)
            self._members[group_id, phase.value, software] += 1
            self._groups[group_id] += before is None
        elif before is not None:
            _take_one(self._groups, group_id)

    def _rebalance(self, key: Key, it: Transition, at_ns: int) -> None:
        if it.phase in (Phase.ABSENT, Phase.STABLE):
            began, from_ns = self._begun.pop(key, ("", 0))
            if began:
                self._rebalances[began, it.phase.value] += 1
            if began and it.phase is Phase.STABLE:
                self._rebalance_s.add(from_ns, at_ns)
        elif (it.phase_before, it.phase) in BEGINNINGS:
            self._begun[key] = (BEGINNINGS[it.phase_before, it.phase], at_ns)

    def _epoch(self, key: Key, it: Transition) -> None:
        """The one that is left is counted, by what came to be known of it while the member was there."""
        is_another = it.epoch != it.epoch_before
        told = self._told.pop(key, None) if is_another else self._told.get(key)
        if told is not None and it.epoch > it.epoch_before:
            self._epochs[(told,)] += 1
        moves_nothing = it.phase_before is it.phase is Phase.STABLE and it.owned == it.assigned
        if (it.phase_before, it.phase) in TELLINGS:
            self._told[key] = "yes"
        elif is_another and moves_nothing:
            self._told[key] = "no"
        elif told == "no" and not moves_nothing:
            self._told.pop(key, None)

    # ------------------------------------------------------------------------------------------------------- shown

    def collect(self) -> Iterator[Metric]:
        yield self._members_family()
        yield _counters("rebalances", ("began", "ended"), self._rebalances)
        yield self._rebalance_s.family("rebalance_seconds")
        yield _counters("translations", ("api", "outcome"), self._translations)
        yield _counters("member_epochs", ("told",), self._epochs)
        yield _counters("upstream_errors", ("error",), self._errors)
        yield self._heartbeat_s.family("upstream_heartbeat_seconds")
        yield _gauge("heartbeat_age_seconds", self._longest_wait_s())
        yield _gauge("groups_passing", len({group_id for group_id, _ in self._passing}))
        yield _counters("members_passed", ("reason",), self._passed)
        yield _counters("requests_refused", ("group",), self._refused)

    def _members_family(self) -> Metric:
        named = {group_id for group_id, _ in zip(self._groups, range(MOST_GROUPS), strict=False)}
        counts: Counter[tuple[str, str, str]] = Counter()
        for (group_id, phase, software), count in self._members.items():
            counts[group_id[:LONGEST_NAME] if group_id in named else OTHER, phase, software] += count
        family = GaugeMetricFamily(PREFIX + "members", GROUP_METRICS["members"], labels=["group", "phase", "software"])
        for labels, count in counts.items():
            family.add_metric(labels, count)
        return family

    def _longest_wait_s(self) -> float:
        oldest_ns = next(iter(self._unanswered.values()), None)
        return 0.0 if oldest_ns is None else max(0, self._now_ns() - oldest_ns) / 1e9


def _error_name(code: int) -> str:
    return "ok" if code == e.NONE else e.NAMES.get(code, str(code)).lower()


def _bounded(name: str, known: set[str], most: int) -> str:
    name = name[:LONGEST_NAME]
    if name not in known and len(known) >= most:
        return OTHER
    known.add(name)
    return name


def _take_one(counts: Counter[K], key: K) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def _remember(memory: OrderedDict[K, V], key: K, value: V) -> None:
    """Requests and heartbeats whose answer is awaited, and groups that pass: but not for ever."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > LARGEST_MEMORY:
        memory.popitem(last=False)


def _gauge(name: str, value: float) -> Metric:
    return GaugeMetricFamily(PREFIX + name, GROUP_METRICS[name], value=value)


def _counters(name: str, labels: tuple[str, ...], counts: Mapping[Labels, int]) -> Metric:
    family = CounterMetricFamily(PREFIX + name, GROUP_METRICS[name], labels=labels)
    for values, count in counts.items():
        family.add_metric(values, count)
    return family
