"""OffsetFetch 0 and ListOffsets 0, which brokers have dropped (KIP-896): asked in version 1, told as version 0 would.

OffsetFetch 0 read ZooKeeper, where version 1 reads the group's own topic (and commits of version 0 are written there by
commits.py, so what a client committed it finds). The messages are alike; but where nothing is committed, version 0 said
UNKNOWN_TOPIC_OR_PARTITION and version 1 says nothing.

ListOffsets 0 told a list, the newest first: the ends of the segments that were last written before a time. Version 1 tells
the one offset that was meant, and we make the list of it: as if the log were cut at that offset and nowhere else, so the
start of the log comes behind it for whoever wants more than one. A time after the last record is the end of the log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from kafka_protocol.messages import keys
from proxy.causes import Cause
from proxy.groups.classic import Request
from proxy.groups.line import Line
from proxy.groups.native import Ask
from translation import errors as e

DROPPED = frozenset({(keys.LIST_OFFSETS, 0), (keys.OFFSET_FETCH, 0)})
INSTEAD = 1

LATEST, EARLIEST, NOT_FOUND = -1, -2, -1
NOTHING_COMMITTED = -1

Place = tuple[str, int]


def taken(line: Line, request: Request) -> None:
    """A broker that still knows the version is asked in it."""

    def known() -> None:
        oldest, _ = line.versions.get(request.key, (INSTEAD, INSTEAD))
        if oldest == 0:
            line.forward(request.frame)
        elif request.key == keys.OFFSET_FETCH:
            _ask(line, request, request.body, lambda answer: line.answer(request.answered(_fetched(answer))))
        else:
            _list_offsets(line, request)

    line.know_versions(known)


def _ask(line: Line, request: Request, body: Any, then: Callable[[Any], None]) -> None:
    """`then` hears the answer, if there is one; who waits for none is better off with a new connection."""

    def heard(answer: Any) -> None:
        if answer is not None:
            then(answer)
        elif line.open:
            line.connection.close(Cause.BROKER_LOST, f"{request.name} was not answered")

    line.ask(Ask(request.key, INSTEAD, body), heard)


def _fetched(answer: Any) -> Any:
    for topic in answer.topics:
        for each in topic.partitions:
            if each.error_code == e.NONE and each.committed_offset == NOTHING_COMMITTED:
                each.error_code = e.UNKNOWN_TOPIC_OR_PARTITION
    return answer


def _list_offsets(line: Line, request: Request) -> None:
    asked = _places(request.body)

    def listed(first: Any) -> None:
        more = {
            place: at
            for place, found in _places(first).items()
            if found.error_code == e.NONE and (at := _second_time(asked[place], found.offset)) is not None
        }
        if more:
            second = _at(request.body, more)
            _ask(line, request, second, lambda then: line.answer(request.answered(_as_lists(first, then, asked))))
        else:
            line.answer(request.answered(_as_lists(first, None, asked)))

    _ask(line, request, _at(request.body, {place: each.timestamp for place, each in asked.items()}), listed)


def _second_time(wanted: Any, found: int) -> int | None:
    """What else must be asked about a partition."""
    if found == NOT_FOUND:
        return LATEST
    return EARLIEST if wanted.max_num_offsets > 1 and wanted.timestamp != EARLIEST else None


def _at(body: Any, times: dict[Place, int]) -> Any:
    """The request for these partitions, at these times."""
    topics = []
    for topic in body.topics:
        partitions = [
            msgspec.structs.replace(each, timestamp=times[topic.name, each.partition_index], max_num_offsets=1)
            for each in topic.partitions
            if (topic.name, each.partition_index) in times
        ]
        if partitions:
            topics.append(msgspec.structs.replace(topic, partitions=partitions))
    return msgspec.structs.replace(body, topics=topics)


def _as_lists(first: Any, second: Any, asked: dict[Place, Any]) -> Any:
    also = _places(second) if second is not None else {}
    for place, each in _places(first).items():
        found = {each.offset, also[place].offset if place in also else NOT_FOUND} - {NOT_FOUND}
        each.old_style_offsets = sorted(found, reverse=True)[: asked[place].max_num_offsets]
        # Version 0 has no words for them.
        each.offset = each.timestamp = NOT_FOUND
    return first


def _places(body: Any) -> dict[Place, Any]:
    return {(topic.name, each.partition_index): each for topic in body.topics for each in topic.partitions}
