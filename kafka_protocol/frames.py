"""Whole frames, header and body (without the four bytes of length), and the table of APIs.

Two exceptions that a reader of Kafka's header definitions would miss: the answer to ApiVersions has the oldest header in
every version (its reader does not know yet what the broker speaks), and the client id is never compact.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from kafka_protocol import messages
from kafka_protocol.codec import Bytes, decode, encode
from kafka_protocol.compiler import read_tags, read_text, write_tags
from kafka_protocol.errors import CodecError
from kafka_protocol.messages import keys
from kafka_protocol.messages.apis import APIS

_REQUEST = struct.Struct(">hhih")
_CORRELATION_ID = struct.Struct(">i")


class Api(NamedTuple):
    key: int
    name: str
    versions: tuple[int, int]
    flexible_from: int

    @property
    def request(self) -> type:
        found: type = getattr(messages, f"{self.name}Request")
        return found

    @property
    def response(self) -> type:
        found: type = getattr(messages, f"{self.name}Response")
        return found


API: dict[int, Api] = {key: Api(key, *row) for key, row in APIS.items()}


class RequestHeader(NamedTuple):
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


def _is_flexible(key: int, version: int) -> bool:
    return key in API and version >= API[key].flexible_from


def decode_request_header(data: Bytes, offset: int = 0) -> tuple[RequestHeader, int]:
    """The header and where the body begins."""
    data = bytes(data)
    at = offset + _REQUEST.size
    if len(data) < at:
        raise CodecError("RequestHeader", -1, "", offset, f"{len(data) - offset} bytes of at least {_REQUEST.size}")
    key, version, correlation_id, size = _REQUEST.unpack_from(data, offset)
    after = at + max(size, 0)
    if after > len(data):
        raise CodecError("RequestHeader", version, f"client_id of api {key}", at, f"a length of {size}")
    field, tags = "client_id", dict[int, bytes]()
    try:
        client_id = read_text(data[at:after]) if size >= 0 else None
        if _is_flexible(key, version):
            field, at = "tags", after
            tags, after = read_tags(data, at)
    except (ValueError, IndexError) as error:
        raise CodecError("RequestHeader", version, f"{field} of api {key}", at, str(error)) from None
    return RequestHeader(key, version, correlation_id, client_id, tuple(tags.items())), after


def encode_request_header(header: RequestHeader) -> bytes:
    name = b"" if header.client_id is None else header.client_id.encode()
    size = -1 if header.client_id is None else len(name)
    try:
        fixed = _REQUEST.pack(header.api_key, header.api_version, header.correlation_id, size)
    except struct.error as error:
        raise CodecError("RequestHeader", header.api_version, f"of api {header.api_key}", None, str(error)) from None
    written = bytearray(fixed + name)
    if _is_flexible(header.api_key, header.api_version):
        write_tags(written, dict(header.unknown_tags))
    return bytes(written)


def encode_request(key: int, version: int, correlation_id: int, client_id: str | None, body: Any) -> bytes:
    return encode_request_header(RequestHeader(key, version, correlation_id, client_id)) + encode(body, version)


def decode_request(data: Bytes) -> tuple[RequestHeader, Any]:
    """Brokers look at nothing behind the last field of a request, and there is no reason to."""
    header, at = decode_request_header(data)
    if header.api_key not in API:
        raise CodecError("RequestHeader", header.api_version, "api_key", 0, f"{header.api_key} is not known")
    return header, decode(API[header.api_key].request, header.api_version, data, at, to_the_end=False)


def response_body_offset(key: int, version: int, data: Bytes) -> int:
    """Where the body of a response begins: behind the correlation id, and the tags where there are any."""
    if not _is_flexible(key, version) or key == keys.API_VERSIONS:
        return _CORRELATION_ID.size
    if len(data) > _CORRELATION_ID.size and data[_CORRELATION_ID.size] == 0:
        return _CORRELATION_ID.size + 1
    try:
        return read_tags(bytes(data), _CORRELATION_ID.size)[1]
    except (ValueError, IndexError) as error:
        raise CodecError("ResponseHeader", version, f"of api {key}", _CORRELATION_ID.size, str(error)) from None


def decode_response(key: int, version: int, data: Bytes) -> tuple[int, Any]:
    if len(data) < _CORRELATION_ID.size:
        raise CodecError("ResponseHeader", version, "correlation_id", 0, f"{len(data)} bytes")
    (correlation_id,) = _CORRELATION_ID.unpack_from(data)
    at = response_body_offset(key, version, data)
    return correlation_id, decode(API[key].response, version, data, at)


def encode_response(key: int, version: int, correlation_id: int, body: Any) -> bytes:
    tags = b"\0" if _is_flexible(key, version) and key != keys.API_VERSIONS else b""
    return _CORRELATION_ID.pack(correlation_id) + tags + encode(body, version)
