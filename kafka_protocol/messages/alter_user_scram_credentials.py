# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AlterUserScramCredentials."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class AlterUserScramCredentialsRequestScramCredentialDeletion(Struct, gc=False):
    name: str = ''
    mechanism: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterUserScramCredentialsRequestScramCredentialUpsertion(Struct, gc=False):
    name: str = ''
    mechanism: int = 0
    iterations: int = 0
    salt: bytes = b''
    salted_password: bytes = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterUserScramCredentialsRequest(Struct, gc=False):
    deletions: list[AlterUserScramCredentialsRequestScramCredentialDeletion] = field(default_factory=list)
    upsertions: list[AlterUserScramCredentialsRequestScramCredentialUpsertion] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterUserScramCredentialsResponseAlterUserScramCredentialsResult(Struct, gc=False):
    user: str = ''
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterUserScramCredentialsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    results: list[AlterUserScramCredentialsResponseAlterUserScramCredentialsResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AlterUserScramCredentialsRequest': Schema(
        'AlterUserScramCredentialsRequest', 51, 0,
        (
            Layout((0, 0), (
                Field('deletions', '[]AlterUserScramCredentialsRequestScramCredentialDeletion', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('mechanism', 'int8', default=0),
                )),
                Field('upsertions', '[]AlterUserScramCredentialsRequestScramCredentialUpsertion', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('mechanism', 'int8', default=0),
                    Field('iterations', 'int32', default=0),
                    Field('salt', 'bytes', default=b''),
                    Field('salted_password', 'bytes', default=b''),
                )),
            )),
        ),
    ),
    'AlterUserScramCredentialsResponse': Schema(
        'AlterUserScramCredentialsResponse', 51, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]AlterUserScramCredentialsResponseAlterUserScramCredentialsResult', default=[], fields=(
                    Field('user', 'string', default=''),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                )),
            )),
        ),
    ),
}
