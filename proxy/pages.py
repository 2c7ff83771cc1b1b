"""The status page and its data: / (the page), /groups, /groups/{id}, /heard/{id}, /connections, /processes, and /events
(what changes).

Read-only, and nothing in it is secret: names and addresses of clients, names of groups and topics, no records.
"""

from __future__ import annotations

import heapq
import json
import time
from collections.abc import AsyncGenerator, Callable
from functools import partial
from importlib.resources import files
from typing import Any

import trio

from proxy.admin import Feed, Page, Pages, json_page
from proxy.certificates import subject
from proxy.connections import Connection, Connections
from proxy.picture import Picture

# Changes that come closer together than this are told together: the eye needs no more.
BEAT_SECONDS = 0.25
# A word now and then shows both ends that the other is still there.
QUIET_BEATS = 40

# Listed connections; of more, only their number is told.
MOST_CONNECTIONS = 1_000

ASSETS = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}


def picture_pages(picture: Picture, now_ns: Callable[[], int] = time.time_ns) -> Pages:
    def unknown(group_id: str) -> Page:
        return json_page({"error": f"no group {group_id} was seen here", "groups": "/groups"}, 404)

    def group(group_id: str) -> Page:
        found = picture.group(group_id)
        if found is None:
            return unknown(group_id)
        return json_page({**found, "at_ns": now_ns()})

    def heard(group_id: str) -> Page:
        """No change, so no event: whoever looks asks now and then."""
        now = now_ns()
        ages = {member.member_id: _seconds(member.heard_ns, now) for member in picture.of_group(group_id)}
        return json_page({"heard_seconds": ages}) if ages else unknown(group_id)

    return {
        **{path: _asset(*asset) for path, asset in ASSETS.items()},
        "/groups": lambda: json_page({"version": picture.version, "groups": picture.groups()}),
        "/groups/*": group,
        "/heard/*": heard,
        "/events": lambda: Feed("text/event-stream", partial(events, picture)),
    }


def _seconds(since_ns: int | None, now_ns: int) -> float | None:
    return None if since_ns is None else round(max(0, now_ns - since_ns) / 1e9, 3)


def connection_pages(connections: Connections) -> Pages:
    """The oldest first: whoever looks for those that stay."""

    def page() -> Page:
        now = trio.current_time()
        shown = heapq.nsmallest(MOST_CONNECTIONS, connections, key=lambda connection: connection.opened_at)
        return json_page({"open": len(connections), "connections": [_connection(each, now) for each in shown]})

    return {"/connections": page}


def process_pages(ports: list[int]) -> Pages:
    """Where else there is something to be seen of this proxy."""
    return {"/processes": lambda: json_page({"ports": ports})}


def _connection(connection: Connection, now: float) -> dict[str, Any]:
    talk = connection.conversation
    desk, (software, software_version) = talk.desk, talk.software
    return {
        "client": {
            "address": connection.client,
            "client_id": desk.client_id if desk is not None else "",
            "software": software,
            "software_version": software_version,
            "certificate": subject(connection.certificate) if connection.certificate else None,
        },
        "node": connection.node,
        "broker": str(connection.dialled) if connection.dialled is not None else None,
        "groups": sorted(desk.groups) if desk is not None else [],
        "relies_on": [{"group_id": group, "asked": asked} for group, asked in desk.relies_on]
        if desk is not None
        else [],
        "gone": desk is not None and desk.client_left,
        "requests": talk.requests,
        "open_seconds": round(now - connection.opened_at, 3),
        "idle_seconds": round(max(0.0, now - connection.active_at), 3),
    }


def _asset(name: str, content_type: str) -> Callable[[], Page]:
    page = Page(200, content_type, files("proxy").joinpath("page", name).read_bytes())
    return lambda: page


async def events(picture: Picture) -> AsyncGenerator[bytes, None]:
    """Server-sent events for ever: first everything, then each change."""
    told, quiet = -1, 0
    while True:
        if told != picture.version:
            news = picture.since(max(told, 0))
            told, quiet = picture.version, 0
            yield b"data: " + json.dumps(news, separators=(",", ":")).encode() + b"\n\n"
        elif quiet >= QUIET_BEATS:
            quiet = 0
            yield b": still here\n\n"
        quiet += 1
        await trio.sleep(BEAT_SECONDS)
