"""The Kafka wire protocol: typed messages and a codec generated from Kafka's own message definitions.

    from kafka_protocol import decode, encode, messages

    heartbeat = decode(messages.HeartbeatRequest, 4, body)
    body = encode(heartbeat, 4)

Every client-facing API in every version from 0 (Kafka 4.4 united with 3.9), requests and responses, and the subscription
and assignment that consumers embed in them. Tagged fields that are not known are kept byte for byte. Anything that is not
exactly a message is a `CodecError`. The structs are the generator's (`kafka_protocol.generator`), the functions are
compiled from the schemas beside them when first used (`kafka_protocol.compiler`).

    generator/     from Kafka's definitions to messages/ (structs and schemas, checked in)
    schema.py      what a message looks like, as data
    compiler.py    from a schema to straight-line Python
    codec.py       messages to bytes and back
    frames.py      headers, and the table of APIs
    surgery.py     the front of a message, exchanged without the rest
    explaining.py  where did decoding or encoding go wrong?
    errors.py      the one error that leaves this package
"""

from __future__ import annotations

from kafka_protocol import messages
from kafka_protocol.codec import decode, decode_prefix, encode, encode_prefix, fields_of, schema_of
from kafka_protocol.errors import CodecError
from kafka_protocol.frames import (
    API,
    Api,
    RequestHeader,
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_request_header,
    encode_response,
    response_body_offset,
)

__all__ = [
    "API",
    "Api",
    "CodecError",
    "RequestHeader",
    "decode",
    "decode_prefix",
    "decode_request",
    "decode_request_header",
    "decode_response",
    "encode",
    "encode_prefix",
    "encode_request",
    "encode_request_header",
    "encode_response",
    "fields_of",
    "messages",
    "response_body_offset",
    "schema_of",
]
