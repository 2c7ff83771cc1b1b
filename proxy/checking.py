"""`kip848-proxy check`: would the proxy work here? Looks at settings, files, listeners and the cluster, and changes nothing.

It dials the brokers as the proxy would, and asks what anybody may ask: ApiVersions (answered before authentication),
Metadata, and one ConsumerGroupHeartbeat by which nobody leaves a group that does not exist; and, where that needs no
credentials, the bounds of clients' sessions. Every finding that is not `ok` says what to do. Exit codes: 0 it would work,
1 it would not (or not everywhere), 2 the settings are wrong.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import msgspec
import trio

from kafka_protocol.messages import keys
from proxy.addresses import Address, Directory, parse_address
from proxy.admin import open_admin
from proxy.certificates import not_after
from proxy.configuration import load
from proxy.descriptors import TooFewDescriptors, more_of_them, most_descriptors, within
from proxy.doors import CannotListen, Door, hindrance
from proxy.epoll_set import EpollSet
from proxy.groups import native
from proxy.groups.journal import CannotJournal, is_claimed, lines_in
from proxy.locked import is_locked
from proxy.logs import Log
from proxy.processes import admins, own
from proxy.settings import BadSettings, Limits, Settings, Translation
from proxy.status import NotThere, connections_of
from proxy.terminal import printable
from proxy.tls import UPSTREAM_TLS, identities
from proxy.tracing.exporting import CannotExport, to_collector
from proxy.visiting import BrokerAnswers, Visits, visit_all
from proxy.wire import api_name
from translation import errors as e

WORKS, WORKS_NOT, BAD_SETTINGS = 0, 1, 2
Level = Literal["ok", "warning", "error"]

ALL_SETTINGS = "docs/settings.md lists every setting, with its unit, default and bounds"
TURN_ON = (
    "kafka-features.sh --bootstrap-server … upgrade --feature group.version=1 (brokers since 4.0), and `consumer` in the "
    "brokers' group.coordinator.rebalance.protocols; until then all groups pass to the brokers' classic protocol"
)
TOO_OLD = "KIP-848 needs brokers of 4.0 or newer; until all of them are, groups pass to the brokers' classic protocol"
SEED = (
    "is it a broker, up, and not behind a firewall? If its listener speaks TLS, set upstream_tls; "
    "if its certificate is not trusted here, upstream_tls.ca_file"
)
ADVERTISED = "clients are sent to it: the brokers' advertised.listeners must be within reach from here"
RIGHTS = (
    "the proxy needs no rights of its own. A client's principal needs READ on its group, as before, "
    "and DESCRIBE on the topics it subscribes to (READ implies it)"
)
RENEW = "renew it: the proxy reads its files again when they change, or at SIGHUP"
ENDS_SOON = timedelta(days=14)


class Finding(msgspec.Struct, frozen=True):
    about: Literal[
        "settings",
        "limits",
        "tls",
        "journal",
        "traces",
        "listeners",
        "cluster",
        "kip-848",
        "versions",
        "sessions",
        "access",
    ]
    level: Level
    said: str
    remedy: str | None = None


def check(flags: Mapping[str, Any], config: Path | None, *, as_json: bool) -> int:
    """Print what was found, and say how it went."""
    try:
        settings = load(flags, os.environ, config).settings
    except BadSettings as error:
        wrong, _, remedy = str(error).partition("; ")
        _show([Finding("settings", "error", wrong, remedy or ALL_SETTINGS)], as_json)
        return BAD_SETTINGS
    findings = [Finding("settings", "ok", "the settings are complete and agree with one another")]
    # Elsewhere an interruption may leave a call unfinished, of which Python warns.
    findings += trio.run(_found, settings, restrict_keyboard_interrupt_to_checkpoints=True)
    _show(findings, as_json)
    return WORKS_NOT if any(finding.level == "error" for finding in findings) else WORKS


def _show(findings: list[Finding], as_json: bool) -> None:
    if as_json:
        print(json.dumps(msgspec.to_builtins(findings), indent=2))
        return
    for finding in findings:
        print(f"{finding.level:<8} {finding.about:<10} {printable(finding.said)}")
        if finding.remedy is not None:
            print(f"{'':<19} → {finding.remedy}")


async def _found(settings: Settings) -> list[Finding]:
    directory = Directory(settings)
    visits = await visit_all(settings, directory)
    beside = await _runs_here(settings.admin)
    return [
        _descriptors(settings.limits, most_descriptors()),
        *_certificates(settings),
        *(finding for number in range(settings.processes) for finding in _files(own(settings, number), beside)),
        *_collector(settings),
        *await _listeners(settings, directory, beside),
        *_reached(directory, visits),
        *_native(visits),
        *_versions(visits),
        *_sessions(settings.translation, visits),
        *_access(visits),
    ]


# --- what it may have ----------------------------------------------------------------------------------------------


def _descriptors(limits: Limits, descriptors: int) -> Finding:
    try:
        connections = within(limits, descriptors, Log(out=io.StringIO())).max_connections
    except TooFewDescriptors as failure:
        said, _, remedy = str(failure).partition(": ")
        return Finding("limits", "error", said, remedy)
    said = f"limits.max_connections = {limits.max_connections}: there are descriptors for {connections} connections"
    if connections < limits.max_connections:
        return Finding("limits", "warning", said, more_of_them(limits))
    return Finding("limits", "ok", said)


# --- what it reads and writes --------------------------------------------------------------------------------------


def _certificates(settings: Settings) -> Iterator[Finding]:
    """That they can serve is a matter of the settings; how long they can, of the day."""
    of_clients = identities(settings.upstream_tls) if settings.upstream_tls is not None else []
    for name, tls in (("client_tls", settings.client_tls), (UPSTREAM_TLS, settings.upstream_tls), *of_clients):
        if tls is None or tls.certificate_file is None:
            continue
        end, now = not_after(tls.certificate_file), datetime.now(UTC)
        said = f"{name}.certificate_file: {tls.certificate_file}"
        if end is None:
            yield Finding("tls", "ok", f"{said} can serve")
        elif end <= now:
            yield Finding("tls", "error", f"{said} has expired, at {end:%Y-%m-%d %H:%M} UTC", RENEW)
        elif end <= now + ENDS_SOON:
            yield Finding("tls", "warning", f"{said} expires soon, at {end:%Y-%m-%d %H:%M} UTC", RENEW)
        else:
            yield Finding("tls", "ok", f"{said} serves until {end:%Y-%m-%d %H:%M} UTC")


def _files(settings: Settings, beside: bool) -> Iterator[Finding]:
    """Looked at only: a proxy may be writing there."""
    if settings.translation.journal is not None:
        yield _journal(settings.translation.journal, beside)
    if settings.traces.file is not None:
        yield _traces(settings.traces.file, beside)


def _journal(file: str, beside: bool) -> Finding:
    about = f"translation.journal: {file}"
    try:
        if is_claimed(Path(file)):
            return _claimed("journal", about, beside)
    except OSError as failure:
        return Finding(
            "journal", "error", f"{about}: its lock cannot be had: {failure.strerror}", "run this as its user"
        )
    found = _file("journal", "translation.journal", file)
    try:
        if found.level == "ok":
            lines_in(Path(file))
    except CannotJournal as failure:
        said, _, remedy = str(failure).rpartition(": ")
        return Finding("journal", "error", said, remedy)
    return found


def _traces(file: str, beside: bool) -> Finding:
    found = _file("traces", "traces.file", file)
    if found.level == "ok" and is_locked(Path(file)):
        return _claimed("traces", f"traces.file: {file}", beside)
    return found


def _claimed(about: Literal["journal", "traces"], what: str, beside: bool) -> Finding:
    if beside:
        return _in_use(about, what)
    return Finding(about, "error", f"{what} is written by another proxy that is running", "give each its own")


def _file(about: Literal["journal", "traces"], name: str, file: str) -> Finding:
    try:
        # Of a link, what it leads to is written.
        why = _unwritable(Path(os.path.realpath(file)))
    except OSError as failure:
        why = failure.strerror
    if why is not None:
        remedy = f"name a file in `{name}` that the proxy's user may write, in a folder that it may write"
        return Finding(about, "error", f"{name}: {file} cannot be written: {why}", remedy)
    return Finding(about, "ok", f"{name}: {file} can be written")


def _unwritable(file: Path) -> str | None:
    """Folders that are missing are made at start."""
    folder = next(folder for folder in file.absolute().parents if folder.exists())
    if not folder.is_dir():
        return f"{folder} is a file, not a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the folder {folder} may not be written"
    if file.is_dir():
        return "it is a folder"
    return "no rights" if file.exists() and not os.access(file, os.R_OK | os.W_OK) else None


def _collector(settings: Settings) -> Iterator[Finding]:
    if settings.traces.otlp_endpoint is None:
        return
    try:
        to_collector(settings.traces, settings.traces.otlp_endpoint).shutdown()
    except CannotExport as failure:
        yield Finding("traces", "error", str(failure), "or go without `traces.otlp_endpoint`: only the traces need it")


# --- listeners -----------------------------------------------------------------------------------------------------


async def _listeners(settings: Settings, directory: Directory, beside: bool) -> list[Finding]:
    """As the proxy binds them, all at once: for bootstrap, and for every broker that was named or has shown up."""
    bootstrap = parse_address(settings.listen)
    nodes = {*settings.nodes, *map(int, settings.ports), *directory.nodes}
    with EpollSet() as epoll_set:
        async with contextlib.AsyncExitStack() as bound:
            found = [await _bind_admin(bound, parse_address(admin), beside) for admin in admins(settings)]
            found.append(_bind(bound, epoll_set, bootstrap, None, beside))
            for node in sorted(nodes if settings.sni is None else ()):
                found.append(_bind(bound, epoll_set, Address(bootstrap.host, directory.port_of(node)), node, beside))
            return found


def _bind(
    bound: contextlib.AsyncExitStack, epoll_set: EpollSet, address: Address, node: int | None, beside: bool
) -> Finding:
    whose = "bootstrap" if node is None else f"node {node}"
    try:
        door = Door(epoll_set, address, node, lambda *_: None, Log(out=io.StringIO()))
    except CannotListen as failure:
        if beside and _is_taken(failure.__cause__):
            return _in_use("listeners", f"{address} ({whose})")
        said, _, remedy = str(failure).partition(": ")
        return Finding("listeners", "error", said, remedy)
    bound.callback(door.close)
    return Finding("listeners", "ok", f"{address} can be bound ({whose})")


async def _bind_admin(bound: contextlib.AsyncExitStack, address: Address, beside: bool) -> Finding:
    try:
        for listener in await open_admin(address):
            bound.push_async_callback(listener.aclose)
    except OSError as failure:
        if beside and _is_taken(failure):
            return _in_use("listeners", f"{address} (admin)")
        remedy = f"{hindrance(failure, 'admin', 'admin')}, or go without: --admin none"
        return Finding("listeners", "error", f"cannot listen on {address} for the admin pages", remedy)
    return Finding("listeners", "ok", f"{address} can be bound (admin)")


def _is_taken(failure: BaseException | None) -> bool:
    return isinstance(failure, OSError) and failure.errno == errno.EADDRINUSE


# --- the proxy that runs here --------------------------------------------------------------------------------------


async def _runs_here(admin: str | None) -> bool:
    """Whether a proxy answers on the admin port of these settings: they are its own then, or another's who will not start."""
    try:
        return admin is not None and bool(await trio.to_thread.run_sync(connections_of, [admin]))
    except NotThere:
        return False


def _in_use(about: Literal["journal", "traces", "listeners"], what: str) -> Finding:
    said = f"{what} is in use, and a proxy answers on the admin port: as it should be, if these are its settings"
    return Finding(
        about, "warning", said, "for one more proxy choose another: each needs ports, journal and traces of its own"
    )


# --- verdicts ------------------------------------------------------------------------------------------------------


def _answering(visits: Visits) -> dict[Address, BrokerAnswers]:
    return {address: visit for address, visit in visits.items() if isinstance(visit, BrokerAnswers)}


def _reached(directory: Directory, visits: Visits) -> Iterator[Finding]:
    """One seed that answers is enough; a broker that clients will be sent to must be within reach."""
    nodes = {address: node for node, address in directory.nodes.items()}
    for address, visit in visits.items():
        name = f"node {nodes[address]} at {address}" if address in nodes else f"{address}"
        if isinstance(visit, BrokerAnswers):
            yield Finding("cluster", "ok", f"{name} answers")
        elif address in nodes:
            yield Finding("cluster", "error", f"{name} cannot be asked: {visit.reason}", visit.remedy or ADVERTISED)
        else:
            level: Level = "warning" if _answering(visits) else "error"
            yield Finding("cluster", level, f"{name} cannot be asked: {visit.reason}", visit.remedy or SEED)


def _native(visits: Visits) -> Iterator[Finding]:
    answering = _answering(visits)
    troubles = [_trouble(f"{address}", answers) for address, answers in answering.items()]
    found = [trouble for trouble in troubles if trouble is not None]
    yield from found
    if answering and not found:
        level = min(answers.group_version for answers in answering.values())
        yield Finding("kip-848", "ok", f"group.version is {level}, and ConsumerGroupHeartbeat is offered")


def _trouble(name: str, answers: BrokerAnswers) -> Finding | None:
    if keys.CONSUMER_GROUP_HEARTBEAT not in answers.versions:
        return Finding("kip-848", "error", f"{name} does not offer ConsumerGroupHeartbeat", TOO_OLD)
    if answers.verdict == e.UNSUPPORTED_VERSION:
        return Finding("kip-848", "error", f"{name} refuses ConsumerGroupHeartbeat", TURN_ON)
    if answers.group_version == 0:
        return Finding("kip-848", "error", f"{name} says that group.version is 0", TURN_ON)
    return None


def _versions(visits: Visits) -> Iterator[Finding]:
    answering = _answering(visits)
    for address, answers in answering.items():
        missing = [f"{api_name(key)} v{version}" for key, version in native.unspoken(answers.versions)]
        if missing:
            yield Finding("versions", "error", f"{address} does not take {', '.join(missing)}", TOO_OLD)
    oldest = max((answers.versions.get(keys.FETCH, (0, 0))[0] for answers in answering.values()), default=0)
    if oldest > 0:
        said = f"brokers take Fetch from version {oldest} on: clients that are too old for it fail, proxy or not"
        yield Finding("versions", "ok", said)


def _sessions(ours: Translation, visits: Visits) -> Iterator[Finding]:
    """Whom a broker would take, the proxy should."""
    for address, answers in _answering(visits).items():
        if answers.session_bounds is None:
            continue
        least, most = answers.session_bounds
        said = f"{address} takes clients with sessions of {least} to {most} ms"
        if (ours.min_session_ms, ours.max_session_ms) == answers.session_bounds:
            yield Finding("sessions", "ok", f"{said}, and so does the proxy")
        else:
            yield Finding(
                "sessions",
                "warning",
                f"{said}, the proxy those of {ours.min_session_ms} to {ours.max_session_ms}",
                f"translation.min_session_ms = {least}, translation.max_session_ms = {most}",
            )


def _access(visits: Visits) -> Iterator[Finding]:
    answering = _answering(visits).values()
    if any(answers.verdict is None for answers in answering):
        said = "brokers answer authenticated clients only: other brokers and the groups' coordinators were not asked"
        yield Finding("access", "ok", said)
    if answering:
        yield Finding("access", "ok", RIGHTS)
