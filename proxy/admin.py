"""The admin port: small pages over HTTP/1.1 for whoever watches the proxy. Reads only; knows no secrets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

import h11
import trio

from proxy.logs import Log

REQUEST_SECONDS = 10.0
MAX_CONNECTIONS = 64
RECEIVE_BYTES = 16 * 1024


class Page(NamedTuple):
    status: int
    content_type: str
    body: bytes


Pages = Mapping[str, Callable[[], Page]]


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


async def serve_admin(listeners: list[trio.SocketListener], pages: Pages, log: Log) -> None:
    """For ever. Closes the listeners and every connection when cancelled; a bad request ends only its own."""
    room = trio.CapacityLimiter(MAX_CONNECTIONS)

    async def handle(stream: trio.SocketStream) -> None:
        async with room:
            with trio.move_on_after(REQUEST_SECONDS) as patience:
                await _converse(stream, pages, patience, log)

    await trio.serve_listeners(handle, listeners)


async def _converse(stream: trio.SocketStream, pages: Pages, patience: trio.CancelScope, log: Log) -> None:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=RECEIVE_BYTES)
    try:
        while True:
            request = await _next_request(stream, connection)
            if request is None:
                return
            page = _page(request, pages, log)
            await _answer(stream, connection, page, with_body=request.method != b"HEAD")
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()
            patience.deadline = trio.current_time() + REQUEST_SECONDS
    except h11.RemoteProtocolError as error:
        if connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            await _answer(stream, connection, json_page({"error": str(error)}, error.error_status_hint))
    except trio.BrokenResourceError:
        return


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


def _page(request: h11.Request, pages: Pages, log: Log) -> Page:
    path = request.target.decode("ascii", "replace").partition("?")[0]
    if request.method not in (b"GET", b"HEAD"):
        return json_page({"error": "only GET and HEAD"}, 405)
    if path not in pages:
        return json_page({"error": f"no page {path}", "pages": sorted(pages)}, 404)
    try:
        return pages[path]()
    except Exception as error:
        log.error("a page failed", path=path, reason=repr(error))
        return json_page({"error": "the page failed; the log says why"}, 500)


async def _answer(stream: trio.SocketStream, connection: h11.Connection, page: Page, with_body: bool = True) -> None:
    headers = [
        ("Content-Type", page.content_type),
        ("Content-Length", str(len(page.body))),
        ("Cache-Control", "no-store"),
    ]
    sent = connection.send(h11.Response(status_code=page.status, headers=headers)) or b""
    if with_body:
        sent += connection.send(h11.Data(data=page.body)) or b""
    sent += connection.send(h11.EndOfMessage()) or b""
    await stream.send_all(sent)
