"""`kip848-proxy report`: which groups still need the proxy, which would, and which never did.

Two are asked. The proxies know who connects through them, and with what software; the cluster knows all groups, but not who
is behind whom. Whom the cluster names and no proxy that was asked does, comes to the cluster directly, or through another
proxy. Exit codes: 0 answered, 1 no proxy or no broker answers, 2 the settings are wrong.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import trio

from proxy.census import CLASSIC, CONSUMER, Census, ListedGroup, census
from proxy.configuration import ENVIRONMENT_PREFIX, load
from proxy.settings import BadSettings, Settings
from proxy.status import NONE, NotThere, admins_of, connections_of, groups_of, software_of, with_siblings
from proxy.terminal import printable, table

ANSWERED, NO_ANSWER, BAD_SETTINGS = 0, 1, 2
CONSUMERS = ("", "consumer")
NOT_ASKED = (
    "the cluster was not asked: --upstream HOST:PORT, or --config with the proxy's settings, shows the groups that do not "
    "come through this proxy"
)
LEFT_OUT = "Brokers leave out groups that whoever asks may not DESCRIBE; nobody asked in anyone's name."
LEGACY_DIRECT = "is legacy and does not come through this proxy"
# To the cluster, whom a proxy translates is native.
NATIVE = {
    0: "is native, unless proxies translate for it: none was asked",
    1: "is native, as far as this proxy knows: ask the other proxies too",
}
NATIVE_TO_SEVERAL = "is native, as far as these proxies know: ask all there are"
REFUSES_NATIVES = "the broker lets no native member in"
NATIVE_HERE = "is native here, and still connected through the proxy"
COLUMNS = ("group", "type", "state", "here", "passing", "native", "legacy, direct", "verdict", "clients elsewhere")
MOST_CLIENTS = 3


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A group of the cluster. Members by how they come: translated here, passing here, native and legacy elsewhere."""

    group_id: str
    type: str
    state: str
    here: int = 0
    passing: int = 0
    native: int = 0
    legacy_direct: int = 0
    verdict: str
    # Of those who do not come through this proxy, by client id.
    clients_elsewhere: dict[str, int] = {}


def report(admin: Sequence[str], flags: Mapping[str, Any], config: Path | None, *, as_json: bool) -> int:
    try:
        settings = _settings(flags, config)
        admins = with_siblings(admins_of(admin, config))
        seen, here = groups_of(admins), open_connections(connections_of(admins))
    except BadSettings as error:
        print(f"kip848-proxy: {error}", file=sys.stderr)
        return BAD_SETTINGS
    except NotThere as failure:
        print(f"kip848-proxy: {failure}; or --admin {NONE}, to ask the cluster alone", file=sys.stderr)
        return NO_ANSWER
    counted = (
        trio.run(census, settings, restrict_keyboard_interrupt_to_checkpoints=True) if settings is not None else None
    )
    needs, rows = needs_of(seen, here), rows_of(counted, seen, len(admins))
    print(_as_json(needs, counted, rows) if as_json else _in_words(admins, needs, counted, rows))
    return NO_ANSWER if counted is not None and counted.silent and not rows else ANSWERED


def _settings(flags: Mapping[str, Any], config: Path | None) -> Settings | None:
    """None: nobody said where the cluster is."""
    said = flags or config is not None or f"{ENVIRONMENT_PREFIX}UPSTREAM" in os.environ
    return load(flags, os.environ, config, listens=False).settings if said else None


# --- what the proxy says -------------------------------------------------------------------------------------------


def open_connections(proxies: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    """The connections at whose other end somebody is."""
    return [connection for proxy in proxies for connection in proxy["connections"] if not connection["gone"]]


def needs_of(seen: list[dict[str, Any]], connections: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """By name; groups whose members here are all native are known by their connections alone."""
    of_legacy = {group["group_id"]: group for group in seen}
    by_group = _by_group(connections)
    dropped = _dropped_by_group(connections)
    return [
        _needs(name, of_legacy.get(name), by_group.get(name, []), dropped.get(name, set()))
        for name in sorted({*of_legacy, *by_group, *dropped})
    ]


def _by_group(connections: list[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Those on which its members speak, native ones too."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for connection in connections:
        for group_id in connection["groups"]:
            found.setdefault(group_id, []).append(connection)
    return found


def _dropped_by_group(connections: list[Mapping[str, Any]]) -> dict[str, set[str]]:
    """What was asked that brokers have dropped: about the group, or about none by one of its members."""
    found: dict[str, set[str]] = {}
    for connection in connections:
        for each in connection.get("relies_on", ()):
            for group_id in connection["groups"] if each["group_id"] is None else [each["group_id"]]:
                found.setdefault(group_id, set()).add(each["asked"])
    return found


def _needs(
    group_id: str, group: Mapping[str, Any] | None, connected: list[Mapping[str, Any]], dropped: set[str]
) -> dict[str, Any]:
    legacy = group["members"] if group is not None else []
    software = Counter(map(software_of, legacy or connected))
    return {
        "group_id": group_id,
        "needs_the_proxy": group is not None and group["translated"] > 0,
        "legacy_members": len(legacy),
        "connections": len(connected),
        "software": dict(sorted(software.items())),
        "relies_on": sorted(dropped),
        "passes_because": group["passes_because"] if group is not None else [],
    }


def _need_in_words(group: Mapping[str, Any]) -> str:
    clients = ", ".join(f"{count} × {name}" for name, count in group["software"].items()) or "nobody now"
    need = "needs the proxy" if group["needs_the_proxy"] else "is not translated"
    if group["connections"] and not group["legacy_members"]:
        need = NATIVE_HERE
    why = f" ({'; '.join(group['passes_because'])})" if group["passes_because"] else ""
    dropped = f"; brokers have dropped {', '.join(group['relies_on'])}" if group["relies_on"] else ""
    return f"{group['group_id']}: {need}{why}: {clients}{dropped}"


# --- what the cluster says -----------------------------------------------------------------------------------------


def rows_of(counted: Census | None, seen: list[dict[str, Any]], proxies: int) -> list[Row]:
    passes = {
        (group["group_id"], member["member_id"]): member["passes"] is not None
        for group in seen
        for member in group["members"]
    }
    return [_row(group, passes, proxies) for group in counted.groups] if counted is not None else []


def _row(group: ListedGroup, passes: Mapping[tuple[str, str], bool], proxies: int) -> Row:
    through = [passes.get((group.group_id, member.member_id)) for member in group.members]
    elsewhere = [member for member, passing in zip(group.members, through, strict=True) if passing is None]
    speaks = Counter(member.speaks for member in elsewhere)
    row = Row(
        group_id=group.group_id,
        type=group.type,
        state=group.state,
        here=through.count(False),
        passing=through.count(True),
        native=speaks[CONSUMER],
        legacy_direct=speaks[CLASSIC],
        verdict="",
        clients_elsewhere=dict(Counter(member.client_id for member in elsewhere).most_common()),
    )
    return msgspec.structs.replace(row, verdict=_verdict(group, row, proxies))


def _verdict(group: ListedGroup, row: Row, proxies: int) -> str:
    if group.refused:
        return f"may not be described (error {group.refused})"
    if group.type not in (CLASSIC, CONSUMER):
        return f"is no business of the proxy: a {group.type} group"
    if group.protocol_type not in CONSUMERS:
        return f"is no business of the proxy: {group.protocol_type}"
    if not group.members:
        return "has no members"
    if row.here:
        return "needs the proxy"
    if not row.passing and not row.legacy_direct:
        return NATIVE.get(proxies, NATIVE_TO_SEVERAL)
    way = "comes through the proxy and is not translated" if row.passing else LEGACY_DIRECT
    return f"{way}; {REFUSES_NATIVES}" if group.refuses_natives else way


# --- shown ---------------------------------------------------------------------------------------------------------


def _as_json(needs: list[dict[str, Any]], counted: Census | None, rows: list[Row]) -> str:
    cluster = {"groups": rows, "silent": counted.silent} if counted is not None else None
    return json.dumps(msgspec.to_builtins({"groups": needs, "cluster": cluster}), indent=2)


def _in_words(admins: list[str], needs: list[dict[str, Any]], counted: Census | None, rows: list[Row]) -> str:
    lines = [printable(_need_in_words(group)) for group in needs]
    if admins and not needs:
        lines = ["no group was seen here: nothing that connects through this proxy consumes in a group"]
    if counted is None:
        return "\n".join([*lines, "", NOT_ASKED])
    if rows or not counted.silent:
        lines += [
            "",
            table(COLUMNS, [_cells(row) for row in rows]) if rows else "the cluster names no groups",
            LEFT_OUT,
        ]
    lines += [printable(f"{broker} {reason}: its groups are missing") for broker, reason in counted.silent.items()]
    return "\n".join(lines).lstrip("\n")


def _cells(row: Row) -> tuple[str, ...]:
    clients = [f"{count} × {name or 'unnamed'}" for name, count in row.clients_elsewhere.items()]
    more = [f"and {len(clients) - MOST_CLIENTS} more"] if len(clients) > MOST_CLIENTS else []
    counts = (row.here, row.passing, row.native, row.legacy_direct)
    shown = ", ".join([*clients[:MOST_CLIENTS], *more])
    return (row.group_id, row.type, row.state, *map(str, counts), row.verdict, shown)
