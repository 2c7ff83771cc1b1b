"""Streams to brokers, as settings have them: with TLS or without. Clients whose connections have TLS on a side go through
them, and the scout; plaintext connections dial by themselves (`dial.py`)."""

from __future__ import annotations

import os
from socket import SO_ERROR, SOL_SOCKET

import trio

from proxy.addresses import Address
from proxy.calls import SOON_SECONDS, Calls
from proxy.causes import Cause, Disconnect
from proxy.names import Names, Target
from proxy.settings import Limits
from proxy.socket_stream import SocketStream
from proxy.tls import HandshakeFailed, UpstreamSide

# What a time-out, which has no words of its own, is called.
NO_ANSWER = "no answer in time"
# A process that is killed loses its connections first, and what it listens on last: one more connection is taken meanwhile.
ENDING = "reset while the broker ended"
ENDS_WITHIN_SECONDS = 0.1


class Streams:
    def __init__(self, limits: Limits, upstream_side: UpstreamSide | None, calls: Calls) -> None:
        self.names = Names()
        self.calls = calls
        self.upstream_side = upstream_side
        self._seconds = limits.connect_timeout_ms / 1000

    async def open(self, address: Address, certificate: bytes | None = None) -> trio.abc.Stream:
        """The caller closes it. `certificate`: shown by the client whom it is for."""
        targets = await self.names.resolve(address)
        stream: trio.abc.Stream = await self._connect(address, targets, self._seconds)
        if self.upstream_side is None:
            return stream
        try:
            return await self.upstream_side.shown_for(certificate).handshake(stream, address.host)
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise

    async def open_any(self, addresses: list[Address], certificate: bytes | None) -> tuple[Address, trio.abc.Stream]:
        """To the first that answers. One with which no handshake comes about answers, too: no other is tried then."""
        failures = []
        for address in addresses:
            try:
                with trio.fail_after(self._seconds):
                    return address, await self.open(address, certificate)
            except HandshakeFailed as failure:
                raise Disconnect(Cause.BROKER_TLS_FAILED, f"{address}: {failure}") from failure
            except (OSError, trio.BrokenResourceError, trio.TooSlowError) as failure:
                self.calls.counts.upstream_connect_failures += 1
                failures.append(f"{address}: {str(failure) or NO_ANSWER}")
        raise Disconnect(Cause.BROKER_UNREACHABLE, "; ".join(failures))

    async def why_away(self, addresses: list[Address], patience_seconds: float) -> str:
        """Why nobody takes connections at any of them; nothing if somebody does, who then hears no word."""
        failures = []
        for address in addresses:
            try:
                with trio.fail_after(patience_seconds):
                    targets = await self.names.resolve(address)
                stream = await self._connect(address, targets, patience_seconds)
            except (OSError, Disconnect, trio.TooSlowError) as failure:
                self.names.doubt(address)
                failures.append(f"{address}: {str(failure) or NO_ANSWER}")
            else:
                if await _stands(stream):
                    return ""
                failures.append(f"{address}: {ENDING}")
        return "; ".join(failures)

    async def _connect(self, address: Address, targets: list[Target], patience_seconds: float) -> SocketStream:
        """While others remain none is waited for long: the first of a name's addresses may be out of reach."""
        failure: OSError | trio.TooSlowError = OSError("no address to dial")
        choices = self.calls.in_order((address, target) for target in targets)
        for number, (_, target) in enumerate(choices, 1):
            is_last = number == len(choices)
            seconds = patience_seconds if is_last else min(patience_seconds / len(choices), SOON_SECONDS)
            try:
                with trio.fail_after(seconds):
                    return await self._connect_to(target)
            except (OSError, trio.TooSlowError) as refused:
                if len(choices) > 1:
                    self.calls.failed(address, target, str(refused) or NO_ANSWER)
                failure = refused
        try:
            raise failure
        finally:
            # It refers to this call, which refers to it: where no broker is, each who comes would leave that behind.
            del failure

    async def _connect_to(self, target: Target) -> SocketStream:
        sock = self.calls.begin(target)
        try:
            await trio.lowlevel.wait_writable(sock)
            failure = sock.getsockopt(SOL_SOCKET, SO_ERROR)
            if failure:
                raise OSError(failure, os.strerror(failure))
            return SocketStream(sock)
        except BaseException:
            sock.close()
            raise


async def _stands(stream: SocketStream) -> bool:
    """A connection that nobody has taken yet is reset when nobody listens any more; who has taken it ends it in order."""
    try:
        with trio.move_on_after(ENDS_WITHIN_SECONDS):
            await stream.receive_some(1)
    except trio.BrokenResourceError:
        return False
    finally:
        await trio.aclose_forcefully(stream)
    return True
