# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ConsumerGroupDescribe."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ConsumerGroupDescribeRequest(Struct, gc=False):
    group_ids: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupDescribeResponseTopicPartitions(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    topic_name: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupDescribeResponseAssignment(Struct, gc=False):
    topic_partitions: list[ConsumerGroupDescribeResponseTopicPartitions] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupDescribeResponseMember(Struct, gc=False):
    member_id: str = ''
    instance_id: str | None = None
    rack_id: str | None = None
    member_epoch: int = 0
    client_id: str = ''
    client_host: str = ''
    subscribed_topic_names: list[str] = field(default_factory=list)
    subscribed_topic_regex: str | None = None
    assignment: ConsumerGroupDescribeResponseAssignment | None = None
    target_assignment: ConsumerGroupDescribeResponseAssignment | None = None
    member_type: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupDescribeResponseDescribedGroup(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ''
    group_state: str = ''
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ''
    members: list[ConsumerGroupDescribeResponseMember] = field(default_factory=list)
    authorized_operations: int = -2147483648
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupDescribeResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    groups: list[ConsumerGroupDescribeResponseDescribedGroup] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ConsumerGroupDescribeRequest': Schema(
        'ConsumerGroupDescribeRequest', 69, 0,
        (
            Layout((0, 1), (
                Field('group_ids', '[]string', default=[]),
                Field('include_authorized_operations', 'bool', default=False),
            )),
        ),
    ),
    'ConsumerGroupDescribeResponse': Schema(
        'ConsumerGroupDescribeResponse', 69, 0,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('groups', '[]ConsumerGroupDescribeResponseDescribedGroup', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', nullable=(0, 32767)),
                    Field('group_id', 'string', default=''),
                    Field('group_state', 'string', default=''),
                    Field('group_epoch', 'int32', default=0),
                    Field('assignment_epoch', 'int32', default=0),
                    Field('assignor_name', 'string', default=''),
                    Field('members', '[]ConsumerGroupDescribeResponseMember', default=[], fields=(
                        Field('member_id', 'string', default=''),
                        Field('instance_id', 'string', nullable=(0, 32767)),
                        Field('rack_id', 'string', nullable=(0, 32767)),
                        Field('member_epoch', 'int32', default=0),
                        Field('client_id', 'string', default=''),
                        Field('client_host', 'string', default=''),
                        Field('subscribed_topic_names', '[]string', default=[]),
                        Field('subscribed_topic_regex', 'string', nullable=(0, 32767)),
                        Field('assignment', 'ConsumerGroupDescribeResponseAssignment', fields=(
                            Field('topic_partitions', '[]ConsumerGroupDescribeResponseTopicPartitions', default=[], fields=(
                                Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                                Field('topic_name', 'string', default=''),
                                Field('partitions', '[]int32', default=[]),
                            )),
                        )),
                        Field('target_assignment', 'ConsumerGroupDescribeResponseAssignment', fields=(
                            Field('topic_partitions', '[]ConsumerGroupDescribeResponseTopicPartitions', default=[], fields=(
                                Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                                Field('topic_name', 'string', default=''),
                                Field('partitions', '[]int32', default=[]),
                            )),
                        )),
                        Field('member_type', 'int8', versions=(1, 32767), default=-1),
                    )),
                    Field('authorized_operations', 'int32', default=-2147483648),
                )),
            )),
        ),
    ),
}
