"""The admin port: small pages over HTTP/1.1 for whoever watches the proxy. Reads only; knows no secrets."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import NamedTuple
from urllib.parse import unquote

import h11
import trio

from proxy.addresses import Address
from proxy.logs import Log

# Until the first request is whole: whoever watches comes with one.
FIRST_REQUEST_SECONDS = 2.0
# For every other step of a conversation.
REQUEST_SECONDS = 10.0
MAX_CONNECTIONS = 64
# While there is no place, one is made so often, which bounds what those who come only to be here cost.
PLACE_SECONDS = 0.001
# Feeds stay open; the rest of the room is for whoever asks whether the proxy lives.
MAX_FEEDS = 32
RECEIVE_BYTES = 16 * 1024


class Page(NamedTuple):
    status: int
    content_type: str
    body: bytes


class Feed(NamedTuple):
    """An answer that goes on until its reader hangs up, or does not read for REQUEST_SECONDS."""

    content_type: str
    chunks: Callable[[], AsyncGenerator[bytes, None]]


# By path. A path that ends in /* takes all below it, and is called with what stands there, unquoted.
Pages = Mapping[str, Callable[..., Page | Feed]]
SAFETY = [
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"),
    ("X-Content-Type-Options", "nosniff"),
]


def health_pages(missing: Callable[[], list[str]], metrics: Callable[[], bytes]) -> Pages:
    def readyz() -> Page:
        lacking = missing()
        return json_page({"ready": not lacking, "missing": lacking}, status=503 if lacking else 200)

    return {
        "/livez": lambda: json_page({"live": True}),
        "/readyz": readyz,
        "/metrics": lambda: Page(200, "text/plain; version=0.0.4; charset=utf-8", metrics()),
    }


def json_page(value: object, status: int = 200) -> Page:
    return Page(status, "application/json", json.dumps(value).encode() + b"\n")


class Room:
    """For MAX_CONNECTIONS. When it is full, who has been waited for the longest makes place for the next: a probe that finds
    no place would have the proxy killed."""

    def __init__(self) -> None:
        self._taken = 0
        # Who is to say what it wants, or to read what it asked for; the longest first.
        self._awaited: dict[trio.CancelScope, None] = {}

    @contextmanager
    def taken(self) -> Iterator[None]:
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1

    @contextmanager
    def awaiting(self, patience: trio.CancelScope) -> Iterator[None]:
        self._awaited[patience] = None
        try:
            yield
        finally:
            self._awaited.pop(patience, None)

    async def place(self) -> None:
        while self._taken >= MAX_CONNECTIONS:
            if self._awaited:
                longest = next(iter(self._awaited))
                del self._awaited[longest]
                longest.cancel()
            await trio.sleep(PLACE_SECONDS)


class Entrance(trio.abc.Listener[trio.SocketStream]):
    """Who finds no place waits before it, in the kernel's queue."""

    def __init__(self, listener: trio.SocketListener, room: Room) -> None:
        self._listener = listener
        self._room = room

    async def accept(self) -> trio.SocketStream:
        await self._room.place()
        return await self._listener.accept()

    async def aclose(self) -> None:
        await self._listener.aclose()


async def open_admin(address: Address) -> list[trio.SocketListener]:
    """`[::]` is every address, as it is for clients' listeners. Raises OSError."""
    return await trio.open_tcp_listeners(address.port, host=None if address.host == "::" else address.host)


async def serve_admin(listeners: list[trio.SocketListener], pages: Pages, log: Log) -> None:
    """For ever. Closes the listeners and every connection when cancelled; a bad request ends only its own."""
    room = Room()
    feeds = trio.CapacityLimiter(MAX_FEEDS)

    async def handle(stream: trio.SocketStream) -> None:
        with room.taken():
            try:
                with trio.move_on_after(FIRST_REQUEST_SECONDS) as patience:
                    await _converse(stream, pages, room, patience, feeds, log)
            except trio.BrokenResourceError:
                # It has gone, maybe while it was told that it is wrong.
                return
            except Exception as failure:
                log.error("a request for a page failed", reason=repr(failure))

    await trio.serve_listeners(handle, [Entrance(listener, room) for listener in listeners])


async def _converse(
    stream: trio.SocketStream,
    pages: Pages,
    room: Room,
    patience: trio.CancelScope,
    feeds: trio.CapacityLimiter,
    log: Log,
) -> None:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=RECEIVE_BYTES)
    try:
        while True:
            with room.awaiting(patience):
                request = await _next_request(stream, connection)
            if request is None:
                return
            patience.deadline = trio.current_time() + REQUEST_SECONDS
            page = _page(request, pages, log)
            if isinstance(page, Feed) and request.method == b"GET" and feeds.available_tokens:
                async with feeds:
                    await _feed(stream, connection, page, patience)
                return
            if isinstance(page, Feed) and request.method == b"HEAD":
                page = Page(200, page.content_type, b"")
            elif isinstance(page, Feed):
                page = json_page({"error": f"{MAX_FEEDS} readers are here already; /groups says the same once"}, 503)
            with room.awaiting(patience):
                await _answer(stream, connection, page, with_body=request.method != b"HEAD")
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()
            patience.deadline = trio.current_time() + REQUEST_SECONDS
    except h11.RemoteProtocolError as error:
        if connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            await _answer(stream, connection, json_page({"error": str(error)}, error.error_status_hint))


async def _next_request(stream: trio.SocketStream, connection: h11.Connection) -> h11.Request | None:
    """The next request, its body read and dropped; None when the client is done."""
    request = None
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(RECEIVE_BYTES))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.EndOfMessage):
            return request
        elif isinstance(event, h11.ConnectionClosed):
            return None


def _page(request: h11.Request, pages: Pages, log: Log) -> Page | Feed:
    path = request.target.decode("ascii", "replace").partition("?")[0]
    if request.method not in (b"GET", b"HEAD"):
        return json_page({"error": "only GET and HEAD"}, 405)
    folder, _, below = path.rpartition("/")
    try:
        if path in pages:
            return pages[path]()
        if below and f"{folder}/*" in pages:
            return pages[f"{folder}/*"](unquote(below))
        return json_page({"error": f"no page {path}", "pages": sorted(pages)}, 404)
    except Exception as error:
        log.error("a page failed", path=path, reason=repr(error))
        return json_page({"error": "the page failed; the log says why"}, 500)


async def _answer(stream: trio.SocketStream, connection: h11.Connection, page: Page, with_body: bool = True) -> None:
    headers = [
        ("Content-Type", page.content_type),
        ("Content-Length", str(len(page.body))),
        *SAFETY,
    ]
    sent = connection.send(h11.Response(status_code=page.status, headers=headers)) or b""
    if with_body:
        sent += connection.send(h11.Data(data=page.body)) or b""
    sent += connection.send(h11.EndOfMessage()) or b""
    await stream.send_all(sent)


async def _feed(stream: trio.SocketStream, connection: h11.Connection, feed: Feed, patience: trio.CancelScope) -> None:
    head = h11.Response(status_code=200, headers=[("Content-Type", feed.content_type), *SAFETY])
    await stream.send_all(connection.send(head) or b"")
    # A reader goes when it likes, and what is read for it ends then, not when it is collected.
    async with aclosing(feed.chunks()) as chunks:
        async for chunk in chunks:
            patience.deadline = trio.current_time() + REQUEST_SECONDS
            await stream.send_all(connection.send(h11.Data(data=chunk)) or b"")
            patience.deadline = math.inf
