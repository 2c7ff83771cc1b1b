"""The two server assignors, held to what they promise."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from simulation.assignors import Candidate, Target, range_, uniform
from simulation.topics import Topics


def candidates(
    topics: Topics, count: int, has: Target | None = None, names: tuple[str, ...] = ("foo", "bar")
) -> list[Candidate]:
    ids = frozenset(topics.ids[name] for name in names)
    return [Candidate(f"m{n}", None, ids, (has or {}).get(f"m{n}", frozenset())) for n in range(count)]


def sizes(target: Target) -> list[int]:
    return sorted(len(share) for share in target.values())


def covers(target: Target, topics: Topics) -> bool:
    given_out = Counter(partition for share in target.values() for partition in share)
    return given_out == Counter(topics.of(topics.ids))


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 12), st.integers(0, 12))
def test_uniform_gives_out_everything_once_and_evenly_whoever_comes_or_goes(
    before: int, after: int, foo: int, bar: int
) -> None:
    topics = Topics(foo=foo, bar=bar)
    first = uniform(candidates(topics, before), topics.partitions)
    second = uniform(candidates(topics, after, first), topics.partitions)
    for target in (first, second):
        assert covers(target, topics)
        assert sizes(target)[-1] - sizes(target)[0] <= 1


def test_uniform_moves_nothing_when_nothing_changed() -> None:
    topics = Topics(foo=7, bar=3)
    first = uniform(candidates(topics, 3), topics.partitions)
    assert uniform(candidates(topics, 3, first), topics.partitions) == first


def test_uniform_may_move_the_odd_partition_when_members_with_earlier_hashes_come() -> None:
    """A newcomer that comes first in hash order gets the larger share, as in a real broker."""
    topics = Topics(foo=3)
    ids = frozenset(topics.ids.values())
    alone = uniform([Candidate("b", None, ids, frozenset())], topics.partitions)
    both = [Candidate("b", None, ids, alone["b"]), Candidate("a", None, ids, frozenset())]
    assert {who: len(share) for who, share in uniform(both, topics.partitions).items()} == {"a": 2, "b": 1}


def test_uniform_respects_different_subscriptions() -> None:
    topics = Topics(foo=4, bar=2)
    foo, bar = topics.ids["foo"], topics.ids["bar"]
    everyone = [
        Candidate("a", None, frozenset({foo}), frozenset()),
        Candidate("b", None, frozenset({foo, bar}), frozenset()),
        Candidate("c", None, frozenset({bar}), frozenset()),
    ]
    target = uniform(everyone, topics.partitions)
    assert covers(target, topics)
    assert {p.topic_id for p in target["a"]} == {foo}
    assert {p.topic_id for p in target["c"]} == {bar}
    assert sizes(target) == [2, 2, 2]


@given(st.integers(1, 9), st.integers(0, 12))
def test_range_co_partitions_topics_of_one_size(members: int, count: int) -> None:
    topics = Topics(foo=count, bar=count)
    target = range_(candidates(topics, members), topics.partitions)
    assert covers(target, topics)
    for share in target.values():
        numbers = {
            name: [p.partition for p in sorted(share) if topics.names[p.topic_id] == name] for name in topics.ids
        }
        assert numbers["foo"] == numbers["bar"]


def test_range_gives_consecutive_partitions_by_instance_id_then_member_id() -> None:
    topics = Topics(foo=5)
    ids = frozenset(topics.ids.values())
    members = [
        Candidate("a", None, ids, frozenset()),
        Candidate("z", "1", ids, frozenset()),
        Candidate("b", None, ids, frozenset()),
    ]
    target = range_(members, topics.partitions)
    assert {who: [p.partition for p in sorted(share)] for who, share in target.items()} == {
        "z": [0, 1],
        "a": [2, 3],
        "b": [4],
    }
