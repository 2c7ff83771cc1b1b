# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""CreateDelegationToken."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class CreateDelegationTokenRequestCreatableRenewers(Struct, gc=False):
    principal_type: str = ''
    principal_name: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateDelegationTokenRequest(Struct, gc=False):
    owner_principal_type: str | None = ''
    owner_principal_name: str | None = ''
    renewers: list[CreateDelegationTokenRequestCreatableRenewers] = field(default_factory=list)
    max_lifetime_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateDelegationTokenResponse(Struct, gc=False):
    error_code: int = 0
    principal_type: str = ''
    principal_name: str = ''
    token_requester_principal_type: str = ''
    token_requester_principal_name: str = ''
    issue_timestamp_ms: int = 0
    expiry_timestamp_ms: int = 0
    max_timestamp_ms: int = 0
    token_id: str = ''
    hmac: bytes = b''
    throttle_time_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'CreateDelegationTokenRequest': Schema(
        'CreateDelegationTokenRequest', 38, 2,
        (
            Layout((0, 0), (
                Field('renewers', '[]CreateDelegationTokenRequestCreatableRenewers', default=[], fields=(
                    Field('principal_type', 'string', default=''),
                    Field('principal_name', 'string', default=''),
                )),
                Field('max_lifetime_ms', 'int64', default=0),
            )),
            Layout((1, 3), (
                Field('owner_principal_type', 'string', versions=(3, 32767), default='', nullable=(3, 32767)),
                Field('owner_principal_name', 'string', versions=(3, 32767), default='', nullable=(3, 32767)),
                Field('renewers', '[]CreateDelegationTokenRequestCreatableRenewers', default=[], fields=(
                    Field('principal_type', 'string', default=''),
                    Field('principal_name', 'string', default=''),
                )),
                Field('max_lifetime_ms', 'int64', default=0),
            )),
        ),
    ),
    'CreateDelegationTokenResponse': Schema(
        'CreateDelegationTokenResponse', 38, 2,
        (
            Layout((0, 0), (
                Field('error_code', 'int16', default=0),
                Field('principal_type', 'string', default=''),
                Field('principal_name', 'string', default=''),
                Field('issue_timestamp_ms', 'int64', default=0),
                Field('expiry_timestamp_ms', 'int64', default=0),
                Field('max_timestamp_ms', 'int64', default=0),
                Field('token_id', 'string', default=''),
                Field('hmac', 'bytes', default=b''),
                Field('throttle_time_ms', 'int32', default=0),
            )),
            Layout((1, 3), (
                Field('error_code', 'int16', default=0),
                Field('principal_type', 'string', default=''),
                Field('principal_name', 'string', default=''),
                Field('token_requester_principal_type', 'string', versions=(3, 32767), default=''),
                Field('token_requester_principal_name', 'string', versions=(3, 32767), default=''),
                Field('issue_timestamp_ms', 'int64', default=0),
                Field('expiry_timestamp_ms', 'int64', default=0),
                Field('max_timestamp_ms', 'int64', default=0),
                Field('token_id', 'string', default=''),
                Field('hmac', 'bytes', default=b''),
                Field('throttle_time_ms', 'int32', default=0),
            )),
        ),
    ),
}
