"""Asking a broker one thing, over a plain blocking socket with our own codec."""

from __future__ import annotations

import socket
from struct import pack, unpack
from typing import Any

from kafka_protocol import decode_response, encode_request


def ask(address: tuple[str, int], key: int, version: int, message: Any, seconds: float = 10.0) -> Any:
    with socket.create_connection(address, timeout=seconds) as sock:
        return exchange(sock, key, version, message)


def send(sock: socket.socket, key: int, version: int, message: Any, client_id: str = "tests") -> None:
    frame = encode_request(key, version, 1, client_id, message)
    sock.sendall(pack(">i", len(frame)) + frame)


def exchange(sock: socket.socket, key: int, version: int, message: Any, client_id: str = "tests") -> Any:
    send(sock, key, version, message, client_id)
    return decode_response(key, version, read_frame(sock))[1]


def read_frame(sock: socket.socket) -> bytes:
    (size,) = unpack(">i", read_exactly(sock, 4))
    return read_exactly(sock, size)


def read_exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        arrived = sock.recv(size - len(data))
        if not arrived:
            raise ConnectionError(f"closed after {len(data)} of {size} bytes")
        data += arrived
    return bytes(data)
