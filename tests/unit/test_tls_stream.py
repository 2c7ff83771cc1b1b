"""TLS in large pieces, both ends of it our own."""

from __future__ import annotations

import ssl

import pytest
import trio
import trio.testing

from proxy.tls_stream import HungUp, TlsStream
from tests.kafka.certificates import Certificates

CERTIFICATES = Certificates()


def pair(trusted: Certificates = CERTIFICATES) -> tuple[TlsStream, TlsStream]:
    """A client and a server, before their handshake."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(CERTIFICATES.broker)
    trusting = ssl.create_default_context(cafile=str(trusted.authority))
    near, far = trio.testing.memory_stream_pair()
    return TlsStream(near, trusting, server_hostname="localhost"), TlsStream(far, serving, server_side=True)


async def shaken() -> tuple[TlsStream, TlsStream]:
    client, server = pair()
    async with trio.open_nursery() as both:
        both.start_soon(client.handshake)
        both.start_soon(server.handshake)
    return client, server


async def test_all_records_that_have_arrived_are_handed_out_at_once() -> None:
    client, server = await shaken()
    await client.send_all(b"x" * 100_000)
    assert await server.receive_some() == b"x" * 100_000


async def test_both_sides_may_talk_at_once() -> None:
    streams = await shaken()
    said = bytes(range(256)) * 4_000
    heard = {stream: bytearray() for stream in streams}

    async def hear(stream: TlsStream) -> None:
        while len(heard[stream]) < len(said):
            heard[stream] += await stream.receive_some()

    async with trio.open_nursery() as talking:
        for stream in streams:
            talking.start_soon(hear, stream)
            talking.start_soon(stream.send_all, said)
    assert [bytes(each) for each in heard.values()] == [said, said]


async def test_what_was_said_before_the_end_is_heard_before_the_end() -> None:
    client, server = await shaken()
    await client.send_all(b"last words")
    await client.aclose()
    assert await server.receive_some() == b"last words"
    assert await server.receive_some() == b""


async def test_who_is_not_trusted_is_told_so() -> None:
    client, server = pair(trusted=Certificates())
    refusals = []

    async def shake(stream: TlsStream) -> None:
        with pytest.raises(ssl.SSLError) as refused:
            await stream.handshake()
        refusals.append(refused.value.reason)

    async with trio.open_nursery() as both:
        both.start_soon(shake, client)
        both.start_soon(shake, server)
    assert sorted(refusals) == ["CERTIFICATE_VERIFY_FAILED", "TLSV1_ALERT_UNKNOWN_CA"]


async def test_a_peer_that_hangs_up_within_the_handshake_is_no_tls_error() -> None:
    client, server = pair()
    await client.aclose()
    with pytest.raises(HungUp):
        await server.handshake()
