"""Streams to brokers, as settings have them: with TLS or without. Clients whose connections have TLS on a side go through
them, and the scout; plaintext connections dial by themselves (`dial.py`)."""

from __future__ import annotations

import socket

import trio

from proxy.addresses import Address
from proxy.causes import Cause, Disconnect
from proxy.counts import Counts
from proxy.names import Names, Target
from proxy.settings import Limits
from proxy.tls import HandshakeFailed, UpstreamSide

# What a time-out, which has no words of its own, is called.
NO_ANSWER = "no answer in time"


class Streams:
    def __init__(self, limits: Limits, upstream_side: UpstreamSide | None, counts: Counts) -> None:
        self.names = Names()
        self.upstream_side = upstream_side
        self._seconds = limits.connect_timeout_ms / 1000
        self._counts = counts

    async def open(self, address: Address) -> trio.abc.Stream:
        """The caller closes it."""
        targets = await self.names.resolve(address)
        stream: trio.abc.Stream = await _connect(targets, self._seconds)
        if self.upstream_side is None:
            return stream
        try:
            return await self.upstream_side.handshake(stream, address.host)
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise

    async def open_any(self, addresses: list[Address]) -> tuple[Address, trio.abc.Stream]:
        """To the first that answers. One with which no handshake comes about answers, too: no other is tried then."""
        failures = []
        for address in addresses:
            try:
                with trio.fail_after(self._seconds):
                    return address, await self.open(address)
            except HandshakeFailed as failure:
                raise Disconnect(Cause.BROKER_TLS_FAILED, f"{address}: {failure}") from failure
            except (OSError, trio.BrokenResourceError, trio.TooSlowError) as failure:
                self._counts.upstream_connect_failures += 1
                failures.append(f"{address}: {str(failure) or NO_ANSWER}")
        raise Disconnect(Cause.BROKER_UNREACHABLE, "; ".join(failures))


async def _connect(targets: list[Target], seconds: float) -> trio.SocketStream:
    """Each has its share of the time: the first of a name's addresses may be out of reach."""
    failure: OSError | trio.TooSlowError = OSError("no address to dial")
    for family, target in targets:
        sock = trio.socket.socket(family, socket.SOCK_STREAM)
        try:
            with trio.fail_after(seconds / len(targets)):
                await sock.connect(target)
            return trio.SocketStream(sock)
        except (OSError, trio.TooSlowError) as refused:
            sock.close()
            failure = refused
        except BaseException:
            sock.close()
            raise
    raise failure
