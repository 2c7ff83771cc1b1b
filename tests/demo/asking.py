"""Requests by hand, as a client without a library would send them."""

from __future__ import annotations

import struct
from typing import Any, Protocol

import trio

from demo.cluster import Cluster
from kafka_protocol import API, decode_response, encode_request

KEYS = {api.name: api.key for api in API.values()}


class Asker:
    def __init__(self, stream: trio.SocketStream, client_id: str) -> None:
        self._stream = stream
        self._client_id = client_id
        self._sent = 0

    async def ask(self, version: int, body: Any) -> Any:
        """The answer; EOFError when the connection ends instead."""
        return await self.ask_expecting(version, version, body)

    async def ask_expecting(self, answered: int, version: int, body: Any) -> Any:
        """For who is answered in another version than it asked in."""
        name = type(body).__name__.removesuffix("Request")
        self._sent += 1
        frame = encode_request(KEYS[name], version, self._sent, self._client_id, body)
        await self._stream.send_all(struct.pack(">i", len(frame)) + frame)
        (length,) = struct.unpack(">i", await self._exactly(4))
        correlation_id, answer = decode_response(KEYS[name], answered, await self._exactly(length))
        assert correlation_id == self._sent
        return answer

    async def _exactly(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            try:
                data = await self._stream.receive_some(count - len(received))
            except trio.BrokenResourceError:
                data = b""
            if not data:
                raise EOFError
            received += data
        return received


class Asking(Protocol):
    """Opens a connection to a node; the test's end closes it."""

    async def __call__(self, cluster: Cluster, node: int = 1, client_id: str = "by hand") -> Asker: ...
