# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""StreamsGroupTopologyDescriptionUpdate."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionNode(Struct, gc=False):
    name: str = ''
    node_type: int = 0
    source_topics: list[str] = field(default_factory=list)
    sink_topic: str | None = None
    stores: list[str] = field(default_factory=list)
    successors: list[str] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionSubtopology(Struct, gc=False):
    subtopology_id: str = ''
    nodes: list[StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionNode] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionGlobalStore(Struct, gc=False):
    source: StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionNode | None = None
    processor: StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionNode | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupTopologyDescriptionUpdateRequestTopologyDescription(Struct, gc=False):
    subtopologies: list[StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionSubtopology] = field(default_factory=list)
    global_stores: list[StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionGlobalStore] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupTopologyDescriptionUpdateRequest(Struct, gc=False):
    group_id: str = ''
    member_id: str = ''
    topology_epoch: int = 0
    topology_description: StreamsGroupTopologyDescriptionUpdateRequestTopologyDescription | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class StreamsGroupTopologyDescriptionUpdateResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'StreamsGroupTopologyDescriptionUpdateRequest': Schema(
        'StreamsGroupTopologyDescriptionUpdateRequest', 93, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', default=''),
                Field('member_id', 'string', default=''),
                Field('topology_epoch', 'int32', default=0),
                Field('topology_description', 'StreamsGroupTopologyDescriptionUpdateRequestTopologyDescription', fields=(
                    Field('subtopologies', '[]StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionSubtopology', default=[], fields=(
                        Field('subtopology_id', 'string', default=''),
                        Field('nodes', '[]StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionNode', default=[], fields=(
                            Field('name', 'string', default=''),
                            Field('node_type', 'int8', default=0),
                            Field('source_topics', '[]string', default=[]),
                            Field('sink_topic', 'string', nullable=(0, 32767)),
                            Field('stores', '[]string', default=[]),
                            Field('successors', '[]string', default=[]),
                        )),
                    )),
                    Field('global_stores', '[]StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionGlobalStore', default=[], fields=(
                        Field('source', 'StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionNode', fields=(
                            Field('name', 'string', default=''),
                            Field('node_type', 'int8', default=0),
                            Field('source_topics', '[]string', default=[]),
                            Field('sink_topic', 'string', nullable=(0, 32767)),
                            Field('stores', '[]string', default=[]),
                            Field('successors', '[]string', default=[]),
                        )),
                        Field('processor', 'StreamsGroupTopologyDescriptionUpdateRequestTopologyDescriptionNode', fields=(
                            Field('name', 'string', default=''),
                            Field('node_type', 'int8', default=0),
                            Field('source_topics', '[]string', default=[]),
                            Field('sink_topic', 'string', nullable=(0, 32767)),
                            Field('stores', '[]string', default=[]),
                            Field('successors', '[]string', default=[]),
                        )),
                    )),
                )),
            )),
        ),
    ),
    'StreamsGroupTopologyDescriptionUpdateResponse': Schema(
        'StreamsGroupTopologyDescriptionUpdateResponse', 93, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
            )),
        ),
    ),
}
