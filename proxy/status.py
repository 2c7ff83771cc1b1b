"""`kip848-proxy status` and `report`: what a running proxy says of its members, asked from its admin port.

Exit codes: 0 answered, 1 no proxy answers there.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
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
            groups = _groups(admin)
            live = not once and not as_json and sys.stdout.isatty()
            shown = json.dumps(groups, indent=2) if as_json else _table(groups)
            print((CLEAR_SCREEN if live else "") + shown, flush=True)
            if not live:
                return 0
            time.sleep(REFRESH_SECONDS)
    except NotThere as failure:
        print(f"kip848-proxy: {failure}", file=sys.stderr)
        return NOT_THERE
    except KeyboardInterrupt:
        return 0


def report(admin: str, *, as_json: bool) -> int:
    """Which groups and which clients still need the proxy. It knows only those that it has seen."""
    try:
        found = [_needs(group) for group in _groups(admin)]
    except NotThere as failure:
        print(f"kip848-proxy: {failure}", file=sys.stderr)
        return NOT_THERE
    print(json.dumps(found, indent=2) if as_json else _in_words(found))
    return 0


def _groups(admin: str) -> list[dict[str, Any]]:
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


def _table(groups: list[dict[str, Any]]) -> str:
    rows = [COLUMNS, *(_row(member) for group in groups for member in group["members"])]
    if len(rows) == 1:
        return "no members: no group was seen yet"
    widths = [max(len(row[n]) for row in rows) for n in range(len(COLUMNS))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _row(member: Mapping[str, Any]) -> tuple[str, ...]:
    phase, standing = (member["phase"], member["standing"]) if not member["passes"] else ("passes", member["passes"])
    numbers = (member["epoch"], member["generation"], len(member["owned"]), len(member["waiting_for"]))
    return (member["group_id"], member["member_id"], phase, standing, *map(str, numbers), _software(member))


def _software(member: Mapping[str, Any]) -> str:
    client = member["client"]
    return f"{client['software']} {client['software_version']}".strip() or "unknown"


def _needs(group: Mapping[str, Any]) -> dict[str, Any]:
    software = Counter(_software(member) for member in group["members"])
    return {
        "group_id": group["group_id"],
        "needs_the_proxy": group["translated"] > 0,
        "legacy_members": len(group["members"]),
        "software": dict(sorted(software.items())),
        "passes_because": group["passes_because"],
    }


def _in_words(found: list[dict[str, Any]]) -> str:
    lines = []
    for group in found:
        clients = ", ".join(f"{count} × {name}" for name, count in group["software"].items()) or "nobody now"
        need = "needs the proxy" if group["needs_the_proxy"] else "is not translated"
        why = f" ({'; '.join(group['passes_because'])})" if group["passes_because"] else ""
        lines.append(f"{group['group_id']}: {need}{why}: {clients}")
    return "\n".join(lines) or "no group was seen here: nothing that connects through this proxy consumes in a group"
