"""`kip848-proxy status`: what running proxies say of their members and connections, asked from their admin ports.

Exit codes: 0 answered, 1 no proxy answers there, 2 the settings are wrong.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proxy.configuration import load
from proxy.settings import BadSettings
from proxy.terminal import printable, table

ANSWER_SECONDS = 5
REFRESH_SECONDS = 1.0
NOT_THERE, BAD_SETTINGS = 1, 2
NONE = "none"
IS_IT_ONE = "is this the admin port (`admin`) of a proxy? Name it: --admin HOST:PORT"
CLEAR_SCREEN = "\x1b[H\x1b[2J"
# An admin port is asked as it is, whatever `http_proxy` says of the web.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
COLUMNS = ("group", "member", "phase", "standing", "epoch", "gen.", "holds", "waits", "heard", "software")
CONNECTION_COLUMNS = ("client", "client id", "software", "groups", "broker", "requests", "open", "idle")


class NotThere(Exception):
    """No proxy answers: where it was looked for, and what to do."""


def status(admin: Sequence[str], config: Path | None, *, connections: bool, once: bool, as_json: bool) -> int:
    """The members (or the connections), as they are now; again each second until interrupted, on a terminal."""
    ask, in_words = (connections_of, _connections) if connections else (groups_of, _members)
    try:
        admins = admins_of(admin, config)
        if not admins:
            raise NotThere("`admin` is none, so no proxy can be asked; name an admin port: --admin HOST:PORT")
        admins = with_siblings(admins)
        while True:
            said = ask(admins)
            live = not once and not as_json and sys.stdout.isatty()
            shown = json.dumps(said, indent=2) if as_json else in_words(said)
            print((CLEAR_SCREEN if live else "") + shown, flush=True)
            if not live:
                return 0
            time.sleep(REFRESH_SECONDS)
    except NotThere as failure:
        print(f"kip848-proxy: {failure}", file=sys.stderr)
        return NOT_THERE
    except BadSettings as error:
        print(f"kip848-proxy: {error}", file=sys.stderr)
        return BAD_SETTINGS
    except KeyboardInterrupt:
        return 0


def admins_of(said: Sequence[str], config: Path | None) -> list[str]:
    """Whom to ask: who is named, or else whom the settings name. Raises BadSettings."""
    named = [part.strip() for each in said for part in each.split(",") if part.strip()]
    if not named:
        # Where the cluster is matters to nobody here, and need not have been said.
        settings = load({"upstream": "not-asked:9092"}, os.environ, config, listens=False, dials=False).settings
        named = [settings.admin or NONE]
    return [each for each in named if each != NONE]


def with_siblings(admins: Sequence[str]) -> list[str]:
    """Of a proxy of several processes all, whichever is named: each knows of its own groups and connections alone."""
    found = dict[str, None]()
    for admin in admins:
        said = _get(admin, "/processes", "ports")
        ports = said["ports"] if said is not None else []
        host = admin.rpartition(":")[0]
        found |= dict.fromkeys([f"{host}:{port}" for port in ports] if len(ports) > 1 else [admin])
    return list(found)


def groups_of(admins: Sequence[str]) -> list[dict[str, Any]]:
    """By name; of a group that comes through several of these proxies, the members are told together."""
    found: dict[str, dict[str, Any]] = {}
    for admin in admins:
        for group in _groups(admin):
            known = found.get(group["group_id"])
            found[group["group_id"]] = group if known is None else _together(known, group)
    return [found[name] for name in sorted(found)]


def _groups(admin: str) -> list[dict[str, Any]]:
    names = [line["group_id"] for line in _get(admin, "/groups", "groups")["groups"]]
    asked = [_get(admin, "/groups/" + urllib.parse.quote(name, safe=""), "members") for name in names]
    found = [group for group in asked if group is not None]
    for group in found:
        # Here, for no two proxies have quite the same time.
        at_ns = group.pop("at_ns", 0)
        for member in group["members"]:
            heard_ns = member.get("heard_ns")
            member["heard_seconds"] = None if heard_ns is None else max(0.0, (at_ns - heard_ns) / 1e9)
    return found


def _together(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    added = {name: one[name] + other[name] for name in ("members", "translated", "passing", "timeline")}
    return {
        **one,
        **added,
        "passes_because": sorted({*one["passes_because"], *other["passes_because"]}),
        "settled": one["settled"] and other["settled"],
        "epoch": max(one["epoch"], other["epoch"]),
    }


def connections_of(admins: Sequence[str]) -> list[dict[str, Any]]:
    return [{"admin": admin, **_get(admin, "/connections", "connections")} for admin in admins]


def _get(admin: str, path: str, holds: str) -> Any:
    """The answer, which `holds` a list of this name. None: a group that was there a moment ago, and is no more; or what an
    older proxy does not know."""
    base = admin.rstrip("/") if admin.startswith(("http://", "https://")) else f"http://{admin}"
    try:
        with OPENER.open(f"{base}{path}", timeout=ANSWER_SECONDS) as answer:
            said = json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == http.HTTPStatus.NOT_FOUND and path.startswith(("/groups/", "/processes")):
                return None
            raise NotThere(f"{admin}{path} answers {error.code}: {IS_IT_ONE}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = printable(str(getattr(error, "reason", error)))
        raise NotThere(f"no proxy answers on {admin} ({reason}); name its admin port: --admin HOST:PORT") from error
    if not isinstance(said, dict) or not isinstance(said.get(holds), list):
        raise NotThere(f"{admin}{path} answers without `{holds}`: {IS_IT_ONE}")
    return said


def _members(groups: list[dict[str, Any]]) -> str:
    rows = [_row(member) for group in groups for member in group["members"]]
    return table(COLUMNS, rows) if rows else "no members: nobody consumes in a group here now"


def _row(member: Mapping[str, Any]) -> tuple[str, ...]:
    phase, standing = (member["phase"], member["standing"]) if not member["passes"] else ("passes", member["passes"])
    numbers = (member["epoch"], member["generation"], len(member["owned"]), len(member["waiting_for"]))
    heard = "-" if member["heard_seconds"] is None else _age(member["heard_seconds"])
    return (member["group_id"], member["member_id"], phase, standing, *map(str, numbers), heard, software_of(member))


def _connections(proxies: list[dict[str, Any]]) -> str:
    rows = [_connection_row(each) for proxy in proxies for each in proxy["connections"]]
    lines = [table(CONNECTION_COLUMNS, rows) if rows else "no connections: nobody is here now"]
    for proxy in proxies:
        if proxy["open"] > len(proxy["connections"]):
            lines.append(f"{proxy['admin']} has {proxy['open']}, and shows its oldest {len(proxy['connections'])}")
    return "\n".join(lines)


def _connection_row(connection: Mapping[str, Any]) -> tuple[str, ...]:
    client = connection["client"]
    marks = ("(gone)" if connection["gone"] else "", client["certificate"] or "")
    address = " ".join(filter(None, (client["address"], *marks)))
    groups, broker = ", ".join(connection["groups"]) or "-", connection["broker"] or "-"
    ages = (_age(connection["open_seconds"]), _age(connection["idle_seconds"]))
    who = (address, client["client_id"] or "-", software_of(connection))
    return (*who, groups, broker, str(connection["requests"]), *ages)


def software_of(spoken: Mapping[str, Any]) -> str:
    """Of a member, or of a connection."""
    client = spoken["client"]
    return f"{client['software']} {client['software_version']}".strip() or "unknown"


def _age(seconds: float) -> str:
    """As precisely as one wants to know: 7s, 12m, 3h, 2d."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"
