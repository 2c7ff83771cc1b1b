# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeUserScramCredentials."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeUserScramCredentialsRequestUserName(Struct, gc=False):
    name: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeUserScramCredentialsRequest(Struct, gc=False):
    users: list[DescribeUserScramCredentialsRequestUserName] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeUserScramCredentialsResponseCredentialInfo(Struct, gc=False):
    mechanism: int = 0
    iterations: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeUserScramCredentialsResponseDescribeUserScramCredentialsResult(Struct, gc=False):
    user: str = ''
    error_code: int = 0
    error_message: str | None = ''
    credential_infos: list[DescribeUserScramCredentialsResponseCredentialInfo] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeUserScramCredentialsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    results: list[DescribeUserScramCredentialsResponseDescribeUserScramCredentialsResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeUserScramCredentialsRequest': Schema(
        'DescribeUserScramCredentialsRequest', 50, 0,
        (
            Layout((0, 0), (
                Field('users', '[]DescribeUserScramCredentialsRequestUserName', default=[], nullable=(0, 32767), fields=(
                    Field('name', 'string', default=''),
                )),
            )),
        ),
    ),
    'DescribeUserScramCredentialsResponse': Schema(
        'DescribeUserScramCredentialsResponse', 50, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
                Field('results', '[]DescribeUserScramCredentialsResponseDescribeUserScramCredentialsResult', default=[], fields=(
                    Field('user', 'string', default=''),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                    Field('credential_infos', '[]DescribeUserScramCredentialsResponseCredentialInfo', default=[], fields=(
                        Field('mechanism', 'int8', default=0),
                        Field('iterations', 'int32', default=0),
                    )),
                )),
            )),
        ),
    ),
}
