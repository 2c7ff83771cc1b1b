"""What is remembered of clients, and how much of it: they choose what they are called."""

from __future__ import annotations

import tracemalloc

from proxy.groups.passing import GroupRules
from proxy.memory import LARGEST_MEMORY, Memory
from proxy.settings import GroupRule
from translation.rules import Rules

# As long as a string of Kafka's may be.
LONG = "x" * 32_000
MEGABYTE = 1_000_000


def test_the_oldest_are_forgotten() -> None:
    memory = Memory()
    for number in range(LARGEST_MEMORY + 1):
        memory.add(("group", f"member-{number}"), "why")
    assert ("group", "member-0") not in memory
    assert memory.reason(("group", "member-1")) == "why"


def test_ids_of_any_length_take_no_more_room_than_there_is() -> None:
    memory = Memory()
    tracemalloc.start()
    for number in range(5_000):
        key = (f"{LONG}{number}", f"{number}{LONG}")
        memory.add(key)
        assert key in memory
    assert tracemalloc.get_traced_memory()[0] < 10 * MEGABYTE
    tracemalloc.stop()


def test_who_is_taken_out_or_comes_again_makes_room() -> None:
    memory = Memory()
    for _ in range(1_000):
        memory.add(("stays", ""))
        memory.add((LONG, "again"))
        memory.add((LONG, "taken"))
        assert memory.take((LONG, "taken"))
    assert not memory.take((LONG, "taken"))
    assert ("stays", "") in memory
    assert (LONG, "again") in memory


def test_what_rules_say_of_ids_of_any_length_takes_no_more_room_than_there_is() -> None:
    rules = GroupRules([GroupRule(pattern="*-1", mode="pass")], Rules())
    tracemalloc.start()
    for number in range(1_000):
        assert rules.of(f"{LONG}{number}-1").mode == "pass"
    assert tracemalloc.get_traced_memory()[0] < 10 * MEGABYTE
    tracemalloc.stop()
