"""One line a membership change: who came, who went and why, who must rejoin, and what each was told."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.groups.departures import NOT_BACK
from proxy.logs import Log
from proxy.observations import Changed, Observation, Observer
from translation.events import MemberAdopted
from translation.group_heartbeat import TopicPartition
from translation.states import Phase

SAID = frozenset({MemberAdopted.__name__, NOT_BACK})


def membership_log(log: Log) -> Observer:
    def observe(observation: Observation) -> None:
        if isinstance(observation, Changed):
            _say(log, observation)

    return observe


def _say(log: Log, changed: Changed) -> None:
    it = changed.transition
    who = {"group": it.group_id, "member": it.member_id, "client": changed.client.client_id}
    if it.instance_id is not None:
        who["instance"] = it.instance_id
    moved = (it.phase_before, it.phase)
    if it.cause in SAID:
        # By who recognised it, or had it leave.
        return
    if it.phase_before is Phase.ABSENT and it.phase is not Phase.ABSENT:
        log.info("member joins", **who, address=changed.client.address, cause=it.cause, epoch=it.epoch)
    elif it.phase is Phase.ABSENT and it.phase_before is not Phase.ABSENT:
        log.info("member leaves", **who, cause=it.cause, epoch=it.epoch_before)
    elif moved == (Phase.STABLE, Phase.PREPARE_REBALANCE):
        log.info("member is asked to rejoin", **who, cause=it.cause, epoch=it.epoch)
    elif moved == (Phase.COMPLETING_REBALANCE, Phase.STABLE):
        log.info(
            "member is told its partitions", **who, generation=it.generation, partitions=named(it.owned, changed.names)
        )


def named(partitions: tuple[TopicPartition, ...], names: Mapping[str, str | None]) -> str:
    """`orders:0,1 sums:3`, by name as far as it is known."""
    by_topic: dict[str, list[int]] = {}
    for tp in partitions:
        by_topic.setdefault(names.get(tp.topic_id) or tp.topic_id, []).append(tp.partition)
    return " ".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in sorted(by_topic.items())) or "none"
