"""The running proxy: who starts what, who closes what, and which errors go where.

    serve
    ├── the epoll set     doors (listening sockets) and links (plaintext connections), and those that siblings send
    ├── tls               one task a connection that has TLS on a side, and its three pumps
    ├── clock             wakes members when a deadline of theirs comes
    ├── scout             asks the cluster who its brokers are; a new one gets its door before clients hear of it
    ├── sweep             cuts connections that are idle, stalled, or talk to the wrong broker
    ├── absences          one task a broker that is away: its door is shut until it is back
    ├── another chance    for doors that rest or could not be bound, for a journal and a log that are behind
    ├── certificates      watches their files
    ├── parent            of several processes: when it wants all to end, or is gone, this one drains
    ├── admin             probes, metrics, the page and what it asks for
    └── signals           SIGTERM and SIGINT drain and end all of the above, a second one drains no longer; SIGHUP reloads
                          certificates, and what of the settings may change (reloading.py)

An error of a connection ends that connection (`Link._fail`, `TlsLink._pump`) and is counted with its cause. An error
of the cluster is the scout's: logged, and tried again. A door that can't be bound at start ends the start (`CannotStart`);
one that can't be bound later, for a broker that joined, is logged, shown by /readyz, and tried again. Anything else is a
mistake of ours and ends the process loudly.
"""

from __future__ import annotations

import gc
import signal
import traceback
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

import trio
from prometheus_client.registry import Collector

from proxy.absences import Absences
from proxy.addresses import Address, Directory, parse_address
from proxy.admin import Pages, health_pages, open_admin, serve_admin
from proxy.calls import Calls
from proxy.certificate_metrics import CertificateMetrics
from proxy.connections import SWEEP_SECONDS, Connections
from proxy.counts import Counts
from proxy.cpus import cpus
from proxy.descriptors import TooFewDescriptors, take_descriptors, within
from proxy.doors import CannotListen, Door, hindrance
from proxy.epoll_set import READABLE, EpollSet
from proxy.group_metrics import GroupMetrics
from proxy.groups.clock import Clock
from proxy.groups.host import Host
from proxy.groups.journal import CannotJournal, Journal
from proxy.groups.passing import GroupRules, pacing_of, rules_of
from proxy.logs import Hearing, Log
from proxy.membership_log import membership_log
from proxy.metrics import Gauges, Metrics
from proxy.newcomers import Newcomers
from proxy.pages import connection_pages, picture_pages, process_pages
from proxy.parting import Partings
from proxy.picture import Picture
from proxy.reloading import reload_settings
from proxy.scout import Scout
from proxy.settings import Limits, Settings
from proxy.siblings import AT_ONCE, Siblings
from proxy.streams import Streams
from proxy.tls import ClientSide, UpstreamSide, follow
from proxy.tracing.exporting import CannotExport, Exporting, own_name
from proxy.tracing.metrics import TraceMetrics
from proxy.tracing.traces import Traces
from proxy.wire import Wire, api_name

# The last traces have at least this long. A collector that is there takes them in far less.
TRACES_SECONDS = 1.0
# Python looks for garbage when there are so many more objects that may refer to one another; the default is 700.
GARBAGE_LOOKED_FOR_AT = 20_000


class CannotStart(Exception):
    """Why the proxy can't run here as it is configured, and what may help."""


class Proxy:
    """All the parts, and the doors: one to begin with, and one for each broker."""

    def __init__(
        self,
        settings: Settings,
        limits: Limits,
        log: Log,
        epoll_set: EpollSet,
        tasks: trio.Nursery,
        siblings: Siblings | None = None,
    ) -> None:
        """`limits`: those of the settings, or as much of them as there are descriptors for."""
        self._siblings = siblings
        self.settings = settings
        self.log = log
        self.counts = Counts()
        self.directory = Directory(settings, self._node_appeared)
        self.wire = Wire(self.directory)
        self.clock = Clock(self._stood_still, self._mistaken)
        self.host = Host(
            self.clock,
            GroupRules(settings.groups, rules_of(settings.translation)),
            pacing_of(settings.translation),
            _journal(settings.translation.journal, log, siblings),
            log,
            self.counts,
        )
        self.picture = Picture()
        self.group_metrics = GroupMetrics()
        self.host.observers += [membership_log(log), self.picture.observe, self.group_metrics.observe]
        self.exporting = self.traces = None
        if settings.traces.file is not None or settings.traces.otlp_endpoint is not None:
            self.exporting = Exporting(settings.traces, own_name(), version("kip848-proxy"), log)
            self.traces = Traces(self.exporting.tracer)
            self.host.observers.append(self.traces.observe)
        has_sni = settings.sni is not None
        self._client_side = ClientSide(settings.client_tls, log, has_sni) if settings.client_tls else None
        self.upstream_side = UpstreamSide(settings.upstream_tls, log) if settings.upstream_tls else None
        streams = Streams(settings.limits, self.upstream_side, Calls(self.counts, log))
        self.absences = Absences(
            lambda node, seconds: streams.why_away(self.directory.targets(node), seconds),
            self.directory.nodes.get,
            self.directory.was_named,
            limits.connect_timeout_ms / 1000,
            log,
            tasks,
        )
        self.connections = Connections(
            limits,
            self.wire,
            self.counts,
            log,
            self.host.requests.open_line,
            Partings(epoll_set),
            self.absences.find_out,
            self.absences.heard_from,
            siblings,
        )
        self.scout = Scout(self.directory, self.wire, streams.open, log)
        self.newcomers = Newcomers(
            settings, self.connections, self.directory, streams, self._client_side, epoll_set, tasks
        )
        self.doors: list[Door] = []
        self._unopened: dict[int, str] = {}
        self._epoll_set = epoll_set

    def sides(self) -> list[ClientSide | UpstreamSide]:
        """That have TLS."""
        found: list[ClientSide | UpstreamSide] = [self._client_side] if self._client_side is not None else []
        return found + (self.upstream_side.with_those_of_clients if self.upstream_side is not None else [])

    # --------------------------------------------------------------------------------------------------------- doors

    def open_doors(self) -> None:
        """The bootstrap listener and those of the known nodes; the others' open as the nodes show up. Known are those as well
        of which clients were told before a restart: they dial them first, and some dial nothing else."""
        self._open_door(parse_address(self.settings.listen), None)
        known = {*self.settings.nodes, *map(int, self.settings.ports)}
        for node in sorted(known if self.settings.sni is None else ()):
            self._open_door(self._bind_address(node), node)
        for node in self.host.journal.nodes:
            self._open_if_shut(node)
            # It may be a broker no more. If it is one, and its port is taken, that is said again when it is named.
            self._unopened.pop(node, None)

    async def run_epoll_set(self) -> None:
        if self._siblings is not None:
            moved_in = partial(self.newcomers.moved_in, self._siblings)
            self._epoll_set.watch(self._siblings.inbox, READABLE, moved_in)
        await self._epoll_set.run()

    def _stood_still(self, seconds: float) -> None:
        self.counts.stood_still_seconds += seconds
        self.log.warning("stood still", at_least_seconds=round(seconds, 1))

    def _mistaken(self, failure: Exception) -> None:
        self.counts.mistakes += 1
        self.log.error("our mistake", trace="".join(traceback.format_exception(failure)))

    def _open_door(self, address: Address, node: int | None) -> None:
        bootstrap = self.doors[0] if self.doors else None
        ports = self._siblings.ports if self._siblings is not None else None
        door = Door(self._epoll_set, address, node, self.newcomers.welcome, self.log, bootstrap, ports)
        self.doors.append(door)
        if node is not None:
            self.absences.doors[node] = door

    def _bind_address(self, node: int) -> Address:
        return Address(parse_address(self.settings.listen).host, self.directory.port_of(node))

    def _node_appeared(self, node: int) -> None:
        self._open_if_shut(node)
        self.host.journal.tells_of(self.directory.nodes)

    def _open_if_shut(self, node: int) -> None:
        is_open = self.settings.sni is not None or any(door.node == node for door in self.doors)
        if is_open or self.connections.draining:
            return
        try:
            self._open_door(self._bind_address(node), node)
            self._unopened.pop(node, None)
        except CannotListen as failure:
            if node not in self._unopened:
                self.log.error("a broker has no listener", node=node, reason=str(failure))
            self._unopened[node] = str(failure)

    async def try_again(self) -> None:
        """What could not be bound, written or said, or had to rest, gets another chance, for ever."""
        while True:
            await trio.sleep(SWEEP_SECONDS)
            for node in list(self._unopened):
                self._open_if_shut(node)
            for door in self.doors:
                if door.resting:
                    door.resume()
            self.host.journal.catch_up()
            self.log.catch_up()

    async def close_traces(self, patience: trio.CancelScope) -> None:
        """In a thread, which is left behind when patience ends: a dead collector must not hold up the end."""
        if self.traces is None or self.exporting is None:
            return
        self.traces.close(self.clock.now_ns)
        with patience:
            await trio.to_thread.run_sync(self.exporting.close, abandon_on_cancel=True)
        if patience.cancelled_caught:
            self.log.warning("the last traces were not exported in time")

    def pages(self) -> Pages:
        others: list[Collector] = [self.group_metrics, CertificateMetrics(self.sides)]
        if self.traces is not None and self.exporting is not None:
            others.append(TraceMetrics(self.traces, self.exporting.exports))
        gauges: Gauges = {
            "ready": lambda: not self.missing(),
            "brokers_away": lambda: self.absences.missing,
            "journal_behind": lambda: self.host.journal.is_behind,
        }
        metrics = Metrics(self.counts, version("kip848-proxy"), gauges, api_name, *others)
        return {
            **health_pages(self.missing, metrics.text),
            **picture_pages(self.picture, lambda: self.clock.now_ns),
            **connection_pages(self.connections),
            **process_pages(self._admin_ports()),
        }

    def _admin_ports(self) -> list[int]:
        """Of all processes of this proxy. These settings are one's own."""
        number = self._siblings.number if self._siblings is not None else 0
        first = parse_address(self.settings.admin).port - number if self.settings.admin is not None else 0
        return [first + each for each in range(self.settings.processes if first else 0)]

    def missing(self) -> list[str]:
        """What keeps the proxy from being ready, in words."""
        upstream = [] if self.scout.reachable else [f"no broker of {', '.join(self.settings.upstream)} answers"]
        draining = ["draining: the proxy is shutting down"] if self.connections.draining else []
        return [*upstream, *self._unopened.values(), *draining]


class Patience:
    """How long the end may take. Clients are answered while the drain lasts; traces have what is left of it, and a little
    more."""

    def __init__(self) -> None:
        self.with_clients = trio.CancelScope()
        self.with_traces = trio.CancelScope()

    def ends_in(self, seconds: float) -> None:
        self.with_clients.deadline = trio.current_time() + seconds
        self.with_traces.deadline = self.with_clients.deadline + TRACES_SECONDS


async def serve(
    settings: Settings, log: Log, read_again: Callable[[], Settings], siblings: Siblings | None = None
) -> None:
    """Run until SIGTERM or SIGINT. Raises CannotStart before anything is served, or not at all. `read_again`: the settings,
    from where these came, when asked to reload."""
    limits = _limits(settings, log)
    admin = await _open_admin(settings.admin) if settings.admin is not None else []
    # Who is awake while there is nothing to do must not take the time of who has something to do.
    with EpollSet(settings.spin_us if cpus() >= 1 + settings.processes else 0) as epoll_set:
        refusal = None
        async with trio.open_nursery() as tasks:
            try:
                proxy = Proxy(settings, limits, log, epoll_set, tasks, siblings)
                proxy.open_doors()
            except (CannotListen, CannotJournal, CannotExport) as failure:
                refusal = CannotStart(str(failure))
            else:
                _say_what_serves(settings, log, epoll_set.volley.refusal)
                await _run(proxy, admin, tasks, read_again, siblings)
        if refusal is not None:
            raise refusal
    log.catch_up()
    log.info("stopped")


def _journal(path: str | None, log: Log, siblings: Siblings | None) -> Journal:
    where = Path(path) if path else None
    return Journal(where, log) if siblings is None else Journal(where, log, siblings.is_ours)


async def _end_with_parent(parent: int, drain: Callable[[str], None]) -> None:
    """When it says so, or was killed: the next parent's processes would be let in beside us."""
    await trio.lowlevel.wait_readable(parent)
    drain("its parent's end")


def _limits(settings: Settings, log: Log) -> Limits:
    try:
        return within(settings.limits, take_descriptors(), log)
    except TooFewDescriptors as failure:
        raise CannotStart(str(failure)) from failure


def _say_what_serves(settings: Settings, log: Log, one_by_one: str) -> None:
    log.info(
        "serving",
        version=version("kip848-proxy"),
        upstream=",".join(settings.upstream),
        listen=settings.listen,
        admin=settings.admin or "none",
        journal=settings.translation.journal or "none",
        traces=" ".join(filter(None, (settings.traces.file, settings.traces.otlp_endpoint))) or "none",
    )
    if one_by_one:
        log.info("what many clients ask at a time is sent one by one, which costs more", reason=one_by_one)


async def _run(
    proxy: Proxy,
    admin: list[trio.SocketListener],
    tasks: trio.Nursery,
    read_again: Callable[[], Settings],
    siblings: Siblings | None,
) -> None:
    if admin:
        Hearing(proxy.log, "accepting paused", address=proxy.settings.admin).of("trio.serve_listeners")
        tasks.start_soon(serve_admin, admin, proxy.pages(), proxy.log)
    tasks.start_soon(follow, proxy.sides)
    tasks.start_soon(proxy.run_epoll_set)
    tasks.start_soon(proxy.clock.run)
    tasks.start_soon(proxy.scout.run)
    tasks.start_soon(proxy.connections.sweep, proxy.directory.nodes.get, lambda: proxy.scout.answers_anybody)
    tasks.start_soon(proxy.try_again)
    # What exists now lives as long as the process: the collector need not look at it again. And what members come to hold is
    # let go of without it: looking as often as it does by default, mostly at members, it took an eighth of the CPU.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_LOOKED_FOR_AT)
    told_to_stop, patience = trio.Event(), Patience()
    drain = partial(_drain, proxy, told_to_stop, patience)
    if siblings is not None:
        tasks.start_soon(_end_with_parent, siblings.parent, drain)
    tasks.start_soon(_heed_signals, proxy, drain, patience, read_again)
    await told_to_stop.wait()
    proxy.connections.draining = True
    for door in proxy.doors:
        door.close()
    proxy.host.stop(proxy.settings.translation.leave_on_exit)
    await proxy.connections.drain(patience.with_clients)
    proxy.host.journal.close()
    await proxy.close_traces(patience.with_traces)
    tasks.cancel_scope.cancel()


async def _open_admin(listen: str) -> list[trio.SocketListener]:
    address = parse_address(listen)
    try:
        return await open_admin(address)
    except OSError as failure:
        why = hindrance(failure, "admin", "admin")
        raise CannotStart(
            f"cannot listen on {address} for the admin pages: {why}, or go without: --admin none"
        ) from failure


def _drain(proxy: Proxy, told_to_stop: trio.Event, patience: Patience, name: str) -> None:
    if not told_to_stop.is_set():
        proxy.log.info("draining", signal=name, connections=len(proxy.connections))
        patience.ends_in(proxy.settings.limits.drain_timeout_ms / 1000)
        told_to_stop.set()


async def _heed_signals(
    proxy: Proxy, drain: Callable[[str], None], patience: Patience, read_again: Callable[[], Settings]
) -> None:
    """To the end: within the drain too, a signal that nobody heeds ends the process before journal and traces are closed."""
    heard = 0
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP, AT_ONCE) as signals:
        # What came before there was anybody to heed it (`__main__.py`) comes now.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
        async for number in signals:
            name = signal.Signals(number).name
            if number == signal.SIGHUP:
                if not proxy.connections.draining:
                    _reload(proxy, read_again)
                continue
            drain(name)
            heard += 1
            if heard > 1 or number == AT_ONCE:
                proxy.log.warning("stopping at once", signal=name, connections=len(proxy.connections))
                patience.ends_in(0)


def _reload(proxy: Proxy, read_again: Callable[[], Settings]) -> None:
    # Before their files: who has no identity any more may have none of these either.
    proxy.settings = reload_settings(proxy.settings, read_again, proxy.host, proxy.upstream_side, proxy.log)
    for side in proxy.sides():
        side.reload()
