# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""StreamsGroupHeartbeat."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class StreamsGroupHeartbeatRequestKeyValue(Struct, gc=False):
    key: str = ''
    value: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatRequestTopicInfo(Struct, gc=False):
    name: str = ''
    partitions: int = 0
    replication_factor: int = 0
    topic_configs: list[StreamsGroupHeartbeatRequestKeyValue] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatRequestCopartitionGroup(Struct, gc=False):
    source_topics: list[int] = field(default_factory=list)
    source_topic_regex: list[int] = field(default_factory=list)
    repartition_source_topics: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatRequestSubtopology(Struct, gc=False):
    subtopology_id: str = ''
    source_topics: list[str] = field(default_factory=list)
    source_topic_regex: list[str] = field(default_factory=list)
    state_changelog_topics: list[StreamsGroupHeartbeatRequestTopicInfo] = field(default_factory=list)
    repartition_sink_topics: list[str] = field(default_factory=list)
    repartition_source_topics: list[StreamsGroupHeartbeatRequestTopicInfo] = field(default_factory=list)
    copartition_groups: list[StreamsGroupHeartbeatRequestCopartitionGroup] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatRequestTopology(Struct, gc=False):
    epoch: int = 0
    subtopologies: list[StreamsGroupHeartbeatRequestSubtopology] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatRequestTaskIds(Struct, gc=False):
    subtopology_id: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatRequestEndpoint(Struct, gc=False):
    host: str = ''
    port: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatRequestTaskOffset(Struct, gc=False):
    subtopology_id: str = ''
    partition: int = 0
    offset: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatRequest(Struct, gc=False):
    group_id: str = ''
    member_id: str = ''
    member_epoch: int = 0
    endpoint_information_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topology: StreamsGroupHeartbeatRequestTopology | None = None
    active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None
    standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None
    warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None
    process_id: str | None = None
    user_endpoint: StreamsGroupHeartbeatRequestEndpoint | None = None
    client_tags: list[StreamsGroupHeartbeatRequestKeyValue] | None = None
    task_offsets: list[StreamsGroupHeartbeatRequestTaskOffset] | None = None
    task_end_offsets: list[StreamsGroupHeartbeatRequestTaskOffset] | None = None
    shutdown_application: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatResponseStatus(Struct, gc=False):
    status_code: int = 0
    status_detail: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatResponseTaskIds(Struct, gc=False):
    subtopology_id: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatResponseEndpoint(Struct, gc=False):
    host: str = ''
    port: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatResponseTopicPartition(Struct, gc=False):
    topic: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatResponseEndpointToPartitions(Struct, gc=False):
    user_endpoint: StreamsGroupHeartbeatResponseEndpoint | None = None
    active_partitions: list[StreamsGroupHeartbeatResponseTopicPartition] = field(default_factory=list)
    standby_partitions: list[StreamsGroupHeartbeatResponseTopicPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupHeartbeatResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str = ''
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    acceptable_recovery_lag_legacy: int = 0
    task_offset_interval_ms: int = 0
    acceptable_recovery_lag: int = -1
    status: list[StreamsGroupHeartbeatResponseStatus] | None = field(default_factory=list)
    active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None
    standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None
    warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None
    topology_description_required: bool = False
    endpoint_information_epoch: int = 0
    partitions_by_user_endpoint: list[StreamsGroupHeartbeatResponseEndpointToPartitions] | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'StreamsGroupHeartbeatRequest': Schema(
        'StreamsGroupHeartbeatRequest', 88, 0,
        (
            Layout((0, 1), (
                Field('group_id', 'string', default=''),
                Field('member_id', 'string', default=''),
                Field('member_epoch', 'int32', default=0),
                Field('endpoint_information_epoch', 'int32', default=0),
                Field('instance_id', 'string', nullable=(0, 32767)),
                Field('rack_id', 'string', nullable=(0, 32767)),
                Field('rebalance_timeout_ms', 'int32', default=-1),
                Field('topology', 'StreamsGroupHeartbeatRequestTopology', nullable=(0, 32767), fields=(
                    Field('epoch', 'int32', default=0),
                    Field('subtopologies', '[]StreamsGroupHeartbeatRequestSubtopology', default=[], fields=(
                        Field('subtopology_id', 'string', default=''),
                        Field('source_topics', '[]string', default=[]),
                        Field('source_topic_regex', '[]string', default=[]),
                        Field('state_changelog_topics', '[]StreamsGroupHeartbeatRequestTopicInfo', default=[], fields=(
                            Field('name', 'string', default=''),
                            Field('partitions', 'int32', default=0),
                            Field('replication_factor', 'int16', default=0),
                            Field('topic_configs', '[]StreamsGroupHeartbeatRequestKeyValue', default=[], fields=(
                                Field('key', 'string', default=''),
                                Field('value', 'string', default=''),
                            )),
                        )),
                        Field('repartition_sink_topics', '[]string', default=[]),
                        Field('repartition_source_topics', '[]StreamsGroupHeartbeatRequestTopicInfo', default=[], fields=(
                            Field('name', 'string', default=''),
                            Field('partitions', 'int32', default=0),
                            Field('replication_factor', 'int16', default=0),
                            Field('topic_configs', '[]StreamsGroupHeartbeatRequestKeyValue', default=[], fields=(
                                Field('key', 'string', default=''),
                                Field('value', 'string', default=''),
                            )),
                        )),
                        Field('copartition_groups', '[]StreamsGroupHeartbeatRequestCopartitionGroup', default=[], fields=(
                            Field('source_topics', '[]int16', default=[]),
                            Field('source_topic_regex', '[]int16', default=[]),
                            Field('repartition_source_topics', '[]int16', default=[]),
                        )),
                    )),
                )),
                Field('active_tasks', '[]StreamsGroupHeartbeatRequestTaskIds', nullable=(0, 32767), fields=(
                    Field('subtopology_id', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
                Field('standby_tasks', '[]StreamsGroupHeartbeatRequestTaskIds', nullable=(0, 32767), fields=(
                    Field('subtopology_id', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
                Field('warmup_tasks', '[]StreamsGroupHeartbeatRequestTaskIds', nullable=(0, 32767), fields=(
                    Field('subtopology_id', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
                Field('process_id', 'string', nullable=(0, 32767)),
                Field('user_endpoint', 'StreamsGroupHeartbeatRequestEndpoint', nullable=(0, 32767), fields=(
                    Field('host', 'string', default=''),
                    Field('port', 'uint16', default=0),
                )),
                Field('client_tags', '[]StreamsGroupHeartbeatRequestKeyValue', nullable=(0, 32767), fields=(
                    Field('key', 'string', default=''),
                    Field('value', 'string', default=''),
                )),
                Field('task_offsets', '[]StreamsGroupHeartbeatRequestTaskOffset', nullable=(0, 32767), fields=(
                    Field('subtopology_id', 'string', default=''),
                    Field('partition', 'int32', default=0),
                    Field('offset', 'int64', default=0),
                )),
                Field('task_end_offsets', '[]StreamsGroupHeartbeatRequestTaskOffset', nullable=(0, 32767), fields=(
                    Field('subtopology_id', 'string', default=''),
                    Field('partition', 'int32', default=0),
                    Field('offset', 'int64', default=0),
                )),
                Field('shutdown_application', 'bool', default=False),
            )),
        ),
    ),
    'StreamsGroupHeartbeatResponse': Schema(
        'StreamsGroupHeartbeatResponse', 88, 0,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('member_id', 'string', default=''),
                Field('member_epoch', 'int32', default=0),
                Field('heartbeat_interval_ms', 'int32', default=0),
                Field('acceptable_recovery_lag_legacy', 'int32', versions=(0, 0), default=0),
                Field('task_offset_interval_ms', 'int32', default=0),
                Field('acceptable_recovery_lag', 'int64', versions=(1, 32767), default=-1),
                Field('status', '[]StreamsGroupHeartbeatResponseStatus', default=[], nullable=(0, 32767), fields=(
                    Field('status_code', 'int8', default=0),
                    Field('status_detail', 'string', default=''),
                )),
                Field('active_tasks', '[]StreamsGroupHeartbeatResponseTaskIds', nullable=(0, 32767), fields=(
                    Field('subtopology_id', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
                Field('standby_tasks', '[]StreamsGroupHeartbeatResponseTaskIds', nullable=(0, 32767), fields=(
                    Field('subtopology_id', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
                Field('warmup_tasks', '[]StreamsGroupHeartbeatResponseTaskIds', nullable=(0, 32767), fields=(
                    Field('subtopology_id', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
                Field('topology_description_required', 'bool', versions=(1, 32767), default=False),
                Field('endpoint_information_epoch', 'int32', default=0),
                Field('partitions_by_user_endpoint', '[]StreamsGroupHeartbeatResponseEndpointToPartitions', nullable=(0, 32767), fields=(
                    Field('user_endpoint', 'StreamsGroupHeartbeatResponseEndpoint', fields=(
                        Field('host', 'string', default=''),
                        Field('port', 'uint16', default=0),
                    )),
                    Field('active_partitions', '[]StreamsGroupHeartbeatResponseTopicPartition', default=[], fields=(
                        Field('topic', 'string', default=''),
                        Field('partitions', '[]int32', default=[]),
                    )),
                    Field('standby_partitions', '[]StreamsGroupHeartbeatResponseTopicPartition', default=[], fields=(
                        Field('topic', 'string', default=''),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
            )),
        ),
    ),
}
