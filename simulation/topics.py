"""The topics of a cluster. An id is never used again: a topic deleted and re-created is another topic."""

from __future__ import annotations

from collections.abc import Iterable

from translation.group_heartbeat import TopicPartition


class Topics:
    def __init__(self, /, **partitions: int) -> None:
        """A topic may be called `self`."""
        self.ids: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.partitions: dict[str, tuple[TopicPartition, ...]] = {}
        self.changes = 0
        for name, count in partitions.items():
            self.create(name, count)

    def create(self, name: str, count: int) -> str:
        topic_id = f"{len(self.names) + 1:032x}"
        self.ids[name] = topic_id
        self.names[topic_id] = name
        self._lay(topic_id, count)
        return topic_id

    def grow(self, name: str, count: int) -> None:
        self._lay(self.ids[name], count)

    def delete(self, name: str) -> None:
        del self.partitions[self.ids.pop(name)]
        self.changes += 1

    @property
    def created(self) -> int:
        """How many ever were."""
        return len(self.names)

    def of(self, names: Iterable[str]) -> tuple[TopicPartition, ...]:
        """All partitions of those named topics that exist."""
        known = sorted(self.ids[name] for name in names if name in self.ids)
        return tuple(partition for topic_id in known for partition in self.partitions[topic_id])

    def named(self, names: Iterable[str]) -> dict[str, str | None]:
        return {self.ids[name]: name for name in names if name in self.ids}

    def at(self, name: str, *numbers: int) -> tuple[TopicPartition, ...]:
        return tuple(self.partitions[self.ids[name]][number] for number in numbers)

    def _lay(self, topic_id: str, count: int) -> None:
        self.partitions[topic_id] = tuple(TopicPartition(topic_id, number) for number in range(count))
        self.changes += 1
