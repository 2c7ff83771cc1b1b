"""TLS over a trio stream, in large pieces.

OpenSSL hands out one record a call, 16 KB at most, and trio's own TLS stream one a wait: passing each on by itself costs
a look at the frames, a task switch and a send for 16 KB. Here all records that have arrived are decrypted before anybody
looks at them, and all that is to be sent is encrypted before it is sent, once.

One task may receive while others send. Nobody says goodbye: Kafka's frames have lengths, so a cut needs no telling.
"""

from __future__ import annotations

import contextlib
import ssl

import trio

# Twice as much costs half as much again: it leaves the cache, and its memory is asked of the kernel each time.
RECEIVE_BYTES = 128 * 1024
# More than a record holds.
RECORD_BYTES = 16 * 1024


class HungUp(Exception):
    """The peer closed its side within the handshake."""


class PromptLock:
    """Whom it lets in at once goes on at once: trio's has everybody else go first, a turn of its loop for each piece sent."""

    def __init__(self) -> None:
        self._lock = trio.Lock()

    def locked(self) -> bool:
        return self._lock.locked()

    async def __aenter__(self) -> None:
        try:
            self._lock.acquire_nowait()
        except trio.WouldBlock:
            await self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()


class TlsStream(trio.abc.Stream):
    def __init__(
        self,
        carrier: trio.abc.Stream,
        context: ssl.SSLContext,
        *,
        server_side: bool = False,
        server_hostname: str | None = None,
    ) -> None:
        self.carrier = carrier
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side, server_hostname)
        self._sending = PromptLock()

    async def handshake(self) -> None:
        """Raises ssl.SSLError when the two don't agree; the peer is told why."""
        while True:
            try:
                self._tls.do_handshake()
                await self._flush()
                return
            except ssl.SSLWantReadError:
                await self._flush()
            except ssl.SSLError:
                with contextlib.suppress(trio.BrokenResourceError):
                    await self._flush()
                raise
            if not await self._more():
                raise HungUp

    @property
    def shown(self) -> bytes | None:
        """The peer's certificate, if it was asked for one: no other goes through with the handshake."""
        return self._tls.getpeercert(binary_form=True)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """All that has arrived, however much; empty at the end."""
        while True:
            try:
                first = self._tls.read(RECORD_BYTES)
            except ssl.SSLWantReadError:
                # Reading may have made something to say: new keys, for one.
                await self._flush()
                if not await self._more():
                    return b""
            else:
                return b"".join((first, *self._further_records())) if first else b""

    def _further_records(self) -> list[bytes]:
        records = []
        with contextlib.suppress(ssl.SSLWantReadError):
            while record := self._tls.read(RECORD_BYTES):
                records.append(record)
        return records

    async def _more(self) -> bool:
        arrived = await self.carrier.receive_some(RECEIVE_BYTES)
        self._incoming.write(arrived)
        return bool(arrived)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        await self._flush()

    async def _flush(self) -> None:
        if not self._outgoing.pending:
            return
        async with self._sending:
            await self.carrier.send_all(self._outgoing.read())

    async def wait_send_all_might_not_block(self) -> None:
        await self.carrier.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self.carrier.aclose()
