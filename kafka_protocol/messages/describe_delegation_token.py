# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeDelegationToken."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeDelegationTokenRequestDescribeDelegationTokenOwner(Struct, gc=False):
    principal_type: str = ''
    principal_name: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeDelegationTokenRequest(Struct, gc=False):
    owners: list[DescribeDelegationTokenRequestDescribeDelegationTokenOwner] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeDelegationTokenResponseDescribedDelegationTokenRenewer(Struct, gc=False):
    principal_type: str = ''
    principal_name: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeDelegationTokenResponseDescribedDelegationToken(Struct, gc=False):
    principal_type: str = ''
    principal_name: str = ''
    token_requester_principal_type: str = ''
    token_requester_principal_name: str = ''
    issue_timestamp: int = 0
    expiry_timestamp: int = 0
    max_timestamp: int = 0
    token_id: str = ''
    hmac: bytes = b''
    renewers: list[DescribeDelegationTokenResponseDescribedDelegationTokenRenewer] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeDelegationTokenResponse(Struct, gc=False):
    error_code: int = 0
    tokens: list[DescribeDelegationTokenResponseDescribedDelegationToken] = field(default_factory=list)
    throttle_time_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeDelegationTokenRequest': Schema(
        'DescribeDelegationTokenRequest', 41, 2,
        (
            Layout((0, 0), (
                Field('owners', '[]DescribeDelegationTokenRequestDescribeDelegationTokenOwner', default=[], nullable=(0, 32767), fields=(
                    Field('principal_type', 'string', default=''),
                    Field('principal_name', 'string', default=''),
                )),
            )),
            Layout((1, 3), (
                Field('owners', '[]DescribeDelegationTokenRequestDescribeDelegationTokenOwner', default=[], nullable=(0, 32767), fields=(
                    Field('principal_type', 'string', default=''),
                    Field('principal_name', 'string', default=''),
                )),
            )),
        ),
    ),
    'DescribeDelegationTokenResponse': Schema(
        'DescribeDelegationTokenResponse', 41, 2,
        (
            Layout((0, 0), (
                Field('error_code', 'int16', default=0),
                Field('tokens', '[]DescribeDelegationTokenResponseDescribedDelegationToken', default=[], fields=(
                    Field('principal_type', 'string', default=''),
                    Field('principal_name', 'string', default=''),
                    Field('issue_timestamp', 'int64', default=0),
                    Field('expiry_timestamp', 'int64', default=0),
                    Field('max_timestamp', 'int64', default=0),
                    Field('token_id', 'string', default=''),
                    Field('hmac', 'bytes', default=b''),
                    Field('renewers', '[]DescribeDelegationTokenResponseDescribedDelegationTokenRenewer', default=[], fields=(
                        Field('principal_type', 'string', default=''),
                        Field('principal_name', 'string', default=''),
                    )),
                )),
                Field('throttle_time_ms', 'int32', default=0),
            )),
            Layout((1, 3), (
                Field('error_code', 'int16', default=0),
                Field('tokens', '[]DescribeDelegationTokenResponseDescribedDelegationToken', default=[], fields=(
                    Field('principal_type', 'string', default=''),
                    Field('principal_name', 'string', default=''),
                    Field('token_requester_principal_type', 'string', versions=(3, 32767), default=''),
                    Field('token_requester_principal_name', 'string', versions=(3, 32767), default=''),
                    Field('issue_timestamp', 'int64', default=0),
                    Field('expiry_timestamp', 'int64', default=0),
                    Field('max_timestamp', 'int64', default=0),
                    Field('token_id', 'string', default=''),
                    Field('hmac', 'bytes', default=b''),
                    Field('renewers', '[]DescribeDelegationTokenResponseDescribedDelegationTokenRenewer', default=[], fields=(
                        Field('principal_type', 'string', default=''),
                        Field('principal_name', 'string', default=''),
                    )),
                )),
                Field('throttle_time_ms', 'int32', default=0),
            )),
        ),
    ),
}
