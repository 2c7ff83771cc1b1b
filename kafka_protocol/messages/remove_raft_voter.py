# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""RemoveRaftVoter."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class RemoveRaftVoterRequest(Struct, gc=False):
    cluster_id: str | None = ''
    voter_id: int = 0
    voter_directory_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class RemoveRaftVoterResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'RemoveRaftVoterRequest': Schema(
        'RemoveRaftVoterRequest', 81, 0,
        (
            Layout((0, 0), (
                Field('cluster_id', 'string', default='', nullable=(0, 32767)),
                Field('voter_id', 'int32', default=0),
                Field('voter_directory_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
            )),
        ),
    ),
    'RemoveRaftVoterResponse': Schema(
        'RemoveRaftVoterResponse', 81, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
            )),
        ),
    ),
}
