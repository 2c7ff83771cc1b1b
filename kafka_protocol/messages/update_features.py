# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""UpdateFeatures."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class UpdateFeaturesRequestFeatureUpdateKey(Struct, gc=False):
    feature: str = ''
    max_version_level: int = 0
    allow_downgrade: bool = False
    upgrade_type: int = 1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class UpdateFeaturesRequest(Struct, gc=False):
    timeout_ms: int = 60000
    feature_updates: list[UpdateFeaturesRequestFeatureUpdateKey] = field(default_factory=list)
    validate_only: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class UpdateFeaturesResponseUpdatableFeatureResult(Struct, gc=False):
    feature: str = ''
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class UpdateFeaturesResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    results: list[UpdateFeaturesResponseUpdatableFeatureResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'UpdateFeaturesRequest': Schema(
        'UpdateFeaturesRequest', 57, 0,
        (
            Layout((0, 2), (
                Field('timeout_ms', 'int32', default=60000),
                Field('feature_updates', '[]UpdateFeaturesRequestFeatureUpdateKey', default=[], fields=(
                    Field('feature', 'string', default=''),
                    Field('max_version_level', 'int16', default=0),
                    Field('allow_downgrade', 'bool', versions=(0, 0), default=False),
                    Field('upgrade_type', 'int8', versions=(1, 32767), default=1),
                )),
                Field('validate_only', 'bool', versions=(1, 32767), default=False),
            )),
        ),
    ),
    'UpdateFeaturesResponse': Schema(
        'UpdateFeaturesResponse', 57, 0,
        (
            Layout((0, 2), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
                Field('results', '[]UpdateFeaturesResponseUpdatableFeatureResult', versions=(0, 1), default=[], fields=(
                    Field('feature', 'string', default=''),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                )),
            )),
        ),
    ),
}
