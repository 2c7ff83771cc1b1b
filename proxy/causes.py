"""Why a connection ended. Each cause is the log line's word and the metric's label."""

from __future__ import annotations

from enum import Enum


class Cause(Enum):
    # The ordinary ends.
    CLIENT_CLOSED = "client_closed"
    BROKER_CLOSED = "broker_closed"
    DRAINED = "drained"
    # The client had gone long before; the member that spoke on its connection needs it no more.
    RELEASED = "released"
    # It goes on in another process of this proxy, whose the group is.
    MOVED = "moved"
    # The network.
    CLIENT_LOST = "client_lost"
    BROKER_LOST = "broker_lost"
    # A coordinator owes an answer, and its connection is still there. That is reset: what was swallowed never arrives.
    BROKER_SILENT = "broker_silent"
    BROKER_UNREACHABLE = "broker_unreachable"
    # The client dialled a broker whose address was not known yet; it was, later. It finds the right one by dialling again.
    BROKER_MISTAKEN = "broker_mistaken"
    # What was dialled as a broker is a door of this proxy.
    DIALLED_ITSELF = "dialled_itself"
    CLIENT_TLS_FAILED = "client_tls_failed"
    BROKER_TLS_FAILED = "broker_tls_failed"
    # What the client sent.
    MALFORMED_REQUEST = "malformed_request"
    REQUEST_TOO_LARGE = "request_too_large"
    UNSUPPORTED_VERSION = "unsupported_version"
    # What the broker sent.
    MALFORMED_ANSWER = "malformed_answer"
    ANSWER_TOO_LARGE = "answer_too_large"
    ANSWER_OUT_OF_ORDER = "answer_out_of_order"
    # It is stopping, or cut off from its cluster, and there are clients that would believe it (proxy/wire.py).
    NO_BROKERS = "no_brokers"
    # Limits.
    TOO_MANY_CONNECTIONS = "too_many_connections"
    AUTHENTICATION_TIMEOUT = "authentication_timeout"
    REQUEST_TIMEOUT = "request_timeout"
    IDLE = "idle"
    # A mistake of this proxy: always logged with its trace, never felt by another connection.
    OUR_MISTAKE = "our_mistake"


class Disconnect(Exception):
    """This connection must end, and why; nothing else feels it."""

    def __init__(self, cause: Cause, detail: str = "") -> None:
        super().__init__(f"{cause.value}: {detail}" if detail else cause.value)
        self.cause = cause
        self.detail = detail
