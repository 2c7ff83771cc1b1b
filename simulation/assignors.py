"""Who shall own what: Kafka's server-side assignors, `uniform` and `range`.

Both are pure: (members, partitions by topic) -> target. Ties fall as they do in a broker, because where a partition goes
decides who is disturbed: `uniform` goes through the members in the order of a Java HashMap of their ids, and gives the
odd partition to whoever comes first there, even if that takes one from a member who has it (KAFKA's
UniformHomogeneousAssignmentBuilder); `range` goes by instance id, then by member id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from translation.group_heartbeat import TopicPartition

Target = dict[str, frozenset[TopicPartition]]
NOTHING: frozenset[TopicPartition] = frozenset()


class Candidate(msgspec.Struct, frozen=True):
    """A member as an assignor sees it: `has` is its share of the last target, not what it owns."""

    member_id: str
    instance_id: str | None
    topic_ids: frozenset[str]
    has: frozenset[TopicPartition]


Partitions = Mapping[str, tuple[TopicPartition, ...]]
Assignor = Callable[[list[Candidate], Partitions], Target]


def uniform(candidates: list[Candidate], partitions: Partitions) -> Target:
    """Balance first, then as little movement as possible."""
    if len({candidate.topic_ids for candidate in candidates}) > 1:
        return _uniform_where_subscribed(candidates, partitions)
    wanted = _all(sorted(candidates[0].topic_ids), partitions)
    least, odd = divmod(len(wanted), len(candidates))
    quotas = {c.member_id: least + (rank < odd) for rank, c in enumerate(_in_hash_order(candidates))}
    by_id = {candidate.member_id: candidate for candidate in candidates}
    exists = frozenset(wanted)
    kept = {member_id: sorted(by_id[member_id].has & exists)[:quota] for member_id, quota in quotas.items()}
    free = _first_the_unowned(wanted, candidates, kept)
    return {
        member_id: frozenset(kept[member_id] + [next(free) for _ in range(quota - len(kept[member_id]))])
        for member_id, quota in quotas.items()
    }


def range_(candidates: list[Candidate], partitions: Partitions) -> Target:
    """Topic by topic consecutive partitions, so that topics of one size are co-partitioned. Nothing is sticky."""
    shares: dict[str, set[TopicPartition]] = {candidate.member_id: set() for candidate in candidates}
    in_order = sorted(candidates, key=lambda c: (c.instance_id is None, c.instance_id or c.member_id))
    for topic_id in sorted(set().union(*(candidate.topic_ids for candidate in candidates))):
        subscribers = [candidate.member_id for candidate in in_order if topic_id in candidate.topic_ids]
        here = partitions[topic_id]
        least, odd = divmod(len(here), len(subscribers))
        start = 0
        for rank, member_id in enumerate(subscribers):
            end = start + least + (rank < odd)
            shares[member_id].update(here[start:end])
            start = end
    return {member_id: frozenset(share) for member_id, share in shares.items()}


ASSIGNORS: dict[str, Assignor] = {"uniform": uniform, "range": range_}
DEFAULT_ASSIGNOR = "uniform"


def _uniform_where_subscribed(candidates: list[Candidate], partitions: Partitions) -> Target:
    """Members with different topics: keep, give the free ones to the poorest, then level out."""
    share = {c.member_id: {p for p in c.has if p.topic_id in c.topic_ids} for c in candidates}
    topic_ids = {candidate.member_id: candidate.topic_ids for candidate in candidates}
    wanted = _all(sorted(set().union(*topic_ids.values())), partitions)
    share = {member_id: owned.intersection(wanted) for member_id, owned in share.items()}
    owner = {partition: member_id for member_id, owned in share.items() for partition in owned}
    for partition in wanted:
        entitled = [member_id for member_id in sorted(share) if partition.topic_id in topic_ids[member_id]]
        poorest = min(entitled, key=lambda member_id: len(share[member_id]))
        holder = owner.get(partition)
        if holder is None or len(share[holder]) > len(share[poorest]) + 1:
            if holder is not None:
                share[holder].remove(partition)
            share[poorest].add(partition)
            owner[partition] = poorest
    return {member_id: frozenset(owned) for member_id, owned in share.items()}


def _first_the_unowned(
    wanted: list[TopicPartition], candidates: list[Candidate], kept: dict[str, list[TopicPartition]]
) -> Iterator[TopicPartition]:
    """In the order a broker hands them out: those nobody had, then those taken from members above their quota."""
    had: set[TopicPartition] = set().union(*(candidate.has for candidate in candidates))
    still = {partition for owned in kept.values() for partition in owned}
    yield from (partition for partition in wanted if partition not in had)
    by_id = {candidate.member_id: candidate for candidate in candidates}
    exists = frozenset(wanted)
    for member_id in kept:
        yield from sorted((by_id[member_id].has & exists) - still)


def _all(topic_ids: Iterable[str], partitions: Partitions) -> list[TopicPartition]:
    return [partition for topic_id in topic_ids for partition in partitions[topic_id]]


def _in_hash_order(candidates: list[Candidate]) -> list[Candidate]:
    """The order in which a java.util.HashMap of so many member ids would be walked (collisions aside)."""
    capacity = 16
    while len(candidates) > capacity * 3 // 4:
        capacity *= 2
    return sorted(candidates, key=lambda candidate: _spread(candidate.member_id) % capacity)


def _spread(text: str) -> int:
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value ^ (value >> 16)
