"""The status page and its data: / (the page), /groups, /groups/{id}, and /events, which tells what changes as it does.

Read-only, and nothing in it is secret: names and addresses of clients, names of groups and topics, no records.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from importlib.resources import files

import trio

from proxy.admin import Feed, Page, Pages, json_page
from proxy.picture import Picture

# Changes that come closer together than this are told together: the eye needs no more.
BEAT_SECONDS = 0.25
# A word now and then shows both ends that the other is still there.
QUIET_BEATS = 40

ASSETS = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}


def picture_pages(picture: Picture) -> Pages:
    def group(group_id: str) -> Page:
        found = picture.group(group_id)
        if found is None:
            return json_page({"error": f"no group {group_id} was seen here", "groups": "/groups"}, 404)
        return json_page(found)

    return {
        **{path: _asset(*asset) for path, asset in ASSETS.items()},
        "/groups": lambda: json_page({"version": picture.version, "groups": picture.groups()}),
        "/groups/*": group,
        "/events": lambda: Feed("text/event-stream", partial(events, picture)),
    }


def _asset(name: str, content_type: str) -> Callable[[], Page]:
    page = Page(200, content_type, files("proxy").joinpath("page", name).read_bytes())
    return lambda: page


async def events(picture: Picture) -> AsyncIterator[bytes]:
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
