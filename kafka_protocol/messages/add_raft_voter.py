# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AddRaftVoter."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class AddRaftVoterRequestListener(Struct, gc=False):
    name: str = ''
    host: str = ''
    port: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddRaftVoterRequest(Struct, gc=False):
    cluster_id: str | None = ''
    timeout_ms: int = 0
    voter_id: int = 0
    voter_directory_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    listeners: list[AddRaftVoterRequestListener] = field(default_factory=list)
    ack_when_committed: bool = True
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddRaftVoterResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AddRaftVoterRequest': Schema(
        'AddRaftVoterRequest', 80, 0,
        (
            Layout((0, 1), (
                Field('cluster_id', 'string', default='', nullable=(0, 32767)),
                Field('timeout_ms', 'int32', default=0),
                Field('voter_id', 'int32', default=0),
                Field('voter_directory_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                Field('listeners', '[]AddRaftVoterRequestListener', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('host', 'string', default=''),
                    Field('port', 'uint16', default=0),
                )),
                Field('ack_when_committed', 'bool', versions=(1, 32767), default=True),
            )),
        ),
    ),
    'AddRaftVoterResponse': Schema(
        'AddRaftVoterResponse', 80, 0,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
            )),
        ),
    ),
}
