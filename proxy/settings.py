"""Every setting of the proxy, its unit, its default and its bounds; the settings reference is printed from here."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

# As far as Kafka's own reach: 24 days.
LONGEST_MS = 2**31 - 1
Milliseconds = Annotated[int, Meta(ge=1, le=LONGEST_MS)]
Bytes = Annotated[int, Meta(ge=1)]
HIGHEST_PORT = 65_535
# An int32, in Kafka's messages.
LARGEST_NODE = 2**31 - 1
Port = Annotated[int, Meta(ge=1, le=HIGHEST_PORT)]


class BadSettings(Exception):
    """Path, value, what is wrong and what to do, in one line."""


class ClientTls(Struct, frozen=True, forbid_unknown_fields=True):
    """TLS between legacy clients and the proxy: the proxy is the server."""

    # What the proxy shows to clients: PEM, its own certificate first.
    certificate_file: str
    # The key of that certificate, PEM; it may stand in the same file.
    private_key_file: str
    # Clients must show a certificate signed by one of these (mutual TLS); none: no certificate is asked for.
    client_ca_file: str | None = None


class Identity(Struct, frozen=True, forbid_unknown_fields=True):
    """What brokers are shown for one client, whose own certificate can't be passed on: a table for each of them,
    `[[upstream_tls.identities]]`. So they know it by a principal of its own. Read again at SIGHUP."""

    # The subject of the client's certificate, as brokers write it: `CN=billing,OU=payments,O=Example`. The log names those of
    # clients for whom there is none (`a client has no identity upstream`): they are shown as what all others are.
    client: str
    # What brokers are shown for it: PEM, the certificate first in its chain.
    certificate_file: str
    # The key of that certificate.
    private_key_file: str


class UpstreamTls(Struct, frozen=True, forbid_unknown_fields=True):
    """TLS between the proxy and the brokers: the proxy is the client. The table alone is enough: `[upstream_tls]`."""

    # The authorities that sign the brokers' certificates, and the only ones trusted then; none: the system's.
    ca_file: str | None = None
    # What the proxy shows to brokers that ask for a certificate.
    certificate_file: str | None = None
    # The key of that certificate.
    private_key_file: str | None = None
    # Off for brokers that are dialled by names or addresses that their certificates do not carry.
    verify_hostname: bool = True
    # What it shows in place of these for clients that show one themselves.
    identities: tuple[Identity, ...] = ()


class Sni(Struct, frozen=True, forbid_unknown_fields=True):
    """One TLS port for all brokers, told apart by the server name that the client asks for."""

    # A host name that holds `{node}` once: `broker-{node}.kafka.example`.
    broker_pattern: str
    # The server name of the bootstrap address; any name that fits no broker counts as bootstrap when this is none.
    bootstrap_name: str | None = None
    # What clients are told to dial, where it is not the listening port (a load balancer in front).
    advertised_port: Port | None = None


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """What one connection may cost. Past a limit the connection is closed, the cause counted."""

    # As a broker's `socket.request.max.bytes`.
    max_request_bytes: Bytes = 104_857_600
    # A request of a group is held whole. One of the worst kind becomes fifty times as much memory while it is read, twice
    # that when it is refused, and all others wait for tenths of a second for each MB. What a coordinator is to keep of it
    # must fit the brokers' `message.max.bytes`, which is 1 MB unless it was changed; a JoinGroup says most of it for each
    # strategy.
    max_group_request_bytes: Bytes = 4_194_304
    # An answer that must be rewritten is held whole; larger ones close the connection. Others stream through.
    max_rewritten_bytes: Bytes = 67_108_864
    # Requests sent ahead of their answers; a client with more is not read until some are answered.
    max_pipelined_requests: Annotated[int, Meta(ge=1)] = 1_000
    # Further clients are turned away.
    max_connections: Annotated[int, Meta(ge=1)] = 10_000
    # To a broker.
    connect_timeout_ms: Milliseconds = 10_000
    # With a client.
    tls_handshake_timeout_ms: Milliseconds = 10_000
    # From accept to the first answer that is not part of authentication; where brokers answer anybody, as long as idle ones.
    authentication_timeout_ms: Milliseconds = 30_000
    # A request once begun must be whole within this time.
    request_timeout_ms: Milliseconds = 60_000
    # Neither side said anything for so long. A little more than a broker's `connections.max.idle.ms`.
    idle_timeout_ms: Milliseconds = 660_000
    # After SIGTERM: what was asked may still be answered for so long.
    drain_timeout_ms: Milliseconds = 10_000


class GroupRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What is done with the groups whose ids fit. The first rule that fits counts; a group that none fits is translated.
    Read again at SIGHUP: docs/runbook.md says what becomes of members that are there."""

    # `*` and `?` stand for anything and for one character, all else for itself: `orders-*`.
    pattern: Annotated[str, Meta(min_length=1)]
    # `translate` them, let them `pass` to the broker's classic protocol, or `refuse` them (as if the ACL forbade it).
    # `dry-run` lets them pass too, and says what would be done with each member.
    mode: Literal["translate", "pass", "refuse", "dry-run"] = "translate"
    # The coordinator's assignor, whatever the clients ask for; none: `range` for range on several topics, else `uniform`.
    # With one, clients are translated that else pass for their own assignor's user data.
    assignor: Annotated[str, Meta(min_length=1)] | None = None


class Translation(Struct, frozen=True, forbid_unknown_fields=True):
    """How classic members are translated. docs/defaults.md says how the defaults were chosen."""

    # A JoinGroup waits at most this long for the whole assignment; of a client that holds nothing, 12 s for anything.
    park_ms: Annotated[int, Meta(ge=0, le=20_000)] = 3_000
    # New partitions wait this long for company before a client is asked to rejoin for them; the first of a group, for others.
    company_ms: Annotated[int, Meta(ge=0, le=LONGEST_MS)] = 300
    # A heartbeat's answer is held for this part of the client's rhythm, so that news travels at once. 0: never held.
    hold_heartbeats: Annotated[float, Meta(ge=0, le=0.95)] = 0.9
    # The heartbeat interval told to native members that pass through, while their group moves. 0: as the broker says,
    # and none is put off after a leave. Some give a heartbeat up after that: so it is never less than four times the slowest
    # answer of late, nor than 1 ms for each native member of the group.
    native_moving_ms: Annotated[int, Meta(ge=0, le=LONGEST_MS)] = 300
    # The same while the group is quiet.
    native_quiet_ms: Annotated[int, Meta(ge=0, le=LONGEST_MS)] = 2_000
    # The shortest `session.timeout.ms` of a client that is taken: what the brokers have as `group.min.session.timeout.ms`.
    min_session_ms: Milliseconds = 6_000
    # The longest: their `group.max.session.timeout.ms`.
    max_session_ms: Milliseconds = 1_800_000
    # Where it is written what clients were told, so that a restart goes unnoticed; and of which brokers, so that their ports
    # are open again at once. None: kept in memory only.
    journal: str | None = None
    # Members leave the group when the proxy is stopped, rather than wait for its restart.
    leave_on_exit: bool = False


class Traces(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the traces of rebalances go. None of it can slow a member down: what finds no room is dropped, and counted."""

    # One OTLP-JSON request a line, as the OpenTelemetry collector's file exporter writes them; none: no file.
    file: str | None = None
    # A file that has grown to this is renamed, with the time in its name, and a new one begun.
    file_max_bytes: Bytes = 67_108_864
    # Files kept, the one being written among them.
    file_count: Annotated[int, Meta(ge=1)] = 5
    # A collector: `http://collector:4318`, or `http://collector:4317` for gRPC; `https` where it speaks TLS.
    # Headers, client certificates and compression: OpenTelemetry's own variables, `OTEL_EXPORTER_OTLP_...`.
    otlp_endpoint: str | None = None
    # How the collector is spoken to: OTLP over HTTP (protobuf), or over gRPC. Either needs the extra `otlp`.
    otlp_protocol: Literal["http", "grpc"] = "http"
    # A batch that the collector has not taken within this time, retries included, is given up.
    otlp_timeout_ms: Milliseconds = 10_000
    # The part of the members that are traced. A member is traced always or never, whichever proxy serves it.
    sampling_ratio: Annotated[float, Meta(ge=0, le=1)] = 1.0
    # Spans that wait to be exported, for each exporter; further ones are dropped.
    queue_spans: Annotated[int, Meta(ge=1, le=1_000_000)] = 8_192
    # Spans are exported at least this often.
    export_interval_ms: Milliseconds = 1_000


class Log(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of events."""

    # One line an event on standard error, to read or to parse.
    format: Literal["text", "json"] = "text"
    # The least that is said. Connections that end as they should are `debug`.
    level: Literal["debug", "info", "warning", "error"] = "info"


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole configuration."""

    # Seeds, HOST:PORT; any one that answers is enough.
    upstream: tuple[str, ...]
    # The bootstrap listener, HOST:PORT. Node N listens on this port + 1 + N unless mapped in `ports`. 0.0.0.0 is every IPv4
    # address of this machine, [::] every address. A name is looked up once, at start.
    listen: str = "127.0.0.1:9092"
    # The host that clients are told to dial; none: the host of `listen`.
    advertise: str | None = None
    # The admin listener (health, metrics), HOST:PORT; none: no admin listener.
    admin: str | None = "127.0.0.1:9090"
    # Node ids whose listeners are bound at start, before the cluster was ever seen.
    nodes: tuple[Annotated[int, Meta(ge=0, le=LARGEST_NODE)], ...] = ()
    # Node id to port, for those that must not follow the formula. (TOML's keys are strings.)
    ports: dict[str, Port] = field(default_factory=dict)
    client_tls: ClientTls | None = None
    upstream_tls: UpstreamTls | None = None
    sni: Sni | None = None
    # While one small request follows another this soon (µs), the proxy waits for the next without sleeping: most of the
    # latency it adds is being woken. 0: it always sleeps, as it does where it may use less than two CPUs.
    spin_us: Annotated[int, Meta(ge=0, le=1_000)] = 400
    # So many share the ports, and the connections. Each group is served by one of them, and a JoinGroup that comes to another
    # goes there with its connection, so members know as much together as in one process. Each has admin pages, a journal and
    # traces of its own: process N at the port of `admin` + N, and in files with `.N` in their names.
    processes: Annotated[int, Meta(ge=1, le=64)] = 1
    # What is done with which groups. No rules: all consumer groups are translated.
    groups: tuple[GroupRule, ...] = ()
    translation: Translation = Translation()
    traces: Traces = Traces()
    limits: Limits = Limits()
    log: Log = Log()
