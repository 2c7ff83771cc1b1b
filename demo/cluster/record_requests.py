"""Produce, Fetch, ListOffsets, InitProducerId: records in and out."""

from __future__ import annotations

from typing import Any

import trio

from demo.cluster.cluster import Cluster
from demo.cluster.codes import Code, Refused
from demo.cluster.request import Request
from kafka_protocol import messages as m

FIRST_FETCH_BY_ID = 13


def produce(cluster: Cluster, request: Request) -> Any:
    answer = m.ProduceResponse(
        responses=[
            m.ProduceResponseTopicProduceResponse(
                name=topic.name,
                partition_responses=[_appended(cluster, request, topic.name, each) for each in topic.partition_data],
            )
            for topic in request.body.topic_data
        ]
    )
    cluster.announce_records()
    return answer


def _appended(cluster: Cluster, request: Request, topic: str, data: Any) -> Any:
    try:
        request.admit()
        offset = cluster.led(request.node, topic, data.index).append(data.records or b"")
    except Refused as refused:
        return m.ProduceResponsePartitionProduceResponse(index=data.index, error_code=refused.code, base_offset=-1)
    return m.ProduceResponsePartitionProduceResponse(index=data.index, base_offset=offset, log_start_offset=0)


async def wait_for_records(cluster: Cluster, request: Request) -> None:
    """Fetch's long poll: until there are `min_bytes`, or something to complain of, or the time is over."""
    with trio.move_on_after(request.body.max_wait_ms / 1000):
        while not _enough(cluster, request):
            await cluster.appended.wait()


def _enough(cluster: Cluster, request: Request) -> bool:
    found = [part for topic in fetch(cluster, request).responses for part in topic.partitions]
    size = sum(len(part.records) for part in found)
    return size >= request.body.min_bytes or any(part.error_code for part in found)


def fetch(cluster: Cluster, request: Request) -> Any:
    """There are no fetch sessions here (session id 0): every request says all it wants (KIP-227 allows it)."""
    room = request.body.max_bytes
    topics = []
    for wanted in request.body.topics:
        parts = []
        for each in wanted.partitions:
            part = _read(cluster, request, wanted, each, room)
            room -= len(part.records)
            parts.append(part)
        topics.append(
            m.FetchResponseFetchableTopicResponse(topic=wanted.topic, topic_id=wanted.topic_id, partitions=parts)
        )
    return m.FetchResponse(responses=topics)


def _read(cluster: Cluster, request: Request, topic: Any, wanted: Any, room: int) -> Any:
    try:
        request.admit()
        name = cluster.topic_named(topic.topic_id) if request.version >= FIRST_FETCH_BY_ID else topic.topic
        log = cluster.led(request.node, name, wanted.partition)
        records = log.read(wanted.fetch_offset, min(wanted.partition_max_bytes, room)) if room > 0 else b""
    except Refused as refused:
        return m.FetchResponsePartitionData(
            partition_index=wanted.partition, error_code=refused.code, high_watermark=-1, aborted_transactions=None
        )
    return m.FetchResponsePartitionData(
        partition_index=wanted.partition,
        high_watermark=log.next_offset,
        last_stable_offset=log.next_offset,
        log_start_offset=0,
        aborted_transactions=None,
        records=records,
    )


def list_offsets(cluster: Cluster, request: Request) -> Any:
    return m.ListOffsetsResponse(
        topics=[
            m.ListOffsetsResponseListOffsetsTopicResponse(
                name=topic.name,
                partitions=[_offset(cluster, request, topic.name, each) for each in topic.partitions],
            )
            for topic in request.body.topics
        ]
    )


def _offset(cluster: Cluster, request: Request, topic: str, wanted: Any) -> Any:
    number = wanted.partition_index
    try:
        request.admit()
        offset, timestamp = cluster.led(request.node, topic, number).offset_at(wanted.timestamp)
    except Refused as refused:
        return m.ListOffsetsResponseListOffsetsPartitionResponse(partition_index=number, error_code=refused.code)
    return m.ListOffsetsResponseListOffsetsPartitionResponse(
        partition_index=number, timestamp=timestamp, offset=offset, leader_epoch=0
    )


def init_producer_id(cluster: Cluster, request: Request) -> Any:
    refusal = request.refusal or (Code.INVALID_REQUEST if request.body.transactional_id is not None else 0)
    if refusal:
        return m.InitProducerIdResponse(error_code=refusal)
    return m.InitProducerIdResponse(producer_id=next(cluster.producer_ids), producer_epoch=0)
