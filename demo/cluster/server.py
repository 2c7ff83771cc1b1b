"""Connections: frames in, answers out, one request at a time on each, as brokers do it.

    open_cluster
    └── a listener a node
        └── a task a connection: it ends when the client does, when it talks nonsense, when a fault cuts it

Whoever opens the cluster closes it: with the block, listeners and connections are gone.
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio

from demo.cluster.apis import OFFERED, SERVED
from demo.cluster.cluster import HOST, Cluster
from demo.cluster.codes import Code
from demo.cluster.faults import Cut, Delay, Fail, Fault, Lose
from demo.cluster.request import Request
from demo.cluster.topic_requests import versions_answer
from kafka_protocol import API, CodecError, decode, decode_prefix, decode_request_header, encode_response, fields_of
from kafka_protocol.messages import keys
from simulation.brokers import V4_4, BrokerLine, GroupSettings

LARGEST_REQUEST_BYTES = 100 * 1024 * 1024
_LENGTH = struct.Struct(">i")
_READ_BYTES = 65_536


class Hangup(Exception):
    """This connection ends here."""


@asynccontextmanager
async def open_cluster(
    *,
    nodes: int = 1,
    ports: Sequence[int] | None = None,
    topics: Mapping[str, int] | None = None,
    line: BrokerLine = V4_4,
    settings: GroupSettings | None = None,
    auto_create_partitions: int = 0,
) -> AsyncIterator[Cluster]:
    """Nodes on the `ports` given, else on free ones. `topics`: name and number of partitions."""
    listeners = [(await trio.open_tcp_listeners(port, host=HOST))[0] for port in ports or [0] * nodes]
    bound = [listener.socket.getsockname()[1] for listener in listeners]
    cluster = Cluster(bound, line, settings, auto_create_partitions)
    for name, partitions in (topics or {}).items():
        cluster.create_topic(name, partitions)
    async with trio.open_nursery() as tasks:
        for node, listener in zip(cluster.nodes, listeners, strict=True):
            tasks.start_soon(_serve_node, cluster, node, listener)
        yield cluster
        tasks.cancel_scope.cancel()


async def _serve_node(cluster: Cluster, node: int, listener: trio.SocketListener) -> None:
    async def converse(stream: trio.SocketStream) -> None:
        await Connection(cluster, node, stream).run()

    await trio.serve_listeners(converse, [listener])


def _body(kind: type, version: int, frame: bytes, at: int) -> Any:
    """Brokers do not mind what comes behind the last field: librdkafka 2.16 asks for all topics (Metadata 13) with three
    bytes too many."""
    try:
        return decode(kind, version, frame, at)
    except CodecError:
        untagged = [field.name for field in fields_of(kind, version) if not field.is_tagged(version)]
        return decode_prefix(kind, version, frame, untagged[-1], at)[0]


class Connection:
    def __init__(self, cluster: Cluster, node: int, stream: trio.SocketStream) -> None:
        self._cluster = cluster
        self._node = node
        self._stream = stream
        self._host = f"/{stream.socket.getpeername()[0]}"
        self._received = bytearray()

    async def run(self) -> None:
        with trio.CancelScope() as scope:
            self._cluster.connections[scope] = self._node
            try:
                while True:
                    await self._answer(await self._frame())
            except (Hangup, CodecError, trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            finally:
                del self._cluster.connections[scope]
                await trio.aclose_forcefully(self._stream)

    async def _frame(self) -> bytes:
        (length,) = _LENGTH.unpack(await self._exactly(_LENGTH.size))
        if not 0 < length <= LARGEST_REQUEST_BYTES:
            raise Hangup
        return await self._exactly(length)

    async def _exactly(self, count: int) -> bytes:
        while len(self._received) < count:
            data = await self._stream.receive_some(_READ_BYTES)
            if not data:
                raise Hangup
            self._received += data
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken

    async def _answer(self, frame: bytes) -> None:
        header, at = decode_request_header(frame)
        key, version = header.api_key, header.api_version
        first, last = OFFERED.get(key, (0, -1))
        if key == keys.API_VERSIONS and version > last:
            # Who asks in a version we do not know is told in version 0 which ones we do (KIP-511).
            await self._send(
                encode_response(key, 0, header.correlation_id, versions_answer(OFFERED, Code.UNSUPPORTED_VERSION))
            )
            return
        if not first <= version <= last:
            raise Hangup
        body = _body(API[key].request, version, frame, at)
        request = Request(self._node, version, body, header.client_id or "", self._host)
        fault = self._cluster.faults.befall(API[key].name, self._node, request.client_id)
        answer = await self._perform(key, request, fault)
        if key == keys.PRODUCE and body.acks == 0:
            return
        await self._send(encode_response(key, version, header.correlation_id, answer))

    async def _perform(self, key: int, request: Request, fault: Fault | None) -> Any:
        served = SERVED[key]
        match fault:
            case Fail(code):
                return served.answer(self._cluster, request._replace(refusal=code))
            case Cut():
                raise Hangup
            case Delay(delay_ms):
                await trio.sleep(delay_ms / 1000)
            case Lose() | None:
                pass
        if served.ripe is not None:
            await served.ripe(self._cluster, request)
        answer = served.answer(self._cluster, request)
        if isinstance(fault, Lose):
            raise Hangup
        return answer

    async def _send(self, frame: bytes) -> None:
        await self._stream.send_all(_LENGTH.pack(len(frame)) + frame)
