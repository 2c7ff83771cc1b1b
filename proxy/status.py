"""`kip848-proxy status`: what a running proxy says of its members, asked from its admin port.

Exit codes: 0 answered, 1 no proxy answers there.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

ANSWER_SECONDS = 5
REFRESH_SECONDS = 1.0
NOT_THERE = 1
CLEAR_SCREEN = "\x1b[H\x1b[2J"
COLUMNS = ("group", "member", "phase", "standing", "epoch", "gen.", "holds", "waits", "software")


class NotThere(Exception):
    """No proxy answers: where it was looked for, and what to do."""


def status(admin: str, *, once: bool, as_json: bool) -> int:
    """The members, as they are now; again each second until interrupted, on a terminal."""
    try:
        while True:
            groups = groups_of(admin)
            live = not once and not as_json and sys.stdout.isatty()
            shown = json.dumps(groups, indent=2) if as_json else _members(groups)
            print((CLEAR_SCREEN if live else "") + shown, flush=True)
            if not live:
                return 0
            time.sleep(REFRESH_SECONDS)
    except NotThere as failure:
        print(f"kip848-proxy: {failure}", file=sys.stderr)
        return NOT_THERE
    except KeyboardInterrupt:
        return 0


def groups_of(admin: str) -> list[dict[str, Any]]:
    names = [line["group_id"] for line in _get(admin, "/groups")["groups"]]
    return [_get(admin, "/groups/" + urllib.parse.quote(name, safe="")) for name in names]


def _get(admin: str, path: str) -> Any:
    try:
        with urllib.request.urlopen(f"http://{admin}{path}", timeout=ANSWER_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            raise NotThere(
                f"{admin}{path} answers {error.code}: is this the admin port (`admin`) of a proxy?"
            ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise NotThere(f"no proxy answers on {admin} ({reason}); name its admin port: --admin HOST:PORT") from error


def _members(groups: list[dict[str, Any]]) -> str:
    rows = [_row(member) for group in groups for member in group["members"]]
    return table(COLUMNS, rows) if rows else "no members: no group was seen yet"


def table(columns: tuple[str, ...], body: list[tuple[str, ...]]) -> str:
    rows = [columns, *body]
    widths = [max(len(row[n]) for row in rows) for n in range(len(columns))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _row(member: Mapping[str, Any]) -> tuple[str, ...]:
    phase, standing = (member["phase"], member["standing"]) if not member["passes"] else ("passes", member["passes"])
    numbers = (member["epoch"], member["generation"], len(member["owned"]), len(member["waiting_for"]))
    return (member["group_id"], member["member_id"], phase, standing, *map(str, numbers), software_of(member))


def software_of(member: Mapping[str, Any]) -> str:
    client = member["client"]
    return f"{client['software']} {client['software_version']}".strip() or "unknown"
