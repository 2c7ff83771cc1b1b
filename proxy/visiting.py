"""How a broker is asked for what it tells anybody, before credentials or without: for `check` and for `report`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from typing import Any

import msgspec
import trio

from kafka_protocol.messages import keys
from proxy.addresses import Address, Directory
from proxy.causes import Disconnect
from proxy.groups import native
from proxy.groups.native import Ask, Versions
from proxy.logs import Log
from proxy.scout import CannotAsk, exchange
from proxy.settings import Settings
from proxy.tls import HandshakeFailed, UpstreamSide
from proxy.wire import CLIENT_ID, Wire

ANSWER_SECONDS = 5.0
CANNOT_ASK = (OSError, HandshakeFailed, CannotAsk, Disconnect, trio.BrokenResourceError)
NO_HANDSHAKE = (
    "does the listener speak plaintext? Then go without upstream_tls. If its certificate is not trusted here, set "
    "upstream_tls.ca_file; if it is for another name, upstream_tls.verify_hostname = false"
)


class BrokerAnswers(msgspec.Struct, frozen=True):
    """What a broker says of itself. `verdict`: on our heartbeat; None where it answers authenticated clients only.

    `session_bounds`: None where it does not tell us.
    """

    versions: Versions
    group_version: int
    verdict: int | None
    session_bounds: tuple[int, int] | None


class NoAnswer(msgspec.Struct, frozen=True):
    reason: str
    # Where the reason has one of its own.
    remedy: str | None = None


Visits = dict[Address, BrokerAnswers | NoAnswer]


async def visit_all(settings: Settings, directory: Directory) -> Visits:
    """To each seed, and to each broker that they name."""
    tls = UpstreamSide(settings.upstream_tls, Log(out=io.StringIO())) if settings.upstream_tls else None
    visits = await _visit_each(directory.seeds, tls, directory)
    others = [address for address in directory.nodes.values() if address not in visits]
    return visits | await _visit_each(others, tls, directory)


async def _visit_each(addresses: Iterable[Address], tls: UpstreamSide | None, directory: Directory) -> Visits:
    """At once: some may not answer, and each is given its time."""
    visits: Visits = {}

    async def visit(address: Address) -> None:
        visits[address] = await _visit(address, tls, directory)

    async with trio.open_nursery() as tasks:
        for address in addresses:
            tasks.start_soon(visit, address)
    return {address: visits[address] for address in addresses}


async def _visit(address: Address, tls: UpstreamSide | None, directory: Directory) -> BrokerAnswers | NoAnswer:
    try:
        with trio.fail_after(ANSWER_SECONDS):
            stream = await dial(address, tls)
            try:
                return await _questions(stream, address, directory)
            finally:
                await trio.aclose_forcefully(stream)
    except trio.TooSlowError:
        return NoAnswer(f"no answer within {ANSWER_SECONDS:.0f} s")
    except HandshakeFailed as failure:
        return NoAnswer(in_words(failure), NO_HANDSHAKE)
    except CANNOT_ASK as failure:
        return NoAnswer(in_words(failure))


async def dial(address: Address, tls: UpstreamSide | None) -> trio.abc.Stream:
    """The caller closes it."""
    stream: trio.abc.Stream = await trio.open_tcp_stream(address.host, address.port)
    if tls is None:
        return stream
    try:
        return await tls.handshake(stream, address.host)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise


async def _questions(stream: trio.abc.Stream, address: Address, directory: Directory) -> BrokerAnswers:
    offered = await answer_to(stream, native.ask_features())
    if offered.error_code:
        raise CannotAsk(f"answers ApiVersions with error {offered.error_code}")
    versions = native.versions_of(offered)
    verdict: int | None = None
    session_bounds: tuple[int, int] | None = None
    # Whoever wants credentials first hangs up on the second question.
    with contextlib.suppress(CannotAsk, trio.BrokenResourceError):
        await learn_brokers(stream, directory)
        verdict = (await answer_to(stream, native.ask_for_translation())).error_code
        node = next((node for node, its in directory.nodes.items() if its == address), None)
        if node is not None and keys.DESCRIBE_CONFIGS in versions:
            session_bounds = native.session_bounds_of(await answer_to(stream, native.ask_session_bounds(node)))
    return BrokerAnswers(versions, native.group_version(offered), verdict, session_bounds)


async def learn_brokers(stream: trio.abc.Stream, directory: Directory) -> None:
    wire = Wire(directory)
    for broker in wire.brokers_of(await exchange(stream, wire.ask_brokers())):
        directory.learn(broker.node, broker.host, broker.port)


async def answer_to(stream: trio.abc.Stream, ask: Ask) -> Any:
    request = native.written(ask, 1, CLIENT_ID)
    return native.read(ask, await exchange(stream, len(request).to_bytes(4, "big") + request))


def in_words(failure: BaseException) -> str:
    """trio says that all attempts failed; why is said by what it was raised from."""
    cause = failure.exceptions[0] if isinstance(failure, BaseExceptionGroup) else failure.__cause__
    # Of a handshake its own words say more: which side, and whether anybody answered at all.
    if cause is not None and not isinstance(failure, HandshakeFailed):
        return in_words(cause)
    return getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
