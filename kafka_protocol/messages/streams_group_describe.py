# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""StreamsGroupDescribe."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class StreamsGroupDescribeRequest(Struct, gc=False):
    group_ids: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False
    include_topology_description: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseKeyValue(Struct, gc=False):
    key: str = ''
    value: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseTopicInfo(Struct, gc=False):
    name: str = ''
    partitions: int = 0
    replication_factor: int = 0
    topic_configs: list[StreamsGroupDescribeResponseKeyValue] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseSubtopology(Struct, gc=False):
    subtopology_id: str = ''
    source_topics: list[str] = field(default_factory=list)
    repartition_sink_topics: list[str] = field(default_factory=list)
    state_changelog_topics: list[StreamsGroupDescribeResponseTopicInfo] = field(default_factory=list)
    repartition_source_topics: list[StreamsGroupDescribeResponseTopicInfo] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseTopology(Struct, gc=False):
    epoch: int = 0
    subtopologies: list[StreamsGroupDescribeResponseSubtopology] | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseEndpoint(Struct, gc=False):
    host: str = ''
    port: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseTaskOffset(Struct, gc=False):
    subtopology_id: str = ''
    partition: int = 0
    offset: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseTaskIds(Struct, gc=False):
    subtopology_id: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseAssignment(Struct, gc=False):
    active_tasks: list[StreamsGroupDescribeResponseTaskIds] = field(default_factory=list)
    standby_tasks: list[StreamsGroupDescribeResponseTaskIds] = field(default_factory=list)
    warmup_tasks: list[StreamsGroupDescribeResponseTaskIds] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseMember(Struct, gc=False):
    member_id: str = ''
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ''
    client_host: str = ''
    topology_epoch: int = 0
    process_id: str = ''
    user_endpoint: StreamsGroupDescribeResponseEndpoint | None = None
    client_tags: list[StreamsGroupDescribeResponseKeyValue] = field(default_factory=list)
    task_offsets: list[StreamsGroupDescribeResponseTaskOffset] = field(default_factory=list)
    task_end_offsets: list[StreamsGroupDescribeResponseTaskOffset] = field(default_factory=list)
    assignment: StreamsGroupDescribeResponseAssignment | None = None
    target_assignment: StreamsGroupDescribeResponseAssignment | None = None
    is_classic: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseTopologyDescriptionNode(Struct, gc=False):
    name: str = ''
    node_type: int = 0
    source_topics: list[str] = field(default_factory=list)
    sink_topic: str | None = None
    stores: list[str] = field(default_factory=list)
    successors: list[str] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseTopologyDescriptionSubtopology(Struct, gc=False):
    subtopology_id: str = ''
    nodes: list[StreamsGroupDescribeResponseTopologyDescriptionNode] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseTopologyDescriptionGlobalStore(Struct, gc=False):
    source: StreamsGroupDescribeResponseTopologyDescriptionNode | None = None
    processor: StreamsGroupDescribeResponseTopologyDescriptionNode | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseTopologyDescription(Struct, gc=False):
    subtopologies: list[StreamsGroupDescribeResponseTopologyDescriptionSubtopology] = field(default_factory=list)
    global_stores: list[StreamsGroupDescribeResponseTopologyDescriptionGlobalStore] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponseDescribedGroup(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ''
    group_state: str = ''
    group_epoch: int = 0
    assignment_epoch: int = 0
    topology: StreamsGroupDescribeResponseTopology | None = None
    members: list[StreamsGroupDescribeResponseMember] = field(default_factory=list)
    authorized_operations: int = -2147483648
    topology_description: StreamsGroupDescribeResponseTopologyDescription | None = None
    topology_description_status: int = 0
    assignor_name: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupDescribeResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    groups: list[StreamsGroupDescribeResponseDescribedGroup] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'StreamsGroupDescribeRequest': Schema(
        'StreamsGroupDescribeRequest', 89, 0,
        (
            Layout((0, 1), (
                Field('group_ids', '[]string', default=[]),
                Field('include_authorized_operations', 'bool', default=False),
                Field('include_topology_description', 'bool', versions=(1, 32767), default=False),
            )),
        ),
    ),
    'StreamsGroupDescribeResponse': Schema(
        'StreamsGroupDescribeResponse', 89, 0,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('groups', '[]StreamsGroupDescribeResponseDescribedGroup', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', nullable=(0, 32767)),
                    Field('group_id', 'string', default=''),
                    Field('group_state', 'string', default=''),
                    Field('group_epoch', 'int32', default=0),
                    Field('assignment_epoch', 'int32', default=0),
                    Field('topology', 'StreamsGroupDescribeResponseTopology', nullable=(0, 32767), fields=(
                        Field('epoch', 'int32', default=0),
                        Field('subtopologies', '[]StreamsGroupDescribeResponseSubtopology', nullable=(0, 32767), fields=(
                            Field('subtopology_id', 'string', default=''),
                            Field('source_topics', '[]string', default=[]),
                            Field('repartition_sink_topics', '[]string', default=[]),
                            Field('state_changelog_topics', '[]StreamsGroupDescribeResponseTopicInfo', default=[], fields=(
                                Field('name', 'string', default=''),
                                Field('partitions', 'int32', default=0),
                                Field('replication_factor', 'int16', default=0),
                                Field('topic_configs', '[]StreamsGroupDescribeResponseKeyValue', default=[], fields=(
                                    Field('key', 'string', default=''),
                                    Field('value', 'string', default=''),
                                )),
                            )),
                            Field('repartition_source_topics', '[]StreamsGroupDescribeResponseTopicInfo', default=[], fields=(
                                Field('name', 'string', default=''),
                                Field('partitions', 'int32', default=0),
                                Field('replication_factor', 'int16', default=0),
                                Field('topic_configs', '[]StreamsGroupDescribeResponseKeyValue', default=[], fields=(
                                    Field('key', 'string', default=''),
                                    Field('value', 'string', default=''),
                                )),
                            )),
                        )),
                    )),
                    Field('members', '[]StreamsGroupDescribeResponseMember', default=[], fields=(
                        Field('member_id', 'string', default=''),
                        Field('member_epoch', 'int32', default=0),
                        Field('instance_id', 'string', nullable=(0, 32767)),
                        Field('rack_id', 'string', nullable=(0, 32767)),
                        Field('client_id', 'string', default=''),
                        Field('client_host', 'string', default=''),
                        Field('topology_epoch', 'int32', default=0),
                        Field('process_id', 'string', default=''),
                        Field('user_endpoint', 'StreamsGroupDescribeResponseEndpoint', nullable=(0, 32767), fields=(
                            Field('host', 'string', default=''),
                            Field('port', 'uint16', default=0),
                        )),
                        Field('client_tags', '[]StreamsGroupDescribeResponseKeyValue', default=[], fields=(
                            Field('key', 'string', default=''),
                            Field('value', 'string', default=''),
                        )),
                        Field('task_offsets', '[]StreamsGroupDescribeResponseTaskOffset', default=[], fields=(
                            Field('subtopology_id', 'string', default=''),
                            Field('partition', 'int32', default=0),
                            Field('offset', 'int64', default=0),
                        )),
                        Field('task_end_offsets', '[]StreamsGroupDescribeResponseTaskOffset', default=[], fields=(
                            Field('subtopology_id', 'string', default=''),
                            Field('partition', 'int32', default=0),
                            Field('offset', 'int64', default=0),
                        )),
                        Field('assignment', 'StreamsGroupDescribeResponseAssignment', fields=(
                            Field('active_tasks', '[]StreamsGroupDescribeResponseTaskIds', default=[], fields=(
                                Field('subtopology_id', 'string', default=''),
                                Field('partitions', '[]int32', default=[]),
                            )),
                            Field('standby_tasks', '[]StreamsGroupDescribeResponseTaskIds', default=[], fields=(
                                Field('subtopology_id', 'string', default=''),
                                Field('partitions', '[]int32', default=[]),
                            )),
                            Field('warmup_tasks', '[]StreamsGroupDescribeResponseTaskIds', default=[], fields=(
                                Field('subtopology_id', 'string', default=''),
                                Field('partitions', '[]int32', default=[]),
                            )),
                        )),
                        Field('target_assignment', 'StreamsGroupDescribeResponseAssignment', fields=(
                            Field('active_tasks', '[]StreamsGroupDescribeResponseTaskIds', default=[], fields=(
                                Field('subtopology_id', 'string', default=''),
                                Field('partitions', '[]int32', default=[]),
                            )),
                            Field('standby_tasks', '[]StreamsGroupDescribeResponseTaskIds', default=[], fields=(
                                Field('subtopology_id', 'string', default=''),
                                Field('partitions', '[]int32', default=[]),
                            )),
                            Field('warmup_tasks', '[]StreamsGroupDescribeResponseTaskIds', default=[], fields=(
                                Field('subtopology_id', 'string', default=''),
                                Field('partitions', '[]int32', default=[]),
                            )),
                        )),
                        Field('is_classic', 'bool', default=False),
                    )),
                    Field('authorized_operations', 'int32', default=-2147483648),
                    Field('topology_description', 'StreamsGroupDescribeResponseTopologyDescription', versions=(1, 32767), nullable=(1, 32767), fields=(
                        Field('subtopologies', '[]StreamsGroupDescribeResponseTopologyDescriptionSubtopology', versions=(1, 32767), default=[], fields=(
                            Field('subtopology_id', 'string', versions=(1, 32767), default=''),
                            Field('nodes', '[]StreamsGroupDescribeResponseTopologyDescriptionNode', versions=(1, 32767), default=[], fields=(
                                Field('name', 'string', versions=(1, 32767), default=''),
                                Field('node_type', 'int8', versions=(1, 32767), default=0),
                                Field('source_topics', '[]string', versions=(1, 32767), default=[]),
                                Field('sink_topic', 'string', versions=(1, 32767), nullable=(1, 32767)),
                                Field('stores', '[]string', versions=(1, 32767), default=[]),
                                Field('successors', '[]string', versions=(1, 32767), default=[]),
                            )),
                        )),
                        Field('global_stores', '[]StreamsGroupDescribeResponseTopologyDescriptionGlobalStore', versions=(1, 32767), default=[], fields=(
                            Field('source', 'StreamsGroupDescribeResponseTopologyDescriptionNode', versions=(1, 32767), fields=(
                                Field('name', 'string', versions=(1, 32767), default=''),
                                Field('node_type', 'int8', versions=(1, 32767), default=0),
                                Field('source_topics', '[]string', versions=(1, 32767), default=[]),
                                Field('sink_topic', 'string', versions=(1, 32767), nullable=(1, 32767)),
                                Field('stores', '[]string', versions=(1, 32767), default=[]),
                                Field('successors', '[]string', versions=(1, 32767), default=[]),
                            )),
                            Field('processor', 'StreamsGroupDescribeResponseTopologyDescriptionNode', versions=(1, 32767), fields=(
                                Field('name', 'string', versions=(1, 32767), default=''),
                                Field('node_type', 'int8', versions=(1, 32767), default=0),
                                Field('source_topics', '[]string', versions=(1, 32767), default=[]),
                                Field('sink_topic', 'string', versions=(1, 32767), nullable=(1, 32767)),
                                Field('stores', '[]string', versions=(1, 32767), default=[]),
                                Field('successors', '[]string', versions=(1, 32767), default=[]),
                            )),
                        )),
                    )),
                    Field('topology_description_status', 'int8', versions=(1, 32767), default=0),
                    Field('assignor_name', 'string', versions=(1, 32767), nullable=(1, 32767)),
                )),
            )),
        ),
    ),
}
